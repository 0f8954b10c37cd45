// Package emulated calls the additional functions of libgather_emulated, a build of the library with emulated CUDA
// devices. The tests of package gather use it, because test files cannot use cgo.
package emulated

// #cgo LDFLAGS: -ldl
// #define _GNU_SOURCE
// #include <dlfcn.h>
// #include <stdint.h>
//
// static void *find(const char *name) { return dlsym(RTLD_DEFAULT, name); }
//
// static int loaded(void) { return find("gth_emulation_make_stream") != 0; }
//
// static uintptr_t make_stream(int32_t device) {
//   return (uintptr_t)((void *(*)(int32_t))find("gth_emulation_make_stream"))(device);
// }
//
// static void hold(uintptr_t stream) { ((void (*)(void *))find("gth_emulation_hold"))((void *)stream); }
//
// static int64_t live_allocations(void) { return ((int64_t(*)(void))find("gth_emulation_live_allocations"))(); }
//
// static void fail_allocation(int64_t n, int32_t sticky) {
//   ((void (*)(int64_t, int32_t))find("gth_testing_fail_allocation"))(n, sticky);
// }
//
// static int64_t allocations(void) { return ((int64_t(*)(void))find("gth_testing_allocations"))(); }
//
// static float float_at(uintptr_t address, int64_t i) { return ((const float *)address)[i]; }
import "C"

// Loaded reports whether the library has emulated devices.
func Loaded() bool { return C.loaded() != 0 }

// MakeStream creates a stream on a device. The stream is never destroyed.
func MakeStream(device int) uintptr { return uintptr(C.make_stream(C.int32_t(device))) }

// Hold delays the work of a stream until a caller waits for the stream.
func Hold(stream uintptr) { C.hold(C.uintptr_t(stream)) }

// LiveAllocations returns the number of live allocations on the emulated devices.
func LiveAllocations() int { return int(C.live_allocations()) }

// FailAllocation makes the n-th allocation of the library fail, counted from this call. With sticky, every later
// allocation fails too. If n is 0, no allocation fails.
func FailAllocation(n int, sticky bool) {
	var later C.int32_t
	if sticky {
		later = 1
	}
	C.fail_allocation(C.int64_t(n), later)
}

// Allocations returns the number of attempted allocations since FailAllocation.
func Allocations() int { return int(C.allocations()) }

// Floats returns the present content of emulated device memory. It does not wait for a stream.
func Floats(address uintptr, count int) []float32 {
	values := make([]float32, count)
	for i := range values {
		values[i] = float32(C.float_at(C.uintptr_t(address), C.int64_t(i)))
	}
	return values
}
