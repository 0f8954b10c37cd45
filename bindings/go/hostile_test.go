package gather_test

import (
	"math"
	"slices"
	"testing"

	"libgather.io/gather"
)

func TestShapesThatDoNotFitTheSliceReturnErrors(t *testing.T) {
	ids := gather.Vector([]int{0})
	for name, params := range map[string]gather.Tensor[float32]{
		"too short":         gather.New(table, 5, 2),
		"no shape":          gather.New(table),
		"nil":               gather.New[float32](nil, 4, 2),
		"negative":          gather.New(table, -4, -2),
		"beyond int":        gather.New(table, math.MaxInt, 2),
		"wraps to its size": gather.New(table[:0], math.MinInt, 2),
	} {
		if out, err := gather.Gather(params, ids); err == nil {
			t.Errorf("%s: got %v", name, out.Data())
		}
	}
	_, err := gather.Gather(gather.New(table, 5, 2), ids)
	found := expectError(t, err, gather.ErrStride, gather.OperandParams)
	if found.Value != 40 || found.Limit != 32 {
		t.Errorf("%+v", *found)
	}
	err = gather.GatherInto(gather.Vector(make([]float32, 3)).Output(), tableTensor(), ids)
	expectError(t, err, gather.ErrRank, gather.OperandOut)
	err = gather.GatherInto(gather.NewOutput(make([]float32, 4), 2, 2), tableTensor(), ids)
	expectError(t, err, gather.ErrShape, gather.OperandOut)
}

// Strides of 0 give one element any shape. The bytes of the result exceed memory, then an int, and then its elements do.
func TestHugeResultsReturnErrors(t *testing.T) {
	wide := gather.Strided[float32](table, 0, []int{1, 1 << 60}, []int{0, 0})
	gathered := func(params gather.Tensor[float32], count int) error {
		_, err := gather.Gather(params, gather.Vector(make([]int, count)))
		return err
	}
	expectError(t, gathered(wide, 1), gather.ErrNoMemory, gather.OperandOut)
	for _, count := range []int{2, 8, 16} {
		expectError(t, gathered(wide, count), gather.ErrSize, gather.OperandOut)
	}
	wider := gather.Strided[float32](table, 0, []int{1, 1 << 61}, []int{0, 0})
	expectError(t, gathered(wider, 1), gather.ErrSize, gather.OperandParams)
	scattered := func(target gather.Tensor[float32]) error {
		_, err := gather.Scatter(target, gather.Vector([]int{0}), target.Updates())
		return err
	}
	expectError(t, scattered(wide), gather.ErrNoMemory, gather.OperandTarget)
	expectError(t, scattered(wider), gather.ErrSize, gather.OperandTarget)
}

func TestSlicesMayBeLongerThanTheirShapes(t *testing.T) {
	room := slices.Clone(table)
	ids := gather.New([]int{0, 1, 99}, 2)
	check(t, gather.GatherInto(gather.NewOutput(room, 2, 2), gather.New(table[2:], 2, 2), ids))
	expect(t, "room", room, slices.Concat(table[2:6], table[4:]))
	err := gather.GatherInto(gather.NewOutput(room, 1, 2), gather.New(table, 3, 2), gather.Vector([]int{3}))
	expectError(t, err, gather.ErrIndex, gather.OperandIndices) // Row 3 is inside the slice, but outside the tensor.
}

func TestViewsOutsideTheirMemoryReturnErrors(t *testing.T) {
	ids := gather.Vector([]int{0})
	for name, params := range map[string]gather.Tensor[float32]{
		"offset":          gather.Strided[float32](table, 8, []int{4, 2}, nil),
		"negative offset": gather.Strided[float32](table, -8, []int{1, 2}, nil),
		"stride":          gather.Strided[float32](table, 0, []int{4, 2}, []int{16, 4}),
		"negative stride": gather.Strided[float32](table, 0, []int{2, 2}, []int{-8, 4}),
		"largest stride":  gather.Strided[float32](table, 0, []int{2, 2}, []int{math.MaxInt, 4}),
		"largest offset":  gather.Strided[float32](table, math.MaxInt, []int{2, 2}, nil),
		"no memory":       gather.Strided[float32](table[:0], 0, []int{2, 2}, nil),
	} {
		if out, err := gather.Gather(params, ids); err == nil {
			t.Errorf("%s: got %v", name, out.Data())
		}
	}
}

func TestStridesOfAnotherLengthReturnErrRank(t *testing.T) {
	for _, strides := range [][]int{{}, {4}, {8, 4, 2}} {
		view := gather.Strided[float32](table, 0, []int{4, 2}, strides)
		_, err := gather.Gather(view, gather.Vector([]int{0}))
		expectError(t, err, gather.ErrRank, gather.OperandParams)
		expectError(t, gather.GatherInto(view.Output(), tableTensor(), gather.Vector([]int{0, 1, 2, 3})), gather.ErrRank, gather.OperandOut)
		_, err = gather.NewPlanInto(view.Output(), tableTensor(), gather.Vector([]int{0, 1, 2, 3}))
		expectError(t, err, gather.ErrRank, gather.OperandOut)
	}
}

func TestZeroTensorReturnsAnError(t *testing.T) {
	var params gather.Tensor[float32]
	var ids gather.Tensor[int]
	if _, err := gather.Gather(params, ids); err == nil {
		t.Error("no error")
	}
	if err := gather.GatherInto(params.Output(), params, ids); err == nil {
		t.Error("no error")
	}
}

func TestEmptyTensorsAreValid(t *testing.T) {
	out, err := gather.Gather(tableTensor(), gather.Vector([]int(nil)))
	check(t, err)
	expect(t, "shape", out.Shape(), []int{0, 2})
	out, err = gather.Gather(gather.New([]float32{}, 4, 0), gather.Vector([]int{3}))
	check(t, err)
	expect(t, "shape", out.Shape(), []int{1, 0})
}

func TestOutputOverParamsReturnsErrAlias(t *testing.T) {
	memory := []float32{1, 2, 3, 4}
	view := gather.Vector(memory)
	expectError(t, gather.GatherInto(view.Output(), view, gather.Vector([]int{3, 2, 1, 0})), gather.ErrAlias, gather.OperandOut)
	expectError(t, gather.GatherInto(view.ReadOnly().Output(), gather.Vector([]float32{1}), gather.Vector([]int{0, 0, 0, 0})),
		gather.ErrReadOnly, gather.OperandOut)
	check(t, gather.GatherInto(gather.Vector(make([]float32, 1)).Output(), view.ReadOnly(), gather.Vector([]int{0})))
}

func TestFloat16IndicesReturnErrDType(t *testing.T) {
	_, err := gather.Gather(tableTensor(), gather.Vector([]gather.Float16{0}))
	expectError(t, err, gather.ErrDType, gather.OperandIndices)
}

func TestInvalidOptionsReturnErrors(t *testing.T) {
	for _, option := range []gather.Option{
		gather.WithProfile(99), gather.Negative(99), gather.Bounds(-1), gather.Fill(99),
		gather.Extents(99),
		gather.Bounds(math.MaxInt32), gather.Threads(-1), gather.Threads(math.MinInt), gather.BatchDims(9),
		gather.Axis(math.MaxInt), gather.Axis(math.MinInt),
	} {
		_, err := gather.Gather(tableTensor(), gather.Vector([]int{0}), option)
		if err == nil {
			t.Errorf("%+v: no error", option)
		}
	}
	_, err := gather.Gather(tableTensor(), gather.Vector([]int{0}), gather.Option{})
	check(t, err) // The zero option changes nothing.
	_, err = gather.GatherND(tableTensor(), gather.Vector([]int{0}), gather.Axis(0))
	expectError(t, err, gather.ErrAxis, gather.OperandOptions)
}

func TestTooLargeOutputReturnsErrNoMemory(t *testing.T) {
	params := gather.Strided[float64]([]float64{1}, 0, []int{1, 1 << 40}, []int{0, 0})
	indices := gather.Strided[int]([]int{0}, 0, []int{1 << 15}, []int{0})
	_, err := gather.Gather(params, indices)
	expectError(t, err, gather.ErrNoMemory, gather.OperandOut)
	indices = gather.Strided[int]([]int{0}, 0, []int{1 << 40}, []int{0})
	_, err = gather.Gather(params, indices)
	expectError(t, err, gather.ErrSize, gather.OperandOut)
}
