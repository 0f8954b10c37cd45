#pragma once

#include "cpu/tiers/superblocks.hpp"

// Reads packed rows in steps of a few rows, with the scales of their blocks. Part of body.hpp.
namespace gather::cpu {
namespace {

using core::Structure;

template <Formula formula, class V>
GATHER_INLINE V value_of(V code, V scale, V zero) {
  if constexpr (formula == Formula::product) return code * scale;
  if constexpr (formula == Formula::scaled) return (code - zero) * scale;
  if constexpr (formula == Formula::fused) {
    if constexpr (sizeof(V) == sizeof(float)) {
      return Floats::multiply_add(scale, code, zero);
    } else {
      return WideOf<int64_t{sizeof(V) / sizeof(float)}>::multiply_add(code, scale, zero);
    }
  }
}

template <class V>
GATHER_INLINE V value_of(Formula formula, V code, V scale, V zero) {
  return formula == Formula::fused ? value_of<Formula::fused>(code, scale, zero)
                                   : value_of<Formula::scaled>(code, scale, zero);
}

// Formats whose codes, zero points or scales have classes of their own. A tier without vectors has none.
enum class Known {
  none,
  low_nibbles,  // 4 bits, low bits first, less 8
  q8_0,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  iq4_nl,  // entries of any table of bytes
};

// Returns true if blocks are chunks, and scales and biases are float16 in their blocks, as in the formats of GGUF.
GATHER_INLINE bool has_float16_in_chunks(const Codec& codec) {
  const auto is_in_block = [](const CodecPart& part) {
    return part.place == Place::block && part.type == ScaleType::float16;
  };
  return codec.block_values == chunk_numbers && codec.values % chunk_numbers == 0 && codec.factor == 1 &&
         is_in_block(codec.scale) && (codec.rule == Rule::scaled || is_in_block(codec.zero));
}

GATHER_INLINE Known known_of(const Codec& codec) {
  if (lanes == 1 || codec.structure != Structure::blocks) return Known::none;
  const bool is_fused = codec.rule == Rule::fused, has_constant = !is_fused && codec.zero.place == Place::none;
  const bool has_no_zero = has_constant && same_bits<uint32_t>(codec.constant) == 0;
  if (codec.packing == CodePacking::low_first) {
    return codec.code == Code::uint4 && has_constant && codec.constant == 8 ? Known::low_nibbles : Known::none;
  }
  if (!has_float16_in_chunks(codec) || codec.packing == CodePacking::high_first) return Known::none;
  int8_t bytes[16];
  switch (codec.code) {
    case Code::int8: return has_no_zero ? Known::q8_0 : Known::none;
    case Code::uint4: return is_fused ? Known::q4_1 : has_constant && codec.constant == 8 ? Known::q4_0 : Known::none;
    case Code::uint5: return is_fused ? Known::q5_1 : has_constant && codec.constant == 16 ? Known::q5_0 : Known::none;
    case Code::table4: return has_no_zero && convert_table(codec, bytes) ? Known::iq4_nl : Known::none;
    default: return Known::none;
  }
}

// A zero point of -0 is no product, because -0 - -0 is 0.
GATHER_INLINE Formula formula_of(const Codec& codec) {
  if (codec.rule == Rule::fused) return Formula::fused;
  const bool has_no_zero = codec.zero.place == Place::none && same_bits<uint32_t>(codec.constant) == 0;
  return has_no_zero || known_of(codec) != Known::none ? Formula::product : Formula::scaled;
}

// A class of codes may have subtracted the zero point. Then it is 0 here.
GATHER_INLINE float constant_of(const Codec& codec, Formula formula) {
  return formula == Formula::product ? 0 : codec.constant;
}

GATHER_INLINE Values values_at(const char* at) { return load_numbers<float, lanes>(at); }

// ---- Rows

// The blocks of a part of a row.
enum class Shape {
  row,               // The row is one block.
  chunks,            // A block is a chunk.
  of_chunks,         // A block has several chunks. The last one can have some more numbers.
  halves_of_chunks,  // Codes are contiguous, and a block is half a chunk.
  columns,           // Codes are contiguous, and each number has its own copy of its scale.
  any,
};

GATHER_INLINE int64_t bits_of(Code code) {
  switch (code) {
    case Code::uint2:
    case Code::int2: return 2;
    case Code::uint4:
    case Code::int4:
    case Code::table4: return 4;
    default: return 8;
  }
}

GATHER_INLINE bool has_contiguous_codes(const Codec& codec) {
  return codec.code_at == 0 && codec.block_bytes * 8 == codec.block_values * bits_of(codec.code);
}

// Returns true if each number gets its own copy of its scale, because blocks are not whole vectors.
GATHER_INLINE bool has_columns(const Codec& codec) {
  return codec.block_values < codec.values && codec.block_values % lanes != 0 && has_contiguous_codes(codec);
}

GATHER_INLINE Shape shape_of(const Codec& codec, const SomeBlocks& blocks) {
  if (blocks.has_columns) return Shape::columns;
  if (codec.block_values >= codec.values) return Shape::row;
  if (blocks.in_block > 0) return Shape::any;
  const bool is_whole = blocks.n % chunk_numbers == 0;
  if (is_whole && codec.block_values * 2 == chunk_numbers && has_contiguous_codes(codec))
    return Shape::halves_of_chunks;
  if (codec.block_values % chunk_numbers != 0) return Shape::any;
  return is_whole && codec.block_values == chunk_numbers ? Shape::chunks : Shape::of_chunks;
}

// Returns the blocks of the numbers [begin, begin + n). `begin` is a multiple of most_decoded, so it begins at a byte.
GATHER_INLINE SomeBlocks find_blocks(const Codec& codec, int64_t begin, int64_t n) {
  if (codec.block_values >= codec.values) {
    return {0, 1, codec.values, n, 0, codec.code_at + begin * bits_of(codec.code) / 8, false};
  }
  const int64_t first = begin / codec.block_values, in_block = begin - first * codec.block_values;
  int64_t codes = first * codec.block_bytes + codec.code_at;
  if (has_columns(codec)) codes += in_block * bits_of(codec.code) / 8;
  const int64_t count = (in_block + n - 1) / codec.block_values + 1;
  return {first, count, codec.block_values, n, in_block, codes, has_columns(codec)};
}

// Prefetches a part of a row, up to the bytes after which the hardware prefetcher has detected the row.
struct RowPrefetcher {
  int64_t first, bytes;  // `first` counts from the codes

  GATHER_INLINE RowPrefetcher(const Codec& codec, const SomeBlocks& blocks)
      : first(-blocks.codes), bytes(codec.row_bytes) {
    if (blocks.n < codec.values) {
      first = 0;
      bytes = blocks.count > 1 ? blocks.count * codec.block_bytes : blocks.n;
    }
    if (bytes > prefetched_row_bytes) bytes = prefetched_row_bytes;
  }

  // The row is not read, so it may be outside of the table.
  GATHER_INLINE void fetch(const char* codes) const {
    const auto at = reinterpret_cast<uintptr_t>(codes) + static_cast<uintptr_t>(first);
    const auto end = at + static_cast<uintptr_t>(bytes) - 1;
    for (uintptr_t line = at; line < end; line += 64) __builtin_prefetch(reinterpret_cast<const char*>(line), 0, 3);
    __builtin_prefetch(reinterpret_cast<const char*>(end), 0, 3);
  }
  // Prefetches the last line of a row.
  GATHER_INLINE void fetch_end(const char* codes) const { __builtin_prefetch(codes + (first + bytes - 1), 0, 3); }
};

// The numbers [begin, begin + n) of some rows, with the scales of their blocks.
class Part {
 public:
  // Returns the most numbers of a part.
  static int64_t most_numbers(const Codec& codec, int64_t count) {
    return !has_columns(codec) && count / codec.block_values < most_scales ? count : most_decoded;
  }

  Part(const PackedRows& packed, int64_t begin, int64_t count)
      : codec(packed.plan->codec),
        known(known_of(codec)),
        formula(formula_of(codec)),
        blocks(find_blocks(codec, begin, count)),
        shape(shape_of(codec, blocks)),
        prefetcher(codec, blocks),
        scales(*packed.plan, codec.scale, packed.scales, packed.plan->scales, 1, codec.factor, blocks, keeps_float16()),
        zeros(*packed.plan, codec.zero, packed.zeros, packed.plan->zeros, constant_of(codec, formula), 1, blocks,
              keeps_float16()),
        data_(packed.data + blocks.codes),
        stride_(packed.plan->stride) {
    limit(step_bytes);
    if (codec.code == Code::table4) convert_table(codec, byte_table_);
  }

  // Limits the bytes of rows that are read at once. They are prefetched one step before.
  void limit(int64_t bytes) {
    const int64_t a = scales.converted(), b = zeros.converted(), most = a > b ? a : b;
    at_once_ = prefetcher.bytes > 0 ? bytes / prefetcher.bytes : step_rows;
    if (at_once_ < 4) at_once_ = 4;
    if (at_once_ > step_rows) at_once_ = step_rows;
    if (most * at_once_ > most_scales) at_once_ = most_scales / most;
  }
  int64_t at_once() const { return at_once_; }

  // Sets the rows of the next step. There are at most at_once() of them, and none in the last step. number_of(i, &number)
  // returns false if the i-th row is invalid. Returns the number of rows before the first invalid one. fetch(i, row) is
  // called with the address of the codes of each row.
  template <class NumberOf, class Fetch>
  GATHER_INLINE int64_t set_next(int64_t count, NumberOf number_of, Fetch fetch) {
    step_ ^= 1;
    const char** const to = rows_[step_];
    const char* const data = data_;
    const int64_t stride = stride_;
    int64_t numbers[step_rows];
    for (int64_t i = 0; i < count; ++i) {
      if (__builtin_expect(!number_of(i, &numbers[i]), 0)) return i;
      const char* const row = data + numbers[i] * stride;
      to[i] = row;
      fetch(i, row);
    }
    for (int64_t i = count; i < rows; ++i) to[i] = codes[i];
    scales.find_next(numbers, count);
    zeros.find_next(numbers, count);
    next = to;
    next_rows_ = count;
    return count;
  }

  // Begins the next step. set_next() must follow.
  void begin_step() {
    rows = next_rows_;
    codes = next;
    scales.read(codes, rows);
    zeros.read(codes, rows);
  }

  // Returns true if the products of the scales and a power of 2 are exact.
  __attribute__((noinline)) bool has_small_scales(float power) const {
    if (!scales.may_be_large()) return true;
    const int64_t count = scales.scales_of_row(), step = scales.step();
    const auto most = same_bits<int32_t>(0x1p127f / power);
    Bits large{};
    int32_t is_large = 0;
    for (int64_t i = 0; i < rows; ++i) {
      const char* const at = scales.at(i);
      int64_t b = 0;
      for (; step == float_bytes && b + lanes <= count; b += lanes) {
        large |= large_of<lanes>(load_numbers<int32_t, lanes>(at + b * float_bytes), most);
      }
      for (; b < count; ++b) is_large |= large_of<1>(load_numbers<int32_t, 1>(at + b * step), most);
    }
    for (int64_t i = 0; i < lanes; ++i) is_large |= lane_of<lanes>(large, i);
    return is_large == 0;
  }

  Tables tables() const { return {codec.table, byte_table_}; }

  const Codec& codec;
  const Known known;
  const Formula formula;
  const SomeBlocks blocks;
  const Shape shape;
  int64_t rows = 0;
  const char* const* codes = nullptr;  // of the first block of each row
  // Those of the rows of the next step, which are prefetched. If there are fewer, the last ones are those of this step.
  const char* const* next = nullptr;
  RowPrefetcher prefetcher;
  Scales scales, zeros;

 private:
  // Sets the bits of the lanes whose numbers are finite and not smaller than `most`.
  template <int64_t n>
  static GATHER_INLINE I<n> large_of(I<n> bits, int32_t most) {
    const I<n> magnitude = bits & 0x7fffffff;
    return static_cast<I<n>>((magnitude >= most) & (magnitude < 0x7f800000));
  }
  template <int64_t n>
  static GATHER_INLINE int32_t lane_of(I<n> v, int64_t i) {
    if constexpr (n == 1) {
      return v;
    } else {
      return v[i];
    }
  }
  bool keeps_float16() const { return known >= Known::q8_0; }

  const char* const data_;
  const int64_t stride_;
  int64_t at_once_ = 1;
  int64_t next_rows_ = 0, step_ = 0;
  const char* rows_[2][step_rows];
  alignas(16) int8_t byte_table_[16];
};

}  // namespace
}  // namespace gather::cpu
