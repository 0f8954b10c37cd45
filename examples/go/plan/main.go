// Runs a plan. Shapes and options are validated once. Each run sets the number of ids.
package main

import (
	"fmt"
	"log"

	"libgather.io/gather"
)

func main() {
	table := []float32{0, 1, 10, 11, 20, 21, 30, 31}
	plan, err := gather.NewPlan(gather.Shaped[float32](4, 2), gather.Shaped[int64](gather.Open))
	if err != nil {
		log.Fatal(err)
	}
	defer plan.Close()
	for _, ids := range [][]int64{{2}, {0, 1, 3}} {
		rows := make([]float32, 2*len(ids))
		if err := plan.Run(gather.To(rows), table, ids, len(ids)); err != nil {
			log.Fatal(err)
		}
		for i := range ids {
			fmt.Println(rows[2*i], rows[2*i+1])
		}
	}
}
