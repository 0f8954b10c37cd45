/* The numbers that are compiled into programs of earlier releases. Within an ABI number, lines are only added. The only
 * lines that may change are GTH_OP_LAST and the SIZE of a struct that has new fields at its end. */
#include "gather/gather.h"

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type)
#define FIELD(type, field, at, bytes) \
  _Static_assert(offsetof(type, field) == (at) && sizeof(((type*)0)->field) == (bytes), "place of " #type "." #field)
#define VALUE(name, number) _Static_assert((name) == (number), #name)

SIZE(gth_error, 328);
FIELD(gth_error, size, 0, 4);
FIELD(gth_error, status, 4, 4);
FIELD(gth_error, operand, 8, 4);
FIELD(gth_error, component, 12, 4);
FIELD(gth_error, native, 16, 4);
FIELD(gth_error, flags, 20, 4);
FIELD(gth_error, position, 24, 8);
FIELD(gth_error, value, 32, 8);
FIELD(gth_error, limit, 40, 8);
FIELD(gth_error, sequence, 48, 8);
FIELD(gth_error, count, 56, 8);
FIELD(gth_error, item, 64, 8);
FIELD(gth_error, message, 72, 256);

SIZE(gth_capability_info, 232);
FIELD(gth_capability_info, size, 0, 4);
FIELD(gth_capability_info, abi, 4, 4);
FIELD(gth_capability_info, version, 8, 4);
FIELD(gth_capability_info, cpu_threads, 12, 4);
FIELD(gth_capability_info, cpu_tiers_built, 16, 4);
FIELD(gth_capability_info, cpu_tiers_usable, 20, 4);
FIELD(gth_capability_info, cpu_tier, 24, 4);
FIELD(gth_capability_info, cuda_runtime, 28, 4);
FIELD(gth_capability_info, cuda_driver, 32, 4);
FIELD(gth_capability_info, device_count, 36, 4);
FIELD(gth_capability_info, device_compute, 40, 64);
FIELD(gth_capability_info, device_memory, 104, 128);

SIZE(gth_error_record, 64);
FIELD(gth_error_record, count, 0, 8);
FIELD(gth_error_record, sequence, 8, 8);
FIELD(gth_error_record, position, 16, 8);
FIELD(gth_error_record, value, 24, 8);
FIELD(gth_error_record, limit, 32, 8);
FIELD(gth_error_record, operand, 40, 4);
FIELD(gth_error_record, component, 44, 4);
FIELD(gth_error_record, status, 48, 4);
FIELD(gth_error_record, flags, 52, 4);
FIELD(gth_error_record, reserved, 56, 8);

SIZE(gth_context_options, 88);
FIELD(gth_context_options, size, 0, 4);
FIELD(gth_context_options, threads, 4, 4);
FIELD(gth_context_options, device, 8, 4);
FIELD(gth_context_options, device_id, 12, 4);
FIELD(gth_context_options, flags, 16, 4);
FIELD(gth_context_options, reserved, 20, 4);
FIELD(gth_context_options, stream, 24, 8);
FIELD(gth_context_options, record, 32, 8);
FIELD(gth_context_options, alloc, 40, 8);
FIELD(gth_context_options, free, 48, 8);
FIELD(gth_context_options, memory_user, 56, 8);
FIELD(gth_context_options, parallel_for, 64, 8);
FIELD(gth_context_options, parallel_user, 72, 8);
FIELD(gth_context_options, reserved_pointer, 80, 8);

SIZE(gth_tensor_desc, 80);
FIELD(gth_tensor_desc, size, 0, 4);
FIELD(gth_tensor_desc, dtype, 4, 4);
FIELD(gth_tensor_desc, device, 8, 4);
FIELD(gth_tensor_desc, device_id, 12, 4);
FIELD(gth_tensor_desc, ndim, 16, 4);
FIELD(gth_tensor_desc, flags, 20, 4);
FIELD(gth_tensor_desc, tensor, 24, 8);
FIELD(gth_tensor_desc, data, 32, 8);
FIELD(gth_tensor_desc, shape, 40, 8);
FIELD(gth_tensor_desc, strides, 48, 8);
FIELD(gth_tensor_desc, codec, 56, 8);
FIELD(gth_tensor_desc, offset, 64, 8);
FIELD(gth_tensor_desc, extent, 72, 8);

SIZE(gth_options, 80);
FIELD(gth_options, size, 0, 4);
FIELD(gth_options, has_axis, 4, 4);
FIELD(gth_options, axis, 8, 8);
FIELD(gth_options, batch_dims, 16, 8);
FIELD(gth_options, profile, 24, 4);
FIELD(gth_options, opset, 28, 4);
FIELD(gth_options, negative, 32, 4);
FIELD(gth_options, bounds, 36, 4);
FIELD(gth_options, fill, 40, 4);
FIELD(gth_options, threads, 44, 4);
FIELD(gth_options, extents, 48, 4);
FIELD(gth_options, reduction, 52, 4);
FIELD(gth_options, fill_value, 56, 16);
FIELD(gth_options, accumulate, 72, 4);
FIELD(gth_options, out_dtype, 76, 4);

SIZE(gth_request, 40);
FIELD(gth_request, size, 0, 4);
FIELD(gth_request, op, 4, 4);
FIELD(gth_request, table, 8, 8);
FIELD(gth_request, indices, 16, 8);
FIELD(gth_request, rows, 24, 8);
FIELD(gth_request, options, 32, 8);

SIZE(gth_plan_args, 64);
FIELD(gth_plan_args, size, 0, 4);
FIELD(gth_plan_args, flags, 4, 4);
FIELD(gth_plan_args, n, 8, 8);
FIELD(gth_plan_args, table, 16, 8);
FIELD(gth_plan_args, indices, 24, 8);
FIELD(gth_plan_args, rows, 32, 8);
FIELD(gth_plan_args, table_extent, 40, 8);
FIELD(gth_plan_args, indices_extent, 48, 8);
FIELD(gth_plan_args, rows_extent, 56, 8);

/* The sizes of the first release. */
VALUE(GTH_ERROR_FIRST, 328);
VALUE(GTH_CAPABILITY_INFO_FIRST, 232);
VALUE(GTH_CONTEXT_OPTIONS_FIRST, 88);
VALUE(GTH_TENSOR_DESC_FIRST, 80);
VALUE(GTH_OPTIONS_FIRST, 80);
VALUE(GTH_REQUEST_FIRST, 40);
VALUE(GTH_PLAN_ARGS_FIRST, 64);
VALUE(GTH_SHARDS_FIRST, 32);
VALUE(GTH_PARTS_FIRST, 64);

VALUE(GTH_ABI_VERSION, 1);
VALUE(GTH_MAX_NDIM, 64);
VALUE(GTH_MESSAGE_SIZE, 256);
VALUE(GTH_MAX_DEVICES, 16);
VALUE(GTH_OPEN, -1);

VALUE(GTH_OK, 0);
VALUE(GTH_E_NULL, -1);
VALUE(GTH_E_HANDLE, -2);
VALUE(GTH_E_VERSION, -3);
VALUE(GTH_E_DTYPE, -4);
VALUE(GTH_E_RANK, -5);
VALUE(GTH_E_AXIS, -6);
VALUE(GTH_E_BATCH, -7);
VALUE(GTH_E_SHAPE, -8);
VALUE(GTH_E_SIZE, -9);
VALUE(GTH_E_STRIDE, -10);
VALUE(GTH_E_DEVICE, -11);
VALUE(GTH_E_DLPACK, -12);
VALUE(GTH_E_ARROW, -13);
VALUE(GTH_E_READONLY, -14);
VALUE(GTH_E_ALIAS, -15);
VALUE(GTH_E_INDEX, -16);
VALUE(GTH_E_RACE, -17);
VALUE(GTH_E_NOMEM, -18);
VALUE(GTH_E_FORK, -19);
VALUE(GTH_E_CUDA, -20);
VALUE(GTH_E_CAPTURE, -21);
VALUE(GTH_E_UNSUPPORTED, -22);
VALUE(GTH_E_INTERNAL, -23);
VALUE(GTH_E_OFFSETS, -24);
VALUE(GTH_E_IO, -25);

VALUE(GTH_OPERAND_NONE, 0);
VALUE(GTH_OPERAND_PARAMS, 1);
VALUE(GTH_OPERAND_INDICES, 2);
VALUE(GTH_OPERAND_OUT, 3);
VALUE(GTH_OPERAND_OPTIONS, 4);
VALUE(GTH_OPERAND_CONTEXT, 5);
VALUE(GTH_OPERAND_PLAN, 6);
VALUE(GTH_OPERAND_TENSOR, 7);
VALUE(GTH_OPERAND_TARGET, 8);
VALUE(GTH_OPERAND_UPDATES, 9);
VALUE(GTH_OPERAND_REQUEST, 10);
VALUE(GTH_OPERAND_BAGS, 11);
VALUE(GTH_OPERAND_WEIGHTS, 12);
VALUE(GTH_OPERAND_CODEC, 13);
VALUE(GTH_OPERAND_FILE, 14);

VALUE(GTH_OP_GATHER, 1);
VALUE(GTH_OP_GATHER_ND, 2);
VALUE(GTH_OP_GATHER_ELEMENTS, 3);
VALUE(GTH_OP_SCATTER, 4);
VALUE(GTH_OP_SCATTER_ND, 5);
VALUE(GTH_OP_SCATTER_ELEMENTS, 6);
VALUE(GTH_OP_GATHER_GRADIENT, 7);
VALUE(GTH_OP_GATHER_ND_GRADIENT, 8);
VALUE(GTH_OP_GATHER_ELEMENTS_GRADIENT, 9);

VALUE(GTH_ARGS_EXTENTS, 1);

VALUE(GTH_ERROR_UNSIGNED, 1);
VALUE(GTH_ERROR_CUT, 2);
VALUE(GTH_ERROR_WRAP, 4);

VALUE(GTH_DTYPE_INT8, 8);
VALUE(GTH_DTYPE_INT16, 16);
VALUE(GTH_DTYPE_INT32, 32);
VALUE(GTH_DTYPE_INT64, 64);
VALUE(GTH_DTYPE_UINT8, 264);
VALUE(GTH_DTYPE_UINT16, 272);
VALUE(GTH_DTYPE_UINT32, 288);
VALUE(GTH_DTYPE_UINT64, 320);
VALUE(GTH_DTYPE_FLOAT16, 528);
VALUE(GTH_DTYPE_FLOAT32, 544);
VALUE(GTH_DTYPE_FLOAT64, 576);
VALUE(GTH_DTYPE_BFLOAT16, 1040);
VALUE(GTH_DTYPE_COMPLEX64, 1344);
VALUE(GTH_DTYPE_COMPLEX128, 1408);
VALUE(GTH_DTYPE_BOOL, 1544);
VALUE(GTH_DTYPE_FLOAT8_E3M4, 1800);
VALUE(GTH_DTYPE_FLOAT8_E4M3, 2056);
VALUE(GTH_DTYPE_FLOAT8_E4M3B11FNUZ, 2312);
VALUE(GTH_DTYPE_FLOAT8_E4M3FN, 2568);
VALUE(GTH_DTYPE_FLOAT8_E4M3FNUZ, 2824);
VALUE(GTH_DTYPE_FLOAT8_E5M2, 3080);
VALUE(GTH_DTYPE_FLOAT8_E5M2FNUZ, 3336);
VALUE(GTH_DTYPE_FLOAT8_E8M0FNU, 3592);
VALUE(GTH_DTYPE_STRING, 65536);

VALUE(GTH_DEVICE_CPU, 1);
VALUE(GTH_DEVICE_CUDA, 2);
VALUE(GTH_DEVICE_CUDA_HOST, 3);
VALUE(GTH_DEVICE_CUDA_MANAGED, 13);

VALUE(GTH_TIER_PORTABLE, 1);
VALUE(GTH_TIER_AVX2, 2);
VALUE(GTH_TIER_NEON, 8);

VALUE(GTH_TENSOR_READONLY, 1);

VALUE(GTH_EXPORT_COPY, 1);
VALUE(GTH_EXPORT_NO_COPY, 2);

VALUE(GTH_STRINGS_BINARY, 1);

VALUE(GTH_PROFILE_TENSORFLOW, 1);
VALUE(GTH_PROFILE_TENSORFLOW_GPU, 2);
VALUE(GTH_PROFILE_ONNX, 3);
VALUE(GTH_PROFILE_ORT, 4);
VALUE(GTH_PROFILE_NUMPY_RAISE, 5);
VALUE(GTH_PROFILE_NUMPY_WRAP, 6);
VALUE(GTH_PROFILE_NUMPY_CLIP, 7);
VALUE(GTH_PROFILE_TORCH, 8);
VALUE(GTH_PROFILE_JAX_FILL, 9);
VALUE(GTH_PROFILE_JAX_CLIP, 10);

VALUE(GTH_NEGATIVE_REJECT, 1);
VALUE(GTH_NEGATIVE_WRAP, 2);

VALUE(GTH_BOUNDS_ERROR, 1);
VALUE(GTH_BOUNDS_FILL, 2);
VALUE(GTH_BOUNDS_CLAMP, 3);
VALUE(GTH_BOUNDS_MODULO, 4);
VALUE(GTH_BOUNDS_SKIP, 5);
VALUE(GTH_BOUNDS_ERROR_PARTIAL, 6);

VALUE(GTH_FILL_ZERO, 1);
VALUE(GTH_FILL_VALUE, 2);
VALUE(GTH_FILL_BY_DTYPE, 3);

VALUE(GTH_EXTENTS_EQUAL, 1);
VALUE(GTH_EXTENTS_PREFIX, 2);
VALUE(GTH_EXTENTS_BROADCAST, 3);

VALUE(GTH_REDUCTION_NONE, 1);
VALUE(GTH_REDUCTION_ADD, 2);
VALUE(GTH_REDUCTION_MUL, 3);
VALUE(GTH_REDUCTION_MAX, 4);
VALUE(GTH_REDUCTION_MIN, 5);

VALUE(GTH_ACCUMULATE_DTYPE, 1);
VALUE(GTH_ACCUMULATE_FLOAT32, 2);

VALUE(GTH_SHARDS_BLOCKS, 1);
VALUE(GTH_SHARDS_MODULO, 2);
VALUE(GTH_SHARDS_BORDERS, 3);

VALUE(GTH_PARTS_ONCE, 1);

SIZE(gth_shards, 32);
FIELD(gth_shards, size, 0, 4);
FIELD(gth_shards, kind, 4, 4);
FIELD(gth_shards, rows, 8, 8);
FIELD(gth_shards, count, 16, 8);
FIELD(gth_shards, borders, 24, 8);

SIZE(gth_parts, 64);
FIELD(gth_parts, size, 0, 4);
FIELD(gth_parts, flags, 4, 4);
FIELD(gth_parts, capacity, 8, 8);
FIELD(gth_parts, counts, 16, 8);
FIELD(gth_parts, local, 24, 8);
FIELD(gth_parts, order, 32, 8);
FIELD(gth_parts, place, 40, 8);
FIELD(gth_parts, scratch, 48, 8);
FIELD(gth_parts, scratch_bytes, 56, 8);
