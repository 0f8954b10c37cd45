/* Generated from gather.h by ./dev generate: do not edit. */
#ifndef LIBGATHER_OPTION_TABLE_H
#define LIBGATHER_OPTION_TABLE_H

/* clang-format off */
/* The options in the order of a Request: the name, the field of gth_options, and how its value is read. */
#define OPTION_FIELDS(OPTION) \
  OPTION(AXIS, axis, axis, GIVEN) \
  OPTION(BATCH_DIMS, batch_dims, batch_dims, INT64) \
  OPTION(PROFILE, profile, profile, CHOICE) \
  OPTION(OPSET, opset, opset, INT32) \
  OPTION(NEGATIVE, negative, negative, CHOICE) \
  OPTION(BOUNDS, bounds, bounds, CHOICE) \
  OPTION(FILL_VALUE, fill_value, fill, FILL) \
  OPTION(EXTENTS, extents, extents, CHOICE) \
  OPTION(REDUCTION, reduction, reduction, CHOICE) \
  OPTION(ACCUMULATE, accumulate, accumulate, CHOICE) \
  OPTION(THREADS, threads, threads, COUNT) \
  OPTION(BAG_FORMAT, bag_format, bag_format, CHOICE) \
  OPTION(POOL, pool, pool, CHOICE) \
  OPTION(EMPTY, empty, empty, CHOICE) \
  OPTION(PADDING_INDEX, padding_index, padding_index, GIVEN) \
  OPTION(INCLUDE_SELF, include_self, initial, FLAG) \
  OPTION(BAG_COUNT, bag_count, bag_count, INT64) \
  OPTION(OUT_DTYPE, out_dtype, out_dtype, DTYPE)

/* The switches of the operators of torch in the order of their argument: the field of gth_options, and the operations
 * that have it. SPARSE stands for the switch that is no field. */
#define OPTION_SWITCHES(SWITCH, SPARSE) \
  SWITCH(PROFILE, profile, every) \
  SWITCH(OPSET, opset, every) \
  SWITCH(NEGATIVE, negative, every) \
  SWITCH(BOUNDS, bounds, every) \
  SWITCH(FILL, fill, every) \
  SWITCH(EXTENTS, extents, every) \
  SWITCH(REDUCTION, reduction, scatters) \
  SWITCH(ACCUMULATE, accumulate, adders) \
  SWITCH(BAG_FORMAT, bag_format, bags) \
  SWITCH(POOL, pool, bags) \
  SWITCH(EMPTY, empty, bags) \
  SWITCH(HAS_PADDING_INDEX, has_padding_index, every) \
  SWITCH(PADDING_INDEX, padding_index, every) \
  SWITCH(INITIAL, initial, scatters) \
  SPARSE
/* clang-format on */

#endif
