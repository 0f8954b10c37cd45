#include <cmath>
#include <map>

#include "bag_forms.hpp"

// Gathers of bags on the device.
namespace {

using device::Captured;
using device::Context;
using device::Error;
using device::Memory;
using device::Shape;
using device::Stream;
using device::Tensor;
using facts::Facts;
using forms::BagCall;
using forms::Random;

class Bags : public device::DeviceTest {};

// Random calls of every form: status, error fields and bytes are those of the CPU.
TEST_F(Bags, ResultsAreThoseOfTheCpu) {
  const Context context;
  std::map<int32_t, int64_t> statuses;
  const int64_t calls = device::random_calls(2000, 20'000);
  for (int64_t seed = 1; seed <= calls && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<uint64_t>(seed));
    const BagCall call = forms::make_bags(random);
    if (forms::bytes_of(call.out) > (1 << 17)) continue;
    ++statuses[forms::compare_bags(call, context, random)];
    device::forget_described();
  }
  for (const int32_t status : {GTH_OK, GTH_E_OFFSETS, GTH_E_INDEX}) EXPECT_GT(statuses[status], int64_t{20}) << status;
}

// Bags of rows of float32, whose expected values a loop computes.
struct Rows {
  Rows(int64_t columns, const std::vector<int64_t>& given) : width(columns), lengths(given) {
    for (int64_t i = 0; i < rows * width; ++i) table.push_back(number(i));
    for (const int64_t each : lengths) {
      for (int64_t i = 0; i < each; ++i) ids.push_back(static_cast<int64_t>(ids.size()) * 5 % rows);
    }
    for (size_t i = 0; i < ids.size(); ++i) weights.push_back(number(static_cast<int64_t>(i) + 11));
  }
  // Numbers of which a sum depends on the order.
  static float number(int64_t i) {
    const float sign = i % 3 ? 1.0f : -1.0f;
    return sign * std::ldexp(static_cast<float>(1 + i * 40503 % 8191), static_cast<int>(i * 31 % 24) - 20);
  }

  int64_t count() const { return static_cast<int64_t>(lengths.size()); }
  std::vector<int64_t> numbers(int32_t format) const {
    std::vector<int64_t> result;
    int64_t sum = 0;
    for (size_t b = 0; b < lengths.size(); ++b) {
      if (format == GTH_BAGS_LENGTHS) result.push_back(lengths[b]);
      if (format == GTH_BAGS_OFFSETS || format == GTH_BAGS_STARTS) result.push_back(sum);
      for (int64_t i = 0; i < lengths[b] && format == GTH_BAGS_SEGMENTS; ++i) result.push_back(static_cast<int64_t>(b));
      sum += lengths[b];
    }
    if (format == GTH_BAGS_OFFSETS) result.push_back(sum);
    return result;
  }
  // Weighted sums with one rounding for each id.
  std::vector<float> expected() const {
    std::vector<float> result;
    size_t k = 0;
    for (const int64_t each : lengths) {
      std::vector<float> sums(static_cast<size_t>(width), 0.0f);
      for (const size_t end = k + static_cast<size_t>(each); k < end; ++k) {
        for (size_t c = 0; c < sums.size(); ++c) {
          sums[c] = std::fma(weights[k], table[static_cast<size_t>(ids[k] * width) + c], sums[c]);
        }
      }
      result.insert(result.end(), sums.begin(), sums.end());
    }
    return result;
  }

  static constexpr int64_t rows = 7;
  int64_t width;
  std::vector<int64_t> lengths, ids;
  std::vector<float> table, weights;
};

// The operands of such bags on the device.
struct OnDevice {
  OnDevice(const Rows& rows, int32_t format)
      : given(rows),
        table_shape{Rows::rows, rows.width},
        ids_shape{static_cast<int64_t>(rows.ids.size())},
        bags_shape{static_cast<int64_t>(rows.numbers(format).size())},
        out_shape{rows.count(), rows.width},
        table(rows.table),
        ids(rows.ids),
        bags(rows.numbers(format)),
        weights(rows.weights),
        out(rows.count() * rows.width * 4) {
    options.bag_format = format;
    if (format == GTH_BAGS_SEGMENTS) options.bag_count = rows.count();
    out.fill(device::poison);
    t = device::describe_on_device(GTH_DTYPE_FLOAT32, table_shape, table.data());
    i = device::describe_on_device(GTH_DTYPE_INT64, ids_shape, ids.data());
    b = device::describe_on_device(GTH_DTYPE_INT64, bags_shape, bags.data());
    w = device::describe_on_device(GTH_DTYPE_FLOAT32, ids_shape, weights.data());
    o = device::describe_on_device(GTH_DTYPE_FLOAT32, out_shape, out.data());
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  gth_request request() const {
    gth_request result = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, &options);
    result.bags = &b;
    result.weights = &w;
    return result;
  }
  void enqueue(const Context& context) {
    const gth_request all = request();
    ASSERT_EQ(gth_run_request(context.get(), &all, &error), GTH_OK) << error.message;
  }
  void put(const Memory& to, const std::vector<int64_t>& values) const {
    device::copy(to.data(), values.data(), static_cast<int64_t>(values.size()) * 8);
  }
  std::vector<float> result() const {
    std::vector<float> found(static_cast<size_t>(given.count() * given.width));
    device::copy(found.data(), out.data(), static_cast<int64_t>(found.size()) * 4);
    return found;
  }
  void expect_unchanged() const {
    const device::Bytes found = out.get();
    EXPECT_TRUE(found == device::Bytes(found.size(), device::poison)) << "the output was written";
  }

  const Rows& given;
  Shape table_shape, ids_shape, bags_shape, out_shape;
  Memory table, ids, bags, weights, out;
  gth_options options = GTH_OPTIONS_INIT;
  gth_tensor_desc t, i, b, w, o;
  Error error;
};

void expect_sums(const Rows& rows) {
  const Context context;
  for (const int32_t format : forms::bag_formats) {
    OnDevice on(rows, format);
    on.enqueue(context);
    context.expect_no_error();
    EXPECT_EQ(on.result(), rows.expected()) << "format " << format << ", " << rows.count() << " bags of " << rows.width;
    device::forget_described();
  }
}

// Rows at the limits of a vector, of the threads of a group, and of the chunks of such groups.
TEST_F(Bags, RowsAtTheLimitsOfAGroup) {
  using namespace gather::cuda;
  for (const int64_t limit : {int64_t{1}, int64_t{most_lanes_of_row}, int64_t{2 * most_lanes_of_row}}) {
    for (const int64_t vectors : {limit - 1, limit, limit + 1}) {
      for (const int64_t width : {vectors, vectors * 4, vectors * 4 + 2}) {
        if (width > 0) expect_sums(Rows(width, forms::mixed_lengths(9)));
      }
    }
  }
}

// As many ids as are loaded at once, and one more or less.
TEST_F(Bags, IdsAtTheLimitsOfARound) {
  using namespace gather::cuda;
  for (int64_t each = 0; each <= 3 * loads_in_flight + 1; ++each) {
    expect_sums(Rows(8, {each}));
    expect_sums(Rows(1, {0, each, 1, each, 0}));
  }
}

TEST_F(Bags, BagsAtTheLimitsOfABlock) {
  using namespace gather::cuda;
  constexpr int64_t block = block_threads;
  for (const int64_t bags : {block - 1, block, block + 1, 40 * block + 7}) {
    expect_sums(Rows(1, forms::mixed_lengths(bags)));
    expect_sums(Rows(3, forms::mixed_lengths(bags)));
  }
}

TEST_F(Bags, LengthsAtTheLimitsOfARun) {
  using namespace gather::cuda;
  constexpr int64_t runs = sum_runs;
  for (const int64_t bags :
       {int64_t{0}, runs - 1, runs, runs + 1, 2 * runs - 1, 2 * runs, 2 * runs + 1, 7 * runs + 5}) {
    expect_sums(Rows(1, forms::mixed_lengths(bags)));
  }
}

// The first invalid number is reported, before an empty bag, and this before an invalid id. The output is unchanged.
TEST_F(Bags, TheFirstErrorIsReported) {
  const Context context;
  const Rows rows(3, std::vector<int64_t>(2000, 2));
  for (const int32_t format : forms::bag_formats) {
    OnDevice on(rows, format);
    std::vector<int64_t> ids = rows.ids, numbers = rows.numbers(format);
    const int64_t before = format == GTH_BAGS_LENGTHS ? 0 : numbers[1499];
    on.options.empty = GTH_EMPTY_ERROR;
    ids[5] = 7, ids[3999] = -1;
    on.put(on.ids, ids);
    on.enqueue(context);
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 5, 7, 7});
    if (format == GTH_BAGS_LENGTHS) numbers[700] = 0, numbers[1999] = 4;
    if (format == GTH_BAGS_SEGMENTS) numbers[1400] = numbers[1401] = 701;
    if (format == GTH_BAGS_OFFSETS || format == GTH_BAGS_STARTS) numbers[700] = numbers[701];
    on.put(on.bags, numbers);
    on.enqueue(context);
    context.expect_taken({GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, 700, 0, 1});
    numbers[1500] = numbers[1700] = -8;
    on.put(on.bags, numbers);
    on.enqueue(context);
    context.expect_taken({GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, 1500, -8, before});
    on.expect_unchanged();
    device::forget_described();
  }
}

// With torch, ids behind the last offset are not validated.
TEST_F(Bags, IdsBehindTheLastOffsetAreNotRead) {
  const Context context;
  Rows rows(4, {3, 2});
  OnDevice on(rows, GTH_BAGS_OFFSETS);
  on.options.profile = GTH_PROFILE_TORCH;
  on.put(on.bags, {0, 3, 4});
  on.put(on.ids, {0, 1, 2, 3, 99});
  on.enqueue(context);
  context.expect_no_error();
  on.put(on.bags, {0, 3, 5});
  on.enqueue(context);
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 4, 99, 7});
}

// The sum of the weights of the first bag is 0, and that of the squares of the second one.
TEST_F(Bags, RowsWithoutDivisorAreZero) {
  const Context context;
  Rows rows(3, {2, 2});
  rows.ids = {1, 2, 3, 4};
  rows.weights = {2.5f, -2.5f, 0, 0};
  rows.table[9] = HUGE_VALF;
  OnDevice on(rows, GTH_BAGS_OFFSETS);
  for (const int32_t pool : {GTH_POOL_MEAN, GTH_POOL_SQRTN}) {
    on.options.pool = pool;
    on.out.fill(device::poison);
    on.enqueue(context);
    context.expect_no_error();
    std::vector<float> expected(6, 0.0f);
    for (size_t c = 0; c < 3 && pool == GTH_POOL_SQRTN; ++c) {
      const float sum = std::fma(-2.5f, rows.table[6 + c], 2.5f * rows.table[3 + c]);
      expected[c] = sum / std::sqrt(12.5f);
    }
    EXPECT_EQ(on.result(), expected);
  }
}

// With torch, no id of no bags is read, and other ids of no bags are an error of bags.
TEST_F(Bags, IdsOfNoBagsAreNotRead) {
  const Context context;
  const Shape table{7, 4}, ids{2}, no_rows{0, 4};
  const Memory params(std::vector<float>(28, 1.0f)), indices(std::vector<int64_t>{99, -1}), out(int64_t{0});
  const std::vector<int64_t> zero{0}, bad{99, -1};
  const Memory numbers(zero);
  for (const int32_t format : {GTH_BAGS_OFFSETS, GTH_BAGS_STARTS, GTH_BAGS_LENGTHS}) {
    for (const int32_t profile : {0, int32_t{GTH_PROFILE_TORCH}}) {
      const Shape bags{format == GTH_BAGS_OFFSETS ? 1 : 0};
      gth_options options = GTH_OPTIONS_INIT;
      options.bag_format = format;
      options.profile = profile;
      const gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_FLOAT32, table, params.data());
      const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, ids, indices.data());
      const gth_tensor_desc b = device::describe_on_device(GTH_DTYPE_INT64, bags, numbers.data());
      const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_FLOAT32, no_rows, out.data());
      gth_tensor_desc on_cpu[] = {t, i, b, o};
      const std::vector<float> host_table(28, 1.0f);
      const void* const data[] = {host_table.data(), bad.data(), zero.data(), host_table.data()};
      for (size_t k = 0; k < 4; ++k) on_cpu[k].device = GTH_DEVICE_CPU, on_cpu[k].data = data[k];
      Error expected, error;
      const int32_t status =
          gth_gather_bags(nullptr, &on_cpu[0], &on_cpu[1], &on_cpu[2], nullptr, &on_cpu[3], &options, &expected);
      int32_t found = gth_gather_bags(context.get(), &t, &i, &b, nullptr, &o, &options, &error);
      if (found == GTH_OK) found = gth_context_take_error(context.get(), &error);
      facts::expect_fields(found, error,
                           {status, expected.operand, expected.component, expected.position, expected.value,
                            expected.limit, expected.flags});
      EXPECT_EQ(found == GTH_OK, profile == GTH_PROFILE_TORCH && format != GTH_BAGS_LENGTHS) << expected.message;
    }
  }
}

// Numbers that are the same memory.
TEST_F(Bags, NumbersWithoutStride) {
  const Context context;
  const Rows rows(4, std::vector<int64_t>(6, 3));
  const Shape bags{6}, strides{0};
  for (const int64_t length : {3, 4, -1, 2}) {
    OnDevice on(rows, GTH_BAGS_LENGTHS);
    on.b.shape = bags.data();
    on.b.strides = strides.data();
    on.put(on.bags, {length});
    on.enqueue(context);
    context.expect_taken(length == 3    ? Facts{GTH_OK}
                         : length == 4  ? Facts{GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, 4, 4, 2}
                         : length == -1 ? Facts{GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, 0, -1, 0}
                                        : Facts{GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, 6, 12, 18});
    if (length == 3)
      EXPECT_EQ(on.result(), rows.expected());
    else
      on.expect_unchanged();
    device::forget_described();
  }
}

// An odd distance in any dim of any operand: elements are then loaded and stored bytewise.
TEST_F(Bags, OddDistances) {
  const Context context;
  for (const int32_t dtype : {GTH_DTYPE_INT16, GTH_DTYPE_INT32, GTH_DTYPE_INT64}) {
    for (size_t operand = 0; operand < 4; ++operand) {
      for (size_t odd = 0; odd < 4; ++odd) {
        Random random(odd);
        BagCall call;
        call.options.bag_format = GTH_BAGS_DENSE;
        call.options.pool = GTH_POOL_SUM;
        call.options.bounds = GTH_BOUNDS_CLAMP;
        call.has_weights = true;
        forms::Operand* const operands[] = {&call.params, &call.indices, &call.weights, &call.out};
        const Shape shapes[] = {{5, 3, 4}, {2, 3, 6}, {2, 3, 6}, {2, 3, 3, 4}};
        for (size_t k = 0; k < 4; ++k) {
          operands[k]->dtype = k == 1 ? GTH_DTYPE_INT32 : dtype;
          operands[k]->shape = shapes[k];
          forms::lay_out_oddly(random, k == operand ? odd : 4, operands[k]);
        }
        forms::compare_bags(call, context, random);
        device::forget_described();
      }
    }
  }
}

// Bags without elements need no memory, so there may be more than a kernel can visit.
TEST_F(Bags, TooManyBagsWithoutElements) {
  const Context context;
  const Rows rows(1, {2});
  OnDevice on(rows, GTH_BAGS_SEGMENTS);
  const Shape table{7, 0}, out{int64_t{1} << 40, 0};
  on.t.shape = table.data();
  on.o.shape = out.data();
  on.options.bag_count = out[0];
  on.enqueue(context);
  context.expect_no_error();
  on.options.empty = GTH_EMPTY_ERROR;
  const gth_request request = on.request();
  EXPECT_EQ(gth_run_request(context.get(), &request, &on.error), GTH_E_UNSUPPORTED);
  EXPECT_EQ(on.error.operand, GTH_OPERAND_BAGS);
  EXPECT_EQ(on.error.value, out[0]);
}

// Each replay pools its own bags and ids. A replay with an invalid number leaves the output unchanged.
TEST_F(Bags, ReplaysOfACapture) {
  for (const int32_t format : forms::bag_formats) {
    const Stream stream;
    const Context context(stream.get());
    Rows rows(3, std::vector<int64_t>(500, 2));
    OnDevice on(rows, format);
    const Captured captured(stream, [&] { on.enqueue(context); });
    for (int64_t replay = 0; replay < 30; ++replay) {
      for (size_t k = 0; k < rows.lengths.size(); k += 2) {
        rows.lengths[k] = static_cast<int64_t>(k + static_cast<size_t>(replay)) % 5;
        rows.lengths[k + 1] = 4 - rows.lengths[k];
      }
      for (size_t k = 0; k < rows.ids.size(); ++k) {
        rows.ids[k] = static_cast<int64_t>(k * 31 + static_cast<size_t>(replay)) % (1 + replay % 7);
      }
      std::vector<int64_t> ids = rows.ids, numbers = rows.numbers(format);
      const int64_t bad = 1 + replay * 17 % 490;
      const bool is_bad_id = replay % 4 == 2, is_bad_number = replay % 4 == 3;
      const int64_t before = format == GTH_BAGS_LENGTHS ? 0 : numbers[static_cast<size_t>(bad) - 1];
      if (is_bad_id) ids[static_cast<size_t>(bad)] = 13 + replay;
      if (is_bad_number) numbers[static_cast<size_t>(bad)] = -1;
      on.put(on.ids, ids);
      on.put(on.bags, numbers);
      on.out.fill(device::poison);
      captured.launch();
      context.expect_taken(is_bad_id       ? Facts{GTH_E_INDEX, GTH_OPERAND_INDICES, 0, bad, 13 + replay, 7}
                           : is_bad_number ? Facts{GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, bad, -1, before}
                                           : Facts{GTH_OK});
      if (is_bad_id || is_bad_number)
        on.expect_unchanged();
      else
        EXPECT_EQ(on.result(), rows.expected()) << "format " << format << ", replay " << replay;
    }
  }
}

// One plan for any number of bags and ids.
TEST_F(Bags, PlansWithOpenNumbersOfBagsAndIds) {
  const Context context;
  for (const int32_t format : {GTH_BAGS_OFFSETS, GTH_BAGS_LENGTHS}) {
    const Rows most(5, forms::mixed_lengths(3000));
    OnDevice on(most, format);
    const Shape open{GTH_OPEN}, open_rows{GTH_OPEN, 5};
    on.i.shape = on.b.shape = on.w.shape = open.data();
    on.o.shape = open_rows.data();
    const gth_request request = on.request();
    gth_plan* plan = nullptr;
    ASSERT_EQ(gth_plan_create(&request, &plan, &on.error), GTH_OK) << on.error.message;
    for (const int64_t n : {0, 1, 7, 2999}) {
      Rows rows(5, forms::mixed_lengths(n));
      on.put(on.ids, rows.ids);
      on.put(on.bags, rows.numbers(format));
      gth_plan_args args = GTH_PLAN_ARGS_INIT;
      args.n = n;
      args.ids = static_cast<int64_t>(rows.ids.size());
      args.table = on.table.data();
      args.indices = on.ids.data();
      args.bags = on.bags.data();
      args.weights = on.weights.data();
      args.rows = on.out.data();
      ASSERT_EQ(gth_plan_run_args(context.get(), plan, &args, &on.error), GTH_OK) << on.error.message;
      context.expect_no_error();
      std::vector<float> found = on.result();
      found.resize(static_cast<size_t>(n) * 5);
      EXPECT_EQ(found, rows.expected()) << n;
      if (n < 7) continue;
      rows.ids[2] = 70;
      on.put(on.ids, rows.ids);
      args.weights = args.table = args.rows = nullptr;
      ASSERT_EQ(gth_plan_check(context.get(), plan, &args, &on.error), GTH_OK) << on.error.message;
      context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, 70, 7});
      args.ids -= 1;
      ASSERT_EQ(gth_plan_check(context.get(), plan, &args, &on.error), GTH_OK) << on.error.message;
      Error error;
      EXPECT_EQ(gth_context_take_error(context.get(), &error), GTH_E_OFFSETS) << error.message;
    }
    EXPECT_EQ(gth_plan_release(plan), GTH_OK);
    device::forget_described();
  }
}

// A new output of a failed call has zeros, whatever empty bags have.
TEST_F(Bags, IntoANewTensor) {
  const Context context;
  const Rows rows(5, forms::mixed_lengths(300));
  for (const int32_t format : forms::bag_formats) {
    for (const bool is_bad : {false, true}) {
      OnDevice on(rows, format);
      std::vector<int64_t> ids = rows.ids;
      if (is_bad) ids[77] = 7;
      on.put(on.ids, ids);
      Tensor made;
      gth_request request = on.request();
      request.rows = nullptr;
      ASSERT_EQ(gth_make(context.get(), &request, made.out(), &on.error), GTH_OK) << on.error.message;
      context.expect_taken(is_bad ? Facts{GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 77, 7, 7} : Facts{GTH_OK});
      if (is_bad) {
        device::expect_zeros(made);
        continue;
      }
      std::vector<float> found(rows.expected().size());
      device::copy(found.data(), made.desc().data, made.desc().extent);
      EXPECT_EQ(found, rows.expected());
    }
    device::forget_described();
  }
}

TEST_F(Bags, SeveralRequestsInOneCall) {
  const Context context;
  const Rows few(3, forms::mixed_lengths(20)), many(8, forms::mixed_lengths(700));
  OnDevice first(few, GTH_BAGS_LENGTHS), second(many, GTH_BAGS_SEGMENTS), third(few, GTH_BAGS_OFFSETS);
  second.put(second.ids, {0, 1, 2, -3});
  const gth_request requests[] = {first.request(), second.request(), third.request()};
  const gth_request* const all[] = {&requests[0], &requests[1], &requests[2]};
  Error error;
  ASSERT_EQ(gth_run_many(context.get(), 3, all, &error), GTH_OK) << error.message;
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 3, -3, 7});
  EXPECT_EQ(first.result(), few.expected());
  second.expect_unchanged();
  EXPECT_EQ(third.result(), few.expected());
}

}  // namespace
