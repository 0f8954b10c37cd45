#pragma once

#include "cuda/cuts.hpp"

// Copies rows of at least 16 bytes, of any size and alignment, into a dense output.
namespace gather::cuda {

// Returns 16 bytes of the fill value, from byte `at` of a row on.
GATHER_SHARED Bytes16 fill_from(const JobHead& job, int64_t at) {
  const uint32_t turn = 8 * (static_cast<uint32_t>(at) & 7);
  const bool swapped = at & 8;
  const uint64_t lo = swapped ? job.fill[1] : job.fill[0], hi = swapped ? job.fill[0] : job.fill[1];
  return {funnel_down(lo, hi, turn), funnel_down(hi, lo, turn)};
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
      store_out<16>(to, vectors.made[i], job.evicts_first);
      continue;
    }
    const uint32_t own = vectors.parts[i].end;
    const uint32_t begin = vectors.units[i].source == Source::none ? own : 0;
    const uint32_t end = vectors.next[i].source == Source::none ? own : vector_bytes;
    store_bytes(to, vectors.made[i], begin, end);
  }
}

// A thread makes aligned vectors.
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

template <class Index, class Job, class Gate>
GATHER_SHARED bool copy_unaligned(const Job& job, bool blank, uint32_t thread, uint32_t threads, Gate& gate) {
  const uint32_t head = head_of(job);
  const bool raced = copy_vectors<Index>(job, blank, thread, threads, head, gate);
  return copy_borders<Index>(job, blank, thread, head, gate) || raced;
}

}  // namespace gather::cuda
