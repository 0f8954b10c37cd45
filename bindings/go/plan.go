package gather

// #include "call.h"
// #cgo noescape gather_go_plan
// #cgo nocallback gather_go_plan
// #cgo noescape gather_go_plan_run
// #cgo nocallback gather_go_plan_run
// #cgo noescape gather_go_plan_run_at
// #cgo nocallback gather_go_plan_run_at
// #cgo noescape gather_go_plan_check
// #cgo nocallback gather_go_plan_check
// #cgo noescape gather_go_plan_check_at
// #cgo nocallback gather_go_plan_check_at
// #cgo noescape gather_go_plan_extents
// #cgo nocallback gather_go_plan_extents
// #cgo noescape gather_go_plan_shape
// #cgo nocallback gather_go_plan_shape
// #cgo noescape gather_go_plan_release
// #cgo nocallback gather_go_plan_release
import "C"

import (
	"fmt"
	"slices"
)

// Plan is a gather whose shapes and options have been checked once, for callers who repeat it. One extent may be left
// open with [Open] and is given at each run: an extent of the tuples (of GatherElements, of the axis), or the outermost
// dim that params and indices share, in both alike. Any number of goroutines may run one plan. Close may come beside runs,
// which still end well; running a closed plan is ErrHandle.
//
// A plan is memory of C, a few hundred bytes, which the garbage collector does not see: who makes many closes them. One
// that is not closed is released when the collector finds it, however long that takes.
type Plan[T Element, I Index] struct {
	device Device
	owner  owner
}

// NewPlan plans a [Gather]. Data is not looked at: [Shaped] tensors will do. The outputs are dense.
func NewPlan[T Element, I Index](params Tensor[T], indices Tensor[I], options ...Option) (*Plan[T, I], error) {
	return newPlan(opGather, params, indices, nil, options)
}

// NewPlanND plans a [GatherND].
func NewPlanND[T Element, I Index](params Tensor[T], indices Tensor[I], options ...Option) (*Plan[T, I], error) {
	return newPlan(opGatherND, params, indices, nil, options)
}

// NewPlanElements plans a [GatherElements].
func NewPlanElements[T Element, I Index](params Tensor[T], indices Tensor[I], options ...Option) (*Plan[T, I], error) {
	return newPlan(opGatherElements, params, indices, nil, options)
}

// NewPlanInto plans a [GatherInto]: the outputs to come are laid out as out, with [Open] where the open extent lands.
func NewPlanInto[T Element, I Index](out Output[T], params Tensor[T], indices Tensor[I],
	options ...Option) (*Plan[T, I], error) {
	return newPlan(opGather, params, indices, &out.view, options)
}

// NewPlanNDInto plans a [GatherNDInto], as [NewPlanInto].
func NewPlanNDInto[T Element, I Index](out Output[T], params Tensor[T], indices Tensor[I],
	options ...Option) (*Plan[T, I], error) {
	return newPlan(opGatherND, params, indices, &out.view, options)
}

// NewPlanElementsInto plans a [GatherElementsInto], as [NewPlanInto].
func NewPlanElementsInto[T Element, I Index](out Output[T], params Tensor[T], indices Tensor[I],
	options ...Option) (*Plan[T, I], error) {
	return newPlan(opGatherElements, params, indices, &out.view, options)
}

func newPlan[T Element, I Index](op operation, indexed Tensor[T], indices Tensor[I], linear *view,
	options []Option) (*Plan[T, I], error) {
	var s settings
	s.settle(options)
	handle, err := createPlan(op, &indexed.view, &indices.view, linear, &s)
	if err != nil {
		return nil, err
	}
	device := Device{DeviceKind(indexed.view.numbers.device), int(indexed.view.numbers.device_id)}
	plan := &Plan[T, I]{device: device}
	own(plan, &plan.owner, handle, releasePlan)
	return plan, nil
}

// createPlan is of dense outputs, or updates, without linear.
func createPlan(op operation, indexed, indices, linear *view, s *settings) (C.gather_go_handle, error) {
	if err := look(op, indexed, indices, linear, s); err != nil {
		return 0, err
	}
	var none view
	var linearNumbers *C.gather_go_view
	if linear == nil {
		linear = &none
	} else {
		linearNumbers = &linear.numbers
	}
	var handle C.gather_go_handle
	err := C.gather_go_plan(op,
		&indexed.numbers, indexed.cData(), indexed.cShape(), indexed.cStrides(),
		&indices.numbers, indices.cData(), indices.cShape(), indices.cStrides(),
		s.cOptions(),
		linearNumbers, linear.cData(), linear.cShape(), linear.cStrides(),
		&handle)
	return handle, takeError(err)
}

func releasePlan(handle C.gather_go_handle) { C.gather_go_plan_release(handle) }

// Close releases the plan, once the runs under way have returned. Closing again does nothing.
func (p *Plan[T, I]) Close() error {
	if p != nil {
		p.owner.close()
	}
	return nil
}

// Run gathers with the open extent n ([Open] if the plan has none) into out. The slices hold the memory that the plan
// describes, from its first element on, and may be longer. A slice that is too short is ErrSize, with its bytes as Value
// and those needed as Limit; the other errors are those of [GatherInto]. Run allocates nothing.
func (p *Plan[T, I]) Run(out Target[T], params []T, indices []I, n int) error {
	return p.RunIn(nil, out, params, indices, n)
}

// RunIn is Run in a context; a nil one is the process's default.
func (p *Plan[T, I]) RunIn(in *Context, out Target[T], params []T, indices []I, n int) error {
	if p == nil {
		return noPlan()
	}
	if p.device.Kind > DeviceCPU {
		return p.device.refuseSlices("RunAt")
	}
	context, err := in.begin() // beginWith and endWith would not be inlined
	if err != nil {
		return err
	}
	plan, err := p.owner.begin(OperandPlan)
	if err != nil {
		in.end()
		return err
	}
	failure := C.gather_go_plan_run(context, plan, firstByte(params), cByteLen(params), firstByte(indices),
		cByteLen(indices), firstByte(out.memory), cByteLen(out.memory), C.int64_t(n))
	p.owner.end()
	in.end()
	return takeError(failure)
}

// RunAt is RunIn for raw addresses, on the plan's device. That the memory is there, as large as the plan describes, and
// stays until the device has done the work, is the caller's promise.
func (p *Plan[T, I]) RunAt(in *Context, at Addresses, n int) error {
	if p == nil {
		return noPlan()
	}
	context, plan, err := in.beginWith(&p.owner, OperandPlan)
	if err != nil {
		return err
	}
	failure := C.gather_go_plan_run_at(context, plan, C.uintptr_t(at.Params), C.uintptr_t(at.Indices),
		C.uintptr_t(at.Out), C.int64_t(n))
	in.endWith(&p.owner)
	return takeError(failure)
}

// Check judges the indices of a run with the open extent n and does nothing else, for callers who gather in pieces and
// still promise an output that is unchanged on error. What [Bounds] has an answer for is no error. The other errors are
// those of [Plan.Run].
func (p *Plan[T, I]) Check(indices []I, n int) error { return p.CheckIn(nil, indices, n) }

// CheckIn is Check in a context; a nil one is the process's default.
func (p *Plan[T, I]) CheckIn(in *Context, indices []I, n int) error {
	if p == nil {
		return noPlan()
	}
	if p.device.Kind > DeviceCPU {
		return p.device.refuseSlices("CheckAt")
	}
	if err := p.fits(indices, n); err != nil {
		return err
	}
	context, plan, err := in.beginWith(&p.owner, OperandPlan)
	if err != nil {
		return err
	}
	failure := C.gather_go_plan_check(context, plan, firstByte(indices), C.int64_t(n))
	in.endWith(&p.owner)
	return takeError(failure)
}

// CheckAt is CheckIn for a raw address, as RunAt is RunIn. On a device the error is taken from the context, as that of a
// run.
func (p *Plan[T, I]) CheckAt(in *Context, indices uintptr, n int) error {
	if p == nil {
		return noPlan()
	}
	context, plan, err := in.beginWith(&p.owner, OperandPlan)
	if err != nil {
		return err
	}
	failure := C.gather_go_plan_check_at(context, plan, C.uintptr_t(indices), C.int64_t(n))
	in.endWith(&p.owner)
	return takeError(failure)
}

// fits refuses indices that a run would read beyond the end of.
func (p *Plan[T, I]) fits(indices []I, n int) error {
	_, needed, _, err := p.Extents(n)
	if err != nil || byteLen(indices) >= needed {
		return err
	}
	return fail(ErrSize, OperandIndices, byteLen(indices), needed,
		fmt.Sprintf("memory of %d bytes, needed are %d", byteLen(indices), needed))
}

// Extents returns how many bytes of params, indices and out a run with the open extent n touches at most, from the
// address of each on; 0 where it touches none.
func (p *Plan[T, I]) Extents(n int) (params, indices, out int, err error) {
	if p == nil {
		return 0, 0, 0, noPlan()
	}
	plan, err := p.owner.begin(OperandPlan)
	if err != nil {
		return 0, 0, 0, err
	}
	failure := C.gather_go_plan_extents(plan, C.int64_t(n), cInts(&params), cInts(&indices), cInts(&out))
	p.owner.end()
	return params, indices, out, takeError(failure)
}

// OutputShape returns the output's shape for the open extent n; [Open] is handed on.
func (p *Plan[T, I]) OutputShape(n int) ([]int, error) {
	if p == nil {
		return nil, noPlan()
	}
	return planShape(&p.owner, n)
}

func planShape(o *owner, n int) ([]int, error) {
	plan, err := o.begin(OperandPlan)
	if err != nil {
		return nil, err
	}
	var rank C.int32_t
	var extents [MaxRank]int
	failure := C.gather_go_plan_shape(plan, C.int64_t(n), &rank, cInts(&extents[0]))
	o.end()
	if failure != nil {
		return nil, takeError(failure)
	}
	return slices.Clone(extents[:rank]), nil
}

// refuseSlices is about the plan of a device other than the CPU; at is what takes its memory.
func (d Device) refuseSlices(at string) error {
	return fail(ErrDevice, OperandPlan, int(d.Kind), int(DeviceCPU), "slices are not memory of its device: "+at)
}

func noPlan() error { return fail(ErrNull, OperandPlan, 0, 0, "nil") }
