#include "files.hpp"

#include <sys/mman.h>

#include <thread>

#include "../../src/core/base/limits.hpp"
#include "processes.hpp"

// Rows of tables in files are those of the files: sizes at every limit, segments, large files, threads and forks.
namespace {

using namespace files;

struct Form {
  int32_t mode;
  int64_t resident;
};
constexpr Form all_forms[] = {{GTH_FILES_READ, 0}, {GTH_FILES_MAP, 0}, {GTH_FILES_MAP, budget}};

// Calls of as many rows as are requested at once, or as pages are loaded at once, and one more or less.
void check_calls_around(int64_t limit, const Form& form, int64_t gap) {
  Table table(100, form.mode, form.resident);
  table.in_file(3 * limit, 77, gap).opened();
  for (const int64_t count : {int64_t{1}, int64_t{2}, limit - 1, limit, limit + 1, 2 * limit, 2 * limit + 1}) {
    table.file(0).forget();
    EXPECT_TRUE(table.gathers(counted(limit / 2, count))) << form.mode << " " << count;
    EXPECT_TRUE(table.gathers(scattered(count, table.rows()), 3)) << form.mode << " " << count;
  }
}

TEST(FilesLimits, CallsAtTheLimitsOfRowsAndPages) {
  for (const int64_t limit : {gather::requested_rows, gather::brought_ranges}) {
    for (const Form& form : all_forms) {
      for (const int64_t gap : {0, 5000})
        check_calls_around(limit, form, gap);  // With gaps, each row has its own pages.
    }
  }
}

// Rows that cross pages and folios of 64 KiB, and that are larger than a part of the budget.
TEST(FilesLimits, RowsOfEachSize) {
  const int64_t part = budget / gather::parts_of_budget, window = 64 << 10;
  for (const Form& form : all_forms) {
    for (const int64_t bytes : {int64_t{1}, int64_t{2}, int64_t{4095}, int64_t{4096}, int64_t{4097}, window - 1, window,
                                window + 1, int64_t{100000}, part - 1, part, part + 1, 2 * part + 3, 2 * budget + 5}) {
      for (const int64_t offset : {0, 1, 4095}) {
        Table table(bytes, form.mode, form.resident);
        table.in_file(3, offset).opened();
        EXPECT_TRUE(table.gathers({2, 0, 1, 2})) << form.mode << " " << bytes << " " << offset;
      }
    }
  }
}

// As many rows as half of the budget holds, if each of them maps a folio of 1 MiB at both ends, and one more or less.
TEST(FilesLimits, GroupsAtTheLimitOfTheBudget) {
  const int64_t folio = 1 << 20, group = budget / 2 / (100 + 2 * folio);
  Table table(100, GTH_FILES_MAP, budget);
  table.in_file(200, 4000, 128 << 10).opened();
  for (int64_t count = 1; count <= 4 * group + 1; ++count) EXPECT_TRUE(table.gathers(counted(count, count))) << count;
  EXPECT_TRUE(table.gathers(scattered(1000, 200)));
  EXPECT_GT(table.stats().releases, 0);
}

// Packed rows are decoded in groups of staged_bytes. In q8_0 with the scale 1, a number is its code.
void check_packed_rows(int64_t blocks, int64_t rows, const Form& form) {
  const int64_t row_bytes = blocks * 34, columns = blocks * 32,
                most = std::max<int64_t>(gather::staged_bytes / row_bytes, 1);
  Bytes bytes(static_cast<size_t>(rows * row_bytes));
  for (int64_t i = 0; i < rows * blocks; ++i) {
    char* const block = bytes.data() + i * 34;
    block[1] = 0x3c;  // 1 in float16
    for (int64_t j = 0; j < 32; ++j) block[2 + j] = static_cast<char>(i * 7 + j);
  }
  const File file;
  file.write(0, bytes);
  gth_codec codec = GTH_CODEC_INIT;
  ASSERT_EQ(gth_codec_named("q8_0", &codec, nullptr), GTH_OK);
  hostile::Tensor tensor;
  Error error;
  ASSERT_EQ(open_floats(file, {rows, columns}, form.mode, form.resident, tensor.out(), &error, &codec), GTH_OK)
      << error.message;
  const gth_tensor_desc table = GTH_TENSOR_DESC_HANDLE(tensor.get());
  for (const int64_t count : {int64_t{1}, most - 1, most, most + 1, 2 * most + 1}) {
    const std::vector<int64_t> ids = scattered(count, rows);
    std::vector<float> out(static_cast<size_t>(count * columns)), expected;
    for (const int64_t id : ids) {
      for (int64_t j = 0; j < columns; ++j) {
        expected.push_back(
            static_cast<signed char>(bytes[static_cast<size_t>(id * row_bytes + j / 32 * 34 + 2 + j % 32)]));
      }
    }
    const Shape line{count}, all{count, columns};
    const gth_tensor_desc indices = hostile::describe(GTH_DTYPE_INT64, line, ids.data());
    const gth_tensor_desc to = hostile::describe(GTH_DTYPE_FLOAT32, all, out.data());
    ASSERT_EQ(gth_gather(nullptr, &table, &indices, &to, nullptr, &error), GTH_OK) << error.message;
    EXPECT_TRUE(out == expected) << form.mode << " " << count;
  }
}

TEST(FilesLimits, PackedRowsAtTheLimitOfStagedBytes) {
  for (const Form& form : all_forms) {
    check_packed_rows(64, 300, form);
    check_packed_rows(gather::staged_bytes / 34 + 1, 4, form);  // One row exceeds the limit.
  }
}

// One tuple without components selects all rows, which are in several segments, and in more pages than are loaded at once.
TEST(FilesSegments, RowsThatSpanSegments) {
  for (const Form& form : all_forms) {
    for (const int64_t bytes : {1, 100, 5000}) {
      Table table(bytes, form.mode, form.resident);
      table.in_file(3, 5).in_memory(2, 1, 3).in_file(1).in_file(gather::brought_ranges + 3, 4096, 9000).opened();
      const Shape none{3, 0}, all{3, table.rows(), bytes};
      const gth_tensor_desc desc = table.desc(), indices = hostile::describe(GTH_DTYPE_INT64, none, &none);
      Bytes out(static_cast<size_t>(3 * table.rows() * bytes), '#');
      const gth_tensor_desc rows = hostile::describe(u8, all, out.data());
      Error error;
      ASSERT_EQ(gth_gather_nd(nullptr, &desc, &indices, &rows, nullptr, &error), GTH_OK) << error.message;
      std::vector<int64_t> ids;
      for (int64_t i = 0; i < 3 * table.rows(); ++i) ids.push_back(i % table.rows());
      EXPECT_TRUE(out == table.expected(ids)) << form.mode << " " << bytes;
    }
  }
}

// A row of a table of rank 1 is one element.
TEST(FilesSegments, TablesOfRankOne) {
  for (const Form& form : all_forms) {
    const File file;
    std::vector<float> values(1000);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) + 0.5f;
    const char* const bytes = reinterpret_cast<const char*>(values.data());
    file.write(3, Bytes(bytes, bytes + 4000));
    gth_segment segments[2] = {GTH_SEGMENT_INIT, GTH_SEGMENT_INIT};
    segments[0].file = segments[1].file = file.descriptor();
    segments[0].flags = segments[1].flags = GTH_SEGMENT_FILE;
    segments[0].rows = 400, segments[0].offset = 3;
    segments[1].rows = 300, segments[1].offset = 3 + 400 * 4, segments[1].row_stride = 8;  // each other element
    const gth_segment* const given[] = {&segments[0], &segments[1]};
    const Shape shape{700}, line{5};
    gth_tensor_desc desc = hostile::describe(GTH_DTYPE_FLOAT32, shape, nullptr);
    gth_files_options options = {sizeof options, form.mode, form.resident};
    hostile::Tensor tensor;
    Error error;
    ASSERT_EQ(gth_tensor_open(nullptr, &desc, 2, given, &options, tensor.out(), &error), GTH_OK) << error.message;
    const int64_t ids[] = {0, 399, 400, 401, 699};
    float out[5] = {};
    const gth_tensor_desc table = GTH_TENSOR_DESC_HANDLE(tensor.get());
    const gth_tensor_desc indices = hostile::describe(GTH_DTYPE_INT64, line, ids),
                          rows = hostile::describe(GTH_DTYPE_FLOAT32, line, out);
    ASSERT_EQ(gth_gather(nullptr, &table, &indices, &rows, nullptr, &error), GTH_OK) << error.message;
    EXPECT_EQ(std::vector<float>(out, out + 5), (std::vector<float>{0.5, 399.5, 400.5, 402.5, 998.5}));
  }
}

TEST(FilesLimits, NumbersOfSegments) {
  for (const Form& form : all_forms) {
    for (int64_t count = gather::few_segments - 1; count <= gather::few_segments + 1; ++count) {
      Table table(7, form.mode, form.resident);
      for (int64_t i = 0; i < count; ++i) table.in_file(1 + i % 3, i, i % 2 * 5);
      table.opened();
      EXPECT_TRUE(table.gathers(counted(0, table.rows()))) << form.mode << " " << count;
    }
  }
}

TEST(FilesSegments, ManySegmentsOfUnequalSize) {
  for (const Form& form : all_forms) {
    Table table(160, form.mode, form.resident);
    for (int64_t i = 0; i < 128; ++i) {
      const int64_t rows = 1 + i * i % 97, offset = i * 37 % 5000, gap = i % 3 * 11;
      i % 5 == 4 ? table.in_memory(rows, offset, gap) : table.in_file(rows, offset, gap);
    }
    table.opened();
    EXPECT_TRUE(table.gathers(counted(0, table.rows())));
    EXPECT_TRUE(table.gathers(scattered(20000, table.rows()), 4));
    EXPECT_GE(table.stats().rows, table.rows());
  }
}

// One table has all shards of one file, and its descriptor may be closed after the call.
TEST(FilesSegments, SegmentsOfOneFileInAnyOrder) {
  for (const Form& form : all_forms) {
    Table table(40, form.mode, form.resident);
    const File file;
    for (const int64_t part : {2, 0, 3, 1}) {
      const int64_t offset = part * 4000;
      file.write(offset, content_of(table.rows(), 100, 40, 0, 0));
      gth_segment segment = table.segment_of(100, offset, 0);
      part == 3 ? segment.path = file.path() : nullptr;
      if (part != 3) segment.file = file.descriptor(), segment.flags = GTH_SEGMENT_FILE;
      table.add(segment);
    }
    table.opened();
    EXPECT_TRUE(table.gathers(scattered(1000, 400)));
  }
}

// The library uses no descriptor of the caller. The field of a segment in memory has no meaning.
TEST(FilesSegments, DescriptorsOfTheCaller) {
  for (const Form& form : all_forms) {
    Table table(40, form.mode, form.resident);
    const File file;
    file.write(0, content_of(0, 20, 40, 0, 0));
    const int given = dup(file.descriptor());
    const Bytes memory = content_of(20, 10, 40, 0, 0);
    gth_segment of_file = table.segment_of(10, 0, 0), of_memory = of_file;
    of_file.file = of_memory.file = given;
    of_file.flags = GTH_SEGMENT_FILE;
    of_memory.data = memory.data();
    table.add(of_file);
    of_file.offset = 400;
    table.add(of_file).add(of_memory);
    of_file.offset = 0;
    table.add(of_file).opened();
    EXPECT_EQ(close(given), 0);
    const int reused = dup(file.descriptor());
    Bytes out(6 * 40, '#');
    Error error;
    EXPECT_EQ(table.gather_into({0, 19, 20, 29, 30, 39}, out.data(), &error), GTH_OK) << error.message;
    EXPECT_TRUE(out == table.expected({0, 19, 20, 29, 0, 9}));
    table.release();
    EXPECT_EQ(close(reused), 0) << "the library closed it";
  }
}

TEST(FilesLarge, SparseFileOf20GiB) {
  constexpr int64_t bytes = 160, rows = (int64_t{20} << 30) / bytes;
  const int64_t marked[] = {0, 1, (int64_t{1} << 32) / bytes, (int64_t{1} << 34) / bytes + 1, rows - 2, rows - 1};
  const File file;
  if (!file.resize(rows * bytes)) GTEST_SKIP() << "the file system has no sparse files";
  for (int64_t row : marked) file.write(row * bytes, content_of(row, 1, bytes, 0, 0));
  for (const Form& form : all_forms) {
    Table table(bytes, form.mode, form.resident);
    gth_segment segment = table.segment_of(rows, 0, 0);
    segment.path = file.path();
    table.add(segment).opened();
    EXPECT_TRUE(table.gathers(std::vector<int64_t>(std::begin(marked), std::end(marked)))) << form.mode;
    Bytes out(2 * bytes, '#');
    Error error;
    EXPECT_EQ(table.gather_into({rows / 2, rows - 5}, out.data(), &error), GTH_OK) << error.message;
    EXPECT_TRUE(out == Bytes(2 * bytes)) << "holes are zeros";
  }
}

TEST(FilesLarge, ManyRowsWithDuplicatesEqualTheFile) {
  constexpr int64_t rows = 60000, count = GATHER_SANITIZED ? 28000 : 280000;
  for (const Form& form : all_forms) {
    for (const int32_t threads : {1, 4}) {
      Table table(264, form.mode, form.resident);
      table.in_file(rows / 2, 13).in_file(rows / 2, 4096, 24).opened();
      EXPECT_TRUE(table.gathers(scattered(count, rows), threads)) << form.mode << " " << threads;
    }
  }
}

TEST(FilesThreads, ThreadsShareOneTable) {
  for (const Form& form : all_forms) {
    Table table(1000, form.mode, form.resident);
    table.in_file(3000, 1).in_memory(200).in_file(4000, 10, 3000).opened();
    std::vector<std::thread> threads;
    std::atomic<int32_t> good{0};
    for (int64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        bool same = true;
        for (int64_t i = 0; i < 20; ++i) {
          std::vector<int64_t> ids = scattered(300 + 50 * t, table.rows());
          for (int64_t& id : ids) id = (id + t * 977 + i * 131) % table.rows();
          same = same && table.gathers(ids);
        }
        good += same;
      });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(good, 4) << form.mode;
  }
}

TEST(FilesForks, M10_ChildReadsTheTable) {
  for (const Form& form : all_forms) {
    Table table(1000, form.mode, form.resident);
    table.in_file(3000).opened();
    EXPECT_TRUE(table.gathers(scattered(50, 3000)));
    const auto read = [&] { return table.gathers(scattered(2000, 3000)) ? 0 : 1; };
    EXPECT_EQ(hostile::wait_for(hostile::start_child(read), hostile::patience), 0) << form.mode;
    EXPECT_TRUE(table.gathers(scattered(500, 3000)));
  }
}

#if !GATHER_TSAN  // does not support threads of children

// Another thread is inside a call at the time of the fork.
TEST(FilesForks, M10_ChildReadsATableInUse) {
  for (const Form& form : all_forms) {
    Table table(5000, form.mode, form.resident);
    table.in_file(4000).opened();
    std::atomic<bool> ends{false};
    std::thread other([&] {
      while (!ends) EXPECT_TRUE(table.gathers(scattered(3000, 4000)));
    });
    const auto read = [&] { return table.gathers(scattered(500, 4000)) ? 0 : 1; };
    for (int32_t i = 0; i < 10; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      EXPECT_EQ(hostile::wait_for(hostile::start_child(read), 10), 0) << form.mode;
      if (HasFailure()) break;
    }
    ends = true;
    other.join();
  }
}

#endif

// A file stays readable after it has been removed or replaced.
TEST(FilesNames, M7_RemovedAndReplacedFilesStayReadable) {
  for (const Form& form : all_forms) {
    Table table(500, form.mode, form.resident);
    table.in_file(1000).in_file(1000).opened();
    const File other;
    other.write(0, Bytes(500000, 'x'));
    ASSERT_EQ(unlink(table.file(0).path()), 0);
    ASSERT_EQ(rename(other.path(), table.file(1).path()), 0);
    EXPECT_TRUE(table.gathers(scattered(500, 2000)));
  }
}

// A name is UTF-8, and the library keeps none of the caller's structs.
TEST(FilesNames, PathsAreCopied) {
  const std::string folder = testing::TempDir() + "gather_ρ_ü_XXXXXX";
  std::string path = folder;
  const int file = mkstemp(path.data());
  ASSERT_GE(file, 0);
  const Bytes bytes = content_of(0, 10, 30, 0, 0);
  ASSERT_EQ(write(file, bytes.data(), bytes.size()), 300);
  close(file);
  for (const int32_t mode : modes) {
    Table table(30, mode);
    std::string given = path;
    gth_segment segment = table.segment_of(10, 0, 0);
    segment.path = given.c_str();
    table.add(segment).opened();
    given.assign(given.size(), '?');
    table.segment(0) = gth_segment{};
    EXPECT_TRUE(table.gathers(counted(0, 10)));
  }
  unlink(path.c_str());
}

}  // namespace
