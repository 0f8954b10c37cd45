#include <cstring>

#include "columns/take.hpp"

// Rows of a fixed number of bytes or of one bit, and lists of a fixed number of them.
namespace gather::columns {
namespace {

struct Sixteen {
  uint64_t words[2];
};
struct Quad {
  uint64_t words[4];
};

template <class Row>
void copy_range(const char* const* bases, const Places& places, int64_t first, int64_t last, char* to) {
  constexpr int64_t width = sizeof(Row);
  const int64_t* const rows = places.rows;
  for (int64_t i = first; i < last; ++i) {
    if (i + prefetch_rows < last && rows[i + prefetch_rows] >= 0) {
      __builtin_prefetch(bases[places.part(i + prefetch_rows)] + rows[i + prefetch_rows] * width);
    }
    Row row{};
    if (rows[i] >= 0) std::memcpy(&row, bases[places.part(i)] + rows[i] * width, sizeof row);
    std::memcpy(to + i * width, &row, sizeof row);
  }
}

// The same for rows of one part, of which none is null.
template <class Row>
void copy_dense_range(const char* base, const int64_t* rows, int64_t first, int64_t last, char* to) {
  constexpr int64_t width = sizeof(Row);
  for (int64_t i = first; i < last; ++i) {
    if (i + prefetch_rows < last) __builtin_prefetch(base + rows[i + prefetch_rows] * width);
    Row row;
    std::memcpy(&row, base + rows[i] * width, sizeof row);
    std::memcpy(to + i * width, &row, sizeof row);
  }
}

void copy_wide_range(const char* const* bases, const Places& places, int64_t width, int64_t first, int64_t last,
                     char* to) {
  const int64_t* const rows = places.rows;
  for (int64_t i = first; i < last; ++i) {
    if (i + prefetch_rows < last && rows[i + prefetch_rows] >= 0) {
      __builtin_prefetch(bases[places.part(i + prefetch_rows)] + rows[i + prefetch_rows] * width);
    }
    if (rows[i] < 0) {
      std::memset(to + i * width, 0, static_cast<size_t>(width));
    } else {
      std::memcpy(to + i * width, bases[places.part(i)] + rows[i] * width, static_cast<size_t>(width));
    }
  }
}

template <class Row>
void copy_rows_of(const cpu::Executor& executor, const Bases& bases, const Places& places, char* to) {
  in_row_pieces(executor, places.count, sizeof(Row), [&](int64_t first, int64_t last) {
    if (places.parts || places.has_nulls) {
      copy_range<Row>(bases.data(), places, first, last, to);
    } else {
      copy_dense_range<Row>(bases.data()[0], places.rows, first, last, to);
    }
  });
}

// Returns the array and the row below a part of lists of a fixed size.
Part child_of(const Type& type, const Part& part) {
  const ArrowArray* const child = part.array->children[0];
  return {child, child->offset + part.shift * type.width};
}

// Returns the number of bytes of a row, if each row is one block of memory, or -1.
int64_t block_bytes(const Type& type) {
  if (type.kind == Kind::fixed) return type.width;
  if (type.kind != Kind::fixed_list) return -1;
  const int64_t below = block_bytes(type.children[0]);
  int64_t bytes;
  return below >= 0 && core::multiply(below, type.width, &bytes) ? bytes : -1;
}

// Returns the address of row 0 of a part, or nullptr if elements of its lists may be null.
const char* block_base(const Type& list, Part part) {
  const Type* type = &list;
  for (; type->kind == Kind::fixed_list; type = type->children) {
    part = child_of(*type, part);
    if (part.array->null_count != 0 && part.array->buffers[0]) return nullptr;
  }
  return moved(part.array->buffers[1], part.shift * type->width);
}

// Makes the child of a list of a fixed size, whose elements are the `bytes` bytes of each row. Sets *to to the memory
// of the child.
int32_t make_child(Call* call, const Type& type, int64_t count, int64_t bytes, Node* parent, char** to) {
  const Type& below = type.children[0];
  const int64_t rows = count * type.width;
  Node* const node = parent->allocate_children(1) ? Node::create(rows, buffers_of(below), parent->child(0)) : nullptr;
  if (!node) return call->trouble.fail_memory(sizeof(Node));
  int32_t status = GTH_OK;
  if (below.kind == Kind::fixed_list) {
    status = make_child(call, below, rows, bytes, node, to);
  } else {
    *to = static_cast<char*>(node->allocate(1, bytes));
    if (!*to) status = call->trouble.fail_memory(bytes);
  }
  node->publish(parent->child(0));
  return status;
}

// Takes lists of a fixed size as blocks. Sets *is_done to false if elements may be null, and does nothing then.
int32_t take_blocks(Call* call, const Level& level, int64_t width, bool* is_done) {
  Bases bases;
  int64_t bytes;
  if (!bases.allocate(level.parts.count)) return call->trouble.fail_memory(level.parts.count);
  for (int64_t p = 0; p < level.parts.count; ++p) {
    bases[p] = block_base(level.type, level.parts[p]);
    if (!bases.data()[p]) return GTH_OK;
  }
  *is_done = true;
  const int64_t count = level.places.count;
  if (!core::multiply(count, width, &bytes)) return call->trouble.fail_memory(INT64_MAX);
  char* to = nullptr;
  if (int32_t status = make_child(call, level.type, count, bytes, level.node, &to)) return status;
  copy_rows(call->executor, bases, level.places, width, to);
  return GTH_OK;
}

// Takes the rows of the child one by one.
int32_t take_elements(Call* call, const Level& level) {
  const int64_t width = level.type.width;
  const Places& places = level.places;
  int64_t count;
  NewPlaces below;
  Room<Part, 4> parts;
  if (!core::multiply(places.count, width, &count)) return call->trouble.fail_memory(INT64_MAX);
  if (!below.allocate(count, places.parts) || !parts.allocate(level.parts.count) || !level.node->allocate_children(1)) {
    return call->trouble.fail_memory(count * int64_t{sizeof(int64_t)});
  }
  for (int64_t p = 0; p < level.parts.count; ++p) parts[p] = child_of(level.type, level.parts[p]);
  int64_t* const rows = below.rows();
  const uint8_t* const validity = level.node->validity();
  for (int64_t i = 0, to = 0; i < places.count; ++i) {
    for (int64_t j = 0; j < width; ++j, ++to) {
      // The elements of a null list may be invalid.
      rows[to] = is_null(validity, i) ? no_row : places.rows[i] * width + j;
      if (places.parts) below.parts()[to] = places.parts[i];
    }
  }
  const int32_t status = take(call, level.type.children[0], {parts.data(), level.parts.count},
                              {count, rows, below.parts(), validity != nullptr}, level.node->child(0));
  if (status && call->trouble.position >= 0) call->trouble.position /= width;
  return status;
}

}  // namespace

void copy_rows(const cpu::Executor& executor, const Bases& bases, const Places& places, int64_t width, char* to) {
  switch (width) {
    case 1: return copy_rows_of<uint8_t>(executor, bases, places, to);
    case 2: return copy_rows_of<uint16_t>(executor, bases, places, to);
    case 4: return copy_rows_of<uint32_t>(executor, bases, places, to);
    case 8: return copy_rows_of<uint64_t>(executor, bases, places, to);
    case 16: return copy_rows_of<Sixteen>(executor, bases, places, to);
    case 32: return copy_rows_of<Quad>(executor, bases, places, to);
    default: break;
  }
  if (width == 0) return;
  in_row_pieces(executor, places.count, width,
                [&](int64_t first, int64_t last) { copy_wide_range(bases.data(), places, width, first, last, to); });
}

int32_t take_rows(Call* call, const Level& level, int64_t width, void* to) {
  Bases bases;
  if (!bases.allocate(level.parts.count)) return call->trouble.fail_memory(level.parts.count);
  for (int64_t p = 0; p < level.parts.count; ++p) {
    const Part& part = level.parts[p];
    bases[p] = moved(part.array->buffers[1], part.shift * width);
  }
  copy_rows(call->executor, bases, level.places, width, static_cast<char*>(to));
  return GTH_OK;
}

int32_t take_fixed(Call* call, const Level& level) {
  int64_t bytes;
  if (!core::multiply(level.places.count, level.type.width, &bytes)) return call->trouble.fail_memory(INT64_MAX);
  void* const to = level.node->allocate(1, bytes);
  return to ? take_rows(call, level, level.type.width, to) : call->trouble.fail_memory(bytes);
}

int32_t take_bits(Call* call, const Level& level) {
  const Places& places = level.places;
  const int64_t bytes = (places.count + 7) / 8;
  auto* const to = static_cast<uint8_t*>(level.node->allocate(1, bytes));
  if (!to) return call->trouble.fail_memory(bytes);
  in_row_pieces(call->executor, places.count, 0, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i += 8) {
      uint32_t byte = 0;
      for (int64_t j = i; j < std::min(i + 8, last); ++j) {
        if (places.rows[j] < 0) continue;
        const Part& part = level.parts[places.part(j)];
        byte |= uint32_t{bit_at(part.array->buffers[1], places.rows[j] + part.shift)} << (j - i);
      }
      to[i / 8] = static_cast<uint8_t>(byte);
    }
  });
  return GTH_OK;
}

int32_t take_fixed_list(Call* call, const Level& level) {
  bool is_done = false;
  const int64_t width = block_bytes(level.type);
  if (width > 0) {
    const int32_t status = take_blocks(call, level, width, &is_done);
    if (status || is_done) return status;
  }
  return take_elements(call, level);
}

}  // namespace gather::columns
