#include "cpu/executor.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/os/os.hpp"

// The library's threads: started by the first large call, one call at a time, ended by shut_down(). No object here has
// a constructor or destructor, so that loading, unloading and forking stay simple.
namespace gather::cpu {
namespace {

constexpr int32_t most_workers = 1023;
// More threads than CPUs only take turns; so many a call gets even on a small machine.
constexpr int32_t threads_on_any_machine = 16;
// On a machine of more CPUs a woken thread finds one of its own.
constexpr int32_t worth_placing = 8;
constexpr int64_t stack_bytes = 256 * 1024;

struct Work {
  gth_task_fn task;
  void* arg;
  int64_t n;
  std::atomic<int64_t> next;
};

struct Pool {
  core::Lock turn;  // held by the call that uses the threads
  Work* work;
  // How many workers may still join the work; `stopping`: all end. Workers sleep on it while it is 0.
  std::atomic<uint32_t> seats;
  // How many have joined and left, and whether the caller sleeps until all have.
  std::atomic<uint32_t> left;
  int32_t workers;
  int32_t placed;    // how many of them have been kept off ...
  int32_t kept_off;  // ... this CPU
  pthread_t threads[most_workers];
};

constexpr uint32_t stopping = UINT32_MAX;
constexpr uint32_t caller_sleeps = 1u << 31;

Pool pool;

// A child has none of its parent's threads.
void forget_threads() {
  pool.turn.outlive_holder();
  pool.seats = 0;
  pool.workers = pool.placed = 0;
}

__attribute__((constructor)) void watch_forks() { core::reset_in_children(core::ForkOrder::threads, forget_threads); }

void run_tasks(Work* work) {
  for (;;) {
    const int64_t i = work->next.fetch_add(1, std::memory_order_relaxed);
    if (i >= work->n) return;
    work->task(work->arg, i);
  }
}

void leave() {
  if (pool.left.fetch_add(1, std::memory_order_acq_rel) & caller_sleeps) core::wake(pool.left, 1);
}

void* worker(void*) {
  for (uint32_t seats = 0; seats != stopping; seats = pool.seats.load(std::memory_order_acquire)) {
    if (seats == 0) {
      if (!core::spin_while(pool.seats, 0)) core::sleep_while(pool.seats, 0);
    } else if (pool.seats.compare_exchange_weak(seats, seats - 1, std::memory_order_acq_rel)) {
      run_tasks(pool.work);
      leave();
    }
  }
  return nullptr;
}

// Fewer threads, same result.
int32_t ensure_workers(int32_t wanted) {
  while (pool.workers < wanted && core::start_thread(&pool.threads[pool.workers], stack_bytes, worker)) {
    ++pool.workers;
  }
  return std::min(pool.workers, wanted);
}

// Workers run beside the caller, not in its place.
void place_workers() {
  const int32_t cpu = pool.workers <= worth_placing ? core::current_cpu() : -1;
  if (cpu != pool.kept_off) pool.placed = 0;
  pool.kept_off = cpu;
  for (; pool.placed < pool.workers; ++pool.placed) core::keep_off(pool.threads[pool.placed], cpu);
}

// For those that have joined; nobody joins any more.
void wait_for(uint32_t joined) {
  for (uint32_t left = pool.left.load(std::memory_order_acquire); (left & ~caller_sleeps) != joined;
       left = pool.left.load(std::memory_order_acquire)) {
    if (left & caller_sleeps) {
      core::sleep_while(pool.left, left);
    } else {
      pool.left.compare_exchange_strong(left, left | caller_sleeps);
    }
  }
}

// The caller has the first task in each call: what it left in its caches is there in the next.
void run_on_pool(int32_t threads, Work* work) {
  work->next.store(1, std::memory_order_relaxed);
  const auto helpers = static_cast<int32_t>(std::min<int64_t>(threads, work->n) - 1);
  const auto seats = static_cast<uint32_t>(ensure_workers(helpers));
  place_workers();
  pool.work = work;
  pool.left.store(0, std::memory_order_relaxed);
  pool.seats.store(seats, std::memory_order_release);
  core::wake(pool.seats, static_cast<int32_t>(seats));
  work->task(work->arg, 0);
  run_tasks(work);
  wait_for(seats - pool.seats.exchange(0, std::memory_order_acq_rel));
}

}  // namespace

int32_t thread_count(const Executor& executor) {
  if (executor.threads == 0) return core::available_cpus();
  if (executor.parallel_for) return executor.threads;
  return std::min(executor.threads, std::max(core::available_cpus(), threads_on_any_machine));
}

void parallel_for(const Executor& executor, int64_t n, gth_task_fn task, void* arg) {
  if (n == 0) return;  // and wakes nobody
  if (executor.parallel_for) {
    const core::Uncancelled uncancelled;
    return executor.parallel_for(executor.user, n, task, arg);
  }
  Work work{task, arg, n, {0}};
  core::notice_fork();
  // Another call has the threads: the machine is busy already, so this one works on its own.
  if (!pool.turn.try_lock()) return run_tasks(&work);
  const std::lock_guard<core::Lock> guard(pool.turn, std::adopt_lock);
  run_on_pool(thread_count(executor), &work);
}

void shut_down() {
  core::notice_fork();
  const std::lock_guard<core::Lock> guard(pool.turn);
  pool.seats.store(stopping, std::memory_order_release);
  core::wake(pool.seats, pool.workers);
  for (int32_t i = 0; i < pool.workers; ++i) core::join_thread(pool.threads[i]);
  pool.workers = pool.placed = 0;
  pool.seats.store(0, std::memory_order_relaxed);
}

// Unloading the library must leave no thread behind in its code.
__attribute__((destructor)) static void end_threads() { shut_down(); }

}  // namespace gather::cpu
