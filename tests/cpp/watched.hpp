#pragma once

#if !defined(_WIN32)
#include <signal.h>
#endif

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
      : memory_(bytes / page_bytes()), nth_(nth), change_(std::move(change)) {
    std::memcpy(memory_.first(), values.data(), bytes);
    allow_one();
    current() = this;
    handle_faults();
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() {
    ignore_faults();
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
    protect(memory_.first(), bytes / 2, seen_ % 2 == 0 ? readable : inaccessible);
    protect(second, bytes / 2, seen_ % 2 == 0 ? inaccessible : readable);
  }

  // Returns false if this is a real fault.
  bool go_over(const char* at) {
    if (at < memory_.first() || at >= memory_.first() + bytes || seen_ == nth_) return false;
    if (++seen_ < nth_) {
      allow_one();
      return true;
    }
    protect(memory_.first(), bytes, writable);
    change_(reinterpret_cast<int64_t*>(memory_.first()));
    return true;
  }

#if defined(_WIN32)
  static LONG CALLBACK on_fault(EXCEPTION_POINTERS* fault) {
    const EXCEPTION_RECORD& record = *fault->ExceptionRecord;
    const bool ours = record.ExceptionCode == EXCEPTION_ACCESS_VIOLATION &&
                      current()->go_over(reinterpret_cast<char*>(record.ExceptionInformation[1]));
    return ours ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
  }

  void handle_faults() { before_ = AddVectoredExceptionHandler(1, on_fault); }
  void ignore_faults() { RemoveVectoredExceptionHandler(before_); }

  void* before_ = nullptr;
#else
  static void on_fault(int, siginfo_t* fault, void*) {
    if (!current()->go_over(static_cast<char*>(fault->si_addr))) signal(SIGSEGV, SIG_DFL);
  }

  void handle_faults() {
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = on_fault;
    EXPECT_EQ(sigaction(SIGSEGV, &action, &before_), 0);
  }
  void ignore_faults() { EXPECT_EQ(sigaction(SIGSEGV, &before_, nullptr), 0); }

  struct sigaction before_ = {};
#endif

  const Shape shape_{n};
  Guarded memory_;
  const int nth_;
  const Change change_;
  int seen_ = 0;
};

}  // namespace hostile
