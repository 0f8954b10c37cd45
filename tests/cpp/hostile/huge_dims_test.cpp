#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "hostile.hpp"

// Dims of 2^50 beside dims of 0, and operands of 2^50 elements that are the same memory. A loop over such a dim would
// take weeks.
namespace {

using namespace hostile;

constexpr int64_t huge = int64_t{1} << 50;
constexpr int32_t f32 = GTH_DTYPE_FLOAT32, i64 = GTH_DTYPE_INT64;

// Ends the program if a test takes longer than a minute.
class HugeDims : public ::testing::Test {
 protected:
  HugeDims() {
    watch_ = std::thread([this] {
      std::unique_lock<std::mutex> lock(mutex_);
      if (done_.wait_for(lock, std::chrono::minutes(1), [this] { return is_done_; })) return;
      std::fputs("a call steps through 2^50 elements\n", stderr);
      std::abort();
    });
  }
  ~HugeDims() override {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      is_done_ = true;
    }
    done_.notify_one();
    watch_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool is_done_ = false;
  std::thread watch_;
};

// An operand whose elements may be the same memory.
struct Operand {
  int32_t dtype;
  Shape shape, strides;
  const void* data;

  gth_tensor_desc desc() const { return describe(dtype, shape, data, strides.empty() ? nullptr : strides.data()); }
};

struct Operands {
  Operand table, indices, rows;
};

const int64_t numbers[] = {2, 1, 0, 9};  // The last one is out of bounds.
const void* const valid = numbers;
const void* const invalid = numbers + 3;

void expect_status(int32_t status, int32_t expected, const gth_error& error, const char* form) {
  EXPECT_STREQ(gth_status_name(status), gth_status_name(expected)) << form << ": " << error.message;
  if (expected != GTH_E_INDEX) return;
  EXPECT_EQ(error.position, 0) << form;
  EXPECT_EQ(error.value, 9) << form;
}

// Runs a request in every form. A new result must have no elements.
void expect_each_form(const gth_request& request, int32_t expected) {
  Error error;
  expect_status(gth_run_request(nullptr, &request, &error), expected, error, "run");
  const gth_request* both[] = {&request, &request};
  expect_status(gth_run_many(nullptr, 2, both, &error), expected, error, "many");
  gth_request made = request;
  if (request.op <= GTH_OP_GATHER_ELEMENTS || request.op == GTH_OP_GATHER_BAGS) made.rows = nullptr;
  Tensor result;
  expect_status(gth_make(nullptr, &made, result.out(), &error), expected, error, "make");
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  int64_t shape[8];
  expect_status(gth_infer(&request, &rows, 8, shape, &error), GTH_OK, error, "infer");
  Plan plan;
  const int32_t status = gth_plan_create(&request, plan.out(), &error);
  if (request.op >= GTH_OP_GATHER_GRADIENT && request.op <= GTH_OP_GATHER_ELEMENTS_GRADIENT) {
    return expect_status(status, GTH_E_UNSUPPORTED, error, "plan");
  }
  expect_status(status, GTH_OK, error, "plan");
  gth_plan_args args = calls::args(GTH_OPEN, request.table->data, request.indices->data, request.rows->data);
  args.bags = request.bags ? request.bags->data : nullptr;
  args.weights = request.weights ? request.weights->data : nullptr;
  expect_status(gth_plan_run_args(nullptr, plan.get(), &args, &error), expected, error, "plan run");
  expect_status(gth_plan_check(nullptr, plan.get(), &args, &error), expected, error, "plan check");
}

// Operands of which one dim is huge. `at` is the memory of the indices.
std::vector<Operands> slices(const void* at) {
  return {
      {{f32, {5, 0}, {}, nullptr}, {i64, {huge}, {0}, at}, {f32, {huge, 0}, {}, nullptr}},
      {{f32, {5, 0}, {}, nullptr}, {i64, {3, huge}, {0, 0}, at}, {f32, {3, huge, 0}, {}, nullptr}},
      {{f32, {5, huge, 0}, {}, nullptr}, {i64, {1}, {}, at}, {f32, {1, huge, 0}, {}, nullptr}},
      {{f32, {5, 0, huge}, {}, nullptr}, {i64, {1}, {}, at}, {f32, {1, 0, huge}, {}, nullptr}},
  };
}

TEST_F(HugeDims, C13_SlicesWithoutElementsAreNotCounted) {
  for (const calls::Operation& op : {calls::gather, calls::scatter, calls::gather_gradient}) {
    for (const void* at : {valid, invalid}) {
      for (const Operands& each : slices(at)) {
        const gth_tensor_desc t = each.table.desc(), i = each.indices.desc(), r = each.rows.desc();
        expect_each_form(GTH_REQUEST(op.number, &t, &i, &r, nullptr), at == valid ? GTH_OK : GTH_E_INDEX);
      }
    }
  }
}

TEST_F(HugeDims, C13_BatchesAndOuterDimsWithoutElementsAreNotCounted) {
  const Operands all[] = {
      {{f32, {huge, 5, 0}, {}, nullptr}, {i64, {huge, 3}, {0, 8}, valid}, {f32, {huge, 3, 0}, {}, nullptr}},
      {{f32, {huge, 0, 5}, {}, nullptr}, {i64, {huge, 3}, {0, 8}, valid}, {f32, {huge, 0, 3}, {}, nullptr}},
      {{f32, {0, huge, 5}, {}, nullptr}, {i64, {0, 3}, {}, nullptr}, {f32, {0, huge, 3}, {}, nullptr}},
  };
  for (const calls::Operation& op : {calls::gather, calls::scatter, calls::gather_gradient}) {
    for (const Operands& each : all) {
      const gth_tensor_desc t = each.table.desc(), i = each.indices.desc(), r = each.rows.desc();
      const bool has_outer = each.table.shape[2] == 5;
      const gth_options options = with_axis(has_outer ? 2 : 1, 1);
      expect_each_form(GTH_REQUEST(op.number, &t, &i, &r, &options), GTH_OK);
    }
  }
}

TEST_F(HugeDims, C13_TuplesAndElementsWithoutElementsAreNotCounted) {
  const Operands tuples[] = {
      {{f32, {5, 4, 0}, {}, nullptr}, {i64, {huge, 2}, {0, 8}, valid}, {f32, {huge, 0}, {}, nullptr}},
      {{f32, {5, 0}, {}, nullptr}, {i64, {huge, 0}, {}, nullptr}, {f32, {huge, 5, 0}, {}, nullptr}},
      {{f32, {huge, 0}, {}, nullptr}, {i64, {3, 1}, {}, valid}, {f32, {3, 0}, {}, nullptr}},
  };
  const Operands elements[] = {
      {{f32, {5, 0}, {}, nullptr}, {i64, {huge, 0}, {}, nullptr}, {f32, {huge, 0}, {}, nullptr}},
      {{f32, {huge, 0}, {}, nullptr}, {i64, {3, 0}, {}, nullptr}, {f32, {3, 0}, {}, nullptr}},
      {{f32, {5, huge, 0}, {}, nullptr}, {i64, {3, huge, 0}, {}, nullptr}, {f32, {3, huge, 0}, {}, nullptr}},
  };
  const auto expect_all = [](const auto& operations, const auto& all) {
    for (const calls::Operation& op : operations) {
      for (const Operands& each : all) {
        const gth_tensor_desc t = each.table.desc(), i = each.indices.desc(), r = each.rows.desc();
        expect_each_form(GTH_REQUEST(op.number, &t, &i, &r, nullptr), GTH_OK);
      }
    }
  };
  const calls::Operation nds[] = {calls::gather_nd, calls::scatter_nd, calls::gather_nd_gradient};
  const calls::Operation paired[] = {calls::gather_elements, calls::scatter_elements, calls::gather_elements_gradient};
  expect_all(nds, tuples);
  expect_all(paired, elements);
}

TEST_F(HugeDims, C13_ReductionsWithoutElementsAreNotCounted) {
  for (int32_t reduction = GTH_REDUCTION_NONE; reduction <= GTH_REDUCTION_MEAN; ++reduction) {
    for (const int32_t accumulate : {GTH_ACCUMULATE_DTYPE, GTH_ACCUMULATE_FLOAT64}) {
      const gth_options options = reducing(reduction, accumulate);
      for (const Operands& each : slices(valid)) {
        const gth_tensor_desc t = each.table.desc(), i = each.indices.desc(), r = each.rows.desc();
        expect_each_form(GTH_REQUEST(GTH_OP_SCATTER, &t, &i, &r, &options), GTH_OK);
      }
    }
  }
}

// ---- Bags

struct Bags {
  int32_t format;
  Operand params, ids, bags, out;
  int64_t count;
  int32_t expected;         // the status
  int32_t expected_filled;  // the status if no bag may be empty
};

const Operand none{i64, {}, {}, nullptr};

// `at` is the memory of the ids.
std::vector<Bags> bags(const void* at) {
  static const int64_t zero = 0, one = 1;
  const int32_t bad = at == valid ? GTH_OK : GTH_E_INDEX, empty = GTH_E_OFFSETS;
  const Operand full{f32, {5, 3}, {}, nullptr}, narrow{f32, {5, 0}, {}, nullptr};
  const Operand rows{f32, {huge, 0}, {}, nullptr}, few{f32, {2, 0}, {}, nullptr};
  const Operand no_ids{i64, {0}, {}, nullptr}, ids{i64, {huge}, {0}, at}, two{i64, {2}, {0}, at};
  return {
      {GTH_BAGS_DENSE, narrow, {i64, {huge, 0}, {}, nullptr}, none, rows, 0, GTH_OK, empty},
      {GTH_BAGS_DENSE, narrow, {i64, {huge, 3}, {0, 0}, at}, none, rows, 0, bad, bad},
      {GTH_BAGS_DENSE, narrow, {i64, {2, huge}, {0, 0}, at}, none, few, 0, bad, bad},
      {GTH_BAGS_DENSE,
       narrow,
       {i64, {2, huge, 1}, {8, 0, 8}, valid},
       none,
       {f32, {2, huge, 0}, {}, nullptr},
       0,
       GTH_OK,
       GTH_OK},
      {GTH_BAGS_OFFSETS, narrow, no_ids, {i64, {huge + 1}, {0}, &zero}, rows, 0, GTH_OK, empty},
      {GTH_BAGS_OFFSETS, narrow, ids, {i64, {huge + 1}, {0}, &zero}, rows, 0, empty, empty},
      {GTH_BAGS_OFFSETS, narrow, ids, {i64, {huge + 1}, {0}, &one}, rows, 0, empty, empty},
      {GTH_BAGS_STARTS, narrow, ids, {i64, {huge}, {0}, &zero}, rows, 0, bad, empty},
      {GTH_BAGS_STARTS, narrow, no_ids, {i64, {huge}, {0}, &one}, rows, 0, empty, empty},
      {GTH_BAGS_LENGTHS, narrow, no_ids, {i64, {huge}, {0}, &zero}, rows, 0, GTH_OK, empty},
      {GTH_BAGS_LENGTHS, narrow, ids, {i64, {huge}, {0}, &one}, rows, 0, bad, bad},
      {GTH_BAGS_LENGTHS, narrow, ids, {i64, {huge}, {0}, &zero}, rows, 0, empty, empty},
      {GTH_BAGS_SEGMENTS, narrow, no_ids, no_ids, rows, huge, GTH_OK, empty},
      {GTH_BAGS_SEGMENTS, narrow, two, {i64, {2}, {8}, numbers + 1}, rows, huge, empty, empty},
      {GTH_BAGS_SEGMENTS, narrow, two, {i64, {2}, {0}, &one}, rows, huge, bad, empty},
      {GTH_BAGS_SEGMENTS, narrow, ids, {i64, {huge}, {0}, &one}, rows, huge, bad, empty},
  };
}

void expect_bags(const Bags& each, int32_t empty, int32_t expected) {
  for (const bool has_padding : {false, true}) {
    gth_options options = GTH_OPTIONS_INIT;
    options.bag_format = each.format;
    options.bag_count = each.count;
    options.empty = empty;
    options.has_padding_index = has_padding;
    options.padding_index = has_padding ? 77 : 0;
    const gth_tensor_desc t = each.params.desc(), i = each.ids.desc(), o = each.out.desc(), b = each.bags.desc();
    gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, &options);
    if (each.format != GTH_BAGS_DENSE) request.bags = &b;
    SCOPED_TRACE("format " + std::to_string(each.format) + ", ids " + std::to_string(each.ids.shape[0]) + ", empty " +
                 std::to_string(empty) + ", padding " + std::to_string(has_padding));
    expect_each_form(request, expected);
  }
}

TEST_F(HugeDims, C13_BagsWithoutIdsOrElementsAreNotCounted) {
  for (const void* at : {valid, invalid}) {
    for (const Bags& each : bags(at)) {
      expect_bags(each, GTH_EMPTY_ZERO, each.expected);
      expect_bags(each, GTH_EMPTY_ERROR, each.expected_filled);
    }
  }
}

// Gradients whose rows are the same memory, as those of a sum. With 2^50 ids, a gradient needs more memory than there
// is.
TEST_F(HugeDims, C13_GradientsOfBagsWithoutIdsOrElementsAreNotCounted) {
  const Array params(f32, {5, 3}), gradient(f32, {3}), target(f32, {5, 3});
  std::vector<Bags> all = bags(valid);
  for (const Bags& each : bags(valid)) {
    if (each.params.shape[1] == 0 && each.ids.shape[0] != 0 && each.ids.shape.back() != 0) continue;
    Bags full = each;  // with rows of 3 numbers
    full.params.shape[1] = 3;
    full.out = {f32, each.out.shape, Shape(each.out.shape.size(), 0), gradient.data()};
    full.out.shape.back() = 3;
    full.out.strides.back() = 4;
    all.push_back(full);
  }
  for (const Bags& each : all) {
    gth_options options = GTH_OPTIONS_INIT;
    options.bag_format = each.format;
    options.bag_count = each.count;
    gth_tensor_desc t = each.params.desc(), u = target.desc();
    if (each.params.shape[1] == 0) u.shape = each.params.shape.data();
    t.data = params.data();
    const gth_tensor_desc i = each.ids.desc(), o = each.out.desc(), b = each.bags.desc();
    gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, &options);
    if (each.format != GTH_BAGS_DENSE) request.bags = &b;
    const int32_t expected = count_of(each.ids.shape) >= huge ? GTH_E_NOMEM : each.expected;
    for (const int32_t pool : {GTH_POOL_SUM, GTH_POOL_MEAN, GTH_POOL_MAX}) {
      SCOPED_TRACE("format " + std::to_string(each.format) + ", pool " + std::to_string(pool) + ", elements " +
                   std::to_string(each.params.shape[1]));
      options.pool = pool;
      Error error;
      expect_status(gth_gather_bags_gradient(nullptr, &request, &u, &error), expected, error, "gradient");
      if (expected == GTH_OK && each.params.shape[1] > 0) {
        EXPECT_TRUE(target.bytes() == Bytes(target.bytes().size(), 0));
      }
      int64_t found[2] = {-7, -7}, count = -1;
      const Shape two{2}, two_rows{2, each.params.shape[1]};
      const Array sparse(f32, two_rows);
      const gth_tensor_desc n = describe(i64, two, found), s = sparse.desc();
      expect_status(gth_gather_bags_sparse_gradient(nullptr, &request, &n, &s, &count, &error), expected, error,
                    "sparse");
      if (expected == GTH_OK) {
        EXPECT_EQ(count, each.ids.shape[0] == 2 ? 1 : 0);
        EXPECT_EQ(found[0], each.ids.shape[0] == 2 ? 2 : -7);
      }
      if (pool == GTH_POOL_MAX) {
        if (count_of(each.out.shape) >= huge) continue;
        std::vector<int64_t> found_at(static_cast<size_t>(count_of(each.out.shape)), -7);
        const gth_tensor_desc at = describe(i64, each.out.shape, found_at.data());
        expect_status(gth_gather_bags_positions(nullptr, &request, &at, &error), expected, error, "positions");
        if (expected == GTH_OK) {
          EXPECT_EQ(std::count(found_at.begin(), found_at.end(), -7), 0);
        }
        continue;
      }
      float weights[2] = {5, 6};
      const Operand of_weights{f32, each.ids.shape, {}, weights};
      const gth_tensor_desc w = of_weights.desc();
      if (count_of(each.ids.shape) >= huge) continue;
      expect_status(gth_gather_bags_weight_gradient(nullptr, &request, &w, &error), expected, error, "weights");
      if (expected == GTH_OK && each.ids.shape[0] == 2) {
        EXPECT_EQ(weights[0] + weights[1], 0);
      }
    }
  }
}

// ---- Other functions

TEST_F(HugeDims, C13_TensorsWithoutElementsAreNotCounted) {
  const Shape shapes[] = {{huge, 0}, {0, huge}, {huge, 0, 3}};
  for (const Shape& shape : shapes) {
    const gth_tensor_desc desc = describe(f32, shape, nullptr);
    Error error;
    EXPECT_EQ(gth_copy(nullptr, &desc, &desc, &error), GTH_OK) << error.message;
    Tensor borrowed(desc), allocated, strings;
    EXPECT_EQ(gth_tensor_alloc(nullptr, f32, desc.ndim, shape.data(), allocated.out(), &error), GTH_OK);
    const int64_t offset = 0;
    EXPECT_EQ(gth_tensor_from_strings(nullptr, 0, desc.ndim, shape.data(), &offset, nullptr, 0, nullptr, nullptr,
                                      strings.out(), &error),
              GTH_OK)
        << error.message;
    const Array ids = indices64({1}, {0});
    const gth_tensor_desc t GTH_TENSOR_DESC_HANDLE(strings.get()), i = ids.desc();
    const gth_options options = with_axis(shape[0] == 0 ? 1 : 0);
    const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &t, &i, nullptr, &options);
    Tensor made;
    EXPECT_EQ(gth_make(nullptr, &request, made.out(), &error), GTH_OK) << error.message;
  }
}

TEST_F(HugeDims, C13_PartitionsWithoutIdsAreNotCounted) {
  const Shape shape{huge, 0};
  const gth_tensor_desc ids = describe(i64, shape, nullptr);
  for (const int32_t kind : {GTH_SHARDS_BLOCKS, GTH_SHARDS_MODULO}) {
    gth_shards shards = GTH_SHARDS_INIT;
    shards.kind = kind;
    shards.rows = huge;
    shards.count = 3;
    int64_t counts[3] = {7, 7, 7}, bytes = 0;
    Error error;
    ASSERT_EQ(gth_partition_scratch(&ids, &shards, 0, &bytes, &error), GTH_OK) << error.message;
    std::vector<int64_t> scratch(static_cast<size_t>(bytes) / 8 + 1);
    gth_parts parts = GTH_PARTS_INIT;
    parts.counts = counts;
    parts.scratch = scratch.data();
    parts.scratch_bytes = bytes;
    EXPECT_EQ(gth_partition(nullptr, &ids, &shards, nullptr, &parts, &error), GTH_OK) << error.message;
    EXPECT_EQ(counts[0] | counts[1] | counts[2], 0);
  }
}

}  // namespace
