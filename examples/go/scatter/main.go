// Writes rows into a table by id, in place. The last update of a row remains, or all updates are added.
package main

import (
	"fmt"
	"log"

	"libgather.io/gather"
)

func main() {
	table := []float32{0, 1, 10, 11, 20, 21, 30, 31}
	ids := gather.Vector([]int64{3, 0, 3})
	rows := gather.NewUpdates([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	for _, reduction := range []gather.ReductionPolicy{gather.ReductionNone, gather.ReductionAdd} {
		err := gather.ScatterInto(gather.NewOutput(table, 4, 2), ids, rows, gather.Reduction(reduction))
		if err != nil {
			log.Fatal(err)
		}
		for i := 0; i < len(table); i += 2 {
			fmt.Printf("%g %g\n", table[i], table[i+1])
		}
	}
}
