package gather_test

import (
	"errors"
	"testing"

	"libgather.io/gather"
)

func TestRunAllRunsPlansOfSeveralTypes(t *testing.T) {
	rows := newPlan(t, tableTensor(), gather.Shaped[int](gather.Open))
	bytes := newPlan(t, gather.Shaped[uint8](3), gather.Shaped[int32](2))
	sums, err := gather.NewScatterPlan(gather.Shaped[float64](2), gather.Shaped[int8](gather.Open),
		gather.Reduction(gather.ReductionAdd))
	check(t, err)
	defer sums.Close()
	out, small, totals := make([]float32, 4), make([]uint8, 2), []float64{1, 2}
	check(t, gather.RunAll(nil,
		rows.With(gather.To(out), table, []int{3, 0}, 2),
		bytes.With(gather.To(small), []uint8{7, 8, 9}, []int32{2, 1}, gather.Open),
		sums.With(gather.To(totals), []int8{1, 1, 0}, gather.From([]float64{10, 20, 30}), 3)))
	expect(t, "rows", out, []float32{30, 31, 0, 1})
	expect(t, "bytes", small, []uint8{9, 8})
	expect(t, "sums", totals, []float64{31, 32})
	check(t, gather.RunAll(nil))
}

func TestRunAllStopsAtTheFirstFailure(t *testing.T) {
	plan := newPlan(t, tableTensor(), gather.Shaped[int](gather.Open))
	closed, err := gather.NewPlan(tableTensor(), gather.Shaped[int](gather.Open))
	check(t, err)
	closed.Close()
	var missing *gather.Plan[float32, int]
	out := make([]float32, 24)
	for status, bad := range map[error]gather.PlanRun{
		gather.ErrIndex:  plan.With(gather.To(out[20:]), table, []int{0, 4}, 2),
		gather.ErrSize:   plan.With(gather.To(out[20:21]), table, []int{1}, 1),
		gather.ErrAlias:  plan.With(gather.To(table), table, []int{1}, 1),
		gather.ErrHandle: closed.With(gather.To(out[20:]), table, []int{1}, 1),
		gather.ErrNull:   missing.With(gather.To(out[20:]), table, []int{1}, 1),
	} {
		clear(out)
		var runs []gather.PlanRun
		for i := range 10 {
			runs = append(runs, plan.With(gather.To(out[2*i:2*i+2]), table, []int{3}, 1))
		}
		var found *gather.Error
		err := gather.RunAll(nil, append(runs, bad, plan.With(gather.To(out[22:]), table, []int{1}, 1))...)
		if !errors.As(err, &found) || !errors.Is(err, status) || found.Item != 10 {
			t.Errorf("%v, not %v of item 10", err, status)
		}
		expect(t, "the runs before", out[18:20], []float32{30, 31})
		expect(t, "the failed run and the next", out[20:], []float32{0, 0, 0, 0})
	}
	// A plan that cannot run is not reported before a run that fails.
	var found *gather.Error
	first := plan.With(gather.To(out[:2]), table, []int{4}, 1)
	err = gather.RunAll(nil, first, closed.With(gather.To(out), table, []int{1}, 1))
	if !errors.As(err, &found) || !errors.Is(err, gather.ErrIndex) || found.Item != 0 {
		t.Errorf("%v, not ErrIndex of item 0", err)
	}
	plan.Close() // No run is counted any more, so this releases the plan.
	expectError(t, plan.Unowned().Run(gather.To(out), table, []int{1}, 1), gather.ErrHandle, gather.OperandPlan)
}

func BenchmarkRunAll(b *testing.B) {
	const count = 26
	plan := newPlan(b, tableTensor(), gather.Shaped[int](1))
	out := make([]float32, 2*count)
	runs := make([]gather.PlanRun, count)
	for i := range runs {
		runs[i] = plan.With(gather.To(out[2*i:2*i+2]), table, []int{i % 4}, gather.Open)
	}
	b.Run("one call", func(b *testing.B) {
		for b.Loop() {
			failOn(b, gather.RunAll(nil, runs...))
		}
	})
	b.Run("a call for each", func(b *testing.B) {
		ids := []int{1}
		for b.Loop() {
			for i := range runs {
				failOn(b, plan.Run(gather.To(out[2*i:2*i+2]), table, ids, gather.Open))
			}
		}
	})
}

func failOn(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}
