#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

// Converts the bytes of a fuzzer to choices. Missing bytes are read as 0, and 0 always selects the simplest valid
// choice. So short inputs give valid calls, and further bytes make them unusual or invalid.
namespace fuzz {

class Input {
 public:
  Input(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}

  uint8_t byte() { return at_ < end_ ? *at_++ : 0; }
  uint64_t word() {
    uint64_t word = 0;
    for (int shift = 0; shift < 64; shift += 8) word |= uint64_t{byte()} << shift;
    return word;
  }
  // Returns a number in 0 .. end - 1, for end up to 256.
  int64_t below(int64_t end) { return byte() % end; }
  // Returns true once in n, and never for a byte of 0.
  bool rarely(int64_t n) { return below(n) == n - 1; }
  template <class T, size_t n>
  T pick(const T (&choices)[n]) {
    return choices[below(int64_t{n})];
  }

  // Returns numbers that often cause errors.
  int64_t number() {
    static constexpr int64_t edges[] = {-1,
                                        0,
                                        1,
                                        2,
                                        -2,
                                        63,
                                        64,
                                        65,
                                        INT32_MAX,
                                        int64_t{INT32_MAX} + 1,
                                        INT32_MIN,
                                        UINT32_MAX,
                                        INT64_MAX,
                                        INT64_MAX - 1,
                                        INT64_MIN,
                                        INT64_MIN + 1,
                                        INT64_MAX / 2,
                                        int64_t{1} << 61,
                                        int64_t{1} << 62,
                                        int64_t{1} << 40};
    const uint8_t how = byte();
    if (how < 160) return edges[how % std::size(edges)];
    return how < 220 ? below(256) - 128 : static_cast<int64_t>(word());
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

}  // namespace fuzz
