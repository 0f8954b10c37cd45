#pragma once

#include <algorithm>
#include <initializer_list>

#include "input.hpp"
#include "model.hpp"
#include "pages.hpp"

// Gathers and scatters made of bytes: first one that is right, then as many damages as the input asks for.
namespace fuzz {

// Of a scatter, params are the target and the output is the updates.
enum Which : int { params_at, indices_at, out_at };

// The memory that calls are given: every struct, array and buffer ends, or begins, where a forbidden page does.
struct Memory {
  Pages structs[3], shapes[3], strides[3], data[3], options, error;
};
Memory& memory();

struct Request {
  // damaged: unless the bytes ask for none.
  Request(Op op, Input& input, bool damaged = true);

  Op op;
  Tensor operands[3];
  Options options;

  const Tensor& params() const { return operands[params_at]; }
  const Tensor& indices() const { return operands[indices_at]; }
  const Tensor& out() const { return operands[out_at]; }

  // Gives each tensor that can have it memory of its own, at a side that the input chooses, and fills indices in. False:
  // a tensor is sound and too large for our pages.
  bool place(Input& input);
  // As place, for indices alone, which select in a table of `rows` bytes.
  bool place_ids(int64_t rows, Input& input);
  // As place, for params and the output alone and whatever they have to do with each other.
  bool place_apart(Input& input);
  // The operand that the call writes, and what errors call it.
  Which written() const { return scatters(op) ? params_at : out_at; }
  int32_t operand_written() const { return scatters(op) ? GTH_OPERAND_TARGET : GTH_OPERAND_OUT; }
  int32_t operand_of_params() const { return scatters(op) ? GTH_OPERAND_TARGET : GTH_OPERAND_PARAMS; }
  const Reach& reach_written(const Verdict& verdict) const { return scatters(op) ? verdict.params : verdict.out; }
  const char* first_written(const Verdict& verdict) const;
  // Damages params or the output, or neither.
  void damage_tensors(Input& input);
  Verdict verdict() const { return judge(op, params(), indices(), &out(), options); }
  // Bytes that the elements touch, for the oracle.
  void load(Verdict* verdict, std::initializer_list<Which> operands = {params_at, indices_at, out_at}) const;
  // Whether params and indices have memory for what they say.
  bool has_inputs() const { return fits_[params_at] && fits_[indices_at]; }

  // As C has them, in guarded memory; nullptr where the request says so.
  const gth_tensor_desc* desc(Which which) const;
  const gth_options* given_options() const;

 private:
  void choose_shapes(Input& input);
  void choose_options(Input& input);
  void damage(Input& input);
  void damage_tensor(Input& input, Tensor* tensor);
  void damage_options(Input& input);
  void fill_indices(const Verdict& found, Input& input);
  void fill_numbers(const Verdict& found, Input& input);
  bool is_in_pages(Which which, const Reach& reach) const;
  void place_tensor(Input& input, int which);

  bool fits_[3] = {};
  int64_t batch_ = 0, axis_ = 0, components_ = 1;  // of the right one
};

// How many elements there are, or so many that it does not matter.
Wide count_of(const Shape& shape);

// Strides of a description that is right: permuted, padded, negative; of inputs zero as well.
void lay_out(Input& input, bool is_output, int64_t item, Tensor* tensor);
int64_t extent_from(Input& input);
int32_t dtype_from(Input& input);

// What the data pages hold, to be held against what they hold later.
class Image {
 public:
  Image();
  // What a call should have written at an address of the pages.
  void write(const char* to, const char* from, size_t bytes);
  // As `write`, for bytes that may be anything.
  void accept(const char* at, size_t bytes);
  // What a successful call should have written; of a NaN that was computed, any.
  void expect(const Request& request, const Verdict& verdict, const oracle::ScatterAnswer& answer);
  // That a gradient has written zeros and added nothing.
  void expect_zeros(const Request& request, const Verdict& verdict);
  // That a call may have written anything between its first byte and its last.
  void accept(const Request& request, const Verdict& verdict);
  // Which pages hold something else; nullptr: none.
  const char* differing() const;
  // Makes the pages of one tensor what the image holds.
  void restore(int which) const;

 private:
  char bytes_[3][Pages::size];
};

// The error struct of a call in guarded memory, painted.
gth_error* fresh_error();
// That only status was written, or every field with a text that ends.
void expect_whole_error(int32_t status, const gth_error& error);

}  // namespace fuzz
