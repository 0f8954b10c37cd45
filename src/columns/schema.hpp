#pragma once

#include "columns/arrow_structs.hpp"
#include "columns/trouble.hpp"

namespace gather::columns {

// Copies a schema that TypeTree::read has accepted. With the result of a take, the types of its arrays that have become
// large ones are large too. `result` may be nullptr.
int32_t copy_schema(const ArrowSchema& source, const ArrowArray* result, ArrowSchema* out, Trouble* trouble);

// Makes the field of an array of a result nullable if its rows have nulls. Rows of runs are null if their value is.
void allow_nulls(const ArrowArray& array, ArrowSchema* field);

}  // namespace gather::columns
