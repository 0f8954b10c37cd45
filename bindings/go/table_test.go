package gather_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"libgather.io/gather"
)

// inPieces writes 7 rows to segments: 3 rows with gaps in a file, one in memory, 2 in an open file, and one at another
// place of the first file.
func inPieces(t *testing.T, rows []byte, rowBytes int) []gather.Segment {
	t.Helper()
	row := func(i int) []byte { return rows[i*rowBytes:][:rowBytes] }
	gap := []byte{1, 2, 3, 4, 5}
	first := writeFile(t, slices.Concat(row(6), gap[:2], row(0), gap, row(1), gap, row(2)))
	file, err := os.Open(writeFile(t, slices.Concat(gap, row(4), row(5), gap)))
	check(t, err)
	t.Cleanup(func() { check(t, file.Close()) })
	return []gather.Segment{
		{Path: first, Offset: rowBytes + 2, Rows: 3, RowStride: rowBytes + len(gap)},
		gather.InMemory(slices.Clone(row(3)), 1),
		{File: file, Offset: len(gap), Rows: 2},
		{Path: first, Rows: 1},
	}
}

func writeFile(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(makeFolder(t), "rows")
	check(t, os.WriteFile(path, data, 0o600))
	t.Cleanup(func() { check(t, os.Remove(path)) })
	return path
}

// makeFolder is t.TempDir without a function of Windows that Wine lacks. The folder must be empty at the end.
func makeFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "gather")
	check(t, err)
	t.Cleanup(func() { check(t, os.Remove(folder)) })
	return folder
}

func openTable[T gather.Element](t *testing.T, shape []int, segments []gather.Segment,
	options ...gather.TableOption) *gather.Table[T] {
	t.Helper()
	opened, err := gather.OpenTable[T](shape, segments, options...)
	check(t, err)
	t.Cleanup(func() { check(t, opened.Close()) })
	return opened
}

// tableModes are the options of each mode.
var tableModes = map[string][]gather.TableOption{
	"read":            nil,
	"map":             {gather.Mapped(0)},
	"map with budget": {gather.Mapped(8 << 20)},
}

func TestRowsOfFilesAreThoseOfMemory(t *testing.T) {
	const width = 9
	data := decode(width, func(row, j int) float32 { return float32(100*row+j) + 0.25 })
	for name, options := range tableModes {
		t.Run(name, func(t *testing.T) {
			shape := []int{packedRows, width}
			opened := openTable[float32](t, shape, inPieces(t, bytesOf(data), 4*width), options...)
			shape[0] = 9 // The table has its own shape.
			expectPacked(t, opened, data)
			places := []int{3, 6, 0, 5, 5, 1, 2, 4, 6}
			elements, err := gather.GatherElements(opened.Tensor(), gather.New(places, 1, width))
			check(t, err)
			want, err := gather.GatherElements(gather.New(data, packedRows, width), gather.New(places, 1, width))
			check(t, err)
			expect(t, "elements", bitsOf(elements.Data()), bitsOf(want.Data()))
			bags, ids := gather.BagOffsets(gather.Vector([]int{0, 3, 5})), gather.Vector([]int{6, 2, 3, 3, 0})
			sums, err := gather.GatherBags(opened.Tensor(), ids, bags)
			check(t, err)
			want, err = gather.GatherBags(gather.New(data, packedRows, width), ids, bags)
			check(t, err)
			expect(t, "bags", bitsOf(sums.Data()), bitsOf(want.Data()))

			out := slices.Repeat([]float32{7}, 2*width)
			err = gather.GatherInto(gather.NewOutput(out, 2, width), opened.Tensor(), gather.Vector([]int{6, 7}))
			var index *gather.IndexError
			if !errors.As(err, &index) || index.Position != 1 || index.Value != 7 || index.Limit != packedRows {
				t.Fatal(err)
			}
			expect(t, "output", out, slices.Repeat([]float32{7}, 2*width))

			check(t, opened.Prefetch(gather.New([]int16{0, 6, -9, 100}, 2, 2)))
			stats, err := opened.Stats()
			check(t, err)
			maps := runtime.GOOS != "windows"
			if stats.Mapped != (maps && name != "read") || name != "map" && stats.Rows == 0 || (stats.Resident > 0) != (maps && name == "map with budget") {
				t.Errorf("%+v", stats)
			}
			expectError(t, opened.Prefetch(opened), gather.ErrUnsupported, gather.OperandIndices)
			expectError(t, opened.Prefetch(gather.Vector(data)), gather.ErrDType, gather.OperandIndices)
			expectError(t, opened.Prefetch(nil), gather.ErrNull, gather.OperandIndices)
			expectError(t, opened.Prefetch(gather.Strided[int](places, 0, []int{2}, []int{8, 8})), gather.ErrRank, gather.OperandIndices)
		})
	}
}

func TestTablesInMemoryStayReachable(t *testing.T) {
	held := func() gather.Tensor[int32] {
		opened, err := gather.OpenTable[int32]([]int{128, 1}, []gather.Segment{
			gather.InMemory(slices.Repeat([]int32{5}, 64), 64), gather.InMemory(slices.Repeat([]int32{6}, 64), 64)})
		check(t, err)
		return opened.Tensor()
	}()
	expectHeld(t, held, []int{63, 64}, []int32{5, 6})
}

func TestTablesCloseDuringCalls(t *testing.T) {
	ids := gather.Vector([]int{6, 0, 3})
	rows := decode(4, func(row, j int) float32 { return float32(row) })
	for _, options := range tableModes {
		for name, call := range map[string]func(*gather.Table[float32]) error{
			"gather": func(opened *gather.Table[float32]) error {
				found, err := gather.Gather(opened.Tensor(), ids)
				if err == nil && !slices.Equal(found.Data(), []float32{6, 6, 6, 6, 0, 0, 0, 0, 3, 3, 3, 3}) {
					t.Error(found.Data())
				}
				return err
			},
			"prefetch": func(opened *gather.Table[float32]) error { return opened.Prefetch(ids) },
			"stats":    func(opened *gather.Table[float32]) error { _, err := opened.Stats(); return err },
		} {
			t.Run(name, func(t *testing.T) {
				opened := openTable[float32](t, []int{packedRows, 4}, inPieces(t, bytesOf(rows), 16), options...)
				closeDuring(t, func() error { return call(opened) }, opened)
			})
		}
	}
	var missing *gather.Table[float32]
	check(t, missing.Close())
	_, err := gather.OutputShape(missing, ids)
	expectError(t, err, gather.ErrNull, gather.OperandParams)
}

// expectIO checks the error of a segment.
func expectIO(t *testing.T, err error, cause error, segment int, position, value, limit int64) {
	t.Helper()
	found := expectError(t, err, gather.ErrIO, gather.OperandFile)
	var failed *gather.IOError
	if !errors.Is(err, cause) || !errors.As(err, &failed) || failed.Native != found.Native {
		t.Fatalf("got %v, want %v", err, cause)
	}
	if found.Component != segment || found.Position != position || found.Value != value || found.Limit != limit {
		t.Fatalf("got %+v", *found)
	}
}

func TestFilesThatCannotBeOpenedAreReported(t *testing.T) {
	good := gather.Segment{Path: writeFile(t, make([]byte, 24)), Rows: 3}
	closed, err := os.Open(good.Path)
	check(t, err)
	check(t, closed.Close())
	for name, test := range map[string]struct {
		segment      gather.Segment
		cause        error
		value, limit int64
	}{
		"missing":     {gather.Segment{Path: "missing", Rows: 1}, fs.ErrNotExist, 0, 0},
		"missing, as": {gather.Segment{Path: "missing", Rows: 1}, syscall.ENOENT, 0, 0},
		"folder":      {gather.Segment{Path: makeFolder(t), Rows: 1}, syscall.EISDIR, 0, 0},
		"zero byte":   {gather.Segment{Path: good.Path + "\x00", Rows: 1}, syscall.EINVAL, 0, 0},
		"closed":      {gather.Segment{File: closed, Rows: 1}, syscall.EBADF, 0, 0},
		"short":       {gather.Segment{Path: good.Path, Offset: 1, Rows: 3}, io.ErrUnexpectedEOF, 1, 24},
	} {
		if runtime.GOOS == "windows" && test.limit == 0 && name != "missing" {
			continue // Windows has other errors.
		}
		t.Run(name, func(t *testing.T) {
			_, err := gather.OpenTable[uint16]([]int{3 + test.segment.Rows, 4}, []gather.Segment{good, test.segment})
			expectIO(t, err, test.cause, 1, -1, test.value, test.limit)
			var number syscall.Errno
			if errors.As(err, &number) != (test.limit == 0) {
				t.Error(err)
			}
		})
	}
}

func TestAFileThatIsCutAfterOpeningIsReported(t *testing.T) {
	const rows = 4096 // of 16 bytes, which are more than a page
	for name, options := range tableModes {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, make([]byte, 16*rows))
			opened := openTable[int64](t, []int{rows + 1, 2}, []gather.Segment{gather.InMemory([]int64{1, 2}, 1), {Path: path, Rows: rows}}, options...)
			check(t, os.Truncate(path, 100))
			_, err := gather.Gather(opened.Tensor(), gather.Vector([]int{0, rows, 1, 2}))
			expectIO(t, err, io.ErrUnexpectedEOF, 1, 1, 16*(rows-1), 16)
			_, err = gather.GatherBags(opened.Tensor(), gather.New([]int{0, 1, 0, rows}, 2, 2), gather.Bags{}, gather.Bounds(gather.BoundsClamp))
			expectIO(t, err, io.ErrUnexpectedEOF, 1, 3, 16*(rows-1), 16)
		})
	}
}

func TestWrongTablesAreRejected(t *testing.T) {
	file := func(offset, rows, stride int) []gather.Segment {
		return []gather.Segment{{Path: os.Args[0], Offset: offset, Rows: rows, RowStride: stride}}
	}
	memory := func(bytes, offset, rows, stride int) []gather.Segment {
		return []gather.Segment{{Memory: make([]byte, bytes), Offset: offset, Rows: rows, RowStride: stride}}
	}
	const most = int(^uint(0) >> 1)
	for name, test := range map[string]struct {
		shape    []int
		segments []gather.Segment
		options  []gather.TableOption
		status   gather.Status
		operand  gather.Operand
	}{
		"no segments":         {[]int{0, 2}, nil, nil, gather.ErrShape, gather.OperandFile},
		"no dims":             {nil, file(0, 1, 0), nil, gather.ErrRank, gather.OperandTensor},
		"other rows":          {[]int{2, 2}, file(0, 1, 0), nil, gather.ErrShape, gather.OperandTensor},
		"no rows":             {[]int{0, 2}, file(0, 0, 0), nil, gather.ErrShape, gather.OperandFile},
		"negative rows":       {[]int{1, 2}, append(file(0, -1, 0), file(0, 1, 0)...), nil, gather.ErrShape, gather.OperandFile},
		"negative offset":     {[]int{1, 2}, file(-1, 1, 0), nil, gather.ErrStride, gather.OperandFile},
		"small stride":        {[]int{2, 2}, file(0, 2, 7), nil, gather.ErrStride, gather.OperandFile},
		"negative stride":     {[]int{2, 2}, memory(16, 8, 2, -8), nil, gather.ErrStride, gather.OperandFile},
		"large stride":        {[]int{3, 2}, file(0, 3, most), nil, gather.ErrSize, gather.OperandFile},
		"large offset":        {[]int{1, 2}, memory(8, most, 1, 0), nil, gather.ErrSize, gather.OperandFile},
		"large shape":         {[]int{most, most}, file(0, most, 0), nil, gather.ErrSize, gather.OperandTensor},
		"short memory":        {[]int{2, 2}, memory(15, 0, 2, 0), nil, gather.ErrStride, gather.OperandFile},
		"offset in memory":    {[]int{2, 2}, memory(16, 1, 2, 0), nil, gather.ErrStride, gather.OperandFile},
		"stride in memory":    {[]int{2, 2}, memory(16, 0, 2, 9), nil, gather.ErrStride, gather.OperandFile},
		"no memory":           {[]int{1, 2}, memory(0, 0, 1, 0), nil, gather.ErrStride, gather.OperandFile},
		"packed, short":       {[]int{1, 2, 32}, memory(67, 0, 1, 0), []gather.TableOption{gather.Format("q8_0")}, gather.ErrStride, gather.OperandFile},
		"packed, overflow":    {[]int{1, 0x1c71c71c71c71c72, 1}, memory(8, 0, 1, 0), []gather.TableOption{gather.Format("rowwise8")}, gather.ErrStride, gather.OperandTensor},
		"unknown format":      {[]int{1, 32}, memory(34, 0, 1, 0), []gather.TableOption{gather.Format("q9")}, gather.ErrVersion, gather.OperandCodec},
		"small budget":        {[]int{1, 2}, file(0, 1, 0), []gather.TableOption{gather.Mapped(1)}, gather.ErrVersion, gather.OperandOptions},
		"strides of a format": {[]int{1, 32}, memory(33, 0, 1, 0), []gather.TableOption{gather.Format("q8_0", gather.RowStrides(1, 1))}, gather.ErrStride, gather.OperandFile},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := gather.OpenTable[float32](test.shape, test.segments, test.options...)
			expectError(t, err, test.status, test.operand)
		})
	}
	_, err := gather.OpenTable[float32]([]int{3, 2}, append(memory(8, 0, 1, 0), memory(17, 2, 2, 0)...))
	short := expectError(t, err, gather.ErrStride, gather.OperandFile)
	if short.Component != 1 || short.Value != 18 || short.Limit != 17 {
		t.Errorf("%+v", *short)
	}
	_, err = gather.OpenTable[bool]([]int{1}, memory(1, 0, 1, 0))
	expectError(t, err, gather.ErrUnsupported, gather.OperandTensor)
	expect(t, "empty rows", openTable[int8](t, []int{2, 0}, memory(0, 0, 2, 0)).Shape(), []int{2, 0})
}

func TestTablesAreNoOtherOperand(t *testing.T) {
	opened := openTable[int64](t, []int{2, 1}, []gather.Segment{gather.InMemory([]int64{1, 0}, 2)}).Tensor()
	dense := gather.New([]int64{3, 4}, 2, 1)
	expectError(t, gather.GatherInto(opened.Output(), dense, gather.Vector([]int{1})), gather.ErrUnsupported, gather.OperandOut)
	_, err := gather.Gather(dense, opened)
	expectError(t, err, gather.ErrUnsupported, gather.OperandIndices)
	_, err = gather.Scatter(opened, gather.Vector([]int{1}), dense.Updates())
	expectError(t, err, gather.ErrUnsupported, gather.OperandTarget)
}

// safetensors returns a file. A negative length stands for that of the header.
func safetensors(header string, length int, data []byte) []byte {
	if length < 0 {
		length = len(header)
	}
	return slices.Concat(bytesOf([]int{length}), []byte(header), data)
}

func TestTensorsOfSafetensorsFollowEachOther(t *testing.T) {
	first := writeFile(t, safetensors(`{"__metadata__":{"format":"pt"},"b":{"dtype":"I16","shape":[2,2],"data_offsets":[8,16]},`+
		`"a":{"data_offsets":[0,8],"shape":[4],"dtype":"BF16"}}   `, -1, bytesOf([]int16{9, 9, 9, 9, 1, 2, 3, 4})))
	second := writeFile(t, safetensors(`{"b":{"dtype":"I16","shape":[1,2],"data_offsets":[0,4]}}`, -1, bytesOf([]int16{5, 6})))
	for _, options := range tableModes {
		opened, err := gather.OpenSafetensors[int16]("b", []string{first, second}, options...)
		check(t, err)
		expect(t, "shape", opened.Shape(), []int{3, 2})
		rows, err := gather.Gather(opened.Tensor(), gather.Vector([]int{2, 0, 1}))
		check(t, err)
		expect(t, "rows", rows.Data(), []int16{5, 6, 1, 2, 3, 4})
		check(t, opened.Close())
	}
	for _, refused := range []func() error{
		func() error { _, err := gather.OpenSafetensors[int16]("c", []string{first}); return err },
		func() error { _, err := gather.OpenSafetensors[uint16]("b", []string{first}); return err },
		func() error { _, err := gather.OpenSafetensors[int16]("b", []string{makeFolder(t)}); return err },
		func() error {
			wide := writeFile(t, safetensors(`{"b":{"dtype":"I16","shape":[1,3],"data_offsets":[0,6]}}`, -1, make([]byte, 6)))
			_, err := gather.OpenSafetensors[int16]("b", []string{first, wide})
			return err
		},
		func() error {
			scalar := writeFile(t, safetensors(`{"b":{"dtype":"I16","shape":[],"data_offsets":[0,2]}}`, -1, make([]byte, 2)))
			_, err := gather.OpenSafetensors[int16]("b", []string{scalar})
			return err
		},
	} {
		expectHeader(t, refused())
	}
	_, err := gather.OpenSafetensors[int16]("b", []string{first, "missing"})
	expectIO(t, err, fs.ErrNotExist, 1, -1, 0, 0)
}

func expectHeader(t *testing.T, err error) {
	t.Helper()
	var refused *gather.HeaderError
	if !errors.As(err, &refused) || refused.Path == "" || !strings.Contains(err.Error(), refused.Reason) {
		t.Fatalf("got %v", err)
	}
}

func openBytes(path string, data []byte) error {
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	opened, err := gather.OpenSafetensors[float32]("a", []string{path})
	return errors.Join(err, opened.Close())
}

func TestHostileHeadersAreRefused(t *testing.T) {
	path := writeFile(t, nil)
	tensor := func(name, dtype, shape, offsets string) string {
		return `"` + name + `":{"dtype":"` + dtype + `","shape":` + shape + `,"data_offsets":` + offsets + `}`
	}
	right := tensor("a", "F32", "[4,4]", "[0,64]")
	check(t, openBytes(path, safetensors("{"+right+"}", -1, make([]byte, 64))))
	for name, header := range map[string]string{
		"larger than its bytes": tensor("a", "F32", "[400,4]", "[0,64]"),
		"beyond the file":       tensor("a", "F32", "[8,4]", "[0,128]"),
		"end before begin":      tensor("a", "F32", "[4,4]", "[64,0]"),
		"product overflows":     tensor("a", "F32", "[4611686018427387904,4]", "[0,64]"),
		"2^64":                  tensor("a", "F32", "[4,18446744073709551620]", "[0,64]"),
		"negative":              tensor("a", "F32", "[-4,-4]", "[0,64]"),
		"fraction":              tensor("a", "F32", "[4.0,4]", "[0,64]"),
		"null extent":           tensor("a", "F32", "[null,4]", "[0,64]"),
		"null shape":            tensor("a", "F32", "null", "[0,64]"),
		"one offset":            tensor("a", "F32", "[4,4]", "[64]"),
		"overlap":               right + "," + tensor("b", "F32", "[4,4]", "[0,64]"),
		"hole":                  tensor("a", "F32", "[2,4]", "[32,64]"),
		"bytes left over":       tensor("a", "F32", "[2,4]", "[0,32]"),
		"same name twice":       right + "," + right,
		"same field twice":      `"a":{"dtype":"F32","shape":[4,4],"shape":[4,4],"data_offsets":[0,64]}`,
		"field in upper case":   `"a":{"DTYPE":"F32","shape":[4,4],"data_offsets":[0,64]}`,
		"unknown dtype":         tensor("a", "F31", "[4,4]", "[0,64]"),
		"part of a byte":        tensor("a", "F4", "[127]", "[0,64]"),
		"no object":             `"a":[4,4]`,
		"not UTF-8":             right + ",\"\xff\":" + right[4:],
		"deep":                  `"a":` + strings.Repeat("[", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			expectHeader(t, openBytes(path, safetensors("{"+header+"}", -1, make([]byte, 64))))
		})
	}
	for name, file := range map[string][]byte{
		"2^63 - 1 bytes":  safetensors("{"+right+"}", 1<<63-1, make([]byte, 64)),
		"200 MB":          safetensors("{"+right+"}", 200_000_000, make([]byte, 64)),
		"text behind it":  safetensors("{"+right+"}{}", -1, make([]byte, 64)),
		"array":           safetensors("["+right+"]", -1, make([]byte, 64)),
		"no header":       safetensors("", -1, make([]byte, 64)),
		"cut at the data": safetensors("{"+right+"}", -1, nil),
	} {
		t.Run(name, func(t *testing.T) { expectHeader(t, openBytes(path, file)) })
	}
	whole := safetensors("{"+right+"}", -1, make([]byte, 64))
	for size := range whole {
		expectHeader(t, openBytes(path, whole[:size]))
	}
	for i := range len(whole) - 64 {
		for bit := range 8 {
			changed := slices.Clone(whole)
			changed[i] ^= 1 << bit
			if err := openBytes(path, changed); err != nil {
				expectHeader(t, err)
			}
		}
	}
}
