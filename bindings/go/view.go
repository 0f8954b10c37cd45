package gather

// #include "shim.h"
import "C"

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"
)

// A view is a Tensor without its type. It is small, and whether C may be given it is known before a call: services make
// tensors anew for each call.
type view struct {
	numbers C.gather_go_view
	data    unsafe.Pointer // looked at if there is a byte of it; what lies at an address has its owner here, if any
	first   *int           // extents
	strides *int           // in bytes; nil: dense
}

// The library is 64-bit only, so that extents are handed over as they are.
const _ = -uint(unsafe.Sizeof(int(0)) ^ 8)

// newView is without data. Strides that are nil are dense.
func newView(dtype DType, extent int, shape, strides []int) (v view) {
	v.first, v.strides = unsafe.SliceData(shape), unsafe.SliceData(strides)
	v.numbers.dtype = C.int32_t(dtype)
	v.numbers.ndim, v.numbers.stride_count = count32(shape), count32(strides)
	v.numbers.extent = C.int64_t(extent)
	if strides != nil && len(strides) != len(shape) {
		v.numbers.flags = C.GATHER_GO_ODD
	}
	return v
}

// setDense sets the numbers of a dense tensor over data. What does not fit is C's to refuse, but for a shape that was
// forgotten.
//
//go:noinline
func setDense[T Element](v *view, data []T, shape []int) {
	v.numbers.dtype = C.int32_t(DTypeOf[T]())
	v.numbers.ndim = count32(shape)
	v.numbers.extent = C.int64_t(byteLen(data))
	v.numbers.flags = C.GATHER_GO_SLICE
	if len(shape) == 0 && len(data) > 1 {
		v.numbers.flags |= C.GATHER_GO_ODD
	}
}

func count32(numbers []int) C.int32_t { return C.int32_t(min(len(numbers), math.MaxInt32)) }

func (v *view) has(mark C.uint32_t) bool { return v.numbers.flags&mark != 0 }

func (v *view) dtype() DType { return DType(v.numbers.dtype) }
func (v *view) shape() []int { return unsafe.Slice(v.first, v.numbers.ndim) }

// byteStrides is nil for dense.
func (v *view) byteStrides() []int { return unsafe.Slice(v.strides, v.numbers.stride_count) }

// hold keeps the memory of a call's tensors from being released until letGo.
func hold(op operation, indexed, indices, linear *view) error {
	if err := indexed.hold(indexedOf(op)); err != nil {
		return err
	}
	err := indices.hold(OperandIndices)
	if err == nil {
		if err = linear.hold(linearOf(op)); err == nil {
			return nil
		}
		indices.letGo()
	}
	indexed.letGo()
	return err
}

func letGo(indexed, indices, linear *view) {
	indexed.letGo()
	indices.letGo()
	linear.letGo()
}

// hold does nothing for memory that cannot be closed.
func (v *view) hold(operand Operand) error {
	if !v.has(C.GATHER_GO_OWNED) {
		return nil
	}
	_, err := (*owner)(v.data).begin(operand)
	return err
}

func (v *view) letGo() {
	if v.has(C.GATHER_GO_OWNED) {
		(*owner)(v.data).end()
	}
}

// odd says why C must not be given v: strides of another length than the shape, or no shape for several elements, which
// C cannot see.
func (v *view) odd(operand Operand) error {
	if strides := v.byteStrides(); strides != nil && len(strides) != len(v.shape()) {
		message := fmt.Sprintf("%d strides for a shape of %d dims", len(strides), len(v.shape()))
		return fail(ErrRank, operand, len(strides), len(v.shape()), message)
	}
	return sizesDiffer(operand, int(v.numbers.extent)/elementSize(v.dtype()), 1)
}

func sizesDiffer(operand Operand, have, need int) error {
	return fail(ErrShape, operand, have, need, fmt.Sprintf("the slice has %d elements, the shape %d", have, need))
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

func (v *view) cData() *C.uint8_t    { return (*C.uint8_t)(v.data) }
func (v *view) cShape() *C.int64_t   { return cInts(v.first) }
func (v *view) cStrides() *C.int64_t { return cInts(v.strides) }

func cInts(first *int) *C.int64_t { return (*C.int64_t)(unsafe.Pointer(first)) }
