#include "cpu/bag_reader.hpp"

#include <algorithm>
#include <cinttypes>

#include "cpu/indices.hpp"
#include "cpu/job.hpp"

namespace gather::cpu {

using core::Error;

void BagReader::load(int64_t first, int64_t n, int64_t* values) const {
  const int64_t stride = bags_.bags_stride;
  load_numbers(bags_.type, moved(numbers_, wrapping_multiply(first, stride)), stride, n, values);
}

// A uint64 beyond int64 is negative in `value`.
int32_t BagReader::fail(int64_t position, int64_t value, int64_t limit, const Error& error) const {
  const bool is_unsigned = !core::is_signed(bags_.type);
  const uint32_t flags = is_unsigned && value < 0 ? GTH_ERROR_UNSIGNED : 0;
  const core::Fault fault{GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, position, value, limit, flags};
  if (flags) {
    return error.fail(fault, "bags: number %" PRId64 " is %" PRIu64 ", the limit is %" PRId64, position,
                      static_cast<uint64_t>(value), limit);
  }
  return error.fail(fault, "bags: number %" PRId64 " is %" PRId64 ", the limit is %" PRId64, position, value, limit);
}

// The first number of `begin` is that of at.bag, which has been read before except for the first bag.
int32_t BagReader::read_offsets(const BagPosition& at, int64_t n, int64_t* begin, const Error& error) const {
  load(at.bag, n + 1, begin);
  if (begin[0] != at.id) return fail(at.bag, begin[0], at.id, error);
  uint64_t signs = 0;  // of numbers, and of the differences between successive ones
  for (int64_t i = 1; i <= n; ++i) {
    const auto number = static_cast<uint64_t>(begin[i]);
    signs |= number | (number - static_cast<uint64_t>(begin[i - 1]));
  }
  if (static_cast<int64_t>(signs) >= 0 && begin[n] <= ids_) return GTH_OK;
  for (int64_t i = 1; i <= n; ++i) {
    if (begin[i] > ids_) return fail(at.bag + i, begin[i], ids_, error);
    if (begin[i] < begin[i - 1]) {
      const bool is_large = begin[i] < 0 && !core::is_signed(bags_.type);
      return fail(at.bag + i, begin[i], is_large ? ids_ : begin[i - 1], error);
    }
  }
  return GTH_OK;
}

// The last bag ends with the last id.
int32_t BagReader::read_starts(const BagPosition& at, int64_t n, int64_t* begin, const Error& error) const {
  if (at.bag + n < count_) return read_offsets(at, n, begin, error);
  begin[n] = ids_;
  if (int32_t status = read_offsets(at, n - 1, begin, error)) return status;
  return GTH_OK;
}

int32_t BagReader::read_lengths(const BagPosition& at, int64_t n, int64_t* begin, const Error& error) const {
  begin[0] = at.id;
  load(at.bag, n, begin + 1);
  for (int64_t i = 1; i <= n; ++i) {
    const int64_t length = begin[i], rest = ids_ - begin[i - 1];
    const bool is_large = length < 0 && !core::is_signed(bags_.type);
    if (length < 0 && !is_large) return fail(at.bag + i - 1, length, 0, error);
    if (length > rest || is_large) return fail(at.bag + i - 1, length, rest, error);
    begin[i] = begin[i - 1] + length;
  }
  return GTH_OK;
}

int32_t BagReader::read_segments(const BagPosition& at, int64_t n, int64_t* begin, const Error& error) const {
  int64_t segments[most];
  int64_t id = begin[0] = at.id, loaded = at.id;
  for (int64_t i = 0; i < n; ++i) {
    for (; id < ids_; ++id) {
      if (id == loaded) {
        const int64_t some = std::min(most, ids_ - id);
        load(id, some, segments);
        loaded = id + some;
      }
      const int64_t segment = segments[(id - at.id) % most];
      const bool is_large = segment >= count_ || (segment < 0 && !core::is_signed(bags_.type));
      if (is_large) return fail(id, segment, count_, error);
      if (segment < at.bag + i) return fail(id, segment, at.bag + i, error);
      if (segment > at.bag + i) break;
    }
    begin[i + 1] = id;
  }
  return GTH_OK;
}

int32_t BagReader::read(const BagPosition& at, int64_t last, int64_t* begin, int64_t* count, const Error& error) const {
  const int64_t n = *count = std::min(most, last - at.bag);
  switch (bags_.format) {
    case GTH_BAGS_OFFSETS: return read_offsets(at, n, begin, error);
    case GTH_BAGS_STARTS: return read_starts(at, n, begin, error);
    case GTH_BAGS_LENGTHS: return read_lengths(at, n, begin, error);
    case GTH_BAGS_SEGMENTS: return read_segments(at, n, begin, error);
    default:
      for (int64_t i = 0; i <= n; ++i) begin[i] = (at.bag + i) * bags_.length;
      return GTH_OK;
  }
}

int32_t BagReader::check_end(const BagPosition& at, const Error& error) const {
  if (bags_.format == GTH_BAGS_OFFSETS && count_ == 0) {  // No bag has read the only offset.
    int64_t first;
    load(0, 1, &first);
    if (first != 0) return fail(0, first, 0, error);
  }
  if (at.id == ids_ || bags_.ends_early) return GTH_OK;
  if (bags_.format == GTH_BAGS_SEGMENTS) {  // There is no bag, or each number has been compared with their count.
    int64_t segment;
    load(at.id, 1, &segment);
    return fail(at.id, segment, count_, error);
  }
  return fail(count_, at.id, ids_, error);
}

}  // namespace gather::cpu
