#include "cpu/indices.hpp"

#include <cstring>

#include "cpu/load.hpp"

namespace gather::cpu {
namespace {

using core::Component;
using core::IndexKind;
using core::Plan;

template <class T>
void load_as(const char* first, int64_t stride, int64_t n, int64_t* values) {
  if (stride == int64_t{sizeof(T)}) {  // the common case, which vectorises
    for (int64_t i = 0; i < n; ++i) {
      T value;
      std::memcpy(&value, first + i * int64_t{sizeof(T)}, sizeof(T));
      values[i] = static_cast<int64_t>(value);
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, first + i * stride, sizeof(T));
    values[i] = static_cast<int64_t>(value);
  }
}

// Indices as 64-bit numbers; uint64 as its bit pattern.
void load(const Plan& plan, const char* first, int64_t stride, int64_t n, int64_t* values) {
  switch (plan.index) {
    case IndexKind::int8: load_as<int8_t>(first, stride, n, values); break;
    case IndexKind::int16: load_as<int16_t>(first, stride, n, values); break;
    case IndexKind::int32: load_as<int32_t>(first, stride, n, values); break;
    case IndexKind::int64: load_as<int64_t>(first, stride, n, values); break;
    case IndexKind::uint8: load_as<uint8_t>(first, stride, n, values); break;
    case IndexKind::uint16: load_as<uint16_t>(first, stride, n, values); break;
    case IndexKind::uint32: load_as<uint32_t>(first, stride, n, values); break;
    case IndexKind::uint64: load_as<uint64_t>(first, stride, n, values); break;
  }
  // The values are read again below. Without this the compiler might read them from indices, not from the copy.
  asm volatile("" : : "r"(values) : "memory");
}

// A bit pattern of uint64 that looks negative is a huge index, not a negative one.
bool has_negatives(const Plan& plan) { return plan.index != IndexKind::uint64; }

// One comparison for both ends: what is negative is huge as an unsigned number.
bool is_inside(int64_t value, int64_t size) { return static_cast<uint64_t>(value) < static_cast<uint64_t>(size); }

// Added as bit patterns: of a tuple with a bad component the sum means nothing and may be anything.
void add_product(int64_t value, int64_t stride, int64_t* offset) {
  const uint64_t product = static_cast<uint64_t>(value) * static_cast<uint64_t>(stride);
  *offset = static_cast<int64_t>(static_cast<uint64_t>(*offset) + product);
}

// bounds = error, fill, skip. Adds the offsets of one component; returns whether all were inside.
template <bool wraps>
bool add_checked(const Component& component, const int64_t* values, int64_t n, int64_t* offsets) {
  const int64_t size = component.size, stride = component.stride;
  bool all = true;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t value = wraps ? values[i] + ((values[i] >> 63) & size) : values[i];
    const bool inside = is_inside(value, size);
    all &= inside;
    add_product(inside ? value : 0, stride, offsets + i);
  }
  return all;
}

int64_t wrapped(int64_t value, int64_t size) { return value < 0 ? value + size : value; }

void add_clamped(const Component& component, bool wraps, bool signed_values, const int64_t* values, int64_t n,
                 int64_t* offsets) {
  for (int64_t i = 0; i < n; ++i) {
    int64_t value = wraps ? wrapped(values[i], component.size) : values[i];
    if (!is_inside(value, component.size)) value = value < 0 && signed_values ? 0 : component.size - 1;
    add_product(value, component.stride, offsets + i);
  }
}

int64_t modulo(int64_t value, int64_t size, bool signed_values) {
  if (!signed_values) return static_cast<int64_t>(static_cast<uint64_t>(value) % static_cast<uint64_t>(size));
  const int64_t rest = value % size;
  return rest < 0 ? rest + size : rest;
}

// Wrapping first changes nothing: it adds the size.
void add_modulo(const Component& component, bool signed_values, const int64_t* values, int64_t n, int64_t* offsets) {
  for (int64_t i = 0; i < n; ++i) {
    int64_t value = values[i];
    if (!is_inside(value, component.size)) value = modulo(value, component.size, signed_values);
    add_product(value, component.stride, offsets + i);
  }
}

bool is_bad(const Component& component, bool wraps, int64_t value) {
  return !is_inside(wraps ? wrapped(value, component.size) : value, component.size);
}

// The smallest bad tuple wins, of its components the smallest: components come in order.
void note_first_bad(const Component& component, int32_t number, bool wraps, const int64_t* values, int64_t n,
                    BadTuple* bad) {
  for (int64_t i = 0; i < n && i < bad->tuple; ++i) {
    if (is_bad(component, wraps, values[i])) {
      *bad = {i, number, values[i]};
      return;
    }
  }
}

void mark_bad(const Component& component, bool wraps, const int64_t* values, int64_t n, bool* marks) {
  for (int64_t i = 0; i < n; ++i) marks[i] |= is_bad(component, wraps, values[i]);
}

struct Block {
  const Plan& plan;
  const char* tuples;
  int64_t stride;
  int64_t n;
  int64_t* offsets;
};

Resolved resolve_checked(const Block& block, BadTuple* bad) {
  const Plan& plan = block.plan;
  const bool wraps = plan.wraps && has_negatives(plan);
  const bool reports = plan.bounds == GTH_BOUNDS_ERROR;
  int64_t values[block_tuples];
  bool marks[block_tuples];
  bool all = true;
  bad->tuple = block.n;
  for (int32_t c = 0; c < plan.components; ++c) {
    load(plan, block.tuples + c * plan.index_step, block.stride, block.n, values);
    const Component& component = plan.component[c];
    const bool inside = wraps ? add_checked<true>(component, values, block.n, block.offsets)
                              : add_checked<false>(component, values, block.n, block.offsets);
    if (inside) continue;
    if (reports) {
      note_first_bad(component, c, wraps, values, block.n, bad);
    } else {
      if (all) std::memset(marks, 0, sizeof marks);
      mark_bad(component, wraps, values, block.n, marks);
    }
    all = false;
  }
  if (all) return Resolved::all;
  if (reports) return Resolved::bad;
  for (int64_t i = 0; i < block.n; ++i) {
    if (marks[i]) block.offsets[i] = no_row;
  }
  return Resolved::some;
}

// bounds = clamp and modulo have an answer for every index, unless the dim is empty.
Resolved resolve_total(const Block& block, BadTuple* bad) {
  const Plan& plan = block.plan;
  const bool negatives = has_negatives(plan);
  int64_t values[block_tuples];
  for (int32_t c = 0; c < plan.components; ++c) {
    load(plan, block.tuples + c * plan.index_step, block.stride, block.n, values);
    const Component& component = plan.component[c];
    if (component.size == 0) {
      *bad = {0, c, values[0]};
      return Resolved::bad;
    }
    if (plan.bounds == GTH_BOUNDS_CLAMP) {
      add_clamped(component, plan.wraps && negatives, negatives, values, block.n, block.offsets);
    } else {
      add_modulo(component, negatives, values, block.n, block.offsets);
    }
  }
  return Resolved::all;
}

int64_t load_one(const Plan& plan, const char* at) {
  switch (plan.index) {
    case IndexKind::int8: return load_index<int8_t>(at);
    case IndexKind::int16: return load_index<int16_t>(at);
    case IndexKind::int32: return load_index<int32_t>(at);
    case IndexKind::uint8: return load_index<uint8_t>(at);
    case IndexKind::uint16: return load_index<uint16_t>(at);
    case IndexKind::uint32: return load_index<uint32_t>(at);
    default: return load_index<int64_t>(at);  // uint64 as its bit pattern
  }
}

bool is_total(const Plan& plan) { return plan.bounds == GTH_BOUNDS_CLAMP || plan.bounds == GTH_BOUNDS_MODULO; }

// bounds = error, fill, skip for a few tuples, where preparing for a block would cost more than the block.
Resolved resolve_few(const Block& block, BadTuple* bad) {
  const Plan& plan = block.plan;
  const bool wraps = plan.wraps && has_negatives(plan);
  Resolved resolved = Resolved::all;
  for (int64_t i = 0; i < block.n; ++i) {
    int64_t offset = 0;
    bool inside = true;
    for (int32_t c = 0; c < plan.components && inside; ++c) {
      const Component& component = plan.component[c];
      const int64_t value = load_one(plan, block.tuples + i * block.stride + c * plan.index_step);
      const int64_t index = wraps ? wrapped(value, component.size) : value;
      inside = is_inside(index, component.size);
      if (inside) {
        add_product(index, component.stride, &offset);
      } else {
        *bad = {i, c, value};
      }
    }
    if (!inside && plan.bounds == GTH_BOUNDS_ERROR) return Resolved::bad;
    if (!inside) resolved = Resolved::some;
    block.offsets[i] = inside ? offset : no_row;
  }
  return resolved;
}

}  // namespace

Resolved resolve(const Plan& plan, const char* tuples, int64_t stride, int64_t n, int64_t* offsets, BadTuple* bad) {
  const Block block{plan, tuples, stride, n, offsets};
  if (n <= few_tuples && !is_total(plan)) return resolve_few(block, bad);
  for (int64_t i = 0; i < n; ++i) offsets[i] = 0;
  return is_total(plan) ? resolve_total(block, bad) : resolve_checked(block, bad);
}

}  // namespace gather::cpu
