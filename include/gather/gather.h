/* libgather: rows, slices and elements of tensors by index, gathered and scattered.
 *
 * This header is the whole public ABI. It is C99 and C++17, includes only <stddef.h> and <stdint.h>, and compiles
 * everywhere; the library itself is 64-bit.
 *
 * Words. `params` is the source tensor (ONNX calls it data), `indices` the integer tensor that selects from it. A
 * *tuple* is one entry of indices: one index for gather, the K = indices.shape[-1] indices of the last axis for
 * gather_nd. A *row* is what one tuple selects. The *position* of a tuple is its linear number in the row-major order
 * of the tuples, batch dims included. Sizes, strides, offsets and extents count bytes unless they are called shape.
 * A scatter is a gather with its arrows reversed: `target` is the tensor that indices select in, and `updates` are the
 * rows that are written, or added, .. to the selected ones.
 *
 * Status. Every function that can fail returns a status: GTH_OK (0) or a negative GTH_E_* number. Numbers never change.
 * On any other status than GTH_OK no output memory has been written and `*out` has been set to NULL (if `out` itself is
 * not NULL); GTH_E_RACE is the one exception and says what was written. No function aborts, throws, prints, or reads or
 * writes outside the memory it was given, whatever the values of its arguments. What cannot be checked is the caller's
 * duty: that a pointer points to the memory described.
 *
 * Errors. The last parameter `err` is a caller-owned gth_error or NULL. There is no thread-local and no global error.
 *
 * Order of checks: required pointers, struct sizes and switches, handles, dtype, rank, attributes, shapes, sizes,
 * strides, devices, read-only and overlap (data that is NULL included), index values. The first check that fails is the
 * one reported. A required handle that is NULL is GTH_E_NULL.
 *
 * Threads. Handles are immutable after creation and may be used by any number of threads at once. A call does not pin
 * its handles: releasing one while another thread is inside a call with it is an error of the caller. Another thread
 * may write indices, and offsets of strings, during a call (GTH_E_RACE); descriptions and options, with the shapes and
 * strides that they point to, must not change until it returns. After GTH_E_RACE each row of a gather's output is as it
 * was, a row that an index selected, the fill, or zero; each element of a scatter's target has been combined with all,
 * some or none of its updates, and so has each element of a gradient, which begins as zero. Results and reported errors
 * do not depend on the number of threads. The library's own threads have the affinity and nice value of
 * the process's main thread, leave the calling thread its CPU, and have no real-time priority. Signals are the
 * program's, but for those that an instruction raises (SIGSEGV, SIGBUS, ..), which its handlers may serve on any
 * thread. A thread that is cancelled finishes its call on the CPU first. A child of fork may use the library, CUDA
 * aside; fork itself waits for nothing here.
 *
 * CUDA. The device half has not run on a GPU yet: what is said of it here holds on an imaginary one.
 *
 * Blocking. On the CPU a call returns when its work is done. On a CUDA context a call returns when its work has been
 * enqueued on the context's stream: shapes and descriptions are read before it returns, data when the stream gets
 * there.
 * What indices turn out to be is then told by gth_context_take_error: a call itself returns GTH_E_INDEX only where
 * shapes alone decide it, and never GTH_E_RACE. The calling thread's current device stays as it is.
 *
 * Stack. A call uses less than 64 KiB of the calling thread's stack, besides what hooks use.
 *
 * Alignment. Structs, and arrays of int64_t such as shapes and strides, lie at addresses that are aligned as C aligns
 * their types. Elements of tensors, indices included, may lie at any address.
 *
 * Structs begin with their size; every other field set to zero means the documented default. C callers start from the
 * _INIT macros. A size below the first version's, above 4096 or not a multiple of 4 is GTH_E_VERSION, and so are a
 * reserved field or a byte beyond the fields this library knows that is not zero, and an unknown switch, profile or
 * flag. An err whose size is not valid is GTH_E_VERSION before anything else, and is not written.
 *
 * Pointers are marked: Borrowed (read or written during the call only), Owned (yours to release), Kept (must stay valid
 * until the handle is released), Consumed (taken over if and only if the call returns GTH_OK). NULL is allowed for
 * context (the process's default CPU context), options, err, strides, and as the argument of a release. */
#ifndef GATHER_GATHER_H
#define GATHER_GATHER_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define GTH_API
#elif defined(__GNUC__)
#define GTH_API __attribute__((visibility("default")))
#else
#define GTH_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------- Version */

/* The ABI that this header describes. Within one ABI number, releases only add. */
#define GTH_ABI_VERSION 1
/* The release that this header belongs to: major * 1000000 + minor * 1000 + patch. */
#define GTH_VERSION 1000

/* The highest rank of a tensor. */
#define GTH_MAX_NDIM 64
/* Capacity of gth_error.message in bytes, the terminating zero included. */
#define GTH_MESSAGE_SIZE 256
/* The most devices that gth_capabilities lists. */
#define GTH_MAX_DEVICES 16
/* An extent that is left open when a plan is made, or handed on by a shape query. */
#define GTH_OPEN -1

/* ABI number of the loaded library. A binding compares it with GTH_ABI_VERSION before it calls anything else. */
GTH_API uint32_t gth_abi_version(void);

/* Release number of the loaded library, as GTH_VERSION. */
GTH_API uint32_t gth_version(void);

/* ----------------------------------------------------------------------------------------------------------- Status */

#define GTH_OK 0
#define GTH_E_NULL -1      /* a required pointer is NULL, or data where there is something to read or write */
#define GTH_E_HANDLE -2    /* not a live handle of the kind asked for: released, foreign, or garbage */
#define GTH_E_VERSION -3   /* a struct size, switch, profile, opset or flag this library does not know */
#define GTH_E_DTYPE -4     /* a dtype that is unknown, not allowed here, or differs from the one needed */
#define GTH_E_RANK -5      /* a rank that is negative, too small, too large, or differs from the one needed */
#define GTH_E_AXIS -6      /* axis outside [-rank, rank), below batch_dims, or not an attribute of the operation */
#define GTH_E_BATCH -7     /* batch_dims out of range, or batch extents of params and indices that do not agree */
#define GTH_E_SHAPE -8     /* an extent that is negative or differs from the one needed; a tuple that is too long */
#define GTH_E_SIZE -9      /* a product of extents beyond int64, or a capacity that is too small */
#define GTH_E_STRIDE -10   /* strides that leave the described memory, or an output that overlaps itself */
#define GTH_E_DEVICE -11   /* an unknown or absent device, tensors of different devices, or a build without CUDA */
#define GTH_E_DLPACK -12   /* a malformed DLPack struct */
#define GTH_E_ARROW -13    /* a malformed Arrow struct */
#define GTH_E_READONLY -14 /* an output, or a DLPack export without a flag for it, of read-only memory */
#define GTH_E_ALIAS -15    /* from its first byte to its last, what is written overlaps what is read */
#define GTH_E_INDEX -16    /* an index out of bounds under bounds = error, or a row asked from an empty dim */
#define GTH_E_RACE -17     /* another thread changed indices or offsets: "Threads" above says what was then written */
#define GTH_E_NOMEM -18    /* memory could not be had */
#define GTH_E_FORK -19     /* CUDA in a child process after fork */
#define GTH_E_CUDA -20     /* a CUDA call failed; gth_error.native has its number */
#define GTH_E_CAPTURE -21  /* the operation cannot be captured into a CUDA graph */
#define GTH_E_UNSUPPORTED -22 /* valid, but not offered for this kind of tensor */
#define GTH_E_INTERNAL -23    /* a defect of the library */

/* The name of a status, such as "GTH_E_INDEX"; a fixed text for unknown numbers. Never NULL. Static. */
GTH_API const char *gth_status_name(int32_t status);

/* What an error is about (gth_error.operand). */
#define GTH_OPERAND_NONE 0
#define GTH_OPERAND_PARAMS 1
#define GTH_OPERAND_INDICES 2
#define GTH_OPERAND_OUT 3
#define GTH_OPERAND_OPTIONS 4
#define GTH_OPERAND_CONTEXT 5
#define GTH_OPERAND_PLAN 6
#define GTH_OPERAND_TENSOR 7 /* the tensor, description or foreign struct of a call that has only one */
#define GTH_OPERAND_TARGET 8
#define GTH_OPERAND_UPDATES 9

/* gth_error.flags and gth_error_record.flags */
#define GTH_ERROR_UNSIGNED 1 /* value is the bit pattern of an unsigned 64-bit number */
#define GTH_ERROR_CUT 2      /* message did not fit and was cut */
#define GTH_ERROR_WRAP 4     /* negative indices count from the end: the valid range is [-limit, limit) */

/* What went wrong, in fields that programs can read; message says the same in English and may change.
 *
 *   INDEX             position and component (0 for gather) of the smallest bad tuple; value its index; limit the size
 *                     of the dim.
 *                     The valid range is [0, limit), or [-limit, limit) with GTH_ERROR_WRAP. Where params has no
 *                     element at all and the profile refuses that (TensorFlow's gather_nd): operand PARAMS,
 *                     component its first empty dim, position -1.
 *   RANK              value is what came, limit the rank or bound that it was held against.
 *   AXIS, BATCH       an attribute: operand OPTIONS, value what came, limit the bound. batch_dims also where axis was
 *                     left to it.
 *   SHAPE, BATCH      two extents that differ: operand and component (the first such dim), value, limit the extent
 *                     needed.
 *   DTYPE             value the dtype that came, limit the one needed (0: several would do).
 *   SIZE              limit the largest that would do, or the capacity needed.
 *   STRIDE            memory left: value the end reached above the extent, or the lowest byte where that is negative;
 *                     limit the extent. An output that overlaps itself: component the dim, value its stride, limit the
 *                     smallest that would do.
 *   DEVICE            value the device that came, limit the device needed (0: none would do).
 *   ALIAS             value the operand that the output overlaps. Judged from the lowest to the highest byte that each
 *                     touches: an output between the rows or the columns of params overlaps it.
 *   NOMEM             value the bytes asked for.
 *   ARROW             offsets of strings: position the string i, value offsets[i + 1], limit offsets[i] if it is below
 *                     that, else the size of the bytes.
 *   VERSION           value what came, limit the highest known (the lowest, for an opset, which is judged after
 *                     dtypes).
 *   operand OPTIONS   component is the byte offset of the field in gth_options or gth_context_options; of a struct
 *                     whose size is refused, 0.
 *
 * component and position are -1, and the other numbers 0, where they say nothing. On GTH_OK only status is written (and
 * sequence, by a call on a CUDA context). */
typedef struct gth_error {
  uint32_t size; /* set by the caller: sizeof(gth_error) */
  int32_t status;
  int32_t operand;
  int32_t component;
  int32_t native; /* CUDA's number where CUDA has failed or cannot be used, else 0 */
  uint32_t flags;
  int64_t position;
  int64_t value;
  int64_t limit;
  int64_t sequence; /* number of the device call in its context, from 1: of gathers, plan runs and strided copies */
  uint64_t count;   /* gth_context_take_error: failed device calls since the last take */
  char message[GTH_MESSAGE_SIZE];
} gth_error;

#define GTH_ERROR_INIT {sizeof(gth_error), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}}

/* ----------------------------------------------------------------------------------------------------------- Dtypes */

/* Numbers are DLPack's type code * 256 + bits. 0 is no dtype. Indices may be any of the eight integer types. Types of
 * less than 8 bits are GTH_E_DTYPE. Quantised types travel as their integers. */
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
/* Strings stand apart: elements of any length. CPU, dense, handles only, allocating form only. */
#define GTH_DTYPE_STRING 65536

/* Bytes of one element; 0 for strings and for numbers that are no dtype. */
GTH_API int64_t gth_dtype_size(int32_t dtype);

/* The name of a dtype, such as "float32"; a fixed text for numbers that are no dtype. Never NULL. Static. */
GTH_API const char *gth_dtype_name(int32_t dtype);

/* ---------------------------------------------------------------------------------------------------------- Devices */

/* DLPack's numbers; 0 is the CPU too. */
#define GTH_DEVICE_CPU 1
#define GTH_DEVICE_CUDA 2
#define GTH_DEVICE_CUDA_HOST 3     /* pinned host memory */
#define GTH_DEVICE_CUDA_MANAGED 13 /* managed memory */

/* A CUDA stream as CUDA declares it: NULL (legacy default), 0x1 (legacy), 0x2 (per thread), or a handle. */
struct CUstream_st;

/* Bits of gth_capability_info.cpu_tiers_*: the instruction sets that CPU kernels are written for. */
#define GTH_TIER_PORTABLE 1
#define GTH_TIER_AVX2 2
#define GTH_TIER_AVX512 4
#define GTH_TIER_NEON 8

typedef struct gth_capability_info {
  uint32_t size;                           /* set by the caller: sizeof(gth_capability_info) */
  uint32_t abi;                            /* gth_abi_version() */
  uint32_t version;                        /* gth_version() */
  int32_t cpu_threads;                     /* threads that threads = 0 uses: affinity and cgroup limits respected */
  uint32_t cpu_tiers_built;                /* GTH_TIER_* in this library */
  uint32_t cpu_tiers_usable;               /* of these, the ones this processor runs */
  uint32_t cpu_tier;                       /* the one in use */
  int32_t cuda_runtime;                    /* CUDA runtime inside, 1000 * major + 10 * minor; 0: built without CUDA */
  int32_t cuda_driver;                     /* newest CUDA of the driver, likewise; 0: no driver */
  int32_t device_count;                    /* usable CUDA devices */
  int32_t device_compute[GTH_MAX_DEVICES]; /* compute capability, 10 * major + minor, by device number */
  int64_t device_memory[GTH_MAX_DEVICES];  /* bytes of device memory, by device number */
} gth_capability_info;

#define GTH_CAPABILITY_INFO_INIT {sizeof(gth_capability_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}, {0}}

/* What this library can do on this machine.
 * info: Borrowed; info->size must be set. Statuses: NULL, VERSION. */
GTH_API int32_t gth_capabilities(gth_capability_info *info, gth_error *err);

/* --------------------------------------------------------------------------------------------------------- Contexts */

/* Opaque handles. The pointer value is a token, never an address: do not dereference it, do not compute with it. */
typedef struct gth_context gth_context;
typedef struct gth_tensor gth_tensor;
typedef struct gth_plan gth_plan;

/* The first bad index of the device calls since the last take, written by the device. 64 bytes for ever. count is
 * stored last: a host that polls the count of a mapped record, with an acquiring load, and finds it above 0 finds the
 * rest; it reads the rest before the next call that takes the record may run. Where calls that share a record fail at
 * the same time, one of them is described and count may be too small, never 0. A caller's record outlives the graphs
 * that calls were captured in. */
typedef struct gth_error_record {
  uint64_t count;   /* failed calls since the last take; 0: the rest says nothing */
  int64_t sequence; /* of the first failed call (a captured call keeps the number it had at capture) */
  int64_t position;
  int64_t value;
  int64_t limit;
  int32_t operand;
  int32_t component;
  int32_t status;
  uint32_t flags;
  uint64_t reserved; /* the device's */
} gth_error_record;

/* Hooks. They may be called from any thread, must not throw, and must not call this library. */

/* Returns `bytes` (> 0) bytes aligned to `align` (a power of two, at most 4096) on the device, or NULL. Serves the
 * outputs of allocating forms, gth_tensor_alloc and the copies that exports make; a tensor of strings asks twice. */
typedef void *(*gth_alloc_fn)(void *user, int64_t bytes, int64_t align, int32_t device, int32_t device_id,
                              struct CUstream_st *stream);
/* Takes back what gth_alloc_fn gave, called with the same arguments and the pointer. Device memory comes back in stream
 * order: what the stream was given before may still use it. */
typedef void (*gth_free_fn)(void *user, int64_t bytes, int64_t align, int32_t device, int32_t device_id,
                            struct CUstream_st *stream, void *ptr);
/* One piece of work. */
typedef void (*gth_task_fn)(void *arg, int64_t i);
/* Calls task(arg, i) exactly once for each 0 <= i < n, on any threads, and returns when all have returned. Used by
 * large calls; a small one runs on the calling thread. */
typedef void (*gth_parallel_for_fn)(void *user, int64_t n, gth_task_fn task, void *arg);
/* Ends the life of memory that was handed over. */
typedef void (*gth_deleter_fn)(void *user);

typedef struct gth_context_options {
  uint32_t size;                   /* set by the caller: sizeof(gth_context_options) */
  int32_t threads;                 /* work is cut for at most so many CPU threads; 0: all this process may use. The
                                      library has few more than there are CPUs, however many are asked for */
  int32_t device;                  /* GTH_DEVICE_CPU (or 0), or GTH_DEVICE_CUDA */
  int32_t device_id;               /* which CUDA device */
  uint32_t flags;                  /* none yet: 0 */
  uint32_t reserved;               /* 0 */
  struct CUstream_st *stream;      /* of a CUDA context. 0x2, the stream per thread: that of the thread that makes it */
  struct gth_error_record *record; /* the caller's, zeroed, in device or mapped pinned memory; NULL: its own */
  gth_alloc_fn alloc;              /* alloc and free, both or none (GTH_E_NULL): memory of outputs */
  gth_free_fn free;
  void *memory_user;
  gth_parallel_for_fn parallel_for; /* the caller's executor instead of the library's threads */
  void *parallel_user;
  void *reserved_pointer; /* NULL */
} gth_context_options;

#define GTH_CONTEXT_OPTIONS_INIT \
  {sizeof(gth_context_options), 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}

/* Makes a context: a device, a stream, and the hooks that calls with it use. Calls that are not captured run in the
 * order of its stream. Captured calls may be replayed on any stream, beside each other and beside other calls of the
 * context; one and the same captured call must not run twice at once, as two executables of one graph could: it may
 * then write or tell what is wrong, but no later call does. The stream is of the device's primary context, as those of
 * CUDA's runtime are (one of another CUDA context is GTH_E_CUDA at the first call), and outlives the gth_context.
 * cudaDeviceReset ends CUDA for the contexts of the device, for good.
 * options: Borrowed, NULL for defaults; hooks and their user pointers are Kept, and the memory hooks outlive every
 * tensor made with them. out: Owned, release with gth_context_release.
 * Statuses: NULL, VERSION, DEVICE (no such device; why CUDA cannot be used, with its number in native; a record that is
 * not device or pinned memory), CUDA, FORK, NOMEM. A CUDA context allocates its record and loads its kernels here, so
 * that even its first call can be captured. */
GTH_API int32_t gth_context_create(const gth_context_options *options, gth_context **out, gth_error *err);

/* Releases a context; NULL does nothing. Tensors made with it stay valid. A CUDA context waits for its stream, and for
 * nothing else; graphs keep what their calls need of it, but their errors go nowhere. If the stream is being captured
 * it is not waited for, and the deleters that waited for it never run. Statuses: HANDLE. */
GTH_API int32_t gth_context_release(gth_context *context);

/* Waits until the work enqueued on the context's stream is done and runs the deleters that waited for it. On a CPU
 * context does nothing. Statuses: HANDLE, CUDA, FORK, CAPTURE. Blocks. */
GTH_API int32_t gth_context_sync(gth_context *context, gth_error *err);

/* Makes the context's stream wait for what `stream` has been given so far, without blocking the host. A stream that
 * waits for one that is being captured becomes a part of the capture.
 * Statuses: HANDLE, DEVICE (CPU context), CUDA, FORK, CAPTURE (the stream that is to wait is being captured and the
 * other is not, or is in another capture, or it cannot be captured: every capture stays whole). */
GTH_API int32_t gth_context_wait(gth_context *context, struct CUstream_st *stream, gth_error *err);

/* Makes `stream` wait for what the context's stream has been given so far, without blocking the host.
 * Statuses: as gth_context_wait. */
GTH_API int32_t gth_context_signal(gth_context *context, struct CUstream_st *stream, gth_error *err);

/* Waits for the context's stream, hands out the error record and clears it. Returns GTH_OK (no call failed),
 * GTH_E_INDEX or GTH_E_RACE with the record in err (first failed call; count of them), or the failure of the take
 * itself with count 0. On a CPU context GTH_OK. Statuses besides: HANDLE, CUDA, FORK, CAPTURE. Blocks. */
GTH_API int32_t gth_context_take_error(gth_context *context, gth_error *err);

/* Enqueues: copy the record to `record`, then clear the context's. Legal under graph capture.
 * record: Kept until the stream has passed; device or pinned host memory. On a CPU context does nothing.
 * Statuses: NULL, HANDLE, DEVICE (a record that the device does not reach), CUDA, FORK. */
GTH_API int32_t gth_context_enqueue_take_error(gth_context *context, gth_error_record *record, gth_error *err);

/* Ends the library's threads, which the next large call starts again, and gives back what it keeps of CUDA devices that
 * no context or tensor of its own is on. For unloading the library, or before a fork that wants no other threads. Must
 * not run beside other calls. Statuses: none but GTH_OK. Blocks. */
GTH_API int32_t gth_shutdown(void);

/* ---------------------------------------------------------------------------------------------------------- Tensors */

#define GTH_TENSOR_READONLY 1 /* refuse it as an output */

/* A tensor in the caller's memory: element [i0, i1, ..] lies at data + offset + i0 * strides[0] + i1 * strides[1] + ..
 * The memory described is [data, data + extent). For inputs any strides inside it will do, zero and negative ones
 * included. An output must not overlap itself: with the dims of extent > 1 sorted by |stride|, each |stride| is at
 * least the extent of all smaller ones. No alignment is asked for. */
typedef struct gth_tensor_desc {
  uint32_t size;     /* set by the caller: sizeof(gth_tensor_desc) */
  int32_t dtype;     /* GTH_DTYPE_* */
  int32_t device;    /* GTH_DEVICE_*; 0: CPU */
  int32_t device_id; /* GTH_DEVICE_CUDA: which; -1 in a description that a tensor is made of: ask CUDA where data is */
  int32_t ndim;      /* 0 .. GTH_MAX_NDIM */
  uint32_t flags;    /* GTH_TENSOR_* */
  const void *data;  /* an output is written through it */
  const int64_t *shape;   /* ndim extents; may be NULL for rank 0 */
  const int64_t *strides; /* ndim strides in bytes, or NULL: dense row-major */
  const void *reserved;   /* NULL */
  int64_t offset;         /* of element 0 from data, in bytes */
  int64_t extent; /* bytes of memory from data; 0: up to the highest byte that shape and strides reach, so that memory
                     of no bytes at all is described by data NULL */
} gth_tensor_desc;

#define GTH_TENSOR_DESC_INIT {sizeof(gth_tensor_desc), 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0}
/* A dense row-major tensor on the CPU. */
#define GTH_TENSOR_DESC_DENSE(dtype, ndim, shape, data) \
  {sizeof(gth_tensor_desc), dtype, 0, 0, ndim, 0, data, shape, NULL, NULL, 0, 0}

/* A tensor over the caller's memory.
 * desc: Borrowed (shape and strides are copied); its data is Kept. out: Owned, release with gth_tensor_release.
 * Statuses: NULL, VERSION, DTYPE, RANK, SHAPE, SIZE, STRIDE, DEVICE, NOMEM. Strings: UNSUPPORTED, see
 * gth_tensor_from_strings. */
GTH_API int32_t gth_tensor_borrow(const gth_tensor_desc *desc, gth_tensor **out, gth_error *err);

/* A tensor that takes over memory: deleter(user) runs once, when the tensor and every export of it are gone, on the
 * thread that let go last. Memory that kernels reach (of a device, managed, pinned) waits for the stream of a CUDA
 * `context`: its deleter runs in a later call, sync or release of that context, never in a callback of CUDA's nor while
 * the stream is being captured. When the context is gone it waits for the streams of the contexts that live on the
 * device, and runs in a later call of one of them; work of other streams is the caller's to wait for.
 * desc: Borrowed; its data is Consumed. Statuses: as gth_tensor_borrow, and HANDLE, NULL (no deleter). */
GTH_API int32_t gth_tensor_adopt(gth_context *context, const gth_tensor_desc *desc, gth_deleter_fn deleter, void *user,
                                 gth_tensor **out, gth_error *err);

/* A dense row-major tensor of zeros in new memory on the context's device, from its hooks if it has any. Device memory
 * of the library's, outputs too, comes from a CUDA pool of its own for each device, which keeps up to a 32nd of the
 * device's memory for the next calls, reaches that device only, and has no handles for other processes: hooks serve who
 * needs them.
 * shape: Borrowed, ndim extents. out: Owned. Statuses: NULL, HANDLE, DTYPE, RANK, SHAPE, SIZE, NOMEM, CUDA, FORK,
 * CAPTURE. Strings: UNSUPPORTED. */
GTH_API int32_t gth_tensor_alloc(gth_context *context, int32_t dtype, int32_t ndim, const int64_t *shape,
                                 gth_tensor **out, gth_error *err);

/* Describes a tensor. desc->size must be set. desc->shape and desc->strides point into the library and are valid until
 * the tensor is released; strides, offset, extent and flags are always given. data may be written unless flags has
 * GTH_TENSOR_READONLY. For strings data and strides are NULL.
 * Statuses: NULL, VERSION, HANDLE. */
GTH_API int32_t gth_tensor_describe(const gth_tensor *tensor, gth_tensor_desc *desc, gth_error *err);

/* Copies every element of source to destination: same dtype and shape, any strides, any devices that the context
 * reaches. On a CUDA context in stream order; between device memory and pageable host memory of other strides it waits,
 * and allocates. Statuses: HANDLE, DTYPE, RANK, SHAPE, STRIDE, READONLY, DEVICE, ALIAS, CUDA, FORK, CAPTURE (pageable
 * memory), NOMEM, NULL. Strings: UNSUPPORTED. operand PARAMS is source, OUT is destination. */
GTH_API int32_t gth_tensor_copy(gth_context *context, const gth_tensor *source, gth_tensor *destination,
                                gth_error *err);

/* Releases a tensor; NULL does nothing. Memory it owns lives on while an export of it does. Statuses: HANDLE. */
GTH_API int32_t gth_tensor_release(gth_tensor *tensor);

/* ---------------------------------------------------------------------------------------------- Exchange of tensors */

struct DLManagedTensor;
struct DLManagedTensorVersioned;
struct ArrowSchema;
struct ArrowArray;

/* A tensor from DLPack, versioned (major version 1) or legacy, without a copy; byte offset and strides are honoured,
 * NULL strides mean dense. managed: Consumed: its deleter, which may be NULL, then runs once, when the tensor and every
 * export are gone.
 * Statuses: NULL, HANDLE, VERSION, DLPACK, DTYPE (lanes other than 1 included), RANK, SHAPE, SIZE, STRIDE, DEVICE,
 * NOMEM. */
GTH_API int32_t gth_tensor_from_dlpack(gth_context *context, struct DLManagedTensorVersioned *managed, gth_tensor **out,
                                       gth_error *err);
GTH_API int32_t gth_tensor_from_dlpack_legacy(gth_context *context, struct DLManagedTensor *managed, gth_tensor **out,
                                              gth_error *err);

/* Exports share memory that the library owns and copy memory that was only borrowed; with a flag: */
#define GTH_EXPORT_COPY 1    /* always copy */
#define GTH_EXPORT_NO_COPY 2 /* never copy: a borrowed tensor is GTH_E_UNSUPPORTED */

/* A DLPack struct for a tensor. out: Owned: call its deleter. Strides are always given. The versioned form carries
 * read-only and copied flags; the legacy form cannot, and refuses to share read-only memory. A copy is never read-only.
 * DLPack counts strides in elements: a tensor with a stride that is no multiple of its item is copied, or UNSUPPORTED.
 * Statuses: NULL, HANDLE, VERSION (flags), READONLY, UNSUPPORTED (strings; never copy), NOMEM, CUDA, FORK, CAPTURE. */
GTH_API int32_t gth_tensor_to_dlpack(gth_context *context, const gth_tensor *tensor, uint32_t flags,
                                     struct DLManagedTensorVersioned **out, gth_error *err);
GTH_API int32_t gth_tensor_to_dlpack_legacy(gth_context *context, const gth_tensor *tensor, uint32_t flags,
                                            struct DLManagedTensor **out, gth_error *err);

/* A string tensor from an Arrow array of format u, U, z or Z; the array's offset is honoured. ndim and shape say how
 * its length is cut into dims; ndim -1 means one dim of the array's length.
 * schema: Borrowed. array: Consumed (moved: its release becomes NULL). shape: Borrowed.
 * Statuses: NULL, HANDLE, DTYPE (another format, or a null), ARROW (a released or malformed struct, offsets that
 * decrease or leave the data), RANK, SHAPE (the shape has another count), SIZE, NOMEM. */
GTH_API int32_t gth_tensor_from_arrow(gth_context *context, const struct ArrowSchema *schema, struct ArrowArray *array,
                                      int32_t ndim, const int64_t *shape, gth_tensor **out, gth_error *err);

/* An Arrow array of a string tensor, flat in row-major order: U for text, Z for binary.
 * schema, array: Borrowed, overwritten; their content is Owned: call each release. On failure neither is written.
 * flags: GTH_EXPORT_*.
 * Statuses: NULL, HANDLE, VERSION (flags), UNSUPPORTED (not strings; never copy), RACE (borrowed offsets have changed),
 * NOMEM. */
GTH_API int32_t gth_tensor_to_arrow(gth_context *context, const gth_tensor *tensor, uint32_t flags,
                                    struct ArrowSchema *schema, struct ArrowArray *array, gth_error *err);

#define GTH_STRINGS_BINARY 1 /* the bytes are not text: exported as Arrow Z, not U */

/* A string tensor over plain buffers: string i is bytes[offsets[i] .. offsets[i + 1]), i in row-major order, so there
 * is one offset more than elements. extent is the size of bytes.
 * shape: Borrowed. offsets, bytes: Kept with deleter NULL, else Consumed. Offsets are checked here and again when they
 * are used. Statuses: NULL, HANDLE, VERSION (flags), RANK, SHAPE, SIZE, ARROW (offsets that decrease or leave the
 * bytes: position, value, limit), NOMEM. */
GTH_API int32_t gth_tensor_from_strings(gth_context *context, uint32_t flags, int32_t ndim, const int64_t *shape,
                                        const int64_t *offsets, const void *bytes, int64_t extent,
                                        gth_deleter_fn deleter, void *user, gth_tensor **out, gth_error *err);

/* The buffers of a string tensor, as in gth_tensor_from_strings, valid until it is released.
 * Statuses: NULL, HANDLE, DTYPE (not strings). */
GTH_API int32_t gth_tensor_strings(const gth_tensor *tensor, const int64_t **offsets, const void **bytes,
                                   gth_error *err);

/* ---------------------------------------------------------------------------------- Options of gathers and scatters */

/* Profiles: all switches at once, equal to the named system on every edge case but a written list of deliberate
 * differences (its crashes, foreign reads, garbage, and limits of its implementation). Error texts are ours. */
#define GTH_PROFILE_TENSORFLOW 1     /* CPU kernels: no negatives, error */
#define GTH_PROFILE_TENSORFLOW_GPU 2 /* GPU kernels: no negatives, zeros */
#define GTH_PROFILE_ONNX 3           /* the specification: negatives wrap, error, K = 0 refused, types by opset */
#define GTH_PROFILE_ORT 4            /* ONNX Runtime on the CPU */
#define GTH_PROFILE_NUMPY_RAISE 5    /* take(mode="raise"), x[i, j]: negatives wrap, error */
#define GTH_PROFILE_NUMPY_WRAP 6     /* take(mode="wrap"): modulo */
#define GTH_PROFILE_NUMPY_CLIP 7     /* take(mode="clip"): clamp, negatives go to 0 */
#define GTH_PROFILE_TORCH 8          /* index_select for gather: no negatives; x[i, j] for gather_nd: negatives wrap */
#define GTH_PROFILE_JAX_FILL 9       /* jnp.take(mode="fill"), x.at[].get(mode="fill") */
#define GTH_PROFILE_JAX_CLIP 10      /* jnp.take(mode="clip"), x.at[].get(mode="clip") */

/* What a negative index means. */
#define GTH_NEGATIVE_REJECT 1 /* it is out of bounds */
#define GTH_NEGATIVE_WRAP 2   /* it counts from the end, once: -1 is the last, -size the first, below is outside */

/* What an index out of bounds means. error, fill and skip judge a tuple as a whole; clamp and modulo act on each
 * component after wrap, and are GTH_E_INDEX on a dim of size 0. */
#define GTH_BOUNDS_ERROR 1  /* GTH_E_INDEX, and the output is unchanged */
#define GTH_BOUNDS_FILL 2   /* the row is filled: gth_options.fill; not of scatters (GTH_E_VERSION) */
#define GTH_BOUNDS_CLAMP 3  /* the nearest valid index */
#define GTH_BOUNDS_MODULO 4 /* the index modulo the size, in [0, size) */
#define GTH_BOUNDS_SKIP 5   /* the output's row is left as it is, zeros in a new output; an update is dropped */

/* What bounds = fill writes. */
#define GTH_FILL_ZERO 1     /* zero bytes; empty strings */
#define GTH_FILL_VALUE 2    /* gth_options.fill_value */
#define GTH_FILL_BY_DTYPE 3 /* NaN, smallest signed, largest unsigned, true; as JAX does */

/* gather_elements: how the extents of params and indices must agree in the dims that are not the axis. */
#define GTH_EXTENTS_EQUAL 1     /* they are the same */
#define GTH_EXTENTS_PREFIX 2    /* those of indices may be smaller: a prefix of params is gathered from (torch, ONNX) */
#define GTH_EXTENTS_BROADCAST 3 /* where one of them is 1, it is repeated (NumPy, JAX) */

/* What a scatter does with an update. The selected rows of target are visited in the order of positions, in which every
 * update is combined with what its row holds by then: of several updates of one row, none leaves the one of the highest
 * position. The result is the same for every number of threads.
 *
 *   dtype                        add, mul                         max, min
 *   int8 .. uint64               wrap around                      yes
 *   float16, bfloat16, 32, 64    each result rounded to nearest   NaN if either is NaN; of equal ones target's stays
 *   complex64, complex128        yes                              GTH_E_DTYPE
 *   bool                         or, and                          or, and
 *   float8, strings              GTH_E_DTYPE                      GTH_E_DTYPE */
#define GTH_REDUCTION_NONE 1 /* the row becomes the update; any dtype */
#define GTH_REDUCTION_ADD 2
#define GTH_REDUCTION_MUL 3
#define GTH_REDUCTION_MAX 4
#define GTH_REDUCTION_MIN 5

/* What a scatter adds and multiplies float16 and bfloat16 in. All other dtypes are their own. Accumulating in float32
 * allocates 24 bytes for each slice of updates; where they cannot be had (GTH_E_NOMEM) target is as it was. */
#define GTH_ACCUMULATE_DTYPE 1   /* the dtype: 4,096 ones added to a float16 are 2,048 */
#define GTH_ACCUMULATE_FLOAT32 2 /* float32, rounded once when all updates of an element are in: they are 4,096 */

/* Options of every gather, scatter, plan and shape query. NULL is the same as zeros: no profile, axis = batch_dims = 0,
 * negative indices rejected, GTH_E_INDEX out of bounds, all dtypes. A switch that is not 0 overrides the profile's. */
typedef struct gth_options {
  uint32_t size;      /* set by the caller: sizeof(gth_options) */
  int32_t has_axis;   /* 0 or 1. 0: axis = batch_dims as given, before either is normalised */
  int64_t axis;       /* [-rank(params), rank(params)), not below batch_dims; not of gather_nd. 0 without has_axis */
  int64_t batch_dims; /* leading dims that params and indices share. gather: negative counts from rank(indices) */
  int32_t profile;    /* GTH_PROFILE_*; 0: none */
  int32_t opset;      /* with GTH_PROFILE_ONNX and GTH_PROFILE_ORT: the newest definition not above it; 0: newest */
  int32_t negative;   /* GTH_NEGATIVE_*; 0: as the profile says, else reject */
  int32_t bounds;     /* GTH_BOUNDS_*; 0: as the profile says, else error */
  int32_t fill;       /* GTH_FILL_*; 0: as the profile says, else zero */
  int32_t threads;    /* at most so many CPU threads for this call; 0: the context's number */
  int32_t extents;    /* GTH_EXTENTS_*, of gather_elements and scatter_elements; 0: as the profile says, else equal */
  int32_t reduction;  /* GTH_REDUCTION_*, of scatters (GTH_E_VERSION elsewhere); 0: none */
  uint64_t fill_value[2]; /* with GTH_FILL_VALUE: the memory image of one element, from its first byte on */
  int32_t accumulate;     /* GTH_ACCUMULATE_*, of scatters and gradients (GTH_E_VERSION elsewhere); 0: as the profile
                             says, else dtype */
  int32_t reserved;       /* 0 */
} gth_options;

#define GTH_OPTIONS_INIT {sizeof(gth_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0, 0}, 0, 0}

/* ----------------------------------------------------------------------------------------------------------- gather */

/* gather takes slices along an axis; with a = axis, b = batch_dims, after both are normalised (b <= a):
 *
 *   out.shape = params.shape[:a] + indices.shape[b:] + params.shape[a+1:],  params.shape[:b] == indices.shape[:b]
 *   out[B, O, J, I] = params[B, O, indices[B, J], I]
 *
 * indices of rank 0 drop the axis. tf.gather, ONNX Gather, numpy.take, torch.index_select are this;
 * tf.batch_gather is this with batch_dims = rank(indices) - 1.
 *
 * The forms below are one operation. `_into` and `_desc` write a caller's output of exactly the output's shape and
 * params' dtype, and allocate nothing; but a large call that may use more of the library's threads than there have been
 * starts them. With bounds = error every index is checked before the first byte is written.
 *
 * Statuses of all forms: NULL, HANDLE, VERSION, DTYPE, RANK, AXIS, BATCH, SHAPE, SIZE, STRIDE, READONLY, DEVICE, ALIAS,
 * INDEX, RACE, and on a device CUDA, FORK, CAPTURE. */

/* The allocating form. params, indices: Borrowed. options: Borrowed or NULL. out: Owned, dense row-major, in memory
 * from the context's hooks if it has any. Statuses besides: NOMEM. The only form for strings. */
GTH_API int32_t gth_gather(gth_context *context, const gth_tensor *params, const gth_tensor *indices,
                           const gth_options *options, gth_tensor **out, gth_error *err);

/* Into an existing tensor. Statuses besides: UNSUPPORTED (strings). */
GTH_API int32_t gth_gather_into(gth_context *context, const gth_tensor *params, const gth_tensor *indices,
                                const gth_options *options, gth_tensor *out, gth_error *err);

/* From descriptions, without a handle: for one-shot calls. All pointers: Borrowed. Statuses besides: UNSUPPORTED
 * (strings). */
GTH_API int32_t gth_gather_desc(gth_context *context, const gth_tensor_desc *params, const gth_tensor_desc *indices,
                                const gth_options *options, const gth_tensor_desc *out, gth_error *err);

/* The output's shape. Only dtype (0 skips the dtype checks), ndim and shape of the descriptions are read; an extent of
 * GTH_OPEN is handed on. *ndim receives the rank, also when capacity is too small for it (GTH_E_SIZE, nothing else
 * written). shape: Borrowed, room for `capacity` extents; may be NULL with capacity 0. */
GTH_API int32_t gth_gather_shape(const gth_tensor_desc *params, const gth_tensor_desc *indices,
                                 const gth_options *options, int32_t capacity, int32_t *ndim, int64_t *shape,
                                 gth_error *err);

/* -------------------------------------------------------------------------------------------------------- gather_nd */

/* gather_nd takes slices by tuples; with b = batch_dims and K = indices.shape[-1]:
 *
 *   out.shape = indices.shape[:-1] + params.shape[b+K:],  params.shape[:b] == indices.shape[:b],  0 <= K <= rank - b
 *   out[B, J, :] = params[B, indices[B, J, 0], .., indices[B, J, K-1], :]
 *
 * tf.gather_nd, TensorFlow's raw GatherNd, ONNX GatherND, x[i, j, ..] are this. options->has_axis must be 0, batch_dims
 * must not be negative and must be below rank(params); under GTH_PROFILE_ORT it may be rank(params), where K is 0.
 * Forms, ownership and statuses are those of gather. */
GTH_API int32_t gth_gather_nd(gth_context *context, const gth_tensor *params, const gth_tensor *indices,
                              const gth_options *options, gth_tensor **out, gth_error *err);
GTH_API int32_t gth_gather_nd_into(gth_context *context, const gth_tensor *params, const gth_tensor *indices,
                                   const gth_options *options, gth_tensor *out, gth_error *err);
GTH_API int32_t gth_gather_nd_desc(gth_context *context, const gth_tensor_desc *params, const gth_tensor_desc *indices,
                                   const gth_options *options, const gth_tensor_desc *out, gth_error *err);
GTH_API int32_t gth_gather_nd_shape(const gth_tensor_desc *params, const gth_tensor_desc *indices,
                                    const gth_options *options, int32_t capacity, int32_t *ndim, int64_t *shape,
                                    gth_error *err);

/* -------------------------------------------------------------------------------------------------- gather_elements */

/* gather_elements takes single elements along an axis, each other dim being the same dim of all three; with a = axis:
 *
 *   out.shape = indices.shape,  rank(params) == rank(indices)
 *   out[i, .., j, .., k] = params[i, .., indices[i, .., j, .., k], .., k]      j and the index are dim a
 *
 * torch.gather, ONNX GatherElements, numpy.take_along_axis are this. How the extents of the other dims must agree is
 * options->extents; under GTH_EXTENTS_BROADCAST the output has the broadcast ones. options->batch_dims must be 0; axis is
 * 0 without has_axis. Position is the row-major number in indices. Forms, ownership and statuses are those of gather. */
GTH_API int32_t gth_gather_elements(gth_context *context, const gth_tensor *params, const gth_tensor *indices,
                                    const gth_options *options, gth_tensor **out, gth_error *err);
GTH_API int32_t gth_gather_elements_into(gth_context *context, const gth_tensor *params, const gth_tensor *indices,
                                         const gth_options *options, gth_tensor *out, gth_error *err);
GTH_API int32_t gth_gather_elements_desc(gth_context *context, const gth_tensor_desc *params,
                                         const gth_tensor_desc *indices, const gth_options *options,
                                         const gth_tensor_desc *out, gth_error *err);
GTH_API int32_t gth_gather_elements_shape(const gth_tensor_desc *params, const gth_tensor_desc *indices,
                                          const gth_options *options, int32_t capacity, int32_t *ndim, int64_t *shape,
                                          gth_error *err);

/* ---------------------------------------------------------------------------------------------------------- scatter */

/* scatter writes slices along an axis, what gather would read; with a = axis, b = batch_dims as there:
 *
 *   updates.shape = target.shape[:a] + indices.shape[b:] + target.shape[a+1:]
 *   target[B, O, indices[B, J], I] = reduction(the same, updates[B, O, J, I])   J in row-major order
 *
 * torch.index_copy_, torch.index_add_, x.at[:, i].set are this; target[order] = rows brings back what was gathered in
 * another order. Everything that holds of gather holds here with target for params and updates for out - attributes,
 * bounds, profiles, strides, dtypes of indices - but for what follows.
 *
 * target and updates have the same dtype; which ones a reduction takes stands at GTH_REDUCTION_*. updates may have any
 * strides (0 repeats an update); target must not overlap itself (GTH_E_STRIDE), nor indices or updates (GTH_E_ALIAS).
 * With bounds = error every index is judged before the first byte is written, also where rows have no elements (under a
 * profile: where its system does): on GTH_E_INDEX, and on every status but GTH_OK and GTH_E_RACE, target is as it was.
 * What no tuple selects stays as it is, byte for byte. In errors operand TARGET stands for PARAMS, and UPDATES for OUT.
 * Each element of target is written by one thread; every thread may read all indices of its batches.
 *
 * On a CUDA device: GTH_E_UNSUPPORTED, operand TARGET.
 *
 * Statuses of all forms: NULL, HANDLE, VERSION, DTYPE, RANK, AXIS, BATCH, SHAPE, SIZE, STRIDE, READONLY, DEVICE, ALIAS,
 * INDEX, RACE, UNSUPPORTED (devices), NOMEM (float32 accumulation). */

/* The functional form: a new tensor, target with the updates in it; target is only read, and may have any strides.
 * target, indices, updates: Borrowed. options: Borrowed or NULL. out: Owned, dense row-major, in memory from the
 * context's hooks if it has any. The only form for strings. */
GTH_API int32_t gth_scatter(gth_context *context, const gth_tensor *target, const gth_tensor *indices,
                            const gth_tensor *updates, const gth_options *options, gth_tensor **out, gth_error *err);

/* In place. target: Borrowed, written. Statuses besides: UNSUPPORTED (strings). */
GTH_API int32_t gth_scatter_into(gth_context *context, gth_tensor *target, const gth_tensor *indices,
                                 const gth_tensor *updates, const gth_options *options, gth_error *err);

/* In place, from descriptions. All pointers: Borrowed. Allocates nothing, but for float32 accumulation. Statuses
 * besides: UNSUPPORTED (strings). */
GTH_API int32_t gth_scatter_desc(gth_context *context, const gth_tensor_desc *target, const gth_tensor_desc *indices,
                                 const gth_tensor_desc *updates, const gth_options *options, gth_error *err);

/* The shape that updates must have. As gth_gather_shape. */
GTH_API int32_t gth_scatter_shape(const gth_tensor_desc *target, const gth_tensor_desc *indices,
                                  const gth_options *options, int32_t capacity, int32_t *ndim, int64_t *shape,
                                  gth_error *err);

/* ------------------------------------------------------------------------------------------------------- scatter_nd */

/* scatter_nd writes slices by tuples, what gather_nd would read; with b = batch_dims and K = indices.shape[-1]:
 *
 *   updates.shape = indices.shape[:-1] + target.shape[b+K:]
 *   target[B, indices[B, J, 0], .., indices[B, J, K-1], :] = reduction(the same, updates[B, J, :])   J in that order
 *
 * tf.tensor_scatter_nd_update, _add, _max, _min, ONNX ScatterND, x[i, j] = v, x.at[i, j].add(v), torch.index_put_ are
 * this; tf.scatter_nd is its add into zeros. Forms, ownership and statuses are those of scatter; attributes those of
 * gather_nd. */
GTH_API int32_t gth_scatter_nd(gth_context *context, const gth_tensor *target, const gth_tensor *indices,
                               const gth_tensor *updates, const gth_options *options, gth_tensor **out, gth_error *err);
GTH_API int32_t gth_scatter_nd_into(gth_context *context, gth_tensor *target, const gth_tensor *indices,
                                    const gth_tensor *updates, const gth_options *options, gth_error *err);
GTH_API int32_t gth_scatter_nd_desc(gth_context *context, const gth_tensor_desc *target, const gth_tensor_desc *indices,
                                    const gth_tensor_desc *updates, const gth_options *options, gth_error *err);
GTH_API int32_t gth_scatter_nd_shape(const gth_tensor_desc *target, const gth_tensor_desc *indices,
                                     const gth_options *options, int32_t capacity, int32_t *ndim, int64_t *shape,
                                     gth_error *err);

/* ------------------------------------------------------------------------------------------------- scatter_elements */

/* scatter_elements writes single elements along an axis, what gather_elements would read; with a = axis:
 *
 *   updates.shape = indices.shape,  rank(target) == rank(indices)
 *   target[i, .., indices[i, .., j, .., k], .., k] = reduction(the same, updates[i, .., j, .., k])   in row-major order
 *
 * torch.scatter_, scatter_add_, scatter_reduce_, ONNX ScatterElements, numpy.put_along_axis are this. Extents of the
 * other dims as in gather_elements, target for params; under GTH_EXTENTS_BROADCAST updates have the broadcast ones.
 * Forms, ownership and statuses are those of scatter; attributes those of gather_elements. */
GTH_API int32_t gth_scatter_elements(gth_context *context, const gth_tensor *target, const gth_tensor *indices,
                                     const gth_tensor *updates, const gth_options *options, gth_tensor **out,
                                     gth_error *err);
GTH_API int32_t gth_scatter_elements_into(gth_context *context, gth_tensor *target, const gth_tensor *indices,
                                          const gth_tensor *updates, const gth_options *options, gth_error *err);
GTH_API int32_t gth_scatter_elements_desc(gth_context *context, const gth_tensor_desc *target,
                                          const gth_tensor_desc *indices, const gth_tensor_desc *updates,
                                          const gth_options *options, gth_error *err);
GTH_API int32_t gth_scatter_elements_shape(const gth_tensor_desc *target, const gth_tensor_desc *indices,
                                           const gth_options *options, int32_t capacity, int32_t *ndim, int64_t *shape,
                                           gth_error *err);

/* -------------------------------------------------------------------------------------------- Gradients of gathers */

/* What a gather hands back to params: zeros of its shape, to which each slice of the gradient of the output is added
 * where the gather has read it. It is scatter with add into zeros, but for its options, which are those of the gather:
 * profiles say what indices mean there, and a row that bounds = fill or skip has not read gets nothing back. reduction
 * must be 0 (GTH_E_VERSION); accumulate is scatter's. Where tuples were dealt out to batches (ONNX Runtime's GatherND):
 * GTH_E_BATCH.
 *
 * gradient: Borrowed, of the shape that the gather's output has. In errors operand TARGET is what is written, UPDATES
 * is gradient. Statuses: those of scatter. The gradient is the same for every number of threads. */

/* Into a new tensor of ndim, shape and the dtype of gradient. gradient, indices, shape: Borrowed. options: Borrowed or
 * NULL. out: Owned, dense row-major, in memory from the context's hooks if it has any. Statuses besides: NOMEM. */
GTH_API int32_t gth_gather_gradient(gth_context *context, const gth_tensor *gradient, const gth_tensor *indices,
                                    int32_t ndim, const int64_t *shape, const gth_options *options, gth_tensor **out,
                                    gth_error *err);
GTH_API int32_t gth_gather_nd_gradient(gth_context *context, const gth_tensor *gradient, const gth_tensor *indices,
                                       int32_t ndim, const int64_t *shape, const gth_options *options, gth_tensor **out,
                                       gth_error *err);
GTH_API int32_t gth_gather_elements_gradient(gth_context *context, const gth_tensor *gradient,
                                             const gth_tensor *indices, int32_t ndim, const int64_t *shape,
                                             const gth_options *options, gth_tensor **out, gth_error *err);

/* From descriptions, over all elements of out, which has the shape of params. All pointers: Borrowed. */
GTH_API int32_t gth_gather_gradient_desc(gth_context *context, const gth_tensor_desc *gradient,
                                         const gth_tensor_desc *indices, const gth_options *options,
                                         const gth_tensor_desc *out, gth_error *err);
GTH_API int32_t gth_gather_nd_gradient_desc(gth_context *context, const gth_tensor_desc *gradient,
                                            const gth_tensor_desc *indices, const gth_options *options,
                                            const gth_tensor_desc *out, gth_error *err);
GTH_API int32_t gth_gather_elements_gradient_desc(gth_context *context, const gth_tensor_desc *gradient,
                                                  const gth_tensor_desc *indices, const gth_options *options,
                                                  const gth_tensor_desc *out, gth_error *err);

/* ------------------------------------------------------------------------------------------------------------ Plans */

/* A plan is a gather or a scatter whose shapes, strides and options have been checked once, for callers who repeat it.
 * One extent may be left open with GTH_OPEN and is given at each run: an extent of the tuples (of gather_elements and
 * scatter_elements, of the axis), or the outermost dim that params and indices share (then in both alike). Any other
 * GTH_OPEN, and a second one, is GTH_E_SHAPE with its operand and dim. With NULL strides the dense strides around the
 * open extent are computed at each run. An extent of the descriptions that is not 0 bounds the open one: n = 1 must fit
 * (GTH_E_STRIDE), and a run with more than fits is GTH_E_SIZE.
 *
 * params, indices: Borrowed; data is not looked at. options: Borrowed or NULL. output: Borrowed; the description of the
 * outputs to come, its shape with GTH_OPEN where that extent lands; NULL: dense row-major. out: Owned, release with
 * gth_plan_release. Statuses: those of gather up to DEVICE, NOMEM, UNSUPPORTED (strings). Immutable, any threads. */
GTH_API int32_t gth_gather_plan(const gth_tensor_desc *params, const gth_tensor_desc *indices,
                                const gth_options *options, const gth_tensor_desc *output, gth_plan **out,
                                gth_error *err);
GTH_API int32_t gth_gather_nd_plan(const gth_tensor_desc *params, const gth_tensor_desc *indices,
                                   const gth_options *options, const gth_tensor_desc *output, gth_plan **out,
                                   gth_error *err);
GTH_API int32_t gth_gather_elements_plan(const gth_tensor_desc *params, const gth_tensor_desc *indices,
                                         const gth_options *options, const gth_tensor_desc *output, gth_plan **out,
                                         gth_error *err);

/* A scatter in place. updates: Borrowed; the description of the updates to come, as `output` above; NULL: dense
 * row-major. In the functions below, what a run reads comes first and what it writes last: `params` is updates, `out`
 * is target, and the shape of a plan is that of updates. Statuses: those of scatter up to DEVICE, NOMEM, UNSUPPORTED. */
GTH_API int32_t gth_scatter_plan(const gth_tensor_desc *target, const gth_tensor_desc *indices,
                                 const gth_options *options, const gth_tensor_desc *updates, gth_plan **out,
                                 gth_error *err);
GTH_API int32_t gth_scatter_nd_plan(const gth_tensor_desc *target, const gth_tensor_desc *indices,
                                    const gth_options *options, const gth_tensor_desc *updates, gth_plan **out,
                                    gth_error *err);
GTH_API int32_t gth_scatter_elements_plan(const gth_tensor_desc *target, const gth_tensor_desc *indices,
                                          const gth_options *options, const gth_tensor_desc *updates, gth_plan **out,
                                          gth_error *err);

/* Runs a plan. params, indices, out: the `data` pointers of memory of at least the planned extents (the caller's duty);
 * element 0 lies at the planned offset from them; NULL where there is nothing to read or write. n: the open extent, or
 * GTH_OPEN if the plan has none; anything else is GTH_E_SHAPE of operand PLAN. Allocates nothing, as gth_gather_desc
 * and gth_scatter_desc. All pointers: Borrowed.
 * Statuses: HANDLE, NULL, SHAPE (n), SIZE, DEVICE, ALIAS, INDEX, RACE, NOMEM (float32 accumulation), and on a device
 * CUDA, FORK. */
GTH_API int32_t gth_plan_run(gth_context *context, const gth_plan *plan, const void *params, const void *indices,
                             void *out, int64_t n, gth_error *err);

/* As gth_plan_run, for callers who know how much memory they have: *_extent are the bytes from each data pointer on. Less
 * than the run touches is GTH_E_SIZE: operand, value the bytes that came, limit the bytes needed. */
GTH_API int32_t gth_plan_run_checked(gth_context *context, const gth_plan *plan, const void *params,
                                     int64_t params_extent, const void *indices, int64_t indices_extent, void *out,
                                     int64_t out_extent, int64_t n, gth_error *err);

/* How many bytes from each data pointer on a run with the open extent n touches at most; 0 where it touches none. params,
 * indices, out: Borrowed, each may be NULL, written on GTH_OK only. Statuses: NULL, HANDLE, SHAPE (n), SIZE. */
GTH_API int32_t gth_plan_extents(const gth_plan *plan, int64_t n, int64_t *params, int64_t *indices, int64_t *out,
                                 gth_error *err);

/* Judges the indices of a run and does nothing else, for callers who gather in pieces and still promise an output that is
 * unchanged on error. What bounds has an answer for is GTH_OK; no race is found. On a device the error is taken from the
 * context, as that of a run. Statuses: HANDLE, NULL, SHAPE (n), SIZE, DEVICE, INDEX, and on a device CUDA, FORK. */
GTH_API int32_t gth_plan_check(gth_context *context, const gth_plan *plan, const void *indices, int64_t n,
                               gth_error *err);

/* The output's shape for the open extent n (GTH_OPEN hands it on). As gth_gather_shape. Statuses: NULL, HANDLE, SHAPE,
 * SIZE. */
GTH_API int32_t gth_plan_shape(const gth_plan *plan, int64_t n, int32_t capacity, int32_t *ndim, int64_t *shape,
                               gth_error *err);

/* Releases a plan; NULL does nothing. Statuses: HANDLE. */
GTH_API int32_t gth_plan_release(gth_plan *plan);

/* ---- Shards: a table that is too large for one process or one machine.
 *
 * Ids are dealt out to the shards that have their rows: which rows each shard is to gather, and where they belong. Rows come
 * back by a scatter along `order`, or a gather along `place`. An error of a shard at its k-th row is one of the caller's
 * position order[k], counted from the shard's first row in `order`. */

/* How the rows of a table are dealt out. */
#define GTH_SHARDS_BLOCKS 1  /* to each shard as many in a row: ceil(rows / count), the last ones fewer or none */
#define GTH_SHARDS_MODULO 2  /* row r is row r / count of shard r % count */
#define GTH_SHARDS_BORDERS 3 /* shard s has the rows from borders[s] up to borders[s + 1] */

typedef struct gth_shards {
  uint32_t size;          /* sizeof(gth_shards) */
  int32_t kind;           /* GTH_SHARDS_* */
  int64_t rows;           /* of the whole table: ids are judged against it */
  int64_t count;          /* of shards, at least 1 */
  const int64_t *borders; /* GTH_SHARDS_BORDERS: count + 1 numbers that never fall, from 0 to rows. Borrowed */
} gth_shards;

#define GTH_SHARDS_INIT {sizeof(gth_shards), GTH_SHARDS_BLOCKS, 0, 1, 0}

/* Flags of gth_parts. */
#define GTH_PARTS_ONCE 1 /* a row that several ids name is asked for once: `place` is needed, `order` is NULL */

/* What ids are dealt out into: memory of the caller, at multiples of 8 bytes, which overlaps nothing else. */
typedef struct gth_parts {
  uint32_t size;         /* sizeof(gth_parts) */
  uint32_t flags;        /* GTH_PARTS_* */
  int64_t capacity;      /* how many numbers local, order and place have room for: at least one an id */
  int64_t *counts;       /* `count` of gth_shards: how many rows each shard is asked for */
  int64_t *local;        /* the rows, as the shards count them: those of shard 0 first, in the order of the ids */
  int64_t *order;        /* which id each of them is, by its row-major position; NULL: not wanted */
  int64_t *place;        /* for each id which of `local` is its row, -1 if skipped; NULL: not wanted */
  void *scratch;         /* memory to work in */
  int64_t scratch_bytes; /* at least what gth_partition_scratch says */
} gth_parts;

#define GTH_PARTS_INIT {sizeof(gth_parts), 0, 0, 0, 0, 0, 0, 0, 0}

/* Deals out ids to shards. ids: integers of any shape, Borrowed; they are judged as the indices of a gather along a dim of
 * `rows` rows, by negative and bounds of the options (NULL: defaults), and called indices in errors. The order of the ids is
 * kept within a shard, and the answer is the same for any number of threads. CPU only. Allocates nothing. On an error but
 * RACE nothing is written. All pointers: Borrowed.
 * Statuses: NULL, HANDLE, VERSION, DTYPE, RANK, SHAPE (extents, rows, shards, borders), SIZE (capacity, scratch), STRIDE,
 * DEVICE, INDEX, RACE, UNSUPPORTED. */
GTH_API int32_t gth_partition(gth_context *context, const gth_tensor_desc *ids, const gth_shards *shards,
                              const gth_options *options, const gth_parts *parts, gth_error *err);

/* How many bytes of scratch memory gth_partition needs for ids of such a description, whose data may be NULL. flags:
 * GTH_PARTS_*. bytes: Borrowed, written on GTH_OK only. Statuses: as gth_partition, but INDEX and RACE. */
GTH_API int32_t gth_partition_scratch(const gth_tensor_desc *ids, const gth_shards *shards, uint32_t flags,
                                      int64_t *bytes, gth_error *err);

#ifdef __cplusplus
}
#endif

#endif
