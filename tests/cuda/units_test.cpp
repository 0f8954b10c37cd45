#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

#include "buffers.hpp"
#include "cuda/launch_pieces.hpp"
#include "host_block.hpp"

// Tests the parts of the kernels.
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
        ASSERT_EQ(divide(static_cast<uint32_t>(near), by), static_cast<uint32_t>(near / divisor))
            << near << " / " << divisor;
      }
    }
    ASSERT_EQ(divide(uint32_t{0}, by), 0u);
  }
}

Bytes16 of(const unsigned char* bytes) {
  Bytes16 value;
  std::memcpy(&value, bytes, 16);
  return value;
}

TEST(Shifts, MoveWholeBytes) {
  unsigned char bytes[32], both[16];
  for (int i = 0; i < 32; ++i) bytes[i] = static_cast<unsigned char>(i + 1);
  for (uint32_t by = 0; by < 8; ++by) {
    uint64_t lo, hi, expected;
    std::memcpy(&lo, bytes, 8);
    std::memcpy(&hi, bytes + 8, 8);
    std::memcpy(&expected, bytes + by, 8);
    EXPECT_EQ(funnel_down(lo, hi, 8 * by), expected) << by;
  }
  for (uint32_t count = 1; count <= 16; ++count) {
    std::memcpy(both, bytes, 16);
    std::memcpy(both + count, bytes + 16 + count, 16 - count);
    const Bytes16 joined = join(of(bytes), of(bytes + 16), count);
    EXPECT_EQ(0, std::memcmp(&joined, both, 16)) << count;
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
      // The heap memory has exactly this size, so that the address sanitizer finds every access beyond it.
      const std::unique_ptr<char[]> memory(new char[begin + size]);
      for (size_t i = 0; i < begin + size; ++i) memory[i] = static_cast<char>(i * 5 + 3);
      JobHead job{};
      job.params_begin = memory.get() + begin;
      job.loadable = std::max<int64_t>(static_cast<int64_t>(size) - 23, 0);
      for (size_t at = 0; at < size; ++at) {
        for (uint32_t count = 1; count <= std::min<size_t>(16, size - at); ++count) {
          for (uint32_t place = 0; place + count <= 16; ++place) {
            const Unit unit{job.params_begin + at, nullptr, Source::params};
            const Part part{-static_cast<int64_t>(place), place, place + count};
            Bytes16 loaded;
            make_parts<1>(job, &unit, &part, &loaded);
            ASSERT_EQ(0, std::memcmp(reinterpret_cast<const char*>(&loaded) + place, job.params_begin + at, count))
                << begin << " " << size << " " << at << " " << count << " " << place;
          }
        }
      }
    }
  }
}

// A part of a vector that has no row becomes the fill value, in words and in bytes.
TEST(Words, PartsWithoutARowAreFilled) {
  JobHead job{};
  job.row = 20;
  std::memset(job.fill, 7, 16);
  const std::vector<uint32_t> words(5, 0x01010101);
  const char* row = reinterpret_cast<const char*>(words.data());
  for (uint32_t at = 0; at < 20; at += 4) {
    for (const Sources sources : {Sources{row, row}, Sources{row, nullptr}, Sources{nullptr, row}, Sources{}}) {
      const Cut cut{0, at};
      Bytes16 made;
      make_vectors<1>(job, &cut, &sources, &made);
      for (uint32_t i = 0; i < 16; ++i) {
        const char expected = (at + i < 20 ? sources.first : sources.second) ? 1 : 7;
        EXPECT_EQ(reinterpret_cast<const char*>(&made)[i], expected) << at << " " << i;
      }
    }
  }
}

// Computes where a vector of the output starts in its rows, without numbers that exceed 32 bits.
TEST(Stream, IsCutInTwoSteps) {
  std::mt19937_64 random(5);
  for (const int64_t row : {16, 17, 100, 1001, 4099, 65537, 99999999, static_cast<int>(largest_narrow / 16 - 1)}) {
    JobHead job{};
    job.row = row;
    job.chunk = make_divider(row);
    for (int i = 0; i < 1000; ++i) {
      const int64_t vector = i < 3 ? largest_narrow - i : static_cast<int64_t>(random() % largest_narrow) >> (i % 31);
      for (uint32_t head = 0; head < 16; ++head) {
        const Cut place = cut(job, static_cast<uint32_t>(vector), head);
        ASSERT_EQ(int64_t{place.number} * row + place.at, vector * 16 + head) << row << " " << vector;
        ASSERT_LT(place.at, row);
        const Cut next = advance(place, cut(job, 4096, 0), static_cast<uint32_t>(row));
        ASSERT_EQ(int64_t{next.number} * row + next.at, (vector + 4096) * 16 + head) << row << " " << vector;
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
      const int64_t value = AnyIndex::load(job, bytes + 1);
      EXPECT_EQ(value, static_cast<int64_t>(bits << (64 - 8 * size)) >> (64 - 8 * size));
      job.index_signed = false;
      EXPECT_EQ(AnyIndex::load(job, bytes + 1), static_cast<int64_t>(bits << (64 - 8 * size) >> (64 - 8 * size)));
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
    bool selects = true;
    select<1>(job, five, &value, &offset, &selects);
    return selects ? offset - 7 : -1;
  };
  job.policy = {false, true, gather::core::Outside::refused};
  EXPECT_EQ(selected(0), 0);
  EXPECT_EQ(selected(4), 400);
  EXPECT_EQ(selected(5), -1);
  EXPECT_EQ(selected(-1), -1);
  job.policy.wraps = true;
  EXPECT_EQ(selected(-5), 0);
  EXPECT_EQ(selected(-6), -1);
  EXPECT_EQ(selected(INT64_MIN), -1);
  job.policy.outside = gather::core::Outside::clamped;
  EXPECT_EQ(selected(-6), 0);
  EXPECT_EQ(selected(INT64_MAX), 400);
  job.policy.wraps = false;
  EXPECT_EQ(selected(-1), 0);
  job.policy.outside = gather::core::Outside::modulo;
  EXPECT_EQ(selected(-1), 400);
  EXPECT_EQ(selected(12), 200);
  EXPECT_EQ(selected(INT64_MIN), 200);
  job.policy.is_signed = false;  // uint64: values that look negative are large
  EXPECT_EQ(selected(-1), 0);    // 2^64 - 1 is a multiple of 5
  job.policy.outside = gather::core::Outside::clamped;
  EXPECT_EQ(selected(-1), 400);
}

// A block of one thread after a validating kernel. It records what happens when the thread waits for that kernel.
class Waiting : public emulation::HostBlock {
 public:
  explicit Waiting(std::function<void()> then) : HostBlock(0, 1, 1), then_(std::move(then)) {}
  void waits_for_previous() {
    if (++waits_ == 1) then_();
  }

 private:
  int waits_ = 0;
  std::function<void()> then_;
};

// Four rows of 16 bytes, or two of 32 bytes as a stream, which is what a thread copies in one round.
struct Gathering {
  explicit Gathering(Copy copy, bool zeroes) : rows(makes_vectors(copy) ? 2 : 4) {
    const int64_t row = 64 / rows;
    for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<char>(i);
    indices = {2, 0, 1, 2};
    job.params = job.params_begin = table.data();
    job.loadable = static_cast<int64_t>(table.size()) - 23;
    job.indices = reinterpret_cast<const char*>(indices.data());
    job.out = out;
    job.units = job.tuples = job.loop[0].extent = rows;
    job.loops = job.walked = job.components = 1;
    job.tuple_loops = 1;
    job.loop[0] = {rows, 0, 8, row};
    job.component[0] = {3, row};
    job.index_bytes = 8;
    job.index_signed = job.index_aligned = job.policy.is_signed = true;
    job.validation = Validation::in_front;
    job.zeroes = job.fills = zeroes;
    job.state = &state;
    job.record = &record;
    fit_row(copy, row, &job);
    for (int64_t i = 0; i < 64; ++i) expected[i] = table[static_cast<size_t>(indices[i / row] * row + i % row)];
  }

  int64_t rows;
  std::vector<char> table = std::vector<char>(128);
  std::vector<int64_t> indices;
  alignas(16) char out[64] = {1};
  char expected[64];
  State state{};
  gth_error_record record{};
  DirectJob job{};
};

template <Copy copy>
void expect_to_load_before_it_waits() {
  Gathering good(copy, false);
  Waiting behind_good([&] { std::fill(good.table.begin(), good.table.end(), 'x'); });
  copy_body<copy, Index8>(behind_good, good.job);
  EXPECT_EQ(0, std::memcmp(good.out, good.expected, 64));
  EXPECT_EQ(good.record.count, 0u);
  for (const bool zeroes : {false, true}) {
    Gathering bad(copy, zeroes);
    bad.indices[1] = 3;  // as the validating kernel finds, too
    std::memset(bad.out, 1, 64);
    Waiting behind_bad([&] { bad.state.is_refused = 1; });
    copy_body<copy, Index8>(behind_bad, bad.job);
    for (const char byte : bad.out) EXPECT_EQ(byte, zeroes ? 0 : 1);
    EXPECT_EQ(bad.record.count, 0u);
  }
}

// Loads do not wait for the validating kernel. Only stores do.
TEST(Gate, RowsAreLoadedBeforeIt) {
  expect_to_load_before_it_waits<Copy::rows16>();
  expect_to_load_before_it_waits<Copy::unaligned>();
  expect_to_load_before_it_waits<Copy::words>();
}

// Rounds of a thread overlap: it loads the indices of the second round before it stores the rows of the first.
TEST(Gate, NextIndicesAreLoadedBeforeIt) {
  constexpr int64_t rows = 8, row = 16;
  Gathering round(Copy::rows16, false);
  std::vector<int64_t> indices = {2, 0, 1, 2, 1, 1, 0, 2};
  alignas(16) char out[rows * row];
  round.job.indices = reinterpret_cast<const char*>(indices.data());
  round.job.out = out;
  round.job.units = round.job.tuples = round.job.loop[0].extent = rows;
  const std::vector<int64_t> given = indices;
  Waiting block([&] { indices.assign(rows, 0); });
  copy_body<Copy::rows16, Index8>(block, round.job);
  for (size_t i = 0; i < rows; ++i) {
    const char* expected = round.table.data() + given[i] * row;
    EXPECT_EQ(0, std::memcmp(out + i * row, expected, row)) << i;
  }
}

TEST(Buffers, KeepSmallOnesForTheSameSize) {
  device::Buffers buffers;
  char small = 0, large = 0, unknown = 0;
  EXPECT_EQ(buffers.take(100), nullptr);
  buffers.note(&small, 100);
  buffers.note(&large, device::Buffers::largest + 1);
  EXPECT_TRUE(buffers.keep(&small));
  EXPECT_FALSE(buffers.keep(&large));
  EXPECT_FALSE(buffers.keep(&unknown));
  EXPECT_EQ(buffers.take(99), nullptr);
  EXPECT_EQ(buffers.take(100), &small);
  EXPECT_EQ(buffers.take(100), nullptr);
  EXPECT_TRUE(buffers.keep(&small));
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
