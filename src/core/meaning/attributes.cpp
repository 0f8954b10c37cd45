#include "core/meaning/attributes.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstddef>

namespace gather::core {
namespace {

constexpr int32_t axis_field = offsetof(gth_options, axis);
constexpr int32_t batch_field = offsetof(gth_options, batch_dims);

bool is_axis(int64_t axis, int32_t rank) { return axis >= -rank && axis < rank; }

int32_t normalised(int64_t dim, int32_t rank) { return static_cast<int32_t>(dim < 0 ? dim + rank : dim); }

int32_t fail_axis(int64_t value, int32_t rank, const Error& error) {
  return error.fail({GTH_E_AXIS, GTH_OPERAND_OPTIONS, axis_field, -1, value, rank},
                    "options: axis is %" PRId64 ", valid are [-%" PRId32 ", %" PRId32 ")", value, rank, rank);
}

int32_t fail_any_batch_dims(int64_t value, const Error& error) {
  return error.fail({GTH_E_BATCH, GTH_OPERAND_OPTIONS, batch_field, -1, value, 0},
                    "options: batch_dims is %" PRId64 ", but the operation has none here", value);
}

int32_t fail_any_axis(int64_t value, const char* why, const Error& error) {
  return error.fail({GTH_E_AXIS, GTH_OPERAND_OPTIONS, axis_field, -1, value, 0}, "options: axis is %" PRId64 ", but %s",
                    value, why);
}

int32_t resolve_gather_attributes(const Settings& settings, Ranks ranks, Geometry* out, const Error& error) {
  const int32_t r = ranks.table, q = ranks.indices;
  if (settings.has_axis && !is_axis(settings.axis, r)) return fail_axis(settings.axis, r, error);
  const int64_t b = settings.batch_dims;
  const int64_t lowest = settings.has_axis ? -q : -std::min(q, r), highest = std::min(q, r - 1);
  if (b != 0 && !settings.has_batch_dims) return fail_any_batch_dims(b, error);
  if (b < -q || b > q) return fail_batch_dims(b, q, lowest, highest, error);
  out->batch = normalised(b, q);
  if (out->batch >= r) return fail_batch_dims(b, r, lowest, highest, error);
  if (!is_axis(settings.axis, r)) return fail_batch_dims(b, r, lowest, highest, error);
  out->axis = normalised(settings.axis, r);
  if (out->axis >= out->batch) return GTH_OK;
  return error.fail({GTH_E_AXIS, GTH_OPERAND_OPTIONS, axis_field, -1, settings.axis, out->batch},
                    "options: axis is %" PRId64 ", below batch_dims, %" PRId32, settings.axis, out->batch);
}

int32_t resolve_gather_nd_attributes(const Settings& settings, Ranks ranks, Geometry* out, const Error& error) {
  if (settings.has_axis) return fail_any_axis(settings.axis, "gather_nd has none", error);
  const int32_t r = ranks.table, q = ranks.indices;
  const int64_t b = settings.batch_dims;
  if (b != 0 && !settings.has_batch_dims) return fail_any_batch_dims(b, error);
  if (settings.batch == BatchRule::divisible) {  // The rule counts tuples, so the rank of indices does not matter.
    if (b < 0 || b > r) return fail_batch_dims(b, r, 0, r, error);
  } else if (b < 0 || b >= std::min(q, r)) {
    return fail_batch_dims(b, std::min(q, r), 0, std::min(q, r) - 1, error);
  }
  out->batch = out->axis = static_cast<int32_t>(b);
  return GTH_OK;
}

// Every dim except the axis is a batch dim.
int32_t resolve_elements_attributes(const Settings& settings, Ranks ranks, Geometry* out, const Error& error) {
  const int64_t axis = settings.has_axis ? settings.axis : 0;
  const int32_t rank = std::max(ranks.table, 1);  // A scalar counts as one dim of one element.
  if (!is_axis(axis, rank)) return fail_axis(axis, rank, error);
  if (settings.batch_dims != 0) return fail_any_batch_dims(settings.batch_dims, error);
  out->batch = 0;
  out->axis = normalised(axis, rank);
  return GTH_OK;
}

}  // namespace

int32_t fail_batch_dims(int64_t value, int64_t limit, int64_t lowest, int64_t highest, const Error& error) {
  return error.fail({GTH_E_BATCH, GTH_OPERAND_OPTIONS, batch_field, -1, value, limit},
                    "options: batch_dims is %" PRId64 ", valid are [%" PRId64 ", %" PRId64 "]", value, lowest, highest);
}

int32_t check_stray_axis(const Settings& settings, const Error& error) {
  if (settings.has_axis || settings.given_axis == 0) return GTH_OK;
  return fail_any_axis(settings.given_axis, "has_axis is 0", error);
}

int32_t check_bag_attributes(const Settings& settings, const Error& error) {
  if (settings.has_axis) return fail_any_axis(settings.given_axis, "gather_bags has none", error);
  return settings.batch_dims == 0 ? GTH_OK : fail_any_batch_dims(settings.batch_dims, error);
}

int32_t resolve_attributes(const Settings& settings, Ranks ranks, Geometry* out, const Error& error) {
  if (settings.operation->form == Form::paired) return resolve_elements_attributes(settings, ranks, out, error);
  return settings.operation->has_components ? resolve_gather_nd_attributes(settings, ranks, out, error)
                                            : resolve_gather_attributes(settings, ranks, out, error);
}

}  // namespace gather::core
