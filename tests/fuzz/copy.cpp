#include "request.hpp"

// Copies between tensors with any description, compared with the header.
namespace {

using namespace fuzz;

char* byte_at(const Tensor& tensor, int64_t offset) {
  return reinterpret_cast<char*>(tensor.data + static_cast<uintptr_t>(offset));
}

// The errors that the header requires for a copy between two existing tensors. Errors of one stage have no order.
struct Expected {
  bool dtype, rank, shape, overlap, read_only, alias;
};

Expected predict_copy(const Tensor& from, const Tensor& to, int64_t item) {
  std::vector<Fault> faults;
  const Reach source = reach_of(from, item, strides_of(from, item)), target = reach_of(to, item, strides_of(to, item));
  if (!target.empty) predict_overlap(to, GTH_OPERAND_OUT, item, strides_of(to, item), &faults);
  const Wide s = static_cast<int64_t>(from.data), t = static_cast<int64_t>(to.data);
  const bool share =
      !source.empty && !target.empty && s + source.low < t + target.high && t + target.low < s + source.high;
  return {from.dtype != to.dtype,
          from.ndim != to.ndim,
          from.shape != to.shape,
          !faults.empty(),
          (to.flags & GTH_TENSOR_READONLY) != 0,
          share};
}

int32_t status_of(const Expected& expected) {
  return expected.dtype       ? GTH_E_DTYPE
         : expected.rank      ? GTH_E_RANK
         : expected.shape     ? GTH_E_SHAPE
         : expected.overlap   ? GTH_E_STRIDE
         : expected.read_only ? GTH_E_READONLY
         : expected.alias     ? GTH_E_ALIAS
                              : GTH_OK;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  Request request(Op::gather, input, false);
  Tensor &from = request.operands[params_at], &to = request.operands[out_at];
  to = from;
  lay_out(input, true, gth_dtype_size(from.dtype), &to);
  request.damage_tensors(input);
  if (!request.place_apart(input)) return -1;
  const gth_tensor_desc *source_desc = request.desc(params_at), *target_desc = request.desc(out_at);
  gth_tensor *source = nullptr, *target = nullptr;
  const int32_t made = gth_tensor_borrow(source_desc, &source, nullptr),
                took = gth_tensor_borrow(target_desc, &target, nullptr);
  tally().count(made);
  if (!made && !took) {
    const int64_t item = gth_dtype_size(from.dtype);
    const Expected expected = predict_copy(from, to, item);
    const Image before;
    Image image = before;
    if (status_of(expected) == GTH_OK) {
      const Shape steps = strides_of(from, item), strides = strides_of(to, item);
      int64_t count = 1;
      for (int64_t extent : from.shape) count *= extent;
      for (int64_t number = 0; number < count; ++number) {
        int64_t rest = number, at = from.offset, where = to.offset;
        for (size_t d = from.shape.size(); d-- > 0; rest /= from.shape[d]) {
          at += rest % from.shape[d] * steps[d];
          where += rest % from.shape[d] * strides[d];
        }
        image.write(byte_at(to, where), byte_at(from, at), static_cast<size_t>(item));
      }
    }
    gth_error* error = fresh_error();
    const int64_t handles = input.below(4);
    const int32_t status = calls::copy(nullptr, handles & 1 ? calls::Operand(source) : source_desc,
                                       handles & 2 ? calls::Operand(target) : target_desc, error);
    tally().count(status);
    expect_whole_error(status, *error);
    if (status != status_of(expected))
      fail("copy: %s, expected is %s", gth_status_name(status), gth_status_name(status_of(expected)));
    if (const char* what = image.differing()) fail("copy: %s", what);
  }
  require(gth_tensor_release(source) == GTH_OK && gth_tensor_release(target) == GTH_OK, "release");
  return 0;
}
