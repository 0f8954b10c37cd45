#pragma once

#include <cstdint>

#include "gather/gather.h"

namespace gather::core {

// The tensors that most calls are about: dense, on the host, with nothing in their description that a check could
// stumble over. They take shorter ways; what is not plain is not wrong, but looked at with care.

// Everything but the extents, the dtype and the memory.
bool is_plain(const gth_tensor_desc& desc, uint32_t allowed_flags);

// The end of the memory that `bytes` bytes of elements take, counted from the data pointer. False: it is not described.
bool find_plain_end(const gth_tensor_desc& desc, int64_t bytes, int64_t* end);

// The product of extents [begin, end) and `size`; 0 where one of them is empty, negative or leads out of int64.
int64_t plain_product(const int64_t* extents, int32_t begin, int32_t end, int64_t size);

// The bytes that the elements of a plain tensor take; 0 as above.
int64_t plain_bytes(const gth_tensor_desc& desc, int64_t item);

}  // namespace gather::core
