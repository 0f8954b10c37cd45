//go:build !cgo

package gather

// The package is a binding of a C library: without cgo there is nothing here, and the compiler says so by this name.
var _ = gather_needs_cgo__set_CGO_ENABLED_1_and_install_a_C_compiler
