#include "hostile.hpp"

// bounds = error_partial has the results and the errors of bounds = error. Only after an error, the written operand may
// contain some of the results.
namespace {

using namespace hostile;

constexpr int64_t rows = 50, width = 3;

gth_options partial(int32_t negative = 0) { return with_bounds(GTH_BOUNDS_ERROR_PARTIAL, negative); }

std::vector<int64_t> repeated(int64_t count) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(i * 7 % rows);
  return values;
}

// Returns the status of a gather of rows of int16 into out, which has been filled with '#'.
int32_t gather_partly(const Array& params, const Array& indices, int32_t threads, Array* out, gth_error* err) {
  gth_options options = partial();
  options.threads = threads;
  out->fill('#');
  const gth_tensor_desc p = params.desc(), i = indices.desc(), o = out->desc();
  return gth_gather(nullptr, &p, &i, &o, &options, err);
}

// Each row must be the gathered one or unchanged.
void expect_rows_or_unchanged(const Array& params, const std::vector<int64_t>& indices, const Array& out) {
  const size_t row = width * sizeof(int16_t);
  const Bytes table = params.bytes(), found = out.bytes(), unchanged(row, '#');
  for (size_t i = 0; i < indices.size(); ++i) {
    const Bytes each(found.begin() + static_cast<int64_t>(i * row),
                     found.begin() + static_cast<int64_t>((i + 1) * row));
    if (each == unchanged) continue;
    ASSERT_GE(indices[i], 0) << "tuple " << i;
    ASSERT_LT(indices[i], rows) << "tuple " << i;
    const auto expected = table.begin() + indices[i] * static_cast<int64_t>(row);
    ASSERT_TRUE(std::equal(each.begin(), each.end(), expected)) << "tuple " << i;
  }
}

TEST(PartialErrors, ValidIndicesGiveTheResultOfBoundsError) {
  const Array params(GTH_DTYPE_INT16, {rows, width});
  for (int64_t count : {0, 1, 8, 9, 300, 5000, 70000}) {
    const std::vector<int64_t> indices = repeated(count);
    const Array dense = indices64({count}, indices), tuples = indices64({count, 1}, indices);
    const gth_options options = partial();
    const Bytes expected = rows_of(params, width * 2, indices);
    expect_gathered({g, params.desc(), dense.desc(), &options}, {count, width}, expected);
    expect_gathered({nd, params.desc(), tuples.desc(), &options}, {count, width}, expected);
  }
}

TEST(PartialErrors, InvalidIndexIsNamedByItsSmallestPosition) {
  const Array params(GTH_DTYPE_INT16, {rows, width});
  for (int64_t count : {1, 8, 9, 300, 5000, 70000}) {
    for (int64_t first : {int64_t{0}, count / 3, count - 1}) {
      std::vector<int64_t> indices = repeated(count);
      indices.back() = -1;
      indices[static_cast<size_t>(first)] = rows + 5;
      const int64_t value = first == count - 1 ? rows + 5 : indices[static_cast<size_t>(first)];
      Array out(GTH_DTYPE_INT16, {count, width});
      for (int32_t threads : {1, 3}) {
        Error err;
        const int32_t status = gather_partly(params, indices64({count}, indices), threads, &out, &err);
        expect_facts(status, err, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, first, value, rows});
        expect_rows_or_unchanged(params, indices, out);
      }
    }
  }
}

TEST(PartialErrors, NegativeIndicesAreWrapped) {
  const Array params(GTH_DTYPE_INT16, {rows, width});
  std::vector<int64_t> indices = repeated(3000), wrapped = indices;
  for (int64_t& each : wrapped) each -= rows;
  const gth_options options = partial(GTH_NEGATIVE_WRAP);
  expect_gathered({g, params.desc(), indices64({3000}, wrapped).desc(), &options}, {3000, width},
                  rows_of(params, width * 2, indices));
}

TEST(PartialErrors, LargeGatherWritesRowsBeforeTheInvalidIndex) {
  const int64_t count = 70000;
  const Array params(GTH_DTYPE_INT16, {rows, width});
  std::vector<int64_t> indices = repeated(count);
  indices.back() = rows;
  Array out(GTH_DTYPE_INT16, {count, width});
  ASSERT_EQ(gather_partly(params, indices64({count}, indices), 1, &out, nullptr), GTH_E_INDEX);
  Bytes first = out.bytes();
  first.resize(width * 2);
  EXPECT_EQ(first, rows_of(params, width * 2, {0}));
}

// Returns the target after a sum of ones, in which an update of an invalid index changes nothing.
std::vector<int32_t> counted(const std::vector<int64_t>& indices) {
  std::vector<int32_t> target(rows, 0);
  for (int64_t each : indices) {
    if (each >= 0 && each < rows) target[static_cast<size_t>(each)] += 1;
  }
  return target;
}

// Scatters ones into zeros. The target receives the sums.
int32_t count_partly(const std::vector<int64_t>& indices, int32_t threads, std::vector<int32_t>* sums, gth_error* err) {
  gth_options options = partial();
  options.reduction = GTH_REDUCTION_ADD;
  options.threads = threads;
  const int64_t count = static_cast<int64_t>(indices.size());
  const Array target(GTH_DTYPE_INT32, {rows}, std::vector<int32_t>(rows, 0));
  const Array updates(GTH_DTYPE_INT32, {count}, std::vector<int32_t>(indices.size(), 1));
  const Array at = indices64({count}, indices);
  const gth_tensor_desc t = target.desc(), i = at.desc(), u = updates.desc();
  const int32_t status = gth_scatter(nullptr, &t, &i, &u, &options, err);
  sums->resize(rows);
  std::memcpy(sums->data(), target.data(), rows * sizeof(int32_t));
  return status;
}

TEST(PartialErrors, ScatterAddsValidUpdatesAtMostOnce) {
  for (int64_t count : {1, 9, 300, 70000}) {
    for (int32_t threads : {1, 3}) {
      std::vector<int64_t> indices = repeated(count);
      std::vector<int32_t> sums;
      EXPECT_EQ(count_partly(indices, threads, &sums, nullptr), GTH_OK);
      EXPECT_EQ(sums, counted(indices));
      indices.back() = -1;
      indices[static_cast<size_t>(count / 2)] = rows;
      Error err;
      const int32_t status = count_partly(indices, threads, &sums, &err);
      expect_facts(status, err, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, count / 2, rows, rows});
      const std::vector<int32_t> most = counted(indices);
      for (size_t row = 0; row < most.size(); ++row) {
        ASSERT_GE(sums[row], 0) << row;
        ASSERT_LE(sums[row], most[row]) << row;
      }
    }
  }
}

TEST(PartialErrors, GradientNamesTheInvalidIndex) {
  const gth_options options = partial();
  const Array given(GTH_DTYPE_FLOAT32, {9000}, std::vector<float>(9000, 1));
  std::vector<int64_t> values = repeated(9000);
  values[8000] = -9;
  const Array at = indices64({9000}, values), sums(GTH_DTYPE_FLOAT32, {rows}, std::vector<float>(rows, 5));
  const gth_tensor_desc u = given.desc(), i = at.desc(), t = sums.desc();
  Error err;
  const int32_t status = gth_gather_gradient(nullptr, &t, &i, &u, &options, &err);
  expect_facts(status, err, {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 8000, -9, rows});
}

}  // namespace
