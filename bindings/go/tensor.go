package gather

// #include "shim.h"
import "C"

import "unsafe"

// Tensor is a view of memory as a tensor of T: cheap to make, cheap to copy, never changed after it is made. It keeps
// the slices it was made from; C sees them during a call only. Any number of goroutines may use one Tensor.
//
// The constructors never fail. A shape that does not fit the memory is refused by the call that is given the tensor.
type Tensor[T Element] struct {
	view view
}

// New is a dense row-major tensor over data. The shape says how much of data is the tensor: data may be longer, as the
// memory of a tensor may be in every language, so that a buffer with room to grow need not be cut; data that is shorter is
// [ErrStride]. No shape is a tensor of rank 0, of exactly one element. The shape is kept: do not change it.
func New[T Element](data []T, shape ...int) (t Tensor[T]) {
	// Small enough to be inlined, so that the tensor is made where the call wants it.
	t.view.data = unsafe.Pointer(unsafe.SliceData(data))
	t.view.first = unsafe.SliceData(shape)
	setDense(&t.view, data, shape)
	return t
}

// Vector is a tensor of rank 1 over data.
func Vector[T Element](data []T) Tensor[T] {
	return vector(data, len(data))
}

// vector keeps Vector small enough to be inlined, so that the shape need not outlive the caller.
//
//go:noinline
func vector[T Element](data []T, shape ...int) Tensor[T] {
	return New(data, shape...)
}

// Strided is a tensor of T anywhere in memory: element [i0, i1, ..] lies offset + i0*strides[0] + i1*strides[1] + ..
// bytes from its begin. Strides count bytes, may be zero or negative for inputs, and need not be multiples of the size of
// T; nil strides are dense. Elements must lie inside memory, and the elements of an output must not overlap. Shape and
// strides are kept.
//
// Bools are 0 and 1: a gather of bools from memory of another type looks at what it gathers first and answers ErrDType for
// any other byte, and memory of bools is no output of another type.
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

// Shaped is a tensor without memory, for [OutputShape] and for plans. One extent may be [Open].
func Shaped[T Element](shape ...int) (t Tensor[T]) {
	t.view = newView(DTypeOf[T](), 0, shape, nil)
	return t
}

// ReadOnly is the same tensor, refused as an output.
func (t Tensor[T]) ReadOnly() Tensor[T] {
	t.view.numbers.flags |= tensorReadOnly
	return t
}

// Shape returns the extents. Do not change them.
func (t Tensor[T]) Shape() []int { return t.view.shape() }

// Data returns the slice that a tensor was made from by [New], [Vector], or a gather; nil for any other.
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
