#include "tiers.hpp"

// The kernels of the tiers that copy and write rows at given offsets.
namespace {

using namespace tiers;

class TiersRows : public Tiers {
 protected:
  TiersRows() {
    for (size_t i = 0; i < table_.size(); ++i) table_.first()[i] = static_cast<char>(i * 31 + i / 251);
    table_.allow(PROT_READ);
  }

  void check(const RowTraits& rows, int64_t n, int64_t gap, int64_t shift, bool low) {
    const int64_t stride = rows.bytes + gap, bytes = (n - 1) * stride + rows.bytes + shift;
    ASSERT_LE(static_cast<size_t>(bytes), out_.size());
    char* all = out_.at(bytes, low);
    std::memset(all, '#', static_cast<size_t>(bytes));
    char* out = low ? all + shift : all;
    const int64_t size = static_cast<int64_t>(table_.size());
    int64_t offsets[block_tuples];
    for (int64_t i = 0; i < n; ++i) offsets[i] = pick(size - rows.bytes + 1);
    offsets[pick(n)] = 0;
    offsets[pick(n)] = size - rows.bytes;
    const int64_t middle = size / 2;  // offsets may be negative
    for (int64_t i = 0; i < n; ++i) offsets[i] -= middle;
    tier_->choose_copy(rows)(out, stride, table_.first() + middle, offsets, n, rows.bytes);
    for (int64_t i = 0; i < n; ++i) {
      const char* row = table_.first() + middle + offsets[i];
      ASSERT_EQ(std::memcmp(out + i * stride, row, static_cast<size_t>(rows.bytes)), 0) << i;
      if (i + 1 == n) break;
      for (int64_t at = rows.bytes; at < stride; ++at) ASSERT_EQ(out[i * stride + at], '#') << i;
    }
    const char* rest = low ? all : out + (n - 1) * stride + rows.bytes;
    for (int64_t at = 0; at < shift; ++at) ASSERT_EQ(rest[at], '#') << at;
  }

  void check_all(int64_t bytes, std::initializer_list<int64_t> counts) {
    for (bool exceeds_cache : {false, true}) {
      for (bool streams : {false, true}) {
        for (int64_t n : counts) {
          for (bool low : {false, true}) {
            SCOPED_TRACE("row " + std::to_string(bytes) + ", n " + std::to_string(n) +
                         (exceeds_cache ? ", exceeds cache" : "") + (streams ? ", streams" : ""));
            check({bytes, exceeds_cache, streams}, n, pick(3) == 0 ? pick(70) : 0, pick(3) == 0 ? pick(64) : 0, low);
            check({bytes, exceeds_cache, streams}, n, 64 * pick(2), 0,
                  low);  // aligned for non-temporal stores
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }

  Guarded table_{4}, out_{400};
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
    for (bool streams : {false, true}) {
      for (int64_t n : {1, 2, 17, 256}) {
        place(row, n, 1 + pick(20), pick(2) == 0 ? 64 : 1);
        check(tier_->choose_write({row, false, streams}), row, n,
              [row](char* at, const char* update) { std::memcpy(at, update, static_cast<size_t>(row)); });
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, TiersRows, ::testing::ValuesIn(built()), tier_name);
INSTANTIATE_TEST_SUITE_P(, TiersUpdates, ::testing::ValuesIn(built()), tier_name);

}  // namespace
