#include "cpu/one_block.hpp"

#include "cpu/move.hpp"
#include "cpu/pieces.hpp"
#include "cpu/validate.hpp"

namespace gather::cpu {

bool is_one_block(const Job& job) {
  if (job.plan.split.count != 1 || copied_bytes(job) >= parallel_bytes) return false;
  if (job.copying.outer_count == 0) return job.slices <= max_resolved;
  if (job.copying.outer_count > 1) return false;
  if (job.repeats) return job.copying.line.extent <= max_resolved;
  // The first invalid tuple of the block must be the one with the smallest position.
  const SizedLoop& line = job.copying.line;
  const bool in_order = job.next_loop().position == wrapping_multiply(line.extent, line.position);
  return in_order && job.merged_lines > 1 && job.slices <= job.merged_lines * line.extent;
}

int32_t run_one_block(const Job& job, const BeforeWrite& before_write, const core::Error& error) {
  const SizedLoop& line = job.copying.line;
  const int64_t lines = job.copying.outer_count == 0 ? 1 : job.next_loop().extent;
  const TupleBlock block{lines, line.extent, job.repeats};
  BlockResolver resolver(job, has_own_offsets(job, job.kernels.prefetches));
  if (!resolver.resolve(job.indices, block)) {
    const BadTuple& bad = resolver.bad();
    const int64_t position = wrapping_multiply(bad.tuple / line.extent, job.next_loop().position) +
                             wrapping_multiply(bad.tuple % line.extent, line.position);
    return fail_bad_tuple(job.plan, position, bad, error);
  }
  if (int32_t status = before_write()) return status;
  move_block(job, resolver, block, job.table, job.rows, job.kernels.prefetches);
  return GTH_OK;
}

}  // namespace gather::cpu
