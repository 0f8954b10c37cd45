package gather_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"libgather/gather"
)

func TestWrongLengths(t *testing.T) {
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
	err = gather.GatherInto(gather.Vector(make([]float32, 3)), tableTensor(), ids)
	expectError(t, err, gather.ErrRank, gather.OperandOut)
	err = gather.GatherInto(gather.New(make([]float32, 4), 2, 2), tableTensor(), ids)
	expectError(t, err, gather.ErrShape, gather.OperandOut)
}

func TestSlicesLongerThanTheirShapes(t *testing.T) {
	room := slices.Clone(table)
	ids := gather.New([]int{0, 1, 99}, 2)
	check(t, gather.GatherInto(gather.New(room, 2, 2), gather.New(table[2:], 2, 2), ids))
	expect(t, "room", room, slices.Concat(table[2:6], table[4:]))
	err := gather.GatherInto(gather.New(room, 1, 2), gather.New(table, 3, 2), gather.Vector([]int{3}))
	expectError(t, err, gather.ErrIndex, gather.OperandIndices) // row 3 is in the slice, but not in the tensor
}

func TestViewsThatLeaveTheirMemory(t *testing.T) {
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

func TestStridesOfAnotherLength(t *testing.T) {
	for _, strides := range [][]int{{}, {4}, {8, 4, 2}} {
		view := gather.Strided[float32](table, 0, []int{4, 2}, strides)
		_, err := gather.Gather(view, gather.Vector([]int{0}))
		expectError(t, err, gather.ErrRank, gather.OperandParams)
		expectError(t, gather.GatherInto(view, tableTensor(), gather.Vector([]int{0, 1, 2, 3})), gather.ErrRank, gather.OperandOut)
		_, err = gather.NewPlanInto(view, tableTensor(), gather.Vector([]int{0, 1, 2, 3}))
		expectError(t, err, gather.ErrRank, gather.OperandOut)
	}
}

func TestTheZeroTensor(t *testing.T) {
	var params gather.Tensor[float32]
	var ids gather.Tensor[int]
	if _, err := gather.Gather(params, ids); err == nil {
		t.Error("no error")
	}
	if err := gather.GatherInto(params, params, ids); err == nil {
		t.Error("no error")
	}
}

func TestEmptyTensorsAreNoError(t *testing.T) {
	out, err := gather.Gather(tableTensor(), gather.Vector([]int(nil)))
	check(t, err)
	expect(t, "shape", out.Shape(), []int{0, 2})
	out, err = gather.Gather(gather.New([]float32{}, 4, 0), gather.Vector([]int{3}))
	check(t, err)
	expect(t, "shape", out.Shape(), []int{1, 0})
}

func TestAnOutputMustNotShareMemory(t *testing.T) {
	memory := []float32{1, 2, 3, 4}
	view := gather.Vector(memory)
	expectError(t, gather.GatherInto(view, view, gather.Vector([]int{3, 2, 1, 0})), gather.ErrAlias, gather.OperandOut)
	expectError(t, gather.GatherInto(view.ReadOnly(), gather.Vector([]float32{1}), gather.Vector([]int{0, 0, 0, 0})),
		gather.ErrReadOnly, gather.OperandOut)
	check(t, gather.GatherInto(gather.Vector(make([]float32, 1)), view.ReadOnly(), gather.Vector([]int{0})))
}

func TestFloatsAreNoIndices(t *testing.T) {
	_, err := gather.Gather(tableTensor(), gather.Vector([]gather.Float16{0}))
	expectError(t, err, gather.ErrDType, gather.OperandIndices)
}

func TestUnknownSwitches(t *testing.T) {
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
	check(t, err) // the zero option says nothing
	_, err = gather.GatherND(tableTensor(), gather.Vector([]int{0}), gather.Axis(0))
	expectError(t, err, gather.ErrAxis, gather.OperandOptions)
}

func TestAnOutputBeyondMemory(t *testing.T) {
	params := gather.Strided[float64]([]float64{1}, 0, []int{1, 1 << 40}, []int{0, 0})
	indices := gather.Strided[int]([]int{0}, 0, []int{1 << 15}, []int{0})
	_, err := gather.Gather(params, indices)
	expectError(t, err, gather.ErrNoMemory, gather.OperandOut)
	indices = gather.Strided[int]([]int{0}, 0, []int{1 << 40}, []int{0})
	_, err = gather.Gather(params, indices)
	expectError(t, err, gather.ErrSize, gather.OperandOut)
}

// Arguments without any sense must give a result or an error, and never more than that.
func TestAnyArgumentsAreSurvived(t *testing.T) {
	small := rapid.IntRange(-3, 5)
	number := rapid.OneOf(small, small, small, rapid.Int())
	shape := rapid.SliceOfN(small, 0, 5)
	rapid.Check(t, func(t *rapid.T) {
		tensor := func(name string) gather.Tensor[int16] {
			memory := make([]int16, rapid.IntRange(0, 40).Draw(t, name))
			for i := range memory {
				memory[i] = int16(number.Draw(t, name))
			}
			if rapid.Bool().Draw(t, name) {
				return gather.New(memory, shape.Draw(t, name)...)
			}
			strides := rapid.SliceOfN(number, 0, 5).Draw(t, name)
			return gather.Strided[int16](memory, number.Draw(t, name), shape.Draw(t, name), strides)
		}
		out, params, indices := tensor("out"), tensor("params"), tensor("indices")
		options := []gather.Option{
			gather.Axis(number.Draw(t, "axis")), gather.BatchDims(number.Draw(t, "batch dims")),
			gather.Bounds(gather.BoundsPolicy(small.Draw(t, "bounds"))), gather.Fill(gather.FillPolicy(small.Draw(t, "fill"))),
			gather.WithProfile(gather.Profile(small.Draw(t, "profile"))),
			gather.Extents(gather.ExtentsPolicy(small.Draw(t, "extents"))),
		}[rapid.IntRange(0, 5).Draw(t, "from"):]
		_ = gather.GatherInto(out, params, indices, options...)
		_ = gather.GatherNDInto(out, params, indices, options...)
		_ = gather.GatherElementsInto(out, params, indices, options...)
		_, _ = gather.Gather(params, indices, options...)
		_, _ = gather.GatherND(params, indices, options...)
		_, _ = gather.GatherElements(params, indices, options...)
		for _, plan := range []func(gather.Tensor[int16], gather.Tensor[int16], ...gather.Option) (*gather.Plan[int16, int16], error){
			gather.NewPlan[int16, int16], gather.NewPlanND[int16, int16], gather.NewPlanElements[int16, int16],
		} {
			if plan, err := plan(params, indices, options...); err == nil {
				_ = plan.Run(nil, make([]int16, 9), make([]int16, 9), make([]int16, 9), number.Draw(t, "n"))
				_ = plan.Check(nil, make([]int16, 9), number.Draw(t, "n"))
				plan.Close()
			}
		}
	})
}
