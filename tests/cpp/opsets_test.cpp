#include "hostile.hpp"

// The profiles onnx and ort: the options and dtypes that each opset of ONNX has. The numbers are those of ONNX's
// changelog of operators.
namespace {

using namespace hostile;

constexpr int32_t never = 99, newest = 25;

// For an operation, the first opset in which ONNX has it, and has batch_dims, negative indices, bfloat16, the reductions
// add and mul, and the reductions max and min.
struct Since {
  const Operation& op;
  int32_t operation, batch_dims, negatives, bfloat16, add, max;
};

const Since rows[] = {
    {calls::gather, 1, never, 11, 13, never, never},           {calls::gather_nd, 11, 12, 11, 13, never, never},
    {calls::gather_elements, 11, never, 11, 13, never, never}, {calls::scatter_nd, 11, never, 11, 13, 16, 18},
    {calls::scatter_elements, 11, never, 11, 13, 16, 18},
};

bool is_nd(const Since& row) { return row.op.number == GTH_OP_GATHER_ND || row.op.number == GTH_OP_SCATTER_ND; }

// A call with a table [2, 2] and one index of value `index`, whose axis is 0 unless there are batch dims.
int32_t run(const Since& row, const gth_options& options, int32_t dtype, int64_t index, gth_error* error) {
  const Array table(dtype, {2, 2});
  const int64_t width = row.op.number == GTH_OP_GATHER || is_nd(row) ? 2 : 1;
  const bool batched = options.batch_dims == 1;
  const Array indices = is_nd(row) && batched      ? indices64({2, 1}, {index, index})
                        : width == 1 || is_nd(row) ? indices64({1, 1}, {index})
                                                   : indices64({1}, {index});
  const Array out(dtype, batched ? Shape{2} : Shape{1, width});
  const gth_tensor_desc t = table.desc(), i = indices.desc(), r = out.desc();
  return row.op.run(nullptr, &t, &i, &r, &options, error);
}

gth_options with_opset(int32_t profile, int32_t opset) {
  gth_options options = with_profile(profile);
  options.opset = opset;
  return options;
}

// Calls check(row, options, opset) for each operation, profile and opset. The last opset is 0, which is the newest.
template <class Check>
void for_each_opset(Check&& check) {
  for (const Since& row : rows) {
    for (int32_t profile : {GTH_PROFILE_ONNX, GTH_PROFILE_ORT}) {
      for (int32_t opset = 1; opset <= newest + 1; ++opset) {
        const int32_t given = opset > newest ? 0 : opset;
        SCOPED_TRACE("operation " + std::to_string(row.op.number) + ", profile " + std::to_string(profile) +
                     ", opset " + std::to_string(given));
        check(row, with_opset(profile, given), opset);
      }
    }
  }
}

TEST(Opsets, OperationBeforeItsFirstOpsetIsRejected) {
  for_each_opset([](const Since& row, const gth_options& options, int32_t opset) {
    Error error;
    const int32_t status = run(row, options, GTH_DTYPE_FLOAT32, 0, &error);
    const Facts rejected{GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, opset), -1, opset, row.operation};
    expect_facts(status, error, opset < row.operation ? rejected : Facts{GTH_OK});
  });
}

TEST(Opsets, BatchDimsBeforeTheirOpsetAreRejected) {
  for_each_opset([](const Since& row, gth_options options, int32_t opset) {
    if (opset < row.operation || (row.batch_dims == never && options.profile == GTH_PROFILE_ORT)) return;
    options.batch_dims = 1;
    Error error;
    const int32_t status = run(row, options, GTH_DTYPE_FLOAT32, 0, &error);
    EXPECT_EQ(status, opset < row.batch_dims ? GTH_E_BATCH : GTH_OK) << error.message;
  });
}

TEST(Opsets, NegativeIndicesBeforeTheirOpsetAreOutOfBounds) {
  for_each_opset([](const Since& row, gth_options options, int32_t opset) {
    if (opset < row.operation) return;
    // ONNX Runtime has allowed negative indices in every opset.
    const bool wraps = opset >= row.negatives || options.profile == GTH_PROFILE_ORT;
    Error error;
    EXPECT_EQ(run(row, options, GTH_DTYPE_FLOAT32, -1, &error), wraps ? GTH_OK : GTH_E_INDEX) << error.message;
    options.negative = GTH_NEGATIVE_WRAP;
    EXPECT_EQ(run(row, options, GTH_DTYPE_FLOAT32, -1, &error), GTH_OK) << error.message;
    options.negative = GTH_NEGATIVE_REJECT;
    EXPECT_EQ(run(row, options, GTH_DTYPE_FLOAT32, -1, &error), GTH_E_INDEX);
  });
}

TEST(Opsets, Bfloat16BeforeItsOpsetIsRejected) {
  for_each_opset([](const Since& row, const gth_options& options, int32_t opset) {
    if (opset < row.operation) return;
    Error error;
    EXPECT_EQ(run(row, options, GTH_DTYPE_BFLOAT16, 0, &error), opset < row.bfloat16 ? GTH_E_DTYPE : GTH_OK);
  });
}

TEST(Opsets, ReductionsBeforeTheirOpsetAreRejected) {
  for_each_opset([](const Since& row, gth_options options, int32_t opset) {
    if (opset < row.operation || row.add == never) return;
    for (options.reduction = GTH_REDUCTION_NONE; options.reduction <= GTH_REDUCTION_MIN; ++options.reduction) {
      const int32_t highest = opset >= row.max   ? GTH_REDUCTION_MIN
                              : opset >= row.add ? GTH_REDUCTION_MUL
                                                 : GTH_REDUCTION_NONE;
      Error error;
      const int32_t status = run(row, options, GTH_DTYPE_FLOAT32, 0, &error);
      const Facts rejected{GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, reduction), -1, options.reduction,
                           highest};
      expect_facts(status, error, options.reduction > highest ? rejected : Facts{GTH_OK});
    }
  });
}

}  // namespace
