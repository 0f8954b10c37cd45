//go:build !gather_shared && !gather_static

// Package avx2 compiles the AVX2 kernels of the library. It is a separate package, because cgo uses the same compiler
// flags for all files of a package.
package avx2

// #cgo CXXFLAGS: -std=c++17 -O3 -fvisibility=hidden -mavx2
// #cgo CXXFLAGS: -I${SRCDIR}/../../../../include -I${SRCDIR}/../../../../src
import "C"
