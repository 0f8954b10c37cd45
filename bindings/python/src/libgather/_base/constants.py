"""The constants, operations and profiles of gather.h. Generated from gather.h by ./dev generate: do not edit."""

ABI_VERSION = 1
VERSION = 1000
MAX_NDIM = 64
MESSAGE_SIZE = 256
MAX_DEVICES = 16
OPEN = -1
OK = 0
E_NULL = -1
E_HANDLE = -2
E_VERSION = -3
E_DTYPE = -4
E_RANK = -5
E_AXIS = -6
E_BATCH = -7
E_SHAPE = -8
E_SIZE = -9
E_STRIDE = -10
E_DEVICE = -11
E_DLPACK = -12
E_ARROW = -13
E_READONLY = -14
E_ALIAS = -15
E_INDEX = -16
E_RACE = -17
E_NOMEM = -18
E_FORK = -19
E_CUDA = -20
E_CAPTURE = -21
E_UNSUPPORTED = -22
E_INTERNAL = -23
E_OFFSETS = -24
E_IO = -25
OPERAND_NONE = 0
OPERAND_PARAMS = 1
OPERAND_INDICES = 2
OPERAND_OUT = 3
OPERAND_OPTIONS = 4
OPERAND_CONTEXT = 5
OPERAND_PLAN = 6
OPERAND_TENSOR = 7
OPERAND_TARGET = 8
OPERAND_UPDATES = 9
OPERAND_REQUEST = 10
OPERAND_BAGS = 11
OPERAND_WEIGHTS = 12
OPERAND_CODEC = 13
OPERAND_FILE = 14
OPERAND_SCALES = 15
OPERAND_ZEROS = 16
ERROR_UNSIGNED = 1
ERROR_CUT = 2
ERROR_WRAP = 4
ERROR_FIRST = 328
DTYPE_INT8 = 8
DTYPE_INT16 = 16
DTYPE_INT32 = 32
DTYPE_INT64 = 64
DTYPE_UINT8 = 264
DTYPE_UINT16 = 272
DTYPE_UINT32 = 288
DTYPE_UINT64 = 320
DTYPE_FLOAT16 = 528
DTYPE_FLOAT32 = 544
DTYPE_FLOAT64 = 576
DTYPE_BFLOAT16 = 1040
DTYPE_COMPLEX64 = 1344
DTYPE_COMPLEX128 = 1408
DTYPE_BOOL = 1544
DTYPE_FLOAT8_E3M4 = 1800
DTYPE_FLOAT8_E4M3 = 2056
DTYPE_FLOAT8_E4M3B11FNUZ = 2312
DTYPE_FLOAT8_E4M3FN = 2568
DTYPE_FLOAT8_E4M3FNUZ = 2824
DTYPE_FLOAT8_E5M2 = 3080
DTYPE_FLOAT8_E5M2FNUZ = 3336
DTYPE_FLOAT8_E8M0FNU = 3592
DTYPE_STRING = 65536
DEVICE_CPU = 1
DEVICE_CUDA = 2
DEVICE_CUDA_HOST = 3
DEVICE_CUDA_MANAGED = 13
TIER_PORTABLE = 1
TIER_AVX2 = 2
TIER_AVX512 = 4
TIER_NEON = 8
CAPABILITY_INFO_FIRST = 232
CONTEXT_OPTIONS_FIRST = 88
TENSOR_READONLY = 1
TENSOR_DESC_FIRST = 80
CODEC_BLOCKS = 0
CODEC_Q2_K = 1
CODEC_Q3_K = 2
CODEC_Q4_K = 3
CODEC_Q5_K = 4
CODEC_Q6_K = 5
CODEC_IQ4_XS = 6
CODEC_MXFP4 = 7
CODEC_NVFP4 = 8
CODE_UINT8 = 1
CODE_INT8 = 2
CODE_UINT4 = 3
CODE_INT4 = 4
CODE_UINT2 = 5
CODE_INT2 = 6
CODE_UINT5 = 7
CODE_E4M3FN = 8
CODE_E5M2 = 9
CODE_TABLE4 = 10
PACKING_LOW = 0
PACKING_HIGH = 1
PACKING_HALVES = 2
RULE_SCALED = 0
RULE_FUSED = 1
PLACE_NONE = 0
PLACE_BLOCK = 1
PLACE_TAIL = 2
PLACE_OPERAND = 3
ZERO_INT4 = 4
ZERO_UINT4 = 260
CODEC_FIRST = 120
EXPORT_COPY = 1
EXPORT_NO_COPY = 2
STRINGS_BINARY = 1
FILES_READ = 1
FILES_MAP = 2
SEGMENT_EXTENT = 1
SEGMENT_FILE = 2
SEGMENT_FIRST = 64
FILES_OPTIONS_FIRST = 16
FILES_STATS_FIRST = 40
PROFILE_TENSORFLOW = 1
PROFILE_TENSORFLOW_GPU = 2
PROFILE_ONNX = 3
PROFILE_ORT = 4
PROFILE_NUMPY_RAISE = 5
PROFILE_NUMPY_WRAP = 6
PROFILE_NUMPY_CLIP = 7
PROFILE_TORCH = 8
PROFILE_JAX_FILL = 9
PROFILE_JAX_CLIP = 10
NEGATIVE_REJECT = 1
NEGATIVE_WRAP = 2
BOUNDS_ERROR = 1
BOUNDS_FILL = 2
BOUNDS_CLAMP = 3
BOUNDS_MODULO = 4
BOUNDS_SKIP = 5
BOUNDS_ERROR_PARTIAL = 6
FILL_ZERO = 1
FILL_VALUE = 2
FILL_BY_DTYPE = 3
EXTENTS_EQUAL = 1
EXTENTS_PREFIX = 2
EXTENTS_BROADCAST = 3
REDUCTION_NONE = 1
REDUCTION_ADD = 2
REDUCTION_MUL = 3
REDUCTION_MAX = 4
REDUCTION_MIN = 5
REDUCTION_MEAN = 6
INITIAL_TARGET = 1
INITIAL_UPDATE = 2
ORDER_UPDATES = 1
ORDER_ANY = 2
ACCUMULATE_DTYPE = 1
ACCUMULATE_FLOAT32 = 2
ACCUMULATE_FLOAT64 = 3
BAGS_OFFSETS = 1
BAGS_STARTS = 2
BAGS_LENGTHS = 3
BAGS_SEGMENTS = 4
BAGS_DENSE = 5
POOL_SUM = 1
POOL_MEAN = 2
POOL_SQRTN = 3
POOL_MAX = 4
POOL_MIN = 5
EMPTY_ZERO = 1
EMPTY_FILL = 2
EMPTY_ERROR = 3
OPTIONS_FIRST = 128
OP_GATHER = 1
OP_GATHER_ND = 2
OP_GATHER_ELEMENTS = 3
OP_SCATTER = 4
OP_SCATTER_ND = 5
OP_SCATTER_ELEMENTS = 6
OP_GATHER_GRADIENT = 7
OP_GATHER_ND_GRADIENT = 8
OP_GATHER_ELEMENTS_GRADIENT = 9
OP_GATHER_BAGS = 10
OP_LAST = 10
REQUEST_FIRST = 56
ARGS_EXTENTS = 1
PLAN_ARGS_FIRST = 136
SHARDS_BLOCKS = 1
SHARDS_MODULO = 2
SHARDS_BORDERS = 3
SHARDS_FIRST = 32
PARTS_ONCE = 1
PARTS_FIRST = 64
TAKE_NULL = 1
TAKE_RECORD = 2
TAKE_FIRST = 40

#: The operations: the number, kind, form, tuples, the operands by role, and the place of the written operand.
OPERATIONS = {
    "gather": (1, "gather", "slices", "one", ("params", "indices", "out"), 2),
    "gather_nd": (2, "gather", "slices", "last", ("params", "indices", "out"), 2),
    "gather_elements": (3, "gather", "paired", "one", ("params", "indices", "out"), 2),
    "scatter": (4, "scatter", "slices", "one", ("target", "indices", "updates"), 0),
    "scatter_nd": (5, "scatter", "slices", "last", ("target", "indices", "updates"), 0),
    "scatter_elements": (6, "scatter", "paired", "one", ("target", "indices", "updates"), 0),
    "gather_gradient": (7, "gradient", "slices", "one", ("target", "indices", "updates"), 0),
    "gather_nd_gradient": (8, "gradient", "slices", "last", ("target", "indices", "updates"), 0),
    "gather_elements_gradient": (9, "gradient", "paired", "one", ("target", "indices", "updates"), 0),
    "gather_bags": (10, "bags", "bags", "one", ("params", "indices", "out"), 2),
}

#: The rules of each profile, and of no profile.
PROFILES = {
    "none": {"strings": "yes", "foreign": "all", "bounds": "error", "fill": "zero"},
    "tensorflow": {"strings": "yes", "foreign": "no", "bounds": "error", "fill": "zero"},
    "tensorflow_gpu": {"strings": "no", "foreign": "no", "bounds": "dropped", "fill": "zero"},
    "onnx": {"strings": "yes", "foreign": "no", "bounds": "error", "fill": "zero"},
    "ort": {"strings": "yes", "foreign": "no", "bounds": "error", "fill": "zero"},
    "numpy_raise": {"strings": "yes", "foreign": "all", "bounds": "error", "fill": "zero"},
    "numpy_wrap": {"strings": "yes", "foreign": "all", "bounds": "modulo", "fill": "zero"},
    "numpy_clip": {"strings": "yes", "foreign": "all", "bounds": "clamp", "fill": "zero"},
    "torch": {"strings": "no", "foreign": "no", "bounds": "error", "fill": "zero"},
    "jax_fill": {"strings": "no", "foreign": "small", "bounds": "dropped", "fill": "by_dtype"},
    "jax_clip": {"strings": "no", "foreign": "small", "bounds": "clamp", "fill": "zero"},
}
