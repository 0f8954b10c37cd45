/* Gathers strings by id. The strings are one buffer of bytes, and offsets at which they begin and end. */
#include <gather/gather.h>
#include <stdio.h>

int main(void) {
  const char bytes[] = "zeroonetwothree";
  const int64_t offsets[] = {0, 4, 7, 10, 15}, ids[] = {3, 1};
  const int64_t words_shape[] = {4}, ids_shape[] = {2};
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, ids_shape, ids);

  gth_tensor *words = NULL, *found = NULL;
  const int64_t *found_offsets;
  const void *found_bytes;
  gth_error error = GTH_ERROR_INIT;
  int32_t status =
      gth_tensor_from_strings(NULL, 0, 1, words_shape, offsets, bytes, sizeof bytes - 1, NULL, NULL, &words, &error);
  const gth_tensor_desc params = GTH_TENSOR_DESC_HANDLE(words);
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &params, &indices, NULL, NULL);
  if (status == GTH_OK) status = gth_make(NULL, &request, &found, &error);
  if (status == GTH_OK) status = gth_tensor_strings(found, &found_offsets, &found_bytes, &error);
  if (status == GTH_OK) {
    for (int i = 0; i < 2; i++) {
      const int length = (int)(found_offsets[i + 1] - found_offsets[i]);
      printf("%.*s\n", length, (const char *)found_bytes + found_offsets[i]);
    }
  } else {
    fprintf(stderr, "%s\n", error.message);
  }
  gth_tensor_release(found); /* NULL does nothing */
  gth_tensor_release(words);
  return status != GTH_OK;
}
