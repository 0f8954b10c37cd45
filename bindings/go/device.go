package gather

// #include "shim.h"
import "C"

// DeviceKind is the kind of memory at an address.
type DeviceKind int32

// Device is a processor with its memory. The zero value is the CPU.
type Device struct {
	Kind DeviceKind
	ID   int // the number of the CUDA device
}

// OnDevice returns a tensor at a raw address, for memory that Go does not manage, such as memory of a GPU or of C.
// extent is the size of the memory in bytes. 0 means that the memory ends at the highest byte that shape and strides
// reach. nil strides mean a dense tensor, as in [Strided]. The caller guarantees that the memory is valid until the
// device has executed the work.
//
// A call on a device needs a context of this device ([In]), and an output in device memory. [GatherInto],
// [GatherNDInto] and [Plan.RunAt] have such an output. It returns when its work is enqueued. [Context.Sync] and
// [Context.TakeError] wait for the work and return the error of an index out of bounds. The output is then unchanged.
// [NewDeviceTensor] allocates memory on a device.
//
// A library that was built without CUDA returns ErrDevice for device memory.
func OnDevice[T Element](device Device, address uintptr, extent int, shape, strides []int) (t Tensor[T]) {
	t.view = newView(DTypeOf[T](), extent, shape, strides)
	t.view.numbers.device = C.int32_t(device.Kind)
	t.view.numbers.device_id = C.int32_t(device.ID)
	t.view.numbers.place = C.int64_t(address)
	t.view.numbers.flags |= C.GATHER_GO_ADDRESSED
	return t
}
