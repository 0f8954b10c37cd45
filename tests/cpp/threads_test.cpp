#include <atomic>
#include <cstdlib>
#include <thread>

#include "environment.hpp"
#include "hostile.hpp"
#include "limits.hpp"

// Results and errors do not depend on threads, those of the library or of the caller.
namespace {

using namespace hostile;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32;

// Runs tasks on its own threads and in its own order. Counts how often each task runs.
struct Executor {
  int64_t threads = 4;
  std::vector<std::atomic<int32_t>> runs = std::vector<std::atomic<int32_t>>(100000);
  std::atomic<int64_t> calls{0};

  static void parallel_for(void* user, int64_t n, gth_task_fn task, void* arg) {
    Executor& self = *static_cast<Executor*>(user);
    ASSERT_GT(n, 0);
    ASSERT_LT(n, static_cast<int64_t>(self.runs.size()));
    ++self.calls;
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < self.threads; ++t) {
      threads.emplace_back([&, t] {
        for (int64_t i = n - 1 - t; i >= 0; i -= self.threads) {
          ++self.runs[static_cast<size_t>(i)];
          task(arg, i);
        }
      });
    }
    for (std::thread& each : threads) each.join();
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(self.runs[static_cast<size_t>(i)].exchange(0), 1) << "piece " << i;
  }
};

class Context {
 public:
  explicit Context(const gth_context_options& options) {
    EXPECT_EQ(gth_context_create(&options, &handle_, nullptr), GTH_OK);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EXPECT_EQ(gth_context_release(handle_), GTH_OK); }
  gth_context* get() const { return handle_; }

 private:
  gth_context* handle_ = nullptr;
};

gth_context_options with_executor(Executor* executor, int32_t threads) {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.threads = threads;
  options.parallel_for = Executor::parallel_for;
  options.parallel_user = executor;
  return options;
}

// Enough indices for several pieces in the shipped library too.
constexpr int64_t many = 100000;

std::vector<int64_t> spread(int64_t n, int64_t rows) {
  std::vector<int64_t> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = i * 7919 % rows;
  return values;
}

void expect_smallest(const Array& indices, const Facts& facts, int32_t threads, gth_context* context = nullptr) {
  const Array params(f32, {16, 2});
  static const Array out(f32, {many, 2});
  const Shape shape{indices.shape()[0], 2};
  const gth_tensor_desc p = params.desc(), i = indices.desc(), o = describe(f32, shape, out.data());
  gth_options options = GTH_OPTIONS_INIT;
  options.threads = threads;
  Error error;
  expect_facts(gth_gather(context, &p, &i, &o, &options, &error), error, facts);
}

TEST(Threads, SmallestInvalidTupleOfTwoIsReported) {
  std::vector<int64_t> values(11, 1);
  values[7] = 99;
  values[3] = -5;
  const Array indices = indices64({11}, values);
  for (int32_t repeat = 0; repeat < 1000; ++repeat) {
    expect_smallest(indices, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 3, -5, 16}, 1 + repeat % 16);
    if (HasFailure()) return;
  }
}

TEST(Threads, SmallestInvalidTupleOfManyIsReported) {
  std::vector<int64_t> values = spread(many, 16);
  for (int64_t i = 40000; i < many; i += 97) values[static_cast<size_t>(i)] = 16 + i;
  const Array indices = indices64({many}, values);
  for (int32_t repeat = 0; repeat < 200; ++repeat) {
    expect_smallest(indices, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 40000, 40016, 16}, 1 + repeat % 16);
    if (HasFailure()) return;
  }
}

TEST(Threads, CustomExecutorRunsEachTaskOnce) {
  Executor executor;
  const Context context(with_executor(&executor, 5));
  const Array params(f32, {100, 16}), indices = indices64({many}, spread(many, 100));
  const Array out(f32, {many, 16}), expected(f32, {many, 16});
  const gth_tensor_desc p = params.desc(), i = indices.desc(), o = out.desc(), e = expected.desc();
  gth_options one = GTH_OPTIONS_INIT;
  one.threads = 1;
  ASSERT_EQ(gth_gather(nullptr, &p, &i, &e, &one, nullptr), GTH_OK);
  ASSERT_EQ(gth_gather(context.get(), &p, &i, &o, nullptr, nullptr), GTH_OK);
  EXPECT_GT(executor.calls, 0);
  EXPECT_TRUE(out.bytes() == expected.bytes());
  std::vector<int64_t> values = spread(many, 16);
  values[77777] = 16;
  values[55555] = 17;
  expect_smallest(indices64({many}, values), {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 55555, 17, 16}, 5, context.get());
}

// Starts two threads at the same time, except for a varying delay of the caller's thread. So over many rounds, each
// step of one meets each step of the other.
class AtOnce {
 public:
  AtOnce() : second_([this] { serve(); }) {}
  ~AtOnce() {
    call_ = -1;
    second_.join();
  }

  static void parallel_for(void* user, int64_t n, gth_task_fn task, void* arg) {
    AtOnce& self = *static_cast<AtOnce*>(user);
    self.task_ = task;
    self.arg_ = arg;
    self.n_ = n;
    const int64_t call = ++self.call_;
    while (self.ready_ != call) {
    }
    self.go_ = call;
    for (volatile int64_t delay = call % 200; delay > 0;) delay = delay - 1;
    self.work(0);
    while (self.done_ != call) std::this_thread::yield();
  }

 private:
  void work(int64_t first) {
    for (int64_t i = first; i < n_; i += 2) task_(arg_, i);
  }
  void serve() {
    for (int64_t call = 1;; ++call) {
      while (call_ != call) {
        if (call_ < 0) return;
      }
      ready_ = call;
      while (go_ != call) {
      }
      work(1);
      done_ = call;
    }
  }

  gth_task_fn task_ = nullptr;
  void* arg_ = nullptr;
  int64_t n_ = 0;
  std::atomic<int64_t> call_{0}, ready_{0}, go_{0}, done_{0};
  std::thread second_;
};

// Every tuple is invalid, so all pieces report at the same time.
TEST(Threads, SmallestInvalidTupleOfAllIsReported) {
  AtOnce executor;
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.threads = 2;
  options.parallel_user = &executor;
  options.parallel_for = AtOnce::parallel_for;
  const Context context(options);
  constexpr int64_t n = 40000;
  std::vector<int64_t> values(n);
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = 16 + i;
  const Array indices = indices64({n}, values);
  for (int32_t repeat = 0; repeat < 10000 && !HasFailure(); ++repeat) {
    expect_smallest(indices, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 0, 16, 16}, 2, context.get());
  }
}

// An executor may run everything on one thread.
TEST(Threads, CustomExecutorOfOneThreadIsAccepted) {
  Executor executor;
  executor.threads = 1;
  const Context context(with_executor(&executor, 64));
  std::vector<int64_t> values = spread(many, 16);
  values[5] = 16;
  expect_smallest(indices64({many}, values), {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 5, 16, 16}, 64, context.get());
}

// Objects that many threads share: two tensors, a plan, a context.
struct Shared {
  const Array params{f32, {50, 3}}, indices = indices64({40}, spread(40, 50)), bad = indices64({2}, {0, 50});
  const Tensor p{params.desc()}, i{indices.desc()}, b{bad.desc()};
  const Bytes expected = rows_of(params, 12, spread(40, 50));
  Plan plan;
  Context context{[] {
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.threads = 2;
    return options;
  }()};

  Shared() {
    const gth_tensor_desc pd = params.desc(), id = indices.desc();
    EXPECT_EQ(calls::gather.plan(&pd, &id, nullptr, nullptr, plan.out(), nullptr), GTH_OK);
  }

  // Runs every form once. Returns the name of the form that failed, or NULL.
  const char* round(char* memory) const {
    if (gth_plan_run(context.get(), plan.get(), GTH_OPEN, params.data(), indices.data(), memory, nullptr)) return "run";
    if (std::memcmp(memory, expected.data(), expected.size()) != 0) return "rows of a run";
    gth_tensor* made = nullptr;
    if (calls::gather.make(context.get(), p.get(), i.get(), nullptr, nullptr, &made, nullptr)) return "gather";
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    if (gth_tensor_describe(made, &desc, nullptr)) return "describe";
    if (std::memcmp(desc.data, expected.data(), expected.size()) != 0) return "rows of a gather";
    if (gth_tensor_release(made)) return "release";
    gth_error error = GTH_ERROR_INIT;
    if (calls::gather.make(nullptr, p.get(), b.get(), nullptr, nullptr, &made, &error) != GTH_E_INDEX)
      return "bad index";
    return error.position == 1 && error.value == 50 && error.limit == 50 ? nullptr : "facts of a bad index";
  }
};

// GATHER_CALLS: calls per thread.
TEST(Threads, SixtyFourThreadsShareHandles) {
  const Shared shared;
  const int64_t calls = environment::number("GATHER_CALLS", 1000);
  std::atomic<const char*> wrong{nullptr};
  std::vector<std::thread> threads;
  for (int32_t t = 0; t < 64; ++t) {
    threads.emplace_back([&] {
      Bytes memory(shared.expected.size());
      for (int64_t call = 0; call < calls && !wrong; ++call) {
        if (const char* what = shared.round(memory.data())) wrong = what;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(wrong.load(), nullptr) << wrong.load();
}

// Handles are created and released on all threads at the same time. Each token belongs to one tensor at a time.
TEST(Threads, ConcurrentHandlesStayDistinct) {
  std::atomic<int64_t> wrong{0};
  std::vector<std::thread> threads;
  for (int32_t t = 0; t < 16; ++t) {
    threads.emplace_back([&wrong, t] {
      const Shape shape{t + 1};
      char byte[32] = {};
      const gth_tensor_desc desc = describe(GTH_DTYPE_INT8, shape, byte);
      for (int32_t call = 0; call < 2000; ++call) {
        gth_tensor *first = nullptr, *second = nullptr;
        wrong += gth_tensor_borrow(&desc, &first, nullptr) || gth_tensor_borrow(&desc, &second, nullptr);
        gth_tensor_desc seen = GTH_TENSOR_DESC_INIT;
        wrong += gth_tensor_describe(first, &seen, nullptr) != GTH_OK || seen.shape[0] != t + 1;
        wrong += gth_tensor_release(first) || gth_tensor_release(second) || !gth_tensor_release(first);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(wrong, 0);
}

// The program passes handles with relaxed stores, which order nothing. The library itself orders the creation of a
// handle before its use in another thread. The thread sanitizer reports a race otherwise.
TEST(Threads, HandlesPassedWithRelaxedStoresAreUsable) {
  constexpr int32_t rounds = 2000;
  const Array params(f32, {4, 2}), indices = indices64({3}, {2, 0, 3}), out(f32, {3, 2});
  const gth_tensor_desc p = params.desc(), i = indices.desc(), o = out.desc();
  std::atomic<gth_tensor*> tensor{nullptr};
  std::atomic<gth_plan*> plan{nullptr};
  std::atomic<gth_context*> context{nullptr};
  std::atomic<int32_t> used{0};
  const auto take = [](auto* from) {
    auto handle = from->exchange(nullptr, std::memory_order_relaxed);
    for (; !handle; handle = from->exchange(nullptr, std::memory_order_relaxed)) std::this_thread::yield();
    return handle;
  };
  std::thread user([&] {
    for (int32_t k = 0; k < rounds; ++k) {
      gth_tensor* const t = take(&tensor);
      gth_plan* const planned = take(&plan);
      gth_context* const in = take(&context);
      EXPECT_EQ(calls::gather.run(in, t, &i, &o, nullptr, nullptr), GTH_OK);
      EXPECT_EQ(gth_plan_run(in, planned, GTH_OPEN, p.data, i.data, out.data(), nullptr), GTH_OK);
      EXPECT_EQ(gth_tensor_release(t), GTH_OK);
      EXPECT_EQ(gth_plan_release(planned), GTH_OK);
      EXPECT_EQ(gth_context_release(in), GTH_OK);
      used.store(k + 1, std::memory_order_relaxed);
    }
  });
  for (int32_t k = 0; k < rounds; ++k) {
    gth_tensor* t = nullptr;
    gth_plan* planned = nullptr;
    gth_context* in = nullptr;
    EXPECT_EQ(gth_tensor_borrow(&p, &t, nullptr), GTH_OK);
    EXPECT_EQ(calls::gather.plan(&p, &i, nullptr, nullptr, &planned, nullptr), GTH_OK);
    EXPECT_EQ(gth_context_create(nullptr, &in, nullptr), GTH_OK);
    tensor.store(t, std::memory_order_relaxed);
    plan.store(planned, std::memory_order_relaxed);
    context.store(in, std::memory_order_relaxed);
    while (used.load(std::memory_order_relaxed) <= k) std::this_thread::yield();
  }
  user.join();
}

TEST(Threads, LargeGatherIsEqualForAnyNumberOfThreads) {
  constexpr int64_t rows = 1 << 16, width = 256;  // 64 MiB of output
  const Array params(f32, {1000, width}), indices = indices64({rows}, spread(rows, 1000));
  const Array expected(f32, {rows, width}), out(f32, {rows, width});
  const gth_tensor_desc p = params.desc(), i = indices.desc(), e = expected.desc(), o = out.desc();
  gth_options options = GTH_OPTIONS_INIT;
  options.threads = 1;
  ASSERT_EQ(gth_gather(nullptr, &p, &i, &e, &options, nullptr), GTH_OK);
  for (int32_t threads : {0, 2, 3, 8, 100}) {
    options.threads = threads;
    std::memset(out.data(), '#', static_cast<size_t>(rows * width * 4));
    ASSERT_EQ(gth_gather(nullptr, &p, &i, &o, &options, nullptr), GTH_OK);
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), static_cast<size_t>(rows * width * 4)), 0) << threads;
  }
  for (int64_t row : {int64_t{0}, int64_t{1}, rows / 2, rows - 1}) {
    EXPECT_EQ(std::memcmp(expected.data() + row * width * 4, params.data() + row * 7919 % 1000 * width * 4, width * 4),
              0);
  }
}

// The output of a gather and the target of a scatter have sizes around each limit. Each row has its own value.
TEST(Threads, MemoryAroundEachLimitIsWrittenCompletely) {
  constexpr int64_t width = 64, bytes = 4 * width;
  for (const int64_t limit :
       {limits::parallel_bytes, limits::large_target, limits::multi_thread_bytes, int64_t{limits::streaming_bytes}}) {
    for (const int64_t rows : {limit / bytes - 1, limit / bytes + 1}) {
      const Array few(GTH_DTYPE_INT32, {1000, width}), many_rows(GTH_DTYPE_INT32, {rows, width});
      auto *const table = reinterpret_cast<int32_t*>(few.data()), *const out =
                                                                      reinterpret_cast<int32_t*>(many_rows.data());
      for (int64_t i = 0; i < 1000 * width; ++i) table[i] = static_cast<int32_t>(i * 2654435761);
      const std::vector<int64_t> ids = spread(rows, 1000);
      const Array indices = indices64({rows}, ids);
      const gth_tensor_desc p = few.desc(), i = indices.desc(), o = many_rows.desc();
      gth_options options = GTH_OPTIONS_INIT;
      options.threads = 2;
      ASSERT_EQ(gth_gather(nullptr, &p, &i, &o, &options, nullptr), GTH_OK);
      int64_t wrong = 0;
      for (int64_t k = 0; k < rows * width; ++k) wrong += out[k] != table[ids[size_t(k / width)] * width + k % width];
      EXPECT_EQ(wrong, 0) << "gather of " << rows;

      std::vector<int64_t> places(1000);  // in the large target, the last ones beside its end
      for (int64_t k = 0; k < 1000; ++k) places[size_t(k)] = k < 900 ? k * 7919 % (rows / 2) : rows - 1 - k % 50;
      std::vector<int32_t> expected(out, out + rows * width);
      for (int64_t k = 0; k < 1000 * width; ++k) {
        int32_t& sum = expected[size_t(places[size_t(k / width)] * width + k % width)];
        sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(table[k]));
      }
      const Array at = indices64({1000}, places);
      const gth_tensor_desc j = at.desc();
      options.reduction = GTH_REDUCTION_ADD;
      ASSERT_EQ(gth_scatter(nullptr, &o, &j, &p, &options, nullptr), GTH_OK);
      EXPECT_EQ(std::memcmp(out, expected.data(), expected.size() * 4), 0) << "scatter of " << rows;
    }
  }
}

TEST(Threads, CallsRunAfterShutdown) {
  const Array params(f32, {100, 16}), indices = indices64({many}, spread(many, 100)), out(f32, {many, 16});
  const gth_tensor_desc p = params.desc(), i = indices.desc(), o = out.desc();
  gth_options options = GTH_OPTIONS_INIT;
  options.threads = 3;
  for (int32_t round = 0; round < 20; ++round) {
    EXPECT_EQ(gth_gather(nullptr, &p, &i, &o, &options, nullptr), GTH_OK);
    EXPECT_EQ(gth_shutdown(), GTH_OK);
    EXPECT_EQ(gth_shutdown(), GTH_OK);
  }
}

}  // namespace
