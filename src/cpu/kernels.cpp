#include "cpu/kernels.hpp"

#include <cstring>

namespace gather::cpu {
namespace {

void fill_row(const core::Plan& plan, char* out) {
  const uint64_t* fill = plan.fill;
  const int64_t item = plan.item.bytes();
  if ((fill[0] | fill[1]) == 0 || item == 1) {
    std::memset(out, static_cast<int>(fill[0] & 0xff), static_cast<size_t>(plan.row.out));
    return;
  }
  for (int64_t at = 0; at < plan.row.out; at += item) std::memcpy(out + at, fill, static_cast<size_t>(item));
}

}  // namespace

Kernels choose_kernels(const core::Plan& plan) { return {are_inside, resolve, choose_copy(plan.row.in), fill_row}; }

}  // namespace gather::cpu
