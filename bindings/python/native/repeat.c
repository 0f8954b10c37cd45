#include "repeat.h"

#include <string.h>

/* Returns true if an operand is memory of a low rank. */
static int has_form(const gth_tensor_desc *desc) { return !desc->tensor && desc->ndim <= REPEAT_NDIM; }

/* Returns true if extents or strides are equal. They are so few that a call of memcmp() takes longer. */
static int are_equal(const int64_t *a, const int64_t *b, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    if (a[i] != b[i]) {
      return 0;
    }
  }
  return 1;
}

static int is_like(const gth_tensor_desc *desc, const form *known) {
  return has_form(desc) && desc->dtype == known->dtype && desc->ndim == known->ndim && desc->offset == known->offset &&
         are_equal(desc->shape, known->shape, known->ndim) && (desc->strides != NULL) == known->has_strides &&
         (!desc->strides || are_equal(desc->strides, known->strides, known->ndim));
}

static form form_of(const gth_tensor_desc *desc) {
  form made = {.dtype = desc->dtype, .ndim = desc->ndim, .has_strides = desc->strides != NULL, .offset = desc->offset};
  const size_t bytes = (size_t)desc->ndim * sizeof *made.shape;
  memcpy(made.shape, desc->shape, bytes);
  if (desc->strides) {
    memcpy(made.strides, desc->strides, bytes);
  }
  return made;
}

static gth_tensor_desc desc_of(const form *known) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(known->dtype, known->ndim, known->shape, NULL);
  desc.strides = known->has_strides ? known->strides : NULL;
  desc.offset = known->offset;
  return desc;
}

static gth_plan *plan_of(const repeat *last, int32_t op) {
  const gth_tensor_desc table = desc_of(&last->table), indices = desc_of(&last->indices), rows = desc_of(&last->rows);
  const gth_request asked = GTH_REQUEST(op, &table, &indices, &rows, &last->options);
  gth_plan *plan;
  return gth_plan_create(&asked, &plan, NULL) == GTH_OK ? plan : NULL;
}

gth_plan *repeat_find(repeat *last, int32_t op, const operands *all, const gth_options *options, form *rows) {
  if (!last->is_set || !is_like(&all->table.desc, &last->table) || !is_like(&all->indices.desc, &last->indices) ||
      memcmp(options, &last->options, sizeof last->options)) {
    return NULL;
  }
  if (!last->plan) {
    last->plan = plan_of(last, op);
  }
  *rows = last->rows;
  return last->plan;
}

int32_t repeat_run(gth_plan *plan, int32_t op, const operands *all, const form *rows, gth_error *error) {
  const gth_tensor_desc *table = &all->table.desc, *out = &all->rows.desc;
  const gth_tensor_desc *written = writes_rows(op) ? out : table;
  if (!is_like(out, rows) || (written->flags & GTH_TENSOR_READONLY)) {
    return GTH_E_UNSUPPORTED;
  }
  return gth_plan_run(NULL, plan, GTH_OPEN, (void *)table->data, all->indices.desc.data, (void *)out->data, error);
}

/* Two threads without a GIL would share the plan, so it is not kept there. */
#ifdef Py_GIL_DISABLED
static const int is_kept = 0;
#else
static const int is_kept = 1;
#endif

int repeat_has_fields(const repeat *last, arguments fields) {
  return !memcmp(last->fields, fields, sizeof last->fields);
}

/* Returns true if an object cannot change. */
static int is_constant(PyObject *object) {
  return object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object) || PyUnicode_CheckExact(object);
}

/* Keeps references to the fields, so that no other object gets the address of one of them. */
static void note_fields(repeat *last, arguments fields) {
  for (int i = 0; i < FIELDS; i++) {
    if (!is_constant(fields[i])) {
      return;
    }
  }
  for (int i = 0; i < FIELDS; i++) {
    Py_INCREF(fields[i]);
    last->fields[i] = fields[i];
  }
}

void repeat_note(repeat *last, const operands *all, const gth_options *options, arguments fields) {
  if (!is_kept || !has_form(&all->table.desc) || !has_form(&all->indices.desc) || !has_form(&all->rows.desc)) {
    return;
  }
  repeat_drop(last);
  last->options = *options;
  last->table = form_of(&all->table.desc);
  last->indices = form_of(&all->indices.desc);
  last->rows = form_of(&all->rows.desc);
  last->is_set = 1;
  if (fields) {
    note_fields(last, fields);
  }
}

void repeat_drop(repeat *last) {
  gth_plan *plan = last->plan;
  last->plan = NULL;
  last->is_set = 0;
  gth_plan_release(plan);
  for (int i = 0; i < FIELDS; i++) {
    Py_CLEAR(last->fields[i]);
  }
}
