#include "cuda/gather_kernels.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <typeinfo>
#include <vector>

#include "../emulation/machine.hpp"
#include "cuda/bodies.hpp"
#include "host_block.hpp"
#include "run.hpp"

// The kernels as nvcc compiled them.
namespace gather::cuda {
namespace {

template <class T>
std::string name_of() {
  char* name = abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, nullptr);
  const std::string result = name;
  std::free(name);
  return result;
}

// Returns a name like "void gather::cuda::(anonymous namespace)::copy_kernel<..>(gather::cuda::Job<1, 1>)", for one
// argument.
template <class Job>
std::string kernel_name(const std::string& kernel, const std::string& before) {
  const std::string job = name_of<Job>();
  return "void gather::cuda::(anonymous namespace)::" + kernel + "<" + before + job + " >(" + job + ")";
}

template <class Kernel, class Job>
std::string copy_name() {
  const std::string copy = "(gather::cuda::Copy)" + std::to_string(static_cast<int>(Kernel::copy));
  return kernel_name<Job>("copy_kernel", copy + ", " + name_of<typename Kernel::Index>() + ", ");
}

template <class Argument>
void append(std::vector<char>* to, const Argument& argument) {
  to->resize((to->size() + alignof(Argument) - 1) / alignof(Argument) * alignof(Argument));
  const char* begin = reinterpret_cast<const char*>(&argument);
  to->insert(to->end(), begin, begin + sizeof argument);
}

template <class... Arguments>
int launch(const std::string& name, uint32_t blocks, uint32_t threads, bool overlaps, CUstream_st* stream,
           const Arguments&... given) {
  if (const int code = emulation::enter_call()) return code;
  const ptx::Run run = ptx::find_kernel(name);
  if (!run) {
    emulation::count_violation(name.c_str());
    std::abort();
  }
  std::vector<char> arguments;
  (append(&arguments, given), ...);
  return emulation::enqueue(
      stream,
      [=] {
        emulation::count_launch();
        ptx::run_grid(run, blocks, threads, arguments);
      },
      overlaps);
}

}  // namespace

template <class Job>
int launch_copy(Copy copy, Reading reading, const Job& job, uint32_t blocks, bool overlaps, CUstream_st* stream) {
  return visit_copy<Job>(copy, reading, [&](auto k) {
    return launch(copy_name<decltype(k), Job>(), blocks, block_threads, overlaps, stream, job);
  });
}

template <class Job>
int launch_validate(Reading reading, const Job& job, uint32_t blocks, CUstream_st* stream) {
  return visit_reading<Job>(reading, [&](auto k) {
    const std::string index = name_of<typename decltype(k)::Index>() + ", ";
    return launch(kernel_name<Job>("validate_kernel", index), blocks, block_threads, false, stream, job);
  });
}

template <class Job>
int launch_report_first(const Job& job, CUstream_st* stream) {
  return launch(kernel_name<Job>("report_first_kernel", ""), 1, 1, false, stream, job);
}

int launch_take(gth_error_record* record, gth_error_record* to, CUstream_st* stream) {
  return launch("gather::cuda::(anonymous namespace)::take_kernel(gth_error_record*, gth_error_record*)", 1, 1, false,
                stream, record, to);
}

int64_t most_counted() { return emulation::counted() > 0 ? emulation::counted() : largest_count; }

int load_kernels(Capacity* capacity) {
  *capacity = emulation::capacity();
  capacity->overlaps_grids = emulation::lets_overlap();
  return emulation::enter_call();
}

GATHER_INSTANTIATE_LAUNCHES

}  // namespace gather::cuda
