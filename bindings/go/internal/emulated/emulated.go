// Package emulated reaches what libgather_emulated, the library with imaginary CUDA devices, has beyond an ordinary
// one. It is for the tests of package gather, which cannot use cgo themselves.
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

// Loaded reports whether the library is the one with imaginary devices.
func Loaded() bool { return C.loaded() != 0 }

// MakeStream makes a stream, which is never destroyed.
func MakeStream(device int) uintptr { return uintptr(C.make_stream(C.int32_t(device))) }

// Hold makes a stream keep its work until somebody waits for it.
func Hold(stream uintptr) { C.hold(C.uintptr_t(stream)) }

// LiveAllocations counts the allocations of the imaginary devices.
func LiveAllocations() int { return int(C.live_allocations()) }

// FailAllocation makes the library's n-th allocation from now on fail, and with sticky those after it; 0: none.
func FailAllocation(n int, sticky bool) {
	var rest C.int32_t
	if sticky {
		rest = 1
	}
	C.fail_allocation(C.int64_t(n), rest)
}

// Allocations counts those that were asked for since FailAllocation.
func Allocations() int { return int(C.allocations()) }

// Floats are what imaginary device memory holds now; it waits for nothing.
func Floats(address uintptr, count int) []float32 {
	values := make([]float32, count)
	for i := range values {
		values[i] = float32(C.float_at(C.uintptr_t(address), C.int64_t(i)))
	}
	return values
}
