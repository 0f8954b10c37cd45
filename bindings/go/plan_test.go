package gather_test

import (
	"math"
	"runtime"
	"testing"

	"libgather.io/gather"
)

func newPlan[T gather.Element, I gather.Index](t testing.TB, params gather.Tensor[T], indices gather.Tensor[I],
	options ...gather.Option) *gather.Plan[T, I] {
	t.Helper()
	plan, err := gather.NewPlan(params, indices, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plan.Close() })
	return plan
}

func TestPlanWithOpenTuples(t *testing.T) {
	plan := newPlan(t, tableTensor(), gather.Shaped[int](gather.Open))
	for _, ids := range [][]int{{3}, {1, 2, 0}, {}} {
		out := make([]float32, 2*len(ids))
		check(t, plan.Run(gather.To(out), table, ids, len(ids)))
		for i, id := range ids {
			expect(t, "row", out[2*i:2*i+2], table[2*id:2*id+2])
		}
	}
	shape, err := plan.OutputShape(gather.Open)
	check(t, err)
	expect(t, "open shape", shape, []int{gather.Open, 2})
	shape, err = plan.OutputShape(5)
	check(t, err)
	expect(t, "shape of 5", shape, []int{5, 2})
	shape, err = newPlan(t, gather.Shaped[float32](8), gather.Shaped[int]()).OutputShape(gather.Open)
	check(t, err)
	expect(t, "shape of a number", shape, []int{})
}

func TestPlanWithOpenBatchDim(t *testing.T) {
	plan := newPlan(t, gather.Shaped[int16](gather.Open, 3), gather.Shaped[uint8](gather.Open, 1), gather.BatchDims(1))
	out := make([]int16, 2)
	check(t, plan.Run(gather.To(out), []int16{1, 2, 3, 4, 5, 6}, []uint8{2, 0}, 2))
	expect(t, "out", out, []int16{3, 4})
}

func TestPlanOfGatherND(t *testing.T) {
	plan, err := gather.NewPlanND(gather.Shaped[float32](4, 2), gather.Shaped[int32](gather.Open, 2))
	check(t, err)
	defer plan.Close()
	out := make([]float32, 2)
	check(t, plan.Run(gather.To(out), table, []int32{3, 0, 1, 1}, 2))
	expect(t, "out", out, []float32{30, 11})
}

func TestPlanWithStridedOutput(t *testing.T) {
	layout := gather.Strided[float32](make([]float32, 0), 4, []int{gather.Open, 2}, []int{12, 4})
	plan, err := gather.NewPlanInto(layout.Output(), gather.Shaped[float32](4, 2), gather.Shaped[int](gather.Open))
	check(t, err)
	defer plan.Close()
	out := make([]float32, 6)
	check(t, plan.Run(gather.To(out), table, []int{3, 1}, 2))
	expect(t, "out", out, []float32{0, 30, 31, 0, 10, 11})
	expectError(t, plan.Run(gather.To(out[:5]), table, []int{3, 1}, 2), gather.ErrSize, gather.OperandOut)
}

func TestPlanOfGatherNDWithStridedOutput(t *testing.T) {
	layout := gather.Strided[float32](make([]float32, 0), 0, []int{2}, []int{8})
	plan, err := gather.NewPlanNDInto(layout.Output(), gather.Shaped[float32](4, 2), gather.Shaped[int](2, 2))
	check(t, err)
	defer plan.Close()
	out := make([]float32, 3)
	check(t, plan.Run(gather.To(out), table, []int{3, 0, 1, 1}, gather.Open))
	expect(t, "out", out, []float32{30, 0, 11})
}

func TestPlanRunReportsInvalidIndex(t *testing.T) {
	plan := newPlan(t, tableTensor(), gather.Shaped[int](gather.Open))
	out := []float32{7, 7, 7, 7}
	found := expectError(t, plan.Run(gather.To(out), table, []int{1, 4}, 2), gather.ErrIndex, gather.OperandIndices)
	if found.Position != 1 || found.Value != 4 || found.Limit != 4 {
		t.Errorf("%+v", *found)
	}
	expect(t, "out is unchanged", out, []float32{7, 7, 7, 7})
}

func TestPlanRejectsShortSlices(t *testing.T) {
	plan := newPlan(t, gather.Shaped[float32](4, 2), gather.Shaped[int](gather.Open, 2))
	ids, out := []int{0, 1, 2, 3}, make([]float32, 8)
	check(t, plan.Run(gather.To(out), table, ids, 2))
	for what, err := range map[string]error{
		"params":  plan.Run(gather.To(out), table[:7], ids, 2),
		"indices": plan.Run(gather.To(out), table, ids[:3], 2),
		"out":     plan.Run(gather.To(out[:7]), table, ids, 2),
		"n":       plan.Run(gather.To(out), table, ids, 3),
		"large n": plan.Run(gather.To(out), table, ids, math.MaxInt),
		"nothing": plan.Run(gather.To[float32](nil), nil, nil, 1),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	found := expectError(t, plan.Run(gather.To(out[:7]), table, ids, 2), gather.ErrSize, gather.OperandOut)
	if found.Value != 28 || found.Limit != 32 {
		t.Errorf("%+v", *found)
	}
	found = expectError(t, plan.Check(ids[:3], 2), gather.ErrSize, gather.OperandIndices)
	if found.Value != 24 || found.Limit != 32 || found.Message != "indices: memory of 24 bytes, needed are 32" {
		t.Errorf("%+v", *found)
	}
	expectError(t, plan.Check(ids, math.MaxInt), gather.ErrSize, gather.OperandPlan)
}

func TestPlanExtents(t *testing.T) {
	plan := newPlan(t, gather.Shaped[float32](4, 2), gather.Shaped[int16](gather.Open))
	for n, want := range [][]int{{0, 0, 0}, {32, 2, 8}, {32, 4, 16}} {
		params, indices, out, err := plan.Extents(n)
		check(t, err)
		expect(t, "extents", []int{params, indices, out}, want)
	}
	_, _, _, err := plan.Extents(gather.Open)
	expectError(t, err, gather.ErrShape, gather.OperandPlan)
}

func TestPlanCheckValidatesIndices(t *testing.T) {
	plan := newPlan(t, tableTensor(), gather.Shaped[int](gather.Open))
	ids := []int{1, 3, 4}
	check(t, plan.Check(ids, 2))
	check(t, plan.Check(nil, 0))
	found := expectError(t, plan.Check(ids, 3), gather.ErrIndex, gather.OperandIndices)
	if found.Position != 2 || found.Value != 4 || found.Limit != 4 {
		t.Errorf("%+v", *found)
	}
	found = expectError(t, plan.CheckAt(nil, address(ids), 3), gather.ErrIndex, gather.OperandIndices)
	runtime.KeepAlive(ids)
	if found.Position != 2 {
		t.Errorf("%+v", *found)
	}
	expectError(t, plan.CheckAt(nil, 0, 1), gather.ErrNull, gather.OperandIndices)
	expectError(t, plan.Check(ids, gather.Open), gather.ErrShape, gather.OperandPlan)
	clamped := newPlan(t, tableTensor(), gather.Shaped[int](3), gather.Bounds(gather.BoundsClamp))
	check(t, clamped.Check(ids, gather.Open))
}

func TestPlanOfGatherElements(t *testing.T) {
	plan, err := gather.NewPlanElements(gather.Shaped[float32](4, 2), gather.Shaped[int8](gather.Open, 2))
	check(t, err)
	defer plan.Close()
	out := make([]float32, 4)
	check(t, plan.Run(gather.To(out), table, []int8{3, 0, 1, 2}, 2))
	expect(t, "out", out, []float32{30, 1, 10, 21})
	found := expectError(t, plan.Check([]int8{0, 0, 0, 4}, 2), gather.ErrIndex, gather.OperandIndices)
	if found.Position != 3 {
		t.Errorf("%+v", *found)
	}
}

func TestPlanOfGatherElementsWithStridedOutput(t *testing.T) {
	layout := gather.Strided[float32](make([]float32, 0), 4, []int{2, 1}, []int{8, 4})
	plan, err := gather.NewPlanElementsInto(layout.Output(), gather.Shaped[float32](4, 2), gather.Shaped[int](2, 1), gather.Extents(gather.ExtentsPrefix))
	check(t, err)
	defer plan.Close()
	out := make([]float32, 4)
	check(t, plan.Run(gather.To(out), table, []int{3, 1}, gather.Open))
	expect(t, "out", out, []float32{0, 30, 0, 10})
}

func TestPlanRejectsInvalidN(t *testing.T) {
	ids, out := []int{0}, make([]float32, 2)
	open := newPlan(t, tableTensor(), gather.Shaped[int](gather.Open))
	for _, n := range []int{gather.Open, -2, math.MinInt} {
		expectError(t, open.Run(gather.To(out), table, ids, n), gather.ErrShape, gather.OperandPlan)
	}
	closed := newPlan(t, tableTensor(), gather.Shaped[int](1))
	expectError(t, closed.Run(gather.To(out), table, ids, 1), gather.ErrShape, gather.OperandPlan)
}

func TestTwoOpenExtentsAreRejected(t *testing.T) {
	_, err := gather.NewPlan(tableTensor(), gather.Shaped[int](gather.Open, gather.Open))
	expectError(t, err, gather.ErrShape, gather.OperandIndices)
}

func TestClosedPlanReturnsErrHandle(t *testing.T) {
	plan := newPlan(t, tableTensor(), gather.Shaped[int](1))
	check(t, plan.Close())
	check(t, plan.Close())
	out := make([]float32, 2)
	expectError(t, plan.Run(gather.To(out), table, []int{0}, gather.Open), gather.ErrHandle, gather.OperandPlan)
	_, err := plan.OutputShape(gather.Open)
	expectError(t, err, gather.ErrHandle, gather.OperandPlan)
	params, indices, rows, err := plan.Extents(gather.Open)
	expectError(t, err, gather.ErrHandle, gather.OperandPlan)
	expect(t, "extents", []int{params, indices, rows}, []int{0, 0, 0})
	expectError(t, plan.RunAt(nil, gather.Addresses{Params: 0, Indices: 0, Out: 0}, gather.Open), gather.ErrHandle, gather.OperandPlan)
	expectError(t, plan.Check([]int{0}, gather.Open), gather.ErrHandle, gather.OperandPlan)
	expectError(t, plan.CheckAt(nil, 0, gather.Open), gather.ErrHandle, gather.OperandPlan)
}

func TestNilPlanReturnsErrNull(t *testing.T) {
	var plan *gather.Plan[float32, int]
	check(t, plan.Close())
	expectError(t, plan.Run(gather.To[float32](nil), nil, nil, 0), gather.ErrNull, gather.OperandPlan)
	expectError(t, plan.RunAt(nil, gather.Addresses{Params: 0, Indices: 0, Out: 0}, 0), gather.ErrNull, gather.OperandPlan)
	expectError(t, plan.Check(nil, 0), gather.ErrNull, gather.OperandPlan)
	expectError(t, plan.CheckAt(nil, 0, 0), gather.ErrNull, gather.OperandPlan)
	params, indices, out, err := plan.Extents(0)
	expectError(t, err, gather.ErrNull, gather.OperandPlan)
	expect(t, "extents", []int{params, indices, out}, []int{0, 0, 0})
	_, err = plan.OutputShape(0)
	expectError(t, err, gather.ErrNull, gather.OperandPlan)
}
