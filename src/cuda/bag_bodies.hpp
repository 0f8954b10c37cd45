#pragma once

#include "cuda/bag_checks.hpp"
#include "cuda/columns.hpp"

// The kernel that pools bags. cuda/bodies.hpp describes what a Block has.
namespace gather::cuda {

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
    const Vector<bytes> bits =
        selects[i] ? load_column<bytes>(job.table + offsets[i] + column, job.is_aligned) : first_of<bytes>(job.fill);
    round->columns[i] = invert_signs<Type, bytes>(bits, job.sign_bits);
    const char* const weight = job.weights + bag.weights + (first + i) * job.weight_stride;
    if (job.weights) round->weights[i] = load_weight<Type>(job, weight);
  }
  return is_valid;
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

// Calls each(i, row) for the ids of a round that count, and counts them.
template <class Type, int bytes, class Each>
GATHER_SHARED void for_rows(const PoolRound<Type, bytes>& round, Total<Type>* total, Each&& each) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < round.count; ++i) {
    if (!round.adds[i]) continue;
    ++total->count;
    Row<Type, bytes> row;
    row.load(round.columns[i]);
    each(i, row);
  }
}

template <class Operation, class Type, int bytes>
GATHER_SHARED void combine_round(const PoolRound<Type, bytes>& round, Row<Type, bytes>* row, Total<Type>* total) {
  for_rows(round, total, [&](int, const Row<Type, bytes>& other) { row->template combine<Operation>(other); });
}

template <class Type, int bytes>
GATHER_SHARED void sum_round(const PoolJob& job, const PoolRound<Type, bytes>& round, Row<Type, bytes>* row,
                             Total<Type>* total) {
  for_rows(round, total, [&](int i, const Row<Type, bytes>& other) {
    if (job.weights) {
      add_weight<Type>(job, round.weights[i], total);
      add_weighted(other, round.weights[i], row);
    } else {
      row->template combine<Add>(other);
    }
    if (may_widen<Type> && job.rounds_each) round_sums(row);
  });
}

// Pools a column of the rows of a bag. Returns false if an id is invalid that was valid before.
template <class Type, int bytes>
GATHER_SHARED bool pool_ids(const PoolJob& job, const Bag& bag, int64_t column, Row<Type, bytes>* row,
                            Total<Type>* total) {
  row->load(invert_signs<Type, bytes>(first_of<bytes>(job.start), job.sign_bits));
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
  store_column<bytes>(to, job.is_aligned, invert_signs<Type, bytes>(row.bits(), job.sign_bits));
}

// Returns the offsets of a column. Numbers of the output may be twice as wide as those of the table.
template <class Type, int bytes>
GATHER_SHARED Column place_column(const PoolJob& job, int64_t number) {
  Column column = column_of(job, number, bytes);
  if constexpr (may_widen<Type>) {
    const int64_t in_row = job.loops > 0 ? number - quotient_of(number, job.vectors) * job.vectors : number;
    if (job.widens) column.target += in_row * bytes;
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
    row.load(invert_signs<Type, bytes>(first_of<bytes>(job.empty), job.sign_bits));
  else if (total.count > 0 && divides)
    divide_sums(job, total, &row);
  store_row(job, job.out + bag.out + column.target, row);
  return true;
}

template <class Type, int bytes>
GATHER_SELDOM void zero_column(const PoolJob& job, const Bag& bag, const Column& column) {
  Row<Type, bytes> row;
  row.load(invert_signs<Type, bytes>(Vector<bytes>{}, job.sign_bits));
  store_row(job, job.out + bag.out + column.target, row);
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
// pooled separately. is_wide: a column is a vector, and not an element. Columns of integers are numbers, because bags of
// integers are rare.
template <class Visit>
int visit_pooled(Numbers numbers, bool is_wide, Visit&& visit) {
  const auto with_width = [&](auto type) {
    return visit_vector<decltype(type)>(is_wide, [&](auto bytes) { return visit(type, bytes); });
  };
  const auto of_numbers = [&](auto type) {
    return visit(type, std::integral_constant<int, static_cast<int>(sizeof(typename decltype(type)::Stored))>{});
  };
  switch (numbers) {
    case Numbers::int8:
    case Numbers::uint8: return of_numbers(Integers<uint8_t>{});
    case Numbers::int16:
    case Numbers::uint16: return of_numbers(Integers<uint16_t>{});
    case Numbers::int32:
    case Numbers::uint32: return of_numbers(Integers<uint32_t>{});
    case Numbers::int64:
    case Numbers::uint64: return of_numbers(Integers<uint64_t>{});
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
