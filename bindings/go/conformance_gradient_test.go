package gather_test

import (
	"bytes"
	"slices"

	"libgather.io/gather"
	"libgather.io/gather/internal/cases"
)

// These tests replay every recorded gradient of a gather, into a new tensor and into memory of the caller.

type gradientForms[T gather.Element, I gather.Index] struct {
	gradient func(gather.Tensor[T], gather.Tensor[I], []int, ...gather.Option) (gather.Tensor[T], error)
	into     func(gather.Output[T], gather.Tensor[T], gather.Tensor[I], ...gather.Option) error
}

func gradientFormsOf[T gather.Element, I gather.Index](op string) gradientForms[T, I] {
	switch op {
	case "gather_gradient":
		return gradientForms[T, I]{gather.GatherGradient[T, I], gather.GatherGradientInto[T, I]}
	case "gather_nd_gradient":
		return gradientForms[T, I]{gather.GatherNDGradient[T, I], gather.GatherNDGradientInto[T, I]}
	case "gather_elements_gradient":
		return gradientForms[T, I]{gather.GatherElementsGradient[T, I], gather.GatherElementsGradientInto[T, I]}
	}
	panic("unknown operation " + op)
}

func replayGradient[T gather.Element, I gather.Index](t *report, test *cases.Case) {
	call, shape := gradientFormsOf[T, I](test.Op), test.Params.Shape
	gradient, indices := tensorOf[T](&test.Updates), tensorOf[I](&test.Indices)
	for _, threads := range []int{1, 3} {
		options := append(slices.Clone(test.Options), gather.Threads(threads))
		made, err := call.gradient(gradient, indices, shape, options...)
		if expectOutcome(t, test, err) {
			expectShape(t, test, made.Shape())
			expectNumbers(t, test, bytesOf(made.Data()))
		}
		before := bytes.Repeat([]byte{untouched}, len(test.Params.Bytes))
		memory := slices.Clone(before)
		out := gather.Strided[T](memory, 0, shape, nil).Output()
		if expectOutcome(t, test, call.into(out, gradient, indices, options...)) {
			expectNumbers(t, test, memory)
		} else if !bytes.Equal(memory, before) {
			t.Errorf("%s: an error wrote to the output", test.Name)
		}
	}
}
