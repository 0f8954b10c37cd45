#include <gather/gather.hpp>

#include <cstdio>
#include <vector>

int main() try {
  const std::vector<float> params = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> indices = {2, 0};
  std::vector<float> out(4);
  gather::gather_into({params, {3, 2}}, indices, {out, {2, 2}});
  return gth_abi_version() == GTH_ABI_VERSION && out == std::vector<float>{5, 6, 1, 2} ? 0 : 1;
} catch (const gather::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
