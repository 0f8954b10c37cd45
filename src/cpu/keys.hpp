#pragma once

#include <limits>

// Integers with the order of numbers. A maximum or minimum is the number with the largest key.
namespace gather::cpu {

// Returns the key of the bits of a floating number. Zeros are equal, and a NaN is larger than every number. `flip` is the
// bit of the sign if the key is that of a minimum, else 0. There are no instructions for floating numbers, because the
// compiler does not use vectors for their comparisons.
template <class Key>
inline Key floating_key(Key number, Key flip, Key infinity) {
  constexpr Key most = std::numeric_limits<Key>::max(), minus_zero = -1;
  const auto bits = static_cast<Key>(number ^ flip);
  const auto key = static_cast<Key>(bits ^ ((bits >> (8 * sizeof(Key) - 1)) & most));
  return (bits & most) > infinity ? most : key == minus_zero ? Key{0} : key;
}

}  // namespace gather::cpu
