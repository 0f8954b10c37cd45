#include <atomic>
#include <memory>
#include <thread>

#include "races.hpp"

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
using device::write_index;
using device::Writer;

// A writer changes indices between validation and copy. Rows are gathered or unchanged, the error is RACE, and the next
// call is correct.
TEST_F(Emulated, RacingWriters) {
  for (const int64_t picks : {int64_t{40}, device::in_front}) {
    const Context context;
    Lookup lookup(6, 64, picks);
    const std::vector<int64_t> rows(static_cast<size_t>(picks), 2);
    for (const uint32_t block : {0u, 1u}) {
      lookup.pick(rows);
      lookup.clear();
      Writer writer{reinterpret_cast<int64_t*>(lookup.indices.data()), block, 1 << 30};
      gth_emulation_between(write_index, &writer);
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

// The copying kernel meets an invalid index, which is valid before the kernel behind it looks for the first one.
TEST_F(Emulated, RacingWritersBehindTheCopy) {
  const Context context;
  Lookup lookup(6, 64, device::in_front);
  std::vector<int64_t> rows(static_cast<size_t>(device::in_front), 2);
  rows[0] = 6;
  lookup.pick(rows);
  Writer writer{reinterpret_cast<int64_t*>(lookup.indices.data()), 1, 2};
  gth_emulation_between(write_index, &writer);
  Tensor made;
  lookup.enqueue_new(context, made.out());
  gth_emulation_between(nullptr, nullptr);
  context.expect_taken({GTH_E_RACE, GTH_OPERAND_INDICES});
  device::expect_zeros(made);
  lookup.enqueue(context);
  context.expect_no_error();
  lookup.expect_rows(std::vector<int64_t>(rows.size(), 2));
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
  gth_emulation_between(write_index, &writer);
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

// A way in which a scatter of ones to three elements runs.
struct Way {
  const char* name;
  int32_t op, dtype, reduction;
  int64_t updates, lines_from;
};

constexpr Way ways[] = {
    {"few updates", GTH_OP_SCATTER, GTH_DTYPE_FLOAT32, GTH_REDUCTION_ADD, 40, 0},
    {"few updates that replace", GTH_OP_SCATTER, GTH_DTYPE_FLOAT32, GTH_REDUCTION_NONE, 40, 0},
    {"few updates of a gradient", GTH_OP_GATHER_GRADIENT, GTH_DTYPE_FLOAT32, 0, 40, 0},
    {"sort", GTH_OP_SCATTER, GTH_DTYPE_FLOAT32, GTH_REDUCTION_ADD, gather::cuda::most_few + 1, 0},
    {"sort that replaces", GTH_OP_SCATTER, GTH_DTYPE_FLOAT32, GTH_REDUCTION_NONE, gather::cuda::most_few + 1, 0},
    {"lines", GTH_OP_SCATTER, GTH_DTYPE_FLOAT32, GTH_REDUCTION_ADD, 40, 1},
    {"atomic operations", GTH_OP_SCATTER, GTH_DTYPE_INT32, GTH_REDUCTION_ADD, 2000, 0},
};

// Writes two indices, which two blocks load if there are two.
struct TwoIndices {
  int64_t* indices;
  int64_t other, value;
  static void write(void* user, uint32_t block) {
    const auto* all = static_cast<const TwoIndices*>(user);
    if (block == 0) all->indices[0] = all->indices[all->other] = all->value;
  }
};

// Every way of a scatter reports the race once, and drops the updates. Padding is no race.
TEST_F(Emulated, RacingWritersOfEveryWayOfAScatter) {
  for (const Way& way : ways) {
    for (const bool is_padding : {false, true}) {
      SCOPED_TRACE(way.name);
      gth_emulation_lines_from(way.lines_from);
      const Context context;
      const Shape shape{3}, ids_shape{way.updates};
      const auto count = static_cast<size_t>(way.updates);
      const bool is_integer = way.dtype == GTH_DTYPE_INT32;
      const Memory target(std::vector<float>(3, 0.0f)), indices(std::vector<int64_t>(count, 2));
      const std::vector<float> ones(count, 1.0f);
      const Memory updates(is_integer ? Memory(std::vector<int32_t>(count, 1)).get() : Memory(ones).get());
      const gth_tensor_desc t = device::describe_on_device(way.dtype, shape, target.data());
      const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, ids_shape, indices.data());
      const gth_tensor_desc u = device::describe_on_device(way.dtype, ids_shape, updates.data());
      gth_options options = GTH_OPTIONS_INIT;
      options.reduction = way.reduction;
      options.has_padding_index = 1;
      options.padding_index = 1 << 20;
      TwoIndices writer{reinterpret_cast<int64_t*>(indices.data()), std::min<int64_t>(way.updates - 1, 300),
                        is_padding ? 1 << 20 : 1 << 30};
      gth_emulation_between(TwoIndices::write, &writer);
      Error error;
      ASSERT_EQ(gth_run(context.get(), way.op, &t, &i, &u, &options, &error), GTH_OK) << error.message;
      gth_emulation_between(nullptr, nullptr);
      const facts::Facts race{GTH_E_RACE, GTH_OPERAND_INDICES};
      context.expect_taken(is_padding ? facts::Facts{GTH_OK} : race, 1, error.sequence);
      const int64_t expected = way.reduction == GTH_REDUCTION_NONE ? 1 : way.updates - 2;
      float found[3];
      device::copy(found, target.data(), 12);
      if (is_integer) {
        int32_t integer;
        std::memcpy(&integer, &found[2], 4);
        found[2] = static_cast<float>(integer);
      }
      EXPECT_EQ(found[0], 0.0f);
      EXPECT_EQ(found[1], 0.0f);
      EXPECT_EQ(found[2], static_cast<float>(expected));
      device::forget_described();
    }
  }
}

// A scatter of float32 to three elements, whose updates all select one of them.
struct Sums {
  Sums(int64_t count, int64_t selected) : row(selected), ids_shape{count} {
    const auto n = static_cast<size_t>(count);
    ids = std::make_unique<Memory>(std::vector<int64_t>(n, row));
    updates = std::make_unique<Memory>(std::vector<float>(n, 1.0f));
  }
  void run(const Context& context) const {
    const gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_FLOAT32, shape, target.data());
    const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, ids_shape, ids->data());
    const gth_tensor_desc u = device::describe_on_device(GTH_DTYPE_FLOAT32, ids_shape, updates->data());
    gth_options options = GTH_OPTIONS_INIT;
    options.reduction = GTH_REDUCTION_ADD;
    Error error;
    EXPECT_EQ(gth_run(context.get(), GTH_OP_SCATTER, &t, &i, &u, &options, &error), GTH_OK) << error.message;
  }
  void expect_sum(int64_t times = 1) const {
    std::vector<float> found(3), expected(3, 0.0f);
    expected[static_cast<size_t>(row)] = static_cast<float>(times * ids_shape[0]);
    device::copy(found.data(), target.data(), 12);
    EXPECT_EQ(found, expected);
  }

  int64_t row;
  Shape shape{3}, ids_shape;
  Memory target{std::vector<float>(3, 0.0f)};
  std::unique_ptr<Memory> ids, updates;
};

// A graph of a scatter is replayed on another stream between two kernels of a scatter of a context. They share no
// memory.
TEST_F(Emulated, AReplayBetweenTheKernelsOfAScatter) {
  struct Moment {
    const Captured* graph;
    CUstream_st* stream;
    bool has_run;
    static void run(void* user) {
      auto* moment = static_cast<Moment*>(user);
      moment->has_run = true;
      moment->graph->launch_on(moment->stream);
    }
  };
  const int64_t few = 40, many = gather::cuda::most_few + 1, is_long = 2 * gather::cuda::least_long;
  for (const int64_t captured : {few, many, is_long}) {
    for (const int64_t running : {few, many, is_long}) {
      int64_t moments = 0;
      for (bool has_run = true; has_run && moments < 100; moments += has_run) {
        const Stream stream, other;
        const Context context(stream.get());
        const Sums inner(captured, 1), outer(running, 2);
        const Captured graph(stream, [&] { inner.run(context); });
        Moment moment{&graph, other.get(), false};
        gth_emulation_before(moments + 1, Moment::run, &moment);
        outer.run(context);
        gth_emulation_before(0, nullptr, nullptr);
        has_run = moment.has_run;
        if (!has_run) graph.launch_on(other.get());
        EXPECT_EQ(gth_emulation_synchronize(other.get()), 0);
        context.expect_no_error();
        inner.expect_sum();
        outer.expect_sum();
      }
      EXPECT_GT(moments, 2);
    }
  }
}

// The same on two threads, because no CUDA call comes between the kernels of few updates.
TEST_F(Emulated, ReplaysBesideAScatterOfFewUpdates) {
  const Stream stream, other;
  const Context context(stream.get());
  const Sums inner(40, 1), outer(40, 2);
  const Captured graph(stream, [&] { inner.run(context); });
  constexpr int64_t calls = 100;
  std::atomic<bool> ends{false};
  int64_t replays = 0;
  std::thread beside([&] {
    for (; !ends; ++replays) {
      graph.launch_on(other.get());
      std::this_thread::yield();
    }
  });
  for (int64_t i = 0; i < calls; ++i) outer.run(context);
  ends = true;
  beside.join();
  EXPECT_EQ(gth_emulation_synchronize(other.get()), 0);
  context.expect_no_error();
  inner.expect_sum(replays);
  outer.expect_sum(calls);
}

// The reverse case: an index is invalid at first and valid when later blocks validate it.
TEST_F(Emulated, RacingWritersWhileBlocksValidate) {
  const Context context;
  Lookup lookup(6, 1024, 40);  // several blocks, each of which validates all indices
  std::vector<int64_t> rows(40, 2);
  rows[0] = 99;
  lookup.pick(rows);
  Writer writer{reinterpret_cast<int64_t*>(lookup.indices.data()), 0, 3};
  gth_emulation_between(write_index, &writer);
  lookup.enqueue(context);
  context.expect_taken({GTH_E_RACE, GTH_OPERAND_INDICES});
}

// In a new output, a row with a race is zeros, and never the previous content of the memory.
TEST_F(Emulated, RacingWritersOfNewOutputs) {
  const Context context;
  Lookup lookup(6, 64, 40);
  lookup.pick(std::vector<int64_t>(40, 2));
  Writer writer{reinterpret_cast<int64_t*>(lookup.indices.data()), 0, 1 << 30};
  gth_emulation_between(write_index, &writer);
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
