#include "host_launch.hpp"

// host_launch.hpp defines what this header uses.
#include "cuda/sort.hpp"

// A stable sort on the host, in place of the one of CUB.
namespace gather::cuda {

namespace {

// The sort needs no scratch memory. It asks for some, so that the size of the allocation is tested.
int64_t scratch_of(int64_t count) { return 256 + count / 8; }

}  // namespace

int sort_scratch(int64_t count, int64_t* bytes) {
  if (const int code = emulation::enter_call()) return code;
  *bytes = scratch_of(count);
  return 0;
}

int sort_keys(SortRoom* room, int64_t count, int32_t bits, CUstream_st* stream) {
  const SortRoom given = *room;
  if (given.scratch_bytes < scratch_of(count)) emulation::count_violation("a sort has too little memory");
  std::swap(room->in, room->spare);
  return emulation::launch(1, 1, stream, [=](emulation::Block&) {
    std::vector<uint32_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0u);
    const uint32_t mask = bits < 32 ? (1u << bits) - 1 : ~0u;
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const uint32_t first = given.in.slices[a] & mask, second = given.in.slices[b] & mask;
      return first < second || (first == second && a < b);
    });
    for (size_t i = 0; i < order.size(); ++i) {
      given.spare.slices[i] = given.in.slices[order[i]];
      given.spare.updates[i] = given.in.updates[order[i]];
    }
    std::memset(given.scratch, 0xa5, static_cast<size_t>(given.scratch_bytes));
  });
}

int load_sort(CUstream_st*) { return emulation::enter_call(); }

}  // namespace gather::cuda
