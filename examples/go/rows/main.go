// Gathers rows of a file: rows TABLE CODEC COUNT DIM IDS. The file TABLE has COUNT rows of DIM numbers. They are packed
// rows of CODEC, or float32. The file IDS has int64. Both are little-endian. The rows are written to standard output as
// float32, and then the rows that one second gathers to standard error.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"libgather.io/gather"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// read returns the numbers of a file.
func read[T any](path string, size int) []T {
	data := must(os.ReadFile(path))
	numbers := make([]T, len(data)/size)
	must(binary.Decode(data, binary.LittleEndian, numbers))
	return numbers
}

// open returns the table of a file. The garbage collector releases it.
func open(path, codec string, count, dim int) gather.Tensor[float32] {
	if codec == "float32" {
		return gather.New(read[float32](path, 4), count, dim)
	}
	return must(gather.NewPacked[float32](codec, must(os.ReadFile(path)), []int{count, dim})).Tensor()
}

func main() {
	if len(os.Args) != 6 {
		log.Fatal("usage: rows TABLE CODEC COUNT DIM IDS")
	}
	count, dim := must(strconv.Atoi(os.Args[3])), must(strconv.Atoi(os.Args[4]))
	table := open(os.Args[1], os.Args[2], count, dim)
	ids := read[int64](os.Args[5], 8)
	rows := make([]float32, len(ids)*dim)
	fastest := time.Hour // other programs disturbed the fastest call least
	for range 50 {
		begin := time.Now()
		if err := gather.GatherInto(gather.NewOutput(rows, len(ids), dim), table, gather.Vector(ids)); err != nil {
			log.Fatal(err)
		}
		fastest = min(fastest, time.Since(begin))
	}
	if err := binary.Write(os.Stdout, binary.LittleEndian, rows); err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(os.Stderr, "%.0f\n", float64(len(ids))/fastest.Seconds())
}
