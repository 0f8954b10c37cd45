#pragma once

#if !defined(_WIN32)
#include <pthread.h>
#endif

#include <atomic>
#include <cstddef>
#include <cstdint>

// The functions of the operating system that the library uses. os.cpp is for every system, and os_posix.cpp for every
// POSIX system. os_linux.cpp, os_macos.cpp and os_windows.cpp are for one system each, and a port adds another such
// file. No function here allocates memory or is a cancellation point. No object here needs a constructor.
namespace gather::core {

#if defined(_WIN32)
using Thread = void*;       // a HANDLE
using SystemMutex = void*;  // an SRWLOCK
#define GATHER_SYSTEM_MUTEX_INIT nullptr
#else
using Thread = pthread_t;
using SystemMutex = pthread_mutex_t;
#define GATHER_SYSTEM_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
#endif

// ---- CPUs and memory

// Returns the number of CPUs that this process may use. It depends on the affinity of the main thread and on the quota
// of the cgroups. It is at least 1. The number is updated at most once per second.
int32_t available_cpus();

// Returns the number of CPUs that the quota of the cgroups allows, or 0 without a quota. `membership` is the path of a
// file such as /proc/self/cgroup. `mount` is the folder in which cgroups are mounted, such as /sys/fs/cgroup.
int32_t cgroup_cpus(const char* membership, const char* mount);

// Requests huge pages for new memory if it is large enough. Without them, page faults of a new output can take longer
// than the gather that writes it. The system may ignore the request.
void advise_huge_pages(void* data, int64_t bytes);

// Returns pages that are zero, or nullptr. See core/os/memory.hpp.
void* map_pages(size_t bytes) noexcept;
void unmap_pages(void* memory, size_t bytes) noexcept;
void advise_unused(void* memory, size_t bytes) noexcept;

// Returns random bits. The copies of the library in one process get different bits, and so does each load of a copy.
uint64_t random_bits();

// ---- Waiting

// Sleeps while the word has the value, for at most `microseconds`. A negative number means no limit. It may return
// early.
void sleep_while(const std::atomic<uint32_t>& word, uint32_t value, int64_t microseconds = -1);
// Polls the word while it has the value, for at most some tens of microseconds. For a short wait this takes less time
// than a sleep. Returns false if the word still has the value.
bool spin_while(const std::atomic<uint32_t>& word, uint32_t value);
// Wakes at most `count` threads that sleep on the word.
void wake(const std::atomic<uint32_t>& word, int32_t count);
// Sleeps for some microseconds. Unlike a yield, this also lets threads of a lower priority run.
void nap();

// A lock for critical sections of a few instructions. lock() is one atomic operation, and unlock() is one store. A
// thread that waits longer sleeps for short times. The lock stores the thread that holds it. So a child of fork can
// detect that the holder does not exist in the child. Therefore fork needs no lock, and any thread may call it while
// this lock is held.
class Lock {
 public:
  void lock() {
    if (!try_lock()) wait();
  }
  bool try_lock() {
    uintptr_t unheld = 0;
    return holder_.compare_exchange_strong(unheld, self(), std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unlock() { holder_.store(0, std::memory_order_release); }

  // Releases the lock in a child of fork if a thread held it that does not exist in the child. Returns true in this
  // case. The guarded data may then be half changed. If the forking thread holds the lock, it stays held, because that
  // thread called fork in a signal handler and continues afterwards.
  bool outlive_holder();

 private:
  // Returns a number that is unique among the threads of the process. The thread pointer is the fastest such number. On
  // macOS for aarch64, the register that compilers read for it does not contain the thread pointer. On Windows, it is the
  // address of the thread's environment block, which the block itself contains.
  static uintptr_t self() {
#if defined(_WIN32)
    uintptr_t block;
    asm("movq %%gs:0x30, %0" : "=r"(block));
    return block;
#elif !defined(__APPLE__) && (defined(__x86_64__) || defined(__aarch64__))
    return reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
#else
    return (uintptr_t)pthread_self();
#endif
  }
  void wait();

  std::atomic<uintptr_t> holder_{0};
};

// A lock for long critical sections.
class Mutex {
 public:
  void lock();
  void unlock();

 private:
  SystemMutex mutex_ = GATHER_SYSTEM_MUTEX_INIT;
};

// ---- Processes and forks. Windows has no forks.

int64_t process_id();

// The state that a child of fork resets, in this order.
enum class ForkOrder : uint8_t { handles, threads, device, count };

// Registers a function that runs once in each child, before the child uses the state. Call it from a constructor, so
// that it is registered before the first fork.
void reset_in_children(ForkOrder order, void (*reset)());

// Runs the resets if they have not run in this process. This is necessary in a child that was created without fork
// handlers, or in which the handler of another library runs first.
void notice_fork();

// ---- Threads

// Starts a thread. It has the nice value of the main thread and no real-time priority, even if its creator has others.
// It blocks all signals except those that its own instructions raise. `stack` does not include the thread-local memory
// of the program. Returns false if the system cannot start a thread.
bool start_thread(Thread* thread, int64_t stack, void* (*body)(void*));

// Returns the CPU that runs this thread, or -1 if it is unknown.
int32_t current_cpu();

// Sets the affinity of a thread to that of the main thread without `cpu`. It includes `cpu` if there is no other CPU.
// If all CPUs are busy, the system starts a woken thread on the CPU of the thread that woke it. The two would then
// share one CPU.
void keep_off(Thread thread, int32_t cpu);

// Waits for the end of a thread.
void join_thread(Thread thread);

// Returns true if the threads of the library end when the library is unloaded or the process exits. On Windows they
// cannot be joined then, because a thread needs the lock of the loader to end. So the first thread keeps the library
// loaded until the process exits, which ends all threads first.
constexpr bool ends_threads_on_unload() {
#if defined(_WIN32)
  return false;
#else
  return true;
#endif
}

// Disables cancellation of the current thread during the lifetime of the object. A hook may contain a cancellation
// point. A thread that ended inside the library would never release its locks and memory. Windows has no cancellation.
class Uncancelled {
 public:
  Uncancelled();
  ~Uncancelled();
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = 0;
};

}  // namespace gather::core
