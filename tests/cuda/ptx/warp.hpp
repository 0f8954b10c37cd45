#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptx {

struct Function;
struct Module;

// Combines the executed stretches of the threads of a warp in the order in which a device issues them. Threads at the
// same place are issued together. Diverged threads are issued one path after the other until they converge. They
// converge after a branch, and at the head of a loop in each iteration.
class Warp {
 public:
  Warp(const Module& module, const std::vector<int>* paths, size_t size);
  // Returns the number of issued instructions.
  int64_t count();

 private:
  // The place of a thread: in its kernel, and in a called function, or -1.
  struct Place {
    int kernel, called;
  };
  struct Thread {
    const std::vector<int>* path;
    size_t next;
    Place place;
    int loop_end;  // the thread waits at the head of a loop that ends there, or -1
    bool has_ended;
  };
  const Function& function_of(int stretch) const;
  void advance(Thread* thread) const;
  bool waits(const Thread& thread) const;

  const Module& module_;
  std::vector<Thread> threads_;
};

}  // namespace ptx
