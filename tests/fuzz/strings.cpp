#include <algorithm>

#include "../callers/foreign.h"
#include "request.hpp"

// String tensors from plain buffers and from Arrow arrays. They are gathered and exported to Arrow.
namespace {

using namespace fuzz;

int released;

// The strings of a producer. The offsets may be invalid. The bytes end at a guard page.
struct Words {
  std::vector<int64_t> offsets{0};
  int64_t extent = 0;  // size of the bytes
  Shape shape;
  bool flat = false;  // ndim -1, for Arrow only

  int64_t count() const { return static_cast<int64_t>(offsets.size()) - 1; }
};

Words make_words(Input& input) {
  Words words;
  const auto ndim = static_cast<size_t>(input.below(3));
  int64_t count = 1;
  for (size_t d = 0; d < ndim; ++d) {
    words.shape.push_back(input.below(5));
    count *= words.shape.back();
  }
  words.flat = input.rarely(3);
  int64_t at = input.rarely(4) ? input.below(9) : 0;
  words.offsets[0] = at;
  for (int64_t i = 0; i < count; ++i) words.offsets.push_back(at += input.below(6));
  words.extent = at + (input.rarely(4) ? input.below(9) : 0);
  return words;
}

void damage(Input& input, Words* words) {
  switch (input.below(4)) {
    case 0:
      words->offsets[static_cast<size_t>(input.below(static_cast<int64_t>(words->offsets.size())))] = input.number();
      return;
    case 1:
      words->offsets[static_cast<size_t>(input.below(static_cast<int64_t>(words->offsets.size())))] = input.below(40);
      return;
    case 2: words->extent = input.below(12); return;
    case 3:
      if (!words->shape.empty()) words->shape[0] = input.rarely(2) ? input.number() : input.below(9);
  }
}

// The first invalid offset, numbered as the header defines.
struct BadOffset {
  int64_t position = -1, value = 0, limit = 0;
};

BadOffset find_bad(const Words& words, int64_t count, int64_t extent) {
  int64_t begin = words.offsets[0];
  if (begin < 0) return {0, begin, 0};
  if (begin > extent) return {0, begin, extent};
  for (int64_t i = 0; i < count; ++i) {
    const int64_t end = words.offsets[static_cast<size_t>(i + 1)];
    if (end < begin) return {i, end, begin};
    if (end > extent) return {i, end, extent};
    begin = end;
  }
  return {};
}

int32_t predict_shape(const Shape& shape, int64_t* count) {
  Wide size = sizeof(int64_t), product = 1;
  for (int64_t extent : shape) {
    if (extent < 0) return GTH_E_SHAPE;
    product *= product > INT64_MAX ? 1 : extent;
  }
  for (int64_t extent : shape) size *= size > INT64_MAX ? 1 : std::max<int64_t>(extent, 1);
  *count = static_cast<int64_t>(product);
  return size > INT64_MAX ? GTH_E_SIZE : GTH_OK;
}

const int64_t* put_shape(const Shape& shape) {
  return reinterpret_cast<const int64_t*>(memory().shapes[0].put(shape.data(), shape.size() * sizeof(int64_t)));
}

void expect_offset(const gth_error& error, const BadOffset& bad) {
  require(error.position == bad.position && error.value == bad.value && error.limit == bad.limit,
          "fields of a bad offset");
}

// Expects the words of the producer, selected by `rows` (nullptr: all).
void expect_words(const gth_tensor* tensor, const Words& words, const char* bytes, const std::vector<int64_t>* rows) {
  const int64_t* offsets = nullptr;
  const void* out = nullptr;
  require(gth_tensor_strings(tensor, &offsets, &out, nullptr) == GTH_OK, "strings of a tensor");
  const auto count = rows ? rows->size() : static_cast<size_t>(words.count());
  for (size_t i = 0; i < count; ++i) {
    const auto row = static_cast<size_t>(rows ? (*rows)[i] : static_cast<int64_t>(i));
    const int64_t begin = words.offsets[row], length = words.offsets[row + 1] - begin;
    require(offsets[i + 1] - offsets[i] == length, "the length of a string");
    require(length == 0 || std::memcmp(static_cast<const char*>(out) + offsets[i], bytes + begin,
                                       static_cast<size_t>(length)) == 0,
            "a string");
  }
}

void expect_export(const gth_tensor* tensor, const Words& words, const char* bytes, uint32_t flags, bool owned) {
  ArrowSchema schema;
  ArrowArray array;
  gth_error* error = fresh_error();
  const int32_t status = gth_tensor_to_arrow(nullptr, tensor, flags, &schema, &array, error);
  tally().count(status);
  expect_whole_error(status, *error);
  if (flags > GTH_EXPORT_NO_COPY) return require(status == GTH_E_VERSION, "export: unknown flags");
  if (flags == GTH_EXPORT_NO_COPY && !owned) return require(status == GTH_E_UNSUPPORTED, "export: borrowed memory");
  require(status == GTH_OK, "export: status");
  require(array.length == words.count() && array.null_count == 0 && array.n_buffers == 3, "export: array");
  const auto* offsets = static_cast<const int64_t*>(array.buffers[1]) + array.offset;
  for (int64_t i = 0; i < words.count(); ++i) {
    const int64_t begin = words.offsets[static_cast<size_t>(i)],
                  length = words.offsets[static_cast<size_t>(i) + 1] - begin;
    require(offsets[i + 1] - offsets[i] == length, "export: a length");
    require(length == 0 || std::memcmp(static_cast<const char*>(array.buffers[2]) + offsets[i], bytes + begin,
                                       static_cast<size_t>(length)) == 0,
            "export: a string");
  }
  array.release(&array);
  schema.release(&schema);
}

// Gathers rows by number along the first dim, or along the only one.
void expect_gather(Input& input, const gth_tensor* tensor, const Words& words, const char* bytes) {
  std::vector<int64_t> rows;
  bool all = true;
  int64_t first_bad = -1;
  for (int64_t i = 0, count = input.below(6); i < count; ++i) {
    rows.push_back(input.rarely(12) ? input.number() : words.count() ? input.below(16) % words.count() : 0);
    const bool inside = rows.back() >= 0 && rows.back() < words.count();
    if (!inside && all) first_bad = i;
    all &= inside;
  }
  const int64_t shape[] = {static_cast<int64_t>(rows.size())};
  const gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, shape, rows.data());
  gth_tensor *indices = nullptr, *made = nullptr;
  require(gth_tensor_borrow(&desc, &indices, nullptr) == GTH_OK, "borrow of rows");
  gth_error* error = fresh_error();
  const int32_t status = calls::gather.make(nullptr, tensor, indices, nullptr, nullptr, &made, error);
  tally().count(status);
  expect_whole_error(status, *error);
  require(status == (all ? GTH_OK : GTH_E_INDEX), "gather: status");
  if (status) require(error->position == first_bad && made == nullptr, "gather: position");
  if (made) expect_words(made, words, bytes, &rows);
  require(gth_tensor_release(indices) == GTH_OK && gth_tensor_release(made) == GTH_OK, "release");
}

void use(Input& input, gth_tensor* tensor, const Words& words, const char* bytes, bool owned) {
  expect_words(tensor, words, bytes, nullptr);
  expect_export(tensor, words, bytes, static_cast<uint32_t>(input.below(4)), owned);
  gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
  require(gth_tensor_describe(tensor, &desc, nullptr) == GTH_OK && desc.dtype == GTH_DTYPE_STRING, "describe");
  if (desc.ndim == 1) expect_gather(input, tensor, words, bytes);
}

void run_plain(Input& input, Words words) {
  const bool is_damaged = input.byte() >= 128;
  if (is_damaged) damage(input, &words);
  int64_t count = 0;
  const int32_t shaped = predict_shape(words.shape, &count);
  if (!shaped && count > words.count()) return;  // the caller must pass enough offsets
  const int64_t extent = std::max<int64_t>(words.extent, 0);
  if (!shaped) words.offsets.resize(static_cast<size_t>(count) + 1);
  const auto* offsets = reinterpret_cast<const int64_t*>(
      memory().strides[0].put(words.offsets.data(), words.offsets.size() * sizeof(int64_t)));
  data_pages(0).paint(input.byte());
  const char* bytes = data_pages(0).place(static_cast<size_t>(extent));
  const bool owned = input.rarely(2);
  gth_tensor* tensor = nullptr;
  gth_error* error = fresh_error();
  released = 0;
  const auto flags = static_cast<uint32_t>(input.below(3));
  const int32_t status = gth_tensor_from_strings(
      nullptr, flags, static_cast<int32_t>(words.shape.size()), put_shape(words.shape), offsets, bytes, words.extent,
      owned ? [](void*) { ++released; } : static_cast<gth_deleter_fn>(nullptr), nullptr, &tensor, error);
  tally().count(status);
  expect_whole_error(status, *error);
  const BadOffset bad = shaped ? BadOffset{} : find_bad(words, count, words.extent);
  const int32_t expected = flags > GTH_STRINGS_BINARY ? GTH_E_VERSION
                           : shaped                   ? shaped
                           : bad.position >= 0        ? GTH_E_ARROW
                                                      : GTH_OK;
  if (status != expected)
    fail("strings: %s, expected is %s: %s", gth_status_name(status), gth_status_name(expected), error->message);
  if (status == GTH_E_ARROW) expect_offset(*error, bad);
  if (!status) use(input, tensor, words, bytes, owned);
  require(released == 0, "released too early");
  require(gth_tensor_release(tensor) == GTH_OK, "release");
  require(released == (owned && !status ? 1 : 0), "the deleter runs once");
}

// Further errors of an Arrow producer.
struct Foreign {
  const char* format = "U";
  int64_t length = 0, null_count = 0, offset = 0, n_buffers = 3, n_children = 0;
  bool schema_released = false, array_released = false, no_buffers = false, no_offsets = false;
};

constexpr int32_t unpredicted = 1;  // the producer must pass enough offsets

int32_t predict_foreign(const Foreign& f, const Words& words, BadOffset* bad) {
  const bool is_text =
      (f.format[0] == 'u' || f.format[0] == 'U' || f.format[0] == 'z' || f.format[0] == 'Z') && !f.format[1];
  if (f.schema_released) return GTH_E_ARROW;
  if (!is_text) return GTH_E_DTYPE;
  if (f.array_released || f.n_children || f.n_buffers != 3 || f.no_buffers || f.null_count < -1) return GTH_E_ARROW;
  if (f.length < 0 || f.offset < 0 || Wide{f.length} + f.offset > INT64_MAX / 8 - 1) return GTH_E_ARROW;
  int64_t count = f.length;
  if (!words.flat) {
    if (const int32_t shaped = predict_shape(words.shape, &count)) return shaped;
  }
  if (count != f.length) return GTH_E_SHAPE;
  if (f.null_count > 0) return GTH_E_ARROW;  // without a validity bitmap
  if (f.length == 0) return GTH_OK;
  if (f.no_offsets) return GTH_E_ARROW;
  if (f.length > words.count()) return unpredicted;
  *bad = find_bad(words, f.length, INT64_MAX);
  return bad->position >= 0 ? GTH_E_ARROW : GTH_OK;
}

void run_arrow(Input& input, Words words) {
  static constexpr const char* formats[] = {"U", "u", "Z", "z", "vu", "L", "", "uu"};
  Foreign f;
  f.format = input.rarely(6) ? input.pick(formats) : formats[input.below(4)];
  f.length = words.count();
  f.offset = input.rarely(4) ? input.below(4) : 0;
  const int64_t skipped = f.offset;
  if (input.byte() >= 128) {
    switch (input.below(9)) {
      case 0: f.length = input.number(); break;
      case 1: f.offset = -1 - input.below(9); break;
      case 2: f.null_count = input.below(5) - 2; break;
      case 3: f.n_buffers = input.below(6); break;
      case 4: f.schema_released = true; break;
      case 5: f.array_released = true; break;
      case 6: f.no_buffers = true; break;
      case 7: f.no_offsets = true; break;
      case 8: damage(input, &words); break;
    }
  }
  const bool is_wide = f.format[0] == 'U' || f.format[0] == 'Z';
  if (!is_wide) {
    for (int64_t& each : words.offsets) each = static_cast<int32_t>(each);
  }
  BadOffset bad;
  const int32_t expected = predict_foreign(f, words, &bad);
  if (expected == unpredicted) return;
  // The offsets at any address, after some that are skipped.
  std::vector<char> raw;
  const size_t width = is_wide ? 8 : 4;
  for (int64_t i = 0; i < skipped; ++i) raw.insert(raw.end(), width, '\x7f');
  for (const int64_t& each : words.offsets) {
    const char* from = reinterpret_cast<const char*>(&each);  // little-endian
    raw.insert(raw.end(), from, from + width);
  }
  const int64_t extent = expected ? 0 : words.offsets[static_cast<size_t>(f.length)];
  if (extent > static_cast<int64_t>(Pages::usual)) return;
  data_pages(0).paint(input.byte());
  const char* bytes = data_pages(0).place(static_cast<size_t>(std::max<int64_t>(extent, 0)));
  const void* buffers[] = {nullptr, f.no_offsets ? nullptr : memory().strides[0].put(raw.data(), raw.size()), bytes};
  ArrowSchema schema{f.format, "", nullptr, 0, 0, nullptr, nullptr, [](ArrowSchema*) {}, nullptr};
  if (f.schema_released) schema.release = nullptr;
  ArrowArray array{f.length,
                   f.null_count,
                   f.offset,
                   f.n_buffers,
                   f.n_children,
                   f.no_buffers ? nullptr : buffers,
                   nullptr,
                   nullptr,
                   [](ArrowArray* self) {
                     ++released;
                     self->release = nullptr;
                   },
                   nullptr};
  if (f.array_released) array.release = nullptr;
  const auto had = array.release;
  gth_tensor* tensor = nullptr;
  gth_error* error = fresh_error();
  released = 0;
  const int32_t status =
      gth_tensor_from_arrow(nullptr, &schema, &array, words.flat ? -1 : static_cast<int32_t>(words.shape.size()),
                            words.flat ? nullptr : put_shape(words.shape), &tensor, error);
  tally().count(status);
  expect_whole_error(status, *error);
  if (status != expected)
    fail("arrow: %s, expected is %s: %s", gth_status_name(status), gth_status_name(expected), error->message);
  if (status == GTH_E_ARROW && bad.position >= 0) expect_offset(*error, bad);
  require(array.release == (status ? had : nullptr), "arrow: consumed on GTH_OK, and only then");
  require(released == 0, "arrow: released too early");
  if (!status) {
    words.offsets.resize(static_cast<size_t>(f.length) + 1);
    use(input, tensor, words, bytes, true);
  }
  require(gth_tensor_release(tensor) == GTH_OK, "release");
  require(released == (status ? 0 : 1), "arrow: released once");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const bool is_arrow = input.rarely(2);
  const Words words = make_words(input);
  is_arrow ? run_arrow(input, words) : run_plain(input, words);
  return 0;
}
