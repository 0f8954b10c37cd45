#include <map>

#include "forms.hpp"

// Partitions of ids by shard on the device.
namespace {

using device::Captured;
using device::Context;
using device::Error;
using device::Memory;
using device::Shape;
using device::Stream;
using facts::Facts;
using forms::Bytes;
using forms::Operand;
using forms::Random;
using Numbers = std::vector<int64_t>;

class Partition : public device::DeviceTest {};

struct Call {
  Operand ids;
  gth_options options = GTH_OPTIONS_INIT;
  gth_shards shards = GTH_SHARDS_INIT;
  Numbers borders;
  uint32_t flags = 0;
  bool has_order = false, has_place = false;

  int64_t count() const {
    int64_t result = 1;
    for (const int64_t each : ids.shape) result *= each;
    return result;
  }
};

// The arrays of a result, which begin with -7.
struct Parts {
  explicit Parts(const Call& call)
      : counts(static_cast<size_t>(call.shards.count), -7), local(static_cast<size_t>(call.count()), -7) {
    order = place = local;
  }
  Numbers counts, local, order, place;

  bool operator==(const Parts& other) const {
    return counts == other.counts && local == other.local && order == other.order && place == other.place;
  }
};

gth_parts parts_of(const Call& call, int64_t* counts, int64_t* local, int64_t* order, int64_t* place) {
  gth_parts parts = GTH_PARTS_INIT;
  parts.flags = call.flags;
  parts.capacity = call.count();
  parts.counts = counts;
  parts.local = local;
  parts.order = call.has_order ? order : nullptr;
  parts.place = call.has_place ? place : nullptr;
  return parts;
}

int32_t run_on_cpu(const Call& call, Parts* found, gth_error* error) {
  const gth_tensor_desc ids = call.ids.desc(call.ids.bytes.data(), GTH_DEVICE_CPU);
  gth_parts parts = parts_of(call, found->counts.data(), found->local.data(), found->order.data(), found->place.data());
  EXPECT_EQ(gth_partition_scratch(&ids, &call.shards, call.flags, &parts.scratch_bytes, error), GTH_OK);
  Numbers scratch(static_cast<size_t>(parts.scratch_bytes / 8 + 1));
  parts.scratch = scratch.data();
  return gth_partition(nullptr, &ids, &call.shards, &call.options, &parts, error);
}

// The arrays of a result on the device.
struct OnDevice {
  OnDevice(const Call& of, int64_t shift) : call(of), ids(of.ids.bytes, shift), parts(of) {}

  int32_t enqueue(const Context& context, gth_error* error) const {
    const auto numbers = [](const Memory& memory) { return reinterpret_cast<int64_t*>(memory.data()); };
    const gth_tensor_desc desc = call.ids.desc(ids.data(), GTH_DEVICE_CUDA);
    const gth_parts all = parts_of(call, numbers(counts), numbers(local), numbers(order), numbers(place));
    return gth_partition(context.get(), &desc, &call.shards, &call.options, &all, error);
  }
  Parts result() const {
    Parts found(call);
    const auto read = [](const Memory& from, Numbers* to) {
      if (!to->empty()) device::copy(to->data(), from.data(), static_cast<int64_t>(to->size()) * 8);
    };
    read(counts, &found.counts), read(local, &found.local), read(order, &found.order), read(place, &found.place);
    return found;
  }

  const Call& call;
  Memory ids;
  Parts parts;
  Memory counts{parts.counts}, local{parts.local}, order{parts.order}, place{parts.place};
};

// Drops what is behind the rows that are requested, because it is undefined.
void drop_rest(Parts* parts) {
  int64_t requested = 0;
  for (const int64_t each : parts->counts) requested += each;
  parts->local.resize(static_cast<size_t>(requested));
  parts->order.resize(static_cast<size_t>(requested));
}

int32_t compare_parts(const Call& call, const Context& context, Random& random) {
  Parts expected(call);
  Error on_cpu, error;
  const int32_t status = run_on_cpu(call, &expected, &on_cpu);
  const OnDevice on(call, random.below(3) ? 0 : random.below(32));
  int32_t found = on.enqueue(context, &error);
  if (found == GTH_OK) found = gth_context_take_error(context.get(), &error);
  facts::expect_fields(found, error,
                       {status, on_cpu.operand, on_cpu.component, on_cpu.position, on_cpu.value, on_cpu.limit,
                        on_cpu.flags & ~uint32_t{GTH_ERROR_CUT}});
  Parts result = on.result();
  if (status == GTH_OK) drop_rest(&expected), drop_rest(&result);
  EXPECT_TRUE(result == expected) << "kind " << call.shards.kind << " shards " << call.shards.count << " ids "
                                  << call.count() << " flags " << call.flags << " bounds " << call.options.bounds
                                  << ", CPU: " << on_cpu.message << ", device: " << error.message;
  return status;
}

Call make_partition(Random& random, int64_t shards, const Shape& shape) {
  Call call;
  call.shards.kind = 1 + static_cast<int32_t>(random.below(3));
  call.shards.count = shards;
  call.shards.rows = random.chance(5) ? 0 : 1 + random.below(random.chance(30) ? 100'000 : 120);
  call.flags = random.chance(50) ? GTH_PARTS_ONCE : 0;
  call.has_order = !call.flags && random.chance(70);
  call.has_place = call.flags || random.chance(70);
  for (int64_t i = 0; i <= shards; ++i) call.borders.push_back(random.below(call.shards.rows + 1));
  std::sort(call.borders.begin(), call.borders.end());
  call.borders.front() = 0;
  call.borders.back() = call.shards.rows;
  call.options.bounds = static_cast<int32_t>(random.below(6));
  call.options.negative = static_cast<int32_t>(random.below(3));
  call.ids.dtype = forms::index_dtypes[random.below(8)];
  call.ids.shape = shape;
  call.ids.lay_out(random, true);
  const int64_t item = gth_dtype_size(call.ids.dtype);
  const bool is_tame = random.chance(60);
  for (size_t at = 0; at + static_cast<size_t>(item) <= call.ids.bytes.size(); at += static_cast<size_t>(item)) {
    int64_t value = random.below(std::max<int64_t>(std::min<int64_t>(call.shards.rows, 127), 1));
    if (item > 2) value = random.below(std::max<int64_t>(call.shards.rows, 1));
    if (!is_tame && random.chance(3)) value = random.below(2 * call.shards.rows + 9) - call.shards.rows - 4;
    std::memcpy(call.ids.bytes.data() + at, &value, static_cast<size_t>(item));
  }
  return call;
}

// Random calls of every form: status, error fields and arrays are those of the CPU.
TEST_F(Partition, ResultsAreThoseOfTheCpu) {
  const Context context;
  std::map<int32_t, int64_t> statuses;
  const int64_t calls = device::random_calls(1500, 10'000);
  for (int64_t seed = 1; seed <= calls && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<uint64_t>(seed));
    Shape shape(static_cast<size_t>(1 + random.below(3)));
    for (int64_t& each : shape) each = random.chance(5) ? 0 : 1 + random.below(random.chance(10) ? 60 : 8);
    Call call = make_partition(random, 1 + random.below(random.chance(20) ? 40 : 5), shape);
    if (call.shards.kind == GTH_SHARDS_BORDERS) call.shards.borders = call.borders.data();
    ++statuses[compare_parts(call, context, random)];
    device::forget_described();
  }
  EXPECT_GT(statuses[GTH_OK], calls / 5);
  EXPECT_GT(statuses[GTH_E_INDEX], calls / 75);
}

// As many ids as a block has threads, and as many borders as one kernel takes, and one more or less.
TEST_F(Partition, IdsAndBordersAtTheLimits) {
  using namespace gather::cuda;
  const Context context;
  Random random(3);
  for (const int64_t limit : {int64_t{block_threads}, int64_t{borders_at_once}, int64_t{2 * borders_at_once}}) {
    for (const int64_t number : {limit - 2, limit - 1, limit, limit + 1}) {
      for (int i = 0; i < 4; ++i) {
        Call call = make_partition(random, number, {number});
        if (call.shards.kind == GTH_SHARDS_BORDERS) call.shards.borders = call.borders.data();
        compare_parts(call, context, random);
        device::forget_described();
      }
    }
  }
}

// Borders belong to the capture. Each replay partitions its own ids.
TEST_F(Partition, ReplaysOfACapture) {
  const Stream stream;
  const Context context(stream.get());
  Random random(1);
  Call call = make_partition(random, 3, {6});
  call.shards.kind = GTH_SHARDS_BORDERS;
  call.shards.rows = 10;
  call.borders = {0, 4, 4, 10};
  call.shards.borders = call.borders.data();
  call.flags = GTH_PARTS_ONCE;
  call.has_order = false, call.has_place = true;
  call.options.bounds = call.options.negative = 0;
  call.ids = {GTH_DTYPE_INT64, {6}, {8}, true, 0, Bytes(48)};
  OnDevice on(call, 0);
  const Captured captured(stream, [&] { on.enqueue(context, nullptr); });
  call.borders = {0, 0, 0, 10};
  const auto replay = [&](const Numbers& ids) {
    device::copy(on.ids.data(), ids.data(), 48);
    captured.launch();
  };
  replay({7, 1, 7, 3, 1, 9});
  context.expect_no_error();
  EXPECT_EQ(on.result().counts, (Numbers{2, 0, 2}));
  EXPECT_EQ(on.result().local, (Numbers{1, 3, 3, 5, -7, -7}));
  EXPECT_EQ(on.result().place, (Numbers{2, 0, 2, 1, 0, 3}));
  replay({0, 1, 2, 10, 1, 9});
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 3, 10, 10});
  EXPECT_EQ(on.result().place, (Numbers{2, 0, 2, 1, 0, 3}));
}

// Numbers of shards have 32 bits. With duplicates once, those of rows too.
TEST_F(Partition, TooManyShardsOrRows) {
  const Context context;
  Random random(1);
  Call call = make_partition(random, 3, {6});
  call.shards.kind = GTH_SHARDS_MODULO;
  call.options.bounds = GTH_BOUNDS_CLAMP;
  call.flags = 0;
  call.shards.rows = int64_t{1} << 40;
  compare_parts(call, context, random);
  call.flags = GTH_PARTS_ONCE;
  call.has_place = true, call.has_order = false;
  const OnDevice on(call, 0);
  Error error;
  facts::expect_fields(on.enqueue(context, &error), error,
                       {GTH_E_UNSUPPORTED, GTH_OPERAND_NONE, -1, -1, call.shards.rows, UINT32_MAX - 1});
  call.shards.rows = int64_t{UINT32_MAX} - 1;
  compare_parts(call, context, random);
  call.shards.count = int64_t{UINT32_MAX};
  facts::expect_fields(on.enqueue(context, &error), error,
                       {GTH_E_UNSUPPORTED, GTH_OPERAND_NONE, -1, -1, call.shards.count, UINT32_MAX - 1});
}

// All ids are at one address. No memory behind them is accessed.
TEST_F(Partition, TooManyIds) {
  const Context context;
  const Shape many{int64_t{UINT32_MAX}}, none{0};
  const Memory memory(Numbers(8, 0));
  auto* const numbers = reinterpret_cast<int64_t*>(memory.data());
  gth_tensor_desc ids = device::describe_on_device(GTH_DTYPE_INT64, many, numbers);
  ids.strides = none.data();
  gth_shards shards = GTH_SHARDS_INIT;
  shards.kind = GTH_SHARDS_MODULO;
  shards.count = 2;
  shards.rows = 10;
  gth_parts parts = GTH_PARTS_INIT;
  parts.capacity = many[0];
  parts.counts = numbers + 1;
  parts.local = numbers + 4;
  Error error;
  facts::expect_fields(gth_partition(context.get(), &ids, &shards, nullptr, &parts, &error), error,
                       {GTH_E_UNSUPPORTED, GTH_OPERAND_NONE, -1, -1, many[0], UINT32_MAX - 1});
}

// An array of so many counts would reach the next array, but the number is reported first.
TEST_F(Partition, TooManyShardsAreReportedBeforeOverlaps) {
  const Context context;
  const Shape line{1};
  const Memory memory(Numbers(8, 0));
  auto* const numbers = reinterpret_cast<int64_t*>(memory.data());
  const gth_tensor_desc ids = device::describe_on_device(GTH_DTYPE_INT64, line, numbers);
  gth_shards shards = GTH_SHARDS_INIT;
  shards.rows = 10;
  gth_parts parts = GTH_PARTS_INIT;
  parts.capacity = 1;
  parts.counts = numbers + 1;
  parts.local = numbers + 4;
  for (const int64_t count : {int64_t{UINT32_MAX}, INT64_MAX}) {
    shards.count = count;
    Error error;
    facts::expect_fields(gth_partition(context.get(), &ids, &shards, nullptr, &parts, &error), error,
                         {GTH_E_UNSUPPORTED, GTH_OPERAND_NONE, -1, -1, count, UINT32_MAX - 1});
  }
}

}  // namespace
