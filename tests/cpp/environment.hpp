#pragma once

#include <cstdint>
#include <cstdlib>

// Settings of a test run from the environment: counts, durations and the seed. A long run sets larger values.
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
