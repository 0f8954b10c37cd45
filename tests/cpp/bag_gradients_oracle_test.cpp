#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bags_cases.hpp"
#include "sparse.hpp"

// Compares the gradients and the positions of gather_bags with naive loops over random requests.
namespace {

using namespace bag_cases;

bool divides(const Case& c) { return c.pool == GTH_POOL_MEAN || c.pool == GTH_POOL_SQRTN; }
bool is_extreme(const Case& c) { return c.pool == GTH_POOL_MAX || c.pool == GTH_POOL_MIN; }

// The rows of the ids of a bag, with the numbers of the ids.
struct Read {
  int64_t id, row;
};
std::vector<Read> read_bag(const Case& c, int64_t bag) {
  std::vector<Read> read;
  for (int64_t k = c.begin[static_cast<size_t>(bag)]; k < c.begin[static_cast<size_t>(bag + 1)]; ++k) {
    const int64_t row = row_of(c, c.id[static_cast<size_t>(k)]);
    if (row != left_out) read.push_back({k, row});
  }
  return read;
}

template <class T>
T weight_of(const Case& c, int64_t id) {
  return c.has_weights ? decode<T>(c.weights.desc.dtype, c.weights.at(id)) : T{1};
}

template <class T>
T divisor_of(const Case& c, const std::vector<Read>& read) {
  T sum = 0;
  for (const Read& each : read) {
    const T weight = weight_of<T>(c, each.id);
    sum += c.pool == GTH_POOL_SQRTN ? weight * weight : weight;
  }
  if constexpr (!std::is_integral_v<T>) sum = c.pool == GTH_POOL_SQRTN ? std::sqrt(sum) : sum;
  return sum;
}

// A part of an element of params, or of the fill value.
template <class T>
T value_of(const Case& c, int64_t row, int64_t element, int64_t part) {
  const int32_t dtype = part_of(c.dtype());
  const int64_t offset = part * item_of(dtype);
  const char* const fill = reinterpret_cast<const char*>(c.options.fill_value);
  return decode<T>(dtype, (row == filled ? fill : c.table.at(row * c.slice + element)) + offset);
}

// Returns the id that receives the gradient of an element.
template <class T>
const Read* winner_of(const Case& c, const std::vector<Read>& read, int64_t element) {
  const Read* best = nullptr;
  for (const Read& each : read) {
    const T value = value_of<T>(c, each.row, element, 0);
    const T earlier = best ? value_of<T>(c, best->row, element, 0) : value;
    const bool is_better = c.pool == GTH_POOL_MAX ? value > earlier : value < earlier;
    if (!best || (earlier == earlier && (value != value || is_better))) best = &each;
  }
  return best;
}

template <class T>
std::vector<int64_t> expect_positions_of(const Case& c) {
  std::vector<int64_t> expected;
  for (int64_t bag = 0; bag < c.bag_count; ++bag) {
    const std::vector<Read> read = read_bag(c, bag);
    for (int64_t e = 0; e < c.slice; ++e) {
      const Read* const winner = winner_of<T>(c, read, e);
      expected.push_back(winner ? winner->id : -1);
    }
  }
  return expected;
}

// Returns the position of the maximum or minimum of each element of the output.
std::vector<int64_t> expect_positions(const Case& c) {
  const int32_t dtype = c.dtype();
  if (!is_integer(dtype))
    return dtype == GTH_DTYPE_FLOAT64 ? expect_positions_of<double>(c) : expect_positions_of<float>(c);
  return is_signed(dtype) ? expect_positions_of<int64_t>(c) : expect_positions_of<uint64_t>(c);
}

// Adds the gradient of an element of a bag to the rows that the bag has read. `part` is that of a complex number.
template <class T>
void add_bag(const Case& c, const Array& gradient, int64_t bag, const std::vector<Read>& read, int64_t element,
             int64_t part, T* sums) {
  const int32_t dtype = part_of(c.dtype());
  const bool rounds = is_half(dtype) && c.options.accumulate == GTH_ACCUMULATE_DTYPE;
  T given = decode<T>(dtype, gradient.at(bag * c.slice + element) + part * item_of(dtype));
  const Read* const winner = is_extreme(c) ? winner_of<T>(c, read, element) : nullptr;
  const T divisor = divides(c) ? divisor_of<T>(c, read) : T{1};
  const bool has_factor = (c.has_weights || divides(c)) && !is_complex(c.dtype());
  if (is_complex(c.dtype()) && divides(c)) given = static_cast<T>(given / divisor);
  for (const Read& each : read) {
    if (each.row < 0 || (is_extreme(c) && &each != winner)) continue;
    const T weight = weight_of<T>(c, each.id);
    const T factor = !divides(c) ? weight : divisor == 0 ? T{0} : static_cast<T>(weight / divisor);
    T& sum = sums[each.row * c.slice + element];
    sum = add_row(GTH_POOL_SUM, sum, given, factor, has_factor);
    if (rounds) sum = rounded(dtype, sum);
  }
}

template <class T>
void expect_params_of(const Case& c, const Array& gradient, std::vector<char>* expected) {
  const int32_t dtype = part_of(c.dtype());
  const int64_t parts = item_of(c.dtype()) / item_of(dtype), elements = c.rows * c.slice;
  for (int64_t part = 0; part < parts; ++part) {
    std::vector<T> sums(static_cast<size_t>(elements));
    for (int64_t bag = 0; bag < c.bag_count; ++bag) {
      const std::vector<Read> read = read_bag(c, bag);
      for (int64_t e = 0; e < c.slice; ++e) add_bag(c, gradient, bag, read, e, part, sums.data());
    }
    for (int64_t i = 0; i < elements; ++i) {
      encode(dtype, sums[static_cast<size_t>(i)], expected->data() + (i * parts + part) * item_of(dtype));
    }
  }
}

// Returns the dense gradient of params.
std::vector<char> expect_params(const Case& c, const Array& gradient) {
  std::vector<char> expected(static_cast<size_t>(c.rows * c.slice * item_of(c.dtype())));
  const int32_t dtype = part_of(c.dtype());
  if (is_integer(dtype) && is_signed(dtype)) {
    expect_params_of<int64_t>(c, gradient, &expected);
  } else if (is_integer(dtype)) {
    expect_params_of<uint64_t>(c, gradient, &expected);
  } else if (dtype == GTH_DTYPE_FLOAT64) {
    expect_params_of<double>(c, gradient, &expected);
  } else {
    expect_params_of<float>(c, gradient, &expected);
  }
  return expected;
}

std::vector<int64_t> expect_unique(const Case& c) {
  std::set<int64_t> rows;
  for (int64_t bag = 0; bag < c.bag_count; ++bag) {
    for (const Read& each : read_bag(c, bag)) {
      if (each.row != filled) rows.insert(each.row);
    }
  }
  return {rows.begin(), rows.end()};
}

// The gradient of a weight, and the size of its terms. The output is S / d.
struct Derivative {
  double value, size;
};

double dot(const Case& c, const Array& gradient, int64_t bag, int64_t row, bool of_sizes) {
  double sum = 0;
  for (int64_t e = 0; e < c.slice; ++e) {
    const double product = value_of<double>(c, row, e, 0) * decode<double>(c.dtype(), gradient.at(bag * c.slice + e));
    sum += of_sizes ? std::fabs(product) : product;
  }
  return sum;
}

std::vector<Derivative> expect_weights(const Case& c, const Array& gradient) {
  std::vector<Derivative> expected(static_cast<size_t>(c.count), {0, 0});
  for (int64_t bag = 0; bag < c.bag_count; ++bag) {
    const std::vector<Read> read = read_bag(c, bag);
    const double d = divides(c) ? divisor_of<double>(c, read) : 1;
    double sum = 0, size = 0;
    for (const Read& each : read) {
      sum += weight_of<double>(c, each.id) * dot(c, gradient, bag, each.row, false);
      size += std::fabs(weight_of<double>(c, each.id)) * dot(c, gradient, bag, each.row, true);
    }
    for (const Read& each : read) {
      if (d == 0) continue;
      const double growth = c.pool == GTH_POOL_MEAN    ? 1
                            : c.pool == GTH_POOL_SQRTN ? weight_of<double>(c, each.id) / d
                                                       : 0;
      const double own = dot(c, gradient, bag, each.row, false), sizes = dot(c, gradient, bag, each.row, true);
      expected[static_cast<size_t>(each.id)] = {own / d - growth * sum / d / d,
                                                (sizes + std::fabs(growth) * size / std::fabs(d)) / std::fabs(d)};
    }
  }
  return expected;
}

// Overwrites numbers by small ones, so that the error of a sum of their products is known.
void draw_small(const Array& array, double low, double high) {
  for (int64_t i = 0; i < product(array.shape); ++i) {
    const double value = low + (high - low) * static_cast<double>(below(1001)) / 1000;
    oracle::encode_float(array.desc.dtype, value, array.at(i));
  }
}

class BagGradientsOracle : public ::testing::Test {
 protected:
  static constexpr int64_t most_distant = 12;
  gth_error err_ = GTH_ERROR_INIT;
  hostile::SparseRows distant_{most_distant};

  // Checks status and error of a call. Returns true if it has succeeded.
  bool judge(const Case& c, int32_t status, const char* form) {
    const bool has_empty = c.empty_bag >= 0;
    if (!has_empty && c.bad_id < 0) {
      EXPECT_EQ(status, GTH_OK) << form << ": " << err_.message;
      return status == GTH_OK;
    }
    EXPECT_EQ(status, has_empty ? GTH_E_OFFSETS : GTH_E_INDEX) << form << ": " << err_.message;
    EXPECT_EQ(err_.operand, has_empty ? GTH_OPERAND_BAGS : GTH_OPERAND_INDICES) << form;
    EXPECT_EQ(err_.position, has_empty ? c.empty_bag : c.bad_id) << form;
    return false;
  }

  void check_dense(const Case& c, const Request& r, const std::vector<char>& expected) {
    Array out;
    out.make(c.dtype(), c.table.shape, chance(50));
    const std::vector<char> before = out.memory;
    const gth_tensor_desc target = out.described();
    if (!judge(c, gth_gather_bags_gradient(nullptr, &r.request, &target, &err_), "dense")) {
      EXPECT_TRUE(out.memory == before);
      return;
    }
    for (int64_t i = 0; i < c.rows * c.slice; ++i) {
      ASSERT_TRUE(is_same_number(c.dtype(), out.at(i), expected.data() + i * item_of(c.dtype())))
          << "dense, row " << i / c.slice << ", element " << i % c.slice;
    }
  }

  // Writes a target whose rows have equal addresses in their lowest 32 bits.
  void check_distant(const Case& c, const Request& r, const std::vector<char>& expected) {
    const int64_t item = item_of(c.dtype());
    if (!distant_ || c.table.shape.size() != 2 || c.rows > most_distant) return;
    const Shape strides{hostile::SparseRows::apart, item};
    gth_tensor_desc target = GTH_TENSOR_DESC_DENSE(c.dtype(), 2, c.table.shape.data(), distant_.data());
    target.strides = strides.data();
    if (!judge(c, gth_gather_bags_gradient(nullptr, &r.request, &target, &err_), "distant")) return;
    for (int64_t i = 0; i < c.rows * c.slice; ++i) {
      const char* const at = distant_.at(i / c.slice) + i % c.slice * item;
      ASSERT_TRUE(is_same_number(c.dtype(), at, expected.data() + i * item)) << "distant, row " << i / c.slice;
    }
  }

  void check_sparse(const Case& c, const Request& r, const std::vector<char>& expected) {
    const std::vector<int64_t> wanted = expect_unique(c);
    const auto n = static_cast<int64_t>(wanted.size());
    for (const int64_t capacity : {n - 1, n, n + 2}) {
      if (capacity < 0) continue;
      Array out, unique;
      Shape shape = c.table.shape;
      shape[0] = capacity;
      out.make(c.dtype(), shape, chance(50));
      unique.make(GTH_DTYPE_INT64, {capacity}, chance(50));
      const std::vector<char> before = out.memory, before_unique = unique.memory;
      const gth_tensor_desc target = out.described(), ids = unique.described();
      int64_t count = -7;
      const int32_t status = gth_gather_bags_sparse_gradient(nullptr, &r.request, &ids, &target, &count, &err_);
      if (c.empty_bag < 0 && c.bad_id < 0 && capacity < n) {
        EXPECT_EQ(status, GTH_E_SIZE);
        EXPECT_EQ(err_.operand, GTH_OPERAND_OUT);
        EXPECT_EQ(err_.value, capacity);
        EXPECT_EQ(err_.limit, n);
      } else {
        judge(c, status, "sparse");
      }
      if (status != GTH_OK) {
        EXPECT_TRUE(out.memory == before && unique.memory == before_unique && count == -7);
        continue;
      }
      ASSERT_EQ(count, n);
      check_rows(c, out, unique, wanted, expected);
      for (int64_t i = n * c.slice; i < capacity * c.slice; ++i) {
        const auto at = static_cast<size_t>(out.at(i) - out.memory.data());
        ASSERT_EQ(std::memcmp(out.at(i), before.data() + at, static_cast<size_t>(item_of(c.dtype()))), 0);
      }
    }
  }

  void check_rows(const Case& c, const Array& out, const Array& unique, const std::vector<int64_t>& wanted,
                  const std::vector<char>& expected) {
    const int64_t item = item_of(c.dtype());
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      ASSERT_EQ(oracle::read_as<int64_t>(unique.at(at)), wanted[i]);
      for (int64_t e = 0; e < c.slice; ++e) {
        const char* const row = expected.data() + (wanted[i] * c.slice + e) * item;
        ASSERT_TRUE(is_same_number(c.dtype(), out.at(at * c.slice + e), row)) << "sparse, row " << wanted[i];
      }
    }
  }

  // Overwrites weights, so that the error of the quotients is known. The weights of some bags have the sum 0, and those of
  // ids that are not read are infinite or NaN.
  static void draw_weights(const Case& c) {
    draw_small(c.weights, 0.5, 2);
    for (int64_t bag = 0; bag < c.bag_count; ++bag) {
      const bool cancels = chance(20);
      const std::vector<Read> read = read_bag(c, bag);
      for (const Read& each : read) {
        const auto i = &each - read.data();
        const bool is_last = read.size() % 2 && each.id == read.back().id;
        const double value = is_last ? 0 : i % 2 ? -0.75 : 0.75;
        if (cancels) oracle::encode_float(c.weights.desc.dtype, value, c.weights.at(each.id));
      }
    }
    for (int64_t k = 0; k < c.count; ++k) {
      constexpr double unread[] = {INFINITY, -INFINITY, NAN};
      if (row_of(c, c.id[static_cast<size_t>(k)]) != left_out) continue;
      oracle::encode_float(c.weights.desc.dtype, pick(unread), c.weights.at(k));
    }
  }

  void check_weights(const Case& c, const Request& r, const Array& gradient) {
    Array out;
    const int32_t dtype = c.has_weights ? c.weights.desc.dtype : c.dtype();
    out.make(dtype, c.ids.shape, chance(50));
    const std::vector<char> before = out.memory;
    const gth_tensor_desc target = out.described();
    if (is_extreme(c) || is_complex(c.dtype())) {
      EXPECT_EQ(gth_gather_bags_weight_gradient(nullptr, &r.request, &target, &err_), GTH_E_UNSUPPORTED);
      EXPECT_TRUE(out.memory == before);
      return;
    }
    if (!is_integer(c.dtype())) {
      draw_small(c.table, -2, 2);
      draw_small(gradient, -2, 2);
      if (c.has_weights) draw_weights(c);
    }
    if (!judge(c, gth_gather_bags_weight_gradient(nullptr, &r.request, &target, &err_), "weights")) {
      EXPECT_TRUE(out.memory == before);
      return;
    }
    if (is_integer(c.dtype())) return check_integer_weights(c, gradient, out);
    const std::vector<Derivative> expected = expect_weights(c, gradient);
    const double sums = c.dtype() == GTH_DTYPE_FLOAT64 ? 1e-14 : 1e-5;
    const double rounding = dtype == GTH_DTYPE_BFLOAT16 ? 4e-3 : dtype == GTH_DTYPE_FLOAT16 ? 5e-4 : 1e-7;
    for (int64_t k = 0; k < c.count; ++k) {
      const Derivative& each = expected[static_cast<size_t>(k)];
      const double got = oracle::decode_float(dtype, out.at(k));
      ASSERT_NEAR(got, each.value, sums * each.size + rounding * std::fabs(each.value) + 1e-7) << "weight " << k;
    }
  }

  void check_positions(const Case& c, const Request& r) {
    Array out;
    out.make(GTH_DTYPE_INT64, c.out.shape, chance(50));
    const std::vector<char> before = out.memory;
    const gth_tensor_desc positions = out.described();
    const int32_t status = gth_gather_bags_positions(nullptr, &r.request, &positions, &err_);
    if (!is_extreme(c)) {
      EXPECT_EQ(status, GTH_E_VERSION);
      EXPECT_EQ(err_.component, static_cast<int32_t>(offsetof(gth_options, pool)));
      EXPECT_EQ(err_.value, c.options.pool);
      EXPECT_TRUE(out.memory == before);
      return;
    }
    if (!judge(c, status, "positions")) {
      EXPECT_TRUE(out.memory == before);
      return;
    }
    const std::vector<int64_t> expected = expect_positions(c);
    for (size_t i = 0; i < expected.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      ASSERT_EQ(oracle::read_as<int64_t>(out.at(at)), expected[i])
          << "positions, bag " << at / c.slice << ", element " << at % c.slice;
    }
  }

  void check_case(Case c) {
    SCOPED_TRACE(describe(c));
    check_positions(c, Request(c));
    c.options.out_dtype = 0;
    Array gradient;
    gradient.make(c.dtype(), c.out.shape, chance(50));
    draw_numbers(gradient);
    Request r(c);
    r.out = gradient.described();
    r.out.flags = GTH_TENSOR_READONLY;
    const std::vector<char> expected = c.bad_id < 0 ? expect_params(c, gradient) : std::vector<char>();
    check_dense(c, r, expected);
    check_distant(c, r, expected);
    check_sparse(c, r, expected);
    check_weights(c, r, gradient);
  }

  void check_integer_weights(const Case& c, const Array& gradient, const Array& out) {
    for (int64_t bag = 0; bag < c.bag_count; ++bag) {
      for (const Read& each : read_bag(c, bag)) {
        uint64_t sum = 0;
        for (int64_t e = 0; e < c.slice; ++e) {
          sum += value_of<uint64_t>(c, each.row, e, 0) * decode<uint64_t>(c.dtype(), gradient.at(bag * c.slice + e));
        }
        char wanted[8];
        encode(c.dtype(), sum, wanted);
        ASSERT_TRUE(is_same_number(c.dtype(), out.at(each.id), wanted)) << "weight " << each.id;
      }
    }
  }
};

TEST_F(BagGradientsOracle, GradientsOfRandomRequestsEqualNaiveLoops) {
  const int64_t cases = random_cases(1000);
  for (int64_t i = 0; i < cases && !HasFailure(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    check_case(make_case(draw_sizes(false)));
  }
}

TEST_F(BagGradientsOracle, GradientsOfEveryKindOfRequestEqualNaiveLoops) {
  for (const Kind& kind : all_kinds()) {
    for (int64_t i = 0; i < 6 * rounds() && !HasFailure(); ++i) {
      check_case(make_case(i % 2 ? draw_sizes(false) : draw_border(borders[i / 2 % 3]), kind));
    }
  }
}

}  // namespace
