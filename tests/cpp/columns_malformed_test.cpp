#include "columns_call.hpp"

// Columns that are malformed, and limits of their types.
namespace {

using namespace columns_test;

TEST(Columns, K5_UnsupportedTypesAreRejected) {
  const Below below = seeded(1);
  for (const char* format :
       {"",    "+ud:0",    "+us:0", "+rr", "+v",  "+vs", "+vm", "+vlL", "x",  "ii", "w:", "w:-1", "w:99999999999",
        "d:5", "d:5,1,99", "tsx:",  "tsu", "tdx", "+w:", "+",   "v",    "vx", "t",  "ts"}) {
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
  column.schema->children[1]->children[1]->format = "+us:0";
  Taken taken;
  column.take_once(Request(Ids{0}), &taken);
  expect_failure(taken, GTH_E_DTYPE, -1, 0, 0);
  EXPECT_STREQ(taken.error.message, "params: the type '+us:0' of 'user' is not supported");
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
      structs{"+s", {ints}, false}, vectors{"+w:2", {ints}, false}, codes{"c", {texts}, true},
      views{"+vl", {ints}, false}, runs{"+r", {ints, texts}, false};
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
      {"sizes", views, [](ArrowArray* a) { a->buffers[2] = nullptr; }, 0, 0},
      {"one child", runs, [](ArrowArray* a) { a->n_children = 1; }, 1, 2},
      {"short values", runs, [](ArrowArray* a) { a->children[0]->length = 3, a->children[1]->length = 2; }, 2, 3},
      {"null ends", runs, [](ArrowArray* a) { a->children[0]->null_count = 2, a->children[0]->buffers[0] = a; }, 2, 0},
      {"no ends", runs, [](ArrowArray* a) { a->children[0]->length = 0, a->offset = 2, a->length = 6; }, 0, 8},
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

TEST(Columns, K2_OnlyOffsetsOfTheTakenRowsAreValidated) {
  const int32_t offsets[] = {0, 2, -9, 3, 99, 8};
  Handmade strings("u", 5, {nullptr, offsets, "abcdefgh"});
  strings.expect_good({0});
  strings.expect_bad({0, 1}, 1, -9, 2);
  strings.expect_bad({0, 0, 2}, 2, -9, 0);
  strings.expect_bad({3}, 0, 99, 8);
  strings.expect_bad({0, 4}, 1, 8, 99);
  Handmade without_bytes("u", 1, {nullptr, offsets, nullptr});
  without_bytes.expect_bad({0}, 0, 2, 0);
}

TEST(Columns, K2_OnlyRangesOfTheTakenListsAreValidated) {
  const int32_t offsets[] = {0, 2, 50, 3};
  const int8_t items[] = {1, 2, 3};
  for (const bool is_plain : {true, false}) {
    const uint8_t valid[] = {7};
    Handmade child("c", 3, {is_plain ? nullptr : valid, items});
    Handmade lists("+l", 3, {nullptr, offsets});
    lists.add_child(&child);
    lists.expect_good({0});
    lists.expect_bad({0, 1}, 1, 50, 3);
    lists.expect_bad({2}, 0, 3, 50);
  }
}

TEST(Columns, K2_OnlyTakenListViewsAreValidated) {
  const int8_t items[] = {1, 2, 3};
  const int32_t offsets[] = {1, 0, -1, 1, 1, INT32_MAX}, sizes[] = {2, 3, 1, -1, 3, 1};
  Handmade child("c", 3, {nullptr, items}), lists("+vl", 6, {nullptr, offsets, sizes});
  lists.add_child(&child);
  lists.expect_good({0, 1, 0});
  lists.expect_bad({0, 2}, 1, -1, 0);
  lists.expect_bad({3}, 0, 0, 1);
  lists.expect_bad({0, 1, 4}, 2, 4, 3);
  lists.expect_bad({5}, 0, int64_t{1} << 31, 3);
  const int64_t wide_offsets[] = {1, 3, INT64_MAX}, wide_sizes[] = {2, INT64_MAX, INT64_MAX};
  Handmade wide("+vL", 3, {nullptr, wide_offsets, wide_sizes});
  wide.add_child(&child);
  wide.expect_good({0});
  wide.expect_bad({0, 1}, 1, INT64_MAX, 3);
  wide.expect_bad({2}, 0, INT64_MAX, 3);
}

// Ends that do not increase are reported if the search of a row reads them.
TEST(Columns, K2_OnlyEndsThatASearchReadsAreValidated) {
  const auto take = [](std::vector<int16_t> ends, const std::function<void(Handmade*)>& expect) {
    const int8_t values[] = {1, 2, 3, 4, 5};
    const auto count = static_cast<int64_t>(ends.size());
    Handmade numbers("s", count, {nullptr, ends.data()}), child("c", count, {nullptr, values});
    Handmade runs("+r", ends.back(), {});
    runs.add_child(&numbers);
    runs.add_child(&child);
    expect(&runs);
  };
  // The search of row 0 reads 6, 1 and 3. The searches of rows 4, 7 and 8 read no pair that is in the wrong order.
  take({3, 1, 6, 7, 9}, [](Handmade* runs) { runs->expect_good({8, 7, 4}); });
  take({3, 1, 6, 7, 9}, [](Handmade* runs) { runs->expect_bad({8, 0}, 1, 3, 0); });
  take({3, 3, 6}, [](Handmade* runs) { runs->expect_bad({5, 4, 0}, 2, 3, 2); });
  take({1, 2, 4, 4, 6}, [](Handmade* runs) { runs->expect_bad({5}, 0, 4, 5); });
  take({0, 3}, [](Handmade* runs) { runs->expect_bad({0}, 0, 0, 1); });
  take({2, 5, 4, 5}, [](Handmade* runs) { runs->expect_bad({4, 3}, 1, 5, 3); });
}

TEST(Columns, K2_PositionOfABadValueOfARunIsTheFirstRowOfTheRun) {
  const int64_t ends[] = {2, 4, 6};
  const int32_t bytes[] = {0, 1, -1, 3};
  Handmade numbers("l", 3, {nullptr, ends}), strings("u", 3, {nullptr, bytes, "abc"}), runs("+r", 6, {});
  runs.add_child(&numbers);
  runs.add_child(&strings);
  runs.expect_good({0, 1, 0});
  runs.expect_bad({0, 1, 0, 3, 2}, 3, -1, 1);
  runs.expect_bad({2}, 0, -1, 1);
}

TEST(Columns, K2_RunsReachTheLastRow) {
  const int32_t ends[] = {2, 5}, negative[] = {-4, -2};
  const int8_t values[] = {1, 2};
  for (const int64_t length : {5, 6}) {
    for (const int64_t offset : {0, 1, 4}) {
      Handmade numbers("i", 2, {nullptr, ends}), child("c", 2, {nullptr, values}), runs("+r", length - offset, {});
      runs.add_child(&numbers);
      runs.add_child(&child);
      runs.set_offset(offset);
      if (length == 5) runs.expect_good({4 - offset, 0});
      if (length == 6) runs.expect_bad({0}, -1, 5, 6);
    }
  }
  Handmade numbers("i", 2, {nullptr, negative}), child("c", 2, {nullptr, values}), runs("+r", 1, {});
  runs.add_child(&numbers);
  runs.add_child(&child);
  runs.expect_bad({0}, -1, -2, 1);
}

TEST(Columns, K2_EndsOfRunsAreSignedIntegers) {
  const Below below = seeded(1);
  for (const char* format : {"c", "S", "I", "L", "f", "tdD", "u"}) {
    SCOPED_TRACE(format);
    Column column({"+r", {{"i", {}, false}, {"u", {}, false}}, false}, below);
    column.add(random_values(column.type, 4, below));
    column.schema->children[0]->format = format;
    Taken taken;
    column.take_once(Request(Ids{0}), &taken);
    expect_failure(taken, GTH_E_ARROW, -1, 0, 0);
  }
  const Type codes{"i", {{"u", {}, false}}, true};
  Column column({"+r", {codes, {"u", {}, false}}, false}, below);
  Taken taken;
  column.take_once(Request(Ids{}), &taken);
  expect_failure(taken, GTH_E_ARROW, -1, 0, 0);
}

TEST(Columns, K1_TypesOfRunsHaveTwoChildren) {
  for (const int64_t count : {0, 1, 3}) {
    const Type ints{"i", {}, false};
    Column column({"+r", std::vector<Type>(static_cast<size_t>(count), ints), false}, seeded(1));
    Taken taken;
    column.take_once(Request(Ids{}), &taken);
    expect_failure(taken, GTH_E_ARROW, -1, count, 2);
  }
}

TEST(Columns, K2_PositionOfABadElementIsThatOfItsRow) {
  const int32_t bytes[] = {0, 1, 2, -1, 4, 5, 5};
  Handmade strings("u", 6, {nullptr, bytes, "abcde"});
  const int32_t offsets[] = {0, 2, 4, 6};
  Handmade lists("+l", 3, {nullptr, offsets});
  lists.add_child(&strings);
  lists.expect_good({2, 0});
  lists.expect_bad({2, 0, 1}, 2, -1, 2);
  Handmade vectors("+w:2", 3, {nullptr});
  vectors.add_child(&strings);
  vectors.expect_good({2, 0});
  vectors.expect_bad({2, 0, 1}, 2, -1, 2);
}

TEST(Columns, K3_OnlyTakenViewsAreValidated) {
  const int64_t sizes[] = {16};
  const int32_t views[] = {1, 'a', 0,  0, 20, 0, 0,  4, 20, 0,  7,  0, 16, 0,
                           0, 0,   -5, 0, 0,  0, 13, 0, 0,  -1, 13, 0, -1, 0};
  Handmade strings("vu", 7, {nullptr, views, "0123456789abcdef", sizes});
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
  Handmade values("u", 2, {nullptr, offsets, "ab"});
  const uint8_t valid[] = {0xff};
  for (const uint8_t* const validity : {static_cast<const uint8_t*>(nullptr), valid}) {
    Handmade column("c", 5, {validity, codes});
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
  second->length = codes[2];  // The code of c equals the new length, so it is out of bounds.
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
    Handmade values("u", 2, {nullptr, offsets, "ab"});
    Handmade column(has_sign ? "l" : "L", 3, {nullptr, codes});
    column.add_dictionary(&values);
    column.expect_good({0});
    column.expect_bad({0, 1}, 1, -1, 2, has_sign ? 0 : GTH_ERROR_UNSIGNED);
    column.expect_bad({2}, 0, INT64_MIN, 2, has_sign ? 0 : GTH_ERROR_UNSIGNED);
  }
}

TEST(Columns, K8_BuffersOfEmptyArraysMayBeNull) {
  for (const char* format : {"i", "b"}) Handmade(format, 0, {nullptr, nullptr}).expect_good({});
  for (const char* format : {"u", "Z", "vu"}) Handmade(format, 0, {nullptr, nullptr, nullptr}).expect_good({});
}

// Some producers export a validity buffer for these types.
TEST(Columns, ValidityBufferOfATypeWithoutValidityIsIgnored) {
  const int32_t ends[] = {2, 3};
  const uint8_t bits = 0;
  Handmade numbers("i", 2, {nullptr, ends}), child("i", 2, {nullptr, ends}), nulls("n", 3, {&bits});
  Handmade runs("+r", 3, {&bits});
  runs.add_child(&numbers);
  runs.add_child(&child);
  for (Handmade* const column : {&nulls, &runs}) {
    Taken taken;
    column->take({2, 0}, &taken);
    ASSERT_EQ(taken.status, GTH_OK) << taken.error.message;
    EXPECT_EQ(taken.array.n_buffers, 0);
    EXPECT_EQ(taken.array.null_count, column == &nulls ? 2 : 0);
  }
}

TEST(Columns, K9_OffsetsBeyond32BitsBecomeWide) {
  constexpr int64_t most = int64_t{1} << 30;
  const int32_t offsets[] = {0, most};
  Handmade nothing("w:0", most, {nullptr, nullptr}), lists("+l", 1, {nullptr, offsets});
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

TEST(Columns, K9_SizesOfWideListViewsAreWide) {
  constexpr int64_t most = int64_t{1} << 30;
  const int32_t offsets[] = {5}, sizes[] = {most};
  Handmade nothing("w:0", most + 5, {nullptr, nullptr}), lists("+vl", 1, {nullptr, offsets, sizes});
  lists.add_child(&nothing);
  Taken narrow, wide;
  lists.take({0}, &narrow);
  ASSERT_EQ(narrow.status, GTH_OK) << narrow.error.message;
  EXPECT_STREQ(narrow.schema.format, "+vl");
  EXPECT_EQ(static_cast<const int32_t*>(narrow.array.buffers[2])[0], most);
  lists.take({0, 0, 0}, &wide);
  ASSERT_EQ(wide.status, GTH_OK) << wide.error.message;
  EXPECT_STREQ(wide.schema.format, "+vL");
  EXPECT_EQ(static_cast<const int64_t*>(wide.array.buffers[1])[2], 2 * most);
  EXPECT_EQ(static_cast<const int64_t*>(wide.array.buffers[2])[2], most);
  EXPECT_EQ(wide.array.children[0]->length, 3 * most);
}

TEST(Columns, K9_EndsOfRunsBeyondTheirTypeBecomeWide) {
  constexpr int64_t most = INT16_MAX;
  const int16_t ends[] = {1, 2};
  const int8_t values[] = {7, 8};
  Handmade numbers("s", 2, {nullptr, ends}), child("c", 2, {nullptr, values}), runs("+r", 2, {});
  runs.add_child(&numbers);
  runs.add_child(&child);
  Ids ids(most + 1);
  ids.back() = 1;
  for (const int64_t count : {most, most + 1}) {
    Taken taken;
    runs.take(Ids(ids.end() - count, ids.end()), &taken);
    ASSERT_EQ(taken.status, GTH_OK) << taken.error.message;
    ASSERT_EQ(taken.array.children[0]->length, 2);
    EXPECT_STREQ(taken.schema.children[0]->format, count > most ? "l" : "s");
    const void* const made = taken.array.children[0]->buffers[1];
    EXPECT_EQ(count > most ? load<int64_t>(made, 0) : load<int16_t>(made, 0), count - 1);
    EXPECT_EQ(count > most ? load<int64_t>(made, 1) : load<int16_t>(made, 1), count);
  }
  Taken taken;
  runs.take(ids, &taken, false);
  expect_failure(taken, GTH_E_SIZE, -1, most + 1, most);
}

TEST(Columns, K9_WideOffsetsNeedASchema) {
  constexpr int64_t most = int64_t{1} << 30;
  const int32_t offsets[] = {0, most};
  Handmade nothing("w:0", most, {nullptr, nullptr}), lists("+l", 1, {nullptr, offsets});
  lists.add_child(&nothing);
  Taken taken;
  lists.take({0, 0}, &taken, false);
  expect_failure(taken, GTH_E_SIZE, -1, 2 * most, INT32_MAX);
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
