package gather_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"libgather.io/gather"
)

// The example reads rows of a table of vectors by id.
func Example() {
	table := gather.New([]float32{0, 1, 10, 11, 20, 21, 30, 31}, 4, 2)
	rows, err := gather.Gather(table, gather.Vector([]int64{3, 0, 3}))
	fmt.Println(rows.Data(), rows.Shape(), err)
	// Output: [30 31 0 1 30 31] [3 2] <nil>
}

func ExampleGather_axis() {
	matrix := gather.New([]int16{1, 2, 3, 4, 5, 6}, 2, 3)
	columns, err := gather.Gather(matrix, gather.Vector([]int{2, 0}), gather.Axis(1))
	fmt.Println(columns.Data(), columns.Shape(), err)
	// Output: [3 1 6 4] [2 2] <nil>
}

// A policy sets the meaning of an index out of bounds.
func ExampleGather_bounds() {
	words := gather.Vector([]int{10, 20, 30})
	ids := gather.Vector([]int{-1, 0, 7})
	filled, _ := gather.Gather(words, ids, gather.Bounds(gather.BoundsFill), gather.FillWith(-1))
	clamped, _ := gather.Gather(words, ids, gather.Bounds(gather.BoundsClamp))
	like, _ := gather.Gather(words, ids, gather.WithProfile(gather.ProfileNumPyWrap))
	fmt.Println(filled.Data(), clamped.Data(), like.Data())
	// Output: [-1 10 -1] [10 10 30] [30 10 20]
}

func ExampleGatherND() {
	matrix := gather.New([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	places := gather.New([]int32{0, 2, 1, 1}, 2, 2)
	elements, err := gather.GatherND(matrix, places)
	fmt.Println(elements.Data(), err)
	// Output: [3 5] <nil>
}

// The example reads the best element of each row. A search has found its column.
func ExampleGatherElements() {
	scores := gather.New([]float64{1, 2, 3, 6, 5, 4}, 2, 3)
	best := gather.New([]int32{2, 0}, 2, 1)
	elements, err := gather.GatherElements(scores, best, gather.Axis(1))
	fmt.Println(elements.Data(), elements.Shape(), err)
	// Output: [3 6] [2 1] <nil>
}

// The call writes to existing memory, without an allocation.
func ExampleGatherInto() {
	table := gather.New([]float32{0, 1, 10, 11, 20, 21}, 3, 2)
	out := make([]float32, 2*2)
	err := gather.GatherInto(gather.NewOutput(out, 2, 2), table, gather.Vector([]int{2, 1}))
	fmt.Println(out, err)
	// Output: [20 21 10 11] <nil>
}

// The example writes rows to a table by id. If several rows have the same id, the last one remains.
func ExampleScatterInto() {
	table := []float32{0, 1, 10, 11, 20, 21}
	rows := gather.NewUpdates([]float32{-1, -2, 7, 8}, 2, 2)
	err := gather.ScatterInto(gather.NewOutput(table, 3, 2), gather.Vector([]int{2, 0}), rows)
	fmt.Println(table, err)
	// Output: [7 8 10 11 -1 -2] <nil>
}

// The example computes the sum of each bucket.
func ExampleScatter() {
	counts := gather.Vector([]int{0, 0, 0})
	buckets := gather.Vector([]uint8{2, 0, 2})
	sums, err := gather.Scatter(counts, buckets, gather.NewUpdates([]int{5, 6, 7}, 3), gather.Reduction(gather.ReductionAdd))
	fmt.Println(sums.Data(), counts.Data(), err)
	// Output: [6 0 12] [0 0 0] <nil>
}

func ExampleScatterND() {
	matrix := gather.New([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	changed, err := gather.ScatterND(matrix, gather.New([]int32{0, 2, 1, 1}, 2, 2), gather.NewUpdates([]float64{-3, -5}, 2))
	fmt.Println(changed.Data(), err)
	// Output: [1 2 -3 4 -5 6] <nil>
}

// The example sets the best element of each row to zero.
func ExampleScatterElements() {
	scores, best := gather.New([]float64{1, 2, 3, 6, 5, 4}, 2, 3), gather.New([]int32{2, 0}, 2, 1)
	rest, err := gather.ScatterElements(scores, best, gather.NewUpdates([]float64{0, 0}, 2, 1), gather.Axis(1))
	fmt.Println(rest.Data(), err)
	// Output: [1 2 0 0 5 4] <nil>
}

// The gather read row 2 twice, so its gradient is a sum.
func ExampleGatherGradient() {
	gradient := gather.New([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	table, err := gather.GatherGradient(gradient, gather.Vector([]int{2, 0, 2}), []int{3, 2})
	fmt.Println(table.Data(), err)
	// Output: [3 4 0 0 6 8] <nil>
}

// Each run scatters any number of rows into one table.
func ExampleScatterPlan() {
	table := make([]float32, 3*2)
	plan, err := gather.NewScatterPlan(gather.Shaped[float32](3, 2), gather.Shaped[int](gather.Open),
		gather.Reduction(gather.ReductionAdd))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer plan.Close()
	err = plan.Run(gather.To(table), []int{2, 2}, gather.From([]float32{1, 2, 3, 4}), 2)
	fmt.Println(table, err)
	// Output: [0 0 0 0 4 6] <nil>
}

func ExampleScatterStrings() {
	words, _ := gather.NewStrings([]string{"red", "green", "blue"}, 3)
	defer words.Close()
	more, _ := gather.NewStrings([]string{"yellow"}, 1)
	defer more.Close()
	values, _, err := gather.ScatterStrings(words, gather.Vector([]int{1}), more.Updates())
	fmt.Println(values, err)
	// Output: [red yellow blue] <nil>
}

func ExampleIndexError() {
	table := gather.Vector([]float32{0, 1, 2, 3})
	_, err := gather.Gather(table, gather.Vector([]int{0, 1, 4}))
	var index *gather.IndexError
	if errors.As(err, &index) {
		fmt.Printf("id %d at %d, of %d\n", index.Value, index.Position, index.Limit)
	}
	fmt.Println(errors.Is(err, gather.ErrIndex))
	fmt.Println(err)
	// Output:
	// id 4 at 2, of 4
	// true
	// gather: indices: component 0 of tuple 2 is 4, valid are [0, 4)
}

// Each run gathers any number of rows from one table.
func ExamplePlan() {
	table := []float32{0, 1, 10, 11, 20, 21}
	plan, err := gather.NewPlan(gather.Shaped[float32](3, 2), gather.Shaped[int](gather.Open))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer plan.Close()
	out := make([]float32, 2*2)
	for _, ids := range [][]int{{2, 0}, {1}} {
		err := plan.Run(gather.To(out), table, ids, len(ids))
		fmt.Println(out[:2*len(ids)], err)
	}
	// Output:
	// [20 21 0 1] <nil>
	// [10 11] <nil>
}

// The example reads a column of records without a copy.
func ExampleStrided() {
	records := []int32{1, 100, 2, 200, 3, 300} // id, weight
	weights := gather.Strided[int32](records, 4, []int{3}, []int{8})
	picked, err := gather.Gather(weights, gather.Vector([]int{2, 0}))
	fmt.Println(picked.Data(), err)
	// Output: [300 100] <nil>
}

func ExampleGatherStrings() {
	words, err := gather.NewStrings([]string{"gather", "scatter", "plan"}, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer words.Close()
	values, shape, err := gather.GatherStrings(words, gather.Vector([]int{2, 0}))
	fmt.Println(values, shape, err)
	// Output: [plan gather] [2] <nil>
}

func ExampleOutputShape() {
	shape, err := gather.OutputShape(gather.Shaped[float32](1000, 64), gather.Shaped[int64](gather.Open))
	fmt.Println(shape, err)
	// Output: [-1 64] <nil>
}

func ExampleContext() {
	context, err := gather.NewContext(gather.ContextOptions{Threads: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer context.Close()
	out, err := gather.Gather(gather.Vector([]int{1, 2}), gather.Vector([]int{1}), gather.In(context))
	fmt.Println(out.Data(), err)
	// Output: [2] <nil>
}

// Three servers store a table of 10 rows. Each server sends the requested rows, and each row is written to the position
// of its id.
func ExamplePartition() {
	servers := [][]float32{{0, 3, 6, 9}, {1, 4, 7}, {2, 5, 8}} // Each row has one element, the number of the row.
	ids := []int64{7, 0, 8, 3}
	parts, err := gather.Partition(gather.Vector(ids), gather.ModuloShards(10, len(servers)))
	rows, first := make([]float32, len(ids)), 0
	for server, count := range parts.Counts {
		local, order := parts.Local[first:first+count], parts.Order[first:first+count]
		sent, _ := gather.Gather(gather.Vector(servers[server]), gather.Vector(local))
		_ = gather.ScatterInto(gather.NewOutput(rows, len(rows)), gather.Vector(order), sent.Updates())
		first += count
	}
	fmt.Println(parts.Counts, parts.Local, parts.Order, rows, err)
	// Output: [2 1 1] [0 1 2 2] [1 3 0 2] [7 0 8 3] <nil>
}

// The table has one row of 32 numbers in the format q8_0 of GGUF: a float16 scale of 0.5, and a code for each number.
func ExampleNewPacked() {
	data := append([]byte{0x00, 0x38, 2, 4}, make([]byte, 30)...)
	table, err := gather.NewPacked[float32]("q8_0", data, []int{1, 32})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer table.Close()
	rows, err := gather.Gather(table.Tensor(), gather.Vector([]int64{0, 0}))
	fmt.Println(rows.Data()[32:35], rows.Shape(), err)
	// Output: [1 2 0] [2 32] <nil>
}

// The scales of these codes of 4 bits are an operand, with one number for each block of 2.
func ExampleScales() {
	scales := gather.New([]float32{0.5, 2}, 1, 2)
	table, err := gather.NewPacked[float32]("int4", []byte{0x21, 0xf3}, []int{1, 4}, gather.BlockValues(2), gather.Scales(scales))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer table.Close()
	rows, err := gather.Gather(table.Tensor(), gather.Vector([]int64{0}))
	fmt.Println(rows.Data(), err)
	// Output: [0.5 1 6 -2] <nil>
}

func ExampleCodecRowBytes() {
	fmt.Println(gather.CodecRowBytes("q4_k", 512))
	// Output: 288 <nil>
}

// The example reads rows of a file that has a header of 8 bytes. Rows that are not in the file are in memory.
func ExampleOpenTable() {
	folder, _ := os.MkdirTemp("", "tables")
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "vectors")
	_ = os.WriteFile(path, []byte("8 bytes:\x00\x01\x0a\x0b\x14\x15"), 0o600)
	table, err := gather.OpenTable[uint8]([]int{4, 2}, []gather.Segment{
		{Path: path, Offset: 8, Rows: 3},
		gather.InMemory([]uint8{30, 31}, 1),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer table.Close()
	rows, err := gather.Gather(table.Tensor(), gather.Vector([]int64{3, 0, 2}))
	fmt.Println(rows.Data(), err)
	// Output: [30 31 0 1 20 21] <nil>
}
