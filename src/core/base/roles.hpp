#pragma once

#include <cstdint>

#include "core/base/operation_list.hpp"
#include "gather/gather.h"

namespace gather::core {

// A role is a place for an operand in gth_request and gth_plan_args.
enum class Role : uint8_t {
#define GATHER_ROLE(name, ...) name,
  GATHER_ROLES(GATHER_ROLE) GATHER_CODEC_ROLES(GATHER_ROLE)
#undef GATHER_ROLE
};

// One value for each role.
template <class T>
struct ByRole {
#define GATHER_ROLE(name, ...) T name;
  GATHER_ROLES(GATHER_ROLE)
  GATHER_CODEC_ROLES(GATHER_ROLE)
#undef GATHER_ROLE

  static constexpr T ByRole::* members[] = {
#define GATHER_ROLE(name, ...) &ByRole::name,
      GATHER_ROLES(GATHER_ROLE) GATHER_CODEC_ROLES(GATHER_ROLE)
#undef GATHER_ROLE
  };

  constexpr T& operator[](Role role) { return this->*members[static_cast<int32_t>(role)]; }
  constexpr const T& operator[](Role role) const { return this->*members[static_cast<int32_t>(role)]; }
};

// A set of roles. Bit i is role i.
typedef uint32_t RoleSet;

constexpr RoleSet set_of(Role role) { return RoleSet{1} << static_cast<int32_t>(role); }

// The operands of almost every request, without and with rows.
constexpr RoleSet two_roles = set_of(Role::table) | set_of(Role::indices);
constexpr RoleSet three_roles = two_roles | set_of(Role::rows);

// Returns the first role of a set that is not empty.
constexpr Role first_of(RoleSet roles) { return static_cast<Role>(__builtin_ctz(roles)); }

// The roles of a set, in order, for a range-based loop.
struct EachRole {
  RoleSet roles;

  EachRole begin() const { return *this; }
  EachRole end() const { return {0}; }
  Role operator*() const { return first_of(roles); }
  void operator++() { roles &= roles - 1; }
  bool operator!=(const EachRole& other) const { return roles != other.roles; }
};

// Calls body(role) for each role of a set, in order, while it returns GTH_OK. Returns its last result. If the set is
// two_roles or three_roles, each role is a constant in a body that is declared with GATHER_UNROLLED. They then cost as much
// as if the body named them. A loop over EachRole takes up to 20 more instructions for each role.
#define GATHER_UNROLLED __attribute__((always_inline))
template <class Body>
GATHER_UNROLLED inline int32_t for_each_role(RoleSet roles, Body&& body) {
  const bool has_rows = roles == three_roles;
  if (__builtin_expect(has_rows || roles == two_roles, 1)) {
    int32_t status = body(Role::table);
    if (!status) status = body(Role::indices);
    return status || !has_rows ? status : body(Role::rows);
  }
  for (Role role : EachRole{roles}) {
    if (int32_t status = body(role)) return status;
  }
  return GTH_OK;
}

// Returns the values of the first three roles. The values of the other roles are zero.
template <class T>
constexpr ByRole<T> by_role(T table, T indices, T rows) {
  ByRole<T> values{};
  values.table = table;
  values.indices = indices;
  values.rows = rows;
  return values;
}

// The operands of the codec are no fields of gth_request.
template <class Struct>
inline constexpr bool has_codec_roles = true;
template <>
inline constexpr bool has_codec_roles<gth_request> = false;

// Returns the operands of a request by role.
inline ByRole<const gth_tensor_desc*> operands_of(const gth_request& request) {
  ByRole<const gth_tensor_desc*> operands{};
#define GATHER_ROLE(name, ...) operands.name = request.name;
  GATHER_ROLES(GATHER_ROLE)
#undef GATHER_ROLE
  return operands;
}

// Returns true if a request, the arguments of a plan or a ByRole has more operands than table, indices and rows.
template <class Struct>
bool has_more_operands(const Struct& given) {
  bool has_more = false;
#define GATHER_ROLE(name, ...) has_more |= !(set_of(Role::name) & three_roles) && given.name;
  GATHER_ROLES(GATHER_ROLE)
  if constexpr (has_codec_roles<Struct>) {
    GATHER_CODEC_ROLES(GATHER_ROLE)
  }
#undef GATHER_ROLE
  return has_more;
}

// Returns the roles whose value is not NULL.
template <class Struct>
GATHER_UNROLLED inline RoleSet set_roles(const Struct& given) {
  const bool has_three = given.table && given.indices && given.rows;
  if (__builtin_expect(has_three && !has_more_operands(given), 1)) return three_roles;
  RoleSet roles = 0;
#define GATHER_ROLE(name, ...) roles |= given.name ? set_of(Role::name) : 0;
  GATHER_ROLES(GATHER_ROLE)
  if constexpr (has_codec_roles<Struct>) {
    GATHER_CODEC_ROLES(GATHER_ROLE)
  }
#undef GATHER_ROLE
  return roles;
}

}  // namespace gather::core
