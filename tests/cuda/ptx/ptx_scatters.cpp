#include "cuda/scatter_kernels.hpp"

#include "cuda/atomic_bodies.hpp"
#include "cuda/line_bodies.hpp"
#include "cuda/scatter_bodies.hpp"
#include "ptx_launch.hpp"

// The kernels of scatters as nvcc compiled them.
namespace gather::cuda {

using ptx::name_of;

namespace {

template <class... Arguments>
int launch(const std::string& name, uint32_t blocks, CUstream_st* stream, const Arguments&... arguments) {
  return ptx::launch(name, blocks, block_threads, false, stream, arguments...);
}

}  // namespace

template <class Job>
int launch_keys(Reading reading, const Job& job, const KeyJob& keys, uint32_t blocks, CUstream_st* stream) {
  return visit_reading<Job>(reading, [&](auto k) {
    const std::string parameters = name_of<typename decltype(k)::Index>() + ", " + name_of<Job>();
    return launch(ptx::template_name<Job, KeyJob>("key_kernel", parameters), blocks, stream, job, keys);
  });
}

template <class Job>
int launch_few_keys(Reading reading, const Job& job, const KeyJob& keys, const Keys& sorted, CUstream_st* stream) {
  return visit_reading<Job>(reading, [&](auto k) {
    const std::string parameters = name_of<typename decltype(k)::Index>() + ", " + name_of<Job>();
    const std::string name = ptx::template_name<Job, KeyJob, Keys>("few_keys_kernel", parameters);
    return launch(name, 1, stream, job, keys, sorted);
  });
}

int launch_lift(const Keys& keys, const WideUpdate* wide, uint32_t count, uint32_t blocks, CUstream_st* stream) {
  const std::string name = ptx::kernel_name<Keys, const WideUpdate*, uint32_t>("lift_kernel");
  return launch(name, blocks, stream, keys, wide, count);
}

int launch_combine(Numbers numbers, bool is_wide, const CombineJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_combined(numbers, is_wide, job.scales, [&](auto type, auto bytes, auto scaled) {
    const std::string parameters = name_of<decltype(type)>() + ", " + std::to_string(decltype(bytes)::value) + ", " +
                                   (decltype(scaled)::value ? "true" : "false");
    return launch(ptx::template_name<CombineJob>("combine_kernel", parameters), blocks, stream, job);
  });
}

int launch_combine_long(Numbers numbers, bool is_wide, const CombineJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_long(numbers, is_wide, [&](auto type, auto bytes) {
    const std::string parameters = name_of<decltype(type)>() + ", " + std::to_string(decltype(bytes)::value);
    return launch(ptx::template_name<CombineJob>("combine_long_kernel", parameters), blocks, stream, job);
  });
}

int launch_replace(int bytes, const CombineJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_bytes(bytes, [&](auto width) {
    const std::string name = ptx::template_name<CombineJob>("replace_kernel", std::to_string(decltype(width)::value));
    return launch(name, blocks, stream, job);
  });
}

int launch_positions(Numbers numbers, const PositionJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_ordered(numbers, [&](auto type) {
    return launch(ptx::template_name<PositionJob>("position_kernel", name_of<decltype(type)>()), blocks, stream, job);
  });
}

int launch_lines(int bytes, const LineJob& job, uint32_t blocks, CUstream_st* stream) {
  return launch(ptx::template_name<LineJob>("line_kernel", std::to_string(bytes)), blocks, stream, job);
}

int launch_atomic(int bytes, const SmallJob& job, const AtomicJob& how, uint32_t blocks, CUstream_st* stream) {
  const std::string name = ptx::template_name<SmallJob, AtomicJob>("atomic_kernel", std::to_string(bytes));
  return launch(name, blocks, stream, job, how);
}

int launch_strided(const StridedJob& job, uint32_t blocks, CUstream_st* stream) {
  return visit_bytes(job.bytes, [&](auto width) {
    const std::string name = ptx::template_name<StridedJob>("strided_kernel", std::to_string(decltype(width)::value));
    return launch(name, blocks, stream, job);
  });
}

int64_t most_numbered() { return emulation::counted() > 0 ? emulation::counted() : int64_t{UINT32_MAX}; }

int64_t least_lines() { return emulation::least_lines() > 0 ? emulation::least_lines() : few_lines; }

int load_scatter_kernels() { return emulation::enter_call(); }

GATHER_INSTANTIATE_SCATTERS

}  // namespace gather::cuda
