#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "calls.hpp"
#include "facts.hpp"

// Helpers of the hostile cases: arrays in memory of exactly their size, and functions that run every form of a call.
namespace hostile {

using Shape = std::vector<int64_t>;
using Bytes = std::vector<char>;

using facts::Facts;

struct Error : gth_error {
  Error() : gth_error GTH_ERROR_INIT { std::memset(message, 'x', sizeof message); }
};

// Compares all fields of an error of the CPU.
inline void expect_facts(int32_t status, const gth_error& error, const Facts& facts, const char* form = "") {
  facts::expect_fields(status, error, facts, form);
  if (status != facts.status || status == GTH_OK) return;
  EXPECT_EQ(error.item, facts.item) << form;
  EXPECT_EQ(error.native, 0) << form;
  EXPECT_EQ(error.sequence, 0) << form;
  EXPECT_EQ(error.count, 0u) << form;
  const size_t length = strnlen(error.message, sizeof error.message);
  EXPECT_GT(length, 0u) << form;
  EXPECT_LT(length, sizeof error.message) << form;
}

inline gth_options with_axis(int64_t axis, int64_t batch_dims = 0) {
  gth_options options = GTH_OPTIONS_INIT;
  options.has_axis = 1;
  options.axis = axis;
  options.batch_dims = batch_dims;
  return options;
}

inline gth_options with_batch(int64_t batch_dims) {
  gth_options options = GTH_OPTIONS_INIT;
  options.batch_dims = batch_dims;
  return options;
}

inline gth_options with_profile(int32_t profile, int64_t batch_dims = 0) {
  gth_options options = with_batch(batch_dims);
  options.profile = profile;
  return options;
}

inline gth_options with_bounds(int32_t bounds, int32_t negative = 0) {
  gth_options options = GTH_OPTIONS_INIT;
  options.bounds = bounds;
  options.negative = negative;
  return options;
}

inline gth_options reducing(int32_t reduction, int32_t accumulate = 0) {
  gth_options options = GTH_OPTIONS_INIT;
  options.reduction = reduction;
  options.accumulate = accumulate;
  return options;
}

inline int64_t count_of(const Shape& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

inline gth_tensor_desc describe(int32_t dtype, const Shape& shape, const void* data, const int64_t* strides = nullptr) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  desc.dtype = dtype;
  desc.ndim = static_cast<int32_t>(shape.size());
  desc.shape = shape.data();
  desc.strides = strides;
  desc.data = data;
  return desc;
}

// A dense array in heap memory of exactly its size, so that the address sanitizer finds every access beyond it.
class Array {
 public:
  Array(int32_t dtype, Shape shape)
      : dtype_(dtype),
        shape_(std::move(shape)),
        bytes_(static_cast<size_t>(std::max<int64_t>(count_of(shape_), 0) * gth_dtype_size(dtype))),
        memory_(new char[bytes_]) {
    for (size_t i = 0; i < bytes_; ++i) memory_[i] = static_cast<char>(i * 37 + 11);
  }

  template <class V>
  Array(int32_t dtype, Shape shape, const std::vector<V>& values) : Array(dtype, std::move(shape)) {
    EXPECT_EQ(values.size() * sizeof(V), bytes_);
    if (bytes_) std::memcpy(memory_.get(), values.data(), bytes_);
  }

  gth_tensor_desc desc() const { return describe(dtype_, shape_, memory_.get()); }
  const Shape& shape() const { return shape_; }
  int32_t dtype() const { return dtype_; }
  char* data() const { return memory_.get(); }
  Bytes bytes() const { return Bytes(memory_.get(), memory_.get() + bytes_); }
  void fill(char value) { std::memset(memory_.get(), value, bytes_); }

 private:
  int32_t dtype_;
  Shape shape_;
  size_t bytes_;
  std::unique_ptr<char[]> memory_;
};

inline Array indices32(Shape shape, const std::vector<int32_t>& values) {
  return Array(GTH_DTYPE_INT32, std::move(shape), values);
}
inline Array indices64(Shape shape, const std::vector<int64_t>& values) {
  return Array(GTH_DTYPE_INT64, std::move(shape), values);
}

inline Array floats(Shape shape, const std::vector<float>& values) {
  return Array(GTH_DTYPE_FLOAT32, std::move(shape), values);
}

using calls::Operation;

constexpr Operation g = calls::gather, nd = calls::gather_nd;

// A handle that is released at the end of a test.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(const gth_tensor_desc& desc) { static_cast<void>(gth_tensor_borrow(&desc, &handle_, nullptr)); }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor() { EXPECT_EQ(gth_tensor_release(handle_), GTH_OK); }

  gth_tensor** out() { return &handle_; }
  gth_tensor* get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

  gth_tensor_desc desc() const {
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    EXPECT_EQ(gth_tensor_describe(handle_, &desc, nullptr), GTH_OK);
    return desc;
  }

 private:
  gth_tensor* handle_ = nullptr;
};

class Plan {
 public:
  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() { EXPECT_EQ(gth_plan_release(handle_), GTH_OK); }

  gth_plan** out() { return &handle_; }
  gth_plan* get() const { return handle_; }

 private:
  gth_plan* handle_ = nullptr;
};

// One gather whose arguments may be invalid.
struct Call {
  const Operation& op;
  gth_tensor_desc params, indices;
  const gth_options* options = nullptr;

  bool has_open() const { return is_open(params) || is_open(indices); }

  static bool is_open(const gth_tensor_desc& desc) {
    if (desc.ndim < 0 || desc.ndim > GTH_MAX_NDIM || !desc.shape) return false;
    return std::count(desc.shape, desc.shape + desc.ndim, GTH_OPEN) > 0;
  }

  int32_t run_planned(const gth_tensor_desc& out, gth_error* error) const {
    Plan plan;
    const int32_t status = op.plan(&params, &indices, &out, options, plan.out(), error);
    if (status) return status;
    return gth_plan_run(nullptr, plan.get(), GTH_OPEN, params.data, indices.data, const_cast<void*>(out.data), error);
  }
};

// Runs the call with every mix of memory and tensor handles that its operands allow.
template <class Check>
void run_mixed(const Call& call, const gth_tensor_desc& out, gth_error* error, Check&& check) {
  const Tensor params(call.params), indices(call.indices), rows(out);
  const auto operand = [](bool is_handle, const Tensor& tensor, const gth_tensor_desc& desc) {
    return is_handle ? calls::Operand(tensor.get()) : calls::Operand(&desc);
  };
  for (int32_t handles = 0; handles < 8; ++handles) {
    const bool p = handles & 1, i = handles & 2, o = handles & 4;
    if ((p && !params) || (i && !indices) || (o && !rows)) continue;
    check(call.op.run(nullptr, operand(p, params, call.params), operand(i, indices, call.indices),
                      operand(o, rows, out), call.options, error),
          ("handles " + std::to_string(handles)).c_str());
  }
}

// Expects that every available form rejects the call with these facts.
inline void expect_fault(const Call& call, const gth_tensor_desc& out, const Facts& facts) {
  {
    Error error;
    expect_facts(call.op.named(nullptr, &call.params, &call.indices, &out, call.options, &error), error, facts,
                 "named");
    EXPECT_EQ(call.op.named(nullptr, &call.params, &call.indices, &out, call.options, nullptr), facts.status);
  }
  if (!call.has_open()) {
    Error error;
    expect_facts(call.run_planned(out, &error), error, facts, "plan");
  }
  Error error;
  run_mixed(call, out, &error, [&](int32_t status, const char* form) { expect_facts(status, error, facts, form); });
  const Tensor params(call.params), indices(call.indices);
  if (!params || !indices || facts.operand == GTH_OPERAND_OUT) return;
  gth_tensor* made = reinterpret_cast<gth_tensor*>(&error);
  expect_facts(call.op.make(nullptr, params.get(), indices.get(), nullptr, call.options, &made, &error), error, facts,
               "allocating");
  EXPECT_EQ(made, nullptr);
}

// Like expect_fault, and expects that the output is unchanged.
inline void expect_refused(const Call& call, const Array& out, const Facts& facts) {
  const Bytes before = out.bytes();
  expect_fault(call, out.desc(), facts);
  EXPECT_TRUE(out.bytes() == before) << "the output was written";
}

inline void expect_shape(const Call& call, const Shape& shape) {
  int64_t extents[GTH_MAX_NDIM];
  int32_t ndim = -1;
  Error error;
  EXPECT_EQ(call.op.infer(&call.params, &call.indices, call.options, GTH_MAX_NDIM, &ndim, extents, &error), GTH_OK)
      << error.message;
  ASSERT_EQ(ndim, static_cast<int32_t>(shape.size()));
  EXPECT_EQ(Shape(extents, extents + ndim), shape);
}

// Expects that every form gathers `expected` in this shape.
inline void expect_gathered(const Call& call, const Shape& shape, const Bytes& expected) {
  expect_shape(call, shape);
  Array out(call.params.dtype, shape);
  const gth_tensor_desc desc = out.desc();
  Error error;
  const auto check = [&](int32_t status, const char* form) {
    EXPECT_STREQ(gth_status_name(status), "GTH_OK") << form << ": " << error.message;
    EXPECT_EQ(error.status, GTH_OK) << form;
    EXPECT_EQ(error.message[0], 'x') << form << ": on GTH_OK only status is written";
    EXPECT_TRUE(out.bytes() == expected) << form;
    out.fill('#');
  };
  check(call.op.named(nullptr, &call.params, &call.indices, &desc, call.options, &error), "named");
  check(call.run_planned(desc, &error), "plan");
  run_mixed(call, desc, &error, check);
  const Tensor params(call.params), indices(call.indices);
  Tensor made;
  ASSERT_EQ(call.op.make(nullptr, params.get(), indices.get(), nullptr, call.options, made.out(), &error), GTH_OK)
      << error.message;
  const gth_tensor_desc result = made.desc();
  EXPECT_EQ(Shape(result.shape, result.shape + result.ndim), shape);
  const char* data = static_cast<const char*>(result.data);
  EXPECT_TRUE(expected.empty() || Bytes(data, data + expected.size()) == expected) << "allocating";
}

// Returns the rows of an array with these numbers.
inline Bytes rows_of(const Array& array, int64_t row_bytes, const std::vector<int64_t>& rows) {
  Bytes result(rows.size() * static_cast<size_t>(row_bytes));
  char* at = result.data();
  for (int64_t row : rows) at = std::copy_n(array.data() + row * row_bytes, row_bytes, at);
  return result;
}

}  // namespace hostile
