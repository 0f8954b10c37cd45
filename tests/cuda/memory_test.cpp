#include "../../src/columns/arrow_structs.hpp"
#include "device_test.hpp"

// Memory on the device: it is allocated, adopted, copied, and freed after the stream has finished.
namespace {

using device::Bytes;
using device::Context;
using device::Error;
using device::Lookup;
using device::Memory;
using device::Shape;
using device::Stream;

class MemoryTest : public device::DeviceTest {};

// A handle that is released at the end of the scope.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(const gth_tensor_desc& desc) {
    Error error;
    EXPECT_EQ(gth_tensor_borrow(&desc, &handle_, &error), GTH_OK) << error.message;
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor() { release(); }
  gth_tensor* get() const { return handle_; }
  gth_tensor** out() { return &handle_; }
  void release() {
    EXPECT_EQ(gth_tensor_release(handle_), GTH_OK);
    handle_ = nullptr;
  }
  gth_tensor_desc desc() const {
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    EXPECT_EQ(gth_tensor_describe(handle_, &desc, nullptr), GTH_OK);
    return desc;
  }

 private:
  gth_tensor* handle_ = nullptr;
};

Bytes counting(size_t size) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + 1);
  return bytes;
}

TEST_F(MemoryTest, AllocatedTensorsAreZeros) {
  const Context context;
  const int64_t shape[] = {3, 5};
  Tensor tensor;
  Error error;
  ASSERT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_FLOAT32, 2, shape, tensor.out(), &error), GTH_OK)
      << error.message;
  const gth_tensor_desc desc = tensor.desc();
  EXPECT_EQ(desc.device, GTH_DEVICE_CUDA);
  EXPECT_EQ(desc.device_id, 0);
  context.sync();
  Bytes found(60, 'x');
  device::copy(found.data(), desc.data, 60);
  EXPECT_TRUE(found == Bytes(60, 0));
}

TEST_F(MemoryTest, TensorWithoutElementsHasNoMemory) {
  const Context context;
  const int64_t shape[] = {3, 0};
  Tensor tensor;
  ASSERT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_FLOAT32, 2, shape, tensor.out(), nullptr), GTH_OK);
  EXPECT_EQ(tensor.desc().data, nullptr);
}

TEST_F(MemoryTest, H6_FailedAllocationDoesNotAffectLaterCalls) {
  const Context context;
  const int64_t shape[] = {int64_t{1} << 50};
  Tensor tensor;
  Error error;
  EXPECT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, shape, tensor.out(), &error), GTH_E_NOMEM);
  EXPECT_EQ(error.value, int64_t{1} << 50);
  Lookup lookup(4, 2, 1);
  lookup.pick({3});
  lookup.enqueue(context);
  context.expect_no_error();
  lookup.expect_rows({3});
}

struct Hooks {
  int allocated = 0, freed = 0;
  CUstream_st* stream = nullptr;
};

TEST_F(MemoryTest, HooksServeOutputs) {
  const Stream stream;
  Hooks hooks;
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.device = GTH_DEVICE_CUDA;
  options.stream = stream.get();
  options.memory_user = &hooks;
  options.alloc = [](void* user, int64_t bytes, int64_t align, int32_t kind, int32_t id, CUstream_st* on) {
    auto* self = static_cast<Hooks*>(user);
    EXPECT_TRUE(bytes == 24 && align > 0 && kind == GTH_DEVICE_CUDA && id == 0);
    ++self->allocated;
    self->stream = on;
    return device::allocate(bytes);
  };
  options.free = [](void* user, int64_t, int64_t, int32_t, int32_t, CUstream_st*, void* memory) {
    ++static_cast<Hooks*>(user)->freed;
    device::deallocate(memory);
  };
  gth_context* context = nullptr;
  Error error;
  ASSERT_EQ(gth_context_create(&options, &context, &error), GTH_OK) << error.message;
  const int64_t shape[] = {3, 2};
  Tensor tensor;
  ASSERT_EQ(gth_tensor_alloc(context, GTH_DTYPE_INT32, 2, shape, tensor.out(), &error), GTH_OK) << error.message;
  ASSERT_EQ(gth_context_sync(context, &error), GTH_OK);
  Bytes found(24, 'x');
  device::copy(found.data(), tensor.desc().data, 24);
  EXPECT_TRUE(found == Bytes(24, 0));
  tensor.release();
  EXPECT_EQ(gth_context_release(context), GTH_OK);
  EXPECT_EQ(hooks.allocated, 1);
  EXPECT_EQ(hooks.freed, 1);
  EXPECT_EQ(hooks.stream, stream.get());
}

// A strided view of 3 x 4 numbers in a buffer of 64 bytes: transposed and reversed.
struct View {
  Shape shape{3, 4}, strides{4, 12};
  int64_t offset = 0;
};

TEST_F(MemoryTest, CopiesBetweenHostAndDevice) {
  const Context context;
  const View dense{{3, 4}, {16, 4}, 0}, turned{{3, 4}, {4, 12}, 0}, backwards{{3, 4}, {-16, -4}, 44};
  for (const View& host_view : {dense, turned, backwards}) {
    for (const View& device_view : {dense, turned, backwards}) {
      Bytes source = counting(48), back(48, 'x');
      const Memory memory(48);
      gth_tensor_desc on_host = GTH_TENSOR_DESC_INIT;
      on_host.dtype = GTH_DTYPE_INT32;
      on_host.ndim = 2;
      on_host.shape = host_view.shape.data();
      on_host.strides = host_view.strides.data();
      on_host.offset = host_view.offset;
      on_host.data = source.data();
      gth_tensor_desc on_device = on_host;
      on_device.device = GTH_DEVICE_CUDA;
      on_device.strides = device_view.strides.data();
      on_device.offset = device_view.offset;
      on_device.data = memory.data();
      gth_tensor_desc returned = on_host;
      returned.data = back.data();
      const Tensor from(on_host), to(on_device), end(returned);
      Error error;
      EXPECT_EQ(calls::copy(context.get(), from.get(), to.get(), &error), GTH_OK) << error.message;
      EXPECT_EQ(calls::copy(context.get(), to.get(), end.get(), &error), GTH_OK) << error.message;
      context.sync();
      EXPECT_TRUE(back == source);
    }
  }
}

TEST_F(MemoryTest, CopiesOnTheDevice) {
  const Context context;
  const Bytes content = counting(48);
  const Memory source(content), target(48);
  const Shape shape{3, 4}, turned{4, 12};
  gth_tensor_desc from = device::describe_on_device(GTH_DTYPE_INT32, shape, source.data());
  gth_tensor_desc to = device::describe_on_device(GTH_DTYPE_INT32, shape, target.data());
  to.strides = turned.data();
  const Tensor a(from), b(to);
  Error error;
  ASSERT_EQ(calls::copy(context.get(), a.get(), b.get(), &error), GTH_OK) << error.message;
  context.sync();
  const Bytes found = target.get();
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(0, std::memcmp(&found[i % 4 * 12 + i / 4 * 4], &content[i * 4], 4)) << i;
  }
  // A context that cannot access the memory returns an error.
  Bytes host(48);
  gth_tensor_desc h = from;
  h.device = GTH_DEVICE_CPU;
  h.data = host.data();
  const Tensor c(h);
  EXPECT_EQ(calls::copy(nullptr, a.get(), c.get(), &error), GTH_E_DEVICE);
  EXPECT_EQ(calls::copy(nullptr, c.get(), a.get(), &error), GTH_E_DEVICE);
}

// Copies of one contiguous range, of one range for several dims, and of none.
TEST_F(MemoryTest, CopiesOfOneContiguousRange) {
  const Context context;
  const Bytes content = counting(48);
  const Memory source(content), target(Bytes(48, 'x'));
  const Shape shape{3, 4}, few{2, 3}, none{3, 0}, scalar{};
  const auto copy = [&](const Shape& extents) {
    const Tensor from(device::describe_on_device(GTH_DTYPE_INT32, extents, source.data()));
    const Tensor to(device::describe_on_device(GTH_DTYPE_INT32, extents, target.data()));
    Error error;
    EXPECT_EQ(calls::copy(context.get(), from.get(), to.get(), &error), GTH_OK) << error.message;
    context.sync();
  };
  const auto copied = [&](size_t bytes) {
    Bytes expected(48, 'x');
    std::copy_n(content.begin(), bytes, expected.begin());
    return expected;
  };
  copy(none);
  EXPECT_TRUE(target.get() == copied(0));
  copy(scalar);
  EXPECT_TRUE(target.get() == copied(4));
  copy(few);
  EXPECT_TRUE(target.get() == copied(24));
  copy(shape);
  EXPECT_TRUE(target.get() == content);
}

// Both operands are in pageable memory, which kernels cannot access.
TEST_F(MemoryTest, CopiesOnTheHost) {
  const Context context;
  const Bytes content = counting(48);
  const Memory described(1);  // kernels may access nothing else
  const Shape shape{3, 4}, turned{4, 12};
  for (const int64_t* strides : {static_cast<const int64_t*>(nullptr), turned.data()}) {
    Bytes target(48, 'x');
    gth_tensor_desc from = device::describe_on_device(GTH_DTYPE_INT32, shape, content.data());
    from.device = GTH_DEVICE_CPU;
    gth_tensor_desc to = from;
    to.data = target.data();
    to.strides = strides;
    const Tensor a(from), b(to);
    Error error;
    ASSERT_EQ(calls::copy(context.get(), a.get(), b.get(), &error), GTH_OK) << error.message;
    context.sync();
    for (size_t i = 0; i < 12; ++i) {
      const size_t at = strides ? i % 4 * 12 + i / 4 * 4 : i * 4;
      EXPECT_EQ(0, std::memcmp(&target[at], &content[i * 4], 4)) << i;
    }
  }
}

// Strings are copied to host memory, so the hooks of a device are not called.
TEST_F(MemoryTest, StringsAreExportedToTheHost) {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.device = GTH_DEVICE_CUDA;
  options.alloc = [](void*, int64_t, int64_t, int32_t, int32_t, CUstream_st*) -> void* {
    ADD_FAILURE() << "memory of the device";
    return nullptr;
  };
  options.free = [](void*, int64_t, int64_t, int32_t, int32_t, CUstream_st*, void*) {};
  gth_context* context = nullptr;
  Error error;
  ASSERT_EQ(gth_context_create(&options, &context, &error), GTH_OK) << error.message;
  const int64_t shape = 2, offsets[] = {0, 1, 3};
  Tensor words;
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 1, &shape, offsets, "abb", 3, nullptr, nullptr, words.out(), &error),
            GTH_OK);
  ArrowSchema schema;
  ArrowArray array;
  ASSERT_EQ(gth_tensor_to_arrow(context, words.get(), GTH_EXPORT_COPY, &schema, &array, &error), GTH_OK)
      << error.message;
  EXPECT_EQ(array.length, 2);
  EXPECT_EQ(0, std::memcmp(array.buffers[1], offsets, sizeof offsets));
  EXPECT_EQ(0, std::memcmp(array.buffers[2], "abb", 3));
  array.release(&array);
  schema.release(&schema);
  EXPECT_EQ(gth_context_release(context), GTH_OK);
}

// Params in host memory that the device can access: pinned and managed.
TEST_F(MemoryTest, ParamsInHostMemory) {
  const Context context;
  Lookup lookup(5, 3, 4);
  lookup.pick({4, 0, 2, 2});
  const std::vector<int32_t> table = device::table_of(5, 3);
  void* pinned = device::allocate_host(60);
  void* managed = device::allocate_managed(60);
  device::describe(pinned, 60);
  device::describe(managed, 60);
  for (const bool is_managed : {false, true}) {
    void* place = is_managed ? managed : pinned;
    device::copy(place, table.data(), 60);
    gth_tensor_desc p = lookup.params_desc();
    p.data = place;
    p.device = is_managed ? GTH_DEVICE_CUDA_MANAGED : GTH_DEVICE_CUDA_HOST;
    const gth_tensor_desc i = lookup.indices_desc(), o = lookup.out_desc();
    lookup.clear();
    Error error;
    EXPECT_EQ(gth_gather(context.get(), &p, &i, &o, nullptr, &error), GTH_OK) << error.message;
    context.expect_no_error();
    lookup.expect_rows({4, 0, 2, 2});
    gth_plan* plan = nullptr;
    EXPECT_EQ(device::plan_gather(p, i, &o, &plan, &error), GTH_OK) << error.message;
    EXPECT_EQ(gth_plan_run(context.get(), plan, GTH_OPEN, place, i.data, lookup.out.data(), &error), GTH_OK);
    EXPECT_EQ(gth_plan_release(plan), GTH_OK);
    context.sync();
    if (is_managed) {  // managed memory belongs to no single device, so CUDA is not queried
      p.device_id = -1;
      EXPECT_EQ(Tensor(p).desc().device_id, -1);
    }
  }
  device::deallocate_host(pinned);
  device::is_emulated() ? device::deallocate_host(managed) : device::deallocate(managed);
}

TEST_F(MemoryTest, IndicesInPinnedMemory) {
  const Context context;
  Lookup lookup(5, 3, 4);
  auto* rows = static_cast<int64_t*>(device::allocate_host(32));
  device::describe(rows, 32);
  for (int64_t i = 0; i < 4; ++i) rows[i] = 4 - i;
  gth_tensor_desc i = lookup.indices_desc();
  i.data = rows;
  i.device = GTH_DEVICE_CUDA_HOST;
  const gth_tensor_desc p = lookup.params_desc(), o = lookup.out_desc();
  Error error;
  EXPECT_EQ(gth_gather(context.get(), &p, &i, &o, nullptr, &error), GTH_OK) << error.message;
  context.expect_no_error();
  lookup.expect_rows({4, 3, 2, 1});
  device::deallocate_host(rows);
}

struct Ended {
  int count = 0;
};

void count_end(void* user) { ++static_cast<Ended*>(user)->count; }

TEST_F(MemoryTest, AdoptedMemoryIsReleasedOnce) {
  Ended ended;
  const Memory memory(8);
  const Shape shape{8};
  const gth_tensor_desc desc = device::describe_on_device(GTH_DTYPE_INT8, shape, memory.data());
  Context context;
  Tensor first, second;
  ASSERT_EQ(gth_tensor_adopt(context.get(), &desc, count_end, &ended, first.out(), nullptr), GTH_OK);
  ASSERT_EQ(gth_tensor_adopt(context.get(), &desc, count_end, &ended, second.out(), nullptr), GTH_OK);
  first.release();
  context.sync();
  EXPECT_EQ(ended.count, 1);
  context.release();
  EXPECT_EQ(ended.count, 1);
  second.release();  // the context is released: waits for the device
  EXPECT_EQ(ended.count, 2);
}

// Pageable memory is not used by a stream, so it is released with its tensor.
TEST_F(MemoryTest, AdoptedPageableMemoryIsReleasedWithItsTensor) {
  Ended ended;
  Bytes memory(8);
  const Shape shape{8};
  gth_tensor_desc desc = device::describe_on_device(GTH_DTYPE_INT8, shape, memory.data());
  desc.device = GTH_DEVICE_CPU;
  const Stream stream;
  const Context context(stream.get());
  Tensor tensor;
  ASSERT_EQ(gth_tensor_adopt(context.get(), &desc, count_end, &ended, tensor.out(), nullptr), GTH_OK);
  Lookup lookup(6, 4, 2);
  lookup.pick({1, 2});
  device::hold(stream.get());
  lookup.enqueue(context);
  tensor.release();
  EXPECT_EQ(ended.count, 1);
  context.sync();
}

TEST_F(MemoryTest, WaitingDeletersRunWithTheReleaseOfTheContext) {
  Ended ended;
  const Memory memory(8);
  const Shape shape{8};
  const gth_tensor_desc desc = device::describe_on_device(GTH_DTYPE_INT8, shape, memory.data());
  Context context;
  Tensor tensor;
  ASSERT_EQ(gth_tensor_adopt(context.get(), &desc, count_end, &ended, tensor.out(), nullptr), GTH_OK);
  tensor.release();
  context.release();
  EXPECT_EQ(ended.count, 1);
}

TEST_F(MemoryTest, OwnMemoryOutlivesItsContext) {
  Context context;
  const int64_t shape = 16;
  Tensor tensor;
  ASSERT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, &shape, tensor.out(), nullptr), GTH_OK);
  context.release();
  Bytes found(16, 'x');
  device::copy(found.data(), tensor.desc().data, 16);
  EXPECT_TRUE(found == Bytes(16, 0));
}

}  // namespace
