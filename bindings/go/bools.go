package gather

// #include "shim.h"
import "C"

import (
	"fmt"
	"slices"
	"unsafe"
)

// judgeGathered gathers into bytes, to see whether what would come out are bools: any other would be undefined in Go.
// What is not gathered may be any bytes.
func judgeGathered(op operation, params, indices *view, s *settings, options []Option) error {
	shape, err := outputShape(op, params, indices, s)
	if err != nil {
		return err
	}
	count, ok := byteCount(1, shape)
	if !ok {
		return nil // C says which extent is too large
	}
	bytes, trial, err := newTrial(count, shape, OperandParams)
	if err != nil {
		return err
	}
	judged := *params
	judged.numbers.flags &^= C.GATHER_GO_BYTES
	if err := into(op, &judged, indices, &trial, append(slices.Clip(options), Fill(FillZero))); err != nil {
		return err
	}
	return checkBools(bytes, OperandParams)
}

// judgeBools refuses a tensor of bools, an operand of a call, that has other bytes in it.
func judgeBools(v *view, operand Operand) error {
	count, ok := byteCount(1, v.shape())
	if !ok {
		return nil // as above
	}
	bytes, trial, err := newTrial(count, v.shape(), operand)
	if err != nil {
		return err
	}
	judged := *v
	judged.numbers.flags &^= C.GATHER_GO_BYTES
	if err := copyAll(&trial, &judged, operand); err != nil {
		return err
	}
	return checkBools(bytes, operand)
}

// newTrial is bytes, and a tensor of bools over them.
func newTrial(count int, shape []int, operand Operand) ([]uint8, view, error) {
	if !allocatable(count) {
		return nil, view{}, fail(ErrNoMemory, operand, count, 0, "no memory for it")
	}
	bytes := make([]uint8, count)
	trial := newView(DTypeBool, count, shape, nil)
	trial.data = unsafe.Pointer(unsafe.SliceData(bytes))
	return bytes, trial, nil
}

func checkBools(bytes []uint8, operand Operand) error {
	for _, value := range bytes {
		if value > 1 {
			return fail(ErrDType, operand, int(value), int(DTypeBool), fmt.Sprintf("a bool is 0 or 1, not %d", value))
		}
	}
	return nil
}
