#include <cstring>

#include "guarded.hpp"
#include "packed_cases.hpp"
#include "samples.hpp"

// Tensor handles of packed tables: what they copy, what they keep, and where they are valid.
namespace {

using namespace hostile;
using packed::Described, packed::f32, packed::Table;

// A table of 3 rows of 8 codes, with scales and zero points as operands.
struct Packed {
  Array codes{GTH_DTYPE_UINT8, {3, 8}}, scale = floats({3, 1}, {0.5f, -2, 3}), zero{GTH_DTYPE_INT8, {1, 8}};
  Array index = indices64({2}, {2, 0});
  Shape shape{3, 8}, scale_shape{3, 1}, zero_shape{1, 8}, scale_strides{4, 4}, zero_strides{8, 1};
  gth_codec codec = GTH_CODEC_INIT;
  gth_tensor_desc scales = describe(f32, scale_shape, scale.data(), scale_strides.data());
  gth_tensor_desc zeros = describe(GTH_DTYPE_INT8, zero_shape, zero.data(), zero_strides.data());
  gth_tensor_desc params = describe(f32, shape, codes.data());
  gth_tensor_desc indices = index.desc();

  Packed() {
    codec.code = GTH_CODE_UINT8;
    codec.block_values = 1;
    codec.scale_place = codec.zero_place = GTH_PLACE_OPERAND;
    codec.scales = &scales;
    codec.zeros = &zeros;
    params.codec = &codec;
  }
  Packed(const Packed&) = delete;

  Bytes expected() const {
    const Array rows(f32, {2, 8});
    for (const int64_t row : {2, 0}) {
      const std::vector<float> numbers = packed::decode_row(params, row);
      std::memcpy(rows.data() + (row == 2 ? 0 : 32), numbers.data(), 32);
    }
    return rows.bytes();
  }
};

void expect_rows(const gth_tensor_desc& params, const Packed& packed, const Bytes& expected, const char* form) {
  const Array out(f32, {2, 8});
  const gth_tensor_desc rows = out.desc();
  Error error;
  EXPECT_EQ(gth_gather(nullptr, &params, &packed.indices, &rows, nullptr, &error), GTH_OK) << form << error.message;
  EXPECT_TRUE(out.bytes() == expected) << form;
}

TEST(PackedTensors, CodecAndShapesAreCopied) {
  Packed packed;
  const Bytes expected = packed.expected();
  const Tensor tensor(packed.params);
  ASSERT_TRUE(tensor);
  std::memset(static_cast<void*>(&packed.codec), '#', sizeof packed.codec);
  std::memset(static_cast<void*>(&packed.scales), '#', sizeof packed.scales);
  std::memset(static_cast<void*>(&packed.zeros), '#', sizeof packed.zeros);
  for (Shape* each :
       {&packed.shape, &packed.scale_shape, &packed.zero_shape, &packed.scale_strides, &packed.zero_strides})
    each->assign(2, -7);
  const gth_tensor_desc named = GTH_TENSOR_DESC_HANDLE(tensor.get());
  expect_rows(named, packed, expected, "handle");
  expect_rows(tensor.desc(), packed, expected, "description of the tensor");
}

TEST(PackedTensors, TableOfCodesIsCopied) {
  const Array codes(GTH_DTYPE_UINT8, {2, 4}), out(f32, {1, 8}), id = indices64({1}, {1});
  std::vector<float> entries;
  for (int i = 0; i < 16; ++i) entries.push_back(static_cast<float>(i * i) / 7);
  const Shape shape{2, 8};
  gth_codec codec = GTH_CODEC_INIT;
  codec.code = GTH_CODE_TABLE4;
  codec.code_table = entries.data();
  gth_tensor_desc params = describe(f32, shape, codes.data());
  params.codec = &codec;
  const std::vector<float> expected = packed::decode_row(params, 1);
  const Tensor tensor(params);
  std::fill(entries.begin(), entries.end(), -1.0f);
  const gth_tensor_desc named = GTH_TENSOR_DESC_HANDLE(tensor.get()), indices = id.desc(), rows = out.desc();
  ASSERT_EQ(gth_gather(nullptr, &named, &indices, &rows, nullptr, nullptr), GTH_OK);
  EXPECT_EQ(std::memcmp(out.data(), expected.data(), 32), 0);
}

// A table of codes is read only with GTH_CODE_TABLE4.
TEST(PackedTensors, L11_TableOfOtherCodesIsNotRead) {
  Packed packed;
  const Bytes expected = packed.expected();
  const Guarded memory(1);
  packed.codec.code_table = reinterpret_cast<const float*>(memory.at(4, false));
  expect_rows(packed.params, packed, expected, "description");
  const Tensor tensor(packed.params);
  const gth_tensor_desc named = GTH_TENSOR_DESC_HANDLE(tensor.get());
  expect_rows(named, packed, expected, "handle");
}

TEST(PackedTensors, DescriptionsOfTensorsAreValidParams) {
  Packed packed;
  const Bytes expected = packed.expected();
  const Tensor tensor(packed.params);
  gth_tensor_desc desc = tensor.desc();
  EXPECT_EQ(desc.dtype, f32);
  EXPECT_EQ(Shape(desc.shape, desc.shape + desc.ndim), packed.shape);
  EXPECT_EQ(desc.strides[0], 8);
  EXPECT_EQ(desc.strides[1], 0);
  EXPECT_EQ(desc.extent, 24);
  EXPECT_EQ(desc.data, packed.params.data);
  ASSERT_NE(desc.codec, nullptr);
  EXPECT_EQ(desc.codec->size, sizeof(gth_codec));
  EXPECT_EQ(desc.codec->code, GTH_CODE_UINT8);
  expect_rows(desc, packed, expected, "description of a tensor");
}

TEST(PackedTensors, RandomTensorsKeepTheirRows) {
  for (int i = 0; i < 500; ++i) {
    const Table table = packed::make_table({1 + packed::below(3), 1 + packed::below(3)}, 1 + packed::below(300));
    const Described described(table);
    Error error;
    Tensor tensor;
    ASSERT_EQ(gth_tensor_borrow(&described.params, tensor.out(), &error), GTH_OK)
        << error.message << packed::describe(table);
    const Table other = packed::make_table({1}, 40);  // New descriptions take the place of released ones.
    const gth_tensor_desc desc = tensor.desc();
    for (int64_t row = 0; row < table.rows(); ++row) {
      const std::vector<float> expected = packed::decode_row(described.params, row),
                               found = packed::decode_row(desc, row);
      for (size_t j = 0; j < expected.size(); ++j)
        ASSERT_TRUE(packed::is_same(f32, &expected[j], &found[j])) << packed::describe(table);
    }
  }
}

TEST(PackedTensors, PlansWithBoundTablesRun) {
  Packed packed;
  const Bytes expected = packed.expected();
  Tensor tensor(packed.params);
  const gth_tensor_desc named = GTH_TENSOR_DESC_HANDLE(tensor.get());
  const Array out(f32, {2, 8});
  const gth_tensor_desc rows = out.desc();
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &named, &packed.indices, &rows, nullptr);
  Plan plan;
  Error error;
  ASSERT_EQ(gth_plan_create(&request, plan.out(), &error), GTH_OK) << error.message;
  EXPECT_EQ(gth_plan_run(nullptr, plan.get(), GTH_OPEN, nullptr, packed.index.data(), out.data(), &error), GTH_OK)
      << error.message;
  EXPECT_TRUE(out.bytes() == expected);
}

TEST(PackedTensors, RunsAtAnotherTableDecodeIt) {
  Packed packed, other;
  for (int64_t i = 0; i < 24; ++i) other.codes.data()[i] = static_cast<char>(i * 91);
  const Bytes expected = other.expected();
  const Array out(f32, {2, 8});
  const gth_tensor_desc rows = out.desc();
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &packed.params, &packed.indices, &rows, nullptr);
  Error error;
  ASSERT_EQ(gth_run_at(nullptr, &request, other.codes.data(), packed.index.data(), out.data(), &error), GTH_OK)
      << error.message;
  EXPECT_TRUE(out.bytes() == expected);
}

TEST(PackedTensors, L12_ReleasedScalesAreRefused) {
  Packed packed;
  gth_tensor* scales = nullptr;
  ASSERT_EQ(gth_tensor_borrow(&packed.scales, &scales, nullptr), GTH_OK);
  const gth_tensor_desc named = GTH_TENSOR_DESC_HANDLE(scales);
  packed.codec.scales = &named;
  const Array out(f32, {2, 8});
  const gth_tensor_desc rows = out.desc();
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &packed.params, &packed.indices, &rows, nullptr);
  Plan plan;
  Error error;
  ASSERT_EQ(gth_plan_create(&request, plan.out(), &error), GTH_OK) << error.message;
  ASSERT_EQ(gth_tensor_release(scales), GTH_OK);
  expect_facts(gth_run_request(nullptr, &request, &error), error, {GTH_E_HANDLE, GTH_OPERAND_SCALES}, "run");
  expect_facts(
      gth_plan_run(nullptr, plan.get(), GTH_OPEN, packed.codes.data(), packed.index.data(), out.data(), &error), error,
      {GTH_E_HANDLE, GTH_OPERAND_SCALES}, "plan");
  Tensor tensor;
  expect_facts(gth_tensor_borrow(&packed.params, tensor.out(), &error), error, {GTH_E_HANDLE, GTH_OPERAND_SCALES},
               "borrow");
}

TEST(PackedTensors, ExportsOfPackedTensorsAreRefused) {
  Packed packed;
  const Tensor tensor(packed.params);
  struct DLManagedTensorVersioned* versioned = nullptr;
  struct DLManagedTensor* legacy = nullptr;
  Error error;
  expect_facts(gth_tensor_to_dlpack(nullptr, tensor.get(), 0, &versioned, &error), error,
               {GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR}, "DLPack");
  expect_facts(gth_tensor_to_dlpack_legacy(nullptr, tensor.get(), 0, &legacy, &error), error,
               {GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR}, "DLPack without versions");
  EXPECT_EQ(versioned, nullptr);
  EXPECT_EQ(legacy, nullptr);
  alignas(8) char schema[256] = {}, array[256] = {};
  const char before[256] = {};
  EXPECT_EQ(gth_tensor_to_arrow(nullptr, tensor.get(), 0, reinterpret_cast<struct ArrowSchema*>(schema),
                                reinterpret_cast<struct ArrowArray*>(array), &error),
            GTH_E_UNSUPPORTED)
      << error.message;
  EXPECT_EQ(std::memcmp(schema, before, sizeof schema), 0);
}

TEST(PackedTensors, L9_PackedTensorsAreNoOtherOperands) {
  Packed packed;
  const Tensor tensor(packed.params);
  const gth_tensor_desc named = GTH_TENSOR_DESC_HANDLE(tensor.get());
  const Array out(f32, {2, 8}), table(f32, {3, 8}), ids = indices64({2}, {1, 0}), elements(GTH_DTYPE_INT64, {3, 8});
  std::memset(elements.data(), 0, 192);
  const gth_tensor_desc rows = out.desc(), plain = table.desc(), indices = ids.desc(), each = elements.desc();
  Error error;
  expect_facts(gth_gather(nullptr, &plain, &named, &rows, nullptr, &error), error,
               {GTH_E_UNSUPPORTED, GTH_OPERAND_INDICES}, "indices");
  expect_facts(gth_gather(nullptr, &plain, &indices, &named, nullptr, &error), error,
               {GTH_E_UNSUPPORTED, GTH_OPERAND_OUT}, "out");
  expect_facts(gth_scatter(nullptr, &named, &indices, &rows, nullptr, &error), error,
               {GTH_E_UNSUPPORTED, GTH_OPERAND_TARGET}, "target");
  expect_facts(gth_scatter(nullptr, &plain, &indices, &named, nullptr, &error), error,
               {GTH_E_UNSUPPORTED, GTH_OPERAND_UPDATES}, "updates");
  expect_facts(gth_gather_elements(nullptr, &named, &each, &plain, nullptr, &error), error,
               {GTH_E_UNSUPPORTED, GTH_OPERAND_PARAMS}, "elements");
  packed.codec.scales = &named;
  expect_facts(gth_gather(nullptr, &packed.params, &indices, &rows, nullptr, &error), error,
               {GTH_E_UNSUPPORTED, GTH_OPERAND_SCALES}, "scales");
}

TEST(PackedTensors, AdoptedTablesReleaseTheirMemoryOnce) {
  Packed packed;
  int released = 0;
  const auto count = [](void* user) { ++*static_cast<int*>(user); };
  gth_tensor* tensor = nullptr;
  Error error;
  const int32_t status = gth_tensor_adopt(nullptr, &packed.params, count, &released, &tensor, &error);
  if (status != GTH_OK) {
    expect_facts(status, error, {GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR}, "adopt");
    EXPECT_EQ(released, 0);
    return;
  }
  const gth_tensor_desc named = GTH_TENSOR_DESC_HANDLE(tensor);
  expect_rows(named, packed, packed.expected(), "adopted");
  EXPECT_EQ(released, 0);
  EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
  EXPECT_EQ(released, 1);
}

TEST(PackedTensors, L13_EmptyTablesAreAccepted) {
  for (const Shape& shape : {Shape{0, 8}, {3, 0}, {0, 0}}) {
    Packed packed;
    packed.codec.block_values = 0;
    packed.codec.scale_place = packed.codec.zero_place = GTH_PLACE_NONE;
    packed.codec.scales = packed.codec.zeros = nullptr;
    packed.params.shape = shape.data();
    packed.params.data = nullptr;
    const Array ids = indices64({0}, {}), out(f32, {0, shape[1]});
    const gth_tensor_desc indices = ids.desc(), rows = out.desc();
    Error error;
    EXPECT_EQ(gth_gather(nullptr, &packed.params, &indices, &rows, nullptr, &error), GTH_OK) << error.message;
    const Array one = indices64({1}, {0}), row(f32, {1, shape[1]});
    const gth_tensor_desc first = one.desc(), to = row.desc();
    EXPECT_EQ(gth_gather(nullptr, &packed.params, &first, &to, nullptr, &error), shape[0] ? GTH_OK : GTH_E_INDEX)
        << error.message;
    Tensor tensor;
    EXPECT_EQ(gth_tensor_borrow(&packed.params, tensor.out(), &error), GTH_OK) << error.message;
  }
}

}  // namespace
