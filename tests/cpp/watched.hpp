#pragma once

#include <signal.h>

#include <functional>
#include <utility>
#include <vector>

#include "guarded.hpp"
#include "hostile.hpp"

namespace hostile {

// Indices in two halves. Only one half is accessible at a time, so a fault shows when a reader moves to the other half.
// At the n-th fault, the indices change. So the change always happens at the same place of the call. Each pass over the
// indices moves once, and once more when the next pass begins.
class Watched {
 public:
  static constexpr int64_t half = 40960, n = 2 * half;  // more than one panel of a gather, and whole pages
  using Change = std::function<void(int64_t* indices)>;

  Watched(const std::vector<int64_t>& values, int nth, Change change)
      : memory_(bytes / static_cast<size_t>(sysconf(_SC_PAGESIZE))), nth_(nth), change_(std::move(change)) {
    std::memcpy(memory_.first(), values.data(), bytes);
    allow_one();
    current() = this;
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t* info, void*) { current()->go_over(static_cast<char*>(info->si_addr)); };
    EXPECT_EQ(sigaction(SIGSEGV, &action, &before_), 0);
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() {
    EXPECT_EQ(sigaction(SIGSEGV, &before_, nullptr), 0);
    EXPECT_EQ(seen_, nth_) << "the indices never changed";
  }

  gth_tensor_desc desc() const { return describe(GTH_DTYPE_INT64, shape_, memory_.first()); }

 private:
  static constexpr size_t bytes = n * sizeof(int64_t);

  static Watched*& current() {
    static Watched* watched = nullptr;
    return watched;
  }

  void allow_one() {
    char* const second = memory_.first() + bytes / 2;
    mprotect(memory_.first(), bytes / 2, seen_ % 2 == 0 ? PROT_READ : PROT_NONE);
    mprotect(second, bytes / 2, seen_ % 2 == 0 ? PROT_NONE : PROT_READ);
  }

  void go_over(const char* at) {
    if (at < memory_.first() || at >= memory_.first() + bytes || seen_ == nth_) {
      signal(SIGSEGV, SIG_DFL);  // this is a real fault
      return;
    }
    if (++seen_ < nth_) return allow_one();
    mprotect(memory_.first(), bytes, PROT_READ | PROT_WRITE);
    change_(reinterpret_cast<int64_t*>(memory_.first()));
  }

  const Shape shape_{n};
  Guarded memory_;
  const int nth_;
  const Change change_;
  int seen_ = 0;
  struct sigaction before_ = {};
};

}  // namespace hostile
