package gather

// #include "results.h"
// #cgo noescape gather_go_result
// #cgo nocallback gather_go_result
import "C"

import "slices"

// GatherBagsGradient returns the gradient of [GatherBags] with respect to params, from the gradient of its output. The
// result has the shape of params. Each of its rows is the sum of the gradients of the bags that have read the row, in
// the order of the indices. So it does not depend on the number of threads. With [PoolMax] and [PoolMin], the first of
// equal elements receives the gradient. Bags and options are those of GatherBags. In errors [OperandTarget] is the
// result, and [OperandUpdates] is the gradient of the output.
func GatherBagsGradient[T Element, I Index](gradient, params Tensor[T], indices Tensor[I], bags Bags,
	options ...Option) (Tensor[T], error) {
	return newBagResult[T](C.GATHER_GO_OF_PARAMS, params.view.shape(), bags.operands(&params.view, &indices.view, &gradient.view), &bags, options)
}

// GatherBagsGradientInto writes the result of [GatherBagsGradient] to target, which must have the shape of params. It
// overwrites all elements. If the call fails, target is unchanged.
func GatherBagsGradientInto[T Element, I Index](target Output[T], gradient, params Tensor[T], indices Tensor[I],
	bags Bags, options ...Option) error {
	_, err := writeBagResult(C.GATHER_GO_OF_PARAMS, bags.operands(&params.view, &indices.view, &gradient.view), &absent, &target.view, &bags,
		options)
	return err
}

// GatherBagsSparseGradientInto writes the result of [GatherBagsGradient] in sparse form. It writes the numbers of the
// rows that bags have read to unique, in ascending order, and their gradients to target. It returns the number of these
// rows. target has as many rows as unique has elements. If they are too few, the error is [ErrSize], whose limit is the
// needed number. If the call fails, unique and target are unchanged.
func GatherBagsSparseGradientInto[T Element, I Index](unique Output[int64], target Output[T], gradient, params Tensor[T],
	indices Tensor[I], bags Bags, options ...Option) (int, error) {
	return writeBagResult(C.GATHER_GO_OF_PARAMS, bags.operands(&params.view, &indices.view, &gradient.view), &unique.view, &target.view, &bags,
		options)
}

// GatherBagsWeightGradient returns the gradient of [GatherBags] with respect to the weights of the bags, which have the
// type W. The result has the shape of the indices. If the bags have no weights, each weight is 1, and W is T. The
// maximum and the minimum have no weights. Other rules are those of [GatherBagsGradient].
func GatherBagsWeightGradient[W, T Element, I Index](gradient, params Tensor[T], indices Tensor[I], bags Bags,
	options ...Option) (Tensor[W], error) {
	return newBagResult[W](C.GATHER_GO_OF_WEIGHTS, indices.view.shape(), bags.operands(&params.view, &indices.view, &gradient.view), &bags, options)
}

// GatherBagsWeightGradientInto writes the result of [GatherBagsWeightGradient] to target. If the call fails, target is
// unchanged.
func GatherBagsWeightGradientInto[W, T Element, I Index](target Output[W], gradient, params Tensor[T], indices Tensor[I],
	bags Bags, options ...Option) error {
	_, err := writeBagResult(C.GATHER_GO_OF_WEIGHTS, bags.operands(&params.view, &indices.view, &gradient.view), &absent, &target.view, &bags,
		options)
	return err
}

// GatherBagsPositions returns the positions of the maxima or minima of [GatherBags]: for each element of its output, the
// position in indices of the index whose row has this element. The options have [PoolMax] or [PoolMin]. Of equal
// elements, the first one has the position, and the first NaN if there is one. A bag that has read no index has -1.
// Positions in several dims are row-major numbers. In errors [OperandOut] is the result.
func GatherBagsPositions[T Element, I Index](params Tensor[T], indices Tensor[I], bags Bags,
	options ...Option) (Tensor[int64], error) {
	s := bags.settings(options)
	given := bags.operands(&params.view, &indices.view, &absent)
	shape, err := inferShape(opGatherBags, given, &s)
	if err != nil {
		return Tensor[int64]{}, err
	}
	return newBagResult[int64](C.GATHER_GO_POSITIONS, shape, given, &bags, options)
}

// GatherBagsPositionsInto writes the result of [GatherBagsPositions] to positions, which must have the shape of the
// output of GatherBags. If the call fails, positions are unchanged.
func GatherBagsPositionsInto[T Element, I Index](positions Output[int64], params Tensor[T], indices Tensor[I],
	bags Bags, options ...Option) error {
	_, err := writeBagResult(C.GATHER_GO_POSITIONS, bags.operands(&params.view, &indices.view, &absent), &absent,
		&positions.view, &bags, options)
	return err
}

// resultOperand returns the name of the written operand.
func resultOperand(kind C.int32_t) Operand {
	if kind == C.GATHER_GO_POSITIONS {
		return OperandOut
	}
	return OperandTarget
}

// newBagResult makes a result of gather_bags of a shape.
func newBagResult[T Element](kind C.int32_t, shape []int, given operands, bags *Bags,
	options []Option) (Tensor[T], error) {
	s := bags.settings(options)
	return newResult[T](opGatherBags, kind, shape, given, &s)
}

// writeBagResult writes a gradient or positions of gather_bags. It returns the number of rows if unique is not absent.
func writeBagResult(kind C.int32_t, given operands, unique, target *view, bags *Bags, options []Option) (int, error) {
	s := bags.settings(options)
	return writeResult(opGatherBags, kind, given, unique, target, &s)
}

// newResult makes a result of a shape.
func newResult[T Element](op operation, kind C.int32_t, shape []int, given operands, s *settings) (Tensor[T], error) {
	out, err := newTensor[T](slices.Clone(shape), resultOperand(kind))
	if err != nil {
		return out, err
	}
	if _, err := writeResult(op, kind, given, &absent, &out.view, s); err != nil {
		return Tensor[T]{}, err
	}
	return out, nil
}

// writeResult writes a result. It returns the number of rows if unique is not absent.
func writeResult(op operation, kind C.int32_t, given operands, unique, target *view, s *settings) (int, error) {
	for _, each := range []struct {
		view    *view
		operand Operand
	}{{unique, OperandOut}, {target, resultOperand(kind)}} {
		if each.view.has(C.GATHER_GO_INVALID) {
			return 0, each.view.mismatch(each.operand)
		}
		if err := each.view.begin(each.operand); err != nil {
			return 0, err
		}
		defer each.view.end()
	}
	if err := given.check(op); err != nil {
		return 0, err
	}
	if err := given.begin(op); err != nil {
		return 0, err
	}
	defer given.end()
	context, err := s.context.begin()
	if err != nil {
		return 0, err
	}
	defer s.context.end()
	var count C.int64_t
	err = takeError(given.writeResult(context, op, kind, unique, target, s.cOptions(), &count))
	return int(count), err
}

func (o *operands) writeResult(context C.gather_go_handle, op operation, kind C.int32_t, unique, target *view,
	options *C.gth_options, count *C.int64_t) *C.gather_go_error {
	return C.gather_go_result(context, C.int32_t(op), kind,
		&o[roleTable].numbers, o[roleTable].cData(), o[roleTable].cShape(), o[roleTable].cStrides(),
		&o[roleIndices].numbers, o[roleIndices].cData(), o[roleIndices].cShape(), o[roleIndices].cStrides(),
		&o[roleRows].numbers, o[roleRows].cData(), o[roleRows].cShape(), o[roleRows].cStrides(),
		&o[roleBags].numbers, o[roleBags].cData(), o[roleBags].cShape(), o[roleBags].cStrides(),
		&o[roleWeights].numbers, o[roleWeights].cData(), o[roleWeights].cShape(), o[roleWeights].cStrides(),
		&unique.numbers, unique.cData(), unique.cShape(), unique.cStrides(),
		&target.numbers, target.cData(), target.cShape(), target.cStrides(), options, count)
}
