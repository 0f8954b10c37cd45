#pragma once

// The operations of the ABI as data: roles, operands and operations. The library expands each list with a macro. The
// generators of the bindings read its lines: an entry is NAME(column, ..). Names in capitals are those of gather.h
// without their prefix.

// The places for operands in gth_request and gth_plan_args. Columns: the field, and the GTH_OPERAND_* that errors use if
// an operation has no such operand.
// clang-format off
#define GATHER_ROLES(ROLE) \
  ROLE(table,   PARAMS)    \
  ROLE(indices, INDICES)   \
  ROLE(rows,    OUT)       \
  ROLE(bags,    BAGS)      \
  ROLE(weights, WEIGHTS)

// The places for operands in the codec of a packed table. They are also fields of gth_plan_args.
#define GATHER_CODEC_ROLES(ROLE) \
  ROLE(scales, SCALES)           \
  ROLE(zeros,  ZEROS)

// The operands, by kind of operation. A kind has no operand for a role that it does not list. Columns:
//   kind    The kind of operation.
//   role    The place in gth_request.
//   name    GTH_OPERAND_*, which errors use.
//   use     read, written, or zeroed: written, and set to zero before.
//   need    required or optional.
//   dtype   data: the dtype of the call. index: an integer. as_table: the dtype of the table. codec: one of its codec.
//   shape   own, or result: gth_infer returns the shape, and the request of a plan may omit the operand.
//   access  The runs that access the memory. rows: those that copy rows. tuples: those with tuples.
//
//          kind      role     name     use      need      dtype     shape   access
#define GATHER_OPERANDS(OPERAND)                                                    \
  OPERAND(gather,   table,   PARAMS,  read,    required, data,     own,    rows)    \
  OPERAND(gather,   indices, INDICES, read,    required, index,    own,    tuples)  \
  OPERAND(gather,   rows,    OUT,     written, required, as_table, result, rows)    \
  OPERAND(gather,   scales,  SCALES,  read,    optional, codec,    own,    rows)    \
  OPERAND(gather,   zeros,   ZEROS,   read,    optional, codec,    own,    rows)    \
  OPERAND(scatter,  table,   TARGET,  written, required, data,     own,    rows)    \
  OPERAND(scatter,  indices, INDICES, read,    required, index,    own,    tuples)  \
  OPERAND(scatter,  rows,    UPDATES, read,    required, as_table, result, rows)    \
  OPERAND(gradient, table,   TARGET,  zeroed,  required, data,     own,    rows)    \
  OPERAND(gradient, indices, INDICES, read,    required, index,    own,    tuples)  \
  OPERAND(gradient, rows,    UPDATES, read,    required, as_table, result, rows)    \
  OPERAND(bags,     table,   PARAMS,  read,    required, data,     own,    rows)    \
  OPERAND(bags,     indices, INDICES, read,    required, index,    own,    tuples)  \
  OPERAND(bags,     rows,    OUT,     written, required, as_table, result, rows)    \
  OPERAND(bags,     bags,    BAGS,    read,    optional, index,    own,    tuples)  \
  OPERAND(bags,     weights, WEIGHTS, read,    optional, as_table, own,    tuples)  \
  OPERAND(bags,     scales,  SCALES,  read,    optional, codec,    own,    rows)    \
  OPERAND(bags,     zeros,   ZEROS,   read,    optional, codec,    own,    rows)

// The operations, by number. Columns:
//   name         Of the function gth_*, and in messages.
//   number       GTH_OP_*
//   rules        GTH_OP_* of the operation whose rules in the profiles apply.
//   kind         The kind of operation, which determines the operands.
//   form         slices: Rows have batch, outer, tuple and slice dims. paired: Dims of all operands correspond. bags:
//                Rows have a dim of bags and slice dims.
//   tuples       one: A tuple is one index. last: The last dim of indices has the components of a tuple.
//   definitions  Those of ONNX, the newest first: opset, batch_dims, negative indices, bfloat16, highest reduction.
//                The highest reduction of a gather is 0. Gather 1 allows no negative indices. GatherND 11 has no
//                batch_dims. ONNX has no scatter along an axis, so its definitions are those of Gather. Reductions
//                exist since opset 16, max and min since 18.
//
//            name                      number                    rules             kind      form    tuples
#define GATHER_OPERATIONS(OPERATION)                                                                                   \
  OPERATION(gather,                   GATHER,                   GATHER,           gather,   slices, one,               \
            {13, false, true, true, 0}, {11, false, true, false, 0}, {1, false, false, false, 0})                      \
  OPERATION(gather_nd,                GATHER_ND,                GATHER_ND,        gather,   slices, last,              \
            {13, true, true, true, 0}, {12, true, true, false, 0}, {11, false, true, false, 0})                        \
  OPERATION(gather_elements,          GATHER_ELEMENTS,          GATHER_ELEMENTS,  gather,   paired, one,               \
            {13, false, true, true, 0}, {11, false, true, false, 0})                                                   \
  OPERATION(scatter,                  SCATTER,                  SCATTER,          scatter,  slices, one,               \
            {13, false, true, true, all}, {11, false, true, false, all}, {1, false, false, false, all})                \
  OPERATION(scatter_nd,               SCATTER_ND,               SCATTER_ND,       scatter,  slices, last,              \
            {18, false, true, true, all}, {16, false, true, true, mul}, {13, false, true, true, none},                 \
            {11, false, true, false, none})                                                                            \
  OPERATION(scatter_elements,         SCATTER_ELEMENTS,         SCATTER_ELEMENTS, scatter,  paired, one,               \
            {18, false, true, true, all}, {16, false, true, true, mul}, {13, false, true, true, none},                 \
            {11, false, true, false, none})                                                                            \
  OPERATION(gather_gradient,          GATHER_GRADIENT,          GATHER,           gradient, slices, one,               \
            {13, false, true, true, all}, {11, false, true, false, all}, {1, false, false, false, all})                \
  OPERATION(gather_nd_gradient,       GATHER_ND_GRADIENT,       GATHER_ND,        gradient, slices, last,              \
            {13, true, true, true, all}, {12, true, true, false, all}, {11, false, true, false, all})                  \
  OPERATION(gather_elements_gradient, GATHER_ELEMENTS_GRADIENT, GATHER_ELEMENTS,  gradient, paired, one,               \
            {13, false, true, true, all}, {11, false, true, false, all})                                               \
  OPERATION(gather_bags,              GATHER_BAGS,              GATHER,           bags,     bags,   one, {})
// clang-format on
