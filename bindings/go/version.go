package gather

// A shared library that contains this package must not export the C functions of the package. Otherwise a function of
// the same name in another library could replace them.

// #cgo CFLAGS: -fvisibility=hidden
// #include "shim.h"
// #cgo nocallback gth_abi_version
// #cgo nocallback gth_version
import "C"

import "fmt"

// errABI is not nil if the loaded library has another ABI than the header. Every call then returns it.
var errABI = checkABI(uint32(C.gth_abi_version()))

func checkABI(found uint32) error {
	if found == abiVersion {
		return nil
	}
	return &Error{Status: ErrVersion, Component: -1, Position: -1, Value: int64(found), Limit: abiVersion, Item: -1,
		Message: fmt.Sprintf("the library has ABI %d, this package was built for ABI %d", found, abiVersion)}
}

// Version returns the release number of the C library, such as "0.1.0".
func Version() string {
	version := uint32(C.gth_version())
	return fmt.Sprintf("%d.%d.%d", version/1_000_000, version/1000%1000, version%1000)
}
