#pragma once

#include "core/base/limits.hpp"
#include "cuda/bag_bodies.hpp"
#include "cuda/bag_steps_job.hpp"
#include "cuda/scatter_bodies.hpp"

// The kernels of the gradients and positions of bags. cuda/bodies.hpp describes what a Block has.
namespace gather::cuda {

// ---- Ids

// The rows of ids that are none of params.
constexpr int64_t unread = -1, filled = -2;

// Returns the row of params that an id selects, or one of these numbers.
GATHER_SELDOM int64_t row_of_id(const PoolJob& job, int64_t id) {
  if (job.has_padding && id == job.padding) return unread;
  const int64_t row = resolve_seldom(id, job.rows.size, job.policy);
  return row >= 0 ? row : job.fills ? filled : unread;
}

GATHER_SHARED int64_t load_id(const PoolJob& job, const Bag& bag, int64_t k) {
  return AnyIndex::load(job.ids, job.ids.first + bag.ids + k * job.ids.stride);
}

// Returns the number of an id among those of all bags.
GATHER_SHARED int64_t number_of_id(const PoolJob& job, int64_t bag, int64_t k) {
  return job.format == GTH_BAGS_DENSE ? bag * job.length + k : k;
}

// Returns true if an id was valid before, and is not now.
GATHER_SHARED bool has_raced(const PoolJob& job, int64_t id, int64_t row) {
  return job.refuses && row < 0 && !(job.has_padding && id == job.padding);
}

// An id of a bag: the k-th, or of bags that are not dense the k-th of all.
struct IdPlace {
  int64_t number, k;  // number: of the bag
  Bag bag;
};

GATHER_SHARED int64_t first_of_bag(const BagsJob& job, int64_t number) {
  return job.format == GTH_BAGS_LENGTHS ? static_cast<int64_t>(job.begin[number]) : load_number(job.numbers, number);
}

// Returns the last bag whose first id is not behind an id, or -1.
GATHER_SELDOM int64_t last_bag_at(const BagsJob& job, int64_t id) {
  int64_t first = 0, last = job.count;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  while (first < last) {
    const int64_t middle = first + (last - first) / 2;
    if (first_of_bag(job, middle) <= id)
      first = middle + 1;
    else
      last = middle;
  }
  return first - 1;
}

// Finds an id. Returns false if it is behind all bags, or if the numbers of bags were changed after the validation.
GATHER_SELDOM bool find_id(const BagsJob& job, int64_t id, IdPlace* out) {
  *out = {};
  out->k = id;
  switch (job.format) {
    case GTH_BAGS_DENSE:
      out->number = quotient_of(id, job.length);
      out->k = id - out->number * job.length;
      return find_bag(job, out->number, &out->bag);
    case GTH_BAGS_SEGMENTS:
      out->number = load_number(job.numbers, id);
      return 0 <= out->number && out->number < job.count;
    default:
      out->number = last_bag_at(job, id);
      if (out->number < 0) return false;
      find_ids(job, out->number, &out->bag);
      return out->bag.begin <= id && id < out->bag.end;
  }
}

// Calls each(k, row) for the ids of a bag that it reads, in their order.
template <class Each>
GATHER_SHARED void for_read_ids(const PoolJob& job, const Bag& bag, Each&& each) {
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int64_t k = bag.begin; k < bag.end; ++k) {
    const int64_t row = row_of_id(job, load_id(job, bag, k));
    if (row != unread) each(k, row);
  }
}

// ---- Factors

template <class T>
GATHER_SHARED T* as(void* numbers) {
  return static_cast<T*>(numbers);
}

// Loads an integer of any size.
GATHER_SELDOM uint64_t load_integer(const char* at, int64_t bytes, bool is_aligned) {
  switch (bytes) {
    case 1: return load_column<1>(at, is_aligned);
    case 2: return load_column<2>(at, is_aligned);
    case 4: return load_column<4>(at, is_aligned);
    default: return load_column<8>(at, is_aligned);
  }
}

GATHER_SHARED void store_integer(void* numbers, int64_t i, int64_t bytes, uint64_t value) {
  switch (bytes) {
    case 1: as<uint8_t>(numbers)[i] = static_cast<uint8_t>(value); break;
    case 2: as<uint16_t>(numbers)[i] = static_cast<uint16_t>(value); break;
    case 4: as<uint32_t>(numbers)[i] = static_cast<uint32_t>(value); break;
    default: as<uint64_t>(numbers)[i] = value;
  }
}

// Returns a weight of any type whose sums have the type Value. Integers have that of 8 bytes.
template <class Value>
GATHER_SHARED Value weight_at(const BagStepsJob& job, const Bag& bag, int64_t k) {
  const char* const at = job.weights + bag.weights + k * job.weight_stride;
  if constexpr (std::is_integral_v<Value>) return load_integer(at, job.item, job.weights_aligned);
  if constexpr (std::is_same_v<Value, double>) return load_weight<Floats<double>>(job, at);
  if constexpr (std::is_same_v<Value, float>) {
    if (job.numbers == Numbers::half_in_float) return load_weight<HalvesInFloat>(job, at);
    if (job.numbers == Numbers::brain_half_in_float) return load_weight<BrainHalvesInFloat>(job, at);
    return load_weight<Floats<float>>(job, at);
  }
}

// Computes the divisor of each bag of a mean or a sqrtn.
template <class Type, class Block>
GATHER_KERNEL void divisor_body(Block& block, const BagStepsJob& job) {
  using Value = typename Type::Value;
  block.each([&](uint32_t thread) {
    if (is_refused(job)) return;
    for_numbers(block, thread, job.count, [&](int64_t number) {
      Bag bag;
      Total<Type> total{};
      if (!find_bag(job, number, &bag)) return note_change(job, GTH_OPERAND_BAGS);
      for_read_ids(job, bag, [&](int64_t k, int64_t) {
        ++total.count;
        if (job.weights) add_weight<Type>(job, weight_at<Value>(job, bag, k), &total);
      });
      const Value sum = job.weights ? total.weights : static_cast<Value>(total.count);
      as<Value>(job.divisors)[number] = job.pool == GTH_POOL_SQRTN ? root_of(sum) : sum;
    });
  });
}

// Divides the numbers of the gradient by the divisors of their bags.
template <class Value, class Block>
GATHER_KERNEL void divide_gradient_body(Block& block, const BagStepsJob& job) {
  const int64_t width = job.columns * 2;  // of real and imaginary parts
  block.each([&](uint32_t thread) {
    if (is_refused(job)) return;
    for_numbers(block, thread, job.count * width, [&](int64_t i) {
      Value* const number = reinterpret_cast<Value*>(job.divided) + i;
      *number = *number / as<Value>(job.divisors)[quotient_of(i, width)];
    });
  });
}

// Writes the row and the number of each id for the sort. It writes them for refused calls too, because the sort needs
// some.
template <class Block>
GATHER_KERNEL void id_key_body(Block& block, const BagStepsJob& job) {
  const bool refused = is_refused(job);
  const bool raced = block.any([&](uint32_t thread) {
    bool result = false;
    for_numbers(block, thread, job.ids_count, [&](int64_t i) {
      IdPlace place{};
      int64_t row = unread;
      if (!refused && find_id(job, i, &place)) {
        const int64_t id = load_id(job, place.bag, place.k);
        row = row_of_id(job, id);
        result |= has_raced(job, id, row);
      }
      job.keys.slices[i] = static_cast<uint32_t>(row < 0 ? job.rows.size : row);
      job.keys.updates[i] = static_cast<uint32_t>(i);
      job.bag_of[i] = static_cast<uint32_t>(row < 0 ? 0 : place.number);
    });
    return result;
  });
  if (raced) block.once([&] { note_change(job, GTH_OPERAND_INDICES); });
}

// The factors of floating numbers have the type of the sums. Those of integers are weights.
template <class Type>
GATHER_SHARED auto scale_of(const BagStepsJob& job, uint32_t id, uint32_t bag) {
  using Value = typename Type::Value;
  IdPlace place{};
  const bool is_found = job.weights && find_id(job, id, &place);
  const Value weight = is_found ? weight_at<Value>(job, place.bag, place.k) : Value{1};
  if constexpr (std::is_floating_point_v<Value>) {
    const Value divisor = job.divisors ? as<Value>(job.divisors)[bag] : Value{1};
    return divisor == 0 ? Value{0} : weight / divisor;
  } else {
    return weight;
  }
}

// Writes the bags and the factors of the sorted ids.
template <class Type, class Block>
GATHER_KERNEL void scale_body(Block& block, const BagStepsJob& job) {
  block.each([&](uint32_t thread) {
    for_numbers(block, thread, job.ids_count, [&](int64_t i) {
      const uint32_t id = job.keys.updates[i], bag = job.bag_of[id];
      job.sorted_bags[i] = bag;
      if (!job.scales || job.keys.slices[i] == job.rows.size || is_refused(job)) return;
      const auto scale = scale_of<Type>(job, id, bag);
      if constexpr (std::is_integral_v<typename Type::Value>)
        store_integer(job.scales, i, job.item, scale);
      else
        as<typename Type::Value>(job.scales)[i] = scale;
    });
  });
}

// ---- Maxima and minima

// Finds the id that has an element of a bag. Returns false if an id is invalid that was valid before.
template <class Type, int bytes>
GATHER_SHARED bool find_winner(const PoolJob& job, const Bag& bag, int64_t column, int64_t* winner) {
  typename Type::Value best{};
  *winner = -1;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int64_t first = bag.begin; first < bag.end; first += PoolRound<Type, bytes>::count) {
    PoolRound<Type, bytes> round;
    Total<Type> total{};
    if (!load_round(job, bag, first, column, &round)) return false;
    for_rows(round, &total, [&](int i, const Row<Type, bytes>& row) {
      if (*winner >= 0 && !Type::precedes(job.pool == GTH_POOL_MIN, row.at[0], best)) return;
      *winner = first + i;
      best = row.at[0];
    });
  }
  return true;
}

// Finds the winner of each element of each bag.
template <class Type, int bytes, class Block>
GATHER_KERNEL void winner_body(Block& block, const BagStepsJob& job) {
  const bool refused = is_refused(job);
  const bool raced = block.any([&](uint32_t thread) {
    bool result = false;
    if (refused) return false;
    for_columns(block, job, thread, [&](int64_t number, int64_t at) {
      Bag bag;
      int64_t winner = -1;
      if (!find_bag(job, number, &bag))
        note_change(job, GTH_OPERAND_BAGS);
      else
        result |= !find_winner<Type, bytes>(job, bag, column_of(job, at, bytes).updates, &winner);
      if (winner >= 0) winner = number_of_id(job, number, winner);
      const int64_t element = number * job.columns + at;
      if (job.positions)
        job.positions[element] = winner;
      else
        job.winners[element] = static_cast<uint32_t>(winner);
    });
    return result;
  });
  if (raced) block.once([&] { note_change(job, GTH_OPERAND_INDICES); });
}

// Adds the gradients of the bags in which an id of a row has an element, to a column of the row whose first id is
// `first`.
template <class Type, int bytes>
GATHER_SHARED Row<Type, bytes> sum_won(const WonJob& job, uint32_t first, uint64_t row, int64_t column) {
  Row<Type, bytes> sum, other;
  sum.load(Vector<bytes>{});
#ifdef __CUDA_ARCH__
#pragma unroll 4
#endif
  for (uint32_t i = first; i < job.count && job.keys.slices[i] == row; ++i) {
    const int64_t element = int64_t{job.keys.updates[i]} * job.columns + column;
    if (job.winners[element] != job.ids[i]) continue;
    other.load(load_params<bytes>(job.updates + element * bytes));
    sum.template combine<Add>(other);
    if (may_widen<Type> && job.rounds_each) round_sums(&sum);
  }
  return sum;
}

// Computes the gradient of a maximum or minimum.
template <class Type, int bytes, class Block>
GATHER_KERNEL void won_body(Block& block, const WonJob& job) {
  block.each([&](uint32_t thread) {
    if (is_refused(job)) return;
    for_columns(block, job, thread, [&](uint32_t first, int64_t number) {
      const uint64_t row = job.keys.slices[first];
      if (row == job.slices || (first > 0 && job.keys.slices[first - 1] == row)) return;
      char* const to = target_of(job, row, column_of(job, number, bytes));
      store_column<bytes>(to, job.is_aligned, sum_won<Type, bytes>(job, first, row, number).bits());
    });
  });
}

// ---- Ranks of rows

GATHER_SHARED bool is_head(const RankJob& job, int64_t i) {
  const uint32_t row = job.keys.slices[i];
  return row != job.no_row && (i == 0 || job.keys.slices[i - 1] != row);
}

template <class Block>
GATHER_KERNEL void count_heads_body(Block& block, const RankJob& job) {
  block.each([&](uint32_t thread) {
    with_run(block, job.ids, thread, [&](uint32_t run, int64_t first, int64_t last) {
      uint64_t heads = 0;
      for (int64_t i = first; i < last; ++i) heads += is_head(job, i) ? 1u : 0u;
      job.heads[run] = heads;
    });
  });
}

GATHER_SHARED gth_error_record capacity_failure(const RankJob& job, uint64_t count) {
  gth_error_record failure = race_failure(job.sequence, GTH_OPERAND_OUT);
  failure.status = GTH_E_SIZE;
  failure.value = job.capacity;
  failure.limit = static_cast<int64_t>(count);
  return failure;
}

// Counts the rows, and refuses the call if there are too many. One thread does so.
template <class Block>
GATHER_KERNEL void count_rows_body(Block& block, const RankJob& job) {
  block.once([&] {
    uint64_t count = 0;
    for (uint32_t run = 0; run < sum_runs; ++run) count += job.heads[run];
    const bool was_refused = job.is_validated && load(&job.state->is_refused);
    const bool is_too_large = count > static_cast<uint64_t>(job.capacity);
    if (is_too_large && !was_refused) note_failure(job.record, capacity_failure(job, count));
    job.state->is_refused = was_refused || is_too_large;
    if (!was_refused && !is_too_large) *job.written_count = static_cast<int64_t>(count);
  });
}

// Writes the rank of each sorted id, and the rows.
template <class Block>
GATHER_KERNEL void rank_body(Block& block, const RankJob& job) {
  block.each([&](uint32_t thread) {
    if (load(&job.state->is_refused)) return;
    with_run(block, job.ids, thread, [&](uint32_t run, int64_t first, int64_t last) {
      uint64_t rank = 0;
      for (uint32_t i = 0; i < run; ++i) rank += job.heads[i];
      for (int64_t i = first; i < last; ++i) {
        const uint32_t row = job.keys.slices[i];
        if (is_head(job, i))
          store_column<8>(job.unique + static_cast<int64_t>(rank++) * job.unique_stride, job.is_aligned, uint64_t{row});
        job.ranks[i] = row == job.no_row ? no_id : static_cast<uint32_t>(rank - 1);
      }
    });
  });
}

// ---- Gradients of weights

// The type of the products of numbers: that of their sums, or of integers that wrap.
template <class Type>
using Product = std::conditional_t<std::is_floating_point_v<typename Type::Value>, typename Type::Value, uint64_t>;

template <class T>
GATHER_SHARED T multiply_for_dot(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return product_of(a, b);
  else
    return a * b;
}
template <class T>
GATHER_SHARED T add_for_dot(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return sum_of(a, b);
  else
    return a + b;
}

// Returns the dot product of the elements [first, last) of a row and of a gradient. The numbers are added in the order of
// the CPU: in dot_lanes sums, which are then added in pairs.
template <class Type, int bytes>
GATHER_SHARED Product<Type> dot_of_part(const BagStepsJob& job, int64_t row, const char* gradient, int64_t first,
                                        int64_t last) {
  using T = Product<Type>;
  using Stored = typename Type::Stored;
  T sums[dot_lanes] = {};
  const auto number = [](Vector<bytes> bits) { return static_cast<T>(Type::load(same_bits<Stored>(bits))); };
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int64_t base = first; base < last; base += dot_lanes) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int lane = 0; lane < dot_lanes; ++lane) {
      const int64_t i = base + lane;
      if (i >= last) continue;
      const char* const at = job.table + row * job.rows.stride + column_of(job, i, bytes).updates;
      const T a = number(row >= 0 ? load_column<bytes>(at, job.is_aligned) : first_of<bytes>(job.fill));
      const T b = number(load_params<bytes>(gradient + i * bytes));
      sums[lane] = add_for_dot(sums[lane], multiply_for_dot(a, b));
    }
  }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int half = static_cast<int>(dot_lanes) / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) sums[lane] = add_for_dot(sums[lane], sums[lane + half]);
  }
  return sums[0];
}

// Returns the dot product of integers of any size. Their sums wrap, so neither the order nor the higher bits matter.
GATHER_SHARED uint64_t dot_of_integers(const BagStepsJob& job, int64_t row, const char* gradient) {
  uint64_t sum = 0;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int64_t i = 0; i < job.columns; ++i) {
    const char* const at = job.table + row * job.rows.stride + column_of(job, i, job.item).updates;
    const uint64_t number = row >= 0 ? load_integer(at, job.item, job.is_aligned) : job.fill[0];
    sum += number * load_integer(gradient + i * job.item, job.item, true);
  }
  return sum;
}

// The CPU converts numbers of another type than that of the sums a block at a time.
template <class Type, int bytes>
GATHER_SHARED Product<Type> dot_of_row(const BagStepsJob& job, int64_t row, const char* gradient) {
  using T = Product<Type>;
  if constexpr (std::is_integral_v<T>) return dot_of_integers(job, row, gradient);
  if (std::is_same_v<typename Type::Stored, T>) return dot_of_part<Type, bytes>(job, row, gradient, 0, job.columns);
  T sum{};
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int64_t first = 0; first < job.columns; first += block_elements) {
    const int64_t last = first + block_elements;
    sum =
        add_for_dot(sum, dot_of_part<Type, bytes>(job, row, gradient, first, last < job.columns ? last : job.columns));
  }
  return sum;
}

// Computes the product of the row and the gradient of each id.
template <class Type, int bytes, class Block>
GATHER_KERNEL void product_body(Block& block, const BagStepsJob& job) {
  const bool refused = is_refused(job);
  const bool raced = block.any([&](uint32_t thread) {
    bool result = false;
    for_numbers(block, thread, refused ? 0 : job.ids_count, [&](int64_t i) {
      IdPlace place{};
      Product<Type> product{};
      if (find_id(job, i, &place)) {
        const int64_t id = load_id(job, place.bag, place.k), row = row_of_id(job, id);
        const char* const gradient = job.gradient + place.number * job.columns * job.item;
        result |= has_raced(job, id, row);
        if (row != unread) product = dot_of_row<Type, bytes>(job, row, gradient);
      }
      as<Product<Type>>(job.products)[i] = product;
    });
    return result;
  });
  if (raced) block.once([&] { note_change(job, GTH_OPERAND_INDICES); });
}

// Divides the gradients of the weights of a bag. Its output is S / d. The derivative of S by a weight is the product. The
// derivative of d is 1 for a mean, and weight / d for a sqrtn.
template <class Type>
GATHER_SHARED void divide_products(const BagStepsJob& job, int64_t number, const Bag& bag) {
  using T = Product<Type>;
  T* const products = as<T>(job.products);
  const auto weight_of = [&](int64_t k) { return job.weights ? weight_at<T>(job, bag, k) : T{1}; };
  const auto is_read = [&](int64_t k) { return row_of_id(job, load_id(job, bag, k)) != unread; };
  T sum{};
  for (int64_t k = bag.begin; k < bag.end; ++k) {
    if (is_read(k)) sum = sum_of(sum, product_of(weight_of(k), products[number_of_id(job, number, k)]));
  }
  const T divisor = as<T>(job.divisors)[number], output = divisor == 0 ? T{} : sum / divisor;
  for (int64_t k = bag.begin; k < bag.end; ++k) {
    T& product = products[number_of_id(job, number, k)];
    const bool has_none = divisor == 0 || !is_read(k);
    const T growth = job.pool == GTH_POOL_MEAN ? T{1} : weight_of(k) / divisor;
    product = has_none ? T{} : sum_of(product, -product_of(growth, output)) / divisor;
  }
}

template <class Type, class Block>
GATHER_KERNEL void divide_products_body(Block& block, const BagStepsJob& job) {
  block.each([&](uint32_t thread) {
    if (is_refused(job)) return;
    for_numbers(block, thread, job.count, [&](int64_t number) {
      Bag bag;
      if (find_bag(job, number, &bag)) divide_products<Type>(job, number, bag);
    });
  });
}

// Converts the gradients of the weights to their dtype.
template <class Type, class Block>
GATHER_KERNEL void store_weight_body(Block& block, const BagStepsJob& job) {
  using T = Product<Type>;
  using Stored = typename Type::Stored;
  block.each([&](uint32_t thread) {
    if (is_refused(job)) return;
    for_numbers(block, thread, job.ids_count, [&](int64_t i) {
      const T product = as<T>(job.products)[i];
      if constexpr (std::is_floating_point_v<T>) {
        if (job.has_float32_weights)
          reinterpret_cast<float*>(job.weight_gradients)[i] = static_cast<float>(product);
        else
          reinterpret_cast<Stored*>(job.weight_gradients)[i] = Type::store(product);
      } else {
        reinterpret_cast<Stored*>(job.weight_gradients)[i] = static_cast<Stored>(product);
      }
    });
  });
}

// ---- from the decisions of the host to the compiled kernels

template <BagStep step, class Type, int bytes, class Block>
GATHER_KERNEL void step_body(Block& block, const BagStepsJob& job) {
  if constexpr (step == BagStep::divisors) divisor_body<Type>(block, job);
  if constexpr (step == BagStep::scales) scale_body<Type>(block, job);
  if constexpr (step == BagStep::winners) winner_body<Type, bytes>(block, job);
  if constexpr (step == BagStep::products) product_body<Type, bytes>(block, job);
  if constexpr (step == BagStep::divided_products) divide_products_body<Type>(block, job);
  if constexpr (step == BagStep::weights) store_weight_body<Type>(block, job);
}

template <BagStep step_, class Type_, int bytes_>
struct StepKind {
  static constexpr BagStep step = step_;
  static constexpr int bytes = bytes_;
  using Type = Type_;
};

// The type of the numbers of a kernel. Integers of all sizes have one kernel unless they are compared or stored. Factors of
// numbers of 2 bytes are those of float32.
template <BagStep step, class Type>
constexpr bool merges_integers =
    std::is_integral_v<typename Type::Value> && (step == BagStep::scales || step == BagStep::products);
template <BagStep step, class Type>
constexpr bool merges_halves =
    may_widen<Type> && (step == BagStep::divisors || step == BagStep::scales || step == BagStep::divided_products);
template <BagStep step, class Type>
using StepNumbers = std::conditional_t<merges_integers<step, Type>, Integers<uint64_t>,
                                       std::conditional_t<merges_halves<step, Type>, Floats<float>, Type>>;

// Only floating numbers have divisors. Complex numbers have scales of 1.
template <BagStep step, class Visit>
int visit_step_of(Numbers numbers, Visit&& visit) {
  return visit_pooled(numbers, false, [&](auto type, auto bytes) {
    using Type = StepNumbers<step, decltype(type)>;
    constexpr bool is_complex = decltype(bytes)::value != sizeof(typename decltype(type)::Stored);
    constexpr bool is_floating = std::is_floating_point_v<typename Type::Value>;
    constexpr bool divides = step == BagStep::divisors || step == BagStep::divided_products;
    if constexpr (divides ? !is_floating : is_complex && step != BagStep::scales)
      return 0;  // the host never selects it
    else
      return visit(StepKind<step, Type, static_cast<int>(sizeof(typename Type::Stored))>{});
  });
}

// Calls visit(Type{}) for the numbers of a maximum.
template <class Visit>
int visit_won(Numbers numbers, Visit&& visit) {
  return visit_pooled(numbers, false, [&](auto type, auto bytes) {
    using Type = decltype(type);
    if constexpr (decltype(bytes)::value != sizeof(typename Type::Stored))
      return 0;  // complex numbers have no maximum
    else
      return visit(type);
  });
}

// Calls visit(StepKind<..>{}) for a step.
template <class Visit>
int visit_step(BagStep step, Numbers numbers, Visit&& visit) {
  switch (step) {
    case BagStep::divisors: return visit_step_of<BagStep::divisors>(numbers, visit);
    case BagStep::scales: return visit_step_of<BagStep::scales>(numbers, visit);
    case BagStep::winners: return visit_step_of<BagStep::winners>(numbers, visit);
    case BagStep::products: return visit_step_of<BagStep::products>(numbers, visit);
    case BagStep::divided_products: return visit_step_of<BagStep::divided_products>(numbers, visit);
    default: return visit_step_of<BagStep::weights>(numbers, visit);
  }
}

}  // namespace gather::cuda
