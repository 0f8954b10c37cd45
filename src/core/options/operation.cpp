#include "core/options/operation.hpp"

#include <iterator>

namespace gather::core {
namespace {

constexpr int32_t none = GTH_REDUCTION_NONE, mul = GTH_REDUCTION_MUL, all = GTH_REDUCTION_MIN;
constexpr Direction reads = Direction::gather, writes = Direction::scatter;
constexpr Form slices = Form::slices, paired = Form::paired;

// Columns of a definition: opset, batch_dims, negative indices, bfloat16, highest reduction (0: not a scatter). Gather
// 1 allows no negative indices. GatherND 11 has no batch_dims. ONNX has no scatter along an axis, so its definitions
// are those of Gather. Reductions exist since opset 16, max and min since 18.
//
// clang-format off
// name                       rules                    direction form   has components
constexpr Operation operations[] = {
    {"gather",                   GTH_OP_GATHER,           reads,  slices, false,
     {{13, false, true, true, 0}, {11, false, true, false, 0}, {1, false, false, false, 0}}},
    {"gather_nd",                GTH_OP_GATHER_ND,        reads,  slices, true,
     {{13, true, true, true, 0}, {12, true, true, false, 0}, {11, false, true, false, 0}}},
    {"gather_elements",          GTH_OP_GATHER_ELEMENTS,  reads,  paired, false,
     {{13, false, true, true, 0}, {11, false, true, false, 0}}},
    {"scatter",                  GTH_OP_SCATTER,          writes, slices, false,
     {{13, false, true, true, all}, {11, false, true, false, all}, {1, false, false, false, all}}},
    {"scatter_nd",               GTH_OP_SCATTER_ND,       writes, slices, true,
     {{18, false, true, true, all}, {16, false, true, true, mul}, {13, false, true, true, none}, {11, false, true, false, none}}},
    {"scatter_elements",         GTH_OP_SCATTER_ELEMENTS, writes, paired, false,
     {{18, false, true, true, all}, {16, false, true, true, mul}, {13, false, true, true, none}, {11, false, true, false, none}}},
    {"gather_gradient",          GTH_OP_GATHER,           writes, slices, false,
     {{13, false, true, true, all}, {11, false, true, false, all}, {1, false, false, false, all}}},
    {"gather_nd_gradient",       GTH_OP_GATHER_ND,        writes, slices, true,
     {{13, true, true, true, all}, {12, true, true, false, all}, {11, false, true, false, all}}},
    {"gather_elements_gradient", GTH_OP_GATHER_ELEMENTS,  writes, paired, false,
     {{13, false, true, true, all}, {11, false, true, false, all}}},
};
// clang-format on
static_assert(std::size(operations) == GTH_OP_LAST, "each operation of the header needs an entry");

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
