#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "environment.hpp"
#include "sanitizers.hpp"

// Child processes and durations of the tests that need them.
namespace hostile {

constexpr int skipped = 77;

// What became of a child: its exit code, 128 and the signal that killed it, or -1 if it did not end in time. A fork
// that failed is -1 as well: as a process number that would mean every process there is.
inline int wait_for(pid_t child, double seconds) {
  if (child < 0) return -1;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int state = 0;
  while (waitpid(child, &state, WNOHANG) != child) {
    if (std::chrono::steady_clock::now() > end) {
      kill(child, SIGKILL);
      waitpid(child, &state, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

// Without the exit handlers of the parent, of which the only one that a child needs is the one that writes coverage down.
[[noreturn]] inline void leave(int code) {
#ifdef GATHER_COVERAGE
  std::exit(code);
#else
  _exit(code);
#endif
}

// Forks; the child leaves with what the body returns.
template <class Body>
pid_t start_child(Body&& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) leave(body());
  return child;
}

// A child gets a multiple of what it needs: the machine may be busy.
constexpr double patience = 60;

}  // namespace hostile
