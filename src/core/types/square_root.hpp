#pragma once

namespace gather::core {

// Returns the square root, rounded to nearest. The function of the C library would set errno, so it is never inline.
inline float square_root(float value) {
#if defined(__x86_64__)
  asm("sqrtss %0, %0" : "+x"(value));
#else
  asm("fsqrt %s0, %s0" : "+w"(value));
#endif
  return value;
}
inline double square_root(double value) {
#if defined(__x86_64__)
  asm("sqrtsd %0, %0" : "+x"(value));
#else
  asm("fsqrt %d0, %d0" : "+w"(value));
#endif
  return value;
}

}  // namespace gather::core
