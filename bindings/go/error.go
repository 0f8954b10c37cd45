package gather

// #include "shim.h"
// #cgo nocallback gather_go_error_free
import "C"

import (
	"io"
	"syscall"
)

// Error is the failure of a call. If a call fails, no output has been written. The exceptions are ErrRace, ErrCUDA,
// ErrIO, and ErrIndex with [BoundsErrorPartial]. The meaning of its numbers depends on Status:
//
//   - ErrIndex: Position and Component are those of the first invalid tuple. Value is the index, and Limit is the
//     extent of the dim.
//   - ErrRank, ErrAxis: Value is the given number, and Limit is the bound.
//   - ErrShape, ErrBatch: Two extents differ. Component is the first such dim. Value is the given extent, and Limit is
//     the required one.
//   - ErrDType: Value is the given dtype, and Limit is the required one. Limit is 0 if several dtypes are valid.
//   - ErrStride: Value is the byte that the elements reach, and Limit is the size of the memory in bytes.
//   - ErrSize: Limit is the largest valid number. If memory is too small, Value is its size in bytes, and Limit is the
//     required size.
//   - ErrOffsets: Operand is [OperandBags]. Position is that of the first invalid number of the bags, and Value is the
//     number. Limit is the number before it if it is smaller, else the number of indices or of bags. If lengths have a
//     wrong sum, Position is their count, and Value is the sum. For an empty bag with [EmptyError], Position is the
//     bag.
//   - ErrIO: Component is the segment of a [Table]. Position is that of the first index that selects the row, or -1
//     without one. Value is the byte in the file, and Limit is the number of bytes that were needed from there on.
//   - ErrAlias: Value is the operand that the output overlaps.
//   - ErrVersion: Value is the given number, and Limit is the highest valid one.
//
// If a number does not apply, it is 0. Component, Position and Item are then -1.
//
// errors.Is finds the Status of an Error. errors.As finds the Error itself. An invalid index is an [IndexError] too, and a file that cannot be
// read is an [IOError].
type Error struct {
	Status    Status
	Operand   Operand
	Component int
	Position  int64
	Value     int64
	Limit     int64
	Native    int    // the number of the CUDA error for ErrCUDA, or errno for ErrIO
	Sequence  int64  // the number of the device call in its context
	Count     uint64 // the number of failed device calls, from Context.TakeError
	Item      int64  // the number of the request in a call of several requests
	Unsigned  bool   // true if Value holds the bits of a uint64
	Wrap      bool   // true if negative indices count from the end. The valid range is then [-Limit, Limit)
	Message   string // the error in English. It may change between releases
}

// Error returns the message of the library.
func (e *Error) Error() string {
	if e.Message == "" {
		return "gather: " + e.Status.Error()
	}
	return "gather: " + e.Message
}

// Unwrap returns the Status.
func (e *Error) Unwrap() error { return e.Status }

// IndexError is the error of an index out of bounds. Its position is that of the first invalid tuple of the call. It
// does not depend on the number of threads.
type IndexError Error

// Error returns the message of the library.
func (e *IndexError) Error() string { return (*Error)(e).Error() }

// Unwrap returns the error as an *Error.
func (e *IndexError) Unwrap() error { return (*Error)(e) }

// IOError is the error of a file that cannot be opened or read.
type IOError Error

// Error returns the message of the library.
func (e *IOError) Error() string { return (*Error)(e).Error() }

// Unwrap returns the error as an *Error, and its cause: a [syscall.Errno], or [io.ErrUnexpectedEOF] for a file that is
// too short. So errors.Is finds [io/fs.ErrNotExist].
func (e *IOError) Unwrap() []error {
	if e.Native == 0 {
		return []error{(*Error)(e), io.ErrUnexpectedEOF}
	}
	return []error{(*Error)(e), syscall.Errno(e.Native)}
}

// takeError converts the result of a call of C to an error. It returns nil for a call that succeeded.
func takeError(err *C.gather_go_error) error {
	if err == nil {
		return nil
	}
	return newError(err)
}

func newError(err *C.gather_go_error) error {
	defer C.gather_go_error_free(err)
	result := &Error{
		Status:    Status(err.status),
		Operand:   Operand(err.operand),
		Component: int(err.component),
		Position:  int64(err.position),
		Value:     int64(err.value),
		Limit:     int64(err.limit),
		Native:    int(err.native),
		Sequence:  int64(err.sequence),
		Count:     uint64(err.count),
		Item:      int64(err.item),
		Unsigned:  err.flags&errorUnsigned != 0,
		Wrap:      err.flags&errorWrap != 0,
		Message:   C.GoString(&err.message[0]),
	}
	switch result.Status {
	case ErrIndex:
		return (*IndexError)(result)
	case ErrIO:
		return (*IOError)(result)
	}
	return result
}

// fail returns an error that this package finds before it calls C.
func fail(status Status, operand Operand, value, limit int, message string) *Error {
	return &Error{Status: status, Operand: operand, Component: -1, Position: -1, Value: int64(value),
		Limit: int64(limit), Item: -1, Message: operand.String() + ": " + message}
}
