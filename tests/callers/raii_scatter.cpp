// A C++ program that scatters through gather.hpp: in place, into new tensors, and with plans. It also computes
// gradients.
#include <array>
#include <cmath>
#include <gather/gather.hpp>
#include <limits>
#include <string>

#include "raii.hpp"

namespace {

using gather::Options;
using gather::ScatterPlan;
using gather::Tensor;
using gather::View;
using Shape = std::vector<int64_t>;
using Floats = std::vector<float>;

const Floats table = {0, 1, 10, 11, 20, 21, 30, 31};
const Options add = Options().reduction(gather::Reduction::add);

// The update with the highest position wins, for any number of threads.
void in_place() {
  Floats target = table;
  const std::vector<int32_t> ids = {3, 0, 3};
  const Floats updates = {1, 2, 3, 4, 5, 6};
  gather::scatter_into({target, {4, 2}}, ids, {updates, {3, 2}});
  CHECK(target == Floats({3, 4, 10, 11, 20, 21, 5, 6}));
  gather::scatter_into({target, {4, 2}}, ids, {updates, {3, 2}}, add);
  CHECK(target == Floats({6, 8, 10, 11, 20, 21, 11, 14}));

  target = table;
  const std::vector<int64_t> tuples = {2, 1, 0, 0};
  gather::scatter_nd_into({target, {4, 2}}, {tuples, {2, 2}}, View(updates, {2}));
  CHECK(target == Floats({2, 1, 10, 11, 20, 1, 30, 31}));

  target = table;
  const std::vector<uint8_t> rows = {3, 0};
  const Options prefix = Options().extents(gather::Extents::prefix).reduction(gather::Reduction::max);
  gather::scatter_elements_into({target, {4, 2}}, {rows, {2, 1}}, {updates, {2, 1}}, prefix);
  CHECK(target == Floats({2, 1, 10, 11, 20, 21, 30, 31}));

  // Updates every other column of a target with strides.
  target = table;
  const View columns = View(target, {4}).strides({8});
  const std::vector<int32_t> all = {0, 1, 2, 3};
  gather::scatter_into(columns, all, View(updates, {4}).strides({0}), Options().reduction(gather::Reduction::min));
  CHECK(target == Floats({0, 1, 1, 11, 1, 21, 1, 31}));
}

void new_tensors() {
  const std::vector<int64_t> ids = {1, -1};
  const Floats updates = {5, 6, 7, 8};
  const Options wrap = Options(add).negative(gather::Negative::wrap);
  const View to(table, {4, 2}), from(updates, {2, 2});
  const Floats wanted = {0, 1, 15, 17, 20, 21, 37, 39};
  const Tensor of_views = gather::scatter(to, ids, from, wrap);
  CHECK(of_views.shape() == Shape({4, 2}) && of_views.to_vector<float>() == wanted);
  CHECK(table[2] == 10);
  const Tensor target = Tensor::borrow(to), indices = Tensor::borrow(ids), rows = Tensor::borrow(from);
  CHECK(gather::scatter(target, indices, rows, wrap).to_vector<float>() == wanted);
  CHECK(gather::scatter(to, indices, from, wrap).to_vector<float>() == wanted);
  const Tensor owned = Tensor::alloc(GTH_DTYPE_FLOAT32, {4, 2});
  gather::scatter_into(owned, ids, from, wrap);
  CHECK(owned.to_vector<float>() == Floats({0, 0, 5, 6, 0, 0, 7, 8}));
  thrown<gather::Error>(GTH_E_READONLY, [&] { gather::scatter_into(target, indices, rows, wrap); });

  const std::vector<int64_t> tuples = {3, 1};
  const Floats one = {9};
  CHECK(gather::scatter_nd(to, {tuples, {1, 2}}, one).to_vector<float>()[7] == 9);
  CHECK(gather::scatter_nd(target, {tuples, {1, 2}}, one).to_vector<float>()[7] == 9);
  const View row(ids, {1, 2});
  const Options along = Options(wrap).axis(1).extents(gather::Extents::prefix);
  CHECK(gather::scatter_elements(to, row, {updates, {1, 2}}, along).to_vector<float>()[1] == 12);
  const Tensor elements = gather::scatter_elements(target, row, {updates, {1, 2}}, along);
  CHECK(elements.to_vector<float>()[1] == 12);

  CHECK(gather::scatter_shape(to, ids) == Shape({2, 2}));
  CHECK(gather::scatter_nd_shape(to, {tuples, {1, 2}}) == Shape({1}));
  CHECK(gather::scatter_elements_shape(to, row, along) == Shape({1, 2}));
  CHECK(gather::scatter_shape(to, View::layout<int64_t>({GTH_OPEN})) == Shape({GTH_OPEN, 2}));
}

// Adding 4,096 ones gives 4,096 in float32, and 2,048 in float16.
void accumulation() {
  constexpr uint16_t one = 0x3c00;
  std::vector<uint16_t> sum = {0};
  const std::vector<uint16_t> ones(4096, one);
  const std::vector<int16_t> ids(4096, 0);
  const View target(sum.data(), GTH_DTYPE_FLOAT16, {1});
  const View updates(static_cast<const void*>(ones.data()), GTH_DTYPE_FLOAT16, {4096});
  gather::scatter_into(target, ids, updates, add);
  CHECK(sum[0] == 0x6800);
  sum[0] = 0;
  gather::scatter_into(target, ids, updates, Options(add).accumulate(gather::Accumulate::float32));
  CHECK(sum[0] == 0x6c00);
}

// On the CPU, the sum is always that of the updates in their order: (1e8 + 1) - 1e8 is 0 in float32.
void order() {
  const std::vector<int64_t> ids = {1, 1, 1}, none = {};
  const Floats updates = {1e8F, 1, -1e8F};
  for (const gather::Order order : {gather::Order::updates, gather::Order::any}) {
    Floats sums = {4, 0};
    gather::scatter_into(sums, ids, updates, Options(add).order(order));
    CHECK(sums == Floats({4, 0}));
    const Tensor gradient = gather::gather_gradient(updates, ids, {2}, Options().order(order));
    CHECK(gradient.to_vector<float>() == Floats({0, 0}));
  }
  Floats sums = {4, 0};
  const auto unknown = static_cast<gather::Order>(GTH_ORDER_ANY + 1);
  const auto error = thrown<gather::Error>(
      GTH_E_VERSION, [&] { gather::scatter_into(sums, ids, updates, Options(add).order(unknown)); });
  CHECK(error.operand() == GTH_OPERAND_OPTIONS && error.value() == GTH_ORDER_ANY + 1 && error.limit() == GTH_ORDER_ANY);
  thrown<gather::Error>(GTH_E_VERSION, [&] { gather::gather(sums, ids, Options().order(gather::Order::any)); });
  CHECK(sums == Floats({4, 0}));
}

// A rejected scatter leaves every byte of the target unchanged.
void errors() {
  Floats target = table;
  target[0] = std::numeric_limits<float>::quiet_NaN();
  const Floats before = target;
  const auto unchanged = [&] { return std::memcmp(target.data(), before.data(), sizeof(float) * before.size()) == 0; };
  const View to(target, {4, 2});
  const std::vector<int64_t> bad = {1, 4, -1}, good = {1, 2, 3};
  const Floats updates = {1, 2, 3, 4, 5, 6};
  const View from(updates, {3, 2});
  const auto index = thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::scatter_into(to, bad, from, add); });
  CHECK(index.operand() == GTH_OPERAND_INDICES && index.position() == 1 && index.value() == 4 && index.limit() == 4);
  thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::scatter(to, bad, from); });
  CHECK(unchanged());

  // Errors name the operand.
  const auto refused = [&](int32_t status, int32_t operand, const char* name, auto call) {
    const auto error = thrown<gather::Error>(status, call);
    CHECK(error.operand() == operand && std::string(error.what()).find(name) == 0 && unchanged());
  };
  const std::vector<double> doubles(6);
  refused(GTH_E_DTYPE, GTH_OPERAND_UPDATES, "updates", [&] { gather::scatter_into(to, good, {doubles, {3, 2}}); });
  refused(GTH_E_DTYPE, GTH_OPERAND_INDICES, "indices", [&] { gather::scatter_into(to, updates, from); });
  refused(GTH_E_SHAPE, GTH_OPERAND_UPDATES, "updates", [&] { gather::scatter_into(to, good, {updates, {2, 2}}); });
  const std::vector<int64_t> four = {1, 2, 3, 0};
  refused(GTH_E_STRIDE, GTH_OPERAND_UPDATES, "updates", [&] { gather::scatter(to, four, {updates, {4, 2}}); });
  refused(GTH_E_STRIDE, GTH_OPERAND_TARGET, "target", [&] { gather::scatter({target, {5, 2}}, good, from); });
  refused(GTH_E_STRIDE, GTH_OPERAND_INDICES, "indices", [&] { gather::scatter(to, {good, {4}}, {table, {4, 2}}); });
  refused(GTH_E_ALIAS, GTH_OPERAND_TARGET, "target", [&] { gather::scatter_into(to, good, {target, {3, 2}}); });
  refused(GTH_E_READONLY, GTH_OPERAND_TARGET, "target", [&] { gather::scatter_into({table, {4, 2}}, good, from); });
  refused(GTH_E_STRIDE, GTH_OPERAND_TARGET, "target",
          [&] { gather::scatter_into(View(target, {4, 2}).strides({4, 4}), good, from); });
  refused(GTH_E_VERSION, GTH_OPERAND_OPTIONS, "options",
          [&] { gather::scatter_into(to, good, from, Options().bounds(gather::Bounds::fill)); });
  refused(GTH_E_VERSION, GTH_OPERAND_OPTIONS, "options", [&] { gather::gather(to, good, add); });
  refused(GTH_E_VERSION, GTH_OPERAND_OPTIONS, "options",
          [&] { gather::scatter_into(to, good, from, Options().fill_value(1)); });
  gather::Report err;
  Tensor none;
  CHECK(gather::try_scatter_into(to, bad, from, &err) == GTH_E_INDEX && err.position == 1);
  CHECK(gather::try_scatter_nd_into(to, {bad, {3, 1}}, from, &err) == GTH_E_INDEX && err.position == 1);
  CHECK(gather::try_scatter_elements_into(to, {bad, {3, 1}}, {updates, {3, 1}}, nullptr,
                                          Options().extents(gather::Extents::prefix)) == GTH_E_INDEX);
  CHECK(gather::try_scatter(to, bad, from, &none, nullptr) == GTH_E_INDEX && !none && unchanged());
  CHECK(gather::try_scatter_nd(Tensor(), Tensor(), Tensor(), &none, &err) == GTH_E_NULL && !none);
  CHECK(err.operand == GTH_OPERAND_TARGET);
}

// The run of a scatter writes its first operand and reads its last one, so it has other types than the run of a gather.
template <class Plan, class Table, class Rows>
constexpr bool runs = std::is_invocable_v<decltype(&Plan::with), const Plan&, Table, const int32_t*, Rows, int64_t>;
static_assert(runs<ScatterPlan, float*, const float*> && !runs<ScatterPlan, const float*, float*>);
static_assert(runs<gather::Plan, const float*, float*> && !runs<gather::Plan, float*, const float*>);
static_assert(!std::is_convertible_v<gather::Plan, ScatterPlan> && !std::is_convertible_v<ScatterPlan, gather::Plan>);

void plans() {
  const View rows = View::layout<float>({4, 2});
  const ScatterPlan plan = ScatterPlan::scatter(rows, View::layout<int32_t>({GTH_OPEN}), add);
  CHECK(plan.shape() == Shape({GTH_OPEN, 2}) && plan.shape(3) == Shape({3, 2}));
  const ScatterPlan::Extents touched = plan.extents(3);
  CHECK(touched.target == 32 && touched.indices == 12 && touched.updates == 24);
  Floats target = table;
  const std::array<int32_t, 3> ids = {2, 2, 9};
  const Floats updates = {1, 2, 3, 4, 5, 6};
  plan.run(target, ids, updates, 2);
  CHECK(target == Floats({0, 1, 10, 11, 24, 27, 30, 31}));
  const auto index = thrown<gather::IndexError>(GTH_E_INDEX, [&] { plan.run(target, ids, updates, 3); });
  CHECK(index.position() == 2 && index.value() == 9 && target[4] == 24);
  plan.check(ids, 2);
  thrown<gather::IndexError>(GTH_E_INDEX, [&] { plan.check(ids, 3); });

  const std::vector<double> doubles(6);
  const auto dtype = thrown<gather::Error>(GTH_E_DTYPE, [&] { plan.run(target, ids, doubles, 2); });
  CHECK(dtype.operand() == GTH_OPERAND_UPDATES &&
        dtype.what() == std::string("updates: dtype is float64, needed is float32"));
  std::vector<int32_t> whole(8);
  const auto wrong = thrown<gather::Error>(GTH_E_DTYPE, [&] { plan.run(whole, ids, updates, 2); });
  CHECK(wrong.operand() == GTH_OPERAND_TARGET);
  Floats small(7);
  const auto size = thrown<gather::Error>(GTH_E_SIZE, [&] { plan.run(small, ids, updates, 2); });
  CHECK(size.operand() == GTH_OPERAND_TARGET && size.value() == 28 && size.limit() == 32);
  CHECK(small == Floats(7));
  gather::Report err;
  CHECK(plan.try_run(target, ids, target, 2, &err) == GTH_E_ALIAS && err.operand == GTH_OPERAND_TARGET);

  const View column = View::layout<float>({2}).strides({8});
  const ScatterPlan elements = ScatterPlan::scatter_nd(rows, View::layout<uint8_t>({2, 2}), Options(), &column);
  const std::array<uint8_t, 4> tuples = {0, 0, 3, 1};
  elements.run(target, tuples, updates);
  CHECK(target[0] == 1 && target[7] == 3);
  const ScatterPlan single =
      ScatterPlan::scatter_elements(rows, View::layout<uint8_t>({1, 2}), Options().extents(gather::Extents::prefix));
  single.run(target, tuples, updates);
  CHECK(target[0] == 1 && target[1] == 2);
}

// An element that was read twice receives two gradients. An element that was not read receives none.
void gradients() {
  const std::vector<int64_t> ids = {3, 0, 3};
  const Floats gradient = {1, 2, 3, 4, 5, 6}, wanted = {3, 4, 0, 0, 0, 0, 6, 8};
  const View of(gradient, {3, 2});
  CHECK(gather::gather_gradient(of, ids, {4, 2}).to_vector<float>() == wanted);
  CHECK(gather::gather_gradient(Tensor::borrow(of), Tensor::borrow(ids), {4, 2}).to_vector<float>() == wanted);
  Floats out(8, -1);
  gather::gather_gradient_into(of, ids, {out, {4, 2}});
  CHECK(out == wanted);

  const View tuples(ids, {3, 1});
  CHECK(gather::gather_nd_gradient(of, tuples, {4, 2}).to_vector<float>() == wanted);
  CHECK(gather::gather_nd_gradient(Tensor::borrow(of), Tensor::borrow(tuples), {4, 2}).to_vector<float>() == wanted);
  out.assign(8, -1);
  gather::gather_nd_gradient_into(of, tuples, {out, {4, 2}});
  CHECK(out == wanted);

  const View single(gradient, {3, 1});
  const Floats column = {2, 0, 0, 4};
  CHECK(gather::gather_elements_gradient(single, tuples, {4, 1}).to_vector<float>() == column);
  const Tensor made = gather::gather_elements_gradient(Tensor::borrow(single), Tensor::borrow(tuples), {4, 1});
  CHECK(made.to_vector<float>() == column);
  out.assign(8, -1);
  gather::gather_elements_gradient_into(single, tuples, View(out, {4, 1}).strides({8, 4}));
  CHECK(out == Floats({2, -1, 0, -1, 0, -1, 4, -1}));

  // Rows that the gather has filled contribute nothing to the gradient.
  const std::vector<int64_t> some = {9, 0, 3};
  const Options fill = Options().fill_value(0.5F);
  CHECK(gather::gather_gradient(of, some, {4, 2}, fill).to_vector<float>() == Floats({3, 4, 0, 0, 0, 0, 5, 6}));
  out.assign(8, -1);
  const auto index =
      thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::gather_gradient_into(of, some, {out, {4, 2}}); });
  CHECK(index.position() == 0 && index.value() == 9 && out == Floats(8, -1));
  const auto shape = thrown<gather::Error>(GTH_E_SHAPE, [&] { gather::gather_gradient(of, ids, {4, 3}); });
  CHECK(shape.operand() == GTH_OPERAND_UPDATES && shape.component() == 1 && shape.value() == 2 && shape.limit() == 3);
  const auto rank = thrown<gather::Error>(
      GTH_E_RANK, [&] { gather::gather_gradient(of, ids, std::vector<int64_t>(GTH_MAX_NDIM + 1, 1)); });
  CHECK(rank.operand() == GTH_OPERAND_TARGET);
  const auto memory =
      thrown<gather::Error>(GTH_E_STRIDE, [&] { gather::gather_gradient({gradient, {3, 3}}, ids, {4, 3}); });
  CHECK(memory.operand() == GTH_OPERAND_UPDATES && std::string(memory.what()).find("updates") == 0);
}

void strings() {
  const std::vector<int64_t> offsets = {0, 3, 8, 12}, one = {0, 6};
  const std::vector<uint8_t> ids = {1};
  const Tensor target = Tensor::from_strings(offsets.data(), "redgreenblue", {3});
  const Tensor updates = Tensor::from_strings(one.data(), "yellow", {1});
  const Tensor made = gather::scatter(target, ids, updates);
  CHECK(made.strings() == std::vector<std::string_view>({"red", "yellow", "blue"}));
  thrown<gather::Error>(GTH_E_UNSUPPORTED, [&] { gather::scatter_into(target, ids, updates); });
  const auto dtype = thrown<gather::Error>(GTH_E_DTYPE, [&] { gather::scatter(target, ids, updates, add); });
  CHECK(dtype.operand() == GTH_OPERAND_TARGET);
}

void empties() {
  Floats target = table;
  const std::vector<int64_t> none;
  Floats nothing;
  gather::scatter_into({target, {4, 2}}, none, {nothing, {0, 2}});
  CHECK(target == table);
  CHECK(gather::scatter({nothing, {0, 2}}, none, {nothing, {0, 2}}).to_vector<float>().empty());
  CHECK(gather::gather_gradient({nothing, {0, 2}}, none, {2, 2}).to_vector<float>() == Floats(4));
  // An invalid index is an error also if rows have no elements, except with the profiles of systems that accept it.
  const std::vector<int64_t> zero = {0};
  const View rows(nothing, {0, 0}), row(nothing, {1, 0});
  thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::scatter(rows, zero, row); });
  thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::scatter_into(rows, zero, row); });
  thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::gather_gradient(row, zero, {0, 0}); });
  thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::gather_gradient_into(row, zero, rows); });
  const Options accepting = Options().profile(gather::Profile::tensorflow);
  CHECK(gather::gather_gradient(row, zero, {0, 0}, accepting).shape() == Shape({0, 0}));
  thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::scatter({nothing, {0, 1}}, zero, {table, {1, 1}}); });
}

void positions() {
  const std::vector<int64_t> ids = {3, 0, 3}, tuples = {2, 1, 0, 0};
  const Floats updates = {1, 40, 3, 40, 50, 40};
  const View target(table, {4, 2});
  std::vector<int64_t> found(8);
  const View out(found, {4, 2});
  const Options max = Options().reduction(gather::Reduction::max);
  gather::scatter_positions_into(target, ids, {updates, {3, 2}}, out, max);
  CHECK(found == std::vector<int64_t>({2, 3, -1, -1, -1, -1, 4, 1}));
  gather::scatter_nd_positions_into(target, {tuples, {2, 2}}, View(updates, {2}), out, max);
  CHECK(found == std::vector<int64_t>({1, -1, -1, -1, -1, -1, -1, -1}));
  const Options prefix = Options(max).extents(gather::Extents::prefix);
  gather::scatter_elements_positions_into(target, {ids, {3, 1}}, View(updates, {3, 1}), out, prefix);
  CHECK(found == std::vector<int64_t>({1, -1, -1, -1, -1, -1, -1, -1}));
  gth_error err = GTH_ERROR_INIT;
  CHECK(gather::try_scatter_positions_into(target, ids, {updates, {3, 2}}, out, &err, add) == GTH_E_VERSION);
  CHECK(err.operand == GTH_OPERAND_OPTIONS && found[0] == 1);
}

}  // namespace

int main() {
  in_place();
  positions();
  new_tensors();
  accumulation();
  order();
  errors();
  plans();
  gradients();
  strings();
  empties();
  std::printf("raii: scatters in place, into new tensors and planned; gradients\n");
  return 0;
}
