#include <atomic>
#include <thread>

#include "device_test.hpp"

// Objects that are released while the device uses them, and after their context.
namespace {

using device::adopt;
using device::Bytes;
using device::Context;
using device::count_end;
using device::Lookup;
using device::Memory;
using device::release_in_use;
using device::Shape;
using device::Stream;

class Lifetimes : public device::DeviceTest {};

TEST_F(Lifetimes, DeletersWaitForTheStream) {
  const Stream stream;
  const Context context(stream.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({0, 1});
  int ended = 0;
  release_in_use(context, stream, lookup, lookup.params_desc(), &ended);
  EXPECT_EQ(ended, 0);
  lookup.enqueue(context);  // a later call, but the stream has not finished
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(device::synchronize(stream.get()), 0);
  EXPECT_EQ(ended, 0) << "no deleter runs in a callback";
  lookup.enqueue(context);
  EXPECT_EQ(ended, 1);
  context.sync();
}

// Memory that was allocated in stream order stays valid after its context is released, for the work of other streams.
TEST_F(Lifetimes, MemoryOfAReleasedContext) {
  const Stream one, two;
  Context first(one.get());
  const Context second(two.get());
  const int64_t shape[] = {2, 4};
  gth_tensor* owned = nullptr;
  ASSERT_EQ(gth_tensor_alloc(first.get(), GTH_DTYPE_INT32, 2, shape, &owned, nullptr), GTH_OK);
  ASSERT_EQ(gth_context_signal(first.get(), two.get(), nullptr), GTH_OK);
  first.release();
  gth_tensor_desc params = GTH_TENSOR_DESC_INIT;
  ASSERT_EQ(gth_tensor_describe(owned, &params, nullptr), GTH_OK);
  Lookup lookup(2, 4, 2);
  lookup.pick({0, 1});
  device::hold(two.get());
  const gth_tensor_desc i = lookup.indices_desc(), o = lookup.out_desc();
  ASSERT_EQ(gth_gather(second.get(), &params, &i, &o, nullptr, nullptr), GTH_OK);
  EXPECT_EQ(gth_tensor_release(owned), GTH_OK);
  second.sync();
  EXPECT_TRUE(lookup.out.get() == Bytes(32, 0)) << "the memory was given back before the other stream had read it";
}

// Objects made with a context that is released wait for the streams of existing contexts.
TEST_F(Lifetimes, DeletersOfAReleasedContext) {
  const Stream one, two;
  Context first(one.get());
  const Context second(two.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({3, 1});
  int ended = 0;
  gth_tensor* adopted = adopt(first, lookup.params_desc(), count_end, &ended);
  first.release();
  device::Captured(two, [&] {
    EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
    EXPECT_EQ(ended, 0) << "who uses the memory cannot be known yet";
  });
  lookup.enqueue(second);
  EXPECT_EQ(ended, 1);
  second.sync();
}

// One thread captures its stream and enqueues calls. Another thread releases tensors of this open context and of a
// closed one. A release must not use a stream that another thread may be capturing.
TEST_F(Lifetimes, AThreadReleasesTensorsWhileAnotherCaptures) {
  const Stream one, two;
  const Context open(one.get());
  Context closed(two.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({3, 1});
  std::atomic<int> ended{0};
  const auto count = [](void* user) { ++*static_cast<std::atomic<int>*>(user); };
  const int64_t shape[] = {100};
  std::vector<gth_tensor*> tensors;
  for (const Context* each : {&open, static_cast<const Context*>(&closed)}) {
    tensors.push_back(adopt(*each, lookup.params_desc(), count, &ended));
    tensors.push_back(nullptr);
    ASSERT_EQ(gth_tensor_alloc(each->get(), GTH_DTYPE_INT8, 1, shape, &tensors.back(), nullptr), GTH_OK);
  }
  lookup.enqueue(open);
  closed.release();
  const device::Captured captured(
      one,
      [&] {
        lookup.enqueue(open);
        std::thread([&] {
          const Stream three;
          const Context beside(three.get());
          for (gth_tensor* each : tensors) EXPECT_EQ(gth_tensor_release(each), GTH_OK);
        }).join();
        lookup.enqueue(open);
        EXPECT_EQ(ended, 0) << "the work of the captured stream was not waited for";
      },
      device::Mode::thread);
  open.sync();
  EXPECT_EQ(ended, 2);
  lookup.clear();
  captured.launch();
  open.expect_no_error();
  lookup.expect_rows({3, 1});
}

// A deleter of a closed context waits for each context that existed at its release and was not idle. It does not wait
// for later ones.
TEST_F(Lifetimes, DeleterWaitsForTheContextsThatExistedAtItsRelease) {
  const Stream one, two, three, four, five;
  Context first(one.get()), second(two.get());
  const Context third(three.get()), idle(four.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({3, 1});
  int ended = 0;
  gth_tensor* adopted = adopt(first, lookup.params_desc(), count_end, &ended);
  lookup.enqueue(idle);
  idle.sync();
  first.release();
  device::hold(three.get());
  lookup.enqueue(second);
  lookup.enqueue(third);
  EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
  const Context later(five.get());
  lookup.enqueue(later);
  EXPECT_EQ(ended, 0);
  second.release();
  EXPECT_EQ(ended, 0);
  lookup.enqueue(third);
  EXPECT_EQ(ended, 0) << "the stream has not finished";
  third.sync();
  EXPECT_EQ(ended, 1);
  later.sync();
}

TEST_F(Lifetimes, AContextWaitsForItsStream) {
  const Stream stream;
  Context context(stream.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({3, 1});
  device::hold(stream.get());
  lookup.enqueue(context);
  context.release();
  lookup.expect_rows({3, 1});
}

// One thread releases tensors while another releases their context and then destroys the stream.
TEST_F(Lifetimes, TensorsAndTheirContextAreReleasedAtTheSameTime) {
  std::atomic<int> ended{0};
  int made = 0;
  const auto count = [](void* user) { ++*static_cast<std::atomic<int>*>(user); };
  for (int i = 0; i < 200; ++i) {
    CUstream_st* stream = device::make_stream();
    Context context(stream);
    const Memory memory(8);
    const Shape shape{8};
    const gth_tensor_desc desc = device::describe_on_device(GTH_DTYPE_INT8, shape, memory.data());
    std::vector<gth_tensor*> tensors;
    for (; tensors.size() < 8; ++made) tensors.push_back(adopt(context, desc, count, &ended));
    gth_tensor* owned = nullptr;
    ASSERT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, shape.data(), &owned, nullptr), GTH_OK);
    std::thread other([&] {
      for (gth_tensor* each : tensors) EXPECT_EQ(gth_tensor_release(each), GTH_OK);
      EXPECT_EQ(gth_tensor_release(owned), GTH_OK);
    });
    context.release();
    device::destroy(stream);
    other.join();
  }
  EXPECT_EQ(ended, made);
}

}  // namespace
