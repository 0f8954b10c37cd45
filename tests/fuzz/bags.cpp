#include <cmath>

#include "bag_call.hpp"
#include "surroundings.hpp"

// gather_bags in every form, compared with a loop over ids. Some descriptions are malformed.
namespace {

using namespace fuzz;
using namespace fuzz::bag_calls;

// ---- The expected result

// Returns the quotient in the type of sums.
double divide(const Call& call, double sum, double squares_or_weights) {
  const bool is_double = call.dtype() == GTH_DTYPE_FLOAT64, has_root = call.pool() == GTH_POOL_SQRTN;
  if (squares_or_weights == 0) return 0;
  if (is_double) return sum / (has_root ? std::sqrt(squares_or_weights) : squares_or_weights);
  const auto divisor = static_cast<float>(squares_or_weights);
  return static_cast<double>(static_cast<float>(sum) / (has_root ? std::sqrt(divisor) : divisor));
}

double pooled(const Call& call, int64_t begin, int64_t end, int64_t column) {
  double sum = 0, divisor = 0;
  bool is_first = true;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row = row_of(call, i);
    if (row == left_out) continue;
    const double value = row == filled ? fill_value : table_value(row * call.dim + column);
    const double weight = call.has_weights ? weight_of(i) : 1;
    divisor += call.pool() == GTH_POOL_SQRTN ? weight * weight : weight;
    if (call.pool() == GTH_POOL_MAX) {
      sum = is_first ? value : std::max(sum, value);
    } else if (call.pool() == GTH_POOL_MIN) {
      sum = is_first ? value : std::min(sum, value);
    } else {
      sum += weight * value;
    }
    is_first = false;
  }
  if (is_first) return call.options.empty == GTH_EMPTY_FILL ? fill_value : 0;
  return call.divides() ? divide(call, sum, divisor) : sum;
}

void predict(Call* call) {
  find_fault(call);
  const Operand& out = (*call)[out_at];
  const std::vector<char> before = out.image();
  for (int64_t b = 0; b < call->bags && !call->fault; ++b) {
    for (int64_t column = 0; column < call->dim; ++column) {
      const auto at = static_cast<size_t>(b);
      store(call->dtype(), pooled(*call, call->begin[at], call->begin[at + 1], column), out.at(b * call->dim + column));
    }
  }
  call->expected = out.image();
  std::copy(before.begin(), before.end(), out.first());
}

// ---- Forms

// Compares the output with the expected one, and restores it.
void expect_output(const Call& call, const std::vector<char>& before, const char* form) {
  const Operand& out = call[out_at];
  if (out.image() != call.expected) fail("%s: the output differs", form);
  std::copy(before.begin(), before.end(), out.first());
}

void run_valid(const Call& call, const gth_request& request) {
  const std::vector<char> before = call[out_at].image();
  gth_error error = GTH_ERROR_INIT;
  expect(call, "run", gth_run_request(Surroundings::context(), &request, &error), error);
  expect_output(call, before, "run");
  gth_plan* plan = nullptr;
  require(gth_plan_create(&request, &plan, &error) == GTH_OK, "a plan");
  gth_plan_args args = GTH_PLAN_ARGS_INIT;
  args.table = request.table->data;
  args.indices = request.indices->data;
  args.rows = const_cast<void*>(request.rows->data);
  args.bags = request.bags ? request.bags->data : nullptr;
  args.weights = request.weights ? request.weights->data : nullptr;
  expect(call, "plan", gth_plan_run_args(Surroundings::context(), plan, &args, &error), error);
  expect_output(call, before, "plan");
  require(gth_plan_release(plan) == GTH_OK, "release of a plan");
  gth_request asked = request;
  asked.rows = nullptr;
  gth_tensor* made = nullptr;
  const int32_t status = gth_make(Surroundings::context(), &asked, &made, &error);
  expect(call, "make", status, error);
  require((status == GTH_OK) == (made != nullptr) && gth_tensor_release(made) == GTH_OK, "a new tensor");
}

void run_damaged(const Call& call, const gth_request& request) {
  const std::vector<char> before = call[out_at].image();
  gth_error error = GTH_ERROR_INIT;
  const int32_t status = gth_run_request(Surroundings::context(), &request, &error);
  tally().count(status);
  require(status <= 0 && status != GTH_E_INTERNAL && status != GTH_E_RACE, "the status of a malformed request");
  require(status == GTH_OK || call[out_at].image() == before, "an error wrote to the output");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  Call call = draw_call(input);
  const Surroundings surroundings(input.below(4));
  call.options.threads = static_cast<int32_t>(input.below(4));
  const bool is_damaged = input.byte() >= 192;
  if (is_damaged) damage(input, &call);
  gth_request request =
      GTH_REQUEST(GTH_OP_GATHER_BAGS, &call[table_at].desc, &call[ids_at].desc, &call[out_at].desc, &call.options);
  if (call.has_bags) request.bags = &call[bags_at].desc;
  if (call.has_weights) request.weights = &call[weights_at].desc;
  if (is_damaged) {
    run_damaged(call, request);
  } else {
    predict(&call);
    run_valid(call, request);
  }
  return 0;
}
