// libgather for C++17: move-only owners and typed views over gather.h. What is not said here, is said there.
//
// A failing call throws gather::Error, or gather::IndexError for an index out of bounds. Functions named try_* are the
// same without exceptions: they return the status, fill *err (a Report, or NULL), and what they make goes to *out, which
// is empty unless they return GTH_OK. Where the compiler has no exceptions, what would be thrown ends the program. Any
// number of threads may use one object at once; it must live until the calls that use it return.
//
// gather is the namespace and a function in it: after `using namespace gather`, write gather::gather(..), or say
// `using gather::gather` in the block.
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

// What happens to calls that fail is kept out of the way of those that do not; and three ranges handed over in memory would
// cost as much as the run of a plan.
#if defined(__GNUC__)
#define GATHER_COLD __attribute__((noinline, cold))
#define GATHER_INLINE __attribute__((always_inline))
#else
#define GATHER_COLD
#define GATHER_INLINE
#endif

namespace gather {

// A gth_error ready to be handed to a call. The text behind its end is left as it is: to clear all of it would take as
// long as a small call.
struct Report : gth_error {
  Report() noexcept {
    std::memset(static_cast<gth_error*>(this), 0, offsetof(gth_error, message) + 1);
    size = sizeof(gth_error);
  }
};

// A call that failed. The numbers mean what gth_error says of them; what() is the library's English.
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
  const gth_error& fields() const noexcept { return fields_; }

 private:
  gth_error fields_;
};

// GTH_E_INDEX: position and component of the smallest bad tuple, its value, and the size of the dim (limit).
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

// An error to hand to a call, and then to throw if it was needed: a call that succeeds reads and writes no more of it than
// is set here, so that clearing it would be the larger part of a small call.
struct Thrown : gth_error {
  Thrown() noexcept { size = sizeof(gth_error); }
  void unless_ok(int32_t result) {
    if (result == GTH_OK) return;
    status = result;
    fail(*this);
  }
};

// Calls f(arguments.., &err).
template <class F, class... Arguments>
void call(F f, Arguments... arguments) {
  Thrown err;
  err.unless_ok(f(arguments..., &err));
}

// Calls f(&result, &err).
template <class Result, class F>
Result make(F f) {
  Result result;
  call(f, &result);
  return result;
}

// An error that is found here and not in the library.
GATHER_COLD inline int32_t refuse(gth_error* err, int32_t status, int32_t operand, int32_t component, int64_t value,
                                  int64_t limit, const char* message) noexcept {
  if (err == nullptr) return status;
  *err = {err->size, status, operand, component, 0, 0, -1, value, limit, 0, 0, {0}};
  std::snprintf(err->message, sizeof(err->message), "%s", message);
  return status;
}

// what: the operand by name, or what of it.
GATHER_COLD inline int32_t refuse_dtype(gth_error* err, int32_t operand, int32_t component, const char* what,
                                        int32_t dtype, int32_t needed) noexcept {
  char message[GTH_MESSAGE_SIZE];
  std::snprintf(message, sizeof(message), "%s: dtype is %s, needed is %s", what, gth_dtype_name(dtype),
                gth_dtype_name(needed));
  return refuse(err, GTH_E_DTYPE, operand, component, dtype, needed, message);
}

// Calls f(arguments.., capacity, &ndim, extents, &err).
template <class F, class... Arguments>
std::vector<int64_t> shape(F f, Arguments... arguments) {
  int64_t extents[GTH_MAX_NDIM];
  int32_t ndim = 0;
  call(f, arguments..., GTH_MAX_NDIM, &ndim, extents);
  return std::vector<int64_t>(extents, extents + ndim);
}

inline size_t count(const std::vector<int64_t>& extents) noexcept {
  size_t product = 1;
  for (const int64_t extent : extents) product *= static_cast<size_t>(extent);
  return product;
}

// A deleter is put in place after the tensor was made, so that a call that fails has not moved it.
template <class F>
void run_deleter(void* user) {
  const std::unique_ptr<std::optional<F> > deleter(static_cast<std::optional<F>*>(user));
  if (deleter->has_value()) (**deleter)();
}

// 0 for a type that is no dtype: characters are text, not numbers.
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

// The dtype of a C++ type, 0 if it has none. Specialise Dtype for half types of your own.
template <class T>
struct Dtype : std::integral_constant<int32_t, detail::dtype<T>()> {};
template <class T>
constexpr int32_t dtype_of() noexcept {
  return Dtype<std::remove_cv_t<T> >::value;
}
template <class T>
using IfElement = std::enable_if_t<dtype_of<T>() != 0, T>;

namespace detail {

// What a range of elements points to.
template <class Range>
using ElementOf = IfElement<std::remove_pointer_t<decltype(std::data(std::declval<Range&>()))> >;

// A range that is not where its elements are, such as std::span: a constant one still gives what it was made of.
template <class Range, class = void>
struct IsSpan : std::false_type {};
template <class Range>
struct IsSpan<Range, std::enable_if_t<std::is_same_v<decltype(std::data(std::declval<const Range&>())),
                                                     typename Range::element_type*> > > : std::true_type {};

// A range that may be given as an argument: it stays where it is, or it is a span.
template <class Range>
using IfLasting = std::enable_if_t<std::is_lvalue_reference_v<Range> || IsSpan<std::decay_t<Range> >::value>;

}  // namespace detail

// One extent or stride: any integer.
struct Extent {
  template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer> > >
  constexpr Extent(Integer number) noexcept : value(static_cast<int64_t>(number)) {}
  int64_t value;
};

// Extents, or strides in bytes, held inline: {2, 3}, {rows, columns}, an array, a vector. More than GTH_MAX_NDIM are kept
// as a rank that every call refuses with GTH_E_RANK.
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

// A tensor in the caller's memory: a gth_tensor_desc that carries its own shape and strides. It owns no memory; the
// data must outlive the calls and tensors that the view is given to. A pointer to const makes a read-only view, which
// no call writes through.
class View {
 public:
  // Dense row-major data of a C++ type, or of any dtype, such as GTH_DTYPE_BFLOAT16.
  template <class T, class = IfElement<T> >
  View(T* const& data, const Dims& shape) noexcept : View(dtype_of<T>(), shape, data, std::is_const_v<T>) {}
  View(void* data, int32_t dtype, const Dims& shape) noexcept : View(dtype, shape, data, false) {}
  View(const void* data, int32_t dtype, const Dims& shape) noexcept : View(dtype, shape, data, true) {}
  // A std::vector, std::array, array or span, as one dim or cut into a shape. A shape that needs more is GTH_E_STRIDE; one
  // that needs less leaves the rest alone, as any description does.
  template <class Range, class T = detail::ElementOf<Range>, class = detail::IfLasting<Range> >
  View(Range&& values) noexcept : View(values, Dims{std::size(values)}) {}
  template <class Range, class T = detail::ElementOf<Range>, class = detail::IfLasting<Range> >
  View(Range&& values, const Dims& shape) noexcept
      : View(dtype_of<T>(), shape, std::size(values) == 0 ? nullptr : std::data(values), std::is_const_v<T>) {
    extent(static_cast<int64_t>(std::size(values) * sizeof(T)));
  }
  // What a description says; its shape and strides are copied.
  explicit View(const gth_tensor_desc& desc) noexcept : desc_(desc), shape_(desc.shape, rank(desc)) {
    point();
    if (desc.strides != nullptr) strides(Dims(desc.strides, rank(desc)));
  }
  View(const View& other) noexcept : desc_(other.desc_), shape_(other.shape_), strides_(other.strides_) { point(); }
  View& operator=(const View& other) noexcept {
    desc_ = other.desc_;
    shape_ = other.shape_;
    strides_ = other.strides_;
    return point();
  }
  // No data: for plans and shape queries. One extent may be GTH_OPEN where a plan allows it.
  static View layout(int32_t dtype, const Dims& shape) noexcept { return View(dtype, shape, nullptr, false); }
  template <class T>
  static View layout(const Dims& shape) noexcept {
    return layout(dtype_of<T>(), shape);
  }

  // A setter returns a reference to an lvalue; of a temporary it returns a copy, which a reference may be bound to.

  // One stride in bytes for each dim; zero and negative ones too. Another number of them is GTH_E_RANK.
  View& strides(const Dims& bytes) & noexcept {
    desc_.ndim = bytes.size() == shape_.size() ? shape_.size() : GTH_MAX_NDIM + 1;
    desc_.strides = strides_.data();
    return set(strides_, bytes);
  }
  View strides(const Dims& bytes) && noexcept { return strides(bytes); }
  // Where element 0 lies from data, in bytes.
  View& offset(int64_t bytes) & noexcept { return set(desc_.offset, bytes); }
  View offset(int64_t bytes) && noexcept { return offset(bytes); }
  // Bytes of memory from data; 0: as many as shape and strides reach.
  View& extent(int64_t bytes) & noexcept { return set(desc_.extent, bytes); }
  View extent(int64_t bytes) && noexcept { return extent(bytes); }
  View& device(int32_t kind, int32_t id = 0) & noexcept { return set(desc_.device, kind).set(desc_.device_id, id); }
  View device(int32_t kind, int32_t id = 0) && noexcept { return device(kind, id); }
  View& readonly() & noexcept { return set(desc_.flags, desc_.flags | GTH_TENSOR_READONLY); }
  View readonly() && noexcept { return readonly(); }

  int32_t dtype() const noexcept { return desc_.dtype; }
  // The description, valid as long as the view.
  const gth_tensor_desc* raw() const&& = delete;
  const gth_tensor_desc* raw() const& noexcept { return &desc_; }

 private:
  View(int32_t dtype, const Dims& shape, const void* data, bool readonly) noexcept : shape_(shape) {
    desc_.dtype = dtype;
    desc_.ndim = shape.size();
    desc_.flags = readonly ? GTH_TENSOR_READONLY : 0;
    desc_.data = data;
    desc_.shape = shape_.data();
  }
  // The description at this view's own shape and strides.
  View& point() noexcept {
    desc_.shape = shape_.data();
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

// gth_options, set by name: Options().axis(1).bounds(GTH_BOUNDS_CLAMP). What is not set is the documented default. A setter
// returns a reference to an lvalue; of a temporary it returns a copy, which a reference may be bound to.
class Options {
 public:
  Options& axis(int64_t value) & noexcept { return set(raw_.has_axis, 1).set(raw_.axis, value); }
  Options axis(int64_t value) && noexcept { return axis(value); }
  Options& batch_dims(int64_t value) & noexcept { return set(raw_.batch_dims, value); }
  Options batch_dims(int64_t value) && noexcept { return batch_dims(value); }
  Options& profile(int32_t value) & noexcept { return set(raw_.profile, value); }
  Options profile(int32_t value) && noexcept { return profile(value); }
  Options& opset(int32_t value) & noexcept { return set(raw_.opset, value); }
  Options opset(int32_t value) && noexcept { return opset(value); }
  Options& negative(int32_t value) & noexcept { return set(raw_.negative, value); }
  Options negative(int32_t value) && noexcept { return negative(value); }
  Options& bounds(int32_t value) & noexcept { return set(raw_.bounds, value); }
  Options bounds(int32_t value) && noexcept { return bounds(value); }
  Options& fill(int32_t value) & noexcept { return set(raw_.fill, value); }
  Options fill(int32_t value) && noexcept { return fill(value); }
  Options& extents(int32_t value) & noexcept { return set(raw_.extents, value); }
  Options extents(int32_t value) && noexcept { return extents(value); }
  Options& threads(int32_t value) & noexcept { return set(raw_.threads, value); }
  Options threads(int32_t value) && noexcept { return threads(value); }
  // Of scatters: what becomes of an update, and what is added and multiplied in.
  Options& reduction(int32_t value) & noexcept { return set(raw_.reduction, value); }
  Options reduction(int32_t value) && noexcept { return reduction(value); }
  Options& accumulate(int32_t value) & noexcept { return set(raw_.accumulate, value); }
  Options accumulate(int32_t value) && noexcept { return accumulate(value); }
  // Rows out of bounds are filled with this element. A call with params of another dtype is GTH_E_DTYPE.
  template <class T, class = IfElement<T> >
  Options& fill_value(const T& value) & noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(raw_.fill_value), "one element of params");
    std::memcpy(raw_.fill_value, &value, sizeof(T));
    return set(fill_dtype_, dtype_of<T>()).bounds(GTH_BOUNDS_FILL).fill(GTH_FILL_VALUE);
  }
  template <class T, class = IfElement<T> >
  Options fill_value(const T& value) && noexcept {
    return fill_value(value);
  }
  // NULL where nothing has been set: the library then has less to look at. Valid as long as the options.
  const gth_options* get() const&& = delete;
  const gth_options* get() const& noexcept { return changed_ ? &raw_ : nullptr; }

  // The library takes a fill value for whatever params are; here it has a dtype. Strings, and params without a dtype, are
  // the library's to judge.
  int32_t check(int32_t params, gth_error* err) const noexcept {
    const bool free = fill_dtype_ == params || fill_dtype_ == 0 || raw_.fill != GTH_FILL_VALUE;
    if (free || params == 0 || params == GTH_DTYPE_STRING) return GTH_OK;
    return detail::refuse_dtype(err, GTH_OPERAND_OPTIONS, offsetof(gth_options, fill_value), "options: fill_value",
                                fill_dtype_, params);
  }
  // The same for a tensor, which is only asked where there is a value.
  int32_t check(const gth_tensor* params, gth_error* err) const noexcept {
    if (fill_dtype_ == 0) return GTH_OK;
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    return gth_tensor_describe(params, &desc, nullptr) == GTH_OK ? check(desc.dtype, err) : GTH_OK;
  }

 private:
  template <class Field, class Value>
  Options& set(Field& field, const Value& value) noexcept {
    changed_ = true;
    field = value;
    return *this;
  }
  gth_options raw_ = GTH_OPTIONS_INIT;
  int32_t fill_dtype_ = 0;
  bool changed_ = false;
};

// Owns one C handle: moved, never copied, released at the end. An empty one holds NULL.
template <class Raw, int32_t (*Release)(Raw*)>
class Handle {
 public:
  Handle() noexcept = default;
  explicit Handle(Raw* raw) noexcept : raw_(raw) {}  // takes over raw
  Handle(Handle&& other) noexcept : raw_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept { return reset(other.release()), *this; }
  ~Handle() { reset(); }
  Raw* get() const noexcept { return raw_; }
  Raw* release() noexcept { return std::exchange(raw_, nullptr); }  // the caller owns it from here on
  void reset(Raw* raw = nullptr) noexcept {
    if (Raw* const old = std::exchange(raw_, raw)) Release(old);
  }
  explicit operator bool() const noexcept { return raw_ != nullptr; }

  // Holds what f(arguments.., &raw, err) makes, and nothing if it fails.
  template <class F, class... Arguments>
  int32_t hold(gth_error* err, F f, Arguments... arguments) noexcept {
    Raw* made = nullptr;
    const int32_t status = f(arguments..., &made, err);
    reset(made);
    return status;
  }

 private:
  Raw* raw_ = nullptr;
};

// Where calls run; Context() is the process's CPU context. Hooks and their users must outlive it, and memory hooks
// every tensor made with it.
class Context : public Handle<gth_context, gth_context_release> {
 public:
  using Handle::Handle;
  Context() noexcept = default;
  explicit Context(const gth_context_options& options) { detail::call(try_make, &options, this); }
  static int32_t try_make(const gth_context_options* options, Context* out, gth_error* err) noexcept {
    return out->hold(err, gth_context_create, options);
  }
  void sync() const { detail::call(gth_context_sync, get()); }
  int32_t try_sync(gth_error* err) const noexcept { return gth_context_sync(get(), err); }
  void wait(CUstream_st* stream) const { detail::call(gth_context_wait, get(), stream); }
  int32_t try_wait(CUstream_st* stream, gth_error* err) const noexcept { return gth_context_wait(get(), stream, err); }
  void signal(CUstream_st* stream) const { detail::call(gth_context_signal, get(), stream); }
  int32_t try_signal(CUstream_st* stream, gth_error* err) const noexcept {
    return gth_context_signal(get(), stream, err);
  }
  // Waits for the stream; throws IndexError for the first bad index of the device calls since the last take.
  void take_error() const { detail::call(gth_context_take_error, get()); }
  int32_t try_take_error(gth_error* err) const noexcept { return gth_context_take_error(get(), err); }
  void enqueue_take_error(gth_error_record* to) const { detail::call(gth_context_enqueue_take_error, get(), to); }
  int32_t try_enqueue_take_error(gth_error_record* to, gth_error* err) const noexcept {
    return gth_context_enqueue_take_error(get(), to, err);
  }
};

// A tensor: borrowed memory must stay valid until it is gone, any other memory belongs to it. What points into a tensor is
// not given by one that is gone with the expression, such as gather(..).data<float>().
class Tensor : public Handle<gth_tensor, gth_tensor_release> {
 public:
  using Handle::Handle;

  // Over the caller's memory, without a copy.
  static Tensor borrow(const View& view) {
    return detail::make<Tensor>([&](Tensor* out, gth_error* err) { return try_borrow(view, out, err); });
  }
  static int32_t try_borrow(const View& view, Tensor* out, gth_error* err) noexcept {
    return out->hold(err, gth_tensor_borrow, view.raw());
  }
  // Takes over memory: deleter(), which must not throw, runs once, on any thread, when the tensor and all its exports
  // are gone. If adopt fails, the deleter has not run and has not been moved from: what it owns is still the caller's. A
  // temporary deleter then destroys what it owns at the end of the expression, so give a named one by std::move to keep it.
  template <class Deleter>
  static Tensor adopt(const View& view, Deleter&& deleter, const Context& context = {}) {
    return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
      return try_adopt(view, std::forward<Deleter>(deleter), out, err, context);
    });
  }
  // Throws only what copying or moving the deleter throws; out is then unchanged.
  template <class Deleter>
  static int32_t try_adopt(
      const View& view, Deleter&& deleter, Tensor* out, gth_error* err,
      const Context& context = {}) noexcept(std::is_nothrow_constructible_v<std::decay_t<Deleter>, Deleter&&>) {
    using Held = std::optional<std::decay_t<Deleter> >;
    std::unique_ptr<Held> held(new (std::nothrow) Held);
    if (held == nullptr) {
      out->reset();
      return detail::refuse(err, GTH_E_NOMEM, GTH_OPERAND_NONE, -1, sizeof(Held), 0, "no memory");
    }
    Tensor made;
    void* const user = held.get();
    const int32_t status =
        made.hold(err, gth_tensor_adopt, context.get(), view.raw(), detail::run_deleter<std::decay_t<Deleter> >, user);
    if (status == GTH_OK) held.release()->emplace(std::forward<Deleter>(deleter));
    *out = std::move(made);
    return status;
  }
  // Zeros in new memory of the context.
  static Tensor alloc(int32_t dtype, const Dims& shape, const Context& context = {}) {
    return detail::make<Tensor>(
        [&](Tensor* out, gth_error* err) { return try_alloc(dtype, shape, out, err, context); });
  }
  static int32_t try_alloc(int32_t dtype, const Dims& shape, Tensor* out, gth_error* err,
                           const Context& context = {}) noexcept {
    return out->hold(err, gth_tensor_alloc, context.get(), dtype, shape.size(), shape.data());
  }

  // Shape, strides and data, valid until the tensor is gone.
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
  // Element 0, where it lies on the tensor's device. T must be the element type (GTH_E_DTYPE), and const if the memory
  // is read-only (GTH_E_READONLY).
  template <class T>
  T* data() const&& = delete;
  template <class T>
  T* data() const& {
    T* element = nullptr;
    detail::call([&](gth_error* err) { return try_data(&element, err); });
    return element;
  }
  template <class T>
  int32_t try_data(T** out, gth_error* err) const&& = delete;
  template <class T>
  int32_t try_data(T** out, gth_error* err) const& noexcept {
    static_assert(dtype_of<T>() != 0, "T has no dtype: specialise gather::Dtype");
    *out = nullptr;
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    const int32_t status = gth_tensor_describe(get(), &desc, err);
    if (status != GTH_OK) return status;
    if (desc.dtype != dtype_of<T>())
      return detail::refuse_dtype(err, GTH_OPERAND_TENSOR, -1, "tensor", desc.dtype, dtype_of<T>());
    if (!std::is_const_v<T> && (desc.flags & GTH_TENSOR_READONLY) != 0)
      return detail::refuse(err, GTH_E_READONLY, GTH_OPERAND_TENSOR, -1, 0, 0, "tensor: the memory is read-only");
    *out = const_cast<T*>(reinterpret_cast<const T*>(static_cast<const char*>(desc.data) + desc.offset));
    return GTH_OK;
  }
  // Every element in row-major order, whatever the strides and the device. Waits for the context.
  template <class T>
  std::vector<T> to_vector(const Context& context = {}) const {
    const std::vector<int64_t> extents = shape();
    const size_t count = detail::count(extents);
    if constexpr (std::is_same_v<T, bool>) {  // whose vector has no bools to point to
      const auto values = std::make_unique<bool[]>(count);
      read(View(count == 0 ? nullptr : values.get(), extents), context);
      return std::vector<bool>(values.get(), values.get() + count);
    } else {
      std::vector<T> values(count);
      read(View(values, extents), context);
      return values;
    }
  }
  // Every element into a tensor of the same dtype and shape, on any device that the context reaches.
  void copy_to(const Tensor& destination, const Context& context = {}) const {
    detail::call(gth_tensor_copy, context.get(), get(), destination.get());
  }
  int32_t try_copy_to(const Tensor& destination, gth_error* err, const Context& context = {}) const noexcept {
    return gth_tensor_copy(context.get(), get(), destination.get(), err);
  }

  // DLPack in: taken over if and only if it does not fail.
  static Tensor from_dlpack(DLManagedTensorVersioned* managed, const Context& context = {}) {
    return detail::make<Tensor>(
        [&](Tensor* out, gth_error* err) { return try_from_dlpack(managed, out, err, context); });
  }
  static Tensor from_dlpack(DLManagedTensor* managed, const Context& context = {}) {
    return detail::make<Tensor>(
        [&](Tensor* out, gth_error* err) { return try_from_dlpack(managed, out, err, context); });
  }
  static int32_t try_from_dlpack(DLManagedTensorVersioned* managed, Tensor* out, gth_error* err,
                                 const Context& context = {}) noexcept {
    return out->hold(err, gth_tensor_from_dlpack, context.get(), managed);
  }
  static int32_t try_from_dlpack(DLManagedTensor* managed, Tensor* out, gth_error* err,
                                 const Context& context = {}) noexcept {
    return out->hold(err, gth_tensor_from_dlpack_legacy, context.get(), managed);
  }
  // DLPack out: the caller owns the result and calls its deleter. flags: GTH_EXPORT_*.
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
  int32_t try_to_dlpack(DLManagedTensorVersioned** out, gth_error* err, uint32_t flags = 0,
                        const Context& context = {}) const noexcept {
    return gth_tensor_to_dlpack(context.get(), get(), flags, out, err);
  }
  int32_t try_to_dlpack_legacy(DLManagedTensor** out, gth_error* err, uint32_t flags = 0,
                               const Context& context = {}) const noexcept {
    return gth_tensor_to_dlpack_legacy(context.get(), get(), flags, out, err);
  }

  // Strings from Arrow, as one dim or cut into a shape: the array is moved if and only if it does not fail.
  static Tensor from_arrow(const ArrowSchema* schema, ArrowArray* array, const Dims* shape = nullptr,
                           const Context& context = {}) {
    return detail::make<Tensor>(
        [&](Tensor* out, gth_error* err) { return try_from_arrow(schema, array, out, err, shape, context); });
  }
  static int32_t try_from_arrow(const ArrowSchema* schema, ArrowArray* array, Tensor* out, gth_error* err,
                                const Dims* shape = nullptr, const Context& context = {}) noexcept {
    return out->hold(err, gth_tensor_from_arrow, context.get(), schema, array, shape != nullptr ? shape->size() : -1,
                     shape != nullptr ? shape->data() : nullptr);
  }
  // Strings to Arrow: both structs are overwritten, and the caller calls their releases.
  void to_arrow(ArrowSchema* schema, ArrowArray* array, uint32_t flags = 0, const Context& context = {}) const {
    detail::call(gth_tensor_to_arrow, context.get(), get(), flags, schema, array);
  }
  int32_t try_to_arrow(ArrowSchema* schema, ArrowArray* array, gth_error* err, uint32_t flags = 0,
                       const Context& context = {}) const noexcept {
    return gth_tensor_to_arrow(context.get(), get(), flags, schema, array, err);
  }
  // Strings over the caller's buffers: string i is bytes[offsets[i] .. offsets[i + 1]). Without a deleter they are
  // borrowed, with one they are taken over if and only if it does not fail. flags: GTH_STRINGS_BINARY.
  static Tensor from_strings(const int64_t* offsets, std::string_view bytes, const Dims& shape, uint32_t flags = 0,
                             gth_deleter_fn deleter = nullptr, void* user = nullptr, const Context& context = {}) {
    return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
      return try_from_strings(offsets, bytes, shape, out, err, flags, deleter, user, context);
    });
  }
  static int32_t try_from_strings(const int64_t* offsets, std::string_view bytes, const Dims& shape, Tensor* out,
                                  gth_error* err, uint32_t flags = 0, gth_deleter_fn deleter = nullptr,
                                  void* user = nullptr, const Context& context = {}) noexcept {
    const void* const data = bytes.data();
    const auto extent = static_cast<int64_t>(bytes.size());
    return out->hold(err, gth_tensor_from_strings, context.get(), flags, shape.size(), shape.data(), offsets, data,
                     extent, deleter, user);
  }
  // The strings in row-major order, valid until the tensor is gone.
  std::vector<std::string_view> strings() const&& = delete;
  std::vector<std::string_view> strings() const& {
    const int64_t* offsets = nullptr;
    const void* bytes = nullptr;
    detail::call(gth_tensor_strings, get(), &offsets, &bytes);
    std::vector<std::string_view> views(detail::count(shape()));
    for (size_t i = 0; i < views.size(); ++i)
      views[i] = {static_cast<const char*>(bytes) + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
    return views;
  }

 private:
  void read(const View& destination, const Context& context) const {
    copy_to(borrow(destination), context);
    context.sync();
  }
};

namespace detail {

// One operation in its forms, by the functions of the library.
template <class F>
int32_t gather(F make, const Tensor& params, const Tensor& indices, Tensor* out, gth_error* err, const Options& options,
               const Context& context) noexcept {
  const int32_t status = options.check(params.get(), err);
  if (status != GTH_OK) return out->reset(), status;
  return out->hold(err, make, context.get(), params.get(), indices.get(), options.get());
}

// As messages begin.
inline const char* operand_name(int32_t operand) noexcept {
  switch (operand) {
    case GTH_OPERAND_PARAMS: return "params";
    case GTH_OPERAND_INDICES: return "indices";
    case GTH_OPERAND_OUT: return "out";
    case GTH_OPERAND_TARGET: return "target";
    default: return "updates";
  }
}

// The tensor that could not be made was to be an operand.
GATHER_COLD inline int32_t about(int32_t operand, int32_t status, gth_error* err) noexcept {
  constexpr std::string_view tensor = "tensor";
  if (err == nullptr || err->operand != GTH_OPERAND_TENSOR) return status;
  err->operand = operand;
  if (tensor.compare(0, tensor.size(), err->message, tensor.size()) != 0) return status;
  char message[GTH_MESSAGE_SIZE];
  const int length =
      std::snprintf(message, sizeof(message), "%s%s", operand_name(operand), err->message + tensor.size());
  if (length >= GTH_MESSAGE_SIZE) err->flags |= GTH_ERROR_CUT;
  std::memcpy(err->message, message, sizeof(message));
  return status;
}

// Views are not made tensors of: an error is about params or indices, as it is with tensors.
template <class Shape, class F>
int32_t gather(Shape shape, F write, const View& params, const View& indices, Tensor* out, gth_error* err,
               const Options& options, const Context& context) noexcept {
  const gth_tensor_desc *const from = params.raw(), *const at = indices.raw();
  gth_tensor_desc to = GTH_TENSOR_DESC_INIT;
  int64_t extents[GTH_MAX_NDIM];
  int32_t ndim = 0;
  int32_t status = options.check(params.dtype(), err);
  out->reset();
  if (status == GTH_OK) status = shape(from, at, options.get(), GTH_MAX_NDIM, &ndim, extents, err);
  if (status != GTH_OK) return status;
  status = out->hold(err, gth_tensor_alloc, context.get(), params.dtype(), ndim, extents);
  if (status != GTH_OK) return about(GTH_OPERAND_OUT, status, err);
  status = gth_tensor_describe(out->get(), &to, err);
  to.strides = nullptr;  // dense, which is quicker to see than to find out
  if (status == GTH_OK) status = write(context.get(), from, at, options.get(), &to, err);
  if (status != GTH_OK) out->reset();
  return status;
}

template <class F>
int32_t gather_into(F write, const Tensor& params, const Tensor& indices, const Tensor& out, gth_error* err,
                    const Options& options, const Context& context) noexcept {
  const int32_t status = options.check(params.get(), err);
  if (status != GTH_OK) return status;
  return write(context.get(), params.get(), indices.get(), options.get(), out.get(), err);
}

template <class F>
int32_t gather_into(F write, const View& params, const View& indices, const View& out, gth_error* err,
                    const Options& options, const Context& context) noexcept {
  const int32_t status = options.check(params.dtype(), err);
  if (status != GTH_OK) return status;
  return write(context.get(), params.raw(), indices.raw(), options.get(), out.raw(), err);
}

// The same of a scatter: into a new tensor, which is target with the updates in it.
template <class F>
int32_t scatter(F make, const Tensor& target, const Tensor& indices, const Tensor& updates, Tensor* out, gth_error* err,
                const Options& options, const Context& context) noexcept {
  const int32_t status = options.check(target.get(), err);
  if (status != GTH_OK) return out->reset(), status;
  return out->hold(err, make, context.get(), target.get(), indices.get(), updates.get(), options.get());
}

// A tensor over a view for the length of a call, as this operand of it.
inline int32_t lend(const View& view, int32_t operand, Tensor* out, gth_error* err) noexcept {
  const int32_t status = Tensor::try_borrow(view, out, err);
  return status == GTH_OK ? status : about(operand, status, err);
}

template <class F>
int32_t scatter(F make, const View& target, const View& indices, const View& updates, Tensor* out, gth_error* err,
                const Options& options, const Context& context) noexcept {
  Tensor to, at, from;
  int32_t status = lend(target, GTH_OPERAND_TARGET, &to, err);
  if (status == GTH_OK) status = lend(indices, GTH_OPERAND_INDICES, &at, err);
  if (status == GTH_OK) status = lend(updates, GTH_OPERAND_UPDATES, &from, err);
  if (status != GTH_OK) return out->reset(), status;
  return scatter(make, to, at, from, out, err, options, context);
}

// In place.
template <class F>
int32_t scatter_into(F write, const Tensor& target, const Tensor& indices, const Tensor& updates, gth_error* err,
                     const Options& options, const Context& context) noexcept {
  const int32_t status = options.check(target.get(), err);
  if (status != GTH_OK) return status;
  return write(context.get(), target.get(), indices.get(), updates.get(), options.get(), err);
}

template <class F>
int32_t scatter_into(F write, const View& target, const View& indices, const View& updates, gth_error* err,
                     const Options& options, const Context& context) noexcept {
  const int32_t status = options.check(target.dtype(), err);
  if (status != GTH_OK) return status;
  return write(context.get(), target.raw(), indices.raw(), updates.raw(), options.get(), err);
}

// The gradient of a gather.
template <class F>
int32_t gradient(F make, const Tensor& gradient, const Tensor& indices, const Dims& shape, Tensor* out, gth_error* err,
                 const Options& options, const Context& context) noexcept {
  const int32_t status = options.check(gradient.get(), err);
  if (status != GTH_OK) return out->reset(), status;
  return out->hold(err, make, context.get(), gradient.get(), indices.get(), shape.size(), shape.data(), options.get());
}

template <class F>
int32_t gradient(F make, const View& gradient, const View& indices, const Dims& shape, Tensor* out, gth_error* err,
                 const Options& options, const Context& context) noexcept {
  Tensor from, at;
  int32_t status = lend(gradient, GTH_OPERAND_UPDATES, &from, err);
  if (status == GTH_OK) status = lend(indices, GTH_OPERAND_INDICES, &at, err);
  if (status != GTH_OK) return out->reset(), status;
  return detail::gradient(make, from, at, shape, out, err, options, context);
}

template <class F>
std::vector<int64_t> gather_shape(F query, const View& params, const View& indices, const Options& options) {
  call([&](gth_error* err) { return options.check(params.dtype(), err); });
  return shape(query, params.raw(), indices.raw(), options.get());
}

}  // namespace detail

// gather takes slices of params along an axis; gather_nd takes slices by tuples, the last axis of indices; gather_elements
// takes single elements along an axis. gather.h has the shapes. Three forms: a new tensor, from tensors or views; into a
// tensor; into a view, from views, without a handle.
// With bounds = error the output is unchanged when an index is bad.
inline int32_t try_gather(const Tensor& params, const Tensor& indices, Tensor* out, gth_error* err,
                          const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gather(gth_gather, params, indices, out, err, options, context);
}
inline Tensor gather(const Tensor& params, const Tensor& indices, const Options& options = {},
                     const Context& context = {}) {
  return detail::make<Tensor>(
      [&](Tensor* out, gth_error* err) { return try_gather(params, indices, out, err, options, context); });
}
inline int32_t try_gather(const View& params, const View& indices, Tensor* out, gth_error* err,
                          const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gather(gth_gather_shape, gth_gather_desc, params, indices, out, err, options, context);
}
inline Tensor gather(const View& params, const View& indices, const Options& options = {},
                     const Context& context = {}) {
  return detail::make<Tensor>(
      [&](Tensor* out, gth_error* err) { return try_gather(params, indices, out, err, options, context); });
}
inline int32_t try_gather_into(const Tensor& params, const Tensor& indices, const Tensor& out, gth_error* err,
                               const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gather_into(gth_gather_into, params, indices, out, err, options, context);
}
inline void gather_into(const Tensor& params, const Tensor& indices, const Tensor& out, const Options& options = {},
                        const Context& context = {}) {
  detail::Thrown err;
  err.unless_ok(try_gather_into(params, indices, out, &err, options, context));
}
inline int32_t try_gather_into(const View& params, const View& indices, const View& out, gth_error* err,
                               const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gather_into(gth_gather_desc, params, indices, out, err, options, context);
}
inline void gather_into(const View& params, const View& indices, const View& out, const Options& options = {},
                        const Context& context = {}) {
  detail::Thrown err;
  err.unless_ok(try_gather_into(params, indices, out, &err, options, context));
}
// The output's shape. Extents of GTH_OPEN are handed on.
inline std::vector<int64_t> gather_shape(const View& params, const View& indices, const Options& options = {}) {
  return detail::gather_shape(gth_gather_shape, params, indices, options);
}

inline int32_t try_gather_nd(const Tensor& params, const Tensor& indices, Tensor* out, gth_error* err,
                             const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gather(gth_gather_nd, params, indices, out, err, options, context);
}
inline Tensor gather_nd(const Tensor& params, const Tensor& indices, const Options& options = {},
                        const Context& context = {}) {
  return detail::make<Tensor>(
      [&](Tensor* out, gth_error* err) { return try_gather_nd(params, indices, out, err, options, context); });
}
inline int32_t try_gather_nd(const View& params, const View& indices, Tensor* out, gth_error* err,
                             const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gather(gth_gather_nd_shape, gth_gather_nd_desc, params, indices, out, err, options, context);
}
inline Tensor gather_nd(const View& params, const View& indices, const Options& options = {},
                        const Context& context = {}) {
  return detail::make<Tensor>(
      [&](Tensor* out, gth_error* err) { return try_gather_nd(params, indices, out, err, options, context); });
}
inline int32_t try_gather_nd_into(const Tensor& params, const Tensor& indices, const Tensor& out, gth_error* err,
                                  const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gather_into(gth_gather_nd_into, params, indices, out, err, options, context);
}
inline void gather_nd_into(const Tensor& params, const Tensor& indices, const Tensor& out, const Options& options = {},
                           const Context& context = {}) {
  detail::Thrown err;
  err.unless_ok(try_gather_nd_into(params, indices, out, &err, options, context));
}
inline int32_t try_gather_nd_into(const View& params, const View& indices, const View& out, gth_error* err,
                                  const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gather_into(gth_gather_nd_desc, params, indices, out, err, options, context);
}
inline void gather_nd_into(const View& params, const View& indices, const View& out, const Options& options = {},
                           const Context& context = {}) {
  detail::Thrown err;
  err.unless_ok(try_gather_nd_into(params, indices, out, &err, options, context));
}
inline std::vector<int64_t> gather_nd_shape(const View& params, const View& indices, const Options& options = {}) {
  return detail::gather_shape(gth_gather_nd_shape, params, indices, options);
}

inline int32_t try_gather_elements(const Tensor& params, const Tensor& indices, Tensor* out, gth_error* err,
                                   const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gather(gth_gather_elements, params, indices, out, err, options, context);
}
inline Tensor gather_elements(const Tensor& params, const Tensor& indices, const Options& options = {},
                              const Context& context = {}) {
  return detail::make<Tensor>(
      [&](Tensor* out, gth_error* err) { return try_gather_elements(params, indices, out, err, options, context); });
}
inline int32_t try_gather_elements(const View& params, const View& indices, Tensor* out, gth_error* err,
                                   const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gather(gth_gather_elements_shape, gth_gather_elements_desc, params, indices, out, err, options,
                        context);
}
inline Tensor gather_elements(const View& params, const View& indices, const Options& options = {},
                              const Context& context = {}) {
  return detail::make<Tensor>(
      [&](Tensor* out, gth_error* err) { return try_gather_elements(params, indices, out, err, options, context); });
}
inline int32_t try_gather_elements_into(const Tensor& params, const Tensor& indices, const Tensor& out, gth_error* err,
                                        const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gather_into(gth_gather_elements_into, params, indices, out, err, options, context);
}
inline void gather_elements_into(const Tensor& params, const Tensor& indices, const Tensor& out,
                                 const Options& options = {}, const Context& context = {}) {
  detail::Thrown err;
  err.unless_ok(try_gather_elements_into(params, indices, out, &err, options, context));
}
inline int32_t try_gather_elements_into(const View& params, const View& indices, const View& out, gth_error* err,
                                        const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gather_into(gth_gather_elements_desc, params, indices, out, err, options, context);
}
inline void gather_elements_into(const View& params, const View& indices, const View& out, const Options& options = {},
                                 const Context& context = {}) {
  detail::Thrown err;
  err.unless_ok(try_gather_elements_into(params, indices, out, &err, options, context));
}
inline std::vector<int64_t> gather_elements_shape(const View& params, const View& indices,
                                                  const Options& options = {}) {
  return detail::gather_shape(gth_gather_elements_shape, params, indices, options);
}

// scatter writes slices of target along an axis, what gather would read there; scatter_nd writes slices by tuples;
// scatter_elements writes single elements along an axis. gather.h has the shapes. Options::reduction says what becomes of an
// update and of what its row holds. Three forms: a new tensor, which is target with the updates in it, from tensors or views;
// in place in a tensor; in place in a view, from views, without a handle. With bounds = error the target is unchanged when
// an index is bad.
inline int32_t try_scatter(const Tensor& target, const Tensor& indices, const Tensor& updates, Tensor* out,
                           gth_error* err, const Options& options = {}, const Context& context = {}) noexcept {
  return detail::scatter(gth_scatter, target, indices, updates, out, err, options, context);
}
inline Tensor scatter(const Tensor& target, const Tensor& indices, const Tensor& updates, const Options& options = {},
                      const Context& context = {}) {
  return detail::make<Tensor>(
      [&](Tensor* out, gth_error* err) { return try_scatter(target, indices, updates, out, err, options, context); });
}
inline int32_t try_scatter(const View& target, const View& indices, const View& updates, Tensor* out, gth_error* err,
                           const Options& options = {}, const Context& context = {}) noexcept {
  return detail::scatter(gth_scatter, target, indices, updates, out, err, options, context);
}
inline Tensor scatter(const View& target, const View& indices, const View& updates, const Options& options = {},
                      const Context& context = {}) {
  return detail::make<Tensor>(
      [&](Tensor* out, gth_error* err) { return try_scatter(target, indices, updates, out, err, options, context); });
}
inline int32_t try_scatter_into(const Tensor& target, const Tensor& indices, const Tensor& updates, gth_error* err,
                                const Options& options = {}, const Context& context = {}) noexcept {
  return detail::scatter_into(gth_scatter_into, target, indices, updates, err, options, context);
}
inline void scatter_into(const Tensor& target, const Tensor& indices, const Tensor& updates,
                         const Options& options = {}, const Context& context = {}) {
  detail::Thrown err;
  err.unless_ok(try_scatter_into(target, indices, updates, &err, options, context));
}
inline int32_t try_scatter_into(const View& target, const View& indices, const View& updates, gth_error* err,
                                const Options& options = {}, const Context& context = {}) noexcept {
  return detail::scatter_into(gth_scatter_desc, target, indices, updates, err, options, context);
}
inline void scatter_into(const View& target, const View& indices, const View& updates, const Options& options = {},
                         const Context& context = {}) {
  detail::Thrown err;
  err.unless_ok(try_scatter_into(target, indices, updates, &err, options, context));
}
// The shape that updates must have. Extents of GTH_OPEN are handed on.
inline std::vector<int64_t> scatter_shape(const View& target, const View& indices, const Options& options = {}) {
  return detail::gather_shape(gth_scatter_shape, target, indices, options);
}

inline int32_t try_scatter_nd(const Tensor& target, const Tensor& indices, const Tensor& updates, Tensor* out,
                              gth_error* err, const Options& options = {}, const Context& context = {}) noexcept {
  return detail::scatter(gth_scatter_nd, target, indices, updates, out, err, options, context);
}
inline Tensor scatter_nd(const Tensor& target, const Tensor& indices, const Tensor& updates,
                         const Options& options = {}, const Context& context = {}) {
  return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
    return try_scatter_nd(target, indices, updates, out, err, options, context);
  });
}
inline int32_t try_scatter_nd(const View& target, const View& indices, const View& updates, Tensor* out, gth_error* err,
                              const Options& options = {}, const Context& context = {}) noexcept {
  return detail::scatter(gth_scatter_nd, target, indices, updates, out, err, options, context);
}
inline Tensor scatter_nd(const View& target, const View& indices, const View& updates, const Options& options = {},
                         const Context& context = {}) {
  return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
    return try_scatter_nd(target, indices, updates, out, err, options, context);
  });
}
inline int32_t try_scatter_nd_into(const Tensor& target, const Tensor& indices, const Tensor& updates, gth_error* err,
                                   const Options& options = {}, const Context& context = {}) noexcept {
  return detail::scatter_into(gth_scatter_nd_into, target, indices, updates, err, options, context);
}
inline void scatter_nd_into(const Tensor& target, const Tensor& indices, const Tensor& updates,
                            const Options& options = {}, const Context& context = {}) {
  detail::Thrown err;
  err.unless_ok(try_scatter_nd_into(target, indices, updates, &err, options, context));
}
inline int32_t try_scatter_nd_into(const View& target, const View& indices, const View& updates, gth_error* err,
                                   const Options& options = {}, const Context& context = {}) noexcept {
  return detail::scatter_into(gth_scatter_nd_desc, target, indices, updates, err, options, context);
}
inline void scatter_nd_into(const View& target, const View& indices, const View& updates, const Options& options = {},
                            const Context& context = {}) {
  detail::Thrown err;
  err.unless_ok(try_scatter_nd_into(target, indices, updates, &err, options, context));
}
inline std::vector<int64_t> scatter_nd_shape(const View& target, const View& indices, const Options& options = {}) {
  return detail::gather_shape(gth_scatter_nd_shape, target, indices, options);
}

inline int32_t try_scatter_elements(const Tensor& target, const Tensor& indices, const Tensor& updates, Tensor* out,
                                    gth_error* err, const Options& options = {}, const Context& context = {}) noexcept {
  return detail::scatter(gth_scatter_elements, target, indices, updates, out, err, options, context);
}
inline Tensor scatter_elements(const Tensor& target, const Tensor& indices, const Tensor& updates,
                               const Options& options = {}, const Context& context = {}) {
  return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
    return try_scatter_elements(target, indices, updates, out, err, options, context);
  });
}
inline int32_t try_scatter_elements(const View& target, const View& indices, const View& updates, Tensor* out,
                                    gth_error* err, const Options& options = {}, const Context& context = {}) noexcept {
  return detail::scatter(gth_scatter_elements, target, indices, updates, out, err, options, context);
}
inline Tensor scatter_elements(const View& target, const View& indices, const View& updates,
                               const Options& options = {}, const Context& context = {}) {
  return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
    return try_scatter_elements(target, indices, updates, out, err, options, context);
  });
}
inline int32_t try_scatter_elements_into(const Tensor& target, const Tensor& indices, const Tensor& updates,
                                         gth_error* err, const Options& options = {},
                                         const Context& context = {}) noexcept {
  return detail::scatter_into(gth_scatter_elements_into, target, indices, updates, err, options, context);
}
inline void scatter_elements_into(const Tensor& target, const Tensor& indices, const Tensor& updates,
                                  const Options& options = {}, const Context& context = {}) {
  detail::Thrown err;
  err.unless_ok(try_scatter_elements_into(target, indices, updates, &err, options, context));
}
inline int32_t try_scatter_elements_into(const View& target, const View& indices, const View& updates, gth_error* err,
                                         const Options& options = {}, const Context& context = {}) noexcept {
  return detail::scatter_into(gth_scatter_elements_desc, target, indices, updates, err, options, context);
}
inline void scatter_elements_into(const View& target, const View& indices, const View& updates,
                                  const Options& options = {}, const Context& context = {}) {
  detail::Thrown err;
  err.unless_ok(try_scatter_elements_into(target, indices, updates, &err, options, context));
}
inline std::vector<int64_t> scatter_elements_shape(const View& target, const View& indices,
                                                   const Options& options = {}) {
  return detail::gather_shape(gth_scatter_elements_shape, target, indices, options);
}

// What a gather hands back to params: zeros of their shape, to which each slice of the gradient of the output is added where
// the gather has read it. Options are those of the gather. A new tensor of a shape, or all elements of a view.
inline int32_t try_gather_gradient(const Tensor& gradient, const Tensor& indices, const Dims& shape, Tensor* out,
                                   gth_error* err, const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gradient(gth_gather_gradient, gradient, indices, shape, out, err, options, context);
}
inline Tensor gather_gradient(const Tensor& gradient, const Tensor& indices, const Dims& shape,
                              const Options& options = {}, const Context& context = {}) {
  return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
    return try_gather_gradient(gradient, indices, shape, out, err, options, context);
  });
}
inline int32_t try_gather_gradient(const View& gradient, const View& indices, const Dims& shape, Tensor* out,
                                   gth_error* err, const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gradient(gth_gather_gradient, gradient, indices, shape, out, err, options, context);
}
inline Tensor gather_gradient(const View& gradient, const View& indices, const Dims& shape, const Options& options = {},
                              const Context& context = {}) {
  return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
    return try_gather_gradient(gradient, indices, shape, out, err, options, context);
  });
}
inline int32_t try_gather_gradient_into(const View& gradient, const View& indices, const View& out, gth_error* err,
                                        const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gather_into(gth_gather_gradient_desc, gradient, indices, out, err, options, context);
}
inline void gather_gradient_into(const View& gradient, const View& indices, const View& out,
                                 const Options& options = {}, const Context& context = {}) {
  detail::Thrown err;
  err.unless_ok(try_gather_gradient_into(gradient, indices, out, &err, options, context));
}

inline int32_t try_gather_nd_gradient(const Tensor& gradient, const Tensor& indices, const Dims& shape, Tensor* out,
                                      gth_error* err, const Options& options = {},
                                      const Context& context = {}) noexcept {
  return detail::gradient(gth_gather_nd_gradient, gradient, indices, shape, out, err, options, context);
}
inline Tensor gather_nd_gradient(const Tensor& gradient, const Tensor& indices, const Dims& shape,
                                 const Options& options = {}, const Context& context = {}) {
  return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
    return try_gather_nd_gradient(gradient, indices, shape, out, err, options, context);
  });
}
inline int32_t try_gather_nd_gradient(const View& gradient, const View& indices, const Dims& shape, Tensor* out,
                                      gth_error* err, const Options& options = {},
                                      const Context& context = {}) noexcept {
  return detail::gradient(gth_gather_nd_gradient, gradient, indices, shape, out, err, options, context);
}
inline Tensor gather_nd_gradient(const View& gradient, const View& indices, const Dims& shape,
                                 const Options& options = {}, const Context& context = {}) {
  return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
    return try_gather_nd_gradient(gradient, indices, shape, out, err, options, context);
  });
}
inline int32_t try_gather_nd_gradient_into(const View& gradient, const View& indices, const View& out, gth_error* err,
                                           const Options& options = {}, const Context& context = {}) noexcept {
  return detail::gather_into(gth_gather_nd_gradient_desc, gradient, indices, out, err, options, context);
}
inline void gather_nd_gradient_into(const View& gradient, const View& indices, const View& out,
                                    const Options& options = {}, const Context& context = {}) {
  detail::Thrown err;
  err.unless_ok(try_gather_nd_gradient_into(gradient, indices, out, &err, options, context));
}

inline int32_t try_gather_elements_gradient(const Tensor& gradient, const Tensor& indices, const Dims& shape,
                                            Tensor* out, gth_error* err, const Options& options = {},
                                            const Context& context = {}) noexcept {
  return detail::gradient(gth_gather_elements_gradient, gradient, indices, shape, out, err, options, context);
}
inline Tensor gather_elements_gradient(const Tensor& gradient, const Tensor& indices, const Dims& shape,
                                       const Options& options = {}, const Context& context = {}) {
  return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
    return try_gather_elements_gradient(gradient, indices, shape, out, err, options, context);
  });
}
inline int32_t try_gather_elements_gradient(const View& gradient, const View& indices, const Dims& shape, Tensor* out,
                                            gth_error* err, const Options& options = {},
                                            const Context& context = {}) noexcept {
  return detail::gradient(gth_gather_elements_gradient, gradient, indices, shape, out, err, options, context);
}
inline Tensor gather_elements_gradient(const View& gradient, const View& indices, const Dims& shape,
                                       const Options& options = {}, const Context& context = {}) {
  return detail::make<Tensor>([&](Tensor* out, gth_error* err) {
    return try_gather_elements_gradient(gradient, indices, shape, out, err, options, context);
  });
}
inline int32_t try_gather_elements_gradient_into(const View& gradient, const View& indices, const View& out,
                                                 gth_error* err, const Options& options = {},
                                                 const Context& context = {}) noexcept {
  return detail::gather_into(gth_gather_elements_gradient_desc, gradient, indices, out, err, options, context);
}
inline void gather_elements_gradient_into(const View& gradient, const View& indices, const View& out,
                                          const Options& options = {}, const Context& context = {}) {
  detail::Thrown err;
  err.unless_ok(try_gather_elements_gradient_into(gradient, indices, out, &err, options, context));
}

// Memory that a plan reads: a range, whose bytes are known, or a pointer, whose bytes are the caller's word. A void pointer
// has no dtype either, and is not checked.
struct Source {
  Source(std::nullptr_t) noexcept : Source(static_cast<const void*>(nullptr)) {}
  Source(const void* memory) noexcept : data(memory) {}
  template <class T, class = std::enable_if_t<!std::is_void_v<T> > >
  Source(T* const& memory) noexcept : data(memory), dtype(dtype_of<T>()) {
    static_assert(dtype_of<T>() != 0, "T has no dtype: specialise gather::Dtype, or hand over a void pointer");
  }
  template <class Range, class T = detail::ElementOf<Range>, class = detail::IfLasting<Range> >
  Source(Range&& values) noexcept
      : data(std::data(values)), dtype(dtype_of<T>()), extent(static_cast<int64_t>(std::size(values) * sizeof(T))) {}

  const void* data;
  int32_t dtype = 0;
  int64_t extent = std::numeric_limits<int64_t>::max();
};

// Memory that a plan writes, likewise.
struct Target {
  Target(std::nullptr_t) noexcept : Target(static_cast<void*>(nullptr)) {}
  Target(void* memory) noexcept : data(memory) {}
  template <class T, class = std::enable_if_t<!std::is_void_v<T> > >
  Target(T* const& memory) noexcept : data(memory), dtype(dtype_of<T>()) {
    static_assert(dtype_of<T>() != 0, "T has no dtype: specialise gather::Dtype, or hand over a void pointer");
  }
  template <class Range, class T = detail::ElementOf<Range>, class = detail::IfLasting<Range>,
            class = std::enable_if_t<!std::is_const_v<T> > >
  Target(Range&& values) noexcept
      : data(std::data(values)), dtype(dtype_of<T>()), extent(static_cast<int64_t>(std::size(values) * sizeof(T))) {}

  void* data;
  int32_t dtype = 0;
  int64_t extent = std::numeric_limits<int64_t>::max();
};

// A gather, or a scatter in place, of shapes, strides and options that have been checked once. One extent of the layouts may
// be GTH_OPEN: one of the tuples (of single elements, of the axis), or the outermost dim that both share; it is given at each
// run. out: the outputs' layout, updates: that of the updates, NULL for dense row-major ones.
class Plan : public Handle<gth_plan, gth_plan_release> {
 public:
  using Handle::Handle;
  static Plan gather(const View& params, const View& indices, const Options& options = {}, const View* out = nullptr) {
    return detail::make<Plan>(
        [&](Plan* plan, gth_error* err) { return try_gather(params, indices, plan, err, options, out); });
  }
  static int32_t try_gather(const View& params, const View& indices, Plan* plan, gth_error* err,
                            const Options& options = {}, const View* out = nullptr) noexcept {
    return plan->make(false, gth_gather_plan, params, indices, err, options, out);
  }
  static Plan gather_nd(const View& params, const View& indices, const Options& options = {},
                        const View* out = nullptr) {
    return detail::make<Plan>(
        [&](Plan* plan, gth_error* err) { return try_gather_nd(params, indices, plan, err, options, out); });
  }
  static int32_t try_gather_nd(const View& params, const View& indices, Plan* plan, gth_error* err,
                               const Options& options = {}, const View* out = nullptr) noexcept {
    return plan->make(false, gth_gather_nd_plan, params, indices, err, options, out);
  }
  static Plan gather_elements(const View& params, const View& indices, const Options& options = {},
                              const View* out = nullptr) {
    return detail::make<Plan>(
        [&](Plan* plan, gth_error* err) { return try_gather_elements(params, indices, plan, err, options, out); });
  }
  static int32_t try_gather_elements(const View& params, const View& indices, Plan* plan, gth_error* err,
                                     const Options& options = {}, const View* out = nullptr) noexcept {
    return plan->make(false, gth_gather_elements_plan, params, indices, err, options, out);
  }
  static Plan scatter(const View& target, const View& indices, const Options& options = {},
                      const View* updates = nullptr) {
    return detail::make<Plan>(
        [&](Plan* plan, gth_error* err) { return try_scatter(target, indices, plan, err, options, updates); });
  }
  static int32_t try_scatter(const View& target, const View& indices, Plan* plan, gth_error* err,
                             const Options& options = {}, const View* updates = nullptr) noexcept {
    return plan->make(true, gth_scatter_plan, target, indices, err, options, updates);
  }
  static Plan scatter_nd(const View& target, const View& indices, const Options& options = {},
                         const View* updates = nullptr) {
    return detail::make<Plan>(
        [&](Plan* plan, gth_error* err) { return try_scatter_nd(target, indices, plan, err, options, updates); });
  }
  static int32_t try_scatter_nd(const View& target, const View& indices, Plan* plan, gth_error* err,
                                const Options& options = {}, const View* updates = nullptr) noexcept {
    return plan->make(true, gth_scatter_nd_plan, target, indices, err, options, updates);
  }
  static Plan scatter_elements(const View& target, const View& indices, const Options& options = {},
                               const View* updates = nullptr) {
    return detail::make<Plan>(
        [&](Plan* plan, gth_error* err) { return try_scatter_elements(target, indices, plan, err, options, updates); });
  }
  static int32_t try_scatter_elements(const View& target, const View& indices, Plan* plan, gth_error* err,
                                      const Options& options = {}, const View* updates = nullptr) noexcept {
    return plan->make(true, gth_scatter_elements_plan, target, indices, err, options, updates);
  }
  // What is read comes first, what is written last: the run of a scatter takes updates, indices, target.
  // Memory of at least the planned extents (less of a range is GTH_E_SIZE), and of the planned dtypes: others are
  // GTH_E_DTYPE. n: the open extent, GTH_OPEN without one. Allocates nothing.
  GATHER_INLINE void run(Source params, Source indices, Target out, int64_t n = GTH_OPEN,
                         const Context& context = {}) const {
    detail::Thrown err;
    err.unless_ok(try_run(params, indices, out, n, &err, context));
  }
  GATHER_INLINE int32_t try_run(Source params, Source indices, Target out, int64_t n, gth_error* err,
                                const Context& context = {}) const noexcept {
    if (!fits(params.dtype, params_)) return refuse(err, source(), params.dtype, params_);
    if (!fits(indices.dtype, indices_)) return refuse(err, GTH_OPERAND_INDICES, indices.dtype, indices_);
    if (!fits(out.dtype, params_)) return refuse(err, destination(), out.dtype, params_);
    return gth_plan_run_checked(context.get(), get(), params.data, params.extent, indices.data, indices.extent,
                                out.data, out.extent, n, err);
  }
  // Judges the indices of a run and does nothing else.
  void check(Source indices, int64_t n = GTH_OPEN, const Context& context = {}) const {
    detail::call([&](gth_error* err) { return try_check(indices, n, err, context); });
  }
  int32_t try_check(Source indices, int64_t n, gth_error* err, const Context& context = {}) const noexcept {
    if (!fits(indices.dtype, indices_)) return refuse(err, GTH_OPERAND_INDICES, indices.dtype, indices_);
    Extents needed;
    const int32_t status = try_extents(n, &needed, err);
    if (status != GTH_OK) return status;
    if (indices.extent < needed.indices) return refuse_size(err, indices.extent, needed.indices);
    return gth_plan_check(context.get(), get(), indices.data, n, err);
  }
  // How many bytes from each pointer on a run with the open extent n touches at most; as run, of a scatter params is updates
  // and out is target.
  struct Extents {
    int64_t params = 0, indices = 0, out = 0;
  };
  Extents extents(int64_t n = GTH_OPEN) const {
    Extents found;
    detail::call([&](gth_error* err) { return try_extents(n, &found, err); });
    return found;
  }
  int32_t try_extents(int64_t n, Extents* out, gth_error* err) const noexcept {
    return gth_plan_extents(get(), n, &out->params, &out->indices, &out->out, err);
  }
  // The shape of the output, or of updates, for the open extent n, which GTH_OPEN hands on.
  std::vector<int64_t> shape(int64_t n = GTH_OPEN) const { return detail::shape(gth_plan_shape, get(), n); }

 private:
  template <class F>
  int32_t make(bool scatters, F create, const View& params, const View& indices, gth_error* err, const Options& options,
               const View* out) noexcept {
    scatters_ = scatters;
    params_ = params.dtype();
    indices_ = indices.dtype();
    const int32_t status = options.check(params_, err);
    if (status != GTH_OK) return reset(), status;
    return hold(err, create, params.raw(), indices.raw(), options.get(), out != nullptr ? out->raw() : nullptr);
  }
  // 0: of memory without a type, or of a plan that came as a C handle.
  static bool fits(int32_t dtype, int32_t planned) noexcept { return dtype == planned || dtype == 0 || planned == 0; }
  int32_t source() const noexcept { return scatters_ ? GTH_OPERAND_UPDATES : GTH_OPERAND_PARAMS; }
  int32_t destination() const noexcept { return scatters_ ? GTH_OPERAND_TARGET : GTH_OPERAND_OUT; }
  GATHER_COLD static int32_t refuse(gth_error* err, int32_t operand, int32_t dtype, int32_t planned) noexcept {
    return detail::refuse_dtype(err, operand, -1, detail::operand_name(operand), dtype, planned);
  }
  GATHER_COLD static int32_t refuse_size(gth_error* err, int64_t extent, int64_t needed) noexcept {
    char message[GTH_MESSAGE_SIZE];
    std::snprintf(message, sizeof(message), "indices: memory of %lld bytes, needed are %lld",
                  static_cast<long long>(extent), static_cast<long long>(needed));
    return detail::refuse(err, GTH_E_SIZE, GTH_OPERAND_INDICES, -1, extent, needed, message);
  }

  int32_t params_ = 0;
  int32_t indices_ = 0;
  bool scatters_ = false;
};

// How the rows of a table are dealt out that is too large for one process.
class Shards {
 public:
  // To each of `count` shards as many in a row, rows / count rounded up; to the last ones fewer or none.
  static Shards blocks(int64_t rows, int64_t count) { return Shards(GTH_SHARDS_BLOCKS, rows, count, {}); }
  // In turn: row r is row r / count of shard r % count.
  static Shards modulo(int64_t rows, int64_t count) { return Shards(GTH_SHARDS_MODULO, rows, count, {}); }
  // To shard s the rows from borders[s] up to borders[s + 1]. They never fall; the first is 0, the last how many rows the
  // table has.
  static Shards borders(std::vector<int64_t> borders) {
    const int64_t rows = borders.empty() ? 0 : borders.back();
    const auto count = static_cast<int64_t>(borders.size()) - 1;
    return Shards(GTH_SHARDS_BORDERS, rows, std::max<int64_t>(count, 0), std::move(borders));
  }
  // Valid as long as the shards.
  gth_shards raw() const&& = delete;
  gth_shards raw() const& noexcept { return {sizeof(gth_shards), kind_, rows_, count_, borders_.data()}; }

 private:
  Shards(int32_t kind, int64_t rows, int64_t count, std::vector<int64_t> borders)
      : kind_(kind), rows_(rows), count_(count), borders_(std::move(borders)) {}

  int32_t kind_;
  int64_t rows_, count_;
  std::vector<int64_t> borders_;
};

// What each shard is asked for, the shards one behind the other.
struct Parts {
  std::vector<int64_t> counts;  // how many rows each shard is asked for
  std::vector<int64_t> local;   // the rows, as the shards count them: those of shard 0 first, in the order of the ids
  std::vector<int64_t> order;   // which id each of them is, by its row-major position
};

// The same where no row comes twice.
struct PartsOnce {
  std::vector<int64_t> counts;  // how many rows each shard is asked for
  std::vector<int64_t> local;   // the rows, as the shards count them, in the order in which ids name them
  std::vector<int64_t> place;   // for each id which of `local` is its row, -1 if it is skipped
};

namespace detail {

// False where there is no memory, which ends the program where the compiler has no exceptions.
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

// What the library has judged: a product beyond 64 bits has a zero in it.
inline int64_t count(const gth_tensor_desc& desc) noexcept {
  uint64_t product = 1;
  for (int32_t i = 0; i < desc.ndim; ++i) product *= static_cast<uint64_t>(desc.shape[i]);
  return static_cast<int64_t>(product);
}

// linked: the order, or with GTH_PARTS_ONCE the places.
inline int32_t deal(const View& ids, const Shards& shards, uint32_t flags, std::vector<int64_t>* counts,
                    std::vector<int64_t>* local, std::vector<int64_t>* linked, gth_error* err, const Options& options,
                    const Context& context) noexcept {
  const bool once = (flags & GTH_PARTS_ONCE) != 0;
  const gth_shards dealt = shards.raw();
  gth_parts parts = GTH_PARTS_INIT;
  int32_t status = gth_partition_scratch(ids.raw(), &dealt, flags, &parts.scratch_bytes, err);
  if (status != GTH_OK) return status;
  const int64_t n = count(*ids.raw());
  const auto words = static_cast<size_t>(parts.scratch_bytes) / sizeof(int64_t);
  const std::unique_ptr<int64_t[]> scratch(new (std::nothrow) int64_t[words]);
  if (scratch == nullptr || !resize(counts, dealt.count) || !resize(local, n) || !resize(linked, n))
    return refuse(err, GTH_E_NOMEM, GTH_OPERAND_INDICES, -1, n, 0, "indices: no memory to deal them out");
  parts.flags = flags;
  parts.capacity = n;
  parts.counts = counts->data();
  parts.local = local->data();
  (once ? parts.place : parts.order) = linked->data();
  parts.scratch = scratch.get();
  status = gth_partition(context.get(), ids.raw(), &dealt, options.get(), &parts, err);
  if (status != GTH_OK) return status;
  int64_t asked = 0;
  for (const int64_t rows : *counts) asked += rows;
  local->resize(static_cast<size_t>(asked));
  if (!once) linked->resize(static_cast<size_t>(asked));
  return GTH_OK;
}

}  // namespace detail

// Deals out ids to the shards that have their rows. The ids are judged as the indices of a gather along a dim of all the
// rows: one that is bad is named by its position among all of them. What bounds fills or skips is asked of no shard. The rows
// that the shards send, put together in their order, come back by scatter_into along `order`; those of partition_once, which
// asks once for a row that several ids name, by a gather with `place` as indices.
inline int32_t try_partition(const View& ids, const Shards& shards, Parts* out, gth_error* err,
                             const Options& options = {}, const Context& context = {}) noexcept {
  const int32_t status = detail::deal(ids, shards, 0, &out->counts, &out->local, &out->order, err, options, context);
  if (status != GTH_OK) *out = {};
  return status;
}
inline Parts partition(const View& ids, const Shards& shards, const Options& options = {},
                       const Context& context = {}) {
  return detail::make<Parts>(
      [&](Parts* out, gth_error* err) { return try_partition(ids, shards, out, err, options, context); });
}
inline int32_t try_partition_once(const View& ids, const Shards& shards, PartsOnce* out, gth_error* err,
                                  const Options& options = {}, const Context& context = {}) noexcept {
  const int32_t status =
      detail::deal(ids, shards, GTH_PARTS_ONCE, &out->counts, &out->local, &out->place, err, options, context);
  if (status != GTH_OK) *out = {};
  return status;
}
inline PartsOnce partition_once(const View& ids, const Shards& shards, const Options& options = {},
                                const Context& context = {}) {
  return detail::make<PartsOnce>(
      [&](PartsOnce* out, gth_error* err) { return try_partition_once(ids, shards, out, err, options, context); });
}

// What this library can do on this machine.
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
