package gather_test

import (
	"testing"

	"libgather.io/gather"
)

// The numbers of the errors that this package finds before it calls the library.
func TestErrorsOfThisPackageHaveTheirNumbers(t *testing.T) {
	expectCause := func(name string, err error, status gather.Status, operand gather.Operand, component int, value, limit int64) {
		t.Helper()
		found := expectError(t, err, status, operand)
		numbers := []int64{int64(found.Component), found.Position, found.Value, found.Limit, int64(found.Native)}
		expect(t, name, numbers, []int64{int64(component), -1, value, limit, 0})
	}
	ids := gather.Vector([]int{0})
	table := []float32{0, 1, 2, 3}

	_, err := gather.NewStrings([]string{"a", "b"}, 3)
	expectCause("count of strings", err, gather.ErrShape, gather.OperandTensor, -1, 2, 3)
	_, err = gather.Gather(gather.New(table), ids)
	expectCause("no shape", err, gather.ErrShape, gather.OperandParams, -1, 4, 1)
	_, err = gather.Gather(gather.Strided[float32](table, 0, []int{2, 2}, []int{8}), ids)
	expectCause("strides", err, gather.ErrRank, gather.OperandParams, -1, 1, 2)
	_, err = gather.Gather(gather.Vector(table), ids, gather.Bounds(gather.BoundsFill), gather.FillWith(int8(1)))
	expectCause("fill value", err, gather.ErrDType, gather.OperandOptions, 116, int64(gather.DTypeInt8), int64(gather.DTypeFloat32))
	_, err = gather.OutputShape(nil, ids)
	expectCause("nil params", err, gather.ErrNull, gather.OperandParams, -1, 0, 0)
	_, err = gather.OutputShape(ids, nil)
	expectCause("nil indices", err, gather.ErrNull, gather.OperandIndices, -1, 0, 0)
	_, err = gather.UpdatesShape(nil, ids)
	expectCause("nil target", err, gather.ErrNull, gather.OperandTarget, -1, 0, 0)
	_, err = gather.NewDeviceTensor[float32](nil, make([]int, 65)...)
	expectCause("dims", err, gather.ErrRank, gather.OperandTensor, -1, 65, 64)

	device, err := gather.NewDeviceTensor[float32](nil, 2)
	check(t, err)
	expectCause("size", device.Write(table), gather.ErrShape, gather.OperandTensor, -1, 4, 2)
	check(t, device.Close())
	expectCause("closed", device.Write(table[:2]), gather.ErrHandle, gather.OperandTensor, -1, 0, 0)

	huge := gather.Strided[bool]([]uint8{1}, 0, []int{1, 1 << 60}, []int{0, 0})
	_, err = gather.Gather(gather.Strided[float32](table, 0, []int{1, 1 << 50}, []int{0, 0}), ids)
	expectCause("memory", err, gather.ErrNoMemory, gather.OperandOut, -1, 1<<52, 0)
	err = gather.ScatterInto(gather.NewOutput([]bool{true}, 1, 1), ids, huge.Updates())
	expectCause("memory for bools", err, gather.ErrNoMemory, gather.OperandUpdates, -1, 1<<60, 0)
	_, err = gather.Partition(ids, gather.BlockShards(1, 1<<50))
	expectCause("memory for shards", err, gather.ErrNoMemory, gather.OperandIndices, -1, 1<<53, 0)

	_, _, err = gather.GatherStrings(nil, ids)
	expectCause("nil strings", err, gather.ErrNull, gather.OperandParams, -1, 0, 0)
	words := newStrings(t, []string{"a"}, 1)
	_, _, err = gather.ScatterStrings(words, ids, gather.StringUpdates{})
	expectCause("nil updates", err, gather.ErrNull, gather.OperandUpdates, -1, 0, 0)
	var plan *gather.Plan[float32, int]
	expectCause("nil plan", plan.Run(gather.To(table), table, []int{0}, gather.Open), gather.ErrNull, gather.OperandPlan, -1, 0, 0)
}
