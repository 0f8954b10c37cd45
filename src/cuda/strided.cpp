#include "cuda/strided.hpp"

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

int32_t width_of(const StridedJob& job, int64_t row) {
  Alignment common;
  common.note(job.target);
  common.note(job.from);
  common.note(row);
  for (int32_t i = 0; i < job.loops; ++i) common.note(job.loop[i].target | job.loop[i].updates);
  return static_cast<int32_t>(common.value());
}

// Divides rows of `row` bytes into columns.
void divide_rows(int64_t row, StridedJob* out) {
  out->bytes = width_of(*out, row);
  out->vectors = out->columns = row / out->bytes;
  for (int32_t i = 0; i < out->loops; ++i) out->columns *= out->loop[i].extent;
}

}  // namespace

// The order of the dims does not matter, so those with the smallest strides become rows.
void make_clear(const gth_tensor_desc& tensor, int64_t item, StridedJob* out) {
  *out = {};
  out->target = first_byte(tensor);
  RowLoop dims[GTH_MAX_NDIM];
  const int32_t count = read_dims(tensor, item, &out->target, dims);
  std::sort(dims, dims + count, [](const RowLoop& a, const RowLoop& b) { return a.target < b.target; });
  int64_t row = item;
  int32_t inside = 0;
  for (; inside < count && dims[inside].target == row; ++inside) row *= dims[inside].extent;
  out->loops = count - inside;
  std::copy(dims + inside, dims + count, out->loop);
  divide_rows(row, out);
}

void make_copy(const gth_tensor_desc& from, const gth_tensor_desc& to, int64_t item, StridedJob* out) {
  *out = {};
  out->target = first_byte(to);
  out->from = first_byte(from);
  int64_t dense = item, row = item;
  for (int32_t d = to.ndim; d-- > 0;) {
    const int64_t extent = to.shape[d];
    const RowLoop loop{extent, to.strides ? to.strides[d] : dense, from.strides ? from.strides[d] : dense};
    dense *= extent;
    if (extent == 1) continue;
    if (out->loops == 0 && loop.target == row && loop.updates == row)
      row *= extent;
    else
      out->loop[out->loops++] = loop;
  }
  std::reverse(out->loop, out->loop + out->loops);
  divide_rows(row, out);
}

}  // namespace gather::cuda
