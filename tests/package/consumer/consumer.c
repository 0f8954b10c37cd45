#include <gather/gather.h>
#include <stdio.h>

int main(void) {
  const float params[3][2] = {{1, 2}, {3, 4}, {5, 6}};
  const int64_t indices[2] = {2, 0}, params_shape[] = {3, 2}, indices_shape[] = {2}, out_shape[] = {2, 2};
  float out[2][2] = {{0}};
  gth_tensor_desc p = GTH_TENSOR_DESC_INIT, i = GTH_TENSOR_DESC_INIT, o = GTH_TENSOR_DESC_INIT;
  p.dtype = o.dtype = GTH_DTYPE_FLOAT32, i.dtype = GTH_DTYPE_INT64;
  p.ndim = o.ndim = 2, i.ndim = 1;
  p.data = params, i.data = indices, o.data = out;
  p.shape = params_shape, i.shape = indices_shape, o.shape = out_shape;

  gth_error error = GTH_ERROR_INIT;
  if (gth_gather_desc(NULL, &p, &i, NULL, &o, &error) != GTH_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  return gth_abi_version() == GTH_ABI_VERSION && out[0][0] == 5 && out[0][1] == 6 && out[1][0] == 1 && out[1][1] == 2
             ? 0
             : 1;
}
