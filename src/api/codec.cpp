#include <cinttypes>

#include "api/api_boundary.hpp"
#include "core/base/structs.hpp"
#include "core/meaning/codec_formats.hpp"
#include "core/meaning/codec_meaning.hpp"

namespace gather::api {
namespace {

int32_t fail_pointer(const char* name, const Error& error) {
  return error.fail({GTH_E_NULL, GTH_OPERAND_CODEC}, "codec: %s is NULL", name);
}

int32_t describe(const char* name, gth_codec* codec, const Error& error) {
  if (!name) return fail_pointer("name", error);
  if (!codec) return fail_pointer("codec", error);
  if (int32_t status = core::check_struct_size(codec, GTH_OPERAND_CODEC, error)) return status;
  gth_codec found;
  if (!core::find_format(name, &found)) {
    return error.fail({GTH_E_VERSION, GTH_OPERAND_CODEC}, "codec: there is no format '%.32s'", name);
  }
  core::write_struct(found, codec);
  return GTH_OK;
}

int32_t measure(const gth_codec* given, int64_t values, int64_t* bytes, const Error& error) {
  if (!given) return fail_pointer("codec", error);
  if (!bytes) return fail_pointer("bytes", error);
  gth_codec room;
  if (int32_t status = core::read_struct(given, &room, &given, GTH_OPERAND_CODEC, error)) return status;
  if (values < 0) {
    return error.fail({GTH_E_SHAPE, GTH_OPERAND_CODEC, -1, -1, values, 0}, "codec: a row of %" PRId64 " numbers",
                      values);
  }
  core::Codec codec;
  if (int32_t status = core::resolve_codec(*given, values, &codec, error)) return status;
  *bytes = codec.row_bytes;
  return GTH_OK;
}

}  // namespace
}  // namespace gather::api

using namespace gather::api;

int32_t gth_codec_named(const char* name, gth_codec* codec, gth_error* err) {
  return api_boundary(err, [&](const Error& error) { return describe(name, codec, error); });
}

int32_t gth_codec_row_bytes(const gth_codec* codec, int64_t values, int64_t* bytes, gth_error* err) {
  return api_boundary(err, [&](const Error& error) { return measure(codec, values, bytes, error); });
}
