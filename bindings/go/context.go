package gather

// #include "shim.h"
// #cgo noescape gather_go_context
// #cgo nocallback gather_go_context
// #cgo noescape gather_go_context_wait
// #cgo nocallback gather_go_context_wait
// #cgo noescape gather_go_context_signal
// #cgo nocallback gather_go_context_signal
// #cgo noescape gather_go_context_enqueue_take_error
// #cgo nocallback gather_go_context_enqueue_take_error
// #cgo noescape gather_go_context_sync
// #cgo nocallback gather_go_context_sync
// #cgo noescape gather_go_context_take_error
// #cgo nocallback gather_go_context_take_error
// #cgo noescape gather_go_context_release
// #cgo nocallback gather_go_context_release
// #cgo nocallback gth_shutdown
import "C"

import "runtime"

// Context is where calls run: a number of CPU threads, or a CUDA device and stream. Any number of goroutines may use
// one. Close it when no call uses it any more; a call in a closed context is ErrHandle. A nil *Context is the process's
// default context on the CPU.
type Context struct {
	handle C.gather_go_handle
	owner  owner
}

// ContextOptions say what a context is made of. The zero value is the CPU with all the threads this process may use.
type ContextOptions struct {
	Threads int     // work is cut for at most so many CPU threads; 0: all
	Device  Device  // the CPU, or a CUDA device
	Stream  uintptr // a cudaStream_t, or 0
	Record  uintptr // a gth_error_record in device or mapped pinned memory; 0: the context's own
}

// NewContext makes a context. A library built without CUDA answers ErrDevice for a device other than the CPU.
func NewContext(options ContextOptions) (*Context, error) {
	if errABI != nil {
		return nil, errABI
	}
	context := &Context{}
	err := C.gather_go_context(narrow(options.Threads), C.int32_t(options.Device.Kind), narrow(options.Device.ID),
		C.uintptr_t(options.Stream), C.uintptr_t(options.Record), &context.handle)
	if err != nil {
		return nil, takeError(err)
	}
	own(context, &context.owner, context.handle, releaseContext)
	return context, nil
}

func releaseContext(handle C.gather_go_handle) { C.gather_go_context_release(handle) }

// Close releases the context. Closing again does nothing.
func (c *Context) Close() error {
	if c != nil && c.owner.let() {
		releaseContext(c.handle)
	}
	return nil
}

// Sync waits until the work enqueued on the context's stream is done, and returns the first error that calls on the
// device have met since the last time, as [Context.TakeError] does. On the CPU it does nothing.
func (c *Context) Sync() error {
	if err := C.gather_go_context_sync(c.cHandle()); err != nil {
		return takeError(err)
	}
	return c.TakeError()
}

// Wait makes the context's stream wait for what another CUDA stream has been given so far, without blocking.
func (c *Context) Wait(stream uintptr) error {
	err := C.gather_go_context_wait(c.cHandle(), C.uintptr_t(stream))
	runtime.KeepAlive(c)
	return takeError(err)
}

// Signal makes another CUDA stream wait for what the context's stream has been given so far, without blocking.
func (c *Context) Signal(stream uintptr) error {
	err := C.gather_go_context_signal(c.cHandle(), C.uintptr_t(stream))
	runtime.KeepAlive(c)
	return takeError(err)
}

// TakeError waits for the context's stream, and returns and clears the first error that device calls have met since the
// last take: an *IndexError or ErrRace with Count, or the failure of the take itself. On the CPU it returns nil.
func (c *Context) TakeError() error {
	err := C.gather_go_context_take_error(c.cHandle())
	runtime.KeepAlive(c)
	return takeError(err)
}

// EnqueueTakeError does so in stream order: the record goes to an address in device or pinned host memory.
func (c *Context) EnqueueTakeError(record uintptr) error {
	err := C.gather_go_context_enqueue_take_error(c.cHandle(), C.uintptr_t(record))
	runtime.KeepAlive(c)
	return takeError(err)
}

// cHandle is NULL, the default context, for nil. That of a closed context is one that C refuses.
func (c *Context) cHandle() C.gather_go_handle {
	if c == nil {
		return 0
	}
	return c.handle
}

// Shutdown ends the library's threads; the next large call starts them again. It must not run beside other calls.
func Shutdown() { C.gth_shutdown() }
