package gather

import (
	"runtime"
	"sync/atomic"
)

// An owner releases a handle once: when it is let go, or else when the garbage collector finds the object that holds it.
// The handle itself stays where it is: C refuses a released one.
type owner struct {
	released atomic.Bool
	cleanup  runtime.Cleanup
}

func own[T, H any](object *T, o *owner, handle H, release func(H)) {
	o.cleanup = runtime.AddCleanup(object, release, handle)
}

// let reports whether it is the caller who must release the handle.
func (o *owner) let() bool {
	if o.released.Swap(true) {
		return false
	}
	o.cleanup.Stop()
	return true
}
