#include "api/infer.hpp"

#include <algorithm>
#include <cinttypes>

#include "api/operands.hpp"
#include "core/base/structs.hpp"
#include "core/meaning/bag_meaning.hpp"
#include "core/meaning/shape.hpp"

namespace gather::api {
namespace {

int32_t infer(const gth_request* given, gth_tensor_desc* rows, int32_t capacity, int64_t* shape, const Error& error) {
  gth_request read;
  if (int32_t status = read_request(given, &read, &given, error)) return status;
  if (int32_t status = check_required(*given, Results::ignored, error)) return status;
  if (int32_t status = check_inferred(rows, error)) return status;
  Found found;
  int32_t status = find_operands(nullptr, *given, core::Open::any, Results::ignored, &found, error);
  if (status) return status;
  const core::Request& request = found.request;
  core::Geometry geometry;
  const bool has_bags = request.operation->form == core::Form::bags;
  status =
      has_bags ? core::query_bags_geometry(request, &geometry, error) : core::query_geometry(request, &geometry, error);
  if (status) return status;
  return write_inferred(geometry.operation->name_of(core::Role::rows), core::rows_dtype_of(request), geometry.ndim,
                        geometry.shape, rows, capacity, shape, error);
}

}  // namespace

int32_t check_inferred(const gth_tensor_desc* rows, const Error& error) {
  if (!rows) return error.fail({GTH_E_NULL}, "rows is NULL");
  return core::check_struct_size(rows, GTH_OPERAND_NONE, error);
}

int32_t write_inferred(int32_t operand, int32_t dtype, int32_t ndim, const int64_t* extents, gth_tensor_desc* rows,
                       int32_t capacity, int64_t* shape, const Error& error) {
  if (ndim > capacity) {
    rows->ndim = ndim;
    return error.fail({GTH_E_SIZE, operand, -1, -1, capacity, ndim},
                      "%s: rank is %" PRId32 ", the shape has room for %" PRId32, core::operand_name(operand), ndim,
                      capacity);
  }
  if (ndim > 0 && !shape) return error.fail({GTH_E_NULL}, "shape is NULL");
  std::copy_n(extents, ndim, shape);
  const gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(dtype, ndim, shape, nullptr);
  core::write_struct(desc, rows);
  return GTH_OK;
}

}  // namespace gather::api

using namespace gather::api;

int32_t gth_infer(const gth_request* request, gth_tensor_desc* rows, int32_t capacity, int64_t* shape, gth_error* err) {
  return api_boundary(err, [&](const Error& error) { return infer(request, rows, capacity, shape, error); });
}
