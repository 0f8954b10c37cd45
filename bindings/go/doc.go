// Package gather reads rows, slices and elements of tensors by index, and writes them back, with the C library libgather:
// what tf.gather, tf.gather_nd, ONNX Gather, GatherND and GatherElements, numpy.take, numpy.take_along_axis,
// torch.index_select and torch.gather do, and the scatters of these systems, each to the letter with its [Profile].
//
// # Tensors
//
// A [Tensor] is a view of memory that the caller keeps: [New] and [Vector] over a slice, [Strided] over parts of one,
// [OnDevice] at a raw address. C sees the memory during a call and keeps nothing of it. What is written is an [Output],
// of the same constructors. Strings are copied once, into a [StringTensor].
//
// # Operations
//
// [Gather], [GatherND] and [GatherElements] make a new result; [GatherInto] and its like fill memory of the caller's and
// allocate nothing; a [Plan] is a gather that has been checked once and runs often. [OutputShape] says what will come out.
// Each is one call into C, but for those that make a new result, which ask for the shape first.
//
// [Scatter], [ScatterND] and [ScatterElements] write what these would read, in a copy of the target; [ScatterInto] and its
// like in the target itself, as often as wanted with a [ScatterPlan]. [Reduction] adds, multiplies or compares instead. The
// target comes first, then indices, and last [Updates], which have a type of their own. [GatherGradient] and its like are
// the sums that a gather hands back.
//
// [Partition] deals out ids to the [Shards] of a table that is too large for one process: which rows each is to gather, and
// where they belong.
//
// # Errors
//
// A failure is an [*Error] that errors.Is compares with the sentinels [ErrIndex], [ErrShape] and so on. An index out of
// bounds is an [*IndexError] that names the smallest bad tuple: position, component, value, limit.
//
// # Goroutines
//
// Any number of goroutines may use one tensor, plan, context or string tensor at once, and close it beside them: it is
// released when the last call returns. What is never closed is released when the garbage collector finds it; it is memory
// of C, of which the collector sees nothing, so that many of them may wait long.
//
// # Linking
//
// The library is compiled with the package, for the CPU, and lies in the program. With the build tag gather_shared an
// installed one is found by pkg-config, which may have CUDA; with gather_static its archive.
package gather

//go:generate go run ./internal/generate ../../include/gather/gather.h .
