package gather

// #include "results.h"
import "C"

// ScatterPositions returns the positions of the maxima or minima of [Scatter]: for each element of its result, the
// row-major number in updates of the element that it has received. The options have [ReductionMax] or [ReductionMin]. Of
// equal elements, the first one has the position, and the first NaN if there is one. It is -1 if the result has the
// element of target. In errors [OperandOut] is the result.
func ScatterPositions[T Element, I Index](target Tensor[T], indices Tensor[I], updates Updates[T],
	options ...Option) (Tensor[int64], error) {
	return scatterPositions(opScatter, target, indices, updates, options)
}

// ScatterNDPositions returns the positions of the maxima or minima of [ScatterND], as [ScatterPositions].
func ScatterNDPositions[T Element, I Index](target Tensor[T], indices Tensor[I], updates Updates[T],
	options ...Option) (Tensor[int64], error) {
	return scatterPositions(opScatterND, target, indices, updates, options)
}

// ScatterElementsPositions returns the positions of the maxima or minima of [ScatterElements], as [ScatterPositions].
func ScatterElementsPositions[T Element, I Index](target Tensor[T], indices Tensor[I], updates Updates[T],
	options ...Option) (Tensor[int64], error) {
	return scatterPositions(opScatterElements, target, indices, updates, options)
}

// ScatterPositionsInto writes the result of [ScatterPositions] to positions, which must have the shape of target. If the
// call fails, positions are unchanged.
func ScatterPositionsInto[T Element, I Index](positions Output[int64], target Tensor[T], indices Tensor[I],
	updates Updates[T], options ...Option) error {
	return scatterPositionsInto(opScatter, &positions.view, &target.view, &indices.view, &updates.view, options)
}

// ScatterNDPositionsInto writes the result of [ScatterNDPositions], as [ScatterPositionsInto].
func ScatterNDPositionsInto[T Element, I Index](positions Output[int64], target Tensor[T], indices Tensor[I],
	updates Updates[T], options ...Option) error {
	return scatterPositionsInto(opScatterND, &positions.view, &target.view, &indices.view, &updates.view, options)
}

// ScatterElementsPositionsInto writes the result of [ScatterElementsPositions], as [ScatterPositionsInto].
func ScatterElementsPositionsInto[T Element, I Index](positions Output[int64], target Tensor[T], indices Tensor[I],
	updates Updates[T], options ...Option) error {
	return scatterPositionsInto(opScatterElements, &positions.view, &target.view, &indices.view, &updates.view, options)
}

func scatterPositions[T Element, I Index](op operation, target Tensor[T], indices Tensor[I], updates Updates[T],
	options []Option) (Tensor[int64], error) {
	var s settings
	s.applyAll(options)
	given := byRole(&target.view, &indices.view, &updates.view)
	return newResult[int64](op, C.GATHER_GO_POSITIONS, target.view.shape(), given, &s)
}

func scatterPositionsInto(op operation, positions, target, indices, updates *view, options []Option) error {
	var s settings
	s.applyAll(options)
	_, err := writeResult(op, C.GATHER_GO_POSITIONS, byRole(target, indices, updates), &absent, positions, &s)
	return err
}
