#include <cstdio>

#include "../cpp/scatter_positions_oracle.hpp"
#include "request.hpp"
#include "surroundings.hpp"

// Runs one operation in every form with any arguments, and compares with the model. FUZZ_OP selects the operation.
namespace {

using namespace fuzz;

constexpr Op op = Op::FUZZ_OP;

const calls::Operation& operation = operation_of(op);

// The expected result of one request, for every form.
class Expectation {
 public:
  explicit Expectation(const Request& request) : request_(request), prediction_(request.prediction()) {
    if (!is_called()) return;
    request.load(&prediction_);
    if (!prediction_.unpredicted && !prediction_.out.empty) answer_ = fuzz::answer(op, prediction_.problem);
  }

  const Prediction& prediction() const { return prediction_; }
  const oracle::ScatterAnswer& answer() const { return answer_; }
  bool is_called() const { return prediction_.is_sound(Stage::values); }

  // Compares the pages with the expected content, and restores them.
  void check(const char* form, int32_t status, const gth_error* error) const {
    tally().count(status);
    if (error) expect_whole_error(status, *error);
    Image expected = before_;
    if (const char* objection = object_to(status, error, &expected)) report(form, objection, status, error);
    if (const char* objection = expected.differing()) report(form, objection, status, error);
    put_back();
  }

 private:
  bool refuses_empty_params(int32_t status, const gth_error* error) const {
    const int32_t profile = request_.options.is_null ? 0 : request_.options.fields.profile;
    const bool may = profile == GTH_PROFILE_TENSORFLOW || profile == GTH_PROFILE_TENSORFLOW_GPU;
    return may && gather_of(op) == Op::gather_nd && prediction_.params.empty && status == GTH_E_INDEX &&
           (!error || (error->operand == request_.operand_of_params() && error->position == -1));
  }

  // Returns what is wrong with the result, or nullptr. Sets *expected to the expected content of the pages.
  const char* object_to(int32_t status, const gth_error* error, Image* expected) const {
    static const gth_error anything = GTH_ERROR_INIT;
    if (!is_called() && !prediction_.unpredicted) {
      if (!error) return status == GTH_OK ? "status" : nullptr;
      return prediction_.object_to(status, error ? *error : anything);
    }
    if (prediction_.unpredicted) {
      const bool writes = status == GTH_OK || request_.permits_partial_results();
      if (writes && is_called()) expected->accept(request_, prediction_);
      return status > 0 || status == GTH_E_INTERNAL || status == GTH_E_RACE ? "status" : nullptr;
    }
    if (prediction_.may_need_null && status == GTH_E_NULL) return nullptr;
    if (refuses_empty_params(status, error)) return nullptr;
    if (prediction_.out.empty) {
      if (is_gradient(op) && status == GTH_OK) expected->expect_zeros(request_, prediction_);
      return status == GTH_OK || status == GTH_E_INDEX ? nullptr : "status";
    }
    if (status != answer_.status) return "status";
    if (status == GTH_OK) expected->expect(request_, prediction_, answer_);
    if (status == GTH_E_INDEX && request_.permits_partial_results()) expected->accept(request_, prediction_);
    if (status == GTH_OK || !error) return nullptr;
    if (error->operand != GTH_OPERAND_INDICES || error->component != answer_.component) return "component";
    if (error->position != answer_.position) return "position";
    if (error->value != answer_.value || error->limit != answer_.limit) return "value or limit";
    return error->flags == answer_.flags ? nullptr : "flags";
  }

  void put_back() const {
    for (int which = params_at; which <= fuzz::out_at; ++which) before_.restore(which);
  }

  static void print(const char* name, const Tensor& tensor) {
    std::fprintf(stderr, "  %s: dtype %d device %d ndim %d flags %u offset %lld extent %lld data %s [", name,
                 tensor.dtype, tensor.device, tensor.ndim, tensor.flags, static_cast<long long>(tensor.offset),
                 static_cast<long long>(tensor.extent), tensor.has_data ? "given" : "NULL");
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      std::fprintf(stderr, " %lld", static_cast<long long>(tensor.shape[d]));
      if (tensor.has_strides) std::fprintf(stderr, ":%lld", static_cast<long long>(tensor.strides[d]));
    }
    std::fprintf(stderr, " ]\n");
  }

  void report(const char* form, const char* objection, int32_t status, const gth_error* error) const {
    print(scatters(op) ? "target" : "params", request_.params());
    print("indices", request_.indices());
    print(scatters(op) ? "updates" : "out", request_.out());
    const gth_options& x = request_.options.fields;
    std::fprintf(
        stderr,
        "  has_axis %d axis %lld batch_dims %lld profile %d opset %d negative %d bounds %d threads %d extents %d "
        "reduction %d accumulate %d padding %d %lld initial %d order %d\n",
        x.has_axis, static_cast<long long>(x.axis), static_cast<long long>(x.batch_dims), x.profile, x.opset,
        x.negative, x.bounds, x.threads, x.extents, x.reduction, x.accumulate, x.has_padding_index,
        static_cast<long long>(x.padding_index), x.initial, x.order);
    for (const Fault& each : prediction_.faults) {
      std::fprintf(stderr, "  expected: %s operand %d component %d value %lld limit %lld\n",
                   gth_status_name(each.status), each.operand, each.component, static_cast<long long>(each.value),
                   static_cast<long long>(each.limit));
    }
    if (is_called()) {
      std::fprintf(stderr, "  expected: %s position %lld component %d value %lld\n", gth_status_name(answer_.status),
                   static_cast<long long>(answer_.position), answer_.component, static_cast<long long>(answer_.value));
    }
    fail("%s: wrong %s: %s operand %d component %d position %lld value %lld limit %lld: %s", form, objection,
         gth_status_name(status), error ? error->operand : 0, error ? error->component : 0,
         error ? static_cast<long long>(error->position) : 0, error ? static_cast<long long>(error->value) : 0,
         error ? static_cast<long long>(error->limit) : 0, error && status ? error->message : "");
  }

  const Request& request_;
  Prediction prediction_;
  oracle::ScatterAnswer answer_;
  Image before_;
};

void run_named(const Request& request, const Expectation& expectation) {
  gth_error* error = fresh_error();
  const gth_tensor_desc *p = request.desc(params_at), *i = request.desc(indices_at), *o = request.desc(out_at);
  const gth_options* x = request.given_options();
  expectation.check("named", operation.named(Surroundings::context(), p, i, o, x, error), error);
  expectation.check("named without an error", operation.named(Surroundings::context(), p, i, o, x, nullptr), nullptr);
}

void run_request(const Request& request, const Expectation& expectation) {
  gth_error* error = fresh_error();
  const gth_request given = GTH_REQUEST(operation.number, request.desc(params_at), request.desc(indices_at),
                                        request.desc(out_at), request.given_options());
  expectation.check("request", gth_run_request(Surroundings::context(), &given, error), error);
}

// Plans use -1 for an open extent.
bool has_open(const Request& request) {
  return std::any_of(std::begin(request.operands), std::end(request.operands), [](const Tensor& each) {
    return std::find(each.shape.begin(), each.shape.end(), GTH_OPEN) != each.shape.end();
  });
}

// A plan is rejected for the errors that a call reports before it checks memory.
void run_planned(const Request& request, const Expectation& expectation) {
  const Prediction& prediction = expectation.prediction();
  gth_error* error = fresh_error();
  gth_plan* plan = reinterpret_cast<gth_plan*>(error);
  const gth_tensor_desc* o = request.desc(out_at);
  const int32_t status =
      operation.plan(request.desc(params_at), request.desc(indices_at), o, request.given_options(), &plan, error);
  if (is_gradient(op)) {
    require(plan == nullptr, "a gradient has a plan");
    require(status == GTH_E_UNSUPPORTED || !prediction.is_sound(Stage::form), "plan of a gradient: status");
    return;
  }
  if (status) {
    require(plan == nullptr, "a plan was handed out with an error");
    const bool by_device =
        status == GTH_E_DEVICE && !prediction.is_sound(Stage::memory) && prediction.is_sound(Stage::devices);
    if (by_device || prediction.unpredicted || has_open(request) || !o) return;
    if (prediction.is_sound(Stage::memory)) {
      require(status == GTH_E_READONLY && request.operands[request.written()].flags & GTH_TENSOR_READONLY,
              "plan: wrong status");
      return;
    }
    return expectation.check("plan", status, error);
  }
  if (!o || !prediction.is_sound(Stage::memory)) {
    require(!o || has_open(request) || prediction.unpredicted, "plan: accepted");
  } else if (expectation.is_called()) {
    error = fresh_error();
    const auto data = [&](Which which) {
      const Tensor& tensor = request.operands[which];
      return tensor.has_data ? reinterpret_cast<void*>(tensor.data) : nullptr;
    };
    gth_plan_args args = calls::args(GTH_OPEN, data(params_at), data(indices_at), data(out_at));
    expectation.check("run",
                      gth_plan_run(Surroundings::context(), plan, args.n, args.table, args.indices,
                                   const_cast<void*>(args.rows), error),
                      error);
    require(gth_plan_extents(plan, &args, nullptr) == GTH_OK, "extents");
    if (!prediction.out.empty && !prediction.unpredicted) {
      require(args.table_extent == prediction.params.extent(), "extent of the table");
      require(args.rows_extent == prediction.out.extent(), "extent of the rows");
      gth_plan_args less = args;
      const int64_t needed = (scatters(op) ? less.table_extent : less.rows_extent)--;
      error = fresh_error();
      require(gth_plan_run_args(Surroundings::context(), plan, &less, error) == GTH_E_SIZE &&
                  error->operand == request.operand_written() && error->value == needed - 1 && error->limit == needed,
              "a run with extents of too little memory");
      error = fresh_error();
      expectation.check("run with extents", gth_plan_run_args(Surroundings::context(), plan, &args, error), error);
    }
  }
  require(gth_plan_release(plan) == GTH_OK, "release of a plan");
}

// The operands of a request. Operands in `handles` are tensor handles.
class Operands {
 public:
  Operands(const Request& request, int64_t handles) {
    for (const Which which : {params_at, indices_at, out_at}) {
      given_[which] = request.desc(which);
      if (!(handles >> which & 1)) continue;
      is_made_ = gth_tensor_borrow(given_[which], &tensors_[which], nullptr) == GTH_OK && is_made_;
      named_[which] = GTH_TENSOR_DESC_HANDLE(tensors_[which]);
      given_[which] = &named_[which];
    }
  }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;
  ~Operands() {
    for (gth_tensor* each : tensors_) require(gth_tensor_release(each) == GTH_OK, "release of a tensor");
  }

  bool is_made() const { return is_made_; }
  const gth_tensor_desc* at(Which which) const { return given_[which]; }

 private:
  gth_tensor* tensors_[3] = {};
  gth_tensor_desc named_[3] = {GTH_TENSOR_DESC_INIT, GTH_TENSOR_DESC_INIT, GTH_TENSOR_DESC_INIT};
  const gth_tensor_desc* given_[3];
  bool is_made_ = true;
};

void run_mixed(const Request& request, const Expectation& expectation, int64_t handles) {
  // Errors that the creation of a tensor reports have been tested with descriptions.
  if (!expectation.is_called()) return;
  const Operands operands(request, handles);
  if (!operands.is_made()) return require(expectation.prediction().out.empty, "borrow: refused what a call takes");
  gth_error* error = fresh_error();
  const int32_t status = gth_run(Surroundings::context(), operation.number, operands.at(params_at),
                                 operands.at(indices_at), operands.at(out_at), request.given_options(), error);
  expectation.check("mixed", status, error);
}

int32_t make_new(const Request& request, const Operands& operands, gth_tensor** made) {
  gth_error* error = fresh_error();
  const gth_request given = GTH_REQUEST(operation.number, operands.at(params_at), operands.at(indices_at),
                                        scatters(op) ? operands.at(out_at) : nullptr, request.given_options());
  const int32_t status = gth_make(Surroundings::context(), &given, made, error);
  tally().count(status);
  expect_whole_error(status, *error);
  require((status == GTH_OK) == (*made != nullptr), "new tensor: one with an error, or none without");
  return status;
}

const char* expect_shape(const gth_tensor* made, const Shape& shape) {
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  require(gth_tensor_describe(made, &desc, nullptr) == GTH_OK, "describe");
  require(Shape(desc.shape, desc.shape + desc.ndim) == shape, "new tensor: shape");
  return static_cast<const char*>(desc.data);
}

void gather_new(const Request& request, const Operands& operands, gth_tensor** made) {
  Prediction prediction = predict(op, request.params(), request.indices(), nullptr, request.options);
  const bool is_small = prediction.out.empty || prediction.out.high < (1 << 20);
  if (!request.has_inputs() || !prediction.is_sound(Stage::values) || !is_small) return;
  const int32_t status = make_new(request, operands, made);
  if (prediction.unpredicted || prediction.out.empty || prediction.out.high > 4096) return;
  request.load(&prediction, {params_at, indices_at});
  prediction.problem.out.memory.assign(static_cast<size_t>(prediction.out.high), 0);
  const oracle::Answer expected = answer(op, prediction.problem);
  const bool by_params = status == GTH_E_INDEX && prediction.params.empty;
  require(status == expected.status || by_params, "new tensor: status");
  if (status) return;
  const char* found = expect_shape(*made, prediction.problem.out.shape);
  require(std::memcmp(found, expected.memory.data(), expected.memory.size()) == 0, "new tensor: bytes");
}

// Expects the target with the updates applied, as a dense tensor, and an unchanged target.
void scatter_new(const Request& request, const Expectation& expectation, const Operands& operands, gth_tensor** made) {
  const Prediction& prediction = expectation.prediction();
  if (!expectation.is_called()) return;
  const Image before;
  const int32_t status = make_new(request, operands, made);
  if (const char* what = before.differing()) fail("new tensor: %s", what);
  const bool may_fail = (prediction.out.empty || prediction.params.empty) && status == GTH_E_INDEX;
  if (prediction.unpredicted || may_fail || (prediction.may_need_null && status == GTH_E_NULL)) return;
  // A new tensor is a copy of the whole target, even if no row is written.
  if (status == GTH_E_NULL && !is_gradient(op) && !request.params().has_data && !prediction.params.empty) return;
  if (status != expectation.answer().status) fail("new tensor: %s", gth_status_name(status));
  if (status) return;
  const char* elements = expect_shape(*made, prediction.problem.params.shape);
  if (prediction.out.empty || prediction.params.empty) return;
  oracle::Bytes found = expectation.answer().memory;
  oracle::for_each_element(prediction.problem.params, [&](int64_t at, const Shape&) {
    std::memcpy(found.data() + at, elements, static_cast<size_t>(prediction.problem.params.item));
    elements += prediction.problem.params.item;
  });
  require(oracle::is_same_target(prediction.problem, expectation.answer(), found), "new tensor: bytes");
}

void run_new(const Request& request, const Expectation& expectation, int64_t handles) {
  const Operands operands(request, scatters(op) ? handles : handles & 3);
  if (!operands.is_made()) return;
  gth_tensor* made = nullptr;
  scatters(op) ? scatter_new(request, expectation, operands, &made) : gather_new(request, operands, &made);
  require(gth_tensor_release(made) == GTH_OK, "release of a tensor");
}

// ---- Positions of a scatter

// Memory for the positions: dense or with gaps, and from the last element on if they are reversed.
class Positions {
 public:
  Positions(const Shape& shape, Input& input) : shape_(shape), strides_(shape.size()) {
    const bool is_reversed = input.rarely(4);
    int64_t span = bytes;
    for (size_t d = shape.size(); d-- > 0;) {
      strides_[d] = span + input.below(3);
      span += strides_[d] * (shape[d] - 1);
    }
    if (span > static_cast<int64_t>(pages().size())) return;
    first_ = pages().place(static_cast<size_t>(span), input.rarely(4));
    desc_.dtype = GTH_DTYPE_INT64;
    desc_.ndim = static_cast<int32_t>(shape.size());
    desc_.shape = shape_.data();
    desc_.strides = strides_.data();
    desc_.data = first_;
    desc_.extent = span;
    if (is_reversed) {
      desc_.offset = span - bytes;
      for (int64_t& stride : strides_) stride = -stride;
    }
    pages().paint(1);
  }
  Positions(const Positions&) = delete;
  Positions& operator=(const Positions&) = delete;

  bool fits() const { return first_ != nullptr; }
  const gth_tensor_desc* desc() const { return &desc_; }
  static std::vector<char> image() { return {pages().first(), pages().end()}; }
  // Returns the pages after a call that writes these numbers.
  std::vector<char> image_with(const std::vector<int64_t>& numbers) const {
    const std::vector<char> before = image();
    for (size_t i = 0; i < numbers.size(); ++i) {
      int64_t at = desc_.offset, rest = static_cast<int64_t>(i);
      for (size_t d = shape_.size(); d-- > 0; rest /= shape_[d]) at += rest % shape_[d] * strides_[d];
      std::memcpy(first_ + at, &numbers[i], bytes);
    }
    std::vector<char> expected = image();
    std::copy(before.begin(), before.end(), pages().first());
    return expected;
  }

 private:
  static constexpr int64_t bytes = 8;
  static const Pages& pages() {
    static const Pages* const pages = new Pages(size_t{1} << 15);
    return *pages;
  }

  Shape shape_, strides_;
  char* first_ = nullptr;
  gth_tensor_desc desc_ = GTH_TENSOR_DESC_INIT;
};

void run_positions(const Request& request, const Expectation& expectation, Input& input) {
  const Prediction& prediction = expectation.prediction();
  if (!expectation.is_called() || prediction.unpredicted || prediction.params.empty || prediction.out.empty) return;
  const oracle::ScatterProblem& problem = prediction.problem;
  const Positions positions(problem.params.shape, input);
  if (!positions.fits()) return;
  const bool is_extreme = problem.reduction == GTH_REDUCTION_MAX || problem.reduction == GTH_REDUCTION_MIN;
  const int32_t wanted = is_extreme ? expectation.answer().status : GTH_E_VERSION;
  const std::vector<char> expected = wanted ? Positions::image() : positions.image_with(oracle::positions_of(problem));
  const Image before;
  const gth_request given = GTH_REQUEST(operation.number, request.desc(params_at), request.desc(indices_at),
                                        request.desc(out_at), request.given_options());
  gth_error* error = fresh_error();
  const int32_t status = gth_scatter_positions(Surroundings::context(), &given, positions.desc(), error);
  if (is_extreme) tally().count(status);
  expect_whole_error(status, *error);
  if (prediction.may_need_null && status == GTH_E_NULL) return;
  if (status != wanted) fail("positions: %s", gth_status_name(status));
  require(status != GTH_E_INDEX || error->position == expectation.answer().position, "positions: the invalid index");
  require(Positions::image() == expected, "positions: the result differs");
  if (const char* what = before.differing()) fail("positions: %s", what);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const uint8_t form = input.byte();
  memory().uses_large = form >= 0xf0;
  Request request(op, input);
  if (!request.place(input)) return -1;
  const Surroundings surroundings(input.below(4));
  const Expectation expectation(request);
  run_named(request, expectation);
  if (form & 1) run_planned(request, expectation);
  if (form & 2) run_mixed(request, expectation, form >> 3 & 7);
  if (form & 4) run_new(request, expectation, form >> 3 & 7);
  if (form & 64) run_request(request, expectation);
  if (scatters(op) && !is_gradient(op)) run_positions(request, expectation, input);
  return 0;
}
