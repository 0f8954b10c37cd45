package gather

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// counting returns a function that counts the releases of handles. The parameter only gives the type.
func counting[H any](count *atomic.Int64, _ H) func(H) {
	return func(H) { count.Add(1) }
}

func TestOwnerReleasesItsHandleOnceAfterTheLastCall(t *testing.T) {
	var released atomic.Int64
	object := &struct{ owner owner }{}
	own(object, &object.owner, 7, counting(&released, object.owner.handle))
	expect := func(what string, want int64) {
		t.Helper()
		if got := released.Load(); got != want {
			t.Errorf("%s: %d releases, not %d", what, got, want)
		}
	}
	rejected := func() {
		t.Helper()
		if _, err := object.owner.begin(OperandTensor); !errors.Is(err, ErrHandle) {
			t.Errorf("closed: %v", err)
		}
	}
	for range 2 {
		if handle, err := object.owner.begin(OperandTensor); handle != 7 || err != nil {
			t.Fatal(handle, err)
		}
	}
	object.owner.end()
	object.owner.close()
	rejected()
	expect("a call runs", 0)
	object.owner.end()
	expect("the call has ended", 1)
	rejected()
	object.owner.close()
	expect("closed again", 1)
	object = nil
	for range 10 { // Cleanups run some time after a collection.
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	expect("collected", 1)
}

// malloc does not touch the memory that it returns. No system has 2^47 bytes for a process.
func TestOnlyMemoryThatMallocReturnsIsAllocatable(t *testing.T) {
	for bytes, want := range map[int]bool{0: true, 1: true, 1 << 30: true, 1 << 47: false, 1<<63 - 1: false} {
		if got := allocatable(bytes); got != want {
			t.Errorf("%d bytes: %v", bytes, got)
		}
	}
}
