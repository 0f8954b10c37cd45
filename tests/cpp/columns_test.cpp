#include <algorithm>
#include <numeric>

#include "columns_call.hpp"
#include "limits.hpp"

// Rows that are taken from columns, compared with lists of optional values.
namespace {

using namespace columns_test;

Ids random_ids(const Below& below, int64_t length) {
  Ids ids;
  static const int64_t counts[] = {
      0, 1, 5, 300, limits::unit_of_rows - 1, limits::unit_of_rows, limits::unit_of_rows + 1};
  const bool has_nulls = below(3) == 0;
  for (int64_t i = counts[below(7)]; i-- > 0;) {
    const bool is_null = has_nulls && below(5) == 0;
    if (length > 0 || is_null) ids.push_back(is_null ? null_id : below(2 * length) - length);
  }
  return ids;
}

TEST(Columns, RandomRowsEqualThoseOfTheLists) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    const Below below = seeded(seed);
    int64_t released;
    {
      Column column(random_type(below, below(4)), below);
      static const int64_t counts[] = {0, 1, 2, 9, 30};
      for (int64_t i = below(5); i-- > 0;) column.add(random_values(column.type, counts[below(5)], below));
      const Request request(random_ids(below, column.length()));
      Taken taken;
      below(2) ? column.take_once(request, &taken) : column.take_from_handle(request, &taken);
      expect_rows(column, request.ids, taken);
      for (const ArrowArray* chunk : column.chunks) EXPECT_EQ(chunk->release, nullptr);
      if (taken.schema.release) taken.schema.release(&taken.schema);
      if (taken.array.release) taken.array.release(&taken.array);
      released = column.builder.released;
      EXPECT_EQ(released, static_cast<int64_t>(column.chunks.size()));
    }
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST(Columns, ManyRowsOfManyChunksAreRight) {
  for (const char* format : {"b", "i", "w:40", "u", "vu", "n"}) {
    SCOPED_TRACE(format);
    const Below below = seeded(7);
    Column column({format, {}, false}, below);
    for (int64_t i = 0; i < 200; ++i) column.add(random_values(column.type, below(20), below));
    Ids ids(20000);
    for (int64_t& id : ids) id = below(column.length());
    Taken taken;
    column.take_once(Request(ids), &taken);
    expect_rows(column, ids, taken);
  }
}

// The rows are cut into pieces for threads. Each kind of type has chunks of its own sizes, offsets and nulls.
TEST(Columns, RowsOfSeveralPiecesAreRight) {
  const Type text{"u", {}, false}, number{"i", {}, false};
  const Type types[] = {{"b", {}, false},
                        {"c", {}, false},
                        {"w:3", {}, false},
                        {"u", {}, false},
                        {"Z", {}, false},
                        {"vu", {}, false},
                        {"+l", {text}, false},
                        {"+L", {number}, false},
                        {"+w:3", {text}, false},
                        {"+s", {text, number}, false},
                        {"i", {text}, true},
                        {"S", {number}, true},
                        {"+vl", {text}, false},
                        {"+vL", {number}, false},
                        {"+r", {{"s", {}, false}, text}, false}};
  for (const Type& type : types) {
    for (const int64_t chunks : {1, 9}) {
      SCOPED_TRACE(type.format + ", chunks " + std::to_string(chunks));
      const Below below = seeded(static_cast<uint64_t>(chunks));
      Column column(type, below);
      for (int64_t i = 0; i < chunks; ++i) column.add(random_values(column.type, 30 + below(100), below));
      // A row counts 16 bytes in addition to its own.
      Ids ids(static_cast<size_t>(limits::parallel_bytes / 16 / (1 + below(6)) + below(3) - 1));
      for (int64_t& id : ids) id = below(50) ? below(column.length()) : null_id;
      Request request(ids);
      request.options.threads = 3;
      Taken taken;
      column.take_once(request, &taken);
      expect_rows(column, ids, taken);
      if (HasFailure()) return;
    }
  }
}

// Below null rows are codes of an empty dictionary, and views and offsets that are invalid.
TEST(Columns, ContentBelowNullRowsIsNotRead) {
  const Type text{"u", {}, false}, codes{"c", {text}, true}, lists{"+vl", {text}, false};
  const Type below_rows[] = {codes,
                             {"vu", {}, false},
                             lists,
                             {"+w:3", {codes}, false},
                             {"+s", {text, codes, lists}, false},
                             {"+r", {{"i", {}, false}, codes}, false}};
  for (const Type& type : below_rows) {
    for (const char* const parent : {"+s", "+w:1"}) {
      for (const int64_t chunks : {1, 2}) {
        SCOPED_TRACE(parent + (" of " + type.format) + ", chunks " + std::to_string(chunks));
        for (uint64_t seed = 0; seed < 8; ++seed) {  // Some arrays have validity bits without a null.
          const bool has_values = seed % 2;
          const Below below = seeded(seed);
          Column column({parent, {type}, false}, below);
          for (int64_t i = 0; i < chunks; ++i) column.add(Values(5));
          if (has_values) column.add({Value(), {true, "", {random_value(type, below)}}, Value()});
          const Ids ids{1, column.length() - 2, has_values ? 2 : null_id, 0, column.length() - 1};
          Taken taken;
          column.take_once(Request(ids), &taken);
          expect_rows(column, ids, taken);
        }
      }
    }
  }
}

TEST(Columns, NeighbouringRowsOfARunAreOneRun) {
  const int32_t ends[] = {3, 5, 7};
  const int8_t values[] = {1, 2, 3};
  Handmade numbers("i", 3, {nullptr, ends}), child("c", 3, {nullptr, values}), runs("+r", 7, {});
  runs.add_child(&numbers);
  runs.add_child(&child);
  Taken taken;
  runs.take({1, 0, 2, 2, 4, 3, 6, null_id, null_id, 5, 0}, &taken);
  ASSERT_EQ(taken.status, GTH_OK) << taken.error.message;
  ASSERT_EQ(taken.array.children[0]->length, 6);
  EXPECT_EQ(taken.array.null_count, 0);
  EXPECT_EQ(taken.array.children[1]->null_count, 1);
  const int32_t expected[] = {4, 6, 7, 9, 10, 11};
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(load<int32_t>(taken.array.children[0]->buffers[1], i), expected[i]);
}

// Chunks with different dictionaries, each of which is a slice with null values, and rows that are null.
TEST(Columns, NullValuesOfDictionariesAreMerged) {
  const Below below = seeded(4);
  const Value a{true, "a", {}}, b{true, "b", {}}, none;
  Value null_value;
  null_value.has_code = true;
  for (const uint64_t seed : {1u, 2u, 3u}) {
    Column column({"c", {{"u", {}, false}}, true}, seeded(seed));
    column.add({a, null_value, none, b});
    column.add({b, none, null_value, a});
    const Ids ids{1, 6, 0, 7, 2, 4, null_id, 3, 5};
    Taken taken;
    column.take_from_handle(Request(ids), &taken);
    expect_rows(column, ids, taken);
    EXPECT_EQ(taken.array.null_count, 3);
    EXPECT_EQ(taken.array.dictionary->length, 3);
    EXPECT_EQ(taken.array.dictionary->null_count, 1);
  }
}

TEST(Columns, DifferentDictionariesAreMergedWithoutDuplicates) {
  const Below below = seeded(1);
  Column column({"C", {{"u", {}, false}}, true}, below);
  const Value a{true, "a", {}}, b{true, "b", {}}, c{true, "c", {}};
  column.add({a, b, b});
  column.add({b, c, Value(), a});
  Ids ids{0, 3, 6, 4, 5, 1};
  Taken taken;
  column.take_from_handle(Request(ids), &taken);
  expect_rows(column, ids, taken);
  EXPECT_EQ(taken.array.dictionary->length, 3);
}

TEST(Columns, DictionaryOutlivesTheColumn) {
  const Below below = seeded(1);
  Column column({"i", {{"u", {}, false}}, true}, below);
  column.add({{true, "some long value", {}}, {true, "b", {}}});
  Taken taken;
  column.take_from_handle(Request(Ids{1, 0}), &taken);
  EXPECT_EQ(column.builder.released, 0);
  expect_rows(column, {1, 0}, taken);
  taken.array.release(&taken.array);
  EXPECT_EQ(column.builder.released, 1);
}

TEST(Columns, LongStringsOfManyViewsAreShared) {
  const Below below = seeded(1);
  Column column({"vu", {}, false}, below);
  for (int64_t chunk = 0; chunk < 2; ++chunk) {
    column.add(Values(1000, {true, std::string(100, static_cast<char>('a' + chunk)), {}}));
  }
  Ids ids(2000);
  std::iota(ids.begin(), ids.end(), 0);
  Taken all, few;
  column.take_from_handle(Request(ids), &all);
  expect_rows(column, ids, all);
  EXPECT_EQ(column.builder.released, 0);
  ASSERT_EQ(all.array.n_buffers, 3 + column.chunks[0]->n_buffers - 3 + column.chunks[1]->n_buffers - 3);
  const auto* sizes = static_cast<const int64_t*>(all.array.buffers[all.array.n_buffers - 1]);
  int64_t shared = 2;
  for (const ArrowArray* chunk : column.chunks) {
    const auto* const given = static_cast<const int64_t*>(chunk->buffers[chunk->n_buffers - 1]);
    for (int64_t i = 2; i + 1 < chunk->n_buffers; ++i, ++shared) {
      EXPECT_EQ(all.array.buffers[shared], chunk->buffers[i]);
      EXPECT_EQ(*sizes++, given[i - 2]);
    }
  }
  all.array.release(&all.array);
  EXPECT_EQ(column.builder.released, 2);
}

TEST(Columns, FewLongStringsOfViewsAreCopied) {
  constexpr int64_t length = 64, few = limits::min_shared_views / length - 1;
  for (const int64_t count : {int64_t{2}, few, few + 1}) {
    const Below below = seeded(1);
    Column column({"vu", {}, false}, below);
    column.add(Values(2000, {true, std::string(length, 'a'), {}}));
    Ids ids(static_cast<size_t>(count));
    std::iota(ids.begin(), ids.end(), 0);
    Taken taken;
    column.take_from_handle(Request(ids), &taken);
    EXPECT_EQ(column.builder.released, count <= few ? 1 : 0);
    expect_rows(column, ids, taken);
    if (count > few) continue;
    ASSERT_EQ(taken.array.n_buffers, 4);
    EXPECT_EQ(*static_cast<const int64_t*>(taken.array.buffers[3]), count * length);
  }
}

// -------------------------------------------------------------------------------------------------------------- Tables

TEST(Columns, NullIndexOfATableIsNullInEachColumn) {
  const Below below = seeded(5);
  Column column({"+s", {{"i", {}, false}, {"u", {}, false}}, false}, below);
  const Value row{true, "", {{true, "1234", {}}, {true, "a", {}}}}, none{true, "", {Value(), Value()}};
  column.add({row, Value(), row});
  Taken taken;
  column.take_once(Request(Ids{0, null_id, 1}, GTH_TAKE_RECORD), &taken);
  ASSERT_EQ(taken.status, GTH_OK) << taken.error.message;
  EXPECT_EQ(taken.array.null_count, 0);
  EXPECT_EQ(taken.array.buffers[0], nullptr);
  EXPECT_TRUE(read_rows(column.type, taken.array) == (Values{row, none, none}));
}

// Columns that get nulls become nullable. The others, and what is below a column, do not.
TEST(Columns, FieldsWithNullsBecomeNullable) {
  const Type text{"u", {}, false},
      table{"+s", {text, {"+s", {text}, false}, {"+r", {{"i", {}, false}, text}, false}}, false};
  const Value word{true, "a", {}}, row{true, "", {word, {true, "", {word}}, word}};
  const std::function<void(ArrowSchema*)> forbid = [&](ArrowSchema* schema) {
    schema->flags = 0;
    for (int64_t i = 0; i < schema->n_children; ++i) forbid(schema->children[i]);
  };
  const auto take = [&](int64_t second, uint32_t flags, Taken* out) {
    Column column(table, seeded(5));
    column.add({row, row});
    forbid(column.schema);
    column.take_once(Request(Ids{0, second}, flags), out);
    ASSERT_EQ(out->status, GTH_OK) << out->error.message;
  };
  for (const bool has_null : {false, true}) {
    const int64_t second = has_null ? null_id : 1, nullable = has_null ? arrow_nullable : 0;
    Taken record, structs;
    take(second, GTH_TAKE_RECORD, &record);
    if (HasFatalFailure()) return;
    EXPECT_EQ(record.schema.flags, 0);
    for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(record.schema.children[i]->flags, nullable) << i;
    EXPECT_EQ(record.schema.children[1]->children[0]->flags, 0);
    EXPECT_EQ(record.schema.children[2]->children[0]->flags, 0);
    EXPECT_EQ(record.schema.children[2]->children[1]->flags, nullable);
    // A column of structs becomes nullable itself, and its fields do not.
    take(second, 0, &structs);
    if (HasFatalFailure()) return;
    EXPECT_EQ(structs.schema.flags, nullable);
    for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(structs.schema.children[i]->flags, 0) << i;
  }
}

TEST(Columns, ColumnWithNullsBecomesNullable) {
  for (const bool has_null : {false, true}) {
    Column column({"i", {}, false}, seeded(5));
    column.add({{true, "1234", {}}, {true, "5678", {}}});
    column.schema->flags = 0;
    Taken taken;
    column.take_once(Request(Ids{1, has_null ? null_id : 0}), &taken);
    ASSERT_EQ(taken.status, GTH_OK) << taken.error.message;
    EXPECT_EQ(taken.schema.flags, has_null ? arrow_nullable : 0);
  }
}

TEST(Columns, K12_OnlyStructsAreTables) {
  const Below below = seeded(5);
  Column column({"i", {}, false}, below);
  column.add({{true, "1234", {}}});
  Taken taken;
  column.take_once(Request(Ids{0}, GTH_TAKE_RECORD), &taken);
  expect_failure(taken, GTH_E_DTYPE, -1, 0, 0);
}

// --------------------------------------------------------------------------------------------------- Indices and options

class ColumnIndices : public ::testing::TestWithParam<const char*> {
 protected:
  ColumnIndices() : below_(seeded(3)), column_({GetParam(), {}, false}, below_) {
    Values rows = random_values(column_.type, 7, below_);
    for (Value& row : rows) {
      while (!row.valid) row = random_value(column_.type, below_);
    }
    column_.add(rows);
  }
  Below below_;
  Column column_;
};

INSTANTIATE_TEST_SUITE_P(formats, ColumnIndices, ::testing::Values("b", "l", "w:3", "u", "vz"),
                         [](const auto& format) { return "F" + std::to_string(format.index); });

TEST_P(ColumnIndices, IndexOutOfBoundsIsReportedWithItsPosition) {
  for (const auto& [id, negative] : {std::pair<int64_t, int32_t>{7, 0}, {-8, GTH_NEGATIVE_WRAP}, {-1, 0}}) {
    Request request({0, 6, id, 99});
    request.options.negative = negative;
    Taken taken;
    column_.take_once(request, &taken);
    expect_failure(taken, GTH_E_INDEX, 2, id, 7);
    EXPECT_EQ(taken.error.operand, GTH_OPERAND_INDICES);
    EXPECT_NE(column_.chunks[0]->release, nullptr) << "the arrays are not consumed on failure";
  }
}

TEST_P(ColumnIndices, K7_NullIndexHasAnyValue) {
  Request request({1, null_id, 2});
  Taken taken;
  column_.take_once(request, &taken);
  expect_rows(column_, request.ids, taken);
}

TEST_P(ColumnIndices, K7_IndexBehindANullIndexIsReportedWithItsPosition) {
  Taken taken;
  column_.take_once(Request({1, null_id, 7}), &taken);
  expect_failure(taken, GTH_E_INDEX, 2, 7, 7);
}

TEST_P(ColumnIndices, PoliciesForBounds) {
  Request request({9, -9});
  request.options.negative = GTH_NEGATIVE_REJECT;
  request.options.bounds = GTH_BOUNDS_CLAMP;
  const auto expect = [&](const Ids& ids) {
    Column column(column_.type, below_);
    column.add(column_.rows);
    Taken taken;
    column.take_from_handle(request, &taken);
    expect_rows(column, ids, taken);
  };
  expect({6, 0});
  request.options.bounds = GTH_BOUNDS_MODULO;
  expect({2, 5});
  request.options.bounds = 0;
  request.take.flags = GTH_TAKE_NULL;
  expect({null_id, null_id});
}

TEST_P(ColumnIndices, PaddingIsNull) {
  Request request({1, 9, 2});
  request.options.has_padding_index = 1;
  request.options.padding_index = 9;
  Taken taken;
  column_.take_once(request, &taken);
  expect_rows(column_, {1, null_id, 2}, taken);
}

TEST_P(ColumnIndices, FillAndSkipAreUnsupported) {
  for (const int32_t bounds : {GTH_BOUNDS_FILL, GTH_BOUNDS_SKIP}) {
    Request request({0});
    request.options.bounds = bounds;
    Taken taken;
    column_.take_once(request, &taken);
    EXPECT_EQ(taken.status, GTH_E_UNSUPPORTED);
  }
}

TEST_P(ColumnIndices, EmptyColumnHasNoRows) {
  Column column({GetParam(), {}, false}, below_);
  Taken none, nulls, one;
  column.take_once(Request(Ids{}), &none);
  expect_rows(column, {}, none);
  column.take_once(Request({null_id, null_id}), &nulls);
  expect_rows(column, {null_id, null_id}, nulls);
  column.take_once(Request({null_id, 0}), &one);
  expect_failure(one, GTH_E_INDEX, 1, 0, 0);
}

TEST_P(ColumnIndices, StridedIndicesOfAnyRankAndTypeAreReadInOrder) {
  const int16_t ids[] = {6, -1, 1, -1, 2, -1, 3, -1};
  const int64_t shape[] = {2, 2}, strides[] = {4, 8};  // 6 2 / 1 3
  Request request({});
  request.desc = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT16, 2, shape, ids);
  request.desc.strides = strides;
  Taken taken;
  column_.take_once(request, &taken);
  expect_rows(column_, {6, 2, 1, 3}, taken);
}

TEST_P(ColumnIndices, ContextsWithAnyNumberOfThreadsGiveEqualRows) {
  Ids ids(50000);
  for (int64_t& id : ids) id = below_(column_.length());
  for (const int32_t threads : {1, 3}) {
    Column column(column_.type, below_);
    column.add(column_.rows);
    Request request(ids);
    request.options.threads = threads;
    Taken taken;
    column.take_once(request, &taken);
    expect_rows(column, ids, taken);
  }
}

}  // namespace
