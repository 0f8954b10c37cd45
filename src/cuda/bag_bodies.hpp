#pragma once

#include "cuda/bag_job.hpp"
#include "cuda/columns.hpp"

// Complete kernels of bags. cuda/bodies.hpp describes what a Block has.
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

// Calls each(first, last) for the lengths of the run of a thread.
template <class Block, class Each>
GATHER_KERNEL void with_run(const Block& block, const BagsJob& job, uint32_t thread, Each&& each) {
  const int64_t run = int64_t{block.index()} * block.threads() + thread, size = job.count / sum_runs + 1;
  const int64_t first = run * size < job.count ? run * size : job.count;
  const int64_t last = job.count - first < size ? job.count : first + size;
  if (run < sum_runs) each(static_cast<uint32_t>(run), first, last);
}

// Computes the sum of each run.
template <class Block>
GATHER_KERNEL void sum_runs_body(Block& block, const BagsJob& job) {
  block.each([&](uint32_t thread) {
    with_run(block, job, thread, [&](uint32_t run, int64_t first, int64_t last) {
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
    with_run(block, job, thread, [&](uint32_t run, int64_t first, int64_t last) {
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
    const int64_t next = i > 0 ? number / loop.extent : 0, step = number - next * loop.extent;
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

// ---- Pools

// Numbers of 2 bytes that are added in float32.
template <class Type>
constexpr bool may_widen = std::is_same_v<typename Type::Value, float> && sizeof(typename Type::Stored) == 2;

// Some successive ids of a bag, and a column of their rows.
template <class Type, int bytes>
struct PoolRound {
  static constexpr int count = loads_in_flight;
  bool adds[size_t{count}];
  Vector<bytes> columns[size_t{count}];
  typename Type::Value weights[size_t{count}];
};

template <class Index, int count>
GATHER_SHARED void load_ids_as(const PoolJob& job, const Bag& bag, int64_t first, int64_t* values) {
  const char* const ids = job.ids.first + bag.ids;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    const int64_t k = first + i < bag.end ? first + i : first;
    values[i] = Index::load(job.ids, ids + k * job.ids.stride);
  }
}

template <int count>
GATHER_SHARED void load_ids(const PoolJob& job, const Bag& bag, int64_t first, int64_t* values) {
  if (job.ids.index_aligned && job.ids.index_bytes == 8) return load_ids_as<Index8, count>(job, bag, first, values);
  if (job.ids.index_aligned && job.ids.index_bytes == 4) return load_ids_as<Index4, count>(job, bag, first, values);
  load_ids_as<AnyIndex, count>(job, bag, first, values);
}

// Loads a weight in the type of the sums.
template <class Type>
GATHER_SHARED typename Type::Value load_weight(const PoolJob& job, const char* at) {
  using Stored = typename Type::Stored;
  if constexpr (std::is_floating_point_v<typename Type::Value>) {
    if (job.has_float32_weights) return same_bits<float>(load_column<4>(at, job.weights_aligned));
  }
  return Type::load(same_bits<Stored>(load_column<static_cast<int>(sizeof(Stored))>(at, job.weights_aligned)));
}

template <int bytes>
GATHER_SHARED Vector<bytes> first_of(const uint64_t* numbers) {
  Vector<bytes> result;
  std::memcpy(&result, numbers, bytes);
  return result;
}

// Loads a column of the rows of some ids. Returns false if an id is invalid that was valid before.
template <class Type, int bytes>
GATHER_SHARED bool load_round(const PoolJob& job, const Bag& bag, int64_t first, int64_t column,
                              PoolRound<Type, bytes>* round) {
  constexpr int count = PoolRound<Type, bytes>::count;
  int64_t values[size_t{count}], offsets[size_t{count}] = {};
  bool selects[size_t{count}], is_valid = true;
  load_ids<count>(job, bag, first, values);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) selects[i] = true;
  select<count>(job, job.rows, values, offsets, selects);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < count; ++i) {
    const bool counts = first + i < bag.end && !(job.has_padding && values[i] == job.padding);
    is_valid &= !counts || selects[i] || !job.refuses;
    round->adds[i] = counts && (selects[i] || job.fills);
    if (!round->adds[i]) continue;
    round->columns[i] =
        selects[i] ? load_column<bytes>(job.table + offsets[i] + column, job.is_aligned) : first_of<bytes>(job.fill);
    const char* const weight = job.weights + bag.weights + (first + i) * job.weight_stride;
    if (job.weights) round->weights[i] = load_weight<Type>(job, weight);
  }
  return is_valid;
}

// Adds a weighted row. Products are rounded, except those of float32 sums.
template <class Type, int bytes>
GATHER_SHARED void add_weighted(const Row<Type, bytes>& other, typename Type::Value weight, Row<Type, bytes>* row) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < Row<Type, bytes>::count; ++i) {
    if constexpr (std::is_same_v<typename Type::Value, float>)
      row->at[i] = multiply_add(weight, other.at[i], row->at[i]);
    else
      row->at[i] = Type::add(row->at[i], Type::mul(weight, other.at[i]));
  }
}

// Rounds sums to the type of the table.
template <class Type, int bytes>
GATHER_SHARED void round_sums(Row<Type, bytes>* row) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < Row<Type, bytes>::count; ++i) row->at[i] = Type::load(Type::store(row->at[i]));
}

// The number of the ids of a bag that are read, and the sum of their weights or of the squares.
template <class Type>
struct Total {
  int64_t count;
  typename Type::Value weights;
};

template <class Type>
GATHER_SHARED void add_weight(const PoolJob& job, typename Type::Value weight, Total<Type>* total) {
  if constexpr (std::is_floating_point_v<typename Type::Value>)
    total->weights = sum_of(total->weights, job.pool == GTH_POOL_SQRTN ? product_of(weight, weight) : weight);
}

template <class Operation, class Type, int bytes>
GATHER_SHARED void combine_round(const PoolRound<Type, bytes>& round, Row<Type, bytes>* row, Total<Type>* total) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < round.count; ++i) {
    if (!round.adds[i]) continue;
    ++total->count;
    Row<Type, bytes> other;
    other.load(round.columns[i]);
    row->template combine<Operation>(other);
  }
}

template <class Type, int bytes>
GATHER_SHARED void sum_round(const PoolJob& job, const PoolRound<Type, bytes>& round, Row<Type, bytes>* row,
                             Total<Type>* total) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < round.count; ++i) {
    if (!round.adds[i]) continue;
    ++total->count;
    Row<Type, bytes> other;
    other.load(round.columns[i]);
    if (job.weights) {
      add_weight<Type>(job, round.weights[i], total);
      add_weighted(other, round.weights[i], row);
    } else {
      row->template combine<Add>(other);
    }
    if (may_widen<Type> && job.rounds_each) round_sums(row);
  }
}

// Pools a column of the rows of a bag. Returns false if an id is invalid that was valid before.
template <class Type, int bytes>
GATHER_SHARED bool pool_ids(const PoolJob& job, const Bag& bag, int64_t column, Row<Type, bytes>* row,
                            Total<Type>* total) {
  row->load(first_of<bytes>(job.start));
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int64_t first = bag.begin; first < bag.end; first += PoolRound<Type, bytes>::count) {
    PoolRound<Type, bytes> round;
    if (!load_round(job, bag, first, column, &round)) return false;
    switch (job.pool) {
      case GTH_POOL_MAX: combine_round<Max>(round, row, total); break;
      case GTH_POOL_MIN: combine_round<Min>(round, row, total); break;
      default: sum_round(job, round, row, total);
    }
  }
  return true;
}

// Divides the sums of a mean or a sqrtn. They become zeros if the divisor is 0.
template <class Type, int bytes>
GATHER_SHARED void divide_sums(const PoolJob& job, const Total<Type>& total, Row<Type, bytes>* row) {
  using Value = typename Type::Value;
  if constexpr (std::is_floating_point_v<Value>) {
    Value divisor = job.weights ? total.weights : static_cast<Value>(total.count);
    if (job.pool == GTH_POOL_SQRTN) divisor = root_of(divisor);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < Row<Type, bytes>::count; ++i) row->at[i] = divisor == 0 ? Value{} : row->at[i] / divisor;
  }
}

// Stores a row, or its numbers as float32.
template <class Type, int bytes>
GATHER_SHARED void store_row(const PoolJob& job, char* to, const Row<Type, bytes>& row) {
  if constexpr (may_widen<Type>) {
    if (job.widens) {
      constexpr int part = bytes == 16 ? 16 : 4;
      for (int at = 0; at < 2 * bytes; at += part) {
        Vector<part> numbers;
        std::memcpy(&numbers, reinterpret_cast<const char*>(row.at) + at, part);
        store_column<part>(to + at, job.is_aligned, numbers);
      }
      return;
    }
  }
  store_column<bytes>(to, job.is_aligned, row.bits());
}

// Returns the offsets of a column. Numbers of the output may be twice as wide as those of the table.
template <class Type, int bytes>
GATHER_SHARED Column place_column(const PoolJob& job, int64_t number) {
  Column column = column_of(job, number, bytes);
  if constexpr (may_widen<Type>) {
    if (job.widens) column.target += (job.loops > 0 ? number % job.vectors : number) * bytes;
  }
  return column;
}

// Computes a column of a bag. Returns false if an id is invalid that was valid before.
template <class Type, int bytes>
GATHER_SHARED bool pool_column(const PoolJob& job, const Bag& bag, const Column& column) {
  Row<Type, bytes> row;
  Total<Type> total{};
  if (!pool_ids(job, bag, column.updates, &row, &total)) return false;
  const bool divides = job.pool == GTH_POOL_MEAN || job.pool == GTH_POOL_SQRTN;
  if (total.count == 0 && job.replaces_empty)
    row.load(first_of<bytes>(job.empty));
  else if (total.count > 0 && divides)
    divide_sums(job, total, &row);
  store_row(job, job.out + bag.out + column.target, row);
  return true;
}

template <class Type, int bytes>
GATHER_SELDOM void zero_column(const PoolJob& job, const Bag& bag, const Column& column) {
  Row<Type, bytes> row;
  row.load(Vector<bytes>{});
  store_row(job, job.out + bag.out + column.target, row);
}

// Reports that an operand was changed after the validation, once for each call.
GATHER_SELDOM void note_change(const PoolJob& job, int32_t operand) {
  if (add(&job.state->raced, 1) == 0) note_failure(job.record, race_failure(job.sequence, operand));
}

// Pools the columns of a thread. Returns true if an id is invalid that was valid before.
template <class Type, int bytes, class Block>
GATHER_KERNEL bool pool_columns(Block& block, const PoolJob& job, uint32_t thread) {
  const bool refused = is_refused(job);
  if (refused && !job.zeroes) return false;
  bool raced = false;
  for_columns(block, job, thread, [&](int64_t number, int64_t at) {
    Bag bag;
    const Column column = place_column<Type, bytes>(job, at);
    const bool is_valid = find_bag(job, number, &bag);
    if (!is_valid && !refused) note_change(job, GTH_OPERAND_BAGS);
    const bool pools = is_valid && !refused, is_pooled = pools && pool_column<Type, bytes>(job, bag, column);
    raced |= pools && !is_pooled;
    if (!is_pooled && job.zeroes) zero_column<Type, bytes>(job, bag, column);
  });
  return raced;
}

// Pools all bags of a call. It writes nothing if the call is refused, or zeros to an output that the library owns.
template <class Type, int bytes, class Block>
GATHER_KERNEL void pool_body(Block& block, const PoolJob& job) {
  const bool raced = block.any([&](uint32_t thread) { return pool_columns<Type, bytes>(block, job, thread); });
  if (raced) block.once([&] { note_change(job, GTH_OPERAND_INDICES); });
}

// Calls visit(Type{}, std::integral_constant<int, bytes>{}) for the numbers of a pool. Parts of complex numbers are
// pooled separately. is_wide: a column has 16 bytes, and not those of an element.
template <class Visit>
int visit_pooled(Numbers numbers, bool is_wide, Visit&& visit) {
  const auto with_width = [&](auto type) {
    return visit_vector<decltype(type)>(is_wide, [&](auto bytes) { return visit(type, bytes); });
  };
  switch (numbers) {
    case Numbers::int8: return with_width(Integers<int8_t>{});
    case Numbers::int16: return with_width(Integers<int16_t>{});
    case Numbers::int32: return with_width(Integers<int32_t>{});
    case Numbers::int64: return with_width(Integers<int64_t>{});
    case Numbers::uint8: return with_width(Integers<uint8_t>{});
    case Numbers::uint16: return with_width(Integers<uint16_t>{});
    case Numbers::uint32: return with_width(Integers<uint32_t>{});
    case Numbers::uint64: return with_width(Integers<uint64_t>{});
    case Numbers::half_in_float: return with_width(HalvesInFloat{});
    case Numbers::brain_half_in_float: return with_width(BrainHalvesInFloat{});
    case Numbers::float32: return with_width(Floats<float>{});
    case Numbers::complex64:
      if (!is_wide) return visit(Floats<float>{}, std::integral_constant<int, 8>{});
      return with_width(Floats<float>{});
    case Numbers::complex128: return visit(Floats<double>{}, std::integral_constant<int, 16>{});
    default: return with_width(Floats<double>{});
  }
}

}  // namespace gather::cuda
