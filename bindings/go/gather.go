package gather

// #include "shim.h"
// #cgo noescape gather_go_desc
// #cgo nocallback gather_go_desc
// #cgo nocallback gather_go_can_allocate
import "C"

import (
	"runtime"
	"unsafe"
)

// Which of the two operations a call of C is.
const (
	opGather   C.int32_t = 0
	opGatherND C.int32_t = 1
)

// Gather takes slices of params along an axis. With a = [Axis] and b = [BatchDims]:
//
//	out.shape = params.shape[:a] + indices.shape[b:] + params.shape[a+1:]
//	out[B, O, J, I] = params[B, O, indices[B, J], I]
//
// The result is dense and new. An index out of bounds is an [*IndexError] unless [Bounds] says otherwise; any other
// failure is an [*Error]. params and indices are read during the call only, and may be used by other goroutines meanwhile.
func Gather[T Element, I Index](params Tensor[T], indices Tensor[I], options ...Option) (Tensor[T], error) {
	return allocate(opGather, params, indices, options)
}

// GatherND takes slices of params by tuples of K = indices.shape[-1] indices. With b = [BatchDims]:
//
//	out.shape = indices.shape[:-1] + params.shape[b+K:]
//	out[B, J, :] = params[B, indices[B, J, 0], .., indices[B, J, K-1], :]
//
// The rest is as in [Gather]. [Axis] is refused.
func GatherND[T Element, I Index](params Tensor[T], indices Tensor[I], options ...Option) (Tensor[T], error) {
	return allocate(opGatherND, params, indices, options)
}

// GatherInto is [Gather] into a tensor of exactly the output's shape. It is one call into C and allocates nothing. On an
// error out is unchanged (but see ErrRace). out must not share memory with params or indices.
func GatherInto[T Element, I Index](out, params Tensor[T], indices Tensor[I], options ...Option) error {
	s := settle(options)
	return into(opGather, &out.view, &params.view, &indices.view, &s)
}

// GatherNDInto is [GatherND] as [GatherInto] is [Gather].
func GatherNDInto[T Element, I Index](out, params Tensor[T], indices Tensor[I], options ...Option) error {
	s := settle(options)
	return into(opGatherND, &out.view, &params.view, &indices.view, &s)
}

func allocate[T Element, I Index](op C.int32_t, params Tensor[T], indices Tensor[I],
	options []Option) (Tensor[T], error) {
	s := settle(options)
	shape, err := outputShape(op, &params.view, &indices.view, &s)
	if err != nil {
		return Tensor[T]{}, err
	}
	bytes, ok := byteCount(elementSize(DTypeOf[T]()), shape)
	if !ok { // C says which extent is too large
		none := Shaped[T](shape...)
		return Tensor[T]{}, into(op, &none.view, &params.view, &indices.view, &s)
	}
	if !allocatable(bytes) {
		return Tensor[T]{}, fail(ErrNoMemory, OperandOut, bytes, 0, "no memory for it")
	}
	var zero T
	out := New(make([]T, bytes/int(unsafe.Sizeof(zero))), shape...)
	if err := into(op, &out.view, &params.view, &indices.view, &s); err != nil {
		return Tensor[T]{}, err
	}
	return out, nil
}

// allocatable is asked where a shape may be large over little memory, because make ends the process where it fails.
func allocatable(bytes int) bool {
	const suspicious = 1 << 30
	return bytes < suspicious || C.gather_go_can_allocate(C.int64_t(bytes)) != 0
}

func into(op C.int32_t, out, params, indices *view, s *settings) error {
	if err := check(params, indices, s); err != nil {
		return err
	}
	if err := out.check(OperandOut); err != nil {
		return err
	}
	err := C.gather_go_desc(op, s.context.cHandle(),
		&params.numbers, params.data, params.cShape(), params.cStrides(),
		&indices.numbers, indices.data, indices.cShape(), indices.cStrides(),
		&s.options,
		&out.numbers, out.data, out.cShape(), out.cStrides())
	runtime.KeepAlive(s.context)
	return takeError(err)
}

// check refuses what C is not to be asked.
func check(params, indices *view, s *settings) error {
	if errABI != nil {
		return errABI
	}
	if err := params.check(OperandParams); err != nil {
		return err
	}
	if err := indices.check(OperandIndices); err != nil {
		return err
	}
	return s.check(params)
}
