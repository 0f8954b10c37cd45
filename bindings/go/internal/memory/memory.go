// Package memory counts what tests may leave behind.
package memory

/*
#include <malloc.h>
#include <stdint.h>

// Bytes that C has allocated and not freed; -1 where the C library does not tell.
static int64_t gather_go_bytes_in_use(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const struct mallinfo2 info = mallinfo2();
  return (int64_t)(info.uordblks + info.hblkhd);
#else
  return -1;
#endif
}
*/
import "C"

import (
	"runtime"
	"time"
)

// InUse is the number of bytes that C and Go have allocated and that are in use; not ok where C does not tell. What the
// process holds in reserve, which comes and goes as it likes, is no part of it.
func InUse() (inC, inGo int, ok bool) {
	var stats runtime.MemStats
	for range 3 { // what the first round finds unreachable is cleaned up beside the second
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	runtime.ReadMemStats(&stats)
	inC = int(C.gather_go_bytes_in_use())
	return inC, int(stats.HeapAlloc), inC >= 0
}
