#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../../src/columns/arrow_structs.hpp"
#include "gather/gather.h"

// Columns as lists of optional values, and arrays of Arrow that are built from them and read back. This code does not
// use that of the library, so that it is an oracle for it.
namespace columns_test {

// A row: null, some bytes, or rows of children.
struct Value {
  bool valid = false;
  std::string bytes;
  std::vector<Value> items;
  bool has_code = false;   // of a null: it is a null value of the dictionary, and its code is valid
  bool is_hidden = false;  // It is below a null row. Its validity bit is set, and its content is invalid.

  bool operator==(const Value& other) const {
    return valid == other.valid && (!valid || (bytes == other.bytes && items == other.items));
  }
};
using Values = std::vector<Value>;

// A type as a format of Arrow. A dictionary has the format of its codes, and its values are the child.
struct Type {
  std::string format;
  std::vector<Type> children;
  bool is_dictionary = false;

  char letter() const {
    return is_dictionary ? 'd' : format[0] == '+' ? format[1] : format[0] == 't' ? 'i' : format[0];
  }
  bool is_list_view() const { return format == "+vl" || format == "+vL"; }
  bool is_list() const { return format == "+l" || format == "+L" || format == "+m" || is_list_view(); }
  bool is_runs() const { return format == "+r"; }
  bool has_validity() const { return format != "n" && !is_runs(); }
  bool is_wide() const { return format == "U" || format == "Z" || format == "+L" || format == "+vL"; }
  bool is_bytes() const { return format == "u" || format == "U" || format == "z" || format == "Z"; }
  bool is_view() const { return format == "vu" || format == "vz"; }
  bool is_fixed() const {
    return !is_dictionary && format[0] != '+' && format != "n" && format != "b" && !is_bytes() && !is_view();
  }
  int64_t size() const { return std::stoll(format.substr(format.find(':') + 1)); }  // of w: and +w:
  int64_t width() const {
    static const std::pair<const char*, int64_t> widths[] = {
        {"c", 1},   {"C", 1},    {"s", 2},        {"S", 2},        {"e", 2},        {"i", 4},          {"I", 4},
        {"f", 4},   {"l", 8},    {"L", 8},        {"g", 8},        {"tdD", 4},      {"tdm", 8},        {"tts", 4},
        {"ttm", 4}, {"ttu", 8},  {"ttn", 8},      {"tsu:UTC", 8},  {"tsn:", 8},     {"tDs", 8},        {"tiM", 4},
        {"tiD", 8}, {"tin", 16}, {"d:5,1,32", 4}, {"d:9,1,64", 8}, {"d:20,-2", 16}, {"d:50,2,256", 32}};
    for (const auto& [known, bytes] : widths) {
      if (format == known) return bytes;
    }
    return size();  // w:
  }
};

inline const std::vector<std::string>& flat_formats() {
  static const std::vector<std::string> all{
      "i",    "b",    "c",    "C",   "s",   "S",        "e",        "n",       "I",          "f",
      "l",    "L",    "g",    "tdD", "tdm", "tts",      "ttm",      "ttu",     "ttn",        "tsu:UTC",
      "tsn:", "tDs",  "tiM",  "tiD", "tin", "d:5,1,32", "d:9,1,64", "d:20,-2", "d:50,2,256", "w:0",
      "w:3",  "w:16", "w:40", "u",   "U",   "z",        "Z",        "vu",      "vz"};
  return all;
}

// Returns a number in [0, n).
using Below = std::function<int64_t(int64_t)>;

inline Type random_type(const Below& below, int64_t depth) {
  static const char* const codes[] = {"c", "C", "s", "S", "i", "I", "l", "L"};
  const int64_t kind = depth == 0 ? 0 : below(11);
  if (kind < 2) return {flat_formats()[static_cast<size_t>(below(int64_t(flat_formats().size())))], {}, false};
  if (kind == 2) return {codes[below(8)], {random_type(below, 0)}, true};
  if (kind == 3) {
    Type type{"+s", {}, false};
    for (int64_t i = below(4); i-- > 0;) type.children.push_back(random_type(below, depth - 1));
    return type;
  }
  if (kind == 4) return {"+r", {{codes[2 * (1 + below(3))], {}, false}, random_type(below, depth - 1)}, false};
  const std::string formats[] = {"+l", "+L", "+m", "+vl", "+vL", "+w:" + std::to_string(below(4))};
  return {formats[kind - 5], {random_type(below, depth - 1)}, false};
}

// Returns true if the validity bit of a row is not set.
inline bool is_null_of(const Type& type, const Value& row) {
  return !type.is_runs() && !row.valid && !row.is_hidden && !(type.is_dictionary && row.has_code);
}

inline Value random_value(const Type& type, const Below& below) {
  Value value;
  if (type.is_runs()) return random_value(type.children[1], below);
  value.valid = type.format != "n" && below(6) != 5;
  if (!value.valid) return value;
  if (type.is_dictionary) {
    value = random_value(type.children[0], below);
    value.has_code = !value.valid;
    return value;
  }
  if (type.format == "+s") {
    for (const Type& child : type.children) value.items.push_back(random_value(child, below));
  } else if (type.format[0] == '+') {
    for (int64_t i = type.is_list() ? below(4) : type.size(); i-- > 0;) {
      value.items.push_back(random_value(type.children[0], below));
    }
  } else if (type.format == "b") {
    value.bytes = std::string(1, static_cast<char>(below(2)));
  } else {
    static const int64_t sizes[] = {0, 1, 11, 12, 13, 40, 150};
    const int64_t bytes = type.is_fixed() ? type.width() : sizes[below(7)];
    for (int64_t i = 0; i < bytes; ++i) value.bytes += static_cast<char>(below(3));
  }
  return value;
}

// Neighbouring rows of runs are often equal.
inline Values random_values(const Type& type, int64_t count, const Below& below) {
  Values values;
  for (int64_t i = 0; i < count; ++i) {
    const bool repeats = type.is_runs() && i > 0 && below(3) > 0;
    values.push_back(repeats ? values.back() : random_value(type, below));
  }
  return values;
}

inline Value hidden_value() {
  Value value;
  value.is_hidden = true;
  return value;
}

// ------------------------------------------------------------------------------------------------------------- Arrays

// Builds schemas and arrays, and owns their memory. Each array counts its release.
class Builder {
 public:
  // Returns memory of exactly this size.
  using Put = std::function<const void*(const std::string&)>;

  explicit Builder(Below below, Put put = {}) : below_(std::move(below)), put_(std::move(put)) {}

  ArrowSchema* schema(const Type& type) {
    ArrowSchema& schema = schemas_.emplace_back();
    std::vector<ArrowSchema*>& children = schema_lists_.emplace_back();
    for (const Type& child : type.children) children.push_back(this->schema(child));
    const auto count = static_cast<int64_t>(type.is_dictionary ? 0 : children.size());
    schema = {
        texts_.emplace_back(type.format).c_str(),   "name",         nullptr, arrow_nullable, count, children.data(),
        type.is_dictionary ? children[0] : nullptr, release_schema, nullptr};
    return &schema;
  }

  // Returns an array of these rows. It has other rows before and behind them.
  ArrowArray* array(const Type& type, const Values& rows) {
    const int64_t before = below_(3) ? 0 : below_(10), behind = below_(3) ? 0 : below_(3);
    Values all = random_values(type, before, below_);
    all.insert(all.end(), rows.begin(), rows.end());
    for (int64_t i = 0; i < behind; ++i) all.push_back(random_value(type, below_));
    ArrowArray* const made = whole(type, all);
    made->offset = before;
    made->length = static_cast<int64_t>(rows.size());
    return made;
  }

  int64_t released = 0;  // the number of released chunks

  // All arrays with their types, children before their parents.
  const std::deque<Type>& types() const { return types_; }
  std::deque<ArrowArray>& arrays() { return arrays_; }

 private:
  static void release_schema(ArrowSchema* self) { self->release = nullptr; }
  static void release_array(ArrowArray* self) {
    ++static_cast<Builder*>(self->private_data)->released;
    self->release = nullptr;
  }

  const void* put(const std::string& bytes) {
    if (put_) return put_(bytes);
    const auto& memory = memory_.emplace_back(new char[bytes.size()]);
    if (!bytes.empty()) std::memcpy(memory.get(), bytes.data(), bytes.size());
    return memory.get();
  }

  template <class Number>
  static void append(std::string* to, Number number) {
    to->append(reinterpret_cast<const char*>(&number), sizeof number);
  }

  static std::string bits(const Values& rows, const std::function<bool(const Value&)>& is_set) {
    std::string bytes((rows.size() + 7) / 8, '\0');
    for (size_t i = 0; i < rows.size(); ++i) {
      if (is_set(rows[i])) bytes[i / 8] = static_cast<char>(bytes[i / 8] | 1 << i % 8);
    }
    return bytes;
  }

  static void append_offset(const Type& type, std::string* to, size_t offset) {
    type.is_wide() ? append(to, static_cast<int64_t>(offset)) : append(to, static_cast<int32_t>(offset));
  }

  std::string bytes_of(const Type& type, const Values& rows, std::string* data) {
    std::string offsets;
    append_offset(type, &offsets, 0);
    for (const Value& row : rows) {
      *data += row.bytes;
      append_offset(type, &offsets, data->size());
    }
    return offsets;
  }

  std::string views_of(const Values& rows, std::vector<std::string>* data) {
    std::string views;
    for (const Value& row : rows) {
      if (row.is_hidden) {
        for (const int32_t number : {77, 0, 1 << 20, -5}) append(&views, number);
        continue;
      }
      append(&views, static_cast<int32_t>(row.bytes.size()));
      if (row.bytes.size() <= 12) {
        views += row.bytes + std::string(12 - row.bytes.size(), '\0');
        continue;
      }
      if (data->empty() || !below_(5)) data->emplace_back();
      views += row.bytes.substr(0, 4);
      append(&views, static_cast<int32_t>(data->size() - 1));
      append(&views, static_cast<int32_t>(data->back().size()));
      data->back() += row.bytes;
    }
    return views;
  }

  // Returns the codes of rows. Sets `values` to the dictionary, which has the values of the rows and some others.
  std::string codes_of(const Type& type, const Values& rows, Values* values) {
    *values = random_values(type.children[0], below_(3), below_);
    std::string codes;
    for (const Value& row : rows) {
      size_t code = 0;
      const bool has_code = row.valid || row.has_code;
      while (code < values->size() && !((*values)[code] == row)) ++code;
      if (has_code && code == values->size()) values->push_back(row);
      if (!has_code) code = below_(2) ? 100 : 0;  // The code of a null may be anything.
      codes.append(reinterpret_cast<const char*>(&code), static_cast<size_t>(Type{type.format, {}, false}.width()));
    }
    return codes;
  }

  ArrowArray* whole(const Type& type, const Values& rows) {
    std::vector<const void*>& buffers = buffer_lists_.emplace_back();
    std::vector<ArrowArray*>& children = array_lists_.emplace_back();
    ArrowArray* dictionary = nullptr;
    int64_t nulls = 0;
    for (const Value& row : rows) nulls += is_null_of(type, row);
    const bool has_bits = nulls > 0 || below_(3) == 0;
    if (type.has_validity()) {
      buffers.push_back(has_bits ? put(bits(rows, [&](const Value& row) { return !is_null_of(type, row); })) : nullptr);
    }
    if (type.is_dictionary) {
      Values values;
      buffers.push_back(put(codes_of(type, rows, &values)));
      dictionary = array(type.children[0], values);
    } else if (type.format == "b") {
      buffers.push_back(put(bits(rows, [](const Value& row) { return row.bytes == std::string(1, '\1'); })));
    } else if (type.is_fixed()) {
      std::string data;
      for (const Value& row : rows) data += row.valid ? row.bytes : std::string(static_cast<size_t>(type.width()), 'x');
      buffers.push_back(put(data));
    } else if (type.is_bytes()) {
      std::string data;
      buffers.push_back(put(bytes_of(type, rows, &data)));
      buffers.push_back(put(data));
    } else if (type.is_view()) {
      std::vector<std::string> data;
      std::string sizes;
      buffers.push_back(put(views_of(rows, &data)));
      for (const std::string& each : data) {
        buffers.push_back(put(each));
        append(&sizes, static_cast<int64_t>(each.size()));
      }
      buffers.push_back(put(sizes));
    } else if (type.format[0] == '+') {
      nest(type, rows, &buffers, &children);
    }
    const int64_t counts[] = {type.format == "n" ? static_cast<int64_t>(rows.size()) : has_bits ? nulls : 0, -1};
    types_.push_back(type);
    ArrowArray& made = arrays_.emplace_back();
    made = {static_cast<int64_t>(rows.size()),
            counts[below_(4) == 0],
            0,
            static_cast<int64_t>(buffers.size()),
            static_cast<int64_t>(children.size()),
            buffers.data(),
            children.data(),
            dictionary,
            release_array,
            this};
    return &made;
  }

  void nest(const Type& type, const Values& rows, std::vector<const void*>* buffers,
            std::vector<ArrowArray*>* children) {
    if (type.format == "+s") return nest_columns(type, rows, children);
    if (type.is_runs()) return nest_runs(type, rows, children);
    if (type.is_list_view()) return nest_views(type, rows, buffers, children);
    Values below;
    std::string offsets;
    append_offset(type, &offsets, 0);
    for (const Value& row : rows) {
      const Values items = row.valid        ? row.items
                           : type.is_list() ? Values()
                                            : Values(static_cast<size_t>(type.size()), hidden_value());
      below.insert(below.end(), items.begin(), items.end());
      append_offset(type, &offsets, below.size());
    }
    if (type.is_list()) buffers->push_back(put(offsets));
    children->push_back(array(type.children[0], below));
  }

  // The columns of a struct.
  void nest_columns(const Type& type, const Values& rows, std::vector<ArrowArray*>* children) {
    for (size_t c = 0; c < type.children.size(); ++c) {
      Values below;
      for (const Value& row : rows) below.push_back(row.valid ? row.items[c] : hidden_value());
      children->push_back(array(type.children[c], below));
    }
  }

  // Runs of equal rows. Some equal neighbours are separate runs.
  void nest_runs(const Type& type, const Values& rows, std::vector<ArrowArray*>* children) {
    Values values, ends;
    for (size_t i = 0; i < rows.size(); ++i) {
      const bool continues = i > 0 && rows[i] == rows[i - 1] && rows[i].is_hidden == rows[i - 1].is_hidden;
      if (!continues || rows[i].has_code != rows[i - 1].has_code || !below_(6)) {
        values.push_back(rows[i]);
        ends.push_back({true, "", {}});
      }
      const auto end = static_cast<int64_t>(i + 1);
      ends.back().bytes =
          std::string(reinterpret_cast<const char*>(&end), static_cast<size_t>(type.children[0].width()));
    }
    const auto before = static_cast<size_t>(ends.empty() ? 0 : below_(4));
    ends.insert(ends.begin(), before, ends.empty() ? Value() : ends[0]);  // They are never null.
    ArrowArray* const made = whole(type.children[0], ends);
    made->offset = static_cast<int64_t>(before);
    made->length -= made->offset;
    children->push_back(made);
    children->push_back(array(type.children[1], values));
  }

  // Lists whose elements have any order, and may be those of another list.
  void nest_views(const Type& type, const Values& rows, std::vector<const void*>* buffers,
                  std::vector<ArrowArray*>* children) {
    Values below = random_values(type.children[0], below_(3), below_);
    std::vector<size_t> begins(rows.size()), order(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      order[i] = i;
      std::swap(order[i], order[static_cast<size_t>(below_(static_cast<int64_t>(i + 1)))]);
    }
    for (const size_t i : order) {
      const Values& items = rows[i].items;
      begins[i] =
          static_cast<size_t>(std::search(below.begin(), below.end(), items.begin(), items.end()) - below.begin());
      if (begins[i] == below.size()) below.insert(below.end(), items.begin(), items.end());
    }
    std::string offsets, sizes;
    for (size_t i = 0; i < rows.size(); ++i) {
      append_offset(type, &offsets, rows[i].is_hidden ? size_t{1} << 30 : begins[i]);
      append_offset(type, &sizes, rows[i].valid ? rows[i].items.size() : 99);
    }
    buffers->push_back(put(offsets));
    buffers->push_back(put(sizes));
    children->push_back(array(type.children[0], below));
  }

  Below below_;
  Put put_;
  std::deque<Type> types_;
  std::deque<ArrowArray> arrays_;
  std::deque<ArrowSchema> schemas_;
  std::deque<std::string> texts_;
  std::deque<std::vector<ArrowSchema*>> schema_lists_;
  std::deque<std::vector<const void*>> buffer_lists_;
  std::deque<std::vector<ArrowArray*>> array_lists_;
  std::deque<std::unique_ptr<char[]>> memory_;
};

// -------------------------------------------------------------------------------------------------------------- Reads

template <class Number>
Number load(const void* from, int64_t i) {
  Number number;
  std::memcpy(&number, static_cast<const char*>(from) + i * int64_t{sizeof number}, sizeof number);
  return number;
}

// Returns a number of an array of strings or lists: an offset, or with buffer 2 the size of a list view.
inline int64_t load_offset(const Type& type, const ArrowArray& array, int64_t i, int64_t buffer = 1) {
  return type.is_wide() ? load<int64_t>(array.buffers[buffer], i) : load<int32_t>(array.buffers[buffer], i);
}

inline int64_t load_code(const Type& type, const ArrowArray& array, int64_t i) {
  switch (type.format[0]) {
    case 'c': return load<int8_t>(array.buffers[1], i);
    case 'C': return load<uint8_t>(array.buffers[1], i);
    case 's': return load<int16_t>(array.buffers[1], i);
    case 'S': return load<uint16_t>(array.buffers[1], i);
    case 'i': return load<int32_t>(array.buffers[1], i);
    case 'I': return load<uint32_t>(array.buffers[1], i);
    default: return load<int64_t>(array.buffers[1], i);
  }
}

// Returns the first bytes of a string that its view repeats.
inline std::string load_prefix(const char* view) {
  return std::string(view + 4, static_cast<size_t>(std::min(4, load<int32_t>(view, 0))));
}

inline std::string read_view(const ArrowArray& array, int64_t i) {
  const char* const view = static_cast<const char*>(array.buffers[1]) + 16 * i;
  const auto size = static_cast<size_t>(load<int32_t>(view, 0));
  if (size <= 12) return std::string(view + 4, size);
  return std::string(static_cast<const char*>(array.buffers[2 + load<int32_t>(view, 2)]) + load<int32_t>(view, 3),
                     size);
}

// Reads a row of an array, counted from its offset.
inline Value read_row(const Type& type, const ArrowArray& array, int64_t row) {
  const int64_t i = row + array.offset;
  Value value;
  if (type.format == "n") return value;
  if (type.is_runs()) {
    const Type& number = type.children[0];
    int64_t run = 0;
    const ArrowArray& ends = *array.children[0];
    while (load_code(number, ends, ends.offset + run) <= i) ++run;
    return read_row(type.children[1], *array.children[1], run);
  }
  const auto* const validity = static_cast<const uint8_t*>(array.buffers[0]);
  value.valid = !validity || (validity[i / 8] >> i % 8 & 1);
  if (!value.valid) return value;
  if (type.is_dictionary) {
    value = read_row(type.children[0], *array.dictionary, load_code(type, array, i));
    value.has_code = !value.valid;
    return value;
  }
  if (type.format == "+s") {
    for (size_t c = 0; c < type.children.size(); ++c) {
      value.items.push_back(read_row(type.children[c], *array.children[c], i));
    }
  } else if (type.format[0] == '+') {
    const int64_t first = type.is_list() ? load_offset(type, array, i) : i * type.size();
    const int64_t last = type.is_list_view() ? first + load_offset(type, array, i, 2)
                         : type.is_list()    ? load_offset(type, array, i + 1)
                                             : first + type.size();
    for (int64_t j = first; j < last; ++j) value.items.push_back(read_row(type.children[0], *array.children[0], j));
  } else if (type.format == "b") {
    value.bytes = std::string(1, static_cast<char>(load<uint8_t>(array.buffers[1], i / 8) >> i % 8 & 1));
  } else if (type.is_view()) {
    value.bytes = read_view(array, i);
    const char* const view = static_cast<const char*>(array.buffers[1]) + 16 * i;
    const auto* const sizes = static_cast<const int64_t*>(array.buffers[array.n_buffers - 1]);
    const bool is_outside =
        value.bytes.size() > 12 &&
        (load<int32_t>(view, 2) >= array.n_buffers - 3 ||
         load<int32_t>(view, 3) + static_cast<int64_t>(value.bytes.size()) > sizes[load<int32_t>(view, 2)]);
    if (is_outside || load_prefix(view) != value.bytes.substr(0, 4)) value.bytes = "a malformed view";
  } else if (type.is_bytes()) {
    const int64_t first = load_offset(type, array, i), last = load_offset(type, array, i + 1);
    value.bytes = std::string(static_cast<const char*>(array.buffers[2]) + first, static_cast<size_t>(last - first));
  } else {
    value.bytes =
        std::string(static_cast<const char*>(array.buffers[1]) + i * type.width(), static_cast<size_t>(type.width()));
  }
  return value;
}

inline Values read_rows(const Type& type, const ArrowArray& array) {
  Values rows;
  for (int64_t i = 0; i < array.length; ++i) rows.push_back(read_row(type, array, i));
  return rows;
}

// Returns true if a schema describes the type.
inline bool is_schema_of(const Type& type, const ArrowSchema& schema) {
  if (schema.format != type.format || schema.flags != arrow_nullable || std::strcmp(schema.name, "name") != 0) {
    return false;
  }
  if (type.is_dictionary) return schema.dictionary && is_schema_of(type.children[0], *schema.dictionary);
  if (schema.dictionary || schema.n_children != static_cast<int64_t>(type.children.size())) return false;
  for (size_t i = 0; i < type.children.size(); ++i) {
    if (!is_schema_of(type.children[i], *schema.children[i])) return false;
  }
  return true;
}

}  // namespace columns_test
