#include "device_test.hpp"

// Calls in CUDA graphs. They are captured once, and every replay must be correct.
namespace {

using device::Captured;
using device::Context;
using device::Error;
using device::Lookup;
using device::Memory;
using device::Stream;
using device::Tensor;

class Graphs : public device::DeviceTest {};

// Returns valid indices, or indices with an invalid one, depending on the number of the replay.
std::vector<int64_t> rows_of(int64_t replay, int64_t picks, int64_t rows) {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < picks; ++i) result.push_back((replay * 31 + i * 7) % rows);
  if (replay % 3 == 1) result[static_cast<size_t>(replay * 13 % picks)] = rows + replay;
  return result;
}

void replay_thousand(int64_t picks) {
  const Stream stream;
  Lookup lookup(11, 5, picks);
  const Context context(stream.get());
  int64_t sequence = 0;
  const Captured captured(stream, [&] { sequence = lookup.enqueue(context); });  // the first call of the context
  context.expect_no_error();
  for (int64_t replay = 0; replay < 1000; ++replay) {
    const std::vector<int64_t> rows = rows_of(replay, picks, 11);
    lookup.pick(rows);
    lookup.clear();
    captured.launch();
    if (replay % 3 == 1) {
      const int64_t bad = replay * 13 % picks;
      context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, bad, 11 + replay, 11}, 1, sequence);
      lookup.expect_unchanged();
    } else {
      context.expect_no_error();
      lookup.expect_rows(rows);
    }
    if (testing::Test::HasFailure()) break;
  }
}

TEST_F(Graphs, ThousandReplaysValidatedInside) { replay_thousand(64); }
TEST_F(Graphs, ThousandReplaysValidatedInFront) { replay_thousand(device::in_front); }

TEST_F(Graphs, BadReplaysAreCountedAndDoNotStopGoodOnes) {
  for (const int64_t picks : {int64_t{10}, device::in_front}) {
    const Stream stream;
    const Context context(stream.get());
    Lookup lookup(6, 4, picks);
    const Captured captured(stream, [&] { lookup.enqueue(context); });
    std::vector<int64_t> rows(static_cast<size_t>(picks), 3);
    for (int64_t bad = 0; bad < 5; ++bad) {
      rows[static_cast<size_t>(bad)] = 60 + bad;
      lookup.pick(rows);
      captured.launch();
      EXPECT_EQ(device::synchronize(stream.get()), 0);
      rows[static_cast<size_t>(bad)] = 3;
    }
    lookup.expect_unchanged();
    lookup.pick(rows);
    captured.launch();
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 0, 60, 6}, 5);
    lookup.expect_rows(rows);
  }
}

TEST_F(Graphs, TheGraphTakesItsOwnErrors) {
  const Stream stream;
  const Context context(stream.get());
  auto* record = static_cast<gth_error_record*>(device::allocate_host(sizeof(gth_error_record)));
  device::describe(record, sizeof(gth_error_record));
  Lookup lookup(6, 4, 3);
  Error error;
  const Captured captured(stream, [&] {
    lookup.enqueue(context);
    EXPECT_EQ(gth_context_enqueue_take_error(context.get(), record, &error), GTH_OK) << error.message;
  });
  for (int64_t replay = 0; replay < 6; ++replay) {
    const bool good = replay % 2 == 0;
    lookup.pick({1, 2, good ? 3 : -7});
    captured.launch();
    EXPECT_EQ(device::synchronize(stream.get()), 0);
    EXPECT_EQ(record->count, good ? 0u : 1u);
    if (!good) {
      EXPECT_EQ(record->value, -7);
    }
    context.expect_no_error();
  }
  device::deallocate_host(record);
}

// A replay is not a call of the context and may run on any stream. Its failure is still reported.
TEST_F(Graphs, FailedReplayOnAnotherStreamIsReported) {
  const Stream stream, other;
  const Context context(stream.get());
  Lookup lookup(6, 4, 3);
  int64_t sequence = 0;
  const Captured captured(stream, [&] { sequence = lookup.enqueue(context); });
  context.sync();
  context.expect_no_error();
  lookup.pick({1, 2, 9});
  for (int replay = 0; replay < 2; ++replay) {
    device::hold(other.get());
    captured.launch_on(other.get());
    ASSERT_EQ(gth_context_wait(context.get(), other.get(), nullptr), GTH_OK);
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, 9, 6}, 1, sequence);
  }
  lookup.expect_unchanged();
}

// Calls that wait or allocate are rejected during a capture, and do not invalidate it.
TEST_F(Graphs, RefusedUnderCapture) {
  const Stream stream;
  const Context context(stream.get());
  Lookup lookup(6, 4, 3);
  lookup.pick({1, 2, 3});
  int64_t values[3];
  const int64_t three = 3;
  const gth_tensor_desc h = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &three, values);
  const Tensor params(lookup.params_desc()), indices(lookup.indices_desc()), host(h);
  gth_tensor* out = nullptr;
  Error error;
  const Captured captured(stream, [&] {
    lookup.enqueue(context);
    EXPECT_EQ(device::make_gather(context.get(), params.get(), indices.get(), nullptr, &out, &error), GTH_E_CAPTURE);
    EXPECT_EQ(out, nullptr);
    EXPECT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, &three, &out, &error), GTH_E_CAPTURE);
    EXPECT_EQ(calls::copy(context.get(), indices.get(), host.get(), &error), GTH_E_CAPTURE);
    EXPECT_EQ(gth_context_sync(context.get(), &error), GTH_E_CAPTURE);
    EXPECT_EQ(gth_context_take_error(context.get(), &error), GTH_E_CAPTURE);
  });
  lookup.clear();
  captured.launch();
  context.expect_no_error();
  lookup.expect_rows({1, 2, 3});
}

// A capture includes streams that wait for it, until they join again.
TEST_F(Graphs, StreamJoinsTheCaptureOfAStreamThatItWaitsFor) {
  const Stream origin, side;
  const Context context(side.get());
  Lookup lookup(6, 4, 3);
  lookup.pick({1, 2, 3});
  Error error;
  const Captured captured(origin, [&] {
    EXPECT_EQ(gth_context_wait(context.get(), origin.get(), &error), GTH_OK) << error.message;
    lookup.enqueue(context);
    EXPECT_EQ(gth_context_signal(context.get(), origin.get(), &error), GTH_OK) << error.message;
  });
  lookup.expect_unchanged();
  captured.launch();
  EXPECT_EQ(device::synchronize(origin.get()), 0);
  lookup.expect_rows({1, 2, 3});
  context.expect_no_error();
}

// Calls that cannot be captured are rejected, and do not invalidate any capture.
TEST_F(Graphs, WaitAndSignalAcrossCapturesAreRejected) {
  const Stream captured, free, other;
  const Context context(captured.get());
  Error error;
  const Captured whole(captured, [&] {
    EXPECT_EQ(gth_context_wait(context.get(), free.get(), &error), GTH_E_CAPTURE);
    EXPECT_EQ(gth_context_signal(context.get(), nullptr, &error), GTH_E_CAPTURE);
    const Captured inside(other, [&] {
      EXPECT_EQ(gth_context_wait(context.get(), other.get(), &error), GTH_E_CAPTURE);
      EXPECT_EQ(gth_context_signal(context.get(), other.get(), &error), GTH_E_CAPTURE);
    });
  });
}

// Memory that is released while its stream is captured is freed after the capture.
TEST_F(Graphs, ReleasedUnderCapture) {
  const Stream stream;
  const Context context(stream.get());
  const int64_t four = 4;
  gth_tensor* owned = nullptr;
  ASSERT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, &four, &owned, nullptr), GTH_OK);
  int ended = 0;
  const Memory memory(4);
  const gth_tensor_desc desc = device::describe_on_device(GTH_DTYPE_INT8, device::Shape{4}, memory.data());
  const device::Shape shape{4};
  gth_tensor_desc described = desc;
  described.shape = shape.data();
  gth_tensor* adopted = nullptr;
  ASSERT_EQ(gth_tensor_adopt(
                context.get(), &described, [](void* user) { ++*static_cast<int*>(user); }, &ended, &adopted, nullptr),
            GTH_OK);
  Captured(stream, [&] {
    EXPECT_EQ(gth_tensor_release(owned), GTH_OK);
    EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
    EXPECT_EQ(ended, 0);
  });
  context.sync();  // records the events that the capture prevented
  context.sync();
  EXPECT_EQ(ended, 1);
}

}  // namespace
