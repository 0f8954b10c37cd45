//go:build cgo

package gather

import "math"

// Float32 converts f to a float32. The conversion is exact.
func (f Float16) Float32() float32 {
	sign, exponent, fraction := uint32(f)>>15<<31, uint32(f)>>10&0x1f, uint32(f)&0x3ff
	switch exponent {
	case 0: // A subnormal number is fraction * 2^-24.
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)*0x1p-24))
	case 0x1f: // infinity or NaN
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

// Float16Of rounds f to the nearest Float16, and ties to even. From 65520 on the result is infinite.
func Float16Of(f float32) Float16 {
	bits := math.Float32bits(f)
	sign, magnitude := uint16(bits>>31)<<15, bits&^(1<<31)
	const infinite, inf16 = 0xff << 23, 0x1f << 10
	switch {
	case magnitude > infinite: // A NaN becomes quiet and keeps the upper bits of its payload.
		return Float16(sign | inf16 | 1<<9 | uint16(magnitude>>13&0x3ff))
	case magnitude >= 0x477ff000: // 65520 is halfway between 65504, the largest finite number, and 2^16.
		return Float16(sign | inf16)
	case magnitude < 0x38800000: // below 2^-14, the smallest normal Float16
		return Float16(sign | uint16(math.RoundToEven(float64(math.Float32frombits(magnitude))*0x1p24)))
	}
	return Float16(sign | uint16(nearest(magnitude-(127-15)<<23, 13)))
}

// Float32 converts f to a float32. The conversion is exact.
func (f BFloat16) Float32() float32 { return math.Float32frombits(uint32(f) << 16) }

// BFloat16Of rounds f to the nearest BFloat16, and ties to even.
func BFloat16Of(f float32) BFloat16 {
	bits := math.Float32bits(f)
	if f != f {
		return BFloat16(bits>>16 | 1<<6) // The NaN becomes quiet.
	}
	return BFloat16(nearest(bits, 16))
}

// nearest removes the low bits of a number. It rounds to the nearest number, and ties to even. A carry increases the
// exponent, as it must.
func nearest(bits uint32, dropped int) uint32 {
	return (bits + 1<<(dropped-1) - 1 + bits>>dropped&1) >> dropped
}
