#include <functional>
#include <memory>

#include "hostile.hpp"

// Two arguments of a call are invalid. The call reports the check that comes first in the order of the header.
namespace {

using namespace hostile;

enum class Order {
  pointer,
  structs,
  handle,
  dtype,
  rank,
  attribute,
  shape,
  size,
  stride,
  device,
  readonly,
  overlap,
  index
};

struct Flaw {
  const char* name;
  Order order;
  int32_t status;
  std::function<void()> plant;
};

// A valid call and the flaws that its arguments can have.
class Call {
 public:
  virtual ~Call() = default;
  virtual int32_t run() = 0;
  virtual std::vector<Flaw> flaws() = 0;

 protected:
  Error error_;
};

// Tests each flaw alone, and each pair of flaws of different checks. `make` returns a new call.
void expect_order(const std::function<std::unique_ptr<Call>()>& make) {
  ASSERT_EQ(make()->run(), GTH_OK);
  const size_t count = make()->flaws().size();
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) {
      const std::unique_ptr<Call> call = make();
      const std::vector<Flaw> flaws = call->flaws();
      const Flaw &first = flaws[i], &second = flaws[j];
      if (i != j && first.order >= second.order) continue;
      second.plant();
      if (i != j) first.plant();
      EXPECT_EQ(call->run(), first.status) << first.name << " and " << second.name;
    }
  }
}

// Removes the flaws that do not apply to a call.
std::vector<Flaw> without(std::initializer_list<const char*> names, std::vector<Flaw> all) {
  const auto is_removed = [&](const Flaw& flaw) {
    return std::find(names.begin(), names.end(), std::string(flaw.name)) != names.end();
  };
  all.erase(std::remove_if(all.begin(), all.end(), is_removed), all.end());
  return all;
}

template <class T>
T* garbage() {
  return reinterpret_cast<T*>(uintptr_t{1});
}

// A description of a released tensor. Other fields must stay zero.
const gth_tensor_desc released = GTH_TENSOR_DESC_HANDLE(garbage<gth_tensor>());

// The operands of a request. Each flaw changes another field, so that flaws of one operand can be combined.
class Operands : public Call {
 public:
  explicit Operands(const Operation& op) : op_(op) {}

  std::vector<Flaw> flaws() override {
    std::vector<Flaw> all = {
        {"table is NULL", Order::pointer, GTH_E_NULL, [&] { no_table_ = true; }},
        {"indices are NULL", Order::pointer, GTH_E_NULL, [&] { no_indices_ = true; }},
        {"size of table", Order::structs, GTH_E_VERSION, [&] { table_.size = 4; }},
        {"flags of indices", Order::structs, GTH_E_VERSION, [&] { indices_.flags = 64; }},
        {"size of options", Order::structs, GTH_E_VERSION, [&] { options_.size = 4; }},
        {"switch of options", Order::structs, GTH_E_VERSION, [&] { options_.bounds = 99; }},
        {"order of options", Order::structs, GTH_E_VERSION, [&] { options_.order = 99; }},
        {"reserved field of options", Order::structs, GTH_E_VERSION, [&] { options_.reserved = 1; }},
        {"dtype of indices", Order::dtype, GTH_E_DTYPE, [&] { indices_.dtype = GTH_DTYPE_FLOAT32; }},
        {"rank of table", Order::rank, GTH_E_RANK, [&] { table_.ndim = 65; }},
        {"batch_dims", Order::attribute, GTH_E_BATCH, [&] { options_.batch_dims = 50; }},
        {"extent of indices", Order::shape, GTH_E_SHAPE, [&] { indices_shape_[0] = -5; }},
        {"size of indices", Order::size, GTH_E_SIZE, [&] { indices_shape_[0] = rows_shape_[0] = INT64_MAX / 8 + 1; }},
    };
    if (op_.number % 3 == 0) all[10].status = GTH_E_BATCH;
    return all;
  }

 protected:
  // The flaws, including those of memory. A shape query has no memory.
  std::vector<Flaw> with_memory() {
    std::vector<Flaw> all = Operands::flaws();
    const bool gathers = op_.number <= GTH_OP_GATHER_ELEMENTS;
    all.push_back({"rows are NULL", Order::pointer, GTH_E_NULL, [&] { no_rows_ = true; }});
    all.push_back({"codec of rows", Order::structs, GTH_E_UNSUPPORTED, [&] { rows_.codec = garbage<gth_codec>(); }});
    all.push_back({"context", Order::handle, GTH_E_HANDLE, [&] { context_ = garbage<gth_context>(); }});
    all.push_back({"strides of indices", Order::stride, GTH_E_STRIDE, [&] { indices_.offset = -800; }});
    all.push_back({"device of indices", Order::device, GTH_E_DEVICE, [&] { indices_.device = 77; }});
    all.push_back({"flag of the written operand", Order::readonly, GTH_E_READONLY,
                   [&, gathers] { (gathers ? rows_ : table_).flags = GTH_TENSOR_READONLY; }});
    all.push_back({"index", Order::index, GTH_E_INDEX, [&] { index_values_[0] = 4; }});
    return all;
  }

  const gth_tensor_desc* table() const { return no_table_ ? nullptr : &table_; }
  const gth_tensor_desc* indices() const { return no_indices_ ? nullptr : &indices_; }
  const gth_tensor_desc* rows() const { return no_rows_ ? nullptr : &rows_; }

  const Operation op_;
  gth_context* context_ = nullptr;
  bool no_table_ = false, no_indices_ = false, no_rows_ = false;
  float table_values_[4] = {}, rows_values_[3] = {};
  int64_t index_values_[3] = {3, 0, 1};
  int64_t table_shape_[1] = {4}, indices_shape_[2] = {3, 1}, rows_shape_[1] = {3};
  gth_tensor_desc table_ = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, table_shape_, table_values_);
  gth_tensor_desc indices_ =
      GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, op_.number % 3 == 2 ? 2 : 1, indices_shape_, index_values_);
  gth_tensor_desc rows_ = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, rows_shape_, rows_values_);
  gth_options options_ = GTH_OPTIONS_INIT;
};

class RunOperation : public Operands {
 public:
  using Operands::Operands;

  int32_t run() override { return op_.run(context_, table(), indices(), rows(), &options_, &error_); }

  std::vector<Flaw> flaws() override {
    std::vector<Flaw> all = with_memory();
    const bool gathers = op_.number <= GTH_OP_GATHER_ELEMENTS;
    all.push_back({"overlap", Order::overlap, GTH_E_ALIAS,
                   [&, gathers] { (gathers ? rows_ : table_).data = gathers ? table_values_ : rows_values_; }});
    return all;
  }
};

TEST(CheckOrder, RunReportsTheFirstCheck) {
  for (const Operation& op : calls::every) {
    SCOPED_TRACE("operation " + std::to_string(op.number));
    expect_order([&] { return std::make_unique<RunOperation>(op); });
  }
}

class Make : public Operands {
 public:
  using Operands::Operands;

  int32_t run() override {
    Tensor made;
    const gth_request request = GTH_REQUEST(op_.number, table(), indices(), given_rows(), &options_);
    return gth_make(context_, &request, made.out(), &error_);
  }

  std::vector<Flaw> flaws() override {
    if (!gathers()) return without({"flag of the written operand"}, with_memory());  // the target is only read
    std::vector<Flaw> all = Operands::flaws();
    all.push_back({"context", Order::handle, GTH_E_HANDLE, [&] { context_ = garbage<gth_context>(); }});
    all.push_back({"rows of a result", Order::structs, GTH_E_VERSION, [&] { has_rows_ = true; }});
    return all;
  }

 private:
  bool gathers() const { return op_.number <= GTH_OP_GATHER_ELEMENTS; }
  const gth_tensor_desc* given_rows() const { return !gathers() || has_rows_ ? rows() : nullptr; }

  bool has_rows_ = false;
};

TEST(CheckOrder, MakeReportsTheFirstCheck) {
  for (const Operation& op : calls::every) {
    SCOPED_TRACE("operation " + std::to_string(op.number));
    expect_order([&] { return std::make_unique<Make>(op); });
  }
}

class Infer : public Operands {
 public:
  using Operands::Operands;

  int32_t run() override {
    const gth_request request = GTH_REQUEST(op_.number, table(), indices(), nullptr, &options_);
    return gth_infer(&request, no_rows_ ? nullptr : &inferred_, 1, shape_, &error_);
  }

  std::vector<Flaw> flaws() override {
    std::vector<Flaw> all = without({"size of indices"}, Operands::flaws());  // a query reads no sizes
    all.push_back({"rows are NULL", Order::pointer, GTH_E_NULL, [&] { no_rows_ = true; }});
    all.push_back({"size of rows", Order::structs, GTH_E_VERSION, [&] { inferred_.size = 4; }});
    return all;
  }

 private:
  gth_tensor_desc inferred_ = GTH_TENSOR_DESC_INIT;
  int64_t shape_[1];
};

TEST(CheckOrder, ShapeQueryReportsTheFirstCheck) {
  for (const Operation& op : calls::every) {
    SCOPED_TRACE("operation " + std::to_string(op.number));
    expect_order([&] { return std::make_unique<Infer>(op); });
  }
}

class CreatePlan : public Operands {
 public:
  using Operands::Operands;

  int32_t run() override {
    Plan plan;
    return op_.plan(table(), indices(), &rows_, &options_, plan.out(), &error_);
  }

  // A plan has no context and reads no index. Rows may be NULL.
  std::vector<Flaw> flaws() override { return without({"context", "index", "rows are NULL"}, with_memory()); }
};

TEST(CheckOrder, PlanReportsTheFirstCheck) {
  for (const Operation& op : {calls::gather, calls::gather_nd, calls::scatter, calls::scatter_nd}) {
    SCOPED_TRACE("operation " + std::to_string(op.number));
    expect_order([&] { return std::make_unique<CreatePlan>(op); });
  }
}

// The calls with arguments of a run.
class PlanCall : public Call {
 public:
  enum class What { run, check, extents, many };

  explicit PlanCall(What what) : what_(what) {
    EXPECT_EQ(calls::gather.plan(&table_.get(), &indices_.get(), nullptr, nullptr, plan_.out(), nullptr), GTH_OK);
  }

  int32_t run() override {
    const gth_plan* plan = is_null_ ? nullptr : is_garbage_ ? garbage<gth_plan>() : plan_.get();
    const gth_plan_args* args = no_args_ ? nullptr : &args_;
    switch (what_) {
      case What::run: return gth_plan_run_args(context_, plan, args, &error_);
      case What::check: return gth_plan_check(context_, plan, args, &error_);
      case What::extents: return gth_plan_extents(plan, &args_, &error_);
      default: return gth_plan_run_many(context_, 1, &plan, &args, &error_);
    }
  }

  std::vector<Flaw> flaws() override {
    std::vector<Flaw> all = {
        {"plan is NULL", Order::pointer, GTH_E_NULL, [&] { is_null_ = true; }},
        {"size of args", Order::structs, GTH_E_VERSION, [&] { args_.size = 4; }},
        {"flags of args", Order::structs, GTH_E_VERSION, [&] { args_.flags = 2; }},
        {"plan", Order::handle, GTH_E_HANDLE, [&] { is_garbage_ = true; }},
        {"n", Order::shape, GTH_E_SHAPE, [&] { args_.n = 7; }},
    };
    if (what_ == What::extents) return all;
    all.push_back({"args are NULL", Order::pointer, GTH_E_NULL, [&] { no_args_ = true; }});
    all.push_back({"context", Order::handle, GTH_E_HANDLE, [&] { context_ = garbage<gth_context>(); }});
    all.push_back({"extent", Order::size, GTH_E_SIZE, [&] {
                     args_.flags |= GTH_ARGS_EXTENTS;
                     args_.table_extent = args_.rows_extent = 100;
                   }});
    all.push_back({"data is NULL", Order::overlap, GTH_E_NULL, [&] { args_.indices = nullptr; }});
    all.push_back({"index", Order::index, GTH_E_INDEX, [&] { index_values_[0] = 4; }});
    return all;
  }

 private:
  struct Described {
    Shape shape;
    int32_t dtype;
    gth_tensor_desc desc{};
    const gth_tensor_desc& get() { return desc = describe(dtype, shape, nullptr); }
  };

  const What what_;
  Described table_{{4}, GTH_DTYPE_FLOAT32}, indices_{{3}, GTH_DTYPE_INT64};
  Plan plan_;
  gth_context* context_ = nullptr;
  bool is_null_ = false, is_garbage_ = false, no_args_ = false;
  float table_values_[4] = {}, rows_values_[3] = {};
  int64_t index_values_[3] = {3, 0, 1};
  gth_plan_args args_ = calls::args(GTH_OPEN, table_values_, index_values_, rows_values_);
};

TEST(CheckOrder, RunOfAPlanReportsTheFirstCheck) {
  for (const auto what : {PlanCall::What::run, PlanCall::What::check, PlanCall::What::extents, PlanCall::What::many}) {
    SCOPED_TRACE(static_cast<int>(what));
    expect_order([&] { return std::make_unique<PlanCall>(what); });
  }
}

// Runs a part of a plan.
class PartOfAPlan : public Call {
 public:
  PartOfAPlan() {
    const Shape table{4}, indices{3};
    const gth_tensor_desc p = describe(GTH_DTYPE_FLOAT32, table, nullptr),
                          i = describe(GTH_DTYPE_INT64, indices, nullptr);
    EXPECT_EQ(calls::gather.plan(&p, &i, nullptr, nullptr, owner_.out(), nullptr), GTH_OK);
    plan_ = owner_.get();
  }

  int32_t run() override { return gth_plan_run_parts(context_, plan_, n_, 0, last_, table_, indices_, rows_, &error_); }

  std::vector<Flaw> flaws() override {
    return {{"plan is NULL", Order::pointer, GTH_E_NULL, [&] { plan_ = nullptr; }},
            {"plan", Order::handle, GTH_E_HANDLE, [&] { plan_ = garbage<gth_plan>(); }},
            {"context", Order::handle, GTH_E_HANDLE, [&] { context_ = garbage<gth_context>(); }},
            {"n", Order::shape, GTH_E_SHAPE, [&] { n_ = 7; }},
            {"last", Order::size, GTH_E_SIZE, [&] { last_ = 4; }},
            {"data is NULL", Order::overlap, GTH_E_NULL, [&] { rows_ = nullptr; }},
            {"index", Order::index, GTH_E_INDEX, [&] { indices_[1] = 4; }}};
  }

 private:
  Plan owner_;
  const gth_plan* plan_;
  gth_context* context_ = nullptr;
  int64_t n_ = GTH_OPEN, last_ = 2;
  float table_[4] = {}, values_[3] = {};
  float* rows_ = values_;
  int64_t indices_[3] = {3, 0, 1};
};

TEST(CheckOrder, PartOfAPlanReportsTheFirstCheck) {
  expect_order([] { return std::make_unique<PartOfAPlan>(); });
}

class InferPlan : public Call {
 public:
  int32_t run() override { return gth_plan_infer(plan_, GTH_OPEN, no_rows_ ? nullptr : &rows_, 1, shape_, &error_); }

  std::vector<Flaw> flaws() override {
    return {{"plan is NULL", Order::pointer, GTH_E_NULL, [&] { plan_ = nullptr; }},
            {"rows are NULL", Order::pointer, GTH_E_NULL, [&] { no_rows_ = true; }},
            {"size of rows", Order::structs, GTH_E_VERSION, [&] { rows_.size = 4; }},
            {"plan", Order::handle, GTH_E_HANDLE, [&] { plan_ = garbage<gth_plan>(); }}};
  }

  InferPlan() {
    const Shape table{4}, indices{3};
    const gth_tensor_desc p = describe(GTH_DTYPE_FLOAT32, table, nullptr),
                          i = describe(GTH_DTYPE_INT64, indices, nullptr);
    EXPECT_EQ(calls::gather.plan(&p, &i, nullptr, nullptr, owner_.out(), nullptr), GTH_OK);
    plan_ = owner_.get();
  }

 private:
  Plan owner_;
  const gth_plan* plan_;
  bool no_rows_ = false;
  gth_tensor_desc rows_ = GTH_TENSOR_DESC_INIT;
  int64_t shape_[1];
};

TEST(CheckOrder, ShapeQueryOfAPlanReportsTheFirstCheck) {
  expect_order([] { return std::make_unique<InferPlan>(); });
}

class Copy : public Call {
 public:
  int32_t run() override {
    return gth_copy(context_,
                    no_source_           ? nullptr
                    : source_is_garbage_ ? &released
                                         : &source_,
                    no_destination_ ? nullptr : &destination_, &error_);
  }

  std::vector<Flaw> flaws() override {
    return {
        {"source is NULL", Order::pointer, GTH_E_NULL, [&] { no_source_ = true; }},
        {"destination is NULL", Order::pointer, GTH_E_NULL, [&] { no_destination_ = true; }},
        {"size of destination", Order::structs, GTH_E_VERSION, [&] { destination_.size = 4; }},
        {"source", Order::handle, GTH_E_HANDLE, [&] { source_is_garbage_ = true; }},
        {"context", Order::handle, GTH_E_HANDLE, [&] { context_ = garbage<gth_context>(); }},
        {"dtype of destination", Order::dtype, GTH_E_DTYPE, [&] { destination_.dtype = GTH_DTYPE_INT8; }},
        {"rank of destination", Order::rank, GTH_E_RANK, [&] { destination_.ndim = 0; }},
        {"offset of source", Order::stride, GTH_E_STRIDE, [&] { source_.offset = -8; }},
        {"device of source", Order::device, GTH_E_DEVICE, [&] { source_.device = 77; }},
        {"flags of destination", Order::readonly, GTH_E_READONLY, [&] { destination_.flags = GTH_TENSOR_READONLY; }},
        {"overlap", Order::overlap, GTH_E_ALIAS, [&] { destination_.data = values_; }}};
  }

 private:
  gth_context* context_ = nullptr;
  bool no_source_ = false, no_destination_ = false, source_is_garbage_ = false;
  float values_[3] = {}, copy_[3] = {};
  int64_t shape_[1] = {3};
  gth_tensor_desc source_ = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, shape_, values_);
  gth_tensor_desc destination_ = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, shape_, copy_);
};

TEST(CheckOrder, CopyReportsTheFirstCheck) {
  expect_order([] { return std::make_unique<Copy>(); });
}

// The numbers of shards are checked before ids, and those of parts after them.
class Partition : public Call {
 public:
  int32_t run() override {
    return gth_partition(context_, ids(), no_shards_ ? nullptr : &shards_, &options_, no_parts_ ? nullptr : &parts_,
                         &error_);
  }

  std::vector<Flaw> flaws() override {
    return {{"ids are NULL", Order::pointer, GTH_E_NULL, [&] { no_ids_ = true; }},
            {"shards are NULL", Order::pointer, GTH_E_NULL, [&] { no_shards_ = true; }},
            {"borders are NULL", Order::pointer, GTH_E_NULL, [&] { shards_.borders = nullptr; }},
            {"parts are NULL", Order::pointer, GTH_E_NULL, [&] { no_parts_ = true; }},
            {"size of ids", Order::structs, GTH_E_VERSION, [&] { ids_.size = 4; }},
            {"size of options", Order::structs, GTH_E_VERSION, [&] { options_.size = 4; }},
            {"size of parts", Order::structs, GTH_E_VERSION, [&] { parts_.size = 4; }},
            {"flags of parts", Order::structs, GTH_E_VERSION, [&] { parts_.flags = 64; }},
            {"context", Order::handle, GTH_E_HANDLE, [&] { context_ = garbage<gth_context>(); }},
            {"ids", Order::handle, GTH_E_HANDLE, [&] { ids_are_garbage_ = true; }},
            {"dtype of ids", Order::dtype, GTH_E_DTYPE, [&] { ids_.dtype = GTH_DTYPE_FLOAT32; }},
            {"rank of ids", Order::rank, GTH_E_RANK, [&] { ids_.ndim = 65; }},
            {"extent of ids", Order::shape, GTH_E_SHAPE, [&] { ids_shape_[0] = -1; }},
            {"offset of ids", Order::stride, GTH_E_STRIDE, [&] { ids_.offset = -8; }},
            {"device of ids", Order::device, GTH_E_DEVICE, [&] { ids_.device = 77; }},
            {"capacity", Order::readonly, GTH_E_SIZE, [&] { parts_.capacity = 2; }},
            {"scratch_bytes", Order::readonly, GTH_E_SIZE, [&] { parts_.scratch_bytes = 8; }},
            {"counts are NULL", Order::readonly, GTH_E_NULL, [&] { parts_.counts = nullptr; }},
            {"id", Order::index, GTH_E_INDEX, [&] { values_[1] = 8; }}};
  }

 protected:
  const gth_tensor_desc* ids() {
    if (no_ids_) return nullptr;
    if (!ids_are_garbage_) return &ids_;
    released_ = released;
    released_.size = ids_.size;
    return &released_;
  }

  gth_tensor_desc released_;
  gth_context* context_ = nullptr;
  bool no_ids_ = false, no_shards_ = false, no_parts_ = false, ids_are_garbage_ = false;
  int64_t values_[3] = {7, 0, 5}, ids_shape_[1] = {3}, borders_[3] = {0, 4, 8};
  int64_t counts_[2], local_[3], scratch_[16];
  gth_tensor_desc ids_ = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, ids_shape_, values_);
  gth_shards shards_ = {sizeof(gth_shards), GTH_SHARDS_BORDERS, 8, 2, borders_};
  gth_options options_ = GTH_OPTIONS_INIT;
  gth_parts parts_ = {sizeof(gth_parts), 0, 3, counts_, local_, nullptr, nullptr, scratch_, sizeof scratch_};
};

TEST(CheckOrder, PartitionReportsTheFirstCheck) {
  expect_order([] { return std::make_unique<Partition>(); });
}

class PartitionOfInvalidShards : public Partition {
 public:
  std::vector<Flaw> flaws() override {
    std::vector<Flaw> all = without({"borders are NULL"}, Partition::flaws());
    // Order::handle is the last check before the numbers of shards.
    for (Flaw& flaw : all) {
      if (flaw.order > Order::handle) flaw.order = Order::index;
    }
    all.push_back({"rows of shards", Order::dtype, GTH_E_SHAPE, [&] { shards_.rows = -1; }});
    all.push_back({"borders of shards", Order::dtype, GTH_E_SHAPE, [&] { borders_[1] = 9; }});
    return all;
  }
};

TEST(CheckOrder, PartitionReportsNumbersOfShardsBeforeIds) {
  expect_order([] { return std::make_unique<PartitionOfInvalidShards>(); });
}

class Scratch : public Partition {
 public:
  int32_t run() override {
    int64_t bytes;
    return gth_partition_scratch(ids(), no_shards_ ? nullptr : &shards_, parts_.flags, no_parts_ ? nullptr : &bytes,
                                 &error_);
  }

  std::vector<Flaw> flaws() override {
    return without(
        {"context", "size of options", "size of parts", "capacity", "scratch_bytes", "counts are NULL", "id"},
        Partition::flaws());
  }
};

TEST(CheckOrder, ScratchOfAPartitionReportsTheFirstCheck) {
  expect_order([] { return std::make_unique<Scratch>(); });
}

class CreateContext : public Call {
 public:
  int32_t run() override {
    gth_context* context = nullptr;
    const int32_t status = gth_context_create(&options_, &context, &error_);
    gth_context_release(context);
    return status;
  }

  std::vector<Flaw> flaws() override {
    return {{"free is NULL", Order::pointer, GTH_E_NULL,
             [&] {
               options_.alloc = [](void*, int64_t, int64_t, int32_t, int32_t, CUstream_st*) -> void* {
                 return nullptr;
               };
             }},
            {"flags", Order::structs, GTH_E_VERSION, [&] { options_.flags = 1; }},
            {"threads", Order::structs, GTH_E_VERSION, [&] { options_.threads = -1; }},
            {"device", Order::device, GTH_E_DEVICE, [&] { options_.device = 77; }}};
  }

 private:
  gth_context_options options_ = GTH_CONTEXT_OPTIONS_INIT;
};

TEST(CheckOrder, CreationOfAContextReportsTheFirstCheck) {
  expect_order([] { return std::make_unique<CreateContext>(); });
}

class Adopt : public Call {
 public:
  int32_t run() override {
    Tensor tensor;
    return gth_tensor_adopt(context_, no_desc_ ? nullptr : &desc_, deleter_, nullptr, tensor.out(), &error_);
  }

  std::vector<Flaw> flaws() override {
    return {{"desc is NULL", Order::pointer, GTH_E_NULL, [&] { no_desc_ = true; }},
            {"deleter is NULL", Order::pointer, GTH_E_NULL, [&] { deleter_ = nullptr; }},
            {"size", Order::structs, GTH_E_VERSION, [&] { desc_.size = 4; }},
            {"context", Order::handle, GTH_E_HANDLE, [&] { context_ = garbage<gth_context>(); }},
            {"dtype", Order::dtype, GTH_E_DTYPE, [&] { desc_.dtype = 1; }},
            {"rank", Order::rank, GTH_E_RANK, [&] { desc_.ndim = 65; }},
            {"extent", Order::shape, GTH_E_SHAPE, [&] { shape_[0] = -1; }},
            {"offset", Order::stride, GTH_E_STRIDE, [&] { desc_.offset = -8; }},
            {"device", Order::device, GTH_E_DEVICE, [&] { desc_.device = 77; }},
            {"data is NULL", Order::overlap, GTH_E_NULL, [&] { desc_.data = nullptr; }}};
  }

 private:
  gth_context* context_ = nullptr;
  bool no_desc_ = false;
  gth_deleter_fn deleter_ = [](void*) {};
  float values_[3] = {};
  int64_t shape_[1] = {3};
  gth_tensor_desc desc_ = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, shape_, values_);
};

TEST(CheckOrder, AdoptReportsTheFirstCheck) {
  expect_order([] { return std::make_unique<Adopt>(); });
}

// ---- Tables in files

class OpenTable : public Call {
 public:
  int32_t run() override {
    Tensor tensor;
    const gth_segment* const segments[] = {no_segment_ ? nullptr : &segment_};
    return gth_tensor_open(context_, no_desc_ ? nullptr : &desc_, count_, no_segments_ ? nullptr : segments, &options_,
                           tensor.out(), &error_);
  }

  std::vector<Flaw> flaws() override {
    return {{"desc is NULL", Order::pointer, GTH_E_NULL, [&] { no_desc_ = true; }},
            {"segments are NULL", Order::pointer, GTH_E_NULL, [&] { no_segments_ = true; }},
            {"segment is NULL", Order::pointer, GTH_E_NULL, [&] { no_segment_ = true; }},
            {"size of desc", Order::structs, GTH_E_VERSION, [&] { desc_.size = 4; }},
            {"flags of desc", Order::structs, GTH_E_VERSION, [&] { desc_.flags = 64; }},
            {"size of segment", Order::structs, GTH_E_VERSION, [&] { segment_.size = 4; }},
            {"flags of segment", Order::structs, GTH_E_VERSION, [&] { segment_.flags = 2; }},
            {"size of options", Order::structs, GTH_E_VERSION, [&] { options_.size = 4; }},
            {"mode", Order::structs, GTH_E_VERSION, [&] { options_.mode = 3; }},
            {"budget", Order::structs, GTH_E_VERSION, [&] { options_.resident = 1000; }},
            {"context", Order::handle, GTH_E_HANDLE, [&] { context_ = garbage<gth_context>(); }},
            {"dtype", Order::dtype, GTH_E_DTYPE, [&] { desc_.dtype = 1; }},
            {"rank", Order::rank, GTH_E_RANK, [&] { desc_.ndim = 65; }},
            {"rank of 0", Order::rank, GTH_E_RANK, [&] { desc_.ndim = 0; }},
            {"extent", Order::shape, GTH_E_SHAPE, [&] { shape_[1] = -1; }},
            {"rows of the segment", Order::shape, GTH_E_SHAPE, [&] { segment_.rows = 2; }},
            {"size", Order::size, GTH_E_SIZE, [&] { shape_[1] = INT64_MAX / 8; }},
            {"offset", Order::stride, GTH_E_STRIDE, [&] { desc_.offset = 8; }},
            {"data", Order::stride, GTH_E_STRIDE, [&] { desc_.data = values_; }},
            {"row_stride", Order::device, GTH_E_STRIDE, [&] { segment_.row_stride = 7; }},
            {"extent", Order::device, GTH_E_STRIDE, [&] { segment_.extent = 23; }}};
  }

 private:
  gth_context* context_ = nullptr;
  bool no_desc_ = false, no_segments_ = false, no_segment_ = false;
  int64_t count_ = 1;
  float values_[6] = {};
  int64_t shape_[2] = {3, 2};
  gth_tensor_desc desc_ = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, shape_, nullptr);
  gth_segment segment_ = {sizeof(gth_segment), 0, nullptr, values_, 0, 0, 3, 0, 0};
  gth_files_options options_ = GTH_FILES_OPTIONS_INIT;
};

TEST(CheckOrder, OpenReportsTheFirstCheck) {
  expect_order([] { return std::make_unique<OpenTable>(); });
}

// A table of three rows in memory.
class Opened {
 public:
  Opened() {
    const int64_t shape[] = {3, 2};
    const gth_segment segment = {sizeof(gth_segment), 0, nullptr, values_, 0, 0, 3, 0, 0};
    const gth_segment* const segments[] = {&segment};
    const gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, shape, nullptr);
    EXPECT_EQ(gth_tensor_open(nullptr, &desc, 1, segments, nullptr, tensor_.out(), nullptr), GTH_OK);
  }
  const gth_tensor* get() const { return tensor_.get(); }

 private:
  const float values_[6] = {};
  Tensor tensor_;
};

class Prefetch : public Call {
 public:
  int32_t run() override {
    return gth_tensor_prefetch(context_, tensor_, no_indices_ ? nullptr : &indices_, nullptr, &error_);
  }

  std::vector<Flaw> flaws() override {
    return {{"tensor is NULL", Order::pointer, GTH_E_NULL, [&] { tensor_ = nullptr; }},
            {"indices are NULL", Order::pointer, GTH_E_NULL, [&] { no_indices_ = true; }},
            {"size of indices", Order::structs, GTH_E_VERSION, [&] { indices_.size = 4; }},
            {"tensor", Order::handle, GTH_E_HANDLE, [&] { tensor_ = garbage<gth_tensor>(); }},
            {"context", Order::handle, GTH_E_HANDLE, [&] { context_ = garbage<gth_context>(); }},
            {"dtype of indices", Order::dtype, GTH_E_DTYPE, [&] { indices_.dtype = GTH_DTYPE_FLOAT32; }},
            {"rank of indices", Order::rank, GTH_E_RANK, [&] { indices_.ndim = 65; }},
            {"extent of indices", Order::shape, GTH_E_SHAPE, [&] { shape_[0] = -1; }},
            {"offset of indices", Order::stride, GTH_E_STRIDE, [&] { indices_.offset = -8; }},
            {"device of indices", Order::device, GTH_E_DEVICE, [&] { indices_.device = 77; }},
            {"data of indices", Order::overlap, GTH_E_NULL, [&] { indices_.data = nullptr; }}};
  }

 private:
  const Opened opened_;
  const gth_tensor* tensor_ = opened_.get();
  gth_context* context_ = nullptr;
  bool no_indices_ = false;
  const int64_t values_[3] = {2, 7, -1};
  int64_t shape_[1] = {3};
  gth_tensor_desc indices_ = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, shape_, values_);
};

TEST(CheckOrder, PrefetchReportsTheFirstCheck) {
  expect_order([] { return std::make_unique<Prefetch>(); });
}

class Stats : public Call {
 public:
  int32_t run() override { return gth_tensor_stats(tensor_, no_stats_ ? nullptr : &stats_, &error_); }

  std::vector<Flaw> flaws() override {
    return {{"tensor is NULL", Order::pointer, GTH_E_NULL, [&] { tensor_ = nullptr; }},
            {"stats are NULL", Order::pointer, GTH_E_NULL, [&] { no_stats_ = true; }},
            {"size of stats", Order::structs, GTH_E_VERSION, [&] { stats_.size = 4; }},
            {"tensor", Order::handle, GTH_E_HANDLE, [&] { tensor_ = garbage<gth_tensor>(); }}};
  }

 private:
  const Opened opened_;
  const gth_tensor* tensor_ = opened_.get();
  bool no_stats_ = false;
  gth_files_stats stats_ = GTH_FILES_STATS_INIT;
};

TEST(CheckOrder, StatsReportTheFirstCheck) {
  expect_order([] { return std::make_unique<Stats>(); });
}

}  // namespace
