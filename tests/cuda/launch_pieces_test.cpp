#include <functional>
#include <numeric>

#include "emulated.hpp"
#include "scatter_forms.hpp"

// Calls that exceed the limit of a launch, on a device with a smaller limit than that of kernels.
namespace {

using device::Captured;
using device::Context;
using device::Error;
using device::Lookup;
using device::Memory;
using device::Shape;
using device::Stream;
using device::Tensor;

class Pieces : public device::Emulated {};

TEST_F(Pieces, OfEveryFormAsOnTheCpu) {
  for (const int64_t counted : {512, 2000}) {
    gth_emulation_count_to(counted);
    const Context context;
    for (uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      forms::Random random(seed);
      const forms::Call call = forms::make_call(random);
      if (forms::output_bytes(call) > (1 << 15)) continue;
      forms::compare(call, context, random);
      device::forget_described();
    }
  }
}

// A reduction of which a part has no meaning fails. The numbers of slices and updates exceed a key. The sort then has two
// passes.
TEST_F(Pieces, OfScattersOfEveryForm) {
  for (const int64_t counted : {60, 500}) {
    gth_emulation_count_to(counted);
    const Context context;
    int64_t refused = 0;
    for (uint64_t seed = 1; seed <= 200 && !HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      forms::Random random(seed);
      const forms::Call call = forms::make_scatter(random);
      if (forms::output_bytes(call) > (1 << 15)) continue;
      const int64_t updates =
          std::accumulate(call.out.shape.begin(), call.out.shape.end(), int64_t{1}, std::multiplies<>());
      const bool needs_all = call.options.reduction == GTH_REDUCTION_MEAN ||
                             call.options.initial == GTH_INITIAL_UPDATE ||
                             call.options.accumulate > GTH_ACCUMULATE_DTYPE;
      if (updates <= counted || !needs_all) forms::compare_scatter(call, context, random);
      refused += updates > counted && needs_all;
      device::forget_described();
    }
    EXPECT_GT(refused, 0);
  }
}

// Scatters of which many threads process a line each.
TEST_F(Pieces, OfScattersByLines) {
  gth_emulation_lines_from(2);
  const Context context;
  for (uint64_t seed = 1; seed <= 800 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    forms::Random random(seed);
    const forms::Call call = forms::make_scatter(random);
    if (forms::output_bytes(call) > (1 << 17)) continue;
    forms::compare_scatter(call, context, random);
    device::forget_described();
  }
}

// The number of lines decides: a sort is a launch of its own, and lines need none.
TEST_F(Pieces, AreLinesFromTheirLimitOn) {
  const Context context;
  for (const int64_t lines : {gather::cuda::few_lines - 1, gather::cuda::few_lines, gather::cuda::few_lines + 1}) {
    const Shape shape{3, lines}, updates_shape{2, lines};
    std::vector<int32_t> before, added;
    for (int64_t i = 0; i < 3 * lines; ++i) before.push_back(static_cast<int32_t>(i * 7));
    for (int64_t i = 0; i < 2 * lines; ++i) added.push_back(static_cast<int32_t>(i % 1000));
    const Memory target(before), updates(added), ids(std::vector<int64_t>(static_cast<size_t>(2 * lines), 2));
    const gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_INT32, shape, target.data());
    const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, updates_shape, ids.data());
    const gth_tensor_desc u = device::describe_on_device(GTH_DTYPE_INT32, updates_shape, updates.data());
    const int64_t launches = gth_emulation_launches();
    Error error;
    ASSERT_EQ(gth_run(context.get(), GTH_OP_SCATTER_ELEMENTS, &t, &i, &u, nullptr, &error), GTH_OK) << error.message;
    // validation and lines, or validation, keys, sort and replacement
    EXPECT_EQ(gth_emulation_launches() - launches, lines < gather::cuda::few_lines ? 4 : 2) << lines;
    context.expect_no_error();
    for (int64_t line = 0; line < lines; ++line) {
      before[static_cast<size_t>(2 * lines + line)] = added[static_cast<size_t>(lines + line)];
    }
    std::vector<int32_t> found(before.size());
    device::copy(found.data(), target.data(), static_cast<int64_t>(found.size()) * 4);
    EXPECT_EQ(found, before);
  }
}

// One block sorts few updates. The result is that of a sort.
TEST_F(Pieces, FewUpdatesAreSortedByOneBlock) {
  const Context context;
  for (const int64_t updates : {gather::cuda::most_few - 1, gather::cuda::most_few, gather::cuda::most_few + 1}) {
    for (const int32_t dtype : {GTH_DTYPE_FLOAT32, GTH_DTYPE_FLOAT16}) {
      for (const int32_t bounds : {GTH_BOUNDS_ERROR, GTH_BOUNDS_SKIP}) {
        forms::Random random(static_cast<uint64_t>(updates + dtype));
        forms::Call call = forms::make_rows_call(random, dtype, GTH_REDUCTION_ADD, {300, 5}, updates);
        call.options.bounds = bounds;
        call.options.accumulate = GTH_ACCUMULATE_FLOAT32;
        if (dtype == GTH_DTYPE_FLOAT32) call.options.accumulate = 0;
        const int64_t launches = gth_emulation_launches();
        forms::compare_scatter(call, context, random);
        const bool is_few = updates <= gather::cuda::most_few;
        const int64_t validations = !is_few && bounds == GTH_BOUNDS_ERROR ? 1 : 0, takes = 1;
        EXPECT_EQ(gth_emulation_launches() - launches, (is_few ? 3 : 4) + validations + takes) << updates;
        device::forget_described();
      }
    }
  }
}

// Sums in any order, and sums of integers, need no sort.
TEST_F(Pieces, AtomicSumsAreOneLaunch) {
  const Context context;
  const Shape shape{4}, updates_shape{2000};
  const Memory target(std::vector<float>(4, 1.0f)), values(std::vector<float>(2000, 2.0f)),
      ids(std::vector<int64_t>(2000, 3));
  const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, updates_shape, ids.data());
  for (const int32_t dtype : {GTH_DTYPE_FLOAT32, GTH_DTYPE_INT32}) {
    for (const int32_t order : {0, GTH_ORDER_UPDATES, GTH_ORDER_ANY}) {
      const gth_tensor_desc t = device::describe_on_device(dtype, shape, target.data());
      const gth_tensor_desc u = device::describe_on_device(dtype, updates_shape, values.data());
      gth_options options = GTH_OPTIONS_INIT;
      options.reduction = GTH_REDUCTION_ADD;
      options.order = order;
      const int64_t launches = gth_emulation_launches();
      Error error;
      ASSERT_EQ(gth_run(context.get(), GTH_OP_SCATTER, &t, &i, &u, &options, &error), GTH_OK) << error.message;
      const bool is_atomic = dtype == GTH_DTYPE_INT32 || order == GTH_ORDER_ANY;
      EXPECT_EQ(gth_emulation_launches() - launches, is_atomic ? 2 : 5) << "dtype " << dtype << " order " << order;
      context.expect_no_error();
    }
  }
}

TEST_F(Pieces, OfAMeanAreUnsupported) {
  gth_emulation_count_to(100);
  const Context context;
  const Shape shape{4};
  for (const int64_t updates : {100, 101}) {
    const Shape updates_shape{updates};
    const Memory target(std::vector<float>(4, 1.0f)), values(std::vector<float>(static_cast<size_t>(updates), 2.0f)),
        ids(std::vector<int64_t>(static_cast<size_t>(updates), 3));
    const gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_FLOAT32, shape, target.data());
    const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, updates_shape, ids.data());
    const gth_tensor_desc u = device::describe_on_device(GTH_DTYPE_FLOAT32, updates_shape, values.data());
    gth_options options = GTH_OPTIONS_INIT;
    options.reduction = GTH_REDUCTION_MEAN;
    Error error;
    const int32_t status = gth_run(context.get(), GTH_OP_SCATTER, &t, &i, &u, &options, &error);
    facts::expect_fields(
        status, error,
        updates == 100 ? facts::Facts{GTH_OK} : facts::Facts{GTH_E_UNSUPPORTED, GTH_OPERAND_UPDATES, -1, -1, 101, 100});
    context.expect_no_error();
  }
}

constexpr int64_t picks = 3000;

std::vector<int64_t> good_rows() {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < picks; ++i) rows.push_back(i % 6);
  return rows;
}

// Three validating launches in the order of their tuples, then three copying launches. Nothing is copied before all
// tuples are validated.
TEST_F(Pieces, TheFirstBadTupleOfAll) {
  gth_emulation_count_to(1000);
  const Context context;
  Lookup lookup(6, 4, picks);
  for (const int64_t bad : {0, 999, 1000, 1001, 2999}) {
    for (const int64_t worse : {bad, int64_t{2500}, picks - 1}) {
      std::vector<int64_t> rows = good_rows();
      rows[static_cast<size_t>(worse)] = 1000 + worse;
      rows[static_cast<size_t>(bad)] = 1000 + bad;
      const int64_t first = std::min(bad, worse);
      lookup.pick(rows);
      lookup.clear();
      const int64_t launches = gth_emulation_launches();
      lookup.enqueue(context);
      EXPECT_EQ(gth_emulation_launches(), launches + 6);
      context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, first, 1000 + first, 6});
      lookup.expect_unchanged();
    }
  }
  lookup.pick(good_rows());
  lookup.enqueue(context);
  context.expect_no_error();
  lookup.expect_rows(good_rows());
}

// Only the first copying kernel of a call may start before the previous kernel has ended.
TEST_F(Pieces, OnlyTheFirstCopyOverlaps) {
  gth_emulation_count_to(1000);
  for (const bool is_bad : {false, true}) {
    const Stream stream;
    const Context context(stream.get());
    Lookup lookup(6, 4, picks);
    std::vector<int64_t> rows = good_rows();
    if (is_bad) rows[2900] = 6;
    lookup.pick(rows);
    const int64_t overlaps = gth_emulation_overlaps(), launches = gth_emulation_launches();
    gth_emulation_hold(stream.get());
    lookup.enqueue(context);
    EXPECT_EQ(gth_emulation_overlaps(), overlaps + 1);
    context.sync();
    EXPECT_GT(gth_emulation_launches(), launches + 3);
    if (is_bad) {
      context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2900, 6, 6});
      lookup.expect_unchanged();
    } else {
      context.expect_no_error();
      lookup.expect_rows(rows);
    }
  }
}

TEST_F(Pieces, NewOutputsBecomeZeros) {
  gth_emulation_count_to(1000);
  const Context context;
  Lookup lookup(6, 4, picks);
  std::vector<int64_t> rows = good_rows();
  rows[1700] = 6;
  lookup.pick(rows);
  Tensor made;
  lookup.enqueue_new(context, made.out());
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1700, 6, 6});
  device::expect_zeros(made);
}

// Indices that several tuples share are validated once. The reported position is the same.
TEST_F(Pieces, SharedIndicesOfEmptyOutputsAreValidatedOnce) {
  gth_emulation_count_to(1000);
  const Context context;
  gth_options options = GTH_OPTIONS_INIT;
  options.profile = GTH_PROFILE_ONNX;
  const Shape params_shape{6, 0}, shape{picks, 5}, strides{8, 0}, out_shape{picks, 5, 0};
  const gth_tensor_desc p = device::describe_on_device(GTH_DTYPE_INT32, params_shape, nullptr);
  const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_INT32, out_shape, nullptr);
  for (const int64_t bad : {0, 1234, 2999}) {
    std::vector<int64_t> rows = good_rows();
    rows[static_cast<size_t>(bad)] = -7;
    const Memory indices(rows);
    gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, shape, indices.data());
    i.strides = strides.data();
    Error error;
    const int64_t launches = gth_emulation_launches();
    ASSERT_EQ(gth_gather(context.get(), &p, &i, &o, &options, &error), GTH_OK) << error.message;
    EXPECT_EQ(gth_emulation_launches(), launches + 3);
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 5 * bad, -7, 6, GTH_ERROR_WRAP});
    device::copy(indices.data(), good_rows().data(), picks * 8);
    ASSERT_EQ(gth_gather(context.get(), &p, &i, &o, &options, &error), GTH_OK) << error.message;
    context.expect_no_error();
  }
}

TEST_F(Pieces, OfACapturedCall) {
  gth_emulation_count_to(1000);
  const Stream stream;
  const Context context(stream.get());
  Lookup lookup(6, 4, picks);
  const Captured captured(stream, [&] { lookup.enqueue(context); });
  for (const int64_t bad : {2999, 1000, 0}) {
    std::vector<int64_t> rows = good_rows();
    rows[static_cast<size_t>(bad)] = 6;
    lookup.pick(rows);
    lookup.clear();
    captured.launch();
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, bad, 6, 6});
    lookup.expect_unchanged();
    lookup.pick(good_rows());
    captured.launch();
    context.expect_no_error();
    lookup.expect_rows(good_rows());
  }
}

// If any piece cannot be launched, the next call must be correct.
TEST_F(Pieces, OneOfWhichFails) {
  gth_emulation_count_to(1000);
  const Context context;
  Lookup lookup(6, 4, picks);
  std::vector<int64_t> rows = good_rows();
  rows[500] = 99;
  int64_t failures = 0;
  for (int64_t n = 1; n < 100; ++n, ++failures) {
    lookup.pick(rows);
    Error error;
    gth_emulation_fail(n, 700);
    const int32_t status = lookup.call(context, &error);
    gth_emulation_fail(0, 0);
    if (status == GTH_OK) break;
    EXPECT_EQ(error.native, 700);
    EXPECT_NE(gth_context_take_error(context.get(), nullptr), GTH_E_RACE);
    lookup.pick(good_rows());
    lookup.enqueue(context);
    context.expect_no_error();
    lookup.expect_rows(good_rows());
  }
  EXPECT_GE(failures, 6);
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 500, 99, 6});
}

}  // namespace
