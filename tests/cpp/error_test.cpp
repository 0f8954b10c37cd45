#include "core/base/error.hpp"

#include <cstring>
#include <string>

#include "gtest/gtest.h"

// No message of the library fills gth_error. These tests use longer ones, which must be cut.
namespace {

using gather::core::Error;

struct Target {
  gth_error error = GTH_ERROR_INIT;
  char behind[16];

  Target() { std::memset(behind, '#', sizeof behind); }
  int32_t fail(const std::string& text) {
    return Error(&error).fail({GTH_E_SHAPE, GTH_OPERAND_PARAMS, 2, 3, 4, 5, GTH_ERROR_WRAP}, "%s", text.c_str());
  }
};

TEST(ErrorMessage, LongestMessageFits) {
  Target target;
  const std::string text(GTH_MESSAGE_SIZE - 1, 'x');
  EXPECT_EQ(target.fail(text), GTH_E_SHAPE);
  EXPECT_EQ(target.error.message, text);
  EXPECT_EQ(target.error.flags, uint32_t{GTH_ERROR_WRAP});
}

TEST(ErrorMessage, LongerMessageIsCut) {
  Target target;
  EXPECT_EQ(target.fail(std::string(GTH_MESSAGE_SIZE, 'x')), GTH_E_SHAPE);
  EXPECT_EQ(target.error.message, std::string(GTH_MESSAGE_SIZE - 1, 'x'));
  EXPECT_EQ(target.error.flags, uint32_t{GTH_ERROR_WRAP | GTH_ERROR_CUT});
  EXPECT_EQ(std::string(target.behind, sizeof target.behind), std::string(sizeof target.behind, '#'));
}

TEST(ErrorMessage, FieldsAreSetBesideTheMessage) {
  Target target;
  target.fail("text");
  EXPECT_EQ(target.error.status, GTH_E_SHAPE);
  EXPECT_EQ(target.error.operand, GTH_OPERAND_PARAMS);
  EXPECT_EQ(target.error.component, 2);
  EXPECT_EQ(target.error.position, 3);
  EXPECT_EQ(target.error.value, 4);
  EXPECT_EQ(target.error.limit, 5);
}

// If the C library cannot format a message, the message is empty.
TEST(ErrorMessage, FailedFormattingGivesAnEmptyMessage) {
  Target target;
  std::memset(target.error.message, 'y', sizeof target.error.message);
  const wchar_t no_character[] = {static_cast<wchar_t>(0x7fffffff), 0};
  EXPECT_EQ(Error(&target.error).fail({GTH_E_SHAPE, GTH_OPERAND_PARAMS, 2, 3, 4, 5}, "text %ls", no_character),
            GTH_E_SHAPE);
  EXPECT_STREQ(target.error.message, "");
  EXPECT_EQ(target.error.status, GTH_E_SHAPE);
  EXPECT_EQ(target.error.flags, 0u);
}

}  // namespace
