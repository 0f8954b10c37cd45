package property

import (
	"slices"

	"pgregory.net/rapid"

	"libgather/gather"
)

// The oracle gathers element by element, as the definition states. Its tensors are dense.
type oracle struct {
	op              string
	params, indices []int64
	paramsShape     []int
	indicesShape    []int
	axis, batchDims int
	wrap            bool
	bounds          gather.BoundsPolicy
	fill            int64
	position        int64 // the position of the first invalid tuple, or -1
	component       int
	value, limit    int64
}

func (o *oracle) shape() []int {
	var shape []int
	switch o.op {
	case "gather_elements":
		return o.indicesShape
	case "gather_nd":
		last := len(o.indicesShape) - 1
		depth := o.indicesShape[last]
		shape = append(shape, o.indicesShape[:last]...)
		return append(shape, o.paramsShape[o.batchDims+depth:]...)
	}
	shape = append(shape, o.paramsShape[:o.axis]...)
	shape = append(shape, o.indicesShape[o.batchDims:]...)
	return append(shape, o.paramsShape[o.axis+1:]...)
}

func (o *oracle) gather() []int64 {
	o.position = -1
	shape := o.shape()
	out := make([]int64, product(shape))
	at := make([]int, len(shape))
	for i := range out {
		out[i] = o.element(at)
		advance(at, shape)
	}
	return out
}

// element returns the element of the output at a position.
func (o *oracle) element(at []int) int64 {
	switch o.op {
	case "gather_elements":
		return o.elementAlong(at)
	case "gather_nd":
		return o.elementND(at)
	}
	tuples := len(o.indicesShape) - o.batchDims
	place := append(append([]int{}, at[:o.batchDims]...), at[o.axis:o.axis+tuples]...)
	position := linear(place, o.indicesShape)
	index, ok := o.resolve(o.indices[position], o.paramsShape[o.axis], position, 0)
	if !ok {
		return o.fill
	}
	source := append(append(append([]int{}, at[:o.axis]...), index), at[o.axis+tuples:]...)
	return o.params[linear(source, o.paramsShape)]
}

func (o *oracle) elementAlong(at []int) int64 {
	position := linear(at, o.indicesShape)
	index, ok := o.resolve(o.indices[position], o.paramsShape[o.axis], position, 0)
	if !ok {
		return o.fill
	}
	source := slices.Clone(at)
	source[o.axis] = index
	return o.params[linear(source, o.paramsShape)]
}

func (o *oracle) elementND(at []int) int64 {
	last := len(o.indicesShape) - 1
	depth := o.indicesShape[last]
	position := linear(at[:last], o.indicesShape[:last])
	source := append([]int{}, at[:o.batchDims]...)
	good := true
	for component := range depth {
		index, ok := o.resolve(o.indices[position*depth+component], o.paramsShape[o.batchDims+component], position, component)
		source, good = append(source, index), good && ok
	}
	if !good {
		return o.fill
	}
	return o.params[linear(append(source, at[last:]...), o.paramsShape)]
}

func (o *oracle) resolve(value int64, limit, position, component int) (int, bool) {
	index, size := value, int64(limit)
	if o.wrap && index < 0 && index >= -size {
		index += size
	}
	if index >= 0 && index < size {
		return int(index), true
	}
	switch {
	case o.bounds == gather.BoundsClamp && size > 0:
		return int(max(0, min(index, size-1))), true
	case o.bounds == gather.BoundsModulo && size > 0:
		return int(((index % size) + size) % size), true
	}
	if o.position < 0 || int64(position) < o.position {
		o.position, o.component, o.value, o.limit = int64(position), component, value, size
	}
	return 0, false
}

// validate resolves all indices, and so finds the first invalid tuple even if the output has no elements.
func (o *oracle) validate() {
	sizes := []int{o.paramsShape[o.axis]}
	if o.op == "gather_nd" {
		depth := o.indicesShape[len(o.indicesShape)-1]
		sizes = o.paramsShape[o.batchDims : o.batchDims+depth]
	}
	for i, index := range o.indices {
		component := i % len(sizes)
		o.resolve(index, sizes[component], i/len(sizes), component)
	}
}

// fails returns whether the call must return an index error. Precondition: gather has run.
func (o *oracle) fails() bool { return o.position >= 0 && o.bounds != gather.BoundsFill }

func product(shape []int) int {
	count := 1
	for _, extent := range shape {
		count *= extent
	}
	return count
}

func linear(at, shape []int) int {
	place := 0
	for dim, i := range at {
		place = place*shape[dim] + i
	}
	return place
}

func advance(at, shape []int) {
	for dim := len(at) - 1; dim >= 0; dim-- {
		if at[dim]++; at[dim] < shape[dim] {
			return
		}
		at[dim] = 0
	}
}

// draw generates a call with shapes of up to five dims, some of them empty. Most of its indices are valid.
func (o *oracle) draw(t *rapid.T) {
	extent := rapid.IntRange(0, 4)
	o.op = rapid.SampledFrom([]string{"gather", "gather_nd", "gather_elements"}).Draw(t, "op")
	o.paramsShape = rapid.SliceOfN(extent, 1, 4).Draw(t, "params shape")
	rank := len(o.paramsShape)
	if o.op != "gather_elements" {
		o.batchDims = rapid.IntRange(0, rank-1).Draw(t, "batch dims")
	}
	o.axis = rapid.IntRange(o.batchDims, rank-1).Draw(t, "axis")
	o.drawIndicesShape(t, extent)
	o.wrap = rapid.Bool().Draw(t, "wrap")
	o.bounds = rapid.SampledFrom([]gather.BoundsPolicy{
		gather.BoundsError, gather.BoundsFill, gather.BoundsClamp, gather.BoundsModulo}).Draw(t, "bounds")
	o.fill = rapid.Int64Range(-100, 100).Draw(t, "fill")
	o.params = make([]int64, product(o.paramsShape))
	for i := range o.params {
		o.params[i] = int64(i)%119 + 1
	}
	index := rapid.Int64Range(0, 3)
	if rapid.Bool().Draw(t, "wild") {
		index = rapid.Int64Range(-100, 100)
	}
	count := product(o.indicesShape)
	o.indices = rapid.SliceOfN(index, count, count).Draw(t, "indices")
}

func (o *oracle) drawIndicesShape(t *rapid.T, extent *rapid.Generator[int]) {
	if o.op == "gather_elements" { // In the other dims, indices are a prefix of params.
		o.indicesShape = nil
		for dim, limit := range o.paramsShape {
			if dim == o.axis {
				limit = 4
			}
			o.indicesShape = append(o.indicesShape, rapid.IntRange(0, limit).Draw(t, "extent"))
		}
		return
	}
	o.indicesShape = append([]int{}, o.paramsShape[:o.batchDims]...)
	o.indicesShape = append(o.indicesShape, rapid.SliceOfN(extent, 0, 2).Draw(t, "tuples")...)
	if o.op == "gather_nd" {
		o.axis = o.batchDims
		o.indicesShape = append(o.indicesShape, rapid.IntRange(0, len(o.paramsShape)-o.batchDims).Draw(t, "depth"))
	}
}

func (o *oracle) options() []gather.Option {
	options := []gather.Option{gather.BatchDims(o.batchDims), gather.Bounds(o.bounds)}
	if o.op != "gather_nd" {
		options = append(options, gather.Axis(o.axis))
	}
	if o.op == "gather_elements" {
		options = append(options, gather.Extents(gather.ExtentsPrefix))
	}
	if o.wrap {
		options = append(options, gather.Negative(gather.NegativeWrap))
	}
	return options
}
