#include "cpu/executor.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>

#include "cpu/os.hpp"

// The library's threads: started by the first large call, one call at a time, ended by shut_down(). No object here has
// a constructor or destructor, so that loading, unloading and forking stay simple.
namespace gather::cpu {
namespace {

constexpr int32_t most_workers = 1023;
constexpr size_t stack_bytes = 256 * 1024;

struct Work {
  gth_task_fn task;
  void* arg;
  int64_t n;
  std::atomic<int64_t> next;
};

struct Pool {
  pthread_mutex_t turn;  // held by the call that uses the threads
  pthread_mutex_t lock;  // guards what follows
  pthread_cond_t wake;
  pthread_cond_t idle;
  Work* work;          // nullptr: nothing to do
  int64_t generation;  // of work
  int32_t wanted;      // workers that may still join this work
  int32_t active;      // workers inside it
  int32_t workers;
  bool stopping;
  pthread_t threads[most_workers];
};

Pool pool = {PTHREAD_MUTEX_INITIALIZER,
             PTHREAD_MUTEX_INITIALIZER,
             PTHREAD_COND_INITIALIZER,
             PTHREAD_COND_INITIALIZER,
             nullptr,
             0,
             0,
             0,
             0,
             false,
             {}};

// A child has none of its parent's threads, and its locks are as the parent's other threads left them.
void forget_threads() {
  pool.turn = PTHREAD_MUTEX_INITIALIZER;
  pool.lock = PTHREAD_MUTEX_INITIALIZER;
  pool.wake = PTHREAD_COND_INITIALIZER;
  pool.idle = PTHREAD_COND_INITIALIZER;
  pool.work = nullptr;
  pool.wanted = pool.active = pool.workers = 0;
  pool.stopping = false;
}

// From loading on: a fork that another thread makes during the first large call has to be seen as well.
__attribute__((constructor)) void watch_forks() { pthread_atfork(nullptr, nullptr, forget_threads); }

void run_tasks(Work* work) {
  for (;;) {
    const int64_t i = work->next.fetch_add(1, std::memory_order_relaxed);
    if (i >= work->n) return;
    work->task(work->arg, i);
  }
}

void* worker(void*) {
  int64_t done = 0;
  pthread_mutex_lock(&pool.lock);
  for (;;) {
    while (!pool.stopping && !(pool.work && pool.wanted > 0 && pool.generation != done)) {
      pthread_cond_wait(&pool.wake, &pool.lock);
    }
    if (pool.stopping) break;
    Work* work = pool.work;
    done = pool.generation;
    --pool.wanted;
    ++pool.active;
    pthread_mutex_unlock(&pool.lock);
    run_tasks(work);
    pthread_mutex_lock(&pool.lock);
    if (--pool.active == 0) pthread_cond_signal(&pool.idle);
  }
  pthread_mutex_unlock(&pool.lock);
  return nullptr;
}

// Our threads leave signals to the threads of the program.
bool start_worker(pthread_t* thread) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, stack_bytes);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(thread, &attributes, worker, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

void ensure_workers(int32_t wanted) {
  if (pool.workers >= wanted) return;
  while (pool.workers < std::min(wanted, most_workers)) {
    if (!start_worker(&pool.threads[pool.workers])) return;  // fewer threads, same result
    ++pool.workers;
  }
}

void run_on_pool(int32_t threads, Work* work) {
  pthread_mutex_lock(&pool.lock);
  const int64_t helpers = std::min<int64_t>(threads, work->n) - 1;
  ensure_workers(static_cast<int32_t>(helpers));
  pool.work = work;
  ++pool.generation;
  pool.wanted = static_cast<int32_t>(helpers);
  pthread_cond_broadcast(&pool.wake);
  pthread_mutex_unlock(&pool.lock);
  run_tasks(work);
  pthread_mutex_lock(&pool.lock);
  pool.work = nullptr;
  while (pool.active > 0) pthread_cond_wait(&pool.idle, &pool.lock);
  pthread_mutex_unlock(&pool.lock);
}

}  // namespace

int32_t thread_count(const Executor& executor) { return executor.threads > 0 ? executor.threads : available_cpus(); }

void parallel_for(const Executor& executor, int64_t n, gth_task_fn task, void* arg) {
  if (executor.parallel_for) return executor.parallel_for(executor.user, n, task, arg);
  Work work{task, arg, n, {0}};
  // Another call has the threads: the machine is busy already, so this one works on its own.
  if (pthread_mutex_trylock(&pool.turn) != 0) return run_tasks(&work);
  run_on_pool(thread_count(executor), &work);
  pthread_mutex_unlock(&pool.turn);
}

void shut_down() {
  pthread_mutex_lock(&pool.turn);
  pthread_mutex_lock(&pool.lock);
  pool.stopping = true;
  const int32_t workers = pool.workers;
  pthread_cond_broadcast(&pool.wake);
  pthread_mutex_unlock(&pool.lock);
  for (int32_t i = 0; i < workers; ++i) pthread_join(pool.threads[i], nullptr);
  pool.workers = 0;
  pool.stopping = false;
  pthread_mutex_unlock(&pool.turn);
}

// Unloading the library must leave no thread behind in its code.
__attribute__((destructor)) static void end_threads() { shut_down(); }

}  // namespace gather::cpu
