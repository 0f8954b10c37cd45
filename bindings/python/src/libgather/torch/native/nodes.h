// A node of autograd's graph that applies a rule to saved tensors, shapes and numbers. A scalar may be a symbol.
#pragma once

#include "calls.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/dynamo/compiled_autograd.h>
#include <torch/version.h>

namespace libgather {

using torch::autograd::SavedVariable;
using torch::autograd::variable_list;
using Shape = std::vector<c10::SymInt>;

// What a derivative needs.
struct Saved {
  std::vector<Tensor> tensors;
  std::vector<Shape> shapes;
  std::vector<int64_t> numbers;
  std::vector<Scalar> scalars;
};

// Rule has the name of the node, and the function that returns the gradients of the inputs.
template <class Rule>
struct Recorded : torch::autograd::Node {
  std::vector<SavedVariable> tensors;
  std::vector<Shape> shapes;
  std::vector<int64_t> numbers;
  std::vector<Scalar> scalars;

  std::string name() const override { return Rule::name(); }

  variable_list apply(variable_list &&grads) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return applied(grads, {unpacked(), shapes, numbers, scalars});
  }

  void release_variables() override {
    for (SavedVariable &tensor : tensors) {
      tensor.reset_data();
    }
  }

  // Compiled autograd traces `applied` over values that it has packed.
  void compiled_args(torch::dynamo::autograd::CompiledNodeArgs &args) const override {
    args.collect(tensors, false);
    for (const Shape &shape : shapes) {
      args.collect(shape);
    }
    for (const int64_t number : numbers) {
      args.collect(number);
    }
    for (const Scalar &scalar : scalars) {
      args.collect(scalar);
    }
  }

  variable_list apply_with_saved(const variable_list &grads,
                                 torch::dynamo::autograd::SwapSavedVariables &saved) override {
    using namespace torch::dynamo::autograd;
    for (SavedVariable &tensor : tensors) {
      saved.before(tensor);
    }
    for (Shape &shape : shapes) {
      saved.before(shape);
    }
    std::vector<c10::IValue> values;
    std::vector<at::TypePtr> types;
    const auto pack = [&](const auto &value) {
      using Value = std::decay_t<decltype(value)>;
      values.push_back(IValuePacker<Value>::pack(value));
      types.push_back(IValuePacker<Value>::packed_type());
    };
    pack(static_cast<int64_t>(tensors.size()));
    pack(static_cast<int64_t>(scalars.size()));
    pack(numbers);
    for (const Tensor &tensor : unpacked()) {
      pack(tensor);
    }
    for (const Scalar &scalar : scalars) {
      pack(scalar);
    }
    for (const Shape &shape : shapes) {
      pack(shape);
    }
    const auto edges = IValuePacker<std::vector<std::optional<torch::autograd::InputMetadata>>>::pack(
        get_input_metadata(next_edges()));
    const auto &compiler = getPyCompilerInterface();
    const auto function = compiler->bind_function(saved.get_py_compiler(), name(), of_packed, types, true, true);
    variable_list result =
        compiler->call_function(saved.get_py_compiler(), "apply_functional", function, grads, values, edges);
    for (Shape &shape : shapes) {
      saved.after(shape);
    }
    for (SavedVariable &tensor : tensors) {
      saved.after(tensor);
    }
    return result;
  }

 private:
  std::vector<Tensor> unpacked() const {
    std::vector<Tensor> values;
    for (const SavedVariable &tensor : tensors) {
      values.push_back(tensor.unpack());
    }
    return values;
  }

  static variable_list applied(const variable_list &grads, const Saved &saved) {
    return grads[0].defined() ? Rule::gradients(grads[0], saved) : variable_list(Rule::INPUTS);
  }

  static variable_list of_packed(const variable_list &grads, const std::vector<c10::IValue> &values) {
    torch::dynamo::autograd::PackedArgs packed(values);
    const auto tensors = packed.unpack<int64_t>(), scalars = packed.unpack<int64_t>();
    Saved saved;
    saved.numbers = packed.unpack<std::vector<int64_t>>();
    for (int64_t i = 0; i < tensors; i++) {
      saved.tensors.push_back(packed.unpack<Tensor>());
    }
    for (int64_t i = 0; i < scalars; i++) {
      saved.scalars.push_back(packed.unpack<Scalar>());
    }
    for (size_t i = 3 + static_cast<size_t>(tensors + scalars); i < values.size(); i++) {
      saved.shapes.push_back(packed.unpack<Shape>());
    }
    return applied(grads, saved);
  }
};

#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 13
template <class N>
using node_ptr = std::shared_ptr<N>;
template <class N>
node_ptr<N> new_node() {
  return node_ptr<N>(new N(), torch::autograd::deleteNode);
}
#else
template <class N>
using node_ptr = c10::intrusive_ptr<N>;
template <class N>
node_ptr<N> new_node() {
  return c10::make_intrusive<N>();
}
#endif

// Returns a node of the graph, or null if no input requires a gradient.
template <class Rule, class... Inputs>
node_ptr<Recorded<Rule>> recorded(const Inputs &...inputs) {
  if (!torch::autograd::compute_requires_grad(inputs...)) {
    return {};
  }
  auto node = new_node<Recorded<Rule>>();
  node->set_next_edges(torch::autograd::collect_next_edges(inputs...));
  return node;
}

template <class N>
void connect(const Tensor &out, const node_ptr<N> &node) {
  if (!node) {
    return;
  }
  torch::autograd::set_history(out, node);
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 15
  torch::autograd::fire_node_creation_hooks(node);
#endif
}

}  // namespace libgather
