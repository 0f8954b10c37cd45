#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "handles.hpp"

// The names of numbers, and the errors that calls return.
namespace {

using namespace handles;

TEST_F(Handles, VersionsMatchTheHeader) {
  EXPECT_EQ(gth_abi_version(), uint32_t{GTH_ABI_VERSION});
  EXPECT_EQ(gth_version(), uint32_t{GTH_VERSION});
  gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
  ASSERT_EQ(gth_capabilities(&info, nullptr), GTH_OK);
  EXPECT_EQ(info.abi, uint32_t{GTH_ABI_VERSION});
  EXPECT_EQ(info.version, uint32_t{GTH_VERSION});
}

TEST_F(Handles, DtypesHaveSizes) {
  const std::pair<int32_t, int64_t> sizes[] = {
      {GTH_DTYPE_BOOL, 1},    {GTH_DTYPE_INT16, 2},     {GTH_DTYPE_FLOAT32, 4},
      {GTH_DTYPE_FLOAT64, 8}, {GTH_DTYPE_COMPLEX64, 8}, {GTH_DTYPE_COMPLEX128, 16},
  };
  for (const auto& [dtype, size] : sizes) {
    EXPECT_EQ(gth_dtype_size(dtype), size) << gth_dtype_name(dtype);
    EXPECT_EQ(gth_dtype_bits(dtype), 8 * size) << gth_dtype_name(dtype);
  }
}

TEST_F(Handles, E8_UnknownNumbersHaveNames) {
  for (int32_t number : {9999, 1, -26, -9999, INT32_MAX, INT32_MIN}) {
    ASSERT_NE(gth_status_name(number), nullptr);
    EXPECT_GT(std::strlen(gth_status_name(number)), 0u);
    ASSERT_NE(gth_dtype_name(number), nullptr);
    EXPECT_EQ(gth_dtype_size(number), 0);
  }
  for (int32_t status = GTH_E_IO; status < GTH_OK; ++status) {
    EXPECT_EQ(std::string(gth_status_name(status)).rfind("GTH_E_", 0), 0u);
  }
}

TEST_F(Handles, E10_TwoFailingThreadsGetTheirOwnErrors) {
  const auto fail = [&](int64_t value) {
    const Array bad = indices64({1}, {value}), target(f32, {1, 2});
    const gth_tensor_desc i = bad.desc(), o = target.desc();
    for (int32_t k = 0; k < 2000; ++k) {
      Error mine;
      expect_facts(gth_gather(nullptr, &p_, &i, &o, nullptr, &mine), mine,
                   {GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 0, value, 4});
      ASSERT_NE(std::string(mine.message).find(" is " + std::to_string(value) + ","), std::string::npos);
    }
  };
  std::thread first(fail, 77), second(fail, 99);
  first.join();
  second.join();
}

TEST_F(Handles, E12_LongMessagesAreTerminated) {
  const Array wide(GTH_DTYPE_UINT64, Shape(63, 1), std::vector<uint64_t>{UINT64_MAX});
  const Array params64(f32, {1}), target(f32, Shape(63, 1));
  const gth_tensor_desc p = params64.desc(), i = wide.desc(), o = target.desc();
  EXPECT_EQ(gth_gather(nullptr, &p, &i, &o, nullptr, &error), GTH_E_INDEX);
  const size_t length = strnlen(error.message, sizeof error.message);
  EXPECT_LE(length, 255u);
  EXPECT_EQ((error.flags & GTH_ERROR_CUT) != 0, length == 255u);
}

}  // namespace
