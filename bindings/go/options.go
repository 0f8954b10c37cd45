package gather

// #include "shim.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// Profile sets all switches at once, to what the named system does.
type Profile int32

// NegativePolicy says what a negative index means.
type NegativePolicy int32

// BoundsPolicy says what an index out of bounds means.
type BoundsPolicy int32

// FillPolicy says what BoundsFill writes.
type FillPolicy int32

// ExtentsPolicy says how the extents of params and indices must agree in the dims that are not the axis.
type ExtentsPolicy int32

// ReductionPolicy says what becomes of an update and of what its row of the target holds.
type ReductionPolicy int32

// AccumulatePolicy says what the float16 and bfloat16 of a scatter are added and multiplied in.
type AccumulatePolicy int32

// Option changes a call from the defaults: axis and batch dims 0, negative indices refused, ErrIndex for an index out of
// bounds, the process's default context. Of two options of one kind the later holds. Options cost no allocation.
type Option struct {
	apply   setting
	dtype   DType
	number  int
	image   [2]uint64
	context *Context
}

type setting int32

const (
	setAxis setting = iota + 1
	setBatchDims
	setProfile
	setOpset
	setNegative
	setBounds
	setFill
	setFillValue
	setExtents
	setReduction
	setAccumulate
	setThreads
	setContext
)

// Axis is the dim of params that a gather indexes, negative from the end. Without it, it is the number of batch dims.
func Axis(axis int) Option { return Option{apply: setAxis, number: axis} }

// BatchDims is the number of leading dims that params and indices share; negative, for gather, from the rank of indices.
func BatchDims(count int) Option { return Option{apply: setBatchDims, number: count} }

// WithProfile makes a call equal to the named system on every edge case. Other options override its switches.
func WithProfile(profile Profile) Option { return Option{apply: setProfile, number: int(profile)} }

// Opset is the ONNX version that ProfileONNX and ProfileORT follow; 0 is the newest.
func Opset(version int) Option { return Option{apply: setOpset, number: version} }

// Negative says what a negative index means.
func Negative(policy NegativePolicy) Option { return Option{apply: setNegative, number: int(policy)} }

// Bounds says what an index out of bounds means.
func Bounds(policy BoundsPolicy) Option { return Option{apply: setBounds, number: int(policy)} }

// Fill says what BoundsFill writes.
func Fill(policy FillPolicy) Option { return Option{apply: setFill, number: int(policy)} }

// FillWith makes BoundsFill write a value, of the type that params has.
func FillWith[T Element](value T) Option {
	option := Option{apply: setFillValue, dtype: DTypeOf[T]()}
	*(*T)(unsafe.Pointer(&option.image)) = value
	return option
}

// Extents says how params and indices of [GatherElements] and [ScatterElements] must agree in the dims that are not the
// axis.
func Extents(policy ExtentsPolicy) Option { return Option{apply: setExtents, number: int(policy)} }

// Reduction says what becomes of the updates of a scatter; other calls refuse it. Without it they replace what was there.
func Reduction(policy ReductionPolicy) Option {
	return Option{apply: setReduction, number: int(policy)}
}

// Accumulate says what float16 and bfloat16 are added and multiplied in, in scatters and gradients; other calls refuse it.
func Accumulate(policy AccumulatePolicy) Option {
	return Option{apply: setAccumulate, number: int(policy)}
}

// Threads is how many CPU threads a call may use at most; 0 is the context's number.
func Threads(count int) Option { return Option{apply: setThreads, number: count} }

// In runs a call in a context; nil is the process's default.
func In(context *Context) Option { return Option{apply: setContext, context: context} }

// Settings are options put together.
type settings struct {
	options   C.gth_options
	fillDType DType
	context   *Context
}

func (s *settings) settle(options []Option) {
	for i := range options {
		s.apply(&options[i])
	}
}

// cOptions is NULL where nothing was said: C then has less to look at.
func (s *settings) cOptions() *C.gth_options {
	if s.options.size == 0 {
		return nil
	}
	return &s.options
}

func (s *settings) apply(option *Option) {
	s.options.size = C.sizeof_gth_options
	switch option.apply {
	case setAxis:
		s.options.has_axis, s.options.axis = 1, C.int64_t(option.number)
	case setBatchDims:
		s.options.batch_dims = C.int64_t(option.number)
	case setProfile:
		s.options.profile = narrow(option.number)
	case setOpset:
		s.options.opset = narrow(option.number)
	case setNegative:
		s.options.negative = narrow(option.number)
	case setBounds:
		s.options.bounds = narrow(option.number)
	case setFill:
		s.options.fill = narrow(option.number)
	case setFillValue:
		s.options.fill, s.fillDType = C.int32_t(FillValue), option.dtype
		s.options.fill_value = [2]C.uint64_t{C.uint64_t(option.image[0]), C.uint64_t(option.image[1])}
	case setExtents:
		s.options.extents = narrow(option.number)
	case setReduction:
		s.options.reduction = narrow(option.number)
	case setAccumulate:
		s.options.accumulate = narrow(option.number)
	case setThreads:
		s.options.threads = narrow(option.number)
	case setContext:
		s.context = option.context
	}
}

// narrow keeps a number beyond 32 bits out of range, so that C refuses it as it would have been.
func narrow(number int) C.int32_t {
	const lowest, highest = -1 << 31, 1<<31 - 1
	return C.int32_t(max(lowest, min(number, highest)))
}

// checkFill refuses a fill value of another type than params.
func (s *settings) checkFill(params *view) error {
	if s.fillDType != 0 && s.fillDType != params.dtype() {
		message := fmt.Sprintf("the fill value is %v, params are %v", s.fillDType, params.dtype())
		return &Error{Status: ErrDType, Operand: OperandOptions, Component: int(unsafe.Offsetof(s.options.fill_value)),
			Position: -1, Value: int64(s.fillDType), Limit: int64(params.dtype()), Message: "options: " + message}
	}
	return nil
}
