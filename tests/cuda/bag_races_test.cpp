#include "races.hpp"

// Ids, offsets and weights of bags, and ids of partitions, that change while they are used.
namespace {

using device::Context;
using device::Emulated;
using device::Error;
using device::Memory;
using device::Shape;
using device::write_index;
using device::Writer;

// Bags of 40 ids of three rows, before a kernel that pools them.
struct RacingBags {
  int32_t run(const Context& context, Error* error) const {
    const gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_INT32, shape, table.data());
    const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, ids_shape, ids.data());
    const gth_tensor_desc b = device::describe_on_device(GTH_DTYPE_INT64, bags_shape, offsets.data());
    const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_INT32, out_shape, out.data());
    return gth_gather_bags(context.get(), &t, &i, &b, nullptr, &o, nullptr, error);
  }
  int32_t run_gradient(const Context& context, int32_t pool, Error* error) const {
    gth_options options = GTH_OPTIONS_INIT;
    options.pool = pool;
    const gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_FLOAT32, shape, table.data());
    const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, ids_shape, ids.data());
    const gth_tensor_desc b = device::describe_on_device(GTH_DTYPE_INT64, bags_shape, offsets.data());
    const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_FLOAT32, out_shape, out.data());
    const Memory target(std::vector<int32_t>(3, -7));
    const gth_tensor_desc to = device::describe_on_device(GTH_DTYPE_FLOAT32, shape, target.data());
    gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, &options);
    request.bags = &b;
    const int32_t status = gth_gather_bags_gradient(context.get(), &request, &to, error);
    context.sync();
    return status;
  }
  std::vector<int32_t> sums() const {
    std::vector<int32_t> found(2);
    device::copy(found.data(), out.data(), 8);
    return found;
  }

  Shape shape{3}, ids_shape{40}, bags_shape{3}, out_shape{2};
  Memory table{std::vector<int32_t>{1, 1, 1}}, ids{std::vector<int64_t>(40, 2)},
      offsets{std::vector<int64_t>{0, 30, 40}}, out{std::vector<int32_t>{-5, -6}};
};

// An id or an offset becomes invalid after its validation. Its bag is not written, and nothing beside the ids is read.
TEST_F(Emulated, RacingWritersOfBags) {
  const Context context;
  for (const bool is_offset : {false, true}) {
    for (const int64_t value : {int64_t{1} << 30, int64_t{-1}}) {
      const RacingBags bags;
      Writer writer{reinterpret_cast<int64_t*>((is_offset ? bags.offsets : bags.ids).data()), 0, value};
      gth_emulation_between(write_index, &writer);
      Error error;
      ASSERT_EQ(bags.run(context, &error), GTH_OK) << error.message;
      gth_emulation_between(nullptr, nullptr);
      const int64_t sequence = error.sequence;
      const int32_t status = gth_context_take_error(context.get(), &error);
      facts::expect_fields(status, error, {GTH_E_RACE, is_offset ? GTH_OPERAND_BAGS : GTH_OPERAND_INDICES});
      EXPECT_EQ(error.sequence, sequence);
      EXPECT_EQ(error.count, 1u);
      EXPECT_EQ(bags.sums(), (std::vector<int32_t>{-5, 10}));
    }
  }
}

// The number between two bags becomes invalid after its validation. Neither is written, and one error is reported.
TEST_F(Emulated, RacingWritersOfTwoBags) {
  const Context context;
  const RacingBags bags;
  Writer writer{reinterpret_cast<int64_t*>(bags.offsets.data()) + 1, 0, int64_t{1} << 30};
  gth_emulation_between(write_index, &writer);
  Error error;
  ASSERT_EQ(bags.run(context, &error), GTH_OK) << error.message;
  gth_emulation_between(nullptr, nullptr);
  context.expect_taken({GTH_E_RACE, GTH_OPERAND_BAGS}, 1, error.sequence);
  EXPECT_EQ(bags.sums(), (std::vector<int32_t>{-5, -6}));
}

// The end of the last bag becomes invalid after its validation. The bag is not written, and no id behind the others is
// read.
TEST_F(Emulated, RacingWritersOfTheEndOfBags) {
  const Context context;
  for (const int64_t value : {int64_t{41}, int64_t{1} << 30, int64_t{29}, int64_t{-1}}) {
    const RacingBags bags;
    Writer writer{reinterpret_cast<int64_t*>(bags.offsets.data()) + 2, 0, value};
    gth_emulation_between(write_index, &writer);
    Error error;
    ASSERT_EQ(bags.run(context, &error), GTH_OK) << error.message;
    gth_emulation_between(nullptr, nullptr);
    context.expect_taken({GTH_E_RACE, GTH_OPERAND_BAGS}, 1, error.sequence);
    EXPECT_EQ(bags.sums(), (std::vector<int32_t>{30, -6}));
  }
}

// The gradients of bags whose ids or offsets become invalid after their validation. Nothing beside the operands is read,
// and ids of other rows are added.
TEST_F(Emulated, RacingWritersOfBagGradients) {
  const Context context;
  for (const int32_t pool : {GTH_POOL_SUM, GTH_POOL_MEAN, GTH_POOL_MAX}) {
    for (const bool is_offset : {false, true}) {
      for (const int64_t value : {int64_t{1} << 30, int64_t{-1}}) {
        RacingBags bags;
        Writer writer{reinterpret_cast<int64_t*>((is_offset ? bags.offsets : bags.ids).data()), 0, value};
        gth_emulation_between(write_index, &writer);
        Error error;
        ASSERT_EQ(bags.run_gradient(context, pool, &error), GTH_OK) << error.message;
        gth_emulation_between(nullptr, nullptr);
        const int32_t status = gth_context_take_error(context.get(), &error);
        EXPECT_TRUE(status == GTH_E_RACE || (is_offset && status == GTH_OK)) << status;
        EXPECT_LE(error.count, 1u);
        device::forget_described();
      }
    }
  }
}

// Gradients or positions of bags of 30 and 10 ids of three rows. Room for one sparse row is enough.
struct RacingResult {
  enum Kind : uint8_t { params, sparse, weights, positions };

  int32_t run(const Context& context, gth_error* error) const {
    using device::describe_on_device;
    gth_options options = GTH_OPTIONS_INIT;
    options.pool = pool;
    options.bag_format = format;
    options.bag_count = format == GTH_BAGS_SEGMENTS ? 2 : 0;
    const Shape bags_shape{format == GTH_BAGS_SEGMENTS ? 40 : 3};
    const gth_tensor_desc t = describe_on_device(GTH_DTYPE_FLOAT32, three, numbers.data());
    const gth_tensor_desc i = describe_on_device(GTH_DTYPE_INT64, forty, ids.data());
    const gth_tensor_desc b = describe_on_device(GTH_DTYPE_INT64, bags_shape, bags.data());
    const gth_tensor_desc w = describe_on_device(GTH_DTYPE_FLOAT32, forty, numbers.data());
    const gth_tensor_desc o = describe_on_device(GTH_DTYPE_FLOAT32, two, gradient.data());
    const gth_tensor_desc u = describe_on_device(GTH_DTYPE_INT64, one, unique.data());
    const int32_t dtype = kind == positions ? GTH_DTYPE_INT64 : GTH_DTYPE_FLOAT32;
    const Shape& to = kind == weights ? forty : kind == positions ? two : kind == sparse ? one : three;
    const gth_tensor_desc out = describe_on_device(dtype, to, target.data());
    gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, &options);
    request.bags = &b;
    if (kind == weights) request.weights = &w;
    switch (kind) {
      case params: return gth_gather_bags_gradient(context.get(), &request, &out, error);
      case weights: return gth_gather_bags_weight_gradient(context.get(), &request, &out, error);
      case positions: return gth_gather_bags_positions(context.get(), &request, &out, error);
      default: break;
    }
    return gth_gather_bags_sparse_gradient(context.get(), &request, &u, &out, reinterpret_cast<int64_t*>(count.data()),
                                           error);
  }

  Kind kind = params;
  int32_t pool = GTH_POOL_SUM, format = GTH_BAGS_OFFSETS;
  Shape one{1}, two{2}, three{3}, forty{40};
  Memory numbers{std::vector<float>(40, 1)}, ids{std::vector<int64_t>(40, 2)}, bags{std::vector<int64_t>(40)},
      gradient{std::vector<float>{1, 2}}, target{std::vector<int64_t>(20)}, unique{std::vector<int64_t>(1)},
      count{std::vector<int64_t>(1)};
};

// Writes at the n-th moment at which the first block of a kernel may find other data than the validation.
struct LateWriter {
  Writer writer;
  int64_t n;
};

void write_late(void* user, uint32_t block) {
  auto* const late = static_cast<LateWriter*>(user);
  if (block == 0 && late->n-- == 1) write_index(&late->writer, 0);
}

// Writes a number at each such moment of a call in turn. Returns true if a call reported a race. A call reports one
// failure at most.
bool race_between_kernels(const Context& context, const RacingResult& result, bool is_bag, int64_t value) {
  bool raced = false;
  const int32_t operand = is_bag ? GTH_OPERAND_BAGS : GTH_OPERAND_INDICES;
  auto* const at = reinterpret_cast<int64_t*>((is_bag ? result.bags : result.ids).data());
  const int64_t first = *at;
  for (int64_t n = 1;; ++n) {
    LateWriter writer{{at, 0, value}, n};
    gth_emulation_between(write_late, &writer);
    Error error;
    EXPECT_EQ(result.run(context, &error), GTH_OK) << error.message;
    context.sync();
    gth_emulation_between(nullptr, nullptr);
    const bool has_written = *at == value;
    const int32_t status = gth_context_take_error(context.get(), &error);
    if (!has_written) {
      EXPECT_EQ(status, GTH_OK) << error.message;
      return raced;
    }
    *at = first;
    if (status != GTH_OK) {
      EXPECT_TRUE(status == GTH_E_RACE || status == (is_bag ? GTH_E_OFFSETS : GTH_E_INDEX)) << status;
      EXPECT_EQ(error.operand, operand) << error.message;
      EXPECT_EQ(error.count, 1u);
    }
    raced |= status == GTH_E_RACE;
    device::forget_described();
  }
}

// An id or a number of bags becomes invalid between two kernels of a gradient or of positions. Nothing beside the
// operands is read. Kernels that find maxima report a changed number of bags.
TEST_F(Emulated, WritersBetweenTheKernelsOfBagGradients) {
  const Context context;
  for (const int32_t format : {GTH_BAGS_OFFSETS, GTH_BAGS_SEGMENTS}) {
    for (const auto kind :
         {RacingResult::params, RacingResult::sparse, RacingResult::weights, RacingResult::positions}) {
      for (const int32_t pool : {GTH_POOL_SUM, GTH_POOL_MEAN, GTH_POOL_MAX}) {
        const bool is_max = pool == GTH_POOL_MAX;
        if (kind == RacingResult::positions ? !is_max : kind == RacingResult::weights && is_max) continue;
        SCOPED_TRACE(testing::Message() << "format " << format << ", kind " << int{kind} << ", pool " << pool);
        RacingResult result;
        result.kind = kind;
        result.pool = pool;
        result.format = format;
        std::vector<int64_t> bags{0, 30, 40};
        if (format == GTH_BAGS_SEGMENTS) {
          bags.assign(30, 0);
          bags.resize(40, 1);
        }
        device::copy(result.bags.data(), bags.data(), bags.size() * sizeof(int64_t));
        for (const int64_t value : {int64_t{1} << 30, int64_t{3}, int64_t{2}, int64_t{-1}}) {
          if (value != 2) {
            EXPECT_TRUE(race_between_kernels(context, result, false, value)) << value;
          }
          const bool raced = race_between_kernels(context, result, true, value);
          if (format == GTH_BAGS_OFFSETS && pool == GTH_POOL_MAX && value != 2 && value != 3) {
            EXPECT_TRUE(raced) << value;
          }
        }
      }
    }
  }
}

// An id becomes invalid after its validation. It has no part, and one error is reported.
TEST_F(Emulated, RacingWritersOfPartitions) {
  const Context context;
  const Shape four{4};
  for (const uint32_t flags : {0u, uint32_t{GTH_PARTS_ONCE}}) {
    for (const int64_t value : {int64_t{1} << 30, int64_t{4}, int64_t{-1}}) {
      const Memory ids(std::vector<int64_t>{1, 2, 0, 3}), counts(std::vector<int64_t>{-7, -7}),
          local(std::vector<int64_t>(4, -7)), place(std::vector<int64_t>(4, -7));
      const auto numbers = [](const Memory& memory) { return reinterpret_cast<int64_t*>(memory.data()); };
      const auto read = [](const Memory& memory, size_t count) {
        std::vector<int64_t> result(count);
        device::copy(result.data(), memory.data(), static_cast<int64_t>(count) * 8);
        return result;
      };
      const gth_tensor_desc desc = device::describe_on_device(GTH_DTYPE_INT64, four, ids.data());
      gth_shards shards = GTH_SHARDS_INIT;
      shards.kind = GTH_SHARDS_MODULO;
      shards.count = 2;
      shards.rows = 4;
      gth_parts parts = GTH_PARTS_INIT;
      parts.flags = flags;
      parts.capacity = 4;
      parts.counts = numbers(counts);
      parts.local = numbers(local);
      parts.place = numbers(place);
      Writer writer{numbers(ids), 0, value};
      gth_emulation_between(write_index, &writer);
      Error error;
      ASSERT_EQ(gth_partition(context.get(), &desc, &shards, nullptr, &parts, &error), GTH_OK) << error.message;
      context.sync();
      gth_emulation_between(nullptr, nullptr);
      context.expect_taken({GTH_E_RACE, GTH_OPERAND_INDICES}, 1, error.sequence);
      EXPECT_EQ(read(counts, 2), (std::vector<int64_t>{2, 1}));
      EXPECT_EQ(read(local, 3), (std::vector<int64_t>{1, 0, 1}));
      EXPECT_EQ(read(place, 4), (std::vector<int64_t>{-1, 0, 1, 2}));
    }
  }
}

}  // namespace
