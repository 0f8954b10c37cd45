package gather_test

import (
	"slices"
	"strconv"
	"strings"

	"libgather.io/gather"
)

// These tests replay every recorded call of packed rows: into a new tensor, into memory of the caller, and as a plan.

func replayPacked[T gather.Element, I gather.Index](t *report, test *conformanceCase) {
	packed, err := packedOf[T](test)
	if err != nil {
		t.Errorf("%s: %v", test.name, err)
		return
	}
	defer packed.Close()
	if test.bagFormat != "" {
		replayBags[T, I](t, test, packed.Tensor())
		return
	}
	indices := tensorOf[I](&test.indices)
	written := func(write func(memory []T) error) {
		memory := typed[T](outputMemory[T](test, test.wanted.shape))
		if expectOutcome(t, test, write(memory)) {
			expectNumbers(t, test, bytesOf(memory))
		}
	}
	for _, threads := range []int{1, 3} {
		options := append(slices.Clone(test.options), gather.Threads(threads))
		made, err := gather.Gather(packed.Tensor(), indices, options...)
		if expectOutcome(t, test, err) {
			expectShape(t, test, made.Shape())
			expectNumbers(t, test, bytesOf(made.Data()))
		}
		written(func(memory []T) error {
			return gather.GatherInto(gather.NewOutput(memory, test.wanted.shape...), packed.Tensor(), indices, options...)
		})
	}
	plan, err := gather.NewPlan(packed.Tensor(), indices, test.options...)
	if expectOutcome(t, test, err) {
		defer plan.Close()
		written(func(memory []T) error {
			return plan.Run(gather.To(memory), nil, typed[I](test.indices.bytes), gather.Open)
		})
	}
}

// packedOf returns the packed params of a case. A field is NAME=VALUE. A codec without a name has the fields of a named
// one.
func packedOf[T gather.Element](test *conformanceCase) (*gather.Packed[T], error) {
	fields := strings.Fields(strings.Replace(test.codec, ". code=1 rule=1 scale_place=3", "affine8", 1))
	var options []gather.PackedOption
	if strides := test.params.strides; strides != nil {
		options = append(options, gather.RowStrides(test.params.offset, strides[:len(strides)-1]...))
	}
	if test.scales.dtype != "" {
		options = append(options, codecOption(&test.scales, true))
	}
	if test.zeros.dtype != "" {
		options = append(options, codecOption(&test.zeros, false))
	}
	for _, field := range fields[1:] {
		name, value, _ := strings.Cut(field, "=")
		number, err := strconv.ParseFloat(value, 32)
		switch {
		case err != nil:
			return nil, err
		case name == "block_values":
			options = append(options, gather.BlockValues(int(number)))
		case name == "factor":
			options = append(options, gather.ScaleFactor(float32(number)))
		case name == "zero":
			options = append(options, gather.ZeroPoint(float32(number)))
		case field == "zero_dtype=4":
			options = append(options, gather.ZerosInt4(tensorOf[uint8](&test.zeros)))
		case field == "zero_dtype=260":
			options = append(options, gather.ZerosUint4(tensorOf[uint8](&test.zeros)))
		case field != "zero_dtype=0" && field != "zero_place=3": // The dtype and the place that zeros have.
			return nil, strconv.ErrSyntax
		}
	}
	return gather.NewPacked[T](fields[0], test.params.bytes, test.params.shape, options...)
}

// codecOption returns the option that sets scales or zeros.
func codecOption(text *tensorText, isScale bool) gather.PackedOption {
	switch text.dtype {
	case "float16":
		return codecOptionAs[gather.Float16](text, isScale)
	case "bfloat16":
		return codecOptionAs[gather.BFloat16](text, isScale)
	case "float8_e4m3fn":
		return codecOptionAs[gather.Float8E4M3FN](text, isScale)
	case "float8_e8m0fnu":
		return codecOptionAs[gather.Float8E8M0FNU](text, isScale)
	case "int8":
		return codecOptionAs[int8](text, isScale)
	case "uint8":
		return codecOptionAs[uint8](text, isScale)
	}
	return codecOptionAs[float32](text, isScale)
}

func codecOptionAs[P gather.Element](text *tensorText, isScale bool) gather.PackedOption {
	if isScale {
		return gather.Scales(tensorOf[P](text))
	}
	return gather.Zeros(tensorOf[P](text))
}
