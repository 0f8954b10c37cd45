package main

/*
#cgo pkg-config: gather
#include <gather/gather.h>

enum { rows = 64 };

static const int64_t table_shape[] = {rows}, one[] = {1}, any[] = {GTH_OPEN};
static float table[rows], out[1];
static const int64_t ids[] = {7};
static gth_error err = GTH_ERROR_INIT;

#define VECTOR(dtype, shape, data) GTH_TENSOR_DESC_DENSE(GTH_DTYPE_##dtype, 1, shape, data)

static int32_t loop_plan(int64_t count, int64_t n) {
  static gth_plan *plans[2];
  gth_plan **const plan = &plans[n == GTH_OPEN];
  int32_t status = GTH_OK;
  if (!*plan) {
    const gth_tensor_desc params = VECTOR(FLOAT32, table_shape, table);
    const gth_tensor_desc indices = VECTOR(INT64, n == GTH_OPEN ? one : any, ids);
    const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &params, &indices, NULL, NULL);
    status = gth_plan_create(&request, plan, &err);
  }
  for (int64_t i = 0; i < count && !status; i++) status = gth_plan_run(NULL, *plan, n, table, ids, out, &err);
  return status;
}

static int32_t loop_desc(int64_t count) {
  const gth_tensor_desc params = VECTOR(FLOAT32, table_shape, table), indices = VECTOR(INT64, one, ids);
  const gth_tensor_desc output = VECTOR(FLOAT32, one, out);
  int32_t status = GTH_OK;
  for (int64_t i = 0; i < count && !status; i++) status = gth_gather(NULL, &params, &indices, &output, NULL, &err);
  return status;
}

static int32_t loop_fresh(int64_t count) {
  int32_t status = GTH_OK;
  for (int64_t i = 0; i < count && !status; i++) {
    const gth_tensor_desc params = VECTOR(FLOAT32, table_shape, table), indices = VECTOR(INT64, one, ids);
    const gth_tensor_desc output = VECTOR(FLOAT32, one, out);
    status = gth_gather(NULL, &params, &indices, &output, NULL, &err);
  }
  return status;
}

static int32_t loop_new(int64_t count) {
  static gth_tensor *params, *indices;
  int32_t status = GTH_OK;
  if (!params) {
    const gth_tensor_desc from = VECTOR(FLOAT32, table_shape, table), at = VECTOR(INT64, one, ids);
    status = gth_tensor_borrow(&from, &params, &err) | gth_tensor_borrow(&at, &indices, &err);
  }
  const gth_tensor_desc table_handle = GTH_TENSOR_DESC_HANDLE(params), ids_handle = GTH_TENSOR_DESC_HANDLE(indices);
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &table_handle, &ids_handle, NULL, NULL);
  for (int64_t i = 0; i < count && !status; i++) {
    gth_tensor *made = NULL;
    status = gth_make(NULL, &request, &made, &err);
    gth_tensor_release(made);
  }
  return status;
}

static void nothing(void) {}

#cgo nocallback nothing
*/
import "C"

// Each of these functions runs a loop of C calls in one call from Go.

func planInC(count, n int) bool       { return C.loop_plan(C.int64_t(count), C.int64_t(n)) == C.GTH_OK }
func describedOnceInC(count int) bool { return C.loop_desc(C.int64_t(count)) == C.GTH_OK }
func describedInC(count int) bool     { return C.loop_fresh(C.int64_t(count)) == C.GTH_OK }
func newInC(count int) bool           { return C.loop_new(C.int64_t(count)) == C.GTH_OK }

// crossings calls an empty C function.
func crossings(count int) bool {
	for range count {
		C.nothing()
	}
	return true
}
