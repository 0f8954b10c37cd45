#include "api/handles.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/os/memory.hpp"

namespace gather::api {
namespace {

// A token consists of a generation (32 bits), a slot number (28 bits) and a kind (4 bits). No kind is 0, so no token is
// NULL.
constexpr uint32_t kind_bits = 4, number_bits = 28;
constexpr uint32_t segment_slots = 1024, segments = 4096;
constexpr uint32_t none = segments;
// A freed slot is reused only after this number of other slots of its segment have been freed. The delay makes it less
// likely that a stale token refers to a reused slot.
constexpr uint32_t min_free_slots = 16;
// A full segment is used again when this number of its slots are free.
constexpr uint32_t reopen_free_slots = 64;
// The number of segments without handles that keep their memory.
constexpr uint32_t most_spare = 8;

// A slot that is allocated but not published has a token of this kind, which no handle has.
constexpr uint32_t unpublished_kind = 15;

struct Slot {
  std::atomic<uintptr_t> live;  // the token of the slot, or 0 if the slot is free
  uint32_t generation;          // the number of allocations of the slot
  uint32_t next;                // the next free slot of its segment
  Content content;
};

constexpr size_t segment_bytes = sizeof(Slot) * segment_slots;

struct Segment {
  uint32_t used;        // Slots [0, used) have been allocated at least once.
  uint32_t generation;  // the generation that each slot in [used, segment_slots) begins with
  uint32_t first_free, last_free, free_count;
  uint32_t previous, next;  // neighbours in the list of open segments, or the next segment in the list of empty ones
  bool is_open;

  bool is_idle() const { return free_count == segment_slots; }
};

struct SlotTable {
  core::Lock lock;                               // guards everything except `slots` and Slot::live
  uint32_t first_open = none, last_open = none;  // the list of segments from which slots are allocated
  uint32_t first_empty = none;                   // the list of idle segments without memory
  uint32_t spare = 0;                            // the number of idle segments with memory
  uint32_t count = 0;                            // the number of segments
  uint32_t first_generation = 0;                 // is added to the generation of each token
  Segment segment[segments] = {};
  std::atomic<Slot*> slots[segments] = {};
};

SlotTable table;

uintptr_t make_token(uint32_t generation, uint32_t number, HandleKind kind) {
  return (uintptr_t{generation} << (kind_bits + number_bits)) | (uintptr_t{number} << kind_bits) |
         static_cast<uintptr_t>(kind);
}

uint32_t number_of(uintptr_t token) { return static_cast<uint32_t>(token >> kind_bits) & ((1u << number_bits) - 1); }

HandleKind kind_of(uintptr_t token) { return static_cast<HandleKind>(token & ((1u << kind_bits) - 1)); }

// Returns nullptr if no slot has had this number. The address of a slot stays valid, so that old tokens can be looked
// up.
Slot* slot_at(uint32_t number) {
  const uint32_t segment = number / segment_slots;
  if (segment >= segments) return nullptr;
  Slot* slots = table.slots[segment].load(std::memory_order_acquire);
  return slots ? slots + number % segment_slots : nullptr;
}

// ---- Segments. Precondition: the lock is held.

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

void open_empty() {
  const uint32_t number = table.first_empty;
  table.first_empty = table.segment[number].next;
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

// Returns the pages of an idle segment to the system. The segment keeps its highest generation, so that no generation
// is used twice.
void discard_slots(uint32_t number) {
  close(number);
  --table.spare;
  Segment& segment = table.segment[number];
  Slot* slots = slot_at(number * segment_slots);
  for (uint32_t i = 0; i < segment_slots; ++i) segment.generation = std::max(segment.generation, slots[i].generation);
  segment.used = segment.free_count = 0;
  core::discard_pages(slots, segment_bytes);
  segment.next = table.first_empty;
  table.first_empty = number;
}

// ---- Slots of a segment. Precondition: the lock is held.

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

// Returns false if there is no memory.
__attribute__((noinline)) bool open_another() {
  if (table.first_empty == none) return open_new();
  open_empty();
  return true;
}

// Allocates a slot. Returns nullptr if there is no memory.
Slot* allocate_slot(uint32_t* number) {
  if (table.first_open == none && !open_another()) return nullptr;
  const uint32_t open = table.first_open;
  Segment& segment = table.segment[open];
  Slot* slots = table.slots[open].load(std::memory_order_relaxed);
  if (segment.is_idle()) --table.spare;
  // An open segment has at least min_free_slots free slots, or slots that were never used.
  const bool is_new = segment.free_count < min_free_slots;
  const uint32_t slot = is_new ? use_new(segment, slots) : pop_free(segment, slots);
  if (segment.free_count < min_free_slots && segment.used == segment_slots) close(open);
  slots[slot].live.store(unpublished_kind, std::memory_order_relaxed);
  *number = open * segment_slots + slot;
  return slots + slot;
}

// Opens a segment that has many free slots, or discards its memory if there are enough idle segments.
__attribute__((noinline)) void update_segment(uint32_t number) {
  if (!table.segment[number].is_open) open(number);
  if (table.segment[number].is_idle() && ++table.spare > most_spare) discard_slots(number);
}

void free_number(uint32_t number) {
  const uint32_t at = number / segment_slots, slot = number % segment_slots;
  Segment& segment = table.segment[at];
  Slot* slots = table.slots[at].load(std::memory_order_relaxed);
  slots[slot].live.store(0, std::memory_order_release);
  push_free(segment, slots, slot);
  if (segment.free_count >= reopen_free_slots) update_segment(at);
}

// ---- Forks

// Rebuilds the list of free slots of a segment. A slot that another thread was allocating during the fork stays
// allocated in the child.
void rebuild_free_list(uint32_t number) {
  Segment& segment = table.segment[number];
  Slot* slots = slot_at(number * segment_slots);
  segment.free_count = 0;
  for (uint32_t slot = 0; slot < segment.used; ++slot) {
    if (slots[slot].live.load(std::memory_order_relaxed) == 0) push_free(segment, slots, slot);
  }
  table.spare += segment.is_idle();
  if (segment.used < segment_slots || segment.free_count >= min_free_slots) open(number);
}

void reset_in_child() {
  if (!table.lock.outlive_holder()) return;
  const std::lock_guard<core::Lock> guard(table.lock);
  table.first_open = table.last_open = table.first_empty = none;
  table.spare = 0;
  for (uint32_t number = 0; number < table.count; ++number) rebuild_free_list(number);
}

__attribute__((constructor)) void watch_forks() { core::reset_in_children(core::ForkOrder::handles, reset_in_child); }

// Tokens begin at random bits. So a token of another copy of the library, or of an earlier load, is detected.
__attribute__((constructor)) void choose_generation() {
  table.first_generation = static_cast<uint32_t>(core::random_bits());
}

}  // namespace

Content* acquire_slot(HandleKind kind, uintptr_t* token) {
  uint32_t number;
  table.lock.lock();
  Slot* slot = allocate_slot(&number);
  table.lock.unlock();
  if (!slot) return nullptr;
  *token = make_token(table.first_generation + ++slot->generation, number, kind);
  return &slot->content;
}

void publish_slot(uintptr_t token) { slot_at(number_of(token))->live.store(token, std::memory_order_release); }

Content* find_slot(uintptr_t token, HandleKind kind) {
  if (kind_of(token) != kind) return nullptr;
  Slot* slot = slot_at(number_of(token));
  return slot && slot->live.load(std::memory_order_acquire) == token ? &slot->content : nullptr;
}

core::Lock& slots_lock() { return table.lock; }

void free_slot(uintptr_t token) { free_number(number_of(token)); }

void free_unpublished_slot(uintptr_t token) {
  const std::lock_guard<core::Lock> guard(table.lock);
  free_number(number_of(token));
}

int32_t fail_handle(int32_t operand, const core::Error& error) {
  return error.fail({GTH_E_HANDLE, operand}, "%s: not a live handle of this kind", core::operand_name(operand));
}

// Frees all slots when the library is unloaded, unless a handle still exists.
__attribute__((destructor)) static void free_slots() {
  const std::lock_guard<core::Lock> guard(table.lock);
  for (uint32_t number = 0; number < table.count; ++number) {
    if (table.segment[number].free_count != table.segment[number].used) return;
  }
  for (uint32_t number = 0; number < table.count; ++number) {
    core::deallocate_pages(table.slots[number].exchange(nullptr), segment_bytes);
    table.segment[number] = {};
  }
  table.first_open = table.last_open = table.first_empty = none;
  table.spare = table.count = 0;
}

}  // namespace gather::api
