#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>

#include "hostile.hpp"
#include "processes.hpp"
#include "tasks.hpp"

// Hostile environments: threads that write indices, forks, signals, small stacks, no threads, exits.
namespace {

using namespace hostile;

constexpr int32_t u8 = GTH_DTYPE_UINT8;

// A gather that is split into pieces in every build. It contains its expected result.
class Large {
 public:
  Large() {
    for (int64_t i = 0; i < n; ++i) values_[static_cast<size_t>(i)] = i * 31 % 50;
    std::memcpy(indices_.data(), values_.data(), n * 8);
    options_.threads = 3;
  }

  // Safe in a child after fork, because it allocates nothing.
  bool run() const {
    std::memset(out_.data(), '#', n * width);
    const gth_tensor_desc p = params_.desc(), i = indices_.desc(), o = out_.desc();
    if (gth_gather(nullptr, &p, &i, &o, &options_, nullptr) != GTH_OK) return false;
    for (int64_t t = 0; t < n; ++t) {
      const char* row = params_.data() + values_[static_cast<size_t>(t)] * width;
      if (std::memcmp(out_.data() + t * width, row, width) != 0) return false;
    }
    return true;
  }

 private:
  static constexpr int64_t n = 20000, width = 40;
  std::vector<int64_t> values_ = std::vector<int64_t>(n);
  const Array params_{u8, {50, width}}, indices_{GTH_DTYPE_INT64, {n}}, out_{u8, {n, width}};
  gth_options options_ = GTH_OPTIONS_INIT;
};

std::atomic<int64_t> alarms{0};

// GATHER_SIGNAL_SECONDS: duration.
TEST(Hostile, G6_AlarmEvery100MicrosecondsChangesNoResult) {
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int) { alarms.fetch_add(1, std::memory_order_relaxed); };
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);  // without SA_RESTART, so system calls are interrupted
  const itimerval often{{0, 100}, {0, 100}}, never{};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  const Large large;
  const double seconds = environment::seconds("GATHER_SIGNAL_SECONDS", 2);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end && !HasFailure()) {
    EXPECT_TRUE(large.run());
    EXPECT_EQ(gth_shutdown(), GTH_OK);
  }
  ASSERT_EQ(setitimer(ITIMER_REAL, &never, nullptr), 0);
  EXPECT_GT(alarms, 100);
  ASSERT_EQ(sigaction(SIGALRM, &before, nullptr), 0);
}

// The library starts its threads with signals blocked. The mask of the caller is unchanged.
TEST(Hostile, G6_SignalMaskOfTheCallerIsUnchanged) {
  EXPECT_EQ(gth_shutdown(), GTH_OK);
  const Large large;
  ASSERT_TRUE(large.run());
  sigset_t mask;
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &mask), 0);
  for (int signal : {SIGALRM, SIGTERM, SIGINT, SIGUSR1}) EXPECT_EQ(sigismember(&mask, signal), 0);
}

#if !GATHER_TSAN  // the thread sanitizer reports the intended data race, and starts no thread after a fork of threads

// A tensor between inaccessible pages. Row r is filled with r + 1, so a wrong byte is visible, and an access outside
// ends the test.
class GuardedTable {
 public:
  static constexpr int64_t rows = 16, width = 256;

  explicit GuardedTable(int access) {
    char* all =
        static_cast<char*>(mmap(nullptr, 3 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    data = all + size;
    EXPECT_EQ(mprotect(data, size, PROT_READ | PROT_WRITE), 0);
    fill();
    EXPECT_EQ(mprotect(data, size, access), 0);
  }
  ~GuardedTable() { munmap(data - size, 3 * size); }

  void fill() const {
    for (int64_t r = 0; r < rows; ++r) std::memset(data + r * width, static_cast<int>(r + 1), width);
  }

  static constexpr size_t size = rows * width;
  char* data;
};

template <class T>
void flip(std::atomic<bool>* stop, T* indices, int64_t n) {
  const T values[] = {0, 5, 15, 16, T(-1), std::numeric_limits<T>::max(), std::numeric_limits<T>::min(), T(-16)};
  for (uint64_t k = 0; !stop->load(std::memory_order_relaxed); ++k) {
    volatile T* at = indices + k * 2654435761u % static_cast<uint64_t>(n);
    *at = values[k % 8];
    *at = 3;
  }
}

// Each row must be gathered, zero or unchanged, depending on the status.
void check_raced(const Bytes& out, int64_t n, int32_t status, int32_t bounds) {
  ASSERT_TRUE(status == GTH_OK || status == GTH_E_INDEX || status == GTH_E_RACE) << status;
  if (bounds != GTH_BOUNDS_ERROR) {
    ASSERT_EQ(status, GTH_OK);
  }
  for (int64_t t = 0; t < n; ++t) {
    const char* row = out.data() + t * GuardedTable::width;
    const bool is_row = row[0] >= 1 && row[0] <= GuardedTable::rows;
    const bool is_zero = row[0] == 0 && (status == GTH_E_RACE || bounds == GTH_BOUNDS_FILL);
    const bool is_old = row[0] == '#' && (status != GTH_OK || bounds == GTH_BOUNDS_SKIP);
    ASSERT_TRUE(status == GTH_E_INDEX ? row[0] == '#' : is_row || is_zero || is_old)
        << "row " << t << ": " << int(row[0]);
    ASSERT_EQ(std::memcmp(row, row + 1, GuardedTable::width - 1), 0) << "row " << t << " is mixed";
  }
}

// Calls call(n, indices, options) with few and many indices, in every bounds mode, while a writer changes the indices.
template <class T, class Call>
void race(int32_t dtype, double seconds, Call&& call) {
  const int64_t longest = 3000;
  std::vector<T> indices(static_cast<size_t>(longest), 3);
  int64_t calls = 0;
  for (int64_t n : {4, 200, 3000}) {
    std::atomic<bool> stop{false};
    std::thread writer(flip<T>, &stop, indices.data(), n);
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds / 3);
    for (int32_t k = 0; std::chrono::steady_clock::now() < until && !testing::Test::HasFailure(); ++k) {
      gth_options options = with_bounds(1 + k % 5, 1 + k / 5 % 2);
      options.threads = 1 + k / 10 % 3;
      const Shape shape{n, 1};
      call(n, describe(dtype, shape, indices.data()), &options);
      ++calls;
    }
    stop = true;
    writer.join();
    std::fill(indices.begin(), indices.end(), T{3});
  }
  std::printf("race: %lld calls\n", static_cast<long long>(calls));
}

// Makes the most frequent index padding in some calls.
void pad(int64_t n, gth_options* options) {
  options->has_padding_index = n % 5 == 0;
  options->padding_index = n % 5 == 0 ? 3 : 0;
}

template <class T>
void race_gathers(int32_t dtype, double seconds) {
  const GuardedTable table(PROT_READ);
  const Shape p_shape{GuardedTable::rows, GuardedTable::width};
  const gth_tensor_desc p = describe(u8, p_shape, table.data);
  Bytes memory(static_cast<size_t>(3000 * GuardedTable::width));
  race<T>(dtype, seconds, [&](int64_t n, const gth_tensor_desc& i, const gth_options* options) {
    const Shape o_shape{n, GuardedTable::width};
    const gth_tensor_desc o = describe(u8, o_shape, memory.data());
    std::memset(memory.data(), '#', static_cast<size_t>(n * GuardedTable::width));
    const int32_t status = gth_gather_nd(nullptr, &p, &i, &o, options, nullptr);
    check_raced(memory, n, status, options->bounds);
  });
}

constexpr int update_byte = 100;

// Each byte of the target is unchanged or that of an update. After INDEX nothing is written. Bytes of reductions are
// not checked.
void check_raced_target(const GuardedTable& target, int32_t status, const gth_options& options) {
  ASSERT_TRUE(status == GTH_OK || status == GTH_E_INDEX || status == GTH_E_RACE) << status;
  ASSERT_TRUE(options.bounds == GTH_BOUNDS_ERROR || status == GTH_OK) << status;
  if (options.reduction != GTH_REDUCTION_NONE && status != GTH_E_INDEX) return;
  for (size_t at = 0; at < GuardedTable::size; ++at) {
    const int byte = static_cast<uint8_t>(target.data[at]), own = static_cast<int>(at / GuardedTable::width) + 1;
    const bool is_update = status != GTH_E_INDEX && byte == update_byte;
    ASSERT_TRUE(byte == own || is_update) << "byte " << at << ": " << byte;
  }
}

template <class T>
void race_scatters(int32_t dtype, double seconds) {
  const GuardedTable target(PROT_READ | PROT_WRITE);
  const Shape t_shape{GuardedTable::rows, GuardedTable::width};
  const gth_tensor_desc t = describe(u8, t_shape, target.data);
  Bytes updates(static_cast<size_t>(3000 * GuardedTable::width), static_cast<char>(update_byte));
  race<T>(dtype, seconds, [&](int64_t n, const gth_tensor_desc& i, gth_options* options) {
    if (options->bounds == GTH_BOUNDS_FILL) options->bounds = GTH_BOUNDS_ERROR;
    constexpr int32_t reductions[] = {GTH_REDUCTION_ADD, GTH_REDUCTION_MEAN};
    options->reduction = n % 3 == 0 ? reductions[options->threads % 2] : GTH_REDUCTION_NONE;
    options->initial = n % 2 == 0 ? GTH_INITIAL_UPDATE : GTH_INITIAL_TARGET;
    pad(n, options);
    const Shape u_shape{n, GuardedTable::width};
    const gth_tensor_desc u = describe(u8, u_shape, updates.data());
    target.fill();
    const int32_t status = gth_scatter_nd(nullptr, &t, &i, &u, options, nullptr);
    check_raced_target(target, status, *options);
  });
}

// GATHER_RACE_SECONDS: duration of the writer.
TEST(Hostile, G1_ChangingIndicesAccessNoOtherMemory) {
  const double seconds = environment::seconds("GATHER_RACE_SECONDS", 5);
  race_gathers<int64_t>(GTH_DTYPE_INT64, seconds / 2);
  race_gathers<int32_t>(GTH_DTYPE_INT32, seconds / 4);
  race_gathers<int8_t>(GTH_DTYPE_INT8, seconds / 4);
}

TEST(Hostile, I7_ChangingIndicesOfScattersAccessNoOtherMemory) {
  const double seconds = environment::seconds("GATHER_RACE_SECONDS", 5);
  race_scatters<int64_t>(GTH_DTYPE_INT64, seconds / 2);
  race_scatters<int32_t>(GTH_DTYPE_INT32, seconds / 4);
  race_scatters<int8_t>(GTH_DTYPE_INT8, seconds / 4);
}

// GATHER_FORKS: number of forks.
TEST(Hostile, G2_ForkWithARunningPoolLeavesTheChildUsable) {
  const Large large;
  const int64_t forks = environment::number("GATHER_FORKS", 100);
  for (int64_t k = 0; k < forks; ++k) {
    ASSERT_TRUE(large.run());
    const pid_t child = start_child([&] { return large.run() && large.run() ? 0 : 1; });
    ASSERT_EQ(wait_for(child, patience), 0) << "child " << k;
  }
}

TEST(Hostile, G2_ForkBeforeTheFirstLargeCallLeavesTheChildUsable) {
  EXPECT_EQ(gth_shutdown(), GTH_OK);
  const Large large;
  EXPECT_EQ(wait_for(start_child([&] { return large.run() ? 0 : 1; }), patience), 0);
  EXPECT_TRUE(large.run());
}

// The locks of the child are in the state in which other threads of the parent left them.
TEST(Hostile, G3_ForkDuringGathersLeavesTheChildUsable) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int32_t t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      const Large large;
      const Array array(u8, {4});
      while (!stop) {
        EXPECT_TRUE(large.run());
        for (int32_t k = 0; k < 100; ++k) const Tensor tensor(array.desc());
      }
    });
  }
  const Large large;
  std::thread forks([&] {
    const int64_t times = environment::number("GATHER_FORKS", 100);
    for (int64_t k = 0; k < times && !testing::Test::HasFailure(); ++k) {
      const pid_t child = start_child([&] {
        const Array array(u8, {4});
        const Tensor tensor(array.desc());
        return tensor && large.run() ? 0 : 1;
      });
      EXPECT_EQ(wait_for(child, patience), 0) << "child " << k;
    }
    stop = true;
  });
  forks.join();
  for (std::thread& each : threads) each.join();
}

// The child inherits the threads in use, and starts its own.
void expect_own_threads(int64_t child) {
  const Large large;
  const pid_t process = start_child([&] {
    if (child % 2 == 0 && gth_shutdown() != GTH_OK) return 1;
    const bool starts_threads = !tasks_started_by([&] { large.run(); }).empty();
    return starts_threads && large.run() && gth_shutdown() == GTH_OK ? 0 : 2;
  });
  EXPECT_EQ(wait_for(process, patience), 0) << "child " << child;
}

// Another thread is inside of a large call at almost every fork. It started the threads before the first fork, because
// the address sanitizer's own lock of memory does not survive a fork.
TEST(Hostile, G3_ForkDuringALargeCallLeavesTheChildItsOwnThreads) {
  const Large large;
  ASSERT_TRUE(large.run());
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) EXPECT_TRUE(large.run());
  });
  const int64_t times = environment::number("GATHER_FORKS", 100) / 5;
  for (int64_t k = 0; k < times && !testing::Test::HasFailure(); ++k) expect_own_threads(k);
  stop = true;
  busy.join();
}

// A child inherits the lock of the loader's list of modules, and nothing releases it there.
TEST(Hostile, G3_ForkWhileModulesAreListedLeavesTheChildItsOwnThreads) {
  std::atomic<bool> stop{false}, lists{false};
  const auto list = [](dl_phdr_info*, size_t, void* begun) {
    static_cast<std::atomic<bool>*>(begun)->store(true);
    std::this_thread::sleep_for(std::chrono::microseconds(10));
    return 0;
  };
  std::thread busy([&] {
    while (!stop) dl_iterate_phdr(list, &lists);
  });
  while (!lists) std::this_thread::yield();
  for (int64_t k = 0; k < 10 && !testing::Test::HasFailure(); ++k) expect_own_threads(k);
  stop = true;
  busy.join();
}

// Handles over one array. They fill some segments of the table completely, some of them almost completely, and others
// partly.
class ManyHandles {
 public:
  ManyHandles() {
    for (gth_tensor*& each : live_) EXPECT_EQ(gth_tensor_borrow(&desc_, &each, nullptr), GTH_OK);
    const auto first = live_.begin() + 2000, last = first + 20;
    for (auto each = first; each != last; ++each) EXPECT_EQ(gth_tensor_release(*each), GTH_OK);
    gone_.assign(first, last);
    live_.erase(first, last);
  }
  ~ManyHandles() {
    for (gth_tensor* each : live_) EXPECT_EQ(gth_tensor_release(each), GTH_OK);
  }

  bool are_as_they_were() const {
    gth_tensor_desc found = GTH_TENSOR_DESC_INIT;
    const auto is_live = [&](const gth_tensor* each) {
      return gth_tensor_describe(each, &found, nullptr) == GTH_OK && found.data == desc_.data;
    };
    return std::all_of(live_.begin(), live_.end(), is_live) && std::none_of(gone_.begin(), gone_.end(), is_live);
  }

 private:
  const Array array_{u8, {4}};
  const gth_tensor_desc desc_ = array_.desc();
  std::vector<gth_tensor*> live_ = std::vector<gth_tensor*>(4000), gone_;
};

// The child uses the table of handles in the state in which another thread left it.
TEST(Hostile, G3_ForkWhileHandlesAreMadeLeavesTheChildUsable) {
  const ManyHandles before;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int32_t t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      const Array array(u8, {4});
      while (!stop) const Tensor tensor(array.desc());
    });
  }
  const int64_t times = environment::number("GATHER_FORKS", 100);
  for (int64_t k = 0; k < times && !HasFailure(); ++k) {
    const pid_t child = start_child([&] {
      if (!before.are_as_they_were()) return 1;
      const ManyHandles more;
      return before.are_as_they_were() && more.are_as_they_were() && !HasFailure() ? 0 : 2;
    });
    EXPECT_EQ(wait_for(child, patience), 0) << "child " << k;
  }
  stop = true;
  for (std::thread& each : threads) each.join();
  EXPECT_TRUE(before.are_as_they_were());
}

// Handles that the parent has released stay invalid in the child, whose table is rebuilt. They were released in an order
// other than that of the rebuilt table. All handles that the child makes are valid.
TEST(Hostile, G3_ForkKeepsStaleHandlesInvalid) {
  const Array array(u8, {4});
  const gth_tensor_desc desc = array.desc();
  std::vector<gth_tensor*> stale(20 * 1024);
  for (gth_tensor*& each : stale) ASSERT_EQ(gth_tensor_borrow(&desc, &each, nullptr), GTH_OK);
  std::for_each(stale.rbegin(), stale.rend(), [](gth_tensor* each) { ASSERT_EQ(gth_tensor_release(each), GTH_OK); });
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) const Tensor tensor(desc);
  });
  for (int32_t k = 0; k < 20 && !HasFailure(); ++k) {
    const pid_t child = start_child([&] {
      std::vector<gth_tensor*> made(stale.size() + 2048);  // more than the parent has slots
      for (gth_tensor*& each : made) {
        if (gth_tensor_borrow(&desc, &each, nullptr) != GTH_OK) return 1;
      }
      gth_tensor_desc found = GTH_TENSOR_DESC_INIT;
      const auto is_live = [&](const gth_tensor* each) { return gth_tensor_describe(each, &found, nullptr) == GTH_OK; };
      if (!std::all_of(made.begin(), made.end(), is_live)) return 3;
      return std::any_of(stale.begin(), stale.end(), is_live) ? 2 : 0;
    });
    EXPECT_EQ(wait_for(child, patience), 0) << "child " << k;
  }
  stop = true;
  busy.join();
}

// Runs as a user that may create no more threads. Root is not limited, so the child changes its user.
int gather_without_threads(const Large& large) {
  const rlimit none{0, 0};
  if (setrlimit(RLIMIT_NPROC, &none) != 0) return skipped;
  if (getuid() == 0 && setresuid(65534, 65534, 65534) != 0) return skipped;
  pthread_t thread;
  if (pthread_create(&thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr) == 0) return skipped;
  return large.run() && large.run() ? 0 : 1;
}

TEST(Hostile, G5_CallRunsIfThreadsCannotBeCreated) {
  EXPECT_EQ(gth_shutdown(), GTH_OK);
  const Large large;
  const int code = wait_for(start_child([&] { return gather_without_threads(large); }), patience);
  if (code == skipped) GTEST_SKIP() << "the number of threads cannot be limited here";
  EXPECT_EQ(code, 0);
}

#endif

#if !GATHER_SANITIZED  // instrumented frames are larger, and sanitizers search for leaks at exit

// A child that calls exit() also runs the library's exit code.
TEST(Hostile, G3_ChildExitsNormally) {
  const Large large;
  for (int32_t k = 0; k < 20; ++k) {
    ASSERT_TRUE(large.run());
    const pid_t child = start_child([&]() -> int { std::exit(large.run() ? 0 : 1); });
    ASSERT_EQ(wait_for(child, patience), 0) << "child " << k;
  }
}

// Each form of gather, on a stack of 64 KiB that includes static thread-local memory.
void* every_gather(void* failure) {
  const char** wrong = static_cast<const char**>(failure);
  static const Array params(GTH_DTYPE_FLOAT32, Shape(32, 1)),
      bad = indices64({300}, std::vector<int64_t>(300, 7)), table(GTH_DTYPE_FLOAT32, {7, 3}),
      indices = indices64({300}, std::vector<int64_t>(300, 6)), out(GTH_DTYPE_FLOAT32, {300, 3}),
      tuple = indices64({32}, std::vector<int64_t>(32)), one(GTH_DTYPE_FLOAT32, {}),
      many = indices64({8, 300}, std::vector<int64_t>(8 * 300)), ones(GTH_DTYPE_FLOAT32, Shape(8, 1)),
      rows(GTH_DTYPE_FLOAT32, {300});
  const gth_tensor_desc p = params.desc(), b = bad.desc(), t = table.desc(), i = indices.desc(), o = out.desc();
  const gth_tensor_desc k = tuple.desc(), s = one.desc();
  const gth_tensor_desc w = ones.desc(), e = rows.desc();
  static const Shape shape{300, 8}, strides{8, 8 * 300};  // tuples whose components are far apart
  const gth_tensor_desc apart = describe(GTH_DTYPE_INT64, shape, many.data(), strides.data());
  gth_options options = GTH_OPTIONS_INIT;
  options.threads = 3;
  gth_error error = GTH_ERROR_INIT;
  gth_plan* plan = nullptr;
  gth_tensor *x = nullptr, *y = nullptr, *made = nullptr;
  if (gth_gather(nullptr, &t, &i, &o, &options, &error)) *wrong = "gather";
  if (gth_gather_nd(nullptr, &p, &k, &s, &options, &error)) *wrong = "gather_nd";
  if (gth_gather(nullptr, &t, &b, &o, &options, &error) != GTH_E_INDEX) *wrong = "bad index";
  if (gth_gather_nd(nullptr, &w, &apart, &e, &options, &error)) *wrong = "tuples with gaps";
  if (calls::gather.plan(&t, &i, nullptr, &options, &plan, &error)) *wrong = "plan";
  if (gth_plan_run(nullptr, plan, GTH_OPEN, t.data, i.data, out.data(), &error)) *wrong = "run";
  if (gth_tensor_borrow(&t, &x, &error) || gth_tensor_borrow(&i, &y, &error)) *wrong = "borrow";
  if (calls::gather.make(nullptr, x, y, nullptr, &options, &made, &error)) *wrong = "allocating";
  if (gth_plan_release(plan) || gth_tensor_release(x) || gth_tensor_release(y) || gth_tensor_release(made)) {
    *wrong = "release";
  }
  return nullptr;
}

// Each form of scatter.
void* every_scatter(void* failure) {
  const char** wrong = static_cast<const char**>(failure);
  static const Array table(GTH_DTYPE_FLOAT16, {7, 3}), single(GTH_DTYPE_FLOAT32, Shape(8, 1)),
      indices = indices64({300}, std::vector<int64_t>(300, 6)), rows(GTH_DTYPE_FLOAT16, {300, 3}),
      tuples = indices64({300, 8}, std::vector<int64_t>(300 * 8)), elements(GTH_DTYPE_FLOAT32, {300});
  const gth_tensor_desc t = table.desc(), s = single.desc(), i = indices.desc(), r = rows.desc(), k = tuples.desc();
  const gth_tensor_desc e = elements.desc();
  gth_options options = GTH_OPTIONS_INIT;
  options.threads = 3;
  options.reduction = GTH_REDUCTION_ADD;
  gth_options in_float32 = options;
  in_float32.accumulate = GTH_ACCUMULATE_FLOAT32;
  gth_error error = GTH_ERROR_INIT;
  gth_tensor *x = nullptr, *y = nullptr, *z = nullptr, *made = nullptr;
  if (gth_scatter(nullptr, &t, &i, &r, &options, &error)) *wrong = "scatter";
  if (gth_scatter(nullptr, &t, &i, &r, &in_float32, &error)) *wrong = "in float32";
  if (gth_scatter_nd(nullptr, &s, &k, &e, &options, &error)) *wrong = "scatter_nd";
  options.reduction = 0;
  if (gth_gather_gradient(nullptr, &t, &i, &r, &options, &error)) *wrong = "gradient";
  if (gth_tensor_borrow(&t, &x, &error) || gth_tensor_borrow(&i, &y, &error)) *wrong = "borrow";
  if (gth_tensor_borrow(&r, &z, &error)) *wrong = "borrow";
  if (calls::scatter.make(nullptr, x, y, z, &options, &made, &error)) *wrong = "allocating";
  for (gth_tensor* each : {x, y, z, made}) {
    if (gth_tensor_release(each)) *wrong = "release";
  }
  return nullptr;
}

// Each form with strings.
void* every_string(void* failure) {
  const char** wrong = static_cast<const char**>(failure);
  static const Array indices = indices64({300}, std::vector<int64_t>(300, 1));
  static const int64_t shape[] = {2}, offsets[] = {0, 3, 7};
  const gth_tensor_desc i = indices.desc();
  gth_error error = GTH_ERROR_INIT;
  gth_tensor *x = nullptr, *y = nullptr, *made = nullptr;
  if (gth_tensor_from_strings(nullptr, 0, 1, shape, offsets, "onetwo+", 7, nullptr, nullptr, &x, &error))
    *wrong = "made";
  if (gth_tensor_borrow(&i, &y, &error)) *wrong = "borrow";
  if (calls::gather.make(nullptr, x, y, nullptr, nullptr, &made, &error)) *wrong = "gather";
  for (gth_tensor* each : {x, y, made}) {
    if (gth_tensor_release(each)) *wrong = "release";
  }
  return nullptr;
}

void run_on_small_stack(void* (*body)(void*)) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  // Uses the smallest permitted stack if the system does not allow 64 KiB.
  const auto size = std::max<size_t>(64 * 1024, static_cast<size_t>(PTHREAD_STACK_MIN));
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, size), 0);
  pthread_t thread;
  const char* wrong = nullptr;
  ASSERT_EQ(pthread_create(&thread, &attributes, body, &wrong), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  EXPECT_EQ(wrong, nullptr) << wrong;
  pthread_attr_destroy(&attributes);
}

TEST(Hostile, G7_ThreadStackOf64KiBSuffices) {
  EXPECT_EQ(gth_shutdown(), GTH_OK);
  run_on_small_stack(every_gather);
  run_on_small_stack(every_scatter);
  run_on_small_stack(every_string);
}

[[noreturn]] void exit_in_the_middle() {
  static Large& large = *new Large;  // never destroyed, because the thread continues while the process exits
  std::thread([] {
    for (;;) large.run();
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::exit(0);
}

TEST(Hostile, G9_ExitWhileThePoolIsBusyKeepsTheExitCode) {
  for (int32_t k = 0; k < 20; ++k) {
    const pid_t child = start_child([]() -> int { exit_in_the_middle(); });
    ASSERT_EQ(wait_for(child, patience), 0) << "child " << k;
  }
}

// A thread that runs while the process exits can use its handles.
TEST(Hostile, G9_HandlesStayValidDuringExit) {
  for (int32_t k = 0; k < 20; ++k) {
    const pid_t child = start_child([]() -> int {
      static const Array array(u8, {4});
      static gth_tensor* tensor = nullptr;
      const gth_tensor_desc desc = array.desc();
      if (gth_tensor_borrow(&desc, &tensor, nullptr) != GTH_OK) return 1;
      static std::atomic<bool> started{false};
      std::thread([] {
        gth_tensor_desc found = GTH_TENSOR_DESC_INIT;
        for (;; started = true) {
          if (gth_tensor_describe(tensor, &found, nullptr) != GTH_OK) _exit(2);
        }
      }).detach();
      while (!started) std::this_thread::yield();
      std::exit(0);
    });
    ASSERT_EQ(wait_for(child, patience), 0) << "child " << k;
  }
}

#endif

}  // namespace
