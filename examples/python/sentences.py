"""Makes one vector of each sentence: the mean of the vectors of its words. Finds the nearest other words."""

import math

import libgather

words = ["king", "queen", "prince", "dog", "cat", "puppy", "bread", "cheese", "the"]
vectors = [
    [9.0, 0.0, 1.0],
    [8.0, 0.0, 2.0],
    [9.0, 1.0, 1.0],
    [0.0, 9.0, 1.0],
    [1.0, 8.0, 0.0],
    [1.0, 9.0, 1.0],
    [0.0, 1.0, 9.0],
    [1.0, 0.0, 8.0],
    [1.0, 1.0, 1.0],
]
sentences = [["the", "king", "the", "queen"], ["the", "dog"]]


def nearest(vector, sentence):
    """Returns the two nearest words that are not in the sentence, by the cosine."""

    def cosine(row):
        return sum(a * b for a, b in zip(vector, row, strict=True)) / math.hypot(*row)

    others = [word for word in words if word not in sentence]
    return sorted(others, key=lambda word: -cosine(vectors[words.index(word)]))[:2]


ids = [words.index(word) for sentence in sentences for word in sentence]
means = libgather.gather_bags(vectors, ids, lengths=[len(each) for each in sentences], pool="mean")
for sentence, mean in zip(sentences, means.tolist(), strict=True):
    numbers = " ".join(f"{number:.2f}" for number in mean)
    print(f"{' '.join(sentence)}: {numbers}, near {', '.join(nearest(mean, sentence))}")
