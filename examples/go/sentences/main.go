// Makes one vector of each sentence: the mean of the vectors of its words. Finds the nearest other words.
package main

import (
	"cmp"
	"fmt"
	"log"
	"math"
	"slices"
	"strings"

	"libgather.io/gather"
)

var (
	words   = []string{"king", "queen", "prince", "dog", "cat", "puppy", "bread", "cheese", "the"}
	vectors = []float32{9, 0, 1, 8, 0, 2, 9, 1, 1, 0, 9, 1, 1, 8, 0, 1, 9, 1, 0, 1, 9, 1, 0, 8, 1, 1, 1}
)

// nearest returns the two nearest words that are not in the sentence, by the cosine.
func nearest(vector []float32, sentence []string) []string {
	cosine := func(word string) float64 {
		row := vectors[3*slices.Index(words, word):][:3]
		var product, square float64
		for k := range row {
			product += float64(vector[k] * row[k])
			square += float64(row[k] * row[k])
		}
		return product / math.Sqrt(square)
	}
	others := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return slices.Contains(sentence, word) })
	slices.SortFunc(others, func(a, b string) int { return cmp.Compare(cosine(b), cosine(a)) })
	return others[:2]
}

func main() {
	sentences := []string{"the king the queen", "the dog"}
	var ids, lengths []int64
	for _, sentence := range sentences {
		found := strings.Fields(sentence)
		for _, word := range found {
			ids = append(ids, int64(slices.Index(words, word)))
		}
		lengths = append(lengths, int64(len(found)))
	}
	means, err := gather.GatherBags(gather.New(vectors, 9, 3), gather.Vector(ids),
		gather.BagLengths(gather.Vector(lengths)), gather.Pool(gather.PoolMean))
	if err != nil {
		log.Fatal(err)
	}
	for s, sentence := range sentences {
		mean := means.Data()[3*s:][:3]
		near := strings.Join(nearest(mean, strings.Fields(sentence)), ", ")
		fmt.Printf("%s: %.2f %.2f %.2f, near %s\n", sentence, mean[0], mean[1], mean[2], near)
	}
}
