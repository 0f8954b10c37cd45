#include "core/os/memory.hpp"

#include <cstdlib>

#include "core/os/os.hpp"

#ifdef GATHER_TESTING
#include "core/os/testing.hpp"
#endif

namespace gather::core {
namespace {

bool refused() noexcept {
#ifdef GATHER_TESTING
  return testing_refuses_allocation();
#else
  return false;
#endif
}

}  // namespace

void* allocate(std::size_t bytes) noexcept { return refused() ? nullptr : std::malloc(bytes ? bytes : 1); }

void* allocate_zeroed(std::size_t bytes) noexcept { return refused() ? nullptr : std::calloc(bytes ? bytes : 1, 1); }

void deallocate(void* memory) noexcept { std::free(memory); }

void* allocate_pages(std::size_t bytes) noexcept { return refused() ? nullptr : map_pages(bytes); }

void deallocate_pages(void* memory, std::size_t bytes) noexcept { unmap_pages(memory, bytes); }

void discard_pages(void* memory, std::size_t bytes) noexcept { advise_unused(memory, bytes); }

}  // namespace gather::core
