package gather

// #include "shim.h"
// #cgo noescape gather_go_copy
// #cgo nocallback gather_go_copy
import "C"

import "strings"

// Scatter copies target. In the copy it replaces the slices that [Gather] would read with updates, or combines them.
// With a = [Axis] and b = [BatchDims]:
//
//	updates.shape = target.shape[:a] + indices.shape[b:] + target.shape[a+1:]
//	out[B, O, indices[B, J], I] = reduction(the same element, updates[B, O, J, I])
//
// The result is a new dense tensor. Elements that no index selects are those of target. If several updates select one
// slice, the last one remains. With a [Reduction], all of them are combined in their order. The result does not depend
// on the number of threads. An index out of bounds is an [*IndexError], unless [Bounds] has another policy. Every other
// failure is an [*Error].
func Scatter[T Element, I Index](target Tensor[T], indices Tensor[I], updates Updates[T],
	options ...Option) (Tensor[T], error) {
	return scatter(opScatter, target, indices, updates, options)
}

// ScatterND copies target, and writes updates to the slices that [GatherND] would read. A tuple has K =
// indices.shape[-1] indices. With b = [BatchDims]:
//
//	updates.shape = indices.shape[:-1] + target.shape[b+K:]
//	out[B, indices[B, J, 0], .., indices[B, J, K-1], :] = reduction(the same element, updates[B, J, :])
//
// Other rules are those of [Scatter]. [Axis] is rejected.
func ScatterND[T Element, I Index](target Tensor[T], indices Tensor[I], updates Updates[T],
	options ...Option) (Tensor[T], error) {
	return scatter(opScatterND, target, indices, updates, options)
}

// ScatterElements copies target, and writes updates to the elements that [GatherElements] would read. With a = [Axis],
// which is 0 by default:
//
//	updates.shape = indices.shape
//	out[i, .., indices[i, .., j, .., k], .., k] = reduction(the same element, updates[i, .., j, .., k])
//
// In these formulas j and the index are in dim a. Other rules are those of [Scatter]. [BatchDims] is rejected.
func ScatterElements[T Element, I Index](target Tensor[T], indices Tensor[I], updates Updates[T],
	options ...Option) (Tensor[T], error) {
	return scatter(opScatterElements, target, indices, updates, options)
}

// ScatterInto changes target itself, as [Scatter] changes its copy. It calls C once. It allocates nothing, except with
// [AccumulateFloat32]. If it fails, target is unchanged, except as [Error] documents. target must not share memory with
// indices or updates.
func ScatterInto[T Element, I Index](target Output[T], indices Tensor[I], updates Updates[T], options ...Option) error {
	return into(opScatter, &target.view, &indices.view, &updates.view, options)
}

// ScatterNDInto changes target itself, as [ScatterND] changes its copy. Other rules are those of [ScatterInto].
func ScatterNDInto[T Element, I Index](target Output[T], indices Tensor[I], updates Updates[T],
	options ...Option) error {
	return into(opScatterND, &target.view, &indices.view, &updates.view, options)
}

// ScatterElementsInto changes target itself, as [ScatterElements] changes its copy. Other rules are those of
// [ScatterInto].
func ScatterElementsInto[T Element, I Index](target Output[T], indices Tensor[I], updates Updates[T],
	options ...Option) error {
	return into(opScatterElements, &target.view, &indices.view, &updates.view, options)
}

// scatter changes a copy of the target. It validates the shapes before it makes the copy.
func scatter[T Element, I Index](op operation, target Tensor[T], indices Tensor[I], updates Updates[T],
	options []Option) (Tensor[T], error) {
	var s settings
	s.applyAll(options)
	if _, err := inferShape(op, byRole(&target.view, &indices.view, &absent), &s); err != nil {
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

// clone returns a dense copy of a target.
func clone[T Element](target Tensor[T]) (Tensor[T], error) {
	out, err := newTensor[T](target.Shape(), OperandTarget)
	if err != nil {
		return out, err
	}
	if target.view.has(C.GATHER_GO_BYTES) {
		if err := checkBools(&target.view, OperandTarget); err != nil {
			return out, err
		}
	}
	return out, copyOperand(&target.view, &out.view, OperandTarget)
}

// copyOperand copies an operand of a call to CPU memory. Its errors name that operand.
func copyOperand(source, destination *view, operand Operand) error {
	if err := source.begin(operand); err != nil {
		return err
	}
	err := takeError(copyTensor(0, source, destination))
	source.end()
	if found, ok := err.(*Error); ok {
		found.Message = operand.String() + strings.TrimPrefix(found.Message, found.Operand.String())
		found.Operand = operand
	}
	return err
}

// copyTensor copies a tensor and waits for the context's stream.
func copyTensor(context C.gather_go_handle, source, destination *view) *C.gather_go_error {
	return C.gather_go_copy(context,
		&source.numbers, source.cData(), source.cShape(), source.cStrides(),
		&destination.numbers, destination.cData(), destination.cShape(), destination.cStrides())
}
