// A C++ program that gathers packed rows through gather.hpp.
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "raii.hpp"

namespace {

using gather::Codec;
using gather::Options;
using gather::Packed;
using gather::Tensor;
using gather::View;
using Bytes = std::vector<uint8_t>;
using Floats = std::vector<float>;
using Shape = std::vector<int64_t>;

constexpr size_t row_count = 6, width = 64;
const Shape shape = {row_count, width};
const std::vector<int32_t> ids = {5, 0, 3, 3};

// The float16 numbers 0.5, -0.25, 2 and -0, as float32 and as their bits.
constexpr std::array<float, 4> halves = {0.5f, -0.25f, 2, -0.0f};
constexpr std::array<uint16_t, 4> half_bits = {0x3800, 0xb400, 0x4000, 0x8000};

// A table and the numbers that its formula gives.
struct Table {
  Bytes bytes;
  Floats numbers;
};

uint8_t code_at(size_t i) { return static_cast<uint8_t>(i * 37 + 11); }

void append_half(size_t i, Bytes* out) {
  out->push_back(static_cast<uint8_t>(half_bits[i % 4] & 255));
  out->push_back(static_cast<uint8_t>(half_bits[i % 4] >> 8));
}

// Blocks of a float16 scale and 32 codes of int8.
Table q8_0() {
  Table table;
  for (size_t block = 0; block < row_count * width / 32; ++block) {
    append_half(block, &table.bytes);
    for (size_t i = 0; i < 32; ++i) {
      const auto code = static_cast<int8_t>(code_at(32 * block + i));
      table.bytes.push_back(static_cast<uint8_t>(code));
      table.numbers.push_back(halves[block % 4] * static_cast<float>(code));
    }
  }
  return table;
}

// Rows of 4-bit codes, low bits first, and then a scale and a bias of float16.
Table rowwise4() {
  Table table;
  for (size_t row = 0; row < row_count; ++row) {
    for (size_t i = 0; i < width / 2; ++i) {
      const uint8_t both = code_at(row * width + i);
      table.bytes.push_back(both);
      for (const int code : {both & 15, both >> 4})
        table.numbers.push_back(halves[row % 4] * static_cast<float>(code) + halves[(row + 1) % 4]);
    }
    append_half(row, &table.bytes);
    append_half(row + 1, &table.bytes);
  }
  return table;
}

// Codes of 4 bits with a sign, scales of blocks of 32 numbers, and zero points of int8.
Table int4(const Floats& scales, const std::vector<int8_t>& zeros) {
  Table table;
  for (size_t i = 0; i < row_count * width; i += 2) {
    const uint8_t both = code_at(i);
    table.bytes.push_back(both);
    for (const int code : {both & 15, both >> 4})
      table.numbers.push_back(static_cast<float>((code ^ 8) - 8 - zeros[i / 32]) * scales[i / 32]);
  }
  return table;
}

// Numbers of float8_e4m3fn. One scale belongs to all of them.
Table fp8(float scale) {
  Table table;
  for (size_t i = 0; i < row_count * width; ++i) {
    const uint8_t code = code_at(i) == 127 || code_at(i) == 255 ? uint8_t{0x80} : code_at(i);  // 127 and 255 are NaN.
    const int exponent = code >> 3 & 15, fraction = code & 7;
    const float size =
        std::ldexp(static_cast<float>(exponent != 0 ? 8 + fraction : fraction), std::max(exponent, 1) - 10);
    table.bytes.push_back(code);
    table.numbers.push_back((code >= 128 ? -size : size) * scale);
  }
  return table;
}

bool same(const Floats& found, const Floats& wanted) {
  return found.size() == wanted.size() && std::memcmp(found.data(), wanted.data(), 4 * wanted.size()) == 0;
}

template <class Ids>
Floats rows_of(const Floats& numbers, const Ids& rows) {
  Floats found;
  for (const auto row : rows) {
    const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(width) * row;
    found.insert(found.end(), first, first + static_cast<std::ptrdiff_t>(width));
  }
  return found;
}

void check_rows(const Packed& packed, const Floats& numbers) {
  CHECK(packed.shape() == shape && View(packed).dtype() == GTH_DTYPE_FLOAT32);
  CHECK(same(gather::gather(packed, ids).to_vector<float>(), rows_of(numbers, ids)));
}

// Checks that the first packed row has the numbers of this row.
void check_row(const Packed& packed, const Floats& numbers, int64_t row) {
  const std::vector<int64_t> first = {0}, stored = {row};
  CHECK(same(gather::gather(packed, first).to_vector<float>(), rows_of(numbers, stored)));
}

void formats() {
  const Table blocks = q8_0(), rows = rowwise4(), floats = fp8(0.75f);
  check_rows(Packed("q8_0", blocks.bytes, shape), blocks.numbers);
  check_rows(Packed("rowwise4", rows.bytes, shape), rows.numbers);
  const Floats scales = {1, 0.5f, -2, 3, 0.25f, -0.0f, 7, 1.5f, 8, 0.125f, 2, -1}, scale = {0.75f};
  const std::vector<int8_t> zeros = {0, 1, -3, 7, -8, 2, 5, -1, 4, 0, 3, -2};
  const Table codes = int4(scales, zeros);
  Codec codec = Codec("int4").block(32).scales({scales, {6, 2}}).zeros({zeros, {6, 2}});
  check_rows(Packed(codec, codes.bytes, shape), codes.numbers);
  CHECK(codec.row_bytes(64) == 32 && Codec("q8_0").row_bytes(64) == 68);
  check_rows(Packed(Codec("fp8_e4m3fn").scales({scale, {1, 1}}), floats.bytes, shape), floats.numbers);
  const Tensor quarter = Tensor::from(Floats{0.25f}, {1, 1});
  check_rows(Packed(Codec("fp8_e4m3fn").scales(quarter).factor(3), floats.bytes, shape), floats.numbers);

  // Zero points of 4 bits share a byte. A constant one needs no memory.
  const Bytes threes(6, 0x33);
  const std::vector<int8_t> same_zeros(12, 3);
  const Table shifted = int4(scales, same_zeros);
  codec.zeros({threes, {6, 1}}, GTH_ZERO_INT4);
  check_rows(Packed(codec, shifted.bytes, shape), shifted.numbers);
  check_rows(Packed(codec.zeros({same_zeros, {6, 2}}), shifted.bytes, shape), shifted.numbers);
  const Codec nibbles = Codec("int4").block(32).scales({scales, {6, 2}}).zeros({threes, {6, 1}}, GTH_ZERO_INT4);
  check_rows(Packed(nibbles, shifted.bytes, shape), shifted.numbers);
  gather::Report err;
  CHECK(Codec::try_named("q8_0", &codec, &err) == GTH_OK);  // Its operands are gone.
  check_rows(Packed(codec, blocks.bytes, shape), blocks.numbers);
  check_rows(Packed(Codec("int4").block(32).scales({scales, {6, 2}}).zero(3), shifted.bytes, shape), shifted.numbers);
  check_rows(Packed(Codec(nibbles).zero(3), shifted.bytes, shape), shifted.numbers);
  const Bytes biased = {3, 5, 0, 0, 0, 64, 0, 0, 128, 63};  // 2 codes, the float32 scale 2 and the bias 1
  const std::vector<int64_t> first = {0};
  CHECK(same(gather::gather(Packed("rowwise8", biased, {1, 2}), first).to_vector<float>(), {7, 11}));
  CHECK(same(gather::gather(Packed(Codec("rowwise8").zero(10), biased, {1, 2}), first).to_vector<float>(), {16, 20}));

  // A codec of gather.h, here with bytes that are skipped.
  const Codec named("rowwise4");
  gth_codec raw = named.raw();
  raw.row_tail += 3;
  Bytes longer;
  for (size_t row = 0; row < row_count; ++row) {
    longer.insert(longer.end(), &rows.bytes[36 * row], &rows.bytes[36 * row] + 36);
    longer.insert(longer.end(), 3, 99);
  }
  check_rows(Packed(Codec(raw), longer, shape), rows.numbers);
}

void layouts() {
  const Table blocks = q8_0();
  // Each second row, in reverse order, and the last one, behind a pointer without a size.
  const Packed reversed("q8_0", blocks.bytes, {3, 64}, GTH_DTYPE_FLOAT32, {-2 * 68}, 5 * 68);
  check_row(Packed("q8_0", &blocks.bytes[5 * 68], {1, 64}), blocks.numbers, 5);
  const std::vector<int64_t> rows = {2, 0, 1}, stored = {1, 5, 3};
  CHECK(same(gather::gather(reversed, rows).to_vector<float>(), rows_of(blocks.numbers, stored)));
  const Packed cubes("q8_0", blocks.bytes, {2, 3, 64}, GTH_DTYPE_FLOAT32, {3 * 68, 68});
  const std::vector<int64_t> pairs = {1, 2, 0, 1}, flat = {5, 1};
  CHECK(same(gather::gather_nd(cubes, {pairs, {2, 2}}).to_vector<float>(), rows_of(blocks.numbers, flat)));
  const Packed narrow("q8_0", blocks.bytes, shape, GTH_DTYPE_BFLOAT16);
  const Tensor found = gather::gather(narrow, ids);
  CHECK(View(narrow).dtype() == GTH_DTYPE_BFLOAT16 && found.describe().dtype == GTH_DTYPE_BFLOAT16);
  const Bytes nothing;
  const Packed empty("q8_0", nothing, {0, 64});
  CHECK(gather::gather(empty, View(ids, {0})).shape() == Shape({0, 64}));
}

void calls() {
  const Table table = q8_0();
  const Packed packed("q8_0", table.bytes, shape);
  const Floats wanted = rows_of(table.numbers, ids);
  const View indices(ids), tuples(ids, {4, 1});
  Floats out(4 * width, -1);
  const auto check_out = [&] {
    CHECK(same(out, wanted));
    out.assign(4 * width, -1);
  };
  gather::gather_into(packed, ids, {out, {4, 64}});
  check_out();
  gather::gather_nd_into(packed, tuples, {out, {4, 64}});
  check_out();
  CHECK(gather::gather_shape(packed, indices) == Shape({4, 64}));
  CHECK(gather::gather_nd_shape(packed, tuples) == Shape({4, 64}));
  gather::run_many({{GTH_OP_GATHER, packed, indices, View(out, {4, 64})}});
  check_out();
  const gather::Plan plan = gather::Plan::gather(packed, View::layout<int32_t>({GTH_OPEN}));
  plan.run(nullptr, ids, out, 4);
  check_out();
  gather::run_many({plan.with(nullptr, ids, out, 4)});
  check_out();
  CHECK(plan.extents(4).params == 0);
  gather::Plan::gather_nd(packed, tuples).run(nullptr, ids, out);
  check_out();

  Floats sums(width);
  for (size_t i = 0; i < sums.size(); ++i) {
    float sum = 0;
    for (const int32_t id : ids) sum += table.numbers[width * static_cast<size_t>(id) + i];
    sums[i] = sum;
  }
  const std::vector<int32_t> offsets = {0, 4};
  Floats pooled(width);
  CHECK(gather::gather_bags(packed, ids, offsets).to_vector<float>() == sums);
  gather::gather_bags_into(packed, ids, offsets, {pooled, {1, 64}});
  CHECK(pooled == sums);
  pooled.assign(width, -1);
  gather::BagsPlan::gather_bags(packed, indices, offsets).run(nullptr, ids, offsets, nullptr, pooled);
  CHECK(pooled == sums);
}

void batches() {
  const Table table = q8_0();
  const Packed packed("q8_0", table.bytes, {2, 3, 64});
  const std::vector<int64_t> rows = {2, 0, 1, 1}, flat = {2, 0, 4, 4};
  const Tensor found = gather::gather(packed, {rows, {2, 2}}, Options().batch_dims(1));
  CHECK(same(found.to_vector<float>(), rows_of(table.numbers, flat)));
}

void hostile() {
  const Table table = q8_0();
  const Packed packed("q8_0", table.bytes, shape);
  const auto fails = [&](int32_t status, int32_t operand, const Codec& codec, const Bytes& bytes, const View& rows) {
    const gth_tensor_desc& desc = description(rows);
    const gather::Dims extents(desc.shape, static_cast<size_t>(desc.ndim));
    const auto error = thrown<gather::Error>(status, [&] { const Packed made(codec, bytes, extents, desc.dtype); });
    CHECK(error.operand() == operand);
  };
  const View rows = View::layout<float>({6, 64});
  thrown<gather::Error>(GTH_E_VERSION, [] { const Codec codec("q9_0"); });
  fails(GTH_E_VERSION, GTH_OPERAND_CODEC, Codec(), table.bytes, rows);
  fails(GTH_E_STRIDE, GTH_OPERAND_TENSOR, "q8_0", Bytes(407), rows);
  fails(GTH_E_NULL, GTH_OPERAND_TENSOR, "q8_0", Bytes(), rows);
  fails(GTH_E_SHAPE, GTH_OPERAND_CODEC, "q8_0", table.bytes, View::layout<float>({6, 63}));
  fails(GTH_E_DTYPE, GTH_OPERAND_TENSOR, "q8_0", table.bytes, View::layout<double>({6, 64}));
  fails(GTH_E_RANK, GTH_OPERAND_TENSOR, "q8_0", table.bytes, View::layout<float>(Shape(65, 1)));
  const Floats scales(12, 1);
  const Bytes short_zeros(11);
  const Codec int4 = Codec("int4").block(32);
  fails(GTH_E_NULL, GTH_OPERAND_SCALES, int4, table.bytes, rows);
  fails(GTH_E_SHAPE, GTH_OPERAND_SCALES, Codec(int4).scales({scales, {6, 1, 2}}).scales({scales, {4, 2}}), table.bytes,
        rows);
  fails(GTH_E_STRIDE, GTH_OPERAND_ZEROS, Codec(int4).scales({scales, {6, 2}}).zeros({short_zeros, {6, 2}}), table.bytes,
        rows);
  fails(GTH_E_VERSION, GTH_OPERAND_SCALES, Codec("q8_0").scales({scales, {6, 2}}), table.bytes, rows);

  gather::Report err;
  Packed none;
  const std::vector<int64_t> outside = {6};
  CHECK(Packed::try_make("q8_0", table.bytes, shape, &none, &err, GTH_DTYPE_FLOAT32, {68, 1}) == GTH_E_RANK && !none);
  CHECK(Packed::try_make("q8_0", table.bytes, {}, &none, &err) != GTH_OK && !none);
  Packed again("q8_0", table.bytes, shape);
  CHECK(Packed::try_make("q8_0", table.bytes, {2, 3, 64}, &again, &err, GTH_DTYPE_FLOAT32, {68}) == GTH_E_RANK);
  CHECK(!again);
  Bytes cleared = table.bytes;
  cleared.clear();  // Its address is not NULL.
  CHECK(Packed::try_make("q8_0", cleared, shape, &none, &err) == GTH_E_NULL);
  const Codec biased = Codec("rowwise4").zeros({scales, {6, 2}});
  CHECK(Packed::try_make(biased, table.bytes, shape, &none, &err) == GTH_E_VERSION);
  thrown<gather::Error>(GTH_E_NULL, [&] { gather::gather(none, ids); });
  thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::gather(packed, outside); });
  thrown<gather::Error>(GTH_E_AXIS, [&] { gather::gather(packed, ids, Options().axis(1)); });
  thrown<gather::Error>(GTH_E_UNSUPPORTED, [&] { gather::gather({scales, {12}}, packed); });
  thrown<gather::Error>(GTH_E_UNSUPPORTED, [&] { gather::gather_elements(packed, View::layout<int32_t>({4, 64})); });
  thrown<gather::Error>(GTH_E_UNSUPPORTED, [&] { gather::gather_into({scales, {12}}, ids, packed); });
  Floats target(12);
  thrown<gather::Error>(GTH_E_UNSUPPORTED, [&] { gather::scatter_into({target, {6, 2}}, ids, packed); });
  thrown<gather::Error>(GTH_E_UNSUPPORTED, [&] { gather::scatter_into(packed, ids, {target, {4, 3}}); });

  // A tensor of packed rows has no elements.
  const Codec named("q8_0");
  const gth_codec raw = named.raw();
  gth_tensor_desc desc = description(View(static_cast<const void*>(table.bytes.data()), GTH_DTYPE_FLOAT32, shape));
  desc.shape = shape.data();
  desc.codec = &raw;
  const Tensor tensor = Tensor::borrow(View(desc));
  CHECK(same(gather::gather(tensor, ids).to_vector<float>(), rows_of(table.numbers, ids)));
  thrown<gather::Error>(GTH_E_UNSUPPORTED, [&] { tensor.data<const float>(); });
  thrown<gather::Error>(GTH_E_UNSUPPORTED, [&] { tensor.to_vector<float>(); });
}

void owners() {
  const Table table = q8_0();
  Packed first("q8_0", table.bytes, shape);
  const gather::Plan plan = gather::Plan::gather(first, View(ids));
  Packed second = std::move(first);
  CHECK(!first && second);
  Floats out(4 * width);
  plan.run(nullptr, ids, out);
  CHECK(same(out, rows_of(table.numbers, ids)));
  gather::Report err;
  CHECK(plan.try_run(static_cast<const void*>(table.bytes.data()), ids, out, GTH_OPEN, &err) == GTH_E_HANDLE);
  second.reset();
  CHECK(plan.try_run(nullptr, ids, out, GTH_OPEN, &err) == GTH_E_HANDLE);
}

}  // namespace

int main() {
  formats();
  layouts();
  calls();
  batches();
  hostile();
  owners();
  return 0;
}
