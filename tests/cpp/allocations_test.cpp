#include <atomic>
#include <cstdlib>

#include "hostile.hpp"
#include "sanitizers.hpp"

// Calls that write a caller's output allocate nothing. Allocations are counted at malloc, and also at the failure
// points of the library. The shipped library has no failure points.
extern "C" {
__attribute__((weak)) void gth_testing_fail_allocation(int64_t n, int32_t sticky);
__attribute__((weak)) int64_t gth_testing_allocations(void);
}

#if GATHER_SANITIZED
#define COUNTS_MALLOC 0  // the sanitizers replace malloc
#else
#define COUNTS_MALLOC 1
#endif

namespace {

std::atomic<int64_t> mallocs{0};

}  // namespace

#if COUNTS_MALLOC
// These functions of glibc underlie all other allocations. operator new calls malloc.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t align, size_t bytes);

void* malloc(size_t bytes) {
  mallocs.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  mallocs.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  mallocs.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, bytes);
}
void* memalign(size_t align, size_t bytes) {
  mallocs.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(align, bytes);
}
void* aligned_alloc(size_t align, size_t bytes) { return memalign(align, bytes); }
int posix_memalign(void** out, size_t align, size_t bytes) {
  *out = memalign(align, bytes);
  return *out ? 0 : 12;
}
}
#endif

namespace {

using namespace hostile;

constexpr int32_t f32 = GTH_DTYPE_FLOAT32;

bool has_failure_points() { return gth_testing_allocations != nullptr; }

// The allocations of a piece of code, in both counts.
class Counted {
 public:
  Counted() {
    if (has_failure_points()) gth_testing_fail_allocation(0, 0);
    before_ = mallocs;
  }
  int64_t library() const { return has_failure_points() ? gth_testing_allocations() : 0; }
  int64_t all() const { return mallocs - before_; }

 private:
  int64_t before_;
};

template <class Body>
void expect_no_allocation(const char* what, Body&& body) {
  body();  // the first call allocates once for the process
  const Counted counted;
  for (int32_t i = 0; i < 10; ++i) body();
  EXPECT_EQ(counted.library(), 0) << what;
  EXPECT_EQ(counted.all(), 0) << what;
}

class Allocations : public ::testing::TestWithParam<int32_t> {
 protected:
  static constexpr int64_t n = 1000;

  static std::vector<int64_t> values() {
    std::vector<int64_t> result(n);
    for (int64_t i = 0; i < n; ++i) result[static_cast<size_t>(i)] = i % 7;
    return result;
  }

  const Array params_{f32, {7, 9}}, indices_ = indices64({n}, values()), tuples_ = indices64({n, 1}, values());
  const Array bad_ = indices64({n}, std::vector<int64_t>(n, 7)), out_{f32, {n, 9}};
  const gth_tensor_desc p_ = params_.desc(), i_ = indices_.desc(), t_ = tuples_.desc(), b_ = bad_.desc(),
                        o_ = out_.desc();
  gth_options options_ = GTH_OPTIONS_INIT;

  void SetUp() override { options_.threads = GetParam(); }
  void TearDown() override { EXPECT_EQ(gth_shutdown(), GTH_OK); }
};

TEST_P(Allocations, DescriptionsAllocateNothing) {
  for (int32_t bounds = 0; bounds <= GTH_BOUNDS_SKIP; ++bounds) {
    options_.bounds = bounds;
    expect_no_allocation("gather", [&] { EXPECT_EQ(gth_gather(nullptr, &p_, &i_, &o_, &options_, nullptr), GTH_OK); });
    expect_no_allocation("gather_nd",
                         [&] { EXPECT_EQ(gth_gather_nd(nullptr, &p_, &t_, &o_, &options_, nullptr), GTH_OK); });
  }
}

// Calls with so few rows take the fast path.
TEST_P(Allocations, FewRowsAllocateNothing) {
  const Array few = indices64({2}, {6, 0}), few_tuples = indices64({2, 1}, {6, 0}), two(f32, {2, 9});
  const gth_tensor_desc i = few.desc(), t = few_tuples.desc(), o = two.desc();
  const Tensor params(p_), indices(i), out(o);
  expect_no_allocation("gather", [&] {
    EXPECT_EQ(gth_gather(nullptr, &p_, &i, &o, &options_, nullptr), GTH_OK);
    EXPECT_EQ(calls::gather.run(nullptr, params.get(), indices.get(), out.get(), &options_, nullptr), GTH_OK);
  });
  expect_no_allocation("gather_nd",
                       [&] { EXPECT_EQ(gth_gather_nd(nullptr, &p_, &t, &o, &options_, nullptr), GTH_OK); });
}

// A handle of rank 6 or less needs only a slot.
TEST_P(Allocations, HandlesOfLowRankAllocateNothing) {
  expect_no_allocation("borrow", [&] { const Tensor tensor(p_); });
}

TEST_P(Allocations, StridedDescriptionsAllocateNothing) {
  const Shape strides{36, 4};
  gth_tensor_desc reversed = p_;
  const Shape backwards{-36, 4};
  reversed.strides = backwards.data();
  reversed.offset = 6 * 36;
  gth_tensor_desc out = o_;
  out.strides = strides.data();
  expect_no_allocation("strided",
                       [&] { EXPECT_EQ(gth_gather(nullptr, &reversed, &i_, &out, &options_, nullptr), GTH_OK); });
}

TEST_P(Allocations, OutputsOfHandlesAllocateNothing) {
  const Tensor params(p_), indices(i_), tuples(t_), out(o_);
  expect_no_allocation("gather", [&] {
    EXPECT_EQ(calls::gather.run(nullptr, params.get(), indices.get(), out.get(), &options_, nullptr), GTH_OK);
  });
  expect_no_allocation("gather_nd", [&] {
    EXPECT_EQ(calls::gather_nd.run(nullptr, params.get(), tuples.get(), out.get(), &options_, nullptr), GTH_OK);
  });
}

TEST_P(Allocations, PlanRunsAllocateNothing) {
  Plan plan;
  const Shape open{GTH_OPEN};
  const gth_tensor_desc i = describe(GTH_DTYPE_INT64, open, nullptr);
  ASSERT_EQ(calls::gather.plan(&p_, &i, nullptr, &options_, plan.out(), nullptr), GTH_OK);
  for (int64_t rows : {int64_t{1}, int64_t{8}, int64_t{9}, int64_t{256}, n}) {
    expect_no_allocation("run", [&] {
      EXPECT_EQ(gth_plan_run(nullptr, plan.get(), rows, p_.data, i_.data, out_.data(), nullptr), GTH_OK);
    });
  }
  expect_no_allocation("shape", [&] {
    int32_t ndim = 0;
    int64_t shape[2];
    EXPECT_EQ(calls::plan_infer(plan.get(), n, 2, &ndim, shape, nullptr), GTH_OK);
  });
}

TEST_P(Allocations, FailingCallsAllocateNothing) {
  expect_no_allocation("bad index", [&] {
    Error error;
    EXPECT_EQ(gth_gather(nullptr, &p_, &b_, &o_, &options_, &error), GTH_E_INDEX);
  });
  expect_no_allocation("bad shape", [&] {
    Error error;
    EXPECT_EQ(gth_gather(nullptr, &p_, &i_, &p_, &options_, &error), GTH_E_SHAPE);
  });
}

TEST_P(Allocations, QueriesAllocateNothing) {
  expect_no_allocation("shape", [&] {
    int32_t ndim = 0;
    int64_t shape[2];
    EXPECT_EQ(calls::gather.infer(&p_, &i_, &options_, 2, &ndim, shape, nullptr), GTH_OK);
  });
  const Tensor params(p_);
  expect_no_allocation("describe", [&] {
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    EXPECT_EQ(gth_tensor_describe(params.get(), &desc, nullptr), GTH_OK);
  });
  const Array memory(f32, {7, 9});
  const Tensor copy(memory.desc());
  expect_no_allocation("copy", [&] { EXPECT_EQ(calls::copy(nullptr, params.get(), copy.get(), nullptr), GTH_OK); });
}

// Packed rows are decoded on the stack, also those that are longer than a part.
TEST_P(Allocations, PackedRowsAllocateNothing) {
  const Array bytes(GTH_DTYPE_UINT8, {7, 1300}), decoded(f32, {n, 1300}), half(GTH_DTYPE_FLOAT16, {n, 1300});
  const Array borders = indices64({3}, {0, n / 2, n}), factors = floats({7, 1}, std::vector<float>(7, 2));
  const Shape shape{7, 1300}, two{2, 1300};
  const gth_tensor_desc scales = factors.desc(), bags = borders.desc();
  for (const int32_t dtype : {f32, GTH_DTYPE_FLOAT16}) {
    gth_codec codec = GTH_CODEC_INIT;
    codec.code = GTH_CODE_UINT8;
    codec.scale_place = GTH_PLACE_OPERAND;
    codec.scales = &scales;
    gth_tensor_desc params = describe(dtype, shape, bytes.data());
    params.codec = &codec;
    const gth_tensor_desc out = (dtype == f32 ? decoded : half).desc();
    expect_no_allocation("gather",
                         [&] { EXPECT_EQ(gth_gather(nullptr, &params, &i_, &out, &options_, nullptr), GTH_OK); });
    const gth_tensor_desc sums = describe(dtype, two, out.data);
    for (const int32_t pool : {GTH_POOL_SUM, GTH_POOL_MAX}) {
      gth_options options = options_;
      options.pool = pool;
      expect_no_allocation("bags", [&] {
        EXPECT_EQ(gth_gather_bags(nullptr, &params, &i_, &bags, nullptr, &sums, &options, nullptr), GTH_OK);
      });
    }
  }
}

// A call that does allocate is counted.
TEST_P(Allocations, NewOutputsAreCounted) {
  const Tensor params(p_), indices(i_);
  const Counted counted;
  Tensor made;
  EXPECT_EQ(calls::gather.make(nullptr, params.get(), indices.get(), nullptr, &options_, made.out(), nullptr), GTH_OK);
  if (has_failure_points()) {
    EXPECT_GT(counted.library(), 0);
  }
  if (COUNTS_MALLOC) {
    EXPECT_GT(counted.all(), 0);
    EXPECT_GE(counted.all(), counted.library());
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Allocations, testing::Values(1, 3),
                         [](const auto& each) { return std::to_string(each.param); });

}  // namespace
