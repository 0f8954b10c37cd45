// Code generated from gather.h by ./dev generate. DO NOT EDIT.

package gather

// #include "shim.h"
import "C"

const (
	setAxis         setting = 1
	setBatchDims    setting = 2
	setWithProfile  setting = 3
	setOpset        setting = 4
	setNegative     setting = 5
	setBounds       setting = 6
	setFill         setting = 7
	setExtents      setting = 8
	setReduction    setting = 9
	setAccumulate   setting = 10
	setThreads      setting = 11
	setPool         setting = 12
	setEmpty        setting = 13
	setPaddingIndex setting = 14
	setInitial      setting = 15
	setOrder        setting = 16
)

// Axis sets the dim of params that indices select in. A negative axis counts from the end. The default is the number of
// batch dims.
func Axis(axis int) Option {
	return Option{setting: setAxis, number: axis}
}

// BatchDims sets the number of leading dims that params and indices share. For [Gather] a negative number counts from
// the rank of indices. The default is 0.
func BatchDims(batchDims int) Option {
	return Option{setting: setBatchDims, number: batchDims}
}

// WithProfile sets the system whose results a call has in every edge case. Other options override its switches. The
// default is no profile.
func WithProfile(profile Profile) Option {
	return Option{setting: setWithProfile, number: int(profile)}
}

// Opset sets the ONNX version of [ProfileONNX] and [ProfileORT]. The default, 0, is the newest.
func Opset(opset int) Option {
	return Option{setting: setOpset, number: opset}
}

// Negative sets the meaning of a negative index. The default is that of the profile, else [NegativeReject].
func Negative(policy NegativePolicy) Option {
	return Option{setting: setNegative, number: int(policy)}
}

// Bounds sets the meaning of an index out of bounds. The default is that of the profile, else [BoundsError].
func Bounds(policy BoundsPolicy) Option {
	return Option{setting: setBounds, number: int(policy)}
}

// Fill sets the value that [BoundsFill] and padding of gathers write. The default is that of the profile, else
// [FillZero].
func Fill(policy FillPolicy) Option {
	return Option{setting: setFill, number: int(policy)}
}

// Extents sets the rule for the extents of params and indices of [GatherElements] and [ScatterElements] in the dims
// that are not the axis. The default is that of the profile, else [ExtentsEqual].
func Extents(policy ExtentsPolicy) Option {
	return Option{setting: setExtents, number: int(policy)}
}

// Reduction sets the way in which a scatter combines an update with the row that it selects. Other calls reject it. The
// default is [ReductionNone].
func Reduction(policy ReductionPolicy) Option {
	return Option{setting: setReduction, number: int(policy)}
}

// Accumulate sets the type in which scatters, gradients and bags add and multiply floating numbers. Other calls reject
// it. The default is that of the profile, else [AccumulateDType]. For bags it is [AccumulateFloat32].
func Accumulate(policy AccumulatePolicy) Option {
	return Option{setting: setAccumulate, number: int(policy)}
}

// Threads sets the highest number of CPU threads of a call. The default, 0, is that of the context.
func Threads(threads int) Option {
	return Option{setting: setThreads, number: threads}
}

// Pool sets the way in which gather_bags makes one row of the rows of a bag. The default is [PoolSum].
func Pool(policy PoolPolicy) Option {
	return Option{setting: setPool, number: int(policy)}
}

// Empty sets the row of a bag of gather_bags of which no id is read. The default is that of the profile, else
// [EmptyZero].
func Empty(policy EmptyPolicy) Option {
	return Option{setting: setEmpty, number: int(policy)}
}

// PaddingIndex sets an index that selects nothing and causes no error, even out of bounds. A gather fills its row as
// the option for fill values states, by default with zeros. A scatter drops its update. gather_bags does not count it.
// The default is no index.
func PaddingIndex(paddingIndex int) Option {
	return Option{setting: setPaddingIndex, number: paddingIndex}
}

// Initial sets the value that the reduction of a row by a scatter begins with: the row of target, or the first update.
// The default is [InitialTarget].
func Initial(policy InitialPolicy) Option {
	return Option{setting: setInitial, number: int(policy)}
}

// Order sets the order in which a scatter, a gradient or a gradient of bags on a CUDA device combines the updates of an
// element. On the CPU it is always that of the updates. The default is [OrderUpdates].
func Order(policy OrderPolicy) Option {
	return Option{setting: setOrder, number: int(policy)}
}

// set stores the number of an option in its field.
func (s *settings) set(option *Option) {
	switch option.setting {
	case setAxis:
		s.options.has_axis = 1
		s.options.axis = C.int64_t(option.number)
	case setBatchDims:
		s.options.batch_dims = C.int64_t(option.number)
	case setWithProfile:
		s.options.profile = narrow(option.number)
	case setOpset:
		s.options.opset = narrow(option.number)
	case setNegative:
		s.options.negative = narrow(option.number)
	case setBounds:
		s.options.bounds = narrow(option.number)
	case setFill:
		s.options.fill = narrow(option.number)
	case setExtents:
		s.options.extents = narrow(option.number)
	case setReduction:
		s.options.reduction = narrow(option.number)
	case setAccumulate:
		s.options.accumulate = narrow(option.number)
	case setThreads:
		s.options.threads = narrow(option.number)
	case setPool:
		s.options.pool = narrow(option.number)
	case setEmpty:
		s.options.empty = narrow(option.number)
	case setPaddingIndex:
		s.options.has_padding_index = 1
		s.options.padding_index = C.int64_t(option.number)
	case setInitial:
		s.options.initial = narrow(option.number)
	case setOrder:
		s.options.order = narrow(option.number)
	}
}
