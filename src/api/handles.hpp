#pragma once

#include <cstdint>
#include <mutex>

#include "core/base/error.hpp"
#include "core/os/os.hpp"

// A handle is a token: a slot number and the generation of the slot, never an address. A stale or foreign token is
// detected without reading memory that it may refer to.
namespace gather::api {

enum class HandleKind : uint32_t { context = 1, tensor = 2, plan = 3, column = 4 };

// The memory of a slot. It contains a tensor itself, so that a tensor needs no allocation. For a context or a plan it
// contains the address.
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

// Allocates a slot and returns its content, which the caller sets. Returns nullptr if there is no memory for another
// slot.
Content* acquire_slot(HandleKind kind, uintptr_t* token);
// Makes the token valid for find_slot.
void publish_slot(uintptr_t token);

// Returns the content of a valid token of this kind, or nullptr.
Content* find_slot(uintptr_t token, HandleKind kind);

core::Lock& slots_lock();
// Makes a token invalid and frees its slot. Precondition: the lock is held.
void free_slot(uintptr_t token);

// Makes a token invalid and frees its slot. read(content) runs before, and copies what the caller has to release.
// Returns false if the token is invalid, for example because another thread has released it.
template <class Read>
bool release_slot(uintptr_t token, HandleKind kind, Read&& read) {
  const std::lock_guard<core::Lock> guard(slots_lock());
  const Content* content = find_slot(token, kind);
  if (!content) return false;
  read(*content);
  free_slot(token);
  return true;
}

// Frees a slot that has not been published.
void free_unpublished_slot(uintptr_t token);

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
