/* libgather._objects: calls on Python objects that cffi cannot make. It runs operations on buffers, exchanges capsules,
 * and exports memory of the library as buffers. */
#include "arrow.h"
#include "capsules.h"
#include "column.h"
#include "described.h"
#include "exchange.h"
#include "function.h"
#include "handle.h"
#include "numpy.h"
#include "partition.h"
#include "plan.h"
#include "program.h"
#include "rows.h"
#include "run.h"
#include "view.h"
#include "xla.h"

static PyObject *configure(PyObject *module, arguments args, Py_ssize_t count) {
  if (count != 7) {
    PyErr_SetString(PyExc_TypeError,
                    "configure(make_error, buffer_types, choices, locate, general, tensor_type, packed_type)");
    return NULL;
  }
  state *known = PyModule_GetState(module);
  keep(&known->make_error, args[0]);
  keep(&known->buffer_types, args[1]);
  keep(&known->choices, args[2]);
  keep(&known->locate, args[3]);
  keep(&known->general, args[4]);
  keep(&known->tensor_type, args[5]);
  keep(&known->packed_type, args[6]);
  Py_RETURN_NONE;
}

#define FAST(name, function) {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL}
#define ONE(name, function) {name, (PyCFunction)(function), METH_O, NULL}

/* Signatures are in _objects.pyi. */
static PyMethodDef methods[] = {
    FAST("configure", configure),
    FAST("configure_numpy", configure_numpy),
    FAST("configure_exchange", configure_exchange),
    FAST("configure_arrow", configure_arrow),
    FAST("run_arrays", run_arrays),
    FAST("run_buffers", run_buffers),
    FAST("configure_frames", configure_frames),
    FAST("configure_programs", configure_programs),
    FAST("take_rows", take_rows),
    FAST("resolve", resolve),
    FAST("partition", partition),
    FAST("options", options),
    FAST("infer", infer),
    FAST("run_described", run_described),
    FAST("copy", copy),
    FAST("plan", plan),
    ONE("plan_close", plan_close),
    FAST("plan_run", plan_run),
    FAST("plan_infer", plan_infer),
    FAST("plan_shape", plan_shape),
    FAST("plan_check", plan_check),
    FAST("bound", bound),
    ONE("bound_run", bound_run),
    FAST("capsule_address", capsule_address),
    ONE("dlpack_used", dlpack_used),
    FAST("dlpack_capsule", dlpack_capsule),
    FAST("exchange_out_of", exchange_out_of),
    FAST("exchange_into", exchange_into),
    FAST("arrow_capsules", arrow_capsules),
    FAST("rows_kept", rows_kept),
    FAST("rows_exported", rows_exported),
    ONE("buffer_of", buffer_of),
    FAST("view", view),
    ONE("handle", handle),
    FAST("function", function),
    {"xla_handler", xla_handler, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) {
  state *known = PyModule_GetState(module);
  known->type_name = PyUnicode_InternFromString("type");
  known->requires_grad_name = PyUnicode_InternFromString("requires_grad");
  known->level_name = PyUnicode_InternFromString("_current_level");
  known->sharding_name = PyUnicode_InternFromString("sharding");
  known->dtype_name = PyUnicode_InternFromString("dtype");
  known->wait_name = PyUnicode_InternFromString("block_until_ready");
  const int named = known->type_name && known->requires_grad_name && known->level_name && known->sharding_name &&
                    known->dtype_name && known->wait_name;
  known->memory_type = named ? memory_type_new() : NULL;
  known->handle_type = known->memory_type ? handle_type_new() : NULL;
  known->function_type = known->handle_type ? function_type_new() : NULL;
  known->zero = known->function_type ? PyLong_FromLong(0) : NULL;
  known->null_fill = known->zero ? PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type) : NULL;
  if (!known->null_fill || PyModule_AddObjectRef(module, "NULL_FILL", known->null_fill)) {
    return -1;
  }
  return PyModule_AddStringConstant(module, "__doc__", "Calls on Python objects that cffi cannot make.");
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
  return state_traverse(PyModule_GetState(module), visit, arg);
}

static int clear(PyObject *module) { return state_clear(PyModule_GetState(module)); }

static void release(void *module) { clear(module); }

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                 .m_name = "libgather._objects",
                                 .m_size = sizeof(state),
                                 .m_methods = methods,
                                 .m_slots = slots,
                                 .m_traverse = traverse,
                                 .m_clear = clear,
                                 .m_free = release};

PyMODINIT_FUNC PyInit__objects(void) { return PyModuleDef_Init(&definition); }
