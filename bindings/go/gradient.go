//go:build cgo

package gather

import "slices"

// GatherGradient returns the gradient of [Gather] with respect to its params, which have this shape: zeros, to which each
// slice of the gradient of the output is added at the place that the gather has read. The options are those of the gather.
// Rows that the gather has filled or skipped contribute nothing. The result does not depend on the number of threads. In
// errors [OperandTarget] is the result and [OperandUpdates] is the gradient of the output.
func GatherGradient[T Element, I Index](gradient Tensor[T], indices Tensor[I], shape []int,
	options ...Option) (Tensor[T], error) {
	return gatherGradient(opGatherGradient, gradient, indices, shape, options)
}

// GatherNDGradient returns the gradient of [GatherND], with the rules of [GatherGradient].
func GatherNDGradient[T Element, I Index](gradient Tensor[T], indices Tensor[I], shape []int,
	options ...Option) (Tensor[T], error) {
	return gatherGradient(opGatherNDGradient, gradient, indices, shape, options)
}

// GatherElementsGradient returns the gradient of [GatherElements], with the rules of [GatherGradient].
func GatherElementsGradient[T Element, I Index](gradient Tensor[T], indices Tensor[I], shape []int,
	options ...Option) (Tensor[T], error) {
	return gatherGradient(opGatherElementsGradient, gradient, indices, shape, options)
}

// GatherGradientInto is [GatherGradient] into a tensor of the shape of the params. All its elements are written. If the
// call fails, out is unchanged, except after ErrRace.
func GatherGradientInto[T Element, I Index](out Output[T], gradient Tensor[T], indices Tensor[I],
	options ...Option) error {
	return into(opGatherGradient, &out.view, &indices.view, &gradient.view, options)
}

// GatherNDGradientInto is [GatherNDGradient] into a tensor, with the rules of [GatherGradientInto].
func GatherNDGradientInto[T Element, I Index](out Output[T], gradient Tensor[T], indices Tensor[I],
	options ...Option) error {
	return into(opGatherNDGradient, &out.view, &indices.view, &gradient.view, options)
}

// GatherElementsGradientInto is [GatherElementsGradient] into a tensor, with the rules of [GatherGradientInto].
func GatherElementsGradientInto[T Element, I Index](out Output[T], gradient Tensor[T], indices Tensor[I],
	options ...Option) error {
	return into(opGatherElementsGradient, &out.view, &indices.view, &gradient.view, options)
}

func gatherGradient[T Element, I Index](op operation, gradient Tensor[T], indices Tensor[I], shape []int,
	options []Option) (Tensor[T], error) {
	bytes, ok := byteCount(elementSize(DTypeOf[T]()), shape)
	if !ok || len(shape) > MaxRank { // The library reports what is invalid.
		none := Shaped[T](shape...)
		return Tensor[T]{}, into(op, &none.view, &indices.view, &gradient.view, options)
	}
	out, err := newTensor[T](bytes, slices.Clone(shape), OperandTarget)
	if err != nil {
		return Tensor[T]{}, err
	}
	if err := into(op, &out.view, &indices.view, &gradient.view, options); err != nil {
		return Tensor[T]{}, err
	}
	return out, nil
}
