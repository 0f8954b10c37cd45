package gather_test

import (
	"testing"

	"libgather.io/gather"
)

// flags holds records of three bytes. The second byte of each record is a bool, except in the last record.
var flags = []uint8{9, 1, 9, 9, 0, 9, 9, 5, 9}

func flagTensor() gather.Tensor[bool] {
	return gather.Strided[bool](flags, 1, []int{3}, []int{3})
}

func TestBoolsOverBytesRejectOtherBytes(t *testing.T) {
	out, err := gather.Gather(flagTensor(), gather.Vector([]int{0, 1, 0}))
	check(t, err)
	expect(t, "flags", out.Data(), []bool{true, false, true})

	_, err = gather.Gather(flagTensor(), gather.Vector([]int{1, 2}))
	found := expectError(t, err, gather.ErrDType, gather.OperandParams)
	if found.Value != 5 || found.Limit != int64(gather.DTypeBool) {
		t.Errorf("%+v", *found)
	}

	into := []bool{true, true}
	expectError(t, gather.GatherInto(gather.Vector(into).Output(), flagTensor(), gather.Vector([]int{1, 2})), gather.ErrDType,
		gather.OperandParams)
	expect(t, "unchanged", into, []bool{true, true})
	expectError(t, gather.GatherNDInto(gather.Vector(into).Output(), flagTensor(), gather.New([]int{1, 2}, 2, 1)), gather.ErrDType,
		gather.OperandParams)
	check(t, gather.GatherInto(gather.Vector(into).Output(), flagTensor(), gather.Vector([]int{1, 7}), gather.Bounds(gather.BoundsSkip)))
	expect(t, "skipped", into, []bool{false, true})

	_, err = gather.Gather(flagTensor(), gather.Vector([]int{3}))
	expectError(t, err, gather.ErrIndex, gather.OperandIndices)
}

type decision bool

func TestBoolsOfANamedTypeRejectOtherBytes(t *testing.T) {
	params := gather.Strided[decision](flags, 1, []int{3}, []int{3})
	_, err := gather.Gather(params, gather.Vector([]int{2}))
	expectError(t, err, gather.ErrDType, gather.OperandParams)
	out, err := gather.Gather(gather.Strided[decision]([]bool{true}, 0, []int{1}, nil), gather.Vector([]int{0}))
	check(t, err)
	expect(t, "decisions", out.Data(), []decision{true})
}

// Memory of bools can be read as bytes, but calls write only bools to it.
func TestMemoryOfBoolsIsReadOnlyAsBytes(t *testing.T) {
	memory := []bool{false, true}
	bytes := gather.Strided[uint8](memory, 0, []int{2}, nil)
	out, err := gather.Gather(bytes, gather.Vector([]int{1, 0}))
	check(t, err)
	expect(t, "bytes", out.Data(), []uint8{1, 0})
	err = gather.GatherInto(bytes.Output(), gather.Vector([]uint8{7}), gather.Vector([]int{0, 0}))
	expectError(t, err, gather.ErrReadOnly, gather.OperandOut)
	expect(t, "unchanged", memory, []bool{false, true})
}
