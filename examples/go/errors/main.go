// Shows the meanings of an id out of bounds. An error names the position of the id, and the output is unchanged.
package main

import (
	"errors"
	"fmt"
	"log"

	"libgather.io/gather"
)

var table = gather.New([]float32{0, 1, 10, 11, 20, 21, 30, 31}, 4, 2)

func lookUp(id int64, options ...gather.Option) ([]float32, error) {
	rows, err := gather.Gather(table, gather.Vector([]int64{0, id}), options...)
	if err != nil {
		return nil, err
	}
	return rows.Data()[2:], nil
}

func show(what string, id int64, options ...gather.Option) {
	row, err := lookUp(id, options...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %g %g\n", what, row[0], row[1])
}

func main() {
	_, err := lookUp(4)
	var index *gather.IndexError
	if errors.As(err, &index) {
		fmt.Printf("refused: id %d at position %d, of %d rows\n", index.Value, index.Position, index.Limit)
	}
	show("from the end", -1, gather.Negative(gather.NegativeWrap))
	show("clamped", 9, gather.Bounds(gather.BoundsClamp))
	show("filled", 9, gather.Bounds(gather.BoundsFill), gather.FillWith[float32](-1))
}
