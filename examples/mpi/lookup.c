/* Gathers from a table that is split over all ranks. Each rank gets the rows of its ids with two calls of Alltoallv.
 *
 *     mpicc lookup.c $(pkg-config --cflags --libs gather) -o lookup && mpirun -n 3 ./lookup */
#include <gather/gather.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 1000, COLUMNS = 4, IDS = 500 };

static void *room(int64_t count, size_t size) {
  void *memory = calloc((size_t)count + 1, size);
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

static void check(int32_t status, const gth_error *error) {
  if (status == GTH_OK) return;
  fprintf(stderr, "%s\n", error->message);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Writes the position of each rank's first element to `first`. Returns the total number of elements. */
static int starts(const int *counts, int ranks, int *first) {
  int all = 0;
  for (int rank = 0; rank < ranks; rank++) {
    first[rank] = all;
    all += counts[rank];
  }
  return all;
}

static void in_rows(const int *counts, int ranks, int *numbers) {
  for (int rank = 0; rank < ranks; rank++) numbers[rank] = counts[rank] * COLUMNS;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  /* Rank r stores one block of rows. Row i contains i, i, i, i. */
  const int64_t block = (ROWS + ranks - 1) / ranks, begin = rank * block < ROWS ? rank * block : ROWS;
  const int64_t held = begin + block < ROWS ? block : ROWS - begin;
  float *table = room(held * COLUMNS, sizeof *table);
  for (int64_t i = 0; i < held * COLUMNS; i++) table[i] = (float)(begin + i / COLUMNS);

  int64_t *ids = room(IDS, sizeof *ids);
  for (int64_t i = 0; i < IDS; i++) ids[i] = (i * i + 31 * i + 17 * rank) % ROWS;

  /* Assigns each id to the rank that stores its row. An invalid id fails here, before any message is sent. */
  gth_error error = GTH_ERROR_INIT;
  const int64_t ids_shape[] = {IDS};
  const gth_tensor_desc asked = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, ids_shape, ids);
  gth_shards shards = GTH_SHARDS_INIT;
  shards.rows = ROWS;
  shards.count = ranks;
  gth_parts parts = GTH_PARTS_INIT;
  parts.capacity = IDS;
  check(gth_partition_scratch(&asked, &shards, 0, &parts.scratch_bytes, &error), &error);
  parts.scratch = room(parts.scratch_bytes, 1);
  parts.counts = room(ranks, sizeof *parts.counts);
  parts.local = room(IDS, sizeof *parts.local);
  parts.order = room(IDS, sizeof *parts.order);
  check(gth_partition(NULL, &asked, &shards, NULL, &parts, &error), &error);

  /* Exchanges the number of requested rows, and the row numbers. */
  int *sent = room(ranks, sizeof *sent), *wanted = room(ranks, sizeof *wanted);
  int *sent_at = room(ranks, sizeof *sent_at), *wanted_at = room(ranks, sizeof *wanted_at);
  for (int other = 0; other < ranks; other++) sent[other] = (int)parts.counts[other];
  MPI_Alltoall(sent, 1, MPI_INT, wanted, 1, MPI_INT, MPI_COMM_WORLD);
  starts(sent, ranks, sent_at);
  const int64_t answered = starts(wanted, ranks, wanted_at);
  int64_t *local = room(answered, sizeof *local);
  MPI_Alltoallv(parts.local, sent, sent_at, MPI_INT64_T, local, wanted, wanted_at, MPI_INT64_T, MPI_COMM_WORLD);

  /* One gather reads the rows for all ranks. */
  float *answers = room(answered * COLUMNS, sizeof *answers), *rows = room((int64_t)IDS * COLUMNS, sizeof *rows);
  const int64_t table_shape[] = {held, COLUMNS}, local_shape[] = {answered}, answers_shape[] = {answered, COLUMNS};
  const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, table_shape, table);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, local_shape, local);
  const gth_tensor_desc out = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, answers_shape, answers);
  check(gth_gather(NULL, &params, &indices, &out, NULL, &error), &error);

  /* Sends the rows back. A scatter puts them into the order of the ids. */
  int *came = room(ranks, sizeof *came), *came_at = room(ranks, sizeof *came_at);
  int *gone = room(ranks, sizeof *gone), *gone_at = room(ranks, sizeof *gone_at);
  in_rows(sent, ranks, came);
  in_rows(sent_at, ranks, came_at);
  in_rows(wanted, ranks, gone);
  in_rows(wanted_at, ranks, gone_at);
  MPI_Alltoallv(answers, gone, gone_at, MPI_FLOAT, rows, came, came_at, MPI_FLOAT, MPI_COMM_WORLD);
  float *result = room((int64_t)IDS * COLUMNS, sizeof *result);
  const int64_t rows_shape[] = {IDS, COLUMNS};
  const gth_tensor_desc target = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, rows_shape, result);
  const gth_tensor_desc order = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, ids_shape, parts.order);
  const gth_tensor_desc updates = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, rows_shape, rows);
  check(gth_scatter(NULL, &target, &order, &updates, NULL, &error), &error);

  int wrong = 0, wrong_anywhere = 0;
  for (int64_t i = 0; i < (int64_t)IDS * COLUMNS; i++) wrong += result[i] != (float)ids[i / COLUMNS];
  MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d rows a rank, %d numbers wrong\n", IDS, wrong_anywhere);

  void *memory[] = {table,     ids,   parts.scratch, parts.counts, parts.local, parts.order, sent, wanted,  sent_at,
                    wanted_at, local, answers,       rows,         came,        came_at,     gone, gone_at, result};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
  MPI_Finalize();
  return wrong_anywhere != 0;
}
