// The forms that return a std::expected, in C++23.
#include "raii.hpp"

#include <vector>

#ifdef __cpp_lib_expected

namespace {

using Floats = std::vector<float>;
const Floats table = {0, 1, 10, 11, 20, 21};
const std::vector<int64_t> good = {2, 0}, bad = {0, 3};
const gather::View params(table, {3, 2});

// Checks the error of an index that is out of bounds.
template <class Expected>
bool is_index_error(const Expected& result) {
  return !result && result.error().status() == GTH_E_INDEX && result.error().position() == 1 &&
         result.error().value() == 3 && result.error().limit() == 3;
}

void results() {
  const std::expected<gather::Tensor, gather::Error> rows = gather::gather.expected(params, good);
  CHECK(rows && rows->to_vector<float>() == Floats({20, 21, 0, 1}));
  CHECK(is_index_error(gather::gather.expected(params, bad)));
  const Floats updates = {1, 2, 3, 4};
  const auto changed = gather::scatter.expected(params, good, gather::View(updates, {2, 2}));
  CHECK(changed.value().to_vector<float>() == Floats({3, 4, 10, 11, 1, 2}));
  CHECK(is_index_error(gather::scatter.expected(params, bad, gather::View(updates, {2, 2}))));
  const auto gradient = gather::gather_gradient.expected({updates, {2, 2}}, good, {3, 2});
  CHECK(gradient.value().to_vector<float>() == Floats({3, 4, 0, 0, 1, 2}));
  const std::vector<int64_t> offsets = {0, 2};
  CHECK(gather::gather_bags.expected(params, good, offsets).value().to_vector<float>() == Floats({20, 22}));
}

void existing_memory() {
  Floats out(4, -1);
  CHECK(is_index_error(gather::gather_into.expected(params, bad, {out, {2, 2}})) && out == Floats(4, -1));
  const std::expected<void, gather::Error> done = gather::gather_into.expected(params, good, {out, {2, 2}});
  CHECK(done && out == Floats({20, 21, 0, 1}));
  Floats gradient(6, -1);
  CHECK(gather::gather_gradient_into.expected({out, {2, 2}}, good, {gradient, {3, 2}}));
  CHECK(gradient == Floats({0, 1, 0, 0, 20, 21}));
  const std::vector<int64_t> offsets = {0, 2};
  CHECK(gather::gather_bags_into.expected(params, good, offsets, {out.data(), {1, 2}}) && out[0] == 20);
}

void plans() {
  const auto plan = gather::Plan::gather.expected(params, gather::View::layout<int64_t>({2}));
  Floats out(4);
  plan.value().run(table, good, out);
  CHECK(out == Floats({20, 21, 0, 1}));
  const auto rejected = gather::Plan::gather.expected(params, gather::View::layout<float>({2}));
  CHECK(!rejected && rejected.error().status() == GTH_E_DTYPE);
  const auto bags = gather::BagsPlan::gather_bags.expected(params, gather::View::layout<int64_t>({1, 2}));
  bags.value().run(table, good, nullptr, nullptr, out);
  CHECK(out == Floats({20, 22, 0, 1}));
  const std::vector<float> wrong = {0, 2};
  const auto refused = gather::BagsPlan::gather_bags.expected(params, good, wrong);
  CHECK(!refused && refused.error().status() == GTH_E_DTYPE && refused.error().operand() == GTH_OPERAND_BAGS);
}

}  // namespace

int main() {
  results();
  existing_memory();
  plans();
  std::printf("raii_expected: results and errors as std::expected\n");
  return 0;
}

#else

int main() {
  std::printf("skipped: this compiler has no std::expected\n");
  return 77;
}

#endif
