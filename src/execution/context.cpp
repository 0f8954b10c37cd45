#include "execution/context.hpp"

namespace gather::execution {

int32_t check_cpu(const Context& context, const char* reason, const Error& error) {
  if (context.device == GTH_DEVICE_CPU) return GTH_OK;
  return error.fail({GTH_E_UNSUPPORTED, GTH_OPERAND_CONTEXT, -1, -1, context.device, GTH_DEVICE_CPU}, "context: %s",
                    reason);
}

cpu::Executor executor_for(const Context& context, int32_t threads) {
  cpu::Executor executor = context.executor;
  if (threads > 0) executor.threads = threads;
  return executor;
}

}  // namespace gather::execution
