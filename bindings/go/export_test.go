package gather

// The methods Unowned let tests find out whether a handle is released. They return an object with the same handle and
// with a new owner that has not been closed. So its calls reach the library, which returns ErrHandle for a released
// handle. The object itself releases nothing.

func (o *owner) unowned() owner { return owner{handle: o.handle} }

// Unowned returns a context with the same handle.
func (c *Context) Unowned() *Context { return &Context{owner: c.owner.unowned()} }

// Unowned returns strings with the same handle.
func (t *StringTensor) Unowned() *StringTensor {
	return &StringTensor{view: t.view, owner: t.owner.unowned()}
}

// Unowned returns a plan with the same handle.
func (p *Plan[T, I]) Unowned() *Plan[T, I] {
	return &Plan[T, I]{planned{device: p.request.device, owner: p.request.owner.unowned()}}
}

// Unowned returns a plan with the same handle.
func (p *ScatterPlan[T, I]) Unowned() *ScatterPlan[T, I] {
	return &ScatterPlan[T, I]{planned{device: p.request.device, owner: p.request.owner.unowned()}}
}

// Unowned returns strings with the handle of the tensor.
func (d *DeviceTensor[T]) Unowned() *StringTensor { return &StringTensor{owner: d.owner.unowned()} }

// OperationRoles returns the names of the table and the rows of each operation by its number.
func OperationRoles() map[int32][2]Operand {
	found := map[int32][2]Operand{}
	for op, kind := range kindOf {
		if kind != nil {
			found[int32(op)] = [2]Operand{kind.names[roleTable], kind.names[roleRows]}
		}
	}
	return found
}

// OperationLast is the highest number of an operation in gather.h.
const OperationLast = int32(opLast)

// RunNumber runs the operation with a number, which may be invalid.
func RunNumber[T Element, I Index](op int32, table Output[T], indices Tensor[I], rows Output[T]) error {
	return takeError(run(operation(op), 0, &table.view, &indices.view, &rows.view, nil))
}
