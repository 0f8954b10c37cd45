#pragma once

#include <atomic>
#include <cstdint>

#include "core/os/os.hpp"

namespace gather::cuda {

class Device;

// A deferred release. After it has been passed on, `finish` releases its memory.
struct Retired {
  void (*finish)(Retired* self) = nullptr;
  Retired* next = nullptr;
  void* device_memory = nullptr;  // of the library; it is freed first
  void* event = nullptr;          // of a stream; nullptr: it runs with the next entry that has an event
  int64_t number = 0;             // of an entry of Device::retire
};

// Deferred releases in order of arrival. Their events belong to one stream. So if an event has completed, all earlier
// events have completed too.
class Waiting {
 public:
  bool any() const { return any_.load(std::memory_order_relaxed); }
  void push(Retired* retired);
  // Runs the releases whose events have completed. Precondition: the device is current. mark(event) records an event
  // after all work of the stream and returns true if it could. It is called if the last release has no event.
  template <class Mark>
  void end_passed(Device* device, Mark&& mark) {
    Chain all = take_all();
    if (!all.first) return;
    if (!all.last->event && !mark(&all.last->event)) all.last->event = nullptr;
    all.first = end_those_passed(device, all.first);
    put_back(all);
  }
  // Runs the releases that are present when wait() starts to wait for the stream. Returns the error number of wait().
  // Releases stay if a capture prevented the wait.
  template <class Wait>
  int end_after(Device* device, Wait&& wait) {
    const Chain all = take_all();
    const int code = wait();
    settle(device, all, code);
    return code;
  }
  // Removes all releases and calls each(release).
  template <class Each>
  void take_each(Each&& each) {
    for (Retired* retired = take_all().first; retired;) {
      Retired* const next = retired->next;
      each(retired);
      retired = next;
    }
  }
  void move_to(Waiting* other) { other->put_back(take_all()); }

 private:
  struct Chain {
    Retired* first = nullptr;
    Retired* last = nullptr;
  };
  static Retired* end_those_passed(Device* device, Retired* first);
  Chain take_all();
  void put_back(const Chain& chain);
  void settle(Device* device, const Chain& all, int code);

  std::atomic<bool> any_{false};
  core::Lock lock_;  // guards the chain
  Chain chain_;
};

}  // namespace gather::cuda
