#pragma once

#include <cstddef>
#include <cstdint>

#include "gather/gather.h"

// Calls of the library with operands of either kind, and with requests built from arguments.
namespace calls {

// An operand as an argument: a description, a tensor handle, or NULL.
class Operand {
 public:
  Operand(std::nullptr_t) {}
  Operand(const gth_tensor_desc* desc) : desc_(desc) {}
  Operand(const gth_tensor* tensor) : handle_ GTH_TENSOR_DESC_HANDLE(tensor) {}

  const gth_tensor_desc* get() const { return handle_.tensor ? &handle_ : desc_; }

 private:
  gth_tensor_desc handle_ = GTH_TENSOR_DESC_INIT;
  const gth_tensor_desc* desc_ = nullptr;
};

// One operation by number and by name. A shape query with ndim NULL passes NULL for rows.
struct Operation {
  int32_t number;
  decltype(&gth_gather) named;

  int32_t run(gth_context* context, const Operand& table, const Operand& indices, const Operand& rows,
              const gth_options* options, gth_error* err) const {
    return gth_run(context, number, table.get(), indices.get(), rows.get(), options, err);
  }

  int32_t make(gth_context* context, const Operand& table, const Operand& indices, const Operand& rows,
               const gth_options* options, gth_tensor** out, gth_error* err) const {
    const gth_request request = GTH_REQUEST(number, table.get(), indices.get(), rows.get(), options);
    return gth_make(context, &request, out, err);
  }

  int32_t plan(const Operand& table, const Operand& indices, const Operand& rows, const gth_options* options,
               gth_plan** out, gth_error* err) const {
    const gth_request request = GTH_REQUEST(number, table.get(), indices.get(), rows.get(), options);
    return gth_plan_create(&request, out, err);
  }

  int32_t infer(const Operand& table, const Operand& indices, const gth_options* options, int32_t capacity,
                int32_t* ndim, int64_t* shape, gth_error* err) const {
    const gth_request request = GTH_REQUEST(number, table.get(), indices.get(), nullptr, options);
    if (!ndim) return gth_infer(&request, nullptr, capacity, shape, err);
    gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
    rows.ndim = *ndim;
    const int32_t status = gth_infer(&request, &rows, capacity, shape, err);
    *ndim = rows.ndim;
    return status;
  }
};

constexpr Operation gather{GTH_OP_GATHER, gth_gather};
constexpr Operation gather_nd{GTH_OP_GATHER_ND, gth_gather_nd};
constexpr Operation gather_elements{GTH_OP_GATHER_ELEMENTS, gth_gather_elements};
constexpr Operation scatter{GTH_OP_SCATTER, gth_scatter};
constexpr Operation scatter_nd{GTH_OP_SCATTER_ND, gth_scatter_nd};
constexpr Operation scatter_elements{GTH_OP_SCATTER_ELEMENTS, gth_scatter_elements};
constexpr Operation gather_gradient{GTH_OP_GATHER_GRADIENT, gth_gather_gradient};
constexpr Operation gather_nd_gradient{GTH_OP_GATHER_ND_GRADIENT, gth_gather_nd_gradient};
constexpr Operation gather_elements_gradient{GTH_OP_GATHER_ELEMENTS_GRADIENT, gth_gather_elements_gradient};
constexpr Operation every[] = {gather,          gather_nd,          gather_elements,
                               scatter,         scatter_nd,         scatter_elements,
                               gather_gradient, gather_nd_gradient, gather_elements_gradient};
static_assert(sizeof every / sizeof every[0] == GTH_OP_GATHER_BAGS - 1, "each operation of three operands is tested");

inline gth_plan_args args(int64_t n, const void* table, const void* indices, const void* rows) {
  gth_plan_args result = GTH_PLAN_ARGS_INIT;
  result.n = n;
  result.table = table;
  result.indices = indices;
  result.rows = rows;
  return result;
}

inline gth_plan_args args(int64_t n, const void* table, const void* indices, const void* rows, int64_t table_extent,
                          int64_t indices_extent, int64_t rows_extent) {
  gth_plan_args result = args(n, table, indices, rows);
  result.flags = GTH_ARGS_EXTENTS;
  result.table_extent = table_extent;
  result.indices_extent = indices_extent;
  result.rows_extent = rows_extent;
  return result;
}

inline int32_t run_args(gth_context* context, const gth_plan* plan, const gth_plan_args& args, gth_error* err) {
  return gth_plan_run_args(context, plan, &args, err);
}

inline int32_t check(gth_context* context, const gth_plan* plan, int64_t n, const void* indices, gth_error* err) {
  const gth_plan_args given = args(n, nullptr, indices, nullptr);
  return gth_plan_check(context, plan, &given, err);
}

inline int32_t plan_infer(const gth_plan* plan, int64_t n, int32_t capacity, int32_t* ndim, int64_t* shape,
                          gth_error* err) {
  if (!ndim) return gth_plan_infer(plan, n, nullptr, capacity, shape, err);
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  rows.ndim = *ndim;
  const int32_t status = gth_plan_infer(plan, n, &rows, capacity, shape, err);
  *ndim = rows.ndim;
  return status;
}

inline int32_t copy(gth_context* context, const Operand& source, const Operand& destination, gth_error* err) {
  return gth_copy(context, source.get(), destination.get(), err);
}

}  // namespace calls
