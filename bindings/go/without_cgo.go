//go:build !cgo

package gather

// The package is a binding of a C library and needs cgo. Without cgo, the compiler prints this undefined name.
var _ = gather_needs_cgo__set_CGO_ENABLED_1_and_install_a_C_compiler
