#include <cstddef>
#include <functional>

#include "samples.hpp"

// Operands are memory or tensor handles, in any mix.
namespace {

using namespace hostile;

std::string trace(const Operation& op, int32_t handles) {
  return "operation " + std::to_string(op.number) + ", handles " + std::to_string(handles);
}

TEST(Operands, EveryMixWritesTheSameBytes) {
  for (const Operation& op : calls::every) {
    const Sample sample(op);
    const Bytes before = sample.written().bytes(), expected = sample.expected();
    for (int32_t handles = 0; handles < 8; ++handles) {
      SCOPED_TRACE(trace(op, handles));
      const Mixed mixed(sample.descs(), handles);
      const gth_request request = mixed.request(op);
      const gth_request* const requests[] = {&request};
      Error error;
      const auto check = [&](int32_t status, const char* form) {
        EXPECT_EQ(status, GTH_OK) << form << ": " << error.message;
        EXPECT_EQ(error.message[0], 'x') << form << ": on GTH_OK only status is written";
        EXPECT_TRUE(sample.written().bytes() == expected) << form;
        std::copy(before.begin(), before.end(), sample.written().data());
      };
      check(gth_run(nullptr, op.number, mixed.table(), mixed.indices(), mixed.rows(), nullptr, &error), "run");
      check(gth_run_request(nullptr, &request, &error), "request");
      check(op.named(nullptr, mixed.table(), mixed.indices(), mixed.rows(), nullptr, &error), "named");
      check(gth_run_many(nullptr, 1, requests, &error), "many");
      const auto pointer = [&](int32_t role, const Array& array) { return handles & role ? nullptr : array.data(); };
      check(gth_run_at(nullptr, &request, pointer(1, sample.table), pointer(2, sample.indices), pointer(4, sample.rows),
                       &error),
            "at");
      if (is_gradient(op)) continue;
      Plan plan;
      ASSERT_EQ(gth_plan_create(&request, plan.out(), &error), GTH_OK) << error.message;
      check(gth_plan_run(nullptr, plan.get(), GTH_OPEN, pointer(1, sample.table), pointer(2, sample.indices),
                         pointer(4, sample.rows), &error),
            "plan");
    }
  }
}

TEST(Operands, AddressOfAnOperandThatNamesATensorIsRejected) {
  const Sample sample(calls::scatter);
  const Bytes before = sample.written().bytes();
  const int32_t names[] = {GTH_OPERAND_TARGET, GTH_OPERAND_INDICES, GTH_OPERAND_UPDATES};
  const void* const memory[] = {sample.table.data(), sample.indices.data(), sample.rows.data()};
  for (int32_t role = 0; role < 3; ++role) {
    const Mixed mixed(sample.descs(), 1 << role);
    const gth_request request = mixed.request(calls::scatter);
    Error error;
    EXPECT_EQ(gth_run_at(nullptr, &request, memory[0], memory[1], memory[2], &error), GTH_E_HANDLE);
    EXPECT_EQ(error.operand, names[role]);
  }
  EXPECT_TRUE(sample.written().bytes() == before);
}

TEST(Operands, DataOfARequestWithAddressesIsNotRead) {
  const Sample sample(calls::gather);
  std::array<gth_tensor_desc, 3> descs = sample.descs();
  for (gth_tensor_desc& each : descs) each.data = nullptr;
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &descs[0], &descs[1], &descs[2], nullptr);
  Error error;
  EXPECT_EQ(gth_run_at(nullptr, &request, sample.table.data(), sample.indices.data(), nullptr, &error), GTH_E_NULL);
  EXPECT_EQ(error.operand, GTH_OPERAND_OUT);
  EXPECT_EQ(gth_run_at(nullptr, &request, sample.table.data(), sample.indices.data(), sample.rows.data(), &error),
            GTH_OK);
  EXPECT_TRUE(sample.written().bytes() == sample.expected());
}

// The operands that an operation does not have, and the field of a struct for each of them.
template <class Struct>
using Field = decltype(Struct::bags) Struct::*;

template <class Struct>
struct Absent {
  int32_t operand;
  Field<Struct> field;
};

template <class Struct>
constexpr Absent<Struct> absent[] = {{GTH_OPERAND_BAGS, &Struct::bags}, {GTH_OPERAND_WEIGHTS, &Struct::weights}};

TEST(Operands, RequestWithAnOperandThatTheOperationLacksIsRejected) {
  for (const Operation& op : calls::every) {
    const Sample sample(op);
    const Bytes before = sample.written().bytes();
    for (int32_t handles : {0, 7}) {
      for (const auto& [operand, field] : absent<gth_request>) {
        SCOPED_TRACE(trace(op, handles));
        const Mixed mixed(sample.descs(), handles);
        gth_request request = mixed.request(op);
        request.*field = mixed.indices();
        const gth_request* const requests[] = {&request};
        Error error;
        const auto check = [&, expected = operand](int32_t status, const char* form) {
          EXPECT_EQ(status, GTH_E_VERSION) << form;
          EXPECT_EQ(error.operand, expected) << form;
        };
        check(gth_run_request(nullptr, &request, &error), "request");
        check(gth_run_many(nullptr, 1, requests, &error), "many");
        Plan plan;
        check(gth_plan_create(&request, plan.out(), &error), "plan");
        gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
        int64_t shape[GTH_MAX_NDIM];
        check(gth_infer(&request, &rows, GTH_MAX_NDIM, shape, &error), "infer");
        if (is_gather(op)) request.rows = nullptr;
        Tensor made;
        check(gth_make(nullptr, &request, made.out(), &error), "make");
      }
    }
    EXPECT_TRUE(sample.written().bytes() == before);
  }
}

TEST(Operands, PlanRunWithAnOperandThatTheOperationLacksIsRejected) {
  for (const Operation& op : calls::every) {
    if (is_gradient(op)) continue;
    const Sample sample(op);
    const Bytes before = sample.written().bytes();
    const Mixed operands(sample.descs(), 0);
    const gth_request request = operands.request(op);
    Plan plan;
    ASSERT_EQ(gth_plan_create(&request, plan.out(), nullptr), GTH_OK);
    const gth_plan* const handle = plan.get();
    for (const auto& [operand, field] : absent<gth_plan_args>) {
      SCOPED_TRACE(trace(op, 0));
      gth_plan_args args = calls::args(GTH_OPEN, sample.table.data(), sample.indices.data(), sample.rows.data());
      args.*field = sample.indices.data();
      const gth_plan_args* const every[] = {&args};
      Error error;
      const auto check = [&, expected = operand](int32_t status, const char* form) {
        EXPECT_EQ(status, GTH_E_VERSION) << form;
        EXPECT_EQ(error.operand, expected) << form;
      };
      check(gth_plan_run_args(nullptr, handle, &args, &error), "run");
      check(gth_plan_run_many(nullptr, 1, &handle, every, &error), "many");
      check(gth_plan_check(nullptr, handle, &args, &error), "check");
    }
    EXPECT_TRUE(sample.written().bytes() == before);
  }
}

TEST(Operands, FirstRoleWithoutDataIsReported) {
  for (const Operation& op : calls::every) {
    SCOPED_TRACE(trace(op, 0));
    const Sample sample(op);
    const bool gathers = is_gather(op);
    const int32_t names[] = {gathers ? GTH_OPERAND_PARAMS : GTH_OPERAND_TARGET, GTH_OPERAND_INDICES,
                             gathers ? GTH_OPERAND_OUT : GTH_OPERAND_UPDATES};
    for (size_t first = 0; first < 3; ++first) {
      std::array<gth_tensor_desc, 3> descs = sample.descs();
      for (size_t role = first; role < 3; ++role) descs[role].data = nullptr;
      Error error;
      EXPECT_EQ(gth_run(nullptr, op.number, &descs[0], &descs[1], &descs[2], nullptr, &error), GTH_E_NULL);
      EXPECT_EQ(error.operand, names[first]);
    }
  }
}

TEST(Operands, EveryMixMakesTheSameTensor) {
  for (const Operation& op : calls::every) {
    const Sample sample(op);
    const Bytes before = sample.written().bytes(), expected = sample.expected();
    for (int32_t handles = 0; handles < 8; ++handles) {
      SCOPED_TRACE(trace(op, handles));
      const Mixed mixed(sample.descs(), handles);
      Error error;
      Tensor made;
      ASSERT_EQ(op.make(nullptr, mixed.table(), mixed.indices(), is_gather(op) ? nullptr : mixed.rows(), nullptr,
                        made.out(), &error),
                GTH_OK)
          << error.message;
      const gth_tensor_desc desc = made.desc();
      EXPECT_EQ(Shape(desc.shape, desc.shape + desc.ndim), sample.written().shape());
      EXPECT_EQ(std::memcmp(desc.data, expected.data(), expected.size()), 0);
      EXPECT_TRUE(sample.written().bytes() == before) << "an operand was written";
    }
  }
}

// A request for a new result has no rows.
TEST(Operands, MakeOfAGatherRejectsRows) {
  for (const Operation& op : {calls::gather, calls::gather_nd, calls::gather_elements}) {
    const Sample sample(op);
    for (int32_t handles : {0, 4}) {
      const Mixed mixed(sample.descs(), handles);
      Error error;
      gth_tensor* made = reinterpret_cast<gth_tensor*>(1);
      expect_facts(op.make(nullptr, mixed.table(), mixed.indices(), mixed.rows(), nullptr, &made, &error), error,
                   {GTH_E_VERSION, GTH_OPERAND_OUT});
      EXPECT_EQ(made, nullptr);
    }
  }
}

// Makes one operand, or the options, of a valid call invalid.
struct Fault {
  const char* name;
  std::function<Facts(const Sample&, std::array<gth_tensor_desc, 3>*, gth_options*)> spoil;
};

const Fault faults[] = {
    {"index",
     [](const Sample& sample, std::array<gth_tensor_desc, 3>*, gth_options*) {
       sample.set_index(1, 4);
       return Facts{GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 4, 4};
     }},
    {"dtype",
     [](const Sample& sample, std::array<gth_tensor_desc, 3>* descs, gth_options*) {
       (*descs)[2].dtype = GTH_DTYPE_FLOAT32;
       return Facts{GTH_E_DTYPE, operands_of(sample.op)[2], -1, -1, GTH_DTYPE_FLOAT32, GTH_DTYPE_INT32};
     }},
    {"indices dtype",
     [](const Sample&, std::array<gth_tensor_desc, 3>* descs, gth_options*) {
       (*descs)[1].dtype = GTH_DTYPE_FLOAT64;
       return Facts{GTH_E_DTYPE, GTH_OPERAND_INDICES, -1, -1, GTH_DTYPE_FLOAT64, 0};
     }},
    {"read-only",
     [](const Sample& sample, std::array<gth_tensor_desc, 3>* descs, gth_options*) {
       const size_t role = is_gather(sample.op) ? 2 : 0;
       (*descs)[role].flags = GTH_TENSOR_READONLY;
       return Facts{GTH_E_READONLY, operands_of(sample.op)[role]};
     }},
    {"overlap",
     [](const Sample& sample, std::array<gth_tensor_desc, 3>* descs, gth_options*) {
       const size_t written = is_gather(sample.op) ? 2 : 0, read = 2 - written;
       (*descs)[2].data = (*descs)[0].data;
       const std::array<int32_t, 3> operands = operands_of(sample.op);
       return Facts{GTH_E_ALIAS, operands[written], -1, -1, operands[read], 0};
     }},
    {"switch",
     [](const Sample&, std::array<gth_tensor_desc, 3>*, gth_options* options) {
       options->bounds = 99;
       return Facts{GTH_E_VERSION,           GTH_OPERAND_OPTIONS, offsetof(gth_options, bounds), -1, 99,
                    GTH_BOUNDS_ERROR_PARTIAL};
     }},
    {"out_dtype",
     [](const Sample&, std::array<gth_tensor_desc, 3>*, gth_options* options) {
       options->out_dtype = GTH_DTYPE_FLOAT32;
       return Facts{GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, out_dtype), -1, GTH_DTYPE_FLOAT32, 0};
     }},
};

TEST(Operands, EveryMixHasTheSameErrors) {
  for (const Operation& op : calls::every) {
    for (const Fault& fault : faults) {
      const Sample sample(op);
      std::array<gth_tensor_desc, 3> descs = sample.descs();
      gth_options options = GTH_OPTIONS_INIT;
      const Facts facts = fault.spoil(sample, &descs, &options);
      const Bytes before = sample.written().bytes();
      std::string message;
      for (int32_t handles = 0; handles < 8; ++handles) {
        SCOPED_TRACE(trace(op, handles) + ", " + fault.name);
        const Mixed mixed(descs, handles);
        const gth_request request = mixed.request(op, &options);
        Error error;
        expect_facts(gth_run_request(nullptr, &request, &error), error, facts, "request");
        if (message.empty()) message = error.message;
        EXPECT_EQ(error.message, message);
        expect_facts(op.named(nullptr, mixed.table(), mixed.indices(), mixed.rows(), &options, &error), error, facts,
                     "named");
        EXPECT_EQ(error.message, message);
        EXPECT_TRUE(sample.written().bytes() == before) << "the output was written";
      }
    }
  }
}

// Expects that every call with the operand of a role rejects it with the same facts.
void expect_refused_by_all(const Sample& sample, size_t role, const gth_tensor_desc& operand, Facts facts) {
  const Operation& op = sample.op;
  std::array<gth_tensor_desc, 3> descs = sample.descs();
  descs[role] = operand;
  const gth_request request = GTH_REQUEST(op.number, &descs[0], &descs[1], &descs[2], nullptr);
  const Bytes before = sample.written().bytes();
  Error error;
  expect_facts(gth_run_request(nullptr, &request, &error), error, facts, "request");
  expect_facts(op.named(nullptr, &descs[0], &descs[1], &descs[2], nullptr, &error), error, facts, "named");
  gth_plan* plan = reinterpret_cast<gth_plan*>(1);
  expect_facts(gth_plan_create(&request, &plan, &error), error, facts, "plan");
  EXPECT_EQ(plan, nullptr);
  if (role < 2) {
    gth_tensor_desc inferred = GTH_TENSOR_DESC_INIT;
    int64_t shape[GTH_MAX_NDIM];
    expect_facts(gth_infer(&request, &inferred, GTH_MAX_NDIM, shape, &error), error, facts, "infer");
  }
  if (role < 2 || !is_gather(op)) {
    gth_request making = request;
    if (is_gather(op)) making.rows = nullptr;
    gth_tensor* made = reinterpret_cast<gth_tensor*>(1);
    expect_facts(gth_make(nullptr, &making, &made, &error), error, facts, "make");
    EXPECT_EQ(made, nullptr);
  }
  const gth_request* const requests[] = {&request};
  facts.item = 0;
  expect_facts(gth_run_many(nullptr, 1, requests, &error), error, facts, "many");
  EXPECT_TRUE(sample.written().bytes() == before) << "the output was written";
}

const std::function<void(gth_tensor_desc*)> setters[] = {
    [](gth_tensor_desc* desc) { desc->dtype = GTH_DTYPE_INT32; },
    [](gth_tensor_desc* desc) { desc->device = GTH_DEVICE_CPU; },
    [](gth_tensor_desc* desc) { desc->device_id = 1; },
    [](gth_tensor_desc* desc) { desc->ndim = 2; },
    [](gth_tensor_desc* desc) { desc->flags = GTH_TENSOR_READONLY; },
    [](gth_tensor_desc* desc) { desc->data = desc; },
    [](gth_tensor_desc* desc) { desc->shape = &desc->offset; },
    [](gth_tensor_desc* desc) { desc->strides = &desc->offset; },
    [](gth_tensor_desc* desc) { desc->codec = reinterpret_cast<gth_codec*>(desc); },
    [](gth_tensor_desc* desc) { desc->offset = 8; },
    [](gth_tensor_desc* desc) { desc->extent = 32; },
};

TEST(Operands, OtherFieldsBesideATensorMustBeZero) {
  for (const Operation& op : calls::every) {
    const Sample sample(op);
    for (size_t role = 0; role < 3; ++role) {
      const Tensor tensor(sample.descs()[role]);
      for (size_t field = 0; field < std::size(setters); ++field) {
        SCOPED_TRACE(trace(op, 0) + ", role " + std::to_string(role) + ", field " + std::to_string(field));
        gth_tensor_desc operand = GTH_TENSOR_DESC_HANDLE(tensor.get());
        setters[field](&operand);
        expect_refused_by_all(sample, role, operand, {GTH_E_VERSION, operands_of(op)[role]});
      }
    }
  }
}

// Other operands are refused before their codec is read.
TEST(Operands, OnlyParamsHaveACodec) {
  const gth_codec unknown{};
  for (const Operation& op : calls::every) {
    const Sample sample(op);
    for (size_t role = 0; role < 3; ++role) {
      gth_tensor_desc operand = sample.descs()[role];
      const int32_t name = operands_of(op)[role];
      operand.codec = name == GTH_OPERAND_PARAMS ? &unknown : reinterpret_cast<gth_codec*>(1);
      const Facts of_codec{GTH_E_VERSION, GTH_OPERAND_CODEC, 0, -1, 0, sizeof(gth_codec)};
      expect_refused_by_all(sample, role, operand,
                            name == GTH_OPERAND_PARAMS ? of_codec : Facts{GTH_E_UNSUPPORTED, name});
    }
  }
}

TEST(Operands, E5_InvalidTensorHandlesAreRejected) {
  const Sample any(calls::gather);
  gth_context* context = nullptr;
  Plan plan;
  const gth_request request = Mixed(any.descs(), 0).request(any.op);
  ASSERT_EQ(gth_context_create(nullptr, &context, nullptr), GTH_OK);
  std::array<gth_tensor_desc, 3> descs = any.descs();
  ASSERT_EQ(calls::gather.plan(&descs[0], &descs[1], &descs[2], nullptr, plan.out(), nullptr), GTH_OK);
  gth_tensor* released = nullptr;
  ASSERT_EQ(gth_tensor_borrow(&descs[0], &released, nullptr), GTH_OK);
  ASSERT_EQ(gth_tensor_release(released), GTH_OK);
  const void* const values[] = {
      released, context, plan.get(), &request, reinterpret_cast<void*>(1), reinterpret_cast<void*>(UINTPTR_MAX)};
  for (const Operation& op : calls::every) {
    const Sample sample(op);
    for (size_t role = 0; role < 3; ++role) {
      for (size_t value = 0; value < std::size(values); ++value) {
        SCOPED_TRACE(trace(op, 0) + ", role " + std::to_string(role) + ", value " + std::to_string(value));
        const gth_tensor_desc operand = GTH_TENSOR_DESC_HANDLE(static_cast<const gth_tensor*>(values[value]));
        expect_refused_by_all(sample, role, operand, {GTH_E_HANDLE, operands_of(op)[role]});
      }
    }
  }
  EXPECT_EQ(gth_context_release(context), GTH_OK);
}

TEST(Operands, E7_UnknownOperationsAreRejected) {
  const Sample sample(calls::gather);
  const std::array<gth_tensor_desc, 3> descs = sample.descs();
  Error error;
  for (int32_t number : {0, -1, GTH_OP_LAST + 1, INT32_MIN, INT32_MAX}) {
    const Facts facts{GTH_E_VERSION, GTH_OPERAND_REQUEST, -1, -1, number, GTH_OP_LAST};
    const gth_request request = GTH_REQUEST(number, &descs[0], &descs[1], &descs[2], nullptr);
    expect_facts(gth_run(nullptr, number, &descs[0], &descs[1], &descs[2], nullptr, &error), error, facts, "run");
    expect_facts(gth_run(nullptr, number, nullptr, nullptr, nullptr, nullptr, &error), error, facts, "before NULL");
    expect_facts(gth_run_request(nullptr, &request, &error), error, facts, "request");
    gth_tensor* made = reinterpret_cast<gth_tensor*>(1);
    expect_facts(gth_make(nullptr, &request, &made, &error), error, facts, "make");
    EXPECT_EQ(made, nullptr);
    gth_plan* plan = reinterpret_cast<gth_plan*>(1);
    expect_facts(gth_plan_create(&request, &plan, &error), error, facts, "plan");
    EXPECT_EQ(plan, nullptr);
    gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
    expect_facts(gth_infer(&request, &rows, 0, nullptr, &error), error, facts, "infer");
  }
}

TEST(Operands, E1_NullRequestsAreRejected) {
  Error error;
  const Facts facts{GTH_E_NULL, GTH_OPERAND_REQUEST};
  gth_tensor* made = reinterpret_cast<gth_tensor*>(1);
  gth_plan* plan = reinterpret_cast<gth_plan*>(1);
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  expect_facts(gth_run_request(nullptr, nullptr, &error), error, facts, "request");
  expect_facts(gth_make(nullptr, nullptr, &made, &error), error, facts, "make");
  expect_facts(gth_plan_create(nullptr, &plan, &error), error, facts, "plan");
  expect_facts(gth_infer(nullptr, &rows, 0, nullptr, &error), error, facts, "infer");
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(plan, nullptr);
}

// To make a gradient, only dtype and shape of the table are needed.
TEST(Operands, TablesOfGradientsAreNotRead) {
  for (const Operation& op : {calls::gather_gradient, calls::gather_nd_gradient, calls::gather_elements_gradient}) {
    const Sample sample(op);
    std::array<gth_tensor_desc, 3> descs = sample.descs();
    descs[0].data = nullptr;
    descs[0].flags = GTH_TENSOR_READONLY;
    const Bytes expected = sample.expected();
    Tensor made;
    Error error;
    ASSERT_EQ(op.make(nullptr, &descs[0], &descs[1], &descs[2], nullptr, made.out(), &error), GTH_OK) << error.message;
    EXPECT_EQ(std::memcmp(made.desc().data, expected.data(), expected.size()), 0);
  }
}

// Copies and partitions also accept operands of either kind.
TEST(Operands, CopiesAcceptEveryMix) {
  const Array source(GTH_DTYPE_INT32, {3}, std::vector<int32_t>{1, 2, 3}), destination(GTH_DTYPE_INT32, {3});
  const gth_tensor_desc from = source.desc(), to = destination.desc();
  const Tensor from_tensor(from), to_tensor(to);
  const calls::Operand sources[] = {&from, from_tensor.get()}, destinations[] = {&to, to_tensor.get()};
  for (const calls::Operand& s : sources) {
    for (const calls::Operand& d : destinations) {
      std::memset(destination.data(), 0, 12);
      Error error;
      EXPECT_EQ(calls::copy(nullptr, s, d, &error), GTH_OK) << error.message;
      EXPECT_TRUE(destination.bytes() == source.bytes());
    }
  }
  gth_tensor_desc both = GTH_TENSOR_DESC_HANDLE(from_tensor.get());
  both.ndim = 1;
  Error error;
  expect_facts(calls::copy(nullptr, &both, &to, &error), error, {GTH_E_VERSION, GTH_OPERAND_PARAMS});
  expect_facts(calls::copy(nullptr, &from, &both, &error), error, {GTH_E_VERSION, GTH_OPERAND_OUT});
}

TEST(Operands, PartitionsAcceptEveryMix) {
  const Array ids = indices64({4}, {3, 0, 2, 1});
  const gth_tensor_desc memory = ids.desc();
  Tensor tensor(memory);
  gth_shards shards = GTH_SHARDS_INIT;
  shards.rows = 4;
  shards.count = 2;
  const gth_tensor_desc handle = GTH_TENSOR_DESC_HANDLE(tensor.get());
  for (const gth_tensor_desc* operand : {&memory, &handle}) {
    int64_t bytes = 0, counts[2], local[4];
    Error error;
    ASSERT_EQ(gth_partition_scratch(operand, &shards, 0, &bytes, &error), GTH_OK) << error.message;
    std::vector<char> scratch(static_cast<size_t>(bytes));
    gth_parts parts = GTH_PARTS_INIT;
    parts.capacity = 4;
    parts.counts = counts;
    parts.local = local;
    parts.scratch = scratch.data();
    parts.scratch_bytes = bytes;
    ASSERT_EQ(gth_partition(nullptr, operand, &shards, nullptr, &parts, &error), GTH_OK) << error.message;
    EXPECT_EQ(Shape(counts, counts + 2), (Shape{2, 2}));
    EXPECT_EQ(Shape(local, local + 4), (Shape{0, 1, 1, 0}));
  }
}

TEST(Operands, NewTensorsMustBeDescribedAsMemory) {
  const Array array(GTH_DTYPE_INT32, {3});
  const Tensor tensor(array.desc());
  const gth_tensor_desc handle = GTH_TENSOR_DESC_HANDLE(tensor.get());
  gth_tensor* made = reinterpret_cast<gth_tensor*>(1);
  Error error;
  expect_facts(gth_tensor_borrow(&handle, &made, &error), error, {GTH_E_VERSION, GTH_OPERAND_TENSOR});
  EXPECT_EQ(made, nullptr);
  const auto deleter = [](void*) { ADD_FAILURE() << "the memory was not taken over"; };
  expect_facts(gth_tensor_adopt(nullptr, &handle, deleter, nullptr, &made, &error), error,
               {GTH_E_VERSION, GTH_OPERAND_TENSOR});
  EXPECT_EQ(made, nullptr);
}

}  // namespace
