#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>

#include "hostile.hpp"
#include "processes.hpp"

// Forks in a signal handler, at any point of the program.
namespace {

using namespace hostile;

std::atomic<int64_t> forks{0};
std::atomic<bool> is_child{false};

// Requests one signal. The interrupted code continues between two signals, even on a busy machine.
void ask_for_signal() {
  const itimerval soon{{0, 0}, {0, 300}};
  setitimer(ITIMER_REAL, &soon, nullptr);
}

// Forks in a signal handler. If `leaves`, the child exits in the handler. Otherwise it continues.
template <bool leaves>
void fork_in_handler(int) {
  const pid_t child = fork();
  if (child == 0 && leaves) _exit(0);
  if (child == 0) return is_child.store(true);
  if (wait_for(child, patience) != 0) _exit(1);
  ++forks;
  ask_for_signal();
}

// Creates handles and is interrupted while it does.
template <bool leaves>
int make_handles() {
  struct sigaction action = {};
  action.sa_handler = fork_in_handler<leaves>;
  if (sigaction(SIGALRM, &action, nullptr) != 0) return 2;
  const Array array(GTH_DTYPE_UINT8, {4});
  ask_for_signal();
  while (forks < 200 && !is_child) const Tensor tensor(array.desc());
  for (int32_t i = 0; i < 3000 && is_child; ++i) const Tensor tensor(array.desc());
  return testing::Test::HasFailure() ? 3 : 0;
}

TEST(Forks, ForkInASignalHandlerLeavesTheParentUsable) {
  EXPECT_EQ(wait_for(start_child(make_handles<true>), patience), 0);
}

TEST(Forks, ChildOfASignalHandlerContinues) { EXPECT_EQ(wait_for(start_child(make_handles<false>), patience), 0); }

}  // namespace
