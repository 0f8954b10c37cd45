package gather_test

import (
	"encoding/binary"
	"errors"
	"math"
	"sync"
	"testing"
	"unsafe"

	"libgather.io/gather"
	"libgather.io/gather/internal/arrow"
)

func littleEndian[T int32 | int64](numbers ...T) []byte {
	data, err := binary.Append(nil, binary.NativeEndian, numbers)
	if err != nil {
		panic(err)
	}
	return data
}

// numberColumn returns the column [10, null, 30, 40].
func numberColumn(t *testing.T) *gather.Column {
	t.Helper()
	array := arrow.NewArray(4, []byte{0b1101}, littleEndian[int64](10, -1, 30, 40))
	return newColumn(t, "l", array)
}

// wordColumn returns the column ["zero", null, "", "drei"]. The last offset is end.
func wordColumn(t *testing.T, end int32) *gather.Column {
	t.Helper()
	array := arrow.NewArray(4, []byte{0b1101}, littleEndian[int32](0, 4, 4, 4, end), []byte("zerodrei"))
	return newColumn(t, "u", array)
}

func newColumn(t *testing.T, format string, arrays ...*arrow.Array) *gather.Column {
	t.Helper()
	chunks := []unsafe.Pointer{}
	for _, array := range arrays {
		chunks = append(chunks, array.Pointer())
	}
	schema := arrow.NewSchema(format)
	defer schema.Release()
	column, err := gather.NewColumn(schema.Pointer(), chunks...)
	check(t, err)
	for _, array := range arrays {
		if !array.IsReleased() {
			t.Error("the column does not own an array")
		}
	}
	return column
}

// takeRows returns the rows as an array that the test releases.
func takeRows[I gather.Index](t *testing.T, column *gather.Column, indices []I, nulls gather.Nulls,
	options ...gather.Option) *arrow.Array {
	t.Helper()
	schema, array := &arrow.Schema{}, &arrow.Array{}
	check(t, gather.Take(schema.Pointer(), array.Pointer(), column, gather.Vector(indices), nulls, options...))
	expect(t, "rows", []int{array.Len(), array.Offset()}, []int{len(indices), 0})
	schema.Release()
	if !schema.IsReleased() {
		t.Error("the schema has no release function")
	}
	return array
}

func isValid(array *arrow.Array, row int) bool {
	validity := arrow.Buffer[byte](array, 0, row/8+1)
	return validity == nil || validity[row/8]>>(row%8)&1 == 1
}

const null = "null"

// words returns the strings of an array.
func words(array *arrow.Array) (all []string) {
	offsets := arrow.Buffer[int32](array, 1, array.Len()+1)
	text := arrow.Buffer[byte](array, 2, int(offsets[array.Len()]))
	for row := range array.Len() {
		if isValid(array, row) {
			all = append(all, string(text[offsets[row]:offsets[row+1]]))
		} else {
			all = append(all, null)
		}
	}
	return all
}

// nullNumber stands for null in the tests.
const nullNumber = math.MinInt64

func numbers(array *arrow.Array) (all []int64) {
	values := arrow.Buffer[int64](array, 1, array.Len())
	for row, value := range values {
		if !isValid(array, row) {
			value = nullNumber
		}
		all = append(all, value)
	}
	return all
}

func TestTakeOfNumbersWithNullsAndNullBounds(t *testing.T) {
	column := numberColumn(t)
	defer column.Close()
	rows := takeRows(t, column, []uint8{3, 0, 3, 9, 1, 2}, gather.Nulls{Bounds: true})
	expect(t, "numbers", numbers(rows), []int64{40, 10, 40, nullNumber, nullNumber, 30})
	rows.Release()
}

func TestTakeOfStringsWithNullIndices(t *testing.T) {
	column := wordColumn(t, 8)
	defer column.Close()
	nulls := gather.Nulls{Validity: []byte{0b1111_0100}, Offset: 2} // The index 77 is null.
	rows := takeRows(t, column, []int{3, 77, 2, -1, 1, 0}, nulls, gather.Negative(gather.NegativeWrap))
	expect(t, "words", words(rows), []string{"drei", null, "", "drei", null, "zero"})
	rows.Release()
}

func TestTakeOfChunksInAContext(t *testing.T) {
	column := newColumn(t, "l", arrow.NewArray(2, []byte{3}, littleEndian[int64](1, 2)),
		arrow.NewArray(2, []byte{3}, littleEndian[int64](3, 4)))
	defer column.Close()
	context, err := gather.NewContext(gather.ContextOptions{Threads: 1})
	check(t, err)
	defer context.Close()
	rows := takeRows(t, column, []int32{2, 1}, gather.Nulls{}, gather.In(context))
	expect(t, "numbers", numbers(rows), []int64{3, 2})
	rows.Release()
	check(t, context.Close())
	err = gather.Take(nil, (&arrow.Array{}).Pointer(), column, gather.Vector([]int{0}), gather.Nulls{},
		gather.In(context))
	expectError(t, err, gather.ErrHandle, gather.OperandContext)
}

func TestTakeWithInvalidIndexReturnsPositionValueAndLimit(t *testing.T) {
	column := numberColumn(t)
	defer column.Close()
	array := &arrow.Array{}
	take := func(options ...gather.Option) error {
		ids := gather.Vector([]int{0, 3, 4, 5})
		return gather.Take(nil, array.Pointer(), column, ids, gather.Nulls{}, options...)
	}
	var found *gather.IndexError
	if err := take(); !errors.As(err, &found) || found.Position != 2 || found.Value != 4 || found.Limit != 4 {
		t.Errorf("got %v", err)
	}
	expectError(t, take(gather.Bounds(gather.BoundsFill)), gather.ErrUnsupported, gather.OperandOptions)
	if !array.IsReleased() {
		t.Error("an error changed the array")
	}
}

func TestTakeOfMalformedRowReturnsErrArrow(t *testing.T) {
	column := wordColumn(t, 3)
	defer column.Close()
	err := gather.Take(nil, (&arrow.Array{}).Pointer(), column, gather.Vector([]int{1, 3}), gather.Nulls{})
	if found := expectError(t, err, gather.ErrArrow, gather.OperandParams); found.Position != 1 {
		t.Errorf("%+v", *found)
	}
}

func TestMalformedArrayStaysWithItsOwner(t *testing.T) {
	array := arrow.NewArray(4, []byte{0b1111})
	for format, status := range map[string]gather.Status{"l": gather.ErrArrow, "+us:0": gather.ErrDType} {
		schema := arrow.NewSchema(format)
		_, err := gather.NewColumn(schema.Pointer(), array.Pointer())
		schema.Release()
		expectError(t, err, status, gather.OperandParams)
	}
	if array.IsReleased() {
		t.Error("a failed call released the array")
	}
	array.Release()
}

func TestArrayIsReleasedOnceWhenItsColumnIsClosed(t *testing.T) {
	before := arrow.Releases()
	expectReleases := func(what string, want int) {
		t.Helper()
		if got := arrow.Releases() - before; got != want {
			t.Errorf("%s: %d releases, not %d", what, got, want)
		}
	}
	column := numberColumn(t)
	rows := takeRows(t, column, []int{0}, gather.Nulls{})
	expectReleases("open", 0)
	check(t, column.Close())
	expectReleases("closed", 1)
	check(t, column.Close())
	expectReleases("closed again", 1)
	expect(t, "numbers", numbers(rows), []int64{10})
	rows.Release()
	err := gather.Take(nil, (&arrow.Array{}).Pointer(), column, gather.Vector([]int{0}), gather.Nulls{})
	expectError(t, err, gather.ErrHandle, gather.OperandParams)
	expectReleases("used again", 1)
}

// The long strings of the rows have 70,000 bytes, more than a quarter of the data. So the result shares their buffer.
func TestSharedMemoryIsReleasedAfterTheLastResult(t *testing.T) {
	before := arrow.Releases()
	view := append(littleEndian[int32](14), "four\x00\x00\x00\x00\x00\x00\x00\x00"...)
	column := newColumn(t, "vu", arrow.NewArray(1, []byte{1}, view, []byte("fourteen bytes"), littleEndian[int64](14)))
	rows := takeRows(t, column, make([]int, 5000), gather.Nulls{})
	check(t, column.Close())
	if arrow.Releases() != before {
		t.Error("released before the result")
	}
	rows.Release()
	if got := arrow.Releases() - before; got != 1 {
		t.Errorf("%d releases", got)
	}
}

func TestColumnHasAllArraysOfAStream(t *testing.T) {
	before := arrow.Releases()
	stream := arrow.NewStream(2, []byte{3}, littleEndian[int64](1, 2))
	column, err := gather.NewColumnFromStream(stream.Pointer())
	check(t, err)
	if !stream.IsReleased() {
		t.Error("the stream is not released")
	}
	rows := takeRows(t, column, []int{1, 0}, gather.Nulls{})
	expect(t, "numbers", numbers(rows), []int64{2, 1})
	rows.Release()
	check(t, column.Close())
	if got := arrow.Releases() - before; got != 1 {
		t.Errorf("%d releases", got)
	}
}

func TestGoroutinesShareAColumn(t *testing.T) {
	column := numberColumn(t)
	defer column.Close()
	var group sync.WaitGroup
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 500 {
				array := &arrow.Array{}
				err := gather.Take(nil, array.Pointer(), column, gather.Vector([]int{2, 1}), gather.Nulls{})
				if err != nil {
					t.Error(err)
					return
				}
				expect(t, "numbers", numbers(array), []int64{30, nullNumber})
				array.Release()
			}
		}()
	}
	group.Wait()
}

func TestNilColumnAndNilPointersReturnErrors(t *testing.T) {
	var column *gather.Column
	check(t, column.Close())
	ids := gather.Vector([]int{0})
	expectError(t, gather.Take(nil, nil, column, ids, gather.Nulls{}), gather.ErrNull, gather.OperandParams)
	open := numberColumn(t)
	defer open.Close()
	if err := gather.Take(nil, nil, open, ids, gather.Nulls{}); !errors.Is(err, gather.ErrNull) {
		t.Errorf("got %v", err)
	}
	if _, err := gather.NewColumn(nil); !errors.Is(err, gather.ErrNull) {
		t.Errorf("got %v", err)
	}
	schema := arrow.NewSchema("l")
	defer schema.Release()
	if _, err := gather.NewColumn(schema.Pointer(), nil); !errors.Is(err, gather.ErrNull) {
		t.Errorf("got %v", err)
	}
	if _, err := gather.NewColumnFromStream(nil); !errors.Is(err, gather.ErrNull) {
		t.Errorf("got %v", err)
	}
}

func TestTooShortValidityReturnsErrSize(t *testing.T) {
	ids := gather.Vector(make([]int, 7))
	rows, err := gather.Resolve(1, ids, gather.Nulls{Validity: []byte{0b1111_1110}, Offset: 1})
	check(t, err)
	expect(t, "rows", rows, make([]int, 7))
	for _, offset := range []int{2, math.MaxInt} {
		_, err := gather.Resolve(1, ids, gather.Nulls{Validity: []byte{0xff}, Offset: offset})
		if found := expectError(t, err, gather.ErrSize, gather.OperandIndices); found.Value != 8 {
			t.Errorf("%+v", *found)
		}
	}
	_, err = gather.Resolve(1, ids, gather.Nulls{Validity: []byte{0xff}, Offset: -1})
	if !errors.Is(err, gather.ErrSize) {
		t.Errorf("got %v", err)
	}
}

func TestResolveReturnsRowNumbers(t *testing.T) {
	ids := gather.New([]int{3, -1, 9, 0}, 2, 2)
	wrap := gather.Negative(gather.NegativeWrap)
	rows, err := gather.Resolve(5, ids, gather.Nulls{Bounds: true}, wrap)
	check(t, err)
	expect(t, "rows", rows, []int{3, 4, -1, 0})
	_, err = gather.Resolve(5, ids, gather.Nulls{}, wrap)
	if found := expectError(t, err, gather.ErrIndex, gather.OperandIndices); found.Position != 2 || found.Limit != 5 {
		t.Errorf("%+v", *found)
	}
	_, err = gather.Resolve(5, ids, gather.Nulls{Record: true})
	if !errors.Is(err, gather.ErrVersion) {
		t.Errorf("got %v", err)
	}
	_, err = gather.Resolve(5, gather.New([]int{0}, -1), gather.Nulls{})
	expectError(t, err, gather.ErrShape, gather.OperandIndices)
}
