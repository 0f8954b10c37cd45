//go:build cgo

package gather

import "fmt"

// Status is the kind of an error. Its constants are the sentinels for errors.Is:
//
//	if errors.Is(err, gather.ErrIndex) { ... }
type Status int32

// Error returns the name of the status in the C library, such as GTH_E_INDEX.
func (s Status) Error() string {
	if at := -int(s); at > 0 && at < len(statusNames) {
		return statusNames[at]
	}
	return fmt.Sprintf("GTH_E_%d", int32(s))
}

// Operand is the argument to which an error belongs.
type Operand int32

// String returns the name of the operand, such as params.
func (o Operand) String() string {
	if o >= 0 && int(o) < len(operandNames) {
		return operandNames[o]
	}
	return fmt.Sprintf("operand %d", int32(o))
}
