#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "floats.hpp"
#include "grid.hpp"

// The runtime of PTX that translate.py has translated to C++. It runs one thread of a block at a time, from barrier to
// barrier. Each access is checked against the rules of the hardware, and each breach is counted as a violation.
namespace ptx {

constexpr int shared_bytes = 48 << 10;
constexpr int frame_bytes = 64 << 10;

// The shared memory of one block. Between two barriers, no thread may read what another one writes.
class Shared {
 public:
  void begin_block();
  void pass_barrier() { ++epoch_; }
  char* access(uint64_t at, uint64_t bytes, uint32_t thread, bool writes, bool atomic);

 private:
  struct Touch {
    uint32_t epoch, thread;
    bool atomic;
  };
  bool conflicts(const Touch& last, uint32_t thread, bool atomic) const;

  alignas(16) char bytes_[shared_bytes];
  Touch reads_[shared_bytes] = {};
  Touch writes_[shared_bytes] = {};
  uint32_t epoch_ = 0;  // number of the barrier in front, or of the beginning of the block
};

void violate(const char* what);

template <class T>
T smaller(uint64_t a, uint64_t b) {
  return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b);
}
template <class T>
T larger(uint64_t a, uint64_t b) {
  return static_cast<T>(a) > static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b);
}

// The event that a thread waits for, or none after its end.
enum class Waits : uint8_t { none, warp, block };

struct Thread {
  uint32_t thread, block, blocks;
  char* arguments;
  uint64_t argument_bytes;
  Shared* shared;
  Grid* grid;
  char* frame;

  int waits_at = 0;  // number of the place where it stopped
  Waits waits_for = Waits::none;
  bool votes = false;                            // its vote at a barrier of the block
  bool verdict = false;                          // the result of the vote
  uint32_t offers = 0;                           // the value for the warp
  uint32_t asks = 0, segments = 0, members = 0;  // the requested lane, as in shfl.sync.idx
  uint32_t gets = 0;
  std::vector<int>* path = nullptr;  // the executed stretches, if they are recorded

  void enter(int stretch) {
    if (path) path->push_back(stretch);
  }

  // Waits until the previous kernel has ended.
  void wait_for_previous();

  const char* read_global(uint64_t at, uint64_t bytes, Order order) { return global(at, bytes, false, order); }
  char* write_global(uint64_t at, uint64_t bytes, Order order) { return global(at, bytes, true, order); }
  const char* read_shared(uint64_t at, uint64_t bytes) { return shared->access(at, bytes, thread, false, false); }
  char* write_shared(uint64_t at, uint64_t bytes) { return shared->access(at, bytes, thread, true, false); }
  const char* read_param(uint64_t at, uint64_t bytes) { return aligned(at, bytes); }
  char* write_param(uint64_t at, uint64_t bytes) { return aligned(at, bytes); }
  const char* read_local(uint64_t at, uint64_t bytes) { return aligned(at, bytes); }
  char* write_local(uint64_t at, uint64_t bytes) { return aligned(at, bytes); }
  // Reads an address of a parameter or of global memory.
  const char* read_generic(uint64_t at, uint64_t bytes) {
    return at - reinterpret_cast<uintptr_t>(arguments) < argument_bytes ? aligned(at, bytes)
                                                                        : global(at, bytes, false, Order::weak);
  }
  // Functions write to addresses in global memory only.
  char* write_generic(uint64_t at, uint64_t bytes) { return global(at, bytes, true, Order::weak); }

  template <class T>
  T atomic_add_global(uint64_t at, uint64_t value, Order order) {
    return exchange<T>(global(at, sizeof(T), true, order), [=](T old) { return static_cast<T>(old + value); });
  }
  template <class T>
  T atomic_larger_global(uint64_t at, uint64_t value, Order order) {
    return exchange<T>(global(at, sizeof(T), true, order), [=](T old) { return larger<T>(old, value); });
  }
  template <class T>
  T atomic_smaller_global(uint64_t at, uint64_t value, Order order) {
    return exchange<T>(global(at, sizeof(T), true, order), [=](T old) { return smaller<T>(old, value); });
  }
  template <class T>
  Bits<T> atomic_sum_global(uint64_t at, uint64_t value, Order order) {
    return exchange<Bits<T>>(global(at, sizeof(T), true, order),
                             [=](Bits<T> old) { return atomic_sum<T>(old, value); });
  }
  template <class T>
  void atomic_sums_global(uint64_t at, std::initializer_list<uint64_t> values, Order order) {
    char* to = global(at, sizeof(T) * values.size(), true, order);
    for (const uint64_t value : values) {
      exchange<Bits<T>>(to, [=](Bits<T> old) { return atomic_sum<T>(old, value); });
      to += sizeof(T);
    }
  }
  template <class T>
  T compare_and_swap_global(uint64_t at, uint64_t before, uint64_t after, Order order) {
    return exchange<T>(global(at, sizeof(T), true, order),
                       [=](T old) { return old == static_cast<T>(before) ? static_cast<T>(after) : old; });
  }
  template <class T>
  T atomic_smaller_shared(uint64_t at, uint64_t value) {
    return exchange<T>(shared->access(at, sizeof(T), thread, true, true),
                       [=](T old) { return smaller<T>(old, value); });
  }

 private:
  static char* aligned(uint64_t at, uint64_t bytes) {
    if (at % bytes != 0) violate("misaligned");
    return reinterpret_cast<char*>(at);
  }
  char* global(uint64_t at, uint64_t bytes, bool writes, Order order);

  template <class T, class F>
  static T exchange(char* at, F&& f) {
    T old;
    std::memcpy(&old, at, sizeof old);
    const T now = f(old);
    std::memcpy(at, &now, sizeof now);
    return old;
  }
};

// Runs a thread to its next wait or to its end.
using Run = void (*)(Thread& t);

struct Kernel {
  const char* name;
  Run run;
};

// The stretches of a function extend from its first one to that of the next function.
struct Function {
  int first;
  bool is_kernel;
};

// The translated PTX of one source.
struct Module {
  const Kernel* kernels;
  int kernel_count;
  // The machine instructions of stretches of PTX without a branch. Without a disassembler, there are none.
  const int* stretches;
  const Function* functions;
  int function_count;
};
extern const Module gather_kernels, scatter_kernels, bag_kernels, bag_step_kernels, partition_kernels;

// ---- instructions that need more than an operator

inline uint64_t address_of(const char* at) { return reinterpret_cast<uintptr_t>(at); }

template <class T>
auto loaded(const char* at, int i) {
  T value;
  std::memcpy(&value, at + i * static_cast<int>(sizeof value), sizeof value);
  return value;
}

template <class T>
void store(char* at, int i, uint64_t value) {
  const T part = static_cast<T>(value);
  std::memcpy(at + i * static_cast<int>(sizeof part), &part, sizeof part);
}

template <class T>
using Twice = std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
                                 std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <class T>
T multiply_low(uint64_t a, uint64_t b) {
  return static_cast<T>(a * b);
}
template <class T>
T multiply_high(uint64_t a, uint64_t b) {
  static_assert(sizeof(T) <= 4);
  return static_cast<T>((static_cast<Twice<T>>(static_cast<T>(a)) * static_cast<T>(b)) >> (8 * sizeof(T)));
}
template <class T>
Twice<T> multiply_wide(uint64_t a, uint64_t b) {
  static_assert(sizeof(T) <= 4);
  return static_cast<Twice<T>>(static_cast<T>(a)) * static_cast<T>(b);
}

template <class T>
T divide(uint64_t a, uint64_t b) {
  if (static_cast<T>(b) == 0) {
    violate("division by zero");
    return static_cast<T>(~uint64_t{0});
  }
  return static_cast<T>(static_cast<T>(a) / static_cast<T>(b));
}
template <class T>
T remainder(uint64_t a, uint64_t b) {
  return static_cast<T>(static_cast<T>(a) - divide<T>(a, b) * static_cast<T>(b));
}
// A shift by more than the number of bits gives 0, or the sign.
template <class T>
T shift_left(uint64_t a, uint32_t by) {
  return by < 8 * sizeof(T) ? static_cast<T>(static_cast<T>(a) << by) : T{0};
}
template <class T>
T shift_right(uint64_t a, uint32_t by) {
  const T value = static_cast<T>(a);
  if (by < 8 * sizeof(T)) return static_cast<T>(value >> by);
  return std::is_signed_v<T> && value < T{0} ? static_cast<T>(-1) : T{0};
}

inline uint32_t funnel_left(uint32_t low, uint32_t high, uint32_t by) {
  return static_cast<uint32_t>(((uint64_t{high} << 32 | low) << (by & 31)) >> 32);
}

inline uint32_t funnel_left_clamped(uint32_t low, uint32_t high, uint32_t by) {
  return by < 32 ? funnel_left(low, high, by) : low;
}

inline uint32_t funnel_right(uint32_t low, uint32_t high, uint32_t by) {
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) >> (by & 31));
}

// Returns four bytes of a and b. Four bits select each. The highest of them selects the sign of the byte.
inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors) {
  uint32_t result = 0;
  for (uint32_t at = 0; at < 32; at += 8) {
    const uint32_t selector = selectors >> at / 2;
    const uint32_t byte = static_cast<uint8_t>((uint64_t{b} << 32 | a) >> 8 * (selector & 7));
    result |= (selector & 8 ? byte >> 7 ? 0xffu : 0u : byte) << at;
  }
  return result;
}

// Returns `bits` bits from `position` on. The highest bit is the sign of a signed number.
template <class T>
T extract(uint32_t a, uint32_t position, uint32_t bits) {
  const uint64_t wide = static_cast<uint64_t>(static_cast<int64_t>(static_cast<T>(a)));
  if (bits == 0) return 0;
  return static_cast<T>(static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(
                            wide >> (position & 31) << (64 - (bits & 63))) >>
                        (64 - (bits & 63)));
}

// Returns b with the lowest `bits` bits of a inserted at `position`.
template <class T>
T insert(uint64_t a, uint64_t b, uint32_t position, uint32_t bits) {
  const uint64_t mask = ((uint64_t{1} << bits) - 1) << position;
  return static_cast<T>((b & ~mask) | (a << position & mask));
}

}  // namespace ptx
