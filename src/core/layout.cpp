#include "core/layout.hpp"

#include <algorithm>
#include <cinttypes>

namespace gather::core {
namespace {

int64_t magnitude(int64_t stride) { return stride == INT64_MIN ? INT64_MAX : stride < 0 ? -stride : stride; }

// Dense row-major strides and their reach. The sizes have been checked, so no product leaves int64. Empty dims count as
// 1, as they do there.
void lay_out_densely(const gth_tensor_desc& desc, int64_t bytes, Layout* out) {
  Scaled stride = fixed(bytes);
  Reach& reach = out->reach;
  for (int32_t i = desc.ndim; i-- > 0;) {
    const int64_t extent = desc.shape[i];
    out->strides[i] = stride;
    reach.empty |= extent == 0;
    if (extent > 1) stride.factor *= extent;
    if (extent == GTH_OPEN) stride.by_n = 1;
  }
  if (stride.by_n) {
    reach.is_open = true;
    reach.high_by_n = stride.factor;
    out->largest_n = INT64_MAX / 2 / std::max<int64_t>(stride.factor, 1);
  } else if (!add(reach.high, stride.factor, &reach.high)) {
    reach.high = INT64_MIN;  // refused by the caller
  }
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

// A dim of open extent and given stride reaches (n - 1) * stride.
void widen_open(int64_t stride, Layout* out) {
  Reach& reach = out->reach;
  reach.is_open = true;
  (stride < 0 ? reach.low_by_n : reach.high_by_n) += stride;
  (stride < 0 ? reach.low : reach.high) -= stride;
  if (stride) out->largest_n = std::min(out->largest_n, INT64_MAX / 2 / magnitude(stride));
}

int32_t lay_out_as_given(const gth_tensor_desc& desc, int64_t bytes, int32_t operand, Layout* out,
                         const Error& error) {
  Reach& reach = out->reach;
  for (int32_t i = 0; i < desc.ndim; ++i) {
    out->strides[i] = fixed(desc.strides[i]);
    reach.empty |= desc.shape[i] == 0;
  }
  if (reach.empty) return GTH_OK;
  if (!add(reach.high, bytes, &reach.high)) return fail_stride(desc, operand, -1, INT64_MAX, error);
  for (int32_t i = 0; i < desc.ndim; ++i) {
    const int64_t extent = desc.shape[i], stride = desc.strides[i];
    if (extent == 1) continue;
    if (extent == GTH_OPEN) {
      widen_open(stride, out);
    } else if (!widen(extent, stride, &reach)) {
      return fail_stride(desc, operand, i, stride < 0 ? INT64_MIN : INT64_MAX, error);
    }
  }
  return GTH_OK;
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
  Reach& reach = out->reach;
  reach = {desc.offset, 0, desc.offset, 0, false, false};
  if (desc.extent < 0) return fail_stride(desc, operand, -1, desc.offset, error);
  if (!desc.strides) {
    lay_out_densely(desc, bytes, out);
    if (reach.high < desc.offset) return fail_stride(desc, operand, -1, INT64_MAX, error);
  } else if (int32_t status = lay_out_as_given(desc, bytes, operand, out, error)) {
    return status;
  }
  if (reach.empty || reach.is_open) return GTH_OK;  // open: the memory is the caller's duty at each run
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
