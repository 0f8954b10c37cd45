#include "guarded.hpp"
#include "packed_cases.hpp"
#include "samples.hpp"
#include "sparse.hpp"
#include "watched.hpp"

// Packed tables beside inaccessible pages: rows, scales, zero points, tables of codes and outputs of every size.
namespace {

using namespace packed;
using hostile::Error, hostile::Guarded;

// The pages of one request.
struct Pages {
  Guarded table{40}, scales{40}, zeros{40}, entries{1}, codec{1}, out{40};
};

constexpr int64_t most = 40 * 4096;

// Moves an operand beside an inaccessible page. Its memory must fit.
void move(const Guarded& pages, bool low, gth_tensor_desc* desc) {
  char* const to = pages.at(desc->extent, low);
  std::memcpy(to, desc->data, static_cast<size_t>(desc->extent));
  desc->data = to;
}

// Writes the codec directly before an inaccessible page, and moves what it refers to.
const gth_codec* move_codec(const Pages& pages, bool low, Described* described) {
  gth_codec& codec = described->codec;
  if (codec.scales) move(pages.scales, low, &described->scales);
  if (codec.zeros) move(pages.zeros, low, &described->zeros);
  if (codec.code_table) {
    char* const to = pages.entries.at(64, low);
    std::memcpy(to, codec.code_table, 64);
    codec.code_table = reinterpret_cast<const float*>(to);
  }
  auto* const moved = reinterpret_cast<gth_codec*>(pages.codec.at(sizeof codec, low));
  *moved = codec;
  return moved;
}

bool fits(const Table& table) {
  const auto size = [](const std::vector<char>& memory) { return static_cast<int64_t>(memory.size()); };
  return size(table.memory) <= most && size(table.scales.memory) <= most && size(table.zeros.memory) <= most &&
         3 * table.values() * 4 <= most;
}

void expect_numbers(const Table& table, const float* expected, int64_t count, const char* found, const char* what) {
  const int64_t item = gth_dtype_size(table.dtype);
  for (int64_t j = 0; j < count; ++j) {
    char bytes[4];
    encode(table.dtype, expected[j], bytes);
    ASSERT_TRUE(is_same(table.dtype, bytes, found + j * item)) << what << " " << j << ": " << describe(table);
  }
}

// Gathers the last, the first and the last row, and adds the first and the last one in a bag.
void run(const Table& table, const Pages& pages, bool low) {
  const Described plain(table);
  Described moved(table);
  move(pages.table, low, &moved.params);
  moved.params.codec = move_codec(pages, low, &moved);
  const int64_t last = table.rows() - 1, values = table.values(), item = gth_dtype_size(table.dtype);
  const hostile::Array ids = hostile::indices64({3}, {last, 0, last}), borders = hostile::indices64({2}, {0, 2});
  const gth_tensor_desc indices = ids.desc(), bags = borders.desc();
  const Shape gathered{3, values}, pooled{1, values};
  char* const to = pages.out.at(3 * values * item, low);
  const gth_tensor_desc out = hostile::describe(table.dtype, gathered, to);
  Error error;
  ASSERT_EQ(gth_gather(nullptr, &moved.params, &indices, &out, nullptr, &error), GTH_OK) << error.message;
  for (int64_t i = 0; i < 3; ++i) {
    const std::vector<float> expected = decode_row(plain.params, i == 1 ? 0 : last);
    expect_numbers(table, expected.data(), values, to + i * values * item, "number");
  }
  char* const sum = pages.out.at(values * item, low);
  const gth_tensor_desc row = hostile::describe(table.dtype, pooled, sum);
  const hostile::Array two = hostile::indices64({2}, {last, 0});
  const gth_tensor_desc first = two.desc();
  ASSERT_EQ(gth_gather_bags(nullptr, &moved.params, &first, &bags, nullptr, &row, nullptr, &error), GTH_OK)
      << error.message;
  std::vector<float> sums;
  for (int64_t j = 0; j < values; ++j)
    sums.push_back(pool(plain.params, {{last, 1}, {0, 1}}, {GTH_POOL_SUM, false, false, 0}, j));
  expect_numbers(table, sums.data(), values, sum, "sum");
}

TEST(HostilePacked, L10_RowsBesideUnreadablePagesAreDecoded) {
  const Pages pages;
  for (int64_t i = 0; i < 4000 && !testing::Test::HasFailure(); ++i) {
    const Table table = make_table({1 + below(4)}, chance(50) ? 1 + below(80) : length_around());
    if (fits(table)) run(table, pages, chance(40));
  }
}

TEST(HostilePacked, L10_EveryLengthBesideUnreadablePagesIsDecoded) {
  struct Form {
    int32_t dtype;
    int64_t block;
    bool has_scales;
  };
  const Pages pages;
  for (int64_t values = 1; values <= 200 && !testing::Test::HasFailure(); ++values) {
    for (const int32_t code : {GTH_CODE_UINT8, GTH_CODE_INT8, GTH_CODE_UINT4, GTH_CODE_TABLE4, GTH_CODE_UINT2,
                               GTH_CODE_UINT5, GTH_CODE_E4M3FN, GTH_CODE_E5M2}) {
      const int64_t bits = bits_of(code);
      if (values * bits % 8 != 0 || (bits == 5 && values % 32 != 0)) continue;
      const int32_t either = chance(50) ? f32 : f16;
      const Form forms[] = {
          {f32, 0, false}, {f16, 0, false}, {either, 0, true}, {either, 16, true}, {either, 32, true}};
      for (const Form& form : forms) {
        Table table;
        table.dtype = form.dtype;
        table.codec.code = code;
        if (bits == 5) table.codec.packing = GTH_PACKING_HALVES;
        table.codec.block_values = bits == 5 ? 32 : form.block;
        if (form.has_scales) table.codec.scale_place = GTH_PLACE_OPERAND, table.codec.scale_dtype = f32;
        table.shape = {2, values};
        make_operands(&table);
        table.row_bytes = row_bytes(table.codec, values);
        table.memory.resize(static_cast<size_t>(2 * table.row_bytes));
        for (char& byte : table.memory) byte = static_cast<char>(engine());
        draw_entries(&table);
        run(table, pages, false);
        run(table, pages, true);
      }
    }
  }
}

// The first pass validates all indices. The second one reads them again.
TEST(HostilePacked, L14_IndexThatChangesAfterValidationGivesRace) {
  using hostile::Watched;
  const hostile::Array table(GTH_DTYPE_UINT8, {4, 8}),
      borders = hostile::indices64({3}, {0, Watched::n / 2, Watched::n});
  const Shape shape{4, 8}, gathered{Watched::n, 8}, pooled{2, 8};
  gth_codec codec = GTH_CODEC_INIT;
  codec.code = GTH_CODE_UINT8;
  gth_options options = GTH_OPTIONS_INIT;
  options.threads = 1;
  const gth_tensor_desc bags = borders.desc();
  for (const int32_t dtype : {f32, f16}) {
    for (const int32_t pool : {0, GTH_POOL_SUM, GTH_POOL_MAX}) {
      for (const int64_t bad : {int64_t{0}, Watched::half - 1}) {
        const hostile::Array out(dtype, pool ? pooled : gathered);
        const Watched ids(std::vector<int64_t>(static_cast<size_t>(Watched::n), 1), 1,
                          [&](int64_t* all) { all[bad] = 4; });
        gth_tensor_desc params = hostile::describe(dtype, shape, table.data());
        params.codec = &codec;
        const gth_tensor_desc indices = ids.desc(), rows = out.desc();
        options.pool = pool;
        gth_request request =
            GTH_REQUEST(pool ? GTH_OP_GATHER_BAGS : GTH_OP_GATHER, &params, &indices, &rows, &options);
        if (pool) request.bags = &bags;
        Error error;
        EXPECT_STREQ(gth_status_name(gth_run_request(nullptr, &request, &error)), "GTH_E_RACE") << error.message;
        EXPECT_EQ(error.operand, GTH_OPERAND_INDICES);
      }
    }
  }
}

// Rows, scales and zero points have equal addresses in their lowest 32 bits.
TEST(HostilePacked, L15_DistantRowsAndScalesAreDecoded) {
  const hostile::SparseRows rows(12), factors(12);
  NEEDS(rows);
  NEEDS(factors);
  gth_codec codec = GTH_CODEC_INIT;
  codec.code = GTH_CODE_UINT8, codec.rule = GTH_RULE_FUSED;
  codec.scale_place = codec.zero_place = GTH_PLACE_OPERAND;
  for (int64_t i = 0; i < 12; ++i) {
    for (int64_t j = 0; j < 40; ++j) rows.at(i)[j] = static_cast<char>(engine());
    const float parts[] = {static_cast<float>(i + 1) / 3, static_cast<float>(5 - i) / 7};
    std::memcpy(factors.at(i), parts, sizeof parts);
  }
  const Shape shape{12, 40}, one{12, 1}, strides{hostile::SparseRows::apart, 0}, apart{hostile::SparseRows::apart, 4};
  gth_tensor_desc params = hostile::describe(f32, shape, rows.data(), strides.data());
  const gth_tensor_desc scales = hostile::describe(f32, one, factors.data(), apart.data());
  gth_tensor_desc zeros = scales;
  zeros.offset = 4;
  codec.scales = &scales, codec.zeros = &zeros;
  params.codec = &codec;
  const hostile::Array ids = hostile::indices64({4}, {11, 0, 7, 2}), out(f32, {4, 40});
  const gth_tensor_desc indices = ids.desc(), to = out.desc();
  Error error;
  ASSERT_EQ(gth_gather(nullptr, &params, &indices, &to, nullptr, &error), GTH_OK) << error.message;
  for (int64_t i = 0; i < 4; ++i) {
    constexpr int64_t chosen[] = {11, 0, 7, 2};
    const std::vector<float> expected = decode_row(params, chosen[i]);
    EXPECT_EQ(std::memcmp(out.data() + i * 160, expected.data(), 160), 0) << i;
  }
}

// All rows are at the same place, so that a table has more of them than 32 bits count.
TEST(HostilePacked, L15_MoreRowsThan32BitsCountAreAccepted) {
  const hostile::Array row(GTH_DTYPE_UINT8, {1, 8}), out(f32, {2, 8});
  const int64_t count = (int64_t{1} << 33) + 5;
  const Shape shape{count, 8}, strides{0, 0};
  gth_codec codec = GTH_CODEC_INIT;
  codec.code = GTH_CODE_UINT8;
  gth_tensor_desc params = hostile::describe(f32, shape, row.data(), strides.data());
  params.codec = &codec;
  const gth_tensor_desc to = out.desc();
  Error error;
  const hostile::Array ids = hostile::indices64({2}, {count - 1, 0}), bad = hostile::indices64({2}, {0, count});
  const gth_tensor_desc indices = ids.desc(), outside = bad.desc();
  ASSERT_EQ(gth_gather(nullptr, &params, &indices, &to, nullptr, &error), GTH_OK) << error.message;
  const std::vector<float> expected = decode_row(params, 0);
  EXPECT_EQ(std::memcmp(out.data(), expected.data(), 32), 0);
  EXPECT_EQ(std::memcmp(out.data() + 32, expected.data(), 32), 0);
  EXPECT_EQ(gth_gather(nullptr, &params, &outside, &to, nullptr, &error), GTH_E_INDEX);
  EXPECT_EQ(error.limit, count);
  // Dense rows with so many bytes leave int64.
  params.strides = nullptr;
  codec.row_tail = int64_t{1} << 40;
  EXPECT_EQ(gth_gather(nullptr, &params, &indices, &to, nullptr, &error), GTH_E_STRIDE) << error.message;
  EXPECT_EQ(error.operand, GTH_OPERAND_PARAMS);
  // Decoded numbers leave int64.
  const Shape huge{INT64_MAX / 4, 8};
  params.shape = huge.data();
  EXPECT_EQ(gth_gather(nullptr, &params, &indices, &to, nullptr, &error), GTH_E_SIZE) << error.message;
  EXPECT_EQ(error.operand, GTH_OPERAND_PARAMS);
}

}  // namespace
