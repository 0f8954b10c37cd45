#pragma once

#include "cpu/tiers/decode.hpp"

// Pools packed rows. The sums have float32, and rows are added in the order of their ids. Part of body.hpp.
namespace gather::cpu {
namespace {

// How a row is added to the sums.
enum class Adding {
  sum,
  weighted,
  bias_first,           // as torch does: the bias, and then the product of the code and the scale
  weighted_bias_first,  // The weight multiplies the scale and the bias.
};

constexpr bool is_weighted(Adding adding) {
  return adding == Adding::weighted || adding == Adding::weighted_bias_first;
}

// Numbers of a block along all rows: the places of the codes, the scale and the zero point from those of the first block
// of a row on, and the number of the first one in the block.
struct Numbered {
  int64_t codes, scale, zero, first;
};

// The first sums of two chunks.
alignas(64) constexpr float no_sums[2 * chunk_numbers] = {};

// Rows of a part that are added to the sums of one bag.
struct BagPart {
  const Part& part;
  Adding adding;
  int64_t first, end;    // rows of the part
  const float* weights;  // of the rows of the part
  float* sums;
  bool is_first;  // The sums begin with 0.

  // Returns the address of the sums from number k on.
  GATHER_INLINE const char* start(int64_t k) const {
    return reinterpret_cast<const char*>(is_first ? no_sums : sums + k);
  }
  template <class V>
  GATHER_INLINE void finish(int64_t k, V sum) const {
    store_numbers(reinterpret_cast<char*>(sums + k), sum);
  }
};

// ---- Additions. Some numbers along all rows at a time have their sums in registers.

// The rows of a bag in local variables.
struct LocalRows {
  const char *const *const codes, *const *const next, *const *const scales, *const *const zeros;
  const int64_t scale_at, zero_at;
  const float* const weights;

  GATHER_INLINE explicit LocalRows(const BagPart& bag)
      : codes(bag.part.codes),
        next(bag.part.next),
        scales(bag.part.scales.rows()),
        zeros(bag.part.zeros.rows()),
        scale_at(bag.part.scales.offset()),
        zero_at(bag.part.zeros.offset()),
        weights(bag.weights) {}

  // Returns the address of the codes of row i. It is one address for all vectors.
  GATHER_INLINE const char* codes_of(int64_t i, const Numbered& at) const {
    const char* from = codes[i] + at.codes;
    asm("" : "+r"(from));
    return from;
  }
  // Prefetches the same codes of the row of the next step.
  GATHER_INLINE void fetch(int64_t i, const Numbered& at) const { __builtin_prefetch(next[i] + at.codes, 0, 3); }
  GATHER_INLINE const char* scale_of(int64_t i, const Numbered& at) const { return scales[i] + scale_at + at.scale; }
  GATHER_INLINE const char* zero_of(int64_t i, const Numbered& at) const { return zeros[i] + zero_at + at.zero; }
};

// The scale, the zero point or bias, and the weight of a vector.
template <class V>
struct Factors {
  V scale, zero, weight;
};

template <Formula formula, Adding adding, class V>
GATHER_INLINE V add_to(V sum, V code, const Factors<V>& by) {
  if constexpr (adding == Adding::sum) return sum + value_of<formula>(code, by.scale, by.zero);
  if constexpr (adding == Adding::weighted) {
    return Floats::multiply_add(by.weight, value_of<formula>(code, by.scale, by.zero), sum);
  }
  return Floats::multiply_add(by.scale, code, sum + by.zero);  // The factors include the weight.
}

// Adds chunks by one formula.
template <class Codes, Formula formula, Adding adding>
struct ChunkAdder {
  static void add_one(const BagPart& bag, int64_t k, const Numbered& at) {
    const Codes codes(bag.part.tables());
    const LocalRows rows(bag);
    Chunk sums = chunk_of(bag.start(k));
    for (int64_t i = bag.first, end = bag.end; i < end; ++i) {
      rows.fetch(i, at);
      add(codes, rows, i, at, &sums);
    }
    finish(bag, k, sums);
  }

  // Adds a chunk of two blocks.
  static void add_halves(const BagPart& bag, int64_t k, const Numbered& at, const Numbered& second) {
    if constexpr (Codes::has_half_chunks) {
      const Codes codes(bag.part.tables());
      const LocalRows rows(bag);
      Chunk sums = chunk_of(bag.start(k));
      for (int64_t i = bag.first, end = bag.end; i < end; ++i) {
        rows.fetch(i, at);
        const Factors<Values> by[2] = {factors_of(rows, i, at), factors_of(rows, i, second)};
        const Chunk chunk = codes.chunk(rows.codes_of(i, at));
#pragma GCC unroll 8
        for (int64_t v = 0; v < Chunk::count; ++v) {
          sums.vectors[v] = add_to<formula, adding>(sums.vectors[v], chunk.vectors[v], by[v * 2 / Chunk::count]);
        }
      }
      finish(bag, k, sums);
    }
  }

  // Adds two chunks, so that fewer sums wait for the sum before them.
  static void add_two(const BagPart& bag, int64_t k, const Numbered& at, const Numbered& second) {
    const Codes codes(bag.part.tables());
    const LocalRows rows(bag);
    const char* const from = bag.start(k);
    Chunk sums = chunk_of(from), more = chunk_of(from + chunk_numbers * float_bytes);
    for (int64_t i = bag.first, end = bag.end; i < end; ++i) {
      rows.fetch(i, at);
      add(codes, rows, i, at, &sums);
      add(codes, rows, i, second, &more);
    }
    finish(bag, k, sums);
    finish(bag, k + chunk_numbers, more);
  }

  // Adds four chunks of one block. Only vectors of 16 numbers have registers for so many sums.
  static void add_four(const BagPart& bag, int64_t k, const Numbered& at) {
    constexpr int64_t bytes = chunk_numbers * Codes::bits / 8;
    const Codes codes(bag.part.tables());
    const LocalRows rows(bag);
    Chunk sums[4];
#pragma GCC unroll 4
    for (int64_t c = 0; c < 4; ++c) sums[c] = chunk_of(bag.start(k + c * chunk_numbers));
    for (int64_t i = bag.first, end = bag.end; i < end; ++i) {
      for (int64_t line = 0; line < 4 * bytes; line += 64) rows.fetch(i, {at.codes + line, 0, 0, 0});
      const Factors<Values> by = factors_of(rows, i, at);
      const char* const from = rows.codes_of(i, at);
#pragma GCC unroll 4
      for (int64_t c = 0; c < 4; ++c) add_chunk(codes.chunk(from + c * bytes), by, &sums[c]);
    }
#pragma GCC unroll 4
    for (int64_t c = 0; c < 4; ++c) finish(bag, k + c * chunk_numbers, sums[c]);
  }

 private:
  static GATHER_INLINE void add(const Codes& codes, const LocalRows& rows, int64_t i, const Numbered& at, Chunk* sums) {
    const Factors<Values> by = factors_of(rows, i, at);
    add_chunk(codes.chunk(rows.codes_of(i, at)), by, sums);
  }
  static GATHER_INLINE void add_chunk(const Chunk& chunk, const Factors<Values>& by, Chunk* sums) {
#pragma GCC unroll 8
    for (int64_t v = 0; v < Chunk::count; ++v) {
      sums->vectors[v] = add_to<formula, adding>(sums->vectors[v], chunk.vectors[v], by);
    }
  }
  static GATHER_INLINE Factors<Values> factors_of(const LocalRows& rows, int64_t i, const Numbered& at) {
    Factors<Values> by{scale_at<Codes>(rows.scale_of(i, at)), {}, {}};
    if constexpr (formula != Formula::product) by.zero = zero_at<Codes>(rows.zero_of(i, at));
    if constexpr (is_weighted(adding)) by.weight = all_of<lanes>(rows.weights[i]);
    if constexpr (adding == Adding::weighted_bias_first) by.scale *= by.weight, by.zero *= by.weight;
    return by;
  }
  static GATHER_INLINE Chunk chunk_of(const char* sums) {
    Chunk chunk;
#pragma GCC unroll 8
    for (int64_t v = 0; v < Chunk::count; ++v) chunk.vectors[v] = values_at(sums + v * lanes * float_bytes);
    return chunk;
  }
  static GATHER_INLINE void finish(const BagPart& bag, int64_t k, const Chunk& sums) {
#pragma GCC unroll 8
    for (int64_t v = 0; v < Chunk::count; ++v) bag.finish(k + v * lanes, sums.vectors[v]);
  }
};

// Adds vectors and single numbers by any formula.
template <class Codes>
struct AnyAdder {
  // Returns the sums of a vector whose first number is number k of the part.
  static Values vector_of(const BagPart& bag, int64_t k, const Numbered& at) { return sums_of<lanes>(bag, k, at); }
  __attribute__((cold)) static float number_of(const BagPart& bag, int64_t k, const Numbered& at) {
    return sums_of<1>(bag, k, at);
  }

 private:
  template <int64_t n>
  static GATHER_INLINE F<n> factor_at(const char* at, bool has_columns) {
    return has_columns ? load_numbers<float, n>(at) : all_of<n>(float_at(at));
  }

  template <int64_t n>
  static GATHER_INLINE F<n> sums_of(const BagPart& bag, int64_t k, const Numbered& at) {
    const Codes codes(bag.part.tables());
    const LocalRows rows(bag);
    const bool has_columns = bag.part.blocks.has_columns, is_bias_first = bag.adding >= Adding::bias_first;
    F<n> sum = load_numbers<float, n>(bag.start(k));
    for (int64_t i = bag.first; i < bag.end; ++i) {
      const F<n> code = codes.template at<n>(rows.codes[i] + at.codes, at.first);
      F<n> scale = factor_at<n>(rows.scale_of(i, at), has_columns),
           zero = factor_at<n>(rows.zero_of(i, at), has_columns);
      const F<n> weight = all_of<n>(is_weighted(bag.adding) ? rows.weights[i] : 1);
      if (is_bias_first) {
        sum = Floats::multiply_add(scale * weight, code, sum + zero * weight);
      } else {
        const F<n> value = value_of(bag.part.formula, code, scale, zero);
        sum = is_weighted(bag.adding) ? Floats::multiply_add(weight, value, sum) : sum + value;
      }
    }
    return sum;
  }
};

// There are no such functions.
struct NoAdder {
  static constexpr void (*add_one)(const BagPart&, int64_t, const Numbered&) = nullptr;
  static constexpr void (*add_two)(const BagPart&, int64_t, const Numbered&, const Numbered&) = nullptr;
  static constexpr void (*add_halves)(const BagPart&, int64_t, const Numbered&, const Numbered&) = nullptr;
  static constexpr void (*add_four)(const BagPart&, int64_t, const Numbered&) = nullptr;
  static constexpr Values (*vector_of)(const BagPart&, int64_t, const Numbered&) = nullptr;
  static constexpr float (*number_of)(const BagPart&, int64_t, const Numbered&) = nullptr;
};

// The functions that add the numbers of blocks.
struct BlockAdders {
  int64_t bits, step;
  float chunk_divisor;
  void (*add_one_chunk)(const BagPart&, int64_t, const Numbered&);  // NULL: There are none for chunks.
  void (*add_two_chunks)(const BagPart&, int64_t, const Numbered&, const Numbered&);
  void (*add_halves)(const BagPart&, int64_t, const Numbered&, const Numbered&);  // or NULL
  void (*add_four_chunks)(const BagPart&, int64_t, const Numbered&);              // or NULL
  Values (*vector_of)(const BagPart&, int64_t, const Numbered&);
  float (*number_of)(const BagPart&, int64_t, const Numbered&);
};

// ---- Rows of blocks

// Adds all numbers of rows.
class RowAdder {
 public:
  RowAdder(const BagPart& bag, const BlockAdders& adders, bool has_chunks)
      : bag_(bag), adders_(adders), has_chunks_(has_chunks) {}

  void add() const {
    const SomeBlocks& blocks = bag_.part.blocks;
    Numbered at{0, 0, 0, blocks.in_block};
    if (blocks.has_columns) return add_numbers(0, blocks.n, {0, 0, 0, 0});
    for (int64_t k = 0; k < blocks.n; advance(&at)) {
      if (has_chunks_ && adders_.add_halves && bag_.part.shape == Shape::halves_of_chunks) {
        const Numbered first = at;
        advance(&at);
        adders_.add_halves(bag_, k, first, at);
        k += chunk_numbers;
        continue;
      }
      if (has_chunks_ && blocks.block_values == chunk_numbers && at.first == 0 && blocks.n - k >= 2 * chunk_numbers) {
        const Numbered first = at;
        advance(&at);
        adders_.add_two_chunks(bag_, k, first, at);
        k += 2 * chunk_numbers;
        continue;
      }
      const int64_t left = blocks.block_values - at.first, n = blocks.n - k < left ? blocks.n - k : left;
      add_numbers(k, n, at);
      k += n;
    }
  }

 private:
  // Adds n numbers of a block, or those of a row with a scale for each number. The first one is number k of the part.
  void add_numbers(int64_t k, int64_t n, const Numbered& at) const {
    int64_t j = 0;
    if (at.first % adders_.step == 0) {
      // The last vector overlaps the one before it, so its sums are computed first and stored last.
      const bool overlaps = n >= lanes && n % lanes != 0 && n % adders_.step == 0;
      Values last{};
      if (overlaps) last = adders_.vector_of(bag_, k + n - lanes, moved(at, n - lanes));
      if (has_chunks_ && !bag_.part.blocks.has_columns) {
        for (; adders_.add_four_chunks && j + 4 * chunk_numbers <= n; j += 4 * chunk_numbers) {
          adders_.add_four_chunks(bag_, k + j, chunk_at(at, j));
        }
        for (; j + 2 * chunk_numbers <= n; j += 2 * chunk_numbers) {
          adders_.add_two_chunks(bag_, k + j, chunk_at(at, j), chunk_at(at, j + chunk_numbers));
        }
        for (; j + chunk_numbers <= n; j += chunk_numbers) adders_.add_one_chunk(bag_, k + j, chunk_at(at, j));
      }
      for (; j + lanes <= n; j += lanes) bag_.finish(k + j, adders_.vector_of(bag_, k + j, moved(at, j)));
      if (overlaps) return bag_.finish(k + n - lanes, last);
    }
    for (; j < n; ++j) bag_.finish(k + j, adders_.number_of(bag_, k + j, moved(at, j)));
  }

  Numbered moved(Numbered at, int64_t numbers) const {
    at.first += numbers;
    if (bag_.part.blocks.has_columns) at.scale += numbers * float_bytes, at.zero += numbers * float_bytes;
    return at;
  }
  // Returns the place of a chunk.
  Numbered chunk_at(Numbered at, int64_t numbers) const {
    at.codes += (at.first + numbers) * adders_.bits / 8;
    return at;
  }
  void advance(Numbered* at) const {
    at->codes += bag_.part.codec.block_bytes;
    at->scale += bag_.part.scales.step();
    at->zero += bag_.part.zeros.step();
    at->first = 0;
  }

  const BagPart& bag_;
  const BlockAdders& adders_;
  const bool has_chunks_;
};

// Adds rows of blocks of a format by name.
template <class Block, bool weighs>
void add_named(const BagPart& bag) {
  const int64_t n = bag.part.blocks.n;
  const float factor = bag.part.codec.factor;
  if (bag.is_first) __builtin_memset(bag.sums, 0, static_cast<size_t>(n * float_bytes));
  for (int64_t i = bag.first; i < bag.end; ++i) {
    const Values weight = all_of<lanes>(weighs ? bag.weights[i] : 1);
    const char* at = bag.part.codes[i];
    char* sums = reinterpret_cast<char*>(bag.sums);
    bag.part.prefetcher.fetch(bag.part.next[i]);
    for (int64_t k = 0; k < n; k += Block::values, at += Block::bytes, sums += Block::values * float_bytes) {
      decode_named<Block>(at, factor, [=](int64_t j, Values value) __attribute__((always_inline)) {
        const Values sum = values_at(sums + j * float_bytes);
        store_values(sums, j, weighs ? Floats::multiply_add(weight, value, sum) : sum + value);
      });
    }
  }
}

// ---- Bags

// How the rows of a codec are added: by the functions for blocks, or by one function for a format by name.
struct PackedAdding {
  Adding adding;
  BlockAdders blocks;
  void (*named)(const BagPart&);  // or NULL
};

// Pools bags in steps of some rows, whose scales are read together.
class PackedPooler {
 public:
  PackedPooler(const BagRows& bags, const PackedAdding& how)
      : bags_(bags),
        how_(how),
        part_(*bags.packed, bags.first, bags.elements),
        sums_(static_cast<float*>(bags.sums)),
        fetches_(!how.named && !how.blocks.add_one_chunk) {
    part_.limit(bag_step_bytes);
  }

  const int64_t* pool() {
    next_ = bags_.begin[0];
    if (const int64_t* bad = find_next()) return bad;
    int64_t done = 0;  // rows of this step
    for (int64_t bag = 0; bag < bags_.bags; ++bag) {
      bool is_first = bags_.is_first;
      for (int64_t k = bags_.begin[bag]; k < bags_.begin[bag + 1];) {
        if (done == part_.rows) {
          begin_step();
          if (const int64_t* bad = find_next()) return bad;
          done = 0;
        }
        const int64_t in_bag = bags_.begin[bag + 1] - k, left = part_.rows - done, n = in_bag < left ? in_bag : left;
        const auto weights = static_cast<const float*>(bags_.weights);
        add({part_, how_.adding, done, done + n, weights ? weights + k - done : nullptr, sums_, is_first});
        is_first = false;
        k += n, done += n;
      }
      if (is_first) __builtin_memset(sums_, 0, static_cast<size_t>(bags_.elements * float_bytes));
      if (bags_.is_last) write(bag);
    }
    return nullptr;
  }

 private:
  void add(const BagPart& part) const {
    how_.named ? how_.named(part) : RowAdder(part, how_.blocks, has_chunks_).add();
  }

  void begin_step() {
    part_.begin_step();
    const BlockAdders& blocks = how_.blocks;
    has_chunks_ = blocks.add_one_chunk && (blocks.chunk_divisor == 1 || part_.has_small_scales(blocks.chunk_divisor));
  }

  // Finds the rows of the next step, and prefetches them. Returns an id that is out of bounds, or NULL.
  const int64_t* find_next() {
    const int64_t first = row_number(bags_.table), stride = bags_.stride, count = rows_of_step();
    const int64_t* const ids = bags_.ids + next_;
    const auto rows = static_cast<uint64_t>(bags_.rows);
    const auto number_of = [=](int64_t i, int64_t* number) __attribute__((always_inline)) {
      const int64_t id = Scalar::load<int64_t>(reinterpret_cast<const char*>(ids + i));
      *number = first + id * stride;
      return static_cast<uint64_t>(id) < rows;
    };
    const RowPrefetcher prefetcher = part_.prefetcher;
    const int64_t fetched = fetches_ ? 0 : part_.rows;  // rows that the functions for rows prefetch, but for their ends
    // A compiler may remove the call of a function that only prefetches, so it must be inlined.
    const auto fetch = [=](int64_t i, const char* row) __attribute__((always_inline)) {
      i < fetched ? prefetcher.fetch_end(row) : prefetcher.fetch(row);
    };
    const int64_t found = part_.set_next(count, number_of, fetch);
    next_ += count;
    return found < count ? ids + found : nullptr;
  }

  // Returns the number of rows of the next step: whole bags, or a part of a large one. So most bags are added at once.
  int64_t rows_of_step() {
    const int64_t* const begin = bags_.begin;
    const int64_t most = next_ + part_.at_once();
    while (next_bag_ < bags_.bags && begin[next_bag_ + 1] <= most) ++next_bag_;
    if (begin[next_bag_] > next_) return begin[next_bag_] - next_;
    return next_bag_ < bags_.bags ? part_.at_once() : 0;
  }

  void write(int64_t bag) const {
    char* const out = bags_.out + bag * bags_.out_stride;
    if (!bags_.divisors) {
      __builtin_memcpy(out, sums_, static_cast<size_t>(bags_.elements * float_bytes));
      return;
    }
    const float divisor = static_cast<const float*>(bags_.divisors)[bag];
    for (int64_t i = 0; i < bags_.elements; ++i) store_numbers(out + i * float_bytes, sums_[i] / divisor);
  }

  const BagRows& bags_;
  const PackedAdding& how_;
  Part part_;
  float* const sums_;
  int64_t next_ = 0, next_bag_ = 0;  // the next id, and the bag that has it
  bool has_chunks_ = false;          // Chunks are added at once.
  const bool fetches_;               // The functions that add rows do not prefetch those of the next step.
};

__attribute__((noinline)) const int64_t* pool_packed(const BagRows& bags, const PackedAdding& how) {
  PackedPooler pooler(bags, how);
  return pooler.pool();
}

// ---- Choice

// Codes of 2 bits have chunks only if they have biases.
template <class Codes, Formula formula>
constexpr bool adds_chunks = Codes::bits > 2 || formula == Formula::fused;

// Blocks of GGUF are whole chunks.
template <class Codes>
using AnyAdderOf = std::conditional_t<Codes::has_float16_scales, NoAdder, AnyAdder<Codes>>;

template <Adding adding, class Codes, Formula formula>
const int64_t* pool_format(const BagRows& bags, Frequent<Codes, formula>) {
  using Chunks = std::conditional_t<adds_chunks<Codes, formula>, ChunkAdder<Codes, formula, adding>, NoAdder>;
  using Any = AnyAdderOf<Codes>;
  return pool_packed(bags, {adding,
                            {Codes::bits, Codes::step, Codes::chunk_divisor, Chunks::add_one, Chunks::add_two,
                             Codes::has_half_chunks ? Chunks::add_halves : nullptr,
                             Chunk::count == 2 && !Codes::has_float16_scales ? Chunks::add_four : nullptr,
                             Any::vector_of, Any::number_of},
                            nullptr});
}

template <class Codes>
__attribute__((noinline)) const int64_t* pool_rare(const BagRows& bags, Adding adding) {
  using Any = AnyAdder<Codes>;
  return pool_packed(bags,
                     {adding,
                      {Codes::bits, Codes::step, 1, nullptr, nullptr, nullptr, nullptr, Any::vector_of, Any::number_of},
                      nullptr});
}
template <Adding adding, class Codes>
const int64_t* pool_format(const BagRows& bags, Rare<Codes>) {
  return pool_rare<Codes>(bags, adding);
}

template <Adding adding, class Block>
const int64_t* pool_format(const BagRows& bags, Named<Block>) {
  return pool_packed(bags, {adding, {}, add_named<Block, is_weighted(adding)>});
}

template <class Format, Adding adding>
const int64_t* pool_with(const BagRows& bags) {
  return pool_format<adding>(bags, Format{});
}

// Returns true if there are biases, which can be added first.
template <class Format>
constexpr bool has_biases = false;
template <class Codes>
constexpr bool has_biases<Frequent<Codes, Formula::fused>> = true;
template <class Codes>
constexpr bool has_biases<Rare<Codes>> = true;

// Returns the kernel of a format.
template <class Format>
PoolBags pooling_of(bool weighs, [[maybe_unused]] bool is_bias_first) {
  if constexpr (has_biases<Format>) {
    if (is_bias_first)
      return weighs ? pool_with<Format, Adding::weighted_bias_first> : pool_with<Format, Adding::bias_first>;
  }
  return weighs ? pool_with<Format, Adding::weighted> : pool_with<Format, Adding::sum>;
}

PoolBags choose_packed_pooling(const Codec& codec, bool weighs, bool as_torch) {
  const bool is_bias_first = as_torch && codec.rule == Rule::fused;
  return with_format(codec, [=](auto format) { return pooling_of<decltype(format)>(weighs, is_bias_first); });
}

}  // namespace
}  // namespace gather::cpu
