package gather_test

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"libgather/gather"
)

func TestNoAllocations(t *testing.T) {
	context := newContext(t, 1)
	plan := newPlan(t, tableTensor(), gather.Shaped[int](gather.Open))
	ids, out := []int{3, 0}, make([]float32, 4)
	for name, call := range map[string]func() error{
		"into": func() error {
			return gather.GatherInto(gather.New(out, len(ids), 2), gather.New(table, 4, 2), gather.Vector(ids))
		},
		"into with options": func() error {
			return gather.GatherInto(gather.New(out, len(ids), 2), gather.New(table, 4, 2), gather.Vector(ids), gather.Axis(0),
				gather.In(context), gather.Bounds(gather.BoundsFill), gather.FillWith(float32(1)), gather.Threads(1))
		},
		"nd into": func() error {
			return gather.GatherNDInto(gather.Vector(out[:1]), gather.New(table, 4, 2), gather.New(ids, 1, 2))
		},
		"strided into": func() error {
			return gather.GatherInto(gather.Strided[float32](out, 0, []int{2, 1}, []int{8, 4}),
				gather.Strided[float32](table, 4, []int{4, 1}, []int{8, 4}), gather.Strided[int](ids, 0, []int{2}, []int{0}))
		},
		"plan run": func() error { return plan.Run(context, table, ids, out, len(ids)) },
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

func TestNothingIsLeaked(t *testing.T) {
	if testing.Short() {
		t.Skip("100,000 calls of each kind")
	}
	plan := newPlan(t, tableTensor(), gather.Shaped[int](1))
	words := newStrings(t, []string{"a", "b"}, 2)
	good, bad, out := gather.Vector([]int{1}), gather.Vector([]int{9}), make([]float32, 2)
	for name, call := range map[string]func(){
		"gather":      func() { _, _ = gather.Gather(tableTensor(), good) },
		"a bad index": func() { _, _ = gather.Gather(tableTensor(), bad) },
		"into":        func() { _ = gather.GatherInto(gather.New(out, 1, 2), tableTensor(), good) },
		"plan run":    func() { _ = plan.Run(nil, table, []int{1}, out, gather.Open) },
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

// expectFlat fails if 100,000 calls take memory that does not come back, after a run of 10,000 to fill the pools.
func expectFlat(t *testing.T, name string, call func()) {
	t.Helper()
	const warm, calls, allowed = 10_000, 100_000, 3 << 20
	repeat := func(count int) int {
		for range count {
			call()
		}
		runtime.GC()
		return residentBytes(t)
	}
	before := repeat(warm)
	if grown := repeat(calls) - before; grown > allowed {
		t.Errorf("%s: %d bytes more after %d calls", name, grown, calls)
	}
}

func residentBytes(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("no /proc/self/statm")
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	check(t, err)
	return pages * os.Getpagesize()
}

// What is never closed is released by the garbage collector.
func TestTheCleanupReleasesWhatIsDropped(t *testing.T) {
	drop := func() {
		for range 1000 {
			_, err := gather.NewStrings([]string{strings.Repeat("x", 64<<10)}, 1)
			check(t, err)
		}
	}
	settle := func() int {
		for range 5 {
			runtime.GC()
			time.Sleep(10 * time.Millisecond)
		}
		return residentBytes(t)
	}
	drop()
	before := settle()
	for range 10 {
		drop()
		settle()
	}
	if grown := settle() - before; grown > 100<<20 {
		t.Errorf("%d bytes more", grown)
	}
}
