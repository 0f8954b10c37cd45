#pragma once

#include <type_traits>

#include "cpu/tiers/superblocks.hpp"

// Decodes packed rows. JobPart of body.hpp.
//
// A decoder has the fields of a codec that its loops need. decode(number, first, count, put) calls put(k, v) with one
// number or a vector of them, of which the first one is number first + k of the row. Some numbers may be put twice.
namespace gather::cpu {
namespace {

// (float32(code) - zero) * scale, or code * scale + bias.
template <Rule rule, class V>
GATHER_INLINE V value_of(V code, V scale, V zero) {
  if constexpr (rule == Rule::fused) {
    return Floats::multiply_add(scale, code, zero);
  } else {
    return (code - zero) * scale;
  }
}

// Blocks whose codes, scales and zero points are at places that the codec describes.
template <class Codes, Rule rule>
struct BlockDecoder {
  const Codes codes;
  const Scales scales, zeros;
  const char* const data;  // the codes of row 0
  const int64_t stride, block_values, block_bytes;

  GATHER_INLINE explicit BlockDecoder(const PackedRows& rows)
      : codes(rows.plan->codec),
        scales(scales_of(rows)),
        zeros(zeros_of(rows)),
        data(rows.data + rows.plan->codec.code_at),
        stride(rows.plan->stride),
        block_values(rows.plan->codec.block_values),
        block_bytes(rows.plan->codec.block_bytes) {}

  template <class Put>
  GATHER_INLINE void decode(int64_t number, int64_t first, int64_t count, Put&& put) const {
    int64_t block = first == 0 ? 0 : first / block_values, in_block = first - block * block_values;
    const char* at = data + number * stride + block * block_bytes;
    for (int64_t k = 0; k < count; ++block, at += block_bytes, in_block = 0) {
      const int64_t left = count - k, n = block_values - in_block < left ? block_values - in_block : left;
      decode_block(at, in_block, n, scales.at(number, block), zeros.at(number, block),
                   [&](int64_t j, auto v) __attribute__((always_inline)) { put(k + j, v); });
      k += n;
    }
  }

 private:
  // Decodes n numbers of a block from number `first` on.
  template <class Put>
  GATHER_INLINE void decode_block(const char* at, int64_t first, int64_t n, float scale, float zero, Put&& put) const {
    int64_t j = 0;
    if constexpr (lanes > 1) {
      if (first % Codes::step == 0) {
        const F<lanes> all_scale = all_of<lanes>(scale), all_zero = all_of<lanes>(zero);
        for (; j + lanes <= n; j += lanes) {
          put(j, value_of<rule>(codes.template at<lanes>(at, first + j), all_scale, all_zero));
        }
        if (j < n && n > lanes && n % Codes::step == 0) {
          j = n - lanes;
          return put(j, value_of<rule>(codes.template at<lanes>(at, first + j), all_scale, all_zero));
        }
      }
    }
    for (; j < n; ++j) put(j, value_of<rule>(codes.template at<1>(at, first + j), scale, zero));
  }
};

// Blocks of a format by name.
template <class Blocks>
struct NamedDecoder {
  const char* const data;
  const int64_t stride;
  const float factor;

  GATHER_INLINE explicit NamedDecoder(const PackedRows& rows)
      : data(rows.data), stride(rows.plan->stride), factor(rows.plan->codec.factor) {}

  template <class Put>
  GATHER_INLINE void decode(int64_t number, int64_t first, int64_t count, Put&& put) const {
    const char* at = data + number * stride + first / Blocks::values * Blocks::bytes;
    for (int64_t k = 0; k < count; k += Blocks::values, at += Blocks::bytes) {
      Blocks::decode(at, factor, [&](int64_t j, Values v) __attribute__((always_inline)) { put(k + j, v); });
    }
  }
};

// ---- Kernels

// Prefetches the bytes of rows, up to those after which the hardware prefetcher has detected the row, and their scales.
struct RowPrefetcher {
  static constexpr int64_t rows_ahead = 4, most_bytes = 4096;
  const char *const data, *const scales;
  const int64_t stride, row, bytes;

  GATHER_INLINE explicit RowPrefetcher(const PackedRows& rows)
      : data(rows.data),
        scales(rows.plan->codec.scale.place == Place::operand ? rows.scales : rows.data),
        stride(rows.plan->stride),
        row(rows.plan->codec.scale.place == Place::operand ? rows.plan->scales.row : stride),
        bytes(rows.plan->codec.row_bytes < most_bytes ? rows.plan->codec.row_bytes : most_bytes) {}

  // The row is not read, so the number may be out of bounds.
  GATHER_INLINE void fetch(int64_t number) const {
    const char* const at = row_of(data, number, stride);
    for (int64_t line = 0; line < bytes; line += 64) __builtin_prefetch(at + line, 0, 3);
    __builtin_prefetch(at + bytes - 1, 0, 3);
    if (scales != data) __builtin_prefetch(row_of(scales, number, row), 0, 3);
  }

 private:
  static GATHER_INLINE const char* row_of(const char* base, int64_t number, int64_t step) {
    return reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(base) +
                                         static_cast<uintptr_t>(number) * static_cast<uintptr_t>(step));
  }
};

// Decodes the numbers [first, first + count) of the rows of a block to float32.
template <class Decoder>
void decode_part(const RowBlock& given, int64_t first, int64_t count) {
  const RowBlock block = given;
  const Decoder decoder(*block.packed);
  const RowPrefetcher prefetcher(*block.packed);
  for (int64_t l = 0; l < block.lines; ++l) {
    const int64_t line = row_number(block.table) + l * block.next_table;
    const int64_t* const offsets = block.offsets + l * block.next_offsets;
    char* out = block.rows + l * block.next_rows;
    for (int64_t i = 0; i < block.n; ++i, out += block.row_stride) {
      const int64_t next = i + RowPrefetcher::rows_ahead;
      if (next < block.n) prefetcher.fetch(line + offsets[next]);
      decoder.decode(line + offsets[i], first, count, [out](int64_t k, auto v) __attribute__((always_inline)) {
        store_numbers(out + k * int64_t{sizeof(float)}, v);
      });
    }
  }
}

template <class Decoder>
void decode_rows(const RowBlock& block) {
  decode_part<Decoder>(block, 0, block.packed->plan->codec.values);
}

template <class Decoder>
void decode_row(const PackedRows& rows, int64_t number, int64_t first, int64_t n, float* out) {
  RowBlock block{};
  block.rows = reinterpret_cast<char*>(out), block.offsets = &number, block.n = 1, block.lines = 1;
  block.packed = &rows;
  decode_part<Decoder>(block, first, n);
}

// ---- Choice

// Returns choose(codes) for the class of the codes of a codec.
template <class Choose>
GATHER_INLINE auto with_codes(const Codec& codec, Choose choose) {
  constexpr CodeOrder low = CodeOrder::low_first, high = CodeOrder::high_first, halves = CodeOrder::halves;
  const CodeOrder order = codec.order;
  switch (codec.code) {
    case Code::uint8: return choose(Uint8Codes(codec));
    case Code::int8: return choose(Int8Codes(codec));
    case Code::uint5: return choose(Uint5Codes(codec));
    case Code::e4m3fn: return choose(E4m3fnCodes(codec));
    case Code::e5m2: return choose(E5m2Codes(codec));
    case Code::uint2: return order == high ? choose(Uint2Codes<high>(codec)) : choose(Uint2Codes<low>(codec));
    case Code::int2: return order == high ? choose(Int2Codes<high>(codec)) : choose(Int2Codes<low>(codec));
    case Code::int4:
      if (order == halves) return choose(Int4Codes<halves>(codec));
      return order == high ? choose(Int4Codes<high>(codec)) : choose(Int4Codes<low>(codec));
    case Code::table4:
      if (order == halves) return choose(TableCodes<halves>(codec));
      return order == high ? choose(TableCodes<high>(codec)) : choose(TableCodes<low>(codec));
    default:
      if (order == halves) return choose(Uint4Codes<halves>(codec));
      return order == high ? choose(Uint4Codes<high>(codec)) : choose(Uint4Codes<low>(codec));
  }
}

template <class T>
struct TypeOf {
  using type = T;
};

// Returns choose(TypeOf<Decoder>) for the decoder of a codec.
template <class Choose>
auto with_decoder(const Codec& codec, Choose choose) {
  using core::Structure;
  switch (codec.structure) {
    case Structure::q2_k: return choose(TypeOf<NamedDecoder<BlocksQ2K>>{});
    case Structure::q3_k: return choose(TypeOf<NamedDecoder<BlocksQ3K>>{});
    case Structure::q4_k: return choose(TypeOf<NamedDecoder<BlocksOfSixBits<false>>>{});
    case Structure::q5_k: return choose(TypeOf<NamedDecoder<BlocksOfSixBits<true>>>{});
    case Structure::q6_k: return choose(TypeOf<NamedDecoder<BlocksQ6K>>{});
    case Structure::iq4_xs: return choose(TypeOf<NamedDecoder<BlocksIq4Xs>>{});
    case Structure::mxfp4: return choose(TypeOf<NamedDecoder<BlocksMxfp4>>{});
    case Structure::nvfp4: return choose(TypeOf<NamedDecoder<BlocksNvfp4>>{});
    default: break;
  }
  return with_codes(codec, [&](auto codes) {
    using Codes = decltype(codes);
    if (codec.rule == Rule::fused) return choose(TypeOf<BlockDecoder<Codes, Rule::fused>>{});
    return choose(TypeOf<BlockDecoder<Codes, Rule::scaled>>{});
  });
}

MoveRows choose_float32_decode(const Codec& codec) {
  return with_decoder(codec, [](auto type) -> MoveRows { return decode_rows<typename decltype(type)::type>; });
}

DecodeRow choose_decode_row(const Codec& codec) {
  return with_decoder(codec, [](auto type) -> DecodeRow { return decode_row<typename decltype(type)::type>; });
}

// Rounds float32 numbers to numbers of 2 bytes.
template <class Kind>
void round_numbers(const float* from, int64_t n, char* to) {
  const char* const at = reinterpret_cast<const char*>(from);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) Kind::template store<lanes>(to + 2 * i, load_numbers<float, lanes>(at + 4 * i));
  for (; i < n; ++i) Kind::template store<1>(to + 2 * i, from[i]);
}

// Decodes rows to numbers of 2 bytes, by way of some float32 numbers.
template <class Kind>
void decode_halves(const RowBlock& block) {
  const PackedRows& rows = *block.packed;
  const DecodeRow decode = choose_decode_row(rows.plan->codec);
  const int64_t values = rows.plan->codec.values;
  alignas(64) float part[most_decoded];
  for (int64_t l = 0; l < block.lines; ++l) {
    const int64_t line = row_number(block.table) + l * block.next_table;
    char* out = block.rows + l * block.next_rows;
    for (int64_t i = 0; i < block.n; ++i, out += block.row_stride) {
      const int64_t number = line + block.offsets[l * block.next_offsets + i];
      for (int64_t first = 0; first < values; first += most_decoded) {
        const int64_t n = values - first < most_decoded ? values - first : most_decoded;
        decode(rows, number, first, n, part);
        round_numbers<Kind>(part, n, out + 2 * first);
      }
    }
  }
}

MoveRows choose_decode(const Codec& codec, core::Number number, int64_t item) {
  if (item == 4) return choose_float32_decode(codec);
  return number == core::Number::brain_floating ? decode_halves<BrainHalf> : decode_halves<Half>;
}

}  // namespace
}  // namespace gather::cpu
