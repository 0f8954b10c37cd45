/* Reads the conformance cases for the tests of every language. README.md of the folder above describes their format.
 * The reader needs only this header, gather.h and libc, and calls no function of libgather. */
#ifndef GATHER_CONFORMANCE_CASES_H
#define GATHER_CONFORMANCE_CASES_H

#include <gather/gather.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor of a case. If it is absent, desc.dtype is 0. Data may have any alignment. For strings it has the bytes of
 * all of them, and string_offsets has a first 0 and the end of each string. */
typedef struct conformance_tensor {
  gth_tensor_desc desc;
  const int64_t *string_offsets;
  int64_t string_count;
} conformance_tensor;

typedef struct conformance_case {
  const char *name;
  const char *op_name; /* such as "gather_nd" */
  const char *codec;   /* of packed params: a name or ".", and fields. Else NULL */
  int32_t op;          /* GTH_OP_* */
  int32_t has_crc;     /* 1: the data of out is the digest of the output. */
  gth_options options; /* fill_dtype is never set. */
  gth_error error;     /* With status GTH_OK, out is the output. */
  conformance_tensor params, indices, updates, bags, weights, scales, zeros, out; /* params: or the target */
} conformance_case;

typedef struct conformance_file {
  conformance_case *cases;
  int64_t count;
  char error[512]; /* Empty, or what is wrong in which line. There are no cases then. */
  char *text;      /* This and numbers are the memory that the cases point to. */
  int64_t *numbers;
} conformance_file;

/* Reads a file of cases. */
void conformance_read(const char *path, conformance_file *file);
/* Frees the cases of a file. */
void conformance_free(conformance_file *file);

#ifdef __cplusplus
}
#endif

#endif
