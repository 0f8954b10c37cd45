#pragma once

#include "cpu/tiers/steps.hpp"

// Decodes packed rows. Part of body.hpp.
namespace gather::cpu {
namespace {

// Decodes the rows of a part to float32. They are `stride` bytes apart.
using DecodePart = void (*)(const Part& part, char* out, int64_t stride);

GATHER_INLINE void store_values(char* out, int64_t j, Values values) { store_numbers(out + j * float_bytes, values); }

// The codes, the scale and the zero point of a block of a row.
struct RowAt {
  const char *codes, *scale, *zero;
};

// The blocks of a row. The fields of a part are read once, because the stores of rows might change them.
struct RowBlocks {
  Formula formula;
  int64_t n, block_values, in_block;
  int64_t next_codes, next_scale, next_zero;

  GATHER_INLINE explicit RowBlocks(const Part& part)
      : formula(part.formula),
        n(part.blocks.n),
        block_values(part.blocks.block_values),
        in_block(part.blocks.in_block),
        next_codes(part.codec.block_bytes),
        next_scale(hidden(part.scales.step())),
        next_zero(hidden(part.zeros.step())) {}

  GATHER_INLINE void advance(RowAt* row) const {
    row->codes += next_codes, row->scale += next_scale, row->zero += next_zero;
  }

 private:
  // Keeps the compiler from making copies of loops for special values.
  static GATHER_INLINE int64_t hidden(int64_t value) {
    asm("" : "+r"(value));
    return value;
  }
};

// Calls each(row, out) for the rows of a part.
template <class Each>
GATHER_INLINE void for_rows(const Part& part, char* out, int64_t stride, Each each) {
  const char* const* codes = part.codes;
  const char* const* const end = codes + part.rows;
  const char *const *scales = part.scales.rows(), *const *zeros = part.zeros.rows();
  const int64_t scale_at = part.scales.offset(), zero_at = part.zeros.offset();
  const RowPrefetcher prefetcher = part.prefetcher;
  const char* const* next = part.next;
  for (; codes < end; ++codes, ++scales, ++zeros, ++next, out += stride) {
    prefetcher.fetch(*next);
    each(RowAt{*codes, *scales + scale_at, *zeros + zero_at}, out);
  }
}

// Decodes blocks of any size, by any formula.
template <class Codes>
struct AnyDecoder {
  __attribute__((noinline)) static void decode(const Part& part, char* out, int64_t stride) {
    const RowBlocks blocks(part);
    const Codes codes(part.tables());
    const Formula formula = part.formula;
    const bool has_columns = part.blocks.has_columns;
    for_rows(part, out, stride, [&](RowAt row, char* to) __attribute__((always_inline)) {
      if (has_columns) return decode_columns(codes, formula, blocks, row, to);
      int64_t in_block = blocks.in_block;
      for (int64_t k = 0; k < blocks.n; blocks.advance(&row), in_block = 0) {
        const int64_t left = blocks.block_values - in_block, n = blocks.n - k < left ? blocks.n - k : left;
        decode_block(codes, formula, row, in_block, n, to + k * float_bytes);
        k += n;
      }
    });
  }

  // Decodes n numbers of a block from number `first` on. The last vector overlaps the one before it.
  __attribute__((noinline)) static void decode_block(const Codes& codes, Formula formula, const RowAt& row,
                                                     int64_t first, int64_t n, char* out) {
    int64_t j = 0;
    if (first % Codes::step == 0) {
      const Values scale = all_of<lanes>(float_at(row.scale)), zero = all_of<lanes>(float_at(row.zero));
      const bool can_overlap = n >= lanes && n % Codes::step == 0;
      for (; j < n && (j + lanes <= n || can_overlap); j += lanes) {
        if (j + lanes > n) j = n - lanes;
        store_values(out, j, value_of(formula, codes.template at<lanes>(row.codes, first + j), scale, zero));
      }
    }
    decode_singly(codes, formula, row, first, j, n, 0, out);
  }

 private:
  // Decodes a row in which each number has its own scale.
  static void decode_columns(const Codes& codes, Formula formula, const RowBlocks& blocks, const RowAt& row,
                             char* out) {
    const int64_t n = blocks.n;
    int64_t j = 0;
    const bool can_overlap = n >= lanes && n % Codes::step == 0;
    for (; j < n && (j + lanes <= n || can_overlap); j += lanes) {
      if (j + lanes > n) j = n - lanes;
      const Values code = codes.template at<lanes>(row.codes, j);
      const Values scale = values_at(row.scale + j * float_bytes), zero = values_at(row.zero + j * float_bytes);
      store_values(out, j, value_of(formula, code, scale, zero));
    }
    decode_singly(codes, formula, row, 0, j, n, float_bytes, out);
  }

  // Decodes the numbers [j, n) of a block whose first number is number `first`, or of a row with a scale for each number.
  __attribute__((cold)) static void decode_singly(const Codes& codes, Formula formula, const RowAt& row, int64_t first,
                                                  int64_t j, int64_t n, int64_t step, char* out) {
    for (; j < n; ++j) {
      const float code = codes.template at<1>(row.codes, first + j);
      const float scale = float_at(row.scale + j * step), zero = float_at(row.zero + j * step);
      store_numbers(out + j * float_bytes, value_of(formula, code, scale, zero));
    }
  }
};

// Returns a scale in all lanes, multiplied by chunk_divisor.
template <class Codes>
GATHER_INLINE Values scale_at(const char* at) {
  if constexpr (Codes::has_float16_scales) {
    return WideOf<lanes>::all_of_float16(at);
  } else {
    return all_of<lanes>(float_at(at) * Codes::chunk_divisor);
  }
}

template <class Codes>
GATHER_INLINE Values zero_at(const char* at) {
  if constexpr (Codes::has_float16_scales) {
    return WideOf<lanes>::all_of_float16(at);
  } else {
    return all_of<lanes>(float_at(at));
  }
}

// Decodes blocks that are chunks, or several or half of them, by one formula.
template <class Codes, Formula formula>
class ChunkDecoder {
 public:
  static void decode(const Part& part, char* out, int64_t stride) {
    const ChunkDecoder decoder(part);
    if constexpr (Codes::has_float16_scales) {
      return for_rows(part, out, stride,
                      [&](RowAt row, char* to) __attribute__((always_inline)) { decoder.decode_chunks(row, to); });
    } else {
      if (Codes::chunk_divisor != 1 && !part.has_small_scales(Codes::chunk_divisor)) {
        return AnyDecoder<Codes>::decode(part, out, stride);
      }
      decoder.decode_shape(part, out, stride);
    }
  }

 private:
  static constexpr int64_t chunk_bytes = chunk_numbers * Codes::bits / 8;

  GATHER_INLINE explicit ChunkDecoder(const Part& part) : codes_(part.tables()), blocks_(part) {}

  GATHER_INLINE void decode_shape(const Part& part, char* out, int64_t stride) const {
    switch (part.shape) {
      case Shape::row:
        return for_rows(part, out, stride, [this](const RowAt& row, char* to) __attribute__((always_inline)) {
          decode_block(row, blocks_.n, to);
        });
      case Shape::chunks:
        return for_rows(part, out, stride,
                        [this](const RowAt& row, char* to) __attribute__((always_inline)) { decode_chunks(row, to); });
      case Shape::of_chunks:
        return for_rows(part, out, stride, [this](const RowAt& row, char* to) __attribute__((always_inline)) {
          decode_blocks_of_chunks(row, to);
        });
      case Shape::halves_of_chunks:
        if constexpr (Codes::has_half_chunks) {
          return for_rows(part, out, stride, [this](const RowAt& row, char* to) __attribute__((always_inline)) {
            decode_halves_of_chunks(row, to);
          });
        }
        break;
      default: break;
    }
    AnyDecoder<Codes>::decode(part, out, stride);
  }

  static GATHER_INLINE Values scale_of(const RowAt& row) { return scale_at<Codes>(row.scale); }
  static GATHER_INLINE Values zero_of(const RowAt& row) { return zero_at<Codes>(row.zero); }

  GATHER_INLINE void store_chunk(const char* at, Values scale, Values zero, char* out) const {
    const Chunk chunk = codes_.chunk(at);
    for (int64_t i = 0; i < Chunk::count; ++i) {
      store_values(out, i * lanes, value_of<formula>(chunk.vectors[i], scale, zero));
    }
  }

  // Decodes n numbers with one scale.
  GATHER_INLINE void decode_block(const RowAt& row, int64_t n, char* out) const {
    const Values scale = scale_of(row), zero = zero_of(row);
    const char* at = row.codes;
    for (; n >= chunk_numbers; n -= chunk_numbers, at += chunk_bytes, out += chunk_numbers * float_bytes) {
      store_chunk(at, scale, zero, out);
    }
    if (n > 0) AnyDecoder<Codes>::decode_block(codes_, blocks_.formula, {at, row.scale, row.zero}, 0, n, out);
  }

  // Decodes a row whose blocks are chunks.
  GATHER_INLINE void decode_chunks(RowAt row, char* out) const {
    for (char* const end = out + blocks_.n * float_bytes; out < end; blocks_.advance(&row)) {
      store_chunk(row.codes, scale_of(row), zero_of(row), out);
      out += chunk_numbers * float_bytes;
    }
  }

  // Decodes a row whose blocks are several chunks. The last block can have some more numbers.
  GATHER_INLINE void decode_blocks_of_chunks(RowAt row, char* out) const {
    for (int64_t left = blocks_.n; left > 0; blocks_.advance(&row)) {
      const int64_t n = blocks_.block_values < left ? blocks_.block_values : left;
      decode_block(row, n, out);
      out += n * float_bytes;
      left -= n;
    }
  }

  // Decodes a row whose codes are contiguous, and whose blocks are halves of chunks.
  GATHER_INLINE void decode_halves_of_chunks(RowAt row, char* out) const {
    for (char* const end = out + blocks_.n * float_bytes; out < end; out += chunk_numbers * float_bytes) {
      const Chunk chunk = codes_.chunk(row.codes);
      for (int64_t half = 0; half < 2; ++half, blocks_.advance(&row)) {
        const Values scale = scale_of(row), zero = zero_of(row);
        constexpr int64_t count = Chunk::count / 2;
        for (int64_t i = half * count; i < (half + 1) * count; ++i) {
          store_values(out, i * lanes, value_of<formula>(chunk.vectors[i], scale, zero));
        }
      }
    }
  }

  const Codes codes_;
  const RowBlocks blocks_;
};

// Calls put(j, values) for the vectors of a chunk of a block of a format by name.
template <class Block, class Put>
GATHER_INLINE void decode_named_chunk(const char* block, int32_t c, const BlockScales<Block>& scales, Put put) {
  const Chunk chunk = Block::chunk(block, c);
  for (int64_t i = 0; i < Chunk::count; ++i) {
    put(c * chunk_numbers + i * lanes, scales.value(c, i, chunk.vectors[i]));
  }
}

// Calls put(j, values) for the vectors of a block of a format by name.
template <class Block, class Put>
GATHER_INLINE void decode_named(const char* block, float factor, Put put) {
  constexpr int32_t chunks = Block::values / chunk_numbers;
  BlockScales<Block> scales;
  scales.compute(block, factor);
  if constexpr (lanes == 1) {
    for (int32_t c = 0; c < chunks; ++c) decode_named_chunk(block, c, scales, put);
  } else {
#pragma GCC unroll 8  // for constant distances of bits
    for (int32_t c = 0; c < chunks; ++c) decode_named_chunk(block, c, scales, put);
  }
}

// Decodes blocks of a format by name.
template <class Block>
struct NamedDecoder {
  static void decode(const Part& part, char* out, int64_t stride) {
    const float factor = part.codec.factor;
    const int64_t n = part.blocks.n;
    for_rows(part, out, stride, [=](const RowAt& row, char* to) __attribute__((always_inline)) {
      const char* at = row.codes;
      for (int64_t k = 0; k < n; k += Block::values, at += Block::bytes, to += Block::values * float_bytes) {
        decode_named<Block>(
            at, factor, [to](int64_t j, Values values) __attribute__((always_inline)) { store_values(to, j, values); });
      }
    });
  }
};

// ---- Kernels

// Decodes a part of the rows of one line.
GATHER_INLINE void decode_line(const RowBlock& block, int64_t line, DecodePart decode, char* out, Part* part) {
  const int64_t first = row_number(block.table) + line * block.next_table, at_once = part->at_once();
  const int64_t* const offsets = block.offsets + line * block.next_offsets;
  int64_t begin = 0;  // of the next step
  const auto set_next = [&] {
    const int64_t count = block.n - begin < at_once ? block.n - begin : at_once;
    const int64_t* const from = offsets + begin;
    const auto number_of = [=](int64_t i, int64_t* number) __attribute__((always_inline)) {
      *number = first + from[i];
      return true;
    };
    part->set_next(count, number_of, [](int64_t, const char*) {});
    begin += count;
  };
  part->rows = 0;
  set_next();
  for (int64_t done = 0; done < block.n; done += part->rows, out += part->rows * block.row_stride) {
    part->begin_step();
    set_next();
    decode(*part, out, block.row_stride);
  }
}

// Decodes the numbers [first, first + count) of the rows of a block.
__attribute__((noinline)) void decode_parts(const RowBlock& block, DecodePart decode, int64_t first, int64_t count) {
  if (count == 0) return;
  const int64_t most = Part::most_numbers(block.packed->plan->codec, count);
  for (int64_t begin = 0; begin < count; begin += most) {
    Part part(*block.packed, first + begin, count - begin < most ? count - begin : most);
    for (int64_t l = 0; l < block.lines; ++l) {
      decode_line(block, l, decode, block.rows + l * block.next_rows + begin * float_bytes, &part);
    }
  }
}

template <class Decoder>
void decode_rows(const RowBlock& block) {
  decode_parts(block, Decoder::decode, 0, block.packed->plan->codec.values);
}

// Decodes a part of one row.
__attribute__((noinline)) void decode_one(const PackedRows& rows, DecodePart decode, int64_t number, int64_t first,
                                          int64_t n, float* out) {
  RowBlock block{};
  block.rows = reinterpret_cast<char*>(out), block.offsets = &number, block.n = 1, block.lines = 1;
  block.packed = &rows;
  decode_parts(block, decode, first, n);
}

template <class Decoder>
void decode_row(const PackedRows& rows, int64_t number, int64_t first, int64_t n, float* out) {
  decode_one(rows, Decoder::decode, number, first, n, out);
}

// ---- Choice

template <class T>
struct TypeOf {
  using type = T;
};

// Returns choose(TypeOf<Codes>) for the codes of a codec.
template <class Choose>
GATHER_INLINE auto with_codes(const Codec& codec, Choose choose) {
  constexpr CodePacking low = CodePacking::low_first, high = CodePacking::high_first, halves = CodePacking::halves;
  const CodePacking packing = codec.packing;
  switch (codec.code) {
    case Code::uint8: return choose(TypeOf<Uint8Codes>{});
    case Code::int8: return choose(TypeOf<Int8Codes>{});
    case Code::uint5: return choose(TypeOf<Uint5Codes<>>{});
    case Code::e4m3fn: return choose(TypeOf<E4m3fnCodes>{});
    case Code::e5m2: return choose(TypeOf<E5m2Codes>{});
    case Code::uint2: return packing == high ? choose(TypeOf<Uint2Codes<high>>{}) : choose(TypeOf<Uint2Codes<low>>{});
    case Code::int2: return packing == high ? choose(TypeOf<Int2Codes<high>>{}) : choose(TypeOf<Int2Codes<low>>{});
    case Code::int4:
      if (packing == halves) return choose(TypeOf<Int4Codes<halves>>{});
      return packing == high ? choose(TypeOf<Int4Codes<high>>{}) : choose(TypeOf<Int4Codes<low>>{});
    case Code::table4:
      if (packing == halves) return choose(TypeOf<TableCodes<halves>>{});
      return packing == high ? choose(TypeOf<TableCodes<high>>{}) : choose(TypeOf<TableCodes<low>>{});
    default:
      if (packing == halves) return choose(TypeOf<Uint4Codes<halves>>{});
      return packing == high ? choose(TypeOf<Uint4Codes<high>>{}) : choose(TypeOf<Uint4Codes<low>>{});
  }
}

// The ways in which packed rows are decoded.
template <class Codes, Formula formula>
struct Frequent {
  using Decoder = ChunkDecoder<Codes, formula>;
};

template <class Codes>
struct Rare {
  using Decoder = AnyDecoder<Codes>;
};

template <class Block>
struct Named {
  using Decoder = NamedDecoder<Block>;
};

template <class Codes, Formula formula, class Choose>
GATHER_INLINE auto with_formula(Choose choose) {
  if constexpr (lanes > 1 && Codes::is_frequent(formula)) {
    return choose(Frequent<Codes, formula>{});
  } else {
    return choose(Rare<Codes>{});
  }
}

// Returns choose(Frequent<Codes, formula>{}), choose(Rare<Codes>{}) or choose(Named<Block>{}).
template <class Choose>
GATHER_INLINE auto with_format(const Codec& codec, Choose choose) {
  switch (codec.structure) {
    case Structure::q2_k: return choose(Named<BlockQ2K>{});
    case Structure::q3_k: return choose(Named<BlockQ3K>{});
    case Structure::q4_k: return choose(Named<BlockOfSixBits<false>>{});
    case Structure::q5_k: return choose(Named<BlockOfSixBits<true>>{});
    case Structure::q6_k: return choose(Named<BlockQ6K>{});
    case Structure::iq4_xs: return choose(Named<BlockIq4Xs>{});
    case Structure::mxfp4: return choose(Named<BlockMxfp4>{});
    case Structure::nvfp4: return choose(Named<BlockNvfp4>{});
    default: break;
  }
  if constexpr (lanes > 1) {
    constexpr Formula product = Formula::product, fused = Formula::fused;
    constexpr CodePacking halves = CodePacking::halves;
    switch (known_of(codec)) {
      case Known::low_nibbles: return choose(Frequent<Uint4LessEight<CodePacking::low_first>, product>{});
      case Known::q8_0: return choose(Frequent<OfGguf<Int8Codes>, product>{});
      case Known::q4_0: return choose(Frequent<OfGguf<Uint4LessEight<halves>>, product>{});
      case Known::q4_1: return choose(Frequent<OfGguf<Uint4Codes<halves>>, fused>{});
      case Known::q5_0: return choose(Frequent<OfGguf<Uint5Codes<16>>, product>{});
      case Known::q5_1: return choose(Frequent<OfGguf<Uint5Codes<>>, fused>{});
      case Known::iq4_nl: return choose(Frequent<OfGguf<ByteTableCodes>, product>{});
      default: break;
    }
  }
  const Formula formula = formula_of(codec);
  return with_codes(codec, [&](auto type) {
    using Codes = typename decltype(type)::type;
    switch (formula) {
      case Formula::product: return with_formula<Codes, Formula::product>(choose);
      case Formula::scaled: return with_formula<Codes, Formula::scaled>(choose);
      default: return with_formula<Codes, Formula::fused>(choose);
    }
  });
}

MoveRows choose_float32_decode(const Codec& codec) {
  return with_format(codec, [](auto format) -> MoveRows { return decode_rows<typename decltype(format)::Decoder>; });
}

DecodeRow choose_decode_row(const Codec& codec) {
  return with_format(codec, [](auto format) -> DecodeRow { return decode_row<typename decltype(format)::Decoder>; });
}

// Rounds float32 numbers to numbers of 2 bytes.
template <class Kind>
void round_numbers(const float* from, int64_t n, char* to) {
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    Kind::template store<lanes>(to + 2 * i, values_at(reinterpret_cast<const char*>(from + i)));
  for (; i < n; ++i) Kind::template store<1>(to + 2 * i, from[i]);
}

// Decodes rows to numbers of 2 bytes, by way of some float32 numbers: those of whole rows, or a part of a long row.
template <class Kind>
void decode_halves(const RowBlock& block) {
  const Codec& codec = block.packed->plan->codec;
  const int64_t values = codec.values;
  if (values == 0) return;
  alignas(64) float numbers[most_decoded];
  RowBlock some = block;
  some.rows = reinterpret_cast<char*>(numbers), some.row_stride = values * float_bytes;
  some.lines = 1;
  const int64_t at_once = values < most_decoded ? most_decoded / values : 1;
  const MoveRows decode_some = choose_float32_decode(codec);
  const DecodeRow decode_part = choose_decode_row(codec);
  for (int64_t l = 0; l < block.lines; ++l) {
    const int64_t line = row_number(block.table) + l * block.next_table;
    some.table = reinterpret_cast<const char*>(static_cast<uintptr_t>(line));
    char* out = block.rows + l * block.next_rows;
    for (int64_t i = 0; i < block.n; i += some.n) {
      some.offsets = block.offsets + l * block.next_offsets + i;
      some.n = block.n - i < at_once ? block.n - i : at_once;
      if (values <= most_decoded) {
        decode_some(some);
        for (int64_t k = 0; k < some.n; ++k, out += block.row_stride)
          round_numbers<Kind>(numbers + k * values, values, out);
        continue;
      }
      for (int64_t first = 0; first < values; first += most_decoded) {
        const int64_t n = values - first < most_decoded ? values - first : most_decoded;
        decode_part(*block.packed, line + *some.offsets, first, n, numbers);
        round_numbers<Kind>(numbers, n, out + 2 * first);
      }
      out += block.row_stride;
    }
  }
}

MoveRows choose_decode(const Codec& codec, core::Number number, int64_t item) {
  if (item == 4) return choose_float32_decode(codec);
  return number == core::Number::brain_floating ? decode_halves<BrainHalf> : decode_halves<Half>;
}

}  // namespace
}  // namespace gather::cpu
