#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "gather/gather.h"

// The fields of a gth_error that a failing call sets.
namespace facts {

struct Facts {
  int32_t status;
  int32_t operand = GTH_OPERAND_NONE;
  int32_t component = -1;
  int64_t position = -1;
  int64_t value = 0;
  int64_t limit = 0;
  uint32_t flags = 0;
  int64_t item = -1;
};

// Compares the status and, if it is an error, the fields. `form` names the call in messages.
inline void expect_fields(int32_t status, const gth_error& error, const Facts& facts, const char* form = "") {
  EXPECT_STREQ(gth_status_name(status), gth_status_name(facts.status)) << form << ": " << error.message;
  EXPECT_EQ(error.status, status) << form;
  if (status != facts.status || status == GTH_OK) return;
  EXPECT_EQ(error.operand, facts.operand) << form << ": " << error.message;
  EXPECT_EQ(error.component, facts.component) << form << ": " << error.message;
  EXPECT_EQ(error.position, facts.position) << form << ": " << error.message;
  EXPECT_EQ(error.value, facts.value) << form << ": " << error.message;
  EXPECT_EQ(error.limit, facts.limit) << form << ": " << error.message;
  EXPECT_EQ(error.flags & ~uint32_t{GTH_ERROR_CUT}, facts.flags) << form << ": " << error.message;
}

}  // namespace facts
