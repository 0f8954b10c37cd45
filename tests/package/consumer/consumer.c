#include <gather/gather.h>
#include <stdio.h>

int main(void) {
  const float params[3][2] = {{1, 2}, {3, 4}, {5, 6}};
  const int64_t indices[2] = {2, 0}, params_shape[] = {3, 2}, indices_shape[] = {2}, out_shape[] = {2, 2};
  float out[2][2] = {{0}};
  const gth_tensor_desc p = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, params_shape, params);
  const gth_tensor_desc i = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, indices_shape, indices);
  const gth_tensor_desc o = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, out_shape, out);

  gth_error error = GTH_ERROR_INIT;
  if (gth_gather(NULL, &p, &i, &o, NULL, &error) != GTH_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  const int right = out[0][0] == 5 && out[0][1] == 6 && out[1][0] == 1 && out[1][1] == 2;
  return gth_abi_version() == GTH_ABI_VERSION && right ? 0 : 1;
}
