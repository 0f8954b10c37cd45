#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "report.hpp"

// The contexts of calls: none, the threads of the library, an executor that runs tasks in reverse order, and hooks that
// return memory with other content than zeros.
namespace fuzz {

class Surroundings {
 public:
  gth_context* context() const { return context_; }

  void choose(int64_t kind) {
    static const Contexts contexts;
    context_ = contexts.all[kind];
  }

  // Checks that the tensors of an input have returned their memory.
  void expect_all_freed() const { require(allocated == freed, "memory of the hooks is lost"); }

 private:
  // The contexts are released at the end, so that the leak sanitizer finds only leaks of calls.
  struct Contexts {
    gth_context* const all[4] = {nullptr, with_threads(), with_executor(), with_hooks()};

    Contexts() = default;
    Contexts(const Contexts&) = delete;
    Contexts& operator=(const Contexts&) = delete;
    ~Contexts() {
      for (gth_context* each : all) gth_context_release(each);
    }
  };

  static gth_context* make(const gth_context_options& options) {
    gth_context* context = nullptr;
    require(gth_context_create(&options, &context, nullptr) == GTH_OK, "no context");
    return context;
  }

  static gth_context* with_threads() {
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.threads = 4;
    return make(options);
  }

  static gth_context* with_executor() {
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.threads = 4;
    options.parallel_for = [](void*, int64_t n, gth_task_fn task, void* arg) {
      while (n-- > 0) task(arg, n);
    };
    return make(options);
  }

  static gth_context* with_hooks() {
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.alloc = [](void*, int64_t bytes, int64_t align, int32_t, int32_t, CUstream_st*) {
      ++allocated;
      void* memory =
          std::aligned_alloc(static_cast<size_t>(align), static_cast<size_t>((bytes + align - 1) / align * align));
      return std::memset(memory, 0xa5, static_cast<size_t>(bytes));
    };
    options.free = [](void*, int64_t, int64_t, int32_t, int32_t, CUstream_st*, void* memory) {
      ++freed;
      std::free(memory);
    };
    return make(options);
  }

  static inline int64_t allocated = 0, freed = 0;
  gth_context* context_ = nullptr;
};

}  // namespace fuzz
