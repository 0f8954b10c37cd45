#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "cuda/bodies.hpp"

// The pieces that kernels are made of.
namespace {

using namespace gather::cuda;

TEST(Divider, IsDivision) {
  std::mt19937_64 random(3);
  std::vector<int64_t> numbers = {
      1, 2, 3, 5, 7, 10, 255, 256, 257, 65535, 65536, 65537, 641, 6700417, largest_narrow - 1, largest_narrow};
  for (int i = 0; i < 300; ++i) numbers.push_back(1 + static_cast<int64_t>(random() % largest_narrow));
  for (int bit = 1; bit < 31; ++bit) {
    for (const int64_t near : {-1, 0, 1}) numbers.push_back((int64_t{1} << bit) + near);
  }
  for (const int64_t divisor : numbers) {
    const Divider by = make_divider(divisor);
    for (const int64_t n : numbers) {
      for (const int64_t near : {n - 1, n, n / divisor * divisor, n / divisor * divisor - 1}) {
        if (near < 0) continue;
        ASSERT_EQ(divide(static_cast<uint32_t>(near), by, divisor), static_cast<uint32_t>(near / divisor))
            << near << " / " << divisor;
      }
    }
    ASSERT_EQ(divide(uint32_t{0}, by, divisor), 0u);
  }
  EXPECT_EQ(divide(uint64_t{1} << 40, Divider{}, 3), (uint64_t{1} << 40) / 3);
}

Bytes16 of(const unsigned char* bytes) {
  Bytes16 value;
  std::memcpy(&value, bytes, 16);
  return value;
}

TEST(Shifts, MoveWholeBytes) {
  unsigned char bytes[48] = {};
  for (int i = 0; i < 16; ++i) bytes[16 + i] = static_cast<unsigned char>(i + 1);
  for (uint32_t by = 0; by < 16; ++by) {
    const Bytes16 up = of(bytes + 16 - by), down = of(bytes + 16 + by);
    const Bytes16 shifted_up = shift_up(of(bytes + 16), by), shifted_down = shift_down(of(bytes + 16), by);
    EXPECT_EQ(0, std::memcmp(&up, &shifted_up, 16)) << by;
    EXPECT_EQ(0, std::memcmp(&down, &shifted_down, 16)) << by;
    unsigned char kept[16] = {};
    std::memcpy(kept, bytes + 16, by + 1);
    const Bytes16 first = keep_first(of(bytes + 16), by + 1);
    EXPECT_EQ(0, std::memcmp(kept, &first, 16)) << by;
  }
}

TEST(Fill, IsTheElementFromAnyByteOn) {
  JobHead job{};
  unsigned char element[4] = {1, 2, 3, 4}, pattern[48];
  for (int i = 0; i < 48; ++i) pattern[i] = element[i % 4];
  std::memcpy(job.fill, pattern, 16);
  for (int64_t at = 0; at < 40; ++at) {
    const Bytes16 made = fill_from(job, at);
    EXPECT_EQ(0, std::memcmp(&made, pattern + at % 16, 16)) << at;
  }
  for (int64_t at = 0; at < 64; at += 4) {
    const uint32_t made = fill_vector<4>(job, at);
    EXPECT_EQ(0, std::memcmp(&made, element, 4));
  }
  for (int64_t at = 0; at < 64; ++at) EXPECT_EQ(fill_vector<1>(job, at), element[at % 4]);
}

TEST(Unaligned, LoadsStayInsideTheMemoryDescribed) {
  for (size_t begin = 0; begin < 9; ++begin) {
    for (size_t size = 1; size <= 40; ++size) {
      // In heap memory of exactly its size, so that the address sanitizer sees every byte too many at its end.
      const std::unique_ptr<char[]> memory(new char[begin + size]);
      for (size_t i = 0; i < begin + size; ++i) memory[i] = static_cast<char>(i * 5 + 3);
      JobHead job{};
      job.params_begin = memory.get() + begin;
      job.params_end = memory.get() + begin + size;
      for (size_t at = 0; at < size; ++at) {
        for (size_t count = 1; count <= std::min<size_t>(16, size - at); ++count) {
          const Bytes16 loaded = load_unaligned(job, job.params_begin + at, static_cast<uint32_t>(count));
          char expected[16] = {};
          std::memcpy(expected, job.params_begin + at, count);
          ASSERT_EQ(0, std::memcmp(&loaded, expected, 16)) << begin << " " << size << " " << at << " " << count;
        }
      }
    }
  }
}

TEST(Indices, AreExtendedByTheirType) {
  JobHead job{};
  const uint64_t bits = 0xfffefdfcfbfaf9f8;
  char bytes[9];
  std::memcpy(bytes + 1, &bits, 8);
  for (const bool aligned : {false, true}) {
    for (const int size : {1, 2, 4, 8}) {
      job.index_aligned = aligned;
      job.index_bytes = static_cast<uint8_t>(size);
      job.index_signed = true;
      const int64_t value = AnyIndex<uint32_t>::load(job, bytes + 1);
      EXPECT_EQ(value, static_cast<int64_t>(bits << (64 - 8 * size)) >> (64 - 8 * size));
      job.index_signed = false;
      EXPECT_EQ(AnyIndex<uint64_t>::load(job, bytes + 1),
                static_cast<int64_t>(bits << (64 - 8 * size) >> (64 - 8 * size)));
    }
  }
  job.index_signed = true;
  EXPECT_EQ(Index4::load(job, bytes + 1), static_cast<int32_t>(0xfbfaf9f8));
  job.index_signed = false;
  EXPECT_EQ(Index4::load(job, bytes + 1), 0xfbfaf9f8);
  EXPECT_EQ(Index8::load(job, bytes + 1), static_cast<int64_t>(bits));
}

TEST(Select, FollowsTheSwitches) {
  JobHead job{};
  const JobComponent five{5, 100};
  const auto selected = [&](int64_t value) {
    int64_t offset = 7;
    return select(job, five, value, &offset) ? offset - 7 : -1;
  };
  job.has_negatives = true;
  job.bounds = GTH_BOUNDS_ERROR;
  EXPECT_EQ(selected(0), 0);
  EXPECT_EQ(selected(4), 400);
  EXPECT_EQ(selected(5), -1);
  EXPECT_EQ(selected(-1), -1);
  job.wraps = true;
  EXPECT_EQ(selected(-5), 0);
  EXPECT_EQ(selected(-6), -1);
  EXPECT_EQ(selected(INT64_MIN), -1);
  job.bounds = GTH_BOUNDS_CLAMP;
  EXPECT_EQ(selected(-6), 0);
  EXPECT_EQ(selected(INT64_MAX), 400);
  job.wraps = false;
  EXPECT_EQ(selected(-1), 0);
  job.bounds = GTH_BOUNDS_MODULO;
  EXPECT_EQ(selected(-1), 400);
  EXPECT_EQ(selected(12), 200);
  EXPECT_EQ(selected(INT64_MIN), 200);
  job.has_negatives = false;   // uint64: what looks negative is huge
  EXPECT_EQ(selected(-1), 0);  // 2^64 - 1 is a multiple of 5
  job.bounds = GTH_BOUNDS_CLAMP;
  EXPECT_EQ(selected(-1), 400);
}

TEST(Record, CountsAndKeepsTheFirst) {
  gth_error_record record{}, out{};
  gth_error_record failure = race_failure(7);
  note_failure(&record, failure);
  failure.sequence = 8;
  failure.status = GTH_E_INDEX;
  note_failure(&record, failure);
  EXPECT_EQ(record.count, 2u);
  EXPECT_EQ(record.sequence, 7);
  EXPECT_EQ(record.status, GTH_E_RACE);
  EXPECT_EQ(record.position, -1);
  EXPECT_EQ(record.component, -1);
  take_record(&record, &out);
  EXPECT_EQ(out.count, 2u);
  EXPECT_EQ(out.sequence, 7);
  EXPECT_EQ(record.count, 0u);
  take_record(&record, &out);
  EXPECT_EQ(out.count, 0u);
  EXPECT_EQ(out.sequence, 0);
}

}  // namespace
