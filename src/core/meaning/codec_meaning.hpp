#pragma once

#include "core/base/error.hpp"
#include "core/types/codec.hpp"

namespace gather::core {

// Validates the fields of a codec for rows of `values` numbers. If the dtype of an operand of the codec is not known, it
// has the type none. Precondition: the struct has the known size.
int32_t resolve_codec(const gth_codec& given, int64_t values, Codec* out, const Error& error);

// Returns the type of a scale or zero point, or none if it has no such dtype.
ScaleType scale_type_of(int32_t dtype);

// Returns true if the type is one for scales. Zero points and biases may have any type.
bool is_scale_type(ScaleType type);

// Returns the bytes of a scale or zero point. Numbers of 4 bits count as one byte.
int64_t bytes_of(ScaleType type);

// Returns the number of blocks of a row.
int64_t blocks_of(const Codec& codec);

}  // namespace gather::core
