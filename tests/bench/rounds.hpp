#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

// Timing side by side: the contestants take turns, round by round, so that what disturbs one disturbs all.
namespace bench {

using Clock = std::chrono::steady_clock;

inline double seconds(const std::function<void(int64_t)>& body, int64_t repeats) {
  const Clock::time_point begin = Clock::now();
  body(repeats);
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A number of repeats that takes at least a fifth of a millisecond: short enough to pass between two disturbances.
inline int64_t calibrate(const std::function<void(int64_t)>& body) {
  int64_t repeats = 1;
  while (seconds(body, repeats) < 2e-4) repeats *= 2;
  return repeats;
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Nanoseconds of one repeat: of the median round, and of the quickest. Others on the machine can only slow a round
// down, so the quickest says what the code costs, and the median what it cost here and now.
struct Time {
  double median, quickest;
};

// A body does its work `repeats` times.
inline std::vector<Time> side_by_side(const std::vector<std::function<void(int64_t)>>& bodies, int rounds = 2001) {
  std::vector<int64_t> repeats;
  for (const auto& body : bodies) repeats.push_back(calibrate(body));
  std::vector<std::vector<double>> times(bodies.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < bodies.size(); ++i) {
      times[i].push_back(1e9 * seconds(bodies[i], repeats[i]) / static_cast<double>(repeats[i]));
    }
  }
  std::vector<Time> result;
  for (const auto& each : times) result.push_back({median(each), *std::min_element(each.begin(), each.end())});
  return result;
}

// Keeps the compiler from dropping work.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace bench
