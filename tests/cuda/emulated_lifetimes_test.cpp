#include <atomic>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "emulated.hpp"

// Objects that are released while the device uses them, during a capture, or after their context. These tests need CUDA
// calls that fail or are counted, or two devices.
namespace {

using device::adopt;
using device::Bytes;
using device::Captured;
using device::Context;
using device::count_end;
using device::Emulated;
using device::Error;
using device::Lookup;
using device::LosesWorkspace;
using device::Memory;
using device::release_in_use;
using device::Shape;
using device::Stream;

// After a sync or a take, a stream may be destroyed before its context. Later releases must not use the stream.
TEST_F(Emulated, StreamMayBeDestroyedAfterASync) {
  for (const bool takes : {false, true}) {
    CUstream_st* const stream = device::make_stream();
    const Stream other;
    Context context(stream), beside(other.get());
    Lookup lookup(6, 4, 2);
    lookup.pick({0, 1});
    lookup.enqueue(context);
    const int64_t shape = 16;
    gth_tensor* owned = nullptr;
    ASSERT_EQ(gth_tensor_alloc(beside.get(), GTH_DTYPE_INT8, 1, &shape, &owned, nullptr), GTH_OK);
    int ended = 0;
    gth_tensor* adopted = adopt(beside, lookup.params_desc(), count_end, &ended);
    takes ? context.expect_no_error() : context.sync();
    device::destroy(stream);
    beside.release();
    EXPECT_EQ(gth_tensor_release(owned), GTH_OK);
    EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
    EXPECT_EQ(ended, 1);
    context.release();
    EXPECT_EQ(gth_shutdown(), GTH_OK);
  }
}

// After further work, closing a context waits for the stream again.
TEST_F(Emulated, AContextThatWasUsedAfterASyncIsWaitedFor) {
  const Stream stream;
  Context context(stream.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({3, 1});
  context.sync();
  gth_emulation_hold(stream.get());
  lookup.enqueue(context);
  lookup.expect_unchanged();
  context.release();
  lookup.expect_rows({3, 1});
}

// Pinned and managed memory is also accessed in stream order.
TEST_F(Emulated, DeletersOfPinnedMemoryWaitForTheStream) {
  for (const int32_t kind : {GTH_DEVICE_CUDA_HOST, GTH_DEVICE_CUDA_MANAGED}) {
    const Stream stream;
    const Context context(stream.get());
    Lookup lookup(6, 4, 2);
    lookup.pick({0, 1});
    int ended = 0;
    gth_tensor_desc desc = lookup.params_desc();
    desc.device = kind;
    release_in_use(context, stream, lookup, desc, &ended);
    EXPECT_EQ(ended, 0) << kind;
    context.sync();
    EXPECT_EQ(ended, 1) << kind;
  }
}

// A deleter may call functions that are forbidden during a capture, and may change the current device. So it does not
// run while the context's stream is captured. It must not invalidate other captures, and must not affect the call that
// runs it.
TEST_F(Emulated, DeletersDoNotAffectCapturesAndCalls) {
  const Stream stream, other;
  const Context context(stream.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({0, 1});
  void* memory = gth_emulation_allocate(8);
  const Shape shape{8};
  const auto free_on_another_device = [](void* user) {
    gth_emulation_set_current(1);
    gth_emulation_free(*static_cast<void**>(user));
    *static_cast<void**>(user) = nullptr;
  };
  gth_tensor* adopted =
      adopt(context, device::describe_on_device(GTH_DTYPE_INT8, shape, memory), free_on_another_device, &memory);
  EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
  Captured(stream, [&] {
    lookup.enqueue(context);
    EXPECT_NE(memory, nullptr) << "a deleter ran while its stream was captured";
  });
  gth_emulation_set_current(0);
  Captured(other, [&] {
    lookup.enqueue(context);
    EXPECT_EQ(memory, nullptr);
    EXPECT_EQ(gth_emulation_current(), 0);
  });
  context.expect_no_error();
  lookup.expect_rows({0, 1});
}

// If a capture prevents the query of an event, the event counts as not completed.
TEST_F(Emulated, DeletersWaitIfAnEventCannotBeQueried) {
  for (int64_t n = 1; n < 8; ++n) {
    const Stream stream;
    const Context context(stream.get());
    Lookup lookup(6, 4, 2);
    lookup.pick({0, 1});
    int ended = 0;
    release_in_use(context, stream, lookup, lookup.params_desc(), &ended);
    gth_emulation_fail(n, 900);
    lookup.call(context, nullptr);
    gth_emulation_fail(0, 0);
    EXPECT_EQ(ended, 0) << n;
    context.sync();
    context.sync();
    EXPECT_EQ(ended, 1) << n;
  }
}

// A released context waits for its stream and runs its deleters, even if any CUDA call fails.
TEST_F(Emulated, FailuresWhileAContextIsReleased) {
  for (int64_t n = 1; n < 12; ++n) {
    const Stream stream;
    Context context(stream.get());
    Lookup lookup(6, 4, 2);
    lookup.pick({0, 1});
    int ended = 0;
    release_in_use(context, stream, lookup, lookup.params_desc(), &ended);
    gth_emulation_fail(n, 4);
    context.release();
    gth_emulation_fail(0, 0);
    EXPECT_EQ(ended, 1) << n;
  }
}

// A context and later releases wait for its own stream only. Waiting for the whole device would invalidate captures of
// others and wait for their work.
TEST_F(Emulated, ReleasedContextDoesNotInvalidateOtherCaptures) {
  const Stream stream, other;
  Context context(stream.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({0, 1});
  int ended = 0;
  gth_tensor* early = adopt(context, lookup.params_desc(), count_end, &ended);
  gth_tensor* late = adopt(context, lookup.params_desc(), count_end, &ended);
  gth_tensor* last = adopt(context, lookup.params_desc(), count_end, &ended);
  gth_emulation_hold(stream.get());
  lookup.enqueue(context);
  EXPECT_EQ(gth_tensor_release(early), GTH_OK);
  Captured(other, [&] {
    context.release();
    EXPECT_EQ(ended, 1);
    lookup.expect_rows({0, 1});
    EXPECT_EQ(gth_tensor_release(late), GTH_OK);
    EXPECT_EQ(ended, 2) << "the capture of a stream that had nothing to do with it was waited for";
  });
  EXPECT_EQ(gth_tensor_release(last), GTH_OK);
  EXPECT_EQ(ended, 3);
}

TEST_F(Emulated, ReleasedContextWaitsForItsOwnStreamOnly) {
  const LosesWorkspace loses;
  const Stream stream, far;
  Context context(stream.get());
  Lookup lookup(6, 4, 2), of_others(6, 4, 2);
  of_others.pick({5, 5});
  gth_tensor* owned = nullptr;
  const int64_t shape = 16;
  ASSERT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, &shape, &owned, nullptr), GTH_OK);
  int ended = 0;
  gth_tensor* adopted = adopt(context, lookup.params_desc(), count_end, &ended);
  const Captured captured(far, [&] {
    const Context other(far.get());
    of_others.enqueue(other);
  });
  gth_emulation_hold(far.get());
  captured.launch();
  context.release();
  EXPECT_EQ(gth_tensor_release(owned), GTH_OK);
  EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
  EXPECT_EQ(ended, 1);
  of_others.expect_unchanged();
  EXPECT_EQ(gth_emulation_synchronize(far.get()), 0);
  of_others.expect_rows({5, 5});
}

// The legacy stream cannot be waited for during the capture of a stream that it is ordered with.
TEST_F(Emulated, ReleasedContextOfTheLegacyStreamDoesNotInvalidateCaptures) {
  const LosesWorkspace loses;
  const Stream stream;
  gth_emulation_block(stream.get());
  Context context;
  Lookup lookup(6, 4, 2);
  lookup.pick({3, 1});
  int ended = 0;
  gth_tensor* adopted = adopt(context, lookup.params_desc(), count_end, &ended);
  lookup.enqueue(context);
  EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
  Captured(stream, [&] {
    context.release();
    EXPECT_EQ(ended, 0);
  });
  const Context other(stream.get());
  EXPECT_EQ(ended, 1);
}

// A graph keeps the memory of the context that its calls write.
TEST_F(Emulated, AGraphOutlivesItsContext) {
  const Stream stream, other;
  const Context beside(other.get());
  Lookup lookup(6, 4, device::in_front);
  const int64_t allocations = gth_emulation_live_allocations();
  Context context(stream.get());
  {
    const Captured captured(stream, [&] {
      lookup.enqueue(context);
      lookup.enqueue(context);
    });
    context.release();
    EXPECT_GT(gth_emulation_live_allocations(), allocations);
    std::vector<int64_t> rows(device::in_front, 5);
    lookup.pick(rows);
    captured.launch_on(other.get());
    lookup.expect_rows(rows);
  }
  beside.sync();
  lookup.enqueue(beside);
  EXPECT_EQ(gth_emulation_live_allocations(), allocations);
}

// A replay on another stream starts at any moment during the release of its context. The graph may be destroyed at
// once.
TEST_F(Emulated, ReplayAtAnyMomentOfTheReleaseOfItsContext) {
  struct Replay {
    device::Graph graph;
    CUstream_st* stream;
    bool destroys, has_run = false;

    static void run(void* user) {
      auto* self = static_cast<Replay*>(user);
      self->has_run = true;
      std::thread([self] {
        device::launch(self->graph, self->stream);
        if (self->destroys) device::destroy_graph(self->graph);
      }).join();
    }
  };
  const std::vector<int64_t> rows(device::in_front, 5);
  for (const bool destroys : {false, true}) {
    int64_t moments = 0;
    for (bool has_run = true; has_run; moments += has_run) {
      const Stream stream, other;
      const Context beside(other.get());
      Context context(stream.get());
      Lookup lookup(6, 4, device::in_front);
      lookup.pick(rows);
      const int64_t allocations = gth_emulation_live_allocations();
      device::begin_capture(stream.get());
      lookup.enqueue(context);
      Replay replay{device::end_capture(stream.get()), other.get(), destroys};
      ASSERT_NE(replay.graph, nullptr);
      gth_emulation_before(moments + 1, Replay::run, &replay);
      context.release();
      gth_emulation_before(0, nullptr, nullptr);
      has_run = replay.has_run;
      if (!has_run) Replay::run(&replay);
      EXPECT_EQ(gth_emulation_synchronize(other.get()), 0);
      lookup.expect_rows(rows);
      if (!destroys) device::destroy_graph(replay.graph);
      beside.sync();
      lookup.enqueue(beside);
      EXPECT_EQ(gth_emulation_live_allocations(), allocations - 1) << "call " << moments + 1;
    }
    EXPECT_GT(moments, 1);
  }
}

// Memory of another device is rejected before a kernel accesses it. The device of a tensor can be queried.
TEST_F(Emulated, MemoryOfAnotherDevice) {
  const Context context;
  Lookup lookup(6, 4, 3);
  lookup.pick({1, 2, 3});
  void* far = gth_emulation_allocate_on(1, 96);
  const struct {
    int32_t operand;
    const char* name;
  } cases[] = {{GTH_OPERAND_PARAMS, "params"}, {GTH_OPERAND_INDICES, "indices"}, {GTH_OPERAND_OUT, "out"}};
  const int64_t launches = gth_emulation_launches();
  for (const auto& each : cases) {
    gth_tensor_desc p = lookup.params_desc(), i = lookup.indices_desc(), o = lookup.out_desc();
    (each.operand == GTH_OPERAND_PARAMS ? p : each.operand == GTH_OPERAND_INDICES ? i : o).data = far;
    Error error;
    const int32_t status = gth_gather(context.get(), &p, &i, &o, nullptr, &error);
    facts::expect_fields(status, error, {GTH_E_DEVICE, each.operand, -1, -1, 1, 0});
    EXPECT_EQ(std::strncmp(error.message, each.name, std::strlen(each.name)), 0) << error.message;
  }
  EXPECT_EQ(gth_emulation_launches(), launches);
  for (const void* data : {static_cast<const void*>(far), static_cast<const void*>(lookup.params.data())}) {
    gth_tensor_desc desc = lookup.params_desc();
    desc.data = data;
    desc.device_id = -1;
    gth_tensor* tensor = nullptr;
    ASSERT_EQ(gth_tensor_borrow(&desc, &tensor, nullptr), GTH_OK);
    ASSERT_EQ(gth_tensor_describe(tensor, &desc, nullptr), GTH_OK);
    EXPECT_EQ(desc.device_id, data == far ? 1 : 0);
    EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
  }
  gth_emulation_free(far);
}

// The release of a result makes no CUDA call. The next call frees the memory in the order of the stream, before it
// allocates its own result, and does not wait for the device.
TEST_F(Emulated, TheNextCallFreesAResultInOrder) {
  const Stream stream;
  const Context context(stream.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({0, 1});
  const int64_t allocations = gth_emulation_live_allocations();
  for (int i = 0; i < 10; ++i) {
    gth_tensor* made = nullptr;
    lookup.enqueue_new(context, &made);
    EXPECT_EQ(gth_emulation_live_allocations(), allocations + 1);
    gth_emulation_fail(0, 0);  // counts from here
    EXPECT_EQ(gth_tensor_release(made), GTH_OK);
    EXPECT_EQ(gth_emulation_calls(), 0);
  }
  gth_emulation_hold(stream.get());
  lookup.enqueue(context);
  EXPECT_EQ(gth_emulation_live_allocations(), allocations + 1);
  EXPECT_EQ(gth_emulation_synchronize(stream.get()), 0);
  EXPECT_EQ(gth_emulation_live_allocations(), allocations);
}

// A context of the legacy stream is released while this stream cannot be used. A deleter of another context waits until
// the stream can be waited for.
TEST_F(Emulated, DeleterWaitsForTheLegacyStreamOfAReleasedContext) {
  const LosesWorkspace loses;
  const Stream stream, other;
  gth_emulation_block(stream.get());
  Context legacy, owner(other.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({3, 1});
  int ended = 0;
  gth_tensor* adopted = adopt(owner, lookup.params_desc(), count_end, &ended);
  owner.release();
  lookup.enqueue(legacy);
  Captured(stream, [&] {
    legacy.release();
    EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
    EXPECT_EQ(ended, 0);
  });
  const Context later(other.get());
  EXPECT_EQ(ended, 1);
}

// A call queries once whether waiting releases can run, for any number of them.
TEST_F(Emulated, ThousandWaitingReleasesNeedOneQuery) {
  const Stream stream;
  const Context context(stream.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({0, 1});
  gth_emulation_hold(stream.get());
  int ended = 0;
  for (int i = 0; i < 1000; ++i) {
    gth_tensor* adopted = adopt(context, lookup.params_desc(), count_end, &ended);
    if (i % 100 == 0) lookup.enqueue(context);
    EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
  }
  gth_emulation_fail(0, 0);
  lookup.enqueue(context);
  lookup.enqueue(context);
  EXPECT_LE(gth_emulation_calls(), 20);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(gth_emulation_synchronize(stream.get()), 0);
  lookup.enqueue(context);
  EXPECT_EQ(ended, 1000);
  context.sync();
}

// Another thread has another per-thread stream. It releases memory that the first thread's stream still uses.
TEST_F(Emulated, AnotherThreadReleasesMemoryInUseByThePerThreadStream) {
  auto* per_thread = reinterpret_cast<CUstream_st*>(uintptr_t{2});
  const Context context(per_thread);
  Lookup lookup(2, 4, 2);
  lookup.pick({1, 0});
  const int64_t shape[] = {2, 4};
  gth_tensor* owned = nullptr;
  ASSERT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT32, 2, shape, &owned, nullptr), GTH_OK);
  gth_tensor_desc params = GTH_TENSOR_DESC_INIT;
  ASSERT_EQ(gth_tensor_describe(owned, &params, nullptr), GTH_OK);
  const gth_tensor_desc i = lookup.indices_desc(), o = lookup.out_desc();
  struct End {
    const Lookup* lookup;
    int count = 0;
    static void run(void* user) {
      auto* end = static_cast<End*>(user);
      ++end->count;
      EXPECT_TRUE(end->lookup->out.get() == Bytes(32, 0)) << "it was the other thread's stream that was asked";
    }
  } end{&lookup};
  gth_tensor* adopted = adopt(context, i, End::run, &end);
  gth_emulation_hold(per_thread);
  ASSERT_EQ(gth_gather(context.get(), &params, &i, &o, nullptr, nullptr), GTH_OK);
  std::thread([&] {
    EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
    EXPECT_EQ(gth_context_signal(context.get(), nullptr, nullptr), GTH_OK);  // a call on another stream
    EXPECT_EQ(gth_context_signal(context.get(), nullptr, nullptr), GTH_OK);
    EXPECT_EQ(gth_tensor_release(owned), GTH_OK);
  }).join();
  context.sync();
  EXPECT_EQ(end.count, 1);
  EXPECT_TRUE(lookup.out.get() == Bytes(32, 0)) << "the memory was given back before the stream had read it";
}

// Another thread cannot wait for the per-thread stream of the thread that created the context.
TEST_F(Emulated, AnotherThreadReleasesAContextOfTheStreamPerThread) {
  auto* per_thread = reinterpret_cast<CUstream_st*>(uintptr_t{2});
  Context context(per_thread);
  Lookup lookup(6, 4, 2);
  lookup.pick({4, 1});
  gth_emulation_hold(per_thread);
  lookup.enqueue(context);
  std::thread([&] { context.release(); }).join();
  lookup.expect_rows({4, 1});
}

// One thread creates and releases contexts and memory. At any moment, another thread starts a capture of its context's
// stream. The library must not wait for the capture and must not invalidate it.
TEST_F(Emulated, CapturesThatBeginBetweenTwoCudaCalls) {
  struct Begin {
    CUstream_st* stream;
    bool has_begun = false;

    static void run(void* user) {
      auto* self = static_cast<Begin*>(user);
      self->has_begun = true;
      std::thread([self] { gth_emulation_begin_capture_in(self->stream, 1); }).join();
    }
  };
  int64_t captures = 0;
  for (int64_t n = 1; n < 200; ++n) {
    const Stream captured, other;
    const Context context(captured.get());
    Lookup lookup(6, 4, 2);
    lookup.pick({0, 1});
    lookup.enqueue(context);
    gth_tensor* made = nullptr;
    const int64_t shape[] = {100};
    ASSERT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, shape, &made, nullptr), GTH_OK);
    Begin begin{captured.get()};
    gth_emulation_before(n, Begin::run, &begin);
    {
      const Context beside(other.get());
    }
    EXPECT_EQ(gth_tensor_release(made), GTH_OK);
    gth_emulation_before(0, nullptr, nullptr);
    if (!begin.has_begun) break;
    ++captures;
    void* const graph = gth_emulation_end_capture(captured.get());
    EXPECT_NE(graph, nullptr) << "call " << n;
    if (graph) gth_emulation_destroy_graph(graph);
    const Context later(other.get());
    context.sync();
  }
  EXPECT_GT(captures, 0);
}

// A thread captures its context's stream at any moment of the calls of another context, and of releases. The capture
// ends before the next CUDA call. Later calls run the deleters.
TEST_F(Emulated, CapturesThatBeginAndEndBetweenTwoCudaCalls) {
  struct Capture {
    CUstream_st* stream;
    bool has_begun = false, is_active = false;

    static void begin(void* user) {
      auto* self = static_cast<Capture*>(user);
      self->has_begun = self->is_active = true;
      std::thread([self] { gth_emulation_begin_capture_in(self->stream, 1); }).join();
      gth_emulation_before(1, end, user);
    }
    static void end(void* user) {
      auto* self = static_cast<Capture*>(user);
      gth_emulation_destroy_graph(gth_emulation_end_capture(self->stream));
      self->is_active = false;
    }
  };
  int64_t captures = 0;
  for (int64_t n = 1; n < 200; ++n, ++captures) {
    const Stream stream, other, third;
    const Context context(stream.get());
    Context closed(third.get());
    Lookup lookup(6, 4, 2);
    lookup.pick({0, 1});
    int ended = 0;
    gth_tensor* adopted = adopt(closed, lookup.params_desc(), count_end, &ended);
    closed.release();
    release_in_use(context, stream, lookup, lookup.params_desc(), &ended);
    Capture capture{stream.get()};
    gth_emulation_before(n, Capture::begin, &capture);
    EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
    {
      const Context beside(other.get());
    }
    gth_emulation_before(0, nullptr, nullptr);
    if (capture.is_active) Capture::end(&capture);
    for (int calls = 0; calls < 3; ++calls) {
      EXPECT_EQ(lookup.call(context, nullptr), GTH_OK);
      EXPECT_EQ(device::synchronize(stream.get()), 0);
    }
    EXPECT_EQ(ended, 2) << "call " << n;
    context.sync();
    if (!capture.has_begun) break;
  }
  EXPECT_GT(captures, 0);
}

// Another thread releases tensors at any moment while their context is released. Their memory is freed after the stream
// has finished, and each release is run by a later call at the latest.
TEST_F(Emulated, TensorsAreReleasedAtAnyMomentOfTheReleaseOfTheirContext) {
  struct Release {
    std::vector<gth_tensor*> tensors;

    static void run(void* user) {
      const std::vector<gth_tensor*> all = std::exchange(static_cast<Release*>(user)->tensors, {});
      std::thread([&] {
        for (gth_tensor* each : all) EXPECT_EQ(gth_tensor_release(each), GTH_OK);
      }).join();
    }
  };
  bool is_in_time = true;
  int64_t moments = 0;
  for (; is_in_time; ++moments) {
    CUstream_st* const stream = device::make_stream();
    Context context(stream);
    Lookup lookup(6, 4, 2);
    lookup.pick({0, 1});
    int ended = 0;
    Release release{{adopt(context, lookup.params_desc(), count_end, &ended), nullptr}};
    const int64_t shape[] = {100};
    ASSERT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, shape, &release.tensors[1], nullptr), GTH_OK);
    lookup.enqueue(context);
    gth_emulation_before(moments + 1, Release::run, &release);
    context.release();
    gth_emulation_before(0, nullptr, nullptr);
    is_in_time = release.tensors.empty();
    Release::run(&release);
    device::destroy(stream);
    EXPECT_EQ(ended, 1) << "call " << moments + 1;
  }
  EXPECT_GT(moments, 3);
}

}  // namespace
