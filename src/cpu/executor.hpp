#pragma once

#include <cstdint>

#include "gather/gather.h"

namespace gather::cpu {

// The threads that run large calls: threads of the library or of the caller.
struct Executor {
  int32_t threads;                   // 0: one for each CPU that this process may use
  gth_parallel_for_fn parallel_for;  // nullptr: the library's threads
  void* user;
};

// Returns the number of threads in effect. It is limited by the number of CPUs, also for an executor of the caller,
// because each thread of a scatter reads all indices.
int32_t thread_count(const Executor& executor);

// Calls task(arg, i) exactly once for each 0 <= i < n, and returns after all calls have returned. It never fails. If no
// thread is available, the calling thread runs all tasks.
void parallel_for(const Executor& executor, int64_t n, gth_task_fn task, void* arg);

// Stops and joins the library's threads.
void shut_down();

}  // namespace gather::cpu
