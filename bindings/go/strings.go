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

// StringTensor is a tensor of strings in memory of the C library. A string may contain any bytes. Any number of
// goroutines may use one StringTensor, in any number of calls. Close may be called during calls, which still complete.
// A call with a closed tensor returns ErrHandle.
type StringTensor struct {
	view  view // the type and the shape, for shape queries
	owner owner
}

// NewStrings copies strings to a tensor. The shape must have as many elements as there are strings.
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

// copyStrings copies strings to C memory. The memory holds the offsets, and then the bytes.
func copyStrings(values []string) (*C.int64_t, int, error) {
	extent := 0
	for _, value := range values {
		extent = min(extent, math.MaxInt-len(value)) + len(value) // A sum that exceeds an int becomes the largest int.
	}
	memory := C.gather_go_strings_alloc(C.int64_t(len(values)), C.int64_t(extent))
	if memory == nil {
		return nil, 0, fail(ErrNoMemory, OperandTensor, extent, 0, "cannot allocate memory for the strings")
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

// Shape returns the extents. The caller must not change them.
func (t *StringTensor) Shape() []int { return t.view.shape() }

func (t *StringTensor) describe() *view {
	if t == nil {
		return nil
	}
	return &t.view
}

// GatherStrings runs [Gather] on strings. It returns the elements in row-major order, and the shape.
func GatherStrings[I Index](params *StringTensor, indices Tensor[I], options ...Option) ([]string, []int, error) {
	return makeStrings(opGather, params, &indices.view, nil, options)
}

// GatherNDStrings runs [GatherND] on strings, with the rules of [GatherStrings].
func GatherNDStrings[I Index](params *StringTensor, indices Tensor[I], options ...Option) ([]string, []int, error) {
	return makeStrings(opGatherND, params, &indices.view, nil, options)
}

// GatherElementsStrings runs [GatherElements] on strings, with the rules of [GatherStrings].
func GatherElementsStrings[I Index](params *StringTensor, indices Tensor[I], options ...Option) ([]string, []int, error) {
	return makeStrings(opGatherElements, params, &indices.view, nil, options)
}

// StringUpdates holds the updates of a scatter of strings.
type StringUpdates struct {
	tensor *StringTensor
}

// Updates returns the same tensor as updates.
func (t *StringTensor) Updates() StringUpdates { return StringUpdates{t} }

// ScatterStrings runs [Scatter] on strings. It returns the elements in row-major order, and the shape. [Reduction] is
// rejected.
func ScatterStrings[I Index](target *StringTensor, indices Tensor[I], updates StringUpdates,
	options ...Option) ([]string, []int, error) {
	return scatterStrings(opScatter, target, &indices.view, updates.tensor, options)
}

// ScatterNDStrings runs [ScatterND] on strings, with the rules of [ScatterStrings].
func ScatterNDStrings[I Index](target *StringTensor, indices Tensor[I], updates StringUpdates,
	options ...Option) ([]string, []int, error) {
	return scatterStrings(opScatterND, target, &indices.view, updates.tensor, options)
}

// ScatterElementsStrings runs [ScatterElements] on strings, with the rules of [ScatterStrings].
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
		return nil, nil, fail(ErrNull, op.operand(roleTable), 0, 0, "nil")
	}
	if indices.has(C.GATHER_GO_INVALID) {
		return nil, nil, indices.mismatch(OperandIndices)
	}
	if err := indices.begin(OperandIndices); err != nil {
		return nil, nil, err
	}
	defer indices.end()
	rowsHandle, err := rows.begin(op.operand(roleRows))
	if err != nil {
		return nil, nil, err
	}
	defer rows.end()
	var s settings
	s.applyAll(options)
	context, tableHandle, err := s.context.beginWith(&table.owner, op.operand(roleTable))
	if err != nil {
		return nil, nil, err
	}
	var found C.gather_go_strings
	failure := C.gather_go_strings_make(context, C.int32_t(op), tableHandle,
		&indices.numbers, indices.cData(), indices.cShape(), indices.cStrides(), rowsHandle, s.cOptions(), &found)
	s.context.endWith(&table.owner)
	return takeStrings(failure, &found)
}

// begin begins a call with the strings. For nil it returns the handle 0.
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

// takeStrings copies the result of a call to Go memory, and releases it.
func takeStrings(failure *C.gather_go_error, found *C.gather_go_strings) ([]string, []int, error) {
	if failure != nil {
		return nil, nil, takeError(failure)
	}
	defer releaseTensor(found.tensor)
	shape := slices.Clone(unsafe.Slice((*int)(unsafe.Pointer(found.shape)), int(found.ndim)))
	return cutStrings(found, shape), shape, nil
}

// cutStrings copies the bytes once. All strings share the copy.
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
