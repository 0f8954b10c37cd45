#ifndef GATHER_DEMO_TABLE_H
#define GATHER_DEMO_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum { DIMENSIONS = 100 };

/* A vector of float32 for each of many words, in the order of decreasing frequency. */
typedef struct table {
  bool generated; /* the vectors are random, and not those of real words */
  int64_t rows;
  float* vectors; /* [rows, DIMENSIONS] */
  float* norms;   /* [rows] */
  char** words;   /* [rows] */
  char* text;     /* the words' characters */
} table;

/* Reads the files that words.py has written into the folder, or else makes a random table of the same shape. If both
 * fail, returns false and prints the reason. */
bool table_open(table* t, const char* folder);
void table_close(table* t);

/* Returns the row of a word, or -1. */
int64_t table_find(const table* t, const char* word);

/* Returns the rows of the `count` vectors with the greatest cosine to the given one, in decreasing order, without the
 * `excluded` rows. */
void table_nearest(const table* t, const float* vector, int count, int64_t* rows, float* cosines, int excluded_count,
                   const int64_t* excluded);

#endif
