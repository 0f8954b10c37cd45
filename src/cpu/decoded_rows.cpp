#include "cpu/decoded_rows.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/moved.hpp"
#include "core/base/noinline.hpp"
#include "cpu/bag_kernels.hpp"
#include "cpu/bag_rows.hpp"
#include "cpu/load.hpp"

namespace gather::cpu {
namespace {

// Pools bags one by one. Sums, maxima and minima are float32. The result is rounded once.
class DecodedPooler {
 public:
  DecodedPooler(const Decoding& how, const BagRows& bags, const float* filled)
      : how_(how),
        bags_(bags),
        filled_(filled),
        sums_(static_cast<float*>(bags.sums)),
        is_half_(how.pooled.item == 2),
        convert_(is_half_ ? how.tier.choose_accumulate(how.pooled.number, GTH_REDUCTION_ADD) : Accumulate{}) {
    if (is_extreme(how.pooled.pool)) {
      combine_ = how.tier.choose_reduce(core::Number::floating, sizeof(float), reduction(), row_bytes());
    } else {
      weigh_ = how.tier.choose_weighted(core::Number::floating, sizeof(float));
    }
  }

  const int64_t* pool(int64_t bag) {
    return how_.add && !filled_ && !how_.pooled.rounds_each ? add_at_once(bag) : pool_each(bag);
  }

 private:
  int32_t reduction() const { return reduction_of(how_.pooled.pool); }
  int64_t row_bytes() const { return bags_.elements * int64_t{sizeof(float)}; }

  // The kernel leaves the sums, of which halves are made.
  const int64_t* add_at_once(int64_t bag) {
    BagRows one = bags_;
    one.begin += bag;
    one.bags = 1;
    one.is_last = false;
    const int64_t* const bad = how_.add(one);
    if (!bad && bags_.is_last) write(bag);
    return bad;
  }

  const int64_t* pool_each(int64_t bag) {
    if (bags_.is_first) start();
    for (int64_t k = bags_.begin[bag]; k < bags_.begin[bag + 1]; ++k) {
      const int64_t id = load_index<int64_t>(reinterpret_cast<const char*>(bags_.ids + k));
      const bool is_inside = static_cast<uint64_t>(id) < static_cast<uint64_t>(bags_.rows);
      if (!is_inside && !(filled_ && id == row_of_fill)) return bags_.ids + k;
      is_inside ? pool_row(id, k) : pool_floats(filled_, k);
      if (how_.pooled.rounds_each && is_half_) round(sums_);
    }
    if (bags_.is_last) write(bag);
    return nullptr;
  }

  void start() {
    const uint64_t value = core::identity_of(core::Number::floating, sizeof(float), reduction());
    float first;
    std::memcpy(&first, &value, sizeof first);
    std::fill_n(sums_, bags_.elements, first);
  }

  // The kernel of sums has rules of its own for the bias, so it also adds single rows.
  void pool_row(int64_t id, int64_t k) {
    if (how_.add) {
      const int64_t ends[2] = {k, k + 1};
      BagRows one = bags_;
      one.begin = ends;
      one.readable = k + 1;
      one.bags = 1;
      one.is_first = one.is_last = false;
      how_.add(one);
    } else {
      pool_decoded(id, k);
    }
  }

  GATHER_NOINLINE void pool_decoded(int64_t id, int64_t k) {
    alignas(64) float row[most_decoded];
    how_.decode(*bags_.packed, row_number(bags_.table) + id * bags_.stride, bags_.first, bags_.elements, row);
    pool_floats(row, k);
  }

  void pool_floats(const float* row, int64_t k) {
    const char* const from = reinterpret_cast<const char*>(row);
    constexpr int64_t zero = 0;
    constexpr float one = 1;
    if (combine_) return combine_(reinterpret_cast<char*>(sums_), &zero, from, &zero, 1, row_bytes());
    const bool weighs = how_.pooled.pool == Pool::weighted_sum;
    weigh_(from, bags_.elements, weighs ? static_cast<const float*>(bags_.weights) + k : &one, sums_);
  }

  void write(int64_t bag) {
    if (bags_.divisors) {
      const float divisor = static_cast<const float*>(bags_.divisors)[bag];
      for (int64_t i = 0; i < bags_.elements; ++i) sums_[i] /= divisor;
    }
    if (writes_halves()) {
      convert_.store(sums_, bags_.elements, out(bag));
    } else {
      std::memcpy(out(bag), sums_, static_cast<size_t>(row_bytes()));
    }
  }

  // Rounds numbers to the dtype of the table.
  GATHER_NOINLINE void round(float* values) const {
    char rounded[most_decoded * 2];
    convert_.store(values, bags_.elements, rounded);
    convert_.load(rounded, bags_.elements, values);
  }

  bool writes_halves() const { return is_half_ && !bags_.widens; }
  char* out(int64_t bag) const { return core::moved(bags_.out, bag * bags_.out_stride); }

  const Decoding& how_;
  const BagRows& bags_;
  const float* const filled_;
  float* const sums_;
  const bool is_half_;
  const Accumulate convert_;
  WriteRows combine_ = nullptr;
  AddWeighted weigh_ = nullptr;
};

// Plain sums do not need the frame of a pooler.
GATHER_NOINLINE const int64_t* pool_bag_by_bag(const Decoding& how, const BagRows& bags, const float* filled) {
  DecodedPooler pooler(how, bags, filled);
  for (int64_t bag = 0; bag < bags.bags; ++bag) {
    if (const int64_t* bad = pooler.pool(bag)) return bad;
  }
  return nullptr;
}

}  // namespace

const int64_t* pool_decoded_rows(const Decoding& how, const BagRows& bags, const float* filled) {
  const bool is_plain = how.add && !filled && !how.pooled.rounds_each && (how.pooled.item == 4 || bags.widens);
  return is_plain ? how.add(bags) : pool_bag_by_bag(how, bags, filled);
}

}  // namespace gather::cpu
