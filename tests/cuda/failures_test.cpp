#include <cstring>

#include "../../src/api/dlpack_structs.hpp"
#include "../../src/core/os/testing.hpp"
#include "failing.hpp"

// Failing CUDA calls.
namespace {

using device::Bytes;
using device::Context;
using device::Emulated;
using device::Error;
using device::expect_to_survive;
using device::Failing;
using device::Lookup;
using device::Memory;
using device::Shape;
using device::Stream;

TEST_F(Emulated, FailuresWhileAContextIsMade) {
  gth_shutdown();  // so that this context is the first one of the device
  expect_to_survive([](Failing* failing, Error* error) {
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.device = GTH_DEVICE_CUDA;
    options.device_id = 1;
    gth_context* context = nullptr;
    failing->arm();
    const int32_t status = gth_context_create(&options, &context, error);
    failing->disarm();
    EXPECT_EQ(status == GTH_OK, context != nullptr);
    EXPECT_EQ(gth_context_release(context), GTH_OK);
    return status;
  });
}

// A scatter on the device, of so many updates that it allocates memory, or of few.
struct Scatter {
  explicit Scatter(int64_t count = gather::cuda::most_few + 1)
      : ids_shape{count}, ids(numbers<int64_t>(count, 0)), updates(numbers<float>(count, 1)) {
    options.reduction = GTH_REDUCTION_ADD;
  }
  // Returns `first`, 1 - first, `first`, ..
  template <class T>
  static std::vector<T> numbers(int64_t count, int64_t first) {
    std::vector<T> result;
    for (int64_t i = 0; i < count; ++i) result.push_back(static_cast<T>((first + i) % 2));
    return result;
  }
  int32_t run(const Context& context, Error* error) const { return run(context.get(), error); }
  int32_t run(gth_context* context, Error* error) const {
    const gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_FLOAT32, shape, target.data());
    const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, ids_shape, ids.data());
    const gth_tensor_desc u = device::describe_on_device(GTH_DTYPE_FLOAT32, ids_shape, updates.data());
    return gth_run(context, GTH_OP_SCATTER, &t, &i, &u, &options, error);
  }
  // Ones are added to the first row, and zeros to the second.
  void expect_sums(int32_t times) const {
    std::vector<float> found(2);
    device::copy(found.data(), target.data(), 8);
    EXPECT_EQ(found[0], static_cast<float>(10 + (ids_shape[0] + 1) / 2 * times));
    EXPECT_EQ(found[1], 20.0f);
  }

  Shape shape{2}, ids_shape;
  Memory target{std::vector<float>{10, 20}}, ids, updates;
  gth_options options = GTH_OPTIONS_INIT;
};

// A failing call may have written its target. It frees its memory, and later calls are correct.
TEST_F(Emulated, FailuresOfScatters) {
  const Context context;
  for (const int64_t updates : {gather::cuda::most_few, gather::cuda::most_few + 1}) {
    expect_to_survive([&](Failing* failing, Error* error) {
      const Scatter scatter(updates);
      failing->arm();
      const int32_t status = scatter.run(context, error);
      failing->disarm();
      context.sync();
      if (status == GTH_OK && !failing->fired) scatter.expect_sums(1);
      return status;
    });
  }
}

TEST_F(Emulated, FailuresOfCapturedScatters) {
  const Stream stream;
  const Context context(stream.get());
  const Scatter first;
  const device::Captured captured(stream, [&] { first.run(context, nullptr); });  // allocates states of captured calls
  for (const int64_t updates : {gather::cuda::most_few, gather::cuda::most_few + 1}) {
    expect_to_survive([&](Failing* failing, Error* error) {
      const Scatter scatter(updates);
      device::begin_capture(stream.get());
      failing->arm();
      const int32_t status = scatter.run(context, error);
      failing->disarm();
      const device::Graph graph = device::end_capture(stream.get());
      if (status == GTH_OK && graph) {
        for (int32_t replay = 1; replay <= 2; ++replay) {
          device::launch(graph, stream.get());
          context.sync();
          scatter.expect_sums(replay);
        }
      }
      if (graph) device::destroy_graph(graph);
      context.sync();  // frees the memory of the graph
      return status;
    });
  }
}

TEST_F(Emulated, HostMemoryOfScatters) {
  const Context context;
  const int64_t allocations = gth_emulation_live_allocations();
  int64_t failures = 0;
  for (int64_t n = 1; n < 100; ++n) {
    const Scatter scatter;
    Error error;
    gth_testing_fail_allocation(n, 0);
    const int32_t status = scatter.run(context, &error);
    gth_testing_fail_allocation(0, 0);
    context.sync();
    scatter.expect_sums(status == GTH_OK ? 1 : 0);
    if (status == GTH_OK) break;
    EXPECT_EQ(status, GTH_E_NOMEM) << error.message;
    ++failures;
  }
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(gth_emulation_live_allocations(), allocations);
}

// Memory of the hooks is freed in the same call, because it is free in stream order.
TEST_F(Emulated, MemoryOfHooksOfScatters) {
  struct Hooks {
    int64_t live = 0, allocated = 0;
    bool fails = false;
    CUstream_st* stream = nullptr;
  } hooks;
  const Stream stream;
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.device = GTH_DEVICE_CUDA;
  options.stream = stream.get();
  options.memory_user = &hooks;
  options.alloc = [](void* user, int64_t bytes, int64_t, int32_t, int32_t, CUstream_st* on) -> void* {
    auto* all = static_cast<Hooks*>(user);
    if (all->fails) return nullptr;
    all->live += bytes;
    all->allocated += bytes;
    all->stream = on;
    void* const memory = device::allocate(bytes);
    device::describe(memory, bytes);
    return memory;
  };
  options.free = [](void* user, int64_t bytes, int64_t, int32_t, int32_t, CUstream_st* on, void* memory) {
    auto* all = static_cast<Hooks*>(user);
    EXPECT_EQ(on, all->stream);
    all->live -= bytes;
    device::deallocate(memory);
  };
  gth_context* context = nullptr;
  ASSERT_EQ(gth_context_create(&options, &context, nullptr), GTH_OK);
  for (const bool fails : {false, true}) {
    hooks = {};
    hooks.fails = fails;
    const Scatter scatter;
    Error error;
    EXPECT_EQ(scatter.run(context, &error), fails ? GTH_E_NOMEM : GTH_OK) << error.message;
    EXPECT_EQ(gth_context_sync(context, nullptr), GTH_OK);
    scatter.expect_sums(fails ? 0 : 1);
    EXPECT_EQ(hooks.live, 0);
    EXPECT_EQ(hooks.allocated > 3 * 16, !fails);
    EXPECT_EQ(hooks.stream, fails ? nullptr : stream.get());
  }
  EXPECT_EQ(gth_context_release(context), GTH_OK);
}

// Bags with lengths, whose sums need memory.
struct Bags {
  int32_t run(const Context& context, Error* error) const {
    gth_options options = GTH_OPTIONS_INIT;
    options.bag_format = GTH_BAGS_LENGTHS;
    const gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_INT32, shape, table.data());
    const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, ids_shape, ids.data());
    const gth_tensor_desc b = device::describe_on_device(GTH_DTYPE_INT64, shape, lengths.data());
    const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_INT32, shape, out.data());
    return gth_gather_bags(context.get(), &t, &i, &b, nullptr, &o, &options, error);
  }
  void expect_sums() const {
    std::vector<int32_t> found(2);
    device::copy(found.data(), out.data(), 8);
    EXPECT_EQ(found, (std::vector<int32_t>{20, 30}));
  }

  Shape shape{2}, ids_shape{3};
  Memory table{std::vector<int32_t>{10, 20}}, ids{std::vector<int64_t>{1, 0, 1}}, lengths{std::vector<int64_t>{1, 2}},
      out{std::vector<int32_t>{0, 0}};
};

TEST_F(Emulated, FailuresOfBags) {
  const Context context;
  expect_to_survive([&](Failing* failing, Error* error) {
    const Bags bags;
    failing->arm();
    const int32_t status = bags.run(context, error);
    failing->disarm();
    context.sync();
    if (status == GTH_OK && !failing->fired) bags.expect_sums();
    return status;
  });
}

TEST_F(Emulated, FailuresOfCapturedBags) {
  const Stream stream;
  const Context context(stream.get());
  const Bags first;
  const device::Captured captured(stream, [&] { first.run(context, nullptr); });  // allocates states of captured calls
  expect_to_survive([&](Failing* failing, Error* error) {
    const Bags bags;
    device::begin_capture(stream.get());
    failing->arm();
    const int32_t status = bags.run(context, error);
    failing->disarm();
    const device::Graph graph = device::end_capture(stream.get());
    if (status == GTH_OK && graph) {
      device::launch(graph, stream.get());
      context.sync();
      bags.expect_sums();
    }
    if (graph) device::destroy_graph(graph);
    context.sync();  // frees the memory of the graph
    return status;
  });
}

// A gradient of such bags, which sorts the ids.
struct BagGradient : Bags {
  int32_t run(const Context& context, Error* error) const {
    gth_options options = GTH_OPTIONS_INIT;
    options.bag_format = GTH_BAGS_LENGTHS;
    const gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_INT32, shape, table.data());
    const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, ids_shape, ids.data());
    const gth_tensor_desc b = device::describe_on_device(GTH_DTYPE_INT64, shape, lengths.data());
    const gth_tensor_desc g = device::describe_on_device(GTH_DTYPE_INT32, shape, gradient.data());
    const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_INT32, shape, out.data());
    gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &g, &options);
    request.bags = &b;
    return gth_gather_bags_gradient(context.get(), &request, &o, error);
  }
  void expect_gradient() const {
    std::vector<int32_t> found(2);
    device::copy(found.data(), out.data(), 8);
    EXPECT_EQ(found, (std::vector<int32_t>{300, 305}));
  }

  Memory gradient{std::vector<int32_t>{5, 300}};
};

TEST_F(Emulated, FailuresOfBagGradients) {
  const Context context;
  expect_to_survive([&](Failing* failing, Error* error) {
    const BagGradient bags;
    failing->arm();
    const int32_t status = bags.run(context, error);
    failing->disarm();
    context.sync();
    if (status == GTH_OK && !failing->fired) bags.expect_gradient();
    return status;
  });
}

TEST_F(Emulated, G4_HostMemoryForATensorOnADevice) {
  const Context context;
  const int64_t shape[] = {100}, allocations = gth_emulation_live_allocations();
  int64_t failures = 0;
  for (int32_t sticky : {0, 1}) {
    for (int64_t n = 1; n < 100; ++n) {
      Error error;
      gth_tensor* tensor = nullptr;
      gth_testing_fail_allocation(n, sticky);
      const int32_t status = gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, shape, &tensor, &error);
      gth_testing_fail_allocation(0, 0);
      EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
      context.sync();
      EXPECT_EQ(gth_emulation_live_allocations(), allocations) << "allocation " << n;
      if (status == GTH_OK) break;
      EXPECT_EQ(status, GTH_E_NOMEM) << error.message;
      EXPECT_EQ(tensor, nullptr);
      ++failures;
    }
  }
  EXPECT_GT(failures, 0);
}

// If memory of the hooks cannot be set to zeros, it is returned to the hooks.
TEST_F(Emulated, FailuresOfZerosInMemoryOfHooks) {
  int live = 0;
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.device = GTH_DEVICE_CUDA;
  options.memory_user = &live;
  options.alloc = [](void* user, int64_t bytes, int64_t, int32_t, int32_t, CUstream_st*) {
    ++*static_cast<int*>(user);
    return device::allocate(bytes);
  };
  options.free = [](void* user, int64_t, int64_t, int32_t, int32_t, CUstream_st*, void* memory) {
    --*static_cast<int*>(user);
    device::deallocate(memory);
  };
  gth_context* context = nullptr;
  ASSERT_EQ(gth_context_create(&options, &context, nullptr), GTH_OK);
  const int64_t shape[] = {100};
  int failures = 0;
  expect_to_survive([&](Failing* failing, Error* error) {
    gth_tensor* tensor = nullptr;
    failing->arm();
    const int32_t status = gth_tensor_alloc(context, GTH_DTYPE_INT8, 1, shape, &tensor, error);
    failing->disarm();
    EXPECT_EQ(status == GTH_OK, tensor != nullptr);
    EXPECT_EQ(live, tensor ? 1 : 0);
    failures += status != GTH_OK;
    EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
    return status;
  });
  EXPECT_GT(failures, 0);
  EXPECT_EQ(live, 0);
  EXPECT_EQ(gth_context_release(context), GTH_OK);
}

// Ownership is taken if and only if the call succeeds. The rank is so high that the dims need memory too.
TEST_F(Emulated, G4_HostMemoryForAnAdoptedTensor) {
  const Context context;
  const Memory memory(1);
  const Shape shape(64, 1);
  const gth_tensor_desc desc = device::describe_on_device(GTH_DTYPE_INT8, shape, memory.data());
  int ended = 0;
  int64_t failures = 0;
  for (int64_t n = 1; n < 100; ++n) {
    Error error;
    gth_tensor* tensor = nullptr;
    gth_testing_fail_allocation(n, 0);
    const int32_t status = gth_tensor_adopt(context.get(), &desc, device::count_end, &ended, &tensor, &error);
    gth_testing_fail_allocation(0, 0);
    context.sync();
    EXPECT_EQ(ended, 0) << "allocation " << n;
    EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
    if (status == GTH_OK) break;
    EXPECT_EQ(status, GTH_E_NOMEM) << error.message;
    ++failures;
  }
  EXPECT_GT(failures, 1);
  context.sync();
  EXPECT_EQ(ended, 1);
}

// A device that is older than every compiled architecture.
TEST_F(Emulated, DevicesWithoutKernels) {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.device = GTH_DEVICE_CUDA;
  options.device_id = 1;
  for (const int32_t code : {98, 209, 221, 222, 223}) {
    gth_shutdown();  // as above
    int64_t refused = 0, last_refused = 0;
    for (int64_t n = 1; n < 1000; ++n) {
      gth_context* context = nullptr;
      Error error;
      gth_emulation_fail(n, code);
      const int32_t status = gth_context_create(&options, &context, &error);
      gth_emulation_fail(0, 0);
      EXPECT_EQ(gth_context_release(context), GTH_OK);
      if (status == GTH_OK) break;
      EXPECT_TRUE(status == GTH_E_DEVICE || status == GTH_E_CUDA) << n << ": " << error.message;
      if (!std::strstr(error.message, "compute capability")) continue;
      EXPECT_TRUE(refused == 0 || last_refused == n - 1) << "what asks for no kernel says that there is none";
      last_refused = n;
      ++refused;
    }
    EXPECT_GT(refused, 0) << code;
  }
}

// The error states why CUDA cannot be used, with CUDA's number.
TEST_F(Emulated, CudaThatCannotBeUsed) {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.device = GTH_DEVICE_CUDA;
  for (const int32_t code : {3, 35, 46, 100, 304, 802, 803, 804, 999}) {
    gth_context* context = nullptr;
    Error error;
    gth_emulation_fail(1, code);
    EXPECT_EQ(gth_context_create(&options, &context, &error), code == 3 ? GTH_E_FORK : GTH_E_DEVICE);
    gth_emulation_fail(0, 0);
    EXPECT_EQ(context, nullptr);
    EXPECT_EQ(error.native, code);
    EXPECT_NE(std::strstr(error.message, std::to_string(code).c_str()), nullptr) << error.message;
  }
}

TEST_F(Emulated, FailuresOfCalls) {
  for (const int64_t picks : {int64_t{3}, device::in_front}) {
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

// If the second kernel of a call cannot be launched, the result of the first one must not affect the next call.
TEST_F(Emulated, CallWhoseSecondLaunchFails) {
  const Context context;
  Lookup lookup(6, 4, device::in_front);
  std::vector<int64_t> rows(device::in_front, 4);
  for (int64_t n = 1; n < 8; ++n) {
    rows[5] = 6;
    lookup.pick(rows);
    gth_emulation_fail(n, 719);
    lookup.call(context, nullptr);
    gth_emulation_fail(0, 0);
    static_cast<void>(gth_context_take_error(context.get(), nullptr));
    rows[5] = 3;
    lookup.pick(rows);
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
  const device::Tensor params(lookup.params_desc()), indices(lookup.indices_desc());
  const gth_options skip = device::with_bounds(GTH_BOUNDS_SKIP);
  expect_to_survive([&](Failing* failing, Error* error) {
    gth_tensor* out = nullptr;
    failing->arm();
    const int32_t status = device::make_gather(context.get(), params.get(), indices.get(), &skip, &out, error);
    failing->disarm();
    EXPECT_EQ(status == GTH_OK, out != nullptr);
    EXPECT_EQ(gth_tensor_release(out), GTH_OK);
    context.sync();  // frees the output
    return status;
  });
}

// The output of a refused call is zero.
TEST_F(Emulated, FailuresOfNewOutputsWithPadding) {
  const Context context;
  const Shape shape{2}, ids_shape{3};
  const Memory table(std::vector<int32_t>{10, 20}), ids(std::vector<int64_t>{1, 77, 5});
  gth_options options = GTH_OPTIONS_INIT;
  options.has_padding_index = 1;
  options.padding_index = 77;
  expect_to_survive([&](Failing* failing, Error* error) {
    int32_t status = GTH_OK;
    {
      device::Tensor out;
      const gth_tensor_desc t = device::describe_on_device(GTH_DTYPE_INT32, shape, table.data());
      const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, ids_shape, ids.data());
      const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &t, &i, nullptr, &options);
      failing->arm();
      status = gth_make(context.get(), &request, out.out(), error);
      failing->disarm();
      context.sync();
      const int32_t taken = gth_context_take_error(context.get(), nullptr);
      if (status == GTH_OK) {
        EXPECT_EQ(taken, GTH_E_INDEX) << "call " << failing->n;
        std::vector<int32_t> found(3);
        device::copy(found.data(), out.desc().data, 12);
        EXPECT_EQ(found, std::vector<int32_t>(3, 0)) << "call " << failing->n;
      }
    }
    context.sync();  // frees the output
    return status;
  });
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
      const int32_t status = to_device ? calls::copy(context.get(), on_host, on_device, error)
                                       : calls::copy(context.get(), on_device, on_host, error);
      failing->disarm();
      return status;
    });
  }
  EXPECT_EQ(gth_tensor_release(on_host), GTH_OK);
  EXPECT_EQ(gth_tensor_release(on_device), GTH_OK);
}

// Staged copies are packed in host memory.
TEST_F(Emulated, G4_HostMemoryForStagedCopies) {
  const Context context;
  const Memory memory(24);
  const Shape shape{2, 3}, turned{4, 8};
  Bytes host(24, 1);
  const gth_tensor_desc far = device::describe_on_device(GTH_DTYPE_INT32, shape, memory.data());
  gth_tensor_desc near = far;
  near.device = GTH_DEVICE_CPU;
  near.data = host.data();
  near.strides = turned.data();
  gth_tensor *on_host = nullptr, *on_device = nullptr;
  ASSERT_EQ(gth_tensor_borrow(&near, &on_host, nullptr), GTH_OK);
  ASSERT_EQ(gth_tensor_borrow(&far, &on_device, nullptr), GTH_OK);
  const int64_t allocations = gth_emulation_live_allocations();
  for (const bool to_device : {true, false}) {
    Error error;
    gth_testing_fail_allocation(1, 1);
    const int32_t status =
        calls::copy(context.get(), to_device ? on_host : on_device, to_device ? on_device : on_host, &error);
    gth_testing_fail_allocation(0, 0);
    facts::expect_fields(status, error, {GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, 24, 0});
    EXPECT_EQ(gth_emulation_live_allocations(), allocations);
  }
  EXPECT_EQ(gth_tensor_release(on_host), GTH_OK);
  EXPECT_EQ(gth_tensor_release(on_device), GTH_OK);
}

TEST_F(Emulated, FailuresOfExports) {
  const Context context;
  const Memory memory(Bytes(24, 1));
  const Shape shape{2, 3};
  const gth_tensor_desc desc = device::describe_on_device(GTH_DTYPE_INT32, shape, memory.data());
  gth_tensor* tensor = nullptr;
  ASSERT_EQ(gth_tensor_borrow(&desc, &tensor, nullptr), GTH_OK);
  int failures = 0;
  expect_to_survive([&](Failing* failing, Error* error) {
    DLManagedTensorVersioned* out = nullptr;
    failing->arm();
    const int32_t status = gth_tensor_to_dlpack(context.get(), tensor, GTH_EXPORT_COPY, &out, error);
    failing->disarm();
    EXPECT_EQ(status == GTH_OK, out != nullptr);
    failures += status != GTH_OK;
    if (out) out->deleter(out);
    context.sync();
    return status;
  });
  EXPECT_GT(failures, 1);
  EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
}

// CUDA determines the device of memory.
TEST_F(Emulated, FailuresOfDescriptions) {
  const Memory memory(8);
  const Shape shape{8};
  gth_tensor_desc desc = device::describe_on_device(GTH_DTYPE_INT8, shape, memory.data());
  desc.device_id = -1;
  int failures = 0;
  expect_to_survive([&](Failing* failing, Error* error) {
    gth_tensor* tensor = nullptr;
    failing->arm();
    const int32_t status = gth_tensor_borrow(&desc, &tensor, error);
    failing->disarm();
    EXPECT_EQ(status == GTH_OK, tensor != nullptr);
    failures += status != GTH_OK;
    EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
    return status;
  });
  EXPECT_GT(failures, 0);
}

// A deleter runs once, even if any CUDA call fails.
TEST_F(Emulated, FailuresOfReleases) {
  for (int64_t n = 1; n < 12; ++n) {
    int ended = 0;
    {
      const Context context;
      const Memory memory(8);
      const Shape shape{8};
      const gth_tensor_desc desc = device::describe_on_device(GTH_DTYPE_INT8, shape, memory.data());
      gth_tensor* tensor = nullptr;
      ASSERT_EQ(gth_tensor_adopt(
                    context.get(), &desc, [](void* user) { ++*static_cast<int*>(user); }, &ended, &tensor, nullptr),
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

}  // namespace
