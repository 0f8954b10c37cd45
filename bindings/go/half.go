//go:build cgo

package gather

import "math"

// Float32 is the same number: every half is a float32.
func (f Float16) Float32() float32 {
	sign, exponent, fraction := uint32(f)>>15<<31, uint32(f)>>10&0x1f, uint32(f)&0x3ff
	switch exponent {
	case 0: // subnormal: fraction * 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)*0x1p-24))
	case 0x1f: // infinite, or not a number
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

// Float16Of is the half nearest to f, the even one of two; infinite beyond 65504.
func Float16Of(f float32) Float16 {
	bits := math.Float32bits(f)
	sign, magnitude := uint16(bits>>31)<<15, bits&^(1<<31)
	const infinite, inf16 = 0xff << 23, 0x1f << 10
	switch {
	case magnitude > infinite: // quiet, with the upper bits of what it carries
		return Float16(sign | inf16 | 1<<9 | uint16(magnitude>>13&0x3ff))
	case magnitude >= 0x477ff000: // 65520, half way to what would be 2^16
		return Float16(sign | inf16)
	case magnitude < 0x38800000: // below 2^-14, the least normal half
		return Float16(sign | uint16(math.RoundToEven(float64(math.Float32frombits(magnitude))*0x1p24)))
	}
	return Float16(sign | uint16(nearest(magnitude-(127-15)<<23, 13)))
}

// Float32 is the same number: every bfloat16 is a float32.
func (f BFloat16) Float32() float32 { return math.Float32frombits(uint32(f) << 16) }

// BFloat16Of is the bfloat16 nearest to f, the even one of two.
func BFloat16Of(f float32) BFloat16 {
	bits := math.Float32bits(f)
	if f != f {
		return BFloat16(bits>>16 | 1<<6) // quiet
	}
	return BFloat16(nearest(bits, 16))
}

// nearest drops bits from the low end of a number: to the nearest, or the even of two. A carry goes into the exponent,
// where it belongs.
func nearest(bits uint32, dropped int) uint32 {
	return (bits + 1<<(dropped-1) - 1 + bits>>dropped&1) >> dropped
}
