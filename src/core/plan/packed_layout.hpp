#pragma once

#include "core/plan/layout.hpp"
#include "core/types/codec.hpp"

// The memory of packed rows.
namespace gather::core {

// Computes the layout of a packed table. Its strides count rows, and its reach counts bytes. *stride receives the bytes
// between rows.
int32_t resolve_packed_layout(const gth_tensor_desc& desc, const Codec& codec, int32_t operand, Layout* out,
                              int64_t* stride, const Error& error);

// Computes the strides of an operand of the codec of `table`, which has the part. Its layout has been resolved.
int32_t resolve_part_strides(const gth_tensor_desc& table, const gth_tensor_desc& desc, const Codec& codec,
                             const CodecPart& part, const Layout& layout, int32_t operand, CodecOperand* out,
                             const Error& error);

// Checks that the decoded numbers of a row are contiguous in the output. `bytes` is the size of a number.
int32_t check_decoded_rows(const gth_tensor_desc& rows, const Layout& layout, int64_t bytes, int32_t operand,
                           const Error& error);

}  // namespace gather::core
