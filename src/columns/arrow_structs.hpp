#pragma once

#include <cstdint>

// The structs of the Arrow C data and stream interfaces: a type, an array of this type, and a stream of arrays. If release
// is nullptr, the struct has been released or moved. Its other fields must not be read then.
// https://arrow.apache.org/docs/format/CDataInterface.html

constexpr int64_t arrow_nullable = 2;  // a flag of ArrowSchema::flags

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema* self);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;  // -1 if it is unknown
  int64_t offset;      // the number of the first element in each buffer
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;  // for strings: validity bits, offsets, bytes
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray* self);
  void* private_data;
};

// A sequence of arrays of one type. A function that returns int returns 0 or an error number of the system.
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream* self, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream* self, ArrowArray* out);  // out->release is nullptr at the end
  const char* (*get_last_error)(ArrowArrayStream* self);     // may return nullptr
  void (*release)(ArrowArrayStream* self);
  void* private_data;
};

static_assert(sizeof(ArrowSchema) == 72 && sizeof(ArrowArray) == 80 && sizeof(ArrowArrayStream) == 40,
              "the published layout");
