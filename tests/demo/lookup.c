/* Looks up words in a table of word vectors: lookup FOLDER. words.py has written the table into FOLDER. The program looks
 * up the same words in rows of 8 and of 4 bits a number. It writes the first rows in each format into FOLDER. */
#define _POSIX_C_SOURCE 200809L

#include <gather/gather.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "table.h"

enum { ROW_BYTES = DIMENSIONS * sizeof(float), NEAREST = 5, WRITTEN_ROWS = 20000 };

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

static const char* const real_words[] = {"king", "piano", "physics", "cheese", "python", "gather"};
static const char* const generated_words[] = {"a7", "b7", "c99", "d99", "e1234", "f1234"};
/* Three words, and the one that must be nearest, or one of the two nearest with 4 bits. */
static const char* const real_analogies[][4] = {{"king", "man", "woman", "queen"},
                                                {"paris", "france", "japan", "tokyo"},
                                                {"puppy", "dog", "cat", "kitten"},
                                                {"walked", "walk", "sing", "sang"}};
static const char* const generated_analogies[][4] = {
    {"a7", "b7", "b99", "a99"}, {"c7", "d7", "d1234", "c1234"}, {"e99", "f99", "f5", "e5"}, {"g5", "h5", "h7", "g7"}};
/* The words of some sentences. A sentence ends with NULL. */
static const char* const real_sentences[] = {"dog", "cat", "puppy", NULL, "paris", "france", "japan", NULL};
static const char* const generated_sentences[] = {"a7", "c7", "e7", NULL, "b99", "d99", "f99", NULL};

/* For each query the rows that were found with float32, the number of queries of the present table, and the number of its
 * words that were found with float32, too. */
static struct {
  int64_t rows[16][NEAREST];
  int query, same;
} answers;

/* Describes the table. The shape and the codec must outlive the description. */
static int32_t describe(const table* t, const int64_t* shape, gth_codec* codec, gth_tensor_desc* desc,
                        gth_error* error) {
  *desc = (gth_tensor_desc)GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, shape, t->data);
  if (t->bits == 32) return GTH_OK;
  desc->codec = codec;
  return gth_codec_named(t->codec, codec, error);
}

/* Gathers rows of the table for indices of any shape. */
static int32_t gather_rows(const table* t, const int64_t* rows, int32_t ndim, const int64_t* shape, float* out,
                           gth_error* error) {
  const int64_t table_shape[] = {t->rows, DIMENSIONS};
  int64_t out_shape[GTH_MAX_NDIM] = {0};
  for (int i = 0; i < ndim; i++) out_shape[i] = shape[i];
  out_shape[ndim] = DIMENSIONS;

  gth_codec codec = GTH_CODEC_INIT;
  gth_tensor_desc params;
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, ndim, shape, rows);
  const gth_tensor_desc result = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, ndim + 1, out_shape, out);
  const int32_t status = describe(t, table_shape, &codec, &params, error);
  return status != GTH_OK ? status : gth_gather(NULL, &params, &indices, &result, NULL, error);
}

static bool find_words(const table* t, const char* const* words, int count, int64_t* rows) {
  for (int i = 0; i < count; i++) {
    rows[i] = table_find(t, words[i]);
    if (rows[i] < 0) {
      fprintf(stderr, "The table has no word \"%s\".\n", words[i]);
      return false;
    }
  }
  return true;
}

/* Finds the nearest words, and prints them. A star marks a word that is not one of those of float32. */
static void print_nearest(const table* t, const char* title, const float* vector, int known, const int64_t* known_rows,
                          int64_t rows[NEAREST]) {
  float cosines[NEAREST];
  int64_t* expected = answers.rows[answers.query++];
  table_nearest(t, vector, NEAREST, rows, cosines, known, known_rows);
  if (t->bits == 32) memcpy(expected, rows, NEAREST * sizeof *rows);
  printf("  %-26s", title);
  for (int i = 0; i < NEAREST; i++) {
    bool same = false;
    for (int k = 0; k < NEAREST; k++) same |= rows[i] == expected[k];
    answers.same += same;
    char answer[32];
    snprintf(answer, sizeof answer, "%s %.2f%s", t->words[rows[i]], (double)cosines[i], same ? "" : " *");
    printf("%-18s", answer);
  }
  printf("\n");
}

static bool show_words(const table* t, const char* const* words, int count) {
  int64_t rows[8], nearest[NEAREST];
  float vectors[8][DIMENSIONS];
  gth_error error = GTH_ERROR_INIT;
  if (!find_words(t, words, count, rows)) return false;
  if (gather_rows(t, rows, 1, (int64_t[]){count}, vectors[0], &error) != GTH_OK) {
    fprintf(stderr, "%s\n", error.message);
    return false;
  }
  printf("\nNearest words (cosine)\n");
  for (int i = 0; i < count; i++) print_nearest(t, words[i], vectors[i], 1, &rows[i], nearest);
  return true;
}

static bool show_analogies(const table* t, const char* const (*analogies)[4], int count) {
  int64_t rows[8][3] = {{0}}, nearest[NEAREST], answer;
  bool right = true;
  float vectors[8][3][DIMENSIONS];
  gth_error error = GTH_ERROR_INIT;
  for (int i = 0; i < count; i++) {
    if (!find_words(t, analogies[i], 3, rows[i])) return false;
  }
  if (gather_rows(t, rows[0], 2, (int64_t[]){count, 3}, vectors[0][0], &error) != GTH_OK) {
    fprintf(stderr, "%s\n", error.message);
    return false;
  }
  printf("\nAnalogies\n");
  for (int i = 0; i < count; i++) {
    float target[DIMENSIONS];
    for (int k = 0; k < DIMENSIONS; k++) target[k] = vectors[i][0][k] - vectors[i][1][k] + vectors[i][2][k];
    char title[64];
    snprintf(title, sizeof title, "%s - %s + %s", analogies[i][0], analogies[i][1], analogies[i][2]);
    if (!find_words(t, &analogies[i][3], 1, &answer)) return false;
    print_nearest(t, title, target, 3, rows[i], nearest);
    right &= nearest[0] == answer || (t->bits == 4 && nearest[1] == answer);
  }
  if (!right) printf("  An expected word is not the nearest one.\n");
  return right;
}

/* Pools the rows of each sentence to their mean. */
static int32_t mean_rows(const table* t, const int64_t* rows, const int64_t* offsets, int64_t count, float* out,
                         gth_error* error) {
  const int64_t table_shape[] = {t->rows, DIMENSIONS}, out_shape[] = {count, DIMENSIONS};
  const int64_t rows_shape[] = {offsets[count]}, offsets_shape[] = {count + 1};
  gth_codec codec = GTH_CODEC_INIT;
  gth_tensor_desc params;
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, rows_shape, rows);
  const gth_tensor_desc bags = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, offsets_shape, offsets);
  const gth_tensor_desc result = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, out_shape, out);
  gth_options options = GTH_OPTIONS_INIT;
  options.pool = GTH_POOL_MEAN;
  const int32_t status = describe(t, table_shape, &codec, &params, error);
  return status != GTH_OK ? status : gth_gather_bags(NULL, &params, &indices, &bags, NULL, &result, &options, error);
}

static bool show_sentences(const table* t, const char* const* words, int count) {
  int64_t rows[16], offsets[4] = {0}, nearest[NEAREST];
  float means[4][DIMENSIONS];
  char titles[4][64] = {""};
  int sentences = 0, found = 0;
  for (int i = 0; i < count; i++) {
    if (words[i] == NULL) {
      offsets[++sentences] = found;
      continue;
    }
    if (!find_words(t, &words[i], 1, &rows[found++])) return false;
    const size_t used = strlen(titles[sentences]);
    snprintf(titles[sentences] + used, sizeof titles[0] - used, "%s%s", used > 0 ? " " : "", words[i]);
  }
  gth_error error = GTH_ERROR_INIT;
  if (mean_rows(t, rows, offsets, sentences, means[0], &error) != GTH_OK) {
    fprintf(stderr, "%s\n", error.message);
    return false;
  }
  printf("\nSentences: the mean of their words\n");
  for (int i = 0; i < sentences; i++) {
    print_nearest(t, titles[i], means[i], (int)(offsets[i + 1] - offsets[i]), &rows[offsets[i]], nearest);
  }
  return true;
}

enum { POOL = 1 << 17 };

/* Draws row numbers like those of a service: all words are equally frequent, or word number r has the frequency 1 / r.
 * */
static void fill_pool(const table* t, int64_t* pool, bool frequent) {
  uint64_t state = 1;
  for (int i = 0; i < POOL; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double uniform = (double)(state >> 11) / (double)(1ull << 53);
    const double row = frequent ? pow((double)t->rows, uniform) - 1 : uniform * (double)t->rows;
    pool[i] = (int64_t)row;
  }
}

static void memcpy_rows(const table* t, const int64_t* rows, int64_t count, float* out) {
  for (int64_t i = 0; i < count; i++) memcpy(out + i * DIMENSIONS, t->vectors + rows[i] * DIMENSIONS, ROW_BYTES);
}

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Returns the nanoseconds per row of the fastest of some passes over the pool. Without a plan, it measures a loop over
 * memcpy. */
static double time_rows(const table* t, const gth_plan* plan, const int64_t* pool, int64_t batch, float* out) {
  double best = INFINITY;
  for (int pass = 0; pass < 7; pass++) {
    const double start = now_ns();
    for (int64_t i = 0; i + batch <= POOL; i += batch) {
      if (plan == NULL) {
        memcpy_rows(t, pool + i, batch, out);
      } else if (gth_plan_run(NULL, plan, batch, t->vectors, pool + i, out, NULL) != GTH_OK) {
        return NAN;
      }
    }
    best = fmin(best, (now_ns() - start) / POOL);
  }
  return best;
}

/* Creates a plan for batches of any size. It runs on one thread, like the loop over memcpy. */
static gth_plan* make_plan(const table* t, gth_error* error) {
  const int64_t table_shape[] = {t->rows, DIMENSIONS};
  const int64_t batch_shape[] = {GTH_OPEN};
  const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, table_shape, NULL);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, batch_shape, NULL);
  gth_options options = GTH_OPTIONS_INIT;
  options.threads = 1;
  const gth_request request = GTH_REQUEST(GTH_OP_GATHER, &params, &indices, NULL, &options);
  gth_plan* plan = NULL;
  return gth_plan_create(&request, &plan, error) == GTH_OK ? plan : NULL;
}

static bool show_times(const table* t) {
  static const int64_t batches[] = {1, 64, 4096};
  gth_error error = GTH_ERROR_INIT;
  gth_plan* plan = make_plan(t, &error);
  if (plan == NULL) {
    fprintf(stderr, "%s\n", error.message);
    return false;
  }
  int64_t* pool = malloc(POOL * sizeof *pool);
  float* out = malloc((size_t)batches[2] * ROW_BYTES);
  float* expected = malloc((size_t)batches[2] * ROW_BYTES);
  bool same = pool != NULL && out != NULL && expected != NULL;

  printf("\nNanoseconds per row of %d bytes, one thread. libgather checks every index, the loop over memcpy none.\n",
         (int)ROW_BYTES);
  printf("  %-16s%24s%32s\n", "", "any word alike", "frequent words more often");
  printf("  %-16s%12s%12s%20s%12s\n", "rows per call", "libgather", "memcpy", "libgather", "memcpy");
  for (int b = 0; b < COUNT(batches) && same; b++) {
    double ns[4];
    for (int frequent = 0; frequent < 2 && same; frequent++) {
      fill_pool(t, pool, frequent);
      ns[2 * frequent + 1] = time_rows(t, NULL, pool, batches[b], expected);
      ns[2 * frequent] = time_rows(t, plan, pool, batches[b], out);
      same = memcmp(out, expected, (size_t)batches[b] * ROW_BYTES) == 0;
    }
    if (same) printf("  %-16" PRId64 "%12.1f%12.1f%20.1f%12.1f\n", batches[b], ns[0], ns[1], ns[2], ns[3]);
  }
  printf(same ? "  Both wrote the same bytes.\n" : "  The bytes differ, or a call failed.\n");
  free(expected);
  free(out);
  free(pool);
  gth_plan_release(plan);
  return same;
}

/* Prints the result of an invalid index. */
static bool show_error(const table* t) {
  const int64_t rows[] = {17, 4, t->rows, -1};
  float out[4][DIMENSIONS];
  unsigned char before[sizeof out];
  memset(out, 0x5a, sizeof out);
  memcpy(before, out, sizeof out);

  gth_error error = GTH_ERROR_INIT;
  const int32_t status = gather_rows(t, rows, 1, (int64_t[]){4}, out[0], &error);
  const bool unchanged = memcmp(out, before, sizeof out) == 0;
  printf("\nThe rows {17, 4, %" PRId64 ", -1} of a table of %" PRId64 "\n", t->rows, t->rows);
  printf("  %-16s%s\n", "status", gth_status_name(status));
  printf("  %-16s%s\n", "message", error.message);
  printf("  %-16s%" PRId64 "\n", "position", error.position);
  printf("  %-16s%" PRId64 "\n", "value", error.value);
  printf("  %-16s%" PRId64 "\n", "limit", error.limit);
  printf("  %-16s%s\n", "output", unchanged ? "unchanged, to the byte" : "CHANGED");
  return status == GTH_E_INDEX && error.position == 2 && unchanged;
}

/* Shows the nearest words in one format, and writes rows of it for the other languages. */
static bool show_table(const table* t, const char* folder) {
  answers.query = answers.same = 0;
  const bool good = (t->generated ? show_words(t, generated_words, COUNT(generated_words))
                                  : show_words(t, real_words, COUNT(real_words))) &&
                    (t->generated ? show_analogies(t, generated_analogies, COUNT(generated_analogies))
                                  : show_analogies(t, real_analogies, COUNT(real_analogies))) &&
                    (t->generated ? show_sentences(t, generated_sentences, COUNT(generated_sentences))
                                  : show_sentences(t, real_sentences, COUNT(real_sentences)));
  char path[4096];
  snprintf(path, sizeof path, "%s/rows.%s", folder, t->codec);
  FILE* file = fopen(path, "wb");
  const bool written = file != NULL && fwrite(t->data, t->row_bytes, WRITTEN_ROWS, file) == WRITTEN_ROWS;
  if (file == NULL || fclose(file) != 0 || !written) {
    perror(path);
    return false;
  }
  return good;
}

/* Decodes all rows of a packed table. */
static bool decode_rows(table* packed) {
  gth_error error = GTH_ERROR_INIT;
  int64_t* rows = malloc((size_t)packed->rows * sizeof *rows);
  if (rows == NULL) return false;
  for (int64_t row = 0; row < packed->rows; row++) rows[row] = row;
  const int32_t status = gather_rows(packed, rows, 1, &packed->rows, packed->vectors, &error);
  free(rows);
  if (status != GTH_OK) fprintf(stderr, "%s\n", error.message);
  return status == GTH_OK && table_measure(packed);
}

/* Returns the largest difference between a number and its code, in steps of the codes of its row. */
static float greatest_difference(const table* t, const table* packed) {
  float greatest = 0;
  for (int64_t row = 0; row < t->rows; row++) {
    const float *exact = t->vectors + row * DIMENSIONS, *decoded = packed->vectors + row * DIMENSIONS;
    float least = exact[0], most = exact[0], difference = 0;
    for (int i = 0; i < DIMENSIONS; i++) {
      least = fminf(least, exact[i]);
      most = fmaxf(most, exact[i]);
      difference = fmaxf(difference, fabsf(exact[i] - decoded[i]));
    }
    greatest = fmaxf(greatest, difference / ((most - least) / (float)((1 << packed->bits) - 1)));
  }
  return greatest;
}

/* Looks up the same words in packed rows. */
static bool show_packed(const table* t, int bits, const char* folder) {
  table packed;
  bool good = table_pack(t, bits, &packed) && decode_rows(&packed);
  if (good) {
    printf("\n%s: rows of %d bytes. A star marks a word that float32 has not found.\n", packed.codec,
           (int)packed.row_bytes);
    good = show_table(&packed, folder);
    /* Some cosines are nearly equal, and 4 bits are too few to keep their order. */
    const int words = answers.query * NEAREST, least = bits == 8 ? words * 19 / 20 : words * 3 / 4;
    const float steps = greatest_difference(t, &packed);
    printf("\n%s: %d of %d words are those of float32. Numbers differ by at most %.2f steps of the codes.\n",
           packed.codec, answers.same, words, (double)steps);
    good = good && answers.same >= least && steps < 1;
  }
  packed.words = NULL;
  table_close(&packed);
  return good;
}

int main(int argc, char** argv) {
  table t;
  if (argc != 2) {
    fprintf(stderr, "usage: lookup FOLDER\n");
    return 2;
  }
  if (!table_open(&t, argv[1])) return 1;

  const uint32_t version = gth_version();
  printf("libgather %u.%u.%u from C: a table of %" PRId64 " words, %d numbers of float32 each, %.0f MB\n",
         version / 1000000, version / 1000 % 1000, version % 1000, t.rows, DIMENSIONS,
         (double)t.rows * ROW_BYTES / 1e6);
  if (t.generated) {
    printf("  This table is made up. For English words, let ./dev demo find npm and a network.\n");
  }
  const bool good = show_table(&t, argv[1]) && show_packed(&t, 8, argv[1]) && show_packed(&t, 4, argv[1]) &&
                    show_times(&t) && show_error(&t);
  table_close(&t);
  return good ? 0 : 1;
}
