#include <signal.h>
#include <sys/stat.h>

#include "files.hpp"
#include "processes.hpp"

// Files that cannot be opened or read: the status, its fields, and the output after it.
namespace {

using namespace files;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32;

// Compares all fields of an error of a file.
void expect_io(int32_t status, const Error& error, int32_t native, int32_t segment, int64_t position, int64_t value,
               int64_t limit, const char* what = "") {
  EXPECT_STREQ(gth_status_name(status), "GTH_E_IO") << what << ": " << error.message;
  EXPECT_EQ(error.status, GTH_E_IO) << what;
  EXPECT_EQ(error.operand, GTH_OPERAND_FILE) << what;
  EXPECT_EQ(error.component, segment) << what;
  EXPECT_EQ(error.native, native) << what;
  EXPECT_EQ(error.position, position) << what;
  EXPECT_EQ(error.value, value) << what;
  EXPECT_EQ(error.limit, limit) << what;
  EXPECT_EQ(error.flags, 0u) << what;
}

// ---- Opening

TEST(FilesOpen, M5_NamesThatCannotBeOpenedAreRejected) {
  const std::string base = testing::TempDir() + "gather_names_" + std::to_string(getpid());
  const std::string folder = base + "_folder", pipe = base + "_pipe", closed = base + "_closed";
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int file = open(closed.c_str(), O_CREAT | O_RDWR, 0);
  ASSERT_GE(file, 0);
  ASSERT_EQ(ftruncate(file, 1000), 0);
  const struct {
    std::string path;
    int32_t native;
  } names[] = {{folder, EISDIR}, {pipe, EINVAL},           {base + "_missing", ENOENT},
               {"", ENOENT},     {closed + "/x", ENOTDIR}, {"/dev/null", EINVAL}};
  for (const int32_t mode : modes) {
    for (const auto& each : names) {
      Table table(100, mode);
      gth_segment segment = table.in_file(3).segment_of(10, 0, 0);
      segment.path = each.path.c_str();
      Error error;
      expect_io(table.add(segment).open(&error), error, each.native, 1, -1, 0, 0, each.path.c_str());
      EXPECT_EQ(table.get(), nullptr);
    }
    if (geteuid() == 0) continue;  // The superuser may read every file.
    Table table(100, mode);
    gth_segment segment = table.segment_of(10, 0, 0);
    segment.path = closed.c_str();
    Error error;
    expect_io(table.add(segment).open(&error), error, EACCES, 0, -1, 0, 0, "no permission");
  }
  close(file);
  unlink(closed.c_str());
  unlink(pipe.c_str());
  rmdir(folder.c_str());
}

// A process without the rights of the superuser.
TEST(FilesOpen, M5_FilesWithoutPermissionAreRejected) {
  const File file;
  ASSERT_TRUE(file.resize(1000));
  ASSERT_EQ(chmod(file.path(), 0), 0);
  const auto open_it = [&] {
    if (geteuid() == 0 && setuid(65534) != 0) return hostile::skipped;
    Table table(100);
    gth_segment segment = table.segment_of(10, 0, 0);
    segment.path = file.path();
    Error error;
    if (table.add(segment).open(&error) != GTH_E_IO || error.native != EACCES || error.component != 0) return 1;
    // The caller's descriptor still reads the file. A program that the process starts gets no duplicate of it.
    Table given(100);
    segment.path = nullptr;
    segment.file = file.descriptor(), segment.flags = GTH_SEGMENT_FILE;
    const int lowest = dup(file.descriptor());
    close(lowest);
    if (given.add(segment).open(&error) != GTH_OK) return 2;
    if ((fcntl(lowest, F_GETFD) & FD_CLOEXEC) == 0) return 3;
    Bytes out(200, '#');
    return given.gather_into({0, 9}, out.data(), &error) == GTH_OK && out == Bytes(200) ? 0 : 4;
  };
  const int code = hostile::wait_for(hostile::start_child(open_it), hostile::patience);
  if (code == hostile::skipped) GTEST_SKIP() << "the process cannot give up its rights";
  EXPECT_EQ(code, 0);
}

TEST(FilesOpen, M5_BadDescriptorsAreRejected) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const File file;
  ASSERT_TRUE(file.resize(1000));
  const int only_writes = open(file.path(), O_WRONLY | O_CLOEXEC);
  const struct {
    int64_t file;
    int32_t native;
  } all[] = {{-1, EBADF},      {-2, EBADF},       {INT64_MAX, EBADF},  {int64_t{1} << 32, EBADF},
             {1 << 20, EBADF}, {ends[0], EINVAL}, {only_writes, EBADF}};
  for (const int32_t mode : modes) {
    for (const auto& each : all) {
      Table table(100, mode);
      gth_segment segment = table.segment_of(10, 0, 0);
      segment.file = each.file, segment.flags = GTH_SEGMENT_FILE;
      Error error;
      expect_io(table.add(segment).open(&error), error, each.native, 0, -1, 0, 0,
                ("descriptor " + std::to_string(each.file)).c_str());
    }
  }
  close(only_writes);
  close(ends[0]);
  close(ends[1]);
}

// The file must have all rows. The value and limit are those of the rows of the segment.
TEST(FilesOpen, M6_ShortFilesAreRejected) {
  for (const int32_t mode : modes) {
    for (const int64_t gap : {0, 7}) {
      Table table(100, mode);
      table.in_file(4).in_file(10, 33, gap);
      const int64_t bytes = 10 * (100 + gap) - gap;
      ASSERT_TRUE(table.file(1).resize(33 + bytes - 1));
      Error error;
      expect_io(table.open(&error), error, 0, 1, -1, 33, bytes);
      ASSERT_TRUE(table.file(1).resize(33 + bytes));
      EXPECT_EQ(table.open(&error), GTH_OK) << error.message;
      EXPECT_TRUE(table.gathers(counted(0, 13)));
    }
    Table empty(100, mode);
    empty.in_file(1, 10);
    ASSERT_TRUE(empty.file(0).resize(0));
    Error error;
    expect_io(empty.open(&error), error, 0, 0, -1, 10, 100, "empty file");
  }
}

// ---- Reading

// A file becomes shorter before any of its rows has been read.
TEST(FilesRead, M6_TruncatedFilesAreReported) {
  for (const int32_t mode : modes) {
    for (const int64_t resident : {int64_t{0}, mode == GTH_FILES_MAP ? budget : 0}) {
      for (const int32_t threads : {1, 3}) {
        Table table(5000, mode, resident);
        table.in_file(100).in_file(1000, 123, 10).opened();
        ASSERT_TRUE(table.file(1).resize(123 + 500 * 5010));  // The rows 600 to 1099 are lost.
        std::vector<int64_t> ids;
        for (int64_t i = 0; i < 1500; ++i) ids.push_back(i % 500);
        ids[700] = ids[900] = 605, ids[650] = 599;
        Bytes out(ids.size() * 5000, '#');
        Error error;
        const int32_t status = table.gather_into(ids, out.data(), &error, threads);
        expect_io(status, error, 0, 1, 700, 123 + 505 * 5010, 5000);
        const Bytes expected = table.expected(ids);
        for (size_t i = 0; i < ids.size(); ++i) {
          if (ids[i] == 605) continue;
          const char *const row = out.data() + i * 5000, *const good = expected.data() + i * 5000;
          const bool is_old = std::count(row, row + 5000, '#') == 5000;
          if (mode == GTH_FILES_MAP && resident == 0) {
            ASSERT_TRUE(is_old) << i;
          } else {
            ASSERT_TRUE(is_old || std::equal(row, row + 5000, good)) << i;
          }
        }
        EXPECT_TRUE(table.gathers(counted(0, 600))) << "other rows stay readable";
      }
    }
  }
}

// A part of the row is left. A second call finds the same.
TEST(FilesRead, M6_PartsOfRowsAreReported) {
  for (const int32_t mode : modes) {
    for (const int64_t resident : {int64_t{0}, mode == GTH_FILES_MAP ? budget : 0}) {
      Table table(9000, mode, resident);
      table.in_file(3).in_file(40, 123).opened();
      ASSERT_TRUE(table.file(1).resize(123 + 20 * 9000 + 10));
      for (int32_t i = 0; i < 2; ++i) {
        Bytes out(3 * 9000, '#');
        Error error;
        expect_io(table.gather_into({4, 23, 5}, out.data(), &error), error, 0, 1, 1, 123 + 20 * 9000, 9000);
      }
      EXPECT_TRUE(table.gathers({22, 4, 5}));
    }
  }
}

// The lost row is at a border of what is requested at once. Rows before and behind it are read.
TEST(FilesRead, M6_LostRowAtTheBordersOfRequests) {
  for (const int32_t mode : modes) {
    Table table(200, mode);
    table.in_file(10000).opened();
    ASSERT_TRUE(table.file(0).resize(9999 * 200 + 199));
    for (const int64_t n : {1, 2, 256, 257, 600}) {
      for (const int64_t at : {int64_t{0}, n / 2, n - 1, int64_t{255}, int64_t{256}}) {
        if (at >= n) continue;
        std::vector<int64_t> ids = counted(0, n);
        ids[static_cast<size_t>(at)] = 9999;
        Bytes out(ids.size() * 200, '#');
        Error error;
        const int32_t status = table.gather_into(ids, out.data(), &error);
        // The last page of a map has bytes of the file, so the whole page is readable.
        if (mode == GTH_FILES_MAP) {
          EXPECT_EQ(status, GTH_OK) << n << " " << at;
          continue;
        }
        expect_io(status, error, 0, 0, at, 9999 * 200, 200);
      }
    }
  }
}

// A gather along another axis, one of tuples, and one of elements report the first tuple of the lost row.
TEST(FilesRead, M6_PositionsOfEachOperation) {
  for (const int32_t mode : modes) {
    const File file;
    constexpr int64_t rows = 8, columns = 4096;
    ASSERT_TRUE(file.resize(rows * columns * 4));
    hostile::Tensor tensor;
    Error error;
    ASSERT_EQ(open_floats(file, {rows, columns}, mode, 0, tensor.out(), &error), GTH_OK) << error.message;
    ASSERT_TRUE(file.resize(5 * columns * 4));  // Rows 5 to 7 are lost.
    const gth_tensor_desc table = GTH_TENSOR_DESC_HANDLE(tensor.get());
    const auto run = [&](const hostile::Operation& op, const hostile::Array& indices, const Shape& out,
                         const gth_options& with) {
      const hostile::Array rows_of(f32, out);
      const gth_tensor_desc i = indices.desc(), o = rows_of.desc();
      return op.named(nullptr, &table, &i, &o, &with, &error);
    };
    gth_options second = hostile::with_axis(1);
    second.threads = 1;  // Of several lost rows, that of any thread may be reported.
    gth_options one = GTH_OPTIONS_INIT;
    one.threads = 1;
    const hostile::Array column = hostile::indices64({3}, {9, 4000, 7}), all = hostile::indices64({1}, {4});
    expect_io(run(hostile::g, column, {rows, 3}, second), error, 0, 0, 0, 5 * columns * 4 + 36, 4, "axis 1");
    const hostile::Array tuples = hostile::indices64({4, 2}, {1, 2, 4, 4095, 6, 30, 5, 1});
    expect_io(run(hostile::nd, tuples, {4}, one), error, 0, 0, 2, 6 * columns * 4 + 120, 4, "tuples");
    std::vector<int64_t> values(static_cast<size_t>(2 * columns), 3);
    values[static_cast<size_t>(columns) + 11] = 6;
    const hostile::Array elements(GTH_DTYPE_INT64, {2, columns}, values);
    gth_options prefix = hostile::with_axis(0);
    prefix.extents = GTH_EXTENTS_PREFIX;
    prefix.threads = 1;
    expect_io(run(calls::gather_elements, elements, {2, columns}, prefix), error, 0, 0, columns + 11,
              6 * columns * 4 + 44, 4, "elements");
    const hostile::Array batches = hostile::indices64({rows, 2}, std::vector<int64_t>(2 * rows, 70));
    gth_options batch = second;
    batch.batch_dims = 1;
    expect_io(run(hostile::g, batches, {rows, 2}, batch), error, 0, 0, 10, 5 * columns * 4 + 280, 4, "batches");
    // ONNX Runtime divides the tuples evenly between the batches.
    const hostile::Array divided = hostile::indices64({2 * rows, 1}, std::vector<int64_t>(2 * rows, 70));
    gth_options ort = one;
    ort.batch_dims = 1;
    ort.profile = GTH_PROFILE_ORT;
    expect_io(run(hostile::nd, divided, {2 * rows}, ort), error, 0, 0, 10, 5 * columns * 4 + 280, 4, "divided");
    EXPECT_EQ(run(hostile::g, all, {1, columns}, one), GTH_OK) << error.message;
  }
}

// Bags report the first id of the lost row, and whole pools are old or right.
TEST(FilesRead, M6_BagsReportTheId) {
  for (const int32_t mode : modes) {
    for (const int64_t count : {3, 300, 5000}) {
      const File file;
      constexpr int64_t rows = 100, columns = 1024;  // A row is pooled at once.
      ASSERT_TRUE(file.resize(rows * columns * 4));
      hostile::Tensor tensor;
      Error error;
      ASSERT_EQ(open_floats(file, {rows, columns}, mode, 0, tensor.out(), &error), GTH_OK) << error.message;
      ASSERT_TRUE(file.resize(90 * columns * 4));
      std::vector<int64_t> ids(static_cast<size_t>(count));
      for (int64_t i = 0; i < count; ++i) ids[static_cast<size_t>(i)] = i % 90;
      ids[static_cast<size_t>(count) - 1] = ids[static_cast<size_t>(count) - 2] = 93;
      const hostile::Array indices = hostile::indices64({count}, ids), offsets = hostile::indices64({3}, {0, 1, count});
      const hostile::Array out(f32, {2, columns}, std::vector<float>(2 * columns, 7));
      const gth_tensor_desc table = GTH_TENSOR_DESC_HANDLE(tensor.get()), i = indices.desc(), b = offsets.desc(),
                            o = out.desc();
      const int32_t status = gth_gather_bags(nullptr, &table, &i, &b, nullptr, &o, nullptr, &error);
      expect_io(status, error, 0, 0, count - 2, 93 * columns * 4, columns * 4);
      const Bytes found = out.bytes();
      const auto* const pools = reinterpret_cast<const float*>(found.data());
      for (int64_t j = 0; j < columns; ++j) {
        ASSERT_TRUE(pools[j] == 7 || (mode == GTH_FILES_READ && pools[j] == 0));
        ASSERT_EQ(pools[columns + j], 7);
      }
    }
  }
}

// Rows of invalid tuples are filled after all reads. A lost row leaves the others old or right, and the fill too.
TEST(FilesRead, M6_FillsComeAfterTheReads) {
  for (const int32_t mode : modes) {
    Table table(4096, mode);
    table.in_file(100).opened();
    ASSERT_TRUE(table.file(0).resize(50 * 4096));
    const std::vector<int64_t> ids = {-1, 3, 200, 60, -5, 4};
    Bytes out(ids.size() * 4096, '#');
    const gth_tensor_desc params = table.desc();
    const Shape line{6}, all{6, 4096};
    const gth_tensor_desc indices = hostile::describe(GTH_DTYPE_INT64, line, ids.data()),
                          rows = hostile::describe(u8, all, out.data());
    const gth_options options = hostile::with_bounds(GTH_BOUNDS_FILL);
    Error error;
    expect_io(gth_gather(nullptr, &params, &indices, &rows, &options, &error), error, 0, 0, 3, 60 * 4096, 4096);
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == 60) continue;
      const char* const row = out.data() + i * 4096;
      const bool is_old = std::count(row, row + 4096, '#') == 4096, is_filled = std::count(row, row + 4096, 0) == 4096;
      Bytes good(4096);
      if (ids[i] >= 0 && ids[i] < 100) write_row(ids[i], 4096, good.data());
      const bool is_right = ids[i] >= 0 && ids[i] < 100 ? std::equal(row, row + 4096, good.data()) : is_filled;
      EXPECT_TRUE(is_old || (mode == GTH_FILES_READ && is_right)) << mode << " " << i;
    }
  }
}

// Mode read reports rows that an earlier call has read.
TEST(FilesRead, M6_TruncationAfterARead) {
  Table table(5000, GTH_FILES_READ);
  table.in_file(1000).opened();
  EXPECT_TRUE(table.gathers(counted(0, 1000)));
  ASSERT_TRUE(table.file(0).resize(500 * 5000 + 17));
  Bytes out(2 * 5000, '#');
  Error error;
  expect_io(table.gather_into({3, 500}, out.data(), &error), error, 0, 0, 1, 500 * 5000, 5000);
  expect_io(table.gather_into({3, 999}, out.data(), &error), error, 0, 0, 1, 999 * 5000, 5000);
  EXPECT_TRUE(table.gathers({3, 499}));
}

// Mode map raises SIGBUS for a page that an earlier call has read, as the header states.
TEST(FilesRead, M6_TruncationAfterAReadOfAMapRaisesSigbus) {
  Table table(4096, GTH_FILES_MAP);
  table.in_file(1000).opened();
  EXPECT_TRUE(table.gathers({998}));
  ASSERT_TRUE(table.file(0).resize(500 * 4096));
  const auto read = [&] {
    signal(SIGBUS, SIG_DFL);
    Bytes out(4096);
    return table.gather_into({998}, out.data(), nullptr);
  };
  EXPECT_EQ(hostile::wait_for(hostile::start_child(read), hostile::patience), 128 + SIGBUS);
  Bytes out(4096, '#');
  Error error;
  expect_io(table.gather_into({999}, out.data(), &error), error, 0, 0, 0, 999 * 4096, 4096, "an unseen page");
}

// With a budget, pages that left the memory are loaded again, and then reported.
TEST(FilesRead, M6_TruncationAfterPagesHaveLeft) {
  Table table(4096, GTH_FILES_MAP, budget);
  table.in_file(5000).opened();
  EXPECT_TRUE(table.gathers({4998}));
  EXPECT_TRUE(table.gathers(counted(0, 4000)));
  EXPECT_GT(table.stats().releases, 0);
  ASSERT_TRUE(table.file(0).resize(4500 * 4096));
  Bytes out(4096, '#');
  Error error;
  expect_io(table.gather_into({4998}, out.data(), &error), error, 0, 0, 0, 4998 * 4096, 4096);
}

// The same for the last of 65 pages, which a few bytes of the last row are in.
TEST(FilesRead, M6_TruncationAfterTheLastPageHasLeft) {
  Table table(4096, GTH_FILES_MAP, budget);
  table.in_file(64, 100).in_file(5000).opened();
  EXPECT_TRUE(table.gathers({63}));
  EXPECT_TRUE(table.gathers(counted(64, 4000)));
  EXPECT_GT(table.stats().releases, 0);
  ASSERT_TRUE(table.file(0).resize(64 * 4096));
  Bytes out(4096, '#');
  Error error;
  expect_io(table.gather_into({63}, out.data(), &error), error, 0, 0, 0, 100 + 63 * 4096, 4096);
}

// ---- Outputs

// An output that shares memory with a segment is rejected, and nothing is written.
TEST(FilesOutputs, M3_OutputsThatOverlapSegmentsAreRejected) {
  for (const int32_t mode : modes) {
    Table table(100, mode);
    table.in_file(5).in_memory(10, 200, 3).opened();
    const Bytes before(table.memory(0), table.memory(0) + 200 + 9 * 103 + 100);
    char* const first = table.memory(0) + 200;
    Error error;
    for (char* const at : {first, first - 199, first + 9 * 103 - 100, first + 500}) {
      EXPECT_EQ(table.gather_into({0, 1}, at, &error), GTH_E_ALIAS) << at - first;
      EXPECT_EQ(error.operand, GTH_OPERAND_OUT);
      EXPECT_EQ(error.value, GTH_OPERAND_FILE);
    }
    EXPECT_TRUE(std::equal(before.begin(), before.end(), table.memory(0)));
    // An output that ends where the first row begins, and one that begins behind the last row.
    EXPECT_EQ(table.gather_into({0, 1}, first - 200, &error), GTH_OK) << error.message;
    Bytes room(3 * 100, '#');
    gth_segment segment = table.segment_of(1, 0, 50);
    segment.data = room.data();
    Table one(100, mode);
    one.add(segment).opened();
    const gth_tensor_desc params = one.desc();
    const Shape line{1}, all{1, 100};
    const int64_t zero = 0;
    const gth_tensor_desc indices = hostile::describe(GTH_DTYPE_INT64, line, &zero);
    gth_tensor_desc behind = hostile::describe(u8, all, room.data());
    behind.offset = 100;
    EXPECT_EQ(gth_gather(nullptr, &params, &indices, &behind, nullptr, &error), GTH_OK) << error.message;
    EXPECT_EQ(one.gather_into({0}, room.data() + 100, &error), GTH_OK) << error.message;
    EXPECT_EQ(one.gather_into({0}, room.data() + 99, &error), GTH_E_ALIAS);
  }
}

}  // namespace
