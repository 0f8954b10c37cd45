#pragma once

// The options and the profiles of the ABI as data. The library expands each list with a macro. An entry is
// NAME(column, ..). The generators of the bindings read the options. In a text, {GTH_NAME} and {operation} are links.

// The options of a call: fields of gth_options. A new option is the last one. Columns:
//   name     The field, and the name in the bindings.
//   type     choice: one of the constants with the prefix of `highest`. count: int32_t in [0, highest]. given: int64,
//            with a field has_NAME. int32, int64 and dtype: other functions validate the value.
//   highest  The highest value, or any.
//   kinds    The operations that have it. every, scatters: without gradients, adders: scatters, gradients and bags, or
//            bags.
//   unset    The value of a call without the option. It completes the sentence "The default is ..".
//   text     Completes the sentence "Sets ..". The first sentence of a choice describes its type.
// clang-format off
#define GATHER_OPTIONS(OPTION)                                                                                         \
  OPTION(axis, given, any, every, "the number of batch dims",                                                          \
         "the dim of params that indices select in. A negative axis counts from the end.")                             \
  OPTION(batch_dims, int64, any, every, "0",                                                                           \
         "the number of leading dims that params and indices share. For {gather} a negative number counts from the "   \
         "rank of indices.")                                                                                           \
  OPTION(profile, choice, GTH_PROFILE_JAX_CLIP, every, "no profile",                                                   \
         "the system whose results a call has in every edge case. Other options override its switches.")               \
  OPTION(opset, int32, any, every, "the newest",                                                                       \
         "the ONNX version of {GTH_PROFILE_ONNX} and {GTH_PROFILE_ORT}.")                                              \
  OPTION(negative, choice, GTH_NEGATIVE_WRAP, every, "that of the profile, else {GTH_NEGATIVE_REJECT}",                \
         "the meaning of a negative index.")                                                                           \
  OPTION(bounds, choice, GTH_BOUNDS_ERROR_PARTIAL, every, "that of the profile, else {GTH_BOUNDS_ERROR}",              \
         "the meaning of an index out of bounds.")                                                                     \
  OPTION(fill, choice, GTH_FILL_BY_DTYPE, every, "that of the profile, else {GTH_FILL_ZERO}",                          \
         "the value that {GTH_BOUNDS_FILL} and padding of gathers write.")                                             \
  OPTION(extents, choice, GTH_EXTENTS_BROADCAST, every, "that of the profile, else {GTH_EXTENTS_EQUAL}",               \
         "the rule for the extents of params and indices of {gather_elements} and {scatter_elements} in the dims "     \
         "that are not the axis.")                                                                                     \
  OPTION(reduction, choice, GTH_REDUCTION_MEAN, scatters, "{GTH_REDUCTION_NONE}",                                      \
         "the way in which a scatter combines an update with the row that it selects. Other calls reject it.")         \
  OPTION(accumulate, choice, GTH_ACCUMULATE_FLOAT64, adders,                                                           \
         "that of the profile, else {GTH_ACCUMULATE_DTYPE}. For bags it is {GTH_ACCUMULATE_FLOAT32}",                  \
         "the type in which scatters, gradients and bags add and multiply floating numbers. Other calls reject it.")   \
  OPTION(threads, count, INT32_MAX, every, "that of the context",                                                      \
         "the highest number of CPU threads of a call.")                                                               \
  OPTION(bag_format, choice, GTH_BAGS_DENSE, bags, "{GTH_BAGS_OFFSETS} if there are bags, else {GTH_BAGS_DENSE}",      \
         "the way in which the operand bags of gather_bags divides indices into bags.")                                \
  OPTION(pool, choice, GTH_POOL_MIN, bags, "{GTH_POOL_SUM}",                                                           \
         "the way in which gather_bags makes one row of the rows of a bag.")                                           \
  OPTION(empty, choice, GTH_EMPTY_ERROR, bags, "that of the profile, else {GTH_EMPTY_ZERO}",                           \
         "the row of a bag of gather_bags of which no id is read.")                                                    \
  OPTION(padding_index, given, any, every, "no index",                                                                 \
         "an index that selects nothing and causes no error, even out of bounds. A gather fills its row as "   \
         "the option for fill values states, by default with zeros. A scatter drops its update. gather_bags does "     \
         "not count it.")                                                                                              \
  OPTION(initial, choice, GTH_INITIAL_UPDATE, scatters, "{GTH_INITIAL_TARGET}",                                        \
         "the value that the reduction of a row by a scatter begins with: the row of target, or the first update.")    \
  OPTION(bag_count, int64, any, bags, "0",                                                                             \
         "the number of bags of gather_bags with {GTH_BAGS_SEGMENTS}.")                                                \
  OPTION(out_dtype, dtype, any, bags, "that of params",                                                                \
         "the dtype of pooled rows: that of params, or float32 for float16 and bfloat16.")                             \
  OPTION(order, choice, GTH_ORDER_ANY, adders, "{GTH_ORDER_UPDATES}",                                                  \
         "the order in which a scatter, a gradient or a gradient of bags on a CUDA device combines the updates of an " \
         "element. On the CPU it is always that of the updates.")

// The profiles, by number: the rules of all operations, and those of bags. profile.cpp has exceptions and other rules.
// The bindings read the first columns. Columns:
//   name      GTH_PROFILE_*, or NONE for 0.
//   numbers   The dtypes of 16 or 8 bits: all, bfloat16, or tensorflow: also float8_e5m2 and float8_e4m3fn.
//   strings   yes: The table may have strings.
//   foreign   The elements of NumPy that bindings move as bytes of other dtypes: all, small: those of ml_dtypes, or no.
//   negative  reject or wrap.
//   bounds    error, modulo, clamp, or dropped: Gathers fill, and scatters skip.
//   fill      The value that gathers fill with: zero or by_dtype.
//   extents   equal, prefix or broadcast.
//   empty     The row of a bag of which no id is read: zero, or identity: that of the pool. absent: There are no bags.
//   end       last: The last offset is the number of ids. early: It may be smaller.
//   repeats   yes: The updates of a scatter may be the end of the shape of the rows, which each tuple repeats.
//   check     always: Ids are validated also if the output has no elements. nonempty: Only other calls validate them.
//
//                                    strings     negative                                               repeats
//        name            numbers          foreign        bounds   fill      extents    empty     end         check
#define GATHER_PROFILES(PROFILE)                                                                                       \
  PROFILE(NONE,           all,        yes, all,   reject, error,   zero,     equal,     zero,     last,  yes, always)  \
  PROFILE(TENSORFLOW,     tensorflow, yes, no,    reject, error,   zero,     equal,     zero,     last,  no,  nonempty)\
  PROFILE(TENSORFLOW_GPU, tensorflow, no,  no,    reject, dropped, zero,     equal,     absent,   last,  no,  always)  \
  PROFILE(ONNX,           bfloat16,   yes, no,    wrap,   error,   zero,     prefix,    absent,   last,  no,  always)  \
  PROFILE(ORT,            bfloat16,   yes, no,    wrap,   error,   zero,     prefix,    absent,   last,  no,  always)  \
  PROFILE(NUMPY_RAISE,    all,        yes, all,   wrap,   error,   zero,     broadcast, absent,   last,  yes, always)  \
  PROFILE(NUMPY_WRAP,     all,        yes, all,   wrap,   modulo,  zero,     broadcast, absent,   last,  yes, always)  \
  PROFILE(NUMPY_CLIP,     all,        yes, all,   reject, clamp,   zero,     broadcast, absent,   last,  yes, always)  \
  PROFILE(TORCH,          all,        no,  no,    reject, error,   zero,     prefix,    zero,     early, no,  always)  \
  PROFILE(JAX_FILL,       all,        no,  small, wrap,   dropped, by_dtype, broadcast, identity, last,  yes, always)  \
  PROFILE(JAX_CLIP,       all,        no,  small, reject, clamp,   zero,     broadcast, identity, last,  yes, always)
// clang-format on
