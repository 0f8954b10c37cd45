/* The C functions that Go calls. cgo rejects a Go pointer inside a struct that is passed to C. So an operand is passed
 * as a gather_go_view, which has only numbers, and as pointers. The shim builds the gth_tensor_desc on the C stack.
 *
 * Operands are passed by role, in the order table, indices, rows. An operation is a GTH_OP_* number, which the shim
 * passes to the library. */
#ifndef GATHER_GO_SHIM_H
#define GATHER_GO_SHIM_H

#include "roles.h"

/* A handle. It is a token and not an address. In Go it is an integer, so the garbage collector ignores it and cgo does
 * not check it. */
typedef uintptr_t gather_go_handle;

/* gth_tensor_desc without its pointers. Go passes tensors by value, so each call copies every byte of this struct. */
typedef struct gather_go_view {
  int32_t dtype;
  int32_t device;
  int32_t device_id;
  int32_t ndim;
  uint32_t flags;       /* GTH_TENSOR_* and GATHER_GO_* */
  int32_t stride_count; /* 0 or ndim. Go rejects other numbers before the call. */
  int64_t place;        /* With GATHER_GO_ADDRESSED the address of the data, with GATHER_GO_HANDLE the handle, else the
                           offset of element 0 from data. */
  int64_t extent;
} gather_go_view;

/* Flags of the Go binding. They are in the upper half of `flags`. */
#define GATHER_GO_ADDRESSED 0x10000 /* The data is at an address. The data pointer is not used. */
#define GATHER_GO_SLICE 0x20000     /* The tensor is dense over a slice of the elements. */
#define GATHER_GO_INVALID 0x40000   /* The view must not be passed to C. view.mismatch has the reason. */
#define GATHER_GO_OWNED 0x80000     /* The data is at an address, and its owner can be closed. */
#define GATHER_GO_BYTES 0x100000    /* Bools in memory of another type. They may be bytes other than 0 and 1. */
#define GATHER_GO_ABSENT 0x200000   /* There is no operand. The library is passed NULL. */
#define GATHER_GO_HANDLE 0x400000   /* The library is passed the handle of a tensor. */

/* Declares the parameters of an operand. */
#define GATHER_GO_TENSOR(name) \
  const gather_go_view *name, const uint8_t *name##_data, const int64_t *name##_shape, const int64_t *name##_strides

/* Declares the parameters of all operands of a request. */
#define GATHER_GO_PARAMETER(name) GATHER_GO_TENSOR(name),
#define GATHER_GO_OPERANDS GATHER_GO_ROLES(GATHER_GO_PARAMETER)

/* The functions below return NULL on success. On failure they return an error that the caller frees. So a successful
 * call does not clear a gth_error, which has more than 300 bytes. */
typedef gth_error gather_go_error;
gather_go_error *gather_go_error_copy(const gth_error *err);
void gather_go_error_free(gather_go_error *err);
/* Sets the number of the run to which an error belongs. */
gather_go_error *gather_go_error_at(gather_go_error *err, int64_t item);

/* Infers the shape of the rows. shape has space for GTH_MAX_NDIM extents. */
gather_go_error *gather_go_infer(int32_t op, GATHER_GO_OPERANDS const gth_options *options, int32_t *ndim,
                                 int64_t *shape);

/* Copies a tensor to another one. It waits for the context's stream, so the memory is not used after the call. */
gather_go_error *gather_go_copy(gather_go_handle context, GATHER_GO_TENSOR(source), GATHER_GO_TENSOR(destination));

/* Creates a plan. rows may be absent. */
gather_go_error *gather_go_plan_create(int32_t op, GATHER_GO_OPERANDS const gth_options *options,
                                       gather_go_handle *plan);
gather_go_error *gather_go_plan_run_at(gather_go_handle context, gather_go_handle plan, int64_t n, uintptr_t table,
                                       uintptr_t indices, uintptr_t rows);
gather_go_error *gather_go_plan_check(gather_go_handle context, gather_go_handle plan, int64_t n,
                                      const uint8_t *indices, int64_t indices_extent);
gather_go_error *gather_go_plan_check_at(gather_go_handle context, gather_go_handle plan, int64_t n, uintptr_t indices);
/* Writes the extents of table, indices and rows to extents[0], extents[1] and extents[2]. */
gather_go_error *gather_go_plan_extents(gather_go_handle plan, int64_t n, int64_t *extents);
gather_go_error *gather_go_plan_infer(gather_go_handle plan, int64_t n, int32_t *ndim, int64_t *shape);

gather_go_error *gather_go_context(int32_t threads, int32_t device, int32_t device_id, uintptr_t stream,
                                   uintptr_t record, gather_go_handle *context);
void gather_go_context_release(gather_go_handle context);
gather_go_error *gather_go_context_wait(gather_go_handle context, uintptr_t stream);
gather_go_error *gather_go_context_signal(gather_go_handle context, uintptr_t stream);
gather_go_error *gather_go_context_take_error(gather_go_handle context);
gather_go_error *gather_go_context_enqueue_take_error(gather_go_handle context, uintptr_t record);

gather_go_error *gather_go_capabilities(gth_capability_info *info);

void gather_go_plan_release(gather_go_handle plan);
void gather_go_tensor_release(gather_go_handle tensor);

/* Returns 1 if malloc can allocate this number of bytes, else 0. */
int32_t gather_go_can_allocate(int64_t bytes);

/* Allocates a tensor of zeros on the device of the context, and describes it. */
gather_go_error *gather_go_tensor_alloc(gather_go_handle context, int32_t dtype, int32_t ndim, const int64_t *shape,
                                        gather_go_handle *tensor, gather_go_view *view);

/* Allocates memory for `count` strings, which have `extent` bytes in total: count + 1 offsets, and then the bytes.
 * Returns NULL if the allocation fails. */
int64_t *gather_go_strings_alloc(int64_t count, int64_t extent);
/* Creates a string tensor that takes ownership of the memory. On failure the memory is freed. */
gather_go_error *gather_go_strings_adopt(int64_t *memory, int64_t count, int64_t extent, int32_t ndim,
                                         const int64_t *shape, gather_go_handle *tensor);

/* The buffers of a string tensor. They are valid until it is released. */
typedef struct gather_go_strings {
  gather_go_handle tensor;
  const int64_t *offsets;
  const char *bytes;
  const int64_t *shape;
  int64_t ndim;
} gather_go_strings;

/* Runs an operation on strings and creates its result. rows is 0 for a gather. */
gather_go_error *gather_go_strings_make(gather_go_handle context, int32_t op, gather_go_handle table,
                                        GATHER_GO_TENSOR(indices), gather_go_handle rows, const gth_options *options,
                                        gather_go_strings *out);

#endif
