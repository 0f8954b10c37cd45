#pragma once

#include <cstdint>
#include <cstdlib>

// What a run of the tests is told: how often, how long, from which seed; in a soak more than otherwise.
namespace environment {

inline int64_t number(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

inline double seconds(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atof(text) : otherwise;
}

}  // namespace environment
