#include "columns_request.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "limits.hpp"

// Rows that are taken from columns, compared with lists of optional values.
namespace {

using namespace columns_test;

// Results of a call.
struct Taken {
  int32_t status;
  gth_error error = GTH_ERROR_INIT;
  ArrowSchema schema{};
  ArrowArray array{};

  Taken() = default;
  Taken(const Taken&) = delete;
  ~Taken() {
    if (schema.release) schema.release(&schema);
    if (array.release) array.release(&array);
  }
};

// A column, its rows, and the arrays that it is made of.
struct Column {
  Type type;
  Values rows;
  std::vector<ArrowArray*> chunks;
  Builder builder;
  ArrowSchema* schema;

  Column(Type given, Below below) : type(std::move(given)), builder(std::move(below)), schema(builder.schema(type)) {}

  void add(const Values& more) {
    chunks.push_back(builder.array(type, more));
    rows.insert(rows.end(), more.begin(), more.end());
  }
  int64_t length() const { return static_cast<int64_t>(rows.size()); }

  void take_once(const Request& request, Taken* out) {
    out->status = gth_arrow_take(nullptr, schema, static_cast<int64_t>(chunks.size()), chunks.data(), &request.take,
                                 &out->schema, &out->array, &out->error);
  }

  void take_from_handle(const Request& request, Taken* out) {
    gth_column* column = nullptr;
    out->status = gth_column_from_arrow(nullptr, schema, static_cast<int64_t>(chunks.size()), chunks.data(), &column,
                                        &out->error);
    if (out->status) return;
    out->status = gth_column_take(nullptr, column, &request.take, &out->schema, &out->array, &out->error);
    EXPECT_EQ(gth_column_release(column), GTH_OK);
    EXPECT_EQ(gth_column_release(column), GTH_E_HANDLE);
  }

  Values expected(const Ids& ids) const {
    Values values;
    for (int64_t id : ids) {
      values.push_back(id == null_id ? Value() : rows[static_cast<size_t>(id < 0 ? id + length() : id)]);
    }
    return values;
  }
};

// Expects rows, and a well-formed array.
void expect_rows(const Column& column, const Ids& ids, const Taken& taken) {
  ASSERT_EQ(taken.status, GTH_OK) << taken.error.message;
  const Values expected = column.expected(ids);
  EXPECT_EQ(taken.array.offset, 0);
  ASSERT_EQ(taken.array.length, static_cast<int64_t>(ids.size()));
  EXPECT_EQ(taken.array.null_count, std::count_if(expected.begin(), expected.end(),
                                                  [&](const Value& row) { return is_null_of(column.type, row); }));
  EXPECT_TRUE(is_schema_of(column.type, taken.schema)) << taken.schema.format;
  EXPECT_TRUE(read_rows(column.type, taken.array) == expected);
}

void expect_failure(const Taken& taken, int32_t status, int64_t position, int64_t value, int64_t limit) {
  EXPECT_STREQ(gth_status_name(taken.status), gth_status_name(status)) << taken.error.message;
  EXPECT_EQ(taken.error.status, taken.status);
  EXPECT_EQ(taken.error.position, position) << taken.error.message;
  EXPECT_EQ(taken.error.value, value) << taken.error.message;
  EXPECT_EQ(taken.error.limit, limit) << taken.error.message;
  EXPECT_EQ(taken.schema.release, nullptr);
  EXPECT_EQ(taken.array.release, nullptr);
}

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
  const Type types[] = {{"b", {}, false},        {"c", {}, false},
                        {"w:3", {}, false},      {"u", {}, false},
                        {"Z", {}, false},        {"vu", {}, false},
                        {"+l", {text}, false},   {"+L", {number}, false},
                        {"+w:3", {text}, false}, {"+s", {text, number}, false},
                        {"i", {text}, true},     {"S", {number}, true}};
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

// ---------------------------------------------------------------------------------------------------- Malformed columns

TEST(Columns, K5_UnsupportedTypesAreRejected) {
  const Below below = seeded(1);
  for (const char* format : {"",    "+ud:0",    "+us:0", "+r",  "+vl", "+vL", "x", "ii", "w:", "w:-1", "w:99999999999",
                             "d:5", "d:5,1,99", "tsx:",  "tsu", "tdx", "+w:", "+", "v",  "vx", "t",    "ts"}) {
    SCOPED_TRACE(format);
    Column column({"i", {}, false}, below);
    column.add({{true, "1234", {}}});
    column.schema->format = format;
    Taken taken;
    column.take_once(Request(Ids{0}), &taken);
    expect_failure(taken, GTH_E_DTYPE, -1, 0, 0);
  }
}

// The error names the column inside its table, and the format.
TEST(Columns, K5_MessagesNameTheUnsupportedColumn) {
  const Below below = seeded(1);
  const Type table{"+s", {{"i", {}, false}, {"+s", {{"u", {}, false}, {"i", {}, false}}, false}}, false};
  Column column(table, below);
  column.add(random_values(table, 3, below));
  column.schema->name = "";
  column.schema->children[1]->name = "user";
  column.schema->children[1]->children[1]->name = "age";
  column.schema->children[1]->children[1]->format = "+r";
  Taken taken;
  column.take_once(Request(Ids{0}), &taken);
  expect_failure(taken, GTH_E_DTYPE, -1, 0, 0);
  EXPECT_STREQ(taken.error.message, "params: the type '+r' of 'user' is not supported");
}

TEST(Columns, K6_TypesMayBeNested32Deep) {
  const Below below = seeded(1);
  for (const int depth : {32, 33}) {
    Type type{"i", {}, false};
    for (int i = 1; i < depth; ++i) type = {"+s", {type}, false};
    Column column(type, below);
    column.add(random_values(type, 3, below));
    Taken taken;
    column.take_once(Request(Ids{1}), &taken);
    if (depth == 32) expect_rows(column, {1}, taken);
    if (depth == 33) expect_failure(taken, GTH_E_DTYPE, -1, 33, 32);
  }
}

// A change of an array that makes it malformed, and the error.
struct Damage {
  const char* name;
  Type type;
  std::function<void(ArrowArray*)> apply;
  int64_t value, limit;
};

TEST(Columns, K1_MalformedArraysAreRejected) {
  static const Type ints{"i", {}, false}, texts{"u", {}, false}, lists{"+l", {ints}, false},
      structs{"+s", {ints}, false}, vectors{"+w:2", {ints}, false}, codes{"c", {texts}, true};
  const Damage all[] = {
      {"released", ints, [](ArrowArray* a) { a->release = nullptr; }, 0, 0},
      {"length", ints, [](ArrowArray* a) { a->length = -1; }, -1, 0},
      {"offset", ints, [](ArrowArray* a) { a->offset = -3; }, -3, 0},
      {"huge length", ints, [](ArrowArray* a) { a->length = INT64_MAX; }, INT64_MAX, INT64_MAX / 32 - 1},
      {"null_count", ints, [](ArrowArray* a) { a->null_count = -2; }, -2, -1},
      {"nulls without bits", ints, [](ArrowArray* a) { a->null_count = 1, a->buffers[0] = nullptr; }, 1, 0},
      {"buffers", ints, [](ArrowArray* a) { a->buffers = nullptr; }, 0, 0},
      {"n_buffers", ints, [](ArrowArray* a) { a->n_buffers = 1; }, 1, 2},
      {"data", ints, [](ArrowArray* a) { a->buffers[1] = nullptr; }, 0, 0},
      {"offsets", texts, [](ArrowArray* a) { a->buffers[1] = nullptr; }, 0, 0},
      {"n_children", ints, [](ArrowArray* a) { a->n_children = 1; }, 1, 0},
      {"no children", lists, [](ArrowArray* a) { a->n_children = 0; }, 0, 1},
      {"children", lists, [](ArrowArray* a) { a->children = nullptr; }, 0, 0},
      {"child", lists, [](ArrowArray* a) { a->children[0] = nullptr; }, 0, 0},
      {"moved child", lists, [](ArrowArray* a) { a->children[0]->release = nullptr; }, 0, 0},
      {"short child", structs, [](ArrowArray* a) { a->offset = 0, a->length = 4, a->children[0]->length = 3; }, 3, 4},
      {"short vectors", vectors, [](ArrowArray* a) { a->offset = 0, a->length = 4, a->children[0]->length = 7; }, 7, 8},
      {"no dictionary", codes, [](ArrowArray* a) { a->dictionary = nullptr; }, 0, 0},
      {"dictionary", ints, [](ArrowArray* a) { a->dictionary = a; }, 0, 0},
      {"bad dictionary", codes, [](ArrowArray* a) { a->dictionary->length = -5; }, -5, 0},
  };
  for (const Damage& damage : all) {
    SCOPED_TRACE(damage.name);
    const Below below = seeded(2);
    Column column(damage.type, below);
    column.add(random_values(column.type, 6, below));
    damage.apply(column.chunks[0]);
    Taken taken;
    column.take_once(Request(Ids{0}), &taken);
    expect_failure(taken, GTH_E_ARROW, -1, damage.value, damage.limit);
    EXPECT_EQ(taken.error.operand, GTH_OPERAND_PARAMS);
    EXPECT_EQ(column.builder.released, 0);
  }
}

// Arrays of two buffers besides validity, whose content is invalid in some rows.
class BadContent {
 public:
  BadContent(const char* format, int64_t length, std::vector<const void*> buffers) : buffers_(std::move(buffers)) {
    schema_ = {format, "name", nullptr, arrow_nullable, 0, nullptr, nullptr, [](ArrowSchema*) {}, nullptr};
    array_ = {length,  0,       0,      static_cast<int64_t>(buffers_.size()), 0, buffers_.data(), nullptr,
              nullptr, release, nullptr};
  }
  void add_child(BadContent* child) {
    schema_children_[0] = &child->schema_;
    array_children_[0] = &child->array_;
    schema_.n_children = array_.n_children = 1;
    schema_.children = schema_children_;
    array_.children = array_children_;
  }
  void add_dictionary(BadContent* values) {
    schema_.dictionary = &values->schema_;
    array_.dictionary = &values->array_;
  }

  void take(const Ids& ids, Taken* out) {
    const Request request(ids);
    ArrowArray copy = array_, *chunks[] = {&copy};
    out->status = gth_arrow_take(nullptr, &schema_, 1, chunks, &request.take, &out->schema, &out->array, &out->error);
  }
  void expect_bad(const Ids& ids, int64_t position, int64_t value, int64_t limit, uint32_t flags = 0) {
    Taken taken;
    take(ids, &taken);
    expect_failure(taken, GTH_E_ARROW, position, value, limit);
    EXPECT_EQ(taken.error.flags, flags) << taken.error.message;
  }
  void expect_good(const Ids& ids) {
    Taken taken;
    take(ids, &taken);
    EXPECT_EQ(taken.status, GTH_OK) << taken.error.message;
  }

 private:
  static void release(ArrowArray* self) { self->release = nullptr; }

  std::vector<const void*> buffers_;
  ArrowSchema schema_, *schema_children_[1];
  ArrowArray array_, *array_children_[1];
};

TEST(Columns, K2_OnlyOffsetsOfTheTakenRowsAreValidated) {
  const int32_t offsets[] = {0, 2, -9, 3, 99, 8};
  BadContent strings("u", 5, {nullptr, offsets, "abcdefgh"});
  strings.expect_good({0});
  strings.expect_bad({0, 1}, 1, -9, 2);
  strings.expect_bad({0, 0, 2}, 2, -9, 0);
  strings.expect_bad({3}, 0, 99, 8);
  strings.expect_bad({0, 4}, 1, 8, 99);
  BadContent without_bytes("u", 1, {nullptr, offsets, nullptr});
  without_bytes.expect_bad({0}, 0, 2, 0);
}

TEST(Columns, K2_OnlyRangesOfTheTakenListsAreValidated) {
  const int32_t offsets[] = {0, 2, 50, 3};
  const int8_t items[] = {1, 2, 3};
  for (const bool is_plain : {true, false}) {
    const uint8_t valid[] = {7};
    BadContent child("c", 3, {is_plain ? nullptr : valid, items});
    BadContent lists("+l", 3, {nullptr, offsets});
    lists.add_child(&child);
    lists.expect_good({0});
    lists.expect_bad({0, 1}, 1, 50, 3);
    lists.expect_bad({2}, 0, 3, 50);
  }
}

TEST(Columns, K2_PositionOfABadElementIsThatOfItsRow) {
  const int32_t bytes[] = {0, 1, 2, -1, 4, 5, 5};
  BadContent strings("u", 6, {nullptr, bytes, "abcde"});
  const int32_t offsets[] = {0, 2, 4, 6};
  BadContent lists("+l", 3, {nullptr, offsets});
  lists.add_child(&strings);
  lists.expect_good({2, 0});
  lists.expect_bad({2, 0, 1}, 2, -1, 2);
  BadContent vectors("+w:2", 3, {nullptr});
  vectors.add_child(&strings);
  vectors.expect_good({2, 0});
  vectors.expect_bad({2, 0, 1}, 2, -1, 2);
}

TEST(Columns, K3_OnlyTakenViewsAreValidated) {
  const int64_t sizes[] = {16};
  const int32_t views[] = {1, 'a', 0,  0, 20, 0, 0,  4, 20, 0,  7,  0, 16, 0,
                           0, 0,   -5, 0, 0,  0, 13, 0, 0,  -1, 13, 0, -1, 0};
  BadContent strings("vu", 7, {nullptr, views, "0123456789abcdef", sizes});
  strings.expect_good({0, 3});
  strings.expect_bad({0, 1}, 1, 4, 0);
  strings.expect_bad({2}, 0, 0, 7);
  strings.expect_bad({4}, 0, 0, 0);
  strings.expect_bad({5}, 0, -1, 0);
  strings.expect_bad({6}, 0, 0, -1);
}

TEST(Columns, K4_OnlyTakenCodesAreValidated) {
  const int8_t codes[] = {0, 1, 77, -3, 2};
  const int32_t offsets[] = {0, 1, 2};
  BadContent values("u", 2, {nullptr, offsets, "ab"});
  const uint8_t valid[] = {0xff};
  for (const uint8_t* const validity : {static_cast<const uint8_t*>(nullptr), valid}) {
    BadContent column("c", 5, {validity, codes});
    column.add_dictionary(&values);
    column.expect_good({1, 0});
    column.expect_bad({1, 2}, 1, 77, 2);
    column.expect_bad({3}, 0, -3, 2);
    column.expect_bad({0, 1, 4}, 2, 2, 2);
  }
}

// Each code is inside the memory of its dictionary, but outside the slice of it.
TEST(Columns, K4_CodesAreComparedWithTheLengthOfTheirOwnDictionary) {
  const Below below = seeded(2);
  const Value a{true, "a", {}}, b{true, "b", {}}, c{true, "c", {}};
  Column column({"C", {{"u", {}, false}}, true}, below);
  column.add({a, b, c});
  column.add({a, b, c});
  ArrowArray* const second = column.chunks[1]->dictionary;
  const auto* const codes = static_cast<const uint8_t*>(column.chunks[1]->buffers[1]) + column.chunks[1]->offset;
  second->length = codes[2];  // The code of c is the length.
  if (second->null_count > 0) second->null_count = -1;
  Taken good, bad;
  Ids ids{0, 2, 3, 4};
  column.take_once(Request({0, 2, 5}), &bad);
  expect_failure(bad, GTH_E_ARROW, 2, codes[2], codes[2]);
  column.take_once(Request(ids), &good);
  expect_rows(column, ids, good);
}

TEST(Columns, K4_LargeCodesAreUnsigned) {
  const uint64_t codes[] = {0, UINT64_MAX, uint64_t{1} << 63};
  const int32_t offsets[] = {0, 1, 2};
  for (const bool has_sign : {false, true}) {
    BadContent values("u", 2, {nullptr, offsets, "ab"});
    BadContent column(has_sign ? "l" : "L", 3, {nullptr, codes});
    column.add_dictionary(&values);
    column.expect_good({0});
    column.expect_bad({0, 1}, 1, -1, 2, has_sign ? 0 : GTH_ERROR_UNSIGNED);
    column.expect_bad({2}, 0, INT64_MIN, 2, has_sign ? 0 : GTH_ERROR_UNSIGNED);
  }
}

TEST(Columns, K8_BuffersOfEmptyArraysMayBeNull) {
  for (const char* format : {"i", "b"}) BadContent(format, 0, {nullptr, nullptr}).expect_good({});
  for (const char* format : {"u", "Z", "vu"}) BadContent(format, 0, {nullptr, nullptr, nullptr}).expect_good({});
}

TEST(Columns, K9_OffsetsBeyond32BitsBecomeWide) {
  constexpr int64_t most = int64_t{1} << 30;
  const int32_t offsets[] = {0, most};
  BadContent nothing("w:0", most, {nullptr, nullptr}), lists("+l", 1, {nullptr, offsets});
  lists.add_child(&nothing);
  Taken narrow, wide;
  lists.take({0}, &narrow);
  ASSERT_EQ(narrow.status, GTH_OK) << narrow.error.message;
  EXPECT_STREQ(narrow.schema.format, "+l");
  lists.take({0, 0, 0}, &wide);
  ASSERT_EQ(wide.status, GTH_OK) << wide.error.message;
  EXPECT_STREQ(wide.schema.format, "+L");
  EXPECT_EQ(static_cast<const int64_t*>(wide.array.buffers[1])[3], 3 * most);
  EXPECT_EQ(wide.array.children[0]->length, 3 * most);
}

TEST(Columns, K9_WideOffsetsNeedASchema) {
  constexpr int64_t most = int64_t{1} << 30;
  const int32_t offsets[] = {0, most};
  const void *buffers[] = {nullptr, offsets}, *none[] = {nullptr, nullptr};
  ArrowSchema child{"w:0", "", nullptr, 0, 0, nullptr, nullptr, [](ArrowSchema*) {}, nullptr}, *children[] = {&child};
  const ArrowSchema schema{"+l", "", nullptr, 0, 1, children, nullptr, [](ArrowSchema*) {}, nullptr};
  const auto release = [](ArrowArray* self) { self->release = nullptr; };
  ArrowArray below{most, 0, 0, 2, 0, none, nullptr, nullptr, release, nullptr}, *arrays[] = {&below};
  ArrowArray array{1, 0, 0, 2, 1, buffers, arrays, nullptr, release, nullptr}, *chunks[] = {&array};
  const Request request(Ids{0, 0});
  Taken taken;
  taken.status = gth_arrow_take(nullptr, &schema, 1, chunks, &request.take, nullptr, &taken.array, &taken.error);
  expect_failure(taken, GTH_E_SIZE, -1, 2 * most, INT32_MAX);
}

// -------------------------------------------------------------------------------------------------------------- Streams

// A stream of the chunks of a column.
struct Stream {
  ArrowArrayStream stream{get_schema, get_next, get_last_error, release, this};
  Column* column;
  size_t next = 0;
  int64_t fail_at = -1;
  int64_t released = 0;

  explicit Stream(Column* given) : column(given) {}

  static Stream& of(ArrowArrayStream* self) { return *static_cast<Stream*>(self->private_data); }
  static int get_schema(ArrowArrayStream* self, ArrowSchema* out) {
    *out = *of(self).column->schema;
    return 0;
  }
  static int get_next(ArrowArrayStream* self, ArrowArray* out) {
    Stream& stream = of(self);
    if (static_cast<int64_t>(stream.next) == stream.fail_at) return 5;
    if (stream.next == stream.column->chunks.size()) return 0;
    *out = *stream.column->chunks[stream.next++];
    return 0;
  }
  static const char* get_last_error(ArrowArrayStream*) { return "the disk is on fire"; }
  static void release(ArrowArrayStream* self) {
    ++of(self).released;
    self->release = nullptr;
  }
};

TEST(Columns, StreamBecomesAColumn) {
  for (const int64_t chunks : {0, 1, 20}) {
    const Below below = seeded(9);
    Column column({"u", {}, false}, below);
    for (int64_t i = 0; i < chunks; ++i) column.add(random_values(column.type, 3, below));
    Stream stream(&column);
    gth_column* made = nullptr;
    gth_error error = GTH_ERROR_INIT;
    ASSERT_EQ(gth_column_from_arrow_stream(nullptr, &stream.stream, &made, &error), GTH_OK) << error.message;
    EXPECT_EQ(stream.released, 1);
    Ids ids;
    for (int64_t i = 0; i < column.length(); i += 2) ids.push_back(i);
    const Request request(ids);
    Taken taken;
    taken.status = gth_column_take(nullptr, made, &request.take, &taken.schema, &taken.array, &taken.error);
    expect_rows(column, ids, taken);
    EXPECT_EQ(gth_column_release(made), GTH_OK);
    EXPECT_EQ(column.builder.released, chunks);
  }
}

TEST(Columns, K10_FailureOfAStreamIsReported) {
  const Below below = seeded(9);
  Column column({"u", {}, false}, below);
  for (int64_t i = 0; i < 3; ++i) column.add(random_values(column.type, 3, below));
  Stream stream(&column);
  stream.fail_at = 2;
  gth_column* made = nullptr;
  gth_error error = GTH_ERROR_INIT;
  EXPECT_EQ(gth_column_from_arrow_stream(nullptr, &stream.stream, &made, &error), GTH_E_ARROW);
  EXPECT_EQ(error.native, 5);
  EXPECT_NE(std::string(error.message).find("the disk is on fire"), std::string::npos);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(stream.released, 0);
  EXPECT_EQ(column.builder.released, 2);
}

TEST(Columns, K12_RequiredPointersAreChecked) {
  const Below below = seeded(1);
  Column column({"i", {}, false}, below);
  column.add({{true, "1234", {}}});
  const Request request(Ids{0});
  gth_column* out = nullptr;
  ArrowArray array;
  ArrowArray* none[] = {nullptr};
  EXPECT_EQ(gth_column_from_arrow(nullptr, nullptr, 0, nullptr, &out, nullptr), GTH_E_NULL);
  EXPECT_EQ(gth_column_from_arrow(nullptr, column.schema, 1, nullptr, &out, nullptr), GTH_E_NULL);
  EXPECT_EQ(gth_column_from_arrow(nullptr, column.schema, 1, none, &out, nullptr), GTH_E_NULL);
  EXPECT_EQ(gth_column_from_arrow(nullptr, column.schema, -1, none, &out, nullptr), GTH_E_SHAPE);
  EXPECT_EQ(gth_column_from_arrow(nullptr, column.schema, 0, nullptr, nullptr, nullptr), GTH_E_NULL);
  EXPECT_EQ(gth_column_from_arrow_stream(nullptr, nullptr, &out, nullptr), GTH_E_NULL);
  EXPECT_EQ(gth_column_take(nullptr, nullptr, &request.take, nullptr, &array, nullptr), GTH_E_NULL);
  EXPECT_EQ(gth_arrow_take(nullptr, column.schema, 1, column.chunks.data(), &request.take, nullptr, nullptr, nullptr),
            GTH_E_NULL);
  EXPECT_EQ(gth_arrow_take(nullptr, column.schema, 1, column.chunks.data(), nullptr, nullptr, &array, nullptr),
            GTH_E_NULL);
  auto* const garbage = reinterpret_cast<gth_column*>(&column);
  EXPECT_EQ(gth_column_take(nullptr, garbage, &request.take, nullptr, &array, nullptr), GTH_E_HANDLE);
  EXPECT_EQ(gth_column_release(nullptr), GTH_OK);
}

}  // namespace
