#include "floats.hpp"

#include <algorithm>

namespace ptx {
namespace {

constexpr uint32_t digits = 10;           // of a normal number, behind the first one
constexpr int lowest = -14;               // exponent of subnormal numbers and of the smallest normal ones
constexpr double first_infinite = 65520;  // this number and larger ones are rounded to infinity
constexpr uint16_t nan = 0x7fff, infinity = 0x7c00;

}  // namespace

// Counts the number in units of its last digit.
uint16_t round_to_half(float value) {
  if (std::isnan(value)) return nan;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(double{value});
  if (magnitude >= first_infinite) return sign | infinity;
  const int exponent = std::max(std::ilogb(magnitude), lowest);
  const long units = std::lrint(std::ldexp(magnitude, static_cast<int>(digits) - exponent));
  return static_cast<uint16_t>(sign | (((exponent - lowest) << digits) + units));
}

float widen_half(uint16_t bits) {
  const int exponent = bits >> digits & 31, rest = bits & ((1 << digits) - 1);
  const float sign = bits & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 31) return sign * (rest ? NAN : INFINITY);
  const int units = exponent ? rest + (1 << digits) : rest;
  return sign * static_cast<float>(std::ldexp(units, std::max(exponent, 1) - 1 + lowest - static_cast<int>(digits)));
}

}  // namespace ptx
