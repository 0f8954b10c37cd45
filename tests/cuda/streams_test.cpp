#include <thread>

#include "device_test.hpp"

// Several streams, contexts and threads.
namespace {

using device::Context;
using device::Error;
using device::Lookup;
using device::Stream;

class Streams : public device::DeviceTest {};

TEST_F(Streams, StreamsWithFixedHandles) {
  for (const uintptr_t number : {0, 1, 2}) {
    auto* stream = reinterpret_cast<CUstream_st*>(number);
    const Context context(stream);
    Lookup lookup(4, 2, 2);
    lookup.pick({3, 1});
    lookup.enqueue(context);
    context.expect_no_error();
    lookup.expect_rows({3, 1});
  }
}

// Two contexts on two streams have their own records and their own sequence numbers.
TEST_F(Streams, ContextsDoNotMixErrors) {
  const Stream one, two;
  const Context first(one.get()), second(two.get());
  Lookup good(6, 3, device::in_front), bad(6, 3, device::in_front);
  std::vector<int64_t> rows(device::in_front, 4);
  good.pick(rows);
  rows[1987] = 6;
  bad.pick(rows);
  for (int i = 1; i <= 20; ++i) {
    EXPECT_EQ(good.enqueue(first), i);
    EXPECT_EQ(bad.enqueue(second), i);
  }
  second.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1987, 6, 6}, 20, 1);
  first.expect_no_error();
  good.expect_rows(std::vector<int64_t>(device::in_front, 4));
  bad.expect_unchanged();
}

TEST_F(Streams, WaitAndSignalOrderTwoStreams) {
  const Stream one, two;
  const Context first(one.get()), second(two.get());
  Lookup lookup(6, 3, 4);
  lookup.pick({1, 2, 3, 4});
  Error error;
  lookup.enqueue(first);
  ASSERT_EQ(gth_context_signal(first.get(), two.get(), &error), GTH_OK) << error.message;
  lookup.pick({1, 2, 3, 4});
  lookup.enqueue(second);
  ASSERT_EQ(gth_context_wait(first.get(), two.get(), &error), GTH_OK) << error.message;
  lookup.enqueue(first);
  first.expect_no_error();
  lookup.expect_rows({1, 2, 3, 4});
  EXPECT_EQ(gth_context_wait(nullptr, two.get(), &error), GTH_E_DEVICE);
}

TEST_F(Streams, CallsDoNotChangeTheCurrentDevice) {
  const int before = device::current();
  const Stream stream;
  const Context context(stream.get());
  EXPECT_EQ(device::current(), before);
  Lookup lookup(6, 3, 4);
  lookup.pick({1, 2, 3, 9});
  lookup.enqueue(context);
  EXPECT_EQ(device::current(), before);
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 3, 9, 6});
  EXPECT_EQ(device::current(), before);
}

// A thread without a current device still has none afterwards.
TEST_F(Streams, CallsMakeNoDeviceCurrentOnAThreadWithoutOne) {
  const Stream stream;
  Lookup lookup(6, 3, 4);
  lookup.pick({1, 2, 3, 4});
  for (CUstream_st* each : {stream.get(), static_cast<CUstream_st*>(nullptr)}) {
    std::thread thread([&] {
      EXPECT_FALSE(device::is_entered());
      const Context context(each);
      EXPECT_FALSE(device::is_entered()) << "gth_context_create";
      gth_tensor* made = nullptr;
      lookup.enqueue_new(context, &made);
      EXPECT_FALSE(device::is_entered()) << "gth_gather";
      lookup.enqueue(context);
      EXPECT_EQ(gth_context_wait(context.get(), stream.get(), nullptr), GTH_OK);
      EXPECT_EQ(gth_tensor_release(made), GTH_OK);
      context.expect_no_error();
      EXPECT_FALSE(device::is_entered());
    });
    thread.join();
  }
  lookup.expect_rows({1, 2, 3, 4});
}

TEST_F(Streams, ThreadsShareAContext) {
  const Stream stream;
  const Context context(stream.get());
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&context, t] {
      Lookup lookup(100, 16, 1000);
      std::vector<int64_t> rows;
      for (int64_t i = 0; i < 1000; ++i) rows.push_back((i * 7 + t) % 100);
      lookup.pick(rows);
      for (int i = 0; i < 200; ++i) lookup.enqueue(context);
      context.sync();
      lookup.expect_rows(rows);
    });
  }
  for (std::thread& thread : threads) thread.join();
  context.expect_no_error();
}

// The kernels of two threads' calls must not share the state of one call.
TEST_F(Streams, ThreadsShareAContextAndItsState) {
  const Context context;
  const int64_t picks = device::in_front;
  std::vector<int64_t> rows(static_cast<size_t>(picks), 2), bad_rows = rows;
  bad_rows[7] = 99;
  Lookup good(6, 4, picks), bad(6, 4, picks), small(6, 4, 3);
  good.pick(rows);
  bad.pick(bad_rows);
  small.pick({1, 2, 3});
  const int calls = 300;
  std::thread fails([&] {
    for (int i = 0; i < calls; ++i) bad.enqueue(context);
  });
  std::thread is_small([&] {
    for (int i = 0; i < calls; ++i) small.enqueue(context);
  });
  for (int i = 0; i < calls; ++i) {
    good.clear();
    good.enqueue(context);
    good.expect_rows(rows);
  }
  fails.join();
  is_small.join();
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 7, 99, 6}, calls);
  bad.expect_unchanged();
}

TEST_F(Streams, StreamsWaitForEachOther) {
  const Stream one, two;
  const Context first(one.get()), second(two.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({0, 0});
  device::hold(one.get());
  lookup.enqueue(first);
  ASSERT_EQ(gth_context_wait(second.get(), one.get(), nullptr), GTH_OK);
  lookup.expect_rows({0, 0});  // the second stream was not held, so the work that it waits for is complete
}

// Calls, waits and takes of other threads are ordered with the per-thread stream of the thread that created the
// context.
TEST_F(Streams, OtherThreadsFollowTheStreamPerThread) {
  auto* per_thread = reinterpret_cast<CUstream_st*>(uintptr_t{2});
  const Context context(per_thread);
  Lookup first(6, 4, 2), second(2, 4, 2), bad(6, 4, 2);
  first.pick({4, 1});
  second.pick({1, 0});
  bad.pick({0, 6});
  device::hold(per_thread);
  first.enqueue(context);
  bad.enqueue(context);
  std::thread([&] {
    gth_tensor_desc table = first.out_desc();
    const gth_tensor_desc i = second.indices_desc(), o = second.out_desc();
    Error error;
    EXPECT_EQ(gth_gather(context.get(), &table, &i, &o, nullptr, &error), GTH_OK) << error.message;
    context.sync();
    second.expect_rows({1, 4});
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 6, 6});
  }).join();
  first.clear();
  first.enqueue(context);
  context.sync();
  first.expect_rows({4, 1});
}

}  // namespace
