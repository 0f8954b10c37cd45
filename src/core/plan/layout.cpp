#include "core/plan/layout.hpp"

#include <algorithm>
#include <cinttypes>

#include "core/base/checked.hpp"
#include "core/base/structs.hpp"
#include "core/types/device.hpp"
#include "core/types/dtype.hpp"

namespace gather::core {
namespace {

int64_t step_of(int64_t stride) { return static_cast<int64_t>(std::min<uint64_t>(magnitude(stride), INT64_MAX)); }

// Computes dense row-major strides and their reach. Returns false if the end does not fit int64. Each stride fits,
// because check_size has succeeded. A dim of extent 0 counts as 1, as in check_size.
bool lay_out_densely(const gth_tensor_desc& desc, int64_t bytes, Layout* out) {
  Scaled stride = fixed(bytes);
  Reach& reach = out->reach;
  for (int32_t i = desc.ndim; i-- > 0;) {
    const int64_t extent = desc.shape[i];
    out->strides[i] = stride;
    reach.empty |= extent == 0;
    if (extent > 1) stride.factor *= extent;
    if (extent == GTH_OPEN) stride.by_n = 1;
  }
  if (stride.by_n) reach.high_step = stride.factor;
  return add(reach.high, stride.factor, &reach.high) || reach.empty;
}

// `reached` is the offset of the byte outside of the memory, relative to the data pointer.
int32_t fail_stride(const gth_tensor_desc& desc, int32_t operand, int32_t dim, int64_t reached, const Error& error) {
  return error.fail({GTH_E_STRIDE, operand, dim, -1, reached, desc.extent},
                    "%s: elements reach byte %" PRId64 " of the %" PRId64 " described (offset %" PRId64 ")",
                    operand_name(operand), reached, desc.extent, desc.offset);
}

// Extends the reach by a dim of `extent` and `stride`. Returns false if it does not fit int64.
bool widen(int64_t extent, int64_t stride, Reach* reach) {
  int64_t span;
  if (!multiply(extent - 1, stride, &span)) return false;
  return span < 0 ? add(reach->low, span, &reach->low) : add(reach->high, span, &reach->high);
}

int32_t lay_out_as_given(const gth_tensor_desc& desc, int64_t bytes, int32_t operand, Layout* out, const Error& error) {
  Reach& reach = out->reach;
  for (int32_t i = 0; i < desc.ndim; ++i) {
    out->strides[i] = fixed(desc.strides[i]);
    reach.empty |= desc.shape[i] == 0;
  }
  if (reach.empty) return GTH_OK;
  if (!add(reach.high, bytes, &reach.high)) return fail_stride(desc, operand, -1, INT64_MAX, error);
  for (int32_t i = 0; i < desc.ndim; ++i) {
    const int64_t extent = desc.shape[i], stride = desc.strides[i];
    if (extent == GTH_OPEN) {
      (stride < 0 ? reach.low_step : reach.high_step) = stride;
    } else if (extent > 1 && !widen(extent, stride, &reach)) {
      return fail_stride(desc, operand, i, stride < 0 ? INT64_MIN : INT64_MAX, error);
    }
  }
  return GTH_OK;
}

// Returns the largest n for which the reach stays in [0, limit].
int64_t largest_open_extent(const Reach& reach, int64_t limit) {
  if (reach.high_step) return (limit - reach.high) / reach.high_step + 1;
  if (reach.low_step) return reach.low / step_of(reach.low_step) + 1;
  return INT64_MAX;
}

// Returns the largest n for which the product of all extents fits int64. Each other extent counts as at least 1.
// check_size applies the same rule to known extents.
int64_t largest_by_size(const gth_tensor_desc& desc, int64_t bytes) {
  bool is_open = false;
  int64_t size = std::max<int64_t>(bytes, 1);
  for (int32_t i = 0; i < desc.ndim; ++i) {
    is_open |= desc.shape[i] == GTH_OPEN;
    size *= std::max<int64_t>(desc.shape[i], 1);
  }
  return is_open ? INT64_MAX / size : INT64_MAX;
}

}  // namespace

int32_t resolve_layout(const gth_tensor_desc& desc, int64_t bytes, int32_t operand, Layout* out, const Error& error) {
  Reach& reach = out->reach;
  reach = {desc.offset, 0, desc.offset, 0, false};
  out->largest_n = largest_by_size(desc, bytes);
  if (desc.extent < 0) return fail_stride(desc, operand, -1, desc.offset, error);
  if (desc.strides) {
    if (int32_t status = lay_out_as_given(desc, bytes, operand, out, error)) return status;
  } else if (!lay_out_densely(desc, bytes, out)) {
    return fail_stride(desc, operand, -1, INT64_MAX, error);
  }
  if (reach.empty) return GTH_OK;
  if (reach.low < 0) return fail_stride(desc, operand, -1, reach.low, error);
  const int64_t limit = desc.extent > 0 ? desc.extent : INT64_MAX;
  if (reach.high > limit) return fail_stride(desc, operand, -1, reach.high, error);
  out->largest_n = std::min(out->largest_n, largest_open_extent(reach, limit));
  return GTH_OK;
}

__attribute__((noinline)) bool has_dense_strides(const gth_tensor_desc& desc) {
  const DtypeInfo* dtype = find_dtype(desc.dtype);
  int64_t dense = dtype ? dtype->bytes : 0;
  for (int32_t i = desc.ndim; i-- > 0;) {
    if (desc.shape[i] != 1 && desc.strides[i] != dense) return false;
    if (desc.shape[i] <= 0 || !multiply(dense, desc.shape[i], &dense)) return false;
  }
  return dense > 0;
}

bool is_dense(const gth_tensor_desc& desc) {
  return (!desc.strides || has_dense_strides(desc)) && is_host(desc.device) && desc.offset >= 0 && desc.extent >= 0;
}

bool is_exact(const gth_tensor_desc* given, uint32_t allowed_flags) {
  static_assert(GTH_DEVICE_CPU == 1, "0 and 1 are the CPU");
  if (!has_first_fields_only(given)) return false;
  const gth_tensor_desc& desc = *given;
  const uint64_t must_be_zero = (desc.flags & ~allowed_flags) | reinterpret_cast<uintptr_t>(desc.tensor) |
                                reinterpret_cast<uintptr_t>(desc.codec);
  return must_be_zero == 0 && (desc.offset | desc.extent) >= 0 &&
         static_cast<uint32_t>(desc.device) <= GTH_DEVICE_CPU && static_cast<uint32_t>(desc.ndim) <= GTH_MAX_NDIM &&
         (desc.shape || desc.ndim == 0) && (__builtin_expect(!desc.strides, 1) || has_dense_strides(desc));
}

bool find_dense_end(const gth_tensor_desc& desc, int64_t bytes, int64_t* end) {
  return add(desc.offset, bytes, end) && (desc.extent == 0 || *end <= desc.extent);
}

int64_t dense_product(const int64_t* extents, int32_t begin, int32_t end, int64_t size) {
  for (int32_t i = begin; i < end; ++i) {
    if (extents[i] <= 0 || !multiply(size, extents[i], &size)) return 0;
  }
  return size;
}

int32_t check_disjoint(const gth_tensor_desc& desc, int64_t bytes, int32_t operand, Layout* layout,
                       const Error& error) {
  if (!desc.strides || layout->reach.empty) return GTH_OK;
  int32_t order[GTH_MAX_NDIM];
  int32_t count = 0;
  for (int32_t i = 0; i < desc.ndim; ++i) {
    if (desc.shape[i] != 1) order[count++] = i;
  }
  std::sort(order, order + count,
            [&](int32_t a, int32_t b) { return magnitude(desc.strides[a]) < magnitude(desc.strides[b]); });
  int64_t span = bytes;   // the bytes that dims with smaller strides span for n = 1
  int64_t open_step = 0;  // the increase of span for each further unit of n
  for (int32_t i = 0; i < count; ++i) {
    const int32_t dim = order[i];
    const int64_t step = step_of(desc.strides[dim]);
    if (step < span) {
      return error.fail({GTH_E_STRIDE, operand, dim, -1, desc.strides[dim], span},
                        "%s: elements overlap, dim %" PRId32 " has stride %" PRId64 ", needed is at least %" PRId64,
                        operand_name(operand), dim, desc.strides[dim], span);
    }
    if (open_step) layout->largest_n = std::min(layout->largest_n, (step - span) / open_step + 1);
    if (desc.shape[dim] == GTH_OPEN) {
      open_step = step;
    } else {
      span += step * (desc.shape[dim] - 1);  // It fits, because the reach of all dims fits.
    }
  }
  return GTH_OK;
}

int64_t count_elements(const gth_tensor_desc& desc) { return dense_product(desc.shape, 0, desc.ndim, 1); }

int64_t count_bytes(const gth_tensor_desc& desc) {
  return dense_product(desc.shape, 0, desc.ndim, find_dtype(desc.dtype)->bytes);
}

}  // namespace gather::core
