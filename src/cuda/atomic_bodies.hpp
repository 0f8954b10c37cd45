#pragma once

#include "cuda/scatter_bodies.hpp"

// The kernel of scatters by atomic operations on elements of 4 or 8 bytes. Each unit of its job is an element, or four
// floats.
namespace gather::cuda {

// Combines atomically.
template <class T>
GATHER_SHARED void combine_atomically_as(int32_t reduction, T* target, T update) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_floating_point_v<T>) {
    atomicAdd(target, update);
  } else {
    using Bits = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned int>;
    using Ordered = std::conditional_t<std::is_unsigned_v<T>, Bits, std::make_signed_t<Bits>>;
    if (reduction == GTH_REDUCTION_MAX)
      atomicMax(reinterpret_cast<Ordered*>(target), static_cast<Ordered>(update));
    else if (reduction == GTH_REDUCTION_MIN)
      atomicMin(reinterpret_cast<Ordered*>(target), static_cast<Ordered>(update));
    else
      atomicAdd(reinterpret_cast<Bits*>(target), static_cast<Bits>(update));
  }
#else
  using Type = std::conditional_t<std::is_floating_point_v<T>, Floats<T>, Integers<T>>;
  GATHER_TOUCH(target, sizeof(T));
  T seen, next;
  __atomic_load(target, &seen, __ATOMIC_RELAXED);
  do {
    if constexpr (std::is_floating_point_v<T>) {
      next = Type::add(seen, update);
    } else {
      next = reduction == GTH_REDUCTION_MAX   ? Type::max(seen, update)
             : reduction == GTH_REDUCTION_MIN ? Type::min(seen, update)
                                              : Type::add(seen, update);
    }
  } while (!__atomic_compare_exchange(target, &seen, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
#endif
}

// Adds four floats. Each sum is atomic.
GATHER_SHARED void combine_atomically_as(int32_t reduction, FourFloats* target, const FourFloats& update) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(target), "f"(update.at[0]), "f"(update.at[1]), "f"(update.at[2]), "f"(update.at[3])
               : "memory");
#else
  for (int i = 0; i < 4; ++i) combine_atomically_as(reduction, &target->at[i], update.at[i]);
#endif
}

template <int bytes>
GATHER_SHARED void combine_atomically(const AtomicJob& how, char* target, Vector<bytes> update) {
  const auto combine = [&](auto number) {
    using T = decltype(number);
    combine_atomically_as(how.reduction, reinterpret_cast<T*>(target), same_bits<T>(update));
  };
  if constexpr (bytes == 16)
    combine(FourFloats{});
  else
    visit_atomic<bytes>(how.numbers, combine);
}

// Combines the elements number, number + step, .. Returns true if an index is invalid that was valid before.
template <int bytes>
GATHER_SHARED bool combine_elements(const SmallJob& job, const AtomicJob& how, uint32_t number, uint32_t step) {
  constexpr int count = updates_at_once;
  const uint32_t units = static_cast<uint32_t>(job.units);
  bool raced = false;
  for (; number < units; number += step * count) {
    UpdateRound round;
    Vector<bytes> loaded[count];
    raced |= find_updates<AnyIndex>(job, how.is_validated, number, step, &round);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) loaded[i] = load_params<bytes>(round.units[i].to);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) {
      if (i > 0 && number + static_cast<uint32_t>(i) * step >= units) break;
      if (round.selects[i]) combine_atomically<bytes>(how, const_cast<char*>(round.units[i].from), loaded[i]);
    }
  }
  return raced;
}

template <int bytes, class Block>
GATHER_KERNEL void atomic_body(Block& block, const SmallJob& job, const AtomicJob& how) {
  const bool refused = how.is_validated && load(&job.state->is_refused);
  const uint32_t threads = block.threads();
  const bool raced = block.any([&](uint32_t thread) {
    return !refused && combine_elements<bytes>(job, how, block.index() * threads + thread, block.count() * threads);
  });
  if (raced) report_race(block, job);
}

}  // namespace gather::cuda
