#include "poll.hpp"

#include <cstddef>

namespace ptx {
namespace {

const gth_error_record* polled = nullptr;

uint64_t begin() { return reinterpret_cast<uintptr_t>(polled); }

}  // namespace

bool is_polled(uint64_t at) { return polled && at >= begin() && at < begin() + sizeof *polled; }

// Only the device uses `reserved`.
bool poll(Grid* grid) {
  if (!polled || polled->count == 0) return true;
  constexpr uint64_t count_at = offsetof(gth_error_record, count), reserved_at = offsetof(gth_error_record, reserved);
  const uint32_t host = grid->host();
  bool is_whole = grid->access(host, begin() + count_at, sizeof polled->count, false, Order::acq_rel);
  for (uint64_t at = 0; at < sizeof *polled; at += 4) {
    if (at / 8 * 8 == count_at || at / 8 * 8 == reserved_at) continue;
    is_whole &= grid->access(host, begin() + at, 4, false, Order::weak);
  }
  return is_whole;
}

}  // namespace ptx

void gth_ptx_poll(const gth_error_record* record) { ptx::polled = record; }
