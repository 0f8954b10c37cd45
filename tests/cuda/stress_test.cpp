#include <chrono>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>

#include "device_test.hpp"

// Threads run random calls for a while. They create and release contexts, release tensors on other threads, and capture
// graphs at the same time. GATHER_STRESS_SECONDS: duration.
namespace {

using device::adopt;
using device::Context;
using device::Error;
using device::Lookup;
using device::Stream;

constexpr int thread_count = 6;

double seconds() {
  const char* given = std::getenv("GATHER_STRESS_SECONDS");
  return given ? std::atof(given) : 0.5;
}

// Tensors that one thread creates and another releases.
class Left {
 public:
  void leave(gth_tensor* tensor) {
    const std::lock_guard<std::mutex> guard(lock_);
    tensors_.push_back(tensor);
  }
  void take_some(size_t most) {
    std::vector<gth_tensor*> taken;
    {
      const std::lock_guard<std::mutex> guard(lock_);
      for (; !tensors_.empty() && taken.size() < most; tensors_.pop_back()) taken.push_back(tensors_.back());
    }
    for (gth_tensor* each : taken) EXPECT_EQ(gth_tensor_release(each), GTH_OK);
  }

 private:
  std::mutex lock_;
  std::vector<gth_tensor*> tensors_;
};

class Worker {
 public:
  Worker(uint32_t seed, Left* left) : random_(seed), left_(left) {}

  void work_until(std::chrono::steady_clock::time_point end) {
    while (std::chrono::steady_clock::now() < end && !testing::Test::HasFailure()) live();
  }

 private:
  int64_t any(int64_t from, int64_t to) { return std::uniform_int_distribution<int64_t>(from, to)(random_); }

  // Creates, uses and releases one context.
  void live() {
    const Stream stream;
    const int64_t picks = any(0, 1) ? any(1, 300) : any(device::in_front, device::in_front + 4000);
    Lookup lookup(any(1, 50), any(1, 40), picks);
    Context context(stream.get());
    for (int64_t left = any(1, 8); left > 0; --left) {
      switch (any(0, 4)) {
        case 0: gather(context, lookup, picks, false); break;
        case 1: gather(context, lookup, picks, true); break;
        case 2: gather_new(context, lookup, picks); break;
        case 3: replay(context, stream, lookup, picks); break;
        default: left_->take_some(static_cast<size_t>(any(1, 8)));
      }
    }
    context.sync();  // the memory of the lookup is freed next
  }

  std::vector<int64_t> choose(const Lookup& lookup, int64_t picks) {
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < picks; ++i) rows.push_back(any(0, lookup.params_shape[0] - 1));
    return rows;
  }

  void gather(const Context& context, Lookup& lookup, int64_t picks, bool is_bad) {
    std::vector<int64_t> rows = choose(lookup, picks);
    const int64_t bad = any(0, picks - 1), value = lookup.params_shape[0] + any(0, 9);
    if (is_bad) rows[static_cast<size_t>(bad)] = value;
    lookup.pick(rows);
    lookup.clear();
    const int64_t sequence = lookup.enqueue(context);
    if (is_bad) {
      context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, bad, value, lookup.params_shape[0]}, 1, sequence);
      lookup.expect_unchanged();
    } else {
      context.expect_no_error();
      lookup.expect_rows(rows);
    }
  }

  // Gathers into a new output that another thread releases, possibly after the context.
  void gather_new(const Context& context, Lookup& lookup, int64_t picks) {
    lookup.pick(choose(lookup, picks));
    gth_tensor* made = nullptr;
    lookup.enqueue_new(context, &made);
    if (made) left_->leave(made);
  }

  // Captures while other threads run calls.
  void replay(const Context& context, const Stream& stream, Lookup& lookup, int64_t picks) {
    const device::Captured captured(stream, [&] { lookup.enqueue(context); }, device::Mode::thread);
    for (int64_t left = any(1, 3); left > 0; --left) {
      const std::vector<int64_t> rows = choose(lookup, picks);
      lookup.pick(rows);
      lookup.clear();
      captured.launch();
      context.expect_no_error();
      lookup.expect_rows(rows);
    }
  }

  std::mt19937 random_;
  Left* left_;
};

class Stress : public device::DeviceTest {};

TEST_F(Stress, EverythingAtOnce) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                          std::chrono::duration<double>(seconds()));
  Left left;
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] { Worker(i, &left).work_until(end); });
  }
  for (std::thread& each : threads) each.join();
  left.take_some(SIZE_MAX);
  gth_shutdown();
}

}  // namespace
