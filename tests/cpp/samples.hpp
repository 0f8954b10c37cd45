#pragma once

#include <array>
#include <string>

#include "hostile.hpp"

// Small valid operands for every operation, and the expected bytes, computed by simple loops.
namespace hostile {

inline bool is_gather(const Operation& op) { return op.number <= GTH_OP_GATHER_ELEMENTS; }
inline bool is_gradient(const Operation& op) { return op.number >= GTH_OP_GATHER_GRADIENT; }

// Returns the operands of an operation by role, as errors name them.
inline std::array<int32_t, 3> operands_of(const Operation& op) {
  if (is_gather(op)) return {GTH_OPERAND_PARAMS, GTH_OPERAND_INDICES, GTH_OPERAND_OUT};
  return {GTH_OPERAND_TARGET, GTH_OPERAND_INDICES, GTH_OPERAND_UPDATES};
}

// A table of 4 rows of 2 numbers, indices of 3 tuples, and 3 rows.
struct Sample {
  explicit Sample(const Operation& operation) : op(operation) {
    for (int32_t i = 0; i < 8; ++i) put(table, i, 100 + i);
    for (int32_t i = 0; i < 6; ++i) put(rows, i, 200 + i);
  }

  const Operation op;
  const Array table{GTH_DTYPE_INT32, {4, 2}}, indices = indices_of(op), rows{GTH_DTYPE_INT32, {3, 2}};

  const Array& written() const { return is_gather(op) ? rows : table; }
  std::array<gth_tensor_desc, 3> descs() const { return {table.desc(), indices.desc(), rows.desc()}; }

  // Returns the elements of the written operand after the call.
  Bytes expected() const {
    const Array result(GTH_DTYPE_INT32, written().shape());
    for (int32_t i = 0; i < count_of(written().shape()); ++i) put(result, i, is_gradient(op) ? 0 : get(written(), i));
    for (int32_t tuple = 0; tuple < 3; ++tuple) {
      for (int32_t column = 0; column < 2; ++column) {
        const int64_t at = 2 * row_of(tuple, column) + column, position = 2 * tuple + column;
        if (is_gather(op)) {
          put(result, position, get(table, at));
        } else {
          put(result, at, get(rows, position) + (is_gradient(op) ? get(result, at) : 0));
        }
      }
    }
    return result.bytes();
  }

  void set_index(int64_t position, int64_t value) const {
    std::memcpy(indices.data() + position * int64_t{sizeof value}, &value, sizeof value);
  }

 private:
  static Array indices_of(const Operation& op) {
    switch (op.number % 3) {
      case 0: return indices64({3, 2}, {2, 0, 0, 3, 2, 1});
      case 1: return indices64({3}, {2, 0, 2});
      default: return indices64({3, 1}, {2, 0, 2});
    }
  }

  int64_t row_of(int32_t tuple, int32_t column) const {
    int64_t row;
    const int64_t at = op.number % 3 == 0 ? 2 * tuple + column : tuple;
    std::memcpy(&row, indices.data() + at * int64_t{sizeof row}, sizeof row);
    return row;
  }

  static void put(const Array& array, int64_t at, int32_t value) {
    std::memcpy(array.data() + 4 * at, &value, sizeof value);
  }
  static int32_t get(const Array& array, int64_t at) {
    int32_t value;
    std::memcpy(&value, array.data() + 4 * at, sizeof value);
    return value;
  }
};

// The operands of a sample. Operands in the bit set `handles` (1 table, 2 indices, 4 rows) are tensor handles.
class Mixed {
 public:
  Mixed(const std::array<gth_tensor_desc, 3>& descs, int32_t handles) : operands_(descs) {
    for (size_t role = 0; role < 3; ++role) {
      if (!(handles >> role & 1)) continue;
      EXPECT_EQ(gth_tensor_borrow(&descs[role], tensors_[role].out(), nullptr), GTH_OK);
      operands_[role] = GTH_TENSOR_DESC_HANDLE(tensors_[role].get());
    }
  }

  const gth_tensor_desc* table() const { return &operands_[0]; }
  const gth_tensor_desc* indices() const { return &operands_[1]; }
  const gth_tensor_desc* rows() const { return &operands_[2]; }
  gth_request request(const Operation& op, const gth_options* options = nullptr) const {
    return GTH_REQUEST(op.number, table(), indices(), rows(), options);
  }

 private:
  std::array<gth_tensor_desc, 3> operands_;
  std::array<Tensor, 3> tensors_;
};

}  // namespace hostile
