#include "../cpp/columns.hpp"

#include <memory>

#include "input.hpp"
#include "pages.hpp"
#include "report.hpp"

// The memory sanitizer does not see what the functions of the C++ library write, so the program has its own of strings.
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
template class std::basic_string<char>;
#endif
#endif

// Rows of columns of random types, compared with lists of optional values. Each buffer ends at a guard page. Some arrays
// are malformed.
namespace {

using namespace fuzz;
using columns_test::Builder;
using columns_test::Type;
using columns_test::Values;

constexpr size_t page_bytes = size_t{1} << 16;

// Memory for the buffers of one input, each before an inaccessible page.
class Buffers {
 public:
  const void* put(const std::string& bytes) {
    if (used_ == pages_.size()) pages_.push_back(std::make_unique<Pages>(page_bytes));
    fits_ = fits_ && bytes.size() <= page_bytes;
    return pages_[used_++]->put(bytes.data(), bytes.size() <= page_bytes ? bytes.size() : 0);
  }
  void reset() {
    used_ = 0;
    fits_ = true;
  }
  bool fits() const { return fits_; }

 private:
  std::vector<std::unique_ptr<Pages>> pages_;
  size_t used_ = 0;
  bool fits_ = true;
};

template <class Number>
void overwrite(const void* buffer, int64_t i, Number number) {
  auto* const at = static_cast<char*>(const_cast<void*>(buffer)) + i * int64_t{sizeof number};
  std::memcpy(at, &number, sizeof number);
}

// Overwrites a number of the content. The last offset of strings stays, because it is the size of their memory.
void damage_content(Input& input, const Type& type, const ArrowArray& array) {
  const int64_t row = array.offset + input.below(array.length);
  const int64_t number = input.number();
  if (type.is_dictionary) {
    for (int64_t b = 0, width = Type{type.format, {}, false}.width(); b < width; ++b) {
      overwrite(array.buffers[1], row * width + b, static_cast<int8_t>(number >> 8 * b));
    }
  } else if (type.is_wide()) {
    overwrite(array.buffers[type.is_list_view() ? 1 + input.below(2) : 1], row, number);
  } else if (type.is_bytes() || type.is_list() || type.format == "i") {  // ends of runs have the format i too
    overwrite(array.buffers[type.is_list_view() ? 1 + input.below(2) : 1], row, static_cast<int32_t>(number));
  } else if (type.is_view()) {
    overwrite(array.buffers[1], 4 * row + input.below(4), static_cast<int32_t>(number));
  }
}

// Changes a field of a struct. It never claims more memory than there is.
void damage_struct(Input& input, const Type& type, ArrowArray* array) {
  switch (input.below(11)) {
    case 0: array->length = -1 - input.below(9); return;
    case 1: array->length = input.below(array->length + 1); return;
    case 2: array->offset = -1 - input.below(9); return;
    case 3: array->null_count = input.below(4) - 3; return;
    case 4: array->n_buffers = input.below(3); return;
    case 5: array->n_children = type.format == "+s" ? input.below(array->n_children + 1) : input.below(3); return;
    case 6: array->buffers = nullptr; return;
    case 7: array->children = nullptr; return;
    case 8: array->dictionary = nullptr; return;
    case 9: array->release = nullptr; return;
    case 10:
      if (array->n_buffers > 1) array->buffers[1] = nullptr;
  }
}

void damage(Input& input, Builder* builder) {
  if (builder->arrays().empty()) return;
  const auto which = static_cast<size_t>(input.below(static_cast<int64_t>(builder->arrays().size())));
  ArrowArray* const array = &builder->arrays()[which];
  const Type& type = builder->types()[which];
  const bool has_content = array->length > 0 && array->n_buffers > 1;
  has_content&& input.rarely(2) ? damage_content(input, type, *array) : damage_struct(input, type, array);
}

// The indices of a call, and its result by the header.
struct Ids {
  std::vector<int32_t> numbers;
  std::vector<uint8_t> validity;
  std::vector<int64_t> rows;  // -1: null
  int64_t bad = -1;           // the first position that is out of bounds
  uint32_t flags = 0;

  Ids(Input& input, int64_t length) {
    flags = input.rarely(4) ? GTH_TAKE_NULL : 0;
    const bool has_nulls = input.rarely(3);
    for (int64_t i = 0, count = input.below(12); i < count; ++i) {
      const bool is_null = has_nulls && input.rarely(4);
      const bool is_wild = length == 0 || input.rarely(20);
      numbers.push_back(static_cast<int32_t>(is_wild ? input.number() : input.below(256) % length));
      const bool is_inside = numbers.back() >= 0 && numbers.back() < length;
      if (!is_null && !is_inside && bad < 0 && !flags) bad = i;
      rows.push_back(is_null || !is_inside ? -1 : numbers.back());
      validity.resize(static_cast<size_t>(i / 8 + 1));
      if (!is_null) validity.back() = static_cast<uint8_t>(validity.back() | 1 << i % 8);
    }
    if (!has_nulls) validity.clear();
  }
};

void expect(const Type& type, const Values& rows, const Ids& ids, int32_t status, const gth_error& error,
            const ArrowSchema& schema, const ArrowArray& array) {
  if (ids.bad >= 0) {
    return require(status == GTH_E_INDEX && error.position == ids.bad && error.operand == GTH_OPERAND_INDICES,
                   "an index out of bounds");
  }
  if (status) fail("take of %s: %s", type.format.c_str(), error.message);
  require(columns_test::is_schema_of(type, schema), "the schema");
  const Values got = columns_test::read_rows(type, array);
  require(got.size() == ids.rows.size(), "the number of rows");
  for (size_t i = 0; i < got.size(); ++i) {
    require(got[i] == (ids.rows[i] < 0 ? columns_test::Value() : rows[static_cast<size_t>(ids.rows[i])]), "a row");
  }
}

bool is_status_of_damage(int32_t status) {
  return status == GTH_OK || status == GTH_E_ARROW || status == GTH_E_INDEX || status == GTH_E_SIZE ||
         status == GTH_E_NOMEM;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Buffers& buffers = *new Buffers;
  buffers.reset();
  Input input(data, size);
  const columns_test::Below below = [&](int64_t n) { return input.below(n); };
  Builder builder(below, [&](const std::string& bytes) { return buffers.put(bytes); });
  const Type type = columns_test::random_type(below, below(3));
  Values rows;
  std::vector<ArrowArray*> chunks;
  for (int64_t i = input.below(4); i-- > 0;) {
    const Values more = columns_test::random_values(type, input.below(9), below);
    chunks.push_back(builder.array(type, more));
    rows.insert(rows.end(), more.begin(), more.end());
  }
  if (!buffers.fits()) return -1;
  const Ids ids(input, static_cast<int64_t>(rows.size()));
  const bool is_damaged = input.byte() >= 128;
  if (is_damaged) damage(input, &builder);
  const int64_t shape[] = {static_cast<int64_t>(ids.numbers.size())};
  const gth_tensor_desc desc = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT32, 1, shape, ids.numbers.data());
  gth_take take = GTH_TAKE_INIT;
  take.flags = ids.flags;
  take.indices = &desc;
  take.validity = ids.validity.empty() ? nullptr : ids.validity.data();
  gth_error error = GTH_ERROR_INIT;
  ArrowSchema schema{};
  ArrowArray array{};
  const int32_t status = gth_arrow_take(nullptr, builder.schema(type), static_cast<int64_t>(chunks.size()),
                                        chunks.data(), &take, &schema, &array, &error);
  tally().count(status);
  if (is_damaged) {
    require(is_status_of_damage(status), "the status of a malformed column");
    if (!status) columns_test::read_rows(type, array);
  } else {
    expect(type, rows, ids, status, error, schema, array);
  }
  require(!status == (array.release != nullptr) && !status == (schema.release != nullptr), "the results of a status");
  if (!status) {
    schema.release(&schema);
    array.release(&array);
  }
  require(builder.released == (status ? 0 : static_cast<int64_t>(chunks.size())), "each array is released once");
  return 0;
}
