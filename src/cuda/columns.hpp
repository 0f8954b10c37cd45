#pragma once

#include "cuda/aligned_rows.hpp"
#include "cuda/bodies.hpp"
#include "cuda/numbers.hpp"

// Kernels that combine rows of numbers divide them into columns: vectors, of which a thread computes one at a time.
namespace gather::cuda {

// Returns true if a validating kernel has refused the call.
template <class Job>
GATHER_SHARED bool is_refused(const Job& job) {
  return job.state && load(&job.state->is_refused);
}

// Reports that an operand was changed after the validation, once for each call.
template <class Job>
GATHER_SELDOM void note_change(const Job& job, int32_t operand) {
  if (add(&job.state->raced, 1) == 0) note_failure(job.record, race_failure(job.sequence, operand));
}

// The offsets of a column from the beginning of its slice, in the operand that is written and in the one that is read.
struct Column {
  int64_t target, updates;
};

template <class Job>
GATHER_SELDOM Column column_in_loops(const Job& job, int64_t number, int64_t bytes) {
  int64_t row = quotient_of(number, job.vectors);
  const int64_t at = (number - row * job.vectors) * bytes;
  Column column{at, at};
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int32_t i = job.loops; i-- > 0;) {
    const int64_t next = quotient_of(row, job.loop[i].extent), step = row - next * job.loop[i].extent;
    column.target += step * job.loop[i].target;
    column.updates += step * job.loop[i].updates;
    row = next;
  }
  return column;
}

template <class Job>
GATHER_SHARED Column column_of(const Job& job, int64_t number, int64_t bytes) {
  return job.loops > 0 ? column_in_loops(job, number, bytes) : Column{number * bytes, number * bytes};
}

template <int bytes>
GATHER_SELDOM Vector<bytes> load_bytewise_vector(const char* at) {
  Vector<bytes> value;
  char* const to = reinterpret_cast<char*>(&value);
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int i = 0; i < bytes; ++i) to[i] = static_cast<char>(load_params<1>(at + i));
  return value;
}

template <int bytes>
GATHER_SHARED Vector<bytes> load_column(const char* at, bool is_aligned) {
  return bytes == 1 || is_aligned ? load_params<bytes>(at) : load_bytewise_vector<bytes>(at);
}

// Loads aligned bytes that the same thread may have written.
template <int bytes>
GATHER_SHARED Vector<bytes> load_own(const char* at) {
  GATHER_TOUCH(at, bytes);
#ifdef __CUDA_ARCH__
  if constexpr (bytes == 16) {
    const ulonglong2 both = *reinterpret_cast<const ulonglong2*>(at);
    return {both.x, both.y};
  } else {
    return *reinterpret_cast<const Vector<bytes>*>(at);
  }
#else
  Vector<bytes> value;
  std::memcpy(&value, at, bytes);
  return value;
#endif
}

template <int bytes>
GATHER_SHARED Vector<bytes> load_target(const char* at, bool is_aligned) {
  return bytes == 1 || is_aligned ? load_own<bytes>(at) : load_bytewise_vector<bytes>(at);
}

template <int bytes>
GATHER_SELDOM void store_bytewise_vector(char* at, Vector<bytes> value) {
  const char* const from = reinterpret_cast<const char*>(&value);
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int i = 0; i < bytes; ++i) store_out<1>(at + i, static_cast<uint8_t>(from[i]), false);
}

template <int bytes>
GATHER_SHARED void store_column(char* at, bool is_aligned, Vector<bytes> value) {
  if (bytes == 1 || is_aligned)
    store_out<bytes>(at, value, false);
  else
    store_bytewise_vector<bytes>(at, value);
}

// The numbers of a vector.
template <class Type, int bytes>
struct Row {
  static constexpr int count = bytes / static_cast<int>(sizeof(typename Type::Stored));
  typename Type::Value at[size_t{count}];

  GATHER_SHARED void load(Vector<bytes> bits) {
    typename Type::Stored stored[size_t{count}];
    std::memcpy(stored, &bits, bytes);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) at[i] = Type::load(stored[i]);
  }
  GATHER_SHARED Vector<bytes> bits() const {
    typename Type::Stored stored[size_t{count}];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) stored[i] = Type::store(at[i]);
    Vector<bytes> result;
    std::memcpy(&result, stored, bytes);
    return result;
  }
  template <class Operation>
  GATHER_SHARED void combine(const Row& other) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) at[i] = Operation::template of<Type>(at[i], other.at[i]);
  }
  GATHER_SHARED void divide(int64_t terms, bool is_signed) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) at[i] = Type::divide(at[i], terms, is_signed);
  }
};

// Signed integers are compared as unsigned ones whose first bit is inverted: sign_bits has the bits to invert in 8 bytes of
// numbers. They are 0 for all other numbers, for sums and for products. So one kernel has the integers of both types.
template <class Type, int bytes>
GATHER_SHARED Vector<bytes> invert_signs(Vector<bytes> bits, uint64_t sign_bits) {
  if constexpr (!std::is_integral_v<typename Type::Value> || std::is_same_v<Type, Booleans>)
    return bits;
  else if constexpr (bytes == 16)
    return {bits.lo ^ sign_bits, bits.hi ^ sign_bits};
  else
    return static_cast<Vector<bytes>>(bits ^ static_cast<Vector<bytes>>(sign_bits));
}

// Numbers of 2 bytes that are added in float32.
template <class Type>
constexpr bool may_widen = std::is_same_v<typename Type::Value, float> && sizeof(typename Type::Stored) == 2;

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

struct Add {
  template <class Type>
  static GATHER_SHARED typename Type::Value of(typename Type::Value a, typename Type::Value b) {
    return Type::add(a, b);
  }
};
struct Mul {
  template <class Type>
  static GATHER_SHARED typename Type::Value of(typename Type::Value a, typename Type::Value b) {
    return Type::mul(a, b);
  }
};
struct Max {
  template <class Type>
  static GATHER_SHARED typename Type::Value of(typename Type::Value a, typename Type::Value b) {
    return Type::max(a, b);
  }
};
struct Min {
  template <class Type>
  static GATHER_SHARED typename Type::Value of(typename Type::Value a, typename Type::Value b) {
    return Type::min(a, b);
  }
};

// Calls each(i) for the numbers [0, count) of a thread.
template <class Block, class Each>
GATHER_KERNEL void for_numbers(const Block& block, uint32_t thread, int64_t count, Each&& each) {
  const int64_t step = int64_t{block.count()} * block.threads();
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int64_t i = int64_t{block.index()} * block.threads() + thread; i < count; i += step) each(i);
}

// Calls each(row, column) for the columns of a thread. A group of job.lanes threads has job.count rows in turn.
template <class Block, class Job, class Each>
GATHER_KERNEL void for_columns(const Block& block, const Job& job, uint32_t thread, Each&& each) {
  const uint32_t group = block.threads() / job.lanes, lane = thread % job.lanes;
  const int64_t items = int64_t{job.count} * job.chunks, step = int64_t{block.count()} * group;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int64_t item = int64_t{block.index()} * group + thread / job.lanes; item < items; item += step) {
    const int64_t row = job.chunks == 1 ? item : quotient_of(item, job.chunks);
    const int64_t column = (item - row * job.chunks) * job.lanes + lane;
    if (column < job.columns) each(static_cast<decltype(job.count)>(row), column);
  }
}

// Calls visit(std::integral_constant<int, bytes>{}) for the bytes of a vector of numbers, or those of a number.
template <class Type, class Visit>
auto visit_vector(bool is_wide, Visit&& visit) {
  constexpr int item = static_cast<int>(sizeof(typename Type::Stored));
  if (is_wide) return visit(std::integral_constant<int, bytes_of_vector(item)>{});
  return visit(std::integral_constant<int, item>{});
}

// The same for vectors that are copied.
template <class Visit>
auto visit_bytes(int bytes, Visit&& visit) {
  switch (bytes) {
    case 16: return visit(std::integral_constant<int, 16>{});
    case 8: return visit(std::integral_constant<int, 8>{});
    case 4: return visit(std::integral_constant<int, 4>{});
    case 2: return visit(std::integral_constant<int, 2>{});
    default: return visit(std::integral_constant<int, 1>{});
  }
}

}  // namespace gather::cuda
