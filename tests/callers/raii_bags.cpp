// A C++ program that pools bags through gather.hpp.
#include <gather/gather.hpp>
#include <string>

#include "raii.hpp"

namespace {

using gather::Bags;
using gather::Options;
using gather::Tensor;
using gather::View;
using Shape = std::vector<int64_t>;
using Floats = std::vector<float>;

const Floats words = {0, 1, 10, 11, 20, 21, 30, 31};
const View table(words, {4, 2});
const std::vector<int64_t> ids = {0, 3, 2, 1};
const std::vector<int32_t> offsets = {0, 3, 3, 4};

void new_tensors() {
  const Tensor sums = gather::gather_bags(table, ids, offsets);
  CHECK(sums.shape() == Shape({3, 2}) && sums.to_vector<float>() == Floats({50, 53, 0, 0, 10, 11}));
  const Tensor dense = gather::gather_bags(table, {ids, {2, 2}}, {}, Options().pool(gather::Pool::mean));
  CHECK(dense.to_vector<float>() == Floats({15, 16, 15, 16}));
  const Floats weights = {1, 2, 3, 4};
  const Tensor weighted = gather::gather_bags(table, ids, Bags(offsets).weights(weights));
  CHECK(weighted.to_vector<float>() == Floats({120, 126, 0, 0, 40, 44}));
  const std::vector<int8_t> segments = {0, 0, 2, 2};
  const Options largest = Options().bag_count(4).pool(gather::Pool::max).padding_index(2);
  const Tensor most = gather::gather_bags(table, ids, segments, largest);
  CHECK(most.to_vector<float>() == Floats({30, 31, 0, 0, 10, 11, 0, 0}));
}

void existing_memory() {
  Floats out(6, -1);
  gather::gather_bags_into(table, ids, offsets, {out, {3, 2}}, Options().fill_value(5.0f).empty(gather::Empty::fill));
  CHECK(out == Floats({50, 53, 5, 5, 10, 11}));
  const std::vector<int64_t> decreasing = {0, 3, 2, 4};
  gth_error err = GTH_ERROR_INIT;
  CHECK(gather::try_gather_bags_into(table, ids, decreasing, {out, {3, 2}}, &err) == GTH_E_OFFSETS);
  CHECK(err.operand == GTH_OPERAND_BAGS && err.position == 2 && err.value == 2 && err.limit == 3);
  Tensor none;
  CHECK(gather::try_gather_bags(table, ids, decreasing, &none, &err) == GTH_E_OFFSETS && !none);
  CHECK(out == Floats({50, 53, 5, 5, 10, 11}));
}

void gradients() {
  const Floats given = {1, 2, 3, 4, 5, 6}, weights = {1, 2, 3, 4};
  const View gradient(given, {3, 2});
  Floats params(8, -1), rows(8, -1), of_weights(4, -1);
  std::vector<int64_t> unique(4, -1);
  const Bags bags = Bags(offsets).weights(weights);
  gather::gather_bags_gradient_into(table, ids, bags, gradient, {params, {4, 2}});
  CHECK(params == Floats({1, 2, 20, 24, 3, 6, 2, 4}));
  const Options padded = Options().padding_index(3);
  CHECK(gather::gather_bags_sparse_gradient_into(table, ids, bags, gradient, unique, {rows, {4, 2}}, padded) == 3);
  CHECK(unique == std::vector<int64_t>({0, 1, 2, -1}) && rows == Floats({1, 2, 20, 24, 3, 6, -1, -1}));
  gather::gather_bags_weight_gradient_into(table, ids, bags, gradient, of_weights);
  CHECK(of_weights == Floats({2, 92, 62, 116}));
  gth_error err = GTH_ERROR_INIT;
  int64_t count = 0;
  const std::vector<int64_t> outside = {0, 3, 4, 1};
  CHECK(gather::try_gather_bags_gradient_into(table, outside, bags, gradient, {params, {4, 2}}, &err) == GTH_E_INDEX);
  CHECK(err.position == 2 && err.value == 4);
  CHECK(gather::try_gather_bags_sparse_gradient_into(table, ids, bags, gradient, {unique, {3}}, {rows, {3, 2}}, &count,
                                                     &err) == GTH_E_SIZE);
  CHECK(err.limit == 4 && count == 0);
}

void positions() {
  const Floats values = {1, 8, 5, 2, 5, 9};
  const std::vector<int64_t> rows = {1, 0, 2, 0};
  std::vector<int64_t> found(6);
  const View params(values, {3, 2});
  const Options max = Options().pool(gather::Pool::max);
  gather::gather_bags_positions_into(params, rows, offsets, {found, {3, 2}}, max);
  CHECK(found == std::vector<int64_t>({0, 2, -1, -1, 3, 3}));
  gth_error err = GTH_ERROR_INIT;
  CHECK(gather::try_gather_bags_positions_into(params, rows, offsets, {found, {3, 2}}, &err) == GTH_E_VERSION);
  CHECK(err.operand == GTH_OPERAND_OPTIONS);
  CHECK(found == std::vector<int64_t>({0, 2, -1, -1, 3, 3}));
}

// The operands of bags of 0 to 3 ids, and the sums that a plain loop gives.
struct Case {
  explicit Case(size_t count) : lengths(count), sums(3 * count) {
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i * i % 101);
    for (size_t bag = 0; bag < count; ++bag) {
      lengths[bag] = static_cast<uint8_t>((bag * 5 + 2) % 4);
      for (size_t i = 0; i < lengths[bag]; ++i) {
        const size_t id = (indices.size() * 7 + bag) % 11;
        indices.push_back(static_cast<int16_t>(id));
        weights.push_back(static_cast<float>(indices.size() % 6) - 2);
        for (size_t k = 0; k < 3; ++k) sums[3 * bag + k] += weights.back() * rows[3 * id + k];
      }
    }
  }
  Floats rows = Floats(33), weights;
  std::vector<int16_t> indices;
  std::vector<uint8_t> lengths;
  Floats sums;
};

const View planned_table = View::layout<float>({11, 3});
const View open_indices = View::layout<int16_t>({GTH_OPEN}), open_lengths = View::layout<uint8_t>({GTH_OPEN});
const View open_weights = View::layout<float>({GTH_OPEN});

// The numbers of bags and of ids are those of each run.
void open_plans() {
  const Options lengths = Options().bag_format(gather::BagFormat::lengths);
  const gather::BagsPlan plan =
      gather::BagsPlan::gather_bags(planned_table, open_indices, Bags(open_lengths).weights(open_weights), lengths);
  CHECK(plan.shape() == Shape({GTH_OPEN, 3}) && plan.shape(7) == Shape({7, 3}));
  for (const size_t count : std::vector<size_t>{1, 2, 33, 600}) {
    const Case given(count);
    const auto n = static_cast<int64_t>(count), size = static_cast<int64_t>(given.indices.size());
    Floats out(3 * count, -1);
    plan.run(given.rows, given.indices, given.lengths, given.weights, out, n, size);
    CHECK(out == given.sums);
    plan.check(given.indices, given.lengths, n, size);
    const gather::BagsPlan::Extents touched = plan.extents(n, size);
    CHECK(touched.params == 132 && touched.indices == 2 * size && touched.bags == n);
    CHECK(touched.weights == 4 * size && touched.out == 12 * n);
  }

  const Case given(9), other(5);
  const auto n = static_cast<int64_t>(given.lengths.size()), size = static_cast<int64_t>(given.indices.size());
  const auto other_size = static_cast<int64_t>(other.indices.size());
  Floats out(27, -1), second(15, -1);
  gather::run_many({plan.with(given.rows, given.indices, given.lengths, given.weights, out, 9, size),
                    plan.with(other.rows, other.indices, other.lengths, other.weights, second, 5, other_size)});
  CHECK(out == given.sums && second == other.sums);

  // A void pointer has no dtype, and a pointer has no size.
  const void* const untyped = given.weights.data();
  out.assign(27, -1);
  plan.run(given.rows.data(), given.indices, given.lengths.data(), untyped, out, n, size);
  CHECK(out == given.sums);

  // Errors leave the output unchanged.
  out.assign(27, -1);
  gather::Report err;
  std::vector<int16_t> outside = given.indices;
  outside.at(4) = 11;
  const auto index = thrown<gather::IndexError>(
      GTH_E_INDEX, [&] { plan.run(given.rows, outside, given.lengths, given.weights, out, n, size); });
  CHECK(index.position() == 4 && index.value() == 11 && index.limit() == 11);
  CHECK(plan.try_check(outside, given.lengths, n, size, &err) == GTH_E_INDEX && err.position == 4);
  std::vector<uint8_t> longer = given.lengths;
  longer.at(3) = 200;
  CHECK(plan.try_run(given.rows, given.indices, longer, given.weights, out, n, size, &err) == GTH_E_OFFSETS);
  CHECK(err.operand == GTH_OPERAND_BAGS && err.position == 3 && err.value == 200);
  thrown<gather::Error>(GTH_E_OFFSETS, [&] { plan.check(given.indices, longer, n, size); });
  Floats more(30, -1);
  CHECK(plan.try_run(given.rows, given.indices, given.lengths, given.weights, more, n + 1, size, &err) == GTH_E_SIZE);
  CHECK(err.operand == GTH_OPERAND_BAGS && err.value == 9 && err.limit == 10);
  const Floats few(given.weights.begin(), given.weights.end() - 1);
  CHECK(plan.try_run(given.rows, given.indices, given.lengths, few, out, n, size, &err) == GTH_E_SIZE);
  CHECK(err.operand == GTH_OPERAND_WEIGHTS && err.value == 4 * size - 4 && err.limit == 4 * size);
  const auto dtype = thrown<gather::Error>(
      GTH_E_DTYPE, [&] { plan.run(given.rows, given.indices, given.lengths, given.indices, out, n, size); });
  CHECK(dtype.operand() == GTH_OPERAND_WEIGHTS && dtype.value() == GTH_DTYPE_INT16);
  CHECK(dtype.what() == std::string("weights: dtype is int16, needed is float32"));
  CHECK(plan.try_check(given.indices, given.indices, n, size, &err) == GTH_E_DTYPE);
  CHECK(err.operand == GTH_OPERAND_BAGS && err.limit == GTH_DTYPE_UINT8);
  CHECK(plan.try_run(given.rows, given.indices, nullptr, given.weights, out, n, size, &err) == GTH_E_NULL);
  thrown<gather::Error>(GTH_E_SHAPE, [&] { plan.extents(n); });
  thrown<gather::Error>(GTH_E_SHAPE, [&] { plan.extents(GTH_OPEN, size); });
  CHECK(out == Floats(27, -1));
}

void fixed_plans() {
  // The table is bound. Without weights and bags, the bags are dense.
  const Tensor bound = Tensor::borrow(table);
  const gather::BagsPlan dense = gather::BagsPlan::gather_bags(bound, View::layout<int64_t>({2, 2}));
  Floats out(4, -1);
  dense.run(nullptr, ids, nullptr, nullptr, out);
  CHECK(out == Floats({30, 32, 30, 32}) && dense.shape() == Shape({2, 2}) && dense.extents().params == 0);
  gather::Report err;
  CHECK(dense.try_run(words, ids, nullptr, nullptr, out, GTH_OPEN, GTH_OPEN, &err) == GTH_E_HANDLE);

  // The output has a dtype of its own, and strides.
  const std::vector<uint16_t> halves = {0x3c00, 0x4000, 0x4200, 0x4400};  // 1, 2, 3, 4
  const View rows = View::layout<float>({2, 2}).strides({12, 4});
  const Options wide = Options().out_dtype(GTH_DTYPE_FLOAT32);
  const gather::BagsPlan widened =
      gather::BagsPlan::gather_bags(View::layout(GTH_DTYPE_FLOAT16, {2, 2}), View::layout<int64_t>({3}),
                                    Bags(View::layout<int32_t>({3})), wide, &rows);
  const std::vector<int32_t> two = {0, 1, 3};
  const std::vector<int64_t> three = {1, 0, 1};
  Floats strided(5, -1);
  widened.run(static_cast<const void*>(halves.data()), three, two, nullptr, strided);
  CHECK(strided == Floats({3, 4, -1, 4, 6}) && widened.extents().out == 20);
  std::vector<uint16_t> narrow(5);
  thrown<gather::Error>(GTH_E_DTYPE,
                        [&] { widened.run(static_cast<const void*>(halves.data()), three, two, nullptr, narrow); });

  // Plans that cannot be made.
  gather::BagsPlan none;
  thrown<gather::Error>(GTH_E_NULL, [&] { none.shape(); });
  CHECK(gather::BagsPlan::try_gather_bags(table, View::layout<float>({2, 2}), {}, &none, &err) == GTH_E_DTYPE && !none);
  thrown<gather::Error>(GTH_E_DTYPE,
                        [&] { gather::BagsPlan::gather_bags(table, ids, offsets, Options().fill_value(1.0)); });
}

}  // namespace

int main() {
  new_tensors();
  existing_memory();
  gradients();
  positions();
  open_plans();
  fixed_plans();
  return 0;
}
