#pragma once

#include <gather/gather.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

// Memory hooks of a context. They count, and may write to memory at the n-th allocation, as another thread could do at
// that moment.
struct Hooks {
  int64_t* at = nullptr;
  int64_t to = 0;
  int nth = 0;
  int asked = 0, given_back = 0;

  int live() const { return asked - given_back; }

  // Returns a context with these hooks, which must live as long as its memory.
  gth_context* context() {
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.alloc = alloc;
    options.free = free;
    options.memory_user = this;
    gth_context* made = nullptr;
    EXPECT_EQ(gth_context_create(&options, &made, nullptr), GTH_OK);
    return made;
  }

 private:
  static void* alloc(void* user, int64_t bytes, int64_t, int32_t, int32_t, CUstream_st*) {
    Hooks& self = *static_cast<Hooks*>(user);
    if (++self.asked == self.nth) *self.at = self.to;
    return std::malloc(static_cast<size_t>(bytes));
  }

  static void free(void* user, int64_t, int64_t, int32_t, int32_t, CUstream_st*, void* memory) {
    ++static_cast<Hooks*>(user)->given_back;
    std::free(memory);
  }
};
