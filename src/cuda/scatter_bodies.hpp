#pragma once

#include "cuda/bodies.hpp"
#include "cuda/columns.hpp"
#include "cuda/scatter_job.hpp"
#include "cuda/strided.hpp"

// Complete kernels of scatters. cuda/bodies.hpp describes what a Block has. In addition it has
// stage()                          stage_bytes bytes of memory that the threads share
// in_turn(f)                       calls f(thread) on each thread, and ends with a barrier
namespace gather::cuda {

// ---- Keys

GATHER_SHARED void write_key(const KeyJob& keys, uint32_t number, uint64_t slice, uint64_t update) {
  if (keys.wide) {
    keys.wide[number] = {slice, update};
    update = number;
  }
  keys.keys.slices[number] = static_cast<uint32_t>(slice);
  keys.keys.updates[number] = static_cast<uint32_t>(update);
}

// Some updates of a scatter: their numbers, their places, and whether they select one in the target.
struct UpdateRound {
  uint32_t numbers[updates_at_once];
  Unit units[updates_at_once];
  bool selects[updates_at_once];
};

// Finds the updates number, number + step, .. Numbers behind the last update are replaced by the first. Returns true
// if an index is invalid that was valid before. Precondition: job.validation is none, so resolve_units reports nothing.
template <class Index, class Job>
GATHER_SHARED bool find_updates(const Job& job, bool is_validated, uint32_t number, uint32_t step, UpdateRound* round) {
  constexpr int count = updates_at_once;
  Placed rows[count];
  bool raced = false, ignored = false;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    const uint32_t each = number + static_cast<uint32_t>(i) * step;
    round->numbers[i] = each < static_cast<uint32_t>(job.units) ? each : number;
  }
  place_all<count>(job, round->numbers, rows);
  resolve_units<Index, count>(job, rows, nullptr, false, round->units, &ignored);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    const bool is_padding = job.has_padding && pads<Index>(job, rows[i].tuple);
    const bool is_valid = round->units[i].source == Source::params;
    raced |= is_validated && !is_valid && !is_padding;
    round->selects[i] = is_valid && !is_padding;
  }
  return raced;
}

// Writes the keys of the updates number, number + step, .. Returns true if an index is invalid that was valid before.
template <class Index, class Job>
GATHER_SHARED bool write_keys(const Job& job, const KeyJob& keys, uint32_t number, uint32_t step) {
  bool raced = false;
  for (; number < static_cast<uint32_t>(job.units); number += step * updates_at_once) {
    UpdateRound round;
    raced |= find_updates<Index>(job, keys.is_validated, number, step, &round);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < updates_at_once; ++i) {
      const Unit& unit = round.units[i];
      const int64_t slice = unit.from - job.params - keys.first_slice;
      write_key(keys, round.numbers[i], round.selects[i] ? static_cast<uint64_t>(slice) : keys.slices,
                static_cast<uint64_t>(unit.to - job.out - keys.first_update));
    }
  }
  return raced;
}

// Reports once that an index has become invalid, unless the call is refused.
template <class Job, class Block>
GATHER_KERNEL void report_race(Block& block, const Job& job) {
  block.once([&] {
    if (load(&job.state->is_refused) == 0 && add(&job.state->raced, 1) == 0)
      note_failure(job.record, race_failure(job.sequence));
  });
}

// Writes the key of every update. It writes them for refused calls too, because the sort needs some.
template <class Index, class Job, class Block>
GATHER_KERNEL void key_body(Block& block, const Job& job, const KeyJob& keys) {
  const uint32_t threads = block.threads();
  if (block.index() == 0) block.once([&] { *keys.long_count = 0; });
  const bool raced = block.any([&](uint32_t thread) {
    return write_keys<Index>(job, keys, block.index() * threads + thread, block.count() * threads);
  });
  if (raced) report_race(block, job);
}

// Validates the indices of few updates, and writes their keys in the order of the slices. Updates of one slice keep their
// order. One block does so: the place of a key is the number of keys before it.
template <class Index, class Job, class Block>
GATHER_KERNEL void few_keys_body(Block& block, const Job& job, const KeyJob& keys, const Keys& sorted) {
  const uint32_t threads = block.threads(), units = static_cast<uint32_t>(job.units);
  const bool bad =
      keys.is_validated && block.finds([&](uint32_t thread) { return find_bad<true, Index>(job, thread, threads); });
  block.once([&] {
    *keys.long_count = 0;
    if (!keys.is_validated) return;
    job.state->is_refused = bad;
    if (bad) note_failure(job.record, index_failure(job, block.found()));
  });
  static_assert(2 * sizeof(uint32_t) * most_few <= stage_bytes, "the keys are in shared memory");
  KeyJob unsorted = keys;
  unsorted.keys.slices = reinterpret_cast<uint32_t*>(block.stage());
  unsorted.keys.updates = unsorted.keys.slices + most_few;
  const bool raced = block.any([&](uint32_t thread) { return write_keys<Index>(job, unsorted, thread, threads); });
  if (raced && !bad) block.once([&] { note_failure(job.record, race_failure(job.sequence)); });
  block.in_turn([&](uint32_t thread) {
    for (uint32_t i = thread; i < units; i += threads) {
      const uint32_t slice = unsorted.keys.slices[i];
      uint32_t place = 0;
      for (uint32_t k = 0; k < units; ++k) {
        const uint32_t other = unsorted.keys.slices[k];
        place += other < slice || (other == slice && k < i) ? 1 : 0;
      }
      sorted.slices[place] = slice;
      sorted.updates[place] = unsorted.keys.updates[i];
    }
  });
}

// Replaces the lower half of the slices by the upper half, after they have been sorted by the lower one.
template <class Block>
GATHER_KERNEL void lift_body(Block& block, const Keys& keys, const WideUpdate* wide, uint32_t count) {
  const uint32_t threads = block.threads();
  block.each([&](uint32_t thread) {
    for (uint32_t i = block.index() * threads + thread; i < count; i += block.count() * threads)
      keys.slices[i] = static_cast<uint32_t>(wide[keys.updates[i]].slice >> 32);
  });
}

// ---- Combination of sorted updates

GATHER_SHARED WideUpdate update_at(const CombineJob& job, uint32_t i) {
  const uint32_t update = load_params<4>(reinterpret_cast<const char*>(job.keys.updates + i));
  if (job.wide) {
    const Bytes16 both = load_params<16>(reinterpret_cast<const char*>(job.wide + update));
    return {both.lo, both.hi};
  }
  return {load_params<4>(reinterpret_cast<const char*>(job.keys.slices + i)), update};
}

GATHER_SHARED uint64_t slice_at(const CombineJob& job, uint32_t i) { return update_at(job, i).slice; }

// Returns the address of a column of an update.
GATHER_SHARED const char* source_of(const CombineJob& job, const WideUpdate& update, int64_t column) {
  return job.updates + static_cast<int64_t>(update.update) * job.update_bytes + column;
}

// Some updates of a slice, and which of them belong to it.
template <int bytes>
struct Loaded {
  Vector<bytes> loaded[updates_at_once];
  bool own[updates_at_once];
};

// Combines an update with a row. Sums and products of numbers of 2 bytes may be rounded.
template <class Operation, class Type, int bytes>
GATHER_SHARED void combine_row(const CombineJob& job, const Row<Type, bytes>& other, Row<Type, bytes>* row) {
  row->template combine<Operation>(other);
  constexpr bool may_round = std::is_same_v<Operation, Add> || std::is_same_v<Operation, Mul>;
  if (may_round && may_widen<Type> && job.rounds_each) round_sums(row);
}

template <class Operation, class Type, int bytes>
GATHER_SHARED void combine_round(const CombineJob& job, const Loaded<bytes>& round, Row<Type, bytes>* row) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < updates_at_once; ++i) {
    if (!round.own[i]) continue;
    Row<Type, bytes> other;
    other.load(round.loaded[i]);
    combine_row<Operation>(job, other, row);
  }
}

// The numbers whose updates may have factors.
template <class Type>
constexpr bool may_scale = std::is_arithmetic_v<typename Type::Value> && !std::is_same_v<Type, Booleans> &&
                           !std::is_same_v<Type, FloatsInDouble>;

// Kernels of their own have the factors of vectors of 2-byte numbers, because the others would need more registers.
template <class Type, int bytes>
constexpr bool scales_apart = may_scale<Type> && bytes == 16 && sizeof(typename Type::Stored) == 2;

// Adds an update times its factor.
template <class Type, int bytes>
GATHER_SHARED void add_scaled(const CombineJob& job, uint32_t update, const Row<Type, bytes>& other,
                              Row<Type, bytes>* row) {
  using Value = typename Type::Value;
  constexpr int64_t size = sizeof(Value);
  const char* const at = static_cast<const char*>(job.scales) + int64_t{update} * size;
  add_weighted(other, same_bits<Value>(load_params<static_cast<int>(size)>(at)), row);
  if (may_widen<Type> && job.rounds_each) round_sums(row);
}

template <class Type, int bytes>
GATHER_SHARED void add_scaled_round(const CombineJob& job, uint32_t next, const Loaded<bytes>& round,
                                    Row<Type, bytes>* row) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < updates_at_once; ++i) {
    if (!round.own[i]) continue;
    Row<Type, bytes> other;
    other.load(round.loaded[i]);
    add_scaled(job, next + static_cast<uint32_t>(i), other, row);
  }
}

template <class Type, int bytes>
GATHER_SHARED Vector<bytes> load_update(const CombineJob& job, const char* at) {
  return invert_signs<Type, bytes>(load_column<bytes>(at, job.is_aligned), job.sign_bits);
}

// Loads the updates from `next` on that belong to a slice. Their loads overlap. Returns their number.
template <class Type, int bytes>
GATHER_SHARED uint32_t load_round(const CombineJob& job, uint32_t next, uint64_t slice, int64_t column,
                                  Loaded<bytes>* round) {
  uint32_t updates = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < updates_at_once; ++i) {
    const uint32_t at = next + static_cast<uint32_t>(i);
    const WideUpdate update = update_at(job, at < job.count ? at : next);
    round->own[i] = at < job.count && update.slice == slice;
    const char* const from = source_of(job, update, column);
    if (round->own[i]) round->loaded[i] = load_update<Type, bytes>(job, from);
    updates += round->own[i] ? 1 : 0;
  }
  return updates;
}

// Combines the updates of a slice from the update `first` on with a column. Returns their number.
template <class Type, int bytes, bool scaled>
GATHER_SHARED uint32_t combine_updates(const CombineJob& job, uint32_t first, uint64_t slice, int64_t column,
                                       Row<Type, bytes>* row) {
  Loaded<bytes> round;
  uint32_t updates = 0, loaded = updates_at_once;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  while (loaded == updates_at_once && first + updates < job.count) {
    loaded = load_round<Type>(job, first + updates, slice, column, &round);
    updates += loaded;
    if constexpr (scaled) {
      add_scaled_round(job, first + updates - loaded, round, row);
      continue;
    }
    if constexpr (may_scale<Type> && !scales_apart<Type, bytes>) {
      if (job.scales) {
        add_scaled_round(job, first + updates - loaded, round, row);
        continue;
      }
    }
    switch (job.reduction) {
      case GTH_REDUCTION_MUL: combine_round<Mul>(job, round, row); break;
      case GTH_REDUCTION_MAX: combine_round<Max>(job, round, row); break;
      case GTH_REDUCTION_MIN: combine_round<Min>(job, round, row); break;
      default: combine_round<Add>(job, round, row);
    }
  }
  return updates;
}

GATHER_SHARED char* target_of(const CombineJob& job, uint64_t slice, const Column& column) {
  return job.target + static_cast<int64_t>(slice) * job.slice_bytes + column.target;
}

// What a reduction begins with.
template <class Type, int bytes>
GATHER_SHARED Row<Type, bytes> first_row(const CombineJob& job, const char* target) {
  Row<Type, bytes> row;
  Vector<bytes> bits;
  if (job.starts_with_update)
    std::memcpy(&bits, job.identity, bytes);
  else
    bits = load_target<bytes>(target, job.is_aligned);
  row.load(invert_signs<Type, bytes>(bits, job.sign_bits));
  return row;
}

template <class Type, int bytes>
GATHER_SHARED void finish_row(const CombineJob& job, char* target, uint32_t updates, Row<Type, bytes> row) {
  if (job.is_mean) row.divide(int64_t{updates} + (job.starts_with_update ? 0 : 1), job.is_signed);
  store_column<bytes>(target, job.is_aligned, invert_signs<Type, bytes>(row.bits(), job.sign_bits));
}

// Computes a column of a slice whose first update is `first`.
template <class Type, int bytes, bool scaled>
GATHER_SHARED void combine_column(const CombineJob& job, uint32_t first, uint64_t slice, int64_t number) {
  const Column column = column_of(job, number, bytes);
  char* const to = target_of(job, slice, column);
  Row<Type, bytes> row = first_row<Type, bytes>(job, to);
  const uint32_t updates = combine_updates<Type, bytes, scaled>(job, first, slice, column.updates, &row);
  finish_row(job, to, updates, row);
}

GATHER_SHARED bool is_long(const CombineJob& job, uint32_t first, uint64_t slice) {
  return first + (least_long - 1) < job.count && slice_at(job, first + (least_long - 1)) == slice;
}

template <class Type, int bytes, bool scaled, class Block>
GATHER_KERNEL void combine_body(Block& block, const CombineJob& job) {
  block.each([&](uint32_t thread) {
    if (is_refused(job)) return;
    for_columns(block, job, thread, [&](uint32_t update, int64_t column) {
      const uint64_t slice = slice_at(job, update);
      if (slice == job.slices || (update > 0 && slice_at(job, update - 1) == slice)) return;
      if (!is_long(job, update, slice)) return combine_column<Type, bytes, scaled>(job, update, slice, column);
      if (column == 0) job.long_slices.firsts[add(job.long_slices.count, 1)] = update;
    });
  });
}

// ---- Long slices

// Returns the update behind the last one of a slice.
GATHER_SHARED uint32_t end_of_slice(const CombineJob& job, uint32_t first, uint64_t slice) {
  uint32_t end = job.count;
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    if (slice_at(job, middle) == slice)
      first = middle + 1;
    else
      end = middle;
  }
  return end;
}

// A strip of the columns of a long slice, one for each thread of a group. Shared memory has two tiles of updates, and
// the row of each thread that combines them.
template <class Type, int bytes>
struct Strip {
  using Vector = cuda::Vector<bytes>;
  const CombineJob& job;
  char* stage;
  uint64_t slice;
  uint32_t end;  // of the updates
  int64_t first_column;

  GATHER_SHARED uint32_t tile() const { return tile_bytes / (job.lanes * bytes); }
  GATHER_SHARED Vector* tile_at(uint32_t turn) const { return reinterpret_cast<Vector*>(stage + turn * tile_bytes); }
  GATHER_SHARED Row<Type, bytes>* row(uint32_t lane) const {
    return reinterpret_cast<Row<Type, bytes>*>(stage + 2 * tile_bytes) + lane;
  }
  GATHER_SHARED bool has(uint32_t lane) const { return lane < job.lanes && first_column + lane < job.columns; }
  GATHER_SHARED Column column(uint32_t lane) const { return column_of(job, first_column + lane, bytes); }

  // Loads a tile. Precondition: the number of loading threads is a multiple of that of lanes.
  GATHER_SHARED void load(uint32_t begin, uint32_t turn, uint32_t thread, uint32_t threads) const {
    const uint32_t lane = thread % job.lanes;
    if (!has(lane)) return;
    const int64_t at = column(lane).updates;
    const uint32_t left = end - begin, count = left < tile() ? left : tile();
    Vector* const to = tile_at(turn);
#ifdef __CUDA_ARCH__
#pragma unroll 4
#endif
    for (uint32_t i = thread / job.lanes; i < count; i += threads / job.lanes) {
      const char* const from = source_of(job, update_at(job, begin + i), at);
      to[i * job.lanes + lane] = load_update<Type, bytes>(job, from);
    }
  }

  template <class Operation>
  GATHER_SHARED void combine(const Vector* from, uint32_t count, Row<Type, bytes>* sum) const {
    // Products are rare. A row of halves has enough independent sums.
    [[maybe_unused]] constexpr int at_once = std::is_same_v<Operation, Mul> ? 1 : Row<Type, bytes>::count == 8 ? 2 : 4;
#ifdef __CUDA_ARCH__
#pragma unroll at_once
#endif
    for (uint32_t i = 0; i < count; ++i) {
      Row<Type, bytes> other;
      other.load(from[i * job.lanes]);
      combine_row<Operation>(job, other, sum);
    }
  }

  GATHER_SHARED void add_scaled_tile(const Vector* from, uint32_t begin, uint32_t count, Row<Type, bytes>* sum) const {
#ifdef __CUDA_ARCH__
#pragma unroll 2
#endif
    for (uint32_t i = 0; i < count; ++i) {
      Row<Type, bytes> other;
      other.load(from[i * job.lanes]);
      add_scaled(job, begin + i, other, sum);
    }
  }

  // Combines a tile in the order of its updates.
  GATHER_SHARED void combine(uint32_t begin, uint32_t turn, uint32_t lane) const {
    if (!has(lane)) return;
    const uint32_t left = end - begin, count = left < tile() ? left : tile();
    const Vector* const from = tile_at(turn) + lane;
    Row<Type, bytes> sum = *row(lane);
    if constexpr (may_scale<Type>) {
      if (job.scales) {
        add_scaled_tile(from, begin, count, &sum);
        *row(lane) = sum;
        return;
      }
    }
    switch (job.reduction) {
      case GTH_REDUCTION_MUL: combine<Mul>(from, count, &sum); break;
      case GTH_REDUCTION_MAX: combine<Max>(from, count, &sum); break;
      case GTH_REDUCTION_MIN: combine<Min>(from, count, &sum); break;
      default: combine<Add>(from, count, &sum);
    }
    *row(lane) = sum;
  }
};

// The first warp combines a tile while the others load the next one. It has no tile yet while they load the first one.
template <class Type, int bytes, class Block>
GATHER_KERNEL void combine_strip(Block& block, const Strip<Type, bytes>& strip, uint32_t first) {
  const CombineJob& job = strip.job;
  const auto target = [&](uint32_t lane) { return target_of(job, strip.slice, strip.column(lane)); };
  uint32_t turn = 0;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (uint32_t begin = first, next = first; begin < strip.end; turn ^= 1) {
    block.in_turn([&](uint32_t thread) {
      if (thread >= warp_threads)
        strip.load(next, turn ^ 1, thread - warp_threads, block.threads() - warp_threads);
      else if (next > first)
        strip.combine(begin, turn, thread);
      else if (strip.has(thread))
        *strip.row(thread) = first_row<Type, bytes>(job, target(thread));
    });
    begin = next;
    next = strip.end - next > strip.tile() ? next + strip.tile() : strip.end;
  }
  block.in_turn([&](uint32_t thread) {
    if (strip.has(thread)) finish_row(job, target(thread), strip.end - first, *strip.row(thread));
  });
}

template <class Type, int bytes, class Block>
GATHER_KERNEL void combine_long_body(Block& block, const CombineJob& job) {
  if (is_refused(job)) return;
  const int64_t items = static_cast<int64_t>(load(job.long_slices.count)) * job.chunks;
  for (int64_t item = block.index(); item < items; item += block.count()) {
    const int64_t number = quotient_of(item, job.chunks), column = (item - number * job.chunks) * job.lanes;
    const uint32_t first = job.long_slices.firsts[number];
    const uint64_t slice = slice_at(job, first);
    const Strip<Type, bytes> strip{job, block.stage(), slice, end_of_slice(job, first, slice), column};
    combine_strip(block, strip, first);
  }
}

// ---- Other kernels

// Finds the update that each element of a slice has after a maximum or minimum: the first of those that precede others.
template <class Type, class Block>
GATHER_KERNEL void position_body(Block& block, const PositionJob& job) {
  constexpr int bytes = static_cast<int>(sizeof(typename Type::Stored));
  const bool is_min = job.reduction == GTH_REDUCTION_MIN;
  block.each([&](uint32_t thread) {
    if (is_refused(job)) return;
    for_columns(block, job, thread, [&](uint32_t first, int64_t number) {
      const uint64_t slice = slice_at(job, first);
      if (slice == job.slices || (first > 0 && slice_at(job, first - 1) == slice)) return;
      const Column column = column_of(job, number, bytes);
      const char *const target = target_of(job, slice, column), *winner = nullptr;
      Row<Type, bytes> best{}, other;
      if (!job.starts_with_update) best.load(load_update<Type, bytes>(job, target));
      for (uint32_t i = first; i < job.count; ++i) {
        const WideUpdate update = update_at(job, i);
        if (update.slice != slice) break;
        const char* const from = source_of(job, update, column.updates);
        other.load(load_update<Type, bytes>(job, from));
        const bool has_none = job.starts_with_update && i == first;
        if (!has_none && !Type::precedes(is_min, other.at[0], best.at[0])) continue;
        best = other;
        winner = from;
      }
      if (winner) job.positions[(target - job.first_target) / bytes] = (winner - job.first_update) / bytes;
    });
  });
}

// The last update of each slice replaces it.
template <int bytes, class Block>
GATHER_KERNEL void replace_body(Block& block, const CombineJob& job) {
  block.each([&](uint32_t thread) {
    if (is_refused(job)) return;
    for_columns(block, job, thread, [&](uint32_t number, int64_t at) {
      const WideUpdate update = update_at(job, number);
      if (update.slice == job.slices || (number + 1 < job.count && slice_at(job, number + 1) == update.slice)) return;
      const Column column = column_of(job, at, bytes);
      const char* const from = source_of(job, update, column.updates);
      char* const to = target_of(job, update.slice, column);
      store_column<bytes>(to, job.is_aligned, load_column<bytes>(from, job.is_aligned));
    });
  });
}

// Calls visit(Type{}, std::integral_constant<int, bytes>{}) for the kernels that combine long slices. is_wide: a column is
// a vector, and not a number. Precondition: !is_wide, or has_long_vectors.
template <class Visit>
auto visit_long(Numbers numbers, bool is_wide, Visit&& visit) {
  return visit_merged(numbers, [&](auto type) {
    using Type = decltype(type);
    constexpr bool has_vectors = std::is_floating_point_v<typename Type::Value>;
    return visit_vector<Type>(is_wide && has_vectors, [&](auto bytes) {
      if constexpr (has_vectors || decltype(bytes)::value == sizeof(typename Type::Stored))
        return visit(Type{}, bytes);
      else
        return 0;
    });
  });
}

// Calls visit(Type{}, std::integral_constant<int, bytes>{}, std::bool_constant<scaled>{}) for the kernels that combine
// other slices.
template <class Visit>
auto visit_combined(Numbers numbers, bool is_wide, bool is_scaled, Visit&& visit) {
  return visit_merged(numbers, [&](auto type) {
    using Type = decltype(type);
    return visit_vector<Type>(is_wide, [&](auto bytes) {
      if constexpr (scales_apart<Type, decltype(bytes)::value>) {
        if (is_scaled) return visit(Type{}, bytes, std::true_type{});
      }
      return visit(Type{}, bytes, std::false_type{});
    });
  });
}

// Calls visit(Type{}) for numbers that have an order.
template <class Visit>
int visit_ordered(Numbers numbers, Visit&& visit) {
  return visit_merged(numbers, [&](auto type) -> int {
    using Type = decltype(type);
    if constexpr (std::is_same_v<Type, FloatsInDouble> || !std::is_arithmetic_v<typename Type::Value>)
      return 0;  // the host never selects it
    else
      return visit(type);
  });
}

template <int bytes, class Block>
GATHER_KERNEL void strided_body(Block& block, const StridedJob& job) {
  block.each([&](uint32_t thread) {
    if (is_refused(job)) return;
    const int64_t step = int64_t{block.count()} * block.threads();
    for (int64_t i = int64_t{block.index()} * block.threads() + thread; i < job.columns; i += step) {
      const Column column = column_of(job, i, bytes);
      Vector<bytes> value;
      const uint64_t values[] = {job.value, job.value};
      std::memcpy(&value, values, bytes);
      if (job.from) value = load_params<bytes>(job.from + column.updates);
      store_out<bytes>(job.target + column.target, value, false);
    }
  });
}

}  // namespace gather::cuda
