// Gathers elements by coordinates. Each row of indices is a tuple with one index for each dim.
#include <cstdio>
#include <gather/gather.hpp>
#include <vector>

int main() {
  const std::vector<int32_t> matrix = {0, 1, 2, 10, 11, 12};
  const std::vector<int64_t> at = {1, 2, 0, 0};
  std::vector<int32_t> elements(2);
  gather::gather_nd_into({matrix, {2, 3}}, {at, {2, 2}}, elements);
  for (const int32_t element : elements) std::printf("%d\n", element);
}
