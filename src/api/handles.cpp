#include "api/handles.hpp"

#include <atomic>
#include <mutex>

#include "core/memory.hpp"

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

// What a slot is: the token that finds it, or one of a kind that no handle has. Free ones have the next free slot of
// their segment in place of their number.
constexpr uint32_t free_kind = 0, taken_kind = 15;
constexpr size_t contents_bytes = sizeof(Content) * segment_slots;
using State = std::atomic<uintptr_t>;

struct Segment {
  std::atomic<State*> states;  // stays: generations go on
  std::atomic<Content*> contents;
  uint32_t used;  // slots that were ever taken
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
};

Table table;

uintptr_t make_token(uint32_t generation, uint32_t number, uint32_t kind) {
  return (uintptr_t{generation} << (kind_bits + number_bits)) | (uintptr_t{number} << kind_bits) | kind;
}

uint32_t generation_of(uintptr_t token) { return static_cast<uint32_t>(token >> (kind_bits + number_bits)); }

uint32_t number_of(uintptr_t token) { return static_cast<uint32_t>(token >> kind_bits) & ((1u << number_bits) - 1); }

uint32_t kind_of(uintptr_t token) { return static_cast<uint32_t>(token & ((1u << kind_bits) - 1)); }

// The slot that a token names, which was one of ours.
State& state_of(uintptr_t token) {
  const uint32_t number = number_of(token);
  return table.segment[number / segment_slots].states.load(std::memory_order_relaxed)[number % segment_slots];
}

Content* content_of(uint32_t number) {
  return table.segment[number / segment_slots].contents.load(std::memory_order_relaxed) + number % segment_slots;
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

bool allocate_contents(Segment& segment) {
  segment.contents = static_cast<Content*>(core::allocate_pages(contents_bytes));
  return segment.contents.load(std::memory_order_relaxed) != nullptr;
}

bool open_sleeping() {
  const uint32_t number = table.first_asleep;
  Segment& segment = table.segment[number];
  if (!allocate_contents(segment)) return false;
  table.first_asleep = segment.next;
  ++table.spare;
  open(number);
  return true;
}

bool open_new() {
  if (table.count == segments) return false;
  Segment& segment = table.segment[table.count];
  void* states = core::allocate_zeroed(sizeof(State) * segment_slots);
  if (!states || !allocate_contents(segment)) {
    core::deallocate(states);
    return false;
  }
  segment.states.store(static_cast<State*>(states), std::memory_order_release);
  open(table.count++);
  return true;
}

// The memory of many handles goes when they have gone.
void put_to_sleep(uint32_t number) {
  close(number);
  --table.spare;
  core::deallocate_pages(table.segment[number].contents.exchange(nullptr), contents_bytes);
  table.segment[number].next = table.first_asleep;
  table.first_asleep = number;
}

// ---- slots of a segment. All of it with the lock held.

uint32_t pop_free(Segment& segment) {
  const uint32_t slot = segment.first_free;
  segment.first_free = number_of(segment.states[slot].load(std::memory_order_relaxed));
  --segment.free_count;
  return slot;
}

void push_free(Segment& segment, uint32_t slot) {
  State* states = segment.states;
  if (segment.free_count++ == 0) {
    segment.first_free = slot;
  } else {
    const uint32_t generation = generation_of(states[segment.last_free].load(std::memory_order_relaxed));
    states[segment.last_free].store(make_token(generation, slot, free_kind), std::memory_order_relaxed);
  }
  segment.last_free = slot;
}

// A token of no handle yet; 0: no memory.
uintptr_t take_slot() {
  if (table.first_open == none && !(table.first_asleep == none ? open_new() : open_sleeping())) return 0;
  const uint32_t number = table.first_open;
  Segment& segment = table.segment[number];
  if (segment.is_idle()) --table.spare;
  const bool is_new = segment.free_count < resting_slots && segment.used < segment_slots;
  const uint32_t slot = is_new ? segment.used++ : pop_free(segment);
  if (segment.used == segment_slots && segment.free_count < resting_slots) close(number);
  State& state = segment.states[slot];
  const uint32_t generation = generation_of(state.load(std::memory_order_relaxed)) + 1;
  const uintptr_t taken = make_token(generation, number * segment_slots + slot, taken_kind);
  state.store(taken, std::memory_order_relaxed);
  return taken;
}

void give_back(uintptr_t token) {
  state_of(token).store(make_token(generation_of(token), 0, free_kind), std::memory_order_release);
  const uint32_t number = number_of(token) / segment_slots;
  Segment& segment = table.segment[number];
  push_free(segment, number_of(token) % segment_slots);
  if (!segment.is_open && segment.free_count >= worth_opening) open(number);
  if (segment.is_idle() && ++table.spare > most_spare) put_to_sleep(number);
}

// ---- forks

// The slots say themselves whether they are free. What a thread was taking that is gone stays taken.
void relist(uint32_t number) {
  Segment& segment = table.segment[number];
  segment.free_count = 0;
  for (uint32_t slot = 0; slot < segment.used; ++slot) {
    if (kind_of(segment.states[slot].load(std::memory_order_relaxed)) == free_kind) push_free(segment, slot);
  }
  if (!segment.contents.load(std::memory_order_relaxed)) {
    segment.next = table.first_asleep;
    table.first_asleep = number;
    return;
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
  table.lock.lock();
  const uintptr_t taken = take_slot();
  table.lock.unlock();
  if (!taken) return nullptr;
  *token = make_token(generation_of(taken), number_of(taken), static_cast<uint32_t>(kind));
  return content_of(number_of(taken));
}

void publish_slot(uintptr_t token) { state_of(token).store(token, std::memory_order_release); }

Content* find_slot(uintptr_t token, Kind kind) {
  const uint32_t number = number_of(token), index = number / segment_slots, slot = number % segment_slots;
  if (kind_of(token) != static_cast<uint32_t>(kind) || index >= segments) return nullptr;
  const Segment& segment = table.segment[index];
  const State* states = segment.states.load(std::memory_order_acquire);
  if (!states || states[slot].load(std::memory_order_acquire) != token) return nullptr;
  return segment.contents.load(std::memory_order_relaxed) + slot;
}

core::Lock& slots_lock() { return table.lock; }

void end_slot(uintptr_t token) { give_back(token); }

void abandon_slot(uintptr_t token) {
  const std::lock_guard<core::Lock> guard(table.lock);
  give_back(token);
}

int32_t fail_handle(int32_t operand, const Error& error) {
  return error.fail({GTH_E_HANDLE, operand}, "%s: not a live handle of this kind", core::operand_name(operand));
}

// Unloading gives the slots back, unless a handle still lives in one.
__attribute__((destructor)) static void free_slots() {
  const std::lock_guard<core::Lock> guard(table.lock);
  for (uint32_t number = 0; number < table.count; ++number) {
    if (table.segment[number].free_count != table.segment[number].used) return;
  }
  for (uint32_t number = 0; number < table.count; ++number) {
    core::deallocate(table.segment[number].states.exchange(nullptr));
    core::deallocate_pages(table.segment[number].contents.exchange(nullptr), contents_bytes);
    table.segment[number].used = table.segment[number].free_count = 0;
  }
  table.first_open = table.last_open = table.first_asleep = none;
  table.spare = table.count = 0;
}

}  // namespace gather::api
