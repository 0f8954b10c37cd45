package gather

// #include "partition.h"
// #cgo noescape gather_go_partition_scratch
// #cgo nocallback gather_go_partition_scratch
// #cgo noescape gather_go_partition
// #cgo nocallback gather_go_partition
import "C"

import "unsafe"

// Shards is the distribution of the rows of a table over shards, for a table that is too large for one process. It is
// made by [BlockShards], [ModuloShards] or [BorderedShards].
type Shards struct {
	numbers C.gather_go_shards
	borders []int
}

// BlockShards assigns rows / count consecutive rows, rounded up, to each shard. The last shards have fewer rows or
// none.
func BlockShards(rows, count int) Shards {
	return newShards(shardsBlocks, rows, count, nil)
}

// ModuloShards assigns row r of the table to shard r % count, where it is row r / count.
func ModuloShards(rows, count int) Shards {
	return newShards(shardsModulo, rows, count, nil)
}

// BorderedShards assigns the rows from borders[s] up to borders[s+1] to shard s. The borders must not decrease. The
// first border is 0, and the last one is the number of rows of the table. The result keeps the slice.
func BorderedShards(borders []int) Shards {
	if len(borders) == 0 {
		return newShards(shardsBorders, 0, 0, nil)
	}
	last := len(borders) - 1
	return newShards(shardsBorders, borders[last], last, borders)
}

func newShards(kind C.int32_t, rows, count int, borders []int) Shards {
	return Shards{C.gather_go_shards{kind: kind, rows: C.int64_t(rows), count: C.int64_t(count)}, borders}
}

func (s *Shards) cBorders() *C.int64_t { return cInts(unsafe.SliceData(s.borders)) }

// Parts is the result of [Partition]: the rows that are requested from each shard.
type Parts struct {
	Counts []int // the number of rows that are requested from each shard
	Local  []int // the row numbers within their shards: those of shard 0 first, in the order of the ids
	Order  []int // for each element of Local, the row-major position of its id
}

// PartsOnce is the result of [PartitionOnce]. It requests each row once.
type PartsOnce struct {
	Counts []int // the number of rows that are requested from each shard
	Local  []int // the row numbers within their shards: those of shard 0 first, in the order of their first ids
	Place  []int // for each id, the position of its row in Local, or -1 if [Bounds] fills or skips the id
}

// Partition assigns each id to the shard that stores its row. The ids may have any shape. They are validated as the
// indices of a [Gather] along a dim of all rows. An invalid id is an [*IndexError] with its position among all ids,
// unless [Bounds] has another policy. Ids that Bounds fills or skips request no row. The result does not depend on the
// number of threads.
//
// Concatenate the rows of all shards in the order of the shards. [ScatterInto] with Order as indices then writes each
// row to the position of its id. Let first be the number of rows of the shards before a shard. An error of this shard
// at its k-th row belongs to the id at Order[first+k].
func Partition[I Index](ids Tensor[I], shards Shards, options ...Option) (Parts, error) {
	counts, local, order, err := partition(&ids.view, &shards, 0, options)
	return Parts{counts, local, order}, err
}

// PartitionOnce partitions ids as [Partition], but requests a row once if several ids select it. A [Gather] from the
// concatenated rows, with Place as indices, then returns the row of each id.
func PartitionOnce[I Index](ids Tensor[I], shards Shards, options ...Option) (PartsOnce, error) {
	counts, local, place, err := partition(&ids.view, &shards, partsOnce, options)
	return PartsOnce{counts, local, place}, err
}

// partition returns the parts. linked is the order, or with partsOnce the places.
func partition(ids *view, shards *Shards, flags C.uint32_t, options []Option) (counts, local, linked []int, err error) {
	switch {
	case errABI != nil:
		return nil, nil, nil, errABI
	case ids.has(C.GATHER_GO_INVALID):
		return nil, nil, nil, ids.mismatch(OperandIndices)
	}
	if err := ids.begin(OperandIndices); err != nil {
		return nil, nil, nil, err
	}
	defer ids.end()
	var scratchBytes C.int64_t
	failure := C.gather_go_partition_scratch(&ids.numbers, ids.cData(), ids.cShape(), ids.cStrides(), &shards.numbers,
		shards.cBorders(), flags, &scratchBytes)
	if failure != nil {
		return nil, nil, nil, takeError(failure)
	}
	n := 1
	for _, extent := range ids.shape() {
		n *= extent // The library has checked the product.
	}
	memory, err := newNumbers(int(shards.numbers.count), n, n, int(scratchBytes)/8)
	if err != nil {
		return nil, nil, nil, err
	}
	counts, local, linked = memory[0], memory[1], memory[2]
	if err := callPartition(ids, shards, flags, options, memory); err != nil {
		return nil, nil, nil, err
	}
	requested := 0
	for _, count := range counts {
		requested += count
	}
	if flags&partsOnce == 0 {
		linked = linked[:requested]
	}
	return counts, local[:requested], linked, nil
}

// callPartition calls C. memory holds counts, local, linked and scratch.
func callPartition(ids *view, shards *Shards, flags C.uint32_t, options []Option, memory [][]int) error {
	var s settings
	s.applyAll(options)
	context, err := s.context.begin()
	if err != nil {
		return err
	}
	defer s.context.end()
	first := func(i int) *C.int64_t { return cInts(unsafe.SliceData(memory[i])) }
	return takeError(C.gather_go_partition(context,
		&ids.numbers, ids.cData(), ids.cShape(), ids.cStrides(), &shards.numbers, shards.cBorders(), s.cOptions(),
		flags, C.int64_t(len(memory[1])), first(0), first(1), first(2), first(3), C.int64_t(8*len(memory[3]))))
}

// newNumbers returns a slice of each length. It fails if memory for one of them cannot be allocated.
func newNumbers(lengths ...int) ([][]int, error) {
	made := make([][]int, len(lengths))
	for i, length := range lengths {
		bytes, ok := byteCount(8, []int{length})
		if !ok || !allocatable(bytes) {
			return nil, fail(ErrNoMemory, OperandIndices, bytes, 0, "cannot allocate memory for the numbers of their rows")
		}
		made[i] = make([]int, length)
	}
	return made, nil
}
