#pragma once

#include "cuda/bag_job.hpp"
#include "cuda/bodies.hpp"

// Kernels that read and validate the operand bags. cuda/bodies.hpp describes what a Block has.
namespace gather::cuda {

GATHER_SELDOM int64_t load_number(const IntegerLine& line, int64_t i) {
  return AnyIndex::load(line, line.first + i * line.stride);
}

// ---- Prefix sums of lengths

// Adds a length to a sum. The result is one more than there are ids if they are too few, or if the length is negative.
GATHER_SHARED uint64_t add_length(const BagsJob& job, uint64_t sum, uint64_t length) {
  const uint64_t most = static_cast<uint64_t>(job.ids_count) + 1;
  return length > most - sum ? most : sum + length;
}

GATHER_SHARED uint64_t length_at(const BagsJob& job, int64_t i) {
  return static_cast<uint64_t>(AnyIndex::load(job.numbers, job.numbers.first + i * job.numbers.stride));
}

// Divides `count` numbers into runs. Calls each(run, first, last) for the run of a thread.
template <class Block, class Each>
GATHER_KERNEL void with_run(const Block& block, int64_t count, uint32_t thread, Each&& each) {
  const int64_t run = int64_t{block.index()} * block.threads() + thread, size = count / sum_runs + 1;
  const int64_t first = run * size < count ? run * size : count;
  const int64_t last = count - first < size ? count : first + size;
  if (run < sum_runs) each(static_cast<uint32_t>(run), first, last);
}

// Computes the sum of each run.
template <class Block>
GATHER_KERNEL void sum_runs_body(Block& block, const BagsJob& job) {
  block.each([&](uint32_t thread) {
    with_run(block, job.count, thread, [&](uint32_t run, int64_t first, int64_t last) {
      uint64_t sum = 0;
      for (int64_t i = first; i < last; ++i) sum = add_length(job, sum, length_at(job, i));
      job.sums[run] = sum;
    });
  });
}

// Computes the first id of each bag, and the end of the last one.
template <class Block>
GATHER_KERNEL void sum_lengths_body(Block& block, const BagsJob& job) {
  block.each([&](uint32_t thread) {
    with_run(block, job.count, thread, [&](uint32_t run, int64_t first, int64_t last) {
      uint64_t sum = 0;
      for (uint32_t i = 0; i < run; ++i) sum = add_length(job, sum, job.sums[i]);
      if (run == 0) job.begin[0] = 0;
      for (int64_t i = first; i < last; ++i) job.begin[i + 1] = sum = add_length(job, sum, length_at(job, i));
    });
  });
}

// ---- Validation of the operand bags

// The result of a rule about the number at a position of bags.
struct NumberFault {
  bool is_bad;
  int64_t value, limit;
};

// A uint64 beyond int64 is negative here.
GATHER_SHARED bool is_beyond(const BagsJob& job, int64_t number, int64_t most) {
  return number > most || (number < 0 && !job.numbers.index_signed);
}

// The position behind the last length stands for the sum.
GATHER_SHARED NumberFault length_fault(const BagsJob& job, int64_t i) {
  const uint64_t ids = static_cast<uint64_t>(job.ids_count);
  if (i == job.count) return {job.begin[i] < ids, static_cast<int64_t>(job.begin[i]), job.ids_count};
  if (job.begin[i + 1] <= ids) return {false, 0, 0};
  const int64_t length = load_number(job.numbers, i);
  const bool is_negative = length < 0 && job.numbers.index_signed;
  return {true, length, is_negative ? 0 : static_cast<int64_t>(ids - job.begin[i])};
}

GATHER_SHARED NumberFault segment_fault(const BagsJob& job, int64_t i) {
  const int64_t segment = load_number(job.numbers, i);
  if (is_beyond(job, segment, job.count - 1)) return {true, segment, job.count};
  const int64_t before = i > 0 ? load_number(job.numbers, i - 1) : 0;
  return {segment < before, segment, before};
}

// The last position is the end of the last bag. It has no number if there are starts.
GATHER_SHARED NumberFault offset_fault(const BagsJob& job, int64_t i) {
  const bool are_offsets = job.format == GTH_BAGS_OFFSETS;
  int64_t offset = job.count > 0 ? job.ids_count : 0;
  if (i < job.count || are_offsets) {
    offset = load_number(job.numbers, i);
    if (i == 0 && offset != 0) return {true, offset, 0};
    if (is_beyond(job, offset, job.ids_count)) return {true, offset, job.ids_count};
    const int64_t before = i > 0 ? load_number(job.numbers, i - 1) : 0;
    if (offset < before) return {true, offset, before};
  }
  const bool ends = i == job.count && offset < job.ids_count && !job.ends_early;
  return {ends, offset, job.ids_count};
}

GATHER_SHARED NumberFault fault_at(const BagsJob& job, int64_t position) {
  switch (job.format) {
    case GTH_BAGS_LENGTHS: return length_fault(job, position);
    case GTH_BAGS_SEGMENTS: return segment_fault(job, position);
    default: return offset_fault(job, position);
  }
}

// Returns the number of ids of all bags.
GATHER_SHARED uint64_t count_read(const BagsJob& job) {
  if (!job.ends_early) return static_cast<uint64_t>(job.ids_count);
  if (job.format == GTH_BAGS_OFFSETS) return static_cast<uint64_t>(load_number(job.numbers, job.count));
  return static_cast<uint64_t>(job.count > 0 ? job.ids_count : 0);
}

GATHER_SHARED gth_error_record bags_failure(const BagsJob& job, int64_t position, int64_t value, int64_t limit) {
  gth_error_record failure = race_failure(job.sequence, GTH_OPERAND_BAGS);
  failure.status = GTH_E_OFFSETS;
  failure.position = position;
  failure.value = value;
  failure.limit = limit;
  if (value < 0 && !job.numbers.index_signed) failure.flags = GTH_ERROR_UNSIGNED;
  return failure;
}

// Returns the failure for a position. It loads the number again, and reports a race if it is valid now.
GATHER_SELDOM gth_error_record failure_at(const BagsJob& job, int64_t position) {
  const NumberFault fault = fault_at(job, position);
  if (!fault.is_bad) return race_failure(job.sequence, GTH_OPERAND_BAGS);
  return bags_failure(job, position, fault.value, fault.limit);
}

// Returns the first of the numbers [0, count) that is bad, among those of a thread.
template <class Block, class IsBad>
GATHER_KERNEL Finding first_bad(const Block& block, uint32_t thread, int64_t count, IsBad&& is_bad) {
  const int64_t step = int64_t{block.count()} * block.threads();
  for (int64_t i = int64_t{block.index()} * block.threads() + thread; i < count; i += step) {
    if (is_bad(i)) return {i, 0, 0};
  }
  return {-1, 0, 0};
}

// Validates all numbers of bags, and initializes the results in the state.
template <class Block>
GATHER_KERNEL void check_bags_body(Block& block, const BagsJob& job) {
  const bool bad = block.finds([&](uint32_t thread) {
    return first_bad(block, thread, positions_of(job), [&](int64_t i) { return fault_at(job, i).is_bad; });
  });
  end_validation(block, job.state, bad, [&](uint64_t worst) {
    if (worst) note_failure(job.record, failure_at(job, static_cast<int64_t>(~worst)));
    job.state->is_refused = worst != 0;
    job.state->read_ids = worst ? 0 : count_read(job);
  });
}

// ---- Bags

// The ids [begin, end) of a bag, and its offsets in ids, weights and the output.
struct Bag {
  int64_t begin, end;
  int64_t ids, weights, out;
};

// Returns the first id from `first` on whose segment is not smaller.
GATHER_SELDOM int64_t find_segment(const BagsJob& job, int64_t segment, int64_t first) {
  int64_t last = job.ids_count;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  while (first < last) {
    const int64_t middle = first + (last - first) / 2;
    if (load_number(job.numbers, middle) < segment)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

GATHER_SHARED void find_ids(const BagsJob& job, int64_t number, Bag* bag) {
  switch (job.format) {
    case GTH_BAGS_DENSE: bag->end = job.length; return;
    case GTH_BAGS_LENGTHS:
      bag->begin = static_cast<int64_t>(job.begin[number]);
      bag->end = static_cast<int64_t>(job.begin[number + 1]);
      return;
    case GTH_BAGS_SEGMENTS:
      bag->begin = find_segment(job, number, 0);
      bag->end = find_segment(job, number + 1, bag->begin);
      return;
    default: {
      const bool is_last_start = job.format == GTH_BAGS_STARTS && number + 1 == job.count;
      bag->begin = load_number(job.numbers, number);
      bag->end = is_last_start ? job.ids_count : load_number(job.numbers, number + 1);
    }
  }
}

// Finds a bag. Returns false if its ids are no ids, because its numbers were changed after the validation.
GATHER_SELDOM bool find_bag(const BagsJob& job, int64_t number, Bag* bag) {
  *bag = {};
  find_ids(job, number, bag);
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int32_t i = job.bag_loops; i-- > 0;) {
    const BagLoop& loop = job.bag_loop[i];
    const int64_t next = i > 0 ? quotient_of(number, loop.extent) : 0, step = number - next * loop.extent;
    bag->ids += step * loop.ids;
    bag->weights += step * loop.weights;
    bag->out += step * loop.out;
    number = next;
  }
  const bool is_dense = job.format == GTH_BAGS_DENSE;
  return is_dense || (0 <= bag->begin && bag->begin <= bag->end && bag->end <= job.ids_count);
}

// Returns true if a bag has an id that is read. Invalid ids count, because they are reported later.
GATHER_SHARED bool has_ids(const BagsJob& job, int64_t number) {
  Bag bag;
  if (!find_bag(job, number, &bag)) return true;
  if (!job.has_padding && !job.skips) return bag.end > bag.begin;
  if (job.ids.stride == 0 && bag.end > bag.begin) bag.end = bag.begin + 1;
  for (int64_t k = bag.begin; k < bag.end; ++k) {
    const int64_t id = AnyIndex::load(job.ids, job.ids.first + bag.ids + k * job.ids.stride);
    const bool is_padding = job.has_padding && id == job.padding;
    if (!is_padding && !(job.skips && resolve_seldom(id, job.rows.size, job.policy) < 0)) return true;
  }
  return false;
}

// Refuses the call if a bag has no id that is read.
template <class Block>
GATHER_KERNEL void find_empty_body(Block& block, const BagsJob& job) {
  const bool bad = block.finds([&](uint32_t thread) {
    const int64_t count = load(&job.state->is_refused) ? 0 : job.count;
    return first_bad(block, thread, count, [&](int64_t bag) { return !has_ids(job, bag); });
  });
  end_validation(block, job.state, bad, [&](uint64_t worst) {
    if (!worst) return;
    note_failure(job.record, bags_failure(job, static_cast<int64_t>(~worst), 0, 1));
    job.state->is_refused = 1;
  });
}

}  // namespace gather::cuda
