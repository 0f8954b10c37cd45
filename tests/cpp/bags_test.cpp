#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <thread>

#include "hostile.hpp"

// The rules of gather_bags, except for the computed numbers: errors, profiles, several tables in one call, and memory
// that changes.
namespace {

using namespace hostile;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32, i64 = GTH_DTYPE_INT64;
constexpr int32_t bags_operand = GTH_OPERAND_BAGS;

using Numbers = std::vector<int64_t>;
using Floats = std::vector<float>;

Array array64(const Numbers& values) { return Array(i64, {static_cast<int64_t>(values.size())}, values); }

Floats floats(const Array& array) {
  const auto* first = reinterpret_cast<const float*>(array.data());
  return Floats(first, first + count_of(array.shape()));
}

// A valid request: rows 0 1 | 10 11 | 20 21 | 30 31, and the bags 0 3 2, none, 1.
struct Bags {
  Array table{f32, {4, 2}, Floats{0, 1, 10, 11, 20, 21, 30, 31}}, ids = array64({0, 3, 2, 1}), out{f32, {3, 2}};
  Array numbers = array64({0, 3, 3, 4});
  gth_options options = GTH_OPTIONS_INIT;
  gth_tensor_desc t = table.desc(), i = ids.desc(), o = out.desc(), b = numbers.desc();
  gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, &options);

  Bags() { request.bags = &b; }
  Bags(const Bags&) = delete;

  void set_numbers(const Numbers& values) {
    numbers.~Array();
    new (&numbers) Array(array64(values));
    b = numbers.desc();
  }
  int32_t run(gth_error* err) const { return gth_run_request(nullptr, &request, err); }

  // Checks that the call fails and writes nothing.
  void expect_error(const Facts& facts) const {
    const Bytes before = out.bytes();
    Error error;
    expect_facts(run(&error), error, facts);
    EXPECT_TRUE(out.bytes() == before);
  }
  void expect_output(const Floats& expected) const {
    Error error;
    ASSERT_EQ(run(&error), GTH_OK) << error.message;
    EXPECT_EQ(floats(out), expected);
  }
};

int32_t field(size_t offset) { return static_cast<int32_t>(offset); }

TEST(Bags, J1_WrongNumbersAreReportedWithPositionValueAndLimit) {
  struct Wrong {
    int32_t format;
    Numbers numbers;
    int64_t position, value, limit;
  };
  const Wrong all[] = {
      {GTH_BAGS_OFFSETS, {1, 3, 3, 4}, 0, 1, 0},   {GTH_BAGS_OFFSETS, {0, 3, 2, 4}, 2, 2, 3},
      {GTH_BAGS_OFFSETS, {0, 3, 5, 5}, 2, 5, 4},   {GTH_BAGS_OFFSETS, {0, 3, 3, 3}, 3, 3, 4},
      {GTH_BAGS_OFFSETS, {-1, 3, 3, 4}, 0, -1, 0}, {GTH_BAGS_OFFSETS, {0, INT64_MIN, 3, 4}, 1, INT64_MIN, 0},
      {GTH_BAGS_STARTS, {1, 3, 3}, 0, 1, 0},       {GTH_BAGS_STARTS, {0, 3, 2}, 2, 2, 3},
      {GTH_BAGS_STARTS, {0, 3, 5}, 2, 5, 4},       {GTH_BAGS_LENGTHS, {3, -1, 2}, 1, -1, 0},
      {GTH_BAGS_LENGTHS, {3, 0, 2}, 2, 2, 1},      {GTH_BAGS_LENGTHS, {3, INT64_MAX, 2}, 1, INT64_MAX, 1},
      {GTH_BAGS_LENGTHS, {3, 0, 0}, 3, 3, 4},      {GTH_BAGS_SEGMENTS, {0, 0, 3, 3}, 2, 3, 3},
      {GTH_BAGS_SEGMENTS, {0, 2, 1, 2}, 2, 1, 2},  {GTH_BAGS_SEGMENTS, {-1, 0, 1, 2}, 0, -1, 0},
  };
  for (const Wrong& wrong : all) {
    SCOPED_TRACE("format " + std::to_string(wrong.format) + ", position " + std::to_string(wrong.position));
    Bags bags;
    bags.set_numbers(wrong.numbers);
    bags.options.bag_format = wrong.format;
    bags.options.bag_count = wrong.format == GTH_BAGS_SEGMENTS ? 3 : 0;
    bags.expect_error({GTH_E_OFFSETS, bags_operand, -1, wrong.position, wrong.value, wrong.limit});
  }
}

// The bags of `count` bags of 2 ids in a format. Bag 0 is empty, and the last bag has 4 ids.
Numbers numbers_of(int32_t format, int64_t count) {
  Numbers offsets{0, 0}, numbers;
  for (int64_t b = 1; b < count; ++b) offsets.push_back(2 * b);
  offsets.back() = 2 * count;
  switch (format) {
    case GTH_BAGS_OFFSETS: return offsets;
    case GTH_BAGS_STARTS: offsets.pop_back(); return offsets;
    case GTH_BAGS_LENGTHS:
      for (size_t b = 0; b + 1 < offsets.size(); ++b) numbers.push_back(offsets[b + 1] - offsets[b]);
      return numbers;
    default:
      for (int64_t b = 1; b < count; ++b) numbers.insert(numbers.end(), b + 1 < count ? 2 : 4, b);
      return numbers;
  }
}

// Runs a request forward and backward. Both must fail with these facts and this message.
void expect_wrong_bags(const gth_request& request, const Facts& facts, const std::string& message) {
  Error error;
  expect_facts(gth_run_request(nullptr, &request, &error), error, facts, "run");
  EXPECT_EQ(error.message, message);
  const Array target(f32, {4, 1});
  const gth_tensor_desc t = target.desc();
  expect_facts(gth_gather_bags_gradient(nullptr, &request, &t, &error), error, facts, "gradient");
  EXPECT_EQ(error.message, message);
  gth_request narrow = request;  // whose slices have no elements
  const Shape no_columns{4, 0}, no_elements{request.rows->shape[0], 0};
  const gth_tensor_desc table = describe(f32, no_columns, nullptr), out = describe(f32, no_elements, nullptr);
  narrow.table = &table;
  narrow.rows = &out;
  expect_facts(gth_run_request(nullptr, &narrow, &error), error, facts, "without elements");
  EXPECT_EQ(error.message, message);
}

// The first wrong number is reported, although bag 0 is empty and all later numbers and ids are wrong, too.
TEST(Bags, J1_FirstWrongNumberIsReportedForAnyNumberOfBags) {
  for (const int64_t count : {3, 20, 32, 33, 128, 255, 256, 257, 258, 511, 512, 513, 600, 4095, 4096, 5000}) {
    const Array table(f32, {4, 1}, Floats{1, 2, 3, 4}), out(f32, {count, 1});
    const Array ids = array64(Numbers(static_cast<size_t>(2 * count), 4));
    for (const int32_t format : {GTH_BAGS_OFFSETS, GTH_BAGS_STARTS, GTH_BAGS_LENGTHS, GTH_BAGS_SEGMENTS}) {
      const Numbers right = numbers_of(format, count);
      const auto size = static_cast<int64_t>(right.size());
      for (const int64_t at : {int64_t{1}, int64_t{2}, size / 2, size - 2, size - 1, int64_t{255}, int64_t{256}}) {
        for (const int64_t wrong : {int64_t{-5}, 3 * count}) {
          if (at < 1 || at >= size) continue;
          Numbers numbers = right;
          std::fill(numbers.begin() + at, numbers.end(), wrong);
          const Array bags = array64(numbers);
          gth_options options = GTH_OPTIONS_INIT;
          options.bag_format = format;
          options.bag_count = format == GTH_BAGS_SEGMENTS ? count : 0;
          options.empty = GTH_EMPTY_ERROR;
          const gth_tensor_desc t = table.desc(), i = ids.desc(), o = out.desc(), b = bags.desc();
          gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, &options);
          request.bags = &b;
          SCOPED_TRACE("bags " + std::to_string(count) + ", format " + std::to_string(format) + ", position " +
                       std::to_string(at) + ", number " + std::to_string(wrong));
          const auto word = [](int64_t number) { return std::to_string(number); };
          const char* const names[] = {"offset", "start", "length", "segment"};
          std::string rule = std::string("bags: ") + names[format - 1] + " " + word(at) + " is " + word(wrong);
          int64_t limit = right[static_cast<size_t>(at - 1)];
          if (format == GTH_BAGS_LENGTHS) {
            limit = 2 * count;
            for (int64_t k = 0; k < at; ++k) limit -= right[static_cast<size_t>(k)];
            if (wrong < 0) limit = 0;
            if (wrong >= 0) rule += ", and only " + word(limit) + " of " + word(2 * count) + " ids are left";
          } else if (wrong < 0) {
            rule += ", which is less than " + word(limit) + " before it";
          } else {
            limit = format == GTH_BAGS_SEGMENTS ? count : 2 * count;
            rule += ", and there are " + word(limit) + (format == GTH_BAGS_SEGMENTS ? " bags" : " ids");
          }
          expect_wrong_bags(request, {GTH_E_OFFSETS, bags_operand, -1, at, wrong, limit}, rule);
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Then empty bags are reported before ids, which are all wrong.
TEST(Bags, J1_FirstEmptyBagIsReportedBeforeIdsForAnyNumberOfBags) {
  for (const int64_t count : {3, 20, 256, 257, 600, 5000}) {
    const Array table(f32, {4, 1}, Floats{1, 2, 3, 4}), out(f32, {count, 1});
    const Array ids = array64(Numbers(static_cast<size_t>(2 * count), 4));
    for (const int64_t empty : {int64_t{0}, int64_t{1}, count / 2, count - 1}) {
      Numbers offsets{0};
      for (int64_t b = 0; b < count; ++b) offsets.push_back(b < empty ? 2 * (b + 1) : 2 * b);
      offsets.back() = 2 * count;
      if (empty == count - 1) offsets[static_cast<size_t>(count - 1)] = 2 * count;
      const Array bags = array64(offsets);
      gth_options options = GTH_OPTIONS_INIT;
      options.empty = GTH_EMPTY_ERROR;
      const gth_tensor_desc t = table.desc(), i = ids.desc(), o = out.desc(), b = bags.desc();
      gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, &options);
      request.bags = &b;
      SCOPED_TRACE("bags " + std::to_string(count) + ", empty " + std::to_string(empty));
      expect_wrong_bags(request, {GTH_E_OFFSETS, bags_operand, -1, empty, 0, 1},
                        "bags: bag " + std::to_string(empty) + " is empty");
      options.empty = GTH_EMPTY_ZERO;
      expect_wrong_bags(request, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 0, 4, 4},
                        "indices: component 0 of tuple 0 is 4, valid are [0, 4)");
    }
  }
}

TEST(Bags, J1_MessagesNameTheRule) {
  struct Wrong {
    int32_t format;
    Numbers numbers;
    const char* message;
  };
  const Wrong all[] = {
      {GTH_BAGS_OFFSETS, {1, 3, 3, 4}, "bags: the first offset is 1 and must be 0"},
      {GTH_BAGS_OFFSETS, {0, 3, 3, 3}, "bags: the last offset is 3, and there are 4 ids"},
      {GTH_BAGS_STARTS, {1, 3, 3}, "bags: the first start is 1 and must be 0"},
      {GTH_BAGS_LENGTHS, {3, -1, 2}, "bags: length 1 is -1"},
      {GTH_BAGS_LENGTHS, {3, 0, 2}, "bags: length 2 is 2, and only 1 of 4 ids are left"},
      {GTH_BAGS_LENGTHS, {3, 0, 0}, "bags: the sum of the lengths is 3, and there are 4 ids"},
      {GTH_BAGS_SEGMENTS, {-1, 0, 1, 2}, "bags: segment 0 is -1"},
  };
  for (const Wrong& wrong : all) {
    Bags bags;
    bags.set_numbers(wrong.numbers);
    bags.options.bag_format = wrong.format;
    bags.options.bag_count = wrong.format == GTH_BAGS_SEGMENTS ? 3 : 0;
    Error error;
    EXPECT_EQ(bags.run(&error), GTH_E_OFFSETS);
    EXPECT_STREQ(error.message, wrong.message);
  }
}

TEST(Bags, NegativeCountIsAnErrorOfTheShape) {
  Bags bags;
  bags.set_numbers({0, 0, 1, 2});
  bags.options.bag_format = GTH_BAGS_SEGMENTS;
  for (const int64_t count : {int64_t{-1}, INT64_MIN}) {
    bags.options.bag_count = count;
    bags.expect_error({GTH_E_SHAPE, GTH_OPERAND_OPTIONS, field(offsetof(gth_options, bag_count)), -1, count, 0});
  }
}

TEST(Bags, J3_UnsignedNumberBeyondInt64IsReportedAsUnsigned) {
  for (int32_t format : {GTH_BAGS_OFFSETS, GTH_BAGS_LENGTHS}) {
    Bags bags;
    bags.set_numbers(format == GTH_BAGS_OFFSETS ? Numbers{0, -1, 3, 4} : Numbers{-1, 0, 0});
    bags.b.dtype = GTH_DTYPE_UINT64;
    bags.options.bag_format = format;
    const int64_t position = format == GTH_BAGS_OFFSETS ? 1 : 0;
    bags.expect_error({GTH_E_OFFSETS, bags_operand, -1, position, -1, 4, GTH_ERROR_UNSIGNED});
  }
}

TEST(Bags, BagsAreValidatedBeforeIdsAndIdsBeforeTheFirstWrite) {
  Bags bags;
  reinterpret_cast<int64_t*>(bags.ids.data())[3] = 4;
  bags.expect_error({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 3, 4, 4});
  bags.set_numbers({0, 3, 3, 3});
  bags.expect_error({GTH_E_OFFSETS, bags_operand, -1, 3, 3, 4});
}

TEST(Bags, EmptyBagIsReportedIfItMustHaveIds) {
  Bags bags;
  bags.options.empty = GTH_EMPTY_ERROR;
  bags.expect_error({GTH_E_OFFSETS, bags_operand, -1, 1, 0, 1});
  bags.set_numbers({0, 3, 4, 4});
  bags.options.has_padding_index = 1;
  bags.options.padding_index = 1;  // the only id of bag 1
  bags.expect_error({GTH_E_OFFSETS, bags_operand, -1, 1, 0, 1});
}

TEST(Bags, OperandsAndOptionsThatDoNotFitAreRejected) {
  const auto expect = [](const Facts& facts, auto change) {
    Bags bags;
    change(&bags);
    bags.expect_error(facts);
  };
  const Array weights(f32, {4}, Floats{1, 2, 3, 4});
  const gth_tensor_desc w = weights.desc();
  const auto option = [](size_t offset, int64_t value, int64_t limit) {
    return Facts{GTH_E_VERSION, GTH_OPERAND_OPTIONS, field(offset), -1, value, limit};
  };
  expect({GTH_E_NULL, bags_operand}, [](Bags* bags) {
    bags->request.bags = nullptr;
    bags->options.bag_format = GTH_BAGS_STARTS;
  });
  expect({GTH_E_VERSION, bags_operand}, [](Bags* bags) { bags->options.bag_format = GTH_BAGS_DENSE; });
  expect({GTH_E_VERSION, GTH_OPERAND_WEIGHTS}, [&](Bags* bags) {
    bags->request.weights = &w;
    bags->options.pool = GTH_POOL_MAX;
  });
  expect({GTH_E_DTYPE, GTH_OPERAND_WEIGHTS, -1, -1, i64, f32}, [&](Bags* bags) { bags->request.weights = &bags->i; });
  expect({GTH_E_DTYPE, bags_operand, -1, -1, f32, 0}, [](Bags* bags) { bags->b.dtype = f32; });
  expect({GTH_E_DTYPE, GTH_OPERAND_PARAMS, -1, -1, GTH_DTYPE_BOOL, 0},
         [](Bags* bags) { bags->t.dtype = GTH_DTYPE_BOOL; });
  expect({GTH_E_DTYPE, GTH_OPERAND_PARAMS, -1, -1, GTH_DTYPE_INT32, 0}, [](Bags* bags) {
    bags->t.dtype = bags->o.dtype = GTH_DTYPE_INT32;
    bags->options.pool = GTH_POOL_MEAN;
  });
  expect({GTH_E_DTYPE, GTH_OPERAND_OUT, -1, -1, GTH_DTYPE_FLOAT16, f32},
         [](Bags* bags) { bags->o.dtype = GTH_DTYPE_FLOAT16; });
  expect({GTH_E_RANK, bags_operand, -1, -1, 0, 1}, [](Bags* bags) { bags->b.ndim = 0; });
  expect({GTH_E_RANK, GTH_OPERAND_PARAMS, -1, -1, 0, 1}, [](Bags* bags) { bags->t.ndim = 0; });
  expect({GTH_E_ALIAS, GTH_OPERAND_OUT, -1, -1, bags_operand, 0}, [](Bags* bags) { bags->b.data = bags->o.data; });
  expect({GTH_E_AXIS, GTH_OPERAND_OPTIONS, field(offsetof(gth_options, axis)), -1, 0, 0},
         [](Bags* bags) { bags->options.has_axis = 1; });
  expect(option(offsetof(gth_options, bag_count), 3, 0), [](Bags* bags) { bags->options.bag_count = 3; });
  expect(option(offsetof(gth_options, padding_index), 3, 0), [](Bags* bags) { bags->options.padding_index = 3; });
  expect(option(offsetof(gth_options, reduction), GTH_REDUCTION_ADD, 0),
         [](Bags* bags) { bags->options.reduction = GTH_REDUCTION_ADD; });
  expect(option(offsetof(gth_options, out_dtype), 999, 0), [](Bags* bags) { bags->options.out_dtype = 999; });
  for (const int32_t dtype : {GTH_DTYPE_INT8, GTH_DTYPE_FLOAT16, GTH_DTYPE_FLOAT64}) {
    expect({GTH_E_DTYPE, GTH_OPERAND_OUT, -1, -1, dtype, f32},
           [dtype](Bags* bags) { bags->options.out_dtype = bags->o.dtype = dtype; });
  }
  expect(option(offsetof(gth_options, pool), GTH_POOL_MEAN, 0), [](Bags* bags) {
    bags->request.op = GTH_OP_GATHER;
    bags->request.bags = nullptr;
    bags->options.pool = GTH_POOL_MEAN;
  });
  for (int32_t profile : {GTH_PROFILE_TENSORFLOW_GPU, GTH_PROFILE_ONNX, GTH_PROFILE_ORT, GTH_PROFILE_NUMPY_RAISE,
                          GTH_PROFILE_NUMPY_WRAP, GTH_PROFILE_NUMPY_CLIP}) {
    expect(option(offsetof(gth_options, profile), profile, 0), [&](Bags* bags) { bags->options.profile = profile; });
  }
}

TEST(Bags, MessagesNameTheDtypesOfWeights) {
  const Array doubles(GTH_DTYPE_FLOAT64, {4});
  const Array halves(GTH_DTYPE_FLOAT16, {4, 2});
  const gth_tensor_desc w = doubles.desc();
  Bags bags;
  bags.request.weights = &w;
  Error error;
  EXPECT_EQ(bags.run(&error), GTH_E_DTYPE);
  EXPECT_STREQ(error.message, "weights: dtype is float64, needed is float32");
  bags.t = halves.desc();
  EXPECT_EQ(bags.run(&error), GTH_E_DTYPE);
  EXPECT_STREQ(error.message, "weights: dtype is float64, needed is float16 or float32");
  const Array integers(GTH_DTYPE_INT32, {4, 2});
  bags.t = integers.desc();
  EXPECT_EQ(bags.run(&error), GTH_E_DTYPE);
  EXPECT_STREQ(error.message, "weights: dtype is float64, needed is int32");
}

TEST(Bags, MessageNamesTheDtypesOfTheOutput) {
  Bags bags;
  bags.options.out_dtype = bags.o.dtype = GTH_DTYPE_FLOAT64;
  Error error;
  EXPECT_EQ(bags.run(&error), GTH_E_DTYPE);
  EXPECT_STREQ(error.message, "out: dtype is float64, but params have float32");
  const Array halves(GTH_DTYPE_FLOAT16, {4, 2});
  bags.t = halves.desc();
  for (const int32_t dtype : {GTH_DTYPE_FLOAT64, GTH_DTYPE_BFLOAT16, GTH_DTYPE_INT16}) {
    bags.options.out_dtype = bags.o.dtype = dtype;
    expect_facts(bags.run(&error), error, {GTH_E_DTYPE, GTH_OPERAND_OUT, -1, -1, dtype, GTH_DTYPE_FLOAT16});
  }
}

TEST(Bags, MissingDevicesAreRejected) {
  Bags bags;
  bags.t.device = bags.i.device = bags.o.device = bags.b.device = GTH_DEVICE_CUDA;
  gth_plan* plan = nullptr;
  Error error;
  expect_facts(gth_plan_create(&bags.request, &plan, &error), error,
               {GTH_E_DEVICE, GTH_OPERAND_PARAMS, -1, -1, GTH_DEVICE_CUDA, GTH_DEVICE_CPU});
}

// torch's mean does not read the ids after the last offset.
TEST(Bags, LastOffsetOfTorchMayBeSmallerThanTheNumberOfIds) {
  Bags bags;
  bags.options.profile = GTH_PROFILE_TORCH;
  bags.set_numbers({0, 1, 1, 3});
  reinterpret_cast<int64_t*>(bags.ids.data())[3] = 4;  // It is not read, so it need not be valid.
  bags.expect_output({0, 1, 0, 0, 50, 52});
}

// jax.ops.segment_max of an empty segment.
TEST(Bags, MaximumOfAnEmptyBagOfJaxIsTheLowestNumber) {
  const float infinity = std::numeric_limits<float>::infinity();
  Bags bags;
  bags.options.profile = GTH_PROFILE_JAX_FILL;
  bags.options.pool = GTH_POOL_MAX;
  bags.expect_output({30, 31, -infinity, -infinity, 10, 11});
  bags.options.pool = GTH_POOL_MIN;
  bags.expect_output({0, 1, infinity, infinity, 10, 11});
  bags.options.pool = GTH_POOL_SUM;
  bags.expect_output({50, 53, 0, 0, 10, 11});
}

// torch returns no bags if there are no offsets, whatever the ids are.
TEST(Bags, NoStartsOfTorchAreNoBags) {
  Bags bags;
  bags.set_numbers({});
  bags.options.bag_format = GTH_BAGS_STARTS;
  reinterpret_cast<int64_t*>(bags.ids.data())[3] = 4;  // It is not read, so it need not be valid.
  const Shape none{0, 2};
  bags.o.shape = none.data();
  bags.expect_error({GTH_E_OFFSETS, bags_operand, -1, 0, 0, 4});
  bags.options.profile = GTH_PROFILE_TORCH;
  Error error;
  EXPECT_EQ(bags.run(&error), GTH_OK) << error.message;
}

// A divisor of 0 gives zeros, also for rows of infinities and NaN, and no gradient.
TEST(Bags, DivisorZeroGivesZeros) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const int32_t pool : {GTH_POOL_MEAN, GTH_POOL_SQRTN}) {
    Bags bags;
    const Array weights(f32, {4}, pool == GTH_POOL_MEAN ? Floats{1, -2, 1, 3} : Floats{0, -0.0f, 0, 3});
    const gth_tensor_desc w = weights.desc();
    bags.request.weights = &w;
    bags.options.pool = pool;
    auto* const rows = reinterpret_cast<float*>(bags.table.data());
    rows[0] = infinity, rows[5] = NAN;
    bags.expect_output({0, 0, 0, 0, 10, 11});
    const Array target(f32, {4, 2}), gradient(f32, {3, 2}, Floats{1, 2, 3, 4, 5, 6});
    const gth_tensor_desc t = target.desc(), o = gradient.desc();
    gth_request request = bags.request;
    request.rows = &o;
    ASSERT_EQ(gth_gather_bags_gradient(nullptr, &request, &t, nullptr), GTH_OK);
    EXPECT_EQ(floats(target), (Floats{0, 0, 5, 6, 0, 0, 0, 0}));
  }
}

// The fill value of complex numbers is NaN + 0i by dtype, as in JAX.
TEST(Bags, EmptyBagsOfComplexNumbersAreFilled) {
  const Array table(GTH_DTYPE_COMPLEX64, {2}, Floats{1, 2, 3, 4}), out(GTH_DTYPE_COMPLEX64, {3});
  const Array ids = array64({1, 0}), numbers = array64({0, 0, 2, 2});
  const gth_tensor_desc t = table.desc(), i = ids.desc(), o = out.desc(), b = numbers.desc();
  gth_options options = GTH_OPTIONS_INIT;
  options.empty = GTH_EMPTY_FILL;
  options.fill = GTH_FILL_BY_DTYPE;
  gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, &options);
  request.bags = &b;
  const auto result = [&] {
    EXPECT_EQ(gth_run_request(nullptr, &request, nullptr), GTH_OK);
    const auto* first = reinterpret_cast<const float*>(out.data());
    return Floats(first, first + 6);
  };
  const Floats by_dtype = result();
  EXPECT_TRUE(std::isnan(by_dtype[0]) && std::isnan(by_dtype[4]));
  EXPECT_EQ((Floats{by_dtype[1], by_dtype[2], by_dtype[3], by_dtype[5]}), (Floats{0, 4, 6, 0}));
  const float fill[] = {-1.5f, 2.5f};
  std::memcpy(options.fill_value, fill, sizeof fill);
  options.fill = GTH_FILL_VALUE;
  EXPECT_EQ(result(), (Floats{-1.5f, 2.5f, 4, 6, -1.5f, 2.5f}));
}

TEST(Bags, MeanOfWeightsWithSumZeroIsZero) {
  Bags bags;
  const Array weights(f32, {4}, Floats{1, -2, 1, 3});
  const gth_tensor_desc w = weights.desc();
  bags.request.weights = &w;
  bags.options.pool = GTH_POOL_MEAN;
  bags.expect_output({0, 0, 0, 0, 10, 11});
}

// float32 cannot count ids one by one beyond 2^24. Ids of 32 bits are copied in blocks.
TEST(Bags, MeanCountsMoreIdsThanFloatsHaveDigits) {
  constexpr int64_t count = (int64_t{1} << 24) + 4;
  std::vector<int32_t> selected(count, 0);
  selected.back() = 1;
  const Array table(f32, {2}, Floats{0, count}), ids(GTH_DTYPE_INT32, {1, count}, selected), out(f32, {1});
  const gth_tensor_desc t = table.desc(), i = ids.desc(), o = out.desc();
  for (const bool has_padding : {false, true}) {
    gth_options options = GTH_OPTIONS_INIT;
    options.pool = GTH_POOL_MEAN;
    options.has_padding_index = has_padding;
    options.padding_index = has_padding ? -1 : 0;
    const gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &t, &i, &o, &options);
    ASSERT_EQ(gth_run_request(nullptr, &request, nullptr), GTH_OK);
    EXPECT_EQ(floats(out), Floats{1});
  }
}

// A recommender's call: the outputs of the tables are columns of one array.
struct Tables {
  static constexpr int64_t count = 5, dim = 3, bags = 4, width = count * dim;
  std::vector<Array> table, ids, numbers;
  Array out{f32, {bags, width}};
  std::vector<gth_tensor_desc> descs;
  std::vector<gth_request> requests;
  const Shape shape{bags, dim};
  const int64_t strides[2] = {width * 4, 4};

  Tables() {
    descs.reserve(4 * count);
    requests.reserve(count);
    for (int64_t i = 0; i < count; ++i) {
      Floats rows;
      for (int64_t k = 0; k < 2 * dim; ++k) rows.push_back(static_cast<float>(100 * i + k));
      table.emplace_back(f32, Shape{2, dim}, rows);
      ids.push_back(array64({0, 1, 1, 0, 1}));
      numbers.push_back(array64({0, 1, 3, 3, 5}));
    }
    for (size_t i = 0; i < count; ++i) {
      descs.push_back(table[i].desc());
      descs.push_back(ids[i].desc());
      descs.push_back(describe(f32, shape, out.data() + i * dim * 4, strides));
      descs.push_back(numbers[i].desc());
      gth_tensor_desc* const four = &descs[4 * i];
      requests.push_back(GTH_REQUEST(GTH_OP_GATHER_BAGS, four, four + 1, four + 2, nullptr));
      requests.back().bags = four + 3;
    }
  }
  int32_t run(gth_error* err) const {
    std::vector<const gth_request*> all;
    for (const gth_request& each : requests) all.push_back(&each);
    return gth_run_many(nullptr, static_cast<int64_t>(all.size()), all.data(), err);
  }
};

TEST(Bags, ManyTablesWriteColumnsOfOneArray) {
  const Tables tables;
  Error error;
  ASSERT_EQ(tables.run(&error), GTH_OK) << error.message;
  const Floats out = floats(tables.out);
  for (int64_t i = 0; i < Tables::count; ++i) {
    for (int64_t k = 0; k < Tables::dim; ++k) {
      const auto row = [&](int64_t id) { return static_cast<float>(100 * i + id * Tables::dim + k); };
      const auto at = [&](int64_t bag) { return out[static_cast<size_t>(bag * Tables::width + i * Tables::dim + k)]; };
      EXPECT_EQ(at(0), row(0));
      EXPECT_EQ(at(1), row(1) + row(1));
      EXPECT_EQ(at(2), 0);
      EXPECT_EQ(at(3), row(0) + row(1));
    }
  }
}

TEST(Bags, ManyTablesWriteNothingIfOneIsInvalid) {
  const Tables tables;
  const Bytes before = tables.out.bytes();
  reinterpret_cast<int64_t*>(tables.ids[3].data())[4] = 2;
  Error error;
  Facts facts{GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 4, 2, 2};
  facts.item = 3;
  expect_facts(tables.run(&error), error, facts);
  reinterpret_cast<int64_t*>(tables.numbers[2].data())[4] = 4;
  facts = {GTH_E_OFFSETS, bags_operand, -1, 4, 4, 5};
  facts.item = 2;
  expect_facts(tables.run(&error), error, facts);
  EXPECT_TRUE(tables.out.bytes() == before);
}

TEST(Bags, ManyTablesWhoseColumnsOverlapAreRejected) {
  for (int64_t shift : {-4, 4, -12, 12}) {
    Tables tables;
    const Bytes before = tables.out.bytes();
    gth_tensor_desc& out = tables.descs[4 * 2 + 2];
    out.data = static_cast<const char*>(out.data) + shift;
    Error error;
    EXPECT_EQ(tables.run(&error), GTH_E_ALIAS) << shift;
    EXPECT_EQ(error.operand, GTH_OPERAND_OUT);
    EXPECT_EQ(std::abs(error.item - error.value), 1) << shift;
    EXPECT_TRUE(tables.out.bytes() == before);
  }
}

// The last column of one row and the first column of the next are adjacent, also if the outputs begin in different rows.
TEST(Bags, ManyTablesInDifferentRowsWriteTheirColumns) {
  Tables tables;
  const Array large(f32, {Tables::bags + 1, Tables::width});
  for (size_t i = 0; i < Tables::count; ++i) {
    const auto row = static_cast<int64_t>(i % 2) * Tables::width;
    tables.descs[4 * i + 2].data = large.data() + (row + static_cast<int64_t>(i) * Tables::dim) * 4;
  }
  Error error;
  EXPECT_EQ(tables.run(&error), GTH_OK) << error.message;
}

// Another thread writes ids and offsets during the calls. The address sanitizer and the size of the arrays find accesses
// outside memory.
TEST(Bags, J4_NumbersThatChangeDuringTheCallCauseNoAccessOutsideMemory) {
  constexpr int64_t rows = 7, dim = 40, count = 300, ids = 3000;
  const Array table(f32, {rows, dim}), out(f32, {count, dim});
  Numbers id, begin;
  for (int64_t i = 0; i < ids; ++i) id.push_back(i % rows);
  for (int64_t b = 0; b <= count; ++b) begin.push_back(b * ids / count);
  const Array indices = array64(id), numbers = array64(begin);
  const gth_tensor_desc t = table.desc(), i = indices.desc(), o = out.desc(), b = numbers.desc();
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    auto* const to = reinterpret_cast<volatile int64_t*>(indices.data());
    auto* const borders = reinterpret_cast<volatile int64_t*>(numbers.data());
    constexpr int64_t bad[] = {-1, rows, INT64_MAX, INT64_MIN};
    for (int64_t k = 0; !stop.load(); ++k) {
      to[k * 7 % ids] = bad[k % 4];
      borders[k % count] = bad[k / 4 % 4];
      to[k * 7 % ids] = 1;
      borders[k % count] = begin[static_cast<size_t>(k % count)];
    }
  });
  int32_t seen = 0;
  // On a busy machine, the writer may not run during the first calls.
  for (int32_t call = 0; call < 400 || ((seen & ~1) == 0 && call < 200000); ++call) {
    gth_options options = GTH_OPTIONS_INIT;
    options.pool = call % 2 ? GTH_POOL_MAX : GTH_POOL_MEAN;
    options.has_padding_index = call % 4 == 3;
    const int32_t status = gth_gather_bags(nullptr, &t, &i, &b, nullptr, &o, &options, nullptr);
    const bool is_known = status == GTH_OK || status == GTH_E_INDEX || status == GTH_E_OFFSETS || status == GTH_E_RACE;
    EXPECT_TRUE(is_known) << gth_status_name(status);
    seen |= 1 << -status;
  }
  stop.store(true);
  writer.join();
  EXPECT_NE(seen & ~1, 0) << "no call has read a changed number";
}

}  // namespace
