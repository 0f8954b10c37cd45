#include "request.hpp"

// Shape queries with any arguments, including open extents and missing dtypes, compared with the model.
namespace {

using namespace fuzz;

constexpr int32_t room = 8;

bool has_open(const Tensor& tensor) {
  return std::find(tensor.shape.begin(), tensor.shape.end(), GTH_OPEN) != tensor.shape.end();
}

bool is_beyond_int64(const Shape& shape) {
  Wide size = 1;
  for (int64_t extent : shape) {
    size *= std::max<int64_t>(extent, 1);
    if (size > INT64_MAX) return true;
  }
  return false;
}

// Checks a query that passes open extents through: the rank, and that each extent comes from an operand.
void expect_handed_on(const Request& request, int32_t ndim, const int64_t* shape) {
  for (int32_t d = 0; d < std::min(ndim, room); ++d) {
    const auto is_extent = [&](int64_t extent) { return extent == shape[d]; };
    const Shape &p = request.params().shape, &i = request.indices().shape;
    require(std::any_of(p.begin(), p.end(), is_extent) || std::any_of(i.begin(), i.end(), is_extent),
            "shape: an extent that neither operand has");
  }
}

void expect_answer(const Request& request, int32_t capacity, int32_t status, const gth_error& error, int32_t ndim,
                   const int64_t* shape) {
  const Prediction prediction = predict(request.op, request.params(), request.indices(), nullptr, request.options);
  if (prediction.unpredicted || request.params().dtype == GTH_DTYPE_STRING) return;
  const bool is_known =
      !has_open(request.params()) && !has_open(request.indices()) && request.params().dtype && request.indices().dtype;
  if (!is_known) {
    if (status == GTH_OK) expect_handed_on(request, ndim, shape);
    return;
  }
  if (!prediction.is_sound(Stage::sizes)) {
    if (const char* objection = prediction.object_to(status, error))
      fail("shape: wrong %s: %.*s", objection, GTH_MESSAGE_SIZE, error.message);
    return;
  }
  const Shape& expected = prediction.problem.out.shape;
  if (is_beyond_int64(expected)) return require(status == GTH_E_SIZE, "shape: an output beyond int64");
  require(ndim == static_cast<int32_t>(expected.size()), "shape: rank");
  if (ndim > capacity) {
    return require(status == GTH_E_SIZE && error.value == capacity && error.limit == ndim, "shape: capacity");
  }
  require(status == GTH_OK, "shape: status");
  require(std::equal(expected.begin(), expected.end(), shape), "shape: extents");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const Op op = static_cast<Op>(input.below(std::size(calls::every)));
  const uint8_t ways = input.byte();
  const auto capacity = static_cast<int32_t>(ways & 1 ? input.number() : room);
  Request request(op, input);
  for (Tensor* each : {&request.operands[params_at], &request.operands[indices_at]}) {
    if (ways & 2 && !each->shape.empty() && input.rarely(2)) {
      each->shape[static_cast<size_t>(input.below(static_cast<int64_t>(each->shape.size())))] = GTH_OPEN;
    }
    if (ways & 4 && input.rarely(2)) each->dtype = 0;
  }
  int64_t target[room];
  std::memset(target, '#', sizeof target);
  const auto bytes = static_cast<size_t>(std::clamp<int32_t>(capacity, 0, room)) * sizeof(int64_t);
  auto* shape = reinterpret_cast<int64_t*>(memory().data[out_at].put(target, bytes));
  // The result is written to a struct of the known size or to a longer one.
  char painted[96];
  std::memset(painted, '#', sizeof painted);
  const uint32_t given = ways & 8 ? sizeof painted : sizeof(gth_tensor_desc);
  std::memcpy(painted, &given, sizeof given);
  auto* rows = reinterpret_cast<gth_tensor_desc*>(memory().structs[out_at].put(painted, given));
  gth_error* error = fresh_error();
  // A capacity that exceeds the array is passed only for ranks that fit.
  const int32_t promised = std::min(capacity, room);
  const gth_request query = GTH_REQUEST(operation_of(op).number, request.desc(params_at), request.desc(indices_at),
                                        nullptr, request.given_options());
  const int32_t status = gth_infer(&query, rows, promised, shape, error);
  tally().count(status);
  expect_whole_error(status, *error);
  if (status != GTH_OK) {
    require(std::memcmp(shape, target, bytes) == 0, "shape: written without success");
    gth_tensor_desc before;
    std::memcpy(&before, painted, sizeof before);
    if (status == GTH_E_SIZE) before.ndim = rows->ndim;
    require(std::memcmp(rows, &before, sizeof before) == 0, "shape: rows were written without success");
  } else {
    require(rows->ndim >= 0 && rows->ndim <= promised, "shape: a rank beyond the capacity");
    const gth_tensor_desc expected = GTH_TENSOR_DESC_DENSE(request.params().dtype, rows->ndim, shape, nullptr);
    require(std::memcmp(&rows->dtype, &expected.dtype, sizeof expected - sizeof expected.size) == 0,
            "shape: no dense rows");
  }
  require(rows->size == given, "shape: the size was written");
  if (status == GTH_OK) std::fill(painted + sizeof *rows, painted + given, char{0});
  require(std::memcmp(reinterpret_cast<char*>(rows) + sizeof *rows, painted + sizeof *rows, given - sizeof *rows) == 0,
          "shape: bytes beyond the known fields");
  expect_answer(request, promised, status, *error, rows->ndim, shape);
  return 0;
}
