#include <functional>

#include "../../src/core/os/testing.hpp"
#include "hooks.hpp"
#include "samples.hpp"

// Every allocation of every call fails once, and then together with all later ones. The call must return GTH_E_NOMEM
// and create nothing. No memory may be leaked, and the inputs must stay usable. The address sanitizer finds leaks of
// the library's memory. Memory of hooks is counted.
namespace {

using namespace hostile;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32;

class AllocationFailures : public ::testing::Test {
 protected:
  void SetUp() override { hooked_ = hooks_.context(); }

  void TearDown() override {
    EXPECT_EQ(gth_context_release(hooked_), GTH_OK);
    EXPECT_EQ(hooks_.live(), 0);
  }

  // `call` creates one object or fails. `release` releases it. Returns the number of allocations that the call needs.
  template <class Object>
  int64_t expect_survives(const char* what, const std::function<int32_t(Object**, gth_error*)>& call,
                          int32_t (*release)(Object*)) {
    int64_t needed = 0;
    for (int32_t sticky : {0, 1}) {
      for (int64_t n = 1;; ++n) {
        Object* out = reinterpret_cast<Object*>(&n);
        Error error;
        gth_testing_fail_allocation(n, sticky);
        const int32_t status = call(&out, &error);
        needed = gth_testing_allocations();
        gth_testing_fail_allocation(0, 0);
        if (status == GTH_OK) {
          EXPECT_EQ(release(out), GTH_OK) << what;
          if (needed < n) break;
          EXPECT_TRUE(repeats_ && !sticky) << what << ": a failure went unnoticed";
          continue;
        }
        EXPECT_STREQ(gth_status_name(status), "GTH_E_NOMEM") << what << ", allocation " << n << ": " << error.message;
        EXPECT_EQ(error.status, GTH_E_NOMEM) << what;
        EXPECT_EQ(error.operand, GTH_OPERAND_NONE) << what;
        EXPECT_EQ(error.component, -1) << what;
        EXPECT_EQ(error.position, -1) << what;
        EXPECT_GE(error.value, least_) << what << ": the bytes asked for";
        EXPECT_EQ(error.limit, 0) << what;
        EXPECT_EQ(out, nullptr) << what;
        if (n > 100) return ADD_FAILURE() << what << " never succeeds", needed;
      }
    }
    EXPECT_EQ(hooks_.live(), 0) << what;
    return needed;
  }

  template <class Call>
  int64_t expect_tensor(const char* what, Call call) {
    return expect_survives<gth_tensor>(what, call, gth_tensor_release);
  }

  const Array params_{f32, {4, 2}}, indices_ = indices64({3}, {2, 0, 3}), tuples_ = indices64({3, 1}, {2, 0, 3});
  const gth_tensor_desc p_ = params_.desc(), i_ = indices_.desc(), t_ = tuples_.desc();
  const Tensor params{p_}, indices{i_}, tuples{t_};
  Hooks hooks_;
  gth_context* hooked_ = nullptr;
  int64_t least_ = 0;     // smallest size in bytes that the allocations of a call request
  bool repeats_ = false;  // true if calls repeat an allocation that has failed
};

// Either one allocation fails, or all from it on.
TEST_F(AllocationFailures, InjectedFailuresFailTheChosenAllocations) {
  const Array wide(f32, Shape(64, 1));
  const gth_tensor_desc desc = wide.desc();
  for (const int32_t sticky : {0, 1}) {
    gth_testing_fail_allocation(1, sticky);
    gth_tensor* made = nullptr;
    EXPECT_EQ(gth_tensor_borrow(&desc, &made, nullptr), GTH_E_NOMEM);
    EXPECT_EQ(gth_tensor_borrow(&desc, &made, nullptr), sticky ? GTH_E_NOMEM : GTH_OK);
    gth_testing_fail_allocation(0, 0);
    EXPECT_EQ(gth_tensor_release(made), GTH_OK);
  }
}

TEST_F(AllocationFailures, G4_ContextsReturnNomem) {
  const int64_t needed = expect_survives<gth_context>(
      "context_create", [](gth_context** out, gth_error* err) { return gth_context_create(nullptr, out, err); },
      gth_context_release);
  EXPECT_GT(needed, 0);
}

TEST_F(AllocationFailures, G4_BorrowReturnsNomem) {
  expect_tensor("borrow", [&](gth_tensor** out, gth_error* err) { return gth_tensor_borrow(&p_, out, err); });
  const Array wide(f32, Shape(64, 1));
  const gth_tensor_desc desc = wide.desc();
  least_ = 64 * 2 * int64_t{sizeof(int64_t)};  // shape and strides
  const int64_t needed = expect_tensor(
      "borrow of rank 64", [&](gth_tensor** out, gth_error* err) { return gth_tensor_borrow(&desc, out, err); });
  EXPECT_GT(needed, 0);
}

TEST_F(AllocationFailures, G4_PackedTensorsReturnNomem) {
  const Array bytes(GTH_DTYPE_UINT8, {4, 8}), factors = floats({4, 1}, {1, 2, 3, 4});
  const Shape shape{4, 8};
  const gth_tensor_desc scales = factors.desc();
  gth_codec codec = GTH_CODEC_INIT;
  codec.code = GTH_CODE_UINT8;
  codec.scale_place = GTH_PLACE_OPERAND;
  codec.scales = &scales;
  gth_tensor_desc packed = describe(f32, shape, bytes.data());
  packed.codec = &codec;
  const int64_t needed = expect_tensor(
      "borrow of packed rows", [&](gth_tensor** out, gth_error* err) { return gth_tensor_borrow(&packed, out, err); });
  EXPECT_GT(needed, 0);
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &packed, &i_, nullptr, nullptr);
  for (gth_context* context : {static_cast<gth_context*>(nullptr), hooked_}) {
    expect_tensor("make of packed rows",
                  [&](gth_tensor** out, gth_error* err) { return gth_make(context, &request, out, err); });
  }
}

// Ownership is taken if and only if the call succeeds.
TEST_F(AllocationFailures, G4_AdoptReturnsNomemAndKeepsOwnership) {
  int32_t deleted = 0;
  const auto deleter = [](void* count) { ++*static_cast<int32_t*>(count); };
  const Array wide(f32, Shape(64, 1));
  const gth_tensor_desc desc = wide.desc();
  const int64_t needed = expect_tensor("adopt", [&](gth_tensor** out, gth_error* err) {
    EXPECT_LE(deleted, 1);  // by the release of the first success
    return gth_tensor_adopt(nullptr, &desc, deleter, &deleted, out, err);
  });
  EXPECT_GT(needed, 1);
  EXPECT_EQ(deleted, 2);
}

TEST_F(AllocationFailures, G4_AllocReturnsNomem) {
  for (gth_context* context : {static_cast<gth_context*>(nullptr), hooked_}) {
    for (const Shape& shape : {Shape{5}, Shape{0}, Shape(64, 1)}) {
      const int32_t ndim = static_cast<int32_t>(shape.size());
      const int64_t needed = expect_tensor("alloc", [&](gth_tensor** out, gth_error* err) {
        return gth_tensor_alloc(context, f32, ndim, shape.data(), out, err);
      });
      EXPECT_GT(needed, 0);
    }
  }
}

// If the fast path cannot allocate, the general path tries again.
TEST_F(AllocationFailures, G4_GathersReturnNomem) {
  repeats_ = true;
  for (gth_context* context : {static_cast<gth_context*>(nullptr), hooked_}) {
    for (int32_t threads : {1, 3}) {
      gth_options options = with_bounds(threads == 1 ? GTH_BOUNDS_ERROR : GTH_BOUNDS_SKIP);
      options.threads = threads;
      const int64_t needed = expect_tensor("gather", [&](gth_tensor** out, gth_error* err) {
        return calls::gather.make(context, params.get(), indices.get(), nullptr, &options, out, err);
      });
      EXPECT_GT(needed, 0);
      expect_tensor("gather_nd", [&](gth_tensor** out, gth_error* err) {
        return calls::gather_nd.make(context, params.get(), tuples.get(), nullptr, &options, out, err);
      });
    }
  }
  expect_gathered({g, p_, i_}, {3, 2}, rows_of(params_, 8, {2, 0, 3}));
}

TEST_F(AllocationFailures, G4_PlansReturnNomem) {
  const int64_t needed = expect_survives<gth_plan>(
      "gather_plan",
      [&](gth_plan** out, gth_error* err) { return calls::gather.plan(&p_, &i_, nullptr, nullptr, out, err); },
      gth_plan_release);
  EXPECT_GT(needed, 0);
  expect_survives<gth_plan>(
      "gather_nd_plan",
      [&](gth_plan** out, gth_error* err) { return calls::gather_nd.plan(&p_, &t_, nullptr, nullptr, out, err); },
      gth_plan_release);
}

TEST_F(AllocationFailures, G4_BagsReturnNomem) {
  const Array numbers = indices64({2}, {0, 3});
  const gth_tensor_desc b = numbers.desc();
  gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &p_, &i_, nullptr, nullptr);
  request.bags = &b;
  for (gth_context* context : {static_cast<gth_context*>(nullptr), hooked_}) {
    const auto make = [&](gth_tensor** out, gth_error* err) { return gth_make(context, &request, out, err); };
    EXPECT_GT(expect_tensor("bags", make), 0);
  }
  const auto plan = [&](gth_plan** out, gth_error* err) { return gth_plan_create(&request, out, err); };
  EXPECT_GT(expect_survives<gth_plan>("plan of bags", plan, gth_plan_release), 0);
}

// An invalid index is reported after a successful allocation, and the output is freed.
TEST_F(AllocationFailures, G4_InvalidIndexAfterAllocationFreesTheOutput) {
  const Array bad = indices64({1}, {9});
  const Tensor wrong(bad.desc());
  for (gth_context* context : {static_cast<gth_context*>(nullptr), hooked_}) {
    gth_tensor* out = reinterpret_cast<gth_tensor*>(&hooks_);
    EXPECT_EQ(calls::gather.make(context, params.get(), wrong.get(), nullptr, nullptr, &out, nullptr), GTH_E_INDEX);
    EXPECT_EQ(out, nullptr);
    EXPECT_EQ(hooks_.live(), 0);
  }
}

TEST_F(AllocationFailures, G4_StringsReturnNomem) {
  const int64_t offsets[] = {0, 3, 3, 8};
  const char bytes[] = "onethree";
  const Shape shape{3};
  const auto make = [&](gth_tensor** out, gth_error* err) {
    return gth_tensor_from_strings(nullptr, 0, 1, shape.data(), offsets, bytes, 8, nullptr, nullptr, out, err);
  };
  expect_tensor("from_strings", make);
  Tensor strings;
  ASSERT_EQ(make(strings.out(), nullptr), GTH_OK);
  const Array order = indices64({4}, {2, 0, 2, 1});
  const Tensor index(order.desc());
  for (gth_context* context : {static_cast<gth_context*>(nullptr), hooked_}) {
    const int64_t needed = expect_tensor("gather of strings", [&](gth_tensor** out, gth_error* err) {
      return calls::gather.make(context, strings.get(), index.get(), nullptr, nullptr, out, err);
    });
    EXPECT_GT(needed, 2);
  }
}

TEST_F(AllocationFailures, G4_CallsIntoExistingOutputsNeedNoMemory) {
  const Array out(f32, {3, 2});
  const gth_tensor_desc o = out.desc();
  const Tensor target(o);
  gth_testing_fail_allocation(1, 1);
  EXPECT_EQ(gth_gather(nullptr, &p_, &i_, &o, nullptr, nullptr), GTH_OK);
  EXPECT_EQ(calls::gather.run(nullptr, params.get(), indices.get(), target.get(), nullptr, nullptr), GTH_OK);
  EXPECT_EQ(gth_testing_allocations(), 0);
  gth_testing_fail_allocation(0, 0);
}

TEST_F(AllocationFailures, G4_ScattersReturnNomem) {
  const Array updates_ = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor updates(updates_.desc());
  gth_options half = reducing(GTH_REDUCTION_ADD, GTH_ACCUMULATE_FLOAT32);
  const Array halves(GTH_DTYPE_FLOAT16, {4, 2}), half_updates(GTH_DTYPE_FLOAT16, {3, 2});
  const Tensor half_target(halves.desc()), half_rows(half_updates.desc());
  for (gth_context* context : {static_cast<gth_context*>(nullptr), hooked_}) {
    const int64_t needed = expect_tensor("scatter", [&](gth_tensor** out, gth_error* err) {
      return calls::scatter.make(context, params.get(), indices.get(), updates.get(), nullptr, out, err);
    });
    EXPECT_GT(needed, 0);
    expect_tensor("scatter_nd", [&](gth_tensor** out, gth_error* err) {
      return calls::scatter_nd.make(context, params.get(), tuples.get(), updates.get(), nullptr, out, err);
    });
    const int64_t more = expect_tensor("scatter of halves", [&](gth_tensor** out, gth_error* err) {
      return calls::scatter.make(context, half_target.get(), indices.get(), half_rows.get(), &half, out, err);
    });
    EXPECT_GT(more, needed);
    const gth_options mean = reducing(GTH_REDUCTION_MEAN);
    const int64_t of_mean = expect_tensor("scatter of means", [&](gth_tensor** out, gth_error* err) {
      return calls::scatter.make(context, params.get(), indices.get(), updates.get(), &mean, out, err);
    });
    EXPECT_GT(of_mean, needed);
  }
}

TEST_F(AllocationFailures, G4_GradientsReturnNomem) {
  const Array rows_ = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor rows(rows_.desc());
  for (gth_context* context : {static_cast<gth_context*>(nullptr), hooked_}) {
    const int64_t needed = expect_tensor("gather_gradient", [&](gth_tensor** out, gth_error* err) {
      return calls::gather_gradient.make(context, params.get(), indices.get(), rows.get(), nullptr, out, err);
    });
    EXPECT_GT(needed, 0);
    expect_tensor("gather_nd_gradient", [&](gth_tensor** out, gth_error* err) {
      return calls::gather_nd_gradient.make(context, params.get(), tuples.get(), rows.get(), nullptr, out, err);
    });
  }
}

// float32 accumulation allocates its memory before it writes the caller's output.
TEST_F(AllocationFailures, G4_FailedGradientsLeaveTheOutputUnchanged) {
  const gth_options in_float32 = [] {
    gth_options options = GTH_OPTIONS_INIT;
    options.accumulate = GTH_ACCUMULATE_FLOAT32;
    return options;
  }();
  const Array rows(GTH_DTYPE_FLOAT16, {3, 2}, std::vector<uint16_t>(6)), elements(GTH_DTYPE_FLOAT16, {3}, Bytes(6));
  const Array out(GTH_DTYPE_FLOAT16, {4, 2}, std::vector<uint16_t>(8, 0x1234));
  const Array line(GTH_DTYPE_FLOAT16, {4}, std::vector<uint16_t>(4, 0x1234));
  const auto expect_unchanged = [&](decltype(&gth_gather_gradient) gradient, const Array& given,
                                    const gth_tensor_desc& index, const Array& target) {
    const Bytes before = target.bytes();
    const gth_tensor_desc g_desc = given.desc(), o = target.desc();
    Error error;
    gth_testing_fail_allocation(1, 0);
    const int32_t status = gradient(nullptr, &o, &index, &g_desc, &in_float32, &error);
    gth_testing_fail_allocation(0, 0);
    EXPECT_STREQ(gth_status_name(status), "GTH_E_NOMEM");
    EXPECT_EQ(error.value, 24 * 3);
    EXPECT_TRUE(target.bytes() == before) << "the output was written";
    EXPECT_EQ(gradient(nullptr, &o, &index, &g_desc, &in_float32, &error), GTH_OK) << error.message;
    EXPECT_TRUE(target.bytes() == Bytes(before.size())) << "sums of zeros";
  };
  expect_unchanged(gth_gather_gradient, rows, i_, out);
  expect_unchanged(gth_gather_elements_gradient, elements, i_, line);
  const Array again(GTH_DTYPE_FLOAT16, {4, 2}, std::vector<uint16_t>(8, 0x1234));
  expect_unchanged(gth_gather_nd_gradient, rows, t_, again);
}

// Gradients of bags allocate all their memory before they write.
TEST_F(AllocationFailures, G4_FailedGradientsOfBagsLeaveTheOutputUnchanged) {
  constexpr int32_t f16 = GTH_DTYPE_FLOAT16;
  const Array wide(f16, {4, 4}), rows(f16, {3, 4}), ids = indices64({6}, {0, 9, 3, 9, 1, 9}), weights(f16, {6});
  const Array target(f16, {4, 4}), unique(GTH_DTYPE_INT64, {4}), of_weights(f16, {3, 1});
  const Shape table_shape{4, 2}, ids_shape{3, 1}, rows_shape{3, 2};
  const int64_t columns[] = {8, 4}, apart[] = {16, 8}, halves[] = {4, 2};
  const gth_tensor_desc p = describe(f16, table_shape, wide.data(), columns);
  const gth_tensor_desc i = describe(GTH_DTYPE_INT64, ids_shape, ids.data(), apart);
  const gth_tensor_desc w = describe(f16, ids_shape, weights.data(), halves);
  const gth_tensor_desc r = describe(f16, rows_shape, rows.data(), columns);
  const gth_tensor_desc t = describe(f16, table_shape, target.data()), u = unique.desc(), o = of_weights.desc();
  gth_options options = with_bounds(GTH_BOUNDS_FILL);
  gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &p, &i, &r, &options);
  int64_t count = -1;
  const auto expect_unchanged = [&](const char* what, int64_t least, auto&& call) {
    for (int64_t n = 1;; ++n) {
      const Bytes before[] = {target.bytes(), unique.bytes(), of_weights.bytes()};
      Error error;
      gth_testing_fail_allocation(n, 0);
      const int32_t status = call(&error);
      const int64_t needed = gth_testing_allocations();
      gth_testing_fail_allocation(0, 0);
      if (needed < n) {
        EXPECT_EQ(status, GTH_OK) << what << ": " << error.message;
        EXPECT_GE(needed, least) << what;
        return;
      }
      ASSERT_STREQ(gth_status_name(status), "GTH_E_NOMEM") << what << ", allocation " << n;
      EXPECT_GT(error.value, 0);
      EXPECT_TRUE(target.bytes() == before[0] && unique.bytes() == before[1] && of_weights.bytes() == before[2]);
      EXPECT_EQ(count, -1);
    }
  };
  for (const int32_t pool : {GTH_POOL_MEAN, GTH_POOL_MAX}) {
    options.pool = pool;
    request.weights = pool == GTH_POOL_MEAN ? &w : nullptr;
    expect_unchanged("gradient", 8,
                     [&](gth_error* err) { return gth_gather_bags_gradient(nullptr, &request, &t, err); });
    expect_unchanged("sparse gradient", 8, [&](gth_error* err) {
      count = -1;
      return gth_gather_bags_sparse_gradient(nullptr, &request, &u, &t, &count, err);
    });
    count = -1;
  }
  options.pool = GTH_POOL_SQRTN;
  request.weights = &w;
  expect_unchanged("weights", 8,
                   [&](gth_error* err) { return gth_gather_bags_weight_gradient(nullptr, &request, &o, err); });
  const Array positions(GTH_DTYPE_INT64, rows_shape);
  const gth_tensor_desc n = positions.desc();
  const Bytes before = positions.bytes();
  bool has_failed = false;
  options.pool = GTH_POOL_MAX;
  request.weights = nullptr;
  expect_unchanged("positions", 6, [&](gth_error* err) {
    EXPECT_TRUE(positions.bytes() == before);
    const int32_t status = gth_gather_bags_positions(nullptr, &request, &n, err);
    has_failed |= status != GTH_OK;
    return status;
  });
  EXPECT_TRUE(has_failed && positions.bytes() != before);
}

TEST_F(AllocationFailures, G4_FailedPositionsOfScattersWriteNothing) {
  const Array target(GTH_DTYPE_FLOAT32, {6, 4}), updates(GTH_DTYPE_FLOAT32, {4, 9}), positions(GTH_DTYPE_INT64, {6, 4});
  const Array ids = indices64({9}, {0, 5, 3, 3, 2, 1, 0, 4, 5});
  const Shape of_target{6, 4}, of_updates{9, 4};
  const int64_t columns[] = {4, 24}, update_columns[] = {4, 36};
  const gth_tensor_desc t = describe(GTH_DTYPE_FLOAT32, of_target, target.data(), columns), i = ids.desc(),
                        u = describe(GTH_DTYPE_FLOAT32, of_updates, updates.data(), update_columns),
                        p = positions.desc();
  gth_options options = GTH_OPTIONS_INIT;
  options.reduction = GTH_REDUCTION_MAX;
  const gth_request request = GTH_REQUEST(GTH_OP_SCATTER, &t, &i, &u, &options);
  const Bytes before = positions.bytes();
  for (int64_t n = 1;; ++n) {
    Error error;
    gth_testing_fail_allocation(n, 0);
    const int32_t status = gth_scatter_positions(nullptr, &request, &p, &error);
    gth_testing_fail_allocation(0, 0);
    if (status == GTH_OK) {
      EXPECT_GT(n, 3);
      break;
    }
    EXPECT_STREQ(gth_status_name(status), "GTH_E_NOMEM");
    EXPECT_TRUE(positions.bytes() == before);
  }
  EXPECT_TRUE(positions.bytes() != before);
}

// Several requests need one common allocation. If it fails, none of them has run.
TEST_F(AllocationFailures, G4_FailedRequestsWriteNothing) {
  const Sample first(calls::scatter), second(calls::gather_gradient);
  const Bytes before[] = {first.table.bytes(), second.table.bytes()};
  const Bytes after[] = {first.expected(), second.expected()};
  const Mixed a(first.descs(), 5), b(second.descs(), 2);
  const gth_request requests[] = {a.request(first.op), b.request(second.op)};
  const gth_request* const pointers[] = {&requests[0], &requests[1]};
  Error error;
  gth_testing_fail_allocation(1, 1);
  const int32_t status = gth_run_many(nullptr, 2, pointers, &error);
  gth_testing_fail_allocation(0, 0);
  EXPECT_STREQ(gth_status_name(status), "GTH_E_NOMEM");
  EXPECT_EQ(error.item, -1);
  EXPECT_GT(error.value, 0);
  EXPECT_TRUE(first.table.bytes() == before[0] && second.table.bytes() == before[1]) << "a table was written";
  gth_testing_fail_allocation(2, 1);
  EXPECT_EQ(gth_run_many(nullptr, 2, pointers, &error), GTH_OK) << error.message;
  EXPECT_EQ(gth_testing_allocations(), 1);
  gth_testing_fail_allocation(0, 0);
  EXPECT_TRUE(first.table.bytes() == after[0] && second.table.bytes() == after[1]);
}

TEST_F(AllocationFailures, G4_FailedPlanRunsWriteNothing) {
  const Sample sample(calls::gather);
  const std::array<gth_tensor_desc, 3> descs = sample.descs();
  const Bytes before = sample.rows.bytes();
  Plan plan;
  ASSERT_EQ(calls::gather.plan(&descs[0], &descs[1], nullptr, nullptr, plan.out(), nullptr), GTH_OK);
  const gth_plan* const plans[] = {plan.get()};
  const gth_plan_args run = calls::args(GTH_OPEN, sample.table.data(), sample.indices.data(), sample.rows.data());
  const gth_plan_args* const runs[] = {&run};
  Error error;
  gth_testing_fail_allocation(1, 1);
  const int32_t status = gth_plan_run_many(nullptr, 1, plans, runs, &error);
  gth_testing_fail_allocation(0, 0);
  EXPECT_STREQ(gth_status_name(status), "GTH_E_NOMEM");
  EXPECT_EQ(error.item, -1);
  EXPECT_TRUE(sample.rows.bytes() == before) << "the output was written";
}

// float32 accumulation allocates when its request runs. Earlier requests are complete then, and this one has written
// nothing.
TEST_F(AllocationFailures, G4_FailedAccumulationKeepsEarlierRequests) {
  const Sample first(calls::gather);
  const Array target(GTH_DTYPE_FLOAT16, {4}, std::vector<uint16_t>(4, 0x3c00));
  const Array updates(GTH_DTYPE_FLOAT16, {3}, std::vector<uint16_t>(3, 0x3c00));
  const gth_tensor_desc t = target.desc(), u = updates.desc();
  const gth_options sums = reducing(GTH_REDUCTION_ADD, GTH_ACCUMULATE_FLOAT32);
  const Mixed a(first.descs(), 0);
  const gth_request requests[] = {a.request(first.op), GTH_REQUEST(GTH_OP_SCATTER, &t, &i_, &u, &sums)};
  const gth_request* const pointers[] = {&requests[0], &requests[1]};
  const Bytes before = target.bytes(), expected = first.expected();
  Error error;
  gth_testing_fail_allocation(2, 1);
  const int32_t status = gth_run_many(nullptr, 2, pointers, &error);
  gth_testing_fail_allocation(0, 0);
  EXPECT_STREQ(gth_status_name(status), "GTH_E_NOMEM");
  EXPECT_EQ(error.item, 1);
  EXPECT_TRUE(first.rows.bytes() == expected) << "the request before is complete";
  EXPECT_TRUE(target.bytes() == before) << "the target was written";
}

// Ranks this high store their dims in separate memory.
TEST_F(AllocationFailures, G4_StringsOfHighRankReturnNomem) {
  const int64_t offsets[] = {0, 3};
  const Shape shape(64, 1);
  for (const gth_deleter_fn deleter :
       {gth_deleter_fn{}, gth_deleter_fn{[](void* count) { ++*static_cast<int*>(count); }}}) {
    int deleted = 0;
    const auto make = [&](gth_tensor** out, gth_error* err) {
      return gth_tensor_from_strings(nullptr, 0, 64, shape.data(), offsets, "one", 3, deleter, &deleted, out, err);
    };
    const int64_t needed = expect_tensor("from_strings", make);
    EXPECT_GT(needed, 0);
    EXPECT_EQ(deleted, deleter ? 2 : 0) << "memory is taken over by a call that succeeds";
    Tensor strings;
    ASSERT_EQ(make(strings.out(), nullptr), GTH_OK);
    const Array first(GTH_DTYPE_INT64, Shape(64, 1), std::vector<int64_t>{0});
    const Tensor index(first.desc());
    const gth_options last = with_axis(63);
    expect_tensor("gather of strings", [&](gth_tensor** out, gth_error* err) {
      return calls::gather_elements.make(hooked_, strings.get(), index.get(), nullptr, &last, out, err);
    });
    expect_tensor("scatter of strings", [&](gth_tensor** out, gth_error* err) {
      return calls::scatter_elements.make(hooked_, strings.get(), index.get(), strings.get(), &last, out, err);
    });
  }
}

// Returns the number of tensors that can be created until the table of handles must grow.
size_t free_slots(const gth_tensor_desc& desc) {
  std::vector<gth_tensor*> held;
  gth_testing_fail_allocation(1, 1);
  for (gth_tensor* tensor; gth_tensor_borrow(&desc, &tensor, nullptr) == GTH_OK;) held.push_back(tensor);
  gth_testing_fail_allocation(0, 0);
  for (gth_tensor* each : held) EXPECT_EQ(gth_tensor_release(each), GTH_OK);
  return held.size();
}

// The slot of a tensor whose dims cannot be allocated is free again. A released slot is used again with a delay, so the
// numbers of free slots may differ a little.
TEST_F(AllocationFailures, G4_FailedTensorsOfHighRankReturnTheirSlots) {
  constexpr size_t failures = 500, delayed = 100;
  const Shape shape(64, 1);
  const Array wide(f32, shape);
  const gth_tensor_desc desc = wide.desc();
  const int64_t ends[] = {0, 1};
  std::vector<gth_tensor*> held(2000);
  for (gth_tensor*& each : held) ASSERT_EQ(gth_tensor_borrow(&p_, &each, nullptr), GTH_OK);
  for (gth_tensor* each : held) ASSERT_EQ(gth_tensor_release(each), GTH_OK);
  for (const bool of_strings : {false, true}) {
    const size_t before = free_slots(p_);
    ASSERT_GT(before, failures);
    for (size_t i = 0; i < failures; ++i) {
      gth_tensor* made = nullptr;
      gth_testing_fail_allocation(1, 1);
      ASSERT_EQ(of_strings ? gth_tensor_from_strings(nullptr, 0, 64, shape.data(), ends, "?", 1, nullptr, nullptr,
                                                     &made, nullptr)
                           : gth_tensor_borrow(&desc, &made, nullptr),
                GTH_E_NOMEM);
      gth_testing_fail_allocation(0, 0);
    }
    EXPECT_GT(free_slots(p_) + delayed, before) << (of_strings ? "strings" : "numbers");
  }
}

// The table of handles must grow and cannot.
TEST_F(AllocationFailures, G4_FullTableOfHandlesReturnsNomem) {
  std::vector<gth_tensor*> held;
  gth_tensor* tensor = nullptr;
  Error error;
  for (;;) {
    gth_testing_fail_allocation(1, 1);
    const int32_t status = gth_tensor_borrow(&p_, &tensor, &error);
    gth_testing_fail_allocation(0, 0);
    if (status) {
      EXPECT_EQ(status, GTH_E_NOMEM);
      EXPECT_EQ(tensor, nullptr);
      break;
    }
    held.push_back(tensor);
    ASSERT_LT(held.size(), 100000u);
  }
  // Contexts and plans allocate the object first, and then space in the table.
  gth_context* context = reinterpret_cast<gth_context*>(1);
  gth_testing_fail_allocation(2, 0);
  EXPECT_EQ(gth_context_create(nullptr, &context, &error), GTH_E_NOMEM);
  EXPECT_EQ(gth_testing_allocations(), 2);
  EXPECT_EQ(context, nullptr);
  gth_plan* plan = reinterpret_cast<gth_plan*>(1);
  gth_testing_fail_allocation(2, 0);
  EXPECT_EQ(calls::gather.plan(&p_, &i_, nullptr, nullptr, &plan, &error), GTH_E_NOMEM);
  EXPECT_EQ(gth_testing_allocations(), 2);
  EXPECT_EQ(plan, nullptr);
  gth_testing_fail_allocation(0, 0);
  ASSERT_EQ(gth_tensor_borrow(&p_, &tensor, &error), GTH_OK) << error.message;
  held.push_back(tensor);
  for (gth_tensor* each : held) EXPECT_EQ(gth_tensor_release(each), GTH_OK);
}

}  // namespace
