#pragma once

#include "cuda/line_job.hpp"
#include "cuda/scatter_bodies.hpp"

// The kernel of scatters by lines.
namespace gather::cuda {

// The place of a line, and the tuples that are loaded at once.
struct Line {
  char* target;
  const char* tuple;
  const char* update;
};

GATHER_SHARED Line line_at(const LineJob& job, int64_t number) {
  Line line{job.target, job.indices, job.updates};
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int32_t i = job.line_loops; i-- > 0;) {
    const LineLoop& loop = job.line[i];
    const int64_t next = number / loop.extent, at = number - next * loop.extent;
    line.target += at * loop.target;
    line.tuple += at * loop.index;
    line.update += at * loop.updates;
    number = next;
  }
  return line;
}

template <class Type>
GATHER_SHARED typename Type::Value combine_values(int32_t reduction, typename Type::Value a, typename Type::Value b) {
  switch (reduction) {
    case GTH_REDUCTION_ADD: return Type::add(a, b);
    case GTH_REDUCTION_MUL: return Type::mul(a, b);
    case GTH_REDUCTION_MAX: return Type::max(a, b);
    default: return Type::min(a, b);
  }
}

// A function of its own, because the code would be large for each of the updates that are loaded at once.
template <int bytes>
GATHER_SELDOM void apply_update(Numbers numbers, int32_t reduction, char* target, Vector<bytes> update) {
  Vector<bytes> result = update;
  if (reduction != GTH_REDUCTION_NONE) {
    const Vector<bytes> before = load_own<bytes>(target);
    visit_of_bytes<bytes>(numbers, [&](auto type) {
      using Type = decltype(type);
      const auto load = [](Vector<bytes> bits) { return Type::load(same_bits<typename Type::Stored>(bits)); };
      result = same_bits<Vector<bytes>>(Type::store(combine_values<Type>(reduction, load(before), load(update))));
    });
  }
  store_out<bytes>(target, result, false);
}

// Processes the updates of a line. Their loads overlap. Returns true if an index has become invalid.
template <int bytes>
GATHER_SHARED bool walk_line(const LineJob& job, const Line& line) {
  constexpr int count = updates_at_once;
  bool raced = false;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int64_t step = 0; step < job.walk.extent; step += count) {
    const char* tuples[count];
    Vector<bytes> loaded[count];
    int64_t offsets[count] = {};
    bool selects[count];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) {
      const int64_t at = step + i < job.walk.extent ? step + i : step;
      tuples[i] = line.tuple + at * job.walk.index;
      loaded[i] = load_params<bytes>(line.update + at * job.walk.updates);
      selects[i] = true;
    }
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (int32_t c = 0; c < job.components; ++c) {
      int64_t values[count];
      load_values<AnyIndex, count>(job, tuples, c, values);
      select<count>(job, job.component[c], values, offsets, selects);
    }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) {
      if (step + i >= job.walk.extent) break;
      const bool is_padding = job.has_padding && pads<AnyIndex>(job, tuples[i]);
      raced |= job.is_validated && !selects[i] && !is_padding;
      if (!selects[i] || is_padding) continue;
      apply_update<bytes>(job.numbers, job.reduction, line.target + offsets[i], loaded[i]);
    }
  }
  return raced;
}

template <int bytes, class Block>
GATHER_KERNEL void line_body(Block& block, const LineJob& job) {
  const bool refused = job.is_validated && load(&job.state->is_refused);
  const bool raced = block.any([&](uint32_t thread) {
    bool result = false;
    const int64_t step = int64_t{block.count()} * block.threads();
    for (int64_t i = int64_t{block.index()} * block.threads() + thread; !refused && i < job.lines; i += step)
      result |= walk_line<bytes>(job, line_at(job, i));
    return result;
  });
  if (raced) report_race(block, job);
}

}  // namespace gather::cuda
