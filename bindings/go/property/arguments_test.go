// Package property tests the binding with random calls, and with matrices of gonum. It is a separate module, so that the
// go.sum of users lists neither the generator of the calls nor gonum.
package property

import (
	"testing"

	"pgregory.net/rapid"

	"libgather.io/gather"
)

// Random arguments must return a result or an error. They must not crash.
func TestRandomArgumentsReturnResultOrError(t *testing.T) {
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
			gather.Reduction(gather.ReductionPolicy(small.Draw(t, "reduction"))),
			gather.Accumulate(gather.AccumulatePolicy(small.Draw(t, "accumulate"))),
		}[rapid.IntRange(0, 7).Draw(t, "from"):]
		_ = gather.GatherInto(out.Output(), params, indices, options...)
		_ = gather.GatherNDInto(out.Output(), params, indices, options...)
		_ = gather.GatherElementsInto(out.Output(), params, indices, options...)
		_, _ = gather.Gather(params, indices, options...)
		_, _ = gather.GatherND(params, indices, options...)
		_, _ = gather.GatherElements(params, indices, options...)
		_ = gather.ScatterInto(out.Output(), indices, params.Updates(), options...)
		_ = gather.ScatterNDInto(out.Output(), indices, params.Updates(), options...)
		_ = gather.ScatterElementsInto(out.Output(), indices, params.Updates(), options...)
		_, _ = gather.Scatter(out, indices, params.Updates(), options...)
		_, _ = gather.ScatterND(out, indices, params.Updates(), options...)
		_, _ = gather.ScatterElements(out, indices, params.Updates(), options...)
		_ = gather.GatherGradientInto(out.Output(), params, indices, options...)
		_, _ = gather.GatherNDGradient(params, indices, shape.Draw(t, "shape"), options...)
		if plan, err := gather.NewScatterPlanND(params, indices, options...); err == nil {
			_ = plan.Run(gather.To(make([]int16, 9)), make([]int16, 9), gather.From(make([]int16, 9)), number.Draw(t, "n"))
			plan.Close()
		}
		for _, plan := range []func(gather.Tensor[int16], gather.Tensor[int16], ...gather.Option) (*gather.Plan[int16, int16], error){
			gather.NewPlan[int16, int16], gather.NewPlanND[int16, int16], gather.NewPlanElements[int16, int16],
		} {
			if plan, err := plan(params, indices, options...); err == nil {
				_ = plan.Run(gather.To(make([]int16, 9)), make([]int16, 9), make([]int16, 9), number.Draw(t, "n"))
				_ = plan.Check(make([]int16, 9), number.Draw(t, "n"))
				plan.Close()
			}
		}
	})
}
