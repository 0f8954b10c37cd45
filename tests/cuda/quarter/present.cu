#include <utility>

#include "absent.hpp"

namespace {

template <int number>
__global__ void kernel() {}

template <int... numbers>
cudaError_t ask(int number, std::integer_sequence<int, numbers...>) {
  using Kernel = void (*)();
  constexpr Kernel kernels[] = {kernel<numbers>...};
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernels[number]));
}

}  // namespace

cudaError_t ask_present(int number) { return ask(number, std::make_integer_sequence<int, present_kernels>{}); }
