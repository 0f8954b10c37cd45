package gather

// #include "shim.h"
import "C"

import (
	"math"
	"math/bits"
	"unsafe"
)

// Tensor is a view of memory as a tensor of T: cheap to make, cheap to copy, never changed after it is made. It keeps
// the slices it was made from; C sees them during a call only. Any number of goroutines may use one Tensor.
//
// The constructors never fail. A shape that does not fit the memory is refused by the call that is given the tensor.
type Tensor[T Element] struct {
	view view
}

// A view is a Tensor without its type.
type view struct {
	numbers C.gather_go_view
	data    *C.uint8_t // NULL if there is not one byte
	shape   []int
	strides []int // in bytes; nil: dense
	exact   bool  // the shape must have as many elements as the memory
}

// The library is 64-bit only, so that extents are handed over as they are.
const _ = -uint(unsafe.Sizeof(int(0)) ^ 8)

// New is a dense row-major tensor over data, which must have exactly as many elements as the shape. No shape is a tensor
// of rank 0, of one element. The shape is kept: do not change it.
func New[T Element](data []T, shape ...int) (t Tensor[T]) {
	memory := bytesOf(data)
	t.view = view{shape: shape, data: firstByte(memory), exact: true}
	t.view.count(DTypeOf[T](), len(shape), len(memory))
	return t
}

// Vector is a tensor of rank 1 over data.
func Vector[T Element](data []T) Tensor[T] {
	return New(data, len(data))
}

// Strided is a tensor of T anywhere in memory: element [i0, i1, ..] lies offset + i0*strides[0] + i1*strides[1] + ..
// bytes from its begin. Strides count bytes, may be zero or negative for inputs, and need not be multiples of the size of
// T; nil strides are dense. Elements must lie inside memory, and the elements of an output must not overlap. Shape and
// strides are kept.
func Strided[T, M Element](memory []M, offset int, shape, strides []int) (t Tensor[T]) {
	lent := bytesOf(memory)
	t.view = view{shape: shape, strides: strides, data: firstByte(lent)}
	t.view.count(DTypeOf[T](), len(shape), len(lent))
	t.view.numbers.offset = C.int64_t(offset)
	return t
}

// Shaped is a tensor without memory, for [OutputShape] and for plans. One extent may be [Open].
func Shaped[T Element](shape ...int) (t Tensor[T]) {
	t.view = view{shape: shape}
	t.view.count(DTypeOf[T](), len(shape), 0)
	return t
}

// ReadOnly is the same tensor, refused as an output.
func (t Tensor[T]) ReadOnly() Tensor[T] {
	t.view.numbers.flags |= tensorReadOnly
	return t
}

// Shape returns the extents. Do not change them.
func (t Tensor[T]) Shape() []int { return t.view.shape }

// Data returns the elements of a tensor made by [New], [Vector], or a gather; nil for any other.
func (t Tensor[T]) Data() []T {
	if !t.view.exact {
		return nil
	}
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(t.view.data)), uintptr(t.view.numbers.extent)/unsafe.Sizeof(zero))
}

// count sets the numbers. The slices are set where they come in: through v they would move to the heap.
func (v *view) count(dtype DType, rank, extent int) {
	v.numbers.dtype = C.int32_t(dtype)
	v.numbers.ndim = C.int32_t(min(rank, math.MaxInt32))
	v.numbers.extent = C.int64_t(extent)
}

// firstByte is NULL for no bytes at all: an extent of 0 would leave the memory's size to the shape.
func firstByte(memory []byte) *C.uint8_t {
	if len(memory) == 0 {
		return nil
	}
	return (*C.uint8_t)(unsafe.SliceData(memory))
}

func bytesOf[T Element](data []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(zero)))
}

// check refuses what C cannot see: strides of another length than the shape, and a slice longer than its shape.
func (v *view) check(operand Operand) error {
	if v.strides != nil && len(v.strides) != len(v.shape) {
		return fail(ErrRank, operand, len(v.strides), len(v.shape), "strides and shape differ in length")
	}
	if !v.exact {
		return nil
	}
	size := elementSize(DType(v.numbers.dtype))
	if need, ok := byteCount(size, v.shape); ok && need != int(v.numbers.extent) {
		return fail(ErrShape, operand, int(v.numbers.extent)/size, need/size, "the slice and the shape differ in size")
	}
	return nil
}

// byteCount is the size of a dense tensor; not ok if that is no int, or an extent is negative.
func byteCount(size int, shape []int) (int, bool) {
	ok := true
	for _, extent := range shape {
		high, low := bits.Mul64(uint64(size), uint64(extent))
		ok = ok && extent >= 0 && high == 0 && low <= math.MaxInt
		size = int(low)
	}
	return size, ok
}

func elementSize(dtype DType) int { return int(dtype&0xff) / 8 }

func (v *view) cShape() *C.int64_t { return (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(v.shape))) }
func (v *view) cStrides() *C.int64_t {
	return (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(v.strides)))
}
