// Every macro of gather.h that initialises a struct, used from C++. This file is compiled and not run.
#include <gather/gather.hpp>

namespace {

const int64_t shape[1] = {1};
const float data[1] = {0};

}  // namespace

extern const gth_error error;
extern const gth_capability_info info;
extern const gth_context_options context;
extern const gth_tensor_desc desc;
extern const gth_tensor_desc dense;
extern const gth_options options;
extern const gth_shards shards;
extern const gth_parts parts;

const gth_error error = GTH_ERROR_INIT;
const gth_capability_info info = GTH_CAPABILITY_INFO_INIT;
const gth_context_options context = GTH_CONTEXT_OPTIONS_INIT;
const gth_tensor_desc desc = GTH_TENSOR_DESC_INIT;
const gth_tensor_desc dense = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, shape, data);
const gth_options options = GTH_OPTIONS_INIT;
const gth_shards shards = GTH_SHARDS_INIT;
const gth_parts parts = GTH_PARTS_INIT;
