#include "cpu/scatter_winners.hpp"

#include <cstring>
#include <limits>

#include "cpu/keys.hpp"
#include "cpu/run_plan.hpp"
#include "cpu/target.hpp"

namespace gather::cpu {
namespace {

using core::Error;
using core::Number;
using core::Plan;

// Finds the updates of a part of `whole`. `key_of` returns the key of the bits of a number. The update with the largest
// key wins, and the first one of equal keys. Returns false if an index has become invalid after its validation.
template <class Key, class KeyOf>
bool find_updates_of(const JobPart& part, const Job& whole, int64_t* positions, KeyOf&& key_of) {
  constexpr int64_t item = sizeof(Key);
  const Job& job = part.job;
  const int64_t first_target = job.table - whole.table, first_update = job.rows - whole.rows;
  const auto key_at = [&](const char* numbers, int64_t element) {
    Key bits;
    std::memcpy(&bits, numbers + element * item, sizeof bits);
    return key_of(bits);
  };
  const auto is_better = [&](Key key, int64_t target, int64_t best) {
    if (best >= 0) return key > key_at(whole.rows, best);
    return job.plan.reducing.starts_with_update || key > key_at(whole.table, target);
  };
  return for_updates_of(part, [&](const Updates& on) {
    for_each_row(job, [&](int64_t to, int64_t from) {
      for (int64_t i = 0; i < on.count; ++i) {
        const int64_t target = (first_target + on.target + to + on.offsets[i]) / item;
        const int64_t update = (first_update + on.updates + from + on.from[i]) / item;
        for (int64_t e = 0; e < job.plan.row.out / item; ++e) {
          int64_t* const position = positions + target + e;
          if (is_better(key_at(whole.rows, update + e), target + e, *position)) *position = update + e;
        }
      }
    });
  });
}

// Finds the updates of a part. Key has the size of the numbers.
template <class Key>
bool find_with_keys(const JobPart& part, const Job& whole, int64_t* positions) {
  const Plan& plan = whole.plan;
  const bool is_min = plan.reducing.reduction == GTH_REDUCTION_MIN;
  const Key sign = std::numeric_limits<Key>::min();
  if (core::is_floating(plan.reducing.number)) {
    const auto infinity = static_cast<Key>(core::extreme_of(plan.reducing.number, int64_t{sizeof(Key)}, true));
    return find_updates_of<Key>(part, whole, positions, [infinity, flip = is_min ? sign : Key{0}](Key bits) {
      return floating_key(bits, flip, infinity);
    });
  }
  const auto flip =
      static_cast<Key>((is_min ? -1 : 0) ^ (plan.reducing.number == Number::unsigned_integer ? sign : Key{0}));
  const bool is_bool = plan.reducing.number == Number::boolean;
  return find_updates_of<Key>(part, whole, positions, [is_bool, flip](Key bits) {
    return static_cast<Key>((is_bool ? Key{bits != 0} : bits) ^ flip);
  });
}

bool find_in_part(const JobPart& part, const Job& whole, int64_t* positions) {
  switch (whole.plan.item.bytes()) {
    case 1: return find_with_keys<int8_t>(part, whole, positions);
    case 2: return find_with_keys<int16_t>(part, whole, positions);
    case 4: return find_with_keys<int32_t>(part, whole, positions);
    default: return find_with_keys<int64_t>(part, whole, positions);
  }
}

}  // namespace

int32_t find_updates(const Plan& plan, const core::Pointers& pointers, int64_t* positions, const Executor& executor,
                     const Error& error) {
  const Kernels kernels = choose_kernels(plan);
  const int32_t status = validate(plan, kernels, pointers, GTH_OPEN, executor, error);
  if (status || plan.is_empty || plan.tuples.at(GTH_OPEN) == 0) return status;
  const Job job(plan, pointers, GTH_OPEN, kernels);
  const bool whole =
      for_each_part(job, executor, [&](const JobPart& part) { return find_in_part(part, job, positions); });
  return whole ? GTH_OK : core::fail_index_race(error);
}

}  // namespace gather::cpu
