package gather

// #include "packed.h"
// #cgo nocallback gather_go_packed
// #cgo noescape gather_go_row_bytes
// #cgo nocallback gather_go_row_bytes
import "C"

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unsafe"
)

// Packed is a table of packed rows: quantised numbers that calls decode as they read them. [Packed.Tensor] can be the
// params of [Gather], [GatherND] and [GatherBags], of their other forms, and of plans. As any other operand, it returns
// [ErrUnsupported]. To gather rows without decoding them, use [New] with the same bytes.
//
// T is the type of the decoded numbers: float32, or [Float16] and [BFloat16], which are the float32 numbers rounded
// once.
//
// A Packed keeps its slices reachable, and pins them until it is released. They must not change during calls. Any
// number of goroutines may use one Packed. Close may be called during calls, which still complete. A call with a closed
// Packed returns ErrHandle. The garbage collector releases a Packed that is unreachable and not closed.
type Packed[T Element] struct {
	view  view
	owner owner
}

// A PackedOption describes a part of a [Packed].
type PackedOption func(*packing)

// A packing is the description of a Packed.
type packing struct {
	rows    view
	strides []int
	codec   C.gather_go_codec
	scales  view
	zeros   view
	files   C.gather_go_files // of a Table
	format  *string           // the format of a Table, or nil if it is not packed
}

// Scales sets the scales of codes. They have the dims of the shape but the last one, and then one dim for the blocks of
// a row. An extent of 1 is repeated.
func Scales[S Element](scales Tensor[S]) PackedOption {
	return func(p *packing) { p.scales = scales.view }
}

// Zeros sets the zero points or biases of codes, with the dims of [Scales], also for a format that has a constant one.
func Zeros[Z Element](zeros Tensor[Z]) PackedOption {
	return func(p *packing) { p.setZeros(zeros.view, 0) }
}

// ZerosInt4 sets zero points from -8 to 7. The last dim has a byte for two blocks, low bits first.
func ZerosInt4(zeros Tensor[uint8]) PackedOption {
	return func(p *packing) { p.setZeros(zeros.view, C.GTH_ZERO_INT4) }
}

// ZerosUint4 sets zero points from 0 to 15, as [ZerosInt4].
func ZerosUint4(zeros Tensor[uint8]) PackedOption {
	return func(p *packing) { p.setZeros(zeros.view, C.GTH_ZERO_UINT4) }
}

// setZeros replaces an earlier ZeroPoint.
func (p *packing) setZeros(zeros view, dtype C.int32_t) {
	p.zeros, p.codec.zero_dtype = zeros, dtype
	p.codec.given &^= C.GATHER_GO_GIVEN_ZERO
}

// ZeroPoint sets one zero point or bias for the table. It replaces those in the rows, and earlier [Zeros].
func ZeroPoint(zero float32) PackedOption {
	return func(p *packing) {
		p.zeros, p.codec.zero = view{}, C.float(zero)
		p.codec.given |= C.GATHER_GO_GIVEN_ZERO
	}
}

// ScaleFactor sets a number by which each scale is multiplied.
func ScaleFactor(factor float32) PackedOption {
	return func(p *packing) { p.codec.factor = C.float(factor) }
}

// BlockValues sets the number of codes that share a scale, for formats with [Scales]. 0 means all of the row.
func BlockValues(values int) PackedOption {
	return func(p *packing) {
		p.codec.block_values = C.int64_t(values)
		p.codec.given |= C.GATHER_GO_GIVEN_BLOCK
	}
}

// RowStrides sets the byte at which the first row begins, and the strides in bytes of all dims but the last one. The
// rows must be equally far apart.
func RowStrides(offset int, strides ...int) PackedOption {
	return func(p *packing) {
		p.rows.numbers.place = C.int64_t(offset)
		p.strides = append(slices.Clone(strides), 0)
	}
}

// NewPacked returns a table of rows of a format. The shape counts numbers, and its last dim is a row. The rows follow
// each other, and [CodecRowBytes] is their size. data may be longer than the shape needs.
//
// The formats are q8_0, q4_0, q4_1, q5_0, q5_1, iq4_nl, q2_k, q3_k, q4_k, q5_k, q6_k, iq4_xs, mxfp4 and nvfp4 of GGUF,
// and rowwise8, rowwise4 and rowwise2 of torch and FBGEMM. int8, uint8, int4, uint4, int2, uint2, fp8_e4m3fn, fp8_e5m2,
// e2m1, nf4 and fp4 need [Scales]. affine8, affine4 and affine2 need scales, and biases as [Zeros].
//
// An unknown format returns [ErrVersion], and so do scales and zero points that the format does not have. Missing ones
// return [ErrNull]. Short data returns [ErrStride], and a wrong shape [ErrShape]. The operand is [OperandCodec],
// [OperandScales], [OperandZeros] or [OperandTensor].
func NewPacked[T Element](codec string, data []byte, shape []int, options ...PackedOption) (*Packed[T], error) {
	p := &Packed[T]{}
	given := packing{rows: newView(DTypeOf[T](), len(data), slices.Clone(shape), nil)}
	for _, option := range options {
		option(&given)
	}
	given.rows.data = unsafe.Pointer(unsafe.SliceData(data))
	given.rows.numbers.flags |= tensorReadOnly
	if err := given.setStrides(); err != nil {
		return nil, err
	}
	name, err := codecName(codec)
	if err != nil {
		return nil, err
	}
	handle, release, err := given.borrow(name, new(runtime.Pinner))
	if err != nil {
		return nil, err
	}
	own(p, &p.owner, handle, release)
	p.view = given.bound(&p.owner)
	return p, nil
}

// bound returns the view of a tensor with an owner.
func (p *packing) bound(o *owner) view {
	v := newView(p.rows.dtype(), 0, p.rows.shape(), nil)
	v.data = unsafe.Pointer(o)
	v.numbers.place = C.int64_t(o.handle)
	v.numbers.flags = C.GATHER_GO_HANDLE | C.GATHER_GO_OWNED
	return v
}

// setStrides sets the strides of the rows.
func (p *packing) setStrides() error {
	if p.strides == nil {
		return nil
	}
	p.rows.strides, p.rows.numbers.stride_count = unsafe.SliceData(p.strides), count32(p.strides)
	if p.rows.numbers.stride_count != p.rows.numbers.ndim {
		return p.rows.mismatch(OperandTensor)
	}
	return nil
}

// borrow creates the tensor, and pins the memory whose address it keeps. release undoes both. If borrow fails, it unpins
// all memory.
func (p *packing) borrow(name []byte, pins *runtime.Pinner) (C.gather_go_handle, func(C.gather_go_handle), error) {
	scales, zeros := p.scales.orAbsent(), p.zeros.orAbsent()
	for _, each := range []struct {
		view    *view
		operand Operand
	}{{&p.rows, OperandTensor}, {scales, OperandScales}, {zeros, OperandZeros}} {
		if err := each.view.pin(pins, each.operand); err != nil {
			pins.Unpin()
			return 0, nil, err
		}
	}
	var handle C.gather_go_handle
	failure := C.gather_go_packed(cName(name), &p.codec,
		&p.rows.numbers, p.rows.cData(), p.rows.cShape(), p.rows.cStrides(),
		&scales.numbers, scales.cData(), scales.cShape(), scales.cStrides(),
		&zeros.numbers, zeros.cData(), zeros.cShape(), zeros.cStrides(), &p.files, &handle)
	if failure != nil {
		pins.Unpin()
		return 0, nil, takeError(failure)
	}
	return handle, func(handle C.gather_go_handle) {
		releaseTensor(handle)
		pins.Unpin()
	}, nil
}

// pin pins the memory of an operand.
func (v *view) pin(pins *runtime.Pinner, operand Operand) error {
	switch {
	case v.has(C.GATHER_GO_INVALID):
		return v.mismatch(operand)
	case v.has(C.GATHER_GO_OWNED):
		return fail(ErrUnsupported, operand, 0, 0, "it is not a tensor over a slice")
	case v.data != nil && !v.has(C.GATHER_GO_ADDRESSED):
		pins.Pin(v.data)
	}
	return nil
}

// codecName returns the name of a format for C.
func codecName(codec string) ([]byte, error) {
	if errABI != nil {
		return nil, errABI
	}
	if strings.IndexByte(codec, 0) >= 0 {
		return nil, fail(ErrVersion, OperandCodec, 0, 0, fmt.Sprintf("there is no format %q", codec))
	}
	return append([]byte(codec), 0), nil
}

func cName(name []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(name))) }

// Tensor returns an operand for calls. After p is closed, a call with it returns ErrHandle. Runs of a plan for it take
// nil params.
func (p *Packed[T]) Tensor() Tensor[T] { return Tensor[T]{p.view} }

// Shape returns the extents, which count numbers. The caller must not change them.
func (p *Packed[T]) Shape() []int { return p.view.shape() }

func (p *Packed[T]) describe() *view {
	if p == nil {
		return nil
	}
	return &p.view
}

// Close releases the table when the current calls with it have returned. Closing again does nothing.
func (p *Packed[T]) Close() error {
	if p != nil {
		p.owner.close()
	}
	return nil
}

// CodecRowBytes returns the bytes of a row of values numbers in a format of [NewPacked]. An unknown format returns
// [ErrVersion], and a row that its blocks do not divide [ErrShape].
func CodecRowBytes(codec string, values int) (int, error) {
	name, err := codecName(codec)
	if err != nil {
		return 0, err
	}
	var bytes C.int64_t
	failure := C.gather_go_row_bytes(cName(name), C.int64_t(values), &bytes)
	return int(bytes), takeError(failure)
}
