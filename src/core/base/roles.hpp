#pragma once

#include <cstdint>

#include "core/base/operation_list.hpp"
#include "gather/gather.h"

namespace gather::core {

// A role is a place for an operand in gth_request and gth_plan_args.
enum class Role : uint8_t {
#define GATHER_ROLE(name, ...) name,
  GATHER_ROLES(GATHER_ROLE)
#undef GATHER_ROLE
};

// One value for each role.
template <class T>
struct ByRole {
#define GATHER_ROLE(name, ...) T name;
  GATHER_ROLES(GATHER_ROLE)
#undef GATHER_ROLE

  static constexpr T ByRole::* members[] = {
#define GATHER_ROLE(name, ...) &ByRole::name,
      GATHER_ROLES(GATHER_ROLE)
#undef GATHER_ROLE
  };

  constexpr T& operator[](Role role) { return this->*members[static_cast<int32_t>(role)]; }
  constexpr const T& operator[](Role role) const { return this->*members[static_cast<int32_t>(role)]; }
};

constexpr Role every_role[] = {
#define GATHER_ROLE(name, ...) Role::name,
    GATHER_ROLES(GATHER_ROLE)
#undef GATHER_ROLE
};

// Returns the values of the first three roles. Those of the others are zero.
template <class T>
constexpr ByRole<T> by_role(T table, T indices, T rows) {
  ByRole<T> values{};
  values.table = table;
  values.indices = indices;
  values.rows = rows;
  return values;
}

// Returns the operands of a request by role.
inline ByRole<const gth_tensor_desc*> operands_of(const gth_request& request) {
#define GATHER_ROLE(name, ...) request.name,
  return {GATHER_ROLES(GATHER_ROLE)};
#undef GATHER_ROLE
}

// Returns true if a request or the arguments of a plan have more operands than table, indices and rows.
template <class Struct>
bool has_more_operands(const Struct& given) {
  return given.bags || given.weights;
}

}  // namespace gather::core
