package gather

// #include "shim.h"
import "C"

import (
	"math"
	"runtime"
	"sync/atomic"
)

// An owner lets calls and Close come together. Its handle is released once, by whoever is last: Close, the end of the
// last call under way when it was closed, or else the garbage collector when it finds the object that holds the owner.
type owner struct {
	handle   C.gather_go_handle
	release  func(C.gather_go_handle)
	calls    atomic.Int64 // under way, and closed if it has been closed
	released atomic.Bool
	cleanup  runtime.Cleanup
}

// closed is so far below zero that no calls count it up again.
const closed = math.MinInt64 / 2

// own makes o, a field of object, the owner of a handle.
func own[T any](object *T, o *owner, handle C.gather_go_handle, release func(C.gather_go_handle)) {
	o.handle, o.release = handle, release
	o.cleanup = runtime.AddCleanup(object, release, handle)
}

// begin begins a call with the handle, which lives until end. If it has been closed, that is an error about operand.
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

// finish is reached again by calls that come after the end and are refused.
func (o *owner) finish() {
	if o.release == nil || o.released.Swap(true) {
		return
	}
	o.cleanup.Stop()
	o.release(o.handle)
}
