#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "device_test.hpp"
#include "emulation/emulation.hpp"

// What only an imaginary device can be made to do: wait, fail, be written to by somebody else at the worst moment.
namespace {

using device::Bytes;
using device::Context;
using device::Error;
using device::Lookup;
using device::Memory;
using device::Shape;
using device::Stream;

class Emulated : public device::DeviceTest {
 protected:
  void TearDown() override {
    gth_emulation_between(nullptr, nullptr);
    gth_emulation_shuffle(0);
    gth_emulation_fail(0, 0);
    DeviceTest::TearDown();
  }
};

// Data is read when the stream gets there, not when the call returns.
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

TEST_F(Emulated, DeletersWaitForTheStream) {
  const Stream stream;
  const Context context(stream.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({0, 1});
  int ended = 0;
  const gth_tensor_desc desc = lookup.params_desc();
  gth_tensor* adopted = nullptr;
  ASSERT_EQ(gth_tensor_adopt(context.get(), &desc, [](void* user) { ++*static_cast<int*>(user); }, &ended, &adopted,
                             nullptr),
            GTH_OK);
  gth_emulation_hold(stream.get());
  lookup.enqueue(context);
  EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
  EXPECT_EQ(ended, 0);
  lookup.enqueue(context);  // a later call, but the stream has not passed
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(gth_emulation_synchronize(stream.get()), 0);
  EXPECT_EQ(ended, 0) << "no deleter runs in a callback";
  lookup.enqueue(context);
  EXPECT_EQ(ended, 1);
  context.sync();
}

// A tensor that was adopted with a context, and what its deleter does.
gth_tensor* adopt(const Context& context, const gth_tensor_desc& desc, gth_deleter_fn deleter, void* user) {
  Error error;
  gth_tensor* tensor = nullptr;
  EXPECT_EQ(gth_tensor_adopt(context.get(), &desc, deleter, user, &tensor, &error), GTH_OK) << error.message;
  return tensor;
}

void count_end(void* user) { ++*static_cast<int*>(user); }

// Pinned and managed memory is read and written in stream order too.
TEST_F(Emulated, DeletersOfPinnedMemoryWaitForTheStream) {
  for (const int32_t kind : {GTH_DEVICE_CUDA_HOST, GTH_DEVICE_CUDA_MANAGED}) {
    const Stream stream;
    const Context context(stream.get());
    Lookup lookup(6, 4, 2);
    lookup.pick({0, 1});
    int ended = 0;
    gth_tensor_desc desc = lookup.params_desc();
    desc.device = kind;
    gth_tensor* adopted = adopt(context, desc, count_end, &ended);
    gth_emulation_hold(stream.get());
    lookup.enqueue(context);
    EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
    EXPECT_EQ(ended, 0) << kind;
    context.sync();
    EXPECT_EQ(ended, 1) << kind;
  }
}

// A deleter may do what is forbidden while something is captured, and make another device current: it runs neither
// while the context's stream is captured, nor at the cost of what others capture or of the call that it runs in.
TEST_F(Emulated, DeletersSpoilNothing) {
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
  gth_tensor* adopted = adopt(context, device::describe_on_device(GTH_DTYPE_INT8, shape, memory),
                              free_on_another_device, &memory);
  EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
  device::begin_capture(stream.get());
  lookup.enqueue(context);
  EXPECT_NE(memory, nullptr) << "a deleter ran while its stream was captured";
  const device::Graph graph = device::end_capture(stream.get());
  EXPECT_NE(graph, nullptr);
  if (graph) device::destroy_graph(graph);
  gth_emulation_set_current(0);
  device::begin_capture(other.get());
  lookup.enqueue(context);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(gth_emulation_current(), 0);
  const device::Graph empty = device::end_capture(other.get());
  EXPECT_NE(empty, nullptr) << "a deleter spoiled the capture of another stream";
  if (empty) device::destroy_graph(empty);
  context.expect_no_error();
  lookup.expect_rows({0, 1});
}

// Where the question whether the stream has passed is not answered because of a capture, it has not.
TEST_F(Emulated, DeletersWaitForAnAnswer) {
  for (int64_t n = 1; n < 8; ++n) {
    const Stream stream;
    const Context context(stream.get());
    Lookup lookup(6, 4, 2);
    lookup.pick({0, 1});
    int ended = 0;
    gth_tensor* adopted = adopt(context, lookup.params_desc(), count_end, &ended);
    gth_emulation_hold(stream.get());
    lookup.enqueue(context);
    EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
    gth_emulation_fail(n, 900);
    lookup.call(context, nullptr);
    gth_emulation_fail(0, 0);
    EXPECT_EQ(ended, 0) << n;
    context.sync();
    context.sync();
    EXPECT_EQ(ended, 1) << n;
  }
}

// Memory that was allocated in stream order outlives its context, and what other streams still do with it.
TEST_F(Emulated, MemoryOfAContextThatHasGone) {
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
  gth_emulation_hold(two.get());
  const gth_tensor_desc i = lookup.indices_desc(), o = lookup.out_desc();
  ASSERT_EQ(gth_gather_desc(second.get(), &params, &i, nullptr, &o, nullptr), GTH_OK);
  EXPECT_EQ(gth_tensor_release(owned), GTH_OK);
  EXPECT_TRUE(lookup.out.get() == Bytes(32, 0)) << "the memory was given back before the other stream had read it";
}

// A context waits for its device when it goes, and its deleters run, whatever fails.
TEST_F(Emulated, FailuresWhileAContextGoes) {
  for (int64_t n = 1; n < 12; ++n) {
    const Stream stream;
    Context context(stream.get());
    Lookup lookup(6, 4, 2);
    lookup.pick({0, 1});
    int ended = 0;
    gth_tensor* adopted = adopt(context, lookup.params_desc(), count_end, &ended);
    gth_emulation_hold(stream.get());
    lookup.enqueue(context);
    EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
    gth_emulation_fail(n, 4);
    context.release();
    gth_emulation_fail(0, 0);
    EXPECT_EQ(ended, 1) << n;
  }
}

// A device cannot be waited for while one of its streams is captured, the context's stream can.
TEST_F(Emulated, AContextGoesBesideACapture) {
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
  device::begin_capture(other.get());
  context.release();
  EXPECT_EQ(ended, 1);
  lookup.expect_rows({0, 1});
  EXPECT_EQ(gth_tensor_release(late), GTH_OK);
  EXPECT_EQ(ended, 1) << "who uses the memory cannot be known yet";
  const device::Graph graph = device::end_capture(other.get());
  EXPECT_NE(graph, nullptr);
  if (graph) device::destroy_graph(graph);
  EXPECT_EQ(gth_tensor_release(last), GTH_OK);
  EXPECT_EQ(ended, 3);
}

TEST_F(Emulated, AContextWaitsForItsDevice) {
  const Stream stream;
  Context context(stream.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({3, 1});
  gth_emulation_hold(stream.get());
  lookup.enqueue(context);
  context.release();
  lookup.expect_rows({3, 1});
}

// Tensors are let go on one thread while their context goes on another, and the stream behind it.
TEST_F(Emulated, TensorsAndTheirContextGoAtOnce) {
  std::atomic<int> ended{0};
  int made = 0;
  const auto count = [](void* user) { ++*static_cast<std::atomic<int>*>(user); };
  for (int i = 0; i < 200; ++i) {
    CUstream_st* stream = gth_emulation_make_stream(0);
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
    gth_emulation_destroy_stream(stream);
    other.join();
  }
  EXPECT_EQ(ended, made);
}

// What two kernels of one call share is not for the kernels of a call of another thread.
TEST_F(Emulated, ThreadsShareAContextAndItsState) {
  const Context context;
  const int64_t picks = 3000;
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

TEST_F(Emulated, StreamsOfAnotherDevice) {
  const Stream stream;
  const Context context(stream.get());
  CUstream_st* far = gth_emulation_make_stream(1);
  Error error;
  EXPECT_EQ(gth_context_wait(context.get(), far, &error), GTH_OK) << error.message;
  EXPECT_EQ(gth_context_signal(context.get(), far, &error), GTH_OK) << error.message;
  gth_emulation_destroy_stream(far);
}

// The legacy stream cannot be used while a stream that it is in order with is captured; asking leaves the capture
// whole.
TEST_F(Emulated, CapturesBesideTheLegacyStream) {
  const Stream stream;
  gth_emulation_block(stream.get());
  const Context context;
  const int64_t three = 3;
  gth_tensor *early = nullptr, *late = nullptr;
  ASSERT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, &three, &early, nullptr), GTH_OK);
  Error error;
  device::begin_capture(stream.get());
  EXPECT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, &three, &late, &error), GTH_E_CAPTURE);
  EXPECT_EQ(gth_context_sync(context.get(), &error), GTH_E_CAPTURE);
  EXPECT_EQ(gth_context_wait(context.get(), stream.get(), &error), GTH_E_CAPTURE);
  EXPECT_EQ(gth_context_signal(context.get(), stream.get(), &error), GTH_E_CAPTURE);
  EXPECT_EQ(gth_tensor_release(early), GTH_OK);
  const device::Graph graph = device::end_capture(stream.get());
  EXPECT_NE(graph, nullptr) << "a refused call spoiled the capture";
  if (graph) device::destroy_graph(graph);
}

TEST_F(Emulated, StreamsWaitForEachOther) {
  const Stream one, two;
  const Context first(one.get()), second(two.get());
  Lookup lookup(6, 4, 2);
  lookup.pick({0, 0});
  gth_emulation_hold(one.get());
  lookup.enqueue(first);
  ASSERT_EQ(gth_context_wait(second.get(), one.get(), nullptr), GTH_OK);
  lookup.expect_rows({0, 0});  // the second stream was not held: what it waits for has been done
}

// Another writer between judging and copying: rows are gathered or as they were, the answer is a race, and the next call
// is right.
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
  for (const int64_t picks : {40, 4000}) {
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
      if (status == GTH_OK) {  // the row had been copied, and no later block judges it again
        lookup.expect_rows(rows);
        EXPECT_EQ(block, 1u);
      } else {
        device::expect_facts(status, error, {GTH_E_RACE, GTH_OPERAND_INDICES});
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

// The other way round: an index that is bad at first and good when later blocks judge it.
TEST_F(Emulated, RacingWritersWhileBlocksJudge) {
  const Context context;
  Lookup lookup(6, 1024, 40);  // several blocks, which judge all indices each
  std::vector<int64_t> rows(40, 2);
  rows[0] = 99;
  lookup.pick(rows);
  Writer writer{reinterpret_cast<int64_t*>(lookup.indices.data()), 0, 3};
  gth_emulation_between(write_bad, &writer);
  lookup.enqueue(context);
  context.expect_taken({GTH_E_RACE, GTH_OPERAND_INDICES});
}

// In memory of the library's a raced row is zeros, never what the memory held before.
TEST_F(Emulated, RacingWritersOfNewOutputs) {
  const Context context;
  Lookup lookup(6, 64, 40);
  lookup.pick(std::vector<int64_t>(40, 2));
  const gth_tensor_desc p = lookup.params_desc(), i = lookup.indices_desc();
  gth_tensor *params = nullptr, *indices = nullptr, *out = nullptr;
  ASSERT_EQ(gth_tensor_borrow(&p, &params, nullptr), GTH_OK);
  ASSERT_EQ(gth_tensor_borrow(&i, &indices, nullptr), GTH_OK);
  Writer writer{reinterpret_cast<int64_t*>(lookup.indices.data()), 0, 1 << 30};
  gth_emulation_between(write_bad, &writer);
  ASSERT_EQ(gth_gather(context.get(), params, indices, nullptr, &out, nullptr), GTH_OK);
  gth_emulation_between(nullptr, nullptr);
  context.expect_taken({GTH_E_RACE, GTH_OPERAND_INDICES});
  gth_tensor_desc made = GTH_TENSOR_DESC_INIT;
  ASSERT_EQ(gth_tensor_describe(out, &made, nullptr), GTH_OK);
  const auto* rows = static_cast<const int32_t*>(made.data);
  for (int64_t at = 0; at < 40 * 64; ++at) {
    EXPECT_TRUE(rows[at] == 0 || rows[at] == 2000 + at % 64) << at << ": " << rows[at];
  }
  EXPECT_EQ(rows[0], 0);
  for (gth_tensor* each : {params, indices, out}) EXPECT_EQ(gth_tensor_release(each), GTH_OK);
}

TEST_F(Emulated, BlocksMayComeInAnyOrder) {
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

// Small calls are one kernel, large ones two; nothing is allocated.
TEST_F(Emulated, LaunchesOfACall) {
  const Context context;
  const struct {
    int64_t picks;
    int64_t launches;
  } cases[] = {{0, 0}, {1, 1}, {2048, 1}, {2049, 2}, {100'000, 2}};
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

// The n-th call of CUDA between arm() and disarm() fails.
struct Failing {
  int64_t n;
  int32_t code;
  bool fired = false;

  void arm() const { gth_emulation_fail(n, code); }
  void disarm() {
    fired = gth_emulation_calls() >= n;
    gth_emulation_fail(0, 0);
  }
};

// Every call of CUDA fails once: the caller hears of it, nothing leaks, and the next time it works. The body returns the
// status of what it did between arm() and disarm().
template <class Body>
void expect_to_survive(Body&& body) {
  const int64_t allocations = gth_emulation_live_allocations();
  for (int64_t n = 1; n < 200; ++n) {
    Error error;
    Failing failing{n, n % 2 ? 700 : 2};
    const int32_t status = body(&failing, &error);
    EXPECT_EQ(gth_emulation_live_allocations(), allocations) << "call " << n;
    if (!failing.fired) {
      EXPECT_EQ(status, GTH_OK) << error.message;
      return;
    }
    if (status == GTH_OK) continue;  // a failure on the way out
    EXPECT_TRUE(status == GTH_E_CUDA || status == GTH_E_NOMEM || status == GTH_E_DEVICE)
        << "call " << n << ": " << error.message;
    if (status != GTH_E_DEVICE) {
      EXPECT_EQ(error.native, failing.code) << "call " << n;
    }
  }
  FAIL() << "this does not come to an end";
}

TEST_F(Emulated, FailuresWhileAContextIsMade) {
  expect_to_survive([](Failing* failing, Error* error) {
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.device = GTH_DEVICE_CUDA;
    gth_context* context = nullptr;
    failing->arm();
    const int32_t status = gth_context_create(&options, &context, error);
    failing->disarm();
    EXPECT_EQ(status == GTH_OK, context != nullptr);
    EXPECT_EQ(gth_context_release(context), GTH_OK);
    return status;
  });
}

// A device older than all that the library was compiled for.
TEST_F(Emulated, DevicesWithoutKernels) {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.device = GTH_DEVICE_CUDA;
  int refused = 0;
  for (int64_t n = 1; n < 100; ++n) {
    gth_context* context = nullptr;
    Error error;
    gth_emulation_fail(n, 209);
    const int32_t status = gth_context_create(&options, &context, &error);
    gth_emulation_fail(0, 0);
    EXPECT_EQ(gth_context_release(context), GTH_OK);
    if (status == GTH_OK) break;
    EXPECT_TRUE(status == GTH_E_DEVICE || status == GTH_E_CUDA) << n << ": " << error.message;
    refused += std::strstr(error.message, "compute capability") != nullptr;
  }
  EXPECT_EQ(refused, 1);
}

TEST_F(Emulated, FailuresOfCalls) {
  for (const int64_t picks : {3, 3000}) {
    const Context context;
    Lookup lookup(6, 4, picks);
    const std::vector<int64_t> rows(static_cast<size_t>(picks), 4);
    lookup.pick(rows);
    expect_to_survive([&](Failing* failing, Error* error) {
      failing->arm();
      int32_t status = lookup.call(context, error);
      if (!status) status = gth_context_take_error(context.get(), error);
      failing->disarm();
      return status;
    });
    lookup.clear();
    lookup.enqueue(context);
    context.expect_no_error();
    lookup.expect_rows(rows);
  }
}

TEST_F(Emulated, FailuresOfNewOutputs) {
  const Context context;
  Lookup lookup(6, 4, 3);
  lookup.pick({1, 2, 3});
  const gth_tensor_desc p = lookup.params_desc(), i = lookup.indices_desc();
  gth_tensor *params = nullptr, *indices = nullptr;
  ASSERT_EQ(gth_tensor_borrow(&p, &params, nullptr), GTH_OK);
  ASSERT_EQ(gth_tensor_borrow(&i, &indices, nullptr), GTH_OK);
  const gth_options skip = device::with_bounds(GTH_BOUNDS_SKIP);
  expect_to_survive([&](Failing* failing, Error* error) {
    gth_tensor* out = nullptr;
    failing->arm();
    const int32_t status = gth_gather(context.get(), params, indices, &skip, &out, error);
    failing->disarm();
    EXPECT_EQ(status == GTH_OK, out != nullptr);
    EXPECT_EQ(gth_tensor_release(out), GTH_OK);
    return status;
  });
  EXPECT_EQ(gth_tensor_release(params), GTH_OK);
  EXPECT_EQ(gth_tensor_release(indices), GTH_OK);
}

TEST_F(Emulated, FailuresOfStagedCopies) {
  const Context context;
  const Memory memory(24);
  const Shape shape{2, 3};
  const int64_t turned[] = {4, 8};
  Bytes host(24, 1);
  gth_tensor_desc far = device::describe_on_device(GTH_DTYPE_INT32, shape, memory.data());
  gth_tensor_desc near = far;
  near.device = GTH_DEVICE_CPU;
  near.data = host.data();
  near.strides = turned;
  gth_tensor *on_host = nullptr, *on_device = nullptr;
  ASSERT_EQ(gth_tensor_borrow(&near, &on_host, nullptr), GTH_OK);
  ASSERT_EQ(gth_tensor_borrow(&far, &on_device, nullptr), GTH_OK);
  for (const bool to_device : {true, false}) {
    expect_to_survive([&](Failing* failing, Error* error) {
      failing->arm();
      const int32_t status = to_device ? gth_tensor_copy(context.get(), on_host, on_device, error)
                                       : gth_tensor_copy(context.get(), on_device, on_host, error);
      failing->disarm();
      return status;
    });
  }
  EXPECT_EQ(gth_tensor_release(on_host), GTH_OK);
  EXPECT_EQ(gth_tensor_release(on_device), GTH_OK);
}

// A deleter runs once, whatever fails around it.
TEST_F(Emulated, FailuresOfReleases) {
  for (int64_t n = 1; n < 12; ++n) {
    int ended = 0;
    {
      const Context context;
      const Memory memory(8);
      const Shape shape{8};
      const gth_tensor_desc desc = device::describe_on_device(GTH_DTYPE_INT8, shape, memory.data());
      gth_tensor* tensor = nullptr;
      ASSERT_EQ(gth_tensor_adopt(context.get(), &desc, [](void* user) { ++*static_cast<int*>(user); }, &ended, &tensor,
                                 nullptr),
                GTH_OK);
      gth_emulation_fail(n, 700);
      EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
      gth_emulation_fail(0, 0);
      context.sync();
      context.sync();
    }
    EXPECT_EQ(ended, 1) << n;
  }
}

TEST_F(Emulated, TheCurrentDeviceIsPutBack) {
  for (const int32_t device : {-1, 0, 1}) {
    gth_emulation_set_current(device);
    const Context context;
    Lookup lookup(6, 4, 2);
    lookup.pick({1, 9});
    lookup.enqueue(context);
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 9, 6});
    context.sync();
    const gth_tensor_desc p = lookup.params_desc(), i = lookup.indices_desc();
    gth_tensor *params = nullptr, *indices = nullptr, *out = nullptr;
    ASSERT_EQ(gth_tensor_borrow(&p, &params, nullptr), GTH_OK);
    ASSERT_EQ(gth_tensor_borrow(&i, &indices, nullptr), GTH_OK);
    EXPECT_EQ(gth_gather(context.get(), params, indices, nullptr, &out, nullptr), GTH_OK);
    EXPECT_EQ(gth_emulation_current(), device);
    Bytes host(out ? 32 : 0);
    gth_tensor_desc h = lookup.out_desc();
    h.device = GTH_DEVICE_CPU;
    h.data = host.data();
    gth_tensor* on_host = nullptr;
    ASSERT_EQ(gth_tensor_borrow(&h, &on_host, nullptr), GTH_OK);
    EXPECT_EQ(gth_tensor_copy(context.get(), out, on_host, nullptr), GTH_OK);
    for (gth_tensor* each : {params, indices, out, on_host}) EXPECT_EQ(gth_tensor_release(each), GTH_OK);
    EXPECT_EQ(gth_emulation_current(), device);
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 9, 6});
  }
  gth_emulation_set_current(-1);
}

// H9
TEST_F(Emulated, H9_AChildAfterFork) {
  const Context context;
  Lookup lookup(6, 4, 2);
  lookup.pick({1, 2});
  lookup.enqueue(context);
  const Stream stream;
  const int64_t three = 3;
  gth_tensor *owned = nullptr, *other_tensor = nullptr;
  ASSERT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, &three, &owned, nullptr), GTH_OK);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Error error;
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.device = GTH_DEVICE_CUDA;
    gth_context* other = nullptr;
    const bool refused = lookup.call(context, &error) == GTH_E_FORK &&
                         gth_context_take_error(context.get(), &error) == GTH_E_FORK &&
                         gth_context_sync(context.get(), &error) == GTH_E_FORK &&
                         gth_context_create(&options, &other, &error) == GTH_E_FORK &&
                         gth_context_wait(context.get(), stream.get(), &error) == GTH_E_FORK &&
                         gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, &three, &other_tensor, &error) ==
                             GTH_E_FORK &&
                         gth_tensor_copy(context.get(), owned, owned, &error) != GTH_OK &&
                         gth_tensor_release(owned) == GTH_OK && gth_context_release(context.get()) == GTH_OK;
    _exit(refused ? 0 : 1);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0);
  EXPECT_EQ(gth_tensor_release(owned), GTH_OK);
  context.expect_no_error();
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

// Values are checked, though there is no output, and though no number counts its dims.
TEST_F(Emulated, EmptyOutputsOfHugeExtents) {
  const Context context;
  const Memory indices(std::vector<int64_t>{0});
  const Shape one{1};
  for (const int64_t huge : {INT64_MAX, (int64_t{1} << 62) + 1, int64_t{1} << 31}) {
    for (const Shape& shape : {Shape{1, huge, 0}, Shape{1, 0, huge}, Shape{huge, 0, 1}, Shape{huge, 1, 0}}) {
      for (const int64_t axis : {0, 1, 2}) {
        if (shape[static_cast<size_t>(axis)] == 0) continue;
        gth_options options = GTH_OPTIONS_INIT;
        options.profile = GTH_PROFILE_ONNX;
        options.has_axis = 1;
        options.axis = axis;
        Shape made = shape;
        made[static_cast<size_t>(axis)] = 1;
        const Shape strides{7, 5, 3}, out_strides{0, 5, 1};  // of nothing: they may be anything
        gth_tensor_desc p = device::describe_on_device(GTH_DTYPE_INT8, shape, nullptr);
        p.strides = strides.data();
        const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, one, indices.data());
        gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_INT8, made, nullptr);
        o.strides = out_strides.data();
        Error error;
        EXPECT_EQ(gth_gather_desc(context.get(), &p, &i, &options, &o, &error), GTH_OK) << error.message;
        context.expect_no_error();
      }
    }
  }
}

// Params far beyond 2^32 bytes, of which hardly a page exists; offsets need all of 64 bits.
TEST_F(Emulated, FarRows) {
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
  ASSERT_EQ(gth_gather_desc(context.get(), &p, &i, nullptr, &o, &error), GTH_OK) << error.message;
  context.expect_no_error();
  lookup.expect_rows({0, 0, 0});
  lookup.pick({0, rows, 1});
  ASSERT_EQ(gth_gather_desc(context.get(), &p, &i, nullptr, &o, &error), GTH_OK) << error.message;
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, rows, rows});
}

}  // namespace
