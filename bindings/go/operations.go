//go:build cgo

package gather

// roles are the names of the table and the rows of an operation in errors. The indices are always OperandIndices.
type roles struct {
	table, rows Operand
}

var (
	gathers  = roles{OperandParams, OperandOut}
	scatters = roles{OperandTarget, OperandUpdates}
)

// operations is the table of operations by number. A new operation needs one line here and its public functions.
var operations = [...]roles{
	opGather:                 gathers,
	opGatherND:               gathers,
	opGatherElements:         gathers,
	opScatter:                scatters,
	opScatterND:              scatters,
	opScatterElements:        scatters,
	opGatherGradient:         scatters,
	opGatherNDGradient:       scatters,
	opGatherElementsGradient: scatters,
}

func (op operation) roles() roles { return operations[op] }

// writesTable reports whether the table is the operand that is written, and not the rows.
func (op operation) writesTable() bool { return op.roles() == scatters }
