#pragma once

#include "gather/gather.h"

namespace gather::core {

// Finds a format by its name. Returns false if there is none.
bool find_format(const char* name, gth_codec* out);

}  // namespace gather::core
