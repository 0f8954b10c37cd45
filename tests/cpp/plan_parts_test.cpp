#include <numeric>

#include "hostile.hpp"

// Tests the documentation of the header about parts of a run.
namespace {

using namespace hostile;

// A gather along the middle axis of a table [batches, extent, width], with or without a batch dim.
struct Case {
  const char* name;
  int64_t batches, extent, width, ids;
  bool is_batched;  // Each batch has indices of its own.
};

// The ids exceed the blocks of 512 tuples, and rows the sizes from which threads share a call. The columns of the last
// table are packed in a whole run.
const Case cases[] = {
    {"rows", 1, 1000, 8, 5000, false},      {"one number a row", 1, 1000, 1, 4097, false},
    {"long rows", 1, 50, 1024, 700, false}, {"repeated", 7, 40, 3, 1100, false},
    {"batches", 5, 40, 3, 513, true},       {"short lines", 600, 9, 2, 5, true},
    {"columns", 300, 64, 1, 511, false},
};

std::vector<float> numbers(int64_t count) {
  std::vector<float> result(static_cast<size_t>(count));
  std::iota(result.begin(), result.end(), 1.0F);
  return result;
}

struct PartRuns {
  explicit PartRuns(const Case& given)
      : c(given),
        indices(static_cast<size_t>(c.ids * (c.is_batched ? c.batches : 1))),
        table(numbers(c.batches * c.extent * c.width)),
        rows(static_cast<size_t>(c.batches * c.ids * c.width), -1) {
    for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int64_t>(i * i + 3 * i) % c.extent;
    const Shape shape{c.batches, c.extent, c.width};
    const Shape of_indices = c.is_batched ? Shape{c.batches, c.ids} : Shape{c.ids};
    const gth_tensor_desc t = describe(GTH_DTYPE_FLOAT32, shape, nullptr),
                          i = describe(GTH_DTYPE_INT64, of_indices, nullptr);
    gth_options options = with_axis(1);
    options.batch_dims = c.is_batched ? 1 : 0;
    EXPECT_EQ(calls::gather.plan(&t, &i, nullptr, &options, plan.out(), &error), GTH_OK) << error.message;
    EXPECT_EQ(gth_plan_parts(plan.get(), GTH_OPEN, &parts, &error), GTH_OK) << error.message;
  }

  int32_t run(int64_t first, int64_t last) {
    return gth_plan_run_parts(nullptr, plan.get(), GTH_OPEN, first, last, table.data(), indices.data(), rows.data(),
                              &error);
  }

  std::vector<float> expected() const {
    std::vector<float> result;
    for (int64_t b = 0; b < c.batches; ++b) {
      for (int64_t k = 0; k < c.ids; ++k) {
        const int64_t row = b * c.extent + indices[static_cast<size_t>(c.is_batched ? b * c.ids + k : k)];
        for (int64_t w = 0; w < c.width; ++w) result.push_back(static_cast<float>(row * c.width + w + 1));
      }
    }
    return result;
  }

  const Case c;
  std::vector<int64_t> indices;
  std::vector<float> table, rows;
  Plan plan;
  int64_t parts = 0;
  Error error;
};

TEST(PlanParts, PartsOfAnySizeInAnyOrderWriteTheOutput) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    for (const int64_t size : {1, 7, 511, 513, 4096}) {
      PartRuns run(c);
      ASSERT_GT(run.parts, 1);
      for (int64_t first = (run.parts - 1) / size * size; first >= 0; first -= size) {
        ASSERT_EQ(run.run(first, std::min(run.parts, first + size)), GTH_OK) << run.error.message;
      }
      ASSERT_TRUE(run.rows == run.expected()) << "parts of " << size;
    }
  }
}

TEST(PlanParts, PartWritesNoOtherPart) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PartRuns run(c);
    const int64_t middle = run.parts / 2;
    ASSERT_EQ(run.run(middle, middle + 1), GTH_OK) << run.error.message;
    const std::vector<float> expected = run.expected();
    int64_t written = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      if (run.rows[i] == -1) continue;
      ++written;
      ASSERT_EQ(run.rows[i], expected[i]);
    }
    EXPECT_EQ(written * run.parts, static_cast<int64_t>(expected.size()));
  }
}

TEST(PlanParts, InvalidIndexIsThatOfTheWholeRun) {
  PartRuns run(cases[0]);
  run.indices[4000] = -7;
  run.indices[4500] = 5000;
  EXPECT_EQ(run.run(0, 4000), GTH_OK) << run.error.message;
  const Facts facts{GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 4000, -7, 1000};
  expect_facts(run.run(4000, 4200), run.error, facts);
  expect_facts(run.run(4200, 5000), run.error, facts);
  std::fill(run.rows.begin(), run.rows.end(), -1.0F);
  expect_facts(run.run(0, 5000), run.error, facts);
  EXPECT_EQ(run.rows, std::vector<float>(run.rows.size(), -1)) << "all parts are a whole run";
}

TEST(PlanParts, InvalidRangeIsRejected) {
  PartRuns run(cases[0]);
  const auto fault = [](int64_t value, int64_t limit) {
    return Facts{GTH_E_SIZE, GTH_OPERAND_PLAN, -1, -1, value, limit};
  };
  expect_facts(run.run(0, 5001), run.error, fault(5001, 5000));
  expect_facts(run.run(0, INT64_MAX), run.error, fault(INT64_MAX, 5000));
  expect_facts(run.run(0, -1), run.error, fault(-1, 5000));
  expect_facts(run.run(-1, 4), run.error, fault(-1, 4));
  expect_facts(run.run(INT64_MIN, 4), run.error, fault(INT64_MIN, 4));
  expect_facts(run.run(5, 4), run.error, fault(5, 4));
  EXPECT_EQ(run.rows, std::vector<float>(run.rows.size(), -1));
  expect_facts(gth_plan_parts(run.plan.get(), GTH_OPEN, nullptr, &run.error), run.error,
               {GTH_E_NULL, GTH_OPERAND_PLAN});
  expect_facts(gth_plan_parts(run.plan.get(), 3, &run.parts, &run.error), run.error,
               {GTH_E_SHAPE, GTH_OPERAND_PLAN, -1, -1, 3, GTH_OPEN});
  expect_facts(gth_plan_parts(nullptr, GTH_OPEN, &run.parts, &run.error), run.error, {GTH_E_NULL, GTH_OPERAND_PLAN});
}

TEST(PlanParts, EmptyRangeValidatesMemoryOnly) {
  PartRuns run(cases[0]);
  run.indices[0] = -7;
  EXPECT_EQ(run.run(0, 0), GTH_OK) << run.error.message;
  EXPECT_EQ(run.run(5000, 5000), GTH_OK) << run.error.message;
  const auto with = [&](const void* table, const void* indices, void* rows) {
    return gth_plan_run_parts(nullptr, run.plan.get(), GTH_OPEN, 0, 0, table, indices, rows, &run.error);
  };
  expect_facts(with(run.table.data(), run.indices.data(), run.table.data() + 7999), run.error,
               {GTH_E_ALIAS, GTH_OPERAND_OUT, -1, -1, GTH_OPERAND_PARAMS, 0});
  expect_facts(with(run.table.data(), run.rows.data(), run.rows.data()), run.error,
               {GTH_E_ALIAS, GTH_OPERAND_OUT, -1, -1, GTH_OPERAND_INDICES, 0});
  expect_facts(with(run.table.data(), nullptr, run.rows.data()), run.error, {GTH_E_NULL, GTH_OPERAND_INDICES});
  EXPECT_EQ(run.rows, std::vector<float>(run.rows.size(), -1));
}

TEST(PlanParts, PartsDependOnTheOpenExtent) {
  const Shape shape{10, 2}, ids{GTH_OPEN};
  const gth_tensor_desc t = describe(GTH_DTYPE_FLOAT32, shape, nullptr), i = describe(GTH_DTYPE_INT64, ids, nullptr);
  Plan plan;
  Error error;
  ASSERT_EQ(calls::gather.plan(&t, &i, nullptr, nullptr, plan.out(), &error), GTH_OK) << error.message;
  int64_t parts = 0;
  for (const int64_t n : {7, 1, 4097}) {
    ASSERT_EQ(gth_plan_parts(plan.get(), n, &parts, &error), GTH_OK) << error.message;
    EXPECT_EQ(parts, n);
  }
  ASSERT_EQ(gth_plan_parts(plan.get(), 0, &parts, &error), GTH_OK) << error.message;
  EXPECT_EQ(parts, 1);
  EXPECT_EQ(gth_plan_run_parts(nullptr, plan.get(), 0, 0, 1, nullptr, nullptr, nullptr, &error), GTH_OK);
  expect_facts(gth_plan_parts(plan.get(), GTH_OPEN, &parts, &error), error,
               {GTH_E_SHAPE, GTH_OPERAND_PLAN, -1, -1, GTH_OPEN, 0});
}

// Duplicates of an index, means and updates that are one row do not allow parts.
TEST(PlanParts, ScattersAndBagsHaveOnePart) {
  for (const Operation& op : calls::every) {
    if (op.number >= GTH_OP_GATHER_GRADIENT && op.number != GTH_OP_GATHER_BAGS) continue;
    SCOPED_TRACE("operation " + std::to_string(op.number));
    const bool is_gather = op.number <= GTH_OP_GATHER_ELEMENTS;
    const Array table(GTH_DTYPE_FLOAT32, {4}), rows(GTH_DTYPE_FLOAT32, {3});
    const bool is_nd = op.number == GTH_OP_GATHER_ND || op.number == GTH_OP_SCATTER_ND;
    const bool has_bags = op.number == GTH_OP_GATHER_BAGS;
    const Shape ids = has_bags || is_nd ? Shape{3, 1} : Shape{3};
    const Array indices(GTH_DTYPE_INT64, ids, std::vector<int64_t>{2, 0, 2});
    const gth_tensor_desc t = table.desc(), i = indices.desc();
    Plan plan;
    Error error;
    ASSERT_EQ(op.plan(&t, &i, nullptr, nullptr, plan.out(), &error), GTH_OK) << error.message;
    int64_t parts = 0;
    ASSERT_EQ(gth_plan_parts(plan.get(), GTH_OPEN, &parts, &error), GTH_OK) << error.message;
    EXPECT_EQ(parts, is_gather ? 3 : 1);
    const auto run = [&](int64_t last) {
      return gth_plan_run_parts(nullptr, plan.get(), GTH_OPEN, 0, last, table.data(), indices.data(), rows.data(),
                                &error);
    };
    EXPECT_EQ(run(parts), GTH_OK) << error.message;
    expect_facts(run(parts + 1), error, {GTH_E_SIZE, GTH_OPERAND_PLAN, -1, -1, parts + 1, parts});
  }
}

}  // namespace
