#pragma once

#include <cstdint>
#include <mutex>

#include "api/tensor.hpp"
#include "core/os.hpp"

// Handles are tokens: a slot number and the slot's generation, never an address. A token whose generation has passed,
// or that never was one, is found out without touching memory that it might point to.
namespace gather::api {

enum class Kind : uint32_t { context = 1, tensor = 2, plan = 3 };

// What a slot holds. Contexts and plans lie elsewhere; tensors, which come and go, lie in the slot itself.
union Content {
  void* object;
  Tensor tensor;
};

// Takes a free slot. nullptr: no memory for more slots. The content is the caller's to fill; the slot is found by its
// token from publish() on.
Content* acquire_slot(Kind kind, uintptr_t* token);
void publish_slot(uintptr_t token);

// The content of a live token of this kind, or nullptr.
Content* find_slot(uintptr_t token, Kind kind);

// With the lock held: ends a live token and gives its slot back.
core::Lock& slots_lock();
void end_slot(uintptr_t token);

// Ends a live token and gives its slot back, after take(content) has taken from it what the caller has to end. False:
// the token is not live, or another thread has just ended it.
template <class Take>
bool retire_slot(uintptr_t token, Kind kind, Take&& take) {
  const std::lock_guard<core::Lock> guard(slots_lock());
  const Content* content = find_slot(token, kind);
  if (!content) return false;
  take(*content);
  end_slot(token);
  return true;
}

// Gives back a slot that was never published.
void abandon_slot(uintptr_t token);

template <class Handle>
uintptr_t token_of(const Handle* handle) {
  return reinterpret_cast<uintptr_t>(handle);
}

template <class Handle>
Handle* handle_of(uintptr_t token) {
  return reinterpret_cast<Handle*>(token);
}

int32_t fail_handle(int32_t operand, const Error& error);

}  // namespace gather::api
