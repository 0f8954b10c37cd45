// The derivatives of the operators, in reverse and in forward mode. A gather and its gradient are linear, and each is
// the other's derivative. A scatter has factors.
#pragma once

#include "kernels.h"
#include "nodes.h"
#include "shapes.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/embedding_sparse_backward.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

namespace libgather {

// The attributes as the first numbers of a node.
inline std::vector<int64_t> numbers_of(const Attributes &a) {
  std::vector<int64_t> numbers{a.axis, a.batch_dims};
  numbers.insert(numbers.end(), a.switches.begin(), a.switches.end());
  return numbers;
}

inline Attributes attributes_of(const std::vector<int64_t> &numbers) {
  return {numbers[0], numbers[1], Numbers(numbers).slice(2)};
}

// Returns the switches of a gather that is zero where nothing is read.
inline Switches zero_filled(const Attributes &a) {
  Switches switches(a.switches);
  switches.set(FILL, GTH_FILL_ZERO).set(REDUCTION, 0).set(ACCUMULATE, 0).set(INITIAL, 0);
  if (a[BOUNDS] == GTH_BOUNDS_SKIP) {
    switches.set(BOUNDS, GTH_BOUNDS_FILL);
  }
  return switches;
}

// Returns the switches of a scatter that overwrites the rows which a reduction with these switches changes.
inline Switches replacing(const Attributes &a) {
  return Switches(a.switches).set(REDUCTION, GTH_REDUCTION_NONE).set(ACCUMULATE, 0).set(INITIAL, 0);
}

template <int32_t Op>
Tensor linear_gather(const Tensor &params, const Tensor &indices, const Attributes &a) {
  const Switches switches = zero_filled(a);
  return call_gather<Op>(params, indices, {a.axis, a.batch_dims, switches}, Scalar(0));
}

template <int32_t Op>
struct GatherBackward {
  static constexpr size_t INPUTS = 1;
  static std::string name() { return std::string("libgather::") + NAMES[Op - 1]; }
  static variable_list gradients(const Tensor &gradient, const Saved &saved) {
    return {call_gradient<gradient_of(Op)>(gradient, saved.tensors[0], saved.shapes[0], attributes_of(saved.numbers))};
  }
};

template <int32_t Op>
struct GradientBackward {
  static constexpr size_t INPUTS = 1;
  static std::string name() { return std::string("libgather::") + NAMES[Op - 1]; }
  static variable_list gradients(const Tensor &gradient, const Saved &saved) {
    return {linear_gather<gather_of(Op)>(gradient, saved.tensors[0], attributes_of(saved.numbers))};
  }
};

template <int32_t Op>
Tensor gather_autograd(Keys keys, const Tensor &params, const Tensor &indices, int64_t axis, int64_t batch_dims,
                       Numbers switches, const Scalar &fill_value) {
  const auto node = recorded<GatherBackward<Op>>(params);
  if (node) {
    node->tensors.emplace_back(indices, false);
    node->shapes.push_back(params.sym_sizes().vec());
    node->numbers = numbers_of({axis, batch_dims, switches});
  }
  Tensor out;
  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    out = operation<Op, Gather>().redispatch(keys & c10::after_autograd_keyset, params, indices, axis, batch_dims,
                                             switches, fill_value);
  }
  connect(out, node);
  if (torch::autograd::isFwGradDefined(params)) {
    out._set_fw_grad(linear_gather<Op>(params._fw_grad(0), indices, {axis, batch_dims, switches}), 0, false);
  }
  return out;
}

template <int32_t Op>
Tensor gradient_autograd(Keys keys, const Tensor &gradient, const Tensor &indices, c10::SymIntArrayRef shape,
                         int64_t axis, int64_t batch_dims, Numbers switches) {
  const Attributes a{axis, batch_dims, switches};
  const auto node = recorded<GradientBackward<Op>>(gradient);
  if (node) {
    node->tensors.emplace_back(indices, false);
    node->numbers = numbers_of(a);
  }
  Tensor out;
  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    out = operation<Op, Gradient>().redispatch(keys & c10::after_autograd_keyset, gradient, indices, shape, axis,
                                               batch_dims, switches);
  }
  connect(out, node);
  if (torch::autograd::isFwGradDefined(gradient)) {
    out._set_fw_grad(call_gradient<Op>(gradient._fw_grad(0), indices, shape, a), 0, false);
  }
  return out;
}

// A scatter with its operands.
template <int32_t Op>
struct Scattering {
  const Tensor &target, &indices, &updates;
  const Attributes &a;

  Tensor scatter(const Tensor &onto, const Tensor &from, int64_t reduction) const {
    Switches switches(a.switches);
    switches.set(REDUCTION, reduction);
    return call_scatter<Op>(onto, indices, from, {a.axis, a.batch_dims, switches});
  }
  Tensor gather(const Tensor &from) const { return linear_gather<gather_of(Op)>(from, indices, a); }
};

// The scatter near its operands: (kept * target + scatter_add(0, used * updates)) / count. An undefined tensor is 1.
struct Factors {
  Tensor kept, used, count;
};

// If one update of a place is 0, its factor is the product of all other updates and the target.
template <int32_t Op>
Factors factors_of_product(const Scattering<Op> &s) {
  const Tensor is_zero = s.updates.eq(0);
  const Tensor zeros =
      s.gather(s.scatter(at::zeros_like(s.target), is_zero.to(s.target.scalar_type()), GTH_REDUCTION_ADD));
  const Tensor is_only_zero = is_zero.logical_and(zeros.eq(1));
  const Tensor others = s.gather(s.scatter(s.target, s.updates.masked_fill(is_only_zero, 1), GTH_REDUCTION_MUL));
  const Tensor all = s.gather(s.scatter(s.target, s.updates, GTH_REDUCTION_MUL));
  return {s.scatter(at::ones_like(s.target), s.updates, GTH_REDUCTION_MUL),
          at::where(is_only_zero, others, all.div(s.updates.masked_fill(is_zero, 1))),
          {}};
}

// All values that are the extreme have equal factors, as in torch.
template <int32_t Op>
Factors factors_of_extreme(const Scattering<Op> &s) {
  const at::ScalarType type = s.target.scalar_type();
  const Tensor extreme = s.scatter(s.target, s.updates, s.a[REDUCTION]);
  const Tensor is_own = s.target.eq(extreme).to(type);
  const Tensor is_one = s.updates.eq(s.gather(extreme)).to(type);
  return {is_own, is_one, s.scatter(is_own, is_one, GTH_REDUCTION_ADD).clamp_min(1)};
}

template <int32_t Op>
Factors factors_of_mean(const Scattering<Op> &s) {
  return {{}, {}, s.scatter(at::ones_like(s.target), at::ones_like(s.updates), GTH_REDUCTION_ADD)};
}

template <int32_t Op>
Factors factors_of(const Scattering<Op> &s) {
  switch (s.a[REDUCTION]) {
    case GTH_REDUCTION_MUL: return factors_of_product(s);
    case GTH_REDUCTION_MEAN: return factors_of_mean(s);
    default: return factors_of_extreme(s);
  }
}

inline bool has_factors(const Attributes &a) { return a[REDUCTION] >= GTH_REDUCTION_MUL; }

// Returns whether the factors depend on the values of target and updates.
inline bool needs_values(const Attributes &a) { return has_factors(a) && a[REDUCTION] != GTH_REDUCTION_MEAN; }

inline bool replaces(const Attributes &a) { return a[REDUCTION] <= GTH_REDUCTION_NONE; }

// Returns whether an update replaces the value of target, so that this value has no gradient.
inline bool drops_target(const Attributes &a) { return replaces(a) || a[INITIAL] == GTH_INITIAL_UPDATE; }

inline Tensor conjugate(const Tensor &factor) { return factor.defined() ? factor.conj() : factor; }

inline Tensor times(const Tensor &factor, const Tensor &value) { return factor.defined() ? value.mul(factor) : value; }

inline Tensor over(const Tensor &count, const Tensor &value) { return count.defined() ? value.div(count) : value; }

// Returns for each update whether a later one replaces it, with extents of 1 where updates share the answer. The numbers
// of the updates are scattered in the same way, and read again.
template <int32_t Op>
Tensor is_replaced(const Tensor &indices, const Shape &target, const Shape &updates, const Attributes &a) {
  const auto rank = static_cast<int64_t>(target.size());
  const int64_t batch_dims = a.batch_dims < 0 ? a.batch_dims + indices.dim() : a.batch_dims;
  Attributes own{a.axis, batch_dims, a.switches};
  Shape places(target), count = indices.sym_sizes().vec(), answer(updates);
  if constexpr (is_elements(Op)) {
    count = updates;
  } else if constexpr (has_axis(Op)) {
    const int64_t axis = a.axis < 0 ? a.axis + rank : a.axis;
    places.assign(target.begin(), target.begin() + batch_dims);
    places.push_back(target[static_cast<size_t>(axis)]);
    std::fill(answer.begin() + batch_dims, answer.begin() + axis, 1);
    std::fill(answer.end() - (rank - axis - 1), answer.end(), 1);
    own.axis = batch_dims;
  } else {
    const int64_t selected = batch_dims + indices.sym_size(-1).guard_int(__FILE__, __LINE__);
    places.resize(static_cast<size_t>(selected));
    places.push_back(1);  // a tuple without components needs a target of rank 1
    count.back() = 1;
    std::fill(answer.end() - (rank - selected), answer.end(), 1);
  }
  const auto options = indices.options().dtype(at::kLong);
  const Tensor numbers = at::arange(Scalar(c10::multiply_integers(count)), options).reshape_symint(count);
  const Tensor none = at::full_symint(places, -1, options);
  const Switches switches = replacing(a);
  own.switches = switches;
  const Tensor last = call_scatter<Op>(none, indices, numbers, own);
  return linear_gather<gather_of(Op)>(last, indices, own).ne(numbers).reshape_symint(answer);
}

template <int32_t Op>
struct ScatterBackward {
  static constexpr size_t INPUTS = 2;
  static std::string name() { return std::string("libgather::") + NAMES[Op - 1]; }

  // The first numbers state which gradients are needed.
  static variable_list gradients(const Tensor &gradient, const Saved &saved) {
    const std::vector<int64_t> numbers(saved.numbers.begin() + 2, saved.numbers.end());
    return gradients(gradient, saved, attributes_of(numbers), saved.numbers[0] != 0, saved.numbers[1] != 0);
  }

 private:
  static variable_list gradients(const Tensor &gradient, const Saved &saved, const Attributes &a, bool needs_target,
                                 bool needs_updates) {
    const Tensor &indices = saved.tensors[0];
    if (has_rows(indices, a) && !at::GradMode::is_enabled() && is_plain(gradient) && is_plain(indices)) {
      const Switches writes = replacing(a), reads = zero_filled(a);
      const ReplacedGradients made =
          gradients_of_replaced(Op, gradient, indices, {0, 0, writes}, {0, 0, reads}, needs_target, needs_updates);
      return {made.target, made.updates};
    }
    const Factors factors = has_factors(a) ? factors_of_saved(gradient, saved, a) : Factors{};
    const Tensor each = over(factors.count, gradient);
    variable_list result(INPUTS);
    if (needs_target) {
      const Tensor kept = times(factors.kept, each);
      result[0] = drops_target(a) ? without_places(kept, indices, saved.shapes[1], a) : kept;
    }
    if (needs_updates) {
      result[1] = replaces(a) ? of_last(gradient, indices, saved, a)
                              : times(factors.used, linear_gather<gather_of(Op)>(each, indices, a));
    }
    return result;
  }

  // Returns whether the scatter replaces rows along axis 0 or by tuples.
  static bool has_rows(const Tensor &indices, const Attributes &a) {
    const bool is_first = has_axis(Op) ? a.axis == 0 : indices.dim() > 0 && indices.sym_size(-1) > 0;
    return !is_elements(Op) && replaces(a) && a.batch_dims == 0 && is_first;
  }

  static Factors factors_of_saved(const Tensor &gradient, const Saved &saved, const Attributes &a) {
    const auto operand = [&](size_t which) {
      return needs_values(a) ? saved.tensors[which]
                             : at::zeros({}, gradient.options()).expand_symint(saved.shapes[which - 1]);
    };
    const Tensor target = operand(1), updates = operand(2);
    const Factors factors = factors_of(Scattering<Op>{target, saved.tensors[0], updates, a});
    return {conjugate(factors.kept), conjugate(factors.used), factors.count};
  }

  static Tensor of_last(const Tensor &gradient, const Tensor &indices, const Saved &saved, const Attributes &a) {
    const Tensor rows = linear_gather<gather_of(Op)>(gradient, indices, a);
    return rows.masked_fill(is_replaced<Op>(indices, saved.shapes[0], saved.shapes[1], a), 0);
  }

  static Tensor without_places(const Tensor &gradient, const Tensor &indices, const Shape &updates,
                               const Attributes &a) {
    const Switches switches = replacing(a);
    return call_scatter<Op>(gradient, indices, at::zeros({}, gradient.options()).expand_symint(updates),
                            {a.axis, a.batch_dims, switches});
  }
};

inline Tensor tangent_of(const Tensor &tensor) {
  return torch::autograd::isFwGradDefined(tensor) ? tensor._fw_grad(0) : at::zeros_like(tensor);
}

template <int32_t Op>
Tensor scatter_tangent(const Tensor &target, const Tensor &indices, const Tensor &updates, const Attributes &a) {
  const Tensor of_target = tangent_of(target), of_updates = tangent_of(updates);
  if (!has_factors(a)) {
    return call_scatter<Op>(of_target, indices, of_updates, a);
  }
  const Tensor onto = target._fw_primal(0), from = updates._fw_primal(0);
  const Scattering<Op> s{onto, indices, from, a};
  const Factors factors = factors_of(s);
  const Tensor sums = s.scatter(times(factors.kept, of_target), times(factors.used, of_updates), GTH_REDUCTION_ADD);
  return over(factors.count, sums);
}

template <int32_t Op>
Tensor scatter_autograd(Keys keys, const Tensor &target, const Tensor &indices, const Tensor &given, int64_t axis,
                        int64_t batch_dims, Numbers switches) {
  const Attributes a{axis, batch_dims, switches};
  const Tensor updates = widened<Op>(target, indices, given, a);
  const auto node = recorded<ScatterBackward<Op>>(target, updates);
  if (node) {
    node->tensors.emplace_back(indices, false);
    if (needs_values(a)) {
      node->tensors.emplace_back(target, false);
      node->tensors.emplace_back(updates, false);
    }
    node->shapes = {target.sym_sizes().vec(), updates.sym_sizes().vec()};
    node->numbers = {target.requires_grad(), updates.requires_grad()};
    const std::vector<int64_t> numbers = numbers_of(a);
    node->numbers.insert(node->numbers.end(), numbers.begin(), numbers.end());
  }
  Tensor out;
  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    out = operation<Op, Scatter>().redispatch(keys & c10::after_autograd_keyset, target, indices, updates, axis,
                                              batch_dims, switches);
  }
  connect(out, node);
  if (torch::autograd::isFwGradDefined(target) || torch::autograd::isFwGradDefined(updates)) {
    out._set_fw_grad(scatter_tangent<Op>(target, indices, updates, a), 0, false);
  }
  return out;
}

// The rows of an embedding. Only its gradient differs from that of a gather.
inline Tensor embedding_rows(const Tensor &weight, const Tensor &ids, int64_t, bool, int64_t batch_dims) {
  return call_gather<GTH_OP_GATHER>(weight, ids, {batch_dims, batch_dims, {}}, Scalar(0));
}

// Returns whether a gradient may be a sparse tensor. Within transforms of torch.func and within traces, gradients are
// dense.
inline bool may_be_sparse(const Tensor &gradient) {
  using c10::DispatchKey;
  return !c10::impl::tls_is_dispatch_key_included(DispatchKey::FuncTorchDynamicLayerFrontMode) &&
         !gradient.key_set().has_any(Keys{DispatchKey::Functionalize, DispatchKey::Python});
}

struct EmbeddingBackward {
  static constexpr size_t INPUTS = 1;
  static std::string name() { return "libgather::embedding"; }
  static variable_list gradients(const Tensor &gradient, const Saved &saved) {
    const Tensor &ids = saved.tensors[0];
    const int64_t padding = saved.numbers[0];
    const Shape &shape = saved.shapes[0];
    const int64_t batch_dims = saved.numbers[2];
    if (saved.numbers[1] != 0 && batch_dims == 0 && may_be_sparse(gradient)) {
      return {at::embedding_sparse_backward(gradient, ids, shape[0].guard_int(__FILE__, __LINE__), padding, false)};
    }
    Switches filled = Switches({}).set(BOUNDS, GTH_BOUNDS_FILL);  // an index out of bounds contributes nothing
    if (padding >= 0 && ids.is_cpu()) {
      filled.set(HAS_PADDING_INDEX, 1).set(PADDING_INDEX, padding);
    }
    const Tensor kept = padding < 0 || ids.is_cpu() ? ids : ids.masked_fill(ids.eq(padding), -1);
    return {call_gradient<GTH_OP_GATHER_GRADIENT>(gradient, kept, shape, {batch_dims, batch_dims, filled})};
  }
};

inline Tensor embedding_autograd(Keys keys, const Tensor &weight, const Tensor &ids, int64_t padding, bool sparse,
                                 int64_t batch_dims) {
  const auto node = recorded<EmbeddingBackward>(weight);
  if (node) {
    node->tensors.emplace_back(ids, false);
    node->shapes.push_back(weight.sym_sizes().vec());
    node->numbers = {padding, sparse, batch_dims};
  }
  Tensor out;
  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    out = embedding_operation().redispatch(keys & c10::after_autograd_keyset, weight, ids, padding, sparse, batch_dims);
  }
  connect(out, node);
  if (torch::autograd::isFwGradDefined(weight)) {
    out._set_fw_grad(embedding_rows(weight._fw_grad(0), ids, padding, sparse, batch_dims), 0, false);
  }
  return out;
}

}  // namespace libgather
