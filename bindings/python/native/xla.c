/* The handler of XLA programs, which JAX compiles. It runs an operation on CPU buffers. */
#include "xla.h"

#include "option_table.h"

#include <gather/gather.h>

#include <string.h>

/* The functions of a call. The gradients of bags and the positions of maxima and minima are not operations. */
enum { RUN, GRADIENT_OF_BAGS, GRADIENT_OF_WEIGHTS, POSITIONS };
/* The operands by role, in the order of the arguments of a program. */
enum { TABLE, INDICES, ROWS, BAGS, WEIGHTS, ROLES };

/* The attribute of a call, which is an array of 64-bit integers. `roles` has a bit for each operand that is an
 * argument. */
typedef struct attribute {
  int32_t operation;
  int32_t function;
  int64_t roles;
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

/* Reads an attribute. The options of an exported program may be those of an earlier release, which had fewer fields. */
static int read_attribute(const xla_attributes *from, attribute *read) {
  if (from->count != 1 || from->kinds[0] != XLA_ATTRIBUTE_ARRAY) {
    return 0;
  }
  const xla_array *array = from->items[0];
  const size_t size = array->count * sizeof(int64_t), fixed = offsetof(attribute, options);
  if (dtype_of(array->dtype) != GTH_DTYPE_INT64 || size < fixed + GTH_OPTIONS_FIRST || size > sizeof *read) {
    return 0;
  }
  memset(read, 0, sizeof *read);
  memcpy(read, array->data, size);
  return read->options.size == size - fixed && read->roles >> ROLES == 0;
}

/* The operands of a call, and the result. */
typedef struct operands {
  gth_tensor_desc given[ROLES], result;
  gth_request request;
} operands;

/* Returns whether the result is the operand that the function writes. The result of a scatter is its table. */
static int place_result(const attribute *asked, operands *read) {
  gth_request *request = &read->request;
  if (asked->function != RUN) { /* the table may be only a shape, which is that of the result */
    read->given[TABLE] = request->table ? read->given[TABLE] : read->result;
    read->given[TABLE].data = request->table ? read->given[TABLE].data : NULL;
    request->table = &read->given[TABLE];
    return 1;
  }
  const int is_scatter = is_in(asked->operation, OPERATIONS_kind_scatter);
  const gth_tensor_desc **written = request->rows ? &request->table : &request->rows;
  if (*written) {
    return is_scatter && read->result.data == request->table->data;
  }
  *written = &read->result;
  return !is_scatter;
}

/* Reads the operands of a call. Returns false if it is not a call of libgather.jax. */
static int read_operands(const xla_frame *frame, attribute *asked, operands *read) {
  const gth_tensor_desc *desc[ROLES] = {NULL};
  int64_t next = 0;
  for (int role = 0; role < ROLES; role++) {
    if ((asked->roles >> role & 1) == 0) {
      continue;
    }
    if (!describe(&frame->arguments, next++, &read->given[role])) {
      return 0;
    }
    desc[role] = &read->given[role];
  }
  read->request = (gth_request)GTH_REQUEST(asked->operation, desc[TABLE], desc[INDICES], desc[ROWS], &asked->options);
  read->request.bags = desc[BAGS];
  read->request.weights = desc[WEIGHTS];
  if (next != frame->arguments.count || !describe(&frame->results, 0, &read->result) || !place_result(asked, read)) {
    return 0;
  }
  const gth_tensor_desc *rows = asked->function == POSITIONS ? &read->result : read->request.rows;
  if (asked->options.bag_format == GTH_BAGS_SEGMENTS && rows && rows->ndim > 0) {
    asked->options.bag_count = rows->shape[0]; /* it may be symbolic in an exported program */
  }
  return 1;
}

static int32_t find_positions(const attribute *asked, const operands *given, gth_error *error) {
  return (is_in(asked->operation, OPERATIONS_kind_bags) ? gth_gather_bags_positions : gth_scatter_positions)(
      NULL, &given->request, &given->result, error);
}

static int32_t run(const attribute *asked, const operands *given, gth_error *error) {
  switch (asked->function) {
    case GRADIENT_OF_BAGS: return gth_gather_bags_gradient(NULL, &given->request, &given->result, error);
    case GRADIENT_OF_WEIGHTS: return gth_gather_bags_weight_gradient(NULL, &given->request, &given->result, error);
    case POSITIONS: return find_positions(asked, given, error);
    default: return gth_run_request(NULL, &given->request, error);
  }
}

static xla_error *handle_call(xla_frame *frame) {
  if (describes_itself(frame) || frame->stage != XLA_STAGE_EXECUTE) {
    return NULL;
  }
  attribute asked;
  operands given;
  if (!read_attribute(&frame->attributes, &asked) || !read_operands(frame, &asked, &given)) {
    return error_of(frame, "libgather: not a call of libgather.jax", XLA_ERROR_INVALID_ARGUMENT);
  }
  gth_error error = GTH_ERROR_INIT;
  const int32_t status = run(&asked, &given, &error);
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
