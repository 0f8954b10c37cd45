#include "core/options/options.hpp"

#include <cinttypes>
#include <cstddef>

#include "core/base/structs.hpp"
#include "core/types/reduction.hpp"

namespace gather::core {
namespace {

constexpr gth_options defaults = GTH_OPTIONS_INIT;

struct Switch {
  const char* name;
  int32_t offset;
  int32_t gth_options::* field;
  int32_t highest;
};

constexpr Switch switches[] = {
    {"has_axis", offsetof(gth_options, has_axis), &gth_options::has_axis, 1},
    {"profile", offsetof(gth_options, profile), &gth_options::profile, GTH_PROFILE_JAX_CLIP},
    {"negative", offsetof(gth_options, negative), &gth_options::negative, GTH_NEGATIVE_WRAP},
    {"bounds", offsetof(gth_options, bounds), &gth_options::bounds, GTH_BOUNDS_ERROR_PARTIAL},
    {"fill", offsetof(gth_options, fill), &gth_options::fill, GTH_FILL_BY_DTYPE},
    {"extents", offsetof(gth_options, extents), &gth_options::extents, GTH_EXTENTS_BROADCAST},
    {"reduction", offsetof(gth_options, reduction), &gth_options::reduction, GTH_REDUCTION_MIN},
    {"accumulate", offsetof(gth_options, accumulate), &gth_options::accumulate, GTH_ACCUMULATE_FLOAT32},
    {"threads", offsetof(gth_options, threads), &gth_options::threads, INT32_MAX},
};

// Sets the definition that an ONNX profile follows, and the settings that depend on it.
void apply_definition(const gth_options& options, Opsets opsets, Settings* out) {
  const Definition* found = options.opset < 0 ? nullptr : find_definition(*out->operation, options.opset);
  out->has_definition = found != nullptr;
  out->definition = found ? found : find_definition(*out->operation, 0);
  out->has_batch_dims = out->definition->has_batch_dims;
  if (opsets == Opsets::text && !options.negative && !out->definition->allows_negatives) out->wraps = false;
}

int32_t check_defined_reduction(const Settings& settings, const Error& error) {
  const int32_t highest = settings.definition->highest_reduction;
  if (settings.reduction <= highest || settings.operation->direction == Direction::gather) return GTH_OK;
  return error.fail(
      {GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, reduction), -1, settings.reduction, highest},
      "options: reduction is %s, which %s of opset %" PRId32 " does not have", reduction_name(settings.reduction),
      settings.operation->name, settings.definition->opset);
}

// Rejects a reduction of a gather, and a fill value of a scatter.
int32_t check_direction(const gth_options& options, int32_t op, const Error& error) {
  const auto fail = [&](int32_t offset, int32_t value, const char* what) {
    return error.fail({GTH_E_VERSION, GTH_OPERAND_OPTIONS, offset, -1, value, 0},
                      "options: %s is set, which %s does not have", what, operation_of(op).name);
  };
  const Operation& operation = operation_of(op);
  const bool gathers = operation.direction == Direction::gather;
  if (options.reduction && (gathers || operation.is_gradient())) {
    return fail(offsetof(gth_options, reduction), options.reduction, "a reduction");
  }
  if (options.accumulate && gathers) {
    return fail(offsetof(gth_options, accumulate), options.accumulate, "accumulate");
  }
  if (options.bounds == GTH_BOUNDS_FILL && !gathers && !operation.is_gradient()) {
    return fail(offsetof(gth_options, bounds), options.bounds, "bounds = fill");
  }
  return GTH_OK;
}

}  // namespace

int32_t check_options(const gth_options* options, int32_t op, const Error& error) {
  if (!options) return GTH_OK;
  for (const Switch& each : switches) {
    const int32_t value = options->*each.field;
    if (value < 0 || value > each.highest) {
      return error.fail({GTH_E_VERSION, GTH_OPERAND_OPTIONS, each.offset, -1, value, each.highest},
                        "options: %s is %" PRId32 ", valid are [0, %" PRId32 "]", each.name, value, each.highest);
    }
  }
  if (options->out_dtype) {
    return error.fail({GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, out_dtype), -1, options->out_dtype, 0},
                      "options: out_dtype is reserved and must be 0");
  }
  return check_direction(*options, op, error);
}

void resolve_options(const gth_options* given, int32_t op, Settings* out) {
  const gth_options& options = given ? *given : defaults;
  const Profile& profile = profile_of(options.profile);
  const Operation& operation = operation_of(op);
  const Rules& rules = profile.rules[operation.rules - 1];
  out->operation = &operation;
  out->rules = &rules;
  out->definition = nullptr;
  out->has_axis = options.has_axis != 0;
  out->given_axis = options.axis;
  out->axis = options.has_axis ? options.axis : options.batch_dims;
  out->batch_dims = options.batch_dims;
  out->threads = options.threads;
  out->has_batch_dims = out->operation->has_batch_dims();
  // Only a gather splits tuples between the batches of its table.
  out->batch = operation.direction == Direction::gather ? rules.batch : BatchRule::equal;
  out->wraps = (options.negative ? options.negative : rules.negative) == GTH_NEGATIVE_WRAP;
  out->bounds = options.bounds ? options.bounds : rules.bounds;
  out->is_partial_on_error = out->bounds == GTH_BOUNDS_ERROR_PARTIAL;
  if (out->is_partial_on_error) out->bounds = GTH_BOUNDS_ERROR;
  out->fill = options.fill ? options.fill : rules.fill;
  out->extents = options.extents ? options.extents : rules.extents;
  out->reduction = options.reduction ? options.reduction : GTH_REDUCTION_NONE;
  if (operation.is_gradient()) {
    out->reduction = GTH_REDUCTION_ADD;
    if (out->bounds == GTH_BOUNDS_FILL) out->bounds = GTH_BOUNDS_SKIP;  // A fill value has no gradient.
  }
  out->in_float32 = (options.accumulate ? options.accumulate : rules.accumulate) == GTH_ACCUMULATE_FLOAT32;
  out->fill_value[0] = options.fill_value[0];
  out->fill_value[1] = options.fill_value[1];
  out->given_opset = options.opset;
  if (profile.opsets != Opsets::none) apply_definition(options, profile.opsets, out);
}

int32_t check_definition(const Settings& settings, const Error& error) {
  if (!settings.definition) return GTH_OK;
  if (settings.has_definition) return check_defined_reduction(settings, error);
  const int32_t opset = settings.given_opset, first = first_opset(*settings.operation);
  return error.fail({GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, opset), -1, opset, first},
                    "options: opset %" PRId32 ", %s begins with %" PRId32, opset, settings.operation->name, first);
}

}  // namespace gather::core
