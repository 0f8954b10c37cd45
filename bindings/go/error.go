package gather

// #include "shim.h"
// #cgo nocallback gather_go_error_free
import "C"

// Error is the failure of a call. The meaning of its numbers depends on Status:
//
//   - ErrIndex: Position and Component of the smallest invalid tuple. Value is the index, Limit the extent of the dim.
//   - ErrRank, ErrAxis: Value is the given number, Limit the bound.
//   - ErrShape, ErrBatch: Two extents differ. Component is the first such dim, Value the given extent, Limit the required
//     one.
//   - ErrDType: Value is the given dtype, Limit the required one (0: several are valid).
//   - ErrStride: Value is the byte that is reached, Limit the extent of the memory.
//   - ErrSize: Limit is the largest valid number, or the required bytes if Value is the given bytes.
//   - ErrAlias: Value is the operand that the output overlaps.
//   - ErrVersion: Value is the given number, Limit the highest valid one.
//
// Component, Position and Item are -1, and other numbers are 0, if they do not apply.
//
// errors.Is finds the Status of an Error. errors.As finds the Error itself. An invalid index is an [IndexError] too.
type Error struct {
	Status    Status
	Operand   Operand
	Component int
	Position  int64
	Value     int64
	Limit     int64
	Native    int    // number of the CUDA error of ErrCUDA, or errno of ErrIO
	Sequence  int64  // number of the device call in its context
	Count     uint64 // failed device calls, from Context.TakeError
	Item      int64  // number of the request in a call of several requests
	Unsigned  bool   // Value is the bit pattern of a uint64
	Wrap      bool   // negative indices count from the end: the valid range is [-Limit, Limit)
	Message   string // the same in English. It may change.
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

// IndexError is an index out of bounds: the smallest invalid tuple of the call. It does not depend on the number of threads.
type IndexError Error

// Error returns the message of the library.
func (e *IndexError) Error() string { return (*Error)(e).Error() }

// Unwrap returns the same as an *Error.
func (e *IndexError) Unwrap() error { return (*Error)(e) }

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
	if result.Status == ErrIndex {
		return (*IndexError)(result)
	}
	return result
}

// fail returns an error that was found before a call of C.
func fail(status Status, operand Operand, value, limit int, message string) *Error {
	return &Error{Status: status, Operand: operand, Component: -1, Position: -1, Value: int64(value),
		Limit: int64(limit), Item: -1, Message: operand.String() + ": " + message}
}
