#include "core/plan/packed_layout.hpp"

#include <algorithm>
#include <cinttypes>

#include "core/base/checked.hpp"
#include "core/meaning/codec_meaning.hpp"

namespace gather::core {
namespace {

int32_t fail_stride(int32_t operand, int32_t dim, int64_t given, int64_t needed, const char* what, const Error& error) {
  return error.fail({GTH_E_STRIDE, operand, dim, -1, given, needed},
                    "%s: %s: %" PRId64 " in dim %" PRId32 ", needed is %" PRId64, operand_name(operand), what, given,
                    dim, needed);
}

int32_t fail_reach(const gth_tensor_desc& desc, int32_t operand, int64_t reached, const Error& error) {
  return error.fail({GTH_E_STRIDE, operand, -1, -1, reached, desc.extent},
                    "%s: rows reach byte %" PRId64 " of the %" PRId64 " described (offset %" PRId64 ")",
                    operand_name(operand), reached, desc.extent, desc.offset);
}

// Rows are one sequence if each outer stride is the number of rows of the inner dims times the stride of a row.
class RowSequence {
 public:
  // Adds the next outer dim. Returns false if it does not continue the sequence. *needed receives its stride then.
  bool add(int64_t extent, int64_t given, int64_t* needed) {
    if (extent == 1) return true;
    if (is_first_) stride_ = given;
    is_first_ = false;
    *needed = INT64_MAX;
    const bool continues = multiply(stride_, rows_, needed) && given == *needed;
    return continues && multiply(rows_, extent, &rows_);
  }

  int64_t rows() const { return rows_; }
  int64_t stride_or(int64_t otherwise) const { return is_first_ ? otherwise : stride_; }

 private:
  int64_t rows_ = 1, stride_ = 0;
  bool is_first_ = true;
};

bool has_no_elements(const gth_tensor_desc& desc) { return std::count(desc.shape, desc.shape + desc.ndim, 0) > 0; }

int32_t find_reach(const gth_tensor_desc& desc, int64_t rows, int64_t stride, int64_t row_bytes, int32_t operand,
                   Reach* reach, const Error& error) {
  int64_t span;
  if (!multiply(rows - 1, stride, &span) || !add(reach->high, row_bytes, &reach->high) ||
      !add(span < 0 ? reach->low : reach->high, span, span < 0 ? &reach->low : &reach->high)) {
    return fail_reach(desc, operand, INT64_MAX, error);
  }
  if (reach->low < 0) return fail_reach(desc, operand, reach->low, error);
  const bool fits = desc.extent == 0 || reach->high <= desc.extent;
  return fits ? GTH_OK : fail_reach(desc, operand, reach->high, error);
}

}  // namespace

int32_t resolve_packed_layout(const gth_tensor_desc& desc, const Codec& codec, int32_t operand, Layout* out,
                              int64_t* stride, const Error& error) {
  const int32_t last = desc.ndim - 1;
  Reach& reach = out->reach;
  reach = {desc.offset, 0, desc.offset, 0, false};
  out->largest_n = INT64_MAX;
  if (desc.extent < 0) return fail_reach(desc, operand, desc.offset, error);
  *stride = codec.row_bytes;
  std::fill_n(out->strides, desc.ndim, fixed(0));
  reach.empty = has_no_elements(desc);
  if (reach.empty) return GTH_OK;
  if (desc.strides && desc.strides[last] != 0) {
    return fail_stride(operand, last, desc.strides[last], 0, "the stride of packed numbers", error);
  }
  RowSequence rows;
  for (int32_t i = last; i-- > 0;) {
    out->strides[i] = fixed(rows.rows());
    int64_t dense, needed = 0;
    if (!multiply(codec.row_bytes, rows.rows(), &dense)) return fail_reach(desc, operand, INT64_MAX, error);
    if (!rows.add(desc.shape[i], desc.strides ? desc.strides[i] : dense, &needed)) {
      const int64_t given = desc.strides ? desc.strides[i] : dense;
      return fail_stride(operand, i, given, needed, "packed rows are not equally far apart", error);
    }
  }
  *stride = rows.stride_or(codec.row_bytes);
  return find_reach(desc, rows.rows(), *stride, codec.row_bytes, operand, &reach, error);
}

int32_t resolve_part_strides(const gth_tensor_desc& table, const gth_tensor_desc& desc, const Codec& codec,
                             const CodecPart& part, const Layout& layout, int32_t operand, CodecOperand* out,
                             const Error& error) {
  const int32_t last = desc.ndim - 1;
  *out = {};
  if (layout.reach.empty || has_no_elements(table)) return GTH_OK;
  const auto stride_of = [&](int32_t dim) { return desc.shape[dim] == 1 ? 0 : layout.strides[dim].factor; };
  RowSequence rows;
  for (int32_t i = last; i-- > 0;) {
    int64_t needed = 0;
    if (!rows.add(table.shape[i], stride_of(i), &needed)) {
      return fail_stride(operand, i, stride_of(i), needed, "rows are not equally far apart", error);
    }
  }
  out->row = rows.stride_or(0);
  out->block = stride_of(last);
  if (!part.shares_bytes()) return GTH_OK;
  if (desc.shape[last] > 1 && out->block != 1) {
    return fail_stride(operand, last, out->block, 1, "numbers of 4 bits must be contiguous", error);
  }
  out->block = desc.shape[last] == 1 && blocks_of(codec) > 2 ? 0 : 1;  // in halves of a byte
  return GTH_OK;
}

int32_t check_decoded_rows(const gth_tensor_desc& rows, const Layout& layout, int64_t bytes, int32_t operand,
                           const Error& error) {
  const int32_t last = rows.ndim - 1;
  if (layout.reach.empty || rows.shape[last] == 1 || layout.strides[last].is(bytes)) return GTH_OK;
  return error.fail({GTH_E_UNSUPPORTED, operand, last, -1, layout.strides[last].factor, bytes},
                    "%s: the numbers of a decoded row must be contiguous", operand_name(operand));
}

}  // namespace gather::core
