#include <cstddef>

#include "guarded.hpp"
#include "hostile.hpp"

// Tests the documentation of the header about plans.
namespace {

using namespace hostile;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32;
constexpr int32_t i64 = GTH_DTYPE_INT64;
constexpr int32_t u8 = GTH_DTYPE_UINT8;

Facts open_fault(int32_t operand, int32_t dim, int64_t limit = 0) {
  return {GTH_E_SHAPE, operand, dim, -1, GTH_OPEN, limit};
}
Facts n_fault(int64_t n, int64_t limit) { return {GTH_E_SHAPE, GTH_OPERAND_PLAN, -1, -1, n, limit}; }
Facts n_too_large(int64_t n, int64_t limit) { return {GTH_E_SIZE, GTH_OPERAND_PLAN, -1, -1, n, limit}; }

// A description without data that stores its shape and strides.
struct Described {
  Described(int32_t dtype, Shape extents, Shape steps = {})
      : shape(std::move(extents)),
        strides(std::move(steps)),
        desc(describe(dtype, shape, nullptr, strides.empty() ? nullptr : strides.data())) {}
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;

  Shape shape, strides;
  gth_tensor_desc desc;
};

void expect_plan(const Operation& op, const Shape& params, const Shape& indices, const gth_options* options = nullptr) {
  const Described p(f32, params), i(i64, indices);
  Plan plan;
  Error error;
  EXPECT_EQ(op.plan(&p.desc, &i.desc, nullptr, options, plan.out(), &error), GTH_OK) << error.message;
}

void expect_no_plan(const Operation& op, const Shape& params, const Shape& indices, const gth_options* options,
                    const Facts& facts) {
  const Described p(f32, params), i(i64, indices);
  gth_plan* plan = reinterpret_cast<gth_plan*>(1);
  Error error;
  expect_facts(op.plan(&p.desc, &i.desc, nullptr, options, &plan, &error), error, facts);
  EXPECT_EQ(plan, nullptr);
}

// Creates a plan over dense descriptions. The creation must succeed.
struct Planned {
  Planned(const Operation& op, const Described& params, const Described& indices, const gth_options* options = nullptr,
          const Described* output = nullptr) {
    Error error;
    EXPECT_EQ(op.plan(&params.desc, &indices.desc, output ? &output->desc : nullptr, options, plan.out(), &error),
              GTH_OK)
        << error.message;
  }

  int32_t run(const void* params, const void* indices, void* out, int64_t n, gth_error* error = nullptr) const {
    return gth_plan_run(nullptr, plan.get(), n, params, indices, out, error);
  }

  Plan plan;
};

TEST(Plans, OpenExtentOfTheTuplesIsAccepted) {
  expect_plan(g, {4, 2}, {GTH_OPEN});
  expect_plan(g, {4, 2}, {3, GTH_OPEN});
  expect_plan(g, {4, 2}, {GTH_OPEN, 3});
  expect_plan(nd, {4, 2}, {GTH_OPEN, 2});
  expect_plan(nd, {4, 2}, {GTH_OPEN, 0});
  const gth_options batch = with_batch(1), axis = with_axis(1);
  expect_plan(g, {4, 2}, {4, GTH_OPEN}, &batch);
  expect_plan(g, {4, 2}, {GTH_OPEN}, &axis);
}

TEST(Plans, OpenOutermostBatchDimIsAccepted) {
  const gth_options one = with_batch(1), two = with_batch(2);
  expect_plan(g, {GTH_OPEN, 4, 2}, {GTH_OPEN, 3}, &one);
  expect_plan(g, {GTH_OPEN, 3, 2}, {GTH_OPEN, 3, 5}, &two);
  expect_plan(nd, {GTH_OPEN, 4, 2}, {GTH_OPEN, 3, 1}, &one);
}

TEST(Plans, OpenExtentElsewhereIsRejected) {
  const gth_options one = with_batch(1), two = with_batch(2), axis = with_axis(1);
  expect_no_plan(g, {GTH_OPEN, 2}, {3}, nullptr, open_fault(GTH_OPERAND_PARAMS, 0));
  expect_no_plan(g, {4, GTH_OPEN}, {3}, nullptr, open_fault(GTH_OPERAND_PARAMS, 1));
  expect_no_plan(g, {GTH_OPEN, 2}, {3}, &axis, open_fault(GTH_OPERAND_PARAMS, 0));
  expect_no_plan(nd, {GTH_OPEN, 2}, {3, 1}, nullptr, open_fault(GTH_OPERAND_PARAMS, 0));
  expect_no_plan(nd, {4, 2}, {3, GTH_OPEN}, nullptr, {GTH_E_SHAPE, GTH_OPERAND_INDICES, 1, -1, GTH_OPEN, 2});
  expect_no_plan(g, {3, GTH_OPEN, 2}, {3, GTH_OPEN, 1}, &two, open_fault(GTH_OPERAND_PARAMS, 1));
  expect_no_plan(g, {GTH_OPEN, GTH_OPEN, 2}, {GTH_OPEN, 4}, &one, open_fault(GTH_OPERAND_PARAMS, 1));
}

TEST(Plans, SecondOpenExtentIsRejected) {
  const gth_options one = with_batch(1);
  expect_no_plan(g, {4, 2}, {GTH_OPEN, GTH_OPEN}, nullptr, open_fault(GTH_OPERAND_INDICES, 1));
  expect_no_plan(g, {GTH_OPEN, 4, 2}, {GTH_OPEN, GTH_OPEN}, &one, open_fault(GTH_OPERAND_INDICES, 1));
}

TEST(Plans, OpenBatchDimOfOnlyOneOperandIsRejected) {
  const gth_options one = with_batch(1);
  expect_no_plan(g, {GTH_OPEN, 4}, {3, 2}, &one, {GTH_E_BATCH, GTH_OPERAND_INDICES, 0, -1, 3, GTH_OPEN});
  expect_no_plan(g, {3, 4}, {GTH_OPEN, 2}, &one, {GTH_E_BATCH, GTH_OPERAND_INDICES, 0, -1, GTH_OPEN, 3});
}

TEST(Plans, OtherNegativeExtentsAreRejected) {
  for (int64_t extent : {int64_t{-2}, INT64_MIN}) {
    expect_no_plan(g, {4, 2}, {extent}, nullptr, {GTH_E_SHAPE, GTH_OPERAND_INDICES, 0, -1, extent, 0});
    expect_no_plan(g, {4, extent}, {3}, nullptr, {GTH_E_SHAPE, GTH_OPERAND_PARAMS, 1, -1, extent, 0});
  }
}

TEST(Plans, OpenExtentOutsideAPlanIsRejected) {
  const Array params(f32, {4, 2}), out(f32, {1, 2});
  const Shape open{GTH_OPEN};
  const gth_tensor_desc indices = describe(i64, open, out.data());
  expect_refused({g, params.desc(), indices}, out, open_fault(GTH_OPERAND_INDICES, 0));
}

TEST(Plans, RunWithAnOpenExtentWritesNRows) {
  const Array params(f32, {4, 2}), indices = indices64({5}, {3, 0, 2, 1, 3});
  const Planned planned(g, Described(f32, params.shape()), Described(i64, {GTH_OPEN}));
  for (int64_t n = 0; n <= 5; ++n) {
    Array out(f32, {5, 2});
    out.fill('#');
    EXPECT_EQ(planned.run(params.data(), indices.data(), out.data(), n), GTH_OK);
    Bytes expected = rows_of(params, 8, std::vector<int64_t>{3, 0, 2, 1, 3});
    std::fill(expected.begin() + n * 8, expected.end(), '#');
    EXPECT_TRUE(out.bytes() == expected);
  }
}

// Element (i, j) of the table is element (j, i) of the memory. A run with many rows first packs panels of the table.
TEST(Plans, RunWithAnOpenExtentGathersRowsOfATransposedTable) {
  constexpr int64_t size = 16, width = 40, most = 1500;
  const Array memory(f32, {width, size});
  const Described params(f32, {size, width}, {4, 4 * size}), indices(i64, {GTH_OPEN});
  Plan plan;
  ASSERT_EQ(calls::gather.plan(&params.desc, &indices.desc, nullptr, nullptr, plan.out(), nullptr), GTH_OK);
  std::vector<int64_t> values, places;
  for (int64_t i = 0; i < most; ++i) {
    values.push_back(i * 7 % size);
    for (int64_t j = 0; j < width; ++j) places.push_back(j * size + values.back());
  }
  for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{63}, int64_t{64}, int64_t{65}, most}) {
    const Array out(f32, {n, width});
    EXPECT_EQ(gth_plan_run(nullptr, plan.get(), n, memory.data(), values.data(), out.data(), nullptr), GTH_OK);
    EXPECT_EQ(out.bytes(), rows_of(memory, 4, {places.begin(), places.begin() + n * width})) << n;
  }
}

TEST(Plans, InvalidNIsRejected) {
  const Array params(f32, {4, 2}), indices = indices64({5}, {3, 0, 2, 1, 3});
  Array out(f32, {5, 2});
  const Bytes before = out.bytes();
  const Planned open(g, Described(f32, {4, 2}), Described(i64, {GTH_OPEN})),
      closed(g, Described(f32, {4, 2}), Described(i64, {5}));
  Error error;
  for (int64_t n : {int64_t{-1}, int64_t{-2}, INT64_MIN}) {
    expect_facts(open.run(params.data(), indices.data(), out.data(), n, &error), error, n_fault(n, 0));
  }
  for (int64_t n : {int64_t{0}, int64_t{5}, int64_t{-2}, INT64_MIN, INT64_MAX}) {
    expect_facts(closed.run(params.data(), indices.data(), out.data(), n, &error), error, n_fault(n, GTH_OPEN));
  }
  EXPECT_TRUE(out.bytes() == before);
  EXPECT_EQ(closed.run(params.data(), indices.data(), out.data(), GTH_OPEN), GTH_OK);
}

// At the largest n, every size still fits int64. The test does not fix its exact value.
TEST(Plans, LargestNKeepsSizesInsideInt64) {
  const Array params(f32, {4, 2}), indices = indices64({5}, {3, 0, 2, 1, 3});
  Array out(f32, {5, 2});
  const Planned planned(g, Described(f32, {4, 2}), Described(i64, {GTH_OPEN}));
  for (int64_t n : {INT64_MAX, INT64_MAX / 8 + 1}) {  // 8 bytes per index and 8 per row
    Error error;
    EXPECT_EQ(planned.run(params.data(), indices.data(), out.data(), n, &error), GTH_E_SIZE) << n;
    EXPECT_EQ(error.operand, GTH_OPERAND_PLAN);
    EXPECT_EQ(error.value, n);
    EXPECT_GT(error.limit, int64_t{1} << 50);
    EXPECT_EQ(error.limit, INT64_MAX / 8);
    int32_t ndim = 0;
    int64_t shape[2];
    expect_facts(calls::plan_infer(planned.plan.get(), n, 2, &ndim, shape, &error), error, n_too_large(n, error.limit));
    EXPECT_EQ(calls::plan_infer(planned.plan.get(), error.limit, 2, &ndim, shape, nullptr), GTH_OK);
  }
}

// Rows and indices of one byte have the largest n.
TEST(Plans, NMayBeTheHighestInt64) {
  const Planned planned(g, Described(u8, {4}), Described(u8, {GTH_OPEN}));
  int32_t ndim = 0;
  int64_t shape[1];
  EXPECT_EQ(calls::plan_infer(planned.plan.get(), INT64_MAX, 1, &ndim, shape, nullptr), GTH_OK);
  EXPECT_EQ(shape[0], INT64_MAX);
}

TEST(Plans, LargestNOfABatchKeepsSizesInsideInt64) {
  const gth_options one = with_batch(1);
  const Planned planned(g, Described(f32, {GTH_OPEN, 1 << 20}), Described(i64, {GTH_OPEN, 1}), &one);
  char byte[8] = {};
  Error error;
  EXPECT_EQ(planned.run(byte, byte, byte, int64_t{1} << 41, &error), GTH_E_SIZE) << error.message;
}

// Expects the extents by role: table, indices, rows.
void expect_extents(const gth_plan* plan, int64_t n, const Shape& expected) {
  gth_plan_args args = calls::args(n, nullptr, nullptr, nullptr);
  Error error;
  EXPECT_EQ(gth_plan_extents(plan, &args, &error), GTH_OK) << error.message;
  EXPECT_EQ((Shape{args.table_extent, args.indices_extent, args.rows_extent}), expected) << n;
  EXPECT_EQ(args.flags, uint32_t{GTH_ARGS_EXTENTS});
  EXPECT_EQ(args.n, n);
}

TEST(Plans, ExtentsAreTheBytesThatARunUses) {
  const Planned rows(g, Described(f32, {4, 2}), Described(i64, {GTH_OPEN}));
  expect_extents(rows.plan.get(), 0, {0, 0, 0});
  expect_extents(rows.plan.get(), 1, {32, 8, 8});
  expect_extents(rows.plan.get(), 3, {32, 24, 24});
  const Planned apart(g, Described(f32, {4, 2}, {20, 4}), Described(i64, {GTH_OPEN}, {24}));
  expect_extents(apart.plan.get(), 2, {3 * 20 + 8, 24 + 8, 16});
  const gth_options one = with_batch(1);
  const Planned batch(nd, Described(u8, {GTH_OPEN, 4, 2}), Described(i64, {GTH_OPEN, 3, 1}), &one);
  expect_extents(batch.plan.get(), 5, {40, 120, 30});
  const Planned closed(g, Described(f32, {4, 0}), Described(i64, {3}));
  expect_extents(closed.plan.get(), GTH_OPEN, {0, 24, 0});  // Indices are validated although the rows are empty.
}

TEST(Plans, ExtentsOfAScatterAreTheBytesThatARunUses) {
  const Described target(f32, {4, 2}), indices(i64, {GTH_OPEN});
  Plan plan;
  ASSERT_EQ(calls::scatter.plan(&target.desc, &indices.desc, nullptr, nullptr, plan.out(), nullptr), GTH_OK);
  expect_extents(plan.get(), 3, {32, 24, 24});
}

TEST(Plans, MemoryShorterThanTheExtentsIsRejected) {
  const Array table(f32, {4, 2}), indices = indices64({3}, {3, 0, 2});
  Array rows(f32, {3, 2});
  const Planned planned(g, Described(f32, {4, 2}), Described(i64, {GTH_OPEN}));
  const auto expect = [&](const Shape& extents, const Facts& run, const Facts& check) {
    const gth_plan_args args =
        calls::args(3, table.data(), indices.data(), rows.data(), extents[0], extents[1], extents[2]);
    Error error;
    expect_facts(gth_plan_run_args(nullptr, planned.plan.get(), &args, &error), error, run);
    expect_facts(gth_plan_check(nullptr, planned.plan.get(), &args, &error), error, check);
  };
  const Facts no_indices{GTH_E_SIZE, GTH_OPERAND_INDICES, -1, -1, 23, 24};
  expect({32, 24, 24}, {GTH_OK}, {GTH_OK});
  expect({31, 24, 24}, {GTH_E_SIZE, GTH_OPERAND_PARAMS, -1, -1, 31, 32}, {GTH_OK});
  expect({32, 23, 24}, no_indices, no_indices);
  expect({100, 23, 100}, no_indices, no_indices);
  expect({32, 24, 23}, {GTH_E_SIZE, GTH_OPERAND_OUT, -1, -1, 23, 24}, {GTH_OK});
}

TEST(Plans, ExtentsForAnInvalidNAreRejected) {
  const Planned open(g, Described(f32, {4, 2}), Described(i64, {GTH_OPEN})),
      closed(g, Described(f32, {4, 2}), Described(i64, {5}));
  const auto expect_none = [&](const Planned& planned, int64_t n, const Facts& facts) {
    gth_plan_args args = calls::args(n, nullptr, nullptr, nullptr, -7, -7, -7);
    args.flags = 0;
    Error error;
    expect_facts(gth_plan_extents(planned.plan.get(), &args, &error), error, facts);
    EXPECT_EQ((Shape{args.table_extent, args.indices_extent, args.rows_extent}), (Shape{-7, -7, -7}));
    EXPECT_EQ(args.flags, 0u);
  };
  for (int64_t n : {int64_t{-1}, int64_t{-2}, INT64_MIN}) expect_none(open, n, n_fault(n, 0));
  for (int64_t n : {int64_t{0}, int64_t{5}, INT64_MAX}) expect_none(closed, n, n_fault(n, GTH_OPEN));
  expect_none(open, INT64_MAX, n_too_large(INT64_MAX, INT64_MAX / 8));
  EXPECT_EQ(gth_plan_extents(open.plan.get(), nullptr, nullptr), GTH_E_NULL);
  gth_plan_args args = GTH_PLAN_ARGS_INIT;
  EXPECT_EQ(gth_plan_extents(nullptr, &args, nullptr), GTH_E_NULL);
}

TEST(Plans, ShapeOfAPlanIsInferred) {
  const Planned planned(g, Described(f32, {4, 2}), Described(i64, {3, GTH_OPEN}));
  int32_t ndim = 0;
  int64_t shape[3];
  for (int64_t n : {int64_t{0}, int64_t{7}, int64_t{GTH_OPEN}}) {
    EXPECT_EQ(calls::plan_infer(planned.plan.get(), n, 3, &ndim, shape, nullptr), GTH_OK);
    EXPECT_EQ(ndim, 3);
    EXPECT_EQ(Shape(shape, shape + 3), (Shape{3, n, 2}));
  }
  Error error;
  expect_facts(calls::plan_infer(planned.plan.get(), -2, 3, &ndim, shape, &error), error, n_fault(-2, 0));
  ndim = -7;
  shape[0] = -7;
  expect_facts(calls::plan_infer(planned.plan.get(), 7, 2, &ndim, shape, &error), error,
               {GTH_E_SIZE, GTH_OPERAND_OUT, -1, -1, 2, 3});
  EXPECT_EQ(ndim, 3);
  EXPECT_EQ(shape[0], -7);
  expect_facts(calls::plan_infer(planned.plan.get(), 7, 2, nullptr, shape, &error), error, {GTH_E_NULL});
}

TEST(Plans, DescriptionsAreNotNeededAfterwards) {
  const Array params(f32, {4, 2}), indices = indices64({2}, {3, 0});
  Array out(f32, {2, 2});
  Plan plan;
  {
    Shape p_shape{4, 2}, i_shape{2}, o_shape{2, 2}, o_strides{8, 4};
    gth_tensor_desc p = describe(f32, p_shape, nullptr), i = describe(i64, i_shape, nullptr);
    gth_tensor_desc o = describe(f32, o_shape, nullptr, o_strides.data());
    gth_options options = with_bounds(GTH_BOUNDS_CLAMP);
    ASSERT_EQ(calls::gather.plan(&p, &i, &o, &options, plan.out(), nullptr), GTH_OK);
    for (Shape* each : {&p_shape, &i_shape, &o_shape, &o_strides}) std::fill(each->begin(), each->end(), INT64_MIN);
    options.bounds = 99;
    p = i = o = GTH_TENSOR_DESC_INIT;
  }
  EXPECT_EQ(gth_plan_run(nullptr, plan.get(), GTH_OPEN, params.data(), indices.data(), out.data(), nullptr), GTH_OK);
  EXPECT_TRUE(out.bytes() == rows_of(params, 8, {3, 0}));
}

TEST(Plans, StridedOutputIsWrittenInPlace) {
  const Array params(u8, {4, 2}), indices = indices64({3}, {3, 0, 2});
  Array memory(u8, {32});
  memory.fill('#');
  Described out(u8, {GTH_OPEN, 2}, {1, 8});
  out.desc.offset = 2;
  const Planned planned(g, Described(u8, {4, 2}), Described(i64, {GTH_OPEN}), nullptr, &out);
  ASSERT_EQ(planned.run(params.data(), indices.data(), memory.data(), 3), GTH_OK);
  Bytes expected(32, '#');
  const int64_t rows[] = {3, 0, 2};
  for (size_t t = 0; t < 3; ++t) {
    for (size_t c = 0; c < 2; ++c) expected[2 + t + 8 * c] = params.data()[rows[t] * 2 + static_cast<int64_t>(c)];
  }
  EXPECT_TRUE(memory.bytes() == expected);
  // Nine columns of one byte would overlap the next row.
  Error error;
  expect_facts(planned.run(params.data(), indices.data(), memory.data(), 9, &error), error, n_too_large(9, 8));
}

TEST(Plans, OutputOfAnotherShapeIsRejected) {
  const Described p(f32, {4, 2}), i(i64, {GTH_OPEN});
  struct Case {
    int32_t dtype;
    Shape shape;
    Facts facts;
  };
  const Case cases[] = {{f32, {3, 2}, {GTH_E_SHAPE, GTH_OPERAND_OUT, 0, -1, 3, GTH_OPEN}},
                        {f32, {GTH_OPEN, 3}, {GTH_E_SHAPE, GTH_OPERAND_OUT, 1, -1, 3, 2}},
                        {f32, {GTH_OPEN}, {GTH_E_RANK, GTH_OPERAND_OUT, -1, -1, 1, 2}},
                        {i64, {GTH_OPEN, 2}, {GTH_E_DTYPE, GTH_OPERAND_OUT, -1, -1, i64, f32}}};
  for (const Case& each : cases) {
    const Described out(each.dtype, each.shape);
    gth_plan* plan = nullptr;
    Error error;
    expect_facts(calls::gather.plan(&p.desc, &i.desc, &out.desc, nullptr, &plan, &error), error, each.facts);
  }
}

TEST(Plans, OutputWithOverlappingElementsIsRejected) {
  const Described p(f32, {4, 2}), i(i64, {GTH_OPEN});
  for (const Shape& strides : {Shape{8, 2}, Shape{0, 4}}) {
    const Described out(f32, {GTH_OPEN, 2}, strides);
    gth_plan* plan = nullptr;
    EXPECT_EQ(calls::gather.plan(&p.desc, &i.desc, &out.desc, nullptr, &plan, nullptr), GTH_E_STRIDE);
  }
}

// Dims with larger strides than the open dim limit it together, each with the range of the dims below it.
TEST(Plans, OutputDimsWithLargerStridesLimitN) {
  const Described p(u8, {3, 3, 4}), i(i64, {GTH_OPEN});
  const gth_options axis = with_axis(2);
  const Described out(u8, {3, 3, GTH_OPEN}, {17, 6, 1});
  const Planned planned(g, p, i, &axis, &out);
  const Array params(u8, {3, 3, 4}), indices = indices64({6}, {3, 2, 1, 0, 3, 2}), memory(u8, {64});
  ASSERT_TRUE(planned.plan.get());
  EXPECT_EQ(planned.run(params.data(), indices.data(), memory.data(), 5), GTH_OK);
  Error error;
  expect_facts(planned.run(params.data(), indices.data(), memory.data(), 6, &error), error, n_too_large(6, 5));
}

// Arithmetic stays inside int64 for all values of a description. The call returns a status and no invalid result.
TEST(Plans, OutputStridesNearInt64MaxDoNotOverflow) {
  const gth_options axis = with_axis(1);
  const Described p(u8, {2, 4}), i(i64, {GTH_OPEN});
  char byte[8] = {};
  for (int64_t stride : {INT64_MAX, INT64_MAX - 100, INT64_MIN, INT64_MIN + 1, INT64_MAX / 2}) {
    for (int64_t other : {int64_t{1}, int64_t{-1}, int64_t{3}, INT64_MIN, INT64_MAX}) {
      const Described out(u8, {2, GTH_OPEN}, {stride, other});
      Plan plan;
      if (calls::gather.plan(&p.desc, &i.desc, &out.desc, &axis, plan.out(), nullptr)) continue;
      for (int64_t n : {INT64_MAX, INT64_MAX / 2, INT64_MAX / 3}) {
        EXPECT_NE(gth_plan_run(nullptr, plan.get(), n, byte, byte, byte, nullptr), GTH_OK);
      }
    }
  }
}

TEST(Plans, OpenDimsWithHostileStridesAndOffsetsDoNotOverflow) {
  char byte[8] = {};
  const int64_t numbers[] = {INT64_MAX, INT64_MAX - 7, INT64_MIN, INT64_MIN + 7, INT64_MAX / 2, -1, 0};
  for (int64_t stride : numbers) {
    for (int64_t offset : numbers) {
      const Described p(u8, {4});
      Described i(i64, {GTH_OPEN}, {stride});
      i.desc.offset = offset;
      Plan plan;
      if (calls::gather.plan(&p.desc, &i.desc, nullptr, nullptr, plan.out(), nullptr)) continue;
      EXPECT_GE(offset, 0) << "element 0 lies in front of the memory";
      for (int64_t n : {INT64_MAX, INT64_MAX / 2}) {
        EXPECT_NE(gth_plan_run(nullptr, plan.get(), n, byte, byte, byte, nullptr), GTH_OK);
      }
    }
    const Described p(u8, {4});
    Described dense(i64, {GTH_OPEN});
    dense.desc.offset = stride;
    Plan plan;
    if (calls::gather.plan(&p.desc, &dense.desc, nullptr, nullptr, plan.out(), nullptr)) continue;
    EXPECT_GE(stride, 0) << "element 0 lies in front of the memory";
    EXPECT_NE(gth_plan_run(nullptr, plan.get(), INT64_MAX / 16, byte, byte, byte, nullptr), GTH_OK);
  }
}

// The number of tuples is limited even if nothing is read or written for them.
TEST(Plans, LargestNWithoutOutputIsLimited) {
  const Described p(u8, {3, 0}), i(i64, {4, GTH_OPEN}, {0, 0}), o(u8, {4, GTH_OPEN, 0}, {8, 8, 8});
  const Planned planned(g, p, i, nullptr, &o);
  int64_t zero = 0;
  EXPECT_EQ(planned.run(nullptr, &zero, nullptr, INT64_MAX), GTH_E_SIZE);
  EXPECT_EQ(planned.run(nullptr, &zero, nullptr, 5), GTH_OK);
}

// Another empty dim does not remove the open extent, with strides of any operands.
TEST(Plans, OpenExtentBesideAnEmptyDimIsAccepted) {
  const gth_options one = with_batch(1);
  for (int32_t which = 0; which < 8; ++which) {
    const Described p(u8, {0, 4}, which & 1 ? Shape{4, 1} : Shape{});
    const Described i(i64, {0, GTH_OPEN}, which & 2 ? Shape{40, 8} : Shape{});
    const Described o(u8, {0, GTH_OPEN}, which & 4 ? Shape{10, 1} : Shape{});
    const Planned planned(g, p, i, &one, &o);
    Error error;
    EXPECT_EQ(planned.run(nullptr, nullptr, nullptr, 3), GTH_OK) << which;
    expect_facts(planned.run(nullptr, nullptr, nullptr, GTH_OPEN, &error), error, n_fault(GTH_OPEN, 0));
  }
}

TEST(Plans, NullIsAcceptedOnlyWithoutElements) {
  const Array params(f32, {4, 2}), indices = indices64({2}, {3, 0});
  Array out(f32, {2, 2});
  const Bytes before = out.bytes();
  const Planned planned(g, Described(f32, {4, 2}), Described(i64, {GTH_OPEN}));
  Error error;
  expect_facts(planned.run(nullptr, indices.data(), out.data(), 2, &error), error, {GTH_E_NULL, GTH_OPERAND_PARAMS});
  expect_facts(planned.run(params.data(), nullptr, out.data(), 2, &error), error, {GTH_E_NULL, GTH_OPERAND_INDICES});
  expect_facts(planned.run(params.data(), indices.data(), nullptr, 2, &error), error, {GTH_E_NULL, GTH_OPERAND_OUT});
  EXPECT_TRUE(out.bytes() == before);
  EXPECT_EQ(planned.run(nullptr, nullptr, nullptr, 0), GTH_OK);
  const Planned everything(nd, Described(f32, {4, 2}), Described(i64, {GTH_OPEN, 0}));
  Array copies(f32, {1, 4, 2});
  EXPECT_EQ(everything.run(params.data(), nullptr, copies.data(), 1), GTH_OK);
  EXPECT_TRUE(copies.bytes() == params.bytes());
}

TEST(Plans, OverlapIsRejectedAtTheRun) {
  Array memory(f32, {16});
  const Array indices = indices64({2}, {3, 0});
  const Planned planned(g, Described(f32, {4, 2}), Described(i64, {GTH_OPEN}));
  char* data = memory.data();
  Error error;
  const Facts params_alias{GTH_E_ALIAS, GTH_OPERAND_OUT, -1, -1, GTH_OPERAND_PARAMS, 0};
  expect_facts(planned.run(data, indices.data(), data + 31, 2, &error), error, params_alias);
  EXPECT_EQ(planned.run(data, indices.data(), data + 32, 2), GTH_OK);
  EXPECT_EQ(planned.run(data + 16, indices.data(), data, 2), GTH_OK);
  expect_facts(planned.run(data + 15, indices.data(), data, 2, &error), error, params_alias);
}

TEST(Plans, InvalidIndexOfARunIsReported) {
  const Array params(f32, {4, 2}), indices = indices64({3}, {3, 0, 4});
  Array out(f32, {3, 2});
  const Bytes before = out.bytes();
  const Planned planned(g, Described(f32, {4, 2}), Described(i64, {GTH_OPEN}));
  Error error;
  expect_facts(planned.run(params.data(), indices.data(), out.data(), 3, &error), error,
               {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, 4, 4});
  EXPECT_TRUE(out.bytes() == before);
  EXPECT_EQ(planned.run(params.data(), indices.data(), out.data(), 2), GTH_OK);
}

// A check does nothing else.
TEST(Plans, CheckValidatesIndices) {
  const Array indices = indices64({3}, {3, 0, 4});
  const Planned open(g, Described(f32, {4, 2}), Described(i64, {GTH_OPEN})),
      closed(g, Described(f32, {4, 2}), Described(i64, {3}));
  Error error;
  EXPECT_EQ(calls::check(nullptr, open.plan.get(), 2, indices.data(), &error), GTH_OK) << error.message;
  expect_facts(calls::check(nullptr, open.plan.get(), 3, indices.data(), &error), error,
               {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, 4, 4});
  expect_facts(calls::check(nullptr, closed.plan.get(), GTH_OPEN, indices.data(), &error), error,
               {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, 4, 4});
  const gth_options skip = with_bounds(GTH_BOUNDS_SKIP);
  const Planned lenient(g, Described(f32, {4, 2}), Described(i64, {GTH_OPEN}), &skip);
  EXPECT_EQ(calls::check(nullptr, lenient.plan.get(), 3, indices.data(), &error), GTH_OK) << error.message;
}

TEST(Plans, CheckWithAnInvalidNIsRejected) {
  const Array indices = indices64({1}, {0});
  const Planned open(g, Described(f32, {4, 2}), Described(i64, {GTH_OPEN})),
      closed(g, Described(f32, {4, 2}), Described(i64, {1}));
  Error error;
  for (int64_t n : {int64_t{-1}, int64_t{-2}, INT64_MIN}) {
    expect_facts(calls::check(nullptr, open.plan.get(), n, indices.data(), &error), error, n_fault(n, 0));
  }
  expect_facts(calls::check(nullptr, open.plan.get(), INT64_MAX, indices.data(), &error), error,
               n_too_large(INT64_MAX, INT64_MAX / 8));
  expect_facts(calls::check(nullptr, closed.plan.get(), 1, indices.data(), &error), error, n_fault(1, GTH_OPEN));
  expect_facts(calls::check(nullptr, open.plan.get(), 1, nullptr, &error), error, {GTH_E_NULL, GTH_OPERAND_INDICES});
  EXPECT_EQ(calls::check(nullptr, open.plan.get(), 0, nullptr, &error), GTH_OK) << error.message;
}

TEST(Plans, PlansOfStringsAreRejected) {
  gth_plan* plan = nullptr;
  Error error;
  const Described p(GTH_DTYPE_STRING, {4}), i(i64, {2});
  EXPECT_EQ(calls::gather.plan(&p.desc, &i.desc, nullptr, nullptr, &plan, &error), GTH_E_UNSUPPORTED);
  EXPECT_EQ(error.operand, GTH_OPERAND_PARAMS);
}

TEST(Plans, UnavailableDevicesAreRejected) {
  gth_plan* plan = nullptr;
  Error error;
  Described p(f32, {4}), i(i64, {2});
  p.desc.device = i.desc.device = 99;
  expect_facts(calls::gather.plan(&p.desc, &i.desc, nullptr, nullptr, &plan, &error), error,
               {GTH_E_DEVICE, GTH_OPERAND_PARAMS, -1, -1, 99, 0});
}

TEST(Plans, OperandOnAnUnknownDeviceIsReported) {
  gth_plan* plan = nullptr;
  Error error;
  Described p(f32, {4}), i(i64, {2}), o(f32, {2});
  i.desc.device = 99;
  expect_facts(calls::gather.plan(&p.desc, &i.desc, nullptr, nullptr, &plan, &error), error,
               {GTH_E_DEVICE, GTH_OPERAND_INDICES, -1, -1, 99, 0});
  i.desc.device = 0;
  o.desc.device = -1;
  expect_facts(calls::gather.plan(&p.desc, &i.desc, &o.desc, nullptr, &plan, &error), error,
               {GTH_E_DEVICE, GTH_OPERAND_OUT, -1, -1, -1, 0});
}

// The described memory limits the open extent.
TEST(Plans, OpenExtentStaysInsideTheDescribedMemory) {
  Described params(f32, {8}), indices(i64, {GTH_OPEN}), out(f32, {GTH_OPEN});
  indices.desc.extent = 10 * 8;
  std::vector<float> table(8, 1.f);
  std::vector<int64_t> rows(20, 7);
  std::vector<float> result(20, -1.f);
  const Planned over_indices(g, params, indices);
  Error error;
  EXPECT_EQ(over_indices.run(table.data(), rows.data(), result.data(), 10), GTH_OK);
  expect_facts(over_indices.run(table.data(), rows.data(), result.data(), 11, &error), error, n_too_large(11, 10));

  indices.desc.extent = 0;
  out.desc.extent = 3 * 4 + 2;  // part of a row does not count
  const Planned over_out(g, params, indices, nullptr, &out);
  EXPECT_EQ(over_out.run(table.data(), rows.data(), result.data(), 3), GTH_OK);
  expect_facts(over_out.run(table.data(), rows.data(), result.data(), 4, &error), error, n_too_large(4, 3));

  Described batches(f32, {GTH_OPEN, 4}), numbers(i64, {GTH_OPEN, 1});
  batches.desc.extent = 2 * 16;
  const gth_options batch = with_batch(1);
  const Planned over_params(g, batches, numbers, &batch);
  expect_facts(over_params.run(table.data(), rows.data(), result.data(), 3, &error), error, n_too_large(3, 2));
}

TEST(Plans, OneStepOfAnOpenExtentMustFit) {
  Described params(f32, {8}), indices(i64, {GTH_OPEN});
  indices.desc.extent = 7;
  gth_plan* plan = nullptr;
  Error error;
  expect_facts(g.plan(&params.desc, &indices.desc, nullptr, nullptr, &plan, &error), error,
               {GTH_E_STRIDE, GTH_OPERAND_INDICES, -1, -1, 8, 7});
}

// A run has the same limit as a description: at most 2^63 - 1 bytes, even with strides of 0.
TEST(Plans, SizeLimitAppliesToRuns) {
  const Described params(f32, {8, 0}), indices(i64, {GTH_OPEN}, {0});
  gth_options options = with_profile(GTH_PROFILE_NUMPY_RAISE);  // which validates indices of an empty output
  const Planned planned(g, params, indices, &options);
  const int64_t row = 7;
  float result;
  Error error;
  expect_facts(planned.run(nullptr, &row, &result, INT64_MAX, &error), error, n_too_large(INT64_MAX, INT64_MAX / 8));
}

// A repeated index is validated once, for any number of repetitions.
TEST(Plans, ValidationTimeDependsOnTheMemoryOfIndices) {
  const Described params(f32, {8, 0}), indices(i64, {GTH_OPEN}, {0});
  const gth_options options = with_profile(GTH_PROFILE_NUMPY_RAISE);
  const Planned planned(g, params, indices, &options);
  const int64_t good = 7, bad = 8;
  float result;
  Error error;
  EXPECT_EQ(planned.run(nullptr, &good, &result, INT64_MAX / 8, &error), GTH_OK) << error.message;
  expect_facts(planned.run(nullptr, &bad, &result, INT64_MAX / 8, &error), error,
               {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 0, 8, 8, GTH_ERROR_WRAP});
}

// The same holds for a description.
TEST(Plans, ValidationTimeOfADescriptionDependsOnItsMemory) {
  const Described params(f32, {8, 0}), indices(i64, {INT64_MAX / 8}, {0}), out(f32, {INT64_MAX / 8, 0});
  const gth_options options = with_profile(GTH_PROFILE_NUMPY_RAISE);
  const int64_t bad = 8;
  gth_tensor_desc i = indices.desc;
  i.data = &bad;
  Error error;
  expect_facts(gth_gather(nullptr, &params.desc, &i, &out.desc, &options, &error), error,
               {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 0, 8, 8, GTH_ERROR_WRAP});
}

// Open dims are compared one by one and must agree.
TEST(Plans, OpenBatchDimsOfOnnxRuntimeMustAgree) {
  const gth_options one = with_profile(GTH_PROFILE_ORT, 1), two = with_profile(GTH_PROFILE_ORT, 2);
  expect_plan(nd, {GTH_OPEN, 4}, {GTH_OPEN, 3, 1}, &one);
  expect_plan(nd, {2, 4}, {2, GTH_OPEN, 1}, &one);
  expect_no_plan(nd, {3, 4}, {2, GTH_OPEN, 1}, &one, {GTH_E_BATCH, GTH_OPERAND_INDICES, 0, -1, 2, 3});
  expect_no_plan(nd, {2, 2, 4}, {GTH_OPEN, 1}, &two,
                 {GTH_E_BATCH, GTH_OPERAND_OPTIONS, offsetof(gth_options, batch_dims), -1, 2, 2});
  const Described params(f32, {2, 4}), indices(i64, {2, GTH_OPEN, 1}), rows(i64, {GTH_OPEN, 1});
  expect_shape({nd, params.desc, indices.desc, &one}, {2, GTH_OPEN});
  const Described batches(f32, {2, 2, 4});
  expect_shape({nd, batches.desc, rows.desc, &two}, {GTH_OPEN});
}

// ONNX Runtime's rule counts tuples, which is not possible for open extents. Dims beyond the rank of indices are not
// read.
TEST(Plans, BatchDimsBeyondTheRankOfIndicesAreNotRead) {
  Guarded pages(1);
  const int64_t params_shape[] = {GTH_OPEN, 2, 3};
  int64_t* indices_shape = reinterpret_cast<int64_t*>(pages.at(sizeof(int64_t), false));
  *indices_shape = 1;
  gth_tensor_desc p = GTH_TENSOR_DESC_INIT, i = GTH_TENSOR_DESC_INIT;
  p.dtype = f32;
  p.ndim = 3;
  p.shape = params_shape;
  i.dtype = i64;
  i.ndim = 1;
  i.shape = indices_shape;
  const gth_options options = with_profile(GTH_PROFILE_ORT, 2);
  int32_t ndim = -1;
  int64_t shape[GTH_MAX_NDIM];
  Error error;
  EXPECT_EQ(nd.infer(&p, &i, &options, GTH_MAX_NDIM, &ndim, shape, &error), GTH_OK) << error.message;
  EXPECT_EQ(ndim, 0);
  gth_plan* plan = nullptr;
  expect_facts(nd.plan(&p, &i, nullptr, &options, &plan, &error), error,
               {GTH_E_BATCH, GTH_OPERAND_OPTIONS, offsetof(gth_options, batch_dims), -1, 2, 1});
}

}  // namespace
