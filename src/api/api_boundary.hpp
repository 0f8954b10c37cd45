#pragma once

#include <cstdint>
#include <new>

#include "core/base/error.hpp"
#include "core/base/structs.hpp"

namespace gather::execution {}

namespace gather::api {

using namespace execution;
using core::Error;
using core::fail_memory;
using core::fail_null;

inline bool is_error_struct(const gth_error* err) { return !err || core::is_struct_size<gth_error>(err->size); }

// Records success in err, and returns GTH_OK.
inline int32_t succeed(gth_error* err) {
  if (err) err->status = GTH_OK;
  return GTH_OK;
}

// Runs the body of an exported function that can fail. Converts exceptions to a status. err->status is GTH_OK on
// success.
template <class Body>
int32_t api_boundary(gth_error* err, Body&& body) noexcept {
  if (!is_error_struct(err)) return GTH_E_VERSION;
  const Error error(err);
  int32_t status;
  try {
    status = body(error);
  } catch (const std::bad_alloc&) {
    return error.fail({GTH_E_NOMEM}, "out of memory");
  } catch (...) {
    return error.fail({GTH_E_INTERNAL}, "unexpected exception inside the library or a hook");
  }
  return status == GTH_OK ? succeed(err) : status;
}

// The same for functions that return an object. *out is NULL unless the status is GTH_OK.
template <class Object, class Body>
int32_t api_boundary(Object** out, gth_error* err, Body&& body) noexcept {
  if (out) *out = nullptr;
  return api_boundary(err, [&](const Error& error) {
    if (!out) return error.fail({GTH_E_NULL, GTH_OPERAND_NONE}, "out is NULL");
    return body(error);
  });
}

}  // namespace gather::api
