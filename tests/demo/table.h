#ifndef GATHER_DEMO_TABLE_H
#define GATHER_DEMO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIMENSIONS = 100 };

/* A vector for each of many words, in the order of decreasing frequency. */
typedef struct table {
  bool generated; /* the vectors are random, and not those of real words */
  int64_t rows;
  int bits;          /* of a number in the data */
  const char* codec; /* of the data: float32, rowwise8 or rowwise4 */
  size_t row_bytes;  /* of the data */
  void* data;        /* the vectors themselves with float32, or packed rows */
  float* vectors;    /* [rows, DIMENSIONS] */
  float* norms;      /* [rows] */
  char** words;      /* [rows] */
  char* text;        /* the words' characters */
} table;

/* Reads the files that words.py has written into the folder, or else makes a random table of the same shape. If both
 * fail, returns false and prints the reason. */
bool table_open(table* t, const char* folder);
void table_close(table* t);

/* Packs the vectors into rows of codes of 8 or 4 bits. The words of `packed` belong to `t`, and the caller fills its
 * vectors with those of its data, and then calls table_measure. Returns false if there is no memory. */
bool table_pack(const table* t, int bits, table* packed);

/* Computes the norms of the vectors. Returns false if there is no memory. */
bool table_measure(table* t);

/* Returns the row of a word, or -1. */
int64_t table_find(const table* t, const char* word);

/* Returns the rows of the `count` vectors with the greatest cosine to the given one, in decreasing order, without the
 * `excluded` rows. */
void table_nearest(const table* t, const float* vector, int count, int64_t* rows, float* cosines, int excluded_count,
                   const int64_t* excluded);

#endif
