#include "kernels.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/Formatting.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <sstream>

namespace libgather {

namespace {

bool is_half(const at::Tensor &tensor) {
  return tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
}

[[noreturn]] void refuse_fill(const at::Scalar &value, const at::Tensor &params) {
  std::ostringstream message;
  message << "options: fill_value ";
  if (value.type() == at::kUInt64) {  // torch writes signed integers only
    message << value.toUInt64();
  } else {
    message << value;
  }
  message << " is no " << name_of(dtype_of(params.scalar_type()));
  raise(GTH_E_DTYPE, GTH_OPERAND_OPTIONS, message.str());
}

void run_scatter(int32_t op, const at::Tensor &target, const at::Tensor &indices, const at::Tensor &updates,
                 const Attributes &attributes) {
  const Operand table(target), index(indices), rows(updates);
  gth_options options = options_of(op, attributes);
  const bool is_rounded = options.reduction == GTH_REDUCTION_ADD || options.reduction == GTH_REDUCTION_MUL ||
                          options.reduction == GTH_REDUCTION_MEAN;
  if (is_half(target) && is_rounded && options.accumulate == 0 && options.profile == 0) {
    options.accumulate = GTH_ACCUMULATE_FLOAT32;
  }
  gth_error error = no_error();
  require(gth_run(nullptr, op, &table.desc, &index.desc, &rows.desc, &options, &error), error);
}

at::Tensor new_rows(const gth_request &request, at::ScalarType type) {
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  gth_error error = no_error();
  int64_t shape[GTH_MAX_NDIM];
  require(gth_infer(&request, &rows, GTH_MAX_NDIM, shape, &error), error);
  return at::detail::empty_cpu(at::IntArrayRef(shape, static_cast<size_t>(rows.ndim)), type);
}

}  // namespace

at::Tensor gathered(int32_t op, const at::Tensor &params, const at::Tensor &indices, const Attributes &attributes,
                    const at::Scalar &fill_value) {
  const Operand table(params), index(indices);
  gth_options options = options_of(op, attributes);
  const bool is_stored = options.fill != GTH_FILL_VALUE || store(fill_value, params.scalar_type(), options.fill_value);
  if (!is_stored && options.has_padding_index) {
    refuse_fill(fill_value, params);
  }
  if (!is_stored) {  // an unused value need not fit
    options.bounds = GTH_BOUNDS_ERROR;
    options.fill = 0;
  }
  const at::Tensor out = new_rows(GTH_REQUEST(op, &table.desc, &index.desc, nullptr, &options), params.scalar_type());
  const Operand rows(out);
  gth_error error = no_error();
  const int32_t status = gth_run(nullptr, op, &table.desc, &index.desc, &rows.desc, &options, &error);
  if (C10_UNLIKELY(status == GTH_E_INDEX && !is_stored)) {
    refuse_fill(fill_value, params);
  }
  require(status, error);
  return out;
}

at::Tensor scattered(int32_t op, const at::Tensor &target, const at::Tensor &indices, const at::Tensor &updates,
                     const Attributes &attributes) {
  at::Tensor out = target.clone(at::MemoryFormat::Contiguous);
  run_scatter(op, out, indices, updates, attributes);
  return out;
}

at::Tensor positions_of(int32_t op, const at::Tensor &target, const at::Tensor &indices, const at::Tensor &updates,
                        const Attributes &attributes) {
  const at::Tensor out = at::detail::empty_cpu(target.sizes(), at::kLong);
  const Operand table(target), index(indices), rows(updates), positions(out);
  const gth_options options = options_of(op, attributes);
  const gth_request request = GTH_REQUEST(op, &table.desc, &index.desc, &rows.desc, &options);
  gth_error error = no_error();
  require(gth_scatter_positions(nullptr, &request, &positions.desc, &error), error);
  return out;
}

at::Tensor summed(int32_t op, const at::Tensor &gradient, const at::Tensor &indices, at::IntArrayRef shape,
                  const Attributes &attributes) {
  at::Tensor out = at::detail::empty_cpu(shape, gradient.scalar_type());
  const Operand table(out), index(indices), rows(gradient);
  gth_options options = options_of(op, attributes);
  options.fill = 0;
  if (is_half(gradient)) {
    options.accumulate = GTH_ACCUMULATE_FLOAT32;
  }
  gth_error error = no_error();
  require(gth_run(nullptr, op, &table.desc, &index.desc, &rows.desc, &options, &error), error);
  return out;
}

namespace {

// A request of gather_bags.
struct BagsRequest {
  Operand table, index;
  std::optional<Operand> bag, weight;
  gth_options options;
  gth_request request;

  BagsRequest(const at::Tensor &params, const at::Tensor &indices, const std::optional<at::Tensor> &bags,
              const std::optional<at::Tensor> &weights, int64_t count, const Attributes &attributes)
      : table(params), index(indices), options(options_of(GTH_OP_GATHER_BAGS, attributes)) {
    options.bag_count = count;
    request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &table.desc, &index.desc, nullptr, &options);
    request.bags = bags ? &bag.emplace(*bags).desc : nullptr;
    request.weights = weights ? &weight.emplace(*weights).desc : nullptr;
  }
  BagsRequest(const BagsRequest &) = delete;

  void fill(const at::Scalar &value, const at::Tensor &params) {
    if (options.fill == GTH_FILL_VALUE && !store(value, params.scalar_type(), options.fill_value)) {
      refuse_fill(value, params);
    }
  }
};

}  // namespace

at::Tensor pooled(const at::Tensor &params, const at::Tensor &indices, const std::optional<at::Tensor> &bags,
                  const std::optional<at::Tensor> &weights, int64_t count, const Attributes &attributes,
                  const at::Scalar &fill_value) {
  BagsRequest made(params, indices, bags, weights, count, attributes);
  made.fill(fill_value, params);
  const at::Tensor out = new_rows(made.request, params.scalar_type());
  const Operand rows(out);
  made.request.rows = &rows.desc;
  gth_error error = no_error();
  require(gth_run_request(nullptr, &made.request, &error), error);
  return out;
}

at::Tensor positions_of_bags(const at::Tensor &params, const at::Tensor &indices, const std::optional<at::Tensor> &bags,
                             int64_t count, const Attributes &attributes, const at::Scalar &fill_value) {
  BagsRequest made(params, indices, bags, std::nullopt, count, attributes);
  made.fill(fill_value, params);
  const at::Tensor out = new_rows(made.request, at::kLong);
  const Operand positions(out);
  gth_error error = no_error();
  require(gth_gather_bags_positions(nullptr, &made.request, &positions.desc, &error), error);
  return out;
}

at::Tensor gradient_of_bags(const at::Tensor &gradient, const std::optional<at::Tensor> &params, at::IntArrayRef shape,
                            const at::Tensor &indices, const std::optional<at::Tensor> &bags,
                            const std::optional<at::Tensor> &weights, int64_t count, const Attributes &attributes,
                            const at::Scalar &fill_value) {
  const at::Tensor out = at::detail::empty_cpu(shape, gradient.scalar_type());
  BagsRequest made(params.value_or(out), indices, bags, weights, count, attributes);
  if (params) {
    made.fill(fill_value, *params);
  } else {
    made.table.desc.data = nullptr;  // its memory is that of the result
  }
  const Operand rows(gradient), target(out);
  made.request.rows = &rows.desc;
  gth_error error = no_error();
  require(gth_gather_bags_gradient(nullptr, &made.request, &target.desc, &error), error);
  return out;
}

at::Tensor sparse_gradient_of_bags(const at::Tensor &gradient, const std::optional<at::Tensor> &params,
                                   at::IntArrayRef shape, const at::Tensor &indices,
                                   const std::optional<at::Tensor> &bags, const std::optional<at::Tensor> &weights,
                                   int64_t count, const Attributes &attributes, const at::Scalar &fill_value) {
  const int64_t capacity = std::min(indices.numel(), shape[0]);
  const at::Tensor unique = at::detail::empty_cpu({1, capacity}, at::kLong), ids = unique[0];
  std::vector<int64_t> rows_shape(shape.begin(), shape.end());
  rows_shape[0] = capacity;
  const at::Tensor sums = at::detail::empty_cpu(rows_shape, gradient.scalar_type());
  BagsRequest made(params.value_or(sums), indices, bags, weights, count, attributes);
  if (params) {
    made.fill(fill_value, *params);
  } else {
    made.table.desc.data = nullptr;  // its memory is that of the sums
    made.table.desc.shape = shape.data();
  }
  const Operand rows(gradient), numbers(ids), target(sums);
  made.request.rows = &rows.desc;
  gth_error error = no_error();
  int64_t found = 0;
  require(gth_gather_bags_sparse_gradient(nullptr, &made.request, &numbers.desc, &target.desc, &found, &error), error);
  return at::_sparse_coo_tensor_unsafe(unique.narrow(1, 0, found), sums.narrow(0, 0, found), shape, sums.scalar_type(),
                                       at::kSparse, at::kCPU, false, /*is_coalesced=*/true);
}

at::Tensor gradient_of_weights(const at::Tensor &gradient, const at::Tensor &params, const at::Tensor &indices,
                               const std::optional<at::Tensor> &bags, const at::Tensor &weights, int64_t count,
                               const Attributes &attributes, const at::Scalar &fill_value) {
  const at::Tensor out = at::detail::empty_cpu(weights.sizes(), weights.scalar_type());
  BagsRequest made(params, indices, bags, weights, count, attributes);
  made.fill(fill_value, params);
  const Operand rows(gradient), target(out);
  made.request.rows = &rows.desc;
  gth_error error = no_error();
  require(gth_gather_bags_weight_gradient(nullptr, &made.request, &target.desc, &error), error);
  return out;
}

namespace {

// A scatter that replaces rows, and the gradient of its result.
struct Replacing {
  int32_t op;
  const at::Tensor &gradient, &indices;
  const Attributes &writes, &reads;
  at::IntArrayRef count, places, row;  // the shapes of the updates, of the target, and of a row of both

  at::Tensor new_updates() const {
    std::vector<int64_t> shape = count.vec();
    shape.insert(shape.end(), row.begin(), row.end());
    return at::detail::empty_cpu(shape, gradient.scalar_type());
  }
  size_t bytes() const { return gradient.element_size() * static_cast<size_t>(c10::multiply_integers(row)); }
};

// The numbers of the updates from `first` on, which `places` has where they remain.
struct Numbered {
  at::Tensor numbers, places;

  Numbered(const Replacing &on, int64_t first, bool clears)
      : numbers(at::detail::empty_cpu(on.count, at::kLong)), places(at::detail::empty_cpu(on.places, at::kLong)) {
    auto *const number = numbers.data_ptr<int64_t>();
    std::iota(number, number + numbers.numel(), first);
    if (clears) {
      std::fill_n(places.data_ptr<int64_t>(), places.numel(), first - 1);
    }
    run_scatter(on.op, places, on.indices, numbers, on.writes);
  }
};

void clear_row(char *rows, int64_t number, size_t bytes) {
  memset(rows + static_cast<size_t>(number) * bytes, 0, bytes);
}

// Reads all places. This takes less time than a copy of wide rows.
ReplacedGradients by_places(const Replacing &on, bool needs_target, bool needs_updates) {
  const at::Tensor given = on.gradient.contiguous();
  const Numbered made(on, 0, true);
  const size_t bytes = on.bytes();
  const auto *const last = made.places.const_data_ptr<int64_t>(), *const end = last + made.places.numel();
  ReplacedGradients result;
  if (needs_target) {
    result.target = given.clone();
    auto *const rows = static_cast<char *>(result.target.data_ptr());
    for (const int64_t *place = last; place != end; place++) {
      if (*place >= 0) {
        clear_row(rows, place - last, bytes);
      }
    }
  }
  if (needs_updates) {
    result.updates = on.new_updates();
    auto *const number = made.numbers.data_ptr<int64_t>();
    auto *const rows = static_cast<char *>(result.updates.data_ptr());
    const auto *from = static_cast<const char *>(given.const_data_ptr());
    for (const int64_t *place = last; place != end; place++, from += bytes) {
      if (*place >= 0) {
        memcpy(rows + static_cast<size_t>(*place) * bytes, from, bytes);
        number[*place] = -1;
      }
    }
    for (int64_t i = 0; i < made.numbers.numel(); i++) {
      if (number[i] >= 0) {  // a later update has replaced it
        clear_row(rows, i, bytes);
      }
    }
  }
  return result;
}

// Computes the gradients from the rows that updates select, without a pass over the whole target. A gather that selects
// no row returns 0, so updates are numbered from 1.
ReplacedGradients by_updates(const Replacing &on, bool needs_target, bool needs_updates) {
  ReplacedGradients result;
  if (needs_target) {
    const at::Tensor zeros = on.new_updates();
    zeros.zero_();
    result.target = on.gradient.clone(at::MemoryFormat::Contiguous);
    run_scatter(on.op, result.target, on.indices, zeros, on.writes);
  }
  if (needs_updates) {
    result.updates = gathered(gather_of(on.op), on.gradient, on.indices, on.reads, 0);
    const Numbered made(on, 1, false);
    const at::Tensor last = gathered(gather_of(on.op), made.places, on.indices, on.reads, 0);
    const auto *const number = last.const_data_ptr<int64_t>();
    auto *const rows = static_cast<char *>(result.updates.data_ptr());
    const size_t bytes = on.bytes();
    for (int64_t i = 0; i < last.numel(); i++) {
      if (number[i] != i + 1) {
        clear_row(rows, i, bytes);
      }
    }
  }
  return result;
}

}  // namespace

ReplacedGradients gradients_of_replaced(int32_t op, const at::Tensor &gradient, const at::Tensor &indices,
                                        const Attributes &writes, const Attributes &reads, bool needs_target,
                                        bool needs_updates) {
  const size_t selected = has_axis(op) ? 1 : static_cast<size_t>(indices.size(-1));
  const at::IntArrayRef count = has_axis(op) ? indices.sizes() : indices.sizes().slice(0, indices.sizes().size() - 1);
  const at::IntArrayRef sizes = gradient.sizes();
  const Replacing on{op, gradient, indices, writes, reads, count, sizes.slice(0, selected), sizes.slice(selected)};
  constexpr size_t wide = 64;  // bytes
  return (on.bytes() < wide ? by_updates : by_places)(on, needs_target, needs_updates);
}

at::Tensor numbers_of_bags(const at::Tensor &bags, int64_t count) {
  const at::Tensor given = bags.to(at::kLong).contiguous(), made = at::detail::empty_cpu({count}, at::kLong);
  const auto *const starts = given.const_data_ptr<int64_t>();
  auto *const numbers = made.data_ptr<int64_t>();
  const int64_t size = given.numel();
  for (int64_t bag = 0; bag < size; bag++) {  // another thread may have changed the starts
    const int64_t begin = std::clamp<int64_t>(starts[bag], 0, count);
    const int64_t end = bag + 1 < size ? std::clamp(starts[bag + 1], begin, count) : count;
    std::fill(numbers + begin, numbers + end, bag);
  }
  return made;
}

}  // namespace libgather
