#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace emulation {

// A vector clock: for every stream, by number, the amount of its work that is known to be complete. Streams learn of
// each other through events. Work that the host has waited for precedes all later work and is removed.
using Clock = std::map<uint64_t, uint64_t>;

inline void join(Clock* clock, const Clock& other) {
  for (const auto& [stream, time] : other) {
    uint64_t& known = (*clock)[stream];
    if (known < time) known = time;
  }
}

// Returns true if every event of the other clock precedes this clock.
inline bool knows(const Clock& clock, const Clock& other) {
  for (const auto& [stream, time] : other) {
    const auto found = clock.find(stream);
    if (found == clock.end() || found->second < time) return false;
  }
  return true;
}

inline void forget(Clock* clock, const Clock& known) {
  for (auto at = clock->begin(); at != clock->end();) {
    const auto found = known.find(at->first);
    at = found != known.end() && at->second <= found->second ? clock->erase(at) : std::next(at);
  }
}

}  // namespace emulation
