#include <atomic>
#include <thread>

#include "hostile.hpp"

// Calls with at most 1,024 rows, and scatters of as many by a plan, take the fast path. These tests cover its limits:
// numbers of tuples and components, index types, row sizes and errors.
namespace {

using namespace hostile;

constexpr int32_t u8 = GTH_DTYPE_UINT8;

Array indices_of(int32_t dtype, const Shape& shape, const std::vector<int64_t>& values) {
  switch (dtype) {
    case GTH_DTYPE_INT64: return indices64(shape, values);
    case GTH_DTYPE_INT32: return indices32(shape, std::vector<int32_t>(values.begin(), values.end()));
    case GTH_DTYPE_INT8: return Array(dtype, shape, std::vector<int8_t>(values.begin(), values.end()));
    case GTH_DTYPE_UINT32: return Array(dtype, shape, std::vector<uint32_t>(values.begin(), values.end()));
    default: return Array(GTH_DTYPE_UINT64, shape, std::vector<uint64_t>(values.begin(), values.end()));
  }
}

constexpr int32_t signed_types[] = {GTH_DTYPE_INT64, GTH_DTYPE_INT32, GTH_DTYPE_INT8};
constexpr int32_t index_types[] = {GTH_DTYPE_INT64, GTH_DTYPE_INT32, GTH_DTYPE_INT8, GTH_DTYPE_UINT32,
                                   GTH_DTYPE_UINT64};

TEST(RunShort, EveryTupleCountAndRowSizeIsGathered) {
  for (int64_t row : {1, 3, 4, 8, 64, 65, 32767, 32768, 32769}) {
    const Array params(u8, {3, row});
    for (int64_t tuples = 1; tuples <= 10; ++tuples) {
      std::vector<int64_t> rows;
      for (int64_t i = 0; i < tuples; ++i) rows.push_back(i * 2 % 3);
      for (int32_t dtype : index_types) {
        const Array indices = indices_of(dtype, {tuples}, rows);
        expect_gathered({g, params.desc(), indices.desc()}, {tuples, row}, rows_of(params, row, rows));
        const Array pairs = indices_of(dtype, {tuples, 1}, rows);
        expect_gathered({nd, params.desc(), pairs.desc()}, {tuples, row}, rows_of(params, row, rows));
      }
    }
  }
}

TEST(RunShort, OptionOfOtherOperationsIsRefused) {
  const Array params(u8, {3, 4}), indices = indices64({2}, {2, 0}), out(u8, {2, 4});
  const int32_t offsets[] = {offsetof(gth_options, accumulate), offsetof(gth_options, bag_format),
                             offsetof(gth_options, pool),       offsetof(gth_options, empty),
                             offsetof(gth_options, initial),    offsetof(gth_options, order),
                             offsetof(gth_options, reserved)};
  for (const int32_t offset : offsets) {
    gth_options options = GTH_OPTIONS_INIT;
    reinterpret_cast<int32_t*>(&options)[offset / 4] = 1;
    expect_refused({g, params.desc(), indices.desc(), &options}, out,
                   {GTH_E_VERSION, GTH_OPERAND_OPTIONS, offset, -1, 1, 0});
  }
  gth_options padding = GTH_OPTIONS_INIT, bags = GTH_OPTIONS_INIT;
  padding.padding_index = 7;
  expect_refused({g, params.desc(), indices.desc(), &padding}, out,
                 {GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, padding_index), -1, 7, 0});
  bags.bag_count = 5;
  expect_refused({g, params.desc(), indices.desc(), &bags}, out,
                 {GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, bag_count), -1, 5, 0});
}

gth_options filling(int32_t fill_dtype) {
  gth_options options = with_bounds(GTH_BOUNDS_FILL);
  options.fill = GTH_FILL_VALUE;
  options.fill_value[0] = 0x0102030405060708;
  options.fill_dtype = fill_dtype;
  return options;
}

// Index 9 leaves the fast path, and so does index 1 in 1,025 tuples.
TEST(RunShort, FillValueOfAnotherDtypeIsRefused) {
  const Array params(GTH_DTYPE_INT32, {3, 1});
  for (const int64_t tuples : {1, 1024, 1025}) {
    for (const int64_t index : {1, 9}) {
      const Array indices = indices64({tuples, 1}, std::vector<int64_t>(static_cast<size_t>(tuples), index));
      const Array out(GTH_DTYPE_INT32, {tuples, 1}), wide(GTH_DTYPE_INT32, {tuples, 1, 1});
      for (const int32_t wrong : {GTH_DTYPE_FLOAT32, GTH_DTYPE_UINT32, GTH_DTYPE_STRING, 1, -1}) {
        const gth_options options = filling(wrong);
        const Facts facts{GTH_E_DTYPE, GTH_OPERAND_OPTIONS, offsetof(gth_options, fill_dtype), -1,
                          wrong,       GTH_DTYPE_INT32};
        expect_refused({g, params.desc(), indices.desc(), &options}, wide, facts);
        expect_refused({nd, params.desc(), indices.desc(), &options}, out, facts);
        expect_refused({calls::gather_elements, params.desc(), indices.desc(), &options}, out, facts);
      }
      for (const int32_t right : {0, GTH_DTYPE_INT32}) {
        const gth_options options = filling(right);
        const std::vector<int32_t> filled(static_cast<size_t>(tuples), 0x05060708);
        const Array value(GTH_DTYPE_INT32, {tuples, 1}, filled);
        const Bytes rows = rows_of(params, 4, std::vector<int64_t>(static_cast<size_t>(tuples), 1));
        expect_gathered({nd, params.desc(), indices.desc(), &options}, {tuples, 1}, index == 1 ? rows : value.bytes());
      }
    }
  }
}

TEST(RunShort, FillDtypeIsComparedWithTheTableOfEachKindOfOperation) {
  const Array table(GTH_DTYPE_FLOAT32, {3, 2}), ids = indices32({1}, {2}), rows(GTH_DTYPE_FLOAT32, {1, 2});
  const gth_tensor_desc operands[] = {table.desc(), ids.desc(), rows.desc()};
  gth_options options = filling(GTH_DTYPE_FLOAT64);
  options.bounds = 0;
  for (const int32_t op : {GTH_OP_GATHER, GTH_OP_SCATTER, GTH_OP_GATHER_GRADIENT, GTH_OP_GATHER_BAGS}) {
    const std::string name = op == GTH_OP_GATHER || op == GTH_OP_GATHER_BAGS ? "params" : "target";
    const gth_request request = GTH_REQUEST(op, &operands[0], &operands[1], &operands[2], &options);
    Error error;
    EXPECT_EQ(gth_run_request(nullptr, &request, &error), GTH_E_DTYPE) << op;
    EXPECT_EQ(error.message, "options: the fill value is float64, the dtype of " + name + " is float32");
  }
  gth_tensor_desc shape = GTH_TENSOR_DESC_INIT, untyped = table.desc();
  int64_t extents[GTH_MAX_NDIM];
  const gth_request typed = GTH_REQUEST(GTH_OP_GATHER, &operands[0], &operands[1], nullptr, &options);
  EXPECT_EQ(gth_infer(&typed, &shape, GTH_MAX_NDIM, extents, nullptr), GTH_E_DTYPE);
  untyped.dtype = 0;
  const gth_request any = GTH_REQUEST(GTH_OP_GATHER, &untyped, &operands[1], nullptr, &options);
  EXPECT_EQ(gth_infer(&any, &shape, GTH_MAX_NDIM, extents, nullptr), GTH_OK);
  options.fill = GTH_FILL_ZERO;  // The fill value has no effect.
  const gth_request unused = GTH_REQUEST(GTH_OP_GATHER, &operands[0], &operands[1], &operands[2], &options);
  EXPECT_EQ(gth_run_request(nullptr, &unused, nullptr), GTH_OK);
}

// From 16 tuples on, kernels resolve blocks of 256 tuples.
TEST(RunShort, EveryBlockOfTuplesIsGathered) {
  for (int64_t row : {1, 2, 4, 8, 12, 16, 100}) {
    const Array params(u8, {6, 2, row});
    for (int64_t tuples : {15, 16, 17, 255, 256, 257, 1023, 1024, 1025}) {
      std::vector<int64_t> numbers, firsts, pairs;
      for (int64_t i = 0; i < tuples; ++i) {
        numbers.push_back(i * 5 % 12);
        firsts.push_back(i % 6);
        pairs.insert(pairs.end(), {numbers.back() / 2, numbers.back() % 2});
      }
      for (int32_t dtype : index_types) {
        expect_gathered({g, params.desc(), indices_of(dtype, {tuples}, firsts).desc()}, {tuples, 2, row},
                        rows_of(params, 2 * row, firsts));
        expect_gathered({nd, params.desc(), indices_of(dtype, {tuples, 2}, pairs).desc()}, {tuples, row},
                        rows_of(params, row, numbers));
      }
    }
  }
}

// Element (i, j, k) along axis 1 is params[i, indices[i, j, k], k].
TEST(RunShort, ElementsAreGatheredAlongEveryAxis) {
  for (const Shape& shape : {Shape{7}, Shape{1, 1, 1}, Shape{3, 5}, Shape{4, 4, 4}, Shape{300, 1}, Shape{1, 300},
                             Shape{300, 3}, Shape{3, 300}, Shape{4, 16, 16}, Shape{4, 16, 17}, Shape{2, 3, 0}}) {
    const int64_t ndim = static_cast<int64_t>(shape.size()), count = count_of(shape);
    for (int64_t axis = -ndim; axis < ndim; ++axis) {
      const size_t dim = static_cast<size_t>(axis < 0 ? axis + ndim : axis);
      Shape extents = shape;
      extents[dim] = 9;
      const int64_t columns = count_of(Shape(shape.begin() + static_cast<int64_t>(dim) + 1, shape.end()));
      std::vector<int64_t> values, places;
      for (int64_t i = 0; i < count; ++i) {
        values.push_back(i * 7 % 9);
        places.push_back(i / (columns * shape[dim]) * 9 * columns + values.back() * columns + i % columns);
      }
      const gth_options options = with_axis(axis);
      for (int32_t dtype : {u8, GTH_DTYPE_FLOAT16, GTH_DTYPE_FLOAT32, GTH_DTYPE_FLOAT64, GTH_DTYPE_COMPLEX128}) {
        const Array params(dtype, extents);
        for (int32_t index : {GTH_DTYPE_INT64, GTH_DTYPE_INT32}) {
          expect_gathered({calls::gather_elements, params.desc(), indices_of(index, shape, values).desc(), &options},
                          shape, rows_of(params, gth_dtype_size(dtype), places));
        }
      }
    }
  }
}

TEST(RunShort, InvalidElementsAreRejected) {
  constexpr int64_t huge = int64_t{1} << 60;
  const Array params(u8, {4, 3}), indices = indices64({2, 3}, {0, 1, 2, 3, 4, 0}), out(u8, {2, 3});
  const Operation e = calls::gather_elements;
  expect_refused({e, params.desc(), indices.desc()}, out, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 4, 4, 4});
  const Array wide = indices64({2, 4}, std::vector<int64_t>(8)), wide_out(u8, {2, 4});
  expect_refused({e, params.desc(), wide.desc()}, wide_out, {GTH_E_SHAPE, GTH_OPERAND_INDICES, 1, -1, 4, 3});
  const gth_options beyond = with_axis(2);
  expect_refused({e, params.desc(), indices.desc(), &beyond}, out,
                 {GTH_E_AXIS, GTH_OPERAND_OPTIONS, offsetof(gth_options, axis), -1, 2, 2});
  gth_options stray = GTH_OPTIONS_INIT;
  stray.axis = 1;
  expect_refused({e, params.desc(), indices.desc(), &stray}, out,
                 {GTH_E_AXIS, GTH_OPERAND_OPTIONS, offsetof(gth_options, axis), -1, 1, 0});
  const Shape distant{huge, 3};
  const gth_tensor_desc large = describe(GTH_DTYPE_FLOAT32, distant, params.data());
  const Array numbers(GTH_DTYPE_FLOAT32, {2, 3});
  expect_fault({e, large, indices.desc()}, numbers.desc(), {GTH_E_SIZE, GTH_OPERAND_PARAMS, -1, -1, 3, INT64_MAX});
}

TEST(RunShort, EveryShapeOfIndicesIsGathered) {
  const Array params(u8, {5, 2, 3});
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1, 1}, Shape{2, 4}, Shape{8, 1}, Shape{3, 3}, Shape{0}}) {
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < count_of(shape); ++i) rows.push_back((i * 3 + 1) % 5);
    Shape expected = shape;
    expected.insert(expected.end(), {2, 3});
    expect_gathered({g, params.desc(), indices64(shape, rows).desc()}, expected, rows_of(params, 6, rows));
  }
}

TEST(RunShort, EveryNumberOfComponentsIsGathered) {
  const Array params(u8, {2, 3, 2, 2, 3, 2, 5});
  const Shape extents{2, 3, 2, 2, 3, 2};
  for (int64_t components = 1; components <= 6; ++components) {
    std::vector<int64_t> tuple;
    int64_t row = 5, number = 0;
    for (int64_t i = 0; i < 6; ++i) {
      const int64_t extent = extents[static_cast<size_t>(i)];
      if (i < components) tuple.push_back(extent - 1);
      if (i < components) number = number * extent + extent - 1;
      if (i >= components) row *= extent;
    }
    Shape shape(extents.begin() + components, extents.end());
    shape.push_back(5);
    for (int32_t dtype : index_types) {
      const Array indices = indices_of(dtype, {components}, tuple);
      expect_gathered({nd, params.desc(), indices.desc()}, shape, rows_of(params, row, {number}));
    }
    // The last component is out of bounds by one.
    tuple.back() += 1;
    const Array out(u8, shape);
    const int64_t limit = extents[static_cast<size_t>(components - 1)];
    expect_refused({nd, params.desc(), indices64({components}, tuple).desc()}, out,
                   {GTH_E_INDEX, GTH_OPERAND_INDICES, static_cast<int32_t>(components - 1), 0, limit, limit});
  }
}

TEST(RunShort, NegativeIndicesAreWrappedOrRejected) {
  const Array params(u8, {4, 3}), out(u8, {2, 3});
  const gth_options wrap = with_bounds(0, GTH_NEGATIVE_WRAP), reject = with_bounds(0, GTH_NEGATIVE_REJECT);
  for (int32_t dtype : signed_types) {
    const Array indices = indices_of(dtype, {2}, {-1, -4}), beyond = indices_of(dtype, {2}, {0, -5});
    expect_gathered({g, params.desc(), indices.desc(), &wrap}, {2, 3}, rows_of(params, 3, {3, 0}));
    expect_refused({g, params.desc(), indices.desc(), &reject}, out, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 0, -1, 4});
    expect_refused({g, params.desc(), beyond.desc(), &wrap}, out,
                   {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, -5, 4, GTH_ERROR_WRAP});
  }
}

TEST(RunShort, EveryBoundsModeGivesItsResult) {
  const Array params(u8, {4, 1}, std::vector<uint8_t>{10, 11, 12, 13});
  const Array good = indices64({2}, {3, 1}), bad = indices64({2}, {2, 5});
  const Bytes answers[] = {{}, {}, {12, 0}, {12, 13}, {12, 11}};  // by bounds
  for (int32_t bounds = GTH_BOUNDS_ERROR; bounds <= GTH_BOUNDS_MODULO; ++bounds) {
    const gth_options options = with_bounds(bounds);
    expect_gathered({g, params.desc(), good.desc(), &options}, {2, 1}, {13, 11});
    if (bounds != GTH_BOUNDS_ERROR) {
      expect_gathered({g, params.desc(), bad.desc(), &options}, {2, 1}, answers[bounds]);
    }
  }
  const gth_options skip = with_bounds(GTH_BOUNDS_SKIP);
  Array out(u8, {2, 1});
  out.fill('#');
  const gth_tensor_desc p = params.desc(), i = bad.desc(), o = out.desc();
  EXPECT_EQ(gth_gather(nullptr, &p, &i, &o, &skip, nullptr), GTH_OK);
  EXPECT_EQ(out.bytes(), (Bytes{12, '#'}));
}

TEST(RunShort, OffsetsAndExtentsAreRespected) {
  const Array params(u8, {6, 2});
  gth_tensor_desc part = params.desc();
  const Shape shape{4, 2};
  part.shape = shape.data();
  part.offset = 4;
  part.extent = 12;
  const Array indices = indices64({1}, {3}), out(u8, {1, 2});
  expect_gathered({g, part, indices.desc()}, {1, 2}, rows_of(params, 2, {5}));
  part.extent = 11;
  const gth_tensor_desc i = indices.desc(), o = out.desc();
  EXPECT_EQ(gth_gather(nullptr, &part, &i, &o, nullptr, nullptr), GTH_E_STRIDE);
}

// An invalid call with few rows has the same errors as a large one.
TEST(RunShort, SizesBeyondInt64AreRejected) {
  constexpr int64_t huge = int64_t{1} << 62;
  float number = 0;
  const int64_t zero = 0;
  const Shape one{1};
  const gth_tensor_desc indices = describe(GTH_DTYPE_INT64, one, &zero);
  struct Case {
    Shape params, out;
    int64_t dim;
  };
  for (const Case& each :
       {Case{{huge, 4}, {1, 4}, 4}, Case{{1, huge}, {1, huge}, huge}, Case{{1, 4, huge}, {1, 4, huge}, huge}}) {
    const gth_tensor_desc params = describe(GTH_DTYPE_FLOAT32, each.params, &number);
    const gth_tensor_desc out = describe(GTH_DTYPE_FLOAT32, each.out, &number);
    expect_fault({g, params, indices}, out,
                 {GTH_E_SIZE, GTH_OPERAND_PARAMS, -1, -1, each.params[0] == huge ? huge : each.dim, INT64_MAX});
  }
}

TEST(RunShort, MemoryThatIsTooSmallIsRejected) {
  const Array params(GTH_DTYPE_FLOAT32, {4, 2}), indices = indices64({3}, {2, 0, 3}), out(GTH_DTYPE_FLOAT32, {3, 2});
  gth_tensor_desc p = params.desc(), i = indices.desc(), o = out.desc();
  p.extent = 31;
  expect_refused({g, p, i}, out, {GTH_E_STRIDE, GTH_OPERAND_PARAMS, -1, -1, 32, 31});
  p.extent = 32;
  i.extent = 23;
  expect_refused({g, p, i}, out, {GTH_E_STRIDE, GTH_OPERAND_INDICES, -1, -1, 24, 23});
  i.extent = 24;
  o.extent = 23;
  const Bytes before = out.bytes();
  expect_fault({g, p, i}, o, {GTH_E_STRIDE, GTH_OPERAND_OUT, -1, -1, 24, 23});
  EXPECT_TRUE(out.bytes() == before);
  o.extent = 24;
  expect_gathered({g, p, i}, {3, 2}, rows_of(params, 8, {2, 0, 3}));
}

TEST(RunShort, DtypesWithoutSizeAreRejected) {
  const Array out(GTH_DTYPE_FLOAT32, {3, 2}), indices = indices64({3}, {2, 0, 3});
  for (const int32_t dtype : {0, 7, -1, GTH_DTYPE_STRING, INT32_MAX}) {
    gth_tensor_desc params = describe(dtype, out.shape(), out.data()), output = params;
    const Array target(GTH_DTYPE_FLOAT32, {3, 2});
    output.data = target.data();
    const Bytes before = target.bytes();
    const gth_tensor_desc i = indices.desc();
    Error error;
    expect_facts(gth_gather(nullptr, &params, &i, &output, nullptr, &error), error,
                 dtype == GTH_DTYPE_STRING ? Facts{GTH_E_UNSUPPORTED, GTH_OPERAND_PARAMS, -1, -1, GTH_DTYPE_STRING, 0}
                                           : Facts{GTH_E_DTYPE, GTH_OPERAND_PARAMS, -1, -1, dtype, 0});
    EXPECT_TRUE(target.bytes() == before);
  }
}

TEST(RunShort, RunOfAnOpenPlanReportsOverlapOfTheRowsThatItUses) {
  char memory[16] = {1, 2, 3, 4};
  const Shape rows{4}, open{GTH_OPEN};
  const gth_tensor_desc p = describe(u8, rows, memory + 8), i = describe(GTH_DTYPE_INT64, open, nullptr);
  const int64_t indices[4] = {3, 2, 1, 0};
  Plan plan;
  ASSERT_EQ(calls::gather.plan(&p, &i, nullptr, nullptr, plan.out(), nullptr), GTH_OK);
  const auto run = [&](char* out, int64_t n) {
    Error error;
    return gth_plan_run(nullptr, plan.get(), n, memory + 8, indices, out, &error);
  };
  EXPECT_EQ(run(memory + 6, 2), GTH_OK);
  EXPECT_EQ(run(memory + 6, 3), GTH_E_ALIAS);
  EXPECT_EQ(run(memory + 11, 1), GTH_E_ALIAS);
  EXPECT_EQ(run(memory + 12, 4), GTH_OK);
  EXPECT_EQ(run(reinterpret_cast<char*>(const_cast<int64_t*>(indices)), 1), GTH_E_ALIAS);
  EXPECT_EQ(run(nullptr, 1), GTH_E_NULL);
  EXPECT_EQ(run(nullptr, 0), GTH_OK);
  EXPECT_EQ(run(memory, -2), GTH_E_SHAPE);
}

// The operands of a scatter of rows, and a plan of it.
struct PlannedScatter {
  PlannedScatter(int64_t rows, int64_t bytes, std::vector<int64_t> ids, const gth_options* options = nullptr)
      : target(u8, {rows, bytes}),
        indices(indices64({static_cast<int64_t>(ids.size())}, ids)),
        updates(u8, {static_cast<int64_t>(ids.size()), bytes}) {
    for (int64_t i = 0; i < count_of(updates.shape()); ++i)
      updates.data()[i] = static_cast<char>(i * 11 % 251 + i / 251);
    const gth_tensor_desc t = target.desc(), i = indices.desc(), u = updates.desc();
    EXPECT_EQ(calls::scatter.plan(&t, &i, &u, options, plan.out(), nullptr), GTH_OK);
    expected = target.bytes();
    const Bytes from = updates.bytes();
    for (size_t each = 0; each < ids.size(); ++each) {
      const int64_t row = ids[each] < 0 ? ids[each] + rows : ids[each];
      if (row < 0 || row >= rows) continue;
      const auto first = from.begin() + static_cast<int64_t>(each) * bytes;
      std::copy(first, first + bytes, expected.begin() + row * bytes);
    }
  }

  int32_t run(gth_error* error) const {
    return gth_plan_run(nullptr, plan.get(), GTH_OPEN, target.data(), indices.data(), updates.data(), error);
  }

  Array target, indices, updates;
  Plan plan;
  Bytes expected;  // The target after all updates of valid indices.
};

// The last update of a row wins.
TEST(RunShort, EveryTupleCountAndRowSizeIsScatteredByPlan) {
  for (int64_t bytes : {1, 2, 3, 4, 8, 12, 16, 64, 100, 32767, 32768, 32769}) {
    for (int64_t tuples : {1, 2, 15, 16, 17, 255, 256, 257, 1023, 1024, 1025}) {
      if (bytes > 100 && tuples > 17) continue;
      std::vector<int64_t> ids;
      for (int64_t i = 0; i < tuples; ++i) ids.push_back(i * i % 37);
      const PlannedScatter each(37, bytes, ids);
      Error error;
      EXPECT_EQ(each.run(&error), GTH_OK) << bytes << " bytes, " << tuples;
      EXPECT_TRUE(each.target.bytes() == each.expected) << bytes << " bytes, " << tuples;
    }
  }
}

TEST(RunShort, ScatterByPlanRefusesOneInvalidIndexBeforeTheFirstWrite) {
  for (int64_t tuples : {1, 15, 16, 17, 256, 257, 1024}) {
    std::vector<int64_t> ids;
    for (int64_t i = 0; i < tuples; ++i) ids.push_back(i * 3 % 7);
    for (int64_t bad : {int64_t{7}, int64_t{-1}}) {
      ids.back() = bad;
      const PlannedScatter each(7, 4, ids);
      const Bytes before = each.target.bytes();
      Error error;
      expect_facts(each.run(&error), error, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, tuples - 1, bad, 7});
      EXPECT_TRUE(each.target.bytes() == before);
    }
    const gth_options skip = with_bounds(GTH_BOUNDS_SKIP, GTH_NEGATIVE_WRAP);
    for (int64_t id : {7, -8, -1, -7}) {
      ids.back() = id;
      const PlannedScatter each(7, 4, ids, &skip);
      EXPECT_EQ(each.run(nullptr), GTH_OK);
      EXPECT_TRUE(each.target.bytes() == each.expected) << id;
    }
  }
}

// A scatter writes its target. Indices and updates may share memory.
TEST(RunShort, ScatterByPlanReportsOverlapOfTheTarget) {
  int64_t memory[8] = {2, 0, 1, 10, 11, 12, 13, 14};
  const Shape three{3};
  const gth_tensor_desc desc = describe(GTH_DTYPE_INT64, three, memory);
  Plan plan;
  ASSERT_EQ(calls::scatter.plan(&desc, &desc, &desc, nullptr, plan.out(), nullptr), GTH_OK);
  const auto run = [&](int64_t* target, int64_t* indices, int64_t* updates) {
    return gth_plan_run(nullptr, plan.get(), GTH_OPEN, target, indices, updates, nullptr);
  };
  EXPECT_EQ(run(memory + 2, memory, memory + 5), GTH_E_ALIAS);
  EXPECT_EQ(run(memory + 3, memory, memory + 5), GTH_E_ALIAS);
  EXPECT_EQ(run(memory + 5, memory, memory + 3), GTH_E_ALIAS);
  EXPECT_EQ(run(nullptr, memory, memory + 3), GTH_E_NULL);
  EXPECT_EQ(memory[4], 11);
  EXPECT_EQ(run(memory + 3, memory, memory), GTH_OK);
  EXPECT_EQ(std::vector<int64_t>(memory, memory + 8), (std::vector<int64_t>{2, 0, 1, 0, 1, 2, 13, 14}));
}

// A checked run accepts exactly the memory that it uses. One byte less is rejected before anything is written.
TEST(RunShort, CheckedRunsRejectMemoryThatIsTooSmall) {
  const Array params(u8, {4, 2}), indices = indices64({2}, {3, 1});
  const Shape open{GTH_OPEN};
  const gth_tensor_desc p = params.desc(), i = describe(GTH_DTYPE_INT64, open, nullptr);
  Plan plan;
  ASSERT_EQ(calls::gather.plan(&p, &i, nullptr, nullptr, plan.out(), nullptr), GTH_OK);
  Array out(u8, {2, 2});
  out.fill('#');
  Error error;
  const auto run = [&](int64_t params_extent, int64_t indices_extent, int64_t out_extent, int64_t n) {
    return calls::run_args(
        nullptr, plan.get(),
        calls::args(n, params.data(), indices.data(), out.data(), params_extent, indices_extent, out_extent), &error);
  };
  const int64_t needed[] = {8, 16, 4};
  for (int32_t operand = 0; operand < 3; ++operand) {
    int64_t given[] = {8, 16, 4};
    --given[operand];
    EXPECT_EQ(run(given[0], given[1], given[2], 2), GTH_E_SIZE);
    EXPECT_EQ(error.operand, GTH_OPERAND_PARAMS + operand);
    EXPECT_EQ(error.value, given[operand]);
    EXPECT_EQ(error.limit, needed[operand]);
  }
  EXPECT_EQ(run(8, 16, 4, -2), GTH_E_SHAPE);
  EXPECT_EQ(out.bytes(), Bytes(4, '#'));
  EXPECT_EQ(run(8, 16, 4, 2), GTH_OK);
  EXPECT_EQ(out.bytes(), rows_of(params, 2, {3, 1}));
  EXPECT_EQ(run(0, 0, 0, 0), GTH_OK);
}

// While another thread changes an index between valid and invalid, each row is that of a valid index.
TEST(RunShort, EachIndexIsReadOnce) {
  const Array params(GTH_DTYPE_INT64, {4}, std::vector<int64_t>{100, 101, 102, 103}), out(GTH_DTYPE_INT64, {1});
  volatile int64_t index = 0;
  const Shape one{1};
  const gth_tensor_desc p = params.desc(), o = out.desc();
  const gth_tensor_desc i = describe(GTH_DTYPE_INT64, one, const_cast<const int64_t*>(&index));
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends) {
      for (int repeat = 0; repeat < 100; ++repeat) index = 2, index = INT64_MAX / 64, index = 3, index = -(1 << 20);
    }
  });
  int64_t good = 0;
  for (int call = 0; call < 300000 && !HasFailure(); ++call) {
    const int32_t status = gth_gather(nullptr, &p, &i, &o, nullptr, nullptr);
    EXPECT_TRUE(status == GTH_OK || status == GTH_E_INDEX || status == GTH_E_RACE) << status;
    if (status) continue;
    int64_t row;
    std::memcpy(&row, out.data(), sizeof row);
    EXPECT_TRUE(row >= 100 && row <= 103) << row;
    ++good;
  }
  ends = true;
  other.join();
  EXPECT_GT(good, 0);
}

// A call with several blocks of tuples validates all blocks before it writes the first row. The kernels number the rows
// of each block from 0.
TEST(RunShort, SeveralBlocksAreValidatedBeforeTheFirstWrite) {
  for (int64_t tuples : {256, 257, 1000, 2047, 2048, 2049}) {
    for (int64_t components : {1, 2, 3, 4}) {
      Shape extents(static_cast<size_t>(components), 5);
      int64_t rows = 1;
      for (int64_t c = 0; c < components; ++c) rows *= 5;
      extents.push_back(3);
      const Array params(u8, extents);
      std::vector<int64_t> numbers, values;
      for (int64_t i = 0; i < tuples; ++i) {
        numbers.push_back(i * 7 % rows);
        for (int64_t c = components, scale = rows / 5; c > 0; --c, scale /= 5) {
          values.push_back(numbers.back() / scale % 5);
        }
      }
      const Array good = indices64({tuples, components}, values);
      expect_gathered({nd, params.desc(), good.desc()}, {tuples, 3}, rows_of(params, 3, numbers));
      const int64_t bad = tuples - 1;
      values[static_cast<size_t>(bad * components)] = 5;
      const Array indices = indices64({tuples, components}, values), out(u8, {tuples, 3});
      const Bytes before = out.bytes();
      const gth_tensor_desc p = params.desc(), i = indices.desc(), o = out.desc();
      gth_error error = GTH_ERROR_INIT;
      EXPECT_EQ(gth_gather_nd(nullptr, &p, &i, &o, nullptr, &error), GTH_E_INDEX);
      EXPECT_EQ(error.position, bad);
      EXPECT_EQ(error.value, 5);
      EXPECT_EQ(out.bytes(), before);
    }
  }
}

// A longer struct is accepted if its further bytes are zero. Other sizes are rejected.
TEST(RunShort, LongerStructsAreAcceptedIfZeroBeyondKnownFields) {
  struct Newer {
    gth_tensor_desc desc;
    int64_t field;
  };
  const Array params(u8, {3}), indices = indices64({1}, {2}), out(u8, {1});
  Newer newer{params.desc(), 0};
  newer.desc.size = sizeof newer;
  const gth_tensor_desc i = indices.desc(), o = out.desc();
  EXPECT_EQ(gth_gather(nullptr, &newer.desc, &i, &o, nullptr, nullptr), GTH_OK);
  EXPECT_EQ(out.bytes(), rows_of(params, 1, {2}));
  newer.field = 1;
  EXPECT_EQ(gth_gather(nullptr, &newer.desc, &i, &o, nullptr, nullptr), GTH_E_VERSION);
  gth_error error = GTH_ERROR_INIT;
  error.size = 8;
  const gth_tensor_desc p = params.desc();
  EXPECT_EQ(gth_gather(nullptr, &p, &i, &o, nullptr, &error), GTH_E_VERSION);
}

}  // namespace
