//go:build cgo

package gather

// #include "shim.h"
import "C"

import (
	"cmp"
	"context"
	"fmt"
)

// GatherRows returns the rows of a table of rows of width elements. It is [Gather] of a dense table with two dims, for
// ids with one dim. Rows are selected along axis 0, which may also be written as -2. Another [Axis] returns ErrAxis, and
// [BatchDims] return an error.
func GatherRows[T Element, I Index](table []T, width int, ids []I, options ...Option) ([]T, error) {
	return gatherRows(context.Background(), table, width, ids, max(len(ids), 1), options)
}

// GatherRowsContext is [GatherRows], and returns the error of ctx soon after ctx has been cancelled. A large call is
// divided into pieces of some milliseconds, and cancellation takes effect between two pieces. A call in C cannot be
// interrupted.
func GatherRowsContext[T Element, I Index](ctx context.Context, table []T, width int, ids []I,
	options ...Option) ([]T, error) {
	const pieceBytes = 16 << 20
	bytes, ok := byteCount(elementSize(DTypeOf[T]()), []int{width})
	if !ok || bytes == 0 {
		bytes = 1
	}
	return gatherRows(ctx, table, width, ids, max(pieceBytes/bytes, 1), options)
}

// gatherRows gathers the ids in pieces, each of at most piece ids.
func gatherRows[T Element, I Index](ctx context.Context, table []T, width int, ids []I, piece int,
	options []Option) ([]T, error) {
	if width <= 0 || len(table)%width != 0 {
		return nil, fail(ErrShape, OperandParams, len(table), width,
			fmt.Sprintf("%d elements are no rows of %d", len(table), width))
	}
	if err := checkAxis(options); err != nil {
		return nil, err
	}
	shape := []int{len(ids), width}
	if _, ok := byteCount(elementSize(DTypeOf[T]()), shape); !ok {
		return nil, fail(ErrSize, OperandOut, len(ids), width, "the size of the rows exceeds an int64")
	}
	rows, err := newTensor[T](shape, OperandOut)
	if err != nil {
		return nil, err
	}
	params, out := New(table, len(table)/width, width), rows.Data()
	for first := 0; first == 0 || first < len(ids); first += piece {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		end := min(first+piece, len(ids))
		to := NewOutput(out[first*width:end*width], end-first, width)
		if err := GatherInto(to, params, Vector(ids[first:end]), options...); err != nil {
			if first > 0 { // The position in the error must be that among all ids.
				err = cmp.Or(GatherInto(NewOutput(out, shape...), params, Vector(ids), options...), err)
			}
			return nil, err
		}
	}
	return out, nil
}

// checkAxis returns an error for an axis other than that of rows. Such a gather could have a result of the same shape.
func checkAxis(options []Option) error {
	var s settings
	s.applyAll(options)
	axis := int(s.options.axis)
	if s.options.has_axis == 0 || axis == 0 || axis == -2 {
		return nil
	}
	return fail(ErrAxis, OperandOptions, axis, 0, fmt.Sprintf("rows have the axis 0, not %d", axis))
}
