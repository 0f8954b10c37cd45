package gather

// #include "call.h"
// #cgo noescape gather_go_plan_create
// #cgo nocallback gather_go_plan_create
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
// #cgo noescape gather_go_plan_infer
// #cgo nocallback gather_go_plan_infer
// #cgo noescape gather_go_plan_release
// #cgo nocallback gather_go_plan_release
import "C"

import "slices"

// planned is a plan of any operation. Its code names the operands by role: table, indices and rows.
type planned struct {
	device Device
	owner  owner
	table  *owner // the owner of a packed table or of one in files, which the plan has bound
}

// beginTable begins a call with bound params. They are not released before endTable.
func (p *planned) beginTable() error {
	if p.table == nil {
		return nil
	}
	_, err := p.table.beginApart(OperandParams)
	return err
}

func (p *planned) endTable() {
	if p.table != nil {
		p.table.endApart()
	}
}

// begin begins a call with the plan and its bound params.
func (p *planned) begin() (C.gather_go_handle, error) {
	if err := p.beginTable(); err != nil {
		return 0, err
	}
	plan, err := p.owner.begin(OperandPlan)
	if err != nil {
		p.endTable()
	}
	return plan, err
}

func (p *planned) end() {
	p.owner.end()
	p.endTable()
}

// beginIn begins a call with the plan in a context.
func (p *planned) beginIn(in *Context) (context, plan C.gather_go_handle, err error) {
	if context, err = in.begin(); err != nil {
		return 0, 0, err
	}
	if plan, err = p.begin(); err != nil {
		in.end()
	}
	return context, plan, err
}

func (p *planned) endIn(in *Context) {
	p.end()
	in.end()
}

// createPlan creates p, which must be a field of object. If the rows are absent, they are dense.
func createPlan[T any](op operation, given operands, options []Option, object *T, p *planned) error {
	var s settings
	s.applyAll(options)
	if err := given.check(op); err != nil {
		return err
	}
	if given.marks()&C.GATHER_GO_HANDLE != 0 {
		if err := given.begin(op); err != nil {
			return err
		}
		defer given.end()
	}
	var handle C.gather_go_handle
	if err := given.createPlan(op, s.cOptions(), &handle); err != nil {
		return takeError(err)
	}
	table := given[roleTable]
	p.device = Device{DeviceKind(table.numbers.device), int(table.numbers.device_id)}
	if table.has(C.GATHER_GO_HANDLE) {
		p.table = (*owner)(table.data)
	}
	own(object, &p.owner, handle, releasePlan)
	return nil
}

func releasePlan(handle C.gather_go_handle) { C.gather_go_plan_release(handle) }

func (p *planned) close() error {
	if p != nil {
		p.owner.close()
	}
	return nil
}

// run runs the plan over slices. The library checks their sizes.
func (p *planned) run(in *Context, n int, table *C.uint8_t, tableBytes int, indices *C.uint8_t, indicesBytes int,
	rows *C.uint8_t, rowsBytes int) error {
	if p == nil {
		return noPlan()
	}
	if p.device.Kind > DeviceCPU {
		return p.device.rejectSlices("RunAt")
	}
	if err := p.beginTable(); err != nil { // beginIn and endIn are not used, because the compiler does not inline them.
		return err
	}
	context, err := in.begin()
	if err != nil {
		p.endTable()
		return err
	}
	plan, err := p.owner.begin(OperandPlan)
	if err != nil {
		in.end()
		p.endTable()
		return err
	}
	failure := C.gather_go_plan_run(context, plan, C.int64_t(n), table, C.int64_t(tableBytes), indices,
		C.int64_t(indicesBytes), rows, C.int64_t(rowsBytes))
	p.owner.end()
	in.end()
	p.endTable()
	return takeError(failure)
}

func (p *planned) runAt(in *Context, n int, table, indices, rows uintptr) error {
	if p == nil {
		return noPlan()
	}
	context, plan, err := p.beginIn(in)
	if err != nil {
		return err
	}
	failure := C.gather_go_plan_run_at(context, plan, C.int64_t(n), C.uintptr_t(table), C.uintptr_t(indices),
		C.uintptr_t(rows))
	p.endIn(in)
	return takeError(failure)
}

func (p *planned) check(in *Context, n int, indices *C.uint8_t, indicesBytes int) error {
	if p == nil {
		return noPlan()
	}
	if p.device.Kind > DeviceCPU {
		return p.device.rejectSlices("CheckAt")
	}
	context, plan, err := p.beginIn(in)
	if err != nil {
		return err
	}
	failure := C.gather_go_plan_check(context, plan, C.int64_t(n), indices, C.int64_t(indicesBytes))
	p.endIn(in)
	return takeError(failure)
}

func (p *planned) checkAt(in *Context, n int, indices uintptr) error {
	if p == nil {
		return noPlan()
	}
	context, plan, err := p.beginIn(in)
	if err != nil {
		return err
	}
	failure := C.gather_go_plan_check_at(context, plan, C.int64_t(n), C.uintptr_t(indices))
	p.endIn(in)
	return takeError(failure)
}

func (p *planned) extents(n int) (table, indices, rows int, err error) {
	if p == nil {
		return 0, 0, 0, noPlan()
	}
	plan, err := p.owner.begin(OperandPlan)
	if err != nil {
		return 0, 0, 0, err
	}
	var extents [3]int
	failure := C.gather_go_plan_extents(plan, C.int64_t(n), cInts(&extents[0]))
	p.owner.end()
	return extents[0], extents[1], extents[2], takeError(failure)
}

// shape returns the shape of the rows.
func (p *planned) shape(n int) ([]int, error) {
	if p == nil {
		return nil, noPlan()
	}
	plan, err := p.owner.begin(OperandPlan)
	if err != nil {
		return nil, err
	}
	var rank C.int32_t
	var extents [MaxRank]int
	failure := C.gather_go_plan_infer(plan, C.int64_t(n), &rank, cInts(&extents[0]))
	p.owner.end()
	if failure != nil {
		return nil, takeError(failure)
	}
	return slices.Clone(extents[:rank]), nil
}

// rejectSlices returns the error of a run over slices on a device other than the CPU. at is the method to use instead.
func (d Device) rejectSlices(at string) error {
	return fail(ErrDevice, OperandPlan, int(d.Kind), int(DeviceCPU), "slices are not memory of its device: "+at)
}

func noPlan() error { return fail(ErrNull, OperandPlan, 0, 0, "nil") }
