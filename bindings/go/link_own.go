//go:build !gather_shared && !gather_static

package gather

// The package compiles the library from library.cc. It supports the CPU only.

// #cgo CFLAGS: -I${SRCDIR}/../../include
// #cgo CXXFLAGS: -std=c++17 -O3 -fvisibility=hidden -Wno-stringop-overflow -I${SRCDIR}/../../include -I${SRCDIR}/../../src
// #cgo !windows LDFLAGS: -lpthread
// #cgo windows LDFLAGS: -static -lsynchronization
import "C"
