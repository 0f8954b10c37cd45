package gather_test

import (
	"math"
	"testing"

	"libgather.io/gather"
)

func newContext(t *testing.T, threads int) *gather.Context {
	t.Helper()
	context, err := gather.NewContext(gather.ContextOptions{Threads: threads})
	check(t, err)
	t.Cleanup(func() { context.Close() })
	return context
}

func TestCallInContext(t *testing.T) {
	context := newContext(t, 2)
	out, err := gather.Gather(tableTensor(), gather.Vector([]int{1}), gather.In(context), gather.Threads(1))
	check(t, err)
	expect(t, "row", out.Data(), []float32{10, 11})
	check(t, context.Sync())
	check(t, context.TakeError())
	check(t, context.EnqueueTakeError(1))
	expectError(t, context.EnqueueTakeError(0), gather.ErrNull, gather.OperandNone)
	expectError(t, context.Wait(0), gather.ErrDevice, gather.OperandContext)
	expectError(t, context.Signal(0), gather.ErrDevice, gather.OperandContext)
}

func TestNilContextIsTheDefault(t *testing.T) {
	var context *gather.Context
	_, err := gather.Gather(tableTensor(), gather.Vector([]int{1}), gather.In(context))
	check(t, err)
	check(t, context.Sync())
	check(t, context.Close())
}

func TestClosedContextReturnsErrHandle(t *testing.T) {
	context := newContext(t, 1)
	plan := newPlan(t, tableTensor(), gather.Shaped[int](1))
	check(t, context.Close())
	check(t, context.Close())
	_, err := gather.Gather(tableTensor(), gather.Vector([]int{1}), gather.In(context))
	expectError(t, err, gather.ErrHandle, gather.OperandContext)
	expectError(t, context.Sync(), gather.ErrHandle, gather.OperandContext)
	expectError(t, context.TakeError(), gather.ErrHandle, gather.OperandContext)
	expectError(t, context.EnqueueTakeError(1), gather.ErrHandle, gather.OperandContext)
	expectError(t, context.Wait(0), gather.ErrHandle, gather.OperandContext)
	expectError(t, context.Signal(0), gather.ErrHandle, gather.OperandContext)
	_, err = gather.NewDeviceTensor[float32](context, 2)
	expectError(t, err, gather.ErrHandle, gather.OperandContext)
	_, _, err = gather.GatherStrings(newStrings(t, []string{"a"}, 1), gather.Vector([]int{0}), gather.In(context))
	expectError(t, err, gather.ErrHandle, gather.OperandContext)
	err = plan.RunIn(context, gather.To(make([]float32, 2)), table, []int{0}, gather.Open)
	expectError(t, err, gather.ErrHandle, gather.OperandContext)
}

func TestInvalidContextOptionsReturnErrors(t *testing.T) {
	for _, options := range []gather.ContextOptions{
		{Threads: -1}, {Threads: math.MinInt}, {Device: gather.Device{Kind: 99}},
		{Device: gather.Device{Kind: gather.DeviceCUDA, ID: 1000}},
	} {
		if context, err := gather.NewContext(options); err == nil {
			t.Errorf("%+v made %v", options, context)
		}
	}
}

func TestCallAfterShutdown(t *testing.T) {
	gather.Shutdown()
	_, err := gather.Gather(tableTensor(), gather.Vector([]int{1}))
	check(t, err)
}
