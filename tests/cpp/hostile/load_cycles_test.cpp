#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gather/gather.h"
#include "gtest/gtest.h"
#include "process_memory.hpp"
#include "processes.hpp"
#include "sanitizers.hpp"

// Loading and unloading. This program is not linked with the library.
namespace {

bool is_mapped() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("libgather") != std::string::npos) return true;
  }
  return false;
}

template <class Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

constexpr int64_t n = 50000;
char params[8], out[n];
int64_t indices[n];

// Creates and releases one handle.
int hold(void* library) {
  gth_tensor_desc p = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT8, 0, nullptr, params);
  gth_tensor* tensor = nullptr;
  if (find<decltype(gth_tensor_borrow)>(library, "gth_tensor_borrow")(&p, &tensor, nullptr)) return 1;
  return find<decltype(gth_tensor_release)>(library, "gth_tensor_release")(tensor) ? 2 : 0;
}

// Gathers on the library's threads and creates a handle. dlclose must release everything else.
const char* use(void* library) {
  const int64_t rows = 8;
  gth_tensor_desc p = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT8, 1, &rows, params);
  gth_tensor_desc i = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &n, indices);
  gth_tensor_desc o = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT8, 1, &n, out);
  gth_options options = GTH_OPTIONS_INIT;
  options.threads = 2;
  gth_error error = GTH_ERROR_INIT;
  gth_tensor* tensor = nullptr;
  if (find<decltype(gth_gather)>(library, "gth_gather")(nullptr, &p, &i, &o, &options, &error)) return "gather";
  if (out[n - 1] != params[indices[n - 1]]) return "row";
  if (find<decltype(gth_tensor_alloc)>(library, "gth_tensor_alloc")(nullptr, GTH_DTYPE_INT8, 1, &n, &tensor, &error)) {
    return "alloc";
  }
  return find<decltype(gth_tensor_release)>(library, "gth_tensor_release")(tensor) ? "release" : nullptr;
}

TEST(Hostile, G8_ThousandLoadCyclesLeaveNothingMapped) {
  for (int64_t i = 0; i < n; ++i) indices[i] = i % 8;
  for (int i = 0; i < 8; ++i) params[i] = static_cast<char>(i + 1);
  ASSERT_FALSE(is_mapped());
  int64_t mapped = 0;
  for (int cycle = 0; cycle < 1000; ++cycle) {
    const char* wrong = "load";
    std::thread([&] {
      void* library = dlopen(GATHER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
      if (!library) return;
      wrong = use(library);
      if (dlclose(library) != 0) wrong = "unload";
    }).join();
    ASSERT_EQ(wrong, nullptr) << wrong << " in cycle " << cycle;
    if (cycle % 100 == 0) {
      ASSERT_FALSE(is_mapped()) << "after cycle " << cycle;
    }
    if (cycle == 100) mapped = hostile::process_memory().mapped;
  }
  EXPECT_FALSE(is_mapped());
  if (GATHER_SANITIZED) return;  // sanitizers use additional memory
  const int64_t left = hostile::process_memory().mapped - mapped;
  EXPECT_LT(left, 900 * 4 * sysconf(_SC_PAGESIZE)) << "what a cycle leaves, the slots of handles first of all";
}

// ---- Copies of the library in one process

// The path of a copy of the library in a new file. The loader does not load a file twice.
class Copy {
 public:
  Copy() {
    std::ifstream from(GATHER_LIBRARY, std::ios::binary);
    std::ofstream to(path_, std::ios::binary);
    to << from.rdbuf();
  }
  ~Copy() { std::remove(path_.c_str()); }
  const char* path() const { return path_.c_str(); }

 private:
  const std::string path_ = testing::TempDir() + "gather_copy_" + std::to_string(getpid()) + ".so";
};

constexpr int handles_of_a_copy = 200;

struct Handles {
  gth_tensor* tensor;
  gth_plan* plan;
  gth_context* context;
};

// Creates handles that refer to this memory.
std::vector<Handles> create_handles(void* library) {
  static const int64_t shape[] = {8};
  const gth_tensor_desc p = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT8, 1, shape, params);
  const gth_tensor_desc i = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, shape, indices);
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &p, &i, nullptr, nullptr);
  std::vector<Handles> all;
  for (int k = 0; k < handles_of_a_copy; ++k) {
    Handles each{};
    find<decltype(gth_tensor_borrow)>(library, "gth_tensor_borrow")(&p, &each.tensor, nullptr);
    find<decltype(gth_plan_create)>(library, "gth_plan_create")(&request, &each.plan, nullptr);
    find<decltype(gth_context_create)>(library, "gth_context_create")(nullptr, &each.context, nullptr);
    all.push_back(each);
  }
  return all;
}

// Expects that a library rejects handles of another one.
void expect_foreign(void* library, const std::vector<Handles>& handles) {
  gth_plan_args args = GTH_PLAN_ARGS_INIT;
  for (const Handles& each : handles) {
    ASSERT_TRUE(each.tensor && each.plan && each.context);
    EXPECT_EQ(find<decltype(gth_plan_extents)>(library, "gth_plan_extents")(each.plan, &args, nullptr), GTH_E_HANDLE);
    EXPECT_EQ(find<decltype(gth_tensor_release)>(library, "gth_tensor_release")(each.tensor), GTH_E_HANDLE);
    EXPECT_EQ(find<decltype(gth_plan_release)>(library, "gth_plan_release")(each.plan), GTH_E_HANDLE);
    EXPECT_EQ(find<decltype(gth_context_release)>(library, "gth_context_release")(each.context), GTH_E_HANDLE);
  }
}

void release_handles(void* library, const std::vector<Handles>& handles) {
  for (const Handles& each : handles) {
    EXPECT_EQ(find<decltype(gth_tensor_release)>(library, "gth_tensor_release")(each.tensor), GTH_OK);
    EXPECT_EQ(find<decltype(gth_plan_release)>(library, "gth_plan_release")(each.plan), GTH_OK);
    EXPECT_EQ(find<decltype(gth_context_release)>(library, "gth_context_release")(each.context), GTH_OK);
  }
}

TEST(Copies, HandleOfAnotherCopyIsRejected) {
  const Copy copy;
  void *const one = dlopen(GATHER_LIBRARY, RTLD_NOW | RTLD_LOCAL), *const other = dlopen(copy.path(), RTLD_NOW);
  ASSERT_TRUE(one && other && one != other) << dlerror();
  const std::vector<Handles> of_one = create_handles(one), of_other = create_handles(other);
  expect_foreign(one, of_other);
  expect_foreign(other, of_one);
  release_handles(one, of_one);
  release_handles(other, of_other);
  ASSERT_EQ(dlclose(one) | dlclose(other), 0);
}

TEST(Copies, HandleOfAnEarlierLoadIsRejected) {
  const Copy copy;
  void* library = dlopen(copy.path(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const std::vector<Handles> before = create_handles(library);
  release_handles(library, before);
  ASSERT_EQ(dlclose(library), 0);
  library = dlopen(copy.path(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const std::vector<Handles> now = create_handles(library);
  expect_foreign(library, before);
  release_handles(library, now);
  ASSERT_EQ(dlclose(library), 0);
}

// The process forks while another thread creates the first handle of the library. The child can create handles too.
TEST(Hostile, G3_ForkDuringTheFirstHandleLeavesTheChildUsable) {
  const int64_t forks = environment::number("GATHER_FORKS", 100);
  for (int64_t k = 0; k < forks; ++k) {
    void* library = dlopen(GATHER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    std::atomic<bool> started{false}, stop{false};
    std::thread other([&] {
      started = true;
      while (!stop) hold(library);
    });
    while (!started) std::this_thread::yield();
    const int child = hostile::wait_for(hostile::start_child([&] { return hold(library); }), hostile::patience);
    stop = true;
    other.join();
    ASSERT_EQ(dlclose(library), 0);
    ASSERT_EQ(child, 0) << "child " << k;
  }
}

decltype(gth_tensor_release)* release_in_handler = nullptr;
std::atomic<gth_tensor*> to_release[3];

template <int at>
void release_one() {
  if (gth_tensor* tensor = to_release[at].exchange(nullptr)) release_in_handler(tensor);
}

// Fork handlers that were registered before those of the library run inside them. They may release tensors.
int release_while_forking() {
  if (pthread_atfork(release_one<0>, release_one<1>, release_one<2>) != 0) return 1;
  void* library = dlopen(GATHER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) return 2;
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) hold(library);
  });
  release_in_handler = find<decltype(gth_tensor_release)>(library, "gth_tensor_release");
  gth_tensor_desc p = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT8, 0, nullptr, params);
  int wrong = 0;
  const int64_t forks = environment::number("GATHER_FORKS", 100);
  for (int64_t k = 0; k < forks && !wrong; ++k) {
    for (auto& each : to_release) {
      gth_tensor* tensor = nullptr;
      if (find<decltype(gth_tensor_borrow)>(library, "gth_tensor_borrow")(&p, &tensor, nullptr)) return 3;
      each = tensor;
    }
    wrong = hostile::wait_for(hostile::start_child([&] { return hold(library); }), hostile::patience);
    release_one<2>();
  }
  stop = true;
  other.join();
  return wrong;
}

TEST(Hostile, G3_TensorsCanBeReleasedInForkHandlers) {
  const double seconds = static_cast<double>(environment::number("GATHER_FORKS", 100));
  EXPECT_EQ(hostile::wait_for(hostile::start_child(release_while_forking), hostile::patience + seconds), 0);
}

}  // namespace
