// The operators as calls of torch's dispatcher.
#pragma once

#include "operands.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace libgather {

using at::Scalar;
using at::Tensor;
using Keys = c10::DispatchKeySet;
using Numbers = at::IntArrayRef;

using Gather = Tensor(const Tensor &, const Tensor &, int64_t, int64_t, Numbers, const Scalar &);
using Scatter = Tensor(const Tensor &, const Tensor &, const Tensor &, int64_t, int64_t, Numbers);
using Gradient = Tensor(const Tensor &, const Tensor &, c10::SymIntArrayRef, int64_t, int64_t, Numbers);
using Embedding = Tensor(const Tensor &, const Tensor &, int64_t, bool, int64_t);
using Optional = std::optional<Tensor>;
using BagPositions = Tensor(const Tensor &, const Tensor &, const Optional &, c10::SymInt, Numbers, const Scalar &);
using GatherBags = Tensor(const Tensor &, const Tensor &, const Optional &, const Optional &, c10::SymInt, Numbers,
                          const Scalar &);

using BagGradient = Tensor(bool, const Tensor &, const Optional &, c10::SymIntArrayRef, const Tensor &,
                           const Optional &, const Optional &, c10::SymInt, Numbers, const Scalar &);

#define OPERATION_NAME(name) name,
constexpr const char *NAMES[] = {OPERATION_NAMES(OPERATION_NAME)};
#undef OPERATION_NAME

template <class Schema>
c10::TypedOperatorHandle<Schema> handle_of(const char *name) {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow((std::string("libgather::") + name).c_str(), "")
      .template typed<Schema>();
}

template <int32_t Op, class Schema>
const c10::TypedOperatorHandle<Schema> &operation() {
  static const auto handle = handle_of<Schema>(NAMES[Op - 1]);
  return handle;
}

template <int32_t Op>
Tensor call_gather(const Tensor &params, const Tensor &indices, const Attributes &a, const Scalar &fill_value) {
  return operation<Op, Gather>().call(params, indices, a.axis, a.batch_dims, a.switches, fill_value);
}

template <int32_t Op>
Tensor call_scatter(const Tensor &target, const Tensor &indices, const Tensor &updates, const Attributes &a) {
  return operation<Op, Scatter>().call(target, indices, updates, a.axis, a.batch_dims, a.switches);
}

template <int32_t Op>
Tensor call_gradient(const Tensor &gradient, const Tensor &indices, c10::SymIntArrayRef shape, const Attributes &a) {
  return operation<Op, Gradient>().call(gradient, indices, shape, a.axis, a.batch_dims, a.switches);
}

// Returns the name of the operator that finds the positions of the maxima or minima of another one.
inline std::string positions_name(int32_t op) { return std::string(NAMES[op - 1]) + "_positions"; }

template <int32_t Op>
Tensor call_positions(const Tensor &target, const Tensor &indices, const Tensor &updates, const Attributes &a) {
  static const auto handle = handle_of<Scatter>(positions_name(Op).c_str());
  return handle.call(target, indices, updates, a.axis, a.batch_dims, a.switches);
}

inline Tensor call_bag_positions(const Tensor &params, const Tensor &indices, const Optional &bags,
                                 const c10::SymInt &count, Numbers switches, const Scalar &fill_value) {
  static const auto handle = handle_of<BagPositions>(positions_name(GTH_OP_GATHER_BAGS).c_str());
  return handle.call(params, indices, bags, count, switches, fill_value);
}

inline const c10::TypedOperatorHandle<Embedding> &embedding_operation() {
  static const auto handle = handle_of<Embedding>("embedding");
  return handle;
}

inline const c10::TypedOperatorHandle<GatherBags> &bags_operation() {
  static const auto handle = handle_of<GatherBags>(NAMES[GTH_OP_GATHER_BAGS - 1]);
  return handle;
}

inline const c10::TypedOperatorHandle<BagGradient> &bag_gradient_operation() {
  static const auto handle = handle_of<BagGradient>("gather_bags_gradient");
  return handle;
}

// Returns whether torch's dispatcher would call nothing but kernels of a device: no transform, mode, subclass or trace.
inline bool is_untransformed(const Tensor &tensor) {
  using c10::DispatchKey;
  const auto thread = c10::impl::tls_local_dispatch_key_set();
  const c10::DispatchKeySet plain{DispatchKey::CPU, DispatchKey::AutogradCPU, DispatchKey::ADInplaceOrView,
                                  DispatchKey::BackendSelect};
  const auto others = ((tensor.key_set() | thread.included_) - thread.excluded_) - plain;
  return (others.raw_repr() & ~c10::full_backend_mask) == 0;  // differences keep the backend
}

// Returns the same for the CPU.
inline bool is_plain(const Tensor &tensor) { return tensor.is_cpu() && is_untransformed(tensor); }

// Copies of the switches, one of which may be changed.
class Switches {
 public:
  explicit Switches(Numbers numbers) : numbers_(numbers.begin(), numbers.end()) { numbers_.resize(SWITCHES); }
  Switches &set(Switch which, int64_t number) {
    numbers_[static_cast<size_t>(which)] = number;
    return *this;
  }
  operator Numbers() const { return numbers_; }

 private:
  std::vector<int64_t> numbers_;
};

}  // namespace libgather
