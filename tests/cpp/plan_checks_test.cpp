#include "hostile.hpp"

// A check of a plan reports what a run of the plan reports about its indices.
namespace {

using namespace hostile;

// Extents of 0 at each dim of a table of rank 3, and shapes of indices for each operation.
const Shape tables[] = {{3, 2, 2}, {0, 2, 2}, {3, 0, 2}, {3, 2, 0}, {0, 2, 0}};

std::vector<Shape> indices_of(const Operation& op, const Shape& table) {
  if (op.number % 3 == 1) return {{2}, {0}, {2, 2}};
  if (op.number % 3 == 2) return {{2, 1}, {2, 2}, {2}, {0, 1}};
  return {{2, table[1], table[2]}, {0, table[1], table[2]}};
}

struct Counts {
  int64_t valid = 0, invalid = 0, unread = 0;
};

// Compares the check with the run of one plan, with indices of `value`, and with no indices.
void compare(const Operation& op, const Shape& table_shape, const Shape& indices_shape, int64_t value,
             const gth_options& options, Counts* counts) {
  const Array table(GTH_DTYPE_INT32, table_shape), rows(GTH_DTYPE_INT32, {64});
  const Array indices(GTH_DTYPE_INT64, indices_shape,
                      std::vector<int64_t>(static_cast<size_t>(count_of(indices_shape)), value));
  const gth_tensor_desc t = table.desc(), i = indices.desc();
  Plan plan;
  if (op.plan(&t, &i, nullptr, &options, plan.out(), nullptr)) return;  // the profile has no such operation
  char none;  // the memory of an operand without elements is not NULL, so the run may fail because of indices only
  const void* const table_data = count_of(table_shape) ? table.data() : &none;
  for (const void* data : {static_cast<const void*>(indices.data()), static_cast<const void*>(nullptr)}) {
    Error of_run, of_check;
    const int32_t status = gth_plan_run(nullptr, plan.get(), GTH_OPEN, table_data, data, rows.data(), &of_run);
    ASSERT_TRUE(status == GTH_OK || status == GTH_E_INDEX || (status == GTH_E_NULL && !data)) << of_run.message;
    ASSERT_EQ(calls::check(nullptr, plan.get(), GTH_OPEN, data, &of_check), status) << of_check.message;
    if (status == GTH_OK) {
      ++(data ? counts->valid : counts->unread);
      continue;
    }
    counts->invalid += status == GTH_E_INDEX;
    EXPECT_EQ(of_check.operand, of_run.operand);
    EXPECT_EQ(of_check.position, of_run.position);
    EXPECT_EQ(of_check.component, of_run.component);
    EXPECT_EQ(of_check.value, of_run.value);
    EXPECT_EQ(of_check.limit, of_run.limit);
    EXPECT_EQ(of_check.flags, of_run.flags);
  }
}

TEST(PlanChecks, CheckReportsWhatARunReports) {
  Counts counts;
  for (const Operation& op : calls::every) {
    if (op.number >= GTH_OP_GATHER_GRADIENT) continue;  // gradients have no plan
    for (int32_t profile = 0; profile <= GTH_PROFILE_JAX_CLIP; ++profile) {
      for (const int32_t bounds : {0, GTH_BOUNDS_CLAMP, GTH_BOUNDS_SKIP}) {
        for (const Shape& table : tables) {
          for (const Shape& indices : indices_of(op, table)) {
            for (const int64_t value : {0, 1, 7, -1, -9}) {
              SCOPED_TRACE("operation " + std::to_string(op.number) + ", profile " + std::to_string(profile) +
                           ", bounds " + std::to_string(bounds) + ", value " + std::to_string(value));
              gth_options options = with_bounds(bounds);
              options.profile = profile;
              compare(op, table, indices, value, options, &counts);
            }
          }
        }
      }
    }
  }
  EXPECT_GT(counts.valid, 1000);
  EXPECT_GT(counts.invalid, 1000);
  EXPECT_GT(counts.unread, 1000) << "runs that read no index need no indices";
}

// TensorFlow reads no index if the rows have no elements.
TEST(PlanChecks, RunAndCheckOfEmptyRowsReadNoIndex) {
  const Array table(GTH_DTYPE_INT32, {4, 0}), indices = indices64({3}, {9, 9, 9}), rows(GTH_DTYPE_INT32, {3, 0});
  const gth_tensor_desc t = table.desc(), i = indices.desc();
  Plan plan;
  Error error;
  const gth_options options = with_profile(GTH_PROFILE_TENSORFLOW);
  ASSERT_EQ(calls::gather.plan(&t, &i, nullptr, &options, plan.out(), &error), GTH_OK) << error.message;
  gth_plan_args args = calls::args(GTH_OPEN, nullptr, nullptr, nullptr);
  ASSERT_EQ(gth_plan_extents(plan.get(), &args, &error), GTH_OK) << error.message;
  EXPECT_EQ(args.indices_extent, 0);
  for (const void* data : {static_cast<const void*>(indices.data()), static_cast<const void*>(nullptr)}) {
    args.indices = data;
    EXPECT_EQ(gth_plan_run_args(nullptr, plan.get(), &args, &error), GTH_OK) << error.message;
    EXPECT_EQ(gth_plan_check(nullptr, plan.get(), &args, &error), GTH_OK) << error.message;
    gth_tensor_desc given = i;
    given.data = data;
    const gth_tensor_desc o = rows.desc();
    EXPECT_EQ(calls::gather.run(nullptr, &t, &given, &o, &options, &error), GTH_OK) << error.message;
  }
}

// Without a profile, every operation validates indices although its rows have no elements.
TEST(PlanChecks, RunAndCheckOfEmptyRowsReadIndices) {
  const Array table(GTH_DTYPE_INT32, {4, 0}), rows(GTH_DTYPE_INT32, {3, 0});
  const gth_tensor_desc t = table.desc(), r = rows.desc();
  for (const calls::Operation& op : {calls::gather, calls::gather_nd, calls::scatter, calls::scatter_nd}) {
    const bool is_nd = op.number == GTH_OP_GATHER_ND || op.number == GTH_OP_SCATTER_ND;
    const Array indices = indices64(is_nd ? Shape{3, 1} : Shape{3}, {3, 9, 0});
    const gth_tensor_desc i = indices.desc();
    Plan plan;
    Error error;
    ASSERT_EQ(op.plan(&t, &i, nullptr, nullptr, plan.out(), &error), GTH_OK) << error.message;
    gth_plan_args args = calls::args(GTH_OPEN, nullptr, indices.data(), nullptr);
    const int32_t operand = GTH_OPERAND_INDICES;
    const Facts facts{GTH_E_INDEX, operand, 0, 1, 9, 4};
    expect_facts(gth_plan_run_args(nullptr, plan.get(), &args, &error), error, facts);
    expect_facts(gth_plan_check(nullptr, plan.get(), &args, &error), error, facts);
    expect_facts(op.run(nullptr, &t, &i, &r, nullptr, &error), error, facts);
    ASSERT_EQ(gth_plan_extents(plan.get(), &args, &error), GTH_OK) << error.message;
    EXPECT_EQ(args.indices_extent, 24);
  }
}

}  // namespace
