#include "core/layout.hpp"

#include <algorithm>
#include <cinttypes>

namespace gather::core {
namespace {

bool has_empty_dim(const gth_tensor_desc& desc) {
  for (int32_t i = 0; i < desc.ndim; ++i) {
    if (desc.shape[i] == 0) return true;
  }
  return false;
}

int64_t magnitude(int64_t stride) { return stride == INT64_MIN ? INT64_MAX : stride < 0 ? -stride : stride; }

// The sizes have been checked, so no product leaves int64. Empty dims count as 1, as they do there.
void set_dense_strides(const gth_tensor_desc& desc, int64_t bytes, Layout* out) {
  Scaled stride = fixed(bytes);
  for (int32_t i = desc.ndim; i-- > 0;) {
    out->strides[i] = stride;
    const Scaled extent = extent_of(desc.shape[i]);
    stride.factor *= std::max<int64_t>(extent.factor, 1);
    stride.by_n |= extent.by_n;
  }
  if (stride.by_n) out->largest_n = INT64_MAX / std::max<int64_t>(stride.factor, 1);
}

// `reached` is the byte that leaves the memory, counted from the data pointer.
int32_t fail_stride(const gth_tensor_desc& desc, int32_t operand, int32_t dim, int64_t reached, const Error& error) {
  return error.fail({GTH_E_STRIDE, operand, dim, -1, reached, desc.extent},
                    "%s: elements reach byte %" PRId64 " of the %" PRId64 " described (offset %" PRId64 ")",
                    operand_name(operand), reached, desc.extent, desc.offset);
}

// Widens the reach by a dim of `extent` and `stride`; false where int64 ends.
bool widen(int64_t extent, int64_t stride, Reach* reach) {
  int64_t span;
  if (!multiply(extent - 1, stride, &span)) return false;
  return span < 0 ? add(reach->low, span, &reach->low) : add(reach->high, span, &reach->high);
}

// A dim of open extent reaches (n - 1) * stride; dense strides around it grow with n as well.
void widen_open(int64_t extent, const Scaled& stride, Layout* out) {
  Reach& reach = out->reach;
  reach.is_open = true;
  if (extent == GTH_OPEN) {
    (stride.factor < 0 ? reach.low_by_n : reach.high_by_n) += stride.factor;
    (stride.factor < 0 ? reach.low : reach.high) -= stride.factor;
    const int64_t step = magnitude(stride.factor);
    if (step) out->largest_n = std::min(out->largest_n, INT64_MAX / 2 / step);
  } else {
    reach.high_by_n += (extent - 1) * stride.factor;
  }
}

}  // namespace

int32_t check_size(int32_t ndim, const int64_t* shape, int64_t bytes, int32_t operand, const Error& error) {
  int64_t size = std::max<int64_t>(bytes, 1);
  for (int32_t i = 0; i < ndim; ++i) {
    if (!multiply(size, std::max<int64_t>(shape[i], 1), &size)) {
      return error.fail({GTH_E_SIZE, operand, -1, -1, shape[i], INT64_MAX},
                        "%s: more than 2^63 - 1 bytes (dim %" PRId32 " is %" PRId64 ")", operand_name(operand), i,
                        shape[i]);
    }
  }
  return GTH_OK;
}

int32_t resolve_layout(const gth_tensor_desc& desc, int64_t bytes, int32_t operand, Layout* out, const Error& error) {
  out->largest_n = INT64_MAX;
  if (desc.strides) {
    for (int32_t i = 0; i < desc.ndim; ++i) out->strides[i] = fixed(desc.strides[i]);
  } else {
    set_dense_strides(desc, bytes, out);
  }
  Reach& reach = out->reach;
  reach = {desc.offset, 0, desc.offset, 0, has_empty_dim(desc), false};
  if (reach.empty) return GTH_OK;
  if (desc.extent < 0) return fail_stride(desc, operand, -1, desc.offset, error);
  if (!add(reach.high, bytes, &reach.high)) return fail_stride(desc, operand, -1, INT64_MAX, error);
  for (int32_t i = 0; i < desc.ndim; ++i) {
    const Scaled& stride = out->strides[i];
    if (desc.shape[i] == 1) continue;
    if (desc.shape[i] == GTH_OPEN || stride.by_n) {
      widen_open(desc.shape[i], stride, out);
    } else if (!widen(desc.shape[i], stride.factor, &reach)) {
      return fail_stride(desc, operand, i, stride.factor < 0 ? INT64_MIN : INT64_MAX, error);
    }
  }
  if (reach.is_open) return GTH_OK;  // the memory is the caller's duty at each run
  if (reach.low < 0) return fail_stride(desc, operand, -1, reach.low, error);
  if (desc.extent > 0 && reach.high > desc.extent) return fail_stride(desc, operand, -1, reach.high, error);
  return GTH_OK;
}

int32_t check_disjoint(const gth_tensor_desc& desc, int64_t bytes, Layout* layout, const Error& error) {
  if (!desc.strides || layout->reach.empty) return GTH_OK;
  int32_t order[GTH_MAX_NDIM];
  int32_t count = 0;
  for (int32_t i = 0; i < desc.ndim; ++i) {
    if (desc.shape[i] != 1) order[count++] = i;
  }
  std::sort(order, order + count,
            [&](int32_t a, int32_t b) { return magnitude(desc.strides[a]) < magnitude(desc.strides[b]); });
  int64_t span = bytes;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t dim = order[i];
    const int64_t step = magnitude(desc.strides[dim]);
    if (step < span) {
      return error.fail({GTH_E_STRIDE, GTH_OPERAND_OUT, dim, -1, desc.strides[dim], span},
                        "out: elements overlap, dim %" PRId32 " has stride %" PRId64 ", needed is at least %" PRId64,
                        dim, desc.strides[dim], span);
    }
    if (desc.shape[dim] != GTH_OPEN) {
      span += step * (desc.shape[dim] - 1);
    } else if (i + 1 < count) {
      // The next larger stride bounds the open extent.
      const int64_t room = (magnitude(desc.strides[order[i + 1]]) - span) / step + 1;
      layout->largest_n = std::min(layout->largest_n, room);
      if (room > 0) span += step * (room - 1);
    }
  }
  return GTH_OK;
}

}  // namespace gather::core
