#include "cpu/reduce.hpp"

#include "cpu/numbers.hpp"

namespace gather::cpu {
namespace {

using core::Number;
using core::Plan;

template <class Kind>
typename Kind::Value load(const char* at) {
  typename Kind::Stored memory;
  std::memcpy(&memory, at, sizeof memory);
  return Kind::load(memory);
}

template <class Kind>
void store(char* at, typename Kind::Value value) {
  const typename Kind::Stored memory = Kind::store(value);
  std::memcpy(at, &memory, sizeof memory);
}

struct Add {
  template <class Kind>
  static typename Kind::Value of(typename Kind::Value a, typename Kind::Value b) {
    return Kind::add(a, b);
  }
};

struct Mul {
  template <class Kind>
  static typename Kind::Value of(typename Kind::Value a, typename Kind::Value b) {
    return Kind::mul(a, b);
  }
};

// The result is NaN if either operand is NaN.
struct Max {
  template <class Kind>
  static typename Kind::Value of(typename Kind::Value a, typename Kind::Value b) {
    return b <= a || Kind::is_nan(a) ? a : b;
  }
};

struct Min {
  template <class Kind>
  static typename Kind::Value of(typename Kind::Value a, typename Kind::Value b) {
    return a <= b || Kind::is_nan(a) ? a : b;
  }
};

template <class Kind, class Operation>
void reduce_elements(char* target, const int64_t* offsets, const char* updates, const int64_t* from, int64_t n,
                     int64_t) {
  for (int64_t i = 0; i < n; ++i) {
    char* const at = target + offsets[i];
    store<Kind>(at, Operation::template of<Kind>(load<Kind>(at), load<Kind>(updates + from[i])));
  }
}

// Precondition: target and update do not overlap.
template <class Kind, class Operation>
inline __attribute__((always_inline)) void reduce_row(char* __restrict target, const char* __restrict update,
                                                      int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += int64_t{sizeof(typename Kind::Stored)}) {
    store<Kind>(target + at, Operation::template of<Kind>(load<Kind>(target + at), load<Kind>(update + at)));
  }
}

template <class Kind, class Operation>
void reduce_rows(char* target, const int64_t* offsets, const char* updates, const int64_t* from, int64_t n,
                 int64_t row) {
  for (int64_t i = 0; i < n; ++i) reduce_row<Kind, Operation>(target + offsets[i], updates + from[i], row);
}

// The number of bytes that are reduced without a branch. It halves the time of sums and products, but doubles the time
// of maximum and minimum.
constexpr int64_t unrolled_bytes = 64;

template <class Kind, class Operation>
void reduce_long_rows(char* target, const int64_t* offsets, const char* updates, const int64_t* from, int64_t n,
                      int64_t row) {
  for (int64_t i = 0; i < n; ++i) {
    char* const to = target + offsets[i];
    const char* const update = updates + from[i];
    int64_t at = 0;
    for (; at + unrolled_bytes <= row; at += unrolled_bytes)
      reduce_row<Kind, Operation>(to + at, update + at, unrolled_bytes);
    if (at < row) reduce_row<Kind, Operation>(to + at, update + at, row - at);
  }
}

template <class Kind, class Operation>
WriteRows choose_rows(int64_t row) {
  if (row == int64_t{sizeof(typename Kind::Stored)}) return reduce_elements<Kind, Operation>;
  return reduce_rows<Kind, Operation>;
}

template <class Kind, class Operation>
WriteRows choose_unrolled_rows(int64_t row) {
  return row < unrolled_bytes ? choose_rows<Kind, Operation>(row) : reduce_long_rows<Kind, Operation>;
}

template <class Kind>
WriteRows choose_sum(const Plan& plan) {
  return plan.reduction == GTH_REDUCTION_ADD ? choose_unrolled_rows<Kind, Add>(plan.row.out)
                                             : choose_unrolled_rows<Kind, Mul>(plan.row.out);
}

template <class Kind>
WriteRows choose_any(const Plan& plan) {
  switch (plan.reduction) {
    case GTH_REDUCTION_MAX: return choose_rows<Kind, Max>(plan.row.out);
    case GTH_REDUCTION_MIN: return choose_rows<Kind, Min>(plan.row.out);
    default: return choose_sum<Kind>(plan);
  }
}

template <class T8, class T16, class T32, class T64>
WriteRows choose_integer(const Plan& plan) {
  switch (plan.item.bits) {
    case 8: return choose_any<Integer<T8>>(plan);
    case 16: return choose_any<Integer<T16>>(plan);
    case 32: return choose_any<Integer<T32>>(plan);
    default: return choose_any<Integer<T64>>(plan);
  }
}

WriteRows choose_floating(const Plan& plan) {
  switch (plan.item.bits) {
    case 16: return choose_any<Half>(plan);
    case 32: return choose_any<Floating<float>>(plan);
    default: return choose_any<Floating<double>>(plan);
  }
}

template <class Kind>
void load_row(const char* row, int64_t n, float* values) {
  for (int64_t i = 0; i < n; ++i) values[i] = load<Kind>(row + 2 * i);
}

template <class Kind, class Operation>
void combine_row(const char* row, int64_t n, float* values) {
  for (int64_t i = 0; i < n; ++i) values[i] = Operation::template of<Kind>(values[i], load<Kind>(row + 2 * i));
}

template <class Kind>
void store_row(const float* values, int64_t n, char* row) {
  for (int64_t i = 0; i < n; ++i) store<Kind>(row + 2 * i, values[i]);
}

template <class Kind>
Accumulate accumulate_as(const Plan& plan) {
  const bool adds = plan.reduction == GTH_REDUCTION_ADD;
  return {load_row<Kind>, adds ? combine_row<Kind, Add> : combine_row<Kind, Mul>, store_row<Kind>};
}

}  // namespace

WriteRows choose_reduce(const Plan& plan) {
  switch (plan.number) {
    case Number::boolean: return choose_any<Boolean>(plan);
    case Number::signed_integer: return choose_integer<int8_t, int16_t, int32_t, int64_t>(plan);
    case Number::unsigned_integer: return choose_integer<uint8_t, uint16_t, uint32_t, uint64_t>(plan);
    case Number::floating: return choose_floating(plan);
    case Number::brain_floating: return choose_any<BrainHalf>(plan);
    default: break;
  }
  return plan.item.bits == 64 ? choose_sum<Complex<float>>(plan) : choose_sum<Complex<double>>(plan);
}

Accumulate choose_accumulate(const Plan& plan) {
  return plan.number == Number::floating ? accumulate_as<Half>(plan) : accumulate_as<BrainHalf>(plan);
}

}  // namespace gather::cpu
