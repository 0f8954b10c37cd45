package gather_test

import (
	"context"
	"errors"
	"testing"

	"libgather.io/gather"
)

func TestGatherRows(t *testing.T) {
	rows, err := gather.GatherRows(table, 2, []int32{3, 0})
	check(t, err)
	expect(t, "rows", rows, []float32{30, 31, 0, 1})
	rows, err = gather.GatherRows(table, 2, []uint8{9}, gather.Bounds(gather.BoundsFill), gather.FillWith(float32(5)))
	check(t, err)
	expect(t, "filled", rows, []float32{5, 5})
	rows, err = gather.GatherRows(table, 2, []int{})
	check(t, err)
	expect(t, "no rows", rows, []float32{})
	_, err = gather.GatherRows(table, 2, []int{0, 4})
	if found := expectError(t, err, gather.ErrIndex, gather.OperandIndices); found.Position != 1 {
		t.Errorf("%+v", *found)
	}
	for _, width := range []int{0, -1, 3} {
		_, err = gather.GatherRows(table, width, []int{0})
		expectError(t, err, gather.ErrShape, gather.OperandParams)
	}
	_, err = gather.GatherRows(table, 2, []int{0}, gather.BatchDims(1))
	expectError(t, err, gather.ErrBatch, gather.OperandIndices)
}

// A gather of two columns of a square table has the shape of two rows.
func TestGatherRowsSelectsRowsOnly(t *testing.T) {
	square := []int32{10, 11, 20, 21}
	for _, axis := range []int{0, -2} {
		rows, err := gather.GatherRows(square, 2, []uint8{1, 0}, gather.Axis(1), gather.Axis(axis))
		check(t, err)
		expect(t, "rows", rows, []int32{20, 21, 10, 11})
	}
	for _, axis := range []int{1, -1, 2, -3} {
		_, err := gather.GatherRows(square, 2, []uint8{1, 0}, gather.Axis(axis))
		if found := expectError(t, err, gather.ErrAxis, gather.OperandOptions); found.Value != int64(axis) {
			t.Errorf("%+v", *found)
		}
	}
}

// Four pieces of 16 MiB.
func TestGatherRowsContextGathersPieces(t *testing.T) {
	const width, count = 1 << 20, 64
	wide := make([]uint8, 4*width)
	for i := range wide {
		wide[i] = uint8(i/width + 1)
	}
	ids := make([]int, count)
	for i := range ids {
		ids[i] = i * 7 % 4
	}
	rows, err := gather.GatherRowsContext(context.Background(), wide, width, ids)
	check(t, err)
	for i, id := range ids {
		if rows[i*width] != uint8(id+1) || rows[(i+1)*width-1] != uint8(id+1) {
			t.Fatalf("row %d", i)
		}
	}
	ids[50] = 4
	_, err = gather.GatherRowsContext(context.Background(), wide, width, ids)
	found := expectError(t, err, gather.ErrIndex, gather.OperandIndices)
	if found.Position != 50 || found.Message != "indices: component 0 of tuple 50 is 4, valid are [0, 4)" {
		t.Errorf("%+v", *found)
	}
}

// cancelsAfter is a context that is cancelled after some calls of Err.
type cancelsAfter struct {
	context.Context
	left int
}

func (c *cancelsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestGatherRowsContextStopsBetweenPieces(t *testing.T) {
	wide, ids := make([]uint8, 16<<20), make([]int, 4) // Each id is one piece.
	ctx := &cancelsAfter{context.Background(), 2}
	rows, err := gather.GatherRowsContext(ctx, wide, len(wide), ids)
	if rows != nil || !errors.Is(err, context.Canceled) || ctx.left != -1 {
		t.Errorf("%v, %v, %d", len(rows), err, ctx.left)
	}
	ctx = &cancelsAfter{context.Background(), 4}
	if _, err = gather.GatherRowsContext(ctx, wide, len(wide), ids); err != nil {
		t.Error(err)
	}
}
