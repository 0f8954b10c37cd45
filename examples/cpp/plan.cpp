// Runs a plan. Shapes and options are validated once. Each run sets the number of ids.
#include <cstdio>
#include <gather/gather.hpp>
#include <vector>

int main() {
  const std::vector<float> table = {0, 1, 10, 11, 20, 21, 30, 31};
  const gather::Plan plan =
      gather::Plan::gather(gather::View::layout<float>({4, 2}), gather::View::layout<int64_t>({GTH_OPEN}));

  for (const std::vector<int64_t>& ids : {std::vector<int64_t>{2}, std::vector<int64_t>{0, 1, 3}}) {
    std::vector<float> rows(2 * ids.size());
    plan.run(table.data(), ids.data(), rows.data(), static_cast<int64_t>(ids.size()));
    for (size_t i = 0; i < rows.size(); i += 2) std::printf("%g %g\n", rows[i], rows[i + 1]);
  }
}
