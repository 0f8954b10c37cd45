#include <algorithm>
#include <vector>

#include "handles.hpp"
#include "process_memory.hpp"
#include "sanitizers.hpp"

// Handles that were released, or that never existed, are rejected.
namespace {

using namespace handles;

TEST_F(Handles, E2_ReleaseOfNullSucceeds) {
  EXPECT_EQ(gth_tensor_release(nullptr), GTH_OK);
  EXPECT_EQ(gth_context_release(nullptr), GTH_OK);
  EXPECT_EQ(gth_plan_release(nullptr), GTH_OK);
}

TEST_F(Handles, E3_SecondReleaseIsRejected) {
  gth_tensor* tensor = nullptr;
  gth_context* context = nullptr;
  gth_plan* plan = nullptr;
  ASSERT_EQ(gth_tensor_borrow(&p_, &tensor, nullptr), GTH_OK);
  ASSERT_EQ(gth_context_create(nullptr, &context, nullptr), GTH_OK);
  ASSERT_EQ(calls::gather.plan(&p_, &i_, nullptr, nullptr, &plan, nullptr), GTH_OK);
  EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
  EXPECT_EQ(gth_tensor_release(tensor), GTH_E_HANDLE);
  EXPECT_EQ(gth_context_release(context), GTH_OK);
  EXPECT_EQ(gth_context_release(context), GTH_E_HANDLE);
  EXPECT_EQ(gth_plan_release(plan), GTH_OK);
  EXPECT_EQ(gth_plan_release(plan), GTH_E_HANDLE);
}

TEST_F(Handles, E4_StaleHandleOfAReusedSlotIsRejected) {
  gth_tensor* stale = nullptr;
  ASSERT_EQ(gth_tensor_borrow(&p_, &stale, nullptr), GTH_OK);
  ASSERT_EQ(gth_tensor_release(stale), GTH_OK);
  for (int32_t i = 0; i < 10000;
       ++i) {  // more than the number of slots, so the slot of the stale handle is reused many times
    const Tensor other(p_);
    ASSERT_NE(other.get(), stale);
  }
  std::vector<gth_tensor*> others(3000);
  for (gth_tensor*& each : others) ASSERT_EQ(gth_tensor_borrow(&p_, &each, nullptr), GTH_OK);
  expect(calls::gather.run(nullptr, stale, indices.get(), out.get(), nullptr, &error), bad_handle(GTH_OPERAND_PARAMS));
  EXPECT_EQ(gth_tensor_release(stale), GTH_E_HANDLE);
  for (gth_tensor* each : others) EXPECT_EQ(gth_tensor_release(each), GTH_OK);
}

// Returns `count` new tensors. They fill more segments of the table than keep their memory when they are idle.
std::vector<gth_tensor*> borrow_many(const gth_tensor_desc& desc, size_t count = 20 * 1024) {
  std::vector<gth_tensor*> tensors(count);
  for (gth_tensor*& each : tensors) EXPECT_EQ(gth_tensor_borrow(&desc, &each, nullptr), GTH_OK);
  return tensors;
}

void release_all(const std::vector<gth_tensor*>& tensors) {
  for (gth_tensor* each : tensors) EXPECT_EQ(gth_tensor_release(each), GTH_OK);
}

// Returns the number of these handles that the library accepts.
int64_t count_live(const std::vector<gth_tensor*>& tensors) {
  return std::count_if(tensors.begin(), tensors.end(), [](const gth_tensor* each) {
    gth_tensor_desc found = GTH_TENSOR_DESC_INIT;
    return gth_tensor_describe(each, &found, nullptr) == GTH_OK;
  });
}

// The table returns the memory of idle segments to the system. Their slots keep their generations.
TEST_F(Handles, E4_StaleHandlesOfDiscardedSegmentsAreRejected) {
  std::vector<gth_tensor*> stale;
  for (int32_t round = 0; round < 3; ++round) {
    const std::vector<gth_tensor*> live = borrow_many(p_);
    EXPECT_EQ(count_live(stale), 0) << "round " << round;
    EXPECT_EQ(count_live(live), static_cast<int64_t>(live.size()));
    release_all(live);
    EXPECT_EQ(count_live(live), 0);
    stale.insert(stale.end(), live.begin(), live.end());
  }
}

// Contexts and plans use the slots of released tensors, and the reverse.
TEST_F(Handles, E4_StaleHandlesOfOtherKindsAreRejected) {
  std::vector<gth_context*> contexts(3000);
  std::vector<gth_plan*> plans(3000);
  for (gth_context*& each : contexts) ASSERT_EQ(gth_context_create(nullptr, &each, nullptr), GTH_OK);
  for (gth_plan*& each : plans) ASSERT_EQ(g.plan(&p_, &i_, nullptr, nullptr, &each, nullptr), GTH_OK);
  for (gth_context* each : contexts) ASSERT_EQ(gth_context_release(each), GTH_OK);
  for (gth_plan* each : plans) ASSERT_EQ(gth_plan_release(each), GTH_OK);
  release_all(borrow_many(p_));
  std::vector<gth_context*> more(3000);
  for (gth_context*& each : more) ASSERT_EQ(gth_context_create(nullptr, &each, nullptr), GTH_OK);
  for (gth_context* each : contexts) EXPECT_EQ(gth_context_sync(each, nullptr), GTH_E_HANDLE);
  for (gth_plan* each : plans) EXPECT_EQ(gth_plan_release(each), GTH_E_HANDLE);
  for (gth_context* each : more) EXPECT_EQ(gth_context_release(each), GTH_OK);
}

TEST_F(Handles, E5_InvalidTensorHandlesAreRejected) {
  gth_context* context = nullptr;
  Plan plan;
  ASSERT_EQ(gth_context_create(nullptr, &context, nullptr), GTH_OK);
  ASSERT_EQ(calls::gather.plan(&p_, &i_, nullptr, nullptr, plan.out(), nullptr), GTH_OK);
  std::vector<uintptr_t> values{reinterpret_cast<uintptr_t>(&values),
                                reinterpret_cast<uintptr_t>(context),
                                reinterpret_cast<uintptr_t>(plan.get()),
                                1,
                                UINTPTR_MAX,
                                uintptr_t{1} << 63};
  const uintptr_t live = reinterpret_cast<uintptr_t>(params.get());
  for (int bit = 0; bit < 64; ++bit) {
    const uintptr_t near = live ^ (uintptr_t{1} << bit);
    bool other = false;  // two handles may differ in one bit only
    for (const Tensor* each : {&indices, &tuples, &out}) other |= near == reinterpret_cast<uintptr_t>(each->get());
    if (!other) values.push_back(near);
  }
  for (uintptr_t value : values) {
    gth_tensor* bad = token<gth_tensor>(value);
    gth_tensor* made = nullptr;
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    expect(calls::gather.make(nullptr, bad, indices.get(), nullptr, nullptr, &made, &error),
           bad_handle(GTH_OPERAND_PARAMS));
    expect(calls::gather.make(nullptr, params.get(), bad, nullptr, nullptr, &made, &error),
           bad_handle(GTH_OPERAND_INDICES));
    expect(calls::gather.run(nullptr, params.get(), indices.get(), bad, nullptr, &error), bad_handle(GTH_OPERAND_OUT));
    expect(calls::copy(nullptr, bad, out.get(), &error), bad_handle(GTH_OPERAND_PARAMS));
    expect(calls::copy(nullptr, out.get(), bad, &error), bad_handle(GTH_OPERAND_OUT));
    expect(gth_tensor_describe(bad, &desc, &error), bad_handle(GTH_OPERAND_TENSOR));
    EXPECT_EQ(gth_tensor_release(bad), GTH_E_HANDLE);
  }
  EXPECT_EQ(gth_context_release(context), GTH_OK);
}

TEST_F(Handles, E5_InvalidContextsAndPlansAreRejected) {
  int local = 0;
  const uintptr_t values[] = {reinterpret_cast<uintptr_t>(&local), reinterpret_cast<uintptr_t>(params.get()), 1,
                              UINTPTR_MAX};
  Plan live;
  ASSERT_EQ(calls::gather.plan(&p_, &i_, nullptr, nullptr, live.out(), nullptr), GTH_OK);
  for (uintptr_t value : values) {
    gth_context* bad = token<gth_context>(value);
    const Facts facts = bad_handle(GTH_OPERAND_CONTEXT);
    gth_tensor* made = nullptr;
    gth_error_record record;
    expect(calls::gather.make(bad, params.get(), indices.get(), nullptr, nullptr, &made, &error), facts);
    expect(calls::gather.run(bad, params.get(), indices.get(), out.get(), nullptr, &error), facts);
    expect(gth_gather(bad, &p_, &i_, &o_, nullptr, &error), facts);
    expect(gth_tensor_alloc(bad, f32, 0, nullptr, &made, &error), facts);
    expect(calls::copy(bad, params.get(), out.get(), &error), facts);
    expect(gth_context_sync(bad, &error), facts);
    expect(gth_context_wait(bad, nullptr, &error), facts);
    expect(gth_context_signal(bad, nullptr, &error), facts);
    expect(gth_context_take_error(bad, &error), facts);
    expect(gth_context_enqueue_take_error(bad, &record, &error), facts);
    expect(gth_plan_run(bad, live.get(), GTH_OPEN, p_.data, i_.data, out_.data(), &error), facts);
    expect(calls::check(bad, live.get(), GTH_OPEN, i_.data, &error), facts);
    EXPECT_EQ(gth_context_release(bad), GTH_E_HANDLE);
    gth_plan* plan = token<gth_plan>(value);
    int32_t ndim = 0;
    expect(gth_plan_run(nullptr, plan, GTH_OPEN, p_.data, i_.data, out_.data(), &error), bad_handle(GTH_OPERAND_PLAN));
    expect(calls::plan_infer(plan, GTH_OPEN, 0, &ndim, nullptr, &error), bad_handle(GTH_OPERAND_PLAN));
    expect(calls::check(nullptr, plan, GTH_OPEN, i_.data, &error), bad_handle(GTH_OPERAND_PLAN));
    gth_plan_args args = GTH_PLAN_ARGS_INIT;
    expect(gth_plan_extents(plan, &args, &error), bad_handle(GTH_OPERAND_PLAN));
    EXPECT_EQ(gth_plan_release(plan), GTH_E_HANDLE);
  }
}

// Pointers are checked first, then structs, then handles: context, target, indices, updates.
TEST_F(Handles, E5_InvalidHandlesInScattersAreRejected) {
  gth_tensor* bad = token<gth_tensor>(1);
  gth_context* garbage = token<gth_context>(1);
  gth_options old = GTH_OPTIONS_INIT;
  old.size = 4;
  const Facts version{GTH_E_VERSION, GTH_OPERAND_OPTIONS, 0, -1, 4, sizeof(gth_options)};
  struct Row {
    gth_context* context;
    gth_tensor *target, *indices, *updates;
    const gth_options* options;
    Facts facts;
  };
  const Row rows[] = {
      {garbage, bad, bad, nullptr, &old, null_of(GTH_OPERAND_UPDATES)},
      {garbage, bad, bad, bad, &old, version},
      {garbage, bad, bad, bad, nullptr, bad_handle(GTH_OPERAND_CONTEXT)},
      {nullptr, bad, bad, bad, nullptr, bad_handle(GTH_OPERAND_TARGET)},
      {nullptr, out.get(), bad, bad, nullptr, bad_handle(GTH_OPERAND_INDICES)},
      {nullptr, out.get(), indices.get(), bad, nullptr, bad_handle(GTH_OPERAND_UPDATES)},
  };
  for (const Operation& op : scatters) {
    for (const Row& row : rows) {
      expect(op.run(row.context, row.target, row.indices, row.updates, row.options, &error), row.facts, "into");
      gth_tensor* made = token<gth_tensor>(1);
      expect(op.make(row.context, row.target, row.indices, row.updates, row.options, &made, &error), row.facts,
             "functional");
      EXPECT_EQ(made, nullptr);
    }
    expect(op.named(garbage, &o_, &i_, &p_, &old, &error), version, "desc");
    expect(op.named(garbage, &o_, &i_, &p_, nullptr, &error), bad_handle(GTH_OPERAND_CONTEXT), "desc");
  }
}

#if !GATHER_SANITIZED  // sanitizers use additional memory

TEST_F(Handles, ReleasedHandlesFreeTheirMemory) {
  const Array array(GTH_DTYPE_UINT8, {4});
  const gth_tensor_desc desc = array.desc();
  std::vector<gth_tensor*> handles(200000);
  const auto round = [&] {
    for (gth_tensor*& each : handles) ASSERT_EQ(gth_tensor_borrow(&desc, &each, nullptr), GTH_OK);
    const int64_t full = process_memory().resident;
    for (gth_tensor* each : handles) ASSERT_EQ(gth_tensor_release(each), GTH_OK);
    EXPECT_GT(full - process_memory().resident, 30 << 20);  // of about 45 MB
    for (gth_tensor* each : handles) ASSERT_EQ(gth_tensor_release(each), GTH_E_HANDLE);
  };
  round();
  round();
}

#endif

}  // namespace
