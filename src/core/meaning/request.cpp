#include "core/meaning/request.hpp"

#include "core/base/structs.hpp"

namespace gather::core {
namespace {

// Checks that the offsets of the output strings fit in memory. Each offset has 8 bytes. The offsets of params exist
// already.
int32_t check_offsets_memory(const Geometry& geometry, const Error& error) {
  const Error silent(nullptr);
  if (!check_size(geometry.ndim, geometry.shape, sizeof(int64_t), GTH_OPERAND_OUT, silent)) return GTH_OK;
  return error.fail({GTH_E_NOMEM, GTH_OPERAND_OUT, -1, -1, INT64_MAX, 0},
                    "out: the offsets of the strings do not fit in memory");
}

int32_t check_sizes(const Request& request, const Meaning& meaning, const Error& error) {
  const gth_tensor_desc &params = *request.table, &indices = *request.indices;
  const bool has_strings = params.dtype == GTH_DTYPE_STRING;
  const int64_t item = has_strings ? 1 : meaning.item;  // Strings have no fixed size.
  const Roles roles = meaning.geometry.roles;
  int32_t status = check_size(params.ndim, params.shape, item, roles.table, error);
  if (status) return status;
  const int64_t index_bytes = meaning.dtypes.indices->bytes;
  if ((status = check_size(indices.ndim, indices.shape, index_bytes, GTH_OPERAND_INDICES, error))) return status;
  status = check_size(meaning.geometry.ndim, meaning.geometry.shape, item, roles.rows, error);
  return status || !has_strings ? status : check_offsets_memory(meaning.geometry, error);
}

}  // namespace

int32_t check_desc(const gth_tensor_desc& desc, int32_t operand, const Error& error) {
  if (desc.flags & ~uint32_t{GTH_TENSOR_READONLY}) {
    return error.fail({GTH_E_VERSION, operand, -1, -1, desc.flags, GTH_TENSOR_READONLY}, "%s: unknown flags %u",
                      operand_name(operand), desc.flags);
  }
  if (desc.codec) return error.fail({GTH_E_VERSION, operand}, "%s: codec is reserved", operand_name(operand));
  if (desc.tensor) return error.fail({GTH_E_VERSION, operand}, "%s: tensor must be NULL here", operand_name(operand));
  return GTH_OK;
}

int32_t read_desc(const gth_tensor_desc* given, gth_tensor_desc* room, const gth_tensor_desc** out, int32_t operand,
                  const Error& error) {
  if (int32_t status = read_struct(given, room, out, operand, error)) return status;
  return check_desc(**out, operand, error);
}

int32_t resolve_meaning(const Request& request, Meaning* out, const Error& error) {
  const gth_tensor_desc &params = *request.table, &indices = *request.indices;
  resolve_options(request.options, request.op, &out->settings);
  const int32_t out_dtype = request.rows ? request.rows->dtype : params.dtype;
  int32_t status = resolve_dtypes(out->settings, params.dtype, indices.dtype, out_dtype, &out->dtypes, error);
  if (status) return status;
  if ((status = check_definition(out->settings, error))) return status;
  out->item = params.dtype == GTH_DTYPE_STRING ? int64_t{sizeof(int64_t)} : out->dtypes.table->bytes;
  status = resolve_geometry(out->settings, params, indices, request.open, &out->geometry, error);
  if (status) return status;
  if (request.rows && (status = check_output_rank(out->geometry, *request.rows, error))) return status;
  if (request.rows && (status = check_output_shape(out->geometry, *request.rows, error))) return status;
  return check_sizes(request, *out, error);
}

int32_t query_geometry(const Request& request, Geometry* out, const Error& error) {
  const gth_tensor_desc &params = *request.table, &indices = *request.indices;
  Settings settings;
  resolve_options(request.options, request.op, &settings);
  int32_t status = check_known_dtypes(settings, params.dtype, indices.dtype, error);
  if (status) return status;
  if ((status = check_definition(settings, error))) return status;
  if ((status = resolve_geometry(settings, params, indices, Open::any, out, error))) return status;
  return check_size(out->ndim, out->shape, 1, out->roles.rows, error);
}

}  // namespace gather::core
