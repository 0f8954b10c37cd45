package gather

// #include "shim.h"
import "C"

// operand returns the name of the operand with a role in errors.
func (op operation) operand(role int) Operand { return kindOf[op].names[role] }

// writesTable reports whether the table is the operand that is written, and not the rows.
func (op operation) writesTable() bool { return kindOf[op].written == roleTable }

// marks returns the flags of all operands.
func (o *operands) marks() (marks C.uint32_t) {
	for _, each := range o {
		marks |= each.numbers.flags
	}
	return marks
}

// check rejects operands that must not be passed to C.
func (o *operands) check(op operation) error {
	if errABI != nil {
		return errABI
	}
	for role, each := range o {
		if each.has(C.GATHER_GO_INVALID) {
			return each.mismatch(op.operand(role))
		}
	}
	return nil
}

// begin begins a call with each operand that can be closed. They are not released before end.
func (o *operands) begin(op operation) error {
	for role, each := range o {
		if err := each.begin(op.operand(role)); err != nil {
			for _, begun := range o[:role] {
				begun.end()
			}
			return err
		}
	}
	return nil
}

func (o *operands) end() {
	for _, each := range o {
		each.end()
	}
}
