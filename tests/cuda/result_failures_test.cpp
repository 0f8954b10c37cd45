#include <cstring>
#include <memory>

#include "failing.hpp"
#include "forms.hpp"

// CUDA calls that fail while the results of bags, positions of scatters and partitions are computed.
namespace {

using device::Context;
using device::Emulated;
using device::Error;
using device::expect_to_survive;
using device::Failing;
using device::Memory;
using device::Shape;

// A line of numbers, each behind a gap of its size. Calls that need arrays copy it to one, or from one.
struct Line : forms::Operand {
  Line(int32_t type, int64_t count, const std::vector<int64_t>& values) {
    const int64_t item = gth_dtype_size(type);
    dtype = type;
    shape = {count};
    strides = {2 * item};
    is_dense = false;
    bytes.assign(static_cast<size_t>(2 * item * count), 0x11);
    for (int64_t i = 0; i < count && !values.empty(); ++i) put(i, values[static_cast<size_t>(i) % values.size()]);
  }
  void put(int64_t i, int64_t value) {
    char* const at = bytes.data() + i * strides[0];
    const auto single = static_cast<float>(value);
    const float parts[] = {single, single + 1};
    if (dtype == GTH_DTYPE_INT64)
      std::memcpy(at, &value, 8);
    else
      std::memcpy(at, parts, static_cast<size_t>(gth_dtype_size(dtype)));
  }
};

// The operands of a call: those that are read, and then those that are written.
using Lines = std::vector<Line>;

// Makes each CUDA call of run(context, descriptors, error) fail once. A call that succeeds nevertheless has written the
// same bytes as on the CPU.
template <class Run>
void expect_results_despite_failures(const Context& context, const Lines& lines, Run&& run) {
  const auto describe = [&](const std::vector<void*>& data, int32_t device) {
    std::vector<gth_tensor_desc> result;
    for (size_t k = 0; k < lines.size(); ++k) result.push_back(lines[k].desc(data[k], device));
    return result;
  };
  Lines expected = lines;
  std::vector<void*> data;
  for (Line& each : expected) data.push_back(each.bytes.data());
  Error on_cpu;
  ASSERT_EQ(run(nullptr, describe(data, GTH_DEVICE_CPU), &on_cpu), GTH_OK) << on_cpu.message;
  expect_to_survive([&](Failing* failing, Error* error) {
    std::vector<std::unique_ptr<Memory>> memory;
    std::vector<void*> on_device;
    for (const Line& each : lines) {
      memory.push_back(std::make_unique<Memory>(each.bytes));
      on_device.push_back(memory.back()->data());
    }
    failing->arm();
    const int32_t status = run(context.get(), describe(on_device, GTH_DEVICE_CUDA), error);
    failing->disarm();
    context.sync();
    for (size_t k = 0; status == GTH_OK && k < lines.size(); ++k) {
      EXPECT_TRUE(memory[k]->get() == expected[k].bytes) << "call " << failing->n << ", operand " << k;
    }
    return status;
  });
}

enum class BagResult : uint8_t { params, sparse, weights, positions };

// Two bags of `count` ids of two rows. No id selects the third one.
void fail_in_bags(const Context& context, BagResult result, int32_t pool, int32_t dtype, int64_t count) {
  SCOPED_TRACE(testing::Message() << "result " << static_cast<int>(result) << ", pool " << pool);
  const int64_t written = result == BagResult::weights ? count : result == BagResult::params ? 3 : 2;
  const int32_t type = result == BagResult::positions ? int32_t{GTH_DTYPE_INT64} : dtype;
  const Lines lines = {{dtype, 3, {10, 20, 30}},
                       {GTH_DTYPE_INT64, count, {1, 0, 1}},
                       {GTH_DTYPE_INT64, 2, {1, count - 1}},
                       {dtype, 2, {5, 300}},
                       {type, written, {}},
                       {GTH_DTYPE_INT64, 2, {}},
                       {GTH_DTYPE_INT64, 1, {}}};
  gth_options options = GTH_OPTIONS_INIT;
  options.pool = pool;
  options.bag_format = GTH_BAGS_LENGTHS;
  expect_results_despite_failures(
      context, lines, [&](gth_context* in, const std::vector<gth_tensor_desc>& all, gth_error* error) {
        gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &all[0], &all[1], &all[3], &options);
        request.bags = &all[2];
        switch (result) {
          case BagResult::params: return gth_gather_bags_gradient(in, &request, &all[4], error);
          case BagResult::weights: return gth_gather_bags_weight_gradient(in, &request, &all[4], error);
          case BagResult::positions: return gth_gather_bags_positions(in, &request, &all[4], error);
          default: break;
        }
        auto* const rows = static_cast<int64_t*>(const_cast<void*>(all[6].data));
        return gth_gather_bags_sparse_gradient(in, &request, &all[5], &all[4], rows, error);
      });
}

TEST_F(Emulated, FailuresOfEveryResultOfBags) {
  const Context context;
  fail_in_bags(context, BagResult::params, GTH_POOL_SUM, GTH_DTYPE_FLOAT32, 4);
  fail_in_bags(context, BagResult::params, GTH_POOL_MEAN, GTH_DTYPE_COMPLEX64, 4);
  fail_in_bags(context, BagResult::params, GTH_POOL_MAX, GTH_DTYPE_FLOAT32, 4);
  fail_in_bags(context, BagResult::sparse, GTH_POOL_SQRTN, GTH_DTYPE_FLOAT32, 4);
  fail_in_bags(context, BagResult::weights, GTH_POOL_SUM, GTH_DTYPE_FLOAT32, 4);
  fail_in_bags(context, BagResult::weights, GTH_POOL_MEAN, GTH_DTYPE_FLOAT32, 4);
  fail_in_bags(context, BagResult::positions, GTH_POOL_MAX, GTH_DTYPE_FLOAT32, 4);
  fail_in_bags(context, BagResult::params, GTH_POOL_MEAN, GTH_DTYPE_FLOAT32, gather::cuda::least_long + 1);
}

TEST_F(Emulated, FailuresOfScatterPositions) {
  const Context context;
  for (const int64_t count : {int64_t{0}, int64_t{4}, gather::cuda::most_few + 1}) {
    for (const int32_t initial : {0, GTH_INITIAL_UPDATE}) {
      SCOPED_TRACE(testing::Message() << count << " updates, initial " << initial);
      const Lines lines = {{GTH_DTYPE_FLOAT32, 3, {20, 20, 30}},
                           {GTH_DTYPE_INT64, count, {1, 0, 1}},
                           {GTH_DTYPE_FLOAT32, count, {50, 15, 25, 35, 5}},
                           {GTH_DTYPE_INT64, 3, {}}};
      gth_options options = GTH_OPTIONS_INIT;
      options.reduction = GTH_REDUCTION_MAX;
      options.initial = initial;
      expect_results_despite_failures(
          context, lines, [&](gth_context* in, const std::vector<gth_tensor_desc>& all, gth_error* error) {
            const gth_request request = GTH_REQUEST(GTH_OP_SCATTER, &all[0], &all[1], &all[2], &options);
            return gth_scatter_positions(in, &request, &all[3], error);
          });
    }
  }
}

// Numbers behind each other, as gth_parts has them.
struct Numbers : Line {
  explicit Numbers(int64_t count) : Line(GTH_DTYPE_INT64, count, {}) {
    is_dense = true;
    bytes.resize(static_cast<size_t>(8 * count));
  }
};

TEST_F(Emulated, FailuresOfPartitions) {
  const Context context;
  const std::vector<int64_t> borders{0, 4, 4, 10};
  for (const int32_t kind : {GTH_SHARDS_BORDERS, GTH_SHARDS_MODULO}) {
    for (const uint32_t flags : {0u, uint32_t{GTH_PARTS_ONCE}}) {
      SCOPED_TRACE(testing::Message() << "kind " << kind << ", flags " << flags);
      const bool is_once = flags != 0;
      gth_shards shards = GTH_SHARDS_INIT;
      shards.kind = kind;
      shards.count = 3;
      shards.rows = 10;
      shards.borders = kind == GTH_SHARDS_BORDERS ? borders.data() : nullptr;
      // With duplicates once, four of six ids are requested. What is behind them is undefined.
      const Lines lines = {{GTH_DTYPE_INT64, 6, {7, 1, 7, 3, 1, 9}},
                           Numbers(3),
                           Numbers(is_once ? 4 : 6),
                           Numbers(is_once ? 0 : 6),
                           Numbers(6)};
      expect_results_despite_failures(
          context, lines, [&](gth_context* in, const std::vector<gth_tensor_desc>& all, gth_error* error) {
            const auto numbers = [&](size_t k) { return static_cast<int64_t*>(const_cast<void*>(all[k].data)); };
            std::vector<int64_t> scratch(1000), local(6);
            const bool is_on_cpu = !in;
            gth_parts parts = GTH_PARTS_INIT;
            parts.flags = flags;
            parts.capacity = 6;
            parts.counts = numbers(1);
            parts.local = is_on_cpu ? local.data() : numbers(2);
            parts.order = is_once ? nullptr : numbers(3);
            parts.place = numbers(4);
            parts.scratch = is_on_cpu ? scratch.data() : nullptr;
            parts.scratch_bytes = is_on_cpu ? 8000 : 0;
            const int32_t status = gth_partition(in, &all[0], &shards, nullptr, &parts, error);
            if (is_on_cpu) std::memcpy(numbers(2), local.data(), lines[2].bytes.size());
            return status;
          });
    }
  }
}

// An allocation of host memory fails after device memory was allocated. The device memory must be freed.
// A validation that fails is never taken for one of valid ids.
TEST_F(Emulated, FailuresOfPartitionsOfAnInvalidId) {
  const Context context;
  const Shape four{4};
  const Memory ids(std::vector<int64_t>{1, 2, 9, 3}), counts(std::vector<int64_t>(2)), local(std::vector<int64_t>(4));
  const gth_tensor_desc desc = device::describe_on_device(GTH_DTYPE_INT64, four, ids.data());
  gth_shards shards = GTH_SHARDS_INIT;
  shards.kind = GTH_SHARDS_MODULO;
  shards.count = 2;
  shards.rows = 4;
  gth_parts parts = GTH_PARTS_INIT;
  parts.capacity = 4;
  parts.counts = reinterpret_cast<int64_t*>(counts.data());
  parts.local = reinterpret_cast<int64_t*>(local.data());
  expect_to_survive([&](Failing* failing, Error* error) {
    failing->arm();
    const int32_t status = gth_partition(context.get(), &desc, &shards, nullptr, &parts, error);
    failing->disarm();
    context.sync();
    const int32_t taken = gth_context_take_error(context.get(), nullptr);
    if (status == GTH_OK) {
      EXPECT_EQ(taken, GTH_E_INDEX) << "call " << failing->n;
    }
    return status;
  });
}

}  // namespace
