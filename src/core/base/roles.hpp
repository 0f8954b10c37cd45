#pragma once

#include <cstdint>

#include "core/base/operation_list.hpp"
#include "gather/gather.h"

namespace gather::core {

// A role is a place for an operand in gth_request. Roles are in the order of its fields.
enum class Role : uint8_t {
#define GATHER_ROLE(name) name,
  GATHER_ROLES(GATHER_ROLE)
#undef GATHER_ROLE
};

// One value for each role.
template <class T>
struct ByRole {
#define GATHER_ROLE(name) T name;
  GATHER_ROLES(GATHER_ROLE)
#undef GATHER_ROLE

  static constexpr T ByRole::* members[] = {
#define GATHER_ROLE(name) &ByRole::name,
      GATHER_ROLES(GATHER_ROLE)
#undef GATHER_ROLE
  };

  constexpr T& operator[](Role role) { return this->*members[static_cast<int32_t>(role)]; }
  constexpr const T& operator[](Role role) const { return this->*members[static_cast<int32_t>(role)]; }
};

constexpr int32_t role_count = sizeof ByRole<char>::members / sizeof ByRole<char>::members[0];

}  // namespace gather::core
