// Package property tests the binding with random calls. It is a separate module, so that the go.sum of users does not
// list the generator of the calls.
package property

import (
	"errors"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"libgather/gather"
)

// The test compares random calls with the oracle, for several pairs of types, with dense and strided tensors.

func TestRandomCallsMatchTheOracle(t *testing.T) {
	t.Run("float32 by int64", rapid.MakeCheck(checkRandom[float32, int64]))
	t.Run("int8 by int8", rapid.MakeCheck(checkRandom[int8, int8]))
	t.Run("uint64 by int32", rapid.MakeCheck(checkRandom[uint64, int32]))
	t.Run("Float16 by int16", rapid.MakeCheck(checkRandom[gather.Float16, int16]))
	t.Run("float64 by int", rapid.MakeCheck(checkRandom[float64, int]))
}

type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint | ~float32 | ~float64
}

type indexNumber interface {
	gather.Index
	number
}

func checkRandom[T number, I indexNumber](t *rapid.T) {
	var o oracle
	o.draw(t)
	want := convert[T](o.gather())
	options := append(o.options(), gather.FillWith(T(o.fill)))
	params := layOut(t, convert[T](o.params), o.paramsShape)
	indices := layOut(t, convert[I](o.indices), o.indicesShape)
	allocate, write := formsOf[T, I](o.op)

	out, err := allocate(params, indices, options...)
	checkRandomError(t, &o, err)
	if err == nil && (!slices.Equal(out.Shape(), o.shape()) || !slices.Equal(out.Data(), want)) {
		t.Fatalf("got %v of %v, want %v of %v", out.Data(), out.Shape(), want, o.shape())
	}
	into := make([]T, len(want))
	before := slices.Clone(into)
	err = write(gather.NewOutput(into, o.shape()...), params, indices, options...)
	checkRandomError(t, &o, err)
	if err == nil && !slices.Equal(into, want) || err != nil && !slices.Equal(into, before) {
		t.Fatalf("got %v, want %v", into, want)
	}
}

func formsOf[T gather.Element, I gather.Index](op string) (
	allocate func(gather.Tensor[T], gather.Tensor[I], ...gather.Option) (gather.Tensor[T], error),
	write func(gather.Output[T], gather.Tensor[T], gather.Tensor[I], ...gather.Option) error) {
	switch op {
	case "gather":
		return gather.Gather, gather.GatherInto
	case "gather_nd":
		return gather.GatherND, gather.GatherNDInto
	}
	return gather.GatherElements, gather.GatherElementsInto
}

func checkRandomError(t *rapid.T, o *oracle, err error) {
	if (err != nil) != o.fails() {
		t.Fatalf("got %v, %+v", err, *o)
	}
	var found *gather.IndexError
	if err != nil && (!errors.As(err, &found) || found.Position != o.position || found.Component != o.component ||
		found.Value != o.value || found.Limit != o.limit || found.Wrap != o.wrap) {
		t.Fatalf("got %+v, want %+v", err, *o)
	}
}

// layOut returns a tensor with dense memory, or with gaps between the elements and the dims in reversed order.
func layOut[T gather.Element](t *rapid.T, data []T, shape []int) gather.Tensor[T] {
	if len(data) == 0 || rapid.Bool().Draw(t, "dense") {
		return gather.New(data, shape...)
	}
	const gap = 3
	size := len(bytesOf(data[:1]))
	strides := make([]int, len(shape))
	offset, step := 0, size+gap
	for dim, extent := range shape { // The first dim has the smallest stride.
		strides[dim] = step
		if rapid.Bool().Draw(t, "backwards") {
			strides[dim], offset = -step, offset+(extent-1)*step
		}
		step *= extent
	}
	memory := make([]byte, step)
	at := make([]int, len(shape))
	for i := range data {
		place := offset
		for dim := range at {
			place += at[dim] * strides[dim]
		}
		copy(memory[place:], bytesOf(data[i:i+1]))
		advance(at, shape)
	}
	return gather.Strided[T](memory, offset, shape, strides)
}

// bytesOf returns the memory of the elements.
func bytesOf[T gather.Element](data []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(zero)))
}

func convert[T number](values []int64) []T {
	numbers := make([]T, len(values))
	for i, value := range values {
		numbers[i] = T(value)
	}
	return numbers
}
