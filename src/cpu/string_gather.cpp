#include "cpu/string_gather.hpp"

#include <atomic>
#include <cstring>

#include "core/base/checked.hpp"
#include "cpu/copy_string.hpp"
#include "cpu/load.hpp"
#include "cpu/pieces.hpp"
#include "cpu/run_plan.hpp"

namespace gather::cpu {
namespace {

using core::Error;
using core::Plan;

// Returns the number of contiguous strings in a slice of the table.
int64_t strings_of(const Plan& plan) { return plan.row.in / plan.item.bytes(); }

int64_t slices_of(const Plan& plan) { return plan.is_empty ? 0 : plan.slices.at(GTH_OPEN) * plan.inner; }

// Stores the address of each row instead of copying it.
void store_addresses(const RowBlock& block) {
  for (int64_t l = 0; l < block.lines; ++l) {
    for (int64_t i = 0; i < block.n; ++i) {
      const char* address = block.table + l * block.next_table + block.offsets[i];
      std::memcpy(block.rows + l * block.next_rows + i * block.row_stride, &address, sizeof address);
    }
  }
}

// Returns the plan that stores the address of each row of offsets that `plan` copies.
Plan addresses_plan(const Plan& plan) {
  Plan result = plan;
  for (int32_t i = 0; i < plan.end; ++i) result.loops[i].rows.factor /= strings_of(plan);
  result.row.out = sizeof(const char*);
  return result;
}

// Finds the address of the first offset of each slice in the offsets of the table. The address is 0 if the slice
// selects nothing.
int32_t find_slices(const Plan& plan, const core::Strings& table, const char* indices, const Executor& executor,
                    int64_t* slices, const Error& error) {
  static_assert(sizeof(const char*) == sizeof(int64_t));
  const core::Pointers pointers = core::pointers_of(table.offsets, indices, slices);
  Kernels kernels = choose_kernels(plan);
  if (plan.is_empty) return run(plan, kernels, pointers, GTH_OPEN, core::Output::ours, executor, error);
  kernels.move = store_addresses;
  return run(addresses_plan(plan), kernels, pointers, GTH_OPEN, core::Output::ours, executor, error);
}

// The number of slices by which offsets and bytes are prefetched ahead.
constexpr int64_t prefetch_slices = 16;

// Cuts the slices into pieces. The cost is that of one offset for each string, plus `bytes`.
Pieces cut_slices(const Executor& executor, int64_t slices, int64_t strings, int64_t bytes) {
  int64_t work;
  const bool fits = core::multiply(slices, strings * row_overhead, &work) && core::add(work, bytes, &work);
  return cut(executor, slices, fits ? work : INT64_MAX);
}

enum class Measured : uint8_t { all, raced, too_large };

// Returns true if a string is inside the table. The offsets were validated when the tensor was created, so an invalid
// one has been written by another thread.
bool is_range(const core::Strings& table, int64_t begin, int64_t end) {
  return begin >= 0 && begin <= end && end <= table.extent;
}

// Replaces the addresses of the slices [first, last) by the offsets of their first bytes. Writes the end of each
// string, counted from the first slice. Loads every offset of the table once.
Measured measure_slices(const core::Strings& table, int64_t strings, int64_t first, int64_t last, int64_t* slices,
                        int64_t* offsets) {
  int64_t total = 0;
  for (int64_t slice = first; slice < last; ++slice) {
    if (slice + prefetch_slices < last)
      __builtin_prefetch(reinterpret_cast<const char*>(slices[slice + prefetch_slices]));
    const char* const at = reinterpret_cast<const char*>(slices[slice]);
    int64_t* const ends = offsets + slice * strings;
    int64_t begin = at ? load_index<int64_t>(at) : 0;
    slices[slice] = begin;
    for (int64_t i = 0; i < strings; ++i) {
      const int64_t end = at ? load_index<int64_t>(at + (i + 1) * int64_t{sizeof(int64_t)}) : 0;
      if (at && !is_range(table, begin, end)) return Measured::raced;
      if (!core::add(total, end - begin, &total)) return Measured::too_large;
      ends[i] = total;
      begin = end;
    }
  }
  return Measured::all;
}

int32_t fail_race(const Error& error) {
  return error.fail({GTH_E_RACE, GTH_OPERAND_PARAMS}, "params: offsets changed by another thread during the call");
}

int32_t fail_size(const Error& error) {
  return error.fail({GTH_E_SIZE, GTH_OPERAND_OUT, -1, -1, 0, INT64_MAX}, "out: more than 2^63 - 1 bytes of strings");
}

// Adds the total size of the earlier pieces to the offsets of each piece, which begin at 0.
int32_t join_pieces(const Executor& executor, const Pieces& pieces, int64_t strings, int64_t* offsets,
                    const Error& error) {
  const auto end_of = [&](int64_t piece) { return offsets + pieces.last(piece) * strings; };
  for (int64_t i = 1; i < pieces.count; ++i) {
    if (!core::add(*end_of(i), *end_of(i - 1), end_of(i))) return fail_size(error);
  }
  for_each_piece(executor, pieces, [&](int64_t i) {
    const int64_t before = i == 0 ? 0 : *end_of(i - 1);
    int64_t* const end = end_of(i);  // is final already; the next piece reads it
    for (int64_t* at = offsets + pieces.first(i) * strings + 1; at < end; ++at) *at += before;
  });
  return GTH_OK;
}

// A step may write bytes behind a string. The next strings overwrite them. No byte behind the piece is written.
void copy_strings(const core::Strings& table, int64_t strings, int64_t first, int64_t last, const int64_t* begins,
                  const int64_t* offsets, char* bytes) {
  const char* const from_end = table.bytes + table.extent;
  const char* const to_end = bytes + offsets[last * strings];
  for (int64_t slice = first; slice < last; ++slice) {
    if (slice + prefetch_slices < last) __builtin_prefetch(table.bytes + begins[slice + prefetch_slices]);
    const int64_t begin = offsets[slice * strings], length = offsets[(slice + 1) * strings] - begin;
    if (length > 0) copy_string(bytes + begin, to_end, table.bytes + begins[slice], from_end, length);
  }
}

}  // namespace

int32_t gather_string_offsets(const Plan& plan, const core::Strings& table, const char* indices,
                              const Executor& executor, int64_t* begins, int64_t* offsets, const Error& error) {
  if (int32_t status = find_slices(plan, table, indices, executor, begins, error)) return status;
  const int64_t slices = slices_of(plan), strings = strings_of(plan);
  *offsets = 0;
  if (slices == 0) return GTH_OK;
  const Pieces pieces = cut_slices(executor, slices, strings, 0);
  std::atomic<Measured> measured{Measured::all};
  for_each_piece(executor, pieces, [&](int64_t i) {
    const Measured now = measure_slices(table, strings, pieces.first(i), pieces.last(i), begins, offsets + 1);
    if (now != Measured::all) measured.store(now, std::memory_order_relaxed);
  });
  if (measured == Measured::raced) return fail_race(error);
  if (measured == Measured::too_large) return fail_size(error);
  return pieces.count == 1 ? GTH_OK : join_pieces(executor, pieces, strings, offsets, error);
}

void gather_string_bytes(const Plan& plan, const core::Strings& table, const Executor& executor, const int64_t* begins,
                         const int64_t* offsets, char* bytes) {
  const int64_t slices = slices_of(plan), strings = strings_of(plan);
  if (slices == 0) return;
  const Pieces pieces = cut_slices(executor, slices, strings, offsets[slices * strings]);
  for_each_piece(executor, pieces, [&](int64_t i) {
    copy_strings(table, strings, pieces.first(i), pieces.last(i), begins, offsets, bytes);
  });
}

}  // namespace gather::cpu
