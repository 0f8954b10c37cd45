#include "columns/type.hpp"

#include <cstring>

#include "core/base/checked.hpp"

namespace gather::columns {
namespace {

constexpr int32_t max_depth = 32;

// Reads digits and moves *at behind them. Returns false if there are none, or if the number exceeds int32, which is the
// type of all sizes in a format.
bool read_number(const char** at, int64_t* out) {
  const char* const first = *at;
  int64_t number = 0;
  for (; **at >= '0' && **at <= '9'; ++*at) {
    number = 10 * number + (**at - '0');
    if (number > INT32_MAX) return false;
  }
  *out = number;
  return *at != first;
}

// Reads a number up to the end of the format.
bool read_size(const char* at, int64_t* out) { return read_number(&at, out) && !*at; }

// Reads "precision,scale" or "precision,scale,bits". The scale may be negative.
bool read_decimal(const char* at, int64_t* width) {
  int64_t number, bits = 128;
  if (!read_number(&at, &number) || *at != ',') return false;
  ++at;
  if (*at == '-') ++at;
  if (!read_number(&at, &number)) return false;
  if (*at == ',') {
    ++at;
    if (!read_number(&at, &bits)) return false;
  }
  *width = bits / 8;
  return !*at && (bits == 32 || bits == 64 || bits == 128 || bits == 256);
}

bool has_letter(const char* letters, char letter) { return letter && std::strchr(letters, letter); }

// Returns the bytes of a date, time, timestamp, duration or interval, or 0. `at` is behind the letter t.
int64_t time_bytes(const char* at) {
  const char kind = at[0], unit = kind ? at[1] : '\0';
  if (!unit) return 0;
  if (kind == 's') return has_letter("smun", unit) && at[2] == ':' ? 8 : 0;  // a time zone follows
  if (at[2]) return 0;
  switch (kind) {
    case 'd': return unit == 'D' ? 4 : unit == 'm' ? 8 : 0;
    case 't': return has_letter("sm", unit) ? 4 : has_letter("un", unit) ? 8 : 0;
    case 'D': return has_letter("smun", unit) ? 8 : 0;
    case 'i': return unit == 'M' ? 4 : unit == 'D' ? 8 : unit == 'n' ? 16 : 0;
    default: return 0;
  }
}

// Returns the bytes of a type of one letter, or 0.
int64_t letter_bytes(char letter) {
  if (has_letter("cC", letter)) return 1;
  if (has_letter("sSe", letter)) return 2;
  if (has_letter("iIf", letter)) return 4;
  return has_letter("lLg", letter) ? 8 : 0;
}

// Reads the format of a type of one letter. Returns false if there is none.
bool read_letter(char letter, Type* out) {
  out->is_wide = has_letter("UZ", letter);
  out->width = letter_bytes(letter);
  if (out->width) {
    out->kind = Kind::fixed;
  } else if (letter == 'n') {
    out->kind = Kind::nothing;
  } else if (letter == 'b') {
    out->kind = Kind::bits;
  } else if (has_letter("uzUZ", letter)) {
    out->kind = Kind::bytes;
    out->can_widen = !out->is_wide;
  } else {
    return false;
  }
  return true;
}

// Reads the format of a nested type. `at` is behind the plus.
bool read_nested(const char* at, Type* out) {
  if (at[0] == 'w' && at[1] == ':') {
    out->kind = Kind::fixed_list;
    return read_size(at + 2, &out->width);
  }
  out->has_sizes = at[0] == 'v';
  if (out->has_sizes) ++at;
  if (!at[0] || at[1]) return false;
  out->is_wide = at[0] == 'L';
  out->can_widen = at[0] == 'l';
  out->kind = at[0] == 's' ? Kind::structure : at[0] == 'r' ? Kind::runs : Kind::list;
  return has_letter(out->has_sizes ? "lL" : "slLmr", at[0]);
}

bool read_format(const char* format, Type* out) {
  if (format[0] == '+') return read_nested(format + 1, out);
  if (format[0] && !format[1]) return read_letter(format[0], out);
  if (format[0] == 'v') {
    out->kind = Kind::view;
    return has_letter("uz", format[1]) && !format[2];
  }
  out->kind = Kind::fixed;
  if (format[0] == 'w' && format[1] == ':') return read_size(format + 2, &out->width);
  if (format[0] == 'd' && format[1] == ':') return read_decimal(format + 2, &out->width);
  out->width = format[0] == 't' ? time_bytes(format + 1) : 0;
  return out->width > 0;
}

bool is_code(const char* format) { return has_letter("cCsSiIlL", format[0]) && !format[1]; }

int64_t children_of(const ArrowSchema& schema) { return schema.dictionary ? 1 : schema.n_children; }

const ArrowSchema* child_of(const ArrowSchema& schema, int64_t i) {
  return schema.dictionary ? schema.dictionary : schema.children[i];
}

// Returns the number of children that a type needs. A struct may have any number.
int64_t schema_children(const Type& type, const ArrowSchema& schema) {
  switch (type.kind) {
    case Kind::list:
    case Kind::fixed_list: return 1;
    case Kind::runs: return 2;
    case Kind::structure: return schema.n_children;
    default: return 0;
  }
}

// Returns true for the type of the ends of runs.
bool is_run_end(const ArrowSchema& schema) { return !schema.dictionary && has_letter("sil", schema.format[0]); }

// Reads the type of a schema without its children.
int32_t read_level(const ArrowSchema& schema, Type* out, Trouble* trouble) {
  if (!schema.release) return trouble->fail(GTH_E_ARROW, "a schema has been released");
  if (!schema.format) return trouble->fail(GTH_E_ARROW, "a format is NULL");
  if (!read_format(schema.format, out)) {
    trouble->fail(GTH_E_DTYPE, "a type is not supported");
    trouble->format = schema.format;
    return trouble->status;
  }
  if (schema.n_children < 0) return trouble->fail(GTH_E_ARROW, "a number of children", schema.n_children);
  if (schema.dictionary) {
    if (!is_code(schema.format)) return trouble->fail(GTH_E_ARROW, "codes of a dictionary are not integers");
    out->kind = Kind::dictionary;
    out->is_signed = has_letter("csil", schema.format[0]);
  }
  out->count = children_of(schema);
  const int64_t expected = schema_children(*out, schema);
  if (schema.n_children != expected) {
    return trouble->fail(GTH_E_ARROW, "a number of children", schema.n_children, expected);
  }
  if (schema.n_children && !schema.children) return trouble->fail(GTH_E_ARROW, "children of a schema are NULL");
  return GTH_OK;
}

// Validates a schema, and adds the number of types below it to *count.
int32_t count_types(const ArrowSchema& schema, int32_t depth, int64_t* count, Trouble* trouble) {
  if (depth > max_depth) return trouble->fail(GTH_E_DTYPE, "types are nested too deeply", depth, max_depth);
  Type type;
  if (int32_t status = read_level(schema, &type, trouble)) return status;
  if (!core::add(*count, type.count, count)) return trouble->fail(GTH_E_SIZE, "a number of children", type.count);
  for (int64_t i = 0; i < type.count; ++i) {
    const ArrowSchema* const child = child_of(schema, i);
    if (!child) return trouble->fail(GTH_E_ARROW, "a child of a schema is NULL", i);
    if (int32_t status = count_types(*child, depth + 1, count, trouble)) {
      if (child->name && *child->name) trouble->name = child->name;
      return status;
    }
  }
  if (type.kind == Kind::runs && !is_run_end(*child_of(schema, 0))) {
    return trouble->fail(GTH_E_ARROW, "the ends of runs are not signed integers of 16, 32 or 64 bits");
  }
  return GTH_OK;
}

// Fills in the type of a valid schema. *next is the memory of the types below it.
void fill(const ArrowSchema& schema, Type* out, Type** next) {
  Trouble none;
  read_level(schema, out, &none);
  Type* const children = *next;
  *next += out->count;
  out->children = children;
  for (int64_t i = 0; i < out->count; ++i) {
    children[i] = Type();
    fill(*child_of(schema, i), children + i, next);
  }
}

}  // namespace

int64_t buffers_of(const Type& type) {
  switch (type.kind) {
    case Kind::nothing:
    case Kind::runs: return 0;
    case Kind::structure:
    case Kind::fixed_list: return 1;
    case Kind::list: return type.has_sizes ? 3 : 2;
    case Kind::bytes:
    case Kind::view: return 3;
    default: return 2;
  }
}

int32_t TypeTree::read(const ArrowSchema& schema, Trouble* trouble) {
  int64_t count = 0, bytes = 0;
  if (int32_t status = count_types(schema, 1, &count, trouble)) return status;
  if (!core::multiply(count, int64_t{sizeof(Type)}, &bytes)) return trouble->fail_memory(count);
  if (count) {
    children_ = static_cast<Type*>(core::allocate(static_cast<size_t>(bytes)));
    if (!children_) return trouble->fail_memory(bytes);
  }
  Type* next = children_;
  fill(schema, &root_, &next);
  return GTH_OK;
}

}  // namespace gather::columns
