// Gathers elements by coordinates. Each row of indices is a tuple with one index for each dim.
package main

import (
	"fmt"
	"log"

	"libgather.io/gather"
)

func main() {
	matrix := gather.New([]int32{0, 1, 2, 10, 11, 12}, 2, 3)
	at := gather.New([]int64{1, 2, 0, 0}, 2, 2)
	elements, err := gather.GatherND(matrix, at)
	if err != nil {
		log.Fatal(err)
	}
	for _, element := range elements.Data() {
		fmt.Println(element)
	}
}
