package gather_test

import (
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"libgather.io/gather"
)

func builtWithCUDA(t *testing.T) bool {
	info, err := gather.Capabilities()
	check(t, err)
	return info.CUDARuntime != 0
}

func TestDeviceMemoryReturnsErrDeviceWithoutCUDA(t *testing.T) {
	if builtWithCUDA(t) {
		t.Skip("this library was built with CUDA")
	}
	gpu := gather.Device{Kind: gather.DeviceCUDA}
	there := gather.OnDevice[float32](gpu, 1<<40, 0, []int{4, 2}, nil)
	ids := gather.Vector([]int{1})
	theirIDs := gather.OnDevice[int64](gpu, 1<<42, 0, []int{1}, nil)
	_, err := gather.Gather(there, ids)
	expectError(t, err, gather.ErrDevice, gather.OperandParams)
	_, err = gather.Gather(there, theirIDs)
	expectError(t, err, gather.ErrDevice, gather.OperandParams)
	out := gather.OnDevice[float32](gpu, 1<<41, 0, []int{1, 2}, nil)
	expectError(t, gather.GatherInto(out.Output(), tableTensor(), ids), gather.ErrDevice, gather.OperandOut)
	_, err = gather.NewPlan(there, theirIDs)
	expectError(t, err, gather.ErrDevice, gather.OperandParams)
	_, err = gather.NewContext(gather.ContextOptions{Device: gpu, Stream: 2})
	expectError(t, err, gather.ErrDevice, gather.OperandOptions)
}

func TestRawAddressOnTheCPU(t *testing.T) {
	values := []float32{1, 2, 3, 4}
	var pinner runtime.Pinner
	pinner.Pin(&values[0])
	defer pinner.Unpin()
	address := uintptr(unsafe.Pointer(&values[0]))
	view := gather.OnDevice[float32](gather.Device{}, address, 16, []int{2, 2}, []int{4, 8})
	out, err := gather.Gather(view, gather.Vector([]int{1}))
	check(t, err)
	expect(t, "a column", out.Data(), []float32{2, 4})
}

func TestRunAt(t *testing.T) {
	plan := newPlan(t, gather.Shaped[float32](4, 2), gather.Shaped[int](gather.Open))
	ids, out := []int{2, 1}, make([]float32, 4)
	check(t, plan.RunAt(nil, gather.Addresses{Params: address(table), Indices: address(ids), Out: address(out)}, 2))
	runtime.KeepAlive(ids)
	expect(t, "rows", out, []float32{20, 21, 10, 11})
	expectError(t, plan.RunAt(nil, gather.Addresses{Params: 0, Indices: address(ids), Out: address(out)}, 2), gather.ErrNull, gather.OperandParams)
}

func TestDeviceTensorsOnTheCPU(t *testing.T) {
	tensor, err := gather.NewDeviceTensor[float32](nil, 4, 2)
	check(t, err)
	defer tensor.Close()
	check(t, tensor.Write(table))
	out, err := gather.Gather(tensor.Tensor(), gather.Vector([]int{3}))
	check(t, err)
	expect(t, "row", out.Data(), []float32{30, 31})
	back := make([]float32, 8)
	check(t, tensor.Read(back))
	expect(t, "all", back, table)
	plan := newPlan(t, tensor.Tensor(), gather.Shaped[int](1))
	check(t, plan.Check([]int{2}, gather.Open))
	check(t, plan.Run(gather.To(back), table, []int{2}, gather.Open))
	expect(t, "a row of a plan", back[:2], []float32{20, 21})
	ones := slices.Repeat([]int{1}, gather.MaxRank)
	_, err = gather.NewDeviceTensor[float32](nil, ones...)
	check(t, err)
	gradient, err := gather.GatherGradient(gather.New([]float32{5}, ones...), gather.Vector([]int{0}), ones)
	check(t, err)
	expect(t, "a gradient of the highest rank", gradient.Data(), []float32{5})
}
