//go:build cgo

package gather

import "slices"

// GatherGradient returns what a [Gather] hands back to its params, which have this shape: zeros, to which each slice of the
// gradient of its output is added where it has read it. The options are those of the gather; rows that it has filled or
// skipped get nothing back. The result is the same for any number of threads. In errors [OperandTarget] is what is made and
// [OperandUpdates] the gradient.
func GatherGradient[T Element, I Index](gradient Tensor[T], indices Tensor[I], shape []int,
	options ...Option) (Tensor[T], error) {
	return gatherGradient(opGatherGradient, gradient, indices, shape, options)
}

// GatherNDGradient is to [GatherND] what [GatherGradient] is to [Gather].
func GatherNDGradient[T Element, I Index](gradient Tensor[T], indices Tensor[I], shape []int,
	options ...Option) (Tensor[T], error) {
	return gatherGradient(opGatherNDGradient, gradient, indices, shape, options)
}

// GatherElementsGradient is to [GatherElements] what [GatherGradient] is to [Gather].
func GatherElementsGradient[T Element, I Index](gradient Tensor[T], indices Tensor[I], shape []int,
	options ...Option) (Tensor[T], error) {
	return gatherGradient(opGatherElementsGradient, gradient, indices, shape, options)
}

// GatherGradientInto is [GatherGradient] into a tensor of the shape of the params, of which all elements are written. On an
// error out is unchanged (but see ErrRace).
func GatherGradientInto[T Element, I Index](out Output[T], gradient Tensor[T], indices Tensor[I],
	options ...Option) error {
	return into(opGatherGradient, &out.view, &indices.view, &gradient.view, options)
}

// GatherNDGradientInto is [GatherNDGradient] as [GatherGradientInto] is [GatherGradient].
func GatherNDGradientInto[T Element, I Index](out Output[T], gradient Tensor[T], indices Tensor[I],
	options ...Option) error {
	return into(opGatherNDGradient, &out.view, &indices.view, &gradient.view, options)
}

// GatherElementsGradientInto is [GatherElementsGradient] as [GatherGradientInto] is [GatherGradient].
func GatherElementsGradientInto[T Element, I Index](out Output[T], gradient Tensor[T], indices Tensor[I],
	options ...Option) error {
	return into(opGatherElementsGradient, &out.view, &indices.view, &gradient.view, options)
}

func gatherGradient[T Element, I Index](op operation, gradient Tensor[T], indices Tensor[I], shape []int,
	options []Option) (Tensor[T], error) {
	bytes, ok := byteCount(elementSize(DTypeOf[T]()), shape)
	if !ok || len(shape) > MaxRank { // C says what is wrong with it
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
