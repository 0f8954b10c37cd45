#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "calls.hpp"
#include "files.hpp"
#include "hostile.hpp"
#include "sanitizers.hpp"

// Every kind of call needs at most the documented stack. The page below that stack is not accessible.
namespace {

using namespace hostile;

// Sanitizers enlarge frames.
constexpr size_t stack_bytes = (GATHER_SANITIZED ? 16 : 1) * size_t{64} * 1024;

// Runs the body with at most `stack_bytes` of stack. The data of the thread itself, such as the thread-local variables of
// the CUDA runtime, is above the first frame and does not count.
void on_small_stack(const std::function<void()>& body) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes = stack_bytes + 16 * page;
  char* const memory =
      static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  const std::function<void()> guarded = [&] {
    // The first frame of the body begins at a page, wherever the system has put that of the thread.
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    const volatile char* const gap = static_cast<const char*>(__builtin_alloca(here % page + 1));
    const uintptr_t lowest = (reinterpret_cast<uintptr_t>(gap) + page - 1) / page * page - stack_bytes;
    ASSERT_GT(lowest, reinterpret_cast<uintptr_t>(memory));
    const size_t unused = lowest - reinterpret_cast<uintptr_t>(memory);
    ASSERT_EQ(mprotect(memory, unused, PROT_NONE), 0);
    body();
    ASSERT_EQ(mprotect(memory, unused, PROT_READ | PROT_WRITE), 0);
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstack(&attributes, memory, bytes), 0);
  pthread_t thread;
  const auto run = [](void* given) -> void* {
    (*static_cast<const std::function<void()>*>(given))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&guarded)), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
  munmap(memory, bytes);
}

// Makes a call on a small stack and compares its status.
void expect_fits(const char* what, int32_t expected, const std::function<int32_t()>& call) {
  int32_t status = GTH_E_INTERNAL;
  on_small_stack([&] { status = call(); });
  EXPECT_EQ(status, expected) << what;
}

struct Operands {
  gth_tensor_desc params, indices, rows;
};

struct Family {
  calls::Operation gather, scatter, gradient;
};

// Calls that write memory of the caller, with bounds and reductions that take different paths.
void expect_forms_fit(const Operands& on, const Family& family, gth_options options) {
  const auto plan_and_run = [&](const calls::Operation& op, const gth_options& given) {
    Plan plan;
    const int32_t made = op.plan(&on.params, &on.indices, &on.rows, &given, plan.out(), nullptr);
    if (made) return made;
    return gth_plan_run(nullptr, plan.get(), GTH_OPEN, on.params.data, on.indices.data, const_cast<void*>(on.rows.data),
                        nullptr);
  };
  const auto run = [&](const calls::Operation& op, const gth_options& given) {
    return op.run(nullptr, &on.params, &on.indices, &on.rows, &given, nullptr);
  };
  const auto run_many = [&](const calls::Operation& op, const gth_options& given) {
    const gth_request request = GTH_REQUEST(op.number, &on.params, &on.indices, &on.rows, &given);
    const gth_request* const requests[] = {&request};
    return gth_run_many(nullptr, 1, requests, nullptr);
  };
  for (const int32_t bounds : {GTH_BOUNDS_ERROR, GTH_BOUNDS_SKIP, GTH_BOUNDS_CLAMP}) {
    options.bounds = bounds;
    expect_fits("gather", GTH_OK, [&] { return run(family.gather, options); });
    expect_fits("many", GTH_OK, [&] { return run_many(family.gather, options); });
    expect_fits("plan", GTH_OK, [&] { return plan_and_run(family.gather, options); });
    for (const int32_t accumulate : {GTH_ACCUMULATE_DTYPE, GTH_ACCUMULATE_FLOAT32, GTH_ACCUMULATE_FLOAT64}) {
      gth_options changing = options;
      changing.accumulate = accumulate;
      expect_fits("gradient", GTH_OK, [&] { return run(family.gradient, changing); });
      expect_fits("gradients", GTH_OK, [&] { return run_many(family.gradient, changing); });
      for (const int32_t reduction : {GTH_REDUCTION_NONE, GTH_REDUCTION_ADD, GTH_REDUCTION_MAX, GTH_REDUCTION_MEAN}) {
        changing.reduction = reduction;
        expect_fits("scatter", GTH_OK, [&] { return run(family.scatter, changing); });
        expect_fits("scatters", GTH_OK, [&] { return run_many(family.scatter, changing); });
        expect_fits("scatter plan", GTH_OK, [&] { return plan_and_run(family.scatter, changing); });
      }
    }
  }
}

TEST(Stack, GathersAndScattersFit) {
  for (const int64_t n : {10, 5000}) {
    for (const int64_t width : {1, 30}) {
      for (const int32_t dtype : {GTH_DTYPE_FLOAT16, GTH_DTYPE_FLOAT32}) {
        std::vector<int64_t> values(static_cast<size_t>(n * width));
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i * 7919 % 500);
        const Array params(dtype, {500, width}), rows(dtype, {n, width});
        const Shape line{n}, column{n, 1}, all{n, width}, strides{gth_dtype_size(dtype), 500 * gth_dtype_size(dtype)};
        const auto indices = [&](const Shape& shape) { return describe(GTH_DTYPE_INT64, shape, values.data()); };
        // Columns of another table, so a slice is not one row.
        const gth_tensor_desc apart = describe(dtype, params.shape(), params.data(), strides.data());
        for (const gth_tensor_desc& table : {params.desc(), apart}) {
          const gth_options first = with_axis(0), none = GTH_OPTIONS_INIT;
          expect_forms_fit({table, indices(line), rows.desc()}, {calls::gather, calls::scatter, calls::gather_gradient},
                           first);
          expect_forms_fit({table, indices(column), rows.desc()},
                           {calls::gather_nd, calls::scatter_nd, calls::gather_nd_gradient}, none);
          expect_forms_fit({table, indices(all), rows.desc()},
                           {calls::gather_elements, calls::scatter_elements, calls::gather_elements_gradient}, first);
        }
      }
    }
  }
}

// Bags whose ids are copied in blocks, and those whose rows are filled.
TEST(Stack, BagsFit) {
  const Array params(GTH_DTYPE_FLOAT32, {500, 2000}), rows(GTH_DTYPE_FLOAT32, {3, 2000});
  const Array indices = indices64({3, 700}, std::vector<int64_t>(2100, 3));
  const gth_tensor_desc p = params.desc(), i = indices.desc(), r = rows.desc();
  for (const int32_t bounds : {GTH_BOUNDS_ERROR, GTH_BOUNDS_SKIP, GTH_BOUNDS_FILL}) {
    gth_options options = with_bounds(bounds);
    options.pool = GTH_POOL_MEAN;
    options.has_padding_index = 1;
    options.empty = GTH_EMPTY_ERROR;
    const gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &p, &i, &r, &options);
    const gth_request* const requests[] = {&request};
    expect_fits("bags", GTH_OK, [&] { return gth_run_request(nullptr, &request, nullptr); });
    expect_fits("many bags", GTH_OK, [&] { return gth_run_many(nullptr, 1, requests, nullptr); });
    expect_fits("plan of bags", GTH_OK, [&] {
      Plan plan;
      const int32_t made = gth_plan_create(&request, plan.out(), nullptr);
      return made ? made : gth_plan_run(nullptr, plan.get(), GTH_OPEN, p.data, i.data, rows.data(), nullptr);
    });
  }
}

TEST(Stack, PackedRowsFit) {
  const Array bytes(GTH_DTYPE_UINT8, {500, 4096}), rows(GTH_DTYPE_FLOAT32, {2100, 3072});
  const Array indices = indices64({3, 700}, std::vector<int64_t>(2100, 3)), factors(GTH_DTYPE_FLOAT32, {500, 1});
  const Shape shape{500, 3072}, gathered{3, 700, 3072}, pooled{3, 3072};
  const gth_tensor_desc i = indices.desc(), scales = factors.desc();
  for (const char* name : {"uint8", "q4_0", "q6_k", "rowwise8"}) {
    for (const int32_t dtype : {GTH_DTYPE_FLOAT32, GTH_DTYPE_BFLOAT16}) {
      gth_codec codec = GTH_CODEC_INIT;
      ASSERT_EQ(gth_codec_named(name, &codec, nullptr), GTH_OK);
      if (codec.scale_place == GTH_PLACE_OPERAND) codec.scales = &scales;
      gth_tensor_desc params = describe(dtype, shape, bytes.data());
      params.codec = &codec;
      for (const int32_t op : {GTH_OP_GATHER, GTH_OP_GATHER_BAGS}) {
        const gth_tensor_desc out = describe(dtype, op == GTH_OP_GATHER ? gathered : pooled, rows.data());
        const gth_request request = GTH_REQUEST(op, &params, &i, &out, nullptr);
        const gth_request* const requests[] = {&request};
        expect_fits(name, GTH_OK, [&] { return gth_run_request(nullptr, &request, nullptr); });
        expect_fits("many", GTH_OK, [&] { return gth_run_many(nullptr, 1, requests, nullptr); });
        expect_fits("plan", GTH_OK, [&] {
          Plan plan;
          const int32_t made = gth_plan_create(&request, plan.out(), nullptr);
          return made ? made : gth_plan_run(nullptr, plan.get(), GTH_OPEN, bytes.data(), i.data, rows.data(), nullptr);
        });
      }
      expect_fits("borrow", GTH_OK, [&] {
        Tensor tensor;
        return gth_tensor_borrow(&params, tensor.out(), nullptr);
      });
    }
  }
}

// Opens and releases tables in files of each form, and reads them by each operation.
TEST(Stack, TablesInFilesFit) {
  const std::vector<int64_t> ids(2100, 3);
  const Array places = indices64({3, 700}, ids), bags(GTH_DTYPE_UINT8, {3, 4000}), invalid = indices64({2}, {4999, -1});
  const Array gathered(GTH_DTYPE_UINT8, {3, 700, 4000}), filled(GTH_DTYPE_UINT8, {2, 4000});
  const gth_tensor_desc i = places.desc(), b = bags.desc(), r = gathered.desc(), wrong = invalid.desc(),
                        f = filled.desc();
  for (const auto& [mode, resident] :
       {std::pair{GTH_FILES_READ, int64_t{0}}, {GTH_FILES_MAP, 0}, {GTH_FILES_MAP, files::budget}}) {
    for (const bool is_long : {false, true}) {
      files::Table table(4000, mode, resident);
      table.in_file(is_long ? 2000 : 100);
      if (is_long) table.in_memory(10, 3, 7).in_file(3000, 5, 100);
      expect_fits("open", GTH_OK, [&] { return table.open(nullptr); });
      const gth_tensor_desc p = table.desc();
      const gth_request gather = GTH_REQUEST(GTH_OP_GATHER, &p, &i, &r, nullptr);
      const gth_request pool = GTH_REQUEST(GTH_OP_GATHER_BAGS, &p, &i, &b, nullptr);
      const gth_options fill = with_bounds(GTH_BOUNDS_FILL);
      const gth_request fills = GTH_REQUEST(GTH_OP_GATHER, &p, &wrong, &f, &fill);
      for (const gth_request* const request : {&gather, &pool, &fills}) {
        expect_fits("run", GTH_OK, [&] { return gth_run_request(nullptr, request, nullptr); });
        expect_fits("many", GTH_OK, [&] { return gth_run_many(nullptr, 1, &request, nullptr); });
        expect_fits("plan", GTH_OK, [&] {
          Plan plan;
          const int32_t made = gth_plan_create(request, plan.out(), nullptr);
          return made ? made
                      : gth_plan_run(nullptr, plan.get(), GTH_OPEN, nullptr, request->indices->data,
                                     const_cast<void*>(request->rows->data), nullptr);
        });
        expect_fits("make", GTH_OK, [&] {
          gth_request new_rows = *request;
          new_rows.rows = nullptr;
          Tensor made;
          return gth_make(nullptr, &new_rows, made.out(), nullptr);
        });
      }
      expect_fits("prefetch", GTH_OK, [&] { return gth_tensor_prefetch(nullptr, table.get(), &i, nullptr, nullptr); });
      if (is_long) {
        Error error;
        ASSERT_TRUE(table.file(1).resize(1000));
        const Array unread = indices64({2}, {4500, -1});  // A page that was read would raise SIGBUS.
        const gth_tensor_desc u = unread.desc();
        const gth_request lost = GTH_REQUEST(GTH_OP_GATHER, &p, &u, &f, &fill);
        expect_fits("lost row", GTH_E_IO, [&] { return gth_run_request(nullptr, &lost, &error); });
      }
      expect_fits("release", GTH_OK, [&] {
        table.release();
        return GTH_OK;
      });
    }
  }
}

TEST(Stack, PackedRowsInFilesFit) {
  const Array bytes(GTH_DTYPE_UINT8, {500, 4096}), rows(GTH_DTYPE_FLOAT32, {2100, 3072});
  const Array indices = indices64({3, 700}, files::scattered(2100, 500)), factors(GTH_DTYPE_FLOAT32, {500, 1});
  const Shape shape{500, 3072}, column{500, 1}, gathered{3, 700, 3072}, pooled{3, 3072};
  const gth_tensor_desc i = indices.desc();
  const files::File codes, numbers;
  codes.write(0, bytes.bytes());
  numbers.write(0, factors.bytes());
  for (const char* name : {"uint8", "q4_0", "q6_k", "rowwise8"}) {
    for (const int32_t mode : files::modes) {
      const gth_files_options options = {sizeof options, mode, 0};
      gth_codec codec = GTH_CODEC_INIT;
      ASSERT_EQ(gth_codec_named(name, &codec, nullptr), GTH_OK);
      const auto open = [&](const files::File& file, const gth_tensor_desc& desc, Tensor* out) {
        gth_segment segment = GTH_SEGMENT_INIT;
        segment.path = file.path();
        segment.rows = 500;
        const gth_segment* const segments[] = {&segment};
        expect_fits("open", GTH_OK,
                    [&] { return gth_tensor_open(nullptr, &desc, 1, segments, &options, out->out(), nullptr); });
      };
      Tensor scales, table;
      open(numbers, describe(GTH_DTYPE_FLOAT32, column, nullptr), &scales);
      const gth_tensor_desc named = GTH_TENSOR_DESC_HANDLE(scales.get());
      if (codec.scale_place == GTH_PLACE_OPERAND) codec.scales = &named;
      gth_tensor_desc desc = describe(GTH_DTYPE_FLOAT32, shape, nullptr);
      desc.codec = &codec;
      open(codes, desc, &table);
      const gth_tensor_desc p = GTH_TENSOR_DESC_HANDLE(table.get());
      for (const int32_t op : {GTH_OP_GATHER, GTH_OP_GATHER_BAGS}) {
        const gth_tensor_desc out = describe(GTH_DTYPE_FLOAT32, op == GTH_OP_GATHER ? gathered : pooled, rows.data());
        const gth_request request = GTH_REQUEST(op, &p, &i, &out, nullptr);
        expect_fits(name, GTH_OK, [&] { return gth_run_request(nullptr, &request, nullptr); });
      }
    }
  }
}

TEST(Stack, GradientsOfBagsFit) {
  for (const int32_t dtype : {GTH_DTYPE_FLOAT16, GTH_DTYPE_FLOAT32}) {
    const Array params(dtype, {500, 2000}), rows(dtype, {3, 2000}), target(dtype, {500, 2000}),
        weights(dtype, {3, 700}), positions(GTH_DTYPE_INT64, {3, 2000});
    const Array indices = indices64({3, 700}, std::vector<int64_t>(2100, 3)), unique(GTH_DTYPE_INT64, {500});
    const gth_tensor_desc p = params.desc(), i = indices.desc(), r = rows.desc(), t = target.desc(), u = unique.desc(),
                          w = weights.desc(), n = positions.desc();
    for (const int32_t pool : {GTH_POOL_MEAN, GTH_POOL_MAX}) {
      gth_options options = with_bounds(GTH_BOUNDS_FILL);
      options.pool = pool;
      const gth_request request = GTH_REQUEST(GTH_OP_GATHER_BAGS, &p, &i, &r, &options);
      int64_t count = 0;
      expect_fits("gradient", GTH_OK, [&] { return gth_gather_bags_gradient(nullptr, &request, &t, nullptr); });
      expect_fits("sparse gradient", GTH_OK,
                  [&] { return gth_gather_bags_sparse_gradient(nullptr, &request, &u, &t, &count, nullptr); });
      if (pool == GTH_POOL_MAX) {
        expect_fits("positions", GTH_OK, [&] { return gth_gather_bags_positions(nullptr, &request, &n, nullptr); });
        continue;
      }
      expect_fits("weights", GTH_OK, [&] { return gth_gather_bags_weight_gradient(nullptr, &request, &w, nullptr); });
    }
  }
}

TEST(Stack, PositionsOfScattersFit) {
  const Array target(GTH_DTYPE_FLOAT32, {500, 200}), updates(GTH_DTYPE_FLOAT32, {2100, 200}),
      positions(GTH_DTYPE_INT64, {500, 200});
  const Array indices = indices64({2100}, std::vector<int64_t>(2100, 3));
  const gth_tensor_desc t = target.desc(), i = indices.desc(), u = updates.desc(), p = positions.desc();
  gth_options options = with_bounds(GTH_BOUNDS_SKIP);
  options.reduction = GTH_REDUCTION_MAX;
  const gth_request request = GTH_REQUEST(GTH_OP_SCATTER, &t, &i, &u, &options);
  expect_fits("positions", GTH_OK, [&] { return gth_scatter_positions(nullptr, &request, &p, nullptr); });
}

// Columns of another table, few enough for panels on the stack.
TEST(Stack, PackedPanelsFit) {
  const Array params(GTH_DTYPE_FLOAT32, {64, 16}), rows(GTH_DTYPE_FLOAT32, {2000, 64});
  const Array indices = indices64({2000}, std::vector<int64_t>(2000, 3));
  const Shape transposed{16, 64}, strides{4, 64};
  const gth_tensor_desc table = describe(GTH_DTYPE_FLOAT32, transposed, params.data(), strides.data());
  expect_forms_fit({table, indices.desc(), rows.desc()}, {calls::gather, calls::scatter, calls::gather_gradient},
                   with_axis(0));
  const Tensor lookup(table), places(indices.desc());
  expect_fits("tensors", GTH_OK, [&] {
    Tensor made;
    return calls::gather.make(nullptr, lookup.get(), places.get(), nullptr, nullptr, made.out(), nullptr);
  });
}

TEST(Stack, NewTensorsAndErrorsFit) {
  const Array params(GTH_DTYPE_FLOAT32, {4, 2}), rows(GTH_DTYPE_FLOAT32, {3, 2});
  const Array good = indices64({3}, {2, 0, 3}), bad = indices64({3}, {2, 0, 4});
  for (const Array* values : {&good, &bad}) {
    const int32_t expected = values == &bad ? GTH_E_INDEX : GTH_OK;
    for (const calls::Operation& op : calls::every) {
      const bool elements = op.number % 3 == 0, nd = op.number % 3 == 2;
      if (elements || nd) continue;  // their indices have another shape
      const bool gathers = op.number == GTH_OP_GATHER;
      expect_fits("tensors", expected, [&] {
        Error error;
        const Tensor table(params.desc()), indices(values->desc()), updates(rows.desc());
        Tensor made;
        const calls::Operand given = gathers ? calls::Operand(nullptr) : calls::Operand(updates.get());
        return op.make(nullptr, table.get(), indices.get(), given, nullptr, made.out(), &error);
      });
    }
  }
}

TEST(Stack, StringsFit) {
  const Shape shape{3};
  const int64_t ends[] = {0, 1, 3, 6};
  const Array order = indices64({3}, {2, 0, 1});
  expect_fits("strings", GTH_OK, [&] {
    Tensor strings, gathered, scattered;
    const int32_t made = gth_tensor_from_strings(nullptr, 0, 1, shape.data(), ends, "abbccc", 6, nullptr, nullptr,
                                                 strings.out(), nullptr);
    if (made) return made;
    const Tensor indices(order.desc());
    const int32_t status =
        calls::gather.make(nullptr, strings.get(), indices.get(), nullptr, nullptr, gathered.out(), nullptr);
    if (status) return status;
    return calls::scatter.make(nullptr, strings.get(), indices.get(), gathered.get(), nullptr, scattered.out(),
                               nullptr);
  });
}

TEST(Stack, PartitionFits) {
  constexpr int64_t n = 5000;
  std::vector<int64_t> ids, counts(4), local(n), place(n), scratch(8 * n);
  for (int64_t i = 0; i < n; ++i) ids.push_back(i * 7919 % 3000);
  const Shape line{n};
  const gth_tensor_desc desc = describe(GTH_DTYPE_INT64, line, ids.data());
  gth_shards shards = GTH_SHARDS_INIT;
  shards.rows = 3000;
  shards.count = 4;
  gth_parts parts = GTH_PARTS_INIT;
  parts.flags = GTH_PARTS_ONCE;
  parts.capacity = n;
  parts.counts = counts.data();
  parts.local = local.data();
  parts.place = place.data();
  parts.scratch = scratch.data();
  parts.scratch_bytes = static_cast<int64_t>(scratch.size() * sizeof(int64_t));
  expect_fits("partition", GTH_OK, [&] { return gth_partition(nullptr, &desc, &shards, nullptr, &parts, nullptr); });
}

}  // namespace
