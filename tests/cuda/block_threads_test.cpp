#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "cuda/bodies.hpp"
#include "host_block.hpp"

// Runs the blocks of a grid at the same time, each on a host thread, under the thread sanitizer. Blocks must
// communicate through atomics with the necessary order.
namespace {

using namespace gather::cuda;
using emulation::HostBlock;

constexpr uint32_t blocks = 6, threads = 32;
constexpr int64_t rows = 11, width = 64, picks = 500;
constexpr int rounds = 60;

// Runs body(block) for all blocks of a grid, which start together.
template <class Body>
void run_grid(Body&& body) {
  std::atomic<uint32_t> ready{0};
  std::vector<std::thread> all;
  for (uint32_t i = 0; i < blocks; ++i) {
    all.emplace_back([&, i] {
      ready.fetch_add(1);
      while (ready.load() < blocks) std::this_thread::yield();
      HostBlock block(i, blocks, threads);
      body(block);
    });
  }
  for (std::thread& each : all) each.join();
}

// A gather of rows of bytes. Row r is filled with r.
class Grids : public testing::TestWithParam<Validation> {
 protected:
  Grids() : table_(rows * width), indices_(picks, 3), out_(picks * width) {
    for (int64_t i = 0; i < rows * width; ++i) table_[static_cast<size_t>(i)] = static_cast<char>(i / width);
    job_.params = table_.data();
    job_.indices = reinterpret_cast<const char*>(indices_.data());
    job_.out = out_.data();
    job_.units = job_.tuples = picks;
    job_.row = width;
    job_.chunks = 1;
    job_.chunk = make_divider(1);
    job_.loops = job_.walked = job_.components = 1;
    job_.tuple_loops = 1;
    job_.lanes = 4;
    job_.lane = make_divider(4);
    job_.policy = {false, true, gather::core::Outside::refused};
    job_.index_bytes = 8;
    job_.index_signed = job_.index_aligned = true;
    job_.validation = GetParam();
    job_.state = &state_;
    job_.record = &record_;
    job_.loop[0] = {picks, 0, 8, width};
    job_.component[0] = {rows, width};
  }

  void gather(int64_t sequence) {
    job_.sequence = sequence;
    std::fill(out_.begin(), out_.end(), 'x');
    const auto validate = [&] { run_grid([&](HostBlock& block) { validate_body<Index8>(block, job_); }); };
    if (GetParam() == Validation::in_front) validate();
    run_grid([&](HostBlock& block) { copy_body<Copy::rows16, Index8>(block, job_); });
    if (GetParam() == Validation::behind) validate();
  }

  void expect_clean_state() const {
    EXPECT_EQ(state_.finished, 0u);
    EXPECT_EQ(state_.worst, 0u);
  }

  std::vector<char> table_;
  std::vector<int64_t> indices_;
  std::vector<char> out_;
  State state_{};
  alignas(8) gth_error_record record_{};
  DirectJob job_{};
};

TEST_P(Grids, GoodIndices) {
  for (int round = 1; round <= rounds; ++round) {
    gather(round);
    ASSERT_TRUE(out_ == std::vector<char>(out_.size(), 3));
    ASSERT_EQ(record_.count, 0u);
    expect_clean_state();
  }
}

TEST_P(Grids, BadIndices) {
  for (int round = 1; round <= rounds; ++round) {
    std::fill(indices_.begin(), indices_.end(), 3);
    for (int64_t at = round; at < picks; at += 90) indices_[static_cast<size_t>(at)] = rows + at;
    gather(round);
    // Behind the copy, only the rows of valid indices are written.
    if (GetParam() != Validation::behind) {
      ASSERT_TRUE(out_ == std::vector<char>(out_.size(), 'x'));
    }
    for (int64_t at = round; at < picks; at += 90) ASSERT_EQ(out_[static_cast<size_t>(at * width)], 'x');
    EXPECT_EQ(record_.position, 1);
    EXPECT_EQ(record_.sequence, 1);
    ASSERT_EQ(record_.count, static_cast<uint64_t>(round));
    expect_clean_state();
  }
}

// A host that polls the count and finds it set must also find the rest of the record.
TEST_P(Grids, APolledRecord) {
  for (int round = 1; round <= rounds; ++round) {
    indices_[static_cast<size_t>(round)] = -round;
    std::thread polls([&] {
      while (__atomic_load_n(&record_.count, __ATOMIC_ACQUIRE) == 0) std::this_thread::yield();
      EXPECT_EQ(record_.sequence, round);
      EXPECT_EQ(record_.position, round);
      EXPECT_EQ(record_.value, -round);
      EXPECT_EQ(record_.limit, rows);
      EXPECT_EQ(record_.status, GTH_E_INDEX);
    });
    gather(round);
    polls.join();
    gth_error_record taken{};
    take_record(&record_, &taken);
    EXPECT_EQ(taken.count, 1u);
    indices_[static_cast<size_t>(round)] = 3;
  }
}

// All failures of overlapping calls are counted, and one of them is described completely.
TEST(Records, FailuresAtOnce) {
  for (int round = 0; round < rounds; ++round) {
    gth_error_record record{};
    run_grid([&](const HostBlock& block) {
      gth_error_record failure{};
      failure.sequence = failure.position = failure.value = failure.limit = block.index() + 1;
      failure.status = GTH_E_INDEX;
      note_failure(&record, failure);
    });
    EXPECT_GE(record.count, 1u);
    EXPECT_LE(record.count, uint64_t{blocks});
    EXPECT_TRUE(record.sequence == record.position && record.sequence == record.value && record.sequence > 0);
  }
}

// The shares of two grids that use one state sum to zero, in any order.
TEST(Shares, SumToZero) {
  for (uint32_t count = 1; count < 3000; ++count) {
    uint32_t sum = 0;
    for (uint32_t block = 0; block < count; ++block) {
      if (block > 0) {
        ASSERT_NE(sum, 0u) << count;
      }
      sum += share_of(block, count);
    }
    ASSERT_EQ(sum, 0u) << count;
  }
}

INSTANTIATE_TEST_SUITE_P(Validations, Grids,
                         testing::Values(Validation::inside, Validation::in_front, Validation::behind),
                         [](const auto& each) {
                           return each.param == Validation::inside     ? "ValidatedInside"
                                  : each.param == Validation::in_front ? "ValidatedInFront"
                                                                       : "ValidatedBehind";
                         });

}  // namespace
