#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "../cpp/scatter_oracle.hpp"
#include "input.hpp"
#include "pages.hpp"

// Calls of gather_bags with any bags, ids, weights and strides. Table and weights are small integers, so that every sum is
// exact. All operands are between guard pages. The error of a call is found by the rules of gather.h.
namespace fuzz::bag_calls {

constexpr int32_t table_dtypes[] = {GTH_DTYPE_FLOAT32, GTH_DTYPE_FLOAT64, GTH_DTYPE_FLOAT16, GTH_DTYPE_INT32};
constexpr int32_t index_dtypes[] = {GTH_DTYPE_INT64, GTH_DTYPE_INT32, GTH_DTYPE_INT8, GTH_DTYPE_UINT64,
                                    GTH_DTYPE_UINT8};
enum Which { table_at, ids_at, bags_at, weights_at, out_at, operand_count };

inline void store(int32_t dtype, double value, void* to) {
  const auto integer = static_cast<int32_t>(value);
  if (dtype == GTH_DTYPE_INT32) {
    std::memcpy(to, &integer, sizeof integer);
  } else {
    oracle::encode_float(dtype, value, static_cast<char*>(to));
  }
}

// An operand of one or two dims. Its memory begins or ends at a guard page, and the bytes between elements are painted.
class Operand {
 public:
  void make(Input& input, int32_t dtype, int32_t ndim, int64_t first, int64_t second) {
    item_ = gth_dtype_size(dtype);
    shape_[0] = first;
    shape_[1] = second;
    strides_[1] = item_ * (1 + input.below(3));
    strides_[0] = (ndim == 2 ? strides_[1] * std::max<int64_t>(second, 1) : item_) + item_ * input.below(4);
    const int64_t reach = strides_[0] * std::max<int64_t>(first - 1, 0) +
                          (ndim == 2 ? strides_[1] * std::max<int64_t>(second - 1, 0) : 0);
    desc = GTH_TENSOR_DESC_INIT;
    desc.dtype = dtype;
    desc.ndim = ndim;
    desc.shape = shape_;
    desc.strides = strides_;
    desc.extent = reach + item_;
    desc.data = pages_.place(static_cast<size_t>(desc.extent), input.rarely(4));
    pages_.paint(static_cast<uint8_t>(dtype));
    if (ndim == 2 || !input.rarely(4)) return;
    desc.offset = reach;
    strides_[0] = -strides_[0];
  }
  // Returns the address of an element by its number in row-major order.
  char* at(int64_t i) const {
    char* const first = static_cast<char*>(const_cast<void*>(desc.data)) + desc.offset;
    return desc.ndim == 1 ? first + i * strides_[0] : first + i / shape_[1] * strides_[0] + i % shape_[1] * strides_[1];
  }
  void set(int64_t i, int64_t value) const { std::memcpy(at(i), &value, static_cast<size_t>(item_)); }
  // Returns an integer. A large uint64 is negative.
  int64_t get(int64_t i) const {
    uint64_t bits = 0;
    std::memcpy(&bits, at(i), static_cast<size_t>(item_));
    const int shift = static_cast<int>(64 - 8 * item_);
    return is_unsigned() ? static_cast<int64_t>(bits) : static_cast<int64_t>(bits << shift) >> shift;
  }
  bool is_unsigned() const { return desc.dtype >= GTH_DTYPE_UINT8; }
  bool is_large(int64_t value) const { return is_unsigned() && value < 0; }
  int64_t item() const { return item_; }
  int64_t* shape() { return shape_; }
  int64_t* strides() { return strides_; }
  std::vector<char> image() const { return {pages_.first(), pages_.end()}; }
  char* first() const { return pages_.first(); }

  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;

 private:
  Pages pages_{size_t{1} << 14};
  int64_t shape_[GTH_MAX_NDIM] = {}, strides_[GTH_MAX_NDIM] = {};  // for every rank of a malformed request
  int64_t item_ = 0;
};

struct Fault {
  int32_t status, operand;
  int64_t position, value, limit;
};

// A call, and its result by gather.h.
struct Call {
  Operand* operands;
  gth_options options = GTH_OPTIONS_INIT;
  int64_t rows = 0, dim = 0, bags = 0, ids = 0;
  bool has_bags = false, has_weights = false;
  std::vector<int64_t> begin;  // in front of each bag, and at the end
  std::optional<Fault> fault;
  std::vector<char> expected;  // the pages of the output

  Operand& operator[](Which which) const { return operands[which]; }
  int32_t dtype() const { return operands[table_at].desc.dtype; }
  int32_t pool() const { return options.pool ? options.pool : GTH_POOL_SUM; }
  int32_t format() const { return options.bag_format ? options.bag_format : GTH_BAGS_OFFSETS; }
  bool divides() const { return pool() == GTH_POOL_MEAN || pool() == GTH_POOL_SQRTN; }
  void fail(int32_t status, int32_t operand, int64_t position, int64_t value, int64_t limit) {
    if (!fault) fault = {status, operand, position, value, limit};
  }
};

// ---- Drawing

inline void draw_options(Input& input, gth_options* options) {
  options->bag_format = static_cast<int32_t>(input.below(6));
  options->pool = static_cast<int32_t>(input.below(6));
  options->bounds = static_cast<int32_t>(input.below(6));
  options->negative = static_cast<int32_t>(input.below(3));
  options->empty = static_cast<int32_t>(input.below(4));
  options->fill = GTH_FILL_VALUE;
  options->has_padding_index = input.rarely(3);
  if (options->has_padding_index) options->padding_index = input.rarely(3) ? input.number() : input.below(8) - 1;
}

// Draws the lengths of the bags, and writes the numbers of the format. Some numbers are arbitrary.
inline void draw_bags(Input& input, Call* call) {
  const int32_t format = call->format();
  std::vector<int64_t> numbers;
  for (int64_t b = 0; b < call->bags; ++b) {
    const int64_t length = input.below(7);
    const bool has_each = format == GTH_BAGS_SEGMENTS;
    const int64_t number = has_each ? b : format == GTH_BAGS_LENGTHS ? length : call->ids;
    numbers.insert(numbers.end(), has_each ? static_cast<size_t>(length) : 1, number);
    call->ids += length;
  }
  if (format == GTH_BAGS_OFFSETS) numbers.push_back(call->ids);
  if (format == GTH_BAGS_SEGMENTS) call->options.bag_count = call->bags;
  Operand& bags = (*call)[bags_at];
  bags.make(input, input.pick(index_dtypes), 1, static_cast<int64_t>(numbers.size()), 1);
  for (size_t i = 0; i < numbers.size(); ++i)
    bags.set(static_cast<int64_t>(i), input.rarely(24) ? input.number() : numbers[i]);
}

inline void draw_operands(Input& input, Call* call) {
  int32_t dtype = input.pick(table_dtypes);
  if (call->divides() && dtype == GTH_DTYPE_INT32) dtype = GTH_DTYPE_FLOAT32;
  call->rows = 1 + input.below(6);
  call->dim = input.rarely(16) ? 0 : 1 + input.below(37);
  call->bags = input.below(9);
  call->has_bags = call->format() != GTH_BAGS_DENSE;
  const int64_t length = input.below(6);
  if (call->has_bags) draw_bags(input, call);
  if (!call->has_bags) call->ids = call->bags * length;
  const int32_t ndim = call->has_bags ? 1 : 2;
  const int64_t first = call->has_bags ? call->ids : call->bags;
  (*call)[ids_at].make(input, input.pick(index_dtypes), ndim, first, length);
  call->has_weights = call->pool() <= GTH_POOL_SQRTN && input.rarely(3);
  const int32_t weights = dtype != GTH_DTYPE_INT32 && input.rarely(2) ? GTH_DTYPE_FLOAT32 : dtype;
  (*call)[weights_at].make(input, weights, ndim, first, length);
  (*call)[table_at].make(input, dtype, 2, call->rows, call->dim);
  (*call)[out_at].make(input, dtype, 2, call->bags, call->dim);
}

inline double table_value(int64_t i) { return static_cast<double>((i * 7 + 3) % 17 - 8); }
inline double weight_of(int64_t i) { return static_cast<double>(i % 5 - 1); }
constexpr double fill_value = 3;

inline void draw_values(Input& input, Call* call) {
  const Operand &table = (*call)[table_at], &ids = (*call)[ids_at], &weights = (*call)[weights_at];
  for (int64_t i = 0; i < call->rows * call->dim; ++i) store(call->dtype(), table_value(i), table.at(i));
  for (int64_t i = 0; i < call->ids; ++i) {
    const bool pads = call->options.has_padding_index && input.rarely(4);
    ids.set(i, pads ? call->options.padding_index : input.rarely(24) ? input.number() : input.below(call->rows));
    store(weights.desc.dtype, weight_of(i), weights.at(i));
  }
  store(call->dtype(), fill_value, call->options.fill_value);
}

// ---- The expected error

inline void fail_bags(Call* call, int64_t position, int64_t value, int64_t limit) {
  call->fail(GTH_E_OFFSETS, GTH_OPERAND_BAGS, position, value, limit);
}

inline void find_offsets(Call* call, int64_t count) {
  const Operand& bags = (*call)[bags_at];
  for (int64_t i = 0; i < count && !call->fault; ++i) {
    const int64_t number = bags.get(i), before = i ? call->begin.back() : 0;
    const bool is_large = bags.is_large(number) || number > call->ids;
    if (i == 0 && number != 0) fail_bags(call, 0, number, 0);
    if (is_large) fail_bags(call, i, number, call->ids);
    if (number < before) fail_bags(call, i, number, before);
    call->begin.push_back(number);
  }
}

inline void find_lengths(Call* call) {
  const Operand& bags = (*call)[bags_at];
  call->begin = {0};
  for (int64_t i = 0; i < call->bags && !call->fault; ++i) {
    const int64_t number = bags.get(i), rest = call->ids - call->begin.back();
    if (bags.is_large(number) || number > rest) fail_bags(call, i, number, rest);
    if (number < 0) fail_bags(call, i, number, 0);
    if (!call->fault) call->begin.push_back(call->begin.back() + number);  // A wrong one may overflow.
  }
}

inline void find_segments(Call* call) {
  const Operand& bags = (*call)[bags_at];
  int64_t before = 0;
  call->begin.assign(static_cast<size_t>(call->bags + 1), 0);
  for (int64_t i = 0; i < call->ids && !call->fault; ++i) {
    const int64_t number = bags.get(i);
    if (bags.is_large(number) || number >= call->bags) fail_bags(call, i, number, call->bags);
    if (number < before) fail_bags(call, i, number, before);
    if (call->fault) return;
    before = number;
    for (int64_t b = number + 1; b <= call->bags; ++b) call->begin[static_cast<size_t>(b)] = i + 1;
  }
}

inline void find_bags(Call* call) {
  switch (call->format()) {
    case GTH_BAGS_OFFSETS: find_offsets(call, call->bags + 1); break;
    case GTH_BAGS_STARTS: find_offsets(call, call->bags), call->begin.push_back(call->ids); break;
    case GTH_BAGS_LENGTHS: find_lengths(call); break;
    case GTH_BAGS_SEGMENTS: return find_segments(call);
    default:
      for (int64_t b = 0; b <= call->bags; ++b) call->begin.push_back(call->bags ? call->ids / call->bags * b : 0);
  }
  const bool has_end = call->format() != GTH_BAGS_STARTS || call->bags == 0;
  const int64_t end = call->format() == GTH_BAGS_STARTS ? 0 : call->begin.back();
  if (has_end && end != call->ids) fail_bags(call, call->bags, end, call->ids);
}

using oracle::filled, oracle::invalid, oracle::left_out;

// Draws a valid call. All calls use the same memory.
inline Call draw_call(Input& input) {
  static Operand* const operands = new Operand[operand_count];
  Call call;
  call.operands = operands;
  draw_options(input, &call.options);
  draw_operands(input, &call);
  draw_values(input, &call);
  return call;
}

inline int64_t row_of(const Call& call, int64_t i) {
  const Operand& ids = call[ids_at];
  return oracle::row_of_id(call.options, oracle::load(ids.at(i), ids.desc.dtype), call.rows);
}

// Finds the error of a call: of bags first, then of ids.
inline void find_fault(Call* call) {
  find_bags(call);
  for (int64_t b = 0; b < call->bags && !call->fault; ++b) {
    int64_t read = 0;
    for (int64_t i = call->begin[static_cast<size_t>(b)]; i < call->begin[static_cast<size_t>(b) + 1]; ++i) {
      read += row_of(*call, i) != left_out;
    }
    if (!read && call->options.empty == GTH_EMPTY_ERROR) fail_bags(call, b, 0, 1);
  }
  for (int64_t i = 0; i < call->ids; ++i) {
    if (!call->fault && row_of(*call, i) == invalid)
      call->fail(GTH_E_INDEX, GTH_OPERAND_INDICES, i, (*call)[ids_at].get(i), call->rows);
  }
}

inline void expect(const Call& call, const char* form, int32_t status, const gth_error& error) {
  tally().count(status);
  if (status != (call.fault ? call.fault->status : GTH_OK)) fail("%s: %s", form, gth_status_name(status));
  if (!call.fault) return;
  const Fault& fault = *call.fault;
  if (error.operand != fault.operand || error.position != fault.position || error.value != fault.value ||
      error.limit != fault.limit) {
    fail("%s: %s, expected position %lld value %lld limit %lld", form, error.message,
         static_cast<long long>(fault.position), static_cast<long long>(fault.value),
         static_cast<long long>(fault.limit));
  }
}

// Makes the change `what` of a description. Extents of memory stay true.
inline void damage_operand(Input& input, int64_t what, Operand* operand) {
  gth_tensor_desc& desc = operand->desc;
  switch (what) {
    case 0: operand->shape()[input.below(2)] = input.number(); return;
    case 1: operand->strides()[input.below(2)] = input.number(); return;
    case 2: desc.offset = input.number(); return;
    case 3: desc.ndim = static_cast<int32_t>(input.number()); return;
    case 4: desc.dtype = static_cast<int32_t>(input.number()); return;
    default: desc.data = nullptr;
  }
}

// Changes a description or an option.
inline void damage(Input& input, Call* call) {
  Operand& operand = (*call)[static_cast<Which>(input.below(operand_count))];
  const int64_t what = input.below(9);
  switch (what) {
    case 6: call->options.bag_count = input.number(); return;
    case 7: call->options.out_dtype = static_cast<int32_t>(input.number()); return;
    case 8: call->options.profile = static_cast<int32_t>(input.below(12)); return;
    default: damage_operand(input, what, &operand);
  }
}

}  // namespace fuzz::bag_calls
