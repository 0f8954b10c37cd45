//go:build !gather_shared && !gather_static

// Package avx512 is the library's code for processors with AVX-512: a package of its own because cgo has one set of flags
// for a package.
package avx512

// #cgo CXXFLAGS: -std=c++17 -O3 -fvisibility=hidden -mavx512f -mavx512bw -mavx512dq -mavx512vl
// #cgo CXXFLAGS: -I${SRCDIR}/../../../../include -I${SRCDIR}/../../../../src
import "C"
