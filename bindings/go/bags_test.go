package gather_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"libgather/gather"
)

var (
	bagTable = []float64{1, 2, 3, -4, 5, 0.5, 7, -8}
	bagIDs   = []int32{3, 0, 0, 2, 1}
	ofID     = []int{0, 0, 2, 2, 2} // the bag of each id. Bag 1 is empty.
)

const bagCount = 3

// poolOf is a loop over the ids of each bag of bagTable.
func poolOf(pool gather.PoolPolicy, weights []float64, padding int32) []float64 {
	out := make([]float64, bagCount*2)
	var divisors [bagCount]float64
	var read [bagCount]bool
	for i, id := range bagIDs {
		if id == padding {
			continue
		}
		weight, bag := 1.0, ofID[i]
		if weights != nil {
			weight = weights[i]
		}
		for j := range 2 {
			value, sum := bagTable[int(id)*2+j], &out[bag*2+j]
			switch {
			case pool != gather.PoolMax:
				*sum += weight * value
			case !read[bag]:
				*sum = value
			default:
				*sum = math.Max(*sum, value)
			}
		}
		divisors[bag], read[bag] = divisors[bag]+weight, true
	}
	for i := range out {
		if pool == gather.PoolMean && read[i/2] {
			out[i] /= divisors[i/2]
		}
	}
	return out
}

func bagTensors() (gather.Tensor[float64], gather.Tensor[int32]) {
	return gather.New(bagTable, 4, 2), gather.Vector(bagIDs)
}

func bagFormats() map[string]gather.Bags {
	return map[string]gather.Bags{
		"offsets":  gather.BagOffsets(gather.Vector([]uint8{0, 2, 2, 5})),
		"starts":   gather.BagStarts(gather.Vector([]int64{0, 2, 2})),
		"lengths":  gather.BagLengths(gather.Vector([]int{2, 0, 3})),
		"segments": gather.BagSegments(gather.Vector(ofID), bagCount),
	}
}

func TestBagsOfEveryFormatEqualALoop(t *testing.T) {
	params, ids := bagTensors()
	weights := []float64{0.5, -2, 1, 4, 0.25}
	for name, bags := range bagFormats() {
		for _, pool := range []gather.PoolPolicy{gather.PoolSum, gather.PoolMean, gather.PoolMax} {
			out, err := gather.GatherBags(params, ids, bags, gather.Pool(pool))
			check(t, err)
			expect(t, name, out.Shape(), []int{bagCount, 2})
			expect(t, name, out.Data(), poolOf(pool, nil, -1))
			out, err = gather.GatherBags(params, ids, bags, gather.Pool(pool), gather.PaddingIndex(0))
			check(t, err)
			expect(t, name+" with padding", out.Data(), poolOf(pool, nil, 0))
			if pool == gather.PoolMax {
				continue
			}
			out, err = gather.GatherBags(params, ids, gather.Weighted(bags, gather.Vector(weights)), gather.Pool(pool))
			check(t, err)
			expect(t, name+" with weights", out.Data(), poolOf(pool, weights, -1))
		}
	}
}

func TestTheZeroBagsAreTheRowsOfIndices(t *testing.T) {
	params, _ := bagTensors()
	var bags gather.Bags
	out, err := gather.GatherBags(params, gather.New([]uint16{0, 1, 3, 3}, 2, 2), bags)
	check(t, err)
	expect(t, "sums", out.Data(), []float64{4, -2, 14, -16})
}

func TestGatherBagsIntoWritesAnOutputWithoutAnAllocation(t *testing.T) {
	params, ids := bagTensors()
	out := make([]float64, bagCount*2)
	lengths := gather.BagLengths(gather.Vector([]int{2, 0, 3}))
	count := testing.AllocsPerRun(10, func() {
		if err := gather.GatherBagsInto(gather.NewOutput(out, bagCount, 2), params, ids, lengths); err != nil {
			panic(err)
		}
	})
	expect(t, "sums", out, poolOf(gather.PoolSum, nil, -1))
	if count != 0 {
		t.Errorf("%v allocations", count)
	}
}

func TestWrongBagsReturnErrOffsets(t *testing.T) {
	params, ids := bagTensors()
	for name, test := range map[string]struct {
		bags                   gather.Bags
		position, value, limit int64
	}{
		"beyond":     {gather.BagOffsets(gather.Vector([]int{0, 2, 6})), 2, 6, 5},
		"decreasing": {gather.BagOffsets(gather.Vector([]int{0, 4, 3, 5})), 2, 3, 4},
		"sum":        {gather.BagLengths(gather.Vector([]int{2, 2})), 2, 4, 5},
		"segment":    {gather.BagSegments(gather.Vector(ofID), 2), 2, 2, 2},
	} {
		_, err := gather.GatherBags(params, ids, test.bags)
		found := expectError(t, err, gather.ErrOffsets, gather.OperandBags)
		if found.Position != test.position || found.Value != test.value || found.Limit != test.limit {
			t.Errorf("%s: %+v", name, *found)
		}
	}
}

func TestAnEmptyBagCanBeAnErrorOrFilled(t *testing.T) {
	params, ids := bagTensors()
	bags, out := gather.BagLengths(gather.Vector([]int{2, 0, 3})), slices.Repeat([]float64{-1}, bagCount*2)
	err := gather.GatherBagsInto(gather.NewOutput(out, bagCount, 2), params, ids, bags, gather.Empty(gather.EmptyError))
	if found := expectError(t, err, gather.ErrOffsets, gather.OperandBags); found.Position != 1 || found.Limit != 1 {
		t.Errorf("%+v", *found)
	}
	expect(t, "out is unchanged", out, slices.Repeat([]float64{-1}, bagCount*2))
	filled, err := gather.GatherBags(params, ids, bags, gather.Empty(gather.EmptyFill), gather.FillWith(9.5))
	check(t, err)
	expect(t, "filled", filled.Data()[2:4], []float64{9.5, 9.5})
}

// The example computes the mean of the word vectors of each sentence.
func ExampleGatherBags() {
	vectors := gather.New([]float32{0, 1, 10, 11, 20, 21, 30, 31}, 4, 2)
	words := gather.Vector([]int32{3, 1, 0, 0, 2})
	sentences := gather.BagOffsets(gather.Vector([]int64{0, 2, 5}))
	means, err := gather.GatherBags(vectors, words, sentences, gather.Pool(gather.PoolMean))
	fmt.Println(means.Data(), means.Shape(), err)
	// Output: [20 21 6.6666665 7.6666665] [2 2] <nil>
}
