/// @file gather.hpp
/// libgather for C++17: move-only owners and typed views over gather.h, which documents the library.
///
/// A call that fails throws gather::Error, or gather::IndexError if an index is out of bounds. Functions named try_* do
/// not throw: they return the status and fill `*err` (a Report, or NULL). They store the object that they create in
/// `*out`. It is empty if the status is not GTH_OK. If exceptions are disabled, a function that would throw terminates
/// the program. Any number of threads may use one object at the same time. The object must exist until the calls that
/// use it return.
///
/// In C++23, functions that make tensors, write to existing memory or make plans have a form that returns a
/// std::expected. Its arguments are those of the form that throws: gather::gather.expected(table, ids).
///
/// The namespace gather contains an object gather. After `using namespace gather`, write gather::gather(..), or write
/// `using gather::gather` in the block.
#ifndef GATHER_GATHER_HPP
#define GATHER_GATHER_HPP

#if __cplusplus < 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG < 201703L)
#error "gather.hpp needs C++17 or newer (-std=c++17); gather.h is for every C++"
#else

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#if defined(__has_include) && __has_include(<expected>)
#include <expected>
#endif
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "gather.h"

// Error paths are kept out of line. Small functions on the path of a small call are always inlined. Otherwise passing
// three ranges through memory would cost as much as the run of a plan.
#if defined(__GNUC__)
#define GATHER_COLD __attribute__((noinline, cold))
#define GATHER_INLINE __attribute__((always_inline))
#else
#define GATHER_COLD
#define GATHER_INLINE
#endif

namespace gather {

/// A gth_error that is initialised for a call. Only the first byte of the message is cleared, because clearing all of
/// it takes as long as a small call.
struct Report : gth_error {
  Report() noexcept {
    std::memset(static_cast<gth_error*>(this), 0, offsetof(gth_error, message) + 1);
    size = sizeof(gth_error);
  }
};

/// The exception of a call that failed. gth_error documents the fields. what() is the message of the library.
class Error : public std::exception {
 public:
  explicit Error(const gth_error& fields) noexcept : fields_(fields) {}
  const char* what() const noexcept override {
    return fields_.message[0] != 0 ? fields_.message : gth_status_name(fields_.status);
  }
  int32_t status() const noexcept { return fields_.status; }
  int32_t operand() const noexcept { return fields_.operand; }
  int32_t component() const noexcept { return fields_.component; }
  int64_t position() const noexcept { return fields_.position; }
  int64_t value() const noexcept { return fields_.value; }
  int64_t limit() const noexcept { return fields_.limit; }
  int64_t item() const noexcept { return fields_.item; }
  const gth_error& fields() const noexcept { return fields_; }

 private:
  gth_error fields_;
};

/// The error of an index out of bounds (GTH_E_INDEX). position() and component() are those of the smallest invalid
/// tuple. value() is the index, and limit() is the extent of the dim.
class IndexError : public Error {
  using Error::Error;
};

namespace detail {

[[noreturn]] GATHER_COLD inline void fail(const gth_error& err) {
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
  if (err.status == GTH_E_INDEX) throw IndexError(err);
  throw Error(err);
#else
  static_cast<void>(err);
  std::terminate();
#endif
}

/// The error of a call that throws. A call that succeeds accesses size, status and sequence only. So other fields need
/// not be cleared.
struct Thrown : gth_error {
  Thrown() noexcept { size = sizeof(gth_error); }
  void unless_ok(int32_t result) {
    if (result == GTH_OK) return;
    status = result;
    fail(*this);
  }
};

/// Calls f(arguments.., &err).
template <class F, class... Arguments>
void call(F f, Arguments... arguments) {
  Thrown err;
  err.unless_ok(f(arguments..., &err));
}

/// Calls f(&result, &err).
template <class Result, class F>
GATHER_INLINE inline Result make(F f) {
  Result result;
  Thrown err;
  err.unless_ok(f(&result, &err));
  return result;
}

#ifdef __cpp_lib_expected
/// Returns the result of f(&result, &err), or its error.
template <class Result, class F>
std::expected<Result, Error> expect(F f) noexcept {
  Result result;
  Report err;
  if (f(&result, &err) != GTH_OK) return std::unexpected(Error(err));
  return result;
}
/// Returns nothing, or the error of f(&err).
template <class F>
std::expected<void, Error> expect_ok(F f) noexcept {
  Report err;
  if (f(&err) != GTH_OK) return std::unexpected(Error(err));
  return {};
}
#endif

/// Fills err for an error that this header detects, and returns the status.
GATHER_COLD inline int32_t refuse(gth_error* err, int32_t status, int32_t operand, int32_t component, int64_t value,
                                  int64_t limit, const char* message) noexcept {
  if (err == nullptr) return status;
  *err = {err->size, status, operand, component, 0, 0, -1, value, limit, 0, 0, -1, {0}};
  std::snprintf(err->message, sizeof(err->message), "%s", message);
  return status;
}

/// @param what  The name of the operand, or of its field.
GATHER_COLD inline int32_t refuse_dtype(gth_error* err, int32_t operand, int32_t component, const char* what,
                                        int32_t dtype, int32_t needed) noexcept {
  char message[GTH_MESSAGE_SIZE];
  std::snprintf(message, sizeof(message), "%s: dtype is %s, needed is %s", what, gth_dtype_name(dtype),
                gth_dtype_name(needed));
  return refuse(err, GTH_E_DTYPE, operand, component, dtype, needed, message);
}

GATHER_COLD inline int32_t refuse_memory(gth_error* err, int32_t operand, size_t bytes, const char* message) noexcept {
  return refuse(err, GTH_E_NOMEM, operand, -1, static_cast<int64_t>(bytes), 0, message);
}

/// Calls f(arguments.., &rows, capacity, extents, &err).
template <class F, class... Arguments>
std::vector<int64_t> shape(F f, Arguments... arguments) {
  int64_t extents[GTH_MAX_NDIM];
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  call(f, arguments..., &rows, GTH_MAX_NDIM, extents);
  return std::vector<int64_t>(extents, extents + rows.ndim);
}

/// Returns the memory that an operand describes. It is empty if the operand is a tensor that has been released. A table
/// in files has only a dtype, which is that of its rows.
inline gth_tensor_desc described(const gth_tensor_desc& operand) noexcept {
  if (operand.tensor == nullptr) return operand;
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  if (gth_tensor_describe(operand.tensor, &desc, nullptr) == GTH_E_UNSUPPORTED) {
    const gth_tensor_desc id = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 0, nullptr, nullptr);
    const gth_request row = GTH_REQUEST(GTH_OP_GATHER, &operand, &id, nullptr, nullptr);
    int64_t extents[GTH_MAX_NDIM];
    static_cast<void>(gth_infer(&row, &desc, GTH_MAX_NDIM, extents, nullptr));
    desc.ndim = 0;
    desc.shape = nullptr;
  }
  return desc;
}

/// Returns the number of elements of a shape that the library has accepted. It exceeds 64 bits only if an extent is 0.
inline size_t count(const int64_t* extents, size_t ndim) noexcept {
  size_t product = 1;
  for (size_t i = 0; i < ndim; ++i) product *= static_cast<size_t>(extents[i]);
  return product;
}

template <class T>
std::unique_ptr<T[]> array(size_t count) noexcept {
  return std::unique_ptr<T[]>(new (std::nothrow) T[count]);
}

/// A deleter that owns a vector.
template <class T>
struct Kept {
  std::vector<T> values;
  void operator()() const noexcept {}
};

/// Calls a deleter. The deleter is moved to its place after the creation of the tensor. So a call that fails does not
/// move it.
template <class F>
void run_deleter(void* user) {
  const std::unique_ptr<std::optional<F> > deleter(static_cast<std::optional<F>*>(user));
  if (deleter->has_value()) (**deleter)();
}

/// Returns the dtype of a type, or 0 if it has none. Character types are text and have none.
template <class T>
constexpr int32_t dtype() noexcept {
  if (std::is_same_v<T, bool>) return GTH_DTYPE_BOOL;
  if (std::is_same_v<T, float>) return GTH_DTYPE_FLOAT32;
  if (std::is_same_v<T, double>) return GTH_DTYPE_FLOAT64;
  if (std::is_same_v<T, std::complex<float> >) return GTH_DTYPE_COMPLEX64;
  if (std::is_same_v<T, std::complex<double> >) return GTH_DTYPE_COMPLEX128;
  if (std::is_same_v<T, std::byte>) return GTH_DTYPE_UINT8;
  if (std::is_same_v<T, char> || std::is_same_v<T, wchar_t>) return 0;
  if (std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>) return 0;
  if constexpr (std::is_integral_v<T>) return (std::is_signed_v<T> ? 0 : 256) + static_cast<int32_t>(8 * sizeof(T));
  return 0;
}

}  // namespace detail

/// The dtype of a C++ type, 0 if it has none. Specialise Dtype for half types of your own.
template <class T>
struct Dtype : std::integral_constant<int32_t, detail::dtype<T>()> {};
template <class T>
constexpr int32_t dtype_of() noexcept {
  return Dtype<std::remove_cv_t<T> >::value;
}
template <class T>
using IfElement = std::enable_if_t<dtype_of<T>() != 0, T>;

namespace detail {

/// The element type of a range.
template <class Range>
using ElementOf = IfElement<std::remove_pointer_t<decltype(std::data(std::declval<Range&>()))> >;

/// True for a range that does not own its elements, such as std::span. A const span gives access to the elements as the
/// span itself does.
template <class Range, class = void>
struct IsSpan : std::false_type {};
template <class Range>
struct IsSpan<Range, std::enable_if_t<std::is_same_v<decltype(std::data(std::declval<const Range&>())),
                                                     typename Range::element_type*> > > : std::true_type {};

/// Checks that a type has the members of std::mdspan, of which this header includes no implementation.
template <class Span, class = void>
struct IsMdspan : std::false_type {};
template <class Span>
struct IsMdspan<Span, std::enable_if_t<std::is_same_v<typename Span::data_handle_type, typename Span::element_type*> &&
                                       Span::is_always_strided() && Span::extents_type::rank() <= GTH_MAX_NDIM> >
    : std::true_type {};

/// A range whose elements outlive the expression: an lvalue or a span.
template <class Range>
using IfLasting = std::enable_if_t<std::is_lvalue_reference_v<Range> || IsSpan<std::decay_t<Range> >::value>;

}  // namespace detail

/// One extent or stride. It converts from any integer type.
struct Extent {
  template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer> > >
  constexpr Extent(Integer number) noexcept : value(static_cast<int64_t>(number)) {}
  int64_t value;
};

/// Extents, or strides in bytes, stored inline: {2, 3}, {rows, columns}, an array, a vector. More than GTH_MAX_NDIM
/// values are stored as a rank that every call rejects with GTH_E_RANK.
class Dims {
 public:
  Dims() noexcept = default;
  Dims(std::initializer_list<Extent> values) noexcept {
    size_ = static_cast<int32_t>(std::min<size_t>(values.size(), GTH_MAX_NDIM + 1));
    for (int32_t i = 0; i < std::min<int32_t>(size_, GTH_MAX_NDIM); ++i) values_[i] = values.begin()[i].value;
  }
  template <class Range, class = decltype(std::data(std::declval<const Range&>()))>
  Dims(const Range& values) noexcept : Dims(std::data(values), std::size(values)) {}
  template <class Integer>
  Dims(const Integer* values, size_t count) noexcept {
    assign(values, count);
  }
  Dims(const Dims& other) noexcept { assign(other.values_, static_cast<size_t>(other.size_)); }
  Dims& operator=(const Dims& other) noexcept { return assign(other.values_, static_cast<size_t>(other.size_)); }
  const int64_t* data() const noexcept { return values_; }
  int32_t size() const noexcept { return size_; }

 private:
  template <class Integer>
  Dims& assign(const Integer* values, size_t count) noexcept {
    static_assert(std::is_integral_v<Integer>, "extents and strides are integers");
    size_ = static_cast<int32_t>(std::min<size_t>(count, GTH_MAX_NDIM + 1));
    std::copy_n(values, std::min<size_t>(count, GTH_MAX_NDIM), values_);
    return *this;
  }
  int32_t size_ = 0;
  int64_t values_[GTH_MAX_NDIM];
};

class Tensor;
class Packed;
class Table;

/// An operand of a call: memory of the caller, a Tensor, Packed rows, or a Table.
///
/// It is a gth_tensor_desc that contains its own shape and strides. It owns no memory. The memory or the Tensor must
/// outlive the calls that the view is passed to, and the tensors that are created over it. A pointer to const makes a
/// read-only view, which no call writes.
class View {
 public:
  /// The tensor itself. An empty Tensor causes GTH_E_NULL.
  View(const Tensor& tensor) noexcept;
  /// The rows themselves, which only params may be. An empty Packed causes GTH_E_NULL.
  View(const Packed& rows) noexcept;
  /// The rows of the table, which only params, scales and zeros may be. An empty Table causes GTH_E_NULL.
  View(const Table& table) noexcept;
  /// Dense row-major data of a C++ type, or of any dtype, such as GTH_DTYPE_BFLOAT16.
  template <class T, class = IfElement<T> >
  View(T* const& data, const Dims& shape) noexcept : View(dtype_of<T>(), shape, data, std::is_const_v<T>) {}
  View(void* data, int32_t dtype, const Dims& shape) noexcept : View(dtype, shape, data, false) {}
  View(const void* data, int32_t dtype, const Dims& shape) noexcept : View(dtype, shape, data, true) {}
  /// A std::vector, std::array, array or span, with one dim or with the given shape. A shape that needs more elements
  /// causes GTH_E_STRIDE. A shape that needs fewer uses the first ones.
  template <class Range, class T = detail::ElementOf<Range>, class = detail::IfLasting<Range> >
  View(Range&& values) noexcept : View(values, Dims{std::size(values)}) {}
  template <class Range, class T = detail::ElementOf<Range>, class = detail::IfLasting<Range> >
  View(Range&& values, const Dims& shape) noexcept
      : View(dtype_of<T>(), shape, std::size(values) == 0 ? nullptr : std::data(values), std::is_const_v<T>) {
    extent(static_cast<int64_t>(std::size(values) * sizeof(T)));
  }
  /// A std::mdspan, or a class with the same members, of any layout that has strides.
  template <class Span, class T = IfElement<typename Span::element_type>,
            class = std::enable_if_t<detail::IsMdspan<Span>::value> >
  View(const Span& span) noexcept : View(dtype_of<T>(), Dims(), span.data_handle(), std::is_const_v<T>) {
    int64_t extents[GTH_MAX_NDIM], bytes[GTH_MAX_NDIM];
    for (size_t i = 0; i < Span::rank(); ++i) {
      extents[i] = static_cast<int64_t>(span.extent(i));
      bytes[i] = static_cast<int64_t>(span.stride(i)) * static_cast<int64_t>(sizeof(T));
    }
    shape_ = Dims(extents, Span::rank());
    desc_.ndim = shape_.size();
    strides(Dims(bytes, Span::rank()));
  }
  /// Copies a description, with its shape and strides.
  explicit View(const gth_tensor_desc& desc) noexcept : desc_(desc), shape_(desc.shape, rank(desc)) {
    if (desc.tensor == nullptr) desc_.shape = shape_.data();
    if (desc.strides != nullptr) strides(Dims(desc.strides, rank(desc)));
  }
  View(const View& other) noexcept : desc_(other.desc_), shape_(other.shape_), strides_(other.strides_) { point(); }
  View& operator=(const View& other) noexcept {
    desc_ = other.desc_;
    shape_ = other.shape_;
    strides_ = other.strides_;
    return point();
  }
  /// Creates a view without data, for plans and shape queries. One extent may be GTH_OPEN if a plan allows it.
  static View layout(int32_t dtype, const Dims& shape) noexcept { return View(dtype, shape, nullptr, false); }
  template <class T>
  static View layout(const Dims& shape) noexcept {
    return layout(dtype_of<T>(), shape);
  }

  // A setter of an lvalue returns a reference. A setter of a temporary returns a copy, so that a reference may be bound
  // to the result. Views of a Tensor have no setters: a field that is set causes GTH_E_VERSION.

  /// Sets one stride in bytes for each dim. Zero and negative strides are valid. Another number of strides causes
  /// GTH_E_RANK.
  View& strides(const Dims& bytes) & noexcept {
    desc_.ndim = bytes.size() == shape_.size() ? shape_.size() : GTH_MAX_NDIM + 1;
    desc_.strides = strides_.data();
    return set(strides_, bytes);
  }
  View strides(const Dims& bytes) && noexcept { return strides(bytes); }
  /// Sets the bytes from data to element 0.
  View& offset(int64_t bytes) & noexcept { return set(desc_.offset, bytes); }
  View offset(int64_t bytes) && noexcept { return offset(bytes); }
  /// Sets the bytes of memory from data. 0 means up to the highest byte that shape and strides reach.
  View& extent(int64_t bytes) & noexcept { return set(desc_.extent, bytes); }
  View extent(int64_t bytes) && noexcept { return extent(bytes); }
  View& device(int32_t kind, int32_t id = 0) & noexcept { return set(desc_.device, kind).set(desc_.device_id, id); }
  View device(int32_t kind, int32_t id = 0) && noexcept { return device(kind, id); }
  View& readonly() & noexcept { return set(desc_.flags, desc_.flags | GTH_TENSOR_READONLY); }
  View readonly() && noexcept { return readonly(); }

  int32_t dtype() const noexcept { return detail::described(desc_).dtype; }
  /// Returns the description, or NULL for an empty Tensor. It is valid as long as the view.
  const gth_tensor_desc* raw() const&& = delete;
  const gth_tensor_desc* raw() const& noexcept {
    return desc_.shape != nullptr || desc_.tensor != nullptr ? &desc_ : nullptr;
  }

 private:
  View(int32_t dtype, const Dims& shape, const void* data, bool readonly) noexcept : shape_(shape) {
    desc_.dtype = dtype;
    desc_.ndim = shape.size();
    desc_.flags = readonly ? GTH_TENSOR_READONLY : 0;
    desc_.data = data;
    desc_.shape = shape_.data();
  }
  /// Makes the description point to the shape and strides of this view.
  View& point() noexcept {
    if (desc_.shape != nullptr) desc_.shape = shape_.data();
    if (desc_.strides != nullptr) desc_.strides = strides_.data();
    return *this;
  }
  template <class Field, class Value>
  View& set(Field& field, const Value& value) noexcept {
    field = value;
    return *this;
  }
  static size_t rank(const gth_tensor_desc& desc) noexcept { return static_cast<size_t>(std::max(desc.ndim, 0)); }

  gth_tensor_desc desc_ = GTH_TENSOR_DESC_INIT;
  Dims shape_;
  Dims strides_;
};

/// The operands of gather_bags that divide indices into bags, and that weight the ids. Without them, the bags are dense
/// and have no weights: Bags(offsets).weights(w).
class Bags {
 public:
  Bags() noexcept = default;
  /// Numbers in the format that Options::bag_format sets, such as offsets.
  template <class Numbers, class = std::enable_if_t<std::is_convertible_v<Numbers, View> > >
  Bags(Numbers&& numbers) noexcept : numbers_(View(std::forward<Numbers>(numbers))) {}
  Bags& weights(const View& weights) & noexcept { return weights_ = weights, *this; }
  Bags weights(const View& value) && noexcept { return weights(value); }

  /// Sets the operands of a request. They are valid as long as the bags.
  void add_to(gth_request* request) const& noexcept {
    if (numbers_) request->bags = numbers_->raw();
    if (weights_) request->weights = weights_->raw();
  }

 private:
  std::optional<View> numbers_, weights_;
};

// The choices of Options. The names are those of gather.h, which documents them. A constant of another choice does not
// compile.

// Begin of the choices that ./dev generate writes.
/// The system whose results a call has in every edge case.
enum class Profile : int32_t {
  tensorflow = GTH_PROFILE_TENSORFLOW,
  tensorflow_gpu = GTH_PROFILE_TENSORFLOW_GPU,
  onnx = GTH_PROFILE_ONNX,
  ort = GTH_PROFILE_ORT,
  numpy_raise = GTH_PROFILE_NUMPY_RAISE,
  numpy_wrap = GTH_PROFILE_NUMPY_WRAP,
  numpy_clip = GTH_PROFILE_NUMPY_CLIP,
  torch = GTH_PROFILE_TORCH,
  jax_fill = GTH_PROFILE_JAX_FILL,
  jax_clip = GTH_PROFILE_JAX_CLIP,
};
/// The meaning of a negative index.
enum class Negative : int32_t {
  reject = GTH_NEGATIVE_REJECT,
  wrap = GTH_NEGATIVE_WRAP,
};
/// The meaning of an index out of bounds.
enum class Bounds : int32_t {
  error = GTH_BOUNDS_ERROR,
  fill = GTH_BOUNDS_FILL,
  clamp = GTH_BOUNDS_CLAMP,
  modulo = GTH_BOUNDS_MODULO,
  skip = GTH_BOUNDS_SKIP,
  error_partial = GTH_BOUNDS_ERROR_PARTIAL,
};
/// The value that Bounds::fill and padding of gathers write.
enum class Fill : int32_t {
  zero = GTH_FILL_ZERO,
  by_dtype = GTH_FILL_BY_DTYPE,
};
/// The rule for the extents of params and indices of gather_elements and scatter_elements in the dims that are not the
/// axis.
enum class Extents : int32_t {
  equal = GTH_EXTENTS_EQUAL,
  prefix = GTH_EXTENTS_PREFIX,
  broadcast = GTH_EXTENTS_BROADCAST,
};
/// The way in which a scatter combines an update with the row that it selects.
enum class Reduction : int32_t {
  none = GTH_REDUCTION_NONE,
  add = GTH_REDUCTION_ADD,
  mul = GTH_REDUCTION_MUL,
  max = GTH_REDUCTION_MAX,
  min = GTH_REDUCTION_MIN,
  mean = GTH_REDUCTION_MEAN,
};
/// The type in which scatters, gradients and bags add and multiply floating numbers.
enum class Accumulate : int32_t {
  dtype = GTH_ACCUMULATE_DTYPE,
  float32 = GTH_ACCUMULATE_FLOAT32,
  float64 = GTH_ACCUMULATE_FLOAT64,
};
/// The way in which the operand bags of gather_bags divides indices into bags.
enum class BagFormat : int32_t {
  offsets = GTH_BAGS_OFFSETS,
  starts = GTH_BAGS_STARTS,
  lengths = GTH_BAGS_LENGTHS,
  segments = GTH_BAGS_SEGMENTS,
  dense = GTH_BAGS_DENSE,
};
/// The way in which gather_bags makes one row of the rows of a bag.
enum class Pool : int32_t {
  sum = GTH_POOL_SUM,
  mean = GTH_POOL_MEAN,
  sqrtn = GTH_POOL_SQRTN,
  max = GTH_POOL_MAX,
  min = GTH_POOL_MIN,
};
/// The row of a bag of gather_bags of which no id is read.
enum class Empty : int32_t {
  zero = GTH_EMPTY_ZERO,
  fill = GTH_EMPTY_FILL,
  error = GTH_EMPTY_ERROR,
};
/// The value that the reduction of a row by a scatter begins with: the row of target, or the first update.
enum class Initial : int32_t {
  target = GTH_INITIAL_TARGET,
  update = GTH_INITIAL_UPDATE,
};
/// The order in which a scatter, a gradient or a gradient of bags on a CUDA device combines the updates of an element.
enum class Order : int32_t {
  updates = GTH_ORDER_UPDATES,
  any = GTH_ORDER_ANY,
};
// End of the choices that ./dev generate writes.

/// gth_options, set by name: Options().axis(1).bounds(Bounds::clamp). Options that are not set have their documented
/// defaults. A setter of an lvalue returns a reference. A setter of a temporary returns a copy, so that a reference may
/// be bound to the result.
class Options {
 public:
  // Begin of the setters that ./dev generate writes.
  /// Sets the dim of params that indices select in. A negative axis counts from the end. The default is the number of
  /// batch dims.
  Options& axis(int64_t value) & noexcept { return set(raw_.has_axis, 1).set(raw_.axis, value); }
  Options axis(int64_t value) && noexcept { return axis(value); }
  /// Sets the number of leading dims that params and indices share. For gather a negative number counts from the rank
  /// of indices. The default is 0.
  Options& batch_dims(int64_t value) & noexcept { return set(raw_.batch_dims, value); }
  Options batch_dims(int64_t value) && noexcept { return batch_dims(value); }
  /// Sets the system whose results a call has in every edge case. Other options override its switches. The default is
  /// no profile.
  Options& profile(Profile value) & noexcept { return set(raw_.profile, value); }
  Options profile(Profile value) && noexcept { return profile(value); }
  /// Sets the ONNX version of Profile::onnx and Profile::ort. The default, 0, is the newest.
  Options& opset(int32_t value) & noexcept { return set(raw_.opset, value); }
  Options opset(int32_t value) && noexcept { return opset(value); }
  /// Sets the meaning of a negative index. The default is that of the profile, else Negative::reject.
  Options& negative(Negative value) & noexcept { return set(raw_.negative, value); }
  Options negative(Negative value) && noexcept { return negative(value); }
  /// Sets the meaning of an index out of bounds. The default is that of the profile, else Bounds::error.
  Options& bounds(Bounds value) & noexcept { return set(raw_.bounds, value); }
  Options bounds(Bounds value) && noexcept { return bounds(value); }
  /// Sets the value that Bounds::fill and padding of gathers write. The default is that of the profile, else
  /// Fill::zero.
  Options& fill(Fill value) & noexcept { return set(raw_.fill, value); }
  Options fill(Fill value) && noexcept { return fill(value); }
  /// Sets the rule for the extents of params and indices of gather_elements and scatter_elements in the dims that are
  /// not the axis. The default is that of the profile, else Extents::equal.
  Options& extents(Extents value) & noexcept { return set(raw_.extents, value); }
  Options extents(Extents value) && noexcept { return extents(value); }
  /// Sets the way in which a scatter combines an update with the row that it selects. Other calls reject it. The
  /// default is Reduction::none.
  Options& reduction(Reduction value) & noexcept { return set(raw_.reduction, value); }
  Options reduction(Reduction value) && noexcept { return reduction(value); }
  /// Sets the type in which scatters, gradients and bags add and multiply floating numbers. Other calls reject it. The
  /// default is that of the profile, else Accumulate::dtype. For bags it is Accumulate::float32.
  Options& accumulate(Accumulate value) & noexcept { return set(raw_.accumulate, value); }
  Options accumulate(Accumulate value) && noexcept { return accumulate(value); }
  /// Sets the highest number of CPU threads of a call. The default, 0, is that of the context.
  Options& threads(int32_t value) & noexcept { return set(raw_.threads, value); }
  Options threads(int32_t value) && noexcept { return threads(value); }
  /// Sets the way in which the operand bags of gather_bags divides indices into bags. The default is BagFormat::offsets
  /// if there are bags, else BagFormat::dense.
  Options& bag_format(BagFormat value) & noexcept { return set(raw_.bag_format, value); }
  Options bag_format(BagFormat value) && noexcept { return bag_format(value); }
  /// Sets the way in which gather_bags makes one row of the rows of a bag. The default is Pool::sum.
  Options& pool(Pool value) & noexcept { return set(raw_.pool, value); }
  Options pool(Pool value) && noexcept { return pool(value); }
  /// Sets the row of a bag of gather_bags of which no id is read. The default is that of the profile, else Empty::zero.
  Options& empty(Empty value) & noexcept { return set(raw_.empty, value); }
  Options empty(Empty value) && noexcept { return empty(value); }
  /// Sets an index that selects nothing and causes no error, even out of bounds. A gather fills its row as the option
  /// for fill values states, by default with zeros. A scatter drops its update. gather_bags does not count it. The
  /// default is no index.
  Options& padding_index(int64_t value) & noexcept {
    return set(raw_.has_padding_index, 1).set(raw_.padding_index, value);
  }
  Options padding_index(int64_t value) && noexcept { return padding_index(value); }
  /// Sets the value that the reduction of a row by a scatter begins with: the row of target, or the first update. The
  /// default is Initial::target.
  Options& initial(Initial value) & noexcept { return set(raw_.initial, value); }
  Options initial(Initial value) && noexcept { return initial(value); }
  /// Sets the dtype of pooled rows: that of params, or float32 for float16 and bfloat16. The default is that of params.
  Options& out_dtype(int32_t value) & noexcept { return set(raw_.out_dtype, value); }
  Options out_dtype(int32_t value) && noexcept { return out_dtype(value); }
  /// Sets the order in which a scatter, a gradient or a gradient of bags on a CUDA device combines the updates of an
  /// element. On the CPU it is always that of the updates. The default is Order::updates.
  Options& order(Order value) & noexcept { return set(raw_.order, value); }
  Options order(Order value) && noexcept { return order(value); }
  // End of the setters that ./dev generate writes.

  /// Sets the number of bags of GTH_BAGS_SEGMENTS.
  Options& bag_count(int64_t value) & noexcept { return set(raw_.bag_count, value).bag_format(BagFormat::segments); }
  Options bag_count(int64_t value) && noexcept { return bag_count(value); }
  /// Sets the element that rows out of bounds and of padding are filled with, and bounds to fill. A call with params of
  /// another dtype returns GTH_E_DTYPE.
  template <class T, class = IfElement<T> >
  Options& fill_value(const T& value) & noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(raw_.fill_value), "one element of params");
    std::memcpy(raw_.fill_value, &value, sizeof(T));
    return set(raw_.fill_dtype, dtype_of<T>()).bounds(Bounds::fill).set(raw_.fill, GTH_FILL_VALUE);
  }
  template <class T, class = IfElement<T> >
  Options fill_value(const T& value) && noexcept {
    return fill_value(value);
  }
  /// Returns NULL if nothing has been set, because the library reads NULL faster. The result is valid as long as the
  /// options.
  const gth_options* get() const&& = delete;
  const gth_options* get() const& noexcept { return changed_ ? &raw_ : nullptr; }

 private:
  template <class Field, class Value>
  Options& set(Field& field, const Value& value) noexcept {
    changed_ = true;
    field = static_cast<Field>(value);
    return *this;
  }
  gth_options raw_ = GTH_OPTIONS_INIT;
  bool changed_ = false;
};

/// The owner of a C handle. It is moved and never copied, and releases the handle when it is destroyed. An empty owner
/// holds NULL.
template <class Raw, int32_t (*Release)(Raw*)>
class Handle {
 public:
  Handle() noexcept = default;
  explicit Handle(Raw* raw) noexcept : raw_(raw) {}  ///< Takes ownership of raw.
  Handle(Handle&& other) noexcept : raw_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept { return reset(other.release()), *this; }
  ~Handle() { reset(); }
  Raw* get() const noexcept { return raw_; }
  Raw* release() noexcept { return std::exchange(raw_, nullptr); }  ///< Transfers ownership to the caller.
  void reset(Raw* raw = nullptr) noexcept {
    if (Raw* const old = std::exchange(raw_, raw)) Release(old);
  }
  explicit operator bool() const noexcept { return raw_ != nullptr; }

  /// Stores the handle that f(arguments.., &raw, err) creates, or nothing if it fails.
  template <class F, class... Arguments>
  [[nodiscard]] int32_t hold(gth_error* err, F f, Arguments... arguments) noexcept {
    Raw* made = nullptr;
    const int32_t status = f(arguments..., &made, err);
    reset(made);
    return status;
  }

 private:
  Raw* raw_ = nullptr;
};

/// Where calls run. Context() is the default CPU context of the process. Hooks and their user pointers must outlive the
/// context, and memory hooks must outlive every tensor made with it.
class Context : public Handle<gth_context, gth_context_release> {
 public:
  using Handle::Handle;
  Context() noexcept = default;
  explicit Context(const gth_context_options& options) { detail::call(try_make, &options, this); }
  [[nodiscard]] static int32_t try_make(const gth_context_options* options, Context* out, gth_error* err) noexcept {
    return out->hold(err, gth_context_create, options);
  }
  void sync() const { detail::call(gth_context_sync, get()); }
  [[nodiscard]] int32_t try_sync(gth_error* err) const noexcept { return gth_context_sync(get(), err); }
  void wait(CUstream_st* stream) const { detail::call(gth_context_wait, get(), stream); }
  [[nodiscard]] int32_t try_wait(CUstream_st* stream, gth_error* err) const noexcept {
    return gth_context_wait(get(), stream, err);
  }
  void signal(CUstream_st* stream) const { detail::call(gth_context_signal, get(), stream); }
  [[nodiscard]] int32_t try_signal(CUstream_st* stream, gth_error* err) const noexcept {
    return gth_context_signal(get(), stream, err);
  }
  /// Waits for the stream. Throws IndexError for the first invalid index of the device calls since the last take.
  void take_error() const { detail::call(gth_context_take_error, get()); }
  [[nodiscard]] int32_t try_take_error(gth_error* err) const noexcept { return gth_context_take_error(get(), err); }
  void enqueue_take_error(gth_error_record* to) const { detail::call(gth_context_enqueue_take_error, get(), to); }
  [[nodiscard]] int32_t try_enqueue_take_error(gth_error_record* to, gth_error* err) const noexcept {
    return gth_context_enqueue_take_error(get(), to, err);
  }
};

/// A tensor. Borrowed memory must stay valid until the tensor is released. The tensor owns any other memory. Functions
/// that return pointers into a tensor cannot be called on a temporary, such as gather(..).data<float>().
class Tensor : public Handle<gth_tensor, gth_tensor_release> {
 public:
  using Handle::Handle;

  /// Creates a tensor over memory of the caller, without a copy.
  static Tensor borrow(const View& view) {
    return detail::make<Tensor>([&](Tensor* out, gth_error* err) { return try_borrow(view, out, err); });
  }
  [[nodiscard]] static int32_t try_borrow(const View& view, Tensor* out, gth_error* err) noexcept {
    return out->hold(err, gth_tensor_borrow, view.raw());
  }
  /// Creates a tensor that takes ownership of memory. deleter() must not throw. It runs once, on any thread, when the
  /// tensor and all its exports have been released. If adopt fails, the deleter has neither run nor been moved from.
  /// The caller still owns the resources of the deleter. A temporary deleter then destroys them at the end of the
  /// expression. To keep them, pass a named deleter by std::move.
  template <class Deleter>
  static Tensor adopt(const View& view, Deleter&& deleter, const Context& context = {}) {
    return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
      return try_adopt(view, std::forward<Deleter>(deleter), out, err, context);
    });
  }
  /// The copy or the move of the deleter may throw. Nothing else throws. out is then unchanged.
  template <class Deleter>
  [[nodiscard]] static int32_t try_adopt(
      const View& view, Deleter&& deleter, Tensor* out, gth_error* err,
      const Context& context = {}) noexcept(std::is_nothrow_constructible_v<std::decay_t<Deleter>, Deleter&&>) {
    using Held = std::optional<std::decay_t<Deleter> >;
    std::unique_ptr<Held> held(new (std::nothrow) Held);
    if (held == nullptr) {
      out->reset();
      return detail::refuse_memory(err, GTH_OPERAND_NONE, sizeof(Held), "no memory");
    }
    Tensor made;
    void* const user = held.get();
    const int32_t status =
        made.hold(err, gth_tensor_adopt, context.get(), view.raw(), detail::run_deleter<std::decay_t<Deleter> >, user);
    if (status == GTH_OK) held.release()->emplace(std::forward<Deleter>(deleter));
    *out = std::move(made);
    return status;
  }
  /// Creates a tensor that owns the elements of a vector, with one dim or with the given shape. The elements are not
  /// copied. If the call fails, the vector is unchanged.
  template <class T, class = IfElement<T> >
  static Tensor from(std::vector<T>&& values) {
    const Dims shape{values.size()};
    return from(std::move(values), shape);
  }
  template <class T, class = IfElement<T> >
  static Tensor from(std::vector<T>&& values, const Dims& shape) {
    static_assert(!std::is_same_v<T, bool>, "a std::vector<bool> has no array of bools");
    const View view(values, shape);
    return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
      detail::Kept<T> kept{std::move(values)};
      const int32_t status = try_adopt(view, std::move(kept), out, err);
      if (status != GTH_OK) values = std::move(kept.values);  // A call that fails does not move the deleter.
      return status;
    });
  }
  /// Creates a tensor of zeros in new memory of the context.
  static Tensor alloc(int32_t dtype, const Dims& shape, const Context& context = {}) {
    return detail::make<Tensor>(
        [&](Tensor* out, gth_error* err) { return try_alloc(dtype, shape, out, err, context); });
  }
  [[nodiscard]] static int32_t try_alloc(int32_t dtype, const Dims& shape, Tensor* out, gth_error* err,
                                         const Context& context = {}) noexcept {
    return out->hold(err, gth_tensor_alloc, context.get(), dtype, shape.size(), shape.data());
  }

  /// Returns shape, strides and data. They are valid until the tensor is released.
  gth_tensor_desc describe() const&& = delete;
  gth_tensor_desc describe() const& {
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    detail::call(gth_tensor_describe, get(), &desc);
    return desc;
  }
  std::vector<int64_t> shape() const {
    const gth_tensor_desc desc = describe();
    return std::vector<int64_t>(desc.shape, desc.shape + desc.ndim);
  }
  /// Returns the address of element 0 on the tensor's device. T must be the element type (GTH_E_DTYPE), and const if
  /// the memory is read-only (GTH_E_READONLY). Packed rows have no elements (GTH_E_UNSUPPORTED).
  template <class T>
  T* data() const&& = delete;
  template <class T>
  T* data() const& {
    T* element = nullptr;
    detail::call([&](gth_error* err) { return try_data(&element, err); });
    return element;
  }
  template <class T>
  [[nodiscard]] int32_t try_data(T** out, gth_error* err) const&& = delete;
  template <class T>
  [[nodiscard]] int32_t try_data(T** out, gth_error* err) const& noexcept {
    static_assert(dtype_of<T>() != 0, "T has no dtype: specialise gather::Dtype");
    *out = nullptr;
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    const int32_t status = gth_tensor_describe(get(), &desc, err);
    if (status != GTH_OK) return status;
    if (desc.dtype != dtype_of<T>())
      return detail::refuse_dtype(err, GTH_OPERAND_TENSOR, -1, "tensor", desc.dtype, dtype_of<T>());
    if (desc.codec != nullptr)
      return detail::refuse(err, GTH_E_UNSUPPORTED, GTH_OPERAND_TENSOR, -1, 0, 0,
                            "tensor: packed rows have no elements");
    if (!std::is_const_v<T> && (desc.flags & GTH_TENSOR_READONLY) != 0)
      return detail::refuse(err, GTH_E_READONLY, GTH_OPERAND_TENSOR, -1, 0, 0, "tensor: the memory is read-only");
    *out = const_cast<T*>(reinterpret_cast<const T*>(static_cast<const char*>(desc.data) + desc.offset));
    return GTH_OK;
  }
  /// Returns all elements in row-major order, for any strides and any device. Waits for the context.
  template <class T>
  std::vector<T> to_vector(const Context& context = {}) const {
    const std::vector<int64_t> extents = shape();
    const size_t count = detail::count(extents.data(), extents.size());
    if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> contains no array of bool.
      const auto values = std::make_unique<bool[]>(count);
      read(View(count == 0 ? nullptr : values.get(), extents), context);
      return std::vector<bool>(values.get(), values.get() + count);
    } else {
      std::vector<T> values(count);
      read(View(values, extents), context);
      return values;
    }
  }
  /// Copies all elements to an operand of the same dtype and shape, on any device that the context can access.
  void copy_to(const View& destination, const Context& context = {}) const {
    detail::call([&](gth_error* err) { return try_copy_to(destination, err, context); });
  }
  [[nodiscard]] int32_t try_copy_to(const View& destination, gth_error* err,
                                    const Context& context = {}) const noexcept {
    const View source(*this);
    return gth_copy(context.get(), source.raw(), destination.raw(), err);
  }

  /// Creates a tensor from DLPack. Ownership is taken if and only if the call succeeds.
  static Tensor from_dlpack(DLManagedTensorVersioned* managed, const Context& context = {}) {
    return detail::make<Tensor>(
        [&](Tensor* out, gth_error* err) { return try_from_dlpack(managed, out, err, context); });
  }
  static Tensor from_dlpack(DLManagedTensor* managed, const Context& context = {}) {
    return detail::make<Tensor>(
        [&](Tensor* out, gth_error* err) { return try_from_dlpack(managed, out, err, context); });
  }
  [[nodiscard]] static int32_t try_from_dlpack(DLManagedTensorVersioned* managed, Tensor* out, gth_error* err,
                                               const Context& context = {}) noexcept {
    return out->hold(err, gth_tensor_from_dlpack, context.get(), managed);
  }
  [[nodiscard]] static int32_t try_from_dlpack(DLManagedTensor* managed, Tensor* out, gth_error* err,
                                               const Context& context = {}) noexcept {
    return out->hold(err, gth_tensor_from_dlpack_legacy, context.get(), managed);
  }
  /// Exports to DLPack. The caller owns the result and calls its deleter.
  /// @param flags  GTH_EXPORT_*
  DLManagedTensorVersioned* to_dlpack(uint32_t flags = 0, const Context& context = {}) const {
    DLManagedTensorVersioned* managed = nullptr;
    detail::call(gth_tensor_to_dlpack, context.get(), get(), flags, &managed);
    return managed;
  }
  DLManagedTensor* to_dlpack_legacy(uint32_t flags = 0, const Context& context = {}) const {
    DLManagedTensor* managed = nullptr;
    detail::call(gth_tensor_to_dlpack_legacy, context.get(), get(), flags, &managed);
    return managed;
  }
  [[nodiscard]] int32_t try_to_dlpack(DLManagedTensorVersioned** out, gth_error* err, uint32_t flags = 0,
                                      const Context& context = {}) const noexcept {
    return gth_tensor_to_dlpack(context.get(), get(), flags, out, err);
  }
  [[nodiscard]] int32_t try_to_dlpack_legacy(DLManagedTensor** out, gth_error* err, uint32_t flags = 0,
                                             const Context& context = {}) const noexcept {
    return gth_tensor_to_dlpack_legacy(context.get(), get(), flags, out, err);
  }

  /// Creates a tensor of strings from Arrow, with one dim or with the given shape. The array is moved if and only if
  /// the call succeeds.
  static Tensor from_arrow(const ArrowSchema* schema, ArrowArray* array, const Dims* shape = nullptr,
                           const Context& context = {}) {
    return detail::make<Tensor>(
        [&](Tensor* out, gth_error* err) { return try_from_arrow(schema, array, out, err, shape, context); });
  }
  [[nodiscard]] static int32_t try_from_arrow(const ArrowSchema* schema, ArrowArray* array, Tensor* out, gth_error* err,
                                              const Dims* shape = nullptr, const Context& context = {}) noexcept {
    return out->hold(err, gth_tensor_from_arrow, context.get(), schema, array, shape != nullptr ? shape->size() : -1,
                     shape != nullptr ? shape->data() : nullptr);
  }
  /// Exports strings to Arrow. Both structs are overwritten, and the caller calls their releases.
  void to_arrow(ArrowSchema* schema, ArrowArray* array, uint32_t flags = 0, const Context& context = {}) const {
    detail::call(gth_tensor_to_arrow, context.get(), get(), flags, schema, array);
  }
  [[nodiscard]] int32_t try_to_arrow(ArrowSchema* schema, ArrowArray* array, gth_error* err, uint32_t flags = 0,
                                     const Context& context = {}) const noexcept {
    return gth_tensor_to_arrow(context.get(), get(), flags, schema, array, err);
  }
  /// Creates a tensor of strings over buffers: string i is bytes[offsets[i] .. offsets[i + 1]). The buffers are
  /// borrowed if there is no deleter. Otherwise ownership is taken if and only if the call succeeds.
  /// @param flags  GTH_STRINGS_BINARY, or 0
  static Tensor from_strings(const int64_t* offsets, std::string_view bytes, const Dims& shape, uint32_t flags = 0,
                             gth_deleter_fn deleter = nullptr, void* user = nullptr, const Context& context = {}) {
    return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
      return try_from_strings(offsets, bytes, shape, out, err, flags, deleter, user, context);
    });
  }
  [[nodiscard]] static int32_t try_from_strings(const int64_t* offsets, std::string_view bytes, const Dims& shape,
                                                Tensor* out, gth_error* err, uint32_t flags = 0,
                                                gth_deleter_fn deleter = nullptr, void* user = nullptr,
                                                const Context& context = {}) noexcept {
    const void* const data = bytes.data();
    const auto extent = static_cast<int64_t>(bytes.size());
    return out->hold(err, gth_tensor_from_strings, context.get(), flags, shape.size(), shape.data(), offsets, data,
                     extent, deleter, user);
  }
  /// Returns the strings in row-major order. They are valid until the tensor is released.
  std::vector<std::string_view> strings() const&& = delete;
  std::vector<std::string_view> strings() const& {
    const int64_t* offsets = nullptr;
    const void* bytes = nullptr;
    detail::call(gth_tensor_strings, get(), &offsets, &bytes);
    const std::vector<int64_t> extents = shape();
    std::vector<std::string_view> views(detail::count(extents.data(), extents.size()));
    for (size_t i = 0; i < views.size(); ++i)
      views[i] = {static_cast<const char*>(bytes) + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
    return views;
  }

 private:
  void read(const View& destination, const Context& context) const {
    copy_to(destination, context);
    context.sync();
  }
};

inline View::View(const Tensor& tensor) noexcept : desc_ GTH_TENSOR_DESC_HANDLE(tensor.get()) {}

namespace detail {

// The forms of an operation. Each class is one form of every operation, and op is the number of the operation. The
// forms are called like functions.

inline gth_request request(int32_t op, const View& table, const View& indices, const View* rows,
                           const Options& options) noexcept {
  return GTH_REQUEST(op, table.raw(), indices.raw(), rows != nullptr ? rows->raw() : nullptr, options.get());
}

[[nodiscard]] inline int32_t make(int32_t op, const View& table, const View& indices, const View* rows, Tensor* out,
                                  gth_error* err, const Options& options, const Context& context) noexcept {
  const gth_request asked = request(op, table, indices, rows, options);
  return out->hold(err, gth_make, context.get(), &asked);
}

struct TryGather {
  int32_t op;
  [[nodiscard]] int32_t operator()(const View& params, const View& indices, Tensor* out, gth_error* err,
                                   const Options& options = {}, const Context& context = {}) const noexcept {
    return make(op, params, indices, nullptr, out, err, options, context);
  }
};
struct Gather {
  int32_t op;
  Tensor operator()(const View& params, const View& indices, const Options& options = {},
                    const Context& context = {}) const {
    return detail::make<Tensor>(
        [&](Tensor* out, gth_error* err) { return TryGather{op}(params, indices, out, err, options, context); });
  }
#ifdef __cpp_lib_expected
  /// Returns an error instead of throwing it.
  std::expected<Tensor, Error> expected(const View& params, const View& indices, const Options& options = {},
                                        const Context& context = {}) const noexcept {
    return expect<Tensor>(
        [&](Tensor* out, gth_error* err) { return TryGather{op}(params, indices, out, err, options, context); });
  }
#endif
};

struct TryScatter {
  int32_t op;
  [[nodiscard]] int32_t operator()(const View& target, const View& indices, const View& updates, Tensor* out,
                                   gth_error* err, const Options& options = {},
                                   const Context& context = {}) const noexcept {
    return make(op, target, indices, &updates, out, err, options, context);
  }
};
struct Scatter {
  int32_t op;
  Tensor operator()(const View& target, const View& indices, const View& updates, const Options& options = {},
                    const Context& context = {}) const {
    return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
      return TryScatter{op}(target, indices, updates, out, err, options, context);
    });
  }
#ifdef __cpp_lib_expected
  /// Returns an error instead of throwing it.
  std::expected<Tensor, Error> expected(const View& target, const View& indices, const View& updates,
                                        const Options& options = {}, const Context& context = {}) const noexcept {
    return expect<Tensor>([&](Tensor* out, gth_error* err) {
      return TryScatter{op}(target, indices, updates, out, err, options, context);
    });
  }
#endif
};

struct TryGradient {
  int32_t op;
  [[nodiscard]] int32_t operator()(const View& gradient, const View& indices, const Dims& shape, Tensor* out,
                                   gth_error* err, const Options& options = {},
                                   const Context& context = {}) const noexcept {
    return make(op, View::layout(gradient.dtype(), shape), indices, &gradient, out, err, options, context);
  }
};
struct Gradient {
  int32_t op;
  Tensor operator()(const View& gradient, const View& indices, const Dims& shape, const Options& options = {},
                    const Context& context = {}) const {
    return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
      return TryGradient{op}(gradient, indices, shape, out, err, options, context);
    });
  }
#ifdef __cpp_lib_expected
  /// Returns an error instead of throwing it.
  std::expected<Tensor, Error> expected(const View& gradient, const View& indices, const Dims& shape,
                                        const Options& options = {}, const Context& context = {}) const noexcept {
    return expect<Tensor>([&](Tensor* out, gth_error* err) {
      return TryGradient{op}(gradient, indices, shape, out, err, options, context);
    });
  }
#endif
};

/// Writes into existing memory. table, indices and rows are params, indices and out of a gather, and target, indices
/// and updates of a scatter.
struct TryInto {
  int32_t op;
  [[nodiscard]] int32_t operator()(const View& table, const View& indices, const View& rows, gth_error* err,
                                   const Options& options = {}, const Context& context = {}) const noexcept {
    return gth_run(context.get(), op, table.raw(), indices.raw(), rows.raw(), options.get(), err);
  }
};
struct Into {
  int32_t op;
  void operator()(const View& table, const View& indices, const View& rows, const Options& options = {},
                  const Context& context = {}) const {
    Thrown err;
    err.unless_ok(TryInto{op}(table, indices, rows, &err, options, context));
  }
#ifdef __cpp_lib_expected
  /// Returns an error instead of throwing it.
  std::expected<void, Error> expected(const View& table, const View& indices, const View& rows,
                                      const Options& options = {}, const Context& context = {}) const noexcept {
    return expect_ok([&](gth_error* err) { return TryInto{op}(table, indices, rows, err, options, context); });
  }
#endif
};

/// A gradient takes the gradient of the output first, and target last.
struct TryGradientInto {
  int32_t op;
  [[nodiscard]] int32_t operator()(const View& gradient, const View& indices, const View& target, gth_error* err,
                                   const Options& options = {}, const Context& context = {}) const noexcept {
    return TryInto{op}(target, indices, gradient, err, options, context);
  }
};
struct GradientInto {
  int32_t op;
  void operator()(const View& gradient, const View& indices, const View& target, const Options& options = {},
                  const Context& context = {}) const {
    Into{op}(target, indices, gradient, options, context);
  }
#ifdef __cpp_lib_expected
  /// Returns an error instead of throwing it.
  std::expected<void, Error> expected(const View& gradient, const View& indices, const View& target,
                                      const Options& options = {}, const Context& context = {}) const noexcept {
    return expect_ok(
        [&](gth_error* err) { return TryGradientInto{op}(gradient, indices, target, err, options, context); });
  }
#endif
};

struct TryGatherBags {
  [[nodiscard]] int32_t operator()(const View& params, const View& indices, const Bags& bags, Tensor* out,
                                   gth_error* err, const Options& options = {},
                                   const Context& context = {}) const noexcept {
    gth_request asked = request(GTH_OP_GATHER_BAGS, params, indices, nullptr, options);
    bags.add_to(&asked);
    return out->hold(err, gth_make, context.get(), &asked);
  }
};
struct GatherBags {
  Tensor operator()(const View& params, const View& indices, const Bags& bags = {}, const Options& options = {},
                    const Context& context = {}) const {
    return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
      return TryGatherBags{}(params, indices, bags, out, err, options, context);
    });
  }
#ifdef __cpp_lib_expected
  /// Returns an error instead of throwing it.
  std::expected<Tensor, Error> expected(const View& params, const View& indices, const Bags& bags = {},
                                        const Options& options = {}, const Context& context = {}) const noexcept {
    return expect<Tensor>([&](Tensor* out, gth_error* err) {
      return TryGatherBags{}(params, indices, bags, out, err, options, context);
    });
  }
#endif
};
struct TryGatherBagsInto {
  [[nodiscard]] int32_t operator()(const View& params, const View& indices, const Bags& bags, const View& out,
                                   gth_error* err, const Options& options = {},
                                   const Context& context = {}) const noexcept {
    gth_request asked = request(GTH_OP_GATHER_BAGS, params, indices, &out, options);
    bags.add_to(&asked);
    return gth_run_request(context.get(), &asked, err);
  }
};
struct GatherBagsInto {
  void operator()(const View& params, const View& indices, const Bags& bags, const View& out,
                  const Options& options = {}, const Context& context = {}) const {
    Thrown err;
    err.unless_ok(TryGatherBagsInto{}(params, indices, bags, out, &err, options, context));
  }
#ifdef __cpp_lib_expected
  /// Returns an error instead of throwing it.
  std::expected<void, Error> expected(const View& params, const View& indices, const Bags& bags, const View& out,
                                      const Options& options = {}, const Context& context = {}) const noexcept {
    return expect_ok(
        [&](gth_error* err) { return TryGatherBagsInto{}(params, indices, bags, out, err, options, context); });
  }
#endif
};

/// The gradients of gather_bags write into existing memory.
/// @tparam call  gth_gather_bags_gradient or gth_gather_bags_weight_gradient.
template <auto call>
struct TryBagGradientInto {
  [[nodiscard]] int32_t operator()(const View& params, const View& indices, const Bags& bags, const View& gradient,
                                   const View& target, gth_error* err, const Options& options = {},
                                   const Context& context = {}) const noexcept {
    gth_request asked = request(GTH_OP_GATHER_BAGS, params, indices, &gradient, options);
    bags.add_to(&asked);
    return call(context.get(), &asked, target.raw(), err);
  }
};
template <auto call>
struct BagGradientInto {
  void operator()(const View& params, const View& indices, const Bags& bags, const View& gradient, const View& target,
                  const Options& options = {}, const Context& context = {}) const {
    Thrown err;
    err.unless_ok(TryBagGradientInto<call>{}(params, indices, bags, gradient, target, &err, options, context));
  }
};
struct TryBagSparseGradientInto {
  [[nodiscard]] int32_t operator()(const View& params, const View& indices, const Bags& bags, const View& gradient,
                                   const View& unique, const View& target, int64_t* count, gth_error* err,
                                   const Options& options = {}, const Context& context = {}) const noexcept {
    gth_request asked = request(GTH_OP_GATHER_BAGS, params, indices, &gradient, options);
    bags.add_to(&asked);
    return gth_gather_bags_sparse_gradient(context.get(), &asked, unique.raw(), target.raw(), count, err);
  }
};
struct BagSparseGradientInto {
  int64_t operator()(const View& params, const View& indices, const Bags& bags, const View& gradient,
                     const View& unique, const View& target, const Options& options = {},
                     const Context& context = {}) const {
    Thrown err;
    int64_t count = 0;
    err.unless_ok(
        TryBagSparseGradientInto{}(params, indices, bags, gradient, unique, target, &count, &err, options, context));
    return count;
  }
};

struct TryBagPositionsInto {
  [[nodiscard]] int32_t operator()(const View& params, const View& indices, const Bags& bags, const View& positions,
                                   gth_error* err, const Options& options = {},
                                   const Context& context = {}) const noexcept {
    gth_request asked = request(GTH_OP_GATHER_BAGS, params, indices, nullptr, options);
    bags.add_to(&asked);
    return gth_gather_bags_positions(context.get(), &asked, positions.raw(), err);
  }
};
struct BagPositionsInto {
  void operator()(const View& params, const View& indices, const Bags& bags, const View& positions,
                  const Options& options = {}, const Context& context = {}) const {
    Thrown err;
    err.unless_ok(TryBagPositionsInto{}(params, indices, bags, positions, &err, options, context));
  }
};

struct TryScatterPositionsInto {
  int32_t op;
  [[nodiscard]] int32_t operator()(const View& target, const View& indices, const View& updates, const View& positions,
                                   gth_error* err, const Options& options = {},
                                   const Context& context = {}) const noexcept {
    const gth_request asked = request(op, target, indices, &updates, options);
    return gth_scatter_positions(context.get(), &asked, positions.raw(), err);
  }
};
struct ScatterPositionsInto {
  int32_t op;
  void operator()(const View& target, const View& indices, const View& updates, const View& positions,
                  const Options& options = {}, const Context& context = {}) const {
    Thrown err;
    err.unless_ok(TryScatterPositionsInto{op}(target, indices, updates, positions, &err, options, context));
  }
};

/// Returns the shape of the rows: the output of a gather, the updates of a scatter. Extents of GTH_OPEN are passed
/// through.
struct Infer {
  int32_t op;
  std::vector<int64_t> operator()(const View& table, const View& indices, const Options& options = {}) const {
    const gth_request asked = request(op, table, indices, nullptr, options);
    return shape(gth_infer, &asked);
  }
};

}  // namespace detail

/// @name Gathers
/// gather takes slices of params along an axis. gather_nd takes slices by tuples, which are the last axis of indices.
/// gather_elements takes single elements along an axis. gather.h defines the shapes.
///
///     Tensor gather(const View& params, const View& indices, const Options& = {}, const Context& = {});
///     void gather_into(const View& params, const View& indices, const View& out, const Options&, const Context&);
///     std::vector<int64_t> gather_shape(const View& params, const View& indices, const Options& = {});
///     int32_t try_gather(params, indices, Tensor* out, gth_error* err, options, context);
///     int32_t try_gather_into(params, indices, out, gth_error* err, options, context);
///
/// Each operand is a View, a Tensor, or what converts to a View. With bounds = error the output is unchanged if an
/// index is out of bounds. gather_shape passes extents of GTH_OPEN through.
/// @{
inline constexpr detail::Gather gather{GTH_OP_GATHER};
inline constexpr detail::TryGather try_gather{GTH_OP_GATHER};
inline constexpr detail::Into gather_into{GTH_OP_GATHER};
inline constexpr detail::TryInto try_gather_into{GTH_OP_GATHER};
inline constexpr detail::Infer gather_shape{GTH_OP_GATHER};

inline constexpr detail::Gather gather_nd{GTH_OP_GATHER_ND};
inline constexpr detail::TryGather try_gather_nd{GTH_OP_GATHER_ND};
inline constexpr detail::Into gather_nd_into{GTH_OP_GATHER_ND};
inline constexpr detail::TryInto try_gather_nd_into{GTH_OP_GATHER_ND};
inline constexpr detail::Infer gather_nd_shape{GTH_OP_GATHER_ND};

inline constexpr detail::Gather gather_elements{GTH_OP_GATHER_ELEMENTS};
inline constexpr detail::TryGather try_gather_elements{GTH_OP_GATHER_ELEMENTS};
inline constexpr detail::Into gather_elements_into{GTH_OP_GATHER_ELEMENTS};
inline constexpr detail::TryInto try_gather_elements_into{GTH_OP_GATHER_ELEMENTS};
inline constexpr detail::Infer gather_elements_shape{GTH_OP_GATHER_ELEMENTS};
/// @}

/// @name Bags
/// gather_bags pools the slices of params that the ids of each bag select: their sum, mean, maximum or minimum.
///
///     Tensor gather_bags(const View& params, const View& indices, const Bags& = {}, const Options& = {}, ..);
///     void gather_bags_into(const View& params, const View& indices, const Bags&, const View& out, ..);
///     int32_t try_gather_bags(params, indices, bags, Tensor* out, gth_error* err, options, context);
///     int32_t try_gather_bags_into(params, indices, bags, out, gth_error* err, options, context);
///
/// Example: gather_bags(table, ids, offsets, Options().pool(Pool::mean)).
/// @{
inline constexpr detail::GatherBags gather_bags{};
inline constexpr detail::TryGatherBags try_gather_bags{};
inline constexpr detail::GatherBagsInto gather_bags_into{};
inline constexpr detail::TryGatherBagsInto try_gather_bags_into{};

/// The gradients of gather_bags, from the gradient of its output: with respect to params, the same in sparse form, and
/// with respect to weights. The sparse form writes the numbers of the rows that have a gradient to `unique` (int64),
/// and returns how many they are.
///
///     void gather_bags_gradient_into(const View& params, const View& indices, const Bags&, const View& gradient,
///                                    const View& target, ..);
///     int64_t gather_bags_sparse_gradient_into(params, indices, bags, gradient, const View& unique,
///                                              const View& target, ..);
///     void gather_bags_weight_gradient_into(params, indices, bags, gradient, const View& target, ..);
///     int32_t try_gather_bags_gradient_into(params, indices, bags, gradient, target, gth_error* err, options,
///                                           context);
///     int32_t try_gather_bags_sparse_gradient_into(params, indices, bags, gradient, unique, target, int64_t* count,
///                                                  gth_error* err, options, context);
inline constexpr detail::BagGradientInto<gth_gather_bags_gradient> gather_bags_gradient_into{};
inline constexpr detail::TryBagGradientInto<gth_gather_bags_gradient> try_gather_bags_gradient_into{};
inline constexpr detail::BagSparseGradientInto gather_bags_sparse_gradient_into{};
inline constexpr detail::TryBagSparseGradientInto try_gather_bags_sparse_gradient_into{};
inline constexpr detail::BagGradientInto<gth_gather_bags_weight_gradient> gather_bags_weight_gradient_into{};
inline constexpr detail::TryBagGradientInto<gth_gather_bags_weight_gradient> try_gather_bags_weight_gradient_into{};

/// The positions of the maxima or minima of gather_bags: for each element of its output the position of its id in
/// indices (int64), or -1 for a bag without ids.
///
///     void gather_bags_positions_into(const View& params, const View& indices, const Bags&, const View& positions, ..);
///     int32_t try_gather_bags_positions_into(params, indices, bags, positions, gth_error* err, options, context);
inline constexpr detail::BagPositionsInto gather_bags_positions_into{};
inline constexpr detail::TryBagPositionsInto try_gather_bags_positions_into{};
/// @}

/// @name Scatters
/// A scatter writes the slices or elements of target that the gather of the same name would read. Options::reduction
/// selects how an update and its row are combined.
///
///     Tensor scatter(const View& target, const View& indices, const View& updates, const Options&, const Context&);
///     void scatter_into(const View& target, const View& indices, const View& updates, const Options&, const Context&);
///     std::vector<int64_t> scatter_shape(const View& target, const View& indices, const Options& = {});
///     int32_t try_scatter(target, indices, updates, Tensor* out, gth_error* err, options, context);
///     int32_t try_scatter_into(target, indices, updates, gth_error* err, options, context);
///
/// scatter returns a copy of target with the updates applied. scatter_into writes target in place. With bounds = error
/// the target is unchanged if an index is out of bounds. scatter_shape returns the shape that updates must have.
/// @{
inline constexpr detail::Scatter scatter{GTH_OP_SCATTER};
inline constexpr detail::TryScatter try_scatter{GTH_OP_SCATTER};
inline constexpr detail::Into scatter_into{GTH_OP_SCATTER};
inline constexpr detail::TryInto try_scatter_into{GTH_OP_SCATTER};
inline constexpr detail::Infer scatter_shape{GTH_OP_SCATTER};

inline constexpr detail::Scatter scatter_nd{GTH_OP_SCATTER_ND};
inline constexpr detail::TryScatter try_scatter_nd{GTH_OP_SCATTER_ND};
inline constexpr detail::Into scatter_nd_into{GTH_OP_SCATTER_ND};
inline constexpr detail::TryInto try_scatter_nd_into{GTH_OP_SCATTER_ND};
inline constexpr detail::Infer scatter_nd_shape{GTH_OP_SCATTER_ND};

inline constexpr detail::Scatter scatter_elements{GTH_OP_SCATTER_ELEMENTS};
inline constexpr detail::TryScatter try_scatter_elements{GTH_OP_SCATTER_ELEMENTS};
inline constexpr detail::Into scatter_elements_into{GTH_OP_SCATTER_ELEMENTS};
inline constexpr detail::TryInto try_scatter_elements_into{GTH_OP_SCATTER_ELEMENTS};
inline constexpr detail::Infer scatter_elements_shape{GTH_OP_SCATTER_ELEMENTS};

/// The positions of the maxima or minima of a scatter: for each element of the result the row-major number of its update
/// in updates (int64), or -1 if it keeps the value of target.
///
///     void scatter_positions_into(target, indices, updates, const View& positions, options, context);
///     int32_t try_scatter_positions_into(target, indices, updates, positions, gth_error* err, options, context);
inline constexpr detail::ScatterPositionsInto scatter_positions_into{GTH_OP_SCATTER};
inline constexpr detail::TryScatterPositionsInto try_scatter_positions_into{GTH_OP_SCATTER};
inline constexpr detail::ScatterPositionsInto scatter_nd_positions_into{GTH_OP_SCATTER_ND};
inline constexpr detail::TryScatterPositionsInto try_scatter_nd_positions_into{GTH_OP_SCATTER_ND};
inline constexpr detail::ScatterPositionsInto scatter_elements_positions_into{GTH_OP_SCATTER_ELEMENTS};
inline constexpr detail::TryScatterPositionsInto try_scatter_elements_positions_into{GTH_OP_SCATTER_ELEMENTS};
/// @}

/// @name Gradients
/// The gradient of a gather with respect to params. It has the shape of params and starts as zeros. Each slice of the
/// gradient of the output is added at the place that the gather has read. Options are those of the gather.
///
///     Tensor gather_gradient(const View& gradient, const View& indices, const Dims& shape, const Options&, ..);
///     void gather_gradient_into(const View& gradient, const View& indices, const View& target, const Options&, ..);
///     int32_t try_gather_gradient(gradient, indices, shape, Tensor* out, gth_error* err, options, context);
///     int32_t try_gather_gradient_into(gradient, indices, target, gth_error* err, options, context);
/// @{
inline constexpr detail::Gradient gather_gradient{GTH_OP_GATHER_GRADIENT};
inline constexpr detail::TryGradient try_gather_gradient{GTH_OP_GATHER_GRADIENT};
inline constexpr detail::GradientInto gather_gradient_into{GTH_OP_GATHER_GRADIENT};
inline constexpr detail::TryGradientInto try_gather_gradient_into{GTH_OP_GATHER_GRADIENT};

inline constexpr detail::Gradient gather_nd_gradient{GTH_OP_GATHER_ND_GRADIENT};
inline constexpr detail::TryGradient try_gather_nd_gradient{GTH_OP_GATHER_ND_GRADIENT};
inline constexpr detail::GradientInto gather_nd_gradient_into{GTH_OP_GATHER_ND_GRADIENT};
inline constexpr detail::TryGradientInto try_gather_nd_gradient_into{GTH_OP_GATHER_ND_GRADIENT};

inline constexpr detail::Gradient gather_elements_gradient{GTH_OP_GATHER_ELEMENTS_GRADIENT};
inline constexpr detail::TryGradient try_gather_elements_gradient{GTH_OP_GATHER_ELEMENTS_GRADIENT};
inline constexpr detail::GradientInto gather_elements_gradient_into{GTH_OP_GATHER_ELEMENTS_GRADIENT};
inline constexpr detail::TryGradientInto try_gather_elements_gradient_into{GTH_OP_GATHER_ELEMENTS_GRADIENT};
/// @}

/// An operation with its operands and options, for run_many. It copies views and options, but not their memory.
class Request {
 public:
  /// @param op  GTH_OP_*
  Request(int32_t op, const View& table, const View& indices, const View& rows, const Options& options = {}) noexcept
      : op_(op), table_(table), indices_(indices), rows_(rows), options_(options) {}
  /// Returns the C form of the request. It is valid as long as the request.
  gth_request raw() const&& = delete;
  gth_request raw() const& noexcept { return detail::request(op_, table_, indices_, &rows_, options_); }

 private:
  int32_t op_;
  View table_, indices_, rows_;
  Options options_;
};

/// Memory of a plan run: a range, whose size is known, or a pointer, whose size the caller guarantees. A void pointer
/// has no dtype and is not checked. Void is `void` for memory that is written, and `const void` for memory that is only
/// read.
template <class Void>
struct Memory {
  static constexpr int64_t unknown = std::numeric_limits<int64_t>::max();

  Memory(std::nullptr_t) noexcept : Memory(static_cast<Void*>(nullptr)) {}
  Memory(Void* memory) noexcept : data(memory) {}
  template <class T, class = std::enable_if_t<!std::is_void_v<T> && std::is_convertible_v<T*, Void*> > >
  Memory(T* const& memory) noexcept : data(memory), dtype(dtype_of<T>()) {
    static_assert(dtype_of<T>() != 0, "T has no dtype: specialise gather::Dtype, or pass a void pointer");
  }
  template <class Range, class T = detail::ElementOf<Range>, class = detail::IfLasting<Range>,
            class = std::enable_if_t<std::is_convertible_v<T*, Void*> > >
  Memory(Range&& values) noexcept
      : data(std::data(values)), dtype(dtype_of<T>()), extent(static_cast<int64_t>(std::size(values) * sizeof(T))) {}

  Void* data;
  int32_t dtype = 0;
  int64_t extent = unknown;
};

/// Memory that a plan reads.
using Source = Memory<const void>;
/// Memory that a plan writes.
using Target = Memory<void>;

/// The format of Packed rows: a known format with changed fields, or any gth_codec. Its operands are borrowed.
/// gather.h documents the formats and the fields.
class Codec {
 public:
  /// No format. Packed rows of it cause GTH_E_VERSION.
  Codec() noexcept = default;
  /// The format with a name of gth_codec_named, such as "q8_0". Another name causes GTH_E_VERSION.
  Codec(const char* name) {
    detail::call([&](gth_error* err) { return try_named(name, this, err); });
  }
  /// Copies a codec. Its code_table, scales and zeros are borrowed.
  explicit Codec(const gth_codec& codec) noexcept : raw_(codec) {}
  [[nodiscard]] static int32_t try_named(const char* name, Codec* out, gth_error* err) noexcept {
    *out = {};
    return gth_codec_named(name, &out->raw_, err);
  }

  // A setter of an lvalue returns a reference. A setter of a temporary returns a copy, so that a reference may be bound
  // to the result.

  /// Sets the numbers of a block. 0 means all of the row.
  Codec& block(int64_t numbers) & noexcept { return set(raw_.block_values, numbers); }
  Codec block(int64_t numbers) && noexcept { return block(numbers); }
  /// Sets the number that each scale is multiplied by.
  Codec& factor(float number) & noexcept { return set(raw_.factor, number); }
  Codec factor(float number) && noexcept { return factor(number); }
  /// Sets the zero point or bias of all blocks. It replaces those in the rows, and earlier zeros.
  Codec& zero(float number) & noexcept {
    raw_.zero_place = GTH_PLACE_NONE;
    raw_.zero_dtype = 0;
    raw_.zeros = nullptr;
    zeros_.reset();
    return set(raw_.zero, number);
  }
  Codec zero(float number) && noexcept { return zero(number); }
  /// Sets the scales of a format whose scales are an operand: the dims of the rows but the last one, and then a dim for
  /// the blocks of a row. An extent of 1 is repeated.
  Codec& scales(const View& scales) & noexcept { return set(scales_, scales); }
  Codec scales(const View& values) && noexcept { return scales(values); }
  /// Sets zero points or biases with the shape of scales, also for a format that has a constant one.
  /// @param dtype  GTH_ZERO_* for integers of 4 bits. 0: that of the view.
  Codec& zeros(const View& zeros, int32_t dtype = 0) & noexcept {
    if (raw_.zero_place == GTH_PLACE_NONE) raw_.zero_place = GTH_PLACE_OPERAND;
    return set(raw_.zero_dtype, dtype).set(zeros_, zeros);
  }
  Codec zeros(const View& values, int32_t dtype = 0) && noexcept { return zeros(values, dtype); }

  /// Returns the bytes of a row of `values` numbers.
  int64_t row_bytes(int64_t values) const {
    return detail::make<int64_t>([&](int64_t* out, gth_error* err) { return try_row_bytes(values, out, err); });
  }
  [[nodiscard]] int32_t try_row_bytes(int64_t values, int64_t* out, gth_error* err) const noexcept {
    return gth_codec_row_bytes(&raw_, values, out, err);
  }
  /// Returns the C form of the codec. It is valid as long as the codec.
  gth_codec raw() const&& = delete;
  gth_codec raw() const& noexcept {
    gth_codec codec = raw_;
    if (scales_) codec.scales = scales_->raw();
    if (zeros_) codec.zeros = zeros_->raw();
    return codec;
  }

 private:
  template <class Field, class Value>
  Codec& set(Field& field, const Value& value) noexcept {
    field = value;
    return *this;
  }
  gth_codec raw_ = GTH_CODEC_INIT;
  std::optional<View> scales_, zeros_;
};

/// A table of quantised rows, which a call decodes as it reads them: params of gather, gather_nd, gather_bags, their
/// plans and requests. Any other operand that is Packed causes GTH_E_UNSUPPORTED.
///
///     const Packed table("q8_0", bytes, {rows, 64});  // rows of 68 bytes
///     const Tensor found = gather::gather(table, ids);  // float32
///     const Packed signs(Codec("int4").block(32).scales(scales).zeros(zeros), codes, {rows, 64}, GTH_DTYPE_BFLOAT16);
///
/// Rows, scales and zeros are not copied, and are only read. Their memory must stay valid until the object is
/// destroyed. A plan that is made with the object is bound to it. Runs pass nullptr for params, and the object must
/// outlive them.
class Packed : public Handle<gth_tensor, gth_tensor_release> {
 public:
  using Handle::Handle;
  /// @param data     The bytes of the rows. A range that is too small causes GTH_E_STRIDE.
  /// @param shape    Counts numbers. The last dim is a row.
  /// @param dtype    The dtype of the decoded numbers: float32, float16 or bfloat16.
  /// @param strides  Bytes between rows: one stride for each dim but the last one. Empty: the rows follow each other.
  /// @param offset   Bytes from data to the row with the number 0.
  Packed(const Codec& codec, Source data, const Dims& shape, int32_t dtype = GTH_DTYPE_FLOAT32,
         const Dims& strides = {}, int64_t offset = 0) {
    detail::call([&](gth_error* err) { return try_make(codec, data, shape, this, err, dtype, strides, offset); });
  }
  [[nodiscard]] static int32_t try_make(const Codec& codec, Source data, const Dims& shape, Packed* out, gth_error* err,
                                        int32_t dtype = GTH_DTYPE_FLOAT32, const Dims& strides = {},
                                        int64_t offset = 0) noexcept {
    out->reset();
    if (strides.size() != 0 && strides.size() != shape.size() - 1)
      return detail::refuse(err, GTH_E_RANK, GTH_OPERAND_TENSOR, -1, strides.size(), shape.size() - 1,
                            "tensor: packed rows have one stride for each dim but the last one");
    int64_t bytes[GTH_MAX_NDIM + 1] = {};  // The stride of the last dim is 0.
    std::copy_n(strides.data(), std::min<int32_t>(strides.size(), GTH_MAX_NDIM), bytes);
    const gth_codec raw = codec.raw();
    gth_tensor_desc rows = GTH_TENSOR_DESC_DENSE(dtype, shape.size(), shape.data(), data.data);
    rows.flags = GTH_TENSOR_READONLY;
    if (strides.size() != 0) rows.strides = bytes;
    rows.codec = &raw;
    rows.offset = offset;
    if (data.extent == 0) rows.data = nullptr;
    if (data.extent != Source::unknown) rows.extent = data.extent;
    return out->hold(err, gth_tensor_borrow, &rows);
  }
  /// Returns the shape, which counts numbers.
  std::vector<int64_t> shape() const {
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    detail::call(gth_tensor_describe, get(), &desc);
    return std::vector<int64_t>(desc.shape, desc.shape + desc.ndim);
  }
};

inline View::View(const Packed& rows) noexcept : desc_ GTH_TENSOR_DESC_HANDLE(rows.get()) {}

/// Some successive rows of a Table. It copies nothing: a path must be valid until the table is opened, and memory until
/// the table is destroyed.
class Segment {
 public:
  /// Rows of a file.
  /// @param path  In UTF-8.
  static Segment path(const char* path, int64_t rows) noexcept {
    Segment made(rows);
    made.raw_.path = path;
    return made;
  }
  /// Rows of an open file. The table makes a duplicate of the descriptor, so the caller may close it afterwards.
  /// @param file  A file descriptor, on Windows a HANDLE.
  static Segment file(int64_t file, int64_t rows) noexcept {
    Segment made(rows);
    made.raw_.file = file;
    made.raw_.flags = GTH_SEGMENT_FILE;
    return made;
  }
  /// Rows in memory of the caller. A range that is too small for them causes GTH_E_STRIDE. It must not change while a
  /// call uses the table.
  static Segment memory(Source data, int64_t rows) noexcept {
    Segment made(rows);
    made.raw_.data = data.extent == 0 ? "" : data.data;  // A range without elements may have no address.
    if (data.extent != Source::unknown) {
      made.raw_.flags = GTH_SEGMENT_EXTENT;
      made.raw_.extent = data.extent;
    }
    return made;
  }

  /// Sets the byte of the first row. It needs no alignment.
  Segment& offset(int64_t bytes) & noexcept { return raw_.offset = bytes, *this; }
  Segment offset(int64_t bytes) && noexcept { return offset(bytes); }
  /// Sets the bytes from row to row. 0 means the bytes of a row.
  Segment& stride(int64_t bytes) & noexcept { return raw_.row_stride = bytes, *this; }
  Segment stride(int64_t bytes) && noexcept { return stride(bytes); }

  /// Returns the C form of the segment.
  gth_segment raw() const noexcept { return raw_; }

 private:
  explicit Segment(int64_t rows) noexcept { raw_.rows = rows; }

  gth_segment raw_ = GTH_SEGMENT_INIT;
};

/// A table in files or in pieces of memory, which calls read row by row: params of gather, gather_nd, gather_elements and
/// gather_bags, of their plans and requests, and scales and zeros of a Codec. As any other operand, it causes
/// GTH_E_UNSUPPORTED.
///
///     const Table table({Segment::path("a.bin", 700), Segment::path("b.bin", 300).offset(4096)}, {64});
///     table.prefetch(next_ids);
///     const Tensor rows = gather::gather(table, ids);  // float32, [.., 64]
///     const Table packed({Segment::path("q.gguf", 99).offset(at)}, {64}, GTH_DTYPE_FLOAT32, GTH_FILES_MAP, 0, "q8_0");
///
/// The table owns its files, and closes them when it is destroyed. It borrows memory, which must stay valid until then.
/// A file must not change while a table uses it. Any number of threads may use one table.
///
/// A row that cannot be read causes GTH_E_IO. component() is the segment, position() that of the first index that selects
/// the row, value() the byte in the file, and fields().native is errno, or 0 if the file ends. Rows of the output may
/// have been written then, as gather.h describes it (Files). A plan that is made with a table is bound to it, as to
/// Packed rows.
class Table : public Handle<gth_tensor, gth_tensor_release> {
 public:
  using Handle::Handle;

  /// Opens the files and reads no row. The rows of the table are those of the segments, in their order.
  /// @param row       The shape of a row. It counts numbers, also of a codec.
  /// @param dtype     The dtype of the numbers. With a codec, that of the decoded numbers.
  /// @param mode      GTH_FILES_READ, or GTH_FILES_MAP for rows that are read again and again.
  /// @param resident  The budget of mapped memory in bytes, at least 8 MiB. 0: no budget
  /// @param codec     The format of packed rows. Its operands are borrowed like memory.
  Table(const std::vector<Segment>& segments, const Dims& row, int32_t dtype = GTH_DTYPE_FLOAT32,
        int32_t mode = GTH_FILES_READ, int64_t resident = 0, const std::optional<Codec>& codec = {}) {
    detail::call([&](gth_error* err) { return try_open(segments, row, this, err, dtype, mode, resident, codec); });
  }
  [[nodiscard]] static int32_t try_open(const std::vector<Segment>& segments, const Dims& row, Table* out,
                                        gth_error* err, int32_t dtype = GTH_DTYPE_FLOAT32,
                                        int32_t mode = GTH_FILES_READ, int64_t resident = 0,
                                        const std::optional<Codec>& codec = {}) noexcept {
    out->reset();
    const size_t count = segments.size();
    const auto raw = detail::array<gth_segment>(count);
    const auto pointers = detail::array<const gth_segment*>(count);
    if (raw == nullptr || pointers == nullptr)
      return detail::refuse_memory(err, GTH_OPERAND_FILE, count * sizeof(gth_segment), "file: no memory for segments");
    gth_codec format = GTH_CODEC_INIT;
    if (codec) format = codec->raw();
    int64_t extents[GTH_MAX_NDIM + 1] = {};
    std::copy_n(row.data(), std::min<int32_t>(row.size(), GTH_MAX_NDIM), extents + 1);
    for (size_t i = 0; i < count; ++i) {
      raw[i] = segments[i].raw();
      pointers[i] = &raw[i];
      // The library rejects a sum that exceeds int64, and segments without rows.
      if (raw[i].rows > std::numeric_limits<int64_t>::max() - extents[0])
        extents[0] = std::numeric_limits<int64_t>::max();
      else if (raw[i].rows > 0)
        extents[0] += raw[i].rows;
    }
    gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(dtype, row.size() + 1, extents, nullptr);
    if (codec) desc.codec = &format;
    const gth_files_options options = {sizeof(gth_files_options), mode, resident};
    return out->hold(err, gth_tensor_open, nullptr, &desc, static_cast<int64_t>(count), pointers.get(), &options);
  }

  /// Returns the shape of the whole table.
  std::vector<int64_t> shape() const {
    const View table(*this);
    const int64_t no_tuple = 0;  // A tuple of no components selects all of the table.
    const gth_tensor_desc all = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &no_tuple, nullptr);
    const gth_request whole = GTH_REQUEST(GTH_OP_GATHER_ND, table.raw(), &all, nullptr, nullptr);
    return detail::shape(gth_infer, &whole);
  }
  /// Requests the rows that a gather with these options reads, and does not wait for them. Indices that select no row, and
  /// rows that cannot be read, are ignored.
  void prefetch(const View& indices, const Options& options = {}, const Context& context = {}) const {
    detail::call([&](gth_error* err) { return try_prefetch(indices, err, options, context); });
  }
  [[nodiscard]] int32_t try_prefetch(const View& indices, gth_error* err, const Options& options = {},
                                     const Context& context = {}) const noexcept {
    return gth_tensor_prefetch(context.get(), get(), indices.raw(), options.get(), err);
  }
  /// Returns the counters since the table was opened.
  gth_files_stats stats() const {
    gth_files_stats found = GTH_FILES_STATS_INIT;
    detail::call(gth_tensor_stats, get(), &found);
    return found;
  }
  [[nodiscard]] int32_t try_stats(gth_files_stats* out, gth_error* err) const noexcept {
    return gth_tensor_stats(get(), out, err);
  }
};

inline View::View(const Table& table) noexcept : desc_ GTH_TENSOR_DESC_HANDLE(table.get()) {}

/// A run of a plan, for run_many. Plan::with, ScatterPlan::with and BagsPlan::with create it. The plan must outlive it.
struct PlanRun {
  const gth_plan* plan;
  gth_plan_args args;
  int32_t operand;       ///< An operand whose dtype differs from the planned one. 0: there is none.
  int32_t given, dtype;  ///< The dtype of that operand, and the planned one.

  [[nodiscard]] int32_t check(gth_error* err) const noexcept {
    return operand == 0 ? GTH_OK : detail::refuse_dtype(err, operand, -1, name(operand), given, dtype);
  }
  /// Returns the name of an operand for the start of a message.
  static const char* name(int32_t operand) noexcept {
    switch (operand) {
      case GTH_OPERAND_PARAMS: return "params";
      case GTH_OPERAND_INDICES: return "indices";
      case GTH_OPERAND_OUT: return "out";
      case GTH_OPERAND_TARGET: return "target";
      case GTH_OPERAND_BAGS: return "bags";
      case GTH_OPERAND_WEIGHTS: return "weights";
      default: return "updates";
    }
  }
  /// Records the first operand with another dtype. A dtype is 0 if memory has no type, or if the plan came as a C
  /// handle.
  GATHER_INLINE void require(int32_t found, int32_t planned, int32_t role) noexcept {
    if (found == planned || found == 0 || planned == 0 || operand != 0) return;
    operand = role;
    given = found;
    dtype = planned;
  }
};

namespace detail {

/// The differences between the plans of gathers and of scatters.
struct OfGathers {
  using Table = Source;
  using Rows = Target;
  static constexpr int32_t table = GTH_OPERAND_PARAMS, rows = GTH_OPERAND_OUT;
  struct Extents {
    int64_t params = 0, indices = 0, out = 0;
  };
};
struct OfScatters {
  using Table = Target;
  using Rows = Source;
  static constexpr int32_t table = GTH_OPERAND_TARGET, rows = GTH_OPERAND_UPDATES;
  struct Extents {
    int64_t target = 0, indices = 0, updates = 0;
  };
};

}  // namespace detail

/// The runs of a plan. Operands that were a Tensor when the plan was made are bound: runs pass nullptr for them.
template <class Kind>
class PlanOf : public Handle<gth_plan, gth_plan_release> {
 public:
  using Handle::Handle;
  using Table = typename Kind::Table;
  using Rows = typename Kind::Rows;
  /// The number of bytes that a run uses at most from each pointer.
  using Extents = typename Kind::Extents;

  /// Runs the plan. Allocates nothing. A range that is smaller than planned causes GTH_E_SIZE. A dtype that differs
  /// from the planned one causes GTH_E_DTYPE.
  /// @param n  The open extent, or GTH_OPEN if the plan has none.
  GATHER_INLINE void run(Table table, Source indices, Rows rows, int64_t n = GTH_OPEN,
                         const Context& context = {}) const {
    detail::Thrown err;
    err.unless_ok(try_run(table, indices, rows, n, &err, context));
  }
  GATHER_INLINE int32_t try_run(Table table, Source indices, Rows rows, int64_t n, gth_error* err,
                                const Context& context = {}) const noexcept {
    const PlanRun run = with(table, indices, rows, n);
    if (run.operand != 0) return run.check(err);
    if (table.extent == Table::unknown && indices.extent == Source::unknown && rows.extent == Rows::unknown)
      return gth_plan_run(context.get(), get(), n, table.data, indices.data, const_cast<void*>(rows.data), err);
    return gth_plan_run_args(context.get(), get(), &run.args, err);
  }
  /// Returns a run for run_many.
  GATHER_INLINE PlanRun with(Table table, Source indices, Rows rows, int64_t n = GTH_OPEN) const noexcept {
    PlanRun run = {get(), args(n), 0, 0, 0};
    run.args.table = table.data;
    run.args.indices = indices.data;
    run.args.rows = rows.data;
    run.args.flags = GTH_ARGS_EXTENTS;
    run.args.table_extent = table.extent;
    run.args.indices_extent = indices.extent;
    run.args.rows_extent = rows.extent;
    run.require(table.dtype, table_, Kind::table);
    run.require(indices.dtype, indices_, GTH_OPERAND_INDICES);
    run.require(rows.dtype, table_, Kind::rows);
    return run;
  }
  /// Validates the indices of a run and does not copy.
  void check(Source indices, int64_t n = GTH_OPEN, const Context& context = {}) const {
    detail::call([&](gth_error* err) { return try_check(indices, n, err, context); });
  }
  [[nodiscard]] int32_t try_check(Source indices, int64_t n, gth_error* err,
                                  const Context& context = {}) const noexcept {
    const PlanRun run = with(nullptr, indices, nullptr, n);
    return run.operand != 0 ? run.check(err) : gth_plan_check(context.get(), get(), &run.args, err);
  }
  Extents extents(int64_t n = GTH_OPEN) const {
    Extents found;
    detail::call([&](gth_error* err) { return try_extents(n, &found, err); });
    return found;
  }
  [[nodiscard]] int32_t try_extents(int64_t n, Extents* out, gth_error* err) const noexcept {
    gth_plan_args found = args(n);
    const int32_t status = gth_plan_extents(get(), &found, err);
    if (status == GTH_OK) *out = {found.table_extent, found.indices_extent, found.rows_extent};
    return status;
  }
  /// Returns the shape of the output, or of updates. GTH_OPEN is passed through.
  std::vector<int64_t> shape(int64_t n = GTH_OPEN) const { return detail::shape(gth_plan_infer, get(), n); }

  /// Creates the plan again. The plan is empty if that fails.
  [[nodiscard]] int32_t make(int32_t op, const View& table, const View& indices, const View* rows,
                             const Options& options, gth_error* err) noexcept {
    table_ = table.dtype();
    indices_ = indices.dtype();
    const gth_request asked = detail::request(op, table, indices, rows, options);
    return hold(err, gth_plan_create, &asked);
  }

 private:
  static gth_plan_args args(int64_t n) noexcept {
    gth_plan_args args = GTH_PLAN_ARGS_INIT;
    args.n = n;
    return args;
  }

  int32_t table_ = 0;
  int32_t indices_ = 0;
};

namespace detail {

template <class Plan>
struct TryMakePlan {
  int32_t op;
  [[nodiscard]] int32_t operator()(const View& table, const View& indices, Plan* plan, gth_error* err,
                                   const Options& options = {}, const View* rows = nullptr) const noexcept {
    return plan->make(op, table, indices, rows, options, err);
  }
};
template <class Plan>
struct MakePlan {
  int32_t op;
  Plan operator()(const View& table, const View& indices, const Options& options = {},
                  const View* rows = nullptr) const {
    return detail::make<Plan>(
        [&](Plan* plan, gth_error* err) { return TryMakePlan<Plan>{op}(table, indices, plan, err, options, rows); });
  }
#ifdef __cpp_lib_expected
  /// Returns an error instead of throwing it.
  std::expected<Plan, Error> expected(const View& table, const View& indices, const Options& options = {},
                                      const View* rows = nullptr) const noexcept {
    return expect<Plan>(
        [&](Plan* out, gth_error* err) { return TryMakePlan<Plan>{op}(table, indices, out, err, options, rows); });
  }
#endif
};

}  // namespace detail

/// A gather whose shapes, strides and options have been validated once.
///
///     Plan Plan::gather(const View& params, const View& indices, const Options& = {}, const View* out = nullptr);
///     void run(Source params, Source indices, Target out, int64_t n = GTH_OPEN, const Context& = {}) const;
///
/// One extent may be GTH_OPEN, as gth_plan_create describes it. Each run gives its value. If out is NULL, it is dense
/// row-major. An operand that is a Tensor is bound: runs use it, and pass nullptr.
class Plan : public PlanOf<detail::OfGathers> {
 public:
  using PlanOf::PlanOf;
  static constexpr detail::MakePlan<Plan> gather{GTH_OP_GATHER};
  static constexpr detail::MakePlan<Plan> gather_nd{GTH_OP_GATHER_ND};
  static constexpr detail::MakePlan<Plan> gather_elements{GTH_OP_GATHER_ELEMENTS};
  static constexpr detail::TryMakePlan<Plan> try_gather{GTH_OP_GATHER};
  static constexpr detail::TryMakePlan<Plan> try_gather_nd{GTH_OP_GATHER_ND};
  static constexpr detail::TryMakePlan<Plan> try_gather_elements{GTH_OP_GATHER_ELEMENTS};
};

/// A scatter in place whose shapes, strides and options have been validated once. It is like Plan, with other operands:
///
///     ScatterPlan ScatterPlan::scatter(const View& target, const View& indices, const Options& = {},
///                                      const View* updates = nullptr);
///     void run(Target target, Source indices, Source updates, int64_t n = GTH_OPEN, const Context& = {}) const;
class ScatterPlan : public PlanOf<detail::OfScatters> {
 public:
  using PlanOf::PlanOf;
  static constexpr detail::MakePlan<ScatterPlan> scatter{GTH_OP_SCATTER};
  static constexpr detail::MakePlan<ScatterPlan> scatter_nd{GTH_OP_SCATTER_ND};
  static constexpr detail::MakePlan<ScatterPlan> scatter_elements{GTH_OP_SCATTER_ELEMENTS};
  static constexpr detail::TryMakePlan<ScatterPlan> try_scatter{GTH_OP_SCATTER};
  static constexpr detail::TryMakePlan<ScatterPlan> try_scatter_nd{GTH_OP_SCATTER_ND};
  static constexpr detail::TryMakePlan<ScatterPlan> try_scatter_elements{GTH_OP_SCATTER_ELEMENTS};
};

namespace detail {

template <class Plan>
struct TryMakeBagsPlan {
  [[nodiscard]] int32_t operator()(const View& params, const View& indices, const Bags& bags, Plan* plan,
                                   gth_error* err, const Options& options = {},
                                   const View* out = nullptr) const noexcept {
    return plan->make(params, indices, bags, out, options, err);
  }
};
template <class Plan>
struct MakeBagsPlan {
  Plan operator()(const View& params, const View& indices, const Bags& bags = {}, const Options& options = {},
                  const View* out = nullptr) const {
    return detail::make<Plan>([&](Plan* plan, gth_error* err) {
      return TryMakeBagsPlan<Plan>{}(params, indices, bags, plan, err, options, out);
    });
  }
#ifdef __cpp_lib_expected
  /// Returns an error instead of throwing it.
  std::expected<Plan, Error> expected(const View& params, const View& indices, const Bags& bags = {},
                                      const Options& options = {}, const View* out = nullptr) const noexcept {
    return expect<Plan>([&](Plan* plan, gth_error* err) {
      return TryMakeBagsPlan<Plan>{}(params, indices, bags, plan, err, options, out);
    });
  }
#endif
};

}  // namespace detail

/// A gather_bags whose shapes, strides and options have been validated once. It is like Plan, with more operands:
///
///     BagsPlan BagsPlan::gather_bags(const View& params, const View& indices, const Bags& = {}, const Options& = {},
///                                    const View* out = nullptr);
///
/// The number of bags and the number of ids may be GTH_OPEN, as GTH_OP_GATHER_BAGS describes it. Each run gives their
/// values: n bags and `ids` ids. Operands that the plan does not have, and bound ones, are nullptr in each run.
class BagsPlan : public Handle<gth_plan, gth_plan_release> {
 public:
  using Handle::Handle;
  /// The number of bytes that a run uses at most from each pointer.
  struct Extents {
    int64_t params = 0, indices = 0, bags = 0, weights = 0, out = 0;
  };
  static constexpr detail::MakeBagsPlan<BagsPlan> gather_bags{};
  static constexpr detail::TryMakeBagsPlan<BagsPlan> try_gather_bags{};

  /// Runs the plan. A range that is smaller than planned causes GTH_E_SIZE. A dtype that differs from the planned one
  /// causes GTH_E_DTYPE.
  /// @param n    The open number of bags, or GTH_OPEN if the plan has none.
  /// @param ids  The open number of ids, or GTH_OPEN if the plan has none.
  void run(Source params, Source indices, Source bags, Source weights, Target out, int64_t n = GTH_OPEN,
           int64_t ids = GTH_OPEN, const Context& context = {}) const {
    detail::call([&](gth_error* err) { return try_run(params, indices, bags, weights, out, n, ids, err, context); });
  }
  [[nodiscard]] int32_t try_run(Source params, Source indices, Source bags, Source weights, Target out, int64_t n,
                                int64_t ids, gth_error* err, const Context& context = {}) const noexcept {
    const PlanRun run = with(params, indices, bags, weights, out, n, ids);
    return run.operand != 0 ? run.check(err) : gth_plan_run_args(context.get(), get(), &run.args, err);
  }
  /// Returns a run for run_many.
  PlanRun with(Source params, Source indices, Source bags, Source weights, Target out, int64_t n = GTH_OPEN,
               int64_t ids = GTH_OPEN) const noexcept {
    PlanRun run = {get(), args(n, ids), 0, 0, 0};
    run.args.flags = GTH_ARGS_EXTENTS;
    const auto set = [&](const auto& memory, int32_t planned, int32_t operand, const void** data, int64_t* extent) {
      *data = memory.data;
      *extent = memory.extent;
      run.require(memory.dtype, planned, operand);
    };
    set(params, params_, GTH_OPERAND_PARAMS, &run.args.table, &run.args.table_extent);
    set(indices, indices_, GTH_OPERAND_INDICES, &run.args.indices, &run.args.indices_extent);
    set(bags, bags_, GTH_OPERAND_BAGS, &run.args.bags, &run.args.bags_extent);
    set(weights, weights_, GTH_OPERAND_WEIGHTS, &run.args.weights, &run.args.weights_extent);
    set(out, out_, GTH_OPERAND_OUT, &run.args.rows, &run.args.rows_extent);
    return run;
  }
  /// Validates the indices and the bags of a run and does not pool.
  void check(Source indices, Source bags, int64_t n = GTH_OPEN, int64_t ids = GTH_OPEN,
             const Context& context = {}) const {
    detail::call([&](gth_error* err) { return try_check(indices, bags, n, ids, err, context); });
  }
  [[nodiscard]] int32_t try_check(Source indices, Source bags, int64_t n, int64_t ids, gth_error* err,
                                  const Context& context = {}) const noexcept {
    const PlanRun run = with(nullptr, indices, bags, nullptr, nullptr, n, ids);
    return run.operand != 0 ? run.check(err) : gth_plan_check(context.get(), get(), &run.args, err);
  }
  Extents extents(int64_t n = GTH_OPEN, int64_t ids = GTH_OPEN) const {
    Extents found;
    detail::call([&](gth_error* err) { return try_extents(n, ids, &found, err); });
    return found;
  }
  [[nodiscard]] int32_t try_extents(int64_t n, int64_t ids, Extents* out, gth_error* err) const noexcept {
    gth_plan_args found = args(n, ids);
    const int32_t status = gth_plan_extents(get(), &found, err);
    if (status == GTH_OK)
      *out = {found.table_extent, found.indices_extent, found.bags_extent, found.weights_extent, found.rows_extent};
    return status;
  }
  /// Returns the shape of the output. GTH_OPEN is passed through.
  std::vector<int64_t> shape(int64_t n = GTH_OPEN) const { return detail::shape(gth_plan_infer, get(), n); }

  /// Creates the plan again. The plan is empty if that fails.
  [[nodiscard]] int32_t make(const View& params, const View& indices, const Bags& bags, const View* out,
                             const Options& options, gth_error* err) noexcept {
    gth_request asked = detail::request(GTH_OP_GATHER_BAGS, params, indices, out, options);
    bags.add_to(&asked);
    params_ = params.dtype();
    indices_ = indices.dtype();
    bags_ = asked.bags != nullptr ? detail::described(*asked.bags).dtype : 0;
    weights_ = asked.weights != nullptr ? detail::described(*asked.weights).dtype : 0;
    out_ = asked.options != nullptr && asked.options->out_dtype != 0 ? asked.options->out_dtype : params_;
    return hold(err, gth_plan_create, &asked);
  }

 private:
  static gth_plan_args args(int64_t n, int64_t ids) noexcept {
    gth_plan_args args = GTH_PLAN_ARGS_INIT;
    args.n = n;
    args.ids = ids;
    return args;
  }

  int32_t params_ = 0, indices_ = 0, bags_ = 0, weights_ = 0, out_ = 0;
};

/// Runs several requests, or several runs of plans, as one call. On an error item() is the number of the request or run,
/// and nothing is written, with the exceptions of gth_run_many. No operand that is written may overlap an operand of
/// another request (GTH_E_ALIAS).
[[nodiscard]] inline int32_t try_run_many(const std::vector<Request>& requests, gth_error* err,
                                          const Context& context = {}) noexcept {
  const size_t count = requests.size();
  const auto raw = detail::array<gth_request>(count);
  const auto pointers = detail::array<const gth_request*>(count);
  if (raw == nullptr || pointers == nullptr)
    return detail::refuse_memory(err, GTH_OPERAND_REQUEST, count * sizeof(gth_request), "requests: no memory");
  for (size_t i = 0; i < count; ++i) {
    raw[i] = requests[i].raw();
    pointers[i] = &raw[i];
  }
  return gth_run_many(context.get(), static_cast<int64_t>(count), pointers.get(), err);
}
[[nodiscard]] inline int32_t try_run_many(const std::vector<PlanRun>& runs, gth_error* err,
                                          const Context& context = {}) noexcept {
  const size_t count = runs.size();
  const auto plans = detail::array<const gth_plan*>(count);
  const auto args = detail::array<const gth_plan_args*>(count);
  if (plans == nullptr || args == nullptr)
    return detail::refuse_memory(err, GTH_OPERAND_PLAN, 2 * count * sizeof(void*), "plans: no memory");
  for (size_t i = 0; i < count; ++i) {
    const int32_t status = runs[i].check(err);
    if (status != GTH_OK) {
      if (err != nullptr) err->item = static_cast<int64_t>(i);
      return status;
    }
    plans[i] = runs[i].plan;
    args[i] = &runs[i].args;
  }
  return gth_plan_run_many(context.get(), static_cast<int64_t>(count), plans.get(), args.get(), err);
}
inline void run_many(const std::vector<Request>& requests, const Context& context = {}) {
  detail::call([&](gth_error* err) { return try_run_many(requests, err, context); });
}
inline void run_many(const std::vector<PlanRun>& runs, const Context& context = {}) {
  detail::call([&](gth_error* err) { return try_run_many(runs, err, context); });
}

/// The distribution of the rows of a table over shards.
class Shards {
 public:
  /// Each of `count` shards has ceil(rows / count) consecutive rows. The last ones have fewer or none.
  static Shards blocks(int64_t rows, int64_t count) { return Shards(GTH_SHARDS_BLOCKS, rows, count, {}); }
  /// Row r is row r / count of shard r % count.
  static Shards modulo(int64_t rows, int64_t count) { return Shards(GTH_SHARDS_MODULO, rows, count, {}); }
  /// Shard s has the rows from borders[s] up to borders[s + 1]. Borders do not decrease. The first is 0, and the last
  /// is the number of rows.
  static Shards borders(std::vector<int64_t> borders) {
    const int64_t rows = borders.empty() ? 0 : borders.back();
    const auto count = static_cast<int64_t>(borders.size()) - 1;
    return Shards(GTH_SHARDS_BORDERS, rows, std::max<int64_t>(count, 0), std::move(borders));
  }
  /// Returns the C form of the shards. It is valid as long as the shards.
  gth_shards raw() const&& = delete;
  gth_shards raw() const& noexcept { return {sizeof(gth_shards), kind_, rows_, count_, borders_.data()}; }

 private:
  Shards(int32_t kind, int64_t rows, int64_t count, std::vector<int64_t> borders)
      : kind_(kind), rows_(rows), count_(count), borders_(std::move(borders)) {}

  int32_t kind_;
  int64_t rows_, count_;
  std::vector<int64_t> borders_;
};

/// The rows that are requested from each shard.
struct Parts {
  std::vector<int64_t> counts;  ///< For each shard the number of requested rows.
  std::vector<int64_t>
      local;  ///< The row numbers within their shards: those of shard 0 first, in the order of the ids.
  std::vector<int64_t> order;  ///< For each element of local the row-major position of its id.
};

/// Like Parts, but duplicate ids request a row once.
struct PartsOnce {
  std::vector<int64_t> counts;  ///< For each shard the number of requested rows.
  std::vector<int64_t> local;   ///< The row numbers within their shards, in the order of their first ids.
  std::vector<int64_t> place;   ///< For each id the position of its row in local, or -1 if it is skipped.
};

namespace detail {

/// Resizes the vector. Returns false if memory cannot be allocated. If exceptions are disabled, that terminates the
/// program.
inline bool resize(std::vector<int64_t>* numbers, int64_t count) noexcept {
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
  try {
    numbers->resize(static_cast<size_t>(count));
  } catch (const std::exception&) {
    return false;
  }
#else
  numbers->resize(static_cast<size_t>(count));
#endif
  return true;
}

/// @param linked  The order, or with GTH_PARTS_ONCE the places.
inline int32_t partition(const View& ids, const Shards& shards, uint32_t flags, std::vector<int64_t>* counts,
                         std::vector<int64_t>* local, std::vector<int64_t>* linked, gth_error* err,
                         const Options& options, const Context& context) noexcept {
  const bool once = (flags & GTH_PARTS_ONCE) != 0;
  const gth_shards distribution = shards.raw();
  gth_parts parts = GTH_PARTS_INIT;
  const gth_tensor_desc* const operand = ids.raw();
  int32_t status = gth_partition_scratch(operand, &distribution, flags, &parts.scratch_bytes, err);
  if (status != GTH_OK || operand == nullptr) return status;  // NULL is an error.
  const gth_tensor_desc desc = described(*operand);
  const auto n = static_cast<int64_t>(count(desc.shape, static_cast<size_t>(desc.ndim)));
  const auto scratch = array<int64_t>(static_cast<size_t>(parts.scratch_bytes) / sizeof(int64_t));
  if (scratch == nullptr || !resize(counts, distribution.count) || !resize(local, n) || !resize(linked, n))
    return refuse(err, GTH_E_NOMEM, GTH_OPERAND_INDICES, -1, n, 0, "indices: no memory to partition them");
  parts.flags = flags;
  parts.capacity = n;
  parts.counts = counts->data();
  parts.local = local->data();
  (once ? parts.place : parts.order) = linked->data();
  parts.scratch = scratch.get();
  status = gth_partition(context.get(), operand, &distribution, options.get(), &parts, err);
  if (status != GTH_OK) return status;
  int64_t requested = 0;
  for (const int64_t rows : *counts) requested += rows;
  local->resize(static_cast<size_t>(requested));
  if (!once) linked->resize(static_cast<size_t>(requested));
  return GTH_OK;
}

}  // namespace detail

/// Partitions ids by the shards that store their rows. Ids are validated like the indices of a gather along a dim of
/// all rows. An error has the position of the invalid id among all ids. Ids that bounds fills or skips are requested
/// from no shard.
/// partition: concatenate the rows that the shards return, and write them to their places by scatter_into along
/// `order`. partition_once requests a row once for all its ids. Its rows come to their places by a gather with `place`
/// as indices.
[[nodiscard]] inline int32_t try_partition(const View& ids, const Shards& shards, Parts* out, gth_error* err,
                                           const Options& options = {}, const Context& context = {}) noexcept {
  const int32_t status =
      detail::partition(ids, shards, 0, &out->counts, &out->local, &out->order, err, options, context);
  if (status != GTH_OK) *out = {};
  return status;
}
inline Parts partition(const View& ids, const Shards& shards, const Options& options = {},
                       const Context& context = {}) {
  return detail::make<Parts>(
      [&](Parts* out, gth_error* err) { return try_partition(ids, shards, out, err, options, context); });
}
[[nodiscard]] inline int32_t try_partition_once(const View& ids, const Shards& shards, PartsOnce* out, gth_error* err,
                                                const Options& options = {}, const Context& context = {}) noexcept {
  const int32_t status =
      detail::partition(ids, shards, GTH_PARTS_ONCE, &out->counts, &out->local, &out->place, err, options, context);
  if (status != GTH_OK) *out = {};
  return status;
}
inline PartsOnce partition_once(const View& ids, const Shards& shards, const Options& options = {},
                                const Context& context = {}) {
  return detail::make<PartsOnce>(
      [&](PartsOnce* out, gth_error* err) { return try_partition_once(ids, shards, out, err, options, context); });
}

/// The rows that Column::take or resolve takes: integers of any shape, in row-major order. A View, or what converts to
/// a View, is a Take: column.take(ids, ..). Memory is borrowed.
class Take {
 public:
  template <class Indices, class = std::enable_if_t<std::is_convertible_v<Indices, View> > >
  Take(Indices&& indices) noexcept : indices_(std::forward<Indices>(indices)) {}
  /// Sets which indices are null. A null index selects null, whatever its value is. The bits have the order of Arrow,
  /// least significant first, and a bit that is 0 means null. They are in the row-major order of the indices. A range
  /// that has too few bits causes GTH_E_SIZE.
  /// @param offset  The number of the bit of the first index.
  Take& validity(Source bits, int64_t offset = 0) & noexcept {
    validity_ = bits;
    offset_ = offset;
    return *this;
  }
  Take validity(Source bits, int64_t offset = 0) && noexcept { return validity(bits, offset); }
  /// Sets that an index out of bounds selects null. Options must then not set another meaning.
  Take& null_bounds() & noexcept { return flags_ |= GTH_TAKE_NULL, *this; }
  Take null_bounds() && noexcept { return null_bounds(); }
  /// Sets that the column is a table, whose columns are the children of a struct. A null index then gives null in each
  /// child, and the structs themselves have no nulls, as record batches require.
  Take& record() & noexcept { return flags_ |= GTH_TAKE_RECORD, *this; }
  Take record() && noexcept { return record(); }

  /// Returns the C form of the take. It is valid as long as the take and the options.
  gth_take raw(const Options& options) const&& = delete;
  gth_take raw(const Options& options) const& noexcept {
    return {sizeof(gth_take), flags_, indices_.raw(), validity_.data, offset_, options.get()};
  }
  /// Returns the number of indices: 0 if their shape is invalid, INT64_MAX if it exceeds 64 bits.
  int64_t count() const noexcept {
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    const gth_tensor_desc* const operand = indices_.raw();
    const gth_tensor_desc desc = operand != nullptr ? detail::described(*operand) : gth_tensor_desc();
    if (desc.ndim > GTH_MAX_NDIM) return 0;
    int64_t product = 1;
    for (int32_t i = 0; i < desc.ndim; ++i) {
      if (desc.shape[i] <= 0) return 0;
      product = product > most / desc.shape[i] ? most : product * desc.shape[i];
    }
    return product;
  }
  /// Compares the size of the validity with the number of indices. The library does not have this size.
  [[nodiscard]] int32_t check(gth_error* err) const noexcept {
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    if (validity_.extent > most / 8 || offset_ < 0) return GTH_OK;
    const int64_t bits = 8 * validity_.extent, indices = count();
    if (indices <= bits && offset_ <= bits - indices) return GTH_OK;
    const int64_t needed = indices > most - offset_ ? most : offset_ + indices;
    return detail::refuse(err, GTH_E_SIZE, GTH_OPERAND_INDICES, -1, bits, needed, "indices: validity has too few bits");
  }

 private:
  View indices_;
  Source validity_ = nullptr;
  int64_t offset_ = 0;
  uint32_t flags_ = 0;
};

/// A column in the format of the Arrow C data interface: arrays of one type, which may have nulls and are never joined.
/// A column of structs is a table. A column is immutable. gather.h describes the supported types.
class Column : public Handle<gth_column, gth_column_release> {
 public:
  using Handle::Handle;
  /// Creates a column from arrays of the type `schema`, the chunks. The arrays are moved if and only if the call
  /// succeeds. The schema is only read. The arrays are released when the column and all results that share memory with
  /// it have been released.
  static Column from_arrow(const ArrowSchema* schema, const std::vector<ArrowArray*>& chunks,
                           const Context& context = {}) {
    return detail::make<Column>(
        [&](Column* out, gth_error* err) { return try_from_arrow(schema, chunks, out, err, context); });
  }
  [[nodiscard]] static int32_t try_from_arrow(const ArrowSchema* schema, const std::vector<ArrowArray*>& chunks,
                                              Column* out, gth_error* err, const Context& context = {}) noexcept {
    const auto count = static_cast<int64_t>(chunks.size());
    return out->hold(err, gth_column_from_arrow, context.get(), schema, count, chunks.data());
  }
  /// Creates a column from all arrays of a stream. A stream of record batches is a column of structs. If the call
  /// fails, arrays that have been read are lost, and the caller releases the stream.
  static Column from_arrow_stream(ArrowArrayStream* stream, const Context& context = {}) {
    return detail::make<Column>(
        [&](Column* out, gth_error* err) { return try_from_arrow_stream(stream, out, err, context); });
  }
  [[nodiscard]] static int32_t try_from_arrow_stream(ArrowArrayStream* stream, Column* out, gth_error* err,
                                                     const Context& context = {}) noexcept {
    return out->hold(err, gth_column_from_arrow_stream, context.get(), stream);
  }
  /// Takes rows into a new array, as gth_column_take describes it. Nulls of the column and null indices are null in the
  /// result. Both structs are overwritten, and the caller calls their releases. schema may be NULL.
  void take(const Take& rows, ArrowSchema* schema, ArrowArray* array, const Options& options = {},
            const Context& context = {}) const {
    detail::call([&](gth_error* err) { return try_take(rows, schema, array, err, options, context); });
  }
  [[nodiscard]] int32_t try_take(const Take& rows, ArrowSchema* schema, ArrowArray* array, gth_error* err,
                                 const Options& options = {}, const Context& context = {}) const noexcept {
    const int32_t status = rows.check(err);
    if (status != GTH_OK) return status;
    const gth_take raw = rows.raw(options);
    return gth_column_take(context.get(), get(), &raw, schema, array, err);
  }
};

/// Resolves indices to row numbers, for a caller that moves the rows itself. The result has a number in [0, extent) for
/// each index, in row-major order. It is -1 for a null index and for an index that selects no row.
/// @param extent  The number of rows.
[[nodiscard]] inline int32_t try_resolve(int64_t extent, const Take& take, std::vector<int64_t>* out, gth_error* err,
                                         const Options& options = {}, const Context& context = {}) noexcept {
  out->clear();
  int32_t status = take.check(err);
  if (status != GTH_OK) return status;
  const int64_t count = take.count();
  if (!detail::resize(out, count))
    return detail::refuse(err, GTH_E_NOMEM, GTH_OPERAND_OUT, -1, count, 0, "out: no memory for the row numbers");
  const gth_take raw = take.raw(options);
  status = gth_resolve(context.get(), extent, &raw, count, out->data(), err);
  if (status != GTH_OK) out->clear();
  return status;
}
inline std::vector<int64_t> resolve(int64_t extent, const Take& take, const Options& options = {},
                                    const Context& context = {}) {
  return detail::make<std::vector<int64_t> >(
      [&](std::vector<int64_t>* out, gth_error* err) { return try_resolve(extent, take, out, err, options, context); });
}

/// Returns the capabilities of this library on this machine.
inline gth_capability_info capabilities() {
  gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
  detail::call(gth_capabilities, &info);
  return info;
}

}  // namespace gather

#undef GATHER_COLD
#undef GATHER_INLINE

#endif

#endif
