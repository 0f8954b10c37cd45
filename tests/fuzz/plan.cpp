#include "../cpp/random_operands.hpp"
#include "request.hpp"
#include "surroundings.hpp"

// Plans with an open extent: the values that a run accepts, the memory that it uses, and what it writes.
namespace {

using namespace fuzz;

constexpr int planned_ops = 6;  // gradients have no plan

// A valid request with one extent that is open in the plan.
struct Open {
  Request request;
  std::vector<std::pair<Which, size_t>> dims;  // the dims that have this extent

  void set(int64_t n) {
    for (const auto& [which, dim] : dims) request.operands[which].shape[dim] = n;
  }
  Prediction at(int64_t n) {
    set(n);
    return request.prediction();
  }
};

// Chooses a tuple dim, or the outermost batch dim, with the dims of the operands that share it.
bool choose_open(Input& input, Open* open) {
  Request& request = open->request;
  const Prediction found = request.prediction();
  if (!found.is_sound(Stage::values) || found.unpredicted) return false;
  const auto& problem = found.problem;
  const int64_t tuples =
      static_cast<int64_t>(request.indices().shape.size()) - (gather_of(request.op) == Op::gather_nd ? 1 : 0);
  const bool is_paired = gather_of(request.op) == Op::gather_elements;
  const bool shares = is_paired ? problem.axis > 0 : problem.batch > 0;
  if (shares && input.rarely(2)) {
    if (request.params().shape[0] != request.indices().shape[0]) return false;
    open->dims = {{params_at, 0}, {indices_at, 0}, {out_at, 0}};
    return true;
  }
  if (is_paired) {
    const auto axis = static_cast<size_t>(problem.axis);
    open->dims = {{indices_at, axis}, {out_at, axis}};
    return true;
  }
  if (tuples <= problem.batch) return false;
  const int64_t dim = problem.batch + input.below(tuples - problem.batch);
  open->dims = {{indices_at, static_cast<size_t>(dim)},
                {out_at, static_cast<size_t>(problem.axis + dim - problem.batch)}};
  return true;
}

void* data_of(const Tensor& tensor) { return tensor.has_data ? reinterpret_cast<void*>(tensor.data) : nullptr; }

void expect_refused(Open& open, int64_t n, int32_t status, const gth_error& error) {
  require(status == GTH_E_SIZE && error.operand == GTH_OPERAND_PLAN && error.value == n, "an n that is too large");
  require(open.at(error.limit).is_sound(Stage::memory), "the largest n is too large");
  require(error.limit == INT64_MAX || !open.at(error.limit + 1).is_sound(Stage::memory), "a larger n would do");
}

void expect_extents(const gth_plan* plan, const Prediction& prediction, int64_t n) {
  gth_plan_args args = calls::args(n, nullptr, nullptr, nullptr, -7, -7, -7);
  require(gth_plan_extents(plan, &args, nullptr) == GTH_OK, "extents of a sound n");
  if (prediction.out.empty) return require(args.table_extent == 0 && args.rows_extent == 0, "extents of no output");
  require(args.table_extent == prediction.params.extent(), "extent of the table");
  require(args.rows_extent == prediction.out.extent(), "extent of the rows");
  require(args.indices_extent == (prediction.problem.components == 0 ? 0 : prediction.indices.extent()),
          "extent of indices");
}

void run(Open& open, const gth_plan* plan, int64_t n, int64_t longest) {
  Prediction prediction = open.at(n);
  const Request& request = open.request;
  gth_error* error = fresh_error();
  const bool is_sound = prediction.is_sound(Stage::memory);
  if (is_sound) expect_extents(plan, prediction, n);
  if (is_sound && n > longest) return;  // the pages are too small
  if (is_sound && prediction.is_sound(Stage::values) && !prediction.out.empty) request.load(&prediction);
  const Image before;
  Image expected = before;
  const int32_t status = gth_plan_run(Surroundings::context(), plan, n, data_of(request.params()),
                                      data_of(request.indices()), data_of(request.out()), error);
  tally().count(status);
  expect_whole_error(status, *error);
  if (n < 0) {
    require(status == GTH_E_SHAPE && error->operand == GTH_OPERAND_PLAN && error->value == n, "a negative n");
  } else if (!is_sound) {
    expect_refused(open, n, status, *error);
  } else if (!prediction.is_sound(Stage::values)) {
    require(prediction.object_to(status, *error) == nullptr, "run: a wrong error");
  } else if (prediction.out.empty) {
    require(status == GTH_OK || status == GTH_E_INDEX || (prediction.may_need_null && status == GTH_E_NULL),
            "run: status of an empty output");
  } else {
    const oracle::ScatterAnswer answer = fuzz::answer(request.op, prediction.problem);
    const bool by_params = status == GTH_E_INDEX && error->operand == GTH_OPERAND_PARAMS && prediction.params.empty;
    require(status == answer.status || by_params, "run: status");
    if (status == GTH_E_INDEX && !by_params) {
      require(error->position == answer.position && error->component == answer.component &&
                  error->value == answer.value && error->limit == answer.limit && error->flags == answer.flags,
              "run: fields of a bad index");
    }
    if (!status) expected.expect(request, prediction, answer);
    if (status == GTH_E_INDEX && request.permits_partial_results()) expected.accept(request, prediction);
    gth_error* error_of_check = fresh_error();
    const int32_t status_of_check = calls::check(nullptr, plan, n, data_of(request.indices()), error_of_check);
    require(status_of_check == status, "check: another status than the run");
  }
  if (const char* what = expected.differing()) fail("run: %s", what);
  for (int which = params_at; which <= out_at; ++which) before.restore(which);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const uint8_t first_byte = input.byte();
  const Op op = static_cast<Op>(first_byte % planned_ops);
  memory().uses_large = first_byte >= 0xf0;
  Open open{Request(op, input, false), {}};
  if (!open.request.place(input) || !choose_open(input, &open)) return -1;
  const Surroundings surroundings(input.below(4));
  const auto& [first, dim] = open.dims.front();
  const int64_t longest = open.request.operands[first].shape[dim];
  const bool has_output = input.byte() < 192;
  for (Tensor& each : open.request.operands) {
    if (input.rarely(4)) each.extent = input.rarely(2) ? input.number() : input.below(256);
    if (each.extent < 0) each.extent = 0;
  }
  open.set(GTH_OPEN);
  if (!has_output) {  // dense, allocated by the library
    Tensor& out = open.request.operands[out_at];
    if (out.has_strides || out.offset || out.extent) return -1;
  }
  gth_plan* plan = nullptr;
  gth_error* error = fresh_error();
  const gth_tensor_desc *p = open.request.desc(params_at), *i = open.request.desc(indices_at),
                        *o = open.request.desc(out_at);
  const int32_t status =
      operation_of(op).plan(p, i, has_output ? o : nullptr, open.request.given_options(), &plan, error);
  tally().count(status);
  expect_whole_error(status, *error);
  if (status) {
    // The open dim of a written operand must have a stride that prevents overlap for every n. Other strides only have
    // to fit.
    require(status == GTH_E_STRIDE, "plan: status");
    const bool by_out = error->operand == open.request.operand_written() && error->component >= 0;
    require(by_out || !open.at(1).is_sound(Stage::devices), "plan: one step fits");
    return 0;
  }
  require(open.at(1).is_sound(Stage::memory) || open.at(1).out.empty, "plan: one step does not fit");
  for (const int64_t n : {longest, int64_t{0}, input.below(8), input.number()}) run(open, plan, n, longest);
  int32_t ndim = 0;
  int64_t shape[GTH_MAX_NDIM];
  require(calls::plan_infer(plan, GTH_OPEN, GTH_MAX_NDIM, &ndim, shape, nullptr) == GTH_OK, "shape of a plan");
  open.set(GTH_OPEN);
  require(Shape(shape, shape + ndim) == open.request.out().shape, "shape of a plan");
  require(gth_plan_release(plan) == GTH_OK, "release of a plan");
  return 0;
}
