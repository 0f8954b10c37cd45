#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace emulation {

// What comes after what: for every stream, by its number, how much of what it has been given is known to have been done.
// Streams learn of each other by events. What the host has waited for comes before all that is given from then on, and is
// forgotten.
using Clock = std::map<uint64_t, uint64_t>;

inline void join(Clock* clock, const Clock& other) {
  for (const auto& [stream, time] : other) {
    uint64_t& known = (*clock)[stream];
    if (known < time) known = time;
  }
}

// Whether all of it is known.
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
