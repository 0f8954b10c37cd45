#include "core/request.hpp"

#include "core/dtype.hpp"
#include "core/dtype_check.hpp"
#include "core/layout.hpp"
#include "core/structs.hpp"

namespace gather::core {
namespace {

// A string is gathered as its entry in the offsets.
int64_t element_bytes(int32_t dtype) {
  return dtype == GTH_DTYPE_STRING ? int64_t{sizeof(int64_t)} : find_dtype(dtype)->bytes;
}

// The offsets of strings are 8 bytes each, whatever the strings. Those of params are there.
int32_t check_offsets_memory(const Geometry& geometry, const Error& error) {
  const Error silent(nullptr);
  if (!check_size(geometry.ndim, geometry.shape, sizeof(int64_t), GTH_OPERAND_OUT, silent)) return GTH_OK;
  return error.fail({GTH_E_NOMEM, GTH_OPERAND_OUT, -1, -1, INT64_MAX, 0}, "out: more strings than memory has room for");
}

int32_t check_sizes(const Request& request, const Meaning& meaning, const Error& error) {
  const gth_tensor_desc &params = *request.params, &indices = *request.indices;
  const bool has_strings = params.dtype == GTH_DTYPE_STRING;
  const int64_t item = has_strings ? 1 : meaning.item;  // a string has at least no bytes
  const Roles roles = meaning.geometry.roles;
  int32_t status = check_size(params.ndim, params.shape, item, roles.indexed, error);
  if (status) return status;
  const int64_t index_bytes = find_dtype(indices.dtype)->bytes;
  if ((status = check_size(indices.ndim, indices.shape, index_bytes, GTH_OPERAND_INDICES, error))) return status;
  status = check_size(meaning.geometry.ndim, meaning.geometry.shape, item, roles.linear, error);
  return status || !has_strings ? status : check_offsets_memory(meaning.geometry, error);
}

}  // namespace

int32_t check_desc(const gth_tensor_desc* given, int32_t operand, const Error& error) {
  if (int32_t status = check_struct(given, operand, error)) return status;
  const gth_tensor_desc& desc = *given;
  if (desc.flags & ~uint32_t{GTH_TENSOR_READONLY}) {
    return error.fail({GTH_E_VERSION, operand, -1, -1, desc.flags, GTH_TENSOR_READONLY}, "%s: unknown flags %u",
                      operand_name(operand), desc.flags);
  }
  if (desc.reserved) {
    return error.fail({GTH_E_VERSION, operand}, "%s: a reserved field is set", operand_name(operand));
  }
  return GTH_OK;
}

int32_t check_structs(const Request& request, const Error& error) {
  const Roles roles = operation_of(request.op).roles();
  if (int32_t status = check_desc(request.params, roles.indexed, error)) return status;
  if (int32_t status = check_desc(request.indices, GTH_OPERAND_INDICES, error)) return status;
  if (request.out) {
    if (int32_t status = check_desc(request.out, roles.linear, error)) return status;
  }
  return check_options(request.options, request.op, error);
}

int32_t resolve_meaning(const Request& request, Meaning* out, const Error& error) {
  const gth_tensor_desc &params = *request.params, &indices = *request.indices;
  resolve_options(request.options, request.op, &out->settings);
  const int32_t out_dtype = request.out ? request.out->dtype : params.dtype;
  int32_t status = check_dtypes(out->settings, params.dtype, indices.dtype, out_dtype, error);
  if (status) return status;
  if ((status = check_definition(out->settings, error))) return status;
  out->item = element_bytes(params.dtype);
  status = resolve_geometry(out->settings, params, indices, request.open, &out->geometry, error);
  if (status) return status;
  if (request.out && (status = check_output_rank(out->geometry, *request.out, error))) return status;
  if (request.out && (status = check_output_shape(out->geometry, *request.out, error))) return status;
  return check_sizes(request, *out, error);
}

int32_t query_geometry(const Request& request, Geometry* out, const Error& error) {
  const gth_tensor_desc &params = *request.params, &indices = *request.indices;
  Settings settings;
  resolve_options(request.options, request.op, &settings);
  int32_t status = check_known_dtypes(settings, params.dtype, indices.dtype, error);
  if (status) return status;
  if ((status = check_definition(settings, error))) return status;
  if ((status = resolve_geometry(settings, params, indices, Open::any, out, error))) return status;
  return check_size(out->ndim, out->shape, 1, out->roles.linear, error);
}

}  // namespace gather::core
