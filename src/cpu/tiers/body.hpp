// The kernels, written once for all instruction sets. The file of a tier defines Lanes, Narrow and Halves, which
// contain the operations that differ between instruction sets, and includes this file. Everything here has internal
// linkage, so each tier has its own copy. The file of a tier is compiled with -fwrapv: integer arithmetic wraps around,
// and with -ffp-contract=off: products are rounded before they are added.
//
// Lanes is a vector of 64-bit integers:
//
//   V, count          the vector type, with the operators of an integer, and its number of lanes
//   D                 the vector of as many float64 numbers
//   register_bytes    the size of the widest register
//   load<T>(at)       loads `count` indices of type T from any address, each exactly once
//   values(at)        loads 64-bit numbers; store(at, v) stores them
//   all(value)        the same number in every lane
//   wrap(v, size)     v + size where v is negative, else v
//   times(a, b)       the product of numbers that fit int32
//   select(v, a, b)   a where v is negative, else b
//   add_pairs(a, b)   the sums of adjacent pairs, first those of a and then those of b
//   is_any_negative(v)
//   narrow(v)         converts as many V as fill one Narrow::V to 32-bit numbers
//   stream(to, from)  copies register_bytes bytes with a non-temporal store
//   fence()           completes non-temporal stores before later stores
//   copy_string(to, from, n)   copies n bytes with the string instruction of the processor
//   has_fast_strings()         returns true if this is the fastest copy of long rows
//
// Narrow is a vector of 32-bit integers with the same operations. Its count is 0 if the tier has no such vectors. It
// also has:
//
//   table(entries), look_up(table, v)   returns entry v of 16 entries; v is in [0, 16)
//   store<bytes>(at, v)                 stores the low bytes of each lane
//
// Halves converts one float16 number, and as many as registers hold of float32:
//
//   load<n>(at)       loads n numbers, and converts them to float32
//   round(v)          converts to float16, rounded to nearest, ties to even
//
// Floats computes with float32 numbers, one or as many as registers hold:
//
//   multiply_add(w, v, sum)   w * v + sum, rounded once
//   larger(v, than)           v where it is larger, else `than`; smaller(v, than) likewise
//   either_nan(a, b)          all bits are set where a or b is NaN
//
// Wide converts the codes of packed rows (codes.hpp). If it has one lane, only the functions that are marked with * are
// used.
//
//   count, octets             the numbers of float32 lanes, and of bytes, of a vector
//   unsigned_bytes(at), signed_bytes(at)   load `count` bytes as 32-bit integers
//   high_bytes<n>(at)         loads n bytes as the high bytes of 16-bit integers; n is `count` or twice as many
//   nibbles(at)               loads 16 numbers of 4 bits: lanes 0 to 7 are the first 4 bytes, lanes 8 to 15 the others;
//                             only if `count` is 16
//   widen_bytes<is_signed>(v, to)   * converts a vector of bytes to vectors of 32-bit integers
//   widen(v), widen_both(v, to)     convert float16 numbers to one vector of float32, or to two
//   all_of_float16(at)        * loads a float16 number into all lanes
//   multiply_add(v, by, to)   v * by + to, rounded once
//   look_up(entries, v)       returns entry v & 15 of 16 float32 numbers
//   look_up_bytes(entries, v)       * returns entry v of 16 bytes; v is in [0, 16)
//   unpack_halves(at, to)           * unpacks the 4 low bits of 16 bytes, and then the 4 high bits, to bytes
//   unpack_halves_of_eight(at, to)  * unpacks 8 bytes like that, and then the next 8 bytes
//   spread_bits(at, to)             * sets all bits of a byte for each of 32 bits

#include "cpu/tiers/fused_rows.hpp"
#include "cpu/tiers/fused_scatter.hpp"
#include "cpu/tiers/pool_packed.hpp"
#include "cpu/tiers/reduce.hpp"
#include "cpu/tiers/register_table.hpp"
#include "cpu/tiers/rows.hpp"
#include "cpu/tiers/scatter_rows.hpp"
#include "cpu/tiers/tuples.hpp"
#include "cpu/tiers/updates.hpp"
#include "cpu/tiers/weighted_rows.hpp"

namespace gather::cpu {
namespace {

// Returns the kernels of a tier. `pooling` chooses those for bags of other rows, or is NULL.
constexpr Tier tier_of(uint32_t bit, PoolBags (*pooling)(const Pooled& pooled, int64_t elements)) {
  return {bit,
          inside,
          resolve,
          choose_copy,
          choose_fused_gather,
          choose_fused_scatter,
          choose_look_up,
          choose_scatter,
          choose_scatter_sum,
          choose_scatter_element,
          choose_write,
          choose_reduce,
          choose_accumulate,
          choose_weighted,
          pooling,
          choose_decode,
          choose_decode_row,
          choose_packed_pooling};
}

}  // namespace
}  // namespace gather::cpu
