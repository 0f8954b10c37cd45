#include "cpu/bag_reader.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "cpu/indices.hpp"
#include "cpu/job.hpp"

namespace gather::cpu {

using core::Error;

void BagReader::load(int64_t first, int64_t n, int64_t* values) const {
  const int64_t stride = bags_.bags_stride;
  load_numbers(bags_.type, moved(numbers_, wrapping_multiply(first, stride)), stride, n, values);
}

// Fails because a number violates a rule. A uint64 beyond int64 is negative in `value`.
int32_t BagReader::fail(Rule rule, int64_t position, int64_t value, int64_t limit, const Error& error) const {
  const bool is_large = value < 0 && !core::is_signed(bags_.type);
  const core::Fault fault{
      GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, position, value, limit, is_large ? uint32_t{GTH_ERROR_UNSIGNED} : 0};
  constexpr const char* names[] = {"offset", "start", "length", "segment"};
  const char* const name = names[bags_.format - GTH_BAGS_OFFSETS];
  char number[24];
  std::snprintf(number, sizeof number, is_large ? "%" PRIu64 : "%" PRId64, static_cast<uint64_t>(value));
  switch (rule) {
    case Rule::zero_first: return error.fail(fault, "bags: the first %s is %s and must be 0", name, number);
    case Rule::not_negative: return error.fail(fault, "bags: %s %" PRId64 " is %s", name, position, number);
    case Rule::not_smaller:
      return error.fail(fault, "bags: %s %" PRId64 " is %s, which is less than %" PRId64 " before it", name, position,
                        number, limit);
    case Rule::ids_left:
      return error.fail(fault, "bags: %s %" PRId64 " is %s, and only %" PRId64 " of %" PRId64 " ids are left", name,
                        position, number, limit, ids_);
    default:
      return error.fail(fault, "bags: %s %" PRId64 " is %s, and there are %" PRId64 " %s", name, position, number,
                        limit, rule == Rule::bags ? "bags" : "ids");
  }
}

// Fails because the last bag ends with id `value`.
int32_t BagReader::fail_end(int64_t value, const Error& error) const {
  const char* const name = bags_.format == GTH_BAGS_LENGTHS ? "sum of the lengths" : "last offset";
  return error.fail({GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, count_, value, ids_},
                    "bags: the %s is %" PRId64 ", and there are %" PRId64 " ids", name, value, ids_);
}

int32_t BagReader::fail_offset(int64_t position, int64_t value, int64_t before, const Error& error) const {
  const bool is_large = value > ids_ || (value < 0 && !core::is_signed(bags_.type));
  return is_large ? fail(Rule::ids, position, value, ids_, error)
                  : fail(Rule::not_smaller, position, value, before, error);
}

// The first number of `begin` is that of at.bag, which has been read before except for the first bag.
int32_t BagReader::read_offsets(const BagPosition& at, int64_t n, int64_t* begin, const Error& error) const {
  begin[0] = at.id;
  if (at.bag == 0) {
    load(0, 1, begin);
    if (begin[0] != 0) return fail(Rule::zero_first, 0, begin[0], 0, error);
  }
  load(at.bag + 1, n, begin + 1);
  uint64_t signs = 0;  // of numbers, and of the differences between successive ones
  for (int64_t i = 1; i <= n; ++i) {
    const auto number = static_cast<uint64_t>(begin[i]);
    signs |= number | (number - static_cast<uint64_t>(begin[i - 1]));
  }
  if (static_cast<int64_t>(signs) >= 0 && begin[n] <= ids_) return GTH_OK;
  for (int64_t i = 1; i <= n; ++i) {
    if (begin[i] > ids_ || begin[i] < begin[i - 1]) return fail_offset(at.bag + i, begin[i], begin[i - 1], error);
  }
  return GTH_OK;
}

// The last bag ends with the last id.
int32_t BagReader::read_starts(const BagPosition& at, int64_t n, int64_t* begin, const Error& error) const {
  if (at.bag + n < count_) return read_offsets(at, n, begin, error);
  begin[n] = ids_;
  return read_offsets(at, n - 1, begin, error);
}

int32_t BagReader::read_lengths(const BagPosition& at, int64_t n, int64_t* begin, const Error& error) const {
  begin[0] = at.id;
  load(at.bag, n, begin + 1);
  for (int64_t i = 1; i <= n; ++i) {
    const int64_t length = begin[i], rest = ids_ - begin[i - 1];
    const bool is_large = length < 0 && !core::is_signed(bags_.type);
    if (length < 0 && !is_large) return fail(Rule::not_negative, at.bag + i - 1, length, 0, error);
    if (length > rest || is_large) return fail(Rule::ids_left, at.bag + i - 1, length, rest, error);
    begin[i] = begin[i - 1] + length;
  }
  return GTH_OK;
}

// Checks the segment of an id. `before` is that of the id before it, or 0.
int32_t BagReader::check_segment(int64_t id, int64_t segment, int64_t before, const Error& error) const {
  const bool is_large = segment >= count_ || (segment < 0 && !core::is_signed(bags_.type));
  if (is_large) return fail(Rule::bags, id, segment, count_, error);
  if (segment >= before) return GTH_OK;
  return fail(segment < 0 && before == 0 ? Rule::not_negative : Rule::not_smaller, id, segment, before, error);
}

int32_t BagReader::check_segments(const Error& error) const {
  int64_t segments[most], before = 0;
  for (int64_t first = 0; first < ids_; first += most) {
    const int64_t n = std::min(most, ids_ - first);
    load(first, n, segments);
    for (int64_t i = 0; i < n; ++i) {
      if (int32_t status = check_segment(first + i, segments[i], before, error)) return status;
      before = segments[i];
    }
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
      if (int32_t status = check_segment(id, segment, at.bag + i, error)) return status;
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
    if (first != 0) return fail(Rule::zero_first, 0, first, 0, error);
  }
  if (at.id == ids_ || bags_.ends_early) return GTH_OK;
  if (!are_segments()) return fail_end(at.id, error);
  int64_t segment;  // There is no bag, or each number has been compared with their count.
  load(at.id, 1, &segment);
  return check_segment(at.id, segment, 0, error);
}

bool BagReader::are_runs() const {
  return bags_.format == GTH_BAGS_DENSE || bags_.bags_stride == 0 || count_ == 0 || (are_segments() && ids_ == 0);
}

int32_t BagReader::read_runs(BagRun* runs, const Error& error) const {
  int64_t number;
  std::fill_n(runs, most_runs, BagRun{});
  runs[0] = {count_, bags_.length};
  if (bags_.format == GTH_BAGS_DENSE || count_ == 0 || (are_segments() && ids_ == 0)) return GTH_OK;
  switch (bags_.format) {
    case GTH_BAGS_LENGTHS:
      load(0, 1, &number);
      if (number < 0 && core::is_signed(bags_.type)) return fail(Rule::not_negative, 0, number, 0, error);
      if (number == 0 || (number > 0 && count_ <= ids_ / number)) {
        runs[0].ids = number;
        return GTH_OK;
      } else {
        const int64_t fitting = number < 0 ? 0 : ids_ / number;
        return fail(Rule::ids_left, fitting, number, ids_ - fitting * std::max<int64_t>(number, 0), error);
      }
    case GTH_BAGS_SEGMENTS:
      load(0, 1, &number);
      if (int32_t status = check_segment(0, number, 0, error)) return status;
      runs[0].bags = number, runs[1] = {1, ids_}, runs[2].bags = count_ - number - 1;
      return GTH_OK;
    default:
      if (bags_.format == GTH_BAGS_STARTS) runs[0].bags = count_ - 1, runs[1] = {1, ids_};
      return read_offsets({0, 0}, 0, &number, error);
  }
}

}  // namespace gather::cpu
