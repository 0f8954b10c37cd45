// The kernels, written once for every instruction set. A tier's file defines Lanes, the few operations in which
// instruction sets differ, and includes this. Everything here has internal linkage, so each tier has a copy of its own.
// Compiled with -fwrapv: numbers that do not fit wrap around.
//
//   V, count          so many 64-bit numbers, with the operators of an integer
//   load<T>(at)       of so many indices of type T at any address, each loaded once
//   values(at)        of 64-bit numbers; store(at, v) to them
//   all(value)        the same number everywhere
//   wrap(v, size)     v + size where v is negative
//   times(a, b)       of numbers that fit 32 bits with their sign
//   select(v, a, b)   a where v is negative, else b
//   is_any_negative(v)

#include "cpu/tiers/rows.hpp"
#include "cpu/tiers/take.hpp"
#include "cpu/tiers/tuples.hpp"
