#pragma once

#include "cuda/unaligned_rows.hpp"

// Copies rows of whole words of 4 bytes into a dense output. A thread makes aligned vectors of four words, each from
// one row or from the end of one row and the start of the next.
namespace gather::cuda {

// With rows of at least this size, the vectors of a warp have parts of at most 32 rows.
constexpr int64_t shortest_words_row = vector_bytes + 4;

// The vectors that a thread makes in one round.
template <int count>
struct WordVectors {
  bool is_there[size_t{count}];
  Cut cuts[size_t{count}];
};

// The rows of a vector. An address is nullptr if no row of params is copied there.
struct Sources {
  const char* first;
  const char* second;  // for a vector that has parts of two rows
};

GATHER_SHARED uint32_t smaller_of(uint32_t a, uint32_t b) { return a < b ? a : b; }

// The rows whose addresses the vectors of a thread need. On the device, a thread resolves one row for each vector of
// its warp, and the warp exchanges the addresses. All threads of a warp call these functions together.
template <class Index, int count, class Job>
class SharedRows {
 public:
  GATHER_SHARED void load(const Job& job, const WordVectors<count>& vectors, uint32_t lane, bool blank) {
    const uint32_t last = static_cast<uint32_t>(job.units - 1);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) {
      const uint32_t number = vectors.cuts[i].number;
#ifdef __CUDA_ARCH__
      first_[i] = from_lane(number, 0);
      numbers_[i] = smaller_of(smaller_of(first_[i] + lane, from_lane(number, warp_threads - 1) + 1), last);
#else
      (void)lane;
      numbers_[i] = number;
      seconds_[i] = smaller_of(number + 1, last);
#endif
    }
    ahead_.load(job, numbers_, blank);
  }

  GATHER_SHARED void find(const Job& job, const WordVectors<count>& vectors, bool blank, Sources* sources,
                          bool* raced) {
    Unit units[size_t{count}];
    ahead_.find(job, numbers_, blank, units, raced);
#ifdef __CUDA_ARCH__
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const uint32_t own = vectors.cuts[i].number - first_[i];
      const char* from = units[i].source == Source::params ? units[i].from : nullptr;
      sources[i] = {from_lane(from, own), from_lane(from, own + 1)};
    }
#else
    (void)vectors;
    Unit seconds[size_t{count}];
    find_units<Index, count>(job, seconds_, blank, seconds, raced);
    for (int i = 0; i < count; ++i) {
      sources[i] = {units[i].source == Source::params ? units[i].from : nullptr,
                    seconds[i].source == Source::params ? seconds[i].from : nullptr};
    }
#endif
  }

 private:
  Ahead<Index, count, Job> ahead_;
  uint32_t numbers_[size_t{count}];
#ifdef __CUDA_ARCH__
  uint32_t first_[size_t{count}];
#else
  uint32_t seconds_[size_t{count}];
#endif
};

// A vector before it is loaded. Its first `left` bytes are at `own`, and the following ones at next + left.
struct Span {
  uint64_t own, next;  // addresses
  uint32_t left;       // 1 to 16
};

GATHER_SHARED Span span_of(const Sources& sources, const Cut& cut, uint32_t row) {
  const uint32_t left = smaller_of(row - cut.at, vector_bytes);
  return {reinterpret_cast<uintptr_t>(sources.first) + cut.at, reinterpret_cast<uintptr_t>(sources.second) - left,
          left};
}

GATHER_SHARED bool is_cut(const Span& span) { return span.left < vector_bytes; }

GATHER_SHARED uint32_t load_word(uint64_t at) { return load_params<4>(reinterpret_cast<const char*>(at)); }

// The words of a vector.
struct FourWords {
  uint32_t word[4];
};

// Loads vectors of rows. The addresses and sizes of the rows are multiples of 4 bytes. So each word is in one row.
template <int count>
GATHER_SHARED void load_spans(const Span* spans, FourWords* made) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t at = 4 * j;
      made[i].word[j] = load_word((at < spans[i].left ? spans[i].own : spans[i].next) + at);
    }
  }
}

// Makes a vector by bytes. Parts without a row become the fill value.
GATHER_SELDOM Bytes16 make_bytewise(const JobHead& job, Sources sources, Cut cut) {
  Bytes16 made{0, 0};
  const uint32_t row = static_cast<uint32_t>(job.row);
  for (uint32_t i = 0; i < vector_bytes; ++i) {
    const uint32_t at = cut.at + i;
    const char* from = at < row ? sources.first : sources.second;
    const uint32_t offset = at < row ? at : at - row;
    const uint64_t byte = from ? load_params<1>(from + offset) : fill_vector<1>(job, static_cast<int64_t>(offset));
    (i < 8 ? made.lo : made.hi) |= byte << 8 * (i & 7);
  }
  return made;
}

// Makes vectors from their rows. All loads start before the first result is used. Returns false if a part has no row.
template <int count>
GATHER_SHARED bool make_vectors(const JobHead& job, const Cut* cuts, const Sources* sources, Bytes16* made) {
  Span spans[size_t{count}];
  bool have_rows = true;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    spans[i] = span_of(sources[i], cuts[i], static_cast<uint32_t>(job.row));
    have_rows &= sources[i].first && (!is_cut(spans[i]) || sources[i].second);
  }
  if (have_rows) {
    FourWords words[size_t{count}];
    load_spans<count>(spans, words);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) {
      const uint32_t* word = words[i].word;
      made[i] = {uint64_t{word[1]} << 32 | word[0], uint64_t{word[3]} << 32 | word[2]};
    }
    return true;
  }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) made[i] = make_bytewise(job, sources[i], cuts[i]);
  return false;
}

// Stores the parts of a vector that have a row.
GATHER_SELDOM void store_parts(char* to, Sources sources, uint32_t left, Bytes16 made) {
  store_bytes(to, made, sources.first ? 0 : left, left < vector_bytes && !sources.second ? left : vector_bytes);
}

// Returns the vectors of a round, and the place after them. A vector after the end has the place of a last row.
template <int count, class Job>
GATHER_SHARED WordVectors<count> plan_vectors(const Job& job, uint32_t first, uint32_t threads, uint32_t end,
                                              Cut* place, const Cut& step) {
  WordVectors<count> vectors;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    const bool is_there = vectors.is_there[i] = first + static_cast<uint32_t>(i) * threads < end;
    vectors.cuts[i] = {is_there ? place->number : static_cast<uint32_t>(job.units - 1), is_there ? place->at : 0};
    *place = advance(*place, step, static_cast<uint32_t>(job.row));
  }
  return vectors;
}

// `head` bytes of the output precede the first vector.
template <class Index, class Job, class Gate>
GATHER_SHARED bool copy_word_vectors(const Job& job, bool blank, uint32_t thread, uint32_t threads, uint32_t head,
                                     Gate& gate) {
  constexpr int count = loads_in_flight;
  const uint32_t lane = thread % warp_threads;
  const uint32_t end = static_cast<uint32_t>((job.units * job.row - static_cast<int64_t>(head)) / vector_bytes);
  char* const out = job.out + static_cast<int64_t>(head);
  bool raced = false;
  if (thread - lane >= end) return raced;
  Cut place = cut(job, thread, head);
  const Cut step = cut(job, threads, 0);
  WordVectors<count> vectors = plan_vectors<count>(job, thread, threads, end, &place, step);
  SharedRows<Index, count, Job> rows;
  rows.load(job, vectors, lane, blank);
  for (uint32_t first = thread; first - lane < end;) {
    Sources sources[count];
    Bytes16 made[count];
    rows.find(job, vectors, blank, sources, &raced);
    const bool are_copied = make_vectors<count>(job, vectors.cuts, sources, made);
    char* to = out + static_cast<int64_t>(first) * vector_bytes;
    first += threads * count;
    const WordVectors<count> next = plan_vectors<count>(job, first, threads, end, &place, step);
    rows.load(job, next, lane, blank);
    if (!gate.lets_store()) return raced;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i, to += static_cast<int64_t>(threads) * vector_bytes) {
      if (!vectors.is_there[i]) continue;
      if (are_copied || job.fills)
        store_out<16>(to, made[i], job.evicts_first);
      else
        store_parts(to, sources[i], smaller_of(static_cast<uint32_t>(job.row) - vectors.cuts[i].at, vector_bytes),
                    made[i]);
    }
    vectors = next;
  }
  return raced;
}

template <class Index, class Job, class Gate>
GATHER_SHARED bool copy_words(const Job& job, bool blank, uint32_t thread, uint32_t threads, Gate& gate) {
  const uint32_t head = head_of(job);
  const bool raced = copy_word_vectors<Index>(job, blank, thread, threads, head, gate);
  return copy_borders<Index>(job, blank, thread, head, gate) || raced;
}

}  // namespace gather::cuda
