/* Makes one vector of each sentence: the mean of the vectors of its words. Finds the nearest other words. */
#include <gather/gather.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

enum { WORDS = 9, DIM = 3, SENTENCES = 2 };

static const char* const words[WORDS] = {"king", "queen", "prince", "dog", "cat", "puppy", "bread", "cheese", "the"};
static const float vectors[WORDS][DIM] = {{9, 0, 1}, {8, 0, 2}, {9, 1, 1}, {0, 9, 1}, {1, 8, 0},
                                          {1, 9, 1}, {0, 1, 9}, {1, 0, 8}, {1, 1, 1}};
static const int64_t ids[] = {8, 0, 8, 1, 8, 3}, offsets[SENTENCES + 1] = {0, 4, 6};

static float cosine(const float* vector, const float* row) {
  float product = 0, square = 0;
  for (int k = 0; k < DIM; k++) product += vector[k] * row[k], square += row[k] * row[k];
  return product / sqrtf(square);
}

/* Marks the nearest word that is not marked, and returns its number. */
static int nearest(const float* vector, bool marked[WORDS]) {
  int best = -1;
  for (int word = 0; word < WORDS; word++) {
    const bool is_nearer = best < 0 || cosine(vector, vectors[word]) > cosine(vector, vectors[best]);
    if (!marked[word] && is_nearer) best = word;
  }
  marked[best] = true;
  return best;
}

int main(void) {
  float means[SENTENCES][DIM];
  const int64_t table_shape[] = {WORDS, DIM}, ids_shape[] = {6}, bags_shape[] = {SENTENCES + 1};
  const int64_t means_shape[] = {SENTENCES, DIM};
  const gth_tensor_desc params = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, table_shape, vectors);
  const gth_tensor_desc indices = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, ids_shape, ids);
  const gth_tensor_desc bags = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_INT64, 1, bags_shape, offsets);
  const gth_tensor_desc out = GTH_TENSOR_DESC_DENSE(GTH_DTYPE_FLOAT32, 2, means_shape, means);

  gth_options options = GTH_OPTIONS_INIT;
  options.pool = GTH_POOL_MEAN;
  gth_error error = GTH_ERROR_INIT;
  if (gth_gather_bags(NULL, &params, &indices, &bags, NULL, &out, &options, &error) != GTH_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  for (int s = 0; s < SENTENCES; s++) {
    bool marked[WORDS] = {false};
    for (int64_t i = offsets[s]; i < offsets[s + 1]; i++) {
      marked[ids[i]] = true;
      printf("%s%s", i > offsets[s] ? " " : "", words[ids[i]]);
    }
    printf(": %.2f %.2f %.2f", means[s][0], means[s][1], means[s][2]);
    printf(", near %s", words[nearest(means[s], marked)]);
    printf(", %s\n", words[nearest(means[s], marked)]);
  }
  return 0;
}
