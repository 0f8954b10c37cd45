#include "columns.h"

#include "call.h"

#define COLUMN(handle) ((gth_column *)(handle))

/* Describes the take of a call with the parameters of GATHER_GO_TAKE. */
#define DESCRIBE_TAKE(given)                           \
  const gth_tensor_desc described = DESCRIBE(indices); \
  gth_take take = GTH_TAKE_INIT;                       \
  take.flags = flags;                                  \
  take.indices = &described;                           \
  take.validity = validity;                            \
  take.validity_offset = validity_offset;              \
  take.options = (given)

gather_go_error *gather_go_column(const void *schema, int64_t count, void *const *chunks, gather_go_handle *column) {
  BEGIN;
  gth_column *made = NULL;
  const int32_t status = gth_column_from_arrow(NULL, schema, count, (struct ArrowArray *const *)chunks, &made, &err);
  *column = (gather_go_handle)made;
  END(status);
}

gather_go_error *gather_go_column_stream(void *stream, gather_go_handle *column) {
  BEGIN;
  gth_column *made = NULL;
  const int32_t status = gth_column_from_arrow_stream(NULL, stream, &made, &err);
  *column = (gather_go_handle)made;
  END(status);
}

void gather_go_column_release(gather_go_handle column) { gth_column_release(COLUMN(column)); }

gather_go_error *gather_go_column_take(gather_go_handle context, gather_go_handle column, GATHER_GO_TAKE,
                                       const gth_options *options, void *schema, void *array) {
  BEGIN;
  DESCRIBE_TAKE(options);
  END(gth_column_take(CONTEXT(context), COLUMN(column), &take, schema, array, &err));
}

gather_go_error *gather_go_resolve(gather_go_handle context, int64_t extent, GATHER_GO_TAKE, const gth_options *options,
                                   int64_t capacity, int64_t *rows) {
  BEGIN;
  DESCRIBE_TAKE(options);
  END(gth_resolve(CONTEXT(context), extent, &take, capacity, rows, &err));
}
