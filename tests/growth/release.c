/* The library that is loaded belongs to a later release than the header of this program. Its structs are larger. It
 * writes as much of a struct as the program has, and rejects a struct that is too small. */
#include <gather/gather.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) return fprintf(stderr, "%s\n", #condition), 1; \
  } while (0)

int main(void) {
  CHECK(gth_version() == GTH_VERSION + 1);
  struct {
    gth_capability_info info;
    unsigned char beyond[8];
  } room = {GTH_CAPABILITY_INFO_INIT, {0}};
  memset(room.beyond, 0xa5, sizeof room.beyond);
  gth_error error = GTH_ERROR_INIT;
  CHECK(gth_capabilities(&room.info, &error) == GTH_OK);
  CHECK(room.info.size == sizeof room.info && room.info.abi == GTH_ABI_VERSION);
  for (size_t i = 0; i < sizeof room.beyond; ++i) CHECK(room.beyond[i] == 0xa5);

  gth_shards shards = GTH_SHARDS_INIT;
  gth_tensor_desc ids = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 0, NULL, NULL);
  int64_t bytes = 0;
  CHECK(gth_partition_scratch(&ids, &shards, 0, &bytes, &error) == GTH_OK && bytes > 0);
  shards.size = GTH_SHARDS_FIRST - 4;
  CHECK(gth_partition_scratch(&ids, &shards, 0, &bytes, &error) == GTH_E_VERSION);
  CHECK(error.value == GTH_SHARDS_FIRST - 4 && error.limit == sizeof shards + 8);
  return 0;
}
