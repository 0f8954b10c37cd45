/* Generated from gather.h by ./dev generate: do not edit. */
#ifndef LIBGATHER_OPTION_TABLE_H
#define LIBGATHER_OPTION_TABLE_H

#include <stdint.h>

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
  OPTION(OUT_DTYPE, out_dtype, out_dtype, DTYPE) \
  OPTION(ORDER, order, order, CHOICE)

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
  SPARSE \
  SWITCH(ORDER, order, adders)

/* The names of the operations, from number 1 on. */
#define OPERATION_NAMES(NAME) \
  NAME("gather") \
  NAME("gather_nd") \
  NAME("gather_elements") \
  NAME("scatter") \
  NAME("scatter_nd") \
  NAME("scatter_elements") \
  NAME("gather_gradient") \
  NAME("gather_nd_gradient") \
  NAME("gather_elements_gradient") \
  NAME("gather_bags")
/* clang-format on */

#ifdef __cplusplus
#define LIBGATHER_INLINE constexpr
#else
#define LIBGATHER_INLINE static inline
#endif

/* Returns whether a set has a number. The library refuses numbers that are not in [0, 32). */
LIBGATHER_INLINE int is_in(int64_t number, uint32_t set) { return (int)(set >> (number & 31) & 1u); }

/* The operations and the profiles with a value in a column of their list. Bit n is number n. */
#define OPERATIONS_kind_gather 0xeu
#define OPERATIONS_kind_scatter 0x70u
#define OPERATIONS_kind_gradient 0x380u
#define OPERATIONS_kind_bags 0x400u
#define OPERATIONS_form_slices 0x1b6u
#define OPERATIONS_form_paired 0x248u
#define OPERATIONS_form_bags 0x400u
#define OPERATIONS_tuples_one 0x6dau
#define OPERATIONS_tuples_last 0x124u

#define PROFILES_strings_yes 0xfbu
#define PROFILES_strings_no 0x704u
#define PROFILES_foreign_all 0xe1u
#define PROFILES_foreign_no 0x11eu
#define PROFILES_foreign_small 0x600u
#define PROFILES_negative_reject 0x587u
#define PROFILES_negative_wrap 0x278u
#define PROFILES_bounds_error 0x13bu
#define PROFILES_bounds_dropped 0x204u
#define PROFILES_bounds_modulo 0x40u
#define PROFILES_bounds_clamp 0x480u
#define PROFILES_empty_zero 0x103u
#define PROFILES_empty_absent 0xfcu
#define PROFILES_empty_identity 0x600u
#define PROFILES_repeats_yes 0x6e1u
#define PROFILES_repeats_no 0x11eu

#endif
