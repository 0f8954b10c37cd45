#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

// How a failure gets from where it happens to the driver.
namespace bench {

using Failure = std::runtime_error;

// What bench_error() says.
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
