// Gathers strings by id.
package main

import (
	"fmt"
	"log"

	"libgather.io/gather"
)

func main() {
	words, err := gather.NewStrings([]string{"zero", "one", "two", "three"}, 4)
	if err != nil {
		log.Fatal(err)
	}
	defer words.Close()
	found, _, err := gather.GatherStrings(words, gather.Vector([]int64{3, 1}))
	if err != nil {
		log.Fatal(err)
	}
	for _, word := range found {
		fmt.Println(word)
	}
}
