#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/moved.hpp"
#include "core/plan/plan.hpp"
#include "cpu/bag_rows.hpp"
#include "cpu/executor.hpp"

// The steps of the gradients of gather_bags that no other operation has. They read memory of the caller once, and write
// memory of the library.
namespace gather::cpu {

// Bags and ids that have been validated.
struct ReadBags {
  int64_t bags, ids;  // Ids behind the last bag do not count.
  int64_t* begin;     // Bag b has the ids [begin[b], begin[b + 1]).
  int64_t* rows;      // The number of the row of each id, no_row, or row_of_fill.
};

// Reads bags, and contiguous ids. out->bags and out->ids are their numbers, and `rows` and `begin` have memory for them.
// If `begin` is NULL, the bags are only validated, and out->bags becomes 0. Returns GTH_OK, GTH_E_OFFSETS or
// GTH_E_INDEX.
int32_t read_bags(const core::Plan& plan, const char* numbers, const char* ids, ReadBags* out,
                  const core::Error& error);

// The number by which a bag multiplies the row of an id: weight / divisor, in the type of the sums.
struct Factors {
  const char* weights;   // by id. nullptr: they are 1
  const char* divisors;  // by bag. nullptr: they are 1. If a divisor is 0, the factors are 0.
};

// Convert n contiguous numbers between the dtype of the weights and the type of the sums.
void load_weights(const core::Plan& plan, const char* weights, int64_t n, char* sums);
void store_weights(const core::Plan& plan, const char* sums, int64_t n, char* weights);

// Computes the divisors of a mean or of a sqrtn.
void find_divisors(const core::Plan& plan, const ReadBags& bags, const char* weights, char* divisors);

// The ids that have a row, sorted by row, and then by position.
struct SortedIds {
  int64_t count;
  int64_t *rows, *positions;
};

// Sorts ids. `room` has memory for 4 numbers for each id.
SortedIds sort_ids(const ReadBags& bags, int64_t* room);

// Replaces rows by their ranks. Writes the different rows, of which it returns the number, in ascending order.
int64_t rank_rows(SortedIds* ids, int64_t* unique);

// Replaces positions by the numbers of their bags, after it has written the factors of the ids. It writes none if there
// are neither weights nor divisors.
void replace_positions(const core::Plan& plan, const ReadBags& bags, const Factors& factors, SortedIds* ids,
                       int64_t* bag_of, char* scales);

// Divides the contiguous rows of the bags, of complex numbers, by the number of their ids.
void divide_rows(const core::Plan& plan, const ReadBags& bags, int64_t row_bytes, char* rows);

// The slices that ids select, each contiguous. They are `stride` bytes apart, by row or by id.
struct Slices {
  const char* first;
  int64_t stride;
  bool by_id;
  const char* filled;  // the slice of row_of_fill
  int64_t bytes;       // of a slice

  const char* at(int64_t id, int64_t row) const {
    return row == row_of_fill ? filled : core::moved(first, (by_id ? id : row) * stride);
  }
};

// Writes the gradients of the weights, in the type of the sums. The rows of `gradient` are contiguous.
void write_weight_gradient(const core::Plan& plan, const ReadBags& bags, const Slices& slices, const char* gradient,
                           const Factors& factors, char* out, const Executor& executor);

// Writes places[id] of the id that has the maximum or minimum, for each element of each bag, or -1 if it has no row. Of
// equal elements, it is that of the first id, and a NaN is larger and smaller than every number. If `places` is NULL,
// writes the number of the id, which may count as a filled row.
void find_winners(const core::Plan& plan, const ReadBags& bags, const Slices& slices, const int64_t* places,
                  int64_t* out, const Executor& executor);

}  // namespace gather::cpu
