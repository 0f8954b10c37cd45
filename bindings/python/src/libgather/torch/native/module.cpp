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

struct THPVariable {
  PyObject_HEAD at::Tensor cdata;
};
TORCH_PYTHON_API extern PyObject *THPVariableClass;
TORCH_PYTHON_API extern PyObject *ParameterClass;
TORCH_PYTHON_API PyObject *THPVariable_Wrap(const at::TensorBase &var);
namespace torch {
TORCH_PYTHON_API void translate_exception_to_python(const std::exception_ptr &e_ptr);
}

namespace {

using namespace libgather;

// The dicts that configure() receives: numbers by name.
enum Choice {
  NEGATIVES,
  BOUNDS_NAMES,
  PROFILES,
  EXTENTS_NAMES,
  REDUCTIONS,
  ACCUMULATES,
  BAG_FORMATS,
  POOLS,
  EMPTIES,
  OUT_DTYPES,
  FILLS,
  CHOICES
};
PyObject *choices[CHOICES];
PyObject *make_error;

using Arguments = PyObject *const *;

// The arguments of a call. The switches have their own memory.
struct Call {
  int64_t axis = 0, batch_dims = 0;
  int64_t switches[SWITCHES] = {};
  Scalar fill_value{0};

  Attributes attributes() const { return {axis, batch_dims, Numbers(switches, SWITCHES)}; }
};

bool is_tensor(PyObject *value) {
  const auto *type = reinterpret_cast<PyObject *>(Py_TYPE(value));
  return type == THPVariableClass || type == ParameterClass;
}

const Tensor &tensor_of(PyObject *value) { return reinterpret_cast<THPVariable *>(value)->cdata; }

bool read(Choice which, PyObject *name, int64_t &number) {
  if (name == Py_None) {
    return true;
  }
  PyObject *found = PyUnicode_Check(name) ? PyDict_GetItem(choices[which], name) : nullptr;
  number = found ? PyLong_AsLongLong(found) : 0;
  return found != nullptr;
}

bool read(PyObject *value, int64_t &number) {
  if (!PyLong_Check(value) || PyBool_Check(value)) {
    return false;
  }
  number = PyLong_AsLongLong(value);
  return number != -1 || !PyErr_Occurred();
}

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

// Reads a fill value, which implies that bounds are filled, unless it is that of empty bags or of padding.
bool read_fill(PyObject *value, Call &call) {
  if (value == Py_None) {
    return true;
  }
  int64_t &bounds = call.switches[BOUNDS];
  const bool pads = call.switches[HAS_PADDING_INDEX] && call.switches[BAG_FORMAT] == 0;
  if (call.switches[EMPTY] != GTH_EMPTY_FILL && !pads) {
    if (bounds != 0 && bounds != GTH_BOUNDS_FILL) {
      return false;
    }
    bounds = GTH_BOUNDS_FILL;
  }
  if (PyUnicode_Check(value)) {
    return read(FILLS, value, call.switches[FILL]);
  }
  call.switches[FILL] = GTH_FILL_VALUE;
  return read_number(value, call.fill_value);
}

// Reads axis and batch_dims. Without an axis, it is batch_dims.
bool read_dims(PyObject *axis, PyObject *batch_dims, Call &call) {
  return read(batch_dims, call.batch_dims) &&
         (axis == Py_None ? (call.axis = call.batch_dims, true) : read(axis, call.axis));
}

bool read_opset(PyObject *opset, Call &call) { return opset == Py_None || read(opset, call.switches[OPSET]); }

PyObject *not_implemented() {
  PyErr_Clear();
  return Py_NewRef(Py_NotImplemented);
}

PyObject *fields_of(const gth_error &error) {
  return Py_BuildValue("(iiiILLLLs)", static_cast<int>(error.status), static_cast<int>(error.operand),
                       static_cast<int>(error.component), static_cast<unsigned>(error.flags),
                       static_cast<long long>(error.position), static_cast<long long>(error.value),
                       static_cast<long long>(error.limit), static_cast<long long>(error.item), error.message);
}

// Replaces the exception of torch by that of the package, if the library has failed.
PyObject *failed(int32_t op, const std::exception_ptr &exception, Arguments args, const Call &call) {
  torch::translate_exception_to_python(exception);
  const gth_error error = last_error;
  if (error.status == GTH_OK) {
    return nullptr;
  }
  PyErr_Clear();
  PyObject *made = PyObject_CallFunction(make_error, "NiOOLL", fields_of(error), static_cast<int>(op), args[0], args[1],
                                         static_cast<long long>(call.axis), static_cast<long long>(call.batch_dims));
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

// Reads an index that selects nothing. None is no such index.
bool read_padding(PyObject *index, Call &call) {
  call.switches[HAS_PADDING_INDEX] = index != Py_None;
  return index == Py_None || read(index, call.switches[PADDING_INDEX]);
}

// Reads whether a reduction begins with the values of target.
bool read_include_self(PyObject *include_self, Call &call) {
  call.switches[INITIAL] = include_self == Py_False ? GTH_INITIAL_UPDATE : 0;
  return PyBool_Check(include_self);
}

// params, indices, axis, batch_dims, negative, bounds, fill_value, profile, opset, extents, padding_index
template <int32_t Op>
PyObject *gather(PyObject *, Arguments args, Py_ssize_t count) {
  Call call;
  int64_t *const switches = call.switches;
  if (count != 11 || !is_tensor(args[0]) || !is_tensor(args[1]) || at::impl::torch_function_mode_enabled() ||
      !read_dims(args[2], args[3], call) || !read(NEGATIVES, args[4], switches[NEGATIVE]) ||
      !read(BOUNDS_NAMES, args[5], switches[BOUNDS]) || switches[BOUNDS] == GTH_BOUNDS_SKIP ||
      !read_padding(args[10], call) || !read_fill(args[6], call) || !read(PROFILES, args[7], switches[PROFILE]) ||
      !read_opset(args[8], call) || !read(EXTENTS_NAMES, args[9], switches[EXTENTS])) {
    return not_implemented();
  }
  return run_call(Op, args, call, [&] {
    return call_gather<Op>(tensor_of(args[0]), tensor_of(args[1]), call.attributes(), call.fill_value);
  });
}

// target, indices, updates, axis, batch_dims, reduction, negative, bounds, profile, opset, extents, accumulate,
// include_self, padding_index
template <int32_t Op>
PyObject *scatter(PyObject *, Arguments args, Py_ssize_t count) {
  Call call;
  int64_t *const switches = call.switches;
  if (count != 14 || !is_tensor(args[0]) || !is_tensor(args[1]) || !is_tensor(args[2]) ||
      at::impl::torch_function_mode_enabled() || !read_dims(args[3], args[4], call) ||
      !read(REDUCTIONS, args[5], switches[REDUCTION]) || !read(NEGATIVES, args[6], switches[NEGATIVE]) ||
      !read(BOUNDS_NAMES, args[7], switches[BOUNDS]) || !read(PROFILES, args[8], switches[PROFILE]) ||
      !read_opset(args[9], call) || !read(EXTENTS_NAMES, args[10], switches[EXTENTS]) ||
      !read(ACCUMULATES, args[11], switches[ACCUMULATE]) || !read_include_self(args[12], call) ||
      !read_padding(args[13], call)) {
    return not_implemented();
  }
  return run_call(Op, args, call, [&] {
    return call_scatter<Op>(tensor_of(args[0]), tensor_of(args[1]), tensor_of(args[2]), call.attributes());
  });
}

bool is_tensor_or_none(PyObject *value) { return value == Py_None || is_tensor(value); }

Optional given_tensor(PyObject *value) { return value == Py_None ? Optional() : Optional(tensor_of(value)); }

// params, indices, bags, weights, count, bag_format, pool, empty, padding_index, negative, bounds, fill_value, profile,
// accumulate, sparse
PyObject *gather_bags(PyObject *, Arguments args, Py_ssize_t count) {
  Call call;
  int64_t *const switches = call.switches;
  int64_t bag_count = 0;
  if (count != 15 || !is_tensor(args[0]) || !is_tensor(args[1]) || !is_tensor_or_none(args[2]) ||
      !is_tensor_or_none(args[3]) || at::impl::torch_function_mode_enabled() || !read(args[4], bag_count) ||
      !read(BAG_FORMATS, args[5], switches[BAG_FORMAT]) || !read(POOLS, args[6], switches[POOL]) ||
      !read(EMPTIES, args[7], switches[EMPTY]) || !read_padding(args[8], call) ||
      !read(NEGATIVES, args[9], switches[NEGATIVE]) || !read(BOUNDS_NAMES, args[10], switches[BOUNDS]) ||
      !read_fill(args[11], call) || !read(PROFILES, args[12], switches[PROFILE]) ||
      !read(ACCUMULATES, args[13], switches[ACCUMULATE]) || !read_flag(args[14], switches[SPARSE])) {
    return not_implemented();
  }
  return run_call(GTH_OP_GATHER_BAGS, args, call, [&] {
    return bags_operation().call(tensor_of(args[0]), tensor_of(args[1]), given_tensor(args[2]), given_tensor(args[3]),
                                 bag_count, Numbers(switches, SWITCHES), call.fill_value);
  });
}

// weight, ids, padding_idx, sparse
PyObject *embedding(PyObject *, Arguments args, Py_ssize_t count) {
  Call call;
  int64_t padding = -1, sparse = 0;
  if (count != 4 || !is_tensor(args[0]) || !is_tensor(args[1]) || at::impl::torch_function_mode_enabled() ||
      !read(args[2], padding) || !read_flag(args[3], sparse)) {
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
  if (count != 2 || PyTuple_Size(args[0]) != CHOICES) {
    PyErr_SetString(PyExc_TypeError, "configure() needs the choices and a function");
    return nullptr;
  }
  for (int which = 0; which < CHOICES; which++) {
    choices[which] = Py_NewRef(PyTuple_GetItem(args[0], which));
  }
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
