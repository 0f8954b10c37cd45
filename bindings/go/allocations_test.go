package gather_test

import (
	"testing"

	"libgather.io/gather"
)

// Calls into memory of the caller allocate nothing, even if each call makes new tensors.
func TestCallsIntoExistingMemoryAllocateNothing(t *testing.T) {
	table, out, ids := make([]float32, 64), make([]float32, 1), []int{7}
	plan := newPlan(t, gather.Vector(table), gather.Vector(ids))
	scatters := newScatterPlan(t, gather.Vector(table), gather.Vector(ids))
	params, indices, output := gather.Vector(table), gather.Vector(ids), gather.NewOutput(out, 1)
	for name, call := range map[string]func() error{
		"plan":         func() error { return plan.Run(gather.To(out), table, ids, gather.Open) },
		"into":         func() error { return gather.GatherInto(output, params, indices) },
		"nd":           func() error { return gather.GatherNDInto(gather.NewOutput(out), params, indices) },
		"scatter plan": func() error { return scatters.Run(gather.To(table), ids, gather.From(out), gather.Open) },
		"scatter": func() error {
			return gather.ScatterInto(gather.NewOutput(table, 64), indices, gather.NewUpdates(out, 1),
				gather.Reduction(gather.ReductionMax))
		},
		"gradient": func() error { return gather.GatherGradientInto(params.Output(), gather.New(out, 1), indices) },
		"fresh": func() error {
			return gather.GatherInto(gather.NewOutput(out, len(out)), gather.New(table, len(table)),
				gather.New(ids, len(ids)), gather.Axis(0))
		},
	} {
		if count := testing.AllocsPerRun(1000, func() { check(t, call()) }); count != 0 {
			t.Errorf("%s: %v allocations", name, count)
		}
	}
}
