package gather

// #include "call.h"
// #cgo noescape gather_go_desc
// #cgo nocallback gather_go_desc
// #cgo nocallback gather_go_can_allocate
import "C"

import (
	"fmt"
	"slices"
	"unsafe"
)

// Which operation a call of C is.
type operation = C.gather_go_operation

const (
	opGather         operation = C.GATHER_GO_GATHER
	opGatherND       operation = C.GATHER_GO_GATHER_ND
	opGatherElements operation = C.GATHER_GO_GATHER_ELEMENTS
)

// Gather takes slices of params along an axis. With a = [Axis] and b = [BatchDims]:
//
//	out.shape = params.shape[:a] + indices.shape[b:] + params.shape[a+1:]
//	out[B, O, J, I] = params[B, O, indices[B, J], I]
//
// The result is dense and new. An index out of bounds is an [*IndexError] unless [Bounds] says otherwise; any other
// failure is an [*Error]. params and indices are read during the call only, and may be used by other goroutines meanwhile.
func Gather[T Element, I Index](params Tensor[T], indices Tensor[I], options ...Option) (Tensor[T], error) {
	return allocate(opGather, params, indices, options)
}

// GatherND takes slices of params by tuples of K = indices.shape[-1] indices. With b = [BatchDims]:
//
//	out.shape = indices.shape[:-1] + params.shape[b+K:]
//	out[B, J, :] = params[B, indices[B, J, 0], .., indices[B, J, K-1], :]
//
// The rest is as in [Gather]. [Axis] is refused.
func GatherND[T Element, I Index](params Tensor[T], indices Tensor[I], options ...Option) (Tensor[T], error) {
	return allocate(opGatherND, params, indices, options)
}

// GatherElements takes single elements of params along an axis, each other dim being the same dim of both. With
// a = [Axis], which is 0 if it is not given:
//
//	out.shape = indices.shape
//	out[i, .., j, .., k] = params[i, .., indices[i, .., j, .., k], .., k]
//
// where j and the index are dim a. How the extents of the other dims must agree is [Extents]. The rest is as in [Gather].
// [BatchDims] is refused.
func GatherElements[T Element, I Index](params Tensor[T], indices Tensor[I], options ...Option) (Tensor[T], error) {
	return allocate(opGatherElements, params, indices, options)
}

// GatherInto is [Gather] into a tensor of exactly the output's shape. It is one call into C and allocates nothing. On an
// error out is unchanged (but see ErrRace). out must not share memory with params or indices.
func GatherInto[T Element, I Index](out Output[T], params Tensor[T], indices Tensor[I], options ...Option) error {
	return into(opGather, &out.view, &params.view, &indices.view, options)
}

// GatherNDInto is [GatherND] as [GatherInto] is [Gather].
func GatherNDInto[T Element, I Index](out Output[T], params Tensor[T], indices Tensor[I], options ...Option) error {
	return into(opGatherND, &out.view, &params.view, &indices.view, options)
}

// GatherElementsInto is [GatherElements] as [GatherInto] is [Gather].
func GatherElementsInto[T Element, I Index](out Output[T], params Tensor[T], indices Tensor[I],
	options ...Option) error {
	return into(opGatherElements, &out.view, &params.view, &indices.view, options)
}

func allocate[T Element, I Index](op operation, params Tensor[T], indices Tensor[I],
	options []Option) (Tensor[T], error) {
	var s settings
	s.settle(options)
	shape, err := outputShape(op, &params.view, &indices.view, &s)
	if err != nil {
		return Tensor[T]{}, err
	}
	bytes, ok := byteCount(elementSize(DTypeOf[T]()), shape)
	if !ok { // C says which extent is too large
		none := Shaped[T](shape...)
		return Tensor[T]{}, into(op, &none.view, &params.view, &indices.view, options)
	}
	if !allocatable(bytes) {
		return Tensor[T]{}, fail(ErrNoMemory, OperandOut, bytes, 0, "no memory for it")
	}
	var zero T
	out := New(make([]T, bytes/int(unsafe.Sizeof(zero))), shape...)
	if err := into(op, &out.view, &params.view, &indices.view, options); err != nil {
		return Tensor[T]{}, err
	}
	return out, nil
}

// allocatable is asked where a shape may be large over little memory, because make ends the process where it fails.
func allocatable(bytes int) bool {
	const suspicious = 1 << 30
	return bytes < suspicious || C.gather_go_can_allocate(C.int64_t(bytes)) != 0
}

func into(op operation, out, params, indices *view, options []Option) error {
	marks := params.numbers.flags | indices.numbers.flags | out.numbers.flags
	if len(options) == 0 && !mustLook(marks) {
		return takeError(describe(op, 0, params, indices, nil, out))
	}
	return intoWith(op, out, params, indices, options, marks)
}

// intoWith is apart, so that a call without options has none to clear.
func intoWith(op operation, out, params, indices *view, options []Option, marks C.uint32_t) error {
	var s settings
	s.settle(options)
	if mustLook(marks) || s.fillDType != 0 {
		if err := prepare(op, params, indices, out, &s, options); err != nil {
			return err
		}
	}
	context, err := s.context.begin()
	if err == nil {
		err = takeError(describe(op, context, params, indices, s.cOptions(), out))
		s.context.end()
	}
	if marks&C.GATHER_GO_OWNED != 0 {
		letGo(params, indices, out)
	}
	return err
}

// describe is the call into C, taken apart.
func describe(op operation, context C.gather_go_handle, params, indices *view, options *C.gth_options,
	out *view) *C.gather_go_error {
	return C.gather_go_desc(op, context,
		&params.numbers, params.cData(), params.cShape(), params.cStrides(),
		&indices.numbers, indices.cData(), indices.cShape(), indices.cStrides(),
		options,
		&out.numbers, out.cData(), out.cShape(), out.cStrides())
}

// mustLook is false for tensors that prepare has nothing to do about, in few steps.
func mustLook(marks C.uint32_t) bool {
	return marks&(C.GATHER_GO_ODD|C.GATHER_GO_OWNED|C.GATHER_GO_BYTES) != 0 || errABI != nil
}

// prepare refuses what C is not to be asked, and holds what can be closed.
func prepare(op operation, params, indices, out *view, s *settings, options []Option) error {
	if err := look(params, indices, out, s); err != nil {
		return err
	}
	if err := hold(params, indices, out); err != nil {
		return err
	}
	if !params.has(C.GATHER_GO_BYTES) {
		return nil
	}
	err := judgeBools(op, params, indices, s, options)
	if err != nil {
		letGo(params, indices, out)
	}
	return err
}

// judgeBools gathers into bytes, to see whether what would come out are bools: any other would be undefined in Go. What
// is not gathered may be any bytes.
func judgeBools(op operation, params, indices *view, s *settings, options []Option) error {
	shape, err := outputShape(op, params, indices, s)
	if err != nil {
		return err
	}
	count, ok := byteCount(1, shape)
	if !ok {
		return nil // C says which extent is too large
	}
	if !allocatable(count) {
		return fail(ErrNoMemory, OperandOut, count, 0, "no memory for it")
	}
	bytes := make([]uint8, count)
	trial, judged := newView(DTypeBool, count, shape, nil), *params
	trial.data = unsafe.Pointer(unsafe.SliceData(bytes))
	judged.numbers.flags &^= C.GATHER_GO_BYTES
	if err := into(op, &trial, &judged, indices, append(slices.Clip(options), Fill(FillZero))); err != nil {
		return err
	}
	for _, value := range bytes {
		if value > 1 {
			return fail(ErrDType, OperandParams, int(value), int(DTypeBool), fmt.Sprintf("a bool is 0 or 1, not %d", value))
		}
	}
	return nil
}

// look refuses what C is not to be asked. out may be nil.
func look(params, indices, out *view, s *settings) error {
	switch {
	case errABI != nil:
		return errABI
	case params.has(C.GATHER_GO_ODD):
		return params.odd(OperandParams)
	case indices.has(C.GATHER_GO_ODD):
		return indices.odd(OperandIndices)
	case out != nil && out.has(C.GATHER_GO_ODD):
		return out.odd(OperandOut)
	}
	return s.checkFill(params)
}
