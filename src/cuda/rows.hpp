#pragma once

#include "cuda/judge.hpp"

// The work of one thread of a copying kernel. Each function copies the part of the output that belongs to its thread.
// It returns true if it met an invalid index (bounds = error). It asks its gate after the loads and before the stores,
// and returns if the gate is closed.
namespace gather::cuda {

constexpr uint32_t vector_bytes = 16;

enum class Source : uint32_t { params, fill, none };

// One row of the output.
struct Unit {
  const char* from;
  char* to;
  Source source;
};

GATHER_SELDOM int64_t batch_split_offset(const JobHead& job, const JobComponent* dims, int64_t batch) {
  int64_t offset = 0;
  for (int32_t i = job.batch_split_dims; i-- > 0;) {
    offset += batch % dims[i].size * dims[i].stride;
    batch /= dims[i].size;
  }
  return offset;
}

// A row of the output before its indices are loaded.
struct Placed {
  const char* tuple;
  const char* from;
  char* to;
};

template <class Job>
GATHER_SHARED Placed place(const Job& job, uint32_t number) {
  Placed row{job.indices, job.params, job.out};
  if constexpr (Job::is_direct) {
    row.tuple += static_cast<int64_t>(number) * job.loop[0].index;
    row.to += static_cast<int64_t>(number) * job.loop[0].out;
  } else {
    if constexpr (Job::most_loops > SmallJob::most_loops) {
      if (job.batch_split_dims > 0) {
        const int64_t batch = (job.first_unit + static_cast<int64_t>(number)) / job.batch_split_units;
        row.from += batch_split_offset(job, job.component + job.components, batch);
      }
    }
    for (int32_t i = job.loops; i-- > 0;) {
      const JobLoop& loop = job.loop[i];
      const uint32_t next = divide(number, job.divider[i]);
      const int64_t at = static_cast<int64_t>(number - next * static_cast<uint32_t>(loop.extent));
      number = next;
      row.from += at * loop.params;
      row.tuple += at * loop.index;
      row.to += at * loop.out;
    }
  }
  return row;
}

// Finds the sources and targets of `count` rows, component by component, so that the loads of their indices overlap.
// blank: nothing is read and the output becomes zeros. Sets `raced` if an index is invalid that was valid before.
template <class Index, int count, class Job>
GATHER_SHARED void find_units(const Job& job, const uint32_t* numbers, bool blank, Unit* units, bool* raced) {
  Placed rows[size_t{count}];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    rows[i] = place(job, numbers[i]);
    units[i] = {rows[i].from, rows[i].to, Source::fill};
  }
  if (blank) return;
  int64_t offsets[size_t{count}] = {};
  bool selects[size_t{count}], selects_all = true;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) selects[i] = true;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int32_t c = 0; c < components_of(job); ++c) {
    int64_t values[size_t{count}];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) values[i] = Index::load(job, rows[i].tuple + c * job.index_step);
    select<count>(job, job.component[c], values, offsets, selects);
  }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    units[i].from += offsets[i];
    units[i].source = Source::params;
    selects_all &= selects[i];
  }
  if (selects_all) return;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    if (selects[i]) continue;
    *raced |= job.policy.outside == core::Outside::refused;
    units[i].source = job.fills ? Source::fill : Source::none;
  }
}

// Does the same for four neighbouring threads with the same numbers. On the device, each thread finds the row `mine`
// and shares it with the others. All threads of a warp call this together.
template <class Index, class Job>
GATHER_SHARED void find_units_together(const Job& job, const uint32_t* numbers, uint32_t mine, bool blank, Unit* units,
                                       bool* raced) {
#ifdef __CUDA_ARCH__
  Unit unit;
  find_units<Index, 1>(job, &mine, blank, &unit, raced);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    units[i] = {from_neighbour(unit.from, i), from_neighbour(unit.to, i),
                static_cast<Source>(from_neighbour(static_cast<uint32_t>(unit.source), i))};
  }
#else
  (void)mine;
  find_units<Index, 4>(job, numbers, blank, units, raced);
#endif
}

// Returns true if holds(source) is true for all rows. Then no row needs a test of its own.
template <int count, class F>
GATHER_SHARED bool all_of(const Unit* units, F&& holds) {
  bool result = true;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) result &= holds(units[i].source);
  return result;
}

// Returns 16 bytes of the fill value, from byte `at` of a row on.
GATHER_SHARED Bytes16 fill_from(const JobHead& job, int64_t at) {
  const uint32_t turn = 8 * (static_cast<uint32_t>(at) & 7);
  const bool swapped = at & 8;
  const uint64_t lo = swapped ? job.fill[1] : job.fill[0], hi = swapped ? job.fill[0] : job.fill[1];
  return {funnel_down(lo, hi, turn), funnel_down(hi, lo, turn)};
}

// Returns an aligned vector of the fill value at byte `at` of a row.
template <int V>
GATHER_SHARED Vector<V> fill_vector(const JobHead& job, int64_t at) {
  if constexpr (V == 16) {
    return {job.fill[0], job.fill[1]};
  } else {
    const uint64_t half = at & 8 ? job.fill[1] : job.fill[0];
    return static_cast<Vector<V>>(half >> (8 * (at & 7)));
  }
}

// Loads a vector from byte `at` of each row.
template <int V, int count>
GATHER_SHARED void load_vectors(const JobHead& job, const Unit* units, const int64_t* at, Vector<V>* loaded) {
  const bool is_copied = all_of<count>(units, [](Source source) { return source == Source::params; });
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    if (is_copied || units[i].source == Source::params)
      loaded[i] = load_params<V>(units[i].from + at[i]);
    else
      loaded[i] = fill_vector<V>(job, at[i]);
  }
}

// For rows whose address, size and strides are multiples of V on both sides. job.lanes threads copy a row, or a chunk
// of a long row, with V bytes per thread. All threads of a warp run as many iterations as its first thread. An idle
// thread reads what the first one reads, and writes nothing.
template <int V, class Index, class Job, class Gate>
GATHER_SHARED bool copy_rows(const Job& job, bool blank, uint32_t thread, uint32_t threads, Gate& gate) {
  static_assert(loads_in_flight == 4);
  const uint32_t groups = divide(threads, job.lane), group = divide(thread, job.lane);
  const uint32_t warp_group = divide(thread & ~31u, job.lane);
  const int64_t lane = static_cast<int64_t>(thread - group * job.lanes) * V;
  const uint32_t chunks = static_cast<uint32_t>(job.chunks), all = static_cast<uint32_t>(job.units) * chunks;
  const uint32_t end = group < groups ? all : 0;  // after the last group, threads are idle
  bool raced = false;
  for (uint32_t lead = 0; lead + warp_group < all; lead += groups * loads_in_flight) {
    uint32_t numbers[loads_in_flight], mine = 0;
    int64_t at[loads_in_flight];
    bool is_there[loads_in_flight];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < loads_in_flight; ++i) {
      const uint32_t chunk = lead + group + static_cast<uint32_t>(i) * groups;
      const uint32_t number = divide(chunk, job.chunk);
      at[i] = static_cast<int64_t>(chunk - number * chunks) * (job.lanes * V) + lane;
      is_there[i] = chunk < end && at[i] < job.row;  // threads after the end of a row's last chunk are idle
      numbers[i] = is_there[i] ? number : 0;
      at[i] = is_there[i] ? at[i] : 0;
      if (i == static_cast<int>(thread & 3)) mine = chunk < end ? number : 0;
    }
    Unit units[loads_in_flight];
    // For a direct job, loading one index is faster than exchanging rows between threads.
    if (!Job::is_direct && job.lanes % 4 == 0)
      find_units_together<Index>(job, numbers, mine, blank, units, &raced);
    else
      find_units<Index, loads_in_flight>(job, numbers, blank, units, &raced);
    Vector<V> loaded[loads_in_flight];
    load_vectors<V, loads_in_flight>(job, units, at, loaded);
    if (!gate.lets_store()) return raced;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < loads_in_flight; ++i) {
      if (is_there[i] && units[i].source != Source::none) store_out<V>(units[i].to + at[i], loaded[i], job.streams);
    }
  }
  return raced;
}

// Returns the bytes from `begin` to `end` of the vector at an address, at their places in the vector. Used where
// loading a whole word would exceed the memory.
GATHER_SELDOM Bytes16 load_bytes(const char* at, uint32_t begin, uint32_t end) {
  Bytes16 value{0, 0};
  for (uint32_t i = begin; i < end; ++i) {
    const uint64_t byte = uint64_t{load_params<1>(at + i)} << 8 * (i & 7);
    (i < 8 ? value.lo : value.hi) |= byte;
  }
  return value;
}

GATHER_SELDOM void store_bytes(char* at, Bytes16 value, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; ++i) {
    store_out<1>(at + i, static_cast<uint8_t>((i < 8 ? value.lo : value.hi) >> 8 * (i & 7)), false);
  }
}

// Three aligned words around the vector at an address.
struct Words {
  uint64_t word[3];
  uint32_t skipped;  // bytes before the vector
};

// Loads the words that contain the bytes from `begin` to `end` (0 to 16) of the vector. Returns false and loads nothing
// if a word could exceed the described memory.
GATHER_SHARED bool load_words(const JobHead& job, const char* at, uint32_t begin, uint32_t end, bool wanted,
                              Words* to) {
  *to = {{0, 0, 0}, static_cast<uint32_t>(reinterpret_cast<uintptr_t>(at) & 7)};
  const uint32_t from = to->skipped + begin, until = to->skipped + end;
  const char* words = at - to->skipped;
#ifdef __CUDA_ARCH__
  asm("" : "+l"(words));  // one base address for all words
#endif
  const uint64_t offset = static_cast<uint64_t>(words - job.params_begin + int64_t{from & ~7u});
  if (!wanted || offset >= static_cast<uint64_t>(job.loadable)) return false;
  if (from < 8) to->word[0] = load_params<8>(words);
  if (from < 16 && until > 8) to->word[1] = load_params<8>(words + 8);
  if (until > 16) to->word[2] = load_params<8>(words + 16);
  return true;
}

GATHER_SHARED Bytes16 vector_of(const Words& words) {
  const uint32_t bits = 8 * words.skipped;
  return {funnel_down(words.word[0], words.word[1], bits), funnel_down(words.word[1], words.word[2], bits)};
}

// A part of a vector of the output: its bytes from `begin` to `end`. `at` is the offset in the row of the vector's
// first byte.
struct Part {
  int64_t at;
  uint32_t begin, end;
};

// Loads parts of vectors to their places; other bytes are unspecified. All loads start before the first result is used.
template <int count>
GATHER_SHARED void make_parts(const JobHead& job, const Unit* units, const Part* parts, Bytes16* made) {
  Words words[size_t{count}];
  bool is_made[size_t{count}], are_made = true;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    const bool is_copied = units[i].source == Source::params;
    is_made[i] = load_words(job, units[i].from + parts[i].at, parts[i].begin, parts[i].end, is_copied, &words[i]);
    are_made &= is_made[i];
  }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) made[i] = vector_of(words[i]);
  if (are_made) return;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    if (is_made[i]) continue;
    made[i] = units[i].source == Source::params ? load_bytes(units[i].from + parts[i].at, parts[i].begin, parts[i].end)
                                                : fill_from(job, parts[i].at);
  }
}

// Returns the first `count` bytes of a, followed by the remaining bytes of b.
GATHER_SHARED Bytes16 join(Bytes16 a, Bytes16 b, uint32_t count) {
  const uint64_t lo = first_bytes(count), hi = first_bytes(count < 8 ? 0 : count - 8);
  return {(a.lo & lo) | (b.lo & ~lo), (a.hi & hi) | (b.hi & ~hi)};
}

// The place of an output vector in the rows of a dense output.
struct Cut {
  uint32_t number;  // row that contains its first byte
  uint32_t at;      // offset of that byte in the row
};

// Returns the place of the vector at 16 * vectors + bytes after the start of the first row. It takes two steps, so that
// rows and vectors are counted in 32 bits and bytes are not.
template <class Job>
GATHER_SHARED Cut cut(const Job& job, uint32_t vectors, uint32_t bytes) {
  const uint32_t row = static_cast<uint32_t>(job.row);
  const uint32_t whole = divide(vectors, job.chunk);
  const uint32_t begin = (vectors - whole * row) * vector_bytes + bytes;
  const uint32_t more = divide(begin, job.chunk);
  return {whole * vector_bytes + more, begin - more * row};
}

// Returns the place that is `step` after `from`.
GATHER_SHARED Cut advance(const Cut& from, const Cut& step, uint32_t row) {
  const uint32_t at = from.at + step.at;
  const bool is_beyond = at >= row;
  return {from.number + step.number + (is_beyond ? 1 : 0), is_beyond ? at - row : at};
}

// The vectors of a dense output that a thread makes in one round, and their rows.
template <int count>
struct Vectors {
  bool is_there[size_t{
      count}];  // false for a vector after the end; the thread computes a vector there and does not store it
  Part parts[size_t{count}];
  Unit units[size_t{count}];  // the first row of each vector
  Unit next[size_t{count}];   // the second row, for vectors that have parts of two rows
  Bytes16 made[size_t{count}];
};

// Adds the parts of the second rows to the vectors in which the first row ends.
template <class Index, int count, class Job>
GATHER_SHARED void complete(const Job& job, uint32_t* numbers, bool blank, Vectors<count>* vectors, bool* raced) {
  Part others[size_t{count}];
  Bytes16 more[size_t{count}];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    const uint32_t own = vectors->parts[i].end;
    numbers[i] += own < vector_bytes ? 1 : 0;
    others[i] = {-static_cast<int64_t>(own), own, vector_bytes};
  }
  find_units<Index, count>(job, numbers, blank, vectors->next, raced);
  make_parts<count>(job, vectors->next, others, more);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) vectors->made[i] = join(vectors->made[i], more[i], vectors->parts[i].end);
}

template <int count>
GATHER_SHARED void store_vectors(const JobHead& job, const Vectors<count>& vectors, char* to, int64_t step) {
  const auto writes = [](Source source) { return source != Source::none; };
  const bool is_written = all_of<count>(vectors.units, writes) && all_of<count>(vectors.next, writes);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i, to += step) {
    if (!vectors.is_there[i]) continue;
    if (is_written) {
      store_out<16>(to, vectors.made[i], job.streams);
      continue;
    }
    const uint32_t own = vectors.parts[i].end;
    const uint32_t begin = vectors.units[i].source == Source::none ? own : 0;
    const uint32_t end = vectors.next[i].source == Source::none ? own : vector_bytes;
    store_bytes(to, vectors.made[i], begin, end);
  }
}

// Copies rows of at least 16 bytes, of any size and alignment, into a dense output. A thread makes aligned vectors.
// Each consists of one row, or of the end of one row and the start of the next. `head` bytes precede the first vector.
template <class Index, class Job, class Gate>
GATHER_SHARED bool copy_vectors(const Job& job, bool blank, uint32_t thread, uint32_t threads, uint32_t head,
                                Gate& gate) {
  constexpr int count = loads_in_flight;
  const uint32_t row = static_cast<uint32_t>(job.row);
  const uint32_t end = static_cast<uint32_t>((job.units * job.row - static_cast<int64_t>(head)) / vector_bytes);
  char* const out = job.out + static_cast<int64_t>(head);
  const int64_t step_bytes = static_cast<int64_t>(threads) * vector_bytes;
  bool raced = false;
  Cut place = cut(job, thread, head);
  const Cut step = cut(job, threads, 0);
  for (uint32_t first = thread; first < end; first += threads * count) {
    uint32_t numbers[count];
    Vectors<count> vectors;
    bool is_cut = false;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) {
      const uint32_t vector = first + static_cast<uint32_t>(i) * threads;
      const bool is_there = vectors.is_there[i] = vector < end;
      const uint32_t at = is_there ? place.at : 0, left = row - at;
      numbers[i] = is_there ? place.number : 0;
      place = advance(place, step, row);
      vectors.parts[i] = {static_cast<int64_t>(at), 0,
                          left < vector_bytes ? static_cast<uint32_t>(left) : vector_bytes};
      is_cut |= left < vector_bytes;
    }
    find_units<Index, count>(job, numbers, blank, vectors.units, &raced);
    make_parts<count>(job, vectors.units, vectors.parts, vectors.made);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) vectors.next[i].source = vectors.units[i].source;
    if (is_cut) complete<Index>(job, numbers, blank, &vectors, &raced);
    if (!gate.lets_store()) return raced;
    store_vectors(job, vectors, out + static_cast<int64_t>(first) * vector_bytes, step_bytes);
  }
  return raced;
}

// Copies the bytes of that output before the first aligned vector and after the last one, one byte per thread.
template <class Index, class Job, class Gate>
GATHER_SHARED bool copy_borders(const Job& job, bool blank, uint32_t thread, uint32_t head, Gate& gate) {
  const uint32_t tail = static_cast<uint32_t>((job.units * job.row - static_cast<int64_t>(head)) % vector_bytes);
  const bool is_head = thread < vector_bytes;
  const uint32_t number = is_head ? 0 : static_cast<uint32_t>(job.units - 1), offset = thread % vector_bytes;
  if (thread >= 2 * vector_bytes || offset >= (is_head ? head : tail)) return false;
  const int64_t at = static_cast<int64_t>(is_head ? offset : static_cast<uint32_t>(job.row) - tail + offset);
  bool raced = false;
  Unit unit;
  find_units<Index, 1>(job, &number, blank, &unit, &raced);
  const bool is_copied = unit.source == Source::params;
  const uint8_t byte = is_copied ? load_params<1>(unit.from + at) : fill_vector<1>(job, at);
  if (gate.lets_store() && unit.source != Source::none) store_out<1>(unit.to + at, byte, job.streams);
  return raced;
}

template <class Index, class Job, class Gate>
GATHER_SHARED bool copy_stream(const Job& job, bool blank, uint32_t thread, uint32_t threads, Gate& gate) {
  const uint32_t head = static_cast<uint32_t>((0 - reinterpret_cast<uintptr_t>(job.out)) % vector_bytes);
  const bool raced = copy_vectors<Index>(job, blank, thread, threads, head, gate);
  return copy_borders<Index>(job, blank, thread, head, gate) || raced;
}

}  // namespace gather::cuda
