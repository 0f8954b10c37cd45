#pragma once

#include <algorithm>
#include <random>

#include "columns.hpp"

// Requests for rows of columns.
namespace columns_test {

using Ids = std::vector<int64_t>;

inline constexpr int64_t null_id = INT64_MIN;

// Returns random numbers below n.
inline Below seeded(uint64_t seed) {
  auto engine = std::make_shared<std::mt19937_64>(seed);
  return [engine](int64_t n) { return static_cast<int64_t>((*engine)() % static_cast<uint64_t>(n)); };
}

// gth_take for some ids, of which those that are null_id are null.
struct Request {
  gth_take take = GTH_TAKE_INIT;
  gth_options options = GTH_OPTIONS_INIT;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  int64_t shape[1];
  Ids ids;
  std::vector<uint8_t> validity;

  explicit Request(Ids given, uint32_t flags = 0) : shape{static_cast<int64_t>(given.size())}, ids(std::move(given)) {
    desc = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, shape, ids.data());
    take.flags = flags;
    take.indices = &desc;
    take.options = &options;
    options.negative = GTH_NEGATIVE_WRAP;
    if (std::find(ids.begin(), ids.end(), null_id) == ids.end()) return;
    take.validity_offset = 3;
    validity.resize((ids.size() + 10) / 8);
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] != null_id) validity[(i + 3) / 8] = static_cast<uint8_t>(validity[(i + 3) / 8] | 1 << (i + 3) % 8);
    }
    take.validity = validity.data();
  }
};

}  // namespace columns_test
