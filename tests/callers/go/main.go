// A Go program that looks up embeddings with one cgo call for each lookup.
package main

/*
#include <gather/gather.h>

// The arguments are flat. The function builds the descriptions on the C stack, because cgo rejects Go pointers inside C
// structs.
static int32_t lookup(const float *table, int64_t rows, int64_t width, const int64_t *ids, int64_t n, float *out,
                      int32_t bounds, gth_error *err) {
  const int64_t params_shape[] = {rows, width};
  const int64_t out_shape[] = {n, width};
  const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, params_shape, table);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, &n, ids);
  const gth_tensor_desc result = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, out_shape, out);
  gth_options options = GTH_OPTIONS_INIT;
  options.bounds = bounds;
  return gth_gather(NULL, &params, &indices, &result, &options, err);
}

#cgo noescape lookup
#cgo nocallback lookup
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"unsafe"
)

// IndexError is the error of the first invalid id of a lookup.
type IndexError struct {
	Position, Value, Limit int64
	message                string
}

func (e *IndexError) Error() string { return e.message }

// A table holds vectors in Go memory. C uses the memory during a call only.
type table struct {
	data  []float32
	width int
}

func (t table) lookup(ids []int64, out []float32, bounds int32) error {
	if len(out) != len(ids)*t.width {
		return fmt.Errorf("out has %d elements, but must have %d", len(out), len(ids)*t.width)
	}
	err := C.gth_error{size: C.sizeof_gth_error}
	status := C.lookup((*C.float)(unsafe.SliceData(t.data)), C.int64_t(len(t.data)/t.width), C.int64_t(t.width),
		(*C.int64_t)(unsafe.SliceData(ids)), C.int64_t(len(ids)), (*C.float)(unsafe.SliceData(out)),
		C.int32_t(bounds), &err)
	switch status {
	case C.GTH_OK:
		return nil
	case C.GTH_E_INDEX:
		return &IndexError{int64(err.position), int64(err.value), int64(err.limit), text(err.message)}
	}
	return fmt.Errorf("%s: %s", C.GoString(C.gth_status_name(status)), text(err.message))
}

// text takes the message by value. If its address were passed to C.GoString, the struct would move to the heap.
func text(message [C.GTH_MESSAGE_SIZE]C.char) string {
	var text []byte
	for _, char := range message {
		if char == 0 {
			break
		}
		text = append(text, byte(char))
	}
	return string(text)
}

func (t table) row(id int64) []float32 { return t.data[int(id)*t.width : (int(id)+1)*t.width] }

func check(ok bool, format string, arguments ...any) {
	if !ok {
		fmt.Fprintf(os.Stderr, format+"\n", arguments...)
		os.Exit(1)
	}
}

func main() {
	abi := C.gth_abi_version()
	check(abi == C.GTH_ABI_VERSION, "library has ABI %d, this program was built for %d", abi, C.GTH_ABI_VERSION)

	words := table{make([]float32, 100*8), 8}
	for i := range words.data {
		words.data[i] = float32(i)
	}
	ids := []int64{99, 0, 42, 42}
	out := make([]float32, len(ids)*words.width)
	check(words.lookup(ids, out, 0) == nil, "a valid lookup failed")
	for i, id := range ids {
		got := out[i*words.width : (i+1)*words.width]
		check(slices.Equal(got, words.row(id)), "row %d is %v", id, got)
	}
	check(words.lookup(nil, nil, 0) == nil, "a lookup without ids failed")

	before := slices.Clone(out)
	err := words.lookup([]int64{1, 2, 100, -1}, out, 0)
	var index *IndexError
	check(errors.As(err, &index), "an invalid id returned %v", err)
	check(index.Position == 2 && index.Value == 100 && index.Limit == 100 && index.Error() != "", "%+v", index)
	check(slices.Equal(out, before), "an invalid id changed the output")

	check(words.lookup([]int64{1, 2, 100, -1}, out, C.GTH_BOUNDS_FILL) == nil, "a lookup with fill failed")
	check(slices.Equal(out[:8], words.row(1)) && slices.Equal(out[16:], make([]float32, 16)), "fill gave %v", out)
	check(words.lookup(ids, out, 99) != nil, "an unknown policy returned no error")

	allocations := testing.AllocsPerRun(1000, func() { _ = words.lookup(ids, out, 0) })
	check(allocations == 0, "%v allocations in a lookup", allocations)

	var group sync.WaitGroup
	for worker := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			own := make([]float32, words.width)
			for i := range 1000 {
				id := int64((worker*31 + i) % 100)
				check(words.lookup([]int64{id}, own, 0) == nil, "worker %d failed", worker)
				check(slices.Equal(own, words.row(id)), "worker %d: row %d is %v", worker, id, own)
			}
		}()
	}
	group.Wait()
	fmt.Println("go: lookups allocate nothing, and an invalid id returns an error value")
}
