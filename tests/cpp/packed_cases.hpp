#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "bags_cases.hpp"
#include "packed_oracle.hpp"

// Random tables of packed rows, in every combination of the fields of a codec.
namespace packed {

using bag_cases::Array, bag_cases::below, bag_cases::chance, bag_cases::engine, bag_cases::pick, bag_cases::product;
using oracle::Shape;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32, f16 = GTH_DTYPE_FLOAT16, bf16 = GTH_DTYPE_BFLOAT16;
constexpr int32_t outputs[] = {f32, f32, f16, bf16};

// Lengths of rows: the widths of vectors, the blocks of formats, and the numbers that are decoded at once.
constexpr int64_t lengths[] = {1,  4,   8,   16,  limits::chunk_numbers, 2 * limits::chunk_numbers,
                               96, 128, 256, 512, limits::most_decoded,  2 * limits::most_decoded};

inline int64_t length_around() { return std::max<int64_t>(1, pick(lengths) + below(3) - 1); }

inline int64_t size_of(int32_t dtype) { return has_nibbles(dtype) ? 1 : gth_dtype_size(dtype); }

// Writes a scale or a zero point. Most are ordinary, and some are special: infinity, NaN, -0, subnormal.
inline void draw_number(int32_t dtype, char* at) {
  constexpr uint32_t special32[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000,
                                    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000};
  constexpr uint16_t special16[] = {0, 0x8000, 1, 0x8001, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x7f80, 0xff80, 0x7fc0};
  const auto size = static_cast<size_t>(size_of(dtype));
  const uint64_t bits = engine();
  std::memcpy(at, &bits, size);
  if (size == 1 || chance(3)) {
    if (dtype == GTH_DTYPE_FLOAT8_E8M0FNU && !chance(3)) *at = static_cast<char>(110 + below(30));
    return;
  }
  if (chance(4)) {
    const uint32_t wide = pick(special32);
    const uint16_t narrow = pick(special16);
    std::memcpy(at, size == 4 ? static_cast<const void*>(&wide) : &narrow, size);
    return;
  }
  const double value = static_cast<double>(below(2000001) - 1000000) / 777777;
  encode(dtype, static_cast<float>(std::ldexp(value, static_cast<int>(below(8)) - 5)), at);
}

// A table of packed rows in memory of exactly its size.
struct Table {
  gth_codec codec = GTH_CODEC_INIT;
  float entries[16] = {};
  int32_t dtype = f32;
  Shape shape, strides;
  bool has_strides = false;
  int64_t offset = 0, row_bytes = 0;
  std::vector<char> memory;
  Array scales, zeros;

  int64_t values() const { return shape.back(); }
  int64_t rows() const { return product(Shape(shape.begin(), shape.end() - 1)); }
  int64_t blocks() const {
    const int64_t in_block = codec.block_values ? codec.block_values : values();
    return in_block ? (values() + in_block - 1) / in_block : 0;
  }
};

// The descriptions of a table. They refer to its memory.
struct Described {
  gth_codec codec;
  gth_tensor_desc scales, zeros, params = GTH_TENSOR_DESC_INIT;

  explicit Described(const Table& table)
      : codec(table.codec), scales(table.scales.described()), zeros(table.zeros.described()) {
    if (codec.code == GTH_CODE_TABLE4) codec.code_table = table.entries;
    if (codec.scale_place == GTH_PLACE_OPERAND) codec.scales = &scales;
    if (codec.zero_place == GTH_PLACE_OPERAND) codec.zeros = &zeros;
    params.dtype = table.dtype;
    params.ndim = static_cast<int32_t>(table.shape.size());
    params.shape = table.shape.data();
    params.strides = table.has_strides ? table.strides.data() : nullptr;
    params.data = table.memory.data();
    params.offset = table.offset;
    params.extent = static_cast<int64_t>(table.memory.size());
    params.codec = &codec;
  }
  Described(const Described&) = delete;
};

// ---- Codecs

inline int64_t code_bytes(const gth_codec& codec, int64_t count) { return (count * bits_of(codec.code) + 7) / 8; }

inline void draw_entries(Table* table) {
  for (float& entry : table->entries) draw_number(f32, reinterpret_cast<char*>(&entry));
}

inline int32_t draw_packing(int32_t code) {
  const int64_t bits = bits_of(code);
  if (bits == 5) return GTH_PACKING_HALVES;
  return bits == 8 ? 0 : static_cast<int32_t>(below(bits == 4 ? 3 : 2));
}

// Draws the blocks, and then a length of rows that they allow. `wanted` is about the length.
inline int64_t draw_blocks(gth_codec* codec, int64_t wanted) {
  constexpr int64_t sizes[] = {0, 0, 1, 3, 5, 7, 16, 32, 32, 64, 128, 256};
  const int64_t bits = bits_of(codec->code), per_byte = bits == 8 ? 1 : 8 / bits;
  const bool is_32 = codec->packing == GTH_PACKING_HALVES, is_sized = chance(50);
  codec->block_values = is_32 ? (wanted < 64 && chance(20) ? 0 : 32) : pick(sizes);
  int64_t& block = codec->block_values;
  if (!is_32 && wanted > limits::most_decoded && chance(50)) block = 96;  // A part of a row begins inside a block.
  const auto multiple = [](int64_t of, int64_t near) { return std::max(of, (near + of / 2) / of * of); };
  if (is_32) wanted = block == 0 ? 32 : multiple(32, wanted);
  if (is_sized) {
    if (block) wanted = multiple(block, wanted);
    codec->block_bytes = -1;  // set with the places
  } else if (!is_32) {
    wanted = multiple(per_byte, wanted);
    if (block % per_byte != 0 && block < wanted) block = multiple(per_byte, block);
    if (block > wanted && chance(50)) block = 0;
  }
  return wanted;
}

inline void draw_part(bool may_be_in_block, int64_t dtypes, int32_t* place, int32_t* dtype) {
  const bool has_place = chance(75);
  *place = has_place ? static_cast<int32_t>(1 + below(3)) : GTH_PLACE_NONE;
  if (*place == GTH_PLACE_BLOCK && !may_be_in_block) *place = GTH_PLACE_TAIL;
  *dtype = has_place ? part_dtypes[below(dtypes)] : 0;
}

// Puts the parts of this place one after another, with gaps, and returns the end. `first` is where they begin.
inline int64_t lay_out_parts(gth_codec* codec, int32_t place, int64_t first) {
  int64_t at = first;
  const bool zero_first = chance(50);
  for (const bool is_zero : {zero_first, !zero_first}) {
    if ((is_zero ? codec->zero_place : codec->scale_place) != place) continue;
    at += chance(30) ? below(4) : 0;
    (is_zero ? codec->zero_at : codec->scale_at) = at;
    at += size_of(is_zero ? codec->zero_dtype : codec->scale_dtype);
  }
  return at + (chance(20) ? below(4) : 0);
}

inline void draw_constants(gth_codec* codec) {
  constexpr float zeros[] = {0, 0, 8, 128, -0.0f, -3.3f, 0.1f, 1e38f, NAN}, factors[] = {0, 0, 0, 1, 0.3f, -2, 1e-30f};
  codec->zero = pick(zeros);
  codec->factor = pick(factors);
}

// Draws the fields of a codec for rows of about `wanted` numbers, and returns the length of the rows.
inline int64_t draw_fields(Table* table, int64_t wanted) {
  gth_codec& codec = table->codec;
  codec.code = static_cast<int32_t>(1 + below(GTH_CODE_TABLE4));
  codec.packing = draw_packing(codec.code);
  codec.rule = static_cast<int32_t>(below(2));
  draw_constants(&codec);
  draw_entries(table);
  const int64_t values = draw_blocks(&codec, wanted);
  const bool is_sized = codec.block_bytes != 0;
  draw_part(is_sized, scale_dtype_count, &codec.scale_place, &codec.scale_dtype);
  draw_part(is_sized, int64_t{std::size(part_dtypes)}, &codec.zero_place, &codec.zero_dtype);
  if (is_sized) {
    const int64_t codes = code_bytes(codec, codec.block_values ? codec.block_values : values);
    const bool codes_first = chance(40);
    codec.code_at = codes_first ? (chance(30) ? below(4) : 0) : lay_out_parts(&codec, GTH_PLACE_BLOCK, 0);
    codec.block_bytes = codec.code_at + codes;
    if (codes_first) codec.block_bytes = lay_out_parts(&codec, GTH_PLACE_BLOCK, codec.block_bytes);
  }
  codec.row_tail = lay_out_parts(&codec, GTH_PLACE_TAIL, 0);
  return values;
}

constexpr int64_t named_values[] = {0, 256, 256, 256, 256, 256, 256, 32, 64};

inline int64_t draw_named(Table* table, int64_t wanted) {
  table->codec.structure = static_cast<int32_t>(1 + below(GTH_CODEC_NVFP4));
  if (table->codec.structure == GTH_CODEC_NVFP4 && chance(40)) table->codec.factor = chance(50) ? 0.37f : -4;
  const int64_t block = named_values[table->codec.structure];
  return std::max<int64_t>(1, wanted / block) * block;
}

// Draws a format of GGUF that a codec describes. These have code of their own, unless they have a factor.
inline int64_t draw_gguf(Table* table, int64_t wanted) {
  constexpr const char* names[] = {"q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl"};
  gth_codec& codec = table->codec;
  EXPECT_EQ(gth_codec_named(pick(names), &codec, nullptr), GTH_OK);
  if (codec.code_table) std::copy_n(codec.code_table, std::size(table->entries), table->entries);
  if (chance(40)) codec.factor = chance(50) ? 0.37f : -4;
  return std::max<int64_t>(1, wanted / codec.block_values) * codec.block_values;
}

// ---- Memory

// Lays out rows: dense, with gaps, in reverse order, or all at the same place.
inline void lay_out(Table* table) {
  table->row_bytes = row_bytes(table->codec, table->values());
  const int64_t rows = table->rows(), bytes = table->row_bytes;
  table->has_strides = chance(60);
  int64_t step = bytes;
  if (table->has_strides) {
    step += chance(60) ? below(9) : 0;
    if (chance(30)) step = -step;
    if (chance(5)) step = 0;
  }
  table->strides.assign(table->shape.size(), 0);
  int64_t stride = step;
  for (size_t d = table->shape.size() - 1; d-- > 0; stride *= std::max<int64_t>(table->shape[d], 1)) {
    table->strides[d] = table->shape[d] == 1 && chance(30) ? below(1000) - 500 : stride;
  }
  const int64_t span = std::abs(step) * std::max<int64_t>(rows - 1, 0), lead = chance(30) ? below(9) : 0;
  table->offset = lead + (step < 0 ? span : 0);
  table->memory.assign(static_cast<size_t>(lead + span + bytes), 0);
  for (char& byte : table->memory) byte = static_cast<char>(engine());
}

inline char* row_at(Table* table, int64_t number) {
  const Described described(*table);
  return const_cast<char*>(row_of(described.params, number).bytes);
}

// Writes ordinary scales into the blocks of a format by name.
inline void write_named_scales(Table* table, char* row) {
  constexpr int64_t bytes[] = {0, 84, 110, 144, 176, 210, 136, 17, 36};
  constexpr int64_t places[][2] = {{0, 0}, {80, 82}, {108, 108}, {0, 2}, {0, 2}, {208, 208}, {0, 0}, {0, 0}, {0, 0}};
  const int32_t structure = table->codec.structure;
  for (int64_t at = 0; at < table->row_bytes; at += bytes[structure]) {
    if (structure == GTH_CODEC_MXFP4) draw_number(GTH_DTYPE_FLOAT8_E8M0FNU, row + at);
    if (structure >= GTH_CODEC_MXFP4) continue;
    for (int64_t place : places[structure]) draw_number(f16, row + at + place);
  }
}

inline void write_scales(Table* table, char* row) {
  const gth_codec& codec = table->codec;
  const int64_t blocks = table->blocks(), tail = table->row_bytes - codec.row_tail;
  const auto write = [&](int32_t place, int32_t dtype, int64_t at) {
    if (place == GTH_PLACE_TAIL) draw_number(dtype, row + tail + at);
    for (int64_t b = 0; b < blocks && place == GTH_PLACE_BLOCK; ++b)
      draw_number(dtype, row + b * codec.block_bytes + at);
  };
  write(codec.scale_place, codec.scale_dtype, codec.scale_at);
  write(codec.zero_place, codec.zero_dtype, codec.zero_at);
}

inline void write_rows(Table* table) {
  for (int64_t i = 0; i < table->rows(); ++i) {
    char* const row = row_at(table, i);
    if (table->codec.structure == GTH_CODEC_BLOCKS) {
      write_scales(table, row);
    } else {
      write_named_scales(table, row);
    }
  }
}

// Makes an operand of the codec: a number for each block, row or column, or for the table. Its rows are equally far
// apart.
inline void make_operand(const Table& table, int32_t dtype, Array* out) {
  const bool shares = has_nibbles(dtype);
  const int64_t blocks = table.blocks(), last = shares ? (blocks + 1) / 2 : blocks;
  Shape shape = table.shape;
  shape.back() = last;
  const int64_t form = below(shares && blocks > 2 ? 2 : 4);  // Bytes of two blocks are not repeated.
  if (form & 1) std::fill(shape.begin(), shape.end() - 1, 1);
  if (form & 2) shape.back() = 1;
  const bool is_dense = shape.size() > 2 || shares || chance(50);
  out->make(shares ? GTH_DTYPE_UINT8 : dtype, shape, is_dense);
  for (int64_t i = 0; i < product(shape); ++i) draw_number(shares ? GTH_DTYPE_UINT8 : dtype, out->at(i));
}

inline void make_operands(Table* table) {
  gth_codec& codec = table->codec;
  if (codec.scale_place == GTH_PLACE_OPERAND) {
    make_operand(*table, codec.scale_dtype, &table->scales);
    if (chance(50)) codec.scale_dtype = 0;
  }
  if (codec.zero_place == GTH_PLACE_OPERAND) {
    make_operand(*table, codec.zero_dtype, &table->zeros);
    if (chance(50) && !has_nibbles(codec.zero_dtype)) codec.zero_dtype = 0;
  }
}

// Makes a table with the dims `rows`, and rows of about `wanted` numbers.
inline Table make_table(const Shape& rows, int64_t wanted) {
  Table table;
  table.dtype = pick(outputs);
  const int64_t values = chance(20)   ? draw_named(&table, wanted)
                         : chance(15) ? draw_gguf(&table, wanted)
                                      : draw_fields(&table, wanted);
  table.shape = rows;
  table.shape.push_back(values);
  lay_out(&table);
  write_rows(&table);
  if (table.codec.structure == GTH_CODEC_BLOCKS) make_operands(&table);
  return table;
}

// Makes an output of any strides, in which the numbers of a row are contiguous.
inline Array make_output(int32_t dtype, const Shape& shape) {
  Array out;
  out.make(dtype, shape, true);
  if (chance(50)) return out;
  const int64_t item = gth_dtype_size(dtype), unit = shape.back() * item + below(3), lead = below(9);
  Array rows;
  rows.make(GTH_DTYPE_UINT8, Shape(shape.begin(), shape.end() - 1), false);
  for (int64_t& stride : rows.strides) stride *= unit;
  rows.memory.assign(static_cast<size_t>(lead + rows.desc.extent * unit), 0);
  for (char& byte : rows.memory) byte = static_cast<char>(engine());
  rows.desc.dtype = dtype;
  rows.desc.ndim += 1;
  rows.desc.offset = rows.desc.offset * unit + lead;
  rows.desc.extent = static_cast<int64_t>(rows.memory.size());
  rows.shape = shape;
  rows.strides.push_back(item);
  return rows;
}

inline std::string describe(const Table& table) {
  const gth_codec& c = table.codec;
  std::string text =
      "structure " + std::to_string(c.structure) + " code " + std::to_string(c.code) + " packing " +
      std::to_string(c.packing) + " rule " + std::to_string(c.rule) + " scale " + std::to_string(c.scale_place) + ":" +
      std::to_string(c.scale_dtype) + "@" + std::to_string(c.scale_at) + " zero " + std::to_string(c.zero_place) + ":" +
      std::to_string(c.zero_dtype) + "@" + std::to_string(c.zero_at) + " constant " + std::to_string(c.zero) +
      " factor " + std::to_string(c.factor) + " block " + std::to_string(c.block_values) + " bytes " +
      std::to_string(c.block_bytes) + " codes at " + std::to_string(c.code_at) + " tail " + std::to_string(c.row_tail) +
      " to " + gth_dtype_name(table.dtype) + " shape";
  for (int64_t extent : table.shape) text += " " + std::to_string(extent);
  if (table.has_strides) text += " stride " + std::to_string(table.strides[table.shape.size() - 2]);
  const auto add = [&](const char* name, const Array& array) {
    text += std::string(" ") + name + " " + gth_dtype_name(array.desc.dtype);
    for (size_t d = 0; d < array.shape.size(); ++d)
      text += " " + std::to_string(array.shape[d]) + ":" + std::to_string(array.strides[d]);
  };
  if (c.scale_place == GTH_PLACE_OPERAND) add("scales", table.scales);
  if (c.zero_place == GTH_PLACE_OPERAND) add("zeros", table.zeros);
  return text;
}

}  // namespace packed
