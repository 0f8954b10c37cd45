package gather_test

import (
	"testing"

	"libgather.io/gather"
)

// Every operation of gather.h has an entry in the table. The library uses the same roles in its errors.
func TestTableOfOperationsMatchesTheLibrary(t *testing.T) {
	table := gather.OperationRoles()
	if len(table) != int(gather.OperationLast) {
		t.Errorf("the table has %d entries, the header %d operations", len(table), gather.OperationLast)
	}
	good, ids := gather.NewOutput(make([]float32, 4), 4), gather.Vector([]int{0})
	tooDeep := gather.NewOutput(make([]float32, 4), make([]int, gather.MaxRank+1)...)
	for op := int32(1); op <= gather.OperationLast; op++ {
		expectError(t, gather.RunNumber(op, tooDeep, ids, good), gather.ErrRank, table[op][0])
		expectError(t, gather.RunNumber(op, good, ids, tooDeep), gather.ErrRank, table[op][1])
	}
}

func TestUnknownOperationIsRejected(t *testing.T) {
	for _, op := range []int32{0, -1, gather.OperationLast + 1} {
		memory := []float32{1, 2, 3, 4}
		err := gather.RunNumber(op, gather.NewOutput(memory, 4), gather.Vector([]int{0}),
			gather.NewOutput([]float32{9}, 1))
		if found := expectError(t, err, gather.ErrVersion, gather.OperandRequest); found.Value != int64(op) {
			t.Errorf("%+v", *found)
		}
		expect(t, "memory", memory, []float32{1, 2, 3, 4})
	}
}
