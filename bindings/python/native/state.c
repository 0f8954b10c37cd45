#include "state.h"

const state *state_of(PyObject *module) { return PyModule_GetState(module); }

void keep(PyObject **slot, PyObject *object) {
  PyObject *before = *slot;
  Py_INCREF(object);
  *slot = object;
  Py_XDECREF(before);
}

/* Returns the address of each object reference of a state, by number. Returns NULL after the last one. */
static PyObject **slot_of(state *known, size_t number) {
  PyObject **const slots[] = {
      &known->make_error,    &known->buffer_types, &known->choices,      &known->locate,
      &known->general,       &known->tensor_type,  &known->packed_type,  &known->ndarray,
      &known->memmap,        &known->int64,        &known->arrow_types,  &known->frame_takers,
      &known->arrow_export,  &known->arrow_import, &known->type_name,    &known->requires_grad_name,
      &known->level_name,    &known->memory_type,  &known->handle_type,  &known->function_type,
      &known->zero,          &known->null_fill,    &known->program_type, &known->find_program,
      &known->sharding_name, &known->dtype_name,   &known->wait_name};
  const size_t alone = sizeof slots / sizeof *slots;
  if (number < alone) {
    return slots[number];
  }
  number -= alone;
  enum { PARTS = 6 };
  if (number >= EXCHANGES * PARTS) {
    return NULL;
  }
  exchange *entry = &known->exchanges[number / PARTS];
  PyObject **const parts[PARTS] = {&entry->type,       &entry->capsule,      &entry->is_plain,
                                   &entry->is_negated, &entry->forward_mode, &entry->written};
  return parts[number % PARTS];
}

int state_traverse(state *known, visitproc visit, void *arg) {
  PyObject **slot;
  for (size_t i = 0; (slot = slot_of(known, i)); i++) {
    Py_VISIT(*slot);
  }
  return 0;
}

int state_clear(state *known) {
  PyObject **slot;
  for (size_t i = 0; (slot = slot_of(known, i)); i++) {
    Py_CLEAR(*slot);
  }
  return 0;
}
