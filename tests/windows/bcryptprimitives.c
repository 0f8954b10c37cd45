/* The programs of Go and Rust load ProcessPrng from this DLL of Windows. Wine 8 does not have it. */
#include <stddef.h>

int __stdcall SystemFunction036(void *data, unsigned long bytes); /* RtlGenRandom */

__declspec(dllexport) int ProcessPrng(void *data, size_t bytes) {
  return SystemFunction036(data, (unsigned long)bytes);
}
