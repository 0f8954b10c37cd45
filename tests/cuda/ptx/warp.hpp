#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptx {

// The threads of a warp by the stretches that each came through, put together as a device issues them: all that stand at
// the same place at once, and those that have parted one after the other until they meet again. They meet behind a branch,
// and at the head of a loop in each of its rounds.
class Warp {
 public:
  Warp(const std::vector<int>* paths, size_t size);
  // Instructions issued.
  int64_t count();

 private:
  // Where a thread stands: in its kernel, and in a function that is called there, -1 for none.
  struct Place {
    int kernel, called;
  };
  struct Thread {
    const std::vector<int>* path;
    size_t next;
    Place place;
    int loop_end;  // it waits at the head of a loop that ends there for the others in it; -1: it does not
    bool has_ended;
  };
  static void advance(Thread* thread);
  bool waits(const Thread& thread) const;

  std::vector<Thread> threads_;
};

}  // namespace ptx
