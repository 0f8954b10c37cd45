#pragma once

#include <cstdint>

#include "columns/arrow_structs.hpp"
#include "columns/trouble.hpp"
#include "core/os/memory.hpp"

// The types of columns, as far as taking rows needs them.
namespace gather::columns {

// The memory layout of a type.
enum class Kind : uint8_t {
  nothing,     // No buffers. All rows are null.
  bits,        // One bit for each row.
  fixed,       // `width` bytes for each row.
  bytes,       // Offsets into bytes: strings and binary.
  view,        // Views of 16 bytes, which contain short strings and refer to long ones.
  list,        // Offsets into a child, and sizes if `has_sizes`: lists, maps and list views.
  fixed_list,  // `width` rows of a child for each row.
  structure,   // One row of each child for each row.
  dictionary,  // Codes of `width` bytes, which are row numbers of the dictionary.
  runs,        // No buffers. Child 0 has the end of each run, and child 1 its value.
};

struct Type {
  Kind kind = Kind::nothing;
  bool is_wide = false;    // Offsets have 64 bits.
  bool can_widen = false;  // There is the same type with 64-bit offsets.
  bool has_sizes = false;  // The rows of a list may have any order in the child.
  bool is_signed = false;  // Codes are signed.
  int64_t width = 0;
  int64_t count = 0;               // the number of children
  const Type* children = nullptr;  // child 0 of a dictionary is the type of its values
};

// The bytes of one offset.
inline int64_t offset_bytes(const Type& type) { return type.is_wide ? 8 : 4; }

// Returns true if arrays have validity bits. Arrays of null and of runs have none.
inline bool has_validity(const Type& type) { return type.kind != Kind::nothing && type.kind != Kind::runs; }

// The number of buffers of an array. An array of views has one for each data buffer in addition.
int64_t buffers_of(const Type& type);

// A type with the memory of its children.
class TypeTree {
 public:
  TypeTree() = default;
  TypeTree(const TypeTree&) = delete;
  TypeTree& operator=(const TypeTree&) = delete;
  ~TypeTree() { core::deallocate(children_); }

  // Reads a schema. Returns GTH_E_DTYPE if a type is not supported, and GTH_E_ARROW if the schema is malformed.
  // Precondition: it has not been called before.
  int32_t read(const ArrowSchema& schema, Trouble* trouble);

  const Type& root() const { return root_; }

 private:
  Type root_;
  Type* children_ = nullptr;
};

}  // namespace gather::columns
