package gather_test

import (
	"slices"
	"strconv"
	"strings"

	"libgather.io/gather"
	"libgather.io/gather/internal/cases"
)

// These tests replay every recorded call of packed rows: into a new tensor, into memory of the caller, and as a plan.

func replayPacked[T gather.Element, I gather.Index](t *report, test *cases.Case) {
	packed, err := packedOf[T](test)
	if err != nil {
		t.Errorf("%s: %v", test.Name, err)
		return
	}
	defer packed.Close()
	if test.BagFormat != 0 {
		replayBags[T, I](t, test, packed.Tensor())
		return
	}
	indices := tensorOf[I](&test.Indices)
	written := func(write func(memory []T) error) {
		memory := typed[T](outputMemory[T](test, test.Wanted.Shape))
		if expectOutcome(t, test, write(memory)) {
			expectNumbers(t, test, bytesOf(memory))
		}
	}
	for _, threads := range []int{1, 3} {
		options := append(slices.Clone(test.Options), gather.Threads(threads))
		made, err := gather.Gather(packed.Tensor(), indices, options...)
		if expectOutcome(t, test, err) {
			expectShape(t, test, made.Shape())
			expectNumbers(t, test, bytesOf(made.Data()))
		}
		written(func(memory []T) error {
			return gather.GatherInto(gather.NewOutput(memory, test.Wanted.Shape...), packed.Tensor(), indices, options...)
		})
	}
	plan, err := gather.NewPlan(packed.Tensor(), indices, test.Options...)
	if expectOutcome(t, test, err) {
		defer plan.Close()
		written(func(memory []T) error {
			return plan.Run(gather.To(memory), nil, typed[I](test.Indices.Bytes), gather.Open)
		})
	}
}

// packedOf returns the packed params of a case. A field is NAME=VALUE. A codec without a name has the fields of a named
// one.
func packedOf[T gather.Element](test *cases.Case) (*gather.Packed[T], error) {
	fields := strings.Fields(strings.Replace(test.Codec, ". code=1 rule=1 scale_place=3", "affine8", 1))
	var options []gather.PackedOption
	if strides := test.Params.Strides; strides != nil {
		options = append(options, gather.RowStrides(test.Params.Offset, strides[:len(strides)-1]...))
	}
	if test.Scales.DType != "" {
		options = append(options, codecOption(&test.Scales, true))
	}
	if test.Zeros.DType != "" {
		options = append(options, codecOption(&test.Zeros, false))
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
			options = append(options, gather.ZerosInt4(tensorOf[uint8](&test.Zeros)))
		case field == "zero_dtype=260":
			options = append(options, gather.ZerosUint4(tensorOf[uint8](&test.Zeros)))
		case field != "zero_dtype=0" && field != "zero_place=3": // The dtype and the place that zeros have.
			return nil, strconv.ErrSyntax
		}
	}
	return gather.NewPacked[T](fields[0], test.Params.Bytes, test.Params.Shape, options...)
}

// codecOption returns the option that sets scales or zeros.
func codecOption(text *cases.Tensor, isScale bool) gather.PackedOption {
	switch text.DType {
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

func codecOptionAs[P gather.Element](text *cases.Tensor, isScale bool) gather.PackedOption {
	if isScale {
		return gather.Scales(tensorOf[P](text))
	}
	return gather.Zeros(tensorOf[P](text))
}
