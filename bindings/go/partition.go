package gather

// #include "partition.h"
// #cgo noescape gather_go_partition_scratch
// #cgo nocallback gather_go_partition_scratch
// #cgo noescape gather_go_partition
// #cgo nocallback gather_go_partition
import "C"

import "unsafe"

// Shards say how the rows of a table are dealt out that is too large for one process: [BlockShards], [ModuloShards],
// [BorderedShards].
type Shards struct {
	numbers C.gather_go_shards
	borders []int
}

// BlockShards have as many rows in a row each, rows / count rounded up, the last ones fewer or none.
func BlockShards(rows, count int) Shards {
	return newShards(shardsBlocks, rows, count, nil)
}

// ModuloShards have the rows in turn: row r is row r / count of shard r % count.
func ModuloShards(rows, count int) Shards {
	return newShards(shardsModulo, rows, count, nil)
}

// BorderedShards have rows between borders: shard s those from borders[s] up to borders[s+1]. The borders never fall; the
// first is 0, the last how many rows the table has. The slice is kept.
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

// Parts are what each shard is asked for, the shards one behind the other.
type Parts struct {
	Counts []int // how many rows each shard is asked for
	Local  []int // the rows, as the shards count them: those of shard 0 first, in the order of the ids
	Order  []int // which id each of them is, by its row-major position
}

// PartsOnce are [Parts] in which no row comes twice.
type PartsOnce struct {
	Counts []int // how many rows each shard is asked for
	Local  []int // the rows, as the shards count them: those of shard 0 first, in the order in which ids name them
	Place  []int // for each id which of Local is its row, or -1 if [Bounds] leaves it out
}

// Partition deals out ids to the shards that have their rows. The ids, of any shape, are judged as [Gather] judges its
// indices along a dim of all the rows: one that is bad is an [*IndexError] with its position among all the ids, whichever
// shard it would be in, unless [Bounds] says otherwise. What Bounds fills or skips is asked of no shard. The answer is the
// same for any number of threads.
//
// The rows that the shards send, put together in their order, come back by [ScatterInto] along Order. An error of a shard at
// its k-th row is one of the id at Order[first+k], where first counts the rows of the shards before it.
func Partition[I Index](ids Tensor[I], shards Shards, options ...Option) (Parts, error) {
	counts, local, order, err := partition(&ids.view, &shards, 0, options)
	return Parts{counts, local, order}, err
}

// PartitionOnce is [Partition] that asks once for a row that several ids name. The rows that the shards send come back by
// [Gather] with the Place of each id as indices.
func PartitionOnce[I Index](ids Tensor[I], shards Shards, options ...Option) (PartsOnce, error) {
	counts, local, place, err := partition(&ids.view, &shards, partsOnce, options)
	return PartsOnce{counts, local, place}, err
}

// partition returns as linked the order, or the places with partsOnce.
func partition(ids *view, shards *Shards, flags C.uint32_t, options []Option) (counts, local, linked []int, err error) {
	switch {
	case errABI != nil:
		return nil, nil, nil, errABI
	case ids.has(C.GATHER_GO_ODD):
		return nil, nil, nil, ids.odd(OperandIndices)
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
		n *= extent // C has judged the product
	}
	memory, err := newNumbers(int(shards.numbers.count), n, n, int(scratchBytes)/8)
	if err != nil {
		return nil, nil, nil, err
	}
	counts, local, linked = memory[0], memory[1], memory[2]
	if err := deal(ids, shards, flags, options, memory); err != nil {
		return nil, nil, nil, err
	}
	asked := 0
	for _, count := range counts {
		asked += count
	}
	if flags&partsOnce == 0 {
		linked = linked[:asked]
	}
	return counts, local[:asked], linked, nil
}

// deal is the call into C. memory: counts, local, linked, scratch.
func deal(ids *view, shards *Shards, flags C.uint32_t, options []Option, memory [][]int) error {
	var s settings
	s.settle(options)
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

// newNumbers is a slice of each length, if there is memory for all of them.
func newNumbers(lengths ...int) ([][]int, error) {
	made := make([][]int, len(lengths))
	for i, length := range lengths {
		bytes, ok := byteCount(8, []int{length})
		if !ok || !allocatable(bytes) {
			return nil, fail(ErrNoMemory, OperandIndices, bytes, 0, "no memory to deal them out")
		}
		made[i] = make([]int, length)
	}
	return made, nil
}
