#include <random>

#include "guarded.hpp"
#include "hostile.hpp"

// Params, indices and output are directly beside inaccessible pages, on both sides. The inputs are read-only. So every
// access outside ends the test. This also finds a read beyond a row inside its allocation, which malloc and sanitizers
// cannot find.
namespace {

using namespace hostile;

constexpr int64_t table_rows = 3, most_bytes = 520, most_tuples = 257;

struct Width {
  int32_t dtype;
  int64_t bytes;
  bool is_signed;
};
constexpr Width widths[] = {{GTH_DTYPE_INT8, 1, true},    {GTH_DTYPE_INT16, 2, true},  {GTH_DTYPE_INT32, 4, true},
                            {GTH_DTYPE_INT64, 8, true},   {GTH_DTYPE_UINT8, 1, false}, {GTH_DTYPE_UINT16, 2, false},
                            {GTH_DTYPE_UINT32, 4, false}, {GTH_DTYPE_UINT64, 8, false}};

void store(char* at, int64_t value, int64_t bytes) { std::memcpy(at, &value, static_cast<size_t>(bytes)); }

// One combination. The indexed dims are {3} for gather and {1, 3} for gather_nd.
struct Combination {
  int64_t row;
  int64_t n;
  Width width;
  int32_t bounds;
  bool is_nd;
  bool has_bad;  // the last tuple is out of bounds
  bool low;      // the inaccessible page is below, not above
};

int64_t expected_row(const Combination& c, int64_t tuple) {
  if (!c.has_bad || tuple != c.n - 1) return tuple % table_rows;
  if (c.bounds == GTH_BOUNDS_CLAMP) return table_rows - 1;
  if (c.bounds == GTH_BOUNDS_MODULO) return 100 % table_rows;
  return -1;
}

class GuardPages : public ::testing::Test {
 protected:
  GuardPages() {
    for (size_t i = 0; i < params_.size(); ++i) params_.first()[i] = static_cast<char>(i * 31 + 7);
    params_.allow(hostile::readable);
  }

  // Indices change from case to case, so they are writable between calls.
  char* indices(const Combination& c, int64_t k) {
    const int64_t bytes = c.n * k * c.width.bytes;
    char* at = indices_.at(bytes, c.low);
    for (int64_t i = 0; i < c.n; ++i) {
      if (k == 2) store(at + (i * k) * c.width.bytes, 0, c.width.bytes);
      const int64_t value = c.has_bad && i == c.n - 1 ? 100 : i % table_rows;
      store(at + (i * k + k - 1) * c.width.bytes, value, c.width.bytes);
    }
    return at;
  }

  void check(const Combination& c, const char* params, const char* out, int32_t status) {
    const bool fails = c.has_bad && c.n > 0 && c.bounds == GTH_BOUNDS_ERROR;
    ASSERT_EQ(status, fails ? GTH_E_INDEX : GTH_OK);
    const Bytes zeros(static_cast<size_t>(c.row), 0), untouched(static_cast<size_t>(c.row), '#');
    for (int64_t i = 0; i < c.n; ++i) {
      const int64_t row = expected_row(c, i);
      const char* expected = params + row * c.row;
      if (row < 0) expected = c.bounds == GTH_BOUNDS_FILL ? zeros.data() : untouched.data();
      if (fails) expected = untouched.data();
      ASSERT_EQ(std::memcmp(out + i * c.row, expected, static_cast<size_t>(c.row)), 0)
          << "row " << c.row << ", tuple " << i << " of " << c.n << ", bounds " << c.bounds << ", index dtype "
          << c.width.dtype;
    }
  }

  void run(const Combination& c) {
    const int64_t k = c.is_nd ? 2 : 1;
    const char* params = params_.at(table_rows * c.row, c.low);
    char* out = out_.at(c.n * c.row, c.low);
    std::memset(out, '#', static_cast<size_t>(c.n * c.row));
    const char* index = indices(c, k);
    const Shape p_shape = c.is_nd ? Shape{1, table_rows, c.row} : Shape{table_rows, c.row};
    const Shape i_shape = c.is_nd ? Shape{c.n, 2} : Shape{c.n}, o_shape{c.n, c.row};
    const gth_tensor_desc p = describe(GTH_DTYPE_UINT8, p_shape, params), i = describe(c.width.dtype, i_shape, index);
    const gth_tensor_desc o = describe(GTH_DTYPE_UINT8, o_shape, out);
    const gth_options options = with_bounds(c.bounds);
    indices_.allow(hostile::readable);
    const int32_t status = (c.is_nd ? nd : g).named(nullptr, &p, &i, &o, &options, nullptr);
    indices_.allow(hostile::writable);
    check(c, params, out, status);
    ++combinations_;
  }

  void run_all_sides(Combination c) {
    for (bool low : {false, true}) {
      for (bool is_nd : {false, true}) {
        for (bool has_bad : {false, true}) {
          c.low = low;
          c.is_nd = is_nd;
          c.has_bad = has_bad;
          run(c);
          if (HasFatalFailure()) return;
        }
      }
    }
  }

  Guarded params_{1}, indices_{2}, out_{static_cast<size_t>((most_tuples * most_bytes + 4095) / 4096)};
  int64_t combinations_ = 0;
};

TEST_F(GuardPages, EveryRowSizeStaysInside) {
  std::mt19937 random(1);
  for (int64_t row = 1; row <= most_bytes; ++row) {
    for (int32_t bounds = GTH_BOUNDS_ERROR; bounds <= GTH_BOUNDS_SKIP; ++bounds) {
      for (int64_t n = 0; n <= 5; ++n) {
        run_all_sides({row, n, widths[random() % 8], bounds, false, false, false});
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(combinations_, 20000);
}

TEST_F(GuardPages, EveryIndexTypeWithTuplesAroundABlockStaysInside) {
  for (int64_t row : {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 257, 520}) {
    for (const Width& width : widths) {
      for (int32_t bounds = GTH_BOUNDS_ERROR; bounds <= GTH_BOUNDS_SKIP; ++bounds) {
        for (int64_t n : {8, 9, 255, 256, 257}) {
          run_all_sides({row, n, width, bounds, false, false, false});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(combinations_, 20000);
}

// Views that reach from guard page to guard page: reversed, transposed, every second element.
TEST_F(GuardPages, StridedViewsStayInside) {
  const Width& width = widths[3];
  for (int64_t columns = 1; columns <= 40; ++columns) {
    for (int64_t item : {1, 2, 4, 8, 16}) {
      const int32_t dtype = item == 16 ? GTH_DTYPE_COMPLEX128 : static_cast<int32_t>(item * 8);
      const Shape p_shape{table_rows, columns}, i_shape{5}, o_shape{5, columns};
      const Shape views[] = {
          {-columns * item, item}, {item, table_rows * item}, {-item, -table_rows * item}, {0, item}};
      for (const Shape& strides : views) {
        int64_t low = 0, high = item;
        for (size_t d = 0; d < 2; ++d) (strides[d] < 0 ? low : high) += strides[d] * (p_shape[d] - 1);
        for (bool near_low : {false, true}) {
          const char* params = params_.at(high - low, near_low);
          Combination c{columns * item, 5, width, 0, false, false, near_low};
          const char* index = indices(c, 1);
          char* out = out_.at(5 * columns * item, near_low);
          gth_tensor_desc p = describe(dtype, p_shape, params, strides.data());
          p.offset = -low;
          p.extent = high - low;
          const gth_tensor_desc i = describe(width.dtype, i_shape, index), o = describe(dtype, o_shape, out);
          ASSERT_EQ(gth_gather(nullptr, &p, &i, &o, nullptr, nullptr), GTH_OK);
          for (int64_t t = 0; t < 5; ++t) {
            for (int64_t x = 0; x < columns; ++x) {
              const char* from = params - low + t % table_rows * strides[0] + x * strides[1];
              ASSERT_EQ(std::memcmp(out + (t * columns + x) * item, from, static_cast<size_t>(item)), 0);
            }
          }
        }
      }
    }
  }
}

}  // namespace
