#include <algorithm>
#include <cinttypes>
#include <new>

#include "api/context.hpp"
#include "api/dlpack_structs.hpp"
#include "api/exports.hpp"
#include "api/tensor.hpp"
#include "core/base/checked.hpp"
#include "core/meaning/shape.hpp"
#include "core/plan/layout.hpp"
#include "core/types/device.hpp"
#include "core/types/dtype.hpp"
#include "execution/copy.hpp"

// Import and export of tensors with DLPack. An import takes ownership as its last step. So an import that fails takes
// no ownership.
namespace gather::api {
namespace {

constexpr uint32_t major_version = 1;
constexpr uint32_t minor_version = 1;  // the first minor version with float8

// ------------------------------------------------------------------------------------------------------------ Import

int32_t check_version(const DLPackVersion& version, const Error& error) {
  if (version.major == major_version) return GTH_OK;
  return error.fail({GTH_E_VERSION, GTH_OPERAND_TENSOR, -1, -1, version.major, major_version},
                    "tensor: DLPack version %" PRIu32 ", needed is %" PRIu32, version.major, major_version);
}

int32_t read_dtype(const DLDataType& type, int32_t* dtype, const Error& error) {
  *dtype = type.code * 256 + type.bits;
  if (type.lanes == 1 && core::find_dtype(*dtype)) return GTH_OK;
  return error.fail({GTH_E_DTYPE, GTH_OPERAND_TENSOR, -1, -1, *dtype, 0},
                    "tensor: DLPack type code %d, %d bits, %d lanes is no dtype here", type.code, type.bits,
                    type.lanes);
}

int32_t read_shape(const DLTensor& tensor, gth_tensor_desc* desc, const Error& error) {
  desc->ndim = tensor.ndim;
  desc->shape = tensor.shape;
  if (tensor.ndim > 0 && tensor.ndim <= GTH_MAX_NDIM && !tensor.shape) {
    return error.fail({GTH_E_DLPACK, GTH_OPERAND_TENSOR}, "tensor: DLPack shape is NULL");
  }
  if (int32_t status = core::check_rank(*desc, GTH_OPERAND_TENSOR, error)) return status;
  return core::check_extents(*desc, GTH_OPERAND_TENSOR, core::Open::none, error);
}

int32_t read_offset(const DLTensor& tensor, gth_tensor_desc* desc, const Error& error) {
  if (tensor.byte_offset > INT64_MAX) {
    return error.fail({GTH_E_DLPACK, GTH_OPERAND_TENSOR, -1, -1, static_cast<int64_t>(tensor.byte_offset), INT64_MAX,
                       GTH_ERROR_UNSIGNED},
                      "tensor: DLPack byte_offset is %" PRIu64, tensor.byte_offset);
  }
  desc->offset = static_cast<int64_t>(tensor.byte_offset);
  return GTH_OK;
}

bool is_empty(const gth_tensor_desc& desc) {
  return std::any_of(desc.shape, desc.shape + desc.ndim, [](int64_t extent) { return extent == 0; });
}

// Converts strides from elements to bytes. The stride of a dim of extent 1 is not used. It becomes 0 if it does not fit
// int64.
int32_t read_strides(const DLTensor& tensor, int64_t bytes, int64_t* strides, gth_tensor_desc* desc,
                     const Error& error) {
  if (!tensor.strides || is_empty(*desc)) return GTH_OK;
  for (int32_t i = 0; i < desc->ndim; ++i) {
    const int64_t elements = tensor.strides[i];
    if (core::multiply(elements, bytes, &strides[i])) continue;
    strides[i] = 0;
    if (desc->shape[i] == 1) continue;
    return error.fail({GTH_E_STRIDE, GTH_OPERAND_TENSOR, i, -1, elements < 0 ? INT64_MIN : INT64_MAX, 0},
                      "tensor: DLPack stride of dim %" PRId32 " is %" PRId64 " elements", i, elements);
  }
  desc->strides = strides;
  return GTH_OK;
}

// Moves data to the lowest byte of the tensor. In DLPack, data is the address of element 0. With negative strides,
// other elements have lower addresses. DLPack states no memory size, so the described memory is the reach of the
// elements.
int32_t move_to_lowest(gth_tensor_desc* desc, const Error& error) {
  if (!desc->strides) return GTH_OK;
  int64_t low = desc->offset;
  for (int32_t i = 0; i < desc->ndim; ++i) {
    if (desc->strides[i] >= 0 || desc->shape[i] == 1) continue;
    int64_t span;
    const bool fits = core::multiply(desc->shape[i] - 1, desc->strides[i], &span) && core::add(low, span, &low);
    if (fits && low != INT64_MIN) continue;
    return error.fail({GTH_E_STRIDE, GTH_OPERAND_TENSOR, i, -1, INT64_MIN, 0},
                      "tensor: DLPack strides lead below address 0");
  }
  if (low >= 0) return GTH_OK;
  const uintptr_t address = reinterpret_cast<uintptr_t>(desc->data);
  const bool is_below = desc->data && static_cast<uint64_t>(-low) >= address;
  if (is_below || !core::add(desc->offset, -low, &desc->offset)) {
    return error.fail({GTH_E_STRIDE, GTH_OPERAND_TENSOR, -1, -1, low, 0},
                      "tensor: DLPack strides lead below address 0");
  }
  if (desc->data) desc->data = static_cast<const char*>(desc->data) + low;  // check_tensor rejects NULL.
  return GTH_OK;
}

// Checks that the reach of the elements is valid. It begins at data or above.
int32_t check_reach(const gth_tensor_desc& desc, int64_t bytes, const Error& error) {
  core::Layout layout;
  return core::resolve_layout(desc, bytes, GTH_OPERAND_TENSOR, &layout, error);
}

// Converts a DLPack tensor to a description. `strides` has room for GTH_MAX_NDIM strides. *out refers to it and to the
// shape of the producer.
int32_t read_tensor(const DLTensor& tensor, bool read_only, int64_t* strides, gth_tensor_desc* out,
                    MemoryLocation* memory, const Error& error) {
  gth_tensor_desc& desc = *out;
  desc = GTH_TENSOR_DESC_INIT;
  if (int32_t status = read_dtype(tensor.dtype, &desc.dtype, error)) return status;
  const int64_t bytes = core::find_dtype(desc.dtype)->bytes;
  if (int32_t status = read_shape(tensor, &desc, error)) return status;
  int32_t status = core::check_size(desc.ndim, desc.shape, bytes, GTH_OPERAND_TENSOR, error);
  if (status) return status;
  if ((status = read_offset(tensor, &desc, error))) return status;
  if ((status = read_strides(tensor, bytes, strides, &desc, error))) return status;
  desc.data = tensor.data;
  if ((status = move_to_lowest(&desc, error))) return status;
  if ((status = check_reach(desc, bytes, error))) return status;
  // 0 is no device in DLPack, but in a description it is the CPU.
  if (tensor.device.device_type == 0) return core::fail_device(GTH_OPERAND_TENSOR, 0, GTH_DEVICE_CPU, error);
  desc.device = tensor.device.device_type;
  desc.device_id = tensor.device.device_id;
  desc.flags = read_only ? GTH_TENSOR_READONLY : 0;
  return check_tensor(desc, memory, error);  // It checks device and data.
}

template <class Managed>
void delete_managed(void* managed) {
  Managed* self = static_cast<Managed*>(managed);
  self->deleter(self);
}

template <class Managed>
int32_t adopt_managed(const Context& context, Managed* managed, bool read_only, gth_tensor** out, const Error& error) {
  int64_t strides[GTH_MAX_NDIM];
  gth_tensor_desc desc;
  MemoryLocation memory;
  if (int32_t status = read_tensor(managed->dl_tensor, read_only, strides, &desc, &memory, error)) return status;
  const gth_deleter_fn deleter = managed->deleter ? delete_managed<Managed> : nullptr;
  AdoptedStorage* storage = adopt_memory(context, memory.device, deleter, managed);
  if (!storage) return fail_memory(sizeof(AdoptedStorage), error);
  const int32_t status = make_tensor(desc, memory, storage, out, error);
  if (status) {
    storage->cancel_release();
    storage->release();
  }
  return status;
}

int32_t from_versioned(gth_context* handle, DLManagedTensorVersioned* managed, gth_tensor** out, const Error& error) {
  if (!managed) return fail_null(GTH_OPERAND_TENSOR, error);
  const Context* context;
  if (int32_t status = find_context(handle, &context, error)) return status;
  if (int32_t status = check_version(managed->version, error)) return status;
  return adopt_managed(*context, managed, managed->flags & dlpack_read_only, out, error);
}

int32_t from_legacy(gth_context* handle, DLManagedTensor* managed, gth_tensor** out, const Error& error) {
  if (!managed) return fail_null(GTH_OPERAND_TENSOR, error);
  const Context* context;
  if (int32_t status = find_context(handle, &context, error)) return status;
  return adopt_managed(*context, managed, false, out, error);
}

// ------------------------------------------------------------------------------------------------------------ Export

// The memory of an export. Shape and strides follow the struct.
template <class Managed>
struct DlpackExport {
  Managed managed;
  Storage* storage;

  int64_t* dims() { return reinterpret_cast<int64_t*>(this + 1); }
};

template <class Managed>
void delete_export(Managed* managed) {
  auto* self = static_cast<DlpackExport<Managed>*>(managed->manager_ctx);
  Storage* storage = self->storage;
  core::deallocate(self);
  storage->release();
}

// The exported memory: that of the tensor, or a copy.
struct ExportSource {
  gth_tensor_desc desc;
  Storage* storage;  // The export owns one reference.
  bool is_copy;
};

// Returns true if each stride is a multiple of the element size. The strides of DLPack are in elements.
bool has_element_strides(const gth_tensor_desc& desc, int64_t bytes) {
  if (!desc.strides || is_empty(desc)) return true;
  for (int32_t i = 0; i < desc.ndim; ++i) {
    if (desc.shape[i] > 1 && desc.strides[i] % bytes != 0) return false;
  }
  return true;
}

int32_t find_source(const Context& context, const Tensor& tensor, uint32_t flags, bool carries_read_only,
                    ExportSource* out, const Error& error) {
  const int64_t bytes = core::find_dtype(tensor.desc.dtype)->bytes;
  const bool has_strides = has_element_strides(tensor.desc, bytes);
  out->is_copy = wants_copy(tensor, flags) || !has_strides;
  if (out->is_copy) {
    if (!(flags & GTH_EXPORT_NO_COPY)) return copy_dense(context, tensor.desc, &out->desc, &out->storage, error);
    return fail_no_copy(has_strides ? "its memory is borrowed" : "a stride is no multiple of the item size", error);
  }
  if (!carries_read_only && tensor.desc.flags & GTH_TENSOR_READONLY) {
    return error.fail({GTH_E_READONLY, GTH_OPERAND_TENSOR},
                      "tensor: read-only memory cannot be shared through the legacy DLPack struct");
  }
  out->desc = tensor.desc;
  out->storage = tensor.storage;
  out->storage->retain();
  return GTH_OK;
}

// Writes the strides in elements. The stride of a dim of extent 1 is rounded.
void write_strides(const gth_tensor_desc& desc, int64_t bytes, int64_t* strides) {
  int64_t dense = 1;
  for (int32_t i = desc.ndim; i-- > 0;) {
    strides[i] = desc.strides ? desc.strides[i] / bytes : dense;
    dense *= std::max<int64_t>(desc.shape[i], 1);
  }
}

void write_tensor(const gth_tensor_desc& desc, int64_t* dims, DLTensor* out) {
  out->data = const_cast<void*>(desc.data);
  out->device = {desc.device, desc.device_id};
  out->ndim = desc.ndim;
  out->dtype = {static_cast<uint8_t>(desc.dtype / 256), static_cast<uint8_t>(desc.dtype % 256), 1};
  out->shape = dims;
  out->strides = dims + desc.ndim;
  // The offset is negative only if there are no elements.
  out->byte_offset = static_cast<uint64_t>(std::max<int64_t>(desc.offset, 0));
  std::copy_n(desc.shape, desc.ndim, out->shape);
  write_strides(desc, core::find_dtype(desc.dtype)->bytes, out->strides);
}

void write_head(const ExportSource& source, DLManagedTensorVersioned* out) {
  const bool read_only = source.desc.flags & GTH_TENSOR_READONLY;
  out->version = {major_version, minor_version};
  out->flags = (read_only ? dlpack_read_only : 0) | (source.is_copy ? dlpack_is_copied : 0);
}

void write_head(const ExportSource&, DLManagedTensor*) {}

// Creates the export. It takes ownership of the reference of `source`.
template <class Managed>
int32_t make_export(const ExportSource& source, Managed** out, const Error& error) {
  const size_t size = sizeof(DlpackExport<Managed>) + 2 * sizeof(int64_t) * static_cast<size_t>(source.desc.ndim);
  void* memory = core::allocate(size);
  if (!memory) {
    source.storage->release();
    return fail_memory(static_cast<int64_t>(size), error);
  }
  auto* exported = new (memory) DlpackExport<Managed>{};
  exported->storage = source.storage;
  exported->managed.manager_ctx = exported;
  exported->managed.deleter = delete_export<Managed>;
  write_head(source, &exported->managed);
  write_tensor(source.desc, exported->dims(), &exported->managed.dl_tensor);
  *out = &exported->managed;
  return GTH_OK;
}

template <class Managed>
int32_t to_dlpack(gth_context* handle, const gth_tensor* tensor_handle, uint32_t flags, bool carries_read_only,
                  Managed** out, const Error& error) {
  if (!tensor_handle) return fail_null(GTH_OPERAND_TENSOR, error);
  if (int32_t status = check_export_flags(flags, error)) return status;
  const Context* context;
  if (int32_t status = find_context(handle, &context, error)) return status;
  const Tensor* tensor;
  if (int32_t status = find_tensor(tensor_handle, GTH_OPERAND_TENSOR, &tensor, error)) return status;
  if (tensor->desc.dtype == GTH_DTYPE_STRING) {
    return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR, -1, -1, GTH_DTYPE_STRING, 0},
                      "tensor: DLPack has no strings");
  }
  if (tensor->desc.codec) {
    return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR}, "tensor: DLPack has no packed rows");
  }
  if (int32_t status = check_in_memory(tensor->desc, GTH_OPERAND_TENSOR, error)) return status;
  ExportSource source;
  if (int32_t status = find_source(*context, *tensor, flags, carries_read_only, &source, error)) return status;
  return make_export(source, out, error);
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;

int32_t gth_tensor_from_dlpack(gth_context* context, DLManagedTensorVersioned* managed, gth_tensor** out,
                               gth_error* err) {
  return api_boundary(out, err, [&](const Error& error) { return from_versioned(context, managed, out, error); });
}

int32_t gth_tensor_from_dlpack_legacy(gth_context* context, DLManagedTensor* managed, gth_tensor** out,
                                      gth_error* err) {
  return api_boundary(out, err, [&](const Error& error) { return from_legacy(context, managed, out, error); });
}

int32_t gth_tensor_to_dlpack(gth_context* context, const gth_tensor* tensor, uint32_t flags,
                             DLManagedTensorVersioned** out, gth_error* err) {
  return api_boundary(out, err,
                      [&](const Error& error) { return to_dlpack(context, tensor, flags, true, out, error); });
}

int32_t gth_tensor_to_dlpack_legacy(gth_context* context, const gth_tensor* tensor, uint32_t flags,
                                    DLManagedTensor** out, gth_error* err) {
  return api_boundary(out, err,
                      [&](const Error& error) { return to_dlpack(context, tensor, flags, false, out, error); });
}
