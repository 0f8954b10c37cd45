// Package arrow builds structs of the Arrow C data interface in C memory, and reads them, for tests.
package arrow

/*
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

static _Atomic int64_t releases;

static int64_t gather_go_test_releases(void) { return releases; }

static void release_array(struct ArrowArray *array) {
  for (int64_t i = 0; i < array->n_buffers; ++i) free((void *)array->buffers[i]);
  free(array->buffers);
  array->release = NULL;
  ++releases;
}

static void gather_go_test_release_array(struct ArrowArray *array) {
  if (array->release) array->release(array);
}

static void gather_go_test_release_schema(struct ArrowSchema *schema) {
  if (schema->release) schema->release(schema);
}

static void release_schema(struct ArrowSchema *schema) {
  free((void *)schema->format);
  schema->release = NULL;
}

static void gather_go_test_begin_array(struct ArrowArray *array, int64_t length, int64_t buffers) {
  memset(array, 0, sizeof *array);
  array->length = length;
  array->null_count = -1;
  array->n_buffers = buffers;
  array->buffers = calloc(buffers, sizeof(void *));
  array->release = release_array;
}

static void gather_go_test_set_buffer(struct ArrowArray *array, int64_t i, const void *bytes, int64_t size) {
  array->buffers[i] = memcpy(malloc(size + 1), bytes, size);
}

static void gather_go_test_begin_schema(struct ArrowSchema *schema, const char *format) {
  memset(schema, 0, sizeof *schema);
  schema->format = strdup(format);
  schema->flags = 2;
  schema->release = release_schema;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  gather_go_test_begin_schema(out, "l");
  return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  struct ArrowArray *array = stream->private_data;
  memset(out, 0, sizeof *out);
  if (array->release) *out = *array;
  array->release = NULL;
  return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream) { return NULL; }

static void release_stream(struct ArrowArrayStream *stream) {
  gather_go_test_release_array(stream->private_data);
  free(stream->private_data);
  stream->release = NULL;
}

static void gather_go_test_begin_stream(struct ArrowArrayStream *stream, struct ArrowArray *array) {
  stream->get_schema = get_schema;
  stream->get_next = get_next;
  stream->get_last_error = get_last_error;
  stream->release = release_stream;
  stream->private_data = array;
}

static void *gather_go_test_array(void) { return calloc(1, sizeof(struct ArrowArray)); }

static const void *gather_go_test_buffer(const struct ArrowArray *array, int64_t i) { return array->buffers[i]; }
*/
import "C"

import "unsafe"

// Schema is a struct ArrowSchema.
type Schema C.struct_ArrowSchema

// Array is a struct ArrowArray.
type Array C.struct_ArrowArray

// Stream is a struct ArrowArrayStream.
type Stream C.struct_ArrowArrayStream

// Releases returns how many arrays of this package have been released.
func Releases() int { return int(C.gather_go_test_releases()) }

// NewSchema returns a schema of a format, which the caller releases.
func NewSchema(format string) *Schema {
	schema, text := &Schema{}, C.CString(format)
	defer C.free(unsafe.Pointer(text))
	C.gather_go_test_begin_schema((*C.struct_ArrowSchema)(schema), text)
	return schema
}

// NewArray returns an array in Go memory with buffers in C memory. Each buffer is copied.
func NewArray(length int, buffers ...[]byte) *Array {
	array := &Array{}
	fill((*C.struct_ArrowArray)(array), length, buffers)
	return array
}

func fill(array *C.struct_ArrowArray, length int, buffers [][]byte) {
	C.gather_go_test_begin_array(array, C.int64_t(length), C.int64_t(len(buffers)))
	for i, bytes := range buffers {
		C.gather_go_test_set_buffer(array, C.int64_t(i), unsafe.Pointer(unsafe.SliceData(bytes)), C.int64_t(len(bytes)))
	}
}

// NewStream returns a stream of one array of int64.
func NewStream(length int, buffers ...[]byte) *Stream {
	array := (*C.struct_ArrowArray)(C.gather_go_test_array()) // The release of the stream frees it.
	fill(array, length, buffers)
	stream := &Stream{}
	C.gather_go_test_begin_stream((*C.struct_ArrowArrayStream)(stream), array)
	return stream
}

// Pointer returns the address of the struct.
func (s *Schema) Pointer() unsafe.Pointer { return unsafe.Pointer(s) }

// Pointer returns the address of the struct.
func (a *Array) Pointer() unsafe.Pointer { return unsafe.Pointer(a) }

// Pointer returns the address of the struct.
func (s *Stream) Pointer() unsafe.Pointer { return unsafe.Pointer(s) }

// Format returns the format of the schema.
func (s *Schema) Format() string { return C.GoString(s.format) }

// IsReleased reports whether the struct owns nothing.
func (s *Schema) IsReleased() bool { return s.release == nil }

// IsReleased reports whether the struct owns nothing.
func (a *Array) IsReleased() bool { return a.release == nil }

// IsReleased reports whether the struct owns nothing.
func (s *Stream) IsReleased() bool { return s.release == nil }

// Release releases the struct, unless it owns nothing.
func (s *Schema) Release() { C.gather_go_test_release_schema((*C.struct_ArrowSchema)(s)) }

// Release releases the struct, unless it owns nothing.
func (a *Array) Release() { C.gather_go_test_release_array((*C.struct_ArrowArray)(a)) }

// Len returns the number of rows.
func (a *Array) Len() int { return int(a.length) }

// Offset returns the offset of the array.
func (a *Array) Offset() int { return int(a.offset) }

// Buffer returns the first elements of a buffer, or nil if the buffer is NULL. They are valid until the release.
func Buffer[T any](a *Array, i, count int) []T {
	buffer := C.gather_go_test_buffer((*C.struct_ArrowArray)(a), C.int64_t(i))
	if buffer == nil {
		return nil
	}
	return unsafe.Slice((*T)(buffer), count)
}
