#pragma once

#include "api/context.hpp"
#include "core/os/memory.hpp"
#include "core/plan/short.hpp"
#include "core/plan/short_bags.hpp"
#include "execution/execute.hpp"

namespace gather::api {

// The object of a plan handle.
struct PlanObject : core::Allocated {
  core::Short short_form;
  core::ShortBags short_bags;
  cpu::PoolBags short_pooling;  // NULL: short_bags is not set.
  bool is_short;                // short_form is set.
  bool is_bound;                // At least one operand is a tensor handle.
  cpu::Kernels kernels;
  core::ByRole<const gth_tensor*> bound;  // or nullptr
  core::RoleSet of_codec;                 // the operands of the codec
  core::ByRole<const void*> kept;         // the memory in their descriptions
  int32_t dtype;
  core::Plan plan;

  core::RoleSet bound_roles() const { return core::set_roles(bound); }
};

// A plan with the context and the memory of one run.
struct PlanRun {
  const Context* context = nullptr;
  const PlanObject* object = nullptr;
  core::Pointers pointers{};
  core::RoleSet kept = 0;  // the operands of the codec whose memory is that of the description

  const core::Plan& plan() const { return object->plan; }
};

// Finds context and plan of a run. run->pointers has the pointers of the caller. The function adds those of bound
// operands.
int32_t find_run(gth_context* context, const gth_plan* plan, PlanRun* run, const Error& error);

// The fields of gth_plan_args.
struct PlanArgs {
  core::Pointers pointers;
  int64_t n;
  core::Extents extents;
  bool has_extents;
};
// Checks that the plan is not NULL, and then the struct and its flags.
int32_t read_args(const gth_plan* plan, const gth_plan_args* given, PlanArgs* out, const Error& error);

// Returns the sizes of the memory of a run. The memory of bound and kept operands has been checked with the plan.
core::Extents without(core::RoleSet checked, core::Extents extents);

// Returns true if a run has a short form and is valid. *spans receives the accessed memory. Precondition: the context is
// one of the CPU.
bool check_short_form(const PlanRun& run, const PlanArgs& args, core::Spans* spans);

// Calls core::check_run. The sizes of bound and kept operands in `given` are ignored.
inline int32_t check_run(const PlanRun& run, int64_t n, const core::Extents* given, const Error& error) {
  const bool is_checked = run.object->is_bound || run.kept;
  if (!given || !is_checked) return core::check_run(run.plan(), run.pointers, n, given, error);
  const core::Extents extents = without(run.object->bound_roles() | run.kept, *given);
  return core::check_run(run.plan(), run.pointers, n, &extents, error);
}

}  // namespace gather::api
