package gather_test

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"libgather.io/gather"
)

const packedRows = 7

// packedBytes returns pseudorandom bytes.
func packedBytes(count int) []byte {
	state, data := uint64(12345), make([]byte, count)
	for i := range data {
		state = state*6364136223846793005 + 1442695040888963407
		data[i] = byte(state >> 56)
	}
	return data
}

// half decodes a float16 in two bytes, and makes it finite.
func half(data []byte) float32 {
	data[1] &= 0xbf
	return gather.Float16(uint16(data[0]) | uint16(data[1])<<8).Float32()
}

func int4(data byte, j int) float32 { return float32(int8(data>>(4*(j%2))<<4) >> 4) }

func uint4(data byte, j int) float32 { return float32(data >> (4 * (j % 2)) & 15) }

// decode returns the numbers of a table.
func decode(width int, number func(row, j int) float32) []float32 {
	decoded := make([]float32, packedRows*width)
	for i := range decoded {
		decoded[i] = number(i/width, i%width)
	}
	return decoded
}

func newPacked[T gather.Element](t *testing.T, codec string, data []byte, shape []int,
	options ...gather.PackedOption) *gather.Packed[T] {
	t.Helper()
	packed, err := gather.NewPacked[T](codec, data, shape, options...)
	check(t, err)
	t.Cleanup(func() { check(t, packed.Close()) })
	return packed
}

func bitsOf(numbers []float32) []uint32 {
	bits := make([]uint32, len(numbers))
	for i, number := range numbers {
		bits[i] = math.Float32bits(number)
	}
	return bits
}

// heldParams are params of a handle: a Packed or a Table.
type heldParams interface {
	gather.Described
	Tensor() gather.Tensor[float32]
	Shape() []int
}

// expectPacked compares each function that takes params with rows that have been decoded by a formula.
func expectPacked(t *testing.T, packed heldParams, decoded []float32) {
	t.Helper()
	width := packed.Shape()[1]
	var want, sums []uint32
	picked := []int64{6, 0, 3, 6}
	for _, id := range picked {
		row := decoded[int(id)*width:][:width]
		want = append(want, bitsOf(row)...)
		for _, number := range row {
			sums = append(sums, math.Float32bits(0+number)) // Sums begin with 0, so no sum is -0.
		}
	}
	table, flat, tuples := packed.Tensor(), gather.Vector(picked), gather.New(picked, 4, 1)
	made := func(what string, rows gather.Tensor[float32], err error, want []uint32) {
		t.Helper()
		check(t, err)
		expect(t, what, bitsOf(rows.Data()), want)
	}
	into := func(what string, want []uint32, call func(rows []float32) error) {
		t.Helper()
		rows := slices.Repeat([]float32{7}, 4*width)
		check(t, call(rows))
		expect(t, what, bitsOf(rows), want)
	}
	out := func(rows []float32) gather.Output[float32] { return gather.NewOutput(rows, 4, width) }
	rows, err := gather.Gather(table, flat, gather.In(newContext(t, 2)))
	made("gather", rows, err, want)
	rows, err = gather.GatherND(table, tuples)
	made("gather_nd", rows, err, want)
	rows, err = gather.GatherBags(table, tuples, gather.Bags{})
	made("bags", rows, err, sums)
	into("gather into", want, func(rows []float32) error { return gather.GatherInto(out(rows), table, flat) })
	into("gather_nd into", want, func(rows []float32) error { return gather.GatherNDInto(out(rows), table, tuples) })
	into("bags into", sums, func(rows []float32) error {
		return gather.GatherBagsInto(out(rows), table, tuples, gather.Bags{})
	})
	shape, err := gather.OutputShape(packed, flat)
	check(t, err)
	expect(t, "shape", shape, []int{4, width})

	plan := newPlan(t, table, gather.Shaped[int64](gather.Open))
	tuplePlan, err := gather.NewPlanND(table, gather.Shaped[int64](4, 1))
	check(t, err)
	into("plan", want, func(rows []float32) error { return plan.Run(gather.To(rows), nil, picked, 4) })
	into("plans", want, func(rows []float32) error {
		return gather.RunAll(nil, plan.With(gather.To(rows), nil, picked, 4),
			tuplePlan.With(gather.To(rows), nil, picked, gather.Open))
	})
	memory := make([]float32, 4*width)
	expectError(t, plan.Run(gather.To(memory[1:]), nil, picked, 4), gather.ErrSize, gather.OperandOut)
	expectError(t, plan.Run(gather.To(memory), decoded, picked, 4), gather.ErrHandle, gather.OperandParams)
	expectError(t, plan.Check([]int64{7}, 1), gather.ErrIndex, gather.OperandIndices)
}

func TestQ8IsScaleTimesCode(t *testing.T) {
	data := packedBytes(packedRows * 68)
	decoded := decode(64, func(row, j int) float32 {
		block := data[row*68+j/32*34:]
		return half(block) * float32(int8(block[2+j%32]))
	})
	bytes, err := gather.CodecRowBytes("q8_0", 64)
	check(t, err)
	expect(t, "bytes of a row", []int{bytes}, []int{68})
	expectPacked(t, newPacked[float32](t, "q8_0", data, []int{packedRows, 64}), decoded)
	inFiles := openTable[float32](t, []int{packedRows, 64}, inPieces(t, data, 68), gather.Format("q8_0"))
	expectPacked(t, inFiles, decoded)
}

func TestRowwise4IsScaleTimesCodePlusBias(t *testing.T) {
	data := packedBytes(packedRows * 9)
	decoded := decode(10, func(row, j int) float32 {
		bytes := data[row*9:]
		product := float64(half(bytes[5:])) * float64(uint4(bytes[j/2], j)) // It is exact, and so is the sum.
		return float32(product + float64(half(bytes[7:])))
	})
	expectPacked(t, newPacked[float32](t, "rowwise4", data, []int{packedRows, 10}), decoded)
}

func TestInt4HasScalesAndZeroPointsAsOperands(t *testing.T) {
	data, zeros, nibbles := packedBytes(packedRows*6), packedBytes(packedRows*3), packedBytes(packedRows*2)
	scales := make([]float32, packedRows*3)
	for i := range scales {
		scales[i] = 0.1*float32(i) - 0.7
	}
	for name, test := range map[string]struct {
		option gather.PackedOption
		zero   func(row, block int) float32
	}{
		"point": {gather.ZeroPoint(-1.5), func(int, int) float32 { return -1.5 }},
		"bytes": {gather.Zeros(gather.New(zeros, packedRows, 3)), func(row, block int) float32 { return float32(zeros[row*3+block]) }},
		"int4":  {gather.ZerosInt4(gather.New(nibbles, packedRows, 2)), func(row, block int) float32 { return int4(nibbles[row*2+block/2], block) }},
		"uint4": {gather.ZerosUint4(gather.New(nibbles, packedRows, 2)), func(row, block int) float32 { return uint4(nibbles[row*2+block/2], block) }},
	} {
		t.Run(name, func(t *testing.T) {
			decoded := decode(12, func(row, j int) float32 {
				return (int4(data[row*6+j/2], j) - test.zero(row, j/4)) * scales[row*3+j/4]
			})
			options, shape := []gather.PackedOption{gather.BlockValues(4), gather.Scales(gather.New(scales, packedRows, 3)), test.option}, []int{packedRows, 12}
			expectPacked(t, newPacked[float32](t, "int4", data, shape, options...), decoded)
			expectPacked(t, openTable[float32](t, shape, inPieces(t, data, 6), gather.Format("int4", options...)), decoded)
		})
	}
}

func TestFloat8HasOneScaleForEachRow(t *testing.T) {
	data, exponents := packedBytes(packedRows*5), []gather.Float8E8M0FNU{120, 127, 1, 130, 126, 128, 0}
	decoded := decode(5, func(row, j int) float32 {
		data[row*5+j] &= 0xf7 // without NaN
		code := data[row*5+j]
		magnitude := math.Ldexp(1+float64(code&7)/8, int(code>>3&15)-7)
		if code>>3&15 == 0 {
			magnitude = math.Ldexp(float64(code&7), -9)
		}
		return float32(math.Copysign(math.Ldexp(magnitude, int(exponents[row])-127), float64(int8(code))))
	})
	scales := gather.Scales(gather.New(exponents, packedRows, 1))
	expectPacked(t, newPacked[float32](t, "fp8_e4m3fn", data, []int{packedRows, 5}, scales), decoded)
}

func TestFactorTypeAndStridedRowsAreApplied(t *testing.T) {
	data := []byte{9, 1, 9, 9, 2, 9, 9, 3} // One code of every third byte is a row.
	options := []gather.PackedOption{gather.Scales(gather.New([]float32{0.5}, 1, 1)), gather.ScaleFactor(4)}
	ids := gather.Vector([]int{0, 1, 2})
	forward := newPacked[float32](t, "int8", data, []int{3, 1}, append(options, gather.RowStrides(1, 3))...)
	rows, err := gather.Gather(forward.Tensor(), ids)
	check(t, err)
	expect(t, "forward", rows.Data(), []float32{2, 4, 6})
	backward := newPacked[gather.BFloat16](t, "int8", data, []int{3, 1}, append(options, gather.RowStrides(7, -3))...)
	halves, err := gather.Gather(backward.Tensor(), ids)
	check(t, err)
	expect(t, "backward", halves.Data(), []gather.BFloat16{0x40c0, 0x4080, 0x4000})
}

func TestZeroReplacesTheConstantOfAFormat(t *testing.T) {
	scales, nibbles := gather.Scales(gather.New([]float32{1}, 1, 1)), gather.New([]byte{2}, 1, 1)
	for name, options := range map[string][]gather.PackedOption{
		"a constant of 0": {scales, gather.ZeroPoint(0)},
		"the last zeros":  {scales, gather.ZerosUint4(gather.New([]byte{1}, 1, 1)), gather.Zeros(gather.New([]int8{0}, 1, 1))},
		"zeros of 4 bits": {scales, gather.Zeros(nibbles), gather.ZerosUint4(gather.New([]byte{0}, 1, 1))},
	} {
		shape := []int{1, 1}
		packed := newPacked[float32](t, "uint8", []byte{3}, shape, options...)
		shape[0] = 9 // The table has its own shape.
		expect(t, "shape", packed.Shape(), []int{1, 1})
		rows, err := gather.Gather(packed.Tensor(), gather.Vector([]int{0}))
		check(t, err)
		expect(t, name, rows.Data(), []float32{3})
	}
}

func TestZeroPointReplacesTheBiasesOfRows(t *testing.T) {
	row := []byte{3, 5, 0, 0, 0, 64, 0, 0, 128, 63} // 2 codes, the float32 scale 2 and the bias 1
	scales, biases := gather.Scales(gather.New([]float32{2}, 1, 1)), gather.Zeros(gather.New([]float32{1}, 1, 1))
	for _, test := range []struct {
		codec   string
		options []gather.PackedOption
		want    []float32
	}{
		{"rowwise8", nil, []float32{7, 11}},
		{"rowwise8", []gather.PackedOption{gather.ZeroPoint(10)}, []float32{16, 20}},
		{"affine8", []gather.PackedOption{scales, gather.BlockValues(0), gather.ZeroPoint(10)}, []float32{16, 20}},
		{"affine8", []gather.PackedOption{scales, gather.BlockValues(0), biases, gather.ZeroPoint(10)}, []float32{16, 20}},
		{"affine8", []gather.PackedOption{scales, gather.BlockValues(0), gather.ZeroPoint(10), biases}, []float32{7, 11}},
	} {
		packed := newPacked[float32](t, test.codec, row, []int{1, 2}, test.options...)
		rows, err := gather.Gather(packed.Tensor(), gather.Vector([]int{0}))
		check(t, err)
		expect(t, test.codec, rows.Data(), test.want)
	}
	_, err := gather.NewPacked[float32]("q4_k", make([]byte, 144), []int{1, 256}, gather.ZeroPoint(1))
	expectError(t, err, gather.ErrVersion, gather.OperandCodec)
}

// expectHeld gathers rows while the collector frees memory that nothing keeps, and other memory of 256 bytes takes its
// place.
func expectHeld[T gather.Element](t *testing.T, table gather.Tensor[T], ids []int, want []T) {
	t.Helper()
	var group sync.WaitGroup
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 10 {
				runtime.GC()
				_ = slices.Repeat([]float32{-1}, 64)
				rows, err := gather.Gather(table, gather.Vector(ids))
				if err != nil || !slices.Equal(rows.Data(), want) {
					t.Error(rows, err)
				}
			}
		}()
	}
	group.Wait()
}

// The collector frees or moves memory that nothing keeps. The table keeps its bytes, and a tensor or a plan the table.
func TestPackedRowsStayReachable(t *testing.T) {
	table, plan := func() (gather.Tensor[float32], *gather.Plan[float32, int]) {
		codes, scales := slices.Repeat([]byte{2}, 64), slices.Repeat([]float32{3}, 64)
		packed, err := gather.NewPacked[float32]("int8", codes, []int{64, 1}, gather.Scales(gather.New(scales, 64, 1)))
		check(t, err)
		return packed.Tensor(), newPlan(t, packed.Tensor(), gather.Shaped[int](1))
	}()
	expectHeld(t, table, []int{63}, []float32{6})
	row := []float32{0}
	check(t, plan.Run(gather.To(row), nil, []int{5}, gather.Open))
	runtime.GC()
	check(t, plan.Run(gather.To(row), nil, []int{5}, gather.Open))
	expect(t, "plan", row, []float32{6})
}

func TestPackedRowsCloseDuringCalls(t *testing.T) {
	ids, data := gather.Vector([]int{0}), make([]byte, 34)
	open := func() *gather.Packed[float32] { return newPacked[float32](t, "q8_0", data, []int{1, 32}) }
	into := open()
	closeDuring(t, func() error {
		return gather.GatherInto(gather.NewOutput(make([]float32, 32), 1, 32), into.Tensor(), ids)
	}, into)
	made := open()
	closeDuring(t, func() error { _, err := gather.Gather(made.Tensor(), ids); return err }, made)
	planned := open()
	plan := newPlan(t, planned.Tensor(), ids)
	run := func() error { return plan.Run(gather.To(make([]float32, 32)), nil, []int{0}, gather.Open) }
	closeDuring(t, run, planned)
	expectError(t, run(), gather.ErrHandle, gather.OperandParams)
	_, err := gather.OutputShape(planned, ids)
	expectError(t, err, gather.ErrHandle, gather.OperandParams)
	_, err = gather.NewPlan(planned.Tensor(), ids)
	expectError(t, err, gather.ErrHandle, gather.OperandParams)
	var missing *gather.Packed[float32]
	check(t, missing.Close())
	_, err = gather.OutputShape(missing, ids)
	expectError(t, err, gather.ErrNull, gather.OperandParams)
}

func TestUnknownFormatsAreRejected(t *testing.T) {
	for _, name := range []string{"q9_0", "", "Q8_0", "q8_0 ", "q8_0\x00", "\x00", "q8_0\xff", strings.Repeat("q", 100_000)} {
		_, err := gather.NewPacked[float32](name, make([]byte, 34), []int{1, 32})
		expectError(t, err, gather.ErrVersion, gather.OperandCodec)
		_, err = gather.CodecRowBytes(name, 32)
		expectError(t, err, gather.ErrVersion, gather.OperandCodec)
	}
	for values, status := range map[int]gather.Status{33: gather.ErrShape, -1: gather.ErrShape, math.MaxInt &^ 31: gather.ErrSize} {
		_, err := gather.CodecRowBytes("q8_0", values)
		expectError(t, err, status, gather.OperandCodec)
	}
}

func TestWrongPackedRowsAreRejected(t *testing.T) {
	data := make([]byte, 67)
	closed := newPacked[float32](t, "q8_0", data, []int{1, 32})
	ones := func(shape ...int) gather.PackedOption { return gather.Scales(gather.New(make([]float32, 8), shape...)) }
	int4s := func(options ...gather.PackedOption) []gather.PackedOption {
		return append([]gather.PackedOption{gather.BlockValues(4)}, options...)
	}
	for name, test := range map[string]struct {
		codec   string
		data    []byte
		shape   []int
		options []gather.PackedOption
		status  gather.Status
		operand gather.Operand
	}{
		"short data":          {"q8_0", data, []int{2, 32}, nil, gather.ErrStride, gather.OperandTensor},
		"no data":             {"q8_0", nil, []int{1, 32}, nil, gather.ErrNull, gather.OperandTensor},
		"offset":              {"q8_0", data, []int{1, 32}, []gather.PackedOption{gather.RowStrides(34, 34)}, gather.ErrStride, gather.OperandTensor},
		"negative offset":     {"q8_0", data, []int{1, 32}, []gather.PackedOption{gather.RowStrides(-1, 34)}, gather.ErrStride, gather.OperandTensor},
		"negative strides":    {"q8_0", data, []int{2, 32}, []gather.PackedOption{gather.RowStrides(0, -34)}, gather.ErrStride, gather.OperandTensor},
		"too many strides":    {"q8_0", data, []int{1, 32}, []gather.PackedOption{gather.RowStrides(0, 34, 0)}, gather.ErrRank, gather.OperandTensor},
		"too few strides":     {"q8_0", data, []int{1, 1, 32}, []gather.PackedOption{gather.RowStrides(0, 34)}, gather.ErrRank, gather.OperandTensor},
		"no dims":             {"q8_0", data, nil, nil, gather.ErrRank, gather.OperandTensor},
		"65 dims":             {"q8_0", data, make([]int, 65), nil, gather.ErrRank, gather.OperandTensor},
		"part of a block":     {"q8_0", data, []int{1, 33}, nil, gather.ErrShape, gather.OperandCodec},
		"open extent":         {"q8_0", data, []int{gather.Open, 32}, nil, gather.ErrShape, gather.OperandTensor},
		"scales in the block": {"q8_0", data, []int{1, 32}, []gather.PackedOption{ones(1, 1)}, gather.ErrVersion, gather.OperandScales},
		"no scales":           {"int4", data, []int{2, 8}, int4s(), gather.ErrNull, gather.OperandScales},
		"shape of scales":     {"int4", data, []int{2, 8}, int4s(ones(2, 3)), gather.ErrShape, gather.OperandScales},
		"rank of scales":      {"int4", data, []int{2, 8}, int4s(ones(2)), gather.ErrRank, gather.OperandScales},
		"size of scales":      {"int4", data, []int{20, 8}, int4s(ones(20, 2)), gather.ErrStride, gather.OperandScales},
		"dims of scales":      {"int4", data, []int{2, 8}, int4s(ones()), gather.ErrShape, gather.OperandScales},
		"dtype of scales":     {"int4", data, []int{2, 8}, int4s(gather.Scales(gather.New(make([]int, 4), 2, 2))), gather.ErrDType, gather.OperandScales},
		"packed scales":       {"int4", data, []int{2, 8}, int4s(gather.Scales(closed.Tensor())), gather.ErrUnsupported, gather.OperandScales},
		"shape of zeros":      {"int4", data, []int{2, 8}, int4s(ones(2, 2), gather.Zeros(gather.New(data, 3, 2))), gather.ErrShape, gather.OperandZeros},
		"zeros and a tail":    {"rowwise8", data, []int{2, 8}, []gather.PackedOption{gather.Zeros(gather.New(data, 2, 1))}, gather.ErrVersion, gather.OperandZeros},
		"strides of scales":   {"int4", data, []int{2, 8}, int4s(gather.Scales(gather.Strided[float32](make([]float32, 4), 0, []int{2, 2}, []int{8}))), gather.ErrRank, gather.OperandScales},
		"block 0":             {"nf4", data, []int{1, 128}, []gather.PackedOption{gather.BlockValues(0), ones(1, 2)}, gather.ErrShape, gather.OperandScales},
		"negative block":      {"int4", data, []int{2, 8}, []gather.PackedOption{gather.BlockValues(-4), ones(2, 2)}, gather.ErrSize, gather.OperandCodec},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := gather.NewPacked[float32](test.codec, test.data, test.shape, test.options...)
			expectError(t, err, test.status, test.operand)
		})
	}
	_, err := gather.NewPacked[int32]("q8_0", data, []int{1, 32})
	expectError(t, err, gather.ErrDType, gather.OperandTensor)
	expect(t, "empty", newPacked[float32](t, "q8_0", nil, []int{0, 32}).Shape(), []int{0, 32})
}

func TestPackedRowsAreNoOtherOperand(t *testing.T) {
	data := make([]byte, 68)
	table := newPacked[float32](t, "q8_0", data, []int{2, 32}).Tensor()
	dense, ids := gather.New(make([]float32, 64), 2, 32), gather.Vector([]int{1})
	unsupported := func(err error, operand gather.Operand) {
		t.Helper()
		expectError(t, err, gather.ErrUnsupported, operand)
	}
	unsupported(gather.GatherInto(table.Output(), dense, ids), gather.OperandOut)
	unsupported(gather.GatherElementsInto(gather.NewOutput(make([]float32, 32), 1, 32), table, gather.New(make([]int, 32), 1, 32)), gather.OperandParams)
	_, err := gather.GatherElements(table, gather.New(make([]int, 32), 1, 32))
	unsupported(err, gather.OperandParams)
	_, err = gather.Scatter(table, ids, dense.Updates())
	unsupported(err, gather.OperandTarget)
	unsupported(gather.ScatterInto(table.Output(), ids, dense.Updates()), gather.OperandTarget)
	_, err = gather.Scatter(dense, ids, table.Updates())
	unsupported(err, gather.OperandUpdates)
	_, err = gather.GatherBags(dense, ids, gather.Weighted(gather.BagLengths(ids), table))
	unsupported(err, gather.OperandWeights)
	_, err = gather.GatherBagsGradient(dense, table, gather.New([]int{1}, 1, 1), gather.Bags{})
	unsupported(err, gather.OperandParams)
	_, err = gather.Gather(table, ids, gather.Axis(1))
	expectError(t, err, gather.ErrAxis, gather.OperandOptions)
	_, err = gather.Gather(table, gather.Vector([]int{2}))
	expectError(t, err, gather.ErrIndex, gather.OperandIndices)
	if table.Data() != nil {
		t.Error("packed rows have no elements")
	}
	expect(t, "data", data, make([]byte, 68))
}
