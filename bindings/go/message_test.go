package gather_test

import (
	"strings"
	"testing"

	"libgather.io/gather"
)

// The message for an invalid argument names the operand, the given value and the required value.
func TestMessagesNameOperandAndNumbers(t *testing.T) {
	ids, out := gather.Vector([]int{0}), make([]float32, 2)
	context, closed := newContext(t, 1), newPlan(t, tableTensor(), ids)
	check(t, context.Close())
	check(t, closed.Close())
	words := newStrings(t, []string{"a"}, 1)
	check(t, words.Close())
	gathered := func(params gather.Tensor[float32], options ...gather.Option) error {
		_, err := gather.Gather(params, ids, options...)
		return err
	}
	strided := gather.Strided[float32](table, 0, []int{4, 2}, []int{8})
	short := newPlan(t, tableTensor(), ids).Run(gather.To(out), table[:3], []int{0}, gather.Open)
	alias := gather.GatherInto(gather.NewOutput(table[:2], 1, 2), tableTensor(), ids)
	_, noStrings := gather.NewStrings([]string{"a"}, 2)
	_, _, ofClosed := gather.GatherStrings(words, ids)
	for want, err := range map[string]error{
		"indices: the slice has 2 elements, the shape 1":                  gather.GatherInto(gather.NewOutput(out, 1, 2), tableTensor(), gather.New([]int{0, 1})),
		"params: dim 0 is negative, -2":                                   gathered(gather.New([]float32{1}, -2)),
		"params: 1 strides for a shape of 2 dims":                         gathered(strided),
		"tensor: the slice has 1 elements, the shape 2":                   noStrings,
		"params: it has been closed":                                      ofClosed,
		"context: it has been closed":                                     gathered(tableTensor(), gather.In(context)),
		"plan: it has been closed":                                        closed.Run(gather.To(out), table, []int{0}, gather.Open),
		"params: memory of 12 bytes, needed are 32":                       short,
		"options: the fill value is int8, the dtype of params is float32": gathered(tableTensor(), gather.FillWith(int8(3))),
		"out: shares memory with params":                                  alias,
		"out: dim 0 is 2, needed is 1":                                    gather.GatherInto(gather.NewOutput(out, 2, 1), tableTensor(), ids),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "gather: "+want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
