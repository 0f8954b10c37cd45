#include "columns/take.hpp"

#include <atomic>

#include "columns/check.hpp"

namespace gather::columns {
namespace {

// Finds the places of the children of a struct, whose rows are null where the struct is. The content of a child below a
// null row may be invalid.
int32_t find_valid(Call* call, const Level& level, NewPlaces* room, Places* out) {
  const int64_t count = level.places.count;
  const uint8_t* const validity = level.node->validity();
  *out = level.places;
  if (!validity) return GTH_OK;
  if (!room->allocate(count, false)) return call->trouble.fail_memory(count * int64_t{sizeof(int64_t)});
  for (int64_t i = 0; i < count; ++i) room->rows()[i] = is_null(validity, i) ? no_row : level.places.rows[i];
  out->rows = room->rows();
  out->has_nulls = true;
  return GTH_OK;
}

// Takes the rows of each child of a struct.
int32_t take_children(Call* call, const Level& level) {
  const Type& type = level.type;
  NewPlaces room;
  Places places;
  if (int32_t status = find_valid(call, level, &room, &places)) return status;
  if (!level.node->allocate_children(type.count)) return call->trouble.fail_memory(type.count);
  Room<Part, 4> parts;
  if (!parts.allocate(level.parts.count)) return call->trouble.fail_memory(level.parts.count);
  for (int64_t child = 0; child < type.count; ++child) {
    for (int64_t p = 0; p < level.parts.count; ++p) {
      const Part& part = level.parts[p];
      const ArrowArray* const array = part.array->children[child];
      parts[p] = {array, array->offset + part.shift};
    }
    const Parts below{parts.data(), level.parts.count};
    if (int32_t status = take(call, type.children[child], below, places, level.node->child(child))) return status;
  }
  return GTH_OK;
}

int32_t take_content(Call* call, const Level& level) {
  switch (level.type.kind) {
    case Kind::nothing: return GTH_OK;
    case Kind::bits: return take_bits(call, level);
    case Kind::fixed: return take_fixed(call, level);
    case Kind::bytes: return take_bytes(call, level);
    case Kind::view: return take_views(call, level);
    case Kind::list: return take_list(call, level);
    case Kind::fixed_list: return take_fixed_list(call, level);
    case Kind::structure: return take_children(call, level);
    case Kind::dictionary: return take_dictionary(call, level);
    case Kind::runs: return take_runs(call, level);
  }
  return call->trouble.fail(GTH_E_INTERNAL, "a kind of type");
}

// The validity bits of a part, and the number of the bit of row 0.
struct Bits {
  const uint8_t* bits;  // nullptr: all rows are valid
  int64_t shift;

  bool is_valid(int64_t row) const { return row >= 0 && (!bits || bit_at(bits, row + shift)); }
};

bool has_nulls(const Level& level) {
  if (level.places.has_nulls) return true;
  for (int64_t p = 0; p < level.parts.count; ++p) {
    if (validity_of(level.type, *level.parts[p].array)) return true;
  }
  return false;
}

// Writes the bits of the rows [first, last). Returns the number of nulls.
int64_t write_validity(const Bits* sources, const Places& places, int64_t first, int64_t last, uint8_t* to) {
  int64_t nulls = 0;
  for (int64_t i = first; i < last; i += 8) {
    const int64_t end = std::min(i + 8, last);
    uint32_t byte = 0;
    for (int64_t j = i; j < end; ++j) {
      const bool valid = sources[places.part(j)].is_valid(places.rows[j]);
      byte |= uint32_t{valid} << (j - i);
      nulls += !valid;
    }
    to[i / 8] = static_cast<uint8_t>(byte);
  }
  return nulls;
}

}  // namespace

int32_t take_validity(Call* call, const Level& level, int64_t* nulls) {
  *nulls = 0;
  const Places& places = level.places;
  if (!has_nulls(level)) return GTH_OK;
  Room<Bits, 4> sources;
  const int64_t bytes = (places.count + 7) / 8;
  auto* const to = static_cast<uint8_t*>(level.node->allocate(0, bytes));
  if (!to || !sources.allocate(level.parts.count)) return call->trouble.fail_memory(bytes);
  sources[0] = {nullptr, 0};
  for (int64_t p = 0; p < level.parts.count; ++p) {
    sources[p] = {validity_of(level.type, *level.parts[p].array), level.parts[p].shift};
  }
  std::atomic<int64_t> sum{0};
  in_row_pieces(call->executor, places.count, 0, [&](int64_t first, int64_t last) {
    sum.fetch_add(write_validity(sources.data(), places, first, last, to), std::memory_order_relaxed);
  });
  *nulls = sum.load(std::memory_order_relaxed);
  if (*nulls == 0) level.node->share(0, nullptr);
  return GTH_OK;
}

int32_t take(Call* call, const Type& type, const Parts& parts, const Places& places, ArrowArray* out) {
  Node* const node = Node::create(places.count, buffers_of(type), out);
  if (!node) return call->trouble.fail_memory(sizeof(Node));
  const Level level{type, parts, places, node};
  out->null_count = type.kind == Kind::nothing ? places.count : 0;
  int32_t status = has_validity(type) ? take_validity(call, level, &out->null_count) : GTH_OK;
  if (!status) status = take_content(call, level);
  node->publish(out);
  if (status) out->release(out);
  return status;
}

int32_t take_record(Call* call, const Parts& parts, const Places& places, ArrowArray* out) {
  Node* const node = Node::create(places.count, 1, out);
  if (!node) return call->trouble.fail_memory(sizeof(Node));
  const Level level{call->column.type(), parts, places, node};
  int64_t nulls;
  int32_t status = take_validity(call, level, &nulls);
  if (!status) status = take_children(call, level);
  node->share(0, nullptr);
  node->publish(out);
  if (status) out->release(out);
  return status;
}

}  // namespace gather::columns
