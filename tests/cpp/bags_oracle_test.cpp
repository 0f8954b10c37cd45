#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "scatter_oracle.hpp"

// Compares gather_bags with a naive loop: random requests in every form, and every error of bags and ids.
namespace {

using Shape = std::vector<int64_t>;
std::mt19937_64 engine{11};

int64_t below(int64_t n) { return n <= 0 ? 0 : static_cast<int64_t>(engine() % static_cast<uint64_t>(n)); }
bool chance(int64_t percent) { return below(100) < percent; }
template <class T, size_t n>
T pick(const T (&from)[n]) {
  return from[engine() % n];
}

constexpr int32_t integers[] = {GTH_DTYPE_INT8,  GTH_DTYPE_INT16,  GTH_DTYPE_INT32,  GTH_DTYPE_INT64,
                                GTH_DTYPE_UINT8, GTH_DTYPE_UINT16, GTH_DTYPE_UINT32, GTH_DTYPE_UINT64};
constexpr int32_t wide_integers[] = {GTH_DTYPE_INT16,  GTH_DTYPE_INT32,  GTH_DTYPE_INT64,
                                     GTH_DTYPE_UINT16, GTH_DTYPE_UINT32, GTH_DTYPE_UINT64};
constexpr int32_t numbers[] = {GTH_DTYPE_FLOAT32, GTH_DTYPE_FLOAT32,  GTH_DTYPE_FLOAT64,
                               GTH_DTYPE_FLOAT16, GTH_DTYPE_BFLOAT16, GTH_DTYPE_COMPLEX64,
                               GTH_DTYPE_INT8,    GTH_DTYPE_UINT32,   GTH_DTYPE_INT64};

bool is_integer(int32_t dtype) { return dtype < 512; }
bool is_signed(int32_t dtype) { return dtype < 256; }
bool is_half(int32_t dtype) { return oracle::is_half(dtype); }
bool is_complex(int32_t dtype) { return oracle::is_complex(dtype); }
int64_t item_of(int32_t dtype) { return gth_dtype_size(dtype); }

int64_t product(const Shape& shape) {
  int64_t size = 1;
  for (int64_t extent : shape) size *= extent;
  return size;
}

// A tensor with any strides, in memory of exactly the needed size.
struct Array {
  std::vector<char> memory;
  Shape shape, strides;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;

  void make(int32_t dtype, Shape extents, bool is_dense) {
    const int64_t item = item_of(dtype);
    shape = std::move(extents);
    strides.assign(shape.size(), 0);
    int64_t step = item, low = 0, high = item;
    for (size_t i = shape.size(); i-- > 0;) {
      strides[i] = step;
      if (!is_dense && chance(40)) strides[i] += item * below(3) + below(2);
      if (!is_dense && chance(20)) strides[i] = -strides[i];
      const int64_t reach = strides[i] * (shape[i] - 1);
      if (shape[i] > 0) (reach < 0 ? low : high) += reach;
      step = std::abs(strides[i]) * std::max<int64_t>(shape[i], 1);
    }
    const int64_t lead = is_dense ? 0 : below(9);
    memory.assign(static_cast<size_t>(lead - low + high), 0);
    for (char& byte : memory) byte = static_cast<char>(engine());
    desc.dtype = dtype;
    desc.ndim = static_cast<int32_t>(shape.size());
    desc.offset = lead - low;
    desc.extent = static_cast<int64_t>(memory.size());
    has_strides_ = !is_dense;
  }
  // Returns a description of this object's memory.
  gth_tensor_desc described() const {
    gth_tensor_desc result = desc;
    result.shape = shape.data();
    result.strides = has_strides_ ? strides.data() : nullptr;
    result.data = memory.data();
    return result;
  }
  char* at(int64_t i) const {
    int64_t offset = desc.offset;
    for (size_t dim = shape.size(); dim-- > 0;) {
      offset += i % shape[dim] * strides[dim];
      i /= shape[dim];
    }
    return const_cast<char*>(memory.data()) + offset;
  }
  void set(int64_t i, int64_t value) const { std::memcpy(at(i), &value, static_cast<size_t>(item_of(desc.dtype))); }

 private:
  bool has_strides_ = false;
};

// ---- The oracle

// The value of a number of `dtype`, whose parts are computed as T.
template <class T>
T decode(int32_t dtype, const char* at) {
  if constexpr (std::is_integral_v<T>) {
    T value = 0;
    std::memcpy(&value, at, static_cast<size_t>(item_of(dtype)));
    const int shift = static_cast<int>(64 - 8 * item_of(dtype));
    return is_signed(dtype) ? static_cast<T>(static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift)
                            : value;
  } else {
    return static_cast<T>(oracle::decode_float(dtype, at));
  }
}

template <class T>
void encode(int32_t dtype, T value, char* at) {
  if constexpr (std::is_integral_v<T>) {
    std::memcpy(at, &value, static_cast<size_t>(item_of(dtype)));
  } else {
    oracle::encode_float(dtype, static_cast<double>(value), at);
  }
}

template <class T>
T rounded(int32_t dtype, T value) {
  char at[16];
  encode(dtype, value, at);
  return decode<T>(dtype, at);
}

int32_t part_of(int32_t dtype) {
  if (dtype == GTH_DTYPE_COMPLEX64) return GTH_DTYPE_FLOAT32;
  return dtype == GTH_DTYPE_COMPLEX128 ? GTH_DTYPE_FLOAT64 : dtype;
}

struct Case {
  Array table, ids, bags, weights, out;
  gth_options options = GTH_OPTIONS_INIT;
  bool has_bags = false, has_weights = false;
  int32_t format = 0, pool = 0;
  int64_t rows = 0, bag_count = 0, count = 0, slice = 1;  // elements of a slice
  std::vector<int64_t> id, begin;
  std::vector<char> expected;  // dense
  int64_t bad_id = -1, empty_bag = -1;

  int32_t dtype() const { return table.desc.dtype; }
  int32_t out_dtype() const { return options.out_dtype ? options.out_dtype : dtype(); }
};

constexpr int64_t left_out = -1, filled = -2, invalid = -3;

int64_t row_of(const Case& c, int64_t id) {
  if (c.options.has_padding_index && id == c.options.padding_index) return left_out;
  if (id < 0 && c.options.negative == GTH_NEGATIVE_WRAP) id += c.rows;
  if (id >= 0 && id < c.rows) return id;
  switch (c.options.bounds) {
    case GTH_BOUNDS_SKIP: return left_out;
    case GTH_BOUNDS_FILL: return filled;
    case GTH_BOUNDS_CLAMP: return c.rows == 0 ? invalid : id < 0 ? 0 : c.rows - 1;
    case GTH_BOUNDS_MODULO: return c.rows == 0 ? invalid : (id % c.rows + c.rows) % c.rows;
    default: return invalid;
  }
}

template <class T>
T add_row(int32_t pool, T sum, T row, T weight, bool has_weight) {
  if (pool == GTH_POOL_MAX) return sum != sum || row <= sum ? sum : row;
  if (pool == GTH_POOL_MIN) return sum != sum || row >= sum ? sum : row;
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(sum) +
                          static_cast<uint64_t>(has_weight ? weight : T{1}) * static_cast<uint64_t>(row));
  } else {
    if (!has_weight) return sum + row;
    if constexpr (std::is_same_v<T, float>) return std::fma(weight, row, sum);
    const volatile T product = weight * row;
    return sum + product;
  }
}

template <class T>
T start(const Case& c) {
  if (c.pool != GTH_POOL_MAX && c.pool != GTH_POOL_MIN) return 0;
  const bool is_max = c.pool == GTH_POOL_MAX;
  if constexpr (std::is_integral_v<T>) {
    const int bits = static_cast<int>(8 * item_of(c.dtype()));
    if (!is_signed(c.dtype())) return is_max ? T{0} : static_cast<T>(~uint64_t{0} >> (64 - bits));
    const auto lowest = static_cast<int64_t>(~uint64_t{0} << (bits - 1));
    return static_cast<T>(is_max ? lowest : ~lowest);
  } else {
    const T infinity = std::numeric_limits<T>::infinity();
    return is_max ? -infinity : infinity;
  }
}

// Pools one part of an element of a bag.
template <class T>
void pool_part(const Case& c, int64_t bag, int64_t element, int64_t part, char* to) {
  const int32_t dtype = part_of(c.dtype()), out_dtype = part_of(c.out_dtype());
  const int64_t offset = part * item_of(dtype);
  T sum = start<T>(c), divisor = 0;
  int64_t read = 0;
  for (int64_t k = c.begin[static_cast<size_t>(bag)]; k < c.begin[static_cast<size_t>(bag + 1)]; ++k) {
    const int64_t row = row_of(c, c.id[static_cast<size_t>(k)]);
    if (row == left_out) continue;
    ++read;
    const char* const fill = reinterpret_cast<const char*>(c.options.fill_value) + offset;
    const T value = decode<T>(dtype, row == filled ? fill : c.table.at(row * c.slice + element) + offset);
    const T weight = c.has_weights ? decode<T>(c.weights.desc.dtype, c.weights.at(k)) : T{1};
    if constexpr (!std::is_integral_v<T>) divisor += c.pool == GTH_POOL_SQRTN ? weight * weight : weight;
    sum = add_row(c.pool, sum, value, weight, c.has_weights);
    if (is_half(dtype) && c.options.accumulate == GTH_ACCUMULATE_DTYPE) sum = rounded(dtype, sum);
  }
  if constexpr (!std::is_integral_v<T>) {
    if (c.pool == GTH_POOL_SQRTN) divisor = std::sqrt(divisor);
    if (c.pool == GTH_POOL_MEAN || c.pool == GTH_POOL_SQRTN) sum = divisor == 0 ? T{0} : sum / divisor;
  }
  if (read == 0) {
    const bool fills = c.options.empty == GTH_EMPTY_FILL;
    sum = fills ? decode<T>(dtype, reinterpret_cast<const char*>(c.options.fill_value) + offset) : T{0};
  }
  encode(out_dtype, sum, to);
}

void expect(Case* c) {
  const int64_t item = item_of(c->out_dtype()), parts = is_complex(c->dtype()) ? 2 : 1;
  c->bad_id = c->empty_bag = -1;
  for (int64_t i = 0; i < c->count && c->bad_id < 0; ++i) {
    if (row_of(*c, c->id[static_cast<size_t>(i)]) == invalid) c->bad_id = i;
  }
  for (int64_t bag = 0; bag < c->bag_count && c->empty_bag < 0 && c->options.empty == GTH_EMPTY_ERROR; ++bag) {
    bool is_empty = true;
    for (int64_t k = c->begin[static_cast<size_t>(bag)]; k < c->begin[static_cast<size_t>(bag + 1)]; ++k) {
      is_empty &= row_of(*c, c->id[static_cast<size_t>(k)]) == left_out;
    }
    if (is_empty) c->empty_bag = bag;
  }
  c->expected.assign(static_cast<size_t>(c->bag_count * c->slice * item), 0);
  for (int64_t i = 0; i < c->bag_count * c->slice && c->bad_id < 0; ++i) {
    for (int64_t part = 0; part < parts; ++part) {
      char* const to = c->expected.data() + i * item + part * item / parts;
      const int32_t dtype = part_of(c->dtype());
      if (is_integer(dtype) && is_signed(dtype)) {
        pool_part<int64_t>(*c, i / c->slice, i % c->slice, part, to);
      } else if (is_integer(dtype)) {
        pool_part<uint64_t>(*c, i / c->slice, i % c->slice, part, to);
      } else if (dtype == GTH_DTYPE_FLOAT64) {
        pool_part<double>(*c, i / c->slice, i % c->slice, part, to);
      } else {
        pool_part<float>(*c, i / c->slice, i % c->slice, part, to);
      }
    }
  }
}

// ---- Cases

void draw_numbers(const Array& array) {
  const int32_t dtype = part_of(array.desc.dtype);
  const int64_t parts = is_complex(array.desc.dtype) ? 2 : 1;
  for (int64_t i = 0; i < product(array.shape); ++i) {
    for (int64_t part = 0; part < parts && !is_integer(dtype); ++part) {
      constexpr double specials[] = {-0.0, 0.0, INFINITY, NAN, 1.0, -1.0};
      const double value = chance(3) ? pick(specials) : static_cast<double>(below(20001) - 10000) / 37;
      oracle::encode_float(dtype, value, array.at(i) + part * item_of(dtype));
    }
  }
}

int32_t draw_pool(int32_t dtype) {
  constexpr int32_t pools[] = {0, GTH_POOL_SUM, GTH_POOL_MEAN, GTH_POOL_SQRTN, GTH_POOL_MAX, GTH_POOL_MIN};
  for (;;) {
    const int32_t pool = pick(pools);
    if (is_integer(dtype) && (pool == GTH_POOL_MEAN || pool == GTH_POOL_SQRTN)) continue;
    if (is_complex(dtype) && pool > GTH_POOL_MEAN) continue;
    return pool;
  }
}

// Draws the borders of the bags.
void draw_begin(Case* c) {
  c->begin = {0};
  for (int64_t b = 1; b <= c->bag_count; ++b) {
    const int64_t most = 2 * c->count / c->bag_count + 2;
    const bool is_dense = c->format == GTH_BAGS_DENSE;
    c->begin.push_back(is_dense ? c->count / c->bag_count * b : std::min(c->count, c->begin.back() + below(most)));
  }
  if (c->bag_count > 0) c->begin.back() = c->count;
}

void write_bags(const Case& c, const std::vector<int64_t>& begin) {
  const int64_t n = static_cast<int64_t>(begin.size()) - 1;
  const auto at = [&](int64_t i) { return begin[static_cast<size_t>(i)]; };
  switch (c.format) {
    case GTH_BAGS_OFFSETS:
      for (int64_t b = 0; b <= n; ++b) c.bags.set(b, at(b));
      break;
    case GTH_BAGS_STARTS:
      for (int64_t b = 0; b < n; ++b) c.bags.set(b, at(b));
      break;
    case GTH_BAGS_LENGTHS:
      for (int64_t b = 0; b < n; ++b) c.bags.set(b, at(b + 1) - at(b));
      break;
    default:
      for (int64_t b = 0; b < n; ++b) {
        for (int64_t k = at(b); k < at(b + 1); ++k) c.bags.set(k, b);
      }
  }
}

void draw_ids(Case* c) {
  const bool has_sign = is_signed(c->ids.desc.dtype), is_valid = chance(75);
  for (int64_t i = 0; i < c->count; ++i) {
    const bool wraps = has_sign && c->options.negative == GTH_NEGATIVE_WRAP && chance(30);
    int64_t id = c->rows == 0 ? below(3) : wraps ? -1 - below(c->rows) : below(c->rows);
    if (!is_valid && chance(5)) id = has_sign ? below(200) - 100 : below(120);
    if (c->options.has_padding_index && chance(30)) id = c->options.padding_index;
    c->ids.set(i, id);
    c->id.push_back(id);
  }
}

Case make_case(bool is_large) {
  Case c;
  const bool is_dense = chance(50);
  constexpr int32_t formats[] = {GTH_BAGS_OFFSETS, GTH_BAGS_STARTS, GTH_BAGS_LENGTHS, GTH_BAGS_SEGMENTS,
                                 GTH_BAGS_DENSE};
  c.format = pick(formats);
  c.rows = is_large ? 100 : below(12) + (chance(90) ? 1 : 0);
  c.bag_count = is_large ? 700 : below(6) + (chance(90) ? 1 : 0);
  c.count = c.bag_count == 0 ? 0 : is_large ? 7000 : below(chance(10) ? 1500 : 12);
  const int32_t dtype = pick(numbers);
  Shape slice{is_large ? 40 : chance(5) ? below(2000) : below(40)};
  if (chance(20)) slice.push_back(below(4));
  if (chance(10)) slice.clear();
  c.slice = product(slice);
  if (c.count > 1000 && !is_large && c.slice > 50) c.count = 20;
  Shape ids{c.count}, out{c.bag_count}, table{c.rows};
  if (c.format == GTH_BAGS_DENSE) {
    ids = {c.bag_count, c.bag_count ? c.count / c.bag_count : 3};
    if (chance(30) && c.bag_count % 2 == 0) ids = {2, c.bag_count / 2, ids[1]};
    out.assign(ids.begin(), ids.end() - 1);
    c.count = product(ids);
  }
  out.insert(out.end(), slice.begin(), slice.end());
  table.insert(table.end(), slice.begin(), slice.end());
  c.options.out_dtype = is_half(dtype) && chance(30) ? GTH_DTYPE_FLOAT32 : 0;
  c.options.accumulate = chance(20) ? GTH_ACCUMULATE_DTYPE : 0;
  c.options.pool = draw_pool(dtype);
  c.pool = c.options.pool ? c.options.pool : GTH_POOL_SUM;
  c.table.make(dtype, table, is_dense);
  draw_numbers(c.table);
  c.ids.make(pick(integers), ids, is_dense || chance(30));
  if (c.ids.desc.dtype == GTH_DTYPE_INT8 && c.rows > 90) c.ids.make(GTH_DTYPE_INT64, ids, true);
  c.out.make(c.out_dtype(), out, is_dense);
  c.has_bags = c.format != GTH_BAGS_DENSE;
  const int64_t size = c.format == GTH_BAGS_OFFSETS    ? c.bag_count + 1
                       : c.format == GTH_BAGS_SEGMENTS ? c.count
                                                       : c.bag_count;
  if (c.has_bags)
    c.bags.make(c.count > 100 || c.bag_count > 100 ? pick(wide_integers) : pick(integers), {size}, is_dense);
  c.has_weights = !is_complex(dtype) && c.pool <= GTH_POOL_SQRTN && chance(40);
  const bool has_float32_weights = !is_integer(dtype) && chance(50);
  if (c.has_weights) c.weights.make(has_float32_weights ? GTH_DTYPE_FLOAT32 : dtype, ids, is_dense || chance(30));
  if (c.has_weights) draw_numbers(c.weights);
  constexpr int32_t bounds[] = {
      0, 0, GTH_BOUNDS_ERROR, GTH_BOUNDS_CLAMP, GTH_BOUNDS_MODULO, GTH_BOUNDS_SKIP, GTH_BOUNDS_FILL};
  c.options.bounds = pick(bounds);
  c.options.negative = static_cast<int32_t>(below(3));
  c.options.threads = static_cast<int32_t>(below(3));
  constexpr int32_t empties[] = {0, 0, GTH_EMPTY_ZERO, GTH_EMPTY_FILL, GTH_EMPTY_ERROR};
  c.options.empty = pick(empties);
  c.options.fill = GTH_FILL_VALUE;
  oracle::encode_float(is_integer(dtype) ? GTH_DTYPE_FLOAT64 : part_of(dtype), 3.5,
                       reinterpret_cast<char*>(c.options.fill_value));
  c.options.has_padding_index = chance(30);
  if (c.options.has_padding_index)
    c.options.padding_index = is_signed(c.ids.desc.dtype) && chance(40) ? -1 : below(c.rows + 1);
  c.options.bag_format =
      c.format == GTH_BAGS_OFFSETS || c.format == GTH_BAGS_DENSE ? (chance(50) ? 0 : c.format) : c.format;
  c.options.bag_count = c.format == GTH_BAGS_SEGMENTS ? c.bag_count : 0;
  draw_begin(&c);
  if (c.has_bags) write_bags(c, c.begin);
  draw_ids(&c);
  expect(&c);
  return c;
}

// ---- Forms

// The descriptions of a case. They refer to its memory.
struct Request {
  gth_tensor_desc table, ids, bags, weights, out;
  gth_request request = GTH_REQUEST_INIT;

  explicit Request(const Case& c)
      : table(c.table.described()),
        ids(c.ids.described()),
        bags(c.bags.described()),
        weights(c.weights.described()),
        out(c.out.described()) {
    request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &table, &ids, &out, &c.options);
    request.bags = c.has_bags ? &bags : nullptr;
    request.weights = c.has_weights ? &weights : nullptr;
  }
  Request(const Request&) = delete;
};

bool is_same_number(int32_t dtype, const char* a, const char* b) {
  const int32_t part = part_of(dtype);
  for (int64_t at = 0; at < item_of(dtype); at += item_of(part)) {
    const bool are_nan = !is_integer(part) && std::isnan(oracle::decode_float(part, a + at)) &&
                         std::isnan(oracle::decode_float(part, b + at));
    if (!are_nan && std::memcmp(a + at, b + at, static_cast<size_t>(item_of(part))) != 0) return false;
  }
  return true;
}

class BagsOracle : public ::testing::Test {
 protected:
  gth_error err_ = GTH_ERROR_INIT;

  void expect_output(const Case& c, const Array& out, const char* form) {
    const int64_t item = item_of(c.out_dtype());
    for (int64_t i = 0; i < c.bag_count * c.slice; ++i) {
      ASSERT_TRUE(is_same_number(c.out_dtype(), out.at(i), c.expected.data() + i * item))
          << form << ", bag " << i / c.slice << ", element " << i % c.slice;
    }
  }

  // Checks status and error of a call. Returns true if it has succeeded.
  bool judge(const Case& c, int32_t status, const char* form) {
    if (c.empty_bag >= 0) {
      EXPECT_EQ(status, GTH_E_OFFSETS) << form;
      EXPECT_EQ(err_.operand, GTH_OPERAND_BAGS) << form;
      EXPECT_EQ(err_.position, c.empty_bag) << form;
      return false;
    }
    if (c.bad_id >= 0 && c.slice > 0 && c.count > 0) {
      EXPECT_EQ(status, GTH_E_INDEX) << form << ": " << err_.message;
      EXPECT_EQ(err_.operand, GTH_OPERAND_INDICES) << form;
      const bool is_total = c.options.bounds == GTH_BOUNDS_CLAMP || c.options.bounds == GTH_BOUNDS_MODULO;
      if (!is_total || c.options.has_padding_index) {
        EXPECT_EQ(err_.position, c.bad_id) << form;
      }
      return false;
    }
    EXPECT_EQ(status, GTH_OK) << form << ": " << err_.message;
    return status == GTH_OK;
  }

  void check_run(const Case& c, const std::vector<char>& before, int32_t status, const char* form) {
    if (judge(c, status, form)) {
      expect_output(c, c.out, form);
    } else {
      EXPECT_TRUE(c.out.memory == before) << form;
    }
  }

  void check_result(const Case& c, const Request& r) {
    gth_request asked = r.request;
    asked.rows = nullptr;
    gth_tensor_desc form = GTH_TENSOR_DESC_INIT;
    int64_t shape[8];
    ASSERT_EQ(gth_infer(&asked, &form, 8, shape, &err_), GTH_OK) << err_.message;
    EXPECT_EQ(form.dtype, c.out_dtype());
    ASSERT_EQ(Shape(shape, shape + form.ndim), c.out.shape);
    gth_tensor* made = nullptr;
    if (judge(c, gth_make(nullptr, &asked, &made, &err_), "make")) {
      gth_tensor_desc got = GTH_TENSOR_DESC_INIT;
      ASSERT_EQ(gth_tensor_describe(made, &got, nullptr), GTH_OK);
      const int64_t item = item_of(c.out_dtype());
      for (int64_t i = 0; i < c.bag_count * c.slice; ++i) {
        ASSERT_TRUE(
            is_same_number(c.out_dtype(), static_cast<const char*>(got.data) + i * item, c.expected.data() + i * item))
            << "make " << i;
      }
    } else {
      EXPECT_EQ(made, nullptr);
    }
    gth_tensor_release(made);
  }

  void check_many(const Case& c, const Request& r, const std::vector<char>& before) {
    Array other = c.out;
    const gth_tensor_desc out = other.described();
    gth_request second = r.request;
    second.rows = &out;
    const gth_request* both[] = {&r.request, &second};
    const int32_t status = gth_run_many(nullptr, 2, both, &err_);
    check_run(c, before, status, "many");
    if (status == GTH_OK) expect_output(c, other, "second of many");
    if (status != GTH_OK) {
      EXPECT_EQ(err_.item, 0);
    }
  }

  // Runs a plan. With `open_bags` and `open_ids`, the extents are open.
  void check_plan(Case* c, const Request& r, const std::vector<char>& before, bool open_bags, bool open_ids) {
    Request planned(*c);
    const bool is_dense = c->format == GTH_BAGS_DENSE;
    if (is_dense && (open_ids || (open_bags && c->ids.shape.size() < 2))) return;
    if (c->format == GTH_BAGS_SEGMENTS && open_bags) return;
    Shape ids = c->ids.shape, bags = c->bags.shape, out = c->out.shape;
    if (open_ids || (is_dense && open_bags)) ids[0] = GTH_OPEN;
    if (open_bags && !is_dense) bags[0] = GTH_OPEN;
    if (open_bags) out[0] = GTH_OPEN;
    if (open_ids && c->format == GTH_BAGS_SEGMENTS) bags[0] = GTH_OPEN;
    // Open dims with negative strides need memory in front of the offset, which grows with the extent.
    const auto grows = [](const Array& array) { return !array.strides.empty() && array.strides[0] < 0; };
    const bool is_open = open_bags || open_ids;
    if (is_open &&
        (grows(c->ids) || grows(c->out) || (c->has_bags && grows(c->bags)) || (c->has_weights && grows(c->weights))))
      return;
    if (is_open && (c->count == 0 || c->bag_count == 0)) return;
    planned.ids.shape = planned.weights.shape = ids.data();
    planned.bags.shape = bags.data();
    planned.out.shape = out.data();
    gth_plan* plan = nullptr;
    ASSERT_EQ(gth_plan_create(&planned.request, &plan, &err_), GTH_OK) << err_.message;
    gth_plan_args args = GTH_PLAN_ARGS_INIT;
    if (open_bags) args.n = is_dense ? c->ids.shape[0] : c->bag_count;
    if (open_ids) args.ids = c->count;
    ASSERT_EQ(gth_plan_extents(plan, &args, &err_), GTH_OK) << err_.message;
    EXPECT_LE(args.table_extent, c->table.desc.extent);
    EXPECT_LE(args.indices_extent, c->ids.desc.extent);
    EXPECT_LE(args.rows_extent, c->out.desc.extent);
    EXPECT_LE(args.bags_extent, c->has_bags ? c->bags.desc.extent : 0);
    EXPECT_LE(args.weights_extent, c->has_weights ? c->weights.desc.extent : 0);
    args.table = r.table.data;
    args.indices = r.ids.data;
    args.rows = r.out.data;
    args.bags = c->has_bags ? r.bags.data : nullptr;
    args.weights = c->has_weights ? r.weights.data : nullptr;
    c->out.memory = before;
    args.rows = c->out.memory.data();
    check_run(*c, before, gth_plan_run_args(nullptr, plan, &args, &err_), is_open ? "open plan" : "plan");
    const gth_plan* const plans[] = {plan};
    const gth_plan_args* const all[] = {&args};
    c->out.memory = before;
    args.rows = c->out.memory.data();
    check_run(*c, before, gth_plan_run_many(nullptr, 1, plans, all, &err_), "plan many");
    judge(*c, gth_plan_check(nullptr, plan, &args, &err_), "plan check");
    gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
    int64_t shape[8];
    ASSERT_EQ(gth_plan_infer(plan, args.n, &rows, 8, shape, &err_), GTH_OK);
    EXPECT_EQ(Shape(shape, shape + rows.ndim), c->out.shape);
    EXPECT_EQ(rows.dtype, c->out_dtype());
    if (args.bags_extent > 0) {
      args.bags_extent -= 1;
      EXPECT_EQ(gth_plan_run_args(nullptr, plan, &args, &err_), GTH_E_SIZE);
      EXPECT_EQ(err_.operand, GTH_OPERAND_BAGS);
      args.bags_extent += 1;
      args.bags = nullptr;
      EXPECT_EQ(gth_plan_run_args(nullptr, plan, &args, &err_), GTH_E_NULL);
      EXPECT_EQ(err_.operand, GTH_OPERAND_BAGS);
    }
    gth_plan_release(plan);
  }

  void check_handles(Case* c, const Request& r, const std::vector<char>& before) {
    const gth_tensor_desc* const descs[] = {&r.table, &r.ids, r.request.bags, r.request.weights};
    gth_tensor* handles[4] = {};
    gth_tensor_desc named[4];
    for (int i = 0; i < 4; ++i) {
      if (!descs[i]) continue;
      ASSERT_EQ(gth_tensor_borrow(descs[i], &handles[i], &err_), GTH_OK) << err_.message;
      named[i] = gth_tensor_desc GTH_TENSOR_DESC_HANDLE(handles[i]);
    }
    c->out.memory = before;
    const gth_tensor_desc out = c->out.described();
    const int32_t status = gth_gather_bags(nullptr, &named[0], &named[1], descs[2] ? &named[2] : nullptr,
                                           descs[3] ? &named[3] : nullptr, &out, &c->options, &err_);
    check_run(*c, before, status, "handles");
    for (gth_tensor* handle : handles) gth_tensor_release(handle);
  }

  void check_forms(Case* c) {
    const std::vector<char> before = c->out.memory;
    {
      const Request r(*c);
      check_run(*c, before, gth_run_request(nullptr, &r.request, &err_), "run");
      check_result(*c, r);
    }
    c->out.memory = before;
    {
      const Request r(*c);
      check_many(*c, r, before);
    }
    for (bool open_bags : {false, true}) {
      for (bool open_ids : {false, true}) {
        c->out.memory = before;
        const Request r(*c);
        check_plan(c, r, before, open_bags, open_ids);
      }
    }
    const Request r(*c);
    check_handles(c, r, before);
    c->out.memory = before;
  }

  // Changes one border. The first wrong number is reported, and nothing is written.
  void check_bad_bags(Case* c) {
    if (c->format != GTH_BAGS_OFFSETS || c->bag_count == 0 || c->count > 100) return;
    const std::vector<char> before = c->out.memory;
    std::vector<int64_t> begin = c->begin;
    const auto at = static_cast<size_t>(below(c->bag_count + 1));
    begin[at] += chance(50) || (!is_signed(c->bags.desc.dtype) && begin[at] == 0) ? 1 : -1;
    int64_t bad = begin[0] != 0 ? 0 : -1, limit = 0;
    for (size_t b = 1; b < begin.size() && bad < 0; ++b) {
      if (begin[b] < begin[b - 1]) bad = static_cast<int64_t>(b), limit = begin[b - 1];
      if (begin[b] > c->count) bad = static_cast<int64_t>(b), limit = c->count;
    }
    if (bad < 0 && begin.back() != c->count) bad = c->bag_count, limit = c->count;
    write_bags(*c, begin);
    if (bad >= 0 && c->options.empty != GTH_EMPTY_ERROR) {
      const Request r(*c);
      EXPECT_EQ(gth_run_request(nullptr, &r.request, &err_), GTH_E_OFFSETS);
      EXPECT_EQ(err_.operand, GTH_OPERAND_BAGS);
      EXPECT_EQ(err_.position, bad);
      EXPECT_EQ(err_.value, begin[static_cast<size_t>(bad)]);
      EXPECT_EQ(err_.limit, limit);
      EXPECT_TRUE(c->out.memory == before);
    }
    write_bags(*c, c->begin);
  }
};

TEST_F(BagsOracle, EveryFormOfRandomRequestsEqualsTheNaiveLoop) {
  const char* const given = std::getenv("GATHER_BAG_CASES");
  const int64_t cases = given ? std::atoll(given) : 1500;
  for (int64_t i = 0; i < cases; ++i) {
    Case c = make_case(i % 200 == 199);
    SCOPED_TRACE("case " + std::to_string(i) + ", " + gth_dtype_name(c.dtype()) + ", format " +
                 std::to_string(c.format) + ", pool " + std::to_string(c.pool) + ", bounds " +
                 std::to_string(c.options.bounds) + ", weights " + std::to_string(c.has_weights) + ", padding " +
                 std::to_string(c.options.has_padding_index) + ", ids " + std::to_string(c.count));
    check_forms(&c);
    check_bad_bags(&c);
    if (HasFailure()) return;
  }
}

}  // namespace
