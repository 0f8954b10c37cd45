package gather

import (
	"errors"
	"strings"
	"testing"
)

func TestErrorOfAnotherABIHasBothNumbers(t *testing.T) {
	if err := checkABI(abiVersion); err != nil {
		t.Fatal(err)
	}
	err := checkABI(abiVersion + 41)
	if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "ABI 42") || !strings.Contains(err.Error(), "ABI 1") {
		t.Errorf("got %v", err)
	}
}

func TestEveryCallRejectsAnotherABI(t *testing.T) {
	loaded := errABI
	errABI = checkABI(99)
	defer func() { errABI = loaded }()
	table, ids := New([]float32{1, 2}, 2), New([]int{0}, 1)
	results := map[string]error{"into": GatherInto(table.Output(), table, ids), "into nd": GatherNDInto(table.Output(), table, ids)}
	_, results["gather"] = Gather(table, ids)
	_, results["gather nd"] = GatherND(table, ids)
	_, results["scatter"] = Scatter(table, ids, table.Updates())
	_, results["gradient"] = GatherGradient(table, ids, []int{2})
	_, results["partition"] = Partition(ids, BlockShards(2, 1))
	_, results["column"] = NewColumn(nil)
	_, results["column of a stream"] = NewColumnFromStream(nil)
	results["take"] = Take(nil, nil, &Column{}, ids, Nulls{})
	_, results["resolve"] = Resolve(2, ids, Nulls{})
	_, results["device tensor"] = NewDeviceTensor[float32](nil, 2)
	_, results["plan"] = NewPlan(table, ids)
	_, results["shape"] = OutputShape(table, ids)
	_, results["context"] = NewContext(ContextOptions{})
	_, results["strings"] = NewStrings([]string{"a"}, 1)
	_, results["capabilities"] = Capabilities()
	for name, err := range results {
		if !errors.Is(err, ErrVersion) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
