#include "columns/check.hpp"
#include "columns/take.hpp"

// Run-end encoded rows. Neighbouring rows of the result that come from one run are one run again.
namespace gather::columns {
namespace {

// The runs of a part.
struct RunsOfPart {
  const Type* type;  // of the ends
  const char* ends;
  int64_t count;
  int64_t shift;  // the number of row 0 in the terms of the ends

  int64_t end(int64_t run) const { return run < 0 ? 0 : run_end_at(*type, ends, run); }

  // Returns true if a row is in a run.
  bool contains(int64_t run, int64_t row) const { return row + shift >= end(run - 1) && row + shift < end(run); }

  // Finds the run of a row by binary search. Returns false if the ends that it reads do not increase. *value is then the
  // end, and *limit the number that it exceeds or does not reach.
  bool find(int64_t row, int64_t* run, int64_t* value, int64_t* limit) const {
    int64_t first = 0, last = count, least = 1, most = INT64_MAX;
    while (first < last) {
      const int64_t middle = first + (last - first) / 2;
      *value = end(middle);
      *limit = *value < least ? least : most;
      if (*value < least || *value > most) return false;
      if (*value <= row + shift) {
        first = middle + 1;
        least = *value + 1;
      } else {
        last = middle;
        most = *value - 1;
      }
    }
    *run = first;
    return first < count;
  }
};

class RunsTake {
 public:
  RunsTake(Call* call, const Level& level) : call_(call), level_(level) {}

  int32_t run() {
    const int64_t count = level_.places.count;
    const bool has_room = sources_.allocate(level_.parts.count) && values_.allocate(level_.parts.count) &&
                          runs_.allocate(count, level_.places.parts) && ends_.allocate(count) &&
                          level_.node->allocate_children(2);
    if (!has_room) return call_->trouble.fail_memory(count * int64_t{sizeof(int64_t)});
    find_sources();
    if (int32_t status = find_runs()) return status;
    if (int32_t status = write_ends()) return status;
    return take_values();
  }

 private:
  void find_sources() {
    const Type& type = level_.type.children[0];
    for (int64_t p = 0; p < level_.parts.count; ++p) {
      const Part& part = level_.parts[p];
      const ArrowArray &ends = *part.array->children[0], &values = *part.array->children[1];
      sources_[p] = {&type, moved(ends.buffers[1], ends.offset * type.width), ends.length, part.shift};
      values_[p] = {&values, values.offset};
    }
  }

  // Finds the run of each row, and the runs of the result.
  int32_t find_runs() {
    const Places& places = level_.places;
    for (int64_t i = 0; i < places.count; ++i) {
      const int64_t row = places.rows[i], part = row < 0 ? 0 : places.part(i);
      if (!continues(row, part)) {
        int64_t run = no_row, value = 0, limit = 0;
        if (row >= 0 && !sources_[part].find(row, &run, &value, &limit)) {
          return call_->trouble.fail(GTH_E_ARROW, "ends of runs do not increase", value, limit, i);
        }
        runs_.rows()[count_] = run;
        if (runs_.parts()) runs_.parts()[count_] = static_cast<uint32_t>(part);
        has_nulls_ |= row < 0;
        ++count_;
      }
      ends_[count_ - 1] = i + 1;
    }
    return GTH_OK;
  }

  // Returns true if a row belongs to the last run of the result.
  bool continues(int64_t row, int64_t part) {
    if (count_ == 0) return false;
    const int64_t last = runs_.rows()[count_ - 1];
    if (row < 0 || last < 0) return row < 0 && last < 0;
    return (!runs_.parts() || runs_.parts()[count_ - 1] == part) && sources_[part].contains(last, row);
  }

  // Writes the ends. They become 64-bit numbers if the type cannot hold the number of rows.
  int32_t write_ends() {
    int64_t width = level_.type.children[0].width;
    const int64_t most = INT64_MAX >> (64 - 8 * width);
    Node* const node = Node::create(count_, 2, level_.node->child(0));
    if (!node) return call_->trouble.fail_memory(sizeof(Node));
    if (level_.places.count > most) {
      node->is_widened = true;
      width = sizeof(int64_t);
    }
    void* const to = node->allocate(1, count_ * width);
    node->publish(level_.node->child(0));
    if (!to) return call_->trouble.fail_memory(count_ * width);
    if (node->is_widened && !call_->may_widen) {
      return call_->trouble.fail(GTH_E_SIZE, "the result needs 64-bit ends of runs", level_.places.count, most);
    }
    for (int64_t i = 0; i < count_; ++i) {
      if (width == 2) static_cast<int16_t*>(to)[i] = static_cast<int16_t>(ends_[i]);
      if (width == 4) static_cast<int32_t*>(to)[i] = static_cast<int32_t>(ends_[i]);
      if (width == 8) static_cast<int64_t*>(to)[i] = ends_[i];
    }
    return GTH_OK;
  }

  int32_t take_values() {
    const Places places{count_, runs_.rows(), runs_.parts(), has_nulls_};
    const int32_t status =
        take(call_, level_.type.children[1], {values_.data(), level_.parts.count}, places, level_.node->child(1));
    int64_t& position = call_->trouble.position;
    if (status && position > 0) position = ends_[position - 1];
    return status;
  }

  Call* call_;
  const Level& level_;
  Room<RunsOfPart, 4> sources_;
  Room<Part, 4> values_;
  NewPlaces runs_;         // the run of each run of the result
  Room<int64_t, 8> ends_;  // the end of each run of the result
  int64_t count_ = 0;
  bool has_nulls_ = false;
};

}  // namespace

int32_t take_runs(Call* call, const Level& level) { return RunsTake(call, level).run(); }

}  // namespace gather::columns
