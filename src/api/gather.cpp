#include <new>

#include "api/execute.hpp"
#include "api/fence.hpp"
#include "api/shape_output.hpp"
#include "api/tensor.hpp"
#include "core/direct.hpp"
#include "core/plan.hpp"
#include "cpu/direct.hpp"
#include "cpu/run.hpp"
#include "cpu/strings.hpp"

// gather and gather_nd: one code path for all forms. A handle is its description; a description is checked and lowered
// to a plan; the plan runs.
namespace gather::api {
namespace {

using core::Op;
using core::Open;
using core::Plan;
using core::Request;

core::Pointers pointers_of(const gth_tensor_desc& params, const gth_tensor_desc& indices, const void* out) {
  return {static_cast<const char*>(params.data), static_cast<const char*>(indices.data),
          static_cast<char*>(const_cast<void*>(out))};
}

int32_t run_plan(const Context& context, const Plan& plan, const core::Pointers& pointers, Output output,
                 const Error& error) {
  if (int32_t status = core::check_run(plan, pointers, GTH_OPEN, error)) return status;
  return execute(context, plan, pointers, GTH_OPEN, output, error);
}

bool is_string(const gth_tensor_desc& desc) { return desc.dtype == GTH_DTYPE_STRING; }

int32_t fail_string_form(const Error& error) {
  return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_PARAMS, -1, -1, GTH_DTYPE_STRING, 0},
                    "params: strings are gathered by the allocating form only");
}

// A few rows of dense tensors take a short way, which does not exist for anything that is unusual or wrong.
bool gather_few(const Context& context, const Request& request) {
  core::Direct direct;
  return context.device == GTH_DEVICE_CPU && core::lower_direct(request, &direct) &&
         cpu::run_direct(direct, cpu::choose_copy(direct.row),
                         pointers_of(*request.params, *request.indices, request.out->data), GTH_OPEN);
}

int32_t gather_described(const Context& context, const Request& request, const Error& error) {
  if (is_string(*request.params)) return fail_string_form(error);
  Plan plan;
  if (int32_t status = core::lower(request, &plan, error)) return status;
  return run_plan(context, plan, pointers_of(*request.params, *request.indices, request.out->data), Output::callers,
                  error);
}

int32_t gather_desc(Op op, gth_context* handle, const gth_tensor_desc* params, const gth_tensor_desc* indices,
                    const gth_options* options, const gth_tensor_desc* out, const Error& error) {
  if (!params) return fail_null(GTH_OPERAND_PARAMS, error);
  if (!indices) return fail_null(GTH_OPERAND_INDICES, error);
  if (!out) return fail_null(GTH_OPERAND_OUT, error);
  Request request{op, Open::none, params, indices, out, options, 0, 0};
  const Context* context = nullptr;
  if (!find_context(handle, &context, Error(nullptr)) && gather_few(*context, request)) return GTH_OK;
  if (int32_t status = core::check_structs(request, error)) return status;
  if (int32_t status = find_context(handle, &context, error)) return status;
  request.device = context->device;
  request.device_id = context->device_id;
  return gather_described(*context, request, error);
}

// The handles of a call, looked up in the order of the contract.
struct Operands {
  const Context* context = nullptr;
  const Tensor* params;
  const Tensor* indices;
};

int32_t find_operands(gth_context* context, const gth_tensor* params, const gth_tensor* indices,
                      const gth_options* options, Operands* out, const Error& error) {
  if (!params) return fail_null(GTH_OPERAND_PARAMS, error);
  if (!indices) return fail_null(GTH_OPERAND_INDICES, error);
  if (int32_t status = core::check_options_struct(options, error)) return status;
  if (int32_t status = find_context(context, &out->context, error)) return status;
  if (int32_t status = find_tensor(params, GTH_OPERAND_PARAMS, &out->params, error)) return status;
  return find_tensor(indices, GTH_OPERAND_INDICES, &out->indices, error);
}

Request request_of(Op op, const Operands& operands, const gth_tensor_desc* out, const gth_options* options) {
  return {op,  Open::none, &operands.params->desc,   &operands.indices->desc,
          out, options,    operands.context->device, operands.context->device_id};
}

int32_t gather_into(Op op, gth_context* context, const gth_tensor* params, const gth_tensor* indices,
                    const gth_options* options, const gth_tensor* out, const Error& error) {
  if (!out) return fail_null(GTH_OPERAND_OUT, error);
  Operands operands{};
  if (int32_t status = find_operands(context, params, indices, options, &operands, error)) return status;
  const Tensor* target = nullptr;
  if (int32_t status = find_tensor(out, GTH_OPERAND_OUT, &target, error)) return status;
  const Request request = request_of(op, operands, &target->desc, options);
  return gather_few(*operands.context, request) ? GTH_OK : gather_described(*operands.context, request, error);
}

// The description of a plan's dense output, without data.
gth_tensor_desc output_desc(const Plan& plan, const Operands& operands) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  desc.dtype = operands.params->desc.dtype;
  desc.device = operands.context->device;
  desc.device_id = operands.context->device_id;
  desc.ndim = plan.ndim;
  desc.shape = plan.shape;
  return desc;
}

int64_t element_count(const Plan& plan) {
  int64_t count = 1;
  for (int32_t i = 0; i < plan.ndim; ++i) count *= plan.shape[i];
  return count;
}

int32_t gather_numbers(const Operands& operands, const Plan& plan, gth_tensor** out, const Error& error) {
  gth_tensor_desc desc = output_desc(plan, operands);
  desc.extent = element_count(plan) * plan.item;
  // Rows that bounds = skip leaves alone are zeros in memory of ours.
  const bool zeroed = plan.bounds == GTH_BOUNDS_SKIP;
  char* data;
  Storage* storage;
  int32_t status = allocate_storage(*operands.context, desc.extent, zeroed, &data, &storage, error);
  if (status) return status;
  desc.data = data;
  status = run_plan(*operands.context, plan, pointers_of(operands.params->desc, operands.indices->desc, data),
                    Output::ours, error);
  if (!status) status = make_tensor(desc, storage, out, error);
  if (status) storage->release();
  return status;
}

// The two buffers of gathered strings as one storage.
class StringsStorage final : public Storage {
 public:
  StringsStorage(Storage* offsets, Storage* bytes) : offsets_(offsets), bytes_(bytes) {}

 private:
  ~StringsStorage() override {
    offsets_->release();
    bytes_->release();
  }

  Storage* offsets_;
  Storage* bytes_;
};

int32_t finish_strings(const Operands& operands, const Plan& plan, const int64_t* const* firsts, const int64_t* offsets,
                       Storage* offsets_storage, gth_tensor** out, const Error& error) {
  const int64_t extent = offsets[element_count(plan)];
  char* bytes;
  Storage* bytes_storage;
  int32_t status = allocate_storage(*operands.context, extent, false, &bytes, &bytes_storage, error);
  if (status) return status;
  StringsStorage* storage = nullptr;
  status = cpu::gather_string_bytes(plan, operands.params->strings, firsts, offsets, bytes, error);
  if (!status) {
    storage = new (std::nothrow) StringsStorage(offsets_storage, bytes_storage);
    if (!storage) status = fail_memory(sizeof(StringsStorage), error);
  }
  if (!storage) {
    bytes_storage->release();
    return status;
  }
  offsets_storage->retain();  // the caller of this function lets go of its own reference
  status = make_string_tensor(output_desc(plan, operands), {offsets, bytes, extent}, operands.params->binary, storage,
                              out, error);
  if (status) storage->release();
  return status;
}

int32_t gather_strings_into(const Operands& operands, const Plan& plan, const int64_t** firsts, gth_tensor** out,
                            const Error& error) {
  char* offsets;
  Storage* storage;
  const int64_t bytes = (element_count(plan) + 1) * int64_t{sizeof(int64_t)};
  int32_t status = allocate_storage(*operands.context, bytes, true, &offsets, &storage, error);
  if (status) return status;
  int64_t* numbers = reinterpret_cast<int64_t*>(offsets);
  status =
      cpu::gather_string_offsets(plan, operands.params->strings, static_cast<const char*>(operands.indices->desc.data),
                                 executor_for(*operands.context, plan.threads), firsts, numbers, error);
  if (!status) status = finish_strings(operands, plan, firsts, numbers, storage, out, error);
  storage->release();
  return status;
}

int32_t gather_strings(const Operands& operands, const Plan& plan, gth_tensor** out, const Error& error) {
  const int64_t slices = plan.is_empty ? 0 : plan.slices.at(GTH_OPEN);
  const int64_t bytes = slices * int64_t{sizeof(const int64_t*)};
  void* firsts = core::allocate_zeroed(static_cast<size_t>(bytes));
  if (!firsts) return fail_memory(bytes, error);
  const int32_t status = gather_strings_into(operands, plan, static_cast<const int64_t**>(firsts), out, error);
  core::deallocate(firsts);
  return status;
}

int32_t gather_new(Op op, gth_context* context, const gth_tensor* params, const gth_tensor* indices,
                   const gth_options* options, gth_tensor** out, const Error& error) {
  Operands operands{};
  if (int32_t status = find_operands(context, params, indices, options, &operands, error)) return status;
  Plan plan;
  if (int32_t status = core::lower(request_of(op, operands, nullptr, options), &plan, error)) return status;
  return is_string(operands.params->desc) ? gather_strings(operands, plan, out, error)
                                          : gather_numbers(operands, plan, out, error);
}

int32_t gather_shape(Op op, const gth_tensor_desc* params, const gth_tensor_desc* indices, const gth_options* options,
                     int32_t capacity, int32_t* ndim, int64_t* shape, const Error& error) {
  if (!params) return fail_null(GTH_OPERAND_PARAMS, error);
  if (!indices) return fail_null(GTH_OPERAND_INDICES, error);
  if (!ndim) return error.fail({GTH_E_NULL}, "ndim is NULL");
  if (int32_t status = core::check_structs({op, Open::any, params, indices, nullptr, options, 0, 0}, error)) {
    return status;
  }
  core::Settings settings;
  core::resolve_options(options, op, &settings);
  int32_t status = core::check_known_dtypes(op, settings, params->dtype, indices->dtype, error);
  if (status) return status;
  if ((status = core::check_definition(op, settings, error))) return status;
  core::Geometry geometry;
  if ((status = core::resolve_geometry(op, settings, *params, *indices, Open::any, &geometry, error))) return status;
  if ((status = core::check_size(geometry.ndim, geometry.shape, 1, GTH_OPERAND_OUT, error))) return status;
  return write_shape(geometry.ndim, geometry.shape, capacity, ndim, shape, error);
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;
using gather::core::Op;

int32_t gth_gather(gth_context* context, const gth_tensor* params, const gth_tensor* indices,
                   const gth_options* options, gth_tensor** out, gth_error* err) {
  return fence(out, err, [&](const Error& error) {
    return gather_new(Op::gather, context, params, indices, options, out, error);
  });
}

int32_t gth_gather_into(gth_context* context, const gth_tensor* params, const gth_tensor* indices,
                        const gth_options* options, gth_tensor* out, gth_error* err) {
  return fence(
      err, [&](const Error& error) { return gather_into(Op::gather, context, params, indices, options, out, error); });
}

int32_t gth_gather_desc(gth_context* context, const gth_tensor_desc* params, const gth_tensor_desc* indices,
                        const gth_options* options, const gth_tensor_desc* out, gth_error* err) {
  return fence(
      err, [&](const Error& error) { return gather_desc(Op::gather, context, params, indices, options, out, error); });
}

int32_t gth_gather_shape(const gth_tensor_desc* params, const gth_tensor_desc* indices, const gth_options* options,
                         int32_t capacity, int32_t* ndim, int64_t* shape, gth_error* err) {
  return fence(err, [&](const Error& error) {
    return gather_shape(Op::gather, params, indices, options, capacity, ndim, shape, error);
  });
}

int32_t gth_gather_nd(gth_context* context, const gth_tensor* params, const gth_tensor* indices,
                      const gth_options* options, gth_tensor** out, gth_error* err) {
  return fence(out, err, [&](const Error& error) {
    return gather_new(Op::gather_nd, context, params, indices, options, out, error);
  });
}

int32_t gth_gather_nd_into(gth_context* context, const gth_tensor* params, const gth_tensor* indices,
                           const gth_options* options, gth_tensor* out, gth_error* err) {
  return fence(err, [&](const Error& error) {
    return gather_into(Op::gather_nd, context, params, indices, options, out, error);
  });
}

int32_t gth_gather_nd_desc(gth_context* context, const gth_tensor_desc* params, const gth_tensor_desc* indices,
                           const gth_options* options, const gth_tensor_desc* out, gth_error* err) {
  return fence(err, [&](const Error& error) {
    return gather_desc(Op::gather_nd, context, params, indices, options, out, error);
  });
}

int32_t gth_gather_nd_shape(const gth_tensor_desc* params, const gth_tensor_desc* indices, const gth_options* options,
                            int32_t capacity, int32_t* ndim, int64_t* shape, gth_error* err) {
  return fence(err, [&](const Error& error) {
    return gather_shape(Op::gather_nd, params, indices, options, capacity, ndim, shape, error);
  });
}
