#pragma once

#include <cstddef>
#include <new>

// The library allocates heap memory only with these functions, so that tests can make any allocation fail.
namespace gather::core {

// Returns uninitialised memory, or nullptr.
void* allocate(std::size_t bytes) noexcept;
// Returns memory that is zero, or nullptr.
void* allocate_zeroed(std::size_t bytes) noexcept;
void deallocate(void* memory) noexcept;

// Returns whole pages, or nullptr. deallocate_pages returns them to the system.
void* allocate_pages(std::size_t bytes) noexcept;
void deallocate_pages(void* memory, std::size_t bytes) noexcept;
// Returns the memory of pages to the system, but keeps their addresses. The content is lost, and reads may return zero.
void discard_pages(void* memory, std::size_t bytes) noexcept;

// The base class of heap objects. `new (std::nothrow)` uses allocate().
struct Allocated {
  static void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
  static void operator delete(void* memory) noexcept { deallocate(memory); }
  static void operator delete(void* memory, const std::nothrow_t&) noexcept { deallocate(memory); }
};

}  // namespace gather::core
