#pragma once

#include <cstdint>

// The Arrow C data interface, as far as memory goes: a type and an array of it. A struct whose release is nullptr has
// been released or moved away, and nothing else of it may be read.
// https://arrow.apache.org/docs/format/CDataInterface.html

constexpr int64_t arrow_nullable = 2;  // a bit of ArrowSchema::flags

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
  int64_t null_count;  // -1: nobody has counted
  int64_t offset;      // of the first element, in elements, in every buffer
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;  // of strings: validity bits, offsets, bytes
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray* self);
  void* private_data;
};

static_assert(sizeof(ArrowSchema) == 72 && sizeof(ArrowArray) == 80, "the layout that is published");
