#include "core/operation.hpp"

#include <iterator>

#include "core/attributes.hpp"

namespace gather::core {
namespace {

constexpr int32_t none = GTH_REDUCTION_NONE, mul = GTH_REDUCTION_MUL, all = GTH_REDUCTION_MIN;

// Gather 1 says "within bounds"; negative indices came with 11. GatherND 11 had no batch_dims yet. ONNX has no scatter
// along an axis: its row says what Gather's does. Reductions came with 16, max and min with 18.
constexpr Operation operations[] = {
    {"gather",
     GTH_OP_GATHER,
     Direction::gather,
     Form::slices,
     true,
     false,
     true,
     resolve_gather_attributes,
     3,
     {{13, false, true, true, 0}, {11, false, true, false, 0}, {1, false, false, false, 0}}},
    {"gather_nd",
     GTH_OP_GATHER_ND,
     Direction::gather,
     Form::slices,
     false,
     true,
     true,
     resolve_gather_nd_attributes,
     3,
     {{13, true, true, true, 0}, {12, true, true, false, 0}, {11, false, true, false, 0}}},
    {"gather_elements",
     GTH_OP_GATHER_ELEMENTS,
     Direction::gather,
     Form::paired,
     true,
     false,
     false,
     resolve_elements_attributes,
     2,
     {{13, false, true, true, 0}, {11, false, true, false, 0}}},
    {"scatter",
     GTH_OP_SCATTER,
     Direction::scatter,
     Form::slices,
     true,
     false,
     true,
     resolve_gather_attributes,
     3,
     {{13, false, true, true, all}, {11, false, true, false, all}, {1, false, false, false, all}}},
    {"scatter_nd",
     GTH_OP_SCATTER_ND,
     Direction::scatter,
     Form::slices,
     false,
     true,
     true,
     resolve_gather_nd_attributes,
     4,
     {{18, false, true, true, all},
      {16, false, true, true, mul},
      {13, false, true, true, none},
      {11, false, true, false, none}}},
    {"scatter_elements",
     GTH_OP_SCATTER_ELEMENTS,
     Direction::scatter,
     Form::paired,
     true,
     false,
     false,
     resolve_elements_attributes,
     4,
     {{18, false, true, true, all},
      {16, false, true, true, mul},
      {13, false, true, true, none},
      {11, false, true, false, none}}},
    {"gather_gradient",
     GTH_OP_GATHER,
     Direction::scatter,
     Form::slices,
     true,
     false,
     true,
     resolve_gather_attributes,
     3,
     {{13, false, true, true, all}, {11, false, true, false, all}, {1, false, false, false, all}}},
    {"gather_nd_gradient",
     GTH_OP_GATHER_ND,
     Direction::scatter,
     Form::slices,
     false,
     true,
     true,
     resolve_gather_nd_attributes,
     3,
     {{13, true, true, true, all}, {12, true, true, false, all}, {11, false, true, false, all}}},
    {"gather_elements_gradient",
     GTH_OP_GATHER_ELEMENTS,
     Direction::scatter,
     Form::paired,
     true,
     false,
     false,
     resolve_elements_attributes,
     2,
     {{13, false, true, true, all}, {11, false, true, false, all}}},
};
static_assert(std::size(operations) == GTH_OP_LAST, "each operation of the header needs an entry");

}  // namespace

const Operation& operation_of(int32_t op) { return operations[op - 1]; }

const Definition* find_definition(const Operation& operation, int32_t opset) {
  for (int32_t i = 0; i < operation.definition_count; ++i) {
    const Definition& definition = operation.definitions[i];
    if (opset == 0 || definition.opset <= opset) return &definition;
  }
  return nullptr;
}

}  // namespace gather::core
