/**
 * @file gather.h
 * libgather reads and writes rows, slices and elements of tensors by index.
 *
 * This header is the whole public ABI. It is valid C99 and C++17 and includes only <stddef.h> and <stdint.h>. The
 * header compiles on every platform. The library supports 64-bit platforms only.
 *
 * Terms
 *   params    The source tensor of a gather. ONNX calls it data.
 *   target    The tensor that a scatter or a gradient writes.
 *   updates   The tensor whose rows a scatter writes or adds to target, or the gradient of an output.
 *   indices   The integer tensor that selects from params or target.
 *   tuple     One entry of indices. A tuple has one component for gather, and K = indices.shape[-1] components for
 *             gather_nd and scatter_nd.
 *   slice     The part of params or target that one tuple selects.
 *   position  The row-major number of a tuple in indices. Batch dims are included.
 *   dim       One dimension of a shape. Its size is called its extent.
 * Strides, offsets and sizes of memory are counted in bytes, and so are the fields `extent` and `*_extent`. Shapes are
 * counted in elements.
 *
 * Operands and roles
 *   An operand is a gth_tensor_desc. It describes memory of the caller, or it names a tensor handle. Operands of one
 *   call may be of both kinds. Every function takes its operands by role, in this order:
 *   table     The operand that indices select in: params of a gather, target of a scatter or a gradient.
 *   indices   The operand that selects.
 *   rows      The operand that is processed in the order of the tuples: the output of a gather, the updates of a
 *             scatter, the gradient of an output.
 *   bags      The operand that divides indices into bags. Only gather_bags has it.
 *   weights   One number for each index. Only gather_bags has it.
 *   Options follow the operands. Results follow the options. The error struct is the last parameter.
 *
 * Status
 *   Every function that can fail returns a status: GTH_OK (0) or a negative GTH_E_* number. From the first release on,
 *   the numbers never change. A call that fails has written no output memory, except in six cases: GTH_E_RACE,
 *   GTH_E_CUDA, GTH_E_INDEX with GTH_BOUNDS_ERROR_PARTIAL and of gth_plan_run_parts, GTH_E_NOMEM of gth_run_many and
 *   gth_plan_run_many, and GTH_E_IO (see Files). It also sets `*out` to NULL if `out` is not NULL. No function aborts,
 *   throws or prints. No function accesses memory outside the operands, even if arguments are invalid. The caller
 *   guarantees that each pointer points to the memory that it describes.
 *
 * Errors
 *   The parameter `err` is a gth_error of the caller, or NULL. There is no thread-local and no global error state.
 *
 * Order of checks
 *   A call checks, in this order: struct size and operation of a request, required pointers, other struct sizes and
 *   switches, handles, dtype, rank, attributes, shapes, sizes, strides, devices, read-only memory, overlap (including
 *   NULL data), index values. It reports the first check that fails. A switch is an option with a fixed set of values. A
 *   required handle is a required pointer: NULL causes GTH_E_NULL.
 *
 * Threads
 *   Handles are immutable after creation. Any number of threads may use them at the same time. The caller must not
 *   release a handle while another thread is inside a call that uses it. During a call, another thread may write
 *   indices or offsets of strings (GTH_E_RACE). Descriptions, options, shapes and strides must not change during a
 *   call. Results and reported errors do not depend on the number of threads, except for the row that GTH_E_IO names.
 *   The library's threads have the affinity and the nice value of the process's main thread, and no real-time priority.
 *   They leave one CPU to the calling thread. They block all signals except those that an instruction raises (SIGSEGV,
 *   SIGBUS, SIGFPE, ..). If a thread with deferred cancellation is cancelled during a call, the call is completed first.
 *   A thread with asynchronous cancellation (PTHREAD_CANCEL_ASYNCHRONOUS) must not call the library. A child process of
 *   fork may use the library, except for CUDA. A call of fork does not wait for the library.
 *
 * Stack
 *   A call uses less than 64 KiB of the stack of the calling thread, not counting hooks.
 *
 * Blocking
 *   A call on a CPU context returns when its work is complete. A call on a CUDA context returns when its work has been
 *   enqueued on the stream of the context. Descriptions, shapes and options are read before the call returns. Data is
 *   read and written when the stream executes the work. gth_context_take_error then reports indices out of bounds. On a
 *   CUDA context, a call returns GTH_E_INDEX only if the shapes alone imply it. It never returns GTH_E_RACE. The
 *   current CUDA device of the calling thread does not change.
 *
 * CUDA
 *   The CUDA part is experimental. It has been tested on an emulated device, and on one kind of GPU. If memory is
 *   described as CUDA memory, but CUDA has neither allocated nor registered it, the call returns GTH_E_DEVICE. Devices
 *   that can access pageable memory accept such memory.
 *
 * Structs
 *   Structs that the caller passes begin with `size`, which the caller sets to the sizeof of the struct. C callers
 *   start from the _INIT macros. A field that is zero means its documented default. Structs, and arrays of int64_t such
 *   as shapes, must have the alignment of their types in C. Elements of tensors need no alignment. Structs grow by the
 *   following rules.
 *   - Each struct has a first size, for example GTH_REQUEST_FIRST, which never changes. A smaller size causes
 *     GTH_E_VERSION.
 *   - A struct that is shorter than the library's is read as if the missing fields were zero.
 *   - A struct that the library reads and that is longer must be zero after the fields of the library's struct. Otherwise
 *     the call returns GTH_E_VERSION.
 *   - The library writes at most `size` bytes of a struct that it fills in. Bytes after the fields of the library's
 *     struct become zero.
 *   - Fields are added at the end only. Zero in an added field means the behaviour before the field existed.
 *   - An array contains numbers or pointers, never structs that grow.
 *   These values cause GTH_E_VERSION: a size above 4096, a size that is not a multiple of 4, a reserved field that is
 *   not zero, and an unknown switch, profile or flag. The size of err is checked first. If it is invalid, the call
 *   returns GTH_E_VERSION and does not write err.
 *
 * Ownership
 *   Borrowed  The library reads or writes the memory during the call only.
 *   Owned     The caller receives an object and must release it. A handle is not an address, so leak sanitizers report
 *             objects that are not released, even if a variable holds the handle.
 *   Kept      The memory must stay valid until the handle is released.
 *   Consumed  The library takes ownership if and only if the call returns GTH_OK.
 *   NULL is allowed for context (the default CPU context of the process), options, err, strides, and as the argument of
 *   a release function.
 */
#ifndef GATHER_GATHER_H
#define GATHER_GATHER_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(GATHER_EXPORTS)
#define GTH_EXPORT __declspec(dllexport)
#elif defined(_WIN32)
#define GTH_EXPORT
#elif defined(__GNUC__)
#define GTH_EXPORT __attribute__((visibility("default")))
#else
#define GTH_EXPORT
#endif

/* A compiler warns if a call drops its status. */
#if defined(__cplusplus) && (__cplusplus >= 201703L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L))
#define GTH_API [[nodiscard]] GTH_EXPORT
#elif defined(__GNUC__)
#define GTH_API __attribute__((warn_unused_result)) GTH_EXPORT
#else
#define GTH_API GTH_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------- Version */

/** The ABI number of this header. Releases with the same ABI number only add to it. */
#define GTH_ABI_VERSION 1
/** The release number of this header: major * 1000000 + minor * 1000 + patch. */
#define GTH_VERSION 1000

/** The highest rank of a tensor. */
#define GTH_MAX_NDIM 64
/** The capacity of gth_error.message in bytes, including the terminating zero. */
#define GTH_MESSAGE_SIZE 256
/** The highest number of devices that gth_capabilities lists. */
#define GTH_MAX_DEVICES 16
/** An extent that each run of a plan sets. In a shape query, it stays open in the result. */
#define GTH_OPEN -1

/** Returns the ABI number of the loaded library. A binding compares it with GTH_ABI_VERSION before any other call. */
GTH_API uint32_t gth_abi_version(void);

/** Returns the release number of the loaded library, in the form of GTH_VERSION. */
GTH_API uint32_t gth_version(void);

/* ----------------------------------------------------------------------------------------------------------- Status */

#define GTH_OK 0
#define GTH_E_NULL -1         /**< A required pointer is NULL, or data is NULL and elements are read or written. */
#define GTH_E_HANDLE -2       /**< The handle is released, of another kind, or was never one. */
#define GTH_E_VERSION -3      /**< The struct size, operation, switch, profile or flag is unknown or not valid here. */
#define GTH_E_DTYPE -4        /**< The dtype is unknown, not allowed here, or differs from the required one. */
#define GTH_E_RANK -5         /**< The rank is negative, too small, too large, or differs from the required one. */
#define GTH_E_AXIS -6         /**< The axis is outside [-rank, rank), below batch_dims, or the operation has none. */
#define GTH_E_BATCH -7        /**< batch_dims is out of range, or batch extents of params and indices differ. */
#define GTH_E_SHAPE -8        /**< An extent is negative or differs from the required one, or a tuple is too long. */
#define GTH_E_SIZE -9         /**< A product of extents exceeds int64, or a capacity is too small. */
#define GTH_E_STRIDE -10      /**< Strides leave the described memory, or elements of an output overlap. */
#define GTH_E_DEVICE -11      /**< The device is unknown or absent, devices differ, or the build has no CUDA. */
#define GTH_E_DLPACK -12      /**< The DLPack struct is malformed. */
#define GTH_E_ARROW -13       /**< The Arrow struct is malformed. */
#define GTH_E_READONLY -14    /**< Read-only memory is an output, or a DLPack export has no flag for it. */
#define GTH_E_ALIAS -15       /**< The byte range of an output overlaps the byte range of another operand. */
#define GTH_E_INDEX -16       /**< With bounds = error an index is out of bounds, or a dim of extent 0 is indexed. */
#define GTH_E_RACE -17        /**< Another thread changed indices or offsets during the call. See gth_run. */
#define GTH_E_NOMEM -18       /**< Memory could not be allocated. */
#define GTH_E_FORK -19        /**< CUDA was used in a child process after fork. */
#define GTH_E_CUDA -20        /**< A CUDA call failed. gth_error.native has its number. */
#define GTH_E_CAPTURE -21     /**< The operation cannot be captured into a CUDA graph. */
#define GTH_E_UNSUPPORTED -22 /**< The request is valid, but this kind of operand or device does not support it. */
#define GTH_E_INTERNAL -23    /**< The library has a defect. */
#define GTH_E_OFFSETS -24     /**< Offsets, lengths or segments of bags are invalid, or a bag is empty. */
#define GTH_E_IO -25          /**< A file could not be opened or read. gth_error.native is errno. */

/** Returns the name of a status, such as "GTH_E_INDEX", or a fixed text for other numbers. The text is static. */
GTH_API const char *gth_status_name(int32_t status);

/* Values of gth_error.operand. An error uses the name that the operation has for the role. */
#define GTH_OPERAND_NONE 0
#define GTH_OPERAND_PARAMS 1  /**< table of a gather; source of a copy */
#define GTH_OPERAND_INDICES 2 /**< indices */
#define GTH_OPERAND_OUT 3     /**< rows of a gather; destination of a copy */
#define GTH_OPERAND_OPTIONS 4
#define GTH_OPERAND_CONTEXT 5
#define GTH_OPERAND_PLAN 6    /**< the plan, or gth_plan_args */
#define GTH_OPERAND_TENSOR 7  /**< the tensor, description or foreign struct of a call that has only one */
#define GTH_OPERAND_TARGET 8  /**< table of a scatter or a gradient */
#define GTH_OPERAND_UPDATES 9 /**< rows of a scatter or a gradient */
#define GTH_OPERAND_REQUEST 10
#define GTH_OPERAND_BAGS 11    /**< bags of gather_bags */
#define GTH_OPERAND_WEIGHTS 12 /**< weights of gather_bags */
#define GTH_OPERAND_CODEC 13   /**< the codec of a packed table */
#define GTH_OPERAND_FILE 14    /**< a segment of a table in files */
#define GTH_OPERAND_SCALES 15  /**< scales of a packed table */
#define GTH_OPERAND_ZEROS 16   /**< zero points or biases of a packed table */

/* Flags of gth_error and gth_error_record. */
#define GTH_ERROR_UNSIGNED 1 /**< value is the bit pattern of an unsigned 64-bit number. */
#define GTH_ERROR_CUT 2      /**< The message was too long and was cut. */
#define GTH_ERROR_WRAP 4     /**< Negative indices count from the end. The valid range is [-limit, limit). */

/**
 * The details of a failure. Programs read the fields. The message describes the same failure in English and may change.
 *
 * Fields by status:
 *   INDEX            position and component of the smallest invalid tuple. value is the index. limit is the extent of
 *                    the dim. The valid range is [0, limit), or [-limit, limit) with GTH_ERROR_WRAP. If params has no
 *                    elements and the profile rejects that (TensorFlow's gather_nd): operand PARAMS, component is the
 *                    first empty dim, position is -1.
 *   RANK             value is the given rank, limit is the required rank or bound.
 *   AXIS, BATCH      An attribute: operand OPTIONS, value is the given number, limit is the bound.
 *   SHAPE, BATCH     Two extents differ: operand and component (the dim), value is the given extent, limit is the
 *                    required one.
 *   DTYPE            value is the given dtype, limit is the required one (0: several are valid).
 *   SIZE             limit is the largest valid value, or the required capacity.
 *   STRIDE           Memory is exceeded: value is the end beyond the extent, or the lowest byte if that is negative.
 *                    limit is the extent. Overlapping elements: component is the dim, value is its stride, limit is the
 *                    smallest valid stride.
 *   DEVICE           value is the given device, limit is the required one (0: none is valid).
 *   ALIAS            value is the operand that the output overlaps. The range of an operand is from its lowest to its
 *                    highest used byte. So an output between rows or columns of params overlaps params.
 *   NOMEM            value is the requested number of bytes.
 *   ARROW            Offsets of strings: position is the string i, value is offsets[i + 1]. limit is offsets[i] if the
 *                    offsets decrease, else the size of the bytes. Columns: position is that of the index whose row is
 *                    malformed. value is the invalid number, limit is its bound.
 *   OFFSETS          position is that of the first invalid number in bags, value is the number. limit depends on the
 *                    rule: 0 if the first offset is not 0, or if a length or segment is negative; the number before it
 *                    if an offset or segment is smaller; the number of ids if an offset exceeds it; the number of bags
 *                    if a segment reaches it; the number of ids that are left if a length exceeds it. If the last
 *                    offset or the sum of the lengths is less than the number of ids: position is the number of bags,
 *                    value is the offset or the sum, limit is the number of ids. After that, an empty bag
 *                    (GTH_EMPTY_ERROR): position is the bag, value is 0, limit is 1.
 *   IO               A file: native is errno, or 0 if the file is too short. component is the segment. position is that
 *                    of the first tuple (of bags: id) that selects the row, or -1 if the call selects none. value is the
 *                    byte in the file, limit is the number of bytes that the library wanted from there on.
 *   VERSION          value is the given number, limit is the highest valid one (for an opset: the lowest).
 *   operand OPTIONS  component is the byte offset of the field in gth_options or gth_context_options, and 0 for an
 *                    invalid struct size.
 *
 * If a field does not apply, its value is -1 for component, position and item, and 0 for other numbers. If the status
 * is GTH_OK, only status is written. A call on a CUDA context also writes sequence.
 */
typedef struct gth_error {
  uint32_t size; /**< Set by the caller to sizeof(gth_error). */
  int32_t status;
  int32_t operand;
  int32_t component;
  int32_t native; /**< The number of a CUDA error, or errno (Windows: that of GetLastError). 0 if there is none. */
  uint32_t flags;
  int64_t position;
  int64_t value;
  int64_t limit;
  int64_t sequence; /**< The number of a device call in its context, from 1. Contiguous copies have none. */
  uint64_t count;   /**< gth_context_take_error: the number of failed device calls since the last take. */
  int64_t item;     /**< The number of the request in gth_run_many, or of the plan in gth_plan_run_many. */
  char message[GTH_MESSAGE_SIZE];
} gth_error;

#define GTH_ERROR_FIRST 328
#define GTH_ERROR_INIT {sizeof(gth_error), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}}

/* ----------------------------------------------------------------------------------------------------------- Dtypes */

/* A dtype is DLPack's type code * 256 + bits. 0 is no dtype. Indices have any of the eight integer dtypes. Dtypes below
 * 8 bits cause GTH_E_DTYPE. Quantised tensors use the dtype of their integers. */
#define GTH_DTYPE_INT8 8
#define GTH_DTYPE_INT16 16
#define GTH_DTYPE_INT32 32
#define GTH_DTYPE_INT64 64
#define GTH_DTYPE_UINT8 264
#define GTH_DTYPE_UINT16 272
#define GTH_DTYPE_UINT32 288
#define GTH_DTYPE_UINT64 320
#define GTH_DTYPE_FLOAT16 528
#define GTH_DTYPE_FLOAT32 544
#define GTH_DTYPE_FLOAT64 576
#define GTH_DTYPE_BFLOAT16 1040
#define GTH_DTYPE_COMPLEX64 1344
#define GTH_DTYPE_COMPLEX128 1408
#define GTH_DTYPE_BOOL 1544
#define GTH_DTYPE_FLOAT8_E3M4 1800
#define GTH_DTYPE_FLOAT8_E4M3 2056
#define GTH_DTYPE_FLOAT8_E4M3B11FNUZ 2312
#define GTH_DTYPE_FLOAT8_E4M3FN 2568
#define GTH_DTYPE_FLOAT8_E4M3FNUZ 2824
#define GTH_DTYPE_FLOAT8_E5M2 3080
#define GTH_DTYPE_FLOAT8_E5M2FNUZ 3336
#define GTH_DTYPE_FLOAT8_E8M0FNU 3592
/* Strings have elements of any length. Only gth_make supports them, as dense tensor handles on the CPU. */
#define GTH_DTYPE_STRING 65536

/** Returns the number of bytes of one element, or 0 for strings and for numbers that are no dtype. */
GTH_API int64_t gth_dtype_size(int32_t dtype);

/** Returns the number of bits of one element, or 0 for strings and for numbers that are no dtype. */
GTH_API int64_t gth_dtype_bits(int32_t dtype);

/** Returns the name of a dtype, such as "float32", or a fixed text for other numbers. The text is static. */
GTH_API const char *gth_dtype_name(int32_t dtype);

/* ---------------------------------------------------------------------------------------------------------- Devices */

/* Device numbers are DLPack's. 0 also means the CPU. */
#define GTH_DEVICE_CPU 1
#define GTH_DEVICE_CUDA 2
#define GTH_DEVICE_CUDA_HOST 3     /**< pinned host memory */
#define GTH_DEVICE_CUDA_MANAGED 13 /**< managed memory */

/* A CUDA stream as CUDA declares it: NULL (legacy default), 0x1 (legacy), 0x2 (per thread), or a handle. */
struct CUstream_st;

/* Bits of gth_capability_info.cpu_tiers_*: the instruction sets of the CPU kernels. */
#define GTH_TIER_PORTABLE 1
#define GTH_TIER_AVX2 2
#define GTH_TIER_AVX512 4 /**< AVX-512 F, BW, VL and DQ: kernels for bags. The others are those of AVX2. */
#define GTH_TIER_NEON 8

typedef struct gth_capability_info {
  uint32_t size;                           /**< Set by the caller to sizeof(gth_capability_info). */
  uint32_t abi;                            /**< gth_abi_version() */
  uint32_t version;                        /**< gth_version() */
  int32_t cpu_threads;                     /**< The number of threads that threads = 0 uses. Affinity and cgroup limits
                                                are respected. */
  uint32_t cpu_tiers_built;                /**< GTH_TIER_* of this library */
  uint32_t cpu_tiers_usable;               /**< The tiers among them that this processor supports. */
  uint32_t cpu_tier;                       /**< The tier in use. */
  int32_t cuda_runtime;                    /**< Version of the linked CUDA runtime, 1000 * major + 10 * minor. 0: the
                                                build has no CUDA. */
  int32_t cuda_driver;                     /**< Newest CUDA version of the driver. 0: there is no driver. */
  int32_t device_count;                    /**< The number of devices in the lists below. A device that cannot be
                                                queried ends the lists. */
  int32_t device_compute[GTH_MAX_DEVICES]; /**< Compute capability by device number, 10 * major + minor. */
  int64_t device_memory[GTH_MAX_DEVICES];  /**< Device memory in bytes by device number. */
} gth_capability_info;

#define GTH_CAPABILITY_INFO_FIRST 232
#define GTH_CAPABILITY_INFO_INIT {sizeof(gth_capability_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}, {0}}

/**
 * Reports the capabilities of this library on this machine.
 *
 * @param info  Borrowed, written. info->size must be set.
 * @return NULL, VERSION.
 */
GTH_API int32_t gth_capabilities(gth_capability_info *info, gth_error *err);

/* --------------------------------------------------------------------------------------------------------- Contexts */

/* Opaque handles. The pointer value is a token of 64 bits, never an address. Do not dereference it. Each copy of the
 * library in a process begins its tokens at random bits. It rejects a handle of another copy with GTH_E_HANDLE, except
 * with a probability of 2^-32. */
typedef struct gth_context gth_context;
typedef struct gth_tensor gth_tensor;
typedef struct gth_plan gth_plan;

/**
 * Describes the first invalid index of the device calls of a context. The device writes the record, and a take
 * (gth_context_take_error or gth_context_enqueue_take_error) clears it. The struct always has 64 bytes.
 *
 * The device stores count last. A host can poll the count of a mapped record with an acquiring load. If it reads a
 * value above 0, it can read the other fields. It must read them before it starts another call that clears the record.
 * If calls that share a record fail at the same time, the record describes one of them and counts all of them. A host
 * may clear a mapped record by storing 0 to count. A call that fails at that moment may restore the old count, increased
 * by 1. A record of the caller must outlive the graphs in which its calls were captured.
 */
typedef struct gth_error_record {
  uint64_t count;   /**< The number of failed calls since the last take. 0: the other fields have no meaning. */
  int64_t sequence; /**< The number of the first failed call. A captured call keeps its number from the capture. */
  int64_t position;
  int64_t value;
  int64_t limit;
  int32_t operand;
  int32_t component;
  int32_t status;
  uint32_t flags;
  uint64_t reserved; /**< Used by the device. */
} gth_error_record;

/* Hooks. The library may call them from any thread. They must not throw and must not call this library. */

/**
 * Returns `bytes` (> 0) bytes of memory on the device, aligned to `align` (a power of two, at most 4096), or NULL.
 * The library uses it for the results of gth_make, for gth_tensor_alloc, for copies that exports make, and on a CUDA
 * device for the memory that a call frees behind its work. A captured call does not use it. A result of strings needs
 * two allocations.
 */
typedef void *(*gth_alloc_fn)(void *user, int64_t bytes, int64_t align, int32_t device, int32_t device_id,
                              struct CUstream_st *stream);
/**
 * Frees memory of gth_alloc_fn. The arguments are those of the allocation, and the pointer. Device memory is freed in
 * stream order: work that was enqueued earlier may still use the memory.
 */
typedef void (*gth_free_fn)(void *user, int64_t bytes, int64_t align, int32_t device, int32_t device_id,
                            struct CUstream_st *stream, void *ptr);
/** One task of a parallel loop. */
typedef void (*gth_task_fn)(void *arg, int64_t i);
/**
 * Calls task(arg, i) exactly once for each 0 <= i < n, on any threads, and returns when all calls have returned. Large
 * calls use it. A small call runs on the calling thread.
 */
typedef void (*gth_parallel_for_fn)(void *user, int64_t n, gth_task_fn task, void *arg);
/** Releases memory whose ownership was transferred to the library. */
typedef void (*gth_deleter_fn)(void *user);

typedef struct gth_context_options {
  uint32_t size;                   /**< Set by the caller to sizeof(gth_context_options). */
  int32_t threads;                 /**< The highest number of CPU threads of a call. 0: one for each CPU that the
                                         process may use. Numbers above that are reduced to it, or to 16 if
                                         it is below 16. */
  int32_t device;                  /**< GTH_DEVICE_CPU (or 0), or GTH_DEVICE_CUDA */
  int32_t device_id;               /**< The number of the CUDA device. */
  uint32_t flags;                  /**< Must be 0. */
  uint32_t reserved;               /**< Must be 0. */
  struct CUstream_st *stream;      /**< The stream of a CUDA context. 0x2 means the stream of the creating thread.
                                         Calls from other threads then run on the legacy stream. These two
                                         streams wait for each other. */
  struct gth_error_record *record; /**< A record of the caller, zeroed, in device or mapped pinned memory. NULL: the
                                         context allocates one. */
  gth_alloc_fn alloc;              /**< Memory of results. alloc and free must both be set, or none (GTH_E_NULL). */
  gth_free_fn free;
  void *memory_user;                /**< Passed to alloc and free. */
  gth_parallel_for_fn parallel_for; /**< An executor of the caller. NULL: the library's threads. */
  void *parallel_user;              /**< Passed to parallel_for. */
  void *reserved_pointer;           /**< Must be NULL. */
} gth_context_options;

#define GTH_CONTEXT_OPTIONS_FIRST 88
#define GTH_CONTEXT_OPTIONS_INIT \
  {sizeof(gth_context_options), 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}

/**
 * Creates a context: a device, a stream, and the hooks of the calls that use it.
 *
 * Calls that are not captured run in the order of the stream. Captured calls may be replayed on any stream. They may
 * run at the same time as each other, and as other calls of the context. One captured call must not run twice at the
 * same time, for example in two executables of one graph. If it does, its output and error may be wrong, but later
 * calls are correct. The stream must belong to the primary context of the device, as streams of the CUDA runtime do.
 * With a stream of another CUDA context, the first call returns GTH_E_CUDA. The stream must outlive the gth_context,
 * with one exception. After gth_context_sync or gth_context_take_error it may be destroyed earlier. The context may
 * then only be released, before the tensors that were made with it. While a thread captures the stream, no other thread
 * may call functions of the context. Any thread may release tensors at that time. cudaDeviceReset ends CUDA for all
 * contexts of the device. A CUDA context allocates its record and loads its kernels here, so that the first call can be
 * captured. A captured call may allocate device memory. This memory is freed by the next call of a context of the
 * device after both the graph and the context have been released, or by gth_shutdown.
 *
 * @param options  Borrowed, or NULL for defaults. Hooks and their user pointers are Kept. Memory hooks must outlive
 *                 every tensor made with them.
 * @param out      Owned. Release it with gth_context_release.
 * @return NULL, VERSION, DEVICE (the device does not exist, the record is not device or pinned memory, or CUDA cannot
 *         be used: its error number is in native), CUDA, FORK, NOMEM.
 */
GTH_API int32_t gth_context_create(const gth_context_options *options, gth_context **out, gth_error *err);

/**
 * Releases a context. NULL does nothing. Tensors that were made with it stay valid.
 *
 * Waits for the stream of a CUDA context, except if the context has not been used since gth_context_sync. Graphs keep
 * the resources that their calls need, but the errors of these calls are lost. If the stream is being captured, the
 * release does not wait, and the deleters that wait for the stream never run.
 *
 * @return HANDLE.
 */
GTH_EXPORT int32_t gth_context_release(gth_context *context);

/**
 * Waits until the work enqueued on the context's stream is complete, and runs the deleters that waited for it. Does
 * nothing on a CPU context. Blocks.
 *
 * @return HANDLE, CUDA, FORK, CAPTURE.
 */
GTH_API int32_t gth_context_sync(gth_context *context, gth_error *err);

/**
 * Makes the context's stream wait for the work enqueued on `stream` so far. Does not block the host. A stream joins the
 * capture of a stream that it waits for. The call never invalidates a capture.
 *
 * @return HANDLE, DEVICE (CPU context), CUDA, FORK, CAPTURE (the waiting stream is being captured, and the other one is
 *         not in the same capture, or cannot be captured).
 */
GTH_API int32_t gth_context_wait(gth_context *context, struct CUstream_st *stream, gth_error *err);

/**
 * Makes `stream` wait for the work enqueued on the context's stream so far. Does not block the host.
 *
 * @return The statuses of gth_context_wait.
 */
GTH_API int32_t gth_context_signal(gth_context *context, struct CUstream_st *stream, gth_error *err);

/**
 * Waits for the context's stream, returns the error record and clears it. Blocks. On a CPU context returns GTH_OK.
 *
 * A replay of a captured call does not count as a call of the context. The record has the failure of a replay as soon
 * as the stream of the replay has executed it. This also holds if no call was made since the last take. If a replay
 * runs on another stream than the context's stream, first call gth_context_wait with that stream.
 *
 * @return OK (no call failed), INDEX, OFFSETS, SIZE or RACE with the record in err (the first failed call and the count),
 *         or the failure of the take itself with count 0: HANDLE, CUDA, FORK, CAPTURE.
 */
GTH_API int32_t gth_context_take_error(gth_context *context, gth_error *err);

/**
 * Enqueues a copy of the error record to `record`, and then clears the context's record. Allowed under graph capture.
 * Does nothing on a CPU context.
 *
 * @param record  Kept until the stream has executed the copy. Device or pinned host memory.
 * @return NULL, HANDLE, DEVICE (the device cannot access the record), CUDA, FORK.
 */
GTH_API int32_t gth_context_enqueue_take_error(gth_context *context, gth_error_record *record, gth_error *err);

/**
 * Ends the library's threads, and frees cached memory of CUDA devices that no context and no tensor uses. The next
 * large call starts threads again. Call it before the library is unloaded, or before a fork in a process that must have
 * no other threads. It must not run at the same time as other calls. Blocks.
 *
 * @return OK.
 */
GTH_EXPORT int32_t gth_shutdown(void);

/* --------------------------------------------------------------------------------------------------------- Operands */

#define GTH_TENSOR_READONLY 1 /**< The memory must not be written. */

struct gth_codec;

/**
 * An operand: memory of the caller, or a tensor handle.
 *
 * If tensor is NULL, the operand is memory of the caller. Element [i0, i1, ..] lies at data + offset + i0 * strides[0]
 * + i1 * strides[1] + .. The described memory is [data, data + extent). An input may have any strides inside the
 * extent, including zero and negative ones. Elements of an output must not overlap. This is tested with the dims of
 * extent > 1, sorted by |stride|: each |stride| must be at least the number of bytes that all dims with smaller strides
 * span. Data needs no alignment.
 *
 * If tensor is a handle, the operand is that tensor. All other fields except size must then be zero (GTH_E_VERSION).
 */
typedef struct gth_tensor_desc {
  uint32_t size;     /**< Set by the caller to sizeof(gth_tensor_desc). */
  int32_t dtype;     /**< GTH_DTYPE_* */
  int32_t device;    /**< GTH_DEVICE_*. 0: CPU */
  int32_t device_id; /**< The number of the CUDA device. -1 in gth_tensor_borrow and gth_tensor_adopt: CUDA is queried
                          from data. */
  int32_t ndim;      /**< The rank, 0 .. GTH_MAX_NDIM */
  uint32_t flags;    /**< GTH_TENSOR_* */
  const gth_tensor *tensor;      /**< A tensor handle, or NULL. */
  const void *data;              /**< The memory. An output is written through it. */
  const int64_t *shape;          /**< ndim extents. May be NULL for rank 0. */
  const int64_t *strides;        /**< ndim strides in bytes. NULL: dense row-major. */
  const struct gth_codec *codec; /**< The codec of packed rows, see Codecs. Only params of gather, gather_nd and
                                      gather_bags may have one. NULL: the elements are as dtype says. */
  int64_t offset;                /**< Bytes from data to element 0. */
  int64_t extent; /**< Bytes of memory from data. 0: up to the highest byte that shape and strides reach. To describe
                       memory of 0 bytes, set data to NULL. */
} gth_tensor_desc;

#define GTH_TENSOR_DESC_FIRST 80
#define GTH_TENSOR_DESC_INIT {sizeof(gth_tensor_desc), 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0}
/** A dense row-major tensor in CPU memory. */
#define GTH_TENSOR_DESC_DENSE(dtype, ndim, shape, data) \
  {sizeof(gth_tensor_desc), dtype, 0, 0, ndim, 0, NULL, data, shape, NULL, NULL, 0, 0}
/** A tensor handle as an operand. */
#define GTH_TENSOR_DESC_HANDLE(tensor) {sizeof(gth_tensor_desc), 0, 0, 0, 0, 0, tensor, NULL, NULL, NULL, NULL, 0, 0}

/* ----------------------------------------------------------------------------------------------------------- Codecs
 *
 * A codec describes rows of quantised numbers, which are decoded as they are read. A description with a codec is read as
 * follows.
 *   dtype    That of the decoded numbers: float32, or float16 and bfloat16, which are the float32 numbers rounded once
 *            to nearest. The output and fill_value have this dtype.
 *   shape    Counts numbers. The last dim is a row. In a plan, no extent may be open (GTH_E_UNSUPPORTED).
 *   strides  The last one must be 0. The other dims must be one sequence of rows that are equally far apart
 *            (GTH_E_STRIDE). NULL: the rows follow each other. gth_codec_row_bytes returns their size.
 * params of gather, gather_nd and gather_bags may have a codec, with each policy, index type and profile.
 * Whole rows are selected: indices that select in the last dim cause GTH_E_AXIS. In the output, the numbers of a row
 * must be contiguous. If they are not, or if another operand, an operation on elements, a gradient or a device has a
 * codec, the status is GTH_E_UNSUPPORTED. To gather rows without decoding them, describe the same memory as uint8. With
 * GTH_PROFILE_ORT, the default of bounds is fill, as in GatherBlockQuantized.
 *
 * A row consists of blocks of `block_values` numbers, and of `row_tail` more bytes. In float32, number j of a block is
 *   scaled  (float32(code[j]) - zero) * scale
 *   fused   code[j] * scale + bias, rounded once
 * The scale and the zero point or bias are in the block, in the tail, or in operands of their own. These operands have
 * the dims of params but the last one, and then one dim for the blocks of a row. An extent of 1 is repeated. So a scale
 * can belong to a block, a row, a column (block_values is 1) or the table. They have memory and errors of their own
 * (GTH_OPERAND_SCALES, GTH_OPERAND_ZEROS), and any strides with which their rows are equally far apart too: all dims of
 * rows are repeated, or none.
 *
 * gather_bags adds the float32 numbers of its rows, and rounds the result once, or each sum with GTH_ACCUMULATE_DTYPE.
 * With GTH_PROFILE_TORCH, rows of the rule fused are added as torch does: first the bias (times the weight, rounded),
 * then the product of the code and the scale (times the weight, rounded), by one fused multiply-add.
 *
 * If a field of a codec is invalid, the operand of the error is GTH_OPERAND_CODEC, and component is the byte of the
 * field in gth_codec. value is its value, or the number of the row or block that does not suit it. limit is the bound.
 */

/* The structure of a block: that of the other fields, or a format of GGUF, for which the fields from code to code_table
 * must be 0, except factor with NVFP4. */
#define GTH_CODEC_BLOCKS 0
#define GTH_CODEC_Q2_K 1   /**< 256 numbers in 84 bytes */
#define GTH_CODEC_Q3_K 2   /**< 256 numbers in 110 bytes */
#define GTH_CODEC_Q4_K 3   /**< 256 numbers in 144 bytes */
#define GTH_CODEC_Q5_K 4   /**< 256 numbers in 176 bytes */
#define GTH_CODEC_Q6_K 5   /**< 256 numbers in 210 bytes */
#define GTH_CODEC_IQ4_XS 6 /**< 256 numbers in 136 bytes */
#define GTH_CODEC_MXFP4 7  /**< 32 numbers in 17 bytes. Its scale 255 is 2^127. */
#define GTH_CODEC_NVFP4 8  /**< 64 numbers in 36 bytes */

/* The code of a number. Codes of 4 and 2 bits share bytes. */
#define GTH_CODE_UINT8 1
#define GTH_CODE_INT8 2
#define GTH_CODE_UINT4 3
#define GTH_CODE_INT4 4
#define GTH_CODE_UINT2 5
#define GTH_CODE_INT2 6
#define GTH_CODE_UINT5 7 /**< 32 fifth bits in 4 bytes, and then the low bits in halves. The packing must be halves. */
#define GTH_CODE_E4M3FN 8
#define GTH_CODE_E5M2 9
#define GTH_CODE_TABLE4 10 /**< 4 bits: the number of an entry of code_table */

/* The order of codes that share a byte. Codes of 8 bits have none. */
#define GTH_PACKING_LOW 0
#define GTH_PACKING_HIGH 1
#define GTH_PACKING_HALVES 2 /**< Whole blocks of 32 codes of 4 bits: the low bits of all bytes, then the high ones. */

#define GTH_RULE_SCALED 0
#define GTH_RULE_FUSED 1

/* The place of a scale, and of a zero point or bias. */
#define GTH_PLACE_NONE 0    /**< The scale is 1. The zero point or bias is the field `zero`. */
#define GTH_PLACE_BLOCK 1   /**< At byte scale_at or zero_at of the block. */
#define GTH_PLACE_TAIL 2    /**< At byte scale_at or zero_at of the tail of the row. */
#define GTH_PLACE_OPERAND 3 /**< In the operand `scales` or `zeros`. */

/* Integers of 4 bits, for zero_dtype only. In a block or tail, they are the low bits of their byte. An operand of them is
 * described as uint8. Its last dim has a byte for two blocks, low bits first, and is contiguous. */
#define GTH_ZERO_INT4 4
#define GTH_ZERO_UINT4 260

typedef struct gth_codec {
  uint32_t size;           /**< Set by the caller to sizeof(gth_codec). */
  int32_t structure;       /**< GTH_CODEC_* */
  int32_t code;            /**< GTH_CODE_* */
  int32_t packing;         /**< GTH_PACKING_* */
  int32_t rule;            /**< GTH_RULE_* */
  int32_t scale_place;     /**< GTH_PLACE_* */
  int32_t scale_dtype;     /**< float32, float16, bfloat16, float8_e4m3fn or float8_e8m0fnu. 0: that of the operand */
  int32_t zero_place;      /**< GTH_PLACE_* */
  int32_t zero_dtype;      /**< A dtype of scale_dtype, int8, uint8 or GTH_ZERO_*. 0: that of the operand */
  float zero;              /**< The zero point or bias with GTH_PLACE_NONE. */
  float factor;            /**< Each scale is multiplied by it, and rounded. 0: 1 */
  int32_t reserved;        /**< 0 */
  int64_t block_values;    /**< Numbers in a block. 0: all of the row */
  int64_t block_bytes;     /**< Bytes of a block. 0: those of its codes. The last block may then be shorter. */
  int64_t row_tail;        /**< Bytes of a row behind its blocks. */
  int64_t code_at;         /**< The byte of the block at which the codes begin. */
  int64_t scale_at;        /**< The byte of the block or the tail at which the scale is. */
  int64_t zero_at;         /**< The byte of the block or the tail at which the zero point or bias is. */
  const float *code_table; /**< With GTH_CODE_TABLE4: 16 numbers. Borrowed */
  const gth_tensor_desc *scales; /**< With GTH_PLACE_OPERAND, else NULL. Borrowed. Plans keep the address of its
                                      data. */
  const gth_tensor_desc *zeros;  /**< As scales. */
} gth_codec;

#define GTH_CODEC_FIRST 120
#define GTH_CODEC_INIT {sizeof(gth_codec), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL}

/**
 * Describes a known format. If its scales or zeros are operands, the caller then sets these, and block_values.
 *
 * @param name   GGUF: q8_0 q4_0 q4_1 q5_0 q5_1 iq4_nl q2_k q3_k q4_k q5_k q6_k iq4_xs mxfp4 nvfp4. torch and FBGEMM:
 *               rowwise8 rowwise4 rowwise2. With scales as operand: int8 uint8 int4 uint4 int2 uint2 fp8_e4m3fn fp8_e5m2
 *               e2m1, nf4 fp4 (bitsandbytes), and with scales and biases as operands: affine8 affine4 affine2.
 * @param codec  Borrowed, written. codec->size must be set.
 * @return NULL, VERSION (the size, or an unknown name).
 */
GTH_API int32_t gth_codec_named(const char *name, gth_codec *codec, gth_error *err);

/**
 * Computes the bytes of a row of `values` numbers.
 *
 * @param codec  Borrowed. scales and zeros are ignored.
 * @param bytes  Written on GTH_OK.
 * @return NULL, VERSION, DTYPE, SHAPE, SIZE.
 */
GTH_API int32_t gth_codec_row_bytes(const gth_codec *codec, int64_t values, int64_t *bytes, gth_error *err);

/* ---------------------------------------------------------------------------------------------------------- Tensors */

/**
 * Creates a tensor over memory of the caller.
 *
 * @param desc  Borrowed. Shape, strides and codec are copied. Its data is Kept, and that of the operands of its codec.
 *              desc->tensor must be NULL.
 * @param out   Owned. Release it with gth_tensor_release.
 * @return NULL, HANDLE (an operand of the codec), VERSION, DTYPE, RANK, SHAPE, SIZE, STRIDE, DEVICE, NOMEM, UNSUPPORTED
 *         (strings, see gth_tensor_from_strings).
 */
GTH_API int32_t gth_tensor_borrow(const gth_tensor_desc *desc, gth_tensor **out, gth_error *err);

/**
 * Creates a tensor that takes ownership of memory.
 *
 * deleter(user) runs once, on the thread of the last release, when the tensor and every export of it have been
 * released. If CUDA kernels can access the memory (device, managed, pinned), the deleter waits for the stream of the
 * CUDA `context`. It then runs in a later call, sync or release of that context. It never runs in a CUDA callback or
 * while the stream is being captured. If the context has been released, the deleter waits for the streams of all
 * contexts on the device. Contexts that were not used since their last gth_context_sync or gth_context_take_error are
 * not waited for. Each of the others must make a call, sync or release after its stream has finished. The deleter then
 * runs in such a call. The caller orders work on other streams.
 *
 * @param desc  Borrowed. Its data is Consumed. desc->tensor must be NULL, and so must desc->codec (UNSUPPORTED).
 * @return The statuses of gth_tensor_borrow, and HANDLE, NULL (no deleter).
 */
GTH_API int32_t gth_tensor_adopt(gth_context *context, const gth_tensor_desc *desc, gth_deleter_fn deleter, void *user,
                                 gth_tensor **out, gth_error *err);

/**
 * Creates a dense row-major tensor of zeros in new memory on the context's device. The context's hooks allocate it if
 * there are any. Without hooks, device memory comes from a CUDA pool of the library. There is one pool for each device.
 * The pool keeps up to 1/32 of the device's memory for later calls. Other devices and other processes cannot access its
 * memory.
 *
 * @param shape  Borrowed, ndim extents.
 * @param out    Owned.
 * @return NULL, HANDLE, DTYPE, RANK, SHAPE, SIZE, NOMEM, CUDA, FORK, CAPTURE, UNSUPPORTED (strings).
 */
GTH_API int32_t gth_tensor_alloc(gth_context *context, int32_t dtype, int32_t ndim, const int64_t *shape,
                                 gth_tensor **out, gth_error *err);

/**
 * Describes a tensor as memory.
 *
 * desc->shape, desc->strides and desc->codec point into the library. They are valid until the tensor is released.
 * strides, offset, extent and flags are always set. The memory may be written if flags does not have
 * GTH_TENSOR_READONLY. For strings, data and strides are NULL, and extent is the number of their bytes.
 *
 * @param desc  Borrowed, written. desc->size must be set.
 * @return NULL, VERSION, HANDLE, UNSUPPORTED (a table in files).
 */
GTH_API int32_t gth_tensor_describe(const gth_tensor *tensor, gth_tensor_desc *desc, gth_error *err);

/**
 * Releases a tensor. NULL does nothing. Its memory stays valid until its exports are released.
 *
 * Device memory of the library is freed in stream order by the next call of its context, or when the context is
 * released. If the context has been released before, the memory is freed when a deleter of gth_tensor_adopt would run.
 *
 * @return HANDLE.
 */
GTH_EXPORT int32_t gth_tensor_release(gth_tensor *tensor);

/**
 * Copies every element of source to destination. Both have the same dtype and shape, any strides, and any device that
 * the context can access. On a CUDA context the copy runs in stream order. A copy between device memory and pageable
 * host memory waits and allocates if their strides differ.
 *
 * @param source       Borrowed. Operand PARAMS in errors.
 * @param destination  Borrowed, written. Operand OUT in errors.
 * @return NULL, HANDLE, VERSION, DTYPE, RANK, SHAPE, SIZE, STRIDE, READONLY, DEVICE, ALIAS, CUDA, FORK, CAPTURE
 *         (pageable memory), NOMEM, UNSUPPORTED (strings).
 */
GTH_API int32_t gth_copy(gth_context *context, const gth_tensor_desc *source, const gth_tensor_desc *destination,
                         gth_error *err);

/* ---------------------------------------------------------------------------------------------- Exchange of tensors */

struct DLManagedTensor;
struct DLManagedTensorVersioned;
struct ArrowSchema;
struct ArrowArray;

/**
 * Creates a tensor from DLPack, versioned (major version 1) or legacy, without a copy. Byte offset and strides are
 * respected. NULL strides mean dense.
 *
 * @param managed  Consumed. Its deleter, which may be NULL, runs once, when the tensor and every export of it have been
 *                 released.
 * @return NULL, HANDLE, VERSION, DLPACK, DTYPE (including lanes other than 1), RANK, SHAPE, SIZE, STRIDE, DEVICE,
 *         NOMEM.
 */
GTH_API int32_t gth_tensor_from_dlpack(gth_context *context, struct DLManagedTensorVersioned *managed, gth_tensor **out,
                                       gth_error *err);
GTH_API int32_t gth_tensor_from_dlpack_legacy(gth_context *context, struct DLManagedTensor *managed, gth_tensor **out,
                                              gth_error *err);

/* By default an export shares memory that the library owns, and copies memory that was only borrowed. */
#define GTH_EXPORT_COPY 1    /**< Always copy. */
#define GTH_EXPORT_NO_COPY 2 /**< Never copy. A borrowed tensor causes GTH_E_UNSUPPORTED. */

/**
 * Exports a tensor as a DLPack struct.
 *
 * Strides are always set. The versioned form has the read-only flag and the flag for copies. The legacy form has no
 * read-only flag and does not share read-only memory (GTH_E_READONLY). A copy is never read-only. DLPack counts strides
 * in elements. If a stride is no multiple of the element size, the tensor is copied, or the call returns UNSUPPORTED.
 *
 * @param flags  GTH_EXPORT_*
 * @param out    Owned. Call its deleter.
 * @return NULL, HANDLE, VERSION (flags), READONLY, UNSUPPORTED (strings, or a copy is needed and not allowed), NOMEM,
 *         CUDA, FORK, CAPTURE.
 */
GTH_API int32_t gth_tensor_to_dlpack(gth_context *context, const gth_tensor *tensor, uint32_t flags,
                                     struct DLManagedTensorVersioned **out, gth_error *err);
GTH_API int32_t gth_tensor_to_dlpack_legacy(gth_context *context, const gth_tensor *tensor, uint32_t flags,
                                            struct DLManagedTensor **out, gth_error *err);

/**
 * Creates a string tensor from an Arrow array of format u, U, z or Z. The offset of the array is respected.
 *
 * @param schema  Borrowed.
 * @param array   Consumed. The library moves the struct, and its release becomes NULL.
 * @param ndim    The rank, or -1 for one dim of the array's length.
 * @param shape   Borrowed. Its product is the array's length.
 * @return NULL, HANDLE, DTYPE (another format, or a null), ARROW (a released or malformed struct, or offsets that
 *         decrease or leave the data), RANK, SHAPE (another count), SIZE, NOMEM.
 */
GTH_API int32_t gth_tensor_from_arrow(gth_context *context, const struct ArrowSchema *schema, struct ArrowArray *array,
                                      int32_t ndim, const int64_t *shape, gth_tensor **out, gth_error *err);

/**
 * Exports a string tensor as an Arrow array, flat in row-major order: format U for text, Z for binary.
 *
 * @param flags   GTH_EXPORT_*
 * @param schema  Borrowed, overwritten. Its content is Owned: call its release. It is not written on failure.
 * @param array   Like schema.
 * @return NULL, HANDLE, VERSION (flags), UNSUPPORTED (no strings, or a copy is needed and not allowed), RACE (borrowed
 *         offsets have changed), NOMEM.
 */
GTH_API int32_t gth_tensor_to_arrow(gth_context *context, const gth_tensor *tensor, uint32_t flags,
                                    struct ArrowSchema *schema, struct ArrowArray *array, gth_error *err);

#define GTH_STRINGS_BINARY 1 /**< The strings are bytes, not text. They are exported in Arrow format Z instead of U. */

/**
 * Creates a string tensor over plain buffers. String i, in row-major order, is bytes[offsets[i] .. offsets[i + 1]).
 *
 * The offsets are validated here, and again when they are used.
 *
 * @param flags    GTH_STRINGS_*
 * @param shape    Borrowed, ndim extents.
 * @param offsets  One more than there are elements. Kept if deleter is NULL, else Consumed.
 * @param bytes    Kept if deleter is NULL, else Consumed.
 * @param extent   The size of bytes.
 * @return NULL, HANDLE, VERSION (flags), RANK, SHAPE, SIZE, ARROW (offsets that decrease or leave the bytes: position,
 *         value, limit), NOMEM.
 */
GTH_API int32_t gth_tensor_from_strings(gth_context *context, uint32_t flags, int32_t ndim, const int64_t *shape,
                                        const int64_t *offsets, const void *bytes, int64_t extent,
                                        gth_deleter_fn deleter, void *user, gth_tensor **out, gth_error *err);

/**
 * Returns the buffers of a string tensor, in the form of gth_tensor_from_strings. They are valid until it is released.
 *
 * @return NULL, HANDLE, DTYPE (no strings).
 */
GTH_API int32_t gth_tensor_strings(const gth_tensor *tensor, const int64_t **offsets, const void **bytes,
                                   gth_error *err);

/* ------------------------------------------------------------------------------------------------------------ Files
 *
 * A table may lie in files that are larger than memory, or in several pieces of memory. gth_tensor_open creates a tensor
 * over segments, each of which is a range of rows. A row of the table is an entry of dim 0. The tensor is read-only. It
 * may be params of gather, gather_nd, gather_elements and gather_bags, with each function that runs or plans them, and
 * scales and zeros of a codec. As another operand, and for gth_copy, gth_tensor_describe and the exports, the status is
 * GTH_E_UNSUPPORTED. Only the rows that indices select are read.
 *
 * GTH_FILES_READ reads rows with calls of the system. It never raises SIGBUS, and the process maps no file. If several
 * of 256 successive ids of bags select one row, it is read once.
 * GTH_FILES_MAP maps the files. A row that was read before costs little more than a row in memory. On Windows it reads
 * files like GTH_FILES_READ.
 * In both modes, a thread first requests up to 256 rows from the system, and then reads them. So the disk works on many
 * rows at once. Large calls use the threads of the context. No other threads read.
 *
 * Errors
 *   Bags and indices are validated before any file is read. If a row cannot be read, the status is GTH_E_IO. With
 *   GTH_FILES_MAP without a budget, no output has been written then. Otherwise each row of the output holds its result,
 *   or is unchanged, or is a row that could not be read.
 *   A file must not be changed while a tensor uses it. If it becomes shorter, rows beyond its end cause GTH_E_IO, with
 *   one exception: with GTH_FILES_MAP, a page that an earlier call has read raises SIGBUS. So does, on macOS and before
 *   Linux 5.14, each page that cannot be read. A file that is removed or replaced by another one stays readable. */

struct gth_options;

/* Modes of a table in files. */
#define GTH_FILES_READ 1 /**< Files are read. The default. */
#define GTH_FILES_MAP 2  /**< Files are mapped. For rows that are read again and again. */

#define GTH_SEGMENT_EXTENT 1 /**< The field extent is set, even if it is 0. */
#define GTH_SEGMENT_FILE 2   /**< The field file is set. */

/**
 * Some rows of a table. A row may not be divided between segments. Either path, or data, or file with GTH_SEGMENT_FILE is
 * given. None of them causes GTH_E_NULL, two of them GTH_E_VERSION.
 */
typedef struct gth_segment {
  uint32_t size;      /**< Set by the caller to sizeof(gth_segment). */
  uint32_t flags;     /**< GTH_SEGMENT_* */
  const char *path;   /**< The file, in UTF-8, or NULL. Borrowed */
  const void *data;   /**< The memory, or NULL. Kept */
  int64_t file;       /**< With GTH_SEGMENT_FILE: a file descriptor (on Windows a HANDLE), of which the library makes a
                           duplicate. */
  int64_t offset;     /**< The byte of the first row. It needs no alignment. */
  int64_t rows;       /**< The number of rows, at least 1. */
  int64_t row_stride; /**< Bytes from row to row, at least the bytes of a row. 0: the bytes of a row */
  int64_t extent; /**< Bytes of memory from data. 0: up to the highest byte that the rows reach. To describe memory of
                       0 bytes, set GTH_SEGMENT_EXTENT. Of a file, extent must be 0, without that flag. */
} gth_segment;

#define GTH_SEGMENT_FIRST 64
#define GTH_SEGMENT_INIT {sizeof(gth_segment), 0, NULL, NULL, 0, 0, 0, 0, 0}

typedef struct gth_files_options {
  uint32_t size;    /**< Set by the caller to sizeof(gth_files_options). */
  int32_t mode;     /**< GTH_FILES_*. 0: GTH_FILES_READ */
  int64_t resident; /**< GTH_FILES_MAP: the budget of mapped memory in bytes, at least 8 MiB. Before the pages of the
                         tensor exceed it, they leave the memory of the process. They stay in the page cache of the
                         system. Other files that the process maps meanwhile count too. 0: no budget */
} gth_files_options;

#define GTH_FILES_OPTIONS_FIRST 16
#define GTH_FILES_OPTIONS_INIT {sizeof(gth_files_options), 0, 0}

/** Counters of a table in files since it was opened. */
typedef struct gth_files_stats {
  uint32_t size;     /**< Set by the caller to sizeof(gth_files_stats). */
  int32_t mode;      /**< The mode in use, GTH_FILES_*. */
  int64_t rows;      /**< Rows that were read from files. Parts of a row count too. */
  int64_t requested; /**< Rows (read) or pages (map) that were not in memory and were requested. */
  int64_t releases;  /**< The number of times that pages left the memory of the process because of the budget. */
  int64_t resident;  /**< The mapped memory after the last call, in bytes. 0 without a budget */
} gth_files_stats;

#define GTH_FILES_STATS_FIRST 40
#define GTH_FILES_STATS_INIT {sizeof(gth_files_stats), 0, 0, 0, 0, 0}

/**
 * Opens a table in files, or in pieces of memory, as a read-only tensor.
 *
 * The segments are consecutive rows of the table: segment 0 has rows 0 to segments[0]->rows - 1, and so on. Files are
 * opened here, and closed when the tensor is released. No row is read. Several segments may be in one file. If scales
 * or zeros of the codec are tensors in files, they must be released after this tensor.
 *
 * @param context   A CPU context, or NULL.
 * @param desc      Borrowed. dtype, ndim (at least 1), shape and codec of the whole table. shape[0] is the sum of the
 *                  rows of all segments. data and strides must be NULL, offset and extent 0, and the device the CPU.
 * @param count     The number of segments, at least 1.
 * @param segments  Borrowed, `count` pointers.
 * @param options   Borrowed, or NULL.
 * @param out       Owned. Release it with gth_tensor_release.
 * @return NULL, HANDLE, VERSION, DTYPE, RANK, SHAPE, SIZE, STRIDE (of the description, or offset, row_stride and extent
 *         of a segment), DEVICE (a CUDA context), IO, NOMEM, UNSUPPORTED (strings).
 */
GTH_API int32_t gth_tensor_open(gth_context *context, const gth_tensor_desc *desc, int64_t count,
                                const gth_segment *const *segments, const gth_files_options *options, gth_tensor **out,
                                gth_error *err);

/**
 * Requests the rows that a gather with these indices and options reads, and does not wait for them. The gather then waits
 * less. Indices that select no row are ignored, and so are rows that cannot be read. Segments in memory need no request.
 *
 * @param context  A CPU context, or NULL.
 * @param tensor   A tensor of gth_tensor_open.
 * @param indices  Borrowed. Integers of any shape.
 * @param options  Borrowed, or NULL.
 * @return NULL, HANDLE, VERSION, DTYPE, RANK, AXIS, BATCH, SHAPE, SIZE, STRIDE, DEVICE, UNSUPPORTED (another tensor).
 */
GTH_API int32_t gth_tensor_prefetch(gth_context *context, const gth_tensor *tensor, const gth_tensor_desc *indices,
                                    const struct gth_options *options, gth_error *err);

/**
 * Reads the counters of a table in files.
 *
 * @param stats  Borrowed, written. stats->size must be set.
 * @return NULL, HANDLE, VERSION, UNSUPPORTED (another tensor).
 */
GTH_API int32_t gth_tensor_stats(const gth_tensor *tensor, gth_files_stats *stats, gth_error *err);

/* ---------------------------------------------------------------------------------------------------------- Options */

/* Profiles set all switches at once. With a profile, results are those of the named system in every edge case, except
 * for a documented list of deliberate differences. Messages are not those of the system. */
#define GTH_PROFILE_TENSORFLOW 1     /**< TensorFlow on the CPU: an index below 0 is an error */
#define GTH_PROFILE_TENSORFLOW_GPU 2 /**< TensorFlow on a GPU: an index out of bounds gives zeros */
#define GTH_PROFILE_ONNX 3           /**< ONNX, the specification: negative indices wrap, no K = 0, types by opset */
#define GTH_PROFILE_ORT 4            /**< ONNX Runtime on the CPU */
#define GTH_PROFILE_NUMPY_RAISE 5    /**< NumPy's take(mode="raise") and x[i, j]: negative indices wrap */
#define GTH_PROFILE_NUMPY_WRAP 6     /**< NumPy's take(mode="wrap"): an index modulo the size */
#define GTH_PROFILE_NUMPY_CLIP 7     /**< NumPy's take(mode="clip"): the nearest index, 0 for a negative one */
#define GTH_PROFILE_TORCH 8          /**< torch's index_select for gather, and x[i, j] for gather_nd */
#define GTH_PROFILE_JAX_FILL 9       /**< jnp.take(mode="fill"), x.at[].get(mode="fill") */
#define GTH_PROFILE_JAX_CLIP 10      /**< jnp.take(mode="clip"), x.at[].get(mode="clip") */

/* The meaning of a negative index. */
#define GTH_NEGATIVE_REJECT 1 /**< It is out of bounds. */
#define GTH_NEGATIVE_WRAP \
  2 /**< It counts from the end: -1 is the last, -size the first. A smaller one is out of bounds. */

/* The meaning of an index out of bounds. error, fill and skip apply to a tuple as a whole. clamp and modulo apply to
 * each component, after wrap. With clamp and modulo, a dim of extent 0 causes GTH_E_INDEX. Indices are also validated if
 * the slices have no elements, except with the profiles of systems that do not do this. */
#define GTH_BOUNDS_ERROR 1 /**< The call returns GTH_E_INDEX, and the output is unchanged. */
#define GTH_BOUNDS_FILL \
  2 /**< The row is filled with the value that gth_options.fill selects. Not valid for scatters. */
#define GTH_BOUNDS_CLAMP 3  /**< The nearest valid index is used. */
#define GTH_BOUNDS_MODULO 4 /**< The index modulo the extent is used, in [0, extent). */
#define GTH_BOUNDS_SKIP 5   /**< The row of the output is unchanged, and zero in a new output. An update is dropped. */
/** Like error, but after GTH_E_INDEX the written operand may contain some of the results. A large gather then validates
 * indices while it copies, so it reads them once. */
#define GTH_BOUNDS_ERROR_PARTIAL 6

/* The value that bounds = fill writes, and the row of a gather that padding_index selects. */
#define GTH_FILL_ZERO 1     /**< Zero bytes, or empty strings. */
#define GTH_FILL_VALUE 2    /**< gth_options.fill_value */
#define GTH_FILL_BY_DTYPE 3 /**< As in JAX: NaN (+ 0i), the smallest signed, the largest unsigned, true. */

/* The rule of gather_elements and scatter_elements for the extents of the dims that are not the axis. */
#define GTH_EXTENTS_EQUAL 1     /**< They are equal. */
#define GTH_EXTENTS_PREFIX 2    /**< Extents of indices may be smaller. A prefix of params is used (torch, ONNX). */
#define GTH_EXTENTS_BROADCAST 3 /**< An extent of 1 is repeated (NumPy, JAX). */

/**
 * @name Reductions
 * A reduction combines an update with the row that it selects. Updates are applied in the order of their positions:
 * with none, the last update remains. The result does not depend on the number of threads. With GTH_ORDER_ANY, a CUDA
 * device may add in another order.
 *
 * | dtype                     | add, mul                          | max, min                  | mean            |
 * |---------------------------|-----------------------------------|---------------------------|-----------------|
 * | int8 .. uint64            | wrap around                       | supported                 | rounded down    |
 * | float16, bfloat16, 32, 64 | each result is rounded to nearest | NaN if one of them is NaN | sum / count     |
 * | complex64, complex128     | each result is rounded to nearest | GTH_E_DTYPE               | sum / count     |
 * | bool                      | or, and                           | or, and                   | GTH_E_DTYPE     |
 * | float8, strings           | GTH_E_DTYPE                       | GTH_E_DTYPE               | GTH_E_DTYPE     |
 *
 * If target and update are equal, max and min keep the value of target. mean adds as add does, and then divides each
 * row that has updates by the number of them, plus one for the row of target. Rows without updates are unchanged. mean
 * allocates up to 24 bytes for each slice of updates, also in runs of plans. If that fails (GTH_E_NOMEM), target is
 * unchanged.
 * @{
 */
#define GTH_REDUCTION_NONE 1 /**< The row becomes the update. All dtypes. */
#define GTH_REDUCTION_ADD 2  /**< The row becomes the sum. Integers wrap around. For bools it is the logical or. */
#define GTH_REDUCTION_MUL 3  /**< The row becomes the product. Integers wrap around. For bools it is the logical and. */
#define GTH_REDUCTION_MAX 4  /**< The row becomes the maximum, or NaN if either is NaN. */
#define GTH_REDUCTION_MIN 5  /**< The row becomes the minimum, or NaN if either is NaN. */
#define GTH_REDUCTION_MEAN 6 /**< The row becomes the mean of its updates and itself, rounded down for integers. */
/** @} */

/* What the reduction of a row begins with. Rows without updates are unchanged. With GTH_INITIAL_UPDATE, the row of target
 * is ignored: the result is that of the updates alone, and mean divides by their number. The first update is combined
 * with the identity: 0, 1, or the smallest or largest number. */
#define GTH_INITIAL_TARGET 1 /**< The row of target. */
#define GTH_INITIAL_UPDATE 2 /**< The first update, as with include_self=False of torch. */

/* The order in which a scatter, a gradient or a gradient of bags combines the updates of an element. On the CPU it is
 * always that of the updates. */
#define GTH_ORDER_UPDATES \
  1 /**< The order of their positions. The bytes of the result are equal in every call, on every device and on the CPU,
       except for the bits of NaN. */
#define GTH_ORDER_ANY \
  2 /**< A CUDA device may add float16, bfloat16, float32, float64 and complex numbers with atomic additions. Then the
       last bits of a sum or a mean may differ from call to call, and subnormal numbers of float32 may count as zero.
       Other reductions and dtypes are not changed. */

/* The type in which a scatter adds and multiplies. Other dtypes use their own type. float32 and float64 accumulation
 * allocate 24 bytes for each slice of updates. If that fails (GTH_E_NOMEM), target is unchanged. */
#define GTH_ACCUMULATE_DTYPE 1 /**< Each result is rounded to the dtype. 4,096 ones in float16 then add up to 2,048. */
#define GTH_ACCUMULATE_FLOAT32 \
  2 /**< float32, for float16 and bfloat16. Elements are rounded once, after all updates: 4,096. */
#define GTH_ACCUMULATE_FLOAT64 \
  3 /**< float64, for float32, whose elements are rounded once. float16 and bfloat16 use float32. Not for bags. */

/**
 * @name Bags
 * How the operand bags tells which ids belong to which bag, for B bags with N ids in total. The ids of a bag are
 * successive.
 * @{
 */
#define GTH_BAGS_OFFSETS 1  /**< B + 1 numbers. Bag b has the ids from bags[b] up to bags[b + 1]. */
#define GTH_BAGS_STARTS 2   /**< B numbers. Bag b has the ids from bags[b] up to bags[b + 1], the last one up to N. */
#define GTH_BAGS_LENGTHS 3  /**< B numbers. Bag b has bags[b] ids. */
#define GTH_BAGS_SEGMENTS 4 /**< N numbers, which do not decrease. Id i is in bag bags[i]. bag_count is B. */
#define GTH_BAGS_DENSE 5    /**< Each row of indices along its last dim is a bag. bags is NULL. */
/** @} */

/**
 * @name Pools
 * How the rows of a bag become one. w is the weight of an id, or 1.
 * @{
 */
#define GTH_POOL_SUM 1   /**< The sum of w * row. */
#define GTH_POOL_MEAN 2  /**< The sum, divided by the sum of w. Floating and complex numbers only. */
#define GTH_POOL_SQRTN 3 /**< The sum, divided by the root of the sum of w * w. Floating numbers only. */
#define GTH_POOL_MAX 4   /**< The largest number, or NaN if one is NaN. There are no weights and no complex numbers. */
#define GTH_POOL_MIN 5   /**< The smallest number, or NaN if one is NaN. There are no weights and no complex numbers. */
/** @} */

/* The row of a bag of which no id is read. */
#define GTH_EMPTY_ZERO 1  /**< Zeros. */
#define GTH_EMPTY_FILL 2  /**< The value that gth_options.fill selects. */
#define GTH_EMPTY_ERROR 3 /**< GTH_E_OFFSETS. The output is unchanged. */

/**
 * The options of every operation. NULL has the same meaning as a struct of zeros: There is no profile, axis and
 * batch_dims are 0, and all dtypes are accepted. Negative indices are out of bounds, and an index out of bounds causes
 * GTH_E_INDEX. A switch (negative, bounds, fill, extents, reduction, accumulate, bag_format, pool, empty, initial or
 * order) that is not 0 overrides the profile. A switch that the operation does not have must be 0. Two may be set anyway
 * and have no effect: fill and extents. So may opset without the profiles onnx and ort.
 */
typedef struct gth_options {
  uint32_t size;          /**< Set by the caller to sizeof(gth_options). */
  int32_t has_axis;       /**< 0 or 1. 0: the axis is the given batch_dims, before negative values are normalised. */
  int64_t axis;           /**< [-rank(params), rank(params)), at least batch_dims. gather_nd has none. 0 if has_axis
                               is 0. */
  int64_t batch_dims;     /**< The number of leading dims that params and indices share. In gather a negative number
                               counts from rank(indices). */
  int32_t profile;        /**< GTH_PROFILE_*. 0: none */
  int32_t opset;          /**< The profiles onnx and ort use the newest definition up to this opset. 0: the newest */
  int32_t negative;       /**< GTH_NEGATIVE_*. 0: that of the profile, else reject */
  int32_t bounds;         /**< GTH_BOUNDS_*. 0: that of the profile, else error */
  int32_t fill;           /**< GTH_FILL_*. 0: that of the profile, else zero */
  int32_t threads;        /**< The highest number of CPU threads of this call. 0: that of the context */
  int32_t extents;        /**< GTH_EXTENTS_*, of operations on elements. 0: that of the profile, else equal */
  int32_t reduction;      /**< GTH_REDUCTION_*, for scatters. 0: none */
  uint64_t fill_value[2]; /**< With GTH_FILL_VALUE: the memory image of one element, from its first byte. */
  int32_t accumulate;     /**< GTH_ACCUMULATE_*, for scatters, gradients and gather_bags. 0: that of the profile, else
                               dtype. gather_bags: float32 */
  int32_t out_dtype;      /**< The dtype of the output of gather_bags. 0: that of params. Valid are that of params, and
                               float32 for float16 and bfloat16 params. 0 for other operations. */
  int32_t bag_format;     /**< GTH_BAGS_*, for gather_bags. 0: offsets if bags is given, else dense */
  int32_t pool;           /**< GTH_POOL_*, for gather_bags. 0: sum */
  int32_t empty;          /**< GTH_EMPTY_*, for gather_bags. 0: that of the profile, else zero */
  int32_t has_padding_index; /**< 0 or 1. 1: padding_index is given. */
  int64_t padding_index;     /**< An index that selects nothing. See Padding below. 0 if has_padding_index is 0. */
  int64_t bag_count;         /**< The number of bags with GTH_BAGS_SEGMENTS. Else 0 */
  int32_t initial;           /**< GTH_INITIAL_*, for scatters. 0: target. Without a reduction it has no effect. */
  int32_t fill_dtype;        /**< The dtype of fill_value. 0: not checked. Without GTH_FILL_VALUE it has no effect. */
  int32_t order;             /**< GTH_ORDER_*, for scatters, gradients and gradients of gather_bags. 0: updates */
  int32_t reserved;          /**< Must be 0. */
} gth_options;

#define GTH_OPTIONS_FIRST 128
#define GTH_OPTIONS_INIT \
  {sizeof(gth_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* Padding. An index equal to padding_index selects nothing, and is no error. It is compared as it was given, before
 * negative and bounds apply, so it may be out of bounds. Every other invalid index stays an error. A tuple is padding if
 * all its components are equal to padding_index.
 *   gather, _nd, _elements     The row is filled with the value that `fill` selects: zeros by default. With bounds =
 *                              skip it is unchanged, and zero in a new output.
 *   scatters and gradients     The update is dropped.
 *   gather_bags                The id is neither read nor counted.
 * gth_partition does not have padding_index (GTH_E_VERSION). */

/* ------------------------------------------------------------------------------------------------------- Operations */

/* 0 is no operation (GTH_E_VERSION). From the first release on, the numbers never change.
 *
 *                             table     indices    rows       written
 *   gather, _nd, _elements    params    indices    out        rows
 *   scatter, _nd, _elements   target    indices    updates    table
 *   gather*_gradient          target    indices    updates    table
 *   gather_bags               params    indices    out        rows      and bags, weights
 *
 * In the shapes below, a is the axis and b is batch_dims, both normalised, and K is indices.shape[-1]. In the indices of
 * elements, B stands for the coordinates in the batch dims, O in the other dims in front of the axis, J in the other
 * dims of indices, and I in the dims after the axis. */

/**
 * gather copies slices along an axis, b <= a:
 *
 *     out.shape = params.shape[:a] + indices.shape[b:] + params.shape[a+1:],  params.shape[:b] == indices.shape[:b]
 *     out[B, O, J, I] = params[B, O, indices[B, J], I]
 *
 * Indices of rank 0 remove the axis. Other names are tf.gather, ONNX Gather, numpy.take and torch.index_select. With
 * batch_dims = rank(indices) - 1, gather is tf.batch_gather.
 */
#define GTH_OP_GATHER 1
/**
 * gather_nd copies slices that tuples select, 0 <= K <= rank(params) - b:
 *
 *     out.shape = indices.shape[:-1] + params.shape[b+K:],  params.shape[:b] == indices.shape[:b]
 *     out[B, J, :] = params[B, indices[B, J, 0], .., indices[B, J, K-1], :]
 *
 * Other names are tf.gather_nd, TensorFlow's raw GatherNd, ONNX GatherND and x[i, j, ..]. has_axis must be 0.
 * batch_dims must not be negative, and must be below rank(params). With GTH_PROFILE_ORT, batch_dims may be
 * rank(params). K is then 0.
 */
#define GTH_OP_GATHER_ND 2
/**
 * gather_elements copies single elements along an axis. Each other dim is the same dim of all three operands:
 *
 *     out.shape = indices.shape,  rank(params) == rank(indices)
 *     out[i, .., j, .., k] = params[i, .., indices[i, .., j, .., k], .., k]      j and the index are in dim a
 *
 * Other names are torch.gather, ONNX GatherElements and numpy.take_along_axis. The option `extents` is the rule for the
 * other dims. With GTH_EXTENTS_BROADCAST, the output has the broadcast extents. batch_dims must be 0. Without has_axis,
 * the axis is 0.
 */
#define GTH_OP_GATHER_ELEMENTS 3
/**
 * scatter writes the slices that gather would read. Updates of one slice are applied in row-major order of J:
 *
 *     updates.shape = target.shape[:a] + indices.shape[b:] + target.shape[a+1:]
 *     target[B, O, indices[B, J], I] = reduction(target[B, O, indices[B, J], I], updates[B, O, J, I])
 *
 * Other names are torch.index_copy_, torch.index_add_ and x.at[:, i].set. Attributes, bounds, profiles, strides and
 * index dtypes follow the rules of gather, with target instead of params and updates instead of out.
 *
 * target and updates have the same dtype. updates may have any strides. It may also be one row or one number,
 * which each tuple writes: its shape is then the last dims of the shape above. The profiles of TensorFlow, ONNX, ONNX
 * Runtime and torch reject this. Elements of target must not overlap each other (GTH_E_STRIDE), indices or
 * updates (GTH_E_ALIAS). Bytes of target that no tuple selects are unchanged. Each element of target is written by
 * exactly one thread.
 *
 * On a CUDA device, scatters and gradients run in stream order. They give the bytes of the CPU in every run, except for
 * the bits of NaN. With more than 1,024 slices of updates, most of them allocate 16 bytes and a little for each. This
 * memory is allocated and freed in stream order, by the hooks of the context if it has some. A captured call allocates
 * it itself, and keeps it until its graph is destroyed. mean, wider accumulation and
 * GTH_INITIAL_UPDATE take less than 2^31 slices of updates there (GTH_E_UNSUPPORTED with operand UPDATES).
 */
#define GTH_OP_SCATTER 4
/**
 * scatter_nd writes the slices that gather_nd would read:
 *
 *     updates.shape = indices.shape[:-1] + target.shape[b+K:]
 *     target[B, indices[B, J, 0], .., indices[B, J, K-1], :] = reduction(the same element, updates[B, J, :])
 *
 * Other names are tf.tensor_scatter_nd_update, _add, _max and _min, ONNX ScatterND, x[i, j] = v, x.at[i, j].add(v) and
 * torch.index_put_. tf.scatter_nd adds into zeros. Other rules are those of scatter.
 */
#define GTH_OP_SCATTER_ND 5
/**
 * scatter_elements writes the elements that gather_elements would read:
 *
 *     updates.shape = indices.shape,  rank(target) == rank(indices)
 *     target[i, .., indices[i, .., j, .., k], .., k] = reduction(the same element, updates[i, .., j, .., k])
 *
 * Other names are torch.scatter_, scatter_add_, scatter_reduce_, ONNX ScatterElements and numpy.put_along_axis. With
 * GTH_EXTENTS_BROADCAST, updates have the broadcast extents. Other rules are those of scatter.
 */
#define GTH_OP_SCATTER_ELEMENTS 6
/**
 * The gradient of gather with respect to params. It begins as zeros of the shape of params. Each slice of the gradient
 * of the output is added to the place that the gather has read.
 *
 * It is a scatter with add into zeros, but profiles and switches have the meaning that they have for the gather. A row
 * that the gather has not read because of bounds = fill or skip contributes nothing. reduction must be 0. With
 * GTH_PROFILE_ORT, the batch extents of gather_nd must be equal (GTH_E_BATCH).
 */
#define GTH_OP_GATHER_GRADIENT 7
/** The gradient of gather_nd, as GTH_OP_GATHER_GRADIENT. */
#define GTH_OP_GATHER_ND_GRADIENT 8
/** The gradient of gather_elements, as GTH_OP_GATHER_GRADIENT. */
#define GTH_OP_GATHER_ELEMENTS_GRADIENT 9
/**
 * gather_bags pools the slices that the ids of each bag select along dim 0 of params:
 *
 *     out.shape = [B] + params.shape[1:]                  indices.shape == [N]
 *     out.shape = indices.shape[:-1] + params.shape[1:]   with GTH_BAGS_DENSE
 *     out[b, :] = the pool of weights[k] * params[indices[k], :] for the ids k of bag b, in their order
 *
 * Other names are torch.nn.functional.embedding_bag, tf.nn.embedding_lookup_sparse and jax.ops.segment_sum of a take.
 * bags are integers. weights may be NULL. They have the shape of indices, and the dtype of params, or float32 if params
 * are floating. Only float16, bfloat16, float32, float64 and integers have weights. The options bag_format, pool, empty,
 * bag_count and out_dtype belong to this operation. axis and batch_dims must be 0.
 *
 * Sums begin with 0, and add rows in the order of their ids. So the result does not depend on threads, processors and
 * strides. float16 and bfloat16 are added in float32 and rounded once, except with GTH_ACCUMULATE_DTYPE. Weighted sums
 * of these and of float32 use one fused multiply-add for each id. Other products are rounded before they are added.
 * Integers wrap around. If the divisor of a mean or sqrtn is 0, the row is zero. This also holds if its ids have numbers
 * of infinity or NaN. bool, float8 and strings cause GTH_E_DTYPE.
 *
 * All numbers of bags are validated first, then that no bag is empty (GTH_EMPTY_ERROR), then indices, and all of them
 * before the first byte is written. With bounds = skip, an id out of bounds is neither read nor counted. With bounds =
 * fill, it counts as a row of the fill value.
 *
 * The profiles torch, tensorflow, jax_fill and jax_clip have this operation. With torch, the last offset may be smaller
 * than N, and there may be ids without any start. The remaining ids are not read then. With jax_fill and jax_clip, the
 * maximum of an empty bag is -infinity or the smallest integer, and the minimum is the opposite. With tensorflow, a mean
 * or sqrtn is the quotient. TensorFlow multiplies by the reciprocal of the divisor, so its last bit may differ.
 *
 * In a plan, the number of bags and the number of ids may be open. n is the number of bags, or the outermost dim of
 * indices with GTH_BAGS_DENSE.
 *
 * On a CUDA device, gather_bags runs in stream order, and gives the bytes of the CPU except for the bits of NaN. With
 * GTH_BAGS_LENGTHS, a call allocates 8 bytes for each bag and 8 KiB there, as scatters do. Packed params cause
 * GTH_E_UNSUPPORTED with operand PARAMS. So do more than 2^36 bags whose rows have no elements, with operand BAGS.
 */
#define GTH_OP_GATHER_BAGS 10
/** The highest operation number of this header. It grows with new operations. */
#define GTH_OP_LAST 10

/** An operation, its operands by role, and its options. */
typedef struct gth_request {
  uint32_t size;                  /**< Set by the caller to sizeof(gth_request). */
  int32_t op;                     /**< GTH_OP_* */
  const gth_tensor_desc *table;   /**< params, or target */
  const gth_tensor_desc *indices; /**< indices */
  const gth_tensor_desc *rows;    /**< out, or updates */
  const gth_options *options;     /**< NULL: defaults */
  const gth_tensor_desc *bags;    /**< bags of gather_bags, NULL with GTH_BAGS_DENSE. NULL for other operations */
  const gth_tensor_desc *weights; /**< weights of gather_bags, or NULL. NULL for other operations */
} gth_request;

#define GTH_REQUEST_FIRST 56
#define GTH_REQUEST_INIT {sizeof(gth_request), 0, NULL, NULL, NULL, NULL, NULL, NULL}
/** A request without bags and weights, with its fields as arguments. */
#define GTH_REQUEST(op, table, indices, rows, options) \
  {sizeof(gth_request), op, table, indices, rows, options, NULL, NULL}

/**
 * Runs an operation on existing memory.
 *
 * The operand rows must have exactly the shape that gth_infer returns. On the CPU the call allocates nothing, except for
 * accumulation in a wider type (GTH_ACCUMULATE_FLOAT32, _FLOAT64) and for means. The first large call starts the
 * library's threads, which needs memory. With bounds = error, all indices are validated before the first byte is written.
 * So the output is unchanged on GTH_E_INDEX.
 *
 * GTH_E_CUDA means that a CUDA call failed, possibly after a part of the work had been enqueued. The output then may
 * contain some of the results.
 *
 * GTH_E_RACE means that another thread made an index invalid after its validation. Some rows have been written. Each
 * row of a gather's output is then unchanged, a row that an index selected, the fill value, or zero. Each element of a
 * scatter's target has been combined with all, some or none of its updates. The same holds for each element of a
 * gradient, which begins as zero. No byte outside the operand is written.
 *
 * @param op       GTH_OP_*
 * @param table    Borrowed. Written by scatters and gradients. A gradient overwrites all elements.
 * @param indices  Borrowed.
 * @param rows     Borrowed. Written by gathers.
 * @param options  Borrowed, or NULL.
 * @return NULL, HANDLE, VERSION, DTYPE, RANK, AXIS, BATCH, SHAPE, SIZE, STRIDE, DEVICE, READONLY, ALIAS, OFFSETS
 *         (gather_bags), INDEX, RACE, IO (tables in files), UNSUPPORTED (strings; on a device also packed params, and
 *         reductions of 2^31 slices of updates), NOMEM (float32 or float64 accumulation, mean, and on a device every
 *         scatter and bags with lengths), and on a device CUDA, FORK, CAPTURE.
 */
GTH_API int32_t gth_run(gth_context *context, int32_t op, const gth_tensor_desc *table, const gth_tensor_desc *indices,
                        const gth_tensor_desc *rows, const gth_options *options, gth_error *err);

/**
 * Runs a request, as gth_run.
 *
 * @param request  Borrowed, with all that it points to.
 */
GTH_API int32_t gth_run_request(gth_context *context, const gth_request *request, gth_error *err);

/**
 * Runs a request, as gth_run_request, on memory at other addresses.
 *
 * The field data of table, indices and rows is not read: the parameters have the addresses. This is for memory whose
 * address is known during a call only, such as an array of a garbage-collected heap. Other operands have the addresses of
 * their descriptions.
 *
 * @param request  Borrowed, with all that it points to.
 * @param table    Borrowed, the data of the table. It must be NULL if request->table names a tensor.
 * @param indices  Borrowed, as table.
 * @param rows     Borrowed, as table.
 * @return The statuses of gth_run. HANDLE also means that the address of an operand that names a tensor is not NULL.
 */
GTH_API int32_t gth_run_at(gth_context *context, const gth_request *request, const void *table, const void *indices,
                           const void *rows, gth_error *err);

/**
 * Runs several requests as one.
 *
 * All requests, including their indices, are validated before the first byte is written. err->item is the number of the
 * request that failed. Nothing has been written then, except in three cases. After GTH_E_RACE, and after GTH_E_NOMEM
 * because of accumulation or a mean, the requests before err->item are complete. After GTH_E_CUDA, outputs may contain
 * some of the results. The written operand of a request must not overlap any operand of another request (GTH_E_ALIAS,
 * value is the number of the other request). On a CUDA context, shapes are validated before the first request is
 * enqueued. Each request validates its own indices. The call allocates memory in proportion to count.
 *
 * @param count     The number of requests. 0 is valid.
 * @param requests  Borrowed, `count` pointers to requests.
 * @return The statuses of gth_run, SHAPE (count is negative), NOMEM.
 */
GTH_API int32_t gth_run_many(gth_context *context, int64_t count, const gth_request *const *requests, gth_error *err);

/**
 * Runs a request and creates its result: a new dense row-major tensor, in memory of the context's hooks if it has any.
 *
 * The result of a gather has the dtype and shape that gth_infer returns. request->rows must be NULL. The result of a
 * scatter is a copy of table with the updates applied. table is only read, and may have any strides. The result of a
 * gradient has the dtype and shape of table. Only dtype, ndim and shape of table are then read. So data may be NULL,
 * and the params tensor of the gather is a valid table. This is the only function that supports strings.
 *
 * @param request  Borrowed, with all that it points to.
 * @param out      Owned. Release it with gth_tensor_release.
 * @return The statuses of gth_run, NOMEM. CAPTURE on a context whose stream is being captured.
 */
GTH_API int32_t gth_make(gth_context *context, const gth_request *request, gth_tensor **out, gth_error *err);

/**
 * Infers dtype and shape of the rows of a request: the output of a gather, the updates of a scatter or a gradient.
 *
 * Only dtype, ndim, shape and codec of the operands are read. request->rows is ignored. A dtype of 0 skips the checks of
 * dtypes. An extent of GTH_OPEN stays open in the result.
 *
 * @param request   Borrowed, with all that it points to.
 * @param rows      Borrowed, written. rows->size must be set. It becomes a dense description with data NULL, whose
 *                  shape is `shape`.
 * @param capacity  The number of extents that fit into shape. If it is below the rank, the call returns GTH_E_SIZE, and
 *                  rows->ndim is the rank.
 * @param shape     Borrowed, written. May be NULL if capacity is 0.
 * @return NULL, HANDLE, VERSION, DTYPE, RANK, AXIS, BATCH, SHAPE, SIZE.
 */
GTH_API int32_t gth_infer(const gth_request *request, gth_tensor_desc *rows, int32_t capacity, int64_t *shape,
                          gth_error *err);

/* Each operation by name: gth_run or gth_run_request with its number. */

/** gth_run with GTH_OP_GATHER. */
GTH_API int32_t gth_gather(gth_context *context, const gth_tensor_desc *params, const gth_tensor_desc *indices,
                           const gth_tensor_desc *out, const gth_options *options, gth_error *err);
/** gth_run with GTH_OP_GATHER_ND. */
GTH_API int32_t gth_gather_nd(gth_context *context, const gth_tensor_desc *params, const gth_tensor_desc *indices,
                              const gth_tensor_desc *out, const gth_options *options, gth_error *err);
/** gth_run with GTH_OP_GATHER_ELEMENTS. */
GTH_API int32_t gth_gather_elements(gth_context *context, const gth_tensor_desc *params, const gth_tensor_desc *indices,
                                    const gth_tensor_desc *out, const gth_options *options, gth_error *err);
/** gth_run with GTH_OP_SCATTER. */
GTH_API int32_t gth_scatter(gth_context *context, const gth_tensor_desc *target, const gth_tensor_desc *indices,
                            const gth_tensor_desc *updates, const gth_options *options, gth_error *err);
/** gth_run with GTH_OP_SCATTER_ND. */
GTH_API int32_t gth_scatter_nd(gth_context *context, const gth_tensor_desc *target, const gth_tensor_desc *indices,
                               const gth_tensor_desc *updates, const gth_options *options, gth_error *err);
/** gth_run with GTH_OP_SCATTER_ELEMENTS. */
GTH_API int32_t gth_scatter_elements(gth_context *context, const gth_tensor_desc *target,
                                     const gth_tensor_desc *indices, const gth_tensor_desc *updates,
                                     const gth_options *options, gth_error *err);
/** gth_run with GTH_OP_GATHER_GRADIENT. gradient is the gradient of the output: the operand UPDATES in errors. */
GTH_API int32_t gth_gather_gradient(gth_context *context, const gth_tensor_desc *target, const gth_tensor_desc *indices,
                                    const gth_tensor_desc *gradient, const gth_options *options, gth_error *err);
/** gth_run with GTH_OP_GATHER_ND_GRADIENT. */
GTH_API int32_t gth_gather_nd_gradient(gth_context *context, const gth_tensor_desc *target,
                                       const gth_tensor_desc *indices, const gth_tensor_desc *gradient,
                                       const gth_options *options, gth_error *err);
/** gth_run with GTH_OP_GATHER_ELEMENTS_GRADIENT. */
GTH_API int32_t gth_gather_elements_gradient(gth_context *context, const gth_tensor_desc *target,
                                             const gth_tensor_desc *indices, const gth_tensor_desc *gradient,
                                             const gth_options *options, gth_error *err);
/** gth_run_request with GTH_OP_GATHER_BAGS. bags is NULL with GTH_BAGS_DENSE. weights may be NULL. */
GTH_API int32_t gth_gather_bags(gth_context *context, const gth_tensor_desc *params, const gth_tensor_desc *indices,
                                const gth_tensor_desc *bags, const gth_tensor_desc *weights, const gth_tensor_desc *out,
                                const gth_options *options, gth_error *err);

/**
 * Computes the gradient of gather_bags with respect to params, from the gradient of its output.
 *
 * Like other gradients, it begins as zeros. Each slice of params receives the sum of the gradients of the bags that have
 * read it, in the order of the ids, times the factor of the id: weight / divisor. With max and min, each element of a
 * bag has one id that receives its gradient: of equal elements the first id, and the first NaN if there is one (as
 * torch, while JAX and TensorFlow divide it between equal elements). Ids that the bag has not read receive nothing, and
 * neither do rows of the fill value. float16 and bfloat16 are added in float32 and rounded once, except with
 * GTH_ACCUMULATE_DTYPE. Integers wrap around. The result does not depend on the number of threads.
 *
 * The gradients of gather_bags are functions and no operations: gth_run, gth_run_many, gth_make, gth_infer and plans do
 * not have them. They allocate about 80 bytes for each id and 8 for each bag, and memory in proportion to the gradient of
 * the output with max and min. Everything is validated as in gather_bags, before the first byte is written. On the CPU,
 * indices, bags and weights are read once, so they never cause GTH_E_RACE. The ids of a bag whose divisor is 0 receive
 * nothing.
 *
 * On a CUDA device the call runs in stream order and can be captured. Its result has the bytes of the CPU except those of
 * NaN. Errors of indices and bags are in the record of the context. There are less than 2^32 - 1 rows of params and
 * bags, and less than 2^31 - 16 ids (UNSUPPORTED).
 *
 * @param request  Borrowed. The request of the forward call, with GTH_OP_GATHER_BAGS. Its rows are the gradient of the
 *                 output (operand UPDATES in errors), which may have any strides. Of params only dtype and shape are
 *                 read, unless the pool is max or min. options->out_dtype must be 0 or the dtype of params
 *                 (GTH_E_VERSION).
 * @param target   Borrowed, written. It has dtype and shape of params, and must not overlap other operands.
 * @return The statuses of gth_run with GTH_OP_GATHER_BAGS, and NOMEM.
 */
GTH_API int32_t gth_gather_bags_gradient(gth_context *context, const gth_request *request,
                                         const gth_tensor_desc *target, gth_error *err);
/**
 * Computes the same gradient in sparse form: the different rows of params that the bags have read, in ascending order,
 * and the gradient of each of them. The other rows of the gradient are zero. No memory and no step depends on the number
 * of rows of params.
 *
 * @param request  As in gth_gather_bags_gradient.
 * @param unique   Borrowed, written. Numbers of rows: int64, of rank 1 (operand OUT in errors). If its extent is smaller
 *                 than the number of different rows, the call returns GTH_E_SIZE with this number in limit.
 * @param target   Borrowed, written. The gradients, of shape [the extent of unique] + params.shape[1:].
 * @param count    Written on GTH_OK. The number of different rows. Other elements of unique and target are unchanged.
 *                 On a CUDA device it is in memory that the device can access, and is written in stream order. GTH_E_SIZE
 *                 is then in the record of the context.
 * @return The statuses of gth_gather_bags_gradient.
 */
GTH_API int32_t gth_gather_bags_sparse_gradient(gth_context *context, const gth_request *request,
                                                const gth_tensor_desc *unique, const gth_tensor_desc *target,
                                                int64_t *count, gth_error *err);
/**
 * Computes the gradient of gather_bags with respect to weights. It is zero for an id that the bag has not read, and if
 * the divisor of the bag is 0. Without weights in the request, each weight is 1.
 *
 * @param request  As in gth_gather_bags_gradient. The rows of params are read.
 * @param target   Borrowed, written. It has the shape of indices, and the dtype of weights, or else of params.
 * @return The statuses of gth_gather_bags_gradient. UNSUPPORTED with operand WEIGHTS for max, min and complex numbers.
 */
GTH_API int32_t gth_gather_bags_weight_gradient(gth_context *context, const gth_request *request,
                                                const gth_tensor_desc *target, gth_error *err);

/**
 * Finds the positions of the maxima or minima of gather_bags: for each element of its output, the position in indices of
 * the id whose row has this element. positions has the shape of the output.
 *
 * If elements are equal, as -0 and 0 are, it is the first of their ids. A NaN precedes all numbers. torch_scatter has
 * the same rule for numbers. The element is -1 if the bag has read no id, whatever the option `empty` selects. An id
 * that counts as a row of the fill value (bounds = fill) has a position. If indices have several dims, positions are
 * row-major numbers. The row number that max_indices of torch has is the index at this position.
 *
 * The call does not pool, and its rules are those of the gradients of gather_bags. It allocates about 16 bytes for each
 * id, and 8 for each bag and each element of positions.
 *
 * @param request    Borrowed. The request of the gather_bags. Its pool is max or min (GTH_E_VERSION), and its rows are
 *                   ignored.
 * @param positions  Borrowed, written. int64, with any strides, and no overlap with operands of the request. Operand OUT
 *                   in errors.
 * @return The statuses of gth_gather_bags_gradient.
 */
GTH_API int32_t gth_gather_bags_positions(gth_context *context, const gth_request *request,
                                          const gth_tensor_desc *positions, gth_error *err);

/**
 * Finds the positions of the maxima or minima of a scatter: for each element of its result, the row-major number in
 * updates of the element that it has received. positions has the shape of target.
 *
 * Of equal elements, which -0 and 0 are, it is the first one, and the first NaN if there is one. It is -1 if the element
 * keeps the value of target, which it does if no update is larger (or smaller), and if it has no update. With
 * GTH_INITIAL_UPDATE, target is not read, and only elements without updates have -1. If each tuple writes the same row
 * or number, its elements have numbers.
 *
 * Other names are argmax of torch_scatter's scatter_max and segment_max_coo. It is the coordinate of the position in the
 * axis: (position / I) % N, where N is the extent of the axis of updates, and I the product of the extents after it.
 *
 * The call does not write target. It allocates 8 bytes for each element of positions, and copies target and updates that
 * are not dense. All indices are validated before the first byte is written. The result does not depend on the number of
 * threads. On a CUDA device the call runs in stream order and can be captured.
 *
 * @param request    Borrowed. The request of a scatter, scatter_nd or scatter_elements (GTH_E_VERSION). Its reduction is
 *                   max or min (GTH_E_VERSION). target may be read-only, and elements of it may overlap.
 * @param positions  Borrowed, written. int64, with any strides, and no overlap with operands of the request. Operand OUT
 *                   in errors.
 * @return The statuses of gth_run, and NOMEM.
 */
GTH_API int32_t gth_scatter_positions(gth_context *context, const gth_request *request,
                                      const gth_tensor_desc *positions, gth_error *err);

/* ------------------------------------------------------------------------------------------------------------ Plans */

/**
 * Validates a request once, for many runs.
 *
 * Operands describe the memory of the runs. Their data is not read. rows may be NULL if it is dense row-major. The plan
 * of a scatter writes its target in place. Gradients have no plan (GTH_E_UNSUPPORTED).
 *
 * One extent may be GTH_OPEN. Each run then gives its value. The open extent is that of a tuple dim (the axis for
 * gather_elements and scatter_elements), or of the outermost dim that table and indices share. A shared dim is open in
 * both. The same extent of rows is open. Any other open extent causes GTH_E_SHAPE with its operand and dim. If strides
 * are NULL, each run computes dense strides around the open extent. A memory extent that is not 0 limits n: n = 1 must
 * fit (GTH_E_STRIDE), and a run whose n does not fit returns GTH_E_SIZE.
 *
 * An operand that is a tensor handle is bound: runs use that tensor, and their pointer for this operand must be NULL.
 * If the tensor has been released, a run returns GTH_E_HANDLE.
 *
 * A plan takes less than 9 KiB of memory.
 *
 * @param request  Borrowed, with all that it points to.
 * @param out      Owned. Release it with gth_plan_release. It is immutable, and any number of threads may use it.
 * @return The statuses of gth_run up to READONLY, NOMEM, UNSUPPORTED (strings, gradients).
 */
GTH_API int32_t gth_plan_create(const gth_request *request, gth_plan **out, gth_error *err);

/**
 * Runs a plan. A plan with the operand bags or weights, or with an open number of ids, needs gth_plan_run_args.
 *
 * @param n        The open extent, or GTH_OPEN if the plan has none. Any other value causes GTH_E_SHAPE with operand
 *                 PLAN.
 * @param table    Borrowed. The data pointer of memory of at least the planned size. Element 0 lies at the planned
 *                 offset. NULL if nothing is read or written, or if the operand is bound. Written by scatters.
 * @param indices  Borrowed. Like table.
 * @param rows     Borrowed. Like table. Written by gathers.
 * @return HANDLE, NULL, SHAPE (n), SIZE, DEVICE, ALIAS, OFFSETS, INDEX, RACE, IO, NOMEM (accumulation, mean), and on a
 *         device CUDA, FORK.
 */
GTH_API int32_t gth_plan_run(gth_context *context, const gth_plan *plan, int64_t n, const void *table,
                             const void *indices, const void *rows, gth_error *err);

/** The *_extent fields are set. A run that needs more memory returns GTH_E_SIZE. Those of bound operands are ignored. */
#define GTH_ARGS_EXTENTS 1

/** The arguments of a plan run. */
typedef struct gth_plan_args {
  uint32_t size;          /**< Set by the caller to sizeof(gth_plan_args). */
  uint32_t flags;         /**< GTH_ARGS_* */
  int64_t n;              /**< The open extent, or GTH_OPEN if the plan has none. It has no default: 0 is an extent. */
  const void *table;      /**< As in gth_plan_run. */
  const void *indices;    /**< As in gth_plan_run. */
  const void *rows;       /**< As in gth_plan_run. */
  int64_t table_extent;   /**< Bytes of memory from table. */
  int64_t indices_extent; /**< Bytes of memory from indices. */
  int64_t rows_extent;    /**< Bytes of memory from rows. */
  const void *bags;       /**< NULL, unless the operation has bags. Like table */
  const void *weights;    /**< NULL, unless the operation has weights. Like table */
  int64_t bags_extent;    /**< Bytes of memory from bags. */
  int64_t weights_extent; /**< Bytes of memory from weights. */
  int64_t ids;            /**< The open number of ids of gather_bags. If the plan has none: GTH_OPEN or 0 */
  const void *scales;     /**< Of the codec. NULL: the address in the description, which the plan keeps. */
  const void *zeros;      /**< Of the codec. NULL: the address in the description, which the plan keeps. */
  int64_t scales_extent;  /**< Bytes of memory from scales. */
  int64_t zeros_extent;   /**< Bytes of memory from zeros. */
} gth_plan_args;

#define GTH_PLAN_ARGS_FIRST 136
#define GTH_PLAN_ARGS_INIT \
  {sizeof(gth_plan_args), 0, GTH_OPEN, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, 0, 0, GTH_OPEN, NULL, NULL, 0, 0}

/**
 * Runs a plan, as gth_plan_run. With GTH_ARGS_EXTENTS, the size of the memory is checked. If it is smaller than the run
 * needs, the status is GTH_E_SIZE. The error then has the operand, the given bytes in value and the required bytes in
 * limit.
 *
 * @param args  Borrowed.
 * @return The statuses of gth_plan_run, VERSION.
 */
GTH_API int32_t gth_plan_run_args(gth_context *context, const gth_plan *plan, const gth_plan_args *args,
                                  gth_error *err);

/**
 * Runs several plans as one, with the rules of gth_run_many.
 *
 * @param count  The number of plans. 0 is valid.
 * @param plans  Borrowed, `count` plans.
 * @param args   Borrowed, `count` pointers to arguments.
 */
GTH_API int32_t gth_plan_run_many(gth_context *context, int64_t count, const gth_plan *const *plans,
                                  const gth_plan_args *const *args, gth_error *err);

/**
 * Returns the number of parts into which a run can be divided. It is 1 if the run has only one: a scatter, bags, a run
 * on a device, and a run that writes nothing.
 *
 * @param n      The open extent, or GTH_OPEN if the plan has none.
 * @param parts  Written on GTH_OK. At least 1. The parts of a run write about the same number of bytes.
 * @return NULL, HANDLE, SHAPE (n), SIZE.
 */
GTH_API int32_t gth_plan_parts(const gth_plan *plan, int64_t n, int64_t *parts, gth_error *err);

/**
 * Runs the parts [first, last) of a run. The pointers are those of the whole run. After all parts have been run, in any
 * order, the output is that of the whole run. A garbage collector that waits for a call then waits for a part.
 *
 * If first equals last, the call validates the arguments and the memory, and does nothing else. Otherwise it reads the
 * indices of these parts only. If one of them is out of bounds, the error is that of the whole run, and the output may
 * contain some of the results. gth_plan_check validates all indices before the first part.
 *
 * @param first  The first part.
 * @param last   The part after the last one, at most the number that gth_plan_parts returns. first and last outside
 *               0 <= first <= last <= parts cause GTH_E_SIZE with operand PLAN.
 * @return The statuses of gth_plan_run.
 */
GTH_API int32_t gth_plan_run_parts(gth_context *context, const gth_plan *plan, int64_t n, int64_t first, int64_t last,
                                   const void *table, const void *indices, const void *rows, gth_error *err);

/**
 * Validates the indices of a run and does nothing else. So a caller that gathers in parts can keep the output unchanged
 * on error. If bounds is not error, an index out of bounds is no error here. Races are not detected. On a device,
 * gth_context_take_error reports the error, like that of a run.
 *
 * @param args  Borrowed. n, ids, indices, bags and their extents are read. Other operands are ignored.
 * @return HANDLE, NULL, VERSION, SHAPE (n, ids), SIZE, DEVICE, OFFSETS, INDEX, and on a device CUDA, FORK.
 */
GTH_API int32_t gth_plan_check(gth_context *context, const gth_plan *plan, const gth_plan_args *args, gth_error *err);

/**
 * Computes the highest number of bytes that a run uses from each data pointer on. It is 0 for a pointer that is not
 * used, and for that of a bound operand.
 *
 * @param args  Borrowed. n and ids are read. The *_extent fields are written on GTH_OK, and flags becomes
 *              GTH_ARGS_EXTENTS.
 * @return NULL, HANDLE, VERSION, SHAPE (n), SIZE.
 */
GTH_API int32_t gth_plan_extents(const gth_plan *plan, gth_plan_args *args, gth_error *err);

/**
 * Infers dtype and shape of the rows of a run, like gth_infer.
 *
 * @param n  The open extent. GTH_OPEN stays open in the result.
 * @return NULL, HANDLE, VERSION, SHAPE (n), SIZE.
 */
GTH_API int32_t gth_plan_infer(const gth_plan *plan, int64_t n, gth_tensor_desc *rows, int32_t capacity, int64_t *shape,
                               gth_error *err);

/** Releases a plan. NULL does nothing. @return HANDLE. */
GTH_EXPORT int32_t gth_plan_release(gth_plan *plan);

/* ----------------------------------------------------------------------------------------------------------- Shards
 *
 * Partitioning of ids supports a table that is split over several processes or machines. Each id is assigned to the
 * shard that stores its row. A scatter along `order`, or a gather along `place`, moves the rows back to their places.
 * An error of a shard at its k-th row belongs to position order[k] of the caller, where k counts from the shard's first
 * row in `order`. */

/* The distribution of the rows of a table over shards. */
#define GTH_SHARDS_BLOCKS \
  1 /**< Each shard has ceil(rows / count) consecutive rows. The last shards have fewer or none. */
#define GTH_SHARDS_MODULO 2  /**< Row r is row r / count of shard r % count. */
#define GTH_SHARDS_BORDERS 3 /**< Shard s has the rows from borders[s] up to borders[s + 1]. */

typedef struct gth_shards {
  uint32_t size;          /**< Set by the caller to sizeof(gth_shards). */
  int32_t kind;           /**< GTH_SHARDS_*. 0: blocks */
  int64_t rows;           /**< The number of rows of the whole table. Ids are validated against it. */
  int64_t count;          /**< The number of shards, at least 1. */
  const int64_t *borders; /**< GTH_SHARDS_BORDERS: count + 1 non-decreasing numbers, from 0 to rows. Borrowed */
} gth_shards;

#define GTH_SHARDS_FIRST 32
#define GTH_SHARDS_INIT {sizeof(gth_shards), GTH_SHARDS_BLOCKS, 0, 1, NULL}

/* Flags of gth_parts. */
#define GTH_PARTS_ONCE 1 /**< Duplicate ids request a row once. `place` is required, and `order` must be NULL. */

/** The output buffers of gth_partition. They must be aligned to 8 bytes. They must not overlap each other, ids or borders
 * (GTH_E_ALIAS). */
typedef struct gth_parts {
  uint32_t size;    /**< Set by the caller to sizeof(gth_parts). */
  uint32_t flags;   /**< GTH_PARTS_* */
  int64_t capacity; /**< The number of elements of local, order and place: at least the number of ids. */
  int64_t *counts;  /**< For each shard, the number of rows that are requested from it. */
  int64_t *local;   /**< The row numbers within their shards: those of shard 0 first, in the order of the ids. */
  int64_t *order;   /**< For each element of local, the position of its id. NULL: not written */
  int64_t *place;   /**< For each id, the position of its row in local, or -1 if it is skipped. NULL: not written */
  void *scratch;    /**< Working memory on the CPU. */
  int64_t scratch_bytes; /**< The size of scratch: at least the result of gth_partition_scratch. */
} gth_parts;

#define GTH_PARTS_FIRST 64
#define GTH_PARTS_INIT {sizeof(gth_parts), 0, 0, NULL, NULL, NULL, NULL, NULL, 0}

/**
 * Partitions ids by shard. On the CPU it allocates nothing. On a CUDA device the call runs in stream order and can be
 * captured. The arrays of parts are then in memory that the device can access, scratch is not used and may be NULL, and
 * there are less than 2^32 - 1 ids and shards, and with GTH_PARTS_ONCE rows (UNSUPPORTED). Borders are read during the
 * call.
 *
 * The ids of a shard stay in their order. The result does not depend on the number of threads. On an error other than
 * RACE, nothing is written. The time is linear in the number of ids. After the handles, the numbers of shards are
 * checked, then ids, then the numbers and arrays of parts, then the index values.
 *
 * @param ids      Borrowed. Integers of any shape. They are validated like the indices of a gather along a dim of
 *                 shards->rows rows, with the options negative and bounds. Operand INDICES in errors.
 * @param shards   Borrowed.
 * @param options  Borrowed, or NULL.
 * @param parts    Borrowed, written.
 * @return NULL, HANDLE, VERSION, DTYPE, RANK, AXIS, BATCH, SHAPE (extents, rows, shards, borders), SIZE (capacity,
 *         scratch), STRIDE, DEVICE, ALIAS, INDEX, RACE, UNSUPPORTED, and on a device NOMEM, CUDA, FORK, CAPTURE.
 */
GTH_API int32_t gth_partition(gth_context *context, const gth_tensor_desc *ids, const gth_shards *shards,
                              const gth_options *options, const gth_parts *parts, gth_error *err);

/**
 * Computes the number of bytes of scratch memory that gth_partition needs.
 *
 * @param ids    Borrowed. Its data may be NULL.
 * @param flags  GTH_PARTS_*
 * @param bytes  Borrowed, written on GTH_OK only.
 * @return The statuses of gth_partition except ALIAS, INDEX and RACE.
 */
GTH_API int32_t gth_partition_scratch(const gth_tensor_desc *ids, const gth_shards *shards, uint32_t flags,
                                      int64_t *bytes, gth_error *err);

/* ---------------------------------------------------------------------------------------------------------- Columns
 *
 * A column is a sequence of rows in the format of the Arrow C data interface: one array, or several arrays of the same
 * type, which are called chunks. Chunks are never joined. The following types are supported, at any depth up to 32:
 * null, booleans, integers, floats, decimals, dates, times, timestamps, durations, intervals, strings and binary (also
 * large ones and views), fixed-size binary, lists (also large ones, those of fixed size and views), maps, structs,
 * dictionaries, run-end encoded types, and extension types of these. Unions cause GTH_E_DTYPE.
 *
 * The lengths, offsets and pointers of all arrays are validated when a column is created. The content of a row is
 * validated only if the row is taken. So neither step depends on the length of the column. Arrow does not state the
 * size of the memory of strings. The last offset of an array is used as this size. A malformed array causes
 * GTH_E_ARROW with operand PARAMS.
 *
 * Arrays must not change while a column uses them. Their release functions may run on any thread. */

struct ArrowArrayStream;

/** A column. The handle is immutable, and any number of threads may take rows from it at the same time. */
typedef struct gth_column gth_column;

/* Flags of gth_take. */
#define GTH_TAKE_NULL 1 /**< An index out of bounds selects null. options->bounds must then be 0. */
/** The column is a table: its type is a struct, whose children are the columns of the table. A null index gives null in
 * each child, and the result itself has no nulls, as record batches require. */
#define GTH_TAKE_RECORD 2

/** The rows that a call takes. An index may be null, which selects null whatever its value is. */
typedef struct gth_take {
  uint32_t size;                  /**< Set by the caller to sizeof(gth_take). */
  uint32_t flags;                 /**< GTH_TAKE_* */
  const gth_tensor_desc *indices; /**< Integers of any shape, in row-major order. They are borrowed. */
  const void *validity;           /**< Bits in the order of Arrow, least significant first. An index whose bit is 0 is
                                       null. The bits have the order of the indices. NULL: no index is null. Borrowed */
  int64_t validity_offset;        /**< The number of the bit of the first index, at least 0. */
  const gth_options *options;     /**< Those of a gather along the only axis of a column. padding_index selects null.
                                       fill and extents have no effect. Borrowed, or NULL. */
} gth_take;

#define GTH_TAKE_FIRST 40
#define GTH_TAKE_INIT {sizeof(gth_take), 0, NULL, NULL, 0, NULL}

/**
 * Creates a column from arrays.
 *
 * @param schema  Borrowed. The type of all chunks.
 * @param count   The number of chunks. 0 is valid.
 * @param chunks  Borrowed, `count` pointers. The arrays are Consumed: the library moves each struct, and its release
 *                becomes NULL. They are released when the column and all results that share memory with it have been
 *                released.
 * @param out     Owned. Release it with gth_column_release.
 * @return NULL, HANDLE, DTYPE (an unsupported type), ARROW (a released or malformed struct), SHAPE (count is negative),
 *         SIZE, NOMEM.
 */
GTH_API int32_t gth_column_from_arrow(gth_context *context, const struct ArrowSchema *schema, int64_t count,
                                      struct ArrowArray *const *chunks, gth_column **out, gth_error *err);

/**
 * Creates a column from all arrays of a stream. A stream of record batches is a column of structs.
 *
 * @param stream  Consumed. On failure, arrays that have been read are lost, and the caller releases the stream.
 * @return The statuses of gth_column_from_arrow. ARROW with the error number of the stream in native.
 */
GTH_API int32_t gth_column_from_arrow_stream(gth_context *context, struct ArrowArrayStream *stream, gth_column **out,
                                             gth_error *err);

/** Releases a column. NULL does nothing. Results stay valid. @return HANDLE. */
GTH_EXPORT int32_t gth_column_release(gth_column *column);

/**
 * Takes rows of a column into a new array, which has offset 0. Nulls of the column and of the indices are null in the
 * result.
 *
 * The indices are validated before any row is read. The result has the type of the column, with one exception: if 32-bit
 * offsets cannot describe an array of strings, binary or lists, it becomes a large one. Ends of runs become int64 in the
 * same way. Dictionaries are shared with the column. If rows come from chunks with different dictionaries, the result has
 * a new one of the values of these rows. Strings of views are copied if the result has few of them, else shared.
 *
 * The library allocates the memory of the result, and ignores the hooks of the context. Columns are in CPU memory.
 *
 * @param take    Borrowed, with all that it points to.
 * @param schema  Borrowed, overwritten on GTH_OK. Its content is Owned: call its release. NULL: not wanted. The result
 *                then has the type of the column, and an array that must become a large one causes GTH_E_SIZE.
 * @param array   Borrowed, overwritten on GTH_OK. Its content is Owned: call its release.
 * @return NULL, HANDLE, VERSION, DTYPE, RANK, AXIS, BATCH, SHAPE, SIZE, STRIDE, DEVICE, INDEX, ARROW (a row is malformed,
 *         with the position of its index), RACE, NOMEM, UNSUPPORTED (bounds = fill or skip, or different dictionaries of
 *         nested types).
 */
GTH_API int32_t gth_column_take(gth_context *context, const gth_column *column, const gth_take *take,
                                struct ArrowSchema *schema, struct ArrowArray *array, gth_error *err);

/**
 * Takes rows of arrays: gth_column_from_arrow, gth_column_take and gth_column_release in one call.
 *
 * @param type    Borrowed. The type of all chunks.
 * @param count   The number of chunks.
 * @param chunks  Borrowed, `count` pointers. The arrays are Consumed.
 */
GTH_API int32_t gth_arrow_take(gth_context *context, const struct ArrowSchema *type, int64_t count,
                               struct ArrowArray *const *chunks, const gth_take *take, struct ArrowSchema *schema,
                               struct ArrowArray *array, gth_error *err);

/**
 * Resolves indices to row numbers, for a caller that moves the rows itself. It writes a number in [0, extent) for each
 * index, in row-major order. A null index and an index that selects no row (GTH_TAKE_NULL, bounds = fill or skip,
 * padding_index) give -1. GTH_TAKE_RECORD is not valid. CPU only. On an error other than RACE, nothing is written.
 *
 * @param extent    The number of rows, at most 2^60.
 * @param take      Borrowed, with all that it points to.
 * @param capacity  The number of elements of rows: at least the number of indices.
 * @param rows      Borrowed, written. It must be aligned to 8 bytes and must not overlap the indices.
 * @return NULL, HANDLE, VERSION, DTYPE, RANK, AXIS, BATCH, SHAPE (extent), SIZE (extent, capacity), STRIDE, DEVICE,
 *         ALIAS, INDEX, RACE, UNSUPPORTED (alignment).
 */
GTH_API int32_t gth_resolve(gth_context *context, int64_t extent, const gth_take *take, int64_t capacity, int64_t *rows,
                            gth_error *err);

#ifdef __cplusplus
}
#endif

#endif
