#pragma once

#include <cstdint>

#include "core/base/error.hpp"
#include "core/options/options.hpp"
#include "core/types/dtype.hpp"

namespace gather::core {

// The dtypes of a request. An operand that the request does not have has the dtype of the table.
typedef ByRole<const DtypeInfo*> Dtypes;

// Looks up the dtypes of the operands `roles`, and checks them by the rules of the operation and of the profile. If
// `may_be_unknown` is true, a dtype of 0 is not checked.
int32_t resolve_dtypes(const Settings& settings, const ByRole<const gth_tensor_desc*>& operands, RoleSet roles,
                       bool may_be_unknown, Dtypes* result, const Error& error);

}  // namespace gather::core
