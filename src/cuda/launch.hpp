#pragma once

#include <cstdint>

#include "core/plan/operands.hpp"
#include "core/plan/plan.hpp"
#include "cuda/kernels.hpp"
#include "cuda/pieces.hpp"

// How a plan runs on a device: which kernels, how many blocks. A function of shapes, strides and addresses only, never of
// data, so that it holds for every replay of a captured call.
namespace gather::cuda {

// So many index values are judged by every block of the copying kernel; more by a kernel in front of it.
constexpr int64_t judged_inside = 2048;

enum class Form : uint8_t { direct, small, any };

// What a launch takes from its context.
struct Place {
  int32_t multiprocessors;
  const Capacity* capacity;
  State* state;
  gth_error_record* record;
  int64_t sequence;
  bool owns_output;
};

struct Launch {
  Form form;
  Copy copy;
  Reading reading;
  bool reports_first;  // an index into an empty dim under bounds = clamp or modulo: the first tuple is the bad one
  uint32_t validating_blocks;  // of each kernel in front; 0: there is none
  uint32_t copying_blocks;     // of each that copies; 0: nothing is copied
  Limits limits;               // the job below is cut into pieces that keep them
  union {
    DirectJob direct;
    SmallJob small;
    AnyJob any;
  };
};

// For a run with tuples whose params are not refused.
void plan_launch(const core::Plan& plan, const core::Pointers& pointers, int64_t n, const Place& place, Launch* out);

}  // namespace gather::cuda
