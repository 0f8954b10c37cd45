#include "array.h"

#include "arrow.h"
#include "exchange.h"
#include "numpy.h"

#include <string.h>

int array_is_made_for(const state *known, PyObject *params) {
  return is_numpys(known, params) || exchange_known(known, params) || arrow_dtype(known, params);
}

PyObject *array_new(const state *known, PyObject *like, int32_t dtype, int32_t ndim, const int64_t *shape,
                    operand *opened) {
  if (!is_numpys(known, like)) {
    const exchange *entry = exchange_known(known, like);
    return entry ? exchange_new(entry, dtype, ndim, shape, opened) : arrow_new(known, like, dtype, ndim, shape, opened);
  }
  PyObject *array = numpy_new(known, like, ndim, shape);
  if (array) {
    numpy_open_new(array, dtype, ndim, shape, opened);
  }
  return array;
}

void array_zero(const operand *opened) {
  int64_t size = gth_dtype_size(opened->desc.dtype);
  for (int32_t i = 0; i < opened->desc.ndim; i++) {
    size *= opened->desc.shape[i];
  }
  if (size > 0) {
    memset((char *)opened->desc.data + opened->desc.offset, 0, (size_t)size);
  }
}

PyObject *array_or_scalar(const state *known, PyObject *array, int32_t ndim) {
  return array && ndim == 0 && is_numpys(known, array) ? numpy_scalar(array) : array;
}

int array_written(const state *known, PyObject *array, int32_t status) {
  const exchange *entry = status == GTH_OK || status == GTH_E_RACE ? exchange_known(known, array) : NULL;
  return !entry || exchange_written(entry, array);
}
