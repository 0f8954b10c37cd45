#include <gather/gather.h>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  const std::vector<float> params = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> indices = {2, 0}, params_shape = {3, 2}, indices_shape = {2}, out_shape = {2, 2};
  std::vector<float> out(4);
  gth_tensor_desc p = GTH_TENSOR_DESC_INIT, i = GTH_TENSOR_DESC_INIT, o = GTH_TENSOR_DESC_INIT;
  p.dtype = o.dtype = GTH_DTYPE_FLOAT32, i.dtype = GTH_DTYPE_INT64;
  p.ndim = o.ndim = 2, i.ndim = 1;
  p.data = params.data(), i.data = indices.data(), o.data = out.data();
  p.shape = params_shape.data(), i.shape = indices_shape.data(), o.shape = out_shape.data();

  gth_error error = GTH_ERROR_INIT;
  if (gth_gather_desc(nullptr, &p, &i, nullptr, &o, &error) != GTH_OK) {
    std::fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  return gth_abi_version() == GTH_ABI_VERSION && out == std::vector<float>{5, 6, 1, 2} ? 0 : 1;
}
