#include "cpu/file_rows.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "core/base/limits.hpp"
#include "core/base/noinline.hpp"
#include "core/meaning/codec_meaning.hpp"
#include "core/types/dtype.hpp"

namespace gather::cpu {

using core::Error;
using core::Role;
using files::Wanted;

char* StagedRows::resize(int64_t bytes) {
  if (bytes <= bytes_) return memory_;
  core::deallocate(memory_);
  memory_ = static_cast<char*>(core::allocate(static_cast<size_t>(bytes)));
  bytes_ = memory_ ? bytes : 0;
  return memory_;
}

FileRows::FileRows(const core::Plan& plan, const core::Pointers& pointers)
    : plan_(plan), pointers_(pointers), dense_(pointers) {
  for (Role role : core::EachRole{plan.in_files}) {
    if (!pointers[role]) continue;  // The run does not access it.
    tables_[role] = &files::table_at(pointers[role]);
    const char* const memory = tables_[role]->dense_memory();
    pointers_[role] = nullptr;
    dense_[role] = const_cast<char*>(memory);
    are_dense_ &= memory != nullptr;
  }
  if (plan.packed.is_packed()) find_planes();
}

bool FileRows::are_brought() const {
  return core::for_each_role(plan_.in_files, [&](Role role) { return tables_[role] && tables_[role]->is_brought(); });
}

bool FileRows::overlap(const char* low, const char* high) const {
  return core::for_each_role(plan_.in_files,
                             [&](Role role) { return tables_[role] && tables_[role]->overlaps(low, high); });
}

// ---- Failures

void FileRows::note_failure(const files::Failure& failure, int64_t at) {
  const std::lock_guard<core::Lock> guard(lock_);
  if (has_failed()) return;
  failure_ = failure;
  failed_at_ = at;
  has_failed_.store(true, std::memory_order_relaxed);
}

void FileRows::note_no_memory(int64_t bytes) {
  const std::lock_guard<core::Lock> guard(lock_);
  no_memory_ = bytes;
  has_failed_.store(true, std::memory_order_relaxed);
}

int32_t FileRows::fail_at(int64_t position, const Error& error) const {
  return files::fail_read(failure_.segment, position, failure_.range, failure_.native, error);
}

namespace {

// Returns the distance of step `slice` of the tuple loops in an operand.
int64_t distance(const core::Plan& plan, int64_t n, int64_t slice, core::Scaled core::Loop::* stride) {
  int64_t sum = 0;
  for (int32_t i = plan.inner_begin; i-- > 0;) {
    const core::Loop& loop = plan.loops[i];
    const int64_t extent = loop.extent.at(n);
    sum += wrapping_multiply(slice % extent, (loop.*stride).at(n));
    slice /= extent;
  }
  return sum;
}

}  // namespace

// Resolves one tuple after the other. Only a failure needs this.
int32_t FileRows::fail(const Job& job, const Error& error) const {
  if (no_memory_) return core::fail_memory(no_memory_, error);
  int64_t position = INT64_MAX;
  for (int64_t slice = 0; slice < job.slices; ++slice) {
    const int64_t at = distance(plan_, job.n, slice, &core::Loop::position);
    if (at >= position) continue;
    const char* const tuple = moved(job.indices, distance(plan_, job.n, slice, &core::Loop::indices));
    int64_t offset;
    BadTuple bad;
    if (job.kernels.resolve(plan_, tuple, 0, 1, &offset, &bad) != Resolved::all) continue;
    offset += distance(plan_, job.n, slice, &core::Loop::table);
    if (plan_.split.count > 1) offset += batch_offset(plan_, slice / (job.slices / plan_.split.count));
    for_each_row(job, [&](int64_t table, int64_t) {
      if (offset + table == failed_at_) position = at;
    });
  }
  return fail_at(position == INT64_MAX ? -1 : position, error);
}

int32_t FileRows::fail(const Bags& on, const Error& error) const {
  if (no_memory_) return core::fail_memory(no_memory_, error);
  int64_t values[block_ids];
  for (int64_t first = 0; first < on.ids; first += block_ids) {
    const int64_t n = std::min(block_ids, on.ids - first);
    load_ids(on, first, n, values);
    const int64_t* const end = values + replace_ids(plan_, values, n);
    const int64_t* const found = std::find(values, const_cast<int64_t*>(end), failed_at_);
    if (found < end) return fail_at(first + (found - values), error);
  }
  return fail_at(-1, error);
}

// ---- Rows of numbers

int64_t FileRows::take_step(const files::Table& table, const Wanted* rows, int64_t n, int64_t bytes,
                            files::Failure* failure) const {
  switch (step_) {
    case Step::request: files::request(table, rows, n, bytes); return n;
    case Step::bring: return files::bring(table, rows, n, bytes, failure);
    default: return files::read(table, rows, n, bytes, failure);
  }
}

void move_from_files(const Job& job, const RowBlock& block) { job.files->move(job, block); }

void FileRows::move(const Job& job, const RowBlock& block) {
  if (has_failed()) return;
  if (plan_.packed.is_packed()) return move_packed(job, block);
  if (step_ == Step::move && tables_.table->has_addresses()) return move_addresses(job, block);
  move_plain(block);
}

GATHER_NOINLINE void FileRows::move_plain(const RowBlock& block) {
  Wanted rows[requested_rows];
  int64_t n = 0;
  const auto pass = [&] {
    files::Failure failure;
    const int64_t good = take_step(*tables_.table, rows, n, block.row_bytes, &failure);
    if (good < n) note_failure(failure, rows[good].at);
    n = 0;
  };
  for (int64_t l = 0; l < block.lines; ++l) {
    const int64_t* const offsets = block.offsets + l * block.next_offsets;
    const int64_t table = row_number(block.table) + wrapping_multiply(l, block.next_table);
    char* const to = moved(block.rows, wrapping_multiply(l, block.next_rows));
    for (int64_t i = 0; i < block.n; ++i) {
      if (offsets[i] == no_row) continue;
      rows[n++] = {table + offsets[i], moved(to, wrapping_multiply(i, block.row_stride))};
      if (n == requested_rows) pass();
      if (has_failed()) return;
    }
  }
  if (n > 0) pass();
}

// Replaces offsets by addresses, for the kernel. A row that is in several pieces is copied by itself.
GATHER_NOINLINE void FileRows::move_addresses(const Job& job, const RowBlock& block) {
  const files::Table& table = *tables_.table;
  int64_t addresses[requested_rows], n = 0;
  for (int64_t l = 0; l < block.lines; ++l) {
    const int64_t* const offsets = block.offsets + l * block.next_offsets;
    const int64_t first = row_number(block.table) + wrapping_multiply(l, block.next_table);
    char* const to = moved(block.rows, wrapping_multiply(l, block.next_rows));
    const auto pass = [&](int64_t end) {
      char* const rows = moved(to, wrapping_multiply(end - n, block.row_stride));
      if (n > 0)
        job.kernels.move({rows, block.row_stride, nullptr, addresses, n, block.row_bytes, 1, 0, 0, block.ahead});
      n = 0;
    };
    for (int64_t i = 0; i < block.n; ++i) {
      const int64_t at = first + offsets[i];
      const char* const address = offsets[i] == no_row ? nullptr : table.find_address(at, block.row_bytes);
      if (address) {
        addresses[n++] = row_number(address);
        if (n == requested_rows) pass(i + 1);
        continue;
      }
      pass(i);
      if (offsets[i] == no_row) continue;
      const Wanted row{at, moved(to, wrapping_multiply(i, block.row_stride))};
      files::Failure failure;
      if (files::read(table, &row, 1, block.row_bytes, &failure) < 1) return note_failure(failure, at);
    }
    pass(block.n);
  }
}

// ---- Packed rows

void FileRows::find_planes() {
  const core::PackedPlan& packed = plan_.packed;
  const core::PackedRows rows = core::packed_rows_of(plan_, pointers_);
  const auto add = [&](Role role, const char* memory, int64_t stride, int64_t bytes, int64_t low) {
    planes_[plane_count_++] = {role, tables_[role], memory, stride, bytes, low, packed_bytes_};
    packed_bytes_ += bytes;
  };
  const bool is_table = tables_.table;
  add(Role::table, rows.data, is_table ? packed.codec.row_bytes : packed.stride, packed.codec.row_bytes, 0);
  const auto add_part = [&](Role role, const core::CodecPart& part, const core::CodecOperand& operand,
                            const char* memory) {
    if (part.place != core::Place::operand) return;
    const int64_t blocks = core::blocks_of(packed.codec);
    if (part.shares_bytes()) return add(role, memory, operand.row, operand.block ? (blocks + 1) / 2 : 1, 0);
    const int64_t last = wrapping_multiply(blocks - 1, operand.block), item = core::bytes_of(part.type);
    add(role, memory, operand.row, static_cast<int64_t>(core::magnitude(last)) + item, std::min<int64_t>(last, 0));
  };
  add_part(Role::scales, packed.codec.scale, packed.scales, rows.scales);
  add_part(Role::zeros, packed.codec.zero, packed.zeros, rows.zeros);
}

// Takes the step for the rows of some numbers, in all planes. If it reads them, `memory` receives all rows of each plane.
// Returns n, or the place of the first number whose row failed.
GATHER_NOINLINE int64_t FileRows::pass_planes(const int64_t* numbers, int64_t n, char* memory,
                                              files::Failure* failure) {
  Wanted rows[requested_rows];
  const auto find = [&](const Plane& plane) {
    for (int64_t i = 0; i < n; ++i) {
      char* const to = moved(memory, n * plane.at + i * plane.bytes);
      rows[i] = {wrapping_multiply(numbers[i], plane.stride) + plane.low, to};
    }
  };
  const auto is_in_files = [](const Plane& plane) { return plane.table && !plane.table->has_addresses(); };
  if (step_ == Step::move && n > 1 && std::count_if(planes_, planes_ + plane_count_, is_in_files) > 1) {
    for (int32_t p = 0; p < plane_count_; ++p) {  // The disk works on all planes at once.
      if (!is_in_files(planes_[p])) continue;
      find(planes_[p]);
      files::request(*planes_[p].table, rows, n, planes_[p].bytes);
    }
  }
  for (int32_t p = 0; p < plane_count_; ++p) {
    const Plane& plane = planes_[p];
    find(plane);
    if (plane.table) {
      const int64_t good = take_step(*plane.table, rows, n, plane.bytes, failure);
      if (good < n) return good;
    } else if (step_ == Step::move) {
      for (int64_t i = 0; i < n; ++i) {
        std::memcpy(rows[i].to, moved(plane.memory, rows[i].at), static_cast<size_t>(plane.bytes));
      }
    }
  }
  return n;
}

// Reads packed rows. *staged numbers them from 0 on. Returns n, or the place of the first number whose row failed, or -1
// if there is no memory.
int64_t FileRows::stage_packed(const int64_t* numbers, int64_t n, StagedRows* staged, files::Failure* failure) {
  const int64_t bytes = std::max<int64_t>(n, 1) * packed_bytes_;
  char* const memory = staged->resize(bytes);
  if (!memory) {
    note_no_memory(bytes);
    return -1;
  }
  core::PackedPlan& plan = staged->plan = plan_.packed;
  plan.stride = plan.codec.row_bytes;
  staged->packed = {&plan, memory, nullptr, nullptr};
  for (int32_t p = 1; p < plane_count_; ++p) {
    const Plane& plane = planes_[p];
    const char* const first = moved(memory, n * plane.at - plane.low);
    const bool is_scales = plane.role == Role::scales;
    (is_scales ? plan.scales : plan.zeros).row = plane.bytes;
    (is_scales ? staged->packed.scales : staged->packed.zeros) = first;
  }
  return pass_planes(numbers, n, memory, failure);
}

namespace {

struct Numbers {
  int64_t at[requested_rows];
};

constexpr Numbers in_order = [] {
  Numbers all{};
  for (int64_t i = 0; i < requested_rows; ++i) all.at[i] = i;
  return all;
}();

}  // namespace

// Takes the step for some packed rows, whose numbers were found, of one line. Returns false after a failure.
bool FileRows::pass_packed(const Job& job, const RowBlock& line, const int64_t* numbers, int64_t n,
                           StagedRows* staged) {
  if (n == 0) return true;
  files::Failure failure;
  const bool moves = step_ == Step::move;
  const int64_t good = moves ? stage_packed(numbers, n, staged, &failure) : pass_planes(numbers, n, nullptr, &failure);
  if (good >= 0 && good < n) note_failure(failure, numbers[good]);
  if (good < n || !moves) return good == n;
  job.kernels.move(
      {line.rows, line.row_stride, nullptr, in_order.at, n, line.row_bytes, 1, 0, 0, 0, 0, &staged->packed});
  return true;
}

// Rows that no tuple selects divide a line into runs.
GATHER_NOINLINE void FileRows::move_packed(const Job& job, const RowBlock& block) {
  const int64_t most = std::clamp(staged_bytes / packed_bytes_, int64_t{1}, requested_rows);
  StagedRows staged;
  for (int64_t l = 0; l < block.lines; ++l) {
    const int64_t* const offsets = block.offsets + l * block.next_offsets;
    const int64_t table = row_number(block.table) + wrapping_multiply(l, block.next_table);
    RowBlock line = block;
    for (int64_t first = 0, last; first < block.n; first = last) {
      int64_t numbers[requested_rows], n = 0;
      for (last = first; last < block.n && n < most && offsets[last] != no_row; ++last) {
        numbers[n++] = table + offsets[last];
      }
      line.rows = moved(block.rows, wrapping_multiply(l, block.next_rows) + wrapping_multiply(first, block.row_stride));
      if (!pass_packed(job, line, numbers, n, &staged)) return;
      if (last < block.n && offsets[last] == no_row) ++last;
    }
  }
}

// ---- Bags

void FileRows::bring(const int64_t* ids, int64_t n) {
  for (Role role : core::EachRole{plan_.in_files}) {
    const files::Table* const table = tables_[role];
    if (!table || !table->is_brought() || table->row_bytes() == 0) continue;
    Wanted rows[requested_rows];
    int64_t known[requested_rows];
    for (int64_t first = 0, count = 0; first < n || count > 0;) {
      for (; first < n && count < requested_rows; ++first) {
        if (ids[first] < 0) continue;
        known[count] = ids[first];
        rows[count++] = {table->rows() == 1 ? 0 : ids[first] * table->row_bytes(), nullptr};
      }
      files::Failure failure;
      const int64_t good = files::bring(*table, rows, count, table->row_bytes(), &failure);
      if (good < count) return note_failure(failure, known[good]);
      count = 0;
    }
  }
}

GATHER_NOINLINE bool FileRows::stage(const BagRows& bags, int64_t item, int64_t* ids, StagedRows* memory,
                                     BagRows* staged) {
  if (has_failed()) return false;
  const int64_t begin = bags.begin[0], end = bags.begin[bags.bags];
  int64_t distinct[block_ids], n = 0;
  for (int64_t k = begin; k < end; ++k) {
    const bool is_row = static_cast<uint64_t>(bags.ids[k]) < static_cast<uint64_t>(bags.rows);
    if (!is_row && bags.ids[k] != row_of_fill) return false;
    if (is_row) distinct[n++] = bags.ids[k];
  }
  std::sort(distinct, distinct + n);
  n = std::unique(distinct, distinct + n) - distinct;
  for (int64_t k = begin; k < end; ++k) {
    const bool is_row = bags.ids[k] != row_of_fill;
    ids[k] = is_row ? std::lower_bound(distinct, distinct + n, bags.ids[k]) - distinct : row_of_fill;
  }
  *staged = bags;
  staged->ids = ids;
  staged->readable = end;
  staged->rows = n;
  staged->table = nullptr;
  const int64_t table = row_number(bags.table);
  files::Failure failure;
  if (plan_.packed.is_packed()) {
    int64_t numbers[block_ids];
    for (int64_t i = 0; i < n; ++i) numbers[i] = table + wrapping_multiply(distinct[i], bags.stride);
    staged->stride = 1;
    staged->packed = &memory->packed;
    const int64_t good = stage_packed(numbers, n, memory, &failure);
    if (good >= 0 && good < n) note_failure(failure, distinct[good]);
    return good == n;
  }
  const int64_t bytes = bags.elements * item;
  const int64_t needed = std::max<int64_t>(n * bytes, 1);
  char* const rows = memory->resize(needed);
  if (!rows) {
    note_no_memory(needed);
    return false;
  }
  Wanted wanted[block_ids];
  for (int64_t i = 0; i < n; ++i) wanted[i] = {table + wrapping_multiply(distinct[i], bags.stride), rows + i * bytes};
  staged->table = rows;
  staged->stride = bytes;
  const int64_t good = files::read(*tables_.table, wanted, n, bytes, &failure);
  if (good < n) note_failure(failure, distinct[good]);
  return good == n;
}

}  // namespace gather::cpu
