#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "environment.hpp"
#include "fused.hpp"
#include "limits.hpp"
#include "scatter_oracle.hpp"

// Random requests of gather_bags, with their expected output from a naive loop.
namespace bag_cases {

using oracle::filled, oracle::invalid, oracle::left_out, oracle::Shape;
inline std::mt19937_64 engine{11};

inline int64_t below(int64_t n) { return n <= 0 ? 0 : static_cast<int64_t>(engine() % static_cast<uint64_t>(n)); }
inline bool chance(int64_t percent) { return below(100) < percent; }
template <class T, size_t n>
T pick(const T (&from)[n]) {
  return from[engine() % n];
}

constexpr int32_t integers[] = {GTH_DTYPE_INT8,  GTH_DTYPE_INT16,  GTH_DTYPE_INT32,  GTH_DTYPE_INT64,
                                GTH_DTYPE_UINT8, GTH_DTYPE_UINT16, GTH_DTYPE_UINT32, GTH_DTYPE_UINT64};
constexpr int32_t wide_integers[] = {GTH_DTYPE_INT16,  GTH_DTYPE_INT32,  GTH_DTYPE_INT64,
                                     GTH_DTYPE_UINT16, GTH_DTYPE_UINT32, GTH_DTYPE_UINT64};
constexpr int32_t numbers[] = {GTH_DTYPE_FLOAT32,   GTH_DTYPE_FLOAT64,    GTH_DTYPE_FLOAT16, GTH_DTYPE_BFLOAT16,
                               GTH_DTYPE_COMPLEX64, GTH_DTYPE_COMPLEX128, GTH_DTYPE_INT8,    GTH_DTYPE_INT16,
                               GTH_DTYPE_INT32,     GTH_DTYPE_INT64,      GTH_DTYPE_UINT8,   GTH_DTYPE_UINT16,
                               GTH_DTYPE_UINT32,    GTH_DTYPE_UINT64};
constexpr int32_t all_pools[] = {GTH_POOL_SUM, GTH_POOL_MEAN, GTH_POOL_SQRTN, GTH_POOL_MAX, GTH_POOL_MIN};

inline bool is_integer(int32_t dtype) { return dtype < 512; }
inline bool is_signed(int32_t dtype) { return dtype < 256; }
inline bool is_half(int32_t dtype) { return oracle::is_half(dtype); }
inline bool is_complex(int32_t dtype) { return oracle::is_complex(dtype); }
inline int64_t item_of(int32_t dtype) { return gth_dtype_size(dtype); }

inline int64_t product(const Shape& shape) {
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

inline int32_t part_of(int32_t dtype) {
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

inline int64_t row_of(const Case& c, int64_t id) { return oracle::row_of_id(c.options, id, c.rows); }

template <class T>
T add_row(int32_t pool, T sum, T row, T weight, bool has_weight) {
  if (pool == GTH_POOL_MAX) return sum != sum || row <= sum ? sum : row;
  if (pool == GTH_POOL_MIN) return sum != sum || row >= sum ? sum : row;
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(sum) +
                          static_cast<uint64_t>(has_weight ? weight : T{1}) * static_cast<uint64_t>(row));
  } else {
    if (!has_weight) return sum + row;
    return add_product(sum, weight, row);
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

inline void expect(Case* c) {
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

inline void draw_numbers(const Array& array) {
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

// Overwrites numbers by few small ones, so that many sums are 0.
inline void draw_cancelling(const Array& array) {
  for (int64_t i = 0; i < product(array.shape); ++i) {
    const int64_t value = below(3) - 1;
    if (is_integer(array.desc.dtype)) {
      array.set(i, value);
    } else {
      oracle::encode_float(array.desc.dtype, static_cast<double>(value), array.at(i));
    }
  }
}

enum class Weighted : uint8_t { none, as_table, as_float32 };

// What a request computes.
struct Kind {
  int32_t dtype, pool, accumulate;
  Weighted weights;
};

inline bool is_valid(const Kind& kind) {
  const bool divides = kind.pool == GTH_POOL_MEAN || kind.pool == GTH_POOL_SQRTN;
  if (is_integer(kind.dtype) && (divides || kind.weights == Weighted::as_float32)) return false;
  if (is_complex(kind.dtype) && (kind.pool > GTH_POOL_MEAN || kind.weights != Weighted::none)) return false;
  return kind.weights == Weighted::none || kind.pool <= GTH_POOL_SQRTN;
}

inline Kind draw_kind() {
  for (;;) {
    const Weighted weights = chance(60) ? Weighted::none : chance(50) ? Weighted::as_float32 : Weighted::as_table;
    const int32_t accumulate = chance(80) ? 0 : static_cast<int32_t>(1 + below(2));
    const Kind kind{chance(20) ? GTH_DTYPE_FLOAT32 : pick(numbers), pick(all_pools), accumulate, weights};
    if (is_valid(kind)) return kind;
  }
}

// Returns every kind of request.
inline std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (int32_t dtype : numbers) {
    for (int32_t pool : all_pools) {
      for (int32_t accumulate : {0, GTH_ACCUMULATE_DTYPE, GTH_ACCUMULATE_FLOAT32}) {
        for (Weighted weights : {Weighted::none, Weighted::as_table, Weighted::as_float32}) {
          if (is_valid({dtype, pool, accumulate, weights})) kinds.push_back({dtype, pool, accumulate, weights});
        }
      }
    }
  }
  return kinds;
}

// Draws the borders of the bags.
inline void draw_begin(Case* c) {
  c->begin = {0};
  for (int64_t b = 1; b <= c->bag_count; ++b) {
    const int64_t most = 2 * c->count / c->bag_count + 2;
    const bool is_dense = c->format == GTH_BAGS_DENSE;
    c->begin.push_back(is_dense ? c->count / c->bag_count * b : std::min(c->count, c->begin.back() + below(most)));
  }
  if (c->bag_count > 0) c->begin.back() = c->count;
}

inline void write_bags(const Case& c, const std::vector<int64_t>& begin) {
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

inline void draw_ids(Case* c) {
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

struct Sizes {
  int64_t rows, bags, ids;
  Shape slice;
  bool is_plain = false;  // All options have their defaults, and at most one operand has strides.
};

inline Sizes draw_sizes(bool is_large) {
  Sizes sizes;
  sizes.rows = is_large ? 100 : below(12) + (chance(90) ? 1 : 0);
  sizes.bags = is_large ? 700 : below(6) + (chance(90) ? 1 : 0);
  sizes.ids = sizes.bags == 0 ? 0 : is_large ? 7000 : below(chance(10) ? 1500 : 12);
  sizes.slice = {is_large ? 40 : chance(5) ? below(2000) : below(40)};
  if (chance(20)) sizes.slice.push_back(below(4));
  if (chance(10)) sizes.slice.clear();
  if (sizes.ids > 1000 && !is_large && product(sizes.slice) > 50) sizes.ids = 20;
  return sizes;
}

enum class Border : uint8_t { ids, bags, elements };
constexpr Border borders[] = {Border::ids, Border::bags, Border::elements};

// Returns sizes around the limits of ids in a bag, of bags, or of elements in a row.
inline Sizes draw_border(Border border) {
  constexpr int64_t ids[] = {limits::block_rows, limits::short_bag_ids, limits::block_ids, 2 * limits::block_ids};
  constexpr int64_t bags[] = {limits::short_bags, limits::short_bag_ids, limits::block_bags};
  constexpr int64_t elements[] = {16, 128, limits::block_elements, limits::most_pooled_bytes / 4};
  const auto around = [](int64_t limit) { return limit + below(4) - 1; };
  if (border == Border::ids) {
    // The sort of a gradient has a pass for each byte of the number of rows.
    const int64_t rows = chance(25) ? around(256) : chance(10) ? around(65536) : 1 + below(9);
    return {rows, 1 + below(3), around(pick(ids)), {1 + below(rows > 1000 ? 2 : 20)}};
  }
  if (border == Border::elements) {
    return {1 + below(4), 1 + below(3), 1 + below(9), {around(pick(elements)) + (chance(30) ? 75 : 0)}};
  }
  const int64_t count = around(pick(bags));
  return {20, count, count + below(2 * count), {1 + below(20)}};
}

// Draws the options beside those of the kind.
inline void draw_options(Case* c) {
  gth_options& options = c->options;
  const int32_t dtype = c->dtype();
  options.threads = static_cast<int32_t>(below(3));
  constexpr int32_t bounds[] = {
      0, 0, GTH_BOUNDS_ERROR, GTH_BOUNDS_CLAMP, GTH_BOUNDS_MODULO, GTH_BOUNDS_SKIP, GTH_BOUNDS_FILL};
  options.bounds = pick(bounds);
  options.negative = static_cast<int32_t>(below(3));
  constexpr int32_t empties[] = {0, 0, GTH_EMPTY_ZERO, GTH_EMPTY_FILL, GTH_EMPTY_ERROR};
  options.empty = pick(empties);
  options.fill = GTH_FILL_VALUE;
  if (is_integer(dtype)) {
    options.fill_value[0] = engine();
  } else {
    oracle::encode_float(part_of(dtype), 3.5, reinterpret_cast<char*>(options.fill_value));
  }
  options.has_padding_index = chance(30);
  if (options.has_padding_index)
    options.padding_index = is_signed(c->ids.desc.dtype) && chance(40) ? -1 : below(c->rows + 1);
}

// Returns sizes of requests that may have a short form.
inline Sizes draw_plain() {
  const int64_t bags = 1 + below(limits::short_bags + 1);
  return {1 + below(9), bags, bags + below(limits::short_bag_ids + 3 - bags), {1 + below(20)}, true};
}

inline Case make_case(Sizes sizes, const Kind& kind = draw_kind()) {
  Case c;
  const bool is_dense = sizes.is_plain || chance(50);
  const int64_t strided =
      chance(sizes.is_plain ? 80 : 40) ? below(4) : 4;  // the only operand with strides if the others are dense
  constexpr int32_t formats[] = {GTH_BAGS_OFFSETS, GTH_BAGS_STARTS, GTH_BAGS_LENGTHS, GTH_BAGS_SEGMENTS,
                                 GTH_BAGS_DENSE};
  c.format = sizes.is_plain ? (chance(50) ? GTH_BAGS_OFFSETS : GTH_BAGS_DENSE) : pick(formats);
  c.rows = sizes.rows, c.bag_count = sizes.bags, c.count = sizes.ids;
  const int32_t dtype = kind.dtype;
  const Shape& slice = sizes.slice;
  c.slice = product(slice);
  Shape ids{c.count}, out{c.bag_count}, table{c.rows};
  if (c.format == GTH_BAGS_DENSE) {
    ids = {c.bag_count, c.bag_count ? c.count / c.bag_count : 3};
    if (chance(30) && c.bag_count % 2 == 0) ids = {2, c.bag_count / 2, ids[1]};
    out.assign(ids.begin(), ids.end() - 1);
    c.count = product(ids);
  }
  out.insert(out.end(), slice.begin(), slice.end());
  table.insert(table.end(), slice.begin(), slice.end());
  c.options.out_dtype = chance(50) ? 0 : is_half(dtype) && chance(60) ? GTH_DTYPE_FLOAT32 : dtype;
  c.options.accumulate = kind.accumulate;
  c.pool = kind.pool;
  c.options.pool = kind.pool == GTH_POOL_SUM && chance(50) ? 0 : kind.pool;
  c.table.make(dtype, table, is_dense && strided != 0);
  draw_numbers(c.table);
  c.ids.make(pick(integers), ids, is_dense ? strided != 1 : chance(30));
  if (item_of(c.ids.desc.dtype) < (c.rows > 1000 ? 4 : c.rows > 90 ? 2 : 1)) c.ids.make(GTH_DTYPE_INT64, ids, true);
  c.out.make(c.out_dtype(), out, is_dense && strided != 2);
  c.has_bags = c.format != GTH_BAGS_DENSE;
  const int64_t size = c.format == GTH_BAGS_OFFSETS    ? c.bag_count + 1
                       : c.format == GTH_BAGS_SEGMENTS ? c.count
                                                       : c.bag_count;
  if (c.has_bags)
    c.bags.make(c.count > 100 || c.bag_count > 100 ? pick(wide_integers) : pick(integers), {size},
                is_dense && strided != 3);
  c.has_weights = kind.weights != Weighted::none;
  const bool has_float32_weights = kind.weights == Weighted::as_float32;
  if (c.has_weights) c.weights.make(has_float32_weights ? GTH_DTYPE_FLOAT32 : dtype, ids, is_dense || chance(30));
  if (c.has_weights) chance(25) ? draw_cancelling(c.weights) : draw_numbers(c.weights);
  if (!sizes.is_plain) draw_options(&c);
  c.options.bag_format =
      c.format == GTH_BAGS_OFFSETS || c.format == GTH_BAGS_DENSE ? (chance(50) ? 0 : c.format) : c.format;
  c.options.bag_count = c.format == GTH_BAGS_SEGMENTS ? c.bag_count : 0;
  draw_begin(&c);
  if (c.has_bags) write_bags(c, c.begin);
  draw_ids(&c);
  expect(&c);
  return c;
}

inline std::string describe(const Case& c) {
  return std::string(gth_dtype_name(c.dtype())) + ", format " + std::to_string(c.format) + ", pool " +
         std::to_string(c.pool) + ", accumulate " + std::to_string(c.options.accumulate) + ", bounds " +
         std::to_string(c.options.bounds) + ", weights " + std::to_string(c.has_weights) + ", padding " +
         std::to_string(c.options.has_padding_index) + ", bags " + std::to_string(c.bag_count) + ", ids " +
         std::to_string(c.count) + ", elements " + std::to_string(c.slice) + ", empty " +
         std::to_string(c.options.empty);
}

// Returns the number of random cases, and how often each kind of request is tested. The long run sets both.
inline int64_t random_cases(int64_t otherwise) { return environment::number("GATHER_BAG_CASES", otherwise); }
inline int64_t rounds() { return 1 + random_cases(0) / 1500; }

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

inline bool is_same_number(int32_t dtype, const char* a, const char* b) {
  const int32_t part = part_of(dtype);
  for (int64_t at = 0; at < item_of(dtype); at += item_of(part)) {
    const bool are_nan = !is_integer(part) && std::isnan(oracle::decode_float(part, a + at)) &&
                         std::isnan(oracle::decode_float(part, b + at));
    if (!are_nan && std::memcmp(a + at, b + at, static_cast<size_t>(item_of(part))) != 0) return false;
  }
  return true;
}

}  // namespace bag_cases
