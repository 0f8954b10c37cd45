package gather

// #include "shim.h"
import "C"

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"
)

// A view is a Tensor without its type. It is small, because services create tensors for each call. The flag
// GATHER_GO_INVALID means that it must not be passed to C.
type view struct {
	numbers C.gather_go_view
	data    unsafe.Pointer // the memory, or the owner if the data is at an address
	first   *int           // the first extent
	strides *int           // the first stride in bytes, or nil for a dense tensor
}

// The library is 64-bit only, so extents are passed without conversion.
const _ = -uint(unsafe.Sizeof(int(0)) ^ 8)

// newView returns a view without data. nil strides mean a dense tensor.
func newView(dtype DType, extent int, shape, strides []int) (v view) {
	v.first, v.strides = unsafe.SliceData(shape), unsafe.SliceData(strides)
	v.numbers.dtype = C.int32_t(dtype)
	v.numbers.ndim, v.numbers.stride_count = count32(shape), count32(strides)
	v.numbers.extent = C.int64_t(extent)
	if strides != nil && len(strides) != len(shape) {
		v.numbers.flags = C.GATHER_GO_INVALID
	}
	return v
}

// setDense sets the numbers of a dense tensor over data. The library rejects a shape that does not fit data. setDense
// itself flags several elements without a shape.
//
//go:noinline
func setDense[T Element](v *view, data []T, shape []int) {
	v.numbers.dtype = C.int32_t(DTypeOf[T]())
	v.numbers.ndim = count32(shape)
	v.numbers.extent = C.int64_t(byteLen(data))
	v.numbers.flags = C.GATHER_GO_SLICE
	if len(shape) == 0 && len(data) > 1 {
		v.numbers.flags |= C.GATHER_GO_INVALID
	}
}

func count32(numbers []int) C.int32_t { return C.int32_t(min(len(numbers), math.MaxInt32)) }

func (v *view) has(mark C.uint32_t) bool { return v.numbers.flags&mark != 0 }

func (v *view) dtype() DType { return DType(v.numbers.dtype) }
func (v *view) shape() []int { return unsafe.Slice(v.first, v.numbers.ndim) }

// byteStrides returns the strides, or nil for a dense tensor.
func (v *view) byteStrides() []int { return unsafe.Slice(v.strides, v.numbers.stride_count) }

// absent is the view of a missing operand. C passes it to the library as NULL.
var absent = view{numbers: C.gather_go_view{flags: C.GATHER_GO_ABSENT}}

// begin begins a call with an operand that can be closed. For other operands it does nothing.
func (v *view) begin(operand Operand) error {
	if !v.has(C.GATHER_GO_OWNED) {
		return nil
	}
	_, err := (*owner)(v.data).begin(operand)
	return err
}

func (v *view) end() {
	if v.has(C.GATHER_GO_OWNED) {
		(*owner)(v.data).end()
	}
}

// mismatch returns the error of a view with GATHER_GO_INVALID. Its strides have another length than its shape, or it
// has several elements and no shape. C cannot detect either.
func (v *view) mismatch(operand Operand) error {
	if strides, dims := len(v.byteStrides()), len(v.shape()); strides != dims {
		return fail(ErrRank, operand, strides, dims, fmt.Sprintf("%d strides for a shape of %d dims", strides, dims))
	}
	return sizesDiffer(operand, int(v.numbers.extent)/elementSize(v.dtype()), 1)
}

func sizesDiffer(operand Operand, have, need int) error {
	return fail(ErrShape, operand, have, need, fmt.Sprintf("the slice has %d elements, the shape %d", have, need))
}

// byteCount returns the size of a dense tensor in bytes. ok is false if the size exceeds an int or an extent is
// negative.
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

func (v *view) cData() *C.uint8_t    { return (*C.uint8_t)(v.data) }
func (v *view) cShape() *C.int64_t   { return cInts(v.first) }
func (v *view) cStrides() *C.int64_t { return cInts(v.strides) }

func cInts(first *int) *C.int64_t { return (*C.int64_t)(unsafe.Pointer(first)) }
