package gather_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"testing"

	"libgather.io/gather"
	"libgather.io/gather/internal/cases"
)

// The tests replay every recorded scatter in every form of the binding. The forms are a new tensor, in place, a plan, a
// shape query, and strings.

type scatterForms[T gather.Element, I gather.Index] struct {
	scatter func(gather.Tensor[T], gather.Tensor[I], gather.Updates[T], ...gather.Option) (gather.Tensor[T], error)
	into    func(gather.Output[T], gather.Tensor[I], gather.Updates[T], ...gather.Option) error
	plan    func(gather.Tensor[T], gather.Tensor[I], gather.Updates[T], ...gather.Option) (*gather.ScatterPlan[T, I], error)
	shape   shapeQuery
}

func scatterFormsOf[T gather.Element, I gather.Index](op string) scatterForms[T, I] {
	switch op {
	case "scatter":
		return scatterForms[T, I]{gather.Scatter[T, I], gather.ScatterInto[T, I], gather.NewScatterPlanFrom[T, I],
			gather.UpdatesShape}
	case "scatter_nd":
		return scatterForms[T, I]{gather.ScatterND[T, I], gather.ScatterNDInto[T, I], gather.NewScatterPlanNDFrom[T, I],
			gather.UpdatesShapeND}
	case "scatter_elements":
		return scatterForms[T, I]{gather.ScatterElements[T, I], gather.ScatterElementsInto[T, I],
			gather.NewScatterPlanElementsFrom[T, I], gather.UpdatesShapeElements}
	}
	panic("unknown operation " + op)
}

func replayScatter[T gather.Element, I gather.Index](t *report, test *cases.Case) {
	if test.Updates.DType != test.Params.DType { // Such a call does not compile in Go.
		if test.Failure == nil || test.Failure.Status != gather.ErrDType {
			t.Errorf("%s: updates are %s", test.Name, test.Updates.DType)
		}
		return
	}
	call := scatterFormsOf[T, I](test.Op)
	indices, updates := tensorOf[I](&test.Indices), tensorOf[T](&test.Updates).Updates()
	replayUpdatesShape(t, test, call.shape, tensorOf[T](&test.Params), indices)
	for _, threads := range []int{1, 3} {
		options := append(slices.Clone(test.Options), gather.Threads(threads))
		out, err := call.scatter(tensorOf[T](&test.Params), indices, updates, options...)
		if expectOutcome(t, test, err) {
			expectShape(t, test, out.Shape())
			expectNumbers(t, test, bytesOf(out.Data()))
		}
		memory := slices.Clone(test.Params.Bytes)
		target := gather.Strided[T](memory, test.Params.Offset, test.Params.Shape, test.Params.Strides).Output()
		expectTarget(t, test, call.into(target, indices, updates, options...), memory)
	}
	replayScatterPlan(t, test, call)
}

func replayUpdatesShape(t *report, test *cases.Case, query shapeQuery, target, indices gather.Described) {
	shape, err := query(target, indices, test.Options...)
	switch {
	case test.Failure == nil || test.Failure.Status == gather.ErrIndex:
		if err != nil || !slices.Equal(shape, test.Updates.Shape) {
			t.Errorf("%s: updates of the shape %v, not %v: %v", test.Name, test.Updates.Shape, shape, err)
		}
	case test.Failure.Operand == gather.OperandUpdates:
		if err != nil {
			t.Errorf("%s: the shape query read updates: %v", test.Name, err)
		}
	default:
		expectOutcome(t, test, err)
	}
}

func replayScatterPlan[T gather.Element, I gather.Index](t *report, test *cases.Case, call scatterForms[T, I]) {
	plan, err := call.plan(tensorOf[T](&test.Params), tensorOf[I](&test.Indices), tensorOf[T](&test.Updates).Updates(),
		test.Options...)
	if err != nil {
		expectOutcome(t, test, err)
		return
	}
	defer plan.Close()
	memory := slices.Clone(test.Params.Bytes)
	if test.Params.IsDense() && test.Indices.IsDense() && test.Updates.IsDense() {
		target := typed[T](memory)
		err = plan.Run(gather.To(target), typed[I](test.Indices.Bytes), gather.From(typed[T](test.Updates.Bytes)),
			gather.Open)
		memory = bytesOf(target)
	} else { // A slice of the element type cannot represent this memory.
		err = plan.RunAt(nil, gather.ScatterAddresses{Target: address(memory), Indices: address(test.Indices.Bytes),
			Updates: address(test.Updates.Bytes)}, gather.Open)
		runtime.KeepAlive(test)
	}
	expectTarget(t, test, err, memory)
}

func expectTarget(t *report, test *cases.Case, err error, memory []byte) {
	t.Helper()
	if expectOutcome(t, test, err) {
		expectNumbers(t, test, elementsOf(&test.Params, memory))
	} else if !bytes.Equal(memory, test.Params.Bytes) {
		t.Errorf("%s: an error changed the target", test.Name)
	}
}

// elementsOf returns the elements of a tensor in row-major order, without gaps.
func elementsOf(text *cases.Tensor, memory []byte) []byte {
	if text.IsDense() {
		return memory
	}
	count, found := 1, []byte{}
	for _, extent := range text.Shape {
		count *= extent
	}
	for number := range count {
		at := text.Offset
		for dim, rest := len(text.Shape)-1, number; dim >= 0; dim-- {
			at += rest % text.Shape[dim] * text.Strides[dim]
			rest /= text.Shape[dim]
		}
		found = append(found, memory[at:at+itemSizes[text.DType]]...)
	}
	return found
}

// expectNumbers compares with the recorded bytes. After a reduction, any NaN equals any other NaN.
func expectNumbers(t *report, test *cases.Case, found []byte) {
	t.Helper()
	wanted := test.Wanted.Bytes
	if len(found) != len(wanted) {
		t.Errorf("%s: got %d bytes, want %d", test.Name, len(found), len(wanted))
		return
	}
	part, isNaN := partOf(test.Wanted.DType)
	for at := 0; at < len(wanted); at += part {
		one, other := found[at:at+part], wanted[at:at+part]
		if !bytes.Equal(one, other) && !(test.Reduces && isNaN(one) && isNaN(other)) {
			t.Errorf("%s: got %x, want %x", test.Name, found, wanted)
			return
		}
	}
}

// partOf returns the size of a number of a dtype, and a function that tests for NaN. A complex element has two numbers.
func partOf(dtype string) (int, func([]byte) bool) {
	half := func(infinity uint16) func([]byte) bool {
		return func(part []byte) bool { return binary.NativeEndian.Uint16(part)&0x7fff > infinity }
	}
	single := func(part []byte) bool {
		return math.IsNaN(float64(math.Float32frombits(binary.NativeEndian.Uint32(part))))
	}
	double := func(part []byte) bool { return math.IsNaN(math.Float64frombits(binary.NativeEndian.Uint64(part))) }
	switch dtype {
	case "float16":
		return 2, half(0x7c00)
	case "bfloat16":
		return 2, half(0x7f80)
	case "float32", "complex64":
		return 4, single
	case "float64", "complex128":
		return 8, double
	}
	return itemSizes[dtype], func([]byte) bool { return false }
}

var itemSizes = map[string]int{
	"bool": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8,
	"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
	"float8_e3m4": 1, "float8_e4m3": 1, "float8_e4m3b11fnuz": 1, "float8_e4m3fn": 1, "float8_e4m3fnuz": 1,
	"float8_e5m2": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
}

type stringScatter[I gather.Index] = func(*gather.StringTensor, gather.Tensor[I], gather.StringUpdates,
	...gather.Option) ([]string, []int, error)

func stringScatterOf[I gather.Index](op string) (stringScatter[I], shapeQuery) {
	switch op {
	case "scatter":
		return gather.ScatterStrings[I], gather.UpdatesShape
	case "scatter_nd":
		return gather.ScatterNDStrings[I], gather.UpdatesShapeND
	case "scatter_elements":
		return gather.ScatterElementsStrings[I], gather.UpdatesShapeElements
	}
	panic("unknown operation " + op)
}

func replayScatteredStrings[I gather.Index](t *report, test *cases.Case) {
	target := stringsOf(t.t, &test.Params)
	defer target.Close()
	updates := stringsOf(t.t, &test.Updates)
	defer updates.Close()
	call, query := stringScatterOf[I](test.Op)
	indices := tensorOf[I](&test.Indices)
	replayUpdatesShape(t, test, query, target, indices)
	for _, threads := range []int{1, 3} {
		options := append(slices.Clone(test.Options), gather.Threads(threads))
		values, shape, err := call(target, indices, updates.Updates(), options...)
		if expectOutcome(t, test, err) {
			expectShape(t, test, shape)
			if !slices.Equal(values, test.Wanted.Strings) {
				t.Errorf("%s: got %q, want %q", test.Name, values, test.Wanted.Strings)
			}
		}
	}
}

func stringsOf(t *testing.T, text *cases.Tensor) *gather.StringTensor {
	t.Helper()
	return newStrings(t, text.Strings, text.Shape...)
}
