#include <unistd.h>

// The static C++ library calls this function of glibc 2.36. With this definition, the programs of the bundle run on older
// systems.
extern "C" unsigned arc4random() {
  unsigned value = 0;
  if (getentropy(&value, sizeof value) != 0) value = 1;
  return value;
}
