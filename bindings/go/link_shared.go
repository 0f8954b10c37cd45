//go:build !gather_static

package gather

// #cgo pkg-config: gather
import "C"
