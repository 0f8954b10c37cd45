#include <gtest/gtest.h>

#include <cstdlib>

#include "columns_request.hpp"
#include "process_memory.hpp"

// Takes whose results are released. The memory of the process must not grow.
namespace {

using namespace columns_test;

constexpr int64_t limit = 65536;

// Returns the number of calls for each type. The long run makes more.
int64_t calls() { return std::getenv("GATHER_LONG") ? 100000 : 5000; }

std::vector<Type> types() {
  std::vector<Type> all;
  for (const std::string& format : flat_formats()) all.push_back({format, {}, false});
  const Type text{"u", {}, false}, number{"i", {}, false};
  for (const char* format : {"+l", "+L", "+w:2"}) {
    all.push_back({format, {text}, false});
    all.push_back({format, {number}, false});
  }
  all.push_back({"+s", {text, number}, false});
  all.push_back({"s", {text}, true});
  return all;
}

// Takes rows with a null index from two chunks.
void take_from_handle(const Type& type, int64_t count) {
  Builder builder(seeded(7));
  ArrowArray* const chunks[] = {builder.array(type, random_values(type, 9, seeded(1))),
                                builder.array(type, random_values(type, 9, seeded(2)))};
  gth_column* column = nullptr;
  ASSERT_EQ(gth_column_from_arrow(nullptr, builder.schema(type), 2, chunks, &column, nullptr), GTH_OK);
  const Request request({17, 0, null_id, 3, 9});
  for (int64_t i = 0; i < count; ++i) {
    ArrowSchema schema{};
    ArrowArray rows{};
    ASSERT_EQ(gth_column_take(nullptr, column, &request.take, &schema, &rows, nullptr), GTH_OK);
    rows.release(&rows);
    schema.release(&schema);
  }
  gth_column_release(column);
}

// Creates a column and rejects an index.
void fail(const Type& type, int64_t count) {
  Builder builder(seeded(7));
  ArrowArray* const chunks[] = {builder.array(type, random_values(type, 9, seeded(1)))};
  ArrowSchema* const schema = builder.schema(type);
  const Request request({9});
  ArrowArray rows{};
  for (int64_t i = 0; i < count; ++i) {
    ASSERT_EQ(gth_arrow_take(nullptr, schema, 1, chunks, &request.take, nullptr, &rows, nullptr), GTH_E_INDEX);
  }
}

TEST(ColumnsLeaks, MemoryDoesNotGrow) {
  for (const Type& type : types()) {
    SCOPED_TRACE(type.format);
    for (void (*function)(const Type&, int64_t) : {take_from_handle, fail}) {
      function(type, calls() / 10);
      const int64_t before = hostile::process_memory().resident;
      function(type, calls());
      if (HasFatalFailure()) return;
      EXPECT_LT(hostile::process_memory().resident - before, limit);
    }
  }
}

}  // namespace
