#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ptx {

// The memory order of an access in PTX.
enum class Order : uint8_t { weak, relaxed, release, acq_rel };

// Records the accesses of blocks to shared memory. Here blocks run one after the other, on a device at the same time.
// Two accesses of different blocks to one place conflict if one is a write and one is weak. They must be ordered by a
// release of the first block and an acquire of the second.
class Grid {
 public:
  void begin(uint32_t blocks);
  // The number of the host, as an additional block.
  uint32_t host() const { return static_cast<uint32_t>(clocks_.size()) - 1; }
  // Returns false if the access races with that of another block.
  bool access(uint32_t block, uint64_t at, uint64_t bytes, bool writes, Order order);

 private:
  using Clock = std::vector<uint32_t>;  // for each block, the known part of its work
  struct Touch {
    uint32_t block, time;
    bool weak, writes;
  };
  bool races(const Touch& mine, const Touch& other) const;
  void note(std::vector<Touch>* byte, const Touch& touch) const;
  static void join(Clock* clock, const Clock& other);

  std::vector<Clock> clocks_;
  std::unordered_map<uint64_t, Clock> released_;
  std::unordered_map<uint64_t, std::vector<Touch>> bytes_;  // the last access of each block
};

}  // namespace ptx
