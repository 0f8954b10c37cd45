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

// Context is where calls run: a number of CPU threads, or a CUDA device and stream. Any number of goroutines may use
// one. Close may come beside calls, which still end well; a call in a closed context is ErrHandle. A nil *Context is the
// process's default context on the CPU.
type Context struct {
	owner owner
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
	var handle C.gather_go_handle
	err := C.gather_go_context(narrow(options.Threads), C.int32_t(options.Device.Kind), narrow(options.Device.ID),
		C.uintptr_t(options.Stream), C.uintptr_t(options.Record), &handle)
	if err != nil {
		return nil, takeError(err)
	}
	context := &Context{}
	own(context, &context.owner, handle, releaseContext)
	return context, nil
}

func releaseContext(handle C.gather_go_handle) { C.gather_go_context_release(handle) }

// Close releases the context, once the calls under way in it have returned. Closing again does nothing.
func (c *Context) Close() error {
	if c != nil {
		c.owner.close()
	}
	return nil
}

// Sync waits until the work enqueued on the context's stream is done, and returns the first error that calls on the
// device have met since the last time, as [Context.TakeError] does. On the CPU it does nothing.
func (c *Context) Sync() error {
	handle, err := c.begin()
	if err != nil {
		return err
	}
	failure := C.gather_go_context_sync(handle)
	c.end()
	if failure != nil {
		return takeError(failure)
	}
	return c.TakeError()
}

// Wait makes the context's stream wait for what another CUDA stream has been given so far, without blocking.
func (c *Context) Wait(stream uintptr) error {
	handle, err := c.begin()
	if err != nil {
		return err
	}
	failure := C.gather_go_context_wait(handle, C.uintptr_t(stream))
	c.end()
	return takeError(failure)
}

// Signal makes another CUDA stream wait for what the context's stream has been given so far, without blocking.
func (c *Context) Signal(stream uintptr) error {
	handle, err := c.begin()
	if err != nil {
		return err
	}
	failure := C.gather_go_context_signal(handle, C.uintptr_t(stream))
	c.end()
	return takeError(failure)
}

// TakeError waits for the context's stream, and returns and clears the first error that device calls have met since the
// last take: an *IndexError or ErrRace with Count, or the failure of the take itself. On the CPU it returns nil.
func (c *Context) TakeError() error {
	handle, err := c.begin()
	if err != nil {
		return err
	}
	failure := C.gather_go_context_take_error(handle)
	c.end()
	return takeError(failure)
}

// EnqueueTakeError does so in stream order: the record goes to an address in device or pinned host memory.
func (c *Context) EnqueueTakeError(record uintptr) error {
	handle, err := c.begin()
	if err != nil {
		return err
	}
	failure := C.gather_go_context_enqueue_take_error(handle, C.uintptr_t(record))
	c.end()
	return takeError(failure)
}

// begin begins a call in the context, which lives until end. NULL, the default context, is that of nil.
func (c *Context) begin() (C.gather_go_handle, error) {
	if c == nil {
		return 0, nil
	}
	return c.beginOwned()
}

// beginOwned is apart, so that begin is inlined.
//
//go:noinline
func (c *Context) beginOwned() (C.gather_go_handle, error) { return c.owner.begin(OperandContext) }

func (c *Context) end() {
	if c != nil {
		c.owner.end()
	}
}

// beginWith begins a call in the context with another handle, about which an error is that operand is closed.
func (c *Context) beginWith(o *owner, operand Operand) (context, handle C.gather_go_handle, err error) {
	if context, err = c.begin(); err != nil {
		return 0, 0, err
	}
	if handle, err = o.begin(operand); err != nil {
		c.end()
	}
	return context, handle, err
}

func (c *Context) endWith(o *owner) {
	o.end()
	c.end()
}

// Shutdown ends the library's threads; the next large call starts them again. It must not run beside other calls.
func Shutdown() { C.gth_shutdown() }
