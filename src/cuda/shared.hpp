#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cuda/launch_limits.hpp"

// The code of the kernels is compiled twice. nvcc compiles it for the device. The host compiler compiles it for tests
// that run the kernels without a GPU. This file contains the few differences.
#ifdef __CUDACC__
#define GATHER_SHARED __host__ __device__ __forceinline__      // parts of kernels
#define GATHER_KERNEL __device__ __forceinline__               // complete kernels, which need a block
#define GATHER_SELDOM inline __host__ __device__ __noinline__  // code that is too rare to be inlined in every kernel
#else
#define GATHER_SHARED inline
#define GATHER_KERNEL inline
#define GATHER_SELDOM inline
#endif

// A test can define this macro to be notified of every access of the host version, and then checks its alignment.
#ifndef GATHER_TOUCH
#define GATHER_TOUCH(address, bytes) ((void)0)
#endif

// A test can stop the host version before each atomic access, and where it waits for a word to change. So it can run
// the accesses of several threads in every order.
#ifndef GATHER_STEP
#define GATHER_STEP() ((void)0)
#define GATHER_PAUSE(word, seen) ((void)0)
#endif

namespace gather::cuda {

// 16 bytes of memory. lo has the first eight.
struct Bytes16 {
  uint64_t lo, hi;
};

template <int bytes>
struct VectorOf;
template <>
struct VectorOf<16> {
  using Type = Bytes16;
};
template <>
struct VectorOf<8> {
  using Type = uint64_t;
};
template <>
struct VectorOf<4> {
  using Type = uint32_t;
};
template <>
struct VectorOf<2> {
  using Type = uint16_t;
};
template <>
struct VectorOf<1> {
  using Type = uint8_t;
};
template <int bytes>
using Vector = typename VectorOf<bytes>::Type;

// Loads aligned bytes from params through the read-only cache. No thread writes params during a call.
template <int bytes>
GATHER_SHARED Vector<bytes> load_params(const char* at) {
#ifdef __CUDA_ARCH__
  if constexpr (bytes == 16) {
    const ulonglong2 both = __ldg(reinterpret_cast<const ulonglong2*>(at));
    return {both.x, both.y};
  } else if constexpr (bytes == 8) {
    return __ldg(reinterpret_cast<const unsigned long long*>(at));
  } else if constexpr (bytes == 4) {
    return __ldg(reinterpret_cast<const unsigned int*>(at));
  } else if constexpr (bytes == 2) {
    return __ldg(reinterpret_cast<const unsigned short*>(at));
  } else {
    return __ldg(reinterpret_cast<const unsigned char*>(at));
  }
#else
  GATHER_TOUCH(at, bytes);
  Vector<bytes> value;
  std::memcpy(&value, at, bytes);
  return value;
#endif
}

#ifdef __CUDACC__
// Returns `value` as a vector type of CUDA's header.
template <int bytes>
__device__ __forceinline__ auto native(Vector<bytes> value) {
  if constexpr (bytes == 16) {
    return make_ulonglong2(value.lo, value.hi);
  } else if constexpr (bytes == 8) {
    return static_cast<unsigned long long>(value);
  } else {
    return value;
  }
}
#endif

// Stores aligned bytes to the output. evicts_first: the cache evicts these lines first, because the output would
// otherwise displace the table.
template <int bytes>
GATHER_SHARED void store_out(char* at, Vector<bytes> value, [[maybe_unused]] bool evicts_first) {
#ifdef __CUDA_ARCH__
  __builtin_assume(__isGlobal(at));
  const auto stored = native<bytes>(value);
  auto* to = reinterpret_cast<std::remove_const_t<decltype(stored)>*>(at);
  if (evicts_first)
    __stcs(to, stored);
  else
    *to = stored;
#else
  GATHER_TOUCH(at, bytes);
  std::memcpy(at, &value, bytes);
#endif
}

// Loads from indices. The load is volatile and relaxed. So the compiler and the assembler do not load twice. So the
// validated value is the used value even if another thread writes the memory. Blocks that validate the same indices
// find them in the cache.
template <int bytes>
GATHER_SHARED Vector<bytes> load_index_bits(const char* at) {
#ifdef __CUDA_ARCH__
  Vector<bytes> value;
  if constexpr (bytes == 8) {
    asm volatile("ld.relaxed.cta.global.u64 %0, [%1];" : "=l"(value) : "l"(at));
  } else if constexpr (bytes == 4) {
    asm volatile("ld.relaxed.cta.global.u32 %0, [%1];" : "=r"(value) : "l"(at));
  } else {
    uint32_t wide;
    asm volatile("ld.relaxed.cta.global.u8 %0, [%1];" : "=r"(wide) : "l"(at));
    value = static_cast<uint8_t>(wide);
  }
  return value;
#else
  GATHER_TOUCH(at, bytes);
  struct __attribute__((packed)) Unaligned {
    Vector<bytes> value;
  };
  return reinterpret_cast<const volatile Unaligned*>(at)->value;
#endif
}

// Returns the eight bytes from byte bits / 8 (0 to 7) of the sixteen bytes lo and hi.
GATHER_SHARED uint64_t funnel_down(uint64_t lo, uint64_t hi, uint32_t bits) {
#ifdef __CUDA_ARCH__
  const uint32_t words[] = {static_cast<uint32_t>(lo), static_cast<uint32_t>(lo >> 32), static_cast<uint32_t>(hi),
                            static_cast<uint32_t>(hi >> 32)};
  const bool skips = bits >= 32;
  const uint32_t a = skips ? words[1] : words[0], b = skips ? words[2] : words[1], c = skips ? words[3] : words[2];
  return uint64_t{__funnelshift_r(b, c, bits)} << 32 | __funnelshift_r(a, b, bits);
#else
  return bits ? lo >> bits | hi << (64 - bits) : lo;
#endif
}

// Returns a mask of the first `count` bytes of eight, or of all eight if `count` is larger.
GATHER_SHARED uint64_t first_bytes(uint32_t count) {
#ifdef __CUDA_ARCH__
  const uint32_t bits = 8 * count;
  return uint64_t{__funnelshift_lc(~0u, 0, bits < 32 ? 0 : bits - 32)} << 32 | __funnelshift_lc(~0u, 0, bits);
#else
  return count < 8 ? (uint64_t{1} << 8 * count) - 1 : ~uint64_t{0};
#endif
}

constexpr uint32_t warp_threads = 32;

#ifdef __CUDACC__
// Returns the value of the i-th of four neighbouring threads. All threads of the warp call this together.
template <class T>
__device__ __forceinline__ T from_neighbour(T value, int i) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(__shfl_sync(~0u, reinterpret_cast<unsigned long long>(value), i, 4));
  } else {
    return __shfl_sync(~0u, value, i, 4);
  }
}

// Returns the value of a thread of the warp. All threads of the warp call this together.
template <class T>
__device__ __forceinline__ T from_lane(T value, uint32_t lane) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(__shfl_sync(~0u, reinterpret_cast<unsigned long long>(value), static_cast<int>(lane)));
  } else {
    return __shfl_sync(~0u, value, static_cast<int>(lane));
  }
}
#endif

}  // namespace gather::cuda
