#pragma once

#include <cstddef>
#include <new>

// The only way to heap memory in the library, so that tests can make any allocation fail.
namespace gather::core {

// malloc, or nullptr.
void* allocate(std::size_t bytes) noexcept;
// Zeroed memory, or nullptr.
void* allocate_zeroed(std::size_t bytes) noexcept;
void deallocate(void* memory) noexcept;

// Pages of their own, which go back to the system when they are given back; or nullptr.
void* allocate_pages(std::size_t bytes) noexcept;
void deallocate_pages(void* memory, std::size_t bytes) noexcept;
// Gives the memory behind them back, but keeps the pages: what they held is lost, and may be read as zero.
void discard_pages(void* memory, std::size_t bytes) noexcept;

// Base of every heap object: `new (std::nothrow)` goes through allocate().
struct Allocated {
  static void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
  static void operator delete(void* memory) noexcept { deallocate(memory); }
  static void operator delete(void* memory, const std::nothrow_t&) noexcept { deallocate(memory); }
};

}  // namespace gather::core
