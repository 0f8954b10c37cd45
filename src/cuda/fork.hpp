#pragma once

namespace gather::cuda {

// CUDA cannot be used after a fork. After the first watch_forks(), is_forked() is true in child processes.
void watch_forks();
bool is_forked();

}  // namespace gather::cuda
