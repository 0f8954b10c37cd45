/* A compiler warns if a call drops its status, and accepts that a release does. */
#include <gather/gather.h>

void drop(const gth_tensor_desc *desc) {
  gth_tensor *tensor = 0;
  gth_tensor_borrow(desc, &tensor, 0);
  gth_tensor_release(tensor);
}
