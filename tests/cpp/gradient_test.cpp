#include <cstddef>
#include <string>

#include "hostile.hpp"

// Tests the documentation of the header about the gradients of gathers.
namespace {

using namespace hostile;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32;

using calls::gather_elements_gradient;
using calls::gather_gradient;
using calls::gather_nd_gradient;

// Expects `expected` from both forms, for any earlier content of out.
template <class V>
void expect_gradient(const Operation& op, const Array& rows, const Array& indices, const Shape& shape,
                     const gth_options* options, const std::vector<V>& expected) {
  const char* first = reinterpret_cast<const char*>(expected.data());
  const Bytes wanted(first, first + expected.size() * sizeof(V));
  const Array out(rows.dtype(), shape);
  const gth_tensor_desc g_desc = rows.desc(), i = indices.desc(), o = out.desc();
  Error error;
  EXPECT_EQ(op.named(nullptr, &o, &i, &g_desc, options, &error), GTH_OK) << error.message;
  EXPECT_TRUE(out.bytes() == wanted) << "named";
  const Tensor handle(g_desc), index(i);
  Tensor made;
  const gth_tensor_desc table = describe(rows.dtype(), shape, nullptr);
  ASSERT_EQ(op.make(nullptr, &table, index.get(), handle.get(), options, made.out(), &error), GTH_OK) << error.message;
  const char* data = static_cast<const char*>(made.desc().data);
  EXPECT_TRUE(Bytes(data, data + wanted.size()) == wanted) << "made";
}

TEST(Gradients, GradientsAreSumsOverTheReadElements) {
  expect_gradient<float>(gather_gradient, floats({3, 2}, {1, 2, 3, 4, 5, 6}), indices64({3}, {2, 0, 2}), {3, 2},
                         nullptr, {3, 4, 0, 0, 6, 8});
  expect_gradient<float>(gather_nd_gradient, floats({3}, {1, 2, 3}), indices64({3, 2}, {0, 1, 1, 0, 0, 1}), {2, 2},
                         nullptr, {0, 4, 2, 0});
  const gth_options last = with_axis(1);
  expect_gradient<float>(gather_elements_gradient, floats({2, 2}, {1, 2, 3, 4}), indices64({2, 2}, {0, 0, 2, 1}),
                         {2, 3}, &last, {3, 0, 0, 0, 4, 3});
}

// Rows that the gather has filled receive no gradient. Indices have the same meaning as in the gather.
TEST(Gradients, GradientsFollowTheOptionsOfTheGather) {
  const Array rows = floats({3}, {1, 2, 4}), indices = indices64({3}, {-1, 5, 1});
  const gth_options fill = with_profile(GTH_PROFILE_JAX_FILL), clip = with_profile(GTH_PROFILE_JAX_CLIP);
  expect_gradient<float>(gather_gradient, rows, indices, {3}, &fill, {0, 4, 1});
  expect_gradient<float>(gather_gradient, rows, indices, {3}, &clip, {1, 4, 2});  // jnp.take clips negative indices
  const Array ones(GTH_DTYPE_FLOAT16, {4096}, std::vector<uint16_t>(4096, 0x3c00));
  const Array zeros = indices64({4096}, std::vector<int64_t>(4096, 0));
  const gth_options torch = with_profile(GTH_PROFILE_TORCH);
  expect_gradient<uint16_t>(gather_elements_gradient, ones, zeros, {1}, &torch, {0x6c00});  // scatter_add_
  expect_gradient<uint16_t>(gather_gradient, ones, zeros, {1}, &torch, {0x6800});           // index_add_
}

// ONNX defines the gather by opset: batch_dims, negative indices, bfloat16.
TEST(Gradients, GradientsFollowTheOpsetOfTheGather) {
  struct Definition {
    const Operation& gather;
    const Operation& gradient;
    int32_t opset;
    bool has_batch_dims, has_negatives, has_bfloat16;
    Shape indices, out;
  };
  const Definition definitions[] = {
      {calls::gather, gather_gradient, 1, false, false, false, {2}, {2, 2}},
      {calls::gather, gather_gradient, 11, false, true, false, {2}, {2, 2}},
      {calls::gather, gather_gradient, 13, false, true, true, {2}, {2, 2}},
      {calls::gather_nd, gather_nd_gradient, 11, false, true, false, {2, 1}, {2, 2}},
      {calls::gather_nd, gather_nd_gradient, 12, true, true, false, {2, 1}, {2, 2}},
      {calls::gather_nd, gather_nd_gradient, 13, true, true, true, {2, 1}, {2, 2}},
      {calls::gather_elements, gather_elements_gradient, 11, false, true, false, {2, 1}, {2, 1}},
      {calls::gather_elements, gather_elements_gradient, 13, false, true, true, {2, 1}, {2, 1}},
  };
  for (const Definition& each : definitions) {
    const auto expect = [&](bool fine, const Shape& out_shape, int32_t dtype, int64_t first, int64_t batch_dims) {
      SCOPED_TRACE("opset " + std::to_string(each.opset) + ", dtype " + std::to_string(dtype) + ", index " +
                   std::to_string(first) + ", batch_dims " + std::to_string(batch_dims));
      gth_options options = with_profile(GTH_PROFILE_ONNX, batch_dims);
      options.opset = each.opset;
      const Array params(dtype, {2, 2}), indices = indices64(each.indices, {first, 1}), out(dtype, out_shape);
      const gth_tensor_desc p = params.desc(), i = indices.desc(), o = out.desc();
      const int32_t status = each.gradient.named(nullptr, &p, &i, &o, &options, nullptr);
      EXPECT_EQ(status == GTH_OK, fine);
      EXPECT_EQ(status, each.gather.named(nullptr, &p, &i, &o, &options, nullptr));
    };
    expect(true, each.out, f32, 0, 0);
    expect(each.has_negatives, each.out, f32, -1, 0);
    expect(each.has_bfloat16, each.out, GTH_DTYPE_BFLOAT16, 0, 0);
    expect(each.has_batch_dims, {2}, f32, 0, 1);
  }
}

TEST(Gradients, GradientsWithoutTuplesAreZeros) {
  expect_gradient<float>(gather_gradient, floats({0, 2}, {}), indices64({0}, {}), {3, 2}, nullptr, {0, 0, 0, 0, 0, 0});
}

TEST(Gradients, StridedGradientsWriteOnlyTheirElements) {
  const Array out(GTH_DTYPE_INT32, {6}, std::vector<int32_t>{9, 9, 9, 9, 9, 9}), indices = indices64({2}, {1, 1});
  const Array rows(GTH_DTYPE_INT32, {2}, std::vector<int32_t>{3, 4});
  const Shape shape{3};
  const int64_t stride = 8;
  const gth_tensor_desc r = rows.desc(), i = indices.desc();
  const gth_tensor_desc o = describe(GTH_DTYPE_INT32, shape, out.data(), &stride);
  ASSERT_EQ(gth_gather_gradient(nullptr, &o, &i, &r, nullptr, nullptr), GTH_OK);
  const int32_t* values = reinterpret_cast<const int32_t*>(out.data());
  EXPECT_EQ(std::vector<int32_t>(values, values + 6), (std::vector<int32_t>{0, 9, 7, 9, 0, 9}));
}

TEST(Gradients, ErrorsLeaveTheOutputUnchanged) {
  const Array out = floats({3}, {7, 8, 9}), rows = floats({2}, {1, 2});
  const Array outside = indices64({2}, {0, 3}), inside = indices64({2}, {0, 1});
  const gth_tensor_desc r = rows.desc(), bad = outside.desc(), good = inside.desc(), o = out.desc();
  const Bytes before = out.bytes();
  Error error;
  expect_facts(gth_gather_gradient(nullptr, &o, &bad, &r, nullptr, &error), error,
               {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 3, 3});
  const gth_options add = reducing(GTH_REDUCTION_ADD);
  expect_facts(gth_gather_gradient(nullptr, &o, &good, &r, &add, &error), error,
               {GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, reduction), -1, GTH_REDUCTION_ADD, 0});
  const Array doubles(GTH_DTYPE_FLOAT64, {2});
  const gth_tensor_desc d = doubles.desc();
  expect_facts(gth_gather_gradient(nullptr, &o, &good, &d, nullptr, &error), error,
               {GTH_E_DTYPE, GTH_OPERAND_UPDATES, -1, -1, GTH_DTYPE_FLOAT64, f32});
  const Tensor handle(r), index(bad);
  gth_tensor* made = handle.get();
  const Shape shape{3}, open{-1};
  const gth_tensor_desc closed_table = describe(f32, shape, nullptr), open_table = describe(f32, open, nullptr);
  expect_facts(gather_gradient.make(nullptr, &closed_table, index.get(), handle.get(), nullptr, &made, &error), error,
               {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 3, 3});
  EXPECT_EQ(made, nullptr);
  expect_facts(gather_gradient.make(nullptr, &open_table, index.get(), handle.get(), nullptr, &made, &error), error,
               {GTH_E_SHAPE, GTH_OPERAND_TARGET, 0, -1, -1, 0});
  EXPECT_TRUE(out.bytes() == before);
}

// ---- errors

constexpr Operation all[] = {gather_gradient, gather_nd_gradient, gather_elements_gradient};

Facts null_of(int32_t operand) { return {GTH_E_NULL, operand}; }
Facts bad_handle(int32_t operand) { return {GTH_E_HANDLE, operand}; }

// A gradient of three rows, into a tensor of two.
class GradientErrors : public testing::Test {
 protected:
  const Array rows_ = floats({3}, {1, 2, 4}), indices_ = indices64({3}, {0, 1, 0}), out_ = floats({2}, {7, 8});
  const gth_tensor_desc r_ = rows_.desc(), i_ = indices_.desc(), o_ = out_.desc();
  const Tensor rows{r_}, indices{i_};
  const Shape shape_{2};
  const Bytes before_ = out_.bytes();
  Error error;

  void TearDown() override { EXPECT_TRUE(out_.bytes() == before_) << "the output was written"; }

  // Expects an error of the form that makes a tensor.
  void expect_none_made(const Operation& op, gth_context* context, const gth_tensor* given, const gth_tensor* index,
                        const gth_options* options, const Facts& facts) {
    gth_tensor* made = rows.get();
    const gth_tensor_desc table = describe(f32, shape_, nullptr);
    expect_facts(op.make(context, &table, index, given, options, &made, &error), error, facts);
    EXPECT_EQ(made, nullptr);
  }
};

TEST_F(GradientErrors, NullArgumentsAreRejected) {
  for (const Operation& op : all) {
    expect_none_made(op, nullptr, nullptr, indices.get(), nullptr, null_of(GTH_OPERAND_UPDATES));
    expect_none_made(op, nullptr, rows.get(), nullptr, nullptr, null_of(GTH_OPERAND_INDICES));
    expect_facts(op.make(nullptr, &o_, &i_, &r_, nullptr, nullptr, &error), error, null_of(GTH_OPERAND_NONE));
    gth_tensor* made = nullptr;
    expect_facts(op.make(nullptr, nullptr, &i_, &r_, nullptr, &made, &error), error, null_of(GTH_OPERAND_TARGET));
    gth_tensor_desc shapeless = o_;
    shapeless.shape = nullptr;
    expect_facts(op.make(nullptr, &shapeless, &i_, &r_, nullptr, &made, &error), error, null_of(GTH_OPERAND_TARGET));
    expect_facts(op.named(nullptr, &o_, &i_, nullptr, nullptr, &error), error, null_of(GTH_OPERAND_UPDATES));
    expect_facts(op.named(nullptr, &o_, nullptr, &r_, nullptr, &error), error, null_of(GTH_OPERAND_INDICES));
    expect_facts(op.named(nullptr, nullptr, &i_, &r_, nullptr, &error), error, null_of(GTH_OPERAND_TARGET));
  }
}

// NULL is checked before structs, and structs before handles.
TEST_F(GradientErrors, ChecksRunInTheDocumentedOrder) {
  auto* garbage = reinterpret_cast<gth_context*>(1);
  const auto* stranger = reinterpret_cast<const gth_tensor*>(1);
  gth_options old = GTH_OPTIONS_INIT;
  old.size = 4;
  const Facts version{GTH_E_VERSION, GTH_OPERAND_OPTIONS, 0, -1, 4, sizeof(gth_options)};
  for (const Operation& op : all) {
    expect_none_made(op, garbage, stranger, nullptr, &old, null_of(GTH_OPERAND_INDICES));
    expect_none_made(op, garbage, stranger, stranger, &old, version);
    expect_none_made(op, garbage, stranger, stranger, nullptr, bad_handle(GTH_OPERAND_CONTEXT));
    expect_none_made(op, nullptr, stranger, stranger, nullptr, bad_handle(GTH_OPERAND_INDICES));
    expect_none_made(op, nullptr, stranger, indices.get(), nullptr, bad_handle(GTH_OPERAND_UPDATES));
    expect_facts(op.named(garbage, &o_, &i_, &r_, &old, &error), error, version);
    expect_facts(op.named(garbage, &o_, &i_, &r_, nullptr, &error), error, bad_handle(GTH_OPERAND_CONTEXT));
  }
}

TEST_F(GradientErrors, StaleHandlesAreRejected) {
  gth_context* context = nullptr;
  gth_tensor* tensor = nullptr;
  ASSERT_EQ(gth_context_create(nullptr, &context, nullptr), GTH_OK);
  ASSERT_EQ(gth_tensor_borrow(&i_, &tensor, nullptr), GTH_OK);
  ASSERT_EQ(gth_context_release(context), GTH_OK);
  ASSERT_EQ(gth_tensor_release(tensor), GTH_OK);
  for (const Operation& op : all) {
    expect_none_made(op, context, rows.get(), indices.get(), nullptr, bad_handle(GTH_OPERAND_CONTEXT));
    expect_none_made(op, nullptr, rows.get(), tensor, nullptr, bad_handle(GTH_OPERAND_INDICES));
    expect_none_made(op, nullptr, tensor, indices.get(), nullptr, bad_handle(GTH_OPERAND_UPDATES));
  }
}

TEST_F(GradientErrors, MissingMemoryIsRejected) {
  const auto without = [](gth_tensor_desc desc) {
    desc.data = nullptr;
    return desc;
  };
  const gth_tensor_desc r = without(r_), i = without(i_), o = without(o_);
  expect_facts(gather_gradient.named(nullptr, &o_, &i_, &r, nullptr, &error), error, null_of(GTH_OPERAND_UPDATES));
  expect_facts(gather_gradient.named(nullptr, &o_, &i, &r_, nullptr, &error), error, null_of(GTH_OPERAND_INDICES));
  expect_facts(gather_gradient.named(nullptr, &o, &i_, &r_, nullptr, &error), error, null_of(GTH_OPERAND_TARGET));
}

// The zeros are written for any number of updates.
TEST_F(GradientErrors, OutputWithoutMemoryIsRejected) {
  const Array nothing = floats({0}, {}), nowhere = indices64({0}, {});
  const gth_tensor_desc r = nothing.desc(), i = nowhere.desc();
  const int64_t stride = 8;
  for (const int64_t* strides : {static_cast<const int64_t*>(nullptr), &stride}) {
    const gth_tensor_desc o = describe(f32, shape_, nullptr, strides);
    expect_facts(gather_gradient.named(nullptr, &o, &i, &r, nullptr, &error), error, null_of(GTH_OPERAND_TARGET));
  }
  const Shape none{0};
  const gth_tensor_desc o = describe(f32, none, nullptr);
  EXPECT_EQ(gather_gradient.named(nullptr, &o, &i, &r, nullptr, &error), GTH_OK) << error.message;
}

TEST_F(GradientErrors, SharedMemoryIsRejected) {
  gth_tensor_desc r = r_, i = i_, readonly = o_;
  r.data = i.data = o_.data;
  expect_facts(gather_gradient.named(nullptr, &o_, &i_, &r, nullptr, &error), error,
               {GTH_E_ALIAS, GTH_OPERAND_TARGET, -1, -1, GTH_OPERAND_UPDATES, 0});
  expect_facts(gather_gradient.named(nullptr, &o_, &i, &r_, nullptr, &error), error,
               {GTH_E_ALIAS, GTH_OPERAND_TARGET, -1, -1, GTH_OPERAND_INDICES, 0});
  readonly.flags = GTH_TENSOR_READONLY;
  expect_facts(gather_gradient.named(nullptr, &readonly, &i_, &r_, nullptr, &error), error,
               {GTH_E_READONLY, GTH_OPERAND_TARGET});
}

// With bounds = fill, rows that the gather has filled receive no gradient.
TEST(Gradients, FilledRowsReceiveNoGradient) {
  const gth_options fill = with_bounds(GTH_BOUNDS_FILL), skip = with_bounds(GTH_BOUNDS_SKIP);
  for (const gth_options* options : {&fill, &skip}) {
    expect_gradient<float>(gather_gradient, floats({3}, {1, 2, 4}), indices64({3}, {1, 9, 1}), {2}, options, {0, 5});
  }
}

}  // namespace
