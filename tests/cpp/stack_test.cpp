#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "hostile.hpp"
#include "sanitizers.hpp"

// Every kind of call on a thread whose stack is as small as the header says that it may be, below it a page that may not be
// touched.
namespace {

using namespace hostile;

// Sanitizers make frames larger than they are in the library that is shipped.
constexpr size_t stack_bytes = (GATHER_SANITIZED ? 16 : 1) * size_t{64} * 1024;

void on_small_stack(const std::function<void()>& body) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // The thread's own data, which the C library takes from the stack, comes on top.
  const size_t bytes = stack_bytes + 2 * page;
  char* const memory =
      static_cast<char*>(mmap(nullptr, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(memory, page, PROT_NONE), 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstack(&attributes, memory + page, bytes), 0);
  pthread_t thread;
  const auto run = [](void* given) -> void* {
    (*static_cast<const std::function<void()>*>(given))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&body)), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
  munmap(memory, page + bytes);
}

// The status of a call that is made there.
void expect_fits(const char* what, int32_t expected, const std::function<int32_t()>& call) {
  int32_t status = GTH_E_INTERNAL;
  on_small_stack([&] { status = call(); });
  EXPECT_EQ(status, expected) << what;
}

struct Operands {
  gth_tensor_desc params, indices, rows;
};

// Forms that write what the caller has, with bounds and reductions that take different paths.
void expect_forms_fit(const Operands& on, decltype(&gth_gather_desc) gather, decltype(&gth_scatter_desc) scatter,
                      decltype(&gth_gather_gradient_desc) gradient, decltype(&gth_gather_plan) gather_plan,
                      decltype(&gth_scatter_plan) scatter_plan, gth_options options) {
  for (const int32_t bounds : {GTH_BOUNDS_ERROR, GTH_BOUNDS_SKIP, GTH_BOUNDS_CLAMP}) {
    options.bounds = bounds;
    const auto data = [](const gth_tensor_desc& desc) { return const_cast<void*>(desc.data); };
    expect_fits("gather", GTH_OK,
                [&] { return gather(nullptr, &on.params, &on.indices, &options, &on.rows, nullptr); });
    expect_fits("plan", GTH_OK, [&] {
      Plan plan;
      const int32_t made = gather_plan(&on.params, &on.indices, &options, &on.rows, plan.out(), nullptr);
      if (made) return made;
      return gth_plan_run(nullptr, plan.get(), on.params.data, on.indices.data, data(on.rows), GTH_OPEN, nullptr);
    });
    for (const int32_t accumulate : {GTH_ACCUMULATE_DTYPE, GTH_ACCUMULATE_FLOAT32}) {
      gth_options changing = options;
      changing.accumulate = accumulate;
      expect_fits("gradient", GTH_OK,
                  [&] { return gradient(nullptr, &on.rows, &on.indices, &changing, &on.params, nullptr); });
      for (const int32_t reduction : {GTH_REDUCTION_NONE, GTH_REDUCTION_ADD, GTH_REDUCTION_MAX}) {
        changing.reduction = reduction;
        expect_fits("scatter", GTH_OK,
                    [&] { return scatter(nullptr, &on.params, &on.indices, &on.rows, &changing, nullptr); });
        expect_fits("scatter plan", GTH_OK, [&] {
          Plan plan;
          const int32_t made = scatter_plan(&on.params, &on.indices, &changing, &on.rows, plan.out(), nullptr);
          if (made) return made;
          return gth_plan_run(nullptr, plan.get(), on.rows.data, on.indices.data, data(on.params), GTH_OPEN, nullptr);
        });
      }
    }
  }
}

TEST(Stack, OfGathersAndScatters) {
  for (const int64_t n : {10, 5000}) {
    for (const int64_t width : {1, 30}) {
      for (const int32_t dtype : {GTH_DTYPE_FLOAT16, GTH_DTYPE_FLOAT32}) {
        std::vector<int64_t> values(static_cast<size_t>(n * width));
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i * 7919 % 500);
        const Array params(dtype, {500, width}), rows(dtype, {n, width});
        const Shape line{n}, column{n, 1}, all{n, width}, strides{gth_dtype_size(dtype), 500 * gth_dtype_size(dtype)};
        const auto indices = [&](const Shape& shape) { return describe(GTH_DTYPE_INT64, shape, values.data()); };
        // Columns of another table: slices that are not one row.
        const gth_tensor_desc apart = describe(dtype, params.shape(), params.data(), strides.data());
        for (const gth_tensor_desc& table : {params.desc(), apart}) {
          const gth_options first = with_axis(0), none = GTH_OPTIONS_INIT;
          expect_forms_fit({table, indices(line), rows.desc()}, gth_gather_desc, gth_scatter_desc,
                           gth_gather_gradient_desc, gth_gather_plan, gth_scatter_plan, first);
          expect_forms_fit({table, indices(column), rows.desc()}, gth_gather_nd_desc, gth_scatter_nd_desc,
                           gth_gather_nd_gradient_desc, gth_gather_nd_plan, gth_scatter_nd_plan, none);
          expect_forms_fit({table, indices(all), rows.desc()}, gth_gather_elements_desc, gth_scatter_elements_desc,
                           gth_gather_elements_gradient_desc, gth_gather_elements_plan, gth_scatter_elements_plan,
                           first);
        }
      }
    }
  }
}

TEST(Stack, OfNewTensorsAndErrors) {
  const Array params(GTH_DTYPE_FLOAT32, {4, 2}), rows(GTH_DTYPE_FLOAT32, {3, 2});
  const Array good = indices64({3}, {2, 0, 3}), bad = indices64({3}, {2, 0, 4});
  for (const Array* values : {&good, &bad}) {
    const int32_t expected = values == &bad ? GTH_E_INDEX : GTH_OK;
    expect_fits("tensors", expected, [&] {
      Error error;
      const Tensor table(params.desc()), indices(values->desc()), updates(rows.desc());
      Tensor made;
      const int32_t status = gth_gather(nullptr, table.get(), indices.get(), nullptr, made.out(), &error);
      Tensor scattered;
      const int32_t same =
          gth_scatter(nullptr, table.get(), indices.get(), updates.get(), nullptr, scattered.out(), &error);
      return same == status ? status : GTH_E_INTERNAL;
    });
  }
}

TEST(Stack, OfStrings) {
  const Shape shape{3};
  const int64_t ends[] = {0, 1, 3, 6};
  const Array order = indices64({3}, {2, 0, 1});
  expect_fits("strings", GTH_OK, [&] {
    Tensor strings, gathered, scattered;
    const int32_t made = gth_tensor_from_strings(nullptr, 0, 1, shape.data(), ends, "abbccc", 6, nullptr, nullptr,
                                                 strings.out(), nullptr);
    if (made) return made;
    const Tensor indices(order.desc());
    const int32_t status = gth_gather(nullptr, strings.get(), indices.get(), nullptr, gathered.out(), nullptr);
    if (status) return status;
    return gth_scatter(nullptr, strings.get(), indices.get(), gathered.get(), nullptr, scattered.out(), nullptr);
  });
}

TEST(Stack, OfPartitions) {
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
