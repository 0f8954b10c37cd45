#include "operands.h"

#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include <cctype>
#include <cmath>
#include <cstring>

namespace libgather {

thread_local gth_error last_error = GTH_ERROR_INIT;

int32_t dtype_of(at::ScalarType type) {
  switch (type) {
    case at::kByte: return GTH_DTYPE_UINT8;
    case at::kChar: return GTH_DTYPE_INT8;
    case at::kShort: return GTH_DTYPE_INT16;
    case at::kInt: return GTH_DTYPE_INT32;
    case at::kLong: return GTH_DTYPE_INT64;
    case at::kUInt16: return GTH_DTYPE_UINT16;
    case at::kUInt32: return GTH_DTYPE_UINT32;
    case at::kUInt64: return GTH_DTYPE_UINT64;
    case at::kHalf: return GTH_DTYPE_FLOAT16;
    case at::kBFloat16: return GTH_DTYPE_BFLOAT16;
    case at::kFloat: return GTH_DTYPE_FLOAT32;
    case at::kDouble: return GTH_DTYPE_FLOAT64;
    case at::kComplexFloat: return GTH_DTYPE_COMPLEX64;
    case at::kComplexDouble: return GTH_DTYPE_COMPLEX128;
    case at::kBool: return GTH_DTYPE_BOOL;
    case at::kFloat8_e4m3fn: return GTH_DTYPE_FLOAT8_E4M3FN;
    case at::kFloat8_e4m3fnuz: return GTH_DTYPE_FLOAT8_E4M3FNUZ;
    case at::kFloat8_e5m2: return GTH_DTYPE_FLOAT8_E5M2;
    case at::kFloat8_e5m2fnuz: return GTH_DTYPE_FLOAT8_E5M2FNUZ;
    case at::kFloat8_e8m0fnu: return GTH_DTYPE_FLOAT8_E8M0FNU;
    default: return -1 - static_cast<int32_t>(type);  // the library has no negative dtypes
  }
}

std::string name_of(int32_t dtype) {
  return dtype < 0 ? c10::str("torch.", c10::getDtypeNames(static_cast<at::ScalarType>(-1 - dtype)).first)
                   : c10::str("torch.", gth_dtype_name(dtype));
}

gth_options options_of(int32_t op, const Attributes &attributes) {
  gth_options options = GTH_OPTIONS_INIT;
  if (has_axis(op)) {
    options.has_axis = 1;
    options.axis = attributes.axis;
  }
  options.batch_dims = attributes.batch_dims;
  // A gradient has the switches of its operator, of which it may have fewer.
  const bool every = true, adders = !is_in(op, OPERATIONS_kind_gather);
  const bool scatters = is_in(op, OPERATIONS_kind_scatter), bags = is_in(op, OPERATIONS_kind_bags);
#define READ_SWITCH(NAME, field, kinds)                                     \
  if (kinds) {                                                              \
    options.field = static_cast<decltype(options.field)>(attributes[NAME]); \
  }
  OPTION_SWITCHES(READ_SWITCH, )
#undef READ_SWITCH
  options.threads = at::get_num_threads();
  return options;
}

Operand::Operand(const at::Tensor &tensor) : desc(GTH_TENSOR_DESC_INIT) {
  desc.dtype = dtype_of(tensor.scalar_type());
  desc.ndim = static_cast<int32_t>(tensor.dim());
  desc.shape = tensor.sizes().data();
  desc.data = tensor.numel() == 0 ? nullptr : tensor.const_data_ptr();
  if (!tensor.is_contiguous() && tensor.dim() <= GTH_MAX_NDIM) {
    for (int64_t dim = 0; dim < tensor.dim(); dim++) {
      strides[dim] = tensor.stride(dim) * static_cast<int64_t>(tensor.element_size());
    }
    desc.strides = strides;
  }
}

OpenOperand::OpenOperand(const at::Tensor &tensor) : desc(GTH_TENSOR_DESC_INIT) {
  desc.dtype = dtype_of(tensor.scalar_type());
  desc.ndim = static_cast<int32_t>(tensor.dim());
  desc.shape = shape;
  for (int64_t dim = 0; dim < tensor.dim() && dim < GTH_MAX_NDIM; dim++) {
    shape[dim] = tensor.sym_size(dim).maybe_as_int().value_or(GTH_OPEN);
  }
}

namespace {

__int128 integer_of(const at::Scalar &number) {
  if (number.isFloatingPoint()) {
    return static_cast<__int128>(number.toDouble());
  }
  return number.isUnsigned() ? static_cast<__int128>(number.toUInt64()) : static_cast<__int128>(number.toLong());
}

// Returns whether a stored number represents the given one. Real numbers may have been rounded.
bool represents(const at::Scalar &stored, const at::Scalar &given) {
  if (stored.isComplex()) {
    return given.isFloatingPoint() || given.isComplex() || stored.toComplexDouble() == given.toComplexDouble();
  }
  if (given.isIntegral(true)) {
    return integer_of(stored) == integer_of(given);
  }
  const double value = given.toDouble(), rounded = stored.toDouble();
  return stored.isFloatingPoint() ? std::isinf(rounded) == std::isinf(value) : rounded == value;
}

}  // namespace

bool store(const at::Scalar &value, at::ScalarType type, void *image) {
  const at::Tensor element = at::detail::empty_cpu({}, type);
  try {
    element.fill_(value);
  } catch (const std::exception &) {
    return false;  // torch itself has found that the value does not fit
  }
  if (!represents(element.item(), value)) {
    return false;
  }
  memcpy(image, element.const_data_ptr(), element.element_size());
  return true;
}

namespace {

bool is_of_word(char letter) {
  return letter == '.' || letter == '_' || std::isalnum(static_cast<unsigned char>(letter));
}

// Replaces a whole word of a message.
void replace(std::string &message, const std::string &word, const std::string &name) {
  for (size_t begin = message.find(word); begin != std::string::npos; begin = message.find(word, begin + 1)) {
    const size_t end = begin + word.size();
    const bool is_inside = begin > 0 && is_of_word(message[begin - 1]);
    if (!is_inside && !(end < message.size() && is_of_word(message[end]))) {
      message.replace(begin, word.size(), name);
      return;
    }
  }
}

// Names the dtypes of an error as users of torch write them.
void name_dtypes(gth_error &error) {
  std::string message = error.message;
  for (const int64_t number : {error.value, error.limit}) {
    const auto dtype = static_cast<int32_t>(number);
    if (dtype < 0) {  // the library writes the number of a dtype that it does not have
      replace(message, std::to_string(dtype), name_of(dtype));
    }
    if (dtype != 0) {
      replace(message, gth_dtype_name(dtype), name_of(dtype));
    }
  }
  strncpy(error.message, message.c_str(), sizeof error.message - 1);
}

}  // namespace

void raise(const gth_error &given) {
  gth_error error = given;
  if (error.status == GTH_E_DTYPE) {
    name_dtypes(error);
  }
  last_error = error;
  const c10::SourceLocation here{__func__, __FILE__, __LINE__};
  switch (error.status) {
    case GTH_E_INDEX: throw c10::IndexError(here, error.message);
    case GTH_E_DTYPE: throw c10::TypeError(here, error.message);
    case GTH_E_UNSUPPORTED: throw c10::NotImplementedError(here, error.message);
    case GTH_E_NOMEM: throw c10::OutOfMemoryError(here, error.message);
    default: throw c10::ValueError(here, error.message);
  }
}

void raise(int32_t status, int32_t operand, const std::string &message) {
  gth_error error = GTH_ERROR_INIT;
  error.status = status;
  error.operand = operand;
  error.component = -1;
  error.position = -1;
  error.item = -1;
  strncpy(error.message, message.c_str(), sizeof error.message - 1);
  raise(error);
}

}  // namespace libgather
