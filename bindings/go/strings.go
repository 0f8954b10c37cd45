package gather

// #include "shim.h"
// #cgo nocallback gather_go_strings_alloc
// #cgo noescape gather_go_strings_adopt
// #cgo nocallback gather_go_strings_adopt
// #cgo noescape gather_go_strings_make
// #cgo nocallback gather_go_strings_make
// #cgo noescape gather_go_tensor_release
// #cgo nocallback gather_go_tensor_release
import "C"

import (
	"math"
	"slices"
	"unsafe"
)

// StringTensor is a tensor of strings, which may contain any bytes, in memory of the C library. It is made once, for many
// calls. Any number of goroutines may use one. Close may be called during calls, which still complete. A call with a closed
// tensor is ErrHandle.
type StringTensor struct {
	view  view // type and shape, for shape queries
	owner owner
}

// NewStrings copies strings into a tensor. Their number is the number of elements of the shape.
func NewStrings(values []string, shape ...int) (*StringTensor, error) {
	if errABI != nil {
		return nil, errABI
	}
	count, ok := byteCount(1, shape)
	if ok && count != len(values) {
		return nil, sizesDiffer(OperandTensor, len(values), count)
	}
	t := &StringTensor{view: newView(DTypeString, 0, slices.Clone(shape), nil)}
	memory, extent, err := copyStrings(values)
	if err != nil {
		return nil, err
	}
	var handle C.gather_go_handle
	failure := C.gather_go_strings_adopt(memory, C.int64_t(len(values)), C.int64_t(extent), t.view.numbers.ndim,
		t.view.cShape(), &handle)
	if failure != nil {
		return nil, takeError(failure)
	}
	own(t, &t.owner, handle, releaseTensor)
	return t, nil
}

// copyStrings copies strings to C memory: offsets, then bytes.
func copyStrings(values []string) (*C.int64_t, int, error) {
	extent := 0
	for _, value := range values {
		extent = min(extent, math.MaxInt-len(value)) + len(value) // A sum beyond int stays larger than the memory.
	}
	memory := C.gather_go_strings_alloc(C.int64_t(len(values)), C.int64_t(extent))
	if memory == nil {
		return nil, 0, fail(ErrNoMemory, OperandTensor, extent, 0, "no memory for the strings")
	}
	offsets := unsafe.Slice((*int64)(unsafe.Pointer(memory)), len(values)+1)
	bytes := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(memory), 8*(len(values)+1))), extent)
	end := 0
	for i, value := range values {
		offsets[i] = int64(end)
		end += copy(bytes[end:], value)
	}
	offsets[len(values)] = int64(end)
	return memory, extent, nil
}

func releaseTensor(handle C.gather_go_handle) { C.gather_go_tensor_release(handle) }

// Close releases the strings when the current calls with them have returned. Closing again does nothing.
func (t *StringTensor) Close() error {
	if t != nil {
		t.owner.close()
	}
	return nil
}

// Shape returns the extents. Do not change them.
func (t *StringTensor) Shape() []int { return t.view.shape() }

func (t *StringTensor) describe() *view {
	if t == nil {
		return nil
	}
	return &t.view
}

// GatherStrings is [Gather] for strings. It returns the elements in row-major order, and the shape.
func GatherStrings[I Index](params *StringTensor, indices Tensor[I], options ...Option) ([]string, []int, error) {
	return makeStrings(opGather, params, &indices.view, nil, options)
}

// GatherNDStrings is [GatherND] for strings, with the rules of [GatherStrings].
func GatherNDStrings[I Index](params *StringTensor, indices Tensor[I], options ...Option) ([]string, []int, error) {
	return makeStrings(opGatherND, params, &indices.view, nil, options)
}

// GatherElementsStrings is [GatherElements] for strings, with the rules of [GatherStrings].
func GatherElementsStrings[I Index](params *StringTensor, indices Tensor[I], options ...Option) ([]string, []int, error) {
	return makeStrings(opGatherElements, params, &indices.view, nil, options)
}

// StringUpdates is a tensor of strings to scatter.
type StringUpdates struct {
	tensor *StringTensor
}

// Updates is the same tensor, to scatter.
func (t *StringTensor) Updates() StringUpdates { return StringUpdates{t} }

// ScatterStrings is [Scatter] for strings, without [Reduction]. It returns the elements in row-major order, and the shape.
func ScatterStrings[I Index](target *StringTensor, indices Tensor[I], updates StringUpdates,
	options ...Option) ([]string, []int, error) {
	return scatterStrings(opScatter, target, &indices.view, updates.tensor, options)
}

// ScatterNDStrings is [ScatterND] for strings, with the rules of [ScatterStrings].
func ScatterNDStrings[I Index](target *StringTensor, indices Tensor[I], updates StringUpdates,
	options ...Option) ([]string, []int, error) {
	return scatterStrings(opScatterND, target, &indices.view, updates.tensor, options)
}

// ScatterElementsStrings is [ScatterElements] for strings, with the rules of [ScatterStrings].
func ScatterElementsStrings[I Index](target *StringTensor, indices Tensor[I], updates StringUpdates,
	options ...Option) ([]string, []int, error) {
	return scatterStrings(opScatterElements, target, &indices.view, updates.tensor, options)
}

func scatterStrings(op operation, target *StringTensor, indices *view, updates *StringTensor,
	options []Option) ([]string, []int, error) {
	if target != nil && updates == nil {
		return nil, nil, fail(ErrNull, OperandUpdates, 0, 0, "nil")
	}
	return makeStrings(op, target, indices, updates, options)
}

// makeStrings runs an operation on strings and returns its result. rows is nil for a gather.
func makeStrings(op operation, table *StringTensor, indices *view, rows *StringTensor,
	options []Option) ([]string, []int, error) {
	if table == nil {
		return nil, nil, fail(ErrNull, op.roles().table, 0, 0, "nil")
	}
	if indices.has(C.GATHER_GO_ODD) {
		return nil, nil, indices.odd(OperandIndices)
	}
	if err := indices.begin(OperandIndices); err != nil {
		return nil, nil, err
	}
	defer indices.end()
	rowsHandle, err := rows.begin(op.roles().rows)
	if err != nil {
		return nil, nil, err
	}
	defer rows.end()
	var s settings
	s.settle(options)
	context, tableHandle, err := s.context.beginWith(&table.owner, op.roles().table)
	if err != nil {
		return nil, nil, err
	}
	var found C.gather_go_strings
	failure := C.gather_go_strings_make(context, C.int32_t(op), tableHandle,
		&indices.numbers, indices.cData(), indices.cShape(), indices.cStrides(), rowsHandle, s.cOptions(), &found)
	s.context.endWith(&table.owner)
	return takeStrings(failure, &found)
}

// begin begins a call with the strings. nil has no handle.
func (t *StringTensor) begin(operand Operand) (C.gather_go_handle, error) {
	if t == nil {
		return 0, nil
	}
	return t.owner.begin(operand)
}

func (t *StringTensor) end() {
	if t != nil {
		t.owner.end()
	}
}

// takeStrings copies the result of a call, and releases it.
func takeStrings(failure *C.gather_go_error, found *C.gather_go_strings) ([]string, []int, error) {
	if failure != nil {
		return nil, nil, takeError(failure)
	}
	defer releaseTensor(found.tensor)
	shape := slices.Clone(unsafe.Slice((*int)(unsafe.Pointer(found.shape)), int(found.ndim)))
	return cutStrings(found, shape), shape, nil
}

// cutStrings copies the bytes once. The strings share the copy.
func cutStrings(found *C.gather_go_strings, shape []int) []string {
	count, _ := byteCount(1, shape)
	offsets := unsafe.Slice((*int64)(unsafe.Pointer(found.offsets)), count+1)
	bytes := string(unsafe.Slice((*byte)(unsafe.Pointer(found.bytes)), offsets[count]))
	values := make([]string, count)
	for i := range values {
		values[i] = bytes[offsets[i]:offsets[i+1]]
	}
	return values
}
