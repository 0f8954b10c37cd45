#include "operation.h"

#include <stddef.h>

static const operation operations[] = {
    {gth_gather_shape, gth_gather_desc},
    {gth_gather_nd_shape, gth_gather_nd_desc},
    {gth_gather_elements_shape, gth_gather_elements_desc},
};

static const scatter_function scatters[] = {gth_scatter_desc, gth_scatter_nd_desc, gth_scatter_elements_desc};

enum { OPERATIONS = sizeof operations / sizeof *operations, SCATTERS = sizeof scatters / sizeof *scatters };

const operation *operation_numbered(int64_t number) {
  return number >= 0 && number < OPERATIONS ? &operations[number] : NULL;
}

scatter_function scatter_numbered(int64_t number) { return number >= 0 && number < SCATTERS ? scatters[number] : NULL; }
