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
// #cgo noescape gather_go_context_take_error
// #cgo nocallback gather_go_context_take_error
// #cgo noescape gather_go_context_release
// #cgo nocallback gather_go_context_release
// #cgo nocallback gth_shutdown
import "C"

// Context determines where calls run: on a number of CPU threads, or on a CUDA device and stream. Any number of
// goroutines may use one context. Close may be called during calls, which still complete. A call in a closed context
// returns ErrHandle. A nil *Context is the default context of the process, on the CPU.
type Context struct {
	owner owner
}

// ContextOptions are the properties of a context. The zero value means the CPU with all threads that the process may
// use.
type ContextOptions struct {
	Threads int     // the highest number of CPU threads. 0 means all
	Device  Device  // the CPU, or a CUDA device
	Stream  uintptr // a cudaStream_t. 0 means the legacy default stream
	Record  uintptr // a gth_error_record in device or mapped pinned memory. 0 means that the context allocates one
}

// NewContext makes a context. A library without CUDA returns ErrDevice for a device other than the CPU.
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

// Close releases the context when the current calls in it have returned. Closing again does nothing.
func (c *Context) Close() error {
	if c != nil {
		c.owner.close()
	}
	return nil
}

// Sync waits until the work on the context's stream is complete. It then takes the error, as [Context.TakeError] does.
// On the CPU it does nothing.
func (c *Context) Sync() error {
	return c.TakeError() // It waits too.
}

// Wait makes the context's stream wait for the work enqueued on another CUDA stream so far. It does not block.
func (c *Context) Wait(stream uintptr) error {
	handle, err := c.begin()
	if err != nil {
		return err
	}
	failure := C.gather_go_context_wait(handle, C.uintptr_t(stream))
	c.end()
	return takeError(failure)
}

// Signal makes another CUDA stream wait for the work enqueued on the context's stream so far. It does not block.
func (c *Context) Signal(stream uintptr) error {
	handle, err := c.begin()
	if err != nil {
		return err
	}
	failure := C.gather_go_context_signal(handle, C.uintptr_t(stream))
	c.end()
	return takeError(failure)
}

// TakeError waits for the context's stream. It returns the first error of the device calls since the last take, and
// clears it. This error is an *IndexError or ErrRace, and Count is the number of failed calls. If TakeError itself
// fails, it returns that error. On the CPU it returns nil.
func (c *Context) TakeError() error {
	handle, err := c.begin()
	if err != nil {
		return err
	}
	failure := C.gather_go_context_take_error(handle)
	c.end()
	return takeError(failure)
}

// EnqueueTakeError enqueues a copy of the error record to an address in device or pinned host memory, and then clears
// the record.
func (c *Context) EnqueueTakeError(record uintptr) error {
	handle, err := c.begin()
	if err != nil {
		return err
	}
	failure := C.gather_go_context_enqueue_take_error(handle, C.uintptr_t(record))
	c.end()
	return takeError(failure)
}

// begin begins a call in the context. The context is not released before end. For nil it returns NULL, the default
// context.
func (c *Context) begin() (C.gather_go_handle, error) {
	if c == nil {
		return 0, nil
	}
	return c.beginOwned()
}

// beginOwned is a separate function, so that begin can be inlined.
//
//go:noinline
func (c *Context) beginOwned() (C.gather_go_handle, error) { return c.owner.begin(OperandContext) }

func (c *Context) end() {
	if c != nil {
		c.owner.end()
	}
}

// beginWith begins a call in the context with another handle. If the other handle has been closed, the error names
// operand.
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

// Shutdown ends the library's threads. The next large call starts them again. It must not run during other calls.
func Shutdown() { C.gth_shutdown() }
