package gather

// #include "shim.h"
import "C"

import "unsafe"

// An Option changes a default of a call. By default axis and batch dims are 0, a negative index is out of bounds, and
// an index out of bounds returns ErrIndex. The default context is that of the process. If a call has two options of one
// kind, the later one is used. Options allocate nothing.
type Option struct {
	setting setting
	number  int
	dtype   DType // the dtype of the fill value
	image   [2]uint64
	context *Context
}

// A setting is the kind of an option. Most settings are generated constants. 0 means no setting.
type setting int32

const (
	setFillWith setting = -1
	setIn       setting = -2
)

// FillWith sets the value that BoundsFill writes. It must have the element type of params.
func FillWith[T Element](value T) Option {
	option := Option{setting: setFillWith, dtype: DTypeOf[T]()}
	*(*T)(unsafe.Pointer(&option.image)) = value
	return option
}

// In sets the context of a call. nil means the default context of the process.
func In(context *Context) Option { return Option{setting: setIn, context: context} }

// settings are the options of one call.
type settings struct {
	options C.gth_options
	context *Context
}

func (s *settings) applyAll(options []Option) {
	for i := range options {
		s.apply(&options[i])
	}
}

// cOptions returns NULL if no option is set. The library then reads no options.
func (s *settings) cOptions() *C.gth_options {
	if s.options.size == 0 {
		return nil
	}
	return &s.options
}

func (s *settings) apply(option *Option) {
	if option.setting == setIn {
		s.context = option.context
		return
	}
	s.options.size = C.sizeof_gth_options
	if option.setting == setFillWith {
		s.options.fill, s.options.fill_dtype = C.int32_t(FillValue), C.int32_t(option.dtype)
		s.options.fill_value = [2]C.uint64_t{C.uint64_t(option.image[0]), C.uint64_t(option.image[1])}
		return
	}
	s.set(option)
}

// narrow converts a number to 32 bits. A number that does not fit becomes one that the library rejects.
func narrow(number int) C.int32_t {
	const lowest, highest = -1 << 31, 1<<31 - 1
	return C.int32_t(max(lowest, min(number, highest)))
}
