// Registers the operators of torch.ops.libgather.

#include "bags.h"

#include <torch/library.h>

namespace libgather {

namespace {

template <int32_t Op>
Tensor gather_cpu(const Tensor &params, const Tensor &indices, int64_t axis, int64_t batch_dims, Numbers switches,
                  const Scalar &fill_value) {
  return gathered(Op, params, indices, {axis, batch_dims, switches}, fill_value);
}

template <int32_t Op>
Tensor scatter_cpu(const Tensor &target, const Tensor &indices, const Tensor &updates, int64_t axis, int64_t batch_dims,
                   Numbers switches) {
  return scattered(Op, target, indices, updates, {axis, batch_dims, switches});
}

template <int32_t Op>
Tensor gradient_cpu(const Tensor &gradient, const Tensor &indices, c10::SymIntArrayRef shape, int64_t axis,
                    int64_t batch_dims, Numbers switches) {
  return summed(Op, gradient, indices, C10_AS_INTARRAYREF_SLOW(shape), {axis, batch_dims, switches});
}

template <int32_t Op>
Tensor positions_cpu(const Tensor &target, const Tensor &indices, const Tensor &updates, int64_t axis,
                     int64_t batch_dims, Numbers switches) {
  return positions_of(Op, target, indices, updates, {axis, batch_dims, switches});
}

template <int32_t Op>
void define(torch::Library &library) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  const std::string attributes = "int axis, int batch_dims, int[] switches";
  const std::string gather = NAMES[Op - 1], scatter = NAMES[scatter_of(Op) - 1], gradient = NAMES[gradient_of(Op) - 1];
  const auto add = [&](const std::string &schema) { library.def((schema + " -> Tensor").c_str(), tags); };
  add(gather + "(Tensor params, Tensor indices, " + attributes + ", Scalar fill_value)");
  for (const std::string &name : {scatter, positions_name(scatter_of(Op))}) {
    add(name + "(Tensor target, Tensor indices, Tensor updates, " + attributes + ")");
  }
  add(gradient + "(Tensor gradient, Tensor indices, SymInt[] shape, " + attributes + ")");
}

// Registers a function for each operation of a kind of tensors.
#define IMPLEMENT(kernel)                                                         \
  template <int32_t Op>                                                           \
  void implement_##kernel(torch::Library &library) {                              \
    library.impl(NAMES[Op - 1], gather_##kernel<Op>);                             \
    library.impl(NAMES[scatter_of(Op) - 1], scatter_##kernel<scatter_of(Op)>);    \
    library.impl(NAMES[gradient_of(Op) - 1], GRADIENT_##kernel(gradient_of(Op))); \
  }                                                                               \
  void implement_all_##kernel(torch::Library &library) {                          \
    implement_##kernel<GTH_OP_GATHER>(library);                                   \
    implement_##kernel<GTH_OP_GATHER_ND>(library);                                \
    implement_##kernel<GTH_OP_GATHER_ELEMENTS>(library);                          \
  }
// Registers the positions of each scatter. They are integers, which have no derivatives.
#define IMPLEMENT_POSITIONS(kernel)                                                                             \
  void implement_positions_##kernel(torch::Library &library) {                                                  \
    library.impl(positions_name(GTH_OP_SCATTER).c_str(), positions_##kernel<GTH_OP_SCATTER>);                   \
    library.impl(positions_name(GTH_OP_SCATTER_ND).c_str(), positions_##kernel<GTH_OP_SCATTER_ND>);             \
    library.impl(positions_name(GTH_OP_SCATTER_ELEMENTS).c_str(), positions_##kernel<GTH_OP_SCATTER_ELEMENTS>); \
    library.impl(positions_name(GTH_OP_GATHER_BAGS).c_str(), positions_of_bags_##kernel);                       \
  }
#define GRADIENT_cpu(op) gradient_cpu<op>
#define GRADIENT_meta(op) gradient_meta
#define GRADIENT_autograd(op) gradient_autograd<op>
#define GRADIENT_batched(op) gradient_batched<op>
IMPLEMENT(cpu)
IMPLEMENT(meta)
IMPLEMENT(autograd)
IMPLEMENT(batched)
IMPLEMENT_POSITIONS(cpu)
IMPLEMENT_POSITIONS(meta)
IMPLEMENT_POSITIONS(batched)

}  // namespace

}  // namespace libgather

TORCH_LIBRARY(libgather, library) {
  libgather::define<GTH_OP_GATHER>(library);
  libgather::define<GTH_OP_GATHER_ND>(library);
  libgather::define<GTH_OP_GATHER_ELEMENTS>(library);
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  library.def("embedding(Tensor weight, Tensor ids, int padding_idx, bool sparse, int batch_dims=0) -> Tensor", tags);
  library.def(
      "gather_bags(Tensor params, Tensor indices, Tensor? bags, Tensor? weights, SymInt count, int[] switches, "
      "Scalar fill_value) -> Tensor",
      tags);
  library.def(
      "gather_bags_positions(Tensor params, Tensor indices, Tensor? bags, SymInt count, int[] switches, "
      "Scalar fill_value) -> Tensor",
      tags);
  // Only backward passes on devices call it.
  library.def(
      "gather_bags_gradient(bool of_weights, Tensor gradient, Tensor? params, SymInt[] shape, Tensor indices, "
      "Tensor? bags, Tensor? weights, SymInt count, int[] switches, Scalar fill_value) -> Tensor",
      tags);
}

TORCH_LIBRARY_IMPL(libgather, CPU, library) {
  libgather::implement_all_cpu(library);
  library.impl("gather_bags", libgather::bags_cpu);
  libgather::implement_positions_cpu(library);
}

TORCH_LIBRARY_IMPL(libgather, Meta, library) {
  libgather::implement_all_meta(library);
  library.impl("gather_bags", libgather::bags_meta);
  library.impl("gather_bags_gradient", libgather::bag_gradient_meta);
  libgather::implement_positions_meta(library);
}

TORCH_LIBRARY_IMPL(libgather, CompositeExplicitAutograd, library) {
  library.impl("embedding", libgather::embedding_rows);
}

TORCH_LIBRARY_IMPL(libgather, Autograd, library) {
  libgather::implement_all_autograd(library);
  library.impl("embedding", libgather::embedding_autograd);
  library.impl("gather_bags", libgather::bags_autograd);
}

TORCH_LIBRARY_IMPL(libgather, FuncTorchBatched, library) {
  libgather::implement_all_batched(library);
  library.impl("embedding", libgather::embedding_batched);
  library.impl("gather_bags", libgather::bags_batched);
  libgather::implement_positions_batched(library);
}
