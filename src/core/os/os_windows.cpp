#define _WIN32_WINNT 0x0602  // Windows 8, the first with WaitOnAddress
#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <process.h>
#include <windows.h>

#include <algorithm>

#include "core/os/os.hpp"
#include "core/os/os_parts.hpp"

// <cstdlib> declares it only after a macro, which is too late if all sources are compiled as one.
extern "C" __declspec(dllimport) errno_t __cdecl rand_s(unsigned int* number);

namespace gather::core {

int64_t process_id() { return static_cast<int64_t>(GetCurrentProcessId()); }

// ---- Time, CPUs and memory

int64_t now_in_milliseconds() { return static_cast<int64_t>(GetTickCount64()); }

int64_t now_in_nanoseconds() {
  LARGE_INTEGER ticks, each_second;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&each_second);
  constexpr int64_t billion = 1000000000;
  const int64_t seconds = ticks.QuadPart / each_second.QuadPart, rest = ticks.QuadPart % each_second.QuadPart;
  return seconds * billion + rest * billion / each_second.QuadPart;
}

// Windows has no cgroups.
int32_t cgroup_cpus(const char*, const char*) { return 0; }

namespace {

// Returns the affinity of the process, or 0 if it is unknown. The affinity is 0 for a process in several groups of CPUs.
DWORD_PTR process_affinity() {
  DWORD_PTR process = 0, system = 0;
  return GetProcessAffinityMask(GetCurrentProcess(), &process, &system) ? process : 0;
}

}  // namespace

int32_t count_cpus() {
  const DWORD_PTR affinity = process_affinity();
  if (affinity != 0) return __builtin_popcountll(affinity);
  return std::max(static_cast<int32_t>(GetActiveProcessorCount(ALL_PROCESSOR_GROUPS)), 1);
}

// Large pages of Windows need a privilege and are never given back.
void advise_huge_pages(void*, int64_t) {}

void* map_pages(size_t bytes) noexcept {
  return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void unmap_pages(void* memory, size_t) noexcept {
  if (memory) VirtualFree(memory, 0, MEM_RELEASE);
}

void advise_unused(void* memory, size_t bytes) noexcept { VirtualAlloc(memory, bytes, MEM_RESET, PAGE_READWRITE); }

uint64_t random_bits() {
  unsigned int low = 0, high = 0;
  if (rand_s(&low) == 0 && rand_s(&high) == 0) return uint64_t{high} << 32 | low;
  return static_cast<uint64_t>(now_in_nanoseconds()) ^ reinterpret_cast<uintptr_t>(&random_bits);
}

// ---- Waiting

namespace {

void* address_of(const std::atomic<uint32_t>& word) { return const_cast<std::atomic<uint32_t>*>(&word); }

}  // namespace

// Windows waits for whole milliseconds.
void sleep_while(const std::atomic<uint32_t>& word, uint32_t value, int64_t microseconds) {
  constexpr int64_t longest = INFINITE - 1;
  const int64_t milliseconds = std::min(microseconds / 1000 + (microseconds % 1000 > 0), longest);
  WaitOnAddress(address_of(word), &value, sizeof value, microseconds < 0 ? INFINITE : static_cast<DWORD>(milliseconds));
}

void wake(const std::atomic<uint32_t>& word, int32_t count) {
  for (int32_t woken = 0; woken < count; ++woken) WakeByAddressSingle(address_of(word));
}

void Mutex::lock() { AcquireSRWLockExclusive(reinterpret_cast<SRWLOCK*>(&mutex_)); }
void Mutex::unlock() { ReleaseSRWLockExclusive(reinterpret_cast<SRWLOCK*>(&mutex_)); }

Uncancelled::Uncancelled() = default;
Uncancelled::~Uncancelled() { static_cast<void>(before_); }

// ---- Forks

void notice_fork() {}

void reset_in_children(ForkOrder, void (*)()) {}

// ---- Threads

namespace {

using Body = void* (*)(void*);

unsigned __stdcall begin(void* body) {
  reinterpret_cast<Body>(body)(nullptr);
  return 0;
}

// Keeps the library loaded until the process exits.
bool keep_loaded() {
  HMODULE library = nullptr;
  return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                            reinterpret_cast<LPCWSTR>(&begin), &library);
}

}  // namespace

bool start_thread(Thread* thread, int64_t stack, void* (*body)(void*)) {
  if (!keep_loaded()) return false;
  const uintptr_t started = _beginthreadex(nullptr, static_cast<unsigned>(stack), begin, reinterpret_cast<void*>(body),
                                           STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr);
  *thread = reinterpret_cast<Thread>(started);
  return started != 0;
}

int32_t current_cpu() { return static_cast<int32_t>(GetCurrentProcessorNumber()); }

void keep_off(Thread thread, int32_t cpu) {
  const DWORD_PTR all = process_affinity();
  const DWORD_PTR others = cpu < 0 || cpu >= 64 ? all : all & ~(DWORD_PTR{1} << cpu);
  if (all != 0) SetThreadAffinityMask(thread, others != 0 ? others : all);
}

void join_thread(Thread thread) {
  WaitForSingleObject(thread, INFINITE);
  CloseHandle(thread);
}

}  // namespace gather::core
