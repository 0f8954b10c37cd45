/* The plan of a call that repeats. Most small gathers repeat the shapes and the options of the last call of the same
 * function. The library validates them once. */
#ifndef LIBGATHER_REPEAT_H
#define LIBGATHER_REPEAT_H

#include "operand.h"

enum { REPEAT_NDIM = 4 };

/* The dtype and the shape of a dense array. */
typedef struct form {
  int32_t dtype, ndim;
  int64_t shape[REPEAT_NDIM];
} form;

/* The last small gather of a function. */
typedef struct repeat {
  gth_options options;
  form table, indices, rows;
  int is_set;
  gth_plan *plan; /* NULL if the call has not repeated yet */
} repeat;

/* Returns the plan of a gather and the form of its rows if it repeats the last one. Returns NULL otherwise. The operands
 * that are read are open. */
gth_plan *repeat_find(repeat *last, int32_t op, const operands *all, const gth_options *options, form *rows);

/* Runs a plan from repeat_find() with open rows. Returns false if they differ from the plan, or if the run fails. The
 * call then runs without the plan, which reports the error. */
int repeat_run(gth_plan *plan, const operands *all, const form *rows);

/* Stores a small gather that has succeeded without a plan. */
void repeat_note(repeat *last, const operands *all, const gth_options *options);

/* Releases the plan. */
void repeat_drop(repeat *last);

#endif
