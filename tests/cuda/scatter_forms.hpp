#pragma once

#include <cmath>

#include "forms.hpp"

// Random scatters of every form, on the device and on the CPU.
namespace forms {

constexpr int32_t number_dtypes[] = {
    GTH_DTYPE_INT8,      GTH_DTYPE_INT16,      GTH_DTYPE_INT32,   GTH_DTYPE_INT64,
    GTH_DTYPE_UINT8,     GTH_DTYPE_UINT16,     GTH_DTYPE_UINT32,  GTH_DTYPE_UINT64,
    GTH_DTYPE_FLOAT16,   GTH_DTYPE_FLOAT32,    GTH_DTYPE_FLOAT64, GTH_DTYPE_BFLOAT16,
    GTH_DTYPE_COMPLEX64, GTH_DTYPE_COMPLEX128, GTH_DTYPE_BOOL,    GTH_DTYPE_FLOAT8_E5M2};

inline bool is_complex(int32_t dtype) { return dtype == GTH_DTYPE_COMPLEX64 || dtype == GTH_DTYPE_COMPLEX128; }

// The size of a floating number or of a part of a complex one, or 0.
inline size_t float_bytes(int32_t dtype) {
  if (dtype == GTH_DTYPE_FLOAT16 || dtype == GTH_DTYPE_BFLOAT16) return 2;
  if (dtype == GTH_DTYPE_FLOAT32 || dtype == GTH_DTYPE_COMPLEX64) return 4;
  return dtype == GTH_DTYPE_FLOAT64 || dtype == GTH_DTYPE_COMPLEX128 ? 8 : 0;
}

inline bool is_nan(int32_t dtype, uint64_t bits) {
  switch (float_bytes(dtype)) {
    case 2: return (bits & 0x7fff) > (dtype == GTH_DTYPE_FLOAT16 ? 0x7c00u : 0x7f80u);
    case 4: return (bits & 0x7fffffff) > 0x7f800000;
    case 8: return (bits & ~(uint64_t{1} << 63)) > uint64_t{0x7ff} << 52;
    default: return false;
  }
}

// Replaces every NaN by one NaN, because their bits differ between processors.
inline Bytes with_one_nan(int32_t dtype, Bytes bytes, size_t offset) {
  const size_t size = float_bytes(dtype);
  for (size_t at = offset % std::max<size_t>(size, 1); size && at + size <= bytes.size(); at += size) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, size);
    if (is_nan(dtype, bits)) std::memset(bytes.data() + at, 0x7f, size);
  }
  return bytes;
}

// Returns the bits of a number of moderate size, and seldom of a special one.
inline uint64_t number_bits(Random& random, int32_t dtype) {
  const size_t size = float_bytes(dtype);
  if (size == 0 || random.chance(2)) return random.bits();
  const double value =
      std::ldexp(static_cast<double>(random.below(4001) - 2000), static_cast<int>(random.below(12)) - 9);
  uint64_t bits = 0;
  if (size == 8) {
    std::memcpy(&bits, &value, 8);
    return bits;
  }
  const float single = static_cast<float>(value);
  std::memcpy(&bits, &single, 4);
  if (size == 4) return bits;
  if (dtype == GTH_DTYPE_BFLOAT16) return bits >> 16;
  // A float16 number with some of the digits. Its exponent is within the range of float16, or it is zero.
  const uint64_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  return magnitude ? sign | ((magnitude >> 13) - (112u << 10)) : sign;
}

inline void put_numbers(Random& random, Operand* operand) {
  const size_t parts = is_complex(operand->dtype) ? 2 : 1;
  const size_t size = static_cast<size_t>(gth_dtype_size(operand->dtype)) / parts;
  for (size_t at = 0; at + size <= operand->bytes.size(); at += size) {
    const uint64_t bits = number_bits(random, operand->dtype);
    std::memcpy(operand->bytes.data() + at, &bits, size);
  }
}

// Puts numbers whose sums are exact: 0, 1 and 2.
inline void put_small_numbers(Random& random, Operand* operand) {
  const size_t parts = is_complex(operand->dtype) ? 2 : 1;
  const size_t size = static_cast<size_t>(gth_dtype_size(operand->dtype)) / parts;
  for (size_t at = 0; at + size <= operand->bytes.size(); at += size) {
    const int64_t value = random.below(3);
    uint64_t bits = static_cast<uint64_t>(value);
    switch (float_bytes(operand->dtype)) {
      case 2: {
        const bool is_half = operand->dtype == GTH_DTYPE_FLOAT16;
        bits = value == 0 ? 0 : value == 1 ? (is_half ? 0x3c00 : 0x3f80) : 0x4000;
        break;
      }
      case 4: {
        const float number = static_cast<float>(value);
        bits = 0;
        std::memcpy(&bits, &number, 4);
        break;
      }
      case 8: {
        const double number = static_cast<double>(value);
        std::memcpy(&bits, &number, 8);
        break;
      }
      default: break;
    }
    std::memcpy(operand->bytes.data() + at, &bits, size);
  }
}

// Returns the reduction, or another one if it is not defined for the dtype.
inline int32_t defined(int32_t dtype, int32_t reduction) {
  if (dtype == GTH_DTYPE_FLOAT8_E5M2) return GTH_REDUCTION_NONE;
  const bool has_no_order = is_complex(dtype) && (reduction == GTH_REDUCTION_MAX || reduction == GTH_REDUCTION_MIN);
  const bool has_no_mean = dtype == GTH_DTYPE_BOOL && reduction == GTH_REDUCTION_MEAN;
  return has_no_order || has_no_mean ? GTH_REDUCTION_ADD : reduction;
}

inline void set_reduction(Random& random, bool is_gradient, Call* call) {
  const int32_t dtype = call->params.dtype;
  const bool is_half = dtype == GTH_DTYPE_FLOAT16 || dtype == GTH_DTYPE_BFLOAT16;
  gth_options& options = call->options;
  options.fill = options.bounds == GTH_BOUNDS_FILL && is_gradient ? options.fill : 0;
  options.fill_value[0] = options.fill_value[1] = 0;
  if (options.bounds == GTH_BOUNDS_FILL && !is_gradient) options.bounds = GTH_BOUNDS_SKIP;
  options.reduction = is_gradient ? 0 : defined(dtype, GTH_REDUCTION_NONE + static_cast<int32_t>(random.below(6)));
  const bool adds = is_gradient || options.reduction == GTH_REDUCTION_ADD || options.reduction == GTH_REDUCTION_MUL ||
                    options.reduction == GTH_REDUCTION_MEAN;
  if (adds && is_half && random.chance(50)) options.accumulate = GTH_ACCUMULATE_FLOAT32;
  if (adds && dtype == GTH_DTYPE_FLOAT32 && random.chance(30)) options.accumulate = GTH_ACCUMULATE_FLOAT64;
  if (!is_gradient && random.chance(30)) options.initial = GTH_INITIAL_UPDATE;
  if (random.chance(20)) {
    options.has_padding_index = 1;
    options.padding_index = random.chance(50) ? random.below(4) : -1 - random.below(3);
  }
}

// Turns a gather into the scatter or gradient that reads its output and writes its params.
inline void turn_around(Random& random, Call* call) {
  constexpr int32_t ops[][2] = {{GTH_OP_SCATTER, GTH_OP_SCATTER_ND},
                                {GTH_OP_GATHER_GRADIENT, GTH_OP_GATHER_ND_GRADIENT}};
  const bool is_gradient = random.chance(15);
  call->op = ops[is_gradient][call->is_nd];
  do {
    call->params.dtype = number_dtypes[random.below(16)];
  } while (is_gradient && (call->params.dtype == GTH_DTYPE_BOOL || call->params.dtype == GTH_DTYPE_FLOAT8_E5M2));
  call->out.dtype = call->params.dtype;
  call->params.offset = call->out.offset = 0;
  call->params.lay_out(random, false);
  call->out.lay_out(random, true);
  put_numbers(random, &call->params);
  put_numbers(random, &call->out);
  set_reduction(random, is_gradient, call);
}

// A scatter of elements: indices and updates have the shape of the target, except along the axis.
inline Call make_elements_call(Random& random) {
  Call call;
  const bool is_gradient = random.chance(15);
  call.op = is_gradient ? GTH_OP_GATHER_ELEMENTS_GRADIENT : GTH_OP_SCATTER_ELEMENTS;
  const int64_t rank = 1 + random.below(4), axis = random.below(rank);
  for (int64_t d = 0; d < rank; ++d) call.params.shape.push_back(extent(random, rank));
  call.indices.shape = call.params.shape;
  call.indices.shape[static_cast<size_t>(axis)] = 1 + random.below(random.chance(20) ? 2000 : 9);
  call.out.shape = call.indices.shape;
  do {
    call.params.dtype = number_dtypes[random.below(16)];
  } while (is_gradient && (call.params.dtype == GTH_DTYPE_BOOL || call.params.dtype == GTH_DTYPE_FLOAT8_E5M2));
  call.out.dtype = call.params.dtype;
  call.indices.dtype = index_dtypes[random.below(8)];
  call.options.has_axis = 1;
  call.options.axis = axis;
  call.options.negative = static_cast<int32_t>(random.below(3));
  call.options.bounds = static_cast<int32_t>(random.chance(40) ? 0 : random.below(6));
  call.params.lay_out(random, false);
  call.indices.lay_out(random, true);
  call.out.lay_out(random, true);
  put_numbers(random, &call.params);
  put_numbers(random, &call.out);
  fill_indices(random, &call, axis, 1);
  set_reduction(random, is_gradient, &call);
  return call;
}

// A scatter of rows with few different indices.
inline Call make_rows_call(Random& random, int32_t dtype, int32_t reduction, const Shape& target, int64_t updates) {
  Call call;
  call.op = GTH_OP_SCATTER;
  call.params.dtype = call.out.dtype = dtype;
  call.indices.dtype = GTH_DTYPE_INT32;
  call.params.shape = target;
  call.indices.shape = {updates};
  call.out.shape = {updates, target[1]};
  call.params.lay_out(random, false);
  call.indices.lay_out(random, false);
  call.out.lay_out(random, false);
  put_numbers(random, &call.params);
  put_numbers(random, &call.out);
  fill_indices(random, &call, 0, 1);
  call.options.bounds = GTH_BOUNDS_CLAMP;
  call.options.reduction = defined(dtype, reduction);
  return call;
}

// Lays out an operand densely, except that the distance in one dim is odd.
inline void lay_out_oddly(Random& random, size_t odd_dim, Operand* operand) {
  const int64_t item = gth_dtype_size(operand->dtype);
  operand->strides.assign(operand->shape.size(), item);
  int64_t span = item;
  for (size_t d = operand->shape.size(); d-- > 0;) {
    operand->strides[d] = span + (d == odd_dim ? 1 : 0);
    span += operand->strides[d] * (operand->shape[d] - 1);
  }
  operand->is_dense = false;
  operand->bytes.resize(static_cast<size_t>(span));
  for (char& each : operand->bytes) each = static_cast<char>(random.bits());
}

inline Call make_scatter(Random& random) {
  if (random.chance(30)) return make_elements_call(random);
  Call call = make_call(random);
  turn_around(random, &call);
  return call;
}

// Compares status, error fields and bytes of the same scatter on the CPU and on the device.
inline void compare_scatter(const Call& call, const Context& context, Random& random) {
  Bytes expected = call.params.bytes;
  Error on_cpu;
  const int32_t status = run(call, nullptr, call.params.desc(expected.data(), GTH_DEVICE_CPU),
                             call.indices.desc(call.indices.bytes.data(), GTH_DEVICE_CPU),
                             call.out.desc(call.out.bytes.data(), GTH_DEVICE_CPU), &on_cpu);
  const Memory target(call.params.bytes, random.below(3) ? 0 : random.below(32));
  const Memory indices(call.indices.bytes, random.below(3) ? 0 : random.below(32));
  const Memory updates(call.out.bytes, random.below(3) ? 0 : random.below(32));
  Error error;
  int32_t found =
      run(call, context.get(), call.params.desc(target.data(), GTH_DEVICE_CUDA),
          call.indices.desc(indices.data(), GTH_DEVICE_CUDA), call.out.desc(updates.data(), GTH_DEVICE_CUDA), &error);
  if (found == GTH_OK) found = gth_context_take_error(context.get(), &error);
  facts::expect_fields(found, error,
                       {status, on_cpu.operand, on_cpu.component, on_cpu.position, on_cpu.value, on_cpu.limit,
                        on_cpu.flags & ~uint32_t{GTH_ERROR_CUT}});
  const size_t offset = static_cast<size_t>(call.params.offset);
  EXPECT_TRUE(with_one_nan(call.params.dtype, target.get(), offset) ==
              with_one_nan(call.params.dtype, expected, offset))
      << "bytes differ: op " << call.op << " dtype " << call.params.dtype << " reduction " << call.options.reduction
      << " accumulate " << call.options.accumulate << " initial " << call.options.initial;
}

}  // namespace forms
