#include "core/options.hpp"

#include <cinttypes>
#include <cstddef>

#include "core/structs.hpp"
#include "core/types.hpp"

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
    {"threads", offsetof(gth_options, threads), &gth_options::threads, INT32_MAX},
};

bool has_opset(int32_t profile) { return profile == GTH_PROFILE_ONNX || profile == GTH_PROFILE_ORT; }

// Gather 1 says "within bounds"; negative indices came with 11. ONNX Runtime wraps them in every opset.
bool refuses_negatives(int32_t profile, Op op, int32_t opset) {
  return profile == GTH_PROFILE_ONNX && op == Op::gather && opset < 11;
}

void resolve_definition(const gth_options& options, Op op, Settings* out) {
  const int32_t newest = resolve_opset(op, 0);
  const int32_t found = options.opset < 0 ? 0 : resolve_opset(op, options.opset);
  out->opset = found ? found : newest;
  if (!options.negative && refuses_negatives(options.profile, op, out->opset)) out->wraps = false;
  // GatherND 11 had no batch_dims yet.
  if (op == Op::gather_nd && out->opset < 12) out->has_batch_dims = false;
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
  return GTH_OK;
}

void resolve_options(const gth_options* given, Op op, Settings* out) {
  const gth_options& options = given ? *given : defaults;
  out->has_axis = options.has_axis != 0;
  out->given_axis = options.axis;
  out->axis = options.has_axis ? options.axis : options.batch_dims;
  out->batch_dims = options.batch_dims;
  out->profile = options.profile;
  out->threads = options.threads;
  out->rules = find_rules(options.profile, op);
  out->has_batch_dims = out->rules->has_batch_dims;
  out->wraps = (options.negative ? options.negative : out->rules->negative) == GTH_NEGATIVE_WRAP;
  out->bounds = options.bounds ? options.bounds : out->rules->bounds;
  out->fill = options.fill ? options.fill : out->rules->fill;
  out->fill_value[0] = options.fill_value[0];
  out->fill_value[1] = options.fill_value[1];
  out->opset = 0;
  out->given_opset = options.opset;
  if (has_opset(options.profile)) resolve_definition(options, op, out);
}

int32_t check_definition(Op op, const Settings& settings, const Error& error) {
  if (!has_opset(settings.profile)) return GTH_OK;
  const int32_t opset = settings.given_opset, first = first_opset(op);
  if (opset >= 0 && resolve_opset(op, opset) != 0) return GTH_OK;
  return error.fail({GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, opset), -1, opset, first},
                    "options: opset %" PRId32 ", the operation begins with %" PRId32, opset, first);
}

}  // namespace gather::core
