#include <cstdio>
#include <tuple>

#include "request.hpp"

// One operation in every form, of any arguments, against the documents. FUZZ_OP says which.
namespace {

using namespace fuzz;

constexpr Op op = Op::FUZZ_OP;

struct Gathers {
  decltype(&gth_gather) make;
  decltype(&gth_gather_into) into;
  decltype(&gth_gather_desc) desc;
  decltype(&gth_gather_plan) plan;
};
struct Scatters {
  decltype(&gth_scatter) make;
  decltype(&gth_scatter_into) into;
  decltype(&gth_scatter_desc) desc;
  decltype(&gth_scatter_plan) plan;
};
constexpr std::tuple every_form = {
    Gathers{gth_gather, gth_gather_into, gth_gather_desc, gth_gather_plan},
    Gathers{gth_gather_nd, gth_gather_nd_into, gth_gather_nd_desc, gth_gather_nd_plan},
    Gathers{gth_gather_elements, gth_gather_elements_into, gth_gather_elements_desc, gth_gather_elements_plan},
    Scatters{gth_scatter, gth_scatter_into, gth_scatter_desc, gth_scatter_plan},
    Scatters{gth_scatter_nd, gth_scatter_nd_into, gth_scatter_nd_desc, gth_scatter_nd_plan},
    Scatters{gth_scatter_elements, gth_scatter_elements_into, gth_scatter_elements_desc, gth_scatter_elements_plan},
};
constexpr auto forms = std::get<static_cast<size_t>(op)>(every_form);

// A form of a gather or a scatter on the same operands: where the output stands, a scatter has updates.
template <class Form, class T>
int32_t call(Form form, T* params, T* indices, T* out, const gth_options* options, gth_error* error) {
  if constexpr (scatters(op))
    return form(nullptr, params, indices, out, options, error);
  else
    return form(nullptr, params, indices, options, out, error);
}

// What one request should come to, for every form.
class Expectation {
 public:
  explicit Expectation(const Request& request) : request_(request), verdict_(request.verdict()) {
    if (!is_called()) return;
    request.load(&verdict_);
    if (!verdict_.unjudged && !verdict_.out.empty) answer_ = fuzz::answer(op, verdict_.problem);
  }

  const Verdict& verdict() const { return verdict_; }
  const oracle::ScatterAnswer& answer() const { return answer_; }
  bool is_called() const { return verdict_.is_sound(Stage::values); }

  // The pages are as the call should have left them, and are put back.
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
    return may && op == Op::gather_nd && verdict_.params.empty && status == GTH_E_INDEX &&
           (!error || (error->operand == GTH_OPERAND_PARAMS && error->position == -1));
  }

  // What is wrong with the answer, or nullptr. *expected becomes what the pages should hold.
  const char* object_to(int32_t status, const gth_error* error, Image* expected) const {
    static const gth_error anything = GTH_ERROR_INIT;
    if (!is_called() && !verdict_.unjudged) {
      if (!error) return status == GTH_OK ? "status" : nullptr;
      return verdict_.object_to(status, error ? *error : anything);
    }
    if (verdict_.unjudged) {
      if (status == GTH_OK && is_called()) expected->accept(request_, verdict_);
      return status > 0 || status == GTH_E_INTERNAL || status == GTH_E_RACE ? "status" : nullptr;
    }
    if (verdict_.may_need_null && status == GTH_E_NULL) return nullptr;
    if (refuses_empty_params(status, error)) return nullptr;
    if (verdict_.out.empty) {
      return status == GTH_OK || (verdict_.may_judge && status == GTH_E_INDEX) ? nullptr : "status";
    }
    if (status != answer_.status) return "status";
    if (status == GTH_OK) expected->expect(request_, verdict_, answer_);
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
        "reduction %d accumulate %d\n",
        x.has_axis, static_cast<long long>(x.axis), static_cast<long long>(x.batch_dims), x.profile, x.opset,
        x.negative, x.bounds, x.threads, x.extents, x.reduction, x.accumulate);
    for (const Fault& each : verdict_.faults) {
      std::fprintf(stderr, "  due: %s operand %d component %d value %lld limit %lld\n", gth_status_name(each.status),
                   each.operand, each.component, static_cast<long long>(each.value),
                   static_cast<long long>(each.limit));
    }
    if (is_called()) {
      std::fprintf(stderr, "  due: %s position %lld component %d value %lld\n", gth_status_name(answer_.status),
                   static_cast<long long>(answer_.position), answer_.component, static_cast<long long>(answer_.value));
    }
    fail("%s: wrong %s: %s operand %d component %d position %lld value %lld limit %lld: %s", form, objection,
         gth_status_name(status), error ? error->operand : 0, error ? error->component : 0,
         error ? static_cast<long long>(error->position) : 0, error ? static_cast<long long>(error->value) : 0,
         error ? static_cast<long long>(error->limit) : 0, error && status ? error->message : "");
  }

  const Request& request_;
  Verdict verdict_;
  oracle::ScatterAnswer answer_;
  Image before_;
};

void run_desc(const Request& request, const Expectation& expectation) {
  gth_error* error = fresh_error();
  const gth_tensor_desc *p = request.desc(params_at), *i = request.desc(indices_at), *o = request.desc(out_at);
  const gth_options* x = request.given_options();
  expectation.check("desc", call(forms.desc, p, i, o, x, error), error);
  expectation.check("desc without an error", call(forms.desc, p, i, o, x, nullptr), nullptr);
}

// -1 means something to plans.
bool has_open(const Request& request) {
  return std::any_of(std::begin(request.operands), std::end(request.operands), [](const Tensor& each) {
    return std::find(each.shape.begin(), each.shape.end(), GTH_OPEN) != each.shape.end();
  });
}

// A plan is refused for what a call would be refused for before its memory is looked at.
void run_planned(const Request& request, const Expectation& expectation) {
  const Verdict& verdict = expectation.verdict();
  gth_error* error = fresh_error();
  gth_plan* plan = reinterpret_cast<gth_plan*>(error);
  const gth_tensor_desc* o = request.desc(out_at);
  const int32_t status =
      forms.plan(request.desc(params_at), request.desc(indices_at), request.given_options(), o, &plan, error);
  if (status) {
    require(plan == nullptr, "a plan was handed out with an error");
    const bool by_device =
        status == GTH_E_DEVICE && !verdict.is_sound(Stage::memory) && verdict.is_sound(Stage::devices);
    if (by_device || verdict.unjudged || has_open(request) || !o) return;
    if (verdict.is_sound(Stage::memory)) {
      require(status == GTH_E_READONLY && request.operands[request.written()].flags & GTH_TENSOR_READONLY,
              "plan: wrong status");
      return;
    }
    return expectation.check("plan", status, error);
  }
  if (!o || !verdict.is_sound(Stage::memory)) {
    require(!o || has_open(request) || verdict.unjudged, "plan: accepted");
  } else if (expectation.is_called()) {
    error = fresh_error();
    const auto data = [&](Which which) {
      const Tensor& tensor = request.operands[which];
      return tensor.has_data ? reinterpret_cast<void*>(tensor.data) : nullptr;
    };
    // What a run reads comes first, what it writes last.
    const Which read = request.read(), written = request.written();
    const int32_t ran = gth_plan_run(nullptr, plan, data(read), data(indices_at), data(written), GTH_OPEN, error);
    expectation.check("run", ran, error);
    int64_t extents[3] = {-7, -7, -7};
    require(gth_plan_extents(plan, GTH_OPEN, &extents[0], &extents[1], &extents[2], nullptr) == GTH_OK, "extents");
    if (!verdict.out.empty && !verdict.unjudged) {
      require(extents[2] == request.reach_written(verdict).extent(), "extent of what is written");
      require(extents[0] == request.reach_read(verdict).extent(), "extent of what is read");
      error = fresh_error();
      const int32_t refused = gth_plan_run_checked(nullptr, plan, data(read), extents[0], data(indices_at), extents[1],
                                                   data(written), extents[2] - 1, GTH_OPEN, error);
      require(refused == GTH_E_SIZE && error->operand == request.operand_written() && error->value == extents[2] - 1 &&
                  error->limit == extents[2],
              "a checked run of too little memory");
      error = fresh_error();
      expectation.check("checked run",
                        gth_plan_run_checked(nullptr, plan, data(read), extents[0], data(indices_at), extents[1],
                                             data(written), extents[2], GTH_OPEN, error),
                        error);
    }
  }
  require(gth_plan_release(plan) == GTH_OK, "release of a plan");
}

void run_into(const Request& request, const Expectation& expectation) {
  gth_tensor* tensors[3] = {};
  bool all = true;
  for (const Which which : {params_at, indices_at, out_at}) {
    const gth_tensor_desc* desc = request.desc(which);
    all = gth_tensor_borrow(desc, &tensors[which], nullptr) == GTH_OK && all;
  }
  // What a tensor refuses on its own has been seen as a description.
  if (all && expectation.is_called()) {
    gth_error* error = fresh_error();
    const gth_options* x = request.given_options();
    expectation.check("into", call(forms.into, tensors[params_at], tensors[indices_at], tensors[out_at], x, error),
                      error);
  } else if (expectation.is_called() && !expectation.verdict().out.empty) {
    fail("borrow: refused what a call takes");
  }
  for (gth_tensor* each : tensors) require(gth_tensor_release(each) == GTH_OK, "release of a tensor");
}

// The new tensor of the allocating form.
template <class Make>
int32_t make_new(Make make, gth_tensor* const (&operands)[3], const gth_options* options, gth_tensor** made) {
  gth_error* error = fresh_error();
  int32_t status;
  if constexpr (scatters(op))
    status = make(nullptr, operands[params_at], operands[indices_at], operands[out_at], options, made, error);
  else
    status = make(nullptr, operands[params_at], operands[indices_at], options, made, error);
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

void gather_new(const Request& request, gth_tensor* const (&operands)[3], gth_tensor** made) {
  Verdict verdict = judge(op, request.params(), request.indices(), nullptr, request.options);
  const bool is_small = verdict.out.empty || verdict.out.high < (1 << 20);
  if (!request.has_inputs() || !verdict.is_sound(Stage::values) || !is_small) return;
  const int32_t status = make_new(forms.make, operands, request.given_options(), made);
  if (verdict.unjudged || verdict.out.empty || verdict.out.high > 4096) return;
  request.load(&verdict, {params_at, indices_at});
  verdict.problem.out.memory.assign(static_cast<size_t>(verdict.out.high), 0);
  const oracle::Answer due = answer(op, verdict.problem);
  const bool by_params = status == GTH_E_INDEX && verdict.params.empty;
  require(status == due.status || by_params, "new tensor: status");
  if (status) return;
  const char* found = expect_shape(*made, verdict.problem.out.shape);
  require(std::memcmp(found, due.memory.data(), due.memory.size()) == 0, "new tensor: bytes");
}

// The target with the updates in it, dense, and the target as it was.
void scatter_new(const Request& request, const Expectation& expectation, gth_tensor* const (&operands)[3],
                 gth_tensor** made) {
  const Verdict& verdict = expectation.verdict();
  if (!expectation.is_called()) return;
  const Image before;
  const int32_t status = make_new(forms.make, operands, request.given_options(), made);
  if (const char* what = before.differing()) fail("new tensor: %s", what);
  if (verdict.unjudged) return;
  require(status == expectation.answer().status, "new tensor: status");
  if (status) return;
  const char* elements = expect_shape(*made, verdict.problem.params.shape);
  if (verdict.out.empty || verdict.params.empty) return;
  oracle::Bytes found = expectation.answer().memory;
  oracle::for_each_element(verdict.problem.params, [&](int64_t at, const Shape&) {
    std::memcpy(found.data() + at, elements, static_cast<size_t>(verdict.problem.params.item));
    elements += verdict.problem.params.item;
  });
  require(oracle::is_same_target(verdict.problem, expectation.answer(), found), "new tensor: bytes");
}

void run_new(const Request& request, const Expectation& expectation) {
  gth_tensor *operands[3] = {}, *made = nullptr;
  bool all = true;
  for (const Which which : {params_at, indices_at, out_at}) {
    const bool is_used = which != out_at || scatters(op);
    all = all && (!is_used || gth_tensor_borrow(request.desc(which), &operands[which], nullptr) == GTH_OK);
  }
  if (all) scatters(op) ? scatter_new(request, expectation, operands, &made) : gather_new(request, operands, &made);
  for (gth_tensor* each : operands) require(gth_tensor_release(each) == GTH_OK, "release of a tensor");
  require(gth_tensor_release(made) == GTH_OK, "release of a tensor");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const uint8_t form = input.byte();
  Request request(op, input);
  if (!request.place(input)) return -1;
  const Expectation expectation(request);
  run_desc(request, expectation);
  if (form & 1) run_planned(request, expectation);
  if (form & 2) run_into(request, expectation);
  if (form & 4) run_new(request, expectation);
  return 0;
}
