package gather_test

import (
	"strings"
	"testing"
	"time"
	"unsafe"

	"libgather.io/gather"
	"libgather.io/gather/internal/memory"
)

func TestPlansAndOptionsAllocateNothing(t *testing.T) {
	context := newContext(t, 1)
	plan := newPlan(t, tableTensor(), gather.Shaped[int](gather.Open))
	ids, out := []int{3, 0}, make([]float32, 4)
	packed, wide := newPacked[float32](t, "q8_0", make([]byte, 34), []int{1, 32}), make([]float32, 32)
	bound := newPlan(t, packed.Tensor(), gather.Shaped[int](1))
	for name, call := range map[string]func() error{
		"into": func() error {
			return gather.GatherInto(gather.NewOutput(out, len(ids), 2), gather.New(table, 4, 2), gather.Vector(ids))
		},
		"into with options": func() error {
			return gather.GatherInto(gather.NewOutput(out, len(ids), 2), gather.New(table, 4, 2), gather.Vector(ids), gather.Axis(0), gather.In(context), gather.Bounds(gather.BoundsFill), gather.FillWith(float32(1)), gather.Threads(1))
		},
		"nd into": func() error {
			return gather.GatherNDInto(gather.Vector(out[:1]).Output(), gather.New(table, 4, 2), gather.New(ids, 1, 2))
		},
		"strided into": func() error {
			return gather.GatherInto(gather.Strided[float32](out, 0, []int{2, 1}, []int{8, 4}).Output(), gather.Strided[float32](table, 4, []int{4, 1}, []int{8, 4}), gather.Strided[int](ids, 0, []int{2}, []int{0}))
		},
		"elements into": func() error {
			return gather.GatherElementsInto(gather.NewOutput(out[:2], 2, 1), gather.New(table, 4, 2), gather.New(ids, 2, 1), gather.Axis(0), gather.Extents(gather.ExtentsPrefix))
		},
		"plan run":   func() error { return plan.RunIn(context, gather.To(out), table, ids, len(ids)) },
		"plan check": func() error { return plan.CheckIn(context, ids, len(ids)) },
		"packed into": func() error {
			return gather.GatherInto(gather.NewOutput(wide, 1, 32), packed.Tensor(), gather.Vector(ids[1:]))
		},
		"packed run": func() error { return bound.Run(gather.To(wide), nil, ids[1:], gather.Open) },
	} {
		var err error
		count := testing.AllocsPerRun(1000, func() {
			if failure := call(); failure != nil {
				err = failure
			}
		})
		check(t, err)
		if count != 0 {
			t.Errorf("%s: %v allocations", name, count)
		}
	}
}

func TestRepeatedCallsLeakNoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("100,000 calls of each kind")
	}
	plan := newPlan(t, tableTensor(), gather.Shaped[int](1))
	words := newStrings(t, []string{"a", "b"}, 2)
	good, bad, out := gather.Vector([]int{1}), gather.Vector([]int{9}), make([]float32, 2)
	for name, call := range map[string]func(){
		"gather":      func() { _, _ = gather.Gather(tableTensor(), good) },
		"a bad index": func() { _, _ = gather.Gather(tableTensor(), bad) },
		"into":        func() { _ = gather.GatherInto(gather.NewOutput(out, 1, 2), tableTensor(), good) },
		"plan run":    func() { _ = plan.Run(gather.To(out), table, []int{1}, gather.Open) },
		"packed rows": func() { closeAll(gather.NewPacked[float32]("q8_0", make([]byte, 34), []int{1, 32})) },
		"strings":     func() { _, _, _ = gather.GatherStrings(words, good) },
		"bad strings": func() { _, _, _ = gather.GatherStrings(words, bad) },
		"plans":       func() { closeAll(gather.NewPlan(tableTensor(), good)) },
		"contexts":    func() { closeAll(gather.NewContext(gather.ContextOptions{Threads: 1})) },
		"new strings": func() { closeAll(gather.NewStrings([]string{"some", "words"}, 2)) },
	} {
		expectFlat(t, name, call)
	}
}

func closeAll[C interface{ Close() error }](closer C, _ error) { closer.Close() }

// expectFlat fails if 100,000 calls increase the memory in use. 10,000 calls before them fill the pools. A leak of one
// byte in each call would cost 100,000 blocks of the smallest size.
func expectFlat(t *testing.T, name string, call func()) {
	t.Helper()
	const warm, calls, allowed = 10_000, 100_000, 1 << 20
	repeat := func(count int) (inC, inGo int) {
		for range count {
			call()
		}
		return bytesInUse(t)
	}
	beforeInC, beforeInGo := repeat(warm)
	inC, inGo := repeat(calls)
	if inC-beforeInC > allowed || inGo-beforeInGo > allowed {
		t.Errorf("%s: %d bytes of C and %d of Go more after %d calls", name, inC-beforeInC, inGo-beforeInGo, calls)
	}
}

func bytesInUse(t *testing.T) (inC, inGo int) {
	inC, inGo, ok := memory.InUse()
	if !ok {
		t.Skip("the C library does not report its memory in use")
	}
	return inC, inGo
}

func TestGarbageCollectorReleasesUnclosedObjects(t *testing.T) {
	drop := func() {
		for range 1000 {
			_, err := gather.NewStrings([]string{strings.Repeat("x", 64<<10)}, 1)
			check(t, err)
		}
	}
	drop()
	before, _ := bytesInUse(t)
	for range 10 {
		drop()
	}
	var grown int
	for range 100 { // Cleanups run some time after a collection.
		inC, _ := bytesInUse(t)
		if grown = inC - before; grown < 1<<20 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d bytes more", grown)
}

func bytesOf[T gather.Element](elements []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(elements))), len(elements)*int(unsafe.Sizeof(*new(T))))
}

func address[T gather.Element](memory []T) uintptr {
	return uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
}
