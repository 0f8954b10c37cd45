#include "cpu/bag_gradient_steps.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <type_traits>

#include "core/base/checked.hpp"
#include "core/base/limits.hpp"
#include "core/types/square_root.hpp"
#include "cpu/bag_check.hpp"
#include "cpu/bag_ids.hpp"
#include "cpu/bag_kernels.hpp"
#include "cpu/bag_reader.hpp"
#include "cpu/job.hpp"
#include "cpu/keys.hpp"
#include "cpu/pieces.hpp"
#include "cpu/sort_by_digit.hpp"
#include "cpu/tiers/choice.hpp"
#include "cpu/validate.hpp"

namespace gather::cpu {
namespace {

using core::Error;
using core::Plan;

template <class T>
T load(const char* first, int64_t i) {
  T value;
  std::memcpy(&value, first + i * int64_t{sizeof(T)}, sizeof value);
  return value;
}

template <class T>
void store(T value, char* first, int64_t i) {
  std::memcpy(first + i * int64_t{sizeof(T)}, &value, sizeof value);
}

bool is_half(const Plan& plan) { return core::is_floating(plan.reducing.number) && plan.item.bytes() == 2; }

// Returns the kernels that convert numbers of 2 bytes.
Accumulate converter_of(const Plan& plan) { return tier().choose_accumulate(plan.reducing.number, GTH_REDUCTION_ADD); }

// Returns the type of integers.
core::IndexType integer_type(const Plan& plan) {
  const auto bytes = static_cast<uint64_t>(plan.item.bytes());
  return static_cast<core::IndexType>(__builtin_ctzll(bytes) +
                                      (plan.reducing.number == core::Number::unsigned_integer ? 4 : 0));
}

// Convert n elements, which are float16, bfloat16 or float32; float64; or integers.
void convert(const Plan& plan, const char* elements, int64_t n, float* to) {
  if (is_half(plan)) return converter_of(plan).load(elements, n, to);
  std::memcpy(to, elements, static_cast<size_t>(n) * sizeof(float));
}
void convert(const Plan&, const char* elements, int64_t n, double* to) {
  std::memcpy(to, elements, static_cast<size_t>(n) * sizeof(double));
}
void convert(const Plan& plan, const char* elements, int64_t n, uint64_t* to) {
  load_numbers(integer_type(plan), elements, plan.item.bytes(), n, reinterpret_cast<int64_t*>(to));
}

// Calls body with a number of the type of the sums, which is float or double.
template <class Body>
void with_float(const Plan& plan, Body&& body) {
  sum_bytes(plan) == int64_t{sizeof(float)} ? body(float{}) : body(double{});
}

// ---- Ids and bags

struct BadId {
  int64_t position, value;
};

// Replaces the values of ids by the numbers of their rows. Sets *bad to the first invalid id, which counts as filled.
void resolve_ids(const Plan& plan, int64_t n, int64_t* values, BadId* bad) {
  for (int64_t i = replace_each_id(plan, values, n); i < n; i += replace_each_id(plan, values + i, n - i)) {
    if (bad->position > i) *bad = {i, values[i]};
    values[i++] = row_of_fill;
  }
}

// The ids that are read, for check_bags.
struct ReadRows {
  const int64_t* rows;

  bool has_ids(int64_t begin, int64_t end) const {
    return std::any_of(rows + begin, rows + end, [](int64_t row) { return row != no_row; });
  }
  int64_t next(int64_t bag) const { return bag + 1; }
};

// Reads the borders of all bags, as check_bags.
int32_t read_borders(const BagReader& reader, bool must_have_ids, const ReadRows& reads, int64_t* begin, int64_t* ids,
                     const Error& error) {
  FirstEmpty<ReadRows> empty{must_have_ids, reads};
  BagPosition at{0, 0};
  begin[0] = 0;
  while (at.bag < reader.count()) {
    int64_t m, borders[BagReader::most + 1];
    if (int32_t status = reader.read(at, reader.count(), borders, &m, error)) return status;
    std::copy_n(borders, m + 1, begin + at.bag);
    empty.look_in(at.bag, m, borders);
    at = {at.bag + m, borders[m]};
  }
  *ids = at.id;
  const int32_t status = reader.check_end(at, error);
  return status ? status : empty.check(error);
}

// ---- Sorting

struct SortedId {
  int64_t row, position;
};

// ---- Weights

// The sum of a bag: of its weights, or of their squares.
template <class T>
T divisor_of(const Plan& plan, const ReadBags& read, const char* weights, int64_t bag) {
  const bool squares = plan.bags.pool == GTH_POOL_SQRTN;
  int64_t count = 0;
  T sum = 0;
  for (int64_t k = read.begin[bag]; k < read.begin[bag + 1]; ++k) {
    if (read.rows[k] == no_row) continue;
    ++count;
    if (!weights) continue;
    const T weight = load<T>(weights, k);
    sum += squares ? weight * weight : weight;
  }
  if (!weights) sum = static_cast<T>(count);
  return squares ? core::square_root(sum) : sum;
}

// Writes the factors of sorted ids. For integers, a factor is the weight of the id.
void write_scales(const Plan& plan, const Factors& factors, const SortedIds& ids, const int64_t* bag_of, char* scales) {
  if (!core::is_floating(plan.reducing.number)) {
    const int64_t bytes = sum_bytes(plan);
    for (int64_t i = 0; i < ids.count; ++i) {
      std::memcpy(scales + i * bytes, factors.weights + ids.positions[i] * bytes, static_cast<size_t>(bytes));
    }
    return;
  }
  with_float(plan, [&](auto one) {
    using T = decltype(one);
    for (int64_t i = 0; i < ids.count; ++i) {
      const int64_t position = ids.positions[i];
      const T weight = factors.weights ? load<T>(factors.weights, position) : T{1};
      const T divisor = factors.divisors ? load<T>(factors.divisors, bag_of[position]) : T{1};
      store(divisor == 0 ? T{0} : weight / divisor, scales, i);
    }
  });
}

// ---- Dot products

// Numbers are added in `lanes` sums, so that the compiler can use vectors. Addresses need no alignment.
template <class T>
T dot(const char* a, const char* b, int64_t n) {
  constexpr int64_t lanes = 16;
  T sums[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (int64_t lane = 0; lane < lanes; ++lane) sums[lane] += load<T>(a, i + lane) * load<T>(b, i + lane);
  }
  for (int64_t lane = 0; i < n; ++i, ++lane) sums[lane] += load<T>(a, i) * load<T>(b, i);
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    for (int64_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

// Returns the dot product of slices of n elements. Elements of another type than T are converted a block at a time.
template <class T>
T dot_of_slices(const Plan& plan, const char* a, const char* b, int64_t n) {
  const int64_t item = plan.item.bytes();
  if (std::is_floating_point_v<T> && item == int64_t{sizeof(T)}) return dot<T>(a, b, n);
  T of_a[block_elements], of_b[block_elements], sum = 0;
  for (int64_t i = 0; i < n; i += block_elements) {
    const int64_t some = std::min(block_elements, n - i);
    convert(plan, a + i * item, some, of_a);
    convert(plan, b + i * item, some, of_b);
    sum += dot<T>(reinterpret_cast<const char*>(of_a), reinterpret_cast<const char*>(of_b), some);
  }
  return sum;
}

// Computes the gradients of the weights of a bag. Its output is S / d. The derivative of S by a weight is the dot
// product of the row and the gradient. The derivative of d is 1 for a mean, and weight / d for a sqrtn. T is the type
// of the sums, or uint64 for integers, whose sums wrap.
template <class T>
class WeightGradient {
 public:
  WeightGradient(const Plan& plan, const ReadBags& read, const Slices& slices, const char* gradient,
                 const Factors& factors, char* out)
      : plan_(plan), read_(read), slices_(slices), gradient_(gradient), factors_(factors), out_(out) {}

  void operator()(int64_t bag) const {
    const int64_t bytes = sum_bytes(plan_);
    T sum = 0;  // the dot product of S and the gradient
    for (int64_t k = read_.begin[bag]; k < read_.begin[bag + 1]; ++k) {
      const T product = product_of(bag, k);
      if (factors_.divisors && read_.rows[k] != no_row) sum += weight_of(k) * product;
      std::memcpy(out_ + k * bytes, &product, static_cast<size_t>(bytes));  // the lowest bytes of an integer
    }
    if (factors_.divisors) divide(bag, sum);
  }

 private:
  T weight_of(int64_t k) const { return factors_.weights ? load<T>(factors_.weights, k) : T{1}; }

  T product_of(int64_t bag, int64_t k) const {
    const int64_t row = read_.rows[k];
    if (row == no_row) return 0;
    const char *const slice = slices_.at(k, row), *const gradient = gradient_ + bag * slices_.bytes;
    return dot_of_slices<T>(plan_, slice, gradient, slices_.bytes / plan_.item.bytes());
  }

  void divide(int64_t bag, T sum) const {
    const T divisor = load<T>(factors_.divisors, bag), output = divisor == 0 ? T{0} : sum / divisor;
    for (int64_t k = read_.begin[bag]; k < read_.begin[bag + 1]; ++k) {
      const bool has_none = read_.rows[k] == no_row || divisor == 0;
      const T growth = has_none ? T{0} : plan_.bags.pool == GTH_POOL_MEAN ? T{1} : weight_of(k) / divisor;
      store(has_none ? T{0} : (load<T>(out_, k) - growth * output) / divisor, out_, k);
    }
  }

  const Plan& plan_;
  const ReadBags& read_;
  const Slices& slices_;
  const char* const gradient_;
  const Factors& factors_;
  char* const out_;
};

// ---- Maxima

// The number of ids by which slices are prefetched.
constexpr int64_t ids_ahead = 8;

// Replaces the bits of floating numbers by their keys.
template <class Key>
void make_keys(Key flip, Key infinity, int64_t n, Key* keys) {
  for (int64_t i = 0; i < n; ++i) keys[i] = floating_key(keys[i], flip, infinity);
}

bool is_min(const Plan& plan) { return plan.bags.pool == GTH_POOL_MIN; }

// Returns true if keys of 32 bits are sufficient.
bool has_narrow_keys(const Plan& plan) { return core::is_floating(plan.reducing.number) && plan.item.bytes() < 8; }

// Load n elements as keys, of which the largest wins.
void load_keys(const Plan& plan, const char* elements, int64_t n, int32_t* to) {
  float numbers[block_elements];
  if (is_half(plan)) {
    convert(plan, elements, n, numbers);
    elements = reinterpret_cast<const char*>(numbers);
  }
  std::memcpy(to, elements, static_cast<size_t>(n) * sizeof(float));
  make_keys<int32_t>(is_min(plan) ? INT32_MIN : 0, 0x7f800000, n, to);
}
void load_keys(const Plan& plan, const char* elements, int64_t n, int64_t* to) {
  if (core::is_floating(plan.reducing.number)) {
    std::memcpy(to, elements, static_cast<size_t>(n) * sizeof(double));
    return make_keys<int64_t>(is_min(plan) ? INT64_MIN : 0, 0x7ff0000000000000, n, to);
  }
  const bool is_unsigned = integer_type(plan) == core::IndexType::uint64;
  const uint64_t flip = (is_min(plan) ? ~uint64_t{0} : 0) ^ (is_unsigned ? uint64_t{1} << 63 : 0);
  load_numbers(integer_type(plan), elements, plan.item.bytes(), n, to);
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<int64_t>(static_cast<uint64_t>(to[i]) ^ flip);
}

// The winners of n <= block_elements elements of one bag.
template <class Key>
class Winners {
 public:
  Winners(const Plan& plan, const ReadBags& read, const Slices& slices, const int64_t* places)
      : plan_(plan), read_(read), slices_(slices), places_(places) {}

  void find(int64_t bag, int64_t offset, int64_t n, int64_t* winners) {
    const int64_t end = read_.begin[bag + 1];
    bool is_first = true;
    std::fill_n(winners, n, int64_t{-1});
    for (int64_t base = read_.begin[bag]; base < end; base += compared_ids) {
      std::fill_n(chosen_, n, Key{-1});
      for (int64_t k = base; k < std::min(end, base + compared_ids); ++k) {
        const int64_t row = read_.rows[k];
        prefetch(k + ids_ahead, offset, n);
        if (row == no_row) continue;
        load_keys(plan_, slices_.at(k, row) + offset, n, is_first ? best_ : loaded_);
        const auto id = static_cast<Key>(k - base);
        if (is_first) {
          std::fill_n(chosen_, n, id);
        } else {
          choose(id, n);
        }
        is_first = false;
      }
      for (int64_t i = 0; i < n; ++i) {
        if (chosen_[i] >= 0) winners[i] = place_of(base + chosen_[i]);
      }
    }
  }

 private:
  // Prefetches the part of a slice, also of a later bag.
  void prefetch(int64_t id, int64_t offset, int64_t n) const {
    if (id >= read_.ids || read_.rows[id] < 0) return;
    const char* const part = slices_.at(id, read_.rows[id]) + offset;
    const int64_t bytes = n * plan_.item.bytes();
    for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(part + at);
  }

  void choose(Key id, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const Key loaded = loaded_[i], best = best_[i], chosen = chosen_[i];
      best_[i] = loaded > best ? loaded : best;
      chosen_[i] = loaded > best ? id : chosen;
    }
  }

  int64_t place_of(int64_t id) const {
    if (!places_) return id;
    return read_.rows[id] == row_of_fill ? -1 : places_[id];
  }

  const Plan& plan_;
  const ReadBags& read_;
  const Slices& slices_;
  const int64_t* const places_;
  Key best_[block_elements], loaded_[block_elements], chosen_[block_elements];
};

// Calls body(bag) for each bag, with all threads.
template <class Body>
void for_each_bag(const ReadBags& read, int64_t slice_bytes, const Executor& executor, Body&& body) {
  int64_t bytes;
  if (!core::multiply(read.ids, slice_bytes + sum_overhead, &bytes)) bytes = INT64_MAX;
  if (read.bags == 0) return;
  in_pieces(executor, read.bags, bytes, [&](int64_t first, int64_t last) {
    for (int64_t bag = first; bag < last; ++bag) body(bag);
  });
}

}  // namespace

int32_t read_bags(const Plan& plan, const char* numbers, const char* ids, ReadBags* out, const Error& error) {
  const BagReader reader(plan, numbers, out->bags, out->ids);
  const ReadRows reads{out->rows};
  const bool must_have_ids = plan.bags.empty == GTH_EMPTY_ERROR;
  BadId bad{INT64_MAX, 0};
  load_numbers(plan.index, ids, core::index_bytes(plan.index), out->ids, out->rows);
  resolve_ids(plan, out->ids, out->rows, &bad);
  const int32_t status = out->begin ? read_borders(reader, must_have_ids, reads, out->begin, &out->ids, error)
                                    : check_bags(reader, must_have_ids, reads, &out->ids, error);
  if (status) return status;
  if (!out->begin) out->bags = 0;
  return bad.position < out->ids ? fail_bad_tuple(plan, bad.position, {0, 0, bad.value}, error) : GTH_OK;
}

SortedIds sort_ids(const ReadBags& read, int64_t* room) {
  auto* from = reinterpret_cast<SortedId*>(room);
  auto* to = from + read.ids;
  int64_t n = 0;
  uint64_t bits = 0;
  for (int64_t i = 0; i < read.ids; ++i) {
    if (read.rows[i] < 0) continue;
    from[n++] = {read.rows[i], i};
    bits |= static_cast<uint64_t>(read.rows[i]);
  }
  for (int32_t shift = 0; shift < 64 && bits >> shift != 0; shift += 8, std::swap(from, to)) {
    sort_by_digit(from, n, shift, to, [](const SortedId& id) { return id.row; });
  }
  const SortedIds sorted{n, reinterpret_cast<int64_t*>(to), reinterpret_cast<int64_t*>(to) + n};
  for (int64_t i = 0; i < n; ++i) {
    sorted.rows[i] = from[i].row;
    sorted.positions[i] = from[i].position;
  }
  return sorted;
}

int64_t rank_rows(SortedIds* ids, int64_t* unique) {
  int64_t n = 0;
  for (int64_t i = 0; i < ids->count; ++i) {
    if (n == 0 || unique[n - 1] != ids->rows[i]) unique[n++] = ids->rows[i];
    ids->rows[i] = n - 1;
  }
  return n;
}

void load_weights(const Plan& plan, const char* weights, int64_t n, char* sums) {
  const bool is_float32 = plan.bags.has_float32_weights;
  if (n == 0) return;
  if (is_half(plan) && !is_float32) return converter_of(plan).load(weights, n, reinterpret_cast<float*>(sums));
  if (!is_float32 || sum_bytes(plan) == int64_t{sizeof(float)}) {
    std::memcpy(sums, weights, static_cast<size_t>(n * sum_bytes(plan)));
    return;
  }
  for (int64_t i = 0; i < n; ++i) store<double>(load<float>(weights, i), sums, i);
}

void store_weights(const Plan& plan, const char* sums, int64_t n, char* weights) {
  const bool is_float32 = plan.bags.has_float32_weights;
  if (n == 0) return;
  if (is_half(plan) && !is_float32) return converter_of(plan).store(reinterpret_cast<const float*>(sums), n, weights);
  if (!is_float32 || sum_bytes(plan) == int64_t{sizeof(float)}) {
    std::memcpy(weights, sums, static_cast<size_t>(n * sum_bytes(plan)));
    return;
  }
  for (int64_t i = 0; i < n; ++i) store(static_cast<float>(load<double>(sums, i)), weights, i);
}

void find_divisors(const Plan& plan, const ReadBags& read, const char* weights, char* divisors) {
  with_float(plan, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t bag = 0; bag < read.bags; ++bag) store(divisor_of<T>(plan, read, weights, bag), divisors, bag);
  });
}

void replace_positions(const Plan& plan, const ReadBags& read, const Factors& factors, SortedIds* ids, int64_t* bag_of,
                       char* scales) {
  for (int64_t bag = 0; bag < read.bags; ++bag) {
    std::fill(bag_of + read.begin[bag], bag_of + read.begin[bag + 1], bag);
  }
  if (factors.weights || factors.divisors) write_scales(plan, factors, *ids, bag_of, scales);
  for (int64_t i = 0; i < ids->count; ++i) ids->positions[i] = bag_of[ids->positions[i]];
}

void divide_rows(const Plan& plan, const ReadBags& read, int64_t row_bytes, char* rows) {
  with_float(plan, [&](auto zero) {
    using T = decltype(zero);
    const int64_t parts = row_bytes / int64_t{sizeof(T)};
    for (int64_t bag = 0; bag < read.bags; ++bag) {
      const T count = divisor_of<T>(plan, read, nullptr, bag);
      for (int64_t i = bag * parts; i < (bag + 1) * parts; ++i)
        store(static_cast<T>(load<T>(rows, i) / count), rows, i);
    }
  });
}

void write_weight_gradient(const Plan& plan, const ReadBags& read, const Slices& slices, const char* gradient,
                           const Factors& factors, char* out, const Executor& executor) {
  const auto write = [&](auto zero) {
    const WeightGradient<decltype(zero)> body(plan, read, slices, gradient, factors, out);
    for_each_bag(read, slices.bytes, executor, body);
  };
  core::is_floating(plan.reducing.number) ? with_float(plan, write) : write(uint64_t{});
}

void find_winners(const Plan& plan, const ReadBags& read, const Slices& slices, const int64_t* places, int64_t* out,
                  const Executor& executor) {
  const int64_t item = plan.item.bytes(), elements = slices.bytes / item;
  const auto find = [&](auto key, int64_t bag) {
    Winners<decltype(key)> winners(plan, read, slices, places);
    for (int64_t first = 0; first < elements; first += block_elements) {
      winners.find(bag, first * item, std::min(block_elements, elements - first), out + bag * elements + first);
    }
  };
  for_each_bag(read, slices.bytes, executor,
               [&](int64_t bag) { has_narrow_keys(plan) ? find(int32_t{}, bag) : find(int64_t{}, bag); });
}

}  // namespace gather::cpu
