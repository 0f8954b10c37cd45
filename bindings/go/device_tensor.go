package gather

// #include "shim.h"
// #cgo noescape gather_go_tensor_alloc
// #cgo nocallback gather_go_tensor_alloc
import "C"

import "unsafe"

// DeviceTensor is a dense tensor in memory of the library on a context's device. Its [DeviceTensor.Tensor] is an
// operand of calls. The memory is freed in the order of the context's stream. This happens when the tensor is closed,
// or when the garbage collector finds it. If another stream uses the tensor, [Context.Wait] and [Context.Signal] must
// order the streams.
//
// Close may be called during calls, which still complete. A call with a closed tensor returns ErrHandle. A DeviceTensor
// keeps its context reachable, but the context can still be closed.
type DeviceTensor[T Element] struct {
	context *Context
	view    view
	shape   [MaxRank]int // The view points to it, so that views keep the tensor alive.
	owner   owner
}

// NewDeviceTensor returns a tensor of zeros on the context's device. nil means the default context of the process, on
// the CPU.
func NewDeviceTensor[T Element](context *Context, shape ...int) (*DeviceTensor[T], error) {
	if errABI != nil {
		return nil, errABI
	}
	if len(shape) > MaxRank {
		return nil, fail(ErrRank, OperandTensor, len(shape), MaxRank, "too many dims")
	}
	d := &DeviceTensor[T]{context: context}
	copy(d.shape[:], shape)
	d.view.first = &d.shape[0]
	in, err := context.begin()
	if err != nil {
		return nil, err
	}
	var handle C.gather_go_handle
	failure := C.gather_go_tensor_alloc(in, C.int32_t(DTypeOf[T]()), count32(shape), d.view.cShape(), &handle,
		&d.view.numbers)
	context.end()
	if failure != nil {
		return nil, takeError(failure)
	}
	own(d, &d.owner, handle, releaseTensor)
	d.view.data = unsafe.Pointer(&d.owner)
	d.view.numbers.flags |= C.GATHER_GO_OWNED
	return d, nil
}

// Tensor returns an operand for calls. After d is closed, a call with it returns ErrHandle.
func (d *DeviceTensor[T]) Tensor() Tensor[T] { return Tensor[T]{d.view} }

// Address returns the address of the elements, for [Plan.RunAt] and for other libraries. The caller must keep d until
// they have used the address.
func (d *DeviceTensor[T]) Address() uintptr { return uintptr(d.view.numbers.place) }

// Read copies all elements to data in row-major order. The lengths must be equal. Read waits for the context's stream,
// and returns the first error of an earlier call on it, as [Context.Sync] does.
func (d *DeviceTensor[T]) Read(data []T) error {
	host := d.viewOf(data)
	return d.copy(data, &d.view, &host)
}

// Write copies data to the device. The lengths must be equal. Write waits for the stream, as Read does.
func (d *DeviceTensor[T]) Write(data []T) error {
	host := d.viewOf(data)
	return d.copy(data, &host, &d.view)
}

// viewOf returns a dense view of data with the shape of d.
func (d *DeviceTensor[T]) viewOf(data []T) view { return New(data, d.view.shape()...).view }

func (d *DeviceTensor[T]) copy(data []T, source, destination *view) error {
	if err := d.fits(data); err != nil {
		return err
	}
	context, _, err := d.context.beginWith(&d.owner, OperandTensor)
	if err != nil {
		return err
	}
	failure := copyTensor(context, source, destination)
	d.context.endWith(&d.owner)
	if failure != nil {
		return takeError(failure)
	}
	return d.context.TakeError()
}

func (d *DeviceTensor[T]) fits(data []T) error {
	if have, need := byteLen(data), int(d.view.numbers.extent); have != need {
		size := elementSize(d.view.dtype())
		return fail(ErrShape, OperandTensor, have/size, need/size, "the slice and the tensor differ in size")
	}
	return nil
}

// Close frees the memory when the current calls with it have returned. Closing again does nothing.
func (d *DeviceTensor[T]) Close() error {
	if d != nil {
		d.owner.close()
	}
	return nil
}
