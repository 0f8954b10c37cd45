#pragma once

#include "scatter_forms.hpp"

// Random gathers of bags of every form, on the device and on the CPU.
namespace forms {

constexpr int32_t pooled_dtypes[] = {GTH_DTYPE_INT8,      GTH_DTYPE_INT16,     GTH_DTYPE_INT32,   GTH_DTYPE_INT64,
                                     GTH_DTYPE_UINT8,     GTH_DTYPE_UINT16,    GTH_DTYPE_UINT32,  GTH_DTYPE_UINT64,
                                     GTH_DTYPE_FLOAT16,   GTH_DTYPE_FLOAT32,   GTH_DTYPE_FLOAT64, GTH_DTYPE_BFLOAT16,
                                     GTH_DTYPE_FLOAT16,   GTH_DTYPE_FLOAT32,   GTH_DTYPE_FLOAT32, GTH_DTYPE_BFLOAT16,
                                     GTH_DTYPE_COMPLEX64, GTH_DTYPE_COMPLEX128};

// The formats of the operand bags.
constexpr int32_t bag_formats[] = {GTH_BAGS_OFFSETS, GTH_BAGS_STARTS, GTH_BAGS_LENGTHS, GTH_BAGS_SEGMENTS};

// Lengths that repeat every seven bags. Some bags are empty.
inline std::vector<int64_t> mixed_lengths(int64_t bags) {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < bags; ++i) lengths.push_back(i * i % 7 % 5);
  return lengths;
}

struct BagCall {
  gth_options options = GTH_OPTIONS_INIT;
  Operand params, indices, bags, weights, out;
  bool has_bags = false, has_weights = false;
};

inline bool is_half(int32_t dtype) { return dtype == GTH_DTYPE_FLOAT16 || dtype == GTH_DTYPE_BFLOAT16; }

// Mostly a few ids, and seldom so many that the CPU divides them.
inline int64_t bag_length(Random& random) {
  if (random.chance(2)) return random.below(700);
  return random.chance(20) ? 0 : random.below(random.chance(20) ? 40 : 10);
}

inline void choose_pool(Random& random, BagCall* call) {
  const int32_t dtype = call->params.dtype;
  gth_options& options = call->options;
  const bool is_float = float_bytes(dtype) > 0 && !is_complex(dtype);
  options.pool = is_float ? static_cast<int32_t>(random.below(6)) : is_complex(dtype) ? GTH_POOL_MEAN : GTH_POOL_SUM;
  if (is_complex(dtype) && random.chance(50)) options.pool = GTH_POOL_SUM;
  if (!is_float && !is_complex(dtype) && random.chance(50))
    options.pool = random.chance(50) ? GTH_POOL_MAX : GTH_POOL_MIN;
  const bool is_extreme = options.pool == GTH_POOL_MAX || options.pool == GTH_POOL_MIN;
  call->has_weights = !is_extreme && !is_complex(dtype) && random.chance(50);
  call->weights.dtype = is_float && random.chance(40) ? int32_t{GTH_DTYPE_FLOAT32} : dtype;
  if (is_half(dtype) && random.chance(30)) options.accumulate = GTH_ACCUMULATE_DTYPE;
  if (is_half(dtype) && random.chance(40)) options.out_dtype = GTH_DTYPE_FLOAT32;
  call->out.dtype = options.out_dtype ? options.out_dtype : dtype;
}

inline void choose_options(Random& random, BagCall* call) {
  gth_options& options = call->options;
  constexpr int32_t profiles[] = {GTH_PROFILE_TORCH, GTH_PROFILE_TENSORFLOW, GTH_PROFILE_JAX_FILL,
                                  GTH_PROFILE_JAX_CLIP};
  if (random.chance(30)) options.profile = profiles[random.below(4)];
  options.negative = static_cast<int32_t>(random.below(3));
  options.bounds = static_cast<int32_t>(random.chance(50) ? 0 : random.below(7));
  options.fill = static_cast<int32_t>(random.chance(50) ? GTH_FILL_VALUE : random.below(4));
  options.fill_value[0] = number_bits(random, call->params.dtype);
  options.fill_value[1] = number_bits(random, call->params.dtype);
  options.empty = static_cast<int32_t>(random.below(random.chance(50) ? 4 : 3));
  if (random.chance(30)) {
    options.has_padding_index = 1;
    options.padding_index = random.chance(60) ? random.below(4) : -1 - random.below(3);
  }
}

// Sets the numbers of bags with these lengths. Some calls get invalid ones.
inline void put_bags(Random& random, const std::vector<int64_t>& lengths, int64_t ids, BagCall* call) {
  std::vector<int64_t> numbers;
  int64_t sum = 0;
  for (size_t b = 0; b < lengths.size(); ++b) {
    switch (call->options.bag_format) {
      case GTH_BAGS_LENGTHS: numbers.push_back(lengths[b]); break;
      case GTH_BAGS_SEGMENTS:
        numbers.insert(numbers.end(), static_cast<size_t>(lengths[b]), static_cast<int64_t>(b));
        break;
      default: numbers.push_back(sum);
    }
    sum += lengths[b];
  }
  const bool are_offsets = call->options.bag_format == GTH_BAGS_OFFSETS || call->options.bag_format == 0;
  if (are_offsets) numbers.push_back(sum);
  call->bags.shape = {static_cast<int64_t>(numbers.size())};
  call->bags.dtype = index_dtypes[ids < 100 ? random.below(8) : 2 + random.below(2)];
  call->bags.lay_out(random, false);
  if (random.chance(20) && !numbers.empty()) {
    int64_t& changed = numbers[static_cast<size_t>(random.below(static_cast<int64_t>(numbers.size())))];
    changed = random.chance(20) ? static_cast<int64_t>(random.bits()) : changed - 3 + random.below(7);
  }
  const int64_t item = gth_dtype_size(call->bags.dtype);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const int64_t at = call->bags.offset + static_cast<int64_t>(i) * call->bags.strides[0];
    std::memcpy(call->bags.bytes.data() + at, &numbers[i], static_cast<size_t>(item));
  }
}

inline void put_ids(Random& random, BagCall* call) {
  Operand& indices = call->indices;
  const int64_t item = gth_dtype_size(indices.dtype), size = call->params.shape[0];
  const bool is_tame = random.chance(60);
  for (size_t at = 0; at + static_cast<size_t>(item) <= indices.bytes.size(); at += static_cast<size_t>(item)) {
    int64_t value = random.below(std::max<int64_t>(size, 1));
    if (!is_tame && random.chance(6))
      value = random.chance(50) ? -1 - random.below(2 * size + 2) : size + random.below(9);
    if (!is_tame && random.chance(1)) value = static_cast<int64_t>(random.bits());
    if (call->options.has_padding_index && random.chance(15)) value = call->options.padding_index;
    std::memcpy(indices.bytes.data() + at, &value, static_cast<size_t>(item));
  }
}

inline int64_t row_extent(Random& random) {
  constexpr int64_t limits[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
  return std::max<int64_t>(1, limits[random.below(9)] - 1 + random.below(3));
}

// Sets bags of these lengths, and `left` ids behind the last one. Precondition: the format has been chosen.
inline void set_bags(Random& random, const std::vector<int64_t>& lengths, int64_t left, BagCall* call) {
  int64_t ids = 0;
  for (const int64_t each : lengths) ids += each;
  if (call->options.bag_format == GTH_BAGS_SEGMENTS) call->options.bag_count = static_cast<int64_t>(lengths.size());
  put_bags(random, lengths, ids, call);
  call->indices.shape = {call->options.bag_format == GTH_BAGS_SEGMENTS ? ids : ids + left};
  call->out.shape = {static_cast<int64_t>(lengths.size())};
}

inline void choose_shapes(Random& random, BagCall* call) {
  call->params.shape = {random.chance(5) ? random.below(2) : 1 + random.below(random.chance(10) ? 100 : 9)};
  const int64_t slice_dims = random.below(4);
  for (int64_t d = 1; d < slice_dims; ++d) call->params.shape.push_back(1 + random.below(3));
  if (slice_dims > 0) call->params.shape.push_back(random.chance(3) ? 0 : row_extent(random));
  std::vector<int64_t> lengths(static_cast<size_t>(random.chance(10) ? random.below(200) : random.below(9)));
  for (int64_t& each : lengths) each = bag_length(random);
  call->options.bag_format = static_cast<int32_t>(random.below(6));
  call->has_bags = call->options.bag_format != GTH_BAGS_DENSE && (call->options.bag_format || random.chance(50));
  Shape& out = call->out.shape;
  if (call->has_bags) {
    set_bags(random, lengths, random.chance(4) ? random.below(4) : 0, call);
  } else {
    for (int64_t d = random.below(4); d-- > 0;) out.push_back(random.below(random.chance(10) ? 60 : 5));
    call->indices.shape = out;
    call->indices.shape.push_back(bag_length(random));
  }
  out.insert(out.end(), call->params.shape.begin() + 1, call->params.shape.end());
  call->weights.shape = call->indices.shape;
}

// Lays out the operands of a call whose shapes and options have been chosen, and puts numbers into them.
inline void fill_bags(Random& random, BagCall* call) {
  call->params.lay_out(random, true);
  call->indices.lay_out(random, true);
  call->weights.lay_out(random, true);
  call->out.lay_out(random, false);
  put_numbers(random, &call->params);
  put_numbers(random, &call->weights);
  if (random.chance(10)) call->weights.bytes.assign(call->weights.bytes.size(), 0);  // divisors of 0
  put_ids(random, call);
}

inline BagCall make_bags(Random& random) {
  BagCall call;
  call.params.dtype = pooled_dtypes[random.below(18)];
  call.indices.dtype = index_dtypes[random.below(8)];
  choose_pool(random, &call);
  choose_options(random, &call);
  choose_shapes(random, &call);
  fill_bags(random, &call);
  return call;
}

inline int64_t bytes_of(const Operand& operand) { return static_cast<int64_t>(operand.bytes.size()); }

// The data of the operands of a call.
struct BagData {
  const void *params, *indices, *bags, *weights, *out;
  int32_t device;
};

inline int32_t run(const BagCall& call, const BagData& data, gth_context* context, gth_error* error) {
  const gth_tensor_desc p = call.params.desc(data.params, data.device),
                        i = call.indices.desc(data.indices, data.device);
  const gth_tensor_desc o = call.out.desc(data.out, data.device);
  const gth_tensor_desc b = call.has_bags ? call.bags.desc(data.bags, data.device) : p;
  const gth_tensor_desc w = call.has_weights ? call.weights.desc(data.weights, data.device) : p;
  return gth_gather_bags(context, &p, &i, call.has_bags ? &b : nullptr, call.has_weights ? &w : nullptr, &o,
                         &call.options, error);
}

inline std::string describe(const BagCall& call) {
  const gth_options& o = call.options;
  return "dtype " + std::to_string(call.params.dtype) + " format " + std::to_string(o.bag_format) + " pool " +
         std::to_string(o.pool) + " profile " + std::to_string(o.profile) + " bounds " + std::to_string(o.bounds) +
         " empty " + std::to_string(o.empty) + " weights " + std::to_string(call.has_weights ? call.weights.dtype : 0) +
         " out_dtype " + std::to_string(o.out_dtype) + " accumulate " + std::to_string(o.accumulate) + " padding " +
         std::to_string(o.has_padding_index);
}

// Compares status, error fields and bytes of the same call on the CPU and on the device. Returns the status.
inline int32_t compare_bags(const BagCall& call, const Context& context, Random& random) {
  Bytes expected = call.out.bytes;
  Error on_cpu;
  const int32_t status = run(call,
                             {call.params.bytes.data(), call.indices.bytes.data(), call.bags.bytes.data(),
                              call.weights.bytes.data(), expected.data(), GTH_DEVICE_CPU},
                             nullptr, &on_cpu);
  const auto shift = [&] { return random.below(3) ? 0 : random.below(32); };
  const Memory params(call.params.bytes, shift()), indices(call.indices.bytes, shift());
  const Memory bags(call.bags.bytes, shift()), weights(call.weights.bytes, shift()), out(call.out.bytes, shift());
  Error error;
  int32_t found = run(call, {params.data(), indices.data(), bags.data(), weights.data(), out.data(), GTH_DEVICE_CUDA},
                      context.get(), &error);
  if (found == GTH_OK) found = gth_context_take_error(context.get(), &error);
  facts::expect_fields(found, error,
                       {status, on_cpu.operand, on_cpu.component, on_cpu.position, on_cpu.value, on_cpu.limit,
                        on_cpu.flags & ~uint32_t{GTH_ERROR_CUT}});
  const size_t offset = static_cast<size_t>(call.out.offset);
  EXPECT_TRUE(with_one_nan(call.out.dtype, out.get(), offset) == with_one_nan(call.out.dtype, expected, offset))
      << "bytes differ: " << describe(call) << ", CPU: " << on_cpu.message;
  EXPECT_FALSE(testing::Test::HasFailure())
      << describe(call) << ", CPU: " << on_cpu.message << ", device: " << error.message;
  return status;
}

}  // namespace forms
