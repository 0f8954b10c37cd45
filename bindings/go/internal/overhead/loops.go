//go:build !gather_static

// Package overhead measures what a call from Go costs beside the same call from C.
package overhead

/*
#cgo pkg-config: gather
#include <gather/gather.h>

enum { rows = 64 };

static const int64_t table_shape[] = {rows}, one[] = {1};
static float table[rows], out[1];
static const int64_t ids[] = {7};

static int32_t loop_plan(int64_t count) {
  const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, table_shape, table);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, one, ids);
  gth_plan *plan;
  gth_error err = GTH_ERROR_INIT;
  int32_t status = gth_gather_plan(&params, &indices, NULL, NULL, &plan, &err);
  for (int64_t i = 0; i < count && !status; i++) status = gth_plan_run(NULL, plan, table, ids, out, GTH_OPEN, &err);
  gth_plan_release(plan);
  return status;
}

// Describes in each turn, as one-shot calls do.
static int32_t loop_desc(int64_t count, int is_nd) {
  gth_error err = GTH_ERROR_INIT;
  int32_t status = GTH_OK;
  for (int64_t i = 0; i < count && !status; i++) {
    const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 1, table_shape, table);
    const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, one, ids);
    const gth_tensor_desc result = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, !is_nd, one, out);
    const gth_options options = GTH_OPTIONS_INIT;
    status = is_nd ? gth_gather_nd_desc(NULL, &params, &indices, &options, &result, &err)
                   : gth_gather_desc(NULL, &params, &indices, &options, &result, &err);
  }
  return status;
}

static void nothing(void) {}

#cgo nocallback nothing
*/
import "C"

// PlanLoop runs a plan of one row, all in C.
func PlanLoop(count int) bool { return C.loop_plan(C.int64_t(count)) == C.GTH_OK }

// DescLoop gathers one row by descriptions, all in C.
func DescLoop(count int) bool { return C.loop_desc(C.int64_t(count), 0) == C.GTH_OK }

// DescNDLoop gathers one element by a tuple, all in C.
func DescNDLoop(count int) bool { return C.loop_desc(C.int64_t(count), 1) == C.GTH_OK }

// EmptyLoop crosses from Go to C and back.
func EmptyLoop(count int) bool {
	for range count {
		C.nothing()
	}
	return true
}
