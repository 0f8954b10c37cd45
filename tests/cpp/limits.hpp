#pragma once

#include "../../src/core/base/limits.hpp"

// The numbers at which the library takes another path. Tests draw their sizes around them.
namespace limits = gather::limits;
