/* Strings by id: one buffer of bytes, and the offsets at which strings begin and end. */
#include <gather/gather.h>
#include <stdio.h>

int main(void) {
  const char bytes[] = "zeroonetwothree";
  const int64_t offsets[] = {0, 4, 7, 10, 15}, ids[] = {3, 1};
  const int64_t words_shape[] = {4}, ids_shape[] = {2};
  const gth_tensor_desc ids_desc = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, ids_shape, ids);

  gth_tensor *words = NULL, *indices = NULL, *found = NULL;
  const int64_t *found_offsets;
  const void *found_bytes;
  gth_error error = GTH_ERROR_INIT;
  int32_t status =
      gth_tensor_from_strings(NULL, 0, 1, words_shape, offsets, bytes, sizeof bytes - 1, NULL, NULL, &words, &error);
  if (status == GTH_OK) status = gth_tensor_borrow(&ids_desc, &indices, &error);
  if (status == GTH_OK) status = gth_gather(NULL, words, indices, NULL, &found, &error);
  if (status == GTH_OK) status = gth_tensor_strings(found, &found_offsets, &found_bytes, &error);
  if (status == GTH_OK) {
    for (int i = 0; i < 2; i++) {
      const int length = (int)(found_offsets[i + 1] - found_offsets[i]);
      printf("%.*s\n", length, (const char *)found_bytes + found_offsets[i]);
    }
  } else {
    fprintf(stderr, "%s\n", error.message);
  }
  gth_tensor_release(found); /* NULL is allowed */
  gth_tensor_release(indices);
  gth_tensor_release(words);
  return status != GTH_OK;
}
