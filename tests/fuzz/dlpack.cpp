#include <type_traits>

#include "../callers/foreign.h"
#include "request.hpp"

// Imports both forms of DLPack and exports them again. Compares ownership, errors and the content of the tensor.
namespace {

using namespace fuzz;

int deleted;

struct Producer {
  uint32_t major = 1;
  DLDataType dtype{};
  DLDevice device{GTH_DEVICE_CPU, 0};
  int32_t ndim = 0;
  Shape shape, strides;  // in elements
  bool has_shape = true, has_strides = false, has_data = true, has_deleter = true;
  uint64_t byte_offset = 0, flags = 0;
  int64_t item = 1;  // size of an element before the dtype was damaged
};

DLDataType type_of(int32_t dtype) { return {static_cast<uint8_t>(dtype / 256), static_cast<uint8_t>(dtype % 256), 1}; }

Producer produce(Input& input) {
  Producer made;
  const int32_t dtype = dtype_from(input);
  made.dtype = type_of(dtype);
  made.item = gth_dtype_size(dtype);
  made.ndim = static_cast<int32_t>(input.below(5));
  for (int32_t d = 0; d < made.ndim; ++d) made.shape.push_back(extent_from(input));
  Tensor laid;
  laid.shape = made.shape;
  lay_out(input, false, 1, &laid);  // strides in elements
  made.has_strides = laid.has_strides;
  made.strides = laid.has_strides ? laid.strides : Shape(made.shape.size());
  made.byte_offset = input.rarely(3) ? static_cast<uint64_t>(input.below(32)) : 0;
  made.flags = static_cast<uint64_t>(input.below(4));
  made.has_deleter = !input.rarely(4);
  return made;
}

void damage(Input& input, Producer* made) {
  const auto one_of = [&](Shape* shape) {
    if (!shape->empty())
      (*shape)[static_cast<size_t>(input.below(static_cast<int64_t>(shape->size())))] = input.number();
  };
  switch (input.below(11)) {
    case 0: made->major = static_cast<uint32_t>(input.below(4)); return;
    case 1: made->dtype.code = input.byte(); return;
    case 2: made->dtype.bits = input.byte(); return;
    case 3: made->dtype.lanes = static_cast<uint16_t>(input.below(4)); return;
    case 4: made->device.device_type = static_cast<int32_t>(input.rarely(2) ? input.number() : input.below(20)); return;
    case 5: one_of(&made->shape); return;
    case 6:
      made->has_strides = true;
      one_of(&made->strides);
      return;
    case 7: made->has_shape = false; return;
    case 8: made->has_data = false; return;
    case 9: made->byte_offset = input.word(); return;
    case 10: made->ndim = static_cast<int32_t>(input.rarely(2) ? input.number() : input.below(70)); break;
  }
  const auto rank = static_cast<size_t>(std::clamp<int32_t>(made->ndim, 0, GTH_MAX_NDIM));
  made->shape.resize(rank, 1);
  made->strides.resize(rank, 1);
}

// The expected result: the errors of the header in their order, and the byte range of the elements relative to data.
struct Expected {
  int32_t status = GTH_OK;  // of the first stage that rejects it
  Reach reach;
  int32_t dtype = 0;
};

Expected predict_producer(const Producer& made, bool versioned) {
  Expected expected;
  const auto is = [&](int32_t status) {
    expected.status = status;
    return expected;
  };
  if (versioned && made.major != 1) return is(GTH_E_VERSION);
  expected.dtype = made.dtype.code * 256 + made.dtype.bits;
  const int64_t item = gth_dtype_size(expected.dtype);
  if (made.dtype.lanes != 1 || item == 0) return is(GTH_E_DTYPE);
  if (made.ndim < 0 || made.ndim > GTH_MAX_NDIM) return is(GTH_E_RANK);
  if (made.ndim > 0 && !made.has_shape) return is(GTH_E_DLPACK);
  Wide size = item;
  bool empty = false;
  for (int64_t extent : made.shape) {
    if (extent < 0) return is(GTH_E_SHAPE);
    empty |= extent == 0;
    if (size <= INT64_MAX) size *= std::max<int64_t>(extent, 1);
  }
  if (size > INT64_MAX) return is(GTH_E_SIZE);
  if (made.byte_offset > INT64_MAX) return is(GTH_E_DLPACK);
  if (!empty) {
    Wide low = static_cast<Wide>(made.byte_offset), high = low + item;
    Wide dense = 1;
    for (size_t d = made.shape.size(); d-- > 0; dense *= made.shape[d]) {
      const Wide span = (Wide{made.shape[d]} - 1) * (made.has_strides ? Wide{made.strides[d]} : dense) * item;
      (span < 0 ? low : high) += span;
    }
    expected.reach = {low, high, false};
    if (high > INT64_MAX || low < -Wide{INT64_MAX}) return is(GTH_E_STRIDE);
  }
  const int32_t device = made.device.device_type;
  if (device != GTH_DEVICE_CPU && device != GTH_DEVICE_CUDA_HOST) return is(GTH_E_DEVICE);
  if (!empty && !made.has_data) return is(GTH_E_NULL);
  return expected;
}

template <class Managed>
Managed* put(const Producer& made, uintptr_t data) {
  Managed managed;
  std::memset(static_cast<void*>(&managed), 0, sizeof managed);
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    managed.version = {made.major, 0};
    managed.flags = made.flags;
  }
  managed.deleter = made.has_deleter ? [](Managed*) { ++deleted; } : static_cast<void (*)(Managed*)>(nullptr);
  const bool has_dims = made.ndim > 0 && made.ndim <= GTH_MAX_NDIM;
  const size_t bytes = has_dims ? made.shape.size() * sizeof(int64_t) : 0;
  DLTensor& tensor = managed.dl_tensor;
  tensor.data = made.has_data ? reinterpret_cast<void*>(data) : nullptr;
  tensor.device = made.device;
  tensor.ndim = made.ndim;
  tensor.dtype = made.dtype;
  char* shape = memory().shapes[0].put(made.shape.data(), bytes);
  char* strides = memory().strides[0].put(made.strides.data(), bytes);
  tensor.shape = made.has_shape ? reinterpret_cast<int64_t*>(shape) : nullptr;
  tensor.strides = made.has_strides ? reinterpret_cast<int64_t*>(strides) : nullptr;
  tensor.byte_offset = made.byte_offset;
  return reinterpret_cast<Managed*>(memory().structs[0].put(&managed, sizeof managed));
}

// Returns the elements of a strided tensor in row-major order.
std::vector<char> elements(const char* first, const int64_t* strides, const Shape& shape, int64_t item) {
  std::vector<char> result;
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number, at = 0;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) at += rest % shape[d] * strides[d];
    result.insert(result.end(), first + at, first + at + item);
  }
  return result;
}

template <class Managed>
int32_t export_to(const gth_tensor* tensor, uint32_t flags, Managed** out, gth_error* error) {
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    return gth_tensor_to_dlpack(nullptr, tensor, flags, out, error);
  } else {
    return gth_tensor_to_dlpack_legacy(nullptr, tensor, flags, out, error);
  }
}

template <class Managed>
void expect_export(const gth_tensor* tensor, uint32_t flags, bool read_only, const std::vector<char>& expected,
                   const Shape& shape, int64_t item) {
  Managed* out = nullptr;
  gth_error* error = fresh_error();
  const int32_t status = export_to(tensor, flags, &out, error);
  tally().count(status);
  expect_whole_error(status, *error);
  if (flags > GTH_EXPORT_NO_COPY) return require(status == GTH_E_VERSION, "export: unknown flags");
  const bool carries = std::is_same_v<Managed, DLManagedTensorVersioned>;
  if (!(flags & GTH_EXPORT_COPY) && read_only && !carries)
    return require(status == GTH_E_READONLY, "export: read-only");
  require(status == GTH_OK, "export: status");
  const DLTensor& t = out->dl_tensor;
  require(Shape(t.shape, t.shape + t.ndim) == shape, "export: shape");
  require(t.strides || t.ndim == 0, "export: strides are always given");
  if (!expected.empty()) {
    Shape strides(t.strides, t.strides + t.ndim);
    for (int64_t& each : strides) each *= item;
    require(elements(static_cast<char*>(t.data) + t.byte_offset, strides.data(), shape, item) == expected,
            "export: elements");
  }
  out->deleter(out);
}

template <class Managed, class From>
void run(Input& input, const Producer& made, From&& import) {
  const bool versioned = std::is_same_v<Managed, DLManagedTensorVersioned>;
  const Expected expected = predict_producer(made, versioned);
  const Pages& pages = data_pages(0);
  pages.paint(input.byte());
  uintptr_t data = reinterpret_cast<uintptr_t>(pages.end());
  if (expected.status == GTH_OK && !expected.reach.empty) {
    if (expected.reach.high - expected.reach.low > static_cast<Wide>(Pages::usual)) return;
    data = static_cast<uintptr_t>(static_cast<Wide>(reinterpret_cast<uintptr_t>(pages.end())) - expected.reach.high);
    // If an offset or strides make the data pointer wrap around, no memory matches the description.
    if (static_cast<Wide>(data) + expected.reach.low !=
        static_cast<Wide>(reinterpret_cast<uintptr_t>(pages.end())) - (expected.reach.high - expected.reach.low))
      return;
  }
  Wide count = 1;  // number of elements, which may share their bytes
  for (int64_t extent : made.shape) count = std::min<Wide>(count * std::max<int64_t>(extent, 1), Wide{1} << 40);
  if (expected.status == GTH_OK && count > (1 << 14)) return;
  Managed* managed = put<Managed>(made, data);
  gth_tensor* tensor = nullptr;
  gth_error* error = fresh_error();
  deleted = 0;
  const int32_t status = import(managed, &tensor, error);
  tally().count(status);
  expect_whole_error(status, *error);
  // If strides reach below address 0 and data is NULL, either error is allowed.
  const bool both = status == GTH_E_STRIDE && (expected.status == GTH_E_DEVICE || expected.status == GTH_E_NULL);
  if (status != expected.status && !both)
    fail("import: %s, expected is %s: %s", gth_status_name(status), gth_status_name(expected.status), error->message);
  require(deleted == 0, "import: the deleter ran");
  if (status) return require(tensor == nullptr, "import: a tensor with an error");
  // The producer may free its arrays.
  memory().shapes[0].paint(1);
  memory().strides[0].paint(2);
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  require(gth_tensor_describe(tensor, &desc, nullptr) == GTH_OK, "describe");
  require(desc.dtype == expected.dtype && Shape(desc.shape, desc.shape + desc.ndim) == made.shape,
          "import: dtype or shape");
  const bool read_only = versioned && made.flags & DLPACK_READ_ONLY;
  require(!!(desc.flags & GTH_TENSOR_READONLY) == read_only, "import: read-only");
  const int64_t item = gth_dtype_size(desc.dtype);
  std::vector<char> bytes;
  if (!expected.reach.empty) {
    Shape strides(made.shape.size());
    int64_t dense = item;
    for (size_t d = strides.size(); d-- > 0; dense *= made.shape[d]) {
      strides[d] = made.shape[d] == 1 ? 0 : made.has_strides ? made.strides[d] * item : dense;
    }
    bytes = elements(reinterpret_cast<const char*>(data + made.byte_offset), strides.data(), made.shape, item);
    Shape given(desc.strides, desc.strides + desc.ndim);
    for (size_t d = 0; d < given.size(); ++d) given[d] = made.shape[d] == 1 ? 0 : given[d];
    require(elements(static_cast<const char*>(desc.data) + desc.offset, given.data(), made.shape, item) == bytes,
            "import: elements");
    // Compares integers, because a large offset may move the data pointer anywhere.
    const auto low = reinterpret_cast<uint64_t>(desc.data), first = reinterpret_cast<uint64_t>(pages.first());
    const auto end = reinterpret_cast<uint64_t>(pages.end());
    require(low + made.byte_offset >= first && low + static_cast<uint64_t>(desc.extent) <= end, "import: extent");
  }
  expect_export<DLManagedTensorVersioned>(tensor, static_cast<uint32_t>(input.below(4)), read_only, bytes, made.shape,
                                          item);
  expect_export<DLManagedTensor>(tensor, static_cast<uint32_t>(input.below(4)), read_only, bytes, made.shape, item);
  require(deleted == 0, "an export took the producer's memory with it");
  require(gth_tensor_release(tensor) == GTH_OK, "release");
  require(deleted == (made.has_deleter ? 1 : 0), "the deleter runs once");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const bool versioned = !input.rarely(2);
  Producer made = produce(input);
  if (input.byte() >= 128) damage(input, &made);
  if (versioned) {
    run<DLManagedTensorVersioned>(input, made, [](DLManagedTensorVersioned* from, gth_tensor** out, gth_error* error) {
      return gth_tensor_from_dlpack(nullptr, from, out, error);
    });
  } else {
    run<DLManagedTensor>(input, made, [](DLManagedTensor* from, gth_tensor** out, gth_error* error) {
      return gth_tensor_from_dlpack_legacy(nullptr, from, out, error);
    });
  }
  return 0;
}
