#include "packed_cases.hpp"
#include "samples.hpp"

// A gather or bags of packed rows equal those of their decoded numbers, in every profile: the same rows, and the same
// errors. Two rules differ: torch adds biases first, and ONNX Runtime fills rows out of bounds.
namespace {

using namespace packed;
using hostile::Error;

constexpr int32_t profiles[] = {0,
                                GTH_PROFILE_TENSORFLOW,
                                GTH_PROFILE_TENSORFLOW_GPU,
                                GTH_PROFILE_ONNX,
                                GTH_PROFILE_ORT,
                                GTH_PROFILE_NUMPY_RAISE,
                                GTH_PROFILE_NUMPY_WRAP,
                                GTH_PROFILE_NUMPY_CLIP,
                                GTH_PROFILE_TORCH,
                                GTH_PROFILE_JAX_FILL,
                                GTH_PROFILE_JAX_CLIP};

// Returns the table of the decoded numbers.
Array decoded(const Table& table) {
  const Described described(table);
  Array plain;
  plain.make(table.dtype, table.shape, true);
  for (int64_t i = 0; i < table.rows(); ++i) {
    const std::vector<float> numbers = decode_row(described.params, i);
    for (size_t j = 0; j < numbers.size(); ++j)
      encode(table.dtype, numbers[j], plain.at(i * table.values() + static_cast<int64_t>(j)));
  }
  return plain;
}

struct Result {
  int32_t status = GTH_OK;
  Error error;
  Shape shape;
  int32_t dtype = 0;
  std::vector<char> bytes;
};

Result result_of(gth_request request, const gth_tensor_desc& params) {
  Result result;
  request.table = &params;
  hostile::Tensor made;
  result.status = gth_make(nullptr, &request, made.out(), &result.error);
  if (result.status) return result;
  const gth_tensor_desc desc = made.desc();
  result.shape.assign(desc.shape, desc.shape + desc.ndim);
  result.dtype = desc.dtype;
  const char* const data = static_cast<const char*>(desc.data);
  if (data) result.bytes.assign(data, data + product(result.shape) * gth_dtype_size(desc.dtype));
  return result;
}

void expect_same(const Result& packed, const Result& plain, const std::string& what) {
  ASSERT_STREQ(gth_status_name(packed.status), gth_status_name(plain.status)) << what << ": " << packed.error.message;
  if (plain.status) {
    EXPECT_EQ(packed.error.operand, plain.error.operand) << what << ": " << packed.error.message;
    EXPECT_EQ(packed.error.component, plain.error.component) << what;
    EXPECT_EQ(packed.error.position, plain.error.position) << what;
    EXPECT_EQ(packed.error.value, plain.error.value) << what;
    EXPECT_EQ(packed.error.limit, plain.error.limit) << what;
    EXPECT_EQ(packed.error.flags, plain.error.flags) << what;
    return;
  }
  ASSERT_EQ(packed.shape, plain.shape) << what;
  ASSERT_EQ(packed.dtype, plain.dtype) << what;
  const auto item = static_cast<size_t>(gth_dtype_size(plain.dtype));
  for (size_t at = 0; at < plain.bytes.size(); at += item)
    ASSERT_TRUE(is_same(plain.dtype, packed.bytes.data() + at, plain.bytes.data() + at)) << what << ", byte " << at;
}

void draw_indices(Array* indices, const Shape& shape, int64_t rows) {
  constexpr int32_t dtypes[] = {GTH_DTYPE_INT64, GTH_DTYPE_INT64, GTH_DTYPE_INT32, GTH_DTYPE_UINT8};
  indices->make(pick(dtypes), shape, true);
  const bool is_tame = chance(50);
  for (int64_t i = 0; i < product(shape); ++i) indices->set(i, is_tame ? below(rows) : below(2 * rows + 3) - rows - 1);
}

class PackedProfiles : public ::testing::TestWithParam<int32_t> {};

TEST_P(PackedProfiles, GathersEqualThoseOfDecodedNumbers) {
  for (int i = 0; i < 400 && !HasFailure(); ++i) {
    const Shape rows = chance(50) ? Shape{1 + below(5)} : Shape{1 + below(3), 1 + below(3)};
    const Table table = make_table(rows, 1 + below(90));
    const Array plain = decoded(table);
    const bool is_nd = chance(40);
    gth_options options = GTH_OPTIONS_INIT;
    options.profile = GetParam();
    if (GetParam() == GTH_PROFILE_ONNX || GetParam() == GTH_PROFILE_ORT)
      options.opset = static_cast<int32_t>(below(19));
    if (chance(30)) options.bounds = static_cast<int32_t>(below(6));
    if (chance(20)) options.negative = static_cast<int32_t>(below(3));
    if (!is_nd) options.has_axis = 1, options.axis = below(static_cast<int64_t>(rows.size()));
    const int64_t components = 1 + below(static_cast<int64_t>(rows.size()));
    Array indices;
    draw_indices(&indices, is_nd ? Shape{below(5), components} : Shape{below(5)}, rows[0]);
    const gth_tensor_desc ids = indices.described();
    const Described described(table);
    const gth_tensor_desc params = plain.described();
    const gth_request request = GTH_REQUEST(is_nd ? GTH_OP_GATHER_ND : GTH_OP_GATHER, nullptr, &ids, nullptr, &options);
    gth_options of_plain = options;
    if (GetParam() == GTH_PROFILE_ORT && options.bounds == 0) of_plain.bounds = GTH_BOUNDS_FILL;
    gth_request plain_request = request;
    plain_request.options = &of_plain;
    expect_same(result_of(request, described.params), result_of(plain_request, params),
                std::string(is_nd ? "nd, bounds " : "bounds ") + std::to_string(options.bounds) + " opset " +
                    std::to_string(options.opset) + ", " + describe(table));
  }
}

// Sums of float32 rows do not depend on whether they were packed, except for the rule fused in torch.
TEST_P(PackedProfiles, BagsEqualThoseOfDecodedNumbers) {
  constexpr int32_t formats[] = {GTH_BAGS_OFFSETS, GTH_BAGS_STARTS, GTH_BAGS_LENGTHS, GTH_BAGS_SEGMENTS};
  for (int i = 0; i < 400 && !HasFailure(); ++i) {
    Table table = make_table({1 + below(5)}, 1 + below(90));
    table.dtype = f32;
    if (GetParam() == GTH_PROFILE_TORCH) table.codec.rule = GTH_RULE_SCALED;
    const Array plain = decoded(table);
    gth_options options = GTH_OPTIONS_INIT;
    options.profile = GetParam();
    options.pool = static_cast<int32_t>(below(6));
    if (chance(30)) options.bounds = static_cast<int32_t>(below(6));
    if (chance(30)) options.empty = static_cast<int32_t>(below(4));
    options.bag_format = pick(formats);
    Array indices, borders, weights;
    draw_indices(&indices, {5}, table.rows());
    const int64_t numbers[][5] = {{0, 2, 2, 5}, {0, 2, 2}, {2, 0, 3}, {0, 0, 2, 2, 2}};
    const int64_t counts[] = {4, 3, 3, 5};
    borders.make(indices.desc.dtype, {counts[options.bag_format - 1]}, true);
    for (int64_t k = 0; k < counts[options.bag_format - 1]; ++k) borders.set(k, numbers[options.bag_format - 1][k]);
    if (options.bag_format == GTH_BAGS_SEGMENTS) options.bag_count = 3;
    weights.make(f32, {5}, true);
    for (int64_t k = 0; k < 5; ++k) draw_number(f32, weights.at(k));
    const gth_tensor_desc ids = indices.described(), bags = borders.described(), weight = weights.described();
    gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, nullptr, &ids, nullptr, &options);
    request.bags = &bags;
    if (options.pool <= GTH_POOL_SQRTN && chance(40)) request.weights = &weight;
    const Described described(table);
    gth_options of_plain = options;
    if (GetParam() == GTH_PROFILE_ORT && options.bounds == 0) of_plain.bounds = GTH_BOUNDS_FILL;
    gth_request plain_request = request;
    plain_request.options = &of_plain;
    expect_same(result_of(request, described.params), result_of(plain_request, plain.described()),
                "pool " + std::to_string(options.pool) + " format " + std::to_string(options.bag_format) + " bounds " +
                    std::to_string(options.bounds) + ", " + describe(table));
  }
}

INSTANTIATE_TEST_SUITE_P(, PackedProfiles, ::testing::ValuesIn(profiles), ::testing::PrintToStringParamName());

}  // namespace
