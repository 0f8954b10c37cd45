#pragma once

#include <vector>

#include "hostile.hpp"
#include "sparse.hpp"

namespace hostile {

constexpr int64_t distance = int64_t{3} << 30;

inline std::vector<int64_t> numbers_from(int64_t first, const Shape& shape) {
  std::vector<int64_t> values(static_cast<size_t>(count_of(shape)));
  for (int64_t& each : values) each = first++;
  return values;
}

// A tensor of int32 or int64 whose dim `far` has the stride `distance` or -distance. The other dims are dense. Element 0
// is in the middle of the memory, so that an address with a wrong sign is inside of it, too.
class Distant {
 public:
  Distant(int32_t dtype, Shape shape, size_t far, bool is_reversed, const std::vector<int64_t>& values)
      : shape_(std::move(shape)), item_(gth_dtype_size(dtype)), memory_(8 * distance) {
    int64_t step = item_;
    for (size_t d = shape_.size(); d-- > 0;) {
      strides_.insert(strides_.begin(), d == far ? (is_reversed ? -distance : distance) : step);
      if (d != far) step *= shape_[d];
    }
    if (!memory_) return;
    memory_.keep_small_pages();
    desc_ = describe(dtype, shape_, memory_.data(), strides_.data());
    desc_.offset = 4 * distance;
    for (size_t i = 0; i < values.size(); ++i) std::memcpy(at(static_cast<int64_t>(i)), &values[i], size_t(item_));
  }

  explicit operator bool() const { return static_cast<bool>(memory_); }
  const gth_tensor_desc& desc() const { return desc_; }
  gth_tensor_desc desc_on(int32_t device) const {
    gth_tensor_desc desc = desc_;
    desc.device = device;
    return desc;
  }

  // Returns the elements in row-major order.
  std::vector<int64_t> values() const {
    std::vector<int64_t> result(static_cast<size_t>(count_of(shape_)), 0);
    for (size_t i = 0; i < result.size(); ++i) {
      int32_t narrow;
      std::memcpy(item_ == 4 ? static_cast<void*>(&narrow) : &result[i], at(static_cast<int64_t>(i)), size_t(item_));
      if (item_ == 4) result[i] = narrow;
    }
    return result;
  }

 private:
  char* at(int64_t number) const {
    int64_t offset = desc_.offset;
    for (size_t d = shape_.size(); d-- > 0; number /= shape_[d]) offset += number % shape_[d] * strides_[d];
    return memory_.data() + offset;
  }

  Shape shape_;
  std::vector<int64_t> strides_;
  int64_t item_;
  Sparse memory_;
  gth_tensor_desc desc_ = GTH_TENSOR_DESC_INIT;
};

}  // namespace hostile
