#pragma once

#include "core/base/error.hpp"
#include "core/base/limits.hpp"
#include "core/plan/plan.hpp"

namespace gather::cpu {

// A border between two bags: the number of the bag behind it, and that of its first id.
struct BagPosition {
  int64_t bag, id;
};

// Some successive bags of equally many ids.
struct BagRun {
  int64_t bags, ids;
};

// Reads the operand bags in any format. Each number is read once, and validated.
class BagReader {
 public:
  static constexpr int64_t most = block_bags;  // bags at once

  // `numbers` is the first number of the operand.
  BagReader(const core::Plan& plan, const char* numbers, int64_t count, int64_t ids)
      : bags_(plan.bags), numbers_(numbers), count_(count), ids_(ids) {}

  // Reads bags from `at` on, at most up to bag `last`. Bag at.bag + i has the ids [begin[i], begin[i + 1]). Returns
  // GTH_OK or GTH_E_OFFSETS.
  int32_t read(const BagPosition& at, int64_t last, int64_t* begin, int64_t* count, const core::Error& error) const;

  // Checks that the bags end with the last id. `at` is the end of the last bag.
  int32_t check_end(const BagPosition& at, const core::Error& error) const;

  bool are_segments() const { return bags_.format == GTH_BAGS_SEGMENTS; }
  int64_t count() const { return count_; }
  int64_t ids() const { return ids_; }

  // Checks all segments, in as many steps as there are ids.
  int32_t check_segments(const core::Error& error) const;

  // Returns true if the bags are few runs, because they have no numbers, or all of these are the same memory.
  bool are_runs() const;
  // Reads these runs. Some of them may have no bags.
  static constexpr int32_t most_runs = 3;
  int32_t read_runs(BagRun* runs, const core::Error& error) const;

 private:
  enum class Rule : uint8_t { zero_first, not_smaller, not_negative, ids, ids_left, bags };

  void load(int64_t first, int64_t n, int64_t* values) const;
  int32_t fail(Rule rule, int64_t position, int64_t value, int64_t limit, const core::Error& error) const;
  int32_t fail_end(int64_t value, const core::Error& error) const;
  int32_t fail_offset(int64_t position, int64_t value, int64_t before, const core::Error& error) const;
  int32_t check_segment(int64_t id, int64_t segment, int64_t before, const core::Error& error) const;
  int32_t read_offsets(const BagPosition& at, int64_t n, int64_t* begin, const core::Error& error) const;
  int32_t read_starts(const BagPosition& at, int64_t n, int64_t* begin, const core::Error& error) const;
  int32_t read_lengths(const BagPosition& at, int64_t n, int64_t* begin, const core::Error& error) const;
  int32_t read_segments(const BagPosition& at, int64_t n, int64_t* begin, const core::Error& error) const;

  const core::BagPlan& bags_;
  const char* numbers_;
  int64_t count_, ids_;
};

}  // namespace gather::cpu
