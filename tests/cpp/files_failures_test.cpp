#include <dirent.h>

#include <functional>

#include "../../src/core/os/testing.hpp"
#include "files.hpp"
#include "samples.hpp"

// Each call of the system for a file fails once, and then together with all later ones. So does each allocation. No
// descriptor may remain, and the tables must stay usable.
namespace {

using namespace files;
using hostile::Array, hostile::Tensor;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32;

int64_t count_entries(const char* folder) {
  int64_t count = 0;
  DIR* const directory = opendir(folder);
  while (directory && readdir(directory)) ++count;
  if (directory) closedir(directory);
  return count;
}

// Packed rows of 64 codes whose scales and zero points are operands. All of them are in files.
class Packed {
 public:
  explicit Packed(int32_t mode) : options_{sizeof(gth_files_options), mode, 0} {
    codec_.code = GTH_CODE_UINT8;
    codec_.scale_place = codec_.zero_place = GTH_PLACE_OPERAND;
    for (size_t i = 0; i < 3; ++i) add(i);
    open(2, &column_, nullptr);
    open(1, &column_, nullptr);
    scales_ = GTH_TENSOR_DESC_HANDLE(tensors_[1].get());
    zeros_ = GTH_TENSOR_DESC_HANDLE(tensors_[2].get());
    codec_.scales = &scales_;
    codec_.zeros = &zeros_;
    open(0, &shape_, &codec_);
  }

  const gth_tensor* get() const { return tensors_[0].get(); }

  static constexpr int64_t rows = 300, values = 64;
  // Returns number j of a row, as the codec defines it.
  static float number(int64_t row, int64_t j) {
    return static_cast<float>(static_cast<uint8_t>(byte_at(row, j)) - row % 7) * (static_cast<float>(row % 5) + 0.5f);
  }

 private:
  // Writes codes, scales or zero points.
  void add(size_t part) {
    Bytes bytes(static_cast<size_t>(rows * (part == 0 ? values : 4)));
    for (int64_t i = 0; i < rows; ++i) {
      const float scale = static_cast<float>(i % 5) + 0.5f, zero = static_cast<float>(i % 7);
      if (part == 0) write_row(i, values, bytes.data() + i * values);
      if (part > 0) std::memcpy(bytes.data() + i * 4, part == 1 ? &scale : &zero, 4);
    }
    files_[part].write(0, bytes);
  }
  void open(size_t part, const Shape* shape, const gth_codec* codec) {
    gth_segment segment = GTH_SEGMENT_INIT;
    segment.path = files_[part].path();
    segment.rows = rows;
    const gth_segment* const given[] = {&segment};
    gth_tensor_desc desc = hostile::describe(f32, *shape, nullptr);
    desc.codec = codec;
    Error error;
    EXPECT_EQ(gth_tensor_open(nullptr, &desc, 1, given, &options_, tensors_[part].out(), &error), GTH_OK)
        << error.message;
  }

  const gth_files_options options_;
  gth_codec codec_ = GTH_CODEC_INIT;
  gth_tensor_desc scales_, zeros_;
  const Shape shape_{rows, values}, column_{rows, 1};
  File files_[3];
  Tensor tensors_[3];
};

// Returns the number of the call that fails next. Calls of one kind follow each other, so not all of them need to fail.
int64_t next(int64_t n) { return n + (n < 20 ? 1 : 41); }

struct Form {
  int32_t mode;
  int64_t resident;
};
constexpr Form all_forms[] = {{GTH_FILES_READ, 0}, {GTH_FILES_MAP, 0}, {GTH_FILES_MAP, budget}};

class FilesFailures : public ::testing::Test {
 protected:
  void SetUp() override { descriptors_ = count_entries("/proc/self/fd"); }
  void TearDown() override {
    gth_testing_fail_file(0, 0, 0);
    gth_testing_fail_allocation(0, 0);
    EXPECT_EQ(count_entries("/proc/self/fd"), descriptors_) << "a descriptor remains";
  }

  // Makes each call for a file fail. `call` returns a status. On success, `check` is true for its result. Returns the
  // number of such calls.
  int64_t expect_survives(const char* what, int32_t number, int32_t sticky,
                          const std::function<int32_t(gth_error*)>& call, const std::function<bool()>& check) {
    for (int64_t n = 1;; n = next(n)) {
      Error error;
      gth_testing_fail_file(n, number, sticky);
      const int32_t status = call(&error);
      const int64_t needed = gth_testing_file_calls();
      gth_testing_fail_file(0, 0, 0);
      if (status == GTH_OK) {
        EXPECT_TRUE(check()) << what << ", call " << n << " with " << number;
        if (needed < n) return needed;
      } else {
        EXPECT_STREQ(gth_status_name(status), "GTH_E_IO") << what << ", call " << n << ": " << error.message;
        EXPECT_EQ(error.native, number) << what;
        EXPECT_EQ(error.operand, GTH_OPERAND_FILE) << what;
      }
      if (n > 20000 || HasFailure()) return ADD_FAILURE() << what << " with " << number, needed;
    }
  }

 private:
  int64_t descriptors_ = 0;
};

TEST_F(FilesFailures, M8_OpenReportsEachError) {
  for (const Form& form : all_forms) {
    Table table(100, form.mode, form.resident);
    table.in_file(10).in_memory(3).in_file(20, 5);
    const auto open = [&](gth_error* error) {
      table.release();
      return table.open(error);
    };
    const auto check = [&] { return table.gathers({0, 11, 15, 32}); };
    for (const int32_t sticky : {0, 1}) {
      const int64_t calls = expect_survives("open", EIO, sticky, open, check);
      EXPECT_EQ(calls, form.mode == GTH_FILES_MAP ? 6 : 4);
    }
  }
}

// An error is reported, or the call reads the rows in another way.
TEST_F(FilesFailures, M8_GathersReportEachError) {
  for (const Form& form : all_forms) {
    for (const int32_t sticky : {0, 1}) {
      for (const int32_t number : {EIO, ENOMEM}) {
        std::unique_ptr<Table> table;
        Bytes out;
        const std::vector<int64_t> ids = scattered(600, 630);
        for (int64_t n = 1;; n = next(n)) {
          table = std::make_unique<Table>(200, form.mode, form.resident);
          table->in_file(300).in_memory(30).in_file(300, 5, 100).opened();
          out.assign(600 * 200, '#');
          Error error;
          gth_testing_fail_file(n, number, sticky);
          const int32_t status = table->gather_into(ids, out.data(), &error);
          const int64_t needed = gth_testing_file_calls();
          gth_testing_fail_file(0, 0, 0);
          if (status == GTH_OK) {
            EXPECT_TRUE(out == table->expected(ids));
            if (needed < n) break;
            continue;
          }
          EXPECT_STREQ(gth_status_name(status), "GTH_E_IO") << error.message;
          EXPECT_EQ(error.native, number);
          ASSERT_GE(error.position, 0);
          ASSERT_LT(error.position, 600);
          const int64_t row = ids[static_cast<size_t>(error.position)];
          EXPECT_EQ(error.component, row < 300 ? 0 : 2);
          EXPECT_EQ(error.value, row < 300 ? row * 200 : 5 + (row - 330) * 300);
          EXPECT_EQ(error.limit, 200);
          const bool is_unchanged = out == Bytes(out.size(), '#');
          EXPECT_TRUE(is_unchanged || form.mode == GTH_FILES_READ || form.resident > 0);
          EXPECT_TRUE(table->gathers(ids)) << "the table stays usable";
          if (HasFailure() || n > 5000) return ADD_FAILURE() << "call " << n;
        }
      }
    }
  }
}

// The system reports a page that it cannot load as a bad address.
TEST_F(FilesFailures, M8_BadAddressesOfMapsAreErrorsOfTheDisk) {
  Table table(200, GTH_FILES_MAP);
  table.in_file(300).opened();
  Bytes out(200, '#');
  Error error;
  gth_testing_fail_file(1, EFAULT, 0);
  EXPECT_EQ(table.gather_into({7}, out.data(), &error), GTH_E_IO);
  gth_testing_fail_file(0, 0, 0);
  EXPECT_EQ(error.native, EIO);
}

// Successive segments of one file share a descriptor, which programs that the process starts do not get.
TEST_F(FilesFailures, M8_DescriptorsAreShared) {
  const File file;
  file.write(0, content_of(0, 40, 50, 0, 0));
  for (const bool by_path : {false, true}) {
    Table table(50);
    for (int64_t i = 0; i < 40; ++i) {
      gth_segment segment = table.segment_of(1, i * 50, 0);
      by_path ? segment.path = file.path() : nullptr;
      if (!by_path) segment.file = file.descriptor(), segment.flags = GTH_SEGMENT_FILE;
      table.add(segment);
    }
    const int lowest = dup(file.descriptor());
    close(lowest);
    const int64_t before = count_entries("/proc/self/fd");
    table.opened();
    EXPECT_EQ(count_entries("/proc/self/fd"), before + 1);
    EXPECT_TRUE(fcntl(lowest, F_GETFD) & FD_CLOEXEC);
    EXPECT_TRUE(table.gathers(counted(0, 40)));
  }
}

// Rows that are not in memory are requested and counted.
TEST_F(FilesFailures, M8_RequestsAreCounted) {
  Table table(200, GTH_FILES_READ);
  table.in_file(300).in_memory(10).opened();
  std::vector<int64_t> ids = counted(0, 250);
  ids.push_back(305);
  gth_testing_fail_file(1, 0, 1);  // The system returns a part of each row.
  EXPECT_TRUE(table.gathers(ids, 1));
  gth_testing_fail_file(0, 0, 0);
  EXPECT_EQ(table.stats().requested, 250);
}

// An interrupted call is repeated, and a short one is continued.
TEST_F(FilesFailures, M8_InterruptedAndShortReadsAreContinued) {
  Table table(200, GTH_FILES_READ);
  table.in_file(300).in_file(300, 5, 100).opened();
  const std::vector<int64_t> ids = scattered(300, 600);
  for (const auto& [number, sticky] : {std::pair<int32_t, int32_t>{EINTR, 0}, {0, 0}, {0, 1}}) {
    for (int64_t n = 1;; n = next(n)) {
      gth_testing_fail_file(n, number, sticky);
      EXPECT_TRUE(table.gathers(ids)) << n << " " << number;
      const int64_t needed = gth_testing_file_calls();
      gth_testing_fail_file(0, 0, 0);
      if (needed < n || HasFailure()) break;
    }
  }
  gth_testing_fail_file(1, EINTR, 0);  // One row is read without a look into the page cache.
  EXPECT_TRUE(table.gathers({7}));
  EXPECT_EQ(gth_testing_file_calls(), 2);
  gth_testing_fail_file(0, 0, 0);
}

TEST_F(FilesFailures, M8_BagsReportEachError) {
  const File file;
  constexpr int64_t rows = 500, columns = 40;
  std::vector<float> numbers(rows * columns);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 1000);
  const char* const bytes = reinterpret_cast<const char*>(numbers.data());
  file.write(0, Bytes(bytes, bytes + numbers.size() * 4));
  const std::vector<int64_t> ids = scattered(600, rows);
  const Array indices = hostile::indices64({3, 200}, ids);
  Array out(f32, {3, columns});
  std::vector<float> pools(3 * columns);
  for (size_t k = 0; k < ids.size(); ++k) {
    for (size_t j = 0; j < columns; ++j)
      pools[k / 200 * columns + j] += numbers[static_cast<size_t>(ids[k]) * columns + j];
  }
  const gth_tensor_desc i = indices.desc(), o = out.desc();
  const char* const sums = reinterpret_cast<const char*>(pools.data());
  const Bytes expected(sums, sums + pools.size() * 4);
  for (const Form& form : all_forms) {
    Tensor tensor;
    ASSERT_EQ(open_floats(file, {rows, columns}, form.mode, form.resident, tensor.out(), nullptr), GTH_OK);
    const gth_tensor_desc table = GTH_TENSOR_DESC_HANDLE(tensor.get());
    const auto call = [&](gth_error* error) {
      out.fill('#');
      return gth_gather_bags(nullptr, &table, &i, nullptr, nullptr, &o, nullptr, error);
    };
    for (const int32_t number : {EIO, 0}) {
      if (number == 0 && form.mode == GTH_FILES_MAP) continue;
      const int64_t calls = expect_survives("bags", number, 1, call, [&] { return out.bytes() == expected; });
      EXPECT_GT(calls, 0);
    }
    // Each staged block needs memory.
    for (int64_t n = 1;; ++n) {
      Error error;
      gth_testing_fail_allocation(n, 0);
      const int32_t status = call(&error);
      const int64_t needed = gth_testing_allocations();
      gth_testing_fail_allocation(0, 0);
      if (needed < n) break;
      EXPECT_EQ(status, GTH_E_NOMEM) << n << ": " << error.message;
      EXPECT_GT(error.value, 0);
      if (n > 100) FAIL() << "never succeeds";
    }
    EXPECT_EQ(call(nullptr), GTH_OK);
    EXPECT_TRUE(out.bytes() == expected);
  }
}

TEST_F(FilesFailures, M8_PackedRowsReportEachError) {
  const std::vector<int64_t> ids = scattered(50, Packed::rows);
  const Array indices = hostile::indices64({50}, ids);
  std::vector<float> numbers;
  for (int64_t id : ids) {
    for (int64_t j = 0; j < Packed::values; ++j) numbers.push_back(Packed::number(id, j));
  }
  const Array expected(f32, {50, Packed::values}, numbers);
  Array out(f32, {50, Packed::values});
  const gth_tensor_desc i = indices.desc(), o = out.desc();
  for (const int32_t mode : modes) {
    for (const int32_t number : {EIO, 0}) {
      if (number == 0 && mode == GTH_FILES_MAP) continue;
      const Packed table(mode);
      const gth_tensor_desc params = GTH_TENSOR_DESC_HANDLE(table.get());
      const auto call = [&](gth_error* error) {
        out.fill('#');
        return gth_gather(nullptr, &params, &i, &o, nullptr, error);
      };
      EXPECT_GT(expect_survives("packed", number, 0, call, [&] { return out.bytes() == expected.bytes(); }), 0);
    }
    const Packed table(mode);
    const gth_tensor_desc params = GTH_TENSOR_DESC_HANDLE(table.get());
    for (int64_t n = 1;; ++n) {
      Error error;
      gth_testing_fail_allocation(n, 0);
      const int32_t status = gth_gather(nullptr, &params, &i, &o, nullptr, &error);
      const int64_t needed = gth_testing_allocations();
      gth_testing_fail_allocation(0, 0);
      if (needed < n) break;
      EXPECT_EQ(status, GTH_E_NOMEM) << n << ": " << error.message;
      if (n > 100) FAIL() << "never succeeds";
    }
    EXPECT_EQ(gth_gather(nullptr, &params, &i, &o, nullptr, nullptr), GTH_OK);
    EXPECT_TRUE(out.bytes() == expected.bytes());
  }
}

// Opening needs memory for the table, its segments, its maps and its handle.
TEST_F(FilesFailures, M9_OpenReturnsNomem) {
  for (const Form& form : all_forms) {
    for (const int32_t sticky : {0, 1}) {
      Table table(100, form.mode, form.resident);
      table.in_file(10).in_memory(3).in_file(2000, 5);
      int64_t failures = 0;
      for (int64_t n = 1;; ++n) {
        Error error;
        gth_testing_fail_allocation(n, sticky);
        const int32_t status = table.open(&error);
        const int64_t needed = gth_testing_allocations();
        gth_testing_fail_allocation(0, 0);
        if (status == GTH_OK && needed < n) break;
        EXPECT_STREQ(gth_status_name(status), "GTH_E_NOMEM") << n << ": " << error.message;
        EXPECT_EQ(error.operand, GTH_OPERAND_NONE);
        EXPECT_GT(error.value, 0);
        EXPECT_EQ(table.get(), nullptr);
        ++failures;
        if (n > 100 || HasFailure()) return ADD_FAILURE() << "allocation " << n;
      }
      EXPECT_GE(failures, form.mode == GTH_FILES_MAP ? 7 : 4);
      EXPECT_TRUE(table.gathers({0, 11, 15, 2012}));
    }
  }
}

TEST_F(FilesFailures, M9_OpenOfPackedRowsReturnsNomem) {
  const std::vector<uint8_t> codes(4 * 8, 2);
  const std::vector<float> factors = {1, 2, 3, 4};
  const Shape column{4, 1}, shape{4, 8};
  gth_segment segment = GTH_SEGMENT_INIT;
  segment.data = codes.data();
  segment.rows = 4;
  const gth_segment* const given[] = {&segment};
  const gth_tensor_desc scales = hostile::describe(f32, column, factors.data());
  gth_codec codec = GTH_CODEC_INIT;
  codec.code = GTH_CODE_UINT8;
  codec.scale_place = GTH_PLACE_OPERAND;
  codec.scales = &scales;
  gth_tensor_desc desc = hostile::describe(f32, shape, nullptr);
  desc.codec = &codec;
  int64_t failures = 0;
  for (int64_t n = 1;; ++n) {
    Tensor tensor;
    Error error;
    gth_testing_fail_allocation(n, 0);
    const int32_t status = gth_tensor_open(nullptr, &desc, 1, given, nullptr, tensor.out(), &error);
    const int64_t needed = gth_testing_allocations();
    gth_testing_fail_allocation(0, 0);
    if (status == GTH_OK && needed < n) break;
    EXPECT_EQ(status, GTH_E_NOMEM) << error.message;
    ++failures;
    ASSERT_LT(n, 100);
  }
  EXPECT_GE(failures, 5);
}

// A gather into memory of the caller allocates nothing.
TEST_F(FilesFailures, M9_GathersOfRowsNeedNoMemory) {
  for (const Form& form : all_forms) {
    Table table(100, form.mode, form.resident);
    table.in_file(1000).in_file(1000, 7, 3).opened();
    gth_testing_fail_allocation(1, 1);
    EXPECT_TRUE(table.gathers(scattered(1000, 2000)));
    EXPECT_EQ(gth_testing_allocations(), 0);
    gth_testing_fail_allocation(0, 0);
  }
}

}  // namespace
