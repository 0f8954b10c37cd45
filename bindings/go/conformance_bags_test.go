package gather_test

import (
	"bytes"
	"slices"

	"libgather.io/gather"
	"libgather.io/gather/internal/cases"
)

// These tests replay every recorded call of gather_bags, into a new tensor and into memory of the caller.

func replayBags[T gather.Element, I gather.Index](t *report, test *cases.Case, params gather.Tensor[T]) {
	indices, bags := tensorOf[I](&test.Indices), bagsOf(test)
	for _, threads := range []int{1, 3} {
		options := append(slices.Clone(test.Options), gather.Threads(threads))
		made, err := gather.GatherBags(params, indices, bags, options...)
		if expectOutcome(t, test, err) {
			expectShape(t, test, made.Shape())
			expectNumbers(t, test, bytesOf(made.Data()))
		}
		if test.Failure != nil {
			continue // Such a case does not state the shape of its output.
		}
		memory := bytes.Repeat([]byte{untouched}, len(test.Wanted.Bytes))
		out := gather.Strided[T](memory, 0, test.Wanted.Shape, nil).Output()
		if expectOutcome(t, test, gather.GatherBagsInto(out, params, indices, bags, options...)) {
			expectNumbers(t, test, memory)
		}
	}
}

// bagsOf returns the bags of a case with their weights.
func bagsOf(test *cases.Case) (bags gather.Bags) {
	if test.Bags.DType != "" {
		bags = map[string]func(*cases.Case) gather.Bags{
			"int8": bagsAs[int8], "int16": bagsAs[int16], "int32": bagsAs[int32], "int64": bagsAs[int64],
			"uint8": bagsAs[uint8], "uint16": bagsAs[uint16], "uint32": bagsAs[uint32], "uint64": bagsAs[uint64],
		}[test.Bags.DType](test)
	}
	if test.Weights.DType == "" {
		return bags
	}
	return map[string]func(gather.Bags, *cases.Tensor) gather.Bags{
		"float16": weightedAs[gather.Float16], "bfloat16": weightedAs[gather.BFloat16],
		"float32": weightedAs[float32], "float64": weightedAs[float64],
	}[test.Weights.DType](bags, &test.Weights)
}

func bagsAs[B gather.Index](test *cases.Case) gather.Bags {
	numbers := tensorOf[B](&test.Bags)
	switch test.BagFormat {
	case cases.Offsets:
		return gather.BagOffsets(numbers)
	case cases.Starts:
		return gather.BagStarts(numbers)
	case cases.Lengths:
		return gather.BagLengths(numbers)
	}
	return gather.BagSegments(numbers, test.BagCount)
}

func weightedAs[W gather.Element](bags gather.Bags, weights *cases.Tensor) gather.Bags {
	return gather.Weighted(bags, tensorOf[W](weights))
}
