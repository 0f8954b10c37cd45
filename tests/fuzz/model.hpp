#pragma once

#include <cstdint>
#include <vector>

#include "../cpp/calls.hpp"
#include "../cpp/scatter_oracle.hpp"

// A model of the header: the allowed statuses of a gather with any arguments, their fields, and the output. It shares
// no code with the library. oracle::solve computes values; the model covers all checks before.
namespace fuzz {

using oracle::Shape;
using Wide = oracle::Wide;

enum class Op : int32_t {
  gather,
  gather_nd,
  gather_elements,
  scatter,
  scatter_nd,
  scatter_elements,
  gather_gradient,
  gather_nd_gradient,
  gather_elements_gradient
};

// A scatter or a gradient is modelled as the gather of the same rows. Its target has the role of params, and its
// updates that of the output.
constexpr bool scatters(Op op) { return op >= Op::scatter; }
constexpr bool is_gradient(Op op) { return op >= Op::gather_gradient; }
constexpr Op gather_of(Op op) { return static_cast<Op>(static_cast<int32_t>(op) % 3); }

// A description as passed by a caller.
struct Tensor {
  uint32_t size = sizeof(gth_tensor_desc);
  bool has_tail = false;  // nonzero bytes after the struct
  int32_t dtype = GTH_DTYPE_FLOAT32, device = 0, ndim = 0;
  uint32_t flags = 0;
  bool has_codec = false, is_null = false;
  bool has_shape = true, has_strides = false;
  Shape shape, strides;  // with ndim entries, if ndim is valid
  int64_t offset = 0, extent = 0;
  bool has_data = true;
  uintptr_t data = 0;
};

struct Options {
  gth_options fields = GTH_OPTIONS_INIT;
  bool has_tail = false, is_null = false;
};

// The order of checks. The library reports any one of the errors of the first stage that has one.
enum class Stage {
  pointers,
  structs,
  form,
  dtypes,
  opset,
  ranks,
  attributes,
  shapes,
  out_rank,
  out_shape,
  sizes,
  strides,
  devices,
  memory,
  values
};

// The fields that the header specifies. Others are not compared.
enum Known : uint8_t { only_operand = 0, component = 1, value = 2, limit = 4, all_fields = 7 };

struct Fault {
  Stage stage;
  int32_t status, operand;
  int32_t component = -1;
  int64_t value = 0, limit = 0;
  uint8_t known = all_fields;
};

// The byte range that the elements of a tensor use, relative to data. It is empty for a tensor without elements.
struct Reach {
  Wide low = 0, high = 0;
  bool empty = true;

  int64_t extent() const { return empty ? 0 : static_cast<int64_t>(high); }
};

struct Prediction {
  std::vector<Fault> faults;
  bool unpredicted = false;        // the model has no rule for this; the call must only be safe
  bool may_need_null = false;      // NULL data may be rejected although nothing is read
  oracle::ScatterProblem problem;  // normalised, as far as it is known
  Reach params, indices, out;

  bool is_sound(Stage before) const;  // no errors in the stages before
  // Returns nullptr if the library may return this result before it validates values, otherwise what is wrong.
  const char* object_to(int32_t status, const gth_error& error, Stage from = Stage::pointers) const;
};

// out: nullptr for a dense output of the library, or for dense updates.
Prediction predict(Op op, const Tensor& params, const Tensor& indices, const Tensor* out, const Options& options);

inline const calls::Operation& operation_of(Op op) { return calls::every[static_cast<int32_t>(op)]; }

// Returns the shape of the output by definition, for normalised attributes.
Shape shape_of(Op op, const oracle::ElementsProblem& problem);

// Returns the result of a valid request with memory. The memory of the result is the written operand.
oracle::ScatterAnswer answer(Op op, const oracle::ScatterProblem& problem);

Reach reach_of(const Tensor& tensor, int64_t item, const Shape& strides);
Shape strides_of(const Tensor& tensor, int64_t item);

// Adds the errors of one description, with its operand.
void predict_struct(const Tensor& tensor, int32_t operand, std::vector<Fault>* faults);
void predict_memory(const Tensor& tensor, int32_t operand, const Reach& reach, std::vector<Fault>* faults);
// Adds the error of a written operand whose elements overlap.
void predict_overlap(const Tensor& tensor, int32_t operand, int64_t item, const Shape& strides,
                     std::vector<Fault>* faults);

}  // namespace fuzz
