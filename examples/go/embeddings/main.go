// Gathers rows of a table by id.
package main

import (
	"fmt"
	"log"

	"libgather.io/gather"
)

func main() {
	table := gather.New([]float32{0, 1, 10, 11, 20, 21, 30, 31}, 4, 2)
	ids := []int64{3, 0, 3}
	rows, err := gather.Gather(table, gather.Vector(ids))
	if err != nil {
		log.Fatal(err)
	}
	for i, id := range ids {
		fmt.Printf("%d: %g %g\n", id, rows.Data()[2*i], rows.Data()[2*i+1])
	}
}
