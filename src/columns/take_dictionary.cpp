#include <limits>
#include <type_traits>

#include "columns/check.hpp"
#include "columns/distinct.hpp"
#include "columns/take.hpp"

// Dictionaries. The codes of the rows are copied. The dictionary is shared, or it is made of the values of the rows if
// they come from different dictionaries.
namespace gather::columns {
namespace {

// Calls on_code(T{}) with the integer type of the codes.
template <class OnCode>
auto with_code(const Type& type, OnCode&& on_code) {
  switch (type.width) {
    case 1: return type.is_signed ? on_code(int8_t{}) : on_code(uint8_t{});
    case 2: return type.is_signed ? on_code(int16_t{}) : on_code(uint16_t{});
    case 4: return type.is_signed ? on_code(int32_t{}) : on_code(uint32_t{});
    default: return type.is_signed ? on_code(int64_t{}) : on_code(uint64_t{});
  }
}

// Returns true if two arrays have the same memory, so that their rows are equal.
bool is_same(const Type& type, const ArrowArray& a, const ArrowArray& b) {
  if (&a == &b) return true;
  if (a.length != b.length || a.offset != b.offset || a.n_buffers != b.n_buffers) return false;
  // Exports of one array have different copies of the sizes of data buffers.
  const int64_t buffers = type.kind == Kind::view ? a.n_buffers - 1 : a.n_buffers;
  for (int64_t i = 0; i < buffers; ++i) {
    if (a.buffers[i] != b.buffers[i]) return false;
  }
  for (int64_t i = 0; i < a.n_children; ++i) {
    if (!is_same(type.children[i], *a.children[i], *b.children[i])) return false;
  }
  return !a.dictionary || is_same(type.children[0], *a.dictionary, *b.dictionary);
}

bool have_one_dictionary(const Level& level) {
  for (int64_t p = 1; p < level.parts.count; ++p) {
    if (!is_same(level.type.children[0], *level.parts[0].array->dictionary, *level.parts[p].array->dictionary)) {
      return false;
    }
  }
  return level.parts.count > 0;
}

// Returns true if all codes are below `length`. The loop has no branch, so the compiler vectorises it.
template <class Code>
bool are_inside(const Code* codes, int64_t count, int64_t length) {
  using Number = std::make_unsigned_t<Code>;
  Number most = 0;
  for (int64_t i = 0; i < count; ++i) most = std::max(most, static_cast<Number>(codes[i]));
  return count == 0 || static_cast<uint64_t>(most) < static_cast<uint64_t>(length);
}

// Validates the codes of the rows that are not null.
template <class Code>
int32_t check_codes(Call* call, const Level& level, const void* codes) {
  const uint8_t* const validity = level.node->validity();
  if (!validity && level.parts.count == 1) {
    const int64_t length = level.parts[0].array->dictionary->length;
    if (are_inside(static_cast<const Code*>(codes), level.places.count, length)) return GTH_OK;
  }
  for (int64_t i = 0; i < level.places.count; ++i) {
    if (is_null(validity, i)) continue;
    const int64_t length = level.parts[level.places.part(i)].array->dictionary->length;
    const auto code = static_cast<int64_t>(static_cast<const Code*>(codes)[i]);
    if (static_cast<uint64_t>(code) < static_cast<uint64_t>(length)) continue;
    const int32_t status = call->trouble.fail(GTH_E_ARROW, "a code is outside its dictionary", code, length, i);
    if (std::is_unsigned_v<Code> && code < 0) call->trouble.flags = GTH_ERROR_UNSIGNED;
    return status;
  }
  return GTH_OK;
}

// Makes one dictionary of the values that rows of different dictionaries have.
class Merge {
 public:
  Merge(Call* call, const Level& level, void* codes) : call_(call), level_(level), codes_(codes) {}

  int32_t run() {
    if (int32_t status = find_entries()) return status;
    ArrowArray values;
    if (int32_t status = take_values(&values)) return status;
    int32_t status = find_unique(values);
    if (!status) status = take_unique(values);
    values.release(&values);
    if (status) return status;
    return with_code(level_.type, [&](auto code) { return write_codes<decltype(code)>(); });
  }

 private:
  const Type& value_type() const { return level_.type.children[0]; }
  int32_t fail_memory() { return call_->trouble.fail_memory(level_.places.count * int64_t{sizeof(int64_t)}); }

  // Finds the distinct pairs of part and code, in the order of the rows.
  int32_t find_entries() {
    const int64_t count = level_.places.count;
    const bool has_room = entries_.allocate(count, level_.places.parts) && first_rows_.allocate(count) &&
                          entry_of_row_.allocate(count) && seen_.allocate(count);
    if (!has_room) return fail_memory();
    with_code(level_.type, [&](auto code) { read_entries<decltype(code)>(); });
    return GTH_OK;
  }

  template <class Code>
  void read_entries() {
    const uint8_t* const validity = level_.node->validity();
    for (int64_t i = 0; i < level_.places.count; ++i) {
      entry_of_row_[i] = no_row;
      if (is_null(validity, i)) continue;
      const int64_t part = level_.places.part(i);
      const auto code = static_cast<int64_t>(static_cast<const Code*>(codes_)[i]);
      const int64_t key[] = {part, code};
      entry_of_row_[i] = seen_.find(key, sizeof key, [&](int64_t entry) {
        return entries_.rows()[entry] == code && (!entries_.parts() || entries_.parts()[entry] == part);
      });
      if (entry_of_row_[i] < entry_count_) continue;
      entries_.rows()[entry_count_] = code;
      if (entries_.parts()) entries_.parts()[entry_count_] = static_cast<uint32_t>(part);
      first_rows_[entry_count_++] = i;
    }
  }

  // Takes the value of each entry.
  int32_t take_values(ArrowArray* values) {
    Room<Part, 4> parts;
    if (!parts.allocate(level_.parts.count)) return fail_memory();
    for (int64_t p = 0; p < level_.parts.count; ++p) {
      const ArrowArray* const dictionary = level_.parts[p].array->dictionary;
      parts[p] = {dictionary, dictionary->offset};
    }
    Call narrow{call_->column, call_->executor, false, {}};
    const Places places{entry_count_, entries_.rows(), entries_.parts(), false};
    const int32_t status = take(&narrow, value_type(), {parts.data(), level_.parts.count}, places, values);
    call_->trouble = narrow.trouble;
    if (status && narrow.trouble.position >= 0) call_->trouble.position = first_rows_[narrow.trouble.position];
    return status;
  }

  // Finds the entries whose values are equal. The dictionary of the result contains each value once.
  int32_t find_unique(const ArrowArray& values) {
    Distinct seen;
    if (!value_of_entry_.allocate(entry_count_) || !unique_.allocate(entry_count_) || !seen.allocate(entry_count_)) {
      return fail_memory();
    }
    for (int64_t e = 0; e < entry_count_; ++e) {
      Value value, other;
      if (!read_value(value_type(), values, e, &value)) {
        return call_->trouble.fail(GTH_E_UNSUPPORTED, "chunks with different dictionaries of nested types");
      }
      value_of_entry_[e] = seen.find(value.bytes, value.size, [&](int64_t known) {
        return read_value(value_type(), values, unique_[known], &other) && value == other;
      });
      if (value_of_entry_[e] == unique_count_) unique_[unique_count_++] = e;
    }
    return GTH_OK;
  }

  int32_t take_unique(const ArrowArray& values) {
    const Part part{&values, 0};
    Call narrow{call_->column, call_->executor, false, {}};
    const int32_t status = take(&narrow, value_type(), {&part, 1}, {unique_count_, unique_.data(), nullptr, false},
                                level_.node->dictionary());
    if (status) call_->trouble = narrow.trouble;
    return status;
  }

  template <class Code>
  int32_t write_codes() {
    constexpr int64_t most = sizeof(Code) == 8 ? INT64_MAX : static_cast<int64_t>(std::numeric_limits<Code>::max());
    if (unique_count_ - 1 > most) {
      return call_->trouble.fail(GTH_E_SIZE, "the values do not fit the codes of the type", unique_count_ - 1, most);
    }
    for (int64_t i = 0; i < level_.places.count; ++i) {
      const int64_t entry = entry_of_row_[i];
      static_cast<Code*>(codes_)[i] = static_cast<Code>(entry < 0 ? 0 : value_of_entry_[entry]);
    }
    return GTH_OK;
  }

  Call* call_;
  const Level& level_;
  void* codes_;
  NewPlaces entries_;  // the code and the part of each entry
  int64_t entry_count_ = 0;
  Room<int64_t, 8> first_rows_;    // the first row of each entry
  Room<int64_t, 8> entry_of_row_;  // no_row: the row is null
  Room<int64_t, 8> value_of_entry_;
  Room<int64_t, 8> unique_;  // the first entry of each value
  int64_t unique_count_ = 0;
  Distinct seen_;
};

}  // namespace

int32_t take_dictionary(Call* call, const Level& level) {
  const int32_t status = take_fixed(call, level);
  return status ? status : add_dictionary(call, level);
}

int32_t add_dictionary(Call* call, const Level& level) {
  void* const codes = level.node->data(1);
  const int32_t status =
      with_code(level.type, [&](auto code) { return check_codes<decltype(code)>(call, level, codes); });
  if (status) return status;
  if (!have_one_dictionary(level)) return Merge(call, level, codes).run();
  return share_array(call->column, *level.parts[0].array->dictionary, level.node->dictionary(), &call->trouble);
}

}  // namespace gather::columns
