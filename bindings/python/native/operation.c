#include "operation.h"

#include <stddef.h>

static const operation operations[] = {
    {gth_gather_shape, gth_gather_desc},
    {gth_gather_nd_shape, gth_gather_nd_desc},
    {gth_gather_elements_shape, gth_gather_elements_desc},
};

enum { OPERATIONS = sizeof operations / sizeof *operations };

const operation *operation_numbered(int64_t number) {
  return number >= 0 && number < OPERATIONS ? &operations[number] : NULL;
}
