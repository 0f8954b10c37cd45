package gather

// #include "call.h"
// #cgo noescape gather_go_run
// #cgo nocallback gather_go_run
// #cgo noescape gather_go_run_request
// #cgo nocallback gather_go_run_request
// #cgo nocallback gather_go_can_allocate
import "C"

import "unsafe"

// Gather takes slices of params along an axis. With a = [Axis] and b = [BatchDims]:
//
//	out.shape = params.shape[:a] + indices.shape[b:] + params.shape[a+1:]
//	out[B, O, J, I] = params[B, O, indices[B, J], I]
//
// The result is a new dense tensor. An index out of bounds is an [*IndexError], unless [Bounds] has another policy.
// Every other failure is an [*Error]. params and indices are read during the call only. Other goroutines may use them
// at the same time.
func Gather[T Element, I Index](params Tensor[T], indices Tensor[I], options ...Option) (Tensor[T], error) {
	return allocate(opGather, params, indices, options)
}

// GatherND takes slices of params by tuples of K = indices.shape[-1] indices. With b = [BatchDims]:
//
//	out.shape = indices.shape[:-1] + params.shape[b+K:]
//	out[B, J, :] = params[B, indices[B, J, 0], .., indices[B, J, K-1], :]
//
// Other rules are those of [Gather]. [Axis] is rejected.
func GatherND[T Element, I Index](params Tensor[T], indices Tensor[I], options ...Option) (Tensor[T], error) {
	return allocate(opGatherND, params, indices, options)
}

// GatherElements takes single elements of params along an axis. Every other dim of params corresponds to the same dim
// of indices. With a = [Axis], which is 0 by default:
//
//	out.shape = indices.shape
//	out[i, .., j, .., k] = params[i, .., indices[i, .., j, .., k], .., k]
//
// In these formulas j and the index are in dim a. [Extents] sets the rule for the extents of the other dims. Other
// rules are those of [Gather]. [BatchDims] is rejected.
func GatherElements[T Element, I Index](params Tensor[T], indices Tensor[I], options ...Option) (Tensor[T], error) {
	return allocate(opGatherElements, params, indices, options)
}

// GatherInto writes the result of [Gather] to out, which must have the shape of the result. It calls C once and
// allocates nothing. If it fails, out is unchanged, except as [Error] documents. out must not share memory with params or
// indices.
func GatherInto[T Element, I Index](out Output[T], params Tensor[T], indices Tensor[I], options ...Option) error {
	return into(opGather, &params.view, &indices.view, &out.view, options)
}

// GatherNDInto writes the result of [GatherND] to out. Other rules are those of [GatherInto].
func GatherNDInto[T Element, I Index](out Output[T], params Tensor[T], indices Tensor[I], options ...Option) error {
	return into(opGatherND, &params.view, &indices.view, &out.view, options)
}

// GatherElementsInto writes the result of [GatherElements] to out. Other rules are those of [GatherInto].
func GatherElementsInto[T Element, I Index](out Output[T], params Tensor[T], indices Tensor[I],
	options ...Option) error {
	return into(opGatherElements, &params.view, &indices.view, &out.view, options)
}

func allocate[T Element, I Index](op operation, params Tensor[T], indices Tensor[I],
	options []Option) (Tensor[T], error) {
	var s settings
	s.applyAll(options)
	return makeRows[T](op, byRole(&params.view, &indices.view, &absent), &s, options)
}

// makeRows runs an operation whose rows are absent, and returns them as a new tensor.
func makeRows[T Element](op operation, given operands, s *settings, options []Option) (Tensor[T], error) {
	shape, err := inferShape(op, given, s)
	if err != nil {
		return Tensor[T]{}, err
	}
	out, err := newTensor[T](shape, OperandOut)
	if err != nil {
		return out, err
	}
	given[roleRows] = &out.view
	if err := runWith(op, given, s, options); err != nil {
		return Tensor[T]{}, err
	}
	return out, nil
}

// newTensor returns zeros in new memory. A tensor with a shape that the library rejects has no memory. Errors name the
// operand.
func newTensor[T Element](shape []int, operand Operand) (Tensor[T], error) {
	bytes, ok := byteCount(elementSize(DTypeOf[T]()), shape)
	if !ok || len(shape) > MaxRank {
		return Shaped[T](shape...), nil
	}
	if !allocatable(bytes) {
		return Tensor[T]{}, fail(ErrNoMemory, operand, bytes, 0, "cannot allocate the result")
	}
	var zero T
	return New(make([]T, bytes/int(unsafe.Sizeof(zero))), shape...), nil
}

// allocatable reports whether this number of bytes can be allocated. A small tensor can have a large shape through zero
// strides, and a make that fails ends the process.
func allocatable(bytes int) bool {
	const unchecked = 1 << 30
	return bytes < unchecked || C.gather_go_can_allocate(C.int64_t(bytes)) != 0
}

func into(op operation, table, indices, rows *view, options []Option) error {
	marks := table.numbers.flags | indices.numbers.flags | rows.numbers.flags
	if len(options) == 0 && !needsPreparation(marks) {
		return takeError(run(op, 0, table, indices, rows, nil))
	}
	return intoWith(op, byRole(table, indices, rows), options)
}

// intoWith runs an operation with options, or with operands that must be prepared. It is a separate function, so that a
// call without options does not clear settings.
func intoWith(op operation, given operands, options []Option) error {
	var s settings
	s.applyAll(options)
	return runWith(op, given, &s, options)
}

// runWith runs an operation with settings, which have been made from the options.
func runWith(op operation, given operands, s *settings, options []Option) error {
	marks := given.marks()
	if needsPreparation(marks) {
		if err := prepare(op, &given, s, options); err != nil {
			return err
		}
	}
	context, err := s.context.begin()
	if err == nil {
		err = takeError(given.run(context, op, s.cOptions()))
		s.context.end()
	}
	if marks&C.GATHER_GO_OWNED != 0 {
		given.end()
	}
	return err
}

func run(op operation, context C.gather_go_handle, table, indices, rows *view,
	options *C.gth_options) *C.gather_go_error {
	return C.gather_go_run(context, C.int32_t(op),
		&table.numbers, table.cData(), table.cShape(), table.cStrides(),
		&indices.numbers, indices.cData(), indices.cShape(), indices.cStrides(),
		&rows.numbers, rows.cData(), rows.cShape(), rows.cStrides(), options)
}

// needsPreparation reports whether prepare has anything to do.
func needsPreparation(marks C.uint32_t) bool {
	return marks&(C.GATHER_GO_INVALID|C.GATHER_GO_OWNED|C.GATHER_GO_BYTES) != 0 || errABI != nil
}

// prepare rejects operands that must not be passed to C. Operands that can be closed are not released before end.
func prepare(op operation, given *operands, s *settings, options []Option) error {
	if err := given.check(op); err != nil {
		return err
	}
	if err := given.begin(op); err != nil {
		return err
	}
	table, rows := given[roleTable], given[roleRows]
	var err error
	switch {
	case !op.writesTable() && table.has(C.GATHER_GO_BYTES):
		err = checkGathered(op, *given, s, options)
	case op.writesTable() && rows.has(C.GATHER_GO_BYTES):
		err = checkBools(rows, OperandUpdates)
	}
	if err != nil {
		given.end()
	}
	return err
}
