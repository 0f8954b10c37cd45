#include <memory>

#include "limits.hpp"
#include "samples.hpp"

// Several requests, or several plans, in one call.
namespace {

using namespace hostile;

// One request with its own memory. The operands in `handles` are tensor handles.
struct Item {
  explicit Item(const Operation& op, int32_t handles = 0)
      : sample(op),
        before(sample.written().bytes()),
        descs(sample.descs()),
        mixed(descs, handles),
        request(mixed.request(op)) {}

  void expect_written() const { EXPECT_TRUE(sample.written().bytes() == expected) << sample.op.number; }
  void expect_unchanged() const { EXPECT_TRUE(sample.written().bytes() == before) << sample.op.number; }

  const Sample sample;
  const Bytes before, expected = sample.expected();
  std::array<gth_tensor_desc, 3> descs;
  const Mixed mixed;
  gth_request request;
};

class RunMany : public ::testing::Test {
 protected:
  void add(const Operation& op, int32_t handles = 0) { items.push_back(std::make_unique<Item>(op, handles)); }

  void add_every() {
    int32_t handles = 0;
    for (const Operation& op : calls::every) add(op, handles++ % 8);
  }

  int32_t run() {
    requests.clear();
    for (const auto& item : items) requests.push_back(&item->request);
    return gth_run_many(nullptr, static_cast<int64_t>(requests.size()), requests.data(), &error);
  }

  void expect_unchanged() const {
    for (const auto& item : items) item->expect_unchanged();
  }

  std::vector<std::unique_ptr<Item>> items;
  std::vector<const gth_request*> requests;
  Error error;
};

TEST_F(RunMany, EveryOperationRunsInOneCall) {
  add_every();
  EXPECT_EQ(run(), GTH_OK) << error.message;
  EXPECT_EQ(error.message[0], 'x') << "on GTH_OK only status is written";
  for (const auto& item : items) item->expect_written();
}

// The first short_items requests are lowered once, and the others twice.
TEST_F(RunMany, RequestsAroundTheLimitRunInOneCall) {
  while (static_cast<int64_t>(items.size()) < limits::short_items - 2) add(calls::gather);
  for (int64_t more = -1; more <= 1; ++more) {
    add(calls::gather);
    ASSERT_EQ(static_cast<int64_t>(items.size()), limits::short_items + more);
    EXPECT_EQ(run(), GTH_OK) << error.message;
    for (const auto& item : items) item->expect_written();
  }
}

TEST_F(RunMany, ManyRequestsRunInOneCall) {
  while (static_cast<int64_t>(items.size()) <= limits::short_items) add_every();
  EXPECT_EQ(run(), GTH_OK) << error.message;
  for (const auto& item : items) item->expect_written();
}

TEST_F(RunMany, InvalidCountsAreRejected) {
  EXPECT_EQ(gth_run_many(nullptr, 0, nullptr, &error), GTH_OK) << error.message;
  add(calls::gather);
  const gth_request* const one[] = {&items[0]->request};
  EXPECT_EQ(gth_run_many(nullptr, 0, one, &error), GTH_OK) << error.message;
  for (int64_t count : {int64_t{-1}, INT64_MIN}) {
    expect_facts(gth_run_many(nullptr, count, one, &error), error,
                 {GTH_E_SHAPE, GTH_OPERAND_REQUEST, -1, -1, count, 0});
  }
  expect_facts(gth_run_many(nullptr, 1, nullptr, &error), error, {GTH_E_NULL, GTH_OPERAND_REQUEST});
  EXPECT_EQ(gth_run_many(nullptr, INT64_MAX, one, &error), GTH_E_NOMEM);
  EXPECT_EQ(error.item, -1);
  expect_unchanged();
}

// Nothing is written if any request is invalid.
TEST_F(RunMany, InvalidIndexOfOneRequestLeavesAllUnchanged) {
  add_every();
  for (size_t k = 0; k < items.size(); ++k) {
    items[k]->sample.set_index(2, -1);
    Facts facts{GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, -1, 4};
    facts.item = static_cast<int64_t>(k);
    expect_facts(run(), error, facts);
    expect_unchanged();
    items[k]->sample.set_index(2, 2);
  }
}

// Small gathers of dense operands have a path of their own, which only the shipped library takes.
class SmallGathers : public RunMany {
 protected:
  void SetUp() override {
    for (int32_t round = 0; round < 20; ++round) {
      for (const Operation* op : {&calls::gather, &calls::gather_nd, &calls::gather_elements}) add(*op);
    }
  }
};

TEST_F(SmallGathers, RunInOneCall) {
  EXPECT_EQ(run(), GTH_OK) << error.message;
  EXPECT_EQ(error.message[0], 'x') << "on GTH_OK only status is written";
  for (const auto& item : items) item->expect_written();
}

TEST_F(SmallGathers, InvalidIndexOfOneLeavesAllUnchanged) {
  for (size_t k : {size_t{0}, size_t{1}, size_t{2}, items.size() - 1}) {
    items[k]->sample.set_index(2, 4);
    Facts facts{GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, 4, 4};
    facts.item = static_cast<int64_t>(k);
    expect_facts(run(), error, facts);
    expect_unchanged();
    items[k]->sample.set_index(2, 2);
  }
}

TEST_F(SmallGathers, OverlapOfTwoLeavesAllUnchanged) {
  Item &first = *items[1], &last = *items[items.size() - 3];
  last.descs[2].data = first.sample.indices.data();
  last.request.rows = &last.descs[2];
  EXPECT_EQ(run(), GTH_E_ALIAS) << error.message;
  EXPECT_EQ(error.item, static_cast<int64_t>(items.size()) - 3);
  EXPECT_EQ(error.value, 1);
  expect_unchanged();
}

TEST_F(RunMany, InvalidRequestIsReportedWithItsItem) {
  add_every();
  for (size_t k = 0; k < items.size(); ++k) {
    const auto expect = [&](Facts facts) {
      facts.item = static_cast<int64_t>(k);
      expect_facts(run(), error, facts);
      expect_unchanged();
    };
    gth_request& request = items[k]->request;
    const gth_request kept = request;
    request.op = 0;
    expect({GTH_E_VERSION, GTH_OPERAND_REQUEST, -1, -1, 0, GTH_OP_LAST});
    request = kept;
    request.size = GTH_REQUEST_FIRST - 4;
    expect({GTH_E_VERSION, GTH_OPERAND_REQUEST, 0, -1, GTH_REQUEST_FIRST - 4, sizeof(gth_request)});
    request = kept;
    request.rows = nullptr;
    expect({GTH_E_NULL, operands_of(items[k]->sample.op)[2]});
    request = kept;
  }
  for (const auto& item : items) requests.push_back(&item->request);
  requests[4] = nullptr;
  Facts facts{GTH_E_NULL, GTH_OPERAND_REQUEST};
  facts.item = 4;
  expect_facts(gth_run_many(nullptr, 9, requests.data(), &error), error, facts);
  expect_unchanged();
}

// The written operand of the first item overlaps an operand of the second, in every combination.
TEST_F(RunMany, OverlappingItemsAreRejected) {
  for (const Operation& first : calls::every) {
    for (const Operation& second : calls::every) {
      for (size_t role = 0; role < 3; ++role) {
        for (const bool swapped : {false, true}) {
          SCOPED_TRACE(std::to_string(first.number) + ", " + std::to_string(second.number) + ", role " +
                       std::to_string(role) + (swapped ? ", swapped" : ""));
          items.clear();
          add(first);
          add(second);
          const Array& written = items[0]->sample.written();
          std::memset(written.data(), 0, written.bytes().size());  // valid indices
          // The indices of elements need more bytes than any written operand has.
          const Shape shape = items[1]->sample.indices.shape();
          if (role == 1 && count_of(shape) * 8 > static_cast<int64_t>(written.bytes().size())) continue;
          items[1]->descs[role].data = written.data();
          items[1]->request.table = &items[1]->descs[0];
          items[1]->request.indices = &items[1]->descs[1];
          items[1]->request.rows = &items[1]->descs[2];
          if (swapped) std::swap(items[0], items[1]);
          const Bytes zeros = written.bytes();
          EXPECT_EQ(run(), GTH_E_ALIAS) << error.message;
          EXPECT_EQ(error.item + error.value, 1) << "the items are 0 and 1";
          EXPECT_TRUE(error.item == 0 || error.item == 1);
          const Operation& blamed = items[static_cast<size_t>(error.item)]->sample.op;
          EXPECT_EQ(error.operand, operands_of(blamed)[is_gather(blamed) ? 2 : 0]);
          EXPECT_TRUE(written.bytes() == zeros) << "the output was written";
        }
      }
    }
  }
}

TEST_F(RunMany, SharedReadOnlyOperandsAreAccepted) {
  add(calls::gather);
  add(calls::gather);
  items[1]->descs[0] = items[0]->descs[0];
  items[1]->descs[1] = items[0]->descs[1];
  items[1]->request.table = &items[1]->descs[0];
  items[1]->request.indices = &items[1]->descs[1];
  EXPECT_EQ(run(), GTH_OK) << error.message;
  items[0]->expect_written();
  EXPECT_TRUE(items[1]->sample.rows.bytes() == items[0]->expected);
}

// Adjacent ranges do not overlap. One more byte does.
TEST_F(RunMany, AdjacentOutputsAreAccepted) {
  add(calls::gather);
  add(calls::gather);
  const Array memory(GTH_DTYPE_UINT8, {48});
  for (const bool overlaps : {false, true}) {
    for (size_t k = 0; k < 2; ++k) {
      items[k]->descs[2].data = memory.data() + (k == 0 ? 0 : overlaps ? 23 : 24);
      items[k]->request.rows = &items[k]->descs[2];
    }
    const Bytes before = memory.bytes();
    EXPECT_EQ(run(), overlaps ? GTH_E_ALIAS : GTH_OK) << error.message;
    if (overlaps) {
      EXPECT_TRUE(memory.bytes() == before);
    } else {
      EXPECT_EQ(std::memcmp(memory.data(), items[0]->expected.data(), 24), 0);
      EXPECT_EQ(std::memcmp(memory.data() + 24, items[1]->expected.data(), 24), 0);
    }
  }
}

// A gradient writes zeros to its whole table, even without tuples.
class EmptyGradient : public RunMany {
 protected:
  // Changes item `k`, a gradient along an axis, to one without tuples.
  void empty(size_t k) {
    Item& item = *items[k];
    item.descs[1].shape = no_tuples_.data();
    item.descs[2].shape = no_rows_.data();
    item.request = GTH_REQUEST(GTH_OP_GATHER_GRADIENT, &item.descs[0], &item.descs[1], &item.descs[2], nullptr);
  }

  const Shape no_tuples_{0}, no_rows_{0, 2};
};

TEST_F(EmptyGradient, OverlapIsRejected) {
  add(calls::gather_gradient);
  add(calls::gather);
  empty(0);
  items[1]->descs[0].data = items[0]->sample.table.data();
  items[1]->request.table = &items[1]->descs[0];
  EXPECT_EQ(run(), GTH_E_ALIAS) << error.message;
  expect_unchanged();
}

TEST_F(EmptyGradient, MissingMemoryIsRejected) {
  add(calls::gather);
  add(calls::gather_gradient);
  empty(1);
  items[1]->descs[0].data = nullptr;
  Facts facts{GTH_E_NULL, GTH_OPERAND_TARGET};
  facts.item = 1;
  expect_facts(run(), error, facts);
  expect_unchanged();
}

// Errors that depend on shapes only are found before anything is written.
TEST_F(RunMany, EmptyParamsThatAProfileRejectsLeaveAllUnchanged) {
  add(calls::gather);
  add(calls::gather_nd);
  const Shape empty{0, 2};
  const gth_options options = with_profile(GTH_PROFILE_TENSORFLOW);
  items[1]->descs[0].shape = empty.data();
  items[1]->request =
      GTH_REQUEST(GTH_OP_GATHER_ND, &items[1]->descs[0], &items[1]->descs[1], &items[1]->descs[2], &options);
  Facts facts{GTH_E_INDEX, GTH_OPERAND_PARAMS, 0};
  Error alone;
  EXPECT_EQ(gth_run_request(nullptr, &items[1]->request, &alone), GTH_E_INDEX);
  facts.value = alone.value;
  facts.limit = alone.limit;
  facts.item = 1;
  expect_facts(run(), error, facts);
  expect_unchanged();
}

TEST_F(RunMany, ContextRunsTheCallUntilItIsReleased) {
  add_every();
  gth_context* context = nullptr;
  ASSERT_EQ(gth_context_create(nullptr, &context, nullptr), GTH_OK);
  for (const auto& item : items) requests.push_back(&item->request);
  EXPECT_EQ(gth_run_many(context, 9, requests.data(), &error), GTH_OK) << error.message;
  for (const auto& item : items) item->expect_written();
  ASSERT_EQ(gth_context_release(context), GTH_OK);
  EXPECT_EQ(gth_run_many(context, 9, requests.data(), &error), GTH_E_HANDLE);
  EXPECT_EQ(error.operand, GTH_OPERAND_CONTEXT);
}

// ---- plans

class PlansMany : public RunMany {
 protected:
  void add_plans() {
    int32_t handles = 0;
    for (const Operation& op : calls::every) {
      if (is_gradient(op)) continue;
      add(op, handles % 8);
      plans.push_back(std::make_unique<Plan>());
      const Item& item = *items.back();
      ASSERT_EQ(gth_plan_create(&item.request, plans.back()->out(), &error), GTH_OK) << error.message;
      args.push_back(calls::args(GTH_OPEN, handles & 1 ? nullptr : item.sample.table.data(),
                                 handles & 2 ? nullptr : item.sample.indices.data(),
                                 handles & 4 ? nullptr : item.sample.rows.data()));
      ++handles;
    }
  }

  int32_t run_plans() {
    std::vector<const gth_plan*> plan_pointers;
    std::vector<const gth_plan_args*> args_pointers;
    for (const auto& plan : plans) plan_pointers.push_back(plan->get());
    for (const gth_plan_args& each : args) args_pointers.push_back(&each);
    return gth_plan_run_many(nullptr, static_cast<int64_t>(plans.size()), plan_pointers.data(), args_pointers.data(),
                             &error);
  }

  void expect_item(int64_t item, Facts facts) {
    facts.item = item;
    expect_facts(run_plans(), error, facts);
    expect_unchanged();
  }

  std::vector<std::unique_ptr<Plan>> plans;
  std::vector<gth_plan_args> args;
};

TEST_F(PlansMany, EveryOperationRunsInOneCall) {
  add_plans();
  EXPECT_EQ(run_plans(), GTH_OK) << error.message;
  for (const auto& item : items) item->expect_written();
}

TEST_F(PlansMany, InvalidCountsAreRejected) {
  add_plans();
  const gth_plan* const plan[] = {plans[0]->get()};
  const gth_plan_args* const one[] = {args.data()};
  EXPECT_EQ(gth_plan_run_many(nullptr, 0, nullptr, nullptr, &error), GTH_OK) << error.message;
  const Facts null{GTH_E_NULL, GTH_OPERAND_REQUEST};
  expect_facts(gth_plan_run_many(nullptr, 1, nullptr, one, &error), error, null);
  expect_facts(gth_plan_run_many(nullptr, 1, plan, nullptr, &error), error, null);
  for (int64_t count : {int64_t{-1}, INT64_MIN}) {
    expect_facts(gth_plan_run_many(nullptr, count, plan, one, &error), error,
                 {GTH_E_SHAPE, GTH_OPERAND_REQUEST, -1, -1, count, 0});
  }
  const gth_plan* const no_plan[] = {nullptr};
  const gth_plan_args* const no_args[] = {nullptr};
  Facts facts{GTH_E_NULL, GTH_OPERAND_PLAN};
  facts.item = 0;
  expect_facts(gth_plan_run_many(nullptr, 1, no_plan, one, &error), error, facts);
  expect_facts(gth_plan_run_many(nullptr, 1, plan, no_args, &error), error, facts);
  expect_unchanged();
}

TEST_F(PlansMany, InvalidRunIsReportedWithItsItem) {
  add_plans();
  for (size_t k = 0; k < plans.size(); ++k) {
    const auto item = static_cast<int64_t>(k);
    const gth_plan_args kept = args[k];
    items[k]->sample.set_index(2, 9);
    expect_item(item, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, 9, 4});
    items[k]->sample.set_index(2, 2);
    args[k].n = 3;
    expect_item(item, {GTH_E_SHAPE, GTH_OPERAND_PLAN, -1, -1, 3, GTH_OPEN});
    args[k] = kept;
    args[k].size = GTH_PLAN_ARGS_FIRST - 4;
    expect_item(item, {GTH_E_VERSION, GTH_OPERAND_PLAN, 0, -1, GTH_PLAN_ARGS_FIRST - 4, sizeof(gth_plan_args)});
    args[k] = kept;
    args[k].flags = 2;
    expect_item(item, {GTH_E_VERSION, GTH_OPERAND_PLAN, -1, -1, 2, GTH_ARGS_EXTENTS});
    args[k] = kept;
    ASSERT_EQ(gth_plan_extents(plans[k]->get(), &args[k], nullptr), GTH_OK);
    const int64_t needed = args[k].indices_extent--;
    if (items[k]->mixed.indices()->tensor) {
      EXPECT_EQ(needed, 0) << "the indices are bound";
    } else {
      expect_item(item, {GTH_E_SIZE, GTH_OPERAND_INDICES, -1, -1, needed - 1, needed});
    }
    args[k] = kept;
  }
  EXPECT_EQ(run_plans(), GTH_OK) << error.message;
}

TEST_F(PlansMany, OverlappingRunsAreRejected) {
  add_plans();
  for (size_t first = 0; first < plans.size(); ++first) {
    for (size_t second = 0; second < plans.size(); ++second) {
      if (first == second) continue;
      const gth_plan_args kept = args[second];
      const Item& item = *items[second];
      // Another run writes the memory that this run writes. A bound operand has no pointer.
      const void*& pointer = is_gather(item.sample.op) ? args[second].rows : args[second].table;
      if (pointer) {
        pointer = items[first]->sample.written().data();
        EXPECT_EQ(run_plans(), GTH_E_ALIAS) << first << ", " << second << ": " << error.message;
        EXPECT_EQ(error.item + error.value, static_cast<int64_t>(first + second));
        expect_unchanged();
      }
      args[second] = kept;
    }
  }
}

// One plan may run several times in one call.
TEST_F(PlansMany, OnePlanRunsTwice) {
  const Sample sample(calls::gather);
  const std::array<gth_tensor_desc, 3> descs = sample.descs();
  Plan plan;
  ASSERT_EQ(calls::gather.plan(&descs[0], &descs[1], nullptr, nullptr, plan.out(), nullptr), GTH_OK);
  const Array other(GTH_DTYPE_INT32, {3, 2});
  const gth_plan_args a = calls::args(GTH_OPEN, sample.table.data(), sample.indices.data(), sample.rows.data()),
                      b = calls::args(GTH_OPEN, sample.table.data(), sample.indices.data(), other.data());
  const gth_plan* const both[] = {plan.get(), plan.get()};
  const gth_plan_args* const two[] = {&a, &b};
  EXPECT_EQ(gth_plan_run_many(nullptr, 2, both, two, &error), GTH_OK) << error.message;
  EXPECT_TRUE(sample.rows.bytes() == sample.expected());
  EXPECT_TRUE(other.bytes() == sample.expected());
}

}  // namespace
