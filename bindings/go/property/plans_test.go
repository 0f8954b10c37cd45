package property

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"libgather.io/gather"
)

// A plan with a random layout accepts memory of exactly the required size, and rejects memory that is one byte smaller.
// The test computes the required size from all elements.
func TestPlanNeedsExactlyTheBytesOfItsElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := []int{rapid.IntRange(0, 3).Draw(t, "rows"), rapid.IntRange(0, 3).Draw(t, "width")}
		offset := rapid.IntRange(0, 20).Draw(t, "offset")
		strides := []int{rapid.IntRange(-5, 5).Draw(t, "outer"), rapid.IntRange(-5, 5).Draw(t, "inner")}
		var none []int8
		params := gather.Strided[int8](none, offset, shape, strides)
		plan, err := gather.NewPlan(params, gather.Shaped[int](1), gather.Bounds(gather.BoundsFill))
		low, high := visited(shape, offset, strides)
		if err != nil {
			if low >= 0 {
				t.Fatalf("the plan was rejected: %v", err)
			}
			return
		}
		defer plan.Close()
		run := func(size int) error {
			return plan.Run(gather.To(make([]int8, shape[1])), make([]int8, size), []int{0}, gather.Open)
		}
		if err := run(high); err != nil {
			t.Fatalf("%d bytes are too short: %v", high, err)
		}
		if high > 0 && run(high-1) == nil {
			t.Fatalf("%d bytes are enough", high-1)
		}
	})
}

// This is the same test with an open extent of the tuples.
func TestOpenPlanNeedsExactlyTheBytesOfItsElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 4).Draw(t, "n")
		width := rapid.IntRange(1, 3).Draw(t, "width")
		offset := rapid.IntRange(0, 20).Draw(t, "offset")
		strides := []int{rapid.IntRange(-5, 5).Draw(t, "outer"), rapid.IntRange(-5, 5).Draw(t, "inner")}
		var none []int8
		indices := gather.Strided[int8](none, offset, []int{gather.Open, width}, strides)
		plan, err := gather.NewPlan(gather.Shaped[int8](1), indices)
		if err != nil {
			return
		}
		defer plan.Close()
		low, high := visited([]int{n, width}, offset, strides)
		run := func(size int) error {
			return plan.Run(gather.To(make([]int8, n*width)), []int8{1}, make([]int8, size), n)
		}
		if err := run(high); (err != nil) != (low < 0) {
			t.Fatalf("%d bytes: %v", high, err)
		}
		if high > 0 && run(high-1) == nil {
			t.Fatalf("%d bytes are enough", high-1)
		}
	})
}

// visited returns the range of bytes of a view with elements of one byte.
func visited(shape []int, offset int, strides []int) (low, high int) {
	var places []int
	for i := range shape[0] {
		for j := range shape[1] {
			places = append(places, offset+i*strides[0]+j*strides[1])
		}
	}
	if places == nil {
		return 0, 0
	}
	return slices.Min(places), slices.Max(places) + 1
}
