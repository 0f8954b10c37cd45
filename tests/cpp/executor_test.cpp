#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <atomic>
#include <new>
#include <stdexcept>

#include "files.hpp"
#include "guarded.hpp"
#include "hostile.hpp"
#include "limits.hpp"
#include "processes.hpp"
#include "tasks.hpp"

extern "C" __attribute__((weak)) int64_t gth_testing_allocations(void);

// The threads that run large calls: their number, their signals, affinity and priority, and threads that are cancelled.
// Exceptions of an executor of the caller.
namespace {

using namespace hostile;

constexpr int32_t u8 = GTH_DTYPE_UINT8;

// Exceeds the stack of the library's threads.
thread_local volatile char ballast[400 * 1024];

// Has enough work for many threads in every build.
class Large {
 public:
  explicit Large(int32_t threads = 3, const char* params = nullptr) {
    options_.threads = threads;
    for (int64_t i = 0; i < n; ++i) values_[static_cast<size_t>(i)] = i % rows;
    desc_ = table_.desc();
    if (params) desc_.data = params;
  }

  int32_t call(gth_context* context = nullptr) const {
    return gth_gather(context, &desc_, &i_, &o_, &options_, nullptr);
  }
  bool run() const {
    std::memset(out_.data(), '#', n * width);
    return call() == GTH_OK && std::memcmp(out_.data() + (n - rows) * width, desc_.data, rows * width) == 0;
  }
  int32_t allocate(gth_context* context) const {
    const Tensor params(desc_), indices(i_);
    gth_tensor* made = nullptr;
    const int32_t status = calls::gather.make(context, params.get(), indices.get(), nullptr, &options_, &made, nullptr);
    EXPECT_EQ(gth_tensor_release(made), GTH_OK);
    return status;
  }

  static constexpr int64_t rows = 50, width = 400, n = 20000;

 private:
  std::vector<int64_t> values_ = std::vector<int64_t>(n);
  const Array table_{u8, {rows, width}}, out_{u8, {n, width}};
  const Shape shape_{n};
  gth_tensor_desc i_ = describe(GTH_DTYPE_INT64, shape_, values_.data()), o_ = out_.desc(), desc_ = i_;
  gth_options options_ = GTH_OPTIONS_INIT;
};

// Returns the library's threads after they have become idle.
std::set<pid_t> workers_of(const Large& large) {
  EXPECT_EQ(gth_shutdown(), GTH_OK);
  const std::set<pid_t> workers = tasks_started_by([&] { EXPECT_TRUE(large.run()); });
  for (pid_t each : workers) {
    while (status_of(each, "State")[0] != 'S') std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return workers;
}

// ---- number of threads

TEST(Workers, RequestedNumberIsStarted) {
  EXPECT_EQ(workers_of(Large(1)).size(), 0u);
  EXPECT_EQ(workers_of(Large(2)).size(), 1u);
  EXPECT_EQ(workers_of(Large(5)).size(), 4u);
}

TEST(Workers, NumberIsLimitedByTheCpus) {
  gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
  ASSERT_EQ(gth_capabilities(&info, nullptr), GTH_OK);
  EXPECT_LT(workers_of(Large(INT32_MAX)).size(), std::max<size_t>(16, static_cast<size_t>(info.cpu_threads)));
}

// Runs its tasks and counts them.
class Counting {
 public:
  Counting() {
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.threads = INT32_MAX;
    options.parallel_user = this;
    options.parallel_for = [](void* user, int64_t count, gth_task_fn task, void* arg) {
      Counting& self = *static_cast<Counting*>(user);
      self.pieces_ += count;
      self.last_ = count;
      for (int64_t i = 0; i < count; ++i) task(arg, i);
    };
    EXPECT_EQ(gth_context_create(&options, &context_, nullptr), GTH_OK);
  }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
  ~Counting() { EXPECT_EQ(gth_context_release(context_), GTH_OK); }

  gth_context* context() const { return context_; }
  int64_t pieces() const { return pieces_; }
  int64_t last() const { return last_; }  // pieces of the last step

 private:
  std::atomic<int64_t> pieces_{0}, last_{0};
  gth_context* context_ = nullptr;
};

// The library with failure points splits every call.
bool cuts_everything() { return gth_testing_allocations != nullptr; }

// Each piece is large enough to be worth a task, for any requested number of threads.
TEST(Workers, PiecesHaveAMinimumSize) {
  const Counting counting;
  EXPECT_EQ(Large(0).call(counting.context()), GTH_OK);
  EXPECT_GT(counting.pieces(), 1);
  if (!cuts_everything()) {
    EXPECT_LT(counting.pieces(), 1000);  // for 8 MB
  }
}

// A piece has at least `piece_bytes`, so one row less than 17 pieces need is 16 pieces.
TEST(Workers, BytesAtTheBorderOfAPieceDecideTheNumberOfPieces) {
  constexpr int64_t overhead = 16, per_piece = limits::piece_bytes / 1024;
  for (const int64_t missing : {0, 1}) {
    const int64_t rows = 17 * per_piece - missing;
    const Counting counting;
    const Array table(u8, {3, 1024 - overhead}), out(u8, {rows, 1024 - overhead});
    const Array indices = indices64({rows}, std::vector<int64_t>(static_cast<size_t>(rows), 2));
    const gth_tensor_desc p = table.desc(), i = indices.desc(), o = out.desc();
    ASSERT_EQ(gth_gather(counting.context(), &p, &i, &o, nullptr, nullptr), GTH_OK);
    if (!cuts_everything()) {
      EXPECT_EQ(counting.pieces(), 17 - missing);
    }
  }
}

// Bags are cut into at most `bag_parts` parts. Each bag has its own length and ids.
TEST(Workers, BagsAroundTheNumberOfPartsArePooledOnce) {
  constexpr int64_t width = 4096;  // A bag reads 64 KiB on average.
  const Array table(GTH_DTYPE_INT32, {97, width});
  auto* const numbers = reinterpret_cast<int32_t*>(table.data());
  for (int64_t i = 0; i < 97 * width; ++i) numbers[i] = static_cast<int32_t>(i * 2654435761);
  for (const int64_t bags : {limits::bag_parts - 1, limits::bag_parts, limits::bag_parts + 1, 3 * limits::bag_parts}) {
    std::vector<int64_t> ids, lengths;
    for (int64_t bag = 0; bag < bags; ++bag) {
      lengths.push_back(bag * 5 % 9);
      for (int64_t k = 0; k < lengths.back(); ++k) ids.push_back((bag * 31 + k * 7) % 97);
    }
    const Array indices = indices64({static_cast<int64_t>(ids.size())}, ids), counts = indices64({bags}, lengths);
    const Array out(GTH_DTYPE_INT32, {bags, width});
    const gth_tensor_desc p = table.desc(), i = indices.desc(), c = counts.desc(), o = out.desc();
    gth_options options = GTH_OPTIONS_INIT;
    options.bag_format = GTH_BAGS_LENGTHS;
    const Counting counting;
    ASSERT_EQ(gth_gather_bags(counting.context(), &p, &i, &c, nullptr, &o, &options, nullptr), GTH_OK);
    EXPECT_GT(counting.last(), limits::bag_parts / 4);
    EXPECT_LE(counting.last(), limits::bag_parts);
    const auto* const pooled = reinterpret_cast<const int32_t*>(out.data());
    int64_t wrong = 0, first = 0;
    for (int64_t bag = 0; bag < bags; first += lengths[static_cast<size_t>(bag++)]) {
      for (int64_t column = 0; column < width; column += 511) {
        uint32_t sum = 0;
        for (int64_t k = first; k < first + lengths[static_cast<size_t>(bag)]; ++k) {
          sum += static_cast<uint32_t>(numbers[ids[static_cast<size_t>(k)] * width + column]);
        }
        wrong += pooled[bag * width + column] != static_cast<int32_t>(sum);
      }
    }
    EXPECT_EQ(wrong, 0) << bags;
  }
}

// Each part of a scatter reads all indices, so more parts than CPUs cost time and gain nothing. Validation and writing
// zeros may have 16 times as many pieces.
TEST(Workers, PartsOfScattersAreLimitedByTheCpus) {
  gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
  ASSERT_EQ(gth_capabilities(&info, nullptr), GTH_OK);
  const Counting counting;
  const Array target(u8, {64, 32768}), updates(u8, {64, 32768});
  const Array indices = indices64({64}, std::vector<int64_t>(64, 7));
  const gth_tensor_desc t = target.desc(), i = indices.desc(), u = updates.desc();
  ASSERT_EQ(gth_scatter(counting.context(), &t, &i, &u, nullptr, nullptr), GTH_OK);
  ASSERT_EQ(gth_gather_gradient(counting.context(), &t, &i, &u, nullptr, nullptr), GTH_OK);
  EXPECT_GT(counting.pieces(), 1);
  EXPECT_LE(counting.pieces(), 100 * std::max<int64_t>(16, info.cpu_threads));
}

// Each piece packs the columns of the table again, so more pieces than CPUs cost time and gain nothing.
TEST(Workers, PiecesOfPackedTablesAreLimitedByTheCpus) {
  gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
  ASSERT_EQ(gth_capabilities(&info, nullptr), GTH_OK);
  const Counting counting;
  const Array memory(u8, {5, 80000}), rows(u8, {256, 40000});
  const Shape shape{5, 40000}, strides{80000, 2};
  const gth_tensor_desc table = describe(u8, shape, memory.data(), strides.data());
  const Array indices = indices64({256}, std::vector<int64_t>(256, 3));
  const gth_tensor_desc i = indices.desc(), out = rows.desc();
  ASSERT_EQ(gth_gather(counting.context(), &table, &i, &out, nullptr, nullptr), GTH_OK);
  EXPECT_GT(counting.pieces(), 1);
  if (!cuts_everything()) {
    EXPECT_LE(counting.pieces(), std::max<int64_t>(16, info.cpu_threads));
  }
}

// The calling thread has copied these rows before another thread is awake. There are more rows than the fast path
// accepts.
TEST(Workers, SmallCallStaysOnCallingThread) {
  const Array params(u8, {50, 4}), out(u8, {4000, 4});
  const Array indices = indices64({4000}, std::vector<int64_t>(4000, 7));
  const gth_tensor_desc p = params.desc(), i = indices.desc(), o = out.desc();
  const Counting counting;
  EXPECT_EQ(gth_gather(counting.context(), &p, &i, &o, nullptr, nullptr), GTH_OK);
  EXPECT_EQ(counting.pieces() > 0, cuts_everything());
}

int64_t switches_of(const std::set<pid_t>& tasks) {
  int64_t sum = 0;
  for (pid_t each : tasks) sum += std::atoll(status_of(each, "voluntary_ctxt_switches").c_str());
  return sum;
}

// A call wakes the threads that it has work for.
TEST(Workers, OnlyNeededThreadsAreWoken) {
  const std::set<pid_t> workers = workers_of(Large(16));
  ASSERT_EQ(workers.size(), 15u);
  const Large two(2);
  const int64_t before = switches_of(workers), calls = 100;
  for (int64_t i = 0; i < calls; ++i) ASSERT_EQ(two.call(), GTH_OK);
  EXPECT_LT(switches_of(workers) - before, calls * 10);
}

// A call without work wakes no thread and ends no thread.
TEST(Workers, CallsWithoutWorkWakeNoThread) {
  const Shape nothing{0};
  const gth_tensor_desc empty = describe(u8, nothing, nullptr), tuple = describe(GTH_DTYPE_INT64, nothing, nullptr);
  for (int32_t profile = 0; profile <= GTH_PROFILE_JAX_CLIP; ++profile) {
    const std::set<pid_t> workers = workers_of(Large(3));
    const int64_t before = switches_of(workers);
    gth_options options = GTH_OPTIONS_INIT;
    options.profile = profile;
    options.threads = 3;
    for (int32_t i = 0; i < 100; ++i)
      static_cast<void>(gth_gather_nd(nullptr, &empty, &tuple, &empty, &options, nullptr));
    EXPECT_EQ(switches_of(workers), before) << "profile " << profile;
    EXPECT_EQ(tasks_started_by([&] { EXPECT_TRUE(Large(3).run()); }).size(), 0u) << "profile " << profile;
    for (const pid_t each : workers) EXPECT_EQ(tasks().count(each), 1u) << "profile " << profile;
  }
}

// ---- properties of the threads

TEST(Workers, LargeThreadLocalMemoryFits) {
  ballast[0] = 1;
  EXPECT_EQ(workers_of(Large(3)).size(), 2u);
}

TEST(Workers, SignalsAreBlockedInWorkers) {
  const std::set<pid_t> workers = workers_of(Large(3));
  ASSERT_EQ(workers.size(), 2u);
  for (pid_t each : workers) {
    const uint64_t blocked = std::strtoull(status_of(each, "SigBlk").c_str(), nullptr, 16);
    for (int signal : {SIGALRM, SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGUSR1, SIGPROF, SIGPIPE}) {
      EXPECT_TRUE(blocked >> (signal - 1) & 1) << signal;
    }
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
      EXPECT_FALSE(blocked >> (signal - 1) & 1) << signal;
    }
  }
}

#if !GATHER_SANITIZED  // sanitizers handle faults themselves

Guarded* lazy;

// A fault handler makes memory accessible on first access, on any thread.
TEST(Workers, FaultsAreHandledOnWorkers) {
  const int code = wait_for(start_child([]() -> int {
                              static Guarded memory(5);
                              lazy = &memory;
                              memory.allow(hostile::inaccessible);
                              struct sigaction action = {};
                              action.sa_flags = SA_SIGINFO;
                              action.sa_sigaction = [](int, siginfo_t* info, void*) {
                                const char* at = static_cast<char*>(info->si_addr);
                                if (at < lazy->first() || at >= lazy->first() + lazy->size()) _exit(3);
                                mprotect(lazy->first(), lazy->size(), PROT_READ);
                              };
                              if (sigaction(SIGSEGV, &action, nullptr) != 0) return 2;
                              const Large large(4, memory.first());
                              for (int32_t i = 0; i < 200; ++i) {
                                if (large.call() != GTH_OK) return 1;
                                mprotect(memory.first(), memory.size(), PROT_NONE);
                              }
                              return 0;
                            }),
                            patience);
  EXPECT_EQ(code, 0);
}

#endif

// ---- the first caller

int check_ways_of_workers(const Large& large) {
  gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
  cpu_set_t all;
  if (sched_getaffinity(getpid(), sizeof all, &all) != 0) return skipped;
  std::set<pid_t> workers;
  const int cpu = sched_getcpu();
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 5);
    const sched_param lowest{1};
    syscall(SYS_sched_setscheduler, 0, SCHED_RR, &lowest);  // if the process has permission
    EXPECT_EQ(gth_capabilities(&info, nullptr), GTH_OK);
    workers = workers_of(large);
  }).join();
  if (workers.size() != 2) return 1;
  if (info.cpu_threads > CPU_COUNT(&all) || (CPU_COUNT(&all) > 1 && info.cpu_threads == 1)) return 2;
  for (pid_t each : workers) {
    cpu_set_t set;
    if (sched_getaffinity(each, sizeof set, &set) != 0) return 3;
    if (CPU_COUNT(&all) > 1 && CPU_COUNT(&all) < 8 && CPU_ISSET(cpu, &set)) return 6;
    CPU_SET(cpu, &set);  // the caller's CPU, which workers do not use
    if (!CPU_EQUAL(&set, &all)) return 3;
    if (syscall(SYS_sched_getscheduler, each) != SCHED_OTHER) return 4;
    const int of_process = getpriority(PRIO_PROCESS, static_cast<id_t>(getpid()));
    if (geteuid() == 0 && getpriority(PRIO_PROCESS, static_cast<id_t>(each)) != of_process) return 5;
  }
  return 0;
}

TEST(Workers, WorkersInheritFromTheProcessNotTheFirstCaller) {
  const Large large(3);
  const int code = wait_for(start_child([&] { return check_ways_of_workers(large); }), patience);
  if (code == skipped) GTEST_SKIP() << "affinity cannot be asked for here";
  EXPECT_EQ(code, 0);
}

// Tests the affinity of the process at the start, and after a change.
TEST(Workers, AffinityOfTheProcessIsRespected) {
  const Large large(0);
  const int code = wait_for(start_child([&]() -> int {
                              cpu_set_t all, one;
                              if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2) return skipped;
                              gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
                              CPU_ZERO(&one);
                              CPU_SET(sched_getcpu(), &one);
                              sched_setaffinity(0, sizeof one, &one);
                              if (gth_capabilities(&info, nullptr) != GTH_OK) return 4;
                              if (info.cpu_threads != 1) return 1;
                              if (!workers_of(large).empty()) return 2;
                              sched_setaffinity(0, sizeof all, &all);
                              std::this_thread::sleep_for(std::chrono::milliseconds(1100));
                              if (gth_capabilities(&info, nullptr) != GTH_OK) return 4;
                              return info.cpu_threads > 1 || CPU_COUNT(&all) == 1 ? 0 : 3;
                            }),
                            patience);
  if (code == skipped) GTEST_SKIP() << "one CPU";
  EXPECT_EQ(code, 0);
}

// ---- cancellation and exceptions

#if !GATHER_SANITIZED  // the address sanitizer rejects writes to the unwound stack of a cancelled thread

// Runs a body on a thread that has been cancelled. Returns true if the body ran to its end.
template <class Body>
bool finishes_though_cancelled(Body&& body) {
  struct Call {
    Body& body;
    bool finished;
  } call{body, false};
  pthread_t thread;
  EXPECT_EQ(pthread_create(
                &thread, nullptr,
                [](void* arg) -> void* {
                  pthread_cancel(pthread_self());
                  Call& self = *static_cast<Call*>(arg);
                  self.body();
                  self.finished = true;
                  pthread_testcancel();
                  return nullptr;
                },
                &call),
            0);
  void* result = nullptr;
  EXPECT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  return call.finished;
}

// The hooks of this context contain cancellation points.
gth_context* with_cancellation_points() {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.threads = 4;
  options.parallel_for = [](void*, int64_t count, gth_task_fn task, void* arg) {
    pthread_testcancel();
    for (int64_t i = 0; i < count; ++i) task(arg, i);
  };
  options.alloc = [](void*, int64_t bytes, int64_t align, int32_t, int32_t, CUstream_st*) {
    pthread_testcancel();
    const auto unit = static_cast<size_t>(align);
    return std::aligned_alloc(unit, (static_cast<size_t>(bytes) + unit - 1) / unit * unit);
  };
  options.free = [](void*, int64_t, int64_t, int32_t, int32_t, CUstream_st*, void* memory) {
    pthread_testcancel();
    std::free(memory);
  };
  gth_context* context = nullptr;
  EXPECT_EQ(gth_context_create(&options, &context, nullptr), GTH_OK);
  return context;
}

int call_while_cancelled(const Large& large) {
  gth_context* context = with_cancellation_points();
  for (int32_t i = 0; i < 50; ++i) {
    if (!finishes_though_cancelled([&] { EXPECT_EQ(large.call(), GTH_OK); })) return 1;
    if (!finishes_though_cancelled([&] { EXPECT_EQ(gth_shutdown(), GTH_OK); })) return 2;
    if (!finishes_though_cancelled([&] { EXPECT_EQ(large.call(context), GTH_OK); })) return 3;
    if (!finishes_though_cancelled([&] { EXPECT_EQ(large.allocate(context), GTH_OK); })) return 4;
  }
  gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
  if (!finishes_though_cancelled([&] { EXPECT_EQ(gth_capabilities(&info, nullptr), GTH_OK); })) return 5;
  return large.run() && gth_context_release(context) == GTH_OK && !testing::Test::HasFailure() ? 0 : 6;
}

TEST(Cancellation, CallCompletesOnACancelledThread) {
  const Large large;
  EXPECT_EQ(wait_for(start_child([&] { return call_while_cancelled(large); }), patience), 0);
}

// Opening, reading and closing files are cancellation points.
TEST(Cancellation, CallsForFilesCompleteOnACancelledThread) {
  const auto run = [] {
    for (const auto& [mode, resident] :
         {std::pair{GTH_FILES_READ, int64_t{0}}, {GTH_FILES_MAP, 0}, {GTH_FILES_MAP, files::budget}}) {
      files::Table table(300, mode, resident);
      table.in_file(1000).in_file(100, 5, 7);
      if (!finishes_though_cancelled([&] { table.opened(); })) return 1;
      if (!finishes_though_cancelled([&] { EXPECT_TRUE(table.gathers(files::scattered(2000, 1100))); })) return 2;
      const Array indices = indices64({20}, files::counted(0, 20));
      const gth_tensor_desc i = indices.desc();
      const auto prefetch = [&] { EXPECT_EQ(gth_tensor_prefetch(nullptr, table.get(), &i, nullptr, nullptr), GTH_OK); };
      if (!finishes_though_cancelled(prefetch)) return 3;
      if (!finishes_though_cancelled([&] { table.release(); })) return 4;
    }
    return testing::Test::HasFailure() ? 5 : 0;
  };
  EXPECT_EQ(wait_for(start_child(run), patience), 0);
}

// Adopted memory is released although the thread is cancelled.
TEST(Cancellation, DeleterCompletesOnACancelledThread) {
  const Array array(u8, {4});
  const gth_tensor_desc desc = array.desc();
  static int32_t ended;
  ended = 0;
  gth_tensor* tensor = nullptr;
  const gth_deleter_fn deleter = [](void*) {
    pthread_testcancel();
    ++ended;
  };
  ASSERT_EQ(gth_tensor_adopt(nullptr, &desc, deleter, nullptr, &tensor, nullptr), GTH_OK);
  EXPECT_TRUE(finishes_though_cancelled([&] { EXPECT_EQ(gth_tensor_release(tensor), GTH_OK); }));
  EXPECT_EQ(ended, 1);
}

#endif

template <class Exception>
int32_t status_of_thrown() {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.threads = 4;
  options.parallel_for = [](void*, int64_t, gth_task_fn, void*) { throw Exception(); };
  gth_context* context = nullptr;
  EXPECT_EQ(gth_context_create(&options, &context, nullptr), GTH_OK);
  const int32_t status = Large(0).call(context);
  EXPECT_EQ(gth_context_release(context), GTH_OK);
  return status;
}

struct Unexpected {};

TEST(Exceptions, ExceptionsOfHooksDoNotEscape) {
  EXPECT_EQ(status_of_thrown<Unexpected>(), GTH_E_INTERNAL);
  EXPECT_EQ(status_of_thrown<std::bad_alloc>(), GTH_E_NOMEM);
}

}  // namespace
