package gather_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"libgather.io/gather"
)

func expectError(t *testing.T, err error, status gather.Status, operand gather.Operand) *gather.Error {
	t.Helper()
	var found *gather.Error
	if !errors.As(err, &found) || !errors.Is(err, status) {
		t.Fatalf("got %v, want %v", err, status)
	}
	if found.Status != status || found.Operand != operand || found.Item != -1 || !strings.HasPrefix(err.Error(), "gather: ") {
		t.Fatalf("got %+v, want %v of %v", *found, status, operand)
	}
	return found
}

func TestInvalidIndexIsReportedWithItsPosition(t *testing.T) {
	out := []float32{-1, -1, -1, -1, -1, -1}
	err := gather.GatherInto(gather.NewOutput(out, 3, 2), tableTensor(), gather.Vector([]int8{0, -7, 9}), gather.Negative(gather.NegativeWrap))
	err = fmt.Errorf("lookup: %w", err)
	var index *gather.IndexError
	if !errors.As(err, &index) {
		t.Fatal(err)
	}
	if index.Position != 1 || index.Component != 0 || index.Value != -7 || index.Limit != 4 || !index.Wrap || index.Unsigned {
		t.Errorf("%+v", *index)
	}
	if expectError(t, errors.Unwrap(err), gather.ErrIndex, gather.OperandIndices).Position != 1 {
		t.Error("an *Error of another content")
	}
	expect(t, "out is unchanged", out, []float32{-1, -1, -1, -1, -1, -1})
}

func TestLargeUnsignedIndexIsReportedAsUnsigned(t *testing.T) {
	_, err := gather.Gather(tableTensor(), gather.Vector([]uint64{1<<63 + 5}))
	found := expectError(t, err, gather.ErrIndex, gather.OperandIndices)
	if !found.Unsigned || uint64(found.Value) != 1<<63+5 {
		t.Errorf("%+v", *found)
	}
}

func TestOtherErrorsAreNotIndexErrors(t *testing.T) {
	_, err := gather.Gather(tableTensor(), gather.Vector([]int{0}), gather.Axis(5))
	found := expectError(t, err, gather.ErrAxis, gather.OperandOptions)
	if found.Value != 5 || found.Limit != 2 {
		t.Errorf("%+v", *found)
	}
	var index *gather.IndexError
	if errors.As(err, &index) || errors.Is(err, gather.ErrIndex) {
		t.Error("an index error")
	}
}

func TestStatusesHaveTheNamesOfTheLibrary(t *testing.T) {
	for status, want := range map[gather.Status]string{
		gather.ErrNull: "GTH_E_NULL", gather.ErrIndex: "GTH_E_INDEX", gather.ErrInternal: "GTH_E_INTERNAL",
		gather.ErrOffsets: "GTH_E_OFFSETS", gather.ErrIO: "GTH_E_IO",
		gather.ErrIO - 1: "GTH_E_-26",
		0:                "GTH_E_0", -99: "GTH_E_-99", 7: "GTH_E_7",
	} {
		if status.Error() != want {
			t.Errorf("got %s, want %s", status.Error(), want)
		}
	}
	for operand, want := range map[gather.Operand]string{
		gather.OperandNone: "none", gather.OperandZeros + 1: "operand 17", gather.OperandIndices: "indices", gather.OperandRequest: "request", gather.OperandBags: "bags",
		gather.OperandWeights: "weights", gather.OperandCodec: "codec", gather.OperandFile: "file", gather.OperandScales: "scales", 99: "operand 99",
	} {
		if operand.String() != want {
			t.Errorf("got %v, want %s", operand, want)
		}
	}
}
