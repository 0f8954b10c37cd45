#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* The limits of the machine, and the loop that a caller would write by hand. Each function divides its work into one
 * piece for each thread. It returns the nanoseconds from the moment when all threads have started to the end of the
 * last piece. */

enum { most_threads = 64, lines_ahead = 32, line = 64 };

struct piece;
typedef void work(const struct piece *piece);

struct piece {
  char *out;
  const char *table;
  const int64_t *ids;
  int64_t first, last, row, ahead, extent, each, inner;
  work *body;
  atomic_int *missing, *refused;
  int64_t begin, end;
};

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void *run(void *arg) {
  struct piece *p = arg;
  atomic_fetch_sub(p->missing, 1);
  while (atomic_load(p->missing) > 0) sched_yield();
  p->begin = now();
  p->body(p);
  p->end = now();
  return NULL;
}

static int64_t in_pieces(work *body, struct piece whole, int threads) {
  struct piece pieces[most_threads];
  pthread_t others[most_threads];
  if (threads > most_threads) threads = most_threads;
  const int64_t count = whole.last;
  atomic_int missing = threads;
  for (int i = 0; i < threads; ++i) {
    pieces[i] = whole;
    pieces[i].first = count * i / threads;
    pieces[i].last = count * (i + 1) / threads;
    pieces[i].body = body;
    pieces[i].missing = &missing;
    if (i > 0 && pthread_create(&others[i], NULL, run, &pieces[i])) return -1;
  }
  run(&pieces[0]);
  int64_t begin = pieces[0].begin, end = pieces[0].end;
  for (int i = 1; i < threads; ++i) {
    pthread_join(others[i], NULL);
    if (pieces[i].begin < begin) begin = pieces[i].begin;
    if (pieces[i].end > end) end = pieces[i].end;
  }
  return end - begin;
}

static void copy_rows(const struct piece *p) {
  for (int64_t i = p->first; i < p->last; ++i) {
    memcpy(p->out + i * p->row, p->table + p->ids[i] * p->row, (size_t)p->row);
  }
}

/* The same loops with a row size that is constant at compile time. */
#define COPY_ROWS_OF(size)                                                        \
  static void copy_rows_of_##size(const struct piece *p) {                        \
    for (int64_t i = p->first; i < p->last; ++i) {                                \
      memcpy(p->out + i * (size), p->table + p->ids[i] * (size), (size_t)(size)); \
    }                                                                             \
  }
COPY_ROWS_OF(1)
COPY_ROWS_OF(2)
COPY_ROWS_OF(4)
COPY_ROWS_OF(8)
COPY_ROWS_OF(12)
COPY_ROWS_OF(16)
COPY_ROWS_OF(48)
COPY_ROWS_OF(64)
COPY_ROWS_OF(100)

static work *copy_rows_of(int64_t row) {
  switch (row) {
    case 1: return copy_rows_of_1;
    case 2: return copy_rows_of_2;
    case 4: return copy_rows_of_4;
    case 8: return copy_rows_of_8;
    case 12: return copy_rows_of_12;
    case 16: return copy_rows_of_16;
    case 48: return copy_rows_of_48;
    case 64: return copy_rows_of_64;
    case 100: return copy_rows_of_100;
    default: return copy_rows;
  }
}

/* Has no branch in the loop, so that compilers vectorise it. */
__attribute__((target_clones("default", "avx2"))) static void validate_rows(const struct piece *p) {
  int64_t bad = 0;
  for (int64_t i = p->first; i < p->last; ++i) bad |= p->ids[i] | (p->extent - 1 - p->ids[i]);
  if (bad < 0) atomic_store(p->refused, 1);
}

static int64_t validate_all(const int64_t *ids, int64_t n, int64_t extent, int threads) {
  atomic_int refused = 0;
  const struct piece all = {.ids = ids, .last = n, .extent = extent, .refused = &refused};
  const int64_t validation = in_pieces(validate_rows, all, threads);
  return atomic_load(&refused) ? -1 : validation;
}

/* Copies rows with memcpy. Does not validate indices. */
int64_t bench_copy_rows(char *out, const char *table, const int64_t *ids, int64_t n, int64_t row, int threads) {
  return in_pieces(copy_rows, (struct piece){.out = out, .table = table, .ids = ids, .last = n, .row = row}, threads);
}

/* The loops of a caller whose row size is a constant. The first one does not validate indices. The second one validates
 * all indices before it copies the first row, as the library does. It returns -1 if an index is invalid. */
int64_t bench_loop(char *out, const char *table, const int64_t *ids, int64_t n, int64_t row, int threads) {
  return in_pieces(copy_rows_of(row), (struct piece){.out = out, .table = table, .ids = ids, .last = n, .row = row},
                   threads);
}

int64_t bench_validating_loop(char *out, const char *table, const int64_t *ids, int64_t n, int64_t row, int64_t extent,
                              int threads) {
  const int64_t validation = validate_all(ids, n, extent, threads);
  return validation < 0 ? -1 : validation + bench_loop(out, table, ids, n, row, threads);
}

/* A piece may begin and end at any index of a line of `each` indices. */
static void copy_elements(const struct piece *p) {
  const float *from = (const float *)p->table;
  float *out = (float *)p->out;
  for (int64_t q = p->first; q < p->last;) {
    const int64_t line_of = q / p->each, end = (line_of + 1) * p->each < p->last ? (line_of + 1) * p->each : p->last;
    const float *base = from + line_of * p->extent * p->inner;
    if (p->inner == 1) {
      for (; q < end; ++q) out[q] = base[p->ids[q]];
      continue;
    }
    for (; q < end; ++q) {
      const int64_t *ids = p->ids + q * p->inner;
      float *to = out + q * p->inner;
      for (int64_t k = 0; k < p->inner; ++k) to[k] = base[ids[k] * p->inner + k];
    }
  }
}

/* Gathers elements along the middle dim of [outer, extent, inner] with indices [outer, each, inner]. */
int64_t bench_elements_loop(char *out, const char *table, const int64_t *ids, int64_t outer, int64_t extent,
                            int64_t each, int64_t inner, int threads) {
  return in_pieces(
      copy_elements,
      (struct piece){
          .out = out, .table = table, .ids = ids, .last = outer * each, .extent = extent, .each = each, .inner = inner},
      threads);
}

int64_t bench_validating_elements_loop(char *out, const char *table, const int64_t *ids, int64_t outer, int64_t extent,
                                       int64_t each, int64_t inner, int threads) {
  const int64_t validation = validate_all(ids, outer * each * inner, extent, threads);
  return validation < 0 ? -1 : validation + bench_elements_loop(out, table, ids, outer, extent, each, inner, threads);
}

/* Applies updates of whole rows in their order. `row` may be a constant at compile time. */
static inline __attribute__((always_inline)) void update_rows(float *target, const float *updates, const int64_t *ids,
                                                              int64_t n, int64_t row, int adds) {
  for (int64_t i = 0; i < n; ++i) {
    float *to = target + ids[i] * row;
    const float *from = updates + i * row;
    if (!adds) memcpy(to, from, (size_t)row * sizeof *to);
    for (int64_t j = 0; adds && j < row; ++j) to[j] += from[j];
  }
}

static inline __attribute__((always_inline)) void update_rows_of(float *target, const float *updates,
                                                                 const int64_t *ids, int64_t n, int64_t row, int adds) {
  switch (row) {
    case 1: update_rows(target, updates, ids, n, 1, adds); break;
    case 4: update_rows(target, updates, ids, n, 4, adds); break;
    case 16: update_rows(target, updates, ids, n, 16, adds); break;
    case 128: update_rows(target, updates, ids, n, 128, adds); break;
    default: update_rows(target, updates, ids, n, row, adds);
  }
}

/* Updates elements of [outer, extent, inner] with indices [outer, each, inner]. */
static inline __attribute__((always_inline)) void update_elements(float *target, const float *updates,
                                                                  const int64_t *ids, const struct piece *p, int adds) {
  for (int64_t q = 0; q < p->last; ++q) {
    float *base = target + q / p->each * p->extent * p->inner;
    for (int64_t k = 0; k < p->inner; ++k) {
      const int64_t i = q * p->inner + k;
      float *to = base + ids[i] * p->inner + k;
      *to = adds ? *to + updates[i] : updates[i];
    }
  }
}

/* Writes rows of `row` numbers to a target, or adds them, on one thread. row = 0: single numbers along the middle
 * dimension. */
int64_t bench_update_loop(char *target, const char *updates, const int64_t *ids, int64_t outer, int64_t extent,
                          int64_t each, int64_t inner, int64_t row, int adds) {
  const int64_t begin = now();
  const struct piece p = {.last = outer * each, .extent = extent, .each = each, .inner = inner};
  float *to = (float *)target;
  const float *from = (const float *)updates;
  if (row > 0) {
    adds ? update_rows_of(to, from, ids, p.last, row, 1) : update_rows_of(to, from, ids, p.last, row, 0);
  } else {
    adds ? update_elements(to, from, ids, &p, 1) : update_elements(to, from, ids, &p, 0);
  }
  return now() - begin;
}

int64_t bench_validating_update_loop(char *target, const char *updates, const int64_t *ids, int64_t outer,
                                     int64_t extent, int64_t each, int64_t inner, int64_t row, int adds) {
  const int64_t validation = validate_all(ids, outer * each * inner, extent, 1);
  if (validation < 0) return -1;
  return validation + bench_update_loop(target, updates, ids, outer, extent, each, inner, row, adds);
}

/* Copies from a table of `row` bytes, from its start again after its end. */
static void copy_bytes(const struct piece *p) {
  for (int64_t at = p->first, bytes; at < p->last; at += bytes) {
    const int64_t from = at % p->row;
    bytes = p->last - at < p->row - from ? p->last - at : p->row - from;
    memcpy(p->out + at, p->table + from, (size_t)bytes);
  }
}

/* Copies the same number of bytes as the rows have, in order. */
int64_t bench_copy_bytes(char *out, const char *table, int64_t bytes, int64_t table_bytes, int threads) {
  return in_pieces(copy_bytes, (struct piece){.out = out, .table = table, .last = bytes, .row = table_bytes}, threads);
}

static void touch(const struct piece *p) {
  int64_t sum = 0;
  for (int64_t i = p->first; i < p->last; ++i) {
    const int64_t later = i + p->ahead < p->last ? i + p->ahead : i;
    const char *next = p->table + p->ids[later] * p->row, *row = p->table + p->ids[i] * p->row;
    for (int64_t at = 0; at < p->row; at += line) {
      if (p->ahead) __builtin_prefetch(next + at, 0, 1);
      sum += row[at];
    }
  }
  __asm__ volatile("" ::"r"(sum)); /* keeps the compiler from removing the loads */
}

/* Reads one byte of each cache line of each row, with or without prefetch. */
int64_t bench_touch(const char *table, const int64_t *ids, int64_t n, int64_t row, int fetches, int threads) {
  int64_t ahead = fetches ? lines_ahead * line / row : 0;
  if (fetches && ahead < 2) ahead = 2;
  if (ahead > lines_ahead) ahead = lines_ahead;
  return in_pieces(touch, (struct piece){.table = table, .ids = ids, .last = n, .row = row, .ahead = ahead}, threads);
}
