// Package gather reads and writes rows, slices and elements of tensors by index. It uses the C library libgather.
//
// Its gathers are tf.gather, tf.gather_nd, ONNX Gather, GatherND and GatherElements, numpy.take, numpy.take_along_axis,
// torch.index_select and torch.gather. It also has the scatters of these systems. With a [Profile], a call has the
// results of the named system in every edge case.
//
// # Tensors
//
// A [Tensor] is a view of memory of the caller. [New] and [Vector] view a slice, [Strided] views parts of a slice, and
// [OnDevice] views memory at an address. C uses the memory during a call only. An operand that is written is an
// [Output]. Strings are copied once into a [StringTensor]. A [Packed] pins memory of packed rows until it is closed.
// A [Table] is in files, which may be larger than memory.
//
// # Operations
//
// [GatherRows] returns rows of a slice, which is the usual case. [GatherRowsContext] can be cancelled.
//
// [Gather], [GatherND] and [GatherElements] return a new result. [GatherInto], [GatherNDInto] and [GatherElementsInto]
// write to memory of the caller and allocate nothing. A [Plan] is a gather that is validated once, for many runs.
// [OutputShape] returns the shape of a result. A call that returns a new tensor calls C several times, because it needs
// the shape first. Calls into existing memory and runs of plans call C once.
//
// [Scatter], [ScatterND] and [ScatterElements] copy the target, and write updates to the elements that the gathers
// would read. [ScatterInto], [ScatterNDInto] and [ScatterElementsInto] write to the target itself. A [ScatterPlan] is
// validated once, for many runs. [RunAll] runs several plans in few calls of C. [Reduction] adds, multiplies or compares updates. The arguments are the target, the
// indices and the [Updates], in this order. [GatherGradient], [GatherNDGradient] and [GatherElementsGradient] are the
// gradients of gathers.
//
// [GatherBags] makes one row of the rows of each bag of ids. [Bags] tells which ids belong to which bag.
//
// [NewPacked] makes a [Packed] table of quantised numbers in a format of GGUF, torch, ONNX or bitsandbytes. Gathers
// and bags decode its rows as they read them. [CodecRowBytes] is the size of a row.
//
// [OpenTable] opens a [Table] in ranges of files and pieces of memory, and [OpenSafetensors] a tensor of safetensors
// files. Gathers and bags read only the rows that indices select.
//
// [Partition] assigns ids to the [Shards] of a table that is split over several processes.
//
// [Take] takes rows of a [Column], which has arrays of the Arrow C data interface: numbers, strings, lists, structs, nulls
// and more. [Resolve] only validates indices.
//
// # Errors
//
// A failure is an [*Error]. errors.Is compares it with the statuses, such as [ErrIndex] and [ErrShape]. An index out of
// bounds is an [*IndexError] with the smallest invalid tuple: position, component, value and limit. A file that cannot be
// read is an [*IOError] with its cause.
//
// # Goroutines
//
// Any number of goroutines may use one tensor, plan, context or string tensor at the same time. A goroutine may close
// it during calls of other goroutines. It is released when the last call returns. If an object is never closed, the
// garbage collector releases it. This may take long, because the collector does not count C memory.
//
// # Linking
//
// By default the library is compiled with the package and becomes part of the program. It then supports the CPU only.
// With the build tag gather_shared, the program uses the installed shared library, which may support CUDA. With
// gather_static, it uses the installed archive. pkg-config finds both.
package gather
