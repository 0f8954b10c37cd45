#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

// Passes a failure to the driver.
namespace bench {

using Failure = std::runtime_error;

// The text of bench_error().
std::string& last_failure();

template <class Body>
int32_t guarded(Body&& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& failure) {
    last_failure() = failure.what();
    return 1;
  }
}

}  // namespace bench
