package gather

// The functions without the directive nocallback may run release functions of the producer, which may be those of Go.

// #include "columns.h"
// #cgo noescape gather_go_resolve
// #cgo nocallback gather_go_resolve
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Column is a sequence of rows in the format of the Arrow C data interface: arrays of one type, the chunks, which are
// never joined. Rows may be null. A column of structs is a table. Pointers to structs of this interface have the type
// unsafe.Pointer. Pointers to CArrowSchema and CArrowArray of the package arrow/cdata may be converted to it.
//
// A column is immutable. Any number of goroutines may take rows of it. Close may be called during calls, which still
// complete. A call with a closed column returns ErrHandle.
type Column struct {
	owner owner
}

// NewColumn makes a column from a struct ArrowSchema, the type, and structs ArrowArray. If it succeeds, the column owns
// the arrays, and the field release of each struct is NULL. If it fails, the caller still owns them. The schema is only
// read.
//
// The arrays are released when the column has been closed, and all results that share memory with it have been
// released. Their release function may run on any thread. The pointers must be those of different valid structs. Memory
// of the arrays must not change before it is released, and must be C memory or pinned.
func NewColumn(schema unsafe.Pointer, chunks ...unsafe.Pointer) (*Column, error) {
	if errABI != nil {
		return nil, errABI
	}
	var pinner runtime.Pinner // The list of chunks may contain Go pointers.
	defer pinner.Unpin()
	for _, chunk := range chunks {
		pinner.Pin(chunk)
	}
	var handle C.gather_go_handle
	failure := C.gather_go_column(schema, C.int64_t(len(chunks)), unsafe.SliceData(chunks), &handle)
	return ownColumn(handle, failure)
}

// NewColumnFromStream makes a column from all arrays of a struct ArrowArrayStream. A stream of record batches is a
// column of structs. If it succeeds, the stream has been released. If it fails, the caller releases the stream, whose
// arrays are lost. Other rules are those of [NewColumn].
func NewColumnFromStream(stream unsafe.Pointer) (*Column, error) {
	if errABI != nil {
		return nil, errABI
	}
	var handle C.gather_go_handle
	failure := C.gather_go_column_stream(stream, &handle)
	return ownColumn(handle, failure)
}

func ownColumn(handle C.gather_go_handle, failure *C.gather_go_error) (*Column, error) {
	if failure != nil {
		return nil, takeError(failure)
	}
	column := &Column{}
	own(column, &column.owner, handle, releaseColumn)
	return column, nil
}

func releaseColumn(handle C.gather_go_handle) { C.gather_go_column_release(handle) }

// Close releases the column when the current calls with it have returned. Results stay valid. Closing again does
// nothing.
func (c *Column) Close() error {
	if c != nil {
		c.owner.close()
	}
	return nil
}

// Nulls are the indices of [Take] and [Resolve] that select null. For the zero value no index does.
type Nulls struct {
	// Validity has a bit for each index, in the order of Arrow, least significant first. An index whose bit is 0
	// selects null, whatever its value is. The bits have the order of the indices. If Validity is nil, no index is null.
	Validity []byte
	// Offset is the number of the bit of the first index.
	Offset int
	// Bounds makes an index out of bounds select null. The option [Bounds] must then not be set.
	Bounds bool
	// Record means that the column is a table: a null index gives null in each child of its structs, and the structs
	// themselves have no nulls, as record batches require.
	Record bool
}

func (n *Nulls) flags() (flags C.uint32_t) {
	if n.Bounds {
		flags |= C.GTH_TAKE_NULL
	}
	if n.Record {
		flags |= C.GTH_TAKE_RECORD
	}
	return flags
}

// check rejects a validity that has fewer bits than there are indices. The library does not have its size.
func (n *Nulls) check(indices int) error {
	have := 8 * len(n.Validity)
	if n.Validity == nil || n.Offset < 0 || n.Offset <= have && indices <= have-n.Offset {
		return nil // The library rejects a negative offset.
	}
	message := fmt.Sprintf("the validity has %d bits, %d are read from bit %d", have, indices, n.Offset)
	return fail(ErrSize, OperandIndices, have, min(n.Offset, 1<<62)+min(indices, 1<<62), message)
}

// Take writes rows of a column to a struct ArrowSchema and a struct ArrowArray, which has offset 0. The caller owns
// their content and calls their release functions, or imports them. If Take fails, they are unchanged. schema and array
// are addresses of memory for the structs. schema may be nil. Then an array that must become a large one returns
// ErrSize.
//
// Nulls of the column and null indices are null in the result. The result has the type of the column, except that
// strings, binary and lists become large ones if 32-bit offsets cannot describe them. Dictionaries, and large parts of
// views, are shared with the column, also after Close.
//
// The options [Negative], [Bounds], [WithProfile], [Threads] and [In] are used. [BoundsFill] and [BoundsSkip] return
// ErrUnsupported. An index out of bounds is an [*IndexError], before any row is read. A malformed row returns ErrArrow
// with the position of its index.
func Take[I Index](schema, array unsafe.Pointer, column *Column, indices Tensor[I], nulls Nulls,
	options ...Option) error {
	return take(schema, array, column, &indices.view, &nulls, options)
}

func take(schema, array unsafe.Pointer, column *Column, indices *view, nulls *Nulls, options []Option) error {
	if column == nil {
		return fail(ErrNull, OperandParams, 0, 0, "the column is nil")
	}
	if _, err := nulls.begin(indices); err != nil {
		return err
	}
	defer indices.end()
	var s settings
	s.applyAll(options)
	context, handle, err := s.context.beginWith(&column.owner, OperandParams)
	if err != nil {
		return err
	}
	defer s.context.endWith(&column.owner)
	return takeError(C.gather_go_column_take(context, handle, nulls.flags(),
		&indices.numbers, indices.cData(), indices.cShape(), indices.cStrides(),
		nulls.cValidity(), C.int64_t(nulls.Offset), s.cOptions(), schema, array))
}

// Resolve validates indices into a number of rows, for a caller that moves the rows itself. The result has a row number
// for each index, in row-major order. It is -1 for a null index, and for an index that selects no row. Options and
// errors are those of [Take], but BoundsFill and BoundsSkip give -1. Nulls.Record returns ErrVersion.
func Resolve[I Index](rows int, indices Tensor[I], nulls Nulls, options ...Option) ([]int, error) {
	return resolve(rows, &indices.view, &nulls, options)
}

func resolve(rows int, indices *view, nulls *Nulls, options []Option) ([]int, error) {
	count, err := nulls.begin(indices)
	if err != nil {
		return nil, err
	}
	defer indices.end()
	memory, err := newNumbers(count)
	if err != nil {
		return nil, err
	}
	var s settings
	s.applyAll(options)
	context, err := s.context.begin()
	if err != nil {
		return nil, err
	}
	defer s.context.end()
	failure := C.gather_go_resolve(context, C.int64_t(rows), nulls.flags(),
		&indices.numbers, indices.cData(), indices.cShape(), indices.cStrides(),
		nulls.cValidity(), C.int64_t(nulls.Offset), s.cOptions(), C.int64_t(count), cInts(unsafe.SliceData(memory[0])))
	if failure != nil {
		return nil, takeError(failure)
	}
	return memory[0], nil
}

// begin checks what the library cannot, begins a call with the indices, and returns their number. The number is 0 if
// the library rejects the shape.
func (n *Nulls) begin(indices *view) (count int, err error) {
	switch {
	case errABI != nil:
		return 0, errABI
	case indices.has(C.GATHER_GO_INVALID):
		return 0, indices.mismatch(OperandIndices)
	}
	if all, ok := byteCount(1, indices.shape()); ok {
		count = all
	}
	if err := n.check(count); err != nil {
		return 0, err
	}
	return count, indices.begin(OperandIndices)
}

func (n *Nulls) cValidity() *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(n.Validity)) }
