package gather

// #include "packed.h"
// #cgo nocallback gather_go_prefetch
// #cgo noescape gather_go_prefetch
// #cgo nocallback gather_go_stats
// #cgo noescape gather_go_stats
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unsafe"
)

// Table is a table in files, which may be larger than memory, or in several pieces of memory. [Table.Tensor] can be the
// params of [Gather], [GatherND], [GatherElements] and [GatherBags], of their other forms, and of plans. As any other
// operand, it returns [ErrUnsupported]. Only the rows that indices select are read, and many at once.
//
// If a row cannot be read, a call returns an [*IOError]. Some rows of the output may have been written then. The files
// must not change while they are open. If a file becomes shorter, rows beyond its end return an IOError. With [Mapped],
// there is an exception: a page that an earlier call has read raises SIGBUS. A file that is removed stays readable.
//
// A Table pins the memory of its segments until it is released. That memory must not change during calls. Any number of
// goroutines may use one Table. Close may be called during calls, which still complete. A call with a closed Table
// returns ErrHandle. The garbage collector releases a Table that is unreachable and not closed.
type Table[T Element] struct {
	view  view
	owner owner
}

// Segment is a number of consecutive rows of a [Table]. They are in the file Path. If Path is empty, they are in File.
// If File is nil, they are in Memory.
type Segment struct {
	Path      string
	File      *os.File // an open file, of which the table makes a duplicate
	Memory    []byte
	Offset    int // the byte of the first row. It needs no alignment
	Rows      int
	RowStride int // the bytes from row to row. 0 means that the rows follow each other
}

// InMemory returns a segment of rows that follow each other in data.
func InMemory[T Element](data []T, rows int) Segment {
	return Segment{Memory: unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), byteLen(data)), Rows: rows}
}

// A TableOption changes a default of [OpenTable].
type TableOption func(*packing)

// Mapped maps the files instead of reading them. A row that was read before then costs as much as a row in memory.
// resident is the budget of mapped memory in bytes, at least 8 MiB, or 0 for no budget. With a budget, rows cost more
// than without Mapped if they are not read again. Windows has no maps of files, and reads them.
func Mapped(resident int) TableOption {
	return func(p *packing) {
		p.files.options.mode, p.files.options.resident = C.GTH_FILES_MAP, C.int64_t(resident)
	}
}

// Format sets the format of packed rows, as [NewPacked] does. [RowStrides] has no effect.
func Format(codec string, options ...PackedOption) TableOption {
	return func(p *packing) {
		p.format = &codec
		for _, option := range options {
			option(p)
		}
	}
}

// OpenTable opens a table. The shape is that of all segments, so shape[0] is the sum of their rows. A row of a segment
// is an entry of dim 0. Files are opened here and must have all rows, but no row is read. Close the table after use.
//
// A file that cannot be opened or is too short returns an [*IOError], whose Component is the segment. Short memory
// returns [ErrStride], and wrong rows [ErrShape]. Elements cannot be bools, because a file may have other bytes.
func OpenTable[T Element](shape []int, segments []Segment, options ...TableOption) (*Table[T], error) {
	given := packing{rows: newView(DTypeOf[T](), 0, slices.Clone(shape), nil)}
	for _, option := range options {
		option(&given)
	}
	if given.rows.dtype() == DTypeBool {
		return nil, fail(ErrUnsupported, OperandTensor, 0, 0, "a file has no bools, use uint8")
	}
	given.strides = nil
	given.rows.numbers.place = 0
	var name []byte
	if given.format != nil {
		var err error
		if name, err = codecName(*given.format); err != nil {
			return nil, err
		}
	} else if errABI != nil {
		return nil, errABI
	}
	pins := new(runtime.Pinner)
	if err := given.setSegments(segments, pins); err != nil {
		pins.Unpin()
		return nil, err
	}
	handle, release, err := given.borrow(name, pins)
	runtime.KeepAlive(segments)
	if err != nil {
		return nil, err
	}
	t := &Table[T]{}
	own(t, &t.owner, handle, release)
	t.view = given.bound(&t.owner)
	return t, nil
}

// noMemory is the address of memory without bytes.
var noMemory byte

// setSegments describes the segments for C, and pins their memory.
func (p *packing) setSegments(segments []Segment, pins *runtime.Pinner) error {
	described := make([]C.gth_segment, len(segments))
	addresses := make([]*C.gth_segment, len(segments))
	for i := range segments {
		given, segment := &segments[i], &described[i]
		*segment = C.gth_segment{size: C.sizeof_gth_segment, offset: C.int64_t(given.Offset),
			rows: C.int64_t(given.Rows), row_stride: C.int64_t(given.RowStride)}
		switch {
		case given.Path != "":
			if strings.IndexByte(given.Path, 0) >= 0 {
				return failOpen(i, given.Path, syscall.EINVAL)
			}
			path := append([]byte(given.Path), 0)
			pins.Pin(unsafe.SliceData(path))
			segment.path = (*C.char)(unsafe.Pointer(unsafe.SliceData(path)))
		case given.File != nil:
			segment.file, segment.flags = C.int64_t(given.File.Fd()), C.GTH_SEGMENT_FILE
		default:
			segment.data = unsafe.Pointer(&noMemory)
			if len(given.Memory) > 0 {
				pins.Pin(unsafe.SliceData(given.Memory))
				segment.data = unsafe.Pointer(unsafe.SliceData(given.Memory))
			}
			segment.extent, segment.flags = C.int64_t(len(given.Memory)), C.GTH_SEGMENT_EXTENT
		}
		addresses[i] = segment
	}
	pins.Pin(unsafe.SliceData(described))
	pins.Pin(unsafe.SliceData(addresses))
	p.files.count, p.files.segments = C.int64_t(len(segments)), unsafe.SliceData(addresses)
	return nil
}

// failOpen returns the error of a file that this package cannot open or read.
func failOpen(segment int, path string, cause syscall.Errno) error {
	err := fail(ErrIO, OperandFile, 0, 0, fmt.Sprintf("segment %d: cannot open '%s': %v", segment, path, cause))
	err.Component, err.Native = segment, int(cause)
	return (*IOError)(err)
}

// Tensor returns an operand for calls. After t is closed, a call with it returns ErrHandle. Runs of a plan for it take
// nil params.
func (t *Table[T]) Tensor() Tensor[T] { return Tensor[T]{t.view} }

// Shape returns the extents. The caller must not change them.
func (t *Table[T]) Shape() []int { return t.view.shape() }

func (t *Table[T]) describe() *view {
	if t == nil {
		return nil
	}
	return &t.view
}

// Prefetch requests the rows that indices select along axis 0 from the system, and does not wait for them. A later
// gather of these rows waits less. indices is a tensor of integers of any shape. Indices out of bounds are ignored.
func (t *Table[T]) Prefetch(indices Described) error {
	ids := viewOf(indices)
	if ids == nil {
		return fail(ErrNull, OperandIndices, 0, 0, "nil")
	}
	if ids.has(C.GATHER_GO_INVALID) {
		return ids.mismatch(OperandIndices)
	}
	if err := ids.begin(OperandIndices); err != nil {
		return err
	}
	defer ids.end()
	handle, err := t.owner.begin(OperandTensor)
	if err != nil {
		return err
	}
	defer t.owner.end()
	return takeError(C.gather_go_prefetch(handle, &ids.numbers, ids.cData(), ids.cShape(), ids.cStrides()))
}

// TableStats are counters of a [Table] since it was opened.
type TableStats struct {
	Mapped    bool // true if the files are mapped
	Rows      int  // rows that were read, which rows of a map need not be. Parts of a row count too
	Requested int  // rows, or pages of a map, that were not in memory and were requested
	Releases  int  // how often pages left the memory of the process because of the budget
	Resident  int  // the mapped memory after the last call in bytes, or 0 without a budget
}

// Stats returns the counters of the table.
func (t *Table[T]) Stats() (TableStats, error) {
	handle, err := t.owner.begin(OperandTensor)
	if err != nil {
		return TableStats{}, err
	}
	defer t.owner.end()
	var stats C.gth_files_stats
	if err := C.gather_go_stats(handle, &stats); err != nil {
		return TableStats{}, takeError(err)
	}
	return TableStats{stats.mode == C.GTH_FILES_MAP, int(stats.rows), int(stats.requested), int(stats.releases),
		int(stats.resident)}, nil
}

// Close releases the table when the current calls with it have returned. Closing again does nothing.
func (t *Table[T]) Close() error {
	if t != nil {
		t.owner.close()
	}
	return nil
}
