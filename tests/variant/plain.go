package gather

import (
	"slices"
	"testing"
)

// TestPlainCallsOfTheVariant runs the operation, the profile and the option that __main__.py adds.
func TestPlainCallsOfTheVariant(t *testing.T) {
	params, indices := New([]float32{3, 5, 8}, 3), New([]int64{-1, 1, 7}, 3)
	want, out := []float32{8, 5, 8}, make([]float32, 3)
	target := NewOutput(out, 3)
	options := []Option{WithProfile(ProfileFresh), Fresh(4)}
	found, err := allocate(opGatherAgain, params, indices, options)
	if err != nil || !slices.Equal(found.Data(), want) {
		t.Errorf("the new result is %v, %v", found, err)
	}
	err = into(opGatherAgain, &params.view, &indices.view, &target.view, options)
	if err != nil || !slices.Equal(out, want) {
		t.Errorf("the output is %v, %v", out, err)
	}
	shape, err := queryShape(opGatherAgain, params, indices, options)
	if err != nil || !slices.Equal(shape, []int{3}) {
		t.Errorf("the shape is %v, %v", shape, err)
	}
	plan, err := newPlan(opGatherAgain, params, indices, &absent, options)
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	clear(out)
	if err := plan.Run(To(out), params.Data(), indices.Data(), Open); err != nil || !slices.Equal(out, want) {
		t.Errorf("the output of the plan is %v, %v", out, err)
	}
	if kindOf[opGatherAgain] != &kindGather {
		t.Error("the operation has no kind")
	}
}
