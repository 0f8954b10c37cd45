#pragma once

#include <atomic>
#include <cstdint>

#include "core/os/os.hpp"

namespace gather::cuda {

// Something that ends once a stream has passed. Whoever hands it over keeps no part of it.
struct Retired {
  void (*finish)(Retired* self) = nullptr;
  Retired* next = nullptr;
  void* event = nullptr;  // nullptr: it ends with the next one behind it that has an event
};

// Ends that wait, in the order in which they came. Their events are of one stream: what has passed one of them has passed
// all before it.
class Waiting {
 public:
  bool any() const { return any_.load(std::memory_order_relaxed); }
  void push(Retired* retired);
  // Ends what has passed, on a device that is current. mark(event): whether it has put one behind all that the stream
  // has been given; it is asked for if the last end has none.
  template <class Mark>
  void end_passed(void* device, Mark&& mark) {
    Chain all = take_all();
    if (!all.first) return;
    if (!all.last->event && !mark(&all.last->event)) all.last->event = nullptr;
    all.first = end_those_passed(device, all.first);
    put_back(all);
  }
  // Ends what is there when wait() begins to wait for the stream. CUDA's number of the error, which wait() returns; what
  // a capture has kept from being waited for stays.
  template <class Wait>
  int end_after(void* device, Wait&& wait) {
    const Chain all = take_all();
    const int code = wait();
    settle(device, all, code);
    return code;
  }
  void move_to(Waiting* other) { other->put_back(take_all()); }

 private:
  struct Chain {
    Retired* first = nullptr;
    Retired* last = nullptr;
  };
  static Retired* end_those_passed(void* device, Retired* first);
  Chain take_all();
  void put_back(const Chain& chain);
  void settle(void* device, const Chain& all, int code);

  std::atomic<bool> any_{false};
  core::Lock lock_;  // guards the chain
  Chain chain_;
};

}  // namespace gather::cuda
