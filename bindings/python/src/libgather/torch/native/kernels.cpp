#include "kernels.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/Formatting.h>

#include <sstream>

namespace libgather {

namespace {

bool is_half(const at::Tensor &tensor) {
  return tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
}

[[noreturn]] void refuse_fill(const at::Scalar &value, const at::Tensor &params) {
  std::ostringstream message;
  message << "options: fill_value " << value << " is no " << gth_dtype_name(dtype_of(params.scalar_type()));
  raise(GTH_E_DTYPE, GTH_OPERAND_OPTIONS, message.str());
}

at::Tensor new_rows(const gth_request &request, at::ScalarType type) {
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  gth_error error = no_error();
  int64_t shape[GTH_MAX_NDIM];
  require(gth_infer(&request, &rows, GTH_MAX_NDIM, shape, &error), error);
  return at::detail::empty_cpu(at::IntArrayRef(shape, static_cast<size_t>(rows.ndim)), type);
}

}  // namespace

at::Tensor gathered(int32_t op, const at::Tensor &params, const at::Tensor &indices, const Attributes &attributes,
                    const at::Scalar &fill_value) {
  const Operand table(params), index(indices);
  gth_options options = options_of(op, attributes);
  const bool is_stored = options.fill != GTH_FILL_VALUE || store(fill_value, params.scalar_type(), options.fill_value);
  if (!is_stored) {  // an unused value need not fit
    options.bounds = GTH_BOUNDS_ERROR;
    options.fill = 0;
  }
  const at::Tensor out = new_rows(GTH_REQUEST(op, &table.desc, &index.desc, nullptr, &options), params.scalar_type());
  const Operand rows(out);
  gth_error error = no_error();
  const int32_t status = gth_run(nullptr, op, &table.desc, &index.desc, &rows.desc, &options, &error);
  if (C10_UNLIKELY(status == GTH_E_INDEX && !is_stored)) {
    refuse_fill(fill_value, params);
  }
  require(status, error);
  return out;
}

at::Tensor scattered(int32_t op, const at::Tensor &target, const at::Tensor &indices, const at::Tensor &updates,
                     const Attributes &attributes) {
  at::Tensor out = target.clone(at::MemoryFormat::Contiguous);
  const Operand table(out), index(indices), rows(updates);
  gth_options options = options_of(op, attributes);
  const bool is_rounded = options.reduction == GTH_REDUCTION_ADD || options.reduction == GTH_REDUCTION_MUL;
  if (is_half(target) && is_rounded && options.accumulate == 0 && options.profile == 0) {
    options.accumulate = GTH_ACCUMULATE_FLOAT32;
  }
  gth_error error = no_error();
  require(gth_run(nullptr, op, &table.desc, &index.desc, &rows.desc, &options, &error), error);
  return out;
}

at::Tensor summed(int32_t op, const at::Tensor &gradient, const at::Tensor &indices, at::IntArrayRef shape,
                  const Attributes &attributes) {
  at::Tensor out = at::detail::empty_cpu(shape, gradient.scalar_type());
  const Operand table(out), index(indices), rows(gradient);
  gth_options options = options_of(op, attributes);
  options.fill = 0;
  if (is_half(gradient)) {
    options.accumulate = GTH_ACCUMULATE_FLOAT32;
  }
  gth_error error = no_error();
  require(gth_run(nullptr, op, &table.desc, &index.desc, &rows.desc, &options, &error), error);
  return out;
}

}  // namespace libgather
