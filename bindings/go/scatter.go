package gather

// #include "shim.h"
import "C"

import "strings"

// Scatter returns target with slices of it written, or added, .. to: those that [Gather] would read. With a = [Axis] and
// b = [BatchDims]:
//
//	updates.shape = target.shape[:a] + indices.shape[b:] + target.shape[a+1:]
//	out[B, O, indices[B, J], I] = reduction(the same, updates[B, O, J, I])
//
// The result is dense and new; what no index selects is as it is in target. Of several updates of one slice the last one
// holds, or all are combined in their order: see [Reduction]. The result is the same for any number of threads. An index
// out of bounds is an [*IndexError] unless [Bounds] says otherwise; any other failure is an [*Error].
func Scatter[T Element, I Index](target Tensor[T], indices Tensor[I], updates Updates[T],
	options ...Option) (Tensor[T], error) {
	return scatter(opScatter, target, indices, updates, options)
}

// ScatterND writes slices by tuples of K = indices.shape[-1] indices: those that [GatherND] would read. With
// b = [BatchDims]:
//
//	updates.shape = indices.shape[:-1] + target.shape[b+K:]
//	out[B, indices[B, J, 0], .., indices[B, J, K-1], :] = reduction(the same, updates[B, J, :])
//
// The rest is as in [Scatter]. [Axis] is refused.
func ScatterND[T Element, I Index](target Tensor[T], indices Tensor[I], updates Updates[T],
	options ...Option) (Tensor[T], error) {
	return scatter(opScatterND, target, indices, updates, options)
}

// ScatterElements writes single elements along an axis: those that [GatherElements] would read. With a = [Axis], which is
// 0 if it is not given:
//
//	updates.shape = indices.shape
//	out[i, .., indices[i, .., j, .., k], .., k] = reduction(the same, updates[i, .., j, .., k])
//
// where j and the index are dim a. The rest is as in [Scatter]. [BatchDims] is refused.
func ScatterElements[T Element, I Index](target Tensor[T], indices Tensor[I], updates Updates[T],
	options ...Option) (Tensor[T], error) {
	return scatter(opScatterElements, target, indices, updates, options)
}

// ScatterInto is [Scatter] in place: target itself is changed. It is one call into C and allocates nothing, but for
// [AccumulateFloat32]. On an error target is as it was, to the byte (but see ErrRace). target must not share memory with
// indices or updates.
func ScatterInto[T Element, I Index](target Output[T], indices Tensor[I], updates Updates[T], options ...Option) error {
	return into(opScatter, &target.view, &indices.view, &updates.view, options)
}

// ScatterNDInto is [ScatterND] as [ScatterInto] is [Scatter].
func ScatterNDInto[T Element, I Index](target Output[T], indices Tensor[I], updates Updates[T],
	options ...Option) error {
	return into(opScatterND, &target.view, &indices.view, &updates.view, options)
}

// ScatterElementsInto is [ScatterElements] as [ScatterInto] is [Scatter].
func ScatterElementsInto[T Element, I Index](target Output[T], indices Tensor[I], updates Updates[T],
	options ...Option) error {
	return into(opScatterElements, &target.view, &indices.view, &updates.view, options)
}

// scatter is into a copy of the target, which is made once its shape is known to do.
func scatter[T Element, I Index](op operation, target Tensor[T], indices Tensor[I], updates Updates[T],
	options []Option) (Tensor[T], error) {
	var s settings
	s.settle(options)
	if _, err := outputShape(op, &target.view, &indices.view, &s); err != nil {
		return Tensor[T]{}, err
	}
	out, err := clone(target)
	if err != nil {
		return Tensor[T]{}, err
	}
	if err := into(op, &out.view, &indices.view, &updates.view, options); err != nil {
		return Tensor[T]{}, err
	}
	return out, nil
}

// clone is a dense copy of a target.
func clone[T Element](target Tensor[T]) (Tensor[T], error) {
	shape := target.Shape()
	bytes, ok := byteCount(elementSize(DTypeOf[T]()), shape)
	if !ok { // C says which extent is too large
		none := Shaped[T](shape...)
		return none, copyAll(&none.view, &target.view, OperandTarget)
	}
	out, err := newTensor[T](bytes, shape, OperandTarget)
	if err != nil {
		return out, err
	}
	if target.view.has(C.GATHER_GO_BYTES) {
		if err := judgeBools(&target.view, OperandTarget); err != nil {
			return out, err
		}
		target.view.numbers.flags &^= C.GATHER_GO_BYTES
	}
	return out, copyAll(&out.view, &target.view, OperandTarget)
}

// copyAll copies the elements of an operand of a call: a tuple of no indices selects all of it.
func copyAll(to, from *view, operand Operand) error {
	tuple := newView(DTypeInt64, 0, []int{0}, nil)
	source, destination := from.ranked(), to.ranked()
	err := into(opGatherND, &source, &tuple, &destination, nil)
	if found, ok := err.(*Error); ok {
		found.Message = operand.String() + strings.TrimPrefix(found.Message, found.Operand.String())
		found.Operand = operand
	}
	return err
}

var single = 1

// ranked is v with a dim: a gather has no params of rank 0.
func (v *view) ranked() view {
	ranked := *v
	if v.numbers.ndim == 0 {
		ranked.numbers.ndim, ranked.numbers.stride_count = 1, 0
		ranked.first, ranked.strides = &single, nil
	}
	return ranked
}
