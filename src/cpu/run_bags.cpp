#include "cpu/run_bags.hpp"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstring>

#include "core/base/checked.hpp"
#include "core/base/limits.hpp"
#include "core/base/noinline.hpp"
#include "core/types/square_root.hpp"
#include "cpu/bag_check.hpp"
#include "cpu/bag_ids.hpp"
#include "cpu/bag_kernels.hpp"
#include "cpu/bag_rows.hpp"
#include "cpu/decoded_rows.hpp"
#include "cpu/file_rows.hpp"
#include "cpu/load.hpp"
#include "cpu/pieces.hpp"

namespace gather::cpu {
namespace {

using core::Error;
using core::Plan;

// ---- Bags

// The bags are divided into parts of about equal numbers of ids. Part i has the bags and ids from at[i] to at[i + 1].
struct Cuts {
  static constexpr int64_t most = bag_parts;
  int64_t count = 1;
  BagPosition at[most + 1];
  int64_t begin[BagReader::most + 1];  // of the bags that were read last
};

int64_t read_bytes(const Bags& on) {
  int64_t slice, bytes;
  const bool fits = core::add(on.plan.inner * on.plan.row.in, row_overhead, &slice) &&
                    core::multiply(std::max(on.ids, on.count), slice, &bytes);
  return fits ? bytes : INT64_MAX;
}

// The ids of a call that are read, for check_bags.
struct ReadIds {
  const Bags& on;

  bool has_ids(int64_t begin, int64_t end) const {
    if (!on.leaves_out()) return end > begin;
    if (on.repeats_id()) end = std::min(end, begin + 1);
    int64_t values[block_ids];
    for (; begin < end; begin += block_ids) {
      const int64_t n = std::min(block_ids, end - begin);
      load_ids(on, begin, n, values);
      if (replace_ids(on.plan, values, n) < n) return true;  // An invalid id is reported later.
      if (std::any_of(values, values + n, [](int64_t row) { return row != no_row; })) return true;
    }
    return false;
  }
  int64_t next(int64_t bag) const { return on.next_bag(bag); }
};

bool must_have_ids(const Bags& on) { return on.bags.empty == GTH_EMPTY_ERROR; }

// Validates all bags, and cuts them for the threads. cuts->at[cuts->count].id is the number of ids of all bags.
int32_t validate_and_cut(const Bags& on, const Executor& executor, Cuts* cuts, const Error& error) {
  const Pieces pieces = cut(executor, std::max<int64_t>(on.count, 1), read_bytes(on));
  const int64_t wanted = std::min(pieces.count, Cuts::most);
  const int64_t each = (on.ids + on.count) / wanted + 1;  // bags count, because empty ones are written too
  int64_t* const begin = cuts->begin;
  const ReadIds reads{on};
  FirstEmpty<ReadIds> empty{must_have_ids(on), reads};
  BagPosition at{0, 0};
  cuts->at[0] = at;
  cuts->count = 0;
  while (at.bag < on.count) {
    int64_t m;
    if (int32_t status = on.reader.read(at, on.count, begin, &m, error)) return status;
    empty.look_in(at.bag, m, begin);
    for (int64_t i = 1; i <= m && wanted > 1; ++i) {
      const BagPosition& last = cuts->at[cuts->count];
      const BagPosition next{at.bag + i, begin[i]};
      if (next.bag - last.bag + next.id - last.id >= each && cuts->count < wanted - 1) cuts->at[++cuts->count] = next;
    }
    at = {at.bag + m, begin[m]};
  }
  cuts->at[++cuts->count] = at;
  const int32_t status = on.reader.check_end(at, error);
  return status ? status : empty.check(error);
}

// Validates bags and ids, and cuts the bags for the threads.
GATHER_NOINLINE int32_t validate_all_of(const Bags& on, const Executor& executor, Cuts* cuts, const Error& error) {
  const int32_t status = validate_and_cut(on, executor, cuts, error);
  return status ? status : validate_ids(on, cuts->at[cuts->count].id, executor, error);
}

// Validates bags and ids.
int32_t validate_only(const Bags& on, const Executor& executor, const Error& error) {
  int64_t ids;
  const int32_t status = check_bags(on.reader, must_have_ids(on), ReadIds{on}, &ids, error);
  return status ? status : validate_ids(on, ids, executor, error);
}

// ---- Pooling

bool is_array(const core::Line& line, const char* first, int64_t item) {
  return line.is_line && line.stride == item &&
         (reinterpret_cast<uintptr_t>(first) & static_cast<uint64_t>(item - 1)) == 0;
}

// The ids of some bags, and their weights. Bag i has the ids [begin[i], begin[i + 1]).
struct Ids {
  const int64_t* ids;
  const char* weights;
  const int64_t* begin;
  int64_t readable;
};

enum class Stop : uint8_t { none, id, bags };

// Pools bags with one thread.
class Pooler {
 public:
  explicit Pooler(const Bags& on)
      : on_(on),
        packed_(core::packed_rows_of(on.plan, on.pointers)),
        is_packed_(on.plan.packed.is_packed()),
        pooled_(pooled_of(on.plan)),
        sum_bytes_(sum_bytes(on.plan)),
        elements_(row_elements(on.plan)),
        most_(most_elements(on.plan)),
        kernels_resolve_(!on.plan.wraps && on.plan.bounds == GTH_BOUNDS_ERROR),
        reads_weights_(!on.leaves_out() && weight_bytes() == sum_bytes_ &&
                       is_array(on.bags.weights_at, on.weights, sum_bytes_)),
        array_(kernels_resolve_ ? on.array() : nullptr),
        reads_(array_ && !on.leaves_out() && (reads_weights_ || !on.bags.has_weights) && !on.files),
        fills_(on.plan.bounds == GTH_BOUNDS_FILL) {
    const bool widens = is_packed_ && on_.plan.item.bytes() == 2;  // Packed rows are pooled in float32.
    float wide = 0;
    if (fills_ && widens) float_of(reinterpret_cast<const char*>(on_.plan.fill), &wide);
    const void* const element = widens ? static_cast<const void*>(&wide) : on_.plan.fill;
    const int64_t item = widens ? int64_t{sizeof wide} : on_.plan.item.bytes();
    for (int64_t at = 0; fills_ && at + item <= most_pooled_bytes; at += item) {
      std::memcpy(filled_ + at, element, static_cast<size_t>(item));
    }
  }

  // Pools the bags from `first` to `last`.
  Stop pool(BagPosition first, const BagPosition& last) {
    int64_t begin[BagReader::most + 1];
    const Error silent(nullptr);
    while (first.bag < last.bag) {
      int64_t m;
      if (on_.reader.read(first, last.bag, begin, &m, silent) || begin[m] > last.id) return Stop::bags;
      if (!pool_bags(first.bag, m, begin)) return Stop::id;
      first = {first.bag + m, begin[m]};
    }
    return first.id == last.id ? Stop::none : Stop::bags;
  }

  // Pools some bags: as many at once as their ids fit a block. Returns false if an id is invalid.
  bool pool_bags(int64_t bag, int64_t bags, const int64_t* begin) {
    for (int64_t i = 0, next; i < bags; i = next) {
      for (next = reads_ ? bags : i; next < bags && begin[next + 1] - begin[i] <= block_ids;) ++next;
      const bool is_long = next == i;
      if (is_long) ++next;
      if (!(is_long ? pool_long(bag + i, begin[i], begin[next]) : pool_block(bag + i, next - i, begin + i)))
        return false;
    }
    return true;
  }

 private:
  // ---- Ids and weights

  int64_t weight_bytes() const { return on_.bags.has_float32_weights ? int64_t{sizeof(float)} : on_.plan.item.bytes(); }

  // Reads the ids of bags and their weights. The kernels read the memory of the caller if they can. Otherwise ids are
  // copied, but not those that are left out. Returns false if an id is invalid.
  bool read(int64_t bags, const int64_t* begin, Ids* out) {
    *out = {array_, on_.weights, begin, on_.ids};
    if (reads_) return true;
    const int64_t first = begin[0], n = begin[bags] - first, ahead = std::min(pooled_ahead, on_.ids - begin[bags]);
    const bool copies = !array_ || !on_.leaves_out();
    if (copies) load_ids(on_, first, n + ahead, ids_);
    if (!kernels_resolve_ && replace_ids(on_.plan, ids_, n) < n) return false;
    if (on_.leaves_out()) {
      leave_out(copies ? ids_ : array_ + first, bags, begin, ahead);
    } else {
      for (int64_t i = 0; i <= bags; ++i) begin_[i] = begin[i] - first;
    }
    if (on_.bags.has_weights) out->weights = reads_weights_ ? on_.weight_at(first) : copy_weights(first, begin_[bags]);
    out->ids = ids_, out->begin = begin_, out->readable = begin_[bags] + ahead;
    return true;
  }

  // Copies the ids that are read. The `ahead` ids behind the bags are kept for prefetches.
  void leave_out(const int64_t* ids, int64_t bags, const int64_t* begin, int64_t ahead) {
    const int64_t absent = kernels_resolve_ ? on_.plan.padding : no_row;
    int64_t kept = 0, k = 0;
    for (int64_t i = 0; i < bags; ++i) {
      begin_[i] = kept;
      for (const int64_t end = begin[i + 1] - begin[0]; k < end; ++k) {
        const int64_t id = load_index<int64_t>(reinterpret_cast<const char*>(ids + k));
        ids_[kept] = id, kept_[kept] = static_cast<int16_t>(k);
        kept += id != absent;
      }
    }
    begin_[bags] = kept;
    std::copy_n(ids + k, ahead, ids_ + kept);
  }

  // Copies the weights of the n ids that are kept, in the type of the sums.
  const char* copy_weights(int64_t first, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const char* const from = on_.weight_at(first + (on_.leaves_out() ? kept_[i] : i));
      char* const to = weights_ + i * sum_bytes_;
      if (weight_bytes() == sum_bytes_) {
        std::memcpy(to, from, static_cast<size_t>(sum_bytes_));
      } else if (on_.bags.has_float32_weights) {
        float narrow;
        std::memcpy(&narrow, from, sizeof narrow);
        const double wide = narrow;
        std::memcpy(to, &wide, sizeof wide);
      } else {
        float_of(from, reinterpret_cast<float*>(to));
      }
    }
    return weights_;
  }

  // Converts a number of 2 bytes.
  void float_of(const char* half, float* value) const {
    on_.kernels.tier->choose_accumulate(on_.plan.reducing.number, GTH_REDUCTION_ADD).load(half, 1, value);
  }

  // ---- Divisors, and bags without ids

  bool divides() const { return core::is_dividing_pool(on_.bags.pool); }
  bool weighs() const { return on_.bags.has_weights && divides(); }

  // Returns true if no row is replaced: the sum of no rows is zero.
  bool keeps_rows() const { return on_.bags.pool == GTH_POOL_SUM && on_.bags.empty != GTH_EMPTY_FILL; }

  // The number of ids of a bag that are read, and the sum of their weights or of the squares.
  template <class T>
  struct Total {
    int64_t count;
    T weights;
  };

  template <class T>
  void add_total(const Ids& from, int64_t bag, Total<T>* total) const {
    total->count += from.begin[bag + 1] - from.begin[bag];
    const auto weights = reinterpret_cast<const T*>(from.weights);
    const bool squares = on_.bags.pool == GTH_POOL_SQRTN;
    for (int64_t k = from.begin[bag]; k < from.begin[bag + 1] && weighs(); ++k) {
      total->weights += squares ? weights[k] * weights[k] : weights[k];
    }
  }

  // Sets the divisor of a bag. Ids without weights count 1.
  template <class T>
  void set_total(int64_t i, const Total<T>& total) {
    T sum = on_.bags.has_weights ? total.weights : static_cast<T>(total.count);
    if (on_.bags.pool == GTH_POOL_SQRTN) sum = core::square_root(sum);
    is_zero_[i] = sum == 0;
    const T divisor = is_zero_[i] ? T{1} : sum;
    std::memcpy(divisors_ + i * int64_t{sizeof divisor}, &divisor, sizeof divisor);
  }

  // Calls body with a number of the type of divisors.
  template <class Body>
  bool with_divisors(Body&& body) {
    return sum_bytes_ == int64_t{sizeof(double)} ? body(double{}) : body(float{});
  }

  // Overwrites the row of bag i of a block if it has no ids, or if its weights have the sum 0.
  void replace_row(int64_t bag, int64_t i, bool is_empty) const {
    const bool keeps = is_empty ? on_.bags.empty == core::start_if_empty : !divides() || !is_zero_[i];
    if (keeps) return;
    char element[16]{};
    int64_t item = on_.plan.item.bytes();
    if (is_empty && on_.bags.empty == GTH_EMPTY_FILL) std::memcpy(element, on_.plan.fill, sizeof element);
    if (on_.bags.widens) {
      float wide;
      float_of(element, &wide);
      std::memcpy(element, &wide, sizeof wide);
      item = sizeof wide;
    }
    on_.for_rows([&](int64_t, int64_t at) {
      for (int64_t to = 0; to < on_.plan.row.out; to += item) {
        std::memcpy(moved(on_.row_at(bag), at + to), element, static_cast<size_t>(item));
      }
    });
  }

  // ---- Rows

  // Calls body(rows, offset) for each contiguous part of a row. `offset` is that of its output.
  template <class Body>
  bool for_parts(Body&& body) {
    const int64_t item = pooled_.item, out_item = on_.bags.widens ? int64_t{sizeof(float)} : item;
    bool is_valid = true;
    on_.for_rows([&](int64_t table, int64_t out) {
      for (int64_t first = 0; first < elements_ && is_valid; first += most_) {
        BagRows rows{};
        rows.table =
            is_packed_ ? moved(static_cast<const void*>(nullptr), table) : moved(on_.table, table + first * item);
        rows.packed = &packed_;
        rows.first = first;
        rows.rows = on_.plan.component[0].size;
        rows.stride = on_.plan.component[0].stride;
        rows.elements = std::min(most_, elements_ - first);
        rows.out_stride = on_.bags.rows_at.stride;
        rows.divisors = divides() ? divisors_ : nullptr;
        rows.widens = on_.bags.widens;
        rows.sums = sums_;
        is_valid = body(rows, out + first * out_item);
      }
    });
    return is_valid;
  }

  bool pool_rows_of(const Ids& from, bool has_filled, BagRows* rows) const {
    rows->ids = from.ids, rows->readable = from.readable, rows->weights = from.weights;
    return on_.files ? pool_from_files(*rows, has_filled) : pool_memory(*rows, has_filled);
  }

  bool pool_memory(const BagRows& rows, bool has_filled) const {
    const PoolBags kernel = rows.elements < most_ ? on_.kernels.last_pooling : on_.kernels.pooling;
    if (is_packed_) {
      const Decoding how{pooled_, *on_.kernels.tier, on_.kernels.decode, kernel};
      return !pool_decoded_rows(how, rows, has_filled ? reinterpret_cast<const float*>(filled_) : nullptr);
    }
    if (kernel && !has_filled) return !kernel(rows);
    return !pool_rows(pooled_, *on_.kernels.tier, rows, has_filled ? filled_ : nullptr);
  }

  GATHER_NOINLINE bool pool_from_files(const BagRows& rows, bool has_filled) const {
    int64_t ids[block_ids];
    StagedRows memory;
    BagRows staged;
    return on_.files->stage(rows, pooled_.item, ids, &memory, &staged) && pool_memory(staged, has_filled);
  }

  // Pools bags whose ids fit a block.
  GATHER_NOINLINE bool pool_block(int64_t bag, int64_t bags, const int64_t* begin) {
    Ids from;
    if (!read(bags, begin, &from)) return false;
    const bool has_filled = fills_ && std::count(ids_, ids_ + from.begin[bags], row_of_fill) > 0;
    if (divides()) {
      with_divisors([&](auto zero) {
        for (int64_t i = 0; i < bags; ++i) {
          Total<decltype(zero)> total{};
          add_total(from, i, &total);
          set_total(i, total);
        }
        return true;
      });
    }
    const bool is_valid = for_parts([&](BagRows& rows, int64_t out) {
      rows.is_first = rows.is_last = true;
      rows.bags = on_.bags.rows_at.is_line ? bags : 1;
      for (int64_t i = 0; i < bags; i += rows.bags) {
        rows.begin = from.begin + i;
        rows.out = moved(on_.row_at(bag + i), out);
        if (rows.divisors) rows.divisors = divisors_ + i * sum_bytes_;
        if (!pool_rows_of(from, has_filled, &rows)) return false;
      }
      return true;
    });
    for (int64_t i = 0; i < bags && is_valid && !keeps_rows(); ++i) {
      const bool is_empty = from.begin[i] == from.begin[i + 1];
      if (is_empty || divides()) replace_row(bag + i, i, is_empty);
    }
    return is_valid;
  }

  // Calls body(ids) for the blocks of ids of one bag.
  template <class Body>
  bool for_blocks(int64_t begin, int64_t end, Body&& body) {
    for (; begin < end; begin += block_ids) {
      const int64_t range[2] = {begin, std::min(end, begin + block_ids)};
      Ids from;
      if (!read(1, range, &from) || !body(from)) return false;
    }
    return true;
  }

  // Pools one bag, a block of ids after the other.
  GATHER_NOINLINE bool pool_long(int64_t bag, int64_t begin, int64_t end) {
    bool is_empty = false;
    const bool is_valid = with_divisors([&](auto zero) {
      Total<decltype(zero)> total{};
      const bool are_valid = for_blocks(begin, end, [&](const Ids& from) {
        add_total(from, 0, &total);
        return true;
      });
      is_empty = total.count == 0;
      set_total(0, total);
      return are_valid;
    });
    if (!is_valid) return false;
    const bool was_pooled = for_parts([&](BagRows& rows, int64_t out) {
      rows.out = moved(on_.row_at(bag), out);
      rows.bags = 1;
      rows.is_first = true;
      const bool are_valid = for_blocks(begin, end, [&](const Ids& from) {
        rows.begin = from.begin;
        const bool is_added = pool_rows_of(from, fills_, &rows);
        rows.is_first = false;
        return is_added;
      });
      if (!are_valid) return false;
      static constexpr int64_t none[2] = {0, 0};
      rows.begin = none;
      rows.is_last = true;
      return pool_rows_of({ids_, weights_, none, 0}, fills_, &rows);
    });
    if (was_pooled) replace_row(bag, 0, is_empty);
    return was_pooled;
  }

  const Bags& on_;
  const core::PackedRows packed_;
  const bool is_packed_;
  const Pooled pooled_;
  const int64_t sum_bytes_;
  const int64_t elements_, most_;  // of a row, and at once
  const bool kernels_resolve_;     // Kernels can validate the ids, which need only a conversion of their type.
  const bool reads_weights_;       // The kernels read the weights of the caller.
  const int64_t* const array_;     // the ids of the caller if kernels can read them, or NULL
  const bool reads_;               // The kernels read the ids and weights of the caller.
  const bool fills_;
  alignas(64) char sums_[pooled_sums_bytes];
  alignas(16) char filled_[most_pooled_bytes];
  int64_t ids_[block_ids + pooled_ahead], begin_[BagReader::most + 1];
  int16_t kept_[block_ids];  // the positions of the ids that are read
  alignas(16) char weights_[block_ids * sizeof(double)];
  alignas(16) char divisors_[BagReader::most * sizeof(double)];
  bool is_zero_[BagReader::most];
};

// A pooler has 19 KiB. If these were inlined, the caller would have room for both of them.
GATHER_NOINLINE bool pool_validated(const Bags& on, const int64_t* begin) {
  return Pooler(on).pool_bags(0, on.count, begin);
}

GATHER_NOINLINE Stop pool_read(const Bags& on, BagPosition first, const BagPosition& end) {
  return Pooler(on).pool(first, end);
}

int32_t fail_race(Stop stop, const Error& error) {
  if (stop == Stop::none) return GTH_OK;
  if (stop == Stop::id) return core::fail_index_race(error);
  return error.fail({GTH_E_RACE, GTH_OPERAND_BAGS}, "bags: changed by another thread during the call");
}

}  // namespace

int32_t validate_bags(const Plan& plan, const Kernels& kernels, const core::Pointers& pointers, int64_t n,
                      const Executor& executor, const Error& error) {
  return validate_only(Bags(plan, pointers, n, kernels), executor, error);
}

namespace {

// Pools all bags, which have been validated.
int32_t pool_all(const Bags& on, const Cuts& cuts, const Executor& executor, const Error& error) {
  if (cuts.count == 1 && on.count <= BagReader::most) {  // The validated bags need not be read again.
    return fail_race(pool_validated(on, cuts.begin) ? Stop::none : Stop::id, error);
  }
  std::atomic<Stop> stop{Stop::none};
  for_each_piece(executor, {cuts.count, 1, cuts.count}, [&](int64_t i) {
    if (stop.load(std::memory_order_relaxed) != Stop::none) return;
    const Stop stopped = pool_read(on, cuts.at[i], cuts.at[i + 1]);
    if (stopped != Stop::none) stop.store(stopped, std::memory_order_relaxed);
  });
  return fail_race(stop, error);
}

// Brings the pages of the rows of `ids` ids.
GATHER_NOINLINE void bring_rows(const Bags& on, int64_t ids) {
  int64_t values[block_ids];
  for (int64_t first = 0; first < ids && !on.files->has_failed(); first += block_ids) {
    const int64_t n = std::min(block_ids, ids - first);
    load_ids(on, first, n, values);
    on.files->bring(values, replace_ids(on.plan, values, n));
  }
}

GATHER_NOINLINE int32_t pool_files(const Bags& on, const Cuts& cuts, const Executor& executor, const Error& error) {
  const FileRows& files = *on.files;
  if (files.are_brought()) bring_rows(on, cuts.at[cuts.count].id);
  if (files.has_failed()) return files.fail(on, error);
  if (files.are_dense()) {
    return pool_all(Bags(on.plan, files.dense_pointers(), on.n, on.kernels), cuts, executor, error);
  }
  const int32_t status = pool_all(on, cuts, executor, error);
  return files.has_failed() ? files.fail(on, error) : status;
}

}  // namespace

int32_t run_bags(const Plan& plan, const Kernels& kernels, const core::Pointers& pointers, int64_t n,
                 const Executor& executor, FileRows* files, const Error& error) {
  const Bags on(plan, pointers, n, kernels, files);
  if (plan.is_empty || on.count == 0) return validate_only(on, executor, error);
  Cuts cuts;
  if (int32_t status = validate_all_of(on, executor, &cuts, error)) return status;
  return files ? pool_files(on, cuts, executor, error) : pool_all(on, cuts, executor, error);
}

}  // namespace gather::cpu
