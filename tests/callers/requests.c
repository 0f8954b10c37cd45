/* A recommender that looks up three tables of features. It uses handles and memory in one call, all tables in one call,
 * and plans that are bound to their tables. */
#include "check.h"

enum { USERS = 5, ITEMS = 4, DAYS = 7, BATCH = 3 };

static float users[USERS][2];
static double items[ITEMS][3];
static int16_t days[DAYS];

static const int32_t user_ids[BATCH] = {4, 0, 2};
static const int64_t item_ids[BATCH] = {3, 3, 1};
static const uint8_t day_ids[BATCH] = {6, 0, 5};

static const int64_t users_shape[] = {USERS, 2}, items_shape[] = {ITEMS, 3}, days_shape[] = {DAYS};
static const int64_t batch_shape[] = {BATCH}, user_rows_shape[] = {BATCH, 2}, item_rows_shape[] = {BATCH, 3};

/* The output of a lookup in all tables. */
typedef struct {
  float users[BATCH][2];
  double items[BATCH][3];
  int16_t days[BATCH];
} features;

static void load_tables(void) {
  int i, j;
  for (i = 0; i < USERS; i++)
    for (j = 0; j < 2; j++) users[i][j] = (float)(10 * i + j);
  for (i = 0; i < ITEMS; i++)
    for (j = 0; j < 3; j++) items[i][j] = 100.0 * i + j;
  for (i = 0; i < DAYS; i++) days[i] = (int16_t)(-i);
}

static gth_tensor *borrow(const gth_tensor_desc *desc) {
  gth_tensor *tensor = NULL;
  gth_error err = GTH_ERROR_INIT;
  CHECK_OK(gth_tensor_borrow(desc, &tensor, &err), &err);
  return tensor;
}

static void check_features(const features *found) {
  int i, j;
  for (i = 0; i < BATCH; i++) {
    for (j = 0; j < 2; j++) CHECK(found->users[i][j] == (float)(10 * user_ids[i] + j));
    for (j = 0; j < 3; j++) CHECK(found->items[i][j] == 100.0 * (double)item_ids[i] + j);
    CHECK(found->days[i] == -day_ids[i]);
  }
}

static void check_unchanged(const features *found) {
  size_t i;
  for (i = 0; i < sizeof(*found); i++) CHECK(((const unsigned char *)found)[i] == 0x55);
}

/* The table is a handle. Indices and rows are memory. */
static void mixed_operands(void) {
  const gth_tensor_desc memory = dense(GTH_DTYPE_FLOAT32, 2, users_shape, users);
  gth_tensor *tensor = borrow(&memory);
  gth_tensor_desc table = handle(tensor);
  const gth_tensor_desc indices = dense(GTH_DTYPE_INT32, 1, batch_shape, user_ids);
  float found[BATCH][2] = {{0, 0}, {0, 0}, {0, 0}};
  const gth_tensor_desc rows = dense(GTH_DTYPE_FLOAT32, 2, user_rows_shape, found);
  gth_request doubled = request(GTH_OP_SCATTER, &table, &indices, &rows, NULL);
  gth_options add = GTH_OPTIONS_INIT;
  gth_tensor_desc described = GTH_TENSOR_DESC_INIT;
  gth_tensor *made = NULL;
  gth_error err = GTH_ERROR_INIT;

  CHECK_OK(gth_gather(NULL, &table, &indices, &rows, NULL, &err), &err);
  CHECK(found[0][0] == 40 && found[0][1] == 41 && found[1][0] == 0 && found[2][1] == 21);

  /* A new tensor holds the table with the rows added. The table itself is unchanged. */
  add.reduction = GTH_REDUCTION_ADD;
  doubled.options = &add;
  CHECK_OK(gth_make(NULL, &doubled, &made, &err), &err);
  CHECK_OK(gth_tensor_describe(made, &described, &err), &err);
  CHECK(described.dtype == GTH_DTYPE_FLOAT32 && described.ndim == 2 && described.shape[0] == USERS);
  CHECK(((const float *)described.data)[8] == 80 && ((const float *)described.data)[2] == 10 && users[4][0] == 40);
  CHECK(gth_tensor_release(made) == GTH_OK);

  /* A field beside a handle would be ignored, so it is rejected. A released handle is rejected as well. */
  table.dtype = GTH_DTYPE_FLOAT32;
  CHECK_STATUS(gth_gather(NULL, &table, &indices, &rows, NULL, &err), GTH_E_VERSION, &err);
  CHECK(err.operand == GTH_OPERAND_PARAMS);
  table.dtype = 0;
  CHECK(gth_tensor_release(tensor) == GTH_OK);
  CHECK_STATUS(gth_gather(NULL, &table, &indices, &rows, NULL, &err), GTH_E_HANDLE, &err);
  CHECK(err.operand == GTH_OPERAND_PARAMS);
}

/* Three tables of different dtypes and widths in one call: all rows are written, or none. */
static void three_tables(void) {
  static const uint8_t bad_day_ids[BATCH] = {6, DAYS, 5};
  features found;
  const gth_tensor_desc user_memory = dense(GTH_DTYPE_FLOAT32, 2, users_shape, users);
  gth_tensor *user_tensor = borrow(&user_memory);
  const gth_tensor_desc user_table = handle(user_tensor);
  const gth_tensor_desc item_table = dense(GTH_DTYPE_FLOAT64, 2, items_shape, items);
  const gth_tensor_desc day_table = dense(GTH_DTYPE_INT16, 1, days_shape, days);
  const gth_tensor_desc user_indices = dense(GTH_DTYPE_INT32, 1, batch_shape, user_ids);
  const gth_tensor_desc item_indices = dense(GTH_DTYPE_INT64, 1, batch_shape, item_ids);
  gth_tensor_desc day_indices = dense(GTH_DTYPE_UINT8, 1, batch_shape, day_ids);
  const gth_tensor_desc user_rows = dense(GTH_DTYPE_FLOAT32, 2, user_rows_shape, found.users);
  const gth_tensor_desc item_rows = dense(GTH_DTYPE_FLOAT64, 2, item_rows_shape, found.items);
  gth_tensor_desc day_rows = dense(GTH_DTYPE_INT16, 1, batch_shape, found.days);
  const gth_request of_users = request(GTH_OP_GATHER, &user_table, &user_indices, &user_rows, NULL);
  const gth_request of_items = request(GTH_OP_GATHER, &item_table, &item_indices, &item_rows, NULL);
  const gth_request of_days = request(GTH_OP_GATHER, &day_table, &day_indices, &day_rows, NULL);
  const gth_request *all[3];
  gth_error err = GTH_ERROR_INIT;

  all[0] = &of_users;
  all[1] = &of_items;
  all[2] = &of_days;
  memset(&found, 0x55, sizeof(found));
  CHECK_OK(gth_run_many(NULL, 3, all, &err), &err);
  check_features(&found);

  memset(&found, 0x55, sizeof(found));
  day_indices.data = bad_day_ids;
  CHECK_STATUS(gth_run_many(NULL, 3, all, &err), GTH_E_INDEX, &err);
  CHECK_ERROR(&err, GTH_E_INDEX, GTH_OPERAND_INDICES, 0, 1, DAYS, DAYS);
  CHECK(err.item == 2);
  check_unchanged(&found);

  /* An output must not overlap the output of another request. */
  day_indices.data = day_ids;
  day_rows.data = found.items;
  CHECK_STATUS(gth_run_many(NULL, 3, all, &err), GTH_E_ALIAS, &err);
  CHECK((err.item == 1 && err.value == 2) || (err.item == 2 && err.value == 1));
  check_unchanged(&found);

  CHECK_OK(gth_run_many(NULL, 0, NULL, &err), &err);
  CHECK_STATUS(gth_run_many(NULL, -1, all, &err), GTH_E_SHAPE, &err);
  CHECK(gth_tensor_release(user_tensor) == GTH_OK);
}

/* A plan that is made with a handle uses that tensor at each run. */
static void bound_plans(void) {
  const int64_t open_shape[] = {GTH_OPEN};
  features found;
  const gth_tensor_desc user_memory = dense(GTH_DTYPE_FLOAT32, 2, users_shape, users);
  const gth_tensor_desc day_memory = dense(GTH_DTYPE_INT16, 1, days_shape, days);
  gth_tensor *user_tensor = borrow(&user_memory), *day_tensor = borrow(&day_memory);
  const gth_tensor_desc user_table = handle(user_tensor), day_table = handle(day_tensor);
  const gth_tensor_desc user_indices = dense(GTH_DTYPE_INT32, 1, open_shape, NULL);
  const gth_tensor_desc day_indices = dense(GTH_DTYPE_UINT8, 1, open_shape, NULL);
  const gth_request of_users = request(GTH_OP_GATHER, &user_table, &user_indices, NULL, NULL);
  const gth_request of_days = request(GTH_OP_GATHER, &day_table, &day_indices, NULL, NULL);
  gth_plan *user_plan = NULL, *day_plan = NULL;
  gth_plan_args user_run = GTH_PLAN_ARGS_INIT, day_run = GTH_PLAN_ARGS_INIT;
  const gth_plan_args *runs[2];
  const gth_plan *plans[2];
  gth_error err = GTH_ERROR_INIT;

  CHECK_OK(gth_plan_create(&of_users, &user_plan, &err), &err);
  CHECK_OK(gth_plan_create(&of_days, &day_plan, &err), &err);
  memset(&found, 0x55, sizeof(found));
  CHECK_OK(gth_plan_run(NULL, user_plan, 2, NULL, user_ids, found.users, &err), &err);
  CHECK(found.users[0][0] == 40 && found.users[1][1] == 1);
  CHECK(((const unsigned char *)found.users[2])[0] == 0x55);

  /* The tensor is bound, so a run passes no pointer for it. */
  CHECK_STATUS(gth_plan_run(NULL, user_plan, 2, users, user_ids, found.users, &err), GTH_E_HANDLE, &err);
  CHECK(err.operand == GTH_OPERAND_PARAMS);

  /* Both plans run in one call. */
  memset(&found, 0x55, sizeof(found));
  user_run.n = day_run.n = BATCH;
  user_run.indices = user_ids;
  user_run.rows = found.users;
  day_run.indices = day_ids;
  day_run.rows = found.days;
  plans[0] = user_plan;
  plans[1] = day_plan;
  runs[0] = &user_run;
  runs[1] = &day_run;
  CHECK_OK(gth_plan_run_many(NULL, 2, plans, runs, &err), &err);
  CHECK(found.users[2][0] == 20 && found.days[0] == -6 && found.days[2] == -5);

  memset(&found, 0x55, sizeof(found));
  CHECK(gth_tensor_release(day_tensor) == GTH_OK);
  CHECK_STATUS(gth_plan_run_many(NULL, 2, plans, runs, &err), GTH_E_HANDLE, &err);
  CHECK(err.item == 1 && err.operand == GTH_OPERAND_PARAMS);
  check_unchanged(&found);
  CHECK(gth_plan_release(day_plan) == GTH_OK && gth_plan_release(user_plan) == GTH_OK);
  CHECK(gth_tensor_release(user_tensor) == GTH_OK);
}

int main(void) {
  load_tables();
  mixed_operands();
  three_tables();
  bound_plans();
  printf("requests: handles and memory in one call, three tables as one, plans bound to tensors\n");
  return 0;
}
