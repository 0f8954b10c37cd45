#include "cpu/bag_rows.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/limits.hpp"
#include "core/base/moved.hpp"
#include "cpu/bag_kernels.hpp"
#include "cpu/load.hpp"

namespace gather::cpu {
namespace {

template <class T>
void divide(void* sums, int64_t n, const void* divisors, int64_t bag) {
  const auto numbers = static_cast<T*>(sums);
  const T divisor = static_cast<const T*>(divisors)[bag];
  for (int64_t i = 0; i < n; ++i) numbers[i] /= divisor;
}

// Pools rows with the kernels of scatters. The kernel of a reduction computes maxima, minima, and unweighted sums in the
// type of the table. The weighted kernel computes the other sums, those of halves in float32.
class RowPooler {
 public:
  RowPooler(const Pooled& pooled, const Tier& tier, const BagRows& bags, const char* filled)
      : pooled_(pooled),
        bags_(bags),
        filled_(filled),
        is_half_(core::is_floating(pooled.number) && pooled.item == 2),
        combines_(is_extreme(pooled.pool) || (pooled.pool == Pool::sum && (!is_half_ || pooled.rounds_each))),
        sum_item_(is_half_ && !combines_ ? int64_t{sizeof(float)} : pooled.item) {
    if (combines_)
      combine_ = tier.choose_reduce(pooled.number, pooled.item, reduction_of(pooled.pool), bags.elements * pooled.item);
    else
      add_ = tier.choose_weighted(pooled.number, pooled.item);
    if (is_half_) convert_ = tier.choose_accumulate(pooled.number, GTH_REDUCTION_ADD);
  }

  // Returns NULL, or the first id that is out of bounds.
  const int64_t* pool(int64_t bag) {
    if (bags_.is_first) start();
    int64_t from[block_rows], n = 0;
    for (int64_t k = bags_.begin[bag]; k < bags_.begin[bag + 1]; ++k) {
      const int64_t id = load_index<int64_t>(reinterpret_cast<const char*>(bags_.ids + k));
      if (static_cast<uint64_t>(id) < static_cast<uint64_t>(bags_.rows)) {
        from[n++] = id * bags_.stride;
      } else if (filled_ && id == row_of_fill) {
        from[n++] = filled_ - bags_.table;
      } else {
        return bags_.ids + k;
      }
      if (!combines_) {
        add(core::moved(bags_.table, from[0]), k);
        n = 0;
      } else if (n == block_rows) {
        combine(from, n);
        n = 0;
      }
    }
    combine(from, n);
    if (bags_.is_last) write(bag);
    return nullptr;
  }

 private:
  void start() {
    const uint64_t value = core::identity_of(pooled_.number, pooled_.item, reduction_of(pooled_.pool));
    for (int64_t i = 0; i < bags_.elements; ++i) {
      std::memcpy(core::moved(sums(), i * sum_item_), &value, static_cast<size_t>(sum_item_));
    }
  }

  void combine(const int64_t* from, int64_t n) {
    static constexpr int64_t zeros[block_rows]{};
    if (n > 0) combine_(sums(), zeros, bags_.table, from, n, bags_.elements * pooled_.item);
  }

  void add(const char* row, int64_t k) {
    constexpr float one = 1;
    const void* const weight =
        pooled_.pool == Pool::weighted_sum ? core::moved(bags_.weights, k * sum_item_) : static_cast<const void*>(&one);
    add_(row, bags_.elements, weight, bags_.sums);
    if (!pooled_.rounds_each) return;
    const auto values = static_cast<float*>(bags_.sums);
    char rounded[most_pooled_bytes / 2];
    convert_.store(values, bags_.elements, rounded);
    convert_.load(rounded, bags_.elements, values);
  }

  void write(int64_t bag) {
    char* const out = core::moved(bags_.out, bag * bags_.out_stride);
    if (is_half_) return write_halves(bag, out);
    if (bags_.divisors && pooled_.item == int64_t{sizeof(float)}) {
      divide<float>(bags_.sums, bags_.elements, bags_.divisors, bag);
    } else if (bags_.divisors) {
      divide<double>(bags_.sums, bags_.elements, bags_.divisors, bag);
    }
    std::memcpy(out, bags_.sums, static_cast<size_t>(bags_.elements * pooled_.item));
  }

  void write_halves(int64_t bag, char* out) {
    float values[most_pooled_bytes / sizeof(float)];
    if (combines_) {
      convert_.load(sums(), bags_.elements, values);
    } else {
      std::copy_n(static_cast<const float*>(bags_.sums), bags_.elements, values);
    }
    if (bags_.divisors) divide<float>(values, bags_.elements, bags_.divisors, bag);
    if (bags_.widens) {
      std::memcpy(out, values, static_cast<size_t>(bags_.elements) * sizeof(float));
    } else {
      convert_.store(values, bags_.elements, out);
    }
  }

  char* sums() const { return static_cast<char*>(bags_.sums); }

  const Pooled& pooled_;
  const BagRows& bags_;
  const char* const filled_;
  const bool is_half_, combines_;
  const int64_t sum_item_;  // bytes of a sum
  WriteRows combine_ = nullptr;
  AddWeighted add_ = nullptr;
  Accumulate convert_{};
};

}  // namespace

const int64_t* pool_rows(const Pooled& pooled, const Tier& tier, const BagRows& bags, const char* filled) {
  RowPooler pooler(pooled, tier, bags, filled);
  for (int64_t bag = 0; bag < bags.bags; ++bag) {
    if (const int64_t* bad = pooler.pool(bag)) return bad;
  }
  return nullptr;
}

}  // namespace gather::cpu
