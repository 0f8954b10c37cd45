#include "emulated.hpp"

// Indices that change while they are used. Only kernels that the host compiled can be stopped for it.
namespace {

using device::Context;
using device::Emulated;
using device::Error;
using device::Lookup;

// Another writer between judging and copying: rows are gathered or as they were, the answer is a race, and the next call
// is right.
struct Writer {
  int64_t* indices;
  uint32_t block;
  int64_t value;
};

void write_bad(void* user, uint32_t block) {
  const auto* writer = static_cast<const Writer*>(user);
  if (block == writer->block) writer->indices[0] = writer->value;
}

TEST_F(Emulated, RacingWriters) {
  for (const int64_t picks : {40, 4000}) {
    const Context context;
    Lookup lookup(6, 64, picks);
    const std::vector<int64_t> rows(static_cast<size_t>(picks), 2);
    for (const uint32_t block : {0u, 1u}) {
      lookup.pick(rows);
      lookup.clear();
      Writer writer{reinterpret_cast<int64_t*>(lookup.indices.data()), block, 1 << 30};
      gth_emulation_between(write_bad, &writer);
      const int64_t sequence = lookup.enqueue(context);
      gth_emulation_between(nullptr, nullptr);
      Error error;
      const int32_t status = gth_context_take_error(context.get(), &error);
      if (status == GTH_OK) {  // the row had been copied, and no later block judges it again
        lookup.expect_rows(rows);
        EXPECT_EQ(block, 1u);
      } else {
        device::expect_facts(status, error, {GTH_E_RACE, GTH_OPERAND_INDICES});
        EXPECT_EQ(error.sequence, sequence);
        EXPECT_EQ(error.count, 1u);
      }
      lookup.pick(rows);
      lookup.enqueue(context);
      context.expect_no_error();
      lookup.expect_rows(rows);
    }
  }
}

// The other way round: an index that is bad at first and good when later blocks judge it.
TEST_F(Emulated, RacingWritersWhileBlocksJudge) {
  const Context context;
  Lookup lookup(6, 1024, 40);  // several blocks, which judge all indices each
  std::vector<int64_t> rows(40, 2);
  rows[0] = 99;
  lookup.pick(rows);
  Writer writer{reinterpret_cast<int64_t*>(lookup.indices.data()), 0, 3};
  gth_emulation_between(write_bad, &writer);
  lookup.enqueue(context);
  context.expect_taken({GTH_E_RACE, GTH_OPERAND_INDICES});
}

// In memory of the library's a raced row is zeros, never what the memory held before.
TEST_F(Emulated, RacingWritersOfNewOutputs) {
  const Context context;
  Lookup lookup(6, 64, 40);
  lookup.pick(std::vector<int64_t>(40, 2));
  const gth_tensor_desc p = lookup.params_desc(), i = lookup.indices_desc();
  gth_tensor *params = nullptr, *indices = nullptr, *out = nullptr;
  ASSERT_EQ(gth_tensor_borrow(&p, &params, nullptr), GTH_OK);
  ASSERT_EQ(gth_tensor_borrow(&i, &indices, nullptr), GTH_OK);
  Writer writer{reinterpret_cast<int64_t*>(lookup.indices.data()), 0, 1 << 30};
  gth_emulation_between(write_bad, &writer);
  ASSERT_EQ(gth_gather(context.get(), params, indices, nullptr, &out, nullptr), GTH_OK);
  gth_emulation_between(nullptr, nullptr);
  context.expect_taken({GTH_E_RACE, GTH_OPERAND_INDICES});
  gth_tensor_desc made = GTH_TENSOR_DESC_INIT;
  ASSERT_EQ(gth_tensor_describe(out, &made, nullptr), GTH_OK);
  const auto* rows = static_cast<const int32_t*>(made.data);
  for (int64_t at = 0; at < 40 * 64; ++at) {
    EXPECT_TRUE(rows[at] == 0 || rows[at] == 2000 + at % 64) << at << ": " << rows[at];
  }
  EXPECT_EQ(rows[0], 0);
  for (gth_tensor* each : {params, indices, out}) EXPECT_EQ(gth_tensor_release(each), GTH_OK);
}

}  // namespace
