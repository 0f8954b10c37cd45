// Rows of a matrix of Eigen.
#include <Eigen/Core>
#include <vector>

#include "raii.hpp"

namespace {

// Views a matrix, a map or a block of any storage order. The elements are not copied.
template <class Matrix>
gather::View view(Matrix& matrix) {
  using Scalar = typename Matrix::Scalar;
  return gather::View(matrix.data(), {matrix.rows(), matrix.cols()})
      .strides({matrix.rowStride() * Eigen::Index{sizeof(Scalar)}, matrix.colStride() * Eigen::Index{sizeof(Scalar)}});
}

}  // namespace

int main() {
  Eigen::MatrixXf table(3, 2);  // column-major
  table << 0, 1, 10, 11, 20, 21;
  const std::vector<int64_t> ids = {2, 0};
  Eigen::MatrixXf rows(2, 2), expected(2, 2);
  expected << 20, 21, 0, 1;
  gather::gather_into(view(table), ids, view(rows));
  CHECK(rows == expected);

  auto block = table.rightCols(1);
  Eigen::MatrixXf column(2, 1);
  gather::gather_into(view(block), ids, view(column));
  CHECK(column(0) == 21 && column(1) == 1);
  std::printf("eigen: rows of a matrix and of a block\n");
  return 0;
}
