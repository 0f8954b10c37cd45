#pragma once

#include <algorithm>
#include <random>

#include "device_test.hpp"

// Random gathers of every form, on the device and on the CPU.
namespace forms {

using device::Bytes;
using device::Context;
using device::Error;
using device::Memory;
using device::Shape;

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t below(int64_t end) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(end)); }
  bool chance(int64_t percent) { return below(100) < percent; }
  uint64_t bits() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

constexpr int32_t dtypes[] = {GTH_DTYPE_INT8, GTH_DTYPE_FLOAT16, GTH_DTYPE_INT32, GTH_DTYPE_FLOAT64,
                              GTH_DTYPE_COMPLEX128};
constexpr int32_t index_dtypes[] = {GTH_DTYPE_INT8,  GTH_DTYPE_INT16,  GTH_DTYPE_INT32,  GTH_DTYPE_INT64,
                                    GTH_DTYPE_UINT8, GTH_DTYPE_UINT16, GTH_DTYPE_UINT32, GTH_DTYPE_UINT64};

// A tensor with random strides in its own memory, on the device and on the CPU.
struct Operand {
  int32_t dtype;
  Shape shape, strides;
  bool is_dense = true;
  int64_t offset = 0;
  Bytes bytes;

  void lay_out(Random& random, bool may_overlap) {
    const int64_t item = gth_dtype_size(dtype);
    strides.assign(shape.size(), item);
    std::vector<size_t> order(shape.size());
    for (size_t d = 0; d < order.size(); ++d) order[d] = order.size() - 1 - d;
    is_dense = random.chance(60);
    if (!is_dense && random.chance(50) && order.size() > 1) std::swap(order[0], order[order.size() - 1]);
    int64_t span = item;
    for (const size_t d : order) {
      strides[d] = span + (is_dense || random.chance(70) ? 0 : item * random.below(3));
      if (!is_dense && may_overlap && random.chance(5)) strides[d] = 0;
      const int64_t reach = strides[d] * (std::max<int64_t>(shape[d], 1) - 1);
      if (!is_dense && random.chance(20)) {
        strides[d] = -strides[d];
        offset += reach;
      }
      span += reach;
    }
    bytes.resize(static_cast<size_t>(span));
    for (char& each : bytes) each = static_cast<char>(random.bits());
  }

  gth_tensor_desc desc(const void* data, int32_t device) const {
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    desc.dtype = dtype;
    desc.device = device;
    desc.ndim = static_cast<int32_t>(shape.size());
    desc.shape = shape.data();
    desc.strides = is_dense ? nullptr : strides.data();
    desc.offset = offset;
    desc.extent = static_cast<int64_t>(bytes.size());
    desc.data = data;
    return desc;
  }
};

struct Call {
  int32_t op = 0;
  bool is_nd = false;
  gth_options options = GTH_OPTIONS_INIT;
  Operand params, indices, out;
};

inline int64_t extent(Random& random, int64_t rank) { return 1 + random.below(rank > 6 ? 2 : rank > 3 ? 3 : 7); }

inline void fill_indices(Random& random, Call* call, int64_t first_dim, int64_t components) {
  Operand& indices = call->indices;
  const int64_t item = gth_dtype_size(indices.dtype);
  const bool is_tame = random.chance(70);
  for (size_t at = 0; at + static_cast<size_t>(item) <= indices.bytes.size(); at += static_cast<size_t>(item)) {
    const int64_t size =
        call->params.shape[static_cast<size_t>(first_dim + (components > 1 ? random.below(components) : 0))];
    int64_t smallest = size;
    for (int64_t c = 0; c < components; ++c) {
      smallest = std::min(smallest, call->params.shape[static_cast<size_t>(first_dim + c)]);
    }
    int64_t value = random.below(std::max<int64_t>(smallest, 1));
    if (!is_tame && random.chance(4))
      value = random.chance(50) ? -1 - random.below(2 * size + 2) : size + random.below(9);
    if (!is_tame && random.chance(1)) value = static_cast<int64_t>(random.bits());
    std::memcpy(indices.bytes.data() + at, &value, static_cast<size_t>(item));
  }
}

// Makes some tuples of indices padding, which may be out of bounds.
inline void put_padding(Random& random, Call* call, int64_t components) {
  Operand& indices = call->indices;
  const int64_t item = gth_dtype_size(indices.dtype),
                value = random.chance(50) ? random.below(3) : -1 - random.below(9);
  call->options.has_padding_index = 1;
  call->options.padding_index = value;
  for (size_t at = 0; at + static_cast<size_t>(item * components) <= indices.bytes.size();
       at += static_cast<size_t>(item * components)) {
    if (!random.chance(20)) continue;
    for (int64_t c = 0; c < components; ++c) {
      std::memcpy(indices.bytes.data() + at + static_cast<size_t>(c * item), &value, static_cast<size_t>(item));
    }
  }
}

inline Call make_call(Random& random) {
  Call call;
  call.is_nd = random.chance(50);
  call.op = call.is_nd ? GTH_OP_GATHER_ND : GTH_OP_GATHER;
  const int64_t rank = random.chance(15) ? 7 + random.below(12) : 1 + random.below(5);
  call.params.dtype = dtypes[random.below(5)];
  for (int64_t d = 0; d < rank; ++d) call.params.shape.push_back(extent(random, rank));
  if (random.chance(20)) call.params.shape.back() = 1 + random.below(700);
  const int64_t batch = random.chance(30) ? random.below(rank) : 0;
  const int64_t axis = call.is_nd ? batch : batch + random.below(rank - batch);
  const int64_t components = call.is_nd ? random.below(rank - batch + 1) : 1;
  call.options.batch_dims = batch;
  call.options.has_axis = call.is_nd ? 0 : 1;
  call.options.axis = call.is_nd ? 0 : axis;
  call.options.negative = static_cast<int32_t>(random.below(3));
  call.options.bounds = static_cast<int32_t>(random.chance(40) ? 0 : random.below(6));
  call.options.fill = static_cast<int32_t>(random.below(4));
  call.options.fill_value[0] = random.bits();
  call.options.fill_value[1] = random.bits();
  Shape& tuples = call.indices.shape;
  tuples.assign(call.params.shape.begin(), call.params.shape.begin() + batch);
  const int64_t tuple_dims = random.below(3);
  for (int64_t d = 0; d < tuple_dims; ++d) tuples.push_back(extent(random, rank));
  if (tuple_dims > 0 && random.chance(20)) tuples.back() = 1 + random.below(rank > 6 ? 30 : 3000);
  const size_t tuple_end = tuples.size();
  if (call.is_nd) tuples.push_back(components);
  call.indices.dtype = index_dtypes[random.below(8)];
  Shape& out = call.out.shape;
  const Shape& p = call.params.shape;
  out.assign(p.begin(), p.begin() + axis);
  out.insert(out.end(), tuples.begin() + batch, tuples.begin() + static_cast<int64_t>(tuple_end));
  out.insert(out.end(), p.begin() + axis + components, p.end());
  call.out.dtype = call.params.dtype;
  call.params.lay_out(random, true);
  call.indices.lay_out(random, true);
  call.out.lay_out(random, false);
  fill_indices(random, &call, axis, components);
  if (random.chance(15)) put_padding(random, &call, std::max<int64_t>(components, 1));
  return call;
}

// Returns an upper limit of the bytes of the output.
inline int64_t output_bytes(const Call& call) {
  int64_t bytes = 16;
  for (const int64_t each : call.out.shape) bytes *= each;
  return bytes;
}

inline int32_t run(const Call& call, gth_context* context, const gth_tensor_desc& p, const gth_tensor_desc& i,
                   const gth_tensor_desc& o, gth_error* error) {
  return gth_run(context, call.op, &p, &i, &o, &call.options, error);
}

// Compares status, error fields and bytes of the same call on the CPU and on the device.
inline void compare(const Call& call, const Context& context, Random& random) {
  Bytes expected = call.out.bytes;
  Error on_cpu;
  const int32_t status = run(call, nullptr, call.params.desc(call.params.bytes.data(), GTH_DEVICE_CPU),
                             call.indices.desc(call.indices.bytes.data(), GTH_DEVICE_CPU),
                             call.out.desc(expected.data(), GTH_DEVICE_CPU), &on_cpu);
  const Memory params(call.params.bytes, random.below(3) ? 0 : random.below(32));
  const Memory indices(call.indices.bytes, random.below(3) ? 0 : random.below(32));
  const Memory out(call.out.bytes, random.below(3) ? 0 : random.below(32));
  Error error;
  int32_t found =
      run(call, context.get(), call.params.desc(params.data(), GTH_DEVICE_CUDA),
          call.indices.desc(indices.data(), GTH_DEVICE_CUDA), call.out.desc(out.data(), GTH_DEVICE_CUDA), &error);
  if (found == GTH_OK) found = gth_context_take_error(context.get(), &error);
  facts::expect_fields(found, error,
                       {status, on_cpu.operand, on_cpu.component, on_cpu.position, on_cpu.value, on_cpu.limit,
                        on_cpu.flags & ~uint32_t{GTH_ERROR_CUT}});
  EXPECT_TRUE(out.get() == expected) << "bytes differ";
}

}  // namespace forms
