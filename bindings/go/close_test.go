package gather_test

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"libgather.io/gather"
	"libgather.io/gather/internal/arrow"
)

// closeDuring closes an object while goroutines call run, which uses it. Each call must succeed or return ErrHandle.
func closeDuring(t *testing.T, run func() error, closer interface{ Close() error }) {
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

func TestCloseDuringCalls(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 5
	}
	ids := []int{0, 3, 1, 2}
	for range rounds {
		plan := newPlan(t, tableTensor(), gather.Shaped[int](4))
		closeDuring(t, func() error { return plan.Run(gather.To(make([]float32, 8)), table, ids, gather.Open) }, plan)

		scatters, err := gather.NewScatterPlan(tableTensor(), gather.Shaped[int](4))
		check(t, err)
		closeDuring(t, func() error {
			return scatters.Run(gather.To(make([]float32, 8)), ids, gather.From(table), gather.Open)
		}, scatters)

		// The output has two pieces for two threads. So a call is long enough to overlap with other calls.
		context := newContext(t, 2)
		closeDuring(t, func() error {
			_, err := gather.Gather(tableTensor(), gather.Vector(ids), gather.In(context))
			return err
		}, context)

		words := newStrings(t, []string{strings.Repeat("x", 1<<10), "b", "c", strings.Repeat("d", 1<<10)}, 4)
		closeDuring(t, func() error {
			_, _, err := gather.GatherStrings(words, gather.Vector(ids))
			return err
		}, words)
		more := newStrings(t, []string{"a", "b", "c", "d"}, 4)
		closeDuring(t, func() error {
			_, _, err := gather.ScatterStrings(more, gather.Vector(ids), more.Updates())
			return err
		}, more)

		tensor, err := gather.NewDeviceTensor[float32](nil, 4, 2)
		check(t, err)
		closeDuring(t, func() error {
			if err := tensor.Write(table); err != nil {
				return err
			}
			_, err := gather.Gather(tensor.Tensor(), gather.Vector(ids))
			return err
		}, tensor)
	}
}

// The following tests check that Close releases the handle immediately after every kind of call. The objects stay
// reachable, so that the garbage collector does not release them.

func TestCloseReleasesAContext(t *testing.T) {
	ids, indices, bad := []int{1}, gather.Vector([]int{1}), gather.Vector([]int{9})
	updates := gather.NewUpdates([]float32{5, 6}, 1, 2)
	plan, scatters := newPlan(t, tableTensor(), indices), newScatterPlan(t, tableTensor(), indices)
	words, closed := newStrings(t, []string{"a", "b"}, 2), newTensor(t)
	check(t, closed.Close())
	bags, closedWords := gather.BagOffsets(gather.Vector([]int{0, 1})), newStrings(t, []string{"a"}, 1)
	check(t, closedWords.Close())
	column := numberColumn(t)
	defer column.Close()
	for name, call := range map[string]func(in *gather.Context) error{
		"no call":       func(in *gather.Context) error { return nil },
		"sync":          func(in *gather.Context) error { return in.Sync() },
		"take error":    func(in *gather.Context) error { return in.TakeError() },
		"enqueue":       func(in *gather.Context) error { return in.EnqueueTakeError(1) },
		"wait":          func(in *gather.Context) error { return only(gather.ErrDevice, in.Wait(0)) },
		"signal":        func(in *gather.Context) error { return only(gather.ErrDevice, in.Signal(0)) },
		"gather":        func(in *gather.Context) error { return second(gather.Gather(tableTensor(), indices, gather.In(in))) },
		"device tensor": func(in *gather.Context) error { return second(gather.NewDeviceTensor[float32](in, 4, 2)) },
		"an index out of bounds": func(in *gather.Context) error {
			return only(gather.ErrIndex, second(gather.Gather(tableTensor(), bad, gather.In(in))))
		},
		"a closed operand": func(in *gather.Context) error {
			return only(gather.ErrHandle, second(gather.Gather(closed.Tensor(), indices, gather.In(in))))
		},
		"check of a closed plan": func(in *gather.Context) error {
			closed := newPlan(t, tableTensor(), indices)
			check(t, closed.Close())
			return only(gather.ErrHandle, closed.CheckIn(in, ids, gather.Open))
		},
		"run of a closed plan": func(in *gather.Context) error {
			closed := newPlan(t, tableTensor(), indices)
			check(t, closed.Close())
			return only(gather.ErrHandle, closed.RunIn(in, gather.To(make([]float32, 2)), table, ids, gather.Open))
		},
		"scatter": func(in *gather.Context) error {
			return second(gather.Scatter(tableTensor(), indices, updates, gather.In(in)))
		},
		"bags": func(in *gather.Context) error {
			return second(gather.GatherBags(tableTensor(), indices, bags, gather.In(in)))
		},
		"gradient of bags": func(in *gather.Context) error {
			return second(gather.GatherBagsGradient(gather.New([]float32{5, 6}, 1, 2), tableTensor(), indices, bags,
				gather.In(in)))
		},
		"bags with an index out of bounds": func(in *gather.Context) error {
			return only(gather.ErrIndex, second(gather.GatherBags(tableTensor(), bad, bags, gather.In(in))))
		},
		"run all": func(in *gather.Context) error {
			return gather.RunAll(in, plan.With(gather.To(make([]float32, 2)), table, ids, gather.Open))
		},
		"run all with a nil plan": func(in *gather.Context) error {
			var missing *gather.Plan[float32, int]
			return only(gather.ErrNull, gather.RunAll(in, missing.With(gather.To(table), table, ids, gather.Open)))
		},
		"take": func(in *gather.Context) error {
			var schema arrow.Schema
			var array arrow.Array
			err := gather.Take(schema.Pointer(), array.Pointer(), column, indices, gather.Nulls{}, gather.In(in))
			if err == nil {
				schema.Release()
				array.Release()
			}
			return err
		},
		"closed strings": func(in *gather.Context) error {
			_, _, err := gather.GatherStrings(closedWords, indices, gather.In(in))
			return only(gather.ErrHandle, err)
		},
		"partition": func(in *gather.Context) error {
			return second(gather.Partition(indices, gather.BlockShards(4, 2), gather.In(in)))
		},
		"resolve": func(in *gather.Context) error {
			return second(gather.Resolve(4, indices, gather.Nulls{}, gather.In(in)))
		},
		"strings": func(in *gather.Context) error {
			_, _, err := gather.GatherStrings(words, indices, gather.In(in))
			return err
		},
		"run": func(in *gather.Context) error {
			return plan.RunIn(in, gather.To(make([]float32, 2)), table, ids, gather.Open)
		},
		"run at": func(in *gather.Context) error {
			return only(gather.ErrNull, plan.RunAt(in, gather.Addresses{}, gather.Open))
		},
		"check": func(in *gather.Context) error { return plan.CheckIn(in, ids, gather.Open) },
		"check at": func(in *gather.Context) error {
			return only(gather.ErrNull, plan.CheckAt(in, 0, gather.Open))
		},
		"run of a scatter": func(in *gather.Context) error {
			return scatters.RunIn(in, gather.To(make([]float32, 8)), ids, gather.From(make([]float32, 2)), gather.Open)
		},
	} {
		context := newContext(t, 1)
		expectReleased(t, name, context, func() error { return call(context) }, context.Unowned().Sync)
	}
}

func TestCloseReleasesAPlan(t *testing.T) {
	ids, out := []int{1}, make([]float32, 2)
	for name, call := range map[string]func(plan *gather.Plan[float32, int]) error{
		"no call": func(plan *gather.Plan[float32, int]) error { return nil },
		"run":     func(plan *gather.Plan[float32, int]) error { return plan.Run(gather.To(out), table, ids, gather.Open) },
		"a short slice": func(plan *gather.Plan[float32, int]) error {
			return only(gather.ErrSize, plan.Run(gather.To(out), table[:1], ids, gather.Open))
		},
		"check":   func(plan *gather.Plan[float32, int]) error { return plan.Check(ids, gather.Open) },
		"shape":   func(plan *gather.Plan[float32, int]) error { return second(plan.OutputShape(gather.Open)) },
		"extents": func(plan *gather.Plan[float32, int]) error { _, _, _, err := plan.Extents(gather.Open); return err },
		"run at": func(plan *gather.Plan[float32, int]) error {
			return only(gather.ErrNull, plan.RunAt(nil, gather.Addresses{}, gather.Open))
		},
		"check at": func(plan *gather.Plan[float32, int]) error {
			return only(gather.ErrNull, plan.CheckAt(nil, 0, gather.Open))
		},
	} {
		plan := newPlan(t, tableTensor(), gather.Vector(ids))
		unowned := plan.Unowned()
		expectReleased(t, name, plan, func() error { return call(plan) },
			func() error { return second(unowned.OutputShape(gather.Open)) })
	}
	scatters := newScatterPlan(t, tableTensor(), gather.Vector(ids))
	unowned := scatters.Unowned()
	expectReleased(t, "run of a scatter", scatters,
		func() error {
			return scatters.Run(gather.To(make([]float32, 8)), ids, gather.From(out), gather.Open)
		},
		func() error { return second(unowned.UpdatesShape(gather.Open)) })
}

func TestCloseReleasesStrings(t *testing.T) {
	indices := gather.Vector([]int{1})
	for name, call := range map[string]func(words, more *gather.StringTensor) error{
		"no call": func(_, _ *gather.StringTensor) error { return nil },
		"gather": func(words, _ *gather.StringTensor) error {
			_, _, err := gather.GatherStrings(words, indices)
			return err
		},
		"scatter": func(words, more *gather.StringTensor) error {
			_, _, err := gather.ScatterStrings(words, indices, more.Updates())
			return err
		},
		"a closed target": func(words, more *gather.StringTensor) error {
			closed := newStrings(t, []string{"a"}, 1)
			check(t, closed.Close())
			_, _, err := gather.ScatterStrings(closed, indices, more.Updates())
			return only(gather.ErrHandle, err)
		},
	} {
		words, more := newStrings(t, []string{"a", "b"}, 2), newStrings(t, []string{"c"}, 1)
		expectReleased(t, name, words, func() error { return call(words, more) }, gatherFrom(words.Unowned()))
		expectReleased(t, name+", updates", more, func() error { return nil }, gatherFrom(more.Unowned()))
	}
}

func TestCloseReleasesADeviceTensor(t *testing.T) {
	indices, updates := gather.Vector([]int{1}), gather.NewUpdates([]float32{5, 6}, 1, 2)
	for name, call := range map[string]func(tensor *gather.DeviceTensor[float32]) error{
		"no call": func(tensor *gather.DeviceTensor[float32]) error { return nil },
		"write":   func(tensor *gather.DeviceTensor[float32]) error { return tensor.Write(table) },
		"read":    func(tensor *gather.DeviceTensor[float32]) error { return tensor.Read(make([]float32, 8)) },
		"gather": func(tensor *gather.DeviceTensor[float32]) error {
			return second(gather.Gather(tensor.Tensor(), indices))
		},
		"scatter": func(tensor *gather.DeviceTensor[float32]) error {
			return second(gather.Scatter(tensor.Tensor(), indices, updates))
		},
	} {
		tensor := newTensor(t)
		gathers := gatherFrom(tensor.Unowned()) // The library finds the handle, and rejects it because it has no strings.
		expectReleased(t, name, tensor, func() error { return call(tensor) },
			func() error { return only(gather.ErrDType, gathers()) })
	}
}

// Close releases each operand of a call that can be closed. This holds for every role, and also if the call fails.
func TestCloseReleasesIndicesAndRows(t *testing.T) {
	words, more := newStrings(t, []string{"a", "b"}, 2), newStrings(t, []string{"c"}, 1)
	out, updates := make([]float32, 2), gather.NewUpdates([]float32{5, 6}, 1, 2)
	closedStrings, closedTensor := newStrings(t, []string{"a", "b"}, 2), newTensor(t)
	check(t, closedStrings.Close())
	check(t, closedTensor.Close())
	closedContext, oneBag := newContext(t, 1), gather.BagOffsets(gather.Vector([]int{0, 1}))
	check(t, closedContext.Close())
	handle := func(err error) error { return only(gather.ErrHandle, err) }
	for name, call := range map[string]func(ids gather.Tensor[int], rows gather.Tensor[float32]) error{
		"gather": func(ids gather.Tensor[int], rows gather.Tensor[float32]) error {
			return gather.GatherInto(rows.Output(), tableTensor(), ids)
		},
		"gather with options": func(ids gather.Tensor[int], rows gather.Tensor[float32]) error {
			return gather.GatherInto(rows.Output(), tableTensor(), ids, gather.Threads(1))
		},
		"new result": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			return second(gather.Gather(tableTensor(), ids))
		},
		"scatter": func(ids gather.Tensor[int], rows gather.Tensor[float32]) error {
			return second(gather.Scatter(tableTensor(), ids, rows.Updates()))
		},
		"gradient": func(ids gather.Tensor[int], rows gather.Tensor[float32]) error {
			return second(gather.GatherGradient(rows, ids, []int{4, 2}))
		},
		"partition": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			return second(gather.Partition(ids, gather.BlockShards(4, 2)))
		},
		"partition with too many shards": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			return only(gather.ErrShape, second(gather.Partition(ids, gather.BlockShards(4, 0))))
		},
		"strings": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			_, _, err := gather.GatherStrings(words, ids)
			return err
		},
		"scatter of strings": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			_, _, err := gather.ScatterStrings(words, ids, more.Updates())
			return err
		},
		"closed strings": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			_, _, err := gather.GatherStrings(closedStrings, ids)
			return handle(err)
		},
		"closed updates": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			_, _, err := gather.ScatterStrings(words, ids, closedStrings.Updates())
			return handle(err)
		},
		"closed table": func(ids gather.Tensor[int], rows gather.Tensor[float32]) error {
			return handle(gather.GatherInto(rows.Output(), closedTensor.Tensor(), ids))
		},
		"closed output": func(ids gather.Tensor[int], rows gather.Tensor[float32]) error {
			return handle(gather.GatherInto(closedTensor.Tensor().Output(), rows, ids))
		},
		"bags": func(ids gather.Tensor[int], rows gather.Tensor[float32]) error {
			return gather.GatherBagsInto(rows.Output(), tableTensor(), ids, oneBag)
		},
		"gradient of bags": func(ids gather.Tensor[int], rows gather.Tensor[float32]) error {
			return second(gather.GatherBagsGradient(rows, tableTensor(), ids, oneBag))
		},
		"target of a sparse gradient": func(ids gather.Tensor[int], rows gather.Tensor[float32]) error {
			return second(gather.GatherBagsSparseGradientInto(gather.NewOutput(make([]int64, 1), 1), rows.Output(),
				gather.New(out, 1, 2), tableTensor(), ids, oneBag))
		},
		"gradient of weights": func(ids gather.Tensor[int], rows gather.Tensor[float32]) error {
			return second(gather.GatherBagsWeightGradient[float32](rows, tableTensor(), ids, oneBag))
		},
		"closed params of a gradient": func(ids gather.Tensor[int], rows gather.Tensor[float32]) error {
			return handle(second(gather.GatherBagsWeightGradient[float32](rows, closedTensor.Tensor(), ids, oneBag)))
		},
		"closed target of a gradient": func(ids gather.Tensor[int], rows gather.Tensor[float32]) error {
			return handle(gather.GatherBagsGradientInto(closedTensor.Tensor().Output(), rows, tableTensor(), ids, oneBag))
		},
		"gradient in a closed context": func(ids gather.Tensor[int], rows gather.Tensor[float32]) error {
			return handle(second(gather.GatherBagsGradient(rows, tableTensor(), ids, oneBag, gather.In(closedContext))))
		},
		"gather in a closed context": func(ids gather.Tensor[int], rows gather.Tensor[float32]) error {
			return handle(gather.GatherInto(rows.Output(), tableTensor(), ids, gather.In(closedContext)))
		},
		"partition in a closed context": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			return handle(second(gather.Partition(ids, gather.BlockShards(4, 2), gather.In(closedContext))))
		},
		"strings in a closed context": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			_, _, err := gather.GatherStrings(words, ids, gather.In(closedContext))
			return handle(err)
		},
		"resolve": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			return second(gather.Resolve(4, ids, gather.Nulls{}))
		},
		"resolve in a closed context": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			return handle(second(gather.Resolve(4, ids, gather.Nulls{}, gather.In(closedContext))))
		},
		"resolve with a short validity": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			return only(gather.ErrSize, second(gather.Resolve(4, ids, gather.Nulls{Validity: []byte{}})))
		},
		"a byte that is no bool": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			bytes := gather.Strided[bool]([]uint8{1, 5}, 0, []int{2}, []int{1})
			return only(gather.ErrDType, second(gather.Gather(bytes, ids)))
		},
		"wrong shape": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			return only(gather.ErrRank, gather.GatherInto(gather.NewOutput(out, 2), tableTensor(), ids))
		},
		"index out of bounds": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			return only(gather.ErrIndex, second(gather.Gather(gather.New(table[:2], 1, 2), ids)))
		},
		"target out of bounds": func(ids gather.Tensor[int], _ gather.Tensor[float32]) error {
			return only(gather.ErrIndex, second(gather.Scatter(gather.New(table[:2], 1, 2), ids, updates)))
		},
	} {
		ids, err := gather.NewDeviceTensor[int](nil, 1)
		check(t, err)
		check(t, ids.Write([]int{1}))
		rows, err := gather.NewDeviceTensor[float32](nil, 1, 2)
		check(t, err)
		used, other := gatherFrom(ids.Unowned()), gatherFrom(rows.Unowned())
		expectReleased(t, name+", indices", ids, func() error { return call(ids.Tensor(), rows.Tensor()) },
			func() error { return only(gather.ErrDType, used()) })
		expectReleased(t, name+", rows", rows, func() error { return nil },
			func() error { return only(gather.ErrDType, other()) })
	}
}

// The numbers of the rows of a sparse gradient are an operand of their own.
func TestCloseReleasesTheNumbersOfASparseGradient(t *testing.T) {
	bags, closed := gather.BagOffsets(gather.Vector([]int{0, 1})), newTensor(t)
	check(t, closed.Close())
	for name, params := range map[string]gather.Tensor[float32]{"params": tableTensor(), "closed params": closed.Tensor()} {
		unique, err := gather.NewDeviceTensor[int64](nil, 1)
		check(t, err)
		used := gatherFrom(unique.Unowned())
		expectReleased(t, name, unique, func() error {
			return only(gather.ErrHandle, second(gather.GatherBagsSparseGradientInto(unique.Output(),
				gather.NewOutput(make([]float32, 2), 1, 2), gather.New(make([]float32, 2), 1, 2), params,
				gather.Vector([]int{1}), bags)))
		}, func() error { return only(gather.ErrDType, used()) })
	}
}

func newTensor(t *testing.T) *gather.DeviceTensor[float32] {
	t.Helper()
	tensor, err := gather.NewDeviceTensor[float32](nil, 4, 2)
	check(t, err)
	t.Cleanup(func() { tensor.Close() })
	return tensor
}

// expectReleased fails unless Close is the call that releases the handle. use calls the library with the handle and
// bypasses its owner.
func expectReleased(t *testing.T, name string, object interface{ Close() error }, call, use func() error) {
	t.Helper()
	for _, call := range []func() error{call, use, object.Close} {
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := use(); !errors.Is(err, gather.ErrHandle) {
		t.Errorf("%s: Close of %T did not release its handle: %v", name, object, err)
	}
	runtime.KeepAlive(object)
}

func gatherFrom(words *gather.StringTensor) func() error {
	return func() error {
		_, _, err := gather.GatherStrings(words, gather.Vector([]int{0}))
		return err
	}
}

// only returns nil for an error of the expected status, and every other error unchanged.
func only(status gather.Status, err error) error {
	if errors.Is(err, status) {
		return nil
	}
	return err
}

func second[T any](_ T, err error) error { return err }

// Close frees the memory immediately, without the garbage collector.
func TestCloseReleasesMemory(t *testing.T) {
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

func TestClosedDeviceTensorReturnsErrHandle(t *testing.T) {
	tensor := newTensor(t)
	view, ids := tensor.Tensor(), gather.Vector([]int{1})
	check(t, gather.GatherInto(gather.NewOutput(make([]float32, 2), 1, 2), view, ids))
	check(t, tensor.Close())
	_, err := gather.Gather(view, ids)
	expectError(t, err, gather.ErrHandle, gather.OperandParams)
	expectError(t, gather.GatherInto(view.Output(), tableTensor(), gather.Vector([]int{0, 1, 2, 3})), gather.ErrHandle, gather.OperandOut)
}
