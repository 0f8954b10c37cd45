package gather_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"libgather.io/gather"
)

var table = []float32{0, 1, 10, 11, 20, 21, 30, 31}

func tableTensor() gather.Tensor[float32] { return gather.New(table, 4, 2) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestDefinedTypesAreElements(t *testing.T) {
	type weight float32
	type id uint32
	out, err := gather.Gather(gather.Vector([]weight{1, 2, 3}), gather.Vector([]id{2, 0}))
	check(t, err)
	expect(t, "weights", out.Data(), []weight{3, 1})
}

func TestDTypeOfEveryType(t *testing.T) {
	type half gather.Float16
	for name, ok := range map[string]bool{
		"bool":      gather.DTypeOf[bool]() == gather.DTypeBool,
		"int":       gather.DTypeOf[int]() == gather.DTypeInt64,
		"uint":      gather.DTypeOf[uint]() == gather.DTypeUint64,
		"complex":   gather.DTypeOf[complex64]() == gather.DTypeComplex64,
		"Float16":   gather.DTypeOf[gather.Float16]() == gather.DTypeFloat16,
		"BFloat16":  gather.DTypeOf[gather.BFloat16]() == gather.DTypeBFloat16,
		"its bits":  gather.DTypeOf[half]() == gather.DTypeUint16,
		"Float8":    gather.DTypeOf[gather.Float8E4M3FN]() == gather.DTypeFloat8E4M3FN,
		"not alike": gather.DTypeOf[uint8]() == gather.DTypeUint8,
	} {
		if !ok {
			t.Error(name)
		}
	}
}

func TestExtentsOfGatherElements(t *testing.T) {
	column := gather.New([]int{3, 0}, 2, 1)
	_, err := gather.GatherElements(tableTensor(), column)
	found := expectError(t, err, gather.ErrShape, gather.OperandIndices)
	if found.Component != 1 || found.Value != 1 || found.Limit != 2 {
		t.Errorf("%+v", *found)
	}
	out, err := gather.GatherElements(tableTensor(), column, gather.Extents(gather.ExtentsPrefix))
	check(t, err)
	expect(t, "prefix", out.Data(), []float32{30, 0})
	out, err = gather.GatherElements(tableTensor(), column, gather.Extents(gather.ExtentsBroadcast))
	check(t, err)
	expect(t, "broadcast", out.Data(), []float32{30, 31, 0, 1})
	shape, err := gather.OutputShapeElements(tableTensor(), column, gather.Extents(gather.ExtentsBroadcast))
	check(t, err)
	expect(t, "shape", shape, []int{2, 2})
	_, err = gather.GatherElements(tableTensor(), column, gather.BatchDims(1))
	expectError(t, err, gather.ErrBatch, gather.OperandOptions)
}

func TestIndicesOfRankZeroRemoveTheAxis(t *testing.T) {
	out, err := gather.Gather(tableTensor(), gather.New([]int{2}))
	check(t, err)
	expect(t, "shape", out.Shape(), []int{2})
	expect(t, "row", out.Data(), []float32{20, 21})
}

func TestGatherNDWithAnOutputOfRankZero(t *testing.T) {
	out, err := gather.GatherND(tableTensor(), gather.Vector([]int{3, 1}))
	check(t, err)
	expect(t, "shape", out.Shape(), []int{})
	expect(t, "element", out.Data(), []float32{31})
}

func TestLaterOptionOverridesEarlierOne(t *testing.T) {
	out, err := gather.Gather(tableTensor(), gather.Vector([]int{1}), gather.Axis(0), gather.Axis(1))
	check(t, err)
	expect(t, "column", out.Data(), []float32{1, 11, 21, 31})
}

func TestFillWithAValueOfEachSize(t *testing.T) {
	checkFill(t, true)
	checkFill(t, int8(-7))
	checkFill(t, gather.BFloat16(0x3f80))
	checkFill(t, float32(-1.5))
	checkFill(t, math.Pi)
	checkFill(t, complex(1.5, -2.5))
}

func checkFill[T gather.Element](t *testing.T, value T) {
	t.Helper()
	out, err := gather.Gather(gather.Vector(make([]T, 2)), gather.Vector([]int{0, 9}),
		gather.Bounds(gather.BoundsFill), gather.FillWith(value))
	check(t, err)
	expect(t, "filled", out.Data(), []T{*new(T), value})
}

func TestFillWithAnotherTypeReturnsErrDType(t *testing.T) {
	_, err := gather.Gather(tableTensor(), gather.Vector([]int{9}), gather.Bounds(gather.BoundsFill), gather.FillWith(1.5))
	expectError(t, err, gather.ErrDType, gather.OperandOptions)
}

func TestSkipLeavesRowsUnchanged(t *testing.T) {
	out := []float32{-1, -2, -3, -4}
	err := gather.GatherInto(gather.NewOutput(out, 2, 2), tableTensor(), gather.Vector([]int{9, 1}), gather.Bounds(gather.BoundsSkip))
	check(t, err)
	expect(t, "out", out, []float32{-1, -2, 10, 11})
}

func TestErrorPartialNamesTheFirstInvalidIndex(t *testing.T) {
	ids := make([]int, 5000)
	ids[3000], ids[4000] = 9, -1
	_, err := gather.Gather(tableTensor(), gather.Vector(ids), gather.Bounds(gather.BoundsErrorPartial))
	var invalid *gather.IndexError
	if !errors.As(err, &invalid) || invalid.Position != 3000 || invalid.Value != 9 {
		t.Fatalf("the error is %v", err)
	}
	out, err := gather.Gather(tableTensor(), gather.Vector(ids[:3000]), gather.Bounds(gather.BoundsErrorPartial))
	check(t, err)
	want, err := gather.Gather(tableTensor(), gather.Vector(ids[:3000]))
	check(t, err)
	expect(t, "out", out.Data(), want.Data())
}

func TestStridedColumnsOfRecords(t *testing.T) {
	type record struct { // The test uses only the memory of records.
		id     int32
		vector [2]float32
	}
	records := []record{{7, [2]float32{1, 2}}, {8, [2]float32{3, 4}}, {9, [2]float32{5, 6}}}
	size := int(unsafe.Sizeof(records[0]))
	memory := unsafe.Slice((*byte)(unsafe.Pointer(&records[0])), len(records)*size)
	vectors := gather.Strided[float32](memory, int(unsafe.Offsetof(records[0].vector)), []int{3, 2}, []int{size, 4})
	out, err := gather.Gather(vectors, gather.Vector([]int{2, 0}))
	check(t, err)
	expect(t, "vectors", out.Data(), []float32{5, 6, 1, 2})
}

func TestStridedOutput(t *testing.T) {
	out := make([]float32, 6)
	columns := gather.Strided[float32](out, 4, []int{2, 2}, []int{12, 4})
	check(t, gather.GatherInto(columns.Output(), tableTensor(), gather.Vector([]int{3, 1})))
	expect(t, "out", out, []float32{0, 30, 31, 0, 10, 11})
}

// global has pointers next to numbers. cgo must accept the memory of its numbers.
var global struct {
	pointer *int
	rows    [4]float32
}

func TestMemoryNextToPointersIsAccepted(t *testing.T) {
	value := 1
	holder := &struct {
		pointer *int
		rows    [4]float32
	}{&value, [4]float32{1, 2, 3, 4}}
	global.pointer, global.rows = &value, holder.rows
	for _, rows := range [][]float32{global.rows[:], holder.rows[:]} {
		out, err := gather.Gather(gather.Vector(rows), gather.Vector([]int{3}))
		check(t, err)
		expect(t, "row", out.Data(), []float32{4})
	}
}

func TestDataOfStridedAndShapedTensorsIsNil(t *testing.T) {
	if gather.Strided[float32](table, 0, []int{2}, nil).Data() != nil || gather.Shaped[int8](2).Data() != nil {
		t.Error("a strided or shaped tensor has data")
	}
	expect(t, "data", tableTensor().Data(), table)
}

func TestOutputShape(t *testing.T) {
	shape, err := gather.OutputShape(gather.Shaped[float32](100, gather.Open, 8), gather.Shaped[int64](7), gather.Axis(0))
	check(t, err)
	expect(t, "gather", shape, []int{7, gather.Open, 8})
	shape, err = gather.OutputShapeND(gather.Shaped[bool](2, 3, 4), gather.Shaped[int8](2, 5, 1), gather.BatchDims(1))
	check(t, err)
	expect(t, "gather_nd", shape, []int{2, 5, 4})
	_, err = gather.OutputShape(tableTensor(), tableTensor())
	expectError(t, err, gather.ErrDType, gather.OperandIndices)
}

func TestProfilesTreatNegativeIndicesDifferently(t *testing.T) {
	ids := gather.Vector([]int{-1})
	_, err := gather.Gather(tableTensor(), ids, gather.WithProfile(gather.ProfileTensorFlow))
	expectError(t, err, gather.ErrIndex, gather.OperandIndices)
	out, err := gather.Gather(tableTensor(), ids, gather.WithProfile(gather.ProfileONNX), gather.Opset(11))
	check(t, err)
	expect(t, "onnx", out.Data(), []float32{30, 31})
}

func TestVersionAndCapabilities(t *testing.T) {
	info, err := gather.Capabilities()
	check(t, err)
	if info.Version != gather.Version() || strings.Count(info.Version, ".") != 2 || info.ABI != 1 || info.CPUThreads < 1 {
		t.Errorf("%+v", info)
	}
	if info.TiersBuilt&gather.TierPortable == 0 || info.TiersUsable&info.Tier == 0 {
		t.Errorf("tiers: %+v", info)
	}
	if (info.CUDADriver == 0 || info.CUDARuntime == 0) && len(info.Devices) > 0 {
		t.Errorf("devices without CUDA: %+v", info)
	}
}
