//go:build cgo

package gather

import (
	"fmt"
	"math"
	"math/bits"
)

// A reach is the span of bytes that a planned tensor needs: [low, high) for an open extent of 1, and more with each
// further one. Numbers beyond int stop at the largest, which no memory has.
type reach struct {
	enough            int // so many bytes will do, whatever is said of an open extent
	low, high         int
	lowStep, highStep int
	open, empty       bool
}

func newReach(v *view) reach {
	r := reachOf(v)
	r.enough = r.high
	if r.open || r.low < 0 {
		r.enough = math.MaxInt
	}
	return r
}

func reachOf(v *view) reach {
	size, offset := elementSize(v.dtype()), v.offset()
	strides := v.byteStrides()
	if strides == nil {
		return denseReach(size, offset, v.shape())
	}
	r := reach{low: offset, high: saturate(offset, size, 1)}
	for dim, extent := range v.shape() {
		r.empty = r.empty || extent == 0
		r.add(extent, strides[dim])
	}
	return r
}

// denseReach has one step of everything around the open extent, wherever that is: dense strides follow it.
func denseReach(size, offset int, shape []int) reach {
	r := reach{low: offset}
	bytes := size
	for _, extent := range shape {
		r.empty = r.empty || extent == 0
		if extent == Open {
			r.open = true
		} else {
			bytes = saturate(0, bytes, extent)
		}
	}
	r.high = saturate(offset, bytes, 1)
	if r.open {
		r.highStep = bytes
	}
	return r
}

func (r *reach) add(extent, stride int) {
	switch {
	case extent == Open && stride < 0:
		r.open, r.lowStep = true, -stride
	case extent == Open:
		r.open, r.highStep = true, stride
	case stride < 0 && r.low >= 0: // once it is below 0, it stays there
		r.low -= saturate(0, extent-1, -stride)
	case stride < 0:
	default:
		r.high = saturate(r.high, extent-1, stride)
	}
}

// span is the bytes that an open extent of n needs.
func (r *reach) span(n int) (low, high int) {
	if r.empty || r.open && n <= 0 {
		return 0, 0
	}
	low, high = r.low, r.high
	if r.open {
		low -= saturate(0, n-1, r.lowStep)
		high = saturate(high, n-1, r.highStep)
	}
	return low, high
}

func (r *reach) fits(have, n int) bool { return have >= r.enough || r.fitsOpen(have, n) }

//go:noinline
func (r *reach) fitsOpen(have, n int) bool {
	low, high := r.span(n)
	return low >= 0 && high <= have
}

func (r *reach) fail(operand Operand, have, n int) error {
	low, high := r.span(n)
	if low < 0 {
		high = low
	}
	message := fmt.Sprintf("the slice has %d bytes, the plan reaches byte %d", have, high)
	return fail(ErrStride, operand, high, have, message)
}

// saturate is sum + a * b for numbers that are not negative, or the largest int.
func saturate(sum, a, b int) int {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high != 0 || low > math.MaxInt || sum > math.MaxInt-int(low) {
		return math.MaxInt
	}
	return sum + int(low)
}
