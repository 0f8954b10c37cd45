package gather

// #include "shim.h"
import "C"

import (
	"math"
	"runtime"
	"sync/atomic"
)

// An owner holds a handle and allows calls and Close at the same time. The handle is released once. If calls run during
// Close, the last one of them releases it. Otherwise Close releases it. If the owner is never closed, the garbage
// collector releases the handle when the object that contains the owner is unreachable.
type owner struct {
	handle   C.gather_go_handle
	release  func(C.gather_go_handle)
	calls    atomic.Int64 // the number of running calls. Close adds the constant closed
	released atomic.Bool
	cleanup  runtime.Cleanup
}

// closed is so small that its sum with any number of calls is negative.
const closed = math.MinInt64 / 2

// own stores a handle in o, which must be a field of object.
func own[T any](object *T, o *owner, handle C.gather_go_handle, release func(C.gather_go_handle)) {
	o.handle, o.release = handle, release
	o.cleanup = runtime.AddCleanup(object, release, handle)
}

// begin begins a call with the handle. The handle is not released before end. If the owner has been closed, begin
// returns an error that names operand.
func (o *owner) begin(operand Operand) (C.gather_go_handle, error) {
	if o.calls.Add(1) < 0 {
		return 0, o.reject(operand)
	}
	return o.handle, nil
}

func (o *owner) end() {
	if o.calls.Add(-1) == closed {
		o.finish()
	}
}

// beginApart and endApart are begin and end for callers that are inlined.
//
//go:noinline
func (o *owner) beginApart(operand Operand) (C.gather_go_handle, error) { return o.begin(operand) }

//go:noinline
func (o *owner) endApart() { o.end() }

//go:noinline
func (o *owner) reject(operand Operand) error {
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

// finish releases the handle once. It runs again after each later call, because such a call is rejected.
func (o *owner) finish() {
	if o.release == nil || o.released.Swap(true) {
		return
	}
	o.cleanup.Stop()
	o.release(o.handle)
}
