#pragma once

#include "columns/places.hpp"
#include "columns/result.hpp"
#include "core/base/moved.hpp"
#include "cpu/executor.hpp"

// Takes rows of arrays into a new array, level by level of nesting.
namespace gather::columns {

using core::moved;

// What all levels of a take share.
struct Call {
  const Column& column;
  const cpu::Executor& executor;
  bool may_widen;  // An array may become a large one.
  Trouble trouble;
};

// One level: an array of the result, and the arrays of the column that it takes its rows from.
struct Level {
  const Type& type;
  const Parts& parts;
  const Places& places;
  Node* node;
};

// Takes the rows at `places` into *out. Precondition: check_array has accepted all parts. If it fails, the trouble of
// the call has the reason, and *out is unspecified.
int32_t take(Call* call, const Type& type, const Parts& parts, const Places& places, ArrowArray* out);

// Takes a table. The rows of the column that are null are null in each child, and the result has no nulls. Precondition:
// the type is a struct.
int32_t take_record(Call* call, const Parts& parts, const Places& places, ArrowArray* out);

// The parts of take() for one kind of type each. Validity bits have been taken.
int32_t take_bits(Call* call, const Level& level);
int32_t take_fixed(Call* call, const Level& level);
int32_t take_bytes(Call* call, const Level& level);
int32_t take_views(Call* call, const Level& level);
int32_t take_list(Call* call, const Level& level);
int32_t take_fixed_list(Call* call, const Level& level);
int32_t take_dictionary(Call* call, const Level& level);
int32_t take_runs(Call* call, const Level& level);

// Validates the codes of the result, and adds the dictionary. It is the second step of take_dictionary. The row numbers
// of the places are not read.
int32_t add_dictionary(Call* call, const Level& level);

// Writes the validity bits of the result, unless it has no nulls. *nulls receives their number.
int32_t take_validity(Call* call, const Level& level, int64_t* nulls);

// Takes rows of `width` bytes from a buffer of each part. Null rows become zero.
int32_t take_rows(Call* call, const Level& level, int64_t width, void* to);

// The addresses of row 0 of each part.
class Bases {
 public:
  // Returns false if there is no memory.
  bool allocate(int64_t count) {
    if (!bases_.allocate(count)) return false;
    bases_[0] = nullptr;  // Null rows look it up, even if there are no parts.
    return true;
  }
  const char*& operator[](int64_t i) { return bases_[i]; }
  const char* const* data() const { return bases_.data(); }

 private:
  Room<const char*, 4> bases_;
};

// Copies rows of `width` bytes. Null rows become zero.
void copy_rows(const cpu::Executor& executor, const Bases& bases, const Places& places, int64_t width, char* to);

// Returns a bit of Arrow's bit order.
inline bool bit_at(const void* bits, int64_t i) { return static_cast<const uint8_t*>(bits)[i / 8] >> (i % 8) & 1; }

// Returns true if row i of the result is null.
inline bool is_null(const uint8_t* validity, int64_t i) { return validity && !bit_at(validity, i); }

}  // namespace gather::columns
