#include "cpu/job.hpp"

namespace gather::cpu {
namespace {

Steps fill_in(const core::Loop& loop, int64_t n) {
  return {loop.extent.at(n), loop.params.at(n), loop.index.at(n), loop.out.at(n), loop.position.at(n)};
}

void add(int64_t* to, int64_t steps, int64_t stride) {
  *to = static_cast<int64_t>(static_cast<uint64_t>(*to) + static_cast<uint64_t>(steps_of(steps, stride)));
}

}  // namespace

Job::Job(const core::Plan& p, const core::Pointers& pointers, int64_t n, const Kernels& chosen)
    : plan(p),
      kernels(chosen),
      params(moved(pointers.params, p.params_offset)),
      indices(moved(pointers.indices, p.indices_offset)),
      out(moved(pointers.out, p.out_offset)),
      slices(p.slices.at(n)),
      in_order(true),
      line(fill_in(p.loops[p.line], n)),
      around_count(0),
      inner_count(p.end - p.inner_begin) {
  judged = judged_line();
  int64_t before = INT64_MAX;  // the position's step of the judged loop before
  for (int32_t i = 0; i < p.inner_begin; ++i) {
    if (i == p.line) continue;
    const Steps loop = around[around_count++] = fill_in(p.loops[i], n);
    if (loop.index == 0) continue;
    judged *= loop.extent;
    in_order &= loop.position <= before;
    before = loop.position;
  }
  in_order &= line.index == 0 || line.position <= before;
  for (int32_t i = 0; i < inner_count; ++i) inner[i] = fill_in(p.loops[p.inner_begin + i], n);
}

Lines::Lines(const Job& job, Walk walk) : job_(job) {
  for (int32_t i = 0; i < job.around_count; ++i) {
    if (walk == Walk::validating && job.around[i].index == 0) continue;
    loop_[count_] = static_cast<uint8_t>(i);
    at_[count_++] = 0;
  }
}

void Lines::move(const Steps& loop, int64_t by) {
  add(&params_, by, loop.params);
  add(&index_, by, loop.index);
  add(&out_, by, loop.out);
  add(&position_, by, loop.position);
}

void Lines::seek(int64_t line) {
  for (int32_t i = count_; i-- > 0;) {
    const Steps& loop = job_.around[loop_[i]];
    const int64_t at = line % loop.extent;
    line /= loop.extent;
    move(loop, at - at_[i]);
    at_[i] = at;
  }
}

void Lines::next() {
  for (int32_t i = count_; i-- > 0;) {
    const Steps& loop = job_.around[loop_[i]];
    if (++at_[i] < loop.extent) return move(loop, 1);
    move(loop, 1 - loop.extent);
    at_[i] = 0;
  }
}

}  // namespace gather::cpu
