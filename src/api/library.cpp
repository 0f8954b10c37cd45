#include "api/api_boundary.hpp"
#include "core/base/structs.hpp"
#include "core/os/os.hpp"
#include "core/types/dtype.hpp"
#include "cpu/tiers/choice.hpp"
#include "cuda/cuda.hpp"

using namespace gather;

namespace {

struct StatusName {
  int32_t status;
  const char* name;
};

constexpr StatusName status_names[] = {
    {GTH_OK, "GTH_OK"},
    {GTH_E_NULL, "GTH_E_NULL"},
    {GTH_E_HANDLE, "GTH_E_HANDLE"},
    {GTH_E_VERSION, "GTH_E_VERSION"},
    {GTH_E_DTYPE, "GTH_E_DTYPE"},
    {GTH_E_RANK, "GTH_E_RANK"},
    {GTH_E_AXIS, "GTH_E_AXIS"},
    {GTH_E_BATCH, "GTH_E_BATCH"},
    {GTH_E_SHAPE, "GTH_E_SHAPE"},
    {GTH_E_SIZE, "GTH_E_SIZE"},
    {GTH_E_STRIDE, "GTH_E_STRIDE"},
    {GTH_E_DEVICE, "GTH_E_DEVICE"},
    {GTH_E_DLPACK, "GTH_E_DLPACK"},
    {GTH_E_ARROW, "GTH_E_ARROW"},
    {GTH_E_READONLY, "GTH_E_READONLY"},
    {GTH_E_ALIAS, "GTH_E_ALIAS"},
    {GTH_E_INDEX, "GTH_E_INDEX"},
    {GTH_E_RACE, "GTH_E_RACE"},
    {GTH_E_NOMEM, "GTH_E_NOMEM"},
    {GTH_E_FORK, "GTH_E_FORK"},
    {GTH_E_CUDA, "GTH_E_CUDA"},
    {GTH_E_CAPTURE, "GTH_E_CAPTURE"},
    {GTH_E_UNSUPPORTED, "GTH_E_UNSUPPORTED"},
    {GTH_E_INTERNAL, "GTH_E_INTERNAL"},
    {GTH_E_OFFSETS, "GTH_E_OFFSETS"},
    {GTH_E_IO, "GTH_E_IO"},
};

gth_capability_info describe_machine() {
  gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
  info.abi = GTH_ABI_VERSION;
  info.version = GTH_VERSION;
  info.cpu_threads = core::available_cpus();
  info.cpu_tiers_built = cpu::built_tiers();
  info.cpu_tiers_usable = cpu::usable_tiers();
  info.cpu_tier = cpu::tier().bit;
  cuda::describe_machine(&info);
  return info;
}

}  // namespace

uint32_t gth_abi_version(void) { return GTH_ABI_VERSION; }

uint32_t gth_version(void) { return GTH_VERSION; }

const char* gth_status_name(int32_t status) {
  for (const StatusName& each : status_names) {
    if (each.status == status) return each.name;
  }
  return "unknown status";
}

int64_t gth_dtype_size(int32_t dtype) {
  const core::DtypeInfo* info = core::find_dtype(dtype);
  return info ? info->bytes : 0;
}

int64_t gth_dtype_bits(int32_t dtype) { return 8 * gth_dtype_size(dtype); }

const char* gth_dtype_name(int32_t dtype) { return core::dtype_name(dtype); }

int32_t gth_capabilities(gth_capability_info* info, gth_error* err) {
  return api::api_boundary(err, [&](const api::Error& error) {
    if (!info) return api::fail_null(GTH_OPERAND_NONE, error);
    if (int32_t status = core::check_struct_size(info, GTH_OPERAND_NONE, error)) return status;
    core::write_struct(describe_machine(), info);
    return GTH_OK;
  });
}
