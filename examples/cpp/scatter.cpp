// Writes rows into a table by id, in place. The last update of a row remains, or all updates are added.
#include <cstdio>
#include <gather/gather.hpp>
#include <vector>

static void print(const std::vector<float>& table) {
  for (size_t i = 0; i < 4; i++) std::printf("%g %g\n", table[2 * i], table[2 * i + 1]);
}

int main() {
  std::vector<float> table = {0, 1, 10, 11, 20, 21, 30, 31};
  const std::vector<int64_t> ids = {3, 0, 3};
  const std::vector<float> rows = {1, 2, 3, 4, 5, 6};
  gather::scatter_into({table, {4, 2}}, ids, {rows, {3, 2}});
  print(table);
  gather::scatter_into({table, {4, 2}}, ids, {rows, {3, 2}}, gather::Options().reduction(gather::Reduction::add));
  print(table);
}
