#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GENERATED_ROWS = 341479, LETTERS = 8 };

static float dot(const float* a, const float* b) {
  float sums[4] = {0};
  for (int i = 0; i < DIMENSIONS; i += 4) {
    for (int k = 0; k < 4; k++) sums[k] += a[i + k] * b[i + k];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Returns the whole file with a zero after it, or NULL. */
static void* read_file(const char* folder, const char* name, int64_t* bytes) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  rewind(file);
  char* content = malloc((size_t)size + 1);
  if (content != NULL && fread(content, 1, (size_t)size, file) != (size_t)size) {
    free(content);
    content = NULL;
  }
  fclose(file);
  if (content != NULL) content[size] = '\0';
  *bytes = size;
  return content;
}

static bool read_table(table* t, const char* folder) {
  int64_t vector_bytes = 0;
  int64_t text_bytes = 0;
  t->vectors = read_file(folder, "table.f32", &vector_bytes);
  t->text = read_file(folder, "words.txt", &text_bytes);
  t->rows = vector_bytes / (int64_t)(DIMENSIONS * sizeof(float));
  t->words = calloc((size_t)t->rows + 1, sizeof *t->words);
  if (t->vectors == NULL || t->text == NULL || t->words == NULL) return false;

  int64_t lines = 0;
  for (char* line = t->text; *line != '\0' && lines < t->rows; lines++) {
    t->words[lines] = line;
    line += strcspn(line, "\n");
    if (*line == '\n') *line++ = '\0';
  }
  return lines == t->rows;
}

/* Returns a number in [-1, 1) that depends only on the seed and the place. */
static float noise(uint64_t seed, uint64_t place) {
  uint64_t x = seed * 0x9e3779b97f4a7c15u + place;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (float)((double)(x >> 11) / (double)(1ull << 52) - 1.0);
}

/* The vector of the word "c42" is the sum of a vector of the group 42, a vector of the group c, and a vector of the
 * word. */
static bool generate_table(table* t) {
  enum { WORD_BYTES = 8 };
  t->generated = true;
  t->rows = GENERATED_ROWS;
  t->vectors = malloc((size_t)t->rows * DIMENSIONS * sizeof(float));
  t->text = malloc((size_t)t->rows * WORD_BYTES);
  t->words = calloc((size_t)t->rows, sizeof *t->words);
  if (t->vectors == NULL || t->text == NULL || t->words == NULL) return false;

  for (int64_t row = 0; row < t->rows; row++) {
    const uint64_t letter = (uint64_t)row % LETTERS;
    const uint64_t number = (uint64_t)row / LETTERS;
    t->words[row] = t->text + row * WORD_BYTES;
    snprintf(t->words[row], WORD_BYTES, "%c%u", (char)('a' + letter), (unsigned)number);
    for (uint64_t i = 0; i < DIMENSIONS; i++) {
      t->vectors[(uint64_t)row * DIMENSIONS + i] = noise(1, number * DIMENSIONS + i) +
                                                   noise(2, letter * DIMENSIONS + i) +
                                                   0.5f * noise(3, (uint64_t)row * DIMENSIONS + i);
    }
  }
  return true;
}

bool table_open(table* t, const char* folder) {
  *t = (table){0};
  if (!read_table(t, folder)) {
    table_close(t);
    if (!generate_table(t)) {
      fprintf(stderr, "No memory for a table.\n");
      return false;
    }
  }
  t->bits = 32;
  t->codec = "float32";
  t->row_bytes = DIMENSIONS * sizeof(float);
  t->data = t->vectors;
  return table_measure(t);
}

bool table_measure(table* t) {
  t->norms = malloc((size_t)t->rows * sizeof *t->norms);
  if (t->norms == NULL) return false;
  for (int64_t row = 0; row < t->rows; row++) {
    const float* vector = t->vectors + row * DIMENSIONS;
    t->norms[row] = sqrtf(dot(vector, vector));
  }
  return true;
}

/* Rounds a number to float16, and to 0 if its magnitude is that of a subnormal one. Returns the bits of float16. */
static uint16_t round_half(float* number) {
  uint32_t bits;
  memcpy(&bits, number, sizeof bits);
  const uint32_t sign = bits & 0x80000000, least = 113u << 23;
  uint32_t magnitude = ((bits & 0x7fffffff) + 0x1000) & ~0x1fffu;
  if (magnitude < least) magnitude = 0;
  bits = sign | magnitude;
  memcpy(number, &bits, sizeof bits);
  return (uint16_t)(sign >> 16 | (magnitude == 0 ? 0 : (magnitude - (112u << 23)) >> 13));
}

/* Packs a row as torch.ops.quantized.embedding_bag_byte_prepack and embedding_bag_4bit_prepack do: the codes, the scale
 * and the bias. The latter are float32 for 8 bits, and float16 for 4. */
static void pack_row(const float* row, int bits, uint8_t* out) {
  float least = row[0], greatest = row[0];
  for (int i = 1; i < DIMENSIONS; i++) {
    if (row[i] < least) least = row[i];
    if (row[i] > greatest) greatest = row[i];
  }
  uint16_t halves[2] = {0};
  if (bits == 4) halves[1] = round_half(&least);
  const int last = (1 << bits) - 1;
  float scale = (greatest - least) / (float)last;
  if (bits == 4) halves[0] = round_half(&scale);
  const int code_bytes = DIMENSIONS * bits / 8;
  memset(out, 0, (size_t)code_bytes);
  for (int i = 0; i < DIMENSIONS && scale > 0; i++) {
    const float steps = (row[i] - least) / scale + 0.5f;
    const int code = steps<0 ? 0 : steps>(float) last ? last : (int)steps;
    out[i * bits / 8] = (uint8_t)(out[i * bits / 8] | code << i * bits % 8);
  }
  if (bits == 4) memcpy(out + code_bytes, halves, sizeof halves);
  if (bits == 8) memcpy(out + code_bytes, (float[]){scale, least}, 2 * sizeof scale);
}

bool table_pack(const table* t, int bits, table* packed) {
  *packed = (table){.generated = t->generated, .rows = t->rows, .bits = bits, .words = t->words};
  packed->codec = bits == 8 ? "rowwise8" : "rowwise4";
  packed->row_bytes = (size_t)(bits == 8 ? DIMENSIONS + 8 : DIMENSIONS / 2 + 4);
  packed->data = malloc((size_t)t->rows * packed->row_bytes);
  packed->vectors = malloc((size_t)t->rows * DIMENSIONS * sizeof(float));
  if (packed->data == NULL || packed->vectors == NULL) return false;
  for (int64_t row = 0; row < t->rows; row++) {
    pack_row(t->vectors + row * DIMENSIONS, bits, (uint8_t*)packed->data + (size_t)row * packed->row_bytes);
  }
  return true;
}

void table_close(table* t) {
  if (t->bits != 32) free(t->data);
  free(t->vectors);
  free(t->norms);
  free(t->words);
  free(t->text);
  *t = (table){0};
}

int64_t table_find(const table* t, const char* word) {
  for (int64_t row = 0; row < t->rows; row++) {
    if (strcmp(t->words[row], word) == 0) return row;
  }
  return -1;
}

void table_nearest(const table* t, const float* vector, int count, int64_t* rows, float* cosines, int excluded_count,
                   const int64_t* excluded) {
  const float norm = sqrtf(dot(vector, vector));
  for (int k = 0; k < count; k++) cosines[k] = -2;
  for (int64_t row = 0; row < t->rows; row++) {
    float cosine = dot(vector, t->vectors + row * DIMENSIONS) / (norm * t->norms[row]);
    if (!(cosine > cosines[count - 1])) continue;
    bool skip = false;
    for (int k = 0; k < excluded_count; k++) skip |= row == excluded[k];
    if (skip) continue;
    int place = count - 1;
    for (; place > 0 && cosine > cosines[place - 1]; place--) {
      cosines[place] = cosines[place - 1];
      rows[place] = rows[place - 1];
    }
    cosines[place] = cosine;
    rows[place] = row;
  }
}
