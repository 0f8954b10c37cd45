#include "hooks.hpp"
#include "hostile.hpp"
#include "watched.hpp"

// Indices that change between two reads. The call must report the race and write only its own memory. Other tests use a
// second thread as the writer. Here the change always happens at the same read.
namespace {

using namespace hostile;

constexpr int32_t f16 = GTH_DTYPE_FLOAT16, f32 = GTH_DTYPE_FLOAT32, u8 = GTH_DTYPE_UINT8;
constexpr int64_t n = Watched::n, half = Watched::half;
constexpr Facts race{GTH_E_RACE, GTH_OPERAND_INDICES};

std::vector<int64_t> all(int64_t value) { return std::vector<int64_t>(static_cast<size_t>(n), value); }

Watched::Change set(int64_t at, int64_t value) {
  return [at, value](int64_t* indices) { indices[at] = value; };
}

// ---- gathers validate all indices first. Then they copy panels of rows, beginning with the last panel.

void expect_gather_race(const gth_tensor_desc& params, const Shape& out_shape, int64_t bad) {
  const Watched indices(all(1), 1, set(bad, params.shape[0]));
  const Array out(params.dtype, out_shape);
  const gth_tensor_desc i = indices.desc(), o = out.desc();
  gth_options options = GTH_OPTIONS_INIT;
  options.threads = 1;
  Error error;
  expect_facts(gth_gather(nullptr, &params, &i, &o, &options, &error), error, race);
}

TEST(Races, IndexThatChangesBeforeItsRowIsCopiedGivesRace) {
  const Array bytes(u8, {3}), rows(u8, {3, 24});
  for (const int64_t bad : {int64_t{0}, half - 1}) {
    expect_gather_race(bytes.desc(), {n}, bad);
    expect_gather_race(rows.desc(), {n, 24}, bad);
  }
}

// If a slice is not one row, whole blocks of tuples are resolved before rows are copied.
TEST(Races, IndexThatChangesBeforeItsSliceIsCopiedGivesRace) {
  const Array memory(u8, {3, 4});
  const Shape shape{3, 2};
  const int64_t strides[] = {4, 2};
  for (const int64_t bad : {int64_t{0}, half - 1}) {
    expect_gather_race(describe(u8, shape, memory.data(), strides), {n, 2}, bad);
  }
}

// Rows of a new tensor are copied and validated in one pass. The index that stopped this pass is valid when it is read
// again.
TEST(Races, RowsOfANewTensorGiveRace) {
  std::vector<int64_t> values = all(1);
  values.back() = 3;
  const Watched watched(values, 2, set(n - 1, 0));
  const Array table(u8, {3});
  const Tensor params(table.desc()), indices(watched.desc());
  gth_options options = GTH_OPTIONS_INIT;
  options.threads = 1;
  gth_tensor* made = params.get();
  Error error;
  expect_facts(calls::gather.make(nullptr, params.get(), indices.get(), nullptr, &options, &made, &error), error, race);
  EXPECT_EQ(made, nullptr);
}

// ---- strings: the offsets are read for the lengths, and again for the bytes

// The end of a string moves out of the buffer. The string is "ccc" when its length is read, and "bb" when it is copied.
TEST(Races, StringsWhoseEndMovesGiveRace) {
  const Shape three{3}, one{1};
  const int64_t good[] = {0, 1, 3, 6}, update_ends[] = {0, 4};
  int64_t ends[] = {0, 1, 3, 6};
  const Array first = indices64({1}, {0});
  const Tensor indices(first.desc());
  Tensor target, updates;
  ASSERT_EQ(
      gth_tensor_from_strings(nullptr, 0, 1, three.data(), ends, "abbccc", 6, nullptr, nullptr, target.out(), nullptr),
      GTH_OK);
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 1, one.data(), update_ends, "long", 4, nullptr, nullptr, updates.out(),
                                    nullptr),
            GTH_OK);
  for (Hooks change : {Hooks{ends + 3, INT64_MAX, 1}, Hooks{ends + 1, 5, 2}}) {
    std::copy_n(good, 4, ends);
    gth_context* context = change.context();
    gth_tensor* made = target.get();
    Error error;
    expect_facts(calls::scatter.make(context, target.get(), indices.get(), updates.get(), nullptr, &made, &error),
                 error, {GTH_E_RACE, GTH_OPERAND_TARGET});
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(gth_context_release(context), GTH_OK);
  }
}

// ---- scatters: validated first, then assigned to parts of the target

// Runs the tasks of a call one after the other.
void run_in_order(void*, int64_t pieces, gth_task_fn task, void* arg) {
  for (int64_t i = 0; i < pieces; ++i) task(arg, i);
}

class RacesOfScatters : public ::testing::TestWithParam<int32_t> {
 protected:
  void SetUp() override {
    gth_context_options given = GTH_CONTEXT_OPTIONS_INIT;
    given.parallel_for = run_in_order;
    given.threads = GetParam();
    ASSERT_EQ(gth_context_create(&given, &context_, nullptr), GTH_OK);
    options_.reduction = GTH_REDUCTION_ADD;
  }
  void TearDown() override { EXPECT_EQ(gth_context_release(context_), GTH_OK); }

  void expect_race(const Array& target, const std::vector<int64_t>& values, int nth, Watched::Change change) {
    Shape shape = target.shape();
    shape[0] = n;
    const Array updates(target.dtype(), shape);
    const Watched indices(values, nth, std::move(change));
    const gth_tensor_desc t = target.desc(), i = indices.desc(), u = updates.desc();
    Error error;
    expect_facts(gth_scatter(context_, &t, &i, &u, &options_, &error), error, race);
  }

  void expect_race_before_writing(const Array& target, const std::vector<int64_t>& values, int nth,
                                  Watched::Change change) {
    const Bytes before = target.bytes();
    expect_race(target, values, nth, std::move(change));
    EXPECT_TRUE(target.bytes() == before) << "the target was written";
  }

  gth_context* context_ = nullptr;
  gth_options options_ = GTH_OPTIONS_INIT;
};

// If the target exceeds the cache, a sample of the indices is read first to find hot rows.
TEST_P(RacesOfScatters, RowsOfATargetThatExceedsTheCacheGiveRace) {
  for (const int64_t width : {1, 3, 16}) {
    const Array target(f32, {(1 << 20) / width, width});
    for (const int64_t bad : {int64_t{0}, half - 1}) expect_race(target, all(1), 1, set(bad, 1 << 20));
  }
}

TEST_P(RacesOfScatters, RowsOfATargetInTheCacheGiveRace) {
  const Array target(f32, {8});
  for (const int64_t bad : {int64_t{0}, half - 1}) expect_race(target, all(1), 1, set(bad, 8));
}

// With float32 accumulation, each part lists its updates, and then adds them.
class RacesOfSumsInFloat32 : public RacesOfScatters {
 protected:
  void SetUp() override {
    RacesOfScatters::SetUp();
    options_.accumulate = GTH_ACCUMULATE_FLOAT32;
  }

  const Array target_{f16, {100}};
};

TEST_P(RacesOfSumsInFloat32, IndexThatChangesBeforeItsUpdateIsListedGivesRace) {
  expect_race_before_writing(target_, all(99), 1, set(0, 100));
}

// All indices belonged to the first part and now belong to the second, whose list is too short for them.
class RacesOfPartsInFloat32 : public RacesOfSumsInFloat32 {};

TEST_P(RacesOfPartsInFloat32, MoreUpdatesThanTheListHoldsGiveRace) {
  options_.bounds = GTH_BOUNDS_SKIP;
  expect_race(target_, all(0), 2, [](int64_t* indices) { std::fill_n(indices, n, 99); });
}

// ---- gradients: indices are validated once. Then the output is set to zeros, and updates are added to its parts.

Array zeros(int32_t dtype, const Shape& shape) {
  return {dtype, shape, Bytes(static_cast<size_t>(shape[0] * gth_dtype_size(dtype)))};
}

class RacesOfGradients : public RacesOfScatters {
 protected:
  void expect_race_of_gradient(int32_t dtype, int32_t accumulate, int nth, int64_t bad) {
    gth_options options = GTH_OPTIONS_INIT;
    options.accumulate = accumulate;
    const Array out(dtype, {8});
    const Array gradient = zeros(dtype, {n});
    const Watched indices(all(1), nth, set(bad, 8));
    const gth_tensor_desc o = out.desc(), i = indices.desc(), g_desc = gradient.desc();
    Error error;
    expect_facts(gth_gather_gradient(context_, &o, &i, &g_desc, &options, &error), error, race);
    // Rows without updates are zero, and so are sums of zeros.
    EXPECT_TRUE(out.bytes() == Bytes(out.bytes().size()));
  }
};

TEST_P(RacesOfGradients, IndexThatIsInvalidAfterValidationGivesRace) {
  for (const int64_t bad : {int64_t{0}, half - 1}) {
    expect_race_of_gradient(f32, 0, 1, bad);
    expect_race_of_gradient(f16, GTH_ACCUMULATE_FLOAT32, 1, bad);
  }
}

INSTANTIATE_TEST_SUITE_P(, RacesOfGradients, ::testing::Values(1, 2), ::testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(, RacesOfScatters, ::testing::Values(1, 2), ::testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(, RacesOfSumsInFloat32, ::testing::Values(1, 2), ::testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(, RacesOfPartsInFloat32, ::testing::Values(2), ::testing::PrintToStringParamName());

}  // namespace
