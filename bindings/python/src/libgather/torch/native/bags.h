// gather_bags with its derivatives. They are made of gathers and scatters, which have derivatives of their own.
#pragma once

#include "batches.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/stack.h>

#include <numeric>

namespace libgather {

// The operands of gather_bags.
struct Bags {
  const Tensor &params, &indices;
  const Optional &bags, &weights;
  const c10::SymInt &count;
  const Attributes &a;
  const Scalar &fill_value;

  Tensor pooled() const { return bags_operation().call(params, indices, bags, weights, count, a.switches, fill_value); }
  Tensor positions() const { return call_bag_positions(params, indices, bags, count, a.switches, fill_value); }
  int64_t format() const { return a[BAG_FORMAT] ? a[BAG_FORMAT] : bags ? GTH_BAGS_OFFSETS : GTH_BAGS_DENSE; }
  bool is_dense() const { return format() == GTH_BAGS_DENSE; }
  bool is_extreme() const { return a[POOL] >= GTH_POOL_MAX; }
  // Returns the shape of the bags: the first dims of the result.
  c10::SymDimVector shape() const {
    switch (format()) {
      case GTH_BAGS_DENSE: return sizes_of(indices, 0, indices.dim() - 1);
      case GTH_BAGS_OFFSETS: return {bags->sym_size(0) - 1};
      case GTH_BAGS_SEGMENTS: return {count};
      default: return {bags->sym_size(0)};
    }
  }
};

// Adds dims of extent 1 at the end, so that numbers of bags or indices can be multiplied with rows.
inline Tensor with_rank(const Tensor &numbers, int64_t rank) {
  c10::SymDimVector shape = sizes_of(numbers, 0, numbers.dim());
  shape.resize(static_cast<size_t>(rank), 1);
  return numbers.reshape_symint(shape);
}

// Half precision is added and multiplied in float32.
inline at::ScalarType wide(const Tensor &tensor) {
  const at::ScalarType type = tensor.scalar_type();
  return type == at::kHalf || type == at::kBFloat16 ? at::kFloat : type;
}

// The indices as those of gathers and scatters. Indices that are not counted select nothing, or row 0. Invalid indices are
// errors if they are `checked`. Otherwise the forward pass has validated them.
class Places {
 public:
  const Bags &b;
  Tensor indices;
  Tensor counted;  // undefined if all are
  Switches switches;

  Places(const Bags &given, bool checked) : b(given), indices(given.indices), switches(given.a.switches) {
    const Attributes &a = b.a;
    const bool is_error_by_default = is_in(a[PROFILE], PROFILES_bounds_error);
    const bool is_error = a[BOUNDS] == GTH_BOUNDS_ERROR || a[BOUNDS] == GTH_BOUNDS_ERROR_PARTIAL ||
                          (a[BOUNDS] == 0 && is_error_by_default);
    const bool wraps =
        a[NEGATIVE] == GTH_NEGATIVE_WRAP || (a[NEGATIVE] == 0 && is_in(a[PROFILE], PROFILES_negative_wrap));
    const bool is_filled = a[BOUNDS] == GTH_BOUNDS_SKIP || (is_error && !checked);
    for (const Switch which : {ACCUMULATE, BAG_FORMAT, POOL, EMPTY, HAS_PADDING_INDEX, PADDING_INDEX, SPARSE}) {
      switches.set(which, 0);
    }
    if (is_error_by_default) {
      switches.set(PROFILE, 0);
    }
    if (is_filled) {
      switches.set(BOUNDS, GTH_BOUNDS_FILL).set(FILL, GTH_FILL_ZERO);
    }
    count(a[BOUNDS] == GTH_BOUNDS_SKIP, wraps);
    if (counted.defined()) {
      const int64_t none = is_filled ? std::numeric_limits<int64_t>::min() : 0;
      indices = indices.to(at::kLong).masked_fill(counted.logical_not(), none);
    }
    if (!b.is_dense()) {
      numbers_ = numbers();
    }
  }

  // Returns the number of its bag for each index, or each bag's row of a tensor.
  Tensor spread(const Tensor &rows) const {
    if (!b.is_dense()) {
      const Switches filled = Switches({}).set(BOUNDS, GTH_BOUNDS_FILL);
      return call_gather<GTH_OP_GATHER>(rows, numbers_, {0, 0, filled}, 0);
    }
    const int64_t lead = indices.dim() - 1;
    c10::SymDimVector shape = sizes_of(indices, 0, indices.dim());
    append(shape, rows, lead, rows.dim());
    return rows.unsqueeze(lead).expand_symint(shape);
  }

  // Returns rows of bags, each of which has `start`, combined with the rows of its indices.
  Tensor reduced(const Tensor &rows, const Scalar &start, int64_t reduction) const {
    c10::SymDimVector shape = b.shape();
    append(shape, rows, indices.dim(), rows.dim());
    const Tensor onto = at::full_symint(shape, start, rows.options());
    const Switches skipping = Switches({}).set(BOUNDS, GTH_BOUNDS_SKIP).set(REDUCTION, reduction);
    return call_scatter<GTH_OP_SCATTER>(onto, numbers_, rows, {0, 0, skipping});
  }

  Tensor sum(const Tensor &rows) const {
    return b.is_dense() ? rows.sum(indices.dim() - 1) : reduced(rows, 0, GTH_REDUCTION_ADD);
  }

  Tensor without_uncounted(const Tensor &rows) const {
    return counted.defined() ? rows.masked_fill(with_rank(counted.logical_not(), rows.dim()), 0) : rows;
  }

  Tensor read() const { return call_gather<GTH_OP_GATHER>(b.params, indices, {0, 0, switches}, b.fill_value); }

  // Returns the factor of each bag, or an undefined tensor for a sum.
  Tensor scale() const {
    if (b.a[POOL] != GTH_POOL_MEAN && b.a[POOL] != GTH_POOL_SQRTN) {
      return {};
    }
    const auto options = b.params.options().dtype(c10::toRealValueType(wide(b.params)));
    const Tensor ones = at::ones_symint(indices.sym_sizes(), options);
    const Tensor weights = without_uncounted(b.weights ? b.weights->to(wide(*b.weights)) : ones);
    const bool is_mean = b.a[POOL] == GTH_POOL_MEAN;
    const Tensor total = sum(is_mean ? weights : weights.square());
    const Tensor is_zero = total.eq(0), divisor = total.masked_fill(is_zero, 1);
    return (is_mean ? divisor : divisor.sqrt()).reciprocal().masked_fill(is_zero, 0);
  }

  // Returns a tensor with one dim for all bags, so that its rank is that of params.
  Tensor one_bag_dim(const Tensor &rows) const {
    const c10::SymDimVector bags = b.shape();
    c10::SymDimVector shape{c10::multiply_integers(bags)};
    append(shape, rows, static_cast<int64_t>(bags.size()), rows.dim());
    return rows.reshape_symint(shape);
  }

  // Returns the index that each element of the result of a maximum or minimum is read by, and whether there is one.
  std::pair<Tensor, Tensor> winners() const {
    const Tensor found = b.positions(), ids = indices.to(at::kLong).reshape(-1);
    const Switches filled = Switches({}).set(BOUNDS, GTH_BOUNDS_FILL);
    return {call_gather<GTH_OP_GATHER>(ids, found, {0, 0, filled}, 0), found.ge(0)};
  }

 private:
  Tensor numbers_;

  void count(bool skips, bool wraps) {
    if (b.a[HAS_PADDING_INDEX]) {
      counted = indices.to(at::kLong).ne(b.a[PADDING_INDEX]);
    }
    if (skips) {
      const c10::SymInt rows = b.params.sym_size(0);
      const Tensor given = indices.to(at::kLong);
      const Tensor inside = given.ge(wraps ? Scalar(-rows) : Scalar(0)).logical_and(given.lt(Scalar(rows)));
      counted = counted.defined() ? counted.logical_and(inside) : inside;
    }
  }

  Tensor numbers() const {
    if (b.format() == GTH_BAGS_SEGMENTS) {
      return *b.bags;
    }
    Tensor starts = *b.bags;
    if (b.format() == GTH_BAGS_LENGTHS) {
      starts = at::cat({at::zeros({1}, starts.options().dtype(at::kLong)), starts.to(at::kLong).cumsum(0)});
    }
    const c10::SymInt count = indices.sym_size(0);
    if (is_plain(starts) && is_plain(indices)) {
      return numbers_of_bags(starts, count.guard_int(__FILE__, __LINE__));
    }
    const Tensor order = at::arange(Scalar(count), starts.options().dtype(at::kLong));
    return at::searchsorted(starts.to(at::kLong), order, false, /*right=*/true).sub(1);
  }
};

// Returns the result as a composition of operators that have derivatives and batching rules.
inline Tensor composed(const Bags &b) {
  const Places places(b, true);
  if (b.is_extreme()) {
    const auto [winner, is_read] = places.winners();
    const Switches switches = Switches(places.switches).set(EXTENTS, GTH_EXTENTS_PREFIX);
    return call_gather<GTH_OP_GATHER_ELEMENTS>(b.params, places.one_bag_dim(winner), {0, 0, switches}, b.fill_value)
        .reshape_symint(winner.sym_sizes())
        .masked_fill(is_read.logical_not(), 0);
  }
  Tensor rows = places.without_uncounted(places.read());
  rows = rows.to(wide(rows));
  if (b.weights) {
    rows = rows.mul(with_rank(*b.weights, rows.dim()));
  }
  const Tensor scale = places.scale();
  Tensor out = places.sum(rows);
  if (scale.defined()) {
    out = out.mul(with_rank(scale, out.dim()));
  }
  return out.to(b.params.scalar_type());
}

// The gradients of params and weights.
struct BagsBackward {
  static constexpr size_t INPUTS = 2;
  static std::string name() { return "libgather::gather_bags"; }

  // The numbers: which gradients are needed, which of params, bags and weights are saved, and the attributes. The shapes:
  // the number of bags, and the shape of params. The scalar is the fill value. Many pools need no values of params.
  static variable_list gradients(const Tensor &gradient, const Saved &saved) {
    const std::vector<int64_t> numbers(saved.numbers.begin() + 5, saved.numbers.end());
    const Attributes a = attributes_of(numbers);
    auto tensor = saved.tensors.begin();
    const Tensor indices = *tensor++;
    const Tensor params =
        saved.numbers[2] ? *tensor++ : at::empty({}, gradient.options()).expand_symint(saved.shapes[1]);
    const Optional bags = saved.numbers[3] ? Optional(*tensor++) : std::nullopt;
    const Optional weights = saved.numbers[4] ? Optional(*tensor++) : std::nullopt;
    const Bags b{params, indices, bags, weights, saved.shapes[0][0], a, saved.scalars[0]};
    if (!at::GradMode::is_enabled() && is_untransformed(gradient)) {
      return gradient.is_cpu() ? direct(gradient, b, saved) : on_device(gradient, b, saved);
    }
    const Places places(b, false);
    if (b.is_extreme()) {
      return {of_extreme(gradient, places), {}};
    }
    const Tensor scale = places.scale();
    const Tensor scaled = scale.defined() ? gradient.mul(with_rank(scale, gradient.dim())) : gradient;
    const Tensor rows = places.spread(scaled);
    return {saved.numbers[0] ? of_params(rows, places) : Tensor(),
            saved.numbers[1] ? of_weights(scaled, rows, scale, places) : Tensor()};
  }

 private:
  // Returns the library's gradients. A transform, a mode or a subclass gets the composition.
  static variable_list direct(const Tensor &gradient, const Bags &b, const Saved &saved) {
    const int64_t count = b.count.guard_int(__FILE__, __LINE__);
    const Optional values = saved.numbers[2] ? Optional(b.params) : std::nullopt;
    const auto of_params = b.a[SPARSE] ? sparse_gradient_of_bags : gradient_of_bags;
    Tensor params, weights;
    if (saved.numbers[0]) {
      params = of_params(gradient, values, b.params.sizes(), b.indices, b.bags, b.weights, count, b.a, b.fill_value);
    }
    if (saved.numbers[1]) {
      weights = gradient_of_weights(gradient, b.params, b.indices, b.bags, *b.weights, count, b.a, b.fill_value);
    }
    return {params, weights};
  }

  // As `direct`, by an operator that devices have.
  static variable_list on_device(const Tensor &gradient, const Bags &b, const Saved &saved) {
    const Optional values = saved.numbers[2] ? Optional(b.params) : std::nullopt;
    const auto computed = [&](bool of_weights) {
      return bag_gradient_operation().call(of_weights, gradient, values, saved.shapes[1], b.indices, b.bags, b.weights,
                                           b.count, b.a.switches, b.fill_value);
    };
    return {saved.numbers[0] ? computed(false) : Tensor(), saved.numbers[1] ? computed(true) : Tensor()};
  }

  static Tensor of_extreme(const Tensor &gradient, const Places &places) {
    const auto [winner, is_read] = places.winners();
    const Switches switches = Switches(places.switches).set(EXTENTS, GTH_EXTENTS_PREFIX);
    const Tensor given = places.one_bag_dim(gradient.masked_fill(is_read.logical_not(), 0));
    return call_gradient<GTH_OP_GATHER_ELEMENTS_GRADIENT>(given, places.one_bag_dim(winner),
                                                          places.b.params.sym_sizes(), {0, 0, switches});
  }

  static Tensor of_params(const Tensor &rows, const Places &places) {
    const Bags &b = places.b;
    Tensor each = places.without_uncounted(rows);
    if (b.weights) {
      each = each.mul(with_rank(*b.weights, rows.dim()));
    }
    return call_gradient<GTH_OP_GATHER_GRADIENT>(each, places.indices, b.params.sym_sizes(), {0, 0, places.switches})
        .to(b.params.scalar_type());
  }

  // A weight of a mean or of a sum divided by a root also changes the divisor.
  static Tensor of_weights(const Tensor &scaled, const Tensor &rows, const Tensor &scale, const Places &places) {
    const Bags &b = places.b;
    const Tensor read = places.read();
    const at::ScalarType type = wide(*b.weights);
    Tensor result = inner(rows, read, places.indices.dim(), type);
    if (scale.defined()) {
      const Tensor own = inner(scaled, b.pooled(), places.indices.dim() - (b.is_dense() ? 1 : 0), type);
      result =
          result.sub(b.a[POOL] == GTH_POOL_MEAN ? places.spread(own) : places.spread(own.mul(scale)).mul(*b.weights));
    }
    return places.without_uncounted(result).to(b.weights->scalar_type());
  }

  // Returns the inner products of rows, whose dims begin at `first`.
  static Tensor inner(const Tensor &one, const Tensor &other, int64_t first, at::ScalarType type) {
    const Tensor products = one.to(type).mul(other.to(type));
    std::vector<int64_t> dims(static_cast<size_t>(products.dim() - first));
    std::iota(dims.begin(), dims.end(), first);
    return dims.empty() ? products : products.sum(dims);
  }
};

inline Tensor bags_cpu(const Tensor &params, const Tensor &indices, const Optional &bags, const Optional &weights,
                       c10::SymInt count, Numbers switches, const Scalar &fill_value) {
  return pooled(params, indices, bags, weights, count.guard_int(__FILE__, __LINE__), {0, 0, switches}, fill_value);
}

inline Tensor positions_of_bags_cpu(const Tensor &params, const Tensor &indices, const Optional &bags,
                                    c10::SymInt count, Numbers switches, const Scalar &fill_value) {
  return positions_of_bags(params, indices, bags, count.guard_int(__FILE__, __LINE__), {0, 0, switches}, fill_value);
}

inline Tensor bags_meta(const Tensor &params, const Tensor &indices, const Optional &bags, const Optional &weights,
                        c10::SymInt count, Numbers switches, const Scalar &fill_value) {
  const Attributes a{0, 0, switches};
  const Bags b{params, indices, bags, weights, count, a, fill_value};
  const OpenOperand table(params), index(indices);
  std::optional<OpenOperand> bag, weight;
  gth_options options = options_of(GTH_OP_GATHER_BAGS, a);
  options.fill = options.fill == GTH_FILL_VALUE ? 0 : options.fill;
  options.bag_count = count.maybe_as_int().value_or(1);
  gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &table.desc, &index.desc, nullptr, &options);
  request.bags = bags ? &bag.emplace(*bags).desc : nullptr;
  request.weights = weights ? &weight.emplace(*weights).desc : nullptr;
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  gth_error error = no_error();
  int64_t known[GTH_MAX_NDIM];
  require(gth_infer(&request, &rows, GTH_MAX_NDIM, known, &error), error);
  for (int64_t dim = 0; weights && dim < indices.dim(); dim++) {
    require_extent(weights->sym_size(dim), indices.sym_size(dim), GTH_OPERAND_WEIGHTS, dim);
  }
  if (b.format() == GTH_BAGS_SEGMENTS) {
    require_extent(bags->sym_size(0), indices.sym_size(0), GTH_OPERAND_BAGS, 0);
  }
  c10::SymDimVector shape = b.shape();
  append(shape, params, 1, params.dim());
  return at::empty_symint(shape, params.options());
}

inline Tensor positions_of_bags_meta(const Tensor &params, const Tensor &indices, const Optional &bags,
                                     c10::SymInt count, Numbers switches, const Scalar &fill_value) {
  return at::empty_like(bags_meta(params, indices, bags, std::nullopt, std::move(count), switches, fill_value),
                        at::kLong);
}

inline Tensor bag_gradient_meta(bool of_weights, const Tensor &gradient, const Optional &, c10::SymIntArrayRef shape,
                                const Tensor &, const Optional &, const Optional &weights, c10::SymInt, Numbers,
                                const Scalar &) {
  return of_weights ? at::empty_like(*weights) : at::empty_symint(shape, gradient.options());
}

inline Tensor bags_autograd(Keys keys, const Tensor &params, const Tensor &indices, const Optional &bags,
                            const Optional &weights, c10::SymInt count, Numbers switches, const Scalar &fill_value) {
  const Attributes a{0, 0, switches};
  const Bags b{params, indices, bags, weights, count, a, fill_value};
  const Tensor weight = weights.value_or(Tensor());
  const auto node = recorded<BagsBackward>(params, weight);
  if (node) {
    const bool needs_weights = weights && weights->requires_grad();
    const Optional values = needs_weights || b.is_extreme() ? Optional(params) : std::nullopt;
    node->tensors.emplace_back(indices, false);
    node->numbers = {params.requires_grad(), needs_weights};
    for (const Optional &given : {values, bags, weights}) {
      node->numbers.push_back(given.has_value());
      if (given) {
        node->tensors.emplace_back(*given, false);
      }
    }
    node->shapes = {{count}, params.sym_sizes().vec()};
    const std::vector<int64_t> numbers = numbers_of(a);
    node->numbers.insert(node->numbers.end(), numbers.begin(), numbers.end());
    // Compiled autograd has no integers that are unsigned only. The dtype of params represents them.
    node->scalars = {fill_value.type() == at::kUInt64 ? Scalar(fill_value.toDouble()) : fill_value};
  }
  Tensor out;
  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    out = bags_operation().redispatch(keys & c10::after_autograd_keyset, params, indices, bags, weights, count,
                                      switches, fill_value);
  }
  connect(out, node);
  if (torch::autograd::isFwGradDefined(params) || torch::autograd::isFwGradDefined(weights)) {
    out._set_fw_grad(composed(b)._fw_grad(0), 0, false);
  }
  return out;
}

// Runs the composition, whose operators have batching rules.
inline Tensor bags_batched(const Tensor &params, const Tensor &indices, const Optional &bags, const Optional &weights,
                           c10::SymInt count, Numbers switches, const Scalar &fill_value) {
  const Attributes a{0, 0, switches};
  if (a[EMPTY] > GTH_EMPTY_ZERO || (a[POOL] >= GTH_POOL_MAX && is_in(a[PROFILE], PROFILES_empty_identity))) {
    raise(GTH_E_UNSUPPORTED, GTH_OPERAND_OPTIONS, "options: vmap needs empty bags that are zero");
  }
  return composed({params, indices, bags, weights, count, a, fill_value});
}

// Dense bags of one table get an additional first dim. Other bags run one after another.
inline Tensor positions_of_bags_batched(const Tensor &params, const Tensor &indices, const Optional &bags,
                                        c10::SymInt count, Numbers switches, const Scalar &fill_value) {
  const c10::SymInt ids = indices.sym_numel();
  const Excluded guard(c10::DispatchKey::FuncTorchBatched);
  const Batch batch({params, indices, bags.value_or(indices)});
  const auto [table, dim] = at::functorch::unwrapTensorAtLevel(params, batch.level);
  if (!dim && !bags) {
    return batch.wrapped(within(call_bag_positions(table, batch.operands[1], bags, count, switches, fill_value), ids));
  }
  std::vector<Tensor> found;
  for (int64_t i = 0; i < batch.size.guard_int(__FILE__, __LINE__); i++) {
    const Optional own = bags ? Optional(batch.operands[2].select(0, i)) : std::nullopt;
    found.push_back(call_bag_positions(batch.operands[0].select(0, i), batch.operands[1].select(0, i), own, count,
                                       switches, fill_value));
  }
  return batch.wrapped(at::stack(found));
}

}  // namespace libgather
