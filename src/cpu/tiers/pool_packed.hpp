#pragma once

#include "cpu/tiers/decode.hpp"

// Pools packed rows. The sums have float32, and rows are added in the order of their ids. JobPart of body.hpp.
namespace gather::cpu {
namespace {

// Adds n numbers to sums.
template <bool weighs>
GATHER_INLINE void add_numbers(const float* numbers, int64_t n, float weight, float* sums) {
  for (int64_t i = 0; i < n; ++i) {
    sums[i] = weighs ? Floats::multiply_add(weight, numbers[i], sums[i]) : sums[i] + numbers[i];
  }
}

// The rows of a run without their scales: the decoded numbers are the codes.
struct PackedCodes {
  PackedPlan plan;
  PackedRows rows;

  explicit PackedCodes(const PackedRows& packed) : plan(*packed.plan), rows(packed) {
    plan.codec.rule = Rule::scaled;
    plan.codec.scale.place = plan.codec.zero.place = Place::none;
    plan.codec.constant = 0;
    plan.codec.factor = 1;
    rows.plan = &plan;
  }
};

// Adds decoded rows.
template <bool weighs>
struct AddDecoded {
  const PackedRows& rows;
  const DecodeRow decode = choose_decode_row(rows.plan->codec);

  void add(int64_t number, int64_t first, int64_t n, float weight, float* sums) const {
    float numbers[most_decoded];
    decode(rows, number, first, n, numbers);
    add_numbers<weighs>(numbers, n, weight, sums);
  }
};

// Adds rows of the rule fused as torch does: first the bias, and then the product of the code and the scale.
template <bool weighs>
struct AddAsTorch {
  const PackedRows& rows;
  const PackedCodes codes{rows};
  const DecodeRow decode = choose_decode_row(codes.plan.codec);
  const Scales scales = scales_of(rows), zeros = zeros_of(rows);

  void add(int64_t number, int64_t first, int64_t n, float weight, float* sums) const {
    float numbers[most_decoded];
    decode(codes.rows, number, first, n, numbers);
    const int64_t block_values = codes.plan.codec.block_values;
    int64_t block = first / block_values, end = (block + 1) * block_values - first;
    for (int64_t i = 0; i < n; ++block, end += block_values) {
      float scale = scales.at(number, block), bias = zeros.at(number, block);
      if (weighs) scale = weight * scale, bias = weight * bias;
      for (; i < end && i < n; ++i) sums[i] = Floats::multiply_add(scale, numbers[i], sums[i] + bias);
    }
  }
};

template <class Adder, bool weighs>
const int64_t* pool_packed(const BagRows& bags) {
  const Adder adder{*bags.packed};
  const RowPrefetcher prefetcher(*bags.packed);
  const int64_t n = bags.elements, base = row_number(bags.table), last = bags.readable - 1;
  const auto weights = static_cast<const float*>(bags.weights);
  const auto divisors = static_cast<const float*>(bags.divisors);
  const auto sums = static_cast<float*>(bags.sums);
  for (int64_t bag = 0; bag < bags.bags; ++bag) {
    for (int64_t i = 0; bags.is_first && i < n; ++i) sums[i] = 0;
    for (int64_t k = bags.begin[bag]; k < bags.begin[bag + 1]; ++k) {
      const int64_t id = Scalar::load<int64_t>(reinterpret_cast<const char*>(bags.ids + k));
      if (static_cast<uint64_t>(id) >= static_cast<uint64_t>(bags.rows)) return bags.ids + k;
      const int64_t next = k + RowPrefetcher::rows_ahead;
      if (next <= last) prefetcher.fetch(base + bags.ids[next] * bags.stride);
      adder.add(base + id * bags.stride, bags.first, n, weighs ? weights[k] : 1, sums);
    }
    if (!bags.is_last) continue;
    char* const out = bags.out + bag * bags.out_stride;
    for (int64_t i = 0; i < n; ++i) store_numbers(out + 4 * i, divisors ? sums[i] / divisors[bag] : sums[i]);
  }
  return nullptr;
}

PoolBags choose_packed_pooling(const Codec& codec, bool weighs, bool as_torch) {
  if (as_torch && codec.rule == Rule::fused) {
    return weighs ? pool_packed<AddAsTorch<true>, true> : pool_packed<AddAsTorch<false>, false>;
  }
  return weighs ? pool_packed<AddDecoded<true>, true> : pool_packed<AddDecoded<false>, false>;
}

}  // namespace
}  // namespace gather::cpu
