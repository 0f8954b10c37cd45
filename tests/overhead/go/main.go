// Command overhead measures the time that Go adds to a call of the C library. Each call gathers one row of 4 bytes, and
// all data is in the L1 cache. The command prints a line for each kind of call: the nanoseconds in C, the nanoseconds
// in Go, and the median of their difference in the same round.
package main

import (
	"fmt"
	"log"
	"slices"
	"time"

	"libgather.io/gather"
)

const rounds, repeats = 401, 2000

// A loop repeats a call count times. It returns false if a call fails.
type loop = func(count int) bool

// sideBySide runs the loops in turn, so that a disturbance affects all of them. It returns the nanoseconds of one
// repeat for each loop and round.
func sideBySide(loops []loop) [][]float64 {
	times := make([][]float64, len(loops))
	for round := range rounds + 1 {
		for i, loop := range loops {
			start := time.Now()
			if !loop(repeats) {
				log.Fatalf("loop %d failed", i)
			}
			if round > 0 {
				times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/repeats)
			}
		}
	}
	return times
}

func median(times []float64) float64 {
	return slices.Sorted(slices.Values(times))[len(times)/2]
}

// difference returns the median time that the second loop adds to the first one in the same round.
func difference(first, second []float64) float64 {
	more := make([]float64, len(first))
	for round := range first {
		more[round] = second[round] - first[round]
	}
	return median(more)
}

// calls has the operands of the Go loops. Each kind of call has a separate loop, because a call of a closure would cost
// as much as the measured time.
type calls struct {
	table, out      []float32
	ids             []int64
	params          gather.Tensor[float32]
	indices         gather.Tensor[int64]
	output          gather.Output[float32]
	closed, openEnd *gather.Plan[float32, int64]
}

func newCalls() *calls {
	c := &calls{table: make([]float32, 64), out: make([]float32, 1), ids: []int64{7}}
	c.params, c.indices, c.output = gather.Vector(c.table), gather.Vector(c.ids), gather.NewOutput(c.out, 1)
	c.closed, c.openEnd = plan(c.indices), plan(gather.Shaped[int64](gather.Open))
	return c
}

func (c *calls) run(count int) bool {
	for range count {
		if c.closed.Run(gather.To(c.out), c.table, c.ids, gather.Open) != nil {
			return false
		}
	}
	return true
}

func (c *calls) runOpen(count int) bool {
	for range count {
		if c.openEnd.Run(gather.To(c.out), c.table, c.ids, 1) != nil {
			return false
		}
	}
	return true
}

func (c *calls) describedOnce(count int) bool {
	params, indices, output := c.params, c.indices, c.output
	for range count {
		if gather.GatherInto(output, params, indices) != nil {
			return false
		}
	}
	return true
}

func (c *calls) described(count int) bool {
	for range count {
		if gather.GatherInto(gather.NewOutput(c.out, 1), gather.Vector(c.table), gather.Vector(c.ids)) != nil {
			return false
		}
	}
	return true
}

func (c *calls) newOutput(count int) bool {
	params, indices := c.params, c.indices
	for range count {
		if _, err := gather.Gather(params, indices); err != nil {
			return false
		}
	}
	return true
}

func plan(indices gather.Tensor[int64]) *gather.Plan[float32, int64] {
	plan, err := gather.NewPlan(gather.Shaped[float32](64), indices)
	if err != nil {
		log.Fatal(err)
	}
	return plan
}

func main() {
	c := newCalls()
	rows := []struct {
		name      string
		inC, inGo loop
	}{
		{"plan run", func(count int) bool { return planInC(count, gather.Open) }, c.run},
		{"plan run, open extent", func(count int) bool { return planInC(count, 1) }, c.runOpen},
		{"gather into an output, operands described once", describedOnceInC, c.describedOnce},
		{"gather into an output, operands described in each call", describedInC, c.described},
		{"gather with a new output", newInC, c.newOutput},
	}
	loops := []loop{crossings}
	for _, row := range rows {
		loops = append(loops, row.inC, row.inGo)
	}
	times := sideBySide(loops)
	for i, row := range rows {
		c, own := times[2*i+1], times[2*i+2]
		fmt.Printf("%s\t%.1f\t%.1f\t%.1f\n", row.name, median(c), median(own), difference(c, own))
	}
	fmt.Printf("an empty call from Go to C\t%.1f\n", median(times[0]))
}
