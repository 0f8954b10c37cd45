//go:build !gather_shared && !gather_static

package gather

// The library is compiled with the package: library.cc. It is for the CPU.

// #cgo CFLAGS: -I${SRCDIR}/../../include
// #cgo CXXFLAGS: -std=c++17 -O3 -fvisibility=hidden -Wno-stringop-overflow -I${SRCDIR}/../../include -I${SRCDIR}/../../src
// #cgo LDFLAGS: -lpthread
import "C"
