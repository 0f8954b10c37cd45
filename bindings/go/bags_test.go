package gather_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"libgather.io/gather"
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

func TestBagsIntoExistingMemoryAllocateNothing(t *testing.T) {
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

// gradientOf adds the gradient of each bag to the rows of its ids with loops. The last values are those of the weights.
func TestBagsOfHalvesInFloat32(t *testing.T) {
	halves := gather.New([]gather.BFloat16{0x3f80, 0x3b80}, 2, 1) // 1 and 2^-8, whose sum is not a bfloat16
	ids := gather.New([]int32{0, 1}, 1, 2)
	sum, err := gather.GatherBagsFloat32(halves, ids, gather.Bags{})
	check(t, err)
	expect(t, "sum", sum.Data(), []float32{1 + 1.0/256})
	out := make([]float32, 1)
	check(t, gather.GatherBagsFloat32Into(gather.NewOutput(out, 1, 1), halves, ids, gather.Bags{}))
	expect(t, "into", out, sum.Data())
	_, err = gather.GatherBagsFloat32(gather.New([]float64{1}, 1, 1), ids, gather.Bags{})
	if !errors.Is(err, gather.ErrDType) {
		t.Errorf("float64: %v", err)
	}
}

func gradientOf(given, weights []float64, padding int32) (sums, ofWeights []float64) {
	sums, ofWeights = make([]float64, len(bagTable)), make([]float64, len(bagIDs))
	for i, id := range bagIDs {
		if id == padding {
			continue
		}
		for j := range 2 {
			value := given[ofID[i]*2+j]
			sums[int(id)*2+j] += weights[i] * value
			ofWeights[i] += bagTable[int(id)*2+j] * value
		}
	}
	return sums, ofWeights
}

func TestGradientsOfBagsEqualLoops(t *testing.T) {
	params, ids := bagTensors()
	given, weights := []float64{1, 2, 4, 8, -16, 0.5}, []float64{0.5, -2, 1, 4, 0.25}
	gradient := gather.New(given, bagCount, 2)
	for name, bags := range bagFormats() {
		bags = gather.Weighted(bags, gather.Vector(weights))
		sums, ofWeights := gradientOf(given, weights, 2)
		out, err := gather.GatherBagsGradient(gradient, params, ids, bags, gather.PaddingIndex(2))
		check(t, err)
		expect(t, name, out.Shape(), []int{4, 2})
		expect(t, name, out.Data(), sums)
		into := make([]float64, len(sums))
		check(t, gather.GatherBagsGradientInto(gather.NewOutput(into, 4, 2), gradient, params, ids, bags,
			gather.PaddingIndex(2)))
		expect(t, name, into, sums)
		unique, rows := make([]int64, 4), make([]float64, 8)
		count, err := gather.GatherBagsSparseGradientInto(gather.NewOutput(unique, 4), gather.NewOutput(rows, 4, 2),
			gradient, params, ids, bags, gather.PaddingIndex(2))
		check(t, err)
		expect(t, name, unique[:count], []int64{0, 1, 3})
		expect(t, name, rows[:2*count], slices.Concat(sums[:4], sums[6:]))
		made, err := gather.GatherBagsWeightGradient[float64](gradient, params, ids, bags, gather.PaddingIndex(2))
		check(t, err)
		expect(t, name, made.Data(), ofWeights)
		check(t, gather.GatherBagsWeightGradientInto(gather.NewOutput(into[:5], 5), gradient, params, ids, bags))
		_, ofWeights = gradientOf(given, weights, -1)
		expect(t, name, into[:5], ofWeights)
	}
}

// positionsOf is a loop over the ids of each bag of bagTable.
func positionsOf(pool gather.PoolPolicy, padding int32) []int64 {
	out := slices.Repeat([]int64{-1}, bagCount*2)
	for i, id := range bagIDs {
		for j := range 2 {
			best := &out[ofID[i]*2+j]
			difference := 0.0
			if *best >= 0 {
				difference = bagTable[int(id)*2+j] - bagTable[int(bagIDs[*best])*2+j]
			}
			isBetter := pool == gather.PoolMax && difference > 0 || pool == gather.PoolMin && difference < 0
			if id != padding && (*best < 0 || isBetter) {
				*best = int64(i)
			}
		}
	}
	return out
}

func TestPositionsOfBagsEqualALoop(t *testing.T) {
	params, ids := bagTensors()
	for name, bags := range bagFormats() {
		for _, pool := range []gather.PoolPolicy{gather.PoolMax, gather.PoolMin} {
			options := []gather.Option{gather.Pool(pool), gather.PaddingIndex(3)}
			out, err := gather.GatherBagsPositions(params, ids, bags, options...)
			check(t, err)
			expect(t, name, out.Shape(), []int{bagCount, 2})
			expect(t, name, out.Data(), positionsOf(pool, 3))
			into := make([]int64, bagCount*2)
			check(t, gather.GatherBagsPositionsInto(gather.NewOutput(into, bagCount, 2), params, ids, bags, options...))
			expect(t, name, into, positionsOf(pool, 3))
		}
	}
}

func TestErrorsOfPositionsOfBags(t *testing.T) {
	params, ids := bagTensors()
	bags := bagFormats()["offsets"]
	var cause *gather.Error
	_, err := gather.GatherBagsPositions(params, ids, bags)
	if !errors.As(err, &cause) || !errors.Is(err, gather.ErrVersion) || cause.Operand != gather.OperandOptions {
		t.Errorf("%v", err)
	}
	into := []int64{7, 7, 7, 7}
	err = gather.GatherBagsPositionsInto(gather.NewOutput(into, 2, 2), params, ids, bags, gather.Pool(gather.PoolMax))
	if !errors.As(err, &cause) || !errors.Is(err, gather.ErrShape) || cause.Operand != gather.OperandOut {
		t.Errorf("%v", err)
	}
	err = gather.GatherBagsPositionsInto(gather.NewOutput(into), params, ids, bags, gather.Pool(gather.PoolMax))
	expectError(t, err, gather.ErrShape, gather.OperandOut) // Go detects it.
	_, err = gather.GatherBagsPositions(params, gather.Vector([]int32{3, 0, 4, 2, 1}), bags, gather.Pool(gather.PoolMin))
	var index *gather.IndexError
	if !errors.As(err, &index) || index.Position != 2 || index.Value != 4 {
		t.Errorf("%v", err)
	}
	expect(t, "unchanged", into, []int64{7, 7, 7, 7})
}

func TestErrorsOfGradientsOfBags(t *testing.T) {
	params, ids := bagTensors()
	gradient, bags := gather.New(make([]float64, 6), bagCount, 2), bagFormats()["offsets"]
	_, err := gather.GatherBagsGradient(gradient, params, gather.Vector([]int32{3, 0, 4, 2, 1}), bags)
	var index *gather.IndexError
	if !errors.As(err, &index) || index.Position != 2 || index.Value != 4 {
		t.Errorf("%v", err)
	}
	unique, out := gather.NewOutput(make([]int64, 3), 3), gather.NewOutput(make([]float64, 6), 3, 2)
	_, err = gather.GatherBagsSparseGradientInto(unique, out, gradient, params, ids, bags)
	var cause *gather.Error
	if !errors.As(err, &cause) || !errors.Is(err, gather.ErrSize) || cause.Limit != 4 {
		t.Errorf("%v", err)
	}
	err = gather.GatherBagsGradientInto(out, gradient, params, ids, bags)
	if !errors.As(err, &cause) || cause.Operand != gather.OperandTarget {
		t.Errorf("%v", err)
	}
	_, err = gather.GatherBagsWeightGradient[float64](gradient, params, ids, bags, gather.Pool(gather.PoolMax))
	if !errors.Is(err, gather.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}
