// Package gather reads rows, slices and elements of tensors by index, and writes them back, with the C library libgather:
// what tf.gather, tf.gather_nd, ONNX Gather, GatherND and GatherElements, numpy.take, numpy.take_along_axis,
// torch.index_select and torch.gather do, and the scatters of these systems, each to the letter with its [Profile].
//
// # Tensors
//
// A [Tensor] is a view of memory of the caller: [New] and [Vector] over a slice, [Strided] over parts of a slice, [OnDevice]
// at an address. C uses the memory during a call only. An operand that is written is an [Output]. Strings are copied once,
// into a [StringTensor].
//
// # Operations
//
// [Gather], [GatherND] and [GatherElements] make a new result. [GatherInto], [GatherNDInto] and [GatherElementsInto] write
// memory of the caller and allocate nothing. A [Plan] is a gather that is validated once, for many runs. [OutputShape]
// returns the shape of a result. Each call calls C once, except those that make a new result, which first need its shape.
//
// [Scatter], [ScatterND] and [ScatterElements] write the elements that these would read, in a copy of the target.
// [ScatterInto], [ScatterNDInto] and [ScatterElementsInto] write the target itself. A [ScatterPlan] is validated once, for
// many runs. With [Reduction] updates are added, multiplied or compared. Arguments are the target, indices and [Updates], in
// this order. [GatherGradient], [GatherNDGradient] and [GatherElementsGradient] are the gradients of gathers.
//
// [Partition] assigns ids to the [Shards] of a table that is split over several processes.
//
// # Errors
//
// A failure is an [*Error]. errors.Is compares it with the statuses, such as [ErrIndex] and [ErrShape]. An index out of
// bounds is an [*IndexError] with the smallest invalid tuple: position, component, value and limit.
//
// # Goroutines
//
// Any number of goroutines may use one tensor, plan, context or string tensor at the same time, and one may close it during
// calls of others. It is released when the last call returns. An object that is never closed is released when the garbage
// collector finds it. The collector does not know of its C memory, so this may take long.
//
// # Linking
//
// The library is compiled with the package, for the CPU, and is part of the program. With the build tag gather_shared the
// installed library is used, which pkg-config finds and which may have CUDA. With gather_static its archive is used.
package gather

//go:generate go run ./internal/generate ../../include/gather/gather.h .
