package gather

// #include "shim.h"
// #cgo noescape gather_go_capabilities
// #cgo nocallback gather_go_capabilities
import "C"

// Tier is a set of instruction sets that CPU kernels are written for.
type Tier uint32

// CUDADevice is a usable GPU.
type CUDADevice struct {
	Compute int   // compute capability, 10 * major + minor
	Memory  int64 // bytes
}

// CapabilityInfo is what the library can do on this machine.
type CapabilityInfo struct {
	ABI         int
	Version     string
	CPUThreads  int  // what Threads(0) uses: affinity and cgroup limits respected
	TiersBuilt  Tier // in this library
	TiersUsable Tier // of these, the ones this processor runs
	Tier        Tier // the one in use
	CUDARuntime int  // inside the library, 1000 * major + 10 * minor; 0: built without CUDA
	CUDADriver  int  // newest CUDA of the driver, likewise; 0: no driver
	Devices     []CUDADevice
}

// Capabilities reports what the library can do on this machine.
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
