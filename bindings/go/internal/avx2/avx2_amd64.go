//go:build !gather_shared && !gather_static

// Package avx2 is the library's code for processors with AVX2: a package of its own because cgo has one set of flags
// for a package.
package avx2

// #cgo CXXFLAGS: -std=c++17 -O3 -fvisibility=hidden -mavx2
// #cgo CXXFLAGS: -I${SRCDIR}/../../../../include -I${SRCDIR}/../../../../src
import "C"
