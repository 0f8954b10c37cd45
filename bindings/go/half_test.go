package gather_test

import (
	"math"
	"testing"

	"libgather.io/gather"
)

// Each Float16 and BFloat16 survives the conversion to float32 and back. A number between two of them is rounded to the
// nearest one, and ties go to the even one.
func TestFloat16ConversionsRoundToNearestEven(t *testing.T) {
	testHalves(t, 0x7c00, gather.Float16.Float32, gather.Float16Of)
	testHalves(t, 0x7f80, gather.BFloat16.Float32, gather.BFloat16Of)
}

func testHalves[H gather.Float16 | gather.BFloat16](t *testing.T, infinite H, widen func(H) float32, narrow func(float32) H) {
	for bits := H(0); bits < infinite; bits++ {
		low, above := widen(bits), float64(widen(bits+1))
		if bits+1 == infinite { // Rounding treats infinity as the next finite number.
			above = 2*float64(low) - float64(widen(bits-1))
		}
		middle := float32((float64(low) + above) / 2)
		even := bits + bits&1
		for value, want := range map[float32]H{
			low: bits, -low: bits | 1<<15,
			math.Nextafter32(middle, low): bits, middle: even, -middle: even | 1<<15,
			math.Nextafter32(middle, float32(above)): bits + 1,
		} {
			if value == 0 { // As keys of a map, 0 and -0 are equal.
				want &^= 1 << 15
				value = 0
			}
			if got := narrow(value); got != want {
				t.Fatalf("%g: got %#x, want %#x", value, got, want)
			}
		}
	}
	inf := float32(math.Inf(1))
	if widen(infinite) != inf || narrow(inf) != infinite || narrow(-inf) != infinite|1<<15 || narrow(math.MaxFloat32) != infinite {
		t.Errorf("infinity: %g, %#x", widen(infinite), narrow(inf))
	}
	for bits := infinite + 1; bits < 1<<15; bits++ {
		if value := widen(bits); value == value || narrow(value)&0x7fff <= infinite {
			t.Fatalf("%#x is %g, and %#x again", bits, value, narrow(value))
		}
	}
	if math.Signbit(float64(widen(1<<15))) != true || narrow(float32(math.Copysign(0, -1))) != 1<<15 {
		t.Error("negative zero")
	}
}
