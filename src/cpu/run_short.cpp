#include "cpu/run_short.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/base/limits.hpp"
#include "core/base/noinline.hpp"
#include "core/types/resolve_index.hpp"
#include "cpu/job.hpp"
#include "cpu/kernels.hpp"
#include "cpu/load.hpp"
#include "cpu/tiers/choice.hpp"

namespace gather::cpu {
namespace {

using core::Short;

// Computes the offset of the row that a tuple selects. Returns false if it selects none.
template <class T>
__attribute__((always_inline)) inline bool resolve(const Short& form, const char* tuple, int64_t* offset) {
  const core::IndexPolicy policy{form.wraps, true, Outside::refused};
  *offset = 0;
  for (int32_t c = 0; c < form.components; ++c, tuple += form.index_step) {
    const core::Component& component = form.component[c];
    const int64_t index = core::resolve_index(load_index<T>(tuple), component.size, policy);
    if (index < 0) return false;
    *offset += index * component.stride;
  }
  return true;
}

template <class T>
__attribute__((always_inline)) inline bool resolve_each(const Short& form, const char* indices, int64_t tuples,
                                                        int64_t* offsets) {
  for (int64_t i = 0; i < tuples; ++i) {
    if (!resolve<T>(form, indices + i * form.line_indices, offsets + i)) return false;
  }
  return true;
}

__attribute__((always_inline)) inline bool resolve_few(const Short& form, const char* indices, int64_t tuples,
                                                       int64_t* offsets) {
  return form.is_int64 ? resolve_each<int64_t>(form, indices, tuples, offsets)
                       : resolve_each<int32_t>(form, indices, tuples, offsets);
}

// Resolves tuples with the kernel of the tier. Returns false if it does not support them.
bool resolve_many(const Short& form, const char* indices, int64_t tuples, int64_t* offsets) {
  Selection selection;
  selection.type = form.is_int64 ? IndexType::int64 : IndexType::int32;
  selection.outside = Outside::refused;
  selection.wraps = form.wraps;
  selection.index_step = form.index_step;
  if (!describe_components(form.component, form.components, &selection)) return false;
  for (int64_t first = 0; first < tuples; first += block_tuples) {
    const int64_t n = std::min(block_tuples, tuples - first);
    const char* const at = indices + first * form.line_indices;
    if (tier().resolve(selection, at, form.line_indices, n, offsets + first) != Resolved::all) return false;
  }
  return true;
}

// Adds the part of the offsets of gather_elements that does not depend on indices. Precondition: the product of the three
// extents is the number of tuples. The static analyzer cannot infer this.
inline void add_places(const core::ShortPlaces places, int64_t* offsets) {
  for (int64_t i = 0, place = 0; i < places.outer; ++i, place += places.outer_step) {
    for (int64_t j = 0; j < places.repeats; ++j, offsets += places.columns) {
      for (int64_t k = 0; k < places.columns; ++k) {
        offsets[k] += place + k * places.column_step;  // NOLINT(clang-analyzer-core.uninitialized.Assign)
      }
    }
  }
}

// Moves the rows of many tuples with kernels. Returns false if one is invalid, or if rows have no kernel.
GATHER_NOINLINE bool move_many(const Short& form, char* rows, char* table, const char* indices, int64_t tuples) {
  const MoveRows move = form.scatters ? tier().choose_scatter(form.row) : tier().choose_copy(form.row, Written::cached);
  int64_t offsets[short_tuples];
  if (!move || !resolve_many(form, indices, tuples, offsets)) return false;
  add_places(form.places, offsets);
  move({rows, form.line_rows, table, offsets, tuples, form.row, 1, 0, 0, 0});
  return true;
}

// Moves rows of a size, which may be a constant.
template <class Size>
inline void move_each(const Short& form, char* rows, char* table, const int64_t* offsets, int64_t n, Size size) {
  if (form.scatters) {
    for (int64_t i = 0; i < n; ++i) std::memcpy(table + offsets[i], rows + i * form.line_rows, size);
  } else {
    for (int64_t i = 0; i < n; ++i) std::memcpy(rows + i * form.line_rows, table + offsets[i], size);
  }
}

// Moves the rows of a few tuples. Returns false if one is invalid.
bool move_few(const Short& form, char* rows, char* table, const char* indices, int64_t tuples) {
  int64_t offsets[min_kernel_tuples];
  if (!resolve_few(form, indices, tuples, offsets)) return false;
  add_places(form.places, offsets);
  if (form.row == 4) {
    move_each(form, rows, table, offsets, tuples, std::integral_constant<size_t, 4>());
  } else if (form.row == 8) {
    move_each(form, rows, table, offsets, tuples, std::integral_constant<size_t, 8>());
  } else {
    move_each(form, rows, table, offsets, tuples, static_cast<size_t>(form.row));
  }
  return true;
}

// Returns the number of tuples of a run, or 0 if the short form cannot run it.
int64_t tuples_of(const Short& form, int64_t n) {
  const bool is_open = form.largest_n != GTH_OPEN;
  if (form.tuples > short_tuples || (!is_open && n != GTH_OPEN)) return 0;
  if (is_open && (n < 1 || n > form.largest_n || n > short_tuples)) return 0;
  const int64_t tuples = is_open ? form.tuples * n : form.tuples;
  return tuples <= short_tuples && tuples * form.row <= short_bytes ? tuples : 0;
}

// Finds the tuples and the memory of a run. Returns the number of tuples, or 0 if the short form cannot run it.
__attribute__((always_inline)) inline int64_t find_run(const Short& form, const core::Pointers& pointers, int64_t n,
                                                       const core::Extents* given, core::Spans* spans) {
#ifdef GATHER_TESTING
  return 0;  // In test builds, all calls take the general path.
#endif
  const int64_t tuples = tuples_of(form, n);
  if (tuples == 0 || !pointers.table || !pointers.indices || !pointers.rows) return 0;
  const int64_t more = n == GTH_OPEN ? 0 : n - 1;
  const core::Span table = form.table.at(more), entries = form.indices.at(more), out = form.rows.at(more);
  if (given && (given->table < table.high || given->indices < entries.high || given->rows < out.high)) return 0;
  const bool overlaps_indices = form.scatters ? core::overlap(pointers.table, table, pointers.indices, entries)
                                              : core::overlap(pointers.rows, out, pointers.indices, entries);
  if (overlaps_indices || core::overlap(pointers.rows, out, pointers.table, table)) return 0;
  spans->table = table;
  spans->indices = entries;
  spans->rows = out;
  return tuples;
}

}  // namespace

bool run_short(const Short& form, const core::Pointers& pointers, int64_t n, const core::Extents* given) {
  core::Spans spans;
  const int64_t tuples = find_run(form, pointers, n, given, &spans);
  if (tuples == 0) return false;
  const auto move = tuples < min_kernel_tuples ? move_few : move_many;
  return move(form, moved(pointers.rows, form.rows_offset), moved(pointers.table, form.table_offset),
              moved(pointers.indices, form.indices_offset), tuples);
}

bool check_short(const Short& form, const core::Pointers& pointers, int64_t n, const core::Extents* given,
                 core::Spans* spans) {
  *spans = {};
  const int64_t tuples = form.scatters ? 0 : find_run(form, pointers, n, given, spans);
  int64_t offsets[short_tuples];
  if (tuples == 0) return false;
  const char* const indices = moved(pointers.indices, form.indices_offset);
  return tuples < min_kernel_tuples ? resolve_few(form, indices, tuples, offsets)
                                    : resolve_many(form, indices, tuples, offsets);
}

}  // namespace gather::cpu
