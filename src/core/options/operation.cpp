#include "core/options/operation.hpp"

#include <iterator>
#include <string_view>

namespace gather::core {
namespace {

// The operands of each kind of operation.
struct Listed {
  std::string_view kind;
  Role role;
  Operand operand;
};

constexpr Listed listed[] = {
#define GATHER_OPERAND(kind, role, name, use, need, dtype, shape, access) \
  {#kind, Role::role, {GTH_OPERAND_##name, Use::use, Need::need, DtypeRule::dtype, ShapeRule::shape, Access::access}},
    GATHER_OPERANDS(GATHER_OPERAND)
#undef GATHER_OPERAND
};

constexpr Operands operands_of(std::string_view kind) {
#define GATHER_ROLE(role, name) \
  {GTH_OPERAND_##name, Use::absent, Need::optional, DtypeRule::data, ShapeRule::own, Access::rows},
  Operands operands{{GATHER_ROLES(GATHER_ROLE) GATHER_CODEC_ROLES(GATHER_ROLE)}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
#undef GATHER_ROLE
  for (const Listed& each : listed) {
    if (each.kind != kind) continue;
    const Operand& operand = operands[each.role] = each.operand;
    const auto add = [role = set_of(each.role)](RoleSet& roles, bool is_in) { roles |= is_in ? role : 0; };
    add(operands.present, true);
    add(operands.required, operand.need == Need::required);
    add(operands.written, operand.use != Use::read);
    add(operands.zeroed, operand.use == Use::zeroed);
    add(operands.results, operand.shape == ShapeRule::result);
    add(operands.index, operand.dtype == DtypeRule::index);
    add(operands.as_table, operand.dtype == DtypeRule::as_table);
    add(operands.of_rows, operand.access == Access::rows);
    add(operands.of_tuples, operand.access == Access::tuples);
    add(operands.of_codec, operand.dtype == DtypeRule::codec);
  }
  return operands;
}

constexpr Direction direction_of(const Operands& operands) {
  return operands.written & set_of(Role::table) ? Direction::scatter : Direction::gather;
}

constexpr bool one = false, last = true;  // Operation::has_components
constexpr int32_t none = GTH_REDUCTION_NONE, mul = GTH_REDUCTION_MUL, all = GTH_REDUCTION_MIN;

constexpr Operation operations[] = {
#define GATHER_OPERATION(name, number, rules, kind, form, tuples, ...) \
  {#name,      GTH_OP_##number, GTH_OP_##rules, operands_of(#kind),    \
   Form::form, tuples,          {__VA_ARGS__},  direction_of(operands_of(#kind))},
    GATHER_OPERATIONS(GATHER_OPERATION)
#undef GATHER_OPERATION
};

constexpr bool are_in_order() {
  for (size_t i = 0; i < std::size(operations); ++i) {
    if (operations[i].number != static_cast<int32_t>(i) + 1 || operations[i].operands.table.use == Use::absent)
      return false;
  }
  return true;
}
static_assert(std::size(operations) == GTH_OP_LAST && are_in_order(), "each operation of the header needs an entry");

}  // namespace

const Operation& operation_of(int32_t op) { return operations[op - 1]; }

const Definition* find_definition(const Operation& operation, int32_t opset) {
  for (const Definition& definition : operation.definitions) {
    if (definition.opset != 0 && (opset == 0 || definition.opset <= opset)) return &definition;
  }
  return nullptr;
}

int32_t first_opset(const Operation& operation) {
  int32_t first = 0;
  for (const Definition& definition : operation.definitions) {
    if (definition.opset != 0) first = definition.opset;
  }
  return first;
}

}  // namespace gather::core
