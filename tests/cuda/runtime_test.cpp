#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "emulated.hpp"

// The CUDA calls of the library and their effects on the process: captures, current devices, the last error of the
// runtime, and the order of streams. Further tests show that the emulated device detects violations.
namespace {

using device::adopt;
using device::Bytes;
using device::Captured;
using device::Context;
using device::count_end;
using device::Emulated;
using device::Error;
using device::Lookup;
using device::Shape;
using device::Stream;

constexpr int32_t global_mode = 0, thread_mode = 1, relaxed_mode = 2;

// A context on a device, with memory.
class Place {
 public:
  Place(int32_t device, CUstream_st* stream, gth_error_record* record = nullptr) : device_(device) {
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.device = GTH_DEVICE_CUDA;
    options.device_id = device;
    options.stream = stream;
    options.record = record;
    Error error;
    EXPECT_EQ(gth_context_create(&options, &context_, &error), GTH_OK) << error.message;
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { EXPECT_EQ(gth_context_release(context_), GTH_OK); }

  gth_context* get() const { return context_; }
  gth_tensor_desc describe(int32_t dtype, const Shape& shape, const void* data) const {
    gth_tensor_desc desc = device::describe_on_device(dtype, shape, data);
    desc.device_id = device_;
    return desc;
  }

 private:
  int32_t device_;
  gth_context* context_ = nullptr;
};

const Shape table_shape{3, 4}, picks_shape{2}, out_shape{2, 4};

// Rows of 32-bit numbers on a device, an output, and a pinned record.
struct Rows {
  explicit Rows(int32_t device)
      : table(static_cast<int32_t*>(gth_emulation_allocate_on(device, 48))),
        picks(static_cast<int64_t*>(gth_emulation_allocate_on(device, 16))),
        out(static_cast<int32_t*>(gth_emulation_allocate_on(device, 32))),
        record(static_cast<gth_error_record*>(gth_emulation_allocate_host(sizeof(gth_error_record)))) {
    *record = {};
    for (int32_t i = 0; i < 12; ++i) table[i] = i;
    picks[0] = 2;
    picks[1] = 0;
    gth_emulation_describe(table, 48);
    gth_emulation_describe(picks, 16);
    gth_emulation_describe(out, 32);
    gth_emulation_describe(record, sizeof *record);
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() {
    gth_emulation_free(table);
    gth_emulation_free(picks);
    gth_emulation_free(out);
    gth_emulation_free(record);
  }
  int32_t* table;
  int64_t* picks;
  int32_t* out;
  gth_error_record* record;
};

gth_tensor* borrow(const gth_tensor_desc& desc) {
  gth_tensor* tensor = nullptr;
  Error error;
  EXPECT_EQ(gth_tensor_borrow(&desc, &tensor, &error), GTH_OK) << error.message;
  return tensor;
}

// Calls every device function once, on a new context.
void do_everything(int32_t device, CUstream_st* stream, CUstream_st* other, const Rows& rows) {
  const Place place(device, stream, rows.record);
  const gth_tensor_desc t = place.describe(GTH_DTYPE_INT32, table_shape, rows.table);
  const gth_tensor_desc p = place.describe(GTH_DTYPE_INT64, picks_shape, rows.picks);
  const gth_tensor_desc o = place.describe(GTH_DTYPE_INT32, out_shape, rows.out);
  Error error;
  ASSERT_EQ(gth_gather(place.get(), &t, &p, &o, nullptr, &error), GTH_OK) << error.message;
  gth_tensor *table = borrow(t), *picks = borrow(p), *out = nullptr, *zeros = nullptr;
  ASSERT_EQ(device::make_gather(place.get(), table, picks, nullptr, &out, &error), GTH_OK) << error.message;
  const gth_options skip = device::with_bounds(GTH_BOUNDS_SKIP);
  ASSERT_EQ(device::make_gather(place.get(), table, picks, &skip, &zeros, &error), GTH_OK) << error.message;
  Bytes host(32);
  gth_tensor_desc h = place.describe(GTH_DTYPE_INT32, out_shape, host.data());
  h.device = GTH_DEVICE_CPU;
  h.device_id = 0;
  const int64_t turned[] = {4, 8};
  h.strides = turned;
  gth_tensor* on_host = borrow(h);
  EXPECT_EQ(calls::copy(place.get(), out, on_host, &error), GTH_OK) << error.message;
  EXPECT_EQ(gth_context_wait(place.get(), other, &error), GTH_OK) << error.message;
  EXPECT_EQ(gth_context_signal(place.get(), other, &error), GTH_OK) << error.message;
  int ended = 0;
  gth_tensor* adopted = nullptr;
  ASSERT_EQ(gth_tensor_adopt(place.get(), &p, count_end, &ended, &adopted, &error), GTH_OK) << error.message;
  for (gth_tensor* each : {adopted, table, picks, out, zeros, on_host}) EXPECT_EQ(gth_tensor_release(each), GTH_OK);
  rows.picks[0] = 3;
  ASSERT_EQ(gth_gather(place.get(), &t, &p, &o, nullptr, &error), GTH_OK) << error.message;
  facts::expect_fields(gth_context_take_error(place.get(), &error), error,
                       {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 0, 3, 3});
  rows.picks[0] = 2;
  EXPECT_EQ(gth_context_sync(place.get(), &error), GTH_OK) << error.message;
  EXPECT_EQ(ended, 1);
  for (int32_t i = 0; i < 8; ++i) EXPECT_EQ(rows.out[i], i < 4 ? 8 + i : i - 4);
}

// Includes the first call on a device and the last one.
void do_everything_from_start(int32_t device, CUstream_st* stream, CUstream_st* other, const Rows& rows) {
  gth_shutdown();
  do_everything(device, stream, other, rows);
  gth_shutdown();
}

// Uses a device of its own, so that the device is released with its last context.
class Captures : public Emulated {
 protected:
  Captures() : stream_(gth_emulation_make_stream(1)), other_(gth_emulation_make_stream(1)) {}
  ~Captures() override {
    gth_emulation_destroy_stream(stream_);
    gth_emulation_destroy_stream(other_);
  }
  void use() const { do_everything(1, stream_, other_, rows_); }
  void use_from_start() const { do_everything_from_start(1, stream_, other_, rows_); }

 private:
  CUstream_st *stream_, *other_;
  Rows rows_{1};
};

TEST_F(Captures, OfThisThreadAreNotInvalidated) {
  for (const int32_t mode : {global_mode, thread_mode, relaxed_mode}) {
    for (const bool from_start : {false, true}) {
      const Stream captured;
      gth_emulation_begin_capture_in(captured.get(), mode);
      from_start ? use_from_start() : use();
      const device::Graph graph = device::end_capture(captured.get());
      EXPECT_NE(graph, nullptr) << "mode " << mode;
      if (graph) device::destroy_graph(graph);
    }
  }
}

TEST_F(Captures, OfOtherThreadsAreNotInvalidated) {
  for (const int32_t mode : {global_mode, thread_mode, relaxed_mode}) {
    const Stream captured;
    gth_emulation_begin_capture_in(captured.get(), mode);
    std::thread([&] { use_from_start(); }).join();
    const device::Graph graph = device::end_capture(captured.get());
    EXPECT_NE(graph, nullptr) << "mode " << mode;
    if (graph) device::destroy_graph(graph);
  }
}

// The capture mode of the thread is restored, so that its own errors are still detected.
TEST_F(Captures, ModeOfTheThreadIsRestored) {
  const Stream captured;
  use_from_start();
  gth_emulation_begin_capture(captured.get());
  EXPECT_EQ(gth_emulation_allocate(8), nullptr);
  EXPECT_EQ(device::end_capture(captured.get()), nullptr);
}

// Each device has its own legacy stream. Streams and events belong to one device.
TEST_F(Emulated, ContextsOfTwoDevices) {
  for (const int32_t device : {0, 1}) {
    const Rows rows(device);
    CUstream_st* own = gth_emulation_make_stream(device);
    CUstream_st* far = gth_emulation_make_stream(1 - device);
    for (CUstream_st* stream :
         {own, static_cast<CUstream_st*>(nullptr), reinterpret_cast<CUstream_st*>(uintptr_t{2})}) {
      for (const int32_t before : {-1, 0, 1}) {
        gth_emulation_set_current(before);
        do_everything_from_start(device, stream, far, rows);
        EXPECT_EQ(gth_emulation_current(), before) << "device " << device;
      }
    }
    gth_emulation_set_current(-1);
    gth_emulation_destroy_stream(own);
    gth_emulation_destroy_stream(far);
  }
}

// The error names the device of the plan and that of the context.
TEST_F(Emulated, APlanOfAnotherDevice) {
  const Rows rows(1);
  const Place far(1, nullptr), near(0, nullptr);
  const gth_tensor_desc t = far.describe(GTH_DTYPE_INT32, table_shape, rows.table);
  const gth_tensor_desc p = far.describe(GTH_DTYPE_INT64, picks_shape, rows.picks);
  gth_plan* plan = nullptr;
  Error error;
  ASSERT_EQ(device::plan_gather(t, p, nullptr, &plan, &error), GTH_OK) << error.message;
  facts::expect_fields(gth_plan_run(near.get(), plan, GTH_OPEN, rows.table, rows.picks, rows.out, &error), error,
                       {GTH_E_DEVICE, GTH_OPERAND_PLAN, -1, -1, 1, 0});
  facts::expect_fields(calls::check(near.get(), plan, GTH_OPEN, rows.picks, &error), error,
                       {GTH_E_DEVICE, GTH_OPERAND_PLAN, -1, -1, 1, 0});
  EXPECT_EQ(gth_plan_run(far.get(), plan, GTH_OPEN, rows.table, rows.picks, rows.out, &error), GTH_OK) << error.message;
  EXPECT_EQ(gth_plan_release(plan), GTH_OK);
}

// Kernels that were compiled for devices older than 9.0 cannot wait for the previous kernel.
TEST_F(Captures, OnlyKernelsThatWaitAreLaunchedToOverlap) {
  const int64_t picks = device::in_front;
  const Rows rows(1);
  auto* indices = static_cast<int64_t*>(gth_emulation_allocate_on(1, picks * 8));
  auto* out = static_cast<int32_t*>(gth_emulation_allocate_on(1, picks * 16));
  gth_emulation_describe(indices, picks * 8);
  gth_emulation_describe(out, picks * 16);
  std::fill(indices, indices + picks, 2);
  const Shape many{picks}, many_rows{picks, 4};
  for (const int32_t compute : {80, 90, 120}) {
    gth_shutdown();
    gth_emulation_compile_for(compute);
    const Place place(1, nullptr);
    const gth_tensor_desc t = place.describe(GTH_DTYPE_INT32, table_shape, rows.table);
    const gth_tensor_desc i = place.describe(GTH_DTYPE_INT64, many, indices);
    const gth_tensor_desc o = place.describe(GTH_DTYPE_INT32, many_rows, out);
    const int64_t overlaps = gth_emulation_overlaps();
    Error error;
    EXPECT_EQ(gth_gather(place.get(), &t, &i, &o, nullptr, &error), GTH_OK) << error.message;
    EXPECT_EQ(gth_emulation_overlaps(), overlaps + (compute < 90 ? 0 : 1)) << compute;
    EXPECT_EQ(gth_context_take_error(place.get(), &error), GTH_OK) << error.message;
    EXPECT_EQ(out[4 * picks - 1], 11);
  }
  gth_emulation_compile_for(120);
  gth_shutdown();
  gth_emulation_free(indices);
  gth_emulation_free(out);
}

// Otherwise each call would map memory that the previous call has returned.
TEST_F(Captures, ThePoolKeepsAPartOfTheMemory) {
  gth_shutdown();
  const Place place(1, nullptr);
  gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
  ASSERT_EQ(gth_capabilities(&info, nullptr), GTH_OK);
  EXPECT_EQ(gth_emulation_kept(1), static_cast<uint64_t>(info.device_memory[1] / 32));
}

// Memory that is not registered with CUDA is rejected if a kernel would access it, except on devices that can.
TEST_F(Captures, PageableMemory) {
  std::vector<int32_t> table(12, 7), out(8);
  std::vector<int64_t> picks{1, 2};
  const Rows rows(1);
  for (const bool reads : {false, true}) {
    gth_shutdown();
    gth_emulation_read_pageable(reads);
    const Place place(1, nullptr);
    gth_tensor_desc operands[] = {place.describe(GTH_DTYPE_INT32, table_shape, rows.table),
                                  place.describe(GTH_DTYPE_INT64, picks_shape, rows.picks),
                                  place.describe(GTH_DTYPE_INT32, out_shape, rows.out)};
    const std::pair<const void*, int64_t> pageable[] = {{table.data(), 48}, {picks.data(), 16}, {out.data(), 32}};
    for (int32_t each = 0; each < 3; ++each) {
      gth_emulation_describe(pageable[each].first, pageable[each].second);
      const int64_t launches = gth_emulation_launches();
      const void* const known = std::exchange(operands[each].data, pageable[each].first);
      Error error;
      const int32_t status = gth_gather(place.get(), &operands[0], &operands[1], &operands[2], nullptr, &error);
      operands[each].data = known;
      EXPECT_EQ(gth_emulation_launches(), launches + (reads ? 1 : 0));
      const int32_t expected = reads ? GTH_OK : GTH_E_DEVICE;
      facts::expect_fields(status, error,
                           {expected, GTH_OPERAND_PARAMS + each, -1, -1, GTH_DEVICE_CPU, GTH_DEVICE_CUDA});
    }
    // Nothing is read, and nothing is written.
    const Shape none{0}, nothing{0, 4};
    for (gth_tensor_desc& each : operands) each.data = out.data();
    operands[1].shape = none.data();
    operands[2].shape = nothing.data();
    Error error;
    EXPECT_EQ(gth_gather(place.get(), &operands[0], &operands[1], &operands[2], nullptr, &error), GTH_OK)
        << error.message;
  }
  gth_emulation_read_pageable(0);
  gth_shutdown();
}

// CUDA rejects a stream of another device than that of the context, and the error is reported.
TEST_F(Emulated, AStreamOfAnotherDevice) {
  CUstream_st* far = gth_emulation_make_stream(1);
  {
    const Place place(0, far);
    const Rows rows(0);
    const gth_tensor_desc t = place.describe(GTH_DTYPE_INT32, table_shape, rows.table);
    const gth_tensor_desc p = place.describe(GTH_DTYPE_INT64, picks_shape, rows.picks);
    const gth_tensor_desc o = place.describe(GTH_DTYPE_INT32, out_shape, rows.out);
    Error error;
    EXPECT_EQ(gth_gather(place.get(), &t, &p, &o, nullptr, &error), GTH_E_CUDA);
    EXPECT_EQ(error.native, 400);
  }
  gth_emulation_destroy_stream(far);
}

// A query of the device of memory makes no device current.
TEST_F(Emulated, DescribingMemoryMakesNoDeviceCurrent) {
  gth_emulation_set_current(-1);
  void* far = gth_emulation_allocate_on(1, 8);
  const Shape shape{8};
  gth_tensor_desc desc = device::describe_on_device(GTH_DTYPE_INT8, shape, far);
  desc.device_id = -1;
  gth_tensor* tensor = borrow(desc);
  EXPECT_EQ(gth_emulation_current(), -1);
  EXPECT_EQ(gth_tensor_release(tensor), GTH_OK);
  gth_emulation_free(far);
}

// Returns the device of memory, or the status if it is unknown, or 100. It needs neither a context nor a driver.
int32_t describe_first(const void* memory) {
  const Shape shape{8};
  gth_tensor_desc desc = device::describe_on_device(GTH_DTYPE_INT8, shape, memory);
  desc.device_id = -1;
  gth_tensor* tensor = nullptr;
  int32_t status = gth_tensor_borrow(&desc, &tensor, nullptr);
  if (status == GTH_OK) status = gth_tensor_describe(tensor, &desc, nullptr);
  if (gth_emulation_current() >= 0) return 100;
  return status == GTH_OK ? desc.device_id : status;
}

TEST_F(Emulated, DescribingMemoryIsTheFirstCallOfTheLibrary) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process that has not used the library
  void* far = gth_emulation_allocate_on(1, 8);
  EXPECT_EXIT(std::_Exit(describe_first(far)), testing::ExitedWithCode(1), "");
  const auto without_driver = [&] {
    gth_emulation_refuse(35);
    std::_Exit(-describe_first(far));
  };
  EXPECT_EXIT(without_driver(), testing::ExitedWithCode(-GTH_E_DEVICE), "");
  gth_emulation_free(far);
}

// Work stays ordered even if the first stream runs it late. Later work of that stream is not waited for.
TEST_F(Emulated, OrderBetweenHeldStreams) {
  for (const bool signals : {false, true}) {
    const Stream one, two;
    const Context first(one.get()), second(two.get());
    Lookup lookup(6, 4, 2), later(6, 4, 2);
    lookup.pick({4, 1});
    later.pick({4, 1});
    device::hold(one.get());
    lookup.enqueue(first);
    Error error;
    ASSERT_EQ(signals ? gth_context_signal(first.get(), two.get(), &error)
                      : gth_context_wait(second.get(), one.get(), &error),
              GTH_OK)
        << error.message;
    later.enqueue(first);
    EXPECT_EQ(device::synchronize(two.get()), 0);
    lookup.expect_rows({4, 1});
    later.expect_unchanged();
    first.sync();
    later.expect_rows({4, 1});
  }
}

// A record must be in memory that kernels and the host can access without migration.
TEST_F(Emulated, ManagedMemoryIsNoRecord) {
  for (const bool managed : {false, true}) {
    void* memory = managed ? gth_emulation_allocate_managed(128) : gth_emulation_allocate_host(128);
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.device = GTH_DEVICE_CUDA;
    options.record = static_cast<gth_error_record*>(memory);
    gth_context* context = nullptr;
    Error error;
    EXPECT_EQ(gth_context_create(&options, &context, &error), managed ? GTH_E_DEVICE : GTH_OK) << error.message;
    EXPECT_EQ(gth_context_release(context), GTH_OK);
    gth_emulation_free(memory);
  }
}

// ---- tests of the emulated device

// Creates a tensor of the library on one stream.
gth_tensor* make(const Context& context, gth_tensor_desc* desc) {
  const int64_t shape[] = {2, 4};
  gth_tensor* tensor = nullptr;
  Error error;
  EXPECT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT32, 2, shape, &tensor, &error), GTH_OK) << error.message;
  EXPECT_EQ(gth_tensor_describe(tensor, desc, &error), GTH_OK) << error.message;
  return tensor;
}

class Noticed : public Emulated {
 protected:
  // An intended violation of a test is not counted as one of the library.
  void expect_violation(bool expected) {
    EXPECT_EQ(gth_emulation_violations() > before_, expected);
    gth_emulation_forgive(before_);
  }
  void begin() { before_ = gth_emulation_violations(); }

 private:
  int64_t before_ = 0;
};

TEST_F(Noticed, MemoryThatAStreamDoesNotWaitFor) {
  for (const bool in_order : {true, false}) {
    const Stream one, two;
    const Context first(one.get()), second(two.get());
    Lookup lookup(2, 4, 2);
    lookup.pick({1, 0});
    begin();
    gth_tensor_desc out = GTH_TENSOR_DESC_INIT;
    gth_tensor* owned = make(first, &out);
    if (in_order) {
      ASSERT_EQ(gth_context_wait(second.get(), one.get(), nullptr), GTH_OK);
    }
    const gth_tensor_desc p = lookup.params_desc(), i = lookup.indices_desc();
    EXPECT_EQ(gth_gather(second.get(), &p, &i, &out, nullptr, nullptr), GTH_OK);
    second.sync();
    EXPECT_EQ(gth_tensor_release(owned), GTH_OK);
    expect_violation(!in_order);
  }
}

TEST_F(Noticed, MemoryThatAStreamStillUses) {
  for (const bool in_order : {true, false}) {
    const Stream one, two;
    const Context first(one.get()), second(two.get());
    Lookup lookup(2, 4, 2);
    lookup.pick({1, 0});
    begin();
    gth_tensor_desc out = GTH_TENSOR_DESC_INIT;
    gth_tensor* owned = make(first, &out);
    ASSERT_EQ(gth_context_signal(first.get(), two.get(), nullptr), GTH_OK);
    const gth_tensor_desc p = lookup.params_desc(), i = lookup.indices_desc();
    EXPECT_EQ(gth_gather(second.get(), &p, &i, &out, nullptr, nullptr), GTH_OK);
    if (in_order) {
      ASSERT_EQ(gth_context_wait(first.get(), two.get(), nullptr), GTH_OK);
    }
    EXPECT_EQ(gth_tensor_release(owned), GTH_OK);
    first.sync();  // frees the memory
    expect_violation(!in_order);
  }
}

// A test makes a call of a context while another thread captures the stream, which callers must not do.
TEST_F(Noticed, AStreamThatAnotherThreadCaptures) {
  for (const bool same_thread : {true, false}) {
    const Stream stream;
    const Context context(stream.get());
    Lookup lookup(2, 4, 2);
    lookup.pick({1, 0});
    begin();
    const Captured captured(
        stream,
        [&] {
          if (same_thread)
            lookup.enqueue(context);
          else
            std::thread([&] { lookup.enqueue(context); }).join();
        },
        device::Mode::thread);
    expect_violation(!same_thread);
  }
}

// Tests the capture modes of CUDA and of threads.
TEST_F(Noticed, UnsafeCallsInvalidateCapturesByTheirModes) {
  const struct {
    int32_t mode;
    bool same_thread;
    bool whole;
  } cases[] = {{global_mode, true, false},  {thread_mode, true, false}, {relaxed_mode, true, true},
               {global_mode, false, false}, {thread_mode, false, true}, {relaxed_mode, false, true}};
  for (const auto& each : cases) {
    const Stream stream;
    gth_emulation_begin_capture_in(stream.get(), each.mode);
    const auto allocate = [] { gth_emulation_free(gth_emulation_allocate(8)); };
    if (each.same_thread)
      allocate();
    else
      std::thread(allocate).join();
    const device::Graph graph = device::end_capture(stream.get());
    EXPECT_EQ(graph != nullptr, each.whole) << each.mode << each.same_thread;
    if (graph) device::destroy_graph(graph);
  }
}

}  // namespace
