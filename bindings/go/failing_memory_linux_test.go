package gather_test

import (
	"errors"
	"slices"
	"testing"

	"libgather.io/gather"
	"libgather.io/gather/internal/emulated"
)

// The test makes each allocation of the library fail in turn. With sticky, all later allocations fail too. It needs
// libgather_emulated, which test.sh preloads.
func TestG4_EveryAllocationFails(t *testing.T) {
	if !emulated.Loaded() {
		t.Skip("no library with failing allocations: GATHER_EMULATED is not set")
	}
	calls := map[string]func() error{
		"context": func() error {
			context, err := gather.NewContext(gather.ContextOptions{})
			return errors.Join(err, context.Close())
		},
		"plan": func() error {
			plan, err := gather.NewPlan(tableTensor(), gather.Vector([]int{1, 2}))
			return errors.Join(err, plan.Close())
		},
		"packed rows": func() error {
			packed, err := gather.NewPacked[float32]("q8_0", make([]byte, 34), []int{1, 32})
			if err != nil {
				return err
			}
			plan, err := gather.NewPlan(packed.Tensor(), gather.Vector([]int{0}))
			return errors.Join(err, plan.Close(), packed.Close())
		},
		"plan of a scatter": func() error {
			plan, err := gather.NewScatterPlan(tableTensor(), gather.Vector([]int{1, 2}))
			return errors.Join(err, plan.Close())
		},
		"scatter in float32": func() error {
			halves := []gather.Float16{1, 2, 3}
			err := gather.ScatterInto(gather.NewOutput(halves, 3), gather.Vector([]int{2, 2}),
				gather.NewUpdates([]gather.Float16{4, 5}, 2), gather.Reduction(gather.ReductionAdd),
				gather.Accumulate(gather.AccumulateFloat32))
			if err != nil && !slices.Equal(halves, []gather.Float16{1, 2, 3}) {
				t.Errorf("an error changed the target to %v", halves)
			}
			return err
		},
		"scattered strings": func() error {
			words, err := gather.NewStrings([]string{"one", "two", "three"}, 3)
			if err != nil {
				return err
			}
			found, _, err := gather.ScatterStrings(words, gather.Vector([]int{2, 0, 1}), words.Updates())
			if err == nil && !slices.Equal(found, []string{"two", "three", "one"}) {
				t.Errorf("got %q", found)
			}
			return errors.Join(err, words.Close())
		},
		"strings": func() error {
			words, err := gather.NewStrings([]string{"one", "two", "three"}, 3)
			if err != nil {
				return err
			}
			found, _, err := gather.GatherStrings(words, gather.Vector([]int{2, 0}))
			if err == nil && (len(found) != 2 || found[0] != "three") {
				t.Errorf("got %q", found)
			}
			return errors.Join(err, words.Close())
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			check(t, call()) // The first call makes allocations that later calls do not repeat.
			failEach(t, call, false)
			failEach(t, call, true)
		})
	}
}

func failEach(t *testing.T, call func() error, sticky bool) {
	t.Helper()
	for n := 1; n < 100; n++ {
		emulated.FailAllocation(n, sticky)
		err := call()
		attempted := emulated.Allocations()
		emulated.FailAllocation(0, false)
		if err == nil {
			if attempted >= n || n == 1 {
				t.Errorf("allocation %d of %d failed, but the call succeeded", n, attempted)
			}
			return
		}
		if !errors.Is(err, gather.ErrNoMemory) {
			t.Fatalf("allocation %d: %v", n, err)
		}
	}
	t.Error("the call never succeeds")
}
