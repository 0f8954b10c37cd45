#pragma once

#include "cuda/alignment.hpp"
#include "cuda/bag_job.hpp"
#include "cuda/device_context.hpp"
#include "cuda/launch.hpp"
#include "cuda/numbers.hpp"

namespace gather::cuda {

// The kernels of a call of bags: those that validate the operands, and what they have in common with the others.
class BagsCall {
 public:
  BagsCall(const core::Plan& plan, const core::Pointers& pointers, int64_t n, const Place& place);

  const PoolJob& job() const { return job_; }
  int64_t bags() const { return job_.count; }
  int64_t ids() const { return job_.ids_count; }
  uint32_t blocks_of(int64_t threads) const;

  // Bags that are visited are limited.
  int32_t check_count(const Error& error) const;

  // Returns the bytes of the sums of lengths.
  int64_t scratch_bytes() const;
  void set_scratch(char* memory);
  // Uses the state of the place. The constructor has done so, too.
  void use_state();

  // Sets what only kernels need that read rows of params. Precondition: they have elements.
  void add_rows();
  // Sets what only kernels need that pool. Precondition: add_rows has been called.
  void add_output();

  // Validates bags and ids. Functions that launch return CUDA's error number.
  int launch_checks(runtime::Stream stream) const;
  // Precondition: add_output has been called.
  int launch_pool(runtime::Stream stream) const;

  // Halves are added in float32.
  Numbers number_type() const;

 private:
  bool is_dense() const { return bags_.format == GTH_BAGS_DENSE; }
  bool checks_bags() const;
  bool validates_ids() const;

  void fill_bags();
  void fill_ids();
  void fill_bag_loops();
  void fill_weights();
  void fill_numbers();
  int launch_validation(runtime::Stream stream) const;

  const core::Plan& plan_;
  const core::BagPlan& bags_;
  const core::Pointers& pointers_;
  int64_t n_, loops_n_;
  const Place& place_;
  PoolJob job_{};
  Alignment table_;
  bool is_wide_ = false;
};

}  // namespace gather::cuda
