#include <cmath>
#include <map>

#include "scatter_forms.hpp"

// Positions of the maxima and minima of scatters on the device.
namespace {

using device::Captured;
using device::Context;
using device::Error;
using device::Memory;
using device::Shape;
using device::Stream;
using facts::Facts;
using forms::Bytes;
using forms::Call;
using forms::Operand;
using forms::Random;

class ScatterPositions : public device::DeviceTest {};

int32_t find(const Call& call, const gth_tensor_desc& target, const gth_tensor_desc& indices,
             const gth_tensor_desc& updates, const gth_tensor_desc& out, gth_context* context, gth_error* error) {
  const gth_request request = GTH_REQUEST(call.op, &target, &indices, &updates, &call.options);
  return gth_scatter_positions(context, &request, &out, error);
}

// Makes a scatter one whose positions are found. Small numbers are often equal.
void choose_extreme(Random& random, Call* call) {
  gth_options& options = call->options;
  options.reduction = random.chance(50) ? GTH_REDUCTION_MAX : GTH_REDUCTION_MIN;
  options.accumulate = 0;
  options.initial = random.chance(40) ? GTH_INITIAL_UPDATE : 0;
  if (!random.chance(50)) return;
  forms::put_small_numbers(random, &call->params);
  forms::put_small_numbers(random, &call->out);
}

// Compares status, error fields and positions of the same call on the CPU and on the device. Returns the status.
int32_t compare_positions(const Call& call, const Context& context, Random& random) {
  Operand positions;
  positions.dtype = GTH_DTYPE_INT64;
  positions.shape = call.params.shape;
  positions.lay_out(random, false);
  Bytes expected = positions.bytes;
  Error on_cpu;
  const int32_t status = find(call, call.params.desc(call.params.bytes.data(), GTH_DEVICE_CPU),
                              call.indices.desc(call.indices.bytes.data(), GTH_DEVICE_CPU),
                              call.out.desc(call.out.bytes.data(), GTH_DEVICE_CPU),
                              positions.desc(expected.data(), GTH_DEVICE_CPU), nullptr, &on_cpu);
  const auto shift = [&] { return random.below(3) ? 0 : random.below(32); };
  const Memory target(call.params.bytes, shift()), indices(call.indices.bytes, shift()),
      updates(call.out.bytes, shift()), out(positions.bytes, shift());
  Error error;
  int32_t found =
      find(call, call.params.desc(target.data(), GTH_DEVICE_CUDA), call.indices.desc(indices.data(), GTH_DEVICE_CUDA),
           call.out.desc(updates.data(), GTH_DEVICE_CUDA), positions.desc(out.data(), GTH_DEVICE_CUDA), context.get(),
           &error);
  if (found == GTH_OK) found = gth_context_take_error(context.get(), &error);
  facts::expect_fields(found, error,
                       {status, on_cpu.operand, on_cpu.component, on_cpu.position, on_cpu.value, on_cpu.limit,
                        on_cpu.flags & ~uint32_t{GTH_ERROR_CUT}});
  EXPECT_TRUE(out.get() == expected) << "positions differ";
  EXPECT_FALSE(testing::Test::HasFailure())
      << "op " << call.op << " dtype " << call.params.dtype << " bounds " << call.options.bounds << " initial "
      << call.options.initial << ", CPU: " << on_cpu.message << ", device: " << error.message;
  return status;
}

// Random calls of every form: status, error fields and positions are those of the CPU.
TEST_F(ScatterPositions, AreThoseOfTheCpu) {
  const Context context;
  std::map<int32_t, int64_t> statuses;
  const int64_t calls = device::random_calls(2000, 10'000);
  for (int64_t seed = 1; seed <= calls && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<uint64_t>(seed));
    Call call = forms::make_scatter(random);
    if (forms::output_bytes(call) > (1 << 17)) continue;
    choose_extreme(random, &call);
    ++statuses[compare_positions(call, context, random)];
    device::forget_described();
  }
  EXPECT_GT(statuses[GTH_OK], calls / 4);
  EXPECT_GT(statuses[GTH_E_INDEX], calls / 100);
}

// As many updates as one block sorts and as a block has threads, and one more or less; and rows at the limits of the
// lanes of a group.
TEST_F(ScatterPositions, UpdatesAndRowsAtTheLimits) {
  using namespace gather::cuda;
  const Context context;
  Random random(5);
  for (const int64_t limit : {int64_t{block_threads}, int64_t{least_long}, most_few, 2 * most_few}) {
    for (const int64_t updates : {limit - 1, limit, limit + 1}) {
      for (const int32_t dtype : {GTH_DTYPE_FLOAT32, GTH_DTYPE_BOOL, GTH_DTYPE_UINT16}) {
        Call call = forms::make_rows_call(random, dtype, GTH_REDUCTION_MAX, {3, 5}, updates);
        choose_extreme(random, &call);
        compare_positions(call, context, random);
        device::forget_described();
      }
    }
  }
  for (const int64_t limit : {int64_t{most_lanes_of_row}, int64_t{2 * most_lanes_of_row}}) {
    for (const int64_t width : {limit - 1, limit, limit + 1}) {
      Call call = forms::make_rows_call(random, GTH_DTYPE_FLOAT16, GTH_REDUCTION_MIN, {7, width}, 40);
      choose_extreme(random, &call);
      compare_positions(call, context, random);
      device::forget_described();
    }
  }
}

// Of equal elements the first one, and the first NaN before all numbers. The target precedes equal updates.
TEST_F(ScatterPositions, OfEqualElementsAndNan) {
  const Stream stream;
  const Context context(stream.get());
  const float nan = std::nanf("");
  const Shape target{5}, ids{10};
  const Memory t(std::vector<float>{2, 0, nan, 9, 4}), i(std::vector<int64_t>{0, 0, 0, 1, 1, 1, 2, 3, 4, 4}),
      u(std::vector<float>{2, 7, 7, 5, nan, nan, 8, 8, -1, -0.0f});
  Memory o(std::vector<int64_t>(5, -9));
  Call call;
  call.op = GTH_OP_SCATTER;
  call.options.reduction = GTH_REDUCTION_MAX;
  const auto enqueue = [&](Error* error) {
    return find(call, device::describe_on_device(GTH_DTYPE_FLOAT32, target, t.data()),
                device::describe_on_device(GTH_DTYPE_INT64, ids, i.data()),
                device::describe_on_device(GTH_DTYPE_FLOAT32, ids, u.data()),
                device::describe_on_device(GTH_DTYPE_INT64, target, o.data()), context.get(), error);
  };
  const auto result = [&] {
    std::vector<int64_t> found(5);
    device::copy(found.data(), o.data(), 40);
    return found;
  };
  Error error;
  ASSERT_EQ(enqueue(&error), GTH_OK) << error.message;
  context.expect_no_error();
  EXPECT_EQ(result(), (std::vector<int64_t>{1, 4, -1, -1, -1}));
  call.options.initial = GTH_INITIAL_UPDATE;
  const Captured captured(stream, [&] { enqueue(nullptr); });
  for (int replay = 0; replay < 3; ++replay) {
    o.fill(device::poison);
    captured.launch();
    context.expect_no_error();
    EXPECT_EQ(result(), (std::vector<int64_t>{1, 4, 6, 7, 9})) << replay;
  }
  const std::vector<int64_t> bad{0, 0, 0, 1, 1, 5, 2, 3, 4, 4};
  device::copy(i.data(), bad.data(), 80);
  o.fill(device::poison);
  captured.launch();
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 5, 5, 5});
  EXPECT_TRUE(o.get() == Bytes(40, device::poison));
}

}  // namespace
