#pragma once

#include <cstdint>

#include "core/base/limits.hpp"
#include "core/meaning/request.hpp"
#include "core/plan/layout.hpp"
#include "core/plan/plan.hpp"

namespace gather::core {

// The part of the offsets of gather_elements that does not depend on indices. For tuple (i, j, k) it is i * outer_step
// + k * column_step.
struct ShortPlaces {
  int64_t outer, repeats, columns;  // the extents of i, j and k; outer is 0 if there is no such part
  int64_t outer_step, column_step;
};

// The short form of a plan: at most short_tuples tuples that select one row each, which a gather or a scatter without
// reduction moves. It serves calls for which building a plan takes as long as moving the rows. Unusual and invalid
// requests have no short form. They use the plan, which also reports errors.
struct Short {
  static constexpr int32_t most_components = 4;

  // The accessed bytes, relative to the data pointer. `step` is added to `high` for each unit of n above 1.
  struct Memory {
    int64_t low, high, step;

    Span at(int64_t more) const { return {low, high + step * more}; }
  };

  int64_t tuples;     // the number of tuples, or the factor of n if an extent is open
  int64_t largest_n;  // GTH_OPEN if no extent is open
  int64_t row;
  Memory table, indices, rows;
  int64_t table_offset, indices_offset, rows_offset;
  int64_t line_indices, line_rows;  // the bytes from tuple to tuple
  int64_t index_step;               // the bytes from component to component
  int32_t components;
  bool is_int64;  // Indices are int64, else int32.
  bool wraps;
  bool scatters;  // The rows are written to the table.
  ShortPlaces places;
  Component component[most_components];
};

// Sets the short form of a plan. Returns false if the plan has none.
bool shorten(const Plan& plan, Short* out);

// Describes the dense result of a request that may have a short form. `shape` has room for GTH_MAX_NDIM extents.
// Returns false if the request has no short form. Precondition: has_short_form(request.operation->number).
bool infer_short(const Request& request, gth_tensor_desc* rows, int64_t* shape);

// Returns true if an operation may have a short form.
inline bool has_short_form(int32_t op) { return op >= GTH_OP_GATHER && op <= GTH_OP_GATHER_ELEMENTS; }

// Sets the short form of a gather of dense tensors without batch dims and profile. The axis must be 0.
// Returns false if the request has none. Precondition: has_short_form(request.operation->number).
bool lower_short(const Request& request, Short* out);

}  // namespace gather::core
