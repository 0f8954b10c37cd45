#include <sys/wait.h>
#include <unistd.h>

#include "device_test.hpp"

// CUDA cannot be used after a fork.
namespace {

using device::Context;
using device::Error;
using device::Lookup;
using device::Stream;

class Forks : public device::DeviceTest {};

TEST_F(Forks, H9_AChildAfterFork) {
  const Context context;
  Lookup lookup(6, 4, 2);
  lookup.pick({1, 2});
  lookup.enqueue(context);
  const Stream stream;
  const int64_t three = 3;
  gth_tensor *owned = nullptr, *other_tensor = nullptr;
  ASSERT_EQ(gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, &three, &owned, nullptr), GTH_OK);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Error error;
    gth_context_options options = GTH_CONTEXT_OPTIONS_INIT;
    options.device = GTH_DEVICE_CUDA;
    gth_context* other = nullptr;
    const bool refused =
        lookup.call(context, &error) == GTH_E_FORK && gth_context_take_error(context.get(), &error) == GTH_E_FORK &&
        gth_context_sync(context.get(), &error) == GTH_E_FORK &&
        gth_context_create(&options, &other, &error) == GTH_E_FORK &&
        gth_context_wait(context.get(), stream.get(), &error) == GTH_E_FORK &&
        gth_tensor_alloc(context.get(), GTH_DTYPE_INT8, 1, &three, &other_tensor, &error) == GTH_E_FORK &&
        calls::copy(context.get(), owned, owned, &error) != GTH_OK && gth_tensor_release(owned) == GTH_OK &&
        gth_context_release(context.get()) == GTH_OK;
    _exit(refused ? 0 : 1);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0);
  EXPECT_EQ(gth_tensor_release(owned), GTH_OK);
  context.expect_no_error();
}

}  // namespace
