#include "ptx/poll.hpp"
#include "device_test.hpp"

// The host polls a record while kernels run, in the order in which their PTX writes it.
namespace {

using device::Context;
using device::Lookup;
using device::Stream;

class Polls : public device::DeviceTest {};

TEST_F(Polls, HostThatPollsTheCountFindsTheOtherFields) {
  for (const int64_t picks : {int64_t{40}, device::in_front}) {
    auto* record = static_cast<gth_error_record*>(device::allocate_host(sizeof(gth_error_record)));
    *record = {};
    device::describe(record, sizeof *record);
    const Stream stream;
    {
      const Context context(stream.get(), record);
      Lookup lookup(6, 64, picks);
      std::vector<int64_t> rows(static_cast<size_t>(picks), 5);
      rows[7] = 6;
      lookup.pick(rows);
      gth_ptx_poll(record);
      const int64_t sequence = lookup.enqueue(context);
      gth_ptx_poll(nullptr);
      EXPECT_EQ(record->count, 1u);
      EXPECT_EQ(record->sequence, sequence);
      context.expect_taken({GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 7, 6, 6});
    }
    device::deallocate_host(record);
  }
}

}  // namespace
