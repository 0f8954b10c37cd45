#include "warp.hpp"

#include <algorithm>

#include "thread.hpp"

namespace ptx {

Warp::Warp(const Module& module, const std::vector<int>* paths, size_t size) : module_(module) {
  for (size_t i = 0; i < size; ++i) {
    threads_.push_back({paths + i, 0, {-1, -1}, -1, false});
    advance(&threads_.back());
  }
}

const Function& Warp::function_of(int stretch) const {
  const Function* end = module_.functions + module_.function_count;
  return *(std::upper_bound(module_.functions, end, stretch, [](int s, const Function& f) { return s < f.first; }) - 1);
}

void Warp::advance(Thread* thread) const {
  const int before = thread->place.kernel;
  thread->loop_end = -1;
  thread->has_ended = thread->next == thread->path->size();
  if (thread->has_ended) return;
  const int stretch = (*thread->path)[thread->next++];
  if (!function_of(stretch).is_kernel) {
    thread->place.called = stretch;
    return;
  }
  thread->place = {stretch, -1};
  if (stretch <= before) thread->loop_end = before;
}

bool Warp::waits(const Thread& thread) const {
  return thread.loop_end >= 0 && std::any_of(threads_.begin(), threads_.end(), [&](const Thread& other) {
           const int at = other.place.kernel, head = thread.place.kernel;
           if (other.has_ended || at < head || at > thread.loop_end) return false;
           return at != head || other.place.called >= 0;
         });
}

int64_t Warp::count() {
  int64_t issued = 0;
  for (;;) {
    const Thread* first = nullptr;
    const auto is_before = [](const Place& a, const Place& b) {
      return a.kernel != b.kernel ? a.kernel < b.kernel : a.called < b.called;
    };
    // Chooses the earliest of the threads that do not wait. So inner loops end before outer ones.
    const Thread* innermost = nullptr;
    for (const Thread& thread : threads_) {
      if (thread.has_ended) continue;
      if (!innermost || innermost->place.kernel < thread.place.kernel) innermost = &thread;
      if ((!first || is_before(thread.place, first->place)) && !waits(thread)) first = &thread;
    }
    if (!innermost) return issued;
    const Place place = (first ? first : innermost)->place;
    issued += module_.stretches[place.called >= 0 ? place.called : place.kernel];
    for (Thread& thread : threads_) {
      if (!thread.has_ended && !is_before(thread.place, place) && !is_before(place, thread.place)) advance(&thread);
    }
  }
}

}  // namespace ptx
