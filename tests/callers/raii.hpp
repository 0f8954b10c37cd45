// Helpers of the C++ callers.
#ifndef CALLERS_RAII_HPP
#define CALLERS_RAII_HPP

#include <cstdio>
#include <cstdlib>
#include <gather/gather.hpp>

#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (0)

// Returns the description of a view, which is not that of an empty tensor.
inline const gth_tensor_desc& description(const gather::View& view) {
  const gth_tensor_desc* const raw = view.raw();
  CHECK(raw != nullptr);
  return *raw;
}

#if defined(__cpp_exceptions)
// Returns the error that a call must throw, and checks its type and fields.
template <class Wanted, class F>
Wanted thrown(int32_t status, F call) {
  try {
    call();
  } catch (const Wanted& error) {
    if (error.status() == status && error.what()[0] != 0) return error;
    std::fprintf(stderr, "another error than wanted: %s: %s\n", gth_status_name(error.status()), error.what());
    std::exit(1);
  }
  std::fprintf(stderr, "%s was not thrown\n", gth_status_name(status));
  std::exit(1);
}
#endif

#endif
