#include <utility>

#include "device_test.hpp"

// Errors of device calls. They are recorded in stream order, and taken by the host or by the stream. They do not affect
// the next call.
namespace {

using device::Context;
using device::Error;
using device::Lookup;
using device::Memory;

class Errors : public device::DeviceTest {};

TEST_F(Errors, OneInvalidIndexLeavesTheOutputUnchangedAndTheContextUsable) {
  const Context context;
  Lookup lookup(6, 4, 3);
  lookup.pick({5, 6, -1});
  const int64_t sequence = lookup.enqueue(context);
  EXPECT_EQ(sequence, 1);
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 6, 6}, 1, sequence);
  lookup.expect_unchanged();
  context.expect_no_error();
  lookup.pick({5, 0, 3});
  EXPECT_EQ(lookup.enqueue(context), 2);
  context.expect_no_error();
  lookup.expect_rows({5, 0, 3});
}

TEST_F(Errors, TheFirstFailureIsDescribedAndAllAreCounted) {
  const Context context;
  Lookup lookup(6, 4, 2);
  lookup.pick({0, 1});
  lookup.enqueue(context);
  lookup.pick({0, 77});
  const int64_t first = lookup.enqueue(context);
  context.sync();
  lookup.pick({-5, 78});
  lookup.enqueue(context);
  context.sync();
  lookup.pick({2, 3});
  lookup.enqueue(context);
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, 77, 6}, 2, first);
  lookup.expect_rows({2, 3});
}

TEST_F(Errors, H1_OneBadIndexInTenMillion) {
  constexpr int64_t picks = 10'000'000;
  const Context context;
  Lookup lookup(1000, 1, picks);
  std::vector<int64_t> rows(picks);
  for (int64_t i = 0; i < picks; ++i) rows[static_cast<size_t>(i)] = i % 1000;
  for (const int64_t bad : {picks - 1, int64_t{0}, picks / 2, int64_t{123'457}}) {
    rows[static_cast<size_t>(bad)] = -bad - 1;
    lookup.pick(rows);
    lookup.clear();
    lookup.enqueue(context);
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, bad, -bad - 1, 1000});
    lookup.expect_unchanged();
    rows[static_cast<size_t>(bad)] = bad % 1000;
  }
  lookup.pick(rows);
  lookup.enqueue(context);
  context.expect_no_error();
  lookup.expect_rows(rows);
}

TEST_F(Errors, H2_EveryIndexBad) {
  const Context context;
  for (const int64_t picks : {int64_t{1}, int64_t{100}, device::most_inside, device::in_front, int64_t{100'000}}) {
    Lookup lookup(7, 3, picks);
    lookup.pick(std::vector<int64_t>(static_cast<size_t>(picks), 7));
    lookup.enqueue(context);
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 0, 7, 7});
    lookup.expect_unchanged();
  }
}

TEST_F(Errors, H3_CallWithoutTuplesSucceeds) {
  const Context context;
  Lookup lookup(7, 3, 0);
  EXPECT_EQ(lookup.enqueue(context), 1);
  context.expect_no_error();
}

// The smallest invalid tuple is reported, whichever thread or block finds it.
TEST_F(Errors, TheSmallestIsReported) {
  const Context context;
  for (const int64_t picks : {int64_t{300}, device::most_inside, device::in_front, int64_t{70'000}}) {
    Lookup lookup(9, 2, picks);
    for (const int64_t first : {int64_t{0}, int64_t{255}, int64_t{256}, picks - 2}) {
      std::vector<int64_t> rows(static_cast<size_t>(picks), 1);
      for (int64_t i = first; i < picks; i += 17) rows[static_cast<size_t>(i)] = 1'000'000 + i;
      rows[static_cast<size_t>(picks - 1)] = 99;
      lookup.pick(rows);
      lookup.enqueue(context);
      context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, first, 1'000'000 + first, 9});
      lookup.expect_unchanged();
    }
  }
}

// The first and the last index of calls of one block, of several blocks, and of two kernels, with rows of 4 to 1200 bytes.
TEST_F(Errors, FirstOrLastIndexOfFewRows) {
  const Context context;
  for (const int64_t width : {1, 2, 7, 64, 300}) {
    for (const int64_t picks :
         {int64_t{1}, int64_t{2}, int64_t{33}, int64_t{257}, device::most_inside, device::in_front}) {
      Lookup lookup(9, width, picks);
      std::vector<int64_t> rows;
      for (int64_t i = 0; i < picks; ++i) rows.push_back(i % 9);
      for (const int64_t bad : {int64_t{0}, picks - 1}) {
        const int64_t good = std::exchange(rows[static_cast<size_t>(bad)], -9);
        lookup.pick(rows);
        lookup.clear();
        lookup.enqueue(context);
        context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, bad, -9, 9});
        lookup.expect_unchanged();
        rows[static_cast<size_t>(bad)] = good;
      }
      lookup.pick(rows);
      lookup.enqueue(context);
      context.expect_no_error();
      lookup.expect_rows(rows);
    }
  }
}

// If nothing is copied, indices that several tuples share are validated once. The reported tuple is the same.
TEST_F(Errors, TuplesThatShareIndicesOfAnEmptyOutput) {
  const Context context;
  gth_options options = GTH_OPTIONS_INIT;
  options.profile = GTH_PROFILE_ONNX;
  const device::Shape params_shape{7, 0}, shape{5, 4}, strides{8, 0}, out_shape{5, 4, 0};
  const gth_tensor_desc p = device::describe_on_device(GTH_DTYPE_INT32, params_shape, nullptr);
  const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_INT32, out_shape, nullptr);
  for (int64_t bad = 0; bad < 5; ++bad) {
    std::vector<int64_t> values(5, 3);
    values[static_cast<size_t>(bad)] = 9;
    const Memory indices(values);
    gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, shape, indices.data());
    i.strides = strides.data();
    Error error;
    ASSERT_EQ(gth_gather(context.get(), &p, &i, &o, &options, &error), GTH_OK) << error.message;
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 4 * bad, 9, 7, GTH_ERROR_WRAP});
  }
}

TEST_F(Errors, UnsignedAndWrappedIndices) {
  const Context context;
  const Memory params(std::vector<int32_t>{1, 2, 3});
  const Memory out(2 * 4);
  const device::Shape three{3}, two{2};
  const gth_tensor_desc p = device::describe_on_device(GTH_DTYPE_INT32, three, params.data());
  const gth_tensor_desc o = device::describe_on_device(GTH_DTYPE_INT32, two, out.data());
  gth_options wraps = GTH_OPTIONS_INIT;
  wraps.negative = GTH_NEGATIVE_WRAP;
  Error error;
  {
    const Memory huge(std::vector<uint64_t>{1, UINT64_MAX});
    const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_UINT64, two, huge.data());
    ASSERT_EQ(gth_gather(context.get(), &p, &i, &o, &wraps, &error), GTH_OK);
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, -1, 3, GTH_ERROR_UNSIGNED | GTH_ERROR_WRAP});
  }
  const Memory small(std::vector<int8_t>{-3, -4});
  const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT8, two, small.data());
  ASSERT_EQ(gth_gather(context.get(), &p, &i, &o, &wraps, &error), GTH_OK);
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, -4, 3, GTH_ERROR_WRAP});
}

TEST_F(Errors, EmptyDimsUnderClamp) {
  const Context context;
  Lookup lookup(0, 4, 3);
  lookup.pick({5, 6, 7});
  for (const int32_t bounds : {GTH_BOUNDS_CLAMP, GTH_BOUNDS_MODULO}) {
    const gth_options options = device::with_bounds(bounds);
    lookup.enqueue(context, &options);
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 0, 5, 0});
    lookup.expect_unchanged();
  }
}

// The record of a caller, in memory that the host also reads.
TEST_F(Errors, RecordOfTheCaller) {
  void* pinned = device::allocate_host(sizeof(gth_error_record));
  std::memset(pinned, 0, sizeof(gth_error_record));
  device::describe(pinned, sizeof(gth_error_record));
  auto* record = static_cast<gth_error_record*>(pinned);
  {
    const Context context(nullptr, record);
    Lookup lookup(6, 4, 3);
    lookup.pick({1, 2, 9});
    const int64_t sequence = lookup.enqueue(context);
    context.sync();
    EXPECT_EQ(record->count, 1u);
    EXPECT_EQ(record->sequence, sequence);
    EXPECT_EQ(record->position, 2);
    EXPECT_EQ(record->value, 9);
    EXPECT_EQ(record->limit, 6);
    EXPECT_EQ(record->operand, GTH_OPERAND_INDICES);
    EXPECT_EQ(record->component, 0);
    EXPECT_EQ(record->status, GTH_E_INDEX);
    EXPECT_EQ(record->flags, 0u);
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, 9, 6}, 1, sequence);
    EXPECT_EQ(record->count, 0u);
  }
  device::deallocate_host(pinned);
}

TEST_F(Errors, RecordThatNoKernelReaches) {
  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  gth_error_record here{};
  options.device = GTH_DEVICE_CUDA;
  options.record = &here;
  gth_context* handle = nullptr;
  Error error;
  facts::expect_fields(gth_context_create(&options, &handle, &error), error,
                       {GTH_E_DEVICE, GTH_OPERAND_OPTIONS, offsetof(gth_context_options, record)});
  EXPECT_EQ(handle, nullptr);
  const Context context;
  EXPECT_EQ(gth_context_enqueue_take_error(context.get(), &here, &error), GTH_E_DEVICE);
  EXPECT_EQ(gth_context_enqueue_take_error(context.get(), nullptr, &error), GTH_E_NULL);
}

TEST_F(Errors, TakenInStreamOrder) {
  const Context context;
  const Memory taken(3 * sizeof(gth_error_record));
  auto* records = reinterpret_cast<gth_error_record*>(taken.data());
  Lookup lookup(6, 4, 1), other(6, 4, 1);
  lookup.pick({6});
  other.pick({2});
  Error error;
  const int64_t first = lookup.enqueue(context);
  ASSERT_EQ(gth_context_enqueue_take_error(context.get(), records, &error), GTH_OK) << error.message;
  other.enqueue(context);
  ASSERT_EQ(gth_context_enqueue_take_error(context.get(), records + 1, &error), GTH_OK);
  lookup.enqueue(context);
  lookup.enqueue(context);
  ASSERT_EQ(gth_context_enqueue_take_error(context.get(), records + 2, &error), GTH_OK);
  context.expect_no_error();
  gth_error_record found[3];
  device::copy(found, records, sizeof found);
  EXPECT_EQ(found[0].count, 1u);
  EXPECT_EQ(found[0].sequence, first);
  EXPECT_EQ(found[0].value, 6);
  EXPECT_EQ(found[1].count, 0u);
  EXPECT_EQ(found[2].count, 2u);
  other.expect_rows({2});
  lookup.expect_unchanged();
}

TEST_F(Errors, NewOutputsBecomeZeros) {
  const Context context;
  for (const int64_t picks : {int64_t{3}, device::in_front}) {
    Lookup lookup(6, 4, picks);
    std::vector<int64_t> rows(static_cast<size_t>(picks), 2);
    rows.back() = 6;
    lookup.pick(rows);
    device::Tensor made;
    lookup.enqueue_new(context, made.out());
    context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, picks - 1, 6, 6});
    device::expect_zeros(made);
  }
}

TEST_F(Errors, WrongDevices) {
  const Context context;
  Lookup lookup(6, 4, 2);
  lookup.pick({0, 1});
  const gth_tensor_desc p = lookup.params_desc(), i = lookup.indices_desc(), o = lookup.out_desc();
  const int64_t rows[2] = {0, 1};
  gth_tensor_desc on_host = i;
  on_host.device = GTH_DEVICE_CPU;
  on_host.data = rows;
  Error error;
  facts::expect_fields(gth_gather(context.get(), &p, &on_host, &o, nullptr, &error), error,
                       {GTH_E_DEVICE, GTH_OPERAND_INDICES, -1, -1, GTH_DEVICE_CPU, GTH_DEVICE_CUDA});
  facts::expect_fields(gth_gather(nullptr, &p, &i, &o, nullptr, &error), error,
                       {GTH_E_DEVICE, GTH_OPERAND_PARAMS, -1, -1, GTH_DEVICE_CUDA, GTH_DEVICE_CPU});
  gth_tensor_desc elsewhere = i;
  elsewhere.device_id = 1;
  facts::expect_fields(gth_gather(context.get(), &p, &elsewhere, &o, nullptr, &error), error,
                       {GTH_E_DEVICE, GTH_OPERAND_INDICES, -1, -1, 1, 0});
  // No error remains.
  lookup.enqueue(context);
  context.expect_no_error();
  lookup.expect_rows({0, 1});

  gth_plan* plan = nullptr;
  ASSERT_EQ(device::plan_gather(p, i, nullptr, &plan, &error), GTH_OK) << error.message;
  facts::expect_fields(gth_plan_run(nullptr, plan, GTH_OPEN, p.data, i.data, lookup.out.data(), &error), error,
                       {GTH_E_DEVICE, GTH_OPERAND_PLAN, -1, -1, GTH_DEVICE_CUDA, GTH_DEVICE_CPU});
  EXPECT_EQ(gth_plan_release(plan), GTH_OK);

  gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
  options.device = GTH_DEVICE_CUDA;
  options.device_id = 1000;
  gth_context* none = nullptr;
  facts::expect_fields(
      gth_context_create(&options, &none, &error), error,
      {GTH_E_DEVICE, GTH_OPERAND_OPTIONS, offsetof(gth_context_options, device_id), -1, 1000, device::count()});
  gth_tensor* tensor = nullptr;
  gth_tensor_desc far = p;
  far.device_id = 1000;
  EXPECT_EQ(gth_tensor_borrow(&far, &tensor, &error), GTH_E_DEVICE);
  EXPECT_EQ(error.value, 1000);
}

// The indices of a run are validated in stream order. The error is taken from the context.
TEST_F(Errors, APlanIsChecked) {
  const Context context;
  Lookup lookup(6, 4, 3);
  const gth_tensor_desc p = lookup.params_desc(), i = lookup.indices_desc();
  gth_plan* plan = nullptr;
  Error error;
  ASSERT_EQ(device::plan_gather(p, i, nullptr, &plan, &error), GTH_OK) << error.message;
  lookup.pick({5, 0, 3});
  EXPECT_EQ(calls::check(context.get(), plan, GTH_OPEN, i.data, &error), GTH_OK) << error.message;
  context.expect_no_error();
  lookup.pick({5, 0, 6});
  EXPECT_EQ(calls::check(context.get(), plan, GTH_OPEN, i.data, &error), GTH_OK) << error.message;
  context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 2, 6, 6});
  lookup.expect_unchanged();
  EXPECT_EQ(gth_plan_release(plan), GTH_OK);
}

TEST_F(Errors, PartitionOfIdsOnTheHost) {
  const Context context;
  const int64_t ids[] = {3, 0}, two = 2;
  int64_t counts[2] = {-7, -7}, local[2], scratch[64];
  gth_tensor_desc desc = device::describe_on_device(GTH_DTYPE_INT64, {}, ids);
  desc.device = GTH_DEVICE_CPU;
  desc.ndim = 1;
  desc.shape = &two;
  gth_shards shards = GTH_SHARDS_INIT;
  shards.rows = 4;
  shards.count = 2;
  gth_parts parts = GTH_PARTS_INIT;
  parts.capacity = 2;
  parts.counts = counts;
  parts.local = local;
  parts.scratch = scratch;
  parts.scratch_bytes = sizeof scratch;
  Error error;
  facts::expect_fields(gth_partition(context.get(), &desc, &shards, nullptr, &parts, &error), error,
                       {GTH_E_DEVICE, GTH_OPERAND_INDICES, -1, -1, GTH_DEVICE_CPU, GTH_DEVICE_CUDA});
  EXPECT_EQ(counts[0], -7);
  EXPECT_EQ(gth_partition(nullptr, &desc, &shards, nullptr, &parts, &error), GTH_OK) << error.message;
}

TEST_F(Errors, StringsAreRejectedOnADevice) {
  const Context context;
  const int64_t shape = 2, offsets[] = {0, 1, 2};
  gth_tensor *words = nullptr, *rows = nullptr, *out = nullptr;
  ASSERT_EQ(gth_tensor_from_strings(nullptr, 0, 1, &shape, offsets, "ab", 2, nullptr, nullptr, &words, nullptr),
            GTH_OK);
  const Memory indices(std::vector<int64_t>{0, 1});
  const gth_tensor_desc i = device::describe_on_device(GTH_DTYPE_INT64, {2}, indices.data());
  const device::Shape two{2};
  gth_tensor_desc described = i;
  described.shape = two.data();
  ASSERT_EQ(gth_tensor_borrow(&described, &rows, nullptr), GTH_OK);
  Error error;
  facts::expect_fields(device::make_gather(context.get(), words, rows, nullptr, &out, &error), error,
                       {GTH_E_DEVICE, GTH_OPERAND_PARAMS, -1, -1, GTH_DEVICE_CPU, GTH_DEVICE_CUDA});
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(gth_tensor_release(words), GTH_OK);
  EXPECT_EQ(gth_tensor_release(rows), GTH_OK);
}

}  // namespace
