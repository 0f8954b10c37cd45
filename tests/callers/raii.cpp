// A C++ program that uses gather.hpp: owners, views, plans, exceptions, and calls without exceptions.
#include <array>
#include <gather/gather.hpp>
#include <string>

#include "foreign.h"
#include "raii.hpp"

namespace {

using Shape = std::vector<int64_t>;

static_assert(gather::dtype_of<const float>() == GTH_DTYPE_FLOAT32);
static_assert(gather::dtype_of<uint16_t>() == GTH_DTYPE_UINT16 && gather::dtype_of<long long>() == GTH_DTYPE_INT64);
static_assert(gather::dtype_of<bool>() == GTH_DTYPE_BOOL && gather::dtype_of<char>() == 0);
static_assert(!std::is_copy_constructible_v<gather::Tensor> && std::is_nothrow_move_constructible_v<gather::Plan>);
static_assert(std::is_base_of_v<gather::Error, gather::IndexError>);

// Pointers into a tensor cannot be taken from a temporary tensor.
template <class T, class = void>
struct GivesData : std::false_type {};
template <class T>
struct GivesData<T, std::void_t<decltype(std::declval<T>().template data<float>())>> : std::true_type {};
template <class T, class = void>
struct GivesStrings : std::false_type {};
template <class T>
struct GivesStrings<T, std::void_t<decltype(std::declval<T>().strings())>> : std::true_type {};
template <class T, class = void>
struct GivesDescription : std::false_type {};
template <class T>
struct GivesDescription<T, std::void_t<decltype(std::declval<T>().describe())>> : std::true_type {};
template <class T, class = void>
struct GivesRaw : std::false_type {};
template <class T>
struct GivesRaw<T, std::void_t<decltype(std::declval<T>().raw())>> : std::true_type {};
static_assert(GivesData<const gather::Tensor&>::value && !GivesData<gather::Tensor>::value);
static_assert(GivesStrings<gather::Tensor&>::value && !GivesStrings<gather::Tensor>::value);
static_assert(GivesDescription<gather::Tensor&>::value && !GivesDescription<const gather::Tensor>::value);
static_assert(GivesRaw<gather::View&>::value && !GivesRaw<gather::View>::value);
template <class T, class = void>
struct GivesOptions : std::false_type {};
template <class T>
struct GivesOptions<T, std::void_t<decltype(std::declval<T>().get())>> : std::true_type {};
static_assert(GivesOptions<const gather::Options&>::value && !GivesOptions<gather::Options>::value);

// A setter returns a reference for an lvalue, and a value for a temporary.
#define CHECK_SETTER(type, call)                                              \
  static_assert(std::is_same_v<decltype(std::declval<type&>().call), type&>); \
  static_assert(std::is_same_v<decltype(std::declval<type>().call), type>)
CHECK_SETTER(gather::Options, axis(0));
CHECK_SETTER(gather::Options, batch_dims(0));
CHECK_SETTER(gather::Options, profile({}));
CHECK_SETTER(gather::Options, opset(0));
CHECK_SETTER(gather::Options, negative({}));
CHECK_SETTER(gather::Options, bounds({}));
CHECK_SETTER(gather::Options, fill({}));
CHECK_SETTER(gather::Options, extents({}));
CHECK_SETTER(gather::Options, threads(0));
CHECK_SETTER(gather::Options, reduction({}));
CHECK_SETTER(gather::Options, accumulate({}));
CHECK_SETTER(gather::Options, order({}));
CHECK_SETTER(gather::Options, fill_value(0));
CHECK_SETTER(gather::View, strides({}));
CHECK_SETTER(gather::View, offset(0));
CHECK_SETTER(gather::View, extent(0));
CHECK_SETTER(gather::View, device(0, 0));
CHECK_SETTER(gather::View, readonly());
#undef CHECK_SETTER

// A constant of another option does not compile.
template <class Value, class = void>
struct SetsBounds : std::false_type {};
template <class Value>
struct SetsBounds<Value, std::void_t<decltype(gather::Options().bounds(std::declval<Value>()))>> : std::true_type {};
static_assert(SetsBounds<gather::Bounds>::value && !SetsBounds<gather::Negative>::value && !SetsBounds<int>::value);

// A view of a temporary container cannot be created.
static_assert(std::is_constructible_v<gather::View, std::vector<float>&>);
static_assert(!std::is_constructible_v<gather::View, std::vector<float>>);
static_assert(!std::is_constructible_v<gather::View, const std::vector<float>>);

struct Half {
  uint16_t bits;
};

// A span like std::span of C++20. A view of a temporary span is allowed.
template <class T>
struct Span {
  using element_type = T;
  T* first;
  size_t count;
  T* data() const { return first; }
  size_t size() const { return count; }
};

}  // namespace

template <>
struct gather::Dtype<Half> : std::integral_constant<int32_t, GTH_DTYPE_FLOAT16> {};

namespace {

const std::vector<float> table = {0, 1, 10, 11, 20, 21, 30, 31};

void new_tensors() {
  const std::array<int32_t, 3> ids = {3, 0, 3};
  const gather::Tensor params = gather::Tensor::borrow({table, {4, 2}});
  const gather::Tensor indices = gather::Tensor::borrow(ids);
  gather::Tensor rows = gather::gather(params, indices);
  CHECK(rows.shape() == Shape({3, 2}));
  CHECK(rows.to_vector<float>() == std::vector<float>({30, 31, 0, 1, 30, 31}));
  CHECK(rows.data<float>()[1] == 31);
  const gather::Error dtype = thrown<gather::Error>(GTH_E_DTYPE, [&] { rows.data<double>(); });
  CHECK(dtype.what() == std::string("tensor: dtype is float32, needed is float64"));
  const gather::Error readonly = thrown<gather::Error>(GTH_E_READONLY, [&] { params.data<float>(); });
  CHECK(readonly.what() == std::string("tensor: the memory is read-only"));
  CHECK(params.data<const float>() == table.data());
  const gather::Tensor behind = gather::Tensor::borrow(gather::View(table.data(), {3, 2}).offset(8));
  CHECK(behind.data<const float>() == table.data() + 2);
  CHECK(behind.to_vector<float>() == std::vector<float>({10, 11, 20, 21, 30, 31}));

  gather::Tensor moved = std::move(rows);
  CHECK(!rows && moved);
  rows = std::move(moved);
  CHECK(rows && !moved);

  const gather::Tensor columns =
      gather::gather(params, indices, gather::Options().axis(-1).bounds(gather::Bounds::clamp));
  CHECK(columns.shape() == Shape({4, 3}));
  CHECK(columns.to_vector<float>() == std::vector<float>({1, 0, 1, 11, 10, 11, 21, 20, 21, 31, 30, 31}));

  const std::vector<int64_t> pairs = {2, 1, 0, 0};
  const gather::Tensor tuples = gather::Tensor::borrow({pairs, {2, 2}});
  CHECK(gather::gather_nd(params, tuples).to_vector<float>() == std::vector<float>({21, 0}));

  const gather::Tensor zeros = gather::Tensor::alloc(GTH_DTYPE_FLOAT32, {2, 2});
  CHECK(zeros.to_vector<float>() == std::vector<float>(4, 0));
  gather::gather_into(params, {ids.data(), {2}}, zeros);
  CHECK(zeros.to_vector<float>() == std::vector<float>({30, 31, 0, 1}));
  const gather::Tensor elements = gather::Tensor::alloc(GTH_DTYPE_FLOAT32, {2});
  gather::gather_nd_into(params, tuples, elements);
  CHECK(elements.to_vector<float>() == std::vector<float>({21, 0}));
}

// Operands of one call are views and tensors in any mixture.
void mixed_operands() {
  const std::array<int32_t, 2> ids = {3, 0};
  const gather::View memory(table, {4, 2});
  const gather::Tensor params = gather::Tensor::borrow(memory), indices = gather::Tensor::borrow(ids);
  std::vector<float> out(4);
  const std::vector<float> wanted = {30, 31, 0, 1};
  gather::gather_into(params, ids, {out, {2, 2}});
  CHECK(out == wanted);
  const gather::Tensor rows = gather::Tensor::alloc(GTH_DTYPE_FLOAT32, {2, 2});
  gather::gather_into(memory, indices, rows);
  CHECK(rows.to_vector<float>() == wanted && gather::gather(params, ids).to_vector<float>() == wanted);
  CHECK(gather::gather_shape(params, ids) == Shape({2, 2}));
  rows.copy_to({out, {2, 2}});
  CHECK(out == wanted);

  // A view of a tensor can be kept and copied. It is invalid after the tensor is released.
  gather::Tensor gone = gather::Tensor::borrow(memory);
  const gather::View first(gone), view(first);
  CHECK(view.dtype() == GTH_DTYPE_FLOAT32 && description(view).tensor == gone.get());
  CHECK(gather::gather(view, ids).to_vector<float>() == wanted);
  gone.reset();
  const auto stale = thrown<gather::Error>(GTH_E_HANDLE, [&] { gather::gather(view, ids); });
  CHECK(stale.operand() == GTH_OPERAND_PARAMS);
  const auto empty = thrown<gather::Error>(GTH_E_NULL, [&] { gather::gather_into(memory, gone, rows); });
  CHECK(empty.operand() == GTH_OPERAND_INDICES);
}

// Several requests, and several plans, in one call.
void many() {
  const std::vector<double> wide = {0, 1, 2, 100, 101, 102};
  const std::vector<int64_t> ids = {3, 0}, others = {1}, bad = {2};
  std::vector<float> rows(4, -1);
  std::vector<double> wide_rows(3, -1);
  const gather::Tensor params = gather::Tensor::borrow({table, {4, 2}});
  const auto requests = [&](const std::vector<int64_t>& second) {
    return std::vector<gather::Request>{{GTH_OP_GATHER, params, ids, {rows, {2, 2}}},
                                        {GTH_OP_GATHER, {wide, {2, 3}}, second, {wide_rows, {1, 3}}}};
  };
  const auto index = thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::run_many(requests(bad)); });
  CHECK(index.item() == 1 && index.value() == 2 && rows[0] == -1);
  gather::run_many(requests(others));
  CHECK(rows == std::vector<float>({30, 31, 0, 1}) && wide_rows == std::vector<double>({100, 101, 102}));
  const gather::Options fill = gather::Options().fill_value(1.0F);
  const auto dtype = thrown<gather::Error>(GTH_E_DTYPE, [&] {
    gather::run_many({{GTH_OP_GATHER, params, ids, {rows, {2, 2}}},
                      gather::Request(GTH_OP_GATHER, {wide, {2, 3}}, others, {wide_rows, {1, 3}}, fill)});
  });
  CHECK(dtype.item() == 1 && dtype.operand() == GTH_OPERAND_OPTIONS);

  // The table of the first plan is bound.
  const gather::View open = gather::View::layout<int64_t>({GTH_OPEN});
  const gather::Plan bound = gather::Plan::gather(params, open);
  const gather::Plan plan = gather::Plan::gather(gather::View::layout<double>({2, 3}), open);
  rows.assign(4, -1);
  wide_rows.assign(3, -1);
  const auto runs = [&](const std::vector<int64_t>& second) {
    return std::vector<gather::PlanRun>{bound.with(nullptr, ids, rows, 2), plan.with(wide, second, wide_rows, 1)};
  };
  gather::Report err;
  CHECK(gather::try_run_many(runs(bad), &err) == GTH_E_INDEX && err.item == 1 && rows[0] == -1);
  gather::run_many(runs(others));
  CHECK(rows == std::vector<float>({30, 31, 0, 1}) && wide_rows == std::vector<double>({100, 101, 102}));
  CHECK(gather::try_run_many({bound.with(nullptr, ids, rows, 2), plan.with(wide, others, rows, 1)}, &err) ==
        GTH_E_DTYPE);
  CHECK(err.item == 1 && err.operand == GTH_OPERAND_OUT && err.value == GTH_DTYPE_FLOAT32);
  std::vector<float> other(2, -1);
  bound.run(nullptr, others, other, 1);
  CHECK(other == std::vector<float>({10, 11}));
  CHECK(bound.try_run(table, others, other, 1, &err) == GTH_E_HANDLE && err.operand == GTH_OPERAND_PARAMS);
  gather::run_many(std::vector<gather::Request>());
}

void bad_indices() {
  const std::vector<int64_t> ids = {1, 4, -1};
  const gather::Tensor params = gather::Tensor::borrow({table, {4, 2}});
  const gather::IndexError error = thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::gather(params, ids); });
  CHECK(error.operand() == GTH_OPERAND_INDICES && error.component() == 0 && error.position() == 1);
  CHECK(error.value() == 4 && error.limit() == 4 && (error.fields().flags & GTH_ERROR_WRAP) == 0);
  const gather::Error axis =
      thrown<gather::Error>(GTH_E_AXIS, [&] { gather::gather_shape({table, {4, 2}}, ids, gather::Options().axis(2)); });
  CHECK(axis.operand() == GTH_OPERAND_OPTIONS && axis.component() == offsetof(gth_options, axis));
  CHECK(axis.value() == 2 && axis.limit() == 2);
}

// Views of memory, without a handle.
void one_shot() {
  double grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
  const uint16_t columns[2] = {2, 0};
  std::vector<double> out(4, -1);
  const gather::View transposed = gather::View(&grid[0][0], {3, 2}).strides({8, 24}).readonly();
  CHECK(gather::gather_shape(transposed, columns) == Shape({2, 2}));
  gather::gather_into(transposed, columns, {out, {2, 2}});
  CHECK(out == std::vector<double>({3, 6, 1, 4}));

  const gather::View reversed = gather::View(&grid[0][0], {2, 3}).strides({-24, 8}).offset(24).extent(48);
  const int32_t tuples[2][2] = {{0, 0}, {1, 2}};
  std::array<double, 2> picked = {};
  CHECK(gather::gather_nd_shape(reversed, {&tuples[0][0], {2, 2}}) == Shape({2}));
  gather::gather_nd_into(reversed, {&tuples[0][0], {2, 2}}, picked);
  CHECK(picked[0] == 4 && picked[1] == 3);

  const std::vector<int8_t> ids = {0, 7, 1};
  std::array<Half, 3> halves = {};
  const Half one = {0x3c00}, two = {0x4000}, fill = {0x7e00};
  const Half both[2] = {one, two};
  gather::gather_into(both, ids, halves, gather::Options().fill_value(fill));
  CHECK(halves[0].bits == one.bits && halves[1].bits == fill.bits && halves[2].bits == two.bits);

  // The functions that do not throw.
  gather::Report err;
  CHECK(gather::try_gather_into(both, ids, halves, &err) == GTH_E_INDEX && err.status == GTH_E_INDEX);
  CHECK(err.position == 1 && err.value == 7 && err.limit == 2 && halves[1].bits == fill.bits);
  CHECK(gather::try_gather_into(both, ids, halves, nullptr, gather::Options().bounds(gather::Bounds::modulo)) ==
        GTH_OK);
  CHECK(halves[1].bits == two.bits);
  CHECK(gather::try_gather_nd_into(reversed, {&tuples[0][0], {2, 2}}, {out, {3}}, &err) == GTH_E_SHAPE);
  CHECK(err.operand == GTH_OPERAND_OUT && err.value == 3 && err.limit == 2);

  // The size of a vector is known. A shape that needs more elements is rejected before memory is accessed.
  std::vector<double> small(3);
  thrown<gather::Error>(GTH_E_STRIDE, [&] { gather::gather_into(transposed, columns, {small, {2, 2}}); });
  thrown<gather::Error>(GTH_E_READONLY, [&] { gather::gather_into(both, ids, std::as_const(halves)); });
  const Shape too_long(GTH_MAX_NDIM + 1, 1);
  thrown<gather::Error>(GTH_E_RANK, [&] { gather::gather_into({out, too_long}, columns, picked); });
  thrown<gather::Error>(GTH_E_RANK, [&] { gather::gather_into(gather::View(out).strides({8, 8}), columns, picked); });
}

// A fill value must have the dtype of params, so 1.0 is not accepted for float.
void fill_values() {
  const std::vector<int64_t> ids = {9};
  const gather::Tensor params = gather::Tensor::borrow(table), indices = gather::Tensor::borrow(ids);
  float one = 0;
  const auto wrong = [](auto value) { return gather::Options().fill_value(value); };
  const gather::Error error =
      thrown<gather::Error>(GTH_E_DTYPE, [&] { gather::gather_into(table, ids, gather::View(&one, {1}), wrong(1.0)); });
  CHECK(error.operand() == GTH_OPERAND_OPTIONS && error.component() == offsetof(gth_options, fill_dtype));
  CHECK(error.value() == GTH_DTYPE_FLOAT64 && error.limit() == GTH_DTYPE_FLOAT32 && one == 0);
  CHECK(error.what() == std::string("options: the fill value is float64, the dtype of params is float32"));
  thrown<gather::Error>(GTH_E_DTYPE, [&] { gather::gather(params, indices, wrong(-1)); });
  thrown<gather::Error>(GTH_E_DTYPE, [&] { gather::gather(table, ids, wrong(-1)); });
  thrown<gather::Error>(GTH_E_DTYPE, [&] { gather::gather_into(params, indices, indices, wrong(-1)); });
  thrown<gather::Error>(GTH_E_DTYPE, [&] { gather::gather_shape(table, ids, wrong(-1)); });
  thrown<gather::Error>(GTH_E_DTYPE, [&] { gather::Plan::gather(table, ids, wrong(-1)); });
  gather::Report err;
  CHECK(gather::try_gather_into(table, ids, {&one, {1}}, &err, wrong(-1)) == GTH_E_DTYPE && err.status == GTH_E_DTYPE);
  CHECK(gather::try_gather_into(table, ids, {&one, {1}}, nullptr, wrong(-1)) == GTH_E_DTYPE);
  CHECK(gather::gather(params, indices, wrong(2.5F)).to_vector<float>() == std::vector<float>({2.5F}));
  // Other fill modes ignore the fill value.
  CHECK(gather::gather(params, indices, wrong(1.0).fill(gather::Fill::zero)).to_vector<float>() ==
        std::vector<float>({0}));
}

// Ranges of all kinds, and extents of all integer types.
void ranges() {
  const size_t rows = 4, width = 2;
  const int32_t ids[2] = {3, 0};
  std::array<float, 4> out = {};
  gather::gather_into({Span<const float>{table.data(), table.size()}, {rows, width}}, ids, {out, {2, width}});
  CHECK(out == (std::array<float, 4>{30, 31, 0, 1}));
  gather::gather_into({table, std::array<size_t, 2>{rows, width}}, ids, {Span<float>{out.data(), 4}, {2, 2}});
  CHECK(gather::gather(table, ids).to_vector<float>() == std::vector<float>({11, 0}));
  CHECK(gather::gather_nd({table, {rows, width}}, ids).to_vector<float>() == std::vector<float>({30}));

  const std::array<std::byte, 3> bytes = {std::byte{7}, std::byte{8}, std::byte{9}};
  const std::array<uint8_t, 1> last = {2};
  CHECK(gather::gather(bytes, last).to_vector<std::byte>() == std::vector<std::byte>({std::byte{9}}));
  const bool bools[3] = {true, false, true};
  CHECK(gather::gather(bools, ids, gather::Options().bounds(gather::Bounds::clamp)).to_vector<bool>() ==
        std::vector<bool>({true, true}));
  const std::vector<int8_t> none;
  CHECK(gather::gather(bools, none).to_vector<bool>().empty());

  // The error names the operand, as for tensors.
  const gather::Error error = thrown<gather::Error>(GTH_E_STRIDE, [&] { gather::gather({table, {5, 2}}, ids); });
  CHECK(error.operand() == GTH_OPERAND_PARAMS && std::string(error.what()).find("params") == 0);
  const gather::IndexError index = thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::gather(bools, ids); });
  CHECK(index.position() == 0 && index.value() == 3);
}

void plans() {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.threads = 1;
  const gather::Context context(options);
  const gather::Plan plan =
      gather::Plan::gather(gather::View::layout<float>({4, 2}), gather::View::layout<int32_t>({GTH_OPEN}));
  CHECK(plan.shape() == Shape({GTH_OPEN, 2}) && plan.shape(5) == Shape({5, 2}));
  const int32_t ids[3] = {2, 1, 9};
  std::array<float, 6> out = {};
  plan.run(table.data(), ids, out.data(), 2, context);
  CHECK(out == (std::array<float, 6>{20, 21, 10, 11, 0, 0}));
  gather::Report err;
  CHECK(plan.try_run(table.data(), ids, out.data(), 3, &err, context) == GTH_E_INDEX);
  CHECK(err.position == 2 && err.value == 9 && err.limit == 4);
  thrown<gather::IndexError>(GTH_E_INDEX, [&] { plan.run(table.data(), ids, out.data(), 3); });

  // Typed memory must match the plan. void pointers are not checked.
  const int64_t wide[1] = {2};
  const gather::Error dtype =
      thrown<gather::Error>(GTH_E_DTYPE, [&] { plan.run(table.data(), wide, out.data(), 1, context); });
  CHECK(dtype.operand() == GTH_OPERAND_INDICES && dtype.value() == GTH_DTYPE_INT64);
  CHECK(dtype.limit() == GTH_DTYPE_INT32 && dtype.what() == std::string("indices: dtype is int64, needed is int32"));
  double doubles[2] = {};
  CHECK(plan.try_run(table.data(), ids, doubles, 1, &err) == GTH_E_DTYPE && err.operand == GTH_OPERAND_OUT);
  CHECK(plan.try_run(doubles, ids, out.data(), 1, nullptr) == GTH_E_DTYPE && doubles[0] == 0);
  plan.run(static_cast<const void*>(table.data()), ids, static_cast<void*>(out.data()), 1, context);
  CHECK(out[0] == 20 && plan.try_run(nullptr, nullptr, nullptr, 0, &err) == GTH_OK);

  const gather::View spread = gather::View::layout<float>({2}).strides({12});
  const gather::Plan elements = gather::Plan::gather_nd(
      gather::View::layout<float>({4, 2}), gather::View::layout<int32_t>({2, 2}), gather::Options(), &spread);
  const int32_t tuples[4] = {3, 1, 1, 0};
  out = {-1, -1, -1, -1, -1, -1};
  elements.run(table.data(), tuples, out.data());
  CHECK(out == (std::array<float, 6>{31, -1, -1, 10, -1, -1}));
  context.sync();
  context.take_error();
  thrown<gather::Error>(GTH_E_DEVICE, [&] { context.wait(nullptr); });
}

// All forms of gather_elements, with each rule for the extents.
void single_elements() {
  const int32_t rows[2] = {3, 0};
  const gather::View params(table, {4, 2}), column(rows, {2, 1});
  const gather::Options prefix = gather::Options().extents(gather::Extents::prefix);
  const gather::Options repeat = gather::Options().axis(-2).extents(gather::Extents::broadcast);
  CHECK(gather::gather_elements_shape(params, column, prefix) == Shape({2, 1}));
  CHECK(gather::gather_elements_shape(params, column, repeat) == Shape({2, 2}));
  CHECK(gather::gather_elements(params, column, repeat).to_vector<float>() == std::vector<float>({30, 31, 0, 1}));
  const gather::Error error = thrown<gather::Error>(GTH_E_SHAPE, [&] { gather::gather_elements(params, column); });
  CHECK(error.operand() == GTH_OPERAND_INDICES && error.component() == 1 && error.value() == 1 && error.limit() == 2);

  std::array<float, 2> out = {};
  gather::gather_elements_into(params, column, {out, {2, 1}}, prefix);
  CHECK(out == (std::array<float, 2>{30, 0}));
  gather::Report err;
  CHECK(gather::try_gather_elements_into(params, column, {out, {2}}, &err, prefix) == GTH_E_RANK);
  CHECK(err.operand == GTH_OPERAND_OUT);

  const gather::Tensor from = gather::Tensor::borrow(params), at = gather::Tensor::borrow(column);
  const gather::Tensor made = gather::gather_elements(from, at, prefix);
  CHECK(made.shape() == Shape({2, 1}) && made.to_vector<float>() == std::vector<float>({30, 0}));
  const gather::Tensor into = gather::Tensor::alloc(GTH_DTYPE_FLOAT32, {2, 2});
  gather::gather_elements_into(from, at, into, repeat);
  CHECK(into.to_vector<float>() == std::vector<float>({30, 31, 0, 1}));
  gather::Tensor none;
  const int32_t bad[2] = {1, 4};
  const gather::Tensor outside = gather::Tensor::borrow({bad, {2, 1}});
  CHECK(gather::try_gather_elements(from, outside, &none, &err, prefix) == GTH_E_INDEX && !none);
  CHECK(err.position == 1 && err.value == 4 && err.limit == 4);
  CHECK(gather::try_gather_elements(params, {bad, {2, 1}}, &none, &err, prefix) == GTH_E_INDEX && err.position == 1);
  CHECK(gather::try_gather_elements_into(from, outside, into, &err, repeat) == GTH_E_INDEX);
}

// A plan returns the number of bytes that a run uses. It checks the sizes of ranges and validates indices.
void plans_of_ranges() {
  const gather::Plan plan =
      gather::Plan::gather_elements(gather::View::layout<float>({4, 2}), gather::View::layout<int16_t>({GTH_OPEN, 2}));
  const gather::Plan::Extents touched = plan.extents(2), nothing = plan.extents(0);
  CHECK(touched.params == 32 && touched.indices == 8 && touched.out == 16);
  CHECK(nothing.params == 0 && nothing.indices == 0 && nothing.out == 0);
  thrown<gather::Error>(GTH_E_SHAPE, [&] { plan.extents(); });

  const std::vector<int16_t> ids = {3, 0, 1, 9};
  std::vector<float> out(4, -1);
  plan.run(table, Span<const int16_t>{ids.data(), 2}, Span<float>{out.data(), 2}, 1);
  CHECK(out == std::vector<float>({30, 1, -1, -1}));
  const gather::Error params =
      thrown<gather::Error>(GTH_E_SIZE, [&] { plan.run(Span<const float>{table.data(), 7}, ids, out, 1); });
  CHECK(params.operand() == GTH_OPERAND_PARAMS && params.value() == 28 && params.limit() == 32);
  gather::Report err;
  CHECK(plan.try_run(table, ids, out, 3, &err) == GTH_E_SIZE && err.operand == GTH_OPERAND_INDICES);
  CHECK(err.value == 8 && err.limit == 12);
  CHECK(plan.try_run(table, ids, Span<float>{out.data(), 3}, 2, &err) == GTH_E_SIZE && err.operand == GTH_OPERAND_OUT);
  CHECK(err.value == 12 && err.limit == 16 && out[0] == 30);
  const std::vector<float> none;
  CHECK(plan.try_run(none, ids, out, 1, &err) == GTH_E_SIZE && err.value == 0 && err.limit == 32);
  const float part[2] = {};
  CHECK(plan.try_run(part, ids, out, 1, nullptr) == GTH_E_SIZE);
  static_assert(!std::is_constructible_v<gather::Target, const std::vector<float>&>);
  static_assert(!std::is_constructible_v<gather::Source, std::vector<float>>);

  plan.check(ids, 1);
  const gather::IndexError bad = thrown<gather::IndexError>(GTH_E_INDEX, [&] { plan.check(ids, 2); });
  CHECK(bad.position() == 3 && bad.value() == 9 && bad.limit() == 4);
  CHECK(plan.try_check(ids.data(), 2, &err) == GTH_E_INDEX && err.position == 3);
  const gather::Error size = thrown<gather::Error>(GTH_E_SIZE, [&] { plan.check(ids, 3); });
  CHECK(size.operand() == GTH_OPERAND_INDICES && size.value() == 8 && size.limit() == 12);
  CHECK(size.what() == std::string("indices: memory of 8 bytes, needed are 12"));
  CHECK(plan.try_check(out, 1, &err) == GTH_E_DTYPE && err.value == GTH_DTYPE_FLOAT32 && err.limit == GTH_DTYPE_INT16);
  CHECK(plan.try_check(ids, -2, &err) == GTH_E_SHAPE && err.operand == GTH_OPERAND_PLAN);
}

// Ownership: any callable can release adopted memory. Exports stay valid after the handle is released.
void ownership() {
  int gone = 0;
  auto memory = std::make_unique<std::vector<int32_t>>(std::vector<int32_t>{5, 6, 7});
  const gather::View view(*memory);
  gather::Tensor tensor =
      gather::Tensor::adopt(view, [&gone, kept = std::move(memory)] { gone += static_cast<int>(kept->size()); });
  DLManagedTensorVersioned* exported = tensor.to_dlpack(GTH_EXPORT_NO_COPY);
  tensor.reset();
  CHECK(gone == 0);
  tensor = gather::Tensor::from_dlpack(exported);
  CHECK(tensor.to_vector<int32_t>() == std::vector<int32_t>({5, 6, 7}));
  tensor = gather::Tensor::from_dlpack(tensor.to_dlpack_legacy());
  CHECK(gone == 0 && tensor.data<int32_t>()[2] == 7);
  tensor.reset();
  CHECK(gone == 3);

  // A deleter that was rejected has not run, and still owns its objects.
  bool ran = false;
  auto numbers = std::make_unique<std::array<int32_t, 2>>(std::array<int32_t, 2>{8, 9});
  const gather::View two(*numbers), refused(numbers->data(), {-2});
  auto deleter = [&ran, kept = std::move(numbers)] { ran = true; };
  thrown<gather::Error>(GTH_E_SHAPE, [&] { gather::Tensor::adopt(refused, std::move(deleter)); });
  CHECK(!ran);
  tensor = gather::Tensor::adopt(two, std::move(deleter));
  CHECK(tensor.to_vector<int32_t>() == std::vector<int32_t>({8, 9}) && !ran);
  tensor.reset();
  CHECK(ran);
}

// The copy of a deleter throws after the tensor was made.
struct ThrowingCopy {
  explicit ThrowingCopy(int* calls) : calls_(calls) {}
  ThrowingCopy(const ThrowingCopy&) { throw std::bad_alloc(); }
  void operator()() const { ++*calls_; }

 private:
  int* calls_ = nullptr;
};

void deleters_that_throw() {
  int calls = 0;
  const ThrowingCopy deleter(&calls);
  const std::vector<int32_t> numbers = {1};
  bool caught = false;
  try {
    gather::Tensor::adopt(numbers, deleter);
  } catch (const std::bad_alloc&) {
    caught = true;
  }
  CHECK(caught && calls == 0);
}

// A chain of setters that begins with a temporary may be bound to a reference.
void chained_setters() {
  const auto& options = gather::Options().axis(1).bounds(gather::Bounds::clamp);
  const auto& view = gather::View(table, {2, 3}).strides({4, 8}).offset(4).readonly();
  const std::vector<int32_t> ids = {9, 0};
  CHECK(gather::gather(view, ids, options).to_vector<float>() == std::vector<float>({21, 1, 30, 10}));
}

void strings() {
  const std::string bytes = "redgreenblue";
  const std::vector<int64_t> offsets = {0, 3, 8, 12};
  const std::vector<uint8_t> ids = {2, 0};
  const gather::Tensor params = gather::Tensor::from_strings(offsets.data(), bytes, {3});
  const gather::Tensor out = gather::gather(params, ids);
  CHECK(out.strings() == std::vector<std::string_view>({"blue", "red"}));
  ArrowSchema schema;
  ArrowArray array;
  out.to_arrow(&schema, &array);
  CHECK(array.length == 2 && std::string_view(schema.format) == "U");
  const gather::Dims column = {2, 1};
  const gather::Tensor back = gather::Tensor::from_arrow(&schema, &array, &column);
  schema.release(&schema);
  CHECK(array.release == nullptr && back.shape() == Shape({2, 1}));
  CHECK(back.strings() == std::vector<std::string_view>({"blue", "red"}));
  thrown<gather::Error>(GTH_E_ARROW, [&] { gather::Tensor::from_arrow(&schema, &array); });
}

// A copied view has its own description, which stays valid after the first view is destroyed.
void copied_views() {
  const std::vector<int64_t> ids = {2};
  std::vector<float> out(2);
  gather::View kept(out);
  {
    const gather::View first = gather::View(table, {2, 3}).strides({4, 8});
    gather::View copy(first), assigned(ids);
    assigned = copy;
    CHECK(description(assigned).shape != description(first).shape);
    CHECK(description(assigned).strides != description(copy).strides);
    kept = assigned;
  }
  gather::gather_into(kept, gather::View(ids), {out, {2, 1}}, gather::Options().axis(1));
  CHECK(out == std::vector<float>({20, 21}));
  gather::View column = gather::View(table, {3}).strides({4, 4});
  CHECK(description(column).ndim == GTH_MAX_NDIM + 1);
  CHECK(description(column.strides({8})).ndim == 1);
}

// A result that exceeds all memory is reported for the output, from views and from tensors.
void results_beyond_memory() {
  const std::vector<int64_t> zero = {0};
  const gather::View params = gather::View(zero, {1, int64_t{1} << 40}).strides({0, 0});
  const gather::View indices = gather::View(zero, {int64_t{1} << 40}).strides({0});
  const auto of_views = thrown<gather::Error>(GTH_E_SIZE, [&] { gather::gather(params, indices); });
  const auto of_tensors = thrown<gather::Error>(
      GTH_E_SIZE, [&] { gather::gather(gather::Tensor::borrow(params), gather::Tensor::borrow(indices)); });
  CHECK(of_views.operand() == GTH_OPERAND_OUT && of_tensors.operand() == GTH_OPERAND_OUT);
  CHECK(of_views.value() == of_tensors.value() && std::string(of_views.what()) == of_tensors.what());
}

// The shape determines how much of a range is used.
void longer_ranges() {
  const std::vector<int32_t> ids = {1, 0, 99};
  std::vector<float> out(9, -1);
  gather::gather_into({table, {3, 2}}, {ids, {2}}, {out, {2, 2}});
  CHECK(out == std::vector<float>({10, 11, 0, 1, -1, -1, -1, -1, -1}));
  const std::vector<int32_t> fourth = {3};
  const auto error =
      thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::gather({table, {3, 2}}, gather::View(fourth)); });
  CHECK(error.value() == 3 && error.limit() == 3);
}

}  // namespace

namespace with_names {

using namespace gather;

// gather is the name of a namespace and of an object. The qualified name or a using declaration selects the object.
bool gathers(const View& params, const View& indices) {
  const Tensor qualified = gather::gather(params, indices);
  using gather::gather;
  return qualified.shape() == gather(params, indices).shape();
}

}  // namespace with_names

int main() {
  CHECK(gth_abi_version() == GTH_ABI_VERSION && gather::capabilities().version == gth_version());
  new_tensors();
  mixed_operands();
  many();
  bad_indices();
  one_shot();
  fill_values();
  ranges();
  single_elements();
  plans();
  plans_of_ranges();
  ownership();
  deleters_that_throw();
  chained_setters();
  strings();
  copied_views();
  results_beyond_memory();
  longer_ranges();
  const std::vector<int64_t> ids = {1};
  CHECK(with_names::gathers(gather::View(table), gather::View(ids)));
  std::printf("raii: owners, views, plans, exports and strings; errors thrown and returned\n");
  return 0;
}
