#include "execution/computation.hpp"

#include <cinttypes>

#include "core/base/moved.hpp"
#include "core/base/noinline.hpp"
#include "core/meaning/request.hpp"
#include "core/plan/placement.hpp"
#include "core/types/dtype.hpp"
#include "execution/copy.hpp"

namespace gather::execution {
namespace {

// Checks the strides of an operand, and finds the memory that its elements use.
int32_t find_reach(Used* used, const Error& error) {
  const gth_tensor_desc& desc = *used->desc;
  core::Layout layout;
  const int64_t bytes = gth_dtype_size(desc.dtype);
  int32_t status = core::resolve_layout(desc, bytes, used->name, &layout, error);
  if (!status && used->is_written) status = core::check_disjoint(desc, bytes, used->name, &layout, error);
  used->reach = layout.reach;
  return status;
}

int32_t check_overlap(const Used& written, const Used& other, const Error& error) {
  if (&written == &other || written.reach.empty || other.reach.empty) return GTH_OK;
  const core::Span span = written.reach.at(GTH_OPEN), other_span = other.reach.at(GTH_OPEN);
  if (!core::overlap(written.desc->data, span, other.desc->data, other_span)) return GTH_OK;
  return error.fail({GTH_E_ALIAS, written.name, -1, -1, other.name, 0}, "%s: shares memory with %s",
                    core::operand_name(written.name), core::operand_name(other.name));
}

}  // namespace

int32_t allocate(int64_t count, int64_t size, Bytes* out, const Error& error) {
  int64_t bytes;
  return core::multiply(count, size, &bytes) ? allocate(bytes, out, error) : fail_memory(INT64_MAX, error);
}

int32_t check_form(const gth_tensor_desc& desc, int32_t operand, int32_t dtype, int32_t ndim, const int64_t* shape,
                   const Error& error) {
  if (desc.dtype != dtype) {
    return error.fail({GTH_E_DTYPE, operand, -1, -1, desc.dtype, dtype}, "%s: dtype is %s, needed is %s",
                      core::operand_name(operand), core::dtype_name(desc.dtype), core::dtype_name(dtype));
  }
  if (int32_t status = core::check_rank(desc, operand, error)) return status;
  if (desc.ndim != ndim) {
    return error.fail({GTH_E_RANK, operand, -1, -1, desc.ndim, ndim}, "%s: rank is %" PRId32 ", needed is %" PRId32,
                      core::operand_name(operand), desc.ndim, ndim);
  }
  if (int32_t status = core::check_extents(desc, operand, core::Open::none, error)) return status;
  for (int32_t i = 0; i < ndim; ++i) {
    if (shape[i] == GTH_OPEN || desc.shape[i] == shape[i]) continue;
    return core::fail_extent(GTH_E_SHAPE, operand, i, desc.shape[i], shape[i], error);
  }
  return core::check_size(ndim, desc.shape, gth_dtype_size(dtype), operand, error);
}

int32_t check_memory(const Context& context, Used* used, int32_t count, const Error& error) {
  const auto for_each = [&](auto&& check) {
    int32_t status = GTH_OK;
    for (int32_t i = 0; i < count && !status; ++i) status = used[i].desc ? check(used[i]) : GTH_OK;
    return status;
  };
  int32_t status = for_each([&](Used& each) { return find_reach(&each, error); });
  if (status) return status;
  status = for_each([&](const Used& each) {
    return core::check_operand_device(*each.desc, each.name, context.device, context.device_id, error);
  });
  if (status) return status;
  status = for_each([&](const Used& each) {
    if (!each.is_written || !(each.desc->flags & GTH_TENSOR_READONLY)) return GTH_OK;
    return error.fail({GTH_E_READONLY, each.name}, "%s: the memory is read-only", core::operand_name(each.name));
  });
  if (status) return status;
  status = for_each([&](const Used& each) {
    if (each.reach.empty || each.desc->data) return GTH_OK;
    return error.fail({GTH_E_NULL, each.name}, "%s: data is NULL", core::operand_name(each.name));
  });
  if (status) return status;
  return for_each([&](const Used& each) {
    return each.is_written ? for_each([&](const Used& other) { return check_overlap(each, other, error); }) : GTH_OK;
  });
}

GATHER_NOINLINE int32_t copy_elements(const Context& context, const gth_tensor_desc& source,
                                      const gth_tensor_desc& destination, const Error& error) {
  return run_copy(context, source, destination, error);
}

int32_t find_dense(const Context& context, const gth_tensor_desc& desc, bool copies, Bytes* room, const char** data,
                   const Error& error) {
  const int64_t bytes = core::count_bytes(desc);
  *data = nullptr;
  if (bytes == 0) return GTH_OK;
  if (!copies && core::is_dense(desc)) {
    *data = core::moved(static_cast<const char*>(desc.data), desc.offset);
    return GTH_OK;
  }
  if (int32_t status = allocate(bytes, room, error)) return status;
  *data = room->data();
  return copy_elements(context, desc, GTH_TENSOR_DESC_DENSE(desc.dtype, desc.ndim, desc.shape, room->data()), error);
}

}  // namespace gather::execution
