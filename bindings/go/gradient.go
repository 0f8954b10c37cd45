//go:build cgo

package gather

import "slices"

// GatherGradient returns the gradient of [Gather] with respect to its params. shape is the shape of the params. The
// result begins with zeros. Each slice of the gradient of the output is added to the slice that the gather read. The
// options are those of the gather. Rows that the gather filled or skipped contribute nothing. The result does not
// depend on the number of threads. In errors [OperandTarget] is the result, and [OperandUpdates] is the gradient of the
// output.
func GatherGradient[T Element, I Index](gradient Tensor[T], indices Tensor[I], shape []int,
	options ...Option) (Tensor[T], error) {
	return gatherGradient(opGatherGradient, gradient, indices, shape, options)
}

// GatherNDGradient returns the gradient of [GatherND]. Other rules are those of [GatherGradient].
func GatherNDGradient[T Element, I Index](gradient Tensor[T], indices Tensor[I], shape []int,
	options ...Option) (Tensor[T], error) {
	return gatherGradient(opGatherNDGradient, gradient, indices, shape, options)
}

// GatherElementsGradient returns the gradient of [GatherElements]. Other rules are those of [GatherGradient].
func GatherElementsGradient[T Element, I Index](gradient Tensor[T], indices Tensor[I], shape []int,
	options ...Option) (Tensor[T], error) {
	return gatherGradient(opGatherElementsGradient, gradient, indices, shape, options)
}

// GatherGradientInto writes the result of [GatherGradient] to target, which must have the shape of the params. It
// overwrites all elements. If the call fails, target is unchanged, except as [Error] documents.
func GatherGradientInto[T Element, I Index](target Output[T], gradient Tensor[T], indices Tensor[I],
	options ...Option) error {
	return into(opGatherGradient, &target.view, &indices.view, &gradient.view, options)
}

// GatherNDGradientInto writes the result of [GatherNDGradient] to target. Other rules are those of [GatherGradientInto].
func GatherNDGradientInto[T Element, I Index](target Output[T], gradient Tensor[T], indices Tensor[I],
	options ...Option) error {
	return into(opGatherNDGradient, &target.view, &indices.view, &gradient.view, options)
}

// GatherElementsGradientInto writes the result of [GatherElementsGradient] to target. Other rules are those of
// [GatherGradientInto].
func GatherElementsGradientInto[T Element, I Index](target Output[T], gradient Tensor[T], indices Tensor[I],
	options ...Option) error {
	return into(opGatherElementsGradient, &target.view, &indices.view, &gradient.view, options)
}

func gatherGradient[T Element, I Index](op operation, gradient Tensor[T], indices Tensor[I], shape []int,
	options []Option) (Tensor[T], error) {
	out, err := newTensor[T](slices.Clone(shape), OperandTarget)
	if err != nil {
		return Tensor[T]{}, err
	}
	if err := into(op, &out.view, &indices.view, &gradient.view, options); err != nil {
		return Tensor[T]{}, err
	}
	return out, nil
}
