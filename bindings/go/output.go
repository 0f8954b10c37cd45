//go:build cgo

package gather

import "unsafe"

// Outputs and updates have separate types, so that arguments in the wrong order do not compile. An output is the first
// argument, as in copy, and often has the element type of params. Updates have the element type of the target, and
// often its shape.

// Output is a tensor that a call writes.
type Output[T Element] Tensor[T]

// NewOutput returns an output over data, with the rules of [New].
func NewOutput[T Element](data []T, shape ...int) (o Output[T]) {
	// This repeats New, because New would not be inlined here.
	o.view.data = unsafe.Pointer(unsafe.SliceData(data))
	o.view.first = unsafe.SliceData(shape)
	setDense(&o.view, data, shape)
	return o
}

// Output returns the same tensor as an output.
func (t Tensor[T]) Output() Output[T] { return Output[T](t) }

// Output returns the tensor as an output.
func (d *DeviceTensor[T]) Output() Output[T] { return d.Tensor().Output() }

// Updates is a tensor with the updates of a scatter.
type Updates[T Element] Tensor[T]

// NewUpdates returns updates over data, with the rules of [New].
func NewUpdates[T Element](data []T, shape ...int) (u Updates[T]) {
	u.view.data = unsafe.Pointer(unsafe.SliceData(data))
	u.view.first = unsafe.SliceData(shape)
	setDense(&u.view, data, shape)
	return u
}

// Updates returns the same tensor as updates.
func (t Tensor[T]) Updates() Updates[T] { return Updates[T](t) }

// Source is the memory with the updates of a [ScatterPlan] run.
type Source[T Element] struct {
	memory []T
}

// From returns memory as the source of a run.
func From[T Element](memory []T) Source[T] { return Source[T]{memory} }

// Target is the memory that a run of a plan writes.
type Target[T Element] struct {
	memory []T
}

// To returns memory as the target of a run.
func To[T Element](memory []T) Target[T] { return Target[T]{memory} }

// Addresses holds the addresses of the operands of [Plan.RunAt].
type Addresses struct {
	Params, Indices, Out uintptr
}

// ScatterAddresses holds the addresses of the operands of [ScatterPlan.RunAt].
type ScatterAddresses struct {
	Target, Indices, Updates uintptr
}
