#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../../src/cuda/launch_limits.hpp"
#include "../cpp/calls.hpp"
#include "../cpp/facts.hpp"
#include "device.hpp"
#include "gather/gather.h"

// Helpers of the device tests. Without a device, each test is skipped.
namespace device {

using Bytes = std::vector<char>;
using Shape = std::vector<int64_t>;

constexpr char poison = static_cast<char>(0xa5);

// The largest number of indices that are validated in the copying kernel, and the smallest one for which a separate
// kernel validates them (cuda/launch_limits.hpp).
constexpr int64_t most_inside = gather::cuda::validated_inside, in_front = most_inside + 1;

// Device memory of `bytes` bytes at an address `shift` bytes after a multiple of 256. Kernels may access no other
// memory.
class Memory {
 public:
  explicit Memory(int64_t bytes, int64_t shift = 0)
      : bytes_(bytes), base_(static_cast<char*>(allocate(bytes + shift))), data_(base_ + shift) {
    describe(data_, bytes);
  }
  explicit Memory(const Bytes& content, int64_t shift = 0) : Memory(static_cast<int64_t>(content.size()), shift) {
    put(content);
  }
  template <class T>
  explicit Memory(const std::vector<T>& values, int64_t shift = 0)
      : Memory(static_cast<int64_t>(values.size() * sizeof(T)), shift) {
    if (!values.empty()) copy(data_, values.data(), bytes_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { deallocate(base_); }

  char* data() const { return data_; }
  void put(const Bytes& content) {
    if (!content.empty()) copy(data_, content.data(), static_cast<int64_t>(content.size()));
  }
  Bytes get() const {
    Bytes content(static_cast<size_t>(bytes_));
    if (bytes_) copy(content.data(), data_, bytes_);
    return content;
  }
  void fill(char value) { device::fill(data_, value, bytes_); }

 private:
  int64_t bytes_;
  char* base_;
  char* data_;
};

// Returns the number of random calls of a test, by the speed of the device. An interpreter of nvcc's kernels is slower than
// kernels of the host compiler.
inline int64_t random_calls(int64_t emulated, int64_t real) {
  if (!is_emulated()) return real;
  return std::getenv("GATHER_INTERPRETED") ? emulated / 5 : emulated;
}

struct Error : gth_error {
  Error() : gth_error GTH_ERROR_INIT {}
};

inline gth_tensor_desc describe_on_device(int32_t dtype, const Shape& shape, const void* data) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  desc.dtype = dtype;
  desc.device = GTH_DEVICE_CUDA;
  desc.ndim = static_cast<int32_t>(shape.size());
  desc.shape = shape.data();
  desc.data = data;
  return desc;
}

// Runs an operation that creates its result.
inline int32_t make(gth_context* context, int32_t op, const gth_tensor_desc& table, const gth_tensor_desc& indices,
                    const gth_options* options, gth_tensor** out, gth_error* error) {
  const gth_request request = GTH_REQUEST(op, &table, &indices, nullptr, options);
  return gth_make(context, &request, out, error);
}

inline int32_t make_gather(gth_context* context, const gth_tensor* params, const gth_tensor* indices,
                           const gth_options* options, gth_tensor** out, gth_error* error) {
  const gth_tensor_desc p = GTH_TENSOR_DESC_HANDLE(params), i = GTH_TENSOR_DESC_HANDLE(indices);
  return make(context, GTH_OP_GATHER, p, i, options, out, error);
}

inline int32_t plan_gather(const gth_tensor_desc& params, const gth_tensor_desc& indices, const gth_tensor_desc* out,
                           gth_plan** plan, gth_error* error) {
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &params, &indices, out, nullptr);
  return gth_plan_create(&request, plan, error);
}

// A context that is released at the end of the scope.
class Context {
 public:
  explicit Context(CUstream_st* stream = nullptr, gth_error_record* record = nullptr) {
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.device = GTH_DEVICE_CUDA;
    options.stream = stream;
    options.record = record;
    Error error;
    EXPECT_EQ(gth_context_create(&options, &handle_, &error), GTH_OK) << error.message;
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { release(); }

  gth_context* get() const { return handle_; }
  void release() {
    EXPECT_EQ(gth_context_release(handle_), GTH_OK);
    handle_ = nullptr;
  }
  void sync() const {
    Error error;
    EXPECT_EQ(gth_context_sync(handle_, &error), GTH_OK) << error.message;
  }
  // Takes the error of the calls since the last take and compares it.
  void expect_taken(const facts::Facts& expected, uint64_t count = 1, int64_t sequence = 0) const {
    Error error;
    facts::expect_fields(gth_context_take_error(handle_, &error), error, expected);
    if (expected.status == GTH_OK) return;
    EXPECT_EQ(error.count, count);
    if (sequence) {
      EXPECT_EQ(error.sequence, sequence);
    }
  }
  void expect_no_error() const { expect_taken({GTH_OK}); }

 private:
  gth_context* handle_ = nullptr;
};

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (why_not()) GTEST_SKIP() << why_not();
    violations_ = violations();
  }
  void TearDown() override {
    if (why_not()) return;
    EXPECT_EQ(violations(), violations_) << "the emulated device has found a violation";
    forget_described();
  }

 private:
  int64_t violations_ = 0;
};

// A stream that is destroyed at the end of the scope.
class Stream {
 public:
  Stream() : handle_(make_stream()) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { destroy(handle_); }
  CUstream_st* get() const { return handle_; }

 private:
  CUstream_st* handle_;
};

// The captured work of a body on a stream. The graph is destroyed at the end of the scope.
class Captured {
 public:
  template <class Body>
  Captured(const Stream& stream, Body&& body, Mode mode = Mode::global) : stream_(stream.get()) {
    begin_capture(stream_, mode);
    body();
    graph_ = end_capture(stream_);
    EXPECT_NE(graph_, nullptr) << "something spoiled the capture";
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  ~Captured() {
    if (graph_) destroy_graph(graph_);
  }

  Graph get() const { return graph_; }
  void launch() const { launch_on(stream_); }
  void launch_on(CUstream_st* stream) const {
    if (graph_) device::launch(graph_, stream);
  }

 private:
  CUstream_st* stream_;
  Graph graph_;
};

// A tensor that is released at the end of the scope.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(const gth_tensor_desc& desc) {
    Error error;
    EXPECT_EQ(gth_tensor_borrow(&desc, &handle_, &error), GTH_OK) << error.message;
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor() { EXPECT_EQ(gth_tensor_release(handle_), GTH_OK); }

  gth_tensor* get() const { return handle_; }
  gth_tensor** out() { return &handle_; }
  gth_tensor_desc desc() const {
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    EXPECT_EQ(gth_tensor_describe(handle_, &desc, nullptr), GTH_OK);
    return desc;
  }

 private:
  gth_tensor* handle_ = nullptr;
};

// Returns rows of 32-bit numbers. The element at row r and column c is 1000 * r + c.
inline std::vector<int32_t> table_of(int64_t rows, int64_t width) {
  std::vector<int32_t> values;
  for (int64_t i = 0; i < rows * width; ++i) {
    values.push_back(static_cast<int32_t>(1000 * (i / width) + i % width));
  }
  return values;
}

// A gather of rows of an int32 table by int64 indices, on the device.
struct Lookup {
  Lookup(int64_t rows, int64_t columns, int64_t picks)
      : width(columns),
        params_shape{rows, columns},
        indices_shape{picks},
        out_shape{picks, columns},
        params(table_of(rows, columns)),
        indices(picks * 8),
        out(picks * columns * 4) {
    clear();
  }

  gth_tensor_desc params_desc() const { return describe_on_device(GTH_DTYPE_INT32, params_shape, params.data()); }
  gth_tensor_desc indices_desc() const { return describe_on_device(GTH_DTYPE_INT64, indices_shape, indices.data()); }
  gth_tensor_desc out_desc() const { return describe_on_device(GTH_DTYPE_INT32, out_shape, out.data()); }

  void pick(const std::vector<int64_t>& rows) {
    copy(indices.data(), rows.data(), static_cast<int64_t>(rows.size()) * 8);
  }
  void clear() { out.fill(poison); }

  int32_t call(const Context& context, gth_error* error, const gth_options* options = nullptr) const {
    const gth_tensor_desc p = params_desc(), i = indices_desc(), o = out_desc();
    return gth_gather(context.get(), &p, &i, &o, options, error);
  }
  // Enqueues the gather and returns the number of the call.
  int64_t enqueue(const Context& context, const gth_options* options = nullptr) const {
    Error error;
    EXPECT_EQ(call(context, &error, options), GTH_OK) << error.message;
    return error.sequence;
  }
  // Enqueues the gather into a new tensor.
  void enqueue_new(const Context& context, gth_tensor** made) const {
    Error error;
    EXPECT_EQ(make(context.get(), GTH_OP_GATHER, params_desc(), indices_desc(), nullptr, made, &error), GTH_OK)
        << error.message;
  }
  void expect_rows(const std::vector<int64_t>& rows) const {
    std::vector<int32_t> expected;
    for (const int64_t row : rows) {
      for (int64_t c = 0; c < width; ++c) expected.push_back(static_cast<int32_t>(1000 * row + c));
    }
    std::vector<int32_t> found(expected.size());
    copy(found.data(), out.data(), static_cast<int64_t>(found.size()) * 4);
    EXPECT_TRUE(found == expected);
  }
  void expect_unchanged() const {
    const Bytes found = out.get();
    EXPECT_TRUE(found == Bytes(found.size(), poison)) << "the output was written";
  }

  int64_t width;
  Shape params_shape, indices_shape, out_shape;
  Memory params, indices, out;
};

// Expects zeros in a new output of a failed call.
inline void expect_zeros(const Tensor& made) {
  const gth_tensor_desc desc = made.desc();
  Bytes found(static_cast<size_t>(desc.extent), 'x');
  copy(found.data(), desc.data, desc.extent);
  EXPECT_TRUE(found == Bytes(found.size(), 0));
}

inline gth_options with_bounds(int32_t bounds) {
  gth_options options = GTH_OPTIONS_INIT;
  options.bounds = bounds;
  return options;
}

// Adopts a tensor with a context and a deleter.
inline gth_tensor* adopt(const Context& context, const gth_tensor_desc& desc, gth_deleter_fn deleter, void* user) {
  Error error;
  gth_tensor* tensor = nullptr;
  EXPECT_EQ(gth_tensor_adopt(context.get(), &desc, deleter, user, &tensor, &error), GTH_OK) << error.message;
  return tensor;
}

inline void count_end(void* user) { ++*static_cast<int*>(user); }

// Releases a tensor that enqueued work still uses. *ended counts the runs of its deleter.
inline void release_in_use(const Context& context, const Stream& stream, const Lookup& lookup,
                           const gth_tensor_desc& desc, int* ended) {
  gth_tensor* adopted = adopt(context, desc, count_end, ended);
  device::hold(stream.get());
  lookup.enqueue(context);
  EXPECT_EQ(gth_tensor_release(adopted), GTH_OK);
}

}  // namespace device
