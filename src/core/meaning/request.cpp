#include "core/meaning/request.hpp"

#include <algorithm>

#include "core/base/structs.hpp"
#include "core/meaning/packed_meaning.hpp"

namespace gather::core {
namespace {

// Checks that the offsets of the output strings fit in memory. Each offset has 8 bytes. The offsets of the table exist
// already.
int32_t check_offsets_memory(const Geometry& geometry, const Error& error) {
  const Error silent(nullptr);
  if (!check_size(geometry.ndim, geometry.shape, sizeof(int64_t), GTH_OPERAND_OUT, silent)) return GTH_OK;
  return error.fail({GTH_E_NOMEM, GTH_OPERAND_OUT, -1, -1, INT64_MAX, 0},
                    "out: the offsets of the strings do not fit in memory");
}

// Strings have no fixed size. Each of them counts as one byte.
int32_t check_sizes(const Request& request, const Meaning& meaning, const Error& error) {
  const Operation& operation = *meaning.settings.operation;
  const Geometry& geometry = meaning.geometry;
  const RoleSet results = operation.operands.results;
  const int32_t status = for_each_role(request.roles | results, [&](Role role) GATHER_UNROLLED {
    const bool is_result = results & set_of(role);
    return check_size(is_result ? geometry.ndim : request[role]->ndim,
                      is_result ? geometry.shape : request[role]->shape, meaning.dtypes[role]->bytes,
                      operation.name_of(role), error);
  });
  if (status) return status;
  return request.table->dtype == GTH_DTYPE_STRING ? check_offsets_memory(geometry, error) : GTH_OK;
}

// Returns true if updates have fewer dims than the rows of a scatter, and these are the last dims of the rows.
bool are_repeated(const Settings& settings, const Geometry& geometry, const gth_tensor_desc* updates) {
  const Operation& operation = *settings.operation;
  if (operation.direction == Direction::gather || operation.is_gradient() || !settings.rules->repeats_updates ||
      !updates || updates->ndim < 0 || updates->ndim >= geometry.ndim || (updates->ndim > 0 && !updates->shape)) {
    return false;
  }
  const int64_t* const last = geometry.shape + geometry.ndim - updates->ndim;
  return std::equal(updates->shape, updates->shape + updates->ndim, last,
                    [](int64_t given, int64_t extent) { return given == extent && extent != GTH_OPEN; });
}

}  // namespace

int32_t check_desc(const gth_tensor_desc& desc, int32_t operand, bool may_be_packed, const Error& error) {
  if (desc.flags & ~uint32_t{GTH_TENSOR_READONLY}) {
    return error.fail({GTH_E_VERSION, operand, -1, -1, desc.flags, GTH_TENSOR_READONLY}, "%s: unknown flags %u",
                      operand_name(operand), desc.flags);
  }
  if (desc.codec && !may_be_packed) {
    return error.fail({GTH_E_UNSUPPORTED, operand}, "%s: must not have a codec here", operand_name(operand));
  }
  if (desc.tensor) return error.fail({GTH_E_VERSION, operand}, "%s: tensor must be NULL here", operand_name(operand));
  return GTH_OK;
}

int32_t read_desc(const gth_tensor_desc* given, gth_tensor_desc* room, const gth_tensor_desc** out, int32_t operand,
                  const Error& error) {
  if (int32_t status = read_struct(given, room, out, operand, error)) return status;
  return check_desc(**out, operand, false, error);
}

// Each call of a request needs all of these functions. Link-time optimisation inlines only some of them by itself.
__attribute__((flatten)) int32_t resolve_meaning(const Request& request, Meaning* out, const Error& error) {
  resolve_options(request.options, *request.operation, &out->settings);
  int32_t status = resolve_dtypes(out->settings, request, request.roles, false, &out->dtypes, error);
  if (status) return status;
  if ((status = check_definition(out->settings, error))) return status;
  out->item = request.table->dtype == GTH_DTYPE_STRING ? int64_t{sizeof(int64_t)} : out->dtypes.table->bytes;
  if ((status = resolve_geometry(out->settings, request, request.open, &out->geometry, error))) return status;
  if (request.codec && (status = resolve_packed_meaning(request, out, error))) return status;
  out->repeats_updates = are_repeated(out->settings, out->geometry, request.rows);
  if (!out->repeats_updates && (status = check_results(out->geometry, request, error))) return status;
  return check_sizes(request, *out, error);
}

__attribute__((flatten)) int32_t query_geometry(const Request& request, Geometry* out, const Error& error) {
  Settings settings;
  resolve_options(request.options, *request.operation, &settings);
  Dtypes found;
  int32_t status = resolve_dtypes(settings, request, request.roles, true, &found, error);
  if (status) return status;
  if ((status = check_definition(settings, error))) return status;
  if ((status = resolve_geometry(settings, request, Open::any, out, error))) return status;
  if (request.codec && (status = check_packed(request, *out, error))) return status;
  return check_size(out->ndim, out->shape, 1, settings.operation->name_of(Role::rows), error);
}

}  // namespace gather::core
