#pragma once

#include <cstdint>

#include "core/plan/layout.hpp"
#include "core/plan/plan.hpp"
#include "core/meaning/request.hpp"

namespace gather::core {

// The short form of a plan: a gather of a few rows with nothing in its way, one line of tuples, each of which selects one
// row. Two cache lines in place of a plan, for calls that would spend more on their preparations than on their rows.
// There is none for whatever is unusual or wrong: then the plan decides, and finds the words.
struct Short {
  static constexpr int32_t most_components = 4;
  static constexpr int64_t most_tuples = 8;
  static constexpr int64_t largest_row = 32 * 1024;  // so that the rows are never worth a second thread

  // What is touched from the data pointer on, and `step` more for each n above 1.
  struct Memory {
    int64_t low, high, step;

    Span at(int64_t more) const { return {low, high + step * more}; }
  };

  int64_t tuples;     // times n where an extent is open
  int64_t largest_n;  // no extent is open: GTH_OPEN
  int64_t row;
  Memory table, indices, rows;
  int64_t table_offset, indices_offset, rows_offset;
  int64_t line_indices, line_rows;  // bytes from tuple to tuple
  int64_t index_step;               // bytes from component to component
  int32_t components;
  bool is_int64;  // else int32
  bool wraps;
  Component component[most_components];
};

// The short form of a checked plan. False: it has none.
bool shorten(const Plan& plan, Short* out);

// Describes the dense result of a request that may have a short form. `shape` has room for GTH_MAX_NDIM extents. False: it
// has none. Precondition: has_short_form(request.op).
bool infer_short(const Request& request, gth_tensor_desc* rows, int64_t* shape);

// Whether an operation may have a short form.
inline bool has_short_form(int32_t op) { return op == GTH_OP_GATHER || op == GTH_OP_GATHER_ND; }

// The short form of a one-shot gather of dense tensors, along axis 0, without batch dims or a profile. False: it has none.
// Precondition: has_short_form(request.op).
bool lower_short(const Request& request, Short* out);

}  // namespace gather::core
