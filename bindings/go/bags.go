package gather

// #include "shim.h"
import "C"

// Bags divides the indices of [GatherBags] into bags. The indices of a bag are successive. The zero value makes a bag of
// each row of indices along their last dim. Bags are small and immutable. They keep the slices of their tensors
// reachable, and C uses them during a call only. Any number of goroutines may use them.
type Bags struct {
	format  C.int32_t
	count   int
	bags    view
	weights view
}

// BagOffsets returns B bags from B + 1 offsets. Bag b has the indices from offsets[b] up to offsets[b+1].
func BagOffsets[I Index](offsets Tensor[I]) Bags {
	return Bags{format: C.GTH_BAGS_OFFSETS, bags: offsets.view}
}

// BagStarts returns B bags from B starts. Bag b has the indices from starts[b] up to starts[b+1]. The last bag has all
// remaining indices.
func BagStarts[I Index](starts Tensor[I]) Bags {
	return Bags{format: C.GTH_BAGS_STARTS, bags: starts.view}
}

// BagLengths returns B bags from B lengths. Bag b has lengths[b] indices.
func BagLengths[I Index](lengths Tensor[I]) Bags {
	return Bags{format: C.GTH_BAGS_LENGTHS, bags: lengths.view}
}

// BagSegments returns count bags from one number for each index, which is its bag. The numbers must not decrease.
func BagSegments[I Index](segments Tensor[I], count int) Bags {
	return Bags{format: C.GTH_BAGS_SEGMENTS, count: count, bags: segments.view}
}

// Weighted returns the same bags with a weight for each index. Weights have the shape of the indices, and the element
// type of params, or float32 if params are floating.
func Weighted[W Element](bags Bags, weights Tensor[W]) Bags {
	bags.weights = weights.view
	return bags
}

// operands returns the operands of gather_bags.
func (b *Bags) operands(params, indices, out *view) operands {
	return operands{params, indices, out, b.bags.orAbsent(), b.weights.orAbsent()}
}

// orAbsent returns &absent for the zero view.
func (v *view) orAbsent() *view {
	if v.numbers.dtype == 0 {
		return &absent
	}
	return v
}

// settings returns the settings of a call with these bags.
func (b *Bags) settings(options []Option) (s settings) {
	s.applyAll(options)
	s.options.size = C.sizeof_gth_options
	s.options.bag_format, s.options.bag_count = b.format, C.int64_t(b.count)
	return s
}

// GatherBags makes one row of the rows of params that the indices of each bag select. [Pool] sets how. It is the sum by
// default:
//
//	out.shape = [B] + params.shape[1:]                  indices.shape == [N]
//	out.shape = indices.shape[:-1] + params.shape[1:]   with the zero value of Bags
//	out[b, :] = the pool of weights[k] * params[indices[k], :] for the indices k of bag b, in their order
//
// params may have any numbers, except float8. The mean needs floating or complex numbers. float16 and bfloat16 are added
// in float32 and rounded once. The result does not depend on the number of threads. [Empty] sets the row of a bag
// without indices, which is zero by default. [PaddingIndex] is an index that is neither read nor counted. [Axis] and
// [BatchDims] are rejected.
//
// The result is a new dense tensor. Wrong bags return [ErrOffsets], and an index out of bounds is an [*IndexError],
// unless [Bounds] has another policy. Every other failure is an [*Error]. The operands are read during the call only.
// Other goroutines may use them at the same time.
func GatherBags[T Element, I Index](params Tensor[T], indices Tensor[I], bags Bags,
	options ...Option) (Tensor[T], error) {
	s := bags.settings(options)
	return makeRows[T](opGatherBags, bags.operands(&params.view, &indices.view, &absent), &s, options)
}

// GatherBagsFloat32 is [GatherBags] with a result in float32, for params in float16, bfloat16 or float32. The sums of
// rows are then not rounded to the dtype of params. Other dtypes return [ErrDType].
func GatherBagsFloat32[T Element, I Index](params Tensor[T], indices Tensor[I], bags Bags,
	options ...Option) (Tensor[float32], error) {
	s := bags.settings(options)
	s.options.out_dtype = C.GTH_DTYPE_FLOAT32
	return makeRows[float32](opGatherBags, bags.operands(&params.view, &indices.view, &absent), &s, options)
}

// GatherBagsFloat32Into writes the result of [GatherBagsFloat32] to out, as [GatherBagsInto] does.
func GatherBagsFloat32Into[T Element, I Index](out Output[float32], params Tensor[T], indices Tensor[I], bags Bags,
	options ...Option) error {
	s := bags.settings(options)
	s.options.out_dtype = C.GTH_DTYPE_FLOAT32
	return runWith(opGatherBags, bags.operands(&params.view, &indices.view, &out.view), &s, options)
}

// GatherBagsInto writes the result of [GatherBags] to out, which must have the shape of the result. It allocates no Go
// memory. If it fails, out is unchanged, except as [Error] documents. out must not share memory with other operands.
func GatherBagsInto[T Element, I Index](out Output[T], params Tensor[T], indices Tensor[I], bags Bags,
	options ...Option) error {
	s := bags.settings(options)
	return runWith(opGatherBags, bags.operands(&params.view, &indices.view, &out.view), &s, options)
}
