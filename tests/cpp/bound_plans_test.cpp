#include "samples.hpp"

// A plan operand that is a tensor handle is bound: runs use that tensor.
namespace {

using namespace hostile;

constexpr Operation planned[] = {calls::gather,  calls::gather_nd,  calls::gather_elements,
                                 calls::scatter, calls::scatter_nd, calls::scatter_elements};

// Returns the pointers of a run, with NULL for the roles in `handles`.
gth_plan_args args_of(const Sample& sample, int32_t handles) {
  return calls::args(GTH_OPEN, handles & 1 ? nullptr : sample.table.data(),
                     handles & 2 ? nullptr : sample.indices.data(), handles & 4 ? nullptr : sample.rows.data());
}

// Expects that every form of a run fails with these facts and writes nothing.
void expect_no_run(const Sample& sample, const gth_plan* plan, const gth_plan_args& args, Facts facts) {
  const Bytes before = sample.written().bytes();
  Error error;
  expect_facts(gth_plan_run(nullptr, plan, args.n, args.table, args.indices, const_cast<void*>(args.rows), &error),
               error, facts, "run");
  expect_facts(gth_plan_run_args(nullptr, plan, &args, &error), error, facts, "args");
  if (facts.operand == GTH_OPERAND_INDICES) {
    expect_facts(gth_plan_check(nullptr, plan, &args, &error), error, facts, "check");
  } else {
    EXPECT_EQ(gth_plan_check(nullptr, plan, &args, &error), GTH_OK) << "a check uses indices only: " << error.message;
  }
  facts.item = 0;
  const gth_plan_args* const all[] = {&args};
  expect_facts(gth_plan_run_many(nullptr, 1, &plan, all, &error), error, facts, "many");
  EXPECT_TRUE(sample.written().bytes() == before) << "the output was written";
}

TEST(BoundPlans, RunsUseTheBoundTensors) {
  for (const Operation& op : planned) {
    for (int32_t handles = 1; handles < 8; ++handles) {
      SCOPED_TRACE("operation " + std::to_string(op.number) + ", handles " + std::to_string(handles));
      const Sample sample(op);
      const Bytes before = sample.written().bytes(), expected = sample.expected();
      const Mixed mixed(sample.descs(), handles);
      const gth_request request = mixed.request(op);
      Plan plan;
      Error error;
      ASSERT_EQ(gth_plan_create(&request, plan.out(), &error), GTH_OK) << error.message;
      gth_plan_args args = args_of(sample, handles);
      const auto check = [&](int32_t status, const char* form) {
        EXPECT_EQ(status, GTH_OK) << form << ": " << error.message;
        EXPECT_TRUE(sample.written().bytes() == expected) << form;
        std::copy(before.begin(), before.end(), sample.written().data());
      };
      check(gth_plan_run(nullptr, plan.get(), GTH_OPEN, args.table, args.indices, const_cast<void*>(args.rows), &error),
            "run");
      check(gth_plan_run_args(nullptr, plan.get(), &args, &error), "args");
      const gth_plan* const plans[] = {plan.get()};
      const gth_plan_args* const all[] = {&args};
      check(gth_plan_run_many(nullptr, 1, plans, all, &error), "many");
      EXPECT_EQ(gth_plan_check(nullptr, plan.get(), &args, &error), GTH_OK) << error.message;
      EXPECT_EQ(gth_plan_extents(plan.get(), &args, &error), GTH_OK) << error.message;
      check(gth_plan_run_args(nullptr, plan.get(), &args, &error), "args with extents");
    }
  }
}

// A run reads no pointer of a bound operand, so it needs no bytes from it.
TEST(BoundPlans, ExtentsOfBoundOperandsAreZero) {
  for (const Operation& op : planned) {
    Plan unbound;
    const Sample sample(op);
    const Mixed memory(sample.descs(), 0);
    const gth_request plain = memory.request(op);
    ASSERT_EQ(gth_plan_create(&plain, unbound.out(), nullptr), GTH_OK);
    gth_plan_args all = calls::args(GTH_OPEN, nullptr, nullptr, nullptr);
    ASSERT_EQ(gth_plan_extents(unbound.get(), &all, nullptr), GTH_OK);
    EXPECT_GT(std::min({all.table_extent, all.indices_extent, all.rows_extent}), 0);
    for (int32_t handles = 1; handles < 8; ++handles) {
      SCOPED_TRACE("operation " + std::to_string(op.number) + ", handles " + std::to_string(handles));
      const Mixed mixed(sample.descs(), handles);
      const gth_request request = mixed.request(op);
      Plan plan;
      Error error;
      ASSERT_EQ(gth_plan_create(&request, plan.out(), nullptr), GTH_OK);
      gth_plan_args args = args_of(sample, handles);
      ASSERT_EQ(gth_plan_extents(plan.get(), &args, &error), GTH_OK) << error.message;
      EXPECT_EQ(args.table_extent, handles & 1 ? 0 : all.table_extent);
      EXPECT_EQ(args.indices_extent, handles & 2 ? 0 : all.indices_extent);
      EXPECT_EQ(args.rows_extent, handles & 4 ? 0 : all.rows_extent);
      const gth_plan* const plans[] = {plan.get()};
      const gth_plan_args* const each[] = {&args};
      EXPECT_EQ(gth_plan_run_args(nullptr, plan.get(), &args, &error), GTH_OK) << error.message;
      EXPECT_EQ(gth_plan_check(nullptr, plan.get(), &args, &error), GTH_OK) << error.message;
      EXPECT_EQ(gth_plan_run_many(nullptr, 1, plans, each, &error), GTH_OK) << error.message;
      if (handles == 7) continue;
      int64_t& needed = !(handles & 1) ? args.table_extent : !(handles & 2) ? args.indices_extent : args.rows_extent;
      --needed;
      EXPECT_EQ(gth_plan_run_args(nullptr, plan.get(), &args, &error), GTH_E_SIZE);
      EXPECT_EQ(gth_plan_run_many(nullptr, 1, plans, each, &error), GTH_E_SIZE);
    }
  }
}

TEST(BoundPlans, PointerForABoundTensorIsRejected) {
  for (const Operation& op : planned) {
    for (int32_t role = 0; role < 3; ++role) {
      SCOPED_TRACE("operation " + std::to_string(op.number) + ", role " + std::to_string(role));
      const Sample sample(op);
      const Mixed mixed(sample.descs(), 1 << role);
      const gth_request request = mixed.request(op);
      Plan plan;
      ASSERT_EQ(gth_plan_create(&request, plan.out(), nullptr), GTH_OK);
      expect_no_run(sample, plan.get(), args_of(sample, 0), {GTH_E_HANDLE, operands_of(op)[static_cast<size_t>(role)]});
    }
  }
}

TEST(BoundPlans, E4_ReleasedTensorsAreRejected) {
  for (const Operation& op : planned) {
    for (int32_t role = 0; role < 3; ++role) {
      SCOPED_TRACE("operation " + std::to_string(op.number) + ", role " + std::to_string(role));
      const Sample sample(op);
      Plan plan;
      {
        const Mixed mixed(sample.descs(), 1 << role);
        const gth_request request = mixed.request(op);
        ASSERT_EQ(gth_plan_create(&request, plan.out(), nullptr), GTH_OK);
      }
      expect_no_run(sample, plan.get(), args_of(sample, 1 << role),
                    {GTH_E_HANDLE, operands_of(op)[static_cast<size_t>(role)]});
    }
  }
}

// One operand is bound, and one extent of another is open.
TEST(BoundPlans, TableWithAnOpenExtentRuns) {
  const Sample sample(calls::gather);
  const Mixed mixed(sample.descs(), 1);
  const Shape open{GTH_OPEN};
  const gth_tensor_desc indices = describe(GTH_DTYPE_INT64, open, nullptr);
  Plan plan;
  Error error;
  ASSERT_EQ(calls::gather.plan(mixed.table(), &indices, nullptr, nullptr, plan.out(), &error), GTH_OK) << error.message;
  ASSERT_EQ(gth_plan_run(nullptr, plan.get(), 3, nullptr, sample.indices.data(), sample.rows.data(), &error), GTH_OK)
      << error.message;
  EXPECT_TRUE(sample.rows.bytes() == sample.expected());
}

TEST(BoundPlans, ReadOnlyTensorIsRejectedAsOutput) {
  for (const Operation& op : planned) {
    const Sample sample(op);
    std::array<gth_tensor_desc, 3> descs = sample.descs();
    const size_t written = is_gather(op) ? 2 : 0;
    descs[written].flags = GTH_TENSOR_READONLY;
    const Mixed mixed(descs, 1 << written);
    const gth_request request = mixed.request(op);
    gth_plan* plan = nullptr;
    Error error;
    expect_facts(gth_plan_create(&request, &plan, &error), error, {GTH_E_READONLY, operands_of(op)[written]});
  }
}

}  // namespace
