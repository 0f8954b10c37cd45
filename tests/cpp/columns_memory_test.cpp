#include <gtest/gtest.h>

#include "../../src/core/os/testing.hpp"
#include "columns_request.hpp"

// Takes in which an allocation fails.
namespace {

using namespace columns_test;

// A call that creates a column of two chunks and takes 100 of its rows.
class Call {
 public:
  explicit Call(const Type& type) : builder_(seeded(4)), type_(type), schema_(builder_.schema(type)) {
    for (int32_t i = 0; i < 2; ++i) {
      const Values more = random_values(type, 40, seeded(static_cast<uint64_t>(i)));
      chunks_.push_back(builder_.array(type, more));
      rows_.insert(rows_.end(), more.begin(), more.end());
    }
    for (int64_t i = 0; i < 100; ++i) ids_.push_back(i * 7 % 80);
  }

  int32_t run(bool has_handle, gth_error* error) {
    const Request request(ids_);
    const gth_take* const take = &request.take;
    if (!has_handle) return gth_arrow_take(nullptr, schema_, 2, chunks_.data(), take, &out_schema_, &out_, error);
    if (!column_) {
      if (int32_t status = gth_column_from_arrow(nullptr, schema_, 2, chunks_.data(), &column_, error)) return status;
    }
    return gth_column_take(nullptr, column_, take, &out_schema_, &out_, error);
  }

  void expect_untouched() const {
    EXPECT_EQ(out_.release, nullptr);
    EXPECT_EQ(out_schema_.release, nullptr);
    EXPECT_EQ(builder_.released, 0);
  }

  void finish() {
    Values expected;
    for (int64_t id : ids_) expected.push_back(rows_[static_cast<size_t>(id)]);
    EXPECT_TRUE(read_rows(type_, out_) == expected);
    out_.release(&out_);
    out_schema_.release(&out_schema_);
    gth_column_release(column_);
    EXPECT_EQ(builder_.released, 2);
  }

 private:
  Builder builder_;
  Type type_;
  ArrowSchema* schema_;
  std::vector<ArrowArray*> chunks_;
  Values rows_;
  Ids ids_;
  gth_column* column_ = nullptr;
  ArrowSchema out_schema_{};
  ArrowArray out_{};
};

TEST(ColumnsMemory, K11_FailedAllocationLeavesTheArraysToTheProducer) {
  const Type text{"u", {}, false}, view{"vu", {}, false}, number{"i", {}, false}, codes{"s", {text}, true};
  for (const Type& type : {number, text, view, codes, Type{"+s", {text, number}, false}, Type{"+l", {text}, false},
                           Type{"+L", {number}, false}, Type{"+w:2", {codes}, false}, Type{"+w:3", {number}, false}}) {
    for (const bool has_handle : {false, true}) {
      SCOPED_TRACE(type.format);
      Call call(type);
      int32_t status = GTH_E_NOMEM;
      int64_t n = 0;
      while (status) {
        gth_error error = GTH_ERROR_INIT;
        gth_testing_fail_allocation(++n, 0);
        status = call.run(has_handle, &error);
        gth_testing_fail_allocation(0, 0);
        if (!status) break;
        ASSERT_EQ(status, GTH_E_NOMEM) << error.message;
        call.expect_untouched();
      }
      EXPECT_GT(n, 4);
      call.finish();
    }
  }
}

}  // namespace
