#pragma once

#include "cuda/column_launch.hpp"
#include "cuda/device_context.hpp"
#include "cuda/launch.hpp"
#include "cuda/scatter_kernels.hpp"
#include "cuda/strided.hpp"

// A call of a scatter, and what its ways of running have in common.
namespace gather::cuda {

// What a call finds instead of the result of a maximum or minimum.
struct Positions {
  const char *target, *updates;  // arrays
  int64_t* out;                  // by element of the target. Those without an update are not written.
};

struct ScatterCall {
  Context& context;
  runtime::Stream stream;
  const core::Plan& plan;
  const core::Pointers& pointers;
  int64_t n;
  const Place& place;
  const StridedJob* clear;  // nullptr, or what is written after the validation
  const Launch& launch;     // of a gather that would read the slices of the target
  bool is_captured;
  const Positions* positions;  // nullptr, or what is found
};

// Returns true if a kernel validates the indices, so that the others find its result in the state.
inline bool is_validated(const core::Plan& plan) { return plan.bounds == GTH_BOUNDS_ERROR && plan.components > 0; }

// Returns the first loop through the rows of a slice that threads divide between them. Rows of a tuple without
// components may be combined with one row of the target. They are then updates of their own.
int32_t first_row_loop(const core::Plan& plan, int64_t n);

// Makes a job of the form small of that of a launch. Precondition: its form is direct or small.
inline void copy_small_job(const Launch& launch, SmallJob* to) {
  if (launch.form == Form::small) {
    *to = launch.small;
    return;
  }
  static_cast<JobHead&>(*to) = launch.direct;
  to->loop[0] = launch.direct.loop[0];
  to->divider[0] = launch.direct.divider[0];
  to->component[0] = launch.direct.component[0];
}

// Calls launch(piece, apart) for the pieces of a job that are within the limit of a launch. apart: the offset of the
// piece, which is not in its addresses. Stops at the first error and returns it.
template <class Job, class LaunchPiece>
int each_of_units(const Job& job, LaunchPiece&& launch) {
  int code = 0;
  for (int64_t first = 0; !code && first < job.units;) {
    Job piece = job;
    piece.first_unit = first;
    piece.units = steps_from(job, goes_through_units<Job>, first, most_counted());
    const JobLoop apart = keep_steps(goes_through_units<Job>, first, piece.units, &piece);
    piece.indices += apart.index;
    first += piece.units;
    code = launch(piece, apart);
  }
  return code;
}

// Writes call.clear after the validation. Returns CUDA's error number.
int launch_clear_of(const ScatterCall& call);

// Launches the validation, and writes call.clear. Returns CUDA's error number.
int launch_validation(const ScatterCall& call);

// Then calls launch(). No other thread launches kernels of the context meanwhile.
template <class LaunchRest>
int launch_after_validation(const ScatterCall& call, LaunchRest&& launch) {
  call.context.launching.lock();
  int code = launch_validation(call);
  if (!code) code = launch();
  call.context.launching.unlock();
  return code;
}

}  // namespace gather::cuda
