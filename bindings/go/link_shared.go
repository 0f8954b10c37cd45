//go:build gather_shared

package gather

// #cgo pkg-config: gather
import "C"
