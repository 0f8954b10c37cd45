// Package arrowgo tests the columns of the package gather with those of Arrow's library for Go.
package arrowgo

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/cdata"
	"github.com/apache/arrow-go/v18/arrow/memory/mallocator"

	"libgather.io/gather"
)

// The types of a table, whose names are those of the types.
var types = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint64,
	arrow.PrimitiveTypes.Float32, &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Paris"},
	&arrow.Decimal128Type{Precision: 20, Scale: 2}, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString,
	arrow.BinaryTypes.StringView, arrow.BinaryTypes.Binary, arrow.ListOf(arrow.PrimitiveTypes.Int32),
	arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32),
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
	arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int16, Nullable: true}),
}

// Arrow's library exports the offset of a slice of structs twice, so slices have no structs.
var typesOfSlices = types[:len(types)-1]

// valueOf returns the text of a value of a type. Each row of five is null.
func valueOf(kind arrow.DataType, row int) string {
	if row%5 == 4 {
		return array.NullValueStr
	}
	switch kind.ID() {
	case arrow.BOOL:
		return fmt.Sprint(row%2 == 0)
	case arrow.TIMESTAMP:
		return fmt.Sprintf("2020-02-%02dT12:00:00Z", row%28+1)
	case arrow.BINARY:
		return "d29yZA==" // base64
	case arrow.LIST:
		return fmt.Sprintf("[%d,null]", row)
	case arrow.FIXED_SIZE_LIST:
		return fmt.Sprintf("[%d,1]", row)
	case arrow.STRUCT:
		return fmt.Sprintf(`{"a":%d}`, row)
	default:
		return fmt.Sprint(row)
	}
}

// newTable returns a table that has a value of each type in each row. Its buffers are C memory.
func newTable(t *testing.T, types []arrow.DataType, rows ...int) arrow.Record {
	t.Helper()
	fields := []arrow.Field{}
	for _, kind := range types {
		fields = append(fields, arrow.Field{Name: kind.String(), Type: kind, Nullable: true})
	}
	builder := array.NewRecordBuilder(mallocator.NewMallocator(), arrow.NewSchema(fields, nil))
	defer builder.Release()
	for _, row := range rows {
		for column, kind := range types {
			text := valueOf(kind, row)
			if row < 0 {
				text = array.NullValueStr
			}
			if err := builder.Field(column).AppendValueFromString(text); err != nil {
				t.Fatal(kind, err)
			}
		}
	}
	return builder.NewRecord()
}

// take returns rows of a table.
func take[I gather.Index](table arrow.Record, ids []I, options ...gather.Option) (arrow.Record, error) {
	var schema, rowsSchema cdata.CArrowSchema
	var structs, rows cdata.CArrowArray
	cdata.ExportArrowRecordBatch(table, &structs, &schema)
	defer cdata.ReleaseCArrowSchema(&schema)
	column, err := gather.NewColumn(unsafe.Pointer(&schema), unsafe.Pointer(&structs))
	if err != nil {
		cdata.ReleaseCArrowArray(&structs)
		return nil, err
	}
	defer column.Close()
	nulls := gather.Nulls{Bounds: true, Record: true}
	err = gather.Take(unsafe.Pointer(&rowsSchema), unsafe.Pointer(&rows), column, gather.Vector(ids), nulls, options...)
	if err != nil {
		return nil, err
	}
	defer cdata.ReleaseCArrowSchema(&rowsSchema)
	return cdata.ImportCRecordBatch(&rows, &rowsSchema)
}

func TestRowsOfARecordEqualThoseThatAreBuilt(t *testing.T) {
	table := newTable(t, types, 0, 1, 2, 3, 4, 5, 6)
	defer table.Release()
	for _, ids := range [][]int32{{6, 0, 4, 4, 3}, {}, {-1, 2, 99}} {
		wanted := []int{}
		for _, id := range ids {
			if id < 0 || id > 6 {
				id = -1
			}
			wanted = append(wanted, int(id))
		}
		expected := newTable(t, types, wanted...)
		rows, err := take(table, ids)
		if err != nil {
			t.Fatal(err)
		}
		if rows.NumRows() != int64(len(ids)) || !rows.Schema().Equal(table.Schema()) {
			t.Errorf("rows %d of schema %v", rows.NumRows(), rows.Schema())
		}
		for column := range types {
			made, built := rows.Column(column), expected.Column(column)
			if fmt.Sprint(texts(made)) != fmt.Sprint(texts(built)) {
				t.Errorf("%v: rows %v are %v, not %v", types[column], ids, made, built)
			}
		}
		rows.Release()
		expected.Release()
	}
}

func texts(column arrow.Array) (all []string) {
	for row := range column.Len() {
		all = append(all, column.ValueStr(row))
	}
	return all
}

func TestRowsOfASliceOfARecord(t *testing.T) {
	table := newTable(t, typesOfSlices, 0, 1, 2, 3, 4, 5)
	defer table.Release()
	slice := table.NewSlice(2, 5)
	defer slice.Release()
	rows, err := take(slice, []uint8{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	for column := range typesOfSlices {
		if got, want := rows.Column(column).ValueStr(1), table.Column(column).ValueStr(3); got != want {
			t.Errorf("%v: the row is %s, not %s", types[column], got, want)
		}
	}
}

func TestIndexOutOfBoundsIsAnError(t *testing.T) {
	table := newTable(t, types, 0, 1)
	defer table.Release()
	var schema cdata.CArrowSchema
	var structs, rows cdata.CArrowArray
	cdata.ExportArrowRecordBatch(table, &structs, &schema)
	defer cdata.ReleaseCArrowSchema(&schema)
	column, err := gather.NewColumn(unsafe.Pointer(&schema), unsafe.Pointer(&structs))
	if err != nil {
		t.Fatal(err)
	}
	defer column.Close()
	err = gather.Take(nil, unsafe.Pointer(&rows), column, gather.Vector([]int{1, 2}), gather.Nulls{Record: true})
	var invalid *gather.IndexError
	if !errors.As(err, &invalid) || invalid.Position != 1 || invalid.Value != 2 {
		t.Errorf("the error is %v", err)
	}
}

// The memory of exported arrays and of rows is released.
func TestMemoryIsReleased(t *testing.T) {
	pool := mallocator.NewMallocator()
	builder := array.NewStringBuilder(pool)
	builder.AppendValues([]string{"zero", "one"}, nil)
	words := builder.NewArray()
	builder.Release()
	fields := []arrow.Field{{Name: "words", Type: words.DataType(), Nullable: true}}
	table := array.NewRecord(arrow.NewSchema(fields, nil), []arrow.Array{words}, 2)
	words.Release()
	for range 1000 {
		rows, err := take(table, []int{1, 0})
		if err != nil {
			t.Fatal(err)
		}
		rows.Release()
	}
	table.Release()
	if size := pool.AllocatedBytes(); size != 0 {
		t.Errorf("%d bytes are still allocated", size)
	}
}
