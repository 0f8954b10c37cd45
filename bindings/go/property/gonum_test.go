package property

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"libgather.io/gather"
)

// rows returns rows of a matrix of gonum, which may be a part of another one. The elements of the matrix are not copied.
func rows(matrix *mat.Dense, ids []int) (*mat.Dense, error) {
	raw := matrix.RawMatrix()
	table := gather.Strided[float64](raw.Data, 0, []int{raw.Rows, raw.Cols}, []int{8 * raw.Stride, 8})
	taken, err := gather.Gather(table, gather.Vector(ids))
	if err != nil {
		return nil, err
	}
	return mat.NewDense(len(ids), raw.Cols, taken.Data()), nil
}

func TestRowsOfAMatrixOfGonum(t *testing.T) {
	whole := mat.NewDense(3, 3, []float64{0, 1, 2, 10, 11, 12, 20, 21, 22})
	for _, matrix := range []*mat.Dense{whole, whole.Slice(0, 3, 1, 3).(*mat.Dense)} {
		taken, err := rows(matrix, []int{2, 0})
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range []int{2, 0} {
			if !mat.Equal(taken.RowView(i), matrix.RowView(id)) {
				t.Errorf("row %d is %v", id, taken.RawRowView(i))
			}
		}
	}
	if _, err := rows(whole, []int{3}); err == nil {
		t.Error("an index out of bounds is no error")
	}
}
