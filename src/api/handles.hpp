#pragma once

#include <cstdint>
#include <mutex>

#include "core/base/error.hpp"
#include "core/os/os.hpp"

// A handle is a token: a slot number and the generation of the slot, never an address. A stale or foreign token is
// detected without reading memory that it may refer to.
namespace gather::api {

enum class Kind : uint32_t { context = 1, tensor = 2, plan = 3 };

// The memory of a slot. A tensor is stored in it, so that short-lived tensors need no allocation. Of contexts and plans it
// holds the address.
struct Content {
  alignas(8) unsigned char bytes[256];

  template <class T>
  T& as() {
    static_assert(sizeof(T) <= sizeof(Content) && alignof(T) <= 8, "the object fits the slot");
    return *reinterpret_cast<T*>(bytes);
  }
  template <class T>
  const T& as() const {
    return const_cast<Content*>(this)->as<T>();
  }
};

// Allocates a free slot. nullptr: there is no memory for more slots. The caller fills in the content. The token finds the
// slot after publish_slot.
Content* acquire_slot(Kind kind, uintptr_t* token);
void publish_slot(uintptr_t token);

// Returns the content of a live token of this kind, or nullptr.
Content* find_slot(uintptr_t token, Kind kind);

// Ends a live token and frees its slot. Precondition: the lock is held.
core::Lock& slots_lock();
void end_slot(uintptr_t token);

// Ends a live token and frees its slot. take(content) first copies what the caller has to release. False: the token is not
// live, or another thread has just ended it.
template <class Take>
bool retire_slot(uintptr_t token, Kind kind, Take&& take) {
  const std::lock_guard<core::Lock> guard(slots_lock());
  const Content* content = find_slot(token, kind);
  if (!content) return false;
  take(*content);
  end_slot(token);
  return true;
}

// Frees a slot that was never published.
void abandon_slot(uintptr_t token);

template <class Handle>
uintptr_t token_of(const Handle* handle) {
  return reinterpret_cast<uintptr_t>(handle);
}

template <class Handle>
Handle* handle_of(uintptr_t token) {
  return reinterpret_cast<Handle*>(token);
}

int32_t fail_handle(int32_t operand, const core::Error& error);

}  // namespace gather::api
