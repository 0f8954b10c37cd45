#include "cpu/resolve_rows.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/job.hpp"
#include "cpu/kernels.hpp"
#include "cpu/run_plan.hpp"
#include "cpu/validate.hpp"

namespace gather::cpu {
namespace {

constexpr int64_t element = sizeof(int64_t), no_row_number = -1;

// Stores the number of each row instead of copying its element.
void store_numbers(const RowBlock& block) {
  for (int64_t l = 0; l < block.lines; ++l) {
    const int64_t* const offsets = block.offsets + l * block.next_offsets;
    char* const rows = block.rows + l * block.next_rows;
    for (int64_t i = 0; i < block.n; ++i) {
      const int64_t number = offsets[i] / element;
      std::memcpy(rows + i * block.row_stride, &number, sizeof number);
    }
  }
}

// Returns the kernels of a plan whose table has no memory.
Kernels choose_numbering(const core::Plan& plan) {
  Kernels kernels = choose_kernels(plan);
  kernels.move = store_numbers;
  kernels.fused = nullptr;
  kernels.look_up = nullptr;
  kernels.prefetches = false;
  return kernels;
}

// Resolves indices of which some are null, in the order of their positions.
class NullableRows {
 public:
  NullableRows(const Job& job, const IndexValidity& validity) : job_(job), validity_(validity) {}

  // Writes the row numbers to `rows`, or only validates the indices if it is nullptr.
  int32_t resolve(int64_t* rows, const core::Error& error) {
    const SizedLoop& line = job_.copying.line;
    LineIterator lines(job_.copying);
    for (int64_t position = 0; position < job_.slices; lines.next()) {
      for (int64_t j = 0; j < line.extent;) {
        const int64_t count = std::min(block_tuples, line.extent - j);
        const char* const at = moved(job_.indices, lines.indices() + wrapping_multiply(j, line.indices));
        if (int32_t status = resolve_block(at, position, count, rows, error)) return status;
        position += count;
        j += count;
      }
    }
    return GTH_OK;
  }

 private:
  int32_t resolve_block(const char* at, int64_t position, int64_t count, int64_t* rows, const core::Error& error) {
    const int64_t stride = job_.copying.line.indices;
    int64_t offsets[block_tuples];
    BadTuple bad;
    // The value of a null index may be out of bounds. The indices are then resolved one by one.
    if (job_.kernels.resolve(job_.plan, at, stride, count, offsets, &bad) == Resolved::bad) {
      for (int64_t i = 0; i < count; ++i) {
        if (validity_.is_null(position + i)) continue;
        const char* const index = moved(at, wrapping_multiply(i, stride));
        if (gather::cpu::resolve(job_.plan, index, stride, 1, offsets + i, &bad) == Resolved::bad) {
          return fail_bad_tuple(job_.plan, position + i, bad, error);
        }
      }
    }
    for (int64_t i = 0; i < count && rows; ++i) {
      const bool selects = !validity_.is_null(position + i) && offsets[i] != no_row;
      rows[position + i] = selects ? offsets[i] / element : no_row_number;
    }
    return GTH_OK;
  }

  const Job& job_;
  const IndexValidity& validity_;
};

int32_t resolve_nullable(const core::Plan& plan, const char* indices, const IndexValidity& validity,
                         core::Output output, int64_t* rows, const core::Error& error) {
  if (plan.tuples.at(GTH_OPEN) == 0) return GTH_OK;
  const Kernels kernels = choose_numbering(plan);
  const Job job(plan, core::pointers_of(nullptr, indices, nullptr), GTH_OPEN, kernels);
  NullableRows resolver(job, validity);
  const bool validates_first = output == core::Output::callers;
  if (validates_first) {
    if (int32_t status = resolver.resolve(nullptr, error)) return status;
  }
  const int32_t status = resolver.resolve(rows, error);
  return status && validates_first ? core::fail_index_race(error) : status;
}

}  // namespace

int32_t resolve_rows(const core::Plan& given, const char* indices, const IndexValidity& validity, core::Output output,
                     int64_t* rows, const Executor& executor, const core::Error& error) {
  core::Plan plan = given;
  if (plan.bounds == GTH_BOUNDS_SKIP) plan.bounds = GTH_BOUNDS_FILL;
  std::fill_n(plan.fill, 2, ~uint64_t{0});  // the bits of -1
  if (validity.bits) return resolve_nullable(plan, indices, validity, output, rows, error);
  const core::Pointers pointers = core::pointers_of(nullptr, indices, rows);
  return run(plan, choose_numbering(plan), pointers, GTH_OPEN, output, executor, error);
}

}  // namespace gather::cpu
