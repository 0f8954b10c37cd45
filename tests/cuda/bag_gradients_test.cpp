#include <cmath>
#include <map>

#include "../../src/core/base/limits.hpp"
#include "bag_forms.hpp"

// Gradients and positions of bags on the device.
namespace {

using device::Captured;
using device::Context;
using device::Error;
using device::Memory;
using device::Shape;
using device::Stream;
using facts::Facts;
using forms::BagCall;
using forms::Bytes;
using forms::Operand;
using forms::Random;

class BagGradients : public device::DeviceTest {};

enum class Result { params, sparse, weights, positions };

// A call of one of these functions. The rows of the forward call are the gradient.
struct ResultCall {
  Result result = Result::params;
  BagCall forward;
  Operand target, unique;
};

// The memory of the operands of a call. The device writes the count, too.
struct Data {
  const void *params, *indices, *bags, *weights, *out, *target, *unique;
  int64_t* count;
  int32_t device;
};

int32_t run(const ResultCall& call, const Data& data, gth_context* context, gth_error* error) {
  const BagCall& forward = call.forward;
  const gth_tensor_desc p = forward.params.desc(data.params, data.device),
                        i = forward.indices.desc(data.indices, data.device),
                        o = forward.out.desc(data.out, data.device), t = call.target.desc(data.target, data.device);
  gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &p, &i, &o, &forward.options);
  gth_tensor_desc b, w, u;
  if (forward.has_bags) request.bags = &(b = forward.bags.desc(data.bags, data.device));
  if (forward.has_weights) request.weights = &(w = forward.weights.desc(data.weights, data.device));
  switch (call.result) {
    case Result::params: return gth_gather_bags_gradient(context, &request, &t, error);
    case Result::weights: return gth_gather_bags_weight_gradient(context, &request, &t, error);
    case Result::positions: return gth_gather_bags_positions(context, &request, &t, error);
    default: break;
  }
  u = call.unique.desc(data.unique, data.device);
  return gth_gather_bags_sparse_gradient(context, &request, &u, &t, data.count, error);
}

int64_t elements_of(const Shape& shape) {
  int64_t result = 1;
  for (const int64_t each : shape) result *= each;
  return result;
}

// Makes a call from the forward call. Some have no such result.
ResultCall with_result(Random& random, Result result, const BagCall& given) {
  ResultCall call;
  call.result = result;
  call.forward = given;
  BagCall& forward = call.forward;
  gth_options& options = forward.options;
  const bool is_float = forms::float_bytes(forward.params.dtype) > 0 && !forms::is_complex(forward.params.dtype);
  if (call.result == Result::positions && !forms::is_complex(forward.params.dtype)) {
    options.pool = random.chance(50) ? GTH_POOL_MAX : GTH_POOL_MIN;
    options.accumulate = 0;
    forward.has_weights = false;
  }
  if (call.result == Result::weights && is_float && random.chance(80)) {
    options.pool = static_cast<int32_t>(random.below(3));
  }
  options.out_dtype = 0;
  forward.out.dtype = forward.params.dtype;
  forward.out.offset = 0;
  forward.out.lay_out(random, true);
  forms::put_numbers(random, &forward.out);
  switch (call.result) {
    case Result::weights:
      call.target.dtype = forward.has_weights ? forward.weights.dtype : forward.params.dtype;
      call.target.shape = forward.indices.shape;
      break;
    case Result::positions:
      call.target.dtype = GTH_DTYPE_INT64;
      call.target.shape = forward.out.shape;
      break;
    default: call.target.dtype = forward.params.dtype; call.target.shape = forward.params.shape;
  }
  if (call.result == Result::sparse) {
    const int64_t ids = elements_of(forward.indices.shape);
    call.target.shape[0] = random.chance(70) ? std::min(ids, forward.params.shape[0]) : random.below(5);
  }
  call.unique.dtype = GTH_DTYPE_INT64;
  call.unique.shape = {call.target.shape.empty() ? 0 : call.target.shape[0]};
  call.target.lay_out(random, false);
  call.unique.lay_out(random, false);
  return call;
}

// Compares status, error fields and written bytes of the same call on the CPU and on the device. Returns the status.
int32_t compare(const ResultCall& call, const Context& context, Random& random) {
  const BagCall& forward = call.forward;
  Bytes target = call.target.bytes, unique = call.unique.bytes;
  int64_t count = -7;
  Error on_cpu;
  const int32_t status = run(
      call,
      {forward.params.bytes.data(), forward.indices.bytes.data(), forward.bags.bytes.data(),
       forward.weights.bytes.data(), forward.out.bytes.data(), target.data(), unique.data(), &count, GTH_DEVICE_CPU},
      nullptr, &on_cpu);
  const auto shift = [&] { return random.below(3) ? 0 : random.below(32); };
  const Memory params(forward.params.bytes, shift()), indices(forward.indices.bytes, shift()),
      bags(forward.bags.bytes, shift()), weights(forward.weights.bytes, shift()), out(forward.out.bytes, shift()),
      to(call.target.bytes, shift()), rows(call.unique.bytes, shift()), number(std::vector<int64_t>{-7});
  Error error;
  int32_t found = run(call,
                      {params.data(), indices.data(), bags.data(), weights.data(), out.data(), to.data(), rows.data(),
                       reinterpret_cast<int64_t*>(number.data()), GTH_DEVICE_CUDA},
                      context.get(), &error);
  if (found == GTH_OK) {
    found = gth_context_take_error(context.get(), &error);
    EXPECT_EQ(error.count, found == GTH_OK ? 0u : 1u);
  }
  facts::expect_fields(found, error,
                       {status, on_cpu.operand, on_cpu.component, on_cpu.position, on_cpu.value, on_cpu.limit,
                        on_cpu.flags & ~uint32_t{GTH_ERROR_CUT}});
  const int32_t dtype = call.target.dtype;
  const size_t offset = static_cast<size_t>(call.target.offset);
  EXPECT_TRUE(forms::with_one_nan(dtype, to.get(), offset) == forms::with_one_nan(dtype, target, offset))
      << "bytes differ";
  if (call.result == Result::sparse) {
    EXPECT_TRUE(rows.get() == unique) << "rows differ";
    int64_t written = 0;
    device::copy(&written, number.data(), sizeof written);
    EXPECT_EQ(written, count);
  }
  EXPECT_FALSE(testing::Test::HasFailure())
      << "result " << static_cast<int>(call.result) << ' ' << forms::describe(forward) << ", CPU: " << on_cpu.message
      << ", device: " << error.message;
  return status;
}

// Random calls of every form: status, error fields and bytes are those of the CPU.
TEST_F(BagGradients, ResultsAreThoseOfTheCpu) {
  const Context context;
  std::map<int32_t, int64_t> statuses;
  std::map<Result, int64_t> results;
  const int64_t calls = device::random_calls(4000, 20'000);
  for (int64_t seed = 1; seed <= calls && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<uint64_t>(seed));
    const ResultCall call = with_result(random, static_cast<Result>(random.below(4)), forms::make_bags(random));
    if (forms::bytes_of(call.forward.out) > (1 << 17) || forms::bytes_of(call.target) > (1 << 17)) continue;
    const int32_t status = compare(call, context, random);
    ++statuses[status];
    if (status == GTH_OK) ++results[call.result];
    device::forget_described();
  }
  for (const int32_t status : {GTH_OK, GTH_E_OFFSETS, GTH_E_INDEX, GTH_E_SIZE, GTH_E_UNSUPPORTED}) {
    EXPECT_GT(statuses[status], calls / 200) << status;
  }
  for (const Result result : {Result::params, Result::sparse, Result::weights, Result::positions}) {
    EXPECT_GT(results[result], calls / 40) << static_cast<int>(result);
  }
}

constexpr Result results[] = {Result::params, Result::sparse, Result::weights, Result::positions};
constexpr int32_t pools[] = {GTH_POOL_SUM, GTH_POOL_MEAN, GTH_POOL_SQRTN, GTH_POOL_MAX};

// Compares every result of bags of these lengths whose rows have `width` columns.
void compare_all(Random& random, const Context& context, const std::vector<int64_t>& lengths, int64_t rows,
                 int64_t width) {
  for (const Result result : results) {
    BagCall forward;
    forward.params.dtype = random.chance(50) ? int32_t{GTH_DTYPE_FLOAT32} : forms::pooled_dtypes[random.below(12)];
    forward.indices.dtype = GTH_DTYPE_INT32;
    forward.weights.dtype = forward.params.dtype;
    forward.options.bag_format = forms::bag_formats[random.below(4)];
    forward.options.pool = forms::float_bytes(forward.params.dtype) ? pools[random.below(4)] : int32_t{GTH_POOL_SUM};
    forward.options.bounds = GTH_BOUNDS_CLAMP;
    forward.has_bags = true;
    forward.has_weights = forward.options.pool != GTH_POOL_MAX && random.chance(50);
    forward.params.shape = {rows, width};
    forms::set_bags(random, lengths, 0, &forward);
    forward.weights.shape = forward.indices.shape;
    forward.out.shape.push_back(width);
    forms::fill_bags(random, &forward);
    compare(with_result(random, result, forward), context, random);
    device::forget_described();
  }
}

// Rows at the limits of the lanes of a group, of its chunks, of the sums of a dot product and of its blocks.
TEST_F(BagGradients, RowsAtTheLimits) {
  using namespace gather;
  const Context context;
  Random random(1);
  for (const int64_t limit : {int64_t{cuda::most_lanes_of_row}, int64_t{2 * cuda::most_lanes_of_row}, cuda::dot_lanes,
                              2 * cuda::dot_lanes, block_elements, 2 * block_elements}) {
    for (const int64_t width : {limit - 1, limit, limit + 1}) {
      for (int i = 0; i < 6; ++i) compare_all(random, context, forms::mixed_lengths(9), 5, width);
    }
  }
}

// As many ids of a bag as are loaded at once, and one more or less.
TEST_F(BagGradients, IdsAtTheLimitsOfARound) {
  const Context context;
  Random random(2);
  for (int64_t each = 0; each <= 3 * gather::cuda::loads_in_flight + 1; ++each) {
    for (int i = 0; i < 4; ++i) compare_all(random, context, {0, each, 1, each, 0}, 4, 3);
  }
}

// As many ids as there are threads in a block, as a long slice has, and as runs of ids whose rows are counted.
TEST_F(BagGradients, IdsAtTheLimitsOfARun) {
  using namespace gather::cuda;
  const Context context;
  Random random(3);
  for (const int64_t limit :
       {int64_t{block_threads}, int64_t{least_long}, int64_t{sum_runs}, int64_t{2 * sum_runs}, int64_t{5 * sum_runs}}) {
    for (const int64_t ids : {limit - 1, limit, limit + 1}) {
      for (int i = 0; i < 3; ++i) compare_all(random, context, {ids / 3, ids - ids / 3}, 1, 2);
      compare_all(random, context, {ids}, 3, 2);
      compare_all(random, context, std::vector<int64_t>(static_cast<size_t>(ids), 1), ids, 1);
      compare_all(random, context, {ids / 2, 0, ids - ids / 2}, 2 * ids, 1);
    }
  }
}

// A weight of an id that is not read is no part of any sum, so it may be infinite: 0 * inf is NaN.
TEST_F(BagGradients, InfiniteWeightsOfIdsThatAreNotRead) {
  const Context context;
  const std::vector<int64_t> ids{0, 2, 1, 1, 2, 9, 2, 2, 9, 1, 0, 2};  // 2 is padding, and 9 is out of bounds
  const float inf = HUGE_VALF;
  const std::vector<float> weights{1, inf, 2, 3, -inf, inf, inf, inf, inf, -4, 5, -inf};
  for (const Result result : {Result::params, Result::sparse, Result::weights}) {
    for (const int32_t pool : {GTH_POOL_SUM, GTH_POOL_MEAN, GTH_POOL_SQRTN}) {
      for (const int32_t dtype : {GTH_DTYPE_FLOAT32, GTH_DTYPE_FLOAT16, GTH_DTYPE_BFLOAT16}) {
        Random random(static_cast<uint64_t>(pool));
        BagCall forward;
        forward.options.bag_format = GTH_BAGS_DENSE;
        forward.options.bounds = GTH_BOUNDS_SKIP;
        forward.options.has_padding_index = 1;
        forward.options.padding_index = 2;
        forward.has_weights = true;
        forward.params.dtype = dtype;
        forward.params.shape = {4, 3};
        forward.out.shape = {4, 3};
        forward.params.lay_out(random, true);
        forms::put_numbers(random, &forward.params);
        forward.indices = {GTH_DTYPE_INT64, {4, 3}, {24, 8}, true, 0, Bytes(96)};
        forward.weights = {GTH_DTYPE_FLOAT32, {4, 3}, {12, 4}, true, 0, Bytes(48)};
        std::memcpy(forward.indices.bytes.data(), ids.data(), 96);
        std::memcpy(forward.weights.bytes.data(), weights.data(), 48);
        ResultCall call = with_result(random, result, forward);
        call.forward.options.pool = pool;
        EXPECT_EQ(compare(call, context, random), GTH_OK);
        device::forget_described();
      }
    }
  }
}

// An odd distance in any dim of any operand: elements are then loaded and stored bytewise.
TEST_F(BagGradients, OddDistances) {
  const Context context;
  for (const Result result : results) {
    for (const int32_t dtype : {GTH_DTYPE_INT16, GTH_DTYPE_INT32, GTH_DTYPE_INT64}) {
      for (size_t operand = 0; operand < 6; ++operand) {
        for (size_t odd = 0; odd < 4; ++odd) {
          Random random(odd);
          BagCall forward;
          forward.options.bag_format = GTH_BAGS_DENSE;
          forward.options.pool = GTH_POOL_SUM;
          forward.options.bounds = GTH_BOUNDS_CLAMP;
          forward.has_weights = true;
          forward.params.dtype = forward.weights.dtype = dtype;
          forward.indices.dtype = GTH_DTYPE_INT32;
          forward.params.shape = {5, 3, 4};
          forward.indices.shape = forward.weights.shape = {2, 3, 6};
          forward.out.shape = {2, 3, 3, 4};
          ResultCall call = with_result(random, result, forward);
          Operand* const operands[] = {&call.forward.params, &call.forward.indices, &call.forward.weights,
                                       &call.forward.out,    &call.target,          &call.unique};
          for (size_t k = 0; k < 6; ++k) {
            operands[k]->offset = 0;
            forms::lay_out_oddly(random, k == operand ? odd : 4, operands[k]);
          }
          compare(call, context, random);
          device::forget_described();
        }
      }
    }
  }
}

// Rows of 16 bytes, where the gradient or the target begins between two multiples of 16 bytes.
TEST_F(BagGradients, RowsBetweenVectors) {
  const Context context;
  const Shape four{4, 4}, ids_shape{4, 1};
  const std::vector<int64_t> ids{2, 0, 2, 3};
  const std::vector<int32_t> expected{5, 6, 7, 8, 0, 0, 0, 0, 10, 12, 14, 16, 13, 14, 15, 16};
  std::vector<int32_t> numbers(16);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int32_t>(i + 1);
  for (int64_t from = 0; from < 16; from += 4) {
    for (int64_t to = 0; to < 16; to += 4) {
      const Memory table(numbers), indices(ids), gradient(numbers, from), target(numbers, to);
      const gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_INT32, four, table.data()),
                            i = device::describe_on_device(GTH_DTYPE_INT64, ids_shape, indices.data()),
                            o = device::describe_on_device(GTH_DTYPE_INT32, four, gradient.data()),
                            out = device::describe_on_device(GTH_DTYPE_INT32, four, target.data());
      const gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, nullptr);
      Error error;
      ASSERT_EQ(gth_gather_bags_gradient(context.get(), &request, &out, &error), GTH_OK) << error.message;
      context.expect_no_error();
      std::vector<int32_t> found(16);
      device::copy(found.data(), target.data(), 64);
      EXPECT_EQ(found, expected) << from << ' ' << to;
      device::forget_described();
    }
  }
}

// Two bags of three ids on the device.
struct OnDevice {
  explicit OnDevice(int32_t pool) {
    options.pool = pool;
    t = device::describe_on_device(GTH_DTYPE_FLOAT32, table_shape, table.data());
    i = device::describe_on_device(GTH_DTYPE_INT64, ids_shape, ids.data());
    b = device::describe_on_device(GTH_DTYPE_INT64, bags_shape, offsets.data());
    o = device::describe_on_device(GTH_DTYPE_FLOAT32, gradient_shape, gradient.data());
    to = device::describe_on_device(GTH_DTYPE_FLOAT32, table_shape, target.data());
    u = device::describe_on_device(GTH_DTYPE_INT64, unique_shape, unique.data());
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  gth_request request() const {
    gth_request result = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, &options);
    result.bags = &b;
    return result;
  }
  int32_t enqueue(const Context& context, Error* error) const {
    const gth_request all = request();
    return gth_gather_bags_gradient(context.get(), &all, &to, error);
  }
  int32_t enqueue_sparse(const Context& context, int64_t* counted, Error* error) const {
    const gth_request all = request();
    return gth_gather_bags_sparse_gradient(context.get(), &all, &u, &to, counted, error);
  }
  int64_t* count_on_device() const { return reinterpret_cast<int64_t*>(count.data()); }
  template <class T>
  static std::vector<T> read(const Memory& memory) {
    const Bytes bytes = memory.get();
    std::vector<T> result(bytes.size() / sizeof(T));
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }
  std::vector<float> result() const { return read<float>(target); }

  Shape table_shape{4, 2}, ids_shape{6}, bags_shape{3}, gradient_shape{2, 2}, unique_shape{4};
  Memory table{std::vector<float>{3, -1, 2, 8, 9, 5, 4, 7}}, ids{std::vector<int64_t>{2, 0, 2, 3, 2, 0}},
      offsets{std::vector<int64_t>{0, 3, 6}}, gradient{std::vector<float>{1, 10, 100, 1000}},
      target{std::vector<float>(8, -5)}, unique{std::vector<int64_t>(4, -6)}, count{std::vector<int64_t>{-7}};
  gth_options options = GTH_OPTIONS_INIT;
  gth_tensor_desc t, i, b, o, to, u;
};

// The values are computed by hand: each row receives the gradients of the bags that have read it.
TEST_F(BagGradients, OfEachPool) {
  const Context context;
  const std::vector<std::pair<int32_t, std::vector<float>>> expected = {
      {GTH_POOL_SUM, {101, 1010, 0, 0, 102, 1020, 100, 1000}},
      {GTH_POOL_MAX, {0, 0, 0, 0, 101, 10, 0, 1000}},
      {GTH_POOL_MIN, {101, 1010, 0, 0, 0, 0, 0, 0}}};
  for (const auto& [pool, values] : expected) {
    const OnDevice on(pool);
    Error error;
    ASSERT_EQ(on.enqueue(context, &error), GTH_OK) << error.message;
    context.expect_no_error();
    EXPECT_EQ(on.result(), values) << pool;
    device::forget_described();
  }
}

// Rows behind those that have been read are unchanged. Room for fewer rows is an error, which names their number.
TEST_F(BagGradients, SparseRows) {
  const Context context;
  const OnDevice on(GTH_POOL_SUM);
  Error error;
  ASSERT_EQ(on.enqueue_sparse(context, on.count_on_device(), &error), GTH_OK) << error.message;
  context.expect_no_error();
  EXPECT_EQ(OnDevice::read<int64_t>(on.count), std::vector<int64_t>{3});
  EXPECT_EQ(OnDevice::read<int64_t>(on.unique), (std::vector<int64_t>{0, 2, 3, -6}));
  EXPECT_EQ(on.result(), (std::vector<float>{101, 1010, 102, 1020, 100, 1000, -5, -5}));
  OnDevice small(GTH_POOL_SUM);
  const Shape two{2}, two_rows{2, 2};
  small.u.shape = two.data();
  small.to.shape = two_rows.data();
  ASSERT_EQ(small.enqueue_sparse(context, small.count_on_device(), &error), GTH_OK) << error.message;
  context.expect_taken({GTH_E_SIZE, GTH_OPERAND_OUT, -1, -1, 2, 3}, 1, error.sequence);
  EXPECT_EQ(small.result(), std::vector<float>(8, -5));
  EXPECT_EQ(OnDevice::read<int64_t>(small.unique), std::vector<int64_t>(4, -6));
  EXPECT_EQ(OnDevice::read<int64_t>(small.count), std::vector<int64_t>{-7});
}

// Each replay reads its own ids. A replay with an invalid one leaves everything unchanged.
TEST_F(BagGradients, ReplaysOfACapture) {
  for (const int32_t pool : {GTH_POOL_SUM, GTH_POOL_MEAN, GTH_POOL_MAX}) {
    const Stream stream;
    const Context context(stream.get());
    const OnDevice on(pool), sparse(pool);
    const Captured captured(stream, [&] {
      on.enqueue(context, nullptr);
      sparse.enqueue_sparse(context, sparse.count_on_device(), nullptr);
    });
    for (int64_t replay = 0; replay < 20; ++replay) {
      std::vector<int64_t> ids;
      for (int64_t k = 0; k < 6; ++k) ids.push_back((k * 5 + replay * 3) % (1 + replay % 4));
      const bool is_bad = replay % 3 == 2;
      if (is_bad) ids[4] = 4 + replay;
      const OnDevice again(pool);
      for (const Memory* each : {&on.ids, &sparse.ids, &again.ids}) device::copy(each->data(), ids.data(), 48);
      const std::vector<float> before = on.result();
      captured.launch();
      context.expect_taken(is_bad ? Facts{GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 4, 4 + replay, 4} : Facts{GTH_OK}, 2);
      Error error;
      ASSERT_EQ(again.enqueue(context, &error), GTH_OK) << error.message;
      context.expect_taken(is_bad ? Facts{GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 4, 4 + replay, 4} : Facts{GTH_OK});
      EXPECT_EQ(on.result(), is_bad ? before : again.result()) << "pool " << pool << ", replay " << replay;
    }
  }
}

// With torch, an id behind the last offset is in no bag.
TEST_F(BagGradients, IdsBehindTheLastOffsetAreNotRead) {
  const Context context;
  OnDevice on(GTH_POOL_SUM);
  on.options.profile = GTH_PROFILE_TORCH;
  on.options.bag_format = GTH_BAGS_OFFSETS;
  const std::vector<int64_t> offsets{0, 3, 5}, ids{2, 0, 2, 3, 2, 1};
  device::copy(on.offsets.data(), offsets.data(), 24);
  device::copy(on.ids.data(), ids.data(), 48);
  Error error;
  ASSERT_EQ(on.enqueue(context, &error), GTH_OK) << error.message;
  context.expect_no_error();
  EXPECT_EQ(on.result(), (std::vector<float>{1, 10, 0, 0, 102, 1020, 100, 1000}));
}

// The sum of no numbers is 0, so a row that receives only -0 becomes 0.
TEST_F(BagGradients, OfNegativeZerosAreZero) {
  const Context context;
  for (const int32_t pool : {GTH_POOL_SUM, GTH_POOL_MEAN, GTH_POOL_MAX}) {
    const OnDevice on(pool);
    const std::vector<float> zeros(4, -0.0f);
    device::copy(on.gradient.data(), zeros.data(), 16);
    Error error;
    ASSERT_EQ(on.enqueue(context, &error), GTH_OK) << error.message;
    context.expect_no_error();
    EXPECT_EQ(on.target.get(), Bytes(32, 0)) << pool;
    device::forget_described();
  }
}

// Rows, bags and ids have numbers of 32 bits.
TEST_F(BagGradients, TooManyRowsBagsOrIds) {
  const Context context;
  const Shape rows{int64_t{1} << 32, 2}, ids{int64_t{1} << 32}, none{0, 0};
  OnDevice on(GTH_POOL_SUM);
  Error error;
  on.i.shape = ids.data();
  on.i.strides = none.data();
  EXPECT_EQ(on.enqueue(context, &error), GTH_E_UNSUPPORTED);
  facts::expect_fields(GTH_E_UNSUPPORTED, error,
                       {GTH_E_UNSUPPORTED, GTH_OPERAND_INDICES, -1, -1, ids[0], ids[0] / 2 - 17});
  OnDevice other(GTH_POOL_SUM);
  other.t.shape = rows.data();
  other.t.strides = none.data();
  other.to.shape = other.ids_shape.data();
  other.to.ndim = 1;
  const gth_request request = other.request();
  EXPECT_EQ(gth_gather_bags_weight_gradient(context.get(), &request, &other.to, &error), GTH_E_UNSUPPORTED);
  facts::expect_fields(GTH_E_UNSUPPORTED, error, {GTH_E_UNSUPPORTED, GTH_OPERAND_PARAMS, -1, -1, rows[0], rows[0] - 2});
  for (const int64_t count : {ids[0], int64_t{1} << 37}) {
    const Shape bags{count + 1}, gradient{count, 2};
    OnDevice many(GTH_POOL_SUM);
    many.b.shape = bags.data();
    many.o.shape = gradient.data();
    many.b.strides = many.o.strides = none.data();
    EXPECT_EQ(many.enqueue(context, &error), GTH_E_UNSUPPORTED);
    facts::expect_fields(GTH_E_UNSUPPORTED, error, {GTH_E_UNSUPPORTED, GTH_OPERAND_BAGS, -1, -1, count, ids[0] - 2});
  }
}

// The last row that has a number. All rows are at one address.
TEST_F(BagGradients, AsManyRowsAsThereAreNumbers) {
  const Context context;
  OnDevice on(GTH_POOL_SUM);
  const Shape rows{int64_t{UINT32_MAX} - 1, 2}, none{0, 0};
  const std::vector<int64_t> ids{rows[0] - 1, 0, 2, 3, rows[0] - 1, 0};
  device::copy(on.ids.data(), ids.data(), 48);
  on.t.shape = rows.data();
  on.t.strides = none.data();
  on.to.shape = on.ids_shape.data();
  on.to.ndim = 1;
  const gth_request request = on.request();
  Error error;
  ASSERT_EQ(gth_gather_bags_weight_gradient(context.get(), &request, &on.to, &error), GTH_OK) << error.message;
  context.expect_no_error();
  EXPECT_EQ(on.result(), (std::vector<float>{33, 33, 33, 3300, 3300, 3300, -5, -5}));  // 3 * (1 + 10), 3 * (100 + 1000)
}

// The device writes the number of rows.
TEST_F(BagGradients, CountInPageableMemory) {
  const Context context;
  const OnDevice on(GTH_POOL_SUM);
  Error error;
  int64_t count = -7;
  const int32_t status = on.enqueue_sparse(context, &count, &error);
  if (status == GTH_OK) return context.expect_no_error();  // Some devices can access it.
  EXPECT_EQ(status, GTH_E_DEVICE) << error.message;
  EXPECT_EQ(error.operand, GTH_OPERAND_OUT);
  EXPECT_EQ(count, -7);
}

}  // namespace
