package gather

// #include "shim.h"
import "C"

import "unsafe"

// Plan is a gather whose shapes and options have been validated once, for many runs. Any number of goroutines may run
// one plan. Close may be called during runs, which still complete. A run of a closed plan returns ErrHandle.
//
// One extent may be [Open]. Each run then gives its value. It is an extent of the tuples, or the outermost batch dim,
// which is then open in params and indices. In GatherElements it is the extent of indices along the axis, or the
// outermost dim of both operands.
//
// A plan has about nine kilobytes of C memory, which the garbage collector does not count. Close plans if a program
// creates many of them. The collector releases a plan that is unreachable and not closed.
type Plan[T Element, I Index] struct {
	request planned
}

// NewPlan plans a [Gather] into dense outputs. Data is not read, so the tensors may be [Shaped].
func NewPlan[T Element, I Index](params Tensor[T], indices Tensor[I], options ...Option) (*Plan[T, I], error) {
	return newPlan(opGather, params, indices, &absent, options)
}

// NewPlanND plans a [GatherND] into dense outputs.
func NewPlanND[T Element, I Index](params Tensor[T], indices Tensor[I], options ...Option) (*Plan[T, I], error) {
	return newPlan(opGatherND, params, indices, &absent, options)
}

// NewPlanElements plans a [GatherElements] into dense outputs.
func NewPlanElements[T Element, I Index](params Tensor[T], indices Tensor[I], options ...Option) (*Plan[T, I], error) {
	return newPlan(opGatherElements, params, indices, &absent, options)
}

// NewPlanInto plans a [GatherInto]. The outputs of the runs have the layout of out, in which the open extent is [Open].
func NewPlanInto[T Element, I Index](out Output[T], params Tensor[T], indices Tensor[I],
	options ...Option) (*Plan[T, I], error) {
	return newPlan(opGather, params, indices, &out.view, options)
}

// NewPlanNDInto plans a [GatherNDInto], with the rules of [NewPlanInto].
func NewPlanNDInto[T Element, I Index](out Output[T], params Tensor[T], indices Tensor[I],
	options ...Option) (*Plan[T, I], error) {
	return newPlan(opGatherND, params, indices, &out.view, options)
}

// NewPlanElementsInto plans a [GatherElementsInto], with the rules of [NewPlanInto].
func NewPlanElementsInto[T Element, I Index](out Output[T], params Tensor[T], indices Tensor[I],
	options ...Option) (*Plan[T, I], error) {
	return newPlan(opGatherElements, params, indices, &out.view, options)
}

func newPlan[T Element, I Index](op operation, params Tensor[T], indices Tensor[I], out *view,
	options []Option) (*Plan[T, I], error) {
	plan := &Plan[T, I]{}
	if err := createPlan(op, byRole(&params.view, &indices.view, out), options, plan, &plan.request); err != nil {
		return nil, err
	}
	return plan, nil
}

// planned returns the untyped plan, or nil for a nil plan.
func (p *Plan[T, I]) planned() *planned {
	if p == nil {
		return nil
	}
	return &p.request
}

// Close releases the plan when the current runs have returned. Closing again does nothing.
func (p *Plan[T, I]) Close() error { return p.planned().close() }

// Run gathers into out. n is the open extent, or [Open] if the plan has none. The slices are the memory that the plan
// describes, and may be longer. If a slice is too short, Run returns ErrSize. Value is then its size in bytes, and
// Limit is the required size. Other errors are those of [GatherInto]. Run allocates nothing.
func (p *Plan[T, I]) Run(out Target[T], params []T, indices []I, n int) error {
	// This repeats RunIn, which is not inlined because Plan is generic.
	return p.planned().run(nil, n, firstByte(params), byteLen(params), firstByte(indices), byteLen(indices),
		firstByte(out.memory), byteLen(out.memory))
}

// RunIn runs the plan in a context, as Run. nil means the default context of the process.
func (p *Plan[T, I]) RunIn(in *Context, out Target[T], params []T, indices []I, n int) error {
	return p.planned().run(in, n, firstByte(params), byteLen(params), firstByte(indices), byteLen(indices),
		firstByte(out.memory), byteLen(out.memory))
}

// RunAt is like RunIn, for memory at addresses on the plan's device. The caller guarantees that the memory is as large
// as the plan describes. It must be valid until the device has executed the work.
func (p *Plan[T, I]) RunAt(in *Context, at Addresses, n int) error {
	return p.planned().runAt(in, n, at.Params, at.Indices, at.Out)
}

// Check validates the indices of a run with the open extent n, and writes nothing. A caller that gathers in several
// runs can validate all indices first. Then an error leaves the whole output unchanged. If [Bounds] is not BoundsError,
// an index out of bounds causes no error. Other errors are those of [Plan.Run].
func (p *Plan[T, I]) Check(indices []I, n int) error { return p.CheckIn(nil, indices, n) }

// CheckIn validates indices in a context, as Check. nil means the default context of the process.
func (p *Plan[T, I]) CheckIn(in *Context, indices []I, n int) error {
	return p.planned().check(in, n, firstByte(indices), byteLen(indices))
}

// CheckAt validates indices at an address, with the rules of [Plan.RunAt]. On a device, [Context.Sync] and
// [Context.TakeError] return its error.
func (p *Plan[T, I]) CheckAt(in *Context, indices uintptr, n int) error {
	return p.planned().checkAt(in, n, indices)
}

// Extents returns the sizes of the memory in bytes that a run with the open extent n needs. A size is 0 if the run does
// not use the operand.
func (p *Plan[T, I]) Extents(n int) (params, indices, out int, err error) {
	return p.planned().extents(n)
}

// OutputShape returns the shape of the output for the open extent n. If n is [Open], the shape has an extent of Open.
func (p *Plan[T, I]) OutputShape(n int) ([]int, error) { return p.planned().shape(n) }

// firstByte returns the address of a slice, or NULL for an empty slice. For another address, an extent of 0 would mean
// that the shape decides the size of the memory.
func firstByte[T Element](data []T) *C.uint8_t {
	if len(data) == 0 {
		return nil
	}
	return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(data)))
}
