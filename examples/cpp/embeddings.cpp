// Gathers rows of a table by id into memory of the caller. It uses no handle and allocates nothing.
#include <cstdio>
#include <gather/gather.hpp>
#include <vector>

int main() {
  const std::vector<float> table = {0, 1, 10, 11, 20, 21, 30, 31};
  const std::vector<int64_t> ids = {3, 0, 3};
  std::vector<float> rows(6);
  gather::gather_into({table, {4, 2}}, ids, {rows, {3, 2}});
  for (size_t i = 0; i < 3; i++) std::printf("%d: %g %g\n", static_cast<int>(ids[i]), rows[2 * i], rows[2 * i + 1]);
}
