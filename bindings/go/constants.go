// Code generated from gather.h by ./dev generate. DO NOT EDIT.

//go:build cgo

package gather

const (
	abiVersion = 1
	// MaxRank is the highest rank of a tensor.
	MaxRank = 64
	// Open is an extent that a plan leaves open, or that a shape query passes through.
	Open = -1
)

// These are the statuses of failed calls, for errors.Is.
const (
	// A required pointer is NULL, or data is NULL and elements are read or written.
	ErrNull Status = -1
	// The handle is released, of another kind, or was never one.
	ErrHandle Status = -2
	// The struct size, operation, switch, profile or flag is unknown or not valid here.
	ErrVersion Status = -3
	// The dtype is unknown, not allowed here, or differs from the required one.
	ErrDType Status = -4
	// The rank is negative, too small, too large, or differs from the required one.
	ErrRank Status = -5
	// The axis is outside [-rank, rank), below batch_dims, or the operation has none.
	ErrAxis Status = -6
	// batch_dims is out of range, or batch extents of params and indices differ.
	ErrBatch Status = -7
	// An extent is negative or differs from the required one, or a tuple is too long.
	ErrShape Status = -8
	// A product of extents exceeds int64, or a capacity is too small.
	ErrSize Status = -9
	// Strides leave the described memory, or elements of an output overlap.
	ErrStride Status = -10
	// The device is unknown or absent, devices differ, or the build has no CUDA.
	ErrDevice Status = -11
	// The DLPack struct is malformed.
	ErrDLPack Status = -12
	// The Arrow struct is malformed.
	ErrArrow Status = -13
	// Read-only memory is an output, or a DLPack export has no flag for it.
	ErrReadOnly Status = -14
	// The byte range of an output overlaps the byte range of another operand.
	ErrAlias Status = -15
	// With bounds = error an index is out of bounds, or a dim of extent 0 is indexed.
	ErrIndex Status = -16
	// Another thread changed indices or offsets during the call. See gth_run.
	ErrRace Status = -17
	// Memory could not be allocated.
	ErrNoMemory Status = -18
	// CUDA was used in a child process after fork.
	ErrFork Status = -19
	// A CUDA call failed. gth_error.native has its number.
	ErrCUDA Status = -20
	// The operation cannot be captured into a CUDA graph.
	ErrCapture Status = -21
	// The request is valid, but this kind of operand or device does not support it.
	ErrUnsupported Status = -22
	// The library has a defect.
	ErrInternal Status = -23
	// Offsets, lengths or segments of bags are invalid, or a bag is empty.
	ErrOffsets Status = -24
	// A file could not be opened or read. gth_error.native is errno.
	ErrIO Status = -25
)

// These are the operands that an error can name.
const (
	OperandNone Operand = 0
	// table of a gather; source of a copy
	OperandParams Operand = 1
	// indices
	OperandIndices Operand = 2
	// rows of a gather; destination of a copy
	OperandOut     Operand = 3
	OperandOptions Operand = 4
	OperandContext Operand = 5
	// the plan, or gth_plan_args
	OperandPlan Operand = 6
	// the tensor, description or foreign struct of a call that has only one
	OperandTensor Operand = 7
	// table of a scatter or a gradient
	OperandTarget Operand = 8
	// rows of a scatter or a gradient
	OperandUpdates Operand = 9
	OperandRequest Operand = 10
	// bags of gather_bags
	OperandBags Operand = 11
	// weights of gather_bags
	OperandWeights Operand = 12
	// the codec of a packed table
	OperandCodec Operand = 13
	// a segment of a table in files
	OperandFile Operand = 14
	// scales of a packed table
	OperandScales Operand = 15
	// zero points or biases of a packed table
	OperandZeros Operand = 16
)

// An operation is the number of an operation in the C library.
type operation int32

// These are the values of operation.
const (
	opGather                 operation = 1
	opGatherND               operation = 2
	opGatherElements         operation = 3
	opScatter                operation = 4
	opScatterND              operation = 5
	opScatterElements        operation = 6
	opGatherGradient         operation = 7
	opGatherNDGradient       operation = 8
	opGatherElementsGradient operation = 9
	opGatherBags             operation = 10
	opLast                   operation = 10
)

// These are the bits of gth_error.flags.
const (
	// value is the bit pattern of an unsigned 64-bit number.
	errorUnsigned = 1
	// The message was too long and was cut.
	errorCut = 2
	// Negative indices count from the end. The valid range is [-limit, limit).
	errorWrap = 4
)

// These are the dtypes.
const (
	DTypeInt8              DType = 8
	DTypeInt16             DType = 16
	DTypeInt32             DType = 32
	DTypeInt64             DType = 64
	DTypeUint8             DType = 264
	DTypeUint16            DType = 272
	DTypeUint32            DType = 288
	DTypeUint64            DType = 320
	DTypeFloat16           DType = 528
	DTypeFloat32           DType = 544
	DTypeFloat64           DType = 576
	DTypeBFloat16          DType = 1040
	DTypeComplex64         DType = 1344
	DTypeComplex128        DType = 1408
	DTypeBool              DType = 1544
	DTypeFloat8E3M4        DType = 1800
	DTypeFloat8E4M3        DType = 2056
	DTypeFloat8E4M3B11FNUZ DType = 2312
	DTypeFloat8E4M3FN      DType = 2568
	DTypeFloat8E4M3FNUZ    DType = 2824
	DTypeFloat8E5M2        DType = 3080
	DTypeFloat8E5M2FNUZ    DType = 3336
	DTypeFloat8E8M0FNU     DType = 3592
	DTypeString            DType = 65536
)

// These are the kinds of devices. 0 also means the CPU.
const (
	DeviceCPU  DeviceKind = 1
	DeviceCUDA DeviceKind = 2
	// pinned host memory
	DeviceCUDAHost DeviceKind = 3
	// managed memory
	DeviceCUDAManaged DeviceKind = 13
)

// These are the instruction sets that CPU kernels exist for.
const (
	TierPortable Tier = 1
	TierAVX2     Tier = 2
	// AVX-512 F, BW, VL and DQ: kernels for bags. The others are those of AVX2.
	TierAVX512 Tier = 4
	TierNEON   Tier = 8
)

// These are the bits of gth_tensor_desc.flags.
const (
	// The memory must not be written.
	tensorReadOnly = 1
)

// These are the distributions of the rows of a table over shards.
const (
	// Each shard has ceil(rows / count) consecutive rows. The last shards have fewer or none.
	shardsBlocks = 1
	// Row r is row r / count of shard r % count.
	shardsModulo = 2
	// Shard s has the rows from borders[s] up to borders[s + 1].
	shardsBorders = 3
)

// These are the bits of gth_parts.flags.
const (
	// Duplicate ids request a row once. `place` is required, and `order` must be NULL.
	partsOnce = 1
)

// A Profile is the system whose results a call has in every edge case.
type Profile int32

// These are the values of Profile.
const (
	// TensorFlow on the CPU: an index below 0 is an error
	ProfileTensorFlow Profile = 1
	// TensorFlow on a GPU: an index out of bounds gives zeros
	ProfileTensorFlowGPU Profile = 2
	// ONNX, the specification: negative indices wrap, no K = 0, types by opset
	ProfileONNX Profile = 3
	// ONNX Runtime on the CPU
	ProfileORT Profile = 4
	// NumPy's take(mode="raise") and x[i, j]: negative indices wrap
	ProfileNumPyRaise Profile = 5
	// NumPy's take(mode="wrap"): an index modulo the size
	ProfileNumPyWrap Profile = 6
	// NumPy's take(mode="clip"): the nearest index, 0 for a negative one
	ProfileNumPyClip Profile = 7
	// torch's index_select for gather, and x[i, j] for gather_nd
	ProfileTorch Profile = 8
	// jnp.take(mode="fill"), x.at[].get(mode="fill")
	ProfileJAXFill Profile = 9
	// jnp.take(mode="clip"), x.at[].get(mode="clip")
	ProfileJAXClip Profile = 10
)

// A NegativePolicy is the meaning of a negative index.
type NegativePolicy int32

// These are the values of NegativePolicy.
const (
	// It is out of bounds.
	NegativeReject NegativePolicy = 1
	// It counts from the end: -1 is the last, -size the first. A smaller one is out of bounds.
	NegativeWrap NegativePolicy = 2
)

// A BoundsPolicy is the meaning of an index out of bounds.
type BoundsPolicy int32

// These are the values of BoundsPolicy.
const (
	// The call returns GTH_E_INDEX, and the output is unchanged.
	BoundsError BoundsPolicy = 1
	// The row is filled with the value that gth_options.fill selects. Not valid for scatters.
	BoundsFill BoundsPolicy = 2
	// The nearest valid index is used.
	BoundsClamp BoundsPolicy = 3
	// The index modulo the extent is used, in [0, extent).
	BoundsModulo BoundsPolicy = 4
	// The row of the output is unchanged, and zero in a new output. An update is dropped.
	BoundsSkip         BoundsPolicy = 5
	BoundsErrorPartial BoundsPolicy = 6
)

// A FillPolicy is the value that [BoundsFill] and padding of gathers write.
type FillPolicy int32

// These are the values of FillPolicy.
const (
	// Zero bytes, or empty strings.
	FillZero FillPolicy = 1
	// gth_options.fill_value
	FillValue FillPolicy = 2
	// As in JAX: NaN (+ 0i), the smallest signed, the largest unsigned, true.
	FillByDType FillPolicy = 3
)

// An ExtentsPolicy is the rule for the extents of params and indices of [GatherElements] and [ScatterElements] in the
// dims that are not the axis.
type ExtentsPolicy int32

// These are the values of ExtentsPolicy.
const (
	// They are equal.
	ExtentsEqual ExtentsPolicy = 1
	// Extents of indices may be smaller. A prefix of params is used (torch, ONNX).
	ExtentsPrefix ExtentsPolicy = 2
	// An extent of 1 is repeated (NumPy, JAX).
	ExtentsBroadcast ExtentsPolicy = 3
)

// A ReductionPolicy is the way in which a scatter combines an update with the row that it selects.
type ReductionPolicy int32

// These are the values of ReductionPolicy.
const (
	// The row becomes the update. All dtypes.
	ReductionNone ReductionPolicy = 1
	// The row becomes the sum. Integers wrap around. For bools it is the logical or.
	ReductionAdd ReductionPolicy = 2
	// The row becomes the product. Integers wrap around. For bools it is the logical and.
	ReductionMul ReductionPolicy = 3
	// The row becomes the maximum, or NaN if either is NaN.
	ReductionMax ReductionPolicy = 4
	// The row becomes the minimum, or NaN if either is NaN.
	ReductionMin ReductionPolicy = 5
	// The row becomes the mean of its updates and itself, rounded down for integers.
	ReductionMean ReductionPolicy = 6
)

// An AccumulatePolicy is the type in which scatters, gradients and bags add and multiply floating numbers.
type AccumulatePolicy int32

// These are the values of AccumulatePolicy.
const (
	// Each result is rounded to the dtype. 4,096 ones in float16 then add up to 2,048.
	AccumulateDType AccumulatePolicy = 1
	// float32, for float16 and bfloat16. Elements are rounded once, after all updates: 4,096.
	AccumulateFloat32 AccumulatePolicy = 2
	// float64, for float32, whose elements are rounded once. float16 and bfloat16 use float32. Not for bags.
	AccumulateFloat64 AccumulatePolicy = 3
)

// A PoolPolicy is the way in which gather_bags makes one row of the rows of a bag.
type PoolPolicy int32

// These are the values of PoolPolicy.
const (
	// The sum of w * row.
	PoolSum PoolPolicy = 1
	// The sum, divided by the sum of w. Floating and complex numbers only.
	PoolMean PoolPolicy = 2
	// The sum, divided by the root of the sum of w * w. Floating numbers only.
	PoolSqrtn PoolPolicy = 3
	// The largest number, or NaN if one is NaN. There are no weights and no complex numbers.
	PoolMax PoolPolicy = 4
	// The smallest number, or NaN if one is NaN. There are no weights and no complex numbers.
	PoolMin PoolPolicy = 5
)

// An EmptyPolicy is the row of a bag of gather_bags of which no id is read.
type EmptyPolicy int32

// These are the values of EmptyPolicy.
const (
	// Zeros.
	EmptyZero EmptyPolicy = 1
	// The value that gth_options.fill selects.
	EmptyFill EmptyPolicy = 2
	// GTH_E_OFFSETS. The output is unchanged.
	EmptyError EmptyPolicy = 3
)

// An InitialPolicy is the value that the reduction of a row by a scatter begins with: the row of target, or the first
// update.
type InitialPolicy int32

// These are the values of InitialPolicy.
const (
	// The row of target.
	InitialTarget InitialPolicy = 1
	// The first update, as with include_self=False of torch.
	InitialUpdate InitialPolicy = 2
)

// An OrderPolicy is the order in which a scatter, a gradient or a gradient of bags on a CUDA device combines the
// updates of an element.
type OrderPolicy int32

// These are the values of OrderPolicy.
const (
	// The order of their positions. The bytes of the result are equal in every call, on every device and on the CPU, except for the bits of NaN.
	OrderUpdates OrderPolicy = 1
	// A CUDA device may add float16, bfloat16, float32, float64 and complex numbers with atomic additions. Then the last bits of a sum or a mean may differ from call to call, and subnormal numbers of float32 may count as zero. Other reductions and dtypes are not changed.
	OrderAny OrderPolicy = 2
)

var statusNames = [...]string{
	1:  "GTH_E_NULL",
	2:  "GTH_E_HANDLE",
	3:  "GTH_E_VERSION",
	4:  "GTH_E_DTYPE",
	5:  "GTH_E_RANK",
	6:  "GTH_E_AXIS",
	7:  "GTH_E_BATCH",
	8:  "GTH_E_SHAPE",
	9:  "GTH_E_SIZE",
	10: "GTH_E_STRIDE",
	11: "GTH_E_DEVICE",
	12: "GTH_E_DLPACK",
	13: "GTH_E_ARROW",
	14: "GTH_E_READONLY",
	15: "GTH_E_ALIAS",
	16: "GTH_E_INDEX",
	17: "GTH_E_RACE",
	18: "GTH_E_NOMEM",
	19: "GTH_E_FORK",
	20: "GTH_E_CUDA",
	21: "GTH_E_CAPTURE",
	22: "GTH_E_UNSUPPORTED",
	23: "GTH_E_INTERNAL",
	24: "GTH_E_OFFSETS",
	25: "GTH_E_IO",
}

var operandNames = [...]string{
	0:  "none",
	1:  "params",
	2:  "indices",
	3:  "out",
	4:  "options",
	5:  "context",
	6:  "plan",
	7:  "tensor",
	8:  "target",
	9:  "updates",
	10: "request",
	11: "bags",
	12: "weights",
	13: "codec",
	14: "file",
	15: "scales",
	16: "zeros",
}
