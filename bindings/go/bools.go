package gather

// #include "shim.h"
import "C"

import (
	"fmt"
	"slices"
	"unsafe"
)

// checkGathered gathers into bytes and rejects bytes other than 0 and 1, because a Go bool of another byte is
// undefined. Bytes that no index selects may have any value.
func checkGathered(op operation, given operands, s *settings, options []Option) error {
	shape, err := inferShape(op, given, s)
	if err != nil {
		return err
	}
	count, ok := byteCount(1, shape)
	if !ok {
		return nil // The library reports which extent is too large.
	}
	bytes, trial, err := newTrial(count, shape, OperandParams)
	if err != nil {
		return err
	}
	bytesView := *given[roleTable]
	bytesView.numbers.flags &^= C.GATHER_GO_BYTES
	given[roleTable], given[roleRows] = &bytesView, &trial
	if err := intoWith(op, given, append(slices.Clip(options), Fill(FillZero))); err != nil {
		return err
	}
	return checkBoolBytes(bytes, OperandParams)
}

// checkBools rejects a tensor of bools if any of its bytes is not 0 or 1.
func checkBools(v *view, operand Operand) error {
	count, ok := byteCount(1, v.shape())
	if !ok {
		return nil // The library reports which extent is too large.
	}
	bytes, trial, err := newTrial(count, v.shape(), operand)
	if err != nil {
		return err
	}
	if err := copyOperand(v, &trial, operand); err != nil {
		return err
	}
	return checkBoolBytes(bytes, operand)
}

// newTrial returns new bytes and a tensor of bools over them.
func newTrial(count int, shape []int, operand Operand) ([]uint8, view, error) {
	if !allocatable(count) {
		return nil, view{}, fail(ErrNoMemory, operand, count, 0, "cannot allocate memory to check the bools")
	}
	bytes := make([]uint8, count)
	trial := newView(DTypeBool, count, shape, nil)
	trial.data = unsafe.Pointer(unsafe.SliceData(bytes))
	return bytes, trial, nil
}

func checkBoolBytes(bytes []uint8, operand Operand) error {
	for _, value := range bytes {
		if value > 1 {
			return fail(ErrDType, operand, int(value), int(DTypeBool), fmt.Sprintf("a bool is 0 or 1, not %d", value))
		}
	}
	return nil
}
