/* The handler of XLA programs, which JAX compiles. It runs an operation on CPU buffers. */
#include "xla.h"

#include <gather/gather.h>

#include <string.h>

/* The attribute of a call, which is an array of 64-bit integers: the number of the operation and a gth_options. */
typedef struct attribute {
  int64_t operation;
  gth_options options;
} attribute;

/* The first version of the interface with all fields that are used here. Later versions only add fields. */
enum { VERSION_MAJOR = 0, VERSION_MINOR = 1 };

static int describes_itself(const xla_frame *frame) {
  for (xla_extension *extension = frame->extensions; extension; extension = extension->next) {
    if (extension->kind == XLA_EXTENSION_METADATA) {
      xla_metadata *metadata = ((xla_metadata_extension *)extension)->metadata;
      metadata->version.major = VERSION_MAJOR;
      metadata->version.minor = VERSION_MINOR;
      metadata->traits = 0;
      return 1;
    }
  }
  return 0;
}

static xla_error *error_of(const xla_frame *frame, const char *message, int32_t code) {
  xla_error_arguments arguments = {sizeof arguments, NULL, message, code};
  return frame->api->error_create(&arguments);
}

/* Returns the dtype of an XLA dtype number, or 0. */
static int32_t dtype_of(int32_t number) {
  static const int32_t dtypes[] = {
      [1] = GTH_DTYPE_BOOL,
      [2] = GTH_DTYPE_INT8,
      [3] = GTH_DTYPE_INT16,
      [4] = GTH_DTYPE_INT32,
      [5] = GTH_DTYPE_INT64,
      [6] = GTH_DTYPE_UINT8,
      [7] = GTH_DTYPE_UINT16,
      [8] = GTH_DTYPE_UINT32,
      [9] = GTH_DTYPE_UINT64,
      [10] = GTH_DTYPE_FLOAT16,
      [11] = GTH_DTYPE_FLOAT32,
      [12] = GTH_DTYPE_FLOAT64,
      [15] = GTH_DTYPE_COMPLEX64,
      [16] = GTH_DTYPE_BFLOAT16,
      [18] = GTH_DTYPE_COMPLEX128,
      [19] = GTH_DTYPE_FLOAT8_E5M2,
      [20] = GTH_DTYPE_FLOAT8_E4M3FN,
      [23] = GTH_DTYPE_FLOAT8_E4M3B11FNUZ,
      [24] = GTH_DTYPE_FLOAT8_E5M2FNUZ,
      [25] = GTH_DTYPE_FLOAT8_E4M3FNUZ,
      [28] = GTH_DTYPE_FLOAT8_E4M3,
      [29] = GTH_DTYPE_FLOAT8_E3M4,
      [33] = GTH_DTYPE_FLOAT8_E8M0FNU,
  };
  return number > 0 && (size_t)number < sizeof dtypes / sizeof *dtypes ? dtypes[number] : 0;
}

/* Describes buffer `number`. XLA's buffers are dense. Returns false if there is none or its dtype is not supported. */
static int describe(const xla_buffers *from, int64_t number, gth_tensor_desc *desc) {
  if (number >= from->count || from->kinds[number] != XLA_KIND_BUFFER) {
    return 0;
  }
  const xla_buffer *buffer = from->items[number];
  *desc = (gth_tensor_desc){.size = sizeof *desc,
                            .dtype = dtype_of(buffer->dtype),
                            .ndim = (int32_t)buffer->rank,
                            .data = buffer->data,
                            .shape = buffer->dims};
  return desc->dtype != 0 && buffer->rank <= GTH_MAX_NDIM;
}

static int read_attribute(const xla_attributes *from, attribute *read) {
  if (from->count != 1 || from->kinds[0] != XLA_ATTRIBUTE_ARRAY) {
    return 0;
  }
  const xla_array *array = from->items[0];
  if (array->count * sizeof(int64_t) != sizeof *read || dtype_of(array->dtype) != GTH_DTYPE_INT64) {
    return 0;
  }
  memcpy(read, array->data, sizeof *read);
  return 1;
}

/* The arguments of a program by role. Only a scatter has updates, and its result has the memory of the table. The result
 * of a gather is the rows. */
enum { TABLE, INDICES, UPDATES };
enum { RESULT };

typedef struct operands {
  gth_tensor_desc table, indices, rows;
} operands;

/* Reads the operands of a call. Returns false if it is not a call of a gather or a scatter. */
static int read_operands(const xla_frame *frame, int64_t operation, operands *read) {
  if (!describe(&frame->arguments, TABLE, &read->table) || !describe(&frame->arguments, INDICES, &read->indices)) {
    return 0;
  }
  if (operation >= GTH_OP_GATHER && operation <= GTH_OP_GATHER_ELEMENTS) {
    return describe(&frame->results, RESULT, &read->rows);
  }
  gth_tensor_desc result;
  return operation >= GTH_OP_SCATTER && operation <= GTH_OP_SCATTER_ELEMENTS &&
         describe(&frame->arguments, UPDATES, &read->rows) && describe(&frame->results, RESULT, &result) &&
         result.data == read->table.data;
}

static xla_error *handle_call(xla_frame *frame) {
  if (describes_itself(frame) || frame->stage != XLA_STAGE_EXECUTE) {
    return NULL;
  }
  attribute asked;
  operands given;
  if (!read_attribute(&frame->attributes, &asked) || !read_operands(frame, asked.operation, &given)) {
    return error_of(frame, "libgather: not a call of libgather.jax", XLA_ERROR_INVALID_ARGUMENT);
  }
  gth_error error = GTH_ERROR_INIT;
  const int32_t status =
      gth_run(NULL, (int32_t)asked.operation, &given.table, &given.indices, &given.rows, &asked.options, &error);
  if (status == GTH_OK) {
    return NULL;
  }
  return error_of(frame, error.message, status == GTH_E_INDEX ? XLA_ERROR_OUT_OF_RANGE : XLA_ERROR_INVALID_ARGUMENT);
}

PyObject *xla_handler(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  xla_error *(*handler)(xla_frame *) = handle_call;
  void *address;
  memcpy(&address, &handler, sizeof address); /* ISO C does not convert a function pointer to an object pointer */
  return PyCapsule_New(address, NULL, NULL);
}
