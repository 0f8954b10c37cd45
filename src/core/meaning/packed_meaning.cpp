#include "core/meaning/packed_meaning.hpp"

#include <cinttypes>
#include <cstddef>

#include "core/meaning/codec_meaning.hpp"

namespace gather::core {
namespace {

int32_t check_decoded_dtype(int32_t operand, int32_t dtype, const Error& error) {
  if (dtype == GTH_DTYPE_FLOAT32 || dtype == GTH_DTYPE_FLOAT16 || dtype == GTH_DTYPE_BFLOAT16) return GTH_OK;
  return error.fail({GTH_E_DTYPE, operand, -1, -1, dtype, 0},
                    "%s: packed rows are decoded to float32, float16 or bfloat16, not to %s", operand_name(operand),
                    dtype_name(dtype));
}

// Checks the dtype, and that no index selects in the last dim of the table. A dtype of 0 is not known.
int32_t check_table(const Request& request, const Geometry& geometry, const Error& error) {
  const gth_tensor_desc& table = *request.table;
  const int32_t operand = request.operation->name_of(Role::table), last = table.ndim - 1;
  if (int32_t status = table.dtype ? check_decoded_dtype(operand, table.dtype, error) : GTH_OK) return status;
  if (request.operation->form == Form::paired) {
    return error.fail({GTH_E_UNSUPPORTED, operand}, "%s: %s selects elements, and packed rows are selected whole",
                      operand_name(operand), request.operation->name);
  }
  const int32_t indexed = geometry.axis + geometry.components;
  if (indexed <= last) return GTH_OK;
  return error.fail({GTH_E_AXIS, GTH_OPERAND_OPTIONS, -1, -1, indexed - 1, last - 1},
                    "options: indices select in dim %" PRId32 ", and the numbers of a packed row cannot be selected",
                    indexed - 1);
}

// Checks the dtype of an operand of the codec, and sets its type. `stated` is the dtype in the codec, or 0. Integers of 4
// bits are described as bytes.
int32_t resolve_type(const gth_tensor_desc& desc, int32_t operand, int32_t stated, bool is_scale, CodecPart* part,
                     const Error& error) {
  const int32_t needed = part->shares_bytes() ? GTH_DTYPE_UINT8 : stated;
  const ScaleType given = scale_type_of(desc.dtype);
  const bool is_whole = given != ScaleType::int4 && given != ScaleType::uint4;
  const bool is_known = is_whole && (is_scale ? is_scale_type(given) : given != ScaleType::none);
  if (!is_known || (needed && desc.dtype != needed)) {
    return error.fail({GTH_E_DTYPE, operand, -1, -1, desc.dtype, needed}, "%s: dtype %s is not that of the codec",
                      operand_name(operand), dtype_name(desc.dtype));
  }
  if (!part->shares_bytes()) part->type = given;
  return GTH_OK;
}

// Checks that an operand of the codec has the dims of the table, and one for the blocks. Each extent may be 1.
int32_t check_part_shape(const gth_tensor_desc& table, const gth_tensor_desc& desc, int32_t operand, int64_t blocks,
                         Open open, const Error& error) {
  if (int32_t status = check_rank(desc, operand, error)) return status;
  if (desc.ndim != table.ndim) {
    return error.fail({GTH_E_RANK, operand, -1, -1, desc.ndim, table.ndim},
                      "%s: rank is %" PRId32 ", needed is %" PRId32, operand_name(operand), desc.ndim, table.ndim);
  }
  if (int32_t status = check_extents(desc, operand, open, error)) return status;
  for (int32_t i = 0; i < desc.ndim; ++i) {
    const int64_t needed = i == desc.ndim - 1 ? blocks : table.shape[i];
    if (desc.shape[i] != needed && desc.shape[i] != 1) {
      return fail_extent(GTH_E_SHAPE, operand, i, desc.shape[i], needed, error);
    }
  }
  return GTH_OK;
}

int32_t resolve_part(const Request& request, Role role, CodecPart* part, Meaning* meaning, const Error& error) {
  const gth_tensor_desc& desc = *request[role];
  const int32_t operand = request.operation->name_of(role);
  const bool is_scale = role == Role::scales;
  const int32_t stated = is_scale ? request.codec->scale_dtype : request.codec->zero_dtype;
  if (int32_t status = resolve_type(desc, operand, stated, is_scale, part, error)) return status;
  meaning->dtypes[role] = find_dtype(desc.dtype);
  const int64_t blocks = blocks_of(meaning->codec);
  const int64_t extent = part->shares_bytes() ? blocks / 2 + blocks % 2 : blocks;
  return check_part_shape(*request.table, desc, operand, extent, request.open, error);
}

int32_t check_known_extents(const Request& request, const Error& error) {
  const gth_tensor_desc& table = *request.table;
  const int32_t operand = request.operation->name_of(Role::table);
  for (int32_t i = 0; i < table.ndim; ++i) {
    if (table.shape[i] == GTH_OPEN) {
      return error.fail({GTH_E_UNSUPPORTED, operand, i, -1, GTH_OPEN, 0}, "%s: extents of packed rows cannot be open",
                        operand_name(operand));
    }
  }
  return GTH_OK;
}

}  // namespace

int32_t check_packed(const Request& request, const Geometry& geometry, const Error& error) {
  if (int32_t status = check_table(request, geometry, error)) return status;
  Codec codec;
  const int64_t values = request.table->shape[request.table->ndim - 1];
  return values == GTH_OPEN ? GTH_OK : resolve_codec(*request.codec, values, &codec, error);
}

int32_t resolve_packed_meaning(const Request& request, Meaning* meaning, const Error& error) {
  const gth_tensor_desc& table = *request.table;
  if (int32_t status = check_table(request, meaning->geometry, error)) return status;
  if (int32_t status = check_known_extents(request, error)) return status;
  Codec& codec = meaning->codec;
  if (int32_t status = resolve_codec(*request.codec, table.shape[table.ndim - 1], &codec, error)) return status;
  for (Role role : EachRole{request.roles & request.operation->operands.of_codec}) {
    CodecPart& part = role == Role::scales ? codec.scale : codec.zero;
    if (int32_t status = resolve_part(request, role, &part, meaning, error)) return status;
  }
  const bool has_bounds = request.options && request.options->bounds;
  const int32_t packed_bounds = meaning->settings.rules->packed_bounds;
  if (!has_bounds && packed_bounds) meaning->settings.bounds = packed_bounds;
  return GTH_OK;
}

}  // namespace gather::core
