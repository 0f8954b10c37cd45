#include "cpu/indices.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/checked.hpp"
#include "core/types/resolve_index.hpp"
#include "cpu/load.hpp"

namespace gather::cpu {
namespace {

using core::Component;
using core::IndexPolicy;
using core::Plan;

template <class T>
void load_as(const char* first, int64_t stride, int64_t n, int64_t* values) {
  if (stride == int64_t{sizeof(T)}) {  // The common case is a loop that the compiler vectorises.
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

// Calls on_type(T{}) with the integer type of indices.
template <class OnType>
auto with_type(IndexType type, OnType&& on_type) {
  switch (type) {
    case IndexType::int8: return on_type(int8_t{});
    case IndexType::int16: return on_type(int16_t{});
    case IndexType::int32: return on_type(int32_t{});
    case IndexType::int64: return on_type(int64_t{});
    case IndexType::uint8: return on_type(uint8_t{});
    case IndexType::uint16: return on_type(uint16_t{});
    case IndexType::uint32: return on_type(uint32_t{});
    default: return on_type(uint64_t{});
  }
}

int64_t load_one(const Plan& plan, const char* at) {
  return with_type(plan.index, [&](auto type) { return load_index<decltype(type)>(at); });
}

// Adds as bit patterns, because the sum of an invalid tuple may overflow. It is not used.
void add_product(int64_t index, int64_t stride, int64_t* offset) {
  const uint64_t product = static_cast<uint64_t>(index) * static_cast<uint64_t>(stride);
  *offset = static_cast<int64_t>(static_cast<uint64_t>(*offset) + product);
}

// Adds the offsets of one component. Returns true if all values select an entry.
bool add_component(const Component& component, IndexPolicy policy, const int64_t* values, int64_t n, int64_t* offsets) {
  const int64_t size = component.size, stride = component.stride;
  bool all = true;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t index = core::resolve_index(values[i], size, policy);
    all &= index >= 0;
    add_product(index, stride, offsets + i);
  }
  return all;
}

struct Block {
  const Plan& plan;
  IndexPolicy policy;
  const char* tuples;
  int64_t stride;
  int64_t n;
  int64_t* offsets;
};

bool is_bad(const Block& block, const Component& component, int64_t value) {
  return core::resolve_index(value, component.size, block.policy) < 0;
}

// Records the smallest invalid tuple and its smallest invalid component. It is called for the components in order.
void note_first_bad(const Block& block, int32_t number, const int64_t* values, BadTuple* bad) {
  for (int64_t i = 0; i < block.n && i < bad->tuple; ++i) {
    if (is_bad(block, block.plan.component[number], values[i])) {
      *bad = {i, number, values[i]};
      return;
    }
  }
}

void mark_bad(const Block& block, const Component& component, const int64_t* values, bool* marks) {
  for (int64_t i = 0; i < block.n; ++i) marks[i] |= is_bad(block, component, values[i]);
}

Resolved resolve_block(const Block& block, BadTuple* bad) {
  const Plan& plan = block.plan;
  const bool skips = block.policy.outside == Outside::skipped;
  int64_t values[block_tuples];
  bool marks[block_tuples];
  bool all = true;
  bad->tuple = block.n;
  for (int64_t i = 0; i < block.n; ++i) block.offsets[i] = 0;
  for (int32_t c = 0; c < plan.components; ++c) {
    load_numbers(plan.index, block.tuples + c * plan.index_step, block.stride, block.n, values);
    if (add_component(plan.component[c], block.policy, values, block.n, block.offsets)) continue;
    if (!skips) {
      note_first_bad(block, c, values, bad);
    } else {
      if (all) std::memset(marks, 0, sizeof marks);
      mark_bad(block, plan.component[c], values, marks);
    }
    all = false;
  }
  if (all) return Resolved::all;
  if (!skips) return Resolved::bad;
  for (int64_t i = 0; i < block.n; ++i) {
    if (marks[i]) block.offsets[i] = no_row;
  }
  return Resolved::some;
}

// Resolves a few tuples one by one, because preparing a block would cost more.
Resolved resolve_scalar(const Block& block, BadTuple* bad) {
  const Plan& plan = block.plan;
  Resolved resolved = Resolved::all;
  for (int64_t i = 0; i < block.n; ++i) {
    int64_t offset = 0;
    bool selects = true;
    for (int32_t c = 0; c < plan.components && selects; ++c) {
      const int64_t value = load_one(plan, block.tuples + i * block.stride + c * plan.index_step);
      const int64_t index = core::resolve_index(value, plan.component[c].size, block.policy);
      selects = index >= 0;
      if (selects) {
        add_product(index, plan.component[c].stride, &offset);
      } else {
        *bad = {i, c, value};
      }
    }
    if (!selects && block.policy.outside != Outside::skipped) return Resolved::bad;
    if (!selects) resolved = Resolved::some;
    block.offsets[i] = selects ? offset : no_row;
  }
  return resolved;
}

// Resolves tuples if some of them may be padding, which is compared before bounds. Loads each index once.
Resolved resolve_padded(const Block& block, BadTuple* bad) {
  const Plan& plan = block.plan;
  const int32_t components = plan.components;
  int64_t values[block_tuples];
  if (components == 1) load_numbers(plan.index, block.tuples, block.stride, block.n, values);
  Resolved resolved = Resolved::all;
  for (int64_t i = 0; i < block.n; ++i) {
    const int64_t* const tuple = components == 1 ? values + i : values;
    if (components > 1) load_numbers(plan.index, block.tuples + i * block.stride, plan.index_step, components, values);
    int64_t offset = 0;
    int32_t bad_component = components;
    for (int32_t c = components; c-- > 0;) {
      const int64_t index = core::resolve_index(tuple[c], plan.component[c].size, block.policy);
      if (index < 0) bad_component = c;
      add_product(index, plan.component[c].stride, &offset);
    }
    const bool is_padding =
        std::all_of(tuple, tuple + components, [&](int64_t value) { return value == plan.padding; });
    if (!is_padding && bad_component < components && block.policy.outside != Outside::skipped) {
      *bad = {i, bad_component, tuple[bad_component]};
      return Resolved::bad;
    }
    const bool selects = !is_padding && bad_component == components;
    if (!selects) resolved = Resolved::some;
    block.offsets[i] = selects ? offset : no_row;
  }
  return resolved;
}

}  // namespace

void load_numbers(IndexType type, const char* first, int64_t stride, int64_t n, int64_t* values) {
  with_type(type, [&](auto any) { load_as<decltype(any)>(first, stride, n, values); });
  // The caller reads the values again. Without this barrier the compiler might read the numbers again instead.
  asm volatile("" : : "r"(values) : "memory");
}

Resolved resolve(const Plan& plan, const char* tuples, int64_t stride, int64_t n, int64_t* offsets, BadTuple* bad) {
  const IndexPolicy policy = core::policy_of(plan.wraps, plan.index != IndexType::uint64, plan.bounds);
  const Block block{plan, policy, tuples, stride, n, offsets};
  if (plan.has_padding) return resolve_padded(block, bad);
  return n <= max_scalar_tuples ? resolve_scalar(block, bad) : resolve_block(block, bad);
}

void pack_lines(IndexType type, const IndexLines& given, void* to) {
  with_type(type, [&](auto any) {
    using T = decltype(any);
    char* const packed = static_cast<char*>(to);
    const auto copy = [&](int64_t l, int64_t i) {
      std::memcpy(packed + (l * given.n + i) * int64_t{sizeof(T)}, given.first + l * given.next_line + i * given.stride,
                  sizeof(T));
    };
    // The inner loop is the one whose indices are closer to each other.
    if (core::magnitude(given.next_line) < core::magnitude(given.stride)) {
      for (int64_t i = 0; i < given.n; ++i) {
        for (int64_t l = 0; l < given.lines; ++l) copy(l, i);
      }
    } else {
      for (int64_t l = 0; l < given.lines; ++l) {
        for (int64_t i = 0; i < given.n; ++i) copy(l, i);
      }
    }
  });
  asm volatile("" : : "r"(to) : "memory");  // without it the compiler might load an index again instead of its copy
}

}  // namespace gather::cpu
