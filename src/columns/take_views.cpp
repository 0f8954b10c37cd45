#include <cstring>

#include "columns/take.hpp"
#include "core/base/limits.hpp"
#include "cpu/copy_string.hpp"

// Views of strings and binary.
namespace gather::columns {
namespace {

// A view as Arrow defines it. A string of at most 12 bytes is stored in the view itself, behind the length.
struct View {
  int32_t length;
  char prefix[4];
  int32_t buffer, offset;

  bool is_long() const { return length > 12; }
};
static_assert(sizeof(View) == 16);

constexpr int64_t first_data = 2;  // the number of the first data buffer

int64_t data_buffers(const ArrowArray& array) { return array.n_buffers - 3; }

// Returns the size of a data buffer. The last buffer of an array has the sizes of its data buffers.
int64_t data_size(const ArrowArray& array, int64_t buffer) {
  int64_t size;
  std::memcpy(&size, moved(array.buffers[array.n_buffers - 1], buffer * int64_t{sizeof size}), sizeof size);
  return size;
}

const char* data_of(const ArrowArray& array, const View& view) {
  return static_cast<const char*>(array.buffers[first_data + view.buffer]) + view.offset;
}

bool is_inside(const ArrowArray& array, const View& view) {
  if (view.length < 0) return false;
  if (!view.is_long()) return true;
  if (view.buffer < 0 || view.buffer >= data_buffers(array) || view.offset < 0) return false;
  return array.buffers[first_data + view.buffer] && int64_t{view.offset} + view.length <= data_size(array, view.buffer);
}

// The strings of a result that are not stored in their views are copied to data buffers of at most 2^31 - 1 bytes. A
// cursor is the position behind the last copied string.
struct Cursor {
  int64_t buffer = 0, used = 0;

  // Returns true if the next string begins a new buffer.
  bool advances(int64_t length) {
    if (used + length <= INT32_MAX) return false;
    ++buffer;
    used = 0;
    return true;
  }
};

class ViewsTake {
 public:
  ViewsTake(Call* call, const Level& level) : call_(call), level_(level), count_(level.places.count) {}

  int32_t run() {
    const int64_t bytes = count_ * int64_t{sizeof(View)};
    views_ = static_cast<View*>(level_.node->allocate(1, bytes));
    if (!views_) return call_->trouble.fail_memory(bytes);
    if (int32_t status = take_rows(call_, level_, sizeof(View), views_)) return status;
    if (int32_t status = check()) return status;
    return shares() ? share() : copy();
  }

 private:
  const ArrowArray& array_of(int64_t i) const { return *level_.parts[level_.places.part(i)].array; }

  // Clears the views of null rows, validates the others, and computes the size of all long strings.
  int32_t check() {
    const uint8_t* const validity = level_.node->validity();
    for (int64_t i = 0; i < count_; ++i) {
      View& view = views_[i];
      if (is_null(validity, i)) {
        view = {};
        continue;
      }
      if (!is_inside(array_of(i), view)) {
        return call_->trouble.fail(GTH_E_ARROW, "a view leaves its buffer", view.offset, view.buffer, i);
      }
      if (view.is_long()) total_ += view.length;
    }
    return GTH_OK;
  }

  // Returns true if the result has more than a quarter of the data of its parts. It then shares this data. Otherwise the
  // strings are copied, so that a small result does not keep a large column.
  bool shares() const {
    if (total_ < min_shared_views) return false;
    int64_t data = 0;
    for (int64_t p = 0; p < level_.parts.count; ++p) {
      const ArrowArray& array = *level_.parts[p].array;
      for (int64_t b = 0; b < data_buffers(array); ++b) {
        if (!core::add(data, data_size(array, b), &data)) return false;
      }
    }
    return total_ > data / 4;
  }

  // Shares the data buffers of all parts.
  int32_t share() {
    Room<int64_t, 4> firsts;  // the number of the first data buffer of each part
    const int64_t parts = level_.parts.count;
    if (!firsts.allocate(parts + 1)) return call_->trouble.fail_memory(parts);
    firsts[0] = 0;
    for (int64_t p = 0; p < parts; ++p) firsts[p + 1] = firsts[p] + data_buffers(*level_.parts[p].array);
    int64_t* const sizes = allocate_sizes(firsts[parts]);
    if (!sizes || firsts[parts] > INT32_MAX) return call_->trouble.fail_memory(firsts[parts]);
    level_.node->keep(call_->column);
    for (int64_t p = 0; p < parts; ++p) {
      const ArrowArray& array = *level_.parts[p].array;
      for (int64_t b = 0; b < data_buffers(array); ++b) {
        sizes[firsts[p] + b] = data_size(array, b);
        level_.node->share(first_data + firsts[p] + b, array.buffers[first_data + b]);
      }
    }
    for (int64_t i = 0; i < count_; ++i) {
      if (views_[i].is_long()) views_[i].buffer += static_cast<int32_t>(firsts[level_.places.part(i)]);
    }
    return GTH_OK;
  }

  // Adds buffers for the data, and returns the buffer of their sizes, or nullptr.
  int64_t* allocate_sizes(int64_t buffers) const {
    if (!level_.node->extend(first_data + buffers + 1)) return nullptr;
    return static_cast<int64_t*>(level_.node->allocate(first_data + buffers, buffers * int64_t{sizeof(int64_t)}));
  }

  // Returns the number of data buffers of a copy.
  int64_t count_buffers() const {
    Cursor at;
    for (int64_t i = 0; i < count_ && total_ > INT32_MAX; ++i) {
      if (!views_[i].is_long()) continue;
      at.advances(views_[i].length);
      at.used += views_[i].length;
    }
    return total_ > 0 ? at.buffer + 1 : 0;
  }

  // Allocates data buffers that fit the strings.
  int32_t allocate_data(int64_t buffers, const int64_t* sizes) {
    for (int64_t b = 0; b < buffers; ++b) {
      if (!level_.node->allocate(first_data + b, sizes[b])) return call_->trouble.fail_memory(sizes[b]);
    }
    return GTH_OK;
  }

  int32_t copy() {
    const int64_t buffers = count_buffers();
    int64_t* const sizes = allocate_sizes(buffers);
    if (!sizes) return call_->trouble.fail_memory(buffers);
    Cursor at;
    for (int64_t i = 0; i < count_ && buffers > 0; ++i) {
      if (!views_[i].is_long()) continue;
      at.advances(views_[i].length);
      at.used += views_[i].length;
      sizes[at.buffer] = at.used;
    }
    if (int32_t status = allocate_data(buffers, sizes)) return status;
    copy_strings(sizes);
    return GTH_OK;
  }

  void prefetch(int64_t i) const {
    if (i < count_ && views_[i].is_long()) __builtin_prefetch(data_of(array_of(i), views_[i]));
  }

  // Copies the long strings, and makes their views refer to the copies.
  void copy_strings(const int64_t* sizes) {
    Cursor at;
    for (int64_t i = 0; i < count_ && total_ > 0; ++i) {
      prefetch(i + prefetch_rows);
      View& view = views_[i];
      if (!view.is_long()) continue;
      at.advances(view.length);
      const ArrowArray& array = array_of(i);
      const char* const from = data_of(array, view);
      const char* const from_end = from - view.offset + data_size(array, view.buffer);
      char* const to = level_.node->data(first_data + at.buffer);
      cpu::copy_string(to + at.used, to + sizes[at.buffer], from, from_end, view.length);
      view.buffer = static_cast<int32_t>(at.buffer);
      view.offset = static_cast<int32_t>(at.used);
      at.used += view.length;
    }
  }

  Call* call_;
  const Level& level_;
  int64_t count_;
  View* views_ = nullptr;
  int64_t total_ = 0;  // the size of all long strings
};

}  // namespace

int32_t take_views(Call* call, const Level& level) { return ViewsTake(call, level).run(); }

}  // namespace gather::columns
