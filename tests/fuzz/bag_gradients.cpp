#include <algorithm>
#include <cmath>

#include "../cpp/fused.hpp"
#include "bag_call.hpp"
#include "surroundings.hpp"

// The gradients of gather_bags, and its positions, compared with loops over ids. Some descriptions are malformed.
namespace {

using namespace fuzz;
using namespace fuzz::bag_calls;

bool is_extreme(const Call& call) { return call.pool() == GTH_POOL_MAX || call.pool() == GTH_POOL_MIN; }

double gradient_value(int64_t i) { return static_cast<double>((i * 5 + 2) % 13 - 6); }

// An operand that a call writes, with its pages before the call and after it.
struct Written {
  Operand operand;
  std::vector<char> before, expected;

  void begin() { before = expected = operand.image(); }
  // The elements that have been written are the expected ones.
  void keep() {
    expected = operand.image();
    restore();
  }
  void restore() const { std::copy(before.begin(), before.end(), operand.first()); }
  // Compares the pages after a call, and restores them.
  void check(int32_t status, const char* form) const {
    if (operand.image() != (status ? before : expected)) fail("%s: the target differs", form);
    restore();
  }
};

// ---- The expected results

// An id that a bag reads, and its row.
struct Read {
  int64_t id, row;
};

std::vector<Read> read_bag(const Call& call, int64_t bag) {
  std::vector<Read> read;
  const auto at = static_cast<size_t>(bag);
  for (int64_t i = call.begin[at]; i < call.begin[at + 1]; ++i) {
    if (const int64_t row = row_of(call, i); row != left_out) read.push_back({i, row});
  }
  return read;
}

double value_of(const Call& call, int64_t row, int64_t column) {
  return row == filled ? fill_value : table_value(row * call.dim + column);
}
double weight_in(const Call& call, int64_t id) { return call.has_weights ? weight_of(id) : 1; }

// Returns the sum of the weights of a bag, or of their squares.
double sum_of_weights(const Call& call, const std::vector<Read>& read) {
  double sum = 0;
  for (const Read& each : read) {
    const double weight = weight_in(call, each.id);
    sum += call.pool() == GTH_POOL_SQRTN ? weight * weight : weight;
  }
  return sum;
}

// Returns the first id with the maximum or minimum of an element of a bag. Returns nullptr if the bag reads no id.
const Read* winner_of(const Call& call, const std::vector<Read>& read, int64_t column) {
  const Read* best = nullptr;
  for (const Read& each : read) {
    const double value = value_of(call, each.row, column), earlier = best ? value_of(call, best->row, column) : value;
    if (!best || (call.pool() == GTH_POOL_MAX ? value > earlier : value < earlier)) best = &each;
  }
  return best;
}

// Returns weight / divisor in the type of sums.
template <class T>
T factor_of(const Call& call, int64_t id, double sum) {
  const auto weight = static_cast<T>(weight_in(call, id));
  if (!call.divides()) return weight;
  if (sum == 0) return 0;
  const auto divisor = static_cast<T>(sum);
  return weight / (call.pool() == GTH_POOL_SQRTN ? std::sqrt(divisor) : divisor);
}

// Returns a sum that is rounded after each addition.
double rounded(const Call& call, double sum) {
  char bytes[8];
  store(call.dtype(), sum, bytes);
  return oracle::decode_float(call.dtype(), bytes);
}

template <class T>
std::vector<double> params_gradient(const Call& call) {
  const bool rounds = call.dtype() == GTH_DTYPE_FLOAT16 && call.options.accumulate == GTH_ACCUMULATE_DTYPE;
  std::vector<double> sums(static_cast<size_t>(call.rows * call.dim));
  for (int64_t b = 0; b < call.bags; ++b) {
    const std::vector<Read> read = read_bag(call, b);
    const double weights = sum_of_weights(call, read);
    for (int64_t column = 0; column < call.dim; ++column) {
      const Read* const winner = is_extreme(call) ? winner_of(call, read, column) : nullptr;
      const auto given = static_cast<T>(gradient_value(b * call.dim + column));
      for (const Read& each : read) {
        if (each.row == filled || (is_extreme(call) && &each != winner)) continue;
        double& sum = sums[static_cast<size_t>(each.row * call.dim + column)];
        sum = static_cast<double>(add_product(static_cast<T>(sum), factor_of<T>(call, each.id, weights), given));
        if (rounds) sum = rounded(call, sum);
      }
    }
  }
  return sums;
}

// Small integers are exact in float64.
std::vector<double> expect_params(const Call& call) {
  const bool is_float = call.dtype() == GTH_DTYPE_FLOAT32 || call.dtype() == GTH_DTYPE_FLOAT16;
  return is_float ? params_gradient<float>(call) : params_gradient<double>(call);
}

std::vector<int64_t> expect_unique(const Call& call) {
  std::vector<int64_t> rows;
  for (int64_t b = 0; b < call.bags; ++b) {
    for (const Read& each : read_bag(call, b)) {
      if (each.row != filled) rows.push_back(each.row);
    }
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

// The derivative by a weight, and the size of its terms. An element of the output is S / d.
struct Derivative {
  double value = 0, size = 0;
};

// Returns the sum of the products of a row and the gradient of a bag.
Derivative product_of(const Call& call, int64_t bag, int64_t row) {
  Derivative sum;
  for (int64_t column = 0; column < call.dim; ++column) {
    const double product = value_of(call, row, column) * gradient_value(bag * call.dim + column);
    sum.value += product;
    sum.size += std::fabs(product);
  }
  return sum;
}

std::vector<Derivative> expect_weights(const Call& call) {
  std::vector<Derivative> expected(static_cast<size_t>(call.ids));
  for (int64_t b = 0; b < call.bags; ++b) {
    const std::vector<Read> read = read_bag(call, b);
    const double sum = sum_of_weights(call, read);
    const double d = !call.divides() ? 1 : call.pool() == GTH_POOL_SQRTN ? std::sqrt(sum) : sum;
    if (d == 0) continue;
    Derivative whole;
    for (const Read& each : read) {
      const Derivative product = product_of(call, b, each.row);
      whole.value += weight_in(call, each.id) * product.value;
      whole.size += std::fabs(weight_in(call, each.id)) * product.size;
    }
    for (const Read& each : read) {
      const double growth = !call.divides() ? 0 : call.pool() == GTH_POOL_SQRTN ? weight_in(call, each.id) / d : 1;
      const Derivative own = product_of(call, b, each.row);
      expected[static_cast<size_t>(each.id)] = {own.value / d - growth * whole.value / (d * d),
                                                own.size / std::fabs(d) + std::fabs(growth) * whole.size / (d * d)};
    }
  }
  return expected;
}

// ---- Calls

void run_dense(const Call& call, const gth_request& request, Written* target) {
  target->begin();
  if (!call.fault) {
    const std::vector<double> sums = expect_params(call);
    for (int64_t i = 0; i < call.rows * call.dim; ++i)
      store(call.dtype(), sums[static_cast<size_t>(i)], target->operand.at(i));
    target->keep();
  }
  gth_error error = GTH_ERROR_INIT;
  const int32_t status = gth_gather_bags_gradient(Surroundings::context(), &request, &target->operand.desc, &error);
  expect(call, "gradient", status, error);
  target->check(status, "gradient");
}

void run_sparse(const Call& call, const gth_request& request, Written* unique, Written* target) {
  const int64_t capacity = unique->operand.shape()[0];
  const std::vector<int64_t> rows = call.fault ? std::vector<int64_t>() : expect_unique(call);
  const auto n = static_cast<int64_t>(rows.size());
  unique->begin();
  target->begin();
  if (!call.fault && n <= capacity) {
    const std::vector<double> sums = expect_params(call);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = rows[static_cast<size_t>(i)];
      unique->operand.set(i, row);
      for (int64_t column = 0; column < call.dim; ++column) {
        const double sum = sums[static_cast<size_t>(row * call.dim + column)];
        store(call.dtype(), sum, target->operand.at(i * call.dim + column));
      }
    }
    unique->keep();
    target->keep();
  }
  gth_error error = GTH_ERROR_INIT;
  int64_t count = -7;
  const int32_t status = gth_gather_bags_sparse_gradient(Surroundings::context(), &request, &unique->operand.desc,
                                                         &target->operand.desc, &count, &error);
  if (!call.fault && n > capacity) {
    tally().count(status);
    require(status == GTH_E_SIZE && error.operand == GTH_OPERAND_OUT && error.value == capacity && error.limit == n,
            "sparse gradient: too few rows");
  } else {
    expect(call, "sparse gradient", status, error);
  }
  require(count == (status ? -7 : n), "sparse gradient: the number of rows");
  unique->check(status, "sparse gradient: rows");
  target->check(status, "sparse gradient");
}

void run_weights(const Call& call, const gth_request& request, Written* target) {
  target->begin();
  const Operand& operand = target->operand;
  gth_error error = GTH_ERROR_INIT;
  const int32_t status = gth_gather_bags_weight_gradient(Surroundings::context(), &request, &operand.desc, &error);
  if (is_extreme(call)) {
    require(status == GTH_E_UNSUPPORTED && error.operand == GTH_OPERAND_WEIGHTS, "gradient of weights: pool");
    return target->check(status, "gradient of weights");
  }
  expect(call, "gradient of weights", status, error);
  if (status) return target->check(status, "gradient of weights");
  const int32_t dtype = operand.desc.dtype;
  const double of_sums = call.dtype() == GTH_DTYPE_FLOAT64 ? 1e-14 : 1e-5;
  const double of_result = dtype == GTH_DTYPE_FLOAT16 ? 5e-4 : 1e-7;
  const std::vector<Derivative> expected = expect_weights(call);
  for (int64_t i = 0; i < call.ids; ++i) {
    const auto [value, size] = expected[static_cast<size_t>(i)];
    const bool is_integer = dtype == GTH_DTYPE_INT32;
    const double found = is_integer ? static_cast<double>(operand.get(i)) : oracle::decode_float(dtype, operand.at(i));
    const double tolerance = is_integer ? 0 : of_sums * size + of_result * std::fabs(value) + 1e-7;
    if (!(std::fabs(found - value) <= tolerance)) fail("gradient of weight %d: %g, expected %g", int(i), found, value);
  }
  // Between the elements nothing has changed.
  std::vector<char> elements;
  for (int64_t i = 0; i < call.ids; ++i) elements.insert(elements.end(), operand.at(i), operand.at(i) + operand.item());
  const std::vector<char> after = operand.image();
  target->restore();
  for (int64_t i = 0; i < call.ids; ++i)
    std::copy_n(elements.data() + i * operand.item(), operand.item(), operand.at(i));
  require(operand.image() == after, "gradient of weights: it wrote elsewhere");
  target->restore();
}

void run_positions(const Call& call, const gth_request& request, Written* target) {
  target->begin();
  if (!call.fault && is_extreme(call)) {
    for (int64_t b = 0; b < call.bags; ++b) {
      const std::vector<Read> read = read_bag(call, b);
      for (int64_t column = 0; column < call.dim; ++column) {
        const Read* const winner = winner_of(call, read, column);
        target->operand.set(b * call.dim + column, winner ? winner->id : -1);
      }
    }
    target->keep();
  }
  gth_error error = GTH_ERROR_INIT;
  const int32_t status = gth_gather_bags_positions(Surroundings::context(), &request, &target->operand.desc, &error);
  if (is_extreme(call)) {
    expect(call, "positions", status, error);
  } else {
    require(status == GTH_E_VERSION, "positions: pool");
  }
  target->check(status, "positions");
}

// The operands that the calls write.
struct Targets {
  Written params, unique, rows, weights, positions;

  void draw(Input& input, const Call& call) {
    const int64_t capacity = input.below(call.rows + 3);
    const gth_tensor_desc &ids = call[ids_at].desc, &weights_desc = call[weights_at].desc;
    params.operand.make(input, call.dtype(), 2, call.rows, call.dim);
    unique.operand.make(input, GTH_DTYPE_INT64, 1, capacity, 1);
    rows.operand.make(input, call.dtype(), 2, capacity, call.dim);
    weights.operand.make(input, call.has_weights ? weights_desc.dtype : call.dtype(), ids.ndim, ids.shape[0],
                         ids.ndim == 2 ? ids.shape[1] : 1);
    positions.operand.make(input, GTH_DTYPE_INT64, 2, call.bags, call.dim);
  }
};

// Checks that a malformed request has a valid status, and that an error wrote nothing.
void run_damaged(const gth_request& request, Targets* targets) {
  const std::initializer_list<Written*> all{&targets->params, &targets->unique, &targets->rows, &targets->weights,
                                            &targets->positions};
  for (Written* each : all) each->begin();
  gth_context* const context = Surroundings::context();
  int64_t count = 0;
  for (int form = 0; form < 4; ++form) {
    const int32_t status =
        form == 0   ? gth_gather_bags_gradient(context, &request, &targets->params.operand.desc, nullptr)
        : form == 1 ? gth_gather_bags_sparse_gradient(context, &request, &targets->unique.operand.desc,
                                                      &targets->rows.operand.desc, &count, nullptr)
        : form == 2 ? gth_gather_bags_weight_gradient(context, &request, &targets->weights.operand.desc, nullptr)
                    : gth_gather_bags_positions(context, &request, &targets->positions.operand.desc, nullptr);
    tally().count(status);
    require(status <= 0 && status != GTH_E_INTERNAL && status != GTH_E_RACE, "the status of a malformed request");
    for (const Written* each : all) {
      require(status == GTH_OK || each->operand.image() == each->before, "an error wrote to a target");
      each->restore();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Targets* const targets = new Targets;
  Input input(data, size);
  Call call = draw_call(input);
  for (int64_t i = 0; i < call.bags * call.dim; ++i) store(call.dtype(), gradient_value(i), call[out_at].at(i));
  call.options.accumulate = input.rarely(4) ? GTH_ACCUMULATE_DTYPE : 0;
  targets->draw(input, call);
  const Surroundings surroundings(input.below(4));
  call.options.threads = static_cast<int32_t>(input.below(4));
  const bool is_damaged = input.byte() >= 192;
  if (is_damaged && input.rarely(3)) {
    Written* const written[] = {&targets->params, &targets->unique, &targets->rows, &targets->weights,
                                &targets->positions};
    Operand& operand = input.pick(written)->operand;
    damage_operand(input, input.below(6), &operand);
  } else if (is_damaged) {
    damage(input, &call);
  }
  gth_request request =
      GTH_REQUEST(GTH_OP_GATHER_BAGS, &call[table_at].desc, &call[ids_at].desc, &call[out_at].desc, &call.options);
  if (call.has_bags) request.bags = &call[bags_at].desc;
  if (call.has_weights) request.weights = &call[weights_at].desc;
  if (is_damaged) {
    run_damaged(request, targets);
    return 0;
  }
  find_fault(&call);
  run_dense(call, request, &targets->params);
  run_sparse(call, request, &targets->unique, &targets->rows);
  run_weights(call, request, &targets->weights);
  run_positions(call, request, &targets->positions);
  return 0;
}
