// What Go adds to a call of the C library: one row of 4 bytes, everything in the first cache. A line for each, with the
// nanoseconds in C and in Go and the difference within the rounds.
package main

import (
	"fmt"
	"log"
	"slices"
	"time"

	"libgather/gather"
)

const rounds, repeats = 401, 2000

// A loop does its work so many times, and says whether it went well.
type loop = func(count int) bool

// sideBySide runs the loops in turn, so that what disturbs one disturbs all: nanoseconds of one repeat, by round.
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

// difference is by how much the second is slower, within each round.
func difference(first, second []float64) float64 {
	more := make([]float64, len(first))
	for round := range first {
		more[round] = second[round] - first[round]
	}
	return median(more)
}

// repeated makes a loop of a call.
func repeated(call func() error) loop {
	return func(count int) bool {
		for range count {
			if call() != nil {
				return false
			}
		}
		return true
	}
}

func plan(indices gather.Tensor[int64]) *gather.Plan[float32, int64] {
	plan, err := gather.NewPlan(gather.Shaped[float32](64), indices)
	if err != nil {
		log.Fatal(err)
	}
	return plan
}

func main() {
	table, out, ids := make([]float32, 64), make([]float32, 1), []int64{7}
	params, indices, output := gather.Vector(table), gather.Vector(ids), gather.NewOutput(out, 1)
	closed, open := plan(indices), plan(gather.Shaped[int64](gather.Open))
	rows := []struct {
		name      string
		inC, inGo loop
	}{
		{"plan run", func(count int) bool { return planInC(count, gather.Open) },
			repeated(func() error { return closed.Run(gather.To(out), table, ids, gather.Open) })},
		{"plan run, open extent", func(count int) bool { return planInC(count, 1) },
			repeated(func() error { return open.Run(gather.To(out), table, ids, 1) })},
		{"gather into, described once", describedOnceInC,
			repeated(func() error { return gather.GatherInto(output, params, indices) })},
		{"gather into, described in each call", describedInC, repeated(func() error {
			return gather.GatherInto(gather.NewOutput(out, 1), gather.Vector(table), gather.Vector(ids))
		})},
		{"gather, a new output", newInC, repeated(func() error {
			_, err := gather.Gather(params, indices)
			return err
		})},
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
	fmt.Printf("from Go to C and back\t%.1f\n", median(times[0]))
}
