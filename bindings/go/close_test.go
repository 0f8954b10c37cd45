package gather_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"libgather/gather"
)

// beside closes what run uses while goroutines are inside run: each call is served or refused, never anything else.
func beside(t *testing.T, run func() error, closer interface{ Close() error }) {
	t.Helper()
	const goroutines, warm = 4, 100
	var group, started sync.WaitGroup
	for range goroutines {
		group.Add(1)
		started.Add(1)
		go func() {
			defer group.Done()
			for round := 0; ; round++ {
				err := run()
				if round == warm || err != nil && round < warm {
					started.Done()
				}
				if err != nil {
					if !errors.Is(err, gather.ErrHandle) {
						t.Error(err)
					}
					return
				}
			}
		}()
	}
	started.Wait()
	check(t, closer.Close())
	group.Wait()
	if err := run(); !errors.Is(err, gather.ErrHandle) {
		t.Errorf("closed: %v", err)
	}
}

func TestCloseBesideCalls(t *testing.T) {
	const rounds = 50
	ids := []int{0, 3, 1, 2}
	for range rounds {
		plan := newPlan(t, tableTensor(), gather.Shaped[int](4))
		beside(t, func() error { return plan.Run(gather.To(make([]float32, 8)), table, ids, gather.Open) }, plan)

		scatters, err := gather.NewScatterPlan(tableTensor(), gather.Shaped[int](4))
		check(t, err)
		beside(t, func() error {
			return scatters.Run(gather.To(make([]float32, 8)), ids, gather.From(table), gather.Open)
		}, scatters)

		// Two pieces of the output for two threads, so that a call takes as long as the others need to come beside it.
		context := newContext(t, 2)
		beside(t, func() error {
			_, err := gather.Gather(tableTensor(), gather.Vector(ids), gather.In(context))
			return err
		}, context)

		words := newStrings(t, []string{strings.Repeat("x", 1<<10), "b", "c", strings.Repeat("d", 1<<10)}, 4)
		beside(t, func() error {
			_, _, err := gather.GatherStrings(words, gather.Vector(ids))
			return err
		}, words)
		more := newStrings(t, []string{"a", "b", "c", "d"}, 4)
		beside(t, func() error {
			_, _, err := gather.ScatterStrings(more, gather.Vector(ids), more.Updates())
			return err
		}, more)

		tensor, err := gather.NewDeviceTensor[float32](nil, 4, 2)
		check(t, err)
		beside(t, func() error {
			if err := tensor.Write(table); err != nil {
				return err
			}
			_, err := gather.Gather(tensor.Tensor(), gather.Vector(ids))
			return err
		}, tensor)
	}
}

// What is closed is released there and then, and not when the garbage collector comes.
func TestCloseReleases(t *testing.T) {
	values := []string{strings.Repeat("x", 16<<20)}
	closed := func() { check(t, newStrings(t, values, 1).Close()) }
	before, _ := bytesInUse(t)
	for range 10 {
		closed()
	}
	if after, _ := bytesInUse(t); after-before > 1<<20 {
		t.Errorf("%d bytes more", after-before)
	}
}

func TestAClosedDeviceTensorIsNoOperand(t *testing.T) {
	tensor, err := gather.NewDeviceTensor[float32](nil, 4, 2)
	check(t, err)
	view, ids := tensor.Tensor(), gather.Vector([]int{1})
	check(t, gather.GatherInto(gather.NewOutput(make([]float32, 2), 1, 2), view, ids))
	check(t, tensor.Close())
	_, err = gather.Gather(view, ids)
	expectError(t, err, gather.ErrHandle, gather.OperandParams)
	expectError(t, gather.GatherInto(view.Output(), tableTensor(), gather.Vector([]int{0, 1, 2, 3})), gather.ErrHandle, gather.OperandOut)
}
