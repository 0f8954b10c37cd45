#include <algorithm>
#include <cstdlib>

#include "tiers.hpp"

// The kernels of the tiers that copy and write rows at given offsets.
namespace {

using namespace tiers;

class TiersRows : public Tiers {
 protected:
  TiersRows() {
    for (size_t i = 0; i < table_.size(); ++i) table_.first()[i] = static_cast<char>(i * 31 + i / 251);
    table_.allow(hostile::readable);
  }

  // Moves `lines` lines of n rows, with `gap` bytes after each row and `line_gap` bytes after each line.
  void check(int64_t row, Written written, int64_t n, int64_t lines, int64_t ahead, int64_t gap, int64_t line_gap) {
    const int64_t stride = row + gap, next_rows = pick(3) == 0 && n == 1 ? row : n * stride + line_gap;
    const int64_t bytes = (lines - 1) * next_rows + (n - 1) * stride + row;
    ASSERT_LE(static_cast<size_t>(bytes), out_.size());
    char* const out = out_.at(bytes, pick(2) == 0);
    std::memset(out, '#', static_cast<size_t>(bytes));
    std::string expected(out, static_cast<size_t>(bytes));
    const int64_t size = static_cast<int64_t>(table_.size()),
                  next_table = lines > 1 ? distance(row, size / lines / 2) : 0;
    const int64_t reach = (lines - 1) * next_table, low = std::max(-reach, int64_t{0});
    const int64_t spare = size - row - std::abs(reach);
    int64_t offsets[block_tuples];
    for (int64_t i = 0; i < n; ++i) offsets[i] = low + pick(spare + 1);
    offsets[pick(n)] = low;
    offsets[pick(n)] = low + spare;
    const int64_t middle = size / 2;  // offsets may be negative
    for (int64_t i = 0; i < n; ++i) offsets[i] -= middle;
    const char* const table = table_.first() + middle;
    tier_->choose_copy(row, written)({out, stride, table, offsets, n, row, lines, next_rows, next_table, ahead});
    for (int64_t l = 0; l < lines; ++l) {
      for (int64_t i = 0; i < n; ++i) {
        std::memcpy(expected.data() + l * next_rows + i * stride, table + offsets[i] + l * next_table,
                    static_cast<size_t>(row));
      }
    }
    ASSERT_EQ(std::memcmp(out, expected.data(), expected.size()), 0);
  }

  void check_all(int64_t row, std::initializer_list<int64_t> counts) {
    for (int64_t ahead : {0, 3, 64}) {
      for (Written written : {Written::cached, Written::large, Written::streamed}) {
        for (int64_t n : counts) {
          SCOPED_TRACE("row " + std::to_string(row) + ", n " + std::to_string(n) + ", ahead " + std::to_string(ahead) +
                       ", written " + std::to_string(static_cast<int>(written)));
          check(row, written, n, 1, ahead, pick(3) == 0 ? pick(70) : 0, 0);
          check(row, written, n, 1, ahead, 64 * pick(2), 0);  // aligned for non-temporal stores
          if (ahead == 0) check(row, written, n, 2 + pick(200 / n + 1), 0, pick(3) == 0 ? pick(9) : 0, pick(2) * 64);
          if (HasFatalFailure()) return;
        }
      }
    }
  }

  // Returns the distance of two lines in the table, below `most` in magnitude: often that of every second row, of reversed
  // rows, or of rows that are next to each other.
  int64_t distance(int64_t row, int64_t most) {
    const int64_t distances[] = {2 * row, -row, row, pick(most), -pick(most)};
    const int64_t chosen = pick(distances);
    return std::abs(chosen) < most ? chosen : pick(most);
  }

  Guarded table_{12}, out_{600};
};

TEST_P(TiersRows, EverySizeIsCopied) {
  for (int64_t bytes = 1; bytes <= 700 && !HasFatalFailure(); ++bytes) {
    check_all(bytes, {1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 34, 64, 65});
  }
}

TEST_P(TiersRows, WholeBlocksAreCopied) {
  for (int64_t bytes :
       {1, 2, 3, 4, 7, 8, 12, 16, 24, 32, 48, 64, 65, 127, 128, 129, 192, 256, 1024, 2048, 4096, 4100}) {
    check_all(bytes, {255, 256});
  }
}

// Non-temporal stores write the whole cache lines of such rows at any address.
TEST_P(TiersRows, LongRowsAreStreamedToAnyAddress) {
  for (const int64_t row : {16383, 16384, 16385, 16448, 20001, 32767}) {
    for (const int64_t n : {1, 2, 3, 17}) {
      for (int64_t gap = 0; gap <= 70 && !HasFatalFailure(); ++gap) check(row, Written::streamed, n, 1, 0, gap, 0);
    }
  }
}

// ---- updates
class TiersUpdates : public Tiers {
 protected:
  // Places n updates at `among` random rows of the target, at multiples of `alignment` bytes. The first and last row of
  // the target are included.
  void place(int64_t row, int64_t n, int64_t among, int64_t alignment) {
    const int64_t spare = static_cast<int64_t>(target_.size()) - row;
    std::vector<int64_t> at(static_cast<size_t>(among));
    for (int64_t& each : at) each = pick(spare / alignment + 1) * alignment;
    at.front() = 0;
    at.back() = spare / alignment * alignment;
    for (int64_t i = 0; i < n; ++i) {
      offsets_[i] = at[static_cast<size_t>(pick(among))];
      from_[i] = pick(spare / alignment + 1) * alignment;
    }
    offsets_[pick(n)] = from_[pick(n)] = at.back();
    offsets_[0] = from_[0] = 0;
  }

  // combine(at, update) returns the row after the update.
  template <class Combine>
  void check(WriteRows update, int64_t row, int64_t n, Combine&& combine) {
    std::vector<char> expected(target_.first(), target_.first() + target_.size());
    for (int64_t i = 0; i < n; ++i) combine(expected.data() + offsets_[i], updates_.first() + from_[i]);
    update(target_.first(), offsets_, updates_.first(), from_, n, row);
    ASSERT_EQ(std::memcmp(target_.first(), expected.data(), expected.size()), 0) << "rows of " << row << ", " << n;
  }

  Guarded target_{2}, updates_{2};
  int64_t offsets_[block_tuples], from_[block_tuples];
};

TEST_P(TiersUpdates, UpdatesAreWrittenInOrder) {
  draw<uint64_t>(&target_);
  draw<uint64_t>(&updates_);
  for (int64_t row = 1; row <= 700 && !HasFatalFailure(); ++row) {
    for (Written written : {Written::cached, Written::large, Written::streamed}) {
      for (int64_t n : {1, 2, 17, 256}) {
        place(row, n, 1 + pick(20), pick(2) == 0 ? 64 : 1);
        check(tier_->choose_write(row, written), row, n,
              [row](char* at, const char* update) { std::memcpy(at, update, static_cast<size_t>(row)); });
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, TiersRows, ::testing::ValuesIn(built()), tier_name);
INSTANTIATE_TEST_SUITE_P(, TiersUpdates, ::testing::ValuesIn(built()), tier_name);

}  // namespace
