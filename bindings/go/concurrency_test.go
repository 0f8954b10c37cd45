package gather_test

import (
	"errors"
	"sync"
	"testing"

	"libgather.io/gather"
)

func TestManyGoroutinesShareContextAndPlan(t *testing.T) {
	const goroutines, rounds = 8, 500
	context := newContext(t, 2)
	plan := newPlan(t, tableTensor(), gather.Shaped[int](gather.Open))
	words := newStrings(t, []string{"a", "b", "c", "d"}, 4)
	var group sync.WaitGroup
	for worker := range goroutines {
		group.Add(1)
		go func() {
			defer group.Done()
			out := make([]float32, 2)
			for round := range rounds {
				id := (worker + round) % 5 // The table has 4 rows, so 4 is out of bounds.
				ids := []int{id}
				errs := []error{plan.RunIn(context, gather.To(out), table, ids, 1),
					gather.GatherInto(gather.NewOutput(out, 1, 2), tableTensor(), gather.Vector(ids), gather.In(context))}
				values, _, err := gather.GatherStrings(words, gather.Vector(ids), gather.In(context))
				for _, err := range append(errs, err) {
					if errors.Is(err, gather.ErrIndex) != (id == 4) {
						t.Errorf("id %d: %v", id, err)
					}
				}
				if id < 4 && (out[0] != table[2*id] || values[0] != "abcd"[id:id+1]) {
					t.Errorf("id %d: %v, %q", id, out, values)
				}
			}
		}()
	}
	group.Wait()
}

func TestLargeCallWithThreads(t *testing.T) {
	const rows, width = 1 << 12, 64
	values, ids := make([]float32, rows*width), make([]int, 4*rows)
	for i := range values {
		values[i] = float32(i)
	}
	for i := range ids {
		ids[i] = (i * 7919) % rows
	}
	context := newContext(t, 4)
	out, err := gather.Gather(gather.New(values, rows, width), gather.Vector(ids), gather.In(context))
	check(t, err)
	for i, id := range ids {
		if row := out.Data()[i*width : (i+1)*width]; row[0] != values[id*width] || row[width-1] != values[id*width+width-1] {
			t.Fatalf("row %d is not %d", i, id)
		}
	}
}
