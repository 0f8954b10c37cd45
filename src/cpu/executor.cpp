#include "cpu/executor.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/os/os.hpp"

// The library's thread pool. The first large call starts the threads, and shut_down() joins them. One call uses them at
// a time. All objects here are trivially constructible and destructible, so loading, unloading and fork need no
// ordering.
namespace gather::cpu {
namespace {

constexpr int32_t max_workers = 1023;
// More threads than CPUs bring no speed. A call may still request this number of threads on a machine with fewer CPUs.
constexpr int32_t threads_on_any_machine = 16;
// Up to this number of workers, they are kept off the CPU of the caller. With more CPUs, a woken worker finds an idle
// CPU.
constexpr int32_t worth_placing = 8;
constexpr int64_t stack_bytes = 256 * 1024;

struct Work {
  gth_task_fn task;
  void* arg;
  int64_t n;
  std::atomic<int64_t> next;
};

struct Pool {
  core::Lock in_use;  // held by the call that uses the threads
  Work* work;
  // The number of workers that may still join the work, or `stopping`. Workers sleep while it is 0.
  std::atomic<uint32_t> open_slots;
  // The number of workers that sleep, or are about to.
  std::atomic<uint32_t> sleepers;
  // The number of workers that have finished the work. The bit caller_sleeps is set while the caller sleeps.
  std::atomic<uint32_t> finished;
  int32_t workers;
  int32_t placed;        // the number of workers that are kept off excluded_cpu
  int32_t excluded_cpu;  // -1: none
  core::Thread threads[max_workers];
};

constexpr uint32_t stopping = UINT32_MAX;
constexpr uint32_t caller_sleeps = 1u << 31;

Pool pool;

// A child process has no threads of its parent.
void forget_threads() {
  pool.in_use.outlive_holder();
  pool.open_slots = 0;
  pool.sleepers = 0;
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

void finish() {
  if (pool.finished.fetch_add(1, std::memory_order_acq_rel) & caller_sleeps) core::wake(pool.finished, 1);
}

// Waits until workers may join. A worker that has spun for a while sleeps.
void await_work() {
  if (core::spin_while(pool.open_slots, 0)) return;
  pool.sleepers.fetch_add(1);
  core::sleep_while(pool.open_slots, 0);
  pool.sleepers.fetch_sub(1);
}

// Sets the slots and wakes workers that sleep. The order of the two variables is the reverse of that in await_work().
// So either this function reads the new number of sleepers, or the worker reads the new slots.
void open(uint32_t slots, int32_t workers) {
  pool.open_slots.store(slots);
  if (pool.sleepers.load() > 0) core::wake(pool.open_slots, workers);
}

void* worker(void*) {
  for (uint32_t slots = 0; slots != stopping; slots = pool.open_slots.load(std::memory_order_acquire)) {
    if (slots == 0) {
      await_work();
    } else if (pool.open_slots.compare_exchange_weak(slots, slots - 1, std::memory_order_acq_rel)) {
      run_tasks(pool.work);
      finish();
    }
  }
  return nullptr;
}

// Starts workers up to `wanted`. Returns the number that is available. With fewer workers, the result is the same.
int32_t ensure_workers(int32_t wanted) {
  while (pool.workers < wanted && core::start_thread(&pool.threads[pool.workers], stack_bytes, worker)) {
    ++pool.workers;
  }
  return std::min(pool.workers, wanted);
}

// Keeps the workers off the CPU on which the caller runs.
void place_workers() {
  const int32_t cpu = pool.workers <= worth_placing ? core::current_cpu() : -1;
  if (cpu != pool.excluded_cpu) pool.placed = 0;
  pool.excluded_cpu = cpu;
  for (; pool.placed < pool.workers; ++pool.placed) core::keep_off(pool.threads[pool.placed], cpu);
}

// Waits until the `joined` workers have finished. Precondition: no worker can join any more.
void wait_for(uint32_t joined) {
  for (uint32_t finished = pool.finished.load(std::memory_order_acquire); (finished & ~caller_sleeps) != joined;
       finished = pool.finished.load(std::memory_order_acquire)) {
    if (finished & caller_sleeps) {
      core::sleep_while(pool.finished, finished);
    } else if (!core::spin_while(pool.finished, finished)) {
      pool.finished.compare_exchange_strong(finished, finished | caller_sleeps);
    }
  }
}

// Runs the work on the caller and the workers. The caller always runs the first task, so its caches still hold that
// data in the next call.
void run_on_pool(int32_t threads, Work* work) {
  work->next.store(1, std::memory_order_relaxed);
  const auto helpers = static_cast<int32_t>(std::min<int64_t>(threads, work->n) - 1);
  const auto slots = static_cast<uint32_t>(ensure_workers(helpers));
  place_workers();
  pool.work = work;
  pool.finished.store(0, std::memory_order_relaxed);
  open(slots, static_cast<int32_t>(slots));
  work->task(work->arg, 0);
  run_tasks(work);
  wait_for(slots - pool.open_slots.exchange(0, std::memory_order_acq_rel));
}

}  // namespace

int32_t thread_count(const Executor& executor) {
  if (executor.threads == 0) return core::available_cpus();
  return std::min(executor.threads, std::max(core::available_cpus(), threads_on_any_machine));
}

void parallel_for(const Executor& executor, int64_t n, gth_task_fn task, void* arg) {
  if (n == 0) return;
  if (executor.parallel_for) {
    const core::Uncancelled uncancelled;
    return executor.parallel_for(executor.user, n, task, arg);
  }
  Work work{task, arg, n, {0}};
  core::notice_fork();
  // If another call uses the threads, the calling thread runs all tasks, because the CPUs are busy.
  if (!pool.in_use.try_lock()) return run_tasks(&work);
  const std::lock_guard<core::Lock> guard(pool.in_use, std::adopt_lock);
  run_on_pool(thread_count(executor), &work);
}

void shut_down() {
  core::notice_fork();
  const std::lock_guard<core::Lock> guard(pool.in_use);
  open(stopping, pool.workers);
  for (int32_t i = 0; i < pool.workers; ++i) core::join_thread(pool.threads[i]);
  pool.workers = pool.placed = 0;
  pool.open_slots.store(0, std::memory_order_relaxed);
}

// Joins all threads, so that none runs library code after the library has been unloaded.
__attribute__((destructor)) static void end_threads() {
  if (core::ends_threads_on_unload()) shut_down();
}

}  // namespace gather::cpu
