// The kernels, written once for every instruction set. A tier's file defines Lanes, the few operations in which
// instruction sets differ, and includes this. Everything here has internal linkage, so each tier has a copy of its own.
// Compiled with -fwrapv: numbers that do not fit wrap around.
//
//   V, count          so many 64-bit numbers, with the operators of an integer
//   D                 as many of floating point
//   load<T>(at)       of so many indices of type T at any address, each loaded once
//   values(at)        of 64-bit numbers; store(at, v) to them
//   all(value)        the same number everywhere
//   wrap(v, size)     v + size where v is negative
//   times(a, b)       of numbers that fit 32 bits with their sign
//   select(v, a, b)   a where v is negative, else b
//   is_any_negative(v)
//   narrow(v)         the 32-bit numbers of so many V that they fill a Narrow::V
//
// And Narrow: the same for 32-bit numbers; its count is 0 where there are no registers for it.
//
//   table(entries), look_up(table, v)   the v-th of 16 entries, v in [0, 16)
//   store<bytes>(at, v)                 the low bytes of each

#include "cpu/tiers/give.hpp"
#include "cpu/tiers/rows.hpp"
#include "cpu/tiers/table.hpp"
#include "cpu/tiers/take.hpp"
#include "cpu/tiers/tuples.hpp"
#include "cpu/tiers/updates.hpp"
