#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "gather/gather.h"

// Reports of a fuzz target: the reason of a failure, and at the end how far the inputs got.
namespace fuzz {

__attribute__((format(printf, 1, 2), noreturn)) inline void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "fuzz: ");
  std::vfprintf(stderr, format, arguments);
  std::fprintf(stderr, "\n");
  va_end(arguments);
  std::abort();
}

inline void require(bool holds, const char* what) {
  if (!holds) fail("%s", what);
}

// Counts calls by how far they got. If most are rejected by the first check, the inputs test little else.
struct Tally {
  uint64_t calls = 0, past_first_check = 0, succeeded = 0;

  void count(int32_t status) {
    ++calls;
    past_first_check += status != GTH_E_NULL && status != GTH_E_VERSION && status != GTH_E_HANDLE;
    succeeded += status == GTH_OK;
  }
};

inline Tally& tally() {
  static Tally* const tally = [] {
    std::atexit([] {
      const Tally& t = fuzz::tally();
      const double percent = t.calls ? 100.0 / static_cast<double>(t.calls) : 0;
      std::fprintf(stderr, "fuzz: %llu calls, %.0f %% passed the first check, %.0f %% succeeded\n",
                   static_cast<unsigned long long>(t.calls), percent * static_cast<double>(t.past_first_check),
                   percent * static_cast<double>(t.succeeded));
    });
    static Tally counted;
    return &counted;
  }();
  return *tally;
}

}  // namespace fuzz
