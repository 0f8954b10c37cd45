#include "core/operation.hpp"

#include <iterator>

#include "core/attributes.hpp"

namespace gather::core {
namespace {

// Gather 1 says "within bounds"; negative indices came with 11. GatherND 11 had no batch_dims yet.
constexpr Operation operations[] = {
    {"gather",
     Form::slices,
     true,
     false,
     true,
     resolve_gather_attributes,
     3,
     {{13, false, true, true}, {11, false, true, false}, {1, false, false, false}}},
    {"gather_nd",
     Form::slices,
     false,
     true,
     true,
     resolve_gather_nd_attributes,
     3,
     {{13, true, true, true}, {12, true, true, false}, {11, false, true, false}}},
    {"gather_elements",
     Form::paired,
     true,
     false,
     false,
     resolve_elements_attributes,
     2,
     {{13, false, true, true}, {11, false, true, false}, {}}},
};
static_assert(std::size(operations) == op_count, "an operation without a row");

}  // namespace

const Operation& operation_of(Op op) { return operations[static_cast<int32_t>(op)]; }

const Definition* find_definition(const Operation& operation, int32_t opset) {
  for (int32_t i = 0; i < operation.definition_count; ++i) {
    const Definition& definition = operation.definitions[i];
    if (opset == 0 || definition.opset <= opset) return &definition;
  }
  return nullptr;
}

}  // namespace gather::core
