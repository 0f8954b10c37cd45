#include <cstddef>
#include <functional>

#include "packed_request.hpp"

// Every codec that the header refuses, with the fields of the error.
namespace {

using namespace hostile;
using packed::bits_of, packed::has_nibbles, packed::size_of;

#define FIELD(name) static_cast<int32_t>(offsetof(gth_codec, name))

Facts of_field(int32_t status, int32_t field, int64_t value, int64_t limit) {
  return {status, GTH_OPERAND_CODEC, field, -1, value, limit};
}

// ---- Numbers of fields

TEST(PackedCodecErrors, L1_UnknownNumbersAreRefused) {
  struct Field {
    int32_t gth_codec::* member;
    int32_t at, last;
  };
  const Field fields[] = {{&gth_codec::structure, FIELD(structure), GTH_CODEC_NVFP4},
                          {&gth_codec::code, FIELD(code), GTH_CODE_TABLE4},
                          {&gth_codec::packing, FIELD(packing), GTH_PACKING_HALVES},
                          {&gth_codec::rule, FIELD(rule), GTH_RULE_FUSED},
                          {&gth_codec::scale_place, FIELD(scale_place), GTH_PLACE_OPERAND},
                          {&gth_codec::zero_place, FIELD(zero_place), GTH_PLACE_OPERAND},
                          {&gth_codec::reserved, FIELD(reserved), 0}};
  for (const Field& field : fields) {
    for (const int32_t value : {-1, field.last + 1, INT32_MAX, INT32_MIN}) {
      Request r;
      r.without_operands();
      r.codec.*field.member = value;
      r.expect_codec(of_field(GTH_E_VERSION, field.at, value, field.last), "a number");
    }
  }
  Request r;
  r.without_operands();
  r.codec.code = 0;
  r.expect_codec(of_field(GTH_E_VERSION, FIELD(code), 0, GTH_CODE_TABLE4), "no code");
}

TEST(PackedCodecErrors, L2_OrdersThatCodesDoNotHaveAreRefused) {
  for (const int32_t code : {GTH_CODE_UINT8, GTH_CODE_INT8, GTH_CODE_E4M3FN, GTH_CODE_E5M2}) {
    for (const int32_t packing : {GTH_PACKING_HIGH, GTH_PACKING_HALVES}) {
      Request r;
      r.without_operands();
      r.codec.code = code, r.codec.packing = packing;
      r.expect_codec(of_field(GTH_E_VERSION, FIELD(packing), packing, 0), "8 bits");
    }
  }
  for (const int32_t code : {GTH_CODE_UINT2, GTH_CODE_INT2}) {
    Request r;
    r.without_operands();
    r.codec.code = code, r.codec.packing = GTH_PACKING_HALVES, r.codec.block_values = 32;
    r.expect_codec(of_field(GTH_E_VERSION, FIELD(packing), GTH_PACKING_HALVES, GTH_PACKING_HIGH), "2 bits");
  }
  for (const int32_t packing : {GTH_PACKING_LOW, GTH_PACKING_HIGH}) {
    Request r;
    r.without_operands();
    r.codec.code = GTH_CODE_UINT5, r.codec.packing = packing, r.codec.block_values = 32;
    r.expect_codec(of_field(GTH_E_VERSION, FIELD(packing), packing, GTH_PACKING_HALVES), "5 bits");
  }
}

TEST(PackedCodecErrors, L2_HalvesWithoutWholeBlocksOf32AreRefused) {
  for (const int32_t code : {GTH_CODE_UINT4, GTH_CODE_INT4, GTH_CODE_TABLE4, GTH_CODE_UINT5}) {
    const float entries[16] = {};
    for (const int64_t block : {int64_t{1}, int64_t{16}, int64_t{31}, int64_t{33}, int64_t{64}, INT64_MAX}) {
      Request r;
      r.without_operands();
      r.codec.code = code, r.codec.packing = GTH_PACKING_HALVES, r.codec.block_values = block;
      r.codec.code_table = entries;
      r.expect_codec(of_field(GTH_E_SHAPE, FIELD(block_values), block, 32), "blocks of another size");
      r.codec.block_bytes = 64;
      r.expect_codec(of_field(GTH_E_SHAPE, FIELD(block_values), block, 32), "sized blocks of another size");
    }
    // A shorter last block has no halves.
    for (const int64_t values : {int64_t{8}, int64_t{16}, int64_t{24}, int64_t{40}, int64_t{48}, int64_t{56}}) {
      Request r;
      r.without_operands();
      r.codec.code = code, r.codec.packing = GTH_PACKING_HALVES, r.codec.block_values = 32;
      r.codec.code_table = entries;
      r.shape[1] = values;
      const Array out(f32, {2, values});
      r.rows = out.desc();
      r.expect_codec(of_field(GTH_E_SHAPE, FIELD(block_values), values, 32), "a shorter block");
    }
    Request r;
    r.without_operands();
    r.codec.code = code, r.codec.packing = GTH_PACKING_HALVES, r.codec.block_values = 0;
    r.codec.code_table = entries;
    r.expect_ok("a row of one block");
    r.shape[1] = 24;
    const Array out(f32, {2, 24});
    r.rows = out.desc();
    r.expect_codec(of_field(GTH_E_SHAPE, FIELD(block_values), 24, 32), "a row of 24");
  }
}

TEST(PackedCodecErrors, L1_NegativeSizesAreRefused) {
  const std::pair<int64_t gth_codec::*, int32_t> fields[] = {
      {&gth_codec::block_values, FIELD(block_values)}, {&gth_codec::block_bytes, FIELD(block_bytes)},
      {&gth_codec::row_tail, FIELD(row_tail)},         {&gth_codec::code_at, FIELD(code_at)},
      {&gth_codec::scale_at, FIELD(scale_at)},         {&gth_codec::zero_at, FIELD(zero_at)}};
  for (const auto& [member, at] : fields) {
    for (const int64_t value : {int64_t{-1}, INT64_MIN}) {
      Request r;
      r.without_operands();
      r.codec.*member = value;
      r.expect_codec(of_field(GTH_E_SIZE, at, value, 0), "a negative size");
    }
  }
}

// ---- Blocks

TEST(PackedCodecErrors, L3_CodesOutsideOfTheBlockAreRefused) {
  Request r;
  r.without_operands();
  r.codec.block_bytes = 20;
  r.codec.code_at = 4;
  r.expect_ok("the last byte");
  for (const int64_t at : {int64_t{5}, int64_t{20}, INT64_MAX}) {
    r.codec.code_at = at;
    r.expect_codec(of_field(GTH_E_SIZE, FIELD(code_at), at, 4), "codes");
  }
  r.codec.code_at = 0;
  for (const int64_t bytes : {int64_t{1}, int64_t{15}}) {
    r.codec.block_bytes = bytes;
    r.expect_codec(of_field(GTH_E_SIZE, FIELD(block_bytes), bytes, 16), "a block without room");
  }
  r.codec.block_bytes = 0;
  r.codec.code_at = 1;
  r.expect_codec(of_field(GTH_E_SIZE, FIELD(code_at), 1, 0), "blocks of codes only");
}

TEST(PackedCodecErrors, L3_PartsOutsideOfBlockOrTailAreRefused) {
  struct Part {
    int32_t gth_codec::* place;
    int32_t gth_codec::* dtype;
    int64_t gth_codec::* at;
    int32_t at_field;
    bool is_zero;
  };
  const Part parts[] = {
      {&gth_codec::scale_place, &gth_codec::scale_dtype, &gth_codec::scale_at, FIELD(scale_at), false},
      {&gth_codec::zero_place, &gth_codec::zero_dtype, &gth_codec::zero_at, FIELD(zero_at), true}};
  for (const Part& part : parts) {
    for (const int32_t place : {GTH_PLACE_BLOCK, GTH_PLACE_TAIL}) {
      for (const int32_t dtype : {f32, f16, bf16, GTH_DTYPE_FLOAT8_E4M3FN, GTH_DTYPE_FLOAT8_E8M0FNU, GTH_DTYPE_INT8,
                                  GTH_DTYPE_UINT8, GTH_ZERO_INT4, GTH_ZERO_UINT4}) {
        const bool is_integer = dtype < f16 || dtype == GTH_DTYPE_UINT8;
        if (is_integer && !part.is_zero) continue;
        Request r;
        r.without_operands();
        r.codec.block_bytes = 24;
        r.codec.row_tail = place == GTH_PLACE_TAIL ? 10 : 0;
        r.codec.*part.place = place;
        r.codec.*part.dtype = dtype;
        const int64_t last = (place == GTH_PLACE_TAIL ? 10 : 24) - size_of(dtype);
        r.codec.*part.at = last;
        r.expect_ok("the last byte");
        for (const int64_t at : {last + 1, last + size_of(dtype), INT64_MAX}) {
          r.codec.*part.at = at;
          r.expect_codec(of_field(GTH_E_SIZE, part.at_field, at, last), "a part");
        }
      }
    }
    // Without a tail, or without bytes for it in the blocks, there is no place.
    for (const int32_t place : {GTH_PLACE_BLOCK, GTH_PLACE_TAIL}) {
      Request r;
      r.without_operands();
      r.codec.*part.place = place;
      r.codec.*part.dtype = f16;
      Error error;
      EXPECT_EQ(gth_run_request(nullptr, &r.request, &error), GTH_E_SIZE);
      EXPECT_EQ(error.operand, GTH_OPERAND_CODEC);
      EXPECT_EQ(error.component, part.at_field);
    }
  }
}

TEST(PackedCodecErrors, L7_DtypesThatPartsDoNotHaveAreRefused) {
  for (const int32_t place : {GTH_PLACE_BLOCK, GTH_PLACE_TAIL, GTH_PLACE_OPERAND}) {
    for (const int32_t dtype :
         {0, -1, GTH_DTYPE_FLOAT64, GTH_DTYPE_FLOAT8_E5M2, GTH_DTYPE_BOOL, GTH_DTYPE_INT16, GTH_DTYPE_INT8,
          GTH_DTYPE_UINT8, GTH_ZERO_INT4, GTH_ZERO_UINT4, GTH_DTYPE_STRING, INT32_MAX}) {
      if (dtype == 0 && place == GTH_PLACE_OPERAND) continue;
      Request r;
      r.codec.block_bytes = 20, r.codec.row_tail = 4;
      r.codec.scale_place = place, r.codec.scale_dtype = dtype;
      if (place != GTH_PLACE_OPERAND) r.codec.scales = nullptr;
      r.expect(of_field(GTH_E_DTYPE, FIELD(scale_dtype), dtype, 0), "scales");
      const bool is_integer = dtype == GTH_DTYPE_INT8 || dtype == GTH_DTYPE_UINT8 || has_nibbles(dtype);
      if (is_integer) continue;
      Request z;
      z.codec.block_bytes = 20, z.codec.row_tail = 4;
      z.codec.zero_place = place, z.codec.zero_dtype = dtype;
      if (place != GTH_PLACE_OPERAND) z.codec.zeros = nullptr;
      z.expect(of_field(GTH_E_DTYPE, FIELD(zero_dtype), dtype, 0), "zeros");
    }
  }
}

TEST(PackedCodecErrors, L4_BlocksThatDoNotDivideTheRowAreRefused) {
  for (const int64_t block : {int64_t{3}, int64_t{31}, int64_t{33}, int64_t{64}}) {
    Request r;
    r.without_operands();
    r.codec.block_values = block;
    r.expect_ok("a shorter last block");
    r.codec.block_bytes = 64;
    r.expect_codec(of_field(GTH_E_SHAPE, FIELD(block_values), 32, block), "sized blocks");
  }
}

TEST(PackedCodecErrors, L4_RowsThatNamedBlocksDoNotDivideAreRefused) {
  constexpr int64_t blocks[] = {0, 256, 256, 256, 256, 256, 256, 32, 64};
  for (int32_t structure = 1; structure <= GTH_CODEC_NVFP4; ++structure) {
    const int64_t block = blocks[structure];
    for (const int64_t values : {int64_t{1}, block - 1, block + 1, block + block / 2}) {
      Request r;
      r.without_operands();
      r.codec = GTH_CODEC_INIT;
      r.codec.structure = structure;
      r.shape[1] = values;
      const Array out(f32, {2, values});
      r.rows = out.desc();
      r.expect_codec(of_field(GTH_E_SHAPE, FIELD(structure), values, block), "a row");
    }
  }
}

TEST(PackedCodecErrors, L4_RowsWithoutWholeBytesAreRefused) {
  struct Form {
    int32_t code;
    int64_t block, values, wrong, limit;
  };
  // The last number of a line is the number of codes in a byte.
  const Form forms[] = {{GTH_CODE_UINT4, 0, 31, 31, 2}, {GTH_CODE_INT4, 16, 33, 33, 2},  {GTH_CODE_UINT2, 0, 30, 30, 4},
                        {GTH_CODE_INT2, 0, 31, 31, 4},  {GTH_CODE_UINT4, 15, 30, 15, 2}, {GTH_CODE_UINT2, 6, 24, 6, 4},
                        {GTH_CODE_UINT4, 1, 2, 1, 2}};
  for (const Form& form : forms) {
    Request r;
    r.without_operands();
    r.codec.code = form.code, r.codec.block_values = form.block;
    r.shape[1] = form.values;
    const Array out(f32, {2, form.values});
    r.rows = out.desc();
    r.expect_codec(of_field(GTH_E_SHAPE, FIELD(block_values), form.wrong, form.limit), "codes");
  }
}

TEST(PackedCodecErrors, L1_FieldsOfFormatsByNameMustBeZero) {
  const float entries[16] = {};
  const std::pair<int32_t, std::function<void(gth_codec*)>> changes[] = {
      {FIELD(code), [](gth_codec* c) { c->code = 1; }},
      {FIELD(packing), [](gth_codec* c) { c->packing = 1; }},
      {FIELD(rule), [](gth_codec* c) { c->rule = 1; }},
      {FIELD(scale_place), [](gth_codec* c) { c->scale_place = 1; }},
      {FIELD(scale_dtype), [](gth_codec* c) { c->scale_dtype = 1; }},
      {FIELD(zero_place), [](gth_codec* c) { c->zero_place = 1; }},
      {FIELD(zero_dtype), [](gth_codec* c) { c->zero_dtype = 1; }},
      {FIELD(zero), [](gth_codec* c) { c->zero = 1; }},
      {FIELD(factor), [](gth_codec* c) { c->factor = 1; }},
      {FIELD(block_values), [](gth_codec* c) { c->block_values = 1; }},
      {FIELD(block_bytes), [](gth_codec* c) { c->block_bytes = 1; }},
      {FIELD(row_tail), [](gth_codec* c) { c->row_tail = 1; }},
      {FIELD(code_at), [](gth_codec* c) { c->code_at = 1; }},
      {FIELD(scale_at), [](gth_codec* c) { c->scale_at = 1; }},
      {FIELD(zero_at), [](gth_codec* c) { c->zero_at = 1; }},
      {FIELD(code_table), [&](gth_codec* c) { c->code_table = entries; }}};
  for (int32_t structure = 1; structure <= GTH_CODEC_NVFP4; ++structure) {
    for (const auto& [field, change] : changes) {
      Request r;
      r.codec = GTH_CODEC_INIT;
      r.codec.structure = structure;
      r.shape[1] = 256;
      const Array table(GTH_DTYPE_UINT8, {4, 256}), out(f32, {2, 256});
      r.params.data = table.data();
      r.rows = out.desc();
      r.expect_ok("no field");
      change(&r.codec);
      if (structure == GTH_CODEC_NVFP4 && field == FIELD(factor)) {
        r.expect_ok("the factor of NVFP4");
      } else {
        r.expect_codec(of_field(GTH_E_VERSION, field, 1, 0), "a field");
      }
    }
  }
}

TEST(PackedCodecErrors, TableOfCodesIsRequired) {
  Request r;
  r.without_operands();
  r.codec.code = GTH_CODE_TABLE4;
  r.expect_codec(of_field(GTH_E_NULL, FIELD(code_table), 0, 0), "no table");
}

TEST(PackedCodecErrors, L5_RowsBeyondInt64AreRefused) {
  Request r;
  r.without_operands();
  r.out.fill(0);
  int64_t bytes = 0;
  Error error;
  r.codec.row_tail = INT64_MAX;
  EXPECT_EQ(gth_codec_row_bytes(&r.codec, 32, &bytes, &error), GTH_E_SIZE);
  EXPECT_EQ(error.operand, GTH_OPERAND_CODEC);
  EXPECT_EQ(error.component, FIELD(row_tail));
  r.codec.row_tail = 0;
  r.codec.block_bytes = INT64_MAX;
  EXPECT_EQ(gth_codec_row_bytes(&r.codec, 32, &bytes, &error), GTH_E_SIZE);
  EXPECT_EQ(error.operand, GTH_OPERAND_CODEC);
  EXPECT_EQ(error.component, FIELD(block_bytes));
  r.codec.block_bytes = 0;
  for (const int32_t code : {GTH_CODE_UINT8, GTH_CODE_UINT4, GTH_CODE_UINT2}) {
    r.codec.code = code;
    for (const int64_t block : {int64_t{0}, int64_t{16}, INT64_MAX}) {
      r.codec.block_values = block;
      const int32_t status = gth_codec_row_bytes(&r.codec, INT64_MAX & ~int64_t{15}, &bytes, &error);
      if (status == GTH_OK) {
        EXPECT_EQ(bytes, (INT64_MAX & ~int64_t{15}) / (8 / bits_of(code))) << code << " " << block;
      } else {
        EXPECT_EQ(status, GTH_E_SIZE) << code << " " << block << ": " << error.message;
      }
    }
  }
}

// ---- Functions of codecs

TEST(PackedCodecErrors, UnknownNamesAreRefused) {
  for (const char* name : {"", "q8", "Q8_0", "q8_0 ", "q4_2", "nf", "nf44", "int8\n", "affine"}) {
    gth_codec codec = GTH_CODEC_INIT;
    codec.code = 77;
    Error error;
    EXPECT_EQ(gth_codec_named(name, &codec, &error), GTH_E_VERSION) << name;
    EXPECT_EQ(error.operand, GTH_OPERAND_CODEC);
    EXPECT_EQ(codec.code, 77) << name;
  }
  const std::string longest(1 << 20, 'q');
  gth_codec codec = GTH_CODEC_INIT;
  Error error;
  EXPECT_EQ(gth_codec_named(longest.c_str(), &codec, &error), GTH_E_VERSION);
  EXPECT_EQ(gth_codec_named(nullptr, &codec, &error), GTH_E_NULL);
  EXPECT_EQ(gth_codec_named("q8_0", nullptr, &error), GTH_E_NULL);
  EXPECT_EQ(gth_codec_named("q8_0", &codec, nullptr), GTH_OK);
}

TEST(PackedCodecErrors, ArgumentsOfRowBytesAreRequired) {
  gth_codec codec = GTH_CODEC_INIT;
  codec.code = GTH_CODE_UINT8;
  int64_t bytes = 5;
  Error error;
  EXPECT_EQ(gth_codec_row_bytes(nullptr, 8, &bytes, &error), GTH_E_NULL);
  EXPECT_EQ(gth_codec_row_bytes(&codec, 8, nullptr, &error), GTH_E_NULL);
  for (const int64_t values : {int64_t{-1}, INT64_MIN, int64_t{GTH_OPEN}})
    EXPECT_EQ(gth_codec_row_bytes(&codec, values, &bytes, &error), GTH_E_SHAPE) << values;
  EXPECT_EQ(bytes, 5);
  EXPECT_EQ(gth_codec_row_bytes(&codec, 0, &bytes, &error), GTH_OK) << error.message;
  EXPECT_EQ(bytes, 0);
}

}  // namespace
