package main

import (
	"context"
	"errors"
	"fmt"

	"libgather/gather"
)

// A table of vectors. Any number of requests may look up at once.
type table struct {
	vectors []float32
	dim     int
	plan    *gather.Plan[float32, int64]
}

func newTable(vectors []float32, dim int) (*table, error) {
	if dim < 1 || len(vectors)%dim != 0 {
		return nil, fmt.Errorf("%d numbers are no vectors of %d", len(vectors), dim)
	}
	plan, err := gather.NewPlan(gather.Shaped[float32](len(vectors)/dim, dim), gather.Shaped[int64](gather.Open))
	if err != nil {
		return nil, err
	}
	return &table{vectors, dim, plan}, nil
}

func (t *table) Close() error { return t.plan.Close() }

// lookup returns the vectors of ids. It looks between portions whether anybody still waits for them.
func (t *table) lookup(ctx context.Context, ids []int64) ([]float32, error) {
	const portion = 1 << 14
	out := make([]float32, len(ids)*t.dim)
	for begin := 0; begin < len(ids); begin += portion {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		end := min(begin+portion, len(ids))
		err := t.plan.Run(gather.To(out[begin*t.dim:end*t.dim]), t.vectors, ids[begin:end], end-begin)
		if err != nil {
			return nil, inRequest(err, begin)
		}
	}
	return out, ctx.Err()
}

// inRequest counts the position of a bad id from the begin of the request.
func inRequest(err error, begin int) error {
	var index *gather.IndexError
	if !errors.As(err, &index) {
		return err
	}
	return &badID{Position: index.Position + int64(begin), Value: index.Value, Limit: index.Limit}
}

// badID is an id that the table does not have.
type badID struct {
	Position, Value, Limit int64
}

func (e *badID) Error() string {
	return fmt.Sprintf("id %d at position %d is not in [0, %d)", e.Value, e.Position, e.Limit)
}
