#include "grid.hpp"

#include <algorithm>

namespace ptx {

void Grid::begin(uint32_t blocks) {
  const uint32_t all = blocks + 1;
  clocks_.assign(all, Clock(all, 0));
  for (uint32_t block = 0; block < all; ++block) clocks_[block][block] = 1;
  released_.clear();
  bytes_.clear();
}

bool Grid::access(uint32_t block, uint64_t at, uint64_t bytes, bool writes, Order order) {
  Clock& now = clocks_[block];
  if (order == Order::acq_rel) join(&now, released_[at]);
  const Touch mine{block, now[block], order == Order::weak, writes};
  bool raced = false;
  for (uint64_t byte = at; byte < at + bytes; ++byte) {
    std::vector<Touch>& others = bytes_[byte];
    for (const Touch& other : others) raced |= races(mine, other);
    note(&others, mine);
  }
  if (order == Order::acq_rel || order == Order::release) {
    join(&released_[at], now);
    ++now[block];
  }
  return !raced;
}

bool Grid::races(const Touch& mine, const Touch& other) const {
  if (other.block == mine.block || !(mine.writes || other.writes) || !(mine.weak || other.weak)) return false;
  return clocks_[mine.block][other.block] < other.time;
}

// A weak access or a write stays recorded if a later access is neither.
void Grid::note(std::vector<Touch>* byte, const Touch& touch) const {
  const auto same = [&](const Touch& each) {
    return each.block == touch.block && each.weak == touch.weak && each.writes == touch.writes;
  };
  const auto found = std::find_if(byte->begin(), byte->end(), same);
  if (found == byte->end())
    byte->push_back(touch);
  else
    found->time = touch.time;
}

void Grid::join(Clock* clock, const Clock& other) {
  if (clock->size() < other.size()) clock->resize(other.size(), 0);
  for (size_t i = 0; i < other.size(); ++i) (*clock)[i] = std::max((*clock)[i], other[i]);
}

}  // namespace ptx
