//go:build gather_static && !gather_shared

package gather

// The archive is named first and the rest is taken as needed, so that a shared library beside it is not.

// #cgo LDFLAGS: -l:libgather.a -lstdc++ -lm -lpthread -Wl,--as-needed
// #cgo pkg-config: --static gather
import "C"
