//go:build gather_static && !gather_shared

package gather

// The archive comes first, and --as-needed drops unused libraries. So a libgather.so in the same folder is not linked.

// #cgo LDFLAGS: -l:libgather.a -lstdc++ -lm -lpthread -Wl,--as-needed
// #cgo pkg-config: --static gather
import "C"
