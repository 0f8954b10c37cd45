package gather

// #include "shim.h"
// #cgo noescape gather_go_shape
// #cgo nocallback gather_go_shape
import "C"

import "slices"

// Described is any tensor: a [Tensor] of any type, or a [*StringTensor].
type Described interface {
	describe() *view
}

func (t Tensor[T]) describe() *view { return &t.view }

// OutputShape returns the shape that [Gather] would give. Of the tensors only type and shape are looked at; an extent
// [Open] is handed on.
func OutputShape(params, indices Described, options ...Option) ([]int, error) {
	return queryShape(opGather, params, indices, options)
}

// OutputShapeND returns the shape that [GatherND] would give, as [OutputShape].
func OutputShapeND(params, indices Described, options ...Option) ([]int, error) {
	return queryShape(opGatherND, params, indices, options)
}

// OutputShapeElements returns the shape that [GatherElements] would give, as [OutputShape].
func OutputShapeElements(params, indices Described, options ...Option) ([]int, error) {
	return queryShape(opGatherElements, params, indices, options)
}

// UpdatesShape returns the shape that the updates of a [Scatter] must have, as [OutputShape].
func UpdatesShape(target, indices Described, options ...Option) ([]int, error) {
	return queryShape(opScatter, target, indices, options)
}

// UpdatesShapeND returns the shape that the updates of a [ScatterND] must have, as [OutputShape].
func UpdatesShapeND(target, indices Described, options ...Option) ([]int, error) {
	return queryShape(opScatterND, target, indices, options)
}

// UpdatesShapeElements returns the shape that the updates of a [ScatterElements] must have, as [OutputShape].
func UpdatesShapeElements(target, indices Described, options ...Option) ([]int, error) {
	return queryShape(opScatterElements, target, indices, options)
}

func queryShape(op operation, indexed, indices Described, options []Option) ([]int, error) {
	one, at := viewOf(indexed), viewOf(indices)
	if one == nil {
		return nil, fail(ErrNull, indexedOf(op), 0, 0, "nil")
	}
	if at == nil {
		return nil, fail(ErrNull, OperandIndices, 0, 0, "nil")
	}
	var s settings
	s.settle(options)
	return outputShape(op, one, at, &s)
}

// viewOf is nil for nil, and for a nil pointer.
func viewOf(tensor Described) *view {
	if tensor == nil {
		return nil
	}
	return tensor.describe()
}

func outputShape(op operation, indexed, indices *view, s *settings) ([]int, error) {
	if err := look(op, indexed, indices, nil, s); err != nil {
		return nil, err
	}
	var rank C.int32_t
	var extents [MaxRank]int
	err := C.gather_go_shape(op,
		&indexed.numbers, indexed.cData(), indexed.cShape(), indexed.cStrides(),
		&indices.numbers, indices.cData(), indices.cShape(), indices.cStrides(),
		s.cOptions(), &rank, cInts(&extents[0]))
	if err != nil {
		return nil, takeError(err)
	}
	return slices.Clone(extents[:rank]), nil
}
