// Package memory counts allocated memory, so that tests can detect leaks.
package memory

/*
#include <malloc.h>
#include <stdint.h>

// Returns the bytes that C has allocated and not freed, or -1 if the C library has no such number.
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

// InUse returns the numbers of bytes that C and Go have allocated and not freed. ok is false if the C library has no
// such number. Memory that an allocator keeps in reserve does not count.
func InUse() (inC, inGo int, ok bool) {
	var stats runtime.MemStats
	for range 3 { // The cleanups of objects from one collection run concurrently with the next one.
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	runtime.ReadMemStats(&stats)
	inC = int(C.gather_go_bytes_in_use())
	return inC, int(stats.HeapAlloc), inC >= 0
}
