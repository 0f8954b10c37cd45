#include "core/options.hpp"

#include <cinttypes>
#include <cstddef>

#include "core/structs.hpp"

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
    {"bounds", offsetof(gth_options, bounds), &gth_options::bounds, GTH_BOUNDS_SKIP},
    {"fill", offsetof(gth_options, fill), &gth_options::fill, GTH_FILL_BY_DTYPE},
    {"extents", offsetof(gth_options, extents), &gth_options::extents, GTH_EXTENTS_BROADCAST},
    {"threads", offsetof(gth_options, threads), &gth_options::threads, INT32_MAX},
};

// The definition that an ONNX profile follows, and what follows from it.
void apply_definition(const gth_options& options, Opsets opsets, Settings* out) {
  const Definition* found = options.opset < 0 ? nullptr : find_definition(*out->operation, options.opset);
  out->has_definition = found != nullptr;
  out->definition = found ? found : find_definition(*out->operation, 0);
  out->has_batch_dims = out->definition->has_batch_dims;
  if (opsets == Opsets::text && !options.negative && !out->definition->allows_negatives) out->wraps = false;
}

}  // namespace

int32_t check_options_struct(const gth_options* options, const Error& error) {
  if (!options) return GTH_OK;
  if (int32_t status = check_struct(options, GTH_OPERAND_OPTIONS, error)) return status;
  for (const Switch& each : switches) {
    const int32_t value = options->*each.field;
    if (value < 0 || value > each.highest) {
      return error.fail({GTH_E_VERSION, GTH_OPERAND_OPTIONS, each.offset, -1, value, each.highest},
                        "options: %s is %" PRId32 ", valid are [0, %" PRId32 "]", each.name, value, each.highest);
    }
  }
  if (options->reserved) {
    return error.fail({GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, reserved), -1, options->reserved, 0},
                      "options: a reserved field is set");
  }
  return GTH_OK;
}

void resolve_options(const gth_options* given, Op op, Settings* out) {
  const gth_options& options = given ? *given : defaults;
  const Profile& profile = *find_profile(options.profile);
  const Rules& rules = profile.rules[static_cast<int32_t>(op)];
  out->operation = &operation_of(op);
  out->rules = &rules;
  out->definition = nullptr;
  out->has_axis = options.has_axis != 0;
  out->given_axis = options.axis;
  out->axis = options.has_axis ? options.axis : options.batch_dims;
  out->batch_dims = options.batch_dims;
  out->threads = options.threads;
  out->has_batch_dims = out->operation->has_batch_dims;
  out->wraps = (options.negative ? options.negative : rules.negative) == GTH_NEGATIVE_WRAP;
  out->bounds = options.bounds ? options.bounds : rules.bounds;
  out->fill = options.fill ? options.fill : rules.fill;
  out->extents = options.extents ? options.extents : rules.extents;
  out->fill_value[0] = options.fill_value[0];
  out->fill_value[1] = options.fill_value[1];
  out->given_opset = options.opset;
  if (profile.opsets != Opsets::none) apply_definition(options, profile.opsets, out);
}

int32_t check_definition(const Settings& settings, const Error& error) {
  if (!settings.definition || settings.has_definition) return GTH_OK;
  const int32_t opset = settings.given_opset, first = first_opset(*settings.operation);
  return error.fail({GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, opset), -1, opset, first},
                    "options: opset %" PRId32 ", %s begins with %" PRId32, opset, settings.operation->name, first);
}

}  // namespace gather::core
