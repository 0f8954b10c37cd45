#include <cstring>

#include "columns/check.hpp"
#include "columns/take.hpp"
#include "cpu/copy_string.hpp"

// Rows that are ranges: strings and binary are ranges of bytes, and lists are ranges of the rows of a child.
namespace gather::columns {
namespace {

// A part whose rows are ranges.
struct RangeSource {
  const char* offsets;  // the first offset of row 0
  const char* sizes;    // the size of row 0, if the type has sizes
  const char* content;  // the bytes, or the rows of the child if each has a fixed number of bytes
  int64_t extent;       // the number of bytes, or of rows of the child
};
using Sources = Room<RangeSource, 4>;

// The ranges of the rows of the result.
struct Ranges {
  Room<int64_t, 8> begins;       // the begin of each range in its part
  Room<int64_t, 9> narrow_ends;  // memory of ends if the result has 32-bit offsets
  int64_t* ends = nullptr;       // the end of each range in the result, behind a 0
  int64_t total = 0;
};

// Reports a range that leaves its part, in the terms of gth_error.
int32_t fail_range(Trouble* trouble, int64_t position, int64_t begin, int64_t end, int64_t extent) {
  if (begin < 0) return trouble->fail(GTH_E_ARROW, "an offset is negative", begin, 0, position);
  if (end < begin) return trouble->fail(GTH_E_ARROW, "offsets decrease, or a size is negative", end, begin, position);
  return trouble->fail(GTH_E_ARROW, "an offset is beyond the content of the array", end, extent, position);
}

// Returns the end of a range that has a size. An end that int64 cannot hold is the largest number, so it is invalid.
int64_t end_of_size(int64_t begin, int64_t size) {
  int64_t end;
  return core::add(begin, size, &end) ? end : INT64_MAX;
}

// Reads and validates the ranges of the rows that are not null. Each offset is loaded once.
template <class Offset, bool has_sizes>
int32_t read_ranges(const RangeSource* sources, const Level& level, Ranges* ranges, Trouble* trouble) {
  const Places& places = level.places;
  const uint8_t* const validity = level.node->validity();
  int64_t* const begins = ranges->begins.data();
  int64_t* const ends = ranges->ends;
  int64_t total = 0;
  ends[0] = 0;
  for (int64_t i = 0; i < places.count; ++i) {
    if (i + prefetch_rows < places.count && places.rows[i + prefetch_rows] >= 0) {
      const RangeSource& next = sources[places.part(i + prefetch_rows)];
      __builtin_prefetch(next.offsets + places.rows[i + prefetch_rows] * int64_t{sizeof(Offset)});
    }
    int64_t begin = 0, end = 0;
    if (!is_null(validity, i)) {
      const RangeSource& source = sources[places.part(i)];
      begin = offset_at<Offset>(source.offsets, places.rows[i]);
      end = has_sizes ? end_of_size(begin, offset_at<Offset>(source.sizes, places.rows[i]))
                      : offset_at<Offset>(source.offsets, places.rows[i] + 1);
      if (begin < 0 || end < begin || end > source.extent) return fail_range(trouble, i, begin, end, source.extent);
    }
    begins[i] = begin;
    if (!core::add(total, end - begin, &total)) return trouble->fail(GTH_E_SIZE, "the result", i, INT64_MAX);
    ends[i + 1] = total;
  }
  ranges->total = total;
  return GTH_OK;
}

// Writes the offsets of the result with 32 bits.
int32_t write_narrow(Call* call, const Level& level, const Ranges& ranges) {
  const int64_t count = level.places.count + 1, bytes = count * int64_t{sizeof(int32_t)};
  auto* const to = static_cast<int32_t*>(level.node->allocate(1, bytes));
  if (!to) return call->trouble.fail_memory(bytes);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<int32_t>(ranges.ends[i]);
  return GTH_OK;
}

int32_t write_wide(Call* call, const Level& level, const Ranges& ranges) {
  const int64_t bytes = (level.places.count + 1) * int64_t{sizeof(int64_t)};
  void* const to = level.node->allocate(1, bytes);
  if (!to) return call->trouble.fail_memory(bytes);
  std::memcpy(to, ranges.ends, static_cast<size_t>(bytes));
  return GTH_OK;
}

// Writes the offsets of the result. They have 64 bits if the column has such offsets, or if they are needed.
int32_t write_offsets(Call* call, const Level& level, const Ranges& ranges) {
  if (level.type.is_wide) return GTH_OK;  // They have been written in place.
  if (ranges.total <= INT32_MAX) return write_narrow(call, level, ranges);
  if (!call->may_widen || !level.type.can_widen) {
    return call->trouble.fail(GTH_E_SIZE, "the result needs 64-bit offsets", ranges.total, INT32_MAX);
  }
  level.node->is_widened = true;
  return write_wide(call, level, ranges);
}

// Writes the sizes of list views.
int32_t write_sizes(Call* call, const Level& level, const Ranges& ranges) {
  const bool is_wide = level.type.is_wide || level.node->is_widened;
  const int64_t count = level.places.count, bytes = count * (is_wide ? 8 : 4);
  void* const to = level.node->allocate(2, bytes);
  if (!to) return call->trouble.fail_memory(bytes);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t size = ranges.ends[i + 1] - ranges.ends[i];
    if (is_wide) static_cast<int64_t*>(to)[i] = size;
    if (!is_wide) static_cast<int32_t*>(to)[i] = static_cast<int32_t>(size);
  }
  return GTH_OK;
}

// Allocates the memory of the ranges. Wide offsets are written directly to the result.
int32_t allocate(Call* call, const Level& level, Ranges* ranges) {
  const int64_t count = level.places.count, bytes = (count + 1) * int64_t{sizeof(int64_t)};
  if (!ranges->begins.allocate(count)) return call->trouble.fail_memory(bytes);
  if (level.type.is_wide) {
    ranges->ends = static_cast<int64_t*>(level.node->allocate(1, bytes));
  } else if (ranges->narrow_ends.allocate(count + 1)) {
    ranges->ends = ranges->narrow_ends.data();
  }
  return ranges->ends ? GTH_OK : call->trouble.fail_memory(bytes);
}

int32_t measure(Call* call, const Level& level, const Sources& sources, Ranges* ranges) {
  static constexpr decltype(&read_ranges<int32_t, false>) readers[2][2] = {
      {read_ranges<int32_t, false>, read_ranges<int32_t, true>},
      {read_ranges<int64_t, false>, read_ranges<int64_t, true>}};
  const auto read = readers[level.type.is_wide][level.type.has_sizes];
  if (int32_t status = allocate(call, level, ranges)) return status;
  if (int32_t status = read(sources.data(), level, ranges, &call->trouble)) return status;
  if (int32_t status = write_offsets(call, level, *ranges)) return status;
  return level.type.has_sizes ? write_sizes(call, level, *ranges) : GTH_OK;
}

// Copies the ranges, whose elements have `width` bytes each. A step of a copy may write bytes behind a range, and later
// ranges overwrite them. No byte behind a piece is written.
void copy_ranges(Call* call, const Level& level, const RangeSource* sources, const Ranges& ranges, int64_t width,
                 char* to) {
  const Places& places = level.places;
  const int64_t *const begins = ranges.begins.data(), *const ends = ranges.ends;
  const int64_t mean = places.count ? ranges.total * width / places.count : 0;
  in_row_pieces(call->executor, places.count, mean, [&](int64_t first, int64_t last) {
    char* const to_end = to + ends[last] * width;
    for (int64_t i = first; i < last; ++i) {
      if (i + prefetch_rows < last) {
        const int64_t next = i + prefetch_rows;
        __builtin_prefetch(moved(sources[places.part(next)].content, begins[next] * width));
      }
      const RangeSource& source = sources[places.part(i)];
      const int64_t length = (ends[i + 1] - ends[i]) * width;
      if (length == 0) continue;
      cpu::copy_string(to + ends[i] * width, to_end, source.content + begins[i] * width,
                       source.content + source.extent * width, length);
    }
  });
}

// Finds the offsets of each part.
bool find_sources(const Level& level, Sources* sources) {
  if (!sources->allocate(level.parts.count)) return false;
  for (int64_t p = 0; p < level.parts.count; ++p) {
    const Part& part = level.parts[p];
    const int64_t shift = part.shift * offset_bytes(level.type);
    (*sources)[p] = {moved(part.array->buffers[1], shift), nullptr, nullptr, 0};
    if (level.type.has_sizes) (*sources)[p].sizes = moved(part.array->buffers[2], shift);
  }
  if (level.parts.count == 0) (*sources)[0] = {};
  return true;
}

// Allocates a buffer for all ranges, and copies them to it.
int32_t take_content(Call* call, const Level& level, const Sources& sources, const Ranges& ranges, int64_t width,
                     Node* node, int64_t buffer) {
  int64_t bytes;
  if (!core::multiply(ranges.total, width, &bytes)) return call->trouble.fail_memory(INT64_MAX);
  auto* const to = static_cast<char*>(node->allocate(buffer, bytes));
  if (!to) return call->trouble.fail_memory(bytes);
  copy_ranges(call, level, sources.data(), ranges, width, to);
  return GTH_OK;
}

// Finds the children of lists. Sets *is_plain to false unless each row of the child is some bytes, and none is null.
void find_children(const Level& level, Sources* sources, Part* children, bool* is_plain) {
  const Type& below = level.type.children[0];
  *is_plain = below.kind == Kind::fixed;
  for (int64_t p = 0; p < level.parts.count; ++p) {
    const ArrowArray& child = *level.parts[p].array->children[0];
    children[p] = {&child, child.offset};
    (*sources)[p].extent = child.length;
    if (!*is_plain) continue;
    (*sources)[p].content = moved(child.buffers[1], child.offset * below.width);
    *is_plain = !validity_of(below, child);
  }
}

// Takes the elements of lists whose elements have a fixed number of bytes.
int32_t take_plain(Call* call, const Level& level, const Sources& sources, const Ranges& ranges) {
  const Type& below = level.type.children[0];
  ArrowArray* const out = level.node->child(0);
  Node* const node = Node::create(ranges.total, buffers_of(below), out);
  if (!node) return call->trouble.fail_memory(sizeof(Node));
  const int32_t status = take_content(call, level, sources, ranges, below.width, node, 1);
  node->publish(out);
  return status;
}

// Takes the elements of lists row by row.
int32_t take_elements(Call* call, const Level& level, const Parts& children, const Ranges& ranges) {
  const Places& places = level.places;
  NewPlaces below;
  if (!below.allocate(ranges.total, places.parts)) return call->trouble.fail_memory(ranges.total);
  int64_t* const rows = below.rows();
  const int64_t* const ends = ranges.ends;
  for (int64_t i = 0; i < places.count; ++i) {
    for (int64_t to = ends[i]; to < ends[i + 1]; ++to) rows[to] = ranges.begins[i] + to - ends[i];
    if (places.parts) std::fill(below.parts() + ends[i], below.parts() + ends[i + 1], places.parts[i]);
  }
  const int32_t status =
      take(call, level.type.children[0], children, {ranges.total, rows, below.parts(), false}, level.node->child(0));
  int64_t& position = call->trouble.position;
  if (status && position >= 0) position = std::upper_bound(ends, ends + places.count + 1, position) - ends - 1;
  return status;
}

}  // namespace

int32_t take_bytes(Call* call, const Level& level) {
  Sources sources;
  Ranges ranges;
  if (!find_sources(level, &sources)) return call->trouble.fail_memory(level.parts.count);
  for (int64_t p = 0; p < level.parts.count; ++p) {
    const ArrowArray& array = *level.parts[p].array;
    sources[p].content = static_cast<const char*>(array.buffers[2]);
    sources[p].extent = bytes_size(level.type, array);
  }
  const int32_t status = measure(call, level, sources, &ranges);
  return status ? status : take_content(call, level, sources, ranges, 1, level.node, 2);
}

int32_t take_list(Call* call, const Level& level) {
  Sources sources;
  Ranges ranges;
  Room<Part, 4> children;
  bool is_plain;
  if (!find_sources(level, &sources) || !children.allocate(level.parts.count) || !level.node->allocate_children(1)) {
    return call->trouble.fail_memory(level.parts.count);
  }
  find_children(level, &sources, children.data(), &is_plain);
  if (int32_t status = measure(call, level, sources, &ranges)) return status;
  return is_plain ? take_plain(call, level, sources, ranges)
                  : take_elements(call, level, {children.data(), level.parts.count}, ranges);
}

}  // namespace gather::columns
