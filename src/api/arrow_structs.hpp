#pragma once

#include <cstdint>

// The structs of the Arrow C data interface: a type, and an array of this type. If release is nullptr, the struct has
// been released or moved. Its other fields must not be read then.
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

static_assert(sizeof(ArrowSchema) == 72 && sizeof(ArrowArray) == 80, "the published layout");
