package gather_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"libgather.io/gather"
)

func newScatterPlan[T gather.Element, I gather.Index](t *testing.T, target gather.Tensor[T], indices gather.Tensor[I],
	options ...gather.Option) *gather.ScatterPlan[T, I] {
	t.Helper()
	plan, err := gather.NewScatterPlan(target, indices, options...)
	check(t, err)
	t.Cleanup(func() { check(t, plan.Close()) })
	return plan
}

func TestScatterInPlace(t *testing.T) {
	rows, ids := slices.Clone(table), gather.Vector([]uint8{3, 0, 3})
	target, updates := gather.NewOutput(rows, 4, 2), gather.NewUpdates([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	check(t, gather.ScatterInto(target, ids, updates))
	expect(t, "last update", rows, []float32{3, 4, 10, 11, 20, 21, 5, 6})
	check(t, gather.ScatterInto(target, ids, updates, gather.Reduction(gather.ReductionAdd)))
	expect(t, "sum of all updates", rows, []float32{6, 8, 10, 11, 20, 21, 11, 14})

	rows = slices.Clone(table)
	pairs := gather.New([]int{2, 1, 0, 0}, 2, 2)
	check(t, gather.ScatterNDInto(gather.NewOutput(rows, 4, 2), pairs, gather.NewUpdates([]float32{7, 8}, 2)))
	expect(t, "by tuples", rows, []float32{8, 1, 10, 11, 20, 7, 30, 31})

	rows = slices.Clone(table)
	column := gather.Strided[float32](rows, 4, []int{4, 1}, []int{8, 4}).Output()
	repeated := gather.Strided[float32]([]float32{9}, 0, []int{2, 1}, []int{0, 0}).Updates()
	check(t, gather.ScatterElementsInto(column, gather.New([]int32{2, 0}, 2, 1), repeated,
		gather.Extents(gather.ExtentsPrefix), gather.Reduction(gather.ReductionMin)))
	expect(t, "elements", rows, []float32{0, 1, 10, 11, 20, 9, 30, 31})
}

func TestOneRowIsRepeated(t *testing.T) {
	ids := gather.Vector([]int{2, 0})
	made, err := gather.Scatter(tableTensor(), ids, gather.NewUpdates([]float32{7, 8}, 2))
	check(t, err)
	expect(t, "row", made.Data(), []float32{7, 8, 10, 11, 7, 8, 30, 31})
	made, err = gather.Scatter(tableTensor(), ids, gather.NewUpdates([]float32{9}))
	check(t, err)
	expect(t, "number", made.Data(), []float32{9, 9, 10, 11, 9, 9, 30, 31})
}

func TestMeanOfTheUpdates(t *testing.T) {
	updates := gather.NewUpdates([]float32{1, 2, 4, 8, 100, 100}, 3, 2)
	made, err := gather.Scatter(tableTensor(), gather.Vector([]int{1, 1, -1}), updates, gather.PaddingIndex(-1),
		gather.Reduction(gather.ReductionMean), gather.Initial(gather.InitialUpdate))
	check(t, err)
	expect(t, "mean", made.Data(), []float32{0, 1, 2.5, 5, 20, 21, 30, 31})
}

func TestScatterIntoANewTensor(t *testing.T) {
	made, err := gather.Scatter(tableTensor(), gather.Vector([]int{1, -1}), gather.NewUpdates([]float32{5, 6, 7, 8}, 2, 2),
		gather.Reduction(gather.ReductionAdd), gather.Negative(gather.NegativeWrap))
	check(t, err)
	expect(t, "rows", made.Data(), []float32{0, 1, 15, 17, 20, 21, 37, 39})
	expect(t, "shape", made.Shape(), []int{4, 2})
	expect(t, "target", table[2:3], []float32{10})
	// The target has every second row, in reversed order.
	half := gather.Strided[float32](table, 16, []int{2, 2}, []int{-16, 4})
	made, err = gather.ScatterND(half, gather.New([]uint16{0, 1}, 1, 2), gather.NewUpdates([]float32{5}, 1))
	check(t, err)
	expect(t, "rows", made.Data(), []float32{20, 5, 0, 1})
	made, err = gather.ScatterElements(made, gather.New([]int8{1}, 1, 1), gather.NewUpdates([]float32{7}, 1, 1),
		gather.Axis(1), gather.Extents(gather.ExtentsPrefix))
	check(t, err)
	expect(t, "elements", made.Data(), []float32{20, 7, 0, 1})
}

// The sum of 4,096 ones is 2,048 if each addition is rounded to float16.
func TestScatterInFloat32(t *testing.T) {
	ones, zeros := make([]gather.Float16, 4096), make([]int32, 4096)
	for i := range ones {
		ones[i] = gather.Float16Of(1)
	}
	for policy, want := range map[gather.AccumulatePolicy]float32{
		gather.AccumulateDType: 2048, gather.AccumulateFloat32: 4096,
	} {
		sum := make([]gather.Float16, 1)
		check(t, gather.ScatterInto(gather.NewOutput(sum, 1), gather.Vector(zeros), gather.NewUpdates(ones, 4096),
			gather.Reduction(gather.ReductionAdd), gather.Accumulate(policy)))
		expect(t, "sum", []float32{sum[0].Float32()}, []float32{want})
		gradient, err := gather.GatherGradient(gather.Vector(ones), gather.Vector(zeros), []int{1}, gather.Accumulate(policy))
		check(t, err)
		expect(t, "gradient", []float32{gradient.Data()[0].Float32()}, []float32{want})
	}
}

// On the CPU, the sum is always that of the updates in their order: (1e8 + 1) - 1e8 is 0 in float32.
func TestSumsHaveTheOrderOfUpdates(t *testing.T) {
	ids, updates := gather.Vector([]int{1, 1, 1}), []float32{1e8, 1, -1e8}
	for _, policy := range []gather.OrderPolicy{gather.OrderUpdates, gather.OrderAny} {
		sums := []float32{4, 0}
		check(t, gather.ScatterInto(gather.NewOutput(sums, 2), ids, gather.NewUpdates(updates, 3),
			gather.Reduction(gather.ReductionAdd), gather.Order(policy)))
		expect(t, "sums", sums, []float32{4, 0})
		gradient, err := gather.GatherGradient(gather.Vector(updates), ids, []int{2}, gather.Order(policy))
		check(t, err)
		expect(t, "gradient", gradient.Data(), []float32{0, 0})
	}
}

func TestInvalidIndexLeavesTargetUnchanged(t *testing.T) {
	rows := slices.Clone(table)
	rows[1] = math.Float32frombits(0x7fc01234)
	before := slices.Clone(bytesOf(rows))
	target, updates := gather.NewOutput(rows, 4, 2), gather.NewUpdates(table, 3, 2)
	ids := gather.Vector([]int{1, 4, -1})
	plan := newScatterPlan(t, tableTensor(), gather.Shaped[int](3))
	for name, call := range map[string]func() error{
		"into": func() error { return gather.ScatterInto(target, ids, updates) },
		"threads": func() error {
			return gather.ScatterInto(target, ids, updates, gather.Reduction(gather.ReductionMax), gather.Threads(4))
		},
		"plan":  func() error { return plan.Run(gather.To(rows), []int{1, 4, -1}, gather.From(table), gather.Open) },
		"check": func() error { return plan.Check([]int{1, 4, -1}, gather.Open) },
		"new": func() error {
			_, err := gather.Scatter(gather.New(rows, 4, 2), ids, updates)
			return err
		},
		"gradient": func() error { return gather.GatherGradientInto(target, gather.New(table, 3, 2), ids) },
	} {
		found := expectError(t, call(), gather.ErrIndex, gather.OperandIndices)
		if found.Position != 1 || found.Value != 4 || found.Limit != 4 {
			t.Errorf("%s: %+v", name, *found)
		}
		expect(t, name, bytesOf(rows), before)
	}
	check(t, gather.ScatterInto(target, ids, updates, gather.Bounds(gather.BoundsSkip)))
	expect(t, "skipped", rows[2:], slices.Concat(table[:2], table[4:]))
}

func TestErrorsOfScattersNameTheirOperand(t *testing.T) {
	rows := slices.Clone(table)
	target, ids := gather.NewOutput(rows, 4, 2), gather.Vector([]int{1, 2})
	updates := gather.NewUpdates([]float32{1, 2, 3, 4}, 2, 2)
	invalid := gather.Strided[float32](table, 0, []int{2, 2}, []int{8})
	made := func(target gather.Tensor[float32], updates gather.Updates[float32], options ...gather.Option) error {
		_, err := gather.Scatter(target, ids, updates, options...)
		return err
	}
	plan := newScatterPlan(t, tableTensor(), gather.Shaped[int](gather.Open))
	closed := newScatterPlan(t, tableTensor(), gather.Shaped[int](2))
	check(t, closed.Close())
	four := []float32{1, 2, 3, 4}
	for _, want := range []struct {
		err     error
		status  gather.Status
		operand gather.Operand
	}{
		{gather.ScatterInto(target, ids, gather.NewUpdates(four, 4)), gather.ErrRank, gather.OperandUpdates},
		{gather.ScatterInto(target, ids, gather.NewUpdates(four, 1, 2)), gather.ErrShape, gather.OperandUpdates},
		{gather.ScatterInto(target, ids, gather.NewUpdates(four[:3], 2, 2)), gather.ErrStride, gather.OperandUpdates},
		{gather.ScatterInto(target, ids, invalid.Updates()), gather.ErrRank, gather.OperandUpdates},
		{gather.ScatterInto(invalid.Output(), ids, updates), gather.ErrRank, gather.OperandTarget},
		{gather.ScatterInto(target, ids, gather.NewUpdates(rows, 2, 2)), gather.ErrAlias, gather.OperandTarget},
		{gather.ScatterInto(tableTensor().ReadOnly().Output(), ids, updates), gather.ErrReadOnly, gather.OperandTarget},
		{gather.ScatterInto(target, ids, updates, gather.Axis(2)), gather.ErrAxis, gather.OperandOptions},
		{gather.ScatterInto(target, ids, updates, gather.Reduction(9)), gather.ErrVersion, gather.OperandOptions},
		{gather.ScatterInto(target, ids, updates, gather.Accumulate(9)), gather.ErrVersion, gather.OperandOptions},
		{gather.ScatterInto(target, ids, updates, gather.Order(3)), gather.ErrVersion, gather.OperandOptions},
		{gather.ScatterInto(target, ids, updates, gather.Bounds(gather.BoundsFill)), gather.ErrVersion, gather.OperandOptions},
		{gather.ScatterInto(target, ids, updates, gather.FillWith(1)), gather.ErrDType, gather.OperandOptions},
		{gather.GatherInto(gather.NewOutput(rows, 2, 2), tableTensor(), ids, gather.Reduction(gather.ReductionAdd)),
			gather.ErrVersion, gather.OperandOptions},
		{made(invalid, updates), gather.ErrRank, gather.OperandTarget},
		{made(gather.New(table, 5, 2), updates), gather.ErrStride, gather.OperandTarget},
		{made(gather.New(table, -4, 2), updates), gather.ErrShape, gather.OperandTarget},
		{made(tableTensor(), gather.NewUpdates(four, 3, 2)), gather.ErrShape, gather.OperandUpdates},
		{plan.Run(gather.To(rows), []int{0}, gather.From(four[:1]), 1), gather.ErrSize, gather.OperandUpdates},
		{plan.Run(gather.To(rows[1:]), []int{0}, gather.From(four), 1), gather.ErrSize, gather.OperandTarget},
		{plan.Run(gather.To(rows), []int{0}, gather.From(four), 2), gather.ErrSize, gather.OperandIndices},
		{plan.Run(gather.To(rows), []int{0}, gather.From(rows), 1), gather.ErrAlias, gather.OperandTarget},
		{plan.Run(gather.To(rows), []int{0}, gather.From(four), gather.Open), gather.ErrShape, gather.OperandPlan},
		{closed.Run(gather.To(rows), []int{0, 0}, gather.From(four), gather.Open), gather.ErrHandle, gather.OperandPlan},
		{(*gather.ScatterPlan[float32, int])(nil).Check(nil, 0), gather.ErrNull, gather.OperandPlan},
		{(&gather.ScatterPlan[float32, int]{}).Close(), 0, 0},
	} {
		if want.status == 0 {
			check(t, want.err)
			continue
		}
		found := expectError(t, want.err, want.status, want.operand)
		if found != nil && !strings.HasPrefix(found.Message, want.operand.String()+": ") {
			t.Errorf("got %q, about %v", found.Message, want.operand)
		}
	}
	expect(t, "unchanged", rows, table)
}

func TestReductionsSupportedByDType(t *testing.T) {
	id := gather.Vector([]int{0})
	_, err := gather.Scatter(gather.Vector([]complex64{1i}), id, gather.NewUpdates([]complex64{1i}, 1),
		gather.Reduction(gather.ReductionMax))
	expectError(t, err, gather.ErrDType, gather.OperandTarget)
	product, err := gather.Scatter(gather.Vector([]complex64{1i}), id, gather.NewUpdates([]complex64{1i}, 1),
		gather.Reduction(gather.ReductionMul))
	check(t, err)
	expect(t, "product", product.Data(), []complex64{-1})
	_, err = gather.Scatter(gather.Vector([]gather.Float8E5M2{1}), id, gather.NewUpdates([]gather.Float8E5M2{1}, 1),
		gather.Reduction(gather.ReductionAdd))
	expectError(t, err, gather.ErrDType, gather.OperandTarget)
	either, err := gather.Scatter(gather.Vector([]bool{false, false}), id, gather.NewUpdates([]bool{true}, 1),
		gather.Reduction(gather.ReductionAdd))
	check(t, err)
	expect(t, "either", either.Data(), []bool{true, false})
}

func TestScatterRejectsBytesThatAreNotBools(t *testing.T) {
	memory, id := []bool{true, false, true}, gather.New([]int{1}, 1)
	byteOf := func(at int) gather.Updates[bool] { return gather.Strided[bool](flags, at, []int{1}, nil).Updates() }
	target := gather.NewOutput(memory, 3)
	found := expectError(t, gather.ScatterInto(target, id, byteOf(7)), gather.ErrDType, gather.OperandUpdates)
	if found.Value != 5 || found.Limit != int64(gather.DTypeBool) {
		t.Errorf("%+v", *found)
	}
	expect(t, "unchanged", memory, []bool{true, false, true})
	check(t, gather.ScatterInto(target, id, byteOf(1)))
	expect(t, "flags", memory, []bool{true, true, true})

	_, err := gather.Scatter(flagTensor(), id, byteOf(1))
	expectError(t, err, gather.ErrDType, gather.OperandTarget)
	two := gather.Strided[bool](flags, 1, []int{2}, []int{3})
	made, err := gather.Scatter(two, id, byteOf(1))
	check(t, err)
	expect(t, "flags", made.Data(), []bool{true, true})
	gradient := gather.Strided[bool](flags, 7, []int{1}, nil)
	expectError(t, gather.GatherGradientInto(target, gradient, id), gather.ErrDType, gather.OperandUpdates)
}

func TestScatterPlans(t *testing.T) {
	plan := newScatterPlan(t, tableTensor(), gather.Shaped[int32](gather.Open), gather.Reduction(gather.ReductionAdd))
	rows := slices.Clone(table)
	check(t, plan.Run(gather.To(rows), []int32{2, 2}, gather.From([]float32{1, 2, 3, 4}), 2))
	expect(t, "rows", rows, []float32{0, 1, 10, 11, 24, 27, 30, 31})
	target, indices, updates, err := plan.Extents(2)
	check(t, err)
	expect(t, "extents", []int{target, indices, updates}, []int{32, 8, 16})
	shape, err := plan.UpdatesShape(gather.Open)
	check(t, err)
	expect(t, "shape", shape, []int{gather.Open, 2})
	check(t, plan.CheckIn(newContext(t, 2), []int32{3}, 1))

	elements, err := gather.NewScatterPlanNDFrom(tableTensor(), gather.Shaped[uint8](2, 2),
		gather.Strided[float32]([]float32{0, 0, 0}, 0, []int{2}, []int{8}).Updates())
	check(t, err)
	defer elements.Close()
	check(t, elements.RunIn(newContext(t, 1), gather.To(rows), []uint8{0, 0, 3, 1}, gather.From([]float32{5, 6, 7}), gather.Open))
	expect(t, "elements", []float32{rows[0], rows[7]}, []float32{5, 7})
	along, err := gather.NewScatterPlanElements(tableTensor(), gather.Shaped[int](1, 2), gather.Extents(gather.ExtentsPrefix))
	check(t, err)
	defer along.Close()
	check(t, along.Run(gather.To(rows), []int{1, 2}, gather.From([]float32{8, 9}), gather.Open))
	expect(t, "elements of an axis", []float32{rows[2], rows[5]}, []float32{8, 9})
}

type shapeQuery = func(_, _ gather.Described, _ ...gather.Option) ([]int, error)

func TestUpdatesShapes(t *testing.T) {
	target := gather.Shaped[float32](4, 5)
	for name, want := range map[string]struct {
		query   shapeQuery
		indices []int
		shape   []int
	}{
		"scatter":  {gather.UpdatesShape, []int{2, gather.Open}, []int{2, gather.Open, 5}},
		"nd":       {gather.UpdatesShapeND, []int{3, 2}, []int{3}},
		"elements": {gather.UpdatesShapeElements, []int{7, 5}, []int{7, 5}},
	} {
		shape, err := want.query(target, gather.Shaped[int8](want.indices...))
		check(t, err)
		expect(t, name, shape, want.shape)
	}
	_, err := gather.UpdatesShape(nil, target)
	expectError(t, err, gather.ErrNull, gather.OperandTarget)
	_, err = gather.UpdatesShape(target, target)
	expectError(t, err, gather.ErrDType, gather.OperandIndices)
}

func TestGradients(t *testing.T) {
	gradient, ids := gather.New([]float32{1, 2, 3, 4, 5, 6}, 3, 2), []int{3, 0, 3}
	want := []float32{3, 4, 0, 0, 0, 0, 6, 8}
	made, err := gather.GatherGradient(gradient, gather.Vector(ids), []int{4, 2})
	check(t, err)
	expect(t, "gather", made.Data(), want)
	expect(t, "shape", made.Shape(), []int{4, 2})
	made, err = gather.GatherNDGradient(gradient, gather.New(ids, 3, 1), []int{4, 2})
	check(t, err)
	expect(t, "gather_nd", made.Data(), want)
	column := gather.Strided[float32](gradient.Data(), 0, []int{3, 1}, []int{8, 4})
	made, err = gather.GatherElementsGradient(column, gather.New(ids, 3, 1), []int{4, 1})
	check(t, err)
	expect(t, "gather_elements", made.Data(), []float32{3, 0, 0, 6})

	rows := slices.Clone(table)
	check(t, gather.GatherGradientInto(gather.NewOutput(rows, 4, 2), gradient, gather.Vector(ids)))
	expect(t, "into", rows, want)
	rows = slices.Clone(table)
	check(t, gather.GatherNDGradientInto(gather.NewOutput(rows, 4, 2), gradient, gather.New(ids, 3, 1)))
	expect(t, "into", rows, want)
	check(t, gather.GatherElementsGradientInto(gather.NewOutput(rows, 4, 1), column, gather.New(ids, 3, 1)))
	expect(t, "into", rows[:4], []float32{3, 0, 0, 6})

	made, err = gather.GatherGradient(gradient, gather.Vector([]int{9, 0, 3}), []int{4, 2},
		gather.Bounds(gather.BoundsFill), gather.FillWith(float32(0.5)))
	check(t, err)
	expect(t, "filled", made.Data(), []float32{3, 4, 0, 0, 0, 0, 5, 6})
	for _, shape := range [][]int{{4, 3}, {-1, 2}, {math.MaxInt, 2}, make([]int, 70)} {
		_, err := gather.GatherGradient(gradient, gather.Vector(ids), shape)
		var found *gather.Error
		if !errors.As(err, &found) {
			t.Errorf("%v: %v", shape, err)
		}
	}
	_, err = gather.GatherGradient(gradient, gather.Vector(ids), []int{1 << 40, 2})
	expectError(t, err, gather.ErrNoMemory, gather.OperandTarget)
	_, err = gather.GatherGradient(gradient, gather.Vector(ids), slices.Concat([]int{1 << 60}, slices.Repeat([]int{1}, gather.MaxRank)))
	expectError(t, err, gather.ErrRank, gather.OperandTarget)
	_, err = gather.GatherGradient(gradient, gather.Vector(ids), []int{4, 2}, gather.Reduction(gather.ReductionAdd))
	expectError(t, err, gather.ErrVersion, gather.OperandOptions)
}

func TestScatteredStrings(t *testing.T) {
	words, more := newStrings(t, []string{"a", "bb", "", "d"}, 2, 2), newStrings(t, []string{"yellow", ""}, 1, 2)
	id := gather.Vector([]int{1})
	values, shape, err := gather.ScatterStrings(words, id, more.Updates())
	check(t, err)
	expect(t, "words", values, []string{"a", "bb", "yellow", ""})
	expect(t, "shape", shape, []int{2, 2})
	_, _, err = gather.ScatterStrings(words, id, more.Updates(), gather.Reduction(gather.ReductionAdd))
	expectError(t, err, gather.ErrDType, gather.OperandTarget)
	_, _, err = gather.ScatterStrings(words, gather.Vector([]int{2}), more.Updates())
	expectError(t, err, gather.ErrIndex, gather.OperandIndices)
	_, _, err = gather.ScatterNDStrings(words, gather.New([]int{1}, 1, 1), words.Updates())
	expectError(t, err, gather.ErrShape, gather.OperandUpdates)
	_, _, err = gather.ScatterStrings(nil, id, more.Updates())
	expectError(t, err, gather.ErrNull, gather.OperandTarget)
	_, _, err = gather.ScatterStrings(nil, id, gather.StringUpdates{})
	expectError(t, err, gather.ErrNull, gather.OperandTarget)
	_, _, err = gather.ScatterElementsStrings(words, id, gather.StringUpdates{})
	expectError(t, err, gather.ErrNull, gather.OperandUpdates)
	check(t, more.Close())
	_, _, err = gather.ScatterStrings(words, id, more.Updates())
	expectError(t, err, gather.ErrHandle, gather.OperandUpdates)
}

func TestScatterOfEmptyUpdates(t *testing.T) {
	rows := slices.Clone(table)
	none, nothing := gather.Vector([]int(nil)), gather.New([]float32(nil), 0, 2)
	check(t, gather.ScatterInto(gather.NewOutput(rows, 4, 2), none, nothing.Updates()))
	expect(t, "rows", rows, table)
	made, err := gather.Scatter(nothing, none, nothing.Updates())
	check(t, err)
	expect(t, "shape", made.Shape(), []int{0, 2})
	made, err = gather.GatherGradient(nothing, none, []int{2, 2})
	check(t, err)
	expect(t, "zeros", made.Data(), make([]float32, 4))
	_, err = gather.Scatter(nothing, gather.Vector([]int{0}), gather.NewUpdates(table, 1, 2))
	expectError(t, err, gather.ErrIndex, gather.OperandIndices)
	var zero gather.Tensor[float32]
	if _, err := gather.Scatter(zero, none, zero.Updates()); err == nil {
		t.Error("no error")
	}
}

func TestScattersOfDeviceTensors(t *testing.T) {
	tensor, err := gather.NewDeviceTensor[float32](nil, 4, 2)
	check(t, err)
	id, updates := gather.Vector([]int{1}), gather.NewUpdates([]float32{5, 6}, 1, 2)
	check(t, gather.ScatterInto(tensor.Output(), id, updates))
	made, err := gather.Scatter(tensor.Tensor(), id, updates, gather.Reduction(gather.ReductionAdd))
	check(t, err)
	expect(t, "rows", made.Data(), []float32{0, 0, 10, 12, 0, 0, 0, 0})
	check(t, tensor.Close())
	expectError(t, gather.ScatterInto(tensor.Output(), id, updates), gather.ErrHandle, gather.OperandTarget)
	_, err = gather.Scatter(tensor.Tensor(), id, updates)
	expectError(t, err, gather.ErrHandle, gather.OperandTarget)
	err = gather.ScatterInto(gather.NewOutput(slices.Clone(table), 4, 2), gather.Vector([]int{0, 1, 2, 3}), tensor.Tensor().Updates())
	expectError(t, err, gather.ErrHandle, gather.OperandUpdates)
}

func TestScatterPlanExtents(t *testing.T) {
	plan := newScatterPlan(t, tableTensor(), gather.Shaped[int16](gather.Open))
	target, indices, updates, err := plan.Extents(2)
	check(t, err)
	expect(t, "extents", []int{target, indices, updates}, []int{32, 4, 16})
	ids := []int16{3, 1}
	err = plan.Run(gather.To(slices.Clone(table[:7])), ids, gather.From(make([]float32, 4)), 2)
	found := expectError(t, err, gather.ErrSize, gather.OperandTarget)
	expect(t, "bytes", []int64{found.Value, found.Limit}, []int64{28, 32})
	err = plan.Run(gather.To(slices.Clone(table)), ids, gather.From(make([]float32, 3)), 2)
	found = expectError(t, err, gather.ErrSize, gather.OperandUpdates)
	expect(t, "bytes", []int64{found.Value, found.Limit}, []int64{12, 16})
}

func TestDeviceTensorsAndSlicesInOneCall(t *testing.T) {
	tensor, ids := newTensor(t), gather.Vector([]int{2, 0})
	check(t, tensor.Write(table))
	rows := make([]float32, 4)
	check(t, gather.GatherInto(gather.NewOutput(rows, 2, 2), tensor.Tensor(), ids))
	expect(t, "rows", rows, []float32{20, 21, 0, 1})
	check(t, gather.ScatterInto(tensor.Output(), ids, gather.NewUpdates([]float32{1, 2, 3, 4}, 2, 2)))
	found := make([]float32, 8)
	check(t, tensor.Read(found))
	expect(t, "target", found, []float32{3, 4, 10, 11, 1, 2, 30, 31})
	check(t, gather.GatherInto(tensor.Output(), tableTensor(), gather.Vector([]int{3, 2, 1, 0})))
	check(t, tensor.Read(found))
	expect(t, "output", found, []float32{30, 31, 20, 21, 10, 11, 0, 1})
}

func TestPositionsOfScatters(t *testing.T) {
	numbers := []float32{3, 2, 5, 4, 3, 9, 6, float32(math.NaN())}
	target := gather.New([]float32{1, 8, 4, 4, 9, 9}, 3, 2)
	ids, updates := gather.Vector([]int32{0, 1, 0, 1}), gather.NewUpdates(numbers, 4, 2)
	largest := gather.Reduction(gather.ReductionMax)
	out, err := gather.ScatterPositions(target, ids, updates, largest)
	check(t, err)
	expect(t, "shape", out.Shape(), []int{3, 2})
	expect(t, "max", out.Data(), []int64{0, 5, 6, 7, -1, -1})
	into := make([]int64, 6)
	check(t, gather.ScatterPositionsInto(gather.NewOutput(into, 3, 2), target, ids, updates,
		gather.Reduction(gather.ReductionMin), gather.Initial(gather.InitialUpdate)))
	expect(t, "min", into, []int64{0, 1, 2, 7, -1, -1})

	tuples, few := gather.New([]int{1, 0, 0, 0, 1, 0}, 3, 2), gather.NewUpdates(numbers[2:5], 3)
	wanted := []int64{1, -1, 0, -1, -1, -1}
	out, err = gather.ScatterNDPositions(target, tuples, few, largest)
	check(t, err)
	expect(t, "tuples", out.Data(), wanted)
	check(t, gather.ScatterNDPositionsInto(gather.NewOutput(into, 3, 2), target, tuples, few, largest))
	expect(t, "tuples", into, wanted)

	places, pairs := gather.New([]uint8{2, 0, 0, 1}, 2, 2), gather.NewUpdates(numbers[4:], 2, 2)
	wanted = []int64{2, 1, -1, 3, -1, -1}
	out, err = gather.ScatterElementsPositions(target, places, pairs, largest)
	check(t, err)
	expect(t, "elements", out.Data(), wanted)
	check(t, gather.ScatterElementsPositionsInto(gather.NewOutput(into, 3, 2), target, places, pairs, largest))
	expect(t, "elements", into, wanted)
}

func TestErrorsOfPositionsOfScatters(t *testing.T) {
	target, updates := gather.New([]float32{1, 8, 4, 4, 9, 9}, 3, 2), gather.NewUpdates(make([]float32, 4), 2, 2)
	ids, largest := gather.Vector([]int32{0, 2}), gather.Reduction(gather.ReductionMax)
	var cause *gather.Error
	_, err := gather.ScatterPositions(target, ids, updates)
	if !errors.As(err, &cause) || !errors.Is(err, gather.ErrVersion) || cause.Operand != gather.OperandOptions {
		t.Errorf("%v", err)
	}
	into := []int64{7, 7, 7, 7, 7, 7}
	err = gather.ScatterPositionsInto(gather.NewOutput(into, 2, 3), target, ids, updates, largest)
	if !errors.As(err, &cause) || !errors.Is(err, gather.ErrShape) || cause.Operand != gather.OperandOut {
		t.Errorf("%v", err)
	}
	var index *gather.IndexError
	err = gather.ScatterPositionsInto(gather.NewOutput(into, 3, 2), target, gather.Vector([]int32{0, 3}), updates, largest)
	if !errors.As(err, &index) || index.Position != 1 || index.Value != 3 {
		t.Errorf("%v", err)
	}
	expect(t, "unchanged", into, []int64{7, 7, 7, 7, 7, 7})
}
