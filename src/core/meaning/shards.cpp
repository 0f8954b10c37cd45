#include "core/meaning/shards.hpp"

#include <algorithm>

#include "core/base/structs.hpp"

namespace gather::core {
namespace {

// Converts a number for a message with %lld.
long long printable(int64_t value) { return static_cast<long long>(value); }

int32_t check_borders(const gth_shards& given, const Error& error) {
  int64_t before = 0;
  for (int64_t i = 0; i <= given.count; ++i) {
    const int64_t border = given.borders[i];
    const bool is_end = i == 0 || i == given.count;
    const int64_t least = i == given.count ? given.rows : before, most = i == 0 ? 0 : given.rows;
    if (border < least || border > most) {
      return error.fail({GTH_E_SHAPE, GTH_OPERAND_NONE, -1, i, border, most},
                        is_end ? "shards: border %lld is %lld, not %lld"
                               : "shards: border %lld is %lld, valid are the border before it to %lld",
                        printable(i), printable(border), printable(most));
    }
    before = border;
  }
  return GTH_OK;
}

}  // namespace

int32_t read_shards(const gth_shards* given, gth_shards* room, const gth_shards** out, const Error& error) {
  if (int32_t status = read_struct(given, room, out, GTH_OPERAND_NONE, error)) return status;
  const gth_shards& read = **out;
  if (read.kind < 0 || read.kind > GTH_SHARDS_BORDERS) {
    return error.fail({GTH_E_VERSION, GTH_OPERAND_NONE, -1, -1, read.kind, GTH_SHARDS_BORDERS},
                      "shards: kind is %d, which is not one of GTH_SHARDS_*", read.kind);
  }
  if (read.kind != GTH_SHARDS_BORDERS || read.borders || read.count < 1) return GTH_OK;
  return error.fail({GTH_E_NULL}, "shards: borders is NULL");
}

int32_t resolve_shards(const gth_shards& given, Shards* out, const Error& error) {
  if (given.rows < 0 || given.count < 1) {
    const bool no_rows = given.rows < 0;
    return error.fail(
        {GTH_E_SHAPE, GTH_OPERAND_NONE, -1, -1, no_rows ? given.rows : given.count, 0},
        no_rows ? "shards: rows is %lld, needed is at least 0" : "shards: count is %lld, needed is at least 1",
        printable(no_rows ? given.rows : given.count));
  }
  if (given.kind == GTH_SHARDS_BORDERS) {
    if (int32_t status = check_borders(given, error)) return status;
  }
  const int64_t block = given.rows / given.count + (given.rows % given.count != 0);
  *out = {given.kind == 0 ? GTH_SHARDS_BLOCKS : given.kind, given.rows, given.count,
          given.kind == GTH_SHARDS_MODULO ? given.count : std::max<int64_t>(1, block), given.borders};
  return GTH_OK;
}

}  // namespace gather::core
