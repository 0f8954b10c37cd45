//go:build cgo

package gather

import "unsafe"

// Outputs have types of their own. They come first, as in copy, and often hold the elements that params hold: without a
// type of its own an output in the place of params would be read, and the table written, without a word. So have updates,
// which hold the elements of the target that they are written to, and often have its shape.

// Output is a tensor to write.
type Output[T Element] Tensor[T]

// NewOutput is a tensor to write over data, as [New] is one to read.
func NewOutput[T Element](data []T, shape ...int) (o Output[T]) {
	// Inlined for the same reason as New, which cannot be inlined into it once more.
	o.view.data = unsafe.Pointer(unsafe.SliceData(data))
	o.view.first = unsafe.SliceData(shape)
	setDense(&o.view, data, shape)
	return o
}

// Output is the same tensor, to write: for what [Strided] and [OnDevice] make.
func (t Tensor[T]) Output() Output[T] { return Output[T](t) }

// Output is the tensor as an output, as [DeviceTensor.Tensor] is it as an input.
func (d *DeviceTensor[T]) Output() Output[T] { return d.Tensor().Output() }

// Updates is a tensor to scatter.
type Updates[T Element] Tensor[T]

// NewUpdates is a tensor to scatter over data, as [New] is one to read.
func NewUpdates[T Element](data []T, shape ...int) (u Updates[T]) {
	u.view.data = unsafe.Pointer(unsafe.SliceData(data))
	u.view.first = unsafe.SliceData(shape)
	setDense(&u.view, data, shape)
	return u
}

// Updates is the same tensor, to scatter: for what [Strided], [Vector] and gathers make.
func (t Tensor[T]) Updates() Updates[T] { return Updates[T](t) }

// Source is memory that the run of a [ScatterPlan] scatters.
type Source[T Element] struct {
	memory []T
}

// From is memory to scatter.
func From[T Element](memory []T) Source[T] { return Source[T]{memory} }

// Target is memory that the run of a plan writes.
type Target[T Element] struct {
	memory []T
}

// To is memory to write.
func To[T Element](memory []T) Target[T] { return Target[T]{memory} }

// Addresses is the memory of [Plan.RunAt].
type Addresses struct {
	Params, Indices, Out uintptr
}

// ScatterAddresses is the memory of [ScatterPlan.RunAt].
type ScatterAddresses struct {
	Target, Indices, Updates uintptr
}
