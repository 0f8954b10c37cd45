#pragma once

#include <cstdint>

#include "cuda/shared.hpp"

// Atomic accesses to global memory, through which blocks of one grid and overlapping grids communicate. They are
// relaxed unless a comment names an order.
namespace gather::cuda {

GATHER_SHARED uint64_t load(const uint64_t* word) {
#ifdef __CUDA_ARCH__
  uint64_t value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
#else
  GATHER_STEP();
  return __atomic_load_n(word, __ATOMIC_RELAXED);
#endif
}

// Adds atomically and returns the old value.
GATHER_SHARED uint64_t add(uint64_t* word, uint64_t value) {
#ifdef __CUDA_ARCH__
  uint64_t before;
  asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;" : "=l"(before) : "l"(word), "l"(value) : "memory");
  return before;
#else
  GATHER_STEP();
  return __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
#endif
}

// Adds atomically with acquire and release order, and returns the old value. A thread that finds the contribution of
// others also finds their earlier writes.
GATHER_SHARED uint64_t arrive(uint64_t* word, uint64_t value) {
#ifdef __CUDA_ARCH__
  uint64_t before;
  asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;" : "=l"(before) : "l"(word), "l"(value) : "memory");
  return before;
#else
  GATHER_STEP();
  return __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
#endif
}

// Sets the word to `value` if it is smaller.
GATHER_SHARED void raise(uint64_t* word, uint64_t value) {
#ifdef __CUDA_ARCH__
  asm volatile("red.relaxed.gpu.global.max.u64 [%0], %1;" : : "l"(word), "l"(value) : "memory");
#else
  uint64_t seen = load(word);
  GATHER_STEP();
  while (seen < value && !__atomic_compare_exchange_n(word, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}

// Stores with release order at system scope. A host thread that loads the value with acquire order also sees all
// earlier writes.
GATHER_SHARED void publish(uint64_t* word, uint64_t value) {
#ifdef __CUDA_ARCH__
  asm volatile("st.release.sys.global.u64 [%0], %1;" : : "l"(word), "l"(value) : "memory");
#else
  GATHER_STEP();
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
#endif
}

// Replaces `before` by `after` with acquire order, and returns true if it did. The earlier writes of the thread that
// stored `before` are then visible.
GATHER_SHARED bool compare_exchange(uint64_t* word, uint64_t before, uint64_t after) {
#ifdef __CUDA_ARCH__
  uint64_t found;
  asm volatile("atom.acq_rel.gpu.global.cas.b64 %0, [%1], %2, %3;"
               : "=l"(found)
               : "l"(word), "l"(before), "l"(after)
               : "memory");
  return found == before;
#else
  GATHER_STEP();
  return __atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
#endif
}

// The value of a locked word. Every other value means unlocked, so a thread never waits for a word that was not a lock.
constexpr uint64_t locked = 0x6c6f636b65646761;

// Locks the word. The owner must not wait for other threads before it unlocks, because they may belong to any block of
// any grid.
GATHER_SHARED void lock(uint64_t* word) {
  for (;;) {
    const uint64_t seen = load(word);
    if (seen == locked)
      GATHER_PAUSE(word, locked);
    else if (compare_exchange(word, seen, locked))
      return;
  }
}

GATHER_SHARED void unlock(uint64_t* word) { publish(word, 0); }

}  // namespace gather::cuda
