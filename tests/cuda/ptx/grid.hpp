#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ptx {

// How an access is ordered, as PTX says it.
enum class Order : uint8_t { weak, relaxed, release, acq_rel };

// What the blocks of a grid do to memory that they share. Here one runs after the other, on a device all at once: what two
// of them do to one place, one of them writing and one of them weakly, must be ordered by what the first has released and
// the second acquired.
class Grid {
 public:
  void begin(uint32_t blocks);
  // Who stands for the host, as one block more.
  uint32_t host() const { return static_cast<uint32_t>(clocks_.size()) - 1; }
  // False: it races with what another block has done.
  bool access(uint32_t block, uint64_t at, uint64_t bytes, bool writes, Order order);

 private:
  using Clock = std::vector<uint32_t>;  // by block, how much of it is known
  struct Touch {
    uint32_t block, time;
    bool weak, writes;
  };
  bool races(const Touch& mine, const Touch& other) const;
  void note(std::vector<Touch>* byte, const Touch& touch) const;
  static void join(Clock* clock, const Clock& other);

  std::vector<Clock> clocks_;
  std::unordered_map<uint64_t, Clock> released_;
  std::unordered_map<uint64_t, std::vector<Touch>> bytes_;  // the last of each block
};

}  // namespace ptx
