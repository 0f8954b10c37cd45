#include <cstddef>
#include <cstring>

#include "guarded.hpp"
#include "handles.hpp"
#include "sanitizers.hpp"

// The sizes of structs are validated, and larger structs of newer callers are accepted.
namespace {

using namespace handles;

// Struct sizes and switches are checked before handles.
TEST_F(Handles, E6_VersionIsCheckedBeforeHandles) {
  gth_tensor_desc desc = p_;
  desc.size = 3;
  gth_options options = GTH_OPTIONS_INIT;
  options.size = 3;
  gth_context* garbage = token<gth_context>(1);
  gth_tensor* made = nullptr;
  EXPECT_EQ(gth_tensor_adopt(garbage, &desc, [](void*) {}, nullptr, &made, nullptr), GTH_E_VERSION);
  EXPECT_EQ(gth_gather(garbage, &desc, &i_, &o_, nullptr, nullptr), GTH_E_VERSION);
  EXPECT_EQ(calls::gather.run(garbage, params.get(), indices.get(), out.get(), &options, nullptr), GTH_E_VERSION);
}

TEST_F(Handles, E6_InvalidStructSizesAreRejected) {
  for (uint32_t size :
       {0u, 3u, sizeof32<gth_options>() - 4, sizeof32<gth_options>() + 2, 4100u, 1u << 31, UINT32_MAX}) {
    gth_options options = GTH_OPTIONS_INIT;
    options.size = size;
    expect(gth_gather(nullptr, &p_, &i_, &o_, &options, &error),
           {GTH_E_VERSION, GTH_OPERAND_OPTIONS, 0, -1, size, sizeof(gth_options)});
    gth_context_options made_with = GTH_CONTEXT_OPTIONS_INIT;
    made_with.size = size == sizeof32<gth_options>() - 4 ? sizeof32<gth_context_options>() - 4 : size;
    if (size == sizeof32<gth_options>() + 2) made_with.size = sizeof32<gth_context_options>() + 2;
    gth_context* context = token<gth_context>(1);
    expect(gth_context_create(&made_with, &context, &error),
           {GTH_E_VERSION, GTH_OPERAND_OPTIONS, 0, -1, made_with.size, sizeof(gth_context_options)});
    EXPECT_EQ(context, nullptr);
  }
}

TEST_F(Handles, E6_InvalidDescriptionSizesAreRejected) {
  constexpr uint32_t known = sizeof(gth_tensor_desc);
  for (uint32_t size : {0u, 3u, known - 4, known + 2, 4100u, UINT32_MAX}) {
    gth_tensor_desc bad[3] = {p_, i_, o_};
    const int32_t operands[] = {GTH_OPERAND_PARAMS, GTH_OPERAND_INDICES, GTH_OPERAND_OUT};
    for (int32_t k = 0; k < 3; ++k) {
      bad[k].size = size;
      expect(gth_gather(nullptr, &bad[0], &bad[1], &bad[2], nullptr, &error),
             {GTH_E_VERSION, operands[k], 0, -1, size, known});
      bad[k].size = known;
    }
    bad[0].size = size;
    gth_tensor* made = nullptr;
    expect(gth_tensor_borrow(&bad[0], &made, &error), {GTH_E_VERSION, GTH_OPERAND_TENSOR, 0, -1, size, known});
    EXPECT_EQ(gth_tensor_describe(params.get(), &bad[0], &error), GTH_E_VERSION);
    EXPECT_EQ(bad[0].ndim, 2);
    gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
    info.size = size == known - 4 || size == known + 2 ? 6 : size;
    EXPECT_EQ(gth_capabilities(&info, &error), GTH_E_VERSION);
    EXPECT_EQ(info.abi, 0u);
  }
}

// A shape query reads few fields of its structs, but checks all of them.
TEST_F(Handles, E6_InvalidStructsOfShapeQueriesAreRejected) {
  int32_t ndim = -7;
  int64_t shape[4];
  const auto query = [&](const gth_tensor_desc& p, const gth_tensor_desc& i, const gth_options* options) {
    return calls::gather.infer(&p, &i, options, 4, &ndim, shape, &error);
  };
  constexpr uint32_t known = sizeof(gth_tensor_desc);
  for (const int32_t operand : {GTH_OPERAND_PARAMS, GTH_OPERAND_INDICES}) {
    gth_tensor_desc pair[] = {p_, i_};
    gth_tensor_desc& bad = pair[operand - GTH_OPERAND_PARAMS];
    bad.size = known - 4;
    expect(query(pair[0], pair[1], nullptr), {GTH_E_VERSION, operand, 0, -1, known - 4, known});
    bad.size = known;
    bad.flags = 6;
    expect(query(pair[0], pair[1], nullptr), {GTH_E_VERSION, operand, -1, -1, 6, GTH_TENSOR_READONLY});
    bad.flags = 0;
    const gth_codec unknown{};
    bad.codec = &unknown;
    expect(query(pair[0], pair[1], nullptr), operand == GTH_OPERAND_PARAMS
                                                 ? Facts{GTH_E_VERSION, GTH_OPERAND_CODEC, 0, -1, 0, sizeof(gth_codec)}
                                                 : Facts{GTH_E_UNSUPPORTED, operand});
  }
  gth_options options = GTH_OPTIONS_INIT;
  options.bounds = 99;
  expect(query(p_, i_, &options),
         {GTH_E_VERSION, GTH_OPERAND_OPTIONS, offsetof(gth_options, bounds), -1, 99, GTH_BOUNDS_ERROR_PARTIAL});
  EXPECT_EQ(ndim, -7);
}

TEST_F(Handles, E6_InvalidSizeOfTheErrorIsRejected) {
  Plan plan;
  ASSERT_EQ(calls::gather.plan(&p_, &i_, nullptr, nullptr, plan.out(), nullptr), GTH_OK);
  for (uint32_t size : {0u, 3u, sizeof32<gth_error>() - 4, 4100u, UINT32_MAX}) {
    Error bad;
    bad.size = size;
    const Error before = bad;
    EXPECT_EQ(gth_gather(nullptr, nullptr, &i_, &o_, nullptr, &bad), GTH_E_VERSION);
    gth_tensor* made = token<gth_tensor>(1);
    EXPECT_EQ(calls::gather.make(nullptr, params.get(), indices.get(), nullptr, nullptr, &made, &bad), GTH_E_VERSION);
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(gth_plan_run(nullptr, plan.get(), GTH_OPEN, p_.data, i_.data, out_.data(), &bad), GTH_E_VERSION);
    EXPECT_EQ(
        calls::run_args(nullptr, plan.get(), calls::args(GTH_OPEN, p_.data, i_.data, out_.data(), 32, 24, 24), &bad),
        GTH_E_VERSION);
    EXPECT_EQ(std::memcmp(&bad, &before, sizeof bad), 0);
  }
}

// A larger struct of a newer caller is accepted if its unknown bytes are zero.
TEST_F(Handles, E6_LargerStructsWithZerosAreAccepted) {
  struct {
    gth_options known;
    uint32_t more[6];
  } options = {GTH_OPTIONS_INIT, {}};
  options.known.size = sizeof options;
  struct {
    gth_tensor_desc known;
    uint32_t more[(4096 - sizeof(gth_tensor_desc)) / 4];
  } desc = {p_, {}};
  desc.known.size = 4096;
  const Array target(f32, {3, 2});
  const gth_tensor_desc target_desc = target.desc();
  EXPECT_EQ(gth_gather(nullptr, &desc.known, &i_, &target_desc, &options.known, &error), GTH_OK) << error.message;
  EXPECT_TRUE(target.bytes() == rows_of(params_, 8, {2, 0, 3}));
  options.more[5] = 1u << 31;
  expect(gth_gather(nullptr, &p_, &i_, &o_, &options.known, &error),
         {GTH_E_VERSION, GTH_OPERAND_OPTIONS, sizeof(gth_options), -1, sizeof options, sizeof(gth_options)});
  options.more[5] = 0;
  desc.more[0] = 1;
  EXPECT_EQ(gth_gather(nullptr, &desc.known, &i_, &o_, &options.known, &error), GTH_E_VERSION);
  EXPECT_EQ(error.operand, GTH_OPERAND_PARAMS);
}

// Only the size of a description that is too short is read.
TEST_F(Handles, ShortDescriptionAtTheEndOfAPageIsRejected) {
  const Guarded page(1);
  const int64_t step = GATHER_SANITIZED ? 8 : 4;  // sanitizers report the alignment before the size is read
  for (int64_t bytes = step; bytes < int64_t{sizeof(gth_tensor_desc)}; bytes += step) {
    auto* desc = reinterpret_cast<gth_tensor_desc*>(page.at(bytes, false));
    const uint32_t size = 4;
    std::memcpy(desc, &size, sizeof size);
    gth_tensor* tensor = nullptr;
    EXPECT_EQ(gth_tensor_borrow(desc, &tensor, nullptr), GTH_E_VERSION);
  }
}

}  // namespace
