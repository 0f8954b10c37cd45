package gather

// #include "shim.h"
// #cgo noescape gather_go_capabilities
// #cgo nocallback gather_go_capabilities
import "C"

// Tier is a set of instruction sets. CPU kernels exist for each of them.
type Tier uint32

// CUDADevice is a usable GPU.
type CUDADevice struct {
	Compute int   // the compute capability: 10 * major + minor
	Memory  int64 // the size of the memory in bytes
}

// CapabilityInfo describes the capabilities of the library on this machine.
type CapabilityInfo struct {
	ABI         int
	Version     string
	CPUThreads  int  // the number of threads for Threads(0). It respects affinity and cgroup limits
	TiersBuilt  Tier // the instruction sets in the library
	TiersUsable Tier // the instruction sets in the library that this processor supports
	Tier        Tier // the instruction set in use
	CUDARuntime int  // the version of the CUDA runtime, 1000 * major + 10 * minor. 0 in a build without CUDA
	CUDADriver  int  // the newest CUDA version that the driver supports. 0 without a driver
	Devices     []CUDADevice
}

// Capabilities returns the capabilities of the library on this machine.
func Capabilities() (CapabilityInfo, error) {
	if errABI != nil {
		return CapabilityInfo{}, errABI
	}
	info := C.gth_capability_info{size: C.sizeof_gth_capability_info}
	if err := takeError(C.gather_go_capabilities(&info)); err != nil {
		return CapabilityInfo{}, err
	}
	devices := make([]CUDADevice, info.device_count)
	for i := range devices {
		devices[i] = CUDADevice{Compute: int(info.device_compute[i]), Memory: int64(info.device_memory[i])}
	}
	return CapabilityInfo{
		ABI:         int(info.abi),
		Version:     Version(),
		CPUThreads:  int(info.cpu_threads),
		TiersBuilt:  Tier(info.cpu_tiers_built),
		TiersUsable: Tier(info.cpu_tiers_usable),
		Tier:        Tier(info.cpu_tier),
		CUDARuntime: int(info.cuda_runtime),
		CUDADriver:  int(info.cuda_driver),
		Devices:     devices,
	}, nil
}
