// The Python module: functions that read the arguments of usual calls and call the operators without torch.ops, whose
// conversion of arguments takes longer than a small gather. They return NotImplemented for all other calls.
//
// The module uses Python's limited API, so one file serves all Python releases. torch's header of THPVariable does not
// allow that, so the declarations are repeated here.
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include "calls.h"

#include <ATen/PythonTorchFunctionTLS.h>
#include <torch/csrc/Export.h>

#include <array>
#include <utility>

struct THPVariable {
  PyObject_HEAD at::Tensor cdata;
};
TORCH_PYTHON_API extern PyObject *THPVariableClass;
TORCH_PYTHON_API extern PyObject *ParameterClass;
TORCH_PYTHON_API PyObject *THPVariable_Wrap(const at::TensorBase &var);
namespace torch {
TORCH_PYTHON_API void translate_exception_to_python(const std::exception_ptr &e_ptr);
}

// Reads an integer. A tensor is read by Python code.
static int number_of(PyObject *value, int64_t *number) {
  if (!PyLong_Check(value) || PyBool_Check(value)) {
    return false;
  }
  *number = PyLong_AsLongLong(value);
  return *number != -1 || !PyErr_Occurred();
}

#include "options_reader.h"

namespace {

using namespace libgather;

PyObject *choices;  // see options_reader.h
PyObject *make_error;

using Arguments = PyObject *const *;

// The options of a call. The switches have their own memory.
struct Call {
  gth_options options = GTH_OPTIONS_INIT;
  int64_t sparse = 0;
  Scalar fill_value{0};
  int64_t switches[SWITCHES];

  // Without an axis, it is the number of batch dims.
  int64_t axis() const { return options.has_axis ? options.axis : options.batch_dims; }
  Numbers numbers() const { return Numbers(switches, SWITCHES); }
  Attributes attributes() const { return {axis(), options.batch_dims, numbers()}; }
  void store() {
    switches[SPARSE] = sparse;
#define STORE(NAME, field, kinds) switches[NAME] = options.field;
    OPTION_SWITCHES(STORE, )
#undef STORE
  }
};

bool is_tensor(PyObject *value) {
  const auto *type = reinterpret_cast<PyObject *>(Py_TYPE(value));
  return type == THPVariableClass || type == ParameterClass;
}

const Tensor &tensor_of(PyObject *value) { return reinterpret_cast<THPVariable *>(value)->cdata; }

bool read_flag(PyObject *value, int64_t &number) {
  number = value == Py_True;
  return PyBool_Check(value);
}

bool read_integer(PyObject *value, Scalar &number) {
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (!overflow) {
    number = Scalar(static_cast<int64_t>(small));
    return true;
  }
  const unsigned long long large = PyLong_AsUnsignedLongLong(value);
  number = Scalar(static_cast<uint64_t>(large));
  return !PyErr_Occurred();
}

bool read_number(PyObject *value, Scalar &number) {
  if (PyBool_Check(value)) {
    number = Scalar(value == Py_True);
    return true;
  }
  if (PyLong_Check(value)) {
    return read_integer(value, number);
  }
  if (PyFloat_Check(value)) {
    number = Scalar(PyFloat_AsDouble(value));
    return true;
  }
  if (PyComplex_Check(value)) {
    number = Scalar(c10::complex<double>(PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value)));
    return true;
  }
  return false;
}

// The number of the option `sparse`, which only operators of torch have. gth_options has no such field.
constexpr int SPARSE_PLACE = OPTIONS;

// Returns the number of an option, or -1.
int place_of(PyObject *option) {
#define OPTION_NAME(NAME, name, field, type) #name,
  static const char *const names[] = {OPTION_FIELDS(OPTION_NAME) "sparse"};
#undef OPTION_NAME
  int place = SPARSE_PLACE;
  while (place >= 0 && PyUnicode_CompareWithASCIIString(option, names[place]) != 0) {
    place--;
  }
  return place;
}

// The numbers of the options that a call has, in the order of its keywords.
struct OptionPlaces {
  Py_ssize_t count = 0;
  std::array<int, OPTIONS + 1> at{};  // and sparse
};

// The options of the last call of a function. The names are usually the same tuple.
class LastOptions {
 public:
  // Returns a copy, because a name whose hash is computed by Python code may make another call. Precondition: `names` has
  // at most OPTIONS + 1 items.
  OptionPlaces of(PyObject *names) {
    if (names != names_) {
      Py_XDECREF(std::exchange(names_, Py_NewRef(names)));
      places_.count = PyTuple_Size(names);
      for (Py_ssize_t i = 0; i < places_.count; i++) {
        places_.at[i] = place_of(PyTuple_GetItem(names, i));
      }
    }
    return places_;
  }

 private:
  PyObject *names_ = nullptr;
  OptionPlaces places_;
};

// Reads a tuple of names, and the options with these names.
bool read_call(LastOptions &known, Arguments args, Py_ssize_t count, Call &call) {
  PyObject *fill_value = Py_None, *element = nullptr;
  if (count < 1 || count > OPTIONS + 2 || PyTuple_Size(args[0]) != count - 1) {
    return false;
  }
  const OptionPlaces places = known.of(args[0]);
  for (Py_ssize_t i = 0; i < places.count; i++) {
    const int place = places.at[i];
    PyObject *value = args[i + 1];
    if (place == FIELD_FILL_VALUE) {
      fill_value = value;
    } else if (!(place == SPARSE_PLACE ? read_flag(value, call.sparse)
                                       : read_option(place, value, choices, &call.options))) {
      return false;
    }
  }
  if (!read_fill(fill_value, choices, &call.options, &element) || (element && !read_number(element, call.fill_value))) {
    return false;
  }
  call.store();
  return true;
}

PyObject *not_implemented() {
  PyErr_Clear();
  return Py_NewRef(Py_NotImplemented);
}

PyObject *fields_of(const gth_error &error) {
  return Py_BuildValue("(iiiILLLLsi)", static_cast<int>(error.status), static_cast<int>(error.operand),
                       static_cast<int>(error.component), static_cast<unsigned>(error.flags),
                       static_cast<long long>(error.position), static_cast<long long>(error.value),
                       static_cast<long long>(error.limit), static_cast<long long>(error.item), error.message,
                       static_cast<int>(error.native));
}

// Replaces the exception of torch by that of the package, if the library has failed.
PyObject *failed(int32_t op, const std::exception_ptr &exception, Arguments args, const Call &call) {
  torch::translate_exception_to_python(exception);
  const gth_error error = last_error;
  if (error.status == GTH_OK) {
    return nullptr;
  }
  PyErr_Clear();
  PyObject *made =
      PyObject_CallFunction(make_error, "NiOOLL", fields_of(error), static_cast<int>(op), args[0], args[1],
                            static_cast<long long>(call.axis()), static_cast<long long>(call.options.batch_dims));
  if (made) {
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(made)), made);
    Py_DECREF(made);
  }
  return nullptr;
}

// Runs an operator without the GIL.
template <class Run>
PyObject *run_call(int32_t op, Arguments args, const Call &call, Run run) {
  Tensor result;
  std::exception_ptr exception;
  last_error.status = GTH_OK;
  PyThreadState *thread = PyEval_SaveThread();
  try {
    result = run();
  } catch (...) {
    exception = std::current_exception();
  }
  PyEval_RestoreThread(thread);
  return exception ? failed(op, exception, args, call) : THPVariable_Wrap(result);
}

// params, indices, names of options, options
template <int32_t Op>
PyObject *gather(PyObject *, Arguments args, Py_ssize_t count) {
  static LastOptions last;
  Call call;
  if (count <= 2 || !is_tensor(args[0]) || !is_tensor(args[1]) || at::impl::torch_function_mode_enabled() ||
      !read_call(last, args + 2, count - 2, call) || call.options.bounds == GTH_BOUNDS_SKIP) {
    return not_implemented();
  }
  return run_call(Op, args, call, [&] {
    return call_gather<Op>(tensor_of(args[0]), tensor_of(args[1]), call.attributes(), call.fill_value);
  });
}

// target, indices, updates, names of options, options
template <int32_t Op>
PyObject *scatter(PyObject *, Arguments args, Py_ssize_t count) {
  static LastOptions last;
  Call call;
  if (count <= 3 || !is_tensor(args[0]) || !is_tensor(args[1]) || !is_tensor(args[2]) ||
      at::impl::torch_function_mode_enabled() || !read_call(last, args + 3, count - 3, call)) {
    return not_implemented();
  }
  return run_call(Op, args, call, [&] {
    return call_scatter<Op>(tensor_of(args[0]), tensor_of(args[1]), tensor_of(args[2]), call.attributes());
  });
}

bool is_tensor_or_none(PyObject *value) { return value == Py_None || is_tensor(value); }

Optional given_tensor(PyObject *value) { return value == Py_None ? Optional() : Optional(tensor_of(value)); }

// params, indices, bags, weights, names of options, options
PyObject *gather_bags(PyObject *, Arguments args, Py_ssize_t count) {
  static LastOptions last;
  Call call;
  if (count <= 4 || !is_tensor(args[0]) || !is_tensor(args[1]) || !is_tensor_or_none(args[2]) ||
      !is_tensor_or_none(args[3]) || at::impl::torch_function_mode_enabled() ||
      !read_call(last, args + 4, count - 4, call)) {
    return not_implemented();
  }
  return run_call(GTH_OP_GATHER_BAGS, args, call, [&] {
    return bags_operation().call(tensor_of(args[0]), tensor_of(args[1]), given_tensor(args[2]), given_tensor(args[3]),
                                 call.options.bag_count, call.numbers(), call.fill_value);
  });
}

// weight, ids, padding_idx, sparse
PyObject *embedding(PyObject *, Arguments args, Py_ssize_t count) {
  Call call;
  int64_t padding = -1, sparse = 0;
  if (count != 4 || !is_tensor(args[0]) || !is_tensor(args[1]) || at::impl::torch_function_mode_enabled() ||
      !number_of(args[2], &padding) || !read_flag(args[3], sparse)) {
    return not_implemented();
  }
  return run_call(GTH_OP_GATHER, args, call, [&] {
    return embedding_operation().call(tensor_of(args[0]), tensor_of(args[1]), padding, sparse != 0, 0);
  });
}

// Returns the fields of the last error of this thread and clears it, or returns None.
PyObject *take_error(PyObject *, Arguments, Py_ssize_t) {
  const gth_error error = last_error;
  last_error.status = GTH_OK;
  return error.status == GTH_OK ? Py_NewRef(Py_None) : fields_of(error);
}

// configure(choices, make_error)
PyObject *configure(PyObject *, Arguments args, Py_ssize_t count) {
  if (count != 2 || PyTuple_Size(args[0]) <= OPTIONS) {
    PyErr_SetString(PyExc_TypeError, "configure() needs the choices and a function");
    return nullptr;
  }
  choices = Py_NewRef(args[0]);
  make_error = Py_NewRef(args[1]);
  return Py_NewRef(Py_None);
}

using Function = PyObject *(PyObject *, Arguments, Py_ssize_t);

PyMethodDef method(const char *name, Function *function) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, nullptr};
}

PyMethodDef methods[] = {
    method("configure", configure),
    method("take_error", take_error),
    method("gather", gather<GTH_OP_GATHER>),
    method("gather_nd", gather<GTH_OP_GATHER_ND>),
    method("gather_elements", gather<GTH_OP_GATHER_ELEMENTS>),
    method("scatter", scatter<GTH_OP_SCATTER>),
    method("scatter_nd", scatter<GTH_OP_SCATTER_ND>),
    method("scatter_elements", scatter<GTH_OP_SCATTER_ELEMENTS>),
    method("embedding", embedding),
    method("gather_bags", gather_bags),
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "libgather_torch", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_libgather_torch() { return PyModule_Create(&definition); }
