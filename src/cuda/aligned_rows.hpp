#pragma once

#include "cuda/resolve_tuple.hpp"

// The work of one thread of a copying kernel. Each function copies the part of the output that belongs to its thread.
// It returns true if it met an invalid index (bounds = error). It calls its gate between the loads and the stores, and
// stores nothing if the gate is closed.
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
#ifdef __CUDA_ARCH__
#pragma unroll(Job::exact_loops ? Job::exact_loops : 1)
#endif
    for (int32_t i = loops_of(job); i-- > 0;) {
      const JobLoop& loop = job.loop[i];
      const uint32_t next = Job::exact_loops && i == 0 ? 0 : divide(number, job.divider[i]);
      const int64_t at = static_cast<int64_t>(number - next * static_cast<uint32_t>(loop.extent));
      number = next;
      row.from += at * loop.params;
      row.tuple += at * loop.index;
      row.to += at * loop.out;
    }
  }
  return row;
}

template <class Index, int count, class Job>
GATHER_SHARED void load_values(const Job& job, const Placed* rows, int32_t component, int64_t* values) {
  const char* tuples[size_t{count}];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) tuples[i] = rows[i].tuple;
  load_values<Index, count>(job, tuples, component, values);
}

template <class Index, class Job>
GATHER_SHARED bool is_padding(const Job& job, const Placed& row) {
  return job.has_padding && pads<Index>(job, row.tuple);
}

// Adds the offsets that the components of `count` tuples select. If the kernel knows the number of components, it loads
// all of them at once. loaded: see resolve_units.
template <class Index, int count, class Job>
GATHER_SHARED void select_components(const Job& job, const Placed* rows, const int64_t* loaded, int64_t* offsets,
                                     bool* selects) {
  if constexpr (Job::exact_components > 1) {
    int64_t values[size_t{Job::exact_components}][size_t{count}];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int32_t c = 0; c < Job::exact_components; ++c) load_values<Index, count>(job, rows, c, values[c]);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int32_t c = 0; c < Job::exact_components; ++c) {
      select<count>(job, job.component[c], values[c], offsets, selects);
    }
  } else {
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (int32_t c = 0; c < components_of(job); ++c) {
      int64_t values[size_t{count}];
      if (!loaded) load_values<Index, count>(job, rows, c, values);
      select<count>(job, job.component[c], loaded ? loaded : values, offsets, selects);
    }
  }
}

// Finds the sources and targets of `count` rows, component by component, so that the loads of their indices overlap.
// loaded: the values of the first component, or nullptr to load them here. blank: nothing is read and the output
// becomes zeros. Sets `raced` if an index is invalid that was valid before.
template <class Index, int count, class Job>
GATHER_SHARED void resolve_units(const Job& job, const Placed* rows, const int64_t* loaded, bool blank, Unit* units,
                                 bool* raced) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) units[i] = {rows[i].from, rows[i].to, Source::fill};
  if (blank) return;
  int64_t offsets[size_t{count}] = {};
  bool selects[size_t{count}], selects_all = true;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) selects[i] = true;
  select_components<Index, count>(job, rows, loaded, offsets, selects);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    units[i].from += offsets[i];
    units[i].source = Source::params;
    selects_all &= selects[i];
  }
  if (!selects_all) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) {
      if (selects[i]) continue;
      *raced |= job.validation != Validation::none && !(Job::takes_padding && is_padding<Index>(job, rows[i]));
      units[i].source = job.fills ? Source::fill : Source::none;
    }
  }
  if constexpr (Job::takes_padding) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) {
      if (is_padding<Index>(job, rows[i])) units[i].source = job.fills_padding ? Source::fill : Source::none;
    }
  }
}

template <int count, class Job>
GATHER_SHARED void place_all(const Job& job, const uint32_t* numbers, Placed* rows) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) rows[i] = place(job, numbers[i]);
}

template <class Index, int count, class Job>
GATHER_SHARED void find_units(const Job& job, const uint32_t* numbers, bool blank, Unit* units, bool* raced) {
  Placed rows[size_t{count}];
  place_all<count>(job, numbers, rows);
  resolve_units<Index, count>(job, rows, nullptr, blank, units, raced);
}

// The indices of a round. A direct job loads them before the stores of the previous round. In other jobs, their loads
// depend on more than one address, and find_units loads them.
template <class Index, int count, class Job>
class Ahead {
 public:
  GATHER_SHARED void load(const Job& job, const uint32_t* numbers, bool blank) {
    if constexpr (Job::is_direct) {
      Placed rows[size_t{count}];
      place_all<count>(job, numbers, rows);
      if (!blank) load_values<Index, count>(job, rows, 0, values_);
    }
  }
  GATHER_SHARED void find(const Job& job, const uint32_t* numbers, bool blank, Unit* units, bool* raced) const {
    Placed rows[size_t{count}];
    place_all<count>(job, numbers, rows);
    resolve_units<Index, count>(job, rows, Job::is_direct ? values_ : nullptr, blank, units, raced);
  }

 private:
  int64_t values_[Job::is_direct ? size_t{count} : 1];
};

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

// Copies the vector at byte `at` of a row.
template <int V, class Index, class Job, class Gate>
GATHER_SHARED bool copy_vector(const Job& job, uint32_t number, int64_t at, bool blank, Gate& gate) {
  bool raced = false;
  Unit unit;
  find_units<Index, 1>(job, &number, blank, &unit, &raced);
  Vector<V> loaded;
  load_vectors<V, 1>(job, &unit, &at, &loaded);
  if (gate.lets_store() && unit.source != Source::none) store_out<V>(unit.to + at, loaded, job.evicts_first);
  return raced;
}

// Does the work of copy_rows if there are at least as many threads as vectors. The kernel then takes a third of the
// instructions, which limit the time of a small call.
template <int V, class Index, class Job, class Gate>
GATHER_SHARED bool copy_few_rows(const Job& job, bool blank, uint32_t thread, Gate& gate) {
  const uint32_t chunk = divide(thread, job.lane), number = divide(chunk, job.chunk);
  const uint32_t vector = (chunk - number * static_cast<uint32_t>(job.chunks)) * job.lanes + thread - chunk * job.lanes;
  const int64_t at = int64_t{vector} * V;
  if (number >= static_cast<uint32_t>(job.units) || at >= job.row) return false;
  return copy_vector<V, Index>(job, number, at, blank, gate);
}

// The rows that a thread copies in one round.
struct Round {
  uint32_t numbers[size_t{loads_in_flight}];
  int64_t at[size_t{loads_in_flight}];  // offsets of the thread's vectors in the rows
  bool is_there[size_t{loads_in_flight}];
  uint32_t mine;  // the row that this one of four neighbouring threads resolves
};

// The groups of job.lanes threads, and the place of a thread in them.
struct Groups {
  uint32_t count, own, lane;
};

template <int V, class Job>
GATHER_SHARED Round plan_round(const Job& job, const Groups& groups, uint32_t lead, uint32_t all) {
  const uint32_t chunks = static_cast<uint32_t>(job.chunks);
  const uint32_t end = groups.own < groups.count ? all : 0;  // after the last group, threads are idle
  Round round;
  round.mine = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < loads_in_flight; ++i) {
    const uint32_t chunk = lead + groups.own + static_cast<uint32_t>(i) * groups.count;
    const uint32_t number = divide(chunk, job.chunk);
    const int64_t at = static_cast<int64_t>(chunk - number * chunks) * (job.lanes * V) + int64_t{groups.lane} * V;
    const bool is_there = round.is_there[i] = chunk < end && at < job.row;  // threads after the end of a row are idle
    round.numbers[i] = is_there ? number : 0;
    round.at[i] = is_there ? at : 0;
    if (i == static_cast<int>(groups.lane & 3)) round.mine = chunk < end ? number : 0;
  }
  return round;
}

// For rows whose address, size and strides are multiples of V on both sides. job.lanes threads copy a row, or a chunk
// of a long row, with V bytes per thread. All threads of a warp run as many iterations as its first thread. An idle
// thread reads the same memory as the first thread, and writes nothing.
template <int V, class Index, class Job, class Gate>
GATHER_SHARED bool copy_rows(const Job& job, bool blank, uint32_t thread, uint32_t threads, Gate& gate) {
  static_assert(loads_in_flight == 4);
  const uint32_t group = divide(thread, job.lane);
  const Groups groups{divide(threads, job.lane), group, thread - group * job.lanes};
  const uint32_t warp_group = divide(thread & ~31u, job.lane);
  const uint32_t all = static_cast<uint32_t>(job.units) * static_cast<uint32_t>(job.chunks);
  bool raced = false;
  if (warp_group >= all) return raced;
  Round round = plan_round<V>(job, groups, 0, all);
  Ahead<Index, loads_in_flight, Job> ahead;
  ahead.load(job, round.numbers, blank);
  for (uint32_t lead = 0; lead + warp_group < all;) {
    Unit units[loads_in_flight];
    // For a direct job, loading one index is faster than exchanging rows between threads.
    if (!Job::is_direct && job.lanes % 4 == 0)
      find_units_together<Index>(job, round.numbers, round.mine, blank, units, &raced);
    else
      ahead.find(job, round.numbers, blank, units, &raced);
    Vector<V> loaded[loads_in_flight];
    load_vectors<V, loads_in_flight>(job, units, round.at, loaded);
    lead += groups.count * loads_in_flight;
    Round next{};
    if constexpr (Job::is_direct) {
      next = plan_round<V>(job, groups, lead, all);
      ahead.load(job, next.numbers, blank);
    }
    if (!gate.lets_store()) return raced;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < loads_in_flight; ++i) {
      if (!round.is_there[i] || units[i].source == Source::none) continue;
      store_out<V>(units[i].to + round.at[i], loaded[i], job.evicts_first);
    }
    round = Job::is_direct ? next : plan_round<V>(job, groups, lead, all);
  }
  return raced;
}

}  // namespace gather::cuda
