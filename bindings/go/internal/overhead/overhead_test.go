//go:build !gather_static

package overhead

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"libgather/gather"
)

// One row of 4 bytes, everything in L1, as in the loops of C.
type calls struct {
	table, out []float32
	ids        []int
	plan       *gather.Plan[float32, int]
}

func newCalls(t testing.TB) *calls {
	c := &calls{table: make([]float32, 64), out: make([]float32, 1), ids: []int{7}}
	plan, err := gather.NewPlan(gather.Vector(c.table), gather.Vector(c.ids))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plan.Close() })
	c.plan = plan
	return c
}

func (c *calls) planLoop(count int) bool {
	for range count {
		if c.plan.Run(nil, c.table, c.ids, c.out, gather.Open) != nil {
			return false
		}
	}
	return true
}

func (c *calls) intoLoop(count int) bool {
	table, ids, out := gather.Vector(c.table), gather.Vector(c.ids), gather.Vector(c.out)
	for range count {
		if gather.GatherInto(out, table, ids) != nil {
			return false
		}
	}
	return true
}

func (c *calls) intoNDLoop(count int) bool {
	table, ids, out := gather.Vector(c.table), gather.Vector(c.ids), gather.New(c.out)
	for range count {
		if gather.GatherNDInto(out, table, ids) != nil {
			return false
		}
	}
	return true
}

// freshLoop makes the tensors anew for each call, as services do.
func (c *calls) freshLoop(count int) bool {
	for range count {
		err := gather.GatherInto(gather.New(c.out, len(c.out)), gather.New(c.table, len(c.table)),
			gather.New(c.ids, len(c.ids)), gather.Axis(0))
		if err != nil {
			return false
		}
	}
	return true
}

func (c *calls) allocatingLoop(count int) bool {
	table, ids := gather.Vector(c.table), gather.Vector(c.ids)
	for range count {
		if _, err := gather.Gather(table, ids); err != nil {
			return false
		}
	}
	return true
}

// sideBySide runs the loops in turn, so that all meet the same machine, and returns the nanoseconds of a call in the
// round that other work disturbed least.
func sideBySide(t testing.TB, loops ...func(int) bool) []float64 {
	const rounds, count = 400, 2000
	fastest := slices.Repeat([]float64{math.Inf(1)}, len(loops))
	for range rounds {
		for i, loop := range loops {
			start := time.Now()
			if !loop(count) {
				t.Fatalf("loop %d failed", i)
			}
			fastest[i] = min(fastest[i], float64(time.Since(start).Nanoseconds())/count)
		}
	}
	return fastest
}

// TestOverhead prints; a busy machine must not fail a test, so that only GATHER_BENCH makes the target binding.
func TestOverhead(t *testing.T) {
	if testing.Short() {
		t.Skip("timings")
	}
	c := newCalls(t)
	times := sideBySide(t, PlanLoop, c.planLoop, DescLoop, c.intoLoop, DescNDLoop, c.intoNDLoop, EmptyLoop, c.freshLoop,
		c.allocatingLoop)
	const target = 50
	for i, name := range []string{"plan run", "gather into", "gather_nd into"} {
		inC, inGo := times[2*i], times[2*i+1]
		fmt.Printf("overhead: %-14s C %6.1f ns   Go %6.1f ns   %+6.1f ns\n", name, inC, inGo, inGo-inC)
		if os.Getenv("GATHER_BENCH") != "" && inGo-inC > target {
			t.Errorf("%s: more than %d ns above C", name, target)
		}
	}
	fmt.Printf("overhead: empty cgo call %.1f ns   into, tensors made anew %.1f ns   allocating %.1f ns\n", times[6], times[7],
		times[8])
}

func TestCallsAllocateNothing(t *testing.T) {
	c := newCalls(t)
	for name, loop := range map[string]func(int) bool{"plan": c.planLoop, "into": c.intoLoop, "nd": c.intoNDLoop, "fresh": c.freshLoop} {
		if count := testing.AllocsPerRun(1000, func() { loop(1) }); count != 0 {
			t.Errorf("%s: %v allocations", name, count)
		}
	}
}

func BenchmarkPlanRun(b *testing.B) {
	c := newCalls(b)
	b.ReportAllocs()
	c.planLoop(b.N)
}

func BenchmarkGatherInto(b *testing.B) {
	c := newCalls(b)
	b.ReportAllocs()
	c.intoLoop(b.N)
}

func BenchmarkGather(b *testing.B) {
	c := newCalls(b)
	b.ReportAllocs()
	c.allocatingLoop(b.N)
}

func BenchmarkFresh(b *testing.B) {
	c := newCalls(b)
	b.ReportAllocs()
	c.freshLoop(b.N)
}
