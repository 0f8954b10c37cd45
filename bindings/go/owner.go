package gather

// #include "shim.h"
import "C"

import (
	"math"
	"runtime"
	"sync/atomic"
)

// An owner allows calls and Close at the same time. Its handle is released once: by Close, by the end of the last call that
// was running when it was closed, or by the garbage collector when the object that contains the owner is unreachable.
type owner struct {
	handle   C.gather_go_handle
	release  func(C.gather_go_handle)
	calls    atomic.Int64 // the number of running calls, plus closed if it has been closed
	released atomic.Bool
	cleanup  runtime.Cleanup
}

// closed is so far below zero that no number of calls makes the sum positive.
const closed = math.MinInt64 / 2

// own makes o, a field of object, the owner of a handle.
func own[T any](object *T, o *owner, handle C.gather_go_handle, release func(C.gather_go_handle)) {
	o.handle, o.release = handle, release
	o.cleanup = runtime.AddCleanup(object, release, handle)
}

// begin begins a call with the handle, which is not released before end. If it has been closed, the error names operand.
func (o *owner) begin(operand Operand) (C.gather_go_handle, error) {
	if o.calls.Add(1) < 0 {
		return 0, o.refuse(operand)
	}
	return o.handle, nil
}

func (o *owner) end() {
	if o.calls.Add(-1) == closed {
		o.finish()
	}
}

//go:noinline
func (o *owner) refuse(operand Operand) error {
	o.end()
	return fail(ErrHandle, operand, 0, 0, "it has been closed")
}

func (o *owner) close() {
	calls := o.calls.Load()
	for calls >= 0 && !o.calls.CompareAndSwap(calls, calls+closed) {
		calls = o.calls.Load()
	}
	if calls == 0 {
		o.finish()
	}
}

// finish runs again after each later call, which is rejected. It releases the handle once.
func (o *owner) finish() {
	if o.release == nil || o.released.Swap(true) {
		return
	}
	o.cleanup.Stop()
	o.release(o.handle)
}
