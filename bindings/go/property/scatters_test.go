package property

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"libgather/gather"
)

// The test compares random scatters and gradients with the oracle of gathers. Each element of params is its own number.
// So the elements that the gather reads are the elements that the scatter must write.

func TestRandomScattersMatchTheOracle(t *testing.T) {
	t.Run("float64 by int64", rapid.MakeCheck(checkRandomScatter[float64, int64]))
	t.Run("int32 by int8", rapid.MakeCheck(checkRandomScatter[int32, int8]))
	t.Run("uint8 by int", rapid.MakeCheck(checkRandomScatter[uint8, int]))
}

func checkRandomScatter[T number, I indexNumber](t *rapid.T) {
	var o oracle
	o.draw(t)
	for i := range o.params {
		o.params[i] = int64(i)
	}
	o.fill = nowhere
	numbers := o.gather()
	if len(numbers) == 0 {
		o.validate() // A scatter validates indices even if its rows have no elements.
	}
	reduction := rapid.SampledFrom([]gather.ReductionPolicy{gather.ReductionNone, gather.ReductionAdd,
		gather.ReductionMul, gather.ReductionMax, gather.ReductionMin}).Draw(t, "reduction")
	old := convert[T](rapid.SliceOfN(rapid.Int64Range(0, 9), len(o.params), len(o.params)).Draw(t, "target"))
	rows := convert[T](rapid.SliceOfN(rapid.Int64Range(0, 9), len(numbers), len(numbers)).Draw(t, "updates"))
	indices, updates := layOut(t, convert[I](o.indices), o.indicesShape), layOut(t, rows, o.shape())

	want := scattered(numbers, reduction, old, rows)
	options := append(o.options(), gather.Reduction(reduction))
	if o.bounds == gather.BoundsFill { // A scatter has no rows to fill.
		options = append(options, gather.Bounds(gather.BoundsSkip))
	}
	scatter, into := scattersOf[T, I](o.op)
	made, err := scatter(layOut(t, old, o.paramsShape), indices, updates.Updates(), options...)
	checkNumbers(t, &o, err, made.Data(), want, nil)
	memory := slices.Clone(old)
	err = into(gather.NewOutput(memory, o.paramsShape...), indices, updates.Updates(), options...)
	checkNumbers(t, &o, err, memory, want, old)

	o.gather() // A gradient validates the indices that the gather reads.
	want = scattered(numbers, gather.ReductionAdd, make([]T, len(old)), rows)
	gradient, gradientInto := gradientsOf[T, I](o.op)
	made, err = gradient(updates, indices, o.paramsShape, o.options()...)
	checkNumbers(t, &o, err, made.Data(), want, nil)
	memory = slices.Clone(old)
	err = gradientInto(gather.NewOutput(memory, o.paramsShape...), updates, indices, o.options()...)
	checkNumbers(t, &o, err, memory, want, old)
}

// nowhere marks an element of the output that the gather fills.
const nowhere = -1

func scattered[T number](numbers []int64, reduction gather.ReductionPolicy, old, updates []T) []T {
	target := slices.Clone(old)
	for i, number := range numbers {
		if number == nowhere {
			continue
		}
		switch to := &target[number]; reduction {
		case gather.ReductionAdd:
			*to += updates[i]
		case gather.ReductionMul:
			*to *= updates[i]
		case gather.ReductionMax:
			*to = max(*to, updates[i])
		case gather.ReductionMin:
			*to = min(*to, updates[i])
		default:
			*to = updates[i]
		}
	}
	return target
}

// checkNumbers compares with want, or after an error with before.
func checkNumbers[T number](t *rapid.T, o *oracle, err error, found, want, before []T) {
	t.Helper()
	checkRandomError(t, o, err)
	if err != nil {
		want = before
	}
	if !slices.Equal(found, want) {
		t.Fatalf("got %v, want %v", found, want)
	}
}

func scattersOf[T gather.Element, I gather.Index](op string) (
	func(gather.Tensor[T], gather.Tensor[I], gather.Updates[T], ...gather.Option) (gather.Tensor[T], error),
	func(gather.Output[T], gather.Tensor[I], gather.Updates[T], ...gather.Option) error) {
	switch op {
	case "gather":
		return gather.Scatter, gather.ScatterInto
	case "gather_nd":
		return gather.ScatterND, gather.ScatterNDInto
	}
	return gather.ScatterElements, gather.ScatterElementsInto
}

func gradientsOf[T gather.Element, I gather.Index](op string) (
	func(gather.Tensor[T], gather.Tensor[I], []int, ...gather.Option) (gather.Tensor[T], error),
	func(gather.Output[T], gather.Tensor[T], gather.Tensor[I], ...gather.Option) error) {
	switch op {
	case "gather":
		return gather.GatherGradient, gather.GatherGradientInto
	case "gather_nd":
		return gather.GatherNDGradient, gather.GatherNDGradientInto
	}
	return gather.GatherElementsGradient, gather.GatherElementsGradientInto
}
