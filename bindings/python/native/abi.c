/* libgather._abi: the ABI number of the library. Python binds all symbols of an extension module when it loads it. This
 * module uses one symbol of the library. So the ABI can be compared before the other modules are loaded. */
#include <Python.h>
#include <gather/gather.h>

static PyObject *version(PyObject *module, PyObject *nothing) {
  (void)module;
  (void)nothing;
  return PyLong_FromUnsignedLong(gth_abi_version());
}

static PyMethodDef methods[] = {{"version", version, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

static PyModuleDef_Slot slots[] = {
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "libgather._abi", .m_methods = methods, .m_slots = slots};

PyMODINIT_FUNC PyInit__abi(void) { return PyModuleDef_Init(&definition); }
