#pragma once

#include "cuda/judge.hpp"

// What one thread of a copying kernel does. Each function copies the part of the output that falls to its thread and
// returns whether it met an index that was good when it was judged (bounds = error).
namespace gather::cuda {

// Loads that a thread has in flight: what decides the speed.
constexpr int loads_in_flight = 4;

enum class Source : uint8_t { params, fill, none };

// One row of the output.
struct Unit {
  const char* from;
  char* to;
  Source source;
};

GATHER_SHARED int64_t dealt_offset(const JobHead& job, const JobComponent* dims, int64_t batch) {
  int64_t offset = 0;
  for (int32_t i = job.dealt_dims; i-- > 0;) {
    offset += batch % dims[i].size * dims[i].stride;
    batch /= dims[i].size;
  }
  return offset;
}

// A row of the output before its indices are known. to nullptr: there is no such row.
struct Placed {
  const char* tuple;
  const char* from;
  char* to;
};

template <class Job, class Number>
GATHER_SHARED Placed place(const Job& job, Number number) {
  Placed row{job.indices, job.params, job.out};
  if constexpr (Job::is_direct) {
    row.tuple += static_cast<int64_t>(number) * job.loop[0].index;
    row.to += static_cast<int64_t>(number) * job.loop[0].out;
  } else {
    if constexpr (Job::most_loops > SmallJob::most_loops) {
      if (job.dealt_dims > 0) {
        const int64_t batch = static_cast<int64_t>(number) / job.dealt_units;
        row.from += dealt_offset(job, job.component + job.components, batch);
      }
    }
    for (int32_t i = job.loops; i-- > 0;) {
      const JobLoop& loop = job.loop[i];
      const Number next = divide(number, job.divider[i], loop.extent);
      const int64_t at = static_cast<int64_t>(number - next * static_cast<Number>(loop.extent));
      number = next;
      row.from += at * loop.params;
      row.tuple += at * loop.index;
      row.to += at * loop.out;
    }
  }
  return row;
}

// Not inlined where a call costs little beside what it does.
template <class Job>
GATHER_SELDOM Placed place_elsewhere(const Job& job, uint64_t number) {
  return place(job, number);
}

// blank: nothing is to be read, the output becomes zeros.
template <class Index, class Job>
GATHER_SHARED Unit find_unit(const Job& job, const Placed& row, int64_t first, bool blank, bool* raced) {
  Unit unit{row.from, row.to, Source::params};
  int64_t offset = 0;
  if (blank) {
    unit.source = Source::fill;
  } else if (resolve<Index>(job, row.tuple, first, &offset, static_cast<Finding*>(nullptr))) {
    unit.from += offset;
  } else if (job.bounds == GTH_BOUNDS_FILL) {
    unit.source = Source::fill;
  } else {
    *raced |= job.bounds == GTH_BOUNDS_ERROR;
    unit.source = job.zeroes ? Source::fill : Source::none;
  }
  return unit;
}

// Finds the sources and targets of `count` rows; a number that is not below job.units has none. All rows are placed and
// all indices asked for before one of them is waited for.
template <class Index, int count, class Job>
GATHER_SHARED void find_units(const Job& job, const typename Index::Number* numbers, bool blank, Unit* units,
                              bool* raced) {
  using Number = typename Index::Number;
  Placed rows[size_t{count}];
  int64_t first[size_t{count}] = {};
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    rows[i] = {nullptr, nullptr, nullptr};
    if (numbers[i] >= static_cast<Number>(job.units)) continue;
    if constexpr (sizeof(Number) == 8)
      rows[i] = place_elsewhere(job, numbers[i]);
    else
      rows[i] = place(job, numbers[i]);
  }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    if (rows[i].to && !blank) first[i] = load_first<Index>(job, rows[i].tuple);
  }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    units[i] = {nullptr, nullptr, Source::none};
    if (rows[i].to) units[i] = find_unit<Index>(job, rows[i], first[i], blank, raced);
  }
}

// The same for four neighbouring threads with the same numbers: on the device each finds one, `mine`, and they tell each
// other. All threads of a warp come here at once.
template <class Index, class Job>
GATHER_SHARED void find_units_together(const Job& job, const typename Index::Number* numbers,
                                       typename Index::Number mine, bool blank, Unit* units, bool* raced) {
#ifdef __CUDA_ARCH__
  Unit unit;
  find_units<Index, 1>(job, &mine, blank, &unit, raced);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    units[i] = {from_neighbour(unit.from, i), from_neighbour(unit.to, i),
                static_cast<Source>(from_neighbour(static_cast<uint32_t>(unit.source), i))};
    if (numbers[i] >= static_cast<typename Index::Number>(job.units)) units[i].source = Source::none;
  }
#else
  (void)mine;
  find_units<Index, 4>(job, numbers, blank, units, raced);
#endif
}

// 128 bits shifted by 0 to 15 bytes.
GATHER_SHARED Bytes16 shift_up(Bytes16 v, uint32_t bytes) {
  const uint32_t bits = 8 * (bytes & 7);
  if (bytes & 8) v = {0, v.lo};
  if (bits == 0) return v;
  return {v.lo << bits, (v.hi << bits) | (v.lo >> (64 - bits))};
}

GATHER_SHARED Bytes16 shift_down(Bytes16 v, uint32_t bytes) {
  const uint32_t bits = 8 * (bytes & 7);
  if (bytes & 8) v = {v.hi, 0};
  if (bits == 0) return v;
  return {(v.lo >> bits) | (v.hi << (64 - bits)), v.hi >> bits};
}

// The first `bytes` (1 to 16) of 16 bytes, zeros behind.
GATHER_SHARED Bytes16 keep_first(Bytes16 v, uint32_t bytes) {
  if (bytes >= 16) return v;
  if (bytes >= 8) return {v.lo, bytes == 8 ? 0 : v.hi & (~uint64_t{0} >> (128 - 8 * bytes))};
  return {v.lo & (~uint64_t{0} >> (64 - 8 * bytes)), 0};
}

GATHER_SHARED Bytes16 either(Bytes16 a, Bytes16 b) { return {a.lo | b.lo, a.hi | b.hi}; }

// What bounds = fill writes from byte `at` of a row on.
GATHER_SHARED Bytes16 fill_from(const JobHead& job, int64_t at) {
  const uint32_t turn = static_cast<uint32_t>(at) & 15;
  const Bytes16 fill{job.fill[0], job.fill[1]};
  return turn ? either(shift_down(fill, turn), shift_up(fill, 16 - turn)) : fill;
}

// The same for an aligned vector of a row.
template <int V>
GATHER_SHARED Vector<V> fill_vector(const JobHead& job, int64_t at) {
  if constexpr (V == 16) {
    return {job.fill[0], job.fill[1]};
  } else {
    const uint64_t half = at & 8 ? job.fill[1] : job.fill[0];
    return static_cast<Vector<V>>(half >> (8 * (at & 7)));
  }
}

// Rows whose address, size and strides are multiples of V on both sides: a group of 2^lanes_log2 threads copies a row, or
// a chunk of a long one, V bytes a thread. All threads of a warp go round as often as its first.
template <int V, class Index, class Job>
GATHER_SHARED bool copy_rows(const Job& job, bool blank, typename Index::Number thread,
                             typename Index::Number threads) {
  using Number = typename Index::Number;
  static_assert(loads_in_flight == 4);
  const uint32_t lane = static_cast<uint32_t>(thread) & ((1u << job.lanes_log2) - 1);
  const Number groups = threads >> job.lanes_log2;
  const Number chunks = static_cast<Number>(job.chunks);
  const Number pieces = static_cast<Number>(job.units) * chunks;
  const Number ahead = (thread & (warp_threads - 1)) >> job.lanes_log2;  // of the warp's first group
  const auto number_of = [&](Number piece) { return chunks == 1 ? piece : divide(piece, job.chunk, job.chunks); };
  bool raced = false;
  for (Number lead = (thread >> job.lanes_log2) - ahead; lead < pieces; lead += groups * loads_in_flight) {
    Number numbers[loads_in_flight];
    int64_t at[loads_in_flight];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < loads_in_flight; ++i) {
      const Number piece = lead + ahead + static_cast<Number>(i) * groups;
      numbers[i] = number_of(piece);
      at[i] = ((static_cast<int64_t>(piece - numbers[i] * chunks) << job.lanes_log2) + lane) * V;
      if (piece >= pieces || at[i] >= job.row) numbers[i] = ~Number{0};  // a row's last group has threads to spare
    }
    Unit units[loads_in_flight];
    // One index is found sooner than asked for.
    if (!Job::is_direct && job.lanes_log2 >= 2) {
      const Number mine = lead + ahead + (thread & 3) * groups;
      find_units_together<Index>(job, numbers, mine < pieces ? number_of(mine) : ~Number{0}, blank, units, &raced);
    } else {
      find_units<Index, loads_in_flight>(job, numbers, blank, units, &raced);
    }
    Vector<V> loaded[loads_in_flight];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < loads_in_flight; ++i) {
      if (units[i].source == Source::params)
        loaded[i] = load_params<V>(units[i].from + at[i]);
      else
        loaded[i] = fill_vector<V>(job, at[i]);
    }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < loads_in_flight; ++i) {
      if (units[i].source != Source::none) store_out<V>(units[i].to + at[i], loaded[i]);
    }
  }
  return raced;
}

// Elements of R bytes, gathered as a part of an output vector.
template <int R>
struct Elements {
  static constexpr int count = 16 / R < loads_in_flight ? 16 / R : loads_in_flight;
  Bytes16 made{0, 0};
  uint32_t written = 0;  // a bit for each element
};

template <int R, class Index, class Job>
GATHER_SHARED Elements<R> gather_elements(const Job& job, bool blank, typename Index::Number first,
                                          typename Index::Number begin, bool* raced) {
  using Number = typename Index::Number;
  Elements<R> part;
  Number numbers[Elements<R>::count];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < part.count; ++i) numbers[i] = first + static_cast<Number>(i) - begin;  // below begin: huge
  Unit units[Elements<R>::count];
  find_units<Index, Elements<R>::count>(job, numbers, blank, units, raced);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < part.count; ++i) {
    uint64_t element = 0;
    if (units[i].source == Source::params) element = load_params<R>(units[i].from);
    if (units[i].source == Source::fill) element = static_cast<Vector<R>>(job.fill[0]);
    if (units[i].source != Source::none) part.written |= 1u << i;
    if (i * R < 8)
      part.made.lo |= element << (8 * i * R & 63);
    else
      part.made.hi |= element << (8 * i * R & 63);
  }
  return part;
}

// Rows of R = 1, 2, 4 or 8 aligned bytes into a dense output: a thread makes 16 bytes of it, from 16 / R rows.
template <int R, class Index, class Job>
GATHER_SHARED bool copy_elements(const Job& job, bool blank, typename Index::Number thread,
                                 typename Index::Number threads) {
  using Number = typename Index::Number;
  constexpr int together = 16 / R, step = Elements<R>::count;
  // Elements between the 16-byte boundary below the output and the output.
  const Number begin = static_cast<Number>((reinterpret_cast<uintptr_t>(job.out) & 15) / R);
  const Number end = begin + static_cast<Number>(job.units);
  bool raced = false;
  for (Number first = thread * together; first < end; first += threads * together) {
    Bytes16 made{0, 0};
    uint32_t written = 0;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (int i = 0; i < together; i += step) {
      const Elements<R> part = gather_elements<R, Index>(job, blank, first + static_cast<Number>(i), begin, &raced);
      made = either(made, shift_up(part.made, static_cast<uint32_t>(i * R)));
      written |= part.written << i;
    }
    char* to = job.out + (static_cast<int64_t>(first) - static_cast<int64_t>(begin)) * R;
    if (written == (1u << together) - 1) {
      store_out<16>(to, made);
      continue;
    }
    for (int i = 0; i < together; ++i, to += R, made = shift_down(made, R)) {
      if (written >> i & 1) store_out<R>(to, static_cast<Vector<R>>(made.lo));
    }
  }
  return raced;
}

// `count` (1 to 16) bytes from any address, zeros behind. Reads whole aligned words where these lie inside the memory
// described, and single bytes at its ends.
GATHER_SHARED Bytes16 load_unaligned(const JobHead& job, const char* at, uint32_t count) {
  const uint32_t skipped = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(at) & 7);
  const uint32_t words = (skipped + count + 7) / 8;  // 1 to 3
  const char* first = at - skipped;
  Bytes16 value{0, 0};
  if (first < job.params_begin || job.params_end - first < int64_t{8} * words) {
    for (uint32_t i = 0; i < count; ++i) value = either(value, shift_up({load_params<1>(at + i), 0}, i));
    return value;
  }
  const uint64_t a = load_params<8>(first);
  const uint64_t b = words > 1 ? load_params<8>(first + 8) : 0;
  const uint64_t c = words > 2 ? load_params<8>(first + 16) : 0;
  const uint32_t bits = 8 * skipped;
  value = bits ? Bytes16{(a >> bits) | (b << (64 - bits)), (b >> bits) | (c << (64 - bits))} : Bytes16{a, b};
  return keep_first(value, count);
}

// Rows of any size and alignment into a dense output: a thread makes 16 aligned bytes of it, out of the end of one row,
// whole rows, and the beginning of another.
template <class Index, class Job>
GATHER_SHARED bool copy_stream(const Job& job, bool blank, typename Index::Number thread,
                               typename Index::Number threads) {
  using Number = typename Index::Number;
  const Number total = static_cast<Number>(job.units) * static_cast<Number>(job.row);
  const Number before = static_cast<Number>(reinterpret_cast<uintptr_t>(job.out) & 15);
  const Number end = before + total;
  bool raced = false;
  for (Number first = thread * 16; first < end; first += threads * 16) {
    Bytes16 made{0, 0};
    uint32_t written = 0;  // a bit for each byte
    const Number begin = first < before ? before : first;
    const Number last = end - first < 16 ? end : first + 16;
    Number unit_number = divide(begin - before, job.chunk, job.row);
    int64_t at = static_cast<int64_t>(begin - before - unit_number * static_cast<Number>(job.row));
    for (Number byte = begin; byte < last; ++unit_number, at = 0) {
      const int64_t left = job.row - at;
      const uint32_t space = static_cast<uint32_t>(last - byte);
      const uint32_t count = left < static_cast<int64_t>(space) ? static_cast<uint32_t>(left) : space;
      const uint32_t place = static_cast<uint32_t>(byte - first);
      byte += count;
      Unit unit;
      find_units<Index, 1>(job, &unit_number, blank, &unit, &raced);
      if (unit.source == Source::none) continue;
      const Bytes16 part = unit.source == Source::params ? load_unaligned(job, unit.from + at, count)
                                                         : keep_first(fill_from(job, at), count);
      made = either(made, shift_up(part, place));
      written |= ((1u << count) - 1) << place;
    }
    char* to = job.out + (static_cast<int64_t>(first) - static_cast<int64_t>(before));
    if (written == 0xffff) {
      store_out<16>(to, made);
      continue;
    }
    for (uint32_t i = 0; i < 16; ++i, made = shift_down(made, 1)) {
      if (written >> i & 1) store_out<1>(to + i, static_cast<uint8_t>(made.lo));
    }
  }
  return raced;
}

}  // namespace gather::cuda
