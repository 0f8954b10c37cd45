// A C++ program that takes rows of Arrow columns through gather.hpp, and resolves indices to row numbers.
#include <array>
#include <cerrno>
#include <numeric>
#include <optional>
#include <vector>

#include "foreign.h"
#include "raii.hpp"

namespace {

using gather::Column;
using gather::Options;
using gather::Take;
using gather::View;
using Numbers = std::vector<std::optional<int64_t>>;

int released = 0;  // the number of arrays whose release has been called

void release_array(ArrowArray* array) {
  ++released;
  array->release = nullptr;
}
void release_schema(ArrowSchema* schema) { schema->release = nullptr; }

// The bits of an Arrow validity, after `offset` other bits.
std::vector<uint8_t> bits_of(const Numbers& numbers, size_t offset) {
  std::vector<uint8_t> bits((offset + numbers.size() + 7) / 8, 0);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!numbers[i]) continue;
    const size_t bit = offset + i;
    bits[bit / 8] = static_cast<uint8_t>(bits[bit / 8] | (1U << (bit % 8)));
  }
  return bits;
}

// A chunk of a column of int64. It must outlive the column.
struct Chunk {
  explicit Chunk(const Numbers& numbers) : validity(bits_of(numbers, 0)), values(numbers.size()) {
    for (size_t i = 0; i < numbers.size(); ++i) values[i] = numbers[i].value_or(-77);
    buffers = {validity.data(), values.data()};
    array.length = static_cast<int64_t>(numbers.size());
    array.null_count = -1;  // It is not known.
    array.n_buffers = 2;
    array.buffers = buffers.data();
    array.release = release_array;
  }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  std::vector<uint8_t> validity;
  std::vector<int64_t> values;
  std::array<const void*, 2> buffers = {};
  ArrowArray array = {};
};

ArrowSchema schema_of(const char* format) {
  ArrowSchema schema = {};
  schema.format = format;
  schema.flags = 2;  // It may have nulls.
  schema.release = release_schema;
  return schema;
}

// Returns the numbers of an array whose offset is 0.
Numbers numbers_of(const ArrowArray& array) {
  CHECK(array.offset == 0 && array.n_buffers == 2);
  Numbers numbers(static_cast<size_t>(array.length));
  const auto* const bits = static_cast<const uint8_t*>(array.buffers[0]);
  const auto* const values = static_cast<const int64_t*>(array.buffers[1]);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (bits == nullptr || (bits[i / 8] >> (i % 8) & 1) != 0) numbers[i] = values[i];
  }
  return numbers;
}

// Rows that a take has made. Their destructor releases both structs.
struct Rows {
  Rows(const Column& column, const Take& take, const Options& options = {}) {
    column.take(take, &schema, &array, options);
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() {
    schema.release(&schema);
    array.release(&array);
  }
  ArrowSchema schema = {};
  ArrowArray array = {};
};

// `count` different numbers. Every fifth one is null.
Numbers numbered(int64_t first, size_t count) {
  Numbers numbers(count);
  for (size_t i = 0; i < count; ++i) {
    const int64_t row = first + static_cast<int64_t>(i);
    if (row % 5 != 3) numbers[i] = row * row - 40 * row;
  }
  return numbers;
}

// Chunks of 70, 0, 1 and 65 rows, and all of their numbers.
struct Chunks {
  Chunks() {
    for (const Chunk* chunk : {&first, &second, &third, &fourth}) {
      const Numbers numbers = numbers_of(chunk->array);
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
  }
  Column column() {
    const ArrowSchema type = schema_of("l");
    return Column::from_arrow(&type, {&first.array, &second.array, &third.array, &fourth.array});
  }
  Chunk first{numbered(0, 70)}, second{Numbers()}, third{numbered(70, 1)}, fourth{numbered(71, 65)};
  Numbers all;
};

// 300 indices from -`below` on, in another order than that of the rows, and their values or null.
std::vector<int64_t> some_indices(int64_t below, int64_t extent) {
  std::vector<int64_t> ids(300);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i * 37 + 11) % (extent + below) - below;
  return ids;
}

void taken_rows() {
  Chunks chunks;
  const int before = released;
  Column column = chunks.column();
  CHECK(column && chunks.first.array.release == nullptr && released == before);
  const std::vector<int64_t> ids = some_indices(0, 136);
  Numbers wanted;
  for (const int64_t id : ids) wanted.push_back(chunks.all[static_cast<size_t>(id)]);
  const Rows rows(column, ids);
  CHECK(numbers_of(rows.array) == wanted && std::string_view(rows.schema.format) == "l");

  // Null indices, whose bits begin within a byte. The value of a null index is not read.
  Numbers given(ids.begin(), ids.end());
  std::vector<int64_t> some = ids;
  for (size_t i = 2; i < given.size(); i += 7) {
    given[i].reset();
    some[i] = 1000;
    wanted[i].reset();
  }
  const std::vector<uint8_t> bits = bits_of(given, 5);
  CHECK(numbers_of(Rows(column, Take(some).validity(bits, 5)).array) == wanted);
  CHECK(numbers_of(Rows(column, Take(some).validity(bits.data(), 5)).array) == wanted);

  // Negative indices count from the end, and those beyond are null.
  const std::vector<int64_t> wide = some_indices(150, 150);
  wanted.clear();
  for (const int64_t id : wide) {
    const int64_t row = id < 0 ? id + 136 : id;
    wanted.push_back(row >= 0 && row < 136 ? chunks.all[static_cast<size_t>(row)] : std::nullopt);
  }
  const Options wrap = Options().negative(gather::Negative::wrap);
  const Rows wrapped(column, Take(wide).null_bounds(), wrap);
  CHECK(numbers_of(wrapped.array) == wanted);

  // A tensor of any rank, without a schema.
  ArrowArray array = {};
  const gather::Tensor indices = gather::Tensor::borrow({ids, {3, 100}});
  column.take(indices, nullptr, &array);
  column.reset();
  CHECK(released == before + 4 && array.length == 300 && numbers_of(array) == numbers_of(rows.array));
  array.release(&array);
}

// A struct with one child.
struct Record {
  explicit Record(Chunk* child) : children{&child->array} {
    array.length = child->array.length;
    array.n_buffers = 1;
    array.n_children = 1;
    array.buffers = buffers.data();
    array.children = children.data();
    array.release = release_array;
  }
  std::array<ArrowArray*, 1> children;
  std::array<const void*, 1> buffers = {};
  ArrowArray array = {};
};

void records() {
  Chunk number(numbered(3, 9));
  const Numbers given = numbers_of(number.array);
  Record record(&number);
  ArrowSchema child = schema_of("l"), type = schema_of("+s");
  child.name = "number";
  std::array<ArrowSchema*, 1> children = {&child};
  type.n_children = 1;
  type.children = children.data();
  const Column column = Column::from_arrow(&type, {&record.array});
  const std::vector<uint8_t> ids = {8, 9, 1, 8};
  const Rows structs(column, Take(ids).null_bounds()), table(column, Take(ids).null_bounds().record());
  CHECK(structs.array.null_count == 1 && table.array.null_count == 0);
  CHECK(numbers_of(*table.array.children[0]) == Numbers({given[8], std::nullopt, given[1], given[8]}));
}

// A stream of chunks. It fails with an error number after the last one, unless that is 0.
struct Stream {
  Stream(std::vector<ArrowArray*> arrays, int error) : chunks(std::move(arrays)), end(error) {
    stream.get_schema = [](ArrowArrayStream*, ArrowSchema* out) { return *out = schema_of("l"), 0; };
    stream.get_next = next;
    stream.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
    stream.release = [](ArrowArrayStream* self) { self->release = nullptr; };
    stream.private_data = this;
  }
  static int next(ArrowArrayStream* self, ArrowArray* out) {
    auto* const from = static_cast<Stream*>(self->private_data);
    *out = {};
    if (from->read == from->chunks.size()) return from->end;
    *out = *from->chunks[from->read++];
    return 0;
  }
  std::vector<ArrowArray*> chunks;
  int end;
  size_t read = 0;
  ArrowArrayStream stream = {};
};

void streams() {
  Chunks chunks;
  Stream stream({&chunks.fourth.array, &chunks.first.array}, 0);
  const Column column = Column::from_arrow_stream(&stream.stream);
  CHECK(stream.stream.release == nullptr);
  std::vector<int32_t> ids(135);
  std::iota(ids.begin(), ids.end(), 0);
  const Rows rows(column, ids);
  Numbers wanted(chunks.all.end() - 65, chunks.all.end());
  wanted.insert(wanted.end(), chunks.all.begin(), chunks.all.begin() + 70);
  CHECK(numbers_of(rows.array) == wanted);

  Stream broken({&chunks.third.array}, EIO);
  const auto error = thrown<gather::Error>(GTH_E_ARROW, [&] { Column::from_arrow_stream(&broken.stream); });
  CHECK(error.fields().native == EIO && broken.stream.release != nullptr);
}

void refused_columns() {
  Chunk chunk(numbered(0, 9));
  const ArrowSchema type = schema_of("l"), unknown = schema_of("?");
  const auto dtype = thrown<gather::Error>(GTH_E_DTYPE, [&] { Column::from_arrow(&unknown, {&chunk.array}); });
  CHECK(dtype.operand() == GTH_OPERAND_PARAMS && chunk.array.release != nullptr);
  ArrowArray gone = {};
  thrown<gather::Error>(GTH_E_ARROW, [&] { Column::from_arrow(&type, {&chunk.array, &gone}); });
  CHECK(chunk.array.release != nullptr);
  const Column column = Column::from_arrow(&type, {&chunk.array});

  ArrowSchema schema = {};
  ArrowArray array = {};
  const std::vector<int32_t> ids = {4, 0, 9, -1};
  const auto index = thrown<gather::IndexError>(GTH_E_INDEX, [&] { column.take(ids, &schema, &array); });
  CHECK(index.position() == 2 && index.value() == 9 && index.limit() == 9 && array.release == nullptr);
  thrown<gather::Error>(GTH_E_UNSUPPORTED,
                        [&] { column.take(ids, &schema, &array, Options().bounds(gather::Bounds::fill)); });
  const Options clamp = Options().bounds(gather::Bounds::clamp);
  thrown<gather::Error>(GTH_E_VERSION, [&] { column.take(Take(ids).null_bounds(), &schema, &array, clamp); });
  thrown<gather::Error>(GTH_E_DTYPE, [&] { column.take(Take(ids).record(), &schema, &array); });
  thrown<gather::Error>(GTH_E_NULL, [&] { column.take(ids, &schema, nullptr); });
  thrown<gather::Error>(GTH_E_NULL, [&] { Column().take(ids, &schema, &array); });
  thrown<gather::Error>(GTH_E_NULL, [&] { column.take(gather::Tensor(), &schema, &array); });

  // The size of a range of bits is known.
  const std::array<uint8_t, 1> bits = {0xff};
  const auto size =
      thrown<gather::Error>(GTH_E_SIZE, [&] { column.take(Take(ids).validity(bits, 5), &schema, &array); });
  CHECK(size.operand() == GTH_OPERAND_INDICES && size.value() == 8 && size.limit() == 9);
  thrown<gather::Error>(GTH_E_SIZE, [&] { column.take(Take(ids).validity(bits, INT64_MAX), &schema, &array); });
  thrown<gather::Error>(GTH_E_SIZE, [&] { column.take(Take(ids).validity(bits, -1), &schema, &array); });
  Rows(column, Take(ids).validity(bits, 4), clamp);
}

void row_numbers() {
  const std::vector<int64_t> ids = some_indices(50, 100);
  std::vector<int64_t> wanted;
  for (const int64_t id : ids) {
    const int64_t row = id < 0 ? id + 40 : id;
    wanted.push_back(row < 0 || row >= 40 ? -1 : row);
  }
  const Options wrap = Options().negative(gather::Negative::wrap);
  CHECK(gather::resolve(40, Take(ids).null_bounds(), wrap) == wanted);
  CHECK(gather::resolve(40, View(ids, {2, 5, 30}), Options(wrap).bounds(gather::Bounds::skip)) == wanted);
  const std::vector<uint8_t> few = {7, 0, 3}, bits = {0xfa};
  CHECK(gather::resolve(8, few) == std::vector<int64_t>({7, 0, 3}));
  CHECK(gather::resolve(8, Take(few).validity(bits)) == std::vector<int64_t>({-1, 0, -1}));
  CHECK(gather::resolve(8, View(few, {0, 3})).empty());
  CHECK(gather::resolve(8, View(few, {})) == std::vector<int64_t>({7}));

  const auto index = thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::resolve(7, few); });
  CHECK(index.position() == 0 && index.value() == 7 && index.limit() == 7);
  thrown<gather::Error>(GTH_E_SHAPE, [&] { gather::resolve(-1, few); });
  thrown<gather::Error>(GTH_E_SHAPE, [&] { gather::resolve(8, View(few.data(), {3, -1})); });
  thrown<gather::Error>(GTH_E_RANK, [&] { gather::resolve(8, View(few, std::vector<int64_t>(GTH_MAX_NDIM + 1, 1))); });
  thrown<gather::Error>(GTH_E_VERSION, [&] { gather::resolve(8, Take(few).record()); });
  thrown<gather::Error>(GTH_E_SIZE, [&] { gather::resolve(8, Take(few).validity(bits, 6)); });
  thrown<gather::Error>(GTH_E_NULL, [&] { gather::resolve(8, gather::Tensor()); });
  const View huge = View(few.data(), {int64_t{1} << 40, int64_t{1} << 20}).strides({0, 0});
  thrown<gather::Error>(GTH_E_NOMEM, [&] { gather::resolve(8, huge); });
  const View beyond = View(few.data(), {int64_t{1} << 40, int64_t{1} << 40}).strides({0, 0});
  thrown<gather::Error>(GTH_E_NOMEM, [&] { gather::resolve(8, beyond); });
  const std::vector<int64_t> ones(GTH_MAX_NDIM, 1);
  gth_tensor_desc deep = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_UINT8, 1 << 28, ones.data(), few.data());
  thrown<gather::Error>(GTH_E_RANK, [&] { gather::resolve(8, View(deep)); });
  std::vector<int64_t> out = {5};
  gather::Report err;
  CHECK(gather::try_resolve(3, few, &out, &err) == GTH_E_INDEX && out.empty() && err.value == 7);
}

}  // namespace

int main() {
  taken_rows();
  records();
  streams();
  refused_columns();
  row_numbers();
  std::printf("raii_columns: rows of columns and tables, streams, row numbers, errors\n");
  return 0;
}
