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

// Child processes and durations for tests.
namespace hostile {

constexpr int skipped = 77;

// Waits for a child. Returns its exit code, or 128 plus the signal that killed it, or -1 if it did not end in time.
// Also returns -1 if the fork failed, because kill(-1) would address every process.
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

// Exits without the exit handlers of the parent. A child needs only the one that writes coverage data.
[[noreturn]] inline void leave(int code) {
#ifdef GATHER_COVERAGE
  std::exit(code);
#else
  _exit(code);
#endif
}

// Forks. The child exits with the result of the body.
template <class Body>
pid_t start_child(Body&& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) leave(body());
  return child;
}

// The timeout of a child is a multiple of its usual time, because the machine may be busy.
constexpr double patience = 60;

}  // namespace hostile
