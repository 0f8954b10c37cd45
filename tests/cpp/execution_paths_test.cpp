#include <algorithm>

#include "elements_oracle.hpp"
#include "hostile.hpp"
#include "random_operands.hpp"

// Compares requests that take different execution paths with the oracle. They have long and short lines, lines that
// repeat their indices, narrow and strided indices, and slices of several rows. GATHER_SEED changes the seed,
// GATHER_CASES the number of cases.
namespace {

using namespace oracle;
using hostile::Error;

struct Request {
  int32_t op = GTH_OP_GATHER;
  ElementsProblem problem;
  gth_options options = GTH_OPTIONS_INIT;

  Answer expected() const { return op == GTH_OP_GATHER_ELEMENTS ? solve_elements(problem) : solve(problem); }
};

// Sets the shape of the result, the dtypes and the options. Precondition: the shapes of params and indices are set.
void complete(int32_t dtype, int32_t index_dtype, Request* request) {
  ElementsProblem& problem = request->problem;
  problem.is_nd = request->op == GTH_OP_GATHER_ND;
  problem.params.dtype = problem.out.dtype = dtype;
  problem.indices.dtype = index_dtype;
  problem.params.item = problem.out.item = gth_dtype_size(dtype);
  problem.indices.item = gth_dtype_size(index_dtype);
  problem.out.shape = request->op == GTH_OP_GATHER_ELEMENTS ? elements_shape(problem) : output_shape(problem);
  if (problem.is_nd) return;
  request->options.has_axis = 1;
  request->options.axis = problem.axis;
}

void lay_out_all(Random& random, Request* request) {
  lay_out(random, false, &request->problem.params);
  lay_out(random, false, &request->problem.indices);
  lay_out(random, true, &request->problem.out);
}

int64_t size_of_component(const Problem& problem, const Shape& place) {
  const int64_t component = problem.is_nd ? place.back() : 0;
  return problem.params.shape[static_cast<size_t>(problem.axis + component)];
}

int64_t largest(int32_t dtype) {
  return dtype % 256 == 64 ? INT64_MAX : (int64_t{1} << (dtype % 256 - (dtype < 256))) - 1;
}

// Strides of 0 give several places the same memory. So each index is valid for all components.
void fill_with_valid_indices(Random& random, Problem* problem) {
  Operand& x = problem->indices;
  int64_t size = INT64_MAX;
  for (int64_t c = 0; c < problem->components; ++c)
    size = std::min(size, problem->params.shape[static_cast<size_t>(problem->axis + c)]);
  for_each_element(x, [&](int64_t at, const Shape&) {
    const int64_t value = random.below(std::min(size, largest(x.dtype)));
    std::memcpy(x.memory.data() + at, &value, static_cast<size_t>(x.item));
  });
}

// Runs the request into the memory of the problem.
int32_t run(Request* request, int32_t threads, Error* error) {
  ElementsProblem& problem = request->problem;
  const gth_tensor_desc p = problem.params.desc(), i = problem.indices.desc(), o = problem.out.desc();
  request->options.threads = threads;
  return gth_run(nullptr, request->op, &p, &i, &o, &request->options, error);
}

void expect_same(const char* what, const Request& request, const Answer& answer, int32_t status, const Error& error,
                 const Bytes& found) {
  const auto text = [](const Operand& x) {
    std::string result = " [";
    for (size_t d = 0; d < x.shape.size(); ++d)
      result += std::to_string(x.shape[d]) + ":" + std::to_string(x.strides[d]) + " ";
    return result + "] dtype " + std::to_string(x.dtype);
  };
  const bool same_error = status != GTH_E_INDEX || (error.position == answer.position && error.value == answer.value &&
                                                    error.component == answer.component);
  EXPECT_TRUE(status == answer.status && same_error && found == answer.memory)
      << what << ": operation " << request.op << " axis " << request.problem.axis << " bounds "
      << request.problem.bounds << text(request.problem.params) << text(request.problem.indices)
      << text(request.problem.out) << ": status " << status << " position " << error.position << ", expected "
      << answer.status << " position " << answer.position;
}

void check_run(const char* what, Request* request, int32_t threads, const Answer& answer) {
  const Bytes before = request->problem.out.memory;
  Error error;
  const int32_t status = run(request, threads, &error);
  expect_same(what, *request, answer, status, error, request->problem.out.memory);
  request->problem.out.memory = before;
}

// Compares the new tensor of gth_make with the oracle.
void check_made(Request request) {
  ElementsProblem& problem = request.problem;
  problem.out.dense = true;
  problem.out.offset = 0;
  problem.out.strides = dense_strides(problem.out.shape, problem.out.item);
  problem.out.memory.assign(static_cast<size_t>(hostile::count_of(problem.out.shape) * problem.out.item), 0);
  const Answer answer = request.expected();
  const gth_tensor_desc p = problem.params.desc(), i = problem.indices.desc();
  const gth_request given = GTH_REQUEST(request.op, &p, &i, nullptr, &request.options);
  hostile::Tensor made;
  Error error;
  const int32_t status = gth_make(nullptr, &given, made.out(), &error);
  if (!status) std::memcpy(problem.out.memory.data(), made.desc().data, problem.out.memory.size());
  expect_same("make", request, answer, status, error, problem.out.memory);
}

// ---- random requests

constexpr int64_t extents[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 64, 85, 129, 255, 256, 257, 511, 2047, 2049, 2600};

// Returns an extent of at most `most`.
int64_t draw_extent(Random& random, int64_t most) {
  for (;;) {
    const int64_t extent = extents[random.below(sizeof extents / sizeof *extents)];
    if (extent <= most) return extent;
  }
}

Request draw(Random& random) {
  constexpr int64_t max_elements = 12000;
  Request request;
  ElementsProblem& problem = request.problem;
  request.op = random.chance(50) ? GTH_OP_GATHER : random.chance(50) ? GTH_OP_GATHER_ND : GTH_OP_GATHER_ELEMENTS;
  const int64_t rank = random.between(1, 3);
  int64_t budget = max_elements;
  for (int64_t d = 0; d < rank; ++d) {
    problem.params.shape.push_back(draw_extent(random, std::min<int64_t>(budget, 2600)));
    budget /= problem.params.shape.back();
  }
  problem.axis = request.op == GTH_OP_GATHER_ND ? 0 : random.below(rank);
  const auto axis = static_cast<size_t>(problem.axis);
  if (request.op == GTH_OP_GATHER_ELEMENTS) {
    problem.indices.shape = problem.params.shape;
    int64_t others = 1;
    for (size_t d = 0; d < problem.params.shape.size(); ++d) others *= d == axis ? 1 : problem.params.shape[d];
    problem.indices.shape[axis] = draw_extent(random, std::max<int64_t>(1, max_elements / others));
  } else {
    if (request.op == GTH_OP_GATHER_ND) problem.components = random.between(1, rank);
    int64_t slice = 1;
    for (size_t d = 0; d < problem.params.shape.size(); ++d) {
      const auto number = static_cast<int64_t>(d);
      const bool is_indexed = number >= problem.axis && number < problem.axis + problem.components;
      slice *= is_indexed ? 1 : problem.params.shape[d];
    }
    int64_t left = std::max<int64_t>(1, max_elements / slice);
    for (int64_t d = random.between(1, 2); d > 0; --d) {
      problem.indices.shape.push_back(draw_extent(random, left));
      left /= problem.indices.shape.back();
    }
    if (problem.axis > 0 && random.chance(20)) {  // a batch
      problem.batch = 1;
      problem.indices.shape = {problem.params.shape[0], draw_extent(random, 20)};
      request.options.batch_dims = 1;
    }
    if (request.op == GTH_OP_GATHER_ND) problem.indices.shape.push_back(problem.components);
  }
  complete(dtypes[random.below(15)], index_dtypes[random.below(8)], &request);
  choose_switches(random, &problem, &request.options);
  lay_out_all(random, &request);
  fill_with_valid_indices(random, &problem);
  return request;
}

// Replaces some indices by values that may be out of bounds.
void corrupt(Random& random, Problem* problem) {
  Operand& x = problem->indices;
  const int64_t count = hostile::count_of(x.shape), percent = random.chance(50) ? 0 : random.below(100);
  const int64_t certain = random.below(count);
  int64_t number = 0;
  for_each_element(x, [&](int64_t at, const Shape& place) {
    if (number++ != certain && !random.chance(percent)) return;
    const int64_t value = hostile_value(random, size_of_component(*problem, place), x.dtype);
    std::memcpy(x.memory.data() + at, &value, static_cast<size_t>(x.item));
  });
}

void check_all_forms(Request* request) {
  const Answer answer = request->expected();
  check_run("run", request, 1, answer);
  check_run("threads", request, 3, answer);
  check_made(*request);
}

TEST(ExecutionPaths, RandomRequestsMatchTheOracle) {
  Random random(static_cast<uint64_t>(environment::number("GATHER_SEED", 20261124)));
  const int64_t wanted = random_cases(1200);
  for (int64_t number = 0; number < wanted && !testing::Test::HasFailure(); ++number) {
    SCOPED_TRACE("case " + std::to_string(number));
    Request request = draw(random);
    check_all_forms(&request);
    corrupt(random, &request.problem);
    check_all_forms(&request);
  }
}

// ---- slices of many rows

// Puts a gap after each dim, so that no two dims merge. The last dim stays contiguous.
void spread(Operand* x) {
  int64_t stride = x->item;
  for (size_t d = x->shape.size(); d-- > 0;) {
    x->strides[d] = stride;
    stride = stride * x->shape[d] + 2 * x->item;
  }
  x->dense = false;
  x->offset = 0;
  x->memory.resize(static_cast<size_t>(stride));
}

// One tuple, a few, and many. Each loop of a slice has up to 700 steps, which is more than a block.
TEST(ExecutionPaths, SlicesOfManyRowsMatchTheOracle) {
  Random random(20261126);
  const Shape tables[] = {{3, 300, 3, 5},   {3, 2, 300, 3, 2}, {3, 3, 300, 1},
                          {3, 300, 300, 1}, {3, 700, 2, 2},    {3, 2, 257, 2, 1}};
  for (const Shape& table : tables) {
    for (const int64_t tuples : {1, 2, 17, 40}) {
      for (const int32_t bounds : {GTH_BOUNDS_ERROR, GTH_BOUNDS_FILL, GTH_BOUNDS_SKIP}) {
        if (tuples * hostile::count_of(table) > 500000) continue;
        SCOPED_TRACE(std::to_string(table[1]) + " rows, tuples " + std::to_string(tuples));
        Request request;
        ElementsProblem& problem = request.problem;
        problem.params.shape = table;
        problem.indices.shape = {tuples};
        problem.bounds = request.options.bounds = bounds;
        complete(GTH_DTYPE_INT16, GTH_DTYPE_INT64, &request);
        lay_out_all(random, &request);
        spread(&problem.params);
        if (tuples != 2) spread(&problem.out);
        for (Operand* x : {&problem.params, &problem.out}) {
          for (char& each : x->memory) each = static_cast<char>(random.bits());
        }
        fill_with_valid_indices(random, &problem);
        check_all_forms(&request);
        if (bounds == GTH_BOUNDS_ERROR) continue;
        corrupt(random, &problem);
        check_all_forms(&request);
      }
    }
  }
}

// ---- every position of an invalid index

// The order of the elements of indices in memory.
enum class Order { row_major, column_major, reversed, last_dims_exchanged };

struct Path {
  const char* name;
  int32_t op;
  Shape params, indices;
  int64_t axis;
  int32_t index_dtype = GTH_DTYPE_INT64;
  int64_t index_gap = 0;   // bytes between the elements of indices
  int64_t params_gap = 0;  // bytes between the elements of params
  Order order = Order::row_major;
};

const Path paths[] = {
    {"few rows", GTH_OP_GATHER, {20}, {5}, 0},
    {"one block", GTH_OP_GATHER, {20}, {40}, 0},
    {"several blocks", GTH_OP_GATHER, {300}, {1000}, 0},
    {"a long line", GTH_OP_GATHER, {300}, {2500}, 0},
    {"narrow indices", GTH_OP_GATHER, {300}, {2500}, 0, GTH_DTYPE_INT16},
    {"strided indices", GTH_OP_GATHER, {300}, {2500}, 0, GTH_DTYPE_INT32, 4},
    {"a table in registers", GTH_OP_GATHER, {16}, {700}, 0, GTH_DTYPE_UINT8},
    {"repeated indices", GTH_OP_GATHER, {50, 7}, {300}, 1},
    {"a repeated index", GTH_OP_GATHER, {50, 7}, {1}, 1},
    {"repeated indices of many blocks", GTH_OP_GATHER, {3, 50}, {2300}, 1},
    {"rows of several elements", GTH_OP_GATHER, {50, 33}, {300}, 0},
    {"strided rows", GTH_OP_GATHER, {20, 9}, {600}, 0, GTH_DTYPE_INT64, 0, 4},
    {"long strided rows of several tables", GTH_OP_GATHER, {3, 4, 40}, {80}, 1, GTH_DTYPE_INT64, 0, 4},
    {"short lines", GTH_OP_GATHER_ELEMENTS, {300, 3}, {300, 3}, 1},
    {"short lines of narrow indices", GTH_OP_GATHER_ELEMENTS, {300, 5}, {300, 3}, 1, GTH_DTYPE_UINT8},
    {"short strided lines", GTH_OP_GATHER_ELEMENTS, {90, 5}, {90, 17}, 1, GTH_DTYPE_INT64, 8},
    {"elements of the first axis", GTH_OP_GATHER_ELEMENTS, {40, 30}, {50, 30}, 0},
    {"several components", GTH_OP_GATHER_ND, {9, 8, 7}, {400, 3}, 0},
    {"reversed indices", GTH_OP_GATHER, {20}, {1100}, 0, GTH_DTYPE_INT64, 0, 0, Order::reversed},
    {"column-major indices", GTH_OP_GATHER, {20}, {30, 40}, 0, GTH_DTYPE_INT16, 0, 0, Order::column_major},
    {"transposed matrices of indices",
     GTH_OP_GATHER,
     {20},
     {2, 5, 100},
     0,
     GTH_DTYPE_INT64,
     0,
     0,
     Order::last_dims_exchanged},
    {"reversed elements", GTH_OP_GATHER_ELEMENTS, {40, 30}, {40, 30}, 1, GTH_DTYPE_INT64, 0, 0, Order::reversed},
    {"column-major elements",
     GTH_OP_GATHER_ELEMENTS,
     {40, 30},
     {40, 30},
     1,
     GTH_DTYPE_INT32,
     0,
     0,
     Order::column_major},
};

// Changes the strides of a dense operand.
void reorder(Order order, Operand* x) {
  if (order == Order::row_major) return;
  x->dense = false;
  if (order == Order::last_dims_exchanged) {
    const size_t last = x->shape.size() - 1;
    x->strides[last - 1] = x->item;
    x->strides[last] = x->item * x->shape[last - 1];
    return;
  }
  const int64_t bytes = static_cast<int64_t>(x->memory.size());
  int64_t stride = x->item;
  for (size_t d = 0; d < x->shape.size(); stride *= x->shape[d++]) {
    x->strides[d] = order == Order::reversed ? -x->strides[d] : stride;
  }
  x->offset = order == Order::reversed ? bytes - x->item : 0;
}

Request request_of(const Path& path, Random& random) {
  Request request;
  request.op = path.op;
  ElementsProblem& problem = request.problem;
  problem.params.shape = path.params;
  problem.indices.shape = path.indices;
  problem.axis = path.axis;
  if (path.op == GTH_OP_GATHER_ND) problem.components = path.indices.back();
  complete(GTH_DTYPE_FLOAT32, path.index_dtype, &request);
  const auto lay_out_with_gap = [&](int64_t gap, Operand* x) {
    x->dense = gap == 0;
    x->strides = dense_strides(x->shape, x->item + gap);
    x->memory.resize(static_cast<size_t>(hostile::count_of(x->shape) * (x->item + gap)));
    for (char& each : x->memory) each = static_cast<char>(random.bits());
  };
  lay_out_with_gap(path.params_gap, &problem.params);
  lay_out_with_gap(path.index_gap, &problem.indices);
  reorder(path.order, &problem.indices);
  lay_out_with_gap(0, &problem.out);
  fill_with_valid_indices(random, &problem);
  return request;
}

// An invalid index leaves the output unchanged, and the error names its position.
TEST(ExecutionPaths, InvalidIndexInEveryPositionLeavesTheOutputUnchanged) {
  Random random(7);
  for (const Path& path : paths) {
    SCOPED_TRACE(path.name);
    Request request = request_of(path, random);
    ElementsProblem& problem = request.problem;
    check_run("valid", &request, 1, request.expected());
    const Bytes before = problem.out.memory;
    int64_t number = 0;
    for_each_element(problem.indices, [&](int64_t at, const Shape& place) {
      char* const index = problem.indices.memory.data() + at;
      int64_t valid = 0;
      std::memcpy(&valid, index, static_cast<size_t>(problem.indices.item));
      const int64_t invalid = size_of_component(problem, place);
      std::memcpy(index, &invalid, static_cast<size_t>(problem.indices.item));
      for (int32_t threads : {1, 3}) {
        if (threads > 1 && number % 50 != 0) continue;
        Error error;
        EXPECT_EQ(run(&request, threads, &error), GTH_E_INDEX);
        EXPECT_EQ(error.position, number / problem.components);
        EXPECT_EQ(error.value, invalid);
        EXPECT_EQ(problem.out.memory, before) << "position " << number;
      }
      std::memcpy(index, &valid, static_cast<size_t>(problem.indices.item));
      ++number;
    });
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
