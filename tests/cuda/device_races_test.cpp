#include "emulated.hpp"

// Indices that change while they are used, and overlapping calls. These tests stop kernels that the host compiler has
// compiled.
namespace {

using device::Captured;
using device::Context;
using device::Emulated;
using device::Error;
using device::Lookup;
using device::Memory;
using device::Shape;
using device::Stream;
using device::Tensor;

// A writer changes indices between validation and copy. Rows are gathered or unchanged, the error is RACE, and the next
// call is correct.
struct Writer {
  int64_t* indices;
  uint32_t block;
  int64_t value;
};

void write_bad(void* user, uint32_t block) {
  const auto* writer = static_cast<const Writer*>(user);
  if (block == writer->block) writer->indices[0] = writer->value;
}

TEST_F(Emulated, RacingWriters) {
  for (const int64_t picks : {int64_t{40}, device::in_front}) {
    const Context context;
    Lookup lookup(6, 64, picks);
    const std::vector<int64_t> rows(static_cast<size_t>(picks), 2);
    for (const uint32_t block : {0u, 1u}) {
      lookup.pick(rows);
      lookup.clear();
      Writer writer{reinterpret_cast<int64_t*>(lookup.indices.data()), block, 1 << 30};
      gth_emulation_between(write_bad, &writer);
      const int64_t sequence = lookup.enqueue(context);
      gth_emulation_between(nullptr, nullptr);
      Error error;
      const int32_t status = gth_context_take_error(context.get(), &error);
      if (status == GTH_OK) {  // the row was copied already, and no later block validates it
        lookup.expect_rows(rows);
        EXPECT_EQ(block, 1u);
      } else {
        facts::expect_fields(status, error, {GTH_E_RACE, GTH_OPERAND_INDICES});
        EXPECT_EQ(error.sequence, sequence);
        EXPECT_EQ(error.count, 1u);
      }
      lookup.pick(rows);
      lookup.enqueue(context);
      context.expect_no_error();
      lookup.expect_rows(rows);
    }
  }
}

// An index becomes invalid after its validation. The update is dropped, and nothing outside the target is written.
TEST_F(Emulated, RacingWritersOfScatters) {
  const Context context;
  const Shape shape{3}, ids_shape{40};
  std::vector<int64_t> ids(40, 2);
  const Memory target(std::vector<int32_t>{1, 1, 1}), updates(std::vector<int32_t>(40, 1)), indices(ids);
  const gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_INT32, shape, target.data());
  const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, ids_shape, indices.data());
  const gth_tensor_desc u = device::describe_on_device(GTH_DTYPE_INT32, ids_shape, updates.data());
  gth_options options = GTH_OPTIONS_INIT;
  options.reduction = GTH_REDUCTION_ADD;
  Writer writer{reinterpret_cast<int64_t*>(indices.data()), 0, 1 << 30};
  gth_emulation_between(write_bad, &writer);
  Error error;
  ASSERT_EQ(gth_run(context.get(), GTH_OP_SCATTER, &t, &i, &u, &options, &error), GTH_OK) << error.message;
  gth_emulation_between(nullptr, nullptr);
  const int64_t sequence = error.sequence;
  facts::expect_fields(gth_context_take_error(context.get(), &error), error, {GTH_E_RACE, GTH_OPERAND_INDICES});
  EXPECT_EQ(error.sequence, sequence);
  std::vector<int32_t> found(3);
  device::copy(found.data(), target.data(), 12);
  EXPECT_EQ(found, (std::vector<int32_t>{1, 1, 40}));
}

// Bags of 40 ids of three rows, before a kernel that pools them.
struct RacingBags {
  int32_t run(const Context& context, Error* error) const {
    const gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_INT32, shape, table.data());
    const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, ids_shape, ids.data());
    const gth_tensor_desc b = device::describe_on_device(GTH_DTYPE_INT64, bags_shape, offsets.data());
    const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_INT32, out_shape, out.data());
    return gth_gather_bags(context.get(), &t, &i, &b, nullptr, &o, nullptr, error);
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
      gth_emulation_between(write_bad, &writer);
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

// The reverse case: an index is invalid at first and valid when later blocks validate it.
TEST_F(Emulated, RacingWritersWhileBlocksValidate) {
  const Context context;
  Lookup lookup(6, 1024, 40);  // several blocks, each of which validates all indices
  std::vector<int64_t> rows(40, 2);
  rows[0] = 99;
  lookup.pick(rows);
  Writer writer{reinterpret_cast<int64_t*>(lookup.indices.data()), 0, 3};
  gth_emulation_between(write_bad, &writer);
  lookup.enqueue(context);
  context.expect_taken({GTH_E_RACE, GTH_OPERAND_INDICES});
}

// In a new output, a row with a race is zeros, and never the previous content of the memory.
TEST_F(Emulated, RacingWritersOfNewOutputs) {
  const Context context;
  Lookup lookup(6, 64, 40);
  lookup.pick(std::vector<int64_t>(40, 2));
  Writer writer{reinterpret_cast<int64_t*>(lookup.indices.data()), 0, 1 << 30};
  gth_emulation_between(write_bad, &writer);
  Tensor made;
  lookup.enqueue_new(context, made.out());
  gth_emulation_between(nullptr, nullptr);
  context.expect_taken({GTH_E_RACE, GTH_OPERAND_INDICES});
  const auto* rows = static_cast<const int32_t*>(made.desc().data);
  for (int64_t at = 0; at < 40 * 64; ++at) {
    EXPECT_TRUE(rows[at] == 0 || rows[at] == 2000 + at % 64) << at << ": " << rows[at];
  }
  EXPECT_EQ(rows[0], 0);
}

// A call in several pieces reports one failure, in however many pieces indices have changed.
TEST_F(Emulated, RacingWritersOfACallInPieces) {
  gth_emulation_count_to(1000);
  const Context context;
  Lookup lookup(6, 4, 3000);
  std::vector<int64_t> rows(3000, 2);
  lookup.pick(rows);
  gth_emulation_between(
      [](void* indices, uint32_t) {
        for (const int64_t at : {10, 1500, 2999}) static_cast<int64_t*>(indices)[at] = 1 << 30;
      },
      lookup.indices.data());
  const int64_t sequence = lookup.enqueue(context);
  gth_emulation_between(nullptr, nullptr);
  context.expect_taken({GTH_E_RACE, GTH_OPERAND_INDICES}, 1, sequence);
  lookup.pick(rows);
  lookup.enqueue(context);
  context.expect_no_error();
  lookup.expect_rows(rows);
}

// A graph is replayed on another stream while a call of the same context runs. Both must be correct, and so must later
// calls.
struct Replay {
  device::Graph graph;
  CUstream_st* stream;
  uint32_t block;
  bool is_inside = false;

  void begin() { gth_emulation_between(run, this); }
  static void run(void* user, uint32_t block) {
    auto* replay = static_cast<Replay*>(user);
    if (block != replay->block || replay->is_inside) return;
    replay->is_inside = true;
    device::launch(replay->graph, replay->stream);
    replay->is_inside = false;
  }
};

// Expects that a later call of the context reports errors and gives correct results.
void expect_to_work(const Context& context, int64_t picks) {
  Lookup lookup(6, 64, picks);
  std::vector<int64_t> rows(static_cast<size_t>(picks), 1);
  rows[3] = 17;
  lookup.pick(rows);
  lookup.enqueue(context);
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 3, 17, 6});
  lookup.expect_unchanged();
  rows[3] = 4;
  lookup.pick(rows);
  lookup.enqueue(context);
  context.expect_no_error();
  lookup.expect_rows(rows);
}

Captured capture(const Context& context, const Stream& stream, const Lookup& lookup) {
  return Captured(stream, [&] { lookup.enqueue(context); });
}

TEST_F(Emulated, AReplayInsideAnotherCall) {
  for (const int64_t picks : {int64_t{40}, device::in_front}) {
    for (const int64_t others : {int64_t{50}, device::in_front + 1000}) {
      const Stream stream, other;
      const Context context(stream.get());
      Lookup captured(6, 64, picks), running(6, 64, others);
      const std::vector<int64_t> rows(static_cast<size_t>(others), 5);
      std::vector<int64_t> bad_rows(static_cast<size_t>(picks), 2);
      bad_rows[7] = 99;
      running.pick(rows);
      captured.pick(bad_rows);
      const Captured graph = capture(context, stream, captured);
      Replay replay{graph.get(), other.get(), 1};
      replay.begin();
      running.enqueue(context);
      gth_emulation_between(nullptr, nullptr);
      running.expect_rows(rows);
      captured.expect_unchanged();
      context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 7, 99, 6});
      expect_to_work(context, picks);
      expect_to_work(context, others);
    }
  }
}

TEST_F(Emulated, TwoGraphsOfOneContextAtOnce) {
  for (const int64_t picks : {int64_t{40}, device::in_front}) {
    const Stream stream, one, two;
    const Context context(stream.get());
    Lookup first(6, 64, picks), second(6, 64, picks + 1);
    const std::vector<int64_t> rows(static_cast<size_t>(picks), 5), more_rows(static_cast<size_t>(picks + 1), 3);
    first.pick(rows);
    second.pick(more_rows);
    const Captured outer = capture(context, stream, first), inner = capture(context, stream, second);
    Replay replay{inner.get(), two.get(), 1};
    replay.begin();
    outer.launch_on(one.get());
    gth_emulation_between(nullptr, nullptr);
    first.expect_rows(rows);
    second.expect_rows(more_rows);
    context.expect_no_error();
    expect_to_work(context, picks);
  }
}

// This holds for any number of captured calls between the two, and for graphs that are destroyed.
TEST_F(Emulated, NoTwoCapturedCallsShareAState) {
  for (const int64_t picks : {int64_t{40}, device::in_front}) {
    for (const int64_t between : {0, 62, 63, 1022}) {
      const Stream stream, one, two;
      const Context context(stream.get());
      Lookup first(6, 64, picks), second(6, 64, picks), tiny(6, 1, 1);
      const std::vector<int64_t> rows(static_cast<size_t>(picks), 5);
      std::vector<int64_t> bad_rows = rows;
      bad_rows[3] = 6;
      first.pick(rows);
      second.pick(bad_rows);
      const Captured outer = capture(context, stream, first);
      const Captured others(stream, [&] {
        for (int64_t i = 0; i < between; ++i) tiny.enqueue(context);
      });
      capture(context, stream, tiny);
      const Captured inner = capture(context, stream, second);
      Replay replay{inner.get(), two.get(), 1};
      replay.begin();
      outer.launch_on(one.get());
      gth_emulation_between(nullptr, nullptr);
      first.expect_rows(rows);
      second.expect_unchanged();
      context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 3, 6, 6});
    }
  }
}

// States of destroyed graphs are reused.
TEST_F(Emulated, CapturedStatesAreTakenBack) {
  const Stream stream;
  const Context context(stream.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({5, 1});
  capture(context, stream, lookup);
  const int64_t allocations = gth_emulation_live_allocations();
  for (int i = 0; i < 1000; ++i) capture(context, stream, lookup);
  EXPECT_EQ(gth_emulation_live_allocations(), allocations);
  const Captured last = capture(context, stream, lookup);
  last.launch();
  context.expect_no_error();
  lookup.expect_rows({5, 1});
}

// Running one graph twice at the same time is an error of the caller. The result is then undefined, but the next replay
// must be correct.
TEST_F(Emulated, OneGraphTwiceAtOnce) {
  for (const int64_t picks : {int64_t{40}, device::in_front}) {
    for (const uint32_t block : {0u, 1u, 2u}) {
      const Stream stream, other;
      const Context context(stream.get());
      Lookup lookup(6, 64, picks);
      std::vector<int64_t> rows(static_cast<size_t>(picks), 5);
      rows[9] = -1;
      lookup.pick(rows);
      const Captured graph = capture(context, stream, lookup);
      Replay replay{graph.get(), other.get(), block};
      replay.begin();
      graph.launch();
      gth_emulation_between(nullptr, nullptr);
      EXPECT_NE(gth_context_take_error(context.get(), nullptr), GTH_OK);
      lookup.clear();
      graph.launch();
      context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 9, -1, 6});
      lookup.expect_unchanged();
      rows[9] = 0;
      lookup.pick(rows);
      graph.launch();
      context.expect_no_error();
      lookup.expect_rows(rows);
    }
  }
}

// Two calls that fail at the same time are both counted, and one is described.
TEST_F(Emulated, TwoCallsFailAtOnce) {
  const Stream stream, other;
  const Context context(stream.get());
  Lookup captured(6, 64, 40), running(6, 64, 40);
  captured.pick(std::vector<int64_t>(40, 7));
  running.pick(std::vector<int64_t>(40, 8));
  const Captured graph = capture(context, stream, captured);
  Replay replay{graph.get(), other.get(), 1};
  replay.begin();
  running.enqueue(context);
  gth_emulation_between(nullptr, nullptr);
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 0, 7, 6}, 2);
}

}  // namespace
