#include <functional>

#include "scatter_forms.hpp"

// Scatters and gradients on the device.
namespace {

using device::Bytes;
using device::Captured;
using device::Context;
using device::Error;
using device::Memory;
using device::Shape;
using device::Stream;
using device::Tensor;
using forms::Call;
using forms::Random;

class Scatters : public device::DeviceTest {};

// Sums in any order. They are exact, so the order changes no result.
TEST_F(Scatters, SumsInAnyOrder) {
  const Context context;
  for (const int32_t dtype : forms::number_dtypes) {
    for (const int64_t width : {1, 3, 16}) {
      for (const int32_t accumulate : {GTH_ACCUMULATE_DTYPE, GTH_ACCUMULATE_FLOAT64}) {
        Random random(static_cast<uint64_t>(dtype + width));
        Call call = forms::make_rows_call(random, dtype, GTH_REDUCTION_ADD, {7, width}, 900);
        if (call.options.reduction == GTH_REDUCTION_NONE) continue;
        forms::put_small_numbers(random, &call.params);
        forms::put_small_numbers(random, &call.out);
        call.options.order = GTH_ORDER_ANY;
        call.options.accumulate = dtype == GTH_DTYPE_FLOAT32 ? accumulate : 0;
        forms::compare_scatter(call, context, random);
        device::forget_described();
      }
    }
  }
}

// Random calls of every form: status, error fields and bytes are those of the CPU.
TEST_F(Scatters, ResultsAreThoseOfTheCpu) {
  const Context context;
  const int64_t calls = device::random_calls(1500, 20'000);
  for (int64_t seed = 1; seed <= calls && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<uint64_t>(seed));
    const Call call = forms::make_scatter(random);
    if (forms::output_bytes(call) > (1 << 17)) continue;
    forms::compare_scatter(call, context, random);
    device::forget_described();
  }
}

// Four floats are added at once if rows, addresses and strides permit it. The layouts are random.
TEST_F(Scatters, SumsOfVectorsInAnyOrder) {
  const Context context;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const int32_t dtype = random.chance(70) ? GTH_DTYPE_FLOAT32 : GTH_DTYPE_COMPLEX64;
    const int64_t width = random.chance(50) ? 4 * (1 + random.below(4)) : 1 + random.below(9);
    Call call = forms::make_rows_call(random, dtype, GTH_REDUCTION_ADD, {7, width}, 300);
    forms::put_small_numbers(random, &call.params);
    forms::put_small_numbers(random, &call.out);
    call.options.order = GTH_ORDER_ANY;
    forms::compare_scatter(call, context, random);
    device::forget_described();
  }
}

// A scatter of rows of float32, whose expected values a loop computes.
struct Rows {
  Rows(int64_t rows, int64_t columns, int64_t updates)
      : width(columns), target_shape{rows, columns}, ids_shape{updates}, updates_shape{updates, columns} {
    for (int64_t i = 0; i < rows * columns; ++i) target.push_back(number(i));
    for (int64_t i = 0; i < updates * columns; ++i) values.push_back(number(7 * i + 3));
    for (int64_t i = 0; i < updates; ++i) ids.push_back(i % rows);
  }
  // Numbers of which a sum depends on the order.
  static float number(int64_t i) {
    const float sign = i % 3 ? 1.0f : -1.0f;
    return sign * std::ldexp(static_cast<float>(1 + i * 40503 % 8191), static_cast<int>(i * 31 % 24) - 20);
  }

  std::vector<float> expected(const std::function<float(float, float)>& combine) const {
    std::vector<float> result = target;
    for (size_t i = 0; i < ids.size(); ++i) {
      for (size_t c = 0; c < static_cast<size_t>(width); ++c) {
        float& to = result[static_cast<size_t>(ids[i] * width) + c];
        to = combine(to, values[i * static_cast<size_t>(width) + c]);
      }
    }
    return result;
  }

  int64_t width;
  Shape target_shape, ids_shape, updates_shape;
  std::vector<float> target, values;
  std::vector<int64_t> ids;
};

// The operands of such a scatter on the device.
struct OnDevice {
  explicit OnDevice(const Rows& rows) : given(rows), target(rows.target), ids(rows.ids), values(rows.values) {
    options.reduction = GTH_REDUCTION_ADD;
  }
  gth_tensor_desc target_desc() const {
    return device::describe_on_device(GTH_DTYPE_FLOAT32, given.target_shape, target.data());
  }
  gth_tensor_desc ids_desc() const { return device::describe_on_device(GTH_DTYPE_INT64, given.ids_shape, ids.data()); }
  gth_tensor_desc updates_desc() const {
    return device::describe_on_device(GTH_DTYPE_FLOAT32, given.updates_shape, values.data());
  }
  int32_t run(const Context& context, int32_t op = GTH_OP_SCATTER) {
    const gth_tensor_desc t = target_desc(), i = ids_desc(), u = updates_desc();
    return gth_run(context.get(), op, &t, &i, &u, &options, &error);
  }
  void put_ids(const std::vector<int64_t>& values_of_ids) const {
    device::copy(ids.data(), values_of_ids.data(), static_cast<int64_t>(values_of_ids.size()) * 8);
  }
  void put_target(const std::vector<float>& numbers) const {
    device::copy(target.data(), numbers.data(), static_cast<int64_t>(numbers.size()) * 4);
  }
  std::vector<float> result() const {
    std::vector<float> found(given.target.size());
    device::copy(found.data(), target.data(), static_cast<int64_t>(found.size()) * 4);
    return found;
  }

  const Rows& given;
  Memory target, ids, values;
  gth_options options = GTH_OPTIONS_INIT;
  Error error;
};

float add(float a, float b) { return a + b; }

void expect_sums(const Rows& rows) {
  const Context context;
  OnDevice on(rows);
  ASSERT_EQ(on.run(context), GTH_OK) << on.error.message;
  context.expect_no_error();
  EXPECT_EQ(on.result(), rows.expected(add))
      << rows.target_shape[0] << " rows of " << rows.width << ", " << rows.ids.size() << " updates";
}

// Rows at the limits of a vector, of the threads of a group, and of the chunks of such groups.
TEST_F(Scatters, RowsAtTheLimitsOfAGroup) {
  using namespace gather::cuda;
  for (const int64_t limit : {int64_t{1}, int64_t{most_lanes_of_row}, int64_t{2 * most_lanes_of_row}}) {
    for (const int64_t vectors : {limit - 1, limit, limit + 1}) {
      for (const int64_t width : {vectors, vectors * 4, vectors * 4 + 2}) {
        if (width > 0) expect_sums(Rows(5, width, 23));
      }
    }
  }
}

// As many updates of a row as are loaded at once, and one more or less.
TEST_F(Scatters, UpdatesAtTheLimitsOfARound) {
  using namespace gather::cuda;
  for (int64_t each = 1; each <= 3 * updates_at_once + 1; ++each) {
    expect_sums(Rows(3, 8, 3 * each));
    Rows uneven(4, 1, 2 * each);
    for (size_t i = 0; i < uneven.ids.size(); ++i) uneven.ids[i] = i < static_cast<size_t>(each) ? 2 : 0;
    expect_sums(uneven);
  }
}

TEST_F(Scatters, UpdatesAtTheLimitsOfABlock) {
  using namespace gather::cuda;
  constexpr int64_t block = block_threads, at_once = block * updates_at_once;
  for (const int64_t updates : {block - 1, block, block + 1, at_once - 1, at_once, at_once + 1, 40 * block + 7}) {
    expect_sums(Rows(1, 1, updates));
    expect_sums(Rows(97, 3, updates));
  }
}

// Long slices, and those that are just not. Their updates fill a tile, and one more or less, and their columns a strip.
TEST_F(Scatters, LongSlices) {
  using namespace gather::cuda;
  for (const int64_t width : {1, 3, 4, 32, 33, 128, 132}) {
    const int64_t bytes = width % 4 == 0 ? 16 : 4, vectors = width * 4 / bytes;
    int64_t lanes = 1;
    while (lanes < vectors && lanes < most_lanes_of_row) lanes *= 2;
    const int64_t tile = tile_bytes / (lanes * bytes), tiles = (least_long / tile + 2) * tile;
    for (const int64_t updates : {int64_t{least_long}, tiles, tiles + tile}) {
      for (const int64_t each : {updates - 1, updates, updates + 1}) {
        Rows rows(3, width, each + 40);
        for (size_t i = 0; i < rows.ids.size(); ++i) {
          const bool is_other = i % 50 == 7 && static_cast<int64_t>(i) / 50 < 20;
          rows.ids[i] = is_other ? 0 : 1;
        }
        const int64_t too_many = std::count(rows.ids.begin(), rows.ids.end(), 1) - each;
        for (int64_t i = 0; i < too_many; ++i) rows.ids[static_cast<size_t>(i)] = 2;
        expect_sums(rows);
      }
    }
  }
}

// Several long slices, for every type of numbers.
TEST_F(Scatters, LongSlicesOfEveryType) {
  const Context context;
  for (const int32_t dtype : forms::number_dtypes) {
    for (int32_t reduction = GTH_REDUCTION_NONE; reduction <= GTH_REDUCTION_MEAN; ++reduction) {
      for (const int64_t width : {3, 16}) {
        Random random(static_cast<uint64_t>(dtype * 100 + reduction));
        Call call = forms::make_rows_call(random, dtype, reduction, {5, width}, 4000);
        forms::compare_scatter(call, context, random);
        device::forget_described();
      }
    }
  }
}

// As many long slices as there may be. They fill the memory for their numbers.
TEST_F(Scatters, LongSlicesOfTheSmallestLength) {
  for (const int64_t slices : {1, 2, 63, 64, 65}) expect_sums(Rows(slices, 1, slices * gather::cuda::least_long));
}

// Of two equal numbers, maxima and minima keep the first one. It may be -0.
TEST_F(Scatters, ExtremesOfZerosOfBothSigns) {
  const Context context;
  for (const int32_t reduction : {GTH_REDUCTION_MAX, GTH_REDUCTION_MIN}) {
    Random random(static_cast<uint64_t>(reduction));
    forms::Call call = forms::make_rows_call(random, GTH_DTYPE_FLOAT32, reduction, {4, 8}, 40);
    for (forms::Operand* operand : {&call.params, &call.out}) {
      for (size_t at = 0; at + 4 <= operand->bytes.size(); at += 4) {
        const float zero = random.chance(50) ? 0.0f : -0.0f;
        std::memcpy(operand->bytes.data() + at, &zero, 4);
      }
    }
    forms::compare_scatter(call, context, random);
    device::forget_described();
  }
}

// An odd distance in any dim of any operand: elements are then loaded and stored bytewise.
TEST_F(Scatters, OddDistances) {
  const Context context;
  for (const int32_t dtype : {GTH_DTYPE_INT8, GTH_DTYPE_INT16, GTH_DTYPE_INT32, GTH_DTYPE_INT64}) {
    for (const int32_t reduction : {GTH_REDUCTION_NONE, GTH_REDUCTION_ADD, GTH_REDUCTION_MUL}) {
      for (size_t odd = 0; odd < 7; ++odd) {
        Random random(odd);
        Call call = forms::make_rows_call(random, dtype, reduction, {5, 3}, 40);
        call.params.shape = {5, 3, 4};
        call.out.shape = {40, 3, 4};
        forms::lay_out_oddly(random, odd < 3 ? odd : 3, &call.params);
        forms::lay_out_oddly(random, odd < 3 ? 3 : odd - 3, &call.out);
        forms::compare_scatter(call, context, random);
        device::forget_described();
      }
    }
  }
}

// The last update stays.
TEST_F(Scatters, TheLastUpdateReplaces) {
  const Rows rows(7, 5, 1000);
  const Context context;
  OnDevice on(rows);
  on.options.reduction = GTH_REDUCTION_NONE;
  ASSERT_EQ(on.run(context), GTH_OK) << on.error.message;
  EXPECT_EQ(on.result(), rows.expected([](float, float update) { return update; }));
  context.expect_no_error();
}

// A copy of the target, and its sums. If an index is invalid, the copy has no sum.
TEST_F(Scatters, IntoANewTensor) {
  Rows rows(7, 5, 1000);
  const Context context;
  OnDevice on(rows);
  for (const bool is_bad : {false, true}) {
    if (is_bad) rows.ids[777] = 7;
    on.put_ids(rows.ids);
    Tensor made;
    const gth_tensor_desc t = on.target_desc(), i = on.ids_desc(), u = on.updates_desc();
    const gth_request request = GTH_REQUEST(GTH_OP_SCATTER, &t, &i, &u, &on.options);
    ASSERT_EQ(gth_make(context.get(), &request, made.out(), &on.error), GTH_OK) << on.error.message;
    context.expect_taken(is_bad ? facts::Facts{GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 777, 7, 7} : facts::Facts{GTH_OK});
    std::vector<float> found(rows.target.size());
    device::copy(found.data(), made.desc().data, made.desc().extent);
    EXPECT_EQ(found, is_bad ? rows.target : rows.expected(add));
    EXPECT_EQ(on.result(), rows.target) << "the target itself is unchanged";
  }
}

// The target of a gradient becomes zero, except if an index is invalid.
TEST_F(Scatters, GradientsClearTheirTarget) {
  Rows rows(7, 5, 300);
  for (size_t i = 0; i < rows.ids.size(); ++i) rows.ids[i] = static_cast<int64_t>(i) % 3;
  const Context context;
  OnDevice on(rows);
  on.options.reduction = 0;
  rows.ids[100] = -1;
  on.put_ids(rows.ids);
  ASSERT_EQ(on.run(context, GTH_OP_GATHER_GRADIENT), GTH_OK) << on.error.message;
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 100, -1, 7});
  EXPECT_EQ(on.result(), rows.target);
  rows.ids[100] = 1;
  on.put_ids(rows.ids);
  ASSERT_EQ(on.run(context, GTH_OP_GATHER_GRADIENT), GTH_OK) << on.error.message;
  context.expect_no_error();
  rows.target.assign(rows.target.size(), 0.0f);
  EXPECT_EQ(on.result(), rows.expected(add));
}

// Gradients without updates clear targets with any strides, and nothing beside them.
TEST_F(Scatters, GradientsWithoutUpdatesClearStridedTargets) {
  const Context context;
  const Shape no_ids{0}, shape{3, 2, 5}, no_updates{0, 2, 5};
  for (const Shape& strides :
       {Shape{40, 20, 4}, Shape{4, 12, 24}, Shape{48, 24, 4}, Shape{-40, 20, -4}, Shape{64, 32, 6}}) {
    int64_t offset = 0, last = 4;
    for (size_t d = 0; d < 3; ++d) (strides[d] < 0 ? offset : last) += std::abs(strides[d]) * (shape[d] - 1);
    const Bytes before(static_cast<size_t>(offset + last), 'x');
    Bytes expected = before;
    for (int64_t i = 0; i < 30; ++i) {
      const int64_t at = offset + i / 10 * strides[0] + i / 5 % 2 * strides[1] + i % 5 * strides[2];
      std::memset(expected.data() + at, 0, 4);
    }
    for (const int64_t shift : {0, 1, 2, 4, 8}) {
      const Memory target(before, shift), ids(int64_t{0}), updates(int64_t{0});
      gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_FLOAT32, shape, target.data());
      t.strides = strides.data();
      t.offset = offset;
      const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, no_ids, ids.data());
      const gth_tensor_desc u = device::describe_on_device(GTH_DTYPE_FLOAT32, no_updates, updates.data());
      Error error;
      ASSERT_EQ(gth_run(context.get(), GTH_OP_GATHER_GRADIENT, &t, &i, &u, nullptr, &error), GTH_OK) << error.message;
      context.sync();
      EXPECT_EQ(target.get(), expected) << "shift " << shift;
      device::forget_described();
    }
  }
}

// Each replay sorts its own indices. A replay with an invalid index leaves the target unchanged.
TEST_F(Scatters, ReplaysOfACapture) {
  for (const int64_t updates : {5, 5000}) {
    const Stream stream;
    const Context context(stream.get());
    Rows rows(13, 3, updates);
    OnDevice on(rows);
    const Captured captured(stream, [&] { EXPECT_EQ(on.run(context), GTH_OK) << on.error.message; });
    for (int64_t replay = 0; replay < 30; ++replay) {
      for (size_t i = 0; i < rows.ids.size(); ++i) {
        rows.ids[i] = static_cast<int64_t>(i * 31 + static_cast<size_t>(replay)) % (1 + replay % 13);
      }
      const int64_t bad = replay * 17 % updates;
      const bool is_bad = replay % 4 == 2;
      if (is_bad) rows.ids[static_cast<size_t>(bad)] = 13 + replay;
      on.put_ids(rows.ids);
      on.put_target(rows.target);
      captured.launch();
      context.expect_taken(is_bad ? facts::Facts{GTH_E_INDEX, GTH_OPERAND_INDICES, 0, bad, 13 + replay, 13}
                                  : facts::Facts{GTH_OK});
      EXPECT_EQ(on.result(), is_bad ? rows.target : rows.expected(add)) << "replay " << replay;
    }
  }
}

// One plan for any number of updates.
TEST_F(Scatters, PlansWithAnOpenExtent) {
  const Rows all(11, 4, 3000);
  const Context context;
  OnDevice on(all);
  const int64_t open[] = {GTH_OPEN}, open_rows[] = {GTH_OPEN, 4};
  gth_tensor_desc t = on.target_desc(), i = on.ids_desc(), u = on.updates_desc();
  i.shape = open;
  u.shape = open_rows;
  const gth_request request = GTH_REQUEST(GTH_OP_SCATTER, &t, &i, &u, &on.options);
  gth_plan* plan = nullptr;
  ASSERT_EQ(gth_plan_create(&request, &plan, &on.error), GTH_OK) << on.error.message;
  for (const int64_t n : {0, 1, 7, 2999, 3000}) {
    Rows rows = all;
    rows.ids.resize(static_cast<size_t>(n));
    on.put_target(all.target);
    ASSERT_EQ(gth_plan_run(context.get(), plan, n, t.data, i.data, const_cast<void*>(u.data), &on.error), GTH_OK)
        << on.error.message;
    context.expect_no_error();
    EXPECT_EQ(on.result(), rows.expected(add)) << n;
  }
  EXPECT_EQ(gth_plan_release(plan), GTH_OK);
}

// Indices of an empty dim are invalid with every policy. Padding is not.
TEST_F(Scatters, PaddingIsNoIndexOfAnEmptyDim) {
  const Context context;
  const Shape shape{0, 2}, updates_shape{3, 2}, ids_shape{3};
  const Memory target(int64_t{0}), updates(std::vector<float>(6, 1.5f));
  for (const int64_t last : {-5, 4}) {
    const Memory ids(std::vector<int64_t>{-5, -5, last});
    const gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_FLOAT32, shape, target.data());
    const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, ids_shape, ids.data());
    const gth_tensor_desc u = device::describe_on_device(GTH_DTYPE_FLOAT32, updates_shape, updates.data());
    for (const int32_t bounds : {GTH_BOUNDS_ERROR, GTH_BOUNDS_CLAMP, GTH_BOUNDS_MODULO}) {
      gth_options options = device::with_bounds(bounds);
      options.has_padding_index = 1;
      options.padding_index = -5;
      Error error;
      ASSERT_EQ(gth_run(context.get(), GTH_OP_SCATTER, &t, &i, &u, &options, &error), GTH_OK) << error.message;
      context.expect_taken(last == -5 ? facts::Facts{GTH_OK}
                                      : facts::Facts{GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, 4, 0});
    }
  }
}

}  // namespace
