//go:build !gather_shared && !gather_static

// Package avx512 compiles the AVX-512 kernels of the library. It is a separate package, because cgo uses the same
// compiler flags for all files of a package.
package avx512

// #cgo CXXFLAGS: -std=c++17 -O3 -fvisibility=hidden -mavx512f -mavx512bw -mavx512vl -mavx512dq
// #cgo CXXFLAGS: -I${SRCDIR}/../../../../include -I${SRCDIR}/../../../../src
import "C"
