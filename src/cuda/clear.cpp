#include "cuda/clear.hpp"

#include <algorithm>
#include <cstdlib>

#include "cuda/alignment.hpp"

namespace gather::cuda {
namespace {

// Reads the dims with more than one element, whose strides become positive. Returns their number.
int32_t read_dims(const gth_tensor_desc& tensor, int64_t item, char** begin, RowLoop* dims) {
  int32_t count = 0;
  int64_t dense = item;
  for (int32_t d = tensor.ndim; d-- > 0;) {
    const int64_t extent = tensor.shape[d], stride = tensor.strides ? tensor.strides[d] : dense;
    dense *= extent;
    if (extent == 1) continue;
    if (stride < 0) *begin += stride * (extent - 1);
    dims[count++] = {extent, std::abs(stride), 0};
  }
  return count;
}

int32_t width_of(const ClearJob& job, int64_t row) {
  Alignment common;
  common.note(job.target);
  common.note(row);
  for (int32_t i = 0; i < job.loops; ++i) common.note(job.loop[i].target);
  return static_cast<int32_t>(common.value());
}

}  // namespace

// The order of the dims does not matter, so those with the smallest strides become rows.
void make_clear(const gth_tensor_desc& tensor, int64_t item, ClearJob* out) {
  *out = {};
  out->target = static_cast<char*>(const_cast<void*>(tensor.data)) + tensor.offset;
  RowLoop dims[GTH_MAX_NDIM];
  const int32_t count = read_dims(tensor, item, &out->target, dims);
  std::sort(dims, dims + count, [](const RowLoop& a, const RowLoop& b) { return a.target < b.target; });
  int64_t row = item;
  int32_t inside = 0;
  for (; inside < count && dims[inside].target == row; ++inside) row *= dims[inside].extent;
  out->loops = count - inside;
  std::copy(dims + inside, dims + count, out->loop);
  out->bytes = width_of(*out, row);
  out->vectors = out->columns = row / out->bytes;
  for (int32_t i = 0; i < out->loops; ++i) out->columns *= out->loop[i].extent;
}

}  // namespace gather::cuda
