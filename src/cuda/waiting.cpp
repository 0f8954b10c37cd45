#include "cuda/waiting.hpp"

#include <mutex>

#include "cuda/device_state.hpp"
#include "cuda/runtime.hpp"

namespace gather::cuda {
namespace {

// Also returns true if the query fails because the device is lost. Nothing uses the memory of a lost device. Returns
// false if a capture forbids the query.
bool has_passed(void* event) {
  bool passed = false;
  const int code = runtime::query_event(event, &passed);
  return code ? !runtime::means_capture(code) : passed;
}

void end(Device* device, Retired* retired) {
  if (retired->event) runtime::destroy_event(retired->event);
  retired->event = nullptr;
  device->finish(retired);
}

// Runs the releases up to and including `last`. Returns the next one.
Retired* end_up_to(Device* device, Retired* first, Retired* last) {
  Retired* const behind = last->next;
  while (first != behind) {
    Retired* next = first->next;
    end(device, first);
    first = next;
  }
  return behind;
}

}  // namespace

void Waiting::push(Retired* retired) {
  retired->next = nullptr;
  const std::lock_guard<core::Lock> guard(lock_);
  (chain_.last ? chain_.last->next : chain_.first) = retired;
  chain_.last = retired;
  any_.store(true, std::memory_order_relaxed);
}

Waiting::Chain Waiting::take_all() {
  const std::lock_guard<core::Lock> guard(lock_);
  const Chain all = chain_;
  chain_ = {};
  any_.store(false, std::memory_order_relaxed);
  return all;
}

// Puts the chain in front of the releases that were added meanwhile.
void Waiting::put_back(const Chain& chain) {
  if (!chain.first) return;
  const std::lock_guard<core::Lock> guard(lock_);
  chain.last->next = chain_.first;
  if (!chain_.last) chain_.last = chain.last;
  chain_.first = chain.first;
  any_.store(true, std::memory_order_relaxed);
}

Retired* Waiting::end_those_passed(Device* device, Retired* first) {
  while (first) {
    Retired* marked = first;
    while (marked && !marked->event) marked = marked->next;
    if (!marked || !has_passed(marked->event)) break;
    first = end_up_to(device, first, marked);
  }
  return first;
}

void Waiting::settle(Device* device, const Chain& all, int code) {
  if (runtime::means_capture(code))
    put_back(all);
  else if (all.first)
    end_up_to(device, all.first, all.last);
}

}  // namespace gather::cuda
