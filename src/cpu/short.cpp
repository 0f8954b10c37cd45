#include "cpu/short.hpp"

#include <cstring>

#include "core/types/resolve_index.hpp"
#include "cpu/job.hpp"
#include "cpu/load.hpp"

namespace gather::cpu {
namespace {

using core::Short;

// Computes the offset of the row that a tuple selects. Returns false if it selects none.
template <class T>
bool resolve(const Short& form, const char* tuple, int64_t* offset) {
  const core::IndexPolicy policy{form.wraps, true, Outside::refused};
  *offset = form.table_offset;
  for (int32_t c = 0; c < form.components; ++c, tuple += form.index_step) {
    const core::Component& component = form.component[c];
    const int64_t index = core::resolve_index(load_index<T>(tuple), component.size, policy);
    if (index < 0) return false;
    *offset += index * component.stride;
  }
  return true;
}

template <class T>
bool resolve_all(const Short& form, const char* indices, int64_t tuples, int64_t* offsets) {
  for (int64_t i = 0; i < tuples; ++i) {
    if (!resolve<T>(form, indices + i * form.line_indices, offsets + i)) return false;
  }
  return true;
}

template <int64_t bytes>
void copy_fixed(char* out, int64_t stride, const char* table, const int64_t* offsets, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(out + i * stride, table + offsets[i], static_cast<size_t>(bytes));
}

void copy_rows(const Short& form, char* out, const char* table, const int64_t* offsets, int64_t n) {
  if (form.row == 4) return copy_fixed<4>(out, form.line_rows, table, offsets, n);
  if (form.row == 8) return copy_fixed<8>(out, form.line_rows, table, offsets, n);
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(out + i * form.line_rows, table + offsets[i], static_cast<size_t>(form.row));
  }
}

// Returns the number of tuples of a run, or 0 if the short form cannot run it.
int64_t tuples_of(const Short& form, int64_t n) {
  const bool is_open = form.largest_n != GTH_OPEN;
  if (form.tuples > Short::most_tuples || (!is_open && n != GTH_OPEN)) return 0;
  if (is_open && (n < 1 || n > form.largest_n || n > Short::most_tuples)) return 0;
  const int64_t tuples = is_open ? form.tuples * n : form.tuples;
  return tuples <= Short::most_tuples && tuples * form.row <= Short::most_bytes ? tuples : 0;
}

}  // namespace

bool run_short(const Short& form, const core::Pointers& pointers, int64_t n, const core::Extents* given) {
#ifdef GATHER_TESTING
  return false;  // In test builds, all calls take the general path.
#endif
  const int64_t tuples = tuples_of(form, n);
  if (tuples == 0 || !pointers.table || !pointers.indices || !pointers.rows) return false;
  const int64_t more = n == GTH_OPEN ? 0 : n - 1;
  const core::Span params = form.table.at(more), entries = form.indices.at(more), out = form.rows.at(more);
  if (given && (given->table < params.high || given->indices < entries.high || given->rows < out.high)) return false;
  if (core::overlap(pointers.rows, out, pointers.table, params) ||
      core::overlap(pointers.rows, out, pointers.indices, entries)) {
    return false;
  }
  int64_t offsets[Short::most_tuples];
  const char* indices = moved(pointers.indices, form.indices_offset);
  const bool all = form.is_int64 ? resolve_all<int64_t>(form, indices, tuples, offsets)
                                 : resolve_all<int32_t>(form, indices, tuples, offsets);
  if (!all) return false;
  copy_rows(form, moved(pointers.rows, form.rows_offset), pointers.table, offsets, tuples);
  return true;
}

}  // namespace gather::cpu
