#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "machine.hpp"

#define GATHER_TOUCH(address, bytes) emulation::touch(address, bytes)
#include "cuda/bodies.hpp"
#include "host_block.hpp"

// Runs the bodies of kernels block by block. It is included before other headers of kernels.
namespace emulation {

// A block in which a test can change data between validation and copy.
class Block : public HostBlock {
 public:
  using HostBlock::HostBlock;

  template <class F>
  bool any(F&& f) {
    before_copying(index());
    return HostBlock::any(f);
  }
  void waits_for_previous() { run_previous(); }
};

// Blocks run in any order. The last one is the one that runs last.
template <class Body>
int launch(uint32_t blocks, uint32_t threads, CUstream_st* stream, Body body, bool overlaps = false) {
  if (const int code = enter_call()) return code;
  let_others_run();
  return enqueue(
      stream,
      [=] {
        count_launch();
        std::vector<uint32_t> order(blocks);
        std::iota(order.begin(), order.end(), 0u);
        if (seed()) std::shuffle(order.begin(), order.end(), std::mt19937(seed()));
        for (const uint32_t index : order) {
          Block block(index, blocks, threads);
          body(block);
        }
      },
      overlaps);
}

}  // namespace emulation
