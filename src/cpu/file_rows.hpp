#pragma once

#include <atomic>

#include "core/os/os.hpp"
#include "core/plan/pointers.hpp"
#include "cpu/bag_ids.hpp"
#include "cpu/job.hpp"
#include "files/reading.hpp"

// Rows of tables in files. A kernel reads addresses, so a run of such a plan passes each block of rows through FileRows
// before the kernel, or instead of it. In the plan, the table begins at address 0.
namespace gather::cpu {

// The memory of rows that were read for a kernel.
class StagedRows {
 public:
  StagedRows() = default;
  StagedRows(const StagedRows&) = delete;
  StagedRows& operator=(const StagedRows&) = delete;
  ~StagedRows() { core::deallocate(memory_); }

  // Returns memory of some bytes, or NULL. The content before is lost.
  char* resize(int64_t bytes);

  core::PackedPlan plan;  // of packed rows, that are numbered from 0 on
  core::PackedRows packed;

 private:
  char* memory_ = nullptr;
  int64_t bytes_ = 0;
};

// The tables in files of one run, which all of its threads share.
class FileRows {
 public:
  // What a pass over the rows does.
  enum class Step : uint8_t { request, bring, move };

  FileRows(const core::Plan& plan, const core::Pointers& pointers);

  // Returns the pointers of the run, without those of the tables.
  const core::Pointers& pointers() const { return pointers_; }
  // Returns true if all tables are dense memory, which kernels can read once its pages have been brought.
  bool are_dense() const { return are_dense_; }
  const core::Pointers& dense_pointers() const { return dense_; }
  // Returns true if pages must be brought before the first row is read.
  bool are_brought() const;
  // Returns true if a segment in memory overlaps the bytes that the run writes.
  bool overlap(const char* low, const char* high) const;

  void set_step(Step step) { step_ = step; }
  bool writes() const { return step_ == Step::move; }

  // Takes the step for a block of rows of a gather.
  void move(const Job& job, const RowBlock& block);

  // Brings the rows of ids of bags. An id may be no_row or row_of_fill.
  void bring(const int64_t* ids, int64_t n);
  // Reads the rows of bags, which have at most block_ids ids. *staged describes the same bags, whose rows are in memory,
  // each once, and whose ids are their new numbers in `ids`. Returns false if an id is out of bounds, or a row cannot be
  // read.
  bool stage(const BagRows& bags, int64_t item, int64_t* ids, StagedRows* memory, BagRows* staged);

  bool has_failed() const { return has_failed_.load(std::memory_order_relaxed); }
  // Report the failure of a gather and of bags.
  int32_t fail(const Job& job, const core::Error& error) const;
  int32_t fail(const Bags& on, const core::Error& error) const;

 private:
  // What a packed row has in one operand: its codes, scales or zero points.
  struct Plane {
    core::Role role;
    const files::Table* table;  // NULL: `memory` has row 0
    const char* memory;
    int64_t stride, bytes;  // from row to row, and of a row
    int64_t low;            // the lowest byte of a row
    int64_t at;             // the first byte of the plane in the memory of n rows is n * at
  };
  static constexpr int32_t most_planes = 3;

  int64_t take_step(const files::Table& table, const files::Wanted* rows, int64_t n, int64_t bytes,
                    files::Failure* failure) const;
  void note_failure(const files::Failure& failure, int64_t at);
  void note_no_memory(int64_t bytes);
  void move_plain(const RowBlock& block);
  void move_addresses(const Job& job, const RowBlock& block);
  void move_packed(const Job& job, const RowBlock& block);
  bool pass_packed(const Job& job, const RowBlock& line, const int64_t* numbers, int64_t n, StagedRows* staged);
  void find_planes();
  int64_t pass_planes(const int64_t* numbers, int64_t n, char* memory, files::Failure* failure);
  int64_t stage_packed(const int64_t* numbers, int64_t n, StagedRows* staged, files::Failure* failure);
  int32_t fail_at(int64_t position, const core::Error& error) const;

  const core::Plan& plan_;
  core::Pointers pointers_, dense_;
  core::ByRole<const files::Table*> tables_{};
  Plane planes_[most_planes];
  int32_t plane_count_ = 0;
  int64_t packed_bytes_ = 0;  // of a row in all planes
  bool are_dense_ = true;
  Step step_ = Step::move;
  std::atomic<bool> has_failed_{false};
  core::Lock lock_;
  files::Failure failure_{};
  int64_t failed_at_ = 0;  // the first byte of the row in the table; of packed rows and bags, its number
  int64_t no_memory_ = 0;  // the bytes that could not be allocated, or 0
};

}  // namespace gather::cpu
