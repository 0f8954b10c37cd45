#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

// Measures contestants side by side. They run alternately in each round, so a disturbance affects all of them.
namespace rounds {

using Body = std::function<void(int64_t repeats)>;
// Returns the nanoseconds of one repeat by round.
using Times = std::vector<double>;

constexpr int count = 401;
constexpr int64_t repeats = 2000;

inline double nanoseconds(const Body& body) {
  const auto begin = std::chrono::steady_clock::now();
  body(repeats);
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
  return taken.count() / static_cast<double>(repeats);
}

inline std::vector<Times> side_by_side(const std::vector<Body>& bodies) {
  for (const Body& body : bodies) nanoseconds(body);  // warm
  std::vector<Times> times(bodies.size());
  for (int round = 0; round < count; ++round) {
    for (size_t i = 0; i < bodies.size(); ++i) times[i].push_back(nanoseconds(bodies[i]));
  }
  return times;
}

inline double median(Times times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

// Returns the time that the second one takes longer within each round.
inline double difference(const Times& first, const Times& second) {
  Times more;
  for (size_t round = 0; round < first.size(); ++round) more.push_back(second[round] - first[round]);
  return median(more);
}

// Prevents the compiler from removing work.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace rounds
