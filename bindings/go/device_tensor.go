package gather

// #include "device_tensor.h"
// #cgo noescape gather_go_tensor_alloc
// #cgo nocallback gather_go_tensor_alloc
// #cgo noescape gather_go_tensor_read
// #cgo nocallback gather_go_tensor_read
// #cgo noescape gather_go_tensor_write
// #cgo nocallback gather_go_tensor_write
import "C"

import "unsafe"

// DeviceTensor is a dense tensor in memory of the library on a context's device. [DeviceTensor.Tensor] is what calls
// take. The memory is given back, in the order of the context's stream, when it is closed or nothing in Go refers to it
// any more. Use on other streams must be ordered with [Context.Wait] and [Context.Signal]. Close may come beside calls,
// which still end well; a call with a closed one is ErrHandle. A DeviceTensor keeps its context from being collected, not
// from being closed.
type DeviceTensor[T Element] struct {
	context *Context
	view    view
	shape   [MaxRank]int // the view points into it, so that views keep the memory
	owner   owner
}

// NewDeviceTensor makes a tensor of zeros on the context's device. A nil context is the process's default, on the CPU.
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

// Tensor is the tensor as calls take it: those that are given it once d is closed answer ErrHandle.
func (d *DeviceTensor[T]) Tensor() Tensor[T] { return Tensor[T]{d.view} }

// Address is where the elements lie, for [Plan.RunAt] and for other libraries. Keep d until they are done.
func (d *DeviceTensor[T]) Address() uintptr { return uintptr(d.view.numbers.place) }

// Read copies all elements in row-major order to data, which must have room for exactly them. It waits for the
// context's stream, and returns the first error of an earlier call there, as [Context.Sync] does.
func (d *DeviceTensor[T]) Read(data []T) error {
	if err := d.fits(data); err != nil {
		return err
	}
	context, tensor, err := d.context.beginWith(&d.owner, OperandTensor)
	if err != nil {
		return err
	}
	failure := C.gather_go_tensor_read(context, tensor, firstByte(data))
	d.context.endWith(&d.owner)
	if failure != nil {
		return takeError(failure)
	}
	return d.context.TakeError()
}

// Write copies data, which must be exactly all elements in row-major order, to the device. It waits, as Read does.
func (d *DeviceTensor[T]) Write(data []T) error {
	if err := d.fits(data); err != nil {
		return err
	}
	context, tensor, err := d.context.beginWith(&d.owner, OperandTensor)
	if err != nil {
		return err
	}
	failure := C.gather_go_tensor_write(context, tensor, firstByte(data))
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

// Close gives the memory back, once the calls under way with it have returned. Closing again does nothing.
func (d *DeviceTensor[T]) Close() error {
	if d != nil {
		d.owner.close()
	}
	return nil
}
