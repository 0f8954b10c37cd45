#pragma once

#include <atomic>

#include "columns/room.hpp"
#include "columns/type.hpp"

namespace gather::columns {

// An array at some level of nesting of a chunk. Row i of a chunk is at i + shift in the buffers of the array.
struct Part {
  const ArrowArray* array;
  int64_t shift;
};

struct Parts {
  const Part* parts;
  int64_t count;

  const Part& operator[](int64_t i) const { return parts[i]; }
};

// A sequence of arrays of one type. It does not change after it has been created. The handle of a column and each result
// that shares memory with it hold a reference.
class Column : public core::Allocated {
 public:
  // Creates a column of borrowed arrays, and sets *out to it. The arrays are read, but they are not modified. The column
  // does not release them before adopt() has been called.
  static int32_t create(const ArrowSchema& schema, int64_t count, ArrowArray* const* chunks, Column** out,
                        Trouble* trouble);

  // The same for an array of arrays that the column takes over, whether the call succeeds or not.
  static int32_t create_from(const ArrowSchema& schema, int64_t count, ArrowArray* chunks, Column** out,
                             Trouble* trouble);

  // Replaces the schema, which must otherwise outlive the column, by a copy that the column releases.
  void keep_schema(const ArrowSchema& copy);

  // Takes ownership of the borrowed arrays.
  void adopt(ArrowArray* const* chunks);

  void retain() const { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  const Type& type() const { return types_.root(); }
  const ArrowSchema& schema() const { return *schema_; }
  int64_t length() const { return starts()[parts_count_]; }

  // The chunks that have rows.
  Parts parts() const { return {parts_.data(), parts_count_}; }
  // The number of the first row of each of these chunks, and the number of all rows.
  const int64_t* starts() const { return starts_.data(); }

 private:
  Column() = default;
  ~Column();

  int32_t read(const ArrowSchema& schema, Trouble* trouble);
  int32_t read_chunks(Trouble* trouble);

  mutable std::atomic<int64_t> references_{1};
  TypeTree types_;
  const ArrowSchema* schema_ = nullptr;
  ArrowSchema kept_schema_{};
  Room<ArrowArray, 1> borrowed_;  // copies of the structs of the caller
  ArrowArray* chunks_ = nullptr;
  int64_t count_ = 0;
  bool is_allocated_ = false;  // chunks_ is memory of the column.
  bool owns_ = false;          // The column releases its arrays.
  Room<Part, 1> parts_;
  Room<int64_t, 2> starts_;
  int64_t parts_count_ = 0;
};

}  // namespace gather::columns
