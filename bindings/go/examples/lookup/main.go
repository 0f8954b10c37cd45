// Command lookup reads rows of a table by id.
//
//	lookup TABLE DIM IDS
//
// TABLE is a file of float32 rows with DIM elements each. IDS is a file of int64 ids. Both files are little-endian. The
// command writes the rows to standard output, and the time of a call to standard error.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
	"unsafe"

	"libgather.io/gather"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: lookup TABLE DIM IDS")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "lookup:", err)
		os.Exit(1)
	}
}

func run(tablePath, dimText, idsPath string) error {
	dim, err := strconv.Atoi(dimText)
	if err != nil || dim < 1 {
		return fmt.Errorf("DIM is %q, but must be a positive number", dimText)
	}
	table, err := read[float32](tablePath, dim)
	if err != nil {
		return err
	}
	ids, err := read[int64](idsPath, 1)
	if err != nil {
		return err
	}
	plan, err := gather.NewPlan(gather.Shaped[float32](len(table)/dim, dim), gather.Shaped[int64](gather.Open))
	if err != nil {
		return err
	}
	defer plan.Close()
	out := make([]float32, len(ids)*dim)
	call := func() error { return plan.Run(gather.To(out), table, ids, len(ids)) }
	if err := call(); err != nil {
		return err
	}
	if _, err := os.Stdout.Write(bytesOf(out)); err != nil {
		return err
	}
	return report(call, len(ids))
}

// report prints the time of the fastest call, because other programs disturbed it least.
func report(call func() error, rows int) error {
	fastest := time.Duration(1<<63 - 1)
	for range 100 {
		start := time.Now()
		if err := call(); err != nil {
			return err
		}
		fastest = min(fastest, time.Since(start))
	}
	fmt.Fprintf(os.Stderr, "%d rows, %d ns per call\n", rows, fastest.Nanoseconds())
	return nil
}

// read reads a file of complete rows. The machine must be little-endian, as the file is.
func read[T float32 | int64](path string, width int) ([]T, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	row := width * int(unsafe.Sizeof(*new(T)))
	if len(bytes)%row != 0 {
		return nil, fmt.Errorf("%s has %d bytes, which is not a multiple of the row size %d", path, len(bytes), row)
	}
	values := make([]T, len(bytes)/row*width)
	copy(bytesOf(values), bytes)
	return values, nil
}

func bytesOf[T float32 | int64](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(*new(T))))
}
