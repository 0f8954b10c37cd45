// Views of mdspans, and tensors that take over a vector.
#include "raii.hpp"

#include <array>
#include <vector>
#if defined(__has_include) && __has_include(<mdspan>)
#include <mdspan>
#endif

namespace {

const std::vector<float> table = {0, 1, 2, 10, 11, 12};  // 2 rows of 3
const std::vector<int64_t> last = {1};

// The members of std::mdspan that a view uses, of a span with two dims and any strides.
template <class T>
struct Matrix {
  struct extents_type {
    static constexpr size_t rank() noexcept { return 2; }
  };
  using element_type = T;
  using data_handle_type = T*;
  static constexpr size_t rank() noexcept { return 2; }
  static constexpr bool is_always_strided() noexcept { return true; }
  size_t extent(size_t dim) const noexcept { return extents[dim]; }
  size_t stride(size_t dim) const noexcept { return strides[dim]; }
  T* data_handle() const noexcept { return data; }

  T* data;
  std::array<size_t, 2> extents, strides;
};

// A layout without strides, such as one that packs elements.
struct Packed : Matrix<float> {
  static constexpr bool is_always_strided() noexcept { return false; }
};
static_assert(std::is_constructible_v<gather::View, Matrix<float>>);
static_assert(!std::is_constructible_v<gather::View, Packed>);

template <class Span>
void mdspans(const Span& rows, const Span& transposed) {
  CHECK(gather::gather(rows, last).template to_vector<float>() == std::vector<float>({10, 11, 12}));
  CHECK(gather::gather(transposed, last).template to_vector<float>() == std::vector<float>({1, 11}));
  CHECK(gather::gather(transposed, last).shape() == std::vector<int64_t>({1, 2}));
  const gather::View view = transposed;
  CHECK((description(view).flags & GTH_TENSOR_READONLY) != 0 && description(view).ndim == 2);
}

void written_mdspan() {
  std::vector<float> out(6, -1);
  const std::vector<int64_t> ids = {1, 0};
  const Matrix<float> transposed = {out.data(), {2, 3}, {1, 2}};
  gather::gather_into(gather::View(table, {2, 3}), ids, transposed);
  CHECK(out == std::vector<float>({10, 0, 11, 1, 12, 2}));
}

void vectors() {
  std::vector<float> numbers = table;
  const float* const address = numbers.data();
  const gather::Tensor owner = gather::Tensor::from(std::move(numbers), {2, 3});
  CHECK(owner.data<float>() == address && owner.shape() == std::vector<int64_t>({2, 3}));
  CHECK(gather::gather(owner, last).to_vector<float>() == std::vector<float>({10, 11, 12}));
  CHECK(gather::Tensor::from(std::vector<int8_t>({1, 2})).to_vector<int8_t>() == std::vector<int8_t>({1, 2}));
  CHECK(gather::Tensor::from(std::vector<int8_t>()).shape() == std::vector<int64_t>({0}));
  std::vector<float> kept = {1, 2, 3, 4, 5};
  const float* const first = kept.data();
  thrown<gather::Error>(GTH_E_STRIDE, [&] { gather::Tensor::from(std::move(kept), {2, 3}); });
  CHECK(kept.data() == first && kept == std::vector<float>({1, 2, 3, 4, 5}));
}

// The address of element 0 is behind the offset, also for a tensor that the library has made from a view.
void offsets() {
  std::vector<float> numbers = table;
  const gather::View last_row = gather::View(numbers, {3}).offset(3 * sizeof(float));
  const gather::Tensor borrowed = gather::Tensor::borrow(last_row);
  CHECK(borrowed.data<const float>() == numbers.data() + 3);
  CHECK(borrowed.to_vector<float>() == std::vector<float>(table.begin() + 3, table.begin() + 6));
  int deleted = 0;
  {
    const gather::Tensor adopted = gather::Tensor::adopt(last_row, [&] { ++deleted; });
    CHECK(adopted.data<float>() == numbers.data() + 3);
    const float* element = nullptr;
    CHECK(adopted.try_data(&element, nullptr) == GTH_OK && element == numbers.data() + 3);
  }
  CHECK(deleted == 1);
}

}  // namespace

int main() {
  const Matrix<const float> rows = {table.data(), {2, 3}, {3, 1}}, transposed = {table.data(), {3, 2}, {1, 3}};
  mdspans(rows, transposed);
#ifdef __cpp_lib_mdspan
  using Left = std::mdspan<const float, std::dextents<int, 2>, std::layout_stride>;
  const std::array<int, 2> down = {1, 3}, across = {3, 1};
  mdspans(Left(table.data(), {std::dextents<int, 2>(2, 3), across}),
          Left(table.data(), {std::dextents<int, 2>(3, 2), down}));
#endif
  written_mdspan();
  vectors();
  offsets();
  std::printf("raii_memory: views of mdspans, owners of vectors\n");
  return 0;
}
