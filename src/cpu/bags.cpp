#include "cpu/bags.hpp"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstring>

#include "core/base/checked.hpp"
#include "core/types/resolve_index.hpp"
#include "core/types/square_root.hpp"
#include "cpu/bag_kernels.hpp"
#include "cpu/bag_reader.hpp"
#include "cpu/job.hpp"
#include "cpu/pieces.hpp"
#include "cpu/validate.hpp"

namespace gather::cpu {
namespace {

using core::BagPlan;
using core::Error;
using core::Plan;

// The number of ids that are copied before their rows are pooled.
constexpr int64_t block_ids = 256;

// A row that is not in the table: it is filled with the element of bounds = fill.
constexpr int64_t filled_row = no_row + 1;

// A plan of bags together with its pointers.
struct Bags {
  Bags(const Plan& planned, const core::Pointers& pointers, int64_t n, const Kernels& chosen)
      : plan(planned),
        bags(planned.bags),
        kernels(chosen),
        count(planned.bags.count.at(n)),
        ids(planned.bags.ids_of(n, pointers.ids)),
        job(planned, pointers, planned.bags.loops_n(n, pointers.ids), chosen),
        weights(moved(pointers.weights, planned.offset.weights)),
        reader(planned, moved(pointers.bags, planned.offset.bags), count, ids) {}

  // Return the address of an id, of its weight, and of the row of a bag.
  const char* id_at(int64_t i) const { return moved(job.indices, distance(bags.ids_at, &core::Loop::indices, i, 0)); }
  const char* weight_at(int64_t i) const { return moved(weights, distance(bags.weights_at, &core::Loop::table, i, 0)); }
  char* row_at(int64_t bag) const { return moved(job.rows, distance(bags.rows_at, &core::Loop::rows, bag, 1)); }

  const Plan& plan;
  const BagPlan& bags;
  const Kernels& kernels;
  int64_t count, ids;
  Job job;  // its tuples are the ids
  const char* weights;
  BagReader reader;

 private:
  // Returns the distance of element i of the loops over ids, without the innermost `without` ones.
  int64_t distance(const core::Line& line, core::Scaled core::Loop::* stride, int64_t i, int32_t without) const {
    if (line.is_line) return wrapping_multiply(i, line.stride);
    int64_t sum = 0;
    for (int32_t l = plan.inner_begin - without; l-- > 0;) {
      const core::Loop& loop = plan.loops[l];
      const int64_t step = l == 0 ? i : i % loop.extent.factor;
      sum += wrapping_multiply(step, (loop.*stride).factor);
      if (l > 0) i /= loop.extent.factor;
    }
    return sum;
  }
};

bool has_sum(int32_t pool) { return pool <= GTH_POOL_SQRTN; }

bool divides(const BagPlan& bags) { return bags.pool == GTH_POOL_MEAN || bags.pool == GTH_POOL_SQRTN; }

// Returns true if the ids of some bags may not be read: padding, and those that bounds = skip leaves out.
bool leaves_out(const Plan& plan) { return plan.bags.has_padding || plan.bounds == GTH_BOUNDS_SKIP; }

// Returns true if the kernels read ids and weights of the caller. They validate the ids.
bool reads_directly(const Bags& on) {
  const Plan& plan = on.plan;
  const BagPlan& bags = on.bags;
  const bool plain = plan.index == core::IndexType::int64 && !plan.wraps && plan.bounds == GTH_BOUNDS_ERROR;
  const auto is_array = [](const core::Line& line, const char* first, int64_t item) {
    return line.is_line && line.stride == item && reinterpret_cast<uintptr_t>(first) % static_cast<uint64_t>(item) == 0;
  };
  if (!plain || !is_array(bags.ids_at, on.job.indices, sizeof(int64_t))) return false;
  if (!bags.has_weights) return true;
  const int64_t item = plan.item.bytes();
  return sum_bytes(plan) == item && !bags.has_float32_weights && is_array(bags.weights_at, on.weights, item);
}

// ---- Ids

// Loads n <= block_ids ids, each once.
void load_ids(const Bags& on, int64_t first, int64_t n, int64_t* values) {
  if (on.bags.ids_at.is_line) {
    return load_numbers(on.plan.index, on.id_at(first), on.bags.ids_at.stride, n, values);
  }
  for (int64_t i = 0; i < n; ++i) load_numbers(on.plan.index, on.id_at(first + i), 0, 1, values + i);
}

// Replaces ids by the numbers of rows, no_row, or filled_row. Returns the number of ids before the first invalid one.
int64_t resolve_ids(const Plan& plan, int64_t* values, int64_t n) {
  const int64_t size = plan.component[0].size, padding = plan.bags.padding;
  const bool pads = plan.bags.has_padding;
  const core::IndexPolicy policy = core::policy_of(plan.wraps, core::is_signed(plan.index), plan.bounds);
  if (!pads) {
    // The sign of `outside_any` is set if an id is negative, or larger than the last one.
    uint64_t outside_any = 0;
    for (int64_t i = 0; i < n; ++i) {
      const auto id = static_cast<uint64_t>(values[i]);
      outside_any |= id | (static_cast<uint64_t>(size - 1) - id);
    }
    if (static_cast<int64_t>(outside_any) >= 0) return n;
  }
  const int64_t outside = plan.bounds == GTH_BOUNDS_FILL ? filled_row : no_row;
  for (int64_t i = 0; i < n; ++i) {
    if (pads && values[i] == padding) {
      values[i] = no_row;
      continue;
    }
    const int64_t row = core::resolve_index(values[i], size, policy);
    if (row < 0 && policy.outside != Outside::skipped) return i;
    values[i] = row < 0 ? outside : row;
  }
  return n;
}

struct FirstBadId {
  std::atomic<int64_t> position{INT64_MAX};
};

// Validates the ids [first, last). Stops at the first invalid one.
void validate_padded_range(const Bags& on, int64_t first, int64_t last, FirstBadId* found) {
  int64_t values[block_ids];
  while (first < last && first < found->position.load(std::memory_order_relaxed)) {
    const int64_t n = std::min(block_ids, last - first);
    load_ids(on, first, n, values);
    const int64_t valid = resolve_ids(on.plan, values, n);
    if (valid < n) {
      int64_t before = found->position.load(std::memory_order_relaxed);
      while (first + valid < before && !found->position.compare_exchange_weak(before, first + valid)) {
      }
      return;
    }
    first += n;
  }
}

int32_t fail_bad_id(const Bags& on, int64_t position, const Error& error) {
  int64_t value;
  load_numbers(on.plan.index, on.id_at(position), 0, 1, &value);
  return fail_bad_tuple(on.plan, position, {0, 0, value}, error);
}

// Padding is compared before bounds, so the kernels of other operations cannot validate the ids.
int32_t validate_padded(const Bags& on, int64_t ids, const Executor& executor, const Error& error) {
  if (on.plan.bounds == GTH_BOUNDS_FILL || on.plan.bounds == GTH_BOUNDS_SKIP) return GTH_OK;
  FirstBadId found;
  int64_t bytes;
  if (!core::multiply(ids, core::index_bytes(on.plan.index), &bytes)) bytes = INT64_MAX;
  in_pieces(executor, ids, bytes, [&](int64_t first, int64_t last) { validate_padded_range(on, first, last, &found); });
  const int64_t position = found.position.load(std::memory_order_relaxed);
  return position == INT64_MAX ? GTH_OK : fail_bad_id(on, position, error);
}

// Validates the first `ids` ids.
int32_t validate_ids(const Bags& on, int64_t ids, const Executor& executor, const Error& error) {
  if (ids == 0 || on.plan.is_empty) return GTH_OK;
  if (on.bags.has_padding || ids != on.ids) return validate_padded(on, ids, executor, error);
  return validate_all(on.job, executor, error);
}

// ---- Bags

// The bags are divided into parts of about equal numbers of ids. Part i has the bags and ids from at[i] to at[i + 1].
struct Cuts {
  static constexpr int64_t most = 128;
  int64_t count = 1;
  BagPosition at[most + 1];
};

int64_t slice_bytes(const Bags& on) { return on.plan.inner * on.plan.row.in + row_overhead; }

int64_t read_bytes(const Bags& on) {
  int64_t bytes;
  const bool fits = core::multiply(std::max(on.ids, on.count), slice_bytes(on), &bytes);
  return fits ? bytes : INT64_MAX;
}

// Returns true if bag `bag` has an id that is read.
bool has_ids(const Bags& on, int64_t begin, int64_t end) {
  if (!leaves_out(on.plan)) return end > begin;
  int64_t values[block_ids];
  for (; begin < end; begin += block_ids) {
    const int64_t n = std::min(block_ids, end - begin);
    load_ids(on, begin, n, values);
    if (resolve_ids(on.plan, values, n) < n) return true;  // An invalid id is reported later.
    if (std::any_of(values, values + n, [](int64_t row) { return row != no_row; })) return true;
  }
  return false;
}

int32_t check_not_empty(const Bags& on, int64_t bag, int64_t m, const int64_t* begin, const Error& error) {
  if (on.bags.empty != GTH_EMPTY_ERROR) return GTH_OK;
  for (int64_t i = 0; i < m; ++i) {
    if (has_ids(on, begin[i], begin[i + 1])) continue;
    return error.fail({GTH_E_OFFSETS, GTH_OPERAND_BAGS, -1, bag + i, 0, 1}, "bags: bag %" PRId64 " is empty", bag + i);
  }
  return GTH_OK;
}

// Validates all bags, and cuts them for the threads. cuts->at[cuts->count].id is the number of ids of all bags.
int32_t validate_and_cut(const Bags& on, const Executor& executor, Cuts* cuts, const Error& error) {
  const Pieces pieces = cut(executor, std::max<int64_t>(on.count, 1), read_bytes(on));
  const int64_t wanted = std::min(pieces.count, Cuts::most);
  const int64_t each = (on.ids + on.count) / wanted + 1;  // bags count, because empty ones are written too
  int64_t begin[BagReader::most + 1];
  BagPosition at{0, 0};
  cuts->at[0] = at;
  cuts->count = 0;
  while (at.bag < on.count) {
    int64_t m;
    if (int32_t status = on.reader.read(at, on.count, begin, &m, error)) return status;
    if (int32_t status = check_not_empty(on, at.bag, m, begin, error)) return status;
    for (int64_t i = 1; i <= m && wanted > 1; ++i) {
      const BagPosition& last = cuts->at[cuts->count];
      const BagPosition next{at.bag + i, begin[i]};
      if (next.bag - last.bag + next.id - last.id >= each && cuts->count < wanted - 1) cuts->at[++cuts->count] = next;
    }
    at = {at.bag + m, begin[m]};
  }
  cuts->at[++cuts->count] = at;
  return on.reader.check_end(at, error);
}

// Validates bags and ids, and cuts the bags for the threads.
int32_t validate_all_of(const Bags& on, const Executor& executor, Cuts* cuts, const Error& error) {
  const int32_t status = validate_and_cut(on, executor, cuts, error);
  return status ? status : validate_ids(on, cuts->at[cuts->count].id, executor, error);
}

// ---- Pooling

enum class Stop : uint8_t { none, id, bags };

// The bags of a block, and the memory for their ids, weights and divisors.
struct BagBlock {
  int64_t bag;  // the number of the first one
  int64_t bags;
  const int64_t* begin;  // Bag i has the ids from ids[begin[i]] to ids[begin[i + 1]].
  const int64_t* ids;
  const char* weights;  // of the type of the sums
};

// Pools bags with one thread.
class Pooler {
 public:
  explicit Pooler(const Bags& on) : on_(on), is_direct_(reads_directly(on)), sum_bytes_(sum_bytes(on.plan)) {
    if (on.plan.bounds == GTH_BOUNDS_FILL) fill_row();
  }

  // Pools the bags from `first` to `last`.
  Stop pool(BagPosition first, const BagPosition& last) {
    int64_t begin[BagReader::most + 1];
    const Error silent(nullptr);
    while (first.bag < last.bag) {
      int64_t m;
      if (on_.reader.read(first, last.bag, begin, &m, silent) || begin[m] > last.id) return Stop::bags;
      if (!(is_direct_ ? pool_direct(first.bag, m, begin) : pool_copied(first.bag, m, begin))) return Stop::id;
      first = {first.bag + m, begin[m]};
    }
    return first.id == last.id ? Stop::none : Stop::bags;
  }

 private:
  void fill_row() {
    const int64_t item = on_.plan.item.bytes();
    for (int64_t at = 0; at + item <= most_pooled_bytes; at += item)
      std::memcpy(filled_ + at, on_.plan.fill, static_cast<size_t>(item));
  }

  bool pool_direct(int64_t bag, int64_t bags, const int64_t* begin) {
    const auto ids = reinterpret_cast<const int64_t*>(on_.job.indices);
    return pool_block({bag, bags, begin, ids, on_.weights}, on_.bags.has_padding ? on_.bags.padding : no_row, on_.ids);
  }

  // Copies the ids of as many bags as fit, and then pools them.
  bool pool_copied(int64_t bag, int64_t bags, const int64_t* begin) {
    while (bags > 0) {
      int64_t m = 0;
      while (m < bags && begin[m + 1] - begin[0] <= block_ids) ++m;
      const bool is_long = m == 0, has_fill = on_.plan.bounds == GTH_BOUNDS_FILL;
      m = std::max<int64_t>(m, 1);
      if (is_long || has_fill) {
        for (int64_t i = 0; i < m; ++i) {
          if (!pool_in_parts(bag + i, begin[i], begin[i + 1])) return false;
        }
      } else if (!pool_copies(bag, m, begin)) {
        return false;
      }
      bag += m, begin += m, bags -= m;
    }
    return true;
  }

  bool pool_copies(int64_t bag, int64_t bags, const int64_t* begin) {
    const int64_t first = begin[0], n = begin[bags] - first;
    if (!copy(first, n)) return false;
    int64_t moved_begin[BagReader::most + 1];
    for (int64_t i = 0; i <= bags; ++i) moved_begin[i] = begin[i] - first;
    return pool_block({bag, bags, moved_begin, ids_, weights_}, no_row, n);
  }

  // Copies and resolves n ids, and copies their weights.
  bool copy(int64_t first, int64_t n) {
    load_ids(on_, first, n, ids_);
    if (resolve_ids(on_.plan, ids_, n) < n) return false;
    if (on_.bags.has_weights) copy_weights(first, n);
    return true;
  }

  void copy_weights(int64_t first, int64_t n) {
    const bool is_half = sum_bytes_ != on_.plan.item.bytes() && !on_.bags.has_float32_weights;
    const bool is_narrow = on_.bags.has_float32_weights && sum_bytes_ == int64_t{sizeof(double)};
    const int64_t item = on_.bags.has_float32_weights ? int64_t{sizeof(float)} : on_.plan.item.bytes();
    for (int64_t i = 0; i < n; ++i) {
      const char* const from = on_.weight_at(first + i);
      char* const to = weights_ + i * sum_bytes_;
      if (is_half) {
        const Accumulate convert = on_.kernels.tier->choose_accumulate(on_.plan.number, GTH_REDUCTION_ADD);
        convert.load(from, 1, reinterpret_cast<float*>(to));
      } else if (is_narrow) {
        float narrow;
        std::memcpy(&narrow, from, sizeof narrow);
        const double wide = narrow;
        std::memcpy(to, &wide, sizeof wide);
      } else {
        std::memcpy(to, from, static_cast<size_t>(item));
      }
    }
  }

  // Calls body(table offset, rows offset, elements, kernels) for each contiguous part of a row.
  template <class Body>
  bool for_parts(Body&& body) const {
    const int64_t elements = row_elements(on_.plan), most = most_elements(on_.plan);
    const int64_t item = part_bytes(on_.plan), out_item = on_.bags.widens ? int64_t{sizeof(float)} : item;
    bool is_valid = true;
    for_each_row(on_.job, [&](int64_t table, int64_t rows) {
      for (int64_t first = 0; first < elements && is_valid; first += most) {
        const int64_t n = std::min(most, elements - first);
        is_valid = body(table + first * item, rows + first * out_item, n,
                        n == most ? on_.kernels.pooling : on_.kernels.last_pooling);
      }
    });
    return is_valid;
  }

  BagRows rows_of(int64_t table, int64_t elements) {
    BagRows rows{};
    rows.table = moved(on_.job.table, table);
    rows.rows = on_.plan.component[0].size;
    rows.stride = on_.plan.component[0].stride;
    rows.elements = elements;
    rows.widens = on_.bags.widens;
    rows.is_first = rows.is_last = true;
    rows.sums = sums_;
    return rows;
  }

  // Pools whole bags, whose ids are contiguous.
  bool pool_block(const BagBlock& block, int64_t left_out, int64_t readable) {
    const bool has_divisors = find_divisors(block, left_out);
    const bool is_valid = for_parts([&](int64_t table, int64_t out, int64_t elements, const Pooling& kernel) {
      BagRows rows = rows_of(table, elements);
      rows.ids = block.ids;
      rows.readable = readable;
      rows.left_out = left_out;
      rows.weights = block.weights;
      rows.out_stride = on_.bags.rows_at.stride;
      rows.bags = on_.bags.rows_at.is_line ? block.bags : 1;
      for (int64_t i = 0; i < block.bags; i += rows.bags) {
        rows.begin = block.begin + i;
        rows.out = moved(on_.row_at(block.bag + i), out);
        rows.divisors = has_divisors ? divisors_ + i * sum_bytes_ : nullptr;
        if (kernel.bags(rows)) return false;
      }
      return true;
    });
    if (is_valid) finish_empty(block, left_out);
    return is_valid;
  }

  // The number of ids of a bag that are read, and the sum of their weights or of the squares.
  template <class T>
  struct Weighed {
    int64_t count;
    T sum;
  };

  bool weighs() const { return on_.bags.has_weights && divides(on_.bags); }

  // Returns true if the ids of a bag need not be read to find what it is divided by, and whether it is empty.
  bool counts_every_id() const { return !weighs() && !leaves_out(on_.plan); }

  template <class T>
  void add_weights(const BagBlock& block, int64_t bag, int64_t left_out, Weighed<T>* all) const {
    const auto weights = reinterpret_cast<const T*>(block.weights);
    const bool squares = on_.bags.pool == GTH_POOL_SQRTN, has_weights = weighs();
    for (int64_t k = block.begin[bag]; k < block.begin[bag + 1]; ++k) {
      if (block.ids[k] == left_out) continue;
      ++all->count;
      if (has_weights) all->sum += squares ? weights[k] * weights[k] : weights[k];
    }
  }

  // Sets the divisor of a bag. Ids without weights count 1. The row of a bag whose weights have the sum 0 is written
  // later.
  template <class T>
  void set_divisor(int64_t bag, const Weighed<T>& all) {
    T sum = on_.bags.has_weights ? all.sum : static_cast<T>(all.count);
    if (on_.bags.pool == GTH_POOL_SQRTN) sum = core::square_root(sum);
    is_zero_[bag] = sum == 0;
    const T divisor = is_zero_[bag] ? T{1} : sum;
    std::memcpy(divisors_ + bag * sum_bytes_, &divisor, sizeof divisor);
  }

  template <class T>
  void find_divisors_of(const BagBlock& block, int64_t left_out) {
    for (int64_t bag = 0; bag < block.bags; ++bag) {
      Weighed<T> all{counts_every_id() ? block.begin[bag + 1] - block.begin[bag] : 0, 0};
      if (!counts_every_id()) add_weights(block, bag, left_out, &all);
      set_divisor(bag, all);
    }
  }

  // Returns false if the pool divides by nothing.
  bool find_divisors(const BagBlock& block, int64_t left_out) {
    if (!divides(on_.bags)) return false;
    sums_are_double() ? find_divisors_of<double>(block, left_out) : find_divisors_of<float>(block, left_out);
    return true;
  }

  // Writes the rows of bags without ids, and of those whose weights have the sum 0.
  void finish_empty(const BagBlock& block, int64_t left_out) {
    const bool is_start = on_.bags.empty == core::start_if_empty;
    const bool writes_zero = on_.bags.empty != GTH_EMPTY_FILL && has_sum(on_.bags.pool);
    if (writes_zero && !divides(on_.bags)) return;  // The sum of no rows is zero.
    for (int64_t bag = 0; bag < block.bags; ++bag) {
      const int64_t* const first = block.ids + block.begin[bag];
      const int64_t* const last = block.ids + block.begin[bag + 1];
      const bool is_empty = first == last || (leaves_out(on_.plan) &&
                                              std::all_of(first, last, [&](int64_t id) { return id == left_out; }));
      if (is_empty && !is_start)
        write_empty(on_.row_at(block.bag + bag));
      else if (!is_empty && divides(on_.bags) && is_zero_[bag])
        write_zero(on_.row_at(block.bag + bag));
    }
  }

  void write_zero(char* rows) const {
    for_each_row(on_.job,
                 [&](int64_t, int64_t at) { std::memset(moved(rows, at), 0, static_cast<size_t>(on_.plan.row.out)); });
  }

  void write_empty(char* rows) const {
    if (on_.bags.empty != GTH_EMPTY_FILL) return write_zero(rows);
    char element[16];
    int64_t item = on_.plan.item.bytes();
    std::memcpy(element, on_.plan.fill, sizeof element);
    if (on_.bags.widens) {
      float wide;
      on_.kernels.tier->choose_accumulate(on_.plan.number, GTH_REDUCTION_ADD).load(element, 1, &wide);
      std::memcpy(element, &wide, sizeof wide);
      item = sizeof wide;
    }
    for_each_row(on_.job, [&](int64_t, int64_t at) {
      for (int64_t to = 0; to < on_.plan.row.out; to += item) {
        std::memcpy(moved(rows, at + to), element, static_cast<size_t>(item));
      }
    });
  }

  // Pools one bag, a block of ids after the other. Rows of bounds = fill are parts of their own.
  bool pool_in_parts(int64_t bag, int64_t begin, int64_t end) {
    char* const out = on_.row_at(bag);
    const bool has_divisor = divides(on_.bags);
    bool is_empty = false;
    if (!(sums_are_double() ? measure<double>(begin, end, &is_empty) : measure<float>(begin, end, &is_empty)))
      return false;
    const bool is_valid = for_parts([&](int64_t table, int64_t at, int64_t elements, const Pooling& kernel) {
      BagRows rows = rows_of(table, elements);
      rows.left_out = no_row;
      rows.bags = 1;
      rows.out = moved(out, at);
      rows.divisors = has_divisor ? divisors_ : nullptr;
      rows.is_last = false;
      for (int64_t first = begin; first < end; first += block_ids) {
        const int64_t n = std::min(block_ids, end - first);
        if (!copy(first, n) || !pool_runs(kernel, n, &rows)) return false;
      }
      const int64_t none[2] = {0, 0};
      rows.begin = none;
      rows.readable = 0;
      rows.is_last = true;
      return kernel.parts(rows) == nullptr;
    });
    if (is_valid && is_empty && on_.bags.empty != core::start_if_empty)
      write_empty(out);
    else if (is_valid && has_divisor && is_zero_[0])
      write_zero(out);
    return is_valid;
  }

  // Pools the copied ids as runs of rows of the table, and of filled rows.
  bool pool_runs(const Pooling& kernel, int64_t n, BagRows* rows) {
    for (int64_t k = 0, next; k < n; k = next) {
      const bool is_filled = ids_[k] == filled_row;
      for (next = k; next < n && (ids_[next] == filled_row) == is_filled; ++next) {
        if (is_filled) ids_[next] = 0;
      }
      BagRows part = *rows;
      const int64_t range[2] = {0, next - k};
      part.begin = range;
      part.ids = ids_ + k;
      part.readable = next - k;
      part.weights = weights_ + k * sum_bytes_;
      if (is_filled) part.table = filled_, part.rows = 1, part.stride = 0;
      if (kernel.parts(part)) return false;
      rows->is_first = false;
    }
    return true;
  }

  bool sums_are_double() const { return sum_bytes_ == int64_t{sizeof(double)}; }

  // Computes the divisor of a bag of any number of ids, if the pool divides, and tells whether no id is read. Returns
  // false if an id is invalid.
  template <class T>
  bool measure(int64_t begin, int64_t end, bool* is_empty) {
    Weighed<T> all{counts_every_id() ? end - begin : 0, 0};
    for (int64_t first = begin; first < end && !counts_every_id(); first += block_ids) {
      const int64_t n = std::min(block_ids, end - first), range[2] = {0, n};
      if (!copy(first, n)) return false;
      add_weights({0, 1, range, ids_, weights_}, 0, no_row, &all);
    }
    if (divides(on_.bags)) set_divisor(0, all);
    *is_empty = all.count == 0;
    return true;
  }

  const Bags& on_;
  const bool is_direct_;
  const int64_t sum_bytes_;
  alignas(64) char sums_[pooled_sums_bytes];
  alignas(16) char filled_[most_pooled_bytes];
  int64_t ids_[block_ids];
  alignas(16) char weights_[block_ids * sizeof(double)];
  alignas(16) char divisors_[BagReader::most * sizeof(double)];
  bool is_zero_[BagReader::most];
};

int32_t fail_bags_race(const Error& error) {
  return error.fail({GTH_E_RACE, GTH_OPERAND_BAGS}, "bags: changed by another thread during the call");
}

}  // namespace

int32_t validate_bags(const Plan& plan, const Kernels& kernels, const core::Pointers& pointers, int64_t n,
                      const Executor& executor, const Error& error) {
  Cuts cuts;
  return validate_all_of(Bags(plan, pointers, n, kernels), executor, &cuts, error);
}

int32_t run_bags(const Plan& plan, const Kernels& kernels, const core::Pointers& pointers, int64_t n,
                 const Executor& executor, const Error& error) {
  const Bags on(plan, pointers, n, kernels);
  Cuts cuts;
  if (int32_t status = validate_all_of(on, executor, &cuts, error)) return status;
  if (plan.is_empty || on.count == 0) return GTH_OK;
  std::atomic<Stop> stop{Stop::none};
  for_each_piece(executor, {cuts.count, 1, cuts.count}, [&](int64_t i) {
    if (stop.load(std::memory_order_relaxed) != Stop::none) return;
    Pooler pooler(on);
    const Stop stopped = pooler.pool(cuts.at[i], cuts.at[i + 1]);
    if (stopped != Stop::none) stop.store(stopped, std::memory_order_relaxed);
  });
  if (stop == Stop::none) return GTH_OK;
  return stop == Stop::bags ? fail_bags_race(error) : core::fail_index_race(error);
}

}  // namespace gather::cpu
