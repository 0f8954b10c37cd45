#include "columns_call.hpp"

// Columns of streams of arrays.
namespace {

using namespace columns_test;

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

}  // namespace
