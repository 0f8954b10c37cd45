//go:build cgo

package gather

import "unsafe"

// Outputs and updates have types of their own. Outputs are the first argument, as in copy, and often have the element type
// of params. With one type for both, params and output in the wrong order would compile, and the call would write params.
// Updates have the element type of the target, and often its shape.

// Output is a tensor that is written.
type Output[T Element] Tensor[T]

// NewOutput makes a tensor that is written over data, with the rules of [New].
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

// Updates is a tensor of the updates of a scatter.
type Updates[T Element] Tensor[T]

// NewUpdates makes a tensor of updates over data, with the rules of [New].
func NewUpdates[T Element](data []T, shape ...int) (u Updates[T]) {
	u.view.data = unsafe.Pointer(unsafe.SliceData(data))
	u.view.first = unsafe.SliceData(shape)
	setDense(&u.view, data, shape)
	return u
}

// Updates returns the same tensor as updates.
func (t Tensor[T]) Updates() Updates[T] { return Updates[T](t) }

// Source is the memory of the updates of a [ScatterPlan] run.
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

// Addresses is the memory of [Plan.RunAt].
type Addresses struct {
	Params, Indices, Out uintptr
}

// ScatterAddresses is the memory of [ScatterPlan.RunAt].
type ScatterAddresses struct {
	Target, Indices, Updates uintptr
}
