// Code generated from gather.h by ./dev generate. DO NOT EDIT.

package gather

// #include "call.h"
import "C"

// These are the roles of operands, in the order of a request.
const (
	roleTable = iota
	roleIndices
	roleRows
	roleBags
	roleWeights
	roleCount
)

// operands are the operands of a request by role. A missing operand is &absent.
type operands [roleCount]*view

// byRole returns operands of which only the first three may exist.
func byRole(table, indices, rows *view) operands {
	return operands{table, indices, rows, &absent, &absent}
}

// A kind is a set of operations with the same operands.
type kind struct {
	names   [roleCount]Operand // by role
	written int                // the role of the operand that is written
}

var (
	kindGather   = kind{[...]Operand{OperandParams, OperandIndices, OperandOut, OperandNone, OperandNone}, roleRows}
	kindScatter  = kind{[...]Operand{OperandTarget, OperandIndices, OperandUpdates, OperandNone, OperandNone}, roleTable}
	kindGradient = kind{[...]Operand{OperandTarget, OperandIndices, OperandUpdates, OperandNone, OperandNone}, roleTable}
	kindBags     = kind{[...]Operand{OperandParams, OperandIndices, OperandOut, OperandBags, OperandWeights}, roleRows}
)

// kindOf has the kind of each operation.
var kindOf = [...]*kind{
	opGather:                 &kindGather,
	opGatherND:               &kindGather,
	opGatherElements:         &kindGather,
	opScatter:                &kindScatter,
	opScatterND:              &kindScatter,
	opScatterElements:        &kindScatter,
	opGatherGradient:         &kindGradient,
	opGatherNDGradient:       &kindGradient,
	opGatherElementsGradient: &kindGradient,
	opGatherBags:             &kindBags,
}

func (o *operands) run(context C.gather_go_handle, op operation, options *C.gth_options) *C.gather_go_error {
	return C.gather_go_run_request(context, C.int32_t(op),
		&o[roleTable].numbers, o[roleTable].cData(), o[roleTable].cShape(), o[roleTable].cStrides(),
		&o[roleIndices].numbers, o[roleIndices].cData(), o[roleIndices].cShape(), o[roleIndices].cStrides(),
		&o[roleRows].numbers, o[roleRows].cData(), o[roleRows].cShape(), o[roleRows].cStrides(),
		&o[roleBags].numbers, o[roleBags].cData(), o[roleBags].cShape(), o[roleBags].cStrides(),
		&o[roleWeights].numbers, o[roleWeights].cData(), o[roleWeights].cShape(), o[roleWeights].cStrides(),
		options)
}

func (o *operands) infer(op operation, options *C.gth_options, rank *C.int32_t, shape *C.int64_t) *C.gather_go_error {
	return C.gather_go_infer(C.int32_t(op),
		&o[roleTable].numbers, o[roleTable].cData(), o[roleTable].cShape(), o[roleTable].cStrides(),
		&o[roleIndices].numbers, o[roleIndices].cData(), o[roleIndices].cShape(), o[roleIndices].cStrides(),
		&o[roleRows].numbers, o[roleRows].cData(), o[roleRows].cShape(), o[roleRows].cStrides(),
		&o[roleBags].numbers, o[roleBags].cData(), o[roleBags].cShape(), o[roleBags].cStrides(),
		&o[roleWeights].numbers, o[roleWeights].cData(), o[roleWeights].cShape(), o[roleWeights].cStrides(),
		options, rank, shape)
}

func (o *operands) createPlan(op operation, options *C.gth_options, plan *C.gather_go_handle) *C.gather_go_error {
	return C.gather_go_plan_create(C.int32_t(op),
		&o[roleTable].numbers, o[roleTable].cData(), o[roleTable].cShape(), o[roleTable].cStrides(),
		&o[roleIndices].numbers, o[roleIndices].cData(), o[roleIndices].cShape(), o[roleIndices].cStrides(),
		&o[roleRows].numbers, o[roleRows].cData(), o[roleRows].cShape(), o[roleRows].cStrides(),
		&o[roleBags].numbers, o[roleBags].cData(), o[roleBags].cShape(), o[roleBags].cStrides(),
		&o[roleWeights].numbers, o[roleWeights].cData(), o[roleWeights].cShape(), o[roleWeights].cStrides(),
		options, plan)
}
