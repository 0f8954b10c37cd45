/* The C functions of columns. The structs of the Arrow C data interface are passed as addresses. */
#ifndef GATHER_GO_COLUMNS_H
#define GATHER_GO_COLUMNS_H

#include "shim.h"

/* Declares the parameters of a gth_take except its options. */
#define GATHER_GO_TAKE uint32_t flags, GATHER_GO_TENSOR(indices), const uint8_t *validity, int64_t validity_offset

gather_go_error *gather_go_column(const void *schema, int64_t count, void *const *chunks, gather_go_handle *column);
gather_go_error *gather_go_column_stream(void *stream, gather_go_handle *column);
void gather_go_column_release(gather_go_handle column);
gather_go_error *gather_go_column_take(gather_go_handle context, gather_go_handle column, GATHER_GO_TAKE,
                                       const gth_options *options, void *schema, void *array);

/* Writes the row number of each index. rows has space for `capacity` numbers. */
gather_go_error *gather_go_resolve(gather_go_handle context, int64_t extent, GATHER_GO_TAKE, const gth_options *options,
                                   int64_t capacity, int64_t *rows);

#endif
