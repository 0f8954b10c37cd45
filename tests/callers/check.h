/* Helpers of the callers: checks that print their line, and functions that describe operands and requests. */
#ifndef CALLERS_CHECK_H
#define CALLERS_CHECK_H

#include <gather/gather.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The exit code that a test driver reports as "skipped". */
#define SKIPPED 77

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

/* Compares the status of a call. If it differs, prints all fields of the error. */
#define CHECK_STATUS(call, wanted, err) check_status((call), (wanted), (err), #call, __FILE__, __LINE__)
#define CHECK_OK(call, err) CHECK_STATUS(call, GTH_OK, err)

/* Compares every field of an error by value. */
#define CHECK_ERROR(err, status, operand, component, position, value, limit) \
  check_error((err), (status), (operand), (component), (position), (value), (limit), __FILE__, __LINE__)

static inline void print_error(const gth_error *err) {
  fprintf(stderr, "  %s operand %d component %d position %lld value %lld limit %lld: %.*s\n",
          gth_status_name(err->status), (int)err->operand, (int)err->component, (long long)err->position,
          (long long)err->value, (long long)err->limit, GTH_MESSAGE_SIZE, err->message);
}

static inline void check_status(int32_t status, int32_t wanted, const gth_error *err, const char *call,
                                const char *file, int line) {
  if (status == wanted && (err == NULL || err->status == wanted)) return;
  fprintf(stderr, "%s:%d: %s\n  returned %s, wanted %s\n", file, line, call, gth_status_name(status),
          gth_status_name(wanted));
  if (err != NULL) print_error(err);
  exit(1);
}

static inline void check_error(const gth_error *err, int32_t status, int32_t operand, int32_t component,
                               int64_t position, int64_t value, int64_t limit, const char *file, int line) {
  if (err->status == status && err->operand == operand && err->component == component && err->position == position &&
      err->value == value && err->limit == limit && err->message[0] != 0)
    return;
  fprintf(stderr, "%s:%d: another error than wanted\n", file, line);
  print_error(err);
  fprintf(stderr, "  wanted %s operand %d component %d position %lld value %lld limit %lld\n", gth_status_name(status),
          (int)operand, (int)component, (long long)position, (long long)value, (long long)limit);
  exit(1);
}

static inline gth_tensor_desc dense(int32_t dtype, int32_t ndim, const int64_t *shape, const void *data) {
  const gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(dtype, ndim, shape, data);
  return desc;
}

static inline gth_tensor_desc handle(const gth_tensor *tensor) {
  const gth_tensor_desc desc = GTH_TENSOR_DESC_HANDLE(tensor);
  return desc;
}

static inline gth_request request(int32_t op, const gth_tensor_desc *table, const gth_tensor_desc *indices,
                                  const gth_tensor_desc *rows, const gth_options *options) {
  const gth_request asked = GTH_REQUEST(op, table, indices, rows, options);
  return asked;
}

#endif
