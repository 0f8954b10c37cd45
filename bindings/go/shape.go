package gather

// #include "shim.h"
// #cgo noescape gather_go_infer
// #cgo nocallback gather_go_infer
import "C"

import "slices"

// Described is a [Tensor], a [*Packed] or a [*Table] of any type, or a [*StringTensor].
type Described interface {
	describe() *view
}

func (t Tensor[T]) describe() *view { return &t.view }

// OutputShape returns the shape of the result of [Gather]. It reads the types and shapes of the tensors, and no data.
// An extent of [Open] stays open in the result.
func OutputShape(params, indices Described, options ...Option) ([]int, error) {
	return queryShape(opGather, params, indices, options)
}

// OutputShapeND returns the shape of the result of [GatherND], with the rules of [OutputShape].
func OutputShapeND(params, indices Described, options ...Option) ([]int, error) {
	return queryShape(opGatherND, params, indices, options)
}

// OutputShapeElements returns the shape of the result of [GatherElements], with the rules of [OutputShape].
func OutputShapeElements(params, indices Described, options ...Option) ([]int, error) {
	return queryShape(opGatherElements, params, indices, options)
}

// UpdatesShape returns the shape of the updates of [Scatter], with the rules of [OutputShape].
func UpdatesShape(target, indices Described, options ...Option) ([]int, error) {
	return queryShape(opScatter, target, indices, options)
}

// UpdatesShapeND returns the shape of the updates of [ScatterND], with the rules of [OutputShape].
func UpdatesShapeND(target, indices Described, options ...Option) ([]int, error) {
	return queryShape(opScatterND, target, indices, options)
}

// UpdatesShapeElements returns the shape of the updates of [ScatterElements], with the rules of [OutputShape].
func UpdatesShapeElements(target, indices Described, options ...Option) ([]int, error) {
	return queryShape(opScatterElements, target, indices, options)
}

func queryShape(op operation, table, indices Described, options []Option) ([]int, error) {
	tableView, indicesView := viewOf(table), viewOf(indices)
	if tableView == nil {
		return nil, fail(ErrNull, op.operand(roleTable), 0, 0, "nil")
	}
	if indicesView == nil {
		return nil, fail(ErrNull, OperandIndices, 0, 0, "nil")
	}
	var s settings
	s.applyAll(options)
	return inferShape(op, byRole(tableView, indicesView, &absent), &s)
}

// viewOf returns the view of a tensor, or nil for nil and for a nil pointer.
func viewOf(tensor Described) *view {
	if tensor == nil {
		return nil
	}
	return tensor.describe()
}

// inferShape returns the shape of the rows of an operation.
func inferShape(op operation, given operands, s *settings) ([]int, error) {
	if err := given.check(op); err != nil {
		return nil, err
	}
	if given.marks()&C.GATHER_GO_HANDLE != 0 {
		if err := given.begin(op); err != nil {
			return nil, err
		}
		defer given.end()
	}
	var rank C.int32_t
	var extents [MaxRank]int
	if err := given.infer(op, s.cOptions(), &rank, cInts(&extents[0])); err != nil {
		return nil, takeError(err)
	}
	return slices.Clone(extents[:rank]), nil
}
