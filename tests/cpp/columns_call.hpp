#pragma once

#include <gtest/gtest.h>

#include "columns_request.hpp"

// Takes of columns, and their expected results.
namespace columns_test {

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
inline void expect_rows(const Column& column, const Ids& ids, const Taken& taken) {
  ASSERT_EQ(taken.status, GTH_OK) << taken.error.message;
  const Values expected = column.expected(ids);
  EXPECT_EQ(taken.array.offset, 0);
  ASSERT_EQ(taken.array.length, static_cast<int64_t>(ids.size()));
  EXPECT_EQ(taken.array.null_count, std::count_if(expected.begin(), expected.end(),
                                                  [&](const Value& row) { return is_null_of(column.type, row); }));
  EXPECT_TRUE(is_schema_of(column.type, taken.schema)) << taken.schema.format;
  EXPECT_TRUE(read_rows(column.type, taken.array) == expected);
}

inline void expect_failure(const Taken& taken, int32_t status, int64_t position, int64_t value, int64_t limit) {
  EXPECT_STREQ(gth_status_name(taken.status), gth_status_name(status)) << taken.error.message;
  EXPECT_EQ(taken.error.status, taken.status);
  EXPECT_EQ(taken.error.position, position) << taken.error.message;
  EXPECT_EQ(taken.error.value, value) << taken.error.message;
  EXPECT_EQ(taken.error.limit, limit) << taken.error.message;
  EXPECT_EQ(taken.schema.release, nullptr);
  EXPECT_EQ(taken.array.release, nullptr);
}

// An array of given buffers, whose content may be invalid in some rows.
class Handmade {
 public:
  Handmade(const char* format, int64_t length, std::vector<const void*> buffers) : buffers_(std::move(buffers)) {
    schema_ = {format, "name", nullptr, arrow_nullable, 0, nullptr, nullptr, [](ArrowSchema*) {}, nullptr};
    array_ = {length,  0,       0,      static_cast<int64_t>(buffers_.size()), 0, buffers_.data(), nullptr,
              nullptr, release, nullptr};
  }
  void add_child(Handmade* child) {
    schema_children_[schema_.n_children++] = &child->schema_;
    array_children_[array_.n_children++] = &child->array_;
    schema_.children = schema_children_;
    array_.children = array_children_;
  }
  void set_offset(int64_t offset) { array_.offset = offset; }
  void add_dictionary(Handmade* values) {
    schema_.dictionary = &values->schema_;
    array_.dictionary = &values->array_;
  }

  void take(const Ids& ids, Taken* out, bool has_schema = true) {
    const Request request(ids);
    ArrowArray copy = array_, *chunks[] = {&copy};
    ArrowSchema* const schema = has_schema ? &out->schema : nullptr;
    out->status = gth_arrow_take(nullptr, &schema_, 1, chunks, &request.take, schema, &out->array, &out->error);
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
  ArrowSchema schema_, *schema_children_[2];
  ArrowArray array_, *array_children_[2];
};

}  // namespace columns_test
