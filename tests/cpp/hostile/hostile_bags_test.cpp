#include "hostile.hpp"
#include "watched.hpp"

// Bags that are invalid on purpose: numbers beyond 2^63, too large counts, numbers that change between two reads, and
// operands at odd addresses beside inaccessible pages.
namespace {

using namespace hostile;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32, u64 = GTH_DTYPE_UINT64;
using Numbers = std::vector<int64_t>;

// A request of rows of one float32. Ids and bags may be replaced.
struct Request {
  Array table{f32, {4, 1}, std::vector<float>{1, 2, 4, 8}}, ids = indices64({4}, {0, 1, 2, 3});
  Array numbers = indices64({3}, {0, 2, 4}), out{f32, {2, 1}};
  gth_options options = GTH_OPTIONS_INIT;
  gth_tensor_desc t = table.desc(), i = ids.desc(), b = numbers.desc(), o = out.desc();
  gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, &options);

  Request() { request.bags = &b; }
  Request(const Request&) = delete;

  void expect_refused(const Facts& facts, const char* what) const {
    const Bytes before = out.bytes();
    Error error;
    expect_facts(gth_run_request(nullptr, &request, &error), error, facts, what);
    EXPECT_TRUE(out.bytes() == before) << what << ": the output was written";
  }
};

TEST(HostileBags, J2_SumOfLengthsBeyondInt64IsRejected) {
  Request r;
  r.options.bag_format = GTH_BAGS_LENGTHS;
  const Array lengths = indices64({2}, {4, INT64_MAX});
  r.b = lengths.desc();
  r.expect_refused({GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, 1, INT64_MAX, 0}, "lengths");
  const Array first = indices64({2}, {INT64_MAX, INT64_MAX});
  r.b = first.desc();
  r.expect_refused({GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, 0, INT64_MAX, 4}, "two lengths");
}

TEST(HostileBags, J3_IdsBeyondInt64AreNotPadding) {
  for (const int64_t large : {INT64_MIN, int64_t{-1}}) {
    for (const int32_t negative : {GTH_NEGATIVE_REJECT, GTH_NEGATIVE_WRAP}) {
      Request r;
      const Array ids = indices64({4}, {0, 1, large, 3});
      r.i = ids.desc();
      r.i.dtype = u64;
      r.options.negative = negative;
      r.options.has_padding_index = 1;
      r.options.padding_index = large;
      const uint32_t wraps = negative == GTH_NEGATIVE_WRAP ? uint32_t{GTH_ERROR_WRAP} : 0;
      r.expect_refused({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, large, 4, GTH_ERROR_UNSIGNED | wraps}, "an id");
    }
  }
}

TEST(HostileBags, J5_TooLargeCountsAreRejected) {
  Request r;
  r.options.bag_format = GTH_BAGS_SEGMENTS;
  r.request.rows = nullptr;
  const Array segments = indices64({4}, {0, 0, 1, 1});
  r.b = segments.desc();
  const auto expect = [&](int32_t status, int32_t operand) {
    gth_tensor* made = nullptr;
    Error error;
    EXPECT_STREQ(gth_status_name(gth_make(nullptr, &r.request, &made, &error)), gth_status_name(status));
    EXPECT_EQ(error.operand, operand);
    EXPECT_EQ(made, nullptr);
  };
  r.options.bag_count = -1;
  expect(GTH_E_SHAPE, GTH_OPERAND_OPTIONS);
  r.options.bag_count = INT64_MAX;
  expect(GTH_E_SIZE, GTH_OPERAND_OUT);
  r.options.bag_count = int64_t{1} << 60;
  expect(GTH_E_NOMEM, GTH_OPERAND_NONE);
}

TEST(HostileBags, J5_MoreNumbersThanMemoryAreRejected) {
  const int64_t huge[] = {int64_t{1} << 59};
  for (const int32_t operand : {GTH_OPERAND_BAGS, GTH_OPERAND_INDICES}) {
    Request r;
    gth_tensor_desc& desc = operand == GTH_OPERAND_BAGS ? r.b : r.i;
    desc.shape = huge;
    desc.extent = 24;
    r.request.rows = nullptr;
    gth_tensor* made = nullptr;
    Error error;
    EXPECT_STREQ(gth_status_name(gth_make(nullptr, &r.request, &made, &error)), "GTH_E_STRIDE") << error.message;
    EXPECT_EQ(error.operand, operand);
    EXPECT_EQ(made, nullptr);
  }
}

// The first pass validates all numbers. The second one reads them again.
class ChangingBags : public ::testing::TestWithParam<int32_t> {
 protected:
  static constexpr int64_t n = Watched::n;

  void expect_race(const gth_request& request, int32_t operand) const {
    Error error;
    EXPECT_STREQ(gth_status_name(gth_run_request(nullptr, &request, &error)), "GTH_E_RACE") << error.message;
    EXPECT_EQ(error.operand, operand);
  }
};

TEST_P(ChangingBags, J6_IdThatChangesAfterValidationGivesRace) {
  for (const int64_t bad : {int64_t{0}, Watched::half - 1}) {
    const Array table(f32, {4, 8}), out(f32, {2, 8}), numbers = indices64({3}, {0, n / 2, n});
    const Watched ids(Numbers(static_cast<size_t>(n), 1), 1, [&](int64_t* all) { all[bad] = 4; });
    const gth_tensor_desc t = table.desc(), i = ids.desc(), b = numbers.desc(), o = out.desc();
    gth_options options = GTH_OPTIONS_INIT;
    options.threads = 1;
    options.pool = GetParam();
    gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, &options);
    request.bags = &b;
    expect_race(request, GTH_OPERAND_INDICES);
  }
}

TEST_P(ChangingBags, J6_OffsetThatChangesAfterValidationGivesRace) {
  for (const int64_t to : {int64_t{-1}, INT64_MIN, INT64_MAX, int64_t{5}}) {
    const Array table(f32, {4, 8}), out(f32, {n - 1, 8}), ids = indices64({4}, {0, 1, 2, 3});
    Numbers values(static_cast<size_t>(n), 0);
    values.back() = 4;
    const Watched numbers(values, 1, [&](int64_t* all) { all[7] = to; });
    const gth_tensor_desc t = table.desc(), i = ids.desc(), b = numbers.desc(), o = out.desc();
    gth_options options = GTH_OPTIONS_INIT;
    options.threads = 1;
    options.pool = GetParam();
    gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, &options);
    request.bags = &b;
    expect_race(request, GTH_OPERAND_BAGS);
  }
}

INSTANTIATE_TEST_SUITE_P(, ChangingBags, ::testing::Values(GTH_POOL_SUM, GTH_POOL_MAX),
                         ::testing::PrintToStringParamName());

// Copies numbers with a stride to the end or the begin of guarded memory, at an odd address.
gth_tensor_desc place(const Guarded& memory, const gth_tensor_desc& dense, int64_t step, bool low, int64_t* stride) {
  const int64_t item = gth_dtype_size(dense.dtype), count = dense.shape[0];
  *stride = step * item + (step > 1 ? 1 : 0);
  const int64_t bytes = *stride * (count - 1) + item;
  char* const to = memory.at(bytes, low);
  for (int64_t k = 0; k < count; ++k)
    std::memcpy(to + k * *stride, static_cast<const char*>(dense.data) + k * item, static_cast<size_t>(item));
  gth_tensor_desc made = dense;
  made.data = to;
  made.extent = bytes;
  made.strides = stride;
  return made;
}

TEST(HostileBags, J7_OperandsBesideUnreadablePagesAtOddStridesAreRead) {
  const Guarded table_memory(1), ids_memory(1), numbers_memory(1), weights_memory(1);
  const Array table(f32, {5}, std::vector<float>{1, 2, 4, 8, 16}), out(f32, {3});
  const Array ids = indices64({7}, {4, 0, 1, 3, 3, 2, 4}), numbers = indices64({4}, {0, 3, 3, 7});
  const Array weights(f32, {7}, std::vector<float>{1, 2, 1, 1, -1, 4, 1});
  for (int64_t step = 1; step < 5; ++step) {
    for (const bool low : {false, true}) {
      int64_t strides[4];
      const gth_tensor_desc t = place(table_memory, table.desc(), step, low, strides);
      const gth_tensor_desc i = place(ids_memory, ids.desc(), step, low, strides + 1);
      const gth_tensor_desc b = place(numbers_memory, numbers.desc(), step, low, strides + 2);
      const gth_tensor_desc w = place(weights_memory, weights.desc(), step, low, strides + 3), o = out.desc();
      gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, nullptr);
      request.bags = &b;
      request.weights = &w;
      Error error;
      ASSERT_EQ(gth_run_request(nullptr, &request, &error), GTH_OK) << error.message;
      const float expected[] = {16 + 2 + 2, 0, 8 - 8 + 16 + 16};
      EXPECT_EQ(std::memcmp(out.data(), expected, sizeof expected), 0) << "step " << step << ", low " << low;
    }
  }
}

}  // namespace
