#pragma once

#include <cstdint>

#include "gather/gather.h"

namespace gather::columns {

// A failure. Its position is that of a row of the level of nesting that found it. Each outer level converts it, and the
// outermost one reports it.
struct Trouble {
  int32_t status = GTH_OK;
  int64_t position = -1;
  int64_t value = 0, limit = 0;
  const char* what = "";
  const char* format = nullptr;  // the format of a type that is not supported
  const char* name = nullptr;    // the name of the outermost field that contains it, if it has one
  uint32_t flags = 0;            // GTH_ERROR_*

  __attribute__((cold)) int32_t fail(int32_t code, const char* text, int64_t number = 0, int64_t bound = 0,
                                     int64_t at = -1) {
    *this = {code, at, number, bound, text};
    return code;
  }
  int32_t fail_memory(int64_t bytes) { return fail(GTH_E_NOMEM, "memory cannot be allocated", bytes); }
};

}  // namespace gather::columns
