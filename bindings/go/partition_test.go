package gather_test

import (
	"errors"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"libgather.io/gather"
)

// A distribution has shards, and a simple function that finds the shard of a row and its number there.
type distribution struct {
	name   string
	shards gather.Shards
	count  int
	find   func(row int) (shard, local int)
}

func distributions(random *rand.Rand, rows, count int) []distribution {
	borders := make([]int, count+1)
	for i := range borders {
		borders[i] = random.Intn(rows + 1)
	}
	slices.Sort(borders)
	borders[0], borders[count] = 0, rows
	block := (rows + count - 1) / count
	return []distribution{
		{"blocks", gather.BlockShards(rows, count), count, func(row int) (int, int) { return row / block, row % block }},
		{"modulo", gather.ModuloShards(rows, count), count, func(row int) (int, int) { return row % count, row / count }},
		{"borders", gather.BorderedShards(borders), count, func(row int) (int, int) {
			shard := 0
			for row >= borders[shard+1] {
				shard++
			}
			return shard, row - borders[shard]
		}},
	}
}

// expectParts compares parts with the result of d.find for each row. rows has the row of each id, or -1 if it has none.
func (d distribution) expectParts(t *testing.T, rows []int, parts gather.Parts) {
	t.Helper()
	local, order, counts := [][]int{}, [][]int{}, []int{}
	for range d.count {
		local, order = append(local, nil), append(order, nil)
	}
	for i, row := range rows {
		if row >= 0 {
			shard, at := d.find(row)
			local[shard], order[shard] = append(local[shard], at), append(order[shard], i)
		}
	}
	for _, rows := range local {
		counts = append(counts, len(rows))
	}
	expect(t, "counts", parts.Counts, counts)
	expect(t, "local", parts.Local, slices.Concat(local...))
	expect(t, "order", parts.Order, slices.Concat(order...))
}

func (d distribution) expectOnce(t *testing.T, rows []int, parts gather.PartsOnce) {
	t.Helper()
	local, counts, place := [][]int{}, []int{}, []int{}
	for range d.count {
		local = append(local, nil)
	}
	for _, row := range rows {
		if row < 0 {
			continue
		}
		if shard, at := d.find(row); !slices.Contains(local[shard], at) {
			local[shard] = append(local[shard], at)
		}
	}
	for _, rows := range local {
		counts = append(counts, len(rows))
	}
	for _, row := range rows {
		if row < 0 {
			place = append(place, -1)
			continue
		}
		shard, at := d.find(row)
		place = append(place, len(slices.Concat(local[:shard]...))+slices.Index(local[shard], at))
	}
	expect(t, "counts", parts.Counts, counts)
	expect(t, "local", parts.Local, slices.Concat(local...))
	expect(t, "place", parts.Place, place)
}

func TestPartitionMatchesTheDefinition(t *testing.T) {
	random := rand.New(rand.NewSource(3))
	context := newContext(t, 2)
	for _, rows := range []int{1, 7, 1000, 1 << 60} {
		for _, count := range []int{1, 2, 5, 40} {
			for _, distribution := range distributions(random, rows, count) {
				for _, n := range []int{0, 1, 30, 1000} {
					ids, named := make([]int64, n), make([]int, n)
					for i := range ids {
						named[i] = random.Intn(min(rows, 60)) * max(1, rows/60)
						ids[i] = int64(named[i])
						switch random.Intn(6) {
						case 0:
							ids[i] -= int64(rows)
						case 1:
							ids[i], named[i] = int64(rows+random.Intn(3)), -1
						}
					}
					for _, bounds := range []gather.BoundsPolicy{gather.BoundsSkip, gather.BoundsFill} {
						options := []gather.Option{gather.Negative(gather.NegativeWrap), gather.Bounds(bounds),
							gather.In(context)}
						parts, err := gather.Partition(gather.Vector(ids), distribution.shards, options...)
						check(t, err)
						distribution.expectParts(t, named, parts)
						once, err := gather.PartitionOnce(gather.Vector(ids), distribution.shards, options...)
						check(t, err)
						distribution.expectOnce(t, named, once)
					}
					if t.Failed() {
						t.Fatalf("%s, %d rows, %d shards, %d ids", distribution.name, rows, count, n)
					}
				}
			}
		}
	}
}

// A gather from shards has the result of a gather from the whole table.
func TestRowsOfShardsEqualRowsOfTheTable(t *testing.T) {
	const rows, count = 10, 3
	ids := []uint16{7, 0, 7, 9, 3, 3, 3, 8}
	vectors := make([]float64, 2*rows)
	for i := range vectors {
		vectors[i] = float64(i)
	}
	whole, err := gather.Gather(gather.New(vectors, rows, 2), gather.Vector(ids))
	check(t, err)
	sent := func(counts, local []int) (received []float64) {
		for shard, first := 0, 0; shard < count; shard++ { // Shard s has the rows r with r % count == s.
			for _, at := range local[first : first+counts[shard]] {
				row := at*count + shard
				received = append(received, vectors[2*row:2*row+2]...)
			}
			first += counts[shard]
		}
		return received
	}
	parts, err := gather.Partition(gather.Vector(ids), gather.ModuloShards(rows, count))
	check(t, err)
	back := make([]float64, len(whole.Data()))
	check(t, gather.ScatterInto(gather.NewOutput(back, len(ids), 2), gather.Vector(parts.Order),
		gather.NewUpdates(sent(parts.Counts, parts.Local), len(ids), 2)))
	expect(t, "by order", back, whole.Data())

	once, err := gather.PartitionOnce(gather.Vector(ids), gather.ModuloShards(rows, count))
	check(t, err)
	expect(t, "number of requested rows", []int{len(once.Local)}, []int{5})
	received := sent(once.Counts, once.Local)
	placed, err := gather.Gather(gather.New(received, len(once.Local), 2), gather.Vector(once.Place))
	check(t, err)
	expect(t, "by place", placed.Data(), whole.Data())
}

func TestPartitionOfStridedIds(t *testing.T) {
	memory := []uint8{1, 99, 2, 99, 5, 99, 0, 99}
	ids := gather.Strided[uint8](memory, 6, []int{2, 2}, []int{-4, -2}) // The ids are 0, 5, 2 and 1.
	parts, err := gather.Partition(ids, gather.BlockShards(6, 2))
	check(t, err)
	expect(t, "counts", parts.Counts, []int{3, 1})
	expect(t, "local", parts.Local, []int{0, 2, 1, 2})
	expect(t, "order", parts.Order, []int{0, 2, 3, 1})
	parts, err = gather.Partition(gather.New([]int8{4}), gather.BlockShards(6, 2))
	check(t, err)
	expect(t, "of rank 0", parts.Local, []int{1})
}

// The error has the position of the first invalid id among all ids.
func TestPartitionReportsPositionOfInvalidId(t *testing.T) {
	for _, bad := range []int64{100, -1, math.MinInt64} {
		ids := make([]int64, 500)
		for i := range ids {
			ids[i] = int64(i * 7 % 100)
		}
		ids[321], ids[400] = bad, 1000
		_, err := gather.Partition(gather.Vector(ids), gather.ModuloShards(100, 4))
		_, errOnce := gather.PartitionOnce(gather.Vector(ids), gather.ModuloShards(100, 4))
		for _, err := range []error{err, errOnce} {
			var found *gather.IndexError
			if !errors.As(err, &found) {
				t.Fatal(err)
			}
			if found.Position != 321 || found.Value != bad || found.Limit != 100 || found.Operand != gather.OperandIndices ||
				!strings.Contains(err.Error(), "321") {
				t.Errorf("%+v", *found)
			}
		}
	}
}

func TestPartitionRejectsInvalidArguments(t *testing.T) {
	ids := gather.Vector([]int{0, 1})
	closed, err := gather.NewContext(gather.ContextOptions{})
	check(t, err)
	check(t, closed.Close())
	for _, wrong := range []struct {
		name    string
		ids     gather.Tensor[int]
		shards  gather.Shards
		options []gather.Option
		status  gather.Status
		operand gather.Operand
	}{
		{"zero value", ids, gather.Shards{}, nil, gather.ErrShape, gather.OperandNone},
		{"no shards", ids, gather.BlockShards(2, 0), nil, gather.ErrShape, gather.OperandNone},
		{"a negative count", ids, gather.ModuloShards(2, -1), nil, gather.ErrShape, gather.OperandNone},
		{"negative rows", ids, gather.BlockShards(-2, 2), nil, gather.ErrShape, gather.OperandNone},
		{"no borders", ids, gather.BorderedShards(nil), nil, gather.ErrShape, gather.OperandNone},
		{"one border", ids, gather.BorderedShards([]int{2}), nil, gather.ErrShape, gather.OperandNone},
		{"borders from 1", ids, gather.BorderedShards([]int{1, 2}), nil, gather.ErrShape, gather.OperandNone},
		{"decreasing borders", ids, gather.BorderedShards([]int{0, 3, 2}), nil, gather.ErrShape, gather.OperandNone},
		{"too many shards", ids, gather.BlockShards(2, 1<<50), nil, gather.ErrNoMemory, gather.OperandIndices},
		{"shards beyond int", ids, gather.BlockShards(2, math.MaxInt), nil, gather.ErrSize, gather.OperandNone},
		{"too many ids", gather.Strided[int]([]int{0}, 0, []int{1 << 50}, []int{0}), gather.BlockShards(2, 2), nil,
			gather.ErrNoMemory, gather.OperandIndices},
		{"ids beyond int", gather.Strided[int]([]int{0}, 0, []int{math.MaxInt, 2}, []int{0, 0}), gather.BlockShards(2, 2),
			nil, gather.ErrSize, gather.OperandIndices},
		{"no shape", gather.New([]int{0, 1}), gather.BlockShards(2, 2), nil, gather.ErrShape, gather.OperandIndices},
		{"a short slice", gather.New([]int{0, 1}, 3), gather.BlockShards(2, 2), nil, gather.ErrStride,
			gather.OperandIndices},
		{"no rows", ids, gather.BlockShards(0, 2), nil, gather.ErrIndex, gather.OperandIndices},
		{"an axis", ids, gather.BlockShards(2, 2), []gather.Option{gather.Axis(1)}, gather.ErrAxis,
			gather.OperandOptions},
		{"a closed context", ids, gather.BlockShards(2, 2), []gather.Option{gather.In(closed)}, gather.ErrHandle,
			gather.OperandContext},
	} {
		t.Run(wrong.name, func(t *testing.T) {
			parts, err := gather.Partition(wrong.ids, wrong.shards, wrong.options...)
			expectError(t, err, wrong.status, wrong.operand)
			if parts.Counts != nil || parts.Local != nil || parts.Order != nil {
				t.Errorf("got %v", parts)
			}
			_, err = gather.PartitionOnce(wrong.ids, wrong.shards, wrong.options...)
			expectError(t, err, wrong.status, wrong.operand)
		})
	}
	_, err = gather.Partition(ids, gather.BorderedShards([]int{0, 3, 2}))
	if found := expectError(t, err, gather.ErrShape, gather.OperandNone); found.Position != 1 || found.Value != 3 {
		t.Errorf("%+v", *found)
	}
}
