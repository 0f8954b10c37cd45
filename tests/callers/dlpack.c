/* DLPack export and import, versioned and legacy. Tests which data is shared or copied, and when each deleter runs. */
#include "check.h"
#include "foreign.h"

static int64_t three_by_two[] = {3, 2};

static int freed;

static void count_free(void *user) {
  freed++;
  free(user);
}

static gth_tensor *adopt(void) {
  gth_tensor_desc desc;
  gth_tensor *tensor = NULL;
  gth_error err = GTH_ERROR_INIT;
  float *data = (float *)malloc(6 * sizeof(float));
  int i;
  CHECK(data != NULL);
  for (i = 0; i < 6; i++) data[i] = (float)i;
  desc = dense(GTH_DTYPE_FLOAT32, 2, three_by_two, data);
  freed = 0;
  CHECK_STATUS(gth_tensor_adopt(NULL, &desc, NULL, data, &tensor, &err), GTH_E_NULL, &err);
  CHECK(tensor == NULL && freed == 0);
  CHECK_OK(gth_tensor_adopt(NULL, &desc, count_free, data, &tensor, &err), &err);
  return tensor;
}

static const float *first(const struct DLTensor *tensor) {
  return (const float *)(const void *)((const char *)tensor->data + tensor->byte_offset);
}

static void check_exported(const struct DLTensor *tensor) {
  int64_t r, c;
  CHECK(tensor->ndim == 2 && tensor->shape[0] == 3 && tensor->shape[1] == 2);
  CHECK(tensor->strides != NULL && tensor->dtype.code == 2 && tensor->dtype.bits == 32 && tensor->dtype.lanes == 1);
  CHECK(tensor->device.device_type == GTH_DEVICE_CPU && tensor->device.device_id == 0);
  for (r = 0; r < 3; r++)
    for (c = 0; c < 2; c++) CHECK(first(tensor)[r * tensor->strides[0] + c * tensor->strides[1]] == (float)(2 * r + c));
}

/* Borrowed memory is copied, unless the caller forbids copies. */
static void export_borrowed(void) {
  float data[6] = {0, 1, 2, 3, 4, 5};
  gth_tensor_desc desc = dense(GTH_DTYPE_FLOAT32, 2, three_by_two, data);
  struct DLManagedTensorVersioned *versioned = NULL;
  struct DLManagedTensor *legacy = NULL;
  gth_tensor *tensor = NULL;
  gth_error err = GTH_ERROR_INIT;

  CHECK_OK(gth_tensor_borrow(&desc, &tensor, &err), &err);
  CHECK_STATUS(gth_tensor_to_dlpack(NULL, tensor, GTH_EXPORT_NO_COPY, &versioned, &err), GTH_E_UNSUPPORTED, &err);
  CHECK(versioned == NULL && err.operand == GTH_OPERAND_TENSOR);
  CHECK_STATUS(gth_tensor_to_dlpack(NULL, tensor, 4, &versioned, &err), GTH_E_VERSION, &err);
  CHECK_OK(gth_tensor_to_dlpack(NULL, tensor, 0, &versioned, &err), &err);
  CHECK_OK(gth_tensor_to_dlpack_legacy(NULL, tensor, 0, &legacy, &err), &err);
  CHECK(gth_tensor_release(tensor) == GTH_OK);
  memset(data, 0, sizeof(data));
  CHECK(versioned->version.major == 1 && versioned->flags == DLPACK_COPIED);
  check_exported(&versioned->dl_tensor);
  check_exported(&legacy->dl_tensor);
  versioned->deleter(versioned);
  legacy->deleter(legacy);
}

/* Adopted memory is shared. It is freed once, when the last reference is released. */
static void export_adopted(void) {
  struct DLManagedTensorVersioned *shared = NULL;
  struct DLManagedTensorVersioned *copied = NULL;
  struct DLManagedTensor *legacy = NULL;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  gth_error err = GTH_ERROR_INIT;
  gth_tensor *tensor = adopt();

  CHECK_OK(gth_tensor_describe(tensor, &desc, &err), &err);
  CHECK_OK(gth_tensor_to_dlpack(NULL, tensor, GTH_EXPORT_NO_COPY, &shared, &err), &err);
  CHECK_OK(gth_tensor_to_dlpack_legacy(NULL, tensor, 0, &legacy, &err), &err);
  CHECK_OK(gth_tensor_to_dlpack(NULL, tensor, GTH_EXPORT_COPY, &copied, &err), &err);
  CHECK((const void *)first(&shared->dl_tensor) == desc.data && shared->flags == 0);
  CHECK((const void *)first(&legacy->dl_tensor) == desc.data);
  CHECK((const void *)first(&copied->dl_tensor) != desc.data && copied->flags == DLPACK_COPIED);
  CHECK(gth_tensor_release(tensor) == GTH_OK && freed == 0);
  check_exported(&shared->dl_tensor);
  shared->deleter(shared);
  CHECK(freed == 0);
  check_exported(&legacy->dl_tensor);
  legacy->deleter(legacy);
  CHECK(freed == 1);
  check_exported(&copied->dl_tensor);
  copied->deleter(copied);
  CHECK(freed == 1);
}

/* A foreign tensor. It consists of columns 0 and 1 of the reversed rows of a 4 x 3 matrix, at a byte offset. */
static int32_t foreign_data[4][3] = {{0, 1, 2}, {10, 11, 12}, {20, 21, 22}, {30, 31, 32}};
static int64_t foreign_shape[2] = {4, 2};
static int64_t foreign_strides[2] = {-3, 1};
static int deleted;

static void delete_versioned(struct DLManagedTensorVersioned *self) {
  CHECK(self->manager_ctx == (void *)&deleted);
  deleted++;
  free(self);
}

static void delete_legacy(struct DLManagedTensor *self) {
  CHECK(self->manager_ctx == (void *)&deleted);
  deleted++;
  free(self);
}

static void fill_foreign(struct DLTensor *tensor) {
  memset(tensor, 0, sizeof(*tensor));
  tensor->data = foreign_data;
  tensor->device.device_type = GTH_DEVICE_CPU;
  tensor->ndim = 2;
  tensor->dtype.bits = 32;
  tensor->dtype.lanes = 1;
  tensor->shape = foreign_shape;
  tensor->strides = foreign_strides;
  tensor->byte_offset = 3 * sizeof(foreign_data[0]);
}

static struct DLManagedTensorVersioned *make_versioned(void) {
  struct DLManagedTensorVersioned *managed =
      (struct DLManagedTensorVersioned *)malloc(sizeof(struct DLManagedTensorVersioned));
  CHECK(managed != NULL);
  managed->version.major = 1;
  managed->version.minor = 0;
  managed->manager_ctx = &deleted;
  managed->deleter = delete_versioned;
  managed->flags = 0;
  fill_foreign(&managed->dl_tensor);
  deleted = 0;
  return managed;
}

static void check_gathered(const gth_tensor *tensor) {
  const int64_t two[] = {2};
  const int64_t out_shape[] = {2, 2};
  const int8_t picks[] = {0, 3};
  int32_t rows[2][2];
  const gth_tensor_desc params = handle(tensor);
  const gth_tensor_desc indices = dense(GTH_DTYPE_INT8, 1, two, picks);
  const gth_tensor_desc out = dense(GTH_DTYPE_INT32, 2, out_shape, rows);
  gth_error err = GTH_ERROR_INIT;
  CHECK_OK(gth_gather(NULL, &params, &indices, &out, NULL, &err), &err);
  CHECK(rows[0][0] == 30 && rows[0][1] == 31 && rows[1][0] == 0 && rows[1][1] == 1);
}

static void import_versioned(void) {
  struct DLManagedTensorVersioned *managed = make_versioned();
  struct DLManagedTensorVersioned *again = NULL;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  gth_tensor *tensor = NULL;
  gth_error err = GTH_ERROR_INIT;

  /* The caller still owns a tensor that was rejected. */
  managed->dl_tensor.ndim = GTH_MAX_NDIM + 1;
  CHECK_STATUS(gth_tensor_from_dlpack(NULL, managed, &tensor, &err), GTH_E_RANK, &err);
  CHECK_ERROR(&err, GTH_E_RANK, GTH_OPERAND_TENSOR, -1, -1, GTH_MAX_NDIM + 1, GTH_MAX_NDIM);
  managed->dl_tensor.ndim = 2;
  managed->dl_tensor.dtype.lanes = 4;
  CHECK_STATUS(gth_tensor_from_dlpack(NULL, managed, &tensor, &err), GTH_E_DTYPE, &err);
  managed->dl_tensor.dtype.lanes = 1;
  managed->dl_tensor.dtype.bits = 4;
  CHECK_STATUS(gth_tensor_from_dlpack(NULL, managed, &tensor, &err), GTH_E_DTYPE, &err);
  managed->dl_tensor.dtype.bits = 32;
  managed->version.major = 2;
  CHECK_STATUS(gth_tensor_from_dlpack(NULL, managed, &tensor, &err), GTH_E_VERSION, &err);
  managed->version.major = 1;
  CHECK(tensor == NULL && deleted == 0 && managed->deleter == delete_versioned);
  CHECK_STATUS(gth_tensor_from_dlpack(NULL, NULL, &tensor, &err), GTH_E_NULL, &err);

  CHECK_OK(gth_tensor_from_dlpack(NULL, managed, &tensor, &err), &err);
  CHECK_OK(gth_tensor_describe(tensor, &desc, &err), &err);
  CHECK(desc.dtype == GTH_DTYPE_INT32 && desc.ndim == 2 && desc.shape[0] == 4 && desc.shape[1] == 2);
  CHECK(desc.strides[0] == -12 && desc.strides[1] == 4 && desc.flags == 0);
  CHECK((const char *)desc.data + desc.offset == (const char *)foreign_data[3]);
  check_gathered(tensor);

  CHECK_OK(gth_tensor_to_dlpack(NULL, tensor, GTH_EXPORT_NO_COPY, &again, &err), &err);
  CHECK(gth_tensor_release(tensor) == GTH_OK && deleted == 0);
  CHECK(again->dl_tensor.strides[0] == -3 && again->dl_tensor.strides[1] == 1);
  CHECK((const void *)first(&again->dl_tensor) == (const void *)foreign_data[3]);
  again->deleter(again);
  CHECK(deleted == 1);
}

static void import_legacy(void) {
  struct DLManagedTensor *managed = (struct DLManagedTensor *)malloc(sizeof(struct DLManagedTensor));
  gth_tensor *tensor = NULL;
  gth_error err = GTH_ERROR_INIT;
  CHECK(managed != NULL);
  managed->manager_ctx = &deleted;
  managed->deleter = delete_legacy;
  fill_foreign(&managed->dl_tensor);
  deleted = 0;
  CHECK_OK(gth_tensor_from_dlpack_legacy(NULL, managed, &tensor, &err), &err);
  check_gathered(tensor);
  CHECK(deleted == 0);
  CHECK(gth_tensor_release(tensor) == GTH_OK && deleted == 1);
  CHECK(gth_tensor_release(tensor) == GTH_E_HANDLE && deleted == 1);
}

/* Read-only memory cannot be an output. It is exported only with a flag for read-only memory, or as a copy. */
static void read_only(void) {
  const int64_t four[] = {4};
  const int64_t picks[] = {3, 2, 1, 0};
  struct DLManagedTensorVersioned *managed = make_versioned();
  struct DLManagedTensorVersioned *out = NULL;
  struct DLManagedTensor *legacy = NULL;
  const int32_t source[4][2] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
  const gth_tensor_desc params = dense(GTH_DTYPE_INT32, 2, foreign_shape, source);
  const gth_tensor_desc indices = dense(GTH_DTYPE_INT64, 1, four, picks);
  gth_tensor_desc rows;
  gth_tensor *tensor = NULL;
  gth_error err = GTH_ERROR_INIT;

  managed->flags = DLPACK_READ_ONLY;
  CHECK_OK(gth_tensor_from_dlpack(NULL, managed, &tensor, &err), &err);
  rows = handle(tensor);
  CHECK_STATUS(gth_gather(NULL, &params, &indices, &rows, NULL, &err), GTH_E_READONLY, &err);
  CHECK(err.operand == GTH_OPERAND_OUT && foreign_data[3][0] == 30);
  CHECK_STATUS(gth_tensor_to_dlpack_legacy(NULL, tensor, 0, &legacy, &err), GTH_E_READONLY, &err);
  CHECK(legacy == NULL);
  CHECK_OK(gth_tensor_to_dlpack(NULL, tensor, 0, &out, &err), &err);
  CHECK(out->flags == DLPACK_READ_ONLY);
  out->deleter(out);
  CHECK_OK(gth_tensor_to_dlpack_legacy(NULL, tensor, GTH_EXPORT_COPY, &legacy, &err), &err);
  CHECK(*(const int32_t *)(const void *)first(&legacy->dl_tensor) == 30);
  legacy->deleter(legacy);
  CHECK(deleted == 0);
  CHECK(gth_tensor_release(tensor) == GTH_OK && deleted == 1);
}

int main(void) {
  export_borrowed();
  export_adopted();
  import_versioned();
  import_legacy();
  read_only();
  printf("dlpack: borrowed copied, adopted and imported shared, deleters once, refused stays the caller's\n");
  return 0;
}
