package gather

// #include "shim.h"
import "C"

import "unsafe"

// Tensor is a view of memory as a tensor of T. It is small and immutable. It keeps the slices from which it was made
// reachable. C uses them during a call only. Any number of goroutines may use one Tensor.
//
// The constructors never fail. If a shape does not fit the memory, the call that uses the tensor returns an error.
type Tensor[T Element] struct {
	view view
}

// New returns a dense row-major tensor over data. data may be longer than the shape needs. If it is shorter, calls
// return [ErrStride]. Without a shape, the tensor has rank 0, and data must have one element. The tensor keeps the
// shape, which the caller must not change.
func New[T Element](data []T, shape ...int) (t Tensor[T]) {
	// The function is small enough to be inlined, so that the tensor is built in its final place.
	t.view.data = unsafe.Pointer(unsafe.SliceData(data))
	t.view.first = unsafe.SliceData(shape)
	setDense(&t.view, data, shape)
	return t
}

// Vector returns a tensor of rank 1 over data.
func Vector[T Element](data []T) Tensor[T] {
	return vector(data, len(data))
}

// vector is a separate function, so that Vector is small enough to be inlined. The shape then stays on the stack of the
// caller.
//
//go:noinline
func vector[T Element](data []T, shape ...int) Tensor[T] {
	return New(data, shape...)
}

// Strided returns a tensor of T in memory. Element [i0, i1, ..] begins offset + i0*strides[0] + i1*strides[1] + ..
// bytes from the beginning of memory. Strides are in bytes and need not be multiples of the size of T. Strides of
// inputs may be zero or negative. nil strides mean a dense tensor. All elements must be inside memory. The elements of
// an output must not overlap. The tensor keeps shape and strides.
//
// A bool must be a byte of 0 or 1. If memory of another type is viewed as bools, a gather first checks the bytes that
// it selects, and returns ErrDType for another byte. Memory of bools cannot be an output of another type.
func Strided[T, M Element](memory []M, offset int, shape, strides []int) (t Tensor[T]) {
	t.view = newView(DTypeOf[T](), byteLen(memory), shape, strides)
	t.view.data = unsafe.Pointer(unsafe.SliceData(memory))
	t.view.numbers.place = C.int64_t(offset)
	switch asBool, inBools := DTypeOf[T]() == DTypeBool, DTypeOf[M]() == DTypeBool; {
	case asBool && !inBools:
		t.view.numbers.flags |= C.GATHER_GO_BYTES
	case inBools && !asBool:
		t.view.numbers.flags |= tensorReadOnly
	}
	return t
}

// Shaped returns a tensor without memory, for [OutputShape] and for plans. One extent may be [Open].
func Shaped[T Element](shape ...int) (t Tensor[T]) {
	t.view = newView(DTypeOf[T](), 0, shape, nil)
	return t
}

// ReadOnly returns the same tensor as a read-only tensor. Calls that would write to it return [ErrReadOnly].
func (t Tensor[T]) ReadOnly() Tensor[T] {
	t.view.numbers.flags |= tensorReadOnly
	return t
}

// Shape returns the extents. The caller must not change them.
func (t Tensor[T]) Shape() []int { return t.view.shape() }

// Data returns the slice of a tensor from [New], [Vector] or a call that returns a new tensor. For other tensors it
// returns nil.
func (t Tensor[T]) Data() []T {
	if !t.view.has(C.GATHER_GO_SLICE) {
		return nil
	}
	var zero T
	return unsafe.Slice((*T)(t.view.data), uintptr(t.view.numbers.extent)/unsafe.Sizeof(zero))
}

func byteLen[T Element](data []T) int {
	var zero T
	return len(data) * int(unsafe.Sizeof(zero))
}
