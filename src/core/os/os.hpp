#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

// All that the library asks of the operating system. os.cpp is for every POSIX system, os_linux.cpp and os_macos.cpp for
// one each: a port to another is one more of these. Nothing here allocates, needs a constructor, or is a cancellation
// point.
namespace gather::core {

// ---- CPUs and memory

// CPUs that this process may use: the affinity of its main thread, whoever calls, within the quota of its cgroups. At
// least 1. Counted anew when the last count is a second old.
int32_t available_cpus();

// CPUs that the cgroups named in `membership` (/proc/self/cgroup) pay for, where they are mounted in `mount`
// (/sys/fs/cgroup); 0: no quota, or no cgroups.
int32_t cgroup_cpus(const char* membership, const char* mount);

// Asks for huge pages behind new memory that is large enough for them: a fresh output costs more than the gather into
// it, page by page. A wish; nothing depends on it.
void advise_huge_pages(void* data, int64_t bytes);

// Zeroed pages, or nullptr; see core/os/memory.hpp.
void* map_pages(size_t bytes) noexcept;
void unmap_pages(void* memory, size_t bytes) noexcept;
void advise_unused(void* memory, size_t bytes) noexcept;

// ---- Waiting

// Sleeps while the word has the value, for at most `microseconds` (negative: for ever); may wake early.
void sleep_while(const std::atomic<uint32_t>& word, uint32_t value, int64_t microseconds = -1);
// Looks at the word again and again while it has the value, for some tens of microseconds at most: what is about to
// come costs less so than a sleep and a wake. False: it still has the value.
bool spin_while(const std::atomic<uint32_t>& word, uint32_t value);
// Wakes at most `count` threads that sleep on the word.
void wake(const std::atomic<uint32_t>& word, int32_t count);
// Lets other threads run, those of a lower priority included, which a yield would not.
void nap();

// A lock for a handful of instructions: one atomic operation to take, a plain store to give back; whoever waits longer
// than that, naps. Knows its holder, and in a child of fork that the holder is not there any more: fork may be called
// while it is held, by any thread, and takes no lock.
class Lock {
 public:
  void lock() {
    if (!try_lock()) wait();
  }
  bool try_lock() {
    uintptr_t nobody = 0;
    return holder_.compare_exchange_strong(nobody, self(), std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unlock() { holder_.store(0, std::memory_order_release); }

  // In a child of fork: gives the lock back if a thread held it that is gone. True: what it guards is as that thread
  // left it. What the forking thread holds stays held: it forked in a signal handler and will go on.
  bool outlive_holder();

 private:
  // A number that no other thread of the process has; the cheapest there is. (macOS keeps something else in the register
  // that compilers take for the thread's on aarch64.)
  static uintptr_t self() {
#if !defined(__APPLE__) && (defined(__x86_64__) || defined(__aarch64__))
    return reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
#else
    return (uintptr_t)pthread_self();
#endif
  }
  void wait();

  std::atomic<uintptr_t> holder_{0};
};

// A lock for work that takes its time.
class Mutex {
 public:
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

// ---- Forks

// What a child of fork resets, in this order.
enum class ForkOrder : uint8_t { handles, threads, device, count };

// The reset runs once in each child, before anything there uses what it resets. To be called from a constructor, so
// that no fork is missed.
void reset_in_children(ForkOrder order, void (*reset)());

// Runs the resets if this is a child in which they have not been run: one that was made without fork handlers, or one
// in which another library's handler comes first.
void notice_fork();

// ---- Threads

// Starts a thread of the process's own ways, not of its creator's: the main thread's nice value, no real-time priority,
// and signals left to the threads of the program, but for those that a thread's own instructions
// raise. `stack` does not count the program's thread-local memory. False: no thread can be had.
bool start_thread(pthread_t* thread, int64_t stack, void* (*body)(void*));

// The CPU that this thread is on; -1: not known.
int32_t current_cpu();

// Gives a thread the affinity of the main thread without `cpu`, or with it where there is no other. Where all CPUs are
// busy a woken thread is put on the one of its waker, and takes the place of the thread that it was to help.
void keep_off(pthread_t thread, int32_t cpu);

// Waits for the end of a thread.
void join_thread(pthread_t thread);

// As long as one lives, its thread is not cancelled: a hook may reach a cancellation point, and a thread that ends
// inside the library would take what it holds with it.
class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace gather::core
