package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"libgather.io/gather"
)

// A table holds vectors. Any number of requests may use it at the same time.
type table struct {
	vectors []float32
	dim     int
	plan    *gather.Plan[float32, int64]
}

func newTable(vectors []float32, dim int) (*table, error) {
	if dim < 1 || len(vectors)%dim != 0 {
		return nil, fmt.Errorf("%d numbers are not a multiple of the dim %d", len(vectors), dim)
	}
	plan, err := gather.NewPlan(gather.Shaped[float32](len(vectors)/dim, dim), gather.Shaped[int64](gather.Open))
	if err != nil {
		return nil, err
	}
	return &table{vectors, dim, plan}, nil
}

func (t *table) Close() error { return t.plan.Close() }

// lookup returns the vectors of ids. It processes ids in portions, and stops between them if ctx is done.
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

// tables holds the current table, which may be replaced while requests use it.
type tables struct {
	mutex   sync.RWMutex
	current *table
}

// lookup returns the vectors of ids, and their dim.
func (t *tables) lookup(ctx context.Context, ids []int64) ([]float32, int, error) {
	t.mutex.RLock()
	defer t.mutex.RUnlock()
	vectors, err := t.current.lookup(ctx, ids)
	return vectors, t.current.dim, err
}

// replace closes the current table after its lookups have ended.
func (t *tables) replace(table *table) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.current.Close()
	t.current = table
}

func (t *tables) Close() error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.current.Close()
}

// inRequest converts the position of an invalid id from its portion to the whole request.
func inRequest(err error, begin int) error {
	var index *gather.IndexError
	if !errors.As(err, &index) {
		return err
	}
	return &badID{Position: index.Position + int64(begin), Value: index.Value, Limit: index.Limit}
}

// badID is the error of an id that is not in the table.
type badID struct {
	Position, Value, Limit int64
}

func (e *badID) Error() string {
	return fmt.Sprintf("id %d at position %d is not in [0, %d)", e.Value, e.Position, e.Limit)
}
