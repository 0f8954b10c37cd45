#pragma once

#include <cstdint>

#include "gather/gather.h"

namespace gather::cpu {

// Who runs large calls: the library's threads, or the caller's.
struct Executor {
  int32_t threads;                   // 0: all that this process may use
  gth_parallel_for_fn parallel_for;  // nullptr: the library's threads
  void* user;
};

// The number of threads in force: of the library's own, hardly more than there are CPUs.
int32_t thread_count(const Executor& executor);

// Calls task(arg, i) exactly once for each 0 <= i < n and returns when all have returned. Never fails: where no thread
// can be had, the caller does all the work.
void parallel_for(const Executor& executor, int64_t n, gth_task_fn task, void* arg);

// Ends the library's threads.
void shut_down();

}  // namespace gather::cpu
