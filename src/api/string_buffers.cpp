#include <cinttypes>
#include <new>

#include "api/context.hpp"
#include "api/string_check.hpp"
#include "api/tensor.hpp"

// Creates string tensors from buffers of offsets and bytes.
namespace gather::api {
namespace {

struct Buffers {
  const int64_t* offsets;
  const char* bytes;
  int64_t extent;
};

int32_t check_flags(uint32_t flags, const Error& error) {
  if (!(flags & ~uint32_t{GTH_STRINGS_BINARY})) return GTH_OK;
  return error.fail({GTH_E_VERSION, GTH_OPERAND_NONE, -1, -1, flags, GTH_STRINGS_BINARY},
                    "flags are %" PRIu32 ", valid are 0 and GTH_STRINGS_BINARY", flags);
}

// Validates the buffers. If bytes is NULL, extent must be 0. Valid offsets are not enough, because another thread may
// change them later.
int32_t check_buffers(const Buffers& buffers, int64_t count, core::Strings* out, const Error& error) {
  if (!buffers.offsets && count > 0) return error.fail({GTH_E_NULL, GTH_OPERAND_TENSOR}, "tensor: offsets is NULL");
  if (!buffers.bytes && buffers.extent > 0) {
    return error.fail({GTH_E_NULL, GTH_OPERAND_TENSOR}, "tensor: bytes is NULL");
  }
  *out = {buffers.offsets ? buffers.offsets : no_strings, buffers.bytes, buffers.extent};
  int64_t last;
  return check_offsets(out->offsets, count, out->extent, nullptr, &last, error);
}

int32_t from_strings(gth_context* handle, uint32_t flags, int32_t ndim, const int64_t* shape, const Buffers& buffers,
                     gth_deleter_fn deleter, void* user, gth_tensor** out, const Error& error) {
  if (int32_t status = check_flags(flags, error)) return status;
  const Context* context;
  if (int32_t status = find_context(handle, &context, error)) return status;
  int64_t count;
  if (int32_t status = check_dense(ndim, shape, sizeof(int64_t), &count, error)) return status;
  core::Strings strings;
  if (int32_t status = check_buffers(buffers, count, &strings, error)) return status;

  AdoptedStorage* storage = nullptr;
  if (deleter) {
    storage = new (std::nothrow) AdoptedStorage(deleter, user);
    if (!storage) return fail_memory(sizeof(AdoptedStorage), error);
  }
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  desc.ndim = ndim;
  desc.shape = shape;
  const int32_t status = make_string_tensor(desc, strings, flags & GTH_STRINGS_BINARY, storage, out, error);
  if (status && storage) {
    storage->cancel_release();
    storage->release();
  }
  return status;
}

int32_t find_strings(const gth_tensor* handle, const int64_t** offsets, const void** bytes, const Error& error) {
  if (!offsets) return error.fail({GTH_E_NULL}, "offsets is NULL");
  if (!bytes) return error.fail({GTH_E_NULL}, "bytes is NULL");
  const Tensor* tensor;
  if (int32_t status = find_tensor(handle, GTH_OPERAND_TENSOR, &tensor, error)) return status;
  if (tensor->desc.dtype != GTH_DTYPE_STRING) {
    return error.fail({GTH_E_DTYPE, GTH_OPERAND_TENSOR, -1, -1, tensor->desc.dtype, GTH_DTYPE_STRING},
                      "tensor: the dtype is not string");
  }
  *offsets = tensor->strings.offsets;
  *bytes = tensor->strings.bytes;
  return GTH_OK;
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;

int32_t gth_tensor_from_strings(gth_context* context, uint32_t flags, int32_t ndim, const int64_t* shape,
                                const int64_t* offsets, const void* bytes, int64_t extent, gth_deleter_fn deleter,
                                void* user, gth_tensor** out, gth_error* err) {
  return api_boundary(out, err, [&](const Error& error) {
    return from_strings(context, flags, ndim, shape, {offsets, static_cast<const char*>(bytes), extent}, deleter, user,
                        out, error);
  });
}

int32_t gth_tensor_strings(const gth_tensor* tensor, const int64_t** offsets, const void** bytes, gth_error* err) {
  if (offsets) *offsets = nullptr;
  if (bytes) *bytes = nullptr;
  return api_boundary(err, [&](const Error& error) { return find_strings(tensor, offsets, bytes, error); });
}
