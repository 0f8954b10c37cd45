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

}  // namespace

int main() {
  new_tensors();
  existing_memory();
  gradients();
  return 0;
}
