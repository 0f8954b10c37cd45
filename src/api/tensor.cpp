#include "api/tensor.hpp"

#include <algorithm>
#include <cinttypes>
#include <new>

#include "api/context.hpp"
#include "api/handles.hpp"
#include "api/packed_tensor.hpp"
#include "core/base/structs.hpp"
#include "core/meaning/request.hpp"
#include "core/meaning/shape.hpp"
#include "core/plan/layout.hpp"
#include "core/types/device.hpp"
#include "core/types/dtype.hpp"

namespace gather::api {
namespace {

using core::Open;

int32_t fail_dtype(int32_t dtype, const Error& error) {
  return error.fail({GTH_E_DTYPE, GTH_OPERAND_TENSOR, -1, -1, dtype, 0}, "tensor: %" PRId32 " is no dtype", dtype);
}

int32_t fail_strings(const Error& error) {
  return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR, -1, -1, GTH_DTYPE_STRING, 0},
                    "tensor: strings have no memory of fixed size");
}

constexpr int32_t device_of_data = -1;  // As a device_id, it means that CUDA determines the device from the pointer.

// Checks that the build and the machine have the device. Every device can access managed memory.
int32_t check_device(const gth_tensor_desc& desc, const Error& error) {
  if (core::is_host(desc.device)) return GTH_OK;
  if (!core::is_known_device(desc.device) || !cuda::has_device(0)) {
    return core::fail_device(GTH_OPERAND_TENSOR, desc.device, GTH_DEVICE_CPU, error);
  }
  if (desc.device_id == device_of_data && desc.device == GTH_DEVICE_CUDA) return GTH_OK;
  if (desc.device == GTH_DEVICE_CUDA_MANAGED || cuda::has_device(desc.device_id)) return GTH_OK;
  return error.fail({GTH_E_DEVICE, GTH_OPERAND_TENSOR, -1, -1, desc.device_id, 0},
                    "tensor: there is no CUDA device %" PRId32, desc.device_id);
}

// The fast path of check_tensor. Returns true for a valid dense tensor on the host. Other tensors take the general
// path.
bool check_dense_tensor(const gth_tensor_desc& desc, MemoryLocation* memory) {
  if (!core::is_exact(&desc, GTH_TENSOR_READONLY)) return false;
  if (!desc.data) return false;
  const core::DtypeInfo* info = core::find_dtype(desc.dtype);
  if (!info) return false;
  const int64_t bytes = core::dense_product(desc.shape, 0, desc.ndim, info->bytes);
  int64_t end;
  if (bytes == 0 || !core::find_dense_end(desc, bytes, &end)) return false;
  *memory = {GTH_DEVICE_CPU, desc.device_id, desc.extent ? desc.extent : end};
  return true;
}

// Copies shape and strides into the tensor. Without strides, it computes dense ones. The strides of the description
// become NULL if they are dense, because fast paths require this. Returns false if there is no memory.
bool copy_dims(const gth_tensor_desc& desc, int64_t bytes, Tensor* tensor) {
  tensor->more_dims = nullptr;
  int64_t* dims = tensor->inline_dims;
  if (desc.ndim > Tensor::inline_ndim) {
    const size_t size = sizeof(int64_t) * 2 * static_cast<size_t>(desc.ndim);
    tensor->more_dims = dims = static_cast<int64_t*>(core::allocate(size));
    if (!dims) return false;
  }
  int64_t* strides = dims + desc.ndim;
  int64_t dense = bytes;
  bool is_dense = true;
  for (int32_t i = desc.ndim; i-- > 0;) {
    dims[i] = desc.shape[i];
    strides[i] = desc.strides ? desc.strides[i] : dense;
    is_dense &= strides[i] == dense;
    dense *= std::max<int64_t>(desc.shape[i], 1);
  }
  tensor->desc.shape = dims;
  tensor->desc.strides = is_dense ? nullptr : strides;
  tensor->strides = strides;
  return true;
}

// `strings` is nullptr if the elements are numbers.
int32_t publish_tensor(const gth_tensor_desc& desc, const MemoryLocation& memory, int64_t bytes, Storage* storage,
                       const core::Strings* strings, bool binary, gth_tensor** out, const Error& error) {
  uintptr_t token;
  Content* content = acquire_slot(HandleKind::tensor, &token);
  if (!content) return fail_memory(sizeof(Content), error);
  Tensor& tensor = content->as<Tensor>();
  tensor.desc = desc;
  tensor.desc.device = memory.device;
  tensor.desc.device_id = memory.device_id;
  tensor.desc.extent = memory.extent;
  tensor.storage = storage;
  if (strings) tensor.strings = *strings;
  tensor.binary = binary;
  if (!copy_dims(desc, bytes, &tensor)) {
    free_unpublished_slot(token);
    return fail_memory(int64_t{sizeof(int64_t)} * 2 * desc.ndim, error);
  }
  tensor.desc.size = sizeof(gth_tensor_desc);
  publish_slot(token);
  *out = handle_of<gth_tensor>(token);
  return GTH_OK;
}

int32_t adopt(gth_context* context, const gth_tensor_desc* desc, gth_deleter_fn deleter, void* user, gth_tensor** out,
              const Error& error) {
  if (!desc) return fail_null(GTH_OPERAND_TENSOR, error);
  if (!deleter) return error.fail({GTH_E_NULL}, "deleter is NULL");
  gth_tensor_desc room;
  if (int32_t status = core::read_desc(desc, &room, &desc, GTH_OPERAND_TENSOR, error)) return status;
  const Context* found = nullptr;
  if (int32_t status = find_context(context, &found, error)) return status;
  MemoryLocation memory;
  if (int32_t status = check_tensor(*desc, &memory, error)) return status;
  AdoptedStorage* storage = adopt_memory(*found, memory.device, deleter, user);
  if (!storage) return fail_memory(sizeof(AdoptedStorage), error);
  const int32_t status = make_tensor(*desc, memory, storage, out, error);
  if (status) {
    storage->cancel_release();
    storage->release();
  }
  return status;
}

int32_t alloc(gth_context* handle, int32_t dtype, int32_t ndim, const int64_t* shape, gth_tensor** out,
              const Error& error) {
  const Context* context = nullptr;
  if (int32_t status = find_context(handle, &context, error)) return status;
  if (dtype == GTH_DTYPE_STRING) return fail_strings(error);
  const core::DtypeInfo* info = core::find_dtype(dtype);
  if (!info) return fail_dtype(dtype, error);
  int64_t count;
  if (int32_t status = check_dense(ndim, shape, info->bytes, &count, error)) return status;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  desc.dtype = dtype;
  desc.device = context->device;
  desc.device_id = context->device_id;
  desc.ndim = ndim;
  desc.shape = shape;
  desc.extent = count * info->bytes;
  char* data;
  Storage* storage;
  if (int32_t status = allocate_storage(*context, desc.extent, true, &data, &storage, error)) return status;
  desc.data = data;
  const int32_t status = make_tensor(desc, storage, out, error);
  if (status) storage->release();
  return status;
}

int32_t describe(const gth_tensor* handle, gth_tensor_desc* desc, const Error& error) {
  if (!handle) return fail_null(GTH_OPERAND_TENSOR, error);
  if (!desc) return error.fail({GTH_E_NULL}, "desc is NULL");
  if (int32_t status = core::check_struct_size(desc, GTH_OPERAND_NONE, error)) return status;
  const Tensor* tensor = nullptr;
  if (int32_t status = find_tensor(handle, GTH_OPERAND_TENSOR, &tensor, error)) return status;
  if (int32_t status = check_in_memory(tensor->desc, GTH_OPERAND_TENSOR, error)) return status;
  gth_tensor_desc described = tensor->desc;
  described.strides = tensor->strides;
  if (described.dtype == GTH_DTYPE_STRING) {
    described.strides = nullptr;
    described.extent = tensor->strings.extent;
  }
  core::write_struct(described, desc);
  return GTH_OK;
}

}  // namespace

int32_t find_tensor(const gth_tensor* handle, int32_t operand, const Tensor** out, const Error& error) {
  if (!handle) return fail_null(operand, error);
  const Content* content = find_slot(token_of(handle), HandleKind::tensor);
  if (!content) return fail_handle(operand, error);
  *out = &content->as<Tensor>();
  return GTH_OK;
}

int32_t check_in_memory(const gth_tensor_desc& desc, int32_t operand, const Error& error) {
  if (!(desc.flags & core::tensor_in_files)) return GTH_OK;
  return error.fail({GTH_E_UNSUPPORTED, operand}, "%s: is in files, and can only be the params of a gather",
                    core::operand_name(operand));
}

int32_t make_tensor(const gth_tensor_desc& desc, const MemoryLocation& memory, Storage* storage, gth_tensor** out,
                    const Error& error) {
  return publish_tensor(desc, memory, core::find_dtype(desc.dtype)->bytes, storage, nullptr, false, out, error);
}

int32_t make_string_tensor(const gth_tensor_desc& given, const core::Strings& strings, bool binary, Storage* storage,
                           gth_tensor** out, const Error& error) {
  gth_tensor_desc desc = given;
  desc.dtype = GTH_DTYPE_STRING;
  desc.data = nullptr;
  desc.strides = nullptr;
  desc.offset = 0;
  return publish_tensor(desc, {GTH_DEVICE_CPU, desc.device_id, 0}, sizeof(int64_t), storage, &strings, binary, out,
                        error);
}

int32_t check_tensor(const gth_tensor_desc& desc, MemoryLocation* memory, const Error& error) {
  if (check_dense_tensor(desc, memory)) return GTH_OK;
  if (desc.dtype == GTH_DTYPE_STRING) return fail_strings(error);
  const core::DtypeInfo* info = core::find_dtype(desc.dtype);
  if (!info) return fail_dtype(desc.dtype, error);
  if (int32_t status = core::check_rank(desc, GTH_OPERAND_TENSOR, error)) return status;
  if (int32_t status = core::check_extents(desc, GTH_OPERAND_TENSOR, Open::none, error)) return status;
  int32_t status = core::check_size(desc.ndim, desc.shape, info->bytes, GTH_OPERAND_TENSOR, error);
  if (status) return status;
  core::Layout layout;
  if ((status = core::resolve_layout(desc, info->bytes, GTH_OPERAND_TENSOR, &layout, error))) return status;
  if ((status = check_device(desc, error))) return status;
  if (!desc.data && !layout.reach.empty) return fail_null(GTH_OPERAND_TENSOR, error);
  *memory = {desc.device ? desc.device : GTH_DEVICE_CPU, desc.device_id, desc.extent};
  if (memory->device == GTH_DEVICE_CUDA && memory->device_id == device_of_data) {
    if ((status = cuda::find_device_of(desc.data, &memory->device_id, error))) return status;
  }
  if (memory->extent == 0 && !layout.reach.empty) memory->extent = layout.reach.high;
  return GTH_OK;
}

int32_t check_dense(int32_t ndim, const int64_t* shape, int64_t bytes, int64_t* count, const Error& error) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  desc.ndim = ndim;
  desc.shape = shape;
  if (int32_t status = core::check_rank(desc, GTH_OPERAND_TENSOR, error)) return status;
  if (int32_t status = core::check_extents(desc, GTH_OPERAND_TENSOR, Open::none, error)) return status;
  if (int32_t status = core::check_size(ndim, shape, bytes, GTH_OPERAND_TENSOR, error)) return status;
  *count = count_elements(desc);
  return GTH_OK;
}

}  // namespace gather::api

using namespace gather::api;

int32_t gth_tensor_adopt(gth_context* context, const gth_tensor_desc* desc, gth_deleter_fn deleter, void* user,
                         gth_tensor** out, gth_error* err) {
  return api_boundary(out, err, [&](const Error& error) { return adopt(context, desc, deleter, user, out, error); });
}

int32_t gth_tensor_alloc(gth_context* context, int32_t dtype, int32_t ndim, const int64_t* shape, gth_tensor** out,
                         gth_error* err) {
  return api_boundary(out, err, [&](const Error& error) { return alloc(context, dtype, ndim, shape, out, error); });
}

int32_t gth_tensor_describe(const gth_tensor* tensor, gth_tensor_desc* desc, gth_error* err) {
  return api_boundary(err, [&](const Error& error) { return describe(tensor, desc, error); });
}

int32_t gth_tensor_release(gth_tensor* tensor) {
  if (!tensor) return GTH_OK;
  int64_t* dims;
  Storage* storage;
  const gth_codec* codec;
  const bool is_live = release_slot(token_of(tensor), HandleKind::tensor, [&](const Content& content) {
    dims = content.as<Tensor>().more_dims;
    storage = content.as<Tensor>().storage;
    codec = content.as<Tensor>().desc.codec;
  });
  if (!is_live) return GTH_E_HANDLE;
  if (dims) gather::core::deallocate(dims);
  if (codec) release_packed(codec);
  if (storage) storage->release();
  return GTH_OK;
}
