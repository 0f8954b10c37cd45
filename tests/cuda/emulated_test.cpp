#include <sys/wait.h>
#include <unistd.h>

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
    EXPECT_EQ(gth_emulation_current(), device);
  }
  gth_emulation_set_current(-1);
}

// H9
TEST_F(Emulated, H9_AChildAfterFork) {
  const Context context;
  Lookup lookup(6, 4, 2);
  lookup.pick({1, 2});
  lookup.enqueue(context);
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
                         gth_context_release(context.get()) == GTH_OK;
    _exit(refused ? 0 : 1);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0);
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
