package gather

// #include "shim.h"
// #cgo nocallback gather_go_error_free
import "C"

// Error is a call that failed. What the numbers say depends on Status:
//
//   - ErrIndex: Position and Component of the smallest bad tuple, Value its index, Limit the size of the dim
//   - ErrRank, ErrAxis: Value what came, Limit the bound
//   - ErrShape, ErrBatch: two extents that differ: Component the first such dim, Value, Limit the extent needed
//   - ErrDType: Value the dtype that came, Limit the one needed (0: several would do)
//   - ErrStride: Value the byte reached, Limit the extent of the memory
//   - ErrSize: Limit the largest that would do, or the bytes needed where Value is those that came
//   - ErrAlias: Value the operand that the output overlaps
//   - ErrVersion: Value what came, Limit the highest known
//
// Component and Position are -1, and other numbers 0, where they say nothing.
//
// errors.Is finds the Status of an Error, errors.As the Error itself; a bad index is an [IndexError] as well.
type Error struct {
	Status    Status
	Operand   Operand
	Component int
	Position  int64
	Value     int64
	Limit     int64
	Native    int    // CUDA's number under ErrCUDA
	Sequence  int64  // number of the device call in its context
	Count     uint64 // failed device calls, from Context.TakeError
	Unsigned  bool   // Value is the bit pattern of a uint64
	Wrap      bool   // negative indices count from the end: the valid range is [-Limit, Limit)
	Message   string // the same in English; may change
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

// IndexError is an index out of bounds: the smallest bad tuple of the call, whatever the number of threads.
type IndexError Error

// Error returns the message of the library.
func (e *IndexError) Error() string { return (*Error)(e).Error() }

// Unwrap returns the same as an *Error.
func (e *IndexError) Unwrap() error { return (*Error)(e) }

// takeError turns what a call of C returned into an error: nil for a call that succeeded.
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
		Unsigned:  err.flags&errorUnsigned != 0,
		Wrap:      err.flags&errorWrap != 0,
		Message:   C.GoString(&err.message[0]),
	}
	if result.Status == ErrIndex {
		return (*IndexError)(result)
	}
	return result
}

// fail is an error found before C is called.
func fail(status Status, operand Operand, value, limit int, message string) error {
	return &Error{Status: status, Operand: operand, Component: -1, Position: -1, Value: int64(value),
		Limit: int64(limit), Message: operand.String() + ": " + message}
}
