#pragma once

#include "core/base/noinline.hpp"
#include "core/meaning/meaning.hpp"

// The meaning of a request whose table is packed. Precondition of the functions: the request has a codec, and its
// geometry has been resolved. They are not inlined into the functions of plain requests.
namespace gather::core {

// Checks the dtype of the table, that the operation selects whole rows, and the codec without its operands. Unknown
// dtypes and open extents are not checked.
GATHER_NOINLINE int32_t check_packed(const Request& request, const Geometry& geometry, const Error& error);

// Validates the codec and the dtypes and shapes of its operands. Sets these dtypes, and the settings that profiles have
// for packed tables only.
GATHER_NOINLINE int32_t resolve_packed_meaning(const Request& request, Meaning* meaning, const Error& error);

}  // namespace gather::core
