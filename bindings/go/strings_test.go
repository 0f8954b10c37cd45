package gather_test

import (
	"strings"
	"testing"

	"libgather.io/gather"
)

func newStrings(t *testing.T, values []string, shape ...int) *gather.StringTensor {
	t.Helper()
	tensor, err := gather.NewStrings(values, shape...)
	check(t, err)
	t.Cleanup(func() { tensor.Close() })
	return tensor
}

func TestGatherStrings(t *testing.T) {
	words := newStrings(t, []string{"", "a", "gather", "äö", "\x00\xff", "row 3"}, 3, 2)
	values, shape, err := gather.GatherStrings(words, gather.Vector([]int{2, 0}))
	check(t, err)
	expect(t, "shape", shape, []int{2, 2})
	expect(t, "words", values, []string{"\x00\xff", "row 3", "", "a"})
	values, shape, err = gather.GatherNDStrings(words, gather.New([]int8{1, 1, 1, 0}, 2, 2))
	check(t, err)
	expect(t, "shape", shape, []int{2})
	expect(t, "words", values, []string{"äö", "gather"})
}

func TestStringsReportInvalidIndex(t *testing.T) {
	words := newStrings(t, []string{"a", "b"}, 2)
	_, _, err := gather.GatherStrings(words, gather.Vector([]int{0, 2}))
	if found := expectError(t, err, gather.ErrIndex, gather.OperandIndices); found.Position != 1 {
		t.Errorf("%+v", *found)
	}
	values, _, err := gather.GatherStrings(words, gather.Vector([]int{0, 2}), gather.Bounds(gather.BoundsFill))
	check(t, err)
	expect(t, "filled", values, []string{"a", ""})
	_, _, err = gather.GatherStrings(words, gather.Vector([]int{0, 2}), gather.Bounds(gather.BoundsFill), gather.FillWith(1))
	expectError(t, err, gather.ErrDType, gather.OperandParams)
}

func TestStringsAreCopied(t *testing.T) {
	slice := []string{strings.Repeat("x", 100)}
	words := newStrings(t, slice, 1)
	slice[0] = "changed"
	values, _, err := gather.GatherStrings(words, gather.New([]int{0}))
	check(t, err)
	expect(t, "words", values, []string{strings.Repeat("x", 100)})
}

func TestInvalidStringsReturnErrors(t *testing.T) {
	_, err := gather.NewStrings([]string{"a"}, 2)
	expectError(t, err, gather.ErrShape, gather.OperandTensor)
	_, err = gather.NewStrings([]string{"a"}, -1)
	expectError(t, err, gather.ErrShape, gather.OperandTensor)
	_, err = gather.NewStrings(nil, make([]int, 65)...)
	expectError(t, err, gather.ErrRank, gather.OperandTensor)
	var empty *gather.StringTensor
	_, _, err = gather.GatherStrings(empty, gather.Vector([]int{0}))
	expectError(t, err, gather.ErrNull, gather.OperandParams)
	check(t, empty.Close())
}

func TestStringsRejectIndicesWithoutMemory(t *testing.T) {
	words := newStrings(t, []string{"a", "b"}, 2)
	_, _, err := gather.GatherStrings(words, gather.New([]int{}, 2))
	expectError(t, err, gather.ErrNull, gather.OperandIndices)
}

// No system has 2^47 bytes of memory for a process. The strings share their bytes, so the test needs only 2^27.
func TestStringsThatExceedMemoryReturnErrNoMemory(t *testing.T) {
	values := make([]string, 1<<20)
	for i, long := 0, strings.Repeat("x", 1<<27); i < len(values); i++ {
		values[i] = long
	}
	tensor, err := gather.NewStrings(values, len(values))
	if found := expectError(t, err, gather.ErrNoMemory, gather.OperandTensor); found.Value != 1<<47 || found.Limit != 0 || tensor != nil {
		t.Errorf("%+v, %v", *found, tensor)
	}
}

func TestEmptyStringTensor(t *testing.T) {
	words := newStrings(t, nil, 0, 3)
	values, shape, err := gather.GatherStrings(words, gather.Vector([]int{}))
	check(t, err)
	expect(t, "shape", shape, []int{0, 3})
	expect(t, "words", values, []string{})
}

func TestClosedStringsReturnErrHandle(t *testing.T) {
	words := newStrings(t, []string{"a"}, 1)
	check(t, words.Close())
	check(t, words.Close())
	_, _, err := gather.GatherStrings(words, gather.Vector([]int{0}))
	expectError(t, err, gather.ErrHandle, gather.OperandParams)
}

func TestShapeOfStrings(t *testing.T) {
	words := newStrings(t, []string{"a", "b"}, 2, 1)
	expect(t, "shape", words.Shape(), []int{2, 1})
	shape, err := gather.OutputShape(words, gather.Shaped[int](5))
	check(t, err)
	expect(t, "output shape", shape, []int{5, 1})
	_, err = gather.OutputShape((*gather.StringTensor)(nil), words)
	expectError(t, err, gather.ErrNull, gather.OperandParams)
	_, err = gather.OutputShape(words, nil)
	expectError(t, err, gather.ErrNull, gather.OperandIndices)
}
