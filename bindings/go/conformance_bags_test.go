package gather_test

import (
	"bytes"
	"slices"

	"libgather.io/gather"
)

// These tests replay every recorded call of gather_bags, into a new tensor and into memory of the caller.

func replayBags[T gather.Element, I gather.Index](t *report, test *conformanceCase, params gather.Tensor[T]) {
	indices, bags := tensorOf[I](&test.indices), bagsOf(test)
	for _, threads := range []int{1, 3} {
		options := append(slices.Clone(test.options), gather.Threads(threads))
		made, err := gather.GatherBags(params, indices, bags, options...)
		if expectOutcome(t, test, err) {
			expectShape(t, test, made.Shape())
			expectNumbers(t, test, bytesOf(made.Data()))
		}
		if test.failure != nil {
			continue // Such a case does not state the shape of its output.
		}
		memory := bytes.Repeat([]byte{untouched}, len(test.wanted.bytes))
		out := gather.Strided[T](memory, 0, test.wanted.shape, nil).Output()
		if expectOutcome(t, test, gather.GatherBagsInto(out, params, indices, bags, options...)) {
			expectNumbers(t, test, memory)
		}
	}
}

// bagsOf returns the bags of a case with their weights.
func bagsOf(test *conformanceCase) (bags gather.Bags) {
	if test.bags.dtype != "" {
		bags = map[string]func(*conformanceCase) gather.Bags{
			"int8": bagsAs[int8], "int16": bagsAs[int16], "int32": bagsAs[int32], "int64": bagsAs[int64],
			"uint8": bagsAs[uint8], "uint16": bagsAs[uint16], "uint32": bagsAs[uint32], "uint64": bagsAs[uint64],
		}[test.bags.dtype](test)
	}
	if test.weights.dtype == "" {
		return bags
	}
	return map[string]func(gather.Bags, *tensorText) gather.Bags{
		"float16": weightedAs[gather.Float16], "bfloat16": weightedAs[gather.BFloat16],
		"float32": weightedAs[float32], "float64": weightedAs[float64],
	}[test.weights.dtype](bags, &test.weights)
}

func bagsAs[B gather.Index](test *conformanceCase) gather.Bags {
	numbers := tensorOf[B](&test.bags)
	switch test.bagFormat {
	case "offsets":
		return gather.BagOffsets(numbers)
	case "starts":
		return gather.BagStarts(numbers)
	case "lengths":
		return gather.BagLengths(numbers)
	}
	return gather.BagSegments(numbers, test.bagCount)
}

func weightedAs[W gather.Element](bags gather.Bags, weights *tensorText) gather.Bags {
	return gather.Weighted(bags, tensorOf[W](weights))
}
