// Code generated from gather.h by internal/generate. DO NOT EDIT.

//go:build cgo

package gather

const (
	abiVersion = 1
	// The highest rank of a tensor.
	MaxRank = 64
	// An extent that is left open when a plan is made, or handed on by a shape query.
	Open = -1
)

// What went wrong, for errors.Is.
const (
	// a required pointer is NULL, or data where there is something to read or write
	ErrNull Status = -1
	// not a live handle of the kind asked for: released, foreign, or garbage
	ErrHandle Status = -2
	// a struct size, switch, profile, opset or flag this library does not know
	ErrVersion Status = -3
	// a dtype that is unknown, not allowed here, or differs from the one needed
	ErrDType Status = -4
	// a rank that is negative, too small, too large, or differs from the one needed
	ErrRank Status = -5
	// axis outside [-rank, rank), below batch_dims, or not an attribute of the operation
	ErrAxis Status = -6
	// batch_dims out of range, or batch extents of params and indices that do not agree
	ErrBatch Status = -7
	// an extent that is negative or differs from the one needed; a tuple that is too long
	ErrShape Status = -8
	// a product of extents beyond int64, or a capacity that is too small
	ErrSize Status = -9
	// strides that leave the described memory, or an output that overlaps itself
	ErrStride Status = -10
	// an unknown or absent device, tensors of different devices, or a build without CUDA
	ErrDevice Status = -11
	// a malformed DLPack struct
	ErrDLPack Status = -12
	// a malformed Arrow struct
	ErrArrow Status = -13
	// an output, or a DLPack export without a flag for it, of read-only memory
	ErrReadOnly Status = -14
	// from its first byte to its last, what is written overlaps what is read
	ErrAlias Status = -15
	// an index out of bounds under bounds = error, or a row asked from an empty dim
	ErrIndex Status = -16
	// another thread changed indices or offsets: what was written is as it should be or zero
	ErrRace Status = -17
	// memory could not be had
	ErrNoMemory Status = -18
	// CUDA in a child process after fork
	ErrFork Status = -19
	// a CUDA call failed; gth_error.native has its number
	ErrCUDA Status = -20
	// the operation cannot be captured into a CUDA graph
	ErrCapture Status = -21
	// valid, but not offered for this kind of tensor
	ErrUnsupported Status = -22
	// a defect of the library
	ErrInternal Status = -23
)

// What an error is about.
const (
	OperandNone    Operand = 0
	OperandParams  Operand = 1
	OperandIndices Operand = 2
	OperandOut     Operand = 3
	OperandOptions Operand = 4
	OperandContext Operand = 5
	OperandPlan    Operand = 6
	// the tensor, description or foreign struct of a call that has only one
	OperandTensor  Operand = 7
	OperandTarget  Operand = 8
	OperandUpdates Operand = 9
)

// Bits of gth_error.flags.
const (
	// value is the bit pattern of an unsigned 64-bit number
	errorUnsigned = 1
	// message did not fit and was cut
	errorCut = 2
	// negative indices count from the end: the valid range is [-limit, limit)
	errorWrap = 4
)

// The types of elements.
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

// Where memory lies. 0 is the CPU too.
const (
	DeviceCPU  DeviceKind = 1
	DeviceCUDA DeviceKind = 2
	// pinned host memory
	DeviceCUDAHost DeviceKind = 3
	// managed memory
	DeviceCUDAManaged DeviceKind = 13
)

// Instruction sets that CPU kernels are written for.
const (
	TierPortable Tier = 1
	TierAVX2     Tier = 2
	TierAVX512   Tier = 4
	TierNEON     Tier = 8
)

// Bits of gth_tensor_desc.flags.
const (
	// refuse it as an output
	tensorReadOnly = 1
)

// All switches at once, equal to the named system.
const (
	// CPU kernels: no negatives, error
	ProfileTensorFlow Profile = 1
	// GPU kernels: no negatives, zeros
	ProfileTensorFlowGPU Profile = 2
	// the specification: negatives wrap, error, K = 0 refused, types by opset
	ProfileONNX Profile = 3
	// ONNX Runtime on the CPU
	ProfileORT Profile = 4
	// take(mode="raise"), x[i, j]: negatives wrap, error
	ProfileNumPyRaise Profile = 5
	// take(mode="wrap"): modulo
	ProfileNumPyWrap Profile = 6
	// take(mode="clip"): clamp, negatives go to 0
	ProfileNumPyClip Profile = 7
	// index_select for gather: no negatives; x[i, j] for gather_nd: negatives wrap
	ProfileTorch Profile = 8
	// jnp.take(mode="fill"), x.at[].get(mode="fill")
	ProfileJAXFill Profile = 9
	// jnp.take(mode="clip"), x.at[].get(mode="clip")
	ProfileJAXClip Profile = 10
)

// What a negative index means.
const (
	// it is out of bounds
	NegativeReject NegativePolicy = 1
	// it counts from the end, once: -1 is the last, -size the first, below is outside
	NegativeWrap NegativePolicy = 2
)

// What an index out of bounds means.
const (
	// GTH_E_INDEX, and the output is unchanged
	BoundsError BoundsPolicy = 1
	// the row is filled: gth_options.fill; not of scatters (GTH_E_VERSION)
	BoundsFill BoundsPolicy = 2
	// the nearest valid index
	BoundsClamp BoundsPolicy = 3
	// the index modulo the size, in [0, size)
	BoundsModulo BoundsPolicy = 4
	// the output's row is left as it is, zeros in a new output; an update is dropped
	BoundsSkip BoundsPolicy = 5
)

// What BoundsFill writes.
const (
	// zero bytes; empty strings
	FillZero FillPolicy = 1
	// gth_options.fill_value
	FillValue FillPolicy = 2
	// NaN, smallest signed, largest unsigned, true; as JAX does
	FillByDType FillPolicy = 3
)

// How params and indices must agree beside the axis of GatherElements.
const (
	// they are the same
	ExtentsEqual ExtentsPolicy = 1
	// those of indices may be smaller: a prefix of params is gathered from (torch, ONNX)
	ExtentsPrefix ExtentsPolicy = 2
	// where one of them is 1, it is repeated (NumPy, JAX)
	ExtentsBroadcast ExtentsPolicy = 3
)

// What a scatter does with an update.
const (
	// the row becomes the update; any dtype
	ReductionNone ReductionPolicy = 1
	ReductionAdd  ReductionPolicy = 2
	ReductionMul  ReductionPolicy = 3
	ReductionMax  ReductionPolicy = 4
	ReductionMin  ReductionPolicy = 5
)

// What a scatter adds and multiplies float16 and bfloat16 in.
const (
	// the dtype: 4,096 ones added to a float16 are 2,048
	AccumulateDType AccumulatePolicy = 1
	// float32, rounded once when all updates of an element are in: they are 4,096
	AccumulateFloat32 AccumulatePolicy = 2
)

// How the rows of a table are dealt out.
const (
	// to each shard as many in a row: ceil(rows / count), the last ones fewer or none
	shardsBlocks = 1
	// row r is row r / count of shard r % count
	shardsModulo = 2
	// shard s has the rows from borders[s] up to borders[s + 1]
	shardsBorders = 3
)

// Bits of gth_parts.flags.
const (
	// a row that several ids name is asked for once: `place` is needed, `order` is NULL
	partsOnce = 1
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
}

var operandNames = [...]string{
	0: "none",
	1: "params",
	2: "indices",
	3: "out",
	4: "options",
	5: "context",
	6: "plan",
	7: "tensor",
	8: "target",
	9: "updates",
}
