#include <cstddef>
#include <limits>
#include <new>
#include <stdexcept>
#include <thread>

#include "hostile.hpp"

// Hostile handles, structs and hooks.
namespace {

using namespace hostile;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32;

template <class T>
constexpr uint32_t sizeof32() {
  return static_cast<uint32_t>(sizeof(T));
}

Facts null_of(int32_t operand) { return {GTH_E_NULL, operand}; }
Facts bad_handle(int32_t operand) { return {GTH_E_HANDLE, operand}; }

template <class Handle>
Handle* token(uintptr_t value) {
  return reinterpret_cast<Handle*>(value);
}

constexpr Operation scatters[] = {calls::scatter, calls::scatter_nd, calls::scatter_elements};

// A valid call whose arguments are made invalid one by one.
class Handles : public ::testing::Test {
 protected:
  const Array params_{f32, {4, 2}}, indices_ = indices64({3}, {2, 0, 3}), tuples_ = indices64({3, 1}, {2, 0, 3});
  const Array out_{f32, {3, 2}};
  const gth_tensor_desc p_ = params_.desc(), i_ = indices_.desc(), j_ = tuples_.desc(), o_ = out_.desc();
  const Tensor params{p_}, indices{i_}, tuples{j_}, out{o_};
  const Bytes before_ = out_.bytes();
  Error error;

  void TearDown() override { EXPECT_TRUE(out_.bytes() == before_) << "the output was written"; }

  // Checks the error of the last call.
  void expect(int32_t status, const Facts& facts, const char* what = "") { expect_facts(status, error, facts, what); }
};

TEST_F(Handles, E1_NullInDescriptionsIsRejected) {
  for (const Operation& op : {g, nd}) {
    expect(op.named(nullptr, nullptr, &i_, &o_, nullptr, &error), null_of(GTH_OPERAND_PARAMS));
    expect(op.named(nullptr, &p_, nullptr, &o_, nullptr, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.named(nullptr, &p_, &i_, nullptr, nullptr, &error), null_of(GTH_OPERAND_OUT));
    int32_t ndim = 0;
    int64_t shape[2];
    expect(op.infer(nullptr, &i_, nullptr, 2, &ndim, shape, &error), null_of(GTH_OPERAND_PARAMS));
    expect(op.infer(&p_, nullptr, nullptr, 2, &ndim, shape, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.infer(&p_, &i_, nullptr, 2, nullptr, shape, &error), null_of(GTH_OPERAND_NONE));
    gth_plan* plan = token<gth_plan>(1);
    expect(op.plan(nullptr, &i_, nullptr, nullptr, &plan, &error), null_of(GTH_OPERAND_PARAMS));
    EXPECT_EQ(plan, nullptr);
    expect(op.plan(&p_, nullptr, nullptr, nullptr, &plan, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.plan(&p_, &i_, nullptr, nullptr, nullptr, &error), null_of(GTH_OPERAND_NONE));
  }
}

TEST_F(Handles, E1_NullShapesAreRejected) {
  gth_tensor_desc bad = p_;
  bad.shape = nullptr;
  expect(gth_gather(nullptr, &bad, &i_, &o_, nullptr, &error), null_of(GTH_OPERAND_PARAMS));
  bad.dtype = GTH_DTYPE_INT64;
  expect(gth_gather(nullptr, &p_, &bad, &o_, nullptr, &error), null_of(GTH_OPERAND_INDICES));
  bad.dtype = f32;
  expect(gth_gather(nullptr, &p_, &i_, &bad, nullptr, &error), null_of(GTH_OPERAND_OUT));
  gth_tensor* made = token<gth_tensor>(1);
  expect(gth_tensor_borrow(&bad, &made, &error), null_of(GTH_OPERAND_TENSOR));
  EXPECT_EQ(made, nullptr);
  expect(gth_tensor_alloc(nullptr, f32, 2, nullptr, &made, &error), null_of(GTH_OPERAND_TENSOR));
}

TEST_F(Handles, E1_NullHandlesAreRejected) {
  gth_tensor* made = token<gth_tensor>(1);
  for (const Operation& op : {g, nd}) {
    expect(op.make(nullptr, nullptr, indices.get(), nullptr, nullptr, &made, &error), null_of(GTH_OPERAND_PARAMS));
    EXPECT_EQ(made, nullptr);
    expect(op.make(nullptr, params.get(), nullptr, nullptr, nullptr, &made, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.make(nullptr, params.get(), indices.get(), nullptr, nullptr, nullptr, &error), null_of(GTH_OPERAND_NONE));
    expect(op.run(nullptr, nullptr, indices.get(), out.get(), nullptr, &error), null_of(GTH_OPERAND_PARAMS));
    expect(op.run(nullptr, params.get(), nullptr, out.get(), nullptr, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.run(nullptr, params.get(), indices.get(), nullptr, nullptr, &error), null_of(GTH_OPERAND_OUT));
  }
  expect(calls::copy(nullptr, nullptr, out.get(), &error), null_of(GTH_OPERAND_PARAMS));
  expect(calls::copy(nullptr, out.get(), nullptr, &error), null_of(GTH_OPERAND_OUT));
  expect(gth_plan_run(nullptr, nullptr, GTH_OPEN, p_.data, i_.data, out_.data(), &error), null_of(GTH_OPERAND_PLAN));
  int32_t ndim = 0;
  expect(calls::plan_infer(nullptr, GTH_OPEN, 0, &ndim, nullptr, &error), null_of(GTH_OPERAND_PLAN));
  expect(calls::check(nullptr, nullptr, GTH_OPEN, i_.data, &error), null_of(GTH_OPERAND_PLAN));
  gth_plan_args args = GTH_PLAN_ARGS_INIT;
  expect(gth_plan_extents(nullptr, &args, &error), null_of(GTH_OPERAND_PLAN));
}

TEST_F(Handles, E1_NullInScattersIsRejected) {
  int32_t ndim = 0;
  int64_t shape[2];
  for (const Operation& op : scatters) {
    expect(op.named(nullptr, nullptr, &i_, &p_, nullptr, &error), null_of(GTH_OPERAND_TARGET));
    expect(op.named(nullptr, &o_, nullptr, &p_, nullptr, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.named(nullptr, &o_, &i_, nullptr, nullptr, &error), null_of(GTH_OPERAND_UPDATES));
    expect(op.run(nullptr, nullptr, indices.get(), params.get(), nullptr, &error), null_of(GTH_OPERAND_TARGET));
    expect(op.run(nullptr, out.get(), nullptr, params.get(), nullptr, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.run(nullptr, out.get(), indices.get(), nullptr, nullptr, &error), null_of(GTH_OPERAND_UPDATES));
    gth_tensor* made = token<gth_tensor>(1);
    const auto expect_none = [&](gth_tensor* target, gth_tensor* index, gth_tensor* updates, int32_t operand) {
      expect(op.make(nullptr, target, index, updates, nullptr, &made, &error), null_of(operand));
      EXPECT_EQ(made, nullptr);
    };
    expect_none(nullptr, indices.get(), params.get(), GTH_OPERAND_TARGET);
    expect_none(out.get(), nullptr, params.get(), GTH_OPERAND_INDICES);
    expect_none(out.get(), indices.get(), nullptr, GTH_OPERAND_UPDATES);
    expect(op.make(nullptr, out.get(), indices.get(), params.get(), nullptr, nullptr, &error),
           null_of(GTH_OPERAND_NONE));
    gth_plan* plan = token<gth_plan>(1);
    expect(op.plan(nullptr, &i_, &p_, nullptr, &plan, &error), null_of(GTH_OPERAND_TARGET));
    expect(op.plan(&o_, nullptr, &p_, nullptr, &plan, &error), null_of(GTH_OPERAND_INDICES));
    EXPECT_EQ(plan, nullptr);
    expect(op.plan(&o_, &i_, &p_, nullptr, nullptr, &error), null_of(GTH_OPERAND_NONE));
    expect(op.infer(nullptr, &i_, nullptr, 2, &ndim, shape, &error), null_of(GTH_OPERAND_TARGET));
    expect(op.infer(&o_, nullptr, nullptr, 2, &ndim, shape, &error), null_of(GTH_OPERAND_INDICES));
    expect(op.infer(&o_, &i_, nullptr, 2, nullptr, shape, &error), null_of(GTH_OPERAND_NONE));
  }
}

TEST_F(Handles, E1_NullInOtherCallsIsRejected) {
  gth_tensor* made;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  expect(gth_tensor_borrow(nullptr, &made, &error), null_of(GTH_OPERAND_TENSOR));
  expect(gth_tensor_borrow(&p_, nullptr, &error), null_of(GTH_OPERAND_NONE));
  expect(gth_tensor_adopt(nullptr, nullptr, [](void*) {}, nullptr, &made, &error), null_of(GTH_OPERAND_TENSOR));
  expect(gth_tensor_adopt(nullptr, &p_, nullptr, nullptr, &made, &error), null_of(GTH_OPERAND_NONE));
  const Shape shape{1};
  expect(gth_tensor_alloc(nullptr, f32, 1, shape.data(), nullptr, &error), null_of(GTH_OPERAND_NONE));
  expect(gth_tensor_describe(nullptr, &desc, &error), null_of(GTH_OPERAND_TENSOR));
  expect(gth_tensor_describe(params.get(), nullptr, &error), null_of(GTH_OPERAND_NONE));
  expect(gth_context_create(nullptr, nullptr, &error), null_of(GTH_OPERAND_NONE));
  expect(gth_context_enqueue_take_error(nullptr, nullptr, &error), null_of(GTH_OPERAND_NONE));
  expect(gth_capabilities(nullptr, &error), null_of(GTH_OPERAND_NONE));
}

// Required pointers are checked first, before structs and handles that are also invalid.
TEST_F(Handles, E1_NullIsCheckedFirst) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  desc.size = 3;
  gth_context* garbage = token<gth_context>(1);
  gth_tensor* stranger = token<gth_tensor>(1);
  gth_options options = GTH_OPTIONS_INIT;
  options.size = 3;
  expect(gth_tensor_describe(nullptr, &desc, &error), null_of(GTH_OPERAND_TENSOR), "describe");
  expect(calls::gather.run(garbage, stranger, indices.get(), nullptr, &options, &error), null_of(GTH_OPERAND_OUT),
         "into");
  expect(calls::copy(garbage, nullptr, stranger, &error), null_of(GTH_OPERAND_PARAMS), "copy from");
  expect(calls::copy(garbage, stranger, nullptr, &error), null_of(GTH_OPERAND_OUT), "copy to");
  expect(gth_plan_run(garbage, nullptr, 0, nullptr, nullptr, nullptr, &error), null_of(GTH_OPERAND_PLAN), "run");
}

// Struct sizes and switches are checked before handles.
TEST_F(Handles, E6_VersionIsCheckedBeforeHandles) {
  gth_tensor_desc desc = p_;
  desc.size = 3;
  gth_options options = GTH_OPTIONS_INIT;
  options.size = 3;
  gth_context* garbage = token<gth_context>(1);
  gth_tensor* made = nullptr;
  EXPECT_EQ(gth_tensor_adopt(garbage, &desc, [](void*) {}, nullptr, &made, nullptr), GTH_E_VERSION);
  EXPECT_EQ(gth_gather(garbage, &desc, &i_, &o_, nullptr, nullptr), GTH_E_VERSION);
  EXPECT_EQ(calls::gather.run(garbage, params.get(), indices.get(), out.get(), &options, nullptr), GTH_E_VERSION);
}

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
    bool other = false;  // one of two live handles may be the other with one bit changed
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

TEST_F(Handles, E6_InvalidStructSizesAreRejected) {
  for (uint32_t size :
       {0u, 3u, sizeof32<gth_options>() - 4, sizeof32<gth_options>() + 2, 4100u, 1u << 31, UINT32_MAX}) {
    gth_options options = GTH_OPTIONS_INIT;
    options.size = size;
    expect(gth_gather(nullptr, &p_, &i_, &o_, &options, &error),
           {GTH_E_VERSION, GTH_OPERAND_OPTIONS, 0, -1, size, sizeof(gth_options)});
    gth_context_options made_with = GTH_CONTEXT_OPTIONS_INIT;
    made_with.size = size == sizeof32<gth_options>() - 4 ? sizeof32<gth_context_options>() - 4 : size;
    if (size == sizeof32<gth_options>() + 2) made_with.size = sizeof32<gth_context_options>() + 2;
    gth_context* context = token<gth_context>(1);
    expect(gth_context_create(&made_with, &context, &error),
           {GTH_E_VERSION, GTH_OPERAND_OPTIONS, 0, -1, made_with.size, sizeof(gth_context_options)});
    EXPECT_EQ(context, nullptr);
  }
}

TEST_F(Handles, E6_InvalidDescriptionSizesAreRejected) {
  constexpr uint32_t known = sizeof(gth_tensor_desc);
  for (uint32_t size : {0u, 3u, known - 4, known + 2, 4100u, UINT32_MAX}) {
    gth_tensor_desc bad[3] = {p_, i_, o_};
    const int32_t operands[] = {GTH_OPERAND_PARAMS, GTH_OPERAND_INDICES, GTH_OPERAND_OUT};
    for (int32_t k = 0; k < 3; ++k) {
      bad[k].size = size;
      expect(gth_gather(nullptr, &bad[0], &bad[1], &bad[2], nullptr, &error),
             {GTH_E_VERSION, operands[k], 0, -1, size, known});
      bad[k].size = known;
    }
    bad[0].size = size;
    gth_tensor* made = nullptr;
    expect(gth_tensor_borrow(&bad[0], &made, &error), {GTH_E_VERSION, GTH_OPERAND_TENSOR, 0, -1, size, known});
    EXPECT_EQ(gth_tensor_describe(params.get(), &bad[0], &error), GTH_E_VERSION);
    EXPECT_EQ(bad[0].ndim, 2);
    gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
    info.size = size == known - 4 || size == known + 2 ? 6 : size;
    EXPECT_EQ(gth_capabilities(&info, &error), GTH_E_VERSION);
    EXPECT_EQ(info.abi, 0u);
  }
}

// A shape query reads few fields of its structs, but checks all of them.
TEST_F(Handles, E6_InvalidStructsOfShapeQueriesAreRejected) {
  int32_t ndim = -7;
  int64_t shape[4];
  const auto query = [&](const gth_tensor_desc& p, const gth_tensor_desc& i, const gth_options* options) {
    return calls::gather.infer(&p, &i, options, 4, &ndim, shape, &error);
  };
  constexpr uint32_t known = sizeof(gth_tensor_desc);
  for (const int32_t operand : {GTH_OPERAND_PARAMS, GTH_OPERAND_INDICES}) {
    gth_tensor_desc pair[] = {p_, i_};
    gth_tensor_desc& bad = pair[operand - GTH_OPERAND_PARAMS];
    bad.size = known - 4;
    expect(query(pair[0], pair[1], nullptr), {GTH_E_VERSION, operand, 0, -1, known - 4, known});
    bad.size = known;
    bad.flags = 6;
    expect(query(pair[0], pair[1], nullptr), {GTH_E_VERSION, operand, -1, -1, 6, GTH_TENSOR_READONLY});
    bad.flags = 0;
    bad.codec = token<gth_codec>(1);
    expect(query(pair[0], pair[1], nullptr), {GTH_E_VERSION, operand});
  }
  gth_options options = GTH_OPTIONS_INIT;
  options.bounds = 99;
  expect(query(p_, i_, &options),
         {GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, bounds), -1, 99, GTH_BOUNDS_ERROR_PARTIAL});
  EXPECT_EQ(ndim, -7);
}

TEST_F(Handles, E6_InvalidSizeOfTheErrorIsRejected) {
  Plan plan;
  ASSERT_EQ(calls::gather.plan(&p_, &i_, nullptr, nullptr, plan.out(), nullptr), GTH_OK);
  for (uint32_t size : {0u, 3u, sizeof32<gth_error>() - 4, 4100u, UINT32_MAX}) {
    Error bad;
    bad.size = size;
    const Error before = bad;
    EXPECT_EQ(gth_gather(nullptr, nullptr, &i_, &o_, nullptr, &bad), GTH_E_VERSION);
    gth_tensor* made = token<gth_tensor>(1);
    EXPECT_EQ(calls::gather.make(nullptr, params.get(), indices.get(), nullptr, nullptr, &made, &bad), GTH_E_VERSION);
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(gth_plan_run(nullptr, plan.get(), GTH_OPEN, p_.data, i_.data, out_.data(), &bad), GTH_E_VERSION);
    EXPECT_EQ(
        calls::run_args(nullptr, plan.get(), calls::args(GTH_OPEN, p_.data, i_.data, out_.data(), 32, 24, 24), &bad),
        GTH_E_VERSION);
    EXPECT_EQ(std::memcmp(&bad, &before, sizeof bad), 0);
  }
}

// A larger struct of a newer caller is accepted if its unknown bytes are zero.
TEST_F(Handles, E6_LargerStructsWithZerosAreAccepted) {
  struct {
    gth_options known;
    uint32_t more[6];
  } options = {GTH_OPTIONS_INIT, {}};
  options.known.size = sizeof options;
  struct {
    gth_tensor_desc known;
    uint32_t more[(4096 - sizeof(gth_tensor_desc)) / 4];
  } desc = {p_, {}};
  desc.known.size = 4096;
  const Array target(f32, {3, 2});
  const gth_tensor_desc target_desc = target.desc();
  EXPECT_EQ(gth_gather(nullptr, &desc.known, &i_, &target_desc, &options.known, &error), GTH_OK) << error.message;
  EXPECT_TRUE(target.bytes() == rows_of(params_, 8, {2, 0, 3}));
  options.more[5] = 1u << 31;
  expect(gth_gather(nullptr, &p_, &i_, &o_, &options.known, &error),
         {GTH_E_VERSION, GTH_OPERAND_OPTIONS, sizeof(gth_options), -1, sizeof options, sizeof(gth_options)});
  options.more[5] = 0;
  desc.more[0] = 1;
  EXPECT_EQ(gth_gather(nullptr, &desc.known, &i_, &o_, &options.known, &error), GTH_E_VERSION);
  EXPECT_EQ(error.operand, GTH_OPERAND_PARAMS);
}

TEST_F(Handles, E7_UnknownSwitchesAreRejected) {
  struct Switch {
    int32_t gth_options::* field;
    size_t offset;
    int32_t highest;
  };
  const Switch switches[] = {{&gth_options::has_axis, offsetof(gth_options, has_axis), 1},
                             {&gth_options::profile, offsetof(gth_options, profile), GTH_PROFILE_JAX_CLIP},
                             {&gth_options::negative, offsetof(gth_options, negative), GTH_NEGATIVE_WRAP},
                             {&gth_options::bounds, offsetof(gth_options, bounds), GTH_BOUNDS_ERROR_PARTIAL},
                             {&gth_options::fill, offsetof(gth_options, fill), GTH_FILL_BY_DTYPE}};
  for (const Switch& each : switches) {
    for (int32_t value : {-1, 99, each.highest + 1, INT32_MIN, INT32_MAX}) {
      gth_options options = GTH_OPTIONS_INIT;
      options.*each.field = value;
      const Facts facts{GTH_E_VERSION, GTH_OPERAND_OPTIONS, static_cast<int32_t>(each.offset), -1, value, each.highest};
      expect(gth_gather(nullptr, &p_, &i_, &o_, &options, &error), facts);
      gth_tensor* made = nullptr;
      expect(calls::gather.make(nullptr, params.get(), indices.get(), nullptr, &options, &made, &error), facts);
    }
  }
}

TEST_F(Handles, E7_UnknownFlagsAndReservedFieldsAreRejected) {
  gth_tensor_desc bad = p_;
  bad.flags = 2;
  expect(gth_gather(nullptr, &bad, &i_, &o_, nullptr, &error),
         {GTH_E_VERSION, GTH_OPERAND_PARAMS, -1, -1, 2, GTH_TENSOR_READONLY});
  bad.flags = 0;
  bad.codec = token<gth_codec>(1);
  EXPECT_EQ(gth_gather(nullptr, &bad, &i_, &o_, nullptr, &error), GTH_E_VERSION);
  gth_context* context = nullptr;
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.flags = 4;
  EXPECT_EQ(gth_context_create(&options, &context, &error), GTH_E_VERSION);
  EXPECT_EQ(error.component, static_cast<int32_t>(offsetof(gth_context_options, flags)));
  options = GTH_CONTEXT_OPTIONS_INIT;
  options.reserved = 1;
  EXPECT_EQ(gth_context_create(&options, &context, &error), GTH_E_VERSION);
  EXPECT_EQ(error.component, static_cast<int32_t>(offsetof(gth_context_options, reserved)));
  options = GTH_CONTEXT_OPTIONS_INIT;
  options.reserved_pointer = &options;
  EXPECT_EQ(gth_context_create(&options, &context, &error), GTH_E_VERSION);
  EXPECT_EQ(error.component, static_cast<int32_t>(offsetof(gth_context_options, reserved_pointer)));
}

TEST_F(Handles, E7_NewTensorsWithoutDtypeAreRejected) {
  const int64_t shape[] = {2};
  for (const int32_t dtype : {0, 1, -1, 7, GTH_DTYPE_FLOAT32 + 1, GTH_DTYPE_STRING + 1, INT32_MAX, INT32_MIN}) {
    gth_tensor* made = token<gth_tensor>(1);
    expect(gth_tensor_alloc(nullptr, dtype, 1, shape, &made, &error),
           {GTH_E_DTYPE, GTH_OPERAND_TENSOR, -1, -1, dtype, 0});
    EXPECT_EQ(made, nullptr);
  }
}

TEST_F(Handles, E7_FailedAdoptLeavesTheMemoryToTheCaller) {
  const auto deleter = [](void*) { ADD_FAILURE() << "of a tensor that was not made"; };
  gth_tensor_desc bad = p_;
  bad.dtype = 7;
  gth_tensor* made = token<gth_tensor>(1);
  expect(gth_tensor_adopt(nullptr, &bad, deleter, nullptr, &made, &error),
         {GTH_E_DTYPE, GTH_OPERAND_TENSOR, -1, -1, 7, 0});
  EXPECT_EQ(made, nullptr);
  bad.dtype = f32;
  bad.data = nullptr;
  expect(gth_tensor_adopt(nullptr, &bad, deleter, nullptr, &made, &error), null_of(GTH_OPERAND_TENSOR));
}

// Strings have no memory of fixed size.
TEST_F(Handles, E7_StringsAreRejectedAsNumbers) {
  const int64_t shape[] = {2}, offsets[] = {0, 1, 2};
  Tensor strings;
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 1, shape, offsets, "ab", 2, nullptr, nullptr, strings.out(), &error),
            GTH_OK);
  Facts facts{GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR, -1, -1, GTH_DTYPE_STRING, 0};
  gth_tensor* made = token<gth_tensor>(1);
  expect(gth_tensor_alloc(nullptr, GTH_DTYPE_STRING, 1, shape, &made, &error), facts);
  EXPECT_EQ(made, nullptr);
  gth_tensor_desc desc = p_;
  desc.dtype = GTH_DTYPE_STRING;
  expect(gth_tensor_borrow(&desc, &made, &error), facts);
  facts.operand = GTH_OPERAND_PARAMS;
  expect(calls::copy(nullptr, strings.get(), out.get(), &error), facts);
  facts.operand = GTH_OPERAND_OUT;
  expect(calls::copy(nullptr, out.get(), strings.get(), &error), facts);
}

TEST_F(Handles, E7_InvalidOpsetsAndThreadsAreRejected) {
  gth_options options = with_profile(GTH_PROFILE_ONNX);
  const int32_t field = offsetof(gth_options, opset);
  for (int32_t opset : {-1, INT32_MIN, 10}) {
    options.opset = opset;
    expect(gth_gather_nd(nullptr, &p_, &j_, &o_, &options, &error),
           {GTH_E_VERSION, GTH_OPERAND_OPTIONS, field, -1, opset, 11});
  }
  gth_options threads = GTH_OPTIONS_INIT;
  threads.threads = -1;
  expect(gth_gather(nullptr, &p_, &i_, &o_, &threads, &error),
         {GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, threads), -1, -1, INT32_MAX});
  gth_context_options context_options = GTH_CONTEXT_OPTIONS_INIT;
  context_options.threads = -1;
  gth_context* context = nullptr;
  EXPECT_EQ(gth_context_create(&context_options, &context, &error), GTH_E_VERSION);
}

TEST_F(Handles, E7_UnknownDevicesAreRejected) {
  for (int32_t device : {-1, 4, 99, INT32_MIN}) {
    gth_tensor_desc bad = p_;
    bad.device = device;
    expect(gth_gather(nullptr, &bad, &i_, &o_, nullptr, &error), {GTH_E_DEVICE, GTH_OPERAND_PARAMS, -1, -1, device, 0});
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.device = device;
    gth_context* context = nullptr;
    EXPECT_EQ(gth_context_create(&options, &context, &error), GTH_E_DEVICE);
    EXPECT_EQ(error.value, device);
  }
}

TEST_F(Handles, E7_CpuContextsGatherOnTheCpu) {
  for (int32_t device : {0, GTH_DEVICE_CPU}) {
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.device = device;
    gth_context* context = nullptr;
    ASSERT_EQ(gth_context_create(&options, &context, &error), GTH_OK) << error.message;
    gth_tensor* made = nullptr;
    ASSERT_EQ(calls::gather.make(context, params.get(), indices.get(), nullptr, nullptr, &made, &error), GTH_OK)
        << error.message;
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    EXPECT_EQ(gth_tensor_describe(made, &desc, &error), GTH_OK);
    EXPECT_EQ(desc.device, GTH_DEVICE_CPU);
    EXPECT_EQ(gth_tensor_release(made), GTH_OK);
    EXPECT_EQ(gth_context_release(context), GTH_OK);
  }
}

// A call on the CPU is complete when it returns, and reports its own errors. So waiting and taking do nothing.
TEST_F(Handles, E7_CpuContextsHaveNothingToWaitFor) {
  gth_context* made = nullptr;
  ASSERT_EQ(gth_context_create(nullptr, &made, &error), GTH_OK);
  for (gth_context* context : {static_cast<gth_context*>(nullptr), made}) {
    gth_error_record record;
    std::memset(&record, '#', sizeof record);
    const gth_error_record before = record;
    EXPECT_EQ(gth_context_sync(context, &error), GTH_OK) << error.message;
    EXPECT_EQ(gth_context_take_error(context, &error), GTH_OK) << error.message;
    EXPECT_EQ(gth_context_enqueue_take_error(context, &record, &error), GTH_OK) << error.message;
    EXPECT_EQ(std::memcmp(&record, &before, sizeof record), 0);
    const Facts facts{GTH_E_DEVICE, GTH_OPERAND_CONTEXT, -1, -1, GTH_DEVICE_CPU, GTH_DEVICE_CUDA};
    expect(gth_context_wait(context, nullptr, &error), facts);
    expect(gth_context_signal(context, nullptr, &error), facts);
  }
  EXPECT_EQ(gth_context_release(made), GTH_OK);
}

// The error is reported when the plan is created, not at the first run.
TEST_F(Handles, E7_PlansOfMissingDevicesAreRejected) {
  gth_tensor_desc p = p_, i = i_;
  p.device = i.device = GTH_DEVICE_CUDA;
  p.device_id = i.device_id = 1000;
  gth_plan* plan = nullptr;
  expect(calls::gather.plan(&p, &i, nullptr, nullptr, &plan, &error),
         {GTH_E_DEVICE, GTH_OPERAND_PARAMS, -1, -1, GTH_DEVICE_CUDA, GTH_DEVICE_CPU});
  EXPECT_EQ(plan, nullptr);
}

TEST_F(Handles, VersionsMatchTheHeader) {
  EXPECT_EQ(gth_abi_version(), uint32_t{GTH_ABI_VERSION});
  EXPECT_EQ(gth_version(), uint32_t{GTH_VERSION});
}

TEST_F(Handles, E8_UnknownNumbersHaveNames) {
  for (int32_t number : {9999, 1, -24, -9999, INT32_MAX, INT32_MIN}) {
    ASSERT_NE(gth_status_name(number), nullptr);
    EXPECT_GT(std::strlen(gth_status_name(number)), 0u);
    ASSERT_NE(gth_dtype_name(number), nullptr);
    EXPECT_EQ(gth_dtype_size(number), 0);
  }
  for (int32_t status = GTH_E_INTERNAL; status < GTH_OK; ++status) {
    EXPECT_EQ(std::string(gth_status_name(status)).rfind("GTH_E_", 0), 0u);
  }
}

TEST_F(Handles, E10_TwoFailingThreadsGetTheirOwnErrors) {
  const auto fail = [&](int64_t value) {
    const Array bad = indices64({1}, {value}), target(f32, {1, 2});
    const gth_tensor_desc i = bad.desc(), o = target.desc();
    for (int32_t k = 0; k < 2000; ++k) {
      Error mine;
      expect_facts(gth_gather(nullptr, &p_, &i, &o, nullptr, &mine), mine,
                   {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 0, value, 4});
      ASSERT_NE(std::string(mine.message).find(" is " + std::to_string(value) + ","), std::string::npos);
    }
  };
  std::thread first(fail, 77), second(fail, 99);
  first.join();
  second.join();
}

TEST_F(Handles, E11_ThrowingHookReturnsNomem) {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.alloc = [](void*, int64_t, int64_t, int32_t, int32_t, CUstream_st*) -> void* {
    throw std::runtime_error("no");
  };
  options.free = [](void*, int64_t, int64_t, int32_t, int32_t, CUstream_st*, void*) { ADD_FAILURE(); };
  gth_context* context = nullptr;
  ASSERT_EQ(gth_context_create(&options, &context, nullptr), GTH_OK);
  gth_tensor* made = token<gth_tensor>(1);
  expect(calls::gather.make(context, params.get(), indices.get(), nullptr, nullptr, &made, &error),
         {GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, 24, 0});
  EXPECT_EQ(made, nullptr);
  const Shape shape{2};
  expect(gth_tensor_alloc(context, f32, 1, shape.data(), &made, &error), {GTH_E_NOMEM, GTH_OPERAND_NONE, -1, -1, 8, 0});
  EXPECT_EQ(gth_context_release(context), GTH_OK);
}

TEST_F(Handles, E11_SingleHooksAreRejected) {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.alloc = [](void*, int64_t, int64_t, int32_t, int32_t, CUstream_st*) -> void* { return nullptr; };
  gth_context* context = token<gth_context>(1);
  expect(gth_context_create(&options, &context, &error),
         {GTH_E_NULL, GTH_OPERAND_OPTIONS, offsetof(gth_context_options, free), -1, 0, 0});
  EXPECT_EQ(context, nullptr);
}

TEST_F(Handles, E12_LongMessagesAreTerminated) {
  const Array wide(GTH_DTYPE_UINT64, Shape(63, 1), std::vector<uint64_t>{UINT64_MAX});
  const Array params64(f32, {1}), target(f32, Shape(63, 1));
  const gth_tensor_desc p = params64.desc(), i = wide.desc(), o = target.desc();
  EXPECT_EQ(gth_gather(nullptr, &p, &i, &o, nullptr, &error), GTH_E_INDEX);
  const size_t length = strnlen(error.message, sizeof error.message);
  EXPECT_LE(length, 255u);
  EXPECT_EQ((error.flags & GTH_ERROR_CUT) != 0, length == 255u);
}

}  // namespace
