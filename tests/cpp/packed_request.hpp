#pragma once

#include "packed_cases.hpp"
#include "samples.hpp"

// A valid request of a packed table, whose fields the tests of errors change.
namespace hostile {

using packed::bf16, packed::f16, packed::f32;

// A table of 4 rows of 32 numbers in blocks of 16 codes of 8 bits, with scales and zero points as operands.
struct Request {
  Array table{GTH_DTYPE_UINT8, {4, 64}}, scale{f32, {4, 2}, std::vector<float>(8, 2)}, zero{GTH_DTYPE_INT8, {4, 2}};
  Array index = indices64({2}, {3, 1}), out{f32, {2, 32}};
  Shape shape{4, 32};
  gth_codec codec = GTH_CODEC_INIT;
  gth_options options = GTH_OPTIONS_INIT;
  gth_tensor_desc params = describe(f32, shape, table.data()), scales = scale.desc(), zeros = zero.desc();
  gth_tensor_desc indices = index.desc(), rows = out.desc();
  gth_request request = GTH_REQUEST(GTH_OP_GATHER, &params, &indices, &rows, &options);

  Request() {
    codec.code = GTH_CODE_UINT8;
    codec.scale_place = codec.zero_place = GTH_PLACE_OPERAND;
    codec.block_values = 16;
    codec.scales = &scales;
    codec.zeros = &zeros;
    params.codec = &codec;
  }
  Request(const Request&) = delete;

  // Expects that each form refuses the request with these facts, and that none writes.
  void expect(const Facts& facts, const char* what) const {
    SCOPED_TRACE(what);
    const Bytes before = out.bytes();
    Error error;
    expect_facts(gth_run_request(nullptr, &request, &error), error, facts, "run");
    Facts item = facts;
    item.item = 0;
    const gth_request* const one[] = {&request};
    expect_facts(gth_run_many(nullptr, 1, one, &error), error, item, "many");
    Plan plan;
    if (facts.status != GTH_E_ALIAS && !(facts.status == GTH_E_NULL && facts.component < 0)) {
      expect_facts(gth_plan_create(&request, plan.out(), &error), error, facts, "plan");
    }
    if (facts.operand != GTH_OPERAND_OUT) {
      gth_request made_of = request;
      made_of.rows = nullptr;
      Tensor made;
      expect_facts(gth_make(nullptr, &made_of, made.out(), &error), error, facts, "make");
      EXPECT_EQ(made.get(), nullptr);
    }
    EXPECT_TRUE(out.bytes() == before) << "the output was written";
  }

  // Expects that the codec is invalid for rows of this size, whatever the memory is.
  void expect_codec(const Facts& facts, const char* what) const {
    expect(facts, what);
    Error error;
    int64_t bytes = 77;
    expect_facts(gth_codec_row_bytes(&codec, shape.back(), &bytes, &error), error, facts, what);
    EXPECT_EQ(bytes, 77) << what;
    Tensor tensor;
    expect_facts(gth_tensor_borrow(&params, tensor.out(), &error), error, facts, what);
  }

  void expect_ok(const char* what) const {
    Error error;
    EXPECT_EQ(gth_run_request(nullptr, &request, &error), GTH_OK) << what << ": " << error.message;
  }

  gth_plan_args args() const { return calls::args(GTH_OPEN, table.data(), index.data(), out.data()); }

  void without_operands() {
    codec.scale_place = codec.zero_place = GTH_PLACE_NONE;
    codec.scales = codec.zeros = nullptr;
  }
};

}  // namespace hostile
