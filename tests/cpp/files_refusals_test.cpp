#include "files.hpp"
#include "samples.hpp"

// Calls that do not accept tables in files, and invalid arguments of the calls that do.
namespace {

using namespace files;
using hostile::Array, hostile::Facts, hostile::Plan, hostile::Tensor;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32, i64 = GTH_DTYPE_INT64;

// Tensors over memory segments: a table of floats, and indices.
class Opened {
 public:
  Opened(int32_t dtype, Shape shape, const void* data) : shape_(std::move(shape)) {
    gth_segment segment = GTH_SEGMENT_INIT;
    segment.data = data;
    segment.rows = shape_[0];
    const gth_segment* const given[] = {&segment};
    const gth_tensor_desc desc = hostile::describe(dtype, shape_, nullptr);
    Error error;
    EXPECT_EQ(gth_tensor_open(nullptr, &desc, 1, given, nullptr, tensor_.out(), &error), GTH_OK) << error.message;
  }
  gth_tensor_desc desc() const { return GTH_TENSOR_DESC_HANDLE(tensor_.get()); }
  const gth_tensor* get() const { return tensor_.get(); }

 private:
  Shape shape_;
  Tensor tensor_;
};

class FilesRefusals : public ::testing::Test {
 protected:
  // Expects that no form of a request accepts it.
  void expect_refused(const gth_request& request, int32_t operand, const char* what) {
    const Facts facts{GTH_E_UNSUPPORTED, operand};
    Error error;
    expect_facts(gth_run_request(nullptr, &request, &error), error, facts, what);
    Plan plan;
    expect_facts(gth_plan_create(&request, plan.out(), &error), error, facts, what);
    const gth_request* const all[] = {&request};
    Facts item = facts;
    item.item = 0;
    expect_facts(gth_run_many(nullptr, 1, all, &error), error, item, what);
  }

  const std::vector<float> numbers_ = std::vector<float>(20, 3);
  const std::vector<int64_t> ids_ = {1, 0, 2, 1};
  const Opened table_{f32, {4, 5}, numbers_.data()}, line_{f32, {4}, numbers_.data()}, index_{i64, {4}, ids_.data()};
  const gth_tensor_desc t_ = table_.desc(), l_ = line_.desc(), x_ = index_.desc();
  const Array memory_{f32, {4, 5}}, indices_ = hostile::indices64({4}, {1, 0, 2, 1}),
                                    tuples_ = hostile::indices64({4, 1}, {1, 0, 2, 1}),
                                    elements_{i64, {4, 5}, std::vector<int64_t>(20)};
  const gth_tensor_desc m_ = memory_.desc(), i_ = indices_.desc();
  const Array out_{f32, {4, 5}};
  const gth_tensor_desc o_ = out_.desc();
};

TEST_F(FilesRefusals, M1_OtherOperandsAreRefused) {
  for (const calls::Operation& op : calls::every) {
    const bool gathers = op.number <= GTH_OP_GATHER_ELEMENTS;
    const gth_tensor_desc indices = op.number % 3 == 1 ? i_ : op.number % 3 == 2 ? tuples_.desc() : elements_.desc();
    const Array target(f32, {4, 5}), rows(f32, {4, 5});
    const gth_tensor_desc given = target.desc(), other = rows.desc();
    const std::string name = "operation " + std::to_string(op.number);
    const int32_t of_table = gathers ? GTH_OPERAND_PARAMS : GTH_OPERAND_TARGET;
    const int32_t of_rows = gathers ? GTH_OPERAND_OUT : GTH_OPERAND_UPDATES;
    const gth_request by_index = GTH_REQUEST(op.number, &given, &x_, &other, nullptr);
    expect_refused(by_index, GTH_OPERAND_INDICES, (name + " indices").c_str());
    const gth_request by_rows = GTH_REQUEST(op.number, &given, &indices, &t_, nullptr);
    expect_refused(by_rows, of_rows, (name + " rows").c_str());
    if (gathers) continue;
    const gth_request by_target = GTH_REQUEST(op.number, &t_, &indices, &other, nullptr);
    expect_refused(by_target, of_table, (name + " target").c_str());
    gth_tensor* made = nullptr;
    Error error;
    expect_facts(gth_make(nullptr, &by_target, &made, &error), error, {GTH_E_UNSUPPORTED, of_table}, name.c_str());
  }
}

TEST_F(FilesRefusals, M1_OperandsOfBagsAreRefused) {
  const Array offsets = hostile::indices64({2}, {0, 2}), pools(f32, {2, 5}), target(f32, {4, 5}), factors(f32, {4}),
              positions(i64, {2, 5}), unique(i64, {4});
  const Opened borders(i64, {2}, ids_.data());
  const gth_tensor_desc b = offsets.desc(), p = pools.desc(), w = factors.desc(), bad = borders.desc();
  gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &m_, &i_, &p, nullptr);
  request.bags = &bad;
  expect_refused(request, GTH_OPERAND_BAGS, "bags");
  request.bags = &b;
  request.weights = &l_;
  expect_refused(request, GTH_OPERAND_WEIGHTS, "weights");
  request.weights = &w;
  request.indices = &x_;
  expect_refused(request, GTH_OPERAND_INDICES, "indices");
  request.indices = &i_;
  request.rows = &t_;
  expect_refused(request, GTH_OPERAND_OUT, "out");
  // A table in files has no gradients and no positions.
  request.rows = &p;
  request.table = &t_;
  const gth_tensor_desc g = target.desc(), u = unique.desc(), n = positions.desc();
  int64_t count = 0;
  const Facts facts{GTH_E_UNSUPPORTED, GTH_OPERAND_PARAMS};
  Error error;
  expect_facts(gth_gather_bags_gradient(nullptr, &request, &g, &error), error, facts, "gradient");
  expect_facts(gth_gather_bags_sparse_gradient(nullptr, &request, &u, &g, &count, &error), error, facts, "sparse");
  expect_facts(gth_gather_bags_weight_gradient(nullptr, &request, &w, &error), error, facts, "weight gradient");
  gth_options maximum = GTH_OPTIONS_INIT;
  maximum.pool = GTH_POOL_MAX;
  request.options = &maximum;
  request.weights = nullptr;
  expect_facts(gth_gather_bags_positions(nullptr, &request, &n, &error), error, facts, "positions");
  // Nor is it their output.
  request.table = &m_;
  EXPECT_EQ(gth_gather_bags_gradient(nullptr, &request, &t_, &error), GTH_E_UNSUPPORTED) << error.message;
  EXPECT_EQ(gth_gather_bags_sparse_gradient(nullptr, &request, &x_, &g, &count, &error), GTH_E_UNSUPPORTED);
  EXPECT_EQ(gth_gather_bags_positions(nullptr, &request, &t_, &error), GTH_E_UNSUPPORTED) << error.message;
}

TEST_F(FilesRefusals, M1_OtherFunctionsAreRefused) {
  Error error;
  expect_facts(gth_copy(nullptr, &t_, &o_, &error), error, {GTH_E_UNSUPPORTED, GTH_OPERAND_PARAMS}, "copy from");
  expect_facts(gth_copy(nullptr, &m_, &t_, &error), error, {GTH_E_UNSUPPORTED, GTH_OPERAND_OUT}, "copy to");
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  const gth_tensor_desc before = desc;
  const Facts of_tensor{GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR};
  expect_facts(gth_tensor_describe(table_.get(), &desc, &error), error, of_tensor, "describe");
  EXPECT_EQ(std::memcmp(&desc, &before, sizeof desc), 0);
  for (const uint32_t flags : {0, GTH_EXPORT_COPY, GTH_EXPORT_NO_COPY}) {
    struct DLManagedTensorVersioned* versioned = nullptr;
    struct DLManagedTensor* legacy = nullptr;
    expect_facts(gth_tensor_to_dlpack(nullptr, table_.get(), flags, &versioned, &error), error, of_tensor, "dlpack");
    expect_facts(gth_tensor_to_dlpack_legacy(nullptr, table_.get(), flags, &legacy, &error), error, of_tensor, "old");
    EXPECT_EQ(versioned, nullptr);
    EXPECT_EQ(legacy, nullptr);
  }
  const int64_t* offsets = nullptr;
  const void* bytes = nullptr;
  EXPECT_EQ(gth_tensor_strings(table_.get(), &offsets, &bytes, &error), GTH_E_DTYPE);
  gth_shards shards = GTH_SHARDS_INIT;
  shards.rows = 4;
  shards.count = 2;
  int64_t scratch = 0, counts[2], local[4];
  gth_parts parts = {sizeof(gth_parts), 0, 4, counts, local, nullptr, nullptr, nullptr, 0};
  const Facts of_indices{GTH_E_UNSUPPORTED, GTH_OPERAND_INDICES};
  expect_facts(gth_partition_scratch(&x_, &shards, 0, &scratch, &error), error, of_indices, "scratch");
  expect_facts(gth_partition(nullptr, &x_, &shards, nullptr, &parts, &error), error, of_indices, "partition");
  const gth_request scatter = GTH_REQUEST(GTH_OP_SCATTER, &t_, &i_, &m_, nullptr);
  EXPECT_EQ(gth_scatter_positions(nullptr, &scatter, &o_, &error), GTH_E_UNSUPPORTED) << error.message;
  EXPECT_EQ(error.operand, GTH_OPERAND_TARGET);
}

// The calls of tables in files reject other tensors.
TEST_F(FilesRefusals, M1_OtherTensorsAreRefused) {
  const Tensor memory(m_);
  gth_files_stats stats = GTH_FILES_STATS_INIT;
  Error error;
  const Facts of_tensor{GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR};
  expect_facts(gth_tensor_stats(memory.get(), &stats, &error), error, of_tensor, "stats");
  EXPECT_EQ(stats.mode, 0);
  expect_facts(gth_tensor_prefetch(nullptr, memory.get(), &i_, nullptr, &error), error, of_tensor, "prefetch");
  expect_facts(gth_tensor_prefetch(nullptr, table_.get(), &x_, nullptr, &error), error,
               {GTH_E_UNSUPPORTED, GTH_OPERAND_INDICES}, "indices");
}

TEST_F(FilesRefusals, M2_ReleasedTablesAreRefused) {
  gth_tensor* tensor = nullptr;
  gth_segment segment = GTH_SEGMENT_INIT;
  segment.data = numbers_.data();
  segment.rows = 4;
  const gth_segment* const given[] = {&segment};
  const Shape shape{4, 5};
  const gth_tensor_desc desc = hostile::describe(f32, shape, nullptr);
  Error error;
  ASSERT_EQ(gth_tensor_open(nullptr, &desc, 1, given, nullptr, &tensor, &error), GTH_OK) << error.message;
  const gth_tensor_desc table = GTH_TENSOR_DESC_HANDLE(tensor);
  Plan plan;
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &table, &i_, &o_, nullptr);
  ASSERT_EQ(gth_plan_create(&request, plan.out(), &error), GTH_OK) << error.message;
  EXPECT_EQ(gth_plan_run(nullptr, plan.get(), GTH_OPEN, nullptr, i_.data, out_.data(), &error), GTH_OK);
  EXPECT_EQ(gth_plan_run(nullptr, plan.get(), GTH_OPEN, memory_.data(), i_.data, out_.data(), &error), GTH_E_HANDLE);
  EXPECT_EQ(error.operand, GTH_OPERAND_PARAMS);
  ASSERT_EQ(gth_tensor_release(tensor), GTH_OK);
  const Facts of_params{GTH_E_HANDLE, GTH_OPERAND_PARAMS}, of_tensor{GTH_E_HANDLE, GTH_OPERAND_TENSOR};
  expect_facts(gth_run_request(nullptr, &request, &error), error, of_params, "run");
  expect_facts(gth_plan_run(nullptr, plan.get(), GTH_OPEN, nullptr, i_.data, out_.data(), &error), error, of_params,
               "plan");
  gth_files_stats stats = GTH_FILES_STATS_INIT;
  expect_facts(gth_tensor_stats(tensor, &stats, &error), error, of_tensor, "stats");
  expect_facts(gth_tensor_prefetch(nullptr, tensor, &i_, nullptr, &error), error, of_tensor, "prefetch");
  EXPECT_EQ(gth_tensor_release(tensor), GTH_E_HANDLE);
}

// The scales of a packed table are in a tensor of segments, which is released before the table.
TEST_F(FilesRefusals, M2_ReleasedScalesAreRefused) {
  const std::vector<uint8_t> codes(4 * 8, 2);
  const std::vector<float> factors = {1, 2, 3, 4};
  const auto open = [&](const gth_tensor_desc& desc, const void* data, gth_tensor** out) {
    gth_segment segment = GTH_SEGMENT_INIT;
    segment.data = data;
    segment.rows = 4;
    const gth_segment* const given[] = {&segment};
    Error error;
    EXPECT_EQ(gth_tensor_open(nullptr, &desc, 1, given, nullptr, out, &error), GTH_OK) << error.message;
  };
  const Shape column{4, 1}, shape{4, 8}, gathered{4, 8};
  for (const bool table_is_opened : {false, true}) {
    gth_tensor *scales = nullptr, *table = nullptr;
    open(hostile::describe(f32, column, nullptr), factors.data(), &scales);
    gth_tensor_desc named = GTH_TENSOR_DESC_HANDLE(scales);
    gth_codec codec = GTH_CODEC_INIT;
    codec.code = GTH_CODE_UINT8;
    codec.scale_place = GTH_PLACE_OPERAND;
    codec.scales = &named;
    gth_tensor_desc desc = hostile::describe(f32, shape, table_is_opened ? nullptr : codes.data());
    desc.codec = &codec;
    Error error;
    if (table_is_opened) {
      open(desc, codes.data(), &table);
    } else {
      ASSERT_EQ(gth_tensor_borrow(&desc, &table, &error), GTH_OK) << error.message;
    }
    named = GTH_TENSOR_DESC_INIT;
    codec = GTH_CODEC_INIT;
    const Array out(f32, {4, 8});
    const gth_tensor_desc p = GTH_TENSOR_DESC_HANDLE(table), o = out.desc();
    const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &p, &i_, &o, nullptr);
    Plan plan;
    ASSERT_EQ(gth_plan_create(&request, plan.out(), &error), GTH_OK) << error.message;
    ASSERT_EQ(gth_run_request(nullptr, &request, &error), GTH_OK) << error.message;
    const float first[] = {4, 2, 6, 4};
    for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(reinterpret_cast<const float*>(out.data())[i * 8], first[i]);
    EXPECT_EQ(gth_tensor_release(scales), GTH_OK);
    const Facts facts{GTH_E_HANDLE, GTH_OPERAND_SCALES};
    const Bytes before = out.bytes();
    expect_facts(gth_run_request(nullptr, &request, &error), error, facts, "run");
    expect_facts(gth_plan_run(nullptr, plan.get(), GTH_OPEN, nullptr, i_.data, out.data(), &error), error, facts,
                 "plan");
    EXPECT_TRUE(out.bytes() == before);
    EXPECT_EQ(gth_tensor_release(table), GTH_OK);
  }
}

// An output of one request is a segment of the table of another one.
TEST_F(FilesRefusals, M3_OutputsInSegmentsOfAnotherRequestAreRefused) {
  std::vector<float> numbers(20, 5);
  const Opened table(f32, {4, 5}, numbers.data());
  const gth_tensor_desc params = table.desc();
  const Shape shape{4, 5};
  const gth_tensor_desc inside = hostile::describe(f32, shape, numbers.data());
  const gth_request one = GTH_REQUEST(GTH_OP_GATHER, &params, &i_, &o_, nullptr);
  const gth_request two = GTH_REQUEST(GTH_OP_GATHER, &m_, &i_, &inside, nullptr);
  const gth_request own = GTH_REQUEST(GTH_OP_GATHER, &params, &i_, &inside, nullptr);
  Error error;
  EXPECT_EQ(gth_run_request(nullptr, &own, &error), GTH_E_ALIAS) << error.message;
  const Bytes before = out_.bytes();
  for (const auto& [first, second] : {std::pair{&one, &two}, {&two, &one}, {&one, &own}}) {
    const gth_request* const both[] = {first, second};
    EXPECT_EQ(gth_run_many(nullptr, 2, both, &error), GTH_E_ALIAS) << error.message;
    EXPECT_TRUE(out_.bytes() == before) << "the output was written";
    EXPECT_TRUE(numbers == std::vector<float>(20, 5)) << "the segment was written";
  }
}

}  // namespace
