#pragma once

#include <cstdint>

#include "core/plan/plan.hpp"
#include "core/plan/pointers.hpp"
#include "cuda/gather_kernels.hpp"
#include "cuda/launch_pieces.hpp"

// How a plan runs on a device: kernels and numbers of blocks. They depend on shapes, strides and addresses, but never
// on data. So they are valid for every replay of a captured call.
namespace gather::cuda {

enum class Form : uint8_t { direct, small, any };

// The properties of the context that a launch uses.
struct Place {
  int32_t multiprocessors;
  const Capacity* capacity;
  State* state;
  gth_error_record* record;
  int64_t sequence;
  bool owns_output;
  bool validates_in_front = false;  // and never inside the copying kernel
};

struct Launch {
  Form form;
  Copy copy;
  Reading reading;
  bool reports_first;          // an index into an empty dim under bounds = clamp or modulo; the first tuple is reported
  uint32_t validating_blocks;  // blocks of each validating kernel, or 0 if there is none
  uint32_t copying_blocks;     // blocks of each copying kernel, or 0 if nothing is copied
  Limits limits;               // the job is split into pieces within these limits
  union {
    DirectJob direct;
    SmallJob small;
    AnyJob any;
  };
};

// Calls visit(job) with the job of a launch.
template <class Visit>
auto visit_form(const Launch& launch, Visit&& visit) {
  switch (launch.form) {
    case Form::direct: return visit(launch.direct);
    case Form::small: return visit(launch.small);
    default: return visit(launch.any);
  }
}

// Launches the validation of all tuples of a job. Returns CUDA's error number.
template <class Job>
int launch_validating(const Launch& launch, const Job& job, CUstream_st* stream) {
  return each_validated(job, launch.limits, [&](const Job& piece) {
    return launch_validate(launch.reading, piece, launch.validating_blocks, stream);
  });
}

// Repeats an element of 1 to 16 bytes, so that any part of a vector of elements can be taken from the result.
void repeat_element(const void* element, int64_t bytes, uint64_t to[2]);

// Returns true if bounds accepts every index, but a dim has no elements.
bool meets_empty_dim(const core::Plan& plan);

// Returns true if rows of the output may be padding.
inline bool gathers_padding(const core::Plan& plan) {
  return plan.has_padding && !core::is_scatter(plan) && !core::has_bags(plan);
}

// Precondition: the run has tuples, and its params have been accepted.
void plan_launch(const core::Plan& plan, const core::Pointers& pointers, int64_t n, const Place& place, Launch* out);

}  // namespace gather::cuda
