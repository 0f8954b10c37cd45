#include "device_test.hpp"

// Gathers with padding on the device.
namespace {

using device::Context;
using device::Error;
using device::Memory;
using device::Shape;
using device::Tensor;
using facts::Facts;

class Padding : public device::DeviceTest {};

// Rows of int32, of which index 77 selects none. Padding becomes the fill value 9.
struct Padded {
  explicit Padded(int64_t rows, const std::vector<int64_t>& ids)
      : table_shape{rows, 2},
        ids_shape{static_cast<int64_t>(ids.size())},
        out_shape{ids_shape[0], 2},
        table(std::vector<int32_t>{10, 11, 20, 21, 30, 31}),
        indices(ids),
        out(std::vector<int32_t>(ids.size() * 2, -5)) {
    options.has_padding_index = 1;
    options.padding_index = 77;
    options.fill = GTH_FILL_VALUE;
    options.fill_value[0] = 9;
    t = device::describe_on_device(GTH_DTYPE_INT32, table_shape, table.data());
    i = device::describe_on_device(GTH_DTYPE_INT64, ids_shape, indices.data());
    o = device::describe_on_device(GTH_DTYPE_INT32, out_shape, out.data());
  }
  Padded(const Padded&) = delete;
  Padded& operator=(const Padded&) = delete;

  std::vector<int32_t> run(const Context& context, const Facts& expected) {
    EXPECT_EQ(gth_run(context.get(), GTH_OP_GATHER, &t, &i, &o, &options, &error), GTH_OK) << error.message;
    context.expect_taken(expected);
    return read(out.data());
  }
  // Gathers into a new tensor.
  std::vector<int32_t> make(const Context& context, const Facts& expected) {
    Tensor made;
    gth_request request = GTH_REQUEST(GTH_OP_GATHER, &t, &i, nullptr, &options);
    EXPECT_EQ(gth_make(context.get(), &request, made.out(), &error), GTH_OK) << error.message;
    context.expect_taken(expected);
    return read(made.desc().data);
  }
  std::vector<int32_t> read(const void* data) const {
    std::vector<int32_t> found(static_cast<size_t>(out_shape[0]) * 2);
    device::copy(found.data(), data, static_cast<int64_t>(found.size()) * 4);
    return found;
  }

  Shape table_shape, ids_shape, out_shape;
  Memory table, indices, out;
  gth_options options = GTH_OPTIONS_INIT;
  gth_tensor_desc t, i, o;
  Error error;
};

constexpr Facts ok{GTH_OK};

// Padding may be out of bounds, and stands for the fill value in every policy but skip.
TEST_F(Padding, BecomesTheFillValue) {
  const Context context;
  for (const int32_t bounds : {GTH_BOUNDS_ERROR, GTH_BOUNDS_CLAMP, GTH_BOUNDS_MODULO, GTH_BOUNDS_FILL}) {
    Padded call(3, {2, 77, 0, 77});
    call.options.bounds = bounds;
    EXPECT_EQ(call.run(context, ok), (std::vector<int32_t>{30, 31, 9, 9, 10, 11, 9, 9})) << bounds;
    EXPECT_EQ(call.make(context, ok), (std::vector<int32_t>{30, 31, 9, 9, 10, 11, 9, 9})) << bounds;
  }
}

TEST_F(Padding, IsSkipped) {
  const Context context;
  Padded call(3, {2, 77, 0});
  call.options.bounds = GTH_BOUNDS_SKIP;
  call.options.fill = 0;
  EXPECT_EQ(call.run(context, ok), (std::vector<int32_t>{30, 31, -5, -5, 10, 11}));
  EXPECT_EQ(call.make(context, ok), (std::vector<int32_t>{30, 31, 0, 0, 10, 11}));
}

// A new output whose rows are copied in parts is zero where padding is skipped, and everywhere if the call is refused.
TEST_F(Padding, OfRowsWithGaps) {
  const Context context;
  const Shape shape{3, 2, 2}, strides{24, 12, 4};
  std::vector<int32_t> numbers(18);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int32_t>(100 + i);
  const Memory table(numbers);
  const auto make = [&](Padded* call, const Facts& expected) {
    call->t = device::describe_on_device(GTH_DTYPE_INT32, shape, table.data());
    call->t.strides = strides.data();
    Tensor made;
    gth_request request = GTH_REQUEST(GTH_OP_GATHER, &call->t, &call->i, nullptr, &call->options);
    EXPECT_EQ(gth_make(context.get(), &request, made.out(), &call->error), GTH_OK) << call->error.message;
    context.expect_taken(expected);
    std::vector<int32_t> found(12);
    device::copy(found.data(), made.desc().data, 48);
    return found;
  };
  Padded skipped(3, {77, 2, 77});
  skipped.options.bounds = GTH_BOUNDS_SKIP;
  skipped.options.fill = 0;
  EXPECT_EQ(make(&skipped, ok), (std::vector<int32_t>{0, 0, 0, 0, 112, 113, 115, 116, 0, 0, 0, 0}));
  Padded refused(3, {77, 2, 78});
  EXPECT_EQ(make(&refused, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, 78, 3}), std::vector<int32_t>(12, 0));
}

// Another invalid index is an error. The output is unchanged, or zero if it is new.
TEST_F(Padding, AnotherIndexIsInvalid) {
  const Context context;
  for (const size_t count : {size_t{4}, size_t{5000}}) {  // validated inside the copying kernel, and before it
    std::vector<int64_t> ids(count, 77);
    ids[3] = 78;
    Padded call(3, ids);
    const Facts invalid{GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 3, 78, 3};
    EXPECT_EQ(call.run(context, invalid), std::vector<int32_t>(2 * count, -5));
    EXPECT_EQ(call.make(context, invalid), std::vector<int32_t>(2 * count, 0));
  }
}

// Every policy refuses an index into a table without rows, except fill and skip. Padding is none.
TEST_F(Padding, InATableWithoutRows) {
  const Context context;
  for (const int32_t bounds : {GTH_BOUNDS_ERROR, GTH_BOUNDS_CLAMP, GTH_BOUNDS_MODULO}) {
    Padded all(0, {77, 77});
    all.options.bounds = bounds;
    EXPECT_EQ(all.run(context, ok), std::vector<int32_t>(4, 9)) << bounds;
    EXPECT_EQ(all.make(context, ok), std::vector<int32_t>(4, 9)) << bounds;
    Padded one(0, {77, 0});
    one.options.bounds = bounds;
    const Facts invalid{GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 0, 0};
    EXPECT_EQ(one.run(context, invalid), std::vector<int32_t>(4, -5)) << bounds;
    EXPECT_EQ(one.make(context, invalid), std::vector<int32_t>(4, 0)) << bounds;
  }
}

}  // namespace
