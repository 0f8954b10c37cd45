#include <cinttypes>
#include <cstring>
#include <new>

#include "api/context.hpp"
#include "api/exports.hpp"
#include "api/string_check.hpp"
#include "api/tensor.hpp"
#include "columns/arrow_structs.hpp"
#include "core/base/checked.hpp"

// Import and export of string tensors with the Arrow C data interface.
namespace gather::api {
namespace {

constexpr int64_t string_buffers = 3;
enum { validity_buffer, offsets_buffer, bytes_buffer };

// ------------------------------------------------------------------------------------------------------------ Import

struct Format {
  bool is_wide;  // Offsets have 64 bits, not 32.
  bool is_binary;
};

int32_t fail_struct(int64_t value, int64_t limit, const char* what, const Error& error) {
  return error.fail({GTH_E_ARROW, GTH_OPERAND_TENSOR, -1, -1, value, limit},
                    "tensor: Arrow %s is %" PRId64 ", not %" PRId64, what, value, limit);
}

int32_t fail_format(const char* format, const Error& error) {
  char shown[16] = {};  // Characters that are not printable ASCII are replaced.
  for (size_t i = 0; i + 1 < sizeof shown && format[i]; ++i) {
    shown[i] = format[i] >= ' ' && format[i] <= '~' ? format[i] : '?';
  }
  return error.fail({GTH_E_DTYPE, GTH_OPERAND_TENSOR, -1, -1, 0, GTH_DTYPE_STRING},
                    "tensor: Arrow format is %s, needed is u, U, z or Z", shown);
}

int32_t read_format(const ArrowSchema& schema, Format* out, const Error& error) {
  if (!schema.format) return error.fail({GTH_E_ARROW, GTH_OPERAND_TENSOR}, "tensor: Arrow format is NULL");
  const char letter = schema.format[0];
  const bool is_binary = letter == 'z' || letter == 'Z';
  const bool is_wide = letter == 'U' || letter == 'Z';
  if (!(is_binary || is_wide || letter == 'u') || schema.format[1]) return fail_format(schema.format, error);
  *out = {is_wide, is_binary};
  return GTH_OK;
}

int32_t read_schema(const ArrowSchema& schema, Format* out, const Error& error) {
  if (!schema.release) return error.fail({GTH_E_ARROW, GTH_OPERAND_TENSOR}, "tensor: Arrow schema was released");
  if (int32_t status = read_format(schema, out, error)) return status;
  if (schema.n_children) return fail_struct(schema.n_children, 0, "schema: number of children", error);
  if (schema.dictionary) return error.fail({GTH_E_ARROW, GTH_OPERAND_TENSOR}, "tensor: Arrow schema has a dictionary");
  return GTH_OK;
}

// Checks length and offset. The offsets buffer has offset + length + 1 entries of up to 8 bytes. Its size must fit
// int64.
int32_t check_range(const ArrowArray& array, const Error& error) {
  constexpr int64_t most = INT64_MAX / int64_t{sizeof(int64_t)} - 1;
  if (array.length < 0) return fail_struct(array.length, 0, "length", error);
  if (array.offset < 0) return fail_struct(array.offset, 0, "offset", error);
  int64_t end;
  if (core::add(array.offset, array.length, &end) && end <= most) return GTH_OK;
  return fail_struct(array.length, most, "length", error);
}

int32_t check_array(const ArrowArray& array, const Error& error) {
  if (!array.release) return error.fail({GTH_E_ARROW, GTH_OPERAND_TENSOR}, "tensor: Arrow array was released or moved");
  if (array.n_children) return fail_struct(array.n_children, 0, "array: number of children", error);
  if (array.dictionary) return error.fail({GTH_E_ARROW, GTH_OPERAND_TENSOR}, "tensor: Arrow array has a dictionary");
  if (array.n_buffers != string_buffers) return fail_struct(array.n_buffers, string_buffers, "n_buffers", error);
  if (!array.buffers) return error.fail({GTH_E_ARROW, GTH_OPERAND_TENSOR}, "tensor: Arrow buffers is NULL");
  if (array.null_count < -1) return fail_struct(array.null_count, -1, "null_count", error);
  return check_range(array, error);
}

// Sets rank and shape of the tensor. The number of elements must be the length of the array.
int32_t read_shape(const ArrowArray& array, int32_t ndim, const int64_t* shape, gth_tensor_desc* desc,
                   const Error& error) {
  const bool is_flat = ndim == -1;
  *desc = GTH_TENSOR_DESC_INIT;
  desc->ndim = is_flat ? 1 : ndim;
  desc->shape = is_flat ? &array.length : shape;
  int64_t count;
  if (int32_t status = check_dense(desc->ndim, desc->shape, sizeof(int64_t), &count, error)) return status;
  if (count == array.length) return GTH_OK;
  return error.fail({GTH_E_SHAPE, GTH_OPERAND_TENSOR, -1, -1, count, array.length},
                    "tensor: the shape has %" PRId64 " elements, the Arrow array %" PRId64, count, array.length);
}

// Returns the first element whose validity bit is 0, or -1. Bytes in which all bits are 1 are skipped.
int64_t find_null(const uint8_t* validity, int64_t offset, int64_t length) {
  for (int64_t i = 0; i < length; ++i) {
    const int64_t bit = offset + i;
    if (bit % 8 == 0 && length - i >= 8 && validity[bit / 8] == 0xff) {
      i += 7;
    } else if (!(validity[bit / 8] >> bit % 8 & 1)) {
      return i;
    }
  }
  return -1;
}

// Rejects null elements. A null_count other than 0 may belong to a larger array, so the validity bits are checked.
int32_t check_nulls(const ArrowArray& array, const Error& error) {
  if (array.null_count == 0) return GTH_OK;
  const auto* validity = static_cast<const uint8_t*>(array.buffers[validity_buffer]);
  if (!validity && array.null_count < 0) return GTH_OK;
  if (!validity) return fail_struct(array.null_count, 0, "null_count without validity bits", error);
  const int64_t position = find_null(validity, array.offset, array.length);
  if (position < 0) return GTH_OK;
  return error.fail({GTH_E_DTYPE, GTH_OPERAND_TENSOR, -1, position, 0, GTH_DTYPE_STRING},
                    "tensor: element %" PRId64 " of the Arrow array is null", position);
}

// An imported array, and a copy of its offsets if they do not have 64 bits or are not aligned.
class ArrowStorage final : public Storage {
 public:
  explicit ArrowStorage(const ArrowArray& array) : array_(array) {}
  // Leaves the array to the producer, because the call that should take ownership fails.
  void cancel_release() { array_.release = nullptr; }

  int32_t read_strings(bool is_wide, core::Strings* out, const Error& error) {
    out->bytes = static_cast<const char*>(array_.buffers[bytes_buffer]);
    if (array_.length == 0) {  // The buffers may be NULL, and the offsets buffer may be empty.
      out->offsets = no_strings;
      out->extent = 0;
      return GTH_OK;
    }
    const void* offsets = array_.buffers[offsets_buffer];
    if (!offsets) return error.fail({GTH_E_ARROW, GTH_OPERAND_TENSOR}, "tensor: Arrow offsets buffer is NULL");
    return is_wide ? read_wide(static_cast<const int64_t*>(offsets) + array_.offset, out, error)
                   : read_narrow(static_cast<const int32_t*>(offsets) + array_.offset, out, error);
  }

 private:
  ~ArrowStorage() override {
    core::deallocate(offsets_);
    if (array_.release) array_.release(&array_);
  }

  // Returns the largest valid offset. Arrow does not state the size of the bytes buffer.
  int64_t max_offset() const { return array_.buffers[bytes_buffer] ? INT64_MAX : 0; }

  int32_t read_wide(const int64_t* offsets, core::Strings* out, const Error& error) {
    if (reinterpret_cast<uintptr_t>(offsets) % alignof(int64_t)) return read_copied(offsets, out, error);
    out->offsets = offsets;
    return check_offsets(offsets, array_.length, max_offset(), nullptr, &out->extent, error);
  }

  int32_t read_narrow(const int32_t* offsets, core::Strings* out, const Error& error) {
    return read_copied(offsets, out, error);
  }

  template <class Offset>
  int32_t read_copied(const Offset* offsets, core::Strings* out, const Error& error) {
    const int64_t bytes = (array_.length + 1) * int64_t{sizeof(int64_t)};
    offsets_ = static_cast<int64_t*>(core::allocate(static_cast<size_t>(bytes)));
    if (!offsets_) return fail_memory(bytes, error);
    out->offsets = offsets_;
    return check_offsets(offsets, array_.length, max_offset(), offsets_, &out->extent, error);
  }

  ArrowArray array_;
  int64_t* offsets_ = nullptr;
};

int32_t adopt_array(ArrowArray* array, const Format& format, const gth_tensor_desc& desc, gth_tensor** out,
                    const Error& error) {
  ArrowStorage* storage = new (std::nothrow) ArrowStorage(*array);
  if (!storage) return fail_memory(sizeof(ArrowStorage), error);
  core::Strings strings;
  int32_t status = storage->read_strings(format.is_wide, &strings, error);
  if (!status) status = make_string_tensor(desc, strings, format.is_binary, storage, out, error);
  if (status) {
    storage->cancel_release();
    storage->release();
    return status;
  }
  array->release = nullptr;
  return GTH_OK;
}

int32_t from_arrow(gth_context* handle, const ArrowSchema* schema, ArrowArray* array, int32_t ndim,
                   const int64_t* shape, gth_tensor** out, const Error& error) {
  if (!schema) return error.fail({GTH_E_NULL, GTH_OPERAND_TENSOR}, "tensor: Arrow schema is NULL");
  if (!array) return error.fail({GTH_E_NULL, GTH_OPERAND_TENSOR}, "tensor: Arrow array is NULL");
  const Context* context;
  if (int32_t status = find_context(handle, &context, error)) return status;
  Format format{};
  if (int32_t status = read_schema(*schema, &format, error)) return status;
  if (int32_t status = check_array(*array, error)) return status;
  gth_tensor_desc desc;
  if (int32_t status = read_shape(*array, ndim, shape, &desc, error)) return status;
  if (int32_t status = check_nulls(*array, error)) return status;
  return adopt_array(array, format, desc, out, error);
}

// ------------------------------------------------------------------------------------------------------------ Export

// The buffers of an exported array, and their storages. If they are a copy, each buffer has its own storage.
struct ArrowExport : core::Allocated {
  Storage* offsets = nullptr;
  Storage* bytes = nullptr;
  const void* buffers[string_buffers] = {};

  ~ArrowExport() {
    if (offsets) offsets->release();
    if (bytes) bytes->release();
  }
};

void share_buffers(const Tensor& tensor, ArrowExport* out) {
  tensor.storage->retain();
  out->offsets = tensor.storage;
  out->buffers[offsets_buffer] = tensor.strings.offsets;
  out->buffers[bytes_buffer] = tensor.strings.bytes;
}

// Validates the offsets and copies them, shifted so that they begin at 0. *first and *last receive the first and the
// last offset of the tensor.
int32_t copy_offsets(const core::Strings& strings, int64_t count, int64_t* copy, int64_t* first, int64_t* last,
                     const Error& error) {
  if (check_offsets(strings.offsets, count, strings.extent, copy, last, Error(nullptr))) {
    return error.fail({GTH_E_RACE, GTH_OPERAND_TENSOR}, "tensor: offsets changed by another thread");
  }
  *first = copy[0];
  for (int64_t i = 0; i <= count; ++i) copy[i] -= *first;
  return GTH_OK;
}

int32_t copy_buffers(const Context& context, const core::Strings& strings, int64_t count, ArrowExport* out,
                     const Error& error) {
  char *offsets, *bytes;
  const int64_t size = (count + 1) * int64_t{sizeof(int64_t)};
  int32_t status = allocate_storage(context, size, false, &offsets, &out->offsets, error);
  if (status) return status;
  int64_t first = 0, last = 0;
  status = copy_offsets(strings, count, reinterpret_cast<int64_t*>(offsets), &first, &last, error);
  if (status) return status;
  if ((status = allocate_storage(context, last - first, false, &bytes, &out->bytes, error))) return status;
  if (last > first) std::memcpy(bytes, strings.bytes + first, static_cast<size_t>(last - first));
  out->buffers[offsets_buffer] = offsets;
  out->buffers[bytes_buffer] = bytes;
  return GTH_OK;
}

void release_schema(ArrowSchema* self) { self->release = nullptr; }

void release_array(ArrowArray* self) {
  delete static_cast<ArrowExport*>(self->private_data);
  self->release = nullptr;
}

// Returns the schema of a tensor. It is nullable, which is the default of producers.
ArrowSchema schema_of(const Tensor& tensor) {
  return {tensor.binary ? "Z" : "U", "", nullptr, arrow_nullable, 0, nullptr, nullptr, release_schema, nullptr};
}

ArrowArray array_of(ArrowExport* exported, int64_t count) {
  // NULL is valid if there are no bytes, but some consumers do not accept it.
  if (!exported->buffers[bytes_buffer]) exported->buffers[bytes_buffer] = "";
  return {count, 0, 0, string_buffers, 0, exported->buffers, nullptr, nullptr, release_array, exported};
}

int32_t export_strings(const Context& context, const Tensor& tensor, uint32_t flags, ArrowSchema* schema,
                       ArrowArray* array, const Error& error) {
  const bool copies = wants_copy(tensor, flags);
  if (copies && flags & GTH_EXPORT_NO_COPY) return fail_no_copy("its memory is borrowed", error);
  const int64_t count = count_elements(tensor.desc);
  ArrowExport* exported = new (std::nothrow) ArrowExport;
  if (!exported) return fail_memory(sizeof(ArrowExport), error);
  int32_t status = GTH_OK;
  if (copies) {
    status = copy_buffers(context, tensor.strings, count, exported, error);
  } else {
    share_buffers(tensor, exported);
  }
  if (status) {
    delete exported;
    return status;
  }
  *schema = schema_of(tensor);
  *array = array_of(exported, count);
  return GTH_OK;
}

// Finds the context of a handle, or the default CPU context if it is on a device. Strings must be in host memory, which
// the hooks of a device context do not allocate.
int32_t find_host_context(gth_context* handle, const Context** out, const Error& error) {
  if (int32_t status = find_context(handle, out, error)) return status;
  return (*out)->device == GTH_DEVICE_CPU ? GTH_OK : find_context(nullptr, out, error);
}

int32_t to_arrow(gth_context* handle, const gth_tensor* tensor_handle, uint32_t flags, ArrowSchema* schema,
                 ArrowArray* array, const Error& error) {
  if (!tensor_handle) return fail_null(GTH_OPERAND_TENSOR, error);
  if (!schema) return error.fail({GTH_E_NULL}, "schema is NULL");
  if (!array) return error.fail({GTH_E_NULL}, "array is NULL");
  if (int32_t status = check_export_flags(flags, error)) return status;
  const Context* context;
  if (int32_t status = find_host_context(handle, &context, error)) return status;
  const Tensor* tensor;
  if (int32_t status = find_tensor(tensor_handle, GTH_OPERAND_TENSOR, &tensor, error)) return status;
  if (tensor->desc.dtype != GTH_DTYPE_STRING) {
    return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR, -1, -1, tensor->desc.dtype, GTH_DTYPE_STRING},
                      "tensor: only strings are exported to Arrow");
  }
  return export_strings(*context, *tensor, flags, schema, array, error);
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;

int32_t gth_tensor_from_arrow(gth_context* context, const ArrowSchema* schema, ArrowArray* array, int32_t ndim,
                              const int64_t* shape, gth_tensor** out, gth_error* err) {
  return api_boundary(out, err,
                      [&](const Error& error) { return from_arrow(context, schema, array, ndim, shape, out, error); });
}

int32_t gth_tensor_to_arrow(gth_context* context, const gth_tensor* tensor, uint32_t flags, ArrowSchema* schema,
                            ArrowArray* array, gth_error* err) {
  return api_boundary(err, [&](const Error& error) { return to_arrow(context, tensor, flags, schema, array, error); });
}
