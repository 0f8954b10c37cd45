#include "core/options/options.hpp"

#include <cinttypes>
#include <cstddef>

#include "core/base/option_list.hpp"
#include "core/base/structs.hpp"
#include "core/types/dtype.hpp"
#include "core/types/reduction.hpp"

namespace gather::core {
namespace {

constexpr gth_options defaults = GTH_OPTIONS_INIT;

// The operations that have a switch.
enum class Having : uint8_t { every, scatters, adders, bags };

bool has_switch(const Operation& operation, Having having) {
  if (having == Having::every) return true;
  if (operation.form == Form::bags) return having == Having::bags || having == Having::adders;
  if (operation.direction == Direction::gather || having == Having::bags) return false;
  return having == Having::adders || !operation.is_gradient();
}

struct Switch {
  const char* name;
  int32_t offset;
  int32_t gth_options::* field;
  int32_t highest;
  Having having;
};

// The options with values in [0, highest]. Other functions validate the other options.
#define GATHER_SWITCH(field, highest, having) \
  {#field, offsetof(gth_options, field), &gth_options::field, highest, Having::having},
#define GATHER_choice GATHER_SWITCH
#define GATHER_count GATHER_SWITCH
#define GATHER_given(name, highest, having) GATHER_SWITCH(has_##name, 1, having)
#define GATHER_int32(...)
#define GATHER_int64(...)
#define GATHER_dtype(...)
#define GATHER_OPTION(name, type, highest, having, ...) GATHER_##type(name, highest, having)
constexpr Switch switches[] = {GATHER_OPTIONS(GATHER_OPTION)};
#undef GATHER_SWITCH
#undef GATHER_choice
#undef GATHER_count
#undef GATHER_given
#undef GATHER_int32
#undef GATHER_int64
#undef GATHER_dtype
#undef GATHER_OPTION

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

int32_t fail_absent(const Operation& operation, int32_t offset, int32_t value, const char* what, const Error& error) {
  return error.fail({GTH_E_VERSION, GTH_OPERAND_OPTIONS, offset, -1, value, 0},
                    "options: %s is set, which %s does not have", what, operation.name);
}

int32_t check_switch(const Switch& each, int32_t value, const Operation& operation, const Error& error) {
  if (value < 0 || value > each.highest) {
    return error.fail({GTH_E_VERSION, GTH_OPERAND_OPTIONS, each.offset, -1, value, each.highest},
                      "options: %s is %" PRId32 ", valid are [0, %" PRId32 "]", each.name, value, each.highest);
  }
  if (value == 0 || has_switch(operation, each.having)) return GTH_OK;
  return fail_absent(operation, each.offset, value, each.name, error);
}

int32_t fail_value(int32_t offset, int64_t value, int64_t limit, const char* what, const Error& error) {
  return error.fail({GTH_E_VERSION, GTH_OPERAND_OPTIONS, offset, -1, value, limit}, "options: %s is %" PRId64, what,
                    value);
}

// Checks the fields of bags whose values are not from a fixed set. Other operations reject these fields.
int32_t check_bag_options(const gth_options& options, const Operation& operation, const Error& error) {
  const bool has_bags = operation.form == Form::bags;
  if (options.out_dtype && !(has_bags && find_dtype(options.out_dtype))) {
    return fail_value(offsetof(gth_options, out_dtype), options.out_dtype, 0, "out_dtype", error);
  }
  if (options.bag_count && options.bag_format != GTH_BAGS_SEGMENTS) {
    return fail_value(offsetof(gth_options, bag_count), options.bag_count, 0, "bag_count", error);
  }
  if (!has_bags) return GTH_OK;
  if (options.accumulate == GTH_ACCUMULATE_FLOAT64) {
    return fail_value(offsetof(gth_options, accumulate), options.accumulate, GTH_ACCUMULATE_FLOAT32,
                      "gather_bags does not accumulate in float64, accumulate", error);
  }
  if (bag_rules_of(options.profile).empty != EmptyBag::absent) return GTH_OK;
  return fail_value(offsetof(gth_options, profile), options.profile, 0, "gather_bags has no such profile, profile",
                    error);
}

void resolve_bag_options(const gth_options& options, BagSettings* out) {
  const BagRules& rules = bag_rules_of(options.profile);
  out->format = options.bag_format;
  out->pool = options.pool ? options.pool : GTH_POOL_SUM;
  out->empty = options.empty ? options.empty : rules.empty == EmptyBag::identity ? start_if_empty : GTH_EMPTY_ZERO;
  out->out_dtype = options.out_dtype;
  out->ends_early = rules.end == BagEnd::early;
  out->checks_when_empty = rules.check == BagCheck::always;
  out->rounds_each = options.accumulate == GTH_ACCUMULATE_DTYPE;
  out->count = options.bag_count;
}

}  // namespace

int32_t check_options(const gth_options& options, const Operation& operation, const Error& error) {
  for (const Switch& each : switches) {
    if (int32_t status = check_switch(each, options.*each.field, operation, error)) return status;
  }
  if (options.padding_index && !options.has_padding_index) {
    return fail_value(offsetof(gth_options, padding_index), options.padding_index, 0,
                      "has_padding_index is 0, but padding_index", error);
  }
  if (options.reserved) {
    return fail_value(offsetof(gth_options, reserved), options.reserved, 0, "a reserved field is set, reserved", error);
  }
  if (int32_t status = check_bag_options(options, operation, error)) return status;
  const bool has_fill = operation.direction == Direction::gather || operation.is_gradient();
  if (options.bounds != GTH_BOUNDS_FILL || has_fill) return GTH_OK;
  return fail_absent(operation, offsetof(gth_options, bounds), options.bounds, "bounds = fill", error);
}

void resolve_options(const gth_options* given, const Operation& operation, Settings* out) {
  const gth_options& options = given ? *given : defaults;
  const Profile& profile = profile_of(options.profile);
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
  const int32_t accumulate = options.accumulate ? options.accumulate : rules.accumulate;
  out->in_float32 = accumulate != GTH_ACCUMULATE_DTYPE;
  out->in_float64 = accumulate == GTH_ACCUMULATE_FLOAT64;
  out->starts_with_update = options.initial == GTH_INITIAL_UPDATE;
  out->any_order = options.order == GTH_ORDER_ANY;
  out->fill_value[0] = options.fill_value[0];
  out->fill_value[1] = options.fill_value[1];
  out->fill_dtype = options.fill_dtype;
  out->has_padding = options.has_padding_index != 0;
  out->padding = options.padding_index;
  out->given_opset = options.opset;
  if (operation.form == Form::bags) resolve_bag_options(options, &out->bags);
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
