#include "hostile.hpp"

// The result does not depend on the offsets of the three pointers within a cache line.
namespace {

using namespace hostile;

constexpr int64_t line = 64;

struct Buffer {
  explicit Buffer(int64_t bytes) : memory(static_cast<size_t>(bytes + 2 * line)) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(memory.data());
    base = memory.data() + (line - address % line) % line;
  }

  Bytes memory;
  char* base;  // aligned to a cache line
};

struct Problem {
  int32_t dtype;
  int64_t rows, columns, n;
  int32_t index_dtype;
};

class Alignment : public ::testing::TestWithParam<Problem> {
 protected:
  Alignment() {
    for (int64_t i = 0; i < params_bytes_; ++i) params_[static_cast<size_t>(i)] = static_cast<char>(i * 29 + 3);
    for (int64_t t = 0; t < problem_.n; ++t) {
      const int64_t row = (t * 7 + 1) % problem_.rows;
      std::memcpy(&indices_[static_cast<size_t>(t * index_bytes_)], &row, static_cast<size_t>(index_bytes_));
      const char* from = &params_[static_cast<size_t>(row * row_bytes_)];
      expected_.insert(expected_.end(), from, from + row_bytes_);
    }
  }

  void run(int64_t params_at, int64_t indices_at, int64_t out_at) {
    char *p = p_.base + params_at, *i = i_.base + indices_at, *o = o_.base + out_at;
    std::memcpy(p, params_.data(), params_.size());
    std::memcpy(i, indices_.data(), indices_.size());
    o[-1] = o[out_bytes_] = '#';  // one line is free before and after, unless the offset is 0
    const Shape p_shape{problem_.rows, problem_.columns}, i_shape{problem_.n}, o_shape{problem_.n, problem_.columns};
    const gth_tensor_desc params = describe(problem_.dtype, p_shape, p);
    const gth_tensor_desc indices = describe(problem_.index_dtype, i_shape, i);
    const gth_tensor_desc out = describe(problem_.dtype, o_shape, o);
    ASSERT_EQ(gth_gather(nullptr, &params, &indices, &out, nullptr, nullptr), GTH_OK);
    ASSERT_EQ(std::memcmp(o, expected_.data(), expected_.size()), 0)
        << "offsets " << params_at << ", " << indices_at << ", " << out_at;
    ASSERT_EQ(o[-1], '#');
    ASSERT_EQ(o[out_bytes_], '#');
  }

  const Problem problem_ = GetParam();
  const int64_t row_bytes_ = problem_.columns * gth_dtype_size(problem_.dtype);
  const int64_t index_bytes_ = gth_dtype_size(problem_.index_dtype);
  const int64_t params_bytes_ = problem_.rows * row_bytes_, out_bytes_ = problem_.n * row_bytes_;
  Bytes params_ = Bytes(static_cast<size_t>(params_bytes_)),
        indices_ = Bytes(static_cast<size_t>(problem_.n * index_bytes_)), expected_;
  Buffer p_{params_bytes_ + line}, i_{problem_.n * index_bytes_ + line}, o_{out_bytes_ + 2 * line};
};

TEST_P(Alignment, EveryOffsetGivesTheSameBytes) {
  for (int64_t at = 0; at < line; ++at) {
    run(at, 0, line);
    run(0, at, line);
    run(0, 0, line + at);
    if (HasFatalFailure()) return;
  }
  // Changes all three offsets at once. Each offset of each pointer appears, in changing combinations.
  for (int64_t k = 0; k < line * line; ++k) {
    run(k % line, k / line, line + (k * 5 + k / line * 3) % line);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Problems, Alignment,
                         testing::Values(Problem{GTH_DTYPE_FLOAT32, 9, 1, 13, GTH_DTYPE_INT64},
                                         Problem{GTH_DTYPE_FLOAT64, 5, 1, 9, GTH_DTYPE_INT32},
                                         Problem{GTH_DTYPE_INT8, 7, 3, 20, GTH_DTYPE_UINT16},
                                         Problem{GTH_DTYPE_FLOAT16, 7, 19, 5, GTH_DTYPE_INT64},
                                         Problem{GTH_DTYPE_COMPLEX128, 4, 3, 6, GTH_DTYPE_UINT64},
                                         Problem{GTH_DTYPE_FLOAT32, 6, 50, 11, GTH_DTYPE_INT32},
                                         Problem{GTH_DTYPE_UINT8, 3, 300, 4, GTH_DTYPE_INT16},
                                         Problem{GTH_DTYPE_FLOAT32, 11, 4, 300, GTH_DTYPE_INT32}),
                         [](const auto& each) { return "Problem" + std::to_string(each.index); });

}  // namespace
