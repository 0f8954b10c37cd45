#include "api/handles.hpp"

#include <pthread.h>

#include <atomic>
#include <mutex>

#include "core/memory.hpp"
#include "core/spin_lock.hpp"

namespace gather::api {
namespace {

// A token: generation (32 bits), slot number (28 bits), kind (4 bits). No kind is 0, so that no token is NULL.
constexpr uint32_t kind_bits = 4, number_bits = 28;
constexpr uint32_t segment_slots = 1024, segments = 4096;
constexpr uint32_t none = UINT32_MAX;
// A freed slot rests until so many others have been freed, so that a stale token stays stale for long.
constexpr uint32_t resting_slots = 16;

struct Slot {
  std::atomic<uintptr_t> live;  // the token that finds it; 0: none
  uint32_t generation;          // how often it was taken
  uint32_t next;                // in the queue of free slots
  Content content;
};

struct Table {
  core::SpinLock lock;  // guards the queue; finding a slot takes no lock
  uint32_t first_free = none, last_free = none, free_count = 0;
  uint32_t used = 0;  // slots that were ever taken
  std::atomic<Slot*> segment[segments] = {};
};

Table table;

uintptr_t make_token(uint32_t generation, uint32_t number, Kind kind) {
  return (uintptr_t{generation} << (kind_bits + number_bits)) | (uintptr_t{number} << kind_bits) |
         static_cast<uintptr_t>(kind);
}

uint32_t number_of(uintptr_t token) { return static_cast<uint32_t>(token >> kind_bits) & ((1u << number_bits) - 1); }

Kind kind_of(uintptr_t token) { return static_cast<Kind>(token & ((1u << kind_bits) - 1)); }

Slot* slot_at(uint32_t number) {
  const uint32_t segment = number / segment_slots;
  if (segment >= segments) return nullptr;
  Slot* slots = table.segment[segment].load(std::memory_order_acquire);
  return slots ? slots + number % segment_slots : nullptr;
}

void lock_table() { table.lock.lock(); }
void unlock_table() { table.lock.unlock(); }

// From loading on, not from the first handle on: a fork that another thread makes while the first handle is being taken
// would leave the child a lock that nobody gives back.
__attribute__((constructor)) void watch_forks() { pthread_atfork(lock_table, unlock_table, unlock_table); }

// With the lock held. none: no memory.
uint32_t take_number() {
  const bool fresh = table.free_count < resting_slots && table.used < segments * segment_slots;
  if (!fresh && table.first_free != none) {
    const uint32_t number = table.first_free;
    table.first_free = slot_at(number)->next;
    if (table.first_free == none) table.last_free = none;
    --table.free_count;
    return number;
  }
  if (!fresh) return none;
  std::atomic<Slot*>& segment = table.segment[table.used / segment_slots];
  if (!segment.load(std::memory_order_relaxed)) {
    void* memory = core::allocate_zeroed(sizeof(Slot) * segment_slots);
    if (!memory) return none;
    segment.store(static_cast<Slot*>(memory), std::memory_order_release);
  }
  return table.used++;
}

// With the lock held.
void give_number_back(uint32_t number) {
  slot_at(number)->next = none;
  if (table.last_free == none) {
    table.first_free = number;
  } else {
    slot_at(table.last_free)->next = number;
  }
  table.last_free = number;
  ++table.free_count;
}

}  // namespace

Content* acquire_slot(Kind kind, uintptr_t* token) {
  lock_table();
  const uint32_t number = take_number();
  unlock_table();
  if (number == none) return nullptr;
  Slot* slot = slot_at(number);
  *token = make_token(++slot->generation, number, kind);
  return &slot->content;
}

void publish_slot(uintptr_t token) { slot_at(number_of(token))->live.store(token, std::memory_order_release); }

Content* find_slot(uintptr_t token, Kind kind) {
  if (kind_of(token) != kind) return nullptr;
  Slot* slot = slot_at(number_of(token));
  return slot && slot->live.load(std::memory_order_acquire) == token ? &slot->content : nullptr;
}

core::SpinLock& slots_lock() { return table.lock; }

void end_slot(uintptr_t token) {
  const uint32_t number = number_of(token);
  slot_at(number)->live.store(0, std::memory_order_release);
  give_number_back(number);
}

void abandon_slot(uintptr_t token) {
  const std::lock_guard<core::SpinLock> guard(table.lock);
  give_number_back(number_of(token));
}

int32_t fail_handle(int32_t operand, const Error& error) {
  return error.fail({GTH_E_HANDLE, operand}, "%s: not a live handle of this kind", core::operand_name(operand));
}

// Unloading gives the slots back, unless a handle still lives in one.
__attribute__((destructor)) static void free_slots() {
  const std::lock_guard<core::SpinLock> guard(table.lock);
  if (table.free_count != table.used) return;
  for (std::atomic<Slot*>& segment : table.segment) core::deallocate(segment.exchange(nullptr));
  table.first_free = table.last_free = none;
  table.free_count = table.used = 0;
}

}  // namespace gather::api
