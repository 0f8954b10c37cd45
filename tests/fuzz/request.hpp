#pragma once

#include <algorithm>
#include <initializer_list>

#include "input.hpp"
#include "model.hpp"
#include "pages.hpp"

// Creates gathers and scatters from bytes: first a valid one, then as many changes as the input requests.
namespace fuzz {

// In a scatter, params is the target and the output is the updates.
enum Which : int { params_at, indices_at, out_at };

// The memory of a call. Every struct, array and buffer starts or ends at an inaccessible page.
struct Memory {
  Pages structs[3], shapes[3], strides[3], data[3], options, error;
  Pages large[3] = {Pages(1 << 18), Pages(1 << 18), Pages(1 << 18)};
  bool uses_large = false;  // The data of this input is in the large pages.
};
Memory& memory();
// Returns the pages of the data of an operand.
const Pages& data_pages(int which);

struct Request {
  // damaged: applies changes that the input requests.
  Request(Op op, Input& input, bool damaged = true);

  Op op;
  Tensor operands[3];
  Options options;

  const Tensor& params() const { return operands[params_at]; }
  const Tensor& indices() const { return operands[indices_at]; }
  const Tensor& out() const { return operands[out_at]; }

  // Places each tensor that can have memory in its pages, at the end that the input selects, and stores indices.
  // Returns false if a valid tensor is too large for the pages.
  bool place(Input& input);
  // Like place, for indices that select in a table of `rows` bytes.
  bool place_ids(int64_t rows, Input& input);
  // Like place, for params and the output only. They may overlap.
  bool place_apart(Input& input);
  // Returns the operand that the call writes, and its name in errors.
  Which written() const { return scatters(op) ? params_at : out_at; }
  int32_t operand_written() const { return scatters(op) ? GTH_OPERAND_TARGET : GTH_OPERAND_OUT; }
  int32_t operand_of_params() const { return scatters(op) ? GTH_OPERAND_TARGET : GTH_OPERAND_PARAMS; }
  const Reach& reach_written(const Prediction& prediction) const {
    return scatters(op) ? prediction.params : prediction.out;
  }
  const char* first_written(const Prediction& prediction) const;
  // Damages params, the output, or neither.
  void damage_tensors(Input& input);
  Prediction prediction() const { return predict(op, params(), indices(), &out(), options); }
  // Copies the bytes of the elements for the oracle.
  void load(Prediction* prediction, std::initializer_list<Which> operands = {params_at, indices_at, out_at}) const;
  // Returns true if params and indices have memory for their elements.
  bool has_inputs() const { return fits_[params_at] && fits_[indices_at]; }

  // Returns the C struct in guarded memory, or nullptr if the request has none.
  const gth_tensor_desc* desc(Which which) const;
  const gth_options* given_options() const;
  // Returns true if an error may leave the written operand with some of the results.
  bool permits_partial_results() const { return !options.is_null && options.fields.bounds == GTH_BOUNDS_ERROR_PARTIAL; }

 private:
  void choose_shapes(Input& input);
  void choose_options(Input& input);
  void damage(Input& input);
  void damage_tensor(Input& input, Tensor* tensor);
  void damage_options(Input& input);
  void fill_indices(const Prediction& found, Input& input);
  void fill_many_indices(const Prediction& found, Input& input);
  void fill_numbers(const Prediction& found, Input& input);
  void choose_params(Input& input, int64_t rank);
  void place_elsewhere(Input& input);
  bool is_in_pages(Which which, const Reach& reach) const;
  void place_tensor(Input& input, int which);

  bool fits_[3] = {};
  int64_t batch_ = 0, axis_ = 0, components_ = 1;  // of the valid request
};

// Returns the number of elements, limited to a large number.
Wide count_of(const Shape& shape);

// Chooses valid strides: permuted, padded, negative, and zero for inputs.
void lay_out(Input& input, bool is_output, int64_t item, Tensor* tensor);
int64_t extent_from(Input& input);
int32_t dtype_from(Input& input);

// Bytes in memory that later copies use again. The system would have to clear the memory of each large vector.
struct Copy {
  std::vector<char> bytes;

  Copy();
  Copy(const Copy& other);
  Copy& operator=(const Copy&) = delete;
  ~Copy();
};

// The content of the data pages, for a later comparison.
class Image {
 public:
  Image();
  // Records what a call should write at an address of the pages.
  void write(const char* to, const char* from, size_t bytes);
  // Like `write`, but any bytes are accepted.
  void accept(const char* at, size_t bytes);
  // Records what a successful call should write. Any bit pattern is accepted for a computed NaN.
  void expect(const Request& request, const Prediction& prediction, const oracle::ScatterAnswer& answer);
  // Records that a gradient wrote zeros and added nothing.
  void expect_zeros(const Request& request, const Prediction& prediction);
  // Accepts any bytes between the first and the last byte of the written operand.
  void accept(const Request& request, const Prediction& prediction);
  // Returns the name of pages with other content, or nullptr.
  const char* differing() const;
  // Restores the pages of one tensor from the image.
  void restore(int which) const;

 private:
  Copy pages_[3];
};

// Returns the error struct of a call, in guarded memory and filled with a pattern.
gth_error* fresh_error();
// Checks that only the status was written, or every field with a terminated message.
void expect_whole_error(int32_t status, const gth_error& error);

}  // namespace fuzz
