#pragma once

#include "cuda/scatter_bodies.hpp"

// The kernel of scatters by atomic operations on elements of 4 or 8 bytes. Each unit of its job is an element.
namespace gather::cuda {

// Combines atomically.
template <class T>
GATHER_SHARED void combine_atomically(int32_t reduction, T* target, T update) {
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

// Combines the elements number, number + step, .. Returns true if an index is invalid that was valid before.
template <class T>
GATHER_SHARED bool combine_elements(const SmallJob& job, const AtomicJob& how, uint32_t number, uint32_t step) {
  constexpr int count = updates_at_once, bytes = sizeof(T);
  const uint32_t units = static_cast<uint32_t>(job.units);
  bool raced = false, ignored = false;
  for (; number < units; number += step * count) {
    uint32_t numbers[count];
    Placed rows[count];
    Unit found[count];
    Vector<bytes> loaded[count];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) {
      const uint32_t each = number + static_cast<uint32_t>(i) * step;
      numbers[i] = each < units ? each : number;
    }
    place_all<count>(job, numbers, rows);
    resolve_units<AnyIndex, count>(job, rows, nullptr, false, found, &ignored);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) loaded[i] = load_params<bytes>(found[i].to);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) {
      if (i > 0 && number + static_cast<uint32_t>(i) * step >= units) break;
      const bool is_padding = job.has_padding && pads<AnyIndex>(job, rows[i].tuple);
      const bool is_valid = found[i].source == Source::params;
      raced |= how.is_validated && !is_valid && !is_padding;
      if (!is_valid || is_padding) continue;
      combine_atomically(how.reduction, reinterpret_cast<T*>(const_cast<char*>(found[i].from)),
                         same_bits<T>(loaded[i]));
    }
  }
  return raced;
}

template <class T, class Block>
GATHER_KERNEL void atomic_body(Block& block, const SmallJob& job, const AtomicJob& how) {
  const bool refused = how.is_validated && load(&job.state->is_refused);
  const uint32_t threads = block.threads();
  const bool raced = block.any([&](uint32_t thread) {
    return !refused && combine_elements<T>(job, how, block.index() * threads + thread, block.count() * threads);
  });
  if (raced) report_race(block, job);
}

}  // namespace gather::cuda
