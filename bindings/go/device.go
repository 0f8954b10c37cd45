package gather

// #include "shim.h"
import "C"

// DeviceKind says what kind of memory an address lies in.
type DeviceKind int32

// Device is a processor with its memory. The zero value is the CPU.
type Device struct {
	Kind DeviceKind
	ID   int // which CUDA device
}

// OnDevice is a tensor at a raw address, for memory that Go does not manage: a GPU's, or what C gave out. extent is the
// size of the memory in bytes (0: up to the highest byte that shape and strides reach), nil strides are dense, as in
// [Strided]. That the memory is there, and stays until the device has done the work, is the caller's promise.
//
// Calls on a device need a context of it ([In]) and an output there: [GatherInto], [GatherNDInto] or [Plan.RunAt]. They
// return when their work is enqueued; an index out of bounds is known, and the output unchanged, when [Context.Sync] or
// [Context.TakeError] has waited for it. [NewDeviceTensor] makes memory on a device and copies from and to it.
//
// A library built without CUDA answers ErrDevice for device memory.
func OnDevice[T Element](device Device, address uintptr, extent int, shape, strides []int) (t Tensor[T]) {
	t.view = newView(DTypeOf[T](), extent, shape, strides)
	t.view.numbers.device = C.int32_t(device.Kind)
	t.view.numbers.device_id = C.int32_t(device.ID)
	t.view.numbers.place = C.int64_t(address)
	t.view.numbers.flags |= C.GATHER_GO_ADDRESSED
	return t
}
