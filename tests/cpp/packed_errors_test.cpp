#include "packed_request.hpp"

// Every table, output and operand of a packed gather that the header refuses, with the fields of the error.
namespace {

using namespace hostile;

TEST(PackedErrors, ValidRequestIsAccepted) {
  Request r;
  r.expect_ok("operands");
  r.without_operands();
  r.expect_ok("no operands");
}

// ---- The table

TEST(PackedErrors, OtherDtypesThanFloatsAreRefused) {
  for (const int32_t dtype : {GTH_DTYPE_FLOAT64, GTH_DTYPE_INT8, GTH_DTYPE_UINT8, GTH_DTYPE_INT32, GTH_DTYPE_BOOL,
                              GTH_DTYPE_COMPLEX64, GTH_DTYPE_FLOAT8_E4M3FN}) {
    Request r;
    const Array out(dtype, {2, 32});
    r.params.dtype = dtype;
    r.rows = out.desc();
    r.expect({GTH_E_DTYPE, GTH_OPERAND_PARAMS, -1, -1, dtype, 0}, "a dtype");
  }
  Request r;
  const Array out(f16, {2, 32});
  r.rows = out.desc();
  r.expect({GTH_E_DTYPE, GTH_OPERAND_OUT, -1, -1, f16, f32}, "another dtype of the output");
}

TEST(PackedErrors, IndicesInTheLastDimAreRefused) {
  Request r;
  const Array out(f32, {4, 2});
  r.rows = out.desc();
  r.options = with_axis(1);
  r.expect({GTH_E_AXIS, GTH_OPERAND_OPTIONS, -1, -1, 1, 0}, "an axis");
  r.options = with_axis(-1);
  r.expect({GTH_E_AXIS, GTH_OPERAND_OPTIONS, -1, -1, 1, 0}, "a negative axis");
  r.options = GTH_OPTIONS_INIT;
  const Array tuples = indices64({2, 2}, {0, 0, 1, 1}), numbers(f32, {2});
  r.indices = tuples.desc();
  r.rows = numbers.desc();
  r.request.op = GTH_OP_GATHER_ND;
  r.expect({GTH_E_AXIS, GTH_OPERAND_OPTIONS, -1, -1, 1, 0}, "tuples");
  const Array vector(GTH_DTYPE_UINT8, {32}), id = indices64({2}, {0, 1});
  const Shape flat{32};
  r.params = describe(f32, flat, vector.data());
  r.params.codec = &r.codec;
  r.indices = id.desc();
  r.request.op = GTH_OP_GATHER;
  r.without_operands();
  r.expect({GTH_E_AXIS, GTH_OPERAND_OPTIONS, -1, -1, 0, -1}, "a row");
  r.request.op = GTH_OP_GATHER_BAGS;
  const Array borders = indices64({2}, {0, 2}), sum(f32, {1});
  const gth_tensor_desc bags = borders.desc();
  r.request.bags = &bags;
  r.rows = sum.desc();
  r.expect({GTH_E_AXIS, GTH_OPERAND_OPTIONS, -1, -1, 0, -1}, "bags of a row");
}

TEST(PackedErrors, L6_WrongStridesAreRefused) {
  Request r;
  for (const int64_t last : {int64_t{1}, int64_t{4}, int64_t{-1}, INT64_MIN}) {
    const int64_t strides[] = {32, last};
    r.params.strides = strides;
    r.expect({GTH_E_STRIDE, GTH_OPERAND_PARAMS, 1, -1, last, 0}, "the last stride");
  }
  Request three;
  three.without_operands();
  three.shape = {2, 2, 32};
  three.params.shape = three.shape.data();
  three.params.ndim = 3;
  const Array out(f32, {2, 2, 32}), ids = indices64({2}, {1, 0});
  three.rows = out.desc();
  three.indices = ids.desc();
  three.expect_ok("dense");
  for (const int64_t outer : {int64_t{0}, int64_t{63}, int64_t{65}, int64_t{-64}, int64_t{32}}) {
    const int64_t strides[] = {outer, 32, 0};
    three.params.strides = strides;
    three.expect({GTH_E_STRIDE, GTH_OPERAND_PARAMS, 0, -1, outer, 64}, "rows that are not equally far apart");
  }
  const int64_t strides[] = {0, 0, 0};
  three.params.strides = strides;
  three.expect_ok("all rows at the same place");
}

TEST(PackedErrors, L6_ShortMemoryIsRefused) {
  Request r;
  r.params.extent = 128;
  r.expect_ok("the last byte");
  r.params.extent = 127;
  r.expect({GTH_E_STRIDE, GTH_OPERAND_PARAMS, -1, -1, 128, 127}, "a byte less");
  r.params.extent = 130;
  r.params.offset = 3;
  r.expect({GTH_E_STRIDE, GTH_OPERAND_PARAMS, -1, -1, 131, 130}, "an offset");
  r.params.offset = -1;
  r.expect({GTH_E_STRIDE, GTH_OPERAND_PARAMS, -1, -1, -1, 130}, "a negative offset");
  r.params.offset = 0;
  const int64_t reversed[] = {-32, 0};
  r.params.strides = reversed;
  r.expect({GTH_E_STRIDE, GTH_OPERAND_PARAMS, -1, -1, -96, 130}, "negative strides");
  r.params.offset = 96;
  r.params.extent = 128;
  r.expect_ok("reversed rows");
  Request z;
  z.scales.extent = 31;
  z.expect({GTH_E_STRIDE, GTH_OPERAND_SCALES, -1, -1, 32, 31}, "scales");
  z.scales.extent = 32;
  z.zeros.extent = 7;
  z.expect({GTH_E_STRIDE, GTH_OPERAND_ZEROS, -1, -1, 8, 7}, "zeros");
}

TEST(PackedErrors, OpenExtentsOfPackedTablesAreRefused) {
  Request r;
  const Shape open{GTH_OPEN, 4, 32};
  const Array ids = indices64({2, 3}, {0, 1, 2, 3, 0, 1});
  const Shape open_ids{GTH_OPEN, 3};
  r.without_operands();
  r.params.shape = open.data();
  r.params.ndim = 3;
  r.indices = ids.desc();
  r.indices.shape = open_ids.data();
  r.options = with_batch(1);
  r.request.rows = nullptr;
  Error error;
  Plan plan;
  expect_facts(gth_plan_create(&r.request, plan.out(), &error), error,
               {GTH_E_UNSUPPORTED, GTH_OPERAND_PARAMS, 0, -1, GTH_OPEN, 0}, "a batch dim");
}

TEST(PackedErrors, OutputsWhoseNumbersAreNotContiguousAreRefused) {
  Request r;
  const Array wide(f32, {2, 64});
  const int64_t strides[] = {256, 8};
  r.rows = wide.desc();
  r.rows.shape = r.out.desc().shape;
  r.rows.strides = strides;
  r.expect({GTH_E_UNSUPPORTED, GTH_OPERAND_OUT, 1, -1, 8, 4}, "gaps");
  const int64_t reversed[] = {128, -4};
  r.rows.strides = reversed;
  r.rows.offset = 124;
  r.expect({GTH_E_UNSUPPORTED, GTH_OPERAND_OUT, 1, -1, -4, 4}, "reversed");
  const int64_t rows[] = {-256, 4};
  r.rows.strides = rows;
  r.rows.offset = 256;
  r.expect_ok("reversed rows");
}

// ---- Operands of the codec

TEST(PackedErrors, L7_ScalesOfAnotherRankShapeOrDtypeAreRefused) {
  struct Part {
    gth_tensor_desc Request::* desc;
    int32_t operand;
  };
  for (const Part& part : {Part{&Request::scales, GTH_OPERAND_SCALES}, Part{&Request::zeros, GTH_OPERAND_ZEROS}}) {
    const Array large(f32, {4, 4, 4});
    const auto expect = [&](const Shape& shape, const Facts& facts) {
      Request r;
      (r.*part.desc).data = large.data();
      (r.*part.desc).shape = shape.data();
      (r.*part.desc).ndim = static_cast<int32_t>(shape.size());
      if (facts.status == GTH_OK) return r.expect_ok("a shape");
      r.expect(facts, "a shape");
    };
    for (const Shape& good : {Shape{4, 2}, {1, 2}, {4, 1}, {1, 1}}) expect(good, {GTH_OK});
    expect({4}, {GTH_E_RANK, part.operand, -1, -1, 1, 2});
    expect({}, {GTH_E_RANK, part.operand, -1, -1, 0, 2});
    expect({4, 2, 1}, {GTH_E_RANK, part.operand, -1, -1, 3, 2});
    expect({3, 2}, {GTH_E_SHAPE, part.operand, 0, -1, 3, 4});
    expect({5, 2}, {GTH_E_SHAPE, part.operand, 0, -1, 5, 4});
    expect({4, 3}, {GTH_E_SHAPE, part.operand, 1, -1, 3, 2});
    expect({4, 32}, {GTH_E_SHAPE, part.operand, 1, -1, 32, 2});
    expect({0, 2}, {GTH_E_SHAPE, part.operand, 0, -1, 0, 4});
    expect({4, 0}, {GTH_E_SHAPE, part.operand, 1, -1, 0, 2});
    for (const int32_t dtype : {GTH_DTYPE_FLOAT64, GTH_DTYPE_INT32, GTH_DTYPE_FLOAT8_E5M2, GTH_DTYPE_BOOL}) {
      Request r;
      (r.*part.desc).dtype = dtype;
      (r.*part.desc).data = large.data();
      r.expect({GTH_E_DTYPE, part.operand, -1, -1, dtype, 0}, "a dtype");
    }
  }
  for (const int32_t dtype : {GTH_DTYPE_INT8, GTH_DTYPE_UINT8}) {
    Request r;
    r.scales.dtype = dtype;
    r.expect({GTH_E_DTYPE, GTH_OPERAND_SCALES, -1, -1, dtype, 0}, "integers as scales");
  }
}

TEST(PackedErrors, L7_DtypesThatDifferFromThoseOfTheCodecAreRefused) {
  Request r;
  r.codec.scale_dtype = f32;
  r.codec.zero_dtype = GTH_DTYPE_INT8;
  r.expect_ok("the same dtypes");
  r.codec.scale_dtype = f16;
  r.expect({GTH_E_DTYPE, GTH_OPERAND_SCALES, -1, -1, f32, f16}, "scales");
  r.codec.scale_dtype = f32;
  r.codec.zero_dtype = GTH_DTYPE_UINT8;
  r.expect({GTH_E_DTYPE, GTH_OPERAND_ZEROS, -1, -1, GTH_DTYPE_INT8, GTH_DTYPE_UINT8}, "zeros");
  for (const int32_t dtype : {GTH_ZERO_INT4, GTH_ZERO_UINT4}) {
    r.codec.zero_dtype = dtype;
    r.zeros.dtype = GTH_DTYPE_INT8;
    r.expect({GTH_E_DTYPE, GTH_OPERAND_ZEROS, -1, -1, GTH_DTYPE_INT8, GTH_DTYPE_UINT8}, "4 bits as int8");
    r.zeros.dtype = dtype;
    r.expect({GTH_E_DTYPE, GTH_OPERAND_ZEROS, -1, -1, dtype, GTH_DTYPE_UINT8}, "4 bits as their own dtype");
    r.zeros.dtype = GTH_DTYPE_UINT8;
    r.expect({GTH_E_SHAPE, GTH_OPERAND_ZEROS, 1, -1, 2, 1}, "a byte for each block");
  }
}

TEST(PackedErrors, ZerosOf4BitsMustBeContiguous) {
  Request r;
  r.codec.block_values = 8;
  r.codec.scales = nullptr, r.codec.scale_place = GTH_PLACE_NONE;
  r.codec.zero_dtype = GTH_ZERO_UINT4;
  const Array bytes(GTH_DTYPE_UINT8, {4, 8});
  const Shape shape{4, 2};
  r.zeros = describe(GTH_DTYPE_UINT8, shape, bytes.data());
  r.expect_ok("contiguous");
  for (const int64_t step : {int64_t{2}, int64_t{0}}) {
    const int64_t strides[] = {8, step};
    r.zeros.strides = strides;
    r.expect({GTH_E_STRIDE, GTH_OPERAND_ZEROS, 1, -1, step, 1}, "a stride");
  }
}

TEST(PackedErrors, ScalesWhoseRowsAreNotEquallyFarApartAreRefused) {
  Request r;
  r.codec.zeros = nullptr, r.codec.zero_place = GTH_PLACE_NONE;
  r.shape = {2, 2, 32};
  r.params.shape = r.shape.data();
  r.params.ndim = 3;
  const Array out(f32, {2, 2, 32}), ids = indices64({2}, {1, 0}), large(f32, {4, 4, 4});
  r.rows = out.desc();
  r.indices = ids.desc();
  r.scales.data = large.data();
  r.scales.ndim = 3;
  const Shape shape{2, 2, 2};
  r.scales.shape = shape.data();
  r.expect_ok("dense");
  for (const int64_t outer : {int64_t{0}, int64_t{8}, int64_t{20}}) {
    const int64_t strides[] = {outer, 8, 4};
    r.scales.strides = strides;
    r.expect({GTH_E_STRIDE, GTH_OPERAND_SCALES, 0, -1, outer, 16}, "strides");
  }
  r.scales.strides = nullptr;
  const Shape inner{2, 1, 2}, outer{1, 2, 2};
  r.scales.shape = inner.data();
  r.expect({GTH_E_STRIDE, GTH_OPERAND_SCALES, 0, -1, 8, 0}, "the inner dim is repeated");
  r.scales.shape = outer.data();
  r.expect({GTH_E_STRIDE, GTH_OPERAND_SCALES, 0, -1, 0, 16}, "the outer dim is repeated");
}

TEST(PackedErrors, L7_ScalesAreGivenIfAndOnlyIfTheyAreOperands) {
  Request r;
  r.codec.scales = nullptr;
  r.expect({GTH_E_NULL, GTH_OPERAND_SCALES}, "no scales");
  r.codec.scales = &r.scales;
  r.codec.zeros = nullptr;
  r.expect({GTH_E_NULL, GTH_OPERAND_ZEROS}, "no zeros");
  for (const int32_t place : {GTH_PLACE_NONE, GTH_PLACE_BLOCK, GTH_PLACE_TAIL}) {
    Request more;
    more.codec.block_bytes = 20, more.codec.row_tail = 4;
    more.codec.scale_place = place, more.codec.scale_dtype = place ? f16 : 0;
    more.codec.zeros = nullptr, more.codec.zero_place = GTH_PLACE_NONE;
    more.expect({GTH_E_VERSION, GTH_OPERAND_SCALES}, "scales without a place for them");
    Request zeros;
    zeros.codec.block_bytes = 20, zeros.codec.row_tail = 4;
    zeros.codec.zero_place = place, zeros.codec.zero_dtype = place ? f16 : 0;
    zeros.codec.scales = nullptr, zeros.codec.scale_place = GTH_PLACE_NONE;
    zeros.expect({GTH_E_VERSION, GTH_OPERAND_ZEROS}, "zeros without a place for them");
  }
  Request named;
  named.codec = GTH_CODEC_INIT;
  named.codec.structure = GTH_CODEC_MXFP4;
  named.codec.scales = &named.scales;
  named.expect({GTH_E_VERSION, GTH_OPERAND_SCALES}, "scales of a format by name");
}

TEST(PackedErrors, L7_ScalesWithoutDataAreRefused) {
  Request r;
  r.scales.data = nullptr;
  r.expect({GTH_E_NULL, GTH_OPERAND_SCALES}, "scales");
  r.scales.data = r.scale.data();
  r.zeros.data = nullptr;
  r.expect({GTH_E_NULL, GTH_OPERAND_ZEROS}, "zeros");
}

TEST(PackedErrors, L8_OutputsThatOverlapOperandsAreRefused) {
  Request r;
  const Array memory(f32, {3, 32});
  char* const first = memory.data() + 128;  // of the output, behind the bytes of a table
  r.rows.data = first;
  r.scales.data = first + 252;
  const Shape one{1, 1};
  r.scales.shape = one.data();
  r.expect({GTH_E_ALIAS, GTH_OPERAND_OUT, -1, -1, GTH_OPERAND_SCALES, 0}, "scales");
  r.scales.data = r.scale.data();
  r.zeros.data = first;
  r.zeros.shape = one.data();
  r.expect({GTH_E_ALIAS, GTH_OPERAND_OUT, -1, -1, GTH_OPERAND_ZEROS, 0}, "zeros");
  r.zeros.data = r.zero.data();
  r.params.data = first + 128;
  r.expect({GTH_E_ALIAS, GTH_OPERAND_OUT, -1, -1, GTH_OPERAND_PARAMS, 0}, "params");
  r.params.data = memory.data();
  r.expect_ok("params in front of the output");
}

TEST(PackedErrors, L8_OutputsThatOverlapScalesOfAnotherRequestAreRefused) {
  Request first, second;
  const Array memory(f32, {2, 32});
  first.rows.data = memory.data();
  second.scales.data = memory.data();
  const gth_request* const both[] = {&first.request, &second.request};
  Error error;
  EXPECT_EQ(gth_run_many(nullptr, 2, both, &error), GTH_E_ALIAS) << error.message;
  EXPECT_EQ(error.item + error.value, 1) << error.message;
}

// ---- Where a codec is not allowed

TEST(PackedErrors, L9_CodecsOfOtherOperandsAreRefused) {
  for (const int32_t operand : {GTH_OPERAND_INDICES, GTH_OPERAND_OUT, GTH_OPERAND_BAGS, GTH_OPERAND_WEIGHTS,
                                GTH_OPERAND_SCALES, GTH_OPERAND_ZEROS}) {
    Request r;
    const Array borders = indices64({2}, {0, 2}), sum(f32, {1, 32}), weight(f32, {2});
    gth_tensor_desc bags = borders.desc(), weights = weight.desc();
    if (operand == GTH_OPERAND_BAGS || operand == GTH_OPERAND_WEIGHTS) {
      r.request.op = GTH_OP_GATHER_BAGS;
      r.request.bags = &bags;
      r.request.weights = &weights;
      r.rows = sum.desc();
    }
    gth_codec other = r.codec;
    gth_tensor_desc& desc = operand == GTH_OPERAND_INDICES   ? r.indices
                            : operand == GTH_OPERAND_OUT     ? r.rows
                            : operand == GTH_OPERAND_BAGS    ? bags
                            : operand == GTH_OPERAND_WEIGHTS ? weights
                            : operand == GTH_OPERAND_SCALES  ? r.scales
                                                             : r.zeros;
    desc.codec = &other;
    r.expect({GTH_E_UNSUPPORTED, operand}, "an operand");
  }
}

TEST(PackedErrors, L9_CodecsOfOperationsOnElementsAreRefused) {
  Request r;
  const Array ids = indices64({2, 32}, std::vector<int64_t>(64, 0));
  r.indices = ids.desc();
  r.request.op = GTH_OP_GATHER_ELEMENTS;
  r.expect({GTH_E_UNSUPPORTED, GTH_OPERAND_PARAMS}, "gather_elements");
}

TEST(PackedErrors, L9_CodecsOfTargetsAndGradientsAreRefused) {
  for (const Operation& op : calls::every) {
    if (is_gather(op)) continue;
    for (int32_t role = 0; role < 3; ++role) {
      const Sample sample(op);
      std::array<gth_tensor_desc, 3> descs = sample.descs();
      gth_codec codec = GTH_CODEC_INIT;
      codec.code = GTH_CODE_UINT8;
      descs[static_cast<size_t>(role)].codec = &codec;
      const gth_request request = GTH_REQUEST(op.number, &descs[0], &descs[1], &descs[2], nullptr);
      const Bytes before = sample.written().bytes();
      Error error;
      const Facts facts{GTH_E_UNSUPPORTED, operands_of(op)[static_cast<size_t>(role)]};
      expect_facts(gth_run_request(nullptr, &request, &error), error, facts, "run");
      EXPECT_TRUE(sample.written().bytes() == before);
    }
  }
}

TEST(PackedErrors, L9_GradientsAndPositionsOfPackedBagsAreRefused) {
  Request r;
  const Array borders = indices64({2}, {0, 2}), gradient(f32, {1, 32}), target(f32, {4, 32}),
              unique(GTH_DTYPE_INT64, {4});
  const Array positions(GTH_DTYPE_INT64, {1, 32}), weight(f32, {2}), rows(f32, {4, 32});
  const gth_tensor_desc bags = borders.desc(), to = target.desc(), found = unique.desc(), at = positions.desc();
  const gth_tensor_desc weights = weight.desc(), sparse = rows.desc();
  r.request.op = GTH_OP_GATHER_BAGS;
  r.request.bags = &bags;
  r.rows = gradient.desc();
  const Facts facts{GTH_E_UNSUPPORTED, GTH_OPERAND_PARAMS};
  Error error;
  int64_t count = 0;
  expect_facts(gth_gather_bags_gradient(nullptr, &r.request, &to, &error), error, facts, "gradient");
  expect_facts(gth_gather_bags_sparse_gradient(nullptr, &r.request, &found, &sparse, &count, &error), error, facts,
               "sparse gradient");
  expect_facts(gth_gather_bags_weight_gradient(nullptr, &r.request, &weights, &error), error, facts, "weights");
  r.options.pool = GTH_POOL_MAX;
  expect_facts(gth_gather_bags_positions(nullptr, &r.request, &at, &error), error, facts, "positions");
  expect_facts(gth_gather_bags_gradient(nullptr, &r.request, &to, &error), error, facts, "gradient of max");
}

TEST(PackedErrors, L9_CopiesOfPackedTablesAreRefused) {
  Request r;
  const Array to(f32, {4, 32});
  gth_tensor_desc destination = to.desc();
  Error error;
  expect_facts(gth_copy(nullptr, &r.params, &destination, &error), error, {GTH_E_UNSUPPORTED, GTH_OPERAND_PARAMS},
               "source");
  const Array from(f32, {4, 32});
  const gth_tensor_desc source = from.desc();
  expect_facts(gth_copy(nullptr, &source, &r.params, &error), error, {GTH_E_UNSUPPORTED, GTH_OPERAND_OUT},
               "destination");
  const Tensor tensor(r.params);
  ASSERT_TRUE(tensor);
  const gth_tensor_desc named = GTH_TENSOR_DESC_HANDLE(tensor.get());
  expect_facts(gth_copy(nullptr, &named, &destination, &error), error, {GTH_E_UNSUPPORTED, GTH_OPERAND_PARAMS},
               "a tensor as source");
  expect_facts(gth_copy(nullptr, &source, &named, &error), error, {GTH_E_UNSUPPORTED, GTH_OPERAND_OUT},
               "a tensor as destination");
}

// ---- Plans

TEST(PackedErrors, RunsOfPlansValidateScales) {
  Request r;
  Plan plan;
  ASSERT_EQ(gth_plan_create(&r.request, plan.out(), nullptr), GTH_OK);
  gth_plan_args args = r.args();
  Error error;
  EXPECT_EQ(gth_plan_run_args(nullptr, plan.get(), &args, &error), GTH_OK) << error.message;
  args.scales = r.out.data();
  expect_facts(gth_plan_run_args(nullptr, plan.get(), &args, &error), error,
               {GTH_E_ALIAS, GTH_OPERAND_OUT, -1, -1, GTH_OPERAND_SCALES, 0}, "scales in the output");
  args.scales = r.scale.data();
  args.flags = GTH_ARGS_EXTENTS;
  args.table_extent = 128, args.indices_extent = 16, args.rows_extent = 256;
  args.scales_extent = 31, args.zeros_extent = 0;
  expect_facts(gth_plan_run_args(nullptr, plan.get(), &args, &error), error,
               {GTH_E_SIZE, GTH_OPERAND_SCALES, -1, -1, 31, 32}, "short scales");
  args.scales_extent = 32;
  args.zeros = r.zero.data();
  args.zeros_extent = 7;
  expect_facts(gth_plan_run_args(nullptr, plan.get(), &args, &error), error,
               {GTH_E_SIZE, GTH_OPERAND_ZEROS, -1, -1, 7, 8}, "short zeros");
  args.zeros_extent = 8;
  args.table_extent = 127;
  expect_facts(gth_plan_run_args(nullptr, plan.get(), &args, &error), error,
               {GTH_E_SIZE, GTH_OPERAND_PARAMS, -1, -1, 127, 128}, "a short table");
  args.table_extent = 128;
  EXPECT_EQ(gth_plan_run_args(nullptr, plan.get(), &args, &error), GTH_OK) << error.message;
}

TEST(PackedErrors, PlansWithoutDataOfScalesNeedItInEachRun) {
  Request r;
  r.scales.data = r.zeros.data = r.params.data = nullptr;
  Plan plan;
  Error error;
  ASSERT_EQ(gth_plan_create(&r.request, plan.out(), &error), GTH_OK) << error.message;
  gth_plan_args args = r.args();
  expect_facts(gth_plan_run_args(nullptr, plan.get(), &args, &error), error, {GTH_E_NULL, GTH_OPERAND_SCALES}, "none");
  args.scales = r.scale.data();
  expect_facts(gth_plan_run_args(nullptr, plan.get(), &args, &error), error, {GTH_E_NULL, GTH_OPERAND_ZEROS}, "scales");
  args.zeros = r.zero.data();
  EXPECT_EQ(gth_plan_run_args(nullptr, plan.get(), &args, &error), GTH_OK) << error.message;
}

TEST(PackedErrors, PlansWithBoundScalesRefuseOthers) {
  Request r;
  const Tensor scales(r.scales);
  const gth_tensor_desc named = GTH_TENSOR_DESC_HANDLE(scales.get());
  r.codec.scales = &named;
  Plan plan;
  Error error;
  ASSERT_EQ(gth_plan_create(&r.request, plan.out(), &error), GTH_OK) << error.message;
  gth_plan_args args = r.args();
  EXPECT_EQ(gth_plan_run_args(nullptr, plan.get(), &args, &error), GTH_OK) << error.message;
  args.scales = r.scale.data();
  EXPECT_EQ(gth_plan_run_args(nullptr, plan.get(), &args, &error), GTH_E_HANDLE) << error.message;
  EXPECT_EQ(error.operand, GTH_OPERAND_SCALES);
}

TEST(PackedErrors, PlansWithoutScalesRefuseThem) {
  Request r;
  r.without_operands();
  Plan plan;
  Error error;
  ASSERT_EQ(gth_plan_create(&r.request, plan.out(), &error), GTH_OK) << error.message;
  gth_plan_args args = r.args();
  args.bags = r.index.data();
  const int32_t refused = gth_plan_run_args(nullptr, plan.get(), &args, &error);
  EXPECT_NE(refused, GTH_OK);
  args.bags = nullptr;
  args.scales = r.scale.data();
  EXPECT_EQ(gth_plan_run_args(nullptr, plan.get(), &args, &error), refused) << error.message;
}

}  // namespace
