#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <string.h>

/* What the machine allows, and the loop that a caller would write by hand. Each cuts its work into one piece a thread. */

enum { most_threads = 64, lines_ahead = 32, line = 64 };

struct piece {
  char *out;
  const char *table;
  const int64_t *ids;
  int64_t first, last, row, ahead;
  int64_t sum;
};

typedef void *work(void *piece);

static int64_t in_pieces(work *body, struct piece whole, int threads) {
  struct piece pieces[most_threads];
  pthread_t others[most_threads];
  const int64_t count = whole.last;
  int64_t sum = 0;
  if (threads > most_threads) threads = most_threads;
  for (int i = 0; i < threads; ++i) {
    pieces[i] = whole;
    pieces[i].first = count * i / threads;
    pieces[i].last = count * (i + 1) / threads;
    if (i > 0 && pthread_create(&others[i], NULL, body, &pieces[i])) return -1;
  }
  body(&pieces[0]);
  for (int i = 0; i < threads; ++i) {
    if (i > 0) pthread_join(others[i], NULL);
    sum += pieces[i].sum;
  }
  return sum;
}

static void *copy_rows(void *arg) {
  const struct piece *p = arg;
  for (int64_t i = p->first; i < p->last; ++i) {
    memcpy(p->out + i * p->row, p->table + p->ids[i] * p->row, (size_t)p->row);
  }
  return NULL;
}

/* Rows by unchecked indices, memcpy for each. */
int64_t bench_copy_rows(char *out, const char *table, const int64_t *ids, int64_t n, int64_t row, int threads) {
  return in_pieces(copy_rows, (struct piece){out, table, ids, 0, n, row, 0, 0}, threads);
}

static void *copy_bytes(void *arg) {
  const struct piece *p = arg;
  memcpy(p->out + p->first, p->table + p->first, (size_t)(p->last - p->first));
  return NULL;
}

/* As many bytes as the rows have, in order. */
int64_t bench_copy_bytes(char *out, const char *table, int64_t bytes, int threads) {
  return in_pieces(copy_bytes, (struct piece){out, table, NULL, 0, bytes, 0, 0, 0}, threads);
}

static void *touch(void *arg) {
  struct piece *p = arg;
  int64_t sum = 0;
  for (int64_t i = p->first; i < p->last; ++i) {
    const int64_t later = i + p->ahead < p->last ? i + p->ahead : i;
    const char *next = p->table + p->ids[later] * p->row, *row = p->table + p->ids[i] * p->row;
    for (int64_t at = 0; at < p->row; at += line) {
      if (p->ahead) __builtin_prefetch(next + at, 0, 1);
      sum += row[at];
    }
  }
  p->sum = sum;
  return NULL;
}

/* One byte of each line of each row, fetched ahead or not. */
int64_t bench_touch(const char *table, const int64_t *ids, int64_t n, int64_t row, int fetches, int threads) {
  int64_t ahead = fetches ? lines_ahead * line / row : 0;
  if (fetches && ahead < 2) ahead = 2;
  if (ahead > lines_ahead) ahead = lines_ahead;
  return in_pieces(touch, (struct piece){NULL, table, ids, 0, n, row, ahead, 0}, threads);
}
