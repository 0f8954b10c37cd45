#include <sys/mman.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "../../src/core/base/limits.hpp"
#include "files.hpp"

// The memory that tables in files have in the process, prefetches, and counters.
namespace {

using namespace files;

// Returns the mapped memory of a file that is in the memory of this process.
int64_t resident_bytes(const std::string& path) {
  std::ifstream maps("/proc/self/smaps");
  int64_t bytes = 0;
  bool is_file = false;
  for (std::string line; std::getline(maps, line);) {
    const bool is_field = line.find(':') < line.find(' ');
    if (!is_field) is_file = line.find(path) != std::string::npos;
    if (is_file && line.compare(0, 4, "Rss:") == 0) bytes += std::atoll(line.c_str() + 4) * 1024;
  }
  return bytes;
}

bool has_map(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(path) != std::string::npos) return true;
  }
  return false;
}

// Returns the memory of all mapped files that is in the memory of this process. It is a counter of the system, so a
// measurement takes little time.
int64_t all_resident_bytes() {
  int64_t mapped = 0, resident = 0, of_files = 0;
  std::ifstream("/proc/self/statm") >> mapped >> resident >> of_files;
  return of_files * sysconf(_SC_PAGESIZE);
}

// Returns the size of the addresses that the process uses.
int64_t address_bytes() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

// Measures by how much the resident memory of files grows at most, until it is stopped.
class Sampler {
 public:
  Sampler()
      : before_(all_resident_bytes()), thread_([this] {
          while (!ends_) most_ = std::max<int64_t>(most_, all_resident_bytes());
        }) {}
  ~Sampler() { stop(); }
  int64_t stop() {
    ends_ = true;
    if (thread_.joinable()) thread_.join();
    return most_ - before_;
  }

 private:
  const int64_t before_;
  std::atomic<bool> ends_{false};
  std::atomic<int64_t> most_{0};
  std::thread thread_;
};

// A file of zeros that is in the page cache, in the largest folios that the system has.
// A file in the page cache. After writes it has folios of 2 MiB, and after reads smaller ones.
class Cached : public File {
 public:
  explicit Cached(int64_t bytes, bool is_read = false) {
    Bytes room(size_t{1} << 22);
    if (is_read) {
      EXPECT_TRUE(resize(bytes));
    }
    for (int64_t at = 0; at < bytes; at += int64_t{1} << 22) {
      if (is_read) {
        EXPECT_EQ(pread(descriptor(), room.data(), room.size(), at), static_cast<ssize_t>(room.size()));
      } else {
        write(at, room);
      }
    }
  }
};

constexpr int64_t file_bytes = int64_t{320} << 20, small_file_bytes = int64_t{128} << 20;
constexpr int64_t large_budget = int64_t{64} << 20;

void gather_all(const Table& table, int64_t calls, int64_t count) {
  Bytes out(static_cast<size_t>(count * table.row_bytes()));
  for (int64_t i = 0; i < calls; ++i) {
    std::vector<int64_t> ids = scattered(count, table.rows());
    for (int64_t& id : ids) id = (id + i * 7919) % table.rows();
    Error error;
    ASSERT_EQ(table.gather_into(ids, out.data(), &error), GTH_OK) << error.message;
  }
}

// ---- Budgets

void check_budgets(bool is_read) {
  const Cached file(file_bytes, is_read);
  const struct {
    int64_t row_bytes, gap, segments, calls, count;
  } tables[] = {{160, 0, 1, 3, 2000},
                {160, 0, 40, 3, 2000},
                {4096, 0, 1, 3, 2000},
                {100, 200000, 3, 6, 400},
                {100000, 0, 1, 6, 200},
                {int64_t{20} << 20, 0, 1, 3, 8},
                {(int64_t{8} << 20) + 1, 5, 2, 3, 8}};
  for (const auto& each : tables) {
    for (const int64_t most : {large_budget, budget}) {
      Table table(each.row_bytes, GTH_FILES_MAP, most);
      const int64_t part = file_bytes / each.segments, rows = part / (each.row_bytes + each.gap);
      for (int64_t i = 0; i < each.segments; ++i) {
        gth_segment segment = table.segment_of(rows, i * part + (i > 0 ? 100 : 0), each.gap);
        if (i > 0 && each.row_bytes == 160) --segment.rows;
        if (segment.offset + (segment.rows - 1) * (each.row_bytes + each.gap) + each.row_bytes > file_bytes)
          --segment.rows;
        segment.path = file.path();
        table.add(segment);
      }
      table.opened();
      Sampler sampler;
      gather_all(table, each.calls, each.count);
      const int64_t stated = table.stats().resident;
      EXPECT_LE(resident_bytes(file.path()), stated) << each.row_bytes << " of " << most;
      EXPECT_LE(stated, most) << each.row_bytes;
      EXPECT_LE(sampler.stop(), most + most / 10) << each.row_bytes << " gap " << each.gap << " of " << most;
      EXPECT_GT(table.stats().releases, 0) << each.row_bytes << " gap " << each.gap << " of " << most;
    }
  }
}

TEST(FilesMemory, BudgetsAreKept) { check_budgets(false); }
TEST(FilesMemory, BudgetsAreKeptInSmallerFolios) { check_budgets(true); }

// One tuple selects all rows, which are far apart.
TEST(FilesMemory, BudgetsAreKeptByRowsThatSpanTheTable) {
  const Cached file(small_file_bytes);
  constexpr int64_t row_bytes = 100, gap = 70000, rows = small_file_bytes / (row_bytes + gap);
  Table table(row_bytes, GTH_FILES_MAP, large_budget);
  gth_segment segment = table.segment_of(rows, 0, gap);
  segment.path = file.path();
  table.add(segment).opened();
  Sampler sampler;
  const Shape none{1, 0}, all{1, rows, row_bytes};
  const gth_tensor_desc desc = table.desc(), indices = hostile::describe(GTH_DTYPE_INT64, none, &none);
  Bytes out(static_cast<size_t>(rows * row_bytes), '#');
  const gth_tensor_desc written = hostile::describe(u8, all, out.data());
  Error error;
  for (int32_t i = 0; i < 3; ++i) {
    ASSERT_EQ(gth_gather_nd(nullptr, &desc, &indices, &written, nullptr, &error), GTH_OK) << error.message;
  }
  EXPECT_TRUE(out == Bytes(out.size()));
  EXPECT_LE(sampler.stop(), large_budget + large_budget / 10);
  EXPECT_LE(table.stats().resident, large_budget);
}

TEST(FilesMemory, BudgetsAreKeptByBags) {
  const Cached file(small_file_bytes);
  constexpr int64_t columns = 64, rows = small_file_bytes / columns / 4, count = 4000;
  hostile::Tensor tensor;
  Error error;
  ASSERT_EQ(open_floats(file, {rows, columns}, GTH_FILES_MAP, large_budget, tensor.out(), &error), GTH_OK)
      << error.message;
  const hostile::Array indices = hostile::indices64({40, count / 40}, scattered(count, rows)),
                       out(GTH_DTYPE_FLOAT32, {40, columns});
  const gth_tensor_desc table = GTH_TENSOR_DESC_HANDLE(tensor.get()), i = indices.desc(), o = out.desc();
  Sampler sampler;
  for (int32_t n = 0; n < 3; ++n) {
    ASSERT_EQ(gth_gather_bags(nullptr, &table, &i, nullptr, nullptr, &o, nullptr, &error), GTH_OK) << error.message;
  }
  EXPECT_TRUE(out.bytes() == Bytes(out.bytes().size()));
  EXPECT_LE(sampler.stop(), large_budget + large_budget / 10);
}

TEST(FilesMemory, ModeReadMapsNothing) {
  Table table(4096, GTH_FILES_READ);
  table.in_file(5000).opened();
  Sampler sampler;
  gather_all(table, 10, 2000);
  EXPECT_FALSE(has_map(table.file(0).path()));
  EXPECT_LE(sampler.stop(), int64_t{4} << 20) << "pages of the program and its libraries";
}

TEST(FilesMemory, ReleaseRemovesTheMap) {
  for (const int64_t resident : {int64_t{0}, budget}) {
    Table table(4096, GTH_FILES_MAP, resident);
    table.in_file(100).opened();
    EXPECT_TRUE(table.gathers(counted(0, 100)));
    EXPECT_TRUE(has_map(table.file(0).path()));
    table.release();
    EXPECT_FALSE(has_map(table.file(0).path()));
  }
}

// Addresses that were reserved for a map are released with it, also if its end is inside a page.
TEST(FilesMemory, ReleaseRemovesReservedAddresses) {
  Table table(100, GTH_FILES_MAP, budget);
  table.in_file(99, 1);
  const int64_t before = address_bytes();
  for (int32_t i = 0; i < 50; ++i) table.opened().release();
  EXPECT_LT(address_bytes() - before, int64_t{50} << 20);
}

// ---- Counters and prefetches

TEST(FilesStats, RowsAreCounted) {
  const auto expect = [](const Table& table, int32_t mode, int64_t rows) {
    const gth_files_stats stats = table.stats();
    EXPECT_EQ(stats.size, sizeof stats);
    EXPECT_EQ(stats.mode, mode);
    EXPECT_EQ(stats.rows, rows);
    EXPECT_EQ(stats.releases, 0);
    EXPECT_EQ(stats.resident, 0);
  };
  Table table(100, 0);
  table.in_file(1000).in_memory(10).opened();
  expect(table, GTH_FILES_READ, 0);
  EXPECT_TRUE(table.gathers(counted(0, 700)));
  expect(table, GTH_FILES_READ, 700);
  Bytes out(100);
  EXPECT_EQ(table.gather_into({2000}, out.data(), nullptr), GTH_E_INDEX);
  expect(table, GTH_FILES_READ, 700);
  Table map(100, GTH_FILES_MAP);
  map.in_file(1000).opened();
  EXPECT_TRUE(map.gathers(counted(0, 700)));
  expect(map, GTH_FILES_MAP, 700);
  Table memory(100, GTH_FILES_MAP);
  memory.in_memory(1000).opened();
  EXPECT_TRUE(memory.gathers(counted(0, 700)));
  expect(memory, GTH_FILES_MAP, 0);
}

// A row that several ids of a bag select is read once.
TEST(FilesStats, RowsOfBagsAreReadOnce) {
  Table table(100, GTH_FILES_READ);
  table.in_file(10).opened();
  const gth_tensor_desc params = table.desc();
  const hostile::Array ids = hostile::indices64({1, 8}, {3, 7, 3, 3, 7, 7, 3, 9}), out(u8, {1, 100});
  const gth_tensor_desc i = ids.desc(), o = out.desc();
  gth_options options = GTH_OPTIONS_INIT;
  options.pool = GTH_POOL_MAX;
  options.threads = 1;
  Error error;
  ASSERT_EQ(gth_gather_bags(nullptr, &params, &i, nullptr, nullptr, &o, &options, &error), GTH_OK) << error.message;
  EXPECT_EQ(table.stats().rows, 3);
}

// In mode map, a page is requested once.
TEST(FilesStats, PagesAreRequestedOnce) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  Table table(page, GTH_FILES_MAP);
  table.in_file(1000).in_memory(50).in_file(20, 5).opened();
  EXPECT_EQ(table.stats().requested, 0);
  EXPECT_TRUE(table.gathers({3, 5, 999, 1000, 1010}));
  EXPECT_EQ(table.stats().requested, 3);
  EXPECT_TRUE(table.gathers({3, 5, 999, 5}));
  EXPECT_EQ(table.stats().requested, 3);
  EXPECT_TRUE(table.gathers({6, 5, 4}));
  EXPECT_EQ(table.stats().requested, 5);
  EXPECT_TRUE(table.gathers(counted(0, 1000)));
  EXPECT_TRUE(table.gathers(counted(0, 1000)));
  EXPECT_LE(table.stats().requested, 1000);
}

// A prefetch ignores indices out of bounds and rows that cannot be read. It reads nothing.
TEST(FilesPrefetch, LaterGathersGiveTheSameRows) {
  for (const int32_t mode : modes) {
    for (const int64_t resident : {int64_t{0}, mode == GTH_FILES_MAP ? budget : 0}) {
      Table table(700, mode, resident);
      table.in_file(3000, 11).in_memory(10).in_file(100, 0, 900).opened();
      table.file(0).forget();
      std::vector<int64_t> ids = scattered(600, table.rows());
      ids[3] = -1, ids[4] = table.rows(), ids[5] = INT64_MAX, ids[6] = INT64_MIN;
      const Shape shape{2, 3, 100};
      const gth_tensor_desc indices = hostile::describe(GTH_DTYPE_INT64, shape, ids.data());
      Error error;
      EXPECT_EQ(gth_tensor_prefetch(nullptr, table.get(), &indices, nullptr, &error), GTH_OK) << error.message;
      EXPECT_EQ(table.stats().rows, 0);
      ids[3] = ids[4] = ids[5] = ids[6] = 1;
      EXPECT_TRUE(table.gathers(ids));
      ASSERT_TRUE(table.file(0).resize(1000 * 700));
      const std::vector<int64_t> lost = counted(2000, 300);
      const Shape line{300}, none{0};
      const gth_tensor_desc gone = hostile::describe(GTH_DTYPE_INT64, line, lost.data()),
                            empty = hostile::describe(GTH_DTYPE_INT64, none, lost.data());
      EXPECT_EQ(gth_tensor_prefetch(nullptr, table.get(), &gone, nullptr, &error), GTH_OK) << error.message;
      EXPECT_EQ(gth_tensor_prefetch(nullptr, table.get(), &empty, nullptr, &error), GTH_OK) << error.message;
    }
  }
}

// Every index dtype, and strides.
TEST(FilesPrefetch, IndicesOfEachType) {
  Table table(5000, GTH_FILES_READ);
  table.in_file(100).opened();
  const uint8_t bytes[] = {9, 200, 99, 200, 255, 0};
  const uint64_t wide[] = {1, UINT64_MAX, uint64_t{1} << 63};
  const Shape line{3};
  const Shape two{2};
  gth_tensor_desc indices = hostile::describe(u8, line, bytes, two.data());
  Error error;
  EXPECT_EQ(gth_tensor_prefetch(nullptr, table.get(), &indices, nullptr, &error), GTH_OK) << error.message;
  indices = hostile::describe(GTH_DTYPE_UINT64, line, wide);
  EXPECT_EQ(gth_tensor_prefetch(nullptr, table.get(), &indices, nullptr, &error), GTH_OK) << error.message;
  const hostile::Tensor handle(indices);
  const gth_tensor_desc named = GTH_TENSOR_DESC_HANDLE(handle.get());
  EXPECT_EQ(gth_tensor_prefetch(nullptr, table.get(), &named, nullptr, &error), GTH_OK) << error.message;
}

// Returns which of the rows of a file are in the page cache, where each row begins `stride` bytes after the one before.
std::vector<int64_t> cached_rows(const File& file, int64_t rows, int64_t stride) {
  const size_t bytes = static_cast<size_t>(rows * stride);
  void* const map = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  EXPECT_NE(map, MAP_FAILED);
  std::vector<int64_t> found;
  for (int64_t row = 0; row < rows; ++row) {
    unsigned char is_cached = 0;
    EXPECT_EQ(mincore(static_cast<char*>(map) + row * stride, 1, &is_cached), 0);
    if (is_cached & 1) found.push_back(row);
  }
  munmap(map, bytes);
  return found;
}

// A prefetch requests the rows that a gather with the same options reads, and no others.
TEST(FilesPrefetch, RowsAreThoseOfTheOptions) {
  constexpr int64_t rows = 20, row_bytes = 64, stride = 1 << 20;
  const int64_t ids[] = {-2, 25, 4, 7};
  const Shape line{4};
  const gth_tensor_desc indices = hostile::describe(GTH_DTYPE_INT64, line, ids);
  const struct {
    int32_t profile, negative, bounds;
    bool has_padding;
    std::vector<int64_t> rows;
  } cases[] = {{0, 0, 0, false, {4, 7}},
               {0, GTH_NEGATIVE_WRAP, 0, false, {4, 7, 18}},
               {GTH_PROFILE_NUMPY_RAISE, 0, 0, false, {4, 7, 18}},
               {0, 0, GTH_BOUNDS_FILL, false, {4, 7}},
               {0, 0, GTH_BOUNDS_ERROR_PARTIAL, true, {4}},
               {0, 0, GTH_BOUNDS_CLAMP, false, {0, 4, 7, 19}},
               {GTH_PROFILE_NUMPY_WRAP, 0, 0, false, {4, 5, 7, 18}},
               {0, 0, GTH_BOUNDS_SKIP, true, {4}}};
  Table table(row_bytes);
  table.in_file(rows, 0, stride - row_bytes);
  ASSERT_TRUE(table.file(0).resize(rows * stride));
  table.opened();
  Error error;
  gth_options options = GTH_OPTIONS_INIT;
  for (const auto& each : cases) {
    table.file(0).forget();
    if (!cached_rows(table.file(0), rows, stride).empty()) GTEST_SKIP() << "the file system keeps its pages";
    options.profile = each.profile, options.negative = each.negative, options.bounds = each.bounds;
    options.has_padding_index = each.has_padding, options.padding_index = each.has_padding ? 7 : 0;
    ASSERT_EQ(gth_tensor_prefetch(nullptr, table.get(), &indices, &options, &error), GTH_OK) << error.message;
    std::vector<int64_t> cached;
    for (int32_t i = 0; i < 100 && cached.size() < each.rows.size(); ++i) {
      cached = cached_rows(table.file(0), rows, stride);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(cached, each.rows);
  }
  options.has_axis = 1, options.axis = 2;
  expect_facts(gth_tensor_prefetch(nullptr, table.get(), &indices, &options, &error), error,
               {GTH_E_AXIS, GTH_OPERAND_OPTIONS, offsetof(gth_options, axis), -1, 2, 2}, "axis");
}

// A prefetch brings rows of a cold file into the page cache, so that a later call requests none.
TEST(FilesPrefetch, LaterGatherRequestsNothing) {
  Table table(4096, GTH_FILES_READ);
  table.in_file(2000).opened();
  table.file(0).forget();
  const std::vector<int64_t> ids = scattered(200, 2000);
  EXPECT_TRUE(table.gathers(ids));
  const int64_t requested = table.stats().requested;
  if (requested == 0) GTEST_SKIP() << "the file system keeps its pages";
  table.file(0).forget();
  const Shape line{200};
  const gth_tensor_desc indices = hostile::describe(GTH_DTYPE_INT64, line, ids.data());
  Error error;
  EXPECT_EQ(gth_tensor_prefetch(nullptr, table.get(), &indices, nullptr, &error), GTH_OK) << error.message;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(table.gathers(ids));
  EXPECT_LT(table.stats().requested - requested, requested / 2);
}

}  // namespace
