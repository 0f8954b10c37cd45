#ifndef GATHER_DEMO_TABLE_H
#define GATHER_DEMO_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum { DIMENSIONS = 100 };

/* A vector of float32 for each of many words, most frequent first. */
typedef struct table {
  bool generated; /* not the real word vectors, but made up by the demo */
  int64_t rows;
  float* vectors; /* [rows, DIMENSIONS] */
  float* norms;   /* [rows] */
  char** words;   /* [rows] */
  char* text;     /* the words' characters */
} table;

/* Reads the files that words.py has written into the folder, or else makes up a table of the same shape. Returns false
 * and says why if it can do neither. */
bool table_open(table* t, const char* folder);
void table_close(table* t);

/* The row of a word, or -1. */
int64_t table_find(const table* t, const char* word);

/* The rows of the `count` vectors of greatest cosine with the given one, best first, without the `excluded` rows. */
void table_nearest(const table* t, const float* vector, int count, int64_t* rows, float* cosines, int excluded_count,
                   const int64_t* excluded);

#endif
