#include "packed_cases.hpp"
#include "samples.hpp"

// Numbers of packed rows at their limits: every code, every scale of 16 and 8 bits, special scales, rounding, every
// length of rows, and formats by their names.
namespace {

using namespace packed;
using hostile::Error;

constexpr int32_t codes[] = {GTH_CODE_UINT8, GTH_CODE_INT8,  GTH_CODE_UINT4,  GTH_CODE_INT4, GTH_CODE_UINT2,
                             GTH_CODE_INT2,  GTH_CODE_UINT5, GTH_CODE_E4M3FN, GTH_CODE_E5M2, GTH_CODE_TABLE4};
constexpr uint32_t specials[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x3f800000,
                                 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x33800000};

float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Gathers all rows of a table, and compares each number with the oracle.
void expect_rows(const Table& table) {
  const Described described(table);
  const int64_t rows = table.rows(), values = table.values();
  std::vector<int64_t> numbers(static_cast<size_t>(rows));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  const hostile::Array ids(GTH_DTYPE_INT64, {rows}, numbers), out(table.dtype, {rows, values});
  const gth_tensor_desc indices = ids.desc(), to = out.desc();
  Error error;
  ASSERT_EQ(gth_gather(nullptr, &described.params, &indices, &to, nullptr, &error), GTH_OK) << error.message;
  const int64_t item = gth_dtype_size(table.dtype);
  for (int64_t i = 0; i < rows; ++i) {
    const std::vector<float> expected = decode_row(described.params, i);
    for (int64_t j = 0; j < values; ++j) {
      char bytes[4];
      encode(table.dtype, expected[static_cast<size_t>(j)], bytes);
      const char* const found = out.data() + (i * values + j) * item;
      ASSERT_TRUE(is_same(table.dtype, found, bytes))
          << "number " << j << " of row " << i << " is " << decode(table.dtype, found) << ", expected "
          << decode(table.dtype, bytes) << ": " << describe(table);
    }
  }
}

// Returns a table of dense rows without an operand. Its bytes count from 0.
Table table_of(const gth_codec& codec, int64_t rows, int64_t values) {
  Table table;
  table.codec = codec;
  table.shape = {rows, values};
  table.row_bytes = row_bytes(codec, values);
  table.memory.resize(static_cast<size_t>(rows * table.row_bytes));
  for (size_t i = 0; i < table.memory.size(); ++i) table.memory[i] = static_cast<char>(i);
  return table;
}

gth_codec named(const char* name) {
  gth_codec codec = GTH_CODEC_INIT;
  Error error;
  EXPECT_EQ(gth_codec_named(name, &codec, &error), GTH_OK) << name << ": " << error.message;
  return codec;
}

// ---- Codes

TEST(PackedValues, EveryCodeOfEveryOrderIsDecoded) {
  for (const int32_t code : codes) {
    for (int32_t packing = 0; packing <= GTH_PACKING_HALVES; ++packing) {
      const int64_t bits = bits_of(code);
      if (bits == 5 ? packing != GTH_PACKING_HALVES : packing > (bits == 8 ? 0 : bits == 2 ? 1 : 2)) continue;
      for (const int32_t rule : {GTH_RULE_SCALED, GTH_RULE_FUSED}) {
        for (const float zero : {0.0f, -0.0f, 3.0f, 0.3f}) {
          for (const int32_t dtype : {f32, f16, bf16}) {
            gth_codec codec = GTH_CODEC_INIT;
            codec.code = code, codec.packing = packing, codec.rule = rule, codec.zero = zero;
            codec.block_values = packing == GTH_PACKING_HALVES ? 32 : 0;
            Table table = table_of(codec, 2, bits == 5 ? 32 * 40 : 512 * 8 / bits);
            table.dtype = dtype;
            for (size_t i = 0; i < 16; ++i) table.entries[i] = float_of(specials[i % std::size(specials)]);
            expect_rows(table);
          }
        }
      }
    }
  }
}

TEST(PackedValues, EveryLengthOfRowsIsDecoded) {
  for (const int32_t code : codes) {
    const int64_t bits = bits_of(code), step = bits == 5 ? 32 : bits == 8 ? 1 : 8 / bits;
    for (int64_t values = step; values <= 300; values += step) {
      gth_codec codec = GTH_CODEC_INIT;
      codec.code = code, codec.row_tail = 3;
      if (bits == 5) codec.packing = GTH_PACKING_HALVES, codec.block_values = 32;
      codec.zero = 1.7f, codec.factor = 0.9f;
      Table table = table_of(codec, 3, values);
      draw_entries(&table);
      expect_rows(table);
    }
  }
}

TEST(PackedValues, EveryBlockSizeIsDecoded) {
  for (const int32_t code : {GTH_CODE_UINT8, GTH_CODE_INT4, GTH_CODE_UINT2, GTH_CODE_E5M2}) {
    for (int64_t block = 1; block <= 70; ++block) {
      gth_codec codec = GTH_CODEC_INIT;
      codec.code = code, codec.block_values = block;
      codec.scale_place = GTH_PLACE_BLOCK, codec.scale_dtype = f16;
      codec.zero_place = GTH_PLACE_BLOCK, codec.zero_dtype = GTH_DTYPE_INT8;
      codec.scale_at = 1, codec.code_at = 3, codec.block_bytes = 3 + code_bytes(codec, block);
      Table table = table_of(codec, 2, block * 5);
      write_rows(&table);
      expect_rows(table);
    }
  }
}

TEST(PackedValues, EveryColumnHasItsScale) {
  for (const int64_t values : {1, 7, 8, 33, 129, 1025}) {
    gth_codec codec = GTH_CODEC_INIT;
    codec.code = GTH_CODE_UINT8, codec.rule = GTH_RULE_FUSED, codec.block_values = 1;
    codec.scale_place = codec.zero_place = GTH_PLACE_OPERAND;
    Table table = table_of(codec, 4, values);
    table.scales.make(f32, {1, values}, true);
    table.zeros.make(f32, {1, values}, true);
    for (int64_t i = 0; i < values; ++i) draw_number(f32, table.scales.at(i)), draw_number(f32, table.zeros.at(i));
    expect_rows(table);
  }
}

// ---- Scales

TEST(PackedValues, EveryFloat16InABlockIsConverted) {
  for (const char* name : {"q4_0", "q4_1", "q8_0"}) {
    Table table = table_of(named(name), 64, 1024 * 32);
    for (int64_t i = 0; i < 65536; ++i) {
      const auto scale = static_cast<uint16_t>(i), bias = static_cast<uint16_t>(i * 40503);
      char* const block = table.memory.data() + i * table.codec.block_bytes;
      std::memcpy(block, &scale, 2);
      if (table.codec.zero_place == GTH_PLACE_BLOCK) std::memcpy(block + 2, &bias, 2);
    }
    expect_rows(table);
  }
}

TEST(PackedValues, EveryFloat16InATailIsConverted) {
  Table table = table_of(named("rowwise4"), 65536, 4);
  for (int64_t i = 0; i < 65536; ++i) {
    const auto scale = static_cast<uint16_t>(i), bias = static_cast<uint16_t>(i * 40503);
    std::memcpy(table.memory.data() + i * 6 + 2, &scale, 2);
    std::memcpy(table.memory.data() + i * 6 + 4, &bias, 2);
  }
  expect_rows(table);
}

TEST(PackedValues, EveryScaleOfAnOperandIsConverted) {
  for (const int32_t dtype : {f16, bf16, GTH_DTYPE_FLOAT8_E4M3FN, GTH_DTYPE_FLOAT8_E8M0FNU}) {
    for (const float factor : {0.0f, 0.7f}) {
      gth_codec codec = named("uint8");
      codec.block_values = 16, codec.factor = factor;
      const int64_t count = gth_dtype_size(dtype) == 2 ? 65536 : 256;
      Table table = table_of(codec, 16, count);
      table.scales.make(dtype, {16, count / 16}, true);
      for (int64_t i = 0; i < count; ++i) table.scales.set(i, i);
      expect_rows(table);
    }
  }
}

TEST(PackedValues, EveryZeroPointIsConverted) {
  for (const int32_t dtype : part_dtypes) {
    for (const int32_t rule : {GTH_RULE_SCALED, GTH_RULE_FUSED}) {
      gth_codec codec = named("uint8");
      codec.block_values = 2, codec.rule = rule;
      codec.scale_place = GTH_PLACE_NONE, codec.zero_place = GTH_PLACE_OPERAND, codec.zero_dtype = dtype;
      Table table = table_of(codec, 2, 1024);
      const bool shares = has_nibbles(dtype);
      table.zeros.make(shares ? GTH_DTYPE_UINT8 : dtype, {2, shares ? 256 : 512}, true);
      if (gth_dtype_size(table.zeros.desc.dtype) == 1) {
        for (int64_t i = 0; i < product(table.zeros.shape); ++i) table.zeros.set(i, i);
      }
      expect_rows(table);
    }
  }
}

TEST(PackedValues, EveryPairOfSpecialScaleAndZeroIsComputed) {
  constexpr auto count = static_cast<int64_t>(std::size(specials));
  for (const int32_t code : {GTH_CODE_UINT8, GTH_CODE_INT8, GTH_CODE_E4M3FN, GTH_CODE_TABLE4}) {
    for (const int32_t rule : {GTH_RULE_SCALED, GTH_RULE_FUSED}) {
      gth_codec codec = GTH_CODEC_INIT;
      codec.code = code, codec.rule = rule, codec.row_tail = 8;
      codec.scale_place = codec.zero_place = GTH_PLACE_TAIL, codec.scale_dtype = codec.zero_dtype = f32;
      codec.zero_at = 4;
      Table table = table_of(codec, count * count, 256);
      for (size_t i = 0; i < 16; ++i) table.entries[i] = float_of(specials[i % std::size(specials)]);
      for (int64_t i = 0; i < count * count; ++i) {
        char* const tail = table.memory.data() + (i + 1) * table.row_bytes - 8;
        std::memcpy(tail, &specials[i / count], 4);
        std::memcpy(tail + 4, &specials[i % count], 4);
      }
      expect_rows(table);
    }
  }
}

TEST(PackedValues, EveryScaleByteOfMxfp4AndNvfp4IsConverted) {
  for (const char* name : {"mxfp4", "nvfp4"}) {
    const int64_t values = name[0] == 'm' ? 32 : 64, bytes = name[0] == 'm' ? 17 : 36;
    Table table = table_of(named(name), 4, 64 * values);
    for (int64_t i = 0; i < 256; ++i) {
      for (int64_t k = 0; k < bytes; ++k)
        table.memory[static_cast<size_t>(i * bytes + k)] = static_cast<char>(i * 16 + k * 17);
      for (int64_t k = 0; k < (values == 32 ? 1 : 4); ++k)
        table.memory[static_cast<size_t>(i * bytes + k)] = static_cast<char>(i + k * 64);
    }
    for (const float factor : {0.0f, 0.3f, -1e30f}) {
      if (values == 64) table.codec.factor = factor;
      expect_rows(table);
    }
  }
}

// ---- Rounding

// Entries of a table are the numbers of the output, so that the conversion of any float32 can be tested.
void expect_entries(int32_t dtype, const std::vector<float>& numbers) {
  gth_codec codec = GTH_CODEC_INIT;
  codec.code = GTH_CODE_TABLE4;
  Table table = table_of(codec, 1, 16);
  table.dtype = dtype;
  for (int64_t k = 0; k < 8; ++k) table.memory[static_cast<size_t>(k)] = static_cast<char>(2 * k | (2 * k + 1) << 4);
  for (size_t i = 0; i < numbers.size(); i += 16) {
    for (size_t k = 0; k < 16; ++k) table.entries[k] = numbers[std::min(i + k, numbers.size() - 1)];
    expect_rows(table);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(PackedValues, EveryHalfAndItsBordersAreRounded) {
  for (const int32_t dtype : {f16, bf16}) {
    std::vector<float> numbers;
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      const auto half = static_cast<uint16_t>(bits), next = static_cast<uint16_t>(bits + 1);
      const double low = static_cast<double>(decode(dtype, &half)), high = static_cast<double>(decode(dtype, &next));
      const auto middle = static_cast<float>((low + high) / 2);  // exact, except beside infinity
      for (const float value :
           {decode(dtype, &half), middle, std::nextafter(middle, -INFINITY), std::nextafter(middle, INFINITY)})
        numbers.push_back(value);
    }
    for (const float edge :
         {65504.0f, 65519.99f, 65520.0f, 65536.0f, 3.3895314e38f, 3.3961776e38f, 3.4028235e38f, 1e-45f}) {
      numbers.push_back(edge);
      numbers.push_back(-edge);
    }
    expect_entries(dtype, numbers);
    // The two oracles of rounding agree.
    for (const float value : numbers) {
      char ours[4], theirs[4];
      encode(dtype, value, ours);
      oracle::encode_float(dtype, static_cast<double>(value), theirs);
      ASSERT_TRUE(is_same(dtype, ours, theirs)) << value;
    }
  }
}

TEST(PackedValues, RandomFloatsAreRounded) {
  for (const int32_t dtype : {f32, f16, bf16}) {
    std::vector<float> numbers;
    for (int i = 0; i < 20000; ++i) numbers.push_back(float_of(static_cast<uint32_t>(engine())));
    expect_entries(dtype, numbers);
  }
}

// ---- Formats by name

struct Format {
  const char* name;
  int64_t values, bytes;  // of a row
};

TEST(PackedValues, RowsOfEveryNameHaveTheirSize) {
  const Format formats[] = {{"q8_0", 64, 68},     {"q4_0", 64, 36},    {"q4_1", 64, 40},     {"q5_0", 64, 44},
                            {"q5_1", 64, 48},     {"iq4_nl", 64, 36},  {"q2_k", 512, 168},   {"q3_k", 512, 220},
                            {"q4_k", 512, 288},   {"q5_k", 512, 352},  {"q6_k", 512, 420},   {"iq4_xs", 512, 272},
                            {"mxfp4", 64, 34},    {"nvfp4", 128, 72},  {"rowwise8", 17, 25}, {"rowwise4", 18, 13},
                            {"rowwise2", 20, 9},  {"int8", 17, 17},    {"uint8", 17, 17},    {"int4", 18, 9},
                            {"uint4", 18, 9},     {"int2", 20, 5},     {"uint2", 20, 5},     {"fp8_e4m3fn", 17, 17},
                            {"fp8_e5m2", 17, 17}, {"e2m1", 18, 9},     {"nf4", 128, 64},     {"fp4", 128, 64},
                            {"affine8", 64, 64},  {"affine4", 64, 32}, {"affine2", 64, 16}};
  for (const Format& format : formats) {
    const gth_codec codec = named(format.name);
    EXPECT_EQ(codec.size, sizeof codec);
    EXPECT_EQ(codec.scales, nullptr);
    EXPECT_EQ(codec.zeros, nullptr);
    Error error;
    int64_t bytes = -1;
    EXPECT_EQ(gth_codec_row_bytes(&codec, format.values, &bytes, &error), GTH_OK) << format.name << error.message;
    EXPECT_EQ(bytes, format.bytes) << format.name;
    EXPECT_EQ(row_bytes(codec, format.values), format.bytes) << format.name;
    EXPECT_EQ(gth_codec_row_bytes(&codec, 0, &bytes, &error), GTH_OK) << format.name << error.message;
    EXPECT_EQ(bytes, codec.row_tail) << format.name;
  }
}

TEST(PackedValues, FormatsWithOperandsTakeThem) {
  for (const char* name :
       {"int8", "uint8", "int4", "uint4", "int2", "uint2", "fp8_e4m3fn", "fp8_e5m2", "e2m1", "nf4", "fp4"}) {
    const gth_codec codec = named(name);
    EXPECT_EQ(codec.scale_place, GTH_PLACE_OPERAND) << name;
    EXPECT_EQ(codec.zero_place, GTH_PLACE_NONE) << name;
    EXPECT_EQ(codec.rule, GTH_RULE_SCALED) << name;
  }
  for (const char* name : {"affine8", "affine4", "affine2"}) {
    const gth_codec codec = named(name);
    EXPECT_EQ(codec.scale_place, GTH_PLACE_OPERAND) << name;
    EXPECT_EQ(codec.zero_place, GTH_PLACE_OPERAND) << name;
    EXPECT_EQ(codec.rule, GTH_RULE_FUSED) << name;
  }
  gth_codec codec = named("int2");
  EXPECT_EQ(codec.code, GTH_CODE_INT2);
  Table table = table_of(codec, 3, 512);
  table.scales.make(f32, {3, 1}, true);
  for (int64_t i = 0; i < 3; ++i) draw_number(f32, table.scales.at(i));
  expect_rows(table);
}

TEST(PackedValues, RandomRowsHaveTheBytesOfTheOracle) {
  for (int i = 0; i < 20000; ++i) {
    const Table table = make_table({1}, length_around());
    const Described described(table);
    Error error;
    int64_t bytes = -1;
    ASSERT_EQ(gth_codec_row_bytes(&described.codec, table.values(), &bytes, &error), GTH_OK)
        << error.message << ": " << describe(table);
    ASSERT_EQ(bytes, table.row_bytes) << describe(table);
  }
}

// As many rows as a step has at most, and one more or less. Some rows are so long that a step has fewer of them, and
// some are longer than the bytes that are prefetched.
TEST(PackedValues, SizesAtTheBordersOfStepsAreDecoded) {
  constexpr int64_t numbers[] = {1, limits::chunk_numbers, limits::step_bytes / limits::step_rows,
                                 limits::step_bytes / 4, limits::prefetched_row_bytes};
  constexpr int64_t counts[] = {4, limits::step_rows / 2, limits::step_rows, 2 * limits::step_rows};
  for (int32_t i = 0; i < 300 && !testing::Test::HasFatalFailure(); ++i) {
    const int64_t values = std::max<int64_t>(1, pick(numbers) + below(3) - 1);
    expect_rows(make_table({pick(counts) + below(3) - 1}, values));
  }
}

}  // namespace
