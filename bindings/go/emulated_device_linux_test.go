package gather_test

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"libgather.io/gather"
	"libgather.io/gather/internal/emulated"
)

// These tests run every form of a call on the emulated CUDA device of libgather_emulated, which test.sh preloads.

var gpu = gather.Device{Kind: gather.DeviceCUDA}

// newDeviceContext returns a context on a new stream of the emulated device.
func newDeviceContext(t *testing.T) (*gather.Context, uintptr) {
	t.Helper()
	stream := emulated.MakeStream(0)
	context, err := gather.NewContext(gather.ContextOptions{Device: gpu, Stream: stream})
	check(t, err)
	t.Cleanup(func() { context.Close() })
	return context, stream
}

func onDevice[T gather.Element](t *testing.T, context *gather.Context, data []T, shape ...int) *gather.DeviceTensor[T] {
	t.Helper()
	tensor, err := gather.NewDeviceTensor[T](context, shape...)
	check(t, err)
	t.Cleanup(func() { tensor.Close() })
	check(t, tensor.Write(data))
	return tensor
}

func read[T gather.Element](t *testing.T, tensor *gather.DeviceTensor[T], count int) []T {
	t.Helper()
	data := make([]T, count)
	check(t, tensor.Read(data))
	return data
}

func TestOnAnEmulatedDevice(t *testing.T) {
	if !emulated.Loaded() {
		if os.Getenv("GATHER_EMULATED") != "" {
			t.Fatal("GATHER_EMULATED is set, but the library has not been preloaded")
		}
		t.Skip("there is no emulated CUDA device: GATHER_EMULATED is not set")
	}
	for _, test := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"GatherIntoRunsInStreamOrder", gatherIntoRunsInStreamOrder},
		{"DeviceTensors", deviceTensors},
		{"GarbageCollectorFreesDeviceTensors", garbageCollectorFreesDeviceTensors},
		{"DevicePlan", devicePlan},
		{"SyncReturnsErrorsOfEarlierCalls", syncReturnsErrorsOfEarlierCalls},
		{"ErrorRecordIsCopiedInStreamOrder", errorRecordIsCopiedInStreamOrder},
		{"WaitAndSignalOrderStreams", waitAndSignalOrderStreams},
		{"TensorsOnOtherDevicesReturnErrDevice", tensorsOnOtherDevicesReturnErrDevice},
	} {
		t.Run(test.name, test.run)
	}
}

func gatherIntoRunsInStreamOrder(t *testing.T) {
	context, stream := newDeviceContext(t)
	params, ids := onDevice(t, context, table, 4, 2), onDevice(t, context, []int64{3, 1}, 2)
	out := onDevice(t, context, []float32{-1, -1, -1, -1}, 2, 2)
	address := out.Address()
	emulated.Hold(stream)
	// A tensor at a raw address has the same memory as the tensor from which the address comes.
	view := gather.OnDevice[float32](gpu, address, 16, []int{2, 2}, nil)
	check(t, gather.GatherInto(view.Output(), params.Tensor(), ids.Tensor(), gather.In(context)))
	expect(t, "before", emulated.Floats(address, 4), []float32{-1, -1, -1, -1})
	check(t, context.Sync())
	expect(t, "after", emulated.Floats(address, 4), []float32{30, 31, 10, 11})

	tuples, one := onDevice(t, context, []int32{2, 1}, 1, 2), onDevice(t, context, []float32{0}, 1)
	check(t, gather.GatherNDInto(one.Output(), params.Tensor(), tuples.Tensor(), gather.In(context)))
	expect(t, "an element", read(t, one, 1), []float32{21})
}

func deviceTensors(t *testing.T) {
	context, _ := newDeviceContext(t)
	zeros, err := gather.NewDeviceTensor[int16](context, 2, 3)
	check(t, err)
	expect(t, "zeros", read(t, zeros, 6), make([]int16, 6))
	expect(t, "shape", zeros.Tensor().Shape(), []int{2, 3})
	expectError(t, zeros.Read(make([]int16, 5)), gather.ErrShape, gather.OperandTensor)
	expectError(t, zeros.Write(make([]int16, 7)), gather.ErrShape, gather.OperandTensor)
	check(t, zeros.Close())
	check(t, zeros.Close())
	expectError(t, zeros.Read(make([]int16, 6)), gather.ErrHandle, gather.OperandTensor)
	empty := onDevice(t, context, []float32{}, 0, 3)
	expect(t, "nothing", read(t, empty, 0), []float32{})
	scalar := onDevice(t, context, []float64{7})
	expect(t, "a scalar", read(t, scalar, 1), []float64{7})
	_, err = gather.NewDeviceTensor[int8](context, -1)
	expectError(t, err, gather.ErrShape, gather.OperandTensor)
	_, err = gather.NewDeviceTensor[int8](context, make([]int, gather.MaxRank+1)...)
	expectError(t, err, gather.ErrRank, gather.OperandTensor)
}

// A view keeps its memory reachable. Memory that is unreachable is freed by the next call of its context.
func garbageCollectorFreesDeviceTensors(t *testing.T) {
	context, _ := newDeviceContext(t)
	before := emulated.LiveAllocations()
	view := unclosed(t, context, table, 4, 2)
	ids, out := onDevice(t, context, []int64{2}, 1), onDevice(t, context, []float32{0, 0}, 1, 2)
	for range 3 {
		runtime.GC()
	}
	check(t, gather.GatherInto(out.Output(), view, ids.Tensor(), gather.In(context)))
	expect(t, "a row", read(t, out, 2), []float32{20, 21})
	runtime.KeepAlive(view)
	view = gather.Tensor[float32]{}
	for try := 0; emulated.LiveAllocations() > before+2 && try < 100; try++ {
		runtime.GC()
		runtime.Gosched()
		check(t, context.Sync())
	}
	if live := emulated.LiveAllocations(); live > before+2 {
		t.Errorf("%d allocations live, expected %d", live, before+2)
	}
}

// unclosed returns the view of a tensor to which no other reference exists.
func unclosed(t *testing.T, context *gather.Context, data []float32, shape ...int) gather.Tensor[float32] {
	t.Helper()
	tensor, err := gather.NewDeviceTensor[float32](context, shape...)
	check(t, err)
	check(t, tensor.Write(data))
	return tensor.Tensor()
}

func devicePlan(t *testing.T) {
	context, _ := newDeviceContext(t)
	there := gather.OnDevice[float32](gpu, 0, 0, []int{4, 2}, nil)
	plan, err := gather.NewPlan(there, gather.OnDevice[int64](gpu, 0, 0, []int{gather.Open}, nil))
	check(t, err)
	defer plan.Close()
	params, ids := onDevice(t, context, table, 4, 2), onDevice(t, context, []int64{2, 0}, 2)
	out := onDevice(t, context, make([]float32, 4), 2, 2)
	check(t, plan.RunAt(context, gather.Addresses{Params: params.Address(), Indices: ids.Address(), Out: out.Address()}, 2))
	expect(t, "rows", read(t, out, 4), []float32{20, 21, 0, 1})
	err = plan.RunIn(context, gather.To(make([]float32, 2)), table, []int64{0}, 1)
	expectError(t, err, gather.ErrDevice, gather.OperandPlan)
	err = plan.RunAt(nil, gather.Addresses{Params: params.Address(), Indices: ids.Address(), Out: out.Address()}, 2)
	expectError(t, err, gather.ErrDevice, gather.OperandPlan)

	check(t, plan.CheckAt(context, ids.Address(), 2))
	check(t, context.Sync())
	check(t, ids.Write([]int64{0, 4}))
	check(t, plan.CheckAt(context, ids.Address(), 2))
	found := expectError(t, context.Sync(), gather.ErrIndex, gather.OperandIndices)
	expect(t, "facts", []int64{found.Position, found.Value, found.Limit}, []int64{1, 4, 4})
	expectError(t, plan.CheckIn(context, []int64{0}, 1), gather.ErrDevice, gather.OperandPlan)
	expectError(t, plan.CheckAt(nil, ids.Address(), 2), gather.ErrDevice, gather.OperandPlan)
}

func syncReturnsErrorsOfEarlierCalls(t *testing.T) {
	context, _ := newDeviceContext(t)
	params, ids := onDevice(t, context, table, 4, 2), onDevice(t, context, []int64{0, 4}, 2)
	out := onDevice(t, context, []float32{9, 9, 9, 9}, 2, 2)
	waits := []func() error{context.Sync, context.TakeError, func() error { return out.Read(make([]float32, 4)) }}
	for _, wait := range waits {
		for range 2 {
			check(t, gather.GatherInto(out.Output(), params.Tensor(), ids.Tensor(), gather.In(context)))
		}
		var index *gather.IndexError
		if err := wait(); !errors.As(err, &index) {
			t.Fatalf("%v is no index error", err)
		}
		expect(t, "facts", []int64{index.Position, index.Value, index.Limit, int64(index.Count)}, []int64{1, 4, 4, 2})
		check(t, wait()) // The error is returned once.
		expect(t, "unchanged", read(t, out, 4), []float32{9, 9, 9, 9})
	}
}

func errorRecordIsCopiedInStreamOrder(t *testing.T) {
	context, _ := newDeviceContext(t)
	params, ids := onDevice(t, context, table, 4, 2), onDevice(t, context, []int32{-1}, 1)
	out, record := onDevice(t, context, []float32{9, 9}, 1, 2), onDevice(t, context, make([]int64, 8), 8)
	check(t, gather.GatherInto(out.Output(), params.Tensor(), ids.Tensor(), gather.In(context)))
	check(t, context.EnqueueTakeError(record.Address()))
	words := read(t, record, 8)
	expect(t, "count, position, value, limit", []int64{words[0], words[2], words[3], words[4]}, []int64{1, 0, -1, 4})
}

func waitAndSignalOrderStreams(t *testing.T) {
	one, first := newDeviceContext(t)
	two, second := newDeviceContext(t)
	params, ids := onDevice(t, one, table, 4, 2), onDevice(t, one, []int64{1}, 1)
	out := onDevice(t, one, []float32{9, 9}, 1, 2)
	for _, order := range []func() error{
		func() error { return two.Wait(first) }, func() error { return one.Signal(second) },
	} {
		check(t, out.Write([]float32{9, 9}))
		emulated.Hold(first)
		check(t, gather.GatherInto(out.Output(), params.Tensor(), ids.Tensor(), gather.In(one)))
		expect(t, "before", emulated.Floats(out.Address(), 2), []float32{9, 9})
		check(t, order()) // The second stream is not held. So the work that it waits for completes at once.
		expect(t, "after", emulated.Floats(out.Address(), 2), []float32{10, 11})
	}
}

func tensorsOnOtherDevicesReturnErrDevice(t *testing.T) {
	context, _ := newDeviceContext(t)
	params, ids := onDevice(t, context, table, 4, 2), onDevice(t, context, []int64{1}, 1)
	out := onDevice(t, context, []float32{9, 9}, 1, 2)
	host, hostIDs := tableTensor(), gather.Vector([]int64{1})
	other := gather.OnDevice[float32](gather.Device{Kind: gather.DeviceCUDA, ID: 1}, params.Address(), 0, []int{4, 2}, nil)
	in := gather.In(context)
	into := func(out, params gather.Tensor[float32], ids gather.Tensor[int64], option gather.Option) error {
		return gather.GatherInto(out.Output(), params, ids, option)
	}
	expectError(t, into(out.Tensor(), host, ids.Tensor(), in), gather.ErrDevice, gather.OperandParams)
	expectError(t, into(out.Tensor(), params.Tensor(), hostIDs, in), gather.ErrDevice, gather.OperandIndices)
	expectError(t, into(out.Tensor(), other, ids.Tensor(), in), gather.ErrDevice, gather.OperandParams)
	expectError(t, into(gather.New(make([]float32, 2), 1, 2), params.Tensor(), ids.Tensor(), in), gather.ErrDevice,
		gather.OperandOut)
	_, err := gather.Gather(params.Tensor(), ids.Tensor(), in)
	expectError(t, err, gather.ErrDevice, gather.OperandOut)
	expectError(t, into(out.Tensor(), params.Tensor(), ids.Tensor(), gather.In(nil)), gather.ErrDevice,
		gather.OperandParams)
}
