#pragma once

#include "core/base/limits.hpp"
#include "core/plan/pointers.hpp"
#include "cpu/bag_reader.hpp"
#include "cpu/bag_rows.hpp"
#include "cpu/executor.hpp"
#include "cpu/job.hpp"

namespace gather::cpu {

class FileRows;

// A plan of bags together with its pointers.
struct Bags {
  Bags(const core::Plan& planned, const core::Pointers& given, int64_t n, const Kernels& chosen,
       FileRows* in_files = nullptr);

  // Return the address of an id, of its weight, and of the row of a bag.
  const char* id_at(int64_t i) const { return moved(first_id, distance(bags.ids_at, &core::Loop::indices, i, 0)); }
  const char* weight_at(int64_t i) const { return moved(weights, distance(bags.weights_at, &core::Loop::table, i, 0)); }
  char* row_at(int64_t bag) const { return moved(rows, distance(bags.rows_at, &core::Loop::rows, bag, 1)); }

  // Returns the job whose tuples are the ids.
  Job job() const { return {plan, pointers, bags.loops_n(n, pointers.ids), kernels}; }

  // Calls body(table, rows) for each row of a slice, with its byte offsets.
  template <class Body>
  void for_rows(Body&& body) const {
    const int64_t loops_n = bags.loops_n(n, pointers.ids);
    for_each_step(
        plan.end - plan.inner_begin, [&](int32_t i) { return sized(plan.loops[plan.inner_begin + i], loops_n); }, body);
  }

  // Returns the ids as an array, or NULL if they are none.
  const int64_t* array() const;

  // Returns true if some ids are not read: padding, and those that bounds = skip leaves out.
  bool leaves_out() const { return plan.has_padding || plan.bounds == GTH_BOUNDS_SKIP; }

  // Returns true if all ids of a bag are the same memory.
  bool repeats_id() const { return plan.loops[plan.inner_begin - 1].indices.is(0); }

  // Returns the next bag of equally many ids whose ids are other memory, or the number of bags.
  int64_t next_bag(int64_t bag) const;

  const core::Plan& plan;
  const core::BagPlan& bags;
  const Kernels& kernels;
  const core::Pointers& pointers;
  FileRows* const files;  // NULL if all operands are memory
  int64_t n, count, ids;
  const char *table, *first_id, *weights;
  char* rows;
  BagReader reader;

 private:
  int64_t distance(const core::Line& line, core::Scaled core::Loop::* stride, int64_t i, int32_t without) const;
};

// Loads `count` ids, each once.
void load_ids(const Bags& on, int64_t first, int64_t count, int64_t* values);

// Returns true if each id is `padding` or in bounds of `size` rows and not negative.
bool are_inside(int64_t size, int64_t padding, const int64_t* values, int64_t n);

// Replaces ids by the numbers of rows, no_row, or row_of_fill. Returns the number of ids before the first invalid one.
int64_t replace_ids(const core::Plan& plan, int64_t* values, int64_t n);
// The same, in one pass that ends at the first invalid id.
int64_t replace_each_id(const core::Plan& plan, int64_t* values, int64_t n);

// Validates the first `ids` ids. Returns GTH_OK or GTH_E_INDEX.
int32_t validate_ids(const Bags& on, int64_t ids, const Executor& executor, const core::Error& error);

}  // namespace gather::cpu
