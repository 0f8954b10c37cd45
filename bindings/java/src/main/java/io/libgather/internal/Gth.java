package io.libgather.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * gather.h in Java, with the functions that Java calls. Generated from gather.h by ./dev generate: do not edit.
 *
 * <p>Each function is linked at its first call.
 */
public final class Gth {
  public static final int ABI_VERSION = 1;
  public static final int VERSION = 1000;
  public static final int MAX_NDIM = 64;
  public static final int MESSAGE_SIZE = 256;
  public static final int MAX_DEVICES = 16;
  public static final int OPEN = -1;
  public static final int OK = 0;
  public static final int E_NULL = -1;
  public static final int E_HANDLE = -2;
  public static final int E_VERSION = -3;
  public static final int E_DTYPE = -4;
  public static final int E_RANK = -5;
  public static final int E_AXIS = -6;
  public static final int E_BATCH = -7;
  public static final int E_SHAPE = -8;
  public static final int E_SIZE = -9;
  public static final int E_STRIDE = -10;
  public static final int E_DEVICE = -11;
  public static final int E_DLPACK = -12;
  public static final int E_ARROW = -13;
  public static final int E_READONLY = -14;
  public static final int E_ALIAS = -15;
  public static final int E_INDEX = -16;
  public static final int E_RACE = -17;
  public static final int E_NOMEM = -18;
  public static final int E_FORK = -19;
  public static final int E_CUDA = -20;
  public static final int E_CAPTURE = -21;
  public static final int E_UNSUPPORTED = -22;
  public static final int E_INTERNAL = -23;
  public static final int E_OFFSETS = -24;
  public static final int E_IO = -25;
  public static final int OPERAND_NONE = 0;
  public static final int OPERAND_PARAMS = 1;
  public static final int OPERAND_INDICES = 2;
  public static final int OPERAND_OUT = 3;
  public static final int OPERAND_OPTIONS = 4;
  public static final int OPERAND_CONTEXT = 5;
  public static final int OPERAND_PLAN = 6;
  public static final int OPERAND_TENSOR = 7;
  public static final int OPERAND_TARGET = 8;
  public static final int OPERAND_UPDATES = 9;
  public static final int OPERAND_REQUEST = 10;
  public static final int OPERAND_BAGS = 11;
  public static final int OPERAND_WEIGHTS = 12;
  public static final int OPERAND_CODEC = 13;
  public static final int OPERAND_FILE = 14;
  public static final int OPERAND_SCALES = 15;
  public static final int OPERAND_ZEROS = 16;
  public static final int ERROR_UNSIGNED = 1;
  public static final int ERROR_CUT = 2;
  public static final int ERROR_WRAP = 4;
  public static final int ERROR_FIRST = 328;
  public static final int DTYPE_INT8 = 8;
  public static final int DTYPE_INT16 = 16;
  public static final int DTYPE_INT32 = 32;
  public static final int DTYPE_INT64 = 64;
  public static final int DTYPE_UINT8 = 264;
  public static final int DTYPE_UINT16 = 272;
  public static final int DTYPE_UINT32 = 288;
  public static final int DTYPE_UINT64 = 320;
  public static final int DTYPE_FLOAT16 = 528;
  public static final int DTYPE_FLOAT32 = 544;
  public static final int DTYPE_FLOAT64 = 576;
  public static final int DTYPE_BFLOAT16 = 1040;
  public static final int DTYPE_COMPLEX64 = 1344;
  public static final int DTYPE_COMPLEX128 = 1408;
  public static final int DTYPE_BOOL = 1544;
  public static final int DTYPE_FLOAT8_E3M4 = 1800;
  public static final int DTYPE_FLOAT8_E4M3 = 2056;
  public static final int DTYPE_FLOAT8_E4M3B11FNUZ = 2312;
  public static final int DTYPE_FLOAT8_E4M3FN = 2568;
  public static final int DTYPE_FLOAT8_E4M3FNUZ = 2824;
  public static final int DTYPE_FLOAT8_E5M2 = 3080;
  public static final int DTYPE_FLOAT8_E5M2FNUZ = 3336;
  public static final int DTYPE_FLOAT8_E8M0FNU = 3592;
  public static final int DTYPE_STRING = 65536;
  public static final int DEVICE_CPU = 1;
  public static final int DEVICE_CUDA = 2;
  public static final int DEVICE_CUDA_HOST = 3;
  public static final int DEVICE_CUDA_MANAGED = 13;
  public static final int TIER_PORTABLE = 1;
  public static final int TIER_AVX2 = 2;
  public static final int TIER_AVX512 = 4;
  public static final int TIER_NEON = 8;
  public static final int CAPABILITY_INFO_FIRST = 232;
  public static final int CONTEXT_OPTIONS_FIRST = 88;
  public static final int TENSOR_READONLY = 1;
  public static final int TENSOR_DESC_FIRST = 80;
  public static final int CODEC_BLOCKS = 0;
  public static final int CODEC_Q2_K = 1;
  public static final int CODEC_Q3_K = 2;
  public static final int CODEC_Q4_K = 3;
  public static final int CODEC_Q5_K = 4;
  public static final int CODEC_Q6_K = 5;
  public static final int CODEC_IQ4_XS = 6;
  public static final int CODEC_MXFP4 = 7;
  public static final int CODEC_NVFP4 = 8;
  public static final int CODE_UINT8 = 1;
  public static final int CODE_INT8 = 2;
  public static final int CODE_UINT4 = 3;
  public static final int CODE_INT4 = 4;
  public static final int CODE_UINT2 = 5;
  public static final int CODE_INT2 = 6;
  public static final int CODE_UINT5 = 7;
  public static final int CODE_E4M3FN = 8;
  public static final int CODE_E5M2 = 9;
  public static final int CODE_TABLE4 = 10;
  public static final int PACKING_LOW = 0;
  public static final int PACKING_HIGH = 1;
  public static final int PACKING_HALVES = 2;
  public static final int RULE_SCALED = 0;
  public static final int RULE_FUSED = 1;
  public static final int PLACE_NONE = 0;
  public static final int PLACE_BLOCK = 1;
  public static final int PLACE_TAIL = 2;
  public static final int PLACE_OPERAND = 3;
  public static final int ZERO_INT4 = 4;
  public static final int ZERO_UINT4 = 260;
  public static final int CODEC_FIRST = 120;
  public static final int EXPORT_COPY = 1;
  public static final int EXPORT_NO_COPY = 2;
  public static final int STRINGS_BINARY = 1;
  public static final int FILES_READ = 1;
  public static final int FILES_MAP = 2;
  public static final int SEGMENT_EXTENT = 1;
  public static final int SEGMENT_FILE = 2;
  public static final int SEGMENT_FIRST = 64;
  public static final int FILES_OPTIONS_FIRST = 16;
  public static final int FILES_STATS_FIRST = 40;
  public static final int PROFILE_TENSORFLOW = 1;
  public static final int PROFILE_TENSORFLOW_GPU = 2;
  public static final int PROFILE_ONNX = 3;
  public static final int PROFILE_ORT = 4;
  public static final int PROFILE_NUMPY_RAISE = 5;
  public static final int PROFILE_NUMPY_WRAP = 6;
  public static final int PROFILE_NUMPY_CLIP = 7;
  public static final int PROFILE_TORCH = 8;
  public static final int PROFILE_JAX_FILL = 9;
  public static final int PROFILE_JAX_CLIP = 10;
  public static final int NEGATIVE_REJECT = 1;
  public static final int NEGATIVE_WRAP = 2;
  public static final int BOUNDS_ERROR = 1;
  public static final int BOUNDS_FILL = 2;
  public static final int BOUNDS_CLAMP = 3;
  public static final int BOUNDS_MODULO = 4;
  public static final int BOUNDS_SKIP = 5;
  public static final int BOUNDS_ERROR_PARTIAL = 6;
  public static final int FILL_ZERO = 1;
  public static final int FILL_VALUE = 2;
  public static final int FILL_BY_DTYPE = 3;
  public static final int EXTENTS_EQUAL = 1;
  public static final int EXTENTS_PREFIX = 2;
  public static final int EXTENTS_BROADCAST = 3;
  public static final int REDUCTION_NONE = 1;
  public static final int REDUCTION_ADD = 2;
  public static final int REDUCTION_MUL = 3;
  public static final int REDUCTION_MAX = 4;
  public static final int REDUCTION_MIN = 5;
  public static final int REDUCTION_MEAN = 6;
  public static final int INITIAL_TARGET = 1;
  public static final int INITIAL_UPDATE = 2;
  public static final int ORDER_UPDATES = 1;
  public static final int ORDER_ANY = 2;
  public static final int ACCUMULATE_DTYPE = 1;
  public static final int ACCUMULATE_FLOAT32 = 2;
  public static final int ACCUMULATE_FLOAT64 = 3;
  public static final int BAGS_OFFSETS = 1;
  public static final int BAGS_STARTS = 2;
  public static final int BAGS_LENGTHS = 3;
  public static final int BAGS_SEGMENTS = 4;
  public static final int BAGS_DENSE = 5;
  public static final int POOL_SUM = 1;
  public static final int POOL_MEAN = 2;
  public static final int POOL_SQRTN = 3;
  public static final int POOL_MAX = 4;
  public static final int POOL_MIN = 5;
  public static final int EMPTY_ZERO = 1;
  public static final int EMPTY_FILL = 2;
  public static final int EMPTY_ERROR = 3;
  public static final int OPTIONS_FIRST = 128;
  public static final int OP_GATHER = 1;
  public static final int OP_GATHER_ND = 2;
  public static final int OP_GATHER_ELEMENTS = 3;
  public static final int OP_SCATTER = 4;
  public static final int OP_SCATTER_ND = 5;
  public static final int OP_SCATTER_ELEMENTS = 6;
  public static final int OP_GATHER_GRADIENT = 7;
  public static final int OP_GATHER_ND_GRADIENT = 8;
  public static final int OP_GATHER_ELEMENTS_GRADIENT = 9;
  public static final int OP_GATHER_BAGS = 10;
  public static final int OP_LAST = 10;
  public static final int REQUEST_FIRST = 56;
  public static final int ARGS_EXTENTS = 1;
  public static final int PLAN_ARGS_FIRST = 136;
  public static final int SHARDS_BLOCKS = 1;
  public static final int SHARDS_MODULO = 2;
  public static final int SHARDS_BORDERS = 3;
  public static final int SHARDS_FIRST = 32;
  public static final int PARTS_ONCE = 1;
  public static final int PARTS_FIRST = 64;
  public static final int TAKE_NULL = 1;
  public static final int TAKE_RECORD = 2;
  public static final int TAKE_FIRST = 40;

  /** The size of gth_error, and the offsets of its fields. */
  public static final class Error {
    public static final long BYTES = 328;
    public static final long SIZE = 0;
    public static final long STATUS = 4;
    public static final long OPERAND = 8;
    public static final long COMPONENT = 12;
    public static final long NATIVE = 16;
    public static final long FLAGS = 20;
    public static final long POSITION = 24;
    public static final long VALUE = 32;
    public static final long LIMIT = 40;
    public static final long SEQUENCE = 48;
    public static final long COUNT = 56;
    public static final long ITEM = 64;
    public static final long MESSAGE = 72;

    private Error() {}
  }

  /** The size of gth_capability_info, and the offsets of its fields. */
  public static final class CapabilityInfo {
    public static final long BYTES = 232;
    public static final long SIZE = 0;
    public static final long ABI = 4;
    public static final long VERSION = 8;
    public static final long CPU_THREADS = 12;
    public static final long CPU_TIERS_BUILT = 16;
    public static final long CPU_TIERS_USABLE = 20;
    public static final long CPU_TIER = 24;
    public static final long CUDA_RUNTIME = 28;
    public static final long CUDA_DRIVER = 32;
    public static final long DEVICE_COUNT = 36;
    public static final long DEVICE_COMPUTE = 40;
    public static final long DEVICE_MEMORY = 104;

    private CapabilityInfo() {}
  }

  /** The size of gth_error_record, and the offsets of its fields. */
  public static final class ErrorRecord {
    public static final long BYTES = 64;
    public static final long COUNT = 0;
    public static final long SEQUENCE = 8;
    public static final long POSITION = 16;
    public static final long VALUE = 24;
    public static final long LIMIT = 32;
    public static final long OPERAND = 40;
    public static final long COMPONENT = 44;
    public static final long STATUS = 48;
    public static final long FLAGS = 52;
    public static final long RESERVED = 56;

    private ErrorRecord() {}
  }

  /** The size of gth_context_options, and the offsets of its fields. */
  public static final class ContextOptions {
    public static final long BYTES = 88;
    public static final long SIZE = 0;
    public static final long THREADS = 4;
    public static final long DEVICE = 8;
    public static final long DEVICE_ID = 12;
    public static final long FLAGS = 16;
    public static final long RESERVED = 20;
    public static final long STREAM = 24;
    public static final long RECORD = 32;
    public static final long ALLOC = 40;
    public static final long FREE = 48;
    public static final long MEMORY_USER = 56;
    public static final long PARALLEL_FOR = 64;
    public static final long PARALLEL_USER = 72;
    public static final long RESERVED_POINTER = 80;

    private ContextOptions() {}
  }

  /** The size of gth_tensor_desc, and the offsets of its fields. */
  public static final class TensorDesc {
    public static final long BYTES = 80;
    public static final long SIZE = 0;
    public static final long DTYPE = 4;
    public static final long DEVICE = 8;
    public static final long DEVICE_ID = 12;
    public static final long NDIM = 16;
    public static final long FLAGS = 20;
    public static final long TENSOR = 24;
    public static final long DATA = 32;
    public static final long SHAPE = 40;
    public static final long STRIDES = 48;
    public static final long CODEC = 56;
    public static final long OFFSET = 64;
    public static final long EXTENT = 72;

    private TensorDesc() {}
  }

  /** The size of gth_codec, and the offsets of its fields. */
  public static final class Codec {
    public static final long BYTES = 120;
    public static final long SIZE = 0;
    public static final long STRUCTURE = 4;
    public static final long CODE = 8;
    public static final long PACKING = 12;
    public static final long RULE = 16;
    public static final long SCALE_PLACE = 20;
    public static final long SCALE_DTYPE = 24;
    public static final long ZERO_PLACE = 28;
    public static final long ZERO_DTYPE = 32;
    public static final long ZERO = 36;
    public static final long FACTOR = 40;
    public static final long RESERVED = 44;
    public static final long BLOCK_VALUES = 48;
    public static final long BLOCK_BYTES = 56;
    public static final long ROW_TAIL = 64;
    public static final long CODE_AT = 72;
    public static final long SCALE_AT = 80;
    public static final long ZERO_AT = 88;
    public static final long CODE_TABLE = 96;
    public static final long SCALES = 104;
    public static final long ZEROS = 112;

    private Codec() {}
  }

  /** The size of gth_segment, and the offsets of its fields. */
  public static final class Segment {
    public static final long BYTES = 64;
    public static final long SIZE = 0;
    public static final long FLAGS = 4;
    public static final long PATH = 8;
    public static final long DATA = 16;
    public static final long FILE = 24;
    public static final long OFFSET = 32;
    public static final long ROWS = 40;
    public static final long ROW_STRIDE = 48;
    public static final long EXTENT = 56;

    private Segment() {}
  }

  /** The size of gth_files_options, and the offsets of its fields. */
  public static final class FilesOptions {
    public static final long BYTES = 16;
    public static final long SIZE = 0;
    public static final long MODE = 4;
    public static final long RESIDENT = 8;

    private FilesOptions() {}
  }

  /** The size of gth_files_stats, and the offsets of its fields. */
  public static final class FilesStats {
    public static final long BYTES = 40;
    public static final long SIZE = 0;
    public static final long MODE = 4;
    public static final long ROWS = 8;
    public static final long REQUESTED = 16;
    public static final long RELEASES = 24;
    public static final long RESIDENT = 32;

    private FilesStats() {}
  }

  /** The size of gth_options, and the offsets of its fields. */
  public static final class Options {
    public static final long BYTES = 128;
    public static final long SIZE = 0;
    public static final long HAS_AXIS = 4;
    public static final long AXIS = 8;
    public static final long BATCH_DIMS = 16;
    public static final long PROFILE = 24;
    public static final long OPSET = 28;
    public static final long NEGATIVE = 32;
    public static final long BOUNDS = 36;
    public static final long FILL = 40;
    public static final long THREADS = 44;
    public static final long EXTENTS = 48;
    public static final long REDUCTION = 52;
    public static final long FILL_VALUE = 56;
    public static final long ACCUMULATE = 72;
    public static final long OUT_DTYPE = 76;
    public static final long BAG_FORMAT = 80;
    public static final long POOL = 84;
    public static final long EMPTY = 88;
    public static final long HAS_PADDING_INDEX = 92;
    public static final long PADDING_INDEX = 96;
    public static final long BAG_COUNT = 104;
    public static final long INITIAL = 112;
    public static final long FILL_DTYPE = 116;
    public static final long ORDER = 120;
    public static final long RESERVED = 124;

    private Options() {}
  }

  /** The size of gth_request, and the offsets of its fields. */
  public static final class Request {
    public static final long BYTES = 56;
    public static final long SIZE = 0;
    public static final long OP = 4;
    public static final long TABLE = 8;
    public static final long INDICES = 16;
    public static final long ROWS = 24;
    public static final long OPTIONS = 32;
    public static final long BAGS = 40;
    public static final long WEIGHTS = 48;

    private Request() {}
  }

  /** The size of gth_plan_args, and the offsets of its fields. */
  public static final class PlanArgs {
    public static final long BYTES = 136;
    public static final long SIZE = 0;
    public static final long FLAGS = 4;
    public static final long N = 8;
    public static final long TABLE = 16;
    public static final long INDICES = 24;
    public static final long ROWS = 32;
    public static final long TABLE_EXTENT = 40;
    public static final long INDICES_EXTENT = 48;
    public static final long ROWS_EXTENT = 56;
    public static final long BAGS = 64;
    public static final long WEIGHTS = 72;
    public static final long BAGS_EXTENT = 80;
    public static final long WEIGHTS_EXTENT = 88;
    public static final long IDS = 96;
    public static final long SCALES = 104;
    public static final long ZEROS = 112;
    public static final long SCALES_EXTENT = 120;
    public static final long ZEROS_EXTENT = 128;

    private PlanArgs() {}
  }

  /** The size of gth_shards, and the offsets of its fields. */
  public static final class Shards {
    public static final long BYTES = 32;
    public static final long SIZE = 0;
    public static final long KIND = 4;
    public static final long ROWS = 8;
    public static final long COUNT = 16;
    public static final long BORDERS = 24;

    private Shards() {}
  }

  /** The size of gth_parts, and the offsets of its fields. */
  public static final class Parts {
    public static final long BYTES = 64;
    public static final long SIZE = 0;
    public static final long FLAGS = 4;
    public static final long CAPACITY = 8;
    public static final long COUNTS = 16;
    public static final long LOCAL = 24;
    public static final long ORDER = 32;
    public static final long PLACE = 40;
    public static final long SCRATCH = 48;
    public static final long SCRATCH_BYTES = 56;

    private Parts() {}
  }

  /** The size of gth_take, and the offsets of its fields. */
  public static final class Take {
    public static final long BYTES = 40;
    public static final long SIZE = 0;
    public static final long FLAGS = 4;
    public static final long INDICES = 8;
    public static final long VALIDITY = 16;
    public static final long VALIDITY_OFFSET = 24;
    public static final long OPTIONS = 32;

    private Take() {}
  }

  private static final class DtypeSize {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_dtype_size",
            FunctionDescriptor.of(JAVA_LONG, JAVA_INT));
  }

  /** Calls gth_dtype_size. */
  public static long dtypeSize(int dtype) {
    Native.check();
    try {
      return (long) DtypeSize.HANDLE.invokeExact(dtype);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class Capabilities {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_capabilities",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
  }

  /** Calls gth_capabilities. */
  public static int capabilities(MemorySegment info, MemorySegment err) {
    Native.check();
    try {
      return (int) Capabilities.HANDLE.invokeExact(info, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class ContextCreate {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_context_create",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_context_create. */
  public static int contextCreate(MemorySegment options, MemorySegment out, MemorySegment err) {
    Native.check();
    try {
      return (int) ContextCreate.HANDLE.invokeExact(options, out, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class ContextRelease {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_context_release",
            FunctionDescriptor.of(JAVA_INT, ADDRESS));
  }

  /** Calls gth_context_release. */
  public static int contextRelease(MemorySegment context) {
    Native.check();
    try {
      return (int) ContextRelease.HANDLE.invokeExact(context);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class Shutdown {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_shutdown",
            FunctionDescriptor.of(JAVA_INT));
  }

  /** Calls gth_shutdown. */
  public static int shutdown() {
    Native.check();
    try {
      return (int) Shutdown.HANDLE.invokeExact();
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class CodecNamed {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_codec_named",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_codec_named. */
  public static int codecNamed(MemorySegment name, MemorySegment codec, MemorySegment err) {
    Native.check();
    try {
      return (int) CodecNamed.HANDLE.invokeExact(name, codec, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class CodecRowBytes {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_codec_row_bytes",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS));
  }

  /** Calls gth_codec_row_bytes. */
  public static int codecRowBytes(MemorySegment codec, long values, MemorySegment bytes, MemorySegment err) {
    Native.check();
    try {
      return (int) CodecRowBytes.HANDLE.invokeExact(codec, values, bytes, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class TensorBorrow {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_tensor_borrow",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_tensor_borrow. */
  public static int tensorBorrow(MemorySegment desc, MemorySegment out, MemorySegment err) {
    Native.check();
    try {
      return (int) TensorBorrow.HANDLE.invokeExact(desc, out, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class TensorDescribe {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_tensor_describe",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_tensor_describe. */
  public static int tensorDescribe(MemorySegment tensor, MemorySegment desc, MemorySegment err) {
    Native.check();
    try {
      return (int) TensorDescribe.HANDLE.invokeExact(tensor, desc, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class TensorRelease {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_tensor_release",
            FunctionDescriptor.of(JAVA_INT, ADDRESS));
  }

  /** Calls gth_tensor_release. */
  public static int tensorRelease(MemorySegment tensor) {
    Native.check();
    try {
      return (int) TensorRelease.HANDLE.invokeExact(tensor);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class Copy {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_copy",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_copy. */
  public static int copy(
      MemorySegment context, MemorySegment source, MemorySegment destination, MemorySegment err, MemorySegment kept0,
      MemorySegment kept1) {
    Native.check();
    try {
      return (int) Copy.HANDLE.invokeExact(context, source, destination, err, kept0, kept1);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class TensorFromStrings {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_tensor_from_strings",
            FunctionDescriptor.of(
                JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS,
                ADDRESS));
  }

  /** Calls gth_tensor_from_strings. */
  public static int tensorFromStrings(
      MemorySegment context, int flags, int ndim, MemorySegment shape, MemorySegment offsets, MemorySegment bytes,
      long extent, MemorySegment deleter, MemorySegment user, MemorySegment out, MemorySegment err) {
    Native.check();
    try {
      return (int) TensorFromStrings.HANDLE.invokeExact(
          context, flags, ndim, shape, offsets, bytes, extent, deleter, user, out, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class TensorStrings {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_tensor_strings",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_tensor_strings. */
  public static int tensorStrings(MemorySegment tensor, MemorySegment offsets, MemorySegment bytes, MemorySegment err) {
    Native.check();
    try {
      return (int) TensorStrings.HANDLE.invokeExact(tensor, offsets, bytes, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class TensorOpen {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_tensor_open",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_tensor_open. */
  public static int tensorOpen(
      MemorySegment context, MemorySegment desc, long count, MemorySegment segments, MemorySegment options,
      MemorySegment out, MemorySegment err, MemorySegment kept0) {
    Native.check();
    try {
      return (int) TensorOpen.HANDLE.invokeExact(context, desc, count, segments, options, out, err, kept0);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class TensorPrefetch {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_tensor_prefetch",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_tensor_prefetch. */
  public static int tensorPrefetch(
      MemorySegment context, MemorySegment tensor, MemorySegment indices, MemorySegment options, MemorySegment err,
      MemorySegment kept0) {
    Native.check();
    try {
      return (int) TensorPrefetch.HANDLE.invokeExact(context, tensor, indices, options, err, kept0);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class TensorStats {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_tensor_stats",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_tensor_stats. */
  public static int tensorStats(MemorySegment tensor, MemorySegment stats, MemorySegment err) {
    Native.check();
    try {
      return (int) TensorStats.HANDLE.invokeExact(tensor, stats, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class Run {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_run",
            FunctionDescriptor.of(
                JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_run. */
  public static int run(
      MemorySegment context, int op, MemorySegment table, MemorySegment indices, MemorySegment rows, MemorySegment
      options, MemorySegment err, MemorySegment kept0, MemorySegment kept1, MemorySegment kept2) {
    Native.check();
    try {
      return (int) Run.HANDLE.invokeExact(context, op, table, indices, rows, options, err, kept0, kept1, kept2);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class RunRequest {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_run_request",
            FunctionDescriptor.of(
                JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS,
                ADDRESS));
  }

  /** Calls gth_run_request. */
  public static int runRequest(MemorySegment context, MemorySegment request, MemorySegment err, MemorySegment... kept) {
    Native.check();
    try {
      return (int) RunRequest.HANDLE.invokeExact(
          context, request, err, at(kept, 0), at(kept, 1), at(kept, 2), at(kept, 3), at(kept, 4), at(kept, 5),
          at(kept, 6), at(kept, 7));
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class RunAtCritical {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_run_at",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS),
            Linker.Option.critical(true));
  }

  /** Calls gth_run_at. */
  public static int runAtCritical(
      MemorySegment context, MemorySegment request, MemorySegment table, MemorySegment indices, MemorySegment rows,
      MemorySegment err) {
    Native.check();
    try {
      return (int) RunAtCritical.HANDLE.invokeExact(context, request, table, indices, rows, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class Make {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_make",
            FunctionDescriptor.of(
                JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS,
                ADDRESS, ADDRESS));
  }

  /** Calls gth_make. */
  public static int make(
      MemorySegment context, MemorySegment request, MemorySegment out, MemorySegment err, MemorySegment... kept) {
    Native.check();
    try {
      return (int) Make.HANDLE.invokeExact(
          context, request, out, err, at(kept, 0), at(kept, 1), at(kept, 2), at(kept, 3), at(kept, 4), at(kept, 5),
          at(kept, 6), at(kept, 7));
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class Infer {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_infer",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_infer. */
  public static int infer(
      MemorySegment request, MemorySegment rows, int capacity, MemorySegment shape, MemorySegment err,
      MemorySegment... kept) {
    Native.check();
    try {
      return (int) Infer.HANDLE.invokeExact(request, rows, capacity, shape, err, at(kept, 0));
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class GatherBagsGradient {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_gather_bags_gradient",
            FunctionDescriptor.of(
                JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS,
                ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_gather_bags_gradient. */
  public static int gatherBagsGradient(
      MemorySegment context, MemorySegment request, MemorySegment target, MemorySegment err, MemorySegment... kept) {
    Native.check();
    try {
      return (int) GatherBagsGradient.HANDLE.invokeExact(
          context, request, target, err, at(kept, 0), at(kept, 1), at(kept, 2), at(kept, 3), at(kept, 4), at(kept, 5),
          at(kept, 6), at(kept, 7), at(kept, 8));
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class GatherBagsSparseGradient {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_gather_bags_sparse_gradient",
            FunctionDescriptor.of(
                JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS,
                ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_gather_bags_sparse_gradient. */
  public static int gatherBagsSparseGradient(
      MemorySegment context, MemorySegment request, MemorySegment unique, MemorySegment target, MemorySegment count,
      MemorySegment err, MemorySegment... kept) {
    Native.check();
    try {
      return (int) GatherBagsSparseGradient.HANDLE.invokeExact(
          context, request, unique, target, count, err, at(kept, 0), at(kept, 1), at(kept, 2), at(kept, 3), at(kept,
          4), at(kept, 5), at(kept, 6), at(kept, 7), at(kept, 8), at(kept, 9));
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class GatherBagsWeightGradient {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_gather_bags_weight_gradient",
            FunctionDescriptor.of(
                JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS,
                ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_gather_bags_weight_gradient. */
  public static int gatherBagsWeightGradient(
      MemorySegment context, MemorySegment request, MemorySegment target, MemorySegment err, MemorySegment... kept) {
    Native.check();
    try {
      return (int) GatherBagsWeightGradient.HANDLE.invokeExact(
          context, request, target, err, at(kept, 0), at(kept, 1), at(kept, 2), at(kept, 3), at(kept, 4), at(kept, 5),
          at(kept, 6), at(kept, 7), at(kept, 8));
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class GatherBagsPositions {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_gather_bags_positions",
            FunctionDescriptor.of(
                JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS,
                ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_gather_bags_positions. */
  public static int gatherBagsPositions(
      MemorySegment context, MemorySegment request, MemorySegment positions, MemorySegment err, MemorySegment... kept) {
    Native.check();
    try {
      return (int) GatherBagsPositions.HANDLE.invokeExact(
          context, request, positions, err, at(kept, 0), at(kept, 1), at(kept, 2), at(kept, 3), at(kept, 4), at(kept,
          5), at(kept, 6), at(kept, 7), at(kept, 8));
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class ScatterPositions {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_scatter_positions",
            FunctionDescriptor.of(
                JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS,
                ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_scatter_positions. */
  public static int scatterPositions(
      MemorySegment context, MemorySegment request, MemorySegment positions, MemorySegment err, MemorySegment... kept) {
    Native.check();
    try {
      return (int) ScatterPositions.HANDLE.invokeExact(
          context, request, positions, err, at(kept, 0), at(kept, 1), at(kept, 2), at(kept, 3), at(kept, 4), at(kept,
          5), at(kept, 6), at(kept, 7), at(kept, 8));
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class PlanCreate {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_plan_create",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_plan_create. */
  public static int planCreate(MemorySegment request, MemorySegment out, MemorySegment err, MemorySegment... kept) {
    Native.check();
    try {
      return (int) PlanCreate.HANDLE.invokeExact(request, out, err, at(kept, 0));
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class PlanRun {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_plan_run",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_plan_run. */
  public static int planRun(
      MemorySegment context, MemorySegment plan, long n, MemorySegment table, MemorySegment indices, MemorySegment
      rows, MemorySegment err) {
    Native.check();
    try {
      return (int) PlanRun.HANDLE.invokeExact(context, plan, n, table, indices, rows, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class PlanRunCritical {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_plan_run",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, ADDRESS),
            Linker.Option.critical(true));
  }

  /** Calls gth_plan_run. */
  public static int planRunCritical(
      MemorySegment context, MemorySegment plan, long n, MemorySegment table, MemorySegment indices, MemorySegment
      rows, MemorySegment err) {
    Native.check();
    try {
      return (int) PlanRunCritical.HANDLE.invokeExact(context, plan, n, table, indices, rows, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class PlanRunArgs {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_plan_run_args",
            FunctionDescriptor.of(
                JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS,
                ADDRESS, ADDRESS));
  }

  /** Calls gth_plan_run_args. */
  public static int planRunArgs(
      MemorySegment context, MemorySegment plan, MemorySegment args, MemorySegment err, MemorySegment... kept) {
    Native.check();
    try {
      return (int) PlanRunArgs.HANDLE.invokeExact(
          context, plan, args, err, at(kept, 0), at(kept, 1), at(kept, 2), at(kept, 3), at(kept, 4), at(kept, 5),
          at(kept, 6), at(kept, 7));
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class PlanParts {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_plan_parts",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS));
  }

  /** Calls gth_plan_parts. */
  public static int planParts(MemorySegment plan, long n, MemorySegment parts, MemorySegment err) {
    Native.check();
    try {
      return (int) PlanParts.HANDLE.invokeExact(plan, n, parts, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class PlanRunPartsCritical {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_plan_run_parts",
            FunctionDescriptor.of(
                JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, ADDRESS),
            Linker.Option.critical(true));
  }

  /** Calls gth_plan_run_parts. */
  public static int planRunPartsCritical(
      MemorySegment context, MemorySegment plan, long n, long first, long last, MemorySegment table, MemorySegment
      indices, MemorySegment rows, MemorySegment err) {
    Native.check();
    try {
      return (int) PlanRunPartsCritical.HANDLE.invokeExact(context, plan, n, first, last, table, indices, rows, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class PlanCheck {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_plan_check",
            FunctionDescriptor.of(
                JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS,
                ADDRESS, ADDRESS));
  }

  /** Calls gth_plan_check. */
  public static int planCheck(
      MemorySegment context, MemorySegment plan, MemorySegment args, MemorySegment err, MemorySegment... kept) {
    Native.check();
    try {
      return (int) PlanCheck.HANDLE.invokeExact(
          context, plan, args, err, at(kept, 0), at(kept, 1), at(kept, 2), at(kept, 3), at(kept, 4), at(kept, 5),
          at(kept, 6), at(kept, 7));
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class PlanExtents {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_plan_extents",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_plan_extents. */
  public static int planExtents(MemorySegment plan, MemorySegment args, MemorySegment err) {
    Native.check();
    try {
      return (int) PlanExtents.HANDLE.invokeExact(plan, args, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class PlanInfer {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_plan_infer",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_INT, ADDRESS, ADDRESS));
  }

  /** Calls gth_plan_infer. */
  public static int planInfer(
      MemorySegment plan, long n, MemorySegment rows, int capacity, MemorySegment shape, MemorySegment err) {
    Native.check();
    try {
      return (int) PlanInfer.HANDLE.invokeExact(plan, n, rows, capacity, shape, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class PlanRelease {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_plan_release",
            FunctionDescriptor.of(JAVA_INT, ADDRESS));
  }

  /** Calls gth_plan_release. */
  public static int planRelease(MemorySegment plan) {
    Native.check();
    try {
      return (int) PlanRelease.HANDLE.invokeExact(plan);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class Partition {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_partition",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_partition. */
  public static int partition(
      MemorySegment context, MemorySegment ids, MemorySegment shards, MemorySegment options, MemorySegment parts,
      MemorySegment err, MemorySegment kept0) {
    Native.check();
    try {
      return (int) Partition.HANDLE.invokeExact(context, ids, shards, options, parts, err, kept0);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class PartitionScratch {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_partition_scratch",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS));
  }

  /** Calls gth_partition_scratch. */
  public static int partitionScratch(
      MemorySegment ids, MemorySegment shards, int flags, MemorySegment bytes, MemorySegment err) {
    Native.check();
    try {
      return (int) PartitionScratch.HANDLE.invokeExact(ids, shards, flags, bytes, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class ColumnFromArrow {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_column_from_arrow",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_column_from_arrow. */
  public static int columnFromArrow(
      MemorySegment context, MemorySegment schema, long count, MemorySegment chunks, MemorySegment out, MemorySegment
      err) {
    Native.check();
    try {
      return (int) ColumnFromArrow.HANDLE.invokeExact(context, schema, count, chunks, out, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class ColumnFromArrowStream {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_column_from_arrow_stream",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_column_from_arrow_stream. */
  public static int columnFromArrowStream(
      MemorySegment context, MemorySegment stream, MemorySegment out, MemorySegment err) {
    Native.check();
    try {
      return (int) ColumnFromArrowStream.HANDLE.invokeExact(context, stream, out, err);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class ColumnRelease {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_column_release",
            FunctionDescriptor.of(JAVA_INT, ADDRESS));
  }

  /** Calls gth_column_release. */
  public static int columnRelease(MemorySegment column) {
    Native.check();
    try {
      return (int) ColumnRelease.HANDLE.invokeExact(column);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class ColumnTake {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_column_take",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_column_take. */
  public static int columnTake(
      MemorySegment context, MemorySegment column, MemorySegment take, MemorySegment schema, MemorySegment array,
      MemorySegment err, MemorySegment kept0) {
    Native.check();
    try {
      return (int) ColumnTake.HANDLE.invokeExact(context, column, take, schema, array, err, kept0);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static final class Resolve {
    static final MethodHandle HANDLE =
        Native.link(
            "gth_resolve",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS));
  }

  /** Calls gth_resolve. */
  public static int resolve(
      MemorySegment context, long extent, MemorySegment take, long capacity, MemorySegment rows, MemorySegment err,
      MemorySegment kept0) {
    Native.check();
    try {
      return (int) Resolve.HANDLE.invokeExact(context, extent, take, capacity, rows, err, kept0);
    } catch (Throwable e) {
      throw Native.unchecked(e);
    }
  }

  private static MemorySegment at(MemorySegment[] kept, int i) {
    return i < kept.length ? kept[i] : MemorySegment.NULL;
  }

  private Gth() {}
}
