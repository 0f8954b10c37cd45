#include "files.hpp"
#include "hostile.hpp"

// Invalid arguments of gth_tensor_open.
namespace {

using namespace files;
using hostile::Facts, hostile::Tensor;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32, i64 = GTH_DTYPE_INT64;

// A valid call, whose arguments the tests change.
struct Opening {
  std::vector<float> numbers = std::vector<float>(12, 1);
  Shape shape{6, 2};
  gth_tensor_desc desc = hostile::describe(f32, shape, nullptr);
  gth_segment first = GTH_SEGMENT_INIT, second = GTH_SEGMENT_INIT;
  gth_files_options options = GTH_FILES_OPTIONS_INIT;
  int64_t count = 2;

  Opening() {
    first.data = second.data = numbers.data();
    first.rows = 2, second.rows = 4;
  }
  void expect(const Facts& facts, const char* what) const {
    const gth_segment* const given[] = {&first, &second};
    gth_tensor* tensor = reinterpret_cast<gth_tensor*>(uintptr_t{1});
    Error error;
    expect_facts(gth_tensor_open(nullptr, &desc, count, given, &options, &tensor, &error), error, facts, what);
    EXPECT_EQ(tensor, nullptr) << what;
  }
};

template <class Change>
void expect_invalid(const char* what, const Facts& facts, Change&& change) {
  Opening opening;
  change(&opening);
  opening.expect(facts, what);
}

TEST(FilesArguments, M4_InvalidSegmentsAreRejected) {
  constexpr int32_t file = GTH_OPERAND_FILE, tensor = GTH_OPERAND_TENSOR;
  for (const int64_t count : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    expect_invalid("count", {GTH_E_SHAPE, file, -1, -1, count, 1}, [&](Opening* o) { o->count = count; });
  }
  expect_invalid("flags", {GTH_E_VERSION, file, 1, -1, 4, 3}, [](Opening* o) { o->second.flags = 4; });
  expect_invalid("fewer rows", {GTH_E_SHAPE, tensor, 0, -1, 6, 5}, [](Opening* o) { o->second.rows = 3; });
  expect_invalid("more rows", {GTH_E_SHAPE, tensor, 0, -1, 6, 7}, [](Opening* o) { o->second.rows = 5; });
  expect_invalid("rows beyond int64", {GTH_E_SHAPE, tensor, 0, -1, 6, INT64_MAX},
                 [](Opening* o) { o->first.rows = o->second.rows = INT64_MAX; });
  expect_invalid("no rows", {GTH_E_SHAPE, file, 0, -1, 0, 1},
                 [](Opening* o) { o->first.rows = 0, o->second.rows = 6; });
  expect_invalid("rows below 0", {GTH_E_SHAPE, file, 0, -1, -3, 1},
                 [](Opening* o) { o->first.rows = -3, o->second.rows = 6; });
  expect_invalid("offset", {GTH_E_STRIDE, file, 1, -1, -1, 0}, [](Opening* o) { o->second.offset = -1; });
  for (const int64_t stride : {int64_t{7}, int64_t{-8}, INT64_MIN}) {
    expect_invalid("row_stride", {GTH_E_STRIDE, file, 1, -1, stride, 8},
                   [&](Opening* o) { o->second.row_stride = stride; });
  }
  expect_invalid("end beyond int64", {GTH_E_SIZE, file, 1, -1, 4, INT64_MAX},
                 [](Opening* o) { o->second.row_stride = INT64_MAX / 2; });
  expect_invalid("offset beyond int64", {GTH_E_SIZE, file, 0, -1, 2, INT64_MAX},
                 [](Opening* o) { o->first.offset = INT64_MAX - 10; });
}

// The place of the rows of a segment in memory.
struct Place {
  int64_t rows, row_bytes, offset, gap;

  // Returns the number of the byte behind the last row.
  int64_t end() const {
    int64_t at = offset + row_bytes;
    for (int64_t i = 1; i < rows; ++i) at += gap + row_bytes;
    return at;
  }
};

// Opens a table whose second segment has memory of all smaller sizes that matter, and of sufficient ones.
void expect_borders(const Place& place, const char* name) {
  const int64_t end = place.end();
  Table table(place.row_bytes);
  table.in_memory(3).in_memory(place.rows, place.offset, place.gap);
  gth_segment& segment = table.segment(1);
  for (const int64_t extent : {end - 1, end / 2, int64_t{-1}, INT64_MIN}) {
    segment.extent = extent;
    segment.flags = extent == 0 ? GTH_SEGMENT_EXTENT : 0;
    Error error;
    expect_facts(table.open(&error), error, {GTH_E_STRIDE, GTH_OPERAND_FILE, 1, -1, end, extent}, name);
  }
  for (const int64_t extent : {int64_t{0}, end, end + 1, INT64_MAX}) {
    segment.extent = extent;
    segment.flags = extent == end ? GTH_SEGMENT_EXTENT : 0;
    EXPECT_TRUE(table.opened().gathers(counted(0, 3 + place.rows))) << name << " extent " << extent;
    table.release();
  }
}

TEST(FilesArguments, M4_MemoryWithoutAllRowsIsRejected) {
  expect_borders({1, 1, 0, 0}, "one byte");
  expect_borders({2, 1, 0, 0}, "two bytes");
  expect_borders({1, 12, 0, 500}, "stride of one row");
  expect_borders({7, 12, 0, 0}, "dense");
  expect_borders({7, 12, 1, 0}, "offset");
  expect_borders({7, 12, 0, 1}, "stride");
  expect_borders({2, 160, 4096, 96}, "offset and stride");
  expect_borders({300, 3, 5, 7}, "many rows");
}

TEST(FilesArguments, MessageOfSmallMemoryNamesSegmentAndSizes) {
  Table table(12);
  table.in_memory(1).in_memory(3, 5, 8);
  table.segment(1).extent = 56;
  Error error;
  EXPECT_EQ(table.open(&error), GTH_E_STRIDE);
  EXPECT_STREQ(error.message, "file: segment 1: rows reach byte 57 of the 56 described (offset 5)");
}

TEST(FilesArguments, M4_EndsOfMemoryBeyondInt64AreRejected) {
  constexpr int32_t file = GTH_OPERAND_FILE;
  for (const int64_t extent : {int64_t{48}, INT64_MAX}) {
    expect_invalid("stride", {GTH_E_SIZE, file, 1, -1, 4, INT64_MAX},
                   [&](Opening* o) { o->second.extent = extent, o->second.row_stride = INT64_MAX / 2; });
    expect_invalid("offset", {GTH_E_SIZE, file, 0, -1, 2, INT64_MAX},
                   [&](Opening* o) { o->first.extent = extent, o->first.offset = INT64_MAX - 15; });
  }
  expect_invalid("largest end", {GTH_E_STRIDE, file, 0, -1, INT64_MAX, INT64_MAX - 1},
                 [](Opening* o) { o->first.extent = INT64_MAX - 1, o->first.offset = INT64_MAX - 16; });
}

// Zeros are no place: a segment without a path or memory is not the file with the descriptor 0.
TEST(FilesArguments, M4_SegmentsHaveOnePlace) {
  constexpr int32_t operand = GTH_OPERAND_FILE;
  const File file;
  file.write(0, Bytes(48));
  expect_invalid("none", {GTH_E_NULL, operand, 1}, [](Opening* o) { o->second.data = nullptr; });
  expect_invalid("a descriptor without the flag", {GTH_E_NULL, operand, 0}, [&](Opening* o) {
    o->first.data = nullptr;
    o->first.file = file.descriptor();
  });
  const auto with = [&](const char* path, const void* data, uint32_t flags, int64_t places) {
    expect_invalid("several", {GTH_E_VERSION, operand, 1, -1, places, 1}, [&](Opening* o) {
      o->second.path = path, o->second.data = data, o->second.flags = flags;
      o->second.file = file.descriptor();
    });
  };
  with(file.path(), file.path(), 0, 2);
  with(file.path(), nullptr, GTH_SEGMENT_FILE, 2);
  with(nullptr, file.path(), GTH_SEGMENT_FILE, 2);
  with(file.path(), file.path(), GTH_SEGMENT_FILE | GTH_SEGMENT_EXTENT, 3);
}

TEST(FilesArguments, MessagesOfPlacesNameTheSegment) {
  Table table(12);
  table.in_memory(1).in_memory(3);
  Error error;
  table.segment(1).path = "a path";
  EXPECT_EQ(table.open(&error), GTH_E_VERSION);
  EXPECT_STREQ(error.message, "file: segment 1: has more than one of path, data and file");
  table.segment(1).path = nullptr, table.segment(1).data = nullptr;
  EXPECT_EQ(table.open(&error), GTH_E_NULL);
  EXPECT_STREQ(error.message, "file: segment 1: has no path, data or file");
}

// A descriptor without the flag is none. It does not join a segment to its neighbour.
TEST(FilesArguments, M4_DescriptorsWithoutTheFlagAreIgnored) {
  const File first, second;
  first.write(0, content_of(0, 5, 40, 0, 0));
  second.write(0, content_of(5, 5, 40, 0, 0));
  for (const bool is_path_first : {true, false}) {
    Table table(40);
    gth_segment named = table.segment_of(5, 0, 0), opened = named;
    named.path = (is_path_first ? first : second).path();
    opened.flags = GTH_SEGMENT_FILE;
    named.file = opened.file = (is_path_first ? second : first).descriptor();
    table.add(is_path_first ? named : opened).add(is_path_first ? opened : named).opened();
    EXPECT_TRUE(table.gathers(counted(0, 10))) << is_path_first;
  }
}

// An extent of 0 is the size of the memory only with the flag.
TEST(FilesArguments, M4_MemoryOfNoBytesHasNoRows) {
  expect_invalid("no bytes", {GTH_E_STRIDE, GTH_OPERAND_FILE, 1, -1, 32, 0},
                 [](Opening* o) { o->second.flags = GTH_SEGMENT_EXTENT; });
  const Shape shape{5, 0};
  const gth_tensor_desc desc = hostile::describe(f32, shape, nullptr);
  gth_segment segment = GTH_SEGMENT_INIT;
  segment.flags = GTH_SEGMENT_EXTENT;
  segment.data = &segment;
  segment.rows = 5;
  const gth_segment* const given[] = {&segment};
  Tensor tensor;
  Error error;
  EXPECT_EQ(gth_tensor_open(nullptr, &desc, 1, given, nullptr, tensor.out(), &error), GTH_OK) << error.message;
  segment.extent = -1;
  gth_tensor* made = nullptr;
  expect_facts(gth_tensor_open(nullptr, &desc, 1, given, nullptr, &made, &error), error,
               {GTH_E_STRIDE, GTH_OPERAND_FILE, 0, -1, 0, -1}, "negative");
}

TEST(FilesArguments, M4_ExtentsOfFilesAreRejected) {
  const File file;
  file.write(0, Bytes(48));
  const auto expect_refused = [&](gth_segment segment, const char* what) {
    segment.rows = 2;
    for (const int64_t extent : {int64_t{0}, int64_t{1}, int64_t{48}, int64_t{-1}, INT64_MAX}) {
      expect_invalid(what, {GTH_E_STRIDE, GTH_OPERAND_FILE, 0, -1, extent, 0}, [&](Opening* o) {
        o->first = segment;
        o->first.extent = extent;
        o->first.flags |= extent == 0 ? GTH_SEGMENT_EXTENT : 0;
      });
    }
  };
  gth_segment named = GTH_SEGMENT_INIT, opened = GTH_SEGMENT_INIT;
  named.path = file.path();
  opened.file = file.descriptor(), opened.flags = GTH_SEGMENT_FILE;
  expect_refused(named, "path");
  expect_refused(opened, "descriptor");
}

TEST(FilesArguments, M4_InvalidDescriptionsAreRejected) {
  constexpr int32_t tensor = GTH_OPERAND_TENSOR, options = GTH_OPERAND_OPTIONS;
  expect_invalid("dtype", {GTH_E_DTYPE, tensor, -1, -1, 7, 0}, [](Opening* o) { o->desc.dtype = 7; });
  expect_invalid("strings", {GTH_E_UNSUPPORTED, tensor, -1, -1, GTH_DTYPE_STRING, 0},
                 [](Opening* o) { o->desc.dtype = GTH_DTYPE_STRING; });
  expect_invalid("rank 0", {GTH_E_RANK, tensor, -1, -1, 0, 1}, [](Opening* o) { o->desc.ndim = 0; });
  expect_invalid("rank 65", {GTH_E_RANK, tensor, -1, -1, 65, 64}, [](Opening* o) { o->desc.ndim = 65; });
  expect_invalid("rank -1", {GTH_E_RANK, tensor, -1, -1, -1, 64}, [](Opening* o) { o->desc.ndim = -1; });
  expect_invalid("extent", {GTH_E_SHAPE, tensor, 1, -1, -2, 0}, [](Opening* o) { o->shape[1] = -2; });
  expect_invalid("data", {GTH_E_STRIDE, tensor}, [](Opening* o) { o->desc.data = o->numbers.data(); });
  expect_invalid("strides", {GTH_E_STRIDE, tensor}, [](Opening* o) { o->desc.strides = o->shape.data(); });
  expect_invalid("offset", {GTH_E_STRIDE, tensor}, [](Opening* o) { o->desc.offset = 4; });
  expect_invalid("extent of memory", {GTH_E_STRIDE, tensor}, [](Opening* o) { o->desc.extent = 48; });
  expect_invalid("device", {GTH_E_STRIDE, tensor}, [](Opening* o) { o->desc.device = GTH_DEVICE_CUDA; });
  for (const int32_t mode : {-1, 3}) {
    expect_invalid("mode", {GTH_E_VERSION, options, offsetof(gth_files_options, mode), -1, mode, GTH_FILES_MAP},
                   [&](Opening* o) { o->options.mode = mode; });
  }
  for (const int64_t resident : {int64_t{-1}, int64_t{1}, budget - 1, INT64_MIN}) {
    expect_invalid("budget", {GTH_E_VERSION, options, offsetof(gth_files_options, resident), -1, resident, budget},
                   [&](Opening* o) { o->options.resident = resident; });
  }
  Opening good;
  gth_tensor* made = nullptr;
  const gth_segment* const given[] = {&good.first, &good.second};
  Error error;
  for (const int64_t resident : {int64_t{0}, budget, INT64_MAX}) {
    good.options.resident = resident;
    ASSERT_EQ(gth_tensor_open(nullptr, &good.desc, 2, given, &good.options, &made, &error), GTH_OK) << error.message;
    EXPECT_EQ(gth_tensor_release(made), GTH_OK);
  }
}

// A codec must be valid for the rows, and a row of a packed table has at least one dim before its numbers.
TEST(FilesArguments, M4_InvalidCodecsAreRejected) {
  gth_codec codec = GTH_CODEC_INIT;
  codec.code = GTH_CODE_UINT8;
  const auto packed = [&](Opening* o) {
    o->desc.codec = &codec;
    o->first.row_stride = 2;
  };
  expect_invalid("rank", {GTH_E_RANK, GTH_OPERAND_TENSOR, -1, -1, 1, 2}, [&](Opening* o) {
    packed(o);
    o->desc.ndim = 1;
  });
  expect_invalid("stride", {GTH_E_STRIDE, GTH_OPERAND_FILE, 0, -1, 1, 2}, [&](Opening* o) {
    packed(o);
    o->first.row_stride = 1;
  });
  codec.code = 99;
  Opening unknown;
  packed(&unknown);
  gth_tensor* made = nullptr;
  const gth_segment* const given[] = {&unknown.first, &unknown.second};
  Error error;
  EXPECT_EQ(gth_tensor_open(nullptr, &unknown.desc, 2, given, nullptr, &made, &error), GTH_E_VERSION);
  EXPECT_EQ(error.operand, GTH_OPERAND_CODEC);
  codec.code = GTH_CODE_UINT8;
  codec.scale_place = GTH_PLACE_OPERAND;
  EXPECT_EQ(gth_tensor_open(nullptr, &unknown.desc, 2, given, nullptr, &made, &error), GTH_E_NULL) << error.message;
  EXPECT_EQ(error.operand, GTH_OPERAND_SCALES);
  EXPECT_EQ(made, nullptr);
}

// The bytes of packed rows do not fit int64, but those of their numbers do.
TEST(FilesArguments, M4_PackedRowsBeyondInt64AreRejected) {
  gth_codec codec = GTH_CODEC_INIT;
  ASSERT_EQ(gth_codec_named("rowwise8", &codec, nullptr), GTH_OK);
  constexpr int64_t rows = INT64_MAX / 4, row_bytes = 9;  // a code, a scale and a bias
  expect_invalid("bytes", {GTH_E_SIZE, GTH_OPERAND_TENSOR, 0, -1, rows, INT64_MAX / row_bytes}, [&](Opening* o) {
    o->desc.codec = &codec;
    o->shape = {rows, 1};
    o->first.rows = rows / 2, o->second.rows = rows - rows / 2;
  });
}

// Rows without bytes need no file content, and the end of a large table may be the last byte that int64 counts.
TEST(FilesArguments, M4_RowsOfNoBytesAreAccepted) {
  for (const int32_t mode : modes) {
    const File file;
    const Shape shape{5, 0, 3}, line{2}, out_shape{2, 0, 3};
    gth_segment segment = GTH_SEGMENT_INIT;
    segment.path = file.path();
    segment.rows = 5;
    const gth_segment* const given[] = {&segment};
    const gth_tensor_desc desc = hostile::describe(f32, shape, nullptr);
    const gth_files_options options = {sizeof options, mode, 0};
    Tensor tensor;
    Error error;
    ASSERT_EQ(gth_tensor_open(nullptr, &desc, 1, given, &options, tensor.out(), &error), GTH_OK) << error.message;
    const int64_t ids[] = {4, 0}, bad[] = {4, 5};
    const gth_tensor_desc table = GTH_TENSOR_DESC_HANDLE(tensor.get()), i = hostile::describe(i64, line, ids);
    const gth_tensor_desc wrong = hostile::describe(i64, line, bad), o = hostile::describe(f32, out_shape, nullptr);
    EXPECT_EQ(gth_gather(nullptr, &table, &i, &o, nullptr, &error), GTH_OK) << error.message;
    EXPECT_EQ(gth_gather(nullptr, &table, &wrong, &o, nullptr, &error), GTH_E_INDEX);
    EXPECT_EQ(gth_tensor_prefetch(nullptr, tensor.get(), &i, nullptr, &error), GTH_OK) << error.message;
  }
}

}  // namespace
