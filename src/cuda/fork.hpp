#pragma once

namespace gather::cuda {

// CUDA does not survive a fork. From the first watch_forks() on, is_forked() is true in children of this process.
void watch_forks();
bool is_forked();

}  // namespace gather::cuda
