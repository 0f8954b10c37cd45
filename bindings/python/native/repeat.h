/* The plan of a call that repeats. Most small calls repeat the layouts and the options of the last call of the same
 * function. The library validates them once. */
#ifndef LIBGATHER_REPEAT_H
#define LIBGATHER_REPEAT_H

#include "operand.h"
#include "switches.h"

enum { REPEAT_NDIM = 4 };

/* The dtype and the layout of an array. Strides are set if the array is not dense. */
typedef struct form {
  int32_t dtype, ndim;
  int has_strides;
  int64_t offset;
  int64_t shape[REPEAT_NDIM], strides[REPEAT_NDIM];
} form;

/* The last small call of a function, which wrote its rows or a target in place. */
typedef struct repeat {
  gth_options options;
  PyObject *fields[FIELDS]; /* that `options` was read from. They are constants. fields[0] is NULL without them */
  form table, indices, rows;
  int is_set;
  gth_plan *plan; /* NULL if the call has not repeated yet */
} repeat;

/* Returns the plan of a call and the form of its rows if it repeats the last one. Returns NULL otherwise. The operands
 * that are read are open. */
gth_plan *repeat_find(repeat *last, int32_t op, const operands *all, const gth_options *options, form *rows);

/* Runs a plan from repeat_find() with open rows. If the run fails with another status than GTH_E_RACE, the call runs
 * again without the plan, which writes the same memory and reports the error. */
int32_t repeat_run(gth_plan *plan, int32_t op, const operands *all, const form *rows, gth_error *error);

/* Returns true if the options of a call were read from these fields. */
int repeat_has_fields(const repeat *last, arguments fields);

/* Stores a small call that has succeeded without a plan. `fields` is NULL if not all options were read from fields. */
void repeat_note(repeat *last, const operands *all, const gth_options *options, arguments fields);

/* Releases the plan. */
void repeat_drop(repeat *last);

#endif
