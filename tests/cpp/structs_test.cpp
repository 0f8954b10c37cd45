#include <cstddef>
#include <functional>

#include "guarded.hpp"
#include "samples.hpp"

// Structs grow. Tests what the library reads of shorter and longer structs, and what it writes.
namespace {

using namespace hostile;

constexpr uint32_t largest = 4096;

// A struct of `size` bytes before a page that cannot be accessed. Fields of `value` that do not fit are cut off.
template <class T>
class Sized {
 public:
  Sized(const T& value, uint32_t size, char tail)
      : at_(pages_.first() + pages_.size() - std::min<size_t>((size + size_t{7}) / 8 * 8, pages_.size())) {
    const size_t room = static_cast<size_t>(pages_.first() + pages_.size() - at_);
    std::memset(at_, tail, room);
    std::memcpy(at_, &value, std::min<size_t>(room, sizeof(T)));
    if (room > 0) std::memcpy(at_, &size, sizeof size);
  }

  T* get() { return reinterpret_cast<T*>(at_); }
  char* bytes() { return at_; }
  Bytes copy() const { return Bytes(at_, pages_.first() + pages_.size()); }

 private:
  Guarded pages_{3};
  char* at_;
};

template <class T>
std::vector<uint32_t> good_sizes(uint32_t first) {
  std::vector<uint32_t> sizes{first, static_cast<uint32_t>(sizeof(T)), static_cast<uint32_t>(sizeof(T)) + 8, largest};
  for (uint32_t size = first; size < sizeof(T); size += 8) sizes.push_back(size);
  return sizes;
}

std::vector<uint32_t> bad_sizes(uint32_t first) { return {4, first - 4, first + 2, largest + 4, 1u << 31, UINT32_MAX}; }

// Expects the documented status of a call for a struct of each size.
template <class T>
void expect_read(const char* name, const T& value, uint32_t first, Facts facts,
                 const std::function<int32_t(const T*, gth_error*)>& call) {
  SCOPED_TRACE(name);
  facts.status = GTH_E_VERSION;
  facts.component = 0;
  facts.limit = sizeof(T);
  for (uint32_t size : good_sizes<T>(first)) {
    Sized<T> given(value, size, 0);
    Error error;
    EXPECT_EQ(call(given.get(), &error), GTH_OK) << size << ": " << error.message;
    if (size <= sizeof(T)) continue;
    given.bytes()[size - 1] = 1;
    Facts tail = facts;
    tail.component = sizeof(T);
    tail.value = size;
    expect_facts(call(given.get(), &error), error, tail, "tail");
  }
  for (uint32_t size : bad_sizes(first)) {
    Sized<T> given(value, size, 0);
    Error error;
    facts.value = size;
    expect_facts(call(given.get(), &error), error, facts, std::to_string(size).c_str());
  }
}

Facts of_operand(int32_t operand, int64_t item = -1) {
  Facts facts{GTH_E_VERSION, operand};
  facts.item = item;
  return facts;
}

int32_t make_and_release(const gth_request& request, gth_error* err) {
  Tensor made;
  return gth_make(nullptr, &request, made.out(), err);
}

int32_t plan_and_release(const gth_request& request, gth_error* err) {
  Plan plan;
  return gth_plan_create(&request, plan.out(), err);
}

int32_t infer(const gth_request& request, gth_error* err) {
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  int64_t shape[GTH_MAX_NDIM];
  return gth_infer(&request, &rows, GTH_MAX_NDIM, shape, err);
}

TEST(Structs, E6_RequestsOfEverySizeAreRead) {
  const Sample sample(calls::scatter);
  const std::array<gth_tensor_desc, 3> descs = sample.descs();
  const gth_request request = GTH_REQUEST(GTH_OP_SCATTER, &descs[0], &descs[1], &descs[2], nullptr);
  const auto expect = [&](const char* name, int32_t (*call)(const gth_request*, gth_error*), int64_t item = -1) {
    expect_read<gth_request>(name, request, GTH_REQUEST_FIRST, of_operand(GTH_OPERAND_REQUEST, item), call);
  };
  expect("run", [](const gth_request* given, gth_error* err) { return gth_run_request(nullptr, given, err); });
  expect("many", [](const gth_request* given, gth_error* err) { return gth_run_many(nullptr, 1, &given, err); }, 0);
  expect("make", [](const gth_request* given, gth_error* err) {
    Tensor made;
    return gth_make(nullptr, given, made.out(), err);
  });
  expect("infer", [](const gth_request* given, gth_error* err) {
    gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
    int64_t shape[GTH_MAX_NDIM];
    return gth_infer(given, &rows, GTH_MAX_NDIM, shape, err);
  });
  expect("plan", [](const gth_request* given, gth_error* err) {
    Plan plan;
    return gth_plan_create(given, plan.out(), err);
  });
}

TEST(Structs, E6_OperandsOfEverySizeAreRead) {
  for (const Operation& op : calls::every) {
    const Sample sample(op);
    const Mixed handles(sample.descs(), 7);
    const gth_tensor_desc* const named[] = {handles.table(), handles.indices(), handles.rows()};
    for (size_t role = 0; role < 3; ++role) {
      for (const gth_tensor_desc& value : {sample.descs()[role], *named[role]}) {
        const auto request_of = [&](const gth_tensor_desc* given, std::array<gth_tensor_desc, 3>* descs) {
          *descs = sample.descs();
          gth_request request = GTH_REQUEST(op.number, descs->data(), &(*descs)[1], &(*descs)[2], nullptr);
          (role == 0 ? request.table : role == 1 ? request.indices : request.rows) = given;
          return request;
        };
        const auto expect = [&](const char* name, int32_t (*call)(const gth_request&, gth_error*)) {
          expect_read<gth_tensor_desc>(name, value, GTH_TENSOR_DESC_FIRST, of_operand(operands_of(op)[role]),
                                       [&](const gth_tensor_desc* given, gth_error* err) {
                                         std::array<gth_tensor_desc, 3> descs;
                                         return call(request_of(given, &descs), err);
                                       });
        };
        expect("run", [](const gth_request& request, gth_error* err) {
          return gth_run(nullptr, request.op, request.table, request.indices, request.rows, request.options, err);
        });
        if (!is_gather(op)) expect("make", make_and_release);
        if (role < 2) expect("infer", infer);
        if (!is_gradient(op)) expect("plan", plan_and_release);
      }
    }
  }
}

TEST(Structs, E6_OtherDescriptionsOfEverySizeAreRead) {
  const Array from(GTH_DTYPE_INT32, {3}), to(GTH_DTYPE_INT32, {3});
  const gth_tensor_desc source = from.desc(), destination = to.desc();
  expect_read<gth_tensor_desc>("borrow", source, GTH_TENSOR_DESC_FIRST, of_operand(GTH_OPERAND_TENSOR),
                               [](const gth_tensor_desc* given, gth_error* err) {
                                 Tensor made;
                                 return gth_tensor_borrow(given, made.out(), err);
                               });
  expect_read<gth_tensor_desc>("adopt", source, GTH_TENSOR_DESC_FIRST, of_operand(GTH_OPERAND_TENSOR),
                               [](const gth_tensor_desc* given, gth_error* err) {
                                 Tensor made;
                                 return gth_tensor_adopt(nullptr, given, [](void*) {}, nullptr, made.out(), err);
                               });
  expect_read<gth_tensor_desc>(
      "copy from", source, GTH_TENSOR_DESC_FIRST, of_operand(GTH_OPERAND_PARAMS),
      [&](const gth_tensor_desc* given, gth_error* err) { return gth_copy(nullptr, given, &destination, err); });
  expect_read<gth_tensor_desc>(
      "copy to", destination, GTH_TENSOR_DESC_FIRST, of_operand(GTH_OPERAND_OUT),
      [&](const gth_tensor_desc* given, gth_error* err) { return gth_copy(nullptr, &source, given, err); });
}

TEST(Structs, E6_OptionsOfEverySizeAreRead) {
  for (const Operation& op : calls::every) {
    const Sample sample(op);
    const std::array<gth_tensor_desc, 3> descs = sample.descs();
    const auto expect = [&](const char* name, int32_t (*call)(const gth_request&, gth_error*), bool has_rows = true) {
      const gth_options options = GTH_OPTIONS_INIT;
      expect_read<gth_options>(
          name, options, GTH_OPTIONS_FIRST, of_operand(GTH_OPERAND_OPTIONS),
          [&](const gth_options* given, gth_error* err) {
            return call(GTH_REQUEST(op.number, &descs[0], &descs[1], has_rows ? &descs[2] : nullptr, given), err);
          });
    };
    expect("run", [](const gth_request& request, gth_error* err) {
      return gth_run(nullptr, request.op, request.table, request.indices, request.rows, request.options, err);
    });
    expect("make", make_and_release, !is_gather(op));
    expect("infer", infer);
    if (!is_gradient(op)) expect("plan", plan_and_release);
  }
}

TEST(Structs, E6_PlanArgsOfEverySizeAreRead) {
  const Sample sample(calls::gather);
  const std::array<gth_tensor_desc, 3> descs = sample.descs();
  Plan plan;
  ASSERT_EQ(calls::gather.plan(&descs[0], &descs[1], nullptr, nullptr, plan.out(), nullptr), GTH_OK);
  const gth_plan* handle = plan.get();
  const gth_plan_args args = calls::args(GTH_OPEN, sample.table.data(), sample.indices.data(), sample.rows.data());
  const auto expect = [&](const char* name, int64_t item,
                          const std::function<int32_t(const gth_plan_args*, gth_error*)>& call) {
    expect_read<gth_plan_args>(name, args, GTH_PLAN_ARGS_FIRST, of_operand(GTH_OPERAND_PLAN, item), call);
  };
  expect("run", -1,
         [&](const gth_plan_args* given, gth_error* err) { return gth_plan_run_args(nullptr, handle, given, err); });
  expect("check", -1,
         [&](const gth_plan_args* given, gth_error* err) { return gth_plan_check(nullptr, handle, given, err); });
  expect("extents", -1, [&](const gth_plan_args* given, gth_error* err) {
    return gth_plan_extents(handle, const_cast<gth_plan_args*>(given), err);
  });
  expect("many", 0, [&](const gth_plan_args* given, gth_error* err) {
    return gth_plan_run_many(nullptr, 1, &handle, &given, err);
  });
}

TEST(Structs, E6_ContextOptionsOfEverySizeAreRead) {
  const gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  expect_read<gth_context_options>("create", options, GTH_CONTEXT_OPTIONS_FIRST, of_operand(GTH_OPERAND_OPTIONS),
                                   [](const gth_context_options* given, gth_error* err) {
                                     gth_context* context = nullptr;
                                     const int32_t status = gth_context_create(given, &context, err);
                                     EXPECT_EQ(gth_context_release(context), GTH_OK);
                                     return status;
                                   });
}

TEST(Structs, E6_PartitionStructsOfEverySizeAreRead) {
  const Array ids = indices64({4}, {3, 0, 2, 1});
  const gth_tensor_desc desc = ids.desc();
  const gth_options options = GTH_OPTIONS_INIT;
  gth_shards shards = GTH_SHARDS_INIT;
  shards.rows = 4;
  shards.count = 2;
  int64_t bytes = 0, counts[2], local[4];
  ASSERT_EQ(gth_partition_scratch(&desc, &shards, 0, &bytes, nullptr), GTH_OK);
  std::vector<char> scratch(static_cast<size_t>(bytes));
  gth_parts parts = GTH_PARTS_INIT;
  parts.capacity = 4;
  parts.counts = counts;
  parts.local = local;
  parts.scratch = scratch.data();
  parts.scratch_bytes = bytes;
  expect_read<gth_tensor_desc>("ids", desc, GTH_TENSOR_DESC_FIRST, of_operand(GTH_OPERAND_INDICES),
                               [&](const gth_tensor_desc* given, gth_error* err) {
                                 return gth_partition(nullptr, given, &shards, &options, &parts, err);
                               });
  expect_read<gth_options>("options", options, GTH_OPTIONS_FIRST, of_operand(GTH_OPERAND_OPTIONS),
                           [&](const gth_options* given, gth_error* err) {
                             return gth_partition(nullptr, &desc, &shards, given, &parts, err);
                           });
  expect_read<gth_shards>("shards", shards, GTH_SHARDS_FIRST, of_operand(GTH_OPERAND_NONE),
                          [&](const gth_shards* given, gth_error* err) {
                            return gth_partition(nullptr, &desc, given, &options, &parts, err);
                          });
  expect_read<gth_shards>(
      "scratch", shards, GTH_SHARDS_FIRST, of_operand(GTH_OPERAND_NONE),
      [&](const gth_shards* given, gth_error* err) { return gth_partition_scratch(&desc, given, 0, &bytes, err); });
  expect_read<gth_parts>("parts", parts, GTH_PARTS_FIRST, of_operand(GTH_OPERAND_NONE),
                         [&](const gth_parts* given, gth_error* err) {
                           return gth_partition(nullptr, &desc, &shards, &options, given, err);
                         });
}

TEST(Structs, E6_CodecsOfEverySizeAreRead) {
  const Array table(GTH_DTYPE_UINT8, {4, 8}), factors = floats({4, 1}, {1, 2, 3, 4}), out(GTH_DTYPE_FLOAT32, {2, 8});
  const Array ids = indices64({2}, {3, 1});
  const Shape shape{4, 8};
  const gth_tensor_desc scales = factors.desc(), indices = ids.desc(), rows = out.desc();
  gth_tensor_desc params = describe(GTH_DTYPE_FLOAT32, shape, table.data());
  gth_codec codec = GTH_CODEC_INIT;
  codec.code = GTH_CODE_UINT8;
  codec.scale_place = GTH_PLACE_OPERAND;
  codec.scales = &scales;
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &params, &indices, &rows, nullptr);
  const auto expect = [&](const char* name, int32_t (*call)(const gth_request&, gth_error*)) {
    expect_read<gth_codec>(name, codec, GTH_CODEC_FIRST, of_operand(GTH_OPERAND_CODEC),
                           [&](const gth_codec* given, gth_error* err) {
                             params.codec = given;
                             return call(request, err);
                           });
  };
  expect("run", [](const gth_request& given, gth_error* err) { return gth_run_request(nullptr, &given, err); });
  expect("infer", infer);
  expect("plan", plan_and_release);
  expect("borrow", [](const gth_request& given, gth_error* err) {
    Tensor made;
    return gth_tensor_borrow(given.table, made.out(), err);
  });
  expect_read<gth_codec>("row_bytes", codec, GTH_CODEC_FIRST, of_operand(GTH_OPERAND_CODEC),
                         [](const gth_codec* given, gth_error* err) {
                           int64_t bytes;
                           return gth_codec_row_bytes(given, 8, &bytes, err);
                         });
  params.codec = &codec;
  expect_read<gth_tensor_desc>("scales", scales, GTH_TENSOR_DESC_FIRST, of_operand(GTH_OPERAND_SCALES),
                               [&](const gth_tensor_desc* given, gth_error* err) {
                                 codec.scales = given;
                                 return gth_run_request(nullptr, &request, err);
                               });
}

TEST(Structs, E6_StructsOfTablesInFilesAreRead) {
  const Array rows(GTH_DTYPE_UINT8, {4, 12}), numbers = indices64({2}, {3, 9});
  const Shape shape{4, 12}, packed{4, 12};
  gth_segment segment = GTH_SEGMENT_INIT;
  segment.data = rows.data();
  segment.rows = 4;
  const gth_segment* segments[] = {&segment};
  const gth_tensor_desc desc = describe(GTH_DTYPE_UINT8, shape, nullptr);
  const gth_files_options options = GTH_FILES_OPTIONS_INIT;
  const auto open = [&](const gth_tensor_desc* given, const gth_files_options* with, gth_error* err) {
    Tensor made;
    return gth_tensor_open(nullptr, given, 1, segments, with, made.out(), err);
  };
  expect_read<gth_tensor_desc>("description", desc, GTH_TENSOR_DESC_FIRST, of_operand(GTH_OPERAND_TENSOR),
                               [&](const gth_tensor_desc* given, gth_error* err) { return open(given, nullptr, err); });
  expect_read<gth_files_options>(
      "options", options, GTH_FILES_OPTIONS_FIRST, of_operand(GTH_OPERAND_OPTIONS),
      [&](const gth_files_options* given, gth_error* err) { return open(&desc, given, err); });
  expect_read<gth_segment>("segment", segment, GTH_SEGMENT_FIRST, of_operand(GTH_OPERAND_FILE),
                           [&](const gth_segment* given, gth_error* err) {
                             segments[0] = given;
                             return open(&desc, nullptr, err);
                           });
  segments[0] = &segment;
  gth_codec codec = GTH_CODEC_INIT;
  codec.code = GTH_CODE_UINT8;
  gth_tensor_desc table = describe(GTH_DTYPE_FLOAT32, packed, nullptr);
  expect_read<gth_codec>("codec", codec, GTH_CODEC_FIRST, of_operand(GTH_OPERAND_CODEC),
                         [&](const gth_codec* given, gth_error* err) {
                           table.codec = given;
                           return open(&table, nullptr, err);
                         });
  Tensor opened;
  ASSERT_EQ(gth_tensor_open(nullptr, &desc, 1, segments, nullptr, opened.out(), nullptr), GTH_OK);
  expect_read<gth_tensor_desc>("prefetch", numbers.desc(), GTH_TENSOR_DESC_FIRST, of_operand(GTH_OPERAND_INDICES),
                               [&](const gth_tensor_desc* given, gth_error* err) {
                                 return gth_tensor_prefetch(nullptr, opened.get(), given, nullptr, err);
                               });
}

// ---- structs that are written

// Expects that a call fills a struct of each size up to that size. Bytes after the known fields become zero. With too
// little room for a shape, only the rank is written.
template <class T>
void expect_filled(const char* name, const T& value, uint32_t first, int32_t expected, char tail,
                   const std::function<int32_t(T*, gth_error*)>& call) {
  SCOPED_TRACE(name);
  Sized<T> whole(value, sizeof(T), tail);
  EXPECT_EQ(call(whole.get(), nullptr), expected);
  for (uint32_t size : good_sizes<T>(first)) {
    Sized<T> given(value, size, tail);
    EXPECT_EQ(call(given.get(), nullptr), expected) << size;
    EXPECT_EQ(given.get()->size, size);
    const Bytes after = given.copy();
    const auto known = static_cast<std::ptrdiff_t>(std::min<size_t>(size, sizeof(T)));
    EXPECT_TRUE(std::equal(after.begin() + 4, after.begin() + known, whole.bytes() + 4)) << size;
    const char beyond = expected == GTH_E_SIZE ? tail : 0;
    EXPECT_TRUE(std::all_of(after.begin() + known, after.end(), [=](char byte) { return byte == beyond; })) << size;
  }
  for (uint32_t size : bad_sizes(first)) {
    Sized<T> given(value, size, tail);
    const Bytes before = given.copy();
    EXPECT_EQ(call(given.get(), nullptr), GTH_E_VERSION) << size;
    EXPECT_TRUE(given.copy() == before) << size;
  }
}

TEST(WrittenStructs, E6_ErrorsOfEverySizeAreFilled) {
  gth_error error = GTH_ERROR_INIT;
  std::memset(error.message, '#', sizeof error.message);
  const gth_request request = GTH_REQUEST_INIT;
  expect_filled<gth_error>("run", error, GTH_ERROR_FIRST, GTH_E_NULL, '#', [](gth_error* err, gth_error*) {
    return gth_gather(nullptr, nullptr, nullptr, nullptr, nullptr, err);
  });
  expect_filled<gth_error>("many", error, GTH_ERROR_FIRST, GTH_E_VERSION, '#', [&](gth_error* err, gth_error*) {
    const gth_request* const requests[] = {&request};
    return gth_run_many(nullptr, 1, requests, err);
  });
}

TEST(WrittenStructs, E6_DescriptionsOfEverySizeAreFilled) {
  gth_tensor_desc desc;
  std::memset(static_cast<void*>(&desc), '#', sizeof desc);
  const Array array(GTH_DTYPE_INT32, {2, 3});
  const Tensor tensor(array.desc());
  expect_filled<gth_tensor_desc>(
      "describe", desc, GTH_TENSOR_DESC_FIRST, GTH_OK, '#',
      [&](gth_tensor_desc* out, gth_error* err) { return gth_tensor_describe(tensor.get(), out, err); });
  const Sample sample(calls::gather);
  const std::array<gth_tensor_desc, 3> descs = sample.descs();
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &descs[0], &descs[1], nullptr, nullptr);
  int64_t shape[2];
  expect_filled<gth_tensor_desc>(
      "infer", desc, GTH_TENSOR_DESC_FIRST, GTH_OK, '#',
      [&](gth_tensor_desc* out, gth_error* err) { return gth_infer(&request, out, 2, shape, err); });
  expect_filled<gth_tensor_desc>(
      "infer without room", desc, GTH_TENSOR_DESC_FIRST, GTH_E_SIZE, '#',
      [&](gth_tensor_desc* out, gth_error* err) { return gth_infer(&request, out, 1, shape, err); });
  Plan plan;
  ASSERT_EQ(gth_plan_create(&request, plan.out(), nullptr), GTH_OK);
  expect_filled<gth_tensor_desc>(
      "plan_infer", desc, GTH_TENSOR_DESC_FIRST, GTH_OK, '#',
      [&](gth_tensor_desc* out, gth_error* err) { return gth_plan_infer(plan.get(), GTH_OPEN, out, 2, shape, err); });
}

TEST(WrittenStructs, E6_CapabilitiesOfEverySizeAreFilled) {
  gth_capability_info info;
  std::memset(&info, '#', sizeof info);
  expect_filled<gth_capability_info>("capabilities", info, GTH_CAPABILITY_INFO_FIRST, GTH_OK, '#', gth_capabilities);
}

TEST(WrittenStructs, E6_CodecsOfEverySizeAreFilled) {
  gth_codec codec;
  std::memset(static_cast<void*>(&codec), '#', sizeof codec);
  for (const char* name : {"q8_0", "q6_k", "nf4", "rowwise8"}) {
    expect_filled<gth_codec>(name, codec, GTH_CODEC_FIRST, GTH_OK, '#',
                             [&](gth_codec* out, gth_error* err) { return gth_codec_named(name, out, err); });
  }
}

TEST(WrittenStructs, E6_StatsOfEverySizeAreFilled) {
  const Array rows(GTH_DTYPE_UINT8, {4, 12});
  const Shape shape{4, 12};
  gth_segment segment = GTH_SEGMENT_INIT;
  segment.data = rows.data();
  segment.rows = 4;
  const gth_segment* const segments[] = {&segment};
  const gth_tensor_desc desc = describe(GTH_DTYPE_UINT8, shape, nullptr);
  Tensor opened;
  ASSERT_EQ(gth_tensor_open(nullptr, &desc, 1, segments, nullptr, opened.out(), nullptr), GTH_OK);
  gth_files_stats stats;
  std::memset(&stats, '#', sizeof stats);
  expect_filled<gth_files_stats>(
      "stats", stats, GTH_FILES_STATS_FIRST, GTH_OK, '#',
      [&](gth_files_stats* out, gth_error* err) { return gth_tensor_stats(opened.get(), out, err); });
}

// The arguments are also read, so bytes beyond the known fields must be zero.
TEST(WrittenStructs, E6_WrittenPlanArgsOfEverySizeAreFilled) {
  const Sample sample(calls::gather);
  const std::array<gth_tensor_desc, 3> descs = sample.descs();
  Plan plan;
  ASSERT_EQ(calls::gather.plan(&descs[0], &descs[1], nullptr, nullptr, plan.out(), nullptr), GTH_OK);
  gth_plan_args args = GTH_PLAN_ARGS_INIT;
  args.table_extent = args.indices_extent = args.rows_extent = -7;
  expect_filled<gth_plan_args>(
      "extents", args, GTH_PLAN_ARGS_FIRST, GTH_OK, 0,
      [&](gth_plan_args* out, gth_error* err) { return gth_plan_extents(plan.get(), out, err); });
}

// ---- inferred rows

TEST(Infer, DenseRowsAreDescribed) {
  for (const Operation& op : calls::every) {
    const Sample sample(op);
    for (int32_t handles = 0; handles < 4; ++handles) {
      const Mixed mixed(sample.descs(), handles);
      const gth_request request = GTH_REQUEST(op.number, mixed.table(), mixed.indices(), nullptr, nullptr);
      gth_tensor_desc rows;
      std::memset(static_cast<void*>(&rows), '#', sizeof rows);
      rows.size = sizeof rows;
      int64_t shape[3] = {-7, -7, -7};
      Error error;
      ASSERT_EQ(gth_infer(&request, &rows, 3, shape, &error), GTH_OK) << error.message;
      const gth_tensor_desc expected = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT32, 2, shape, nullptr);
      EXPECT_EQ(std::memcmp(&rows, &expected, sizeof rows), 0);
      EXPECT_EQ(Shape(shape, shape + 3), (Shape{3, 2, -7}));
    }
  }
}

TEST(Infer, MissingRowsOrCapacityAreRejected) {
  for (const Operation& op : calls::every) {
    const Sample sample(op);
    const std::array<gth_tensor_desc, 3> descs = sample.descs();
    const gth_request request = GTH_REQUEST(op.number, &descs[0], &descs[1], &descs[2], nullptr);
    gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
    Error error;
    expect_facts(gth_infer(&request, nullptr, 0, nullptr, &error), error, {GTH_E_NULL});
    for (int32_t capacity : {1, 0, -1, INT32_MIN}) {
      expect_facts(gth_infer(&request, &rows, capacity, nullptr, &error), error,
                   {GTH_E_SIZE, operands_of(op)[2], -1, -1, capacity, 2});
      EXPECT_EQ(rows.ndim, 2);
      EXPECT_EQ(rows.dtype, 0);
    }
    expect_facts(gth_infer(&request, &rows, 2, nullptr, &error), error, {GTH_E_NULL});
    if (is_gradient(op)) continue;  // Gradients have no plan.
    Plan plan;
    ASSERT_EQ(gth_plan_create(&request, plan.out(), nullptr), GTH_OK);
    expect_facts(gth_plan_infer(plan.get(), GTH_OPEN, &rows, 1, nullptr, &error), error,
                 {GTH_E_SIZE, operands_of(op)[2], -1, -1, 1, 2});
  }
}

// The request is read before the rows are checked.
TEST(Infer, RequestIsCheckedBeforeRows) {
  gth_request request = GTH_REQUEST_INIT;
  gth_tensor_desc rows = GTH_TENSOR_DESC_INIT;
  Error error;
  rows.size = 3;
  request.size = 5;
  for (gth_tensor_desc* each : {static_cast<gth_tensor_desc*>(nullptr), &rows}) {
    expect_facts(gth_infer(nullptr, each, 0, nullptr, &error), error, {GTH_E_NULL, GTH_OPERAND_REQUEST});
    expect_facts(gth_infer(&request, each, 0, nullptr, &error), error,
                 {GTH_E_VERSION, GTH_OPERAND_REQUEST, 0, -1, 5, sizeof request});
  }
  const gth_tensor_desc operand = GTH_TENSOR_DESC_INIT;
  request = GTH_REQUEST(GTH_OP_GATHER, &operand, &operand, nullptr, nullptr);
  expect_facts(gth_infer(&request, &rows, 0, nullptr, &error), error,
               {GTH_E_VERSION, GTH_OPERAND_NONE, 0, -1, 3, sizeof rows});
}

}  // namespace
