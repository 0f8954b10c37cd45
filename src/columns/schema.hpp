#pragma once

#include "columns/arrow_structs.hpp"
#include "columns/trouble.hpp"

namespace gather::columns {

// Copies a schema that TypeTree::read has accepted. With the result of a take, the types of its arrays that have become
// large ones are large too. `result` may be nullptr.
int32_t copy_schema(const ArrowSchema& source, const ArrowArray* result, ArrowSchema* out, Trouble* trouble);

}  // namespace gather::columns
