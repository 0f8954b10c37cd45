// Makes each mistake in Go and prints a line with the fields of its error.
package main

import (
	"errors"
	"fmt"
	"slices"

	"libgather.io/gather"
)

var (
	table = []float32{0, 1, 10, 11, 20, 21, 30, 31}
	rows  = make([]float32, 8)
)

func line(mistake string, err error) {
	var found *gather.Error
	if !errors.As(err, &found) {
		fmt.Printf("%s\tGTH_OK\n", mistake)
		return
	}
	fmt.Printf("%s\t%d\t%d\t%d\t%d\t%d\t%d\n", mistake, found.Status, found.Operand, found.Component, found.Position,
		found.Value, found.Limit)
}

func params() gather.Tensor[float32] { return gather.New(table, 4, 2) }

func ids(mistake string, ids []int64, options ...gather.Option) {
	_, err := gather.Gather(params(), gather.Vector(ids), options...)
	line(mistake, err)
}

func from(mistake string, params gather.Tensor[float32]) {
	line(mistake, gather.GatherInto(gather.NewOutput(rows, 1, 2), params, gather.Vector([]int64{0})))
}

func to(mistake string, out gather.Output[float32]) {
	line(mistake, gather.GatherInto(out, params(), gather.Vector([]int64{0, 1, 2})))
}

func main() {
	ids("an index above the range", []int64{0, 4, -1})
	ids("a negative index", []int64{0, -1})
	ids("an index below -size with negative = wrap", []int64{-5}, gather.Negative(gather.NegativeWrap))
	ids("an axis outside the rank", []int64{0, 1}, gather.Axis(2))
	ids("batch_dims above the rank of indices", []int64{0, 1}, gather.BatchDims(2))
	ids("an unknown switch", []int64{0, 1}, gather.Bounds(99))
	ids("a fill value of another dtype", []int64{0, 9}, gather.Bounds(gather.BoundsFill), gather.FillWith(int8(1)))

	_, err := gather.GatherND(params(), gather.New([]int64{0, 0, 0}, 1, 3))
	line("tuples with more components than dims", err)

	from("memory that is too small for its shape", gather.New(table, 5, 2))
	from("memory that is larger than its shape needs", gather.New(table, 3, 2))
	from("strides whose count is not the rank", gather.Strided[float32](table, 0, []int{4, 2}, []int{8}))
	from("strides that leave the memory", gather.Strided[float32](table, 0, []int{4, 2}, []int{16, 4}))

	to("an output of another shape", gather.NewOutput(rows, 2, 2))
	to("an output of another rank", gather.NewOutput(rows, 6))
	both := slices.Clone(table)
	line("an output that overlaps params", gather.GatherInto(gather.NewOutput(both, 3, 2), gather.New(both, 4, 2),
		gather.Vector([]int64{0, 1, 2})))
	to("a read-only output", gather.New(rows, 3, 2).ReadOnly().Output())

	good := []int64{0, 1}
	plan, err := gather.NewPlan(gather.Shaped[float32](4, 2), gather.Shaped[int64](gather.Open))
	if err != nil {
		panic(err)
	}
	line("a run without a value for its open extent", plan.Run(gather.To(rows), table, good, gather.Open))
	line("a run with memory that is too small", plan.Run(gather.To(rows), table[:7], good, 2))
	plan.Close()
	line("a run of a released plan", plan.Run(gather.To(rows), table, good, 2))

	updates := gather.NewUpdates(table[:4], 2, 2)
	scatter := func(mistake string, target gather.Output[float32], ids []int64, updates gather.Updates[float32],
		options ...gather.Option) {
		line(mistake, gather.ScatterInto(target, gather.Vector(ids), updates, options...))
	}
	target := gather.NewOutput(both, 4, 2)
	scatter("a scatter with an index above the range", target, []int64{0, 4}, updates)
	scatter("a scatter with bounds = fill", target, good, updates, gather.Bounds(gather.BoundsFill))
	scatter("updates of another shape", target, good, gather.NewUpdates(table, 3, 2))
	scatter("updates that overlap the target", target, good, gather.NewUpdates(both, 2, 2))
	scatter("a read-only target", params().ReadOnly().Output(), good, updates)
}
