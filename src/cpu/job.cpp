#include "cpu/job.hpp"

namespace gather::cpu {
namespace {

Steps fill_in(const core::Loop& loop, int64_t n) {
  return {loop.extent.at(n), loop.params.at(n), loop.index.at(n), loop.out.at(n)};
}

}  // namespace

Job::Job(const core::Plan& p, const core::Pointers& pointers, int64_t n, CopyRows copy_rows)
    : plan(p),
      params(pointers.params + p.params_offset),
      indices(pointers.indices + p.indices_offset),
      out(pointers.out + p.out_offset),
      copy(copy_rows),
      tuples(p.tuples.at(n)),
      slices(p.slices.at(n)),
      line(fill_in(p.loops[p.line], n)),
      inner_count(p.end - p.line - 1) {
  for (int32_t i = 0; i < p.line; ++i) loops[i] = fill_in(p.loops[i], n);
  for (int32_t i = 0; i < inner_count; ++i) inner[i] = fill_in(p.loops[p.line + 1 + i], n);
}

Lines::Lines(const Job& job, Walk walk) : job_(job) {
  const core::Plan& plan = job.plan;
  for (int32_t i = 0; i < plan.line; ++i) {
    const bool is_outer = i >= plan.outer_begin && i < plan.tuple_begin;
    if (is_outer && walk == Walk::validating) continue;
    loop_[count_] = static_cast<uint8_t>(i);
    at_[count_++] = 0;
  }
}

void Lines::move(const Steps& loop, int64_t by) {
  params_ += loop.params * by;
  index_ += loop.index * by;
  out_ += loop.out * by;
}

void Lines::seek(int64_t line) {
  for (int32_t i = count_; i-- > 0;) {
    const Steps& loop = job_.loops[loop_[i]];
    const int64_t at = line % loop.extent;
    line /= loop.extent;
    move(loop, at - at_[i]);
    at_[i] = at;
  }
}

void Lines::next() {
  for (int32_t i = count_; i-- > 0;) {
    const Steps& loop = job_.loops[loop_[i]];
    if (++at_[i] < loop.extent) return move(loop, 1);
    move(loop, 1 - loop.extent);
    at_[i] = 0;
  }
}

}  // namespace gather::cpu
