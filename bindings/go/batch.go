package gather

// #include "call.h"
// #cgo noescape gather_go_plan_run_batch
// #cgo nocallback gather_go_plan_run_batch
import "C"

// PlanRun is one run of a plan for [RunAll]. [Plan.With] and [ScatterPlan.With] make it.
type PlanRun struct {
	plan *planned
	args C.gather_go_plan_args
}

// With returns a run with the arguments of [Plan.Run].
func (p *Plan[T, I]) With(out Target[T], params []T, indices []I, n int) PlanRun {
	return planRun(p.planned(), n, params, indices, out.memory)
}

// With returns a run with the arguments of [ScatterPlan.Run].
func (p *ScatterPlan[T, I]) With(target Target[T], indices []I, updates Source[T], n int) PlanRun {
	return planRun(p.planned(), n, target.memory, indices, updates.memory)
}

func planRun[T Element, I Index](p *planned, n int, table []T, indices []I, rows []T) PlanRun {
	return PlanRun{p, C.gather_go_plan_args{
		n:              C.int64_t(n),
		table:          firstByte(table),
		indices:        firstByte(indices),
		rows:           firstByte(rows),
		table_extent:   C.int64_t(byteLen(table)),
		indices_extent: C.int64_t(byteLen(indices)),
		rows_extent:    C.int64_t(byteLen(rows)),
	}}
}

// RunAll runs plans in turn. The plans may have different types, and may be gathers and scatters. It calls C once for
// eight runs, and is faster than a call of [Plan.Run] for each if the runs are small. It stops at the first run that
// fails. Item of the [Error] is the number of this run, and the runs before it are complete. nil means the default
// context of the process. RunAll allocates nothing.
func RunAll(in *Context, runs ...PlanRun) error {
	context, err := in.begin()
	if err != nil {
		return err
	}
	defer in.end()
	for first := 0; first < len(runs); first += C.GATHER_GO_BATCH {
		end := min(first+C.GATHER_GO_BATCH, len(runs))
		if err := runBatch(context, runs[first:end], first); err != nil {
			return err
		}
	}
	return nil
}

// runBatch runs at most GATHER_GO_BATCH runs. If a plan cannot be used, it first runs those before it.
func runBatch(context C.gather_go_handle, runs []PlanRun, item int) error {
	var batch C.gather_go_batch
	var rejected error
	for i := range runs {
		plan, err := runs[i].begin()
		if err != nil {
			rejected = atItem(err, item+i)
			break
		}
		batch.runs[i] = runs[i].args
		batch.runs[i].plan = plan
		batch.count++
	}
	failure := C.gather_go_plan_run_batch(context, batch, C.int64_t(item))
	for i := range runs[:batch.count] {
		runs[i].plan.end()
	}
	if failure != nil {
		return takeError(failure)
	}
	return rejected
}

// begin begins a run, whose plan is not released before its owner ends the call.
func (r *PlanRun) begin() (C.gather_go_handle, error) {
	if r.plan == nil {
		return 0, noPlan()
	}
	if r.plan.device.Kind > DeviceCPU {
		return 0, r.plan.device.rejectSlices("RunAt")
	}
	return r.plan.begin()
}

// atItem sets the number of the run to which an error of this package belongs.
func atItem(err error, item int) error {
	if found, ok := err.(*Error); ok {
		found.Item = int64(item)
	}
	return err
}
