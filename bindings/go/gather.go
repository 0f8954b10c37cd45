package gather

// #include "call.h"
// #cgo noescape gather_go_desc
// #cgo nocallback gather_go_desc
// #cgo nocallback gather_go_can_allocate
import "C"

import "unsafe"

// Which operation a call of C is.
type operation = C.gather_go_operation

const (
	opGather         operation = C.GATHER_GO_GATHER
	opGatherND       operation = C.GATHER_GO_GATHER_ND
	opGatherElements operation = C.GATHER_GO_GATHER_ELEMENTS

	opScatter         operation = C.GATHER_GO_SCATTER
	opScatterND       operation = C.GATHER_GO_SCATTER_ND
	opScatterElements operation = C.GATHER_GO_SCATTER_ELEMENTS

	opGatherGradient         operation = C.GATHER_GO_GATHER_GRADIENT
	opGatherNDGradient       operation = C.GATHER_GO_GATHER_ND_GRADIENT
	opGatherElementsGradient operation = C.GATHER_GO_GATHER_ELEMENTS_GRADIENT
)

// What errors call the tensor that indices select in, and the one that is walked in order.
func indexedOf(op operation) Operand {
	if op <= opGatherElements {
		return OperandParams
	}
	return OperandTarget
}

func linearOf(op operation) Operand {
	if op <= opGatherElements {
		return OperandOut
	}
	return OperandUpdates
}

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
	return into(opGather, &params.view, &indices.view, &out.view, options)
}

// GatherNDInto is [GatherND] as [GatherInto] is [Gather].
func GatherNDInto[T Element, I Index](out Output[T], params Tensor[T], indices Tensor[I], options ...Option) error {
	return into(opGatherND, &params.view, &indices.view, &out.view, options)
}

// GatherElementsInto is [GatherElements] as [GatherInto] is [Gather].
func GatherElementsInto[T Element, I Index](out Output[T], params Tensor[T], indices Tensor[I],
	options ...Option) error {
	return into(opGatherElements, &params.view, &indices.view, &out.view, options)
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
		return Tensor[T]{}, into(op, &params.view, &indices.view, &none.view, options)
	}
	out, err := newTensor[T](bytes, shape, OperandOut)
	if err != nil {
		return out, err
	}
	if err := into(op, &params.view, &indices.view, &out.view, options); err != nil {
		return Tensor[T]{}, err
	}
	return out, nil
}

// newTensor is zeros in new memory, for an operand of a call.
func newTensor[T Element](bytes int, shape []int, operand Operand) (Tensor[T], error) {
	if !allocatable(bytes) {
		return Tensor[T]{}, fail(ErrNoMemory, operand, bytes, 0, "no memory for it")
	}
	var zero T
	return New(make([]T, bytes/int(unsafe.Sizeof(zero))), shape...), nil
}

// allocatable is asked where a shape may be large over little memory, because make ends the process where it fails.
func allocatable(bytes int) bool {
	const suspicious = 1 << 30
	return bytes < suspicious || C.gather_go_can_allocate(C.int64_t(bytes)) != 0
}

func into(op operation, indexed, indices, linear *view, options []Option) error {
	marks := indexed.numbers.flags | indices.numbers.flags | linear.numbers.flags
	if len(options) == 0 && !mustLook(marks) {
		return takeError(describe(op, 0, indexed, indices, nil, linear))
	}
	return intoWith(op, indexed, indices, linear, options, marks)
}

// intoWith is apart, so that a call without options has none to clear.
func intoWith(op operation, indexed, indices, linear *view, options []Option, marks C.uint32_t) error {
	var s settings
	s.settle(options)
	if mustLook(marks) || s.fillDType != 0 {
		if err := prepare(op, indexed, indices, linear, &s, options); err != nil {
			return err
		}
	}
	context, err := s.context.begin()
	if err == nil {
		err = takeError(describe(op, context, indexed, indices, s.cOptions(), linear))
		s.context.end()
	}
	if marks&C.GATHER_GO_OWNED != 0 {
		letGo(indexed, indices, linear)
	}
	return err
}

// describe is the call into C, taken apart.
func describe(op operation, context C.gather_go_handle, indexed, indices *view, options *C.gth_options,
	linear *view) *C.gather_go_error {
	return C.gather_go_desc(op, context,
		&indexed.numbers, indexed.cData(), indexed.cShape(), indexed.cStrides(),
		&indices.numbers, indices.cData(), indices.cShape(), indices.cStrides(),
		options,
		&linear.numbers, linear.cData(), linear.cShape(), linear.cStrides())
}

// mustLook is false for tensors that prepare has nothing to do about, in few steps.
func mustLook(marks C.uint32_t) bool {
	return marks&(C.GATHER_GO_ODD|C.GATHER_GO_OWNED|C.GATHER_GO_BYTES) != 0 || errABI != nil
}

// prepare refuses what C is not to be asked, and holds what can be closed.
func prepare(op operation, indexed, indices, linear *view, s *settings, options []Option) error {
	if err := look(op, indexed, indices, linear, s); err != nil {
		return err
	}
	if err := hold(op, indexed, indices, linear); err != nil {
		return err
	}
	var err error
	switch {
	case op <= opGatherElements && indexed.has(C.GATHER_GO_BYTES):
		err = judgeGathered(op, indexed, indices, s, options)
	case op > opGatherElements && linear.has(C.GATHER_GO_BYTES):
		err = judgeBools(linear, OperandUpdates)
	}
	if err != nil {
		letGo(indexed, indices, linear)
	}
	return err
}

// look refuses what C is not to be asked. linear may be nil.
func look(op operation, indexed, indices, linear *view, s *settings) error {
	switch {
	case errABI != nil:
		return errABI
	case indexed.has(C.GATHER_GO_ODD):
		return indexed.odd(indexedOf(op))
	case indices.has(C.GATHER_GO_ODD):
		return indices.odd(OperandIndices)
	case linear != nil && linear.has(C.GATHER_GO_ODD):
		return linear.odd(linearOf(op))
	}
	return s.checkFill(indexed)
}
