// A C++ program that gathers rows of files and of pieces of memory through gather.hpp.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "raii.hpp"

namespace {

using gather::Codec;
using gather::Options;
using gather::Segment;
using gather::Table;
using gather::Tensor;
using gather::View;
using Bytes = std::vector<uint8_t>;
using Floats = std::vector<float>;
using Shape = std::vector<int64_t>;

constexpr size_t width = 3, row_bytes = 4 * width;
constexpr std::array<int32_t, 2> modes = {GTH_FILES_READ, GTH_FILES_MAP};
const std::vector<int64_t> ids = {9, 0, 4, 3, 9, 6};

// A folder that is removed with its files.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("gather_raii_table." + std::to_string(getpid()));
  Folder() { std::filesystem::create_directory(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string write(const char* name, const Bytes& bytes) const {
    const std::string file = (path / name).string();
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file.c_str(), "wb"), std::fclose);
    CHECK(out && std::fwrite(bytes.data(), 1, bytes.size(), out.get()) == bytes.size());
    return file;
  }
};

float number_of(size_t row, size_t column) { return static_cast<float>(100 * row + column); }

// Returns rows with gaps behind `offset` other bytes.
Bytes rows_of(size_t first, size_t count, size_t offset, size_t stride) {
  Bytes bytes(offset + (count - 1) * stride + row_bytes, 'x');
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < width; ++j) {
      const float number = number_of(first + i, j);
      std::memcpy(&bytes[offset + i * stride + 4 * j], &number, 4);
    }
  }
  return bytes;
}

Floats wanted_of(const std::vector<int64_t>& rows) {
  Floats wanted;
  for (const int64_t row : rows)
    for (size_t j = 0; j < width; ++j) wanted.push_back(number_of(static_cast<size_t>(row), j));
  return wanted;
}

// Ten rows: four in a file, one in another one, and five in memory.
struct Ten {
  Folder folder;
  std::string first = folder.write("first", rows_of(0, 4, 7, 20)),
              second = folder.write("second", rows_of(4, 1, 0, 12));
  Bytes memory = rows_of(5, 5, 3, 12);
  std::vector<Segment> segments() const {
    return {Segment::path(first.c_str(), 4).offset(7).stride(20), Segment::path(second.c_str(), 1),
            Segment::memory(memory.data(), 5).offset(3)};
  }
};

void calls() {
  const Ten ten;
  const Floats wanted = wanted_of(ids);
  for (const int32_t mode : modes) {
    const Table table(ten.segments(), {width}, GTH_DTYPE_FLOAT32, mode);
    CHECK(table.shape() == Shape({10, width}) && View(table).dtype() == GTH_DTYPE_FLOAT32);
    table.prefetch(ids, gather::Options().negative(gather::Negative::wrap));
    CHECK(gather::gather(table, ids).to_vector<float>() == wanted);
    CHECK(gather::gather_nd(table, {ids, {6, 1}}).to_vector<float>() == wanted);
    Floats out(6 * width, -1);
    const auto check_out = [&] {
      CHECK(out == wanted);
      out.assign(6 * width, -1);
    };
    gather::gather_into(table, ids, {out, {6, width}});
    check_out();
    gather::run_many({{GTH_OP_GATHER, table, ids, View(out, {6, width})}});
    check_out();
    const gather::Plan plan = gather::Plan::gather(table, View::layout<int64_t>({GTH_OPEN}));
    plan.run(nullptr, ids, out, 6);
    check_out();
    std::vector<double> doubles(6 * width);
    thrown<gather::Error>(GTH_E_DTYPE, [&] { plan.run(nullptr, ids, doubles, 6); });
    const std::vector<int64_t> columns = {2, 0, 1};
    CHECK(gather::gather_elements(table, {columns, {3, 1}}, Options().axis(1).extents(gather::Extents::prefix))
              .to_vector<float>() == Floats({number_of(0, 2), number_of(1, 0), number_of(2, 1)}));
    const std::vector<int64_t> offsets = {0, 2, 6};
    Floats sums(2 * width, 0);
    for (size_t i = 0; i < ids.size(); ++i)
      for (size_t j = 0; j < width; ++j) sums[(i < 2 ? 0 : width) + j] += wanted[i * width + j];
    CHECK(gather::gather_bags(table, ids, offsets).to_vector<float>() == sums);
    const gth_files_stats stats = table.stats();
    CHECK(stats.mode == mode && stats.rows >= (mode == GTH_FILES_READ ? 6 : 1) && stats.releases == 0);
    const std::vector<int64_t> outside = {1, 10};
    CHECK(thrown<gather::IndexError>(GTH_E_INDEX, [&] { gather::gather(table, outside); }).position() == 1);
  }
}

void packed() {
  // Blocks of q8_0: a float16 scale, here 0.5, and 32 codes.
  Bytes bytes(2 * 34);
  for (size_t row = 0; row < 2; ++row) {
    bytes[34 * row + 1] = 0x38;
    for (size_t i = 0; i < 32; ++i) bytes[34 * row + 2 + i] = static_cast<uint8_t>(8 * row + i);
  }
  const Folder folder;
  const std::string path = folder.write("packed", bytes);
  const std::vector<int64_t> last = {1};
  Floats wanted;
  for (size_t i = 0; i < 32; ++i) wanted.push_back(0.5f * static_cast<float>(8 + i));
  for (const int32_t mode : modes) {
    const Table table({Segment::path(path.c_str(), 2)}, {32}, GTH_DTYPE_FLOAT32, mode, 8 << 20, "q8_0");
    CHECK(table.shape() == Shape({2, 32}));
    CHECK(gather::gather(table, last).to_vector<float>() == wanted);
  }
  gather::Report err;
  Table none;
  const auto open = [&](const gather::Dims& row, const char* codec) {
    return Table::try_open({Segment::memory(bytes, 1)}, row, &none, &err, GTH_DTYPE_FLOAT32, 0, 0, codec);
  };
  CHECK(open({33}, "q8_0") == GTH_E_SHAPE && open({}, "q8_0") == GTH_E_RANK && open({96}, "q8_0") == GTH_E_STRIDE);
  CHECK(open({int64_t{1} << 60, 1}, "rowwise8") == GTH_E_STRIDE && !none);
}

// An open descriptor may be closed after the table has been opened.
void files() {
  const Ten ten;
  const int file = open(ten.first.c_str(), O_RDONLY | O_CLOEXEC);
  CHECK(file >= 0);
  Table first({Segment::file(file, 2).offset(7).stride(20), Segment::file(file, 2).offset(47).stride(20)}, {width});
  close(file);
  const Table moved = std::move(first);
  CHECK(!first && moved);
  const std::vector<int64_t> rows = {3, 0};
  CHECK(gather::gather(moved, rows).to_vector<float>() == wanted_of(rows));
}

void errors() {
  const Ten ten;
  const auto fails = [&](int32_t status, const std::vector<Segment>& segments, int32_t native = 0) {
    const auto error = thrown<gather::Error>(status, [&] { const Table table(segments, {width}); });
    CHECK(error.operand() == GTH_OPERAND_FILE && error.fields().native == native);
    return error;
  };
  const Segment good = Segment::path(ten.second.c_str(), 1);
  const std::string missing = ten.first + "x", folder = ten.folder.path.string();
  CHECK(fails(GTH_E_IO, {good, Segment::path(missing.c_str(), 1)}, ENOENT).component() == 1);
  fails(GTH_E_IO, {Segment::file(-1, 1)}, EBADF);
  const auto refused =
      thrown<gather::Error>(GTH_E_IO, [&] { const Table table({Segment::path(folder.c_str(), 1)}, {width}); });
  CHECK(refused.component() == 0 && refused.position() == -1);
  const auto too_short = fails(GTH_E_IO, {good, Segment::path(ten.first.c_str(), 4).offset(8).stride(20)});
  CHECK(too_short.component() == 1 && too_short.value() == 8 && too_short.limit() == 72);
  fails(GTH_E_SHAPE, {});
  fails(GTH_E_SHAPE, {Segment::path(ten.first.c_str(), 0)});
  fails(GTH_E_STRIDE, {Segment::path(ten.first.c_str(), 1).stride(11)});
  const auto small = fails(GTH_E_STRIDE, {good, Segment::memory(ten.memory, 5).offset(4)});
  CHECK(small.component() == 1 && small.value() == 64 && small.limit() == 63);
  const Table exact({Segment::memory(ten.memory, 5).offset(3)}, {width});
  const std::vector<int64_t> last = {4};
  CHECK(gather::gather(exact, last).to_vector<float>() == wanted_of({9}));
  CHECK(fails(GTH_E_SIZE, {Segment::memory(ten.memory, 2).stride(INT64_MAX)}).limit() == INT64_MAX);
  const Bytes nothing;
  const auto empty = fails(GTH_E_STRIDE, {good, Segment::memory(nothing, 1)});
  CHECK(empty.component() == 1 && empty.value() == 12 && empty.limit() == 0);
  CHECK(Table({Segment::memory(nothing, 2)}, {0}).shape() == Shape({2, 0}));
  gather::Report err;
  Table table(ten.segments(), {width});
  CHECK(Table::try_open({good}, {width}, &table, &err, GTH_DTYPE_FLOAT32, 3) == GTH_E_VERSION && !table);
  CHECK(Table::try_open({good}, {width}, &table, &err, GTH_DTYPE_FLOAT32, 0, 1) == GTH_E_VERSION);
  CHECK(Table::try_open({good}, Shape(64, 1), &table, &err) == GTH_E_RANK);
  CHECK(Table::try_open({good, good}, {width}, &table, &err) == GTH_OK && table.shape() == Shape({2, width}));
  gth_files_stats stats = GTH_FILES_STATS_INIT;
  CHECK(Table().try_stats(&stats, &err) == GTH_E_NULL && Table().try_prefetch(ids, &err) == GTH_E_NULL);
  CHECK(table.try_prefetch(ids, &err, gather::Options().axis(2)) == GTH_E_AXIS);
  Floats target(6 * width);
  thrown<gather::Error>(GTH_E_UNSUPPORTED, [&] { gather::gather_into({target, {6, width}}, ids, table); });
  thrown<gather::Error>(GTH_E_UNSUPPORTED, [&] { gather::scatter_into(table, ids, {target, {6, width}}); });
}

// A file that becomes shorter causes an error with the segment, the index, and the bytes.
void truncated() {
  const Ten ten;
  for (const int32_t mode : modes) {
    const std::string path = ten.folder.write("cut", rows_of(0, 4000, 0, row_bytes));
    const Table table({Segment::path(ten.second.c_str(), 1), Segment::path(path.c_str(), 4000)}, {width},
                      GTH_DTYPE_FLOAT32, mode);
    std::filesystem::resize_file(path, 4096);
    const std::vector<int64_t> rows = {1, 0, 3001};
    const auto error = thrown<gather::Error>(GTH_E_IO, [&] { gather::gather(table, rows); });
    CHECK(error.component() == 1 && error.position() == 2 && error.fields().native == 0);
    CHECK(error.value() <= 3000 * 12 && 3000 * 12 < error.value() + error.limit());
  }
}

}  // namespace

int main() {
  calls();
  packed();
  files();
  errors();
  truncated();
  return 0;
}
