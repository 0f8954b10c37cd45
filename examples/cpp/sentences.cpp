// Makes one vector of each sentence: the mean of the vectors of its words. Finds the nearest other words.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <gather/gather.hpp>
#include <vector>

namespace {

const std::vector<const char*> words = {"king", "queen", "prince", "dog", "cat", "puppy", "bread", "cheese", "the"};
const std::vector<float> vectors = {9, 0, 1, 8, 0, 2, 9, 1, 1, 0, 9, 1, 1, 8, 0, 1, 9, 1, 0, 1, 9, 1, 0, 8, 1, 1, 1};
const std::vector<int64_t> ids = {8, 0, 8, 1, 8, 3}, offsets = {0, 4, 6};

float cosine(const float* vector, const float* row) {
  const float product = vector[0] * row[0] + vector[1] * row[1] + vector[2] * row[2];
  return product / std::sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
}

// Returns the words in the order of their distance, without those of the sentence.
std::vector<int64_t> nearest(const float* vector, const int64_t* begin, const int64_t* end) {
  std::vector<int64_t> others;
  for (int64_t word = 0; word < static_cast<int64_t>(words.size()); word++) {
    if (std::find(begin, end, word) == end) others.push_back(word);
  }
  const auto is_nearer = [&](int64_t a, int64_t b) {
    return cosine(vector, &vectors[static_cast<size_t>(3 * a)]) > cosine(vector, &vectors[static_cast<size_t>(3 * b)]);
  };
  std::sort(others.begin(), others.end(), is_nearer);
  return others;
}

const char* word(int64_t id) { return words[static_cast<size_t>(id)]; }

}  // namespace

int main() {
  const auto options = gather::Options().pool(gather::Pool::mean);
  const gather::Tensor pooled = gather::gather_bags({vectors, {9, 3}}, ids, offsets, options);
  const std::vector<float> means = pooled.to_vector<float>();
  for (size_t s = 0; s + 1 < offsets.size(); s++) {
    const int64_t *begin = ids.data() + offsets[s], *end = ids.data() + offsets[s + 1];
    for (const int64_t* id = begin; id < end; id++) std::printf("%s%s", id > begin ? " " : "", word(*id));
    const float* mean = &means[3 * s];
    const std::vector<int64_t> near = nearest(mean, begin, end);
    std::printf(": %.2f %.2f %.2f, near %s, %s\n", mean[0], mean[1], mean[2], word(near[0]), word(near[1]));
  }
}
