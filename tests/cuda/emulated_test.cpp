#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "emulated.hpp"

// Deferred work, threads and processes, and the device calls of a call.
namespace {

using device::Bytes;
using device::Captured;
using device::Context;
using device::Emulated;
using device::Error;
using device::Lookup;
using device::Memory;
using device::Shape;
using device::Stream;
using device::Tensor;

// Data is read when the stream reaches the work, not when the call returns.
TEST_F(Emulated, CallsReturnBeforeTheirWorkIsDone) {
  const Stream stream;
  const Context context(stream.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({0, 0});
  gth_emulation_hold(stream.get());
  const int64_t launches = gth_emulation_launches();
  lookup.enqueue(context);
  EXPECT_EQ(gth_emulation_launches(), launches);
  lookup.expect_unchanged();
  lookup.pick({5, 3});
  context.expect_no_error();
  lookup.expect_rows({5, 3});
}

TEST_F(Emulated, StreamsOfAnotherDevice) {
  const Stream stream;
  const Context context(stream.get());
  CUstream_st* far = gth_emulation_make_stream(1);
  Error error;
  EXPECT_EQ(gth_context_wait(context.get(), far, &error), GTH_OK) << error.message;
  EXPECT_EQ(gth_context_signal(context.get(), far, &error), GTH_OK) << error.message;
  gth_emulation_destroy_stream(far);
}

// The legacy stream cannot be used during the capture of a stream that it is ordered with. A query does not invalidate
// the capture.
TEST_F(Emulated, CapturesBesideTheLegacyStream) {
  const Stream stream;
  gth_emulation_block(stream.get());
  const Context context;
  Lookup lookup(6, 4, 3);
  const int64_t three = 3;
  gth_tensor *early = nullptr, *late = nullptr;
  ASSERT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, &three, &early, nullptr), GTH_OK);
  Error error;
  const Captured captured(stream, [&] {
    EXPECT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, &three, &late, &error), GTH_E_CAPTURE);
    EXPECT_EQ(lookup.call(context, &error), GTH_E_CAPTURE);
    EXPECT_EQ(gth_context_sync(context.get(), &error), GTH_E_CAPTURE);
    EXPECT_EQ(gth_context_wait(context.get(), stream.get(), &error), GTH_E_CAPTURE);
    EXPECT_EQ(gth_context_signal(context.get(), stream.get(), &error), GTH_E_CAPTURE);
    EXPECT_EQ(gth_tensor_release(early), GTH_OK);
  });
}

// Pageable memory cannot be copied during a capture, except for copies of zero bytes.
TEST_F(Emulated, CopiesOfZeroBytesUnderCapture) {
  const Stream stream;
  const Context context(stream.get());
  const Memory memory(8);
  Bytes host(8);
  const Shape none{2, 0}, two{2};
  for (const bool is_empty : {true, false}) {
    const Shape& shape = is_empty ? none : two;
    const gth_tensor_desc far = device::describe_on_device(GTH_DTYPE_INT32, shape, memory.data());
    gth_tensor_desc near = far;
    near.device = GTH_DEVICE_CPU;
    near.data = host.data();
    gth_tensor *from = nullptr, *to = nullptr;
    ASSERT_EQ(gth_tensor_borrow(&near, &from, nullptr), GTH_OK);
    ASSERT_EQ(gth_tensor_borrow(&far, &to, nullptr), GTH_OK);
    const Captured captured(stream, [&] {
      Error error;
      EXPECT_EQ(calls::copy(context.get(), from, to, &error), is_empty ? GTH_OK : GTH_E_CAPTURE) << error.message;
    });
    for (gth_tensor* each : {from, to}) EXPECT_EQ(gth_tensor_release(each), GTH_OK);
  }
}

TEST_F(Emulated, BlocksInAnyOrderGiveTheSameResult) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    gth_emulation_shuffle(seed);
    const Context context;
    for (const int64_t picks : {100, 20'000}) {
      Lookup lookup(6, 32, picks);
      std::vector<int64_t> rows;
      for (int64_t i = 0; i < picks; ++i) rows.push_back((i * seed) % 6);
      lookup.pick(rows);
      lookup.enqueue(context);
      context.expect_no_error();
      lookup.expect_rows(rows);
      rows[static_cast<size_t>(picks - 3)] = -1;
      rows[static_cast<size_t>(picks / 2)] = 100 + seed;
      lookup.pick(rows);
      lookup.clear();
      lookup.enqueue(context);
      context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, picks / 2, 100 + seed, 6});
      lookup.expect_unchanged();
    }
  }
}

// Small calls launch one kernel, large ones two. No memory is allocated.
TEST_F(Emulated, LaunchesOfACall) {
  const Context context;
  const struct {
    int64_t picks;
    int64_t launches;
  } cases[] = {{0, 0}, {1, 1}, {device::most_inside, 1}, {device::in_front, 2}, {100'000, 2}};
  for (const auto& each : cases) {
    Lookup lookup(6, 4, each.picks);
    lookup.pick(std::vector<int64_t>(static_cast<size_t>(each.picks), 1));
    const int64_t launches = gth_emulation_launches(), allocations = gth_emulation_live_allocations();
    lookup.enqueue(context);
    EXPECT_EQ(gth_emulation_launches() - launches, each.launches) << each.picks;
    EXPECT_EQ(gth_emulation_live_allocations(), allocations);
    const gth_options clamp = device::with_bounds(GTH_BOUNDS_CLAMP);
    const int64_t before = gth_emulation_launches();
    lookup.enqueue(context, &clamp);
    EXPECT_EQ(gth_emulation_launches() - before, each.picks ? 1 : 0);
  }
}

// In a held stream, the copying kernel starts before the validating kernel. It stores nothing until it has waited.
TEST_F(Emulated, CopyingKernelWaitsForValidatingKernel) {
  for (const int64_t bad : {int64_t{-1}, int64_t{5}, device::in_front - 1}) {
    const Stream stream;
    const Context context(stream.get());
    Lookup lookup(6, 64, device::in_front);
    std::vector<int64_t> rows(device::in_front, 2);
    if (bad >= 0) rows[static_cast<size_t>(bad)] = 6;
    lookup.pick(rows);
    const int64_t overlaps = gth_emulation_overlaps();
    gth_emulation_hold(stream.get());
    lookup.enqueue(context);
    EXPECT_EQ(gth_emulation_overlaps(), overlaps + 1);
    if (bad < 0) {
      context.expect_no_error();
      lookup.expect_rows(rows);
    } else {
      context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, bad, 6, 6});
      lookup.expect_unchanged();
    }
  }
}

TEST_F(Emulated, CurrentDeviceIsRestored) {
  for (const int32_t device : {-1, 0, 1}) {
    gth_emulation_set_current(device);
    const Context context;
    Lookup lookup(6, 4, 2);
    lookup.pick({1, 9});
    lookup.enqueue(context);
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 9, 6});
    context.sync();
    {
      Tensor made;
      lookup.enqueue_new(context, made.out());
      EXPECT_EQ(gth_emulation_current(), device);
      Bytes host(32);
      gth_tensor_desc h = lookup.out_desc();
      h.device = GTH_DEVICE_CPU;
      h.data = host.data();
      const Tensor on_host(h);
      EXPECT_EQ(calls::copy(context.get(), made.get(), on_host.get(), nullptr), GTH_OK);
    }
    EXPECT_EQ(gth_emulation_current(), device);
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 9, 6});
  }
  gth_emulation_set_current(-1);
}

TEST_F(Emulated, Capabilities) {
  gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
  ASSERT_EQ(gth_capabilities(&info, nullptr), GTH_OK);
  EXPECT_EQ(info.cuda_runtime, 13000);
  EXPECT_EQ(info.cuda_driver, 13000);
  EXPECT_EQ(info.device_count, 2);
  EXPECT_EQ(info.device_compute[0], 90);
  EXPECT_EQ(info.device_memory[1], int64_t{1} << 40);
}

// CUDA calls take most of the host time of a call. The library makes the device current. It queries the device of three
// tensors if there are several devices, and whether the stream is captured. Then it launches.
TEST_F(Emulated, CallMakesFewCudaCalls) {
  const Stream stream;
  const Context context(stream.get());
  const struct {
    int64_t picks, launches;
  } cases[] = {{100, 1}, {device::in_front, 2}};
  for (const auto& each : cases) {
    Lookup lookup(6, 4, each.picks);
    lookup.pick(std::vector<int64_t>(static_cast<size_t>(each.picks), 5));
    gth_emulation_fail(0, 0);  // counts from here
    lookup.enqueue(context);
    EXPECT_EQ(gth_emulation_calls(), 5 + each.launches);
  }
}

// Params beyond 2^32 bytes, of which few pages exist. Offsets need 64 bits.
TEST_F(Emulated, RowsBeyondTwoToThe32Bytes) {
  const Context context;
  const int64_t rows = (int64_t{1} << 33) + 5;
  Lookup lookup(2, 2, 3);
  Error error;
  lookup.pick({0, rows - 1, int64_t{1} << 32});
  const int64_t shape[] = {rows, 2}, strides[] = {0, 4};
  gth_tensor_desc p = lookup.params_desc();
  p.shape = shape;
  p.strides = strides;
  const gth_tensor_desc i = lookup.indices_desc(), o = lookup.out_desc();
  ASSERT_EQ(gth_gather(context.get(), &p, &i, &o, nullptr, &error), GTH_OK) << error.message;
  context.expect_no_error();
  lookup.expect_rows({0, 0, 0});
  lookup.pick({0, rows, 1});
  ASSERT_EQ(gth_gather(context.get(), &p, &i, &o, nullptr, &error), GTH_OK) << error.message;
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, rows, rows});
}

}  // namespace
