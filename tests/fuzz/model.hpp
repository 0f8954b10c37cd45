#pragma once

#include <cstdint>
#include <vector>

#include "../cpp/calls.hpp"
#include "../cpp/scatter_oracle.hpp"

// What the documents say of a gather of any arguments: which statuses they allow, with which fields, and the output.
// Written from the header, shares nothing with the library. Values are oracle::solve's, this is everything before them.
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

// A scatter or a gradient is modelled as the gather of the same rows: its target stands where params do, its updates
// where the output does.
constexpr bool scatters(Op op) { return op >= Op::scatter; }
constexpr bool is_gradient(Op op) { return op >= Op::gather_gradient; }
constexpr Op gather_of(Op op) { return static_cast<Op>(static_cast<int32_t>(op) % 3); }

// A description as a caller wrote it.
struct Tensor {
  uint32_t size = sizeof(gth_tensor_desc);
  bool has_tail = false;  // bytes beyond the struct, not zero
  int32_t dtype = GTH_DTYPE_FLOAT32, device = 0, ndim = 0;
  uint32_t flags = 0;
  bool has_codec = false, is_null = false;
  bool has_shape = true, has_strides = false;
  Shape shape, strides;  // of as many extents as ndim says, if that can be
  int64_t offset = 0, extent = 0;
  bool has_data = true;
  uintptr_t data = 0;
};

struct Options {
  gth_options fields = GTH_OPTIONS_INIT;
  bool has_tail = false, is_null = false;
};

// The order of checks. The first stage with a fault is the one reported, with any of its faults.
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

// Fields that the documents leave open are not held against anything.
enum Known : uint8_t { only_operand = 0, component = 1, value = 2, limit = 4, all_fields = 7 };

struct Fault {
  Stage stage;
  int32_t status, operand;
  int32_t component = -1;
  int64_t value = 0, limit = 0;
  uint8_t known = all_fields;
};

// The bytes that a tensor's elements touch, from data on; none.
struct Reach {
  Wide low = 0, high = 0;
  bool empty = true;

  int64_t extent() const { return empty ? 0 : static_cast<int64_t>(high); }
};

struct Verdict {
  std::vector<Fault> faults;
  bool unjudged = false;           // by a rule that is not written here: the call must only be safe
  bool may_judge = false;          // values, though there is no output
  bool may_need_null = false;      // data that is NULL may be refused, though nothing is read through it
  oracle::ScatterProblem problem;  // in normalised terms, as far as it is known
  Reach params, indices, out;

  bool is_sound(Stage before) const;  // no fault in the stages before
  // Whether the library may have answered this before values are judged; nullptr or what is wrong.
  const char* object_to(int32_t status, const gth_error& error, Stage from = Stage::pointers) const;
};

// out: nullptr for a dense output that the library lays out, or dense updates.
Verdict judge(Op op, const Tensor& params, const Tensor& indices, const Tensor* out, const Options& options);

inline const calls::Operation& operation_of(Op op) { return calls::every[static_cast<int32_t>(op)]; }

// The output's shape by the definitions, for normalised attributes.
Shape shape_of(Op op, const oracle::ElementsProblem& problem);

// The answer of a sound request whose operands' memory is filled in; its memory is what is written.
oracle::ScatterAnswer answer(Op op, const oracle::ScatterProblem& problem);

Reach reach_of(const Tensor& tensor, int64_t item, const Shape& strides);
Shape strides_of(const Tensor& tensor, int64_t item);

// Faults of one description on its own, with the operand to blame.
void judge_struct(const Tensor& tensor, int32_t operand, std::vector<Fault>* faults);
void judge_memory(const Tensor& tensor, int32_t operand, const Reach& reach, std::vector<Fault>* faults);
// What is written must not overlap itself.
void judge_overlap(const Tensor& tensor, int32_t operand, int64_t item, const Shape& strides,
                   std::vector<Fault>* faults);

}  // namespace fuzz
