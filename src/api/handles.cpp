#include "api/handles.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/os/memory.hpp"

namespace gather::api {
namespace {

// A token: generation (32 bits), slot number (28 bits), kind (4 bits). No kind is 0, so that no token is NULL.
constexpr uint32_t kind_bits = 4, number_bits = 28;
constexpr uint32_t segment_slots = 1024, segments = 4096;
constexpr uint32_t none = segments;
// A freed slot rests until so many others of its segment have been freed, so that a stale token stays stale for long.
constexpr uint32_t resting_slots = 16;
// A segment whose slots had all been taken serves again when so many of them are free.
constexpr uint32_t worth_opening = 64;
// Segments without a handle that keep their memory, for those to come.
constexpr uint32_t most_spare = 8;

// A slot that has been taken and is no handle yet has a token of a kind that no handle has.
constexpr uint32_t taken_kind = 15;

struct Slot {
  std::atomic<uintptr_t> live;  // the token that finds it; 0: free
  uint32_t generation;          // how often it was taken
  uint32_t next;                // the next free slot of its segment
  Content content;
};

constexpr size_t segment_bytes = sizeof(Slot) * segment_slots;

struct Segment {
  uint32_t used;        // slots that were ever taken
  uint32_t generation;  // that all slots have passed which are not used
  uint32_t first_free, last_free, free_count;
  uint32_t previous, next;  // in the list of open segments, or next in that of sleeping ones
  bool is_open;

  bool is_idle() const { return free_count == segment_slots; }
};

struct Table {
  core::Lock lock;                               // guards all but what finds a slot, which takes no lock
  uint32_t first_open = none, last_open = none;  // segments with slots to take
  uint32_t first_asleep = none;                  // idle ones that have given their memory back
  uint32_t spare = 0;                            // idle ones that have not
  uint32_t count = 0;                            // segments that were ever needed
  Segment segment[segments] = {};
  std::atomic<Slot*> slots[segments] = {};
};

Table table;

uintptr_t make_token(uint32_t generation, uint32_t number, Kind kind) {
  return (uintptr_t{generation} << (kind_bits + number_bits)) | (uintptr_t{number} << kind_bits) |
         static_cast<uintptr_t>(kind);
}

uint32_t number_of(uintptr_t token) { return static_cast<uint32_t>(token >> kind_bits) & ((1u << number_bits) - 1); }

Kind kind_of(uintptr_t token) { return static_cast<Kind>(token & ((1u << kind_bits) - 1)); }

// nullptr: no slot has had this number. Its memory stays where it is, so that whoever has an old token may look.
Slot* slot_at(uint32_t number) {
  const uint32_t segment = number / segment_slots;
  if (segment >= segments) return nullptr;
  Slot* slots = table.slots[segment].load(std::memory_order_acquire);
  return slots ? slots + number % segment_slots : nullptr;
}

// ---- segments. All of it with the lock held.

void open(uint32_t number) {
  Segment& segment = table.segment[number];
  segment.is_open = true;
  segment.previous = table.last_open;
  segment.next = none;
  (table.last_open == none ? table.first_open : table.segment[table.last_open].next) = number;
  table.last_open = number;
}

void close(uint32_t number) {
  Segment& segment = table.segment[number];
  segment.is_open = false;
  (segment.previous == none ? table.first_open : table.segment[segment.previous].next) = segment.next;
  (segment.next == none ? table.last_open : table.segment[segment.next].previous) = segment.previous;
}

void wake() {
  const uint32_t number = table.first_asleep;
  table.first_asleep = table.segment[number].next;
  open(number);
}

bool open_new() {
  if (table.count == segments) return false;
  void* slots = core::allocate_pages(segment_bytes);
  if (!slots) return false;
  table.slots[table.count].store(static_cast<Slot*>(slots), std::memory_order_release);
  open(table.count++);
  return true;
}

// The memory of many handles goes when they have gone; no generation comes twice.
void put_to_sleep(uint32_t number) {
  close(number);
  --table.spare;
  Segment& segment = table.segment[number];
  Slot* slots = slot_at(number * segment_slots);
  for (uint32_t i = 0; i < segment_slots; ++i) segment.generation = std::max(segment.generation, slots[i].generation);
  segment.used = segment.free_count = 0;
  core::discard_pages(slots, segment_bytes);
  segment.next = table.first_asleep;
  table.first_asleep = number;
}

// ---- slots of a segment. All of it with the lock held.

uint32_t use_new(Segment& segment, Slot* slots) {
  slots[segment.used].generation = segment.generation;
  return segment.used++;
}

uint32_t pop_free(Segment& segment, const Slot* slots) {
  const uint32_t slot = segment.first_free;
  segment.first_free = slots[slot].next;
  --segment.free_count;
  return slot;
}

void push_free(Segment& segment, Slot* slots, uint32_t slot) {
  if (segment.free_count++ == 0) {
    segment.first_free = slot;
  } else {
    slots[segment.last_free].next = slot;
  }
  segment.last_free = slot;
}

// False: no memory.
__attribute__((noinline)) bool open_another() {
  if (table.first_asleep == none) return open_new();
  wake();
  return true;
}

// A slot that is no handle yet; nullptr: no memory.
Slot* take_slot(uint32_t* number) {
  if (table.first_open == none && !open_another()) return nullptr;
  const uint32_t open = table.first_open;
  Segment& segment = table.segment[open];
  Slot* slots = table.slots[open].load(std::memory_order_relaxed);
  if (segment.is_idle()) --table.spare;
  const bool is_new = segment.free_count < resting_slots;  // an open segment has new ones then
  const uint32_t slot = is_new ? use_new(segment, slots) : pop_free(segment, slots);
  if (segment.free_count < resting_slots && segment.used == segment_slots) close(open);
  slots[slot].live.store(taken_kind, std::memory_order_relaxed);
  *number = open * segment_slots + slot;
  return slots + slot;
}

// Seldom: a segment has many free slots.
__attribute__((noinline)) void note_room(uint32_t number) {
  if (!table.segment[number].is_open) open(number);
  if (table.segment[number].is_idle() && ++table.spare > most_spare) put_to_sleep(number);
}

void give_back(uint32_t number) {
  const uint32_t at = number / segment_slots, slot = number % segment_slots;
  Segment& segment = table.segment[at];
  Slot* slots = table.slots[at].load(std::memory_order_relaxed);
  slots[slot].live.store(0, std::memory_order_release);
  push_free(segment, slots, slot);
  if (segment.free_count >= worth_opening) note_room(at);
}

// ---- forks

// The slots say themselves whether they are free. What a thread was taking that is gone stays taken.
void relist(uint32_t number) {
  Segment& segment = table.segment[number];
  Slot* slots = slot_at(number * segment_slots);
  segment.free_count = 0;
  for (uint32_t slot = 0; slot < segment.used; ++slot) {
    if (slots[slot].live.load(std::memory_order_relaxed) == 0) push_free(segment, slots, slot);
  }
  table.spare += segment.is_idle();
  if (segment.used < segment_slots || segment.free_count >= resting_slots) open(number);
}

void reset_in_child() {
  if (!table.lock.outlive_holder()) return;
  const std::lock_guard<core::Lock> guard(table.lock);
  table.first_open = table.last_open = table.first_asleep = none;
  table.spare = 0;
  for (uint32_t number = 0; number < table.count; ++number) relist(number);
}

__attribute__((constructor)) void watch_forks() { core::reset_in_children(core::ForkOrder::handles, reset_in_child); }

}  // namespace

Content* acquire_slot(Kind kind, uintptr_t* token) {
  uint32_t number;
  table.lock.lock();
  Slot* slot = take_slot(&number);
  table.lock.unlock();
  if (!slot) return nullptr;
  *token = make_token(++slot->generation, number, kind);
  return &slot->content;
}

void publish_slot(uintptr_t token) { slot_at(number_of(token))->live.store(token, std::memory_order_release); }

Content* find_slot(uintptr_t token, Kind kind) {
  if (kind_of(token) != kind) return nullptr;
  Slot* slot = slot_at(number_of(token));
  return slot && slot->live.load(std::memory_order_acquire) == token ? &slot->content : nullptr;
}

core::Lock& slots_lock() { return table.lock; }

void end_slot(uintptr_t token) { give_back(number_of(token)); }

void abandon_slot(uintptr_t token) {
  const std::lock_guard<core::Lock> guard(table.lock);
  give_back(number_of(token));
}

int32_t fail_handle(int32_t operand, const core::Error& error) {
  return error.fail({GTH_E_HANDLE, operand}, "%s: not a live handle of this kind", core::operand_name(operand));
}

// Unloading gives the slots back, unless a handle still lives in one.
__attribute__((destructor)) static void free_slots() {
  const std::lock_guard<core::Lock> guard(table.lock);
  for (uint32_t number = 0; number < table.count; ++number) {
    if (table.segment[number].free_count != table.segment[number].used) return;
  }
  for (uint32_t number = 0; number < table.count; ++number) {
    core::deallocate_pages(table.slots[number].exchange(nullptr), segment_bytes);
    table.segment[number] = {};
  }
  table.first_open = table.last_open = table.first_asleep = none;
  table.spare = table.count = 0;
}

}  // namespace gather::api
