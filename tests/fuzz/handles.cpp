#include <algorithm>
#include <cstdlib>

#include "request.hpp"

// Sequences of calls on handles: contexts with hooks that may fail, tensors of every kind, and plans. They are created,
// used, released, and used after release.
namespace {

using namespace fuzz;

constexpr int32_t rows = 5, width = 3;
int64_t allocated, freed, adopted, deleted;
int64_t refuse_after;  // number of further allocations of the hook that succeed

void* allocate(void*, int64_t bytes, int64_t align, int32_t, int32_t, CUstream_st*) {
  if (refuse_after-- <= 0 || bytes > 1 << 20) return nullptr;
  ++allocated;
  return std::aligned_alloc(static_cast<size_t>(align), static_cast<size_t>((bytes + align - 1) / align * align));
}
void give_back(void*, int64_t, int64_t, int32_t, int32_t, CUstream_st*, void* memory) {
  ++freed;
  std::free(memory);
}

// A token of the library, or a number that never was one.
struct Handle {
  uintptr_t token = 0;
  char kind = 0;  // 'c', 't', 'p', or 0 for nothing
  bool is_live = false, has_hooks = false;
};

class Machine {
 public:
  explicit Machine(Input& input) : input_(input) {
    for (size_t i = 0; i < sizeof table_; ++i) table_[i] = static_cast<char>(i * 7 + 1);
  }

  void step() {
    switch (input_.below(11)) {
      case 0: return make_context();
      case 1: return make_borrowed();
      case 2: return make_adopted();
      case 3: return make_allocated();
      case 4: return make_plan();
      case 5:
      case 6: return release();
      case 7: return gather();
      case 8: return gather_into();
      case 9: return run_plan();
      case 10: return describe();
    }
  }

  void finish() {
    for (Handle& each : handles_) {
      if (each.is_live) require(release_of(each) == GTH_OK, "release at the end");
      each.is_live = false;
    }
    require(allocated == freed, "memory of the hooks is lost");
    require(adopted == deleted, "a deleter did not run");
  }

 private:
  static constexpr int slots = 12;

  Handle& slot() { return handles_[input_.below(slots)]; }
  // Returns an empty slot. If it contained a handle, that handle is released.
  Handle& fresh() {
    Handle& found = slot();
    if (found.is_live) require(release_of(found) == GTH_OK, "release of a live handle");
    found = {};
    return found;
  }
  // Returns any handle, including released ones, those of other kinds, and random numbers.
  Handle any() {
    if (!input_.rarely(8)) return slot();
    static constexpr uintptr_t garbage[] = {
        1, 2, 0x1000, UINTPTR_MAX, UINTPTR_MAX - 7, uintptr_t{1} << 63, uintptr_t{1} << 32};
    Handle made;
    made.token = input_.rarely(2) ? input_.word() : input_.pick(garbage);
    for (const Handle& each : handles_) {
      if (each.token == made.token) return each;  // the random number is a valid handle by chance
    }
    return made;
  }
  template <class T>
  static T* as(const Handle& handle) {
    return reinterpret_cast<T*>(handle.token);
  }
  static int32_t release_of(const Handle& handle) {
    switch (handle.kind) {
      case 'c': return gth_context_release(as<gth_context>(handle));
      case 'p': return gth_plan_release(as<gth_plan>(handle));
      default: return gth_tensor_release(as<gth_tensor>(handle));
    }
  }

  template <class T>
  void keep(Handle& at, char kind, int32_t status, T* made, bool has_hooks = false) {
    tally().count(status);
    require((status == GTH_OK) == (made != nullptr), "a handle with an error, or none without");
    if (status) return;
    for (const Handle& each : handles_)
      require(each.token != reinterpret_cast<uintptr_t>(made), "a token is handed out twice");
    at = {reinterpret_cast<uintptr_t>(made), kind, true, has_hooks};
  }

  void make_context() {
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.threads = static_cast<int32_t>(input_.below(4));
    const bool has_hooks = input_.rarely(2);
    if (has_hooks) options.alloc = allocate, options.free = give_back;
    const bool is_bad = input_.rarely(6);
    if (is_bad) options.free = has_hooks ? nullptr : give_back;
    gth_context* made = nullptr;
    Handle& at = fresh();
    const int32_t status = gth_context_create(&options, &made, fresh_error());
    require((status == GTH_E_NULL) == is_bad, "context: status");
    keep(at, 'c', status, made, has_hooks);
  }

  gth_tensor_desc table() const { return GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT8, 2, table_shape_, table_); }

  void make_borrowed() {
    const gth_tensor_desc desc = table();
    gth_tensor* made = nullptr;
    Handle& at = fresh();
    const int32_t status = gth_tensor_borrow(&desc, &made, fresh_error());
    require(status == GTH_OK, "borrow");
    keep(at, 't', status, made);
  }

  void make_adopted() {
    const gth_tensor_desc desc = table();
    gth_tensor* made = nullptr;
    Handle& at = fresh();
    const Handle context = any();
    const int32_t status =
        gth_tensor_adopt(as<gth_context>(context), &desc, [](void*) { ++deleted; }, nullptr, &made, fresh_error());
    adopted += status == GTH_OK;
    expect(status, is_context(context));
    keep(at, 't', status, made);
  }

  void make_allocated() {
    gth_tensor* made = nullptr;
    Handle& at = fresh();
    const Handle context = any();
    const int64_t shape[] = {input_.below(4), width};
    const bool may_fail = context.has_hooks && context.is_live && shape[0] > 0 && refuse_after <= 0;
    const int32_t status = gth_tensor_alloc(as<gth_context>(context), GTH_DTYPE_INT8, 2, shape, &made, fresh_error());
    expect(status, is_context(context), may_fail ? GTH_E_NOMEM : GTH_OK);
    keep(at, 't', status, made);
  }

  void make_plan() {
    gth_plan* made = nullptr;
    Handle& at = fresh();
    const gth_tensor_desc params = table();
    const int64_t open[] = {GTH_OPEN};
    const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, open, nullptr);
    const int32_t status = calls::gather.plan(&params, &indices, nullptr, nullptr, &made, fresh_error());
    require(status == GTH_OK, "plan");
    keep(at, 'p', status, made);
  }

  // Releases a handle as any kind. This succeeds only for a live handle of that kind.
  void release() {
    Handle& victim = slot();
    static constexpr char kinds[] = {'c', 't', 'p'};
    const char as_kind = input_.rarely(4) ? input_.pick(kinds) : victim.kind;
    if (!victim.token) return;
    Handle taken = victim;
    taken.kind = as_kind;
    const int32_t status = release_of(taken);
    tally().count(status);
    const bool goes = victim.is_live && victim.kind == as_kind;
    require(status == (goes ? GTH_OK : GTH_E_HANDLE), "release: status");
    if (goes) victim.is_live = false;
  }

  static bool is_context(const Handle& handle) { return handle.token == 0 || (handle.is_live && handle.kind == 'c'); }
  static bool is(const Handle& handle, char kind) { return handle.is_live && handle.kind == kind; }

  void expect(int32_t status, bool all_live, int32_t otherwise = GTH_OK) {
    const auto& error = *reinterpret_cast<const gth_error*>(memory().error.place(sizeof(gth_error)));
    if (all_live) {
      if (status != otherwise)
        fail("handles: %s, expected is %s: %s", gth_status_name(status), gth_status_name(otherwise),
             status ? error.message : "");
    } else if (status != GTH_E_HANDLE && status != GTH_E_NULL) {
      fail("handles: %s of a handle that is not live", gth_status_name(status));
    }
  }

  // Returns the number of elements of a live tensor, or 1. A dim of 0 counts as 1, because results may not have it.
  static double elements_of(const Handle& handle) {
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    double elements = 1;
    if (!is(handle, 't') || gth_tensor_describe(as<gth_tensor>(handle), &desc, nullptr)) return elements;
    for (int32_t i = 0; i < desc.ndim; ++i) elements *= std::max(static_cast<double>(desc.shape[i]), 1.0);
    return elements;
  }

  // Other targets test the content of tensors. Here the bytes of the table are used as indices, valid or not.
  void gather() {
    const Handle context = any(), params = any(), indices = any();
    constexpr double most_elements = 1 << 20;
    if (elements_of(params) * elements_of(indices) > most_elements) return;
    gth_tensor* made = nullptr;
    Handle& at = fresh();
    const bool all = is_context(context) && is(params, 't') && is(indices, 't') && is_still(context) &&
                     is_still(params) && is_still(indices);
    const int32_t status = calls::gather.make(as<gth_context>(context), as<gth_tensor>(params), as<gth_tensor>(indices),
                                              nullptr, nullptr, &made, fresh_error());
    // If operands are results of earlier calls, the result may have too many dims, or too many elements beside a dim of
    // 0.
    const bool is_usual = status == GTH_OK || status == GTH_E_INDEX || status == GTH_E_NOMEM || status == GTH_E_RANK ||
                          status == GTH_E_SIZE;
    require(all ? is_usual : status == GTH_E_HANDLE || status == GTH_E_NULL, "gather: status");
    keep(at, 't', status, made);
  }

  // fresh() may have released the chosen handle.
  bool is_still(const Handle& handle) const {
    if (handle.token == 0) return true;
    for (const Handle& each : handles_) {
      if (each.token == handle.token) return each.is_live;
    }
    return false;
  }

  void gather_into() {
    const Handle context = any(), params = any(), indices = any(), out = any();
    const bool all = is_context(context) && is(params, 't') && is(indices, 't') && is(out, 't');
    const int32_t status = calls::gather.run(as<gth_context>(context), as<gth_tensor>(params), as<gth_tensor>(indices),
                                             as<gth_tensor>(out), nullptr, fresh_error());
    tally().count(status);
    // Tensors with elements share the table, or have another shape.
    require(all ? status != GTH_E_HANDLE && status != GTH_E_NULL && status != GTH_E_INTERNAL
                : status == GTH_E_HANDLE || status == GTH_E_NULL,
            "into: status");
  }

  void run_plan() {
    const Handle context = any(), plan = any();
    const int64_t indices[] = {4, 0, 2};
    char out[3 * width];
    const int32_t status =
        gth_plan_run(as<gth_context>(context), as<gth_plan>(plan), 3, table_, indices, out, fresh_error());
    tally().count(status);
    expect(status, is_context(context) && is(plan, 'p'));
    if (status) return;
    for (int row = 0; row < 3; ++row)
      require(std::memcmp(out + row * width, table_ + indices[row] * width, width) == 0, "run: rows");
  }

  void describe() {
    const Handle tensor = any();
    gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
    const int32_t status = gth_tensor_describe(as<gth_tensor>(tensor), &desc, fresh_error());
    tally().count(status);
    expect(status, is(tensor, 't'));
  }

  Input& input_;
  Handle handles_[slots];
  const int64_t table_shape_[2] = {rows, width};
  char table_[rows * width];
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  allocated = freed = adopted = deleted = 0;
  refuse_after = input.below(8);
  Machine machine(input);
  for (size_t i = 0; i < std::min<size_t>(size, 200) / 2; ++i) machine.step();
  machine.finish();
  return 0;
}
