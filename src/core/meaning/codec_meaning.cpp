#include "core/meaning/codec_meaning.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <iterator>
#include <utility>

#include "core/base/checked.hpp"

namespace gather::core {
namespace {

// ---- Errors

// A field of gth_codec.
struct Field {
  const char* name;
  size_t at;
};
#define GATHER_FIELD(name) (Field{#name, offsetof(gth_codec, name)})

int32_t fail_field(int32_t status, const Field& field, int64_t value, int64_t limit, const char* why,
                   const Error& error) {
  return error.fail({status, GTH_OPERAND_CODEC, static_cast<int32_t>(field.at), -1, value, limit},
                    "codec: %s: %s (%" PRId64 ", the bound is %" PRId64 ")", field.name, why, value, limit);
}

int32_t check_number(const Field& field, int32_t value, int32_t least, int32_t most, const Error& error) {
  if (value >= least && value <= most) return GTH_OK;
  return fail_field(GTH_E_VERSION, field, value, most, "unknown number", error);
}

int32_t check_positive(const Field& field, int64_t value, const Error& error) {
  return value >= 0 ? GTH_OK : fail_field(GTH_E_SIZE, field, value, 0, "must not be negative", error);
}

int32_t fail_size(const Field& field, int64_t value, const Error& error) {
  return fail_field(GTH_E_SIZE, field, value, INT64_MAX, "a row does not fit in memory", error);
}

// ---- Codes

int64_t bits_of(Code code) {
  switch (code) {
    case Code::uint4:
    case Code::int4:
    case Code::table4: return 4;
    case Code::uint2:
    case Code::int2: return 2;
    case Code::uint5: return 5;
    default: return 8;
  }
}

int32_t check_numbers(const gth_codec& given, const Error& error) {
  struct Range {
    Field field;
    int32_t value, least, most;
  };
  const Range ranges[] = {
      {GATHER_FIELD(structure), given.structure, 0, GTH_CODEC_NVFP4},
      {GATHER_FIELD(code), given.code, given.structure == GTH_CODEC_BLOCKS ? 1 : 0, GTH_CODE_TABLE4},
      {GATHER_FIELD(packing), given.packing, 0, GTH_PACKING_HALVES},
      {GATHER_FIELD(rule), given.rule, 0, GTH_RULE_FUSED},
      {GATHER_FIELD(scale_place), given.scale_place, 0, GTH_PLACE_OPERAND},
      {GATHER_FIELD(zero_place), given.zero_place, 0, GTH_PLACE_OPERAND},
      {GATHER_FIELD(reserved), given.reserved, 0, 0},
  };
  for (const Range& each : ranges) {
    if (int32_t status = check_number(each.field, each.value, each.least, each.most, error)) return status;
  }
  const std::pair<Field, int64_t> sizes[] = {
      {GATHER_FIELD(block_values), given.block_values}, {GATHER_FIELD(block_bytes), given.block_bytes},
      {GATHER_FIELD(row_tail), given.row_tail},         {GATHER_FIELD(code_at), given.code_at},
      {GATHER_FIELD(scale_at), given.scale_at},         {GATHER_FIELD(zero_at), given.zero_at},
  };
  for (const auto& [field, value] : sizes) {
    if (int32_t status = check_positive(field, value, error)) return status;
  }
  return GTH_OK;
}

// Checks that the packing is one of codes of this size, and sets it.
int32_t resolve_packing(const gth_codec& given, Codec* out, const Error& error) {
  const int64_t bits = bits_of(out->code);
  const int32_t most = bits == 8 ? 0 : bits == 2 ? GTH_PACKING_HIGH : GTH_PACKING_HALVES;
  const int32_t least = bits == 5 ? GTH_PACKING_HALVES : 0;
  if (given.packing < least || given.packing > most) {
    return fail_field(GTH_E_VERSION, GATHER_FIELD(packing), given.packing, most, "not a packing of these codes", error);
  }
  out->packing = bits == 8 ? CodePacking::none : static_cast<CodePacking>(given.packing + 1);
  const bool is_whole = out->block_values == 32 && out->values % 32 == 0;
  if (out->packing != CodePacking::halves || is_whole) return GTH_OK;
  const int64_t value = out->block_values == 32 ? out->values : out->block_values;
  return fail_field(GTH_E_SHAPE, GATHER_FIELD(block_values), value, 32, "halves need whole blocks of 32 numbers",
                    error);
}

// ---- Blocks

// Resolves blocks that are only codes. The last one may be shorter.
int32_t resolve_codes(const gth_codec& given, int64_t bits, Codec* out, const Error& error) {
  int64_t row_bits, block_bits;
  if (!multiply(out->values, bits, &row_bits) || !multiply(out->block_values, bits, &block_bits)) {
    return fail_size(GATHER_FIELD(block_values), std::max(out->values, out->block_values), error);
  }
  if (given.code_at > 0)
    return fail_field(GTH_E_SIZE, GATHER_FIELD(code_at), given.code_at, 0, "no byte of a block", error);
  const bool has_several = out->block_values < out->values;
  if (row_bits % 8 != 0 || (has_several && block_bits % 8 != 0)) {
    const int64_t value = row_bits % 8 != 0 ? out->values : out->block_values;
    return fail_field(GTH_E_SHAPE, GATHER_FIELD(block_values), value, 8 / bits, "rows and blocks need whole bytes",
                      error);
  }
  out->block_bytes = block_bits / 8;
  out->tail_at = row_bits / 8;
  return GTH_OK;
}

// Resolves blocks of a given size, which divide the row.
int32_t resolve_sized(const gth_codec& given, int64_t bits, Codec* out, const Error& error) {
  int64_t code_bits;
  if (!multiply(out->block_values, bits, &code_bits)) {
    return fail_size(GATHER_FIELD(block_values), out->block_values, error);
  }
  const int64_t room = given.block_bytes - (code_bits / 8 + (code_bits % 8 != 0));
  if (room < 0) {
    return fail_field(GTH_E_SIZE, GATHER_FIELD(block_bytes), given.block_bytes, given.block_bytes - room,
                      "smaller than the codes", error);
  }
  if (given.code_at > room) {
    return fail_field(GTH_E_SIZE, GATHER_FIELD(code_at), given.code_at, room, "codes outside of the block", error);
  }
  if (out->block_values > 0 && out->values % out->block_values != 0) {
    return fail_field(GTH_E_SHAPE, GATHER_FIELD(block_values), out->values, out->block_values,
                      "blocks do not divide the row", error);
  }
  out->block_bytes = given.block_bytes;
  out->code_at = given.code_at;
  if (!multiply(blocks_of(*out), given.block_bytes, &out->tail_at)) {
    return fail_size(GATHER_FIELD(block_bytes), given.block_bytes, error);
  }
  return GTH_OK;
}

// ---- Scales and zero points

struct PartFields {
  int32_t place, dtype;
  int64_t at;
  Field dtype_field, at_field;
  bool is_scale;
};

int32_t resolve_part(const PartFields& given, int64_t block_room, int64_t tail_room, CodecPart* out,
                     const Error& error) {
  *out = {static_cast<Place>(given.place), ScaleType::none, given.at};
  if (out->place == Place::none) return GTH_OK;
  const bool is_operand = out->place == Place::operand;
  out->type = scale_type_of(given.dtype);
  const bool may_be_unset = is_operand && given.dtype == 0;
  const bool is_known = given.is_scale ? is_scale_type(out->type) : out->type != ScaleType::none;
  if (!is_known && !may_be_unset) {
    return fail_field(GTH_E_DTYPE, given.dtype_field, given.dtype, 0, "no dtype of this part", error);
  }
  if (is_operand) return GTH_OK;
  const int64_t most = (out->place == Place::block ? block_room : tail_room) - bytes_of(out->type);
  if (given.at <= most) return GTH_OK;
  return fail_field(GTH_E_SIZE, given.at_field, given.at, most, "outside of its block or tail", error);
}

int32_t resolve_parts(const gth_codec& given, Codec* out, const Error& error) {
  const int32_t status = resolve_part(
      {given.scale_place, given.scale_dtype, given.scale_at, GATHER_FIELD(scale_dtype), GATHER_FIELD(scale_at), true},
      given.block_bytes, given.row_tail, &out->scale, error);
  if (status) return status;
  return resolve_part(
      {given.zero_place, given.zero_dtype, given.zero_at, GATHER_FIELD(zero_dtype), GATHER_FIELD(zero_at), false},
      given.block_bytes, given.row_tail, &out->zero, error);
}

int32_t add_tail(int64_t tail, Codec* out, const Error& error) {
  return add(out->tail_at, tail, &out->row_bytes) ? GTH_OK : fail_size(GATHER_FIELD(row_tail), tail, error);
}

int32_t resolve_blocks(const gth_codec& given, Codec* out, const Error& error) {
  out->structure = Structure::blocks;
  out->code = static_cast<Code>(given.code);
  out->rule = static_cast<Rule>(given.rule + 1);
  out->constant = given.zero;
  out->block_values = given.block_values ? given.block_values : out->values;
  if (int32_t status = resolve_packing(given, out, error)) return status;
  const int64_t bits = bits_of(out->code);
  int32_t status = given.block_bytes ? resolve_sized(given, bits, out, error) : resolve_codes(given, bits, out, error);
  if (status) return status;
  if ((status = resolve_parts(given, out, error))) return status;
  if ((status = add_tail(given.row_tail, out, error))) return status;
  if (out->code != Code::table4) return GTH_OK;
  if (!given.code_table) {
    return error.fail({GTH_E_NULL, GTH_OPERAND_CODEC, offsetof(gth_codec, code_table)}, "codec: code_table is NULL");
  }
  std::copy_n(given.code_table, std::size(out->table), out->table);
  return GTH_OK;
}

// ---- Formats by name

struct NamedBlock {
  Structure structure;
  int64_t values, bytes;
};

constexpr NamedBlock named_blocks[] = {
    {Structure::blocks, 0, 0},     {Structure::q2_k, 256, 84},  {Structure::q3_k, 256, 110},
    {Structure::q4_k, 256, 144},   {Structure::q5_k, 256, 176}, {Structure::q6_k, 256, 210},
    {Structure::iq4_xs, 256, 136}, {Structure::mxfp4, 32, 17},  {Structure::nvfp4, 64, 36}};

// Checks that the fields that a format by name does not use are 0.
int32_t check_unused(const gth_codec& given, const Error& error) {
  const std::pair<Field, int64_t> unused[] = {
      {GATHER_FIELD(code), given.code},
      {GATHER_FIELD(packing), given.packing},
      {GATHER_FIELD(rule), given.rule},
      {GATHER_FIELD(scale_place), given.scale_place},
      {GATHER_FIELD(scale_dtype), given.scale_dtype},
      {GATHER_FIELD(zero_place), given.zero_place},
      {GATHER_FIELD(zero_dtype), given.zero_dtype},
      {GATHER_FIELD(zero), given.zero != 0},
      {GATHER_FIELD(factor), given.structure == GTH_CODEC_NVFP4 ? 0 : given.factor != 0},
      {GATHER_FIELD(block_values), given.block_values},
      {GATHER_FIELD(block_bytes), given.block_bytes},
      {GATHER_FIELD(row_tail), given.row_tail},
      {GATHER_FIELD(code_at), given.code_at},
      {GATHER_FIELD(scale_at), given.scale_at},
      {GATHER_FIELD(zero_at), given.zero_at},
      {GATHER_FIELD(code_table), given.code_table != nullptr},
  };
  for (const auto& [field, value] : unused) {
    if (value != 0) {
      return fail_field(GTH_E_VERSION, field, value, 0, "must be 0, because the format has a name", error);
    }
  }
  return GTH_OK;
}

int32_t resolve_named(const gth_codec& given, Codec* out, const Error& error) {
  const NamedBlock& block = named_blocks[given.structure];
  if (int32_t status = check_unused(given, error)) return status;
  if (out->values % block.values != 0) {
    return fail_field(GTH_E_SHAPE, GATHER_FIELD(structure), out->values, block.values, "blocks do not divide the row",
                      error);
  }
  out->structure = block.structure;
  out->block_values = block.values;
  out->block_bytes = block.bytes;
  if (!multiply(blocks_of(*out), block.bytes, &out->tail_at)) {
    return fail_size(GATHER_FIELD(structure), out->values, error);
  }
  return add_tail(0, out, error);
}

}  // namespace

int32_t resolve_codec(const gth_codec& given, int64_t values, Codec* out, const Error& error) {
  if (int32_t status = check_numbers(given, error)) return status;
  *out = {};
  out->values = values;
  out->factor = given.factor == 0 ? 1 : given.factor;
  return given.structure == GTH_CODEC_BLOCKS ? resolve_blocks(given, out, error) : resolve_named(given, out, error);
}

ScaleType scale_type_of(int32_t dtype) {
  switch (dtype) {
    case GTH_DTYPE_FLOAT32: return ScaleType::float32;
    case GTH_DTYPE_FLOAT16: return ScaleType::float16;
    case GTH_DTYPE_BFLOAT16: return ScaleType::bfloat16;
    case GTH_DTYPE_FLOAT8_E4M3FN: return ScaleType::e4m3fn;
    case GTH_DTYPE_FLOAT8_E8M0FNU: return ScaleType::e8m0;
    case GTH_DTYPE_INT8: return ScaleType::int8;
    case GTH_DTYPE_UINT8: return ScaleType::uint8;
    case GTH_ZERO_INT4: return ScaleType::int4;
    case GTH_ZERO_UINT4: return ScaleType::uint4;
    default: return ScaleType::none;
  }
}

bool is_scale_type(ScaleType type) { return type >= ScaleType::float32 && type <= ScaleType::e8m0; }

int64_t bytes_of(ScaleType type) {
  switch (type) {
    case ScaleType::float32: return 4;
    case ScaleType::float16:
    case ScaleType::bfloat16: return 2;
    default: return 1;
  }
}

int64_t blocks_of(const Codec& codec) {
  if (codec.block_values == 0) return 0;
  return codec.values / codec.block_values + (codec.values % codec.block_values != 0);
}

}  // namespace gather::core
