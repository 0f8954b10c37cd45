#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "report.hpp"

// The contexts of calls: none, the threads of the library, an executor that runs tasks in reverse order, and hooks that
// return memory with other content than zeros.
namespace fuzz {

// The context of the calls of one input. It is not kept for the next input, because the leak sanitizer does not see
// that a handle refers to memory.
class Surroundings {
 public:
  explicit Surroundings(int64_t kind) {
    if (kind == 1) current_ = with_threads();
    if (kind == 2) current_ = with_executor();
    if (kind == 3) current_ = with_hooks();
  }

  // Checks that the tensors of the input have returned their memory.
  ~Surroundings() {
    require(gth_context_release(current_) == GTH_OK, "release of a context");
    require(allocated == freed, "memory of the hooks is lost");
    current_ = nullptr;
  }

  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

  static gth_context* context() { return current_; }

 private:
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
  static inline gth_context* current_ = nullptr;
};

}  // namespace fuzz
