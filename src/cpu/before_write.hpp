#pragma once

#include <cstdint>

#include "gather/gather.h"

namespace gather::cpu {

// A function that a scatter calls immediately before it writes. If it returns an error, the scatter returns that error
// and writes nothing.
struct BeforeWrite {
  int32_t (*call)(void* arg);
  void* arg;

  int32_t operator()() const { return call ? call(arg) : GTH_OK; }
};

}  // namespace gather::cpu
